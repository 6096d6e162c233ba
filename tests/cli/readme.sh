#!/bin/sh
# SPDX-License-Identifier: MIT
# README: the commands of "The path by hand" run with what is shipped, and write what they say.
. tests/cli/lib.sh

# The blocks of that section that need no public data, to $2.1, $2.2, …
blocks() {
	awk -v stem="$2" '
	/^## / { on = ($0 == "## The path by hand") }
	on && /^    / { if (!open) { open = 1; file = stem "." (++n); printf "" > file }
		sub(/^    /, ""); print > file; next }
	open { close(file); open = 0 }' "$1"
}

mkdir -p "$T/run/tests"
cp -R data "$T/run/data"
cp -R tests/data "$T/run/tests/data"
ln -s "$(cd "$B" && pwd)" "$T/run/build"
blocks README.md "$T/block"
k=1 ran=0
: >"$T/all"
while [ -f "$T/block.$k" ]; do
	grep -q GOODFIT_SHARED "$T/block.$k" || { cat "$T/block.$k" >>"$T/all"; ran=$((ran + 1)); }
	k=$((k + 1))
done
[ $ran -ge 4 ]
ok "README has commands for what is shipped" $?

# In one shell, as somebody types them: later blocks use what earlier ones made.
shell='sh -eu'
! command -v bash >/dev/null 2>&1 || shell='bash -euo pipefail'
status=0
# shellcheck disable=SC2086
(cd "$T/run" && $shell "$T/all") >"$T/out" 2>"$T/err" </dev/null || status=$?
ok "they run" $status
[ $status -eq 0 ] || diag_file "standard error" "$T/err"
grep -q "	violated	" "$T/out"
[ $? -eq 1 ] && grep -q "^boa-width	ok	" "$T/out"
ok "the verifier finds nothing in the logs, and looked at the widths of boa" $?
[ "$(awk '$1 == "gap" { print $4 }' "$T/out")" = holds ]
ok "the plan is optimal" $?
[ -s "$T/run/out/hand/jct-cdf.svg" ]
ok "there is a figure" $?

# A block with a command that fails is seen.
printf '%s\n' '## The path by hand' '' '    true' '    false' '' 'text' '' '    exit 0' \
	'## Next' '    exit 9' >"$T/page"
rm -f "$T"/block.*
blocks "$T/page" "$T/block"
printf 'true\nfalse\n' >"$T/want"
same "a block is cut out" "$T/want" "$T/block.1"
[ -f "$T/block.2" ] && [ ! -f "$T/block.3" ]
ok "and those of other sections are not" $?
