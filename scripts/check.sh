#!/bin/sh
# check.sh -- install what is missing, build in several ways, run every test.
#
# usage: scripts/check.sh [STAGE...]
#
# Without stages, all of them, in this order:
#
#   lint      rooms, format, scripts, headers
#   gcc       release build, warnings are errors: all tests; symbols
#   clang     the same with clang: unit tests; clang-tidy
#   cblas     products of matrices by CBLAS, assertions on: all tests but slow
#   valgrind  the unit tests of that build under valgrind
#   sanitize  address and undefined-behaviour sanitizers: all tests but slow
#
# A stage that fails does not stop the others. The last line counts test programs,
# each build and each lint as one: `N passed, N failed, N skipped`. Builds are kept
# in build-check/, so a second run is faster. Exit 0 if none failed.
set -eu

cd "$(dirname "$0")/.."

stages=${*:-lint gcc clang cblas valgrind sanitize}
for stage in $stages; do
	case $stage in
	lint | gcc | clang | cblas | valgrind | sanitize) ;;
	*) sed -n '2,/^set/ { /^#/ s/^# \{0,1\}//p; }' "$0" && exit 2 ;;
	esac
done

began=$(date +%s)
keep=$(mktemp -d)
trap 'rm -rf "$keep"' EXIT
trap 'exit 130' HUP INT TERM
: >"$keep/results" # a line each: OK, SKIP, FAIL or another word of meson's; a name

title() { printf '\n== %s (after %d s)\n' "$*" $(($(date +%s) - began)); }

# one NAME COMMAND...: a check that counts as one; 77 means skipped
one() {
	name=$1 status=0
	shift
	title "$name"
	"$@" </dev/null || status=$?
	case $status in
	0) echo "OK $name" ;;
	77) echo "SKIP $name" ;;
	*) echo "FAIL $name" ;;
	esac | tee -a "$keep/results"
	[ $status = 0 ]
}

# build NAME COMPILER OPTION...: build-check/NAME
build() {
	name=$1 compiler=$2
	shift 2
	one "build $name" env CC="$compiler" scripts/build.sh "build-check/$name" "$@"
}

# tests NAME OPTION...: tests of that build; each counts
tests() {
	name=$1
	shift
	title "tests $name $*"
	rm -f "build-check/$name/meson-logs/check"*.json
	meson test -C "build-check/$name" --no-rebuild --print-errorlogs --logbase check "$@" </dev/null ||
		true
	/usr/bin/python3 - "$name $*" "build-check/$name/meson-logs/check"*.json >"$keep/tests" <<-'END' ||
		import json, sys
		for line in open(sys.argv[2]):
		    test = json.loads(line)
		    print(test["result"], test["name"], "of", sys.argv[1])
	END
		echo "FAIL tests $name $*: did not run" >"$keep/tests"
	cat "$keep/tests" >>"$keep/results"
}

stage_lint() {
	one rooms scripts/check_rooms.sh || true
	one format scripts/check_format.sh || true
	one headers scripts/check_headers.sh || true
	one shellcheck scripts/check_shell.sh || true
}

stage_gcc() {
	build gcc gcc -Dwerror=true || return 0
	tests gcc
	one symbols scripts/check_symbols.sh build-check/gcc || true
}

stage_clang() {
	build clang clang -Dwerror=true || return 0
	tests clang --suite unit
	one clang-tidy scripts/check_tidy.sh build-check/clang || true
}

stage_cblas() {
	build cblas gcc -Dgemm=cblas -Dbuildtype=debugoptimized || return 0
	tests cblas --no-suite slow
}

stage_valgrind() {
	[ -e build-check/cblas/src/libweft.so ] ||
		build cblas gcc -Dgemm=cblas -Dbuildtype=debugoptimized || return 0
	tests cblas --setup valgrind --suite unit --no-suite slow
}

stage_sanitize() {
	build sanitize gcc -Db_sanitize=address,undefined -Dbuildtype=debugoptimized || return 0
	tests sanitize --no-suite slow --timeout-multiplier 4
}

scripts/setup.sh --check || echo "check: going on with what is here"
for stage in $stages; do
	"stage_$stage"
done

title "done"
grep -v '^OK ' "$keep/results" || true
awk '
	$1 == "OK" || $1 == "EXPECTEDFAIL" { passed++; next }
	$1 == "SKIP" { skipped++; next }
	{ failed++ }
	END {
		printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
		exit failed > 0
	}
' "$keep/results"
