# SPDX-License-Identifier: MIT
# gf-pgns: estimates from logs, curves, predictions, comparison with runs, faults.
. tests/cli/lib.sh
D=tests/data

# good FILE PROGRAM: awk over the rows, columns by name in c[]; near(a, b) to 1e-9
good() {
	awk -F '\t' 'function near(a, b) { d = a - b; if (d < 0) d = -d; return d <= 1e-9 * (b < 0 ? -b : b) }
		/^#/ { next } !seen { for (i = 1; i <= NF; i++) c[$i] = i; seen = 1; next }
		{ rows++ } '"$2" "$1"
}
head_row='app	step	replicas	accum_steps	local_bsz	local_sqr	global_sqr'

# A log whose squares hold signal and noise exactly: two applications, rows in turn. a: signal 0.5, noise
# 96 (phi 192) at 4 x 16; b: signal 2, noise 50 (phi 25) at 2 x 2 x 8, M0 32.
awk -v head="$head_row" 'BEGIN { OFS = "\t"; print head
	for (t = 0; t < 10; t++) {
		printf "a\t%d\t4\t0\t16\t%.17g\t%.17g\n", t, 0.5 + 96 / 16, 0.5 + 96 / 64
		printf "b\t%d\t2\t1\t8\t%.17g\t%.17g\n", t, 2 + 50 / 8, 2 + 50 / 32
	} }' >"$T/exact.tsv"
run "a log of two applications" 0 gf-pgns --window 4 "$T/exact.tsv"
is "nothing to say" "$T/err" ""
cp "$T/out" "$T/est"
good "$T/est" '{ a = $1 == "a"
	if (!near($c["phi"], a ? 192 : 25) || !near($c["grad_sqr"], a ? 0.5 : 2) ||
	    !near($c["grad_var"], a ? 1.5 : 50 / 32) || $c["status"] != "ok" ||
	    $c["init_batch"] != (a ? 64 : 32) || $c["estimator"] != "replicas") bad = 1
	n[$1] += $c["n"]; w[$1]++ }
	END { exit bad || n["a"] != 10 || n["b"] != 10 || w["a"] != 3 || w["b"] != 3 }'
ok "the noise scale of each, in windows" $?
good "$T/est" '$1 == "a" { if (!near($c["progress"], $c["window"] < 2 ? 4 * $c["window"] + 2 : 9)) bad = 1 }
	END { exit bad }'
ok "progress: steps at the initial batch size" $?
run "--init-batch" 0 gf-pgns --init-batch 16 --window 0 --app a "$T/exact.tsv"
good "$T/out" '{ g = 4 * (192 + 16) / (192 + 64)
	if (!near($c["grad_var"], 6) || !near($c["phi"], 192) || !near($c["progress"], 5 * g)) bad = 1 }
	END { exit bad || rows != 1 }'
ok "the variance is at that size, phi does not change, steps count more" $?
run "--smooth" 0 gf-pgns --smooth 0.9 --window 1 --app b "$T/exact.tsv"
good "$T/out" '{ if (!near($c["phi"], 25)) bad = 1 } END { exit bad || rows != 10 }'
ok "smoothing what is constant changes nothing" $?
tr '\t' ',' <"$T/exact.tsv" >"$T/exact.csv"
run "comma-separated" 0 gf-pgns --window 4 --no-meta "$T/exact.csv"
grep -v '^#' "$T/est" >"$T/a"
same "the same estimates" "$T/a" "$T/out"
run "through gf-prof" 0 sh -c "sed 's/^[^\t]*\t//' '$T/exact.tsv' | sed -n '1p;2~2p' |
	gf-prof --from gradient-stats - | gf-pgns --window 4 --no-meta"
grep -v '^b' "$T/a" | cut -f 6- >"$T/b"
cut -f 6- "$T/out" >"$T/c"
same "the same estimates of the first" "$T/b" "$T/c"

run "epochs of the sample log" 0 gf-pgns --by-epoch $D/pgns-log.tsv
is "overflows are counted" "$T/err" \
	"gf-pgns: warning: $D/pgns-log.tsv: 1 step left out: norms that are not finite"
good "$T/out" '{ phi = NR && rows == 1 ? 192 : 640
	d = $c["phi"] - phi
	if (d < 0) d = -d
	if (d > 3 * $c["se_phi"] || !($c["se_phi"] > 0) || $c["n_nonfinite"] != (rows == 1)) bad = 1 }
	END { exit bad || rows != 2 }'
ok "the planted 192 and 640, within three standard errors" $?
run "-q" 0 gf-pgns -q --by-epoch $D/pgns-log.tsv
is "silences the count" "$T/err" ""
run "one replica" 0 gf-pgns $D/pgns-single.csv
is "the first step has none before it" "$T/err" ""
good "$T/out" '{ d = $c["phi"] - 64; if (d < 0) d = -d
	if (d > 3 * $c["se_phi"] || $c["estimator"] != "differenced" || $c["n"] != 23 || $c["n_unknown"] != 1) bad = 1 }
	END { exit bad || rows != 1 }'
ok "differences of steps, the planted 64 within three standard errors" $?
column progress "$T/out" >"$T/a"
is "progress of the log, in the middle" "$T/a" 115
printf '%s\n' "$head_row" "NA	0	2	0	8	1	2" "NA	1	1	0	8	2	2" >"$T/bad.tsv"
run "no signal" 0 gf-pgns --window 1 "$T/bad.tsv"
is "is said" "$T/err" "gf-pgns: warning: $T/bad.tsv: 2 windows not estimable: signal or noise not above zero"
column status "$T/out" | paste -s -d ' ' - >"$T/a"
is "window by window" "$T/a" "not-estimable no-steps"
column phi "$T/out" | paste -s -d ' ' - >"$T/a"
is "without a number" "$T/a" "NA NA"

# ---- faults of a log ----
fault() {
	printf '%s\n' "$head_row" "a	0	2	0	8	2	1" "$2" >"$T/bad.tsv"
	refuses "$1" 1 "gf-pgns: $T/bad.tsv:3:$3" gf-pgns "$T/bad.tsv"
}
fault "no replicas" "a	1	0	0	8	2	1" "replicas: bad number '0' (expected 1 to 1000000000)"
fault "half a sample" "a	1	1	0	0.5	2	1" "local_bsz: bad value '0.5' (expected a whole number)"
fault "a negative square" "a	1	2	0	8	-2	1" "local_sqr: bad square '-2' (expected 0 or more)"
fault "words" "a	1	2	0	8	2	many" "global_sqr: bad number 'many' (expected a number, nan or inf)"
printf '%s\n' "progress	$head_row" "1	a	0	2	0	8	2	1" "NA	a	1	2	0	8	2	1" >"$T/bad.tsv"
run "progress now and then" 1 gf-pgns "$T/bad.tsv"
is "is refused" "$T/err" "gf-pgns: $T/bad.tsv:3:progress: progress in some rows only (expected in all or none)"
fault "no step" "a	NA	2	0	8	2	1" "step: missing value (expected a number)"
printf '%s\n' "$head_row" "a	0	2	0	8	2	1" "a	1	2	0	8	-2	1" "a	2	2	0	8	2	1.5" >"$T/bad.tsv"
run "--skip-bad" 0 gf-pgns --skip-bad 1 "$T/bad.tsv"
is "counts" "$T/err" "gf-pgns: warning: $T/bad.tsv: 1 bad record left out"
column n "$T/out" >"$T/a"
is "the others stay" "$T/a" 2
run "no column" 1 gf-pgns $D/goodput-theta.tsv
is "is named" "$T/err" "gf-pgns: $D/goodput-theta.tsv: no column 'step' (found app, alpha_c_s, beta_c_s, \
alpha_n_s, beta_n_s, alpha_r_s, beta_r_s, gamma)"
run "no epochs" 1 gf-pgns --by-epoch "$T/exact.tsv"
is "is said" "$T/err" "gf-pgns: $T/exact.tsv: no column 'epoch' (for --by-epoch)"
run "no such application" 1 gf-pgns --app c "$T/exact.tsv"
is "is said, too" "$T/err" "gf-pgns: $T/exact.tsv: no steps of that application"

# ---- curves ----
run "fit estimates" 0 gf-pgns fit "$T/est"
cp "$T/out" "$T/curves"
good "$T/curves" '{ if (!near($c["phi_from"], $1 == "a" ? 192 : 25) || !near($c["phi_to"], $1 == "a" ? 192 : 25)) bad = 1
	n[$1] += $c["n_obs"] }
	END { exit bad || n["a"] < 3 || n["b"] < 3 }'
ok "flat curves" $?
run "from a pipe" 0 sh -c "gf-pgns --window 4 '$T/exact.tsv' | gf-pgns fit"
same "the same curves" "$T/curves" "$T/out"
# log phi = 4 + x / 10, and 7 from x = 50, at two batch sizes, in any order
awk 'BEGIN { OFS = "\t"; OFMT = "%.17g"; print "app", "progress", "batch_size", "init_batch", "phi"
	for (i = 0; i < 160; i++) { x = (i * 37) % 80
		print "net", x, i < 80 ? 256 : 64, 64, exp((x < 50 ? 4 + x / 50 : 7) + (i < 80 ? 1 : 0)) } }' >"$T/points.tsv"
run "a drift and a jump" 0 gf-pgns fit "$T/points.tsv"
cp "$T/out" "$T/net"
cut -f 2,5,6 "$T/net" | grep -v '^#' | sed 1d | paste -s -d , - >"$T/a"
is "two pieces at each batch size, the smaller first" "$T/a" "64	0	49,64	50	79,256	0	49,256	50	79"
printf 'app\tprogress\tbatch_size\nnet\t25\t64\nnet\t25\t128\nnet\t60\t256\nnet\t60\t4096\n' >"$T/rows.tsv"
run "predict" 0 gf-pgns predict --curves "$T/net" "$T/rows.tsv"
good "$T/out" '{ want = rows == 1 ? exp(4.5) : rows == 2 ? exp(5) : exp(8); m = $c["batch_size"]
	if (!near($c["phi"], want) || !near($c["efficiency"], (want + 64) / (want + m)) ||
	    !near($c["gain"], m / 64 * $c["efficiency"])) bad = 1 } END { exit bad || rows != 4 }'
ok "between batch sizes, and held outside" $?
run "both from one pipe" 2 gf-pgns predict --curves - <"$T/net"
has "cannot be" "$T/err" '^gf-pgns: standard input cannot be two inputs: --curves and the operand that is not given$'
run "--pool" 0 gf-pgns fit --pool "$T/points.tsv"
column batch_size "$T/out" | sort -u >"$T/a"
is "one curve, at the geometric mean" "$T/a" 128
run "--penalty 0" 0 gf-pgns fit --penalty 0 "$T/points.tsv"
column batch_size "$T/out" | uniq -c | awk '{ print $1 }' | paste -s -d ' ' - >"$T/a"
is "through every point" "$T/a" "79 79"
printf 'progress\tgrad_sqr\tgrad_var\n0\t0\t5\n1\t2\t5\n2\t2\t5\n3\tNA\t5\n' >"$T/stats.tsv"
run "squares and variances" 0 gf-pgns fit --init-batch 8 "$T/stats.tsv"
is "rows without an estimate are counted" "$T/err" \
	"gf-pgns: warning: $T/stats.tsv: 2 rows without an estimate left out"
good "$T/out" '{ if (!near($c["phi_from"], 20)) bad = 1 } END { exit bad || rows != 1 }'
ok "phi is M0 var / sqr" $?
run "no initial batch size" 1 gf-pgns fit "$T/stats.tsv"
is "is needed" "$T/err" "gf-pgns: $T/stats.tsv: no column 'init_batch' (or --init-batch)"
printf 'progress\tphi\tinit_batch\n0\t3\t8\n1\t3\t9\n' >"$T/bad.tsv"
run "two initial batch sizes" 1 gf-pgns fit "$T/bad.tsv"
is "cannot be" "$T/err" "gf-pgns: $T/bad.tsv:3:init_batch: another initial batch size '9' (expected 8)"
printf 'app\tprogress\tbatch_size\nnet\t25\t32\n' >"$T/bad.tsv"
run "below the initial batch size" 1 gf-pgns predict --curves "$T/net" "$T/bad.tsv"
is "there is nothing" "$T/err" "gf-pgns: $T/bad.tsv:2:batch_size: bad batch size '32' (expected at \
least the initial one, 64)"
printf 'app\tprogress\tbatch_size\nvgg\t25\t64\n' >"$T/bad.tsv"
run "an unknown application" 1 gf-pgns predict --curves "$T/net" "$T/bad.tsv"
is "is named" "$T/err" "gf-pgns: $T/bad.tsv:2:app: no curve of application 'vgg'"
sed 's/	49	/	79	/' "$T/net" >"$T/broken"
run "curves that cross themselves" 1 gf-pgns predict --curves "$T/broken" "$T/rows.tsv"
has "are refused" "$T/err" ':progress_from: progress .* out of order .expected increasing.$'

# ---- runs of a profile ----
run "a store" 0 gf-prof --from pollux $D/profile-mini -o "$T/p.h5"
run "predict its runs from each other" 0 gf-pgns predict --profile "$T/p.h5"
cp "$T/out" "$T/compared"
is "nothing to say" "$T/err" ""
# The sample's runs share one phi (invented), so that the others predict all but its rounding.
good "$T/compared" '{ if ($c["batches"] != 2 || !($c["mape_pct"] < 1)) bad = 1 } END { exit bad || rows != 2 }'
ok "each application, with small errors" $?
run "--by epoch" 0 gf-pgns predict --profile "$T/p.h5" --by epoch
good "$T/out" '{ e = 100 * ($c["efficiency_predicted"] / $c["efficiency"] - 1)
	d = e - $c["error_pct"]
	if (d > 1e-9 || d < -1e-9) bad = 1
	sum[$1] += e < 0 ? -e : e; n[$1]++
	if (!near($c["gain"] / $c["gain_predicted"], $c["efficiency"] / $c["efficiency_predicted"])) bad = 1 }
	END { for (a in n) printf "%s %d %.9g\n", a, n[a], sum[a] / n[a]; exit bad }' | sort >"$T/a"
good "$T/compared" '{ printf "%s %d %.9g\n", $1, $c["n"], $c["mape_pct"] }' >"$T/b"
same "their mean is that of the application" "$T/b" "$T/a"
run "--by batch" 0 gf-pgns predict --profile "$T/p.h5" --by batch
cut -f 1-4 "$T/out" | grep -v '^#' | sed 1d | paste -s -d , - >"$T/a"
is "a row each, the largest lies outside" "$T/a" \
	"conv	64	0	4,conv	128	1	4,text	20	0	3,text	40	1	3"
run "--from" 0 gf-pgns predict --profile "$T/p.h5" --from 64 --app conv --by batch
column batch_size "$T/out" >"$T/a"
is "all but that one and the initial one" "$T/a" 128
run "--from a size that an application has not" 0 gf-pgns predict --profile "$T/p.h5" --from 64
is "is said" "$T/err" "gf-pgns: warning: no run of text to predict batch size 20 from"
run "--from a size that none has" 1 gf-pgns predict -q --profile "$T/p.h5" --from 63
is "is an error" "$T/err" "gf-pgns: $T/p.h5: no run that could be predicted from others"
run "fit --profile" 0 gf-pgns fit --profile "$T/p.h5" -o "$T/store.h5:/curves"
run "curves in a store" 0 gf-pgns predict --curves "$T/store.h5:/curves" --no-meta - <<'EOT'
app	progress	batch_size
conv	60	64
EOT
lines "predict as well" "$T/out" 2

# ---- wrong usage ----
run "predict from nothing" 2 gf-pgns predict
has "is said" "$T/err" '^gf-pgns: one of --curves and --profile is needed$'
run "--profile and a file" 2 gf-pgns fit --profile x.h5 "$T/est"
run "--by with curves" 2 gf-pgns predict --curves "$T/net" --by batch "$T/rows.tsv"
run "--smooth 1" 2 gf-pgns --smooth 1 "$T/exact.tsv"
run "a store that is not there" 3 gf-pgns predict --profile "$T/none.h5"
