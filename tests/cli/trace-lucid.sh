# SPDX-License-Identifier: MIT
# gf-trace --from lucid and lucid-vc: logs and virtual clusters of the Lucid simulator.
. tests/cli/lib.sh
D=tests/data

fault() {
	refuses "$1" 1 "gf-trace: $T/bad.csv$3" gf-trace -q --from "$2" "$T/bad.csv"
}

run "jobs" 0 gf-trace --from lucid $D/trace-lucid.csv
is "silently" "$T/err" ""
has "their clock" "$T/out" '^#origin=2020-09-01T00:00:00$'
grep -v '^#' "$T/out" >"$T/rows"
is "sorted; jobs without GPUs and without a profile stay" "$T/rows" \
"job_id	user	group	name	app	submit_s	start_s	end_s	duration_s	gpus	batch_size	status	cpus	dataset	amp	speed_per_s	gpu_util_pct	mem_util_pct	fb_used_mib
500	vito	vcTwo	NA	NeuMF	10	NA	NA	209	1	64	FAILED	NA	MovieLens	0	15393.307000000001	10.483000000000001	2.0230000000000001	2050
501	ulla	vcOne	NA	BERT	300	NA	NA	946	8	32	OK	NA	SQuAD	1	119.911	99.593000000000004	74.230000000000004	16334
502	vito	vcTwo	NA	NA	300	NA	NA	30	0	NA	CANCELLED	NA	NA	NA	NA	NA	NA	NA"
cp "$T/rows" "$T/want"
{ printf '\357\273\277'; sed 's/$/\r/' $D/trace-lucid.csv; } >"$T/b.csv"
run "byte order mark and CRLF" 0 gf-trace -q --no-meta --from lucid "$T/b.csv"
same "the same rows" "$T/want" "$T/out"
H=job_id,user,vc,jobname,gpu_num,cpu_num,state,submit_time,start_time,end_time,duration,model,dataset,batchsize,amp
printf '%s\n%s\n%s\n%s\n' $H \
	'1,u,v,"a, b",1,6,Pass,2020-01-01 00:00:00,2020-01-01 00:01:00,2020-01-01 00:02:00,60,M,D,1,0' \
	'2,u,v,n,1,6,Killed,2020-01-01 00:00:01,2020-01-01 00:01:00,2020-01-01 00:00:30,30,M,D,1,0' \
	'3,u,v,n,1,6,RUNNING,2020-01-01 00:00:02,2020-01-01 00:01:00,,99,M,D,1,0' >"$T/times.csv"
run "starts and ends where the log has them" 0 gf-trace --no-meta --from lucid "$T/times.csv"
cut -f 1,4,6-9,12 "$T/out" >"$T/rows"
is "an end before the start is missing, a running job has no duration" "$T/rows" \
"job_id	name	submit_s	start_s	end_s	duration_s	status
1	a, b	0	60	120	60	OK
2	n	1	60	NA	NA	CANCELLED
3	n	2	60	NA	NA	RUNNING"
is "both are counted" "$T/err" "gf-trace: warning: $T/times.csv: 1 running (censored)
gf-trace: warning: $T/times.csv: 1 value put right (1 end before start)"
sed 's/,60,M/,61,M/' "$T/times.csv" >"$T/odd.csv"
run "a duration that the times contradict" 0 gf-trace --no-meta --from lucid "$T/odd.csv"
has "the times win" "$T/out" '^1	.*	60	120	60	1	'
has "and it is counted" "$T/err" '1 duration that the times contradict'
sed 's/^\(.*\),501,8,/\1,501,-8,/' $D/trace-lucid.csv >"$T/bad.csv"
fault "-8 GPUs" lucid ":2:gpu_num: out of range '-8' (expected at least 0)"
sed 's/,946,/,-946,/' $D/trace-lucid.csv >"$T/bad.csv"
fault "a negative duration" lucid ":2:duration: out of range '-946' (expected at least 0)"
sed 's/,502,/,501,/' $D/trace-lucid.csv >"$T/bad.csv"
fault "a job twice" lucid ":4:job_id: duplicate id '501' (first on line 2)"
sed 's/2020-09-01 00:00:10/2020-09-31 00:00:10/' $D/trace-lucid.csv >"$T/bad.csv"
fault "no such day" lucid \
	":3:submit_time: no such time '2020-09-31 00:00:10' (expected YYYY-MM-DD HH:MM:SS)"

run "virtual clusters" 0 gf-trace --no-meta --from lucid-vc $D/trace-lucid-vc.csv
is "nodes have eight GPUs" "$T/out" \
"group	nodes	gpus_per_node
vcOne	9	8
vcThree	2	8"
is "one without nodes is left out, and counted" "$T/err" \
	"gf-trace: warning: $D/trace-lucid-vc.csv: 1 virtual clusters without nodes left out"
cp "$T/out" "$T/want"
{ printf '\357\273\277vc'; sed 's/$/\r/' $D/trace-lucid-vc.csv; } >"$T/b.csv"
run "a name for the first column" 0 gf-trace -q --no-meta --from lucid-vc "$T/b.csv"
same "the same rows" "$T/want" "$T/out"
printf ',num\nvcOne,9\nvcOne,8\n' >"$T/bad.csv"
fault "a virtual cluster twice" lucid-vc ":3:vc: duplicate virtual cluster 'vcOne' (first on line 2)"
printf ',num\n,9\n' >"$T/bad.csv"
fault "one without a name" lucid-vc ":2:vc: missing value (expected the name of a virtual cluster)"
printf ',num\nvcOne,-9\n' >"$T/bad.csv"
fault "-9 nodes" lucid-vc ":2:num: out of range '-9' (expected at least 0)"
for f in lucid lucid-vc; do
	run "$f is recognised" 0 gf-trace -v --from auto $D/trace-$f.csv
	has "by its header" "$T/err" "recognised $f \\(header "
done
sed 's/2020-01-01 00:00:00/1700-01-01 00:00:00/;s/2020-01-01 00:02:00/2250-01-01 00:00:00/' \
	"$T/times.csv" >"$T/bad.csv"
fault "times whose difference no number holds" lucid \
	":2:submit_time: no such time '1700-01-01 00:00:00' (expected YYYY-MM-DD HH:MM:SS)"
