#!/bin/sh
# check_headers.sh -- every public header compiles alone, as C and as C++, with
# every compiler that is here.
#
# usage: scripts/check_headers.sh
#
# Exit 0: they do; 1: one does not; 77: no compiler here.
set -eu

cd "$(dirname "$0")/.."

# System headers, so their warnings are not ours.
mpi=$(pkg-config --cflags-only-I ompi-c 2>/dev/null || pkg-config --cflags-only-I mpich ||
	mpicc -show | tr ' ' '\n' | grep '^-I')
mpi=$(echo "$mpi" | sed 's/-I/-isystem /g')
failed=77

# alone COMPILER LANGUAGE: each header by itself
alone() {
	command -v "$1" >/dev/null || return 0
	[ $failed = 1 ] || failed=0
	for header in include/weft.h include/weft/*.h; do
		# shellcheck disable=SC2086 # flags are words
		echo "#include \"${header#include/}\"" | "$1" -x "${2%-*}" -std="${2#*-}" -fsyntax-only \
			-Wall -Wextra -Wpedantic -Wundef -Wconversion -Wshadow -Werror -Iinclude $mpi - ||
			{ echo "$header does not compile alone with $1 as $2" && failed=1; }
	done
}

for compiler in gcc clang; do
	alone $compiler c-c11
done
for compiler in g++ clang++; do
	alone $compiler c++-c++11
done
exit $failed
