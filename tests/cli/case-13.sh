# SPDX-License-Identifier: MIT
# Case 13: throughput fits on planted, thin and bad data, line by line. The input files are the
# case's own when the shared folder has them; each is small and invented, so they are made here.
. tests/cli/lib.sh

# The planted model 0.05 0.002 0.08 0.004 0.03 0.001 1.6, times rounded to 1e-9.
make_rows() {
	echo num_nodes,num_replicas,local_bsz,step_time,sync_time
	while read -r nodes replicas bsz; do
		awk -v n="$nodes" -v r="$replicas" -v b="$bsz" 'BEGIN {
			a = 0.05 + 0.002 * b
			x = r > 2 ? r - 2 : 1e-8
			k = n > 1 ? 0.08 + 0.004 * x : 0.03 + 0.001 * x
			t = r > 1 ? (a ^ 1.6 + k ^ 1.6) ^ (1 / 1.6) : a
			printf "%d,%d,%d,%.9f,%.9f\n", n, r, b, t, t - a
		}'
	done
}
make_rows >"$T/planted.csv" <<'ROWS'
1 1 16
1 1 32
1 1 64
1 2 16
1 2 32
1 4 16
1 4 64
2 2 16
2 2 32
2 4 32
2 8 16
2 8 64
4 16 16
4 16 32
ROWS
make_rows >"$T/one-node.csv" <<'ROWS'
1 1 32
1 2 32
1 4 32
1 1 64
1 4 64
ROWS
printf '%s\n' num_nodes,num_replicas,local_bsz,step_time,sync_time \
	1,1,128,0.25,0 1,1,128,0.26,0 1,1,128,0.24,0 >"$T/one-config.csv"
printf '%s\n' num_nodes,num_replicas,local_bsz,step_time,sync_time \
	1,1,32,0.114,0 1,2,32,0,0 1,2,32,0.12,-0.01 1,4,32,0.12,0.15 1,1,64,nan,0 2,1,64,0.2,0.01 \
	1,4,0,0.2,0.01 1,4,64,0.185,0.007 >"$T/bad-rows.csv"
case_dir=$GOODFIT_SHARED/cases/13-pollux-fit-thin-and-bad-data
for f in planted one-node one-config bad-rows; do
	if [ -n "$GOODFIT_SHARED" ] && [ -f "$case_dir/$f.csv" ]; then
		same "$f.csv is the case's" "$T/$f.csv" "$case_dir/$f.csv"
	else
		skip "no shared folder with case 13"
	fi
done

# value COLUMN FILE: of the only row
value() {
	awk -F '\t' -v c="$1" '/^#/ { next } !seen { for (i = 1; i <= NF; i++) if ($i == c) k = i
		seen = 1; next } { print $k }' "$2"
}
# within NAME FOUND EXPECTED TOLERANCE
within() {
	awk -v a="$2" -v b="$3" -v t="$4" 'BEGIN {
		if (a !~ /^-?[0-9.]+(e[-+]?[0-9]+)?$/) exit 1
		d = a - b; if (d < 0) d = -d; exit !(d <= t) }' </dev/null
	within_rc=$?
	ok "$1" $within_rc
	[ $within_rc -eq 0 ] || diag "found $2, expected $3 within $4"
}
# relative NAME FOUND EXPECTED SHARE
relative() {
	within "$1" "$2" "$3" "$(awk -v b="$3" -v s="$4" 'BEGIN { printf "%.17g", b * s }')"
}

# ---- planted.csv ----
run "planted: exit 0" 0 gf-throughput "$T/planted.csv"
is "planted: nothing to say" "$T/err" ""
cp "$T/out" "$T/theta"
is "planted: converged" /dev/stdin converged <<EOT
$(value status "$T/theta")
EOT
within "planted: objective at most 0.0014" "$(value objective "$T/theta")" 0.0007 0.0007
within "planted: it is the optimum" "$(value objective "$T/theta")" 0.000396 0.000001
within "planted: RMSLE of the step" "$(value rmsle "$T/theta")" 0.0005 0.0005
within "planted: RMSLE of the compute time" "$(value rmsle_compute "$T/theta")" 0.0005 0.0005
for p in alpha_c_s=0.05 beta_c_s=0.002 alpha_n_s=0.08 beta_n_s=0.004 alpha_r_s=0.03 beta_r_s=0.001; do
	relative "planted: ${p%=*}" "$(value "${p%=*}" "$T/theta")" "${p#*=}" 0.02
done
within "planted: gamma" "$(value gamma "$T/theta")" 1.6 0.05
for c in 8,32,16,0.228796 2,6,48,0.188993 1,3,24,0.107443; do
	printf '%s\n' num_nodes,num_replicas,local_bsz "${c%,*}" >"$T/config.csv"
	run "planted: predict ${c%,*}" 0 gf-throughput --predict "$T/theta" "$T/config.csv"
	relative "planted: predicted step time of ${c%,*}" "$(value step_time_s "$T/out")" "${c##*,}" 0.01
done

# ---- one-config.csv ----
run "one-config: exit 0" 0 gf-throughput "$T/one-config.csv"
is "one-config: a note on what was not observed" "$T/err" \
"gf-throughput: warning: the model: alpha_c_s,alpha_n_s,beta_n_s,alpha_r_s,beta_r_s held fixed, not \
observed: a second batch size, several nodes, several GPUs on one node, more than two GPUs"
cp "$T/out" "$T/theta"
within "one-config: alpha_c is half the mean compute time" "$(value alpha_c_s "$T/theta")" 0.125 1e-15
relative "one-config: beta_c" "$(value beta_c_s "$T/theta")" 0.00097552 0.01
within "one-config: alpha_r at its bound" "$(value alpha_r_s "$T/theta")" 1e-8 0
within "one-config: beta_r at its bound" "$(value beta_r_s "$T/theta")" 1e-8 0
within "one-config: alpha_n is 1.1 alpha_r" "$(value alpha_n_s "$T/theta")" 1.1e-8 1e-22
within "one-config: beta_n is 1.1 beta_r" "$(value beta_n_s "$T/theta")" 1.1e-8 1e-22
within "one-config: gamma in [1, 1.01]" "$(value gamma "$T/theta")" 1.005 0.005
run "one-config: predict it" 0 gf-throughput --predict "$T/theta" "$T/one-config.csv"
awk -F '\t' '/^#/ { next } !seen { for (i = 1; i <= NF; i++) if ($i == "step_time_s") k = i
	seen = 1; next } { print $k }' "$T/out" | sort -u >"$T/steps"
lines "one-config: one configuration, one prediction" "$T/steps" 1
relative "one-config: predicted step time" "$(cat "$T/steps")" 0.249867 0.005
hasnt "one-config: no nan" "$T/theta" '(^|	)(nan|-?inf)(	|$)'

# ---- one-node.csv ----
run "one-node: exit 0" 0 gf-throughput "$T/one-node.csv"
is "one-node: a note" "$T/err" \
"gf-throughput: warning: the model: alpha_n_s,beta_n_s held fixed, not observed: several nodes"
for p in alpha_c_s=0.05 beta_c_s=0.002 alpha_r_s=0.03 beta_r_s=0.001 alpha_n_s=0.033 beta_n_s=0.0011; do
	relative "one-node: ${p%=*}" "$(value "${p%=*}" "$T/out")" "${p#*=}" 0.02
done
within "one-node: gamma" "$(value gamma "$T/out")" 1.6 0.05
relative "one-node: alpha_n is 1.1 alpha_r" "$(value alpha_n_s "$T/out")" \
	"$(value alpha_r_s "$T/out" | awk '{ printf "%.17g", 1.1 * $1 }')" 1e-14

# ---- bad-rows.csv ----
run "bad-rows: exit 1" 1 gf-throughput "$T/bad-rows.csv"
is "bad-rows: no output" "$T/out" ""
is "bad-rows: each line and why" "$T/err" \
"gf-throughput: $T/bad-rows.csv:3:step_time: bad step time '0' (expected seconds, 1e-06 to 1e+09)
gf-throughput: $T/bad-rows.csv:4:sync_time: bad synchronisation time '-0.01' (expected 0 or more seconds)
gf-throughput: $T/bad-rows.csv:5:sync_time: synchronisation time not below the step time '0.15' \
(expected less than 0.12)
gf-throughput: $T/bad-rows.csv:6:step_time: bad value 'nan' (expected a number)
gf-throughput: $T/bad-rows.csv:7:num_nodes: more nodes than replicas '2' (expected at most 1)
gf-throughput: $T/bad-rows.csv:8:local_bsz: bad batch size '0' (expected 1 or more)"
run "bad-rows: left out on request" 0 gf-throughput --skip-bad=6 "$T/bad-rows.csv"
has "bad-rows: with a count" "$T/err" ': 6 bad records left out$'
within "bad-rows: two rows are left" "$(value n_obs "$T/out")" 2 0
hasnt "bad-rows: no nan" "$T/out" '(^|	)(nan|-?inf)(	|$)'
run "bad-rows: one too many" 1 gf-throughput --skip-bad=5 "$T/bad-rows.csv"
is "bad-rows: says so" "$T/err" \
	"gf-throughput: $T/bad-rows.csv: more than 5 bad records (--skip-bad)"

# ---- start values, iteration limit, same bits ----
run "a start outside its bounds" 2 gf-throughput --start gamma=0.5 "$T/planted.csv"
has "names the parameter" "$T/err" "start of gamma is outside its bounds '0.5' .expected 1 to 10.$"
run "the iteration limit" 1 gf-throughput --max-iter=2 "$T/planted.csv"
is "it is said" "$T/err" \
	"gf-throughput: the model: the fit did not converge (iteration-limit after 2 iterations)"
is "and in the result" /dev/stdin iteration-limit <<EOT
$(value status "$T/out")
EOT
for f in planted one-node one-config; do
	gf-throughput -q "$T/$f.csv" >"$T/a" && gf-throughput -q --threads 4 "$T/$f.csv" >"$T/b"
	same "$f: bit-identical parameters on every run" "$T/a" "$T/b"
done
