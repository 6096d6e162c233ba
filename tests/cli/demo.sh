# SPDX-License-Identifier: MIT
# The same for every build.
# scripts/demo: the whole path with two figures of the papers, on the shipped data; what it names is there.
. tests/cli/lib.sh
need_tool gnuplot 20

# What is built is taken as it is, whatever its flags.
AS_BUILT=1 GOODFIT_SHARED=$T/none RECIPES='pollux-9b boa-table-1'
export AS_BUILT GOODFIT_SHARED RECIPES
unset MAKEFLAGS MFLAGS MAKELEVEL
run "the demo" 0 scripts/demo "$T/out folder"
is "nothing goes wrong on the way" "$T/err" ""
cp "$T/out" "$T/said"
sed -n 's/^== The first figure, after [0-9]* s: //p' "$T/said" >"$T/first"
is "the first figure is named" "$T/first" "$T/out folder/overview/jct-cdf.svg"
[ -s "$T/out folder/overview/jct-cdf.svg" ]
ok "and there" $?
awk '/^== The first figure/ { first = NR } /^== Figures of the papers/ { papers = NR } /^== Verify/ { verify = NR }
	END { exit !(first && first < verify && verify < papers) }' "$T/said"
ok "before anything that takes long" $?
tail -n 2 "$T/said" >"$T/last"
has "the verdict of the gate comes last" "$T/last" "^pass: "
has "replays are verified" "$T/said" "^tiresias  *verified "
for f in report.html claims.tsv verdicts.tsv theta.tsv residuals.tsv gate.tsv figures/pollux-9b.svg figures/boa-table-1.svg; do
	[ -s "$T/out folder/$f" ]
	ok "$f is there" $?
done
[ "$(find "$T/out folder/figures" -name '*.svg' | wc -l)" -eq 2 ]
ok "and no other figures than were asked for" $?
has "the page has the figures" "$T/out folder/report.html" 'id="[^"]*pollux-9b'
run "a second time" 0 scripts/demo "$T/out folder"
has "the page is compared with the first one" "$T/out" "[-]-previous"

run "an option that it has not" 2 scripts/demo --fast
is "is refused" "$T/err" "usage: scripts/demo [--full] [FOLDER]"
run "two folders" 2 scripts/demo a b
run "help" 0 scripts/demo --help
has "says what --full does" "$T/out" "[-]-full is given"
