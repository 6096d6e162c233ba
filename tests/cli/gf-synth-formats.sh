# SPDX-License-Identifier: MIT
# gf-synth jobs --format: each layout is read back as the jobs that were written; shape, order, faults.
. tests/cli/lib.sh

O="--jobs 3000 --hours 96 --max-gpus 64 --users 37 --seed 5"
# shellcheck disable=SC2086
gf-synth jobs --no-meta $O >"$T/jobs.tsv"
# submit (whole seconds), duration, gpus, user without its letter
sed 1d "$T/jobs.tsv" | awk -F '\t' '{ sub(/[.].*/, "", $3); sub(/^u/, "", $2); print $3, $4, $5, $2 }' \
	>"$T/want"
lines "jobs to compare with" "$T/want" 3000

for f in philly sacct helios swf; do
	# shellcheck disable=SC2086
	run "$f" 0 gf-synth jobs $O --format $f
	is "$f: silent" "$T/err" ""
	cp "$T/out" "$T/$f"
	# shellcheck disable=SC2086
	run "$f: into a file" 0 gf-synth jobs $O --threads 4 --format $f -o "$T/file"
	same "$f: same bytes" "$T/$f" "$T/file"
	gf-trace --help | grep -q "^  $f " || {
		skip "gf-trace does not read $f" 4
		continue
	}
	gpus=
	if [ $f = swf ] && gf-trace --help | grep -q -e --gpus-from; then
		gpus="--gpus-from processors"
	fi
	# shellcheck disable=SC2086
	run "$f: gf-trace" 0 gf-trace -q --from $f $gpus "$T/$f"
	grep -v '^#' "$T/out" | awk -F '\t' '
		NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
		{ u = $c["user"]; sub(/^u/, "", u); print $c["submit_s"], $c["duration_s"], $c["gpus"], u
		  if ($c["start_s"] < $c["submit_s"] || $c["end_s"] - $c["start_s"] < $c["duration_s"]) bad++
		  n[$c["status"]]++ }
		END { printf("%d %d %d %d\n", bad, (n["OK"] > 2000 && n["OK"] < 2200),
			(n["FAILED"] > 520 && n["FAILED"] < 680),
			(n["CANCELLED"] > 240 && n["CANCELLED"] < 360)) >ends }' ends="$T/ends" >"$T/found"
	same "$f: the same submissions, durations, GPUs and users" "$T/want" "$T/found"
	is "$f: times in order; a mix of statuses" "$T/ends" "0 1 1 1"
	run "$f: recognised" 0 gf-trace -q --from auto $gpus "$T/$f"
done

for f in 'sacct |' 'helios ,' 'swf  '; do
	grep -v '^;' "$T/${f%% *}" | awk -F "[${f#* }]" '{ n[NF]++ } END { for (k in n) c++; print c }' >"$T/found"
	is "${f%% *}: rows of one length" "$T/found" 1
done
run "jq reads philly" 0 sh -c 'if command -v jq >/dev/null; then jq length "$1"; else echo 3000; fi' sh "$T/philly"
is "3000 objects" "$T/out" 3000
awk '{ n = gsub(/"start_time"/, "") ; t[n]++ } END { exit !(t[2] > 230 && t[2] < 370 && t[1] + t[2] == 3000) }' \
	"$T/philly"
ok "one Philly job in ten has two attempts" $?
for f in philly sacct helios swf; do
	run "$f: no job" 0 gf-synth jobs --jobs 0 --format $f
	cp "$T/out" "$T/none-$f"
done
is "philly: an empty array" "$T/none-philly" "[]"
lines "sacct: a header" "$T/none-sacct" 1
run "into a store" 2 gf-synth jobs --format swf -o "$T/s.h5"
has "is refused" "$T/err" 'a trace cannot go into a store'
run "into a folder that is not there" 3 gf-synth jobs --format swf -o "$T/none/x"
run "an unknown layout" 2 gf-synth jobs --format acme
run "/dev/full" 3 sh -c 'gf-synth jobs --jobs 9 --format swf >/dev/full'
mkfifo "$T/pipe"
cat "$T/pipe" >"$T/piped" &
run "into a pipe" 0 gf-synth jobs --jobs 9 --format swf -o "$T/pipe"
wait
gf-synth jobs --jobs 9 --format swf >"$T/plain"
same "all of it" "$T/plain" "$T/piped"
