# SPDX-License-Identifier: MIT
# Each fuzz target for FUZZ_SECONDS (default 5) from the files of tests/data; see tests/fuzz/README.
# Run by `make fuzz-smoke`, which builds the targets with clang.
. tests/cli/lib.sh

ASAN_OPTIONS=exitcode=126:detect_leaks=1:allocator_may_return_null=1
export ASAN_OPTIONS
found=0

# fuzz PROGRAM SECONDS CORPUS...: run PROGRAM of $B from these files; output and status to $T/PROGRAM
fuzz() {
	name=$1 seconds=$2
	shift 2
	mkdir -p "$T/$name/corpus" "$T/$name/crash"
	rc=0
	"$B/$name" -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=20 -seed=1 \
		-print_final_stats=1 -artifact_prefix="$T/$name/crash/" "$T/$name/corpus" "$@" \
		>"$T/$name/out" 2>&1 || rc=$?
	echo "$rc" >"$T/$name/rc"
}

# report PROGRAM: it ran without a crash
report() {
	name=$1
	rc=$(cat "$T/$name/rc" 2>/dev/null) || rc=99
	ok "$name: no crash" "$rc"
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$T/$name/out")
	diag "$name: ${runs:-no} inputs"
	if [ "$rc" -ne 0 ]; then
		grep -A 15 -E 'runtime error|ERROR:|SUMMARY:' "$T/$name/out" >"$T/report"
		diag_file "report" "$T/report" 60
		for f in "$T/$name/crash"/*; do
			[ ! -f "$f" ] || diag "input: $(od -An -tx1 -v "$f" | tr -d ' \n' | cut -c 1-2000)"
		done
	fi
	[ "${runs:-0}" -ge 100 ]
	ok "$name: ran on a hundred inputs or more" $?
}

. tests/fuzz/lib.sh
for src in tests/fuzz/fuzz_*.c; do
	[ ! -f "$src" ] || found=$((found + 1))
	[ -x "$B/$(basename "$src" .c)" ]
	built=$?
	ok "$(basename "$src" .c) is built" $built
done
[ $found -gt 0 ]
ok "there is a fuzz target" $?
fuzz_targets >"$T/targets"
ok "their formats are listed" $?
# Every JOBS-th target in a process of its own.
JOBS=${JOBS:-2}
k=0
while [ $k -lt "$JOBS" ]; do
	awk -v k=$k -v jobs="$JOBS" 'NR % jobs == k' "$T/targets" >"$T/targets-$k"
	(
		trap - EXIT
		while read -r target; do
			seconds=${FUZZ_SECONDS:-5}
			# many share the time of a few
			case $target in fuzz_*_*) seconds=$(((seconds + 1) / 2)) ;; esac
			fuzz_seeds "$target" "$T/seeds-$target"
			fuzz "$target" $seconds "$T/seeds-$target"
		done <"$T/targets-$k"
	) &
	k=$((k + 1))
done
wait
while read -r target; do
	report "$target"
done <"$T/targets"
