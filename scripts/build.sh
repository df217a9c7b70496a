#!/bin/sh
# build.sh -- configure a build folder, unless it is already, and build all in it.
#
# usage: scripts/build.sh [FOLDER [MESON-OPTION...]]
#
# FOLDER is build unless given; the options count only when it is made. Says little
# unless something fails. Exit 0: built.
set -eu

cd "$(dirname "$0")/.."

folder=${1:-build}
[ $# -eq 0 ] || shift

if [ ! -e "$folder/build.ninja" ]; then
	echo "build: configuring $folder"
	log=$(mktemp)
	meson setup "$folder" "$@" >"$log" 2>&1 || { cat "$log" >&2 && rm "$log" && exit 1; }
	rm "$log"
fi

ninja=$(command -v ninja || command -v ninja-build)
quiet=--quiet
[ ! -t 1 ] || quiet=
echo "build: compiling in $folder"
exec "$ninja" -C "$folder" -j "$(nproc)" $quiet
