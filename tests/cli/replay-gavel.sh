# SPDX-License-Identifier: MIT
# gf-replay: the policies of Gavel in rounds, with rates by GPU type; and how the verifier sees their logs.
. tests/cli/lib.sh
D=tests/data
R=$D/gavel-rates.tsv J=$D/gavel-jobs.tsv C=fast:2x2,mid:1x4,slow:4x1

replay() {
	gf-replay --cluster $C --rates $R "$@"
}

# Every policy, by both conventions: what the log says is so, and no type has more than it has.
for f in none gavel-osdi20; do
	for p in fifo isolated fairness fairness-agnostic makespan finish-time throughput; do
		run "$p, $f" 0 replay -p gavel-$p --fidelity $f --shares "$T/shares" -o "$T/log" $J
		run "$p, $f: the verifier agrees" 0 gf-verify --jobs $J --rates $R --shares "$T/shares" "$T/log"
		has "$p, $f: as to the shares, too" "$T/out" '^gavel-shares	ok	[1-9]'
		has "$p, $f: and as to the order in rounds" "$T/out" '^gavel-order	ok	[1-9]'
		awk -F '\t' '/^#/ || $1 == "time_s" { next } { k = $1 OFS $2; row[k] += $4; seen[$1 OFS $3]++
				if ($4 < 0) print }
			END { for (k in row) if (row[k] > 1.000001) print k, row[k] }' "$T/shares" >"$T/found"
		is "$p, $f: no job has more than all of the time" "$T/found" ""
		cp "$T/log" "$T/log.$p"
		cp "$T/shares" "$T/shares.$p"
		replay -p gavel-$p --fidelity $f --shares "$T/shares" -o "$T/log" $J
		same "$p, $f: again, the same bytes" "$T/log" "$T/log.$p"
		same "$p, $f: and shares" "$T/shares" "$T/shares.$p"
	done
done
run "with a restart delay" 0 replay -p gavel-fairness --restart-delay 30 -o "$T/log" $J
run "the verifier agrees" 0 gf-verify --jobs $J --rates $R --only-violated "$T/log"

# By hand: one job of 700 steps, 2 a second where it is fastest. Rounds are at multiples of 360 s.
printf 'gpu_type\tapp\tgpus\tsteps_per_s\nfast\tp\t1\t2\nslow\tp\t1\t1\nfast\tp\t2\t3\nslow\tp\t2\t0\n' >"$T/rates"
printf 'job_id\tapp\tsubmit_s\tgpus\twork\na\tp\t10\t1\t700\n' >"$T/jobs"
events() {
	awk -F '\t' '/^#/ || $1 == "time_s" || $2 == "cluster" { next } { print $1, $2, $3, $5, $9 }' "$T/log"
}
run "one job" 0 gf-replay -p gavel-fairness -c fast:1x1,slow:1x1 --rates "$T/rates" -o "$T/log" "$T/jobs"
events >"$T/found"
is "runs at its rate, to its last step" "$T/found" "10 submit a - NA
360 start a 0:1 0
710 finish a - 700"
# In rounds of whole steps it begins at once. 360 s are 720 steps; 1000 steps are two rounds.
sed '2s/700/1000.0/' "$T/jobs" >"$T/longer"
run "whole steps" 0 gf-replay -p gavel-fairness --fidelity gavel-osdi20 -c fast:1x1,slow:1x1 --rates "$T/rates" \
	-o "$T/log" "$T/longer"
events >"$T/found"
is "a round, and what is left" "$T/found" "10 submit a - NA
10 start a 0:1 0
370 batch a 0:1 720
510 finish a - 1000"
# Two equal jobs and one fast GPU: by fairness each is on it every other round.
printf 'job_id\tapp\tsubmit_s\tgpus\twork\na\tp\t0\t1\t2160\nb\tp\t0\t1\t2160\n' >"$T/jobs"
run "two jobs" 0 gf-replay -p gavel-fairness --interval 100 -c fast:1x1,slow:1x1 --rates "$T/rates" -o "$T/log" "$T/jobs"
events | awk '$2 == "move" { n++ } $2 == "finish" { print $1, $3 } END { print (n > 20 && n < 32) ? "take turns" : n }' >"$T/found"
is "take turns, 15 rounds each but for the last steps" "$T/found" "1530 b
1560 a
take turns"
# Two GPUs on nodes of one: at the rate of the row that is consolidated, or else of the one that is not.
printf 'gpu_type\tconsolidated\tapp\tgpus\tsteps_per_s\nfast\t1\tp\t2\t4\nfast\t0\tp\t2\t1\n' >"$T/apart"
printf 'job_id\tapp\tsubmit_s\tgpus\twork\na\tp\t0\t2\t400\n' >"$T/two"
for c in 1x2:100 2x1:400; do
	run "two GPUs, ${c%:*}" 0 gf-replay -p gavel-fifo -c fast:"${c%:*}" --rates "$T/apart" -o "$T/log" "$T/two"
	run "the verifier agrees" 0 gf-verify --jobs "$T/two" --rates "$T/apart" --only-violated "$T/log"
	events | awk '$2 == "start" { s = $1 } $2 == "finish" { print $1 - s }' >"$T/found"
	is "two GPUs, ${c%:*}: their rate" "$T/found" "${c#*:}"
done
# Shares are computed again no sooner than asked.
run "--reallocate" 0 replay -p gavel-fairness --reallocate 1500 --shares "$T/shares" -o "$T/log" $J
awk -F '\t' '/^#/ || $1 == "time_s" { next } $1 != last { if (last != "" && $1 - last < 1500) print last, $1; last = $1; n++ }
	END { print (n > 2) }' "$T/shares" >"$T/found"
is "is kept to" "$T/found" "1"

# ---- the verifier ----
replay -p gavel-fairness --fidelity gavel-osdi20 -o "$T/log" $J
broken() {	# NAME RULE AWK: the log, changed
	awk -F '\t' -v OFS='\t' "$3" "$T/log" >"$T/broken"
	run "$1: a broken log" 1 gf-verify --jobs $J --rates $R "$T/broken"
	has "$1: is caught" "$T/out" "^$2	violated"
}
broken "an end too early" epoch-time '$2 == "finish" && !n++ { $1 -= 5 } { print }'
broken "too much progress" progress '$2 == "batch" && !n++ { $9 += 3 } { print }'
broken "a round broken off" gavel-round '$2 == "batch" && $1 > 1000 && !t { t = $1 } $1 == t && /^[0-9]/ && $2 == "batch" { $1 -= 7 }
	{ print }'
replay -p gavel-fairness -o "$T/log" $J
broken "not at an instant of decision" decision-instants '$2 == "move" && !n++ { $1 += 1 } { print }'
replay -p gavel-makespan --shares "$T/shares" -o "$T/log" $J
shares() {	# NAME AWK REASON: the shares, changed
	awk -F '\t' -v OFS='\t' -v CONVFMT=%.17g "$2" "$T/shares" >"$T/broken"
	run "$1: broken shares" 1 gf-verify --jobs $J --rates $R --shares "$T/broken" "$T/log"
	has "$1: are caught" "$T/out" "^gavel-shares	violated	.*$3"
}
shares "too much" '/^[0-9]/ && $4 > 0.5 && !n++ { $4 += 0.6 } { print }' 'the shares of [0-9.]* s: '
shares "another value" '/^[0-9]/ && !n++ { $5 *= 1.001 } { print }' 'come to .*, the table says'
shares "less" '/^[0-9]/ { $4 *= 0.9; $5 /= 0.9 } { print }' 'was to be had'
shares "of another time" '/^[0-9]/ { $1 += 1 } { print }' 'where there was no decision'
# Who is served first, with rounds that change nothing between computations: two of three on one GPU of a type
cat >"$T/three" <<'X'
job_id	app	submit_s	gpus	work
a	p	0	1	9000
b	p	0	1	9000
c	p	0	1	9000
X
printf 'gpu_type\tapp\tgpus\tsteps_per_s\nfast\tp\t1\t2\nslow\tp\t1\t1\n' >"$T/rates3"
run "three jobs" 0 gf-replay -p gavel-fairness --interval 100 --restart-delay 10 -c fast:1x1,slow:1x1 --rates "$T/rates3" --shares "$T/shares3" \
	-o "$T/log3" "$T/three"
run "three jobs: verified" 0 gf-verify --jobs "$T/three" --rates "$T/rates3" --shares "$T/shares3" "$T/log3"
has "three jobs: each round" "$T/out" '^gavel-order	ok	[1-9][0-9]'
served() {	# NAME AWK REASON: the shares, or with log before it the log, changed
	cp "$T/log3" "$T/log3.b" && cp "$T/shares3" "$T/shares3.b"
	case $1 in log*) f=log3 ;; *) f=shares3 ;; esac
	awk -F '\t' -v OFS='\t' -v CONVFMT=%.17g "$2" "$T/$f" >"$T/$f.b"
	run "$1: is no good log" 1 gf-verify --jobs "$T/three" --rates "$T/rates3" --shares "$T/shares3.b" "$T/log3.b"
	has "$1: somebody else was due" "$T/out" "^gavel-order	violated	.*$3"
}
# a and b change places from a time on; the work is the same, and so are the shares
served 'log: two jobs change places' '$1 ~ /^[0-9]/ && $1 >= 300 && $3 == "a" { $3 = "b"; print; next }
	$1 ~ /^[0-9]/ && $1 >= 300 && $3 == "b" { $3 = "a" } { print }' 'by its priority [0-9.]* it is due|of priority'
served 'shares of two jobs change places' '/^[0-9]/ && $2 == "a" { $2 = "c"; print; next } /^[0-9]/ && $2 == "c" { $2 = "a" }
	/^[0-9]/ && $2 == "b" { $4 *= 0.01 } { print }' 'by its priority|of priority'
served 'shares: a computation is missing' '/^#/ { next } /^[0-9]/ && first == "" { first = $1 } /^[0-9]/ && $1 != first { next } { print }' \
	'though jobs came or went'
# the same in rounds of whole steps: types in a known order, and in one that is drawn
for p in fairness fairness-agnostic; do
	run "three jobs, $p, whole steps" 0 gf-replay -p gavel-$p --fidelity gavel-osdi20 -c fast:1x1,slow:1x1 --rates "$T/rates3" \
		--shares "$T/shares3" -o "$T/log3" "$T/three"
	run "three jobs, $p, whole steps: verified" 0 gf-verify --jobs "$T/three" --rates "$T/rates3" --shares "$T/shares3" "$T/log3"
	has "three jobs, $p, whole steps: each round" "$T/out" '^gavel-order	ok	[1-9][0-9]'
	# a has what b should have, and the other way round, until one of them is done: the shares of those that are left follow
	change='function other(id) { return id == "a" ? "b" : id == "b" ? "a" : id }'
	awk -F '\t' -v OFS='\t' "$change"' $1 ~ /^[0-9]/ && $2 != "submit" { $3 = other($3) } { print }' "$T/log3" >"$T/log3.b"
	awk -F '\t' -v OFS='\t' "$change"' $1 ~ /^[0-9]/ && first == "" { first = $1 } $1 ~ /^[0-9]/ && $1 != first { $2 = other($2) }
		{ print }' "$T/shares3" >"$T/shares3.b"
	run "two jobs change places, $p, whole steps" 1 gf-verify --jobs "$T/three" --rates "$T/rates3" --shares "$T/shares3.b" \
		"$T/log3.b"
	awk -F '\t' '$2 == "violated" { print $1 }' "$T/out" >"$T/violated"
	is "two jobs change places, $p, whole steps: somebody else was due, and nothing else is wrong" "$T/violated" "gavel-order"
	served "shares: a computation is missing, $p, whole steps" '/^#/ { next } /^[0-9]/ && first == "" { first = $1 }
		/^[0-9]/ && $1 != first { next } { print }' 'though jobs came or went'
done
# nobody is to come and nobody would run: shares are computed at once. Later, with one to come, they have to wait.
printf 'job_id\tapp\tsubmit_s\tgpus\twork\na\tp\t1\t1\t100\nb\tp\t20\t1\t100\n' >"$T/late"
run "the last to come" 0 gf-replay -p gavel-fairness --fidelity gavel-osdi20 -c fast:1x1 --rates "$T/rates3" --shares "$T/late.shares" \
	-o "$T/late.log" "$T/late"
run "the last to come: verified" 0 gf-verify --jobs "$T/late" --rates "$T/rates3" --shares "$T/late.shares" "$T/late.log"
has "the last to come: at once" "$T/late.log" "^51	start	b"
printf 'c\tp\t5000\t1\t100\n' >>"$T/late"
run "not the last to come" 0 gf-replay -p gavel-fairness --fidelity gavel-osdi20 -c fast:1x1 --rates "$T/rates3" --shares "$T/late.shares" \
	-o "$T/late.log" "$T/late"
run "not the last to come: verified" 0 gf-verify --jobs "$T/late" --rates "$T/rates3" --shares "$T/late.shares" "$T/late.log"
has "not the last to come: with the next one" "$T/late.log" "^5000	start	b"
gf-replay -p gavel-fairness --interval 100 --restart-delay 10 -c fast:1x1,slow:1x1 --rates "$T/rates3" --shares "$T/shares3" \
	-o "$T/log3" "$T/three"
sed 's/^#gavel_reallocate_s=.*/#gavel_reallocate_s=100000/' "$T/log3" >"$T/later"
run "shares that were computed too soon" 1 gf-verify --jobs "$T/three" --rates "$T/rates3" --shares "$T/shares3" "$T/later"
has "shares that were computed too soon: said so" "$T/out" '^gavel-order	violated	.*too soon or for no reason'
sed '/^#gavel_reallocate_s/d' "$T/log3" >"$T/later"
run "no time between computations" 1 gf-verify --jobs "$T/three" --rates "$T/rates3" "$T/later"
has "no time between computations: said so" "$T/out" '^meta-consistent	violated	.*gavel_reallocate_s'
# Rounds in which shares are computed and nothing changes leave no rows, and are judged all the same.
cat >"$T/still" <<'X'
job_id	app	submit_s	gpus	work
a	p	0	1	9000
b	p	150	1	5000
c	p	250	1	100000
X
run "shares where nothing changes" 0 gf-replay -p gavel-isolated --interval 100 --reallocate 300 -c fast:1x1,slow:2x1 --rates "$T/rates3" \
	--shares "$T/shares3" -o "$T/log3" "$T/still"
run "shares where nothing changes: verified" 0 gf-verify --jobs "$T/still" --rates "$T/rates3" --shares "$T/shares3" "$T/log3"
shares "a job for another" '/^[0-9]/ && $1 < 1000 && $2 == 3 { $2 = 9 } { print }' 'are not those of the [0-9]* jobs'
sed "s/^720	2	/720	x	/;s/^360	2	/360	x	/" "$T/shares" >"$T/two.shares"
run "shares of no job" 1 gf-verify --jobs $J --rates $R --shares "$T/two.shares" "$T/log"
run "without rates" 2 gf-verify --jobs $J "$T/log"
has "the verifier asks for them" "$T/err" 'made with rates \(give them with --rates\)'
sed 's/	9$/	8/' $R >"$T/other"
run "with others" 1 gf-verify --jobs $J --rates "$T/other" "$T/log"
has "says that they are others" "$T/out" '^inputs-match	violated'

# ---- wrong usage ----
usage() {	# NAME MESSAGE ARGS…
	name=$1 message=$2
	shift 2
	run "$name" 2 gf-replay "$@"
	has "$name: the message" "$T/err" "^gf-replay: $message"
}
usage "no rates" "--policy gavel-fifo: needs --rates" -p gavel-fifo -c $C $J
usage "rates for nothing" "of no use here: --rates .expected a policy of gavel." -p fifo -c $C --rates $R $J
usage "shares of nothing" "of no use here: --shares .expected a policy of gavel." -p fifo -c $C --shares "$T/x" $J
usage "no interval" "--policy gavel-fifo: this policy needs an interval above 0 .--interval.$" -p gavel-fifo -i 0 -c $C --rates $R $J
usage "an interval among steps" "--policy gavel-fifo: this fidelity profile has rounds of whole steps" \
	-p gavel-fifo -i 60 --fidelity gavel-osdi20 -c $C --rates $R $J
usage "a restart delay among steps" "--policy gavel-fifo: this fidelity profile has no restart delay" \
	-p gavel-fifo --restart-delay 5 --fidelity gavel-osdi20 -c $C --rates $R $J
sed 's/	4754	/	0.5	/' $J >"$T/bad"
run "half a step" 1 replay -p gavel-fifo "$T/bad"
has "half a step: the message" "$T/err" "$T/bad:[0-9]*:work: missing or out of range \(expected steps, 1 to 1e15\)$"
sed 's/	heron	/	crow	/' $J >"$T/bad"
run "no rate" 1 replay -p gavel-fifo "$T/bad"
has "no rate: the message" "$T/err" "$T/bad:[0-9]*:app: 'crow' on 2 GPUs runs on no type of the cluster"
