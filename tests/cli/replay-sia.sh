#!/bin/sh
# SPDX-License-Identifier: MIT
# Policy sia: jobs on GPUs of two types, what the log says of them, and what the verifier makes of it. All
# profiles are generated.
. tests/cli/lib.sh
tab=$(printf '\t')

# The second type is three times as fast.
awk -F '\t' -v OFS='\t' '/^#/ { print; next } !n++ { for (i = 1; i <= NF; i++) c[$i] = i; print; next }
	{ $c["alpha_c_s"] /= 3; $c["beta_c_s"] /= 3; print }' data/apps.tsv >"$T/fast.tsv"
gf-synth profiles --calibration data/apps.tsv "$T/slow" && gf-synth profiles --calibration "$T/fast.tsv" "$T/fast"
ok "profiles of two types" $?
gf-prof -q --from pollux "$T/slow" -o "$T/slow.h5" && gf-prof -q --from pollux "$T/fast" -o "$T/fast.h5"
ok "as stores" $?
{
	printf 'job_id\tapp\tsubmit_s\tgpus\tbatch_size\tgpu_type\n'
	printf 'c0\tcifar10\t0\t2\t1024\tNA\nd1\tdeepspeech2\t40\t2\t160\tNA\nb2\tbert\t95.5\t4\t96\tNA\n'
	printf 'c3\tcifar10\t300\t1\t512\tslow\nc4\tcifar10\t330\t4\t2048\tNA\nd5\tdeepspeech2\t600\t1\t80\tNA\n'
	printf 'b6\tbert\t700\t1\t48\tNA\nc7\tcifar10\t900\t1\t1024\tfast\nc8\tcifar10\t960\t1\t1024\tNA\n'
} >"$T/jobs.tsv"
set -- -p sia -c slow:3x4,fast:1x4 --interval 60 --profile slow="$T/slow.h5" --profile fast="$T/fast.h5"
verify() {
	gf-verify --only-violated --jobs "$T/jobs.tsv" --profile slow="$T/slow.h5" --profile fast="$T/fast.h5" "$1"
}

for fidelity in none sia-sosp23; do
	run "$fidelity: a replay" 0 gf-replay "$@" --fidelity $fidelity "$T/jobs.tsv"
	cp "$T/out" "$T/log-$fidelity"
	has "$fidelity: the types are in the log" "$T/out" "^#cluster=slow:3x4,fast:1x4$"
	has "$fidelity: and the parameters" "$T/out" "^#sia_p=-0.5$"
	is "$fidelity: all jobs finish" "$(awk -F '\t' '$2 == "finish"' "$T/out" | wc -l | tr -d ' ' >"$T/n"; echo "$T/n")" 9
	run "$fidelity: again" 0 gf-replay "$@" --fidelity $fidelity --threads 4 "$T/jobs.tsv"
	same "$fidelity: the same bytes" "$T/out" "$T/log-$fidelity"
	run "$fidelity: the log verifies" 0 verify "$T/log-$fidelity"
	awk -F '\t' '$2 ~ /^(start|move|resume)$/ { n = split($5, a, ","); first = -1
		for (i = 1; i <= n; i++) { t = (a[i] + 0 < 3) ? "slow" : "fast"
			if ($3 == "c3" && t != "slow" || $3 == "c7" && t != "fast") bad = 1; both[$3, t] = 1 } }
		END { for (k in both) { split(k, p, SUBSEP); n_of[p[1]]++ }
			for (j in n_of) moved += n_of[j] > 1; exit bad || !moved }' "$T/log-$fidelity"
	ok "$fidelity: who asks for a type gets it, others change theirs" $?
done
has "restart delays are the simulator's" "$T/log-sia-sosp23" "${tab}start${tab}c0${tab}.*${tab}50$"
has "restart delays are the profile's" "$T/log-none" "${tab}start${tab}c0${tab}"
grep -q '^#restart_s=30$' "$T/log-none"
ok "and are all the same there" $?

# ---- moves that are no restarts ----

# four GPUs for c: one of the two that stay has to go to the node of the other one
{
	printf 'job_id\tapp\tsubmit_s\tgpus\tbatch_size\tscaling\na\tcifar10\t0\t2\t2048\trigid\nb\tbert\t0\t2\t96\trigid\n'
	printf 'd\tbert\t10\t2\t96\trigid\nc\tcifar10\t70\t4\t2048\trigid\n'
} >"$T/room.tsv"
room() {
	gf-verify --only-violated --jobs "$T/room.tsv" --profile "$T/slow.h5" "$1"
}
for fidelity in none sia-sosp23; do
	run "$fidelity: room for a large job" 0 gf-replay -p sia -c 2x4 --interval 60 --fidelity $fidelity --profile "$T/slow.h5" \
		-o "$T/room-$fidelity" "$T/room.tsv"
	run "$fidelity: it verifies" 0 room "$T/room-$fidelity"
	gf-metrics --no-meta "$T/room-$fidelity" | awk -F '\t' '$1 == "restarts" { print $2 }' >"$T/restarts"
	awk -F '\t' '$2 == "move" || $2 == "resume" { n++ } END { print n + 0 }' "$T/room-$fidelity" >"$T/n"
	same "$fidelity: restarts are those that cost something" "$T/restarts" "$T/n"
done
has "in the simulator as many GPUs elsewhere are no restart" "$T/room-sia-sosp23" "${tab}shift${tab}b${tab}2${tab}1:2${tab}"
has "else they are" "$T/room-none" "${tab}move${tab}b${tab}2${tab}1:2${tab}"
hasnt "and there is no such row" "$T/room-none" "${tab}shift${tab}"
sed "s/${tab}shift${tab}/${tab}move${tab}/" "$T/room-sia-sosp23" >"$T/bad"
run "such a move as a restart" 1 room "$T/bad"
has "is found" "$T/out" "^log-vocabulary${tab}violated.*the shape of before \(expected shift\)"
awk -F '\t' -v OFS='\t' '$2 == "move" && !n++ { $2 = "shift" } { print }' "$T/log-sia-sosp23" >"$T/bad"
run "a restart as none" 1 verify "$T/bad"
has "is found as well" "$T/out" "^log-vocabulary${tab}violated.*another shape than before \(expected move\)"

# ---- logs that are wrong ----

log=$T/log-sia-sosp23
line=$(awk -F '\t' '$2 == "start" && $3 == "d1" { print NR; exit }' "$log")
awk -F '\t' -v OFS='\t' -v n="$line" 'NR == n { $4 = 3; $5 = "1:3" } { print }' "$log" >"$T/bad"
run "three GPUs" 1 verify "$T/bad"
has "are no configuration" "$T/out" "^sia-config${tab}violated"
# the first job of all on two GPUs at once
line=$(awk -F '\t' '$2 == "start" { print NR; exit }' "$log")
awk -F '\t' -v OFS='\t' -v n="$line" 'NR == n { sub(/:1$/, ":2", $5); $4 = 2 } { print }' "$log" >"$T/bad"
run "two GPUs at first" 1 verify "$T/bad"
has "are more than a job may start with" "$T/out" "^sia-config${tab}violated.*ran on at most 0 before"
# a job that would have started a round earlier, by one log that forgets its start
awk -F '\t' '$3 == "d1" && $2 == "start" { next } /^#end/ { print "#end rows=" n - 1; next } { print; n += !/^#/ }' \
	"$log" >"$T/bad"
run "a job that is left waiting" 1 verify "$T/bad"
has "would be better off with GPUs" "$T/out" "^sia-best${tab}violated"
# three jobs, each twice as fast on the GPU of another one and four times on its own, all of them turned by one: nobody
# alone and no two are better off elsewhere, so that only the search over all of them finds it. The log is that of
# jobs that ask for these types.
for t in 0 1 2; do
	awk -F '\t' -v OFS='\t' -v t=$t '/^#end/ { next } /^#/ { print; next }
		!n++ { for (i = 1; i <= NF; i++) c[$i] = i; print; next }
		$c["app"] == "cifar10" {
			alpha = $c["alpha_c_s"]; beta = $c["beta_c_s"]
			for (j = 0; j < 3; j++) {
				f = 2 ^ ((t - j + 3) % 3); $c["app"] = "app" j; $c["alpha_c_s"] = alpha * f; $c["beta_c_s"] = beta * f
				print; rows++
			} } END { print "#end rows=" rows }' data/apps.tsv >"$T/turn.tsv"
	gf-synth profiles --calibration "$T/turn.tsv" "$T/turn$t" && gf-prof -q --from pollux "$T/turn$t" -o "$T/turn$t.h5"
	ok "a profile of each, type $t" $?
done
printf 'job_id\tapp\tsubmit_s\tgpus\tbatch_size\tgpu_type\na\tapp0\t0\t1\t512\tt1\nb\tapp1\t0\t1\t512\tt2\nc\tapp2\t0\t1\t512\tt0\n' \
	>"$T/turned.tsv"
sed 's/	t[012]$/	NA/' "$T/turned.tsv" >"$T/free.tsv"
turn() {
	"$@" --profile t0="$T/turn0.h5" --profile t1="$T/turn1.h5" --profile t2="$T/turn2.h5"
}
run "turned by one" 0 turn gf-replay -p sia -c t0:1x1,t1:1x1,t2:1x1 --interval 60 -o "$T/turned.log" "$T/turned.tsv"
run "turned by one, as they ask for" 0 turn gf-verify --jobs "$T/turned.tsv" "$T/turned.log"
run "as they are best off" 0 turn gf-replay -p sia -c t0:1x1,t1:1x1,t2:1x1 --interval 60 -o "$T/free.log" "$T/free.tsv"
run "as they are best off: a good log" 0 turn gf-verify --jobs "$T/free.tsv" "$T/free.log"
sed "s/^#input_jobs=.*/$(grep '^#input_jobs=' "$T/free.log")/" "$T/turned.log" >"$T/bad"
run "turned by one, though they may have any type" 1 turn gf-verify --jobs "$T/free.tsv" "$T/bad"
awk -F '\t' '$2 == "violated" { print $1 }' "$T/out" >"$T/violated"
is "turned by one: nothing else is wrong" "$T/violated" sia-best
has "turned by one: the search finds it" "$T/out" "^sia-best${tab}violated.*other configurations of all jobs have a sum"
run "profiles swapped" 1 gf-verify --only-violated --jobs "$T/jobs.tsv" --profile slow="$T/fast.h5" \
	--profile fast="$T/slow.h5" "$log"
has "are not those of the log" "$T/out" "^inputs-match${tab}violated"
has "the verdicts name the one profile" "$T/out" '^#input_profile_slow=[0-9a-f]'
has "and the other one" "$T/out" '^#input_profile_fast=[0-9a-f]'

# ---- what is refused ----

run "a type without a profile" 2 gf-replay -p sia -c slow:3x4,fast:1x4 --interval 60 --profile slow="$T/slow.h5" "$T/jobs.tsv"
has "a type without a profile: the message" "$T/err" "no profile of GPU type 'fast' \(expected --profile fast=STORE\)"
run "typed profiles and a cluster without types" 2 gf-replay -p sia -c 3x4 --interval 60 --profile slow="$T/slow.h5" \
	"$T/jobs.tsv"
run "two profiles of a type" 2 gf-replay -p sia -c slow:3x4 --interval 60 --profile slow="$T/slow.h5" \
	--profile slow="$T/slow.h5" "$T/jobs.tsv"
run "no interval" 2 gf-replay -p sia -c slow:3x4 --profile slow="$T/slow.h5" "$T/jobs.tsv"
run "a power of 0" 2 gf-replay "$@" --sia-p 0 "$T/jobs.tsv"
run "a power above 0" 0 gf-replay "$@" --sia-p 0.5 --sia-lambda -1 -o "$T/up.log" "$T/jobs.tsv"
run "its log verifies" 0 verify "$T/up.log"
grep -v rtx "$T/jobs.tsv" | cut -f 1-5 >"$T/plain.tsv"
run "one type, and a store for all" 0 gf-replay -p sia -c 4x4 --interval 60 --profile "$T/slow.h5" -o "$T/one.log" "$T/plain.tsv"
run "its log verifies too" 0 gf-verify --only-violated --jobs "$T/plain.tsv" --profile "$T/slow.h5" "$T/one.log"
run "other policies run on types, too" 0 gf-replay -p fifo -c slow:3x4,fast:1x4 --profile slow="$T/slow.h5" \
	--profile fast="$T/fast.h5" -o "$T/fifo.log" "$T/jobs.tsv"
run "and verify" 0 verify "$T/fifo.log"

# ---- jobs that keep their batch size, or their GPUs as well ----

awk -F '\t' -v OFS='\t' 'NR == 1 { print $0, "scaling"; next }
	{ print $0, $1 == "c0" || $1 == "c4" || $1 == "b2" ? "rigid" : $1 == "d1" || $1 == "c8" ? "scale-gpus" : "NA" }' \
	"$T/jobs.tsv" | sed "s/^c4${tab}cifar10${tab}330${tab}4/c4${tab}cifar10${tab}330${tab}3/" >"$T/kinds.tsv"
kinds() {
	gf-verify --only-violated --jobs "$T/kinds.tsv" --profile slow="$T/slow.h5" --profile fast="$T/fast.h5" "$1"
}
for fidelity in none sia-sosp23; do
	run "$fidelity: rigid and scale-only jobs" 0 gf-replay "$@" --fidelity $fidelity "$T/kinds.tsv"
	cp "$T/out" "$T/kinds-$fidelity"
	run "$fidelity: their log verifies" 0 kinds "$T/kinds-$fidelity"
	is "$fidelity: nothing is violated" "$(sed '/^#/d' "$T/out" | wc -l | tr -d ' ' >"$T/n"; echo "$T/n")" 1
	# total batch size of each allocation of a job that keeps it; GPUs of one that keeps these
	awk -F '\t' '$2 ~ /^(start|move|resume|batch)$/ { total = $4 * $6 * ($7 + 1)
			if ($3 == "c0" && ($4 != 2 || total != 1024) || $3 == "c4" && ($4 != 3 || total < 2048 || total > 2050) ||
			    $3 == "b2" && ($4 != 4 || total != 96) || $3 == "d1" && (total < 160 || total > 164) ||
			    $3 == "c8" && (total < 1024 || total > 1028)) { bad = 1; print >"/dev/stderr" }
			if ($3 == "d1" || $3 == "c8") size[$3, $4] = 1
			seen[$3] = 1 }
		END { for (k in size) { split(k, p, SUBSEP); n[p[1]]++ }
			exit bad || !seen["c0"] || !seen["c4"] || !seen["b2"] || n["d1"] < 2 || n["c8"] < 2 }' "$T/kinds-$fidelity"
	ok "$fidelity: sizes stay as they were asked for, scale-only jobs change their GPUs" $?
done
log=$T/kinds-sia-sosp23
line=$(awk -F '\t' '$2 == "start" && $3 == "c0" { print NR; exit }' "$log")
awk -F '\t' -v OFS='\t' -v n="$line" 'NR == n { $4 = 1; sub(/:2$/, ":1", $5) } { print }' "$log" >"$T/bad"
run "a rigid job on one GPU" 1 kinds "$T/bad"
has "is found" "$T/out" "^sia-config${tab}violated.*it is rigid and asks for 2"
awk -F '\t' -v OFS='\t' '$2 == "start" && $3 == "d1" { $6 = 20 } { print }' "$log" >"$T/bad"
run "another batch size of a scale-only job" 1 kinds "$T/bad"
has "is found, too" "$T/out" "^pollux-batch-limits${tab}violated.*the fixed batch size 160"
awk -F '\t' '$3 == "b2" && $2 == "start" { next } /^#end/ { print "#end rows=" n - 1; next } { print; n += !/^#/ }' \
	"$log" >"$T/bad"
run "a rigid job that is left waiting" 1 kinds "$T/bad"
has "would be better off on its GPUs" "$T/out" "^sia-best${tab}violated.*would lower the sum"
awk 'NR > 1 && $1 == "c3" { sub(/NA$/, "rigid") } { print }' "$T/kinds.tsv" | sed "s/${tab}512${tab}/${tab}999999${tab}/" >"$T/wild.tsv"
run "a rigid job that was measured nowhere" 1 gf-replay "$@" "$T/wild.tsv"
has "is named" "$T/err" 'job c3 is rigid, and was measured at batch size 999999 on 1 GPUs of no type that it may have'
sed 's/rigid/stiff/' "$T/kinds.tsv" >"$T/wild.tsv"
run "a word that is none" 1 gf-replay "$@" "$T/wild.tsv"
has "field and line" "$T/err" ":2:scaling: unknown word 'stiff' \(expected adaptive, scale-gpus or rigid\)"
cut -f 1-5,7 "$T/kinds.tsv" >"$T/one.tsv"
for policy in pollux optimus; do
	run "$policy takes no rigid jobs" 1 gf-replay -p $policy -c 4x4 --interval 60 --profile "$T/slow.h5" "$T/one.tsv"
	has "$policy: and says so" "$T/err" ":2:scaling: rigid \(expected adaptive or scale-gpus: policy $policy gives each job"
done
sed 's/rigid/scale-gpus/' "$T/one.tsv" >"$T/scale.tsv"
run "pollux takes scale-only jobs" 0 gf-replay -p pollux -c 4x4 --interval 60 --profile "$T/slow.h5" -o "$T/scale.log" \
	"$T/scale.tsv"
run "and the log verifies" 0 gf-verify --only-violated --jobs "$T/scale.tsv" --profile "$T/slow.h5" "$T/scale.log"
awk -F '\t' '$2 ~ /^(start|move|resume|batch)$/ && $3 ~ /^(c0|c4|b2|d1|c8)$/ { t = $4 * $6 * ($7 + 1); m[$3] = m[$3] > t || !m[$3] ? (m[$3] ? m[$3] : t) : t
		if ($3 == "c0" && (t < 1024 || t > 1040)) bad = 1 } END { exit bad || !m["c0"] }' "$T/scale.log"
ok "its batch size stays" $?

# ---- elastic: nodes of each type come and go ----

elastic() {
	gf-replay -p sia -c slow:6x4,fast:3x4 --interval 60 --autoscale sia --target-efficiency "$1" --node-start 90 \
		--node-idle 120 --profile slow="$T/slow.h5" --profile fast="$T/fast.h5" "$T/jobs.tsv"
}
run "elastic, aiming at 0.6" 0 elastic 0.6
cp "$T/out" "$T/elastic.log"
run "and at 0.3" 0 elastic 0.3
cp "$T/out" "$T/wide.log"
for log in elastic wide; do
	run "$log: the log verifies" 0 verify "$T/$log.log"
	is "$log: nothing is violated" "$(sed '/^#/d' "$T/out" | wc -l | tr -d ' ' >"$T/n"; echo "$T/n")" 1
	awk -F '\t' '$2 == "rent" { t = ($5 + 0 < 6); rented[t]++ } $2 == "return" { returned[$5 + 0 < 6]++ }
		END { exit !(rented[0] && rented[1] && rented[0] == returned[0] && rented[1] == returned[1]) }' "$T/$log.log"
	ok "$log: nodes of both types come, and go in the end" $?
	gf-metrics -q --gpu-price slow=1 --gpu-price fast=1 "$T/$log.log" >"$T/$log.1"
	gf-metrics -q --gpu-price slow=2 --gpu-price fast=0.5 "$T/$log.log" >"$T/$log.2"
done
awk -F '\t' '{ v[FILENAME, $1] = $2 } END { f = ARGV[1]; g = ARGV[2]
	d = v[f, "rented_cost_per_h"] / v[f, "rented_gpus"] - 1
	exit !(d < 1e-12 && d > -1e-12 && v[g, "rented_gpus"] > v[f, "rented_gpus"] && v[g, "jct_mean_s"] < v[f, "jct_mean_s"]) }' \
	"$T/elastic.1" "$T/wide.1"
ok "at price 1 the cost is GPU-hours an hour; a lower target rents more, and jobs are sooner done" $?
# the integral of rent and return rows by hand, over the window of submissions
awk -F '\t' '$2 == "rent" || $2 == "return" { p = $5 + 0 < 6 ? 2 : 0.5; s += ($2 == "rent" ? -1 : 1) * $1 * $4 * p }
	END { printf "%.6f\n", s / 960 }' "$T/elastic.log" >"$T/want"
awk -F '\t' '$1 == "rented_cost_per_h" { printf "%.6f\n", $2 }' "$T/elastic.2" >"$T/found"
same "with prices it is what the nodes of each type cost" "$T/found" "$T/want"
run "a price of a type that is not there" 1 gf-metrics --gpu-price t4=1 "$T/elastic.log"
has "is named" "$T/err" "the cluster 'slow:6x4,fast:3x4' has no GPUs of type 't4'"
run "a price of nothing" 2 gf-metrics --gpu-price slow=0 "$T/elastic.log"
line=$(awk -F '\t' '$2 == "rent" && $5 ~ /^[678]:/ { print NR; exit }' "$T/elastic.log")
awk -v n="$line" 'NR == n { next } /^#end/ { print "#end rows=" k - 1; next } { print; k += !/^#/ }' "$T/elastic.log" >"$T/bad"
run "a node that nobody rented" 1 verify "$T/bad"
has "is found" "$T/out" "^node-(life|number|choice)${tab}violated"
awk -F '\t' -v OFS='\t' '$2 == "rent" && !n++ { print; $5 = "5:4"; print; next } /^#end/ { print "#end rows=" k; next }
	{ print; k += !/^#/ }' "$T/elastic.log" | awk '/^#end/ { print "#end rows=" k - 1; next } { print; k += !/^#/ }' >"$T/bad"
run "a node too many" 1 verify "$T/bad"
has "is found, too" "$T/out" "^node-number${tab}violated"
sed 's/^#target_efficiency=0.59[0-9]*$/#target_efficiency=0.3/' "$T/elastic.log" >"$T/bad"
run "another target" 1 verify "$T/bad"
has "asks for other numbers of nodes" "$T/out" "^node-number${tab}violated"
run "policy sia with a rule of one type" 2 gf-replay "$@" --autoscale pollux "$T/jobs.tsv"
run "nodes of a type that are not alike" 2 gf-replay -p sia -c slow:3x4,slow:1x8,fast:1x4 --interval 60 --autoscale sia \
	--profile slow="$T/slow.h5" --profile fast="$T/fast.h5" "$T/jobs.tsv"
has "are refused" "$T/err" 'an elastic cluster needs nodes that are alike in each type'
