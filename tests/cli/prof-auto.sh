# SPDX-License-Identifier: MIT
# gf-prof --from auto, --tz, and the sampled metrics of Nsight Systems.
. tests/cli/lib.sh
D=tests/data

# ---- auto ----

# recognised NAME FILE OPTIONS…: as that format, with the table that --from NAME gives
recognised() {
	want=$1 file=$2
	shift 2
	run "auto: $want" 0 gf-prof --from auto "$@" "$file"
	has "$want: said, with the reason" "$T/err" "^gf-prof: $file: recognised $want \(.+\)$"
	cp "$T/out" "$T/auto.tsv"
	run "$want by name" 0 gf-prof -q --from "$want" "$@" "$file"
	same "$want: the same table" "$T/out" "$T/auto.tsv"
}
recognised nvidia-smi $D/prof-nvidia-smi.csv
recognised dmon $D/prof-dmon.txt
recognised dmon $D/prof-dmon-old.txt
recognised dcgmi $D/prof-dcgmi.txt
recognised dcgm-exporter $D/prof-dcgm-exporter.prom --time 0 --period 30
recognised nsight $D/prof-nsight.sqlite
recognised nsight-metrics $D/prof-nsight-metrics.sqlite
recognised nsight-trace $D/prof-nsight-trace.csv
recognised nsight-kernels $D/prof-nsight-kernels.csv
recognised pytorch-trace $D/prof-pytorch-trace.json
recognised philly-util $D/prof-philly-util.csv
recognised lucid-colocate $D/prof-lucid-colocate.csv
recognised lucid-single $D/prof-lucid-single.csv
recognised gavel $D/prof-gavel.json
recognised gradient-stats $D/prof-gradient-stats.csv
recognised rubick-placements $D/prof-rubick
recognised rubick-model $D/prof-rubick/wren
recognised pollux $D/profile-mini
run "-q" 0 gf-prof -q --from auto $D/prof-dmon.txt
is "says nothing" "$T/err" ""
rc=0
gzip -c $D/prof-nvidia-smi.csv | gf-prof --from auto >"$T/out" 2>"$T/err" || rc=$?
ok "gzip through standard input" $rc
has "is recognised" "$T/err" '^gf-prof: <stdin>: recognised nvidia-smi '
if mkfifo "$T/pipe" 2>/dev/null; then
	cat $D/prof-nsight.sqlite >"$T/pipe" &
	run "an export through a pipe with a name" 0 timeout 60 gf-prof -q --from auto "$T/pipe"
	same "the same table" "$T/out" $D/prof-nsight.tsv
	cat $D/prof-nvidia-smi.csv >"$T/pipe" &
	run "a log through a pipe with a name" 0 timeout 60 gf-prof -q --from auto "$T/pipe"
	same "the same table" "$T/out" $D/prof-nvidia-smi.tsv
else
	skip "no named pipes" 4
fi
{ echo 'No devices were found'; sed 's/$/\r/' $D/prof-nvidia-smi.csv; } >"$T/log.csv"
run "messages before the header row" 0 gf-prof --from auto "$T/log.csv"
has "are passed over" "$T/err" 'recognised nvidia-smi '
{ printf '\357\273\277'; cat $D/prof-philly-util.csv; } >"$T/log.csv"
run "a byte order mark" 0 gf-prof --from auto "$T/log.csv"
has "is no hindrance" "$T/err" 'recognised philly-util '

unknown() {
	run "$1" 1 gf-prof --from auto "$T/log.csv"
	is "$1: the message" "$T/err" "gf-prof: $T/log.csv$2"
	is "$1: nothing is written" "$T/out" ""
}
printf 'a,b\n1,2\n' >"$T/log.csv"
unknown "something else" ": no known format (expected --from FORMAT; --help lists them)"
printf '{"a": 1}\n' >"$T/log.csv"
unknown "other JSON" ": no known format (expected --from FORMAT; --help lists them)"
printf '\n \n' >"$T/log.csv"
unknown "blank lines" ": empty file (expected a profiling dump)"
printf 'version https://git-lfs.github.com/spec/v1\n' >"$T/log.csv"
unknown "a pointer" ":1: Git LFS pointer, not the data (expected the file that 'git lfs pull' fetches)"
printf '\377\376\0\0t\0\0\0' >"$T/log.csv"
unknown "UTF-32" ":1: UTF-32 text (expected UTF-8 or UTF-16)"
mkdir "$T/empty"
run "an empty folder" 1 gf-prof --from auto "$T/empty"
is "an empty folder: the message" "$T/err" \
	"gf-prof: $T/empty: no known folder of profiles (expected --from FORMAT)"
run "no such file" 3 gf-prof --from auto "$T/nowhere"
run "an option that means nothing to what was recognised" 2 gf-prof --from auto --tz UTC $D/prof-nsight.sqlite
has "is refused" "$T/err" '--tz means nothing to nsight, which has no calendar times without a zone$'

# ---- --tz ----

# clock NAME FORMAT OPTIONS…: of $T/log
clock() {
	name=$1 format=$2
	shift 2
	run "$name" 0 gf-prof --from "$format" "$@" "$T/log"
	{ sed -n 's/^#origin=//p' "$T/out"; grep -v '^#' "$T/out" | cut -f 1 | sed 1d; } >"$T/found"
}
H='timestamp, index, utilization.gpu [%]'
printf '%s\n' "$H" '2023/10/29 02:59:30.000, 0, 1 %' '2023/10/29 02:59:30.004, 1, 1 %' '2023/10/29 02:00:00.000, 0, 2 %' \
	'2023/10/29 02:00:00.003, 1, 2 %' '2023/10/29 02:00:30.000, 1, 2 %' '2023/10/29 03:00:00.000, 0, 3 %' >"$T/log"
clock "an hour that comes twice, as it stands" nvidia-smi
is "goes back" "$T/found" "2023-10-29T00:00:00
10770
10770.004
7200
7200.003
7230
10800"
has "and that is said" "$T/err" ': time goes back 3 times, first on line 4$'
clock "with --tz" nvidia-smi --tz CET-1CEST,M3.5.0,M10.5.0/3
is "seconds are seconds" "$T/found" "2023-10-29T00:00:00+02:00
10770
10770.004
10800
10800.003
10830
14400"
hasnt "and time does not go back" "$T/err" 'goes back'
has "the zone is in the metadata" "$T/out" '^#tz=CET-1CEST,M3\.5\.0,M10\.5\.0/3$'
printf '%s\n' "$H" '2023/03/26 01:59:59.000, 0, 1 %' '2023/03/26 03:00:01.000, 0, 2 %' >"$T/log"
clock "an hour that is left out" nvidia-smi --tz CET-1CEST,M3.5.0,M10.5.0/3
is "two seconds pass" "$T/found" "2023-03-26T00:00:00+01:00
7199
7201"
printf '%s\n' "$H" '2023/03/26 02:30:00.000, 0, 1 %' >"$T/log"
clock "a time in it" nvidia-smi --tz CET-1CEST,M3.5.0,M10.5.0/3
has "is counted" "$T/err" ': 1 time in the hour that the clock leaves out in spring$'
printf '%s\n' '#Date Time gpu sm mem' '20230701 00:10:00 0 5 6' >"$T/log"
clock "dmon with date and time" dmon --tz +05:30
is "has an offset" "$T/found" "2023-07-01T00:00:00+05:30
600"
printf '%s\n' '#Time gpu sm mem' '23:59:59 0 5 6' '00:00:04 0 5 6' >"$T/log"
clock "dmon with times of day" dmon --tz +05:30 --time '2023-07-01 00:00:00'
is "from that date on" "$T/found" "2023-07-01T00:00:00+05:30
86399
86404"
clock "dmon with times of day alone" dmon --tz +05:30
is "are of no zone" "$T/found" "86399
86404"
printf '%s\n' '# gpu sm mem' '0 5 6' '0 7 8' >"$T/log"
clock "no times, counted from a local one through the change" dmon --tz US/Pacific --time '2023-11-05 00:30:00' --period 7200
is "period by period" "$T/found" "2023-11-05T00:00:00-07:00
1800
9000"
printf '%s\n' 'time,machineId,gpu0_util' '2017-11-05 01:30:00,m1,5,' '2017-11-05 01:10:00,m1,6,' >"$T/log"
clock "Philly's utilisation without zones" philly-util --tz US/Pacific
is "follows the clock" "$T/found" "2017-11-05T00:00:00-07:00
5400
7800"
run "a wrong zone" 2 gf-prof --from nvidia-smi --tz Mars/North "$T/log"
has "is named" "$T/err" "^gf-prof: bad zone 'Mars/North' \(expected "
run "a format without local times" 2 gf-prof --from gradient-stats --tz UTC $D/prof-gradient-stats.csv

# ---- sampled metrics ----

run "GPU metrics" 0 gf-prof --from nsight-metrics $D/prof-nsight-metrics.sqlite
golden "their table" "$T/out" $D/prof-nsight-metrics.tsv
has "values below 0 are counted" "$T/err" ': 1 samples below 0 count for nothing$'
run "bins of two seconds" 0 gf-prof -q --no-meta --from nsight-metrics --bin 2 $D/prof-nsight-metrics.sqlite
cut -f 1,3-5 "$T/out" | sed 1d | tr '\t' ' ' >"$T/found"
is "hold the means of their samples" "$T/found" "79998.25 0 40 NA
80000.25 0 85.5 30.5
80000.25 1 7 NA
80002.25 0 NA NA
80002.25 1 12 NA"
rc=0
gzip -c $D/prof-nsight-metrics.sqlite | gf-prof -q --from nsight-metrics >"$T/piped" 2>"$T/err" || rc=$?
ok "gzip through standard input" $rc
same "the same table" $D/prof-nsight-metrics.tsv "$T/piped"
run "an export without kernels" 0 gf-prof --from nsight $D/prof-nsight-metrics.sqlite
has "says where to look" "$T/err" \
	'no kernels were recorded \(no table [A-Z_]+\), but GPU_METRICS \(expected --from nsight-metrics\)$'
run "an export without metrics" 1 gf-prof --from nsight-metrics $D/prof-nsight.sqlite
has "says so" "$T/err" 'no tables GPU_METRICS and TARGET_INFO_GPU_METRICS \(expected '
if command -v sqlite3 >/dev/null 2>&1; then
	cp $D/prof-nsight-metrics.sqlite "$T/bad.sqlite"
	chmod u+w "$T/bad.sqlite"
	sqlite3 "$T/bad.sqlite" "INSERT INTO GPU_METRICS VALUES (0, 700000000, 280378317225728, 1, NULL)"
	run "a sample without a value" 1 gf-prof --from nsight-metrics "$T/bad.sqlite"
	is "a sample without a value: the message" "$T/err" \
		"gf-prof: $T/bad.sqlite:14:GPU_METRICS: sample without timestamp or value"
	run "is left out with --skip-bad" 0 gf-prof --from nsight-metrics --skip-bad 1 "$T/bad.sqlite"
	has "and counted" "$T/err" '1 record left out \(1 bad sample\)$'
	sqlite3 "$T/view.sqlite" "CREATE VIEW GPU_METRICS AS SELECT 1 timestamp;
		CREATE VIEW TARGET_INFO_GPU_METRICS AS SELECT 1 typeId"
	run "views" 1 gf-prof --from nsight-metrics "$T/view.sqlite"
	sqlite3 "$T/old.sqlite" "CREATE TABLE GPU_METRICS(t); CREATE TABLE TARGET_INFO_GPU_METRICS(t)"
	run "tables with other columns" 1 gf-prof --from nsight-metrics "$T/old.sqlite"
	has "are an error of one line" "$T/err" '^gf-prof: .*: cannot read the SQLite export: no such column'
else
	skip "sqlite3 is not installed" 7
fi
