# SPDX-License-Identifier: MIT
# gf-trace --from swf and --to swf: the sample, the troubles that logs have, and there and back again.
. tests/cli/lib.sh
D=tests/data
G="--gpus-from processors"
# a record with these in place of job, submit, wait, run, allocated, requested, status
rec() {
	echo "$1 $2 $3 $4 $5 -1 -1 $6 -1 -1 $7 -1 -1 -1 -1 -1 -1 -1"
}

fault() {
	refuses "$1" 1 "gf-trace: $T/in$2" gf-trace $G --from swf "$T/in"
}

# ---- the sample ----
run "the sample" 0 gf-trace $G --from swf -o "$T/s.tsv" $D/trace-swf-small.swf
golden "its table" "$T/s.tsv" $D/trace-swf-small.tsv
is "what is said" "$T/err" "gf-trace: warning: $D/trace-swf-small.swf: 2 partial executions passed over \
(the summary line of the job counts)"
run "--from auto" 0 gf-trace --from auto $D/trace-swf-small.swf
has "knows it" "$T/err" ': recognised swf [(]header comments and 18 numbers a line[)]$'
{ printf '\357\273\277'; sed 's/$/\r/' $D/trace-swf-small.swf; } | gzip -c >"$T/crlf.gz"
run "byte order mark, CRLF, gzip" 0 gf-trace -q $G --from swf -o "$T/q.tsv" "$T/crlf.gz"
same "the same table, hash and all" "$T/s.tsv" "$T/q.tsv"
printf %s "$(cat $D/trace-swf-small.swf)" >"$T/cut"
run "no last line feed" 0 gf-trace -q $G --from swf -o "$T/q.tsv" "$T/cut"
same "the same table" "$T/s.tsv" "$T/q.tsv"
run "without --gpus-from" 0 gf-trace --from swf $D/trace-swf-small.swf
has "it is said what column gpus holds" "$T/err" ': column gpus holds processors: the format has no GPUs '
cols gpus | tr '\n' ' ' >"$T/rows"
[ "$(cat "$T/rows")" = "4 8 1 16 2 8 " ]
ok "which are processors" $?
run "--gpus-from none" 0 gf-trace --gpus-from none --from swf $D/trace-swf-small.swf
cols "gpus gpu_type cpus partition" | head -n 2 >"$T/rows"
is "processors are CPUs" "$T/rows" "NA NA 4 1
NA NA 8 2"
hasnt "and nothing needs to be said" "$T/err" 'processors: '

# ---- unknown values ----
{
	rec 1 0 -1 -1 -1 4 1
	rec 2 1 5 -1 4 4 1
	rec 3 2 -1 7 4 4 1
	rec 4 3.0 -1.0 -1.0 -1.0 4.0 5
	rec 5 4 9 0 0 4 5
	rec 6 5 9 0 4 4 5
	rec 7 6 0 1 0 0 1
	rec 8 7 0 1 -1 -1 1
	rec 9 8 0 1 4 4 -1
	rec 10 9 0 1 1000000000 4 1
} >"$T/in"
run "unknown values" 0 gf-trace $G --from swf "$T/in"
cols "job_id submit_s start_s end_s duration_s gpus status" >"$T/rows"
is "are missing, wherever they stand" "$T/rows" \
"1 0 NA NA NA 4 OK
2 1 6 NA NA 4 OK
3 2 NA NA 7 4 OK
4 3 NA NA NA 4 CANCELLED
5 4 NA NA NA 4 CANCELLED
6 5 14 14 0 4 CANCELLED
7 6 6 7 1 0 OK
9 8 8 9 1 4 UNKNOWN
10 9 9 10 1 1000000000 OK"
is "what was left out" "$T/err" "gf-trace: warning: $T/in: 1 job without a count of processors left out, \
the first on line 8"
has "is in the metadata, too" "$T/out" '^#without_processors=1$'
rec 10 9 0 1 1000000001 4 1 >"$T/in"
fault "more processors than there are" ":1:gpus: out of range '1000000001' (expected at most 1000000000)"
run "which are no GPUs" 0 gf-trace --gpus-from none --from swf "$T/in"

# ---- faults ----
rec 1 -1 0 1 4 4 1 >"$T/in"
fault "no submission" ":1:submit time: missing value (expected seconds)"
rec -1 0 0 1 4 4 1 >"$T/in"
fault "no job number" ":1:job number: missing value (expected a job number)"
rec 1 0 -5 1 4 4 1 >"$T/in"
fault "a wait below nothing" ":1:wait time: out of range '-5' (expected -1, or at least 0)"
rec 1 0 0 -0.5 4 4 1 >"$T/in"
fault "so is half a second" ":1:run time: out of range '-0.5' (expected -1, or at least 0)"
rec 1 0 0 1 4 4 6 >"$T/in"
fault "a status that is none" ":1:status: out of range '6' (expected -1 to 5)"
rec 1 0 0 1 4 4 1.5 >"$T/in"
fault "half a status" ":1:status: bad value '1.5' (expected a whole number)"
rec 1 0 0 1 four 4 1 >"$T/in"
fault "a word" ":1:allocated processors: bad value 'four' (expected a number)"
rec 1 0 0 nan 4 4 1 >"$T/in"
fault "not a number" ":1:run time: bad value 'nan' (expected a number)"
rec 1 0 0 1 inf 4 1 >"$T/in"
fault "endless processors" ":1:allocated processors: bad value 'inf' (expected a number)"
rec 1 0 0 0x10 4 4 1 >"$T/in"
fault "hexadecimal" ":1:run time: bad value '0x10' (expected a number)"
rec 1 1e30 0 1 4 4 1 >"$T/in"
fault "a submission in eons" ":1:submit time: out of range '1e30' (expected at most 4000000000 s)"
rec 99999999999999999999 0 0 1 4 4 1 >"$T/in"
fault "a number that does not fit" ":1:job number: out of range '99999999999999999999' \
(expected -1, or 0 to 9223372036854775807)"
{ rec 1 0 0 1 4 4 1; rec 2 0 0 1 4 4 1; rec 1 5 0 1 4 4 1; } >"$T/in"
fault "a job twice" ":3:job number: duplicate id '1' (first on line 1)"
echo "$(rec 1 0 0 1 4 4 1) $(rec 2 0 0 1 4 4 1)" >"$T/in"
fault "two records on one line" ":1: 36 fields, 18 expected (two records on one line?)"
printf '\377\376;\000\n\000\000' >"$T/in"
fault "half of a character of UTF-16" ":2: UTF-16 text that ends inside a character"
: >"$T/in"
fault "an empty file" ": empty file (expected jobs of 18 fields a line)"
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n' >"$T/in"
fault "a Git LFS pointer" ":1: Git LFS pointer, not the data (expected the file that 'git lfs pull' fetches)"
{ printf '; UnixStartTime: 100\n'; rec 1 0 0 1 4 4 1; printf '; UnixStartTime: 900\n'; rec 2 0 0 1 4 4 1; } >"$T/in"
fault "two logs in one file" ":3:UnixStartTime: another log begins here, '900' (expected one log, whose \
times count from one start, 100)"
printf '; UnixStartTime: soon\n' >"$T/in"
fault "a start that is none" ":1:UnixStartTime: bad value 'soon' (expected seconds since 1970)"

# ---- oddities that are none ----
{
	printf ';UnixStartTime:0\n; Installation: Universit\344t\n; Odd: header\n;\n'
	printf '\t 01 0 0 1 4 -1 -1 4 -1 -1 1 -1 -1 -1 -1 -1 -1 -1 77 78\n'
	rec 3 100 0 1 4 4 1
	rec 2 50 0 1 4 4 1
} >"$T/in"
run "blanks, zeros ahead, more fields, disorder, Latin-1 in a comment" 0 gf-trace $G --from swf "$T/in"
cols "job_id submit_s" >"$T/rows"
is "are read" "$T/rows" "1 0
3 100
2 50"
is "and said" "$T/err" \
"gf-trace: warning: $T/in: 1 submission before that of the record above
gf-trace: warning: $T/in: 1 record with more than 18 fields (the rest passed over)
gf-trace: warning: $T/in: 1 header comment not kept (not UTF-8, or more than 64 KiB of them)"
hasnt "a start of 0 is no origin" "$T/out" '^#origin='
{ rec 1 0 0 1 4 4 1; rec 2 1 0 1 4 4 2; rec 2 2 0 1 4 4 3; rec 1 1 0 1 4 4 3; } >"$T/in"
run "partial executions without a summary" 0 gf-trace $G --from swf "$T/in"
has "are missed" "$T/err" ': 1 job with partial executions alone left out$'
printf '; Version: 2.2\n; MaxProcs: 4\n' >"$T/in"
run "a header alone" 0 gf-trace $G --from swf "$T/in"
has "is no error" "$T/err" 'no jobs'
awk 'BEGIN { for (i = 0; i < 20000; i++) print "; Note: number " i " of many notes" }' >"$T/in"
run "a header without end" 0 gf-trace $G --from swf "$T/in"
has "is not kept whole" "$T/err" ': [0-9]+ header comments not kept '
{ echo "; MaxProcs: 3"; rec 1 0 0 1 4 4 1; rec 2 1 0 1 3 3 1; rec 3 1 0 1 -1 5 1; } >"$T/in"
run "jobs larger than the machine" 0 gf-trace $G --from swf "$T/in"
has "are counted, and kept" "$T/err" ': 2 jobs with more processors than MaxProcs 3, such as job 1 on line 2$'
{ rec 1 0 0 1 4 4 1; echo 2 1 0 1 4; rec 3 2 0 x 4 4 1; rec 4 3 0 1 4 4 1; } >"$T/in"
run "--skip-bad" 0 gf-trace $G --skip-bad=2 --from swf "$T/in"
is "by reason" "$T/err" "gf-trace: warning: $T/in: 2 bad records left out (1 ragged row, 1 bad value)"
{ rec 1 0 0 1 4 4 1; rec 2 1 0 1 4 4 1 | sed 's/ -1$//'; } >"$T/in"
run "one number too few is not seen by the eye" 1 gf-trace $G --from swf "$T/in"
is "but here" "$T/err" "gf-trace: $T/in:2: 17 fields, 18 expected"

# ---- there and back ----
# x, as a log, as a table again: the rows are those of x
back() {
	run "$1: --to swf" 0 gf-trace -q --to swf -o "$T/x.swf" "$2"
	run "$1: and back" 0 gf-trace -q --from swf --no-meta "$T/x.swf"
	cp "$T/out" "$T/back"
	run "$1: --to swf again" 0 gf-trace -q --from swf --to swf -o "$T/y.swf" "$T/x.swf"
	same "$1: the same log" "$T/x.swf" "$T/y.swf"
}
back "the sample" "$T/s.tsv"
grep -v '^#' "$T/s.tsv" >"$T/want"
same "the sample: the same rows" "$T/want" "$T/back"
run "the log is recognised" 0 gf-trace --from auto "$T/x.swf"
hasnt "and says itself what its processors are" "$T/err" 'holds processors'
has "the calendar is there again" "$T/out" '^#origin=2022-03-01T00:00:00[+]00:00$'

gf-trace --from pollux $D/trace-pollux.csv >"$T/p.tsv"
back "a workload of names" "$T/p.tsv"
cp "$T/back" "$T/out"
cols "job_id app submit_s gpus" >"$T/rows"
is "names, fractions of a second, GPUs come back" "$T/rows" \
"wren-0 wren 12 3
wren-1 wren 12.5 1
lark-2 lark 47.000001 8
lark, late-3 lark 61.25 2"
run "what does not fit" 0 gf-trace --to swf "$T/p.tsv"
is "is said" "$T/err" "gf-trace: warning: $T/p.tsv: columns without a place in the format: batch_size"
is "the log" "$T/out" \
"; Version: 2.2
; MaxJobs: 4
; MaxRecords: 4
; UnixStartTime: 0
; Note: a processor is a GPU
; Label: job 1 wren-0
; Label: job 2 wren-1
; Label: job 3 lark-2
; Label: job 4 lark, late-3
; Label: app 1 wren
; Label: app 2 lark
1 12 -1 -1 -1 -1 -1 3 -1 -1 -1 -1 -1 1 -1 -1 -1 -1
2 12.5 -1 -1 -1 -1 -1 1 -1 -1 -1 -1 -1 1 -1 -1 -1 -1
3 47.000001 -1 -1 -1 -1 -1 8 -1 -1 -1 -1 -1 2 -1 -1 -1 -1
4 61.25 -1 -1 -1 -1 -1 2 -1 -1 -1 -1 -1 2 -1 -1 -1 -1"

run "sacct to swf in one go" 0 gf-trace --from sacct --to swf -o "$T/d.swf" $D/trace-sacct-d.txt
has "TIMEOUT has no place" "$T/err" ': 1 job with status TIMEOUT or NODE_FAIL written as failed$'
has "nor has RUNNING" "$T/err" ': 3 jobs running or pending, written with an unknown status$'
has "time 0 of the calendar" "$T/d.swf" '^; UnixStartTime: 1679788800$'
gf-trace -q --from sacct -o "$T/d.tsv" $D/trace-sacct-d.txt
cp "$T/d.tsv" "$T/out"
W="job_id user group submit_s start_s duration_s gpus gpu_type mem_mib timelimit_s"
# of a job without GPUs, memory a GPU says nothing; an endless limit is none; a guess of the type is kept
cols "$W" | awk '{ if ($7 == 0) $9 = "NA"; if ($10 == "inf") $10 = "NA"; print }' >"$T/want"
run "and back" 0 gf-trace -q --from swf "$T/d.swf"
cols "$W" >"$T/rows"
same "what fits comes back" "$T/want" "$T/rows"

H='job_id	submit_s	gpus	user	start_s	duration_s	status'
printf '%s\n7	5	2	a \\\\ b\\nc	9	1	OK\n3	5	1	7	5	1	OK\n1	0	0	NA	0	2	OK\n' "$H" >"$T/x.tsv"
back "names of all kinds" "$T/x.tsv"
cp "$T/back" "$T/out"
cols "job_id submit_s gpus user start_s duration_s status" >"$T/rows"
is "ordered by submission, else as they stand" "$T/rows" \
'1 0 0 NA 0 2 OK
7 5 2 a \\ b\nc 9 1 OK
3 5 1 7 5 1 OK'
run "from a store" 0 gf-trace --from pollux $D/trace-pollux.csv -o "$T/s.h5:/jobs"
gf-trace -q --to swf "$T/p.tsv" >"$T/want"
run "to swf" 0 gf-trace -q --to swf "$T/s.h5:/jobs"
same "is the same" "$T/want" "$T/out"

# line VALUES MESSAGE: a table of one row that cannot be exported
line() {
	printf '%s\n%s\n' "$H" "$1" >"$T/x.tsv"
	run "no log: $2" 1 gf-trace --to swf -o "$T/no.swf" "$T/x.tsv"
	is "no log: $2: the message" "$T/err" "gf-trace: $T/x.tsv:2:$2"
	[ ! -e "$T/no.swf" ]
	ok "no log: $2: no file" $?
}
line "1	0	0.5	a	0	1	OK" "gpus: bad value '0.5' (expected a whole number, as the format has no shares)"
line "1	-1	1	a	0	1	OK" "submit_s: out of range '-1' (expected at least 0)"
line "1	NA	1	a	0	1	OK" "submit_s: missing value 'NA' (a log has no way to say that)"
line "1	5	1	a	0	1	OK" "start_s: start before submission (expected times in order)"
line "1	5	1	a	5	-1	OK" "duration_s: out of range '-1' (expected at least 0)"
printf 'job_id	gpus\n1	1\n' >"$T/x.tsv"
run "no submissions" 1 gf-trace --to swf "$T/x.tsv"
is "no submissions: the message" "$T/err" "gf-trace: $T/x.tsv: no column 'submit_s' (expected job_id, submit_s and gpus)"
printf '%s\n1	0	NA	a	0	1	OK\n' "$H" >"$T/x.tsv"
run "a job of unknown size" 0 gf-trace --to swf "$T/x.tsv"
has "is written, and counted" "$T/err" ': 1 job without a count of GPUs, which most readers leave out$'

# ---- the usual records have a way of their own ----
# a tab between fields sends a record the long way: both give the same rows, and the same faults
both_ways() {
	tr ' ' '\t' <"$T/in" >"$T/tabs"
	gf-trace --no-meta --skip-bad=1000000 $G --from swf "$T/in" >"$T/quick" 2>"$T/quick.err"
	echo $? >>"$T/quick.err"
	gf-trace --no-meta --skip-bad=1000000 $G --from swf "$T/tabs" >"$T/long" 2>"$T/long.err"
	echo $? >>"$T/long.err"
	sed -i "s|$T/[a-z]*||; s/	/ /g" "$T/quick.err" "$T/long.err"
	same "$1: the same rows" "$T/quick" "$T/long"
	same "$1: the same is said" "$T/quick.err" "$T/long.err"
}
awk 'BEGIN { srand(7)
	n = split("-1 0 1 7 10 99 512 12345678 123456789 4000000000 4000000001 123456789012345678 " \
		"1234567890123456 12345678901234567 1-1 01 -01 10- " \
		"1234567890123456789 -2 007 00 0.5 -1.0 x 1e3 - -11 +4 1- 5 4 2 3", odd, " ")
	for (i = 1; i <= 4000; i++) {
		s = i
		for (k = 2; k <= 18; k++) {
			v = rand() < .02 ? odd[1 + int(rand() * n)] : rand() < .4 ? -1 : int(10 ^ (rand() * 5))
			if (k == 11)
				v = rand() < .1 ? odd[1 + int(rand() * n)] : rand() < .5 ? 1 : 5 * int(rand() * 2)
			s = s (rand() < .05 ? "  " : " ") v
		}
		print (rand() < .05 ? " " : "") s (rand() < .02 ? " 19" : "") (rand() < .05 ? " " : "")
	}
}' >"$T/in"
both_ways "records of all kinds"
[ "$(wc -l <"$T/quick")" -gt 1500 ]
ok "and most of them are good" $?
# lines that end where words of 64 bytes do
for n in 62 63 64 65 66 126 127 128 129; do
	awk -v n=$n 'BEGIN { s = "1 5 0 9 4 -1 -1 4 -1 -1 1 1 2 3 4 5 -1"
		while (length(s) + 3 < n) sub(/ /, "  ", s)
		print substr(s, 1, n - 3) " -1" }'
done | awk '{ sub(/1/, NR); print }' >"$T/in"
both_ways "lines of many lengths"
lines "and all are taken" "$T/quick" 10
for a in 2 10 300; do
	for order in up down; do
		awk -v a=$a -v order=$order 'BEGIN { for (i = 1; i <= 40; i++)
			print (order == "up" ? i : 41 - i) * a, i, "0 1 1 -1 -1 1 -1 -1 1 1 1 1 1 1 -1 -1" }' >"$T/in"
		run "ids $order by $a" 0 gf-trace $G -q --from swf -o "$T/q.tsv" "$T/in"
		sed -n 17p "$T/in" >>"$T/in"
		fault "an id of these again, $order by $a" ":41:job number: duplicate id '$(sed -n 17p "$T/in" |
			cut -d ' ' -f 1)' (first on line 17)"
	done
done
