# SPDX-License-Identifier: MIT
# What must not be in the tracked files: paths of one machine, functions that the house bans, libraries
# that print or exit, over-long lines, public data. Each search is shown to find a planted example.
# The same for every build.
. tests/cli/lib.sh

if ! git -c safe.directory='*' ls-files >"$T/tracked" 2>/dev/null; then
	skip_all "not a git checkout" 15
fi
grep -E '\.[ch]$' "$T/tracked" >"$T/c-files"
while read -r f; do [ ! -f "$f" ] || echo "$f"; done <"$T/tracked" >"$T/all-files"
while read -r f; do [ ! -f "$f" ] || echo "$f"; done <"$T/c-files" >"$T/code"

# The code without comments and without what strings say, line for line, in $T/bare.
bare() {
	awk '{
		out = ""
		s = $0
		while (s != "") {
			if (inside) {
				k = index(s, "*/")
				if (!k) { s = ""; break }
				s = substr(s, k + 2)
				inside = 0
			} else if (match(s, /"([^"\\]|\\.)*"|\/[*]|\/\//)) {
				token = substr(s, RSTART, 2)
				out = out substr(s, 1, RSTART - 1)
				if (token == "//") { s = ""; break }
				if (token == "/*") inside = 1
				else out = out "\"\""
				s = substr(s, RSTART + (token == "/*" ? 2 : RLENGTH))
			} else {
				out = out s
				s = ""
			}
		}
		print out
	}' "$1"
}
while read -r f; do
	mkdir -p "$T/bare/$(dirname "$f")"
	bare "$f" >"$T/bare/$f"
done <"$T/code"

# search NAME LIST PATTERN EXCEPTIONS EXAMPLE: no line of the files in LIST matches PATTERN, but for
# those that match EXCEPTIONS ("FILE:LINE:TEXT"); EXAMPLE is a line that must be found. For LIST
# code and library the files are read without comments and strings.
search() {
	in=.
	case $2 in */code | */library) in=$T/bare ;; esac
	tr '\n' '\0' <"$2" | (cd "$in" && xargs -0 grep -nIE -e "$3" /dev/null) |
		grep -vE -e "$4" >"$T/found"
	cut -c 1-160 "$T/found" | head -n 20 >"$T/first"
	is "$1" "$T/first" ""
	printf 'a/b.c:1:%s\n' "$5" | grep -E -e "$3" | grep -qvE -e "$4"
	ok "$1: an example is found" $?
}
none='^$' self=tests/cli/words.sh:

# An absolute path of two parts or more, that does not start at a folder that every system has.
search "no path of one machine" "$T/all-files" \
	"[][ \"'=(\`]/[A-Za-z][A-Za-z0-9_.-]+/[A-Za-z0-9_.-]" \
	"[ \"'=(\`]/(usr|bin|dev|etc|tmp|proc|sys|opt|var|lib|path|no)/|[$][{A-Za-z_]*[}]?\"/|^$self|store|[.]h5" \
	'see /nowhere/special/file for more'
search "no home folder" "$T/all-files" '/(home|[Uu]sers|[r]oot)/' "^$self" \
	'/home/somebody/x'
search "no banned function" "$T/code" \
	'(^|[^A-Za-z0-9_])(atoi|atol|atof|scanf|sscanf|fscanf|strtok|sprintf|vsprintf|strcpy|strcat|strncpy|rand|srand|setlocale|gets|system|popen|tmpnam|mktemp|gsl_rng_env_setup)[ ]*\(' \
	'^libfit/base/banned[.]h:' '	x = atoi(s);'
search "strtod in one place only" "$T/code" '(^|[^A-Za-z0-9_])strto(d|f|ld|l|ll|ul|ull|imax)[ ]*\(' \
	'^(libfit/base/num|tests/unit/test_decimal)[.]c:' '	x = strtol(s, &end, 10);'
grep -E '^(libfit|traces)/' "$T/code" >"$T/library"
search "the library does not print" "$T/library" \
	'(^|[^A-Za-z0-9_])(printf|puts|putchar|perror|psignal)[ ]*\(|f(printf|puts|write|putc)[^;]*(stdout|stderr)[ ]*[,)]' \
	"$none" '	fprintf(stderr, "x");'
# A child process of ours may go back to the default actions and leave by _exit.
search "the library does not end the program" "$T/library" \
	'(^|[^A-Za-z0-9_])(exit|abort|quick_exit|raise|signal|sigaction)[ ]*\(' '_exit|SIG_DFL|^libfit/base/banned[.]h:' \
	'	exit(1);'
search "no clock, host or user" "$T/library" \
	'(^|[^A-Za-z0-9_])(time|gettimeofday|clock_gettime|localtime|gethostname|getlogin|getpwuid|uname)[ ]*\(' \
	"$none" '	t = time(NULL);'

grep -E '^(libfit|traces|tools)/' "$T/code" >"$T/product"
while read -r f; do
	awk -v f="$f" 'length($0) > 110 { print f ":" NR ": " length($0) " characters" }' "$f"
done <"$T/product" >"$T/wide"
is "no line is much longer than 100 characters" "$T/wide" ""

tr '\n' '\0' <"$T/code" | xargs -0 grep -nE '^ {8}|[ 	]+$' /dev/null >"$T/blanks"
is "C is indented by tabs, without blanks at the end" "$T/blanks" ""

# Public data stays out, whole (equal files) and in part (rows of numbers that stand there, too; a
# header row says the format and may be the same).
if [ -z "$GOODFIT_SHARED" ] || [ ! -d "$GOODFIT_SHARED/public" ]; then
	skip "no public data (set GOODFIT_SHARED, see scripts/fetch-public)" 2
	exit 0
fi
find "$GOODFIT_SHARED/public" -type f -size +0 -print0 | xargs -0 sha256sum | cut -c 1-64 | sort -u \
	>"$T/public-sums"
tr '\n' '\0' <"$T/all-files" | xargs -0 sha256sum | sort | join -o 2.2 "$T/public-sums" - >"$T/equal"
is "no tracked file is a public data file" "$T/equal" ""

grep -E '\.(csv|tsv|txt|json|jsonl)$' "$T/all-files" >"$T/data-files"
find "$GOODFIT_SHARED/public" -type f -size -8000k \( -name '*.csv' -o -name '*.txt' \) -print0 |
	xargs -0 cat | tr -d '\r' | tr ' \t' ',,' |
	awk 'length($0) >= 24 { s = $0; if (gsub(/[0-9]/, "", s) >= 8) print }' | sort -u >"$T/public-rows"
: >"$T/our-rows"
while read -r f; do
	tr -d '\r' <"$f" | tr ' \t' ',,' |
		awk -v f="$f" 'NR > 1 && length($0) >= 24 { s = $0; if (gsub(/[0-9]/, "", s) >= 8) print $0 "\t" f }'
done <"$T/data-files" | sort -t '	' -k 1,1 >"$T/our-rows"
join -t '	' "$T/public-rows" "$T/our-rows" | head -n 5 >"$T/shared-rows"
is "no tracked data file holds a row of the public data" "$T/shared-rows" ""
