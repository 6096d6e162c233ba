# SPDX-License-Identifier: MIT
# gf-replay --autoscale by utility, and what gf-verify makes of it: the sizes against those that gf-goodput gives,
# good logs under all rules, and broken ones that are caught.
. tests/cli/lib.sh
# awk programs and literal dollar signs; options in words
# shellcheck disable=SC2016,SC2086

D=tests/data
run 'a profile store' 0 gf-prof --from pollux $D/profile-mini -o "$T/mini.h5"
run 'its models' 0 gf-throughput -q --profile "$T/mini.h5" -o "$T/theta"
printf 'job_id\tsubmit_s\tapp\tgpus\tbatch_size\na\t0\tconv\t1\t64\n' >"$T/one"

# first_size LOG: nodes rented at the first decision
first_size() {
	awk -F '\t' '$2 == "rent" && $1 == 20 { n++ } END { print n + 0 }' "$1"
}

# What one job gets out of N nodes of two GPUs against N times one node, by gf-goodput, with models that are
# given; the size nearest to the target is what the rule must ask for first.
gpus=2,4,6,8,10,12,14,16
run 'goodput by size' 0 gf-goodput --models "$T/theta" --profile "$T/mini.h5" --app conv \
	--gpus $gpus --gpus-per-node 2 --no-meta
cp "$T/out" "$T/goodput"
run 'throughput by size' 0 gf-goodput --models "$T/theta" --profile "$T/mini.h5" --app conv --phi 1e250 \
	--gpus $gpus --gpus-per-node 2 --no-meta
cp "$T/out" "$T/throughput"
for rule in goodput throughput; do
	for low in 0.3 0.5 0.6 0.9; do
		awk -F '\t' -v low=$low 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
			{ n = $c["num_nodes"]; g = $c["goodput_per_s"] }
			n == 1 { one = g }
			{ d = g / one / n - low; if (d < 0) d = -d; if (best == "" || d < best) { best = d; at = n } }
			END { print at }' "$T/$rule" >"$T/want"
		run "$rule, to $low" 0 gf-replay -p pollux -c 8x2 -i 20 --profile "$T/mini.h5" --models "$T/theta" \
			--autoscale $rule --scale-low $low --scale-high 0.95 "$T/one"
		cp "$T/out" "$T/log"
		first_size "$T/log" >"$T/got"
		same "$rule, to $low: the size that gf-goodput has nearest to it" "$T/want" "$T/got"
		run "$rule, to $low: verified" 0 gf-verify --jobs "$T/one" --profile "$T/mini.h5" --models "$T/theta" "$T/log"
		has "$rule, to $low: and numbers of nodes were looked at" "$T/out" '^node-number	ok	[1-9]'
	done
done
[ "$(grep -c . "$T/goodput")" -eq 9 ]
ok 'eight sizes were there to choose from' $?

# ---- many jobs ----

awk 'BEGIN { OFS = "\t"; print "job_id", "submit_s", "app", "gpus", "batch_size"
	for (i = 1; i <= 30; i++) {
		x = (x * 1103515245 + 12345) % 2147483648; t += x % 25
		if (i == 16) t += 700
		print "j" i, t, x % 3 ? "conv" : "text", 1 + i % 3, x % 3 ? 64 : 20 } }' >"$T/jobs"

# good NAME OPTION…: a replay that passes every rule
good() {
	name=$1
	shift
	run "replay: $name" 0 gf-replay --policy pollux --cluster 6x2 --interval 20 --restart-delay 3 \
		--profile "$T/mini.h5" "$@" "$T/jobs"
	cp "$T/out" "$T/$name"
	hasnt "$name: no complaints" "$T/err" .
	use "$T/$name" "$T/jobs" --profile "$T/mini.h5"
}

for rule in goodput throughput utilisation pollux rubick; do
	good $rule --autoscale $rule
	run "$rule again" 0 gf-replay --policy pollux --cluster 6x2 --interval 20 --restart-delay 3 \
		--profile "$T/mini.h5" --autoscale $rule --threads 4 "$T/jobs"
	same "$rule: the same bytes" "$good" "$T/out"
	awk -F '\t' '$2 == "rent" { n++; if (n > most) most = n } $2 == "return" { n--; if ($1 < 700) early++ }
		END { exit !(most > 2 && early && n == 0) }' "$good"
	ok "$rule: grows, shrinks while there are jobs, and gives all back" $?
done
good delays --autoscale utilisation --scale-low 0.3 --scale-high 0.5 --node-start 45 --node-idle 70 --min-nodes 1
good ga --autoscale goodput --scale-low 0.7 --scale-high 0.8 --search ga --seed 3
good spare-nodes --autoscale goodput --scale-low 0.47 --node-idle 79 --min-nodes 1 --max-active 2 --search ga
good late-nodes --autoscale throughput --scale-low 0.3 --scale-high 0.5 --node-idle 130 --node-start 30
good rigid-rule --autoscale demand
good reference --autoscale goodput --fidelity pollux-osdi21 --scale-low 0.4

good=$T/goodput
cp "$good" "$T/bad"
mutate 'one node more' node-number \
	'{ put() } once(ev == "rent" && t > 100) { split(nodes, a, ":"); $5 = a[1] + 1 ":2"; put(); $2 = "ready"; put() }'
mutate 'a node that is not rented' node-number \
	'ev == "rent" && once(t > 100) { gone = nodes; next } ev == "ready" && nodes == gone { gone = ""; next } { put() }'
mutate 'a node kept too long' node-number \
	'ev == "return" && once(1) { kept = $0; next }
	kept != "" && t > at { sub(/^[^\t]*/, t, kept); print kept; n++; kept = "" } { put(); at = t }'
remeta 'another bound' node-number 's/^\(#scale_low\)=.*/\1=0.25/'
remeta 'throughput, not goodput' node-number 's/^\(#autoscale\)=.*/\1=throughput/'
remeta 'what is held, not what could be' node-number 's/^\(#autoscale\)=.*/\1=utilisation/'
remeta 'no bounds' meta-consistent '/^#scale_low=/d'
remeta 'bounds the wrong way round' meta-consistent 's/^\(#scale_low\)=.*/\1=0.9/'
good=$T/utilisation
remeta 'other bounds of utilisation' node-number 's/^\(#scale_high\)=.*/\1=1/'
good=$T/delays
remeta 'nodes that start faster' node-life 's/^\(#node_start_s\)=.*/\1=40/'
remeta 'nodes that go earlier' node-number 's/^\(#node_idle_s\)=.*/\1=30/'

# ---- what it costs ----

run 'metrics' 0 gf-metrics "$T/delays"
cp "$T/out" "$T/metrics"
run 'metrics that follow' 0 gf-verify --jobs "$T/jobs" --profile "$T/mini.h5" --metrics "$T/metrics" "$T/delays"
awk -F '\t' '/^#/ || $1 == "time_s" { next } { s += rented * ($1 - t); t = $1 }
	$2 == "rent" { rented += $4 } $2 == "return" { rented -= $4 } END { printf "%.6f\n", s }' "$T/delays" >"$T/paid"
awk -F '\t' '$1 == "gpu_seconds_rented" { printf "%.6f\n", $2 }' "$T/metrics" >"$T/said"
same 'GPU-seconds from rent to return, to the end' "$T/paid" "$T/said"
awk -F '\t' -v OFS='\t' '$1 == "gpu_seconds_rented" { $2 = $2 * 0.999 } { print }' "$T/metrics" >"$T/metrics.bad"
run 'a bill that is too small' 1 gf-verify --jobs "$T/jobs" --profile "$T/mini.h5" --metrics "$T/metrics.bad" "$T/delays"
has 'is caught' "$T/out" '^metrics-follow	violated	.*gpu_seconds_rented'

# ---- the command line ----

run 'a policy without agents' 2 gf-replay -p srtf -c 2x4 --autoscale goodput $D/jobs-small.tsv
is 'a policy without agents: the message' "$T/err" \
	"gf-replay: --policy srtf: the autoscaling rule needs jobs that adapt
Try 'gf-replay --help'."
run 'bounds the wrong way round' 2 gf-replay -p pollux -c 2x4 -i 20 --profile "$T/mini.h5" --autoscale goodput \
	--scale-low 0.7 --scale-high 0.6 "$T/one"
is 'bounds the wrong way round: the message' "$T/err" \
	"gf-replay: --policy pollux: the bounds of utility are not 0 < low <= high <= 1
Try 'gf-replay --help'."

# ---- target efficiency ----

for rule in pollux rubick; do
	good $rule-high --autoscale $rule --target-efficiency 0.8
	remeta "$rule: another target" node-number 's/^#target_efficiency=.*/#target_efficiency=0.35/'
	remeta "$rule: no target" meta-consistent '/^#target_efficiency=/d'
	mutate "$rule: a size too many" node-number '{ put() } once(ev == "rent") { $5 = "5:2"; put() }'
done
