# SPDX-License-Identifier: MIT
# Job logs of Helios and Acme.
. tests/cli/lib.sh
D=tests/data
H=job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue

# fault NAME MESSAGE: $T/bad fails with that message after its name, and writes nothing
fault() {
	refuses "$1" 1 "gf-trace: $T/bad$2" gf-trace --from helios "$T/bad"
}
# rows NAME FORMAT LINE...: a file of these lines is read
rows() {
	tap_name=$1 tap_format=$2
	shift 2
	printf '%s\n' "$@" >"$T/x"
	run "$tap_name" 0 gf-trace -v --from "$tap_format" "$T/x"
}

run "helios" 0 gf-trace --from helios $D/trace-helios.csv
golden "the canonical table" "$T/out" $D/trace-helios.tsv
is "what is said about it" "$T/err" \
	"gf-trace: warning: $D/trace-helios.csv: 1 value put right (1 duration against the times)"
cp "$T/out" "$T/helios"
run "acme, Seren" 0 gf-trace --from acme $D/trace-acme-seren.csv
golden "the canonical table of Seren" "$T/out" $D/trace-acme-seren.tsv
is "nothing to say" "$T/err" ""
run "acme, Kalos" 0 gf-trace --from acme $D/trace-acme-kalos.csv
golden "the canonical table of Kalos" "$T/out" $D/trace-acme-kalos.tsv
is "its durations count the queue" "$T/err" "gf-trace: warning: $D/trace-acme-kalos.csv: the duration of 2 jobs \
counts the time in the queue (taken from start and end instead)"
for f in helios acme-seren acme-kalos; do
	run "$f is recognised" 0 gf-trace --from auto $D/trace-$f.csv
	has "as what it is" "$T/err" ": recognised ${f%%-*} \(header has job_id,"
done

# ---- bytes ----
{ printf '\357\273\277'; sed 's/$/\r/' $D/trace-helios.csv; } >"$T/x"
run "byte order mark and CRLF" 0 gf-trace -q --from helios "$T/x"
same "the same bytes" "$T/helios" "$T/out"
{
	cat $D/trace-helios.csv
	echo "$H"
	echo '900010,u,v,1,8,1,COMPLETED,2020-07-01 09:00:00,2020-07-01 09:00:00,2020-07-01 09:30:00,1800,0'
} >"$T/x"
run "a header row again" 0 gf-trace --from helios "$T/x"
has "is passed over with a note" "$T/err" ': 1 more header row passed over$'
has "and the job behind it is read" "$T/out" '^900010	'
printf '%s\n' "queue,$H" | sed 's/,queue$//' >"$T/x"
echo '5,900011,u,v,1,8,1,COMPLETED,2020-07-01 09:00:00,2020-07-01 09:00:05,2020-07-01 09:30:05,1800' >>"$T/x"
run "columns in another order" 0 gf-trace --from helios "$T/x"
has "are found by name" "$T/out" '^900011	u	v	32400	32405	34205	1800	1	OK	8	1$'

# ---- missing, running, waiting ----
rows "words for missing" helios "$H" \
	'1,NA,,0,,,COMPLETED,2020-07-01 08:00:00,None,NaN,Unknown,NULL'
has "are missing" "$T/out" '^1	NA	NA	28800	NA	NA	NA	0	OK	NA	NA$'
rows "a running job" helios "$H" \
	'1,u,v,2,4,1,RUNNING,2020-07-01 08:00:00,2020-07-01 08:00:10,2020-07-02 00:00:00,57590,10' \
	'2,u,v,2,4,1,PENDING,2020-07-01 08:00:00,,,,'
has "is censored" "$T/out" '^1	u	v	28800	28810	NA	NA	2	RUNNING	4	1$'
has "a waiting one never started" "$T/out" '^2	u	v	28800	NA	NA	NA	2	PENDING	4	1$'
has "both are counted" "$T/err" ': 1 running at the end \(censored\), 1 never started$'
rows "a suspended job" helios "$H" \
	'1,u,v,2,4,1,SUSPENDED,2020-07-01 08:00:00,2020-07-01 08:00:10,2020-07-01 08:10:10,600,10'
has "is neither done nor failed" "$T/out" '^1	.*	600	2	UNKNOWN	'

# ---- times against one another ----
rows "an end before the start" helios "$H" \
	'1,u,v,2,4,1,FAILED,2020-07-01 08:00:00,2020-07-01 08:10:00,2020-07-01 08:05:00,,600'
has "has no duration" "$T/out" '^1	u	v	28800	29400	NA	NA	2	FAILED	4	1$'
has "and is counted" "$T/err" ': 1 value put right \(1 end before start\)$'
rows "a start before the submission" helios "$H" \
	'1,u,v,2,4,1,FAILED,2020-07-01 08:00:00,2020-07-01 07:59:00,2020-07-01 08:05:00,360,-60'
has "has no queue, but a duration" "$T/out" '^1	u	v	28800	NA	29100	360	2	FAILED	4	1$'
rows "start and end before the submission" helios "$H" \
	'1,u,v,2,4,1,FAILED,2020-07-01 08:00:00,2020-07-01 07:00:00,2020-07-01 07:30:00,,'
has "are both missing" "$T/out" '^1	u	v	28800	NA	NA	NA	2	FAILED	4	1$'
run "--bad-times clip" 0 gf-trace -q --bad-times clip --from helios "$T/x"
has "leaves a job of no length, not of a negative one" "$T/out" '^1	u	v	28800	28800	28800	0	2	FAILED	4	1$'
run "--bad-times keep" 0 gf-trace -q --bad-times keep --from helios "$T/x"
has "leaves it as it stands" "$T/out" '^1	u	v	28800	25200	27000	1800	2	FAILED	4	1$'
rows "a queue that the times contradict" helios "$H" \
	'1,u,v,2,4,1,FAILED,2020-07-01 08:00:00,2020-07-01 08:10:00,2020-07-01 08:20:00,600,6'
has "is counted, the times win" "$T/err" ': 1 value put right \(1 queue against the times\)$'
run "--strict" 1 gf-trace --strict --from helios "$T/x"
is "writes nothing" "$T/out" ""

# ---- order ----
printf '%s\n' "$H" '1,u,v,2,4,1,FAILED,2020-07-03 08:00:00,,,,' '2,u,v,2,4,1,FAILED,2020-07-03 00:00:00,,,,' \
	'3,u,v,2,4,1,FAILED,2020-07-02 23:59:59,,,,' >"$T/bad"
fault "a submission before the first midnight" ":4: submission '2020-07-02T23:59:59' before the origin \
2020-07-03T00:00:00, the midnight before the first row (expected rows in order, or --sort)"
run "--skip-bad=1" 0 gf-trace --from helios --skip-bad=1 "$T/bad"
has "counts it by that reason" "$T/err" '1 bad record left out \(1 before the origin\)$'
run "--sort" 0 gf-trace --no-meta --from helios --sort "$T/bad"
is "has another origin, and another order" "$T/out" \
"job_id	user	group	submit_s	start_s	end_s	duration_s	gpus	status	cpus	nodes
3	u	v	86399	NA	NA	NA	2	FAILED	4	1
2	u	v	86400	NA	NA	NA	2	FAILED	4	1
1	u	v	115200	NA	NA	NA	2	FAILED	4	1"
run "--sort and --no-sort" 2 gf-trace --from helios --sort --no-sort "$T/bad"

# ---- faults ----
printf '%s\n' "$H" '1,u,v,-1,4,1,FAILED,2020-07-03 08:00:00,,,,' >"$T/bad"
fault "-1 GPUs" ":2:gpu_num: out of range '-1' (expected at least 0)"
printf '%s\n' "$H" '1,u,v,1,4,1,DONE,2020-07-03 08:00:00,,,,' >"$T/bad"
fault "an unknown state" ":2:state: bad value 'DONE' (expected a state of Slurm such as COMPLETED)"
printf '%s\n' "$H" '1,u,v,1,4,1,FAILED,03/07/2020 08:00,,,,' >"$T/bad"
fault "a time of another kind" ":2:submit_time: bad value '03/07/2020 08:00' (expected YYYY-MM-DD HH:MM:SS)"
printf '%s\n' "$H" '1,u,v,1,4,1,FAILED,2020-07-03 08:00:00,2020-07-03 08:00:00Z,,,' >"$T/bad"
fault "an offset in one of the times" ":2:start_time: bad value '2020-07-03 08:00:00Z' (times with and without \
offset in one trace; expected --tz)"
printf '%s\n' "$H" '1,u,v,1,4,1,FAILED,2020-07-03 08:00:00,,,' >"$T/bad"
fault "a field too few" ":2: 11 fields, 12 expected"
printf '%s\n' 'job_id,user,gpu_num' >"$T/bad"
run "columns that are missing" 1 gf-trace --from helios "$T/bad"
has "are named" "$T/err" ":1: no column '[a-z_]*' \(found job_id, user, gpu_num\)\$"
printf '%s\n' "$H" '9007199254740993,u,v,1,4,1,FAILED,2020-07-03 08:00:00,,,,' \
	'9007199254740992,u,v,1,4,1,FAILED,2020-07-03 08:00:00,,,,' >"$T/x"
run "ids beyond 2^53" 0 gf-trace --from helios "$T/x"
has "are kept apart" "$T/out" '^9007199254740993	'

# ---- what spreadsheets make of it ----
for by in ';' '	' '|'; do
	tr , "$by" <$D/trace-helios.csv >"$T/x"
	for from in helios auto; do
		run "fields separated by '$by', --from $from" 0 gf-trace -q --no-meta --from $from "$T/x"
		grep -v '^#' $D/trace-helios.tsv >"$T/want"
		same "the same rows" "$T/want" "$T/out"
	done
done
sed -n 1,2p $D/trace-helios.csv | sed '2s/,8,/,"8,5",/' >"$T/bad"
fault "a decimal comma" ":2:gpu_num: bad value '8,5' (expected a number)"

# ---- zones ----
run "Seren in UTC" 0 gf-trace --from acme --tz UTC $D/trace-acme-seren.csv
has "has another midnight" "$T/out" '^#origin=2023-07-11T00:00:00\+00:00$'
has "and the same instants" "$T/out" '^5551	u01	Other	57000	57060	57660	600	8	OK	96	1$'
rows "naive times in a zone" helios "$H" \
	'1,u,v,2,4,1,FAILED,2020-03-08 01:59:00,2020-03-08 03:01:00,2020-03-08 03:30:00,,'
run "over the hour that spring leaves out" 0 gf-trace -q --from helios --tz US/Pacific "$T/x"
has "wait two minutes" "$T/out" '^1	u	v	7140	7260	9000	1740	2	FAILED	4	1$'
printf 'TZif' >"$T/zone"
run "a damaged file of a zone" 1 gf-trace --from helios --tz "$T/zone" "$T/x"
is "is an error" "$T/err" "gf-trace: $T/zone: no file of a time zone, or a damaged one (expected TZif)"
if [ -f /usr/share/zoneinfo/Europe/Berlin ]; then
	rows "autumn in Berlin" helios "$H" '1,u,v,2,4,1,FAILED,2023-10-28 23:00:00,2023-10-29 02:50:00,2023-10-29 02:10:00,,' \
		'2,u,v,2,4,1,FAILED,2023-10-29 03:00:00,2023-10-29 03:00:00,2023-10-29 04:00:00,,'
	for zone in Europe/Berlin CET-1CEST,M3.5.0,M10.5.0/3 /usr/share/zoneinfo/Europe/Berlin; do
		TZ=Asia/Tokyo TZDIR=/no/such run "--tz $zone" 0 gf-trace -q --from helios --tz $zone "$T/x"
		has "the second of two equal hours comes next" "$T/out" '^1	u	v	82800	96600	97800	1200	'
		has "the day has 25 hours" "$T/out" '^2	u	v	100800	100800	104400	3600	'
	done
	run "the file of the zone is an input" 0 gf-trace -q --from helios --tz Europe/Berlin "$T/x"
	has "with its hash" "$T/out" '^#input_tz=[0-9a-f]*$'
	run "names of the machine's own zone" 2 gf-trace --from helios --tz localtime "$T/x"
	has "are none" "$T/err" "^gf-trace: bad zone 'localtime' "
else
	skip "no tz database" 13
fi
