# SPDX-License-Identifier: MIT
# Case 15: files that are cut, or that are no HDF5; a writer that is killed; a disk that is full. Line by
# line after cases/15-hdf5-cut-or-not-hdf5/expect.txt of the shared data.
. tests/cli/lib.sh

# ---- the writer; needs no shared data ----

# A big table goes into a store again and again, and is killed at some moment of it.
gf-synth jobs --jobs 200000 --seed 4 -o "$T/big.tsv"
gf-table convert tests/data/table-several.tsv -o "$T/results.h5"
cp "$T/results.h5" "$T/old.h5"
killed=0 bad=0 renamed=0
for delay in 0.01 0.03 0.05 0.07 0.09 0.12 0.15 0.2; do
	cp "$T/old.h5" "$T/results.h5"
	gf-table convert "$T/big.tsv" -o "$T/results.h5:/big" 2>/dev/null &
	pid=$!
	sleep "$delay"
	if kill -9 "$pid" 2>/dev/null; then
		killed=$((killed + 1))
	fi
	wait "$pid" 2>/dev/null
	if cmp -s "$T/old.h5" "$T/results.h5"; then
		:
	elif gf-table list "$T/results.h5" >"$T/out" 2>/dev/null && grep -q '^/big	200000	' "$T/out"; then
		renamed=$((renamed + 1))
	else
		bad=$((bad + 1))
	fi
done
diag "$killed of 8 writers killed, $renamed stores were complete"
[ $killed -gt 0 ]
ok "some writer was killed" $?
ok "the store is the old one or the complete new one" $bad
cp "$T/old.h5" "$T/results.h5"
run "a left-over lock or temporary file is in nobody's way" 0 \
	gf-table convert "$T/big.tsv" -o "$T/results.h5:/big"
run "and the result is whole" 0 gf-table check "$T/results.h5"

# A full disk: a small file system where that is allowed, else a limit on the size of files.
mkdir "$T/small"
if mount -t tmpfs -o size=300k none "$T/small" 2>/dev/null; then
	cp "$T/old.h5" "$T/small/results.h5"
	run "a full disk" 3 gf-table convert "$T/big.tsv" -o "$T/small/results.h5:/big"
	has "says so" "$T/err" "^gf-table: .*results\.h5: cannot write: No space left on device$"
	same "the old store is whole" "$T/old.h5" "$T/small/results.h5"
	(cd "$T/small" && find . -name '*tmp*') >"$T/left"
	is "and nothing beside it" "$T/left" ""
	umount "$T/small"
else
	cp "$T/old.h5" "$T/small/results.h5"
	# 512-byte blocks; the signal of the limit is ignored, so that write() fails
	run "a file that must not grow" 3 sh -c 'trap "" XFSZ; ulimit -f 300; exec "$@"' sh \
		gf-table convert "$T/big.tsv" -o "$T/small/results.h5:/big"
	has "says so" "$T/err" "^gf-table: .*results\.h5: cannot write: "
	same "the old store is whole" "$T/old.h5" "$T/small/results.h5"
	(cd "$T/small" && find . -name '*tmp*') >"$T/left"
	is "and nothing beside it" "$T/left" ""
fi

# A file that HDF5 itself does not survive.
run "a file that kills HDF5" 1 gf-table show tests/data/table-kills-hdf5.h5
lines "one line" "$T/err" 1
has "with a cause" "$T/err" "damaged HDF5 file"

# ---- the files of the case ----

need_shared cases/15-hdf5-cut-or-not-hdf5/whole.h5 22
C=$GOODFIT_SHARED/cases/15-hdf5-cut-or-not-hdf5
run "whole.h5 opens" 0 gf-table list --no-meta "$C/whole.h5"
has "group /jobs, two data sets of 64" "$T/out" '^/jobs	64	2$'
run "and its values are read" 0 gf-table describe --no-meta "$C/whole.h5"
has "gpus" "$T/out" '^/jobs	gpus	int	64	0	8	1	8$'
has "submit_s" "$T/out" '^/jobs	submit_s	real	64	0	64	0	630$'

mkdir "$T/folder.h5" "$T/cwd"
cp /dev/null "$T/null.h5"
refused() {	# NAME FILE STATUS CAUSE
	rc=0
	(cd "$T/cwd" && gf-table convert "$2") >"$T/out" 2>"$T/err" || rc=$?
	bad=0
	[ "$rc" -eq "$3" ] && [ ! -s "$T/out" ] && [ "$(wc -l <"$T/err")" -eq 1 ] || bad=1
	grep -F -q "$2: " "$T/err" && grep -q "$4" "$T/err" || bad=1
	! grep -q 'HDF5-DIAG' "$T/err" || bad=1
	ok "$1: status $3, one line, path and cause" $bad
	[ $bad -eq 0 ] || diag_file "status $rc, standard error" "$T/err"
}
refused "cut.h5" "$C/cut.h5" 1 "truncated HDF5 file"
refused "cut96.h5" "$C/cut96.h5" 1 "truncated HDF5 file"
refused "renamed.h5" "$C/renamed.h5" 1 "not an HDF5 file"
refused "a folder" "$T/folder.h5" 3 "directory"
refused "a missing path" "$T/none.h5" 3 "cannot open: No such file or directory"
refused "an empty file" "$T/null.h5" 1 "empty file"
refused "/dev/null" /dev/null 1 "empty input"
ln -s /dev/null "$T/null-device.h5"
refused "/dev/null as a store" "$T/null-device.h5" 1 "empty file"
find "$T/cwd" "$T/folder.h5" -mindepth 1 >"$T/left"
is "nothing was created" "$T/left" ""
for f in cut cut96 renamed; do
	cp "$C/$f.h5" "$T/copy.h5"
	run "adding to $f.h5" 1 gf-table convert tests/data/table-types.tsv -o "$T/copy.h5:/t"
	same "leaves it alone" "$C/$f.h5" "$T/copy.h5"
done
cp "$C/whole.h5" "$T/copy.h5"
run "adding to a store of another program" 1 gf-table convert tests/data/table-types.tsv -o "$T/copy.h5:/t"
same "leaves it alone, too" "$C/whole.h5" "$T/copy.h5"
