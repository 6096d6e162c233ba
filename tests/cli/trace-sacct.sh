# SPDX-License-Identifier: MIT
# gf-trace --from sacct: the sample, and the troubles that output of sacct has (docs/formats/sacct.md).
. tests/cli/lib.sh
D=tests/data
H='JobID|State|Submit|Start|End|Elapsed|ReqTRES|AllocTRES'

# read NAME COLUMNS WANT [OPTION…]: $T/in as a table
read_in() {
	tap_what=$1 tap_cols=$2 tap_rows=$3
	shift 3
	run "$tap_what" 0 gf-trace --from sacct "$@" "$T/in"
	cols "$tap_cols" >"$T/rows"
	is "$tap_what: the rows" "$T/rows" "$tap_rows"
}

# fault NAME MESSAGE [OPTION…]: $T/in fails with that message after its name, and writes nothing
fault() {
	fault_name=$1 fault_want=$2
	shift 2
	refuses "$fault_name" 1 "gf-trace: $T/in$fault_want" gf-trace --from sacct "$@" "$T/in"
}

# put HEADING LINE…: $T/in
put() {
	printf '%s\n' "$@" >"$T/in"
}

# ---- the sample ----
run "the sample" 0 gf-trace --from sacct -o "$T/d.tsv" $D/trace-sacct-d.txt
golden "its table" "$T/d.tsv" $D/trace-sacct-d.tsv
is "what is said" "$T/err" \
"gf-trace: warning: $D/trace-sacct-d.txt: 1 pending, 2 running (censored), 1 never started
gf-trace: warning: $D/trace-sacct-d.txt: 1 requeued job, 2 earlier attempts joined (--attempts)
gf-trace: warning: $D/trace-sacct-d.txt: 2 job steps passed over
gf-trace: warning: $D/trace-sacct-d.txt: 1 repeated heading passed over
gf-trace: warning: $D/trace-sacct-d.txt: 1 row for arrays that are not split yet, with 4 pending tasks
gf-trace: warning: $D/trace-sacct-d.txt: 2 components of heterogeneous jobs as jobs of their own
gf-trace: warning: $D/trace-sacct-d.txt: 1 record with Start = End and no nodes (taken as never started)"
run "-q" 0 gf-trace -q --from sacct -o "$T/q.tsv" $D/trace-sacct-d.txt
is "says nothing" "$T/err" ""
same "and gives the same" "$T/d.tsv" "$T/q.tsv"
run "--from auto" 0 gf-trace --from auto -o "$T/q.tsv" $D/trace-sacct-d.txt
has "knows it" "$T/err" ': recognised sacct [(]heading has JobIDRaw and State, with .[|]. between[)]$'
same "and gives the same" "$T/d.tsv" "$T/q.tsv"
{ printf '\357\273\277'; sed 's/$/\r/' $D/trace-sacct-d.txt; } >"$T/crlf"
run "byte order mark and CRLF" 0 gf-trace -q --from sacct -o "$T/q.tsv" "$T/crlf"
same "the same table, hash and all" "$T/d.tsv" "$T/q.tsv"
printf %s "$(cat $D/trace-sacct-d.txt)" | gzip -c >"$T/cut.gz"
run "gzip, and no last line feed" 0 gf-trace -q --from sacct -o "$T/q.tsv" "$T/cut.gz"
same "the same table" "$T/d.tsv" "$T/q.tsv"
sed 's/$/|/' $D/trace-sacct-d.txt | grep -v '^|$' >"$T/p"
run "sacct -p" 0 gf-trace -q --from sacct -o "$T/q.tsv" "$T/p"
grep -v '^#' "$T/d.tsv" >"$T/want"
grep -v '^#' "$T/q.tsv" >"$T/found"
same "the same rows" "$T/want" "$T/found"
sed 's/|/;;/g' $D/trace-sacct-d.txt >"$T/semicolons"
run "--delimiter of two characters" 0 gf-trace -q --delimiter ';;' --from sacct "$T/semicolons"
grep -v '^#' "$T/out" >"$T/found"
same "the same rows" "$T/want" "$T/found"
run "the same without --delimiter" 1 gf-trace --from sacct "$T/semicolons"
has "asks for it" "$T/err" ":1: no '[|]' in the heading 'JobID;;.*expected sacct --parsable2, or --delimiter"

# ---- requeues ----
put "$H" "7|COMPLETED|2024-01-01T10:00:00|2024-01-01T10:05:00|2024-01-01T10:25:00|00:20:00|cpu=1|cpu=1" \
	"7|PREEMPTED|2024-01-01T08:00:00|2024-01-01T08:10:00|2024-01-01T10:00:00|01:50:00|cpu=1|cpu=1" \
	"8|COMPLETED|2024-01-01T09:00:00|2024-01-01T09:00:00|2024-01-01T09:00:01|00:00:01|cpu=1|cpu=1"
C="job_id submit_s start_s end_s duration_s status attempts"
read_in "an earlier attempt may come later in the file" "$C" \
"7 28800 29400 37500 7800 OK 2
8 32400 32400 32401 1 OK 1"
read_in "--attempts span" "$C" \
"7 28800 29400 37500 8100 OK 2
8 32400 32400 32401 1 OK 1" --attempts span
read_in "--attempts first" "$C" \
"7 28800 29400 37500 6600 OK 2
8 32400 32400 32401 1 OK 1" --attempts first
read_in "--attempts last" "$C" \
"8 32400 32400 32401 1 OK 1
7 36000 36300 37500 1200 OK 2" --attempts last --sort
read_in "--no-sort keeps the order of the file" "$C" \
"7 28800 29400 37500 7800 OK 2
8 32400 32400 32401 1 OK 1" --no-sort
put "$H" "7|REQUEUED|2024-01-01T08:00:00|2024-01-01T08:10:00|2024-01-01T10:00:00|01:50:00|cpu=1|cpu=1" \
	"7|PENDING|2024-01-01T10:00:00|Unknown|Unknown|00:00:00|cpu=1|"
read_in "waiting again" "job_id start_s end_s duration_s status attempts elapsed_s" \
	"7 NA NA NA PENDING 2 6600"
put "$H" "7|RUNNING|2024-01-01T08:00:00|2024-01-01T08:10:00|Unknown|00:50:00|cpu=1|cpu=1" \
	"9|PENDING|2024-01-01T08:30:00|Unknown|Unknown|00:00:00|cpu=1|" \
	"$H" "7|COMPLETED|2024-01-01T08:00:00|2024-01-01T08:10:00|2024-01-01T10:00:00|01:50:00|cpu=1|cpu=1" \
	"9|RUNNING|2024-01-01T08:30:00|2024-01-01T09:00:00|Unknown|01:00:00|cpu=1|cpu=1"
read_in "two exports that overlap: the last look at an attempt counts" \
	"job_id status attempts duration_s elapsed_s" \
"7 OK 1 6600 NA
9 RUNNING 1 NA 3600"
has "which is counted" "$T/err" '2 records that came again'
put 'JobID|User|State|Submit|ReqTRES' '7|mia|PENDING|2024-01-01T08:00:00|cpu=1' \
	'7|noor|PENDING|2025-01-01T08:00:00|cpu=1'
fault "a number that another user got later" ":3:JobID: duplicate id '7' (of another user on line 2)"
put 'Cluster|JobID|State|Submit|ReqTRES' 'one|7|PENDING|2024-01-01T08:00:00|cpu=1' \
	'two|7|PENDING|2024-01-01T08:00:01|cpu=1'
read_in "two clusters with the same ids" "job_id attempts" "one:7 1
two:7 1"
fault "which needs all rows" ":3:Cluster: another cluster 'two', whose ids may be the same (expected \
one, or no --no-sort and --no-unique)" --no-sort
sed -i 3d "$T/in"
read_in "one cluster needs no prefix" "job_id" "7"

# ---- headings ----
put "$H" "7|RUNNING|2024-01-01T08:00:00|2024-01-01T08:10:00|Unknown|00:50:00|cpu=1|cpu=1" \
	"State|JobIDRaw|AllocTRES|Submit" "PENDING|8||2024-01-01T09:00:00"
read_in "another heading among the records counts from there" "job_id status submit_s" \
"7 RUNNING 28800
8 PENDING 32400"
put "jobid|STATE|submit|reqtres" "8|pending|2024-01-01T09:00:00|cpu=1"
read_in "names and states in any case" "job_id status" "8 PENDING"
put "8|PENDING|2024-01-01T09:00:00|cpu=1"
fault "no heading" ":1: no heading (expected column names; sacct without --noheader)"
put "JobID|State|ReqTRES" "8|PENDING|cpu=1"
fault "no Submit" ":1: no column 'Submit' (found JobID|State|ReqTRES)"
put "JobID|State|Submit" "8|PENDING|2024-01-01T09:00:00"
fault "no GPUs" ":1: no column 'AllocTRES' or 'ReqTRES' (found JobID|State|Submit)"
put "JobID|State|Submit|ReqTRES|State" "8|PENDING|2024-01-01T09:00:00|cpu=1|PENDING"
fault "a column twice" ":1: duplicate column 'State'"
put "$H"
run "a heading alone" 0 gf-trace --from sacct "$T/in"
has "is no error" "$T/err" 'no jobs'
: >"$T/in"
fault "an empty file" ": empty file (expected a heading of sacct)"
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n' >"$T/in"
fault "a Git LFS pointer" ":1: Git LFS pointer, not the data (expected the file that 'git lfs pull' fetches)"

# ---- ids ----
put "JobID|State|Submit|ReqTRES" "1_7|PENDING|2024-01-01T08:00:00|cpu=1" \
	"1_[8-9,...]|PENDING|2024-01-01T08:00:00|cpu=1" "3+1|PENDING|2024-01-01T08:00:00|cpu=1" \
	"4.extern|||" "1_7.batch|||" "3+0.0|||" "9223372036854775809|PENDING|2024-01-01T08:00:00|cpu=1"
read_in "steps are none, whatever they are steps of" "job_id" "1_7
1_[8-9,...]
3+1
9223372036854775809"
has "three of them" "$T/err" '3 job steps passed over'
for id in '' x 12a 1_ '1_[' '1_[2-1]' 3+ 4. '1 2' -7; do
	put "State|Submit|ReqTRES|JobID" "PENDING|2024-01-01T08:00:00|cpu=1|$id"
	run "no id '$id'" 1 gf-trace --from sacct "$T/in"
	has "is named '$id'" "$T/err" ":2:JobID: bad value '.*expected a job id such as 123, 123_4, 123[+]1 or 123.batch"
done

# ---- states ----
bad=0 n=0
while read -r state status reason; do
	n=$((n + 1))
	put "$H" "7|$(echo "$state" | tr '~' ' ')|2024-01-01T08:00:00|2024-01-01T08:10:00|2024-01-01T09:00:00|00:50:00|cpu=1|cpu=1"
	gf-trace -q --from sacct "$T/in" >"$T/out" 2>"$T/err"
	[ "$(cols 'status raw_status')" = "$status $reason" ] || { bad=$((bad + 1)); diag "$state: $(cols 'status raw_status')"; }
done <<'END'
COMPLETED OK NA
CANCELLED CANCELLED NA
CANCELLED~by~50123 CANCELLED NA
CANCELLED+ CANCELLED NA
FAILED FAILED NA
TIMEOUT TIMEOUT NA
NODE_FAIL NODE_FAIL NA
OUT_OF_ME+ FAILED OUT_OF_MEMORY
OUT_OF_MEMORY FAILED OUT_OF_MEMORY
PREEMPTED FAILED PREEMPTED
BOOT_FAIL FAILED BOOT_FAIL
DEADLINE FAILED DEADLINE
REVOKED CANCELLED REVOKED
SUSPENDED RUNNING SUSPENDED
COMPLETING RUNNING COMPLETING
RESIZING RUNNING RESIZING
REQUEUED PENDING REQUEUED
UNKNOWN UNKNOWN NA
END
ok "$n states" $bad
for state in grep 2024-01-01T08:00:00 R+ COMPLETED_ ''; do
	put "$H" "7|$state|2024-01-01T08:00:00|2024-01-01T08:10:00|2024-01-01T09:00:00|00:50:00|cpu=1|cpu=1"
	fault "no state '$state'" ":2:State: bad value '$state' (expected a job state of Slurm)"
done
put "$H" "7|COMPLETED|2024-01-01T08:00:00|Unknown|2024-01-01T09:00:00|00:50:00|cpu=1|cpu=1"
fault "completed without a start" ":2:Start: missing value (expected a time with state COMPLETED)"
put "$H" "7|FAILED|2024-01-01T08:00:00|None|2024-01-01T09:00:00|00:00:00|cpu=1|"
read_in "failed before it started" "status start_s duration_s gpus_alloc" "FAILED NA NA 0"
put "$H" "7|CANCELLED by 0|2024-01-01T08:00:00|2024-01-01T08:10:00|2024-01-01T08:10:00|00:00:00|cpu=1|cpu=1" \
	"8|CANCELLED by 0|2024-01-01T08:00:00|2024-01-01T08:10:00|2024-01-01T08:10:00|00:00:00|cpu=1|"
read_in "Start = End with nodes is a start, without nodes it is none" "job_id start_s duration_s" \
"7 29400 0
8 NA NA"

# ---- times ----
put "$H" "7|COMPLETED|1704096000|1704096600|1704099600|00:50:00|cpu=1|cpu=1" \
	"8|PENDING|1704096001|0|0|00:00:00|cpu=1|"
read_in "SLURM_TIME_FORMAT=%s" "job_id submit_s start_s end_s duration_s" \
"7 28800 29400 32400 3000
8 28801 NA NA NA"
has "is UTC" "$T/out" '^#origin=2024-01-01T00:00:00[+]00:00$'
put "$H" "7|COMPLETED|2024-01-01T08:00:00+0100|2024-01-01T08:10:00+0100|2024-01-01T09:00:00+0100|00:50:00|cpu=1|cpu=1"
read_in "times with an offset" "submit_s start_s" "28800 29400"
has "say so" "$T/out" '^#origin=2024-01-01T00:00:00[+]01:00$'
put "$H" "7|PENDING|1704096000|Unknown|Unknown|00:00:00|cpu=1|" \
	"8|PENDING|2024-01-01T08:00:00|Unknown|Unknown|00:00:00|cpu=1|"
fault "two kinds of times" ":3:Submit: bad value '2024-01-01T08:00:00' (seconds since 1970 and calendar \
times in one trace; expected one of them)"
put "$H" "7|PENDING|2024-02-30T08:00:00|Unknown|Unknown|00:00:00|cpu=1|"
fault "no such day" ":2:Submit: out of range '2024-02-30T08:00:00' (expected YYYY-MM-DDTHH:MM:SS, or seconds since 1970)"
put "$H" "7|PENDING|01/05-08:00:00|Unknown|Unknown|00:00:00|cpu=1|"
fault "another way to write times" ":2:Submit: bad value '01/05-08:00:00' (expected YYYY-MM-DDTHH:MM:SS, or seconds since 1970)"
put "$H" "7|PENDING|Unknown|Unknown|Unknown|00:00:00|cpu=1|"
fault "no submission" ":2:Submit: missing value (expected a time)"
put "$H" "7|COMPLETED|2024-01-01T08:00:00|2024-01-01T08:10:00|2024-01-01T09:00:00|00:30:00|cpu=1|cpu=1"
read_in "Elapsed does not count the time suspended" "duration_s end_s" "1800 32400"
has "which is said" "$T/err" ': 1 record with Elapsed shorter than End - Start [(]suspended time does not count'
put "$H" "7|COMPLETED|2024-01-01T08:00:00|2024-01-01T08:10:00|2024-01-01T09:00:00|02:30:00|cpu=1|cpu=1"
fault "Elapsed longer than there was time" ":2:Elapsed: contradiction '02:30:00' (expected at most End - Start, 3000 s)"
put "$H" "7|COMPLETED|2024-01-01T08:00:00|2024-01-01T08:10:00|Unknown|00:50:00|cpu=1|cpu=1"
read_in "an end that was lost" "status end_s duration_s" "OK NA 3000"
for elapsed in 00:10:00 ''; do
	put "$H" "7|COMPLETED|2024-01-01T00:00:00|2024-01-01T10:00:00|2024-01-01T01:00:00|$elapsed|cpu=1|cpu=1"
	read_in "an end before its start, Elapsed '$elapsed'" "start_s end_s duration_s" "36000 NA NA"
	has "is counted" "$T/err" ': 1 value put right [(]1 end before start[)]$'
	read_in "clipped" "start_s end_s duration_s" "36000 36000 0" --bad-times clip
	read_in "kept" "start_s end_s duration_s" "36000 3600 $(($(echo "${elapsed:-0:-540:0}" | cut -d : -f 2) * 60))" \
		--bad-times keep
	fault "a bad record" ":2:end_s: 32400 s before the start (expected times in order)" --bad-times fail
done
# the last Sunday of October in Berlin: 02:50 comes twice
put "$H" "7|COMPLETED|2024-10-27T01:00:00|2024-10-27T02:50:00|2024-10-27T02:20:00|00:30:00|cpu=1|cpu=1"
read_in "a clock set back, as it stands" "start_s end_s duration_s" "10200 12000 1800"
has "is put right, and counted" "$T/err" ': 1 value put right [(]1 clock set back an hour before End[)]$'
Z=CET-1CEST,M3.5.0,M10.5.0/3
read_in "with the zone nothing is out of order" "start_s end_s duration_s" "10200 12000 1800" --tz $Z
hasnt "nothing is put right" "$T/err" 'put right'
put "$H" "7|COMPLETED|2024-10-27T01:00:00|2024-10-27T02:50:00|2024-10-27T03:20:00|00:30:00|cpu=1|cpu=1"
read_in "a start in the second of two equal hours" "start_s end_s duration_s" "13800 15600 1800" --tz $Z
put "$H" "7|COMPLETED|2024-03-31T01:00:00|2024-03-31T01:50:00|2024-03-31T03:20:00|00:30:00|cpu=1|cpu=1"
read_in "the hour that spring leaves out" "start_s end_s duration_s" "6600 8400 1800" --tz $Z

# ---- spans ----
put "JobID|State|Submit|Start|ElapsedRaw|Elapsed|TimelimitRaw|ReqTRES" \
	"1|RUNNING|2024-01-01T08:00:00|2024-01-01T08:00:00|90061|1-01:01:01|2880|cpu=1" \
	"2|RUNNING|2024-01-01T08:00:00|2024-01-01T08:00:00|5|00:00:05|UNLIMITED|cpu=1" \
	"3|RUNNING|2024-01-01T08:00:00|2024-01-01T08:00:00|5|00:00:05|Partition_Limit|cpu=1" \
	"4|RUNNING|2024-01-01T08:00:00|2024-01-01T08:00:00|5|00:00:05|4294967295|cpu=1" \
	"5|RUNNING|2024-01-01T08:00:00|2024-01-01T08:00:00||00:00:05.750|4294967294|cpu=1"
read_in "raw columns: seconds, minutes, and the numbers that stand for words" \
	"job_id elapsed_s timelimit_s" \
"1 90061 172800
2 5 inf
3 5 NA
4 5 inf
5 5.75 NA"
for limit in 24:60:00 1-24 1-00:60 10:60 ' :' 1- 1:2:3.5.6 1:30.1234567890 1:30. -1 +5 5.5 1-2-3 ٣:00; do
	put "JobID|State|Submit|Timelimit|ReqTRES" "1|PENDING|2024-01-01T08:00:00|$limit|cpu=1"
	run "no limit '$limit'" 1 gf-trace --from sacct "$T/in"
	has "is named '$limit'" "$T/err" ":2:Timelimit: (bad value|out of range) '"
done
put "JobID|State|Submit|Timelimit|ReqTRES" "1|PENDING|2024-01-01T08:00:00|99999999-00:00:00|cpu=1"
fault "a limit of eons" ":2:Timelimit: out of range '99999999-00:00:00' (expected [D-]HH:MM:SS, or UNLIMITED)"
put "JobID|State|Submit|Start|Elapsed|ReqTRES" "1|RUNNING|2024-01-01T08:00:00|2024-01-01T08:00:00|30|cpu=1"
fault "an elapsed time without colon: of what?" ":2:Elapsed: bad value '30' (expected [D-]HH:MM:SS)"
put "JobID|State|Submit|Start|Elapsed|ReqTRES" "1|RUNNING|2024-01-01T08:00:00|2024-01-01T08:00:00|UNLIMITED|cpu=1"
fault "an unlimited elapsed time" ":2:Elapsed: bad value 'UNLIMITED' (expected [D-]HH:MM:SS)"

# ---- GPUs ----
bad=0 n=0
while read -r tres gpus types; do
	n=$((n + 1))
	put "JobID|State|Submit|ReqTRES" "1|PENDING|2024-01-01T08:00:00|$tres"
	gf-trace -q --from sacct "$T/in" >"$T/out" 2>"$T/err"
	[ "$(cols 'gpus gpu_types')" = "$gpus $(echo "$types" | tr '~' ' ')" ] ||
		{ bad=$((bad + 1)); diag "$tres: $(cols 'gpus gpu_types')"; }
done <<'END'
gres/gpu=8,gres/gpu:a100=8 8 a100:8
gres/gpu:a100=8,gres/gpu=8 8 a100:8
gres/gpu:a100=0,gres/gpu:v100=2 2 v100:2
gres/gpu:a100_1g.5gb=2,gres/gpu:a100_2g.10gb=1,gres/gpu=3 3 a100_1g.5gb:2~a100_2g.10gb:1
gres/gpumem=40G,gres/gpuutil=50,gres/shard=4,gres/mps=100 0 NA
cpu=4,energy=18446744073709551614,license/matlab=2,fs/disk=10,gres/gpu=1 1 NA
END
ok "$n lists of resources" $bad
for tres in 'cpu=4,gres/gpu' 'cpu=4,gres/g' 'gres/gpu=' 'gres/gpu=-1' 'gres/gpu=1.5' 'gres/gpu=2x' 'gres/gpu:=2' \
	'gres/gpu=2,gres/gpu=2' 'gres/gpu:a=1,gres/gpu:a=1' 'cpu=4,,node=1' 'cpu=4,' '=4' 'cpu=x' 'mem=12Q' \
	'gres/gpu=99999999999999999999'; do
	put "JobID|State|Submit|ReqTRES" "1|PENDING|2024-01-01T08:00:00|$tres"
	run "no list '$tres'" 1 gf-trace --from sacct "$T/in"
	has "is named '$tres'" "$T/err" ":2:ReqTRES: (bad value|out of range) '.*' [(]expected TRES such as"
done
put "JobID|State|Submit|Start|NNodes|ReqGRES|AllocGRES" \
	"1|RUNNING|2024-01-01T08:00:00|2024-01-01T08:00:00|2|gpu:2|gpu:a100:4(S:0-1)" \
	"2|RUNNING|2024-01-01T08:00:00|2024-01-01T08:00:00|1|gpu|gpu:1(IDX:0,2),craynetwork:1" \
	"3|RUNNING|2024-01-01T08:00:00|2024-01-01T08:00:00|1|0|" \
	"4|PENDING|2024-01-01T08:00:00|Unknown|3|gres:gpu:v100:2|"
read_in "the older columns: asked for per node, given in all" "job_id gpus gpus_req gpus_alloc gpu_type" \
"1 4 4 4 a100
2 1 1 1 NA
3 0 0 0 NA
4 6 6 0 v100"
put "JobID|State|Submit|Start|ReqTRES|AllocTRES" \
	"1|RUNNING|2024-01-01T08:00:00|2024-01-01T08:00:00|cpu=2,gres/gpu=2,mem=0|cpu=8,mem=1.50T,node=1" \
	"2|RUNNING|2024-01-01T08:00:00|2024-01-01T08:00:00|cpu=2,gres/gpu=2,mem=4000M|"
read_in "what was given counts, not what was asked for" "job_id gpus gpus_alloc cpus mem_mib" \
"1 0 0 8 1572864
2 2 NA 2 4000"

# ---- free texts ----
put "JobID|State|Submit|ReqTRES|JobName" "1|PENDING|2024-01-01T08:00:00|cpu=1|two" "" "  lines | and more" "" \
	"2|PENDING|2024-01-01T08:00:00|cpu=1|tab	and \\ and \"quote" ""
read_in "blank lines, delimiters, quotes in names" "job_id name" '1 two\n\n  lines | and more
2 tab\tand \\ and "quote'
put "JobID|State|Submit|ReqTRES|JobName" "1|PENDING|2024-01-01T08:00:00|cpu=1|two" "2|PENDING|2024-01-01T0"
fault "a last record that is cut short is no part of a name" ":3: 3 fields, 5 expected"
put "JobID|State|Submit|ReqTRES|JobName" "1|PENDING|2024-01-01T08:00:00|cpu=1|two" "2"
fault "even if only its number is left" ":3: 1 field, 5 expected"
put "JobID|State|Submit|Constraints|ReqTRES" "1|PENDING|2024-01-01T08:00:00|a100|h100|cpu=1"
fault "a constraint with a bar in it" ":2: 6 fields, 5 expected; put Constraints last"
put "JobID|State|Submit|ReqTRES" "sacct: error: slurm_persist_conn_open: Something happened" \
	"1|PENDING|2024-01-01T08:00:00|cpu=1"
fault "a message of sacct" ":2: 1 field, 4 expected"
printf '%s\n1|PENDING|2024-01-01T08:00:00|cpu=1|caf\351\n' "JobID|State|Submit|ReqTRES|JobName" >"$T/in"
fault "Latin-1" ":2: invalid UTF-8"
printf '%s\n1|PENDING|2024-01-01T08:00:00|cpu=1|a\000b\n' "JobID|State|Submit|ReqTRES|JobName" >"$T/in"
fault "NUL" ":2: NUL byte (expected text)"
{
	put "JobID|State|Submit|ReqTRES|JobName" "1|PENDING|2024-01-01T08:00:00|cpu=1|caf" "2|PENDING|now|cpu=1|x" \
		"3|PENDING|2024-01-01T08:00:00|gres/gpu|x" "4|PENDING|x" "5|SHIFTED|x|y|z" "6|PENDING|2024-01-01T08:00:00|cpu=1|y"
}
run "--skip-bad" 0 gf-trace --skip-bad=4 --from sacct "$T/in"
cols job_id >"$T/rows"
is "leaves out what is bad and goes on" "$T/rows" "1
6"
is "by reason" "$T/err" "gf-trace: warning: $T/in: 2 pending
gf-trace: warning: $T/in: 4 bad records left out (3 bad value, 1 ragged row)"
put "JobID|State|Submit|ReqTRES|MyColumn|Eligible" "1|PENDING|2024-01-01T08:00:00|cpu=1|x|Unknown"
run "columns that nobody knows" 0 gf-trace --from sacct "$T/in"
has "are named, those without a place are not" "$T/err" ': columns passed over: MyColumn$'
# nothing may grow without bounds: a name of two million bytes, a list of a million commas
{
	printf 'JobID|State|Submit|ReqTRES|JobName\n1|PENDING|2024-01-01T08:00:00|cpu=1|'
	head -c 2000000 /dev/zero | tr '\0' x
} >"$T/in"
fault "a name without end" ":2: record too long (expected at most 1048576 bytes)"
{
	printf 'JobID|State|Submit|ReqTRES\n1|PENDING|2024-01-01T08:00:00|'
	head -c 1000000 /dev/zero | tr '\0' ,
	echo
} >"$T/in"
run "a list without end" 1 gf-trace --from sacct "$T/in"
has "is refused" "$T/err" ":2:ReqTRES: out of range ',,,,"
# ids that count upwards are joined without a search, others are not: both give the same jobs
awk 'BEGIN { srand(3); OFS = "|"; print "JobID|State|Submit|Start|End|ElapsedRaw|AllocTRES"
	for (i = 1; i <= 600; i++) {
		id = rand() < .6 ? ++last : rand() < .5 ? last += 3 : 1 + int(rand() * (last + 5))
		if (id > last)
			last = id
		min = sprintf("%02d", i / 12)
		print id, rand() < .3 ? "NODE_FAIL" : "COMPLETED", "2024-01-01T08:" min ":00",
			"2024-01-01T09:" min ":" sprintf("%02d", i % 60), "2024-01-01T10:" min ":" sprintf("%02d", i % 60),
			3600, "cpu=1,gres/gpu=" 1 + i % 4
	} }' >"$T/in"
sed 's/|/+0|/' "$T/in" | sed '1s/+0//' >"$T/plus"
run "ids up and down" 0 gf-trace -q --no-meta --from sacct "$T/in"
cp "$T/out" "$T/want"
run "the same as components" 0 gf-trace -q --no-meta --from sacct "$T/plus"
sed 's/+0	/	/' "$T/out" >"$T/found"
same "gives the same jobs" "$T/want" "$T/found"
awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
	{ n += $at["attempts"]; jobs++ } END { exit !(n > jobs + 50) }' "$T/want"
ok "many of them with several attempts" $?
