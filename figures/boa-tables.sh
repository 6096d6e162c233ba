# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# variables of figures/lib.sh
# shellcheck disable=SC2034,SC2154
# Speedups and classes of the predicted figures of BOA Constrictor: `. figures/boa-tables.sh` after figures/lib.sh.
#
# Public data: newTrace of Sia (SOSP'23) on T4 nodes of 4 GPUs, and with V100 (8) and A100 (8) nodes; true goodput of
# the profiles, divided by that simulator's calibration (1.8 for cifar10, 1.2), its rescale times; 34 phases. Prices of
# GPUs, $ an hour, are placeholders: the paper's are not in its public text.
# Shipped data: a generated workload on the shipped profiles; as the second type GPUs of 2.6 times the speed.
#
#   boa_speedups KIND     t4, or het (several types): a table in $OUT, its name in $speedups; het also sets $prices
#   boa_classes [APP…]    arrival rates and rescale times of these applications (all): $classes
#   boa_jobs              the jobs table: $jobs, and the window of submissions in seconds: $window
#   sweep FILE OPTION…    "budget jct" rows of a frontier, hours
#   at FILE B             completion time of that curve at budget B, linear between breakpoints

sia=$shared/public/sia-sosp23

boa_make_store() {
	rm -rf "$W/boa-apps"
	mkdir "$W/boa-apps"
	for app in bert cifar10 deepspeech2 imagenet yolov3; do
		ln -s "$(cd "$sia/traces" && pwd)/$app" "$W/boa-apps/$app"
	done
	gf-prof --from pollux --gpu-type "$1" "$W/boa-apps" -o "$made"
}

boa_phases='--phases cifar10=10 --phases deepspeech2=8 --phases bert=2 --phases yolov3=5 --phases imagenet=9'
boa_slow='--slowdown 1.2 --slowdown cifar10=1.8'

boa_make_speedups() {
	if [ "$FIGURE_DATA" = public ]; then
		stores='' list=aws
		[ "$1" = t4 ] || list='aws azure dgx-ext'
		for type in $list; do
			into "inputs/public-sia-$type.h5" boa_make_store "$type"
		done
		made=$boa_made
		set -- "$1" --profile "t4=$OUT/inputs/public-sia-aws.h5" --max-gpus t4=64
		[ "$1" = t4 ] || set -- "$@" --profile "v100=$OUT/inputs/public-sia-azure.h5" --max-gpus v100=40 \
			--profile "a100=$OUT/inputs/public-sia-dgx-ext.h5" --max-gpus a100=16 \
			--gpus-per-node v100=8 --gpus-per-node a100=8
		shift
		# shellcheck disable=SC2086
		gf-speedup -q "$@" $boa_phases $boa_slow -o "$made"
	else
		gf-speedup -q --profile t4="$OUT/$profiles" --max-gpus 32 --phases 3 --phases bert=2 --app bert --app cifar10 \
			--app deepspeech2 -o "$W/shipped.tsv" || return 1
		if [ "$1" = t4 ]; then
			cp "$W/shipped.tsv" "$made"
		else
			awk -F '\t' -v OFS='\t' "$awk_columns"'
				{ print $c["class"], $c["epoch"], $c["gpu_type"], $c["gpus"], $c["work"], $c["speed_per_s"]
				  if ($c["gpus"] <= 16 && $c["speed_per_s"] != "NA")
					print $c["class"], $c["epoch"], "v100", $c["gpus"], $c["work"], 2.6 * $c["speed_per_s"] }' \
				"$W/shipped.tsv" |
				{ printf 'class\tepoch\tgpu_type\tgpus\twork\tspeed_per_s\n'; cat; } >"$made"
		fi
	fi
}

boa_speedups() {
	speedups=inputs/$FIGURE_DATA-boa-speedups-$1.tsv
	boa_made=$W/speedups.tsv
	if [ ! -s "$OUT/$speedups" ]; then
		made=$boa_made
		boa_make_speedups "$1" || die "cannot make $speedups"
		mv "$boa_made" "$OUT/$speedups"
	fi
	prices=''
	if [ "$1" = het ]; then
		prices='--gpu-price t4=0.526 --gpu-price v100=3.06'
		[ "$FIGURE_DATA" != public ] || prices="$prices --gpu-price a100=3.673"
	fi
}

boa_make_jobs() {
	if [ "$FIGURE_DATA" = public ]; then
		gf-trace -q --from pollux "$sia/workloads/newtrace/workload-1.csv" -o "$made"
	else
		gf-synth workload --jobs 60 --hours 2 --max-gpus 32 --seed 7 -o "$made"
	fi
}

boa_jobs() {
	jobs=inputs/$FIGURE_DATA-boa-newtrace.tsv
	into "$jobs" boa_make_jobs
	case $FIGURE_DATA in public) window=172800 ;; *) window=7200 ;; esac
}

boa_classes() {
	boa_jobs
	classes=inputs/$FIGURE_DATA-boa-classes$(printf -- '-%s' "$@" | tr -d '\n').tsv
	[ "$FIGURE_DATA" = public ] || set -- bert cifar10 deepspeech2
	awk -F '\t' -v window=$window -v want="$*" "$awk_columns"'
		BEGIN { n = split("bert 120 cifar10 50 deepspeech2 25 imagenet 250 yolov3 80", v, " ")
			for (i = 1; i < n; i += 2) r[v[i]] = v[i + 1] }
		want == "" || index(" " want " ", " " $c["app"] " ") { count[$c["app"]]++ }
		END { for (a in count) printf "%s\t%.17g\t%s\n", a, count[a] / window, r[a] }' "$OUT/$jobs" | sort |
		{ printf 'class\tarrival_rate_per_s\trescale_s\n'; cat; } >"$OUT/$classes"
}

sweep() {
	sweep_to=$1
	shift
	gf-boa frontier -q --no-meta "$@" | awk -F '\t' "$awk_columns"' { printf "%.17g\t%.17g\n", $c["budget"], $c["mean_jct_s"] / 3600 }' \
		>"$sweep_to"
}

at() {
	awk -v b="$2" '$1 <= b { x = $1; y = $2; have = 1; next }
		have { printf "%.17g\n", y + (b - x) / ($1 - x) * ($2 - y); done = 1; exit }
		END { if (!done && have) printf "%.17g\n", y }' "$1"
}

# cut FILE B: that curve from its cheapest point to budget B, which becomes its last point
cut_at() {
	awk -v b="$2" '$1 <= b' "$1"
	printf '%s\t%s\n' "$2" "$(at "$1" "$2")"
}

# budget FACTOR FILE: a multiple of the smallest budget of a curve
budget() {
	awk -v f="$1" 'NR == 1 { printf "%.6g\n", f * $1; exit }' "$2"
}

# subset KIND [APP…]: speedups of some classes alone: $speedups
subset() {
	subset_from=$speedups
	speedups=inputs/$FIGURE_DATA-boa-speedups-918.tsv
	awk -F '\t' -v want="$*" "$awk_columns"' index(" " want " ", " " $1 " ")' "$OUT/$subset_from" >"$W/rows"
	{ grep -v '^#' "$OUT/$subset_from" | head -n 1; cat "$W/rows"; } >"$OUT/$speedups"
}
