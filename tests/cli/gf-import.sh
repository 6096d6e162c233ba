# SPDX-License-Identifier: MIT
# gf-import: what others write in the formats that gf-export writes; faults and their places. Round trips are
# in gf-export.sh.
. tests/cli/lib.sh

# what others write
printf '# a comment\n# HELP up Is it "up"?\\nyes \\\\ no\n# TYPE up untyped\nup{ a="x,y}" , b = "\\"" , } 1e3\n\nbare 2\ninf +Inf\n' >"$T/other.prom"
run "blanks, comments and commas of others" 0 gf-import --no-meta "$T/other.prom"
is "are read" "$T/out" 'metric	type	help	labels	value
up	untyped	Is it "up"?\nyes \\ no	a="x,y}",b="\\""	1000
bare	NA	NA		2
inf	NA	NA		inf'
# what HELP and TYPE say holds for the name, also where samples of another metric come between
printf '# HELP up is it up\n# TYPE up gauge\nup{a="x"} 1\nother 2\nup{a="y"} 3\n' >"$T/apart.prom"
run "samples of a metric that are apart" 0 gf-import --no-meta "$T/apart.prom"
is "are of one type" "$T/out" 'metric	type	help	labels	value
up	gauge	is it up	a="x"	1
other	NA	NA		2
up	gauge	is it up	a="y"	3'
gf-import "$T/apart.prom" | gf-export --to prometheus - >"$T/again.prom"
same "and are written as they were" "$T/apart.prom" "$T/again.prom"

# hints as a job of AdaptDL puts them: no name, its own order, nulls
printf '{"perfParams": {"gamma": 1.5, "alpha_c": 0.5, "beta_c": 0.25, "alpha_n": 1, "beta_n": 2, "alpha_r": 3, "beta_r": 4},\n' >"$T/hints.json"
printf ' "initBatchSize": 64, "localBszBounds": [null, 128], "maxBatchSize": null, "gradParams": null}\n' >>"$T/hints.json"
run "hints of one job" 0 gf-import --no-meta "$T/hints.json"
is "its row" "$T/out" 'app	alpha_c_s	beta_c_s	alpha_n_s	beta_n_s	alpha_r_s	beta_r_s	gamma	init_batch	max_batch	min_local_bsz	max_local_bsz	global_batch	max_profiled_replicas	gradient_accumulation	grad_sqr	grad_var
NA	0.5	0.25	1	2	3	4	1.5	64	NA	NA	128	NA	NA	0	NA	NA'
gf-import "$T/hints.json" | gf-export --to adaptdl - >"$T/again.json"
has "written as one job again" "$T/again.json" '^\{"initBatchSize": 64, "localBszBounds": \[null, 128\], '
run "into a store" 0 gf-import -o "$T/store.h5:/hints" "$T/hints.json"
gf-table convert --no-meta "$T/store.h5:/hints" >"$T/a"
gf-import --no-meta "$T/hints.json" >"$T/b"
same "the same rows" "$T/a" "$T/b"
gzip -c "$T/hints.json" >"$T/hints.json.gz"
gf-import --no-meta "$T/hints.json.gz" >"$T/b"
same "compressed" "$T/a" "$T/b"

# ---- faults ----
# fault NAME STATUS MESSAGE COMMAND…
echo '{"initBatchSize": 0}' >"$T/bad.json"
refuses "a batch size of 0" 1 "gf-import: $T/bad.json: bad initBatchSize (expected a whole number of at least 1)" gf-import "$T/bad.json"
echo '{"ant": {"initBatchSize": 4, "perfParams": {"alpha_c": 1}}}' >"$T/bad.json"
refuses "a parameter is missing" 1 "gf-import: $T/bad.json: ant: bad perfParams.beta_c (expected a number)" gf-import "$T/bad.json"
echo '{"ant": {"initBatchSize": 4, ' >"$T/bad.json"
run "JSON that ends" 1 gf-import "$T/bad.json"
has "its line" "$T/err" "^gf-import: $T/bad.json:[12]: "
echo 'up{a="x} 1' >"$T/bad.prom"
refuses "a label without an end" 1 "gf-import: $T/bad.prom:1: a label without an end (expected a quote)" gf-import "$T/bad.prom"
printf 'up 1\ndown 1x\n' >"$T/bad.prom"
refuses "a bad value" 1 "gf-import: $T/bad.prom:2: bad value (expected a number, NaN, +Inf or -Inf)" gf-import "$T/bad.prom"
echo 'up 1 1700000000' >"$T/bad.prom"
refuses "a timestamp" 1 "gf-import: $T/bad.prom:1: something behind the value (expected no timestamp: a model has none)" gf-import "$T/bad.prom"
echo '# TYPE up thing' >"$T/bad.prom"
refuses "a bad type" 1 "gf-import: $T/bad.prom:1: bad type (expected counter, gauge, histogram, summary or untyped)" gf-import "$T/bad.prom"
echo 'up{a="\q"} 1' >"$T/bad.prom"
refuses "a bad escape" 1 "gf-import: $T/bad.prom:1: bad escape in a label (expected \\\\, \\\" or \\n)" gf-import "$T/bad.prom"
widths() {	# SHARE WORK
	echo "{\"schema\": \"goodfit-widths/1\", \"plans\": [{\"class\": \"a\", \"plan\": 0, \"share\": $1, \"widths\":" \
		"[{\"epoch\": 0, \"gpus\": 1, \"work\": $2}]}]}"
}
widths 1 10 >"$T/good.json"
run "widths" 0 gf-import "$T/good.json"
widths 5 10 >"$T/bad.json"
run "a share above one" 1 gf-import "$T/bad.json"
is "is said" "$T/err" "gf-import: $T/bad.json: plan 1: bad share (expected 0 to 1)"
widths 1 -1 >"$T/bad.json"
run "negative work" 1 gf-import "$T/bad.json"
is "is said" "$T/err" "gf-import: $T/bad.json: plan 1: bad work (expected 0 or more)"
gf-export --to widths-tsv tests/data/boa-plans.tsv | awk -F '\t' -v OFS='\t' 'NR == 3 { $3 = -0.5 } { print }' >"$T/bad.tsv"
run "a negative share in a table" 1 gf-import "$T/bad.tsv"
is "is said" "$T/err" "gf-import: $T/bad.tsv:3:share: bad share '-0.5' (expected 0 to 1)"
echo '{"schema": "goodfit-widths/1", "plans": [{"class": "a", "plan": 0, "share": 1, "widths": [{"epoch": 0, "gpus": 0}]}]}' >"$T/bad.json"
refuses "a width of 0" 1 "gf-import: $T/bad.json: plan 1: bad gpus (expected a whole number of at least 1)" gf-import "$T/bad.json"
echo '!' >"$T/bad.txt"
refuses "no format" 1 "gf-import: $T/bad.txt: no format that is known (expected what gf-export writes)" gf-import "$T/bad.txt"
refuses "an unknown format to read" 2 "gf-import: unknown format 'xml' (gf-import --help lists them)" gf-import --from xml "$T/bad.txt"
