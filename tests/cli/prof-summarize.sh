# SPDX-License-Identifier: MIT
# gf-prof summarize: a utilisation series by job, by GPU, over all.
. tests/cli/lib.sh

# tsv NAME [META…]: a table from standard input, fields separated by blanks
tsv() {
	file=$1
	shift
	{
		echo '#fit-table/1'
		for meta; do echo "#$meta"; done
		awk '{ gsub(/ /, "\t"); print } END { print "#end rows=" NR - 1 }'
	} >"$T/$file"
}
# columns NAME…: of $T/out, separated by blanks
columns() {
	awk -F '\t' -v list="$*" '
	/^#/ { next }
	!n { n = split(list, want, " "); for (i = 1; i <= NF; i++) at[$i] = i; next }
	{ s = ""; for (k = 1; k <= n; k++) s = s (k > 1 ? " " : "") (at[want[k]] ? $at[want[k]] : "?"); print s }' \
		"$T/out" >"$T/found"
}

tsv jobs.tsv <<'END'
job_id app status start_s end_s duration_s gpus hosts
a wren OK 100 130 30 2 n1:0+1
b lark FAILED 120 140 20 1 n2:0
c lark RUNNING 125 NA NA 1 n2:1
d wren PENDING NA NA NA 4 NA
e wren OK 300 320 20 1 n1:0
f lark OK 110 130 20 1 n1:1
END
tsv series.tsv <<'END'
time_s host gpu gpu_util_pct mem_util_pct fb_used_mib power_w
90 n1 0 100 100 9999 100
100 n1 0 50 20 1000 200
100 n1 1 70 30 1200 200
110 n1 0 60 20 1100 210
110 n1 1 NA NA NA NA
120 n1 0 70 20 1500 220
120 n1 1 80 NA 1300 NA
120 n2 0 0 0 10 60
130 n1 0 5 0 0 50
130 n2 0 0.5 0 10 60
130 n2 1 NA NA 20 NA
140 n2 0 99 99 99 99
140 n2 1 NA NA 30 NA
END

run "by job" 0 gf-prof summarize --jobs "$T/jobs.tsv" "$T/series.tsv"
cp "$T/out" "$T/want.tsv"
columns job_id samples gpu_util_n gpu_util_mean_pct gpu_util_p50_pct gpu_util_p95_pct gpu_util_steady state
is "utilisation" "$T/found" \
"a 6 5 66 70 78 0.80000000000000004 active
b 2 2 0.25 0.25 0.47499999999999998 1 idle
c 2 0 NA NA NA NA no_data
d 0 0 NA NA NA NA no_samples
e 0 0 NA NA NA NA no_samples
f 2 1 80 80 80 1 active"
columns job_id mem_util_n mem_util_mean_pct fb_used_n fb_used_max_mib power_n power_mean_w
is "memory and power" "$T/found" \
"a 4 22.5 5 1500 4 207.5
b 2 0 2 10 2 60
c 0 NA 2 30 0 NA
d 0 NA 0 NA 0 NA
e 0 NA 0 NA 0 NA
f 0 NA 1 1300 0 NA"
columns job_id status duration_s gpus coverage shared_n
is "coverage, and what is censored" "$T/found" \
"a OK 30 2 1 2
b FAILED 20 1 1 0
c RUNNING NA 1 1 0
d PENDING NA 4 NA 0
e OK 20 1 0 0
f OK 20 1 1 2"
columns job_id gpu_util_cv
awk '$1 == "a" { printf "%.6f\n", $2 }' "$T/found" >"$T/cv"
# deviation of 50 70 60 70 80 is sqrt(104)
awk 'BEGIN { printf "%.6f\n", sqrt(104) / 66 }' >"$T/cv-want"
same "the coefficient of variation" "$T/cv-want" "$T/cv"
has "samples in no job are said" "$T/err" ': 3 of 13 samples in no job$'
has "and jobs without samples" "$T/err" ': 2 of 6 jobs without samples \(1 of them without start or hosts\)$'
has "the period is in the metadata" "$T/out" '^#period=10$'
has "both inputs are" "$T/out" '^#input_jobs=[0-9a-f]{32}$'
run "-q" 0 gf-prof summarize -q --jobs "$T/jobs.tsv" "$T/series.tsv"
is "silences it" "$T/err" ""
run "from standard input" 0 gf-prof summarize --jobs "$T/jobs.tsv" - <"$T/series.tsv"
same "the same bytes" "$T/want.tsv" "$T/out"

# the order of jobs and, within --slack, of samples has no effect
{ sed -n 1,2p "$T/jobs.tsv"; sed '1,2d;$d' "$T/jobs.tsv" | sort -r; tail -n 1 "$T/jobs.tsv"; } >"$T/jobs2.tsv"
run "jobs in another order" 0 gf-prof summarize -q --jobs "$T/jobs2.tsv" "$T/series.tsv"
grep -v '^#' "$T/want.tsv" | sort >"$T/w"
grep -v '^#' "$T/out" | sort >"$T/o"
same "the same rows" "$T/w" "$T/o"
{ sed -n 1,2p "$T/series.tsv"; sed '1,2d;$d' "$T/series.tsv" | sort -r; tail -n 1 "$T/series.tsv"; } >"$T/back.tsv"
run "samples backwards, within --slack" 0 gf-prof summarize -q --jobs "$T/jobs.tsv" --period 10 "$T/back.tsv"
columns job_id samples gpu_util_n gpu_util_p50_pct fb_used_max_mib
cp "$T/found" "$T/o"
cp "$T/want.tsv" "$T/out"
columns job_id samples gpu_util_n gpu_util_p50_pct fb_used_max_mib
same "the same numbers" "$T/found" "$T/o"
run "samples out of order" 1 gf-prof summarize -q --slack 5 --jobs "$T/jobs.tsv" "$T/back.tsv"
is "are refused by line" "$T/err" "gf-prof: $T/back.tsv:6:time_s: sample out of order, older than the newest \
one by more than --slack (expected rows in order of time)"

run "by GPU" 0 gf-prof summarize "$T/series.tsv"
columns host gpu samples gpu_util_n gpu_util_mean_pct fb_used_max_mib state
is "a row a GPU" "$T/found" \
"n1 0 5 5 57 9999 active
n1 1 3 2 75 1300 active
n2 0 3 3 33.166666666666664 99 active
n2 1 2 0 NA 30 no_data"
run "over all" 0 gf-prof summarize --by all --idle 99.5 "$T/series.tsv"
columns gpus gpus_active gpus_idle gpus_no_data samples gpu_util_n
is "one row" "$T/found" "4 1 2 1 13 10"

# ways to say where a job ran
tsv host.tsv <<'END'
job_id start_s end_s host gpu_ids
a 100 130 n1 0+1
b 120 140 n2 NA
END
run "host and gpu_ids" 0 gf-prof summarize -q --jobs "$T/host.tsv" "$T/series.tsv"
columns job_id samples gpu_util_n
is "are the same; no list is the whole host" "$T/found" "a 6 5
b 3 2"
tsv whole.tsv <<'END'
job_id start_s end_s hosts gpus
a 100 141 n1,n2:gpu0 3
b 100 141 n1,n1:0 2
END
run "whole hosts among lists" 0 gf-prof summarize -q --jobs "$T/whole.tsv" "$T/series.tsv"
columns job_id samples shared_n
is "each sample counts once" "$T/found" "a 10 7
b 7 7"
tsv nohosts.tsv <<'END'
job_id start_s end_s
a 100 130
END
run "no hosts at all" 1 gf-prof summarize --jobs "$T/nohosts.tsv" "$T/series.tsv"
has "is said" "$T/err" "no column 'hosts', nor 'host' and 'gpu_ids', or nothing in them"
for bad in n1: n1:0++1 ,n1 "n1:0," :; do
	sed "s/n1:0+1/$bad/" "$T/jobs.tsv" >"$T/bad.tsv"
	run "hosts '$bad'" 1 gf-prof summarize --jobs "$T/bad.tsv" "$T/series.tsv"
	has "hosts '$bad': the place" "$T/err" "^gf-prof: $T/bad.tsv:3:hosts: bad value .* \\(expected host:0\\+1,host:2\\)\$"
done
sed 's/	130	30/	90	30/' "$T/jobs.tsv" >"$T/bad.tsv"
run "a job that ends before it starts" 1 gf-prof summarize --jobs "$T/bad.tsv" "$T/series.tsv"
has "the place" "$T/err" 'bad.tsv:3:end_s: ends before it starts$'
tsv nameless.tsv <<'END'
time_s gpu gpu_util_pct
100 0 50
110 0 60
END
tsv nameless-jobs.tsv <<'END'
job_id start_s end_s gpu_ids
a 100 130 0
END
run "one machine without a name" 0 gf-prof summarize -q --jobs "$T/nameless-jobs.tsv" "$T/nameless.tsv"
columns job_id samples gpu_util_mean_pct
is "matches by GPU alone" "$T/found" "a 2 55"

# origins
sed 's/^#fit-table.*/&\n#origin=2024-03-01T00:00:00/' "$T/jobs.tsv" >"$T/jo.tsv"
run "an origin of the jobs only" 1 gf-prof summarize --jobs "$T/jo.tsv" "$T/series.tsv"
is "asks for --offset" "$T/err" "gf-prof: the jobs have an origin (2024-03-01T00:00:00) and the samples have \
none (expected --offset)"
run "an origin of the jobs and --offset" 0 gf-prof summarize -q --offset 0 --jobs "$T/jo.tsv" "$T/series.tsv"
grep -v '^#' "$T/want.tsv" >"$T/w"
grep -v '^#' "$T/out" >"$T/o"
same "the same rows" "$T/w" "$T/o"
shifted() {
	sed "s/^#fit-table.*/&\n#origin=$2/" "$T/jobs.tsv" >"$T/jo.tsv"
	awk -F '\t' -v OFS='\t' -v d="$4" '/^#/ { print; next } n++ { $1 -= d } { print }' "$T/series.tsv" |
		sed "s/^#fit-table.*/&\n#origin=$3/" >"$T/so.tsv"
	run "$1" 0 gf-prof summarize -q --jobs "$T/jo.tsv" "$T/so.tsv"
	grep -v '^#' "$T/out" >"$T/o"
	same "$1: the same rows" "$T/w" "$T/o"
}
shifted "the same origin" 2024-03-01T00:00:00 2024-03-01T00:00:00 0
shifted "a day apart" 2024-03-01T00:00:00 2024-03-02T00:00:00 86400
shifted "two zones" 2024-03-01T00:00:00+08:00 2024-03-01T00:00:00+00:00 28800
shifted "one zone unknown" 2024-03-01T00:00:00+08:00 2024-03-01T00:00:00 0

# values that are none
tsv odd.tsv <<'END'
time_s host gpu gpu_util_pct
100 n1 0 -1
110 n1 0 101
NA n1 0 50
120 n1 0 40
END
run "utilisation out of range, no time" 0 gf-prof summarize --jobs "$T/jobs.tsv" "$T/odd.tsv"
has "is left out and said" "$T/err" ': 2 utilisations outside 0 to 100 left out$'
has "so is a sample without time" "$T/err" ': 1 samples without a time left out$'
columns job_id samples gpu_util_n gpu_util_mean_pct
sed -n 1p "$T/found" >"$T/one"
is "the rest counts" "$T/one" "a 3 1 40"
tsv none.tsv <<'END'
time_s host gpu gpu_util_pct
END
run "no samples" 0 gf-prof summarize --jobs "$T/jobs.tsv" "$T/none.tsv"
has "is said" "$T/err" ': no samples$'
hasnt "no nan" "$T/out" '[Nn]a[Nn]'
run "no samples, over all" 0 gf-prof summarize --by all "$T/none.tsv"
columns gpus samples gpu_util_mean_pct state
is "is no idle fleet" "$T/found" "0 0 NA no_samples"

# percentiles are those of the sorted values, in steps of 0.01
awk 'BEGIN { print "time_s gpu gpu_util_pct"; x = 7; for (i = 0; i < 1501; i++) {
	x = (x * 1103515245 + 12345) % 2147483648; print i, 0, int(x / 65536) % 10001 / 100 } }' >"$T/values"
tsv many.tsv <"$T/values"
run "many values" 0 gf-prof summarize "$T/many.tsv"
columns gpu_util_p50_pct gpu_util_p95_pct
awk '{ printf "%.4f %.4f\n", $1, $2 }' "$T/found" >"$T/o"
sed 1d "$T/values" | cut -d ' ' -f 3 | sort -n |
	awk '{ v[NR - 1] = $1 } END { printf "%.4f %.4f\n", v[750], v[1425] }' >"$T/w"
same "their percentiles" "$T/w" "$T/o"

# wrong usage
run "--by job without --jobs" 2 gf-prof summarize --by job "$T/series.tsv"
run "--jobs with --by gpu" 2 gf-prof summarize --by gpu --jobs "$T/jobs.tsv" "$T/series.tsv"
run "--offset of a word" 2 gf-prof summarize --offset soon --jobs "$T/jobs.tsv" "$T/series.tsv"
run "both from standard input" 2 gf-prof summarize --jobs - -
run "--from after a verb" 2 gf-prof summarize --from dmon
run "a series that is not there" 3 gf-prof summarize "$T/not-there.tsv"
run "no table" 1 gf-prof summarize tests/data/prof-dmon.txt
run "a table without times" 1 gf-prof summarize "$T/host.tsv"
run "a file that is called as the verb" 3 gf-prof --from dmon ./summarize

# all the way: a job log and a utilisation log of Philly's kind, over the end of summer time
cat >"$T/log.json" <<'END'
[{"status":"Pass","vc":"ab12cd","jobid":"application_1_0001","attempts":[{"start_time":"2019-11-03 01:30:00",
"end_time":"2019-11-03 02:00:00","detail":[{"ip":"m901","gpus":["gpu0","gpu2"]}]}],
"submitted_time":"2019-11-03 01:29:00","user":"0a0b0c"}]
END
run "jobs of Philly" 0 gf-trace -q --from philly --tz PST8PDT "$T/log.json" -o "$T/philly.tsv"
run "utilisation of Philly" 0 gf-prof -q --from philly-util tests/data/prof-philly-util.csv -o "$T/util.tsv"
run "together" 0 gf-prof summarize -q --jobs "$T/philly.tsv" "$T/util.tsv"
columns job_id samples gpu_util_mean_pct duration_s
is "the repeated hour is read twice" "$T/found" "application_1_0001 4 31.375 5400"
