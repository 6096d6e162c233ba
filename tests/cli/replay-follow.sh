# SPDX-License-Identifier: MIT
# gf-replay --policy follow: allocations of a table; what it refuses; how the verifier sees it.
. tests/cli/lib.sh

jobs=tests/data/jobs-small.tsv

# An event log is a table of allocations: followed, it comes out again.
for interval in 0 60; do
	for policy in srtf 'tiresias --tiresias-threshold 150'; do
		# shellcheck disable=SC2086
		run "$policy, interval $interval" 0 gf-replay -p $policy -c 2x4 -i $interval \
			--restart-delay 5 -o "$T/log.tsv" $jobs
		run "it is followed" 0 gf-replay -p follow --allocations "$T/log.tsv" -c 2x4 -i $interval \
			--restart-delay 5 -o "$T/again.tsv" $jobs
		grep -v '^#' "$T/log.tsv" >"$T/a"
		grep -v '^#' "$T/again.tsv" >"$T/b"
		same "and comes out again" "$T/a" "$T/b"
		run "the verifier agrees" 0 gf-verify --jobs $jobs --allocations "$T/log.tsv" "$T/again.tsv"
		has "as to the table, too" "$T/out" '^follow-table	ok	[1-9]'
	done
done
run "without the table" 2 gf-verify --jobs $jobs "$T/again.tsv"
has "the verifier asks for it" "$T/err" "made with allocations \(give them with --allocations\)"

# A log that was made by hand is held against the table.
broken() {	# NAME AWK: the log, changed
	awk -F '\t' -v OFS='\t' "$2" "$T/again.tsv" >"$T/broken.tsv"
	run "$1: a broken log" 1 gf-verify --jobs $jobs --allocations "$T/log.tsv" "$T/broken.tsv"
	has "$1: is caught" "$T/out" '^follow-table	violated'
}
broken "other nodes" '$2 == "resume" && !n++ { $5 = $5 ~ /^0/ ? "1:" $4 : "0:" $4 } { print }'
broken "more GPUs" '$2 == "start" && !n++ { $4 = 4; $5 = "0:2,1:2" } { print }'

# The three ways to say it, and who ends up where.
printf 'job_id\tsubmit_s\tgpus\tapp\na\t0\t4\tconv\nb\t0\t2\tconv\nc\t5\t1\tconv\n' >"$T/jobs.tsv"
printf 'class\tepoch\tgpus\twork\tspeed_per_s\n' >"$T/speed.tsv"
for g in 1 2 3 4 5 6; do printf 'conv\t0\t%s\t100\t%s\n' $g $g; done >>"$T/speed.tsv"
printf 'time_s\tjob_id\tnodes\tper_node\tgpus\n' >"$T/head"
{
	cat "$T/head"
	printf '0\ta\t1:2\tNA\tNA\n0\tb\tNA\t2,1\tNA\n5\tc\tNA\tNA\t1\n'
	printf '10\ta\tNA\t2,2\tNA\n10\tb\tNA\t2,1\tNA\n20\tb\t-\tNA\tNA\n20\tb\t0:1\tNA\tNA\n90\tc\tNA\tNA\t0\n95\tc\tNA\tNA\t6\n'
	printf '500\ta\t0:4\tNA\tNA\n'
} >"$T/table.tsv"
run "all three ways" 0 gf-replay -p follow --allocations "$T/table.tsv" -c 3x4 --speedups "$T/speed.tsv" \
	-o "$T/log.tsv" "$T/jobs.tsv"
awk -F '\t' '/^#/ { next } !n++ { next } $2 != "cluster" { print $1, $2, $3, $5 }' "$T/log.tsv" >"$T/events"
# b: two beside a, where most is taken, and one more on node 0; a then keeps its two and gets two beside b's one
is "every row took effect" "$T/events" "0 submit a -
0 submit b -
0 start a 1:2
0 start b 1:2,0:1
5 submit c -
5 start c 2:1
10 move a 1:2,0:2
20 move b 0:1
30 finish a -
60 finish b -
90 preempt c -
95 resume c 0:4,1:2
97.5 finish c -"
run "the verifier agrees" 0 gf-verify --jobs "$T/jobs.tsv" --speedups "$T/speed.tsv" --allocations "$T/table.tsv" \
	"$T/log.tsv"
has "as to all rows" "$T/out" '^follow-table	ok	[1-9]'
sed 's/^10	a	NA	2,2/10	a	NA	2,1/' "$T/table.tsv" >"$T/other.tsv"
run "another number on a node" 1 gf-verify --jobs "$T/jobs.tsv" --speedups "$T/speed.tsv" --allocations "$T/other.tsv" \
	"$T/log.tsv"
has "is another allocation" "$T/out" "^follow-table	violated	.*job 'a': the table gives 3 GPUs \(line 5\)"
sed '/^95/d' "$T/table.tsv" >"$T/less.tsv"
run "a row that the table does not have" 1 gf-verify --jobs "$T/jobs.tsv" --speedups "$T/speed.tsv" \
	--allocations "$T/less.tsv" "$T/log.tsv"
has "is one too many" "$T/out" "^follow-table	violated	.*job 'c': the allocation changes, and the table says nothing"

# refused: NAME STATUS MESSAGE TABLE-ROW [OPTION…]
refused() {
	{ cat "$T/head"; printf '%b\n' "$4"; } >"$T/bad.tsv"
	name=$1 status=$2 message=$3
	shift 4
	run "$name" "$status" gf-replay -p follow --allocations "$T/bad.tsv" -c 3x4 --speedups "$T/speed.tsv" "$@" \
		"$T/jobs.tsv"
	is "$name: says so" "$T/err" "gf-replay: $message"
}
refused "no such job" 1 "$T/bad.tsv:2:job_id: job 'x' is not in the jobs table" '0\tx\t0:1\tNA\tNA'
refused "too early" 1 "$T/bad.tsv:2:time_s: job 'c' gets GPUs before it is submitted" '4.999\tc\t0:1\tNA\tNA'
refused "no GPUs said" 1 "$T/bad.tsv:2: no allocation (expected a value in nodes, per_node or gpus)" '5\tc\tNA\tNA\tNA'
for text in 0:0 0 :1 '0:1,' ',0:1' '0:1,,1:1' 0:65 -1:2 0:1:2 x:1; do
	refused "nodes '$text'" 1 "$T/bad.tsv:2:nodes: bad allocation '$text' (expected $(
		case $text in 0:1,) echo 'no comma at its end)' ;; *) echo 'node:gpus such as 0:4,1:2, or - for none)' ;; esac)" \
		"5\tc\t$text\tNA\tNA"
done
refused "a node twice" 1 "$T/bad.tsv:2:nodes: node 1 twice in '1:1,1:2'" '5\tc\t1:1,1:2\tNA\tNA'
refused "per_node '2,x'" 1 "$T/bad.tsv:2:per_node: bad allocation '2,x' (expected GPUs on each node such as 4,2, or - for none)" \
	'5\tc\tNA\t2,x\tNA'
refused "half a GPU" 1 "$T/bad.tsv:2:gpus: bad number of GPUs 0.5 (expected 0 or more, whole)" '5\tc\tNA\tNA\t0.5'
refused "a node that is not there" 1 "$T/bad.tsv:2:nodes: job 'c' gets GPUs that are not free, or not there" \
	'5\tc\t3:1\tNA\tNA'
refused "GPUs that are held" 1 "$T/bad.tsv:3:nodes: job 'b' gets GPUs that are not free, or not there" \
	'5\ta\t0:4\tNA\tNA\n5\tb\t0:1\tNA\tNA'
refused "no nodes with so many" 1 "$T/bad.tsv:3:per_node: job 'b' finds no nodes with so many free GPUs" \
	'5\ta\t0:1,1:1,2:1\tNA\tNA\n5\tb\tNA\t4\tNA'
refused "more than there are" 1 "policy follow grants 13 GPUs to job c, but 12 are free" '5\tc\tNA\tNA\t13'
refused "jobs that the table leaves out" 1 "policy follow leaves 3 jobs waiting for ever" '5\tc\t-\tNA\tNA'
printf 'time_s\tjob_id\tgpus\n0\tj1\t3\n' >"$T/bad.tsv"
run "another size of a fixed duration" 1 gf-replay -p follow --allocations "$T/bad.tsv" -c 2x4 $jobs
has "has no duration" "$T/err" "job 'j1' gets (GPUs before|another number of GPUs than it asks for)"
run "no table" 2 gf-replay -p follow -c 2x4 $jobs
has "is asked for" "$T/err" 'gf-replay: --policy follow: this policy needs a table of allocations'
run "a table for another policy" 2 gf-replay -p fifo --allocations "$T/table.tsv" -c 2x4 $jobs
has "is of no use" "$T/err" 'gf-replay: --policy fifo: this policy has no use for allocations'
