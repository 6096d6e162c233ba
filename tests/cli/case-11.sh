#!/bin/sh
# SPDX-License-Identifier: MIT
# Ties go by id, numbers inside ids as numbers: not by rows, hashes or threads.
. tests/cli/lib.sh
need_shared cases/11-sim-ties-and-row-order 30
C=$GOODFIT_SHARED/cases/11-sim-ties-and-row-order

for f in a b; do
	run "$f.csv is read" 0 gf-trace --from tiresias "$C/$f.csv"
	cp "$T/out" "$T/$f.tsv"
	run "$f: fifo" 0 gf-replay -p fifo -c 1x4 "$T/$f.tsv"
	cp "$T/out" "$T/$f.log"
	run "$f: per job" 0 gf-metrics --per-job --no-meta "$T/$f.log"
	cp "$T/out" "$T/$f.metrics"
done
same "the row order does not matter" "$T/a.metrics" "$T/b.metrics"
awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
	{ print $c["job_id"], $c["jct_s"] }' "$T/a.metrics" >"$T/got"
is "completion times" "$T/got" "j1 100
j2 200
j3 300
j10 300
j11 400"
run "metrics" 0 gf-metrics --no-meta "$T/a.log"
has "the mean is 260" "$T/out" '^jct_mean[a-z_]*[[:blank:]]260[[:blank:]]'
has "the makespan is 400" "$T/out" '^makespan[a-z_]*[[:blank:]]400[[:blank:]]'
for policy in fifo sjf srtf tiresias; do
	run "$policy" 0 gf-replay -p $policy -c 1x4 "$T/a.tsv"
	cp "$T/out" "$T/first"
	for k in 1 2 3 4 5 6 7 8 9; do
		gf-replay -p $policy --threads $k -c 1x4 "$T/a.tsv" >"$T/again" && cmp -s "$T/first" "$T/again" || break
	done
	same "$policy: ten runs give the same bytes, whatever the threads" "$T/first" "$T/again"
	run "$policy: b" 0 gf-replay -p $policy -c 1x4 "$T/b.tsv"
	grep -v '^#' "$T/first" >"$T/x"
	grep -v '^#' "$T/out" >"$T/y"
	same "$policy: a and b give the same log" "$T/x" "$T/y"
done
{ cat "$C/a.csv"; tail -n 1 "$C/a.csv"; } >"$T/twice.csv"
run "two jobs with one id are an error" 1 gf-trace --from tiresias "$T/twice.csv"
has "it names both lines" "$T/err" 'twice.csv:7:job_id: .*(first on )?line 6'
