# SPDX-License-Identifier: MIT
# gf-stats: every figure of a small trace by hand, groups, hours, order, faults; the published figures
# of the public traces when they are there.
. tests/cli/lib.sh

JOBS=tests/data/select-jobs.tsv
TAB=$(printf '\t')

# value METRIC: of the table in $T/out
value() {
	awk -F '\t' -v m="$1" '$1 == m { print $2 }' "$T/out"
}

# ---- the summary ----
# GPUs 1 4 8 2 .25 16 NA 0; durations 300 600 - - 1000 (90000 to 90060) 60 3600;
# queueing 10 40 0 - 100 0 10 100; submissions 100 160.5 3700 7300 7300 90000 90010.25 93600
run "the small trace" 0 gf-stats --no-meta --cluster 2x4 "$JOBS"
# what goes through a division is compared to nine digits
awk -F '\t' -v OFS='\t' 'NR > 1 && $2 ~ /[.]/ { $2 = sprintf("%.9g", $2) } { print $1, $2 }' "$T/out" >"$T/found"
is "its figures, worked out by hand" "$T/found" "metric${TAB}value
jobs${TAB}8
users${TAB}3
user_missing${TAB}1
groups${TAB}0
group_missing${TAB}8
apps${TAB}3
app_missing${TAB}1
gpus_missing${TAB}1
gpus_none${TAB}1
gpus_fractional${TAB}1
gpus_one${TAB}1
gpus_more${TAB}4
gpus_one_share${TAB}0.142857143
gpus_sum${TAB}31.25
gpus_mean${TAB}4.46428571
gpus_median${TAB}2
gpus_p95${TAB}13.6
gpus_p99${TAB}15.52
gpus_max${TAB}16
duration_known${TAB}6
duration_missing${TAB}2
duration_missing_running${TAB}1
duration_from_start_end${TAB}1
duration_sum_s${TAB}5620
duration_mean_s${TAB}936.666667
duration_min_s${TAB}60
duration_p5_s${TAB}60
duration_p25_s${TAB}120
duration_median_s${TAB}450
duration_p75_s${TAB}900
duration_p95_s${TAB}2950
duration_p99_s${TAB}3470
duration_max_s${TAB}3600
queue_known${TAB}7
queue_missing${TAB}1
queue_negative${TAB}0
queue_mean_s${TAB}37.1428571
queue_median_s${TAB}10
queue_p95_s${TAB}100
queue_max_s${TAB}100
submit_missing${TAB}0
submit_first_s${TAB}100
submit_last_s${TAB}93600
interarrivals${TAB}7
interarrival_mean_s${TAB}13357.1429
interarrival_cv2${TAB}4.50701214
interarrival_cv2_sample${TAB}5.25818083
burstiness${TAB}0.359584494
hours${TAB}27
hourly_mean${TAB}0.296296296
hourly_min${TAB}0
hourly_max${TAB}2
hourly_peak_to_mean${TAB}6.75
hourly_dispersion${TAB}1.4537037
status_ok${TAB}2
status_failed${TAB}1
status_cancelled${TAB}1
status_timeout${TAB}1
status_node_fail${TAB}0
status_running${TAB}1
status_pending${TAB}1
status_unknown${TAB}0
status_missing${TAB}1
status_ok_share${TAB}0.25
status_failed_share${TAB}0.125
status_cancelled_share${TAB}0.125
status_timeout_share${TAB}0.125
status_node_fail_share${TAB}0
status_running_share${TAB}0.125
status_pending_share${TAB}0.125
status_unknown_share${TAB}0
status_missing_share${TAB}0.125
gpu_hours${TAB}1.08611111
gpu_hours_missing${TAB}3
gpu_hours_mean${TAB}0.217222222
demand_gpus${TAB}0.0585454545
capacity_gpus${TAB}8
offered_load${TAB}0.00731818182
larger_than_cluster${TAB}1"
is "one line says what is missing" "$T/err" "gf-stats: warning: $JOBS: 8 jobs, left out of the figures \
that need it: 2 without duration (1 of them running at the end), 1 without GPUs"
# the same variance by its other formula, in awk
grep -v '^#' "$JOBS" | awk -F '\t' 'NR > 1 { if (n++) { g = $4 - last; s += g; q += g * g } last = $4 }
	END { n--; m = s / n; printf "%.9g\n", q / n / (m * m) - 1 }' >"$T/want"
value interarrival_cv2 | awk '{ printf "%.9g\n", $1 }' >"$T/found"
same "interarrival_cv2 by the other formula" "$T/want" "$T/found"
run "-q" 0 gf-stats -q "$JOBS"
is "-q: no warning" "$T/err" ""
hasnt "without a cluster no load" "$T/out" '^(capacity_gpus|offered_load|larger_than_cluster)'

# order does not matter
{ sed -n '1,5p' "$JOBS"; sed -n '6,13p' "$JOBS" | sort -r; sed -n '14p' "$JOBS"; } >"$T/shuffled.tsv"
lines "eight jobs again" "$T/shuffled.tsv" 14
cp "$T/out" "$T/sorted"
run "another order of the jobs" 0 gf-stats -q "$T/shuffled.tsv"
grep -v '^#input' "$T/sorted" >"$T/want"
grep -v '^#input' "$T/out" >"$T/found"
same "gives the same figures" "$T/want" "$T/found"

# ---- groups ----
run "--by user" 0 gf-stats -q --no-meta --by user "$JOBS"
cut -f 1,2,4,5,6,7,8,13,15-20 "$T/out" | tr '\t' ' ' >"$T/found"
is "in text order, missing ones last" "$T/found" \
"user jobs gpus_sum gpus_missing duration_known duration_missing duration_mean_s gpu_hours \
gpu_hours_missing ok failed cancelled unfinished status_missing
ada 3 9 0 2 1 1950 0.083333333333333329 1 1 1 0 1 0
bo 2 20 0 2 0 330 0.93333333333333335 0 0 1 1 0 0
cy 2 0.25 1 2 0 530 0.069444444444444448 1 1 0 0 0 1
NA 1 2 0 0 1 NA NA 1 0 0 0 1 0"
run "--sizes" 0 gf-stats -q --no-meta --sizes "$JOBS"
cut -f 1,2,21,22 "$T/out" | awk -F '\t' 'NR > 1 { printf "%s %s %s %.4f\n", $1, $2, $3, $4 }' >"$T/found"
is "sizes as numbers, with running shares" "$T/found" "0 1 0.125 0.0000
0.25 1 0.25 0.0639
1 1 0.375 0.1407
2 1 0.5 0.1407
4 1 0.625 0.7545
8 1 0.75 0.7545
16 1 0.875 1.0000
NA 1 1 1.0000"
run "--by a column that gf-stats does not know" 0 gf-stats -q --no-meta --by note "$JOBS"
has "a text that reads NA is not a missing one" "$T/out" "^.NA${TAB}1${TAB}"
has "and the missing one is there" "$T/out" "^NA${TAB}1${TAB}"
run "--by a column that is not there" 1 gf-stats --by colour "$JOBS"
has "lists those that are" "$T/err" "no column 'colour' \(found job_id, user, app, submit_s"
printf 'ok\tgpus\na\t1\nb\t2\n' >"$T/ok.tsv"
run "--by a column named like one of ours" 0 gf-stats -q --no-meta --by ok "$T/ok.tsv"
has "it is called value" "$T/out" "^value${TAB}jobs${TAB}"
run "several tables" 0 gf-stats -q --summary --hourly --sizes --by app --by status "$JOBS"
grep '^#table=' "$T/out" | tr '\n' ' ' >"$T/found"
[ "$(cat "$T/found")" = "#table=summary #table=hourly #table=sizes #table=by_app #table=by_status " ]
ok "in one stream, by name" $?
has "every --by is in the metadata" "$T/out" '^#by=status$'
run "into a store" 0 gf-stats -q --summary --hourly "$JOBS" -o "$T/s.h5:/stats"
run "and out of it" 0 gf-table convert "$T/s.h5:/stats/hourly"
lines "24 hours" "$T/out" "$(($(grep -c '^#' "$T/out") + 25))"

# ---- hours ----
run "--hourly" 0 gf-stats -q --no-meta --hourly "$JOBS"
sed -n '2,5p' "$T/out" | cut -f 1-7 | tr '\t' ' ' >"$T/found"
is "hours of day, means over two days" "$T/found" "0 2 0.25 2 1 2 5
1 3 0.375 2 1.5 2 24
2 3 0.375 2 1.5 2 2.25
3 0 0 1 0 0 0"
sed 's/^#origin=.*/#origin=2030-03-04T22:59:30/' "$JOBS" >"$T/late.tsv"
run "--hourly of a trace whose time 0 is no midnight" 0 gf-stats -q --no-meta --hourly "$T/late.tsv"
awk -F '\t' '$2 > 0 { print $1, $2 }' "$T/out" >"$T/found"
is "the hours are those of its clock" "$T/found" "hour jobs
0 2
1 2
23 4"

# ---- small ones ----
printf 'job_id\tsubmit_s\tgpus\n' >"$T/none.tsv"
run "no job" 0 gf-stats "$T/none.tsv"
[ "$(value jobs)" = 0 ] && [ "$(value interarrival_cv2)" = NA ] && [ "$(value hourly_max)" = NA ]
ok "no job: nothing divided by nothing" $?
printf 'job_id\tsubmit_s\tgpus\na\t5\t1\n' >"$T/one.tsv"
run "one job" 0 gf-stats -q "$T/one.tsv"
[ "$(value interarrivals)" = 0 ] && [ "$(value burstiness)" = NA ] && [ "$(value gpu_hours)" = NA ]
ok "one job: no gap, GPU-hours not known" $?
printf 'job_id\tsubmit_s\tgpus\na\t5\t1\nb\t5\t1\n' >"$T/same.tsv"
run "two at once" 0 gf-stats -q "$T/same.tsv"
[ "$(value interarrival_mean_s)" = 0 ] && [ "$(value interarrival_cv2)" = NA ]
ok "two at once: no variation of a mean of 0" $?
awk 'BEGIN { print "submit_s\tgpus"; for (i = 0; i < 50; i++) print i * 7 "\t1" }' >"$T/even.tsv"
run "evenly spaced jobs" 0 gf-stats -q "$T/even.tsv"
[ "$(value interarrival_cv2)" = 0 ] && [ "$(value burstiness)" = -1 ]
ok "evenly spaced: cv2 0, burstiness -1" $?
printf 'gpus\n4\n' >"$T/bare.tsv"
run "GPUs alone" 0 gf-stats -q "$T/bare.tsv"
[ "$(value submit_missing)" = 1 ] && [ "$(value gpus_max)" = 4 ]
ok "GPUs alone will do" $?
printf 'submit_s\tgpus\n0\t1\n9000000000\t1\n' >"$T/wide.tsv"
run "285 years apart" 0 gf-stats -q "$T/wide.tsv"
[ "$(value hours)" = 2500001 ]
ok "285 years apart: that many hours" $?

# ---- faults ----
fault() {	# NAME FILE MESSAGE
	refuses "$1" 1 "gf-stats: $2:$3" gf-stats "$2"
}
sed 's/	RUNNING	/	running	/' "$JOBS" >"$T/bad.tsv"
fault "a status in lower case" "$T/bad.tsv" "8:status: unknown status 'running' (expected OK, FAILED, \
CANCELLED, TIMEOUT, NODE_FAIL, RUNNING, PENDING or UNKNOWN)"
sed 's/	300	1	/	-300	1	/' "$JOBS" >"$T/bad.tsv"
fault "a negative duration" "$T/bad.tsv" "6:duration_s: out of range '-300' (expected at least 0)"
sed 's/	300	1	/	300	-1	/' "$JOBS" >"$T/bad.tsv"
fault "negative GPUs" "$T/bad.tsv" "6:gpus: out of range '-1' (expected 0 to 1e9)"
sed 's/	300	1	/	300	nan	/' "$JOBS" >"$T/bad.tsv"
fault "GPUs that are no number" "$T/bad.tsv" "6:gpus: out of range 'nan' (expected 0 to 1e9)"
run "a cluster that is none" 2 gf-stats --cluster 4by4 "$JOBS"
has "says so" "$T/err" "bad value '4by4' for --cluster"
run "a cluster of nothing" 2 gf-stats --cluster 0x0 "$JOBS"
has "says so" "$T/err" "bad value '0x0' for --cluster .*each from 1"
run "a part of nothing" 2 gf-stats --cluster 2x4,1x0 "$JOBS"
run "no part behind a comma" 2 gf-stats --cluster 2x4, "$JOBS"
printf 'job_id\tgpus\tduration_s\tsubmit_s\n' >"$T/twice.tsv"
printf 'a%s\t1\t5\t%s\n' 1 0 2 1 1 2 3 3 1 4 2 5 >>"$T/twice.tsv"
run "ids that come twice" 0 gf-stats "$T/twice.tsv"
is "are a warning" "$T/err" "gf-stats: warning: $T/twice.tsv: 3 rows of a job_id that came before (the first on line 4, \
as on line 2), counted like the others"
sed 5q "$T/twice.tsv" | sed '3s/5/NA/' >"$T/once.tsv"
run "one of each" 0 gf-stats --hourly "$T/once.tsv"
is "is no plural" "$T/err" "gf-stats: warning: $T/once.tsv: 4 jobs, left out of the figures that need it: 1 without duration
gf-stats: warning: $T/once.tsv: 1 row of a job_id that came before (the first on line 4, as on line 2), counted \
like the others"
sed '2q' "$T/twice.tsv" | sed '2s/5/NA/' >"$T/single.tsv"
run "one job" 0 gf-stats "$T/single.tsv"
has "is one job" "$T/err" ': 1 job, left out'
run "no warnings" 0 gf-stats -q "$T/twice.tsv"
is "with -q" "$T/err" ""
run "too many groupings" 2 gf-stats --by a --by b --by c --by d --by e --by f --by g --by h --by i "$JOBS"
sed 's/	100	110	/	120	110	/' "$JOBS" >"$T/early.tsv"
run "a start before the submission" 0 gf-stats "$T/early.tsv"
has "is counted" "$T/err" '1 started before they were submitted'

# ---- what is no table of jobs, and one without rows ----
gf-synth jobs --jobs 5 | gf-replay -q -c 4x8 >"$T/log.tsv"
run "an event log" 1 gf-stats "$T/log.tsv"
is "is no table of jobs" "$T/err" "gf-stats: $T/log.tsv: an event log (expected a table of jobs)"
printf 'job_id\tgpus\n' >"$T/none.tsv"
run "no jobs" 0 gf-stats "$T/none.tsv"
is "are said" "$T/err" "gf-stats: warning: $T/none.tsv: no jobs"

# ---- published figures ----
W=public/sia-sosp23/workloads/newtrace
if [ -z "$GOODFIT_SHARED" ] || [ ! -d "$GOODFIT_SHARED/$W" ]; then
	skip "no public data (set GOODFIT_SHARED, see scripts/fetch-public)" 13
	exit 0
fi
# file cifar10 deepspeech2 bert yolov3 imagenet cv2 cv2_sample mean min max
while read -r k c d b y i cv2 cv2s mean min max; do
	gf-trace -q --from pollux "$GOODFIT_SHARED/$W/workload-$k.csv" |
		gf-stats -q --no-meta --summary >"$T/out"
	gf-trace -q --from pollux "$GOODFIT_SHARED/$W/workload-$k.csv" |
		gf-stats -q --no-meta --by app >"$T/apps"
	awk -F '\t' '{ n[$1] = $2 } END { printf "%s %s %s %s %s", n["cifar10"], n["deepspeech2"], n["bert"],
		n["yolov3"], n["imagenet"] }' "$T/apps" >"$T/found"
	awk -F '\t' '{ v[$1] = $2 } END { printf " %.5f %.5f %.3f %s %s %s %s\n", v["interarrival_cv2"],
		v["interarrival_cv2_sample"], v["interarrival_mean_s"], v["hourly_min"], v["hourly_max"],
		v["hours"], v["jobs"] }' "$T/out" >>"$T/found"
	is "newTrace $k" "$T/found" "$c $d $b $y $i $cv2 $cv2s $mean $min $max 48 960"
done <<'END'
1 484 226 208 36 6 2.47317 2.47575 179.474 4 45
2 485 216 212 36 11 2.39881 2.40132 178.788 1 49
3 541 194 185 32 8 2.70451 2.70733 179.783 3 46
4 513 203 198 37 9 2.42440 2.42693 179.258 5 45
5 480 220 215 38 7 2.80521 2.80814 179.797 3 52
6 519 210 192 30 9 2.50879 2.51141 179.823 5 48
7 508 203 198 40 11 2.15503 2.15728 178.863 5 57
8 515 218 190 33 4 2.17956 2.18183 180.118 5 46
9 493 206 223 34 4 2.47852 2.48111 179.464 4 44
10 509 218 196 30 7 2.18186 2.18414 179.843 4 54
END
gf-trace -q --from pollux "$GOODFIT_SHARED/$W/workload-1.csv" >"$T/1.tsv"
gf-select --where app!=yolov3 --where app!=imagenet "$T/1.tsv" | gf-stats -q --no-meta >"$T/out"
echo "$(value jobs) $(value interarrival_cv2) $(value interarrival_cv2_sample)" |
	awk '{ printf "%s %.4f %.4f\n", $1, $2, $3 }' >"$T/found"
is "the 918 jobs of the published 2.65" "$T/found" "918 2.6486 2.6515"
gf-select --where app!=imagenet "$T/1.tsv" | gf-stats -q --no-meta >"$T/out"
echo "$(value jobs) $(value interarrival_cv2)" | awk '{ printf "%s %.4f\n", $1, $2 }' >"$T/found"
is "without imagenet" "$T/found" "954 2.4539"
gf-select --where app!=yolov3 "$T/1.tsv" | gf-stats -q --no-meta >"$T/out"
echo "$(value jobs) $(value interarrival_cv2)" | awk '{ printf "%s %.4f\n", $1, $2 }' >"$T/found"
is "without yolov3" "$T/found" "924 2.6702"
