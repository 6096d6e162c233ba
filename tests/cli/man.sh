# SPDX-License-Identifier: MIT
# Man pages: one for each tool; clean under groff and mandoc; the sections of the house in order; every
# literal block under EXAMPLES runs, in a scratch folder that holds data/ and tests/data.
. tests/cli/lib.sh

for src in tools/gf-*.c; do
	[ -f "$src" ] || continue
	tool=$(basename "$src" .c)
	[ -f "docs/man/$tool.1" ]
	ok "$tool has a man page" $?
	grep -q "$tool" README.md
	ok "$tool is in the README" $?
done

# The commands of each .Bd -literal block of EXAMPLES, to $2.1, $2.2, …
blocks() {
	awk -v stem="$2" '
	/^[.]Sh / { on = ($2 == "EXAMPLES") }
	on && /^[.]Bd/ && /-literal/ { in_block = 1; file = stem "." (++n); printf "" > file; next }
	/^[.]Ed/ { if (in_block) close(file); in_block = 0 }
	in_block && /^[.]/ { next }
	in_block {
		gsub(/\\&/, "")
		gsub(/\\e/, "\\")
		gsub(/\\-/, "-")
		gsub(/\\\(aq/, "\047")
		gsub(/\\\(dq/, "\"")
		gsub(/\\\(ti/, "~")
		gsub(/\\\(ha/, "^")
		gsub(/\\\(ga/, "`")
		sub(/^[$] /, "")
		print > file
	}' "$1"
}

for page in docs/man/*.[15]; do
	[ -f "$page" ] || continue
	name=$(basename "$page")
	lint_page "$name" "$page"
	sed -n 's/^[.]Sh "*\([A-Z ]*[A-Z]\)"*$/\1/p' "$page" >"$T/sections"
	case $page in
	*.1)	printf '%s\n' NAME SYNOPSIS DESCRIPTION OPTIONS FILES 'EXIT STATUS' EXAMPLES 'SEE ALSO' \
			BUGS >"$T/want"
		grep -xF -f "$T/want" "$T/sections" >"$T/found"
		same "$name: the sections of a tool's page, in order" "$T/want" "$T/found" ;;
	*)	grep -xq NAME "$T/sections" && grep -xq DESCRIPTION "$T/sections"
		ok "$name: has NAME and DESCRIPTION" $? ;;
	esac
	sed -n 2p "$page" | grep -qF 'SPDX-License-Identifier: MIT' ||
		sed -n 1p "$page" | grep -qF 'SPDX-License-Identifier: MIT'
	ok "$name: licence line" $?

	rm -rf "$T/run" "$T"/block.*
	mkdir -p "$T/run/tests"
	[ ! -d data ] || cp -R data "$T/run/data"
	[ ! -d tests/data ] || cp -R tests/data "$T/run/tests/data"
	blocks "$page" "$T/block"
	k=1
	while [ -f "$T/block.$k" ]; do
		shell='sh -eu'
		! command -v bash >/dev/null 2>&1 || shell='bash -euo pipefail'
		status=0
		# shellcheck disable=SC2086
		(cd "$T/run" && $shell "$T/block.$k") >"$T/out" 2>"$T/err" </dev/null || status=$?
		ok "$name: example $k runs" $status
		if [ $status -ne 0 ]; then
			diag_file "example" "$T/block.$k"
			diag_file "standard error" "$T/err"
		fi
		k=$((k + 1))
	done
	case $page in *.1) [ $k -gt 1 ]; ok "$name: has examples in literal blocks" $? ;; esac
done

# Names that pages refer to exist.
for page in docs/man/*.[15]; do
	[ -f "$page" ] || continue
	sed -n 's/^[.]Xr \(gf-[a-z0-9]*\|fit-[a-z]*\) \([0-9]\).*/\1.\2/p' "$page" | while read -r other; do
		[ -f "docs/man/$other" ] || echo "$(basename "$page") refers to $other"
	done
done >"$T/refs"
is "cross-references lead somewhere" "$T/refs" ""

# The extraction and the linters see faults.
printf '%s\n' '.Dd x' '.Sh EXAMPLES' '.Bd -literal' '$ printf \(aqa\etb\(aq > f' 'test -s f' '.Ed' '.Bd -literal' \
	'false' '.Ed' '.Sh BUGS' '.Bd -literal' 'exit 9' '.Ed' >"$T/page.1"
blocks "$T/page.1" "$T/seen"
printf '%s\n' "printf 'a\\tb' > f" 'test -s f' >"$T/want"
same "an example block is cut out" "$T/want" "$T/seen.1"
[ -f "$T/seen.2" ] && [ ! -f "$T/seen.3" ]
ok "blocks of other sections are not run" $?
if command -v mandoc >/dev/null 2>&1; then
	mandoc -T lint -W warning "$T/page.1" >"$T/mandoc" 2>&1
	[ -s "$T/mandoc" ]
	ok "mandoc finds a bad page" $?
fi
