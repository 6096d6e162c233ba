#!/bin/sh
# SPDX-License-Identifier: MIT
# gf-gate: trees and GA2Ms of the cross-validation are trained as the model says that it was trained, with the
# weights of its rows; what the metadata say of it, through every tool that changes a model.
. tests/cli/lib.sh

# value CHECK: of the verdict table in $T/out
value() {
	awk -F '\t' -v c="$1" '$1 == c { print $3 }' "$T/out"
}
# between NAME CHECK LOW HIGH: the value of that check
between() {
	awk -F '\t' -v c="$2" -v low="$3" -v high="$4" '$1 == c { n++; bad = !($3 >= low && $3 <= high); v = $3 }
		END { if (n != 1 || bad) print "# " n + 0 " of them, " v; exit n != 1 || bad }' "$T/out" >"$T/between"
	ok "$1" $?
	cat "$T/between"
}
# judged NAME ARG…: any verdict; the table without metadata
judged() {
	judged_name=$1
	shift
	gf-gate -q --no-meta "$@" >"$T/out" 2>"$T/err"
	judged_rc=$?
	[ $judged_rc -le 1 ] && [ ! -s "$T/err" ]
	ok "$judged_name" $?
}

# y is a step of x, and of whatever z; rows of weight 0 say the contrary
awk 'function rnd() { s = (s * 16807) % 2147483647; return s / 2147483647 }
BEGIN {
	s = 41; OFS = "\t"
	print "x", "z", "when", "team", "w", "y", "late"
	for (i = 0; i < 600; i++) {
		x = rnd(); z = rnd(); w = i % 3 == 0 ? 0 : 1 + i % 2
		y = (x > 0.5 ? 8 : 2) + 0.4 * (rnd() - 0.5)
		print x, z, i, "t" int(i / 20), w, (w > 0 ? y : 10 - y), ((w > 0) == (x > 0.7) ? "yes" : "no")
	}
}' >"$T/rows.tsv"

# ---- trees ----
tree() {	# OPTION…: $T/tree.tsv of x and z
	gf-tree train --target y --feature x --feature z "$@" "$T/rows.tsv" -o "$T/tree.tsv"
}
tree --weight w --max-depth 1
has "a tree says how deep it may be" "$T/tree.tsv" '^#train_max_depth=1$'
has "and what rows weigh" "$T/tree.tsv" '^#train_weight=w$'
run "a good tree of weighted rows passes" 0 gf-gate --no-meta -d "$T/rows.tsv" "$T/tree.tsv"
between "rows of weight 0 are no errors" residual 0 0.02
between "nor are they of the trees of the folds" cross-validation 0 0.05
sed '/^#train_weight/d' "$T/tree.tsv" >"$T/plain.tsv"
judged "the same without weights" -d "$T/rows.tsv" "$T/plain.tsv"
between "errs in a third of the rows" residual 0.8 2
tree --weight w --max-depth 0
judged "a tree that may have no cut" -d "$T/rows.tsv" "$T/tree.tsv"
between "has none in the folds" cross-validation 1 1.1
sed '/^#train_/d' "$T/tree.tsv" >"$T/silent.tsv"
awk -F '\t' 'NR == 1 || $5 > 0' "$T/rows.tsv" >"$T/true.tsv"
judged "a tree that does not say" -d "$T/true.tsv" "$T/silent.tsv"
between "has two leaves there" cross-validation 0 0.05
tree --weight w --min-leaf 150
judged "leaves of many rows" -d "$T/true.tsv" "$T/tree.tsv"
between "are of as many rows in the folds" cross-validation 0 0.5
# pruned: at the complexity that is noted, by train and by prune
tree --weight w
gf-tree prune --alpha 4 "$T/tree.tsv" -o "$T/pruned.tsv"
has "what prune cuts off is noted" "$T/pruned.tsv" '^#train_alpha=4$'
has "beside what it was grown with" "$T/pruned.tsv" '^#train_weight=w$'
gf-tree prune --alpha 1 "$T/pruned.tsv" -o "$T/again.tsv"
has "a lower complexity cuts nothing more" "$T/again.tsv" '^#train_alpha=4$'
gf-tree prune --leaves 1 "$T/tree.tsv" -o "$T/root.tsv"
judged "a tree that was pruned to its root" -d "$T/true.tsv" "$T/root.tsv"
between "is in the folds, too" cross-validation 0.99 1.1
gf-tree print --format json "$T/pruned.tsv" >"$T/pruned.json"
has "leaves are noted" "$T/root.tsv" '^#train_leaves=1$'
has "JSON has it" "$T/pruned.json" '"train_alpha": "4"'
judged "judged by it" -d "$T/true.tsv" "$T/pruned.json"
cp "$T/out" "$T/json"
judged "or by the tables" -d "$T/true.tsv" "$T/pruned.tsv"
grep -v '^provenance' "$T/out" >"$T/a"
grep -v '^provenance' "$T/json" >"$T/b"
same "is the same" "$T/a" "$T/b"
gf-tree print --format json "$T/pruned.json" >"$T/again.json"
same "there and back" "$T/pruned.json" "$T/again.json"
# weights of classes: five rows of ten are late
gf-tree train --target late --feature x --feature z --max-depth 1 --class-weight yes=50 --weight w "$T/rows.tsv" -o "$T/late.tsv"
has "weights of classes are noted" "$T/late.tsv" '^#train_class_weight_1=yes=50$'
judged "errors count by class" -d "$T/rows.tsv" "$T/late.tsv"
gf-tree predict --no-meta --model "$T/late.tsv" "$T/rows.tsv" | cut -f 2 | paste "$T/rows.tsv" - |
	awk -F '\t' 'NR > 1 { w = $5 * ($7 == "yes" ? 50 : 1); n += w; e += $7 == $8 ? 0 : w } END { printf "%.12g\n", e / n }' >"$T/want"
value residual | awk '{ printf "%.12g\n", $1 }' >"$T/got"
same "to the row" "$T/want" "$T/got"
gf-tree train --target late --feature x --class-weight balanced "$T/rows.tsv" -o "$T/balanced.tsv"
has "so are balanced ones" "$T/balanced.tsv" '^#train_class_weight_1=balanced$'
judged "which are those of the rows that are given" -d "$T/true.tsv" "$T/balanced.tsv"
tree --weight w
cut -f 1,2,6 "$T/rows.tsv" >"$T/bare.tsv"
run "weights are not there" 1 gf-gate -d "$T/bare.tsv" "$T/tree.tsv"
is "is said" "$T/err" "gf-gate: $T/bare.tsv: no column 'w'"
for v in -1 inf NA heavy; do
	awk -F '\t' -v OFS='\t' -v v=$v 'NR == 9 { $5 = v } { print }' "$T/rows.tsv" >"$T/bad.tsv"
	run "a weight of $v" 1 gf-gate -d "$T/bad.tsv" "$T/tree.tsv"
	has "is refused where it stands" "$T/err" \
		"^gf-gate: $T/bad.tsv:9:w: (bad weight '$v' \(expected 0 or more\)|no weight \(expected 0 or more\))$"
done
for bad in max_depth=-2 min_leaf=0 min_leaf=many min_split=2.5 min_weight_share=0.6 alpha=-1 max_leaves=1e3; do
	sed "s/^#train_${bad%%=*}=.*/#train_$bad/" "$T/pruned.tsv" >"$T/bad.tsv"
	run "training with $bad" 1 gf-gate -q --no-meta "$T/bad.tsv"
	has "is not sound" "$T/out" "^sound	.*	fail	$T/bad.tsv: bad 'train_${bad%%=*}' in the metadata: '${bad#*=}'"
done
sed 's/^#train_max_leaves=.*/#train_max_leaves=0/' "$T/pruned.tsv" >"$T/bad.tsv"
run "training with no leaf" 1 gf-gate -q --no-meta "$T/bad.tsv"
has "is not sound" "$T/out" '^sound	.*	fail	.*: bad training in the metadata: a tree has one leaf or more$'

# ---- GA2M ----
ga2m() {	# OPTION…: $T/ga2m.tsv of x and z
	gf-ga2m train --target y --feature x --feature z --pairs 0 --bags 2 --smoothing-rounds 20 "$@" "$T/rows.tsv" -o "$T/ga2m.tsv"
}
ga2m --weight w --max-bins 8
has "a GA2M says how many bags it has" "$T/ga2m.tsv" '^#train_bags=2$'
run "a good GA2M of weighted rows passes" 0 gf-gate --no-meta -d "$T/rows.tsv" "$T/ga2m.tsv"
between "rows of weight 0 are no errors" residual 0 0.05
between "nor are they of the models of the folds" cross-validation 0 0.05
cp "$T/out" "$T/one"
gf-gate --no-meta --threads 4 -d "$T/rows.tsv" "$T/ga2m.tsv" >"$T/four"
same "on four threads, too" "$T/one" "$T/four"
judged "only where it counts" -d "$T/true.tsv" "$T/ga2m.tsv"
awk -F '\t' -v OFS='\t' 'NR > 1 { $5 = 1 } { print }' "$T/rows.tsv" >"$T/even.tsv"
judged "rows that weigh alike" -d "$T/even.tsv" "$T/ga2m.tsv"
between "are errors where they are" residual 0.8 2
ga2m --weight w --max-rounds 0 --smoothing-rounds 0
judged "a GA2M that was not boosted" -d "$T/rows.tsv" "$T/ga2m.tsv"
between "is not in the folds" cross-validation 0.99 1.1
sed '/^#train_/d' "$T/ga2m.tsv" >"$T/silent.tsv"
judged "one that does not say" -d "$T/true.tsv" "$T/silent.tsv"
between "is boosted as by default" cross-validation 0 0.05
ga2m --weight w --time when --shape x=increasing
has "shapes are noted" "$T/ga2m.tsv" '^#train_shape_1=x=increasing$'
run "of rows in time" 0 gf-gate --no-meta -d "$T/rows.tsv" "$T/ga2m.tsv"
gf-ga2m train --target y --feature x --feature z --pair x,z --bags 2 --weight w --group team --validation groups --smoothing-rounds 20 \
	"$T/rows.tsv" -o "$T/ga2m.tsv"
has "groups are noted" "$T/ga2m.tsv" '^#train_group=team$'
has "and that pairs were named" "$T/ga2m.tsv" '^#train_pairs_named=1$'
run "of rows in groups" 0 gf-gate --no-meta -d "$T/rows.tsv" "$T/ga2m.tsv"
cp "$T/out" "$T/tables"
gf-ga2m convert --json "$T/ga2m.tsv" >"$T/ga2m.json"
run "as JSON" 0 gf-gate --no-meta -d "$T/rows.tsv" "$T/ga2m.json"
grep '^cross' "$T/tables" >"$T/a"
grep '^cross' "$T/out" >"$T/b"
same "the same models" "$T/a" "$T/b"
gf-ga2m edit --edit 'increasing:x' "$T/ga2m.tsv" -o "$T/edited.tsv"
grep '^#train_' "$T/ga2m.tsv" >"$T/a"
grep '^#train_' "$T/edited.tsv" >"$T/b"
same "an edit keeps it" "$T/a" "$T/b"
for column in w team; do
	awk -F '\t' -v OFS='\t' -v c=$column 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == c) $i = "gone" } { print }' "$T/rows.tsv" >"$T/bad.tsv"
	run "no column $column" 1 gf-gate -d "$T/bad.tsv" "$T/ga2m.tsv"
	is "is said" "$T/err" "gf-gate: $T/bad.tsv: no column '$column'"
	run "which what it is asked now need not have" 1 gf-gate -q --no-meta --fresh "$T/bad.tsv" "$T/ga2m.tsv"
	is "nothing is said" "$T/err" ""
done
for bad in bags=0 bags=x learning_rate=2 validation=never engine=steam; do
	sed "s/^#train_${bad%%=*}=.*/#train_$bad/" "$T/ga2m.tsv" >"$T/bad.tsv"
	run "training with $bad" 1 gf-gate -q --no-meta "$T/bad.tsv"
	has "is not sound" "$T/out" "^sound	.*	fail	$T/bad.tsv: bad 'train_${bad%%=*}' in the metadata: '${bad#*=}'"
done
ga2m --weight w --shape x=increasing
for bad in x=round q=increasing increasing; do
	sed "s/^#train_shape_1=.*/#train_shape_1=$bad/" "$T/ga2m.tsv" >"$T/bad.tsv"
	run "the shape $bad" 1 gf-gate -q --no-meta "$T/bad.tsv"
	has "is none" "$T/out" "^sound	.*	fail	$T/bad.tsv: bad 'train_shape_1' in the metadata: '$bad'"
done
