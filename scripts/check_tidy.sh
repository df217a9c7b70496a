#!/bin/sh
# check_tidy.sh -- clang-tidy on library, programs and examples; .clang-tidy says
# what it looks for.
#
# usage: scripts/check_tidy.sh [BUILD-FOLDER]
#
# The build must be clang's, so that it understands the flags. Exit 0: nothing to
# say; 1: something; 77: no clang-tidy here.
set -eu

cd "$(dirname "$0")/.."
command -v run-clang-tidy >/dev/null || exit 77

said=$(mktemp)
trap 'rm -f "$said"' EXIT
run-clang-tidy -quiet -p "${1:-build}" -j "$(nproc)" '/(src|examples)/' >"$said" 2>&1 && exit 0

# What it found and where; clang-tidy itself shows the way there.
found=$(sed 's/\x1b\[[0-9;]*m//g' "$said" | grep -E ' (error|warning): ' | sort -u)
[ -n "$found" ] || found=$(tail -n 20 "$said")
echo "$found"
exit 1
