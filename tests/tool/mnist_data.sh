#!/bin/sh
# mnist_data.sh -- where images come from, and damaged files: one clear error on all
# ranks, naming the file and the offset.
#
# shellcheck source=tests/lib/tool_test.sh
. "$WEFT_ROOT/tests/lib/tool_test.sh"

example=examples/mnist_model_parallel

/usr/bin/python3 - <<'END'
import gzip, pathlib, struct

def write(folder, images, labels, magic=0x803, declared=None, spare=b"", side=28, last=9):
    folder = pathlib.Path(folder)
    folder.mkdir()
    for part, n in (("train", images), ("t10k", images)):
        x = bytes((i * 7 + j) % 256 for i in range(n) for j in range(side * side))
        t = bytes(i % 10 for i in range(labels - 1)) + bytes([last])
        head = struct.pack(">IIII", magic, declared or n, side, side)
        (folder / f"{part}-images-idx3-ubyte").write_bytes(head + x + spare)
        (folder / f"{part}-labels-idx1-ubyte").write_bytes(struct.pack(">II", 0x801, labels) + t)

write("good", 60, 60)
write("magic", 60, 60, magic=0x903)
write("short", 60, 60, declared=61)
write("long", 60, 60, spare=b"x")
write("huge", 60, 60, declared=2**31 - 1)
write("mismatch", 60, 59)
write("side", 60, 60, side=27)
write("label", 60, 60, last=10)
good = pathlib.Path("good/train-images-idx3-ubyte").read_bytes()
for name, damage in (("gz", lambda z: z), ("gz_cut", lambda z: z[: len(z) // 2]),
                     ("gz_flip", lambda z: z[:-6] + bytes([z[-6] ^ 1]) + z[-5:])):
    write(name, 60, 60)
    path = pathlib.Path(name) / "train-images-idx3-ubyte"
    (pathlib.Path(name) / "train-images-idx3-ubyte.gz").write_bytes(damage(gzip.compress(good)))
    path.unlink()
END

train() { ranks "$1" $example --units 8 --batch 7 --epochs 1 --out out --data "$2"; }

train 2 good >/dev/null
cp out/log.jsonl good.jsonl
train 3 gz >/dev/null
sed 's/"elapsed_time": *[^,}]*//' good.jsonl >one
sed 's/"elapsed_time": *[^,}]*//' out/log.jsonl >two
cmp -s one two || fail "compressed images give other numbers"
WEFT_DATA=$PWD/good ranks 1 $example --units 8 --epochs 1 --out by_environment >/dev/null
WEFT_DATA=$PWD/nowhere refuses 1 nowhere ranks 2 $example --units 8 --epochs 1

# What is no folder is said to be none; the images of the test are checked as well, at once.
refuses 1 'good/train-images-idx3-ubyte: not a folder' train 2 good/train-images-idx3-ubyte
refuses 1 'the folder of images is empty' train 2 ''
cp -r good wrong_test
cp label/t10k-labels-idx1-ubyte wrong_test
refuses 1 'wrong_test/t10k-labels-idx1-ubyte, offset 67' train 2 wrong_test

# Set to nothing, $WEFT_DATA means nothing, wherever the package is: then a set is made
# up, and one line says so.
WEFT_DATA='' ranks 2 $example --units 8 --batch 2000 --epochs 1 --out made_up >said 2>&1 ||
	{ cat said; fail "synthetic images"; }
[ "$(grep -c 'the images are synthetic' said)" = 1 ] || { cat said; fail "says so once"; }
grep -q '"iteration": 30,' made_up/log.jsonl || fail "60,000 synthetic images"

# A file whose content is wrong: where, and what was expected there. Numbers that
# differ are no place in a file.
for size in 2 1 3; do
	for folder in magic short long huge mismatch side label gz_cut gz_flip; do
		[ $size = 2 ] || [ $folder = gz_flip ] || continue # which is found last
		rm -rf out
		refuses 1 "$folder/train-" train $size $folder
		case $folder in
		mismatch) words='59 labels' ;;
		side) words='offset 8: images of 27 x 27, expected 28 x 28' ;;
		label) words='offset 67: sample 59 has label 10' ;;
		*) words='offset [0-9]' ;;
		esac
		grep 'error: ' said | grep -q "$words" || { cat said; fail "$folder: no $words"; }
		[ "$(grep -c 'error: ' said)" = 1 ] || { cat said; fail "$folder: not one error"; }
	done
done
