# SPDX-License-Identifier: MIT
# Case 14: labels are text. Names that users gave reach gnuplot as plain text: no subscripts, no markup,
# no command. The names are those of the case, and harder ones of our own.
. tests/cli/lib.sh
need_tool gnuplot 71

mkdir "$T/work"
cd "$T/work" || exit 99
cat >series.csv <<'END'
policy,avg_jct_s
res_net_50,100
a^b,110
it's,120
"say ""hi""",130
`touch pwned-backtick`,140
$(touch pwned-dollar),150
{/Symbol a},160
100% @home,170
back\slash\n,180
müller,190
"two
lines",200
;set output 'pwned-semicolon';,210
END
if [ -n "$GOODFIT_SHARED" ] && [ -f "$GOODFIT_SHARED/cases/14-figure-labels-are-text/series.csv" ]; then
	same "the case's own file is this one" "$GOODFIT_SHARED/cases/14-figure-labels-are-text/series.csv" series.csv
else
	skip "no shared data"
fi

# The texts of an SVG as they read after unescaping, one a line.
texts() {
	tr -d '\n' <"$1" | sed 's/<text>/\n&/g' | sed -n 's/^<text>\(<tspan[^>]*>\)*\([^<]*\)<.*/\2/p' |
		sed "s/&lt;/</g; s/&gt;/>/g; s/&quot;/\"/g; s/&apos;/'/g; s/&#39;/'/g; s/&amp;/\&/g"
}

# exact LABEL FILE: one text of FILE is LABEL, in one piece
exact() {
	grep -qxF -e "$1" "$2"
	set -- $? "$(printf '%s' "$1" | tr '\134' /)"
	ok "in one piece: $2" "$1"
}

# Bars, and lines, one label a row.
for verb in bars lines; do
	run "$verb as SVG" 0 gf-plot $verb --csv --x policy --y avg_jct_s -o "$verb.svg" series.csv
	is "$verb: nothing to say" "$T/err" ""
	texts "$verb.svg" >"$T/texts"
	exact 'res_net_50' "$T/texts"
	exact 'a^b' "$T/texts"
	exact "it's" "$T/texts"
	exact 'say "hi"' "$T/texts"
	# shellcheck disable=SC2016
	exact '`touch pwned-backtick`' "$T/texts"
	# shellcheck disable=SC2016
	exact '$(touch pwned-dollar)' "$T/texts"
	exact '{/Symbol a}' "$T/texts"
	exact '100% @home' "$T/texts"
	exact 'back\slash\n' "$T/texts"
	exact 'müller' "$T/texts"
	exact 'two lines' "$T/texts"
	exact ";set output 'pwned-semicolon';" "$T/texts"
	exact 'avg_jct_s' "$T/texts"
	for kind in png pdf; do
		run "$verb as $kind" 0 gf-plot $verb --csv --x policy --y avg_jct_s -o "$verb.$kind" series.csv
		ok "$verb: there is a $kind" "$([ -s "$verb.$kind" ]; echo $?)"
	done
done
head -c 8 bars.png | od -An -tx1 | tr -d ' \n' >"$T/magic"
grep -qx 89504e470d0a1a0a "$T/magic"
ok "the PNG is one" $?
head -c 5 bars.pdf >"$T/magic"
grep -q '%PDF-' "$T/magic"
ok "the PDF is one" $?

# Two runs, and the kept script by hand: the same picture.
cp bars.svg first.svg
cp bars.png first.png
gf-plot bars --csv --x policy --y avg_jct_s -o bars.png series.csv
same "two runs: the same PNG" first.png bars.png
rm bars.png
gnuplot bars.gp >"$T/out" 2>"$T/err"
ok "the kept script runs by hand" $?
same "by hand: the same PNG" first.png bars.png
gf-plot bars --csv --x policy --y avg_jct_s -o bars.svg series.csv
same "two runs: the same SVG" first.svg bars.svg
rm bars.svg
(unset LC_ALL && LC_ALL=C.UTF-8 gnuplot bars.gp) >"$T/out" 2>"$T/err"
ok "the kept script runs by hand, once more" $?
same "by hand: the same SVG" first.svg bars.svg

# Titles, axis texts and legends go the same way; so do file names.
# shellcheck disable=SC2016
# shellcheck disable=SC1003
nasty='`touch pwned-1` $(touch pwned-2) @GPVAL_TERM %s a_b^c {/Bold x} '\''; !touch pwned-3 '\'' \'
run "texts from the command line" 0 gf-plot bars --csv --x policy --y avg_jct_s --title "$nasty" \
	--xlabel "x $nasty" --ylabel "y $nasty" -o texts.svg series.csv
texts texts.svg >"$T/texts"
exact "$nasty" "$T/texts"
exact "x $nasty" "$T/texts"
exact "y $nasty" "$T/texts"
printf 'x,%s,%s\n1,2,3\n2,3,4\n' "$nasty" "b" >two.csv
run "column names in the legend" 0 gf-plot lines --csv --x x --y "$nasty" --y b -o legend.svg two.csv
texts legend.svg >"$T/texts"
exact "$nasty" "$T/texts"
# shellcheck disable=SC2016
for file in '|touch pwned-pipe.svg' '<touch pwned-in.svg' '`touch pwned-tick`.svg' "it's; !touch pwned-4.svg" \
	'-e.svg' '~root.svg' '%s @x.svg' '"q".svg'; do
	run "a file called $file" 0 gf-plot lines --csv --x x --y b -o "./$file" two.csv
	ok "it is there: $file" "$([ -s "./$file" ]; echo $?)"
done

# No file that a command would have made, and no process but gnuplot.
find "$T" -name 'pwned*' >"$T/made"
is "nothing was run" "$T/made" ""
if command -v strace >/dev/null 2>&1 && strace -o "$T/probe" true 2>/dev/null; then
	ASAN_OPTIONS=detect_leaks=0 strace -f -qq -e trace=execve,execveat -o "$T/trace" gf-plot bars --csv --x policy --y avg_jct_s \
		-o traced.png series.csv 2>"$T/err"
	grep -E 'exec(ve|veat)\(' "$T/trace" | sed 's/.*exec[veat]*("\([^"]*\)".*/\1/; s/.*\///' | sort >"$T/run"
	is "no process but gnuplot" "$T/run" "gf-plot
gnuplot"
else
	skip "strace cannot be used here"
fi
