# SPDX-License-Identifier: MIT
# gf-metrics: every value of a small log by hand, groups, empty and unfinished logs, faulty ones.
. tests/cli/lib.sh

LOG=tests/data/log-small.tsv
TAB=$(printf '\t')

# ---- the plain report; log-small.tsv has restart_s=30 ----
# j1: 5 submit, 10 start 4, 180 preempt, 300 resume 4, 400 finish, booked until 420
# j2: 7.25 submit, 10 start 2, 120 move 4, 180 preempt
# j3: rejected; j10: 130.5 submit, 180 start 8, 300 finish; j4: 430 submit, 450 start 1; j5: 470 submit
run "the small log" 0 gf-metrics --no-meta "$LOG"
is "its metrics, worked out by hand" "$T/out" "metric${TAB}value${TAB}unit
jobs${TAB}6${TAB}jobs
finished${TAB}2${TAB}jobs
unfinished${TAB}3${TAB}jobs
rejected${TAB}1${TAB}jobs
jct_mean_s${TAB}282.25${TAB}s
jct_median_s${TAB}282.25${TAB}s
jct_p95_s${TAB}383.72499999999997${TAB}s
jct_p99_s${TAB}392.745${TAB}s
jct_max_s${TAB}395${TAB}s
queue_mean_s${TAB}87.25${TAB}s
queue_median_s${TAB}87.25${TAB}s
queue_p95_s${TAB}121.22499999999999${TAB}s
queue_p99_s${TAB}124.245${TAB}s
queue_max_s${TAB}125${TAB}s
makespan_s${TAB}400${TAB}s
makespan_from_first_submit_s${TAB}395${TAB}s
gpu_seconds_held${TAB}2600${TAB}gpu s
gpu_seconds_busy${TAB}1840${TAB}gpu s
gpu_seconds_capacity${TAB}3200${TAB}gpu s
utilisation${TAB}0.78125${TAB}1
utilisation_from_first_submit${TAB}0.79113924050632911${TAB}1
restarts${TAB}2${TAB}restarts
preemptions${TAB}2${TAB}preemptions
gpu_seconds_rescaling${TAB}680${TAB}gpu s
gpu_seconds_rented${TAB}3760${TAB}gpu s
gpu_seconds_starting${TAB}0${TAB}gpu s
gpu_seconds_idle${TAB}1160${TAB}gpu s
budget_gpus${TAB}5.591397849462366${TAB}gpus
budget_in_window_gpus${TAB}5.591397849462366${TAB}gpus
budget_makespan_gpus${TAB}6.3291139240506329${TAB}gpus
rented_gpus${TAB}8.086021505376344${TAB}gpus
rented_in_window_gpus${TAB}8${TAB}gpus
rented_makespan_gpus${TAB}8${TAB}gpus"
is "who is in no average" "$T/err" \
	"gf-metrics: warning: $LOG: 4 of 6 jobs left out of the averages (3 unfinished, 1 rejected)"
run "-q" 0 gf-metrics -q "$LOG"
is "-q: no warning" "$T/err" ""
grep '^#' "$T/out" | grep -v -e '^#version=' -e '^#input=' >"$T/meta"
is "metadata: ours, and how the log came about" "$T/meta" "#fit-table/1
#tool=gf-metrics
#policy=tiresias
#cluster=2x4
#interval_s=60
#fidelity=none
#types=text,real,text
#end rows=33"

# budgets over a window of one's own: 1700 GPU-seconds are held by 250 s, of 2600
run "--window" 0 gf-metrics -q --no-meta --window 250 "$LOG"
grep -e '^budget' -e '^rented' "$T/out" | cut -f 1,2 | tr '\t' ' ' >"$T/blanks"
is "--window: three definitions of the mean budget" "$T/blanks" "budget_gpus 10.4
budget_in_window_gpus 6.7999999999999998
budget_makespan_gpus 6.3291139240506329
rented_gpus 15.039999999999999
rented_in_window_gpus 8
rented_makespan_gpus 8"
run "a window of no time" 2 gf-metrics --window 0 "$LOG"

# ---- per job ----
run "--per-job" 0 gf-metrics -q --no-meta --per-job "$LOG"
tr '\t' ' ' <"$T/out" >"$T/blanks"
is "each job, worked out by hand" "$T/blanks" \
"job_id submit_s start_s end_s jct_s queue_s gpu_s gpu_busy_s restarts preemptions app gpus batch_size status
j1 5 10 400 395 125 1160 840 1 1 resnet 4 128 OK
j2 7.25 10 NA NA 292.75 460 280 1 1 bert 2 NA PENDING
j3 61 NA NA NA NA NA NA 0 0 bert 16 64 REJECTED
j10 130.5 180 300 169.5 49.5 960 720 0 0 resnet 8 256 OK
j4 430 450 NA NA 20 20 0 0 0 NA 1 NA RUNNING
j5 470 NA NA NA 0 0 0 0 0 bert 1 NA PENDING"

# ---- groups ----
run "--per-class" 0 gf-metrics -q --no-meta --per-class "$LOG"
cut -f 1-6,10-14 "$T/out" | tr '\t' ' ' >"$T/blanks"
is "each class; those without one come last" "$T/blanks" \
"app jobs finished unfinished rejected jct_mean_s jct_max_s queue_mean_s gpu_s restarts preemptions
bert 3 0 2 1 NA NA NA 460 1 1
resnet 2 2 0 0 282.25 395 87.25 2120 1 1
NA 1 0 1 0 NA NA NA 20 0 0"
run "--by-size" 0 gf-metrics -q --no-meta --by-size "$LOG"
cut -f 1-7,12-14 "$T/out" | tr '\t' ' ' >"$T/blanks"
is "each size, ascending as numbers" "$T/blanks" \
"gpus jobs finished unfinished rejected jct_mean_s jct_median_s gpu_s restarts preemptions
1 2 0 2 0 NA NA 20 0 0
2 1 0 1 0 NA NA 460 1 1
4 1 1 0 0 395 395 1160 1 1
8 1 1 0 0 169.5 169.5 960 0 0
16 1 0 0 1 NA NA 0 0 0"
run "two reports at once" 2 gf-metrics --per-job --by-size "$LOG"
is "two reports at once: said so" "$T/err" "gf-metrics: more than one of --per-job, --per-class, --by-size and --over-time
Try 'gf-metrics --help'."
run "two logs" 2 gf-metrics "$LOG" "$LOG"

# ---- logs in which nothing happens ----
head -n 9 "$LOG" >"$T/empty.tsv"
echo '#end rows=0' >>"$T/empty.tsv"
run "no events" 0 gf-metrics --no-meta "$T/empty.tsv"
is "no events: nothing to warn of" "$T/err" ""
is "no events: counts are 0, statistics missing" "$T/out" "$(sed 1q "$T/out")
$(for m in jobs finished unfinished rejected; do printf '%s\t0\tjobs\n' $m; done)
$(for m in jct_mean jct_median jct_p95 jct_p99 jct_max queue_mean queue_median queue_p95 queue_p99 \
	queue_max makespan makespan_from_first_submit; do printf '%s_s\tNA\ts\n' $m; done)
$(for m in held busy; do printf 'gpu_seconds_%s\t0\tgpu s\n' $m; done)
gpu_seconds_capacity${TAB}NA${TAB}gpu s
utilisation${TAB}NA${TAB}1
utilisation_from_first_submit${TAB}NA${TAB}1
$(for m in restarts preemptions; do printf '%s\t0\t%s\n' $m $m; done)
$(for m in rescaling rented starting idle; do printf 'gpu_seconds_%s\t0\tgpu s\n' $m; done)
$(for m in budget rented; do for k in '' _in_window _makespan; do printf '%s%s_gpus\tNA\tgpus\n' $m $k; done; done)"
for option in --per-job --per-class --by-size; do
	run "no events, $option" 0 gf-metrics --no-meta $option "$T/empty.tsv"
	lines "no events, $option: the header only" "$T/out" 1
done
{ sed -n 1,13p "$LOG"; echo '#end rows=4'; } >"$T/running.tsv"
run "no finished job" 0 gf-metrics "$T/running.tsv"
hasnt "no finished job: no nan" "$T/out" '[^a-z](nan|inf)'
has "no finished job: the mean is missing" "$T/out" "^jct_mean_s${TAB}NA${TAB}s\$"

# ---- over time, and efficiency ----
D=tests/data
gf-replay --policy boa --cluster 20x4 --autoscale plan --node-start 9 --node-idle 4 --speedups $D/replay-boa-speedups.tsv \
	--classes $D/replay-boa-classes.tsv --plan $D/replay-boa-plan.tsv $D/replay-boa-jobs.tsv >"$T/boa.tsv"
run "a log with speedups" 0 gf-metrics --no-meta --speedups $D/replay-boa-speedups.tsv "$T/boa.tsv"
cp "$T/out" "$T/report"
# 6 text: 55 x 1 / 0.5 + 80.25 x 2 / 1.5; 12 vision: 130 / 2 + 270 / 2 + 90.5 / 1.5
awk -F '\t' '{ m[$1] = $2 } END { want = 6 * (110 + 107) + 12 * (65 + 135 + 90.5 / 1.5)
	d = m["normalised_work_gpu_s"] / want - 1; e = m["normalised_work_of_finished_gpu_s"] / want - 1
	f = m["efficiency_busy"] * m["gpu_seconds_busy"] / want - 1; g = m["efficiency_rented"] * m["gpu_seconds_rented"] / want - 1
	exit !(d * d < 1e-16 && e * e < 1e-24 && f * f < 1e-16 && g * g < 1e-16) }' "$T/report"
ok "the work that was done is the work that there was" $?
for step in 7 1000; do
	run "over time, steps of $step s" 0 gf-metrics --no-meta --speedups $D/replay-boa-speedups.tsv --over-time $step "$T/boa.tsv"
	end=$(tail -n 2 "$T/boa.tsv" | head -n 1 | cut -f 1)
	awk -F '\t' -v step=$step -v end="$end" '
		NR == FNR { m[$1] = $2; next } FNR == 1 { next }
		{ s = ($1 + step < end ? $1 + step : end) - $1; r += s * $2; h += s * $3; b += s * $4; w += s * $5
		  if ($2 > 0 && ($6 * $2 - $5) ^ 2 > 1e-18) bad++ }
		END { exit !(!bad && (r / m["gpu_seconds_rented"] - 1) ^ 2 < 1e-18 && (h / m["gpu_seconds_held"] - 1) ^ 2 < 1e-18 &&
			(b / m["gpu_seconds_busy"] - 1) ^ 2 < 1e-18 && (w / m["normalised_work_gpu_s"] - 1) ^ 2 < 1e-18) }' \
		"$T/report" "$T/out"
	ok "over time, steps of $step s: they add up to the report" $?
done
run "over time, without speedups" 0 gf-metrics --no-meta --over-time 300 -q "$LOG"
is "over time, without speedups: by hand" "$T/out" "time_s${TAB}rented_gpus${TAB}held_gpus${TAB}busy_gpus${TAB}normalised_gpus${TAB}efficiency
0${TAB}8${TAB}7${TAB}5.2000000000000002${TAB}NA${TAB}NA
300${TAB}8${TAB}2.9411764705882355${TAB}1.6470588235294117${TAB}NA${TAB}NA"
run "a class without speedups" 1 gf-metrics -q --speedups $D/replay-boa-speedups.tsv "$LOG"
has "a class without speedups: which" "$T/err" "job 'j1': class 'resnet' is not in the speedups"
run "speedups that are none" 1 gf-metrics -q --speedups "$LOG" "$LOG"
run "two tables" 2 gf-metrics --over-time 5 --per-job "$LOG"

# ---- finish-time fairness ----
# In rounds of 60 s: j1 in 1 to 6, j2 in 1 to 7 (the log ends), j10 in 3 and 4; 8 GPUs
printf 'job_id\tgpus\tjct_s\nj1\t4\t320\nj1\t2\t600\nj10\t4\t100\n' >"$T/alone.tsv"
run "times alone" 0 gf-metrics -q --no-meta --per-job --isolated "$T/alone.tsv" "$LOG"
cut -f 1,15- "$T/out" | tr '\t' ' ' >"$T/blanks"
# j1: v = 8 / (14 / 6), 600 - 280 (v - 2) / 2 = 400 s; j10: v = 8 / 3, 100 s x 4 / v
is "rho by hand" "$T/blanks" "job_id jobs_mean share_gpus isolated_jct_s rho
j1 2.3333333333333335 3.4285714285714284 400 0.98750000000000004
j2 NA NA NA NA
j3 NA NA NA NA
j10 3 2.6666666666666665 150 1.1299999999999999
j4 NA NA NA NA
j5 NA NA NA NA"
run "--shares" 0 gf-metrics -q --no-meta --per-job --shares "$LOG"
cut -f 1-3 -d ' ' "$T/blanks" >"$T/want"
cut -f 1,15- "$T/out" | tr '\t' ' ' >"$T/blanks"
same "--shares: without times alone, for those who have to find them" "$T/want" "$T/blanks"
run "the report" 0 gf-metrics -q --isolated "$T/alone.tsv" "$LOG"
has "the times alone are an input" "$T/out" '^#input_isolated='
grep '^rho' "$T/out" | cut -f 1,2 | tr '\t' ' ' >"$T/blanks"
is "the report: unfair is above 1" "$T/blanks" "rho_jobs 2
rho_unfair 0.5
rho_mean 1.0587499999999999
rho_min 0.98750000000000004
rho_median 1.0587499999999999
rho_p90 1.11575
rho_p95 1.1228749999999998
rho_p99 1.1285749999999999
rho_max 1.1299999999999999"
# types: 4 GPUs of fast, 4 of slow; slow cannot run j10. v as above
sed 's/2x4/fast:1x4,slow:1x4/' "$LOG" >"$T/types.tsv"
printf 'job_id\tgpu_type\tgpus\tjct_s\nj1\tfast\t3\t200\nj1\tslow\t3\t600\nj10\tfast\t4\t100\nj10\tslow\t4\tNA\n' >"$T/alone.tsv"
run "GPUs of two types" 0 gf-metrics -q --no-meta --per-job --isolated "$T/alone.tsv" "$T/types.tsv"
awk -F '\t' '$1 ~ /^j10?$/ { print $1, $17, $18 }' "$T/out" >"$T/blanks"
is "the mean of times, by GPUs" "$T/blanks" "j1 400 0.98750000000000004
j10 150 1.1299999999999999"
run "GPUs of two types, ratios" 0 gf-metrics -q --no-meta --per-job --type-mean ratios --isolated "$T/alone.tsv" "$T/types.tsv"
awk -F '\t' '$1 ~ /^j10?$/ { printf "%s %.6f\n", $1, $18 }' "$T/out" >"$T/blanks"
# (395 / 200 + 395 / 600) / 2
is "the mean of ratios" "$T/blanks" "j1 1.316667
j10 1.130000"
sed 1q "$T/alone.tsv" >"$T/none.tsv"
grep j1 "$T/alone.tsv" | grep -v j10 >>"$T/none.tsv"
run "a job without a time alone" 0 gf-metrics --isolated "$T/none.tsv" "$T/types.tsv"
has "a job without a time alone: counted" "$T/err" "none.tsv: no time alone of 1 of 2 finished jobs: no rho of these$"
has "a job without a time alone: in no mean" "$T/out" "^rho_jobs${TAB}1${TAB}jobs"
run "a log without its cluster" 1 sh -c "grep -v -e '#cluster' $LOG | gf-metrics --shares --per-job"
has "a log without its cluster: said so" "$T/err" '^gf-metrics: <stdin>: no metadata cluster '
run "an elastic cluster" 1 gf-metrics -q --shares --per-job "$T/boa.tsv"
has "an elastic cluster: said so" "$T/err" 'changes size has no equal shares'
run "no GPUs alone" 1 sh -c "sed 's/slow${TAB}3/slow${TAB}0/' $T/alone.tsv | gf-metrics -q --isolated - $T/types.tsv"
is "no GPUs alone: where" "$T/err" "gf-metrics: <stdin>:3:gpus: bad number of GPUs '0' (expected more than 0)"
run "options of no use" 2 gf-metrics --shares --type-mean ratios "$LOG"
is "options of no use: which" "$T/err" "gf-metrics: of no use here: --shares (expected --per-job), --type-mean (expected --isolated)
Try 'gf-metrics --help'."
run "--isolated of classes" 2 gf-metrics --per-class --isolated "$T/alone.tsv" "$LOG"

# ---- inputs ----
gf-metrics "$LOG" >"$T/file" 2>/dev/null
run "a pipe" 0 gf-metrics -q - <"$LOG"
same "a pipe gives the same bytes" "$T/file" "$T/out"
run "no operand" 0 gf-metrics -q <"$LOG"
same "no operand: standard input" "$T/file" "$T/out"
gzip -c "$LOG" >"$T/log.gz"
run "a compressed log" 0 gf-metrics -q "$T/log.gz"
same "a compressed log gives the same bytes" "$T/file" "$T/out"
run "-o" 0 gf-metrics -q -o "$T/file2" "$LOG"
same "-o gives the same bytes" "$T/file" "$T/file2"
(cd "$T" && gf-metrics -q "$TOP/$LOG" >"$T/there" && LC_ALL=de_DE.UTF-8 gf-metrics -q --threads 4 "$TOP/$LOG") >"$T/other"
same "another folder" "$T/file" "$T/there"
same "another locale, four threads" "$T/file" "$T/other"

# ---- faults ----
head -n 15 "$LOG" >"$T/cut.tsv"
run "a stream that was cut" 1 gf-metrics "$T/cut.tsv"
has "a stream that was cut: said so in one line" "$T/err" "^gf-metrics: $T/cut.tsv:[0-9]+: "
lines "a stream that was cut: one line" "$T/err" 1
is "a stream that was cut: no output" "$T/out" ""
grep -v "${TAB}submit${TAB}j1${TAB}" "$LOG" | sed 's/rows=20/rows=19/' >"$T/bad.tsv"
run "a job that was never submitted" 1 gf-metrics "$T/bad.tsv"
is "a job that was never submitted: where" "$T/err" \
	"gf-metrics: $T/bad.tsv:12:job_id: unknown job 'j1' (expected its 'submit' first)"
sed 's/^120/90/' "$LOG" >"$T/bad.tsv"
run "time that goes back" 1 gf-metrics "$T/bad.tsv"
is "time that goes back: where" "$T/err" \
	"gf-metrics: $T/bad.tsv:18:time_s: time '90' goes back (expected at least 100)"
sed 's/preempt/pause/' "$LOG" >"$T/bad.tsv"
run "an unknown event" 1 gf-metrics "$T/bad.tsv"
has "an unknown event: where" "$T/err" "^gf-metrics: $T/bad.tsv:20:event: unknown event 'pause' "
cut -f 1-3 "$LOG" >"$T/bad.tsv"
run "a column is missing" 1 gf-metrics "$T/bad.tsv"
has "a column is missing: which" "$T/err" "gpus"
lines "a column is missing: one line" "$T/err" 1
run "a full disk" 3 sh -c "exec gf-metrics -q $LOG >/dev/full"

# ---- a real run, against published numbers ----
if [ -n "$GOODFIT_SHARED" ] && [ -d "$GOODFIT_SHARED/public/pollux-osdi21/workloads" ] && [ -x "$B/gf-replay" ] &&
	[ -x "$B/gf-prof" ] && [ -x "$B/gf-trace" ]; then
	P=$GOODFIT_SHARED/public/pollux-osdi21
	run "profiles" 0 gf-prof --from pollux -o "$T/prof.h5" "$P/traces"
	run "workload 6" 0 gf-trace --from pollux -o "$T/jobs.tsv" "$P/workloads/workload-6.csv"
	run "replay" 0 gf-replay --policy tiresias --cluster 16x4 --interval 60 --fidelity pollux-osdi21 \
		--profile "$T/prof.h5" -o "$T/real.tsv" "$T/jobs.tsv"
	run "metrics of the replay" 0 gf-metrics --no-meta "$T/real.tsv"
	grep -E '^(jobs|finished|jct_mean_s|jct_median_s|makespan_s|restarts)	' "$T/out" | cut -f 1,2 >"$T/some"
	# mean, median, makespan and restarts of the original simulator's run
	is "they are those of the original simulator" "$T/some" "jobs${TAB}160
finished${TAB}160
jct_mean_s${TAB}3469.6937499999999
jct_median_s${TAB}1247.5
makespan_s${TAB}78609
restarts${TAB}43"
	run "the same per job" 0 gf-metrics --no-meta --per-job "$T/real.tsv"
	awk -F '\t' 'NR > 1 { jct += $5; gpu += $7 } END { printf "%.0f %.0f\n", jct, gpu }' "$T/out" >"$T/sums"
	is "per job adds up to the whole" "$T/sums" "555151 4138200"
else
	skip "no public data, or a tool is missing" 7
fi

# ---- the environment does not change the command line ----

run "an option behind the operand" 0 gf-metrics tests/data/log-small.tsv --per-job
cp "$T/out" "$T/behind"
run "the same under POSIXLY_CORRECT" 0 env POSIXLY_CORRECT=1 gf-metrics tests/data/log-small.tsv --per-job
same "gives the same" "$T/behind" "$T/out"

run "a jobs table" 1 gf-metrics tests/data/jobs-small.tsv
is "is not an event log" "$T/err" "gf-metrics: tests/data/jobs-small.tsv:3: not an event log: no column 'time_s' \
(found job_id, submit_s, user, gpus, duration_s)"
