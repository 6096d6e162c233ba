# SPDX-License-Identifier: MIT
# Case 01, line by line: words in Slurm's time columns, jobs that never started, days and hours.
. tests/cli/lib.sh
need_shared cases/01-sacct-timelimit-and-never-started 18
C=$GOODFIT_SHARED/cases/01-sacct-timelimit-and-never-started

run "sacct.txt" 0 gf-trace --from sacct "$C/sacct.txt"
cp "$T/err" "$T/said"
lines "six jobs, none dropped" "$T/out" 15
cols "job_id status submit_s start_s duration_s timelimit_s gpus_req gpus_alloc" | sort >"$T/rows"
is "state, submit, start, run, limit, GPUs asked for and given" "$T/rows" \
"7001 OK 28800 29100 93784 172800 2 2
7002 CANCELLED 32400 NA NA NA 4 0
7003 RUNNING 33000 33005 NA inf 1 1
7004 PENDING 33600 NA NA 14400 8 0
7005 TIMEOUT 25200 25210 1800 1800 1 1
7006 FAILED 36000 36001 30 NA 1 1"
has "times count from the midnight before" "$T/out" '^#origin=2024-05-02T00:00:00$'
cols "job_id elapsed_s" | grep -v NA >"$T/rows"
is "the running job has a lower bound, apart from the durations" "$T/rows" "7003 2995"
cols "job_id raw_status" | grep -v NA >"$T/rows"
is "out of memory is the reason of a failure" "$T/rows" "7006 OUT_OF_MEMORY"
hasnt "the uid is in no output" "$T/out" 50123
hasnt "nor in a message" "$T/said" 50123
cols "job_id cpu_time_s" | grep -v NA | sort >"$T/rows"
is "TotalCPU: MM:SS.mmm, not HH:MM" "$T/rows" \
"7001 187568
7003 2940.12
7005 2145.828
7006 12.5"
cols "start_s submit_s" | awk '$1 != "NA" { n++; s += $1 - $2 } END { print n, s / n }' >"$T/rows"
is "queueing delays: four of them, 79 s on average" "$T/rows" "4 79"
cols "duration_s gpus" | awk '$1 != "NA" { n++; s += $1; w += $1 * $2 } END { print n, s, w }' >"$T/rows"
is "durations and GPU-seconds: those that ended" "$T/rows" "3 95614 189398"
is "what was left out of them, and why" "$T/said" "gf-trace: warning: $C/sacct.txt: 1 never started, \
1 running (censored), 1 pending"

# limits.txt: each string as the time limit of a job
n=0 bad=0
head='JobID|State|Submit|Timelimit|ReqTRES'
while IFS='	' read -r text want; do
	case $text in '#'*) continue ;; esac
	n=$((n + 1))
	printf '%s\n1|PENDING|2024-05-02T08:00:00|%s|cpu=1\n' "$head" "$text" >"$T/limit.txt"
	gf-trace -q --from sacct "$T/limit.txt" >"$T/out" 2>"$T/err"
	rc=$?
	found=$(cols timelimit_s)
	case $want in
	error)
		[ $rc -eq 1 ] && [ ! -s "$T/out" ] && grep -F -q -e ":2:Timelimit: bad value '$text'" "$T/err" ;;
	missing) [ $rc -eq 0 ] && [ "$found" = NA ] ;;
	*) [ $rc -eq 0 ] && [ "$(echo "$found $want" | awk '{ print $1 - $2 == 0 || $1 == $2 }')" = 1 ] ;;
	esac || {
		bad=$((bad + 1))
		diag "$text: status $rc, '$found', expected $want"
	}
done <"$C/limits.txt"
ok "$n limits mean what Slurm means" "$bad"
[ "$n" -eq 18 ]
ok "all of them were there" $?
# the same where the fraction would be lost in a limit: in a CPU time
for text in 35:45.828=2145.828 00:12.500=12.5; do
	printf 'JobID|State|Submit|Start|TotalCPU|ReqTRES\n1|RUNNING|2024-05-02T08:00:00|2024-05-02T08:00:00|%s|cpu=1\n' \
		"${text%=*}" >"$T/cpu.txt"
	run "TotalCPU ${text%=*}" 0 gf-trace -q --from sacct "$T/cpu.txt"
	cols cpu_time_s >"$T/rows"
	is "is ${text#*=} s" "$T/rows" "${text#*=}"
done
