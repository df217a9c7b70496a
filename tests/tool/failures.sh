#!/bin/sh
# failures.sh -- one rank fails alone, while the others wait for it without an
# agreement: the job ends within seconds, with the cause as its last word.
#
# shellcheck source=tests/lib/tool_test.sh
. "$WEFT_ROOT/tests/lib/tool_test.sh"

example=examples/mnist_model_parallel
write_images good 3000 # in batches of one, so that an epoch is mostly messages
write_images wrong 60 5 17 # image 5 has label 17

# begin N OPTION...: train for long in the background; come back when the ranks,
# whose process ids are then in $pids, are at it
begin() {
	size=$1
	shift
	rm -rf out
	ranks "$size" $example --data good --units 8 --batch 1 --epochs 1000000 --out out "$@" \
		>said 2>&1 &
	job=$!
	for _ in $(seq 600); do
		[ ! -s out/log.jsonl ] || break
		sleep 0.1
	done
	[ -s out/log.jsonl ] || { cat said; fail "no epoch within a minute"; }
	sleep 0.2 # the snapshot
	pids=$(pgrep -f "^$WEFT_BUILD/$example --data good .*--out out" | sort -n)
	pids=$(for pid in $pids; do [ "$(readlink "/proc/$pid/cwd")" != "$here" ] || echo "$pid"; done)
	# shellcheck disable=SC2086 # words
	set -- $pids
	[ $# = "$size" ] || fail "$# processes, not $size"
}

# ends WITHIN: the job ends by then, in seconds, with a status, and leaves no process
ends() {
	for _ in $(seq $((10 * $1))); do
		kill -0 "$job" 2>/dev/null || break
		sleep 0.1
	done
	! kill -0 "$job" 2>/dev/null || { cat said; fail "does not end"; }
	status=0
	wait "$job" || status=$?
	[ $status != 0 ] || { cat said; fail "ends with status 0"; }
	for pid in $pids; do
		for _ in $(seq 20); do
			! kill -0 "$pid" 2>/dev/null || sleep 0.1
		done
		! kill -0 "$pid" 2>/dev/null || fail "rank process $pid is still there"
	done
}

# says WORDS...: so does a line of the job
says() {
	for words; do
		grep -q -- "$words" said || { cat said; fail "does not say: $words"; }
	done
}

# ---- a rank fails in the middle of a step that the others wait for ----

for size in 2 3 4; do
	began=$(date +%s)
	refuses 1 'the reason, on rank 1' ranks $size tests/one_rank_fails
	[ $(($(date +%s) - began)) -lt 10 ] || fail "a failure on one of $size ranks takes over 10 s"
	[ "$(grep 'error: ' said | tail -n 1)" = \
		'weft [1] error: a value in the data is out of range: the reason, on rank 1' ] ||
		{ cat said; fail "the cause is not the last word"; }
done

# ---- a label that is none: the rank that reads it says where, before any step ----

began=$(date +%s)
status=0
ranks 3 $example --data wrong --units 8 --batch 60 --epochs 1 --out out >said 2>&1 || status=$?
[ $status = 1 ] || { cat said; fail "status $status, not 1"; }
[ $(($(date +%s) - began)) -le 10 ] || fail "took longer than 10 s"
last=$(grep '^weft \[' said | tail -n 1)
echo "$last" | grep -q "^weft \[0\] error: .*label.* 17\b" || { cat said; fail "last word: $last"; }
echo "$last" | grep -q 'wrong/.*-labels-idx1-ubyte, offset 13' || fail "no place: $last"

# ---- a rank that stands still ----------------------------------------------------

WEFT_DEADLINE=2 begin 2
stopped=$(echo "$pids" | tail -n 1)
kill -STOP "$stopped"
for _ in $(seq 80); do
	! grep -q 'error: ' said || break
	sleep 0.1
done
kill -CONT "$stopped" 2>/dev/null || :
ends 10
says 'error: .*\(recv\|send\) of edge [0-9]* .*rank [01], micro-batch 0, waited 2\.[0-9] s (operation [0-9]*)'

# ---- a rank that is killed -------------------------------------------------------

begin 2
for pid in $pids; do grep -o '/dev/shm/[^ ]*' "/proc/$pid/maps" || :; done | sort -u >mapped
kill -KILL "$(echo "$pids" | tail -n 1)"
ends 10

# What stays in shared memory is Open MPI's, which cannot clean up after such an end.
while read -r file; do
	[ -e "$file" ] || continue
	case $file in
	/dev/shm/vader_segment.* | /dev/shm/osc_rdma.* | /dev/shm/sm_segment.*) rm -f "$file" ;;
	*) fail "$file is left" ;;
	esac
done <mapped
