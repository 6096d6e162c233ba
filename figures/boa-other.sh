# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# variables of figures/lib.sh
# shellcheck disable=SC2154
# Points of a policy beside BOA's predicted frontier: `. figures/boa-other.sh` after figures/lib.sh.
#
#   other_points POLICY COST JOBS WINDOW OPTION…   replays of the policy at target efficiencies, with its autoscaling rule of
#       the same name: "budget jct_h" rows in $W/POLICY, the budget being the metric COST. As long as gf-replay does not list the policy and the
#       rule, they cannot run with these options, or there is no such metric, there are none, and one line says what is missing.
#       "budget restarts" rows (restarts a job) go to $W/POLICY-restarts. $other_prices: options of gf-metrics, prices of GPU types
# Environment: TARGETS (0.3 0.4 0.5 0.6 0.7 0.8)

# listed SECTION NAME: gf-replay --help has it there
listed() {
	gf-replay --help | awk -v section="$1:" -v name="$2" '
		/^[^ ]/ { on = $0 == section }
		on && $1 == name { found = 1 }
		END { exit !found }'
}

other_points() {
	other=$1 other_cost=$2 other_jobs=$3 other_window=$4
	shift 4
	: >"$W/$other"
	: >"$W/$other-restarts"
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
		# shellcheck disable=SC2086
		gf-metrics -q --window "$other_window" ${other_prices:-} "$W/log.tsv" >"$W/other"
		if ! awk -F '\t' -v cost="$other_cost" '{ v[$1] = $2 }
			END { if (!(cost in v)) exit 1; printf "%s\t%.6f\n", v[cost], v["jct_mean_s"] / 3600 }' \
			"$W/other" >>"$W/$other"; then
			say "no metric $other_cost yet: points of $other are left out"
			: >"$W/$other"
			return 0
		fi
		awk -F '\t' -v cost="$other_cost" '{ v[$1] = $2 }
			END { printf "%s\t%.4f\n", v[cost], v["restarts"] / v["jobs"] }' "$W/other" >>"$W/$other-restarts"
	done
}

# beside POLICY CURVE: a claim of the ratio at equal budget, when there are points
beside() {
	[ -s "$W/$1" ] || return 0
	while read -r b y; do
		echo "$b $y $(at "$2" "$b")"
	done <"$W/$1" | awk 'NF == 3 && $2 / $3 > best { best = $2 / $3; at = $1 }
		END { if (best) printf "%.3f %.1f\n", best, at; else print "NA NA" }' >"$W/ratio"
	read -r ratio at <"$W/ratio"
	claim "jct-at-equal-budget-$1" 'up to 1.8' "$ratio" "$(verdict "\"$ratio\" != \"NA\" && $ratio + 0 >= 1.6")" \
		"largest ratio of mean completion times, $1 replayed over BOA predicted, at the same budget ($at)"
}
