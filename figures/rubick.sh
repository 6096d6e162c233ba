# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# variables of figures/lib.sh
# shellcheck disable=SC2154,SC2034
# Rubick's workload: `. figures/rubick.sh` after figures/lib.sh. Leaves its jobs in $OUT/$jobs; on shipped data these are
# of two made-up models, whose measured plans are tests/data/prof-rubick-placements.tsv.

rubick=$shared/public/rubick-mlsys25
make_rubick_jobs() {
	if [ "$FIGURE_DATA" = public ]; then
		gf-trace -q --from rubick "$rubick/workloads/workload-base.csv" -o "$made"
	else
		awk 'BEGIN { OFS = "\t"; print "job_id", "submit_s", "app", "gpus", "work"
			for (i = 0; i < 24; i++) print i % 3 ? "wren-" i : "lark-" i, 150 * i, i % 3 ? "wren" : "lark", 2, 400 + 25 * (i % 5) }' >"$made"
	fi
}
jobs=inputs/$FIGURE_DATA-rubick-jobs.tsv
into "$jobs" make_rubick_jobs
