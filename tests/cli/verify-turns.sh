# SPDX-License-Identifier: MIT
# Whose turn it is under srtf and tiresias where virtual clusters, other placements or the conventions of Lucid's
# simulator are at work: good logs pass, and what is wrong with the others only this rule sees.
. tests/cli/lib.sh
# awk programs and literal dollar signs
# shellcheck disable=SC2016
V='-c va:2x8,vb:1x8 --virtual-clusters'

# good NAME RULE OPTION…: a fresh log of $jobs, which the rule looked at and passed
good() {
	good=$T/good name=$1 rule=$2
	shift 2
	run "$name" 0 gf-replay -q -o "$good" "$@" "$jobs"
	run "$name: a good log" 0 judge "$good"
	has "$name: $rule applies" "$T/out" "^$rule	ok	[1-9]"
}

# only NAME: of the log before, no other rule is violated
only() {
	awk -F '\t' '$2 == "violated" { print $1 }' "$T/out" >"$T/violated"
	is "$1: nothing else" "$T/violated" "$rule"
}

# ---- many jobs of two virtual clusters ----
gf-synth jobs --jobs 200 --hours 8 --max-gpus 8 --no-meta | awk -F '\t' -v OFS='\t' '
	NR == 1 { print $0, "group"; next } { print $0, NR % 3 ? "va" : "vb" }' >"$T/two.tsv"
jobs=$T/two.tsv
for options in '' '--placement consolidate' '--placement consolidate-first' '--placement first-fit' '--placement random' \
	'--fidelity lucid-asplos23' '--interval 60' '--restart-delay 62 --free-start --placement consolidate'; do
	# shellcheck disable=SC2086
	good "srtf $options" srtf-order -p srtf $V $options
	case $options in *lucid*) ;; *) options="$options --tiresias-threshold 3600" ;; esac
	# shellcheck disable=SC2086
	good "tiresias $options" tiresias-queues -p tiresias $V $options
done
# shellcheck disable=SC2086
good 'the smallest first' srtf-order -p srtf $V
# shellcheck disable=SC2086
gf-replay -q -p smallest $V "$jobs" | sed 's/^#policy=smallest$/#policy=srtf/' >"$T/bad"
caught 'the smallest first' srtf-order
only 'the smallest first'
# shellcheck disable=SC2086
good 'taken for that of another order' tiresias-queues -p tiresias $V --tiresias-threshold 3600
remeta 'a demotion that came too early' tiresias-queues 's/^#tiresias_queues=3600$/#tiresias_queues=7200/'
remeta 'a demotion that came too late' tiresias-queues 's/^#tiresias_queues=3600$/#tiresias_queues=1800/'
# shellcheck disable=SC2086
good 'with intervals' tiresias-queues -p tiresias $V --fidelity lucid-asplos23
remeta 'a demotion that came too late, with intervals' tiresias-queues 's/^#tiresias_queues=18000$/#tiresias_queues=9000/'
only 'a demotion that came too late, with intervals'
# shellcheck disable=SC2086
good 'room' srtf-order -p srtf $V --placement consolidate
remeta 'a job that waits for whole nodes where any GPUs would do' srtf-order 's/^#placement=consolidate$/#placement=first-fit/'
has 'a job that waits for whole nodes' "$T/out" 'it is its turn, with .* left, and there was room'

# ---- each by hand ----
tr ' ' '\t' >"$T/few.tsv" <<X
job_id submit_s gpus duration_s group
a 0 8 100 va
b 50 8 50 va
c 60 8 500 vb
d 70 4 20 vb
e 75 8 400 vb
f 80 12 90 va
g 90 4 30 va
X
jobs=$T/few.tsv
# shellcheck disable=SC2086
good 'a few jobs' srtf-order -p srtf $V --placement consolidate
mutate 'a job that should have been preempted' srtf-order '
	t == 70 && (ev == "preempt" || ev == "start") { next }
	id == "c" && ev == "resume" { next }
	id == "d" && ev == "finish" { next }
	t == 90 && id == "e" { next }
	id == "c" && ev == "finish" { next }
	id == "e" && ev == "finish" { next }
	{ put() }
	t == 190 { print 560, "finish", "c", 0, "-", "NA", "NA", "NA", 500, "NA", "NA"
		print 560, "start", "d", 4, "2:4", "NA", "NA", "NA", 0, "NA", "NA"
		print 580, "finish", "d", 0, "-", "NA", "NA", "NA", 20, "NA", "NA"
		print 580, "start", "e", 8, "2:8", "NA", "NA", "NA", 0, "NA", "NA"
		print 980, "finish", "e", 0, "-", "NA", "NA", "NA", 400, "NA", "NA"; n += 5 }'
only 'a job that should have been preempted'
has 'a job that should have been preempted: by that of its own virtual cluster' "$T/out" "70 s, job '[cd]': "
# g waits for nothing; f is behind it and needs its node
mutate 'a job that is passed over' srtf-order '
	id == "g" && (ev == "start" || ev == "finish") { next }
	{ put() }
	id == "f" && ev == "finish" { print 190, "start", "g", 4, "0:4", "NA", "NA", "NA", 0, "NA", "NA"
		print 220, "finish", "g", 0, "-", "NA", "NA", "NA", 30, "NA", "NA"; n += 2 }'
has 'a job that is passed over: by name' "$T/out" "100 s, job 'g': does not run; it is its turn"

# one that waits comes before one that runs and has as much left, in the simulator of Lucid only
tr ' ' '\t' >"$T/equal.tsv" <<X
job_id submit_s gpus duration_s group
a 0 8 100 vb
b 50 8 50 vb
X
jobs=$T/equal.tsv
# shellcheck disable=SC2086
good 'equal, in the simulator' srtf-order -p srtf $V --fidelity lucid-asplos23
has 'equal, in the simulator: who waits goes first' "$good" '^50	preempt	a'
mutate 'equal, in the simulator, and the other way round' srtf-order '
	t < 50 || ev == "submit" { put() }
	t == 50 && ev == "submit" {
		print 101, "finish", "a", 0, "-", "NA", "NA", "NA", 100, "NA", "NA"
		print 101, "start", "b", 8, "2:8", "NA", "NA", "NA", 0, "NA", "NA"
		print 152, "finish", "b", 0, "-", "NA", "NA", "NA", 50, "NA", "NA"; n += 3 }'
only 'equal, in the simulator, and the other way round'
# shellcheck disable=SC2086
good 'equal, by our own conventions' srtf-order -p srtf $V
hasnt 'equal, by our own conventions: the first one stays' "$good" 'preempt'

# at the limit of its queue a job leaves it, above it in the simulator of Lucid: a has 5 x 3 600 = 18 000 there
tr ' ' '\t' >"$T/limit.tsv" <<X
job_id submit_s gpus duration_s group
a 0 5 9000 vb
b 1200 8 600 vb
X
jobs=$T/limit.tsv
# shellcheck disable=SC2086
good 'above the limit' tiresias-queues -p tiresias $V --fidelity lucid-asplos23
has 'above the limit: at the tick after it' "$good" '^3660	preempt	a'
# shellcheck disable=SC2086
good 'at the limit' tiresias-queues -p tiresias $V --tiresias-threshold 18000
has 'at the limit: at once' "$good" '^3600	preempt	a'
