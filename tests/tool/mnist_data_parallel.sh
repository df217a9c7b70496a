#!/bin/sh
# mnist_data_parallel.sh -- replicas on 1 to 4 ranks learn, stay equal, resume
# exactly, and count each test image once.
#
# shellcheck source=tests/lib/tool_test.sh
. "$WEFT_ROOT/tests/lib/tool_test.sh"

example=examples/mnist_data_parallel

write_images few 1201 # which neither 2, 3 nor 4 ranks share evenly

# train RANKS DIR OPTION...
train() {
	size=$1 out=$2
	shift 2
	ranks "$size" $example --data few --units 32 --out "$out" "$@" >"$out.txt" ||
		fail "$out: $(tail -n 5 "$out.txt")"
}

train 1 one --batch 48 --epochs 2
train 2 two --batch 24 --epochs 2
train 3 three --batch 16 --epochs 2
train 4 four --batch 12 --epochs 2
train 3 again --batch 16 --epochs 2 --resume three/snapshot_iter_26.h5

/usr/bin/python3 - <<'END'
import json

def rows(folder):
    return [json.loads(line) for line in open(f"{folder}/log.jsonl")]

for folder in ("one", "two", "three", "four"):
    assert len(rows(folder)) == 2, folder
    for row in rows(folder):
        images = row["validation/main/accuracy"] * 1201
        assert abs(images - round(images)) < 1e-3, (folder, images)  # each image once
    assert rows(folder)[1]["validation/main/accuracy"] > 0.6, (folder, rows(folder))
    assert rows(folder)[1]["main/loss"] < rows(folder)[0]["main/loss"]
last, resumed = rows("three")[-1], rows("again")[-1]
for key in last:
    assert key == "elapsed_time" or last[key] == resumed[key], (key, last, resumed)
END
