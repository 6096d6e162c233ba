# SPDX-License-Identifier: MIT
# gf-prof --from nvidia-smi: the kinds of logs there are.
. tests/cli/lib.sh
D=tests/data
F=$D/prof-nvidia-smi.csv

run "a log" 0 gf-prof --from nvidia-smi $F
golden "its table" "$T/out" $D/prof-nvidia-smi.tsv
is "its report" "$T/err" \
"gf-prof: warning: $F: 1 record left out (1 cut last line)
gf-prof: warning: $F: 2 lines passed over (1 message, 1 repeated header)
gf-prof: warning: $F: 2 of 4 samples without gpu_util_pct (1 [N/A], 1 [GPU requires reset])
gf-prof: warning: $F: 2 of 4 samples without mem_util_pct (1 [N/A], 1 [Unknown Error])
gf-prof: warning: $F: 1 of 4 samples without fb_used_mib (1 [Insufficient Permissions])"
cp "$T/out" "$T/want.tsv"
run "-q" 0 gf-prof -q --from nvidia-smi $F
is "silences the report" "$T/err" ""
run "-v" 0 gf-prof -v --from nvidia-smi $F
has "lists the lines" "$T/err" '^gf-prof: line 4: message$'
has "and the time range" "$T/err" 'from 86398.25 s to 86400.254 s after 2023-06-10T00:00:00$'

# the same log in other clothes
same_table() {
	run "$1" 0 gf-prof -q --from nvidia-smi "$2"
	same "$1: the same table" "$T/want.tsv" "$T/out"
}
{ printf '\357\273\277'; sed 's/$/\r/' $F | head -c -1; } >"$T/crlf.csv"
same_table "byte order mark and CRLF" "$T/crlf.csv"
gzip -c $F >"$T/log.csv.gz"
same_table "gzip" "$T/log.csv.gz"
if command -v zstd >/dev/null 2>&1; then
	zstd -qc $F >"$T/log.csv.zst"
	same_table "zstd" "$T/log.csv.zst"
else
	skip "zstd is not installed" 2
fi
sed 's/, /,/g' $F >"$T/tight.csv"
same_table "no blank behind the comma" "$T/tight.csv"
sed 's/$/\n/' $F | head -c -1 >"$T/blank.csv"
same_table "blank lines" "$T/blank.csv"
sed 's/ %, /, /g;s/ MiB, /, /g;s/ MHz, /, /g;s/ W, /, /g' $F >"$T/nounits.csv"
same_table "no units" "$T/nounits.csv"
rc=0
gf-prof -q --from nvidia-smi <$F >"$T/out" 2>"$T/err" || rc=$?
ok "standard input" $rc
same "standard input: the same table" "$T/want.tsv" "$T/out"

# table NAME OPTIONS…: $T/log.csv -> time, gpu, utilisation
table() {
	name=$1
	shift
	run "$name" 0 gf-prof --no-meta --from nvidia-smi "$@" "$T/log.csv"
	cut -f 1,3,4 "$T/out" | tr '\t' ' ' >"$T/found"
}
fails() {
	run "$1" 1 gf-prof --from nvidia-smi "$T/log.csv"
	is "$1: the message" "$T/err" "gf-prof: $T/log.csv$2"
}

head -n 2 $F | tail -n 1 >"$T/log.csv"
table "no header row" --columns \
	'timestamp,index,name,uuid,utilization.gpu,utilization.memory,memory.used,memory.total,temperature.gpu,power.draw,clocks.sm,pstate'
is "no header row: the sample" "$T/found" "time_s gpu gpu_util_pct
86398.25 0 91"
fails "no header row, and no --columns" ":1: no header row (expected 'timestamp, index, \
utilization.gpu [%], …', or --columns)"

printf '%s\n' 'timestamp, uuid, utilization.gpu [%]' '2023/06/10 10:00:00.000, GPU-q, 5 %' \
	'2023/06/10 10:00:00.002, GPU-a, 6 %' '2023/06/10 10:00:01.000, GPU-q, 7 %' >"$T/log.csv"
table "no index, but a uuid"
is "numbered as they appear" "$T/found" "time_s gpu gpu_util_pct
36000 0 5
36000.002 1 6
36001 0 7"
has "and said so" "$T/err" 'no column index: GPUs are numbered by the first appearance of their uuid$'
printf '%s\n' 'timestamp, utilization.gpu [%]' '2023/06/10 10:00:00.000, 5 %' \
	'2023/06/10 10:00:00.000, 6 %' '2023/06/10 10:00:01.000, 7 %' >"$T/log.csv"
table "no name of any kind"
is "numbered by place within one time" "$T/found" "time_s gpu gpu_util_pct
36000 0 5
36000 1 6
36001 0 7"
printf '%s\n' 'index, utilization.gpu [%]' '0, 5 %' '1, 6 %' '0, 7 %' >"$T/log.csv"
table "no timestamp" --time 100 --period 2.5
is "counted in periods" "$T/found" "time_s gpu gpu_util_pct
100 0 5
100 1 6
102.5 0 7"
table "no timestamp, from a date" --time '2023-06-10 00:01:00' --period 2.5
is "counted from that date" "$T/found" "time_s gpu gpu_util_pct
60 0 5
60 1 6
62.5 0 7"
run "a wrong --time" 2 gf-prof --from nvidia-smi --time noon "$T/log.csv"
printf '%s\n' 'utilization.gpu [%]' '5 %' >"$T/log.csv"
fails "nothing tells the GPUs apart" ":2: no column tells the GPUs apart (expected index, uuid, \
pci.bus_id or timestamp)"
printf '%s\n' 'timestamp, utilization.gpu [%], memory.used [MiB], index' \
	'2023/06/10 10:00:00.000, 5 %, 9 MiB, 3' >"$T/log.csv"
table "columns in another order"
is "by name" "$T/found" "time_s gpu gpu_util_pct
36000 3 5"

H='timestamp, index, utilization.gpu [%], memory.used [MiB]'
printf '%s\n' "$H" '2023/06/10 10:00:00.000, 0, 5 %, 9 MiB' '2023/06/10 10:00:01.000, 0, 5 %' \
	'2023/06/10 10:00:02.000, 0, 6 %, 9 MiB' >"$T/log.csv"
fails "a row that is cut in the middle of the log" ":3: 3 fields, 4 expected"
run "--skip-bad=1" 0 gf-prof --from nvidia-smi --skip-bad 1 "$T/log.csv"
is "leaves it out and says so" "$T/err" "gf-prof: warning: $T/log.csv: 1 record left out (1 ragged row)"
has "also in the metadata" "$T/out" '^#left_out=1$'
run "--skip-bad=0" 1 gf-prof --from nvidia-smi --skip-bad 0 "$T/log.csv"
printf '%s\n%s\n%s' "$H" '2023/06/10 10:00:00.000, 0, 5 %, 9 MiB' \
	'2023/06/10 10:00:01.000, 0, 7 %, 90' >"$T/log.csv"
table "a last line that lost its unit"
is "is not taken for a number" "$T/found" "time_s gpu gpu_util_pct
36000 0 5"
has "but counted" "$T/err" '1 record left out \(1 cut last line\)$'
printf '%s\n%s\n%s' "$H" '2023/06/10 10:00:00.000, 0, 5, 9' '2023/06/10 10:00:01.000, 0, 7, 90' >"$T/log.csv"
table "a last line without line feed"
is "is kept when it is whole" "$T/found" "time_s gpu gpu_util_pct
36000 0 5
36001 0 7"
printf '%s\n' "$H" '2023/06/10 25:00:00.000, 0, 5 %, 9 MiB' >"$T/log.csv"
fails "an hour that is none" ":2:timestamp: bad value '2023/06/10 25:00:00.000' (expected YYYY/MM/DD \
HH:MM:SS.mmm)"
printf '%s\n' "$H" '2023/06/10 10:00:00.000, 0.5, 5 %, 9 MiB' >"$T/log.csv"
fails "half a GPU" ":2:index: bad value '0.5' (expected the number of a GPU)"
printf '%s\n' "$H" '2023/06/10 10:00:00.000, 0, 101 %, 9 MiB' '2023/06/10 09:59:59.000, 0, -1 %, 9 MiB' \
	>"$T/log.csv"
table "values out of range, and time that goes back"
is "are kept" "$T/found" "time_s gpu gpu_util_pct
36000 0 101
35999 0 -1"
has "and counted" "$T/err" ': 2 values of gpu_util_pct out of range$'
has "so is the time" "$T/err" ': time goes back 1 time, first on line 3$'
printf '%s\n' "$H" '2023/06/10 10:00:00.000, 0, 5 %, 9 MiB' 'index, timestamp, utilization.gpu [%]' \
	'1, 2023/06/10 10:00:01.000, 6 %' >"$T/log.csv"
table "logs of two queries, one behind the other"
is "the second header counts" "$T/found" "time_s gpu gpu_util_pct
36000 0 5
36001 1 6"
printf 'timestamp, index, temperature.gpu\n' >"$T/log.csv"
fails "nothing of use was queried" ":1: none of utilization.gpu, utilization.memory and memory.used in \
the header row (found timestamp, index, temperature.gpu)"
printf 'timestamp, index, utilization.gpu [%%], utilization.gpu [%%]\n' >"$T/log.csv"
fails "a column twice" ":1: duplicate column 'utilization.gpu' in the header row"
printf 'No devices were found\n' >"$T/log.csv"
run "no devices" 0 gf-prof --from nvidia-smi "$T/log.csv"
has "is a message" "$T/err" '1 line passed over \(1 message\)$'
has "and no rows" "$T/err" ': no rows$'
printf '%s\n2023/06/10 10:00:00.000, 0, 5 \377, 9\n' "$H" >"$T/log.csv"
fails "bytes that are no UTF-8" ":2: invalid UTF-8"
printf '\377\376t\000i\330' >"$T/log.csv"
fails "half of a pair of UTF-16" ":1: UTF-16 text that ends inside a character"
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n' >"$T/log.csv"
fails "a Git LFS pointer" ":1: Git LFS pointer, not the data (expected the file that 'git lfs pull' fetches)"
: >"$T/log.csv"
fails "an empty file" ": empty file (expected a header row)"
run "--host" 0 gf-prof -q --no-meta --from nvidia-smi --host n3 $F
cut -f 2 "$T/out" | sort -u >"$T/found"
is "names the host" "$T/found" "host
n3"
run "into a store" 0 gf-prof -q --from nvidia-smi $F -o "$T/s.h5:/util"
run "and out of it" 0 gf-prof summarize "$T/s.h5:/util"
grep -v '^#input' "$T/out" >"$T/from-store"
gf-prof summarize "$T/want.tsv" | grep -v '^#input' >"$T/from-tsv"
same "the same summary" "$T/from-tsv" "$T/from-store"
