#!/bin/sh
# SPDX-License-Identifier: MIT
# figures/all-policies: a row for every policy that gf-replay has, all with numbers, and these are right.
. tests/cli/lib.sh
need_tool gnuplot 30
FIGURE_DATA=shipped
export FIGURE_DATA
F=$T/figures
run "the table is made" 0 figures/all-policies "$F"
cp "$T/out" "$T/shown"
gf-replay --help | awk '/^Policies:/ { on = 1; next } /^[^ ]/ { on = 0 } on { print $1 }' >"$T/want"
awk -F '\t' '/^#/ || $1 == "policy" { next } { print $1 }' "$F/all-policies.tsv" >"$T/got"
same "the policies of gf-replay, each once, in its order" "$T/want" "$T/got"
n=$(wc -l <"$T/want")
ok "there are many ($((n)))" "$([ "$n" -ge 26 ]; echo $?)"
awk 'NR == FNR { want[$1] = 1; next } $1 in want { n++ } END { print n }' "$T/want" "$T/shown" >"$T/n"
is "the table is shown whole" "$T/n" "$((n))"

# cell POLICY COLUMN
cell() {
	awk -F '\t' -v p="$1" -v want="$2" '/^#/ { next } !n++ { for (i = 1; i <= NF; i++) c[$i] = i; next }
		$1 == p { print $c[want] }' "$F/all-policies.tsv"
}
jobs=$(awk -F '\t' '/^#/ { next } { n++ } END { print n - 1 }' "$F/inputs/shipped-workloads-1.tsv")
awk -F '\t' -v jobs="$jobs" '
	/^#/ { next }
	!n++ { for (i = 1; i <= NF; i++) c[$i] = i; next }
	$1 == "follow" { if ($c["finished"] != 0 || $c["note"] == "NA") print $1; next }
	$c["finished"] != jobs || $c["violated"] != 0 || $c["note"] != "NA" { print; next }
	{
		split("jct_mean_h jct_p99_h makespan_h gpu_h rho_mean rho_p99", positive, " ")
		for (i in positive) if (!($c[positive[i]] > 0)) print $1 " " positive[i] " " $c[positive[i]]
		if (!($c["restarts"] >= 0) || $c["unfair_pct"] < 0 || $c["unfair_pct"] > 100 || $c["rho_p99"] < $c["rho_mean"] / 9 ||
			$c["jct_p99_h"] < $c["jct_mean_h"] || $c["makespan_h"] < $c["jct_p99_h"]) print $1 " is out of order"
	}' "$F/all-policies.tsv" >"$T/bad"
is "each but follow finishes all $jobs jobs with numbers, and its log violates no rule" "$T/bad" ""

# The same numbers by hand, of one that is replayed with the profile and of one with rates
in_figures() {
	(cd "$F" && "$@")
}
in_figures gf-replay -q --policy fifo --cluster 1000x4 --profile inputs/shipped.h5 --restart-delay 0 \
	inputs/shipped-workloads-1.tsv | gf-metrics -q --per-job -o "$T/alone.tsv"
check() {
	gf-metrics -q --no-meta --isolated "$T/alone.tsv" "$T/log" | awk -F '\t' '{ v[$1] = $2 }
		END { printf "%.4f %.4f %.4f %d %.2f %.3f %.3f %.1f\n", v["jct_mean_s"] / 3600, v["jct_p99_s"] / 3600,
			v["makespan_s"] / 3600, v["restarts"], v["gpu_seconds_held"] / 3600, v["rho_mean"], v["rho_p99"],
			100 * v["rho_unfair"] }' >"$T/byhand"
	is "$1: by hand" "$T/byhand" "$(for k in jct_mean_h jct_p99_h makespan_h restarts gpu_h rho_mean rho_p99 unfair_pct; do
		cell "$1" $k; done | tr '\n' ' ' | sed 's/ $//')"
}
in_figures gf-replay -q --policy tiresias --cluster 8x4 --interval 60 --profile inputs/shipped.h5 \
	inputs/shipped-workloads-1.tsv >"$T/log"
check tiresias
in_figures gf-replay -q --policy gavel-finish-time --cluster gpu:8x4 --interval 360 --restart-delay 30 \
	--rates inputs/shipped-all-rates.tsv inputs/shipped-all-steps.tsv >"$T/log"
check gavel-finish-time

# A policy that cannot run has a row that says why: without rates none of Gavel's can.
mkdir "$T/bin"
# shellcheck disable=SC2016
printf '#!/bin/sh\ncase "$*" in *gavel-fifo*--rates*) echo "gf-replay: no such thing" >&2; exit 1 ;; esac\nexec "%s/gf-replay" "$@"\n' \
	"$B" >"$T/bin/gf-replay"
chmod +x "$T/bin/gf-replay"
for tool in gf-metrics gf-verify gf-table gf-plot gf-speedup gf-prof gf-trace gf-synth; do
	ln -s "$B/$tool" "$T/bin/$tool"
done
run "one that cannot run" 0 env B="$T/bin" figures/all-policies "$F"
cell gavel-fifo note >"$T/note"
is "one that cannot run: its row says why" "$T/note" "no such thing"
has "one that cannot run: the claim does not hold" "$F/all-policies-claims.tsv" '^all-run	25	24	differs'
