# SPDX-License-Identifier: MIT
# gf-ga2m explain, edit, check, convert: sums, shapes, what an edit changes and what not, faults.
. tests/cli/lib.sh
jobs=tests/data/tree-jobs.csv
run "a model" 0 gf-ga2m train --target hours --exclude slow --weight weight --nominal queue --pairs 1 --keep-bags \
	--bags 4 $jobs
cp "$T/out" "$T/m.tsv"
# scores MODEL: predictions of the sample
scores() { gf-ga2m predict -q --no-meta --model "$1" $jobs | sed 1d | cut -f 2; }
# near A B: two columns of numbers that agree to 1e-12
near() { paste "$1" "$2" | awk '{ d = $1 - $2; if (d < 0) d = -d; if (d > 1e-12 * (1 + ($1 < 0 ? -$1 : $1))) bad = 1
	} END { exit bad || NR == 0 }'; }
scores "$T/m.tsv" >"$T/p"

# ---- explain ----
run "rows as sums" 0 gf-ga2m explain --no-meta --model "$T/m.tsv" $jobs
cp "$T/out" "$T/parts"
awk -F '\t' '$2 == "prediction" { print $7 }' "$T/parts" >"$T/got"
same "end in the prediction, to the bit" "$T/p" "$T/got"
awk -F '\t' 'NR > 1 && $5 != "NA" { s[$1] += $5 } NR > 1 && $2 == "score" { d = s[$1] - $7; if (d < 0) d = -d
	if (d > 1e-12 * (1 + $7)) bad = 1; n++ } END { exit bad || n != 60 }' "$T/parts"
ok "and add up" $?
awk -F '\t' 'NR > 1 && $5 != "NA" && $2 != "intercept" { a = $5 < 0 ? -$5 : $5
	if ($1 == row && a > last) bad = 1; row = $1; last = a } END { exit bad }' "$T/parts"
ok "the largest first" $?
run "the two that add most" 0 gf-ga2m explain --no-meta --model "$T/m.tsv" --top 2 --id queue $jobs
awk -F '\t' 'NR > 1' "$T/out" | head -n 6 | cut -f 2 | sed 's/^\(intercept\|others\|score\|prediction\)$/=\1/; /^=/!s/.*/term/' |
	paste -s -d ' ' - >"$T/got"
is "and the rest" "$T/got" "=intercept term term =others =score =prediction"
run "importance" 0 gf-ga2m explain --no-meta --model "$T/m.tsv" --importance
cut -f 1 "$T/out" | paste -s -d , - >"$T/got"
is "of each term" "$T/got" "term,gpus,queue,hour,mem_gib,gpus x mem_gib"
run "a shape" 0 gf-ga2m explain --no-meta --model "$T/m.tsv" --shape hour
awk -F '\t' 'NR > 1 { if (NR > 2 && $2 != to) bad = 1; to = $3; w += $7; s += $7 * $5 }
	END { exit bad || w != 120 || s * s > 1e-12 }' "$T/out"
ok "has bins that touch, all rows, and mean 0" $?
run "of categories" 0 gf-ga2m explain --no-meta --model "$T/m.tsv" --shape queue
cut -f 4 "$T/out" | paste -s -d ' ' - >"$T/got"
is "by name" "$T/got" "category queue-a queue-b queue-c queue-d"
run "of missing values" 0 gf-ga2m explain --no-meta --model "$T/m.tsv" --shape mem_gib
has "a bin of their own" "$T/out" '^0	NA	NA	missing	'
run "of a pair" 0 gf-ga2m explain --no-meta --model "$T/m.tsv" --shape 'gpus x mem_gib'
awk -F '\t' 'NR > 1 { w += $NF } END { exit w != 120 }' "$T/out"
ok "has all rows" $?
run "no such term" 1 gf-ga2m explain --model "$T/m.tsv" --shape nil
run "two tables at once" 2 gf-ga2m explain --model "$T/m.tsv" --shape hour --importance

# ---- edit ----
edit() { gf-ga2m edit -e "$1" "$T/m.tsv" >"$T/e.tsv" && scores "$T/e.tsv" >"$T/q"; }
edit 'scale:hour=1'
near "$T/p" "$T/q"
ok "scaled by 1: nothing changes" $?
edit 'flatten:hour'
awk -F '\t' '$2 == "hour" { print $5 }' "$T/parts" >"$T/hour"
paste "$T/p" "$T/hour" | awk '{ printf "%.17g\n", $1 - $2 }' >"$T/want"
near "$T/want" "$T/q"
ok "flattened: every prediction loses what the term added" $?
edit 'remove:hour'
near "$T/want" "$T/q"
ok "removed: the same" $?
edit 'pin:hour@18..22=7.5'
sed 1d $jobs | cut -d , -f 3 | paste "$T/p" "$T/hour" - |
	awk '{ printf "%.17g\n", ($3 >= 18 && $3 <= 22 ? $1 - $2 + 7.5 : $1) }' >"$T/want"
near "$T/want" "$T/q"
ok "pinned: in the range, and nowhere else" $?
edit 'pin:queue@queue-b=-1'
awk -F '\t' '$2 == "queue" { print $5, $3 }' "$T/parts" | paste -d ' ' "$T/p" - |
	awk '{ printf "%.17g\n", $3 == "queue-b" ? $1 - $2 - 1 : $1 }' >"$T/want"
near "$T/want" "$T/q"
ok "pinned: a category" $?
edit 'decreasing:hour'
gf-ga2m explain --no-meta --model "$T/e.tsv" --shape hour >"$T/s"
awk -F '\t' 'NR > 2 && $5 > last { bad = 1 } NR > 1 { last = $5; m += $5 * $7 } END { exit bad || m * m > 1e-12 }' "$T/s"
ok "decreasing: it is, and its mean is 0" $?
edit 'monotone:hour'
gf-ga2m explain --no-meta --model "$T/e.tsv" --shape hour >"$T/s"
awk -F '\t' 'NR > 2 && $5 < last { bad = 1 } NR > 1 { last = $5 } END { exit bad }' "$T/s"
ok "monotone: the nearer way is up" $?
edit 'smooth:hour=3'
rough() { awk -F '\t' 'NR > 2 { r += ($5 - last) ^ 2 } NR > 1 { last = $5 } END { print r }' "$1"; }
gf-ga2m explain --no-meta --model "$T/e.tsv" --shape hour >"$T/s"
gf-ga2m explain --no-meta --model "$T/m.tsv" --shape hour >"$T/s0"
awk -v a="$(rough "$T/s")" -v b="$(rough "$T/s0")" 'BEGIN { exit !(a > 0 && a < 0.9 * b) }'
ok "smoothed: it is smoother" $?
run "several, with a log" 0 gf-ga2m edit -e convex:mem_gib -e flatten:queue --log "$T/log.tsv" "$T/m.tsv"
cp "$T/out" "$T/e.tsv"
has "notes of each stay with the model" "$T/e.tsv" '^#note_2=flatten:queue: 4 cells, by '
awk -F '\t' '$1 == "flatten:queue" && $2 == 4 && $6 == 0 { seen = 1 } END { exit !seen }' "$T/log.tsv"
ok "the log says what changed" $?
run "edited again" 0 gf-ga2m edit -e scale:gpus=0.5 "$T/e.tsv"
has "the third note" "$T/out" '^#note_3=scale:gpus=0.5: '
run "convert keeps them" 0 gf-ga2m convert --json "$T/e.tsv"
cp "$T/out" "$T/e.json"
scores "$T/e.tsv" >"$T/a"
scores "$T/e.json" >"$T/b"
same "JSON predicts the same" "$T/a" "$T/b"
gf-ga2m predict -q --no-meta --sd --model "$T/e.json" $jobs >"$T/a"
gf-ga2m predict -q --no-meta --sd --model "$T/e.tsv" $jobs >"$T/b"
same "with the same spreads" "$T/b" "$T/a"
for bad in nil:hour flatten:nil scale:hour pin:hour=3 pin:hour@x..y=3 smooth:queue=2 'increasing:gpus x mem_gib'; do
	run "no edit: $bad" 2 gf-ga2m edit -e "$bad" "$T/m.tsv"
	is "$bad: nothing is written" "$T/out" ""
done

run "scores beyond all numbers" 2 gf-ga2m edit -e scale:hour=1e308 -e scale:hour=1e308 "$T/m.tsv"
has "are refused" "$T/err" '^gf-ga2m: scale:hour=1e308: a score would be too large for a number$'
is "nothing is written" "$T/out" ""
run "more bins than there can be" 2 gf-ga2m edit -e smooth:hour=70000 "$T/m.tsv"
has "how many" "$T/err" "^gf-ga2m: bad number of bins in 'smooth:hour=70000' .expected 1 to 65535.$"

# ---- check ----
run "a limit without rows" 2 gf-ga2m check --limit 0.1 "$T/m.tsv"
has "has no use" "$T/err" '^gf-ga2m: --limit and --csv go with --rows$'
run "two shapes of one term" 2 gf-ga2m check --shape hour=convex --shape hour=concave "$T/m.tsv"
has "which one" "$T/err" "^gf-ga2m: two shapes for 'hour' .--shape.$"
run "a sound model" 0 gf-ga2m check --shape gpus=increasing --rows $jobs "$T/m.tsv"
hasnt "nothing fails" "$T/out" '	fails	'
run "hours do not fall" 1 gf-ga2m check --shape hour=decreasing "$T/m.tsv"
has "where they rise" "$T/out" '^shape	fails	hour	NA	[0-9]+	.*rises, from'
run "a shape of a pair" 2 gf-ga2m edit -e 'monotone:a x b' tests/data/ga2m-model.tsv
has "there is none" "$T/err" '^gf-ga2m: monotone:a x b: a pair has no such shape$'
run "of categories" 2 gf-ga2m edit -e increasing:kind tests/data/ga2m-model.tsv
has "neither" "$T/err" '^gf-ga2m: increasing:kind: categories have no order$'
run "of three classes" 2 gf-ga2m edit -e convex:a tests/data/ga2m-classes.tsv
has "nor" "$T/err" '^gf-ga2m: convex:a: a shape of several classes$'
run "a spike" 0 gf-ga2m edit -e pin:mem_gib@31..31.5=60 "$T/m.tsv"
cp "$T/out" "$T/e.tsv"
run "is found" 1 gf-ga2m check --support 0.05 --spike 2 "$T/e.tsv"
has "where it is" "$T/out" '^spike	fails	mem_gib	NA	[0-9]+	60	'
has "and it is not centred" "$T/out" '^centred	fails	mem_gib	'
printf 'gpus,queue,hour,mem_gib\n2,queue-x,3,20\n2000,queue-a,3,20\n,queue-a,3,20\n' >"$T/odd.csv"
run "rows unlike those of training" 1 gf-ga2m check --rows "$T/odd.csv" "$T/m.tsv"
has "unseen" "$T/out" '^unseen	fails	queue	.*1 of 3 rows'
has "outside" "$T/out" '^outside	fails	gpus	.*1 of 3 rows'
has "missing" "$T/out" '^missing	fails	gpus	.*1 of 3 rows'
run "within the limit" 0 gf-ga2m check --limit 0.5 --rows "$T/odd.csv" "$T/m.tsv"
run "a shape of a category" 2 gf-ga2m check --shape queue=increasing "$T/m.tsv"

# ---- C ----
for name in if double main _m 3rd is-m; do
	run "a function called '$name'" 2 gf-ga2m convert --c --name "$name" "$T/m.tsv"
	has "cannot be" "$T/err" "^gf-ga2m: bad name '$name' for --name .expected what C may call a function.$"
done
run "a name without --c" 2 gf-ga2m convert --name hours "$T/m.tsv"
has "has no use" "$T/err" '^gf-ga2m: --name goes with --c$'
run "two formats" 2 gf-ga2m convert --json --c "$T/m.tsv"
run "a model as C" 0 gf-ga2m convert --c --name hours tests/data/ga2m-model.tsv
golden "is this" "$T/out" tests/data/ga2m-model.c

# compiled, it predicts what the model does: several in one file, on cuts, beside them, missing, unseen
if command -v cc >/dev/null 2>&1; then
	awk -F, -v OFS=, 'NR == 1 { print $0, "known"; next } { print $0, $1 % 3 / 7 }' $jobs >"$T/known.csv"
	gf-ga2m convert --c --name hours "$T/m.tsv" >"$T/c.c"
	fit() {	# NAME TRAINING-OPTIONS: a model, and its functions
		name=$1
		shift
		gf-ga2m train -q --bags 2 --pairs 2 --max-rounds 300 "$@" "$T/known.csv" >"$T/$name.tsv" &&
			gf-ga2m convert --c --name "$name" "$T/$name.tsv" >>"$T/c.c"
	}
	features="--feature gpus --feature queue --feature hour --feature mem_gib --nominal queue"
	# shellcheck disable=SC2086
	{
		run "a log link and an offset" 0 fit slower --target hours --loss gamma --offset known $features
		run "two classes" 0 fit slow --target slow --loss logistic $features
		run "four classes" 0 fit gpus --target gpus --loss softmax --feature queue --feature hour --nominal queue
		run "one term" 0 fit lone --target hours --feature known
	}
	run "no term" 0 gf-ga2m edit -e remove:known "$T/lone.tsv"
	gf-ga2m convert --c --name bare "$T/out" >>"$T/c.c"
	gf-ga2m predict --no-meta --model "$T/out" "$T/known.csv" | sed -n '2s/.*\t//p' >"$T/bare"
	cat >>"$T/c.c" <<'EOT'
#include <math.h>
#include <stdio.h>
static double number(const char *s)
{
	double v = (double)NAN;

	sscanf(s, "%lf", &v);
	return v;
}
int main(void)
{
	char g[32], q[32], h[32], m[32], k[32];

	while (scanf("%31[^|]|%31[^|]|%31[^|]|%31[^|]|%31[^|]|", g, q, h, m, k) == 5) {
		double queue = q[0] == '-' ? (double)NAN : q[6] > 'd' ? -1 : q[6] - 'a', p[2], r[4];
		double x[] = { number(g), queue, number(h), number(m), number(k) }, y[] = { queue, number(h) };

		slow_share(x, p);
		gpus_share(y, r);
		printf("%.17g %.17g %d %.17g %.17g %d %.17g %.17g %.17g %.17g %.17g %.17g\n", hours(x), slower(x), (int)slow(x),
			p[0], p[1], (int)gpus(y), r[0], r[1], r[2], r[3], lone(x + 4), bare(x));
		scanf(" ");
	}
	return 0;
}
EOT
	run "C compiles without a warning" 0 cc -std=c11 -O2 -ffp-contract=off -Wall -Wextra -Wconversion -Wno-unused-result \
		-Werror -o "$T/c" "$T/c.c" -lm
	# cuts of the features are among the values
	awk -F '\t' '/^#table=/ { on = $1 == "#table=bins" } on && $2 ~ /^[01]$/ && $4 != "NA" && $4 != "-inf" { print $1, $4 }' \
		"$T/m.tsv" >"$T/cuts"
	awk 'BEGIN { s = 7; print "gpus,queue,hour,mem_gib,known" } { v[$1, n[$1]++] = $2 }
		function draw(k) { s = (s * 16807) % 2147483647; return s % k }
		function some(f) { return draw(9) == 0 ? "" : draw(3) == 0 ? draw(70) + draw(4) / 4 : v[f, draw(n[f])] }
		END { for (i = 0; i < 3000; i++) { q = draw(6)
			print some("gpus") "," (q == 5 ? "" : "queue-" substr("abcdz", q + 1, 1)) "," some("hour") "," some("mem_gib") \
				"," draw(5) / 3 } }' "$T/cuts" >"$T/points.csv"
	sed '1d; s/^,/-,/; s/,,/,-,/g; s/,,/,-,/g; s/,/|/g; s/$/|/' "$T/points.csv" | "$T/c" >"$T/a"
	predict() { gf-ga2m predict -q --no-meta --model "$T/$1.tsv" "$T/points.csv" | sed 1d; }
	predict m | cut -f 2 >"$T/p1"
	predict slower | cut -f 2 >"$T/p2"
	predict slow | awk -F '\t' '{ print ($2 == "yes") + 0, $3, $4 }' >"$T/p3"
	predict gpus | awk -F '\t' '{ print $2 == 8 ? 3 : $2 == 4 ? 2 : $2 - 1, $3, $4, $5, $6 }' >"$T/p4"
	predict lone | cut -f 2 >"$T/p5"
	paste -d ' ' "$T/p1" "$T/p2" "$T/p3" "$T/p4" "$T/p5" | sed "s/\$/ $(cat "$T/bare")/" >"$T/b"
	lines "3000 rows" "$T/b" 3000
	same "and predicts the same, to the bit" "$T/b" "$T/a"
	awk '{ s += $5 > 0.5; if (!k[$6]++) classes++; if (!seen[$1]++) n++ }
		END { exit !(s > 100 && s < 2900 && n > 500 && classes > 1) }' "$T/a"
	ok "which differs from row to row" $?
else
	skip "no compiler" 9
fi

# ---- JSON of others, and faults ----
cat >"$T/theirs.json" <<'EOT'
{"version": "1.0", "ebm": {"outputs": [{"task": "classification", "classes": [0, 1], "link": "logit",
 "link_param": "nan"}], "intercept": [0.5], "features": [
 {"name": "a", "type": "continuous", "cuts": [[1.5, 2.5], [2.5]]},
 {"name": "b", "type": "ordinal", "categories": [["low", ["mid", "high"]]]}], "terms": [
 {"term_features": ["a"], "scores": [0.1, -1, 0, 1, 0]},
 {"term_features": ["b", "a"], "scores": [[0, 0, 0, 0], [0, 2, 3, 0], [0, 4, 5, 0], [0, 0, 0, 0]]}]}}
EOT
printf 'a,b\n1,low\n2.5,high\n,mid\n9,new\n' >"$T/ab.csv"
run "levels, shared bins, a pair the other way round" 0 gf-ga2m predict -q --no-meta --link --model "$T/theirs.json" \
	"$T/ab.csv"
is "as their tables say" "$T/out" "row	score
1	1.5
2	6.5
3	0.59999999999999998
4	1.5"
sed 's/"link": "logit"/"link": "cauchit"/' "$T/theirs.json" >"$T/bad.json"
run "another link" 1 gf-ga2m convert "$T/bad.json"
has "is named" "$T/err" "unknown link 'cauchit'"
sed 's/0.1, -1, 0/-1, 0/' "$T/theirs.json" >"$T/bad.json"
run "a bin too few" 1 gf-ga2m convert "$T/bad.json"
run "no such folder" 3 gf-ga2m convert --json "$T/m.tsv" -o "$T/none/x.json"
head -c 300 "$T/theirs.json" >"$T/cut.json"
run "JSON that is cut" 1 gf-ga2m convert "$T/cut.json"
has "where" "$T/err" ":[0-9]+: no JSON"
