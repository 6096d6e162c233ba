# SPDX-License-Identifier: MIT
# gf-claims: kinds of agreement at their edges, data, what is missing, recipes, faults; the shipped claims.
. tests/cli/lib.sh

mkdir "$T/f"
cat >"$T/f/runs.tsv" <<'END'
#fit-table/1
#data=public
policy	jct_h
fifo	2
sjf	1.5
none	NA
END
sed -i 's/^none/&/; $a #end rows=3' "$T/f/runs.tsv"
sed 's/public/shipped/' "$T/f/runs.tsv" >"$T/f/toy.tsv"

# claims ROW...: a table of claims; a row is CLAIM|PUBLISHED|AGREEMENT|TOLERANCE|DATA|HERE|NOTE
claims() {
	printf 'claim\tpaper\tplace\tquantity\tpublished\tagreement\ttolerance_pct\tdata\there\tnote\twhy\n'
	printf '%s\n' "$@" | awk -F '|' '{ print $1, "p", "there", "it", $2, $3, $4, $5, $6, $7, $4 == "NA" ? "NA" : "noise" }' OFS='\t'
}
# verdicts: "CLAIM|VERDICT|HERE|OFF", a row a line
verdicts() {
	run "judge" 0 gf-claims show -f "$T/f" --no-meta "$T/c.tsv"
	awk -F '\t' 'NR > 1 { printf "%s|%s|%.6g|%s\n", $1, $11, $9, $10 == "NA" ? "NA" : sprintf("%.4g", $10) }' \
		"$T/out" >"$T/verdicts"
}

# ---- agreement, at the edges ----
fifo='{runs jct_h policy=fifo}'
claims "exact|2.0|exact|NA|NA|$fifo|NA" "exact-rounds|2|exact|NA|NA|$fifo + 0.49|NA" \
	"exact-off|2.0|exact|NA|NA|$fifo + 0.06|NA" \
	"within|1.6|within|25|NA|$fifo|NA" "within-off|1.6|within|24|NA|$fifo|NA" \
	"range|1.9..2.1|within|NA|NA|$fifo|NA" "range-off|2.5..3|within|10|NA|$fifo|NA" \
	"ratio|3|ratio|50|NA|$fifo|NA" "ratio-off|3|ratio|49|NA|$fifo|NA" "ratio-up|1.6|ratio|25|NA|$fifo|NA" \
	"most|2|at-most|NA|NA|$fifo|NA" "most-off|1.9|at-most|5|NA|$fifo|NA" \
	"least|2|at-least|NA|NA|$fifo|NA" "least-off|2.2|at-least|5|NA|$fifo|NA" \
	"order|fifo is slower|ordering|NA|NA|$fifo > {runs jct_h policy=sjf}|NA" \
	"order-off|fifo is faster|ordering|NA|NA|$fifo < {runs jct_h policy=sjf}|NA" >"$T/c.tsv"
verdicts
is "each kind of agreement" "$T/verdicts" "exact|holds|2|0
exact-rounds|holds|2.49|24.5
exact-off|differs|2.06|3
within|holds|2|25
within-off|differs|2|25
range|holds|2|0
range-off|differs|2|-20
ratio|holds|2|-33.33
ratio-off|differs|2|-33.33
ratio-up|holds|2|25
most|holds|2|0
most-off|differs|2|5.263
least|holds|2|0
least-off|differs|2|-9.091
order|holds|1|NA
order-off|differs|0|NA"
run "strict" 1 gf-claims show -f "$T/f" --strict "$T/c.tsv"
run "strict, all hold" 0 gf-claims show -f "$T/f" --strict --only exact,within "$T/c.tsv"
lines "only what was asked for" "$T/out" 11
gf-claims show -f "$T/f" -v "$T/c.tsv" 2>"$T/err" >"$T/all"
is "the count" "$T/err" "gf-claims: 9 hold, 7 differ, 0 cannot be checked here"
gf-claims show -f "$T/f" "$T/c.tsv" -o "$T/s.h5:/v" && gf-diff "$T/all" "$T/s.h5:/v"
ok "into a store" $?

# ---- what cannot be checked ----
toy='{toy jct_h policy=fifo}'
claims "none|2|none|NA|NA|NA|the trace is not public" "table|2|exact|NA|NA|{gone x}|NA" \
	"row|2|exact|NA|NA|{runs jct_h policy=lifo}|NA" "cell|2|exact|NA|NA|{runs jct_h policy=none}|NA" \
	"column|2|exact|NA|NA|{runs jct_s}|NA" "rows|2|exact|NA|NA|{runs jct_h}|NA" \
	"toy|2|exact|NA|public|$toy|NA" "toy-any|2|exact|NA|any|$toy|NA" \
	"both|1|exact|NA|any|$toy / $fifo|NA" "zero|1|exact|NA|NA|1 / ($fifo - 2)|NA" >"$T/c.tsv"
verdicts
sed 's/cannot be checked here/cannot/' "$T/verdicts" >"$T/short"
is "verdicts" "$T/short" "none|cannot|0|NA
table|cannot|0|NA
row|cannot|0|NA
cell|cannot|0|NA
column|cannot|0|NA
rows|cannot|0|NA
toy|cannot|2|0
toy-any|holds|2|0
both|holds|1|0
zero|cannot|inf|NA"
awk -F '\t' 'NR > 1 { print $13 }' "$T/out" >"$T/why"
is "and why" "$T/why" "the trace is not public
no table gone: its recipe has not run
table runs: no such row
table runs: no number in column jct_h of row 3
table runs: no column 'jct_s'
table runs: 3 such rows (expected one)
found on generated data: needs the public data (scripts/fetch-public)
NA
NA
what is found here is no finite number"
printf '#fit-table/1\na\n1\n' >"$T/f/cut.tsv"
claims "a|1|exact|NA|NA|{cut a}|NA" >"$T/c.tsv"
run "a table that is cut" 1 gf-claims show -f "$T/f" -o "$T/none.tsv" "$T/c.tsv"
is "is no verdict" "$T/err" "gf-claims: $T/f/cut.tsv:3: truncated table (no #end after 1 rows)"
[ ! -e "$T/none.tsv" ]
ok "nothing is left" $?

# ---- faults of the claims ----
# fault ROW MESSAGE
fault() {
	claims "$1" >"$T/c.tsv"
	run "fault" 1 gf-claims show -f "$T/f" "$T/c.tsv"
	is "is said" "$T/err" "gf-claims: $T/c.tsv:2:$2"
}
fault "a|2|nearly|NA|NA|1|NA" "agreement: unknown agreement 'nearly' (expected exact, within, ratio, at-most, \
at-least, ordering or none)"
fault "a|two|exact|NA|NA|1|NA" "published: bad number 'two' (expected a number or LOW..HIGH)"
fault "a|3..2|exact|NA|NA|1|NA" "published: bad number '3..2' (expected a number or LOW..HIGH)"
fault "a|0|ratio|NA|NA|1|NA" "published: a ratio is above 0"
fault "a|2|exact|NA|NA|1 +|NA" "here: bad formula at 'its end' (expected a number, {, ( or a function)"
fault "a|2|exact|NA|NA|NA|NA" "here: no formula (only claims of agreement 'none' have none)"
fault "a|2|none|NA|NA|1|x" "here: a formula of what cannot be checked (expected NA)"
fault "a|2|none|NA|NA|NA|NA" "note: nothing says what is missing"
fault "a|2|within|-1|NA|1|NA" "tolerance_pct: a tolerance is not below 0 and has a reason"
fault "a|2|exact|NA|secret|1|NA" "data: unknown data 'secret' (expected public or any)"
claims "a|1|exact|NA|NA|1|NA" "a|1|exact|NA|NA|1|NA" >"$T/c.tsv"
run "a claim twice" 1 gf-claims show "$T/c.tsv"
is "is said" "$T/err" "gf-claims: $T/c.tsv:3:claim: 'a' is there already"
claims "a|1|exact|NA|NA|1|NA" >"$T/c.tsv"
run "a claim that is not there" 2 gf-claims show --only a,b "$T/c.tsv"
has "is named" "$T/err" "^gf-claims: --only: no claim 'b' among the claims$"
run "a paper that is not there" 2 gf-claims show --paper x "$T/c.tsv"

# ---- recipes ----
mkdir "$T/r"
cat >"$T/r/good" <<'END'
#!/bin/sh
echo "good in $1, $JOBS at a time"
printf 'x\n7\n' >"$1/good.tsv"
echo run >>"$1/times"
END
printf '#!/bin/sh\nexit 4\n' >"$T/r/bad"
chmod +x "$T/r/good" "$T/r/bad"
mkdir "$T/o"
printf 'claim\tpaper\tplace\tquantity\tpublished\tagreement\trecipes\there\n' >"$T/c.tsv"
printf 'a\tp\tt\tq\t7\texact\tgood\t{good x}\nb\tp\tt\tq\t8\texact\tgood,bad\t{good x}\nc\tq\tt\tq\t8\texact\tbad\t{bad x}\n' \
	>>"$T/c.tsv"
run "a recipe that fails" 3 gf-claims run -j 3 -r "$T/r" -f "$T/o" "$T/c.tsv"
is "is named; the others run" "$T/err" "good in $T/o, 3 at a time
gf-claims: $T/r/bad: failed (status 4)"
has "and are judged" "$T/out" "^a	p	.*	holds	"
has "and differ" "$T/out" "^b	p	.*	differs	"
has "what the failed one would have made cannot be checked" "$T/out" "^c	q	.*	cannot be checked here	.*no table bad"
lines "each runs once" "$T/o/times" 1
run "one paper" 0 gf-claims run -r "$T/r" -f "$T/o" --only a "$T/c.tsv"
run "no such recipe" 3 gf-claims run -r "$T/none" -f "$T/o" --only a "$T/c.tsv"
is "is said" "$T/err" "gf-claims: cannot open folder $T/none: No such file or directory"
[ ! -s "$T/out" ]
ok "and nothing is judged" $?
run "no such recipe among others" 3 gf-claims run -r "$T" -f "$T/o" --only a "$T/c.tsv"
is "is said" "$T/err" "gf-claims: cannot run $T/good: No such file or directory"
for bad in ../r/good /bin/true .good good,,bad ,good a/b; do
	sed "s|	good	{good x}$|	$bad	{good x}|" "$T/c.tsv" >"$T/bad.tsv"
	run "a recipe '$bad'" 1 gf-claims run -r "$T/r" -f "$T/o" "$T/bad.tsv"
	has "is none" "$T/err" ":recipes: bad recipe '.*' \(expected names of files in one folder, separated by commas\)$"
done

# ---- what is shipped ----
run "the shipped claims are sound" 0 gf-claims show -f "$T/none" data/claims.tsv
is "a folder that is not there is told" "$T/err" \
	"gf-claims: warning: cannot open folder $T/none: No such file or directory"
awk -F '\t' '/^#/ { next } !n++ { next } { v[$11]++; p[$2]++ } END { print v["holds"] + v["differs"]
	exit !(p["pollux"] >= 20 && p["boa"] >= 15 && p["lucid"] >= 1 && n > 60) }' "$T/out" >"$T/n"
ok "more than sixty, of three papers" $?
is "nothing is judged without tables" "$T/n" 0
awk -F '\t' '/^#/ { next } $1 == "claim" { next } $8 + 0 > 25 { print $1, $8 }' "$T/out" >"$T/loose"
is "no tolerance is wider than a quarter" "$T/loose" ""
gf-table convert data/claims.tsv --no-meta | awk -F '\t' 'NR > 1 { n = split($11, r, ","); for (i = 1; i <= n; i++) print r[i] }' |
	sort -u | while read -r recipe; do
	[ "$recipe" = NA ] || [ -x "figures/$recipe" ] || echo "$recipe"
done >"$T/missing"
is "each recipe is there" "$T/missing" ""
