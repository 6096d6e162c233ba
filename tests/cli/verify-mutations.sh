# SPDX-License-Identifier: MIT
# The verifier verifies: each of many broken logs is caught by the rule that should catch it, and the
# good logs that they were made from pass. The first two logs were written by hand, the others are
# fresh replays.
. tests/cli/lib.sh
# awk programs and literal dollar signs
# shellcheck disable=SC2016

D=tests/data

# ---- by hand: fifo, woken by events, restart delay 5 ----

use $D/verify-fifo-log.tsv $D/verify-fifo-jobs.tsv

mutate 'a GPU held twice' gpu-exclusive \
	'ev == "start" && id == "d" { $5 = "0:3"; $4 = 3 } { put() }'
mutate 'capacity exceeded for an instant' capacity \
	'ev == "start" && id == "c" { $5 = "0:4,1:4"; $4 = 8 } { put() }'
mutate 'a job started while others hold everything' capacity \
	't == 160 && ev == "start" && id == "c" { next }
	{ put() }
	t == 105 && id == "b" { print 105, "start", "c", 2, "0:2", "NA", "NA", "NA", 0, "NA", "NA"; n++ }'
mutate 'a completion one second early' epoch-time \
	'ev == "finish" && id == "d" { $1 = 184 } { put() }'
mutate 'a completion one second early does less work' work-complete \
	'ev == "finish" && id == "d" { $1 = 184 } { put() }'
mutate 'a completion one nanosecond late' epoch-time \
	'ev == "finish" && id == "c" { $1 = "195.000000001" } { put() }'
mutate 'a start moved by a second' decision-instants \
	'ev == "start" && id == "d" { next } { put() }
	ev == "start" && id == "c" { print 161, "start", "d", 1, "1:1", "NA", "NA", "NA", 0, "NA", "NA"; n++ }'
mutate 'a job dropped' jobs-once 'id == "d" { next } { put() }'
mutate 'a job from nowhere' jobs-once 'id == "d" { $3 = "ghost" } { put() }'
mutate 'a job submitted twice' jobs-once '{ put() } ev == "submit" && id == "d" { put() }'
mutate 'a finish that never comes' all-finish 'ev == "finish" && id == "c" { next } { put() }'
mutate 'rows out of order' log-order \
	'ev == "submit" && id == "d" { kept = $0; next }
	{ put() } t == 105 && ev == "finish" { print kept; n++ }'
mutate 'an unknown event' log-vocabulary 'ev == "start" && id == "d" { $2 = "begin" } { put() }'
mutate 'an allocation that cannot be read' log-vocabulary \
	'ev == "start" && id == "d" { $5 = "1;1" } { put() }'
mutate 'a second start' state-machine '{ put() } ev == "start" && id == "b" { put() }'
mutate 'a resume of a job that never ran' state-machine \
	'ev == "start" && id == "d" { $2 = "resume" } { put() }'
mutate 'another submit time' submit-matches 'ev == "submit" && id == "d" { $1 = 26 } { put() }'
mutate 'another number of GPUs asked for' submit-matches \
	'ev == "submit" && id == "d" { $4 = 2 } { put() }'
mutate 'a rejected job that fits' reject-rule \
	'id == "d" && ev != "submit" { next } { put() }
	id == "d" { print 25, "reject", "d", 0, "-", "NA", "NA", "NA", "NA", "NA", "NA"; n++ }'
mutate 'a job that runs before it is submitted' no-run-before-submit \
	'id == "c" && ev == "start" { next } { put() }
	t == 0 && ev == "start" { print 0, "start", "c", 2, "1:2", "NA", "NA", "NA", 0, "NA", "NA"; n++ }'
mutate 'a job that runs after its finish' no-run-after-finish \
	'{ put() }
	t == 185 { print 185, "resume", "d", 1, "1:1", "NA", "NA", "NA", 20, "NA", "NA"; n++ }'
mutate 'a node that does not exist' node-exists \
	'ev == "start" && id == "d" { $5 = "2:1" } { put() }'
mutate 'a node named twice' node-exists 'ev == "start" && id == "b" { $5 = "0:4,0:4" } { put() }'
mutate 'gpus that are not the sum of nodes' nodes-match-gpus \
	'ev == "start" && id == "a" { $4 = 3 } { put() }'
mutate 'fewer GPUs than asked for' gpus-as-requested \
	'ev == "start" && id == "b" { $4 = 7; $5 = "0:4,1:3" } { put() }'
mutate 'progress that was not made' progress 'ev == "finish" && id == "a" { $9 = 99 } { put() }'
mutate 'GPUs booked after the finish' release-rule \
	'ev == "finish" && id == "b" { $4 = 8; $5 = "0:4,1:4" } { put() }'
mutate 'a preemption under fifo' no-preemption \
	'{ put() }
	t == 25 { print 25, "preempt", "a", 0, "-", "NA", "NA", "NA", 20, "NA", "NA"; n++ }'
mutate 'a job that overtakes the head of the queue' fifo-order \
	'ev == "start" && id == "c" { next } { put() }
	t == 10 && id == "c" { print 10, "start", "c", 2, "1:2", "NA", "NA", "NA", 0, "NA", "NA"; n++ }'
mutate 'a head of the queue that is left waiting' work-conserving \
	't == 0 && ev == "start" { kept = $0; next } { put() }
	t == 10 && id == "c" { sub(/^0/, "10", kept); print kept; n++ }'
mutate 'not the emptiest node' placement-rule 'ev == "start" && id == "d" { $5 = "0:1" } { put() }'
mutate 'shares in another order' placement-rule \
	'ev == "start" && id == "b" { $5 = "1:4,0:4" } { put() }'
mutate 'a cluster row without its GPUs' meta-consistent 'ev == "cluster" { $4 = 9 } { put() }'
remeta 'another restart delay' restart-cost 's/^#restart_s=5$/#restart_s=6/'
remeta 'another cluster' meta-consistent 's/^#cluster=2x4$/#cluster=4x4/'
remeta 'no policy' meta-consistent '/^#policy=/d'
remeta 'another policy' sjf-order 's/^#policy=fifo$/#policy=sjf/'
remeta 'made from another jobs table' inputs-match 's/^#tool=.*/&\
#input_jobs=00000000000000000000000000000000/'
remeta 'an interval that was not kept' decision-instants 's/^#interval_s=0$/#interval_s=7/'

sed '$d' $good >"$T/cut"
run 'a log cut short is no log' 1 gf-verify --jobs "$jobs" "$T/cut"
is 'and gets no verdicts' "$T/out" ''

remeta 'conventions that their name does not stand for' meta-consistent \
	's/^#release=at-once$/#release=interval-end/'
mutate 'a submission with progress' log-vocabulary \
	'ev == "submit" && id == "d" { $9 = 0 } { put() }'
mutate 'submissions of an instant in another order' log-order \
	'ev == "submit" && id == "b" { kept = $0; next }
	{ put() } ev == "submit" && id == "c" { print kept; n++ }'

# ---- by hand: tiresias with an interval of 10, GPUs booked to its end ----

use $D/verify-tiresias-log.tsv $D/verify-tiresias-jobs.tsv

remeta 'a demotion that came too early' tiresias-queues \
	's/^#tiresias_threshold_gpu_s=200$/#tiresias_threshold_gpu_s=201/'
remeta 'a demotion that came too late' tiresias-queues \
	's/^#tiresias_threshold_gpu_s=200$/#tiresias_threshold_gpu_s=160/'
mutate 'a release one interval late' release-rule \
	'ev == "release" && id == "p" { $1 = 170 } { put() }'
mutate 'GPUs that are never released' all-finish 'ev == "release" && id == "p" { next } { put() }'
mutate 'a finish that gives GPUs back at once' release-rule \
	'id == "p" && ev == "release" { next }
	id == "p" && ev == "finish" { $4 = 0; $5 = "-" } { put() }'
mutate 'work lost at a preemption' progress \
	'id == "p" && (ev == "preempt" || ev == "resume") { $9 = 40 } { put() }'
mutate 'a decision between two instants' decision-instants \
	'ev == "start" && id == "p" { $1 = 9 } { put() }'
mutate 'a job that should have been resumed' work-conserving \
	'ev == "resume" { $1 = 120; kept = $0; next } id == "p" && t >= 160 { $1 = 170 }
	kept != "" && t > 110 { print kept; n++; kept = "" } { put() }'
mutate 'a submission after the decision of its instant' log-order \
	'ev == "submit" && id == "q" { next } { put() }
	ev == "start" && id == "q" { print 60, "submit", "q", 2, "-", "NA", "NA", "NA", "NA", "NA", "NA"; n++ }'

# ---- fresh replays without a profile ----

fresh sjf.log --policy sjf --cluster 2x4 --restart-delay 3 $D/jobs-small.tsv
use "$T/sjf.log" $D/jobs-small.tsv
mutate 'sjf: two waiting jobs change places' sjf-order \
	'ev != "submit" && id == "j8" { $3 = "j9" } ev != "submit" && id == "j9" { $3 = "j8" }
	{ put() }'
remeta 'sjf: not the order of submission' fifo-order 's/^#policy=sjf$/#policy=fifo/'

fresh srtf.log --policy srtf --cluster 2x4 --restart-delay 3 $D/jobs-small.tsv
use "$T/srtf.log" $D/jobs-small.tsv
mutate 'srtf: a preemption left out' srtf-order \
	'!gone && ev == "preempt" { gone = id; next }
	gone == id && ev == "resume" && !back { back = 1; next } { put() }'
mutate 'srtf: work lost at a restart' progress 'once(ev == "resume") { $9 = $9 - 1 } { put() }'
mutate 'srtf: more work than the job has' progress \
	'once(ev == "preempt") { $9 = $9 + 0.5 } { put() }'

fresh tiresias.log --policy tiresias --tiresias-threshold 150 --cluster 2x4 --interval 20 \
	$D/jobs-small.tsv
use "$T/tiresias.log" $D/jobs-small.tsv
remeta 'tiresias: another threshold' tiresias-queues 's/^\(#tiresias_queues\)=.*/\1=400/'
mutate 'tiresias: an event moved by a second' decision-instants \
	'once(ev == "start" && t > 20) { $1 = t + 1 } { put() }'

# ---- fresh replays with a profile ----

run 'a profile store' 0 gf-prof --from pollux $D/profile-mini -o "$T/mini.h5"
P=$D/verify-profile-jobs.tsv
fresh profile.log --policy tiresias --tiresias-threshold 600 --cluster 2x4 \
	--fidelity pollux-osdi21 --profile "$T/mini.h5" $P
use "$T/profile.log" $P --profile "$T/mini.h5"
mutate 'a batch split that is not the model'\''s' batch-split \
	'once(ev == "start") { $6 = $6 + 1 } { put() }'
mutate 'an epoch one second late' epoch-time 'once(ev == "epoch") { $1 = $1 + 1 } { put() }'
mutate 'an epoch one second early' epoch-time 'once(ev == "epoch") { $1 = $1 - 1 } { put() }'
mutate 'an epoch left out' progress 'once(ev == "epoch") { next } { put() }'
mutate 'an epoch counted twice' progress '{ put() } once(ev == "epoch") { $8 = $8 + 1; put() }'
mutate 'a completion one second early' epoch-time 'once(ev == "finish") { $1 = $1 - 1 } { put() }'
mutate 'a completion an epoch early' work-complete \
	'once(ev == "epoch") { $2 = "finish"; gone = id; put(); next }
	gone == id && (ev == "epoch" || ev == "finish") { next }
	{ put() }'
mutate 'epochs on GPUs that the job does not hold' nodes-match-gpus \
	'once(ev == "epoch") { $5 = ($5 == "0:1" ? "1:1" : "0:1"); $4 = 1 } { put() }'
mutate 'another batch size at the submission' submit-matches \
	'once(ev == "submit") { $11 = $11 + 8 } { put() }'
mutate 'another application' submit-matches \
	'once(ev == "submit") { $10 = ($10 == "conv" ? "text" : "conv") } { put() }'
mutate 'a batch split that changes at the finish' batch-split \
	'once(ev == "finish") { $7 = $7 + 1 } { put() }'
mutate 'progress a little off' progress 'once(ev == "epoch") { $9 = $9 * 1.000001 } { put() }'
remeta 'restarts for free' restart-cost 's/^#restart_s=30$/#restart_s=0/'
remeta 'another profile' inputs-match \
	's/^\(#input_profile\)=.*/\1=00000000000000000000000000000000/'
remeta 'exact epochs' epoch-time 's/^#epoch_quantum_s=1$/#epoch_quantum_s=0/'

fresh optimus.log --policy optimus --cluster 2x4 --fidelity pollux-osdi21 --profile "$T/mini.h5" $P
use "$T/optimus.log" $P --profile "$T/mini.h5"
mutate 'optimus: a GPU too few' optimus-marginal-gain \
	'once((ev == "start" || ev == "move") && $5 ~ /^[0-9]*:[2-4]$/) {
		split($5, a, ":"); $4 = $4 - 1; $5 = a[1] ":" a[2] - 1 } { put() }'
mutate 'optimus: a move that is left out' optimus-marginal-gain \
	'once(ev == "move") { next } { put() }'
mutate 'optimus: a move for nothing' keep-placement \
	'{ put() } once(ev == "epoch" && t % 60 == 0 || ev == "start" && t > 300) { $2 = "move"; put() }'
remeta 'optimus: predictions on other nodes' optimus-marginal-gain \
	's/^\(#optimus_node_gpus\)=4$/\1=1/'
mutate 'optimus: another node' placement-rule \
	'once(ev == "start" && $5 ~ /^0:[1-4]$/) { sub(/^0/, "1", $5) } { put() }'

# ---- a limit of jobs in the system ----

printf 'job_id\tsubmit_s\tgpus\tduration_s\na\t0\t1\t30\nb\t1\t1\t10\nd\t2\t1\t7\ne\t2\t1\t7\nf\t50\t1\t1\n' >"$T/many"
fresh limited.log --policy fifo --cluster 1x4 --max-active 2 "$T/many"
use "$T/limited.log" "$T/many"
mutate 'a job let into a full system' max-active \
	'ev == "finish" && id == "b" { kept = $0; next } { put() } ev == "submit" && id == "d" { print kept; n++ }'
mutate 'a job let in later than it could be' max-active 'ev == "submit" && id == "d" { $1 = 11.5 } { put() }'
mutate 'a job let in before another' max-active 'id == "d" || id == "e" { $3 = id == "d" ? "e" : "d" } { put() }'
mutate 'a job that came before its time' submit-matches 'id == "f" { $1 = t - 9 } { put() }'
remeta 'a smaller limit' max-active 's/^\(#max_active\)=2$/\1=1/'
remeta 'no limit' submit-matches '/^#max_active=/d'
remeta 'a limit of nobody' meta-consistent 's/^\(#max_active\)=2$/\1=0/'

# ---- an elastic cluster ----

fresh elastic.log --policy fifo --cluster 8x4 --autoscale demand --node-start 20 --node-idle 5 \
	--restart-delay 3 --cold-restart-delay 7 --min-nodes 1 $D/jobs-small.tsv
use "$T/elastic.log" $D/jobs-small.tsv
mutate 'a node ready too soon' node-life 'once(ev == "ready") { $1 = $1 - 1 } { put() }'
mutate 'a node that is never ready' node-life 'once(ev == "ready" && nodes == "4:4") { next } { put() }'
mutate 'a node ready without being rented' node-life 'once(ev == "rent" && t > 0) { next } { put() }'
mutate 'a job on a node that is not up' gpu-exclusive \
	'once(ev == "start" && nodes == "4:4") { $5 = "7:4" } { put() }'
mutate 'a node returned under a job' node-life \
	'{ put() } once(ev == "start" && nodes == "4:4") {
		print $1, "return", "NA", 4, "4:4", "NA", "NA", "NA", "NA", "NA", "NA", "NA"; n++ }'
mutate 'a node returned before its time' node-life 'once(ev == "return") { $1 = $1 - 0.5 } { put() }'
mutate 'a node kept for too long' node-number 'ev == "return" { $1 = $1 + 1 } { put() }'
mutate 'an empty node that is never returned' node-number 'once(ev == "return") { next } { put() }'
mutate 'a node too many' node-number \
	'{ put() } once(ev == "rent" && t > 0) { sub(/^[0-9]+/, "7", $5); put() }'
mutate 'a node too few' node-number 'ev == "rent" && nodes == "5:4" { next }
	ev == "ready" && nodes == "5:4" { next } { put() }'
mutate 'not the lowest node' node-choice 'nodes == "5:4" && (ev == "rent" || ev == "ready") { $5 = "7:4" } { put() }'
mutate 'not the highest empty node' node-choice \
	'ev == "return" && nodes == "2:4" { $5 = "1:4" } ev == "return" && nodes == "1:4" && $5 == nodes { $5 = "2:4" } { put() }'
mutate 'GPUs of a node that it has not' node-life 'once(ev == "rent") { $4 = 3 } { put() }'
mutate 'warm where it is cold' restart-cost 'once(ev == "start" && $12 == 7) { $12 = 3 } { put() }'
mutate 'a delay that is not said' restart-cost 'once(ev == "start") { $12 = "NA" } { put() }'
mutate 'a delay of no allocation' log-vocabulary 'once(ev == "finish") { $12 = 3 } { put() }'
mutate 'all nodes from the start' meta-consistent 'ev == "cluster" { $4 = 32 } { put() }'
remeta 'another start-up delay' node-life 's/^#node_start_s=20$/#node_start_s=19/'
remeta 'another grace' node-number 's/^#node_idle_s=5$/#node_idle_s=4/'
remeta 'more nodes at least' node-number 's/^#nodes_min=1$/#nodes_min=2/'
remeta 'cold as warm' restart-cost '/^#cold_restart_s/d'
remeta 'a rule that is none' meta-consistent 's/^#autoscale=demand$/#autoscale=whim/'
remeta 'a fixed cluster with nodes that come' node-life '/^#autoscale/d'
for m in gpu_seconds_rented gpu_seconds_starting gpu_seconds_idle gpu_seconds_rescaling budget_gpus \
	budget_in_window_gpus budget_makespan_gpus rented_gpus rented_in_window_gpus rented_makespan_gpus; do
	gf-metrics "$T/elastic.log" | awk -F '	' -v OFS='	' -v m=$m '$1 == m { $2 = $2 * 1.001 } { print }' \
		>"$T/metrics.bad"
	run "a wrong $m: exit status 1" 1 gf-verify --jobs $D/jobs-small.tsv --metrics "$T/metrics.bad" "$T/elastic.log"
	has "a wrong $m: caught" "$T/out" "^metrics-follow	violated	.*$m is "
done

# ---- boa: widths of a plan ----

BT="--speedups $D/replay-boa-speedups.tsv --classes $D/replay-boa-classes.tsv"
# shellcheck disable=SC2086
fresh boa.log --policy boa --cluster 20x4 --autoscale plan --node-start 9 --node-idle 4 $BT \
	--plan $D/replay-boa-plan.tsv $D/replay-boa-jobs.tsv
# shellcheck disable=SC2086
use "$T/boa.log" $D/replay-boa-jobs.tsv $BT --plan $D/replay-boa-plan.tsv
mutate 'boa: a GPU too few' boa-width \
	'once(ev == "start" && nodes ~ /^[0-9]+:4$/) { $4 = 3; sub(/:4$/, ":3", $5) } { put() }'
mutate 'boa: the plan of another job' boa-width \
	'id == "j2" && ev == "start" { $4 = 4; $5 = "1:4" } { put() }'
mutate 'boa: a change of width that is left out' boa-no-queue 'once(ev == "move") { next } { put() }'
mutate 'boa: a wider job that keeps too much' boa-width 'ev == "move" && id == "j5" { n5++ }
	ev == "move" && id == "j5" && n5 == 2 { next } { put() }'
mutate 'boa: a preemption' boa-width '{ put() } once(ev == "start" && id == "j3") {
	$2 = "preempt"; $4 = 0; $5 = "-"; $12 = "NA"; put(); next }'
mutate 'boa: two jobs served out of turn' boa-no-queue \
	'ev == "start" && id == "j10" { next } { put() }'
mutate 'boa: spread where there is a node with room' boa-placement \
	'once(ev == "move" && nodes == "0:4") { $5 = "4:1,0:3" } { put() }'
mutate 'boa: not the node that condenses' boa-placement 'id == "j7" && ev == "start" { $5 = "0:2" } { put() }'
mutate 'boa: a node too many' node-number '{ put() } once(ev == "rent" && t > 60) { sub(/^[0-9]+/, "19", $5); put() }'
mutate 'boa: a node too few' node-number 'ev == "rent" && nodes == "7:4" { next } ev == "ready" && nodes == "7:4" { next } { put() }'
mutate 'boa: an epoch early' epoch-time 'once(ev == "epoch") { $1 = $1 - 0.001 } { put() }'
mutate 'boa: a job that does less than its work' conservation \
	'id == "j1" && ev == "epoch" { next } id == "j1" && ev == "finish" { $1 = $1 - 1 } { put() }'
mutate 'boa: work for nothing' progress 'once(ev == "epoch") { $9 = $9 + 0.001 } { put() }'
mutate 'boa: a restart that costs less' restart-cost 'once(ev == "move") { $12 = 1 } { put() }'
mutate 'boa: a batch size' log-vocabulary 'once(ev == "start") { $6 = 8; $7 = 0 } { put() }'
remeta 'boa: the first start is free' meta-consistent 's/^#restart_s=.*/&\n#first_start=free/'
remeta 'boa: other speedups' inputs-match 's/^\(#input_speedups\)=.*/\1=00000000000000000000000000000000/'
remeta 'boa: other plans' inputs-match 's/^\(#input_plan\)=.*/\1=00000000000000000000000000000000/'
remeta 'boa: another progress model' meta-consistent 's/^#progress_model=speedup$/#progress_model=profile/'
# shellcheck disable=SC2086
run 'boa: without plans' 2 gf-verify --jobs $D/replay-boa-jobs.tsv $BT "$T/boa.log"
has 'boa: without plans: what is missing' "$T/err" 'made with plans \(give them with --plan\)'
run 'boa: without speedups' 2 gf-verify --jobs $D/replay-boa-jobs.tsv --plan $D/replay-boa-plan.tsv "$T/boa.log"
has 'boa: without speedups: what is missing' "$T/err" 'made with speedups \(give them with --speedups\)'

# ---- metrics ----

run 'metrics' 0 gf-metrics "$T/profile.log"
cp "$T/out" "$T/metrics"
run 'per job' 0 gf-metrics --per-job "$T/profile.log"
cp "$T/out" "$T/per-job"
run 'good metrics' 0 gf-verify --jobs $P --profile "$T/mini.h5" \
	--metrics "$T/metrics" --per-job "$T/per-job" "$T/profile.log"
has 'the metrics follow' "$T/out" '^metrics-follow	ok	33'
has 'the per-job metrics follow' "$T/out" '^per-job-follows	ok	14'
for m in jobs jct_mean_s jct_p99_s queue_mean_s makespan_s gpu_seconds_held utilisation restarts; do
	awk -F '	' -v OFS='	' -v m=$m '$1 == m { $2 = $2 * 1.001 } { print }' "$T/metrics" \
		>"$T/metrics.bad"
	run "a wrong $m: exit status 1" 1 gf-verify --jobs $P --profile "$T/mini.h5" \
		--metrics "$T/metrics.bad" "$T/profile.log"
	has "a wrong $m: caught" "$T/out" "^metrics-follow	violated	.*$m is "
done
awk -F '	' -v OFS='	' '/^conv-1	/ { $4 = $4 + 1 } { print }' "$T/per-job" >"$T/per-job.bad"
run 'a wrong end of a job: exit status 1' 1 gf-verify --jobs $P --profile "$T/mini.h5" \
	--per-job "$T/per-job.bad" "$T/profile.log"
has 'a wrong end of a job: caught' "$T/out" \
	"^per-job-follows	violated	.*job 'conv-1': end_s"
sed -e '/^conv-1	/d' -e 's/^#end rows=14/#end rows=13/' "$T/per-job" >"$T/per-job.bad"
run 'a job missing in the per-job table: exit status 1' 1 gf-verify --jobs $P \
	--profile "$T/mini.h5" --per-job "$T/per-job.bad" "$T/profile.log"
has 'a job missing in the per-job table: caught' "$T/out" \
	"^per-job-follows	violated	.*not in the per-job"
