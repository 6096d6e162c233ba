# SPDX-License-Identifier: MIT
# gf-ga2m update: what has not changed stays, what has is found term by term; gf-plot shape and heatmap.
. tests/cli/lib.sh

# rows N SEED CHANGED: a made-up week; changed: nights are 5 more, and there is a user d
rows() {
	awk -v n="$1" -v s="$2" -v c="$3" 'BEGIN { print "hour,gpus,user,y"; for (i = 0; i < n; i++) {
		s = (s * 16807) % 2147483647; h = s % 24
		s = (s * 16807) % 2147483647; g = 1 + s % 8
		s = (s * 16807) % 2147483647; u = substr("abcd", 1 + s % (3 + c), 1)
		s = (s * 16807) % 2147483647; e = s / 2147483647 - 0.5
		y = 10 + 2 * g + (h > 11 ? 3 : 0) + (u == "b" ? 4 : u == "d" ? -6 : 0) + (h > 17 && g > 4 ? 2 : 0)
		printf "%d,%d,%s,%.6f\n", h, g, u, y + c * (h < 6 ? 5 : 0) + 0.2 * e } }'
}
rows 1500 11 0 >"$T/old.csv"
rows 1200 29 0 >"$T/alike.csv"
rows 1200 77 1 >"$T/new.csv"
rows 500 123 1 >"$T/test.csv"
# rmse MODEL FILE
rmse() {
	gf-ga2m predict -q --no-meta --model "$1" "$2" | sed 1d | cut -f 2 >"$T/p"
	sed 1d "$2" | cut -d , -f 4 | paste "$T/p" - | awk '{ s += ($1 - $2) ^ 2 } END { printf "%.6f\n", sqrt(s / NR) }'
}
drift() { awk -F '\t' -v t="$1" '$1 == t { print $2 }' "$T/drift.tsv"; }

run "a model" 0 gf-ga2m train --target y --nominal user --pair hour,gpus --bags 6 "$T/old.csv"
cp "$T/out" "$T/m.tsv"
run "a week like the one before" 0 gf-ga2m update --model "$T/m.tsv" --drift "$T/drift.tsv" --bags 6 "$T/alike.csv"
cp "$T/out" "$T/same.tsv"
for t in intercept hour gpus user 'hour x gpus'; do
	awk -v d="$(drift "$t")" 'BEGIN { exit !(d != "" && d < 0.05) }'
	ok "moves nothing: $t" $?
done
run "a week in which nights and users changed" 0 gf-ga2m update --model "$T/m.tsv" --drift "$T/drift.tsv" --bags 6 \
	"$T/new.csv"
cp "$T/out" "$T/u.tsv"
awk -v h="$(drift hour)" -v u="$(drift user)" -v g="$(drift gpus)" -v p="$(drift 'hour x gpus')" \
	'BEGIN { exit !(h > 1 && u > 1 && g < 0.1 && p < 0.1) }'
ok "moves hours and users, and neither GPUs nor the pair" $?
awk -v a="$(rmse "$T/u.tsv" "$T/test.csv")" -v b="$(rmse "$T/m.tsv" "$T/test.csv")" \
	'BEGIN { exit !(a < 0.08 && b > 1) }'
ok "and predicts a third week, which the old model does not" $?
has "a note stays" "$T/u.tsv" '^#note_1=update: 1200 rows; intercept .* moved most, by '
run "the sum is sound" 0 gf-ga2m check --rows "$T/test.csv" "$T/u.tsv"
run "new users are known" 0 gf-ga2m explain --no-meta --model "$T/u.tsv" --shape user
cut -f 4 "$T/out" | paste -s -d ' ' - >"$T/got"
is "by name" "$T/got" "category a b c d"
for threads in 2 3; do
	gf-ga2m update --model "$T/m.tsv" --threads $threads --bags 6 "$T/new.csv" >"$T/out"
	same "$threads threads, the same bytes" "$T/u.tsv" "$T/out"
done
run "again and again" 0 gf-ga2m update --model "$T/u.tsv" --keep 0.5 --bags 2 "$T/test.csv"
has "the second note" "$T/out" '^#note_2=update: 500 rows; '
run "from JSON to JSON" 0 gf-ga2m update --model "$T/m.tsv" --bags 6 -o "$T/u.json" "$T/new.csv"
rmse "$T/u.json" "$T/test.csv" >"$T/a"
rmse "$T/u.tsv" "$T/test.csv" >"$T/b"
same "predicts the same" "$T/b" "$T/a"

# with a log link, and with two classes
awk -F , -v OFS=, 'NR > 1 { $4 = exp($4 / 10) } { print }' "$T/old.csv" >"$T/old-exp.csv"
awk -F , -v OFS=, 'NR > 1 { $4 = exp($4 / 10 + ($1 < 6)) } { print }' "$T/alike.csv" >"$T/new-exp.csv"
gf-ga2m train --target y --loss gamma --nominal user --pairs 0 --bags 3 "$T/old-exp.csv" >"$T/g.tsv"
run "gamma loss" 0 gf-ga2m update --model "$T/g.tsv" --drift "$T/drift.tsv" --bags 3 "$T/new-exp.csv"
awk -v h="$(drift hour)" -v g="$(drift gpus)" 'BEGIN { exit !(h > 0.2 && g < 0.05) }'
ok "nights cost e times as much: only the hour moves" $?
awk -F , -v OFS=, 'NR > 1 { $4 = $4 > 20 ? "long" : "short" } { print }' "$T/old.csv" >"$T/old-c.csv"
awk -F , -v OFS=, 'NR > 1 { $4 = $4 > 20 ? "long" : "short" } { print }' "$T/alike.csv" >"$T/new-c.csv"
gf-ga2m train --target y --loss logistic --nominal user --pairs 0 --bags 2 --max-rounds 200 "$T/old-c.csv" >"$T/c.tsv"
run "two classes" 0 gf-ga2m update --model "$T/c.tsv" --bags 2 --max-rounds 200 "$T/new-c.csv"
run "a class that it does not know" 1 gf-ga2m update --model "$T/c.tsv" "$T/new.csv"
has "is a fault of its line" "$T/err" "new.csv:2:y: '.*' is no class of the model"
# what was pinned stays to the bit, whatever the rows say
shape() { gf-ga2m explain --no-meta --model "$1" --shape "$2"; }
# scores by the upper edge of bins, at hours; bins of an update are more
at_hours() {
	gf-ga2m predict -q --no-meta --link --terms --model "$1" "$T/hours.csv" |
		awk -F '\t' -v t="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "f(" t ")") k = i; next } { print $k }'
}
awk 'BEGIN { print "hour,gpus,user"; for (h = 0; h < 24; h++) for (g = 1; g < 9; g++) print h "," g ",a" }' >"$T/hours.csv"
run "a pinned main effect" 0 gf-ga2m edit --edit 'pin:hour@0..6=-1' "$T/m.tsv"
cp "$T/out" "$T/pinned.tsv"
run "is updated" 0 gf-ga2m update --model "$T/pinned.tsv" --drift "$T/drift.tsv" --bags 6 "$T/new.csv"
cp "$T/out" "$T/pu.tsv"
at_hours "$T/pinned.tsv" hour >"$T/a"
at_hours "$T/pu.tsv" hour >"$T/b"
same "and stays as it is" "$T/a" "$T/b"
awk -v h="$(drift hour)" -v u="$(drift user)" 'BEGIN { exit !(h == 0 && h != "" && u > 1) }'
ok "the others move" $?
run "a second update" 0 gf-ga2m update --model "$T/pu.tsv" --bags 2 "$T/test.csv"
at_hours "$T/out" hour >"$T/b"
same "knows of it, too" "$T/a" "$T/b"
run "set free" 0 gf-ga2m edit --edit free:hour "$T/pinned.tsv"
cp "$T/out" "$T/free.tsv"
run "it moves" 0 gf-ga2m update --model "$T/free.tsv" --drift "$T/drift.tsv" --bags 6 "$T/new.csv"
awk -v h="$(drift hour)" 'BEGIN { exit !(h > 1) }'
ok "again" $?
run "a pinned pair" 0 gf-ga2m edit --edit 'pin:hour x gpus@18..,5..=2' "$T/m.tsv"
cp "$T/out" "$T/pinned.tsv"
run "is updated" 0 gf-ga2m update --model "$T/pinned.tsv" --drift "$T/drift.tsv" --bags 6 "$T/new.csv"
cp "$T/out" "$T/pu.tsv"
at_hours "$T/pinned.tsv" 'hour x gpus' >"$T/a"
at_hours "$T/pu.tsv" 'hour x gpus' >"$T/b"
same "and stays as well" "$T/a" "$T/b"
awk -v h="$(drift hour)" 'BEGIN { exit !(h > 1) }'
ok "its features do not" $?

# three classes
for f in old alike new test; do
	awk -F , -v OFS=, 'NR > 1 { $4 = $4 > 24 ? "long" : $4 > 16 ? "mid" : "short" } { print }' "$T/$f.csv" >"$T/$f-3.csv"
done
# loss MODEL FILE: log loss, from columns p_CLASS
loss() {
	gf-ga2m predict -q --no-meta --model "$1" "$2" | cut -f 3- >"$T/p"
	sed 1d "$2" | cut -d , -f 4 | sed '1i y' | paste "$T/p" - |
		awk 'NR == 1 { for (i = 1; i < NF; i++) { c = $i; sub("p_", "", c); k[c] = i } next }
			{ s -= log($k[$NF]); n++ } END { printf "%.6f\n", s / n }'
}
run "three classes" 0 gf-ga2m train -q --target y --loss softmax --nominal user --pair hour,gpus --bags 3 \
	--max-rounds 800 "$T/old-3.csv"
cp "$T/out" "$T/c3.tsv"
run "a week like the one before" 0 gf-ga2m update -q --model "$T/c3.tsv" --drift "$T/drift.tsv" --bags 3 --max-rounds 400 \
	"$T/alike-3.csv"
awk -v h="$(drift hour)" -v g="$(drift gpus)" 'BEGIN { exit !(h < 0.5 && g < 0.5 && h != "") }'
ok "moves little" $?
run "another week" 0 gf-ga2m update -q --model "$T/c3.tsv" --drift "$T/drift.tsv" --bags 3 --max-rounds 400 "$T/new-3.csv"
cp "$T/out" "$T/u3.tsv"
awk -v a="$(loss "$T/u3.tsv" "$T/test-3.csv")" -v b="$(loss "$T/c3.tsv" "$T/test-3.csv")" \
	'BEGIN { print "# log loss", a, b; exit !(a > 0 && a < 0.5 * b) }'
ok "the updated model halves the loss of a third one" $?
for threads in 2 3; do
	gf-ga2m update -q --model "$T/c3.tsv" --threads $threads --bags 3 --max-rounds 400 "$T/new-3.csv" >"$T/out"
	same "$threads threads, the same bytes" "$T/u3.tsv" "$T/out"
done
run "the sum is sound" 0 gf-ga2m check "$T/u3.tsv"
printf 'hour,gpus,user\n1,2,a\n' >"$T/short.csv"
run "no target" 1 gf-ga2m update --model "$T/m.tsv" "$T/short.csv"
is "is said" "$T/err" "gf-ga2m: $T/short.csv: no column 'y' (found hour, gpus, user)"
sed -n 1p "$T/old.csv" >"$T/none.csv"
run "no rows" 1 gf-ga2m update --model "$T/m.tsv" "$T/none.csv"
is "no model then" "$T/out" ""

# ---- figures ----
if ! command -v gnuplot >/dev/null 2>&1; then
	skip "gnuplot is not installed" 8
	exit 0
fi
gf-ga2m explain --model "$T/u.tsv" --shape hour >"$T/hour.tsv"
gf-ga2m explain --model "$T/u.tsv" --shape user >"$T/user.tsv"
gf-ga2m explain --model "$T/u.tsv" --shape 'hour x gpus' >"$T/pair.tsv"
run "a shape" 0 gf-plot shape -o "$T/hour.svg" "$T/hour.tsv"
is "nothing to say" "$T/err" ""
has "with its spread" "$T/hour.svg" 'plus and minus its spread over bags'
has "and its name" "$T/hour.svg" '>hour<'
run "categories" 0 gf-plot shape -o "$T/user.svg" "$T/user.tsv"
run "a map" 0 gf-plot heatmap -o "$T/pair.svg" "$T/pair.tsv"
grep -c -v '^#' "$T/pair.dat" >"$T/got"
awk -F '\t' '!/^#/ && $1 != "bin" { n++ } END { print n }' "$T/pair.tsv" >"$T/want"
same "of every cell" "$T/want" "$T/got"
run "a pair as a shape" 1 gf-plot shape "$T/pair.tsv"
is "is the other figure" "$T/err" "gf-plot: $T/pair.tsv: a term of two features (expected gf-plot heatmap)"
run "the target as --time" 1 gf-ga2m update --model tests/data/ga2m-model.tsv --time y tests/data/ga2m-train.tsv
is "is refused" "$T/err" "gf-ga2m: 'y' is both the target and --time"
gf-ga2m train -q --target hours --feature hour --weight weight --bags 2 tests/data/tree-jobs.csv >"$T/w.tsv"
awk -F, -v OFS=, 'NR > 1 { $5 = 0 } { print }' tests/data/tree-jobs.csv >"$T/weightless.csv"
run "no weight at all" 1 gf-ga2m update --model "$T/w.tsv" "$T/weightless.csv"
is "is said, and of which file" "$T/err" "gf-ga2m: $T/weightless.csv: no row with a weight above 0"
