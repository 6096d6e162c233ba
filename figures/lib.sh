# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# Helpers of the recipes of figures: `. figures/lib.sh` at the top of the checkout, after NAME is set.
# A recipe is figures/NAME [FOLDER]; it leaves NAME.svg, NAME.png, their scripts and data (.gp, .dat),
# the tables behind them and NAME-claims.tsv in FOLDER (default out/figures). Nothing else is written
# but in FOLDER/inputs and FOLDER/cache.
#
# Environment:
#   B                folder with the tools (build); the rest of $PATH follows
#   JOBS             replays at a time (2)
#   GOODFIT_SHARED   folder with the public data (../shared); where it has none, the figure is made of
#                    generated workloads and profiles (data/apps.tsv), smaller, and says so
#   WORKLOADS        which of the eight workloads ("1 2 3 4 5 6 7 8")
#   LOADS            job loads of figure 8a ("0.5 1.0 1.5 2.0")
#   SEED             seed of the genetic search (1)
#   SEARCH           ga or local: how Pollux looks for allocations (ga, as the paper's simulator)
#
#   workload FOLDER N       make sure of a jobs table; its name, in FOLDER/inputs, goes to $jobs
#   replay JOBS OPTION…     want a replay; its folder in the cache goes to $run (relative to $OUT).
#                           It has log.tsv.gz, metrics.tsv, jobs.tsv, its command line, and in said
#                           what it says of its cost
#   replays                 run what was wanted and is not in the cache, JOBS at a time
#   metric RUN NAME         a metric of a finished replay
#   table NAME              standard input (header and rows) becomes $OUT/NAME.tsv, a fit-table/1
#   column TABLE NAME       the number of a column
#   draw VERB OPTION…       gf-plot to $OUT/$picture.svg and .png (default picture: NAME)
#   claim ID PUBLISHED HERE VERDICT TEXT…   one row of the table of claims; VERDICT holds or differs
#   published EXPERIMENT RUN [WORKLOAD]     mean over the workloads in use of the published raw means,
#                           in seconds, or NA
#   note, sweep_tables, mean, paired, claim_published     see below: a figure over two keys
#   claims                  write the table, and say it on standard output
set -eu
LC_ALL=C TZ=UTC
export LC_ALL TZ
if [ ! -f figures/lib.sh ]; then
	echo "$NAME: run recipes from the top of the checkout" >&2
	exit 2
fi
TOP=$(pwd)
B=${B:-build}
case $B in /*) ;; *) B=$TOP/$B ;; esac
PATH=$B:$PATH
export PATH
case ${1-} in
-h | --help)
	awk 'NR > 2 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$0"
	exit 0 ;;
-*)
	echo "usage: figures/$NAME [FOLDER]" >&2
	exit 2 ;;
esac
OUT=${1:-out/figures}
mkdir -p "$OUT/inputs" "$OUT/cache"
OUT=$(cd "$OUT" && pwd)
JOBS=${JOBS:-2}
WORKLOADS=${WORKLOADS:-1 2 3 4 5 6 7 8}
LOADS=${LOADS:-0.5 1.0 1.5 2.0}
SEED=${SEED:-1}
FIDELITY=${FIDELITY:-pollux-osdi21}
TAB=$(printf '\t')
picture=$NAME
W=$(mktemp -d "${TMPDIR:-/tmp}/gf-figure.XXXXXX")
trap 'rm -rf "$W"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
: >"$W/wanted"
: >"$W/claims"
: >"$W/runs"

say() {
	printf '%s: %s\n' "$NAME" "$*" >&2
}

die() {
	say "$@"
	exit 1
}

command -v gf-replay >/dev/null 2>&1 || die "no tools in '$B' (expected make first, or B=FOLDER)"
if command -v sha256sum >/dev/null 2>&1; then
	hash_of() { sha256sum | cut -c 1-16; }
else
	hash_of() { cksum | tr ' ' '-'; }
fi

# ---- awk ----

# Functions for awk: t_half(n, sum, sum of squares): half width of the 95 % interval of a mean
# (Student's t, n - 1 degrees of freedom), "NA" of fewer than two values.
# shellcheck disable=SC2034
awk_stats='
	function t_half(n, s, ss,	v, q) {
		if (n < 2)
			return "NA"
		split("12.706 4.303 3.182 2.776 2.571 2.447 2.365 2.306 2.262 2.228 2.201 2.179 2.160 2.145 2.131 " \
			"2.120 2.110 2.101 2.093 2.086 2.080 2.074 2.069 2.064 2.060 2.056 2.052 2.048 2.045", q, " ")
		v = (ss - s * s / n) / (n - 1)
		return (n < 31 ? q[n - 1] : 1.96) * sqrt((v > 0 ? v : 0) / n)
	}'

# A start of awk programs that fills c[name] from the header row and passes over metadata
# shellcheck disable=SC2034
awk_columns='
	/^#/ { next }
	FNR == 1 || !seen[FILENAME] { for (i = 1; i <= NF; i++) c[$i] = i; seen[FILENAME] = 1; next }'

# Functions for awk, with awk_columns: learn() takes a row of the table apps or validation of a profile, from files
# whose names end so; efficiency(APP, BATCH, EPOCH) is the statistical efficiency there, between batch sizes linear.
# shellcheck disable=SC2034,SC2016
awk_efficiency='
	function learn(	a, b) {
		a = $c["app"]
		if ("init_batch" in c && FILENAME ~ /apps$/) { first[a] = $c["init_batch"]; return }
		b = $c["batch_size"]
		if (b != last[a]) { size[a, ++sizes[a]] = b + 0; last[a] = b }
		sqr[a, b + 0, $c["epoch"] + 0] = $c["grad_sqr"]; var[a, b + 0, $c["epoch"] + 0] = $c["grad_var"]
	}
	function efficiency(a, m, e,	i, lo, hi, s, v) {
		for (i = 1; i <= sizes[a]; i++) {
			if (size[a, i] <= m) lo = size[a, i]
			if (size[a, i] >= m && hi == "") hi = size[a, i] }
		s = sqr[a, lo, e]; v = var[a, lo, e]
		if (lo != hi) { s = ((m - lo) * sqr[a, hi, e] + (hi - m) * s) / (hi - lo)
			v = ((m - lo) * var[a, hi, e] + (hi - m) * v) / (hi - lo) }
		return (v + s) / (v / (m / first[a]) + s) / (m / first[a])
	}'

# ---- inputs ----

shared=${GOODFIT_SHARED:-../shared}
pollux=$shared/public/pollux-osdi21
golden=$shared/golden/pollux
if [ -d "$pollux/traces" ] && [ -z "${FIGURE_DATA-}" ]; then
	FIGURE_DATA=public
fi
# Both kinds of data may be drawn into one folder, one after the other: their inputs have other names.
FIGURE_DATA=${FIGURE_DATA:-shipped}
case $FIGURE_DATA in
public) apps=$pollux/traces cluster=16x4 ;;
shipped)
	apps=inputs/apps cluster=8x4
	say "no public data: generated workloads and profiles (see docs/methods/figures.md)" ;;
*) die "FIGURE_DATA: bad value '$FIGURE_DATA' (expected public or shipped)" ;;
esac
profiles=inputs/$FIGURE_DATA.h5

# into FILE CMD…: a file of $OUT, made once, complete or not at all; $made is its name while it is made
into() {
	into_file=$1
	shift
	[ ! -s "$OUT/$into_file" ] || return 0
	made=$W/made.${into_file##*.}
	"$@" || die "cannot make $into_file"
	mv "$made" "$OUT/$into_file"
}

make_profiles() {
	if [ "$FIGURE_DATA" = public ]; then
		gf-prof --from pollux "$apps" -o "$made"
	else
		rm -rf "$W/apps"
		gf-synth profiles --calibration data/apps.tsv "$W/apps" &&
			gf-prof --from pollux "$W/apps" -o "$made"
	fi
}

make_theta() {
	gf-throughput -q --profile "$OUT/$profiles" -o "$made"
}

into "$profiles" make_profiles

# limits_of APP: $init_batch, $max_batch, $min_local, $max_local, $epochs, and $middle_batch, the middle
# one of the batch sizes that were run
limits_of() {
	profile_table apps >"$W/limits"
	awk -F '\t' -v app="$1" "$awk_columns"' $c["app"] == app { n++
		print $c["init_batch"], $c["max_batch"], $c["min_local_bsz"], $c["max_local_bsz"], $c["epochs"] }
		END { exit !n }' "$W/limits" >"$W/row" || die "no application '$1' in the profiles"
	# shellcheck disable=SC2034
	read -r init_batch max_batch min_local max_local epochs <"$W/row"
	profile_table validation >"$W/limits"
	# shellcheck disable=SC2034
	middle_batch=$(awk -F '\t' -v app="$1" "$awk_columns"' $c["app"] == app && $c["epoch"] == 0 { b[++n] = $c["batch_size"] }
		END { print b[int((n + 1) / 2)] }' "$W/limits")
}

# profile_table NAME: a table of the profiles as text
profile_table() {
	gf-table convert "$OUT/$profiles:/$1" -o -
}

make_workload() {
	if [ "$FIGURE_DATA" = public ]; then
		gf-trace --from pollux "$pollux/$1/workload-$2.csv" -o "$made"
	else
		# 60 jobs in two hours at load 1, as data/workload-synth.tsv
		case $1 in workloads-[0-9]*) synth_load=${1#workloads-} ;; *) synth_load=1 ;; esac
		gf-synth workload --jobs "$(awk "BEGIN { print int(60 * $synth_load) }")" --hours 2 --max-gpus 32 \
			--seed "$2" -o "$made"
	fi
}

workload() {
	jobs=inputs/$FIGURE_DATA-$1-$2.tsv
	into "$jobs" make_workload "$1" "$2"
}

# load_folder LOAD: where its workloads are
load_folder() {
	if [ "$1" = 1.0 ]; then echo workloads; else echo "workloads-$1"; fi
}

# ---- replays ----

# The cache is keyed by the command line, the bytes of its inputs and those of the program.
replay_key=
replay() {
	replay_jobs=$1
	shift
	if [ -z "$replay_key" ]; then
		replay_key=$({ cat "$(command -v gf-replay)" "$(command -v gf-metrics)" "$OUT/$profiles"; } | hash_of)
	fi
	case "$* " in *'--policy pollux '*) set -- "$@" ${SEARCH:+--search "$SEARCH"} ;; esac
	set -- gf-replay --cluster "$cluster" ${FIDELITY:+--fidelity "$FIDELITY"} \
		--profile "$profiles" "$@" "$replay_jobs"
	run=cache/$({ echo "$replay_key $*"; cat "$OUT/$replay_jobs"; } | hash_of)
	[ -d "$OUT/$run" ] || echo "$run $*" >>"$W/wanted"
}

# shellcheck disable=SC2016
one_replay='
	run=$1
	shift
	new=$run.$$
	mkdir "$new" || exit 1
	if "$@" -q -v -o "$new/log.tsv" 2>"$new/said" && gf-metrics -q -o "$new/metrics.tsv" "$new/log.tsv" &&
		gf-metrics -q --per-job -o "$new/jobs.tsv" "$new/log.tsv" && gzip -n "$new/log.tsv" &&
		echo "$*" >"$new/command"
	then
		# another recipe may have been faster
		mv "$new" "$run" 2>/dev/null || :
		rm -rf "$new" "$run/${new##*/}"
	else
		cat "$new/said" >&2
		echo "failed: $*" >&2
		rm -rf "$new"
		exit 1
	fi'

replays() {
	sort -u "$W/wanted" >"$W/todo"
	: >"$W/wanted"
	replays_n=$(wc -l <"$W/todo")
	[ "$replays_n" -gt 0 ] || return 0
	say "$((replays_n)) replays, $JOBS at a time"
	# the words of a line have no blanks in them
	(cd "$OUT" && xargs -P "$JOBS" -L 1 sh -c "$one_replay" replay <"$W/todo") || die "a replay failed"
}

metric() {
	awk -F '\t' -v m="$2" '$1 == m { print $2; n++ } END { exit !n }' "$OUT/$1/metrics.tsv"
}

# ---- tables ----

table() {
	awk -v tool="figures/$NAME" -v data="$FIGURE_DATA" '
		NR == 1 { print "#fit-table/1\n#tool=" tool "\n#data=" data }
		{ print }
		END { print "#end rows=" NR - 1; exit NR < 2 }' >"$W/table" || die "table $1 has no rows"
	gf-table check "$W/table" >/dev/null || die "table $1 is not well formed"
	mv "$W/table" "$OUT/$1.tsv"
}

# ---- sweeps: a mean over the workloads for each value of two keys ----

# note KEY1 KEY2 WORKLOAD PUBLISHED_S: what the replay $run is for
note() {
	echo "$1 $2 $3 $4 $run" >>"$W/runs"
}

# sweep_tables KEY1 KEY2: $NAME-runs.tsv, a row a replay, and $NAME.tsv, a row a pair of keys
sweep_tables() {
	{
		printf '%s\t%s\tworkload\tjobs\tjct_mean_s\tjct_p99_s\tmakespan_s\trestarts\tpublished_jct_mean_s\n' \
			"$1" "$2"
		while read -r key1 key2 w want run; do
			awk -F '\t' -v head="$key1$TAB$key2$TAB$w" -v want="$want" '{ v[$1] = $2 }
				END { print head, v["jobs"], v["jct_mean_s"], v["jct_p99_s"], v["makespan_s"],
					v["restarts"], want }' OFS='\t' "$OUT/$run/metrics.tsv"
		done <"$W/runs"
	} | table "$NAME-runs"
	awk -F '\t' "$awk_stats $awk_columns"'
		{ k = $1 "\t" $2
		  if (!(k in n)) order[++m] = k
		  x = $c["jct_mean_s"] / 3600; n[k]++; s[k] += x; ss[k] += x * x
		  p99[k] += $c["jct_p99_s"] / 3600; span[k] += $c["makespan_s"] / 3600
		  restarts[k] += $c["restarts"] / $c["jobs"]
		  if ($c["published_jct_mean_s"] != "NA") {
			x = $c["published_jct_mean_s"] / 3600; pn[k]++; p[k] += x; pp[k] += x * x } }
		END { print key1, key2, "workloads", "jct_mean_h", "jct_t95_h", "jct_p99_h", "makespan_h",
			"restarts_per_job", "published_jct_mean_h", "published_t95_h", "against_published_pct"
		  for (i = 1; i <= m; i++) { k = order[i]; ok = pn[k] == n[k]
			print k, n[k], s[k] / n[k], t_half(n[k], s[k], ss[k]), p99[k] / n[k], span[k] / n[k],
				restarts[k] / n[k], ok ? p[k] / pn[k] : "NA", ok ? t_half(pn[k], p[k], pp[k]) : "NA",
				ok ? 100 * (s[k] / p[k] - 1) : "NA" } }' \
		key1="$1" key2="$2" OFS='\t' OFMT=%.6f CONVFMT=%.6f "$OUT/$NAME-runs.tsv" | table "$NAME"
}

# mean KEY1 KEY2 [COLUMN]: a cell of $NAME.tsv (jct_mean_h)
mean() {
	awk -F '\t' "$awk_columns"' $1 == a && $2 == b { print $c[want]; n++ } END { exit n != 1 }' \
		a="$1" b="$2" want="${3:-jct_mean_h}" "$OUT/$NAME.tsv"
}

# paired A1 A2 B1 B2: mean change of the mean completion time from B to A over the workloads, percent,
# and half of its 95 % interval: both sides have the same workloads
paired() {
	awk -F '\t' "$awk_stats $awk_columns"'
		$1 == a1 && $2 == a2 { a[$c["workload"]] = $c["jct_mean_s"] }
		$1 == b1 && $2 == b2 { b[$c["workload"]] = $c["jct_mean_s"] }
		END { for (w in a) if (w in b) { x = 100 * (a[w] / b[w] - 1); n++; s += x; ss += x * x }
		  t = t_half(n, s, ss)
		  printf t == "NA" ? "%.1f %%\n" : "%.1f +- %.1f %%\n", s / n, t }' \
		a1="$1" a2="$2" b1="$3" b2="$4" "$OUT/$NAME-runs.tsv"
}

# claim_published PERCENT: the table against the published raw means
claim_published() {
	awk -F '\t' "$awk_columns"' { d = $c["against_published_pct"]
		if (d == "NA") next
		n++; if (d < 0) d = -d; if (d > worst || n == 1) { worst = d; at = $1 " " $2; by = $c["against_published_pct"] } }
		END { if (n) printf "%d %.2f %s\n", n, by, at }' "$OUT/$NAME.tsv" >"$W/worst"
	[ -s "$W/worst" ] || return 0
	read -r worst_n worst_by worst_at <"$W/worst"
	claim raw-results "within $1 %" "$worst_by %" "$(verdict "$worst_by <= $1 && $worst_by >= -$1")" \
		"mean JCT against the published raw means, $worst_n points; worst: $worst_at${SEARCH:+; theirs: ga, here: $SEARCH}"
}

# ---- pictures ----

draw() {
	for draw_format in svg png; do
		gf-plot "$@" -o "$OUT/$picture.$draw_format" || die "no picture $picture.$draw_format"
	done
}

# ---- claims ----

claim() {
	printf '%s\t%s\t%s\t%s\t' "$1" "$2" "$3" "$4" >>"$W/claims"
	shift 4
	printf '%s\n' "$*" >>"$W/claims"
}

# verdict TEST: "holds" when the awk expression is true
verdict() {
	awk "BEGIN { print (($1) ? \"holds\" : \"differs\") }"
}

claims() {
	{
		printf 'claim\tpublished\there\tverdict\twhat\n'
		cat "$W/claims"
	} | table "$NAME-claims"
	awk -F '\t' "$awk_columns"'
		{ printf "%-8s %s: published %s, here %s: %s\n", $c["verdict"], $1, $c["published"], $c["here"], $c["what"] }' \
		"$OUT/$NAME-claims.tsv"
}

published() {
	[ "$FIGURE_DATA" = public ] && [ -f "$golden/published-averages.csv" ] || {
		echo NA
		return 0
	}
	awk -F , -v e="$1" -v r="$2" -v list="${3:-$WORKLOADS}" '
		BEGIN { split(list, w, " "); for (i in w) use["workload-" w[i]] = 1 }
		$1 == e && $2 == r && ($3 in use) { sub(/\r$/, ""); sum += $5; n++ }
		END { if (n) printf "%.6f\n", sum / n; else print "NA" }' "$golden/published-averages.csv"
}
