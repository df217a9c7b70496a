#!/bin/sh
# linear_regression.sh -- the smallest program finds the line, and saves it where
# h5py finds it.
#
# shellcheck source=tests/lib/tool_test.sh
. "$WEFT_ROOT/tests/lib/tool_test.sh"
needs_python h5py

ranks 1 examples/linear_regression --out line.h5 >said || fail "$(cat said)"
cat said
[ "$(grep -c '^step' said)" = 5 ] || fail "five lines of progress"
/usr/bin/python3 - <<'END'
import h5py

said = open("said").read()
with h5py.File("line.h5") as line:
    W, b = line["W"][()], line["b"][()]
assert W.shape == (1, 2) and b.shape == (1,) and W.dtype == "float32", (W, b)
assert abs(W[0, 0] - 3) < 0.01 and abs(W[0, 1] + 2) < 0.01 and abs(b[0] - 0.5) < 0.01
assert f"W = ({W[0, 0]:.4f}, {W[0, 1]:.4f}), b = {b[0]:.4f}" in said
predicted, measured = (float(w.split()[-1]) for w in said.split("sample 7:")[1].split(","))
assert abs(predicted - measured) < 0.1
END
refuses 1 'no_such_folder' ranks 1 examples/linear_regression --out no_such_folder/line.h5
