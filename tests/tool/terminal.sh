#!/bin/sh
# terminal.sh -- a person at a terminal sees a bar, though the ranks are started by a
# launcher; a file gets plain lines.
#
# shellcheck source=tests/lib/tool_test.sh
. "$WEFT_ROOT/tests/lib/tool_test.sh"

command -v script >/dev/null || { echo "skipped: no script (util-linux)" && exit 77; }
unset WEFT_PROGRESS # what this test is about

example="$WEFT_BUILD/examples/mnist_model_parallel"
write_images few 4000
train="$WEFT_ROOT/scripts/launch.sh --shared -n 2 $example --data few -u 64 -b 5 -e 1 --out out"
export COLUMNS=100

script -qec "$train" typed </dev/null >/dev/null || { cat typed; fail "on a terminal"; }
grep -q "$(printf '\r')"'[^[]*\[#*\.*\]' typed || { cat -v typed; fail "no bar on a terminal"; }
grep -q '^1  *[0-9]' typed || { cat -v typed; fail "no line of the epoch on a terminal"; }

$train </dev/null >written 2>&1 || { cat written; fail "into a file"; }
! grep -q "$(printf '\r')" written || { cat -v written; fail "returns in a file"; }
! grep -q '\[[#.]' written || { cat -v written; fail "a bar in a file"; }
grep -q '^1  *[0-9]' written || { cat written; fail "no line of the epoch in a file"; }

# Said outright, it holds anywhere.
script -qec "$train --progress off" typed </dev/null >/dev/null || fail "--progress off"
! grep -q '\[[#.]' typed || { cat -v typed; fail "a bar with --progress off"; }
$train --progress on </dev/null >written 2>&1 || fail "--progress on"
grep -q '\[[#.]' written || { cat -v written; fail "no bar with --progress on"; }
