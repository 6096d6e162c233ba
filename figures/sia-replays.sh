# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# variables of figures/lib.sh
# shellcheck disable=SC2154,SC2034
# Replays on GPUs of several types: `. figures/sia-replays.sh` after figures/lib.sh.
#
#   sia_family FAMILY            Philly, Helios, newTrace: how many workloads ($sia_n), in which folder ($sia_folder)
#   sia_workload FAMILY N [WHAT] a jobs table in $jobs; WHAT may change of the jobs: adaptive (all), scale-gpus or rigid
#   sia_want KEY POLICY KIND N [WHAT]   want a replay of workload N of family KEY on the cluster KIND (het or homogeneous);
#                                with WHAT the policy is called POLICY-WHAT in tables. Those of Gavel run in rounds of
#                                360 s, by rates and steps out of the same profiles, jobs being as large as they ask for
#   sia_table COLUMN             once all are there: a row for each key and policy, means over the workloads, the 99th
#                                percentile over all their jobs; beside them what $W/published has of it, rows
#                                KEY POLICY JCT P99 MAKESPAN GPU_H
#   sia_published KEY POLICY JCT P99 MAKESPAN GPU_H   a row of these (h)
#
# Public data: the clusters of the paper, 24 T4, 16 A100 and 24 RTX 2080 Ti, or 64 T4. Shipped data: generated workloads
# and profiles, 16 slow and 8 GPUs that compute three times as fast, or 32 slow ones.
# Environment: SIA_WORKLOADS, the most workloads of a family (all of them)

sia=$shared/public/sia-sosp23
if [ "$FIGURE_DATA" = public ]; then
	sia_types='aws dgx-ext rtx' sia_het=aws:6,dgx-ext:2,rtx:3 sia_homogeneous=aws:16
else
	sia_types='slow fast' sia_het=slow:4x4,fast:2x4 sia_homogeneous=slow:8x4
fi

sia_make_store() {
	rm -rf "$W/sia-apps"
	mkdir "$W/sia-apps"
	if [ "$FIGURE_DATA" = public ]; then
		for app in bert cifar10 deepspeech2 imagenet yolov3; do
			ln -s "$(cd "$sia/traces/$app" && pwd)" "$W/sia-apps/$app"
		done
		gf-prof -q --from pollux --gpu-type "$1" "$W/sia-apps" -o "$made"
	else
		awk -F '\t' -v OFS='\t' -v by="$([ "$1" = fast ] && echo 3 || echo 1)" '/^#/ { print; next }
			!n++ { for (i = 1; i <= NF; i++) c[$i] = i; print; next }
			{ $c["alpha_c_s"] /= by; $c["beta_c_s"] /= by; print }' data/apps.tsv >"$W/sia-apps.tsv"
		gf-synth profiles --calibration "$W/sia-apps.tsv" "$W/sia-apps/all" &&
			gf-prof -q --from pollux "$W/sia-apps/all" -o "$made"
	fi
}

sia_key=$({ cat "$(command -v gf-replay)" "$(command -v gf-metrics)"; } | hash_of)
for type in $sia_types; do
	into "inputs/$FIGURE_DATA-typed-$type.h5" sia_make_store "$type"
done

# Pollux runs on numbers of GPUs at which Sia's T4 profiles have no steps as large as they allow; those of Pollux's
# simulator are the same steps, and have them.
sia_make_t4() {
	gf-prof -q --from pollux "$shared/public/pollux-osdi21/traces" -o "$made"
}
if [ "$FIGURE_DATA" = public ]; then
	into inputs/public-pollux-t4.h5 sia_make_t4
fi

sia_family() {
	case $1 in
	Philly) sia_folder=philly sia_n=8 ;;
	Helios) sia_folder=saturn sia_n=10 ;;
	newTrace) sia_folder=newtrace sia_n=10 ;;
	esac
	[ "$FIGURE_DATA" = public ] || sia_n=2
	[ "$sia_n" -le "${SIA_WORKLOADS:-$sia_n}" ] || sia_n=$SIA_WORKLOADS
}

sia_make_workload() {
	if [ "$FIGURE_DATA" = public ]; then
		gf-trace -q --from pollux "$sia/workloads/$sia_folder/workload-$2.csv" -o "$made"
	else
		case $1 in Philly) sia_load=1 ;; Helios) sia_load=1.2 ;; *) sia_load=1.5 ;; esac
		gf-synth workload --jobs "$(awk "BEGIN { print int(30 * $sia_load) }")" --hours 1 --max-gpus 8 \
			--seed "$2" -o "$made"
	fi
}

# in column scaling, which tables without are given
sia_make_kind() {
	awk -F '\t' -v OFS='\t' -v what="$1" '/^#/ { next }
		!n++ { for (i = 1; i <= NF; i++) if ($i == "scaling") k = i; if (!k) { k = NF + 1; $k = "scaling" } print; next }
		{ $k = what; print }' "$OUT/$jobs" >"$made"
}

sia_workload() {
	sia_family "$1"
	jobs=inputs/$FIGURE_DATA-sia-$sia_folder-$2.tsv
	into "$jobs" sia_make_workload "$1" "$2"
	[ -n "${3:-}" ] || return 0
	into "inputs/$FIGURE_DATA-sia-$sia_folder-$3-$2.tsv" sia_make_kind "$3"
	jobs=inputs/$FIGURE_DATA-sia-$sia_folder-$3-$2.tsv
}

# profiles of the types of $sia_cluster, as options, in $sia_profiles; Pollux on T4 alone has those of its simulator
sia_set_profiles() {
	sia_profiles=
	for type in $sia_types; do
		sia_store=inputs/$FIGURE_DATA-typed-$type.h5
		[ "$1-$sia_cluster" != "pollux-aws:16" ] || sia_store=inputs/public-pollux-t4.h5
		case $sia_cluster in *$type:*) sia_profiles="$sia_profiles --profile $type=$sia_store" ;; esac
	done
}

sia_make_steps() {
	# options in words
	# shellcheck disable=SC2086
	(cd "$OUT" && gf-gavel steps $sia_profiles "$jobs" -o "$made")
}

sia_make_rates() {
	# shellcheck disable=SC2086
	(cd "$OUT" && gf-gavel rates $sia_profiles --cluster "$sia_cluster" --fidelity sia-sosp23 "$jobs" -o "$made")
}

# the jobs with their steps, in $jobs, and their rates on the cluster, in $sia_rates; $1: the kind of cluster
sia_gavel_inputs() {
	sia_name=${jobs#inputs/}
	sia_rates=inputs/rates-$1-$sia_name
	into "$sia_rates" sia_make_rates
	into "inputs/steps-$1-$sia_name" sia_make_steps
	jobs=inputs/steps-$1-$sia_name
}

sia_want() {
	sia_workload "$1" "$4" "${5:-}"
	case $3 in het) sia_cluster=$sia_het ;; *) sia_cluster=$sia_homogeneous ;; esac
	sia_set_profiles "$2"
	sia_run="gf-replay --cluster $sia_cluster --fidelity sia-sosp23 --policy $2"
	case $2 in
	gavel-*)
		sia_gavel_inputs "$3"
		sia_run="$sia_run --interval 360 --placement consolidate-first --rates $sia_rates"
		;;
	*) sia_run="$sia_run$sia_profiles" sia_rates= ;;
	esac
	run=cache/$({ echo "$sia_key $sia_run"; cat "$OUT/$jobs" ${sia_rates:+"$OUT/$sia_rates"}; for type in $sia_types; do
		cat "$OUT/inputs/$FIGURE_DATA-typed-$type.h5"; done; } | hash_of)
	[ -d "$OUT/$run" ] || echo "$run $sia_run $jobs" >>"$W/wanted"
	echo "$1 $2${5:+-$5} $run" >>"$W/sia"
}

: >"$W/published"
sia_published() {
	echo "$*" >>"$W/published"
}

# The percentile as in the scripts of the paper: of the n times in order that with number int(0.99 n), from 0.
sia_p99() {
	while read -r key policy run; do
		[ "$key $policy" != "$1" ] || awk -F '\t' "$awk_columns"' { print $c["jct_s"] }' "$OUT/$run/jobs.tsv"
	done <"$W/sia" | sort -g | awk '{ t[NR - 1] = $1 } END { print t[int(0.99 * NR)] / 3600 }'
}

sia_table() {
	while read -r key policy run; do
		awk -F '\t' -v k="$key" -v p="$policy" '{ v[$1] = $2 }
			END { print k, p, v["jct_mean_s"] / 3600, v["makespan_from_first_submit_s"] / 3600, v["restarts"] / v["jobs"],
				v["gpu_seconds_held"] / 3600 / v["jobs"], v["jct_mean_s"] * v["jobs"] / v["makespan_s"] }' \
			"$OUT/$run/metrics.tsv"
	done <"$W/sia" >"$W/sia-means"
	cut -d ' ' -f 1,2 "$W/sia-means" | sort -u | while read -r key policy; do
		echo "$key $policy $(sia_p99 "$key $policy")"
	done >"$W/sia-p99"
	awk -v column="$1" '
		function sd(s, ss, n,	v) { v = ss / n - (s / n) ^ 2; return sqrt(v > 0 ? v : 0) }
		function na(t) { return t == "" ? "NA" : t }
		FILENAME ~ /p99$/ { p99[$1 "\t" $2] = $3; next }
		FILENAME ~ /published$/ { k = $1 "\t" $2; for (f = 3; f <= 6; f++) want[k, f] = $f; next }
		{ k = $1 "\t" $2; if (!(k in n)) order[++m] = k; n[k]++; j[k] += $3; jj[k] += $3 * $3; x[k] += $4
		  xx[k] += $4 * $4; r[k] += $5; g[k] += $6; busy[k] += $7 }
		END { printf "%s\tpolicy\tworkloads\tjct_mean_h\tjct_sd_h\tjct_p99_h\tmakespan_h\tmakespan_sd_h\trestarts\tgpu_h", column
			print "\tcontention\tpublished_jct_mean_h\tpublished_jct_p99_h\tpublished_makespan_h\tpublished_gpu_h"
			for (i = 1; i <= m; i++) { k = order[i]; c = n[k]
				printf "%s\t%d\t%.4f\t%.4f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.2f\t%s\t%s\t%s\t%s\n", k, c, j[k] / c,
					sd(j[k], jj[k], c), p99[k], x[k] / c, sd(x[k], xx[k], c), r[k] / c, g[k] / c, busy[k] / c,
					na(want[k, 3]), na(want[k, 4]), na(want[k, 5]), na(want[k, 6]) } }' \
		"$W/sia-p99" "$W/published" "$W/sia-means"
}

# sia_claims KEY POLICY PREFIX WITHIN: a claim for each published number of a row, which holds within so many percent
sia_claims() {
	for sia_column in jct_mean_h jct_p99_h makespan_h gpu_h; do
		sia_want_h=$(sia_value "$1" "$2" "published_$sia_column")
		sia_got_h=$(sia_value "$1" "$2" "$sia_column")
		[ "$sia_want_h" != NA ] || continue
		claim "$3-$sia_column" "$sia_want_h" "$sia_got_h" \
			"$(verdict "$sia_got_h >= $sia_want_h * (1 - $4 / 100) && $sia_got_h <= $sia_want_h * (1 + $4 / 100)")" \
			"$(case $sia_column in jct_mean_h) echo 'mean completion time (h)' ;; jct_p99_h) echo 'its 99th percentile (h)' ;;
			makespan_h) echo 'makespan (h)' ;; *) echo 'GPU-hours a job' ;; esac), $2, $1; holds within $4 %"
	done
}

# sia_value KEY POLICY COLUMN: of that table, in $OUT/$NAME.tsv
sia_value() {
	awk -F '\t' -v k="$1" -v p="$2" -v col="$3" "$awk_columns"' $1 == k && $c["policy"] == p { print $c[col] }' "$OUT/$NAME.tsv"
}
