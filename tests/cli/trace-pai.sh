# SPDX-License-Identifier: MIT
# gf-trace --from pai: the tables of Alibaba's cluster-trace-gpu-v2020, each alone and joined.
. tests/cli/lib.sh
D=tests/data

# rows NAME EXPECTED FILE…: the table without metadata
rows() {
	row_name=$1 row_want=$2
	shift 2
	run "$row_name" 0 gf-trace -q --no-meta --from pai "$@"
	is "$row_name: the rows" "$T/out" "$row_want"
}

# fault NAME MESSAGE FILE…: fails with that one line and writes nothing
fault() {
	fault_name=$1 fault_want=$2
	shift 2
	refuses "$fault_name" 1 "gf-trace: $fault_want" gf-trace -q --from pai "$@"
}
H="job_id	user	group	app	submit_s	start_s	end_s	duration_s	gpus	gpu_type	status	cpus	mem_mib"
JOINED="$H
medlar	ulla	ulla	NA	699990	700003	NA	NA	3	V100|T4	RUNNING	18	30720
plum	ulla	orchard	resnet	700000	700035	703588	3553	2	T4	OK	28	128192
quince	vito	vito	bert	700010.5	700025.5	700290	264.5	0.25	P100	FAILED	6	10240
sloe	wim	wim	NA	700100	NA	NA	NA	6	V100	PENDING	18	30720
damson	xena	xena	NA	700200	700260	NA	NA	1	MISC	OK	6	10240
fig	xena	orchard	NA	NA	704000	704900	900	0	NA	OK	6	10240"

# ---- joined ----
rows "four tables" "$JOINED" $D/trace-pai-job.csv $D/trace-pai-task.csv $D/trace-pai-instance.csv \
	$D/trace-pai-tag.csv
rows "in any order" "$JOINED" $D/trace-pai-tag.csv $D/trace-pai-instance.csv $D/trace-pai-task.csv \
	$D/trace-pai-job.csv
run "the report" 0 gf-trace -v --from pai $D/trace-pai-job.csv $D/trace-pai-task.csv \
	$D/trace-pai-instance.csv $D/trace-pai-tag.csv
is "counts what was left out and put right, and names the table of each row" "$T/err" \
"gf-trace: $D/trace-pai-job.csv:6:end_s: 100 s before the start, taken as missing
gf-trace: $D/trace-pai-task.csv:8:end_time: 0, not recorded, taken as missing
gf-trace: $D/trace-pai-instance.csv:9:end_s: 5 s before the start, taken as missing
gf-trace: warning: $D/trace-pai-job.csv: 1 instance rows without a worker left out, 1 tags of no job \
here passed over, 1 instance rows with a later one of the same worker left out, 1 running (censored), \
1 waiting (never started)
gf-trace: warning: $D/trace-pai-job.csv: 3 values put right (3 end before start)
gf-trace: $D/trace-pai-job.csv: 27 rows, 6 jobs, 0 left out, 1 without GPUs
gf-trace: $D/trace-pai-job.csv: 1 running at the end (censored), 1 never started
gf-trace: $D/trace-pai-job.csv: submitted from 699990 s to 700200 s"
has "the task table's hash is in the metadata" "$T/out" '^#input_task=[0-9a-f]{32}$'
has "the instance table's, too" "$T/out" '^#input_instance=[0-9a-f]{32}$'

# ---- each alone ----
rows "the job table alone" "$H
medlar	ulla	NA	NA	699990	NA	NA	NA	NA	NA	RUNNING	NA	NA
plum	ulla	NA	NA	700000	NA	703600	NA	NA	NA	OK	NA	NA
quince	vito	NA	NA	700010.5	NA	700300.25	NA	NA	NA	FAILED	NA	NA
sloe	wim	NA	NA	700100	NA	NA	NA	NA	NA	PENDING	NA	NA
damson	xena	NA	NA	700200	NA	NA	NA	NA	NA	OK	NA	NA
fig	xena	NA	NA	NA	NA	NA	NA	NA	NA	OK	NA	NA" $D/trace-pai-job.csv
rows "the instance table alone" "$H
plum	NA	NA	NA	NA	700035	703588	3553	NA	NA	OK	NA	NA
quince	NA	NA	NA	NA	700025.5	700290	264.5	NA	NA	FAILED	NA	NA
medlar	NA	NA	NA	NA	700003	NA	NA	NA	NA	RUNNING	NA	NA
fig	NA	NA	NA	NA	NA	NA	NA	NA	NA	OK	NA	NA
damson	NA	NA	NA	NA	700260	NA	NA	NA	NA	OK	NA	NA" $D/trace-pai-instance.csv
fault "group tags alone" "$D/trace-pai-tag.csv: group tags alone say nothing about jobs (expected a \
job, task or instance table with them)" $D/trace-pai-tag.csv
rows "jobs and tasks" "$H
medlar	ulla	NA	NA	699990	700000	NA	NA	3	V100|T4	RUNNING	18	30720
plum	ulla	NA	NA	700000	700020	703590	3570	2	T4	OK	28	128192
quince	vito	NA	NA	700010.5	700020.5	700290.25	269.75	0.25	P100	FAILED	6	10240
sloe	wim	NA	NA	700100	NA	NA	NA	6	V100	PENDING	18	30720
damson	xena	NA	NA	700200	700250	NA	NA	1	MISC	OK	6	10240
fig	xena	NA	NA	NA	704000	704900	900	0	NA	OK	6	10240" \
	$D/trace-pai-job.csv $D/trace-pai-task.csv
printf 'odd,worker,1.0,Terminated,10,20,,,100,T4\n' >"$T/odd.csv"
run "tasks of a job that the job table does not have" 0 gf-trace --no-meta --from pai \
	$D/trace-pai-job.csv "$T/odd.csv"
has "it is kept" "$T/out" '^odd	NA	NA	NA	NA	10	20	10	1	T4	OK	NA	NA$'
has "and counted" "$T/err" ' 6 jobs without tasks, .*, 1 jobs that the job table does not have$'

run "--no-sort" 0 gf-trace -q --no-meta --no-sort --from pai $D/trace-pai-job.csv
cut -f 1 "$T/out" | tr '\n' ' ' >"$T/order"
[ "$(cat "$T/order")" = "job_id plum quince medlar sloe fig damson " ]
ok "leaves the order of the file" $?

# ---- header files ----
cp $D/trace-pai-task.csv "$T/pai_task_table.csv"
cp $D/trace-pai-task.header "$T/pai_task_table.header"
cp $D/trace-pai-job.csv "$T/pai_job_table.csv"
gf-trace -q --no-meta --from pai $D/trace-pai-job.csv $D/trace-pai-task.csv >"$T/want"
run "a header file is that of the table with its name" 0 gf-trace -q --no-meta --from pai \
	"$T/pai_job_table.csv" "$T/pai_task_table.header" "$T/pai_task_table.csv"
same "the same rows" "$T/want" "$T/out"
awk -F , -v OFS=, '{ print $9, $10, $1, $2, $4, $3, $5, $6, $7, $8, "x" }' $D/trace-pai-task.csv \
	>"$T/pai_task_table.csv"
printf '\357\273\277plan_gpu,"gpu_type", job_name,task_name,status,inst_num,start_time,end_time,plan_cpu,plan_mem,more\r\n' \
	>"$T/pai_task_table.header"
run "it says in which order the columns are" 0 gf-trace --no-meta --from pai \
	"$T/pai_job_table.csv" "$T/pai_task_table.csv" "$T/pai_task_table.header"
same "the rows are the same" "$T/want" "$T/out"
has "a further column is passed over with a note" "$T/err" 'columns passed over: more$'
gzip -c "$T/pai_task_table.csv" >"$T/pai_task_table.csv.gz"
run "a header file for a gzip file" 0 gf-trace -q --no-meta --from pai \
	"$T/pai_job_table.csv" "$T/pai_task_table.csv.gz" "$T/pai_task_table.header"
same "the rows are the same again" "$T/want" "$T/out"
cp "$T/pai_task_table.header" "$T/other.header"
fault "a header file of nothing" "$T/other.header: a header file without its table (expected one of \
the same name)" "$T/pai_job_table.csv" $D/trace-pai-task.csv "$T/other.header"
printf 'a,b\nc,d\n' >"$T/pai_job_table.header"
fault "a header file of two lines" "$T/pai_job_table.header:2: a second line (expected names of columns \
in one)" "$T/pai_job_table.csv" "$T/pai_job_table.header"
printf 'job_name,,status' >"$T/pai_job_table.header"
fault "a header file with a hole" "$T/pai_job_table.header:1: empty name (expected up to 64 names of \
columns)" "$T/pai_job_table.csv" "$T/pai_job_table.header"
: >"$T/pai_job_table.header"
fault "an empty header file" "$T/pai_job_table.header: empty file (expected names of columns)" \
	"$T/pai_job_table.csv" "$T/pai_job_table.header"
fault "a header file alone" "$D/trace-pai-task.header: a header file without its table (expected one of \
the same name)" $D/trace-pai-task.header

# ---- bytes ----
{ printf '\357\273\277'; sed 's/$/\r/' $D/trace-pai-task.csv; echo; printf '\r\n'; } >"$T/bytes.csv"
gf-trace -q --from pai $D/trace-pai-task.csv >"$T/want"
run "byte order mark, CRLF, blank lines" 0 gf-trace -q --from pai "$T/bytes.csv"
same "the same bytes come out" "$T/want" "$T/out"
zstd -q -c $D/trace-pai-task.csv >"$T/t.zst" 2>/dev/null || gzip -c $D/trace-pai-task.csv >"$T/t.zst"
run "compressed, from standard input" 0 gf-trace -q --from pai - <"$T/t.zst"
same "the same bytes come out again" "$T/want" "$T/out"
head -n 2 $D/trace-pai-job.csv >"$T/part-1.csv"
tail -n +3 $D/trace-pai-job.csv >"$T/part-2.csv"
gf-trace -q --no-meta --from pai $D/trace-pai-job.csv >"$T/want"
run "a table in two parts" 0 gf-trace -q --no-meta --from pai "$T/part-1.csv" "$T/part-2.csv"
same "is one table" "$T/want" "$T/out"

# ---- faults ----
{ cat $D/trace-pai-job.csv; head -n 1 $D/trace-pai-job.csv; } >"$T/bad.csv"
fault "a job twice" "$T/bad.csv:7:job_name: duplicate id 'plum' (first on line 1)" "$T/bad.csv"
{ cat $D/trace-pai-task.csv; sed -n 2p $D/trace-pai-task.csv; } >"$T/bad.csv"
fault "a task twice would count its GPUs twice" "$T/bad.csv:9:task_name: duplicate task 'worker' of \
job 'plum' (first on line 2)" $D/trace-pai-job.csv "$T/bad.csv"
run "unless that is left out" 0 gf-trace --skip-bad 1 --no-meta --from pai "$T/bad.csv"
has "with a count" "$T/err" ': 1 bad record left out \(1 duplicate task\)$'
has "and the GPUs are counted once" "$T/out" '^plum	.*	2	T4	OK'
printf 'a,w,1.0,Terminated,1,2,,,-100,T4\n' >"$T/bad.csv"
fault "negative GPUs" "$T/bad.csv:1:plan_gpu: out of range '-100' (expected at least 0)" "$T/bad.csv"
printf 'a,w,1.5,Terminated,1,2,,,100,T4\n' >"$T/bad.csv"
fault "one and a half instances" "$T/bad.csv:1:inst_num: bad value '1.5' (expected an integer)" \
	"$T/bad.csv"
printf 'a,w,1,Terminated,-5,2,,,100,T4\n' >"$T/bad.csv"
fault "a negative time" "$T/bad.csv:1:start_time: out of range '-5' (expected at least 0)" "$T/bad.csv"
printf 'a,w,1,Terminated,noon,2,,,100,T4\n' >"$T/bad.csv"
fault "a time that is none" \
	"$T/bad.csv:1:start_time: bad value 'noon' (expected seconds with at most nine decimals)" "$T/bad.csv"
printf ',w,1,Terminated,1,2,,,100,T4\n' >"$T/bad.csv"
fault "no name" "$T/bad.csv:1:job_name: missing value (expected text in UTF-8)" "$T/bad.csv"
printf 'a,w,1,Terminated,1,2,,,100,T4\nb,w,1,Terminated,1,2,,,100\n' >"$T/bad.csv"
fault "a row cut short" "$T/bad.csv:2: 9 fields, 10 expected" "$T/bad.csv"
printf 'a,b,c\n' >"$T/bad.csv"
run "no such table" 1 gf-trace --from pai "$T/bad.csv"
has "says how many fields there can be" "$T/err" 'bad.csv:1: 3 fields, .* or 10 or 6 or 5 expected$'
printf 'j,t,w,i,m,/dev/nvidia0,1,2,3,4,5,6,7,8,9,10\n' >"$T/bad.csv"
fault "a sensor table" "$T/bad.csv: a sensor table (expected a job table, a task table, an instance table \
or a group tag table)" "$T/bad.csv"
: >"$T/bad.csv"
fault "an empty file" "$T/bad.csv: empty file (expected rows)" "$T/bad.csv"
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n' >"$T/bad.csv"
fault "a Git LFS pointer" "$T/bad.csv:1: Git LFS pointer, not the data (expected the file that 'git \
lfs pull' fetches)" $D/trace-pai-job.csv "$T/bad.csv"
run "a table that is not there" 3 gf-trace --from pai $D/trace-pai-job.csv "$T/none.csv"
run "times out of order as a fault" 1 gf-trace -q --bad-times fail --from pai $D/trace-pai-task.csv \
	$D/trace-pai-job.csv
has "names table, line and field" "$T/err" 'trace-pai-job.csv:6:end_s: 100 s before the start'

# ---- what cannot be known stays missing ----
printf 'a,w,2,Terminated,10,20,,,50,T4\na,v,,Terminated,10,20,,,50,T4\nb,w,9007199254740993,Interrupted,0,20,,,,\n' \
	>"$T/odd.csv"
run "no number of instances, a status of no list" 0 gf-trace --no-meta --from pai "$T/odd.csv"
has "GPUs of a job with such a task are missing" "$T/out" '^a	.*	10	NA	T4	OK	NA	NA$'
has "a start of 0 is missing, and so is its end" "$T/out" '^b	NA	NA	NA	NA	NA	NA	NA	0	NA	UNKNOWN'
has "both are counted" "$T/err" '1 tasks with GPUs and no number of instances, 1 rows with a status that'

# ---- machines ----
run "machines" 0 gf-trace -q --no-meta --from pai-machines $D/trace-pai-machines.csv
is "nodes that are alike are one row" "$T/out" \
"node_type	nodes	gpus_per_node	cpus_per_node	mem_gib_per_node
T4	3	2	96	512
V100	1	8	96	512
CPU	1	0	64	512"
sed 's/^m-5/m-1/' $D/trace-pai-machines.csv >"$T/bad.csv"
run "a machine twice" 1 gf-trace --from pai-machines "$T/bad.csv"
is "names both lines" "$T/err" \
	"gf-trace: $T/bad.csv:5:machine: duplicate node 'm-1' (first on line 1)"

# ---- recognising ----
for f in job task instance; do
	run "a $f table is recognised" 0 gf-trace -v --from auto $D/trace-pai-$f.csv
	has "and why" "$T/err" "recognised pai \\(.* as a PAI $f table has\\)"
done
run "a machine list is recognised" 0 gf-trace -v --from auto $D/trace-pai-machines.csv
has "and why" "$T/err" 'recognised pai-machines \(5 fields, a type of GPU that PAI has and three whole numbers, '
for line in m1,P100,64,512 m1,A100,64,512,2 m1,T4,64,512,2,x ,T4,64,512,2 m1,T4,64.5,512,2 m1,T4,-64,512,2 m1,T4,a,b,c; do
	printf '%s\n' m0,T4,96,512,2 "$line" >"$T/other"
	run "with a line $line" 1 gf-trace --from auto "$T/other"
	has "it is no such list" "$T/err" ': no known format; '
done
{ echo machine,gpu_type,cap_cpu,cap_mem,cap_gpu; cat $D/trace-pai-machines.csv; } >"$T/named"
run "with a header row" 0 gf-trace --from auto "$T/named"
has "too" "$T/err" 'recognised pai-machines \(header has machine, '
