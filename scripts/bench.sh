#!/bin/sh
# bench.sh -- Weft and PyTorch on the same work, in turns within one run.
#
# usage: scripts/bench.sh [-w WORKLOAD] [-t THREADS] [-b BATCH] [-n ROUNDS]
#                         [-p SCRIPT] [BUILD]
#
#   -p SCRIPT  PyTorch's side, which takes the options of scripts/bench_torch.py
#              and prints the same JSON line; that one unless given
#
# Defaults: w1, 1 thread, batch 100, 5 rounds, the folder build. Each round runs
# `weft bench` and then PyTorch (Debian's python3-torch), for about the same time,
# with 2 threads also PyTorch with 1, for KANN's sake; ratios are taken within a
# round, and their median is printed. One JSON line a measurement goes to standard
# error, the summary to standard output.
#
# Exit 0 if all was measured, 2 if something is missing or failed.
set -eu

workload=w1 threads=1 batch=100 rounds=5 script=scripts/bench_torch.py
while getopts w:t:b:n:p:h option; do
	case $option in
	w) workload=$OPTARG ;;
	t) threads=$OPTARG ;;
	b) batch=$OPTARG ;;
	n) rounds=$OPTARG ;;
	p) script=$(realpath "$OPTARG") ;;
	*)
		sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "$0"
		exit 2
		;;
	esac
done
shift $((OPTIND - 1))
cd "$(dirname "$0")/.."
build=${1:-build}
python=/usr/bin/python3

test -x "$build/weft" || {
	echo "bench: no $build/weft; scripts/train_mnist.sh or scripts/check.sh builds it" >&2
	exit 2
}
"$python" -c 'import torch' 2>/dev/null || {
	echo "bench: $python has no torch (Debian: python3-torch)" >&2
	exit 2
}

test -r "$script" || {
	echo "bench: no $script" >&2
	exit 2
}

lines=$(mktemp)
trap 'rm -f "$lines"' EXIT

# Debian's PyTorch has two pools of threads; with an active wait they slow each other.
torch_bench() { # THREADS OPTION...
	OMP_NUM_THREADS=$1 OPENBLAS_NUM_THREADS=$1 OMP_WAIT_POLICY=passive \
		"$python" "$script" --threads "$@"
}

weft_bench() { # THREADS OPTION...
	scripts/launch.sh -n 1 --threads "$1" "$build/weft" bench --threads "$@"
}

# measure WHO THREADS: one line
measure() {
	line=$("$1_bench" "$2" --workload "$workload" --batch "$batch" --reps 3 --seconds 1 </dev/null) ||
		exit 2
	echo "$line" | tee -a "$lines" >&2
}

round=1
while [ "$round" -le "$rounds" ]; do
	measure weft "$threads"
	measure torch "$threads"
	[ "$threads" != 2 ] || measure torch 1
	round=$((round + 1))
done

# KANN is taken as a fixed multiple of PyTorch's figure for w1 on 1 thread, as once
# measured beside it on one machine.
"$python" - "$lines" "$threads" <<'END'
import json, statistics, sys

KANN = {1: 1.49, 2: 1.58}  # by its threads
threads = int(sys.argv[2])
rows = [json.loads(line) for line in open(sys.argv[1])]
ours = [r for r in rows if r["peer"] == "weft"]
theirs = [r for r in rows if r["peer"] != "weft" and r["threads"] == threads]
alone = [r for r in rows if r["peer"] != "weft" and r["threads"] == 1]


def of(rows, key):
    return statistics.median(r[key] for r in rows)


def show(name, rows, more=""):
    print(f"  {name:<14} {of(rows, 'samples_per_s'):9.0f} samples/s  {of(rows, 'peak_rss_mb'):6.0f} MB{more}")


def compare(name, rows, factor=1.0, more=""):
    ratio = [a["samples_per_s"] / b["samples_per_s"] / factor for a, b in zip(ours, rows)]
    print(f"  Weft / {name:<7} {statistics.median(ratio):9.2f}"
          f"   (rounds: {min(ratio):.2f} to {max(ratio):.2f}{more})")


print(f"{ours[0]['workload']}, batch {ours[0]['batch']}, {threads} thread(s), {len(ours)} rounds")
show("Weft", ours)
show("PyTorch", theirs, f"   ({theirs[0]['peer']})")
if threads == 2:
    show("PyTorch 1 thr.", alone)
compare("PyTorch", theirs)
if ours[0]["workload"] == "w1" and threads in KANN:
    factor = KANN[threads]
    compare("KANN", alone, factor, f"; KANN taken as {factor} of PyTorch on 1 thread")
print(f"  its GEMMs only {of(ours, 'gemm_samples_per_s'):9.0f} samples/s; Weft reaches "
      f"{100 * of(ours, 'of_gemm'):.0f} % of their speed")
END
