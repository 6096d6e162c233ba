# SPDX-License-Identifier: MIT
# Case 05, line by line: bytes that real workload files carry.
. tests/cli/lib.sh
need_shared cases/05-csv-bom-crlf-cut-short 25
C=$GOODFIT_SHARED/cases/05-csv-bom-crlf-cut-short

run "plain.csv" 0 gf-trace --from pollux "$C/plain.csv"
cp "$T/out" "$T/plain"
grep -v '^#' "$T/plain" | cut -f 1-5 >"$T/rows"
is "the same three jobs: GPUs 2, 4, 1; submitted at 100, 160, 200" "$T/rows" \
"job_id	app	submit_s	gpus	batch_size
cifar10-0	cifar10	100	2	256
bert-1	bert	160	4	48
ncf,two-2	ncf	200	1	128"

run "bom-crlf.csv" 0 gf-trace --from pollux "$C/bom-crlf.csv"
same "its output is that of plain.csv, byte for byte" "$T/plain" "$T/out"
is "silently" "$T/err" ""
has "the last job is kept, its batch size is 128" "$T/out" '^ncf,two-2	ncf	200	1	128	NA$'
hasnt "no carriage return is left" "$T/out" "$(printf '\r')"

run "open-quote.csv" 1 gf-trace --from pollux "$C/open-quote.csv"
is "names the line where the quote opens" "$T/err" \
	"gf-trace: $C/open-quote.csv:3: quoted field without end (expected a closing quote)"
is "no job comes out" "$T/out" ""
run "open-quote.csv is not saved by --skip-bad" 1 gf-trace --from pollux --skip-bad 9 "$C/open-quote.csv"

run "short-row.csv" 1 gf-trace --from pollux "$C/short-row.csv"
is "names line and fields" "$T/err" "gf-trace: $C/short-row.csv:3: 4 fields, 5 expected"
is "no batch size is made up" "$T/out" ""

run "empty.csv" 1 gf-trace --from pollux "$C/empty.csv"
is "says that the file is empty" "$T/err" \
	"gf-trace: $C/empty.csv: empty file (expected a header row)"
run "header-only.csv" 0 gf-trace --from pollux "$C/header-only.csv"
is "with a note" "$T/err" "gf-trace: warning: $C/header-only.csv: no jobs"
has "and no jobs" "$T/out" '^#end rows=0$'
cp "$T/out" "$T/none.tsv"
for policy in fifo sjf srtf tiresias; do
	rc=0
	gf-replay --policy $policy --cluster 2x4 "$T/none.tsv" >"$T/log" 2>"$T/err" || rc=$?
	! grep -qi 'nan' "$T/log" && [ "$rc" -le 1 ] && ! grep -qi -e 'sanitizer' -e 'runtime error' "$T/err"
	ok "gf-replay --policy $policy with no jobs: no crash, no NaN" $?
done

run "no-batch-column.csv" 1 gf-trace --from pollux "$C/no-batch-column.csv"
is "names the missing column and those found" "$T/err" "gf-trace: $C/no-batch-column.csv:1: no column \
'batch_size' (found name, time, application, num_replicas)"
