# SPDX-License-Identifier: MIT
# Where -o writes: through symbolic links, into pipes and open descriptors, under names too long to say.
. tests/cli/lib.sh

J=$T/app-jobs.tsv
awk 'BEGIN {
	OFS = "\t"
	print "job_id", "app", "submit_s", "duration_s", "gpus", "batch_size"
	for (i = 1; i <= 9; i++) print "j" i, "alpha", i * 17, 100 + i, 1 + i % 4, 32 * i
}' >"$J"
mkdir "$T/here" "$T/there"
gf-select "$J" >"$T/want.tsv"
gf-trace --to swf "$J" >"$T/want.swf" 2>/dev/null

ln -s ../there/new.tsv "$T/here/link.tsv"
run "-o LINK" 0 gf-select "$J" -o "$T/here/link.tsv"
same "writes the file that it leads to, even a new one" "$T/want.tsv" "$T/there/new.tsv"
[ -L "$T/here/link.tsv" ]
ok "the link stays a link" $?
ln -s link.tsv "$T/here/link2.tsv"
run "a link to a link, and a file that is there" 0 gf-select -n 1 "$J" -o "$T/here/link2.tsv"
run "is written" 0 gf-diff -c job_id "$T/there/new.tsv" "$T/here/link2.tsv"
[ -L "$T/here/link2.tsv" ] && [ -L "$T/here/link.tsv" ] && [ "$(grep -c '^j' "$T/there/new.tsv")" -le 2 ]
ok "both links stay" $?
ln -s round2 "$T/here/round1"
ln -s round1 "$T/here/round2"
run "links in a circle" 3 gf-select "$J" -o "$T/here/round1"
has "are an error" "$T/err" 'round1: cannot (write|open)'
ln -s ../none/x "$T/here/nowhere"
run "a link into a folder that is not there" 3 gf-select "$J" -o "$T/here/nowhere"
ln -s ../there/s.h5 "$T/here/s.h5"
run "a store behind a link" 0 gf-select "$J" -o "$T/here/s.h5:/a"
run "and another table" 0 gf-select "$J" -o "$T/here/s.h5:/b"
[ -L "$T/here/s.h5" ] && [ -f "$T/there/s.h5" ]
ok "is written in its place" $?
run "both tables are there" 0 gf-table list "$T/there/s.h5"
has "a" "$T/out" '^/a'
has "b" "$T/out" '^/b'
ln -s ../there/w.swf "$T/here/w.swf"
run "gf-trace --to swf -o LINK" 0 gf-trace -q --to swf "$J" -o "$T/here/w.swf"
same "writes behind it" "$T/want.swf" "$T/there/w.swf"
if command -v gnuplot >/dev/null; then
	ln -s ../there/f.svg "$T/here/f.svg"
	run "gf-plot -o LINK" 0 gf-plot trace-cdf "$J" -o "$T/here/f.svg"
	[ -L "$T/here/f.svg" ] && [ -s "$T/there/f.svg" ] && [ -s "$T/there/f.gp" ] && [ -s "$T/there/f.dat" ]
	ok "the picture, its script and data stand behind the link" $?
else
	skip "gnuplot is not installed" 2
fi
find "$T/here" "$T/there" -name '*.tmp.*' >"$T/left"
is "nothing is left over" "$T/left" ""

for to in swf pollux; do
	gf-trace -q --to $to "$J" >"$T/want"
	mkfifo "$T/pipe"
	cat "$T/pipe" >"$T/from-pipe" &
	run "--to $to -o PIPE" 0 gf-trace -q --to $to "$J" -o "$T/pipe"
	wait
	same "the reader gets it" "$T/want" "$T/from-pipe"
	[ -p "$T/pipe" ]
	ok "and the pipe is still one" $?
	rm "$T/pipe"
	run "--to $to -o /dev/stdout" 0 gf-trace -q --to $to "$J" -o /dev/stdout
	same "is standard output" "$T/want" "$T/out"
	run "--to $to -o -" 0 gf-trace -q --to $to "$J" -o -
	same "and so is -" "$T/want" "$T/out"
done
rc=0
gf-trace -q --to swf "$J" >/dev/full 2>"$T/err" || rc=$?
[ $rc -eq 3 ]
ok "a workload file that cannot be written: status 3" $?

sed '7s/^j6/j2/' "$J" >"$T/twice.tsv"
for to in swf pollux; do
	run "--to $to: an id that comes twice" 1 gf-trace --to $to "$T/twice.tsv"
	is "names both lines" "$T/err" "gf-trace: $T/twice.tsv:7:job_id: duplicate id 'j2' (first on line 3)"
	is "and writes nothing" "$T/out" ""
done

long=$(awk 'BEGIN { for (i = 0; i < 10000; i++) printf "abcdefghij" }')
for tool in "gf-stats" "gf-metrics" "gf-trace --from pollux" "gf-prof --from pollux" "gf-throughput" \
	"gf-plot diurnal" "gf-table check" "gf-synth jobs --jobs 1 -o"; do
	# shellcheck disable=SC2086
	run "${tool%% *}: a name of 100 kB" 3 $tool "$long"
	is_long=1
	[ "$(wc -c <"$T/err")" -lt 1100 ] && [ "$(wc -l <"$T/err")" -eq 1 ] &&
		grep -q "^${tool%% *}: abc.* \.\.\. .*: File name too long\$" "$T/err" && is_long=0
	ok "loses its middle, not the reason" $is_long
	[ $is_long -eq 0 ] || diag_file "standard error" "$T/err"
done
run "an unknown value of 100 kB" 2 gf-plot trace-cdf --of "$long"
has "keeps what was expected" "$T/err" 'expected duration, gpus, gpu-hours, interarrival\)$'
