#!/bin/sh
# check_rooms.sh -- every #include goes down the house, never up.
#
# usage: scripts/check_rooms.sh
#
# Reads src/rooms.txt: one room (a folder of src/) a line, then the rooms it may
# include. A header of room R is "R/x.h" when private and "weft/R.h" when public.
# Also: mpi.h only where ranks are the subject, HDF5 only in io, CBLAS and oneDNN
# only in src/tensor/gemm*.c.
#
# Prints each include that breaks this. Exit 0 if there is none, 1 if there is,
# 2 if it could not look.
set -eu

cd "$(dirname "$0")/.." || exit 2
test -r src/rooms.txt || { echo "check_rooms: no src/rooms.txt" >&2; exit 2; }

grep -rnE '^[[:space:]]*#[[:space:]]*include' src include/weft --include='*.[ch]' | awk '
	BEGIN {
		while ((getline line <"src/rooms.txt") > 0) {
			if (line ~ /^#/ || split(line, w, " ") == 0)
				continue
			room[w[1]] = 1
			for (i in w)
				may[w[1], w[i]] = 1
		}
		mpi["comm"] = mpi["parallel"] = mpi["server"] = mpi["program"] = mpi["tools"] = 1
	}
	{
		split($0, hit, ":")
		split(hit[1], path, "/") # src/ROOM/x.c or include/weft/ROOM.h
		from = path[1] == "src" ? path[2] : path[3]
		sub(/\.h$/, "", from)
		if (!match($0, /[<"][^>"]*[>"]/))
			next # the file that includes itself
		file = substr($0, RSTART + 1, RLENGTH - 2)
		bad = ""

		if (!(from in room))
			bad = from " is not in src/rooms.txt"
		if (file == "mpi.h" && !mpi[from])
			bad = "mpi.h outside comm, parallel, server, program, tools"
		if (file ~ /^hdf5/ && from != "io")
			bad = "hdf5 outside io"
		if (file ~ /^(cblas|dnnl|oneapi)/ && hit[1] !~ /^src\/tensor\/gemm[^\/]*\.c$/)
			bad = file " outside src/tensor/gemm*.c"
		n = split(file, part, "/")
		to = part[1]
		if (n == 2 && to == "weft") {
			to = part[2]
			sub(/\.h$/, "", to)
		}
		if (n == 2 && (to in room) && !((from, to) in may))
			bad = from " may not know " to
		if (bad != "") {
			print hit[1] ":" hit[2] ": " bad
			failed = 1
		}
	}
	END { exit failed }
'
