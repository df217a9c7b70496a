#!/bin/sh
# check_symbols.sh -- library manners, read off the built library: it exports only
# weft_ names, and calls nothing that starts or ends MPI or the job, prints, forks,
# or handles signals.
#
# usage: scripts/check_symbols.sh [BUILD-FOLDER]
#
# The build must be a release one: assertions call abort. Exit 0: good manners;
# 1: not; 2: no library there.
set -eu

cd "$(dirname "$0")/.."

library=${1:-build}/src/libweft.so
[ -e "$library" ] || { echo "check_symbols: no $library" >&2 && exit 2; }

calls=$(nm -D --undefined-only "$library" | sed 's/@.*//' | awk '{ print $NF }' | grep -xE \
	'MPI_(Init|Init_thread|Finalize|Abort|Comm_spawn.*)|_?_?exit|_Exit|quick_exit|abort|__assert_fail|(__)?(v?printf|puts|putchar|fputs_unlocked)(_chk)?|stdout|stderr|perror|(v)?fork|system|popen|posix_spawnp?|signal|sigaction' ||
	true)
exports=$(nm -D --defined-only "$library" | awk '{ print $NF }' | sed 's/@.*//' | grep -v '^weft_[^_]' ||
	true)

[ -z "$calls" ] || echo "$library calls:" "$calls"
[ -z "$exports" ] || echo "$library exports:" "$exports"
[ -z "$calls$exports" ]
