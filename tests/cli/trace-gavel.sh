# SPDX-License-Identifier: MIT
# gf-trace --from gavel: traces of the Gavel simulator, ten fields or the old seven.
. tests/cli/lib.sh
D=tests/data

fault() {
	refuses "$1" 1 "gf-trace: $T/bad$2" gf-trace -q --from gavel "$T/bad"
}

run "ten fields" 0 gf-trace --no-meta --from gavel $D/trace-gavel.trace
is "numbered as they stand; no SLO is missing; quotes in a command are characters" "$T/out" \
"job_id	app	submit_s	gpus	batch_size	work	priority	slo
0	ResNet-18	0	2	32	9200	1	NA
1	A3C	12.5	1	NA	410	5	1.2
2	LM	46317.123456789	4	80	70	1	10"
is "silently" "$T/err" ""
cp "$T/out" "$T/want"
run "seven fields" 0 gf-trace --no-meta --from gavel $D/trace-gavel-old.trace
is "have neither priority nor SLO" "$T/out" \
"job_id	app	submit_s	gpus	batch_size	work	priority	slo
0	ResNet-18	0	64	32	9200	NA	NA
1	Transformer	31	2	16	55	NA	NA"
{ printf '\357\273\277'; sed 's/$/\r/' $D/trace-gavel.trace; printf '\n\r\n'; } >"$T/b"
run "byte order mark, CRLF, blank lines" 0 gf-trace -q --no-meta --from gavel "$T/b"
same "the same rows" "$T/want" "$T/out"
printf '%s' "$(cat $D/trace-gavel.trace)" >"$T/b"
run "no final line feed" 0 gf-trace -q --no-meta --from gavel "$T/b"
same "the same rows again" "$T/want" "$T/out"

T1=$(sed -n 1p $D/trace-gavel.trace) T2=$(sed -n 2p $D/trace-gavel.trace) T3=$(sed -n 3p $D/trace-gavel.trace)
printf '%s\n%s\n%s\n' "$T1" "$T3" "$T2" >"$T/bad"
fault "out of order" ":3:arrival_time: not in order '12.5' (expected at least 46317.123456789, the arrival \
before; or --sort)"
run "--sort" 0 gf-trace -q --no-meta --sort --from gavel "$T/bad"
cut -f 1,3 "$T/out" >"$T/order"
is "puts it right; the numbers stay those of the file" "$T/order" \
"job_id	submit_s
0	0
2	12.5
1	46317.123456789"
printf '%s\n' "$T1" | sed 's/-1.000000/-2.0/' >"$T/bad"
fault "an SLO of -2" ":1:SLO: out of range '-2' (expected more than 0, or -1)"
printf '%s\n' "$T1" | sed 's/-1.000000/0/' >"$T/bad"
fault "an SLO of 0" ":1:SLO: out of range '0' (expected more than 0, or -1)"
printf '%s\n' "$T2" | sed 's/	410	1	/	410	0	/' >"$T/bad"
fault "no GPUs" ":1:scale_factor: out of range '0' (expected at least 1)"
printf '%s\n' "$T2" | sed 's/	410	/	0	/' >"$T/bad"
fault "no steps" ":1:total_steps: out of range '0' (expected at least 1)"
printf '%s\n' "$T2" | sed 's/	0	410	/	yes	410	/' >"$T/bad"
fault "a flag that is none" ":1:needs_data_dir: bad value 'yes' (expected an integer)"
printf '%s\n%s\n' "$T1" "$T2" | cut -f 1-9 >"$T/bad"
fault "nine fields" ":1: 9 fields, 10 or 7 expected"
{ printf '%s\n' "$T1"; sed -n 2p $D/trace-gavel-old.trace; } >"$T/bad"
fault "seven fields among ten" ":2: 7 fields, 10 expected"
run "unless that one is left out" 0 gf-trace --skip-bad 1 --no-meta --from gavel "$T/bad"
has "with a count" "$T/err" ': 1 bad record left out \(1 ragged row\)$'
: >"$T/bad"
fault "an empty file" ": empty file (expected rows)"
for f in trace-gavel trace-gavel-old; do
	run "$f is recognised" 0 gf-trace -v --from auto $D/$f.trace
	has "by its fields" "$T/err" 'recognised gavel \((10|7) fields between tabs'
done
