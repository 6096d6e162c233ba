# SPDX-License-Identifier: MIT
# Case 08, line by line: a log in the Standard Workload Format.
. tests/cli/lib.sh
need_shared cases/08-swf-minus-one-and-comments 15
L=$GOODFIT_SHARED/cases/08-swf-minus-one-and-comments/log.swf

run "strict" 1 gf-trace --gpus-from processors --from swf "$L"
is "stops at the short line" "$T/err" "gf-trace: $L:18: 8 fields, 18 expected"
run "tolerant" 0 gf-trace --gpus-from processors --skip-bad=1 --from swf "$L"
cp "$T/err" "$T/said"
cols "job_id submit_s start_s duration_s gpus status" >"$T/rows"
is "six jobs" "$T/rows" \
"1 0 10 3600 8 OK
2 60 NA NA 16 CANCELLED
3 120 125 0 4 OK
4 180 180 12.5 2 OK
6 300 300 1000 32 OK
7 360 360 100 96 OK"
has "job 5 has no count, line 13" "$T/said" \
	': 1 job without a count of processors left out, the first on line 13$'
has "the partial executions of job 6 are no jobs" "$T/said" ': 2 partial executions passed over '
has "job 7 is larger than the machine" "$T/said" \
	': 1 job with more processors than MaxProcs 64, such as job 7 on line 17$'
has "job 8 is counted" "$T/said" ': 1 bad record left out \(1 ragged row\)$'
has "MaxProcs" "$T/out" '^#swf_max_procs=64$'
has "MaxNodes" "$T/out" '^#swf_max_nodes=16$'
has "time 0 is 2023-11-14T22:13:20Z" "$T/out" '^#origin=2023-11-14T22:13:20[+]00:00$'
cols "duration_s gpus" | awk '$1 != "NA" { n++; s += $1 * $2 } END { print n, s }' >"$T/rows"
is "five can run; processors times seconds" "$T/rows" "5 70425"
grep -v '^#' "$T/out" >"$T/rows"
hasnt "nothing negative" "$T/rows" '(^|	)-[0-9]'
awk -F '\t' '$8 != "NA"' "$T/rows" >"$T/jobs.tsv"
printf 'node_type\tnodes\tgpus_per_node\nnode\t16\t4\n' >"$T/cluster.tsv"
run "a replay on 64 processors" 1 gf-replay -p fifo -c "$T/cluster.tsv" "$T/jobs.tsv"
is "refuses job 7" "$T/err" "gf-replay: $T/jobs.tsv: job 7 asks for 96 GPUs, the cluster has 64 \
(--skip-too-large rejects such jobs)"
