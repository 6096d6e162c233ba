# SPDX-License-Identifier: MIT
# gf-select: each operator on each type, missing values, window, sample, head, rate, rebase, metadata,
# faults; what it does not touch stays.
. tests/cli/lib.sh

JOBS=tests/data/select-jobs.tsv

# ids: the first column of $T/out, on one line
ids() {
	grep -v '^#' "$T/out" | sed 1d | cut -f 1 | tr '\n' ' ' | sed 's/ $//'
}
# picks NAME IDS OPTIONS...: exactly these jobs
picks() {
	tap_what=$1 tap_ids=$2
	shift 2
	run "$tap_what" 0 gf-select -q "$@" "$JOBS"
	ids >"$T/ids"
	[ ! -s "$T/ids" ] || echo >>"$T/ids"
	is "$tap_what: $tap_ids" "$T/ids" "$tap_ids"
}

# ---- nothing selected, nothing changed ----
run "no option" 0 gf-select --no-meta "$JOBS"
grep -v '^#[a-z]' "$JOBS" | sed '/^#fit/d' >"$T/want"
same "every row, every byte" "$T/want" "$T/out"
run "with metadata" 0 gf-select "$JOBS"
has "the input's content is named" "$T/out" '^#input=[0-9a-f]{32}$'
grep '^#' "$T/out" | grep -v -e '^#version' -e '^#input' >"$T/found"
is "types and origin are kept, the tool of the input too" "$T/found" "#fit-table/1
#tool=gf-select
#source_tool=hand
#origin=2030-03-04T00:00:00
#types=text,text,text,time,time,time,time,real,text,int,text
#end rows=8"

# ---- operators and types ----
picks "text =" "k1 k3 k5 k7" --where app=lark
picks "text ==, with blanks" "k1 k3 k5 k7" -w 'app == lark'
picks "text !=" "k2 k4 k8" -w 'app!=lark'
picks "text ~" "k1 k3 k5 k7" -w 'app~ar'
picks "text !~" "k2 k4 k8" -w 'app!~ar'
picks "real >=" "k2 k3 k6" -w 'gpus>=4'
picks "real <" "k5 k8" -w 'gpus<1'
picks "real =, another spelling" "k5" -w gpus=2.5e-1
picks "int >" "k5" -w 'priority>5'
picks "int <=, a fraction" "k3 k4 k6" -w 'priority<=2.5'
picks "int !=" "k3 k4 k5 k6 k7 k8" -w 'priority!=5'
picks "time <" "k1 k7" -w 'duration_s<600'
picks "time = with a unit" "k8" -w duration_s=1h
picks "time <= with another" "k1 k2 k7" -w 'duration_s<=10min'
picks "time > a day" "k6 k7 k8" -w 'submit_s>1d'
picks "several are and" "k5" -w app=lark -w 'gpus<1' -w status=OK
picks "=NA" "k6" -w app=NA
picks "!=NA" "k1 k2 k3 k4 k5 k7 k8" -w app!=NA
picks "=NA of a number" "k7" -w gpus=NA
picks "the text NA" "k4" -w 'note=\NA'
picks "not the text NA" "k1 k2 k5 k6 k7 k8" -w 'note!=\NA'
picks "a text with a comma" "k2" -w note=x,y
picks "nothing" "" -w app=none
run "a missing value meets nothing" 0 gf-select -w 'gpus!=1' "$JOBS"
is "and is counted" "$T/err" \
	"gf-select: warning: $JOBS: 1 of 8 rows left out as a value to compare is missing"
hasnt "it is not there" "$T/out" '^k7'
run "numbers beyond 2^53" 0 sh -c 'printf "#fit-table/1\n#types=int\nn\n9007199254740992\n9007199254740993\n#end rows=2\n" |
	gf-select --no-meta -w n=9007199254740993'
is "are told apart" "$T/out" "n
9007199254740993"

# ---- window, head ----
picks "a window" "k3 k4" --window 3700:7300.5 -w 'gpus>1'
picks "from is in, to is not" "k3" --window 3700:7300
picks "no from" "k1 k2" --window :1h
picks "no to" "k6 k7 k8" --window 1d:
picks "head" "k1 k2 k3" --head 3
picks "head after where" "k1 k3" -n 2 -w app=lark
picks "head of none" "" -n 0

# ---- sample ----
awk 'BEGIN { print "job_id\tsubmit_s\tgpus"; for (i = 0; i < 5000; i++) print "s" i "\t" i * 3 "\t1" }' \
	>"$T/many.tsv"
run "a share" 0 gf-select --no-meta --sample 0.1 "$T/many.tsv"
n=$(($(wc -l <"$T/out") - 1))
[ "$n" -gt 400 ] && [ "$n" -lt 600 ]
ok "a share: about a tenth" $?
cp "$T/out" "$T/first"
run "10%" 0 gf-select --no-meta --sample 10% "$T/many.tsv"
same "is the same" "$T/first" "$T/out"
run "another seed" 0 gf-select --no-meta --sample 10% --seed 2 "$T/many.tsv"
! cmp -s "$T/first" "$T/out"
ok "is another sample" $?
run "100 rows" 0 gf-select --no-meta --sample 100 "$T/many.tsv"
lines "are 100" "$T/out" 101
sed 1d "$T/out" | cut -f 2 >"$T/times"
sort -n "$T/times" | uniq >"$T/want"
same "in order, each once" "$T/want" "$T/times"
awk '{ s += $1 } END { exit !(s / NR > 6000 && s / NR < 9000) }' "$T/times"
ok "from all over the table" $?
cp "$T/out" "$T/first"
run "100 rows again" 0 gf-select --no-meta --sample 100 --threads 4 "$T/many.tsv"
same "are the same" "$T/first" "$T/out"
run "more rows than there are" 0 gf-select --no-meta --sample 10 "$JOBS"
lines "are all" "$T/out" 9
# each of 20 rows should be among 5 of them in a quarter of 400 seeds
head -n 21 "$T/many.tsv" >"$T/few.tsv"
k=0
while [ $k -lt 400 ]; do
	gf-select --no-meta --sample 5 --seed $k "$T/few.tsv" | sed 1d
	k=$((k + 1))
done | cut -f 1 | sort | uniq -c | awk '{ if ($1 < 65 || $1 > 135) bad++ } END { exit !(NR == 20 && !bad) }'
ok "each row has the same chance" $?
run "sample with metadata" 0 gf-select --sample 3 --seed 9 "$JOBS"
has "sample and seed" "$T/out" '^#seed=9$'
run "without a sample" 0 gf-select "$JOBS"
hasnt "no seed" "$T/out" '^#seed'

# ---- rate and rebase ----
run "--rebase" 0 gf-select --no-meta --rebase -w 'submit_s>=3700' "$JOBS"
cut -f 1,4-7 "$T/out" | tr '\t' ' ' >"$T/found"
is "all three times move, durations stay" "$T/found" "job_id submit_s start_s end_s duration_s
k3 0 0 NA NA
k4 3600 NA NA NA
k5 3600 3700 4700 1000
k6 86300 86300 86360 NA
k7 86310.25 86320.25 86380.25 60
k8 89900 90000 93600 3600"
run "--rebase: the origin" 0 gf-select --rebase -w 'submit_s>=3700' "$JOBS"
has "moves along" "$T/out" '^#origin=2030-03-04T01:01:40$'
run "--rebase at half a second" 0 gf-select --rebase -w 'gpus=4' "$JOBS"
has "keeps the fraction" "$T/out" '^#origin=2030-03-04T00:02:40\.500000000$'
run "--rate 4" 0 gf-select --no-meta --rate 4 -w 'submit_s<8000' "$JOBS"
cut -f 1,4-7 "$T/out" | tr '\t' ' ' >"$T/found"
is "gaps are divided, from the first on" "$T/found" "job_id submit_s start_s end_s duration_s
k1 100 110 410 300
k2 115.125 155.125 755.125 600
k3 1000 1000 NA NA
k4 1900 NA NA NA
k5 1900 2000 3000 1000"
run "--rate 0.5 --rebase" 0 gf-select --no-meta --rate 0.5 --rebase -n 3 "$JOBS"
cut -f 1,4 "$T/out" | tr '\t' ' ' >"$T/found"
is "slower, from 0" "$T/found" "job_id submit_s
k1 0
k2 121
k3 7200"
gf-select -q --rate 8 "$JOBS" | gf-stats -q --no-meta | grep -E '^interarrival_(mean|cv2)' >"$T/out"
gf-stats -q --no-meta "$JOBS" | awk -F '\t' -v OFS='\t' '$1 == "interarrival_mean_s" { print $1, $2 / 8 }' >"$T/want"
awk -F '\t' -v OFS='\t' '$1 == "interarrival_mean_s" { print $1, $2 + 0 }' "$T/out" >"$T/found"
same "--rate 8: an eighth of the mean gap" "$T/want" "$T/found"
sed 's/	7300	7400	/	7299	7400	/' "$JOBS" >"$T/unsorted.tsv"
run "--rebase of jobs out of order" 1 gf-select --rebase "$T/unsorted.tsv"
is "names the line" "$T/err" "gf-select: $T/unsorted.tsv:10:submit_s: earlier than the row before \
(expected jobs by submission)"
sed 's/	7300	7400	/	NA	7400	/' "$JOBS" >"$T/na.tsv"
run "--rate without a submission" 1 gf-select --rate 2 "$T/na.tsv"
is "names the line" "$T/err" "gf-select: $T/na.tsv:10:submit_s: missing value 'NA' (expected a time)"
run "--window without a submission" 0 gf-select --window 0: "$T/na.tsv"
has "is counted" "$T/err" '1 of 8 rows left out'

# ---- metadata of a chain ----
gf-select -q -w 'gpus>0' -w 'gpus<9' "$JOBS" | gf-select -q -w app!=finch >"$T/out"
grep -E '^#(source_)*(where|tool)' "$T/out" >"$T/found"
is "one step after the other" "$T/found" "#tool=gf-select
#where=app!=finch
#source_tool=gf-select
#source_where=gpus>0
#source_where=gpus<9
#source_source_tool=hand"
run "into a store and out of it" 0 gf-select -q -w 'gpus>0' -w 'gpus<9' "$JOBS" -o "$T/s.h5:/few"
gf-select -q -w 'gpus>0' -w 'gpus<9' "$JOBS" >"$T/want"
gf-table convert "$T/s.h5:/few" >"$T/out"
same "is the same table" "$T/want" "$T/out"
run "out of a store" 0 gf-select --no-meta -w app=wren "$T/s.h5:/few"
ids >"$T/ids"
echo >>"$T/ids"
is "out of a store: k2 k4" "$T/ids" "k2 k4"

# ---- a table without types ----
printf 'job_id\tsubmit_s\tgpus\tcolour\tsize\n007\t1.50\t2.0\tred\t10\n008\t3\t16\tNA\t9\n' >"$T/plain.tsv"
run "a plain table" 0 gf-select --no-meta -w 'gpus>3' "$T/plain.tsv"
is "known columns are numbers" "$T/out" "job_id	submit_s	gpus	colour	size
008	3	16	NA	9"
run "others are text" 0 gf-select --no-meta -w 'size<10' "$T/plain.tsv"
ids >"$T/ids"
echo >>"$T/ids"
is "and < compares their numbers" "$T/ids" "008"
run "or are no numbers" 1 gf-select --no-meta -w 'colour<10' "$T/plain.tsv"
is "which is said" "$T/err" "gf-select: $T/plain.tsv:2:colour: bad value 'red' (expected a number, to compare it)"
printf 'submit_s\tgpus\nsoon\t1\n' >"$T/bad.tsv"
run "a time that is none" 1 gf-select "$T/bad.tsv"
is "is named" "$T/err" "gf-select: $T/bad.tsv:2:submit_s: bad value 'soon' (expected seconds with at most nine decimals)"

printf '#fit-table/1\n#types=text,real\njob_id\tx\nj1\tnan\nj2\t1\nj3\tNA\n#end rows=3\n' >"$T/nan.tsv"
run "nan equals itself" 0 gf-select -q --no-meta -w x=nan "$T/nan.tsv"
printf 'job_id\tx\nj1\tnan\n' >"$T/want"
same "and nothing else" "$T/want" "$T/out"
run "other than nan" 0 gf-select -q --no-meta -w x!=nan "$T/nan.tsv"
printf 'job_id\tx\nj2\t1\n' >"$T/want"
same "is what is not" "$T/want" "$T/out"

# ---- faults ----
refuses() {	# NAME STATUS MESSAGE OPTIONS...
	tap_what=$1 tap_st=$2 tap_msg=$3
	shift 3
	run "$tap_what" "$tap_st" gf-select "$@" "$JOBS"
	sed -n 1p "$T/err" >"$T/first"
	is "$tap_what: said so" "$T/first" "gf-select: $tap_msg"
	is "$tap_what: no output" "$T/out" ""
}
refuses "no operator" 2 "bad condition 'app' (expected COLUMN OP VALUE, with OP one of = != < <= > >= ~ !~)" -w app
refuses "no column" 2 "bad condition '=x' (expected COLUMN OP VALUE, with OP one of = != < <= > >= ~ !~)" -w =x
refuses "less than missing" 2 "bad condition 'gpus<NA' (expected = or != before NA)" -w 'gpus<NA'
refuses "a column that is not there" 1 "$JOBS: no column 'colour' (found job_id, user, app, submit_s, \
start_s, end_s, duration_s, gpus, status, priority, note)" -w colour=red
refuses "a text that is to be more than a text" 1 "$JOBS: column 'user' is text, which compares with = and != only, \
not with 'bob' (expected these, or a number)" -w 'user>bob'
refuses "more than nan" 1 "$JOBS: bad value 'nan' for column 'gpus' (expected a number, or = or != before it: nothing \
is more or less)" -w 'gpus>nan'
refuses "a number that is none" 1 "$JOBS: bad value 'many' for column 'gpus' (expected a number)" -w 'gpus>many'
refuses "a time that is none" 1 "$JOBS: bad value '1w' for column 'submit_s' (expected seconds, or a number \
with s, min, h or d)" -w 'submit_s>1w'
refuses "~ on numbers" 1 "$JOBS: column 'gpus' has type real (expected text for ~ and !~)" -w gpus~1
refuses "a window backwards" 2 "bad value '5:3' for --window (expected FROM:TO, FROM before TO, or one of \
them left out)" --window 5:3
refuses "a window of nothing" 2 "bad value ':' for --window (expected FROM:TO, FROM before TO, or one of \
them left out)" --window :
refuses "no sample" 2 "bad value '0' for --sample (expected a number of rows, or a share such as 0.1 or 10%)" --sample 0
refuses "too large a share" 2 "bad value '1.5' for --sample (expected a number of rows, or a share such as \
0.1 or 10%)" --sample 1.5
run "a rate of 0" 2 gf-select --rate 0 "$JOBS"
printf 'a\tb\n1\t2\n' >"$T/other.tsv"
run "--rebase of another table" 1 gf-select --rebase "$T/other.tsv"
is "says what is missing" "$T/err" "gf-select: $T/other.tsv: no column 'submit_s' (expected a jobs table)"
{ gf-select --no-meta "$JOBS"; } >"$T/a.tsv"
cat "$JOBS" "$JOBS" >"$T/two.tsv"
run "two tables" 1 gf-select "$T/two.tsv"
has "are one too many" "$T/err" 'more than one table'
sed '$d' "$JOBS" >"$T/cut.tsv"
run "a stream that was cut, behind --head" 1 gf-select --head 1 "$T/cut.tsv"
