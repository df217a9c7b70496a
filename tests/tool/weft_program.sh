#!/bin/sh
# weft_program.sh -- the program `weft` tells its versions, and measures.
#
# shellcheck source=tests/lib/tool_test.sh
. "$WEFT_ROOT/tests/lib/tool_test.sh"

ranks 1 weft --version >said
for word in '^weft [0-9]' '^HDF5 1' '^kernels'; do
	grep -q "$word" said || { cat said; fail "--version does not say $word"; }
done
[ "$(ranks 2 weft --help | grep -c usage)" = 1 ] || fail "--help once"
refuses 2 'usage' ranks 1 weft
refuses 2 'usage' ranks 1 weft knit
refuses 2 'w1' ranks 1 weft bench --workload w99
refuses 2 '100 at most' ranks 1 weft bench --reps 101
refuses 2 '--seconds' ranks 2 weft bench --seconds 0
refuses 2 '--seconds' ranks 1 weft bench --seconds -1

for size in 1 2; do
	ranks "$size" weft bench --workload w1 --batch 20 --samples 400 --reps 2 --seconds 0.05 >line
	/usr/bin/python3 - "$size" <<-'END'
		import json, sys

		row = json.loads(open("line").read())
		assert row["ranks"] == int(sys.argv[1]) and row["batch"] == 20 and row["workload"] == "w1"
		assert 0 < row["worst"] <= row["samples_per_s"] <= row["best"], row
		assert 0 < row["of_gemm"] and row["gemm_samples_per_s"] > 0 and row["peak_rss_mb"] > 10
		assert row["loss"] < 2.0, row  # ln 10 = 2.3 before the first step
	END
done
