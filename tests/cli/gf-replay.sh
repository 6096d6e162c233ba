#!/bin/sh
# SPDX-License-Identifier: MIT
# gf-replay: what it logs, what it refuses.
. tests/cli/lib.sh

jobs=tests/data/jobs-small.tsv
tab=$(printf '\t')

# events LOG: time, event, job, nodes of every change
events() {
	awk -F '\t' '/^#/ { next } !n++ { next } $2 != "cluster" { print $1, $2, $3, $5 }' "$1"
}

for policy in fifo sjf srtf tiresias; do
	run "$policy replays" 0 gf-replay -p $policy -c 2x4 $jobs
	golden "$policy: the whole log" "$T/out" tests/data/replay-small-$policy.tsv
	hasnt "$policy: no complaints" "$T/err" .
	cp "$T/out" "$T/a"
	run "$policy replays from a pipe" 0 sh -c "cat $jobs | gf-replay -p $policy -c 2x4"
	same "$policy: the same bytes from a pipe" "$T/a" "$T/out"
	{ sed '/^#end/d; /^job_id/q' $jobs; grep '^j[0-9]' $jobs | sort -r; echo '#end rows=10'; } >"$T/mixed.tsv"
	run "$policy replays rows in another order" 0 gf-replay -p $policy -c 2x4 "$T/mixed.tsv"
	grep -v '^#input' "$T/a" >"$T/b"
	grep -v '^#input' "$T/out" >"$T/c"
	same "$policy: the order of rows does not matter" "$T/b" "$T/c"
	run "$policy with an interval" 0 gf-replay -p $policy -c 2x4 -i 60 $jobs
	awk -F '\t' '$2 ~ /start|move|resume|preempt/ && $1 % 60 { bad = 1 } END { exit bad }' "$T/out"
	ok "$policy: an interval of 60 s decides at multiples of it" $?
done

# Demotion happens at the very instant: 4 GPUs x 25 s.
printf 'job_id\tsubmit_s\tgpus\tduration_s\na\t0\t4\t100\nb\t10\t4\t30\n' >"$T/two.tsv"
run "tiresias with a small threshold" 0 gf-replay -p tiresias --tiresias-threshold 100 -c 1x4 "$T/two.tsv"
events "$T/out" >"$T/events"
is "a is demoted at 25 s, b runs and is demoted too, and a comes first again" "$T/events" "0 submit a -
0 start a 0:4
10 submit b -
25 preempt a -
25 start b 0:4
50 preempt b -
50 resume a 0:4
125 finish a -
125 resume b 0:4
130 finish b -"

run "restart delay" 0 gf-replay -p srtf -c 1x4 --restart-delay 5 "$T/two.tsv"
events "$T/out" >"$T/events"
is "each start costs 5 s, nothing is lost" "$T/events" "0 submit a -
0 start a 0:4
10 submit b -
10 preempt a -
10 start b 0:4
45 finish b -
45 resume a 0:4
145 finish a -"

run "free start" 0 gf-replay -p srtf -c 1x4 --restart-delay 5 --free-start "$T/two.tsv"
cp "$T/out" "$T/log"
events "$T/out" >"$T/events"
is "only the one that was preempted stands still for 5 s" "$T/events" "0 submit a -
0 start a 0:4
10 submit b -
10 preempt a -
10 start b 0:4
40 finish b -
40 resume a 0:4
135 finish a -"
run "free start: the verifier agrees" 0 gf-verify --only-violated -j "$T/two.tsv" "$T/log"

printf 'job_id\tsubmit_s\tgpus\tduration_s\na\t0\t4\t0\nb\t0.000000001\t4\t0.5\n' >"$T/zero.tsv"
run "zero duration, nanoseconds" 0 gf-replay -c 1x4 "$T/zero.tsv"
events "$T/out" >"$T/events"
is "a job without work starts and finishes at once" "$T/events" "0 submit a -
0 start a 0:4
0 finish a -
0.000000001 submit b -
0.000000001 start b 0:4
0.500000001 finish b -"

# Elastic clusters: nodes for all that is asked for, ready 20 s later, returned 5 s after they are empty.
run "an elastic cluster" 0 gf-replay --autoscale demand --node-start 20 --node-idle 5 --restart-delay 3 \
	--cold-restart-delay 7 -c 3x4 "$T/two.tsv"
awk -F '\t' '/^#/ { next } !n++ { next } { print $1, $2, $3, $4, $5, $12 }' "$T/out" >"$T/events"
is "nodes are rented, ready, cold once, and returned" "$T/events" "0 cluster NA 0 3x4 NA
0 submit a 4 - NA
0 rent NA 4 0:4 NA
10 submit b 4 - NA
10 rent NA 4 1:4 NA
20 ready NA 4 0:4 NA
20 start a 4 0:4 7
30 ready NA 4 1:4 NA
30 start b 4 1:4 7
67 finish b 0 - NA
72 return NA 4 1:4 NA
127 finish a 0 - NA
132 return NA 4 0:4 NA"
printf 'job_id\tsubmit_s\tgpus\tduration_s\na\t0\t4\t10\nb\t12\t4\t10\nc\t13\t2\t10\n' >"$T/three.tsv"
run "a grace in which a node is used again" 0 gf-replay --autoscale demand --node-idle 5 -c 1x4 \
	--cold-restart-delay 2 "$T/three.tsv"
awk -F '\t' '/^#/ { next } !n++ { next } $2 != "submit" { print $1, $2, $3, $5, $12 }' "$T/out" >"$T/events"
is "the node stays, warm, and there is no other" "$T/events" "0 cluster NA 1x4 NA
0 rent NA 0:4 NA
0 ready NA 0:4 NA
0 start a 0:4 2
12 finish a - NA
12 start b 0:4 0
22 finish b - NA
22 start c 0:2 0
32 finish c - NA
37 return NA 0:4 NA"
run "nodes that are always there" 0 gf-replay --autoscale demand --min-nodes 2 -c 3x4 "$T/two.tsv"
lines "only they are rented" "$T/out" "$(grep -c -v -e "${tab}return${tab}" "$T/out")"
is "no node of a fixed cluster is logged" "$(gf-replay -c 3x4 "$T/two.tsv" | grep -c -e rent -e ready >"$T/n"; echo "$T/n")" 0
run "an unknown rule" 2 gf-replay --autoscale whim -c 3x4 "$T/two.tsv"
is "an unknown rule: those that there are" "$T/err" \
	"gf-replay: unknown autoscaling rule 'whim' (expected plan, demand, goodput, throughput, utilisation, pollux, rubick, sia)
Try 'gf-replay --help'."
run "a plan of nodes that the policy has not" 2 gf-replay --autoscale plan -c 3x4 "$T/two.tsv"
run "a start-up delay of a fixed cluster" 2 gf-replay --node-start 3 -c 3x4 "$T/two.tsv"
is "a start-up delay of a fixed cluster: the message" "$T/err" \
	"gf-replay: --policy fifo: delays and bounds of nodes need an autoscaling rule
Try 'gf-replay --help'."
run "an elastic cluster of unlike nodes" 2 gf-replay --autoscale demand -c 3x4,1x8 "$T/two.tsv"
is "an elastic cluster of unlike nodes: the message" "$T/err" \
	"gf-replay: --cluster 3x4,1x8: an elastic cluster needs nodes that are alike
Try 'gf-replay --help'."
run "more nodes than there are" 2 gf-replay --autoscale demand --min-nodes 4 -c 3x4 "$T/two.tsv"

# options that would change nothing: all of them in one line, before anything is read or written
useless() {	# WHAT THEY NEED, OPTION…
	useless_says=$1
	shift
	run "of no use: $*" 2 gf-replay -c 3x4 -o "$T/useless.tsv" "$@" "$T/two.tsv"
	is "$*: what they are of use with" "$T/err" "gf-replay: of no use here: $useless_says
Try 'gf-replay --help'."
	[ ! -e "$T/useless.tsv" ]
	ok "$*: nothing is written" $?
}
useless '--target-efficiency (expected --autoscale pollux, rubick or sia)' --target-efficiency 0.5
useless '--scale-low (expected --autoscale goodput, throughput or utilisation)' --autoscale demand --scale-low 0.4
useless '--pack-score (expected --policy lucid), --profiler-time (expected --profiler)' \
	--profiler-time 200 --pack-score 2
useless '--tiresias-threshold (expected --policy tiresias), --p (expected --policy pollux)' -p sjf --p=-1 \
	--tiresias-threshold 100
useless '--placement (expected a policy other than pollux and optimus)' -p optimus --placement random
useless '--pack-util (expected --policy horus), --classes (expected --speedups)' --classes x -p lucid --pack-util 90
run "an option that is of use" 0 gf-replay -c 3x4 -p tiresias --tiresias-threshold 57600 "$T/two.tsv"

# Speedups and widths of a plan. One class, two epochs: 10 at 1 and 2.5 a second on 1 and 2 GPUs, 12 at 1 and 3; restart
# delay 2. Two plans: 1 then 2 GPUs, and 2 all the way, which a quarter of the jobs have.
printf 'class\tepoch\tgpus\twork\tspeed_per_s\nx\t0\t1\t10\t1\nx\t0\t2\t10\t2.5\nx\t1\t1\t12\t1\nx\t1\t2\t12\t3\n' >"$T/speedups.tsv"
printf 'class\tarrival_rate_per_s\trescale_s\nx\t0.01\t2\n' >"$T/classes.tsv"
plan() {
	printf '#fit-table/1\n#charge_start=%s\nclass\tplan\tshare\tepoch\tgpu_type\tgpus\n' "$1"
	printf 'x\t0\t0.75\t0\tNA\t1\nx\t0\t0.75\t1\tNA\t2\nx\t1\t0.25\t0\tNA\t2\nx\t1\t0.25\t1\tNA\t2\n#end rows=4\n'
}
plan 1 >"$T/plan.tsv"
plan 0 >"$T/free.tsv"
printf 'job_id\tapp\tsubmit_s\tgpus\na\tx\t0\t7\nb\tx\t1\t7\nc\tx\t2\t7\nd\tx\t3\t7\n' >"$T/boa.tsv"
boa() {
	run "$1" "$2" gf-replay --policy boa --cluster 4x2 --speedups "$T/speedups.tsv" --classes "$T/classes.tsv" \
		--plan "$3" "$T/boa.tsv"
	events "$T/out" >"$T/events"
}
boa "boa, charged starts" 0 "$T/plan.tsv"
is "the fourth job has the dearer plan; epochs change the width" "$T/events" "0 submit a -
0 start a 0:1
1 submit b -
1 start b 0:1
2 submit c -
2 start c 1:1
3 submit d -
3 start d 2:2
9 epoch d 2:2
12 epoch a 0:1
12 move a 3:2
13 epoch b 0:1
13 finish d -
13 move b 0:2
14 epoch c 1:1
14 move c 1:2
18 finish a -
19 finish b -
20 finish c -"
boa "boa, free starts" 0 "$T/free.tsv"
is "the first start is free, a change is not" "$T/events" "0 submit a -
0 start a 0:1
1 submit b -
1 start b 0:1
2 submit c -
2 start c 1:1
3 submit d -
3 start d 2:2
7 epoch d 2:2
10 epoch a 0:1
10 move a 3:2
11 epoch b 0:1
11 finish d -
11 move b 0:2
12 epoch c 1:1
12 move c 1:2
16 finish a -
17 finish b -
18 finish c -"
printf 'job_id\tapp\tsubmit_s\tgpus\na\tx\t0\t2\nb\tx\t1\t1\nc\tx\t2\t2\n' >"$T/sjf.tsv"
run "sjf with speedups" 0 gf-replay --policy sjf --cluster 1x2 --speedups "$T/speedups.tsv" "$T/sjf.tsv"
events "$T/out" >"$T/events"
is "the shorter one starts first, at the speed of what it asked for" "$T/events" "0 submit a -
0 start a 0:2
1 submit b -
2 submit c -
4 epoch a 0:2
8 finish a -
8 start c 0:2
12 epoch c 0:2
16 finish c -
16 start b 0:1
26 epoch b 0:1
38 finish b -"

# Widths that the replay computes itself, and computes anew as speeds become known.
D=tests/data
learn() {
	run "$1" "$2" gf-replay --policy boa --cluster 40x4 --autoscale plan --speedups $D/replay-boa-speedups.tsv \
		--classes $D/replay-boa-classes.tsv "$3" "$4" "$5" "$6" "$7" "$8" $D/replay-boa-jobs.tsv
	grep -v '^#' "$T/out" >"$T/rows"
}
gf-boa solve --classes $D/replay-boa-classes.tsv --budget 30 --charge-start $D/replay-boa-speedups.tsv >"$T/thirty.tsv"
learn "boa, plans of gf-boa" 0 --plan "$T/thirty.tsv" -i 0 --node-start 9
mv "$T/rows" "$T/planned"
learn "boa, a budget" 0 --budget 30 -i 0 --node-start 9
same "the same as by the plans for that budget" "$T/planned" "$T/rows"
learn "boa, a budget that is too small" 0 --budget 0.5 -i 0 --node-start 9
has "is warned of" "$T/err" "^gf-replay: warning: infeasible budget '0.5' .expected at least [0-9.]*.: the cheapest widths are taken$"
learn "boa, a budget, computed anew" 0 --budget 30 --resolve-interval 20 --node-start 9
same "the same where there is nothing to learn" "$T/planned" "$T/rows"
has "the metadata say so" "$T/out" '^#boa_resolve_s=20$'
gf-synth misjudge --size 0.5 --seed 4 $D/replay-boa-speedups.tsv >"$T/believed.tsv"
learn "boa, wrong beliefs" 0 --budget 30 --believed "$T/believed.tsv" --node-start 9
mv "$T/rows" "$T/wrong"
learn "boa, wrong beliefs that are corrected" 0 --budget 30 --believed "$T/believed.tsv" --resolve-interval 20
cp "$T/out" "$T/corrected"
cmp -s "$T/rows" "$T/wrong"
[ $? -eq 1 ]
ok "what is learned changes widths" $?
run "it verifies" 0 gf-verify --jobs $D/replay-boa-jobs.tsv --speedups $D/replay-boa-speedups.tsv \
	--classes $D/replay-boa-classes.tsv --believed "$T/believed.tsv" "$T/corrected"
run "not with other beliefs" 1 gf-verify --jobs $D/replay-boa-jobs.tsv --speedups $D/replay-boa-speedups.tsv \
	--classes $D/replay-boa-classes.tsv "$T/corrected"
has "not with other beliefs: why" "$T/out" '^inputs-match	violated	.*made from other beliefs'
sed 's/^#boa_resolve_s=20/#boa_resolve_s=0/' "$T/corrected" >"$T/never"
run "not as if nothing was learned" 1 gf-verify --jobs $D/replay-boa-jobs.tsv --speedups $D/replay-boa-speedups.tsv \
	--classes $D/replay-boa-classes.tsv --believed "$T/believed.tsv" "$T/never"
has "not as if nothing was learned: why" "$T/out" '^boa-width	violated'
run "beliefs without a budget" 2 gf-replay --policy boa --cluster 4x2 --speedups "$T/speedups.tsv" --plan "$T/plan.tsv" \
	--believed "$T/speedups.tsv" "$T/boa.tsv"
run "a plan and a budget" 2 gf-replay --policy boa --cluster 4x2 --speedups "$T/speedups.tsv" --plan "$T/plan.tsv" \
	--classes "$T/classes.tsv" --budget 3 "$T/boa.tsv"
run "a budget without classes" 2 gf-replay --policy boa --cluster 4x2 --speedups "$T/speedups.tsv" --budget 3 "$T/boa.tsv"
printf 'class\tepoch\tgpus\twork\tspeed_per_s\nx\t0\t3\t10\t4\nx\t1\t3\t12\t4\n' >"$T/dreams.tsv"
run "beliefs in a width that is none" 1 gf-replay --policy boa --cluster 4x2 --speedups "$T/speedups.tsv" \
	--classes "$T/classes.tsv" --believed "$T/dreams.tsv" --budget 3 "$T/boa.tsv"
is "beliefs in a width that is none: the message" "$T/err" \
	"gf-replay: job a: class 'x' is believed to run on 3 GPUs in epoch 0, and does not"

run "boa without plans" 2 gf-replay --policy boa --cluster 4x2 --speedups "$T/speedups.tsv" "$T/boa.tsv"
is "boa without plans: the message" "$T/err" "gf-replay: --policy boa: this policy needs --speedups, and --plan or --budget
Try 'gf-replay --help'."
run "plans without speedups" 2 gf-replay --policy boa --cluster 4x2 --plan "$T/plan.tsv" "$T/boa.tsv"
run "plans of no use" 2 gf-replay --cluster 4x2 --speedups "$T/speedups.tsv" --plan "$T/plan.tsv" "$T/boa.tsv"
sed 's/^b\tx/b\ty/' "$T/boa.tsv" >"$T/bad.tsv"
run "a job of no class" 1 gf-replay --policy boa --cluster 4x2 --speedups "$T/speedups.tsv" --plan "$T/plan.tsv" "$T/bad.tsv"
is "a job of no class: where" "$T/err" "gf-replay: $T/bad.tsv:3:app: unknown class 'y' (expected one of the speedups)"
run "a size of no speed" 1 gf-replay --cluster 8x2 --speedups "$T/speedups.tsv" "$T/boa.tsv"
is "a size of no speed: where" "$T/err" \
	"gf-replay: $T/boa.tsv:2:gpus: class 'x' does not run on 7 GPUs in every epoch (expected a width of the speedups)"
sed 's/^\(x\t0\t0.75\t1\tNA\)\t2/\1\t3/' "$T/plan.tsv" >"$T/bad.tsv"
boa "a width without a speed" 1 "$T/bad.tsv"
is "a width without a speed: where" "$T/err" "gf-replay: $T/bad.tsv:5:gpus: class 'x' has no speed on 3 GPUs in epoch 1"
sed -e '/^x\t[01]\t0.[27]5\t1/d' -e 's/rows=4/rows=2/' "$T/plan.tsv" >"$T/bad.tsv"
boa "a plan of fewer epochs" 1 "$T/bad.tsv"
is "a plan of fewer epochs: which" "$T/err" \
	"gf-replay: $T/bad.tsv: class 'x' has no width in epoch 1, which the speedups have"
run "a cluster that is too small" 1 gf-replay --policy boa --cluster 1x1 --speedups "$T/speedups.tsv" --plan "$T/plan.tsv" "$T/boa.tsv"
is "a cluster that is too small: the message" "$T/err" \
	"gf-replay: job a: class 'x' has a width of 2 GPUs, the cluster at most 1"

printf 'nodes\tgpus_per_node\n1\t4\n9\t0\n1\t8\n' >"$T/cluster.tsv"
run "a cluster table" 0 gf-replay -c "$T/cluster.tsv" "$T/two.tsv"
has "its nodes are in the log" "$T/out" "^0${tab}cluster${tab}NA${tab}12${tab}1x4,1x8"

printf 'nodes\tgpus_per_node\tgpu_type\n1\t4\taws\n1\t8\trtx\n' >"$T/types.tsv"
run "a cluster table with types" 0 gf-replay -c "$T/types.tsv" "$T/two.tsv"
has "its types are in the log" "$T/out" "^0${tab}cluster${tab}NA${tab}12${tab}aws:1x4,rtx:1x8"

# GPU types: those who ask for one wait for it, the others take any one.
printf 'job_id\tsubmit_s\tgpus\tduration_s\tgpu_type\na\t0\t3\t100\tNA\nb\t1\t2\t50\tNA\n' >"$T/typed.tsv"
printf 'c\t2\t2\t10\taws\nd\t3\t6\t20\trtx\n' >>"$T/typed.tsv"
run "a cluster of types" 0 gf-replay -c aws:1,rtx:1 "$T/typed.tsv"
cp "$T/out" "$T/typed.log"
events "$T/out" >"$T/events"
is "the head waits for its type, and blocks" "$T/events" "0 submit a -
0 start a 0:3
1 submit b -
1 start b 1:2
2 submit c -
3 submit d -
51 finish b -
100 finish a -
100 start c 0:2
100 start d 1:6
110 finish c -
120 finish d -"
run "the log verifies" 0 gf-verify --jobs "$T/typed.tsv" "$T/typed.log"
has "by type" "$T/out" "^gpu-type${tab}ok${tab}4"
sed 's/0:2/1:2/' "$T/typed.log" >"$T/broken.log"
run "a job on another type than it asks for" 1 gf-verify --jobs "$T/typed.tsv" "$T/broken.log"
has "is found" "$T/out" "^gpu-type${tab}violated"
run "srtf on types" 0 gf-replay -p srtf -c aws:1,rtx:1 "$T/typed.tsv"
cp "$T/out" "$T/srtf.log"
events "$T/out" >"$T/events"
is "shorter ones come first, the others go where there is room" "$T/events" "0 submit a -
0 start a 0:3
1 submit b -
1 start b 0:2
1 move a 1:3
2 submit c -
2 start c 0:2
3 submit d -
3 preempt a -
3 start d 1:6
12 finish c -
23 finish d -
23 resume a 1:3
51 finish b -
120 finish a -"
run "the log of srtf verifies" 0 gf-verify --jobs "$T/typed.tsv" "$T/srtf.log"
sed 's/\trtx$/\tquad/' "$T/typed.tsv" >"$T/unknown.tsv"
run "a type that the cluster has not" 1 gf-replay -c aws:1,rtx:1 "$T/unknown.tsv"
is "a type that the cluster has not: the message" "$T/err" \
	"gf-replay: $T/unknown.tsv:5:gpu_type: unknown GPU type 'quad' (expected one of 'aws:1x4,rtx:1x8')"
run "a cluster without types does not ask" 0 gf-replay -c 2x8 "$T/unknown.tsv"
sed 's/\t6\t20/\t9\t20/' "$T/typed.tsv" >"$T/large.tsv"
run "a job larger than its type" 1 gf-replay -c aws:3,rtx:1 "$T/large.tsv"
has "a job larger than its type: the message" "$T/err" "job d asks for 9 GPUs of the 8 of one type"
run "a policy of one type" 2 gf-replay -p lucid -c aws:1,rtx:1 --configs tests/data/lucid-configs.tsv \
	--pairs tests/data/lucid-pairs.tsv --no-estimator "$T/typed.tsv"
has "a policy of one type: the message" "$T/err" "know GPUs of one type only"
run "parts with and without types" 2 gf-replay -c aws:1,1x8 "$T/typed.tsv"
run "a type of unknown size" 2 gf-replay -c mine:1 "$T/typed.tsv"

printf 'nodes\tgpus_per_node\n1\t0\n' >"$T/cpus.tsv"
run "a cluster without GPUs" 1 gf-replay -c "$T/cpus.tsv" "$T/two.tsv"
is "a cluster without GPUs: the message" "$T/err" \
	"gf-replay: $T/cpus.tsv: no node with a GPU (expected node types)"

run "no jobs" 0 gf-replay -c 1x4 /dev/stdin <<X
job_id${tab}submit_s${tab}gpus${tab}duration_s
X
is "no jobs: a warning" "$T/err" "gf-replay: warning: /dev/stdin: no jobs"
lines "no jobs: a log all the same" "$T/out" "$(grep -c . "$T/out")"
has "no jobs: nothing but the cluster" "$T/out" "^#end rows=1$"

# wrong NAME STATUS MESSAGE < table
wrong() {
	cat >"$T/in.tsv"
	run "$1" "$2" gf-replay -c 1x4 "$T/in.tsv"
	is "$1: the message" "$T/err" "gf-replay: $3"
	is "$1: no output" "$T/out" ""
}
head="job_id${tab}submit_s${tab}gpus${tab}duration_s"
wrong "duplicate id" 1 "$T/in.tsv:4:job_id: duplicate id 'a' (first on line 2)" <<X
$head
a${tab}0${tab}1${tab}1
b${tab}0${tab}1${tab}1
a${tab}0${tab}1${tab}1
X
wrong "negative GPUs" 1 "$T/in.tsv:2:gpus: bad number of GPUs -1 (expected at least 1)" <<X
$head
a${tab}0${tab}-1${tab}1
X
wrong "half a GPU" 1 "$T/in.tsv:2:gpus: 0.5 GPUs (expected a whole number: a replay does not share GPUs)" <<X
$head
a${tab}0${tab}0.5${tab}1
X
wrong "no submission" 1 "$T/in.tsv:2:submit_s: missing (expected seconds)" <<X
$head
a${tab}NA${tab}1${tab}1
X
wrong "negative submission" 1 "$T/in.tsv:2:submit_s: out of range (expected 0 to 100 years from the trace origin)" <<X
$head
a${tab}-5${tab}1${tab}1
X
wrong "no duration" 1 "$T/in.tsv:2:duration_s: missing (expected seconds, or --profile; --skip-bad=N leaves such jobs out)" <<X
$head
a${tab}0${tab}1${tab}NA
X
wrong "missing column" 1 "$T/in.tsv:1: no column 'gpus' (found job_id, submit_s)" <<X
job_id${tab}submit_s
a${tab}0
X
wrong "empty id" 1 "$T/in.tsv:2:job_id: empty id (expected a name)" <<X
$head
${tab}0${tab}1${tab}1
X
printf '%s\na\t0\t1\t1\nb\t0\t1\tNA\nc\t0\t-2\t1\nd\t1\t1\t1\n' "$head" >"$T/bad.tsv"
run "two bad rows left out" 0 gf-replay -c 1x4 --skip-bad=2 "$T/bad.tsv"
is "they are counted" "$T/err" "gf-replay: warning: 2 bad rows left out, the first: $T/bad.tsv:3:duration_s: missing (expected seconds, or --profile; --skip-bad=N leaves such jobs out)"
has "the others run" "$T/out" "^2${tab}finish${tab}d"
cp "$T/out" "$T/bad.log"
run "the verifier agrees" 0 gf-verify --jobs "$T/bad.tsv" "$T/bad.log"
grep -v left_out= "$T/bad.log" >"$T/silent.log"
run "but not when the log is silent about them" 1 gf-verify --only-violated --jobs "$T/bad.tsv" "$T/silent.log"
has "which is for jobs-once to say" "$T/out" "^jobs-once${tab}violated"
run "a third would be too many" 1 gf-replay -c 1x4 --skip-bad=1 "$T/bad.tsv"

run "no cluster" 2 gf-replay $jobs
is "no cluster: the message" "$T/err" "gf-replay: option --cluster is required
Try 'gf-replay --help'."
run "bad cluster" 2 gf-replay -c 4by4 $jobs
is "bad cluster: the message" "$T/err" "gf-replay: bad cluster '4by4' (expected NODESxGPUS, such as 16x4, at most 10000000 nodes of at most 64 GPUs)
Try 'gf-replay --help'."
run "unknown policy" 2 gf-replay -c 1x4 -p best $jobs
has "unknown policy: the message" "$T/err" "gf-replay: unknown policy 'best' \(expected fifo, .*qssf, .*horus"
gf-replay --help | sed -n '/^Policies:/,/^[^ ]/s/^  \([a-z-]*\) .*/\1/p' >"$T/listed"
sed -n "s/.*(expected \(.*\))$/\1/p" "$T/err" | sed 's/, /\
/g' | sort >"$T/known"
sort "$T/listed" >"$T/in-help"
same "unknown policy: all that the help lists" "$T/in-help" "$T/known"
run "unknown fidelity" 2 gf-replay -c 1x4 --fidelity real $jobs
run "optimus without a profile" 2 gf-replay -c 1x4 -p optimus -i 60 $jobs
is "optimus without a profile: the message" "$T/err" "gf-replay: --policy optimus: this policy needs application profiles (--profile)
Try 'gf-replay --help'."
run "the simulator's conventions without an interval" 2 gf-replay -c 1x4 --fidelity pollux-osdi21 -i 0 $jobs
run "a profile that is not there" 3 gf-replay -c 1x4 --profile "$T/none.h5" $jobs
is "a profile that is not there: the message" "$T/err" "gf-replay: $T/none.h5: cannot open: No such file or directory"
run "an output folder that is not there" 3 gf-replay -c 2x4 -o "$T/none/x" $jobs

# ---- the end of time ----

printf 'job_id\tsubmit_s\tgpus\tduration_s\n' >"$T/long.tsv"
for id in a b c; do
	printf '%s\t3162240000\t1\t3162240000\n' $id >>"$T/long.tsv"
done
for policy in fifo sjf srtf tiresias; do
	run "$policy: three centuries of work" 1 gf-replay -p $policy -c 1x1 "$T/long.tsv"
	is "$policy: are too much" "$T/err" "gf-replay: job a: would not end within 190 years of the trace origin"
done
sed 's/3162240000$/2000000000/' "$T/long.tsv" >"$T/less.tsv"
run "a century and a half of work" 0 gf-replay -c 1x3 -p tiresias --tiresias-threshold 9000000000000000 \
	-o "$T/less.log" "$T/less.tsv"
run "and it verifies" 0 gf-verify -j "$T/less.tsv" "$T/less.log"

# ---- faults of a cluster table are the data's ----

printf 'nodes\tgpus_per_node\n1\t4\n1\t100\n' >"$T/cluster.tsv"
run "a node of 100 GPUs" 1 gf-replay -c "$T/cluster.tsv" $jobs
is "names the line" "$T/err" "gf-replay: $T/cluster.tsv:3:gpus_per_node: out of range '100' (expected 0 to 64)"
printf 'nodes\tgpus_per_node\n6000000\t4\n6000000\t8\n' >"$T/cluster.tsv"
run "too many nodes in all" 1 gf-replay -c "$T/cluster.tsv" $jobs
is "names the file" "$T/err" "gf-replay: $T/cluster.tsv: bad cluster '6000000x4,6000000x8' (expected at most 10000000 nodes)"

# a tiny interval beside a long queue: fifo and sjf have nothing to decide until a job comes or goes
awk 'BEGIN { OFS = "\t"; print "job_id", "submit_s", "duration_s", "gpus"
	for (i = 1; i <= 60; i++) print "j" i, i * 10, 100000 + (i * 7919) % 90001, 1 + i % 4 }' >"$T/long.tsv"
for policy in fifo sjf; do
	run "$policy, woken by events" 0 gf-replay --no-meta -p $policy -c 1x4 "$T/long.tsv"
	cp "$T/out" "$T/want"
	run "$policy, a billion ticks to a second" 0 gf-replay --no-meta -p $policy -c 1x4 -i 0.000000001 "$T/long.tsv"
	same "$policy: the same log, as no event lies between two of them" "$T/want" "$T/out"
	run "$policy, ticks of 7 s" 0 gf-replay -o "$T/ticks.tsv" -p $policy -c 1x4 -i 7 "$T/long.tsv"
	run "$policy: starts at these ticks only" 0 gf-verify -j "$T/long.tsv" "$T/ticks.tsv"
	awk -F '\t' '$2 == "start" { n++; bad += $1 % 7 != 0 } END { exit bad || n != 60 }' "$T/ticks.tsv"
	ok "$policy: every start at a multiple" $?
done

# ---- a limit of jobs in the system ----

printf 'job_id\tsubmit_s\tgpus\tduration_s\na\t0\t1\t30\nb\t1\t1\t10\nc\t2\t9\t5\nd\t2\t1\t7\ne\t3\t1\t1\nf\t50\t1\t1\n' >"$T/many.tsv"
run "two at a time" 0 gf-replay -q -c 1x4 --skip-too-large --max-active 2 "$T/many.tsv"
events "$T/out" >"$T/events"
is "the next one comes when one ends, and a rejected one takes no place" "$T/events" "0 submit a -
0 start a 0:1
1 submit b -
1 start b 0:1
11 finish b -
11 submit c -
11 reject c -
11 submit d -
11 start d 0:1
18 finish d -
18 submit e -
18 start e 0:1
19 finish e -
30 finish a -
50 submit f -
50 start f 0:1
51 finish f -"
cp "$T/out" "$T/many.log"
run "the verifier agrees" 0 gf-verify -j "$T/many.tsv" "$T/many.log"
has "and looked" "$T/out" "^max-active	ok	6"
run "completion times count from there" 0 gf-metrics --per-job "$T/many.log"
has "of d, 7 s" "$T/out" "^d	11	11	18	7	"
for policy in sjf srtf tiresias; do
	run "$policy, two at a time, at ticks" 0 gf-replay -q -p $policy -c 1x4 -i 4 --skip-too-large --max-active 2 "$T/many.tsv"
	cp "$T/out" "$T/many.log"
	run "$policy: is right" 0 gf-verify -j "$T/many.tsv" "$T/many.log"
done
run "no more than there are: no limit" 0 gf-replay -q --no-meta -c 1x4 --skip-too-large --max-active 6 "$T/many.tsv"
cp "$T/out" "$T/six"
run "without a limit" 0 gf-replay -q --no-meta -c 1x4 --skip-too-large "$T/many.tsv"
same "it is the same" "$T/six" "$T/out"
run "a limit below 0" 2 gf-replay -c 1x4 --max-active=-1 $jobs

# ---- models that are given ----

run "a profile" 0 gf-prof --from pollux tests/data/profile-mini -o "$T/mini.h5"
run "its models" 0 gf-throughput -q --profile "$T/mini.h5" -o "$T/theta.tsv"
printf 'job_id\tsubmit_s\tapp\tgpus\tbatch_size\na\t0\tconv\t2\t64\n' >"$T/conv.tsv"
pollux="-p pollux -c 2x4 -i 20 --restart-delay 3 --profile $T/mini.h5"
# shellcheck disable=SC2086
run "a job that learns" 0 gf-replay $pollux "$T/conv.tsv"
has "starts on one GPU" "$T/out" "^20${tab}start${tab}a${tab}1${tab}"
# shellcheck disable=SC2086
run "a job with a model" 0 gf-replay $pollux --models "$T/theta.tsv" "$T/conv.tsv"
cp "$T/out" "$T/seeded"
awk -F '\t' '$2 == "start" && $4 > 1 { n++ } $2 ~ /move|preempt/ { bad = 1 } END { exit bad || n != 1 }' "$T/seeded"
ok "starts on several, and stays" $?
has "and the log names the models" "$T/seeded" '^#input_models=[0-9a-f]{32}$'
# shellcheck disable=SC2086
run "models from a pipe" 0 sh -c "cat $T/theta.tsv | gf-replay $pollux --models - $T/conv.tsv"
same "the same bytes" "$T/seeded" "$T/out"
grep -v '^conv' "$T/theta.tsv" | sed 's/^#end rows=.*/#end rows=1/' >"$T/text.tsv"
# shellcheck disable=SC2086
run "no model of the application" 1 gf-replay $pollux --models "$T/text.tsv" "$T/conv.tsv"
is "is named" "$T/err" "gf-replay: job a: no model of application 'conv'"
is "and nothing comes out" "$T/out" ""
run "models for a policy that takes none" 2 gf-replay -p srtf -c 2x4 --models "$T/theta.tsv" $jobs
is "is a wrong command" "$T/err" "gf-replay: of no use here: --models (expected a policy that believes models)
Try 'gf-replay --help'."
