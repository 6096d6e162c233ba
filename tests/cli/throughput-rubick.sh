#!/bin/sh
# SPDX-License-Identifier: MIT
# gf-throughput --model rubick: constants that made the data are found again, as far as they show; predictions by hand.
. tests/cli/lib.sh

printf 'app\tpcie_mi_per_ms\tnvlink_mi_per_ms\nowl\t16\t80\n' >"$T/links.tsv"
# Measured by formula, of known constants, and up to 2 % off; the last column says by what the passes are multiplied.
awk -v truth="$T/truth" 'function off_by(m,	e) { e = (m * (7 * ++i + 3) % 11 - 5) / 250; sum[m] += e * e; return exp(e) }
BEGIN {
	OFS = "\t"
	print "app", "nodes", "gpus", "parameter_size", "batch_size", "seq_hid", "cpu_threads", "zero_type", "is_tp", "is_pp",
		"forward_ms", "sync_ms", "optimize_ms", "iter_time_ms", "strategy"
	P = 300
	for (z = 0; z < 3; z++) for (n = 1; n <= 8; n *= 2) {
		f = 400 / n; t = 1 + n % 4; b = 2.1 * f; c = 8 * P * (n - 1) / n / 80
		sync = (c ^ 1.7 + b ^ 1.7) ^ (1 / 1.7); off = z == 1 ? 4 * P / n / 16 : 0
		if (z == 1) sync += 12 + off
		opt = (z == 0 ? 0.02 * P : z == 2 ? 0.02 * P / n : 3 * P / n / t) + 9 + off
		print "owl", 1, n, P, 8, 1024, t, z, 0, 0, sprintf("%.17g", f), sprintf("%.17g", sync * off_by(2)),
			sprintf("%.17g", opt * off_by(3)), sprintf("%.17g", (f + sync + opt + 5) * off_by(5)), 1100
	}
	printf "%.9f\n", sqrt(sum[2] / 12) + sqrt(sum[3] / 12) + sqrt(sum[5] / 12) >truth
}' >"$T/runs.tsv"
run "a fit" 0 gf-throughput --model rubick --links "$T/links.tsv" -o "$T/model.tsv" "$T/runs.tsv"
is "says nothing" "$T/err" ""
# the constants that made the data are as good as any are thought to be: the fit is no worse, and not far from them
awk -F '\t' -v truth="$(cat "$T/truth")" '/^#/ { next } !n++ { for (i = 1; i <= NF; i++) c[$i] = i; next }
	{ split("2.1 1.7 0.02 3 5 12 9", want, " "); split("0.1 0.5 0.3 0.1 9 9 0.3", within, " ")
	  bad = $c["rows"] != 12 || $c["loss"] > truth
	  for (i = 1; i <= 7; i++) { d = $(i + 1) / want[i] - 1; if (d > within[i] || d < -within[i]) bad = 1 }
	  print truth, $0; rows++ }
	END { exit bad || rows != 1 }' "$T/model.tsv" >"$T/row"
ok "is no worse than the constants that made the data, and near to them" $?
diag "$(cat "$T/row")"
run "again" 0 gf-throughput --model rubick --links "$T/links.tsv" -o "$T/again.tsv" "$T/runs.tsv"
same "the same bytes" "$T/model.tsv" "$T/again.tsv"
run "another application" 1 gf-throughput --model rubick --links "$T/links.tsv" --app wren "$T/runs.tsv"
is "is not there" "$T/err" "gf-throughput: $T/runs.tsv: no observations of that application"

# predictions: k_sync 1 makes sums
printf 'app\tk_bwd\tk_sync\tk_opt\tk_os\tk_const\tk_off\tk_swap\tpcie_mi_per_ms\tnvlink_mi_per_ms\tparams_mi\tforward_ms\tbatch_size\tseq_hid\tlayers\tforward_speedup\n' >"$T/models.tsv"
printf 'owl\t2\t1\t0.5\t3\t5\t7\t11\t4\t8\t80\t100\t16\t1048576\t10\t4:2\n' >>"$T/models.tsv"
printf 'app\texec_plan\tgpus\tnodes\tcpu_threads\tslow_network\tforward_ms\n' >"$T/head"
{
	cat "$T/head"
	printf 'owl\tga\t2\tNA\tNA\tNA\tNA\nowl\tgc\t1\t1\t1\t0\tNA\nowl\tzero-dp\t4\t2\tNA\t1\t30\nowl\tzero-offload\t2\tNA\t5\tNA\tNA\nowl\t221\t4\t2\tNA\tNA\t30\nowl\t999\t2\tNA\tNA\tNA\tNA\n'
} >"$T/configs.tsv"
run "predictions" 0 gf-throughput --model rubick --predict "$T/models.tsv" --no-meta "$T/configs.tsv"
cut -f 2-8 "$T/out" | tr '\t' ' ' >"$T/got"
# ga: 50 + (40 + 100) + 0.5 80 + 11 + 5; gc: 200 + 200 + 40 + 11 + 5; zero-dp: 30 + (8 80 3/4 / 2 + 60) + 10 + 11 + 5
# offload: 50 + (40 + 100) + 7 + 40 + 3 80 / 10 + 11 + 40 + 5; 221: dp 1, m 16: 32 1 16 10 / 2 / 8 = 320, 16 16 / 2 / 20 2 = 12.8
is "are what the formulas say" "$T/got" "exec_plan gpus nodes cpu_threads slow_network iter_ms samples_per_s
ga 2 1 1 0 246 65.040650406504071
gc 1 1 1 0 456 35.087719298245609
zero-dp 4 2 1 1 356 44.943820224719104
zero-offload 2 1 5 0 317 50.473186119873816
221 4 2 1 0 437.80000000000001 36.546368204659657
999 2 1 1 0 NA NA"

refused() {	# NAME MESSAGE ROW
	{ cat "$T/head"; printf '%b\n' "$3"; } >"$T/bad.tsv"
	run "$1" 1 gf-throughput --model rubick --predict "$T/models.tsv" "$T/bad.tsv"
	is "$1: says so" "$T/err" "gf-throughput: $T/bad.tsv:2:$2"
}
refused "no such plan" "exec_plan: unknown plan 'x' (expected ga, gc, zero-dp, zero-offload, zero-offload+gc or three digits)" \
	'owl\tx\t2\tNA\tNA\tNA\tNA'
refused "no model" "app: no model of 'x'" 'x\tga\t2\tNA\tNA\tNA\tNA'
refused "no GPUs" " bad configuration (expected GPUs and threads of at least 1, and as many GPUs on each node)" \
	'owl\tga\t0\tNA\tNA\tNA\tNA'
sed '2s/2	1	0.5/2	0	0.5/' "$T/models.tsv" >"$T/bad.tsv"
run "a constant that is none" 1 gf-throughput --model rubick --predict "$T/bad.tsv" "$T/configs.tsv"
is "is named" "$T/err" "gf-throughput: $T/bad.tsv:2:k_sync: bad value 0 (expected above 0)"
sed '2s/4:2/4:x/' "$T/models.tsv" >"$T/bad.tsv"
run "speedups that are none" 1 gf-throughput --model rubick --predict "$T/bad.tsv" "$T/configs.tsv"
is "are named" "$T/err" "gf-throughput: $T/bad.tsv:2:forward_speedup: bad list '4:x' (expected GPUS:SPEEDUP, such as 2:1.8,4:3.2, at most 16)"
sed '3s/1100$/x100/' "$T/runs.tsv" >"$T/bad.tsv"
run "a strategy that is none" 1 gf-throughput --model rubick --links "$T/links.tsv" "$T/bad.tsv"
is "is named, too" "$T/err" "gf-throughput: $T/bad.tsv:3:strategy: bad strategy 'x100' (expected digits, the multipliers of both passes first)"
printf 'app\tpcie_mi_per_ms\tnvlink_mi_per_ms\nwren\t16\t80\n' >"$T/bad.tsv"
run "no bandwidths" 1 gf-throughput --model rubick --links "$T/bad.tsv" "$T/runs.tsv"
is "of that application" "$T/err" "gf-throughput: $T/bad.tsv: no bandwidths of 'owl'"
run "neither links nor models" 2 gf-throughput --model rubick "$T/runs.tsv"
has "asks for either" "$T/err" "gf-throughput: --model rubick needs --links, or --predict"
run "links of the other model" 2 gf-throughput --links "$T/links.tsv" "$T/runs.tsv"
has "are of no use" "$T/err" "gf-throughput: --links goes with --model rubick"
