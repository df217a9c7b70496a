#!/bin/sh
# check_format.sh -- all C is as clang-format 14 would lay it out.
#
# usage: scripts/check_format.sh [--fix] [FILE...]
#
#   --fix  lay it out so
#
# Prints what it would change. Other versions differ in details, so only 14 judges.
# Exit 0: nothing to change; 1: something; 77: no clang-format 14 here.
set -eu

cd "$(dirname "$0")/.."

fix=no
if [ "${1-}" = --fix ]; then
	fix=yes
	shift
fi

format=$(command -v clang-format-14 || command -v clang-format) || exit 77
case $("$format" --version) in
*"version 14."*) ;;
*) echo "check_format: $format is not version 14" && exit 77 ;;
esac

if [ $# -eq 0 ]; then
	# shellcheck disable=SC2046 # no file here has a blank in its name
	set -- $(find src include examples tests -name '*.[ch]' | sort)
fi

[ $fix = no ] || exec "$format" -i "$@"

status=0
for file; do
	"$format" "$file" | diff -u --label "$file" --label "$file, laid out" "$file" - || status=1
done
exit $status
