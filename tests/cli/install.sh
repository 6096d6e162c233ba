#!/bin/sh
# SPDX-License-Identifier: MIT
# make install and uninstall: what is put where; programs in C and in C++ build against the installed
# libfit through pkg-config, shared and static; the shared library exports what the public headers
# declare and nothing else.
# The same for every build.
. tests/cli/lib.sh

unset MAKEFLAGS MFLAGS MAKELEVEL
case $B in *asan | *fuzz | *valgrind) skip_all "a library with sanitizers is not for others" ;; esac
need_tool pkg-config
D=$T/dest P=$T/dest/usr
# Whatever flags this build has, nothing is compiled anew while other tests run.
make_in() { make -s AS_BUILT=1 B="${B#"$TOP"/}" DESTDIR="$D" PREFIX=/usr "$@"; }
cc=$(make -s print-CC B="$B")
version=$(sed -n 's/.*FIT_VERSION "\(.*\)"/\1/p' libfit/base/version.h)

run "make, on what is built" 0 make_in -n all
is "has nothing to do" "$T/out" ""
run "make install" 0 make_in install
is "and it is silent" "$T/err" ""

# ---- what is there ----

for src in tools/gf-*.c; do
	tool=$(basename "$src" .c)
	for f in "bin/$tool" "share/man/man1/$tool.1" "share/bash-completion/completions/$tool" \
		"share/zsh/site-functions/_$tool"; do
		[ -s "$P/$f" ] || echo "$f"
	done
done >"$T/absent"
is "every tool with its page and its completion" "$T/absent" ""
for page in docs/formats/*.md; do
	[ -s "$P/share/man/man5/goodfit-$(basename "$page" .md).5" ] || echo "$page"
done >"$T/absent"
is "every format has a manual page" "$T/absent" ""
run "an installed tool runs" 0 "$P/bin/gf-table" --version
has "and is of this version" "$T/out" "^libfit $version"
if command -v readelf >/dev/null 2>&1; then
	readelf -d "$P/bin/gf-replay" >"$T/needed"
	hasnt "tools do not wait for the shared library" "$T/needed" 'libfit'
	readelf -d "$P/lib/libfit.so" >"$T/needed"
	has "the shared library has its soname" "$T/needed" 'SONAME.*libfit[.]so[.]0\]'
	hasnt "and no path of this build" "$T/needed" 'R(UN)?PATH'
else
	skip "readelf is not installed" 3
fi
[ "$(readlink "$P/lib/libfit.so")" = libfit.so.0 ] && [ "$(readlink "$P/lib/libfit.so.0")" = "libfit.so.$version" ]
ok "libfit.so leads to the version" $?
grep -rlF -e "$TOP" -e "$D" "$P/lib/pkgconfig" "$P/include" "$P/share" >"$T/found"
is "no installed text names the build or its destination" "$T/found" ""

# ---- the headers ----

(cd "$P/include/goodfit" && find . -name '*.h' | sed 's|^[.]/||' | sort) >"$T/installed"
{ echo libfit/base/linkage.h; grep -l '^FIT_C_BEGIN$' libfit/*/*.h traces/*.h; } | sort >"$T/public"
same "the public headers, and no others" "$T/public" "$T/installed"
cat tools/*.[ch] | sed -n 's/^#include "\(\(libfit\|traces\)\/.*\)"/\1/p' | sort -u >"$T/used"
comm -23 "$T/used" "$T/public" >"$T/found"
is "what the tools use is public" "$T/found" ""
tr '\n' '\0' <"$T/public" | xargs -0 cat | sed -n 's/^#include "\(.*\)"/\1/p' | sort -u | comm -23 - "$T/public" >"$T/found"
is "and what public headers include (mark these: libfit/base/linkage.h)" "$T/found" ""
sed -n 's/^| `\([a-z_/0-9]*[.]h\)` .*/\1/p' docs/library.md | sort >"$T/told"
same "docs/library.md says what each is for" "$T/public" "$T/told"

PKG_CONFIG_PATH=$P/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR
flags=$(pkg-config --define-variable=prefix="$P" --cflags goodfit)
is_public() { printf '#include <%s>\nint main(void) { return 0; }\n' "$1" >"$2"; }
cxx=
for c in g++ clang++; do
	! command -v $c >/dev/null 2>&1 || { cxx=$c; break; }
done
: >"$T/c-faults"
: >"$T/cxx-faults"
while read -r h; do
	is_public "$h" "$T/one.c"
	# shellcheck disable=SC2086
	$cc -std=c11 -Wall -Wextra -Wstrict-prototypes -Werror $flags -fsyntax-only "$T/one.c" >>"$T/c-faults" 2>&1
	[ -n "$cxx" ] || continue
	is_public "$h" "$T/one.cc"
	# shellcheck disable=SC2086
	$cxx -std=c++11 -Wall -Wextra -Werror $flags -fsyntax-only "$T/one.cc" >>"$T/cxx-faults" 2>&1
done <"$T/installed"
is "each public header compiles alone as C11" "$T/c-faults" ""
if [ -n "$cxx" ]; then
	is "each public header compiles alone as C++11" "$T/cxx-faults" ""
	printf 'struct a { int class; };\n' >"$T/bad.cc"
	! $cxx -fsyntax-only "$T/bad.cc" >"$T/cc" 2>&1
	ok "a header that only C takes would be seen" $?
else
	skip "no C++ compiler" 2
fi

# ---- programs ----

# The example of docs/library.md: reads a table, says how many rows.
sed -n '/^```c$/,/^```$/p' docs/library.md | sed '/^```/d' >"$T/rows.c"
[ -s "$T/rows.c" ]
ok "docs/library.md has an example" $?
cp "$T/rows.c" "$T/rows.cc"
printf 'job_id\tsubmit_s\tgpus\na\t0\t2\nb\t30\t4\n' >"$T/two.tsv"
pc() { pkg-config --define-variable=prefix="$P" "$@" goodfit; }

# shellcheck disable=SC2046
run "a program in C links the shared library" 0 $cc -std=c11 -Wall -Wextra -Werror $(pc --cflags) "$T/rows.c" \
	$(pc --libs) -o "$T/rows"
run "it runs" 0 env LD_LIBRARY_PATH="$P/lib" "$T/rows" "$T/two.tsv"
is "and reads a table" "$T/out" "2 rows, 6 GPUs, libfit $version"
LD_LIBRARY_PATH='' "$T/rows" "$T/two.tsv" >"$T/out" 2>"$T/err"
[ $? -eq 127 ]
ok "not without the shared library" $?
if [ -n "$cxx" ]; then
	# shellcheck disable=SC2046
	run "a program in C++ links it" 0 $cxx -std=c++11 -Wall -Wextra -Werror $(pc --cflags) "$T/rows.cc" \
		$(pc --libs) -o "$T/rows-cc"
	run "it runs, too" 0 env LD_LIBRARY_PATH="$P/lib" "$T/rows-cc" "$T/two.tsv"
	is "with the same result" "$T/out" "2 rows, 6 GPUs, libfit $version"
else
	skip "no C++ compiler" 3
fi
# L-BFGS-B prints by itself; what libfit does about it holds in the shared library, too.
cat >"$T/fit.c" <<'END'
#include <stdio.h>
#include <libfit/model/throughput.h>

int main(void)
{
	struct fit_throughput_obs obs[24];
	struct fit_throughput_params p;
	struct fit_throughput_result r;
	struct fit_throughput *w = NULL;
	struct fit_err err = { .msg = "" };
	int n = 0, rc;

	for (int k = 1; k <= 4; k++)
		for (int b = 16; b <= 96; b += 16)
			obs[n++] = (struct fit_throughput_obs){ .num_nodes = k > 2 ? 2 : 1, .num_replicas = k, .local_bsz = b,
				.step_s = 0.03 + 0.0011 * b + (k > 1 ? 0.01 * k : 0), .sync_s = k > 1 ? 0.01 * k : 0, .weight = 1 };
	fit_throughput_params_default(&p);
	rc = fit_throughput_new(&w, &err);
	rc = rc ? rc : fit_throughput_fit(w, obs, (size_t)n, &p, &r, &err);
	fprintf(stderr, "%s", err.msg);
	fit_throughput_free(w);
	return rc;
}
END
# shellcheck disable=SC2046
run "a program that fits links the shared library" 0 $cc -std=c11 $(pc --cflags) "$T/fit.c" $(pc --libs) -o "$T/fit"
run "and fits" 0 env LD_LIBRARY_PATH="$P/lib" "$T/fit"
is "without a word on standard output" "$T/out" ""
mkdir "$T/static" && cp "$P/lib/libfit.a" "$T/static"
# shellcheck disable=SC2046
run "a program links the static library" 0 $cc -std=c11 $(pc --cflags) "$T/rows.c" -L"$T/static" \
	$(pc --libs --static) -o "$T/rows-static"
run "it runs by itself" 0 env LD_LIBRARY_PATH= "$T/rows-static" "$T/two.tsv"
is "with the same result as shared" "$T/out" "2 rows, 6 GPUs, libfit $version"

# ---- what is exported ----

nm -D --defined-only "$P/lib/libfit.so" | sed 's/.* //' | grep -v '^GOODFIT_0$' | sort >"$T/exported"
grep -v '^fit_[a-z0-9_]*@@GOODFIT_0$' "$T/exported" >"$T/found"
is "only fit_ names are exported, each with its version" "$T/found" ""
sed 's/@.*//' "$T/exported" >"$T/names"
# Each name must be read in a public header, outside of comments; found by the C compiler.
sed 's/.*/#include <&>/' "$T/installed" >"$T/all.c"
# shellcheck disable=SC2086
$cc -std=c11 $flags -E -P "$T/all.c" | grep -oE '\bfit_[a-z0-9_]+' | sort -u >"$T/seen"
comm -23 "$T/names" "$T/seen" >"$T/found"
is "what is exported stands in a public header" "$T/found" ""
nm -g --defined-only "$B/libfit.a" 2>/dev/null | awk 'NF == 3 { print $3 }' | sort -u >"$T/defined"
comm -12 "$T/defined" "$T/seen" | comm -13 "$T/names" - >"$T/found"
is "what a public header declares is exported" "$T/found" ""
grep -q '^fit_replay_run$\|^fit_table_read$' "$T/names" && ! grep -q '^fit_sia_ilp\|^verify_' "$T/names"
ok "such as reading a table, but not the insides of a policy" $?
printf '/* fit_a, fit_b( */ int fit_text_of(void); // \nint fit_gone(void);\n' >"$T/some.h"
run "scripts/symbol-map" 0 scripts/symbol-map 7 "$B/libfit.a" "$T/some.h"
printf 'GOODFIT_7 {\n\tglobal:\n\t\tfit_text_of;\n\tlocal:\n\t\t*;\n};\n' >"$T/want"
same "takes what is both declared and defined, comments aside" "$T/want" "$T/out"
run "scripts/symbol-map, nothing to export" 1 scripts/symbol-map 7 "$B/libfit.a" "$T/rows.c.none"

# ---- and gone ----

run "make uninstall" 0 make_in uninstall
find "$D" ! -type d >"$T/found"
is "leaves nothing" "$T/found" ""
