# SPDX-License-Identifier: MIT
# gf-prof --from dmon, dcgmi and dcgm-exporter.
. tests/cli/lib.sh
D=tests/data

# gold NAME FORMAT FILE KEPT OPTIONS…
gold() {
	name=$1 format=$2 file=$3 kept=$4
	shift 4
	run "$name" 0 gf-prof -q --from "$format" "$@" "$file"
	golden "$name: the table" "$T/out" "$D/$kept"
	cp "$T/out" "$T/want.tsv"
	{ printf '\357\273\277'; sed 's/$/\r/' "$file"; } | gzip -c >"$T/clothes.gz"
	run "$name, with CRLF, byte order mark and gzip" 0 gf-prof -q --from "$format" "$@" "$T/clothes.gz"
	same "$name: the same table" "$T/want.tsv" "$T/out"
	: >"$T/log"
	run "$name: an empty file" 1 gf-prof --from "$format" "$@" "$T/log"
	has "$name: says so" "$T/err" ': empty file \(expected '
	printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n' >"$T/log"
	run "$name: a Git LFS pointer" 1 gf-prof --from "$format" "$@" "$T/log"
	has "$name: says that, too" "$T/err" ':1: Git LFS pointer, not the data'
}
# table FORMAT OPTIONS…: time, gpu and utilisations of $T/log, in $T/found
table() {
	run "$1: $2" 0 gf-prof --no-meta --from "$1" "$T/log"
	cut -f 1,3-6 "$T/out" | tr '\t' ' ' | sed 1d >"$T/found"
}
fails() {
	run "$2" 1 gf-prof --from "$1" "$T/log"
	is "$2: the message" "$T/err" "gf-prof: $T/log$3"
	is "$2: no output" "$T/out" ""
}

# ---- dmon ----
gold "dmon" dmon $D/prof-dmon.txt prof-dmon.tsv
gold "an older dmon" dmon $D/prof-dmon-old.txt prof-dmon-old.tsv --time '2023-06-10 23:59:59' --period 1
run "dmon without times" 0 gf-prof --from dmon $D/prof-dmon-old.txt
has "says how time was made" "$T/err" ': no times in the dump: the first sample is at 0, samples are one second apart'
printf '%s\n' '#Time        gpu   sm   mem' '#HH:MM:SS    Idx    %    %' ' 23:59:59 0 5 1' ' 00:00:01 0 6 1' >"$T/log"
table dmon "Time without Date, over midnight"
is "goes on into the next day" "$T/found" "86399 0 5 1 NA
86401 0 6 1 NA"
printf '%s\n' '# gpu sm mem' '0 5 1' '# gpu mem sm fb' '0 2 6 77' 'GPU 00000000:3B:00.0: GPU is lost' \
	'0 3 7 78' >"$T/log"
table dmon "another set of columns in the same file, and a message"
is "goes by names" "$T/found" "0 0 5 1 NA
1 0 6 2 77
2 0 7 3 78"
has "and counts them" "$T/err" ': 2 lines passed over \(1 another header, 1 message\)$'
printf '%s\n' '# gpu sm mem' '0 5' '0 6 1' >"$T/log"
fails dmon "a short row" ":2: 2 fields, 3 expected"
printf '# gpu sm mem\n0 5 1\n0 6' >"$T/log"
table dmon "a last line that is cut"
is "is lost" "$T/found" "0 0 5 1 NA"
has "and counted" "$T/err" ': 1 record left out \(1 cut last line\)$'
printf '%s\n' '# gpu sm mem' '0 5 many' >"$T/log"
fails dmon "a word" ":2:mem: bad value 'many' (expected a number or -)"
printf '%s\n' '# gpu sm mem' '- 5 1' >"$T/log"
fails dmon "no GPU" ":2:gpu: missing value (expected the number of a GPU)"
printf '%s\n' '0 5 1' >"$T/log"
fails dmon "no header" ":1: no header row (expected '# gpu  pwr  gtemp …')"
printf '%s\n' '#Date Time gpu sm' '20230631 10:00:00 0 5' >"$T/log"
fails dmon "a day that is none" ":2:Time: bad value '20230631 10:00:00' (expected YYYYMMDD HH:MM:SS)"

# ---- dcgmi ----
gold "dcgmi" dcgmi $D/prof-dcgmi.txt prof-dcgmi.tsv --time 500 --period 2
run "dcgmi: the report" 0 gf-prof --from dcgmi --time 500 --period 2 $D/prof-dcgmi.txt
is "what was passed over and missing" "$T/err" \
"gf-prof: warning: $D/prof-dcgmi.txt: 2 lines passed over (1 entity that is no GPU, 1 repeated header)
gf-prof: warning: $D/prof-dcgmi.txt: 1 of 4 samples without gpu_util_pct (2 N/A)
gf-prof: warning: $D/prof-dcgmi.txt: 1 of 4 samples without mem_util_pct (2 N/A)"
printf '%s\n' '# Entity  FBUSD  GPUTL' '      Id' '    GPU 1   9   4' >"$T/log"
table dcgmi "an older header, blanks in front, columns in another order"
is "is read by name" "$T/found" "0 1 4 NA 9"
printf '%s\n' '#Entity GPUTL' 'GPU 0 5 6' >"$T/log"
fails dcgmi "a field too many" ":2: 4 fields, 3 expected"
printf '%s\n' '#Entity GPUTL' 'GPU 0 full' >"$T/log"
fails dcgmi "a word" ":2:GPUTL: bad value 'full' (expected a number or N/A)"
printf '%s\n' 'GPU 0 5' >"$T/log"
fails dcgmi "no header" ":1: no header row (expected '#Entity  GPUTL  MCUTL …')"
printf '#Entity GPUTL\nError setting watches. Result: The third-party Profiling module returned an error\nGPU 0 4\n' >"$T/log"
table dcgmi "a message"
has "is counted" "$T/err" '\(1 message\)$'

# ---- dcgm-exporter ----
gold "dcgm-exporter" dcgm-exporter $D/prof-dcgm-exporter.prom prof-dcgm-exporter.tsv --time '2023-06-10 12:00:00' --period 15
run "without --time" 1 gf-prof --from dcgm-exporter $D/prof-dcgm-exporter.prom
is "asks for it" "$T/err" "gf-prof: $D/prof-dcgm-exporter.prom:3: samples have no time (expected --time)"
run "two scrapes without --period" 1 gf-prof --from dcgm-exporter --time 0 $D/prof-dcgm-exporter.prom
has "asks for it, too" "$T/err" ":18: a further scrape, and no time \(expected --period\)\$"
U='DCGM_FI_DEV_GPU_UTIL{gpu="0",Hostname="n1"}'
printf '%s\n' "$U 5 1686398400000" "$U 6 1686398415500" "$U 7 1686398430" >"$T/log"
table dcgm-exporter "samples with times of their own, in ms and (OpenMetrics) in s"
is "are placed in UTC" "$T/found" "43200 0 5 NA NA
43215.5 0 6 NA NA
43230 0 7 NA NA"
run "their origin" 0 gf-prof --from dcgm-exporter "$T/log"
has "is a midnight of UTC" "$T/out" '^#origin=2023-06-10T00:00:00\+00:00$'
n=0
for v in NaN +Inf -Inf 9223372036854775792 9223372036854775793 9223372036854775794 9223372036854775795 \
	9.223372036854776e+18 2147483632 2147483635 140737488355328 140737488355331 140737488355328.0; do
	printf '%s\n' "$U $v" 'DCGM_FI_DEV_FB_USED{gpu="0",Hostname="n1"} 1e+03' >"$T/log"
	gf-prof -q --no-meta --from dcgm-exporter --time 0 "$T/log" >"$T/out" 2>"$T/err"
	[ "$(cut -f 4,6 "$T/out" | tail -n 1)" = "$(printf 'NA\t1000')" ] || { n=$((n + 1)); diag "$v"; }
done
ok "blank values of DCGM, NaN and infinities are missing" $n
printf '%s\n' 'DCGM_FI_DEV_GPU_UTIL{gpu="0",Hostname="a}b,c\"d\\e\nf",pod="x"} 5' >"$T/log"
run "labels with commas, braces and escapes" 0 gf-prof -q --no-meta --from dcgm-exporter --time 0 "$T/log"
cut -f 2 "$T/out" >"$T/found"
is "come out whole" "$T/found" 'host
a}b,c"d\\e\nf'
printf '%s\n' 'DCGM_FI_DEV_GPU_UTIL{gpu="0",Hostname="n1",pod="a"} 5' \
	'DCGM_FI_DEV_GPU_UTIL{gpu="0",Hostname="n1",pod="b"} 5' 'dcgm_fb_used{gpu="1",uuid="GPU-x"} 7' >"$T/log"
run "a GPU that two pods share, and an older exporter" 0 gf-prof --no-meta --from dcgm-exporter --time 0 "$T/log"
cut -f 2-6,15 "$T/out" | tr '\t' ' ' | sed 1d >"$T/found"
is "is one row" "$T/found" "n1 0 5 NA NA a
NA 1 NA NA 7 NA"
has "and said" "$T/err" ': 1 samples of a GPU that had one in the same scrape, with other labels: the first counts$'
printf '%s\n' 'DCGM_FI_DEV_GPU_UTIL{gpu="0",GPU_I_ID="3",Hostname="n1"} 0' 'DCGM_FI_DEV_GPU_UTIL{gpu="0",Hostname="n1"} 44' \
	>"$T/log"
run "a MIG instance" 0 gf-prof -q --no-meta --from dcgm-exporter --time 0 "$T/log"
cut -f 4,7 "$T/out" | tr '\t' ' ' | sed 1d >"$T/found"
is "is never idle for want of a utilisation of its own" "$T/found" "NA 3
44 NA"
printf '%s\n' '# HELP x y' 'process_start_time_seconds 1.6e9' 'up{job="x"} 1' >"$T/log"
run "metrics of others only" 0 gf-prof --from dcgm-exporter --time 0 "$T/log"
has "no rows" "$T/err" ': no rows$'
for line in 'DCGM_FI_DEV_GPU_UTIL{gpu="0} 5' 'DCGM_FI_DEV_GPU_UTIL{gpu="0"}' 'DCGM_FI_DEV_GPU_UTIL{gpu=0} 5' \
	'DCGM_FI_DEV_GPU_UTIL{gpu="0" 5' '{gpu="0"} 5' 'DCGM_FI_DEV_GPU_UTIL{gpu="0\x"} 5' 'just text here' \
	'DCGM_FI_DEV_GPU_UTIL{gpu="0"} 5 6 7' 'DCGM_FI_DEV_GPU_UTIL{gpu="0"} five' 'DCGM_FI_DEV_GPU_UTIL{gpu="a"} 5'; do
	printf '%s\n' "$U 1" "$line" >"$T/log"
	run "refused: $line" 1 gf-prof --from dcgm-exporter --time 0 "$T/log"
	has "its line is named" "$T/err" "^gf-prof: $T/log:2:.*expected"
done
run "--skip-bad" 0 gf-prof --from dcgm-exporter --time 0 --skip-bad 1 "$T/log"
has "counts it" "$T/err" ': 1 record left out \(1 bad sample\)$'
