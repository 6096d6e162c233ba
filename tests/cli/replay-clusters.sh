# SPDX-License-Identifier: MIT
# Virtual clusters and placements of gf-replay.
. tests/cli/lib.sh
tab=$(printf '\t')
events() { awk -F '\t' '/^[0-9]/ && $2 != "cluster" { print $1, $2, $3, $5 }' "$1"; }
job_table() { printf 'job_id\tsubmit_s\tgpus\tduration_s\tgroup\n'; tr ' ' '\t'; }

job_table >"$T/jobs.tsv" <<X
a 0 8 100 left
b 1 8 10 left
c 2 4 10 right
d 3 4 5 right
e 3 1 5 right
X
run "two virtual clusters" 0 gf-replay -c left:1x8,right:1x4 --virtual-clusters "$T/jobs.tsv"
events "$T/out" >"$T/events"
is "each is scheduled by itself, nodes are numbered through" "$T/events" "0 submit a -
0 start a 0:8
1 submit b -
2 submit c -
2 start c 1:4
3 submit d -
3 submit e -
12 finish c -
12 start d 1:4
17 finish d -
17 start e 1:1
22 finish e -
100 finish a -
100 start b 0:8
110 finish b -"
has "the log names them" "$T/out" "^#virtual_clusters=left:1x8,right:1x4$"
cp "$T/out" "$T/log.tsv"
run "the verifier follows" 0 gf-verify -j "$T/jobs.tsv" "$T/log.tsv"
has "and looked" "$T/out" "^virtual-cluster${tab}ok"
sed "s/^2${tab}start${tab}c${tab}4${tab}1:4/2${tab}start${tab}c${tab}4${tab}0:4/" "$T/log.tsv" >"$T/bad.tsv"
run "nodes of another virtual cluster" 1 gf-verify --only-violated -j "$T/jobs.tsv" "$T/bad.tsv"
has "are not its own" "$T/out" "^virtual-cluster${tab}violated.*node 0, the nodes of 'right' for jobs are 1 to 1"
printf 'group\tnodes\tgpus_per_node\nleft\t1\t8\nnone\t0\t8\nright\t1\t4\n' >"$T/vc.tsv"
run "from a cluster table" 0 gf-replay -c "$T/vc.tsv" --virtual-clusters "$T/jobs.tsv"
same "the same log" "$T/out" "$T/log.tsv"
for p in srtf tiresias; do
	run "$p, at ticks" 0 gf-replay -p $p -i 7 -c left:1x8,right:1x4 --virtual-clusters "$T/jobs.tsv"
	cp "$T/out" "$T/both"
	for vc in left right; do
		gf-select --where "group=$vc" "$T/jobs.tsv" >"$T/part.tsv"
		gf-replay -p $p -i 7 -c "$([ $vc = left ] && echo 1x8 || echo 1x4)" "$T/part.tsv" | events - |
			awk '{ print $1, $2, $3 }' >"$T/alone.$vc"
	done
	events "$T/both" | awk '{ print $1, $2, $3 }' | sort >"$T/events"
	sort "$T/alone.left" "$T/alone.right" >"$T/alone"
	same "$p: as each alone" "$T/events" "$T/alone"
done
run "a group that is no virtual cluster" 1 gf-replay -c left:1x8 --virtual-clusters "$T/jobs.tsv"
is "is named" "$T/err" "gf-replay: $T/jobs.tsv:4:group: unknown virtual cluster 'right' (expected one of the cluster's)"
cut -f 1-4 "$T/jobs.tsv" >"$T/none.tsv"
run "jobs without a group" 1 gf-replay -c left:1x8 --virtual-clusters "$T/none.tsv"
is "are told apart" "$T/err" "gf-replay: $T/none.tsv:2:group: missing (expected a virtual cluster)"
run "a part without a name" 2 gf-replay -c left:1x8,1x4 --virtual-clusters "$T/jobs.tsv"
is "is refused" "$T/err" "gf-replay: bad cluster 'left:1x8,1x4' (expected NAME:NODESxGPUS for each virtual cluster)
Try 'gf-replay --help'."
printf 'group\tnodes\tgpus_per_node\nx:y\t1\t8\n' >"$T/bad.tsv"
run "a name that no specification can hold" 1 gf-replay -c "$T/bad.tsv" --virtual-clusters "$T/jobs.tsv"
is "is refused, too" "$T/err" "gf-replay: $T/bad.tsv:2:group: bad name 'x:y' (expected no ':' or ',')"
run "larger than its virtual cluster" 1 gf-replay -c left:1x8,right:1x3 --virtual-clusters "$T/jobs.tsv"
is "is said" "$T/err" "gf-replay: $T/jobs.tsv: job c asks for 4 GPUs of the 3 of 'right', job d asks for 4 GPUs of the 3 of 'right' (--skip-too-large rejects such jobs)"

run "without it" 0 gf-replay -q -c left:1x8,right:1x3 --virtual-clusters --skip-too-large "$T/jobs.tsv"
cp "$T/out" "$T/small.log"
run "it is rejected, and the verifier knows why" 0 gf-verify -j "$T/jobs.tsv" "$T/small.log"

job_table >"$T/place.tsv" <<X
a 0 3 50 -
b 1 4 50 -
c 2 2 50 -
d 3 6 50 -
X
placed() {
	run "$1" 0 gf-replay -c 3x4 --placement "$1" "$T/place.tsv"
	events "$T/out" | awk '$2 == "start" { print $1, $3, $4 }' >"$T/events"
	is "$1: where jobs go" "$T/events" "$2"
}
placed emptiest "0 a 0:3
1 b 1:4
2 c 2:2
50 d 0:4,2:2"
placed consolidate "0 a 0:3
1 b 1:4
2 c 2:2
50 d 0:4,2:2"
placed first-fit "0 a 0:3
1 b 0:1,1:3
2 c 1:1,2:1
50 d 0:3,2:3"
job_table >"$T/split.tsv" <<X
a 0 3 50 -
b 1 3 30 -
c 2 2 50 -
X
run "consolidate waits for one node" 0 gf-replay -c 2x4 --placement consolidate "$T/split.tsv"
has "until b has gone" "$T/out" "^31${tab}start${tab}c${tab}2${tab}1:2"
run "consolidate-first does not" 0 gf-replay -c 2x4 --placement consolidate-first "$T/split.tsv"
has "and splits" "$T/out" "^2${tab}start${tab}c${tab}2${tab}0:1,1:1"
has "the log names the placement" "$T/out" "^#placement=consolidate-first$"
for p in srtf tiresias; do
	run "$p: who is covered and finds no room waits" 0 gf-replay -p $p -c 2x4 --placement consolidate "$T/split.tsv"
	has "$p: and starts when there is some" "$T/out" "^31${tab}start${tab}c${tab}2${tab}1:2"
done
gf-synth jobs --jobs 300 --seed 5 >"$T/many.tsv"
for seed in 1 2; do
	run "random, seed $seed" 0 gf-replay -q --no-meta -c 20x4 --skip-too-large --placement random --seed $seed "$T/many.tsv"
	mv "$T/out" "$T/random.$seed"
done
run "random again" 0 gf-replay -q --no-meta -c 20x4 --skip-too-large --placement random --seed 1 "$T/many.tsv"
same "the same seed, the same nodes" "$T/out" "$T/random.1"
! cmp -s "$T/random.1" "$T/random.2"
ok "another seed, other nodes" $?

# ---- qssf, and the conventions of the simulator of Lucid ----

# By predicted GPU time: b 4 x 10, d 1 x 60, c 2 x 50, e 1 x 100; equal ones by GPUs, then by order.
printf 'job_id\tsubmit_s\tgpus\tduration_s\tpredicted_s\n' >"$T/qssf.tsv"
tr ' ' '\t' >>"$T/qssf.tsv" <<X
a 0 4 20 5
b 1 4 30 10
c 2 2 30 50
d 3 1 30 60
e 4 1 30 100
f 4 2 30 -3
X
run "qssf" 0 gf-replay -p qssf -c 1x4 "$T/qssf.tsv"
events "$T/out" | awk '$2 == "start" { print $1, $3 }' >"$T/events"
is "qssf: predicted GPU time decides" "$T/events" "0 a
20 f
50 b
80 d
80 e
80 c"
cp "$T/out" "$T/qssf.log"
run "the verifier agrees" 0 gf-verify -j "$T/qssf.tsv" "$T/qssf.log"
has "it looked" "$T/out" "^qssf-order${tab}ok"
sed 's/^b	1	4	30	10/b	1	4	30	20/' "$T/qssf.tsv" >"$T/other.tsv"
run "with another prediction" 1 gf-verify --only-violated -j "$T/other.tsv" "$T/qssf.log"
has "the order is wrong" "$T/out" "^qssf-order${tab}violated"
cut -f 1-4 "$T/qssf.tsv" >"$T/bare.tsv"
run "qssf without predictions" 1 gf-replay -p qssf -c 1x4 "$T/bare.tsv"
is "says what is missing" "$T/err" "gf-replay: $T/bare.tsv:2:predicted_s: missing (expected seconds: what is thought of duration_s)"

# Of three jobs that come at once into an empty queue the smallest starts, ranked or not.
printf 'job_id\tsubmit_s\tgpus\tduration_s\tpredicted_s\nx\t0\t8\t10\t1\ny\t0\t4\t10\t9\nz\t0\t4\t10\t8\n' >"$T/burst.tsv"
run "a burst" 0 gf-replay -p qssf --fidelity lucid-asplos23 -c 1x8 "$T/burst.tsv"
events "$T/out" | awk '$2 == "start" { print $1, $3 }' >"$T/events"
is "the smallest first, then by rank" "$T/events" "0 y
0 z
10 x"

# srtf counts down: b takes a's place at 10, a has 95 s left and 40 s more; an end is noticed a second late.
job_table >"$T/down.tsv" <<X
a 0 8 105 -
b 10 8 20 -
X
run "srtf of that simulator" 0 gf-replay -p srtf --fidelity lucid-asplos23 -c 1x8 "$T/down.tsv"
events "$T/out" | awk '$2 != "submit" { print $1, $2, $3 }' >"$T/events"
is "a preemption adds work, ends are noticed late" "$T/events" "0 start a
10 preempt a
10 start b
31 finish b
31 resume a
167 finish a"
cp "$T/out" "$T/down.log"
run "the verifier counts along" 0 gf-verify -j "$T/down.tsv" "$T/down.log"
sed 's/^167/168/' "$T/down.log" >"$T/late.log"
run "a second later" 1 gf-verify --only-violated -j "$T/down.tsv" "$T/late.log"
has "is too late" "$T/out" "^epoch-time${tab}violated"
sed 's/^#preempt_work_s=40/#preempt_work_s=30/' "$T/down.log" >"$T/cheap.log"
run "a cheaper preemption" 1 gf-verify --only-violated -j "$T/down.tsv" "$T/cheap.log"
has "does not add up" "$T/out" "^progress${tab}violated"
run "tiresias of that simulator" 0 gf-replay -p tiresias --fidelity lucid-asplos23 --tiresias-threshold 400 \
	-c 1x8 "$T/down.tsv"
events "$T/out" | awk '$2 != "submit" { print $1, $2, $3 }' >"$T/events"
is "decides at 0, 60, 120; at 60 a is above the threshold" "$T/events" "0 start a
60 preempt a
60 start b
81 finish b
120 resume a
206 finish a"
cp "$T/out" "$T/down.log"
run "the verifier counts along there" 0 gf-verify -j "$T/down.tsv" "$T/down.log"
