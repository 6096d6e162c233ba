#!/bin/sh
# SPDX-License-Identifier: MIT
# A job that can never fit: refused before the replay starts, or rejected on request, under every
# policy that needs no profile.
. tests/cli/lib.sh
need_shared cases/09-sim-job-larger-than-cluster 30
C=$GOODFIT_SHARED/cases/09-sim-job-larger-than-cluster

run "the cluster file is read without its last line feed" 0 gf-trace --from tiresias-cluster "$C/cluster.csv"
cp "$T/out" "$T/cluster.tsv"
run "the jobs are read" 0 gf-trace --from tiresias "$C/jobs.csv"
cp "$T/out" "$T/jobs.tsv"

for policy in fifo sjf srtf tiresias; do
	run "$policy refuses up front" 1 timeout 5 gf-replay -p $policy -c "$T/cluster.tsv" "$T/jobs.tsv"
	is "$policy names the job" "$T/err" "gf-replay: $T/jobs.tsv: job 1 asks for 16 GPUs, the cluster has 8 (--skip-too-large rejects such jobs)"
	is "$policy writes nothing" "$T/out" ""
	run "$policy rejects it on request" 0 timeout 5 gf-replay -p $policy -c "$T/cluster.tsv" --skip-too-large \
		"$T/jobs.tsv"
	is "$policy counts it" "$T/err" "gf-replay: warning: $T/jobs.tsv: 1 job larger than the cluster rejected"
	cp "$T/out" "$T/$policy.log"
	run "$policy: the verifier agrees" 0 gf-verify --jobs "$T/jobs.tsv" "$T/$policy.log"
	run "$policy: metrics" 0 gf-metrics --no-meta "$T/$policy.log"
	has "$policy: three jobs are in the averages" "$T/out" '^finished[[:blank:]]3[[:blank:]]'
	has "$policy: one is not" "$T/out" '^rejected[[:blank:]]1[[:blank:]]'
done

run "fifo: per job" 0 gf-metrics --per-job --no-meta "$T/fifo.log"
awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
	$c["jct_s"] != "NA" { print $c["job_id"], $c["start_s"], $c["end_s"], $c["jct_s"] }' "$T/out" >"$T/got"
is "fifo: start, end, completion time" "$T/got" "0 0 100 100
2 20 120 100
3 120 130 100"
run "fifo: metrics" 0 gf-metrics --no-meta "$T/fifo.log"
has "fifo: the mean is 100" "$T/out" '^jct_mean[a-z_]*[[:blank:]]100[[:blank:]]'
has "fifo: the makespan is 130" "$T/out" '^makespan[a-z_]*[[:blank:]]130[[:blank:]]'

run "a negative GPU count is an error" 1 gf-trace --from tiresias "$C/jobs-zero.csv"
has "it names the line" "$T/err" "jobs-zero.csv:4:num_gpu: "
head -3 "$C/jobs-zero.csv" >"$T/cpu.csv"
run "a job without GPUs is kept as a CPU job" 0 gf-trace --from tiresias "$T/cpu.csv"
cp "$T/out" "$T/cpu.tsv"
run "and left out of the replay" 0 gf-replay -c 2x4 "$T/cpu.tsv"
is "with a note" "$T/err" "gf-replay: warning: $T/cpu.tsv: 1 job without GPUs left out"
