# SPDX-License-Identifier: MIT
# The command line as all tools read it: standard input named twice, help beside faults, values where
# none belongs, bounds of integers, the choices of an option in --help.
. tests/cli/lib.sh

J=tests/data/jobs-small.tsv
twice() {	# WHO COMMAND...: refused, and standard input is not read
	who=$1
	shift
	run "$*" 2 "$@" <"$J"
	is "$1 says which inputs" "$T/err" "$1: standard input cannot be two inputs: $who
Try '$1 --help'."
	is "and writes nothing" "$T/out" ""
}
twice "--cluster and operand 1" gf-replay -c - -
twice "--cluster and the operand that is not given" gf-replay -c -
twice "operand 1 and operand 2" gf-plot jct-cdf - -
twice "operand 1 and operand 3" gf-plot trace-cdf - x -
twice "--metrics and operand 1" gf-verify -j "$J" --metrics - -
twice "--jobs and --per-job" gf-verify -j - --per-job - log
twice "--profile and --calibration" gf-synth workload -c - -p -
twice "operand 1 and operand 2" gf-diff - -
twice "--models and the operand that is not given" gf-goodput --models - --phi 1 --max-batch 8
twice "--jobs and operand 1" gf-prof summarize --jobs - -
twice "operand 1 and operand 2" gf-trace --from philly - -
run "an option in place of the operands does not count them" 0 gf-trace --list </dev/null
run "standard input once" 0 gf-stats - <"$J"

run "help beside an unknown option" 0 gf-metrics -h -Z
is "says nothing else" "$T/err" ""
has "but the help" "$T/out" '^usage: gf-metrics '
run "version beside a bad value" 0 gf-metrics --seed x -V
is "says nothing else" "$T/err" ""
run "a flag with a value" 2 gf-metrics --per-job=1
is "takes none" "$T/err" "gf-metrics: option '--per-job=1' takes no value
Try 'gf-metrics --help'."

run "the largest seed" 0 gf-synth jobs --jobs 1 --seed 9007199254740992
run "one more" 2 gf-synth jobs --jobs 1 --seed 9007199254740993
has "is refused" "$T/err" \
	"bad value '9007199254740993' for --seed \(expected an integer from 0 to 9007199254740992\)"
run "a nanosecond more" 2 gf-replay -c 1x8 -i 3200000000.000000001 "$J"

# an option's text and its choices, all in one line: no text has two of its choices in it already
for tool in "$B"/gf-*; do
	[ -f "$tool" ] && [ -x "$tool" ] || continue
	"$tool" --help | awk '
		function judge(    n, i, words, before, seen) {
			if (!match(text, /: [^:]*$/)) return
			before = " " substr(text, 1, RSTART - 1) " "
			gsub(/[^A-Za-z0-9-]/, " ", before)
			n = split(substr(text, RSTART + 2), words, /, | \[.*/)
			for (i = 1; i <= n; i++)
				if (words[i] != "" && index(before, " " words[i] " ")) seen++
			if (n > 1 && seen > 1) print text
		}
		/^  -|^      --/ { judge(); text = $0; next }
		/^                              / { sub(/^ +/, " "); text = text $0; next }
		{ judge(); text = "" }
		END { judge() }' >"$T/twice"
	is "$(basename "$tool"): choices are listed once" "$T/twice" ""
done

# A variable that is not set is no file, no column and no name.
for words in 'gf-gate --thresholds' 'gf-ga2m predict --model' 'gf-tree train --exclude' 'gf-plot bars --x'; do
	option=${words##* }
	# shellcheck disable=SC2086
	run "$words without a word" 2 $words=
	has "$words without a word is named" "$T/err" "^gf-[a-z0-9]*: empty value for $option .expected [A-Z]*.$"
done
run "an empty title is a title" 0 gf-plot trace-cdf --format svg --title= "$J"
