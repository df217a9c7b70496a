#!/bin/sh
# check_shell.sh -- shellcheck on every script.
#
# usage: scripts/check_shell.sh
#
# Exit 0: nothing to say; 1: something; 77: no shellcheck here.
set -eu

cd "$(dirname "$0")/.."
command -v shellcheck >/dev/null || exit 77

# shellcheck disable=SC2046 # no file here has a blank in its name
shellcheck --external-sources .ci/run $(find scripts tests -name '*.sh' | sort)
