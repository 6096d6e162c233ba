# SPDX-License-Identifier: MIT
# The constants that Rubick's policy believes in (perf_model_params.csv) as a table of models. What the published code
# has beside them: the speed that slopes are relative to (batch over seconds of an iteration), the forward pass of bert on
# several GPUs, and that the two largest fit by ZeRO only.
BEGIN {
	FS = ","
	OFS = "\t"
	ref["gpt2"] = 16 / 0.62556; ref["t5"] = 16 / 0.3207; ref["vit"] = 64 / 0.049219; ref["bert"] = 32 / 0.15768
	ref["roberta"] = 64 / 0.234; ref["llama7"] = 8 / 9.4; ref["llama30"] = 4 / 2.759
	print "app", "k_bwd", "k_sync", "k_opt", "k_os", "k_const", "k_off", "k_swap", "pcie_mi_per_ms", "nvlink_mi_per_ms",
		"params_mi", "forward_ms", "batch_size", "seq_hid", "layers", "reference_per_s", "forward_speedup",
		"max_local_bsz", "max_local_bsz_offload", "max_local_bsz_zero_dp"
}
{ sub(/\r$/, "") }
NR > 1 { print $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, sprintf("%.17g", ref[$1]),
	$1 == "bert" ? "2:1.8,4:3.2,8:5.8" : "NA", $1 ~ /^llama/ ? "0\t8\t2" : "NA\tNA\tNA" }
