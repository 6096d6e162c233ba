# SPDX-License-Identifier: MIT
# scripts/fuzz: what it runs, keeps and takes up again, shown with targets that only say what libFuzzer says.
# The same for every build.
. tests/cli/lib.sh

mkdir -p "$T/bin" "$T/fz"
printf '#!/bin/sh\nexit 0\n' >"$T/bin/make"
# a target: counts its runs; with the file fail beside it, it leaves an input behind and dies
cat >"$T/fz/target" <<'END'
#!/bin/sh
if [ "$1" = --formats ]; then
	echo one
	exit 0
fi
me=$(basename "$0") at=$(dirname "$0")
echo "$*" >>"$at/$me.runs"
for arg; do
	case $arg in
	-max_total_time=*) seconds=${arg#*=} ;;
	-artifact_prefix=*) prefix=${arg#*=} ;;
	-*) ;;
	*) corpus=${corpus:-$arg} ;;
	esac
done
echo "#7 NEW cov: 123 ft: 5 corp: 3/9b lim: 4 exec/s: 0 rss: 30Mb"
if [ -e "$at/$me.fail" ]; then
	: >"${prefix}crash-1"
	echo "stat::number_of_executed_units: 11"
	exit 77
fi
: >"$corpus/input$(wc -l <"$at/$me.runs" | tr -d ' ')"
echo "Done 1000 runs in $seconds second(s)"
echo "stat::number_of_executed_units: 1000"
END
chmod +x "$T/bin/make" "$T/fz/target"
for src in tests/fuzz/fuzz_*.c; do
	cp "$T/fz/target" "$T/fz/$(basename "$src" .c)"
done
tools=$B
B=$T/fz CORPUS=$T/corpus LOG=$T/log.tsv PATH=$T/bin:$PATH
export B CORPUS LOG
version=$(sed -n 's/.*FIT_VERSION "\(.*\)"/\1/p' libfit/base/version.h)
log() {	# the rows of the log, blanks for tabs
	grep -v '^#' "$LOG" | sed 1d | tr '\t' ' ' >"$T/rows"
}

run "targets" 0 scripts/fuzz --list
has "are the programs" "$T/out" '^fuzz_table$'
has "and their formats" "$T/out" '^fuzz_trace_one$'
has "and what is recognised" "$T/out" '^fuzz_prof_auto$'
run "two targets" 0 scripts/fuzz --seconds 5 --slice 3 fuzz_table fuzz_trace_one
log
is "have their time in turns, and a row each" "$T/rows" "fuzz_table 5 5 2000 123 2 0 $version
fuzz_trace_one 5 5 2000 123 2 0 $version"
sed 's/ .*//' "$T/fz/fuzz_table.runs" >"$T/found"
is "the second turn is what was missing" "$T/found" "-max_total_time=3
-max_total_time=2"
run "the log is a table" 0 "$tools/gf-table" check "$LOG"
run "again" 0 scripts/fuzz --seconds 5 fuzz_table fuzz_trace_one
lines "nothing is run again" "$T/fz/fuzz_table.runs" 2
: >"$T/fz/fuzz_table.fail"
run "longer, with a finding" 1 scripts/fuzz --seconds 8 --slice 3 fuzz_table fuzz_trace_one
log
is "is counted, and the clean time starts anew" "$T/rows" "fuzz_table 5 0 2011 123 2 1 $version
fuzz_trace_one 8 8 3000 123 3 0 $version"
has "and is said" "$T/err" "^scripts/fuzz: fuzz_table: findings in $CORPUS/found/fuzz_table$"
rm "$T/fz/fuzz_table.fail"
run "while the input is there" 1 scripts/fuzz --seconds 8 fuzz_table
lines "the target is left alone" "$T/fz/fuzz_table.runs" 3
rm "$CORPUS/found/fuzz_table/crash-1"
run "when it is gone" 0 scripts/fuzz --seconds 8 fuzz_table
log
is "the target runs its whole time" "$T/rows" "fuzz_table 13 8 3011 123 3 1 $version
fuzz_trace_one 8 8 3000 123 3 0 $version"

run "an unknown target" 2 scripts/fuzz fuzz_nothing
has "is named" "$T/err" "^scripts/fuzz: no such target 'fuzz_nothing' \(see --list\)$"
run "an unknown option" 2 scripts/fuzz --fast
run "no number" 2 scripts/fuzz --seconds soon
has "is named, too" "$T/err" "^scripts/fuzz: bad value 'soon' for --seconds \(expected a number of seconds\)$"
printf '#!/bin/sh\nexit 2\n' >"$T/bin/make"
run "nothing can be built" 3 scripts/fuzz fuzz_table
