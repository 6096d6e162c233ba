#!/bin/sh
# SPDX-License-Identifier: MIT
# gf-gavel rates and steps: what Gavel wants to know of jobs, out of application profiles; and replays by it.
. tests/cli/lib.sh
tab=$(printf '\t')

# Two types, the second three times as fast. Two epochs of 100 initial steps; noise as large as the signal.
profile() {
	rm -rf "$T/p"
	mkdir -p "$T/p/net"
	{
		echo 'placement,local_bsz,step_time,sync_time'
		for p in 1 2 4 11 22; do
			for b in 10 20 40; do
				awk -v p=$p -v b=$b -v f="$1" 'BEGIN { s = p == 1 ? 0.001 : length(p) == 1 ? 0.1 : 0.3
					print p "," b "," (b / 40 + s) / f "," s / f }'
			done
		done
	} >"$T/p/net/placements.csv"
	echo 'num_nodes,num_replicas,local_bsz,step_time,sync_time' >"$T/p/net/scalability.csv"
	awk -v f="$1" 'BEGIN { for (n = 5; n <= 6; n++) for (r = n; r <= 4 * n; r += n) for (b = 10; b <= 40; b += 10)
		print n "," r "," b "," (b / 40 + 0.3) / f "," 0.3 / f }' >>"$T/p/net/scalability.csv"
	for b in 20 40 80; do
		{
			echo 'iteration,progress,metric,grad_sqr,grad_var'
			awk -v b=$b 'BEGIN { g = 2 / (20 / b + 1); print int(100 / g) ",100,0.5,1,1"; print int(200 / g) ",200,0.6,1,1" }'
		} >"$T/p/net/validation-$b.csv"
	done
	gf-prof -q --from pollux "$T/p" -o "$2"
}
profile 1 "$T/slow.h5" && profile 3 "$T/fast.h5"
ok "profiles of two types" $?
printf 'job_id\tapp\tsubmit_s\tgpus\tbatch_size\tnote\nj1\tnet\t0\t2\t80\tx\nj2\tnet\t10\t1\t20\ty\nj3\tnet\t20\t2\t80\tz\nj4\tnet\t30\t4\t40\tNA\n' \
	>"$T/jobs.tsv"
set -- --profile slow="$T/slow.h5" --profile fast="$T/fast.h5"
C=slow:2x2,fast:1x4

# gain of 80 is 2 / (20 / 80 + 1) = 1.6, of 40 4 / 3: 200 / 1.6 = 125 and 150 steps
run "steps" 0 gf-gavel steps --no-meta "$@" "$T/jobs.tsv"
is "steps are progress over what one gains, and all columns stay" "$T/out" "job_id${tab}app${tab}submit_s${tab}gpus${tab}batch_size${tab}note${tab}work
j1${tab}net${tab}0${tab}2${tab}80${tab}x${tab}125
j2${tab}net${tab}10${tab}1${tab}20${tab}y${tab}200
j3${tab}net${tab}20${tab}2${tab}80${tab}z${tab}125
j4${tab}net${tab}30${tab}4${tab}40${tab}NA${tab}150"
gf-gavel steps "$@" "$T/jobs.tsv" -o "$T/steps.tsv"
run "steps of steps" 0 gf-gavel steps --no-meta "$@" "$T/steps.tsv"
gf-gavel steps --no-meta "$@" "$T/jobs.tsv" >"$T/once"
same "are the same" "$T/out" "$T/once"

# 80 on 2 GPUs: 40 a GPU, 1 + 0.1 s; on two nodes 1 + 0.3 s. 20 on one: 0.501 s. 40 on 4: 10 a GPU, 0.25 + 0.1 or 0.3 s.
run "rates" 0 gf-gavel rates --no-meta "$@" -c $C "$T/jobs.tsv"
awk -F '\t' -v OFS=' ' '{ $1 = $1 } NR > 1 { $6 = sprintf("%.6f", 1 / $6) } { print }' "$T/out" >"$T/found"
is "rates are steps over the time alone" "$T/found" "gpu_type consolidated app batch_size gpus steps_per_s
slow 1 net 20 1 0.501000
fast 1 net 20 1 0.167000
slow 0 net 40 4 0.550000
fast 1 net 40 4 0.116667
slow 1 net 80 2 1.100000
slow 0 net 80 2 1.300000
fast 1 net 80 2 0.366667"
run "once more, two threads" 0 gf-gavel rates --no-meta --threads 2 "$@" -c $C "$T/jobs.tsv"
cp "$T/out" "$T/rates.tsv"
run "a simulator in which jobs are slower" 0 gf-gavel rates --no-meta --fidelity sia-sosp23 "$@" -c $C "$T/jobs.tsv"
awk -F '\t' 'FNR == 1 { next } NR == FNR { r[FNR] = $6; next } { printf "%.9g\n", r[FNR] / $6 }' "$T/rates.tsv" "$T/out" | sort -u >"$T/found"
is "is by its factor" "$T/found" "1.2"
# 80 on one GPU: two passes of 40, 1 + 1.001 s
printf 'job_id\tapp\tsubmit_s\tgpus\tbatch_size\na\tnet\t0\t1\t80\n' >"$T/one.tsv"
run "more than a GPU takes" 0 gf-gavel rates --no-meta "$@" -c $C "$T/one.tsv"
awk -F '\t' 'NR > 1 { printf "%s %.4f\n", $1, 1 / $6 }' "$T/out" >"$T/found"
is "is taken in passes" "$T/found" "slow 2.0010
fast 0.6670"

# ---- replays ----

gf-gavel rates "$@" -c $C "$T/jobs.tsv" -o "$T/rates.tsv"
gf-gavel steps "$@" "$T/one.tsv" -o "$T/one-steps.tsv" && gf-gavel rates "$@" -c slow:1x2 "$T/one.tsv" -o "$T/one-rates.tsv"
gf-replay -p gavel-throughput -c slow:1x2 --rates "$T/one-rates.tsv" "$T/one-steps.tsv" >"$T/log"
gf-replay -p fifo -c slow:1x2 --restart-delay 0 --profile slow="$T/slow.h5" "$T/one.tsv" >"$T/log2"
for l in log log2; do
	awk -F '\t' '$2 == "start" { from = $1 } $2 == "finish" { printf "%.6f\n", $1 - from }' "$T/$l" >"$T/$l.took"
done
same "a job alone takes as long by rates as by its profile" "$T/log.took" "$T/log2.took"
is "which is 125 steps of 2.001 s" "$T/log.took" "250.125000"
for p in throughput fairness finish-time; do
	for how in 'none' 'sia-sosp23'; do
		run "$p, $how: a replay" 0 gf-replay -p gavel-$p -c $C --interval 60 --fidelity $how --placement consolidate-first \
			--rates "$T/rates.tsv" --shares "$T/shares" "$T/steps.tsv"
		cp "$T/out" "$T/log"
		is "$p, $how: all finish" "$(awk -F '\t' '$2 == "finish"' "$T/log" | wc -l | tr -d ' ' >"$T/n"; echo "$T/n")" 4
		run "$p, $how: verifies" 0 gf-verify --jobs "$T/steps.tsv" --rates "$T/rates.tsv" --shares "$T/shares" "$T/log"
		hasnt "$p, $how: no violation" "$T/out" "${tab}violated${tab}"
		cp "$T/shares" "$T/shares-$p-$how"
		[ $how = none ] || continue
		has "$p, $how: who was next is judged" "$T/out" "^gavel-order${tab}ok${tab}"
	done
done
# By the conventions of Sia's simulator shares are computed in each round, and j1 and j3, which are alike, have the same.
for p in throughput fairness; do
	awk -F '\t' '/^[0-9]/ && ($2 == "j1" || $2 == "j3") { x[$1, $3, $2] = $4; k[$1, $3] }
		END { for (i in k) if ((i, "j1") in x && (i, "j3") in x) { n++; d = x[i, "j1"] - x[i, "j3"]; if (d > 1e-12 || d < -1e-12) bad = 1 }
			exit bad || n < 2 }' FS='\t' SUBSEP='/' "$T/shares-$p-sia-sosp23"
	ok "$p: jobs that are alike have alike shares" $?
done
for how in none sia-sosp23; do
	gf-replay -p gavel-throughput -c $C --interval 10 --fidelity $how --restart-delay 0 --rates "$T/rates.tsv" --shares "$T/shares" \
		"$T/steps.tsv" >"$T/log-$how"
	awk -F '\t' '/^[0-9]/ && !t[$1]++ { n++ } END { print n + 0 }' "$T/shares" >"$T/times-$how"
done
[ "$(cat "$T/times-sia-sosp23")" -gt "$(cat "$T/times-none")" ]
ok "shares are computed in each round" $?
has "rounds are in the log" "$T/log" "^#gavel_rounds=lifetime$"
has "restarts cost what the simulator says" "$T/log" "${tab}start${tab}j1${tab}.*${tab}30$"
awk -F '\t' -v OFS='\t' '$2 == "start" && $3 == "j1" { $12 = 20 } { print }' "$T/log" >"$T/bad"
run "another cost" 1 gf-verify --only-violated --jobs "$T/steps.tsv" --rates "$T/rates.tsv" "$T/bad"
has "is found" "$T/out" "^restart-cost${tab}violated"

# a placement that finds no room leaves jobs waiting that are due: not judged
run "consolidate" 0 gf-replay -p gavel-fairness -c $C --placement consolidate --rates "$T/rates.tsv" --shares "$T/shares" \
	-o "$T/log" "$T/steps.tsv"
run "its log verifies" 0 gf-verify --jobs "$T/steps.tsv" --rates "$T/rates.tsv" --shares "$T/shares" "$T/log"
has "without who was next" "$T/out" "^gavel-order${tab}not-applicable"

# ---- what is refused ----

run "a type without a profile" 2 gf-gavel rates --profile slow="$T/slow.h5" -c $C "$T/jobs.tsv"
has "a type without a profile: the message" "$T/err" "no profile of GPU type 'fast' \(expected --profile fast=STORE\)"
run "an unknown fidelity" 2 gf-gavel rates "$@" -c $C --fidelity sia "$T/jobs.tsv"
sed "s/j4${tab}net/j4${tab}nut/" "$T/jobs.tsv" >"$T/bad"
run "an unknown application" 1 gf-gavel rates "$@" -c $C "$T/bad"
has "an unknown application: the message" "$T/err" \
	"^gf-gavel: .*bad:5:app: 'nut' at batch size 40 on 4 GPUs was measured on no type of the cluster$"
run "nor has it steps" 1 gf-gavel steps "$@" "$T/bad"
has "nor has it steps: the message" "$T/err" "bad:5:app: unknown application 'nut' \(expected one of the profiles\)$"
sed "s/^j2\(.*\)${tab}20${tab}y/j2\1${tab}10${tab}y/" "$T/jobs.tsv" >"$T/bad"
run "a batch size that was not trained" 1 gf-gavel steps "$@" "$T/bad"
has "a batch size that was not trained: the message" "$T/err" "bad:3:batch_size: 10 is outside of what 'net' was trained at$"
sed "s/^j1\(.*\)${tab}2${tab}80/j1\1${tab}1.5${tab}80/" "$T/jobs.tsv" >"$T/bad"
run "half a GPU" 1 gf-gavel rates "$@" -c $C "$T/bad"
has "half a GPU: the message" "$T/err" "bad:2:gpus: bad number of GPUs 1.5 \(expected a whole number, at least 1\)$"
cut -f 1-4 "$T/jobs.tsv" >"$T/bad"
run "no batch sizes" 1 gf-gavel steps "$@" "$T/bad"
has "no batch sizes: the message" "$T/err" "no column 'batch_size'$"
run "no profile at all" 2 gf-gavel rates -c $C "$T/jobs.tsv"
