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
		fuzz_trace | fuzz_prof | fuzz_join)
			"$B/$fuzz_name" --formats >"$B/$fuzz_name.formats" || return 1
			[ "$fuzz_name" = fuzz_join ] || echo auto >>"$B/$fuzz_name.formats"
			while read -r fuzz_format; do
				ln -sf "$fuzz_name" "$B/${fuzz_name}_$fuzz_format" || return 1
				echo "${fuzz_name}_$fuzz_format"
			done <"$B/$fuzz_name.formats" ;;
		*) echo "$fuzz_name" ;;
		esac
	done
}

# Files put together with lines "%%" between them, as fuzz_join.c cuts them apart.
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
	fuzz_sweep)
		cp $fuzz_data/sweep-plan.tsv $fuzz_data/boa-classes.tsv "$2/"
		printf 'policy=fifo,NA,a\\,b' >"$2/axis"
		printf 'load=0.5:2:0.25,3' >"$2/range"
		printf "gf-select --where 'a b' \"{seed}\" {{x\\ y" >"$2/words" ;;
	fuzz_zone) cp $fuzz_data/zone-* "$2/" ;;
	*)
		for fuzz_file in $fuzz_data/*; do
			[ ! -f "$fuzz_file" ] || cp "$fuzz_file" "$2/"
		done ;;
	esac
}
