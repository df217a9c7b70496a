#!/bin/sh
# launch.sh -- start a program on several ranks. The one place that knows the
# launchers and their flags.
#
# usage: scripts/launch.sh [-n RANKS] [--threads T] [--shared] PROGRAM [ARGUMENT...]
#
#   -n RANKS     how many processes; 1 unless given
#   --threads T  cores that each of them needs; 1 unless given. Only reserves
#                them: what uses them is the program's own --threads
#   --shared     other work runs on these cores too, as in tests: bind to none,
#                and yield while waiting
#
# WEFT_LAUNCHER      mpiexec (the default; Open MPI's, MPICH's, Intel's), srun, or
#                    a path to one of them
# WEFT_LAUNCH_FLAGS  more flags for it: "--hostfile nodes"
# WEFT_PROGRESS      on or off; unless set, whether the standard output is a
#                    terminal. The ranks cannot tell: a launcher may give each a
#                    terminal of its own
#
# Exit status: that of the launcher, which is not 0 if a rank failed.
set -eu

say() { echo "launch: $*" >&2; }

ranks=1 threads=1 shared=no
while [ $# -gt 0 ]; do
	case $1 in
	-n) ranks=${2-} ;;
	-n*) ranks=${1#-n} ;;
	--threads) threads=${2-} ;;
	--threads=*) threads=${1#*=} ;;
	--shared) shared=yes ;;
	-h | --help) sed -n '2,/^set/ { /^#/ s/^# \{0,1\}//p; }' "$0" && exit ;;
	-*) say "what is $1? See --help" && exit 2 ;;
	*) break ;;
	esac
	case $1 in -n | --threads) shift ;; esac
	[ $# -eq 0 ] || shift
done
for count in "$ranks" "$threads"; do
	case $count in
	'' | *[!0-9]* | 0*) say "a number of ranks or threads is not '$count'" && exit 2 ;;
	esac
done
[ $# -gt 0 ] || { say "no program. See --help" && exit 2; }
command -v "$1" >/dev/null || { say "no program $1" && exit 127; }
if [ -d "$1" ] || { [ -e "$1" ] && [ ! -x "$1" ]; }; then
	say "$1 is not a program" && exit 126
fi

if [ -z "${WEFT_PROGRESS-}" ]; then
	if [ -t 1 ]; then WEFT_PROGRESS=on; else WEFT_PROGRESS=off; fi
fi
export WEFT_PROGRESS

launcher=${WEFT_LAUNCHER:-mpiexec}
if ! command -v "$launcher" >/dev/null; then
	say "no $launcher here: install an MPI (scripts/setup.sh) or set WEFT_LAUNCHER" && exit 127
fi

cores=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)
[ $((ranks * threads)) -le "$cores" ] || shared=yes

# Threads that spin while others need their core slow everybody down, manifold.
export OMP_WAIT_POLICY="${OMP_WAIT_POLICY-passive}"

openmpi() {
	# Without --quiet a rank that fails has its one line buried under twenty.
	echo "--quiet -n $ranks --oversubscribe"
	[ "$(id -u)" != 0 ] || echo --allow-run-as-root
	# By itself Open MPI binds each rank to one core, and two jobs to the same.
	[ $shared = no ] && [ "$threads" = 1 ] || echo --bind-to none
	[ $shared = no ] || echo --mca mpi_yield_when_idle 1
	# The environment does not reach other nodes unless named.
	env | sed -n 's/^\(WEFT_[A-Z_]*\|OMP_WAIT_POLICY\)=.*/-x \1/p'
}

slurm() {
	echo "-n $ranks -c $threads --kill-on-bad-exit=1"
	[ $shared = no ] || echo --overcommit --cpu-bind=none
}

case $(basename "$launcher") in
srun*) flags=$(slurm) ;;
*)
	case $("$launcher" --version 2>&1 </dev/null) in
	*"Open MPI"* | *OpenRTE* | *PRRTE*) flags=$(openmpi) ;;
	*) flags="-n $ranks" ;; # MPICH and Intel MPI bind to none and pass all on
	esac
	;;
esac

# In the background, so that a signal to this script reaches the ranks.
exec 3<&0
# shellcheck disable=SC2086 # flags are words
"$launcher" $flags ${WEFT_LAUNCH_FLAGS-} "$@" <&3 3<&- &
job=$!
trap 'kill -TERM $job 2>/dev/null' HUP INT TERM
status=0
wait $job || status=$?
while kill -0 $job 2>/dev/null; do # a signal ended the wait, not the job
	status=0
	wait $job || status=$?
done
[ "$status" -le 128 ] || say "a rank was ended by signal $((status - 128)): $1"
exit "$status"
