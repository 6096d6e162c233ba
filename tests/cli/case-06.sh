# SPDX-License-Identifier: MIT
# Case 06, line by line: PAI counts GPUs for each instance, in percent, and has ends that cannot be.
. tests/cli/lib.sh
need_shared cases/06-pai-gpu-per-instance 20
C=$GOODFIT_SHARED/cases/06-pai-gpu-per-instance

run "the task table alone" 0 gf-trace --no-meta --from pai "$C/pai_task_table.csv"
cp "$T/err" "$T/report"
cut -f 1,6-9,11 "$T/out" >"$T/jobs"
is "6 jobs: GPUs, start, end, seconds, status; the first row is not eaten as a header" "$T/jobs" \
"job_id	start_s	end_s	duration_s	gpus	status
j01	1000	4600	3600	4	OK
j02	2000	2060	60	0.5	FAILED
j03	3000	NA	NA	0.5	RUNNING
j04	5000	NA	NA	1	OK
j05	NA	NA	NA	6	PENDING
j06	6000	NA	NA	1	OK"
cp "$T/out" "$T/alone"
cut -f 1,10 "$T/out" >"$T/types"
is "the type is that of the tasks with GPUs" "$T/types" \
"job_id	gpu_type
j01	V100
j02	MISC
j03	T4
j04	P100
j05	V100
j06	T4"
awk -F '\t' 'NR > 1 && $8 != "NA" { n++; s += $8; g += $8 * $9 } END { print n, s, g }' "$T/out" \
	>"$T/sums"
is "two durations, 3600 and 60 s; 14430 GPU-seconds" "$T/sums" "2 3660 14430"
awk -F '\t' 'NR > 1 && $8 != "NA" && $8 <= 0' "$T/out" >"$T/bad"
is "no duration is negative or zero" "$T/bad" ""
awk -F '\t' 'NR > 1 && ($8 == 10 || $7 == 0 || $7 == 4990)' "$T/out" >"$T/bad"
is "none is made of 10 s, no end is 0 or before its start" "$T/bad" ""
is "the report counts what was running, waiting and could not be" "$T/report" \
"gf-trace: warning: $C/pai_task_table.csv: 1 running (censored), 1 waiting (never started)
gf-trace: warning: $C/pai_task_table.csv: 2 values put right (2 end before start)"
run "-v lists the two rows" 0 gf-trace -v --from pai "$C/pai_task_table.csv"
has "j04 by line" "$T/err" ':5:end_s: 10 s before the start, taken as missing$'
has "j06 by line" "$T/err" ':7:end_time: 0, not recorded, taken as missing$'
has "7 task rows, 6 jobs" "$T/err" ': 7 rows, 6 jobs, 0 left out, 0 without GPUs$'
run "-q says nothing" 0 gf-trace -q --from pai "$C/pai_task_table.csv"
is "nothing" "$T/err" ""

run "with its header file" 0 gf-trace -q --no-meta --from pai "$C/pai_task_table.header" \
	"$C/pai_task_table.csv"
same "the same jobs" "$T/alone" "$T/out"
run "in the other order" 0 gf-trace -q --no-meta --from pai "$C/pai_task_table.csv" \
	"$C/pai_task_table.header"
same "the same jobs again" "$T/alone" "$T/out"
{ cat "$C/pai_task_table.header"; echo; cat "$C/pai_task_table.csv"; } >"$T/headed.csv"
run "with the names put in front" 0 gf-trace -q --no-meta --from pai "$T/headed.csv"
same "the names are not a job" "$T/alone" "$T/out"

# a replay takes the jobs with a duration and says which it cannot take
awk -F '\t' -v OFS='\t' 'NR > 1 { $5 = $6 == "NA" ? 0 : $6 } { print }' "$T/alone" >"$T/jobs.tsv"
rc=0
gf-replay --policy fifo --cluster 2x4 "$T/jobs.tsv" >"$T/log" 2>"$T/err" || rc=$?
[ "$rc" -eq 1 ] && grep -Eq "jobs.tsv:[0-9]+:(gpus|duration_s): " "$T/err"
ok "half a GPU or no duration in a replay: refused with line and field" $?
