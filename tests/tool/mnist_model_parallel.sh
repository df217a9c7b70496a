#!/bin/sh
# mnist_model_parallel.sh -- the same numbers on any number of ranks, in both
# precisions, and after a resume from any epoch; snapshots as h5py finds them; and
# clear refusals.
#
# shellcheck source=tests/lib/tool_test.sh
. "$WEFT_ROOT/tests/lib/tool_test.sh"
needs_python h5py numpy

example=examples/mnist_model_parallel
write_images few 1950 # 20 steps an epoch, the last of half a batch

# train RANKS DIR OPTION...: on the few images, unless the options say otherwise
train() {
	size=$1 out=$2
	shift 2
	ranks "$size" $example --data few -u 48 -b 100 -o "$out" "$@" >"$out.txt" ||
		fail "$out: $(tail -n 5 "$out.txt")"
}

# losses DIR: all figures of all epochs but the time
losses() { sed 's/"elapsed_time": *[^,}]*//' "$1/log.jsonl"; }

same() {
	losses "$1" >one && losses "$2" >two
	[ "$(wc -l <one)" = "$3" ] || fail "$1: $(wc -l <one) epochs, not $3"
	cmp -s one two || { diff one two; fail "$1 and $2 differ"; }
}

for dtype in f32 f64; do
	train 1 "one_$dtype" -e 3 --dtype $dtype
	for size in 2 3 5; do
		[ $size != 5 ] || [ $dtype = f32 ] || continue
		train $size "on${size}_$dtype" -e 3 --dtype $dtype
		same "on${size}_$dtype" "one_$dtype" 3
	done
done
grep -q 'nothing to do' on5_f32.txt || fail "idle ranks do not say so"
for word in epoch main/loss validation/main/loss main/accuracy validation/main/accuracy elapsed_time; do
	grep -q "$word" one_f32.txt || fail "the table has no column $word"
done

# Real images where they are, else made-up ones: 60,000 either way.
for size in 1 2; do
	ranks $size $example --units 32 --batch 500 --epochs 1 --out "real_$size" >/dev/null
done
same real_2 real_1 1
grep -q '"iteration": 120,' real_1/log.jsonl || fail "60,000 images in batches of 500"

# From each epoch's snapshot, written on 3 ranks, read on 2, and once the other way.
for step in 20 40; do
	train 2 again_$step -e 3 -r on3_f32/snapshot_iter_$step.h5
	tail -n $((3 - step / 20)) one_f32/log.jsonl | sed 's/"elapsed_time": *[^,}]*//' >one
	losses again_$step >two
	cmp -s one two || { diff one two; fail "a resume from step $step gives other numbers"; }
done
train 3 wider -e 3 --dtype f64 --resume one_f64/snapshot_iter_40.h5
tail -n 1 one_f64/log.jsonl | sed 's/"elapsed_time": *[^,}]*//' >one
losses wider >two
cmp -s one two || fail "f64 after a resume on more ranks"

# In place: the log goes on where the snapshot was taken.
cp -r on2_f32 in_place
train 2 in_place -e 3 -r in_place/snapshot_iter_20.h5
same in_place one_f32 3

# A snapshot from 3 ranks: one tree, whoever owned what.
/usr/bin/python3 - on3_f32/snapshot_iter_40.h5 one_f32/snapshot_iter_40.h5 f4 \
	on3_f64/snapshot_iter_40.h5 one_f64/snapshot_iter_40.h5 f8 <<'END'
import sys
import h5py
import numpy as np

shapes = {"l1/W": (48, 784), "l1/b": (48,), "l2/W": (48, 48), "l2/b": (48,),
          "l3/W": (10, 48), "l3/b": (10,)}


def check(file, dtype):
    updater = file["updater"]
    found = {}

    def note(name, x):
        if isinstance(x, h5py.Dataset):
            found[name] = x.shape, x.dtype

    updater["model:main"].visititems(note)
    assert found == {name: (shape, dtype) for name, shape in shapes.items()}, found
    optimizer = updater["optimizer:main"]
    assert set(optimizer) == {"l1", "l2", "l3", "t", "epoch"}, set(optimizer)
    assert optimizer["t"][()] == 40
    for name, shape in shapes.items():
        slots = optimizer[name]
        assert set(slots) == {"m", "v", "t"}, (name, set(slots))
        for slot in "m", "v":
            x = slots[slot]
            assert x.shape == shape and x.dtype == dtype, (name, slot, x)
            assert np.isfinite(x[()]).all() and x[()].any(), (name, slot)
    iterator = updater["iterator:main"]
    assert sorted(iterator["order"][()]) == list(range(1950))
    assert iterator["epoch"][()] == 2 and iterator["current_position"][()] == 0
    assert iterator["is_new_epoch"][()] and updater["iteration"][()] == 40
    plan = file["weft"].attrs["plan"]
    return plan.decode() if isinstance(plan, bytes) else plan


def same(a, b):
    def compare(name, x):
        if isinstance(x, h5py.Dataset) and x.shape is not None:
            assert np.array_equal(x[()], b["updater"][name][()]), name

    a["updater"].visititems(compare)


for three, one, dtype in (sys.argv[1:4], sys.argv[4:7]):
    with h5py.File(three, "r") as a, h5py.File(one, "r") as b:
        plan = check(a, dtype)
        for line in (f"input x: (rows, 784) {'f32' if dtype == 'f4' else 'f64'}",
                     "input t: (rows) i32", "l1 @0: linear from x to l2 @1; W (48, 784); b (48)",
                     "l2 @1: linear from l1 @0 to l3 @2; W (48, 48); b (48)",
                     "l3 @2: linear from l2 @1 to loss @0; W (10, 48); b (10)",
                     "loss @0: classifier from l3 @2, t to output 0"):
            assert line in plan.splitlines(), (line, plan)
        assert "@1" not in check(b, dtype)
        same(a, b)
END

# Refusals, on all ranks, with a status: 2 for what was asked, 1 for what failed.
refuses 2 'units' ranks 2 $example --units 0
refuses 2 'unknown option' ranks 2 $example --unit-s 5
refuses 2 'unknown option -z' ranks 2 $example -z
refuses 2 'f32|f64' ranks 2 $example --dtype f16
refuses 2 'an argument is missing after -b' ranks 2 $example -b
refuses 2 'an argument is missing after --out' ranks 2 $example --out
refuses 2 'unexpected argument: 7' ranks 2 $example -e 1 7
[ "$(grep -c 'unexpected' said)" = 1 ] || fail "a wrong argument is named by several ranks"
refuses 1 'no_such_folder' ranks 2 $example --epochs 1 --data no_such_folder
refuses 1 'no_such.h5' ranks 3 $example --data few -e 1 -r no_such.h5
refuses 1 'l1/W' ranks 2 $example --data few -u 32 -b 100 -e 5 -r on2_f32/snapshot_iter_20.h5
refuses 1 'seed' ranks 2 $example --data few -u 48 -b 100 --seed 9 -e 5 -r on2_f32/snapshot_iter_20.h5
ranks 2 $example --help >said
for words in '-b, --batch N' '-e, --epochs N' '-u, --units N' '-o, --out DIR' '-r, --resume FILE'; do
	grep -q -- "$words" said || { cat said; fail "--help does not say $words"; }
done
[ "$(ranks 3 $example --help | grep -c '^usage')" = 1 ] || fail "--help is printed by several ranks"
