# SPDX-License-Identifier: MIT
# gf-boa: frontiers, plans and certificates of small invented classes; budgets that are too small, bad tables.
. tests/cli/lib.sh
D=tests/data
s=$D/boa-speedups.tsv c=$D/boa-classes.tsv
s2=$D/boa-two-types.tsv c2=$D/boa-two-types-classes.tsv
prices="--gpu-price small=1 --gpu-price large=3"

cell() {	# FILE COLUMN [ROW]
	awk -F '\t' -v want="$2" -v row="${3:-1}" '/^#/ { next }
		!n++ { for (i = 1; i <= NF; i++) c[$i] = i; next } n == row + 1 { print $c[want] }' "$1"
}
check_cell() {	# NAME TEST of awk, with one cell as x: FILE COLUMN ROW
	x=$(cell "$3" "$4" "${5:-1}")
	awk -v x="$x" "BEGIN { exit !($2) }"
	ok "$1 ($x)" $?
}

# ---- frontier ----
run "frontier" 0 gf-boa frontier --free-rescale --classes $c $s
golden "the whole frontier, epoch by epoch" "$T/out" $D/boa-frontier.tsv
run "with rescale times" 0 gf-boa frontier --classes $c $s
golden "by class" "$T/out" $D/boa-frontier-rescale.tsv
cp "$T/out" "$T/frontier"
run "vertices" 0 gf-boa frontier --vertices --classes $c $s
golden "the plans of each class" "$T/out" $D/boa-vertices-rescale.tsv
run "from standard input, other threads" 0 sh -c "gf-boa frontier --threads 4 --classes $c <$s"
same "the same bytes" "$T/frontier" "$T/out"
{ head -n 3 $s; grep -v -e '^#' -e '^class' $s | sort -r; tail -n 1 $s; } >"$T/mixed.tsv"
run "rows in another order" 0 gf-boa frontier --no-meta --classes $c "$T/mixed.tsv"
grep -v '^#' "$T/frontier" >"$T/a"
same "the same frontier" "$T/a" "$T/out"
run "two types of GPU, a job keeps its type" 0 gf-boa frontier $prices --vertices --classes $c2 $s2
golden "the plans of both" "$T/out" $D/boa-two-types-vertices.tsv
run "-v" 0 gf-boa frontier -v --free-rescale --classes $c $s
has "names widths that are cheaper than the least" "$T/err" "class 'text', epoch 0: 4 GPUs are cheaper than 2$"

# a frontier falls, and is convex
convex() {
	awk -F '\t' '/^#/ || /^step/ { next } { if (n++) { m = (j - $3) / ($2 - b); if ($2 <= b || $3 >= j || (n > 2 && m > last * (1 + 1e-9))) bad = 1; last = m }
		b = $2; j = $3 } END { exit bad || n < 3 }' "$1"
	ok "$2" $?
}
convex "$T/frontier" "it falls, ever more slowly"
for routing in class epoch; do
	run "routing by $routing" 0 gf-boa frontier $prices --routing $routing --classes $c2 $s2
	convex "$T/out" "routing by $routing: it falls, ever more slowly"
	cp "$T/out" "$T/$routing"
done
# who may change the type is never worse
for b in 8.2 9.5 12; do
	run "budget $b, a type for life" 0 gf-boa solve $prices --routing class --summary -b $b --classes $c2 $s2
	a=$(cell "$T/out" mean_jct_s)
	run "budget $b, a type an epoch" 0 gf-boa solve $prices --routing epoch --summary -b $b --classes $c2 $s2
	check_cell "is not worse" "x <= $a * (1 + 1e-12)" "$T/out" mean_jct_s
done

# ---- solve ----
run "solve" 0 gf-boa solve -b 28 --classes $c $s
golden "the widths of each class" "$T/out" $D/boa-plans.tsv
cp "$T/out" "$T/plans"
run "with -o" 0 gf-boa solve -b 28 --classes $c -o "$T/p.tsv" $s
same "the same plans" "$T/plans" "$T/p.tsv"
run "--summary" 0 gf-boa solve --summary -b 28 -b 23.5 -b 99 --classes $c $s
golden "a row for each budget" "$T/out" $D/boa-summary.tsv
check_cell "the cost is the budget" "x > 28 * (1 - 1e-14) && x < 28 * (1 + 1e-14)" "$T/out" cost
check_cell "no gap" "x >= 0 && x < 1e-12" "$T/out" gap
check_cell "one class is mixed" 'x == "vision" || x == "speech" || x == "text"' "$T/out" mixed_class
check_cell "above the largest useful budget nothing has a price" "x == 0" "$T/out" mu 3
check_cell "and money is left" "x < 40" "$T/out" cost 3
mixed=$(cell "$T/out" mean_jct_s)
run "--plans pure" 0 gf-boa solve --summary --plans pure -b 28 --classes $c $s
check_cell "is not better" "x >= $mixed" "$T/out" mean_jct_s
check_cell "prints its gap" "x > 1e-6 && x < 0.1" "$T/out" gap
pure=$(cell "$T/out" mean_jct_s)
run "--method micp" 0 gf-boa solve --summary --plans pure --method micp -b 28 --classes $c $s
check_cell "finds the same" "x == $pure" "$T/out" mean_jct_s
run "--no-fixing" 0 gf-boa solve --summary --plans pure --method micp --no-fixing -b 28 --classes $c $s
check_cell "and so with all widths" "x == $pure" "$T/out" mean_jct_s
run "--max-nodes" 0 gf-boa solve --summary --plans pure --method micp --no-fixing --max-nodes 1 -b 28 --classes $c $s
check_cell "finds something near, or the same" "x >= $pure" "$T/out" mean_jct_s
run "--max-labels" 0 gf-boa solve --summary --plans pure --max-labels 1000 -b 28 --classes $c $s
run "--method heuristic" 0 gf-boa solve --summary --method heuristic -b 28 --classes $c $s
check_cell "is within a few percent" "x >= 0 && x < 0.05" "$T/out" gap
run "a gap of single plans" 1 gf-boa solve --plans mixed --method heuristic -b 20.58 --classes $c2 $s2
run "pure plans" 0 gf-boa solve --plans pure -b 28 --classes $c $s
lines "have one row an epoch" "$T/out" $(($(grep -c '^#' "$T/out") + 7))
grep -v '^#' "$T/out" | awk -F '\t' 'NR > 1 && ($2 != 0 || $3 != 1) { bad = 1 } END { exit bad }'
ok "and all jobs on them" $?
grep -q '^#gap=0[.]0' "$T/out"
ok "and say their gap" $?
cp "$T/out" "$T/pure"

# ---- infeasible ----
run "a budget that is too small" 1 gf-boa solve -b 12 --classes $c $s
is "names the smallest one, and the classes" "$T/err" "gf-boa: infeasible budget '12' (expected at least \
20.572814142379361: text 7.38462, vision 6.8, speech 6.3882 at their cheapest widths)"
is "and writes nothing" "$T/out" ""
run "also for --plans pure" 1 gf-boa solve --plans pure -b 12 --classes $c $s
run "and --method micp" 1 gf-boa solve --plans pure --method micp -b 12 --classes $c $s
run "and --method heuristic" 1 gf-boa solve --method heuristic -b 12 --classes $c $s
run "the smallest one is enough" 0 gf-boa solve --summary -b 20.572814142379361 --classes $c $s
run "a bit less is not" 1 gf-boa solve -b 20.5728141 --classes $c $s
awk -F '\t' 'BEGIN { OFS = "\t"; print "class", "epoch", "gpus", "work", "speed_per_s"
	for (i = 1; i <= 7; i++) print "c" i, 0, 1, i, 1 }' >"$T/seven.tsv"
awk -F '\t' 'BEGIN { OFS = "\t"; print "class", "arrival_rate_per_s"; for (i = 1; i <= 7; i++) print "c" i, 1 }' >"$T/seven.c"
run "many classes" 1 gf-boa solve -b 27 --classes "$T/seven.c" "$T/seven.tsv"
is "the dearest are named" "$T/err" "gf-boa: infeasible budget '27' (expected at least 28: c7 7, c6 6, c5 5, c4 4, c3 3, \
and 2 more at their cheapest widths)"

# ---- certify ----
# nothing of what finds plans is in what certifies them
if command -v nm >/dev/null 2>&1 && [ -f "$B/libfit/model/boa_certify.o" ]; then
	nm -u "$B/libfit/model/boa_certify.o" | sed -n 's/^ *U \(fit_.*\)/\1/p' |
		grep -v -x -e fit_boa_classes_find -e fit_speedups_find -e fit_meta_get -e fit_parse_double \
			-e fit_fail -e fit_fail_nomem -e fit_grow -e fit_text_of >"$T/shared-code"
	is "its object calls nothing of the solver" "$T/shared-code" ""
	nm "$B/libfit/model/boa_certify.o" | grep -q ' T fit_boa_certify$'
	ok "it is the object" $?
else
	skip "no nm, or no object files" 2
fi
run "certify" 0 gf-boa certify --speedups $s --classes $c "$T/plans"
grep -v '^#' "$T/out" | cut -f 1,4 >"$T/a"
cat >"$T/b" <<'EOT'
check	verdict
shares	holds
unusable-widths	holds
type-changes	holds
over-budget	holds
negative-price	holds
slackness	holds
stationarity	holds
gap	holds
cost	NA
mean_jct_s	NA
bound_s	NA
candidates	NA
EOT
same "every check holds" "$T/b" "$T/a"
run "two types" 0 sh -c "gf-boa solve $prices -b 9 --classes $c2 $s2 >$T/p2.tsv && gf-boa certify --speedups $s2 --classes $c2 $T/p2.tsv"
run "two types, by epoch, free" 0 sh -c "gf-boa solve $prices --free-rescale -b 9 --classes $c2 $s2 >$T/p3.tsv &&
	gf-boa certify --speedups $s2 --classes $c2 $T/p3.tsv"
run "charged from the start" 0 sh -c "gf-boa solve --charge-start -b 28 --classes $c $s >$T/p4.tsv &&
	gf-boa certify --speedups $s --classes $c $T/p4.tsv"
run "single plans are not the optimum" 1 gf-boa certify --speedups $s --classes $c "$T/pure"
grep -q "^gap	.*	fails	" "$T/out"
ok "by their gap" $?
run "but near" 0 gf-boa certify --tolerance 0.1 --speedups $s --classes $c "$T/pure"
fails() {	# NAME CHECK SCRIPT: plans changed by awk fail that check
	awk -F '\t' -v OFS='\t' "$3" "$T/plans" >"$T/bad.tsv"
	cmp -s "$T/plans" "$T/bad.tsv"
	[ $? -eq 1 ]
	ok "$1: the plans are changed" $?
	run "$1" 1 gf-boa certify --speedups $s --classes $c "$T/bad.tsv"
	grep -q "^$2	.*	fails	" "$T/out"
	ok "$1: $2 fails" $?
}
fails "another width" stationarity '$1 == "vision" && $4 == 0 { $6 = $6 == 8 ? 7 : $6 + 1 } { print }'
fails "too many GPUs" over-budget '$1 == "speech" { $6 = 8 } { print }'
fails "a width that cannot be used" unusable-widths '$1 == "text" { $6 = 1 } { print }'
fails "a hole" unusable-widths '$1 == "speech" { $6 = 6 } { print }'
fails "another price" gap '/^#mu=/ { $0 = "#mu=0.5" } { print }'
fails "a larger budget" slackness '/^#budget=/ { $0 = "#budget=30" } { print }'
run "metadata may be given" 0 sh -c "grep -v -e '^#budget' -e '^#mu' $T/plans |
	gf-boa certify --budget 28 --mu $(sed -n 's/^#mu=//p' "$T/plans") --speedups $s --classes $c"
run "no metadata" 1 sh -c "grep -v '^#' $T/plans | gf-boa certify --speedups $s --classes $c"
is "the budget is missed" "$T/err" \
	"gf-boa: <stdin>: no 'budget' in the metadata (expected it there, or --budget)"
bad_plans() {	# NAME MESSAGE SCRIPT
	grep -v '^#' "$T/plans" | awk -F '\t' -v OFS='\t' "$3" >"$T/bad.tsv"
	run "$1" 1 gf-boa certify --budget 28 --mu 0.1 --speedups $s --classes $c "$T/bad.tsv"
	is "$1: the message" "$T/err" "gf-boa: $2"
}
at=$(grep -v '^#' "$T/plans" | grep -n '^text' | tail -n 1 | cut -d : -f 1)
bad_plans "a class without a plan" "$T/bad.tsv: class 'text' has no plan" '$1 != "text"'
bad_plans "a share above 1" "$T/bad.tsv:$at:share: bad share '1.5' (expected 0 to 1)" '$1 == "text" { $3 = 1.5 } { print }'
bad_plans "shares that do not sum up" "$T/bad.tsv:$at:share: class 'text': shares do not sum up to 1" \
	'$1 == "text" { $3 = 0.75 } { print }'
bad_plans "plan 2" "$T/bad.tsv:$at:plan: bad plan '2' (expected 0 or 1)" '$1 == "text" { $2 = 2 } { print }'
bad_plans "only plan 1" "$T/bad.tsv:$at:plan: class 'text': no plan 0" '$1 == "text" { $2 = 1 } { print }'
bad_plans "an epoch that is missing" "$T/bad.tsv:$at:epoch: class 'text': an epoch is missing before this one \
(expected 0, 1, 2, …)" '$1 == "text" { $4 = 1 } { print }'
bad_plans "a class that is unknown" "$T/bad.tsv: class 'texts' has no speedups" '$1 == "text" { $1 = "texts" } { print }'

# ---- bad tables ----
table_at_fault() {	# NAME MESSAGE ROW of the speedups, in place of the first one of text
	awk -F '\t' -v row="$3" '$1 == "text" && !n++ { print row; next } { print }' $s >"$T/bad.tsv"
	run "$1" 1 gf-boa frontier --classes $c "$T/bad.tsv"
	is "$1: the message" "$T/err" "gf-boa: $T/bad.tsv:44:$2"
	is "$1: nothing written" "$T/out" ""
}
table_at_fault "a negative speed" "speed_per_s: bad value '-2' (expected 1e-30 to 1e30; 0 or NA where the width \
cannot be used)" "text	0	1	3000	-2"
table_at_fault "nan" "speed_per_s: bad value 'nan' (expected 1e-30 to 1e30; 0 or NA where the width cannot be used)" \
	"text	0	1	3000	nan"
table_at_fault "an infinite speed" "speed_per_s: bad value 'inf' (expected 1e-30 to 1e30; 0 or NA where the width \
cannot be used)" "text	0	1	3000	inf"
table_at_fault "no GPUs" "gpus: bad number of GPUs '0' (expected 1 to 2147483647)" "text	0	0	3000	1"
table_at_fault "negative work" "work: bad value '-1' (expected 0 to 1e30)" "text	0	1	-1	1"
table_at_fault "a missing class" "class: missing value 'NA' (expected text in UTF-8)" "NA	0	1	3000	1"
table_at_fault "a negative epoch" "epoch: bad value '-1' (expected 0 to 9999999)" "text	-1	1	3000	1"
sed 's/^text	0	7	3000/text	0	7	3001/' $s >"$T/bad.tsv"
run "two works" 1 gf-boa frontier --classes $c "$T/bad.tsv"
is "contradict each other" "$T/err" "gf-boa: $T/bad.tsv:50:work: another work of class 'text', epoch 0, than on line 49 \
(expected one for all widths)"
sed 's/^speech	1/speech	2/' $s >"$T/bad.tsv"
run "an epoch left out" 1 gf-boa frontier --classes $c "$T/bad.tsv"
is "is missed" "$T/err" "gf-boa: $T/bad.tsv:36:epoch: class 'speech': no epoch '1' (expected 0, 1, 2, … without a gap)"
sed 's/\(^text.*\)	[0-9.]*$/\1	0/' $s >"$T/bad.tsv"
run "no width can be used" 1 gf-boa frontier --classes $c "$T/bad.tsv"
is "class and epoch are named" "$T/err" "gf-boa: class 'text', epoch 0: no usable width (expected a positive speed on at \
least the least number of GPUs)"
sed 's/^text	0	1	3000	0$/text	0	1	3000	-7/; s/^text	0	8	3000	1.9/text	0	8	3000	nan/' $s >"$T/bad.tsv"
run "--drop-bad" 0 gf-boa frontier --drop-bad --no-meta --classes $c "$T/bad.tsv"
grep -v '^#' "$T/frontier" >"$T/a"
same "leaves bad widths out" "$T/a" "$T/out"
is "and counts them" "$T/err" "gf-boa: warning: 2 speeds that are negative or not finite: widths left out"
classes_at_fault() {	# NAME MESSAGE SCRIPT
	awk -F '\t' -v OFS='\t' "$3" $c | grep -v '^#' >"$T/bad.c"
	run "$1" 1 gf-boa frontier --classes "$T/bad.c" $s
	is "$1: the message" "$T/err" "gf-boa: $2"
}
classes_at_fault "a negative rate" "$T/bad.c:4:arrival_rate_per_s: bad value '-1' (expected 0 or more)" \
	'$1 == "text" { $2 = -1 } { print }'
classes_at_fault "a negative rescale time" "$T/bad.c:4:rescale_s: bad value '-1' (expected 0 or more)" \
	'$1 == "text" { $3 = -1 } { print }'
classes_at_fault "no rate" "$T/bad.c: class 'text' has no arrival rate" '$1 == "text" { $2 = "NA" } { print }'
classes_at_fault "a class twice" "$T/bad.c: class 'text' is there twice" '{ print } $1 == "text" { print }'
classes_at_fault "a class too few" "class 'text' has speedups, but no row in the table of classes" '$1 != "text"'
classes_at_fault "a class too many" "class 'video' of the table of classes has no speedups" \
	'{ print } $1 == "text" { $1 = "video"; print }'
classes_at_fault "no least number" "$T/bad.c:4:min_gpus: bad number of GPUs '0' (expected 1 or more)" \
	'$1 == "text" { $4 = 0 } { print }'
classes_at_fault "nothing arrives" "no class has an arrival rate and a weight above 0" 'NR > 3 && !/^#/ { $2 = 0 } { print }'
awk -F '\t' -v OFS='\t' '$1 == "speech" { $2 = 0 } { print }' $c >"$T/idle.c"
run "a class that never arrives" 0 gf-boa solve --no-meta -b 15 --classes "$T/idle.c" $s
awk -F '\t' '$1 == "speech" { print $6 }' "$T/out" | sort -u >"$T/a"
is "has its cheapest widths" "$T/a" 1

# ---- wrong usage ----
usage() {
	name=$1 want=$2
	shift 2
	run "$name" 2 gf-boa "$@"
	has "$name: the message" "$T/err" "^gf-boa: $want"
}
usage "no classes" "option --classes is required" frontier $s
usage "no budget" "option --budget is required" solve --classes $c $s
usage "a bad budget" "bad value 'x' for --budget" solve -b x --classes $c $s
usage "a budget of nothing" "bad value '0' for --budget" solve -b 0 --classes $c $s
usage "two budgets" "several budgets need --summary" solve -b 20 -b 30 --classes $c $s
usage "a bad price" "bad value 'small' for --gpu-price" frontier --gpu-price small --classes $c2 $s2
usage "a price of nothing" "bad value 'small=0' for --gpu-price" frontier --gpu-price small=0 --classes $c2 $s2
usage "a price twice" "bad value 'small=2' for --gpu-price" frontier --gpu-price small=1 --gpu-price small=2 --classes $c2 $s2
usage "micp is pure" "--method micp finds pure plans" solve --method micp -b 28 --classes $c $s
usage "the heuristic is not" "--method heuristic finds mixed plans" solve --plans pure --method heuristic -b 28 --classes $c $s
run "a type without a price" 1 gf-boa frontier --gpu-price small=1 --classes $c2 $s2
is "is named" "$T/err" "gf-boa: no price of GPU type 'large'"
run "a type, but none in the table" 1 gf-boa solve -b 28 --gpu-price small=1 --classes $c $s
is "GPUs without a type lack a price" "$T/err" "gf-boa: no price of GPUs without a type (expected one, without TYPE=)"
run "a price without a type" 1 gf-boa frontier $prices --gpu-price huge=9 --classes $c2 $s2
is "is named, too" "$T/err" "gf-boa: a price of GPU type 'huge', which has no speedups"
run "the heuristic and types for life" 1 gf-boa solve --method heuristic $prices -b 9 --classes $c2 $s2
is "do not go together" "$T/err" \
	"gf-boa: the heuristic does not keep a job on one of several GPU types (expected --routing epoch)"
