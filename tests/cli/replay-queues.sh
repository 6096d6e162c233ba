#!/bin/sh
# SPDX-License-Identifier: MIT
# Queues of attained service and the other policies of the Tiresias simulator: what they do by hand, that
# every log is verified, and that broken ones are not.
. tests/cli/lib.sh
# shellcheck disable=SC2016

D=tests/data
tab=$(printf '\t')

# changes LOG: time, event, job of what happens to jobs after they came
changes() {
	awk -F '\t' '/^#/ { next } !n++ { next } $2 != "cluster" && $2 != "submit" { print $1, $2, $3 }' "$1"
}

# table FILE: rows "id submit gpus duration" of standard input as a jobs table
table() {
	{ echo "job_id${tab}submit_s${tab}gpus${tab}duration_s" && tr ' ' '\t'; } >"$1"
}

# ---- by hand ----

# long leaves the first queue at 100 / 2 s, and waits while the first queue has jobs
table "$T/two.tsv" <<'X'
long 0 2 90
late 60 2 30
X
run "two queues" 0 gf-replay -p tiresias --queues 100 -c 1x2 "$T/two.tsv"
changes "$T/out" >"$T/c"
is "a job that used up its share waits for a new one" "$T/c" "0 start long
60 preempt long
60 start late
90 finish late
90 resume long
120 finish long"
cp "$T/out" "$T/queues"
run "the older option" 0 gf-replay -p tiresias --tiresias-threshold 100 -c 1x2 "$T/two.tsv"
same "is the same" "$T/queues" "$T/out"
run "by time" 0 gf-replay -p tiresias --queues 100 --service time -c 1x2 "$T/two.tsv"
changes "$T/out" >"$T/c"
is "it does not use up its share" "$T/c" "0 start long
90 finish long
90 start late
120 finish late"
# in the second queue long has run for 20 s, and comes back when it has waited for 10
table "$T/three.tsv" <<'X'
long 0 2 60
b 20 2 100
X
run "promotion" 0 gf-replay -p tiresias --queues 40,90 --promote 0.5 -c 1x2 "$T/three.tsv"
changes "$T/out" >"$T/c"
is "a job that waited long enough comes back" "$T/c" "0 start long
20 preempt long
20 start b
40 preempt b
40 resume long
60 preempt long
60 resume b
80 preempt b
80 resume long
100 finish long
100 resume b
160 finish b"
cp "$T/out" "$T/three.log"
run "is verified" 0 gf-verify -j "$T/three.tsv" "$T/three.log"
table "$T/four.tsv" <<'X'
wide 0 4 100
pair 10 2 10
one 20 1 50
X
run "smallest first" 0 gf-replay -p smallest -c 1x4 "$T/four.tsv"
changes "$T/out" >"$T/c"
is "a job of fewer GPUs takes the place of a larger one" "$T/c" "0 start wide
10 preempt wide
10 start pair
20 finish pair
20 start one
70 finish one
70 resume wide
160 finish wide"
cp "$T/out" "$T/smallest"
run "sjf of the Tiresias simulator" 0 gf-replay -p sjf --fidelity tiresias-nsdi19 -c 1x4 "$T/four.tsv"
changes "$T/out" | cmp -s - "$T/c"
ok "is smallest job first" $?
has "and the log says so" "$T/out" '^#policy=smallest$'
run "sjf elsewhere" 0 gf-replay -p sjf -c 1x4 "$T/four.tsv"
hasnt "is not" "$T/out" "${tab}preempt${tab}"
table "$T/five.tsv" <<'X'
a 0 3 50
b 1 4 50
c 2 1 100
d 3 1 10
X
run "fit job first" 0 gf-replay -p fjf -c 1x4 "$T/five.tsv"
changes "$T/out" >"$T/c"
is "passes over jobs that do not fit" "$T/c" "0 start a
2 start c
50 finish a
50 start d
60 finish d
102 finish c
102 start b
152 finish b"

# Of sizes 3000 and 100000, a job that ran for 3250 s is a long one: it makes way then, though nobody came or went; at 6500 s
# the two are alike, and the earlier one goes first.
table "$T/quantum.tsv" <<'X'
a 0 1 5000
b 1 1 5000
X
printf 'duration\n3000\n100000\n' >"$T/two-sizes.tsv"
run "gittins looks again at multiples of 3250 s" 0 gf-replay -p gittins --gpu-times "$T/two-sizes.tsv" -c 1x1 "$T/quantum.tsv"
changes "$T/out" >"$T/c"
is "and lets another one run" "$T/c" "0 start a
3250 preempt a
3250 start b
6500 preempt b
6500 resume a
8250 finish a
8250 resume b
10000 finish b"

# ---- placement yarn, with switches ----
# two switches of two nodes: six GPUs are on the nodes of one of them
table "$T/wide.tsv" <<'X'
a 0 2 100
b 0 3 100
c 0 6 50
d 1 2 10
X
cluster() {
	printf 'nodes\tgpus_per_node\tcpus_per_node\tmem_gib_per_node\tswitches\n%s\n' "$1" | tr ' ' '\t' >"$T/cluster.tsv"
}
nodes() {
	awk -F '\t' '$2 == "start" { print $3, $1, $5 }' "$1"
}
cluster '4 4 64 256 2'
run "switches" 0 gf-replay -q -p fjf --placement yarn -c "$T/cluster.tsv" "$T/wide.tsv"
nodes "$T/out" >"$T/c"
is "a job on several nodes has those of one switch" "$T/c" "a 0 0:2
b 0 1:3
c 0 2:4,3:2
d 1 0:2"
grep -e '^#switches' -e '^#node' "$T/out" >"$T/meta"
is "the log says what nodes have" "$T/meta" "#switches=2
#node_cpus=64
#node_mem_gib=256"
cp "$T/out" "$T/wide.log"
run "is verified" 0 gf-verify -q --jobs "$T/wide.tsv" "$T/wide.log"
cluster '4 4 13 256 2'
run "few CPUs" 1 gf-replay -q -p fjf --placement yarn -c "$T/cluster.tsv" "$T/wide.tsv"
is "few CPUs: 6 a GPU" "$T/err" "gf-replay: $T/wide.tsv: job b asks for 3 GPUs behind one switch, with their CPUs and memory, \
job c asks for 6 GPUs behind one switch, with their CPUs and memory, the cluster has 16 (--skip-too-large rejects such jobs)"
cluster '4 4 64 46.3 2'
run "little memory" 0 gf-replay -q -p fjf --placement yarn --skip-too-large -c "$T/cluster.tsv" "$T/wide.tsv"
has "little memory: 11.6 a GPU on several nodes" "$T/out" "reject${tab}c${tab}"
cluster '4 4 64 46.4 2'
run "just enough memory" 0 gf-replay -q -p fjf --placement yarn -c "$T/cluster.tsv" "$T/wide.tsv"
cp "$T/out" "$T/placed"
run "another placement" 0 gf-replay -q -p fjf -c "$T/cluster.tsv" "$T/wide.tsv"
hasnt "another placement knows no switches" "$T/out" '^#switches'
cluster '4 4 64 256 3'
run "switches that nodes cannot be shared out to" 1 gf-replay -p fjf --placement yarn -c "$T/cluster.tsv" "$T/wide.tsv"
has "switches that nodes cannot be shared out to: said so" "$T/err" '3 switches for 4 nodes'
cluster '4 4 NA 256 2'
run "no CPUs" 1 gf-replay -p fjf --placement yarn -c "$T/cluster.tsv" "$T/wide.tsv"
is "no CPUs: where" "$T/err" "gf-replay: $T/cluster.tsv:2:cpus_per_node: missing, or out of range (expected 0 to 1000000)"
cluster '4 4 64 256 0'
run "no switches" 1 gf-replay -p fjf --placement yarn -c "$T/cluster.tsv" "$T/wide.tsv"
is "no switches: where" "$T/err" "gf-replay: $T/cluster.tsv:2:switches: 0 switches (expected 1 and more, of nodes that are alike)"

# Of sizes 10 and 1000 (GPU-seconds), a job that attained 50 is like the long one: the new one goes first.
table "$T/six.tsv" <<'X'
old 0 1 900
new 50 1 10
X
printf 'gpu_s\n10\n10\n10\n1000\n' >"$T/gpu-times"
for policy in gittins 'tiresias-g --queues 5000'; do
	# shellcheck disable=SC2086
	run "Gittins: $policy" 0 gf-replay -p $policy --gpu-times "$T/gpu-times" -c 1x1 "$T/six.tsv"
	changes "$T/out" >"$T/c"
	is "who is likely to be done soon goes first" "$T/c" "0 start old
50 preempt old
50 start new
60 finish new
60 resume old
910 finish old"
	cp "$T/out" "$T/g.log"
	run "verified" 0 gf-verify -j "$T/six.tsv" "$T/g.log"
	has "the log says from what" "$T/g.log" '^#input_gpu_times=[0-9a-f]{32}$'
done
run "of the jobs themselves" 0 gf-replay -p gittins -c 1x1 "$T/six.tsv"
printf 'duration\n10\n-1\n' >"$T/bad-times"
run "a negative GPU time" 1 gf-replay -p gittins --gpu-times "$T/bad-times" -c 1x1 "$T/six.tsv"
has "the message" "$T/err" "^gf-replay: $T/bad-times:3:duration: missing or out of range \(expected GPU-seconds\)$"
run "GPU times under another policy" 2 gf-replay -p fifo --gpu-times "$T/gpu-times" -c 1x1 "$T/six.tsv"
has "the message" "$T/err" '^gf-replay: --policy fifo: no use for --gpu-times$'
table "$T/seven.tsv" <<'X'
a 0 1 50
b 0 4 50
c 1 3 50
d 2 6 50
X
run "placement yarn" 0 gf-replay -p fjf --placement yarn -c 3x4 "$T/seven.tsv"
awk -F '\t' '$2 == "start" { print $1, $3, $5 }' "$T/out" >"$T/c"
is "the first node with room; idle nodes and the first for the rest" "$T/c" "0 a 0:1
0 b 1:4
1 c 0:3
50 d 1:4,2:2"

# ---- what is refused ----

for bad in '7200,3250' '3250,' 'x' '-1' '1,1.5'; do
	run "--queues $bad" 2 gf-replay -p tiresias "--queues=$bad" -c 1x4 "$T/four.tsv"
	has "the message" "$T/err" "^gf-replay: bad limit '.*' of --queues \(expected seconds of service that do not fall, such as 3250,7200\)$"
done
run "--queues and --tiresias-threshold" 2 gf-replay -p tiresias --queues 5 --tiresias-threshold 5 -c 1x4 "$T/four.tsv"
has "the message" "$T/err" '^gf-replay: both --queues and --tiresias-threshold \(expected one of them\)$'
run "sixteen limits" 2 gf-replay -p tiresias --queues 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16 -c 1x4 "$T/four.tsv"
has "the message" "$T/err" 'too many queues \(expected at most 15 limits\)$'
run "--stale-ends elsewhere" 2 gf-replay -p tiresias --stale-ends -c 1x4 "$T/four.tsv"
has "the message" "$T/err" '^gf-replay: --stale-ends needs --fidelity tiresias-nsdi19$'

# ---- a defect, by hand ----

# b would end at 80, when c comes. By then it has left the first queue; at 75 a is promoted, and takes its GPU.
table "$T/stale.tsv" <<'X'
a 0 1 70
b 50 1 30
c 80 1 20
X
for how in '' --stale-ends; do
	# shellcheck disable=SC2086
	run "an end at the instant of an arrival $how" 0 gf-replay -p tiresias --queues 10,40 --promote 0.5 $how \
		--fidelity tiresias-nsdi19 -c 1x1 "$T/stale.tsv"
	cp "$T/out" "$T/stale$how"
done
changes "$T/stale" >"$T/c"
has "a comes back at 75" "$T/c" '^75 resume a$'
hasnt "b does not end at 80" "$T/c" '^80 finish b$'
run "that is verified" 0 gf-verify -j "$T/stale.tsv" "$T/stale"
changes "$T/stale--stale-ends" >"$T/c"
has "with the defect it does" "$T/c" '^80 finish b$'
run "and the verifier says so" 1 gf-verify -j "$T/stale.tsv" "$T/stale--stale-ends"
has "the work is not done" "$T/out" "^work-complete${tab}violated"
has "it waits when it ends" "$T/out" "^state-machine${tab}violated"

# ---- every log is verified ----

awk 'BEGIN { OFS = "\t"; x = 7; y = 3; t = 0; print "job_id", "submit_s", "gpus", "duration_s"
	for (i = 1; i <= 300; i++) {
		x = (x * 1103515245 + 12345) % 2147483648; t += x % 7 == 0 ? 0 : x % 61
		y = (y * 69069 + x) % 4294967296
		print "j" i, t, 1 + (y % 5) * (y % 3), (y % 1000) + (i % 4) * 0.25 } }' >"$T/many.tsv"
while read -r how; do
	for more in '' '--interval 7.5 --restart-delay 3' '--fidelity tiresias-nsdi19'; do
		# shellcheck disable=SC2086
		run "replay of 300 jobs: $how $more" 0 gf-replay --policy $how --cluster 2x4,1x8 $more "$T/many.tsv"
		mv "$T/out" "$T/log.tsv"
		run "verified: $how $more" 0 gf-verify --jobs "$T/many.tsv" --only-violated "$T/log.tsv"
		hasnt "nothing violated" "$T/out" '	violated	'
	done
done <<'X'
tiresias
tiresias --promote 0.5
tiresias --service time --queues 100,300,300,900 --promote 0.1
fjf
smallest
shortest
shortest-gpu
X
gf-prof --from pollux $D/profile-mini -o "$T/mini.h5"
ok 'profiles' $?
for policy in fjf smallest shortest-gpu 'tiresias --queues 600,9000 --promote 2'; do
	for how in '' '--interval 60' '--fidelity tiresias-nsdi19'; do
		# shellcheck disable=SC2086
		gf-replay --policy $policy --cluster 3x4 $how --profile "$T/mini.h5" $D/verify-profile-jobs.tsv >"$T/log.tsv"
		ok "replay with a profile: $policy $how" $?
		run "verified: $policy $how" 0 gf-verify --jobs $D/verify-profile-jobs.tsv \
			--profile "$T/mini.h5" --only-violated "$T/log.tsv"
		hasnt "nothing violated" "$T/out" '	violated	'
	done
done

# ---- and broken ones are not ----

fresh queues.log --policy tiresias --queues 50,150 --promote 0.2 --cluster 2x4 $D/jobs-small.tsv
use "$T/queues.log" $D/jobs-small.tsv
remeta 'queues: another factor of promotion' tiresias-queues 's/^#tiresias_promote=.*/#tiresias_promote=5/'
remeta 'queues: no promotion' tiresias-queues '/^#tiresias_promote/d'
remeta 'queues: another limit of the second' tiresias-queues 's/^#tiresias_queues=.*/#tiresias_queues=50,400/'
remeta 'queues: one less' tiresias-queues 's/^#tiresias_queues=.*/#tiresias_queues=50/'
remeta 'queues: another service' tiresias-queues 's/^\(#tiresias_service\)=.*/\1=time/'
remeta 'queues: in the order of entering' tiresias-queues 's/^\(#tiresias_order\)=.*/\1=entered/'
remeta 'queues: limits that fall' meta-consistent 's/^#tiresias_queues=.*/#tiresias_queues=150,50/'
remeta 'queues: no service of that name' meta-consistent 's/^\(#tiresias_service\)=.*/\1=money/'
remeta 'queues: a factor that is none' meta-consistent 's/^\(#tiresias_promote\)=.*/\1=-1/'
fresh late.log --policy tiresias --queues 50,150 --cluster 2x4 --fidelity tiresias-nsdi19 $D/jobs-small.tsv
use "$T/late.log" $D/jobs-small.tsv
remeta 'queues: woken at the very instants' tiresias-queues '/^#tiresias_wake/d'
fresh fjf.log --policy fjf --cluster 2x4 $D/jobs-small.tsv
use "$T/fjf.log" $D/jobs-small.tsv
remeta 'fjf: jobs pass others' fifo-order 's/^#policy=fjf$/#policy=fifo/'
mutate 'fjf: two jobs change places' fjf-order \
	'ev != "submit" && id == "j8" { $3 = "j9" } ev != "submit" && id == "j9" { $3 = "j8" }
	{ put() }'
fresh fifo.log --policy fifo --cluster 2x4 $D/jobs-small.tsv
use "$T/fifo.log" $D/jobs-small.tsv
remeta 'fjf: a job that fits waits' fjf-order 's/^#policy=fifo$/#policy=fjf/'
fresh smallest.log --policy smallest --cluster 2x4 $D/jobs-small.tsv
use "$T/smallest.log" $D/jobs-small.tsv
remeta 'smallest: not by GPU time' key-order 's/^#policy=smallest$/#policy=shortest-gpu/'
fresh gpu.log --policy shortest-gpu --cluster 2x4 $D/jobs-small.tsv
use "$T/gpu.log" $D/jobs-small.tsv
remeta 'shortest-gpu: not by GPUs' key-order 's/^#policy=shortest-gpu$/#policy=smallest/'
remeta 'shortest-gpu: not by time' srtf-order 's/^#policy=shortest-gpu$/#policy=srtf/'
