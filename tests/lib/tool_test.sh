# shellcheck shell=sh
# tool_test.sh -- what the scripts in tests/tool share; source it first:
#
#     . "$WEFT_ROOT/tests/lib/tool_test.sh"
#
# Meson sets WEFT_ROOT (the source tree) and WEFT_BUILD (the build folder). The
# script then stands in an empty folder of its own, which is removed at the end.
# Exit 0: passed, 77: skipped, else: failed.
set -eu

: "${WEFT_ROOT:?the source tree}" "${WEFT_BUILD:?the build folder}"
here=$(mktemp -d)
trap 'rm -rf "$here"' EXIT
trap 'exit 1' HUP INT TERM
cd "$here"

# fail WORDS...: end the test
fail() {
	echo "FAILED: $*" >&2
	exit 1
}

# ranks N PROGRAM ARGUMENT...: run a program of the build folder on N ranks
ranks() {
	size=$1 program=$2
	shift 2
	"$WEFT_ROOT/scripts/launch.sh" --shared -n "$size" "$WEFT_BUILD/$program" "$@" </dev/null
}

# refuses WORDS COMMAND...: the command fails, and says these words
refuses() {
	words=$1
	shift
	if "$@" >said 2>&1; then
		cat said
		fail "should not succeed: $*"
	fi
	grep -qF -- "$words" said || { cat said; fail "does not say '$words': $*"; }
}

# needs_python MODULE...: skip the test where Debian's Python lacks one
needs_python() {
	for module; do
		/usr/bin/python3 -c "import $module" 2>/dev/null || {
			echo "skipped: no python3-$module"
			exit 77
		}
	done
}
