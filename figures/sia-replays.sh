# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# variables of figures/lib.sh
# shellcheck disable=SC2154,SC2034
# Replays on GPUs of several types: `. figures/sia-replays.sh` after figures/lib.sh.
#
#   sia_family FAMILY            Philly, Helios, newTrace: how many workloads ($sia_n), in which folder ($sia_folder)
#   sia_workload FAMILY N [WHAT] a jobs table in $jobs; WHAT may change of the jobs: adaptive (all), scale-gpus or rigid
#   sia_want KEY POLICY KIND N [WHAT]   want a replay of workload N of family KEY on the cluster KIND (het or homogeneous);
#                                with WHAT the policy is called POLICY-WHAT in tables
#   sia_table COLUMN             once all are there: a row for each key and policy, means over the workloads
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

sia_want() {
	sia_workload "$1" "$4" "${5:-}"
	case $3 in het) sia_cluster=$sia_het ;; *) sia_cluster=$sia_homogeneous ;; esac
	sia_run="gf-replay --cluster $sia_cluster --fidelity sia-sosp23 --policy $2"
	for type in $sia_types; do
		sia_store=inputs/$FIGURE_DATA-typed-$type.h5
		[ "$2-$type" != pollux-aws ] || sia_store=inputs/public-pollux-t4.h5
		case $sia_cluster in *$type:*) sia_run="$sia_run --profile $type=$sia_store" ;; esac
	done
	run=cache/$({ echo "$sia_key $sia_run"; cat "$OUT/$jobs"; for type in $sia_types; do
		cat "$OUT/inputs/$FIGURE_DATA-typed-$type.h5"; done; } | hash_of)
	[ -d "$OUT/$run" ] || echo "$run $sia_run $jobs" >>"$W/wanted"
	echo "$1 $2${5:+-$5} $run" >>"$W/sia"
}

sia_table() {
	while read -r key policy run; do
		awk -F '\t' -v k="$key" -v p="$policy" '{ v[$1] = $2 }
			END { print k, p, v["jct_mean_s"] / 3600, v["jct_p99_s"] / 3600, v["makespan_from_first_submit_s"] / 3600,
				v["restarts"] / v["jobs"], v["gpu_seconds_held"] / 3600 / v["jobs"] }' "$OUT/$run/metrics.tsv"
	done <"$W/sia" | awk -v column="$1" '
		function sd(s, ss, n,	v) { v = ss / n - (s / n) ^ 2; return sqrt(v > 0 ? v : 0) }
		{ k = $1 "\t" $2; if (!(k in n)) order[++m] = k; n[k]++; j[k] += $3; jj[k] += $3 * $3; p[k] += $4; x[k] += $5
		  xx[k] += $5 * $5; r[k] += $6; g[k] += $7 }
		END { printf "%s\tpolicy\tworkloads\tjct_mean_h\tjct_sd_h\tjct_p99_h\tmakespan_h\tmakespan_sd_h\trestarts\tgpu_h\n", column
			for (i = 1; i <= m; i++) { k = order[i]; c = n[k]
				printf "%s\t%d\t%.4f\t%.4f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\n", k, c, j[k] / c, sd(j[k], jj[k], c), p[k] / c,
					x[k] / c, sd(x[k], xx[k], c), r[k] / c, g[k] / c } }'
}

# sia_value KEY POLICY COLUMN: of that table, in $OUT/$NAME.tsv
sia_value() {
	awk -F '\t' -v k="$1" -v p="$2" -v col="$3" "$awk_columns"' $1 == k && $c["policy"] == p { print $c[col] }' "$OUT/$NAME.tsv"
}
