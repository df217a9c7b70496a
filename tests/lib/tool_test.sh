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

# refuses STATUS WORDS COMMAND...: the command ends with this status (1: it failed, 2: it
# was called wrongly), and says these words
refuses() {
	status=$1 words=$2
	shift 2
	got=0
	"$@" >said 2>&1 || got=$?
	[ $got = "$status" ] || { cat said; fail "status $got, not $status: $*"; }
	grep -qF -- "$words" said || { cat said; fail "does not say '$words': $*"; }
}

# write_images FOLDER N [IMAGE LABEL]: N images of ten classes that differ, for training
# and as many for the test, as MNIST has them; one of them with another label
write_images() {
	/usr/bin/python3 - "$@" <<-'END'
		import pathlib, random, struct, sys

		folder, n = pathlib.Path(sys.argv[1]), int(sys.argv[2])
		folder.mkdir()
		for seed, part in enumerate(("train", "t10k")):
		    draw = random.Random(seed)
		    labels = bytearray(i * 7 % 10 for i in range(n))
		    images = bytearray()
		    for label in labels:  # a bright field of the class among noise
		        image = bytearray(draw.randbytes(784))
		        image[label * 70 : label * 70 + 70] = bytes([250] * 70)
		        images += image
		    if len(sys.argv) > 3:
		        labels[int(sys.argv[3])] = int(sys.argv[4])
		    (folder / f"{part}-images-idx3-ubyte").write_bytes(
		        struct.pack(">IIII", 0x803, n, 28, 28) + images)
		    (folder / f"{part}-labels-idx1-ubyte").write_bytes(struct.pack(">II", 0x801, n) + labels)
	END
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
