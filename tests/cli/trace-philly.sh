# SPDX-License-Identifier: MIT
# The job log of Philly: a big JSON array, attempts, summer time, damaged files.
. tests/cli/lib.sh
D=tests/data
S=$D/trace-philly-sample.json

# fault NAME MESSAGE: $T/bad fails with that message after its name, and writes nothing
fault() {
	refuses "$1" 1 "gf-trace: $T/bad$2" gf-trace --from philly "$T/bad"
}
# job TEXT...: one job whose members besides jobid and submitted_time are TEXT
job() {
	printf '{"jobid":"application_1_%d","submitted_time":"2017-10-09 08:00:00"%s}' "$1" "$2"
}
# attempt START END GPUS
attempt() {
	printf '{"start_time":%s,"end_time":%s,"detail":[{"ip":"m1","gpus":[%s]}]}' "$1" "$2" "$3"
}

run "the sample" 0 gf-trace --from philly --machines $D/trace-philly-machines.csv $S
golden "the canonical table" "$T/out" $D/trace-philly-sample.tsv
cp "$T/out" "$T/jobs.tsv"
is "what is said about it" "$T/err" "\
gf-trace: warning: $S: 1 job without attempts (GPUs and times are missing)
gf-trace: warning: $S: 2 jobs with attempts that are half recorded (the duration is missing)
gf-trace: warning: $S: 1 job with another number of GPUs in a later attempt (those of the first count)
gf-trace: warning: $S: the machine list contradicts the job log on 1 machine, such as m2: 2 GPUs listed, \
6 used by application_1500000000000_0003 (the job log holds)
gf-trace: warning: $S: 1 machine of the job log is not in the machine list
gf-trace: warning: $S: 1 value put right (1 end before start)"
run "-q" 0 gf-trace -q --from philly --machines $D/trace-philly-machines.csv $S
is "silences all of it" "$T/err" ""
run "recognised" 0 gf-trace --from auto --machines $D/trace-philly-machines.csv $S
has "with the reason" "$T/err" ': recognised philly \(JSON whose objects have jobid, submitted_time and attempts\)$'
same "the same table" "$T/jobs.tsv" "$T/out"

# ---- bytes that mean the same ----
grep -v -e '^#input=' "$T/jobs.tsv" >"$T/want"
alike() {	# NAME FILE
	run "$1" 0 gf-trace -q --from philly --machines $D/trace-philly-machines.csv "$2"
	grep -v -e '^#input=' "$T/out" >"$T/found"
	same "$1: the same rows" "$T/want" "$T/found"
}
{ printf '\357\273\277'; cat $S; } >"$T/x"
alike "a byte order mark" "$T/x"
sed 's/$/\r/' $S >"$T/x"
alike "CRLF" "$T/x"
printf '%s' "$(cat $S)" >"$T/x"
alike "no line feed at the end" "$T/x"
tr -d '\n' <$S >"$T/x"
alike "one line" "$T/x"
gzip -c $S >"$T/x"
alike "gzip" "$T/x"
if command -v zstd >/dev/null 2>&1; then
	zstd -q -c $S >"$T/x"
	alike "zstd" "$T/x"
else
	skip "no zstd" 2
fi
{
	sed -n 1,4p $S | sed '4s/,$//'
	echo ']'
	echo '['
	sed -n '5,$p' $S
} >"$T/x"
alike "two arrays one behind the other" "$T/x"
tr -d '\n' <$S | sed 's/^\[//; s/\]$//; s/, {"status"/\n{"status"/g' >"$T/x"
alike "JSON lines" "$T/x"

# ---- summer time ----
run "--tz US/Pacific" 0 gf-trace -q --from philly --tz US/Pacific $S
has "the origin has an offset" "$T/out" '^#origin=2017-11-04T00:00:00-07:00$'
has "a run through the repeated hour lasts twenty minutes" "$T/out" '_0008	.*	93000	94200	1200	1	OK	'
has "a day of 25 hours" "$T/out" '_0009	.*	118800	118830	NA	NA	0	RUNNING	'
cp "$T/out" "$T/tz"
run "the rule spelled out" 0 gf-trace -q --from philly --tz PST8PDT,M3.2.0,M11.1.0 $S
grep -v '^#tz=' "$T/out" >"$T/a"
grep -v '^#tz=' "$T/tz" >"$T/b"
same "says the same" "$T/a" "$T/b"
run "--tz is no zone" 2 gf-trace --from philly --tz Mars $S
run "--bad-times clip" 0 gf-trace -q --from philly --bad-times clip $S
has "the end becomes the start" "$T/out" '_0008	.*	93000	93000	0	1	OK	'
run "--bad-times fail" 1 gf-trace --from philly --bad-times fail $S
has "names the line" "$T/err" ":8:end_s: 2400 s before the start \(expected times in order\)\$"
run "--bad-times fail --skip-bad=1" 0 gf-trace --from philly --bad-times fail --skip-bad=1 $S
has "leaves it out, and says so" "$T/err" '1 bad record left out'
hasnt "it is gone" "$T/out" '_0008	'
run "-v" 0 gf-trace -v --from philly $S
has "lists what was put right" "$T/err" ":8:end_s: 2400 s before the start, taken as missing\$"
run "--strict" 1 gf-trace --strict --from philly $S
run "--no-sort" 0 gf-trace -q --no-meta --from philly --no-sort $S
cut -f 1 "$T/out" | sed 's/.*_//' | paste -s -d ' ' - >"$T/order"
is "keeps the order of the file" "$T/order" "id 0003 0001 0007 0008 0009 0010"
sed 's/2017-11-04 18:00:00/2017-11-03 18:00:00/' $S >"$T/x"
run "--no-sort, and a job of the day before" 1 gf-trace -q --from philly --no-sort "$T/x"
has "names the line and --sort" "$T/err" ":5: submission '2017-11-03T18:00:00' before the origin .* or --sort\)\$"

# ---- no JSON, or half of it ----
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n' >"$T/bad"
fault "a Git LFS pointer" ":1: Git LFS pointer, not the data (expected the file that 'git lfs pull' fetches)"
: >"$T/bad"
fault "an empty file" ": empty file (expected a JSON array)"
printf '\377\376[\000\000\334' >"$T/bad"
fault "half of a pair of UTF-16" ":1: invalid UTF-16 (half of a surrogate pair)"
head -c 700 $S >"$T/bad"
fault "cut inside of a string" ":7: cut short at byte 700 (expected the end of the element that starts on line \
6 at byte 545)"
sed -n 1,4p $S | sed '4s/,$//' >"$T/bad"
fault "cut between two elements" ":5: cut short at byte 397 (expected ',' or ']')"
printf '[%s %s]' "$(job 1 '')" "$(job 2 '')" >"$T/bad"
fault "no comma" ":1: '{' at byte 68 (expected ',' or ']')"
printf '[%s,]' "$(job 1 '')" >"$T/bad"
fault "a comma too many" ":1: ']' at byte 68 (expected an element)"
printf '[%s] x' "$(job 1 '')" >"$T/bad"
fault "text behind the array" ":1: 'x' at byte 69 (expected '[')"
printf '[{"jobid":["a"}]' >"$T/bad"
fault "brackets that do not match" ":1: '}' at byte 14 (expected ']')"
awk 'BEGIN { printf "[{\"a\":"; for (i = 0; i < 100000; i++) printf "[" }' >"$T/bad"
fault "a hundred thousand levels" ":1: too deep at byte 69 (expected at most 64 levels)"
awk 'BEGIN { printf "[{\"a\":\""; for (i = 0; i < 5000000; i++) printf "x"; printf "\"}]" }' >"$T/bad"
run "five megabytes in one element" 1 gf-trace --from philly "$T/bad"
has "are too many" "$T/err" ':1: too long an element \(expected at most 4194304 bytes; it starts on line 1\)$'
awk 'BEGIN { printf "[{\"a\":["; for (i = 0; i < 600000; i++) printf "1,"; printf "1]}]" }' >"$T/bad"
run "too many values in one element" 1 gf-trace --from philly "$T/bad"
has "are refused" "$T/err" ':1: too many values in an element'

# ---- elements that are wrong ----
printf '[\n%s,\n{"jobid":"b",nonsense},\n%s]' "$(job 1 '')" "$(job 3 '')" >"$T/bad"
run "an element that is no JSON" 1 gf-trace --from philly "$T/bad"
has "by line and byte" "$T/err" ":3: .* at byte [0-9]+ \(expected a JSON value\)\$"
run "--skip-bad=1 goes on behind it" 0 gf-trace --from philly --skip-bad=1 "$T/bad"
has "and counts it" "$T/err" ': 1 bad record left out \(1 bad JSON\)$'
has "the job behind it is there" "$T/out" '^application_1_3	'
printf '[7]' >"$T/bad"
fault "a number" ":1: an element that is no object"
printf '[{"submitted_time":"2017-10-09 08:00:00"}]' >"$T/bad"
fault "no jobid" ":1:jobid: missing value (expected a text)"
printf '[%s,\n%s]' "$(job 1 '')" "$(job 1 '')" >"$T/bad"
fault "the same jobid twice" ":2:jobid: duplicate id 'application_1_1' (first on line 1)"
run "--no-unique" 0 gf-trace -q --from philly --no-unique "$T/bad"
has "does not look" "$T/out" '^#end rows=2$'
printf '[%s]' "$(job 1 ',"status":"Bored"')" >"$T/bad"
fault "an unknown status" ":1:status: bad value 'Bored' (expected Pass, Killed or Failed)"
printf '[%s]' "$(job 1 ',"attempts":{}')" >"$T/bad"
fault "attempts that are no list" ":1:attempts: no list in job 'application_1_1'"
printf '[%s]' "$(job 1 ",\"attempts\":[$(attempt '"2017-10-09 8:00"' null '"gpu0"')]")" >"$T/bad"
fault "a time that is none" ":1:start_time: bad value '2017-10-09 8:00' (expected YYYY-MM-DD HH:MM:SS)"
printf '[%s]' "$(job 1 ",\"attempts\":[$(attempt '"2017-02-29 08:00:00"' null '"gpu0"')]")" >"$T/bad"
fault "a day that is none" ":1:start_time: no such time '2017-02-29 08:00:00' (expected YYYY-MM-DD HH:MM:SS)"
printf '[%s]' "$(job 1 ",\"attempts\":[$(attempt null null '"gpu0","gpu0"')]")" >"$T/bad"
fault "a GPU twice" ":1:gpus: a GPU twice on one machine in job 'application_1_1'"
printf '[%s]' "$(job 1 ",\"attempts\":[$(attempt null null '"tpu0"')]")" >"$T/bad"
fault "no GPU" ":1:gpus: not a GPU (expected gpu0 to gpu63) in job 'application_1_1'"
printf '[%s,%s]' "$(job 1 ",\"attempts\":[$(attempt '"2017-10-09 08:01:00+00:00"' null '"gpu0"')]")" \
	"$(job 2 '')" >"$T/bad"
run "times with and without offset" 1 gf-trace --from philly "$T/bad"
has "are refused without --tz" "$T/err" ':start_time: .*times with and without offset in one trace; expected --tz'
run "and fine with it" 0 gf-trace -q --from philly --tz UTC "$T/bad"

printf '[]' >"$T/x"
run "an array of nothing" 0 gf-trace --from philly "$T/x"
has "is an empty table" "$T/out" '^#end rows=0$'
has "with a warning" "$T/err" 'no jobs'
printf '[%s]' "$(job 1 ",\"status\":\"Pass\",\"attempts\":[$(attempt '"2017-10-09 09:00:00"' \
	'"2017-10-09 10:00:00"' ''),$(attempt '"2017-10-09 08:30:00"' '"2017-10-09 08:40:00"' '')]")" >"$T/x"
run "attempts out of order" 0 gf-trace -q --from philly --attempts span "$T/x"
has "have no span" "$T/out" '^application_1_1	.*	28800	32400	NA	NA	0	OK	2	'

# ---- machine lists ----
for bad in 'machineId,number of GPUs\nm1,8\nm1,4\n' 'machine,gpus\nm1,8\n' 'machineId,number of GPUs\nm1,-8\n'; do
	# shellcheck disable=SC2059
	printf "$bad" >"$T/list"
	run "a bad machine list" 1 gf-trace -q --from philly --machines "$T/list" $S
	has "is named" "$T/err" "^gf-trace: $T/list:[0-9]"
done
run "a machine list that is not there" 3 gf-trace -q --from philly --machines "$T/none" $S
run "a machine list for another format" 2 gf-trace --from pollux --machines "$T/list" $D/trace-pollux.csv
