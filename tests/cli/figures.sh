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
printf 'x\ty\ts\n1\t2\tdotted\n' >style.tsv
run "a style that is not known" 1 gf-plot panels --x x --y y --style s -o bad.svg style.tsv
is "is named" "$T/err" \
	"gf-plot: style.tsv:2:s: bad style 'dotted' (expected lines, curve, steps, area, points or hollow)"
printf 'x\ty\n0\t2\n' >zero.tsv
run "0 on a logarithmic axis" 1 gf-plot panels --x x --y y --log-x -o bad.svg zero.tsv
is "is named, too" "$T/err" "gf-plot: zero.tsv:2:x: '0' on a logarithmic axis (expected more than 0)"
printf 'x\ty\te\n1\t2\t-1\n' >neg.tsv
run "an error bar below 0" 1 gf-plot panels --x x --y y --error e -o bad.svg neg.tsv
is "is an error" "$T/err" "gf-plot: neg.tsv:2:e: bad length '-1' of an error bar (expected 0 or more)"
run "no rows" 1 gf-plot panels --x x --y y -o bad.svg - </dev/null
ok "no picture of bad data" "$([ ! -e bad.svg ]; echo $?)"
cd "$TOP" || exit 99
