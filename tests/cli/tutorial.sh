#!/bin/sh
# SPDX-License-Identifier: MIT
# docs/tutorial.md: its commands run, in order and in one shell, and leave what the text says.
. tests/cli/lib.sh
need_tool bash 12
need_tool gnuplot 12

# The indented lines of a page, as one script.
commands() { awk '/^```/ { other = !other } !other && sub(/^    /, "")' "$1"; }

mkdir "$T/run"
ln -s "$(cd "$B" && pwd)" "$T/run/build"
cp -R scripts "$T/run/scripts"
commands docs/tutorial.md >"$T/all"
grep -q gf-gate "$T/all" && grep -q 'gf-trace --from sacct' "$T/all" && grep -q 'gf-prof --from nvidia-smi' "$T/all"
ok "the tutorial goes from sacct and nvidia-smi to the gate" $?
status=0
(cd "$T/run" && bash -euo pipefail "$T/all") >"$T/out" 2>"$T/err" </dev/null || status=$?
ok "its commands run" $status
[ $status -eq 0 ] || diag_file "standard error" "$T/err"
cd "$T/run/out/tutorial" || exit 99
grep -c '^[0-9]' data/sacct.txt >"$T/n"
is "all jobs of the dump" "$T/n" 1600
has "become a table" trace.tsv '^#end rows=1600$'
has "the gate passes the model" verdict.tsv '^residual	(NA	)?.*	pass	'
hasnt "in all" verdict.tsv '	fail	'
has "and not the other one" no.tsv '^residual	.*	fail	'
has "the replay is verified" "$T/out" '^#end rows=0$'
awk -F '\t' 'NR > 1 && $4 == "lines" { n[$1]++; h[$1 " " $2] = $3 }
	END {
		for (p in n) if (n[p] != 5) bad = 1
		# More GPUs never hurt first in first out here; the model is worth more than nothing, and not more than the truth.
		exit bad || !(h["fifo 16"] > h["fifo 24"] && h["qssf 16"] < 0.8 * h["fifo 16"] && h["srtf 16"] < h["qssf 16"])
	}' points.tsv
ok "four policies on five clusters, in the order that one would think" $?
[ "$(grep -c '^worth having	' points.tsv)" -ge 2 ]
ok "and several points worth having" $?
[ -s pareto.svg ] && [ -s pareto.gp ] && [ -s pareto.dat ] && [ -s durations.svg ]
ok "the figures are there" $?
cd "$TOP" || exit 99
scripts/tutorial-data "$T/again" && cmp -s "$T/again/sacct.txt" "$T/run/out/tutorial/data/sacct.txt" &&
	cmp -s "$T/again/nvidia-smi.csv" "$T/run/out/tutorial/data/nvidia-smi.csv"
ok "made data are the same each time" $?
