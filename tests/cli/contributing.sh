#!/bin/sh
# SPDX-License-Identifier: MIT
# The checklists of CONTRIBUTING.md are true of what is there: the files exist, every trace format, policy and
# figure has followed them. CHANGELOG.md and CITATION.cff are of this version.
# The same for every build.
. tests/cli/lib.sh

# Paths in backticks; NAME and PAGE stand for anything.
sed -n '/^## Checklists/,$p' CONTRIBUTING.md | grep -oE '`(libfit|traces|tools|tests|docs|figures|data|scripts)/[A-Za-z0-9_./*-]+' |
	tr -d '`' | sed 's/NAME/*/g; s/PAGE/*/g' | sort -u >"$T/paths"
while read -r p; do
	found=
	for f in $p; do
		[ ! -e "$f" ] || found=1
	done
	[ -n "$found" ] || echo "$p"
done <"$T/paths" >"$T/absent"
is "every file that the lists name is there" "$T/absent" ""
[ "$(wc -l <"$T/paths")" -ge 20 ]
ok "and they name some" $?

# ---- trace formats ----
gf-trace --no-meta --list | sed 1d | cut -f 1 >"$T/formats"
while read -r f; do
	ls tests/data/trace-"$f"* >/dev/null 2>&1 || grep -q -e "| $f |" tests/cli/formats.sh || echo "$f: sample"
	grep -q -F -w -e "$f" docs/man/gf-trace.1 || echo "$f: docs/man/gf-trace.1"
done <"$T/formats" >"$T/absent"
is "every trace format has a sample and is on the page of gf-trace" "$T/absent" ""

# ---- policies ----
sed -n "s/^\t:--policy | :-p) words='\(.*\)' ;;/\1/p" <<END | tr ' ' '\n' >"$T/policies"
$(gf-replay --completion bash)
END
gf-replay --help >"$T/help"
while read -r p; do
	grep -q -E "^  ([a-z-]+, )*$p([ ,]|$)" "$T/help" || echo "$p: --help"
	grep -q -F -e "$(printf '%s' "$p" | sed 's/-/\\-/g')" docs/man/gf-replay.1 || grep -q -F -e "$p" docs/man/gf-replay.1 ||
		echo "$p: docs/man/gf-replay.1"
	grep -rqwF -e "$p" docs/methods || echo "$p: docs/methods"
	grep -qwF -e "$p" tests/cli/*.sh || echo "$p: tests/cli"
done <"$T/policies" >"$T/absent"
is "every policy is in --help, on the page, in a method and in a test" "$T/absent" ""
[ "$(wc -l <"$T/policies")" -ge 20 ]
ok "of many" $?

# ---- figures ----
for f in figures/*; do
	case $f in *.sh) continue ;; esac
	name=${f#figures/}
	grep -q -E "^NAME='?$name'?\$" "$f" || echo "$name: NAME"
	grep -q -F '. figures/lib.sh' "$f" || echo "$name: figures/lib.sh"
	grep -q -F -e "$name" -e "\`-${name#*-}\`" docs/methods/*.md || echo "$name: docs/methods"
done >"$T/absent"
is "every figure names itself, uses the helpers and is described" "$T/absent" ""

# ---- version ----
version=$(sed -n 's/.*FIT_VERSION "\(.*\)"/\1/p' libfit/base/version.h)
has "CHANGELOG.md tells of this version" CHANGELOG.md "^## $(printf '%s' "$version" | sed 's/[.]/[.]/g')( |\$)"
has "CITATION.cff is of this version" CITATION.cff "^version: $version\$"
for key in cff-version message title authors; do
	has "CITATION.cff has $key" CITATION.cff "^$key:"
done
hasnt "CITATION.cff has no tab" CITATION.cff '	'
