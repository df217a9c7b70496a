#!/bin/sh
# mnist_model_parallel.sh -- the same numbers on any number of ranks, in both
# precisions, and after a resume from any epoch; and clear refusals.
#
# shellcheck source=tests/lib/tool_test.sh
. "$WEFT_ROOT/tests/lib/tool_test.sh"

# Real images where they are, else synthetic ones: the same for all runs.
example=examples/mnist_model_parallel

# train RANKS DIR OPTION...
train() {
	size=$1 out=$2
	shift 2
	ranks "$size" $example --units 48 --batch 250 --out "$out" "$@" >"$out.txt" ||
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
	train 1 "one_$dtype" --epochs 3 --dtype $dtype
	for size in 2 3 5; do
		train $size "on${size}_$dtype" --epochs 3 --dtype $dtype
		same "on${size}_$dtype" "one_$dtype" 3
	done
done
grep -q 'nothing to do' on5_f32.txt || fail "idle ranks do not say so"
for word in epoch main/loss validation/main/loss main/accuracy validation/main/accuracy elapsed_time; do
	grep -q "$word" one_f32.txt || fail "the table has no column $word"
done

# From each epoch's snapshot, written on 3 ranks, read on 2, and once the other way.
for step in 240 480; do
	train 2 again_$step --epochs 3 --resume on3_f32/snapshot_iter_$step.h5
	tail -n $((3 - step / 240)) one_f32/log.jsonl | sed 's/"elapsed_time": *[^,}]*//' >one
	losses again_$step >two
	cmp -s one two || { diff one two; fail "a resume from step $step gives other numbers"; }
done
train 3 wider --epochs 3 --dtype f64 --resume one_f64/snapshot_iter_480.h5
tail -n 1 one_f64/log.jsonl | sed 's/"elapsed_time": *[^,}]*//' >one
losses wider >two
cmp -s one two || fail "f64 after a resume on more ranks"

# In place: the log goes on where the snapshot was taken.
cp -r on2_f32 in_place
train 2 in_place --epochs 3 --resume in_place/snapshot_iter_240.h5
same in_place one_f32 3

# Refusals, on all ranks, with a status.
refuses 'units' ranks 2 $example --units 0
refuses 'unknown option' ranks 2 $example --unit-s 5
refuses 'f32|f64' ranks 2 $example --dtype f16
refuses 'no_such_folder' ranks 2 $example --epochs 1 --data no_such_folder
refuses 'no_such.h5' ranks 3 $example --epochs 1 --resume no_such.h5
refuses 'l1/W' ranks 2 $example --units 32 --epochs 5 --resume on2_f32/snapshot_iter_240.h5
refuses 'seed' ranks 2 $example --units 48 --batch 250 --seed 9 --epochs 5 --resume on2_f32/snapshot_iter_240.h5
ranks 2 $example --help | grep -q -- '--resume FILE' || fail "--help"
[ "$(ranks 3 $example --help | grep -c '^usage')" = 1 ] || fail "--help is printed by several ranks"
