#!/bin/sh
# SPDX-License-Identifier: MIT
# Preemption gives everything back, however often it happens.
. tests/cli/lib.sh
need_shared cases/10-sim-preemption-releases-everything 12
C=$GOODFIT_SHARED/cases/10-sim-preemption-releases-everything

run "the jobs are read" 0 gf-trace --from tiresias "$C/jobs.csv"
cp "$T/out" "$T/jobs.tsv"
for interval in 0 10; do
	run "interval $interval: srtf" 0 gf-replay -p srtf -c 1x4 -i $interval "$T/jobs.tsv"
	cp "$T/out" "$T/log"
	run "interval $interval: the verifier agrees" 0 gf-verify --jobs "$T/jobs.tsv" "$T/log"
done
run "srtf by events" 0 gf-replay -p srtf -c 1x4 "$T/jobs.tsv"
cp "$T/out" "$T/log"
run "per job" 0 gf-metrics --per-job --no-meta "$T/log"
awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
	$c["job_id"] == "0" { print $c["start_s"], $c["end_s"], $c["jct_s"], $c["preemptions"] }' "$T/out" >"$T/got"
is "job 0: start, end, completion time, preemptions" "$T/got" "0 1200 1200 20"
awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
	$c["job_id"] != "0" { n++; if ($c["start_s"] != $c["submit_s"] || $c["jct_s"] != 10) bad = 1 }
	END { exit bad || n != 20 }' "$T/out"
ok "the others start at once and take 10 s" $?
run "metrics" 0 gf-metrics --no-meta "$T/log"
has "mean completion time 1400/21" "$T/out" '^jct_mean[a-z_]*[[:blank:]]66\.66666666666667[0-9]*[[:blank:]]'
has "makespan" "$T/out" '^makespan[a-z_]*[[:blank:]]1200[[:blank:]]'
has "busy all the time" "$T/out" '^utilisation[[:blank:]]1[[:blank:]]'
run "tiresias refuses nobody" 0 gf-replay -p tiresias --tiresias-threshold 3600 -c 1x4 "$T/jobs.tsv"
cp "$T/out" "$T/log"
run "and the verifier agrees" 0 gf-verify --jobs "$T/jobs.tsv" "$T/log"
