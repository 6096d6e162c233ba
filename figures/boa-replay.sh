# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# variables of figures/lib.sh
# shellcheck disable=SC2034,SC2154
# What the replayed figures of BOA Constrictor have in common: `. figures/boa-replay.sh` after figures/lib.sh.
#
# The Pollux setting: T4 nodes of 4 GPUs, restart delays of the profile, nodes ready at once. Speeds by number of GPUs
# are the true goodput of the profile at the best batch size (gf-speedup, an epoch of training each); BOA's
# widths come from gf-boa solve with the arrival rates of the trace. Pollux learns its models as it goes, and its
# cluster follows a target efficiency (--autoscale pollux).
#
#   setting NAME            jobs85: workload 1 of Pollux without ncf, yolov3, imagenet; newtrace: the first of
#                           Sia's. Shipped data: generated jobs. Sets $jobs, $speedups, $classes, $window
#   tables NAME             speedups and classes of the jobs table $jobs
#   want_boa BUDGET [PLAN-SPEEDUPS]     a replay of the widths for BUDGET, computed from those speeds
#   want_boa_learning BUDGET BELIEVED   the same, computed in the replay, anew every 15 minutes
#   want_pollux TARGET [OPTION…]        Pollux at a target efficiency
#   points                  reads "POLICY KEY RUN" lines, prints a row each: policy, key, budget, completion times
#   at_budget TABLE POLICY X COLUMN     value of the policy's curve at rented_gpus X, linear between its points; NA
# Environment, beside that of lib.sh: NODES (nodes that can be rented, 64), BUDGETS, TARGETS: points of the curves

NODES=${NODES:-64}
FIDELITY=

make_jobs() {
	case $FIGURE_DATA-$1 in
	public-jobs85)
		gf-trace -q --from pollux "$pollux/workloads/workload-1.csv" -o "$W/all.tsv" &&
			gf-select -q --where 'app!=ncf' --where 'app!=yolov3' --where 'app!=imagenet' "$W/all.tsv" -o "$made" ;;
	public-newtrace)
		gf-trace -q --from pollux "$shared/public/sia-sosp23/workloads/newtrace/workload-1.csv" -o "$made" ;;
	*)
		gf-synth workload --jobs 30 --hours 1 --max-gpus 16 --seed 7 -o "$W/all.tsv" &&
			gf-select -q --where 'app!=ncf' --where 'app!=yolov3' --where 'app!=imagenet' "$W/all.tsv" -o "$made" ;;
	esac
}

make_speedups() {
	gf-table convert "$OUT/$1" -o - | awk -F '\t' "$awk_columns"' { print $c["app"] }' | sort -u >"$W/names"
	set --
	while read -r app; do
		set -- "$@" --app "$app"
	done <"$W/names"
	gf-speedup -q --profile "$OUT/$profiles" --gpus-per-node 4 --max-gpus 64 "$@" -o "$made"
}

# arrival rates over the window, restart delays of the profile
make_classes() {
	profile_table apps >"$W/delays"
	{
		printf 'class\tarrival_rate_per_s\trescale_s\n'
		awk -F '\t' "$awk_columns"'
			FILENAME == delays { r[$c["app"]] = $c["restart_s"]; next }
			{ n[$c["app"]]++ }
			END { for (a in n) printf "%s\t%.17g\t%s\n", a, n[a] / window, r[a] }' window="$window" \
			delays="$W/delays" "$W/delays" "$OUT/$1" | sort
	} >"$made"
}

tables() {
	speedups=inputs/$FIGURE_DATA-$1-speedups.tsv classes=inputs/$FIGURE_DATA-$1-classes.tsv
	into "$speedups" make_speedups "$jobs"
	into "$classes" make_classes "$jobs"
}

setting() {
	jobs=inputs/$FIGURE_DATA-boa-$1.tsv
	into "$jobs" make_jobs "$1"
	case $FIGURE_DATA-$1 in
	public-jobs85) window=28800 ;;
	public-newtrace) window=172800 NODES=$((NODES * 4)) ;;
	*) window=3600 NODES=16 ;;
	esac
	tables "boa-$1"
}

boa_key=
# want COMMAND…: a replay in the cache of lib.sh, keyed by what it is made of
want() {
	[ -n "$boa_key" ] ||
		boa_key=$({ cat "$(command -v gf-replay)" "$(command -v gf-metrics)" "$(command -v gf-boa)" "$OUT/$profiles"
			cat "$OUT/$speedups" "$OUT/$classes"; } | hash_of)
	run=cache/$({ echo "$boa_key $*"; cat "$OUT/$jobs" ${plan:+"$OUT/$plan"}; } | hash_of)
	[ -d "$OUT/$run" ] || echo "$run $*" >>"$W/wanted"
}

make_plan() {
	gf-boa solve -q --classes "$OUT/$classes" --budget "$1" --charge-start "$2" -o "$made"
}

want_boa() {
	believed=${2:-$speedups}
	plan=inputs/plan-$({ echo "$1"; cat "$OUT/$believed" "$OUT/$classes"; } | hash_of).tsv
	into "$plan" make_plan "$1" "$OUT/$believed"
	want gf-replay --policy boa --cluster "${NODES}x4" --autoscale plan --speedups "$speedups" --classes "$classes" \
		--plan "$plan" "$jobs"
	plan=
}

# the same, computed in the replay from those speeds, and anew every quarter of an hour as speeds are learned
want_boa_learning() {
	want gf-replay --policy boa --cluster "${NODES}x4" --autoscale plan --speedups "$speedups" --classes "$classes" \
		--budget "$1" --believed "$2" --resolve-interval 900 "$jobs"
}

want_pollux() {
	target=$1
	shift
	want gf-replay --policy pollux --search local --cluster "${NODES}x4" --interval 60 --autoscale pollux \
		--target-efficiency "$target" --profile "$profiles" "$@" "$jobs"
}

# least_budget: the smallest feasible one
least_budget() {
	gf-boa frontier -q --classes "$OUT/$classes" --charge-start --no-meta "$OUT/$speedups" |
		awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } { print $c["budget"]; exit }'
}

points() {
	printf 'policy\tkey\trented_gpus\theld_gpus\tjct_mean_s\tjct_p95_s\trestarts_per_job\n'
	while read -r policy key run; do
		gf-metrics -q --window "$window" "$OUT/$run/log.tsv.gz" | awk -F '\t' -v head="$policy$TAB$key" '{ v[$1] = $2 }
			END { print head, v["rented_gpus"], v["budget_gpus"], v["jct_mean_s"], v["jct_p95_s"],
				v["restarts"] / v["jobs"] }' OFS='\t' OFMT=%.6f CONVFMT=%.6f
	done
}

at_budget() {
	awk -F '\t' "$awk_columns"' $1 == policy { n++; x[n] = $c["rented_gpus"]; y[n] = $c[want] }
		END { for (i = 1; i <= n; i++) for (k = i + 1; k <= n; k++) if (x[k] < x[i]) {
			t = x[i]; x[i] = x[k]; x[k] = t; t = y[i]; y[i] = y[k]; y[k] = t }
		  for (i = 1; i < n; i++) if (x[i] <= b && b <= x[i + 1]) {
			printf "%.6f\n", y[i] + (y[i + 1] - y[i]) * (x[i + 1] > x[i] ? (b - x[i]) / (x[i + 1] - x[i]) : 0); exit }
		  print "NA" }' policy="$2" b="$3" want="$4" "$OUT/$1"
}

# at_jct TABLE POLICY Y: rented_gpus at which the policy's mean completion time is Y; NA
at_jct() {
	awk -F '\t' "$awk_columns"' $1 == policy { n++; x[n] = $c["rented_gpus"]; y[n] = $c["jct_mean_s"] }
		END { for (i = 1; i <= n; i++) for (k = i + 1; k <= n; k++) if (y[k] < y[i]) {
			t = x[i]; x[i] = x[k]; x[k] = t; t = y[i]; y[i] = y[k]; y[k] = t }
		  for (i = 1; i < n; i++) if (y[i] <= j && j <= y[i + 1]) {
			printf "%.6f\n", x[i] + (x[i + 1] - x[i]) * (y[i + 1] > y[i] ? (j - y[i]) / (y[i + 1] - y[i]) : 0); exit }
		  print "NA" }' policy="$2" j="$3" "$OUT/$1"
}

# most_ratio TABLE COLUMN: the largest ratio of Pollux over BOA at the budgets of Pollux; "RATIO BUDGET", NA
most_ratio() {
	awk -F '\t' "$awk_columns"' $1 == "pollux" { print $c["rented_gpus"], $c[want] }' want="$2" "$OUT/$1" |
		while read -r b y; do
			echo "$b $y $(at_budget "$1" boa "$b" "$2")"
		done | awk '$3 != "NA" && $2 / $3 > best { best = $2 / $3; at = $1 }
			END { if (best) printf "%.3f %.1f\n", best, at; else print "NA NA" }'
}

# most_saving TABLE: the largest ratio of budgets at equal mean completion time
most_saving() {
	awk -F '\t' "$awk_columns"' $1 == "pollux" { print $c["rented_gpus"], $c["jct_mean_s"] }' "$OUT/$1" |
		while read -r b y; do
			echo "$b $y $(at_jct "$1" boa "$y")"
		done | awk '$3 != "NA" && $1 / $3 > best { best = $1 / $3; at = $2 }
			END { if (best) printf "%.3f %.0f\n", best, at; else print "NA NA" }'
}

# curves: budgets of BOA as multiples of the smallest feasible one, targets of Pollux; "POLICY KEY RUN" in $W/points
curves() {
	least=$(least_budget)
	: >"$W/points"
	for m in ${BUDGETS:-1.04 1.08 1.15 1.3 1.5 1.8 2.2 2.8 3.5 5}; do
		b=$(awk "BEGIN { printf \"%.6f\", $least * $m }")
		want_boa "$b"
		echo "boa $b $run" >>"$W/points"
	done
	for t in ${TARGETS:-0.3 0.4 0.5 0.6 0.7 0.8}; do
		want_pollux "$t"
		echo "pollux $t $run" >>"$W/points"
	done
	replays
}

# equal_budget TARGET: Pollux at that target, and BOA at the budget for which it rents as many GPUs: $pollux_run, $boa_run
equal_budget() {
	want_pollux "$1"
	replays
	pollux_run=$run
	echo "pollux $1 $run" | points >"$W/equal"
	rented=$(awk -F '\t' 'NR == 2 { print $3 }' "$W/equal")
	equal_b=$rented
	least=$(least_budget)
	# whole nodes cost more than widths: a few steps bring the budget to where as much is rented
	for _ in 1 2 3 4; do
		equal_b=$(awk "BEGIN { b = $equal_b; if (b < $least * 1.001) b = $least * 1.001; printf \"%.6f\", b }")
		want_boa "$equal_b"
		replays
		boa_run=$run
		echo "boa $equal_b $run" | points >"$W/equal"
		equal_b=$(awk -F '\t' -v b="$equal_b" -v want="$rented" 'NR == 2 { printf "%.6f", b * want / $3 }' "$W/equal")
	done
}
