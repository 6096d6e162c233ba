# SPDX-License-Identifier: MIT
# gf-verify: what it prints and how it leaves. What it finds is in verify-mutations.sh.
. tests/cli/lib.sh

D=tests/data
J=$D/verify-fifo-jobs.tsv
L=$D/verify-fifo-log.tsv

run 'a good log' 0 gf-verify --jobs $J $L
is 'silent on success' "$T/err" ''
cp "$T/out" "$T/good"
cut -f 1 "$T/good" | grep -v '^#' >"$T/rules"
lines 'a header and a row for each rule' "$T/rules" $(($(grep -c '^	\[RULE_' libfit/verify/verify_rules.c) + 1))
has 'the columns' "$T/good" '^rule	verdict	checked	violations	detail	meaning$'
has 'a hash of the log' "$T/good" '^#input=[0-9a-f]{32}$'
has 'a hash of the jobs' "$T/good" '^#input_jobs=[0-9a-f]{32}$'
hasnt 'nothing violated' "$T/good" '	violated	'
awk -F '	' '/^#/ || $1 == "rule" { next }
	$2 == "ok" && $3 < 1 || $2 == "not-applicable" && $3 != 0 ||
	$4 != 0 || $5 != "NA" { bad = 1 } END { exit bad }' "$T/good"
ok 'ok means tested, not-applicable means not' $?

cat $L >"$T/copy"
run 'from standard input' 0 sh -c "gf-verify --jobs $J <$T/copy"
same 'the same verdicts' "$T/good" "$T/out"
run 'with -' 0 sh -c "gf-verify --jobs $J - <$T/copy"
same 'the same verdicts' "$T/good" "$T/out"
run 'jobs from standard input' 0 sh -c "gf-verify --jobs - $L <$J"
same 'the same verdicts' "$T/good" "$T/out"
run 'both from standard input' 2 sh -c "gf-verify --jobs - - <$J"
has 'is refused' "$T/err" 'standard input'
is 'without output' "$T/out" ''
run 'into a file' 0 gf-verify --jobs $J -o "$T/file" $L
same 'the same verdicts' "$T/good" "$T/file"
run 'into a store' 0 gf-verify --jobs $J -o "$T/s.h5:/verdicts" $L

sed 's/^195	finish/194	finish/' $L >"$T/bad"
run 'a completion one second early' 1 gf-verify --jobs $J --only-violated "$T/bad"
is 'nothing on standard error' "$T/err" ''
has 'names line, instant and job' "$T/out" \
	"^epoch-time	violated	[0-9]*	1	line 26, 194 s, job 'c': .*1 s too early"
hasnt 'only what is violated' "$T/out" '	ok	'
run 'with -v' 1 gf-verify -v --jobs $J "$T/bad"
has 'it says how many' "$T/err" 'gf-verify: [0-9]+ rules violated'

run 'no jobs table' 2 gf-verify $L
has 'is wrong usage' "$T/err" 'jobs'
run 'a missing jobs table' 3 gf-verify --jobs "$T/none.tsv" $L
is 'without output' "$T/out" ''
run 'a missing log' 3 gf-verify --jobs $J "$T/none.tsv"
sed '$d' $L >"$T/cut"
run 'a log without its end' 1 gf-verify --jobs $J "$T/cut"
is 'without output' "$T/out" ''
lines 'one line' "$T/err" 1
sed 's/^25	submit/then	submit/' $L >"$T/text"
run 'a time that is none' 1 gf-verify --jobs $J "$T/text"
has 'names line and column' "$T/err" ':19:time_s: '
{ cat $J; printf 'a\t1\t1\t1\n'; } >"$T/twice"
run 'a duplicate id' 1 gf-verify --jobs "$T/twice" $L
has 'is for jobs-once to say, with the line' "$T/out" '^jobs-once.*line 6: job_id was there before'
printf 'job_id\tsubmit_s\tgpus\na\t0\t-1\n' >"$T/negative"
run 'a negative number of GPUs' 1 gf-verify --jobs "$T/negative" $L
has 'likewise' "$T/out" '^jobs-once[[:blank:]]violated'
sed 's/^#order=/#input_profile=00\
&/' $L >"$T/profiled"
run 'a log made with a profile, without it' 2 gf-verify --jobs $J "$T/profiled"
has 'says what is missing' "$T/err" '[-]-profile'
printf 'job_id\tsubmit_s\tgpus\n' >"$T/nojobs"
sed -n '/^#/p;/^time_s/p;/	cluster	/p' $L | sed 's/^#end rows=.*/#end rows=1/' >"$T/empty"
run 'no jobs and an empty log' 0 gf-verify --jobs "$T/nojobs" "$T/empty"
has 'has little to test' "$T/out" '^fifo-order	not-applicable	0	0	NA'

# Times of any length, many jobs at one instant, mixed nodes: replays of a few hundred jobs.
awk 'BEGIN { OFS = "\t"; print "job_id", "submit_s", "gpus", "duration_s"
	for (i = 1; i <= 400; i++) {
		x = (x * 1103515245 + 12345) % 2147483648; t += x % 7 == 0 ? 0 : x % 61
		y = (y * 69069 + x) % 4294967296
		print "j" i, t, 1 + (y % 5) * (y % 3), (y % 1000) + (i % 4) * 0.25 } }' >"$T/many.tsv"
for policy in fifo sjf srtf tiresias; do
	for how in '' '--interval 7.5 --restart-delay 3' \
		'--fidelity pollux-osdi21'; do
		[ "$policy$how" != 'tiresias--fidelity pollux-osdi21' ] || how="$how --tiresias-threshold 900"
		# shellcheck disable=SC2086
		gf-replay --policy $policy --cluster 2x4,1x8 $how "$T/many.tsv" >"$T/log.tsv"
		ok "replay of 400 jobs: $policy $how" $?
		gf-metrics "$T/log.tsv" >"$T/m.tsv" && gf-metrics --per-job "$T/log.tsv" >"$T/p.tsv"
		ok "metrics" $?
		run "verified: $policy $how" 0 gf-verify --jobs "$T/many.tsv" --metrics "$T/m.tsv" \
			--per-job "$T/p.tsv" --only-violated "$T/log.tsv"
		hasnt "nothing violated" "$T/out" '	violated	'
	done
done
gf-prof --from pollux $D/profile-mini -o "$T/mini.h5"
ok 'profiles' $?
for policy in fifo sjf srtf tiresias optimus; do
	for how in '--interval 60' '--interval 2.5 --restart-delay 7' '--fidelity pollux-osdi21'; do
		# shellcheck disable=SC2086
		gf-replay --policy $policy --cluster 3x4 $how --profile "$T/mini.h5" \
			$D/verify-profile-jobs.tsv >"$T/log.tsv"
		ok "replay with a profile: $policy $how" $?
		run "verified: $policy $how" 0 gf-verify --jobs $D/verify-profile-jobs.tsv \
			--profile "$T/mini.h5" --only-violated "$T/log.tsv"
		hasnt "nothing violated" "$T/out" '	violated	'
	done
done
printf 'metric\tvalue\n' >"$T/none.tsv"
run "metrics without a metric" 1 gf-verify -j tests/data/verify-fifo-jobs.tsv --metrics "$T/none.tsv" tests/data/verify-fifo-log.tsv
is "are no proof" "$T/err" "gf-verify: $T/none.tsv: no metric to check (expected what gf-metrics writes)"
