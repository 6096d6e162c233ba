# SPDX-License-Identifier: MIT
# The include rule: which room may use which. The table below is the rule: an arrow that it does not
# allow is a defect. The checker itself is shown to fail on planted ones.
# The same for every build.
. tests/cli/lib.sh

# room | rooms it may include (itself is understood) | third-party headers it may include
cat >"$T/rooms" <<'END'
libfit/base    |                                        | gsl/gsl_rng.h xxhash.h
libfit/table   | libfit/base                            | hdf5.h hdf5_hl.h zlib.h zstd.h
libfit/model   | libfit/base libfit/table               | gsl/* lapacke.h glpk.h libqhull_r/* jansson.h
libfit/replay  | libfit/base libfit/table libfit/model  |
libfit/verify  | libfit/base libfit/table libfit/model  | gsl/gsl_cdf.h
libfit/metrics | libfit/base libfit/table               |
libfit/synth   | libfit/base libfit/table libfit/model  | gsl/gsl_rng.h gsl/gsl_randist.h
libfit/plot    | libfit/base libfit/table               |
traces         | libfit/base libfit/table               | csv.h jansson.h sqlite3.h
tools/common   | libfit/base libfit/table               | gsl/* hdf5.h
tools          | libfit/* traces tools/common           | gsl/*
END

# C11 and POSIX headers, open to every room.
system="assert.h complex.h ctype.h errno.h fenv.h float.h inttypes.h iso646.h limits.h locale.h math.h
setjmp.h signal.h stdalign.h stdarg.h stdatomic.h stdbool.h stddef.h stdint.h stdio.h stdlib.h
stdnoreturn.h string.h tgmath.h threads.h time.h uchar.h wchar.h wctype.h dirent.h dlfcn.h fcntl.h
fnmatch.h getopt.h glob.h langinfo.h libgen.h poll.h pthread.h pwd.h regex.h sched.h semaphore.h
spawn.h strings.h sys/file.h sys/ioctl.h sys/mman.h sys/resource.h sys/select.h sys/stat.h sys/time.h
sys/types.h sys/uio.h sys/utsname.h sys/wait.h termios.h unistd.h"

# Lines "FILE:LINE: what is wrong" for the tree in the current folder.
check_tree() {
	find libfit traces tools -name '*.[ch]' | LC_ALL=C sort | while read -r f; do
		grep -nE '^[[:space:]]*#[[:space:]]*include' "$f" | sed "s|^|$f:|"
	done | awk -v rooms="$T/rooms" -v system_headers="$system" '
	function folder(path) { sub("/[^/]*$", "", path); return path }
	function allowed(path, list,   k, n, a, stem) {
		n = split(list, a, " ")
		for (k = 1; k <= n; k++) {
			if (a[k] == path)
				return 1
			stem = a[k]
			if (sub("/[*]$", "/", stem) && substr(path, 1, length(stem)) == stem)
				return 1
		}
		return 0
	}
	function fault(what) { print where ": " what }
	BEGIN {
		FS = "|"
		while ((getline line < rooms) > 0) {
			split(line, cut, "|")
			gsub(" ", "", cut[1])
			known[cut[1]] = 1
			uses[cut[1]] = cut[2]
			libs[cut[1]] = cut[3]
		}
		FS = ":"
	}
	{
		file = $1
		where = $1 ":" $2
		text = substr($0, length(where) + 2)
		room = folder(file)
		if (!(room in known)) { fault("the folder " room " is no room"); next }
		if (match(text, /"[^"]*"/)) {
			path = substr(text, RSTART + 1, RLENGTH - 2)
			to = folder(path)
			if (path !~ "/" || path ~ /[.][.]?\//)
				fault("include \"" path "\" does not start at the top")
			else if (to != room && !allowed(to, uses[room]))
				fault(room " may not use " to " (\"" path "\")")
		} else if (match(text, /<[^>]*>/)) {
			path = substr(text, RSTART + 1, RLENGTH - 2)
			if (!allowed(path, system_headers) && !allowed(path, libs[room]))
				fault(room " may not use <" path ">")
		} else {
			fault("include without a plain name")
		}
	}'
}

check_tree >"$T/found"
is "no include goes against the rooms" "$T/found" ""
find libfit traces tools -name '*.[ch]' | while read -r f; do
	grep -hE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "$f" | sed 's/.*"\(.*\)".*/\1/'
done | sort -u | while read -r h; do
	[ -f "$h" ] || echo "$h"
done >"$T/absent"
is "every included file is there" "$T/absent" ""

# The checker sees what it should see.
planted() {
	rm -rf "$T/tree" && mkdir "$T/tree" && cp -R libfit traces tools "$T/tree"
	mkdir -p "$T/tree/$(dirname "$2")"
	printf '%s\n' "$3" >>"$T/tree/$2"
	(cd "$T/tree" && check_tree) >"$T/found"
	if grep -F -q "$4" "$T/found" && [ "$(wc -l <"$T/found")" -eq 1 ]; then
		ok "planted: $1" 0
	else
		ok "planted: $1" 1
		diag_file "found" "$T/found"
	fi
}

planted "verify includes replay" libfit/verify/zz.c '#include "libfit/replay/engine.h"' \
	'libfit/verify/zz.c:1: libfit/verify may not use libfit/replay'
planted "model includes HDF5" libfit/model/zz.c '#include <hdf5.h>' 'may not use <hdf5.h>'
planted "base includes table" libfit/base/zz.c '#include "libfit/table/table.h"' \
	'libfit/base may not use libfit/table'
planted "metrics includes model" libfit/metrics/zz.c ' #  include "libfit/model/profile.h"' \
	'libfit/metrics may not use libfit/model'
planted "a path that climbs" libfit/replay/zz.c '#include "../verify/rules.h"' \
	'does not start at the top'
planted "a path without a folder" libfit/table/zz.c '#include "table.h"' 'does not start at the top'
planted "libfit includes a tool" libfit/plot/zz.c '#include "tools/common/cli.h"' \
	'libfit/plot may not use tools/common'
planted "a tool includes libcsv" tools/zz.c '#include <csv.h>' 'tools may not use <csv.h>'
planted "an unknown library" libfit/base/zz.c '#include <curl/curl.h>' 'may not use <curl/curl.h>'
planted "a folder that is no room" libfit/misc/zz.c '#include <stdio.h>' 'is no room'
