# SPDX-License-Identifier: MIT
# Trees: missing values find their side, ties go by column and threshold, cuts are as fine as the numbers,
# the pruning path is the textbook's.
. tests/cli/lib.sh
need_shared cases/12-tree-missing-ties-precision 30
C=$GOODFIT_SHARED/cases/12-tree-missing-ties-precision

# grow FILE: the tree in $T/tree.tsv, predictions in $T/got, cuts in $T/cuts
grow() {
	run "$1: a tree" 0 gf-tree train --target y "$C/$1.csv"
	cp "$T/out" "$T/tree.tsv"
	gf-tree predict --no-meta --model "$T/tree.tsv" "$C/$1.csv" | sed 1d | cut -f 2 | paste -s -d ' ' - >"$T/got"
	awk -F '\t' '$1 == "#table=nodes" { on = 1 } /^#end/ { on = 0 }
		on && $6 != "NA" && $6 != "feature" && !/^#/ { print $6, $7 }' "$T/tree.tsv" >"$T/cuts"
}

grow missing
is "missing: each row its own" "$T/got" "10 10 20 30 40 50"
grow missing-vs-constant
is "missing-vs-constant: missing or not is a cut" "$T/got" "1 1 1 5 5"
grow twin-columns
cp "$T/tree.tsv" "$T/twin.tsv"
is "twin-columns: the first column" "$T/cuts" "a 2.5"
is "twin-columns: two leaves" "$T/got" "0 0 9 9"
for seed in 1 2 7 1000; do
	gf-tree train --target y --seed $seed --threads 3 "$C/twin-columns.csv" >"$T/out"
	same "twin-columns: seed $seed" "$T/twin.tsv" "$T/out"
done
{ head -n 1 "$C/twin-columns.csv"; sed 1d "$C/twin-columns.csv" | sort -r; } >"$T/swapped.csv"
gf-tree train --target y "$T/swapped.csv" | sed 's/^#input=.*//' >"$T/out"
sed 's/^#input=.*//' "$T/twin.tsv" >"$T/want"
same "twin-columns: rows in another order" "$T/want" "$T/out"
grow close-seconds
is "close-seconds: a cut between" "$T/cuts" "x 1700000000.5"
is "close-seconds: no error is left" "$T/got" "0 1"
grow close-small
is "close-small: a cut between" "$T/cuts" "x 4.9999999999999998e-08"
is "close-small: no error is left" "$T/got" "0 1"
grow constant
is "constant: the mean" "$T/got" "4 4"
hasnt "constant: no nan" "$T/tree.tsv" '(^|	)(nan|-?inf)(	|$)'
has "constant: no importance" "$T/tree.tsv" '^x	number	0	0$'
grow prune
run "prune: the path" 0 gf-tree prune --path --no-meta "$T/tree.tsv"
is "prune: alphas, leaves, sums of impurity" "$T/out" "alpha	leaves	impurity
0	5	0
0.0625	4	0.0625
0.09375	3	0.15625
2.34375	2	2.5
9.1875	1	11.6875"
run "prune: at alpha 1" 0 gf-tree prune --alpha 1 "$T/tree.tsv"
cp "$T/out" "$T/pruned.tsv"
run "prune: its predictions" 0 gf-tree predict --no-meta --model "$T/pruned.tsv" "$C/prune.csv"
sed 1d "$T/out" | cut -f 2 | paste -s -d ' ' - >"$T/got"
is "prune: three leaves" "$T/got" "1.25 1.25 1.25 1.25 5 5 9.5 9.5"
printf 'x,y\n,0\n' >"$T/query.csv"
run "a missing value where training had none" 0 gf-tree predict --no-meta --model "$T/pruned.tsv" "$T/query.csv"
is "goes where most rows went" "$T/out" "row	predicted
1	1.25"
