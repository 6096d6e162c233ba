# SPDX-License-Identifier: MIT
# gf-gavel: shares of the time on several GPU types, and what objectives come to.
. tests/cli/lib.sh
D=tests/data
R=$D/gavel-rates.tsv J=$D/gavel-jobs.tsv C=fast:2x2,mid:1x4,slow:4x1

# Two jobs of one GPU, one GPU of each type: with a of the fast one for job a, 1 + a and 3 - 2 a steps a second.
printf 'gpu_type\tapp\tgpus\tsteps_per_s\nfast\tp\t1\t2\nslow\tp\t1\t1\nfast\tq\t1\t3\nslow\tq\t1\t1\n' >"$T/rates"
printf 'job_id\tapp\tgpus\twork\na\tp\t1\t30\nb\tq\t1\t30\n' >"$T/jobs"
run "shares" 0 gf-gavel allocate -p min-makespan -r "$T/rates" -c fast:1x1,slow:1x1 "$T/jobs"
has "all are done after 30 / (5 / 3) s" "$T/out" '^#value=1[78](\.[09]*[0-9]*)?$'
awk -F '\t' '/^#/ || $1 == "job_id" { next } { printf "%s %s %.4f %g\n", $1, $2, $3, $4 }' "$T/out" >"$T/found"
is "the shares are those of the hand" "$T/found" "a fast 0.6667 2
a slow 0.3333 1
b fast 0.3333 3
b slow 0.6667 1"
run "objectives" 0 gf-gavel objectives --no-meta -r "$T/rates" -c fast:1x1,slow:1x1 "$T/jobs"
awk -F '\t' '{ print $1, NR == 1 ? $2 : sprintf("%.6g", $2), $4 }' "$T/out" >"$T/found"
is "are those of the hand" "$T/found" "objective value unit
max-min-fairness 1 ratio
max-min-fairness-agnostic 1 ratio
min-makespan 18 s
finish-time-fairness 1 ratio
max-throughput 4 steps/s
isolated 1 ratio
fifo 3 steps/s"
run "prices" 0 gf-gavel objectives --no-meta --gpu-price fast=4 -r "$T/rates" -c fast:1x1,slow:1x1 "$T/jobs"
has "count in throughput" "$T/out" '^max-throughput	1\.75	'

# Every objective is optimal by its own bound, and its shares fit.
run "more jobs" 0 gf-gavel objectives --no-meta -r $R -c $C $J
awk -F '\t' 'NR > 1 { d = $2 / $3 - 1; if (d > 2e-9 || d < -2e-9) print $1, $2, $3 }' "$T/out" >"$T/found"
is "value and bound meet" "$T/found" ""
for o in max-min-fairness min-makespan finish-time-fairness max-throughput isolated fifo; do
	run "$o" 0 gf-gavel allocate --no-meta -p $o -r $R -c $C $J
	awk -F '\t' -v o=$o 'FNR == 1 { next } NR == FNR { if (/^[0-9]/) gpus[$1] = $4; next }
		{ row[$1] += $3; type[$2] += $3 * gpus[$1]; if ($3 < 0 || ($3 > 0 && !($4 > 0) && o != "isolated")) print }
		END { for (j in row) if (row[j] > 1.000001) print j, row[j]
			for (t in type) if (type[t] > 4.000001) print t, type[t] }' $J "$T/out" >"$T/found"
	is "$o: fits" "$T/found" ""
done
cp "$T/out" "$T/once"
run "again" 0 gf-gavel allocate --no-meta -p fifo -r $R -c slow:4x1,mid:1x4,fast:2x2 $J
sort "$T/once" >"$T/a"
sort "$T/out" >"$T/b"
same "types in another order, the same shares" "$T/a" "$T/b"
# a job of four GPUs, on types of two
printf 'gpu_type\tapp\tgpus\tsteps_per_s\nfast\tp\t1\t2\nfast\tp\t4\t6\nslow\tp\t1\t1\nslow\tp\t4\t3\n' >"$T/rates4"
printf 'job_id\tapp\tgpus\twork\na\tp\t4\t30\n' >"$T/four"
run "a job that fits no type" 1 gf-gavel objectives -r "$T/rates4" -c fast:1x2,slow:1x2 "$T/four"
is "is a fault" "$T/err" "gf-gavel: $T/four:2:app: 'p' on 4 GPUs runs on no type of the cluster (expected a rate above 0)"
run "--split" 0 gf-gavel objectives --no-meta --split -r "$T/rates4" -c fast:1x2,slow:1x2 "$T/four"
has "half of the time on each" "$T/out" '^max-throughput	4\.5	'
# limits: job a is to be done in 1.2 times its fastest, 18 s: 1 + a >= 5 / 3
printf 'job_id\tapp\tgpus\twork\tslo\na\tp\t1\t30\t1.2\nb\tq\t1\t30\tNA\n' >"$T/limited"
run "--limits" 0 gf-gavel objectives --no-meta --limits -r "$T/rates" -c fast:1x1,slow:1x1 "$T/limited"
awk -F '\t' '$1 == "max-throughput" { printf "%.6f\n", $2 }' "$T/out" >"$T/found"
is "are kept" "$T/found" "3.333333"
sed 's/1.2$/0.9/' "$T/limited" >"$T/late"
run "limits that cannot be kept" 0 gf-gavel allocate -p max-throughput --limits -r "$T/rates" -c fast:1x1,slow:1x1 "$T/late"
is "are ignored, and that is said" "$T/err" "gf-gavel: warning: no shares keep all limits: they are ignored"

# ---- faults ----
fault() {	# NAME SED MESSAGE, of the jobs
	sed "$2" "$T/limited" >"$T/bad"
	run "$1" 1 gf-gavel objectives -r "$T/rates" -c fast:1x1,slow:1x1 "$T/bad"
	is "$1: the message" "$T/err" "gf-gavel: $T/bad:$3"
}
fault "no steps" '2s/30/0/' "2:work: out of range '0' (expected more than 0)"
fault "half a GPU" '3s/	1	/	1.5	/' "3:gpus: 1.5 GPUs (expected a whole number)"
fault "an SLO of nothing" '2s/1.2/0/' "2:slo: out of range '0' (expected more than 0)"
fault "an application without rates" '3s/q/z/' \
	"3:app: 'z' on 1 GPUs runs on no type of the cluster (expected a rate above 0)"
fault "no jobs" '2,$d' " no jobs (expected some)"
sed '2s/2$/-2/' "$T/rates" >"$T/bad"
run "a negative rate" 1 gf-gavel objectives -r "$T/bad" -c fast:1x1 "$T/jobs"
is "a negative rate: the message" "$T/err" \
	"gf-gavel: $T/bad:2:steps_per_s: out of range '-2' (expected 0, does not fit, or more)"
awk -F '\t' -v OFS='\t' 'NR > 1 { $NF = NR % 2 ? 1e-200 : 1e200 } { print }' "$T/rates" >"$T/bad"
run "rates that no programme takes" 1 gf-gavel allocate -p min-makespan -r "$T/bad" -c fast:1x1,slow:1x1 "$T/jobs"
is "rates that no programme takes: the message" "$T/err" "gf-gavel: shares of 2 jobs: rates, or steps left, too far \
apart for a linear programme (expected a factor below 1e+100)"
sed 3p "$T/rates" >"$T/bad"
run "a rate twice" 1 gf-gavel objectives -r "$T/bad" -c fast:1x1 "$T/jobs"
is "a rate twice: the message" "$T/err" \
	"gf-gavel: $T/bad:4:app: 'p' on 1 'slow' twice (expected one row of each)"
run "no types" 2 gf-gavel objectives -r $R -c 4x1 $J
has "no types: the message" "$T/err" "^gf-gavel: bad value '4x1' for --cluster \(expected GPU types: "
run "no such objective" 2 gf-gavel allocate -p best -r $R -c $C $J
has "no such objective: the message" "$T/err" "^gf-gavel: unknown objective 'best'"
run "a price of no type" 2 gf-gavel objectives --gpu-price gold=1 -r $R -c $C $J
has "a price of no type: the message" "$T/err" "^gf-gavel: bad value 'gold=1' for --gpu-price"
