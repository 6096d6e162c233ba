# SPDX-License-Identifier: MIT
# gf-throughput: inputs, groups, outputs, messages. Case 13 has the numbers of thin and bad data.
. tests/cli/lib.sh
D=tests/data

fault() {
	refuses "$1" 1 "gf-throughput: $T/bad.tsv$2" gf-throughput "$T/bad.tsv"
}
head_row='num_nodes	num_replicas	local_bsz	step_time_s	sync_time_s'

# ---- fit ----
run "two applications" 0 gf-throughput $D/steps-two-apps.tsv
is "nothing to say" "$T/err" ""
cp "$T/out" "$T/theta"
column app "$T/theta" >"$T/apps"
is "one row each, in the order met" "$T/apps" "resnet
lstm"
column status "$T/theta" | sort -u >"$T/status"
is "both converged" "$T/status" converged
# Planted: resnet 0.031 0.0021 0.052 0.0043 0.017 0.0011 2.2, lstm 0.14 0.013 0.09 0.0072 0.041 0.0023
# 1.4, 1 % noise. Three standard errors, and a small allowance for the penalties.
awk -F '\t' '/^#/ { next } !seen { for (i = 1; i <= NF; i++) c[$i] = i; seen = 1; next }
	{ n++
	  split(($c["app"] == "resnet" ? "0.031 0.0021 0.052 0.0043 0.017 0.0011 2.2" : \
		"0.14 0.013 0.09 0.0072 0.041 0.0023 1.4"), want, " ")
	  split("alpha_c_s beta_c_s alpha_n_s beta_n_s alpha_r_s beta_r_s gamma", name, " ")
	  for (j = 1; j <= 7; j++) { d = $c[name[j]] - want[j]; if (d < 0) d = -d
		if (!($c["se_" name[j]] > 0) || d > 3 * $c["se_" name[j]] + 0.01 * want[j]) {
			print $c["app"], name[j], $c[name[j]], $c["se_" name[j]]
			bad = 1 } } }
	END { exit bad || n != 2 }' "$T/theta" >"$T/off"
ok "the planted parameters, within three standard errors" $?
[ ! -s "$T/off" ] || diag_file "off" "$T/off"
has "the input by its content" "$T/theta" '^#input=[0-9a-f]{32}$'
hasnt "not by its name" "$T/theta" 'steps-two'
run "from standard input" 0 gf-throughput <$D/steps-two-apps.tsv
same "the same bytes" "$T/theta" "$T/out"
run "again, in another locale" 0 env LC_ALL=de_DE.UTF-8 gf-throughput --threads 4 $D/steps-two-apps.tsv
same "the same bytes again" "$T/theta" "$T/out"
run "-o" 0 gf-throughput -o "$T/o.tsv" $D/steps-two-apps.tsv
same "-o writes the same" "$T/theta" "$T/o.tsv"
run "the paper's objective" 0 gf-throughput --objective paper $D/steps-two-apps.tsv
column objective "$T/out" >"$T/a"
column rmsle "$T/out" >"$T/b"
same "is the RMSLE of the step time" "$T/a" "$T/b"
paste "$T/a" - <<EOT >"$T/ab"
$(column rmsle "$T/theta")
EOT
awk '!($1 <= $2) { exit 1 }' "$T/ab"
ok "which no other objective makes smaller" $?
has "the option is in the metadata" "$T/out" '^#objective=paper$'

# ---- the same data as comma-separated text ----
sed -n '/^#/d; s/_time_s/_time/g; s/	/,/gp' $D/steps-two-apps.tsv >"$T/steps.csv"
run "comma-separated, by its name" 0 gf-throughput --no-meta "$T/steps.csv"
cp "$T/out" "$T/plain"
grep -v '^#' "$T/theta" >"$T/want"
same "the same models" "$T/want" "$T/plain"
run "comma-separated, from standard input" 0 gf-throughput --csv --no-meta <"$T/steps.csv"
same "the same models again" "$T/want" "$T/out"
awk -F , 'BEGIN { OFS = "," } NR == 1 { print "app,placement,local_bsz,step_time,sync_time"; next }
	$2 == 1 { print $1, $3, $4, $5, $6 }' "$T/steps.csv" >"$T/placed.csv"
awk -F , 'NR == 1 || $2 == 1' "$T/steps.csv" >"$T/one-node.csv"
gf-throughput -q --no-meta "$T/one-node.csv" >"$T/want"
run "placements for nodes and replicas" 0 gf-throughput -q --no-meta "$T/placed.csv"
same "the same models from placements" "$T/want" "$T/out"

# ---- groups ----
run "--app" 0 gf-throughput --app lstm --no-meta $D/steps-two-apps.tsv
grep -v '^#' "$T/theta" | grep -v ^resnet >"$T/want"
same "that one only" "$T/want" "$T/out"
run "--app that is not there" 1 gf-throughput --app vgg $D/steps-two-apps.tsv
is "is said" "$T/err" "gf-throughput: $D/steps-two-apps.tsv: no observations of that application"
run "--by two columns" 0 gf-throughput -q --by app,num_nodes $D/steps-two-apps.tsv
has "they lead the table" "$T/out" '^app	num_nodes	alpha_c_s	'
column num_nodes "$T/out" | sort | uniq -c | awk '{ print $2, $1 }' >"$T/groups"
is "one row for each combination" "$T/groups" "1 2
2 2
3 2
4 2"
run "--by a column that is not there" 1 gf-throughput --by gpu_type $D/steps-two-apps.tsv
is "is said too" "$T/err" "gf-throughput: $D/steps-two-apps.tsv: no column 'gpu_type' (found app, num_nodes, \
num_replicas, local_bsz, step_time_s, sync_time_s)"
run "--by twice the same" 2 gf-throughput --by app --by app $D/steps-two-apps.tsv
has "is said as well" "$T/err" "column 'app' given twice for --by"

# ---- residuals, predictions ----
run "--residuals" 0 gf-throughput --residuals $D/steps-two-apps.tsv
has "its columns" "$T/out" '^app	num_nodes	num_replicas	local_bsz	weight	step_time_s	predicted_step_s	'
awk -F '\t' '/^#/ { next } !seen { for (i = 1; i <= NF; i++) c[$i] = i; seen = 1; next }
	{ d = $c["error_pct"]; sum[$1] += d < 0 ? -d : d; n[$1]++ }
	END { for (a in n) printf "%s %.9g\n", a, sum[a] / n[a] }' "$T/out" | sort >"$T/a"
paste "$T/apps" - <<EOT | awk '{ printf "%s %.9g\n", $1, $2 }' | sort >"$T/b"
$(column mape_pct "$T/theta")
EOT
same "their mean is mape_pct" "$T/b" "$T/a"
run "--predict" 0 gf-throughput --predict "$T/theta" $D/steps-configs.tsv
cp "$T/out" "$T/predicted"
column network_time_s "$T/out" | paste -s -d " " | sed "s, [1-9][^ ]*, x,g; s, 0[.][^ ]*, x,g" >"$T/network"
is "one GPU has no network time" "$T/network" "0 x x 0 x x"
has "model and configurations by content" "$T/out" '^#input_models=[0-9a-f]{32}$'
has "its columns" "$T/out" '^app	num_nodes	num_replicas	local_bsz	accum_steps	accum_time_s	'
awk -F '\t' '/^#/ { next } !seen { for (i = 1; i <= NF; i++) c[$i] = i; seen = 1; next }
	{ n++; it = $c["accum_steps"] * $c["accum_time_s"] + $c["step_time_s"]
	  tp = $c["num_replicas"] * $c["local_bsz"] * ($c["accum_steps"] + 1) / it
	  a = it / $c["iteration_time_s"] - 1; b = tp / $c["throughput_per_s"] - 1
	  if (a > 1e-12 || a < -1e-12 || b > 1e-12 || b < -1e-12) exit 1 }
	END { if (n != 6) exit 1 }' "$T/out"
ok "iteration time and throughput follow from the rest" $?
run "the model from a pipe" 0 gf-throughput --predict - $D/steps-configs.tsv <"$T/theta"
same "gives the same" "$T/predicted" "$T/out"
run "both from one pipe" 2 gf-throughput --predict - <"$T/theta"
has "cannot be" "$T/err" '^gf-throughput: standard input cannot be two inputs: --predict and the operand that is not given$'
printf 'app\tnum_nodes\tnum_replicas\tlocal_bsz\nvgg\t1\t1\t8\n' >"$T/vgg.tsv"
run "an application without a model" 1 gf-throughput --predict "$T/theta" "$T/vgg.tsv"
is "is named" "$T/err" "gf-throughput: $T/vgg.tsv:2:app: no model of application 'vgg'"
is "and nothing written" "$T/out" ""
sed 's/^resnet	0[^	]*/resnet	-1/' "$T/theta" >"$T/broken"
run "a model out of its domain" 1 gf-throughput --predict "$T/broken" $D/steps-configs.tsv
has "is refused" "$T/err" ":alpha_c_s: bad alpha_c_s '-1' .expected a positive number.$"

# ---- options ----
run "bounds hold" 0 gf-throughput --upper gamma=1.2 --lower alpha_c=0.2 --app lstm $D/steps-two-apps.tsv
column at_bound "$T/out" >"$T/a"
has "and are reported" "$T/a" 'alpha_c_s'
run "an unknown parameter" 2 gf-throughput --start delta=1 $D/steps-two-apps.tsv
has "the names are listed" "$T/err" "bad value 'delta=1' for --start .expected NAME=VALUE, .* gamma.$"
run "bounds that cross" 2 gf-throughput --lower gamma=3 --upper gamma=2 $D/steps-two-apps.tsv
has "the parameter is named" "$T/err" "bad bounds of gamma '3' to '2'"
run "--start of a good value" 0 gf-throughput --starts 1 --start gamma=1.5 --start alpha_n=0.06 \
	$D/steps-two-apps.tsv
column objective "$T/out" | cut -c 1-8 >"$T/a"
column objective "$T/theta" | cut -c 1-8 >"$T/b"
same "finds the same minimum" "$T/b" "$T/a"
run "the number of starts changes little" 0 gf-throughput --starts 20 $D/steps-two-apps.tsv
column objective "$T/out" | cut -c 1-8 >"$T/a"
same "the same minimum from twenty starts" "$T/b" "$T/a"
run "--profile and a file" 2 gf-throughput --profile x.h5 $D/steps-two-apps.tsv
has "is one too many" "$T/err" "^gf-throughput: both --profile and '$D/steps-two-apps.tsv' given"
run "--predict and --residuals" 2 gf-throughput --predict x --residuals y
run "a store that is not there" 3 gf-throughput --profile "$T/none.h5"
has "is said" "$T/err" "^gf-throughput: $T/none.h5: cannot open: No such file or directory"
lines "in one line" "$T/err" 1

# ---- faults of the input ----
printf '%s\n' "$head_row" >"$T/bad.tsv"
run "no rows" 1 gf-throughput "$T/bad.tsv"
is "no rows: said" "$T/err" "gf-throughput: $T/bad.tsv: no observations"
for step in 1e9 1e-6; do
	printf '%s\n1\t1\t8\t%s\t0\n1\t1\t16\t%s\t0\n' \
		"num_nodes	num_replicas	local_bsz	step_time_s	sync_time_s" $step $step >"$T/edge.tsv"
	run "a step of $step s" 0 gf-throughput -q --objective paper "$T/edge.tsv"
done
for step in 1.001e9 0.999e-6; do
	sed "2s/1e-6/$step/" "$T/edge.tsv" >"$T/bad.tsv"
	run "a step of $step s" 1 gf-throughput -q --objective paper "$T/bad.tsv"
	has "is a bad row" "$T/err" "^gf-throughput: $T/bad.tsv:2:step_time_s: bad step time '.*' \(expected seconds, 1e-06 to 1e\+09\)\$"
done

# two applications that have nothing in common, as one
awk 'BEGIN { OFS = "\t"; print "num_nodes", "num_replicas", "local_bsz", "step_time_s", "sync_time_s"
	for (b = 8; b <= 64; b *= 2) { print 1, 1, b, 0.01 + b / 1e4, 0; print 1, 1, b, 5 - b / 50, 0 } }' >"$T/mixed.tsv"
run "two applications without a column app" 0 gf-throughput "$T/mixed.tsv"
has "do not pass for one" "$T/err" \
	'^gf-throughput: warning: the model: mean error [0-9.e+]+ % \(expected at most 20 %; several applications need a column app\)$'
awk -F '\t' 'BEGIN { OFS = FS } { print $0, NR == 1 ? "app" : NR % 2 ? "one" : "two" }' "$T/mixed.tsv" >"$T/split.tsv"
run "with it" 0 gf-throughput "$T/split.tsv"
hasnt "each fits" "$T/err" 'mean error'
printf 'num_nodes\tnum_replicas\tlocal_bsz\tsync_time_s\n1\t1\t1\t0\n' >"$T/bad.tsv"
fault "no step time" ": no column 'step_time_s' (found num_nodes, num_replicas, local_bsz, sync_time_s)"
printf '%s\n1\t1\t8\tNA\t0\n' "$head_row" >"$T/bad.tsv"
fault "a missing step time" ":2:step_time_s: missing value (expected a number)"
printf '%s\n1\t1\t8\t0.5\tNA\n' "$head_row" >"$T/bad.tsv"
fault "a missing synchronisation time" ":2:sync_time_s: missing value (expected a number)"
run "which the paper's objective does not need" 0 gf-throughput -q --objective paper "$T/bad.tsv"
printf 'num_nodes\tnum_replicas\tlocal_bsz\tstep_time_s\n1\t1\t8\t0.5\n' >"$T/bad.tsv"
fault "no synchronisation time at all" ": no column 'sync_time_s' (found num_nodes, num_replicas, local_bsz, step_time_s)"
printf '%s\n1\t1.5\t8\t0.5\t0\n' "$head_row" >"$T/bad.tsv"
fault "half a replica" ":2:num_replicas: bad value '1.5' (expected a whole number)"
printf '%s\n1\t1\t8\t0.5\n' "$head_row" >"$T/bad.tsv"
run "a short row" 1 gf-throughput "$T/bad.tsv"
has "a short row: its line" "$T/err" ':2: '
sed '$d' $D/steps-two-apps.tsv >"$T/cut.tsv"
run "a stream cut short" 1 gf-throughput "$T/cut.tsv"
is "a stream cut short: no output" "$T/out" ""
printf 'placement,local_bsz,step_time,sync_time\n105,8,0.5,0.1\n' >"$T/p.csv"
run "a placement with an empty node" 1 gf-throughput "$T/p.csv"
has "is refused" "$T/err" ":2:placement: bad placement '105' "
printf 'num_nodes,num_replicas,local_bsz,step_time,sync_time\n1,1,8,0.5\n1,1,8,0.5,0\n1,1,x,0.5,0\n' \
	>"$T/rag.csv"
run "ragged and bad rows of a CSV" 1 gf-throughput "$T/rag.csv"
lines "each is named" "$T/err" 2
sed 's/^resnet/cat/' $D/steps-two-apps.tsv >"$T/cat.tsv"
gf-throughput -q $D/steps-two-apps.tsv >"$T/theta.tsv"
run "rows of an application without a model" 1 gf-throughput --predict "$T/theta.tsv" "$T/cat.tsv"
lines "the first of them is named" "$T/err" 1
has "with its place" "$T/err" ":[0-9]*:app: no model of application 'cat'$"
run "and can be left out" 0 gf-throughput -q --skip-bad=2 "$T/rag.csv"

# ---- profile store ----
if command -v gf-prof >/dev/null 2>&1 && [ -d $D/profile-mini ]; then
	run "a profile store" 0 gf-prof --from pollux $D/profile-mini -o "$T/mini.h5"
	run "its measurements" 0 gf-throughput -q --profile "$T/mini.h5"
	column n_obs "$T/out" | awk '{ s += $1 } END { print s }' >"$T/a"
	find $D/profile-mini \( -name placements.csv -o -name scalability.csv \) -exec cat {} + |
		grep -c '^[0-9]' >"$T/b"
	same "every row of both tables" "$T/b" "$T/a"
	has "the store by its content" "$T/out" '^#input_profile=[0-9a-f]{32}$'
else
	skip "gf-prof is not built" 4
fi
