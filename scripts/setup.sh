#!/bin/sh
# setup.sh -- install what Weft needs and this machine lacks. Asks no questions,
# safe to repeat, and fast when all is there.
#
# usage: scripts/setup.sh [--check]
#
#   --check  also what scripts/check.sh needs to test and check Weft
#
# With apt (Debian, Ubuntu) it installs packages, as root or through sudo. Without
# it, or without the right to, it looks whether the things themselves are there and
# names the packages to ask for. Exit 0: all that is needed is here; 1: it is not.
set -eu

# A package, what it is for (train, check; with ? if Weft can do without), and how
# to know it where there is no apt: a command, a pkg-config name (of several, one
# is enough), a file, a header that a compiler finds, or - for what comes with
# another.
packages='
gcc                     train   command:cc|gcc|clang
libc6-dev               train   file:/usr/include/stdio.h
meson                   train   command:meson
ninja-build             train   command:ninja|ninja-build
pkg-config              train   command:pkg-config|pkgconf
openmpi-bin             train   command:mpiexec|srun
libopenmpi-dev          train   package:ompi-c|ompi|mpich|mpi-c compiles:mpicc,mpi.h
libopenblas-openmp-dev  train   package:openblas|cblas|blas
libdnnl-dev             train?  file:/usr/include/dnnl.h
libhdf5-dev             train   package:hdf5-serial|hdf5 compiles:h5cc,hdf5.h
zlib1g-dev              train   package:zlib
libjansson-dev          train   package:jansson
dataset-fashion-mnist   train?  file:/usr/share/datasets/fashion-mnist
g++                     check   command:c++|g++|clang++
clang                   check   command:clang
libomp-dev              check   -
clang-format            check   command:clang-format-14|clang-format
clang-tidy              check   command:clang-tidy
libcmocka-dev           check   package:cmocka
procps                  check   command:pgrep
valgrind                check   command:valgrind
libc6-dbg               check   -
shellcheck              check   command:shellcheck
python3-h5py            check   -
python3-numpy           check   -
python3-torch           check?  -
'

want=train
case ${1-} in
'') ;;
--check) want=check ;;
-h | --help) sed -n '2,/^set/ { /^#/ s/^# \{0,1\}//p; }' "$0" && exit 0 ;;
*) echo "setup: what is $1? See --help" >&2 && exit 2 ;;
esac

say() { echo "setup: $*"; }

# The packages wanted, a line each: name, use, how to know it.
wanted() {
	echo "$packages" | awk -v want="$want" 'NF && ($2 ~ /^train/ || want == "check")'
}

# Those of them that dpkg does not know as installed.
missing() {
	wanted | cut -d' ' -f1 | sort >"$list"
	# shellcheck disable=SC2046 # names are words
	dpkg-query -W -f '${db:Status-Status} ${Package}\n' $(cat "$list") 2>/dev/null |
		sed -n 's/^installed //p' | sort -u | comm -23 "$list" -
}

# here HOW...: is the thing itself here?
here() {
	for how; do
		kind=${how%%:*}
		for it in $(echo "${how#*:}" | tr '|' ' '); do
			case $kind in
			-) return 0 ;;
			command) command -v "$it" >/dev/null && return 0 ;;
			package) pkg-config --exists "$it" 2>/dev/null && return 0 ;;
			file) [ -e "$it" ] && return 0 ;;
			compiles) echo "#include <${it#*,}>" | "${it%,*}" -E - >/dev/null 2>&1 && return 0 ;;
			esac
		done
	done
	return 1
}

# without_apt WHY: look for the things, name what is not here.
without_apt() {
	lacking=no
	wanted >"$list"
	while read -r name use how; do
		# shellcheck disable=SC2086 # words
		here $how && continue
		case $use in
		*\?) say "not here, and Weft can do without: $name" ;;
		*) say "missing: $name (as Debian calls it)" && lacking=yes ;;
		esac
	done <"$list"
	[ $lacking = no ] && exit 0
	say "$1: please have the missing ones installed"
	exit 1
}

list=$(mktemp)
trap 'rm -f "$list"' EXIT

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
	without_apt "there is no apt here"
fi

lack=$(missing)
[ -n "$lack" ] || exit 0

sudo=
if [ "$(id -u)" != 0 ]; then
	sudo="sudo DEBIAN_FRONTEND=noninteractive"
	command -v sudo >/dev/null || without_apt "only root can install packages, and there is no sudo"
fi
export DEBIAN_FRONTEND=noninteractive

# apt COMMAND...: quiet unless it fails, and patient with a mirror or another apt
apt() {
	$sudo apt-get -o Acquire::Retries=3 -o DPkg::Lock::Timeout=600 "$@" >"$list" 2>&1 </dev/null ||
		{ tail -n 20 "$list" >&2 && return 1; }
}

say "installing, which takes a minute or two: $(echo "$lack" | tr '\n' ' ')"
apt update -q || say "the list of packages could not be renewed; trying with the old one"

# What Weft can do without is left out where this release does not have it.
for name in $lack; do
	if wanted | grep -q "^$name .*?" && [ -z "$(apt-cache search --names-only "^$name\$")" ]; then
		say "no package $name in this release: going on without"
		lack=$(echo "$lack" | grep -vx "$name")
	fi
done

# shellcheck disable=SC2086 # names are words
apt install -q -y --no-install-recommends $lack || without_apt "apt-get could not install them"
say "done"
