# SPDX-License-Identifier: MIT
# gf-export: each format, its values and escapes, round trips through gf-import, compiled C, faults.
. tests/cli/lib.sh
D=tests/data

# trip NAME FORMAT FILE ARG…: written, read and written again, the same bytes; the first in $T/one, tables in $T/back
trip() {
	trip_name=$1 trip_to=$2 trip_in=$3
	shift 3
	run "$trip_name: written" 0 gf-export --to "$trip_to" "$@" -o "$T/one" "$trip_in"
	run "$trip_name: read" 0 gf-import -o "$T/back" "$T/one"
	has "$trip_name: recognised" "$T/back" "^#format=$trip_to\$|^#tool=gf-ga2m"
	case " $* " in *" --name "*) set -- --name twice ;; *) set -- ;; esac
	run "$trip_name: written again" 0 gf-export --to "$trip_to" "$@" -o "$T/two" "$T/back"
	same "$trip_name: the same bytes" "$T/one" "$T/two"
	gf-import --from "$trip_to" - <"$T/one" 2>"$T/err" | sed '/^#from=/d' >"$T/named"
	sed '/^#from=/d' "$T/back" >"$T/plain"
	same "$trip_name: recognised or named, the same tables" "$T/plain" "$T/named"
}

# ---- AdaptDL ----
printf 'app\tprogress\tinit_batch\tmax_batch\tmin_local_bsz\tmax_local_bsz\tgrad_sqr\tgrad_var\n' >"$T/stats.tsv"
printf 'ant\t100\t64\t4096\t16\t256\t0.9\t4\nant\t200\t64\t4096\t16\t256\t0.5\t3.5\n' >>"$T/stats.tsv"
printf 'bee\t10\t32\tNA\tNA\tNA\tNA\tNA\n' >>"$T/stats.tsv"
{
	printf 'app\talpha_c_s\tbeta_c_s\talpha_n_s\tbeta_n_s\talpha_r_s\tbeta_r_s\tgamma\n'
	printf 'ant\t0.03\t0.0011\t0.02\t0.002\t0.01\t0.001\t1.5\nbee\t0.25\t0.5\t0.125\t2\t1\t4\t1\n'
} >"$T/theta.tsv"
printf 'app\tnum_nodes\tnum_replicas\tlocal_bsz\nant\t1\t4\t16\nant\t2\t6\t16\nbee\t1\t2\t8\n' >"$T/steps.tsv"
run "hints of one application" 0 gf-export --to adaptdl --app bee --stats "$T/stats.tsv" --data "$T/steps.tsv" "$T/theta.tsv"
is "all the keys that the allocator reads" "$T/out" '{"initBatchSize": 32, "localBszBounds": null, "globalBatchSize": null, "maxBatchSize": null, "maxProfiledReplicas": 2, "gradientAccumulation": false, "perfParams": {"alpha_c": 0.25, "beta_c": 0.5, "alpha_n": 0.125, "beta_n": 2, "alpha_r": 1, "beta_r": 4, "gamma": 1}}'
run "the latest statistics" 0 gf-export --to adaptdl --app ant --stats "$T/stats.tsv" --data "$T/steps.tsv" "$T/theta.tsv"
has "are those of most progress" "$T/out" '"maxProfiledReplicas": 6, .*"gradParams": \{"norm": 0.5, "var": 3.5\}'
has "bounds" "$T/out" '"localBszBounds": \[16, 256\], .*"maxBatchSize": 4096'
trip "hints of two" adaptdl "$T/theta.tsv" --stats "$T/stats.tsv" --data "$T/steps.tsv"
has "an object by name" "$T/one" '^\{"ant": \{"initBatchSize": 64'
run "models that were imported are models" 0 gf-throughput --predict "$T/back" "$T/steps.tsv"

# ---- trees and GA2Ms ----
for t in slow hours; do
	trip "the tree $t as JSON" tree-json $D/tree-$t.tsv
	gf-tree print --format json $D/tree-$t.tsv >"$T/want"
	same "the tree $t: what gf-tree prints" "$T/want" "$T/one"
	gf-import "$T/one" | sed '/^#/d' >"$T/a"
	sed '/^#/d' $D/tree-$t.tsv >"$T/b"
	trip "the tree $t as C" tree-c $D/tree-$t.tsv --name twice
done
grep -q 'twice_leaf' "$T/one"
ok "functions of that name" $?
for m in model classes; do
	trip "the GA2M $m as JSON" ga2m-json $D/ga2m-$m.tsv
	same "the GA2M $m: the very tables" $D/ga2m-$m.tsv "$T/back"
	trip "the GA2M $m as C" ga2m-c $D/ga2m-$m.tsv --name twice
	same "the GA2M $m: the very tables behind C" $D/ga2m-$m.tsv "$T/back"
	run "a GA2M of JSON" 0 gf-export --to ga2m-c --name twice -o "$T/two" $D/ga2m-$m.json
done
cp "$T/one" "$T/model.c"
gf-export --to tree-c --name tree $D/tree-slow.tsv -o "$T/tree.c"
if command -v cc >/dev/null 2>&1; then
	for f in model tree; do
		run "the C of $f compiles without a warning" 0 cc -std=c11 -Wall -Wextra -Werror -pedantic -c "$T/$f.c" -o "$T/$f.o"
	done
else
	skip "no C compiler" 2
fi
sed 's/return 0;/return 1;/' "$T/tree.c" >"$T/edited.c"
cmp -s "$T/tree.c" "$T/edited.c"
ok "an edit of the functions" $((1 - $?))
run "functions that were edited are not read" 1 gf-import "$T/edited.c"
is "and why" "$T/err" "gf-import: $T/edited.c: the functions are not those of the model behind them"
grep -v '^/[*] goodfit-model' "$T/tree.c" >"$T/edited.c"
run "functions without a model are not read" 1 gf-import --from tree-c "$T/edited.c"
is "and why not" "$T/err" "gf-import: $T/edited.c: no model behind the functions (expected what gf-export writes)"

# ---- widths ----
trip "widths as JSON" widths-json $D/boa-plans.tsv
sed '/^#/d' "$T/back" >"$T/a"
sed '/^#/d' $D/boa-plans.tsv >"$T/b"
same "the rows of the plan" "$T/b" "$T/a"
has "what it is certified by" "$T/back" '^#budget='
run "a plan that was imported is certified" 0 gf-boa certify --speedups $D/boa-speedups.tsv --classes $D/boa-classes.tsv "$T/back"
trip "widths as a plain table" widths-tsv $D/boa-plans.tsv
same "the rows of the plan, and nothing else" "$T/b" "$T/one"
printf 'class\tplan\tshare\tepoch\tgpus\tgpu_type\nNA2\t0\t1\t0\t4\tt4\n\\NA\t0\t1\t0\t4\tt4\n' >"$T/na.tsv"
run "a class that is called NA" 1 gf-export --to widths-tsv "$T/na.tsv"
is "has no place in a plain table" "$T/err" "gf-export: $T/na.tsv:3:class: bad name 'NA' (expected one that needs no escapes)"
run "but in JSON" 0 gf-export --to widths-json "$T/na.tsv"
has "it has" "$T/out" '"class": "NA", .*"gpu_type": "t4", "gpus": 4|"class": "NA"'

# ---- Prometheus ----
gf-metrics -q $D/log-small.tsv -o "$T/metrics.tsv"
trip "metrics of a replay" prometheus "$T/metrics.tsv"
has "a metric with its policy" "$T/one" '^goodfit_jct_mean_seconds\{policy="[a-z]+",cluster="2x4",fidelity="none"\} [0-9.]+$'
has "its type" "$T/one" '^# TYPE goodfit_jct_mean_seconds gauge$'
has "its help" "$T/one" '^# HELP goodfit_jct_mean_seconds jct_mean_s, s$'
trip "models as gauges" prometheus "$T/theta.tsv" --prefix throughput
has "a gauge" "$T/one" '^throughput_beta_n_seconds\{app="bee"\} 2$'
printf 'name\tload_pct\tmost\n' >"$T/odd.tsv"
printf 'a "b" \\\\ c\t50.5\tinf\nline\\nfeed\tNA\t-inf\nnone\t0.1\tnan\n' >>"$T/odd.tsv"
trip "texts with quotes, backslashes and line feeds" prometheus "$T/odd.tsv" --prefix ''
is "are escaped" "$T/one" '# HELP load_pct load_pct
# TYPE load_pct gauge
load_pct{name="a \"b\" \\ c"} 50.5
load_pct{name="none"} 0.10000000000000001
# HELP most most
# TYPE most gauge
most{name="a \"b\" \\ c"} +Inf
most{name="line\nfeed"} -Inf
most{name="none"} NaN'
printf 'class\tepoch\tspeed\nant\t0\t1\nant\t1\t2\n' >"$T/twice.tsv"
run "two values of one metric" 1 gf-export --to prometheus "$T/twice.tsv"
is "are no exposition" "$T/err" "gf-export: $T/twice.tsv: two values of goodfit_epoch{class=\"ant\"} (expected rows that differ in a text, or in a column of --label)"
trip "unless a column tells them apart" prometheus "$T/twice.tsv" --label epoch
has "which is a label then" "$T/one" '^goodfit_speed\{class="ant",epoch="1"\} 2$'
run "a text is a label anyway" 2 gf-export --to prometheus --label class "$T/twice.tsv"
has "is said" "$T/err" "^gf-export: --label: column 'class' is text, and so a label anyway$"
printf 'metric\tvalue\na\t1\n' >"$T/rows.tsv"
run "a metric a row has no such labels" 2 gf-export --to prometheus --label value "$T/rows.tsv"
has "is said" "$T/err" "^gf-export: --label is of no use: each row of this table is a metric$"
printf '__name__\tx\na\t1\n' >"$T/names.tsv"
run "names of the server" 0 gf-export --to prometheus "$T/names.tsv"
has "are not taken" "$T/out" '^goodfit_x\{_name__="a"\} 1$'
for v in nan NA; do
	printf 'alpha_c_s\tbeta_c_s\talpha_n_s\tbeta_n_s\talpha_r_s\tbeta_r_s\tgamma\tinit_batch\n%s\t1\t1\t1\t1\t1\t2\t64\n' $v >"$T/part.tsv"
	run "a model with a parameter $v" 1 gf-export --to adaptdl "$T/part.tsv"
	has "is not left out in silence" "$T/err" "^gf-export: $T/part.tsv:2:alpha_c_s: "
done
run "texts do not go into a store" 2 gf-export --to prometheus -o "$T/s.h5:/x" "$T/names.tsv"
has "is said" "$T/err" "^gf-export: --to prometheus cannot go into a store '$T/s.h5:/x'$"
run "a name that the functions need" 2 gf-export --to ga2m-c --name exp "$T/names.tsv"
has "is said" "$T/err" "^gf-export: bad name 'exp' \(expected a C identifier\)$"
printf '1st col\tx\n3\ta\n' >"$T/names.tsv"
run "names that Prometheus has not" 0 gf-export --to prometheus --prefix '' "$T/names.tsv"
has "are made such" "$T/out" '^_1st_col\{x="a"\} 3$'

run "the same bytes again" 0 gf-export --to adaptdl --stats "$T/stats.tsv" "$T/theta.tsv"
cp "$T/out" "$T/a"
gf-export --to adaptdl --stats "$T/stats.tsv" - <"$T/theta.tsv" >"$T/b"
same "from standard input" "$T/a" "$T/b"

# ---- faults ----
# fault NAME STATUS MESSAGE COMMAND…
refuses "an unknown format" 2 "gf-export: unknown format 'xml' (gf-export --help lists them)" gf-export --to xml "$T/theta.tsv"
refuses "an option of another format" 2 "gf-export: --name is of no use with --to adaptdl" gf-export --to adaptdl --name x "$T/theta.tsv"
refuses "no C name" 2 "gf-export: bad name 'int' (expected a C identifier)" gf-export --to tree-c --name int $D/tree-slow.tsv
refuses "no batch size" 1 "gf-export: $T/theta.tsv: no initial batch size of 'ant' (expected --stats with a column init_batch)" gf-export --to adaptdl "$T/theta.tsv"
refuses "no such application" 1 "gf-export: $T/theta.tsv: no model of 'cow'" gf-export --to adaptdl --app cow "$T/theta.tsv"
sed 's/0.0011/-1/' "$T/theta.tsv" >"$T/bad.tsv"
run "a bad parameter is not handed over" 1 gf-export --to adaptdl --stats "$T/stats.tsv" "$T/bad.tsv"
has "and its place is named" "$T/err" "bad.tsv:2:beta_c_s: "
sed 's/	64	/	0	/' "$T/stats.tsv" >"$T/bad.tsv"
refuses "a bad batch size" 1 "gf-export: $T/bad.tsv:2:init_batch: out of range '0' (expected 1 or more)" gf-export --to adaptdl --stats "$T/bad.tsv" "$T/theta.tsv"
refuses "no tree" 1 "gf-export: $T/theta.tsv:1: no column 'criterion' (found app, alpha_c_s, beta_c_s, alpha_n_s, beta_n_s, alpha_r_s, beta_r_s, gamma)" gf-export --to tree-json "$T/theta.tsv"
sed 's/	[0-9.]*$/	-7/' $D/boa-plans.tsv >"$T/bad.tsv"
run "a width with a time below 0 is not handed over" 1 gf-export --to widths-json "$T/bad.tsv"
has "and its place is named" "$T/err" "bad.tsv:[0-9]*:[a-z_]*: bad value '-7' .expected 0 or more.$"
printf 'name\tplace\na\tb\n' >"$T/texts.tsv"
refuses "no numbers" 1 "gf-export: $T/texts.tsv: no numbers (expected a column of them, and rows)" gf-export --to prometheus "$T/texts.tsv"
