#!/bin/sh
# train_mnist.sh -- from a fresh clone to a trained network: install what is
# missing, build, and train the model-parallel MNIST example on 2 ranks.
#
# usage: scripts/train_mnist.sh [-n RANKS] [--threads T] [OPTION...]
#
#   -n RANKS     how many processes; 2 unless given
#   --threads T  threads of each, which are also reserved with the launcher
#   OPTION       any other goes on to the example; --help lists them
#
# 5 epochs unless told otherwise. Exit status: that of the first step that failed.
set -eu

cd "$(dirname "$0")/.."

case ${1-} in
-h | --help)
	sed -n '2,/^set/ { /^#/ s/^# \{0,1\}//p; }' "$0"
	[ -x build/examples/mnist_model_parallel ] || exit 0
	echo && exec scripts/launch.sh -n 1 build/examples/mnist_model_parallel --help
	;;
esac

ranks=2 threads=1
set -- --epochs 5 "$@"
for word; do # put what is not ours behind, in order, and drop the rest
	shift
	case ${before-} in
	-n) ranks=$word before= && continue ;;
	--threads) threads=$word ;;
	esac
	before=$word
	case $word in
	-n) continue ;;
	-n[0-9]*) ranks=${word#-n} && continue ;;
	--threads=*) threads=${word#*=} ;;
	esac
	set -- "$@" "$word"
done
case ${before-} in
-n) echo "train_mnist: -n wants a number of ranks" >&2 && exit 2 ;;
esac

scripts/setup.sh || echo "train_mnist: trying all the same"
scripts/build.sh build
exec scripts/launch.sh -n "$ranks" --threads "$threads" build/examples/mnist_model_parallel "$@"
