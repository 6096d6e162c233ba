# SPDX-License-Identifier: MIT
# gf-plot: each figure, what is kept, where it goes, same bytes, faults.
. tests/cli/lib.sh
need_tool gnuplot 127

LOG=$TOP/tests/data/log-small.tsv
SERIES=$TOP/tests/data/series-small.tsv
mkdir "$T/w"
cd "$T/w" || exit 99

# ---- each figure in each format ----
run "jct-cdf" 0 gf-plot jct-cdf -o cdf.svg "$LOG"
is "jobs left out are counted" "$T/err" \
	"gf-plot: warning: $LOG: 4 of 6 jobs left out (3 unfinished, 1 rejected)"
is "jct-cdf: no output but the picture" "$T/out" ""
run "jct-cdf, logarithmic" 0 gf-plot jct-cdf -q --log-x -o log.svg "$LOG"
run "timeline" 0 gf-plot timeline -o timeline.svg "$LOG"
run "bars" 0 gf-plot bars --x policy --y jct_h --error jct_err -o bars.svg "$SERIES"
run "bars of two columns" 0 gf-plot bars --x policy --y jct_h --y makespan_h -o bars2.svg "$SERIES"
is "missing values are counted" "$T/err" "gf-plot: warning: 1 missing value is not drawn"
run "bars, logarithmic" 0 gf-plot bars --log-y --x policy --y jct_h -o barslog.svg "$SERIES"
run "lines" 0 gf-plot lines -q --x load --y jct_h --y makespan_h -o lines.svg "$SERIES"
run "lines, logarithmic" 0 gf-plot lines -q --log-x --log-y --x load --y jct_h -o lineslog.svg "$SERIES"
for f in cdf log timeline bars bars2 barslog lines lineslog; do
	tail -c 8 $f.svg | grep -q '</svg>' && [ -s $f.gp ] && [ -s $f.dat ]
	ok "$f: picture, script and data" $?
done
find . -name '*.tmp.*' >"$T/left"
is "nothing else is left" "$T/left" ""
for f in png pdf; do
	for verb in jct-cdf timeline; do
		run "$verb as $f" 0 gf-plot $verb -q -o "as-$verb.$f" "$LOG"
		ok "$verb as $f: it is there" "$([ -s "as-$verb.$f" ]; echo $?)"
	done
done

# ---- the data and the scripts are as they were (but for the version in the first line) ----
cd "$TOP" || exit 99
script() {
	sed 1d "$T/w/$1.gp" >"$T/script"
	golden "script of $1" "$T/script" "$2"
}
golden "data of jct-cdf" "$T/w/cdf.dat" tests/data/series-cdf.dat
script cdf tests/data/series-cdf.gp
golden "data of timeline" "$T/w/timeline.dat" tests/data/series-timeline.dat
script timeline tests/data/series-timeline.gp
golden "data of bars" "$T/w/bars2.dat" tests/data/series-bars2.dat
script bars2 tests/data/series-bars2.gp
golden "data of lines" "$T/w/lines.dat" tests/data/series-lines.dat
script lines tests/data/series-lines.gp
cd "$T/w" || exit 99

# ---- labels ----
texts() {
	sed -n 's/.*<text>\([^<]*\)<.*/\1/p' "$1"
}
texts cdf.svg >"$T/texts"
has "the policy is the label" "$T/texts" '^tiresias$'
has "axes have units" "$T/texts" '^job completion time \(s\)$'
cp "$LOG" again.tsv
grep -v '^#policy' "$LOG" >nameless.tsv
run "three logs" 0 gf-plot jct-cdf -q -o three.svg "$LOG" again.tsv nameless.tsv
texts three.svg >"$T/texts"
has "two logs of one policy are told apart" "$T/texts" '^tiresias \(again\.tsv\)$'
has "without a policy the file is the label" "$T/texts" '^nameless\.tsv$'
run "labels" 0 gf-plot jct-cdf -q --label one --label two -o three.svg --title Title --xlabel X --ylabel Y \
	"$LOG" again.tsv
texts three.svg >"$T/texts"
for t in one two Title X Y; do
	has "text: $t" "$T/texts" "^$t\$"
done
hasnt "labels replace the policy" "$T/texts" tiresias

# ---- the distribution rises, from 0 to 1 ----
awk 'NF == 2 && $1 != "#" { if ($1 < x || $2 < y) bad = 1; x = $1; y = $2; n++ }
	END { exit bad || n < 4 || y != 1 }' cdf.dat
ok "the curve rises, and ends at 1" $?

# ---- where the picture goes ----
cp cdf.svg want.svg
gf-plot jct-cdf -q "$LOG" >"$T/out" 2>"$T/err"
same "standard output gets the same SVG" want.svg "$T/out"
gf-plot jct-cdf -q -o - "$LOG" >"$T/out"
same "-o - too" want.svg "$T/out"
gf-plot jct-cdf -q --format png "$LOG" >out.png
gf-plot jct-cdf -q -o cdfp.png "$LOG"
same "--format" out.png cdfp.png
run "--format beats the suffix" 0 gf-plot jct-cdf -q --format svg -o odd.png "$LOG"
same "--format beats the suffix: an SVG" want.svg odd.png
run "no suffix, but --format" 0 gf-plot jct-cdf -q --format svg -o plain "$LOG"
ok "no suffix: script and data" "$([ -s plain.gp ] && [ -s plain.dat ]; echo $?)"
mkdir sub
run "in another folder" 0 gf-plot jct-cdf -q -o sub/cdf.svg "$LOG"
same "in another folder: the same SVG" want.svg sub/cdf.svg
same "in another folder: the same script" cdf.gp sub/cdf.gp
same "in another folder: the same data" cdf.dat sub/cdf.dat
run "to a device" 0 gf-plot jct-cdf -q --format svg -o /dev/null "$LOG"
ok "the device is still one" "$([ -c /dev/null ]; echo $?)"

# ---- same bytes ----
mkdir there
(cd there && LC_ALL=de_DE.UTF-8 TZ=Asia/Tokyo GNUTERM=x11 HOME=$T/w/there gf-plot timeline -q -o ../t2.svg "$LOG" &&
	gf-plot timeline -q --threads 4 -o ../t2.png - <"$LOG")
same "another folder, locale, time zone, home: the same SVG" timeline.svg t2.svg
same "from standard input: the same PNG" as-timeline.png t2.png
echo 'set title "mine"' >there/.gnuplot
(cd there && HOME=$T/w/there gf-plot timeline -q -o ../t3.svg "$LOG")
same "the user's own gnuplot settings do not matter" timeline.svg t3.svg
cp timeline.svg kept.svg
rm timeline.svg
gnuplot timeline.gp >"$T/out" 2>&1
same "the script by hand: the same SVG" kept.svg timeline.svg

# ---- CSV ----
tr '\t' ',' <"$SERIES" | sed 's/,NA/,/' >series.csv
run "CSV" 0 gf-plot bars -q --csv --x policy --y jct_h --y makespan_h -o csv.svg series.csv
same "CSV gives the same data" bars2.dat csv.dat
same "CSV gives the same picture" bars2.svg csv.svg
run "CSV on standard input" 0 gf-plot bars -q --csv --x policy --y jct_h --y makespan_h -o csv.svg <series.csv
same "CSV on standard input: the same picture" bars2.svg csv.svg
sed 's/7.75/seven/' series.csv >bad.csv
run "CSV: not a number" 1 gf-plot bars --csv --x policy --y jct_h -o bad.svg bad.csv
has "CSV: not a number: where" "$T/err" "^gf-plot: bad.csv:3:jct_h: "

# ---- faults leave no picture ----
rm -f bad.*
head -n 15 "$LOG" >cut.tsv
run "a stream that was cut" 1 gf-plot timeline -o bad.svg cut.tsv
lines "a stream that was cut: one line" "$T/err" 1
sed -n 1,13p "$LOG" >none.tsv
echo '#end rows=4' >>none.tsv
run "no finished job" 1 gf-plot jct-cdf -o bad.svg none.tsv
is "no finished job: said so" "$T/err" "gf-plot: none.tsv: no finished job"
run "no finished job: a timeline all the same" 0 gf-plot timeline -o some.svg none.tsv
head -n 9 "$LOG" >none.tsv
echo '#end rows=0' >>none.tsv
run "no events" 1 gf-plot timeline -o bad.svg none.tsv
is "no events: said so" "$T/err" "gf-plot: none.tsv: no events"
: >none.tsv
run "an empty file" 1 gf-plot timeline -o bad.svg none.tsv
sed 's/7.75/nan/' "$SERIES" >nan.tsv
run "not a number" 1 gf-plot bars --x policy --y jct_h -o bad.svg nan.tsv
is "not a number: where" "$T/err" "gf-plot: nan.tsv:3:jct_h: bad value 'nan' (expected a finite number)"
sed 's/7.75/-inf/' "$SERIES" >nan.tsv
run "infinite" 1 gf-plot lines --x load --y jct_h -o bad.svg nan.tsv
sed 's/7.75/0/' "$SERIES" >zero.tsv
run "0 on a logarithmic axis" 1 gf-plot lines --log-y --x load --y jct_h -o bad.svg zero.tsv
is "0 on a logarithmic axis: where" "$T/err" "gf-plot: zero.tsv:3:jct_h: '0' on a logarithmic axis (expected more than 0)"
sed 's/0.9$/-1/' "$SERIES" >neg.tsv
run "a negative error bar" 1 gf-plot bars --x policy --y jct_h --error jct_err -o bad.svg neg.tsv
is "a negative error bar: where" "$T/err" "gf-plot: neg.tsv:3:jct_err: bad length '-1' of an error bar (expected 0 or more)"
head -n 1 "$SERIES" >head.tsv
run "no rows" 1 gf-plot bars --x policy --y jct_h -o bad.svg head.tsv
is "no rows: said so" "$T/err" "gf-plot: head.tsv: no rows"
run "no such column" 1 gf-plot bars --x policy --y speed -o bad.svg "$SERIES"
has "no such column: which" "$T/err" "speed"
run "no such file" 3 gf-plot timeline -o bad.svg nowhere.tsv
run "no such folder" 3 gf-plot timeline -o nowhere/bad.svg "$LOG"
has "no such folder: said so" "$T/err" "^gf-plot: nowhere/bad.svg: cannot open for writing: "
run "onto a folder" 3 gf-plot timeline --format svg -o sub "$LOG"
run "a full disk" 3 sh -c "exec gf-plot timeline $LOG >/dev/full"
lines "a full disk: one line" "$T/err" 1
run "a closed standard output" 3 sh -c "exec gf-plot timeline $LOG >&-"
mkdir bin
run "no gnuplot" 3 env PATH="$T/w/bin" "$B/gf-plot" timeline -o bad.svg "$LOG"
is "no gnuplot: said so" "$T/err" \
	"gf-plot: gnuplot is not installed (no program of that name on the PATH); figures need it"
printf '#!/bin/sh\necho "\\"./x.gp\\" line 3: undefined variable: y" >&2\nexit 1\n' >bin/gnuplot
chmod +x bin/gnuplot
run "a gnuplot that fails" 3 env PATH="$T/w/bin" "$B/gf-plot" timeline -o bad.svg "$LOG"
is "a gnuplot that fails: its words" "$T/err" \
	'gf-plot: gnuplot failed with status 1: "./x.gp" line 3: undefined variable: y'
cp want.svg old.svg
run "a failure over an old picture" 3 env PATH="$T/w/bin" "$B/gf-plot" timeline -o old.svg "$LOG"
same "the old picture stays" want.svg old.svg
find . -name 'bad.*' -o -name '*.tmp.*' -o -name 'old.gp' >"$T/left"
is "faults leave nothing" "$T/left" ""

# ---- the command line ----
usage() {
	tap_what=$1 tap_text=$2
	shift 2
	run "$tap_what" 2 gf-plot "$@"
	is "$tap_what: said so" "$T/err" "gf-plot: $tap_text
Try 'gf-plot --help'."
}
verbs='jct-cdf, timeline, trace-cdf, diurnal, bars, lines, panels, shape or heatmap'
usage "no verb" "no verb (expected $verbs)"
usage "an unknown verb" "unknown verb 'pie' (expected $verbs)" pie
usage "an unknown suffix" "unknown kind of picture 'a.gif' (expected .svg, .png or .pdf, or --format)" \
	timeline -o a.gif "$LOG"
usage "too many labels" "2 times --label for 1 series" jct-cdf --label a --label b "$LOG"
usage "a bad size" "bad value '10x10' for --size (expected WxH, 100x100 to 8000x8000)" \
	timeline --size 10x10 "$LOG"
usage "errors for some columns" "1 times --error for 2 series (expected one for each --y)" \
	bars --x policy --y jct_h --y makespan_h --error jct_err "$SERIES"
usage "one column on both axes" "column 'load' on both axes" lines --x load --y load "$SERIES"
usage "not UTF-8" "a title or axis text is not in UTF-8" timeline --title "$(printf '\377')" "$LOG"
run "a size" 0 gf-plot timeline --size 500x300 -o size.svg "$LOG"
has "a size: it is that" size.svg 'width="500" height="300"'

# ---- far too long texts, many rows ----
awk 'BEGIN { print "x\ty"; for (i = 0; i < 60; i++) { s = "label_" i; for (k = 0; k < i; k++) s = s "_long%"
	print s "\t" i + 1 } }' >long.tsv
run "long labels" 0 gf-plot bars --x x --y y -o long.svg long.tsv
texts long.svg >"$T/texts"
has "a long label is cut, and says so" "$T/texts" '^label_59(_long%)+.*\.\.\.$'
awk 'BEGIN { print "x\ty"; for (i = 0; i < 20000; i++) print i "\t" i % 97 }' >many.tsv
printf 'time_s\tpolicy\tload\n0\tfifo\t1\n3600\tfifo\t3\n45000\tfifo\t2\n0\tsjf\t1\n9000\tsjf\t2\n' >by.tsv
run "lines, one a policy" 0 gf-plot lines --x time_s --y load --by policy -o by.svg by.tsv
printf '# 0: fifo\n0\t1\n1\t3\n12.5\t2\n\n\n# 1: sjf\n0\t1\n2.5\t2\n' >want.dat
same "two lines over hours" want.dat by.dat
has "the axis says so" by.gp 'time \(h\)'
head -n 3 by.tsv >short.tsv
run "lines over an hour" 0 gf-plot lines --x time_s --y load -o short.svg short.tsv
has "are over minutes" short.gp "^set xlabel 'time \(min\)'"
has "as numbers, too" short.dat '^60	3$'
run "with a text of one's own" 0 gf-plot panels --x time_s --y load --by policy --xlabel 'time (s)' -o own.svg by.tsv
has "numbers stay as they are" own.dat '^45000	2$'
sed 2d short.tsv >log.tsv
run "a logarithmic axis" 0 gf-plot lines --log-x --x time_s --y load -o own.svg log.tsv
has "stays in seconds" own.gp "^set xlabel 'time_s'"
usage "--by and two columns" "--by goes with one --y, and without --label and --csv" lines --x time_s --y load --y policy \
	--by policy by.tsv
run "many rows" 0 gf-plot lines --x x --y y -o many.svg many.tsv
run "to an open descriptor" 0 sh -c 'exec 5>five.svg; gf-plot lines --x x --y y --format svg -o /dev/fd/5 many.tsv'
gf-plot lines --x x --y y many.tsv >plain.svg
same "is written there" plain.svg five.svg
# slanted texts set the margin on the left, and what is too narrow for a label is drawn without one
for most in 7 0.4 0.025 0.00123 150 12345 3e7 -5 -3e7; do
	for n in 3 8; do
		awk -v m=$most -v n=$n 'BEGIN { OFS = "\t"; print "what", "s"; for (i = 1; i <= n; i++) print "a-name-of-it-" i, m * i / n }' >slanted.tsv
		gf-plot bars --x what --y s --xlabel '' --ylabel 'this label' -o slanted.svg slanted.tsv
		grep -q '<text>this label</text>' slanted.svg
		ok "the label of $n bars up to $most is there" $?
	done
done
printf 'x\ty\n1\t1\n2\t1e308\n' >huge.tsv
run "a number that gnuplot would leave out" 1 gf-plot lines --x x --y y -o huge.svg huge.tsv
is "is refused" "$T/err" "gf-plot: huge.tsv:3:y: '1e+308' is too large to be drawn (expected at most 1e+300)"
run "the same along the x axis" 1 gf-plot lines --x y --y x -o huge.svg huge.tsv
is "likewise" "$T/err" "gf-plot: series '', point 2: too large to be drawn (expected at most 1e+300)"
