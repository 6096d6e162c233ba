#!/bin/sh
# SPDX-License-Identifier: MIT
# gf-replay --plan-times: jobs that run by execution plans, and policy rubick.
. tests/cli/lib.sh

cat >"$T/times.tsv" <<'END'
app	exec_plan	placement	iter_time_s
small	ga	1	8
small	ga	2	5
small	zero-dp	2	4.5
small	zero-dp	4	2.5
small	zero-offload	1	10
small	zero-dp	4	99
wide	241	44	3
wide	441	4444	2
wide	zero-offload	4	20
END
printf 'job_id\tsubmit_s\tapp\tgpus\twork\texec_plan\tis_sla\tduration_s\n' >"$T/head"
jobs() {	# ROW…: $T/jobs.tsv
	{ cat "$T/head"; printf '%b\n' "$@"; } >"$T/jobs.tsv"
}
# events LOG: time, event, job, nodes, plan, progress
events() {
	awk -F '\t' '/^#/ { next } !n++ { for (i = 1; i <= NF; i++) c[$i] = i; next }
		$2 != "cluster" && $2 != "submit" { print $1, $2, $3, $5, $c["exec_plan"], $c["progress"] }' "$1"
}

# A plan of its own, on the GPUs asked for; what was not measured lies between, or is the plan's own elsewhere.
jobs 'a\t0\tsmall\t2\t10\tga\t0\tNA' 'b\t0\tsmall\t4\t4\tzero-dp\t0\tNA' 'c\t0\tsmall\t3\t4\tzero-dp\t0\tNA' \
	'd\t0\twide\t8\t1\t241\t0\tNA' 'e\t0\tsmall\t1\tNA\tga\tNA\t23'
run "fifo" 0 gf-replay -c 4x8 --plan-times "$T/times.tsv" --restart-delay 10 "$T/jobs.tsv"
events "$T/out" >"$T/events"
# c: (4.5 + 2.5) / 2 s on 3 GPUs; d: on one node what was measured of its plan on two; e: 23 s are 3 iterations of 8 s
is "each by its own plan" "$T/events" "0 start a 0:2 ga 0
0 start b 0:4 zero-dp 0
0 start c 1:3 zero-dp 0
0 start d 2:8 241 0
0 start e 0:1 ga 0
13 finish d - NA 1
20 finish b - NA 4
24 finish c - NA 4
34 finish e - NA 3
60 finish a - NA 10"
has "the log says how" "$T/out" '^#progress_model=plans$'
cp "$T/out" "$T/fifo.log"
agrees() {	# NAME LOG OPTION…: no rule is violated
	name=$1 log=$2
	shift 2
	run "$name: the verifier agrees" 0 gf-verify --jobs "$T/jobs.tsv" --plan-times "$T/times.tsv" "$@" "$log"
	hasnt "$name: in all" "$T/out" '	violated	'
}
# breaks NAME RULE LOG AWK: what the verifier says of a log that was changed (the first row that matches)
breaks() {
	awk -F '\t' -v OFS='\t' "/^#/ { print; next } !h++ { for (i = 1; i <= NF; i++) c[\$i] = i } $4 { print }" "$3" >"$T/broken.log"
	cmp -s "$3" "$T/broken.log" && ok "$1: the log is another one" 1
	# shellcheck disable=SC2086
	run "$1: is a broken log" 1 gf-verify --jobs "$T/jobs.tsv" --plan-times "$T/times.tsv" ${followed-} "$T/broken.log"
	has "$1: is caught" "$T/out" "^$2	violated"
}
agrees fifo "$T/fifo.log"
run "without the times" 2 gf-verify --jobs "$T/jobs.tsv" "$T/fifo.log"
has "the verifier asks for them" "$T/err" "made with times of plans \(give them with --plan-times\)"
breaks "an iteration less" progress "$T/fifo.log" '$2 == "finish" && $3 == "b" { $c["progress"] = 3 }'
breaks "an end too early" epoch-time "$T/fifo.log" '$2 == "finish" && $3 == "b" { $1 = 19 }'
breaks "another plan" epoch-time "$T/fifo.log" '$2 == "start" && $3 == "a" { $c["exec_plan"] = "zero-dp" }'
breaks "another placement" progress "$T/fifo.log" '$2 == "start" && $3 == "c" { $c["nodes"] = "1:2,2:1" }'
breaks "no delay" restart-cost "$T/fifo.log" '/^#restart_s/ { next } $2 == "finish" && $3 == "b" { $1 = 10 }'
breaks "a plan of a job that holds nothing" log-vocabulary "$T/fifo.log" '$2 == "finish" && $3 == "b" { $c["exec_plan"] = "ga" }'

run "shortest first" 0 gf-replay -p sjf -c 1x8 --plan-times "$T/times.tsv" "$T/jobs.tsv"
events "$T/out" | awk '$2 == "start" { printf "%s%s", n++ ? " " : "", $3 } END { print "" }' >"$T/order"
is "by iterations and their times" "$T/order" "d b c e a"

# follow: a change of plan keeps the share of an iteration; with the fidelity the seconds, and one more is run
jobs 'a\t0\tsmall\t2\t3\tga\t0\tNA'
printf 'time_s\tjob_id\tnodes\texec_plan\n0\ta\t0:2\tga\n12\ta\t0:4\tzero-dp\n' >"$T/allocations.tsv"
run "a change of plan" 0 gf-replay -p follow --allocations "$T/allocations.tsv" -c 1x8 --plan-times "$T/times.tsv" \
	--restart-delay 1 "$T/jobs.tsv"
cp "$T/out" "$T/log.tsv"
events "$T/log.tsv" >"$T/events"
# 11 s of 5 s are 2.2; the other 0.8 take 2 s
is "the share of an iteration is kept" "$T/events" "0 start a 0:2 ga 0
12 move a 0:4 zero-dp 2.2000000000000002
15 finish a - NA 3"
run "the log is followed" 0 gf-replay -p follow --allocations "$T/log.tsv" -c 1x8 --plan-times "$T/times.tsv" --restart-delay 1 \
	"$T/jobs.tsv"
events "$T/out" >"$T/again"
same "and comes out again, with its plans" "$T/events" "$T/again"
printf 'time_s\tjob_id\tper_node\texec_plan\n60\ta\t2\tga\n120\ta\t4\tzero-dp\n' >"$T/allocations.tsv"
run "with the fidelity" 0 gf-replay -p follow --allocations "$T/allocations.tsv" -c 1x8 --plan-times "$T/times.tsv" \
	--restart-delay 1 --fidelity rubick-mlsys25 "$T/jobs.tsv"
events "$T/out" >"$T/events"
is "3 iterations are 4" "$T/events" "60 start a 0:2 ga 0
81 finish a 0:2 ga 4
120 release a - NA 4"
jobs 'a\t0\tsmall\t2\t13\tga\t0\tNA'
run "with the fidelity, a longer job" 0 gf-replay -p follow --allocations "$T/allocations.tsv" -c 1x8 \
	--plan-times "$T/times.tsv" --restart-delay 1 --fidelity rubick-mlsys25 "$T/jobs.tsv"
events "$T/out" >"$T/events"
# 59 s of 5 s: 11, and 4 s, which are more than one of 2.5 s: 14 - 11 iterations take 7.5 - 4 s
is "seconds of an iteration are kept" "$T/events" "60 start a 0:2 ga 0
120 move a 0:4 zero-dp 12.6
124.5 finish a 0:4 zero-dp 14
180 release a - NA 14"

# A job that loses its GPUs runs on, and a move to other nodes is free, where the fidelity says so.
jobs 'a\t0\tsmall\t2\t60\tga\t0\tNA' 'b\t0\tsmall\t4\t10\tzero-dp\t0\tNA'
printf 'time_s\tjob_id\tnodes\n60\ta\t0:2\n120\ta\t1:2\n180\ta\t-\n180\tb\t1:4\n240\ta\t0:2\n' >"$T/allocations.tsv"
run "ghosts" 0 gf-replay -p follow --allocations "$T/allocations.tsv" -c 2x4 --plan-times "$T/times.tsv" --restart-delay 70 \
	--fidelity rubick-mlsys25 "$T/jobs.tsv"
cp "$T/out" "$T/ghost.log"
awk -F '\t' '/^#/ { next } !n++ { for (i = 1; i <= NF; i++) c[$i] = i; next } $2 ~ /^(start|shift|lose|finish|move)$/ {
	print $1, $2, $3, $5, $c["delay_s"] }' "$T/out" >"$T/events"
is "they run on, and shift" "$T/events" "60 start a 0:2 70
120 shift a 1:2 10
180 lose a - NA
180 start b 1:4 70
240 shift a 0:2 0
277.5 finish b 1:4 NA
435 finish a 0:2 NA"
agrees ghosts "$T/ghost.log" --allocations "$T/allocations.tsv"
followed="--allocations $T/allocations.tsv"
breaks "a shift that is a restart" restart-cost "$T/ghost.log" '$2 == "shift" && $1 == 120 { $c["delay_s"] = 70 }'
breaks "a job that stops without GPUs" progress "$T/ghost.log" '$2 == "shift" && $1 == 240 { $c["progress"] = 10 }'
followed=
run "their metrics" 0 gf-metrics --no-meta "$T/ghost.log"
has "no restart" "$T/out" '^restarts	0	'
# a: 60 s twice, then from 240 to 480, b: from 180 to 300
has "GPU time is what they held" "$T/out" "^gpu_seconds_held	$((2 * 120 + 2 * 240 + 4 * 120))	"

# ---- rubick ----

rubick() {
	run "$1" 0 gf-replay -p rubick -i 60 --restart-delay 10 --plan-times "$T/times.tsv" -c "$2" -o "$T/log.tsv" "$T/jobs.tsv"
	events "$T/log.tsv" | awk '$2 != "finish" { print $1, $2, $3, $4, $5 }' >"$T/events"
	agrees "$1" "$T/log.tsv"
}
jobs 'a\t0\tsmall\t1\t100\tga\t0\tNA' 'b\t100\tsmall\t1\t100\tga\t0\tNA'
rubick "a job gets what is of use to it" 1x4
is "and gives up what another one needs more" "$T/events" "60 start a 0:4 zero-dp
120 move a 0:2 zero-dp
120 start b 0:2 zero-dp
540 move b 0:4 zero-dp"
breaks "a slower plan" rubick-plan "$T/log.tsv" '$2 == "start" && $3 == "b" { $c["exec_plan"] = "ga" }'
breaks "a plan that was not measured there" rubick-plan "$T/log.tsv" '$2 == "start" && $3 == "b" { $c["exec_plan"] = "241" }'
breaks "no plan" rubick-plan "$T/log.tsv" '$2 == "start" && $3 == "b" { $c["exec_plan"] = "NA" }'
breaks "several nodes" rubick-plan "$T/log.tsv" '$2 == "start" && $3 == "b" { $c["nodes"] = "0:1,1:1" }'
jobs 'a\t0\twide\t8\t10\t241\t0\tNA' 'b\t0\tsmall\t1\t10\tga\t0\tNA'
rubick "a wide job" 2x4
is "takes a node, and both when they are free" "$T/events" "60 start a 1:4 zero-offload
60 start b 0:4 zero-dp
120 move a 0:4,1:4 241"
jobs 'a\t0\tsmall\t4\t1000\tga\t0\tNA' 'b\t100\tsmall\t4\t10\tzero-dp\t1\tNA'
rubick "a guarantee" 1x4
is "has room made" "$T/events" "60 start a 0:4 zero-dp
120 preempt a - NA
120 start b 0:4 zero-dp
180 resume a 0:4 zero-dp"
breaks "less than was guaranteed" rubick-guarantee "$T/log.tsv" '$2 == "start" && $3 == "b" { $c["nodes"] = "0:2"; $c["gpus"] = 2 }'
run "twice the same" 0 sh -c "gf-replay -p rubick -i 60 --plan-times $T/times.tsv -c 2x4 $T/jobs.tsv >$T/a &&
	gf-replay -p rubick -i 60 --plan-times $T/times.tsv -c 2x4 $T/jobs.tsv >$T/b"
same "the same bytes" "$T/a" "$T/b"

# ---- what is refused ----

refused() {	# NAME MESSAGE ROW: of the jobs table
	jobs "$3"
	run "$1" 1 gf-replay -c 4x8 --plan-times "$T/times.tsv" "$T/jobs.tsv"
	is "$1: says so" "$T/err" "gf-replay: $T/jobs.tsv:2:$2"
}
refused "no such application" "app: unknown application 'x' (expected one of the plan times)" 'a\t0\tx\t1\t1\tga\t0\tNA'
refused "no such plan" "exec_plan: unknown plan 'x' (expected one of the plan times)" 'a\t0\tsmall\t1\t1\tx\t0\tNA'
refused "half an iteration" "work: bad number of iterations 0.5 (expected at least 1, whole)" 'a\t0\tsmall\t1\t0.5\tga\t0\tNA'
refused "no iterations" "work: missing (expected iterations, or duration_s on GPUs that were measured)" \
	'a\t0\tsmall\t1\tNA\tga\t0\tNA'
refused "a guarantee of 2" "is_sla: bad value '2' (expected 0 or 1)" 'a\t0\tsmall\t1\t1\tga\t2\tNA'
refused "too many GPUs" "gpus: 7 GPUs are outside of what was measured of 'small'" 'a\t0\tsmall\t7\t1\tga\t0\tNA'
jobs 'a\t0\tsmall\t1\t1\tga\t0\tNA'
sed 's/^wide	441	4444	2/wide	441	4404	2/' "$T/times.tsv" >"$T/bad.tsv"
run "a placement that is none" 1 gf-replay -c 4x8 --plan-times "$T/bad.tsv" "$T/jobs.tsv"
is "names it" "$T/err" "gf-replay: $T/bad.tsv:9:placement: bad placement '4404' (expected digits 1 to 9, one a node)"
sed 's/^wide	441	4444	2/wide	441	4444	0/' "$T/times.tsv" >"$T/bad.tsv"
run "a time of 0" 1 gf-replay -c 4x8 --plan-times "$T/bad.tsv" "$T/jobs.tsv"
is "is none" "$T/err" "gf-replay: $T/bad.tsv:9:iter_time_s: bad time 0 (expected above 0, or NA: it could not run)"
run "rubick without times" 2 gf-replay -c 4x8 -p rubick -i 60 "$T/jobs.tsv"
has "asks for them" "$T/err" 'gf-replay: --policy rubick: this policy needs times of execution plans'
run "the published policy without models" 2 gf-replay -c 4x8 -p rubick --plan-times "$T/times.tsv" \
	--fidelity rubick-mlsys25 "$T/jobs.tsv"
has "asks for them" "$T/err" 'under this fidelity this policy needs --models'
