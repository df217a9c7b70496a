#!/bin/sh
# bench.sh -- Weft and PyTorch on the same work, in turns within one run.
#
# usage: scripts/bench.sh [-w WORKLOAD] [-t THREADS] [-b BATCH] [-n ROUNDS] [BUILD]
#
# Defaults: w1, 1 thread, batch 100, 5 rounds, the folder build. Each round runs
# `weft bench` and then scripts/bench_torch.py (Debian's python3-torch), for about
# the same time; ratios are taken within a round, and their median is printed.
# One JSON line a measurement goes to standard error, the summary to standard output.
#
# Exit 0 if all was measured, 2 if something is missing.
set -eu

workload=w1 threads=1 batch=100 rounds=5
while getopts w:t:b:n:h option; do
	case $option in
	w) workload=$OPTARG ;;
	t) threads=$OPTARG ;;
	b) batch=$OPTARG ;;
	n) rounds=$OPTARG ;;
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

lines=$(mktemp)
trap 'rm -f "$lines"' EXIT

# Debian's PyTorch has two pools of threads; with an active wait they slow each other.
torch_bench() {
	OMP_NUM_THREADS=$threads OPENBLAS_NUM_THREADS=$threads OMP_WAIT_POLICY=passive \
		"$python" scripts/bench_torch.py "$@"
}

weft_bench() {
	scripts/launch.sh -n 1 --threads "$threads" "$build/weft" bench "$@"
}

round=1
while [ "$round" -le "$rounds" ]; do
	for who in weft torch; do
		"${who}_bench" --workload "$workload" --threads "$threads" --batch "$batch" \
			--reps 3 --seconds 1 </dev/null | tee -a "$lines" >&2
	done
	round=$((round + 1))
done

# Other peers are fixed multiples of PyTorch's figure for w1 on 1 thread, as once
# measured beside it on one machine: KANN 1.49, KANN with 2 threads 1.58.
"$python" - "$lines" <<'END'
import json, statistics, sys

rows = [json.loads(line) for line in open(sys.argv[1])]
ours = [r for r in rows if r["peer"] == "weft"]
theirs = [r for r in rows if r["peer"] != "weft"]
median = statistics.median


def of(rows, key):
    return median(r[key] for r in rows)


ratio = [a["samples_per_s"] / b["samples_per_s"] for a, b in zip(ours, theirs)]
first = ours[0]
print(f"{first['workload']}, batch {first['batch']}, {first['threads']} thread(s), {len(ours)} rounds")
print(f"  Weft           {of(ours, 'samples_per_s'):9.0f} samples/s  {of(ours, 'peak_rss_mb'):6.0f} MB")
print(f"  PyTorch        {of(theirs, 'samples_per_s'):9.0f} samples/s  {of(theirs, 'peak_rss_mb'):6.0f} MB"
      f"   ({theirs[0]['peer']})")
print(f"  Weft / PyTorch {median(ratio):9.2f}   (rounds: {min(ratio):.2f} to {max(ratio):.2f})")
if first["workload"] == "w1" and first["threads"] == 1:
    print(f"  Weft / KANN    {median(ratio) / 1.49:9.2f}   (KANN taken as 1.49 of PyTorch)")
print(f"  its GEMMs only {of(ours, 'gemm_samples_per_s'):9.0f} samples/s; Weft reaches "
      f"{100 * of(ours, 'of_gemm'):.0f} % of their speed")
END
