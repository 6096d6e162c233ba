# SPDX-License-Identifier: MIT
# gf-ga2m train and predict: models of made-up data, their tables, options, edge cases, faults.
. tests/cli/lib.sh

# good FILE PROGRAM: awk over the rows of a table, columns by name in c[]
good() {
	awk -F '\t' 'function near(a, b, d) { return a - b <= d && b - a <= d }
		/^#/ { next } !seen { for (i = 1; i <= NF; i++) c[$i] = i; seen = 1; next }
		{ rows++ } '"$2" "$1"
}
# table NAME FILE: one table of a model
table() {
	awk -v name="#table=$1" '$0 == name { on = 1; next } /^#end/ { on = 0 } on && !/^#/' "$2"
}
quick="--bags 2 --smoothing-rounds 50 --greedy 2"

# y = 4 [a >= 0.4] + 3 [k = "hot"] + 2 [a >= 0.5][b >= 0.5], noise within 0.2
awk 'BEGIN { OFS = ","; srand(5); print "a,b,k,at,w,y"
	split("cold warm hot", k, " ")
	for (i = 0; i < 1200; i++) {
		a = int(1000 * rand()) / 1000; b = int(1000 * rand()) / 1000; j = 1 + int(3 * rand())
		y = 4 * (a >= 0.4) + 3 * (j == 3) + 2 * (a >= 0.5 && b >= 0.5) + 0.4 * (rand() - 0.5)
		print a, (i % 20 == 7 ? "" : b), k[j], 1600000000 + 60 * i, 1 + i % 3, y
	} }' >"$T/d.csv"
printf '%s\n' a,b,k 0.1,0.9,cold 0.45,0.2,hot 0.9,0.9,warm 0.9,,warm 0.1,0.1,icy >"$T/new.csv"

run "train" 0 gf-ga2m train -t y --nominal k --exclude at --exclude w --pairs 1 $quick "$T/d.csv" -o "$T/m.tsv"
is "nothing to say" "$T/err" ""
sed -n 's/^#table=//p' "$T/m.tsv" | paste -s -d ' ' - >"$T/a"
is "the tables of a model" "$T/a" "ga2m features bins terms scores"
table terms "$T/m.tsv" | cut -f 2-3 | tail -n +2 | tr '\t' ' ' >"$T/a"
is "main effects, and the pair that was planted" "$T/a" "$(printf 'a NA\nb NA\nk NA\na b')"
run "predict" 0 gf-ga2m predict --model "$T/m.tsv" "$T/new.csv"
is "the category that is new is said" "$T/err" \
	"gf-ga2m: warning: $T/new.csv: 1 row of 'k' in categories that training did not see"
cp "$T/out" "$T/p.tsv"
good "$T/p.tsv" '{ want = rows == 1 ? 0 : rows == 2 ? 7 : rows == 3 ? 6 : rows == 4 ? 5 : 1
	if ($c["row"] != rows || !near($c["prediction"], want, 0.4)) bad = 1 } END { exit bad || rows != 5 }'
ok "what was planted; half of it where b is missing; the mean of k where it is new" $?
run "with terms" 0 gf-ga2m predict -q --model "$T/m.tsv" --id k --terms "$T/new.csv"
good "$T/out" '{ s = $c["f(a)"] + $c["f(b)"] + $c["f(k)"] + $c["f(a x b)"]
	d = $c["prediction"] - s; if (rows > 1 && !near(d, last, 1e-12)) bad = 1; last = d
	if (rows == 5 && ($1 != "icy" || $c["f(k)"] + 0 != 0)) bad = 1 } END { exit bad || rows != 5 }'
ok "they add up; a new category adds nothing" $?
table scores "$T/m.tsv" >"$T/s.tsv"
good "$T/s.tsv" '{ w[$1] += $c["weight"]; s[$1] += $c["weight"] * $c["score"] }
	END { for (t in w) if (w[t] != 1200 || !near(s[t] / w[t], 0, 1e-12)) bad = 1; exit bad }'
ok "weights count the rows, terms have mean 0" $?

run "the kept sample" 0 gf-ga2m train -q -t y --pair a,b --no-purify --keep-bags --bags 2 --max-bins 6 \
	--max-pair-bins 3 --smoothing-rounds 20 tests/data/ga2m-train.tsv
golden "is as it was" "$T/out" tests/data/ga2m-model.tsv
run "as JSON" 0 gf-ga2m convert --json tests/data/ga2m-model.tsv
golden "it is as it was, too" "$T/out" tests/data/ga2m-model.json
run "three classes" 0 gf-ga2m train -q -t kind --loss softmax --pair a,b --bags 2 --max-bins 4 --max-pair-bins 2 \
	--smoothing-rounds 20 --max-rounds 30 tests/data/ga2m-train.tsv
golden "are as they were" "$T/out" tests/data/ga2m-classes.tsv
run "as JSON" 0 gf-ga2m convert --json tests/data/ga2m-classes.tsv
golden "they are as they were, too" "$T/out" tests/data/ga2m-classes.json
run "a store" 0 gf-ga2m train -t y --nominal k --exclude at --exclude w --pairs 1 $quick "$T/d.csv" -o "$T/m.h5:/model"
run "predict from it" 0 gf-ga2m predict -q --model "$T/m.h5:/model" --id k "$T/new.csv" --no-meta
cut -f 2 "$T/out" | tail -n +2 >"$T/a"
good "$T/p.tsv" '{ print $2 }' >"$T/b"
same "the same predictions" "$T/a" "$T/b"
for extra in "--threads 3" "--threads 1 --seed 1"; do
	# shellcheck disable=SC2086
	run "again with $extra" 0 gf-ga2m train $extra -t y --nominal k --exclude at --exclude w --pairs 1 $quick \
		"$T/d.csv"
	same "the same bytes" "$T/m.tsv" "$T/out"
done
run "another seed" 0 gf-ga2m train --seed 2 -t y --nominal k --exclude at --exclude w --pairs 1 $quick "$T/d.csv"
! cmp -s "$T/m.tsv" "$T/out"
ok "other bags" $?
run "spreads" 0 sh -c "gf-ga2m train -t y --keep-bags --nominal k --feature a --feature k $quick '$T/d.csv' |
	gf-ga2m predict -q --model - --sd '$T/new.csv'"
good "$T/out" '{ if (!($c["sd"] > 0)) bad = 1 } END { exit bad || rows != 5 }'
ok "of every row" $?
for count in n_rows=72666666666666666666666666666666666 n_bags=2.5 n_bags=-1 n_bags=1e15; do
	sed "s/^#${count%%=*}=.*/#$count/" tests/data/ga2m-model.tsv >"$T/counts.tsv"
	run "$count" 1 gf-ga2m predict -q --model "$T/counts.tsv" tests/data/ga2m-train.tsv
	is "$count is refused" "$T/err" \
		"gf-ga2m: $T/counts.tsv: bad '${count%%=*}' (expected the metadata of a model of gf-ga2m)"
done
run "none without bags" 1 gf-ga2m predict --sd --model "$T/m.tsv" "$T/new.csv"
is "is said" "$T/err" "gf-ga2m: $T/m.tsv: no scores of bags, so no spread (train with --keep-bags)"

# weights and offsets
awk -F , 'NR == 1 || $5 > 1 { print }' "$T/d.csv" >"$T/heavy.csv"
awk 'BEGIN { FS = OFS = "," } NR > 1 { $5 = $5 > 1 } { print }' "$T/d.csv" >"$T/zero.csv"
run "rows of weight 0" 0 gf-ga2m train -t y --feature a --feature b --weight w --share 0 --max-rounds 60 --pairs 0 \
	$quick "$T/zero.csv"
is "are counted" "$T/err" "gf-ga2m: warning: 400 rows of weight 0 left out"
table scores "$T/out" >"$T/a"
run "and rows that are gone" 0 gf-ga2m train -t y --feature a --feature b --share 0 --max-rounds 60 --pairs 0 $quick \
	"$T/heavy.csv"
table scores "$T/out" >"$T/b"
same "make the same scores" "$T/a" "$T/b"
awk 'BEGIN { FS = OFS = "," } NR > 1 { $6 += 10 * $2; $2 = 10 * $2 } { print }' "$T/d.csv" >"$T/shifted.csv"
run "an offset" 1 gf-ga2m train -t y --nominal k --exclude at --exclude w --offset b --pairs 0 $quick "$T/d.csv"
is "must be there in every row" "$T/err" "gf-ga2m: $T/d.csv:9:b: missing value (expected a number)"

# losses
for loss in poisson gamma absolute quantile; do
	case $loss in	# with a log link the logarithm is what parts add up to
	poisson | gamma) link=1 ;;
	*) link=0 ;;
	esac
	awk -v link=$link 'BEGIN { FS = OFS = "," } NR > 1 && link { $6 = exp($6 / 4) } { print }' "$T/d.csv" >"$T/e.csv"
	run "loss $loss" 0 sh -c "gf-ga2m train -t y --loss $loss --feature a --feature b --feature k --nominal k --pairs 1 \
		$quick '$T/e.csv' | gf-ga2m predict -q --model - '$T/new.csv'"
	good "$T/out" '{ v = '$link' ? 4 * log($c["prediction"]) : $c["prediction"]
		if (rows < 4 && !near(v, rows == 1 ? 0 : 9 - rows, 0.6)) bad = 1 } END { exit bad || rows != 5 }'
	ok "finds what was planted" $?
done
awk 'BEGIN { FS = OFS = "," } NR > 1 { $6 = $6 > 3 ? "long" : "short" } { print }' "$T/d.csv" >"$T/two.csv"
run "two classes" 0 sh -c "gf-ga2m train -t y --loss logistic --feature a --feature k --nominal k --pairs 1 $quick \
	'$T/two.csv' | gf-ga2m predict -q --model - '$T/new.csv'"
good "$T/out" '{ if (!near($c["p_long"] + $c["p_short"], 1, 1e-12)) bad = 1; s = s " " $c["class"] }
	END { exit bad || s !~ /^ short long long long/ }'
ok "and their probabilities" $?
awk 'BEGIN { FS = OFS = "," } NR > 1 { $6 = $6 > 5.5 ? 10 : $6 > 3 ? 9 : 1 } { print }' "$T/d.csv" >"$T/three.csv"
run "three classes" 0 sh -c "gf-ga2m train -t y --loss softmax --feature a --feature k --feature b --nominal k --pairs 1 \
	$quick '$T/three.csv' | gf-ga2m predict -q --model - '$T/new.csv'"
good "$T/out" '{ if (!near($c["p_1"] + $c["p_9"] + $c["p_10"], 1, 1e-12)) bad = 1; s = s " " $c["class"] }
	END { exit bad || s !~ /^ 1 10 10 9/ }'
ok "in the order of numbers" $?
awk 'BEGIN { print "x,y"; for (i = 0; i < 30; i++) print i "," i * i }' >"$T/each.csv"
run "nearly as many classes as rows" 0 gf-ga2m train -t y --loss softmax --bags 1 --pairs 0 --max-rounds 2 "$T/each.csv"
has "are wondered at" "$T/err" "^gf-ga2m: warning: $T/each.csv: 30 classes in 30 rows [(]is 'y' a number[?][)]$"
run "three classes are not two" 1 gf-ga2m train -t y --loss logistic --feature a "$T/three.csv"
is "is said" "$T/err" "gf-ga2m: $T/three.csv: 3 classes in the target (expected 2 for logistic loss)"

# shapes: over bins of values, in order
steps() {	# FILE: differences of the scores of term 0, one a line
	table scores "$1" | awk -F '\t' '$1 == "0" && $2 > 0 { s[$2] = $5; n = $2 }
		END { for (i = 2; i < n; i++) print s[i] - s[i - 1] }'
}
awk 'BEGIN { print "x,y"; for (i = 0; i < 600; i++) { x = i / 600
	print x "," 5 * (x - 0.4) ^ 2 + 0.4 * sin(50 * x) + (i * 7 % 11) / 20 } }' >"$T/wave.csv"
for shape in increasing decreasing convex concave; do
	run "shape $shape" 0 gf-ga2m train -t y --shape x=$shape --max-bins 40 --engine bins $quick "$T/wave.csv"
	steps "$T/out" >"$T/a"
	awk -v s=$shape 'function wrong(d) { return s ~ /^[ic]/ && s != "concave" ? d < -1e-5 : d > 1e-5 }
		s ~ /creasing/ && wrong($1) { bad = 1 } s ~ /^con/ && NR > 3 && NR < 38 && wrong($1 - last) { bad = 1 }
		$1 > 0.01 || $1 < -0.01 { some = 1 } { last = $1 } END { exit bad || NR != 39 || !some }' "$T/a"
	ok "holds from bin to bin" $?
done

# edges
printf 'x,y\n1,2\n' >"$T/one.csv"
run "a single row" 0 sh -c "gf-ga2m train -t y '$T/one.csv' | gf-ga2m predict --model - '$T/one.csv'"
good "$T/out" '{ if ($2 != 2) bad = 1 } END { exit bad || rows != 1 }'
ok "is its own mean" $?
awk 'BEGIN { print "same,none,id,y"; for (i = 0; i < 60; i++) printf "4,,%.0f,%.2f\n", 1.7e18 + 1e9 * i, (i >= 30) + (i % 3) / 100 }' \
	>"$T/odd.csv"
run "a constant column, one without values, huge integers" 0 gf-ga2m train -t y $quick "$T/odd.csv" -o "$T/odd.tsv"
table terms "$T/odd.tsv" | awk -F '\t' 'NR > 1 { print $2, $3, ($6 > 0) }' >"$T/a"
is "only the last says something" "$T/a" "$(printf 'same NA 0\nnone NA 0\nid NA 1')"
run "huge integers are told apart" 0 gf-ga2m predict --model "$T/odd.tsv" "$T/odd.csv"
good "$T/out" '{ if (!near($2, rows > 30, 0.2)) bad = 1 } END { exit bad }'
ok "at the right place" $?
awk -F , '{ print $1 "," $3 "," (NR > 1 ? 7.25 : "y") }' "$T/odd.csv" >"$T/flat.csv"
run "a constant target" 0 sh -c "gf-ga2m train -t y $quick '$T/flat.csv' | gf-ga2m predict --model - '$T/flat.csv'"
good "$T/out" '{ if ($2 != 7.25) bad = 1 } END { exit bad || rows != 60 }'
ok "is what is predicted" $?
printf 'x,y\n1,0\n2,3\n3,0\n4,5\n' >"$T/count.csv"
run "zeros under a log link" 0 sh -c "gf-ga2m train -t y --loss poisson --max-rounds 20 '$T/count.csv' |
	gf-ga2m predict --model - '$T/count.csv'"
good "$T/out" '{ if (!($2 > 0)) bad = 1 } END { exit bad }'
ok "and predictions above 0" $?
run "zero has no gamma deviance" 1 gf-ga2m train -t y --loss gamma "$T/count.csv"
is "is said" "$T/err" "gf-ga2m: $T/count.csv:2:y: bad target '0' (expected above 0, for gamma loss)"
sed 's/,3$/,-3/' "$T/count.csv" >"$T/neg.csv"
run "a negative count" 1 gf-ga2m train -t y --loss poisson "$T/neg.csv"
is "is said" "$T/err" "gf-ga2m: $T/neg.csv:3:y: bad target '-3' (expected 0 or more, for poisson loss)"
printf 'k,y\n1,1\n1.0,1\n 1,1\n1e0,1\n-0,2\n0,2\n' >"$T/forms.csv"
run "forms of a number" 0 gf-ga2m train -t y --nominal k "$T/forms.csv"
table bins "$T/out" | awk -F '\t' 'NR > 1 { print $5 }' | paste -s -d ' ' - >"$T/a"
is "are one category" "$T/a" "0 1"
run "infinities" 0 sh -c "printf 'x,y\n-inf,1\n1,2\n2,3\ninf,4\n' | gf-ga2m train -t y --csv --max-rounds 20 - |
	gf-ga2m predict --model - '$T/one.csv'"

# time
run "time" 0 gf-ga2m train -t y --time at --nominal k --exclude w --pairs 0 $quick "$T/d.csv"
table features "$T/out" | cut -f 1 | tail -n +2 | paste -s -d ' ' - >"$T/a"
is "is no feature" "$T/a" "a b k"
grep -v '^#time=' "$T/out" >"$T/a"
{ sed -n 1p "$T/d.csv"; sed 1d "$T/d.csv" | sort -t , -k 4,4n -k 1,1 | tail -r 2>/dev/null ||
	sed 1d "$T/d.csv" | sed '1!G;h;$!d'; } >"$T/back.csv"
run "rows in another order" 0 gf-ga2m train -t y --time at --nominal k --exclude w --pairs 0 $quick "$T/back.csv"
table terms "$T/out" | cut -f 1,2 >"$T/b"
table terms "$T/a" | cut -f 1,2 >"$T/c"
same "have the same blocks by time" "$T/b" "$T/c"

# faults
run "text where numbers belong" 1 gf-ga2m train -t y --exclude at "$T/d.csv"
is "is said, and what may help" "$T/err" \
	"gf-ga2m: $T/d.csv:2:k: bad value 'hot' (expected a number; --nominal for categories)"
run "no such target" 1 gf-ga2m train -t z "$T/d.csv"
is "is said" "$T/err" "gf-ga2m: $T/d.csv: no column 'z' (found a, b, k, at, w, y)"
sed 's/,3,/,-3,/' "$T/d.csv" >"$T/minus.csv"
run "a weight below 0" 1 gf-ga2m train -t y --feature a --weight w "$T/minus.csv"
is "is said" "$T/err" "gf-ga2m: $T/minus.csv:4:w: bad weight '-3' (expected 0 or more)"
sed 's/^\([^,]*,[^,]*,[^,]*,[^,]*\),[^,]*,/\1,0,/; 1s/,0,/,w,/' "$T/d.csv" >"$T/weightless.csv"
run "no weight at all" 1 gf-ga2m train -t y --feature a --weight w "$T/weightless.csv"
is "is said" "$T/err" "gf-ga2m: $T/weightless.csv: no row with a weight above 0"
run "a shape of nothing" 1 gf-ga2m train -t y --feature a --shape q=convex "$T/d.csv"
run "a shape that is none" 2 gf-ga2m train -t y --feature a --shape a=round "$T/d.csv"
run "a pair of one" 2 gf-ga2m train -t y --feature a --feature b --pair a,a "$T/d.csv"
run "groups without --group" 2 gf-ga2m train -t y --validation groups "$T/d.csv"
run "a column that the model needs" 1 gf-ga2m predict --model "$T/m.tsv" "$T/one.csv"
is "is said" "$T/err" "gf-ga2m: $T/one.csv: no column 'a', which the model uses"
run "a table that is no model" 1 gf-ga2m predict --model "$T/p.tsv" "$T/new.csv"
has "is said" "$T/err" "^gf-ga2m: $T/p.tsv:[0-9]*: no column 'class'"
table scores "$T/m.tsv" | sed -n '3p' >"$T/line"
grep -vxF -f "$T/line" "$T/m.tsv" | awk '/^#end/ { print "#end rows=" n - 1; n = -1; next } /^#fit-table/ { n = 0 }
	!/^#/ { n++ } { print }' >"$T/cut.tsv"
run "a model that lacks a score" 1 gf-ga2m predict --model "$T/cut.tsv" "$T/new.csv"
has "is said" "$T/err" "^gf-ga2m: $T/cut.tsv:[0-9]*:term: a score out of order"
run "no feature is left" 1 gf-ga2m train --target y --feature a --exclude a tests/data/ga2m-train.tsv
has "and that is said" "$T/err" "^gf-ga2m: tests/data/ga2m-train.tsv: no column is left as a feature$"
run "drift and model in one file" 2 gf-ga2m update --model tests/data/ga2m-model.tsv --drift "$T/one" -o "$T/one" tests/data/ga2m-train.tsv
has "are refused" "$T/err" "^gf-ga2m: --output and --drift are the same file '$T/one'$"
[ ! -e "$T/one" ]
ok "and no file is made" $?

# options that say two things, or nothing
# refused WHAT MESSAGE OPTIONS: wrong usage of train
refused() {
	what=$1 message=$2
	shift 2
	run "$what" 2 gf-ga2m train --target y "$@" "$T/d.csv"
	has "$what: is said" "$T/err" "^gf-ga2m: $message\$"
}
for role in weight offset time group feature; do
	refused "the target as --$role" "'y' is both --target and --$role" --$role y
done
refused "the target as --nominal" "'y' is both --target and --nominal .classes: --loss logistic or softmax." --nominal y
refused "a quantile of another loss" "--quantile goes with --loss quantile" --quantile 0.3
refused "pairs by name and by number" "--pairs is of pairs that are looked for, and --pair names them" --pair a,b --pairs 2
for option in "--pair-rate 0.2" "--max-pair-bins 8" --no-purify; do
	# shellcheck disable=SC2086
	refused "$option without pairs" "${option%% *} has no use without pairs" --pairs 0 $option
done
refused "memory that is not used" "--memory has no use with --engine rows" --memory 5 --engine rows
for option in "--patience 5" "--tolerance 0.1" "--validation last"; do
	# shellcheck disable=SC2086
	refused "$option without rows held back" "${option%% *} has no use with --share 0" --share 0 $option
done
refused "two shapes" "two shapes for 'a' .--shape." --feature a --shape a=convex --shape a=increasing

# infinities, and numbers so far apart that what lies between is none, under a shape
for shape in convex concave; do
	printf 'x,y\n,1\ninf,3\n-inf,4\n2,2\n' >"$T/inf.csv"
	run "$shape, with infinities" 0 gf-ga2m train -t y --shape x=$shape -o "$T/inf.tsv" "$T/inf.csv"
	run "$shape, with infinities: it is" 0 gf-ga2m check --shape x=$shape "$T/inf.tsv"
	printf 'x,y\n-1.7e308,1\n1.7e308,2\n3,3\n5,4\n0,2\n9,0\n' >"$T/far.csv"
	run "$shape, far apart" 0 gf-ga2m train -t y --share 0 --max-rounds 40 --min-leaf 1 --shape x=$shape -o "$T/far.tsv" \
		"$T/far.csv"
	run "$shape, far apart: predictions" 0 gf-ga2m predict --no-meta --model "$T/far.tsv" "$T/far.csv"
	hasnt "$shape, far apart: are numbers" "$T/out" 'nan|inf|NA'
done
