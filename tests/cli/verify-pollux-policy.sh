# SPDX-License-Identifier: MIT
# gf-verify and Pollux: fresh replays pass, and each of many broken logs is caught by the rule that
# should catch it.
. tests/cli/lib.sh
# awk programs and literal dollar signs; options in words
# shellcheck disable=SC2016,SC2086

D=tests/data
run 'a profile store' 0 gf-prof --from pollux $D/profile-mini -o "$T/mini.h5"
# the same with an application that keeps its batch size and never uses more than four GPUs
cp "$T/mini.h5" "$T/fixed.h5"
gf-table convert "$T/mini.h5:/apps" | awk -F '	' -v OFS='	' '
	$1 == "conv" { $8 = 4; $9 = 64 } { print }' >"$T/apps"
run 'another one' 0 gf-table convert "$T/apps" -o "$T/fixed.h5:/apps"
awk 'BEGIN { OFS = "\t"; print "job_id", "submit_s", "app", "gpus", "batch_size"
	for (i = 1; i <= 30; i++) {
		x = (x * 1103515245 + 12345) % 2147483648; t += x % 25
		print "j" i, t, x % 3 ? "conv" : "text", 1 + i % 3, x % 3 ? 64 : 20 } }' >"$T/jobs"

# The logs to break come from the genetic search.
ga=
gf-replay --help >"$T/help"
grep -q -- ' --search=' "$T/help" && ga='--search ga'

# replay NAME PROFILE OPTION…
replay() {
	name=$1 profile=$T/$2.h5
	shift 2
	run "replay: $name" 0 gf-replay --policy pollux --profile "$profile" $ga "$@" "$T/jobs"
	cp "$T/out" "$T/$name"
}

models=
# good NAME PROFILE OPTION…: a replay that passes every rule
good() {
	replay "$@"
	use "$T/$name" "$T/jobs" --profile "$profile" $models
	cp "$T/good.verdicts" "$good.verdicts"
}

# ---- good logs ----

for power in -1 2; do
	for how in '' '--fidelity pollux-osdi21'; do
		run "the default search, $power, $how" 0 gf-replay --policy pollux --cluster 3x3 \
			--interval 30 --restart-delay 3 --p=$power $how --profile "$T/mini.h5" "$T/jobs"
		cp "$T/out" "$T/log"
		use "$T/log" "$T/jobs" --profile "$T/mini.h5"
	done
done
good mean-1 mini --cluster 8x1 --interval 25 --restart-delay 3 --p 1
good worst-off fixed --cluster 2x3,1x2 --interval 30.5 --restart-delay 3 --p=-10 --seed 4
has 'jobs were preempted' "$good" '	preempt	'
has 'some batch sizes are given' "$good.verdicts" '^pollux-batch-limits	ok	'
good default-delay mini --cluster 2x4 --interval 60 --seed 7
good reference fixed --cluster 3x2 --fidelity pollux-osdi21 --interval 20 --interference 0.3
has 'the reference does not look at what is held' "$good.verdicts" \
	'^pollux-fitness	not-applicable	0	0'
mutate 'a finish with another batch size' pollux-batch-limits \
	'once(ev == "finish" && id == "j9") { $6 = $6 + 1 } { put() }'
remeta 'not the search of its fidelity' meta-consistent \
	's/^#pollux_search=ga-reference$/#pollux_search=ga/'

# ---- interference ----

good crowded mini --cluster 3x3 --fidelity pollux-osdi21 --interval 30 --restart-delay 3 --p=3 \
	--allow-interference --interference 0.5
has 'nothing says that it is avoided' "$good.verdicts" '^pollux-interference	not-applicable	0	0'
remeta 'two jobs on several nodes share a node' pollux-interference \
	's/^#pollux_interference=allowed$/#pollux_interference=avoided/'
remeta 'another share lost to interference' epoch-time 's/^#interference=0.5$/#interference=0.49/'
remeta 'no share lost to interference' epoch-time '/^#interference=/d'
remeta 'more than all is lost' meta-consistent 's/^#interference=0.5$/#interference=1.5/'
remeta 'no word on interference' meta-consistent '/^#pollux_interference=/d'

# A rigid job is slowed down as well.
printf 'job_id\tsubmit_s\tapp\tgpus\tbatch_size\n%s\n' 'a	0	conv	3	64' >"$T/two"
printf 'b\t0\tconv\t3\t64\n' >>"$T/two"
run 'fifo with interference' 0 gf-replay --policy fifo --interval 60 --cluster 3x2 --interference 0.25 \
	--profile "$T/mini.h5" "$T/two"
cp "$T/out" "$T/fifo"
run 'a good log of two rigid jobs' 0 gf-verify --jobs "$T/two" --profile "$T/mini.h5" "$T/fifo"
sed 's/^#interference=0.25$/#interference=0.2/' "$T/fifo" >"$T/bad"
run 'another share lost' 1 gf-verify --jobs "$T/two" --profile "$T/mini.h5" "$T/bad"
has 'caught by epoch-time' "$T/out" '^epoch-time	violated	'
sed 's/	epoch	a	/	batch	a	/' "$T/fifo" >"$T/bad"
run 'a batch row where batch sizes are given' 1 gf-verify --jobs "$T/two" --profile "$T/mini.h5" "$T/bad"
has 'caught by log-vocabulary' "$T/out" '^log-vocabulary	violated	'

# ---- batch sizes ----

good pollux mini --cluster 4x2 --interval 20 --restart-delay 3 --p=-10 --seed 4
for rule in interference doubling batch-limits batch-best fitness; do
	has "pollux-$rule was tested" "$good.verdicts" "^pollux-$rule	ok	[1-9]"
done
for rule in batch-split gpus-as-requested work-conserving placement-rule; do
	has "$rule is for others" "$good.verdicts" "^$rule	not-applicable	0	0"
done

# of a job that the decision leaves where it is
only=$(awk -F '	' '$2 == "batch" { row[$1 "	" $3] = 1 } $2 == "move" || $2 == "preempt" {
	delete row[$1 "	" $3] } END { for (r in row) print r }' "$good" | sort | head -n 1)
mutate 'a change of batch size left out' pollux-batch-best \
	'ev == "batch" && t "	" id == "'"$only"'" { next } { put() }'
mutate 'one sample more than is best' pollux-batch-best 'once(ev == "batch") { $6 = $6 - 1 } { put() }'
mutate 'an accumulation pass too many' pollux-batch-best \
	'once(ev == "batch") { $7 = $7 + 1 } { put() }'
mutate 'an epoch that keeps its batch size' pollux-batch-best \
	'id == "j1" && ev == "start" { a = $6; b = $7 }
	id == "j1" && ev == "epoch" && once(1) { $6 = a; $7 = b } { put() }'
mutate 'a move to a batch size that is not the best' pollux-batch-best \
	'once(ev == "move") { $6 = $6 - 1 } { put() }'
mutate 'a change that is none' pollux-batch-best \
	'{ put() } once(ev == "batch") { put() }'
mutate 'a first batch size of its own' pollux-batch-limits \
	'once(ev == "start") { $6 = $6 + 1 } { put() }'
mutate 'more samples than the memory of a GPU takes' pollux-batch-limits \
	'once(ev == "batch") { $6 = 31 } { put() }'
mutate 'a total over the largest batch size' pollux-batch-limits \
	'once(ev == "epoch" && gpus > 1) { $7 = 99 } { put() }'
mutate 'passes that cannot be' pollux-batch-limits 'once(ev == "batch") { $7 = -3 } { put() }'
mutate 'more passes than can be counted' pollux-batch-limits \
	'once(ev == "epoch") { $7 = "9223372036854775807" } { put() }'
mutate 'more samples than can be counted' pollux-batch-limits \
	'once(ev == "epoch") { $6 = "9223372036854775807" } { put() }'
mutate 'a batch size that changes between decisions' decision-instants \
	'once(ev == "batch") { $1 = $1 + 1 } { put() }'
mutate 'a batch size that changes after allocations' log-order \
	'once(ev == "batch") { kept = $0; at = t; next }
	kept != "" && t > at { print kept; n++; kept = "" }
	{ put() } kept != "" && t == at && (ev == "start" || ev == "move") { print kept; n++; kept = "" }'
mutate 'a batch row of a job that waits' state-machine \
	'{ put() } once(ev == "submit") { print t, "batch", id, 1, "0:1", 16, 1, 0, 0, "NA", "NA"; n++ }'
mutate 'a batch row without a batch size' log-vocabulary \
	'once(ev == "batch") { $6 = "NA" } { put() }'
mutate 'a batch row on other nodes' nodes-match-gpus \
	'once(ev == "batch") { $5 = "3:" $4; if (nodes == $5) $5 = "2:" $4 } { put() }'

# ---- allocations ----

mutate 'two GPUs at the start' pollux-doubling \
	'once(ev == "start") { $4 = 2; split(nodes, a, ":"); $5 = a[1] ":2" } { put() }'
mutate 'four GPUs after one' pollux-doubling \
	'once(ev == "move" && gpus == 2) { $4 = 4; $5 = "0:2,1:2" } { put() }'
# at a decision about one job only, which gets more
only=$(awk -F '	' '$2 ~ /^(start|move|preempt|resume)$/ { rows[$1]++; ev[$1] = $2 }
	END { for (t in rows) if (rows[t] == 1 && ev[t] == "move") print t }' "$good" | sort -n | head -n 1)
mutate 'a job that loses all for nothing' pollux-fitness \
	't == "'"$only"'" && ev == "move" { $2 = "preempt"; $4 = 0; $5 = "-"; $6 = $7 = "NA" } { put() }'
mutate 'a move to where it is' keep-placement \
	'{ put() } once(ev == "start" && t > 100) { $2 = "move"; put() }'
mutate 'a GPU held twice' gpu-exclusive \
	'ev == "start" && once(t > 100) { $4 = 3; $5 = "0:2,1:1" } { put() }'
mutate 'a decision between two instants' decision-instants \
	'once(ev == "resume") { $1 = t + 1 } { put() }'
mutate 'work lost at a restart' progress 'once(ev == "resume") { $9 = $9 - 1 } { put() }'
mutate 'an epoch left out' progress 'once(ev == "epoch") { next } { put() }'
mutate 'an epoch late' epoch-time 'once(ev == "epoch") { $1 = $1 + 0.001 } { put() }'
remeta 'restarts for free' restart-cost 's/^#restart_s=3$/#restart_s=0/'

# ---- the table of fitness ----

n=0
for how in '--p=-1' '--p=2 --search both' '--p=-10 --search ga --seed 3' '--p=-1 --fidelity pollux-osdi21' \
	'--p=-1 --allow-interference --interference 0.5'; do
	n=$((n + 1))
	run "the fitness of decisions, $how" 0 gf-replay --policy pollux --cluster 3x3 --interval 30 \
		--restart-delay 3 $how --fitness "$T/fitness-$n" --profile "$T/mini.h5" -o "$T/log-$n" "$T/jobs"
	run 'follows' 0 gf-verify --jobs "$T/jobs" --profile "$T/mini.h5" --fitness "$T/fitness-$n" "$T/log-$n"
	has 'and was tested' "$T/out" '^fitness-follows	ok	[1-9][0-9]	0	'
done
# first instant at which something changed: the first start
at=$(awk -F '	' '$2 == "start" { print $1; exit }' "$T/log-1")
# wrong NAME PROGRAM: the table of the first replay, changed by awk, is caught
wrong() {
	awk -F '	' -v OFS='	' -v at="$at" '/^#/ || $1 == "time_s" { print; next } '"$2" "$T/fitness-1" |
		sed '/^#end/d' >"$T/wrong"
	echo "#end rows=$(grep -c '^[0-9]' "$T/wrong")" >>"$T/wrong"
	run "$1" 1 gf-verify --only-violated --jobs "$T/jobs" --profile "$T/mini.h5" --fitness "$T/wrong" "$T/log-1"
	has 'is caught, by that rule only' "$T/out" '^fitness-follows	violated	'
	[ "$(grep -c '	violated	' "$T/out")" -eq 1 ]
	ok 'no other' $?
}
wrong 'fitness off by one part in 1e5' '$1 == at { $3 *= 1 + 1e-5 } { print }'
wrong 'the fitness of another number of jobs' '$1 == at { $2++ } { print }'
wrong 'a decision that is not in the table' '$1 == at { next } { print }'
run 'the fitness of another replay' 1 gf-verify --jobs "$T/jobs" --profile "$T/mini.h5" --fitness "$T/fitness-3" "$T/log-1"
has 'is caught' "$T/out" '^fitness-follows	violated	'
run 'not a table of fitness' 1 gf-verify --jobs "$T/jobs" --profile "$T/mini.h5" --fitness "$T/jobs" "$T/log-1"
has 'is said' "$T/err" "^gf-verify: $T/jobs:1: no column 'time_s' "
run 'fitness of a log that has none' 1 gf-verify --jobs "$T/two" --profile "$T/mini.h5" --fitness "$T/fitness-1" "$T/fifo"
is 'is said, too' "$T/err" \
	"gf-verify: $T/fitness-1: no decision to check (expected the log of a pollux replay on one GPU type)"

# ---- metadata ----

remeta 'a search that hides from a rule' meta-consistent \
	's/^#pollux_search=.*/#pollux_search=ga-reference/'
remeta 'a mean of no power' meta-consistent 's/^#pollux_p=-10$/#pollux_p=0/'
remeta 'no power at all' meta-consistent '/^#pollux_p=/d'
remeta 'batch sizes that are said to be fixed' meta-consistent \
	's/^#progress_model=adaptive$/#progress_model=profile/'
remeta 'no interval' meta-consistent 's/^#interval_s=20$/#interval_s=0/'
remeta 'another policy' meta-consistent 's/^#policy=pollux$/#policy=srtf/'

# ---- models that are given ----

run 'models of the whole profile' 0 gf-throughput -q --profile "$T/mini.h5" -o "$T/theta"
models="--models $T/theta"
good seeded mini --cluster 4x2 --interval 20 --restart-delay 3 --models "$T/theta"
awk -F '	' '$2 == "start" && $4 > 1 { n++ } END { exit !n }' "$good"
ok 'jobs start on several GPUs' $?
mutate 'not the batch size of the model that was given' pollux-batch-best \
	'once(ev == "start") { $6 = $6 + 1 } { put() }'
mutate 'a batch size that nothing was learned for' pollux-batch-best '{ put() } once(ev == "batch") { put() }'
remeta 'made with other models' inputs-match 's/^\(#input_models\)=.*/\1=00000000000000000000000000000000/'
remeta 'made without models' pollux-doubling '/^#input_models=/d'
mutate 'more GPUs than its batch sizes allow' pollux-doubling \
	'ev == "start" && once(1) { $4 = 99; $5 = "0:99" } { put() }'
run 'a log with models, and none given' 2 gf-verify --jobs "$T/jobs" --profile "$profile" "$good"
has 'says so' "$T/err" "made with models \(give them with --models\)$"
models=

# ---- an application that may not choose ----

good given fixed --cluster 4x2 --interval 20 --restart-delay 3
mutate 'another batch size than the fixed one' pollux-batch-limits \
	'ev == "start" && once($6 == 16 || $6 == 22) { $6 = $6 - 1 } { put() }'
mutate 'a change of a fixed batch size' pollux-batch-limits \
	'{ put() } ev == "start" && t > 20 && once($6 > 10) {
		$1 = t + 20; $2 = "batch"; $6 = $6 - 2; put() }'
mutate 'more GPUs than the application ever uses' pollux-doubling \
	'once(ev == "move" && gpus == 4) { $4 = 5; $5 = "0:2,1:2,2:1" } { put() }'

# ---- run twice ----

cp "$T/out" "$T/once"
judge "$T/bad" >"$T/twice" 2>"$T/err"
same 'the same verdicts twice' "$T/once" "$T/twice"
