# SPDX-License-Identifier: MIT
# gf-prof --from nsight, nsight-trace, nsight-kernels and pytorch-trace.
. tests/cli/lib.sh
D=tests/data

run "nsight: an SQLite export" 0 gf-prof --from nsight $D/prof-nsight.sqlite
golden "nsight: the table" "$T/out" $D/prof-nsight.tsv
cp "$T/out" "$T/want.tsv"
gzip -c $D/prof-nsight.sqlite >"$T/x.gz"
run "nsight: gzip" 0 gf-prof --from nsight "$T/x.gz"
same "nsight: the same from gzip" "$T/want.tsv" "$T/out"
rc=0
gf-prof --from nsight <$D/prof-nsight.sqlite >"$T/out" 2>"$T/err" || rc=$?
ok "nsight: standard input" $rc
same "nsight: the same from standard input" "$T/want.tsv" "$T/out"
run "nsight: half a second a bin" 0 gf-prof --no-meta --from nsight --bin 0.5 $D/prof-nsight.sqlite
cut -f 1,3,4 "$T/out" | awk '$2 == 0' | tr '\t' ' ' >"$T/found"
is "nsight: unions over the bins" "$T/found" "86399.5 0 0
86400 0 100
86400.5 0 40"
head -c 2000 $D/prof-nsight.sqlite >"$T/cut.sqlite"
run "nsight: a cut file" 1 gf-prof --from nsight "$T/cut.sqlite"
lines "nsight: one line" "$T/err" 1
printf 'SQLite format 3\000 and then nothing' >"$T/no.sqlite"
run "nsight: a broken file" 1 gf-prof --from nsight "$T/no.sqlite"
printf 'start,end\n' >"$T/text"
run "nsight: text" 1 gf-prof --from nsight "$T/text"
is "nsight: says what it wants" "$T/err" "gf-prof: $T/text: not an SQLite file (expected the export of \
'nsys export -t sqlite')"
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n' >"$T/text"
run "nsight: a Git LFS pointer" 1 gf-prof --from nsight "$T/text"
is "nsight: is named" "$T/err" "gf-prof: $T/text:1: Git LFS pointer, not the data (expected the file that \
'git lfs pull' fetches)"
: >"$T/text"
run "nsight: an empty file" 1 gf-prof --from nsight "$T/text"
run "nsight: no such file" 3 gf-prof --from nsight "$T/none.sqlite"
if command -v sqlite3 >/dev/null 2>&1; then
	K='CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER, "end" INTEGER, deviceId INTEGER, x TEXT);'
	sqlite3 "$T/a.sqlite" 'CREATE TABLE StringIds(id, value)'
	run "nsight: nothing was recorded" 0 gf-prof --from nsight "$T/a.sqlite"
	has "nsight: and said so" "$T/err" 'no kernels were recorded \(no table CUPTI_ACTIVITY_KIND_KERNEL\)$'
	has "nsight: no rows" "$T/out" '^#end rows=0$'
	sqlite3 "$T/b.sqlite" 'CREATE TABLE t(a)'
	run "nsight: a database of something else" 1 gf-prof --from nsight "$T/b.sqlite"
	sqlite3 "$T/c.sqlite" "$K INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (5, 9, 0, ''), (9, 5, 0, ''), (7, NULL, 0, '');"
	run "nsight: kernels that end before they start, or never" 1 gf-prof --from nsight "$T/c.sqlite"
	has "nsight: the row is named" "$T/err" 'c\.sqlite:3:CUPTI_ACTIVITY_KIND_KERNEL: kernel without start'
	run "nsight: --skip-bad" 0 gf-prof --from nsight --skip-bad 2 "$T/c.sqlite"
	has "nsight: counted" "$T/err" ': 2 records left out \(2 bad kernel\)$'
	sqlite3 "$T/d.sqlite" "$K INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (0, 9, 0, ''), (9000000000000000000, 9000000000000000009, 0, '');"
	run "nsight: an endless gap" 1 gf-prof --from nsight "$T/d.sqlite"
	has "nsight: is refused" "$T/err" 'a gap of more than 10000000 bins \(expected a larger --bin\)$'
	run "nsight: unless bins are long" 0 gf-prof --from nsight --bin 100000 "$T/d.sqlite"
	sqlite3 "$T/e.sqlite" 'CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT 1 start, 2 "end", 0 deviceId; CREATE TABLE StringIds(id, value)'
	run "nsight: a view is no table" 0 gf-prof --from nsight "$T/e.sqlite"
	has "nsight: and not read" "$T/out" '^#end rows=0$'
else
	skip "sqlite3 is not installed" 13
fi

run "nsight-trace" 0 gf-prof --from nsight-trace $D/prof-nsight-trace.csv
golden "nsight-trace: the table" "$T/out" $D/prof-nsight-trace.tsv
printf 'start,end,deviceId\n500000000,750000000,0\n600000000,1200000000,0\n100000000,150000000,1\n' >"$T/t.csv"
run "nsight-trace: start, end and device of sqlite3 -csv" 0 gf-prof --no-meta --from nsight-trace "$T/t.csv"
grep -v '^#' $D/prof-nsight-trace.tsv >"$T/rows"
same "nsight-trace: the same rows" "$T/rows" "$T/out"
printf 'Start (us),Duration (us),Device\n500000,250000.0,X (0)\n600000,600000,X (0)\n100000,50000,X (1)\n' >"$T/t.csv"
run "nsight-trace: another time unit" 0 gf-prof --no-meta --from nsight-trace "$T/t.csv"
same "nsight-trace: the same rows again" "$T/rows" "$T/out"
printf 'Start (ns),Duration (ns),Device\n5,-1,X (0)\n' >"$T/t.csv"
run "nsight-trace: a negative duration" 1 gf-prof --from nsight-trace "$T/t.csv"
has "nsight-trace: the place" "$T/err" ':2:Duration \(ns\): ends before it starts$'
printf 'Start (ns),Duration (ns),Device\n5,1,X\n' >"$T/t.csv"
run "nsight-trace: no device" 1 gf-prof --from nsight-trace "$T/t.csv"
has "nsight-trace: the place" "$T/err" ":2:Device: bad value 'X'"

run "nsight-kernels" 0 gf-prof -q --from nsight-kernels $D/prof-nsight-kernels.csv
golden "nsight-kernels: the table" "$T/out" $D/prof-nsight-kernels.tsv
printf 'Time(%%),Total Time (us),Instances,Average,Minimum,Maximum,Name\n60.0,1500,3,500,400,600.5,"a, b"\n' >"$T/k.csv"
run "nsight-kernels: of 2020, in microseconds" 0 gf-prof --no-meta --from nsight-kernels "$T/k.csv"
sed 1d "$T/out" | tr '\t' '|' >"$T/found"
is "nsight-kernels: in ns" "$T/found" 'a, b|3|60|1500000|500000|NA|400000|600500|NA|NA|NA'
printf 'Time (%%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),GridXYZ,BlockXYZ,Name\n9,1,1,1.0,1.0,1,1,0.0,   8   1   1, 256    1    1,k\n' >"$T/k.csv"
run "nsight-kernels: with grids" 0 gf-prof --no-meta --from nsight-kernels "$T/k.csv"
has "nsight-kernels: kept" "$T/out" '	8   1   1	256    1    1$'
printf 'SKIPPED: no CUDA kernel data\n' >"$T/k.csv"
run "nsight-kernels: nothing was recorded" 0 gf-prof --from nsight-kernels "$T/k.csv"
has "nsight-kernels: as in the export, a remark and no rows" "$T/err" ': no kernels were recorded$'
printf 'Processing [x]...\n' >"$T/k.csv"
run "nsight-kernels: no table" 1 gf-prof --from nsight-kernels "$T/k.csv"
is "nsight-kernels: says so" "$T/err" "gf-prof: $T/k.csv: no header row (expected one that starts with 'Time (%)')"
printf 'Time (%%),Total Time (ns),Instances,Name\n9,many,1,k\n' >"$T/k.csv"
run "nsight-kernels: a word" 1 gf-prof --from nsight-kernels "$T/k.csv"
is "nsight-kernels: the place" "$T/err" "gf-prof: $T/k.csv:2:Total Time (ns): bad value 'many' (expected a number)"

J=$D/prof-pytorch-trace.json
run "pytorch-trace" 0 gf-prof --from pytorch-trace $J
golden "pytorch-trace: the table" "$T/out" $D/prof-pytorch-trace.tsv
cp "$T/out" "$T/want.tsv"
is "pytorch-trace: the report" "$T/err" "gf-prof: warning: $J: 1 kernels without a duration count for nothing"
gzip -c $J >"$T/j.gz"
run "pytorch-trace: gzip" 0 gf-prof -q --from pytorch-trace "$T/j.gz"
same "pytorch-trace: the same table" "$T/want.tsv" "$T/out"
rows() {
	run "$1" 0 gf-prof -q --no-meta --from pytorch-trace "$T/j.json"
	cut -f 1,3,4 "$T/out" | sed 1d | tr '\t' ' ' >"$T/found"
	is "$1: the rows" "$T/found" "$2"
}
k() {	# TS DUR
	printf '{"ph":"X","cat":"kernel","name":"\\"}]{","ts":%s,"dur":%s,"args":{"device":0}}' "$1" "$2"
}
printf '[%s,%s]' "$(k 2000000 500000)" "$(k 0 250000.0)" >"$T/j.json"
rows "a bare array, out of order" "0 0 25
1 0 0
2 0 50"
printf '{"traceEvents":[%s,\n%s' "$(k 0 500000)" '{"ph":"X","cat":"kern' >"$T/j.json"
rows "the file ends in the middle" "0 0 50"
run "the file ends in the middle" 0 gf-prof --from pytorch-trace "$T/j.json"
has "is said" "$T/err" ': the file ends before its events do$'
printf '[%s,%s]' "$(k 1700000000000000.125 500000)" "$(k 1700000000500000.125 250000)" >"$T/j.json"
run "sixteen digits of microseconds" 0 gf-prof -q --no-meta --bin 1 --from pytorch-trace "$T/j.json"
cut -f 1,4 "$T/out" | sed 1d | tr '\t' ' ' >"$T/found"
is "are kept" "$T/found" "1700000000 75"
printf '{"baseTimeNanoseconds":1700000000000000000,"traceEvents":[%s]}' "$(k 1700000001000000.5 1000)" >"$T/j.json"
rows "times since 1970 and a base time" "80001 0 0.10000000000000001"
printf '[{"ph":"X","cat":"kernel","ts":5,"dur":-1,"args":{"device":0}}]' >"$T/j.json"
run "a negative duration" 1 gf-prof --from pytorch-trace "$T/j.json"
has "the place" "$T/err" "^gf-prof: $T/j\.json:1:dur: bad duration"
printf '[{"ph":"X","cat":"kernel","ts":"soon","dur":1,"args":{"device":0}}]' >"$T/j.json"
run "a time that is a word" 1 gf-prof --from pytorch-trace "$T/j.json"
printf '[{"ph":"X","cat":"kernel","ts":1,"dur":1,"pid":"CPU"}]' >"$T/j.json"
run "no device" 1 gf-prof --from pytorch-trace "$T/j.json"
printf '[{"ph":}]' >"$T/j.json"
run "bad JSON" 1 gf-prof --from pytorch-trace "$T/j.json"
run "bad JSON, --skip-bad" 0 gf-prof --from pytorch-trace --skip-bad 1 "$T/j.json"
awk 'BEGIN { printf "["; for (i = 0; i < 100000; i++) printf "[" }' >"$T/j.json"
run "nesting without end" 1 gf-prof --from pytorch-trace "$T/j.json"
lines "one line about it" "$T/err" 1
printf '{"traceEvents":[]}' >"$T/j.json"
run "no events" 0 gf-prof --from pytorch-trace "$T/j.json"
has "is said" "$T/err" ': no event of a GPU$'
: >"$T/j.json"
run "an empty file" 1 gf-prof --from pytorch-trace "$T/j.json"
