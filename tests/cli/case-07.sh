# SPDX-License-Identifier: MIT
# Case 07: Philly jobs with several, no, or half-recorded attempts; a machine list that contradicts the
# job log.
. tests/cli/lib.sh
need_shared cases/07-philly-attempts-and-machines 24
C=$GOODFIT_SHARED/cases/07-philly-attempts-and-machines

run "the job log is read" 0 gf-trace -v --from philly --machines "$C/cluster_machine_list" \
	"$C/cluster_job_log"
cp "$T/out" "$T/jobs.tsv"
grep -c 'warning: .*contradicts' "$T/err" >"$T/n"
is "one warning about the machine list" "$T/n" 1
has "which names machine, listed, used and job" "$T/err" \
	'contradicts .* m1: 2 GPUs listed, 8 used by application_1_0001'
has "the running job is reported as censored" "$T/err" ': 1 running at the end \(censored\)'
has "the job without attempts is reported" "$T/err" ': 1 job without attempts'
has "the half-recorded one is reported" "$T/err" ': 1 job with attempts that are half recorded'
awk -F '\t' '/^#/ { next } !head { head = 1; for (i = 1; i <= NF; i++) at[$i] = i; next } {
	q = $at["start_s"] == "NA" ? "missing" : $at["start_s"] - $at["submit_s"]
	jct = $at["end_s"] == "NA" || $at["start_s"] == "NA" ? "missing" : $at["end_s"] - $at["submit_s"]
	work = $at["duration_s"] == "NA" ? "-" : $at["duration_s"] * $at["gpus"]
	print substr($at["job_id"], 15), $at["attempts"], $at["gpus"], q, $at["duration_s"], jct,
		$at["status"], work }' "$T/jobs.tsv" >"$T/table"
is "job, attempts, GPUs, queue, run, JCT, state, GPU-seconds" "$T/table" \
"0001 2 8 300 7800 8400 OK 62400
0002 0 NA missing NA missing CANCELLED -
0003 1 1 missing NA missing FAILED -
0004 1 2 60 NA missing RUNNING -
0005 1 6 10 1800 1810 OK 10800"
has "the raw status of the running job is kept" "$T/jobs.tsv" \
	'^application_1_0004	.*	RUNNING	1	m3:0\+1	Killed$'
has "the machines of a job are kept" "$T/jobs.tsv" '^application_1_0005	.*	m1:0\+1,m3:2\+3\+4\+5	Pass$'

sed 's/"end_time":"None"/"end_time":null/; s/"start_time":null/"start_time":"None"/' \
	"$C/cluster_job_log" >"$T/other"
run "null and \"None\" change places" 0 gf-trace -q --from philly --machines "$C/cluster_machine_list" "$T/other"
grep -v '^#input=' "$T/out" >"$T/a"
grep -v '^#input=' "$T/jobs.tsv" >"$T/b"
same "and mean the same" "$T/a" "$T/b"
run "span instead of sum" 0 gf-trace -q --from philly --attempts span "$C/cluster_job_log"
has "counts the gap between attempts" "$T/out" '^application_1_0001	.*	3900	12000	8100	8	OK'
run "the first attempt only" 0 gf-trace -q --from philly --attempts first "$C/cluster_job_log"
has "ends when that ends" "$T/out" '^application_1_0001	.*	3900	4500	600	8	OK'

run "strict mode" 1 gf-trace --strict --from philly --machines "$C/cluster_machine_list" "$C/cluster_job_log"
has "names the contradiction as the reason" "$T/err" '1 contradictions \(expected none, because of --strict\)'
is "and writes nothing" "$T/out" ""
run "strict mode without a machine list" 0 gf-trace -q --strict --from philly "$C/cluster_job_log"

run "the cluster that the log shows" 0 gf-trace -q --no-meta --from philly-cluster \
	--machines "$C/cluster_machine_list" "$C/cluster_job_log"
is "by the largest GPU index, whatever the list says" "$T/out" \
"node_type	nodes	gpus_per_node	gpus_used	gpus_listed	gpu_mem_gib
m1	1	8	8	2	12
m2	1	8	8	8	24
m3	1	6	6	8	24"
run "and without the list" 0 gf-trace -q --no-meta --from philly-cluster "$C/cluster_job_log"
has "the same" "$T/out" '^m1	1	8	8	NA	NA$'
