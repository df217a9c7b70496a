#!/bin/sh
# install.sh -- install Weft into an empty folder, then build and run a program
# against that copy alone: in C, in C++, and in C with the static library.
#
# shellcheck source=tests/lib/tool_test.sh
. "$WEFT_ROOT/tests/lib/tool_test.sh"

meson install -C "$WEFT_BUILD" --no-rebuild --quiet --destdir "$here/copy" >log 2>&1 ||
	{ cat log && fail "meson install"; }
PKG_CONFIG_PATH=$(dirname "$(find copy -name weft.pc)")
LD_LIBRARY_PATH=$(dirname "$PKG_CONFIG_PATH")
export PKG_CONFIG_PATH LD_LIBRARY_PATH
strict='-Wall -Wextra -Wpedantic -Werror'

# runs NAME COMMAND...: the command makes user, which prints the right numbers
runs() {
	name=$1
	shift
	"$@" || fail "$name: does not build"
	got=$("$WEFT_ROOT/scripts/launch.sh" --shared -n 2 ./user </dev/null) || fail "$name: does not run"
	[ "$got" = "L = 14, dL/dx = 2 4 6" ] || fail "$name: printed '$got'"
	echo "passed: $name"
}

# shellcheck disable=SC2046,SC2086,SC2016 # flags are words; backquotes are C's fence
{
	cp "$WEFT_ROOT/tests/install/user.c" user.c
	runs "C" cc -std=c11 $strict user.c -o user $(pkg-config --cflags --libs weft)
	sed -n '/^```c$/,/^```$/p' "$WEFT_ROOT/README.md" | grep -v '^```' >readme.c
	cc -std=c11 $strict readme.c -o readme $(pkg-config --cflags --libs weft) || fail "README: does not build"
	for size in 1 2; do
		"$WEFT_ROOT/scripts/launch.sh" --shared -n $size ./readme </dev/null >said || fail "README: does not run"
		grep '^    loss ' "$WEFT_ROOT/README.md" | sed 's/^ *//' | cmp - said || fail "README: prints $(cat said)"
	done
	echo "passed: the README's program"
	runs "C++" c++ -x c++ -std=c++11 $strict user.c -x none -o user $(pkg-config --cflags --libs weft)
	rm "$LD_LIBRARY_PATH"/libweft.so*
	runs "C, static" cc -std=c11 user.c -o user $(pkg-config --static --cflags --libs weft)
}
