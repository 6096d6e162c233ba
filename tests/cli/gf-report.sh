# SPDX-License-Identifier: MIT
# gf-report: what is in the page, what it must not hold, what changed, faults; and what a browser says of it.
. tests/cli/lib.sh

mkdir "$T/f" "$T/r"
cat >"$T/f/one-claims.tsv" <<'END'
#fit-table/1
#data=shipped
claim	published	here	verdict	what
a	at most 2 & <b>	1.5	holds	it is "small"
b	3	4	differs	it is large
#end rows=2
END
printf '#fit-table/1\n#tool=figures/one\n#version=9\n#input=abc\n#seed=7\nx\ty\tnote\n1\t0.25\tNA\n2\t1e-7\t<script>alert(1)</script>\n3\t4\tx\n#end rows=3\n' \
	>"$T/f/one.tsv"
printf 'x\n1\n' >"$T/f/one-more.tsv"
svg() {
	printf '<?xml version="1.0"?>\n<svg width="200" height="100" viewBox="0 0 200 100" xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">\n'
	printf '<title>Gnuplot</title><defs><circle id="dot" r="2"/></defs>%s<use xlink:href="#dot"/></svg>\n' "$1"
}
svg '<text>one</text>' >"$T/f/one.svg"
svg '<text>two</text>' >"$T/f/one-part.svg"
svg '<text>three</text>' >"$T/f/alone.svg"
printf '#!/bin/sh\n# SPDX-License-Identifier: MIT\n# Figure 1 of a paper: a < b\n# and more.\n#\n# Not this.\nNAME=one\n' >"$T/r/one"
printf 'claim\there\tverdict\tn_jobs\nc1\t0.5\tholds\t3\nc2\tNA\tcannot be checked here\t4\n' >"$T/v.tsv"
printf 'app\tmape_pct\nbert\t1.25\n' >"$T/m.tsv"

run "a page" 0 gf-report -t 'A & B' --verdicts "$T/v.tsv" --model "$T/m.tsv" -r "$T/r" -o "$T/a.html" "$T/f"
is "nothing said" "$T/err" ""
has "title" "$T/a.html" '<h1>A &amp; B</h1>'
has "counts" "$T/a.html" 'holds: 1; cannot be checked here: 1\.'
has "a caption from the recipe" "$T/a.html" '^<p>Figure 1 of a paper: a &lt; b$'
hasnt "and no more of it" "$T/a.html" 'Not this'
has "claims of the recipe" "$T/a.html" 'at most 2 &amp; &lt;b&gt;'
has "its command" "$T/a.html" '<code>make figures/one</code>'
has "its data" "$T/a.html" 'Data: one-more, 1 row<'
has "models" "$T/a.html" '<td>bert</td><td class="n">1.25</td>'
printf '#fit-table/1\n#table=all\napp\nx\n#end rows=1\n#fit-table/1\n#table=bins\ncut\n0.5\n#end rows=1\n' >"$T/two.tsv"
run "a model of two tables" 0 gf-report -m "$T/two.tsv" "$T/f"
has "the second has its name, too" "$T/out" '<h3>two.tsv: bins</h3>'
has "and its rows" "$T/out" '<td class="n">0.5</td>'
has "provenance" "$T/a.html" '<tr><td>one</td><td>figures/one</td><td>9</td>.*seed=7.*input=abc'
hasnt "nothing of a table is markup" "$T/a.html" '<script'
hasnt "nothing leads away" "$T/a.html" '(href|src)="?http'
[ "$(grep -c '<svg role="img"' "$T/a.html")" -eq 3 ] && grep -q 'id="one-dot"' "$T/a.html" &&
	grep -q 'href="#one-part-dot"' "$T/a.html" && ! grep -q '<title>Gnuplot' "$T/a.html"
ok "three pictures, their names apart" $?
has "one is of no recipe" "$T/a.html" '<h3>Other pictures</h3>'
run "again" 0 gf-report -t 'A & B' --verdicts "$T/v.tsv" --model "$T/m.tsv" -r "$T/r" -o "$T/b.html" "$T/f"
same "the same page" "$T/a.html" "$T/b.html"
mkdir "$T/elsewhere" && cp -r "$T/f" "$T/elsewhere/g"
run "from another folder" 0 gf-report -t 'A & B' --verdicts "$T/v.tsv" --model "$T/m.tsv" -r "$T/r" "$T/elsewhere/g"
same "the same page" "$T/a.html" "$T/out"
run "few rows" 0 gf-report --rows 1 "$T/f"
has "the rest is counted" "$T/out" '<p>2 more rows are not shown\.</p>'

cat >"$T/c.tsv" <<'END'
claim	paper	place	quantity	published	unit	agreement	tolerance_pct	here	off_pct	verdict	data	remark	recipes
c1	pollux	table 2	mean JCT	2.5	h	within	10	2.6	4.1	holds	public	NA	r
c2	lucid	section 5	makespan	4	h	within	0	8	100	differs	public	another trace	r
END
run "claims in the width of a page" 0 gf-report --verdicts "$T/c.tsv" "$T/f"
has "paper and place stand below the claim" "$T/out" '<td>c1<span class="side">pollux, table 2</span></td><td>mean JCT</td>'
has "unit and tolerance beside the number" "$T/out" '<td class="n">2.5 h<span class="side">within 10 %</span></td><td class="n">2.6</td>'
has "how far off where it differs" "$T/out" '<td class="n">4 h</td><td class="n">8<span class="side">off by 100 %</span></td>'
has "each recipe is in the list" "$T/out" '<li><a href="#figure-one">one</a></li>'

# ---- changes ----
run "nothing changed" 0 gf-report -p "$T/a.html" --verdicts "$T/v.tsv" --model "$T/m.tsv" "$T/f"
has "is said" "$T/out" '<p>0 changes, 10 unchanged\.</p>'
sed 's/0\.5	holds/0.75	differs/' "$T/v.tsv" >"$T/w.tsv"
rm "$T/f/alone.svg"
svg '<text>new</text>' >"$T/f/one-part.svg"
svg '<text>fresh</text>' >"$T/f/zwei.svg"
run "changes" 0 gf-report -p "$T/a.html" --verdicts "$T/w.tsv" --model "$T/m.tsv" "$T/f"
sed -n '/<section id="changes">/,/<\/section>/p' "$T/out" | grep '^<[lp]' | sed 's/^<ul>//' >"$T/changes"
is "each is told" "$T/changes" '<li>claim <b>c1</b>: changed from holds (0.5) to differs (0.75)</li>
<li>table <b>w.tsv</b>: new</li>
<li>picture <b>one-part</b>: changed</li>
<li>picture <b>zwei</b>: new</li>
<li>table <b>v.tsv</b>: gone</li>
<li>picture <b>alone</b>: gone</li>
<p>6 changes, 6 unchanged.</p>'

# ---- faults ----
echo '<p>hello</p>' >"$T/no.html"
run "no report" 1 gf-report -p "$T/no.html" "$T/f"
is "is said" "$T/err" "gf-report: $T/no.html: not a report of gf-report (no list of what it holds)"
run "no folder" 3 gf-report "$T/none"
is "is said" "$T/err" "gf-report: cannot open folder $T/none: No such file or directory"
for bad in '<script>x()</script>' '<g onclick="x()"/>' '<use xlink:href="http://x/y#z"/>' '<rect fill="url(http://x)"/>' \
	'<image href="x.png"/>' '<foreignObject/>' '<style>@import "http://x";</style>' '<style>p{fill:URL( http://x)}</style>' \
	'<rect style="fill:u\72l(http://x)"/>' '<rect style="fill:&#117;rl(http://x)"/>' "<a HREF = 'http://x'>x</a>" \
	'<rect id=">" style="fill:url(http://x)"/>' '<SCRIPT>x()</SCRIPT>' '<g ONCLICK = "x()"/>' '<!-- a comment'; do
	svg "$bad" >"$T/f/one.svg"
	run "a picture with $bad" 1 gf-report -o "$T/none.html" "$T/f"
	has "is refused" "$T/err" "^gf-report: $T/f/one.svg: a picture with .* \\(expected one that stands by itself\\)$"
done
svg '<!-- <script> would be one --><style>p { fill: url(#dot) }</style><text>url(http://x), onx=1</text>' >"$T/f/one.svg"
run "words in comments and texts are nothing of the kind" 0 gf-report "$T/f"
hasnt "and comments stay out" "$T/out" 'would be'
echo text >"$T/f/one.svg"
run "no picture" 1 gf-report -o "$T/none.html" "$T/f"
is "is said" "$T/err" "gf-report: $T/f/one.svg: no svg element (expected an SVG picture)"
[ ! -e "$T/none.html" ]
ok "no page is left" $?
run "into a store" 2 gf-report -o "$T/s.h5:/x" "$T/f"

rm "$T/f/one.svg"
run "a table without verdicts" 1 gf-report --verdicts "$T/m.tsv" "$T/f"
is "is said" "$T/err" "gf-report: $T/m.tsv: no column 'verdict' of texts (--verdicts)"
run "no folder of recipes" 3 gf-report -r "$T/none" "$T/f"
is "is said" "$T/err" "gf-report: cannot open folder $T/none: No such file or directory"
run "an empty title" 2 gf-report -t ' ' "$T/f"
has "is said" "$T/err" '^gf-report: an empty --title \(a page needs one\)$'
printf 'check\tverdict\nresidual\tfail\n' >"$T/gate.tsv"
run "a gate that fails" 0 gf-report --verdicts "$T/gate.tsv" "$T/f"
has "is marked as such" "$T/out" '<td class="differs"><span aria-hidden="true">✗ </span>fail</td>'
mkdir "$T/f2"
cp "$T/f/"* "$T/f2"
run "names that come again in a second folder" 0 gf-report "$T/f" "$T/f2"
grep -o ' id="[^"]*"' "$T/out" | sort | uniq -d >"$T/ids"
is "have ids of their own" "$T/ids" ""
has "which the list leads to" "$T/out" '<li><a href="#figure-one.2">one</a></li>'

# ---- a browser ----
browser=
for b in chromium chromium-browser google-chrome; do
	[ -n "$browser" ] || ! command -v $b >/dev/null 2>&1 || browser=$b
done
if [ -z "$browser" ] || ! command -v gnuplot >/dev/null 2>&1; then
	skip "no Chromium, or no gnuplot" 4
	exit 0
fi
rm -f "$T"/f/*
gf-replay -q --policy sjf --cluster 2x4 tests/data/jobs-small.tsv >"$T/log.tsv"
gf-plot jct-cdf -o "$T/f/real.svg" "$T/log.tsv"
gf-replay -q --policy fifo --cluster 2x4 tests/data/jobs-small.tsv | gf-metrics | gf-table convert - -o "$T/f/real.tsv"
cp tests/data/report-claims.tsv "$T/f/real-claims.tsv"
gf-claims show -f "$T/f" data/claims.tsv -o "$T/claims.tsv"
gf-synth profiles --calibration data/apps.tsv "$T/apps" 2>"$T/err"
gf-prof --from pollux "$T/apps" -o "$T/profiles.h5"
gf-throughput -q --profile "$T/profiles.h5" -o "$T/theta.tsv"
gf-gate -q -d "$T/profiles.h5:/placements" -o "$T/gate.tsv" "$T/theta.tsv"
gf-report --verdicts "$T/claims.tsv" --verdicts "$T/gate.tsv" --model "$T/m.tsv" --model "$T/theta.tsv" -o "$T/page.html" "$T/f"
# check WIDTH OPTION...: the page in a frame of that width, with the questions of report-check.js
check() {
	width=$1
	shift
	{
		sed -e '/^<\/body>$/d' -e '/^<\/html>$/d' "$T/page.html"
		echo '<script data-check>'
		cat tests/data/report-check.js
		echo '</script></body></html>'
	} >"$T/asked.html"
	{
		echo "<iframe id=f src=asked.html style='width:${width}px;height:900px;border:0'></iframe><script>"
		echo 'onload = function () { var t = f.contentDocument.body.lastElementChild.textContent;'
		echo 'var n = String.fromCharCode(10); document.body.textContent = n + t + n; };</script>'
	} >"$T/frame.html"
	HOME=$T timeout 300 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
		--allow-file-access-from-files --user-data-dir="$T/profile" --window-size=1400,1000 "$@" \
		--virtual-time-budget=20000 --dump-dom "file://$T/frame.html" 2>"$T/browser" | grep '^\[' >"$T/said"
	grep -v '^\[checked .* 0 faults\]$' "$T/said" >"$T/faults"
	grep -q "^\\[checked [0-9]* elements, $width wide, 0 faults\\]" "$T/said"
	ok "in a browser, $width wide $*: sound" $?
	[ ! -s "$T/faults" ] || diag_file "faults" "$T/faults"
}
check 390
check 1280
check 1280 --force-dark-mode
# on paper, of the width that A4 leaves
sed -i 's/@media print{/@media all{/' "$T/page.html"
check 718
