# SPDX-License-Identifier: MIT
# gf-plot trace-cdf and diurnal: what is drawn of a jobs table, what is left out, faults.
. tests/cli/lib.sh
need_tool gnuplot 21

JOBS=$TOP/tests/data/select-jobs.tsv
cd "$T" || exit 99

# points FIGURE: the data as "x y" lines, the last y at each x (steps are drawn by their corners)
points() {
	grep -v -e '^#' -e '^$' "$1.dat" | awk 'NR > 1 && $1 != x { print x, y } { x = $1; y = $2 }
		END { print x, y }'
}

run "durations" 0 gf-plot trace-cdf -o d.svg "$JOBS"
is "who has none is counted" "$T/err" \
	"gf-plot: warning: $JOBS: 2 of 8 jobs left out (the value is missing)"
points d >found
# 60 60 300 600 1000 3600 s, in minutes
printf '%s\n' '0 0' '1 2' '5 3' '10 4' '16.6667 5' '60 6' | awk '{ printf "%.4f %.4f\n", $1, $2 / 6 }' >want
awk '{ printf "%.4f %.4f\n", $1, $2 }' found >found4
same "the steps of the durations" want found4
run "GPUs, logarithmic" 0 gf-plot trace-cdf -q --of gpus --log-x -o g.svg "$JOBS"
points g >found
# 0 0.25 1 2 4 8 16: the 0 is left of the axis
printf '%s\n' '0.25 2' '1 3' '2 4' '4 5' '8 6' '16 7' | awk '{ printf "%.4f %.4f\n", $1, $2 / 7 }' >want
awk '{ printf "%.4f %.4f\n", $1, $2 }' found >found4
same "the steps of the GPUs" want found4
has "powers of two at the axis" g.gp "'0\.5'"
run "GPU-hours" 0 gf-plot trace-cdf --of gpu-hours -o h.svg "$JOBS"
is "jobs without GPUs or duration are counted" "$T/err" \
	"gf-plot: warning: $JOBS: 3 of 8 jobs left out (the value is missing)"
points h | tail -n 1 | awk '{ printf "%.6f %g\n", $1, $2 }' >found
is "the largest" found "0.666667 1"
run "times between submissions" 0 gf-plot trace-cdf --of interarrival --log-x -o i.svg "$JOBS"
is "none is missing" "$T/err" ""
grep -v -e '^#' -e '^$' i.dat | sed -n 1p | awk '{ printf "%g %.4f\n", $1, $2 }' >found
is "one of seven is 0" found "10.25 0.1429"
has "they are a fraction of submissions" i.gp 'fraction of submissions'

run "a day" 0 gf-plot diurnal --label here -o day.svg "$JOBS"
points day | sed -n '1,4p;$p' >found
is "the mean of the hours from first to last" found "0 1
1 1.5
2 1.5
3 0
24 0"
run "two traces" 0 gf-plot diurnal --label a --label b -o two.svg "$JOBS" "$JOBS"
has "have a legend" two.gp "'b'"

sed 's/	RUNNING	/	SLEEPING	/' "$JOBS" >bad.tsv
run "an unknown status" 1 gf-plot trace-cdf bad.tsv
has "is named with its line" "$T/err" "bad.tsv:8:status: unknown status 'SLEEPING'"
printf 'job_id\tgpus\tsubmit_s\na\t1\tNA\n' >none.tsv
run "no duration at all" 1 gf-plot trace-cdf none.tsv
has "says so" "$T/err" 'none.tsv: no job with a value'
run "no submission at all" 1 gf-plot diurnal none.tsv
