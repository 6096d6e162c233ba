# SPDX-License-Identifier: MIT
# What every tool does alike: help, version, wrong usage, inputs that are missing, empty, cut or broken,
# outputs that cannot be written. A new tool needs a line in good_call() below and nothing else.
. tests/cli/lib.sh

# ---- sample inputs, all made up ----

awk 'BEGIN {
	OFS = "\t"
	print "#fit-table/1"
	print "#origin=none"
	print "job_id", "app", "submit_s", "duration_s", "gpus", "batch_size"
	split("alpha beta gamma", app, " ")
	for (i = 1; i <= 24; i++)
		print "j" i, app[i % 3 + 1], i * 17, 100 + (i * 53) % 401, 1 + i % 4, 32 * (1 + i % 5)
	print "#end rows=24"
}' >"$T/jobs.tsv"
sed 's/	32$/	33/' "$T/jobs.tsv" >"$T/other-jobs.tsv"
{
	echo "name,time,application,num_replicas,batch_size"
	awk 'BEGIN { for (i = 1; i <= 24; i++) printf "w%d,%d,alpha,%d,%d\n", i, i * 19, 1 + i % 4, 64 * i }'
} >"$T/workload.csv"
awk 'BEGIN {
	OFS = "\t"
	print "#fit-table/1"
	print "app", "num_nodes", "num_replicas", "local_bsz", "step_time_s", "sync_time_s"
	for (n = 1; n <= 4; n++)
		for (k = n; k <= 4 * n; k += n)
			for (b = 16; b <= 64; b *= 2) {
				sync = k == 1 ? 0 : 0.01 * n + 0.002 * k
				print "alpha", n, k, b, 0.03 + 0.0011 * b + sync, sync
				rows++
			}
	print "#end rows=" rows
}' >"$T/steps.tsv"
{
	printf 'app\talpha_c_s\tbeta_c_s\talpha_n_s\tbeta_n_s\talpha_r_s\tbeta_r_s\tgamma\n'
	printf 'alpha\t0.03\t0.0011\t0.02\t0.002\t0.01\t0.001\t1.3\n'
} >"$T/theta.tsv"
awk 'BEGIN {
	OFS = "\t"
	print "#fit-table/1"
	print "#origin=none"
	print "app", "num_nodes", "num_replicas", "note"
	for (i = 1; i <= 16; i++)
		print "alpha", 1 + int((i - 1) / 4), i, "n" i
	print "#end rows=16"
}' >"$T/allocations.tsv"
awk 'BEGIN {
	OFS = "\t"
	print "#fit-table/1"
	print "#origin=none"
	print "app", "step", "replicas", "local_bsz", "local_sqr", "global_sqr"
	for (i = 0; i < 20; i++)
		print "alpha", i, 4, 16, 3.5 + (i * 7) % 5 / 8, 1.25 + (i * 3) % 7 / 16
	print "#end rows=20"
}' >"$T/norms.tsv"
mkdir "$T/pictures"
echo '<svg width="9" height="9" viewBox="0 0 9 9" xmlns="http://www.w3.org/2000/svg"></svg>' >"$T/pictures/a.svg"
"$B/gf-replay" --policy fifo --cluster 2x4 "$T/jobs.tsv" >"$T/log.tsv" 2>"$T/err"
ok "gf-replay makes the sample log" $?
"$B/gf-sweep" plan --folder "$T/sweep" --axis seed=1:20 -o "$T/plan.tsv" -- --cluster 2x4 "$T/jobs.tsv" 2>"$T/err"
ok "gf-sweep makes the sample plan" $?
grep -v "^#" "$T/steps.tsv" | "$B/gf-throughput" >"$T/fitted.tsv" 2>"$T/err"
ok "gf-throughput makes the sample model" $?
"$B/gf-export" --to widths-tsv tests/data/boa-plans.tsv >"$T/widths.tsv" 2>"$T/err"
ok "gf-export makes the sample of widths" $?

# A good call of a tool: ARGS with @ for its input, KIND of that input (tsv, csv, folder, none; plain is tsv
# without #end), the SAMPLE, and the status WANT.
good_call() {
	ARGS='' KIND=tsv SAMPLE=$T/jobs.tsv WANT=0
	case $1 in
	gf-table) ARGS="convert @" ;;
	gf-diff) ARGS="@ $T/other-jobs.tsv" WANT=1 ;;
	gf-trace) ARGS="--from pollux @" KIND=csv SAMPLE=$T/workload.csv ;;
	gf-replay) ARGS="--policy fifo --cluster 2x4 @" ;;
	gf-metrics) ARGS="@" SAMPLE=$T/log.tsv ;;
	gf-verify) ARGS="--jobs $T/jobs.tsv @" SAMPLE=$T/log.tsv ;;
	gf-plot) ARGS="jct-cdf --format svg @" SAMPLE=$T/log.tsv ;;
	gf-throughput) ARGS="@" SAMPLE=$T/steps.tsv ;;
	gf-goodput) ARGS="--models $T/theta.tsv --phi 900 --init-batch 32 --max-batch 512 --max-local 64 @"
		SAMPLE=$T/allocations.tsv ;;
	gf-boa) ARGS="frontier --classes tests/data/boa-classes.tsv @" SAMPLE=tests/data/boa-speedups.tsv ;;
	gf-speedup) ARGS="@" SAMPLE=tests/data/boa-speedups.tsv ;;
	gf-pgns) ARGS="--window 4 @" SAMPLE=$T/norms.tsv ;;
	gf-stats) ARGS="@" ;;
	gf-select) ARGS="--where gpus>1 --rebase @" ;;
	gf-prof) ARGS="--from pollux @" KIND=folder SAMPLE=tests/data/profile-mini ;;
	gf-gavel) ARGS="objectives --rates tests/data/gavel-rates.tsv --cluster fast:2x2,slow:4x1 @"
		SAMPLE=tests/data/gavel-jobs.tsv ;;
	gf-sweep) ARGS="status @" SAMPLE=$T/plan.tsv ;;
	gf-claims) ARGS="show --folder $T/pictures @" SAMPLE=data/claims.tsv ;;
	gf-export) ARGS="--to prometheus @" ;;
	gf-import) ARGS="@" KIND=plain SAMPLE=$T/widths.tsv ;;
	gf-gate) ARGS="--data @ $T/fitted.tsv" SAMPLE=$T/steps.tsv ;;
	gf-report) ARGS="@" KIND=folder SAMPLE=$T/pictures ;;
	gf-lucid) ARGS="profile @" ;;
	gf-tree) ARGS="train --target duration_s @" ;;
	gf-ga2m) ARGS="train --target duration_s --exclude job_id --nominal app --bags 2 --pairs 1 @" ;;
	gf-synth) ARGS="jobs --jobs 30 --seed 3" KIND=none SAMPLE= ;;
	*) return 1 ;;
	esac
}

# The good call with its input replaced by $1.
call() {
	in=$1
	# shellcheck disable=SC2086
	set -- $ARGS
	for word; do
		shift
		[ "$word" != @ ] || word=$in
		set -- "$@" "$word"
	done
	"$B/$tool" "$@"
}

# NAME STATUS: the last call ended with STATUS, wrote nothing on stdout and one line of ours on stderr.
fails() {
	bad=0
	[ "$rc" -eq "$2" ] || bad=1
	[ ! -s "$T/out" ] || bad=1
	[ "$(wc -l <"$T/err")" -eq 1 ] || bad=1
	grep -q "^$tool: [^ ]" "$T/err" || bad=1
	! grep -q '[.]$' "$T/err" || bad=1
	ok "$tool: $1: status $2 and one line" $bad
	if [ $bad -ne 0 ]; then
		diag "status $rc"
		diag_file "standard output" "$T/out" 3
		diag_file "standard error" "$T/err" 5
	fi
}

try() {	# NAME STATUS INPUT [<stdin]
	rc=0
	call "$3" >"$T/out" 2>"$T/err" || rc=$?
	fails "$1" "$2"
}

options_of() {	# long options that a help text or a rendered page introduces
	sed -n 's/^ *\(-[A-Za-z0-9], *\)\{0,1\}--\([a-z][a-z0-9-]*\).*/\2/p' "$1" | sort -u
}

# The options of a page, from its source: ".It Fl o , -output Ar FILE" or "... , Fl Fl output ...".
options_of_page() {
	sed -n '/^[.]It Fl /{s/Fl Fl /-/g;s/\\-/-/g;p;}' "$1" | grep -oE ' -[a-z][a-z0-9-]*' |
		sed 's/ -//' | sort -u
}

general() {
	run "$tool --help" 0 "$B/$tool" --help
	[ -s "$T/out" ] && [ ! -s "$T/err" ]
	ok "$tool: help goes to standard output" $?
	cp "$T/out" "$T/help"
	run "$tool -h" 0 "$B/$tool" -h
	same "$tool: -h is --help" "$T/help" "$T/out"
	run "$tool --version" 0 "$B/$tool" --version
	has "$tool: --version names the tool" "$T/out" "^$tool [0-9]+\.[0-9]+\.[0-9]+"
	has "$tool: --version names the libraries" "$T/out" 'GSL [0-9].*HDF5 [0-9]'
	cp "$T/out" "$T/version"
	run "$tool -V" 0 "$B/$tool" -V
	same "$tool: -V is --version" "$T/version" "$T/out"

	verb=
	sed -n "s/^usage: $tool \([a-z][a-z-]*\) .*/\1/p" "$T/help" >"$T/verbs"
	[ ! -s "$T/verbs" ] || verb=$(sed -n 1p "$T/verbs")
	run "$tool $verb --no-such --nor-this" 2 "$B/$tool" ${verb:+"$verb"} --no-such --nor-this=3 -@
	grep -q -e "^$tool: .*--no-such" "$T/err" && grep -q -e "^$tool: .*--nor-this" "$T/err" &&
		grep -q -e "^$tool: .*-@" "$T/err" && tail -n 1 "$T/err" | grep -qx "Try '$tool --help'\."
	ok "$tool: all bad options at once" $?
	is "$tool: and nothing on standard output" "$T/out" ""
	run "$tool $verb -o" 2 "$B/$tool" ${verb:+"$verb"} -o
	has "$tool: an option without its value" "$T/err" "^$tool: option '.*' needs a value"
	run "$tool $verb --seed=x --threads=0" 2 "$B/$tool" ${verb:+"$verb"} --seed=x --threads=0
	grep -q "'x' for --seed" "$T/err" && grep -q "'0' for --threads" "$T/err"
	ok "$tool: bad values are named" $?
	if [ -n "$verb" ]; then
		# a tool may do something without a verb, too: then another word is an operand
		if ! grep -qF "usage: $tool [options]" "$T/help"; then
			run "$tool without a verb" 2 "$B/$tool"
			run "$tool with a verb that is none" 2 "$B/$tool" no-such-verb
			has "$tool: the verb is named" "$T/err" "unknown verb 'no-such-verb'"
		fi
		while read -r verb; do
			run "$tool $verb --help" 0 "$B/$tool" "$verb" --help
			has "$tool $verb: its own usage" "$T/out" "^usage: $tool $verb "
		done <"$T/verbs"
	fi

	options_of "$T/help" >"$T/in-help"
	if [ -f "docs/man/$tool.1" ]; then
		options_of_page "docs/man/$tool.1" >"$T/in-page"
		same "$tool: the page has the options of --help" "$T/in-help" "$T/in-page"
	else
		ok "$tool: has a man page" 1
	fi
	awk 'length($0) > 100' "$T/help" >"$T/wide"
	is "$tool: help fits 100 columns" "$T/wide" ""
}

good_runs() {
	rc=0
	call "$SAMPLE" >"$T/good" 2>"$T/err" || rc=$?
	[ "$rc" -eq "$WANT" ] && [ -s "$T/good" ]
	ok "$tool: the good call works" $?
	[ "$rc" -eq "$WANT" ] || diag_file "status $rc, standard error" "$T/err"
	is "$tool: silent on success" "$T/err" ""
	call "$SAMPLE" >"$T/again" 2>/dev/null
	same "$tool: run twice, same bytes" "$T/good" "$T/again"

	rc=0
	call "$SAMPLE" >/dev/full 2>"$T/err" || rc=$?
	: >"$T/out"
	fails "/dev/full" 3
	rc=0
	call "$SAMPLE" >&- 2>"$T/err" || rc=$?
	: >"$T/out"
	fails "closed standard output" 3

	case $tool in gf-diff) return ;; esac	# takes no -o that differs
	mkdir -p "$T/o" && echo "old" >"$T/o/file"
	saved=$ARGS
	ARGS="$ARGS -o $T/o/file"
	call "$SAMPLE" >"$T/out" 2>"$T/err"
	ok "$tool: -o FILE" $?
	same "$tool: -o writes what stdout gets" "$T/good" "$T/o/file"
	is "$tool: and stdout nothing" "$T/out" ""
	case $tool in gf-plot) ;; *)
		find "$T/o" -type f ! -name file >"$T/left"
		is "$tool: -o leaves nothing else" "$T/left" "" ;;
	esac
	rm -rf "$T/o"
	ARGS="$saved -o $T/none/file"
	try "-o into a folder that is not there" 3 "$SAMPLE"
	ARGS=$saved
}

bad_inputs() {
	ext=${SAMPLE##*.}
	try "missing file" 3 "$T/no-such-file.$ext"
	has "$tool: says which and why" "$T/err" "no-such-file.*[Nn]o such file"
	[ "$KIND" != folder ] || return 0
	try "a folder as a file" 3 "$T"
	: >"$T/empty.$ext"
	try "empty file" 1 "$T/empty.$ext"
	try "empty standard input" 1 - </dev/null

	call "$SAMPLE" 2>/dev/null | sed 's/^#input.*//' >"$T/good"
	call - <"$SAMPLE" 2>"$T/err" | sed 's/^#input.*//' >"$T/out"
	case $tool in
	gf-plot | gf-diff) ok "$tool: stdin is read" "$([ -s "$T/out" ]; echo $?)" ;;	# they name it
	*) same "$tool: - is the file" "$T/good" "$T/out" ;;
	esac
	sed 's/$/\r/' "$SAMPLE" >"$T/crlf.$ext"
	call "$T/crlf.$ext" 2>"$T/err" | sed 's/^#input.*//' >"$T/out"
	case $tool in
	gf-plot | gf-diff) ok "$tool: CRLF is read" "$([ -s "$T/out" ]; echo $?)" ;;
	*) same "$tool: CRLF is LF" "$T/good" "$T/out" ;;
	esac

	[ "$KIND" = csv ] && sep=, || sep='	'
	row=$(($(grep -c '^#' "$SAMPLE") - ($(grep -c '^#end' "$SAMPLE")) + 8))
	sed "${row}s/\$/${sep}extra/" "$SAMPLE" >"$T/ragged.$ext"
	try "a row with a field too many" 1 "$T/ragged.$ext"
	has "$tool: its line is named" "$T/err" "^$tool: $T/ragged\.$ext:$row:"
	sed "${row}s/${sep}[^$sep]*\$//" "$SAMPLE" >"$T/ragged.$ext"
	try "a row with a field too few" 1 "$T/ragged.$ext"
	try "the same from standard input" 1 - <"$T/ragged.$ext"
	has "$tool: standard input is named" "$T/err" "^$tool: <stdin>:$row:"
	sed "${row}s/^./&@/" "$SAMPLE" | tr '@' '\000' >"$T/nul.$ext"
	try "a NUL byte" 1 "$T/nul.$ext"
	sed "${row}s/^./&@/" "$SAMPLE" | tr '@' '\377' >"$T/latin.$ext"
	try "text that is not UTF-8" 1 "$T/latin.$ext"
	[ "$KIND" = csv ] || [ "$KIND" = plain ] || {
		sed '$d' "$SAMPLE" >"$T/cut.$ext"
		try "a stream without its end" 1 "$T/cut.$ext"
		has "$tool: says that it was cut" "$T/err" 'truncated|#end|trailer|cut'
		sed "${row}d" "$SAMPLE" >"$T/lost.$ext"
		try "a row was lost" 1 "$T/lost.$ext"
		sed 's/^\(#fit-table\/\)1/\19/' "$SAMPLE" >"$T/newer.$ext"
		try "a later version of the format" 1 "$T/newer.$ext"
	}
	size=$(wc -c <"$SAMPLE")
	for at in 1 13 $((size / 3)) $((size / 2)) $((size - 14)); do
		head -c "$at" "$SAMPLE" >"$T/cut.$ext"
		rc=0
		call "$T/cut.$ext" >"$T/out" 2>"$T/err" || rc=$?
		[ "$rc" -le 3 ] && { [ "$KIND" = csv ] || [ "$KIND" = plain ] || [ "$rc" -eq 1 ]; }
		ok "$tool: cut after $at bytes" $?
	done
	mkdir -p "$T/o" && echo old >"$T/o/file"
	saved=$ARGS
	ARGS="$ARGS -o $T/o/file"
	call "$T/nul.$ext" >/dev/null 2>&1
	ARGS=$saved
	is "$tool: a failure leaves the old output" "$T/o/file" "old"
	find "$T/o" -type f ! -name file >"$T/left"
	is "$tool: and nothing beside it" "$T/left" ""
	rm -rf "$T/o"
}

for src in tools/gf-*.c; do
	tool=$(basename "$src" .c)
	if [ ! -x "$B/$tool" ]; then
		ok "$tool is built" 1
		continue
	fi
	general
	if ! good_call "$tool"; then
		ok "$tool has a line in good_call()" 1
		continue
	fi
	good_runs
	[ "$KIND" = none ] || bad_inputs
done
