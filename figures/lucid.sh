# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2154
# Traces, measurements and replays of the recipes of Lucid (ASPLOS'23): `. figures/lucid.sh` behind
# figures/lib.sh. The measurements are read where GOODFIT_SHARED has them (public/lucid-asplos23; their licence is for
# non-commercial use, and nothing of them is shipped), the jobs are the public Philly list; where either is not there, jobs,
# configurations and pairs are made up here.
#
#   traces                     names of all traces: philly, philly-quarter, week, week-quarter; or made, made-half
#   trace NAME                 $jobs, $cluster_text, $profiler_nodes, $profile_s, $profile_gpus
#   lucid_want NAME [OPTION…]  want a replay of the trace under a policy or a variant of lucid: $run
#                              NAME is fifo, sjf, qssf, srtf, tiresias, horus, lucid, lucid-no-…
#   CONVENTIONS                right (goodfit's own, 62 s for a checkpoint and restart) or lucid-asplos23
#   list_of NAME               $list: the jobs before anything was estimated
#   lucid_row RUN              jobs, mean JCT and queueing and quantiles of a replay, tab-separated, in hours
#   run_of TRACE POLICY [CONVENTIONS]    what was noted with lucid_note
lucid_public=$shared/public/lucid-asplos23
philly_list=$pollux/traces/philly.csv
if [ "$FIGURE_DATA" = public ]; then
	[ -f "$philly_list" ] && [ -d "$lucid_public" ] || FIGURE_DATA=shipped
fi
CONVENTIONS=${CONVENTIONS:-right}
# Half a week: two weeks are made up.
made_update=302400
policies='fifo sjf qssf srtf tiresias horus lucid'
configs=inputs/$FIGURE_DATA-lucid-configs.tsv pairs=inputs/$FIGURE_DATA-lucid-pairs.tsv

# ---- measurements ----

# Eight invented applications in three batch sizes; two that share a GPU slow down as their utilisations add up.
invent='
	function noise(a, b,	x) { x = (a * 7919 + b * 104729 + 12345) % 10007; return x / 10007 - 0.5 }
	BEGIN { OFS = "\t"
	  for (a = 0; a < 8; a++) for (b = 0; b < 3; b++) { k = 3 * a + b
		util[k] = 8 + 9 * a + 7 * b + 6 * noise(a, b)
		name[k] = "app" a "\td1\t" 16 * 2 ^ b "\t" a % 2
		mem[k] = int(1500 + 900 * a + 1300 * b)
		label[k] = util[k] < 28 ? 0 : util[k] < 52 ? 1 : 2 } '

make_configs() {
	if [ "$FIGURE_DATA" = public ]; then
		gf-prof -q --from lucid-single "$lucid_public/single_data.csv" -o "$made"
		return
	fi
	awk "$invent"'print "app", "dataset", "batch_size", "amp", "gpu_util_pct", "mem_util_pct", "fb_used_mib", "label"
		for (k = 0; k < 24; k++) print name[k], util[k], util[k] * 0.6, mem[k], label[k] }' >"$made"
}

make_pairs() {
	if [ "$FIGURE_DATA" = public ]; then
		gf-prof -q --from lucid-colocate "$lucid_public/colocate_info.csv" -o "$made"
		return
	fi
	awk "$invent"'print "app1", "dataset1", "batch_size1", "amp1", "speed1", "app2", "dataset2", "batch_size2", "amp2",
			"speed2"
		for (k = 0; k < 24; k++) for (l = k; l < 24; l++) { u = (util[k] + util[l]) / 100
			s = u < 0.7 ? 1 - 0.05 * u : 0.965 - 0.5 * (u - 0.7)
			print name[k], s + 0.08 * noise(k, l), name[l], s + 0.08 * noise(l, k + 50) } }' >"$made"
}

into "$configs" make_configs
into "$pairs" make_pairs

# ---- jobs ----

# The list without the four virtual clusters that Lucid and Helios leave out, with what was predicted of each job when it
# came, and a configuration by its row in the file: ((row * 2654435761 mod 2^32) >> 8) mod the number of configurations.
make_philly_list() {
	gf-trace -q --from pollux-philly "$philly_list" -o "$made"
}

make_philly() {
	gf-lucid estimate -q ${1:+--updates "$1"} -o "$W/estimates.tsv" "$OUT/$list" || return
	awk -F , '{ sub(/\r$/, "") } NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
		NF > 1 { print $c["timestamp"] "\t" n++ }' "$philly_list" | sort -s -t "$TAB" -k 1,1 | cut -f 2 >"$W/rows"
	add_configs '^(795a4c|51b7ef|925e2b|23dbec)$' "$W/estimates.tsv" >"$made"
}

# add_configs GROUPS_LEFT_OUT TABLE: $W/rows has the row of each job
add_configs() {
	awk -F '\t' -v OFS='\t' -v left_out="$1" '
		FILENAME == rows { row[n++] = $1; next }
		FILENAME == configs { if (!/^#/ && h++) k[h - 2] = $1 OFS $2 OFS $3 OFS $4; next }
		/^#origin=/ { print "#fit-table/1\n" $0; origin = 1 }
		/^#/ { next }
		!head { for (i = 1; i <= NF; i++) c[$i] = i; head = 1
			print $0, "app", "dataset", "batch_size", "amp"; next }
		{ x = row[i_job++] * 2654435761 % 4294967296 }
		$c["group"] !~ left_out { print $0, k[int(x / 256) % (h - 1)]; out++ }
		END { if (origin) print "#end rows=" out }' \
		rows="$W/rows" configs="$OUT/$configs" "$W/rows" "$OUT/$configs" "$2"
}

# A week of it: the jobs stamped 2017-10-01 to 2017-10-08, 604 740 s from the first one on.
make_week() {
	gf-select -q --window 27d:35d --rebase "$OUT/inputs/public-lucid-philly.tsv" |
		gf-select -q --where 'submit_s<=604740' -o "$made" -
}

# Two weeks of jobs of twenty users in two virtual clusters; each user has some programs, of their own lengths.
make_made_list() {
	gf-synth jobs -q --jobs 1200 --hours 336 --arrivals diurnal --max-gpus 16 --no-meta |
		awk -F '\t' -v OFS='\t' '
			NR == 1 { print "#fit-table/1\n#origin=2023-05-01T00:00:00"; print $0, "group", "name"; next }
			{ u = substr($2, 2) + 0; p = int(NR * 40503 % 65536 / 16384)
			  $4 = int(30 * 4 ^ p * (1 + u % 3) * (0.4 + 0.6 * $4 / (600 + $4))) + 1
			  print $0, u % 2 ? "va" : "vb", "u" u "-prog" p p p "-v" NR % 9; n++ }
			END { print "#end rows=" n }' >"$made"
}

make_made() {
	gf-lucid estimate -q --update $made_update ${1:+--updates "$1"} -o "$W/estimates.tsv" "$OUT/$list" || return
	awk 'BEGIN { for (i = 0; i < 1200; i++) print i }' >"$W/rows"
	add_configs '^$' "$W/estimates.tsv" >"$made"
}

# list_of TRACE: $list, the jobs of the public list or those made up, as they are before anything is estimated
list_of() {
	case $1 in
	made*) list=inputs/lucid-list-made.tsv
	       into "$list" make_made_list ;;
	*) list=inputs/lucid-list-philly.tsv
	   into "$list" make_philly_list ;;
	esac
}

if [ "$FIGURE_DATA" = public ]; then
	traces='philly philly-quarter week week-quarter'
else
	traces='made made-half'
fi

# Sizes of Philly's virtual clusters as HeliosArtifact lists them, in nodes of 8 GPUs.
philly_nodes='6214e9 64 7f04ca 32 11cb48 16 b436b2 64 ee9e8c 64 e13805 16 6c71a0 32 2869ce 16 ed69ec 8 103959 8 0e4a51 32'

trace() {
	profile_s=80 profile_gpus=4 divide=1
	case $1 in *-quarter) divide=4 ;; *-half) divide=2 ;; esac
	case $1 in
	philly | philly-quarter) jobs=inputs/public-lucid-philly.tsv ;;
	week | week-quarter) jobs=inputs/public-lucid-week.tsv ;;
	made | made-half) jobs=inputs/shipped-lucid-made.tsv ;;
	esac
	case $1 in
	week) cluster_text=64x8 profiler_nodes=2 ;;
	made*) cluster_text=va:$((4 / divide))x8,vb:$((4 / divide))x8 profiler_nodes=va:1 ;;
	*)
		cluster_text=$(echo "$philly_nodes" | awk -v d=$divide '{
			for (i = 1; i < NF; i += 2) printf "%s%s:%dx8", (i > 1 ? "," : ""), $i, $(i + 1) / d }')
		profiler_nodes=6214e9:1,b436b2:1
		;;
	esac
	list_of "$1"
	case $1 in
	made*) into "$jobs" make_made ;;
	*) into inputs/public-lucid-philly.tsv make_philly
	   into inputs/public-lucid-week.tsv make_week ;;
	esac
	trace_name=$1
}

# ---- replays ----

lucid_key=
lucid_want() {
	want_name=$1
	shift
	[ -n "$lucid_key" ] || lucid_key=$({ cat "$(command -v gf-replay)" "$(command -v gf-metrics)"
		cat "$OUT/$configs" "$OUT/$pairs"; } | hash_of)
	case $cluster_text in *:*) set -- --virtual-clusters "$@" ;; esac
	case $want_name in
	lucid*) set -- --profiler "$profiler_nodes" --profiler-time "$profile_s" --profiler-gpus "$profile_gpus" "$@" ;;
	esac
	case $want_name in
	lucid-no-profiler) shift 6 ;;
	lucid-no-packing) set -- --no-packing "$@" ;;
	lucid-no-estimator) set -- --no-estimator "$@" ;;
	esac
	case $want_name in
	lucid* | horus) set -- --configs "$configs" --pairs "$pairs" "$@" ;;
	esac
	if [ "$CONVENTIONS" = right ]; then
		case $want_name in tiresias*) set -- --tiresias-threshold 18000 "$@" ;; esac
		set -- --placement consolidate --restart-delay 62 --free-start "$@"
	else
		set -- --fidelity "$CONVENTIONS" "$@"
	fi
	set -- gf-replay --policy "${want_name%%-*}" --cluster "$cluster_text" --skip-too-large "$@" "$jobs"
	run=cache/$({ echo "$lucid_key $*"; cat "$OUT/$jobs"; } | hash_of)
	[ -d "$OUT/$run" ] || echo "$run $*" >>"$W/wanted"
}

# lucid_note POLICY: what the replay $run is of
lucid_note() {
	echo "$trace_name $1 $CONVENTIONS $run" >>"$W/runs"
}

run_of() {
	awk -v t="$1" -v p="$2" -v f="${3:-right}" '$1 == t && $2 == p && $3 == f { print $4; n++ } END { exit !n }' "$W/runs"
}

# Functions for awk: quantile(sorted values x[1..n], n, share), linear between them.
# shellcheck disable=SC2034,SC2016
awk_quantile='
	function quantile(x, n, q,	h, k) { h = (n - 1) * q + 1; k = int(h)
		return k >= n ? x[n] : x[k] + (h - k) * (x[k + 1] - x[k]) }'

lucid_head="jobs${TAB}jct_mean_h${TAB}queue_mean_h${TAB}queue_p999_h${TAB}jct_narrow_h${TAB}jct_wide_h${TAB}preemptions"
# Narrow jobs fit into a node (8 GPUs), wide ones do not.
lucid_row() {
	awk -F '\t' "$awk_columns"' $c["status"] == "OK" { print $c["queue_s"], $c["jct_s"], $c["gpus"], $c["preemptions"] }' \
		"$OUT/$1/jobs.tsv" | sort -n -k 1,1 | awk -v OFS='\t' -v OFMT=%.6f -v CONVFMT=%.6f "$awk_quantile"'
		{ q[++n] = $1; queue += $1; jct += $2; pre += $4; if ($3 > 8) { wide++; w += $2 } else s += $2 }
		END { print n, jct / n / 3600, queue / n / 3600, quantile(q, n, 0.999) / 3600,
			(n > wide ? s / (n - wide) / 3600 : "NA"), (wide ? w / wide / 3600 : "NA"), pre + 0 }'
}

# cell TABLE COLUMN KEY…: the cell of the one row whose first columns are the keys
cell() {
	cell_table=$1 cell_column=$2
	shift 2
	awk -F '\t' -v keys="$*" -v want="$cell_column" "$awk_columns"'
		{ n = split(keys, k, " "); for (i = 1; i <= n; i++) if ($i != k[i]) next; print $c[want]; found++ }
		END { exit found != 1 }' "$OUT/$cell_table.tsv"
}

# ratio A B: A / B to three decimals, NA where there is none
ratio() {
	awk -v a="$1" -v b="$2" 'BEGIN { if (a == "NA" || b == "NA" || b + 0 == 0) print "NA"; else printf "%.3f\n", a / b }'
}

# policy_table: all policies on all traces, noted and run; $NAME-runs is "TRACE POLICY" and lucid_row
policy_table() {
	for t in ${TRACES:-$traces}; do
		trace "$t"
		for p in ${1:-$policies}; do
			lucid_want "$p"
			lucid_note "$p"
		done
	done
	replays
	{
		printf 'trace\tpolicy\t%s\n' "$lucid_head"
		while read -r t p _ run; do
			printf '%s\t%s\t%s\n' "$t" "$p" "$(lucid_row "$run")"
		done <"$W/runs"
	} | table $NAME
}
