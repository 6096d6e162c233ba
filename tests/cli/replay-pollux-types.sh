#!/bin/sh
# SPDX-License-Identifier: MIT
# Policy pollux on GPUs of two types: virtual nodes, one model for all types, one type for each job; and what the
# verifier makes of it. All profiles are generated.
. tests/cli/lib.sh
tab=$(printf '\t')

# The second type is three times as fast, and takes half the batch size a GPU.
awk -F '\t' -v OFS='\t' '/^#/ { print; next } !n++ { for (i = 1; i <= NF; i++) c[$i] = i; print; next }
	{ $c["alpha_c_s"] /= 3; $c["beta_c_s"] /= 3; print }' data/apps.tsv >"$T/fast.tsv"
gf-synth profiles --calibration data/apps.tsv "$T/slow" && gf-synth profiles --calibration "$T/fast.tsv" "$T/fast" &&
	gf-prof -q --from pollux "$T/slow" -o "$T/slow.h5" &&
	gf-prof -q --from pollux --max-local cifar10=512 --max-local deepspeech2=40 "$T/fast" -o "$T/fast.h5"
ok "profiles of two types" $?
awk 'BEGIN { OFS = "\t"; split("cifar10 deepspeech2 bert", app, " "); split("512 80 48", batch, " ")
	print "job_id", "app", "submit_s", "gpus", "batch_size"
	for (i = 0; i < 24; i++) { x = (x * 1103515245 + 12345) % 2147483648; t += x % 180; k = 1 + x % 3
		print "j" i, app[k], t, 1 + i % 3, batch[k] } }' >"$T/jobs.tsv"
set -- -p pollux -c slow:6x2,fast:3x4 --interval 60 --profile slow="$T/slow.h5" --profile fast="$T/fast.h5"
verify() {
	gf-verify --jobs "$T/jobs.tsv" --profile fast="$T/fast.h5" --profile slow="$T/slow.h5" "$1"
}
rows() {
	awk -F '\t' '$2 ~ /^(start|move|resume|shift|resize)$/' "$1"
}

for how in 'none local' 'none ga' 'sia-sosp23 local' 'none ga --allow-interference' 'none local --p=2'; do
	# shellcheck disable=SC2086
	set_words() { fidelity=$1 search=$2; shift 2; more="$*"; }
	# shellcheck disable=SC2086
	set_words $how
	# shellcheck disable=SC2086
	run "$how: a replay" 0 gf-replay "$@" --fidelity $fidelity --search $search $more "$T/jobs.tsv"
	cp "$T/out" "$T/log"
	[ "$how" != 'none local' ] || cp "$T/out" "$T/good"
	is "$how: all jobs finish" "$(awk -F '\t' '$2 == "finish"' "$T/out" | wc -l | tr -d ' ' >"$T/n"; echo "$T/n")" 24
	rows "$T/log" | awk -F '\t' '{ k = split($5, a, ","); type = ""
			for (i = 1; i <= k; i++) { t = a[i] + 0 < 6 ? "slow" : "fast"; if (type != "" && t != type) bad = 1; type = t
				split(a[i], p, ":"); if (p[2] > 2) large = 1 }
			n[type]++; if ($4 > 12) bad = 1
			seen[$3, type] = 1 }
		END { for (k in seen) { split(k, p, SUBSEP); both += ++c[p[1]] == 2 }
			exit bad || !n["slow"] || !n["fast"] || !both || !large }'
	ok "$how: each job is on one type at a time, some change, some are on two virtual nodes of a node" $?
	run "$how: the log verifies" 0 verify "$T/log"
	for rule in gpu-type pollux-doubling pollux-batch-limits pollux-batch-best; do
		has "$how: by rule $rule" "$T/out" "^$rule${tab}ok${tab}"
	done
	has "$how: fitness is not told" "$T/out" "^pollux-fitness${tab}not-applicable"
	# shellcheck disable=SC2086
	run "$how: again" 0 gf-replay "$@" --fidelity $fidelity --search $search $more --threads 4 "$T/jobs.tsv"
	same "$how: the same bytes" "$T/out" "$T/log"
done

# ---- no more than the smallest type has ----

{
	printf 'job_id\tapp\tsubmit_s\tgpus\tbatch_size\nlone\tcifar10\t0\t1\t512\n'
} >"$T/lone.tsv"
for c in slow:1x4,fast:1x4 fast:1x4,slow:1x4; do
	run "$c: one job" 0 gf-replay -p pollux -c $c --interval 60 --p=1 --profile slow="$T/slow.h5" --profile fast="$T/fast.h5" \
		"$T/lone.tsv"
	cp "$T/out" "$T/lone.log"
	rows "$T/lone.log" | awk -F '\t' '$4 > most { most = $4 } END { exit most > 4 || most < 2 }'
	ok "$c: it has no more GPUs than the smaller type" $?
	run "$c: its log verifies" 0 gf-verify --only-violated --jobs "$T/lone.tsv" --profile slow="$T/slow.h5" \
		--profile fast="$T/fast.h5" "$T/lone.log"
done

# ---- logs that are wrong ----

# spoil TEXT RULE PROGRAM MESSAGE: the good log through awk is violated, by that rule
spoil() {
	awk -F '\t' -v OFS='\t' "$3" "$T/good" >"$T/bad"
	if cmp -s "$T/good" "$T/bad"; then
		ok "$1: nothing was changed" 1
		return
	fi
	run "$1" 1 verify "$T/bad"
	has "$1: found" "$T/out" "^$2${tab}violated.*$4"
}
# shellcheck disable=SC2016
{
	spoil 'a job on both types' gpu-type '$2 == "start" && !n++ { $4 = 2; $5 = "0:1,6:1" } { print }' 'more than one type'
	spoil 'two GPUs at first' pollux-doubling '$2 == "start" && !n++ { $4 = 2; $5 = "6:2" } { print }' 'may have 1$|may have 1[^0-9]'
	spoil 'another batch size' pollux-batch-best '$2 == "batch" && !n++ { $6 = $6 > 20 ? $6 - 3 : $6 + 3 } { print }' \
		'the best batch size'
	spoil 'more samples a GPU than the fast type takes' pollux-batch-limits \
		'$2 ~ /^(start|move)$/ && $5 ~ /^[678]:/ && !n++ { $6 = 5000 } { print }' ''
	# the job that is on several virtual nodes of a node, and others
	spoil 'jobs on several nodes meet on virtual nodes' pollux-interference \
		'$2 ~ /^(start|move)$/ && $4 >= 2 && $5 ~ /^[678]:/ { $5 = "6:" ($4 - 1) ",7:1" } { print }' 'virtual ones of 2 GPUs'
}

# ---- what is refused ----

{ cat "$T/lone.tsv"; printf 'two\tcifar10\t5\t1\t512\n'; } | awk -F '\t' -v OFS='\t' '{ print $0, NR == 1 ? "gpu_type" : NR == 3 ? "fast" : "NA" }' \
	>"$T/asks.tsv"
run "a job that asks for a type" 1 gf-replay "$@" "$T/asks.tsv"
has "a job that asks for a type: the message" "$T/err" \
	"^gf-replay: .*asks.tsv:3:gpu_type: 'fast' \(expected none: policy pollux knows no types\)$"
run "is none where there is one type" 0 gf-replay -p pollux -c fast:2x4 --interval 60 --profile fast="$T/fast.h5" \
	-o "$T/one.log" "$T/asks.tsv"
run "its log verifies" 0 gf-verify --only-violated --jobs "$T/asks.tsv" --profile fast="$T/fast.h5" "$T/one.log"
rm -rf "$T/fast/bert"
gf-prof -q --from pollux "$T/fast" -o "$T/less.h5"
ok "a type on which bert was not measured" $?
run "is no type for all jobs" 1 gf-replay -p pollux -c slow:6x2,fast:3x4 --interval 60 --profile slow="$T/slow.h5" \
	--profile fast="$T/less.h5" "$T/jobs.tsv"
has "is no type for all jobs: the message" "$T/err" "'bert' was not measured on GPU type 'fast'"
run "an elastic cluster of several types" 2 gf-replay "$@" --autoscale sia "$T/jobs.tsv"
has "an elastic cluster: the message" "$T/err" "know GPUs of one type only"
run "fitness of several types" 0 gf-replay "$@" --fitness "$T/fitness.tsv" -o "$T/log" "$T/jobs.tsv"
run "is what the search found, and cannot be told from the log" 1 gf-verify --jobs "$T/jobs.tsv" --profile fast="$T/fast.h5" \
	--profile slow="$T/slow.h5" --fitness "$T/fitness.tsv" "$T/log"
has "as the verifier says" "$T/err" "on one GPU type"
