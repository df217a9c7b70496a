#!/bin/sh
# environment.sh -- variables with a wrong word are a failure that names it, on all
# ranks; so are programs that a launcher started each for itself.
#
# shellcheck source=tests/lib/tool_test.sh
. "$WEFT_ROOT/tests/lib/tool_test.sh"

example=examples/linear_regression

# wrong NAME WORD SAYS: with this variable on 2 ranks
wrong() {
	export "$1=$2"
	refuses 1 "$3" ranks 2 $example
	grep 'error: ' said | grep -q "['\"]$2['\"]" || { cat said; fail "does not quote '$2'"; }
	unset "$1"
}

wrong WEFT_LOG loud "WEFT_LOG is 'loud'; it may be error, warn, info or debug"
wrong WEFT_KERNELS avx9 'avx9'
example=examples/mnist_model_parallel
wrong WEFT_DEADLINE abc "WEFT_DEADLINE is 'abc', not a positive number of seconds"
WEFT_DEADLINE=0 refuses 1 "WEFT_DEADLINE is '0'" ranks 1 $example

# The right words.
WEFT_LOG=info ranks 2 examples/linear_regression >said 2>&1 || { cat said; fail "WEFT_LOG=info"; }
[ "$(grep -c '^weft \[0\] info: Weft .* on 2 ranks' said)" = 1 ] || { cat said; fail "no facts"; }
WEFT_LOG=info WEFT_KERNELS=baseline ranks 1 examples/linear_regression >said 2>&1 || fail "baseline"
grep -q 'kernels baseline' said || { cat said; fail "other kernels than said"; }

# srun without PMI: as many programs of one rank each.
alone() {
	env -u OMPI_COMM_WORLD_SIZE SLURM_STEP_NUM_TASKS="$1" "$WEFT_BUILD/examples/linear_regression"
}
refuses 1 'srun started 2 tasks, but MPI sees 1 rank in each' alone 2
grep -q 'srun --mpi=pmix' said || { cat said; fail "gives no advice"; }
alone 1 >said 2>&1 || { cat said; fail "one task is as it should be"; }
