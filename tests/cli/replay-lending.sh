# SPDX-License-Identifier: MIT
# A node that a virtual cluster lends the profiler, and the order in which jobs of virtual clusters start: what the
# replay does, and that the verifier sees what is wrong. All measurements and jobs are made up.
. tests/cli/lib.sh
tab=$(printf '\t')
tsv() { tr ' ' '\t'; }

tsv >"$T/configs.tsv" <<X
app dataset batch_size amp gpu_util_pct fb_used_mib label
small d1 16 0 20 2000 0
big d2 32 0 90 9000 2
X
tsv >"$T/pairs.tsv" <<X
app1 dataset1 batch_size1 amp1 speed1 app2 dataset2 batch_size2 amp2 speed2
small d1 16 0 0.9 small d1 16 0 0.8
big d2 32 0 0.75 small d1 16 0 0.6
X
C="--configs $T/configs.tsv --pairs $T/pairs.tsv"
# Fourteen jobs come at once and wait for a profiler of two GPUs; b and c hold nodes of the lender.
awk 'BEGIN {
	OFS = "\t"
	print "job_id", "group", "submit_s", "gpus", "duration_s", "predicted_s", "app", "dataset", "batch_size", "amp"
	print "b", "blue", 0, 4, 900, 900, "big", "d2", 32, 0
	print "c", "blue", 0, 3, 65, 65, "small", "d1", 16, 0
	for (i = 0; i < 14; i++) print "r" i, "red", 3, 2, 30 + 40 * (i % 2), 100, "big", "d2", 32, 0
	print "w", "blue", 70, 4, 100, 100, "big", "d2", 32, 0
	print "z", "red", 800, 2, 10, 10, "big", "d2", 32, 0
}' >"$T/jobs.tsv"
awk 'BEGIN { OFS = "\t"; print "time_s", "jobs", "gpus"; for (i = 0; i < 20; i++) print 100 * i, 5, i < 7 ? 90 : 4 }' \
	>"$T/forecast.tsv"
moves() { awk -F '\t' '$2 ~ /^(lend|regain|cluster)$/ { print $1, $2, $4, $5 }' "$1"; }
V="--virtual-clusters --placement consolidate --profiler red:1 --profiler-time 60 --profiler-gpus 2"

# shellcheck disable=SC2086
run "a node is lent" 0 gf-replay -p lucid -c red:3x2,blue:4x2 $V --skip-too-large --profiler-lender blue \
	--forecast "$T/forecast.tsv" $C "$T/jobs.tsv"
cp "$T/out" "$T/log"
moves "$T/log" >"$T/moves"
is "an empty one, once there is one; it comes back when few GPUs are expected" "$T/moves" "0 cluster 14 7x2
70 lend 2 4:2
600 regain 2 4:2"
has "jobs are profiled on it" "$T/log" "^70${tab}(start|profile)${tab}r[0-9]*${tab}2${tab}4:2"
has "and those of its own wait for it" "$T/log" "^600${tab}start${tab}w${tab}4${tab}3:2,4:2"
# shellcheck disable=SC2086
run "the verifier agrees" 0 gf-verify --only-violated -j "$T/jobs.tsv" $C "$T/log"
# shellcheck disable=SC2086
run "all rules" 0 gf-verify -j "$T/jobs.tsv" $C "$T/log"
has "lending was looked at" "$T/out" "^profiler-lending${tab}ok${tab}2"
# shellcheck disable=SC2086
run "the same in the simulator of Lucid" 0 gf-replay -p lucid --fidelity lucid-asplos23 -c red:3x2,blue:4x2 $V \
	--skip-too-large --profiler-lender blue --forecast "$T/forecast.tsv" $C "$T/jobs.tsv"
cp "$T/out" "$T/log2"
moves "$T/out" >"$T/moves"
is "the profiler grows when it likes, by a node that nobody has" "$T/moves" "0 cluster 14 7x2
10 cluster 16 8x2
10 lend 2 7:2
600 regain 2 7:2"
# shellcheck disable=SC2086
run "the verifier agrees with that, too" 0 gf-verify --only-violated -j "$T/jobs.tsv" $C "$T/log2"
run "metrics" 0 gf-metrics "$T/log"
# shellcheck disable=SC2086
run "no such lender" 2 gf-replay -p lucid -c red:3x2,blue:4x2 $V --profiler-lender green --forecast "$T/forecast.tsv" \
	$C "$T/jobs.tsv"
is "is named" "$T/err" "gf-replay: --profiler-lender green: no such virtual cluster
Try 'gf-replay --help'."
# shellcheck disable=SC2086
run "a lender without a forecast" 2 gf-replay -p lucid -c red:3x2,blue:4x2 $V --profiler-lender blue $C "$T/jobs.tsv"
is "says what it needs" "$T/err" "gf-replay: --profiler-lender needs --profiler and --forecast
Try 'gf-replay --help'."
# shellcheck disable=SC2086
run "without virtual clusters" 0 gf-replay -p lucid -c 7x2 --profiler 1 --profiler-time 60 --profiler-gpus 2 \
	--profiler-lender cluster --forecast "$T/forecast.tsv" $C "$T/jobs.tsv"
has "the cluster lends" "$T/out" "^[0-9]*${tab}lend"

# ---- lending that is wrong ----

good=$T/log
# shellcheck disable=SC2086
judge() { gf-verify --only-violated -j "$T/jobs.tsv" $C "$1"; }
mutate "a node that is in use" profiler-lending 'ev == "lend" { $5 = "5:2" } { put() }'
mutate "a node of another virtual cluster" profiler-lending 'ev == "lend" { $5 = "0:2" } { put() }'
mutate "at another instant" profiler-lending 'ev == "lend" { $1 = 131 } ev == "regain" { $1 = 701 } { put() }'
mutate "a node that was not lent" profiler-lending 'ev == "regain" { $5 = "3:2" } { put() }'
mutate "a node that nobody lends" profiler-limits 'ev == "lend" || ev == "regain" { next } { put() }'
remeta "more have to wait" profiler-lending 's/^#lend_above=.*/#lend_above=99/'
remeta "fewer may wait" profiler-lending 's/^#regain_below=.*/#regain_below=0/'
mutate "a job of its own on a node that is lent" virtual-cluster 'ev == "regain" { next } { put() }'

# ---- the order of queues ----

# queue NAME POLICY…: jobs of two virtual clusters that queue
awk 'BEGIN {
	OFS = "\t"
	print "job_id", "group", "submit_s", "gpus", "duration_s", "predicted_s", "app", "dataset", "batch_size", "amp"
	for (i = 0; i < 40; i++)
		print "q" i, i % 3 ? "red" : "blue", 10 * int(i / 2), i % 4 ? 1 + i % 2 : 4, 100 + 37 * (i * 7 % 11),
			100 + 29 * (i * 5 % 13), i % 5 ? "big\td2\t32\t0" : "small\td1\t16\t0"
}' >"$T/jobs.tsv"
queue() {
	queue_name=$1
	shift
	# shellcheck disable=SC2086
	run "$queue_name" 0 gf-replay --virtual-clusters -c red:2x4,blue:1x4 "$@" -o "$T/log" "$T/jobs.tsv"
	run "$queue_name: the verifier agrees" 0 judge "$T/log"
}
# swapped: the two first starts of one size in one virtual cluster that are not at one time change places
swap='ev == "start" { k = gpus " " (nodes ~ /^2/); if (!done && (k in at) && t != when[k]) { a = at[k]; b = id; done = 1 }
	if (!(k in at) || t == when[k]) { at[k] = id; when[k] = t } } { line[++m] = $0 }'
swapped() {
	awk -F '\t' -v OFS='\t' '
		{ t = $1; ev = $2; id = $3; gpus = $4; nodes = $5 }
		/^#/ || !head { if (!/^#end/) print; if (!/^#/) head = 1; next }
		'"$swap"'
		END {
			for (i = 1; i <= m; i++) {
				$0 = line[i]
				if ($2 != "submit") { if ($3 == a) $3 = b; else if ($3 == b) $3 = a }
				print
			}
			print "#end rows=" m
		}' "$good" >"$T/bad"
	caught "$1: two jobs change places" next-to-start
}
for p in fifo sjf qssf; do
	judge() { gf-verify --only-violated -j "$T/jobs.tsv" "$1"; }
	queue "$p" -p $p --placement consolidate
	swapped "$p"
	mutate "$p: a job waits although it fits" next-to-start \
		'ev == "finish" && !done { done = 1; $1 -= 40 } { put() }'
	mutate "$p: another node" placement-rule 'ev == "start" && nodes == "0:1" && once(1) { $5 = "1:1" } { put() }'
	queue "$p, first fit" -p $p --placement first-fit
	queue "$p, as in the simulator of Lucid" -p $p --fidelity lucid-asplos23
done
# shellcheck disable=SC2086
judge() { gf-verify --only-violated -j "$T/jobs.tsv" $C "$1"; }
for p in lucid horus; do
	# shellcheck disable=SC2086
	queue "$p" -p $p --placement consolidate $C
	swapped "$p"
	mutate "$p: alone, although there is a partner" pack-first \
		'ev == "start" && $12 != "NA" && !x { x = id; $12 = "NA"; $13 = 1 } ev == "share" && $12 == x && x != "" { next } { put() }'
	# shellcheck disable=SC2086
	queue "$p without packing" -p $p --no-packing --placement consolidate $C
	remeta "$p: nobody shares although they may" next-to-start 's/^#packing=.*/#packing=on/'
	# shellcheck disable=SC2086
	queue "$p, as in the simulator of Lucid" -p $p --fidelity lucid-asplos23 $C
	# shellcheck disable=SC2086
	queue "$p, its own placement" -p $p $C
	# shellcheck disable=SC2086
	queue "$p, random" -p $p --placement random $C
done
