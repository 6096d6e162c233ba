# SPDX-License-Identifier: MIT
# gf-trace: each format, each fault, the export, and the public files when they are there.
. tests/cli/lib.sh
D=tests/data

# rows NAME FORMAT FILE EXPECTED: the table without metadata
rows() {
	run "$1" 0 gf-trace -q --no-meta --from "$2" "$3"
	is "$1: the rows" "$T/out" "$4"
}

# fault NAME FORMAT MESSAGE: $T/bad.csv fails with that message after its name, and writes nothing
fault() {
	refuses "$1" 1 "gf-trace: $T/bad.csv$3" gf-trace --from "$2" "$T/bad.csv"
}

# ---- pollux ----
rows "pollux" pollux $D/trace-pollux.csv \
"job_id	app	submit_s	gpus	batch_size	scaling
wren-0	wren	12	3	96	NA
wren-1	wren	12.5	1	32	NA
lark-2	lark	47.000001	8	640	NA
lark, late-3	lark	61.25	2	80	NA"
run "pollux: silent" 0 gf-trace --from pollux $D/trace-pollux.csv
is "pollux: nothing on standard error" "$T/err" ""
cp "$T/out" "$T/jobs.tsv"
has "the input is in the metadata by its content" "$T/out" '^#input=[0-9a-f]{32}$'
hasnt "and not by its name" "$T/out" 'trace-pollux'
run "pollux: from standard input" 0 gf-trace --from pollux - <$D/trace-pollux.csv
same "the same bytes" "$T/jobs.tsv" "$T/out"
gzip -c $D/trace-pollux.csv >"$T/w.csv.gz"
run "pollux: gzip" 0 gf-trace --from pollux "$T/w.csv.gz"
same "the same bytes from gzip" "$T/jobs.tsv" "$T/out"
run "-v says what was read" 0 gf-trace -v --from pollux -o "$T/o.tsv" $D/trace-pollux.csv
is "the import report" "$T/err" \
"gf-trace: $D/trace-pollux.csv: 4 rows, 4 jobs, 0 left out, 0 without GPUs
gf-trace: $D/trace-pollux.csv: submitted from 12 s to 61.25 s"
same "-o writes the same table" "$T/jobs.tsv" "$T/o.tsv"
run "columns in another order, more of them, a line break in quotes" 0 gf-trace --from pollux \
	$D/trace-pollux-extra.csv
is "further columns are passed over with a note" "$T/err" \
	"gf-trace: warning: $D/trace-pollux-extra.csv: columns passed over: user, note"
has "their jobs are read" "$T/out" '^lark-1	lark	13	6	48	NA$'
run "-q silences the note" 0 gf-trace -q --from pollux $D/trace-pollux-extra.csv
is "no note" "$T/err" ""

H=name,time,application,num_replicas,batch_size
printf '%s\na,1,x,1,1\nb,2,x,1,1\na,3,x,1,1\n' $H >"$T/bad.csv"
fault "duplicate id" pollux ":4:name: duplicate id 'a' (first on line 2)"
printf '%s\na,1,x,-1,1\n' $H >"$T/bad.csv"
fault "negative GPUs" pollux ":2:num_replicas: out of range '-1' (expected at least 0)"
printf '%s\na,1,x,inf,1\n' $H >"$T/bad.csv"
fault "endless GPUs" pollux ":2:num_replicas: out of range 'inf' (expected at least 0)"
printf '%s\na,1,x,99999999999999999999,1\n' $H >"$T/bad.csv"
fault "more GPUs than there are" pollux ":2:gpus: out of range '1e+20' (expected at most 1000000000)"
printf '%s\na,-0.5,x,1,1\n' $H >"$T/bad.csv"
fault "negative time" pollux ":2:time: out of range '-0.5' (expected at least 0)"
printf '%s\na,1,x,1,0\n' $H >"$T/bad.csv"
fault "batch of nothing" pollux ":2:batch_size: out of range '0' (expected at least 1)"
printf '%s\na,1,,1,1\n' $H >"$T/bad.csv"
fault "no application" pollux ":2:application: missing value (expected text in UTF-8)"
printf '%s\na,soon,x,1,1\n' $H >"$T/bad.csv"
fault "a time that is none" pollux ":2:time: bad value 'soon' (expected seconds with at most nine decimals)"
printf '%s\na,1,x,1,2.5\n' $H >"$T/bad.csv"
fault "half a sample" pollux ":2:batch_size: bad value '2.5' (expected an integer)"
printf 'name,time,name\n' >"$T/bad.csv"
fault "a column twice" pollux ":1: duplicate column 'name' (found name, time, name)"
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n' >"$T/bad.csv"
fault "a Git LFS pointer" pollux \
	":1: Git LFS pointer, not the data (expected the file that 'git lfs pull' fetches)"

# ---- what a scheduler may change ----
printf '%s,category\na-0,1,x,1,8,rigid\nb-1,2,x,1,8,\nc-2,3,x,2,8,scale-gpus\nd-3,4,x,2,8,adaptive\n' $H >"$T/kinds.csv"
rows "categories of jobs" pollux "$T/kinds.csv" \
"job_id	app	submit_s	gpus	batch_size	scaling
a-0	x	1	1	8	rigid
b-1	x	2	1	8	NA
c-2	x	3	2	8	scale-gpus
d-3	x	4	2	8	adaptive"
run "and the way back" 0 gf-trace --from pollux --to pollux "$T/kinds.csv"
sed 's/^b.*/&adaptive/' "$T/kinds.csv" >"$T/want.csv"
same "one that says nothing is adaptive" "$T/out" "$T/want.csv"
sed 's/rigid/stiff/' "$T/kinds.csv" >"$T/bad.csv"
fault "a category that is none" pollux ":2:category: unknown word 'stiff' (expected adaptive, scale-gpus or rigid)"

# ---- --skip-bad ----
{
	echo $H
	printf 'a,1,x,1,1\nb,2,x,1\nc,3,x,one,1\nd,4,x,1,1\na,5,x,1,1\ne,6,x,-2,1\nf,7,x,1,8\n'
} >"$T/bad.csv"
fault "four bad records" pollux ":3: 4 fields, 5 expected"
run "--skip-bad=4" 0 gf-trace --skip-bad=4 --from pollux "$T/bad.csv"
is "counts them by reason on one line" "$T/err" "gf-trace: warning: $T/bad.csv: 4 bad records left out \
(1 ragged row, 1 bad value, 1 duplicate id, 1 out of range)"
grep -v '^#' "$T/out" | cut -f 1 | tr '\n' ' ' >"$T/ids"
[ "$(cat "$T/ids")" = "job_id a d f " ]
ok "the good ones are a, d and f" $?
has "the count is in the metadata" "$T/out" '^#left_out=4$'
run "--skip-bad=3" 1 gf-trace --skip-bad=3 --from pollux "$T/bad.csv"
is "stops at the fourth and does not hide the count" "$T/err" \
"gf-trace: warning: $T/bad.csv: 3 bad records left out (1 ragged row, 1 bad value, 1 duplicate id)
gf-trace: $T/bad.csv:7:num_replicas: out of range '-2' (expected at least 0)"

# ---- pollux-philly ----
rows "pollux-philly" pollux-philly $D/trace-philly-list.csv \
"job_id	group	submit_s	duration_s	gpus
philly-0	0a0b0c	86399	61	1
philly-1	0d0e0f	153000	1200.5	1
philly-2	0a0b0c	172807	95	2
philly-3	0d0e0f	172807	33	4"
run "pollux-philly: origin" 0 gf-trace --from pollux-philly $D/trace-philly-list.csv
has "the midnight before the first job" "$T/out" '^#origin=2019-02-28T00:00:00$'
H=timestamp,duration,num_gpus,gpu_time,cluster
printf '%s\n2019-02-29 00:00:00,1,1,1,c\n' $H >"$T/bad.csv"
fault "no such day" pollux-philly ":2:timestamp: bad value '2019-02-29 00:00:00' \
(expected YYYY-MM-DD HH:MM:SS)"
printf '%s\n2020-02-29 00:00:00,10,2,21,c\n' $H >"$T/bad.csv"
fault "GPU time that contradicts" pollux-philly \
	":2:gpu_time: contradiction '21' (expected duration times num_gpus, 20)"

# ---- tiresias ----
run "tiresias" 0 gf-trace --from tiresias $D/trace-tiresias.csv
is "warns of models that its simulator does not know" "$T/err" "gf-trace: warning: \
$D/trace-tiresias.csv: 1 job with a model that the Tiresias simulator takes for inception3, such as \
'googlenet'"
rows "tiresias" tiresias $D/trace-tiresias.csv \
"job_id	app	submit_s	start_s	duration_s	gpus	work
7	vgg16	0	NA	205	2	410
3	googlenet	11	NA	45	1	90
12	resnet50	41	NA	64	0	64"
rows "tiresias, the older variant with blanks" tiresias $D/trace-tiresias.txt \
"job_id	app	submit_s	start_s	duration_s	gpus	work
21	vgg19	5	9	300	4	NA
22	alexnet	8	10	75	1	NA"
sed 's/^3,1,/3,-1,/' $D/trace-tiresias.csv >"$T/bad.csv"
fault "-1 GPUs" tiresias ":3:num_gpu: out of range '-1' (expected at least 0)"
sed 's/^12,/7,/' $D/trace-tiresias.csv >"$T/bad.csv"
fault "duplicate id" tiresias ":4:job_id: duplicate id '7' (first on line 2)"

# ---- tiresias-cluster ----
rows "tiresias-cluster" tiresias-cluster $D/trace-tiresias-cluster.csv \
"node_type	nodes	gpus_per_node	cpus_per_node	mem_gib_per_node	switches
node	36	8	96	384	3"
{ cat $D/trace-tiresias-cluster.csv; printf '\n1,1,1,1,1\n'; } >"$T/bad.csv"
fault "two clusters" tiresias-cluster ":3: more than one cluster (expected one row)"
head -n 1 $D/trace-tiresias-cluster.csv >"$T/bad.csv"
fault "no cluster" tiresias-cluster ": no cluster (expected one row)"
sed 's/^3,12,8/3,12,0/' $D/trace-tiresias-cluster.csv >"$T/bad.csv"
fault "nodes without GPUs" tiresias-cluster ":2:num_gpu_p_node: out of range '0' (expected at least 1)"

# ---- stores ----
run "-o into a store" 0 gf-trace --from pollux $D/trace-pollux.csv -o "$T/s.h5:/jobs/small"
run "and out of it" 0 gf-trace --to pollux "$T/s.h5:/jobs/small"
gf-trace --to pollux "$T/jobs.tsv" >"$T/want"
same "is the same workload" "$T/want" "$T/out"

# ---- export ----
run "--to pollux" 0 gf-trace --to pollux "$T/jobs.tsv"
is "a workload file" "$T/out" \
'name,time,application,num_replicas,batch_size
wren-0,12,wren,3,96
wren-1,12.5,wren,1,32
lark-2,47.000001,lark,8,640
"lark, late-3",61.25,lark,2,80'
cp "$T/out" "$T/w.csv"
run "and back" 0 gf-trace --from pollux "$T/w.csv"
grep -v '^#input' "$T/jobs.tsv" >"$T/want"
grep -v '^#input' "$T/out" >"$T/found"
same "is the same table" "$T/want" "$T/found"
run "--from and --to at once" 0 gf-trace --from pollux --to pollux -o "$T/w2.csv" $D/trace-pollux.csv
same "a normalised file" "$T/w.csv" "$T/w2.csv"
sed 's/^wren-1\(.*\)	1	32	NA$/wren-1\1	0.5	32	NA/' "$T/jobs.tsv" >"$T/half.tsv"
run "half a GPU" 1 gf-trace --to pollux "$T/half.tsv"
has "names line and column" "$T/err" "half.tsv:8:gpus: bad value '0.5' \(expected whole GPUs\)"
sed 's/^wren-1\(.*\)	32	NA$/wren-1\1	NA	NA/' "$T/jobs.tsv" >"$T/na.tsv"
run "a missing batch size" 1 gf-trace --to pollux "$T/na.tsv"
has "names line and column" "$T/err" "na.tsv:8:batch_size: missing value 'NA'"
run "--to into a folder that is not there" 3 gf-trace --to pollux -o "$T/none/w.csv" "$T/jobs.tsv"
run "--to a store" 2 gf-trace --to pollux -o "$T/w.h5" "$T/jobs.tsv"
run "neither --from nor --to" 2 gf-trace "$T/jobs.tsv"
run "an unknown format" 2 gf-trace --from nothing "$T/jobs.tsv"
has "lists the known ones" "$T/err" 'expected auto, pollux, pollux-philly, tiresias, tiresias-cluster'

# ---- recognising ----
run "--list" 0 gf-trace --no-meta --list
has "names a streaming format" "$T/out" '^pollux	stream	1	yes	'
has "a sorted one" "$T/out" '^philly	sort	1	yes	'
cut -f 1 "$T/out" | sed 1d >"$T/formats"
gf-trace --help >"$T/help"
left=
while read -r f; do
	grep -q "^  $f " "$T/help" || left="$left $f"
	grep -qw -e "$f" docs/man/gf-trace.1 || left="$left $f"
done <"$T/formats"
is "--help and the page have each of them" /dev/null "$left"
for f in pollux:pollux pollux-extra:pollux philly-list:pollux-philly tiresias:tiresias \
	tiresias-cluster:tiresias-cluster; do
	run "--from auto: ${f%%:*}" 0 gf-trace --from auto -o "$T/auto.tsv" "$D/trace-${f%%:*}.csv"
	has "is recognised, with the reason" "$T/err" \
		"^gf-trace: $D/trace-${f%%:*}.csv: recognised ${f##*:} \(header has "
	gf-trace -q --from "${f##*:}" "$D/trace-${f%%:*}.csv" >"$T/want"
	same "and read as such: the same bytes" "$T/want" "$T/auto.tsv"
done
run "--from auto: blanks" 0 gf-trace --from auto $D/trace-tiresias.txt
has "are recognised" "$T/err" ": recognised tiresias \("
run "--from auto -q" 0 gf-trace -q --from auto $D/trace-pollux.csv
is "says nothing" "$T/err" ""
{ printf '\357\273\277\r\n\r\n'; sed 's/$/\r/' $D/trace-pollux.csv; } | gzip -c >"$T/x.gz"
run "--from auto: gzip of byte order mark, blank lines, CRLF" 0 gf-trace -q --from auto - <"$T/x.gz"
grep -v '^#input' "$T/out" >"$T/a"
grep -v '^#input' "$T/jobs.tsv" >"$T/b"
same "the same jobs" "$T/b" "$T/a"
printf '"name","time","application","num_replicas","batch_size"\na,1,x,1,1\n' >"$T/x"
run "--from auto: quoted names" 0 gf-trace -q --from auto "$T/x"
echo 'hello, world' >"$T/x"
run "--from auto: something else" 1 gf-trace --from auto "$T/x"
is "says how it starts" "$T/err" "gf-trace: $T/x: no known format; it starts with 'hello, world' (expected \
--from FORMAT; --list lists them)"
run "--from auto: a table" 1 gf-trace --from auto "$T/jobs.tsv"
has "is no trace" "$T/err" ': a table of goodfit already \(expected a trace\)$'
run "--from auto: an empty file" 1 gf-trace --from auto /dev/null
has "is empty" "$T/err" ': empty file \(expected a trace\)$'
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n' >"$T/x"
run "--from auto: a Git LFS pointer" 1 gf-trace --from auto "$T/x"
has "is none" "$T/err" ':1: Git LFS pointer, not the data'
printf 'job_id,num_gpu,submit_time,duration,model_name,timestamp,gpu_time,cluster,num_gpus\n' >"$T/x"
run "--from auto: two formats at once" 1 gf-trace --from auto "$T/x"
has "names both" "$T/err" ': could be pollux-philly \(.*\) or tiresias \(.*\) \(expected --from FORMAT\)$'

# ---- rows go out as they are read ----
awk 'BEGIN { print "name,time,application,num_replicas,batch_size"
	for (i = 0; i < 200000; i++) printf "job-%d,%d.5,app-%d,%d,%d\n", i, i, i % 7, 1 + i % 8, 32 + i }' >"$T/w.csv"
run "200000 rows" 0 gf-trace --from pollux -o "$T/w.tsv" "$T/w.csv"
tail -n 3 "$T/w.tsv" | sed 's/=[0-9a-f]\{32\}$/=HASH/' >"$T/tail"
is "the hash stands behind them" "$T/tail" \
"job-199999	app-2	199999.5	8	200031	NA
#input=HASH
#end rows=200000"
run "a table with metadata behind its rows into a store" 0 gf-table convert "$T/w.tsv" -o "$T/w.h5:/jobs"
run "and out of it" 0 gf-table convert "$T/w.h5:/jobs"
grep -v '^#' "$T/w.tsv" >"$T/a"
grep -v '^#' "$T/out" >"$T/b"
same "has the same rows" "$T/a" "$T/b"
grep '^#' "$T/w.tsv" | grep -v '^#table=' | sort >"$T/a"
grep '^#' "$T/out" | grep -v '^#table=' | sort >"$T/b"
same "and the same metadata" "$T/a" "$T/b"
head -n 150000 "$T/w.tsv" | gf-table convert - >/dev/null 2>"$T/err"
ok "a stream that was cut is an error" $((! $?))
sed '200001s/.*/job-0,1,x,1,1/' "$T/w.csv" >"$T/bad.csv"
run "a fault in the last row, to a file" 1 gf-trace --from pollux -o "$T/none.tsv" "$T/bad.csv"
is "names the first of the two" "$T/err" \
	"gf-trace: $T/bad.csv:200001:name: duplicate id 'job-0' (first on line 2)"
[ ! -e "$T/none.tsv" ]
ok "and leaves no file" $?
run "to standard output" 1 gf-trace --from pollux "$T/bad.csv"
hasnt "leaves a table without its end" "$T/out" '^#end'
run "--no-unique" 0 gf-trace --from pollux --no-unique "$T/bad.csv"
has "keeps both" "$T/out" '^#end rows=200000$'
if [ -z "${WRAP-}" ] && [ -r /proc/self/status ] && ! grep -q fsanitize "$B/flags.stamp"; then
	awk 'BEGIN { print "name,time,application,num_replicas,batch_size"
		for (i = 0; i < 2000000; i++) printf "job-%d,%d,app,1,32\n", i, i }' >"$T/big.csv"
	# shellcheck disable=SC3045 # dash and bash have it
	(ulimit -v 150000 && gf-trace --from pollux --no-unique "$T/big.csv" >/dev/null) 2>"$T/err"
	ok "two million rows in the memory of two hundred thousand" $?
	rm -f "$T/big.csv"
else
	skip "sanitizers need more memory"
fi

# ---- inputs and options ----
run "two inputs for a format of one" 2 gf-trace --from pollux $D/trace-pollux.csv $D/trace-pollux.csv
has "are too many" "$T/err" "too many inputs '$D/trace-pollux.csv' \(expected at most 1 for pollux\)"
run "a zone without --from" 2 gf-trace --to pollux --tz UTC "$T/jobs.tsv"
has "is named" "$T/err" '^gf-trace: --tz needs --from$'
run "--no-unique without --from" 2 gf-trace --to pollux --no-unique "$T/jobs.tsv"
has "is named, too" "$T/err" '^gf-trace: --no-unique needs --from$'
run "two jobs tables" 2 gf-trace --to pollux "$T/jobs.tsv" "$T/jobs.tsv"
run "a zone for a format without calendar" 2 gf-trace --from pollux --tz UTC $D/trace-pollux.csv
has "means nothing" "$T/err" '^gf-trace: --tz means nothing to pollux, which has no calendar times$'
run "--sort orders a workload" 0 gf-trace --no-meta --from pollux --sort - <<END
name,time,application,num_replicas,batch_size
late,9,x,1,1
early,2.5,x,1,1
tie,9,x,1,1
END
is "equal times stay in the order of the file" "$T/out" \
"job_id	app	submit_s	gpus	batch_size	scaling
early	x	2.5	1	1	NA
late	x	9	1	1	NA
tie	x	9	1	1	NA"

# ---- the public files ----
if [ -z "$GOODFIT_SHARED" ] || [ ! -d "$GOODFIT_SHARED/public" ]; then
	skip "no public data (set GOODFIT_SHARED, see scripts/fetch-public)" 8
	exit 0
fi
P=$GOODFIT_SHARED/public
n=0 bad=0
find "$P/pollux-osdi21" "$P/sia-sosp23" -name 'workload-*.csv' >"$T/list"
while read -r f; do
	n=$((n + 1))
	# the file as the export writes numbers: no ".0", no zeros behind the last digit
	tr -d '\r' <"$f" | sed -E 's/^([^,]*,[0-9]+)\.0+,/\1,/;s/^([^,]*,[0-9]+\.[0-9]*[1-9])0+,/\1,/' \
		>"$T/want.csv"
	if ! gf-trace --from pollux --to pollux "$f" >"$T/found.csv" 2>"$T/err" || [ -s "$T/err" ] ||
		! cmp -s "$T/want.csv" "$T/found.csv"; then
		bad=$((bad + 1))
		diag "$f"
	fi
done <"$T/list"
ok "$n public workload files are read and come out as they were" "$bad"
[ "$n" -ge 168 ]
ok "all of them were there" $?
run "the Philly list" 0 gf-trace -v --from pollux-philly "$P/pollux-osdi21/traces/philly.csv"
has "82247 jobs" "$T/err" ': 82247 rows, 82247 jobs, 0 left out, 0 without GPUs$'
awk -F '\t' '!/^#/ && $1 != "job_id" { d += $4; g += $5; w += $4 * $5; if ($3 < last) bad++; last = $3 }
	END { printf "%.0f %d %.0f %d\n", d, g, w, bad }' "$T/out" >"$T/sums"
is "seconds, GPUs and GPU-seconds are exact; sorted" "$T/sums" "1080390950 107235 3521082502 0"
run "the Tiresias list" 0 gf-trace -q --from tiresias "$P/tiresias-nsdi19/60_job.csv"
has "60 jobs" "$T/out" '^#end rows=60$'
run "the older one has a line twice" 1 gf-trace --from tiresias "$P/tiresias-nsdi19/tf_job.csv"
