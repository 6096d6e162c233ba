# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# What tests/fuzz/smoke.sh and scripts/fuzz share. $B is the folder of the built targets; run from the top
# of the checkout.
#
#   fuzz_targets             the names of all targets, one a line; makes the links of those that share a
#                            program, which takes the format from its name
#   fuzz_seeds TARGET DIR    copies the files that TARGET starts from into DIR

fuzz_targets() {
	for fuzz_src in tests/fuzz/fuzz_*.c; do
		fuzz_name=$(basename "$fuzz_src" .c)
		case $fuzz_name in
		fuzz_trace | fuzz_prof | fuzz_join | fuzz_inputs)
			"$B/$fuzz_name" --formats >"$B/$fuzz_name.formats" || return 1
			case $fuzz_name in fuzz_trace | fuzz_prof) echo auto >>"$B/$fuzz_name.formats" ;; esac
			while read -r fuzz_format; do
				ln -sf "$fuzz_name" "$B/${fuzz_name}_$fuzz_format" || return 1
				echo "${fuzz_name}_$fuzz_format"
			done <"$B/$fuzz_name.formats" ;;
		*) echo "$fuzz_name" ;;
		esac
	done
}

# Files put together with lines "%%" between them, as fuzz_next_part() of fuzz.h cuts them apart.
fuzz_join_files() {
	fuzz_first=1
	for fuzz_file; do
		[ -n "$fuzz_first" ] || echo '%%'
		fuzz_first=
		cat "$fuzz_file"
	done
}

# Files of tests/data that are of that kind (trace, prof) and format; none of that name, or auto: all of it.
fuzz_seeds_of() {
	for fuzz_file in tests/data/"$1-$2".* tests/data/"$1-$2"-*; do
		[ ! -f "$fuzz_file" ] || cp "$fuzz_file" "$3/"
	done
	case $2 in
	gavel-pairs) cp tests/data/prof-gavel.json "$3/" ;;
	rubick-model) cp tests/data/prof-rubick/wren/*.csv "$3/" ;;
	rubick-placements) cp tests/data/prof-rubick/wren/placements.csv "$3/" ;;
	esac
	if [ -z "$(ls -A "$3")" ]; then
		for fuzz_file in tests/data/"$1"-*; do
			[ ! -f "$fuzz_file" ] || cp "$fuzz_file" "$3/"
		done
	fi
}

# A table of performance models with every column.
fuzz_plan_models() {
	printf '%s\t' app k_bwd k_sync k_opt k_os k_const k_off k_swap pcie_mi_per_ms nvlink_mi_per_ms params_mi \
		forward_ms batch_size seq_hid layers reference_per_s forward_speedup max_local_bsz max_local_bsz_offload
	printf 'max_local_bsz_zero_dp\n'
	printf 'owl\t2\t1\t0.5\t3\t5\t7\t11\t4\t8\t80\t100\t16\t1048576\t10\t9.5\t2:1.8,4:2\t8\t16\t12\n'
	printf 'elk\t2\t1.5\t0.5\t3\t5\t7\t11\t4\t8\tNA\tNA\tNA\tNA\tNA\tNA\tNA\tNA\tNA\tNA\n'
}

fuzz_seeds() {
	mkdir -p "$2"
	fuzz_data=tests/data
	case $1 in
	fuzz_trace_*) fuzz_seeds_of trace "${1#fuzz_trace_}" "$2" ;;
	fuzz_prof_*) fuzz_seeds_of prof "${1#fuzz_prof_}" "$2" ;;
	fuzz_ga2m) cp $fuzz_data/ga2m-*.tsv $fuzz_data/ga2m-*.json $fuzz_data/table-several.tsv "$2/" ;;
	fuzz_join_pai)
		fuzz_join_files $fuzz_data/trace-pai-job.csv $fuzz_data/trace-pai-task.csv \
			$fuzz_data/trace-pai-instance.csv $fuzz_data/trace-pai-tag.csv >"$2/all"
		fuzz_join_files $fuzz_data/trace-pai-job.csv $fuzz_data/trace-pai-task.csv \
			$fuzz_data/trace-pai-task.header >"$2/header" ;;
	fuzz_join_pai-machines) fuzz_join_files $fuzz_data/trace-pai-machines.csv \
		$fuzz_data/trace-pai-machines.csv >"$2/two" ;;
	fuzz_join_philly | fuzz_join_philly-cluster) fuzz_join_files $fuzz_data/trace-philly-sample.json \
		$fuzz_data/trace-philly-machines.csv >"$2/list" ;;
	fuzz_join_rubick-model) fuzz_join_files $fuzz_data/prof-rubick/wren/config.csv \
		$fuzz_data/prof-rubick/wren/data.csv >"$2/wren" ;;
	fuzz_join_rubick-placements)
		for fuzz_file in lark wren; do
			cp $fuzz_data/prof-rubick/$fuzz_file/placements.csv "$2/$fuzz_file"
		done ;;
	fuzz_inputs_rates)
		cp $fuzz_data/gavel-rates.tsv $fuzz_data/prof-gavel.tsv "$2/"
		printf 'gpu_type\tapp\tgpus\tsteps_per_s\nfast\ta\t2\t1e299\nfast\tb\t1\t1e-310\n' >"$2/apart" ;;
	fuzz_inputs_plan-times) cp $fuzz_data/prof-rubick-placements.tsv "$2/" ;;
	fuzz_inputs_plan-models) fuzz_plan_models >"$2/models" ;;
	fuzz_inputs_allocations)
		cp $fuzz_data/verify-fifo-log.tsv "$2/"
		printf 'time_s\tjob_id\tnodes\tper_node\tgpus\texec_plan\n0\ta\t0:4,1:2\tNA\tNA\tga\n' >"$2/three"
		printf '5\tb\tNA\t4,2\tNA\tNA\n9\ta\tNA\tNA\t3\tNA\n9.5\tb\t-\tNA\tNA\tNA\n' >>"$2/three" ;;
	fuzz_inputs_gate) cp data/gate.tsv "$2/" ;;
	fuzz_inputs_cluster)
		cp $fuzz_data/trace-tiresias-cluster.tsv $fuzz_data/trace-philly-cluster.tsv "$2/"
		printf 'nodes\tgpus_per_node\tgpu_type\tgroup\n6\t4\taws\tvc1\n3\t8\trtx\tvc2\n' >"$2/types" ;;
	fuzz_inputs_isolated)
		printf 'job_id\tgpus\tjct_s\tgpu_type\nj1\t4\t320\tNA\nj1\t2\t600\tNA\nj10\t4\t100\tNA\n' >"$2/alone"
		fuzz_join_files "$2/alone" $fuzz_data/log-small.tsv >"$2/one"
		printf 'job_id\tgpus\tjct_s\tgpu_type\n0\t2\t3600\tfast\n0\t2\t9000\tNA\n5\t1\tNA\tmid\n' >"$2/alone"
		fuzz_join_files "$2/alone" $fuzz_data/gavel-log.tsv >"$2/types"
		rm -f "$2/alone" ;;
	fuzz_inputs_shares) fuzz_join_files $fuzz_data/gavel-jobs.tsv $fuzz_data/gavel-rates.tsv \
		$fuzz_data/gavel-shares.tsv $fuzz_data/gavel-log.tsv >"$2/all" ;;
	fuzz_sweep)
		cp $fuzz_data/sweep-plan.tsv $fuzz_data/boa-classes.tsv "$2/"
		printf 'policy=fifo,NA,a\\,b' >"$2/axis"
		printf 'load=0.5:2:0.25,3' >"$2/range"
		printf "gf-select --where 'a b' \"{seed}\" {{x\\ y" >"$2/words" ;;
	fuzz_handoff)
		cp $fuzz_data/tree-slow.json $fuzz_data/ga2m-classes.json $fuzz_data/prof-dcgm-exporter.prom "$2/"
		printf '# HELP up is it\\nup\n# TYPE up gauge\nup{a="x,\\"",} 1e3\ndown 2\nup{a="y"} +Inf\n' >"$2/metrics"
		printf '{"ant": {"perfParams": {"gamma": 1.5, "alpha_c": 0.5, "beta_c": 0.25, "alpha_n": 1, "beta_n": 2, "alpha_r": 3, ' \
			>"$2/hints"
		printf '"beta_r": 4}, "initBatchSize": 64, "localBszBounds": [null, 128], "maxBatchSize": 900, "globalBatchSize": 128, ' \
			>>"$2/hints"
		printf '"gradParams": {"norm": 0.1, "var": 0.2}, "gradientAccumulation": true, "maxProfiledReplicas": 4}}\n' >>"$2/hints"
		printf '{"schema": "goodfit-widths/1", "plans": [{"class": "a", "plan": 0, "share": 0.5, "widths": [{"epoch": 0, ' \
			>"$2/widths"
		printf '"gpus": 2, "work": 10, "speed_per_s": 3, "gpu_type": "t"}]}]}\n' >>"$2/widths"
		printf 'class\tplan\tshare\tepoch\tgpus\tgpu_type\twork\nant\t0\t1\t0\t4\tNA\t100\n' >"$2/table" ;;
	fuzz_zone) cp $fuzz_data/zone-* "$2/" ;;
	*)
		for fuzz_file in $fuzz_data/*; do
			[ ! -f "$fuzz_file" ] || cp "$fuzz_file" "$2/"
		done ;;
	esac
}
