# SPDX-License-Identifier: MIT
# Figures of papers: the drawing of long tables in panels, and every recipe on the shipped data.
. tests/cli/lib.sh
need_tool gnuplot 60

# ---- gf-plot panels ----
mkdir "$T/w"
{
	printf 'app\tn\tlook\tseries\tstyle\tv\te\n'
	for app in alpha beta gamma; do
		for s in one two; do
			for x in 32 64 128 4096; do
				printf '%s\t%s\t%s\t%s\tlines\t%s\t%s\n' $app $x $s $s $((x * 2 + 7)) 5
				printf '%s\t%s\t%s\t%s (published)\thollow\t%s\t%s\n' $app $x $s $s $((x * 3)) 9
			done
		done
	done
} >"$T/w/long.tsv"
cd "$T/w" || exit 99
options='--x n --y v --by series --panel app --look look --style style --error e --log-x'
# shellcheck disable=SC2086
run "panels" 0 gf-plot panels $options --columns 2 --title Title --xlabel X --ylabel Y -o a.svg long.tsv
is "panels: nothing said" "$T/err" ""
sed -n 's/.*<text>\([^<]*\)<.*/\1/p' a.svg >"$T/texts"
for t in alpha beta gamma Title 'one (published)' two; do
	[ "$(grep -c "^$t\$" "$T/texts")" -eq 1 ]
	ok "the text '$t' is there once" $?
done
[ "$(grep -c '^X$' "$T/texts")" -eq 2 ] && [ "$(grep -c '^Y$' "$T/texts")" -eq 2 ]
ok "axes are named at the outer panels only" $?
[ "$(grep -c '^# ' a.dat)" -eq 12 ] && [ "$(grep -c '^32	71	5$' a.dat)" -eq 6 ]
ok "one block a series and panel" $?
# The same colour for a series and what it is compared with.
sed -n "s/.*keyentry with .* rgb '\([^']*\)'.*title '\([^']*\)'.*/\2 \1/p" a.gp | sort >"$T/colours"
awk '$1 == "one" { a[$NF] } $1 == "two" { b[$NF] } { n++ }
	END { for (c in a) x++; for (c in b) { y++; both += c in a }; exit !(n == 4 && x == 1 && y == 1 && !both) }' \
	"$T/colours"
ok "series of one look have one colour, others have another" $?
# shellcheck disable=SC2086
run "panels again" 0 gf-plot panels $options --columns 2 --title Title --xlabel X --ylabel Y -o b.svg long.tsv
same "the same picture" a.svg b.svg
run "panels as png" 0 gf-plot panels --x n --y v --by series -o one.png long.tsv
printf 'x\ty\n1\t2\n2\tNA\n3\t4\n' >gap.tsv
run "one series without a name" 0 gf-plot panels --x x --y y -o gap.svg gap.tsv
is "missing values are counted" "$T/err" "gf-plot: warning: 1 missing value is not drawn"
awk '/^1\t/ { one = NR } /^$/ { gap = NR } /^3\t/ { three = NR } END { exit !(one < gap && gap < three) }' gap.dat
ok "and break the line" $?
printf 'p\tx\ty\ts\na\t1\t2\tone\na\t2\t3\tone\nb\t1\t7\ttwo\nb\t2\t8\ttwo\nb\t1\t9\tthree\nb\t2\t4\tthree\n' >absent.tsv
run "series that are in some panels only" 0 gf-plot panels --x x --y y --by s --panel p -o absent.svg absent.tsv
is "nothing said of them" "$T/err" ""
sed -n 's/.*absent\.dat. index \([0-9]*\) .* rgb .\(#[0-9A-F]*\).*/\1 \2/p' absent.gp >"$T/blocks"
is "each is drawn from its own block, in its own colour" "$T/blocks" "0 #0072B2
1 #D55E00
2 #009E73"
[ "$(grep -c '^# ' absent.dat)" -eq 3 ]
ok "as many blocks as there are series in panels" $?
printf 'x\ty\ts\n1\t2\tdotted\n' >style.tsv
run "a style that is not known" 1 gf-plot panels --x x --y y --style s -o bad.svg style.tsv
is "is named" "$T/err" \
	"gf-plot: style.tsv:2:s: bad style 'dotted' (expected lines, curve, steps, area, points or hollow)"
printf 'x\ty\n0\t2\n' >zero.tsv
run "0 on a logarithmic axis" 1 gf-plot panels --x x --y y --log-x -o bad.svg zero.tsv
is "is named, too" "$T/err" "gf-plot: zero.tsv:2:x: '0' on a logarithmic axis (expected more than 0)"
printf 'x\ty\n1\t1\n300\t2\n4000000\t3\n' >wide.tsv
run "a wide logarithmic axis" 0 gf-plot panels --x x --y y --log-x -o wide.svg wide.tsv
has "goes by powers of ten" wide.gp "xtics .*1, .*100, .*10000, .*1000000)"
has "in short numbers" wide.gp "'1M'"
printf 'x\ty\n1\t1\n300\t2\n' >narrow.tsv
run "a narrow one" 0 gf-plot panels --x x --y y --log-x -o narrow.svg narrow.tsv
has "goes by powers of two" narrow.gp "xtics .*1, .*4, .*16, .*64, .*256)"
printf 'x\ta\tb\tc\td\te\tf\tg\th\n1\t1\t1\t1\t1\t1\t1\t1\t1\n' >eight.tsv
run "eight bars side by side" 0 gf-plot bars --x x --y a --y b --y c --y d --y e --y f --y g --y h -o eight.svg eight.tsv
sed -n 's/.*boxes fs \(.*\) border.*rgb \(.*\)/\1 \2/p' eight.gp | sort -u >"$T/looks"
lines "look differently" "$T/looks" 8
printf 'x\ty\te\n1\t2\t-1\n' >neg.tsv
run "an error bar below 0" 1 gf-plot panels --x x --y y --error e -o bad.svg neg.tsv
is "is an error" "$T/err" "gf-plot: neg.tsv:2:e: bad length '-1' of an error bar (expected 0 or more)"
run "no rows" 1 gf-plot panels --x x --y y -o bad.svg - </dev/null
ok "no picture of bad data" "$([ ! -e bad.svg ]; echo $?)"
cd "$TOP" || exit 99

# ---- recipes, on the shipped data, with the quick search ----
FIGURE_DATA=shipped SEARCH=local WORKLOADS='1 2' WORKLOAD=1 LOADS='0.5 1.0' JOBS=2 TRIALS=12
BUDGETS='1.2 1.6 2.5' TARGETS='0.4 0.6 0.8' SCV='1 3' SEEDS=1 WAITING='256 512' TPROF='40 200'
export FIGURE_DATA SEARCH WORKLOADS WORKLOAD LOADS JOBS TRIALS BUDGETS TARGETS SCV SEEDS WAITING TPROF
n=0
for recipe in figures/*; do
	case $recipe in *.sh) continue ;; esac
	name=${recipe#figures/}
	n=$((n + 1))
	# With sanitizers every fourth one, and those that are looked at below: recipes call the same tools.
	case ${GOODFIT_SMALL:+small}$((n % 4)):$name in small[123]:pollux-[78]* | small0:* | [0-3]:*) ;; *) continue ;; esac
	run "$name is drawn" 0 "$recipe" "$T/figures"
	hasnt "$name: nothing went wrong on the way" "$T/err" 'awk|sh:|sort:|cut:|gf-'
	for picture in "$T/figures/$name"*.svg; do
		p=${picture%.svg}
		[ -s "$p.png" ] && [ -s "$p.gp" ] && [ -s "$p.dat" ] && tail -c 8 "$p.svg" | grep -q '</svg>'
		ok "${p##*/}: picture, script and data" $?
	done
	for made in "$T/figures/$name"*.tsv; do
		gf-table check "$made" >"$T/checked" 2>&1 && grep -q '^#data=shipped$' "$made"
		ok "${made##*/} is a table that says what it is of" $?
	done
	awk -F '\t' '/^#/ { next } $1 == "claim" { next } $4 != "holds" && $4 != "differs" || NF != 5 { bad = 1 } { n++ }
		END { exit bad || !n }' "$T/figures/$name-claims.tsv"
	ok "$name: claims have verdicts" $?
done
ok "there are recipes" "$([ $n -ge 10 ]; echo $?)"

# Means and intervals again, by another way: sums of squared differences from the mean.
awk -F '\t' '/^#/ { next } $1 == "load" { next }
	FILENAME ~ /-runs/ { k = $1 " " $2; x[k, ++n[k]] = $5 / 3600; s[k] += $5 / 3600; next }
	{ k = $1 " " $2; m = s[k] / n[k]; v = 0
	  for (i = 1; i <= n[k]; i++) v += (x[k, i] - m) ^ 2
	  t = 12.706 * sqrt(v / (n[k] - 1) / n[k])
	  rows++
	  if (n[k] != 2 || (m - $4) ^ 2 > 1e-10 || (t - $5) ^ 2 > 1e-8) bad = 1 }
	END { exit bad || rows != 6 }' "$T/figures/pollux-8a-runs.tsv" "$T/figures/pollux-8a.tsv"
ok "means over the workloads and their intervals" $?

# The cache: a second time nothing is replayed, and the same comes out.
cp -r "$T/figures" "$T/before"
run "a figure again" 0 figures/pollux-8a "$T/figures"
hasnt "no replay is run twice" "$T/err" 'replays'
for f in pollux-8a.svg pollux-8a.tsv pollux-8a-claims.tsv pollux-8a-runs.tsv; do
	same "the same $f" "$T/before/$f" "$T/figures/$f"
done
grep -r -l -e "$T" -e "$TOP" "$T/figures" >"$T/paths"
is "no output names a folder of this machine" "$T/paths" ""

# Fairness by hand: a job that was never with another one has the whole cluster as its share.
awk -F '\t' '/^#/ { next } $1 == "policy" { next }
	{ n++; if ($3 < 1 || $4 > 32 || ($3 * $4 - 32) ^ 2 > 1e-6 || ($7 - $5 / $6) ^ 2 > 1e-6 * $7) bad = 1 }
	END { exit bad || n != 180 }' "$T/figures/pollux-7-jobs.tsv"
ok "shares and ratios of finish-time fairness" $?
FIGURE_DATA=other
run "data of no known kind" 1 figures/pollux-3 "$T/figures"
is "are named" "$T/err" "pollux-3: FIGURE_DATA: bad value 'other' (expected public or shipped)"
