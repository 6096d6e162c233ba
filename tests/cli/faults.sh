# SPDX-License-Identifier: MIT
# When the machine fails: disks that are full, kills at random moments, folders that may not be written, no more
# descriptors, no memory, stores with flipped bits, names that are hostile. A tool says so with status 3 (or 1,
# where the data are at fault), leaves nothing under the final name, and never crashes.
. tests/cli/lib.sh

gf-synth jobs --jobs 3000 --hours 20 -q -o "$T/jobs.tsv"
gf-synth jobs --jobs 40 --hours 1 -q -o "$T/few.tsv"
gf-replay -c 8x8 -q -o "$T/log.tsv" "$T/few.tsv"
gf-table convert -q -o "$T/store.h5:/jobs" "$T/jobs.tsv"

# empty NAME FILE: it is not there, nor a temporary one
empty() {
	find "$(dirname "$2")" -name "$(basename "$2")*" >"$T/left"
	is "$1" "$T/left" ""
}

# ---- a file that may not grow any more, and a device that is full ----

mkdir "$T/full"
for c in 'gf-replay -c 8x8' 'gf-replay --sorted -c 8x8' 'gf-select' 'gf-table convert' 'gf-trace --from swf'; do
	name=${c%% -c*}
	in=$T/jobs.tsv
	case $c in *swf*) in=$T/jobs.swf; gf-trace -q --to swf "$T/jobs.tsv" -o "$in" ;; esac
	# SIGXFSZ is ignored, so that the write fails as on a full disk; 512-byte blocks
	# shellcheck disable=SC2086
	run "$name: no more room" 3 sh -c 'trap "" XFSZ; ulimit -f 64; exec "$@"' - $c -q -o "$T/full/out.tsv" "$in"
	has "$name: says so" "$T/err" 'cannot write.*(File too large|No space left)'
	empty "$name: nothing is left" "$T/full/out.tsv"
	# shellcheck disable=SC2086
	sh -c '"$@" >/dev/full' - $c -q "$in" 2>"$T/err"
	rc=$?
	[ $rc = 3 ]
	ok "$name: /dev/full" $?
done
cp "$T/store.h5" "$T/full/s.h5"
run "a store: no more room" 3 sh -c 'trap "" XFSZ; ulimit -f 64; exec "$@"' - \
	gf-table convert -q -o "$T/full/s.h5:/more" "$T/jobs.tsv"
same "the store is as it was" "$T/store.h5" "$T/full/s.h5"
ls "$T/full" >"$T/left"
is "and nothing is beside it" "$T/left" "s.h5"
if [ "$(id -u)" = 0 ] && mkdir "$T/disk" && mount -t tmpfs -o size=64k none "$T/disk" 2>/dev/null; then
	run "a full disk" 3 gf-replay -c 8x8 -q -o "$T/disk/log.tsv" "$T/jobs.tsv"
	has "says so" "$T/err" 'No space left on device'
	empty "nothing is left on it" "$T/disk/log.tsv"
	run "a store on a full disk" 3 gf-table convert -q -o "$T/disk/s.h5:/jobs" "$T/jobs.tsv"
	ls "$T/disk" >"$T/left"
	is "nothing is left on it" "$T/left" ""
	mount -o remount,ro "$T/disk"
	run "a disk that may only be read" 3 gf-select -q -o "$T/disk/x.tsv" "$T/few.tsv"
	has "says so" "$T/err" 'Read-only file system'
	umount "$T/disk"
else
	skip "cannot mount a small disk" 7
fi

# ---- killed at random moments ----

# moments within the time that a replay takes here
began=$(date +%s%N)
gf-replay -c 8x8 -q -o "$T/want.tsv" "$T/jobs.tsv"
span=$((($(date +%s%N) - began) / 1000))
mkdir "$T/kill"
echo kept >"$T/kill/old.tsv"
cp "$T/store.h5" "$T/kill/s.h5"
wrong=0 killed=0 i=0
while [ $i -lt 100 ]; do
	i=$((i + 1))
	case $((i % 3)) in
	0) set -- gf-replay -c 8x8 -q -o "$T/kill/new.tsv" "$T/jobs.tsv" ;;
	1) set -- gf-replay --sorted -c 8x8 -q -o "$T/kill/old.tsv" "$T/jobs.tsv" ;;
	2) set -- gf-table convert -q -o "$T/kill/s.h5:/k$i" "$T/jobs.tsv" ;;
	esac
	timeout -s KILL "$(awk -v i=$i -v n=$span 'BEGIN { srand(i); printf "%.6f", (1000 + n * rand()) / 1e6 }')" "$@" 2>/dev/null
	[ $? -le 3 ] || killed=$((killed + 1))
	# what stands under a final name is whole
	for f in "$T/kill/new.tsv" "$T/kill/old.tsv"; do
		[ ! -e "$f" ] || [ "$(cat "$f")" = kept ] || gf-table check -q "$f" >/dev/null 2>&1 || wrong=$((wrong + 1))
	done
	gf-table check -q "$T/kill/s.h5:/jobs" >/dev/null 2>&1 || wrong=$((wrong + 1))
	[ $i = 50 ] && rm -f "$T/kill/new.tsv"
done
diag "$killed of 100 were killed before they ended"
[ $wrong = 0 ]
ok "killed 100 times: nothing half-written under a final name" $?
[ $killed -ge 20 ]
ok "most of them in the middle" $?
run "the store takes a table after that" 0 gf-table convert -q -o "$T/kill/s.h5:/after" "$T/few.tsv"
run "and is whole" 0 gf-table check -q "$T/kill/s.h5:/after"

# ---- folders that may not be written ----

if [ "$(id -u)" = 0 ]; then
	skip "root may write everywhere" 2
else
	mkdir "$T/closed"
	chmod a-w "$T/closed"
	run "a folder that may not be written" 3 gf-select -q -o "$T/closed/x.tsv" "$T/few.tsv"
	has "says so" "$T/err" 'closed/x.tsv: cannot open for writing: Permission denied'
fi
run "a folder that is not there" 3 gf-select -q -o "$T/none/x.tsv" "$T/few.tsv"
has "says so" "$T/err" 'none/x.tsv: cannot open for writing: No such file or directory'

# ---- no more descriptors, no memory ----

for n in 3 4 5 6; do
	for c in "gf-replay -c 8x8 -q -o $T/fd.tsv" "gf-table convert -q -o $T/fd.h5:/a"; do
		# shellcheck disable=SC2086
		sh -c 'ulimit -n "$1"; shift; exec "$@"' - $n $c "$T/few.tsv" 2>"$T/err"
		rc=$?
		# 127: not even the libraries could be opened
		[ $rc = 0 ] || [ $rc = 127 ] || { [ $rc = 3 ] && grep -q 'Too many open files' "$T/err"; }
		ok "${c%% *} with $n descriptors: done, or says that there are no more (status $rc)" $?
		rm -f "$T"/fd.*
	done
done
case $B in
*asan* | *valgrind*) skip "a limit of memory under a sanitizer" 12 ;;
*)
	gf-synth jobs --jobs 300000 -q -o "$T/many.tsv"
	for kib in 40000 60000 90000 120000; do
		for c in 'gf-replay -c 800x8' "gf-verify -j $T/many.tsv" 'gf-table convert'; do
			in=$T/many.tsv
			case $c in *verify*) in=$T/log.tsv ;; esac
			# shellcheck disable=SC2086
			sh -c 'ulimit -v "$1"; shift; exec "$@"' - $kib $c -q -o "$T/mem.out" "$in" 2>"$T/err"
			rc=$?
			# a jobs table of another log is no match: status 1
			[ $rc = 0 ] || { [ $rc = 1 ] && [ "$in" = "$T/log.tsv" ]; } ||
				{ [ $rc = 3 ] && grep -Eq 'out of memory|cannot allocate|Cannot allocate' "$T/err" && [ ! -e "$T/mem.out" ]; }
			ok "${c%% *} in $kib KiB: done, or out of memory (status $rc)" $?
			rm -f "$T/mem.out"
		done
	done ;;
esac

# ---- stores with flipped bits ----

# flips NAME FILE N: flip a bit N times, each in a fresh copy of FILE, and read the table; counts of what came
flips() {
	crashed=0 refused=0 right=0 differs=0 i=0
	size=$(wc -c <"$2")
	while [ $i -lt "$3" ]; do
		i=$((i + 1))
		at=$(awk -v i=$i -v n="$size" 'BEGIN { srand(7 * i); print int(n * rand()) }')
		cp "$2" "$T/bad.h5"
		byte=$(od -An -tu1 -j "$at" -N 1 "$2" | tr -d ' ')
		bit=$((1 << i % 8))
		# shellcheck disable=SC2059
		printf "\\$(printf '%03o' $((byte & bit ? byte - bit : byte + bit)))" |
			dd of="$T/bad.h5" bs=1 seek="$at" conv=notrunc 2>/dev/null
		timeout 10 gf-table convert -q --no-meta -o "$T/flip.got" "$T/bad.h5:/jobs" 2>"$T/err"
		case $? in
		0) if cmp -s "$T/flip.got" "$T/flip.want"; then right=$((right + 1)); else differs=$((differs + 1)); fi ;;
		1 | 3) refused=$((refused + 1)) ;;
		*)
			crashed=$((crashed + 1))
			diag "byte $at: $(head -c 200 "$T/err")" ;;
		esac
	done
	diag "$1: of $3 stores with a flipped bit $right gave the right data, $refused were refused," \
		"$differs gave other data"
}

gf-table convert -q -o "$T/flip.h5:/jobs" "$T/few.tsv"
gf-table convert -q --no-meta -o "$T/flip.want" "$T/flip.h5:/jobs"
flips "sealed" "$T/flip.h5" 150
[ $crashed = 0 ] && [ $differs = 0 ]
ok "flipped bits: refused, or the right data" $?
# without the seal that our stores end in (another program changed the file) a flipped value cannot be seen
at=$(LC_ALL=C grep -abo 'goodfit-store/1' "$T/flip.h5" | tail -n 1)
head -c $((${at%%:*} - 1)) "$T/flip.h5" >"$T/bare.h5"
run "a store without a seal" 0 gf-table convert -q --no-meta -o "$T/flip.got" "$T/bare.h5:/jobs"
# HDF5 itself may lose memory over a damaged file, which ends with the process
before=${ASAN_OPTIONS-}
ASAN_OPTIONS=$before:detect_leaks=0
flips "without a seal" "$T/bare.h5" 150
ASAN_OPTIONS=$before
[ $crashed = 0 ]
ok "flipped bits never crash" $?

# ---- names ----

# names FILE: as an input and as an output
lf=$(printf 'a\nb.')
lf=${lf%.}
long=$(awk 'BEGIN { for (i = 0; i < 240; i++) printf "x" }')
mkdir "$T/names"
for name in "$lf" "$(printf 'tab\there')" '-q' '--help' ' blank ' "quote'\"" '$(id)' '*' "$(printf 'not\377utf8')" \
	"$(printf 'esc\033[31m')" "$long" 'a:b' 'x.tsv.tmp.1'; do
	shown=$(printf '%s' "$name" | tr -c 'a-zA-Z0-9 $*:.-' '?' | cut -c 1-24)
	cp "$T/few.tsv" "$T/names/$name"
	run "name '$shown'" 0 sh -c 'cd "$1" && exec gf-replay -c 8x8 -q -o "./$2.out" -- "$2"' - "$T/names" "$name"
	run "its log" 0 gf-verify -q -j "$T/names/$name" --only-violated "$T/names/$name.out"
	printf 'job_id\tsubmit_s\tgpus\tduration_s\na\tx\t1\t5\n' >"$T/names/$name"
	run "an error in it" 1 gf-replay -c 8x8 -q -o "$T/names/$name.new" "$T/names/$name"
	lines "is one line" "$T/err" 1
	[ ! -e "$T/names/$name.new" ]
	ok "and leaves nothing" $?
done
# the longest name that the file system takes leaves no room for a temporary one beside it
run "a name of 255 bytes" 3 gf-select -q -o "$T/names/$long$(printf '%015d' 0)" "$T/few.tsv"
has "says so" "$T/err" 'File name too long'
