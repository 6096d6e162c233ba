# SPDX-License-Identifier: MIT
# Tools in a pipe: the whole chain gives what its steps give, and each way of breaking it ends with the
# right status and one clear line. The status of every member is looked at, not only the last one's.
. tests/cli/lib.sh

{
	echo "name,time,application,num_replicas,batch_size"
	awk 'BEGIN { for (i = 1; i <= 400; i++)
		printf "w%d,%d,app%d,%d,%d\n", i, i * 7, i % 3, 1 + i % 4, 64 * (1 + i % 5) }'
} >"$T/workload.csv"
gf-trace --from pollux "$T/workload.csv" >"$T/read.tsv" 2>"$T/err"
ok "gf-trace reads the workload" $?
# A replay without profiles needs durations: made up here, and the trailer kept right.
with_durations() {
	awk 'BEGIN { FS = OFS = "\t" }
		/^#types=/ { print $0 ",time"; next }
		/^#/ { print; next }
		!head { head = 1; print $0, "duration_s"; next }
		{ print $0, 30 + (n++ * 37) % 211 }'
}
with_durations <"$T/read.tsv" >"$T/jobs.tsv"
replay="--policy fifo --cluster 4x4"

# member N CMD…: run CMD with its status in $T/status.N and its messages in $T/err.N
member() {
	member_n=$1 member_rc=0
	shift
	"$@" 2>"$T/err.$member_n" || member_rc=$?
	echo $member_rc >"$T/status.$member_n"
}

# NAME STATUS…: the members ended so
ended() {
	ended_name=$1
	shift
	k=1 found=
	while [ $k -le $# ]; do
		found="$found $(cat "$T/status.$k")"
		k=$((k + 1))
	done
	[ "$found" = " $*" ]
	ok "$ended_name: exit statuses $*" $?
	[ "$found" = " $*" ] || {
		diag "found:$found"
		for e in "$T"/err.*; do diag_file "${e##*/}" "$e" 3; done
	}
}

# NAME N TOOL REGEX: member N said one line, and that
said() {
	[ "$(wc -l <"$T/err.$2")" -eq 1 ] && grep -qE "^$3: $4" "$T/err.$2"
	said_ok=$?
	ok "$1: $3 says why in one line" $said_ok
	[ $said_ok -eq 0 ] || diag_file "standard error" "$T/err.$2" 5
}

quiet() {
	[ ! -s "$T/err.$2" ]
	ok "$1: member $2 says nothing" $?
	[ ! -s "$T/err.$2" ] || diag_file "standard error" "$T/err.$2" 5
}

fresh() { rm -f "$T"/status.* "$T"/err.*; }

# ---- the whole chain ----

# shellcheck disable=SC2086
gf-replay $replay "$T/jobs.tsv" >"$T/log.tsv" 2>"$T/err"
ok "steps: gf-replay" $?
gf-metrics "$T/log.tsv" >"$T/metrics.tsv" 2>"$T/err"
ok "steps: gf-metrics" $?
fresh
# shellcheck disable=SC2086
member 1 gf-trace --from pollux "$T/workload.csv" | with_durations |
	member 2 gf-replay $replay - | member 3 gf-metrics >"$T/piped.tsv"
ended "gf-trace | gf-replay - | gf-metrics" 0 0 0
same "the chain gives what the steps give" "$T/metrics.tsv" "$T/piped.tsv"
quiet chain 1
quiet chain 2
quiet chain 3
fresh
member 1 cat "$T/log.tsv" | member 2 gf-verify --jobs "$T/jobs.tsv" >"$T/verdict.tsv"
ended "gf-replay | gf-verify --jobs" 0 0
hasnt "a piped log passes the verifier" "$T/verdict.tsv" '	violated	'
fresh
member 1 gzip -c "$T/jobs.tsv" | member 2 gf-replay --policy fifo --cluster 4x4 >"$T/zipped.tsv"
ended "a gzip stream is read from a pipe" 0 0
same "and gives the same log" "$T/log.tsv" "$T/zipped.tsv"

# ---- broken chains ----

for tool in gf-replay gf-metrics gf-verify gf-table; do
	case $tool in
	gf-replay) input=$T/jobs.tsv args=$replay ;;
	gf-metrics) input=$T/log.tsv args= ;;
	gf-verify) input=$T/log.tsv args="--jobs $T/jobs.tsv" ;;
	gf-table) input=$T/log.tsv args=convert ;;
	esac
	half=$(($(wc -c <"$input") / 2))
	fresh
	# shellcheck disable=SC2086
	member 1 head -c "$half" "$input" | member 2 "$tool" $args >"$T/out"
	ended "$tool, stream cut in a row" 0 1
	said "stream cut in a row" 2 "$tool" '<stdin>'
	fresh
	# shellcheck disable=SC2086
	member 1 head -n 200 "$input" | member 2 "$tool" $args >"$T/out"
	ended "$tool, stream cut between rows" 0 1
	said "stream cut between rows" 2 "$tool" '<stdin>'
	fresh
	# shellcheck disable=SC2016,SC2086
	member 1 sh -c 'head -c 3000 "$0"; kill -KILL $$' "$input" | member 2 "$tool" $args >"$T/out"
	ended "$tool, upstream killed" 137 1
	said "upstream killed" 2 "$tool" '<stdin>'
	fresh
	# shellcheck disable=SC2086
	member 1 true | member 2 "$tool" $args >"$T/out"
	ended "$tool, nothing comes" 0 1
	said "nothing comes" 2 "$tool" '<stdin>'
	is "$tool: no output from nothing" "$T/out" ""
	fresh
	# shellcheck disable=SC2086
	member 1 cat "$input" | member 2 "$tool" $args >/dev/full
	ended "$tool, the disk is full" 0 3
	said "the disk is full" 2 "$tool" '.*No space left on device'
	fresh
	# shellcheck disable=SC2086
	member 1 cat "$input" | member 2 "$tool" $args >&-
	ended "$tool, standard output is closed" 0 3
	said "standard output is closed" 2 "$tool" '.*standard output'
done

# A failure upstream reaches the end of the chain: the reader downstream sees no trailer.
fresh
# shellcheck disable=SC2086
{ awk 'BEGIN { FS = OFS = "\t" } NR == 300 { $3 = "x" } { print }' "$T/jobs.tsv" | member 1 gf-replay $replay - | member 2 gf-metrics; } >"$T/out"
ended "bad row upstream" 1 1
said "bad row upstream" 1 gf-replay '<stdin>:300:'

# Under `| head` a tool is ended by SIGPIPE, as users expect, and says nothing.
awk 'BEGIN { OFS = "\t"; print "job_id", "submit_s", "duration_s", "gpus"
	for (i = 1; i <= 20000; i++) print "j" i, i, 50, 1 }' >"$T/many.tsv"
fresh
member 1 gf-table convert "$T/many.tsv" | member 2 head -n 1 >"$T/out"
ended "a reader that leaves early" 141 0
quiet "a reader that leaves early" 1

# A stream of several tables where one is expected is an error, not the first of them.
gf-replay -p fifo -c 2x4 tests/data/jobs-small.tsv >"$T/one.log"
cat "$T/one.log" "$T/one.log" >"$T/two.log"
cat tests/data/jobs-small.tsv tests/data/jobs-small.tsv >"$T/two.jobs"
run "gf-metrics: two logs in one stream" 1 gf-metrics "$T/two.log"
is "gf-metrics: says so" "$T/err" "gf-metrics: $T/two.log: more than one table (expected one)"
run "gf-verify: two logs in one stream" 1 gf-verify -j tests/data/jobs-small.tsv "$T/two.log"
is "gf-verify: says so" "$T/err" "gf-verify: $T/two.log: more than one table (expected one)"
run "gf-verify: two jobs tables in one stream" 1 gf-verify -j "$T/two.jobs" "$T/one.log"
run "gf-replay: two jobs tables in one stream" 1 gf-replay -c 2x4 "$T/two.jobs"
is "gf-replay: says so" "$T/err" "gf-replay: $T/two.jobs: more than one table (expected one)"
run "gf-stats: two jobs tables in one stream" 1 gf-stats "$T/two.jobs"
run "gf-plot: two logs in one stream" 1 gf-plot jct-cdf -o "$T/two.svg" "$T/two.log"

# Jobs, logs and all in one store: what is added beside a table does not change its hash.
run "a store: jobs" 0 gf-table convert tests/data/jobs-small.tsv -o "$T/study.h5:/jobs"
run "a store: a log" 0 gf-replay -p srtf -c 2x4 -o "$T/study.h5:/runs/srtf" "$T/study.h5:/jobs"
run "a store: another log" 0 gf-replay -p fifo -c 2x4 -o "$T/study.h5:/runs/fifo" "$T/study.h5:/jobs"
run "a store: verified" 0 gf-verify -j "$T/study.h5:/jobs" "$T/study.h5:/runs/srtf"
has "a store: the inputs match" "$T/out" "^inputs-match[[:blank:]]ok"
