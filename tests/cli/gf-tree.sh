# SPDX-License-Identifier: MIT
# gf-tree: training options, tables, predictions, printing, pruning, checks, faults.
. tests/cli/lib.sh
D=tests/data jobs=tests/data/tree-jobs.csv

# predicted FILE: the column of predictions in one line
predicted() {
	awk -F '\t' '/^#/ { next } !k { for (i = 1; i <= NF; i++) if ($i == "predicted") k = i; next }
		{ print $k }' "$1" | paste -s -d ' ' -
}

# ---- a regression ----
run "a regression" 0 gf-tree train --target hours --exclude slow --weight weight --max-depth 3 --min-leaf 4 $jobs
cp "$T/out" "$T/hours.tsv"
is "nothing to say" "$T/err" ""
golden "the tree" "$T/hours.tsv" $D/tree-hours.tsv
for threads in 2 4; do
	gf-tree train --threads $threads --target hours --exclude slow --weight weight --max-depth 3 --min-leaf 4 \
		$jobs >"$T/out"
	same "$threads threads, the same bytes" "$T/hours.tsv" "$T/out"
done
run "-v says how large it is" 0 gf-tree train -v --target hours --exclude slow --weight weight --max-depth 3 \
	--min-leaf 4 $jobs
has "rows, features, leaves" "$T/err" '^gf-tree: 60 rows, 4 features: 7 leaves, depth 3$'
{ head -n 1 $jobs; sed 1d $jobs | sort; } >"$T/sorted.csv"
gf-tree train --target hours --exclude slow --weight weight --max-depth 3 --min-leaf 4 "$T/sorted.csv" |
	sed 's/^#input=.*//' >"$T/out"
sed 's/^#input=.*//' "$T/hours.tsv" >"$T/want"
same "rows in another order, the same tree" "$T/want" "$T/out"
# three times a weight, or the row three times
awk -F , 'NR == 1 { print; next } { for (i = 0; i < $5; i++) print }' $jobs >"$T/many.csv"
gf-tree train --target hours --exclude slow --exclude weight --max-depth 3 "$T/many.csv" | gf-tree print >"$T/a"
gf-tree train --target hours --exclude slow --weight weight --max-depth 3 $jobs | gf-tree print >"$T/b"
same "a weight of three is a row three times" "$T/a" "$T/b"
awk -F , -v OFS=, 'NR > 1 && NR % 4 == 0 { $5 = 0 } { print }' $jobs >"$T/zeros.csv"
awk -F , 'NR == 1 || NR % 4 != 0' $jobs >"$T/without.csv"
gf-tree train --target hours --exclude slow --weight weight "$T/zeros.csv" | sed 's/^#input=.*//' >"$T/a"
gf-tree train --target hours --exclude slow --weight weight "$T/without.csv" | sed 's/^#input=.*//' >"$T/b"
same "a weight of zero is a row that is not there" "$T/a" "$T/b"

run "-o into a store" 0 gf-tree train --target hours --exclude slow --weight weight --max-depth 3 --min-leaf 4 \
	-o "$T/m.h5:/hours" $jobs
run "predict from it" 0 gf-tree predict --no-meta --model "$T/m.h5:/hours" --leaf $jobs
cp "$T/out" "$T/a"
run "and from the stream" 0 gf-tree predict --no-meta --model "$T/hours.tsv" --leaf - <<EOT
$(gf-table convert $jobs)
EOT
same "predict the same" "$T/a" "$T/out"

# ---- predictions ----
golden "predictions" "$T/a" $D/tree-hours-predicted.tsv
printf 'gpus,queue,hour,mem_gib\n2,queue-z,3,\n,,,\n1e300,queue-b,-5,9\n' >"$T/odd.csv"
run "unknown levels and missing values" 0 gf-tree predict --no-meta --model "$T/hours.tsv" "$T/odd.csv"
lines "a row each" "$T/out" 4
hasnt "finite answers" "$T/out" '(^|	)(nan|NA|-?inf)(	|$)'
run "rows by a column" 0 gf-tree predict --no-meta --model "$T/hours.tsv" --id queue $jobs
head -n 2 "$T/out" | cut -f 1 | paste -s -d ' ' - >"$T/got"
is "are named by it" "$T/got" "queue queue-b"
printf 'gpus,queue,hour\n1,queue-a,3\n' >"$T/less.csv"
run "a column is not there" 1 gf-tree predict --model "$T/hours.tsv" "$T/less.csv"
is "which one" "$T/err" "gf-tree: $T/less.csv: no column 'mem_gib' (found gpus, queue, hour)"
printf 'gpus,queue,hour,mem_gib\n1,queue-a,3,9\n2,queue-a,noon,9\n' >"$T/text.csv"
run "a text where numbers were" 1 gf-tree predict --model "$T/hours.tsv" "$T/text.csv"
is "which line" "$T/err" "gf-tree: $T/text.csv:3:hour: bad value 'noon' (expected a number)"

printf '#fit-table/1\ngpus\tqueue\thour\tmem_gib\n1\tqueue-a\t3\t9\n#end rows=1\n' >"$T/once.tsv"
cat "$T/once.tsv" "$T/once.tsv" >"$T/twice.tsv"
run "two tables in one stream" 1 gf-tree predict --no-meta --model "$T/hours.tsv" "$T/twice.tsv"
is "are not half read" "$T/err" "gf-tree: $T/twice.tsv: more than one table (expected one)"
run "and -o" 1 gf-tree predict --model "$T/hours.tsv" -o "$T/half.tsv" "$T/twice.tsv"
[ ! -e "$T/half.tsv" ]
ok "leaves nothing behind" $?
# categories are texts: a number is the same in another spelling, but 007 is a name
printf 'k\ty\n7\t1\n8\t5\n8\t5\n' >"$T/k.tsv"
gf-tree train --target y --nominal k "$T/k.tsv" >"$T/m.tsv"
printf 'k\n7\n7.0\n8.0\n+7\n007\n7e0\n' >"$T/k2.tsv"
run "categories that are numbers" 0 gf-tree predict --no-meta --model "$T/m.tsv" "$T/k2.tsv"
predicted "$T/out" >"$T/got"
is "in any spelling" "$T/got" "1 1 5 1 5 1"

# ---- classes ----
run "classes" 0 gf-tree train --target slow --exclude hours --weight weight $jobs
cp "$T/out" "$T/slow.tsv"
golden "the tree of classes" "$T/slow.tsv" $D/tree-slow.tsv
sed 's/^0	no	53$/0	no	54/' $D/tree-slow.tsv >"$T/shares.tsv"
run "weights of classes that are not the node's" 1 gf-tree print "$T/shares.tsv"
is "are refused" "$T/err" \
	"gf-tree: $T/shares.tsv: node 0: the weights of its classes do not sum to '120', its own"
run "with shares" 0 gf-tree predict --no-meta --shares --model "$T/slow.tsv" $jobs
awk -F '\t' 'NR == 1 { bad = $3 != "share_no" || $4 != "share_yes"; next } $3 + $4 != 1 { bad = 1 } END { exit bad }' \
	"$T/out"
ok "that add up to one" $?
run "shares of numbers" 1 gf-tree predict --shares --model "$T/hours.tsv" $jobs
for how in gini entropy; do
	run "$how" 0 gf-tree train --target slow --exclude hours --criterion $how $jobs
	gf-tree predict --no-meta --model "$T/out" $jobs 2>/dev/null >"$T/p"
	cp "$T/out" "$T/m.tsv"
	gf-tree predict --no-meta --model "$T/m.tsv" $jobs | sed 1d | cut -f 2 >"$T/a"
	sed 1d $jobs | cut -d , -f 7 >"$T/b"
	same "$how: no row is wrong" "$T/b" "$T/a"
done
run "balanced weights" 0 gf-tree train --target slow --exclude hours --max-depth 0 --class-weight balanced $jobs
awk -F '\t' '/^#table=/ { on = $1 == "#table=shares" } on && $1 == 0 { s[$2] = $3 }
	END { exit !(s["no"] > 29.9999999 && s["no"] < 30.0000001 && s["yes"] > 29.9999999 && s["yes"] < 30.0000001) }' \
	"$T/out"
ok "weigh both classes the same" $?
run "weights by class" 0 gf-tree train --target slow --exclude hours --max-depth 0 --class-weight yes=0 $jobs
has "a class without weight is not predicted" "$T/out" '^0	yes	0$'
run "numbers as classes" 0 gf-tree train --target gpus --classify --exclude hours --exclude slow $jobs
awk '/^#table=/ { on = $1 == "#table=classes" } on && /^[0-9]/' "$T/out" | paste -s -d ' ' - >"$T/got"
is "in order of the numbers" "$T/got" "1 2 4 8"
run "absolute error" 0 gf-tree train --target hours --exclude slow --criterion absolute_error --max-depth 0 $jobs
sed 1d $jobs | cut -d , -f 6 | sort -g | awk '{ v[NR] = $1 } END { printf "%.12g\n", (v[30] + v[31]) / 2 }' >"$T/b"
gf-tree predict --no-meta --model "$T/out" $jobs 2>/dev/null >/dev/null
cp "$T/out" "$T/m.tsv"
gf-tree predict --no-meta --model "$T/m.tsv" $jobs | sed -n 2p | cut -f 2 | awk '{ printf "%.12g\n", $1 }' >"$T/a"
same "the root predicts the median" "$T/b" "$T/a"
run "categories that are numbers" 0 gf-tree train --target hours --feature gpus --nominal gpus $jobs
cp "$T/out" "$T/m.tsv"
run "are sets" 0 gf-tree print "$T/m.tsv"
has "of levels" "$T/out" '^[|]--- gpus in [{][0-9, ]*[}]$'

# ---- constraints ----
awk 'BEGIN { print "x,z,y"; for (i = 0; i < 200; i++) { z = i * 37 % 11
	printf "%d,%d,%.3f\n", i, z, (i % 50) / 10 + i / 100 - z * z / 20 } }' >"$T/waves.csv"
run "free" 0 gf-tree train --target y --min-leaf 5 "$T/waves.csv"
cp "$T/out" "$T/free.tsv"
run "rising in x, falling in z" 0 gf-tree train --target y --min-leaf 5 --shape x=increasing --shape z=decreasing "$T/waves.csv"
cp "$T/out" "$T/held.tsv"
run "they hold" 0 gf-tree check --rows "$T/waves.csv" "$T/held.tsv"
awk 'BEGIN { print "x,z"; for (z = -1; z < 12; z++) for (x = -1; x < 202; x++) print x "," z }' >"$T/grid.csv"
gf-tree predict --no-meta --model "$T/held.tsv" "$T/grid.csv" | sed 1d | cut -f 2 >"$T/p"
awk 'NR > 203 && $1 > v[NR - 203] { bad = 1 } NR % 203 != 1 && $1 < v[NR - 1] { bad = 1 } { v[NR] = $1 }
	END { exit bad }' "$T/p"
ok "on every point of a grid" $?
sed 's/^x	number	0/x	number	1/' "$T/free.tsv" >"$T/lie.tsv"
run "a tree that was free, said to be held" 1 gf-tree check "$T/lie.tsv"
has "is found out" "$T/out" '^constraints hold	fails	[0-9]+	x: from leaf'

# ---- pruning ----
run "a path" 0 gf-tree prune --path "$T/slow.tsv"
golden "of the tree of classes" "$T/out" $D/tree-slow-path.tsv
for n in 6 3 1; do
	run "at most $n leaves" 0 gf-tree prune --leaves $n "$T/slow.tsv"
	awk -F '\t' -v n=$n '$1 == "gini" { exit !($6 <= n && $6 >= 1) }' "$T/out"
	ok "at most $n leaves there are" $?
done
run "cross-validation" 0 gf-tree train --target slow --exclude hours --weight weight --cv 5 $jobs
cp "$T/out" "$T/cv.tsv"
awk -F '\t' '/^#table=/ { on = $1 == "#table=cv" } on && $6 == 1 { n = $3 } $1 == "gini" { m = $6 }
	END { exit !(n == m) }' "$T/cv.tsv"
ok "the tree has the leaves of the chosen row" $?
for threads in 2 3 8; do
	gf-tree train --threads $threads --target slow --exclude hours --weight weight --cv 5 $jobs >"$T/out"
	same "$threads threads, the same choice to the byte" "$T/cv.tsv" "$T/out"
done
run "in blocks, the best" 0 gf-tree train --target slow --exclude hours --cv 4 --blocks --best $jobs
run "more folds than rows" 1 gf-tree train --target slow --exclude hours --cv 61 $jobs
is "is said" "$T/err" "gf-tree: 61 folds of 60 rows (expected 2 or more, and at most the rows)"

# ---- printing ----
for f in text dot c json; do
	weights=
	[ $f != text ] || weights=--weights
	run "as $f" 0 gf-tree print --format $f $weights "$T/slow.tsv"
	golden "as $f it is this" "$T/out" $D/tree-slow.$f
done
run "JSON is a model, too" 0 gf-tree predict --no-meta --shares --model $D/tree-slow.json $jobs
cp "$T/out" "$T/a"
gf-tree predict --no-meta --shares --model "$T/slow.tsv" $jobs >"$T/b"
same "with the same predictions" "$T/b" "$T/a"
cat >"$T/theirs.json" <<'EOT'
{"feature_names": ["gpus", "hour"], "classes": ["no", "yes"], "children_left": [1, -1, 3, -1, -1],
 "children_right": [2, -1, 4, -1, -1], "feature": [0, -2, 1, -2, -2], "threshold": [2.5, -2, 11.5, -2, -2],
 "impurity": [0.5, 0, 0.4444444444444444, 0, 0], "n_node_samples": [6, 3, 3, 1, 2],
 "weighted_n_node_samples": [6.0, 3.0, 3.0, 1.0, 2.0],
 "value": [[[4.0, 2.0]], [[3.0, 0.0]], [[1.0, 2.0]], [[1.0, 0.0]], [[0.0, 2.0]]]}
EOT
run "arrays as of scikit-learn" 0 gf-tree print "$T/theirs.json"
is "are a tree" "$T/out" "|--- gpus <= 2.500000
|   |--- class: no
|--- gpus >  2.500000
|   |--- hour <= 11.500000
|   |   |--- class: no
|   |--- hour >  11.500000
|   |   |--- class: yes"
run "they add up" 0 gf-tree check "$T/theirs.json"
run "explain a row" 0 gf-tree print --explain 2 --rows $jobs "$T/hours.tsv"
golden "step by step" "$T/out" $D/tree-hours-row2.txt

for f in dot c json; do
	run "weights as $f" 2 gf-tree print --format $f --weights "$T/slow.tsv"
	has "are not passed over" "$T/err" '^gf-tree: --weights goes with --format text$'
done
run "digits in C" 2 gf-tree print --format c --digits 3 "$T/slow.tsv"
has "neither are they" "$T/err" '^gf-tree: --digits goes with --format text or dot$'
run "a name in JSON" 2 gf-tree print --format json --name slow "$T/slow.tsv"
has "nor is that" "$T/err" '^gf-tree: --name goes with --format c$'
for name in if double main _slow 3rd is-slow "$(printf 'x%064d' 0)"; do
	run "a function called '$name'" 2 gf-tree print --format c --name "$name" "$T/slow.tsv"
	has "cannot be" "$T/err" "^gf-tree: bad name '$name' for --name .expected what C may call a function.$"
done

# the C function: compiled, it decides as the tree does, on cuts and beside them
if command -v cc >/dev/null 2>&1; then
	gf-tree print --format c --name held "$T/held.tsv" >"$T/held.c"
	gf-tree train --compat sklearn --target y --min-leaf 2 "$T/waves.csv" >"$T/single.tsv"
	gf-tree print --format c --name single "$T/single.tsv" >>"$T/held.c"
	gf-tree print --format c --name slow "$T/slow.tsv" >>"$T/held.c"
	cat >>"$T/held.c" <<'EOT'
#include <stdio.h>
#include <math.h>
int main(int argc, char **argv)
{
	double x[2], q[4], p[2];
	char queue[32], mem[32];

	(void)argv;
	while (argc == 1 && scanf("%la,%la", &x[0], &x[1]) == 2)
		printf("%.17g %.17g\n", held(x), single(x));
	while (argc == 2 && scanf(" %la|%31[^|]|%la|%31[^|]|", &q[0], queue, &q[2], mem) == 4) {
		q[1] = queue[6] - 'a';
		q[3] = mem[0] == '-' ? (double)NAN : 60;
		slow_share(q, p);
		printf("%d %.17g\n", (int)slow(q), p[0]);
	}
	return 0;
}
EOT
	run "C compiles without a warning" 0 cc -std=c11 -O1 -Wall -Wextra -Werror -o "$T/held" "$T/held.c"
	awk 'BEGIN { s = 1; print "x,z"; for (i = 0; i < 4000; i++) { s = (s * 16807) % 2147483647
		a = s / 2147483647 * 210 - 5; s = (s * 16807) % 2147483647; b = s / 2147483647 * 14 - 1
		if (i % 3 == 0) { a = int(a) + 0.5; b = int(b) + 0.5 }
		if (i % 3 == 1) { a += 1e-9 * int(a); b = int(b) }
		printf "%.17g,%.17g\n", a, b } }' >"$T/points.csv"
	sed 1d "$T/points.csv" | "$T/held" >"$T/a"
	gf-tree predict --no-meta --model "$T/held.tsv" "$T/points.csv" | sed 1d | cut -f 2 >"$T/p1"
	gf-tree predict --no-meta --model "$T/single.tsv" "$T/points.csv" | sed 1d | cut -f 2 | paste -d ' ' "$T/p1" - >"$T/b"
	same "and decides the same at 4000 points" "$T/b" "$T/a"
	{ echo 'gpus,queue,hour,mem_gib'; for g in 1 2 4 8; do for q in a b c d; do for h in 3 16 17 22; do
		echo "$g,queue-$q,$h,"; echo "$g,queue-$q,$h,60"; done; done; done; } >"$T/slow.csv"
	gf-tree predict --no-meta --shares --model "$T/slow.tsv" "$T/slow.csv" | sed 1d |
		awk -F '\t' '{ print ($2 == "yes") + 0, $3 }' >"$T/b"
	sed 1d "$T/slow.csv" | awk -F , '{ print $1 "|" $2 "|" $3 "|" ($4 == "" ? "-" : $4) "|" }' |
		"$T/held" slow >"$T/a"
	same "with levels and missing values" "$T/b" "$T/a"
else
	skip "no compiler" 3
fi

# ---- odd data ----
printf 'x,y\n5,3\n' >"$T/one.csv"
run "one row" 0 gf-tree train --target y "$T/one.csv"
cp "$T/out" "$T/m.tsv"
gf-tree predict --no-meta --model "$T/m.tsv" "$T/one.csv" >"$T/out"
is "is what is predicted" "$T/out" "row	predicted
1	3"
printf 'x,y\n,1\n,2\n,9\n' >"$T/void.csv"
run "a column that is missing throughout" 0 gf-tree train --target y "$T/void.csv"
has "is never cut" "$T/out" '^squared_error	y	0	1	1	1	0	0$'
printf 'x,z,y\n4,1,0\n4,2,0\n4,3,9\n' >"$T/still.csv"
run "a constant column" 0 gf-tree train --target y "$T/still.csv"
cp "$T/out" "$T/m.tsv"
gf-tree print "$T/m.tsv" | grep -c '^|--- x' >"$T/got"
is "is never cut either" "$T/got" "0"
awk 'BEGIN { print "submit_s,y"; for (i = 0; i < 40; i++) printf "%d,%d\n", 1700000000 + 60 * i, (i >= 23) }' >"$T/epoch.csv"
gf-tree train --target y "$T/epoch.csv" >"$T/m.tsv"
printf 'submit_s\n1700001320\n1700001380\n' >"$T/two.csv"
run "seconds since 1970" 0 gf-tree predict --no-meta --model "$T/m.tsv" "$T/two.csv"
predicted "$T/out" >"$T/got"
is "are told apart to the minute" "$T/got" "0 1"
printf 'x,y\n1,a\n2,a\n3,a\n' >"$T/sole.csv"
run "one class" 0 gf-tree train --target y "$T/sole.csv"
cp "$T/out" "$T/m.tsv"
gf-tree predict --no-meta --shares --model "$T/m.tsv" "$T/sole.csv" | sed 1d | cut -f 2- | sort -u >"$T/got"
is "is certain" "$T/got" "$(printf 'a\t1')"
printf 'x,y\n1,7\n2,7\n3,7\n' >"$T/same.csv"
run "a constant target" 0 gf-tree train --target y "$T/same.csv"
has "is a root alone" "$T/out" '^squared_error	y	0	1	1	1	0	0$'
printf 'x,y\n1.7e308,0\n1.6e308,1\n-1.7e308,5\n' >"$T/big.csv"
run "numbers near the largest" 0 gf-tree train --target y "$T/big.csv"
hasnt "cuts do not overflow" "$T/out" '(^|	)(nan|-?inf)(	|$)'
printf 'x,y\n9007199254740993,0\n9007199254740995,1\n1700000000000000000,2\n1700000000000000512,3\n' >"$T/huge.csv"
run "huge whole numbers" 0 gf-tree train --target y "$T/huge.csv"
cp "$T/out" "$T/m.tsv"
gf-tree predict --no-meta --model "$T/m.tsv" "$T/huge.csv" >"$T/out"
predicted "$T/out" >"$T/got"
is "as far as a double tells them apart" "$T/got" "0 1 2 3"
printf 'x,w,y\n1,0,1\n2,0,2\n' >"$T/none.csv"
run "no weight at all" 1 gf-tree train --target y --weight w "$T/none.csv"
is "is said" "$T/err" "gf-tree: $T/none.csv: no row with a weight above 0"
printf 'x,w,y\n1,1,1\n2,-1,2\n' >"$T/minus.csv"
run "a negative weight" 1 gf-tree train --target y --weight w "$T/minus.csv"
is "is a fault of its line" "$T/err" "gf-tree: $T/minus.csv:3:w: bad weight '-1' (expected 0 or more)"
printf 'x,y\n1,1\n2,\n' >"$T/gap.csv"
run "a missing target" 1 gf-tree train --target y "$T/gap.csv"
is "is a fault of its line, too" "$T/err" "gf-tree: $T/gap.csv:3:y: the target is missing"

# ---- faults ----
run "no such target" 1 gf-tree train --target nil $jobs
is "what there is" "$T/err" \
	"gf-tree: $jobs: no column 'nil' (found gpus, queue, hour, mem_gib, weight, hours, slow)"
run "no target" 2 gf-tree train $jobs
run "a criterion of the other kind" 1 gf-tree train --target hours --criterion gini $jobs
is "is said so" "$T/err" "gf-tree: criterion 'gini' does not go with the target"
run "a constraint on a category" 1 gf-tree train --target hours --shape queue=increasing $jobs
is "makes no sense" "$T/err" "gf-tree: a constraint on the categories of 'queue'"
run "a constraint that is none" 2 gf-tree train --target hours --shape gpus=up $jobs
has "neither" "$T/err" "^gf-tree: bad value 'gpus=up' for --shape .expected COLUMN=SHAPE, a shape being increasing or decreasing.$"
run "--alpha and --cv" 2 gf-tree train --target hours --alpha 1 --cv 3 $jobs
run "--explain without --rows" 2 gf-tree print --explain 1 "$T/hours.tsv"
run "prune without a wish" 2 gf-tree prune "$T/hours.tsv"
run "a row that is not there" 1 gf-tree print --explain 61 --rows $jobs "$T/hours.tsv"
is "is not walked" "$T/err" "gf-tree: $jobs: no row 61 (there are 60)"
run "a table that is no tree" 1 gf-tree print $D/jobs-small.tsv
awk -F '\t' -v OFS='\t' '/^#table=/ { on = $1 == "#table=nodes" } on && $1 == 3 { $11++ } { print }' \
	"$T/hours.tsv" >"$T/bad.tsv"
run "rows that do not add up" 1 gf-tree check "$T/bad.tsv"
has "which node" "$T/out" '^rows of children add up	fails	2	'
awk -F '\t' -v OFS='\t' '/^#table=/ { on = $1 == "#table=nodes" } on && $1 == 1 { $7 = 5 } { print }' \
	"$T/hours.tsv" >"$T/bad.tsv"
cmp -s "$T/bad.tsv" "$T/hours.tsv"
[ $? -eq 1 ]
ok "a threshold is moved" $?
awk -F '\t' -v OFS='\t' '/^#table=/ { on = $1 == "#table=nodes" } on && $1 == 0 { $7 = 3 } { print }' \
	"$T/hours.tsv" >"$T/bad.tsv"
run "it is found with the rows" 1 gf-tree check --weight weight --rows $jobs "$T/bad.tsv"
has "by what they say" "$T/out" '^the data say the same	fails	1	45 rows, the data have '
run "a tree of weights is not checked without them" 2 gf-tree check --rows $jobs "$T/hours.tsv"
has "which is said" "$T/err" '^gf-tree: the 60 rows of the model weigh 120: check needs the --weight or --class-weight'
run "with them" 0 gf-tree check --rows $jobs --weight weight "$T/hours.tsv"
awk -F '\t' -v OFS='\t' '/^#table=/ { on = $1 == "#table=nodes" } on && $1 == 1 { $4 = 9 } { print }' \
	"$T/hours.tsv" >"$T/bad.tsv"
run "children out of place" 1 gf-tree print "$T/bad.tsv"
is "are no tree" "$T/err" "gf-tree: $T/bad.tsv: node 1: bad children or feature"
printf '{"nodes": [{"id": 0, "left": 1, "right": 1}]}' >"$T/bad.json"
run "JSON that is no tree" 1 gf-tree print "$T/bad.json"
printf '{"nodes": [' >"$T/cut.json"
run "JSON that is cut" 1 gf-tree print "$T/cut.json"
has "where" "$T/err" "^gf-tree: $T/cut.json:1: no JSON: "
run "a weight of a class that is none" 2 gf-tree train --target slow --class-weight yes=-3 $jobs
has "is wrong usage" "$T/err" "^gf-tree: bad weight of a class 'yes=-3' .expected balanced, or CLASS=WEIGHT.$"
run "no feature is left" 1 gf-tree train --target hours --feature gpus --exclude gpus $jobs
is "and that is said" "$T/err" "gf-tree: $jobs: no column is left as a feature"

# One cell that is no number turns a column into names: not in silence.
printf 'x\ty\tz\n1\t2\ta\n2\t3\t7\n3\t5\tb\nnone\t7\tc\n' >"$T/mixed.tsv"
run "a column with one cell that is no number" 0 gf-tree train --target y "$T/mixed.tsv"
is "is warned of" "$T/err" \
	"gf-tree: warning: $T/mixed.tsv: column 'x' is taken as names, as 'none' is no number, though most of it are"
run "not where it is said to be names" 0 gf-tree train --target y --nominal x "$T/mixed.tsv"
is "no warning" "$T/err" ""
run "the target" 0 gf-tree train --target x --exclude z "$T/mixed.tsv"
has "is warned of, too" "$T/err" "column 'x' is taken as names"
run "not where it is a class" 0 gf-tree train --target x --classify --exclude z "$T/mixed.tsv"
is "no warning then" "$T/err" ""
awk '{ print } $1 == "no" && n++ == 0 { print }' $D/tree-slow.tsv >"$T/again.tsv"
run "a class that is there twice" 1 gf-tree print "$T/again.tsv"
has "has a line" "$T/err" "^gf-tree: $T/again.tsv:[0-9]*:class: a second class 'no'$"
awk '{ print } /^#table=/ { on = $1 == "#table=tree" } on && !/^#/ && ++n == 2 { print }' "$T/hours.tsv" >"$T/twice.tsv"
run "two trees in one" 1 gf-tree print "$T/twice.tsv"
has "are refused" "$T/err" "^gf-tree: $T/twice.tsv:[0-9]*: a second row .expected one tree.$"

# options that say two things
# refused MESSAGE OPTIONS: wrong usage of train
refused() {
	message=$1
	shift
	run "train $*" 2 gf-tree train "$@" $jobs
	has "train $*: is said" "$T/err" "^gf-tree: $message\$"
}
refused "'hours' is both --target and --weight" --target hours --weight hours
refused "'hours' is both --target and --nominal .classes: --classify." --target hours --nominal hours
refused "two shapes of 'gpus'" --target hours --shape gpus=increasing --shape hour=increasing --shape gpus=decreasing
refused "two weights of class 'yes'" --target slow --class-weight yes=2 --class-weight yes=3
refused "--class-weight is either balanced or a weight by class" --target slow --class-weight balanced \
	--class-weight yes=3
