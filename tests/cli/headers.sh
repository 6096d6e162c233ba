# SPDX-License-Identifier: MIT
# Headers: each compiles alone and twice in a row, is plain C but for the marks of public ones, has its guard
# and its licence line. (tests/cli/install.sh compiles the public ones as they are installed, as C++ too.)
# The same for every build.
. tests/cli/lib.sh

unset MAKEFLAGS MFLAGS MAKELEVEL
cc=$(make -s print-CC B="$B")
flags=$(make -s print-ALL_CFLAGS WERROR=1 B="$B")

for h in libfit/*/*.h traces/*.h tools/common/*.h; do
	[ -f "$h" ] || continue
	printf '#include "%s"\n#include "%s"\n' "$h" "$h" >"$T/one.c"
	# banned.h is forced in ahead of everything; a header must not lean on what it includes.
	# shellcheck disable=SC2086
	$cc ${flags%%-include *} ${flags#*-include libfit/base/banned.h} -fsyntax-only "$T/one.c" \
		>"$T/cc" 2>&1
	ok "$h compiles alone" $?
	[ ! -s "$T/cc" ] || diag_file "compiler" "$T/cc"

	guard=$(printf '%s' "${h#libfit/}" | tr 'a-z/.-' 'A-Z___')
	case $h in libfit/*) guard=FIT_$guard ;; esac
	grep -q "^#ifndef $guard\$" "$h" && grep -q "^#define $guard\$" "$h"
	ok "$h is guarded by $guard" $?

	case $h in libfit/base/linkage.h) continue ;; esac
	! grep -q -e '__cplusplus' -e 'extern "C"' "$h" &&
		[ "$(grep -c '^FIT_C_BEGIN$' "$h")" -eq "$(grep -c '^FIT_C_END$' "$h")" ]
	ok "$h is plain C" $?
done

for f in libfit/*/*.[ch] traces/*.[ch] tools/*.c tools/common/*.[ch] tests/unit/*.[ch] tests/fuzz/*.c; do
	[ -f "$f" ] || continue
	sed -n 1p "$f" | grep -qF 'SPDX-License-Identifier: MIT' || echo "$f"
done >"$T/spdx"
is "every C file starts with its licence" "$T/spdx" ""

# A header that does not compile alone is seen.
printf '#include "libfit/base/text.h"\nstruct fit_bad { uint7_t x; };\n' >"$T/one.c"
# shellcheck disable=SC2086
! $cc $flags -fsyntax-only "$T/one.c" >"$T/cc" 2>&1
ok "a broken header is seen" $?
