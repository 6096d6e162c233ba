# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# Helpers for tests that print TAP. A test is a POSIX sh script that starts, at the top of the
# checkout, with `. tests/cli/lib.sh`; the plan is printed by itself when the script ends well.
#
#   $T                     own scratch folder, gone afterwards
#   $B                     build folder (absolute, first in $PATH): the tools are $B/gf-x
#   $GOODFIT_SHARED        folder with the public data (absolute), or empty
#
#   run NAME STATUS CMD…   run CMD with its output in $T/out and $T/err; a pass when it exits with
#                          STATUS. A signal or a sanitizer report is never a pass. $rc is the status.
#   ok NAME STATUS         a pass when STATUS is 0: `cmp -s a b; ok "same bytes" $?`
#   is NAME FILE TEXT      FILE is TEXT and a line feed, or empty when TEXT is empty
#   has NAME FILE REGEX    some line of FILE matches the extended regular expression
#   hasnt NAME FILE REGEX  none does
#   lines NAME FILE N      FILE has N lines
#   same NAME A B          two files are equal, byte by byte
#   refuses NAME STATUS TEXT CMD…  run CMD: that status, TEXT (and then at most where to find help) on standard
#                          error, and nothing on standard output
#   column NAME FILE       the values of a column of a table, one a line
#   cols NAMES [SEP]       those of several columns of $T/out, a row a line, with SEP (default ' ') between
#   lint_page NAME FILE    groff and mandoc have nothing to say about a manual page
#   golden NAME FILE KEPT  FILE equals the committed file KEPT; BLESS=1 rewrites KEPT instead
#   diag TEXT…             a comment in the output
#   skip WHY [N]           N (default 1) tests are not run, and why
#   skip_all WHY [N]       the same, and the script ends here
#   need_shared PATH [N]   skip_all unless $GOODFIT_SHARED/PATH exists (N tests would have run)
#   need_tool TOOL [N]     skip_all unless the command TOOL exists; a tool of ours is never skipped
#   use LOG JOBS OPTION…   the good log that follows, and how it is verified ("judge LOG"); it must pass
#   fresh NAME OPTION…     a replay to $T/NAME
#   change, caught, mutate, remeta   break a log, and see that the verifier says why; at the end
#   ends                   print the plan now (otherwise done at the end of the script)

set -u
if [ ! -f tests/cli/lib.sh ]; then
	echo "Bail out! run tests from the top of the checkout"
	exit 99
fi
LC_ALL=C TZ=UTC
export LC_ALL TZ
unset LANGUAGE CDPATH
TOP=$(pwd)
B=${B:-build}
case $B in /*) ;; *) B=$TOP/$B ;; esac
PATH=$B:$PATH
if [ -z "${GOODFIT_SHARED-}" ] && [ -d ../shared ]; then
	GOODFIT_SHARED=../shared
fi
GOODFIT_SHARED=${GOODFIT_SHARED:+$(cd "$GOODFIT_SHARED" 2>/dev/null && pwd)}
# Sanitizer reports end the program with a status that no test expects.
ASAN_OPTIONS=${ASAN_OPTIONS:-exitcode=126:detect_leaks=1:abort_on_error=0}
UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
export TOP B PATH GOODFIT_SHARED ASAN_OPTIONS UBSAN_OPTIONS
T=$(mktemp -d "${TMPDIR:-/tmp}/gf-test.XXXXXX") || exit 99
tap_n=0 tap_bad=0 tap_planned=

ends() {
	[ -n "$tap_planned" ] || echo "1..$tap_n"
	tap_planned=1
}

tap_exit() {
	tap_status=$?
	trap - EXIT
	chmod -R u+rwx "$T" 2>/dev/null
	rm -rf "$T"
	if [ "$tap_status" -ne 0 ] && [ -z "$tap_planned" ]; then
		echo "# the script stopped with status $tap_status after $tap_n tests"
		exit "$tap_status"
	fi
	ends
	[ "$tap_bad" -eq 0 ] || exit 1
	exit 0
}
trap tap_exit EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

diag() {
	printf '%s\n' "$*" | sed 's/^/# /'
}

diag_file() {
	diag "$1:"
	if [ -s "$2" ]; then
		head -n "${3:-20}" "$2" | cut -c 1-300 | sed 's/^/#   /'
	else
		diag "  (empty)"
	fi
}

# The names are one line, and a '#' in them would read as a directive.
tap_name() {
	printf '%s' "$1" | tr '\n#' ' ='
}

ok() {
	tap_n=$((tap_n + 1))
	if [ "$2" -eq 0 ]; then
		echo "ok $tap_n - $(tap_name "$1")"
	else
		tap_bad=$((tap_bad + 1))
		echo "not ok $tap_n - $(tap_name "$1")"
	fi
	return 0
}

run() {
	tap_run=$1 tap_want=$2
	shift 2
	rc=0
	"$@" >"$T/out" 2>"$T/err" || rc=$?
	tap_ok=1
	if [ "$rc" -eq "$tap_want" ] && [ "$rc" -le 125 ]; then
		tap_ok=0
	fi
	if grep -q -e 'AddressSanitizer' -e 'runtime error:' "$T/err"; then
		tap_ok=1
	fi
	ok "$tap_run" $tap_ok
	if [ $tap_ok -ne 0 ]; then
		diag "command: $*"
		diag "status $rc, expected $tap_want"
		diag_file "standard error" "$T/err"
	fi
	return 0
}

is() {
	if [ -z "$3" ]; then
		: >"$T/.want"
	else
		printf '%s\n' "$3" >"$T/.want"
	fi
	if cmp -s "$T/.want" "$2"; then
		ok "$1" 0
	else
		ok "$1" 1
		diag_file "expected" "$T/.want"
		diag_file "found" "$2"
	fi
}

has() {
	if grep -E -q -e "$3" "$2"; then
		ok "$1" 0
	else
		ok "$1" 1
		diag "no line matches: $3"
		diag_file "found" "$2"
	fi
}

hasnt() {
	if [ -f "$2" ] && ! grep -E -q -e "$3" "$2"; then
		ok "$1" 0
	else
		ok "$1" 1
		diag "a line matches: $3"
		diag_file "found" "$2"
	fi
}

lines() {
	tap_found=$(wc -l <"$2")
	if [ "$tap_found" -eq "$3" ]; then
		ok "$1" 0
	else
		ok "$1" 1
		diag "$((tap_found)) lines, expected $3"
		diag_file "found" "$2"
	fi
}

same() {
	if cmp -s "$2" "$3"; then
		ok "$1" 0
	else
		ok "$1" 1
		diag "$(cmp "$2" "$3" 2>&1)"
		diff -u "$2" "$3" 2>/dev/null | head -n 20 | cut -c 1-300 | sed 's/^/#   /'
	fi
	return 0
}

refuses() {
	tap_what=$1 tap_status=$2 tap_text=$3
	shift 3
	run "$tap_what" "$tap_status" "$@"
	sed "\$ { /^Try '.* --help'\.\$/d; }" "$T/err" >"$T/.said"
	is "$tap_what: the message" "$T/.said" "$tap_text"
	is "$tap_what: no output" "$T/out" ""
}

column() {
	awk -F '\t' -v c="$1" '/^#/ { next } !seen { for (i = 1; i <= NF; i++) if ($i == c) k = i
		seen = 1; next } { print $k }' "$2"
}

cols() {
	awk -F '\t' -v names="$1" -v sep="${2- }" 'BEGIN { n = split(names, want, " ") }
	/^#/ { next }
	!head { for (i = 1; i <= NF; i++) at[$i] = i; head = 1; next }
	{ s = ""; for (k = 1; k <= n; k++) s = s (k > 1 ? sep : "") $at[want[k]]; print s }' "$T/out"
}

lint_page() {
	if command -v groff >/dev/null 2>&1; then
		groff -man -mdoc -ww -z "$2" >"$T/groff" 2>&1
		is "$1: groff has nothing to say" "$T/groff" ""
	else
		skip "groff is not installed"
	fi
	if command -v mandoc >/dev/null 2>&1; then
		mandoc -T lint -W warning "$2" >"$T/mandoc" 2>&1
		is "$1: mandoc has nothing to say" "$T/mandoc" ""
	else
		skip "mandoc is not installed"
	fi
}

golden() {
	if [ -n "${BLESS-}" ]; then
		cp "$2" "$3"
		ok "$1 (blessed)" $?
	else
		same "$1" "$3" "$2"
	fi
}

skip() {
	tap_k=${2:-1}
	while [ "$tap_k" -gt 0 ]; do
		tap_n=$((tap_n + 1)) tap_k=$((tap_k - 1))
		echo "ok $tap_n # skip $1"
	done
}

skip_all() {
	skip "$@"
	exit 0
}

need_shared() {
	if [ -z "$GOODFIT_SHARED" ]; then
		skip_all "no public data (set GOODFIT_SHARED, see scripts/fetch-public)" "${2:-1}"
	fi
	if [ ! -e "$GOODFIT_SHARED/$1" ]; then
		skip_all "the shared data folder has no $1" "${2:-1}"
	fi
}

need_tool() {
	case $1 in gf-*) return 0 ;; esac
	command -v "$1" >/dev/null 2>&1 || skip_all "$1 is not installed" "${2:-1}"
}

# ---- logs that are broken on purpose: $good is the good one, judge FILE verifies one ----
# awk programs and literal dollar signs
# shellcheck disable=SC2016,SC2154

opts=
judge() {
	# shellcheck disable=SC2086
	gf-verify --jobs "$jobs" $opts "$1"
}

use() {
	good=$1 jobs=$2
	shift 2
	opts=$*
	run "$(basename "$good") is a good log" 0 judge "$good"
	hasnt "no rule is violated" "$T/out" '	violated	'
	cp "$T/out" "$T/good.verdicts"
}

fresh() {
	name=$1
	shift
	run "replay: $name" 0 gf-replay "$@"
	cp "$T/out" "$T/$name"
}

# Run an awk program on the rows of the good log (the metadata pass through) and mend the trailer.
# once(CONDITION) is true the first time only; put() prints the row.
change() {
	awk -F '	' -v OFS='	' '
	function once(x) { if (!x || done) return 0; done = 1; return 1 }
	function put() { print; n++ }
	/^#end/ { next }
	/^#/ { print; next }
	!header { header = 1; print; next }
	{ t = $1; ev = $2; id = $3; gpus = $4; nodes = $5 }
	'"$1"'
	END { printf "#end rows=%d\n", n }' "$good"
}

# caught NAME RULE [FILE]: the log FILE (default $T/bad) is not the good one, and RULE is violated.
caught() {
	file=${3:-$T/bad}
	if cmp -s "$good" "$file"; then
		ok "$1: changes the log" 1
		return 0
	fi
	run "$1: exit status 1" 1 judge "$file"
	if awk -F '	' -v r="$2" '$1 == r && $2 == "violated" && $5 != "NA" { f = 1 }
		END { exit !f }' "$T/out"; then
		ok "$1: caught by $2" 0
	else
		ok "$1: caught by $2" 1
		diag "violated instead:"
		awk -F '	' '$2 == "violated" { print "#   " $1 ": " $5 }' "$T/out"
	fi
}

# mutate NAME RULE PROGRAM
mutate() {
	change "$3" >"$T/bad" || ok "$1: awk" 1
	caught "$1" "$2"
}

# remeta NAME RULE SED: the same for the metadata
remeta() {
	sed "$3" "$good" >"$T/bad"
	caught "$1" "$2"
}
