#!/bin/sh
# SPDX-License-Identifier: MIT
# The Debian source package is made of the last commit; with GOODFIT_SLOW=1 also what it builds, which lintian
# finds no errors in, and which programs build against.
# The same for every build.
. tests/cli/lib.sh
need_tool dpkg-buildpackage 12
need_tool dpkg-source 12
git -c safe.directory='*' rev-parse HEAD >/dev/null 2>&1 || skip_all "not a git checkout" 12

version=$(sed -n 's/.*FIT_VERSION "\(.*\)"/\1/p' libfit/base/version.h)
mkdir "$T/p"
run "the source package is made" 0 env SOURCE=1 scripts/debian-package "$T/p"
ls "$T/p" | sort >"$T/found"
printf '%s\n' "goodfit_$version-1.debian.tar.xz" "goodfit_$version-1.dsc" "goodfit_$version-1_source.buildinfo" \
	"goodfit_$version-1_source.changes" "goodfit_$version.orig.tar.gz" | sort >"$T/want"
same "of its parts, and nothing else is left" "$T/want" "$T/found"
run "it unpacks" 0 dpkg-source --no-check -x "$T/p/goodfit_$version-1.dsc" "$T/src"
is "to a tree of this version" "$T/src/debian/source/format" "3.0 (quilt)"
has "with a changelog" "$T/src/debian/changelog" "^goodfit [(]$version-1[)] "
[ -x "$T/src/debian/rules" ] && [ -f "$T/src/Makefile" ] && [ ! -e "$T/src/debian/changelog.in" ]
ok "its rules can be run" $?
# Every package of control has a list of files, and what is in no control file builds nothing.
sed -n 's/^Package: //p' "$T/src/debian/control" | sort >"$T/want"
(cd "$T/src/debian" && ls -- *.install | sed 's/[.]install$//' | sort) >"$T/found"
same "each package has its list of files" "$T/want" "$T/found"
has "the library's package is named after its soname" "$T/want" '^libfit0$'
grep -q '^SONAME := libfit.so.[$](ABI)$' Makefile && grep -q '^ABI := 0$' Makefile
ok "which is that of the Makefile" $?

if [ -z "${GOODFIT_SLOW-}" ]; then
	skip "takes minutes (set GOODFIT_SLOW=1)" 4
	exit 0
fi
command -v dh >/dev/null 2>&1 || skip_all "debhelper is not installed" 4
run "the packages are built, without an error of lintian" 0 env QUICK=1 SECONDS_EACH=3600 scripts/debian-package "$T/p"
for package in goodfit libfit0 libfit-dev; do
	dpkg-deb -c "$T/p/${package}_$version-1_$(dpkg --print-architecture).deb" >"$T/$package"
done
has "goodfit has tools, pages and completion" "$T/goodfit" 'usr/bin/gf-replay$'
has "libfit0 the library" "$T/libfit0" "libfit[.]so[.]$version\$"
has "libfit-dev the headers" "$T/libfit-dev" 'usr/include/goodfit/libfit/table/table[.]h$'
