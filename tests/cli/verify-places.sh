# SPDX-License-Identifier: MIT
# Who had to be next under placement yarn, with its switches, CPUs and memory, and on clusters of several types of GPUs,
# with profiles or without: good logs pass, and what is wrong with the others one rule sees.
# awk programs and literal dollar signs
# shellcheck disable=SC2016
. tests/cli/lib.sh
tab=$(printf '\t')
profiles=

judge() {
	# shellcheck disable=SC2086
	gf-verify --jobs "$jobs" $profiles "$1"
}

# good NAME RULE OPTION…: a fresh log of $jobs, which the rule looked at and passed
good() {
	good=$T/good name=$1 rule=$2
	shift 2
	# shellcheck disable=SC2086
	run "$name" 0 gf-replay -q -o "$good" "$@" $profiles "$jobs"
	run "$name: a good log" 0 judge "$good"
	has "$name: $rule applies" "$T/out" "^$rule	ok	[1-9]"
}

only() {
	awk -F '\t' '$2 == "violated" { print $1 }' "$T/out" >"$T/violated"
	is "$1: nothing else" "$T/violated" "${2:-$rule}"
}

# ---- yarn, many jobs ----
gf-synth jobs --jobs 150 --hours 4 --max-gpus 16 --no-meta >"$T/many.tsv"
jobs=$T/many.tsv
printf 'nodes\tgpus_per_node\tcpus_per_node\tmem_gib_per_node\tswitches\n6\t8\t40\t300\t3\n' >"$T/cluster.tsv"
for c in 4x8 3x8,4x4 "$T/cluster.tsv"; do
	for p in fifo fjf sjf srtf tiresias shortest-gpu smallest tiresias-g; do
		case $p in
		srtf) rule=srtf-order ;;
		tiresias) rule=tiresias-queues ;;
		tiresias-g) rule=gittins-order ;;
		shortest-gpu | smallest) rule=key-order ;;
		*) rule=next-to-start ;;
		esac
		good "$p, yarn, $(basename "$c")" $rule -p $p -c "$c" --placement yarn --skip-too-large
		has "$p, yarn, $(basename "$c"): so does placement-rule" "$T/out" "^placement-rule	ok	[1-9]"
	done
done
for p in fifo fjf; do
	for placement in consolidate consolidate-first first-fit random; do
		good "$p, $placement" next-to-start -p $p -c 4x8 --placement $placement
	done
done
good 'the smallest first' key-order -p smallest -c 4x8 --placement yarn
gf-replay -q -p shortest-gpu -c 4x8 --placement yarn "$jobs" | sed 's/^#policy=shortest-gpu$/#policy=smallest/' >"$T/bad"
caught 'the smallest first, by remaining time' key-order
only 'the smallest first, by remaining time'
good 'past each other' next-to-start -p fjf -c 4x8 --placement consolidate
gf-replay -q -p fifo -c 4x8 --placement consolidate "$jobs" | sed 's/^#policy=fifo$/#policy=fjf/' >"$T/bad"
caught 'past each other, and they wait' next-to-start
only 'past each other, and they wait'

# ---- yarn, by hand ----
jobs=$T/few.tsv
few() {
	printf 'job_id\tsubmit_s\tgpus\tduration_s\n' >"$T/few.tsv"
	tr ' ' '\t' >>"$T/few.tsv"
}
cluster() {
	printf 'nodes\tgpus_per_node\tcpus_per_node\tmem_gib_per_node\tswitches\n%s\n' "$1" | tr ' ' '\t' >"$T/cluster.tsv"
}
few <<X
a 0 2 100
b 1 2 50
X
cluster '1 4 12 256 1'
for p in fifo srtf tiresias; do
	case $p in fifo) rule=next-to-start ;; srtf) rule=srtf-order ;; *) rule=tiresias-queues ;; esac
	good "$p, too few CPUs" $rule -p $p --placement yarn -c "$T/cluster.tsv"
	remeta "$p, a job that waits for CPUs that are there" "$rule" 's/^#node_cpus=12$/#node_cpus=24/'
	only "$p, a job that waits for CPUs that are there"
done
cluster '1 4 64 9 1'
good 'too little memory' next-to-start -p fjf --placement yarn -c "$T/cluster.tsv"
remeta 'a job that waits for memory that is there' next-to-start 's/^#node_mem_gib=9$/#node_mem_gib=10/'
only 'a job that waits for memory that is there'
few <<X
a 0 4 100
b 0 4 10
c 0 4 100
d 20 8 50
X
cluster '4 4 64 256 2'
good 'behind one switch' next-to-start -p fjf --placement yarn -c "$T/cluster.tsv"
has 'behind one switch: waits' "$good" "^100${tab}start${tab}d"
remeta 'where all nodes are behind one' next-to-start 's/^#switches=2$/#switches=1/'
has 'where all nodes are behind one: it waits and fits' "$T/out" "20 s, job 'd': waits, and fits"
remeta 'switches that are not alike' meta-consistent 's/^#switches=2$/#switches=3/'
few <<X
a 0 3 100
b 10 2 100
X
good 'the first node with room' placement-rule -p fjf --placement yarn -c 3x4
mutate 'not the first node' placement-rule 'id == "b" && ev == "start" { $5 = "2:2" } { put() }'
only 'not the first node' placement-rule
few <<X
a 0 1 100
b 10 6 100
X
good 'whole nodes' placement-rule -p fjf --placement yarn -c 4x4
mutate 'not the first one for the rest' placement-rule 'id == "b" && ev == "start" { $5 = "1:4,2:2" } { put() }'
only 'not the first one for the rest' placement-rule
few <<X
a 0 6 100
b 10 2 100
X
cluster '4 4 64 46.25 2'
good 'too much memory for a job' reject-rule -p fjf --placement yarn --skip-too-large -c "$T/cluster.tsv"
remeta 'rejected, and it would fit' reject-rule 's/^#node_mem_gib=46.25$/#node_mem_gib=46.5/'
cluster '4 4 64 46.5 2'
good 'just enough memory' reject-rule -p fjf --placement yarn --skip-too-large -c "$T/cluster.tsv"
remeta 'not rejected, and no switch has it' reject-rule 's/^#node_mem_gib=46.5$/#node_mem_gib=46.25/'

# ---- types of GPUs ----
awk -F '\t' -v OFS='\t' 'NR == 1 { print $0, "gpu_type"; next } { print $0, NR % 5 ? NR % 7 ? "NA" : "mid" : "fast" }' \
	"$T/many.tsv" >"$T/types.tsv"
jobs=$T/types.tsv
for p in srtf tiresias shortest shortest-gpu smallest; do
	case $p in srtf | shortest) rule=srtf-order ;; tiresias) rule=tiresias-queues ;; *) rule=key-order ;; esac
	for options in '' '--placement consolidate' '--placement yarn' '--interval 60' '--restart-delay 30'; do
		# shellcheck disable=SC2086
		good "$p on types $options" $rule -p $p -c fast:2x8,mid:2x8,slow:2x4 --skip-too-large $options
	done
done
has 'some are moved to another type' "$good" "${tab}move${tab}"
good 'the smallest first, on types' key-order -p smallest -c fast:2x8,mid:2x8,slow:2x4 --skip-too-large
gf-replay -q -p shortest-gpu -c fast:2x8,mid:2x8,slow:2x4 --skip-too-large "$jobs" |
	sed 's/^#policy=shortest-gpu$/#policy=smallest/' >"$T/bad"
caught 'the smallest first, on types, by remaining time' key-order
only 'the smallest first, on types, by remaining time'
jobs=$T/few.tsv
few <<X
a 0 4 100
b 10 2 100
X
good 'the first type with room' srtf-order -p srtf -c fast:1x4,mid:1x4,slow:1x4
mutate 'another type' srtf-order 'id == "b" && ev == "start" { $5 = "2:2" } { put() }'
only 'another type'
has 'another type: said so' "$T/out" "job 'b': runs on GPUs of another type than that whose turn it is"
mutate 'none, though another one has room' srtf-order 'id == "b" && ev != "submit" { next } { put() }
	id == "a" && ev == "finish" {
		print 100, "start", "b", 2, "0:2", "NA", "NA", "NA", 0, "NA", "NA"
		print 200, "finish", "b", 0, "-", "NA", "NA", "NA", 100, "NA", "NA"; n += 2 }'
only 'none, though another one has room'

# ---- elastic clusters, conventions of simulators ----
jobs=$T/many.tsv
for p in srtf tiresias smallest gittins; do
	case $p in srtf) rule=srtf-order ;; tiresias) rule=tiresias-queues ;; gittins) rule=gittins-order ;; *) rule=key-order ;; esac
	for options in '--placement consolidate' '--placement yarn' '--placement first-fit --interval 60'; do
		# shellcheck disable=SC2086
		good "$p, elastic, $options" $rule -p $p -c 6x8 --autoscale demand --node-start 60 --node-idle 300 --min-nodes 2 $options
	done
done
good 'elastic, the smallest first' key-order -p smallest -c 6x8 --autoscale demand --node-start 60 --min-nodes 2 --placement consolidate
gf-replay -q -p shortest-gpu -c 6x8 --autoscale demand --node-start 60 --min-nodes 2 --placement consolidate "$jobs" |
	sed 's/^#policy=shortest-gpu$/#policy=smallest/' >"$T/bad"
caught 'elastic, not the smallest first' key-order
only 'elastic, not the smallest first' key-order
awk -F '\t' -v OFS='\t' '{ print $0, NR == 1 ? "group" : NR % 3 ? "va" : "vb" }' "$T/many.tsv" >"$T/groups.tsv"
jobs=$T/groups.tsv
for p in srtf tiresias shortest-gpu smallest; do
	case $p in srtf) rule=srtf-order ;; tiresias) rule=tiresias-queues ;; *) rule=key-order ;; esac
	good "$p, pollux-osdi21, virtual clusters" $rule -p $p -c va:2x8,vb:2x8 --virtual-clusters --fidelity pollux-osdi21
	case $p in srtf) rule=key-order ;; esac
	good "$p, tiresias-nsdi19, yarn" $rule -p $p -c 4x8 --fidelity tiresias-nsdi19 --placement yarn
	# the demotions of each virtual cluster wake up that one
	[ $p = tiresias ] || good "$p, tiresias-nsdi19, virtual clusters" $rule -p $p -c va:2x8,vb:2x8 --virtual-clusters \
		--fidelity tiresias-nsdi19
done
# GPUs that are equally short go by the list: b came first, and runs on
jobs=$T/few.tsv
few <<X
a 0 2 100
b 50 4 20
c 60 2 40
X
good 'equal ones, in one list' key-order -p srtf -c 1x4 --fidelity tiresias-nsdi19 --placement yarn
gf-replay -q -p smallest -c 1x4 --fidelity tiresias-nsdi19 --placement yarn "$jobs" | sed 's/^#policy=smallest$/#policy=srtf/' >"$T/bad"
caught 'not by what is left' key-order
only 'not by what is left' key-order

# ---- speedups ----
awk -F '\t' -v OFS='\t' '/^#/ { next } n++ { $4 = $2 == "text" ? 2 : 3 } { print }' tests/data/replay-boa-jobs.tsv >"$T/classes.tsv"
jobs=$T/classes.tsv profiles="--speedups tests/data/replay-boa-speedups.tsv --classes tests/data/replay-boa-classes.tsv"
for p in srtf tiresias shortest-gpu; do
	case $p in srtf) rule=srtf-order ;; tiresias) rule=tiresias-queues ;; *) rule=key-order ;; esac
	good "$p by speedups" $rule -p $p -c 3x4 --placement consolidate
	good "$p by speedups, with an interval" $rule -p $p -c 2x4 --placement first-fit --interval 60
done
profiles=

# ---- profiles ----
awk -F '\t' -v OFS='\t' '/^#/ { print; next } !n++ { for (i = 1; i <= NF; i++) c[$i] = i; print; next }
	{ $c["alpha_c_s"] /= 3; $c["beta_c_s"] /= 3; print }' data/apps.tsv >"$T/apps.tsv"
gf-synth profiles --calibration data/apps.tsv "$T/slow" && gf-synth profiles --calibration "$T/apps.tsv" "$T/fast"
rm -r "$T/fast/bert"
gf-prof -q --from pollux "$T/slow" -o "$T/slow.h5" && gf-prof -q --from pollux "$T/fast" -o "$T/fast.h5"
ok 'profiles, one of them without bert' $?
awk 'BEGIN { OFS = "\t"; print "job_id", "app", "submit_s", "gpus", "batch_size", "gpu_type", "group"
	split("cifar10 bert deepspeech2", app, " "); split("512 48 80", batch, " ")
	for (i = 0; i < 40; i++) { k = i * 7 % 3 + 1
		print "j" i, app[k], i * i * 397 % 4001, 2 ^ (i * 5 % 3), batch[k], i % 6 ? "NA" : k == 2 ? "slow" : "fast",
			i % 3 ? "va" : "vb" } }' >"$T/profile.tsv"
jobs=$T/profile.tsv
for p in srtf tiresias shortest-gpu smallest; do
	case $p in srtf) rule=srtf-order ;; tiresias) rule=tiresias-queues ;; *) rule=key-order ;; esac
	profiles="--profile slow=$T/slow.h5 --profile fast=$T/fast.h5"
	for options in '' '--interval 60' '--placement consolidate'; do
		# shellcheck disable=SC2086
		good "$p by profiles, on types $options" $rule -p $p -c slow:1x4,fast:2x4 $options
		hasnt "$p by profiles, on types $options: bert is slow" "$good" "${tab}start${tab}j[0-9]*${tab}[0-9]*${tab}[12]:.*${tab}bert"
	done
	profiles="--profile $T/slow.h5"
	for options in '-c 2x4 --placement consolidate' '-c 2x4 --placement yarn --interval 60' \
		'-c va:1x4,vb:1x4 --virtual-clusters' '-c va:1x4,vb:1x4 --virtual-clusters --interval 60'; do
		# shellcheck disable=SC2086
		good "$p by a profile $options" $rule -p $p $options
	done
done
printf 'gpu_s\n400\n1500\n4000\n9000\n30000\n' >"$T/past.tsv"
for p in tiresias-g gittins; do
	for options in '' '--interval 60'; do
		# shellcheck disable=SC2086
		run "$p by a profile $options" 0 gf-replay -q -p $p -c 2x4 --gpu-times "$T/past.tsv" --profile "$T/slow.h5" \
			$options -o "$T/good" "$jobs"
		run "$p by a profile $options: a good log" 0 gf-verify --jobs "$jobs" --gpu-times "$T/past.tsv" --profile "$T/slow.h5" "$T/good"
		has "$p by a profile $options: the rule applies" "$T/out" '^gittins-order	ok	[1-9]'
	done
done
good 'by a profile, the smallest first' key-order -p smallest -c 2x4 --placement consolidate
# shellcheck disable=SC2086
gf-replay -q -p shortest-gpu -c 2x4 --placement consolidate $profiles "$jobs" | sed 's/^#policy=shortest-gpu$/#policy=smallest/' >"$T/bad"
caught 'by a profile, not the smallest first' key-order
only 'by a profile, not the smallest first'

# ---- sizes that were not measured on a type ----
profiles="--profile slow=$T/slow.h5 --profile fast=$T/fast.h5" jobs=$T/sizes.tsv
{
	printf 'job_id\tapp\tsubmit_s\tgpus\tbatch_size\tgpu_type\n'
	printf 'a\tcifar10\t0\t2\t512\tNA\nb\tbert\t1\t4\t24\tNA\nc\tcifar10\t2\t4\t512\tfast\n'
} >"$jobs"
for p in fifo fjf sjf srtf tiresias; do
	good "$p, a type without an application" gpu-type -p $p -c fast:2x4,slow:1x4
	has "$p, a type without an application: the other one it is" "$good" "${tab}start${tab}b${tab}4${tab}2:4"
done
mutate 'on the type without an application' gpu-type 'id == "b" && ev == "start" { $5 = "1:4" } { put() }'
# shellcheck disable=SC2086
run 'none that is large enough' 1 gf-replay -p srtf -c fast:2x4,slow:1x2 $profiles "$jobs"
has 'none that is large enough: by its size' "$T/err" 'job b asks for 4 GPUs of the 2 of one type'
printf 'd\tdeepspeech2\t3\t4\t20\tNA\n' >>"$jobs"
# shellcheck disable=SC2086
run 'a size that was not measured' 1 gf-replay -p srtf -c fast:2x4,slow:1x4 $profiles "$jobs"
is 'a size that was not measured: job, size and type' "$T/err" "gf-replay: $jobs:5: job d: not measured on 4 GPUs of a type that it \
may have; of 'slow': application 'deepspeech2', placement 4: local batch size '5' was not measured (expected 10 to 80)"
# what follow places nobody looks at before
printf 'time_s\tjob_id\tnodes\n0\ta\t0:2\n1\tb\t1:4\n' >"$T/allocations.tsv"
sed 4,5d "$jobs" >"$T/two.tsv"
# shellcheck disable=SC2086
run 'followed to a type without an application' 1 gf-replay -p follow --allocations "$T/allocations.tsv" -c fast:2x4,slow:1x4 \
	$profiles "$T/two.tsv"
is 'followed to a type without an application: said so' "$T/err" \
	"gf-replay: job b: application 'bert' was not measured on GPUs of type 'fast'"
