# SPDX-License-Identifier: MIT
# Jobs that share GPUs (lucid, horus), the profiler, and what the verifier makes of them. All measurements here
# are made up.
. tests/cli/lib.sh
tab=$(printf '\t')
tsv() { tr ' ' '\t'; }
events() { awk -F '\t' '/^[0-9]/ && $2 != "cluster" && $2 != "submit" { print $1, $2, $3, $5, $9, $12, $13 }' "$1"; }

tsv >"$T/configs.tsv" <<X
app dataset batch_size amp gpu_util_pct fb_used_mib label
small d1 16 0 20 2000 0
mid d1 16 1 45 3000 1
big d2 32 0 90 9000 2
huge d2 64 0 40 22600 0
X
tsv >"$T/pairs.tsv" <<X
app1 dataset1 batch_size1 amp1 speed1 app2 dataset2 batch_size2 amp2 speed2
small d1 16 0 0.9 small d1 16 0 0.8
mid d1 16 1 0.5 small d1 16 0 1.1
big d2 32 0 0.75 small d1 16 0 0.6
X
C="--configs $T/configs.tsv --pairs $T/pairs.tsv"
job_table() { tsv | awk -F '\t' -v OFS='\t' '
	BEGIN {
		split("small d1 16 0,mid d1 16 1,big d2 32 0,huge d2 64 0", c, ",")
		for (i in c) { split(c[i], x, " "); k[x[1]] = x[1] OFS x[2] OFS x[3] OFS x[4] }
		print "job_id", "submit_s", "gpus", "duration_s", "predicted_s", "app", "dataset", "batch_size", "amp"
	}
	{ print $1, $2, $3, $4, $5, k[$6] }'; }
# shellcheck disable=SC2086
verify() { run "$1: the verifier agrees" 0 gf-verify --only-violated -j "$T/jobs.tsv" $C "$T/log"; }

# b joins a at 10: a runs at 1.1, b at 0.5. When a ends at 10 + 90 / 1.1, b goes on alone at full speed.
job_table >"$T/jobs.tsv" <<X
a 0 2 100 100 small
b 10 2 60 60 mid
X
# shellcheck disable=SC2086
run "two share" 0 gf-replay -p lucid -c 1x2 $C "$T/jobs.tsv"
cp "$T/out" "$T/log"
events "$T/out" >"$T/events"
is "at the measured speeds, and who is left recovers" "$T/events" "0 start a 0:2 0 NA 1
10 start b 0:2 0 a 0.5
10 share a 0:2 10 b 1.1000000000000001
91.818181819 finish a - 100 NA NA
91.818181819 share b 0:2 40.909090909 NA 1
110.90909091 finish b - 60 NA NA"
verify "two share"
# shellcheck disable=SC2086
run "in the simulator of Lucid" 0 gf-replay -p lucid --fidelity lucid-asplos23 -c 1x2 $C "$T/jobs.tsv"
cp "$T/out" "$T/log"
events "$T/out" | awk '{ print $1, $2, $3, $6, $7 }' >"$T/events"
is "the one placed later keeps its speed, in whole seconds" "$T/events" "0 start a NA 1
10 start b a 0.5
10 share a b 1.1000000000000001
93 finish a NA NA
93 share b NA 0.5
131 finish b NA NA"
verify "in the simulator of Lucid"
# shellcheck disable=SC2086
run "all rules that apply" 0 gf-verify -j "$T/jobs.tsv" $C "$T/log"
has "two at most" "$T/out" "^gpu-sharing${tab}ok"
has "as measured" "$T/out" "^shared-speed${tab}ok"

# shellcheck disable=SC2086
run "the one convention without the others" 0 gf-replay -p lucid --survivor keeps-speed -c 1x2 $C "$T/jobs.tsv"
cp "$T/out" "$T/log"
has "it stays slow (work is rounded down to the nanosecond when something changes)" "$T/out" \
	"^130.000000001${tab}finish${tab}b"
verify "the one convention"
# shellcheck disable=SC2086
run "the others without it" 0 gf-replay -p lucid --fidelity lucid-asplos23 --survivor recovers -c 1x2 $C "$T/jobs.tsv"
cp "$T/out" "$T/log"
has "it recovers" "$T/out" "^93${tab}share${tab}b${tab}2${tab}0:2.*${tab}NA${tab}1$"
verify "the others"

# Who may join whom: score, memory, time, size.
joins() {
	job_table >"$T/jobs.tsv"
	# shellcheck disable=SC2086
	run "$1" 0 gf-replay ${3:--p lucid} -c 4x8 --placement consolidate $C "$T/jobs.tsv"
	cp "$T/out" "$T/log"
	awk -F '\t' '$2 == "start" { s = s blank $3 " " $12; blank = " " } END { print s }' "$T/log" >"$T/joined"
	is "$1: who joins whom" "$T/joined" "$2"
	verify "$1"
}
joins "score" "a NA b NA c a d NA" <<X
a 0 1 100 100 big
b 1 1 100 100 mid
c 2 1 100 100 small
d 3 1 100 100 big
X
joins "memory" "a NA b NA c b" <<X
a 0 1 100 100 huge
b 1 1 100 100 small
c 2 1 100 100 small
X
joins "time: not more than twice as long" "a NA b NA c b d a" <<X
a 0 1 100 100 small
b 1 1 500 201 small
c 2 1 500 402 small
d 3 1 500 200 small
X
joins "size" "a NA b NA c b" <<X
a 0 1 100 100 small
b 1 2 100 100 small
c 2 2 100 100 small
X
joins "more than a node" "a NA b NA" <<X
a 0 16 100 100 small
b 1 16 100 100 small
X
joins "no estimator: any length" "a NA b a" "-p lucid --no-estimator" <<X
a 0 1 100 100 small
b 1 1 500 900 small
X
joins "no packing" "a NA b NA" "-p lucid --no-packing" <<X
a 0 1 100 100 small
b 1 1 500 20 small
X
joins "horus goes by utilisation" "a NA b NA c b d NA" "-p horus" <<X
a 0 1 100 100 big
b 1 1 100 100 mid
c 2 1 100 100 mid
d 3 1 100 100 big
X

# w needs both nodes, and each time one is free somebody takes it: until w is due, at 350.
job_table >"$T/jobs.tsv" <<X
a 0 8 200 200 big
b 100 8 200 200 big
w 110 16 100 100 big
c 120 8 200 200 big
d 130 8 250 250 big
e 410 8 50 50 small
X
for wait in 1000 240; do
	# shellcheck disable=SC2086
	run "a wide job, due after $wait s" 0 gf-replay -p lucid -c 2x8 --placement consolidate --no-estimator --wide-wait $wait \
		--pack-score 1 $C "$T/jobs.tsv"
	cp "$T/out" "$T/log"
	awk -F '\t' '$2 == "start" { s = s blank $3 " " $1; blank = " " } END { print s }' "$T/log" >"$T/started-$wait"
	verify "a wide job, $wait"
done
is "a wide job: the others pass it" "$T/started-1000" "a 0 b 100 c 200 d 300 e 410 w 550"
is "a wide job: nobody starts before it once it is due" "$T/started-240" "a 0 b 100 c 200 d 300 w 550 e 650"
# shellcheck disable=SC2086
run "a wide job in the simulator" 0 gf-replay -p lucid --fidelity lucid-asplos23 -c 2x8 --no-estimator --pack-score 1 $C \
	"$T/jobs.tsv"
awk -F '\t' '$2 == "start" { s = s blank $3 " " $1; blank = " " } END { print s }' "$T/out" >"$T/started-fidelity"
is "a wide job in the simulator waits" "$T/started-fidelity" "a 0 b 100 c 201 d 301 e 410 w 552"
hasnt "it has no time when it is due" "$T/out" '^#wide_wait_s'

# A forecast switches packing on and off, at whole hundreds of seconds.
awk 'BEGIN { OFS = "\t"; print "time_s", "jobs", "gpus"; for (i = 0; i < 15; i++) print 600 * i, i < 8 ? 1 : 9, 5 }' \
	>"$T/forecast.tsv"
job_table >"$T/jobs.tsv" <<X
a 0 1 5000 5000 small
b 10 1 5000 90 small
c 1795 1 5000 90 small
d 1805 1 5000 90 small
X
# shellcheck disable=SC2086
run "a forecast" 0 gf-replay -p lucid -c 1x2 $C --forecast "$T/forecast.tsv" "$T/jobs.tsv"
awk -F '\t' '$2 == "start" { print $1, $3, $12 }' "$T/out" >"$T/joined"
cp "$T/out" "$T/log"
is "few jobs are expected: nobody shares; later they do" "$T/joined" "0 a NA
10 b NA
1800 c a
1805 d b"
verify "a forecast"

# The profiler: c ends within its limit; the head of its queue, the smallest job, blocks.
job_table >"$T/jobs.tsv" <<X
a 0 2 300 300 small
b 1 2 300 300 mid
c 2 1 30 30 big
d 2 1 300 300 big
e 3 4 50 50 big
X
# shellcheck disable=SC2086
run "the profiler" 0 gf-replay -p lucid -c 3x2 --profiler 1 --profiler-time 40 --profiler-gpus 2 --skip-too-large \
	$C "$T/jobs.tsv"
cp "$T/out" "$T/log"
events "$T/out" | awk '{ print $1, $2, $3, $4 }' >"$T/events"
is "profiles come before the queue, and smaller ones first" "$T/events" "0 profile a 2:2
3 start e 0:2,1:2
40 profiled a -
40 start c 2:1
40 profile d 2:1
53 finish e -
53 start a 0:2
70 finish c -
80 profiled d -
80 profile b 2:2
80 start d 1:1
120 profiled b -
120 start b 0:2
120 share a 0:2
331.818181819 finish a -
331.818181819 share b 0:2
380 finish d -
525.90909091 finish b -"
verify "the profiler"
run "its time is not queueing" 0 gf-metrics --per-job "$T/log"
has "of b: 79 s before it" "$T/out" "^b	1	120	"
# shellcheck disable=SC2086
run "naive" 0 gf-replay -p lucid -c 3x2 --profiler 1 --profiler-time 40 --profiler-gpus 2 --profiler-naive \
	--skip-too-large $C "$T/jobs.tsv"
cp "$T/out" "$T/log"
has "in order of arrival" "$T/out" "^40${tab}profile${tab}b"
verify "naive"
sed 's/^#profile_order=arrival$/#profile_order=space-aware/' "$T/log" >"$T/bad"
# shellcheck disable=SC2086
run "naive, and said to be space-aware" 1 gf-verify --only-violated -j "$T/jobs.tsv" $C "$T/bad"
awk -F '\t' '$2 == "violated" { print $1 }' "$T/out" >"$T/violated"
is "naive, and said to be space-aware: against nothing but profiler-order" "$T/violated" "profiler-order"
# shellcheck disable=SC2086
run "beside the queue" 0 gf-replay -p lucid --fidelity lucid-asplos23 -c 3x2 --profiler 1 --profiler-time 40 \
	--profiler-gpus 2 $C "$T/jobs.tsv"
cp "$T/out" "$T/log"
has "a job starts while it is profiled" "$T/out" "^0${tab}start${tab}a"
verify "beside the queue"
run "metrics" 0 gf-metrics -o "$T/metrics" "$T/log"
run "per job" 0 gf-metrics --per-job -o "$T/per-job" "$T/log"
# shellcheck disable=SC2086
run "the verifier comes to the same metrics" 0 gf-verify --only-violated -j "$T/jobs.tsv" $C \
	--metrics "$T/metrics" --per-job "$T/per-job" "$T/log"

# ---- logs that are wrong ----

mutate() { # NAME RULE SCRIPT: one row is changed
	awk -F '\t' -v OFS='\t' "$3 { print }" "$T/log" | awk '/^#end/ { print "#end rows=" n; next } { print }
		head && !/^#/ { n++ } !/^#/ { head = 1 }' >"$T/bad"
	if cmp -s "$T/bad" "$T/log"; then ok "$1: the script changes something" 1; fi
	# shellcheck disable=SC2086
	run "$1" 1 gf-verify --only-violated -j "$T/jobs.tsv" $C "$T/bad"
	has "$1: $2" "$T/out" "^$2${tab}violated"
}
job_table >"$T/jobs.tsv" <<X
a 0 1 500 500 small
b 1 1 400 400 small
c 2 1 400 400 mid
d 3 2 400 400 mid
e 4 2 300 300 small
f 5 1 30 30 big
X
# shellcheck disable=SC2086
run "a log to change" 0 gf-replay -p lucid -c 4x4 --placement consolidate --profiler 1 --profiler-time 40 \
	--profiler-gpus 1 $C "$T/jobs.tsv"
cp "$T/out" "$T/log"
verify "as it is"
# only NAME RULE [SCRIPT [CONFIGS-AND-PAIRS]]: so changed, the log is against this rule and no other
only() {
	mutate "$1" "$2" "$3"
	awk -F '\t' '$2 == "violated" { print $1 }' "$T/out" >"$T/violated"
	is "$1: against nothing but $2" "$T/violated" "$2"
}
cp "$T/log" "$T/good"
mutate "a third one" gpu-sharing '$2 == "start" && $12 == "d" { $12 = "a" }'
mutate "a partner that does not say so" gpu-sharing '$2 == "share" && $12 != "NA" && !done { done = 1; next }'
mutate "a partner from nowhere" gpu-sharing '$2 == "share" && $12 == "NA" { $12 = "f" }'
only "other GPUs" gpu-sharing '$2 == "start" && $12 == "d" { $5 = "2:2" }'
mutate "another speed" shared-speed '$2 == "start" && $12 != "NA" { $13 = 0.99 }'
mutate "a preemption" no-preemption '$2 == "share" && $12 == "NA" { $2 = "preempt"; $4 = 0; $5 = "-"; $13 = "NA" }'
mutate "nodes of the profiler" profiler-limits '$2 == "start" && $3 == "d" { $5 = "3:2" }'
mutate "too long a profile" profiler-limits '$2 == "profiled" { $1++ }'
mutate "a profile elsewhere" profiler-limits '$2 == "profile" { $5 = "0:1" }'
only "less memory" pack-memory '/^#gpu_mem_mib/ { $0 = "#gpu_mem_mib=3500" }'
only "a lower score" pack-score '/^#pack_score/ { $0 = "#pack_score=0" }'
mutate "smaller jobs" profiler-limits '/^#profile_gpus/ { $0 = "#profile_gpus=0" }'
mutate "other measurements" inputs-match '/^#input_pairs/ { $0 = "#input_pairs=00" }'
only "another limit of the profiler" profiler-limits '/^#profile_limit_s/ { $0 = "#profile_limit_s=41" }'
pairs_of() { sed "$1" "$T/pairs.tsv" >"$T/other-pairs.tsv"; C="--configs $T/configs.tsv --pairs $T/other-pairs.tsv"; }
pairs_of 's/^mid	d1	16	1	0.5/mid	d1	16	1	0.6/'
only "other speeds than those measured" shared-speed '!/^#input_pairs/'
C="--configs $T/configs.tsv --pairs $T/pairs.tsv"
sed 's/^b	1	1	400	400/b	1	1	400	9000/' "$T/jobs.tsv" >"$T/longer.tsv"
# shellcheck disable=SC2086
run "a long job beside a short one" 1 gf-verify --only-violated -j "$T/longer.tsv" $C "$T/log"
has "is against the time rule" "$T/out" "^pack-score${tab}violated"

# ---- what is refused ----

run "no measurements" 2 gf-replay -p lucid -c 4x4 "$T/jobs.tsv"
has "says what is needed" "$T/err" "^gf-replay: --policy lucid: --configs and --pairs are needed"
# shellcheck disable=SC2086
run "measurements for others" 2 gf-replay -p fifo $C -c 4x4 "$T/jobs.tsv"
# shellcheck disable=SC2086
run "all nodes for the profiler" 2 gf-replay -p lucid $C -c 4x4 --profiler 4 "$T/jobs.tsv"
is "cannot be" "$T/err" "gf-replay: --profiler 4: bad nodes '4' (expected N of them, fewer than there are)
Try 'gf-replay --help'."
# shellcheck disable=SC2086
run "larger profiles than the profiler" 2 gf-replay -p lucid $C -c 4x4 --profiler 1 "$T/jobs.tsv"
sed 's/small	d1	16	0$/small	d1	17	0/' "$T/jobs.tsv" >"$T/unknown.tsv"
# shellcheck disable=SC2086
run "a job of no configuration" 1 gf-replay -p lucid $C -c 4x4 "$T/unknown.tsv"
is "is named" "$T/err" "gf-replay: $T/unknown.tsv:2:app: no measurement of 'small' 'd1' at batch size 17, amp 0 (expected a configuration that was measured)"
printf 'small\td1\t16\t0\t1\t1\t0\n' | cat "$T/configs.tsv" - >"$T/twice.tsv"
run "a configuration twice" 1 gf-replay -p lucid -c 4x4 --configs "$T/twice.tsv" --pairs "$T/pairs.tsv" "$T/jobs.tsv"
is "is named, too" "$T/err" "gf-replay: $T/twice.tsv:6:app: configuration 'small' is there twice"
sed 's/0.75/0/' "$T/pairs.tsv" >"$T/stuck.tsv"
run "a speed of 0" 1 gf-replay -p lucid -c 4x4 --configs "$T/configs.tsv" --pairs "$T/stuck.tsv" "$T/jobs.tsv"
is "cannot be, either" "$T/err" "gf-replay: $T/stuck.tsv:4:speed1: bad speed 0 (expected above 0)"
run "a log of shared GPUs without measurements" 2 gf-verify -j "$T/jobs.tsv" "$T/log"

job_table >"$T/jobs.tsv" <<X
a 0 1 100 100 big
b 10 1 90 90 big
X
# shellcheck disable=SC2086
run "two that do not share" 0 gf-replay -p lucid -c 1x4 --placement consolidate $C "$T/jobs.tsv"
cp "$T/out" "$T/log"
verify "two that do not share"
only "a job that loses its GPUs and gets them back" no-preemption '$2 == "start" && $3 == "b" {
		print 10, "preempt", "a", 0, "-", "NA", "NA", "NA", 10, "NA", "NA", "NA", "NA"
		print 10, "resume", "a", 1, "0:1", "NA", "NA", "NA", 10, "NA", "NA", "NA", 1 }'

# a and b could both be joined by c: a, which is first
job_table >"$T/jobs.tsv" <<X
a 0 1 500 100 small
b 0 1 500 201 small
c 10 1 60 90 small
X
# shellcheck disable=SC2086
run "two that may be joined" 0 gf-replay -p lucid -c 1x4 --placement consolidate $C "$T/jobs.tsv"
cp "$T/out" "$T/log"
has "two that may be joined: the first is" "$T/out" "^10${tab}start${tab}c.*${tab}a${tab}"
verify "two that may be joined"
only "the second one is joined" pack-first '/^[0-9]/ && $1 >= 10 {
	if ($3 == "a") $3 = "b"; else if ($3 == "b") $3 = "a"
	if ($12 == "a") $12 = "b"; else if ($12 == "b") $12 = "a" }'
tr ' ' '\t' >"$T/jobs.tsv" <<X
job_id group submit_s gpus duration_s
a va 0 1 300
b va 1 4 300
c vb 2 4 200
d vb 3 4 100
e vb 4 4 50
f va 5 1 50
X
C=
run "first fit" 0 gf-replay -c va:2x4,vb:1x4 --virtual-clusters --placement first-fit "$T/jobs.tsv"
cp "$T/out" "$T/log"
verify "first fit"
only "nodes of another placement" placement-rule '/^#placement=/ { $0 = "#placement=consolidate-first" }'
only "the order of another policy" next-to-start '/^#policy=/ { $0 = "#policy=sjf" }'
run "random" 0 gf-replay -c va:2x4,vb:1x4 --virtual-clusters --placement random --seed 3 "$T/jobs.tsv"
cp "$T/out" "$T/log"
verify "random"
only "a node of another virtual cluster" virtual-cluster \
	'/^#virtual_clusters=/ { $0 = "#virtual_clusters=vb:1x4,va:2x4" }'

# ---- where lucid puts jobs that do not share ----
C="--configs $T/configs.tsv --pairs $T/pairs.tsv"
job_table >"$T/jobs.tsv" <<X
a 0 1 500 500 big
b 1 2 500 500 big
c 2 3 500 500 big
d 3 2 50 50 big
e 4 1 40 40 small
X
placed() { # PLACEMENT WANT: start instants and nodes, and whom each joins
	# shellcheck disable=SC2086
	run "lucid, $1" 0 gf-replay -p lucid -c 2x4 ${1:+--placement $1} $C "$T/jobs.tsv"
	cp "$T/out" "$T/log"
	awk -F '\t' '$2 == "start" { s = s blank $1 " " $3 " " $5 ($12 == "NA" ? "" : " beside " $12); blank = "; " }
		END { print s }' "$T/log" >"$T/where"
	is "lucid, $1: where" "$T/where" "$2"
	verify "lucid, $1"
}
placed emptiest "0 a 0:1; 1 b 1:2; 2 c 0:3; 3 d 1:2; 4 e 0:1 beside a"
placed consolidate "0 a 0:1; 1 b 0:2; 2 c 1:3; 4 e 0:1 beside a; 501 d 0:2"
placed consolidate-first "0 a 0:1; 1 b 0:2; 2 c 1:3; 3 d 0:1,1:1; 4 e 0:1 beside a"
placed first-fit "0 a 0:1; 1 b 0:2; 2 c 0:1,1:2; 3 d 1:2; 4 e 0:1 beside a"
# shellcheck disable=SC2086
for seed in 1 2 3 4; do gf-replay -p lucid -c 2x4 --placement random --seed $seed $C "$T/jobs.tsv" | grep -v '^#' >"$T/r$seed"; done
# shellcheck disable=SC2086
gf-replay -p lucid -c 2x4 --placement random --seed 1 $C "$T/jobs.tsv" | grep -v '^#' >"$T/again"
same "lucid, random: a seed is a schedule" "$T/r1" "$T/again"
! { cmp -s "$T/r1" "$T/r2" && cmp -s "$T/r1" "$T/r3" && cmp -s "$T/r1" "$T/r4"; }
ok "lucid, random: and another one another" $?
