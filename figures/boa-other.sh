# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# variables of figures/lib.sh
# shellcheck disable=SC2154
# Points of replays beside BOA's predicted frontier: `. figures/boa-other.sh` after figures/lib.sh.
#
#   other_points POLICY COST JOBS WINDOW OPTION…   replays of the policy at target efficiencies, with its autoscaling rule of
#       the same name: "budget jct_h" rows in $W/POLICY, the budget being the metric COST. As long as gf-replay does not list the policy and the
#       rule, they cannot run with these options, or there is no such metric, there are none, and one line says what is missing.
#       "budget restarts" rows (restarts a job) go to $W/POLICY-restarts, and "POLICY TARGET budget jct_mean_s jct_p95_s
#       restarts_per_job" rows to $W/POLICY-points. $other_prices: options of gf-metrics, prices of GPU types
#   boa_points NAME COST JOBS WINDOW SOLVE BUDGETS OPTION…   the same of BOA at each of the budgets, with the widths of
#       gf-boa solve SOLVE (options in one word); OPTION… are those of gf-replay
#   points_curve NAME COLUMN   "budget hours" rows of these points by budget: column 4 the mean, 5 the 95th percentile
#   replay_agrees CURVE SINGLE WHOLE   a claim: points of nodes of one GPU against the predicted curve; and what whole nodes add
#   crossing FILE B         value of the second column where the first is B, linear between the points of a replay; nothing
#       beyond them
#   most FILE1 FILE2        "RATIO AT": the largest ratio of the second columns at equal first ones, FILE1 over FILE2; NA NA
# Environment: TARGETS (0.3 0.4 0.5 0.6 0.7 0.8)

# listed SECTION NAME: gf-replay --help has it there
listed() {
	gf-replay --help | awk -v section="$1:" -v name="$2" '
		/^[^ ]/ { on = $0 == section }
		on && $1 == name { found = 1 }
		END { exit !found }'
}

# point POLICY KEY COST WINDOW: a row of the log $W/log.tsv; fails where there is no such metric
point() {
	# shellcheck disable=SC2086
	gf-metrics -q --window "$4" ${other_prices:-} "$W/log.tsv" | awk -F '\t' -v head="$1$TAB$2" -v cost="$3" '{ v[$1] = $2 }
		END { if (!(cost in v)) exit 1
			printf "%s\t%s\t%.6f\t%.6f\t%.4f\n", head, v[cost], v["jct_mean_s"], v["jct_p95_s"], v["restarts"] / v["jobs"] }'
}

other_points() {
	other=$1 other_cost=$2 other_jobs=$3 other_window=$4
	shift 4
	: >"$W/$other"
	: >"$W/$other-restarts"
	: >"$W/$other-points"
	for section in Policies Autoscaling; do
		if ! listed "$section" "$other"; then
			say "$other is missing ($section, see the help of the replay): its points are left out, run this again when it is there"
			return 0
		fi
	done
	for t in ${TARGETS:-0.3 0.4 0.5 0.6 0.7 0.8}; do
		if ! gf-replay -q --policy "$other" --autoscale "$other" --target-efficiency "$t" "$@" \
			-o "$W/log.tsv" "$OUT/$other_jobs" 2>"$W/why"; then
			say "policy $other does not run here yet, its points are left out: $(head -n 1 "$W/why" | sed 's/^gf-[a-z]*: //')"
			: >"$W/$other"
			return 0
		fi
		if ! point "$other" "$t" "$other_cost" "$other_window" >>"$W/$other-points"; then
			say "no metric $other_cost yet: points of $other are left out"
			: >"$W/$other"
			return 0
		fi
	done
	awk -F '\t' '{ printf "%s\t%.6f\n", $3, $4 / 3600 }' "$W/$other-points" >"$W/$other"
	cut -f 3,6 "$W/$other-points" >"$W/$other-restarts"
}

boa_points() {
	boa_name=$1 boa_cost=$2 boa_jobs_at=$3 boa_window=$4 boa_solve=$5 boa_budgets=$6
	shift 6
	: >"$W/$boa_name-points"
	for b in $boa_budgets; do
		# shellcheck disable=SC2086
		gf-boa solve -q $boa_solve -b "$b" -o "$W/plan.tsv" || die "no widths for the budget $b"
		gf-replay -q --policy boa --autoscale plan --plan "$W/plan.tsv" "$@" -o "$W/log.tsv" "$OUT/$boa_jobs_at" ||
			die "BOA does not run at the budget $b"
		point "$boa_name" "$b" "$boa_cost" "$boa_window" >>"$W/$boa_name-points" || die "no metric $boa_cost"
	done
}

crossing() {
	sort -g "$1" | awk -v b="$2" '
		$1 >= b { if ($1 == b) printf "%.17g\n", $2
			else if (have) printf "%.17g\n", y + (b - x) / ($1 - x) * ($2 - y)
			exit }
		{ x = $1; y = $2; have = 1 }'
}

most() {
	while read -r b y; do
		echo "$b $y $(crossing "$2" "$b")"
	done <"$1" | awk 'NF == 3 && $2 / $3 > best { best = $2 / $3; at = $1 }
		END { if (best) printf "%.3f %.1f\n", best, at; else print "NA NA" }'
}

points_curve() {
	awk -F '\t' -v c="$2" '{ printf "%s\t%.17g\n", $3, $c / 3600 }' "$W/$1-points" | sort -g
}

replay_agrees() {
	while IFS=$TAB read -r _ b cost mean _; do
		echo "$b $cost $mean $(at "$1" "$b")"
	done <"$W/$2-points" | awk -v end="$(tail -n 1 "$1" | cut -f 1)" 'function off(x) { return x > 1 ? x - 1 : 1 - x }
		$1 > end { $1 = end }	# more cannot be spent
		{ d = off($3 / 3600 / $4); c = off($2 / $1); if (d > jct) jct = d; if (c > cost) cost = c }
		END { printf "%.3f %.3f\n", 100 * jct, 100 * cost }' >"$W/off"
	read -r off_jct off_cost <"$W/off"
	awk -F '\t' 'NR == FNR { single[$2] = $3; next } { x = $3 / single[$2] - 1; if (x > most) { most = x; at = $2 } }
		END { printf "%.0f %s\n", 100 * most, at }' "$W/$2-points" "$W/$3-points" >"$W/nodes"
	read -r more at <"$W/nodes"
	claim replay-agrees 'within 0.5 %' "$off_jct %, $off_cost %" "$(verdict "$off_jct <= 0.5 && $off_cost <= 0.5")" \
		"mean completion time and cost of BOA replayed on nodes of one GPU against its prediction, at most over all budgets;" \
		"whole nodes cost up to $more % more (budget $at)"
}
