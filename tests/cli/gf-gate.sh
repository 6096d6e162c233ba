# SPDX-License-Identifier: MIT
# gf-gate: of each kind of models a good one passes and planted bad ones are stopped, each by the check that is
# meant; comparisons with an incumbent find planted shifts; policies, formats, faults.
. tests/cli/lib.sh
D=tests/data

# gate NAME STATUS ARG…: the verdict table in $T/out, without metadata
gate() {
	gate_name=$1 gate_want=$2
	shift 2
	run "$gate_name" "$gate_want" gf-gate --no-meta "$@"
}
# stopped NAME CHECK[, REGION] ARG…: the model fails, and by that check
stopped() {
	stopped_by=$2 stopped_name=$1
	shift 2
	gate "$stopped_name: stopped" 1 "$@"
	awk -F '\t' -v c="$stopped_by" '$7 == "fail" && ($1 == c || $1 ", " $2 == c) { f = 1 } END { exit !f }' "$T/out"
	ok "$stopped_name: by $stopped_by" $?
	has "$stopped_name: the verdict" "$T/out" '^verdict	NA	.*	fail	'
}
# found CHECK REGION: value, low and high of a finding in $T/out, and its verdict
found() {
	awk -F '\t' -v c="$1" -v r="$2" '$1 == c && $2 == r { printf "%.6g %.6g %.6g %s\n", $3, $4, $5, $7 }' "$T/out" >"$T/found"
}

# ---- throughput: measurements of two applications by a known model, one per cent of noise ----
# steps SEED NOISE SCALE BATCH: SCALE times the step times, local batches from BATCH on
steps() {
	awk -v s="$1" -v noise="$2" -v scale="$3" -v batch="$4" 'function rnd() { s = (s * 16807) % 2147483647; return s / 2147483647 }
	BEGIN {
		OFS = "\t"
		print "app", "num_nodes", "num_replicas", "local_bsz", "step_time_s", "sync_time_s"
		for (a = 1; a <= 2; a++)
			for (n = 1; n <= 4; n++)
				for (k = n; k <= 4 * n; k += n > 2 ? n : 1)
					for (b = batch; b <= 8 * batch; b *= 2) {
						c = scale * (0.02 * a + 0.001 * b)
						y = k == 1 ? 1e-8 : n > 1 ? 0.08 * a + 0.003 * (k - 2) : 0.02 * a + 0.001 * (k > 2 ? k - 2 : 0)
						e = 1 + noise * (2 * rnd() - 1)
						t = exp(log(exp(1.7 * log(c)) + exp(1.7 * log(y))) / 1.7) * e
						print (a == 1 ? "ant" : "bee"), n, k, b, t, (t > c * e ? t - c * e : 0)
					}
	}'
}
steps 3 0.01 1 16 >"$T/steps.tsv"
steps 5 0.01 1 16 >"$T/again.tsv"
gf-throughput "$T/steps.tsv" -o "$T/theta.tsv"
gate "a good throughput model passes" 0 -d "$T/steps.tsv" "$T/theta.tsv"
is "nothing to say" "$T/err" ""
has "of its own measurements" "$T/out" '^provenance	NA	NA	NA	NA	NA	pass'
hasnt "no finding fails" "$T/out" '	(fail|cannot-say)	'
gate "on other measurements of the same, too" 0 -d "$T/again.tsv" --fresh "$T/again.tsv" "$T/theta.tsv"
has "which it was not made of" "$T/out" '^provenance	NA	NA	NA	NA	NA	noted'
gate "without measurements nobody can say" 1 "$T/theta.tsv"
has "cannot say" "$T/out" '^verdict	NA	NA	NA	NA	NA	cannot-say	0 of .* findings fail, 6 cannot be said$'
is "one line says why" "$T/err" "gf-gate: warning: cannot say: coverage: not looked at: needs --data"
run "-q says nothing" 1 gf-gate -q "$T/theta.tsv"
is "nothing is said" "$T/err" ""

# with COLUMN VALUE: the model of ant with another parameter
with() {
	awk -F '\t' -v OFS='\t' -v c="$1" -v v="$2" '/^#/ { print; next }
		!h { h = 1; for (i = 1; i <= NF; i++) if ($i == c) k = i; print; next }
		$1 == "ant" { $k = v } { print }' "$T/theta.tsv"
}
with beta_r_s -0.001 >"$T/bad.tsv"
stopped "a negative beta" "parameters, ant" -d "$T/steps.tsv" "$T/bad.tsv"
has "and the value is said" "$T/out" '^parameters	ant	-0.001'
has "the other model is sound" "$T/out" '^parameters	bee	.*	pass'
is "the reason in a line" "$T/err" "gf-gate: warning: the model fails: parameters, ant: beta_r_s is not above 0, or not finite"
with gamma 0.5 >"$T/bad.tsv"
stopped "gamma below 1" "parameters, ant" -d "$T/steps.tsv" "$T/bad.tsv"
with alpha_c_s NA >"$T/bad.tsv"
stopped "a parameter is missing" "parameters, ant" "$T/bad.tsv"
with beta_n_s 3 >"$T/bad.tsv"
stopped "throughput that shrinks" "monotone, ant" "$T/bad.tsv"
with alpha_n_s 1e-4 | awk -F '\t' -v OFS='\t' '$1 == "ant" { $5 = 1e-6 } { print }' >"$T/bad.tsv"
stopped "nodes that are nearer than GPUs" "links, ant" "$T/bad.tsv"
with mape_pct 45 >"$T/bad.tsv"
stopped "a fit that says itself that it is poor" "stated, ant" "$T/bad.tsv"
awk -F '\t' '!/^#/ && ($2 == 1 || NR == 1)' "$T/steps.tsv" >"$T/one-node.tsv"
gf-throughput -q "$T/one-node.tsv" -o "$T/bad.tsv"
stopped "nothing was measured across nodes" "pinned, bee" -d "$T/steps.tsv" "$T/bad.tsv"
has "what was not" "$T/out" '^pinned	bee	2	.*: alpha_n_s,beta_n_s$'
steps 3 0.01 2 16 | gf-throughput -o "$T/bad.tsv" -
stopped "trained on other data" "residual, ant" -d "$T/steps.tsv" "$T/bad.tsv"
has "by region" "$T/out" '^residual-region	bee, one GPU	.*	fail	mean error, percent, of 4 measurements$'
stopped "and biased" "bias, bee" -d "$T/steps.tsv" "$T/bad.tsv"
awk -F '\t' '!h { h = 1; print; next } { n[$1]++ } n[$1] % 9 == 0' "$T/steps.tsv" |
	awk -F '\t' -v OFS='\t' 'NR > 1 { e = NR % 2 ? 1.9 : 0.6; $5 *= e; $6 *= e } { print }' >"$T/few.tsv"
gf-throughput -q "$T/few.tsv" -o "$T/bad.tsv"
stopped "over-fitted to a few wild measurements" "cross-validation, ant" -d "$T/few.tsv" "$T/bad.tsv"
steps 7 0.01 1 256 >"$T/large.tsv"
stopped "drifted: larger batches" "drift-psi, local_bsz" -d "$T/steps.tsv" --fresh "$T/large.tsv" "$T/theta.tsv"
stopped "drifted: by distance" "drift-ks, local_bsz" -d "$T/steps.tsv" --fresh "$T/large.tsv" "$T/theta.tsv"
stopped "drifted: outside of what was measured" "extrapolation, ant" -d "$T/steps.tsv" --fresh "$T/large.tsv" "$T/theta.tsv"
sed 's/^bee/cow/' "$T/steps.tsv" >"$T/cow.tsv"
stopped "drifted: another application" "drift-psi, application" -d "$T/steps.tsv" --fresh "$T/cow.tsv" "$T/theta.tsv"
stopped "no model of an application" "coverage, cow" -d "$T/cow.tsv" "$T/theta.tsv"

# all alphas and betas 1.08 times as large: steps are too, wherever
scaled() {
	awk -F '\t' -v OFS='\t' -v CONVFMT='%.17g' -v by="$1" '/^#/ || !h { if (!/^#/) h = 1; print; next } { for (i = 2; i <= 7; i++) $i *= by } { print }' \
		"$T/theta.tsv"
}
scaled 1.08 >"$T/slow.tsv"
gate "a planted shift of 8 per cent is allowed" 0 -d "$T/steps.tsv" -i "$T/theta.tsv" "$T/slow.tsv"
found shift NA
has "and found" "$T/found" '^8 8 8 pass$'
found shift-region "bee, several nodes"
has "in a region" "$T/found" '^8 8 8 pass$'
scaled 1.15 >"$T/slow.tsv"
stopped "a planted shift of 15 per cent" "shift" -d "$T/steps.tsv" -i "$T/theta.tsv" "$T/slow.tsv"
with alpha_c_s 0.08 >"$T/bad.tsv"
stopped "a shift of one region" "shift-region, ant, one GPU" -d "$T/steps.tsv" -i "$T/theta.tsv" "$T/bad.tsv"
found shift-region "bee, one GPU"
has "the other application did not move" "$T/found" '^0 0 0 pass$'

# ---- speedups ----
speedups() {
	awk -v from="$1" 'BEGIN {
		OFS = "\t"
		print "class", "epoch", "gpus", "work", "speed_per_s", "nodes"
		for (e = 0; e < 2; e++)
			for (k = 1; k <= 8; k++)
				print "ant", e, k, 1000, (k >= from ? 9 / k : 10 * k / (1 + 0.1 * k)), (k > 4 ? 2 : 1)
	}'
}
speedups 99 >"$T/speedups.tsv"
gate "good speedups pass" 0 -d "$T/speedups.tsv" -i "$T/speedups.tsv" "$T/speedups.tsv"
speedups 3 >"$T/bad.tsv"
stopped "a speedup that shrinks" "shrinking, ant, epoch 1" "$T/bad.tsv"
stopped "on one node" "monotone, ant, epoch 0" "$T/bad.tsv"
stopped "far below its envelope" "concave, ant, epoch 0" "$T/bad.tsv"
awk -F '\t' -v OFS='\t' '$3 == 4 { $5 = -2 } { print }' "$T/speedups.tsv" >"$T/bad.tsv"
stopped "a negative speed" "parameters, ant, epoch 0" "$T/bad.tsv"
awk -F '\t' -v OFS='\t' '$3 == 8 { $5 = 200 } { print }' "$T/speedups.tsv" >"$T/bad.tsv"
stopped "faster than linear" "superlinear, ant, epoch 0" "$T/bad.tsv"
awk -F '\t' -v OFS='\t' -v CONVFMT='%.17g' 'NR > 1 { $5 *= 1.5 } { print }' "$T/speedups.tsv" >"$T/bad.tsv"
stopped "of other data" "residual, ant" -d "$T/speedups.tsv" "$T/bad.tsv"
for v in inf -2; do
	awk -F '\t' -v OFS='\t' -v v=$v 'NR == 4 { $5 = v } { print }' "$T/speedups.tsv" >"$T/bad-speeds.tsv"
	run "a measured speed of $v" 1 gf-gate -d "$T/bad-speeds.tsv" "$T/speedups.tsv"
	is "is refused where it stands" "$T/err" \
		"gf-gate: $T/bad-speeds.tsv:4:speed_per_s: bad speed '$v' (expected 0 or more)"
done
# measured SEED NOISE: three measurements of each width, off by a factor of up to exp(NOISE)
measured() {
	awk -F '\t' -v OFS='\t' -v s="$1" -v noise="$2" 'function rnd() { s = (s * 16807) % 2147483647; return s / 2147483647 }
	NR == 1 { print; next }
	{ speed = $5; for (i = 0; i < 3; i++) { $5 = sprintf("%.17g", speed * exp(noise * (2 * rnd() - 1))); print } }' "$T/speedups.tsv"
}
measured 31 0.05 >"$T/speeds.tsv"
gate "good speedups pass on measurements" 0 -d "$T/speeds.tsv" --fresh "$T/speeds.tsv" "$T/speedups.tsv"
awk -F '\t' '$1 == "cross-validation" && $2 == "ant" && $3 > 1 && $3 < 6 && $7 == "pass" { f = 1 } END { exit !f }' "$T/out"
ok "left-out speeds are found again, but for the noise" $?
measured 31 2 | awk -F '\t' 'NR == 1 || (NR - 2) % 3 == 0' >"$T/wild-speeds.tsv"
stopped "speedups: a table of a few wild measurements" "cross-validation, ant" -d "$T/wild-speeds.tsv" "$T/wild-speeds.tsv"
has "which it says to the bit" "$T/out" '^residual	ant	0	'
has "and is told so" "$T/out" '^over-fit	ant	inf	.*	noted	'
head -n 4 "$T/speedups.tsv" >"$T/three-speeds.tsv"
gate "speedups: three measurements are no cross-validation" 0 -d "$T/three-speeds.tsv" "$T/speedups.tsv"
has "which is noted" "$T/out" '^cross-validation	ant	NA	NA	NA	25	noted	3 measurements are too few for 5 folds$'
awk -F '\t' -v OFS='\t' 'NR > 1 { $3 += 40 } { print }' "$T/speeds.tsv" >"$T/wide-speeds.tsv"
stopped "speedups drifted: wider" "extrapolation, ant" -d "$T/speeds.tsv" --fresh "$T/wide-speeds.tsv" "$T/speedups.tsv"
sed 's/^ant/bee/' "$T/speeds.tsv" >"$T/bee-speeds.tsv"
stopped "speedups drifted: another class" "drift-psi" -d "$T/speeds.tsv" --fresh "$T/bee-speeds.tsv" "$T/speedups.tsv"
awk -F '\t' -v OFS='\t' -v CONVFMT='%.17g' 'NR > 1 { $5 *= 1.5 } { print }' "$T/speedups.tsv" >"$T/bad.tsv"
stopped "a shift, on the widths of the incumbent" "shift" -i "$T/speedups.tsv" "$T/bad.tsv"
found shift NA
has "of a half" "$T/found" '^50 50 50 fail$'

# ---- noise scale ----
curve() {	# SEED FACTOR
	awk -v s="$1" -v f="$2" 'function rnd() { s = (s * 16807) % 2147483647; return s / 2147483647 }
	BEGIN {
		OFS = "\t"
		print "app", "progress", "phi", "batch_size", "init_batch"
		for (i = 0; i < 60; i++)
			print "ant", i * 10, f * exp(4 + i / 30 + (i > 30) + 0.1 * (2 * rnd() - 1)), 64, 64
	}'
}
curve 3 1 >"$T/phi.tsv"
gf-pgns fit "$T/phi.tsv" -o "$T/curves.tsv"
gate "a good curve of the noise scale passes" 0 -d "$T/phi.tsv" "$T/curves.tsv"
awk -F '\t' -v OFS='\t' '/^ant/ { $7 = -$7 } { print }' "$T/curves.tsv" >"$T/bad.tsv"
stopped "a negative noise scale" "parameters, ant, batch 64" -d "$T/phi.tsv" "$T/bad.tsv"
curve 3 3 >"$T/other.tsv"
stopped "of other data" "residual, ant" -d "$T/other.tsv" "$T/curves.tsv"
awk -F '\t' -v OFS='\t' 'NR > 1 { $3 *= exp(NR % 2 ? 1 : -1) } { print }' "$T/phi.tsv" >"$T/wild.tsv"
gf-pgns fit --penalty 0 "$T/wild.tsv" -o "$T/bad.tsv"
stopped "through every point" "over-fit, ant" -d "$T/wild.tsv" "$T/bad.tsv"
awk -F '\t' -v OFS='\t' 'NR == 7 { $3 = "inf" } { print }' "$T/phi.tsv" >"$T/bad-phi.tsv"
run "a measured noise scale of inf" 1 gf-gate -d "$T/bad-phi.tsv" "$T/curves.tsv"
is "is refused where it stands" "$T/err" \
	"gf-gate: $T/bad-phi.tsv:7:phi: bad noise scale 'inf' (expected a finite number)"
awk -F '\t' -v OFS='\t' 'NR > 1 { $2 += 2000 } { print }' "$T/phi.tsv" >"$T/later.tsv"
stopped "drifted: later in training" "extrapolation, ant" -d "$T/phi.tsv" --fresh "$T/later.tsv" "$T/curves.tsv"
curve 3 1.3 | gf-pgns fit -o "$T/bad.tsv" -
stopped "a planted shift of the noise scale" "shift" -d "$T/phi.tsv" -i "$T/curves.tsv" "$T/bad.tsv"
found shift NA
has "of 30 per cent" "$T/found" '^30 30 30 fail$'
gf-pgns --window 8 $D/pgns-log.tsv -o "$T/estimates.tsv" 2>"$T/err"
gate "estimates are held against themselves" 0 -d "$T/estimates.tsv" "$T/estimates.tsv"
awk -F '\t' -v OFS='\t' '/^#/ { print; next } !h { h = 1; for (i = 1; i <= NF; i++) c[$i] = i; print; next }
	$c["status"] == "ok" && !d { d = 1; $c["phi"] *= 2 } { print }' "$T/estimates.tsv" >"$T/bad.tsv"
stopped "an estimate that does not follow from its parts" "parameters" "$T/bad.tsv"
of() {	# COLUMN AWK: the estimates with another value in that column
	awk -F '\t' -v OFS='\t' -v CONVFMT='%.17g' -v k="$1" "/^#/ { print; next } !h { h = 1; for (i = 1; i <= NF; i++) c[\$i] = i; print; next }
		\$c[k] != \"NA\" { v = \$c[k]; \$c[k] = $2 } { print }" "$T/estimates.tsv"
}
of grad_var '-v' >"$T/bad.tsv"
stopped "a negative variance" "parameters" "$T/bad.tsv"
of phi '4 * v' >"$T/other.tsv"
stopped "estimates of other data" "residual" -d "$T/other.tsv" "$T/estimates.tsv"
stopped "and biased" "bias" -d "$T/other.tsv" "$T/estimates.tsv"
of progress 'v + 1e6' >"$T/later.tsv"
stopped "estimates drifted: later in training" "extrapolation" -d "$T/estimates.tsv" --fresh "$T/later.tsv" "$T/estimates.tsv"

# ---- durations: trees and GA2M ----
jobs() {	# SEED SCALE
	awk -v s="$1" -v scale="$2" 'function rnd() { s = (s * 16807) % 2147483647; return s / 2147483647 }
	BEGIN {
		OFS = "\t"
		print "gpus", "hour", "user", "duration_s", "slow"
		for (i = 0; i < 500; i++) {
			g = 2 ^ int(rnd() * 4); h = int(rnd() * 24); u = int(rnd() * 5)
			d = scale * exp(5 + 0.4 * log(g) + 0.03 * h + 0.3 * u + 0.4 * (rnd() + rnd() - 1))
			print g, h, "u" u, d, (d > 600 * scale ? "yes" : "no")
		}
	}'
}
jobs 11 1 >"$T/jobs.tsv"
jobs 13 1 >"$T/jobs-2.tsv"
jobs 17 3 >"$T/jobs-3.tsv"
gf-ga2m train --target duration_s --exclude slow --nominal user --loss gamma --pairs 1 --bags 2 "$T/jobs.tsv" -o "$T/ga2m.tsv"
gate "a good GA2M passes" 0 -d "$T/jobs-2.tsv" --fresh "$T/jobs-2.tsv" --shape gpus=increasing "$T/ga2m.tsv"
gf-ga2m convert --json "$T/ga2m.tsv" >"$T/ga2m.json"
gate "as JSON, too" 0 -d "$T/jobs-2.tsv" "$T/ga2m.json"
stopped "a shape that is known to be another" "shape" -d "$T/jobs-2.tsv" --shape gpus=decreasing "$T/ga2m.tsv"
stopped "trained on other data" "residual" -d "$T/jobs-3.tsv" "$T/ga2m.tsv"
gf-ga2m edit --edit 'add gpus 1' "$T/ga2m.tsv" -o "$T/bad.tsv" 2>/dev/null ||
	awk -F '\t' -v OFS='\t' '/^#table=scores/ { s = 1 } s && $1 == "0" && NF > 5 { $5 += 1 } { print }' "$T/ga2m.tsv" >"$T/bad.tsv"
stopped "a term off centre" "centred, gpus" -d "$T/jobs-2.tsv" "$T/bad.tsv"
awk -F '\t' -v OFS='\t' 'NR > 1 { $2 = 40 + $2 } { print }' "$T/jobs.tsv" >"$T/late.tsv"
stopped "drifted, against the bins of the model" "extrapolation, hour" --fresh "$T/late.tsv" "$T/ga2m.tsv"
sed 's/	u[0-3]	/	u9	/' "$T/jobs.tsv" >"$T/new.tsv"
stopped "drifted: new categories" "drift-psi, user" --fresh "$T/new.tsv" "$T/ga2m.tsv"
stopped "the same against measurements" "drift-psi, user" -d "$T/jobs-2.tsv" --fresh "$T/new.tsv" "$T/ga2m.tsv"
awk 'function rnd() { s = (s * 16807) % 2147483647; return s / 2147483647 }
	BEGIN { s = 5; OFS = "\t"; print "a", "b", "y"; for (i = 0; i < 60; i++) print rnd(), rnd(), rnd() }' >"$T/noise.tsv"
gf-ga2m train -q --target y --pairs 1 --bags 1 --validation-share 0 --max-rounds 3000 --min-leaf 1 "$T/noise.tsv" -o "$T/bad.tsv" 2>/dev/null ||
	gf-ga2m train -q --target y --pairs 1 --bags 1 "$T/noise.tsv" -o "$T/bad.tsv"
stopped "fitted to noise" "cross-validation" -d "$T/noise.tsv" "$T/bad.tsv"

gf-tree train --target duration_s --exclude slow --min-leaf 10 "$T/jobs.tsv" -o "$T/tree.tsv"
gate "a good tree passes" 0 -d "$T/jobs-2.tsv" --fresh "$T/jobs-2.tsv" "$T/tree.tsv"
gf-tree print --format json "$T/tree.tsv" >"$T/tree.json"
gate "as JSON, too" 0 -d "$T/jobs-2.tsv" "$T/tree.json"
gf-tree train --target y "$T/noise.tsv" -o "$T/bad.tsv"
stopped "a leaf for each row" "over-fit" -d "$T/noise.tsv" "$T/bad.tsv"
stopped "trained on other data" "residual" -d "$T/jobs-3.tsv" "$T/tree.tsv"
stopped "drifted" "drift-psi, hour" -d "$T/jobs.tsv" --fresh "$T/late.tsv" "$T/tree.tsv"
gf-tree train --target slow --exclude duration_s --min-leaf 10 "$T/jobs.tsv" -o "$T/slow.tsv"
gate "a good tree of classes passes" 0 -d "$T/jobs-2.tsv" "$T/slow.tsv"
# classes have names: another one ahead of them moves their numbers, and nothing else
{ cat "$T/jobs.tsv"; printf '1\t1\tu1\t1e6\taaa\n1\t1\tu1\t1e6\taaa\n'; } >"$T/aaa.tsv"
gf-tree train --target slow --exclude duration_s --min-leaf 10 "$T/aaa.tsv" -o "$T/aaa.tree"
gate "classes are compared by name" 0 -d "$T/jobs-2.tsv" -i "$T/slow.tsv" "$T/aaa.tree"
found shift NA
awk '{ exit !($1 <= 2 && $4 == "pass") }' "$T/found"
ok "few rows change theirs" $?
has "region by region" "$T/out" '^shift-region	incumbent says yes	'
gate "the other way round" 0 -d "$T/jobs-2.tsv" -i "$T/aaa.tree" "$T/slow.tsv"
awk -F '\t' -v OFS='\t' '/^#table=nodes/ { n = 1 } /^#table=sets/ { n = 0 } n && NF > 10 && $4 == "NA" { $14 = 1 - $14 } { print }' "$T/slow.tsv" >"$T/bad.tsv"
stopped "a tree whose leaves were swapped" "consistent" -d "$T/jobs-2.tsv" "$T/bad.tsv"
stopped "and that is wrong" "residual" -d "$T/jobs-2.tsv" "$T/bad.tsv"
sed 's/^nodes/nodes/; /^#table=nodes/,/^#end/ s/	gpus	/	nobody	/' "$T/tree.tsv" >"$T/bad.tsv"
stopped "a tree that asks for a feature that it does not have" "sound" "$T/bad.tsv"
stopped "durations fall with GPUs" "shape" -d "$T/jobs-2.tsv" --shape gpus=decreasing "$T/tree.tsv"
gf-tree train --target duration_s --exclude slow --min-leaf 10 "$T/jobs-3.tsv" -o "$T/bad.tsv"
head -n 2 "$T/jobs-2.tsv" >"$T/one-job.tsv"
run "one row is no cross-validation of a tree" 1 gf-gate -q -d "$T/one-job.tsv" "$T/tree.tsv"
has "which is said" "$T/out" '^cross-validation	.*	cannot-say	1 measurements are too few for 5 folds$'
run "nor of a GA2M" 1 gf-gate -q -d "$T/one-job.tsv" "$T/ga2m.tsv"
for v in inf -inf 1e308; do
	awk -F '\t' -v OFS='\t' -v v=$v 'NR == 5 { $4 = v } { print }' "$T/jobs-2.tsv" >"$T/bad-jobs.tsv"
	for model in tree ga2m; do
		run "a $model, a duration of $v" 1 gf-gate -d "$T/bad-jobs.tsv" "$T/$model.tsv"
		has "is refused where it stands" "$T/err" ':5:duration_s: bad value .* \(expected a number of at most 1e150 in size\)$'
	done
done
stopped "a shift of what a tree predicts" "shift" -d "$T/jobs-2.tsv" -i "$T/tree.tsv" "$T/bad.tsv"
# planted NAME FILE: the shift that was found is that of the predictions in FILE (incumbent, model), and in its interval
planted() {
	awk '{ n++; b += $1; bb += $1 * $1; d += $2 - $1 } END { print 100 * d / n / sqrt(bb / n - (b / n) ^ 2) }' "$2" >"$T/want"
	found shift NA
	paste "$T/want" "$T/found" >"$T/both"
	awk '{ e = $2 / $1 - 1; exit !(e < 0.002 && e > -0.002 && $3 < $1 && $1 < $4 && $4 - $3 < 0.3 * $1) }' "$T/both"
	ok "$1: found, and in its interval" $?
	diag "$(cat "$T/both")"
}
awk -F '\t' -v OFS='\t' -v CONVFMT='%.17g' '/^#table=/ { t = $0 } t == "#table=nodes" && $1 ~ /^[0-9]/ { $14 += 12 } { print }' \
	"$T/tree.tsv" >"$T/moved.tsv"
gate "a tree all of whose leaves moved by 12 s" 0 -d "$T/jobs-2.tsv" -i "$T/tree.tsv" "$T/moved.tsv"
gf-tree predict --no-meta --model "$T/tree.tsv" "$T/jobs-2.tsv" | awk 'NR > 1 { print $2, $2 + 12 }' >"$T/pairs"
planted "the planted shift of a tree" "$T/pairs"
# on the link scale ln 1.01 more: 1 per cent
awk -F '\t' -v OFS='\t' -v CONVFMT='%.17g' '/^#table=/ { t = $0 } t == "#table=ga2m" && $1 == "NA" { $2 += log(1.01) } { print }' \
	"$T/ga2m.tsv" >"$T/moved.tsv"
gate "a GA2M that says 1 per cent more" 0 -d "$T/jobs-2.tsv" -i "$T/ga2m.tsv" "$T/moved.tsv"
gf-ga2m predict --no-meta --model "$T/ga2m.tsv" "$T/jobs-2.tsv" | awk 'NR > 1 { print $2, 1.01 * $2 }' >"$T/pairs"
planted "the planted shift of a GA2M" "$T/pairs"
awk -F '\t' -v OFS='\t' -v CONVFMT='%.17g' '/^#table=/ { t = $0 } t == "#table=ga2m" && $1 == "NA" { $2 += log(1.5) } { print }' \
	"$T/ga2m.tsv" >"$T/moved.tsv"
stopped "a GA2M that says half as much again" "shift" -d "$T/jobs-2.tsv" -i "$T/ga2m.tsv" "$T/moved.tsv"
stopped "in each region" "shift-region" -d "$T/jobs-2.tsv" -i "$T/ga2m.tsv" "$T/moved.tsv"
stopped "and is biased" "bias" -d "$T/jobs-2.tsv" "$T/moved.tsv"

# ---- execution plans: by formula, of known constants, up to 2 % off ----
printf 'app\tpcie_mi_per_ms\tnvlink_mi_per_ms\nowl\t16\t80\n' >"$T/links.tsv"
awk 'function off_by(m,	e) { e = (m * (7 * ++i + 3) % 11 - 5) / 250; return exp(e) }
BEGIN {
	OFS = "\t"
	print "app", "gpus", "parameter_size", "cpu_threads", "zero_type", "forward_ms", "sync_ms", "optimize_ms",
		"iter_time_ms", "strategy"
	for (again = 0; again < 2; again++) for (z = 0; z < 3; z++) for (n = 1; n <= 8; n *= 2) {
		f = 400 / n; t = 1 + n % 4; b = 2.1 * f; c = 8 * 300 * (n - 1) / n / 80
		sync = (c ^ 1.7 + b ^ 1.7) ^ (1 / 1.7); off = (z == 1 ? 4 * 300 / n / 16 : 0)
		if (z == 1) sync += 12 + off
		opt = (z == 0 ? 6 : z == 2 ? 6 / n : 900 / n / t) + 9 + off
		print "owl", n, 300, t, z, sprintf("%.17g", f), sprintf("%.17g", sync * off_by(2)),
			sprintf("%.17g", opt * off_by(3)), sprintf("%.17g", (f + sync + opt + 5) * off_by(5)), 1100
	}
}' >"$T/plans.tsv"
gf-throughput --model rubick --links "$T/links.tsv" "$T/plans.tsv" -o "$T/rubick.tsv"
gate "a good model of plans passes" 0 -d "$T/plans.tsv" --fresh "$T/plans.tsv" -i "$T/rubick.tsv" "$T/rubick.tsv"
awk -F '\t' -v OFS='\t' '/^owl/ { $2 = -1 } { print }' "$T/rubick.tsv" >"$T/bad.tsv"
stopped "a negative constant of a plan" "parameters, owl" "$T/bad.tsv"
awk -F '\t' -v OFS='\t' '/^owl/ { for (i = 2; i <= 8; i++) if (i != 3) $i *= 3 } { print }' "$T/rubick.tsv" >"$T/bad.tsv"
stopped "constants three times as large" "residual, owl" -d "$T/plans.tsv" "$T/bad.tsv"
stopped "and far from the incumbent" "shift" -d "$T/plans.tsv" -i "$T/rubick.tsv" "$T/bad.tsv"
# wild LEAST MOST: every time of the plans off by that factor, the iteration by the sum of its parts
wild() {
	awk -F '\t' -v OFS='\t' -v least="$1" -v most="$2" 'function rnd() { s = (s * 16807) % 2147483647; return s / 2147483647 }
	NR == 1 { s = 2203; print; next }
	{ was = $7 + $8; $7 *= least + (most - least) * rnd(); $8 *= least + (most - least) * rnd()
	  $9 = sprintf("%.17g", $9 - was + $7 + $8); print }' "$T/plans.tsv"
}
wild 2 2 >"$T/other-plans.tsv"
gf-throughput --model rubick --links "$T/links.tsv" "$T/other-plans.tsv" -o "$T/bad.tsv"
stopped "plans: trained on other data" "residual, owl" -d "$T/plans.tsv" "$T/bad.tsv"
wild 0.1 6 | awk 'NR == 1 || NR % 4 == 2' >"$T/few-plans.tsv"
gf-throughput -q --model rubick --links "$T/links.tsv" "$T/few-plans.tsv" -o "$T/bad.tsv"
stopped "plans: fitted to a few wild measurements" "cross-validation, owl" -d "$T/few-plans.tsv" "$T/bad.tsv"
stopped "plans: which says nothing of others" "residual, owl" -d "$T/plans.tsv" "$T/bad.tsv"
awk -F '\t' -v OFS='\t' 'NR > 1 { $2 *= 16 } { print }' "$T/plans.tsv" >"$T/wide-plans.tsv"
stopped "plans drifted: more GPUs" "drift-psi, gpus" -d "$T/plans.tsv" --fresh "$T/wide-plans.tsv" "$T/rubick.tsv"
stopped "plans drifted: by distance" "drift-ks, gpus" -d "$T/plans.tsv" --fresh "$T/wide-plans.tsv" "$T/rubick.tsv"
stopped "plans drifted: outside of what was measured" "extrapolation, owl" -d "$T/plans.tsv" --fresh "$T/wide-plans.tsv" \
	"$T/rubick.tsv"
sed 's/^owl/elk/' "$T/plans.tsv" >"$T/elk.tsv"
stopped "plans drifted: another application" "drift-psi, application" -d "$T/plans.tsv" --fresh "$T/elk.tsv" "$T/rubick.tsv"
stopped "plans: no model of an application" "coverage, elk" -d "$T/elk.tsv" "$T/rubick.tsv"
# a batch that takes 1.25 times as long, whatever the plan: k_opt, k_os, k_const are of no weight there
awk -F '\t' -v OFS='\t' -v CONVFMT='%.17g' '/^#/ || !h { if (!/^#/) h = 1; print; next }
	{ $4 = $5 = $6 = $7 = $8 = 0; print }' "$T/rubick.tsv" >"$T/bare.tsv"
awk -F '\t' -v OFS='\t' 'NR > 1 { $4 = 1; $5 = 0; $8 = 0 } { print }' "$T/plans.tsv" | awk -F '\t' 'NR == 1 || $2 == 1' >"$T/one-gpu.tsv"
awk -F '\t' -v OFS='\t' -v CONVFMT='%.17g' '/^#/ || !h { if (!/^#/) h = 1; print; next }
	{ $2 = 1.25 * (1 + $2) - 1; print }' "$T/bare.tsv" >"$T/bad.tsv"
stopped "plans: a planted shift of 25 per cent" "shift" --fresh "$T/one-gpu.tsv" -i "$T/bare.tsv" "$T/bad.tsv"
found shift NA
awk '{ exit !($1 > 24.99 && $1 < 25.01 && $2 <= $1 && $1 <= $3) }' "$T/found"
ok "is found" $?

# ---- replays: tables of jobs ----
results() {	# SEED FACTOR
	awk -v s="$1" -v f="$2" 'function rnd() { s = (s * 16807) % 2147483647; return s / 2147483647 }
	BEGIN {
		OFS = "\t"
		print "job_id", "jct_s", "queue_s", "gpu_s"
		s0 = 77
		for (i = 0; i < 400; i++) {
			s0 = (s0 * 16807) % 2147483647
			base = int(100 + 1e6 / (100 + s0 % 9000))
			d = base * f * (1 + 0.05 * (2 * rnd() - 1))
			print "j" i, sprintf("%.3f", d), sprintf("%.3f", d * (0.1 + (i % 7) / 20)), d * 4
		}
	}'
}
results 918273645 1 >"$T/old.tsv"
results 192837465 1.04 >"$T/new.tsv"
results 192837465 1.2 >"$T/worse.tsv"
results 192837465 0.8 >"$T/better.tsv"
gate "jobs that take 4 per cent longer are allowed 5" 0 -d "$T/steps.tsv" --results "$T/new.tsv" --incumbent-results "$T/old.tsv" "$T/theta.tsv"
found replay-jct NA
awk '{ exit !($2 <= 4 && 4 <= $3 && $3 < 5 && $4 == "pass") }' "$T/found"
ok "the planted 4 per cent are in the interval" $?
stopped "jobs that take 20 per cent longer" "replay-jct" --results "$T/worse.tsv" --incumbent-results "$T/old.tsv" "$T/theta.tsv"
found replay-jct NA
awk '{ exit !($2 <= 20 && 20 <= $3) }' "$T/found"
ok "the planted 20 per cent are in the interval" $?
found replay-fairness NA
has "slowdowns are the same" "$T/found" '^-?[0-9.e-]+ .* pass$'
stopped "and cost more" "replay-cost" --results "$T/worse.tsv" --incumbent-results "$T/old.tsv" "$T/theta.tsv"
gate "better is well" 0 -d "$T/steps.tsv" --results "$T/better.tsv" --incumbent-results "$T/old.tsv" "$T/theta.tsv"
awk -F '\t' -v OFS='\t' 'NR > 1 && NR % 9 == 0 { $3 = $2 * 0.9 } { print }' "$T/old.tsv" >"$T/unfair.tsv"
stopped "a tenth of the jobs waits much longer" "replay-fairness" --results "$T/unfair.tsv" --incumbent-results "$T/old.tsv" "$T/theta.tsv"
awk 'NR == 1 || NR > 60' "$T/better.tsv" >"$T/part.tsv"
gate "not when many jobs do not finish" 1 -d "$T/steps.tsv" --results "$T/part.tsv" --incumbent-results "$T/old.tsv" "$T/theta.tsv"
has "how many" "$T/out" '^replay-jct	.*	cannot-say	.* of 341 jobs; 59 finish with the incumbent only$'
head -n 4 "$T/new.tsv" >"$T/three.tsv"
gate "three jobs are too few" 1 -d "$T/steps.tsv" --results "$T/three.tsv" --incumbent-results "$T/old.tsv" "$T/theta.tsv"

# ---- replays by the engine ----
gf-synth profiles --calibration data/apps.tsv "$T/apps" 2>"$T/err"
gf-prof --from pollux "$T/apps" -o "$T/profiles.h5"
gf-throughput -q --profile "$T/profiles.h5" -o "$T/fitted.tsv"
head -n 30 data/workload-synth.tsv | grep -v '^#' >"$T/workload.tsv"
gate "the same model replays alike" 0 -d "$T/profiles.h5:/placements" -i "$T/fitted.tsv" --replay "$T/workload.tsv" \
	-c 4x4 --interval 60 --profile "$T/profiles.h5" --bootstrap 500 "$T/fitted.tsv"
found replay-jct NA
has "no difference at all" "$T/found" '^0 0 0 pass$'
awk -F '\t' -v OFS='\t' '/^#/ || !h { if (!/^#/) h = 1; print; next } { $5 = 2 * $3 * 50; $4 *= 40; $6 *= 40; $7 = 2 * $5 } { print }' \
	"$T/fitted.tsv" >"$T/timid.tsv"
run "a model that believes in no network is replayed" 1 gf-gate --no-meta -i "$T/fitted.tsv" --replay "$T/workload.tsv" \
	-c 4x4 --interval 60 --profile "$T/profiles.h5" --bootstrap 500 "$T/timid.tsv"
found replay-jct NA
awk '{ exit !($1 > 5) }' "$T/found"
ok "and its jobs take longer" $?
# the engine and the tables of gf-replay and gf-metrics say the same
for m in fitted timid; do
	gf-replay --policy pollux -c 4x4 --interval 60 --profile "$T/profiles.h5" --models "$T/$m.tsv" "$T/workload.tsv" 2>/dev/null |
		gf-metrics --per-job -o "$T/$m.jobs.tsv"
done
grep '^replay' "$T/out" >"$T/engine"
run "by way of tables" 1 gf-gate --no-meta -i "$T/fitted.tsv" --results "$T/timid.jobs.tsv" \
	--incumbent-results "$T/fitted.jobs.tsv" --bootstrap 500 "$T/timid.tsv"
grep '^replay' "$T/out" >"$T/tables"
same "the engine of the library and the tools say the same" "$T/engine" "$T/tables"
gf-speedup --profile "$T/profiles.h5" --app cifar10 --app ncf --phases 2 --max-gpus 8 -o "$T/widths.tsv"
printf 'class\tarrival_rate_per_s\trescale_s\ncifar10\t0.002\t30\nncf\t0.005\t20\n' >"$T/classes.tsv"
gf-synth arrivals --classes "$T/classes.tsv" --jobs 40 -o "$T/arrivals.tsv"
run "speedups are replayed under boa" 0 gf-gate --no-meta -d "$T/widths.tsv" -i "$T/widths.tsv" --replay "$T/arrivals.tsv" \
	-p boa -c 16x4 --speedups "$T/widths.tsv" --classes "$T/classes.tsv" -b 7 --bootstrap 200 "$T/widths.tsv"
found replay-cost NA
has "and cost the same" "$T/found" '^0 0 0 pass$'

# plans: what is true is by formula, and what is believed are the constants of it, or others
printf 'app\tk_bwd\tk_sync\tk_opt\tk_os\tk_const\tk_off\tk_swap\tpcie_mi_per_ms\tnvlink_mi_per_ms\tparams_mi\tforward_ms\tbatch_size\n' \
	>"$T/true.tsv"
printf '%s\n' 'owl	2.1	1.7	0.02	9	5	3	0.5	16	80	300	400	16' 'elk	2	1.5	0.01	3	5	3	0.5	16	80	1200	150	16' \
	>>"$T/true.tsv"
awk 'BEGIN {
	OFS = "\t"
	print "app", "exec_plan", "placement", "gpus", "cpu_threads"
	for (a = 0; a < 2; a++) for (n = 1; n <= 8; n *= 2) {
		print (a ? "elk" : "owl"), "zero-dp", n, n, 8
		print (a ? "elk" : "owl"), "ga", n, n, 8
	}
}' >"$T/configs.tsv"
gf-throughput --model rubick --predict "$T/true.tsv" --no-meta "$T/configs.tsv" | awk -F '\t' -v OFS='\t' '
	NR == 1 { print "app", "exec_plan", "placement", "iter_time_s"; next }
	{ print $1, $2, $3, sprintf("%.6f", $7 / 1000) }' >"$T/times.tsv"
awk 'BEGIN {
	OFS = "\t"
	print "job_id", "submit_s", "app", "gpus", "work", "exec_plan"
	for (s = 7; i < 60; i++) {
		s = (s * 16807) % 2147483647
		print "j" i + 0, i * 120, (s % 2 ? "owl" : "elk"), 2 ^ (s % 3), 2000 + s % 4000, "ga"
	}
}' >"$T/planned.tsv"
run "the same models of plans replay alike" 1 gf-gate -q --no-meta -i "$T/true.tsv" --replay "$T/planned.tsv" -p rubick -c 2x8 \
	--interval 60 --plan-times "$T/times.tsv" --bootstrap 200 "$T/true.tsv"
found replay-jct NA
has "no difference at all" "$T/found" '^0 0 0 pass$'
# GPUs are of no use to owl, it thinks: 200 s of each iteration are constant
awk -F '\t' -v OFS='\t' '$1 == "owl" { $6 = 200000 } { print }' "$T/true.tsv" >"$T/bad.tsv"
stopped "a model of plans that believes in no speedup" "replay-jct" -i "$T/true.tsv" --replay "$T/planned.tsv" -p rubick -c 2x8 \
	--interval 60 --plan-times "$T/times.tsv" --bootstrap 200 "$T/bad.tsv"
found replay-fairness NA
awk '{ exit !($1 > 10) }' "$T/found"
ok "its slow jobs wait longer" $?
grep '^replay' "$T/out" >"$T/engine"
for m in true bad; do
	gf-replay --policy rubick -c 2x8 --interval 60 --plan-times "$T/times.tsv" --models "$T/$m.tsv" "$T/planned.tsv" |
		gf-metrics --per-job -o "$T/$m.jobs.tsv"
done
run "plans by way of tables" 1 gf-gate -q --no-meta -i "$T/true.tsv" --results "$T/bad.jobs.tsv" \
	--incumbent-results "$T/true.jobs.tsv" --bootstrap 200 "$T/bad.tsv"
grep '^replay' "$T/out" >"$T/tables"
same "say the same" "$T/engine" "$T/tables"

# ---- policies, formats ----
run "the defaults" 0 gf-gate thresholds --no-meta
grep -v '^#' data/gate.tsv >"$T/kept"
same "data/gate.tsv has the defaults" "$T/out" "$T/kept"
gate "the defaults, given" 0 -t data/gate.tsv -d "$T/steps.tsv" "$T/theta.tsv"
printf 'check\tmodel\tlimit\nresidual\tthroughput\t0.1\n' >"$T/strict.tsv"
stopped "a policy of one's own" "residual, bee" -t "$T/strict.tsv" -d "$T/steps.tsv" "$T/theta.tsv"
run "JSON" 1 gf-gate -q --format json -t "$T/strict.tsv" -d "$T/steps.tsv" "$T/theta.tsv"
has "its verdict" "$T/out" '^ "verdict": "fail",$'
has "its kind" "$T/out" '^ "model": "throughput",$'
has "its findings" "$T/out" '^  \{"check": "sound", "region": null, "value": null, .*"verdict": "pass"'
cp "$T/out" "$T/json"
gf-gate -q --format json -t "$T/strict.tsv" -d "$T/steps.tsv" -o "$T/again.json" "$T/theta.tsv"
same "again, the same bytes" "$T/json" "$T/again.json"
gf-table convert "$T/theta.tsv" -o "$T/store.h5:/theta"
gf-table convert "$T/steps.tsv" -o "$T/store.h5:/steps"
gate "models and measurements of a store" 0 -d "$T/store.h5:/steps" "$T/store.h5:/theta"
gf-gate --no-meta -d "$T/steps.tsv" - <"$T/theta.tsv" >"$T/a"
gf-gate --no-meta -d "$T/steps.tsv" "$T/theta.tsv" >"$T/b"
same "from standard input" "$T/a" "$T/b"
gf-gate --no-meta --seed 2 -d "$T/steps.tsv" "$T/theta.tsv" >"$T/b"
cmp -s "$T/a" "$T/b"
ok "another seed deals other folds" $((1 - $?))

# ---- faults ----
# fault NAME STATUS MESSAGE ARG…
fault() {
	fault_name=$1 fault_want=$2 fault_message=$3
	shift 3
	refuses "$fault_name" "$fault_want" "gf-gate: $fault_message" gf-gate "$@"
}
fault "no model" 1 "$D/jobs-small.tsv: a table, but not one of models that is known (expected what gf-throughput, gf-speedup, gf-pgns, gf-tree or gf-ga2m writes)" $D/jobs-small.tsv
fault "an incumbent of another kind" 1 "$T/tree.tsv: a decision tree, but the model is throughput models" -i "$T/tree.tsv" "$T/theta.tsv"
fault "a column is missing" 1 "$T/jobs.tsv: no column 'local_bsz'" -d "$T/jobs.tsv" "$T/theta.tsv"
sed '2s/\(	[^	]*	\)16	/\10	/' "$T/steps.tsv" >"$T/bad.tsv"
fault "a bad measurement" 1 "$T/bad.tsv:2:local_bsz: bad batch size (expected a whole number of at least 1)" -d "$T/bad.tsv" "$T/theta.tsv"
fault "a shape of what has none" 2 "--shape is of a tree or a GA2M, and this is throughput models" --shape a=increasing "$T/theta.tsv"
fault "a shape of nothing" 2 "bad 'nobody=increasing' for --shape (expected a feature that is no category, =, and increasing, decreasing, convex or concave)" --shape nobody=increasing "$T/ga2m.tsv"
fault "results of one" 2 "--results and --incumbent-results need each other" --results "$T/old.tsv" "$T/theta.tsv"
fault "a replay without an incumbent" 2 "--replay needs --incumbent" --replay "$T/workload.tsv" "$T/theta.tsv"
fault "a cluster without a replay" 2 "--policy, --cluster, --interval, --fidelity, --profile, --speedups, --classes, --budget and --plan-times need --replay" -c 4x4 "$T/theta.tsv"
fault "a policy that believes nothing" 2 "bad policy 'fifo' (expected one that believes a model: pollux, boa or rubick)" -i "$T/theta.tsv" --replay "$T/workload.tsv" -c 4x4 -p fifo "$T/theta.tsv"
fault "a replay without truth" 2 "--policy pollux needs --profile, and takes nothing else of what is true" -i "$T/theta.tsv" --replay "$T/workload.tsv" -c 4x4 "$T/theta.tsv"
fault "folds of nothing" 2 "--folds needs --data" -k 3 "$T/theta.tsv"
printf "check\nx\n" >"$T/bad-policy.tsv"
fault "a bad policy" 1 "$T/bad-policy.tsv:2:check: unknown check 'x' (gf-gate thresholds lists them)" -t "$T/bad-policy.tsv" "$T/theta.tsv"
printf 'check\tmodel\tlimit\nresidual\tthroughput\t1\nresidual\tthroughput\t2\n' >"$T/two-policy.tsv"
run "JSON does not go into a store" 2 gf-gate --format json -o "$T/s.h5:/x" "$T/theta.tsv"
has "is said" "$T/err" "^gf-gate: --format json cannot go into a store '$T/s.h5:/x'$"
fault "a limit twice" 1 "$T/two-policy.tsv:3:check: 'residual' of 'throughput' is there already" -t "$T/two-policy.tsv" "$T/theta.tsv"
