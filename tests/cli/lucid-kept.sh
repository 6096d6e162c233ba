# SPDX-License-Identifier: MIT
# What each verb of gf-lucid, and the schedule, make of small tables that come with the sources: the whole of it, kept.
# Reals go through logarithms that differ in their last digits from one machine to another: six digits of them count.
. tests/cli/lib.sh
D=tests/data
J=$D/lucid-jobs.tsv
C="--configs $D/lucid-configs.tsv --pairs $D/lucid-pairs.tsv"

# kept NAME KEPT COMMAND…
kept() {
	kept_name=$1 kept_file=$2
	shift 2
	run "$kept_name" 0 "$@"
	awk -F '\t' -v OFS='\t' '{ for (i = 1; i <= NF; i++)
		if ($i ~ /^-?[0-9]+\.[0-9]*(e[-+]?[0-9]+)?$/) $i = sprintf("%.6g", $i); print }' "$T/out" >"$T/rounded"
	golden "$kept_name: as it was" "$T/rounded" "$D/$kept_file"
}

# jobs_done: a second way to count what the profiler must come to: each job that is small enough, once, in no
# less than its wait, for its duration or the limit
kept "profile" lucid-kept-profile.tsv gf-lucid profile --no-meta --nodes 1 --time 100 --gpus 4 "$J"
awk -F '\t' 'NR == FNR { if (!/^#/ && $1 != "job_id") { s[$1] = $5; d[$1] = $6; g[$1] = $7 } next } FNR == 1 { next }
	g[$1] > 4 { bad += $4 != "NA"; next }
	{ n++; bad += $4 < s[$1] || $5 - $4 != (d[$1] < 100 ? d[$1] : 100) || $6 != $4 - s[$1] || $7 != (d[$1] <= 100)
	  at[$4] += g[$1]; at[$5] -= g[$1] }
	END { for (t = 0; t < 1000000; t++) if (t in at) { held += at[t]; bad += held > 8 } exit bad || n < 100 }' "$J" \
	"$D/lucid-kept-profile.tsv"
ok "profile: waits, limits and GPUs add up" $?
kept "profile --sweep" lucid-kept-sweep.tsv gf-lucid profile --no-meta --nodes 1 --gpus 4 --sweep 50 --sweep 150 "$J"
kept "score" lucid-kept-score.tsv gf-lucid score --no-meta $D/lucid-labels.tsv
kept "score --write labels" lucid-kept-labels.tsv gf-lucid score --no-meta --write labels $D/lucid-labels.tsv
# shellcheck disable=SC2086
kept "pack" lucid-kept-pack.tsv gf-lucid pack -q --no-meta --configs $D/lucid-configs.tsv --rule util $D/lucid-pairs.tsv
kept "features" lucid-kept-features.tsv gf-lucid features --no-meta "$J"
kept "estimate" lucid-kept-estimates.tsv gf-lucid estimate --no-meta --least 50 --update 86400 "$J"
awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
	{ by[$c["predicted_by"]]++ } END { exit !(by["model"] > 50 && by["none"] >= 1) }' "$D/lucid-kept-estimates.tsv"
ok "estimate: by models, and without before" $?
kept "estimate --write accuracy" lucid-kept-accuracy.tsv gf-lucid estimate --no-meta --least 50 --update 86400 \
	--write accuracy "$J"
kept "forecast" lucid-kept-forecast.tsv gf-lucid forecast --no-meta --from 432000 $D/lucid-series.tsv
# the schedule, which the verifier agrees with, too
run "estimates for the schedule" 0 gf-lucid estimate --least 50 --update 86400 -o "$T/jobs.tsv" "$J"
for how in own lucid-asplos23; do
	case $how in own) set -- ;; *) set -- --fidelity $how ;; esac
	# shellcheck disable=SC2086
	kept "the schedule, $how" "lucid-kept-schedule-$how.tsv" gf-replay -q --no-meta -p lucid -c north:3x8,south:3x8 \
		--virtual-clusters --placement consolidate --profiler north:1 --profiler-time 100 --profiler-gpus 4 "$@" $C "$T/jobs.tsv"
done
# shellcheck disable=SC2086
run "the schedule, once more" 0 gf-replay -q -p lucid -c north:3x8,south:3x8 --virtual-clusters --placement consolidate \
	--profiler north:1 --profiler-time 100 --profiler-gpus 4 -o "$T/log" $C "$T/jobs.tsv"
# shellcheck disable=SC2086
run "the schedule: verified" 0 gf-verify --only-violated -j "$T/jobs.tsv" $C "$T/log"
grep -v '^#' "$T/log" | awk -F '\t' -v OFS='\t' '{ for (i = 1; i <= NF; i++)
	if ($i ~ /^-?[0-9]+\.[0-9]*(e[-+]?[0-9]+)?$/) $i = sprintf("%.6g", $i); print }' >"$T/rounded"
same "the schedule: is the one that is kept" "$D/lucid-kept-schedule-own.tsv" "$T/rounded"
