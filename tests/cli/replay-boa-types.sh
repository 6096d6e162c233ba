#!/bin/sh
# SPDX-License-Identifier: MIT
# Policy boa on clusters of several GPU types: who holds which GPUs of which type when, nodes of each type as jobs need
# them, restart delays by type, widths that the replay computes, what the metrics say of it, and what gf-verify finds.
. tests/cli/lib.sh
tab=$(printf '\t')
D=tests/data

events() {
	awk -F '\t' '/^#/ { next } !n++ { next } $2 != "cluster" { print $1, $2, $3, $5, $12 }' "$1"
}

# ---- two jobs that change places ----
# Work 10 an epoch (y: 20, then 16), at k on k GPUs of t4 and 2 k of v100; x comes to v100 for 3 s, and to t4 for 1.
printf 'class\tepoch\tgpu_type\tgpus\twork\tspeed_per_s\n' >"$T/s"
for e in 0 1; do
	for k in 1 2; do
		printf "x\t$e\tt4\t$k\t10\t$k\nx\t$e\tv100\t$k\t10\t$((2 * k))\n"
		printf "y\t$e\tt4\t$k\t$((20 - 4 * e))\t$k\ny\t$e\tv100\t$k\t$((20 - 4 * e))\t$((2 * k))\n"
	done
done >>"$T/s"
printf 'class\tgpu_type\tarrival_rate_per_s\trescale_s\nx\tNA\t0.1\t1\nx\tv100\tNA\t3\ny\tNA\t0.1\t0\n' >"$T/c"
printf '#fit-table/1\n#charge_start=0\nclass\tplan\tshare\tepoch\tgpu_type\tgpus\nx\t0\t1\t0\tt4\t2\nx\t0\t1\t1\tv100\t2\n' >"$T/p"
printf 'y\t0\t1\t0\tv100\t2\ny\t0\t1\t1\tt4\t2\n#end rows=4\n' >>"$T/p"
printf 'job_id\tapp\tsubmit_s\tgpus\na\tx\t0\t1\nb\ty\t0\t1\n' >"$T/two"
printf 'job_id\tapp\tsubmit_s\tgpus\na\tx\t0\t1\nb\ty\t1\t1\nd\tx\t2\t1\n' >"$T/three"
small="--speedups $T/s --classes $T/c"
replay() {
	name=$1 jobs=$2
	shift 2
	# shellcheck disable=SC2086
	run "$name" 0 gf-replay --policy boa $small --plan "$T/p" "$@" "$jobs"
	cp "$T/out" "$T/log"
	events "$T/log" >"$T/events"
	# shellcheck disable=SC2086
	run "$name: verified" 0 gf-verify --jobs "$jobs" $small --plan "$T/p" "$T/log"
}
replay "two change places" "$T/two" -c t4:1x2,v100:1x2
is "both move at once, each with the delay of the type it comes to" "$T/events" "0 submit a - NA
0 submit b - NA
0 start a 0:2 0
0 start b 1:2 0
5 epoch a 0:2 NA
5 epoch b 1:2 NA
5 move a 1:2 3
5 move b 0:2 0
10.5 finish a - NA
13 finish b - NA"
replay "one waits for the type that they leave" "$T/three" -c t4:1x2,v100:1x2
is "d came first, so b runs on where it is, and a as well" "$T/events" "0 submit a - NA
0 start a 0:2 0
1 submit b - NA
1 start b 1:2 0
2 submit d - NA
5 epoch a 0:2 NA
6 epoch b 1:2 NA
10 finish a - NA
10 finish b - NA
10 start d 0:2 0
15 epoch d 0:2 NA
15 move d 1:2 3
20.5 finish d - NA"
replay "nodes that start 4 s after they are rented" "$T/three" -c t4:9x2,v100:9x4 --autoscale plan --node-start 4
is "whole nodes of each type for what is wanted of it" "$T/events" "0 submit a - NA
0 rent NA 0:2 NA
1 submit b - NA
1 rent NA 9:4 NA
2 submit d - NA
2 rent NA 1:2 NA
4 ready NA 0:2 NA
4 start a 0:2 0
5 ready NA 9:4 NA
5 start b 9:2 0
6 ready NA 1:2 NA
6 start d 1:2 0
9 epoch a 0:2 NA
9 move a 9:2 3
9 return NA 0:2 NA
10 epoch b 9:2 NA
10 rent NA 0:2 NA
11 epoch d 1:2 NA
11 move b 1:2 0
11 move d 9:2 3
14 ready NA 0:2 NA
14 return NA 0:2 NA
14.5 finish a - NA
16.5 finish d - NA
16.5 return NA 9:4 NA
17 finish b - NA
17 return NA 1:2 NA"
# d comes while a still waits for the node of its new type: it cannot count on what a holds
printf 'job_id\tapp\tsubmit_s\tgpus\na\tx\t0\t1\nd\tx\t10\t1\n' >"$T/late"
replay "one comes while another waits to leave" "$T/late" -c t4:9x2,v100:9x4 --autoscale plan --node-start 4
is "there is a node for each" "$T/events" "0 submit a - NA
0 rent NA 0:2 NA
4 ready NA 0:2 NA
4 start a 0:2 0
9 epoch a 0:2 NA
9 rent NA 9:4 NA
10 submit d - NA
10 rent NA 1:2 NA
13 ready NA 9:4 NA
13 move a 9:2 3
13 start d 0:2 0
14 ready NA 1:2 NA
14 return NA 1:2 NA
16.5 finish a - NA
16.5 return NA 9:4 NA
18 epoch d 0:2 NA
18 rent NA 9:4 NA
22 ready NA 9:4 NA
22 move d 9:2 3
22 return NA 0:2 NA
25.5 finish d - NA
25.5 return NA 9:4 NA"
cp "$T/log" "$T/late.first"

# ---- bad input ----
fault() {
	name=$1 status=$2 want=$3
	shift 3
	run "$name" "$status" gf-replay --policy boa "$@" "$T/two"
	has "$name: the message" "$T/err" "^gf-replay: $want"
}
sed 's/v100/a100/' "$T/p" >"$T/bad.p"
# shellcheck disable=SC2086
{
	fault "a plan of a type that the cluster does not have" 1 \
		"$T/bad.p:5:gpu_type: 'a100' \(expected a GPU type of the cluster\)$" $small --plan "$T/bad.p" -c t4:1x2,v100:1x2
	fault "a type of the cluster without speedups" 1 \
		"$T/s: no speeds on GPU type 'a100' \(expected some: the cluster has it\)$" $small --plan "$T/p" -c t4:1x2,a100:1x2
	fault "a cluster without types" 1 "$T/s: 2 GPU types \(expected one: the cluster names none\)$" $small --plan "$T/p" -c 4x2
	fault "plans of two types, a cluster of one" 1 "$T/p: 2 GPU types \(expected one: the cluster has one\)$" \
		$small --plan "$T/p" -c t4:4x2
	fault "too few GPUs of a type" 1 \
		"job a: class 'x' has a width of 2 GPUs of type 'v100', the cluster at most 1$" $small --plan "$T/p" -c t4:1x2,v100:1x1
	fault "another rule of autoscaling" 2 "--cluster t4:1x2,v100:1x2: this policy, speedups or this autoscaling rule know" \
		$small --plan "$T/p" -c t4:1x2,v100:1x2 --autoscale demand
	fault "a price that is none" 2 "bad value 't4=x' for --gpu-price" $small -b 3 --gpu-price t4=x -c t4:1x2,v100:1x2
	fault "a price of one type only" 1 "no price of GPU type 'v100'$" $small -b 3 --gpu-price t4=1 -c t4:1x2,v100:1x2
	fault "prices without a budget" 2 "of no use here: --gpu-price \(expected --budget\)$" $small --plan "$T/p" --gpu-price t4=1 -c t4:1x2,v100:1x2
	fault "routing without a budget" 2 "of no use here: --routing \(expected --budget\)$" $small --plan "$T/p" --routing class -c t4:1x2,v100:1x2
	printf 'class\tepoch\tgpu_type\tgpus\twork\tspeed_per_s\n' >"$T/more.s"
	grep -v '^class' "$T/s" | awk -F '\t' -v OFS='\t' '{ print } $3 == "t4" { $3 = "p4"; print }' >>"$T/more.s"
	fault "beliefs in a type that is not there" 1 "$T/more.s: GPU type 'p4' \(expected types of the cluster\)$" \
		$small -b 9 --believed "$T/more.s" -c t4:1x2,v100:1x2
	fault "beliefs in two types, a cluster of one" 1 "$T/s: 2 GPU types \(expected one: the cluster has one\)$" \
		$small -b 9 -c t4:1x2
}
{ sed -n 1p "$T/two" | sed 's/$/\tgpu_type/'; printf 'a\tx\t0\t1\tv100\n'; } >"$T/asks"
# shellcheck disable=SC2086
run "a job that asks for another type" 1 gf-replay --policy boa $small --plan "$T/p" -c t4:1x2,v100:1x2 "$T/asks"
is "a job that asks for another type: the message" "$T/err" \
	"gf-replay: job a: asks for GPUs of type 'v100', its class 'x' has those of type 't4' in epoch 0"

# ---- plans of gf-boa, arrivals of gf-synth ----
# Three classes that change the type with the epoch where they may; z is divided between two plans.
awk 'BEGIN { OFS = "\t"; print "class", "epoch", "gpu_type", "gpus", "work", "speed_per_s"
	split("x y z", name, " ")
	for (c = 1; c <= 3; c++) for (e = 0; e < 3; e++) for (t = 0; t < 2; t++) for (k = 1; k <= 8; k++) {
		f = t ? 2.5 : 1; p = 0.5 + 0.12 * ((c + e * 2 + t) % 4)
		if ((c == 1 && e == 1) || (c == 2 && e != 1)) f = t ? 1.1 : 1
		print name[c], e, t ? "v100" : "t4", k, 200 + 40 * c + 30 * e, f * k ^ p } }' >"$T/many.s"
printf 'class\tgpu_type\tarrival_rate_per_s\trescale_s\nx\tNA\t0.02\t5\nx\tv100\tNA\t8\ny\tNA\t0.015\t7\nz\tNA\t0.01\t0\n' >"$T/many.c"
run "arrivals" 0 gf-synth arrivals --classes "$T/many.c" -n 300 -o "$T/many.j"
prices='--gpu-price t4=1 --gpu-price v100=3'
many="--speedups $T/many.s --classes $T/many.c"
for routing in class epoch; do
	# shellcheck disable=SC2086
	run "widths, a type for each $routing" 0 gf-boa solve --charge-start $prices --routing $routing -b 55 \
		--classes "$T/many.c" -o "$T/$routing.p" "$T/many.s"
done
cut -f 5 "$T/epoch.p" | sort | uniq -c | awk '$2 == "t4" || $2 == "v100" { n += $1 > 2 } END { exit n != 2 }'
ok "the plan has both types" $?
awk -F '\t' '$2 == 1 { n++ } END { exit !n }' "$T/epoch.p"
ok "and divides a class between two plans" $?
for routing in class epoch; do
	for how in "" "--node-start 30" "--node-start 30 --node-idle 50 --cold-restart-delay 20 --min-nodes 1" "-i 60"; do
		# shellcheck disable=SC2086
		run "$routing $how" 0 gf-replay --policy boa -c t4:90x4,v100:60x8 --autoscale plan $how $many --plan "$T/$routing.p" "$T/many.j"
		cp "$T/out" "$T/many.log"
		# shellcheck disable=SC2086
		gf-metrics --gpu-price v100=3.06 --gpu-price t4=.526 --speedups "$T/many.s" "$T/many.log" >"$T/metrics"
		# shellcheck disable=SC2086
		run "$routing $how: verified" 0 gf-verify --jobs "$T/many.j" $many --plan "$T/$routing.p" --metrics "$T/metrics" \
			"$T/many.log"
		has "$routing $how: the law of conservation was held against each job" "$T/out" "^conservation${tab}ok${tab}300${tab}0"
		has "$routing $how: so was the cost of what is rented" "$T/out" "^metrics-follow${tab}ok${tab}3[45]${tab}0"
		awk -F '\t' '{ v[$1] = $2 } END { w = v["normalised_work_gpu_s"] / v["normalised_work_of_finished_gpu_s"] - 1
			exit !(v["normalised_work_gpu_s"] > 0 && w < 1e-6 && w > -1e-6) }' "$T/metrics"
		ok "$routing $how: gf-metrics counts the work of both types" $?
	done
done
# shellcheck disable=SC2086
run "twice" 0 gf-replay --threads 4 --policy boa -c t4:90x4,v100:60x8 --autoscale plan -i 60 $many --plan "$T/epoch.p" "$T/many.j"
same "the same bytes" "$T/many.log" "$T/out"
run "metrics of a log without types" 1 gf-metrics --speedups "$T/many.s" $D/replay-small-fifo.tsv
has "say what is missing" "$T/err" "the cluster '[^']*' names no GPU types \(expected those of the speedups\)"

# On nodes of one GPU what is rented is what is held; with many arrivals it is near what the plan promises.
run "many arrivals" 0 gf-synth arrivals --classes "$T/many.c" -n 6000 --scv 1.2 -o "$T/crowd.j"
# shellcheck disable=SC2086
run "on nodes of one GPU" 0 gf-replay --policy boa -c t4:900x1,v100:900x1 --autoscale plan $many --plan "$T/epoch.p" "$T/crowd.j"
cp "$T/out" "$T/crowd.log"
# shellcheck disable=SC2086
gf-metrics $prices "$T/crowd.log" | awk -F '\t' '{ v[$1] = $2 } END { print v["jct_mean_s"], v["rented_cost_per_h"], v["queue_max_s"] }' >"$T/got"
# of the arrivals that were drawn: shares of plans, times and widths
awk -F '\t' -v OFS='\t' 'FNR == 1 { file++ } /^#/ { next }
	file == 1 && $2 != "app" { n[$2]++; all++; if (!first) first = $3 + 0; last = $3 + 0 }
	file == 2 && $1 in n { gpus = $6 * ($5 == "v100" ? 3 : 1); jct += n[$1] * $3 * $10; cost += n[$1] * $3 * $10 * gpus }
	END { printf "%.9g %.9g\n", jct / all, cost / (last - first) }' "$T/crowd.j" "$T/epoch.p" >"$T/want"
awk 'NR == FNR { jct = $1; cost = $2; queue = $3; next }
	function off(a, b) { a = a / b - 1; return a < 0 ? -a : a }
	{ printf "# mean %.3f s, planned %.3f s; cost %.3f, planned %.3f; longest wait %g s\n", jct, $1, cost, $2, queue
	  exit !(off(jct, $1) < 0.005 && off(cost, $2) < 0.005 && queue == 0) }' "$T/got" "$T/want" >"$T/said"
ok "completion times and cost are what the plan has, to 0.5 %, and nobody waits" $?
cat "$T/said"

# ---- widths that the replay computes ----
# shellcheck disable=SC2086
run "a budget" 0 gf-replay --policy boa -c t4:900x4,v100:600x8 --autoscale plan $many -b 55 $prices --routing epoch "$T/many.j"
grep -v '^#' "$T/out" >"$T/computed"
# shellcheck disable=SC2086
run "the same from a plan" 0 gf-replay --policy boa -c t4:900x4,v100:600x8 --autoscale plan $many --plan "$T/epoch.p" "$T/many.j"
grep -v '^#' "$T/out" >"$T/planned"
same "the same events" "$T/planned" "$T/computed"
gf-synth misjudge --size 0.5 --seed 4 "$T/many.s" >"$T/believed"
for routing in class epoch; do
	# shellcheck disable=SC2086
	run "$routing: wrong beliefs that are corrected" 0 gf-replay --policy boa -c t4:900x4,v100:600x8 --autoscale plan \
		--node-start 20 $many -b 55 $prices --routing $routing --believed "$T/believed" --resolve-interval 300 "$T/many.j"
	cp "$T/out" "$T/$routing.learned"
	has "$routing: the metadata say how" "$T/$routing.learned" "^#boa_routing=$routing\$"
	has "$routing: and what GPUs cost" "$T/$routing.learned" '^#boa_prices=t4=1,v100=3$'
	# shellcheck disable=SC2086
	run "$routing: verified" 0 gf-verify --jobs "$T/many.j" $many --believed "$T/believed" "$T/$routing.learned"
done
sed 's/^#boa_prices=.*/#boa_prices=t4=3,v100=1/' "$T/epoch.learned" >"$T/bad"
# shellcheck disable=SC2086
run "other prices" 1 gf-verify --jobs "$T/many.j" $many --believed "$T/believed" "$T/bad"
has "are other widths" "$T/out" "^boa-width${tab}violated"
sed 's/^#boa_prices=.*/#boa_prices=t4,v100/' "$T/epoch.learned" >"$T/bad"
# shellcheck disable=SC2086
run "no prices" 1 gf-verify --jobs "$T/many.j" $many --believed "$T/believed" "$T/bad"
has "are not consistent" "$T/out" "^meta-consistent${tab}violated.*boa_prices is 't4,v100'"
sed 's/^#boa_routing=.*/#boa_routing=both/' "$T/epoch.learned" >"$T/bad"
# shellcheck disable=SC2086
run "another routing" 1 gf-verify --jobs "$T/many.j" $many --believed "$T/believed" "$T/bad"
has "is not consistent" "$T/out" "^meta-consistent${tab}violated.*boa_routing is 'both'"

# ---- whatever the plans, on large clusters and small ones ----
# Four classes of up to four epochs, one to three GPU types, plans drawn at random: jobs go round in circles.
random_plans() {
	awk -v seed="$1" -v s="$T/r.s" -v p="$T/r.p" -v c="$T/r.c" 'BEGIN { srand(seed); OFS = "\t"; types = 1 + seed % 3; split("p q r", name, " ")
		print "class", "epoch", "gpu_type", "gpus", "work", "speed_per_s" >s
		print "class", "plan", "share", "epoch", "gpu_type", "gpus" >p
		print "class", "gpu_type", "arrival_rate_per_s", "rescale_s" >c
		for (k = 0; k < 4; k++) {
			epochs = 1 + int(rand() * 4); theta = rand() < 0.5 ? 0 : int(rand() * 100) / 100
			print "k" k, "NA", 0.01, int(rand() * 20) >c
			if (rand() < 0.5) print "k" k, "p", "NA", int(rand() * 20) >c
			for (e = 0; e < epochs; e++) for (t = 1; t <= types; t++) for (w = 1; w <= 10; w++)
				print "k" k, e, name[t], w, 50 + 20 * k, (0.3 + 0.3 * t) * w ^ 0.8 >s
			for (x = 0; x < 1 + (theta > 0); x++) for (e = 0; e < epochs; e++)
				print "k" k, x, theta ? (x ? theta : 1 - theta) : 1, e, name[1 + int(rand() * types)], 1 + int(rand() * 9) >p } }'
	gf-synth arrivals --seed "$1" --classes "$T/r.c" -n 120 --mean-gap $((5 + 3 * $1)) -o "$T/r.j"
	case $(($1 % 3)) in
	0) large=p:90x4 few=p:6x4 ;;
	1) large=p:60x4,q:40x8 few=p:4x4,q:2x8 ;;
	*) large=p:60x4,q:40x8,r:90x2 few=p:3x4,q:2x8,r:5x2 ;;
	esac
}
for seed in 3 4 5 6 7 8; do
	random_plans $seed
	for how in "$large --autoscale plan" "$large --autoscale plan --node-start 40 --node-idle 7" \
		"$large --autoscale plan --node-start 25 --cold-restart-delay 30 -i 15" "$few" "$few --autoscale plan --node-start 25 --min-nodes 1"; do
		# shellcheck disable=SC2086
		run "plans $seed: $how" 0 gf-replay --policy boa -c $how --speedups "$T/r.s" --classes "$T/r.c" --plan "$T/r.p" "$T/r.j"
		cp "$T/out" "$T/r.log"
		run "plans $seed: $how: verified" 0 gf-verify --jobs "$T/r.j" --speedups "$T/r.s" --classes "$T/r.c" --plan "$T/r.p" "$T/r.log"
	done
done

# ---- the verifier finds what is wrong ----
judge() {
	# shellcheck disable=SC2086
	gf-verify -j "$jobs" $opts "$1"
}
# shellcheck disable=SC2086
fresh few.log --policy boa -c t4:9x2,v100:9x4 --autoscale plan --node-start 4 $small --plan "$T/p" "$T/three"
# shellcheck disable=SC2086
use "$T/few.log" "$T/three" $small --plan "$T/p"
mutate 'types: as many GPUs of another type' boa-width 'id == "d" && ev == "start" { $5 = "9:2" } { put() }'
mutate 'types: the delay of the other type' restart-cost 'once(ev == "move" && id == "a") { $12 = 1 } { put() }'
mutate 'types: a job that does not come to its type' boa-no-queue 'once(ev == "move") { next } { put() }'
mutate 'types: GPUs of two types' gpu-type 'id == "d" && ev == "start" { $5 = "0:1,9:1" } { put() }'
mutate 'types: a node of the other type' node-number '{ put() } once(ev == "rent") { $4 = 4; $5 = "9:4"; put() }'
mutate 'types: a node too few' node-number '(ev == "rent" || ev == "ready") && nodes == "1:2" { next } { put() }'
mutate 'types: a node that is kept' node-number 'ev == "return" && nodes == "9:4" { next } { put() }'
mutate 'types: not the lowest of its type' node-choice '{ gsub(/^9:/, "10:", $5); put() }'
mutate 'types: an epoch at the speed of the other type' epoch-time 'ev == "finish" && id == "a" { $1 = 17 } { put() }'
cp "$T/late.first" "$T/leaves.log"
# shellcheck disable=SC2086
use "$T/leaves.log" "$T/late" $small --plan "$T/p"
mutate 'types: nobody keeps a node for one who waits to leave' node-number 'nodes == "1:2" { next } { put() }'
mutate 'types: a node too many for one who waits to leave' node-number \
	'ev == "return" && nodes == "1:2" { $1 = 18 } { put() } ev == "rent" && nodes == "1:2" { $5 = "2:2"; put() }'
fresh swap.log --policy boa -c t4:1x2,v100:1x2 $small --plan "$T/p" "$T/two"
# shellcheck disable=SC2086
use "$T/swap.log" "$T/two" $small --plan "$T/p"
mutate 'types: two that could change places' boa-no-queue 'ev == "move" { next } ev == "finish" { $1 = 10 } { put() }'
# a crowd on a cluster that is too small, and on one whose nodes start late
# shellcheck disable=SC2086
fresh small.log --policy boa -c t4:6x4,v100:3x8 $many --plan "$T/epoch.p" "$T/many.j"
# shellcheck disable=SC2086
use "$T/small.log" "$T/many.j" $many --plan "$T/epoch.p"
late=$(awk -F '\t' '$2 == "submit" { at[$3] = $1 } $2 == "start" && $1 > at[$3] { print $3; exit }' "$T/small.log")
mutate 'types: served out of turn' boa-no-queue 'ev == "start" && id == "'"$late"'" { next } { put() }'
mutate 'types: not the node that condenses' boa-placement \
	'once(ev == "start" && id == "x-4" && nodes == "6:1") { $5 = "8:1" } { put() }'
# shellcheck disable=SC2086
fresh late.log --policy boa -c t4:90x4,v100:60x8 --autoscale plan --node-start 40 $many --plan "$T/epoch.p" "$T/many.j"
# shellcheck disable=SC2086
use "$T/late.log" "$T/many.j" $many --plan "$T/epoch.p"
remeta 'types: nodes that start earlier' boa-no-queue 's/^#node_start_s=40/#node_start_s=39/'
mutate 'types: one plan in place of the other' boa-width \
	'ev == "start" && id ~ /^y-/ && !done { y++; if (y > 3) { done = 1; $5 = $5; sub(/:[0-9]+$/, ":" ($4 + 1), $5); $4++ } } { put() }'
gf-metrics --gpu-price v100=3.06 --gpu-price t4=.526 "$T/late.log" >"$T/metrics"
for m in rented_cost_per_h rented_gpus; do
	awk -F '\t' -v OFS='\t' -v m=$m '$1 == m { $2 = $2 * 1.0001 } { print }' "$T/metrics" >"$T/bad"
	# shellcheck disable=SC2086
	run "another $m" 1 gf-verify -j "$T/many.j" $opts --metrics "$T/bad" "$T/late.log"
	has "is found" "$T/out" "^metrics-follow${tab}violated.*$m is"
done
sed 's/^#gpu_price=v100=3.06/#gpu_price=v100=3.07/' "$T/metrics" >"$T/bad"
# shellcheck disable=SC2086
run "another price" 1 gf-verify -j "$T/many.j" $opts --metrics "$T/bad" "$T/late.log"
has "is found, too" "$T/out" "^metrics-follow${tab}violated.*rented_cost_per_h is"
sed 's/^#gpu_price=v100=3.06/#gpu_price=p100=3.06/' "$T/metrics" >"$T/bad"
# shellcheck disable=SC2086
run "a price of a type that is not there" 1 gf-verify -j "$T/many.j" $opts --metrics "$T/bad" "$T/late.log"
is "is an error" "$T/err" "gf-verify: $T/bad: bad metadata gpu_price 'p100=3.06' (expected TYPE=X, a type of the cluster)"
