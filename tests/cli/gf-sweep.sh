# SPDX-License-Identifier: MIT
# gf-sweep: plans of grids, rows that are run once, whoever is killed meanwhile, and the table of all.
. tests/cli/lib.sh

mkdir "$T/w" "$T/bin" && cd "$T/w" || exit 1
TMPDIR=$T
export TMPDIR
gf-synth jobs --jobs 60 --hours 2 --seed 5 -o trace.tsv

# A program in front of ours that counts its runs, and does what the file $T/mischief says first.
for tool in gf-replay gf-synth; do
	cat >"$T/bin/$tool" <<END
#!/bin/sh
echo "\$*" >>"$T/$tool.runs"
[ ! -f "$T/mischief" ] || . "$T/mischief"
exec "$B/$tool" "\$@"
END
	chmod +x "$T/bin/$tool"
done
counted() { PATH=$T/bin:$PATH "$@"; }
runs_of() { if [ -f "$T/$1.runs" ]; then wc -l <"$T/$1.runs" | tr -d ' '; else echo 0; fi; }
cells() { grep -v '^#' "$1" | cut -f "$2"; }	# the first table of a plan
scratch_left() { find "$T" -maxdepth 1 -name 'gf-sweep.*' >"$T/left"; }

# ---- plans ----

run "a plan" 0 gf-sweep plan -a policy=fifo,srtf -a seed=1:3 -a load=0.5:1.5:0.5 \
	-p 'base=gf-synth jobs --jobs 40 --hours 1 --seed {seed}' \
	-p 'jobs=gf-select --rate {load} --rebase {base}' -o plan.tsv -- --cluster 2x4 '{jobs}'
gf-table check plan.tsv >/dev/null 2>"$T/err"
ok "it is a stream of tables" $?
sed '/^#end/q' plan.tsv >"$T/rows"
cells "$T/rows" 2-4 | tr '\t\n' ', ' >"$T/grid"
echo >>"$T/grid"
is "rows in order, the last axis the quickest" "$T/grid" "policy,seed,load fifo,1,0.5 fifo,1,1 fifo,1,1.5 \
fifo,2,0.5 fifo,2,1 fifo,2,1.5 fifo,3,0.5 fifo,3,1 fifo,3,1.5 srtf,1,0.5 srtf,1,1 srtf,1,1.5 \
srtf,2,0.5 srtf,2,1 srtf,2,1.5 srtf,3,0.5 srtf,3,1 srtf,3,1.5 "
printf '%s' "$(cells "$T/rows" 7 | sed -n 2p)" | sed 's/[0-9a-f]\{32\}/HASH/' >"$T/words"
echo >>"$T/words"
is "an axis is an option, or what a placeholder names" "$T/words" \
	"gf-replay --cluster 2x4 sweep/inputs/HASH.tsv --policy=fifo"
grep -c '	base	\|	jobs	' plan.tsv >"$T/n"
is "an input for each seed and load, and for each seed" "$T/n" 12

run "again" 0 gf-sweep plan -a policy=fifo,srtf -a seed=1:3 -a load=0.5:1.5:0.5 \
	-p 'base=gf-synth jobs --jobs 40 --hours 1 --seed {seed}' \
	-p 'jobs=gf-select --rate {load} --rebase {base}' -- --cluster 2x4 '{jobs}'
same "the same plan" plan.tsv "$T/out"

mkdir -p "$T/elsewhere/in" && cp trace.tsv "$T/elsewhere/in/other.tsv"
run "options of rows: on, off" 0 gf-sweep plan -a skip-too-large=on,off -a p=-1,NA -- --policy fifo \
	--cluster 2x4 trace.tsv
cells "$T/out" 6 | sed '/^#/d' | sed -n 1,5p >"$T/words"
is "on is the option alone, off and NA none" "$T/words" "replay
gf-replay --policy fifo --cluster 2x4 trace.tsv --skip-too-large --p=-1
gf-replay --policy fifo --cluster 2x4 trace.tsv --skip-too-large
gf-replay --policy fifo --cluster 2x4 trace.tsv --p=-1
gf-replay --policy fifo --cluster 2x4 trace.tsv"
cells "$T/out" 4 >"$T/hashes"
(cd "$T/elsewhere" && gf-sweep plan -d results -a skip-too-large=on,off -a p=-1,NA -- --policy fifo \
	--cluster 2x4 in/other.tsv) >"$T/out"
cells "$T/out" 4 >"$T/hashes2"
same "hashes depend on what is in files, not on where they are" "$T/hashes" "$T/hashes2"
printf 'policy\tinterval\nfifo\tNA\nsrtf\t60\n' >grid.tsv
run "a table of combinations" 0 gf-sweep plan -g grid.tsv -a seed=1,2 -- --cluster 2x4 trace.tsv
cells "$T/out" 2-4 | sed -n 1,5p | tr '\t\n' ', ' >"$T/grid"
echo >>"$T/grid"
is "its columns go together" "$T/grid" \
	"policy,interval,seed fifo,NA,1 fifo,NA,2 srtf,60,1 srtf,60,2 "
run "words with blanks" 0 gf-sweep plan -a seed=1 -p "j=gf-select --where 'gpus<=2' --where \"job_id!=a b\" trace.tsv" \
	-- --cluster 2x4 '{j}'
has "they are quoted in the plan" "$T/out" "gf-select --where 'gpus<=2' --where 'job_id!=a b' trace.tsv"
run "a comma in a value" 0 gf-sweep plan -a 'cluster=a:2x4\,b:1x4,3x4' -- trace.tsv
cells "$T/out" 2 | sed -n 2,3p | tr '\n' ' ' >"$T/grid"
echo >>"$T/grid"
is "behind a backslash" "$T/grid" "a:2x4,b:1x4 3x4 "

refused() {	# NAME MESSAGE ARG…
	name=$1 message=$2
	shift 2
	run "$name" 2 gf-sweep plan "$@"
	is "$name: it says so" "$T/err" "gf-sweep: $message
Try 'gf-sweep --help'."
}
refused "no axes" "no axes (expected --axis or --grid)" -- trace.tsv
refused "an axis without values" "bad axis 'seed' (expected NAME=VALUE,VALUE…)" -a seed -- trace.tsv
refused "an empty value" "axis 'seed': an empty value (expected NA where the option is not given)" -a seed=1, -- t
refused "a value twice" "axis 'seed': value '2' is given twice" -a seed=1:3,2 -- trace.tsv
refused "an axis twice" "axis 'seed' is given twice" -a seed=1 -a seed=2 -- trace.tsv
refused "a range without end" "axis 'seed': bad range '1:3:-1' (expected FROM:TO or FROM:TO:STEP with at most \
1000000 values)" -a seed=1:3:-1 -- trace.tsv
refused "a name that the plan has" "axis 'hash': a plan has a column of that name" -a hash=1 -- trace.tsv
refused "an option twice" "'seed' is an axis, and an option of the replay" -a seed=1,2 -- --seed=3 trace.tsv
refused "an output" "gf-replay: '-olog' (expected none: the sweep names outputs)" -a seed=1 -- trace.tsv -olog
refused "standard input" "gf-replay: '-' (expected files: standard input can be read once only)" -a seed=1 -- -
refused "an unknown placeholder" "unknown placeholder '{job}' in '{job}' (expected an axis, or what is prepared)" \
	-a seed=1 -- '{job}'
refused "a preparation that is not used" "'j' is prepared, but nothing uses it" -a seed=1 -p 'j=gf-synth jobs' -- t
refused "one that needs itself" "'j' needs 'j', which is prepared later" -a seed=1 -p 'j=gf-select {j}' -- '{j}'
refused "one by a foreign program" "'j' is prepared by 'sh' (expected a tool gf-…)" -a seed=1 -p 'j=sh x' -- '{j}'
refused "an open quote" "'gf-select 'a': a quote without its end" -a seed=1 -p "j=gf-select 'a" -- '{j}'
refused "NA in a placeholder" "axis 'n' has the value NA, but a placeholder needs one" -a n=1,NA -- 'x{n}'
printf 'policy\nfifo\nfifo\n' >twice.tsv
run "two rows alike" 1 gf-sweep plan -g twice.tsv -- trace.tsv
is "they are named" "$T/err" "gf-sweep: rows 1 and 2 are the same replay: gf-replay trace.tsv --policy=fifo"
printf 'policy\tseed\nfifo\t\n' >empty.tsv
run "an empty cell of the grid" 1 gf-sweep plan -g empty.tsv -- trace.tsv
is "its place is named" "$T/err" \
	"gf-sweep: empty.tsv:2:seed: an empty value (expected NA where the option is not given)"

# ---- running ----

run "a run" 0 counted gf-sweep run -q -j 1 plan.tsv
is "silent" "$T/err" ""
runs_of gf-replay >"$T/n"
is "each row once" "$T/n" 18
runs_of gf-synth >"$T/n"
is "each input once" "$T/n" 3
run "again" 0 counted gf-sweep run -v -q plan.tsv
has "nothing was to be done" "$T/err" '^gf-sweep: 0 rows done, 0 failed, 18 were finished, 0 inputs made$'
runs_of gf-replay >"$T/n"
is "and nothing was run" "$T/n" 18
mkdir "$T/w4" && cp plan.tsv trace.tsv "$T/w4/"
(cd "$T/w4" && gf-sweep run -j 4 plan.tsv) 2>"$T/err"
ok "four at a time, elsewhere" $?
diff -r -x '*.log' sweep "$T/w4/sweep" >"$T/diff"
is "the same files, byte by byte" "$T/diff" ""
run "the table of all" 0 gf-sweep reduce plan.tsv
cp "$T/out" reduced.tsv
(cd "$T/w4" && gf-sweep reduce plan.tsv) >"$T/out"
same "the same table" reduced.tsv "$T/out"
gf-table check reduced.tsv >/dev/null 2>&1
ok "it is a table" $?
cells reduced.tsv 1 | tr '\n' ' ' >"$T/rows"
echo >>"$T/rows"
is "in the order of the plan" "$T/rows" "row 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 "

# row 15 by hand
gf-synth jobs --jobs 40 --hours 1 --seed 2 | gf-select --rate 1.5 --rebase | gf-replay --cluster 2x4 --policy srtf |
	gf-metrics --no-meta | cut -f 1,2 >"$T/want"
awk -F '\t' '/^#/ { next } !n++ { split($0, name, "\t"); next }
	$1 == 15 { print "metric\tvalue"; for (i = 5; i <= NF; i++) print name[i] "\t" $i }' reduced.tsv >"$T/found"
same "a row is what the tools say by hand" "$T/want" "$T/found"
run "some metrics" 0 gf-sweep reduce --no-meta --metric restarts,jct_mean_s plan.tsv
head -n 1 "$T/out" >"$T/found"
is "are the columns" "$T/found" "row	policy	seed	load	restarts	jct_mean_s"
run "a metric that is none" 2 gf-sweep reduce --metric jct plan.tsv
has "is named" "$T/err" "^gf-sweep: --metric: no metric 'jct' in the results$"
run "all is finished" 0 gf-sweep status --no-meta --strict plan.tsv
is "and so it says" "$T/out" "state	rows
finished	18
failed	0
broken	0
started	0
waiting	0"

# ---- what is there is checked ----

result() { gf-sweep status --each --no-meta "$1" | awk -F '\t' -v r="$2" '$1 == r { print $3 }'; }
cut=$(result plan.tsv 4) swapped=$(result plan.tsv 5) gone=$(result plan.tsv 6)
cp "$cut" "$T/kept"
head -c 300 "$T/kept" >"$cut"
cp "$T/kept" "$swapped"
rm "$gone" "$gone.log"
run "a cut result, one of another row, one that is gone" 1 gf-sweep status --each --strict --no-meta plan.tsv
awk -F '\t' '$2 != "finished" { print $1, $2 }' "$T/out" >"$T/found"
is "are seen" "$T/found" "row state
4 broken
5 broken
6 waiting"
run "no table of what is not finished" 1 gf-sweep reduce plan.tsv
is "it says what is missing" "$T/err" \
	"gf-sweep: plan.tsv: 3 of 18 rows are not finished, row 4 the first (see gf-sweep status)"
run "but of the others" 0 gf-sweep reduce --partial plan.tsv
has "with a warning" "$T/err" "^gf-sweep: warning: plan.tsv: 3 of 18 rows left out: they are not finished$"
: >"$T/gf-replay.runs"
run "they are done again" 0 counted gf-sweep run -q plan.tsv
runs_of gf-replay >"$T/n"
is "and only they" "$T/n" 3
gf-sweep reduce plan.tsv >"$T/out"
same "the same table" reduced.tsv "$T/out"
: >"$T/gf-replay.runs"
run "a larger grid" 0 counted gf-sweep plan -a policy=fifo,sjf,srtf -a seed=1:3 -a load=0.5:1.5:0.5 \
	-p 'base=gf-synth jobs --jobs 40 --hours 1 --seed {seed}' \
	-p 'jobs=gf-select --rate {load} --rebase {base}' -o larger.tsv -- --cluster 2x4 '{jobs}'
run "of another build of the programs" 0 gf-sweep status --no-meta larger.tsv
has "nothing is finished" "$T/out" '^waiting	27$'
run "a larger grid" 0 gf-sweep plan -a policy=fifo,sjf,srtf -a seed=1:3 -a load=0.5:1.5:0.5 \
	-p 'base=gf-synth jobs --jobs 40 --hours 1 --seed {seed}' \
	-p 'jobs=gf-select --rate {load} --rebase {base}' -o larger.tsv -- --cluster 2x4 '{jobs}'
run "is run" 0 counted gf-sweep run larger.tsv
runs_of gf-replay >"$T/n"
is "as far as it is new" "$T/n" 9
has "another build of a program is said" "$T/err" \
	'^gf-sweep: warning: larger.tsv: another build of gf-replay than the plan was made with$'

gf-sweep plan -d other -a policy=fifo,srtf -o file.tsv -- --cluster 2x4 trace.tsv
cp trace.tsv "$T/trace"
sed '/^#tool/s/$/s/' "$T/trace" >trace.tsv
run "a file that changed since" 1 gf-sweep run file.tsv
is "is not taken for the other" "$T/err" \
	"gf-sweep: trace.tsv: not the file that file.tsv was made with (make a new plan)"
cp "$T/trace" trace.tsv
run "some rows" 0 gf-sweep run --rows 2 --keep-logs file.tsv
gf-sweep status --each --no-meta file.tsv | cut -f 1,2 | tr '\t\n' '  ' >"$T/found"
echo >>"$T/found"
is "and no others" "$T/found" "row state 1 waiting 2 finished "
events=$(result file.tsv 2)
run "the log is kept" 0 gf-verify -q --jobs trace.tsv "${events%.tsv}.events.tsv"
rm "${events%.tsv}.events.tsv"
run "without a log that is wanted" 0 gf-sweep run -v -q --rows 2:2 --keep-logs file.tsv
has "the row is done again" "$T/err" '^gf-sweep: 1 rows done'
for range in 1:99999999999 2:1 1:2:0 1:2:3:4 1:2:-1 1: :2 1:-; do
	run "an axis of $range" 2 gf-sweep plan -a "seed=$range" -- --cluster 2x4 trace.tsv
	has "is no range" "$T/err" "^gf-sweep: axis 'seed': bad range '$range' "
done
run "colons in texts" 0 gf-sweep plan -a cluster=a:2x4,b:1x4 -- trace.tsv
for rows in 0 3 2:1 1:x '' 1,,2; do
	run "rows '$rows'" 2 gf-sweep run --rows "$rows" file.tsv
done
has "are refused" "$T/err" "^gf-sweep: --rows: bad rows '' \(expected numbers from 1 to 2, or A:B\)$"
run "an output of run" 2 gf-sweep run -o x file.tsv
run "no plan" 1 gf-sweep run trace.tsv
is "is said" "$T/err" "gf-sweep: trace.tsv: table '' (expected 'replays', of a plan of gf-sweep)"
sed '/^#table=replays/,/^#end/s/	gf-metrics	/	sh -c x	/' file.tsv >"$T/evil.tsv"
run "a plan with other programs" 1 gf-sweep run "$T/evil.tsv"
has "is refused" "$T/err" ":metrics: bad command 'sh -c x' \(expected words, gf-metrics first\)$"
sed '/^#table=replays/,/^#end/s/ --policy=\([a-z]*\)	/ --policy=\1 --interval=9	/' file.tsv >"$T/edited.tsv"
sed '/^#table=replays/,/^#end/s|other/\([0-9a-f]*\).tsv|other/trace.tsv|' file.tsv >"$T/named.tsv"
run "a plan with a result of another name" 1 gf-sweep run "$T/named.tsv"
has "overwrites nothing" "$T/err" ":result: bad name 'trace.tsv' \(expected [0-9a-f]*\. first, behind folders\)$"
run "a plan whose command lines were edited" 1 gf-sweep run "$T/edited.tsv"
has "takes no result of the old ones" "$T/err" ':hash: not of the command lines of this row \(make a new plan\)$'
run "no folder" 2 gf-sweep plan -d '' -a policy=fifo -- --cluster 2x4 trace.tsv
has "is said" "$T/err" '^gf-sweep: empty value for --folder'
TMPDIR=$T/none
run "no folder for half-done work" 3 gf-sweep run --fresh file.tsv
TMPDIR=$T
run "a store" 0 gf-sweep plan -d other -a policy=fifo,srtf -o s.h5:/plan -- --cluster 2x4 trace.tsv
run "is a plan, too" 0 gf-sweep run -v -q s.h5:/plan
has "and of the same rows" "$T/err" ' 1 were finished'

# an axis named as a metric is
run "an axis that is a metric" 0 gf-sweep plan -d named -a jobs=20,30 -p 'j=gf-synth jobs --jobs {jobs}' \
	-o named.tsv -- --cluster 2x4 '{j}'
gf-sweep run named.tsv
run "is told apart" 0 gf-sweep reduce --no-meta --metric jobs named.tsv
is "by its name" "$T/out" "row	jobs	metric_jobs
1	20	20
2	30	30"

# ---- rows that fail ----

gf-sweep plan -d failing -a policy=fifo,no-such,srtf -o failing.tsv -- --cluster 2x4 trace.tsv
run "a row that fails" 1 gf-sweep run failing.tsv
grep -c . "$T/err" >"$T/n"
is "is one line" "$T/n" 1
has "with what the program said" "$T/err" \
	"^gf-sweep: row 2 \(policy=no-such\): gf-replay: unknown policy 'no-such' \(expected fifo"
gf-sweep status --each --no-meta failing.tsv | cut -f 2 | tr '\n' ' ' >"$T/found"
echo >>"$T/found"
is "the others are done" "$T/found" "state finished failed finished "
gf-sweep plan -d failing -a n=0,5 -p 'j=gf-synth jobs --jobs {n} --median nonsense' -o prep.tsv -- --cluster 2x4 '{j}'
run "what cannot be prepared" 1 gf-sweep run prep.tsv
has "is told of each row" "$T/err" \
	"^gf-sweep: row 2 \(n=5\): preparing 'j': gf-synth: bad value 'nonsense' for --median"
gf-sweep status --each --no-meta prep.tsv | cut -f 2 | tr '\n' ' ' >"$T/found"
echo >>"$T/found"
is "and kept in their logs" "$T/found" "state failed failed "

# ---- what was prepared is looked at ----

gf-sweep plan -d prepared -a seed=1:2 -p 'j=gf-synth jobs --jobs 20 --seed {seed}' -o prepared.tsv -- --cluster 2x4 '{j}'
gf-sweep run -q prepared.tsv
gf-sweep reduce --no-meta prepared.tsv >"$T/want"
one=$(awk -F '\t' '/^#table=inputs/ { i = 1 } i && $2 == "j" { print $5; exit }' prepared.tsv)
[ -f "$one" ]
ok "a file was prepared" $?
cp "$one" "$T/kept"
head -c 700 "$T/kept" >"$one"
run "one that was cut" 0 gf-sweep run -q --fresh prepared.tsv
same "is made again" "$T/kept" "$one"
gf-sweep reduce --no-meta prepared.tsv >"$T/out"
same "with the same results" "$T/want" "$T/out"
sed '/^#table=inputs/,/^#end/s/--jobs 20/--jobs 21/' prepared.tsv >"$T/edited.tsv"
run "an input whose command line was edited" 1 gf-sweep run "$T/edited.tsv"
has "takes no file of the old one" "$T/err" ':hash: not of the command line of this row \(make a new plan\)$'
gf-synth profiles --calibration "$TOP/data/apps.tsv" apps 2>"$T/err"
gf-prof --from pollux apps -o profiles.h5
gf-throughput -q --profile profiles.h5 -o theta.tsv
gf-sweep plan -d prepared -a seed=1:2 -p "j=gf-export --to tree-c $TOP/tests/data/tree-slow.tsv" -o hints.tsv -- --cluster 2x4 '{j}'
run "a preparation that makes no table" 1 gf-sweep run -q hints.tsv
has "is told of each row" "$T/err" "^gf-sweep: row 1 \(seed=1\): preparing 'j': [^ ]*input.tsv:"
has "in a line" "$T/err" "^gf-sweep: row 2 \(seed=2\): preparing 'j': [^ ]*input.tsv:"
find prepared/inputs -name '*.tsv' | grep -c . >"$T/n"
is "and is not kept" "$T/n" 2

# ---- outputs of a replay besides its log ----

head -n 20 "$TOP/data/workload-synth.tsv" | grep -v '^#' >work.tsv
run "fitness of each row" 0 gf-sweep plan -d sides -a seed=1:2 -o sides.tsv -- --policy pollux --search ga --cluster 2x4 --interval 60 \
	--profile profiles.h5 --fitness fit.tsv work.tsv
run "is run" 0 gf-sweep run -q -j 2 sides.tsv
for row in 1 2; do
	file=$(result sides.tsv $row)
	gf-replay --policy pollux --search ga --cluster 2x4 --interval 60 --profile profiles.h5 --seed=$row --fitness "$T/want" work.tsv \
		>"$T/log"
	same "row $row has its own" "$T/want" "${file%.tsv}.fit.tsv"
done
cmp -s "$T/want" "$(result sides.tsv 1 | sed 's/.tsv$//').fit.tsv"
ok "they are different ones" $((1 - $?))
[ ! -f fit.tsv ]
ok "none is where the name points" $?
scratch_left
is "nothing is left in between" "$T/left" ""
cp "$T/want" fit.tsv
gf-sweep plan -d sides -a seed=1:2 -o again.tsv -- --policy pollux --search ga --cluster 2x4 --interval 60 \
	--profile profiles.h5 --fitness fit.tsv work.tsv
same "a file of that name is none of the row's" sides.tsv again.tsv
rm fit.tsv "${file%.tsv}.fit.tsv"
run "a row whose file is gone" 0 gf-sweep run -v -q sides.tsv
has "is done again" "$T/err" '^gf-sweep: 1 rows done, 0 failed, 1 were finished'
same "with the same bytes" "$T/want" "${file%.tsv}.fit.tsv"
run "an axis of names" 0 gf-sweep plan -d sides -a fitness=a.tsv,b.tsv -- --policy pollux --cluster 2x4 --interval 60 \
	--profile profiles.h5 work.tsv
for name in out/fit.tsv store.h5:/fit /fit.tsv '' .fit tsv events.tsv 'a b'; do
	run "an output '$name'" 2 gf-sweep plan -a seed=1:2 -- --cluster 2x4 "--fitness=$name" work.tsv
	has "is no name" "$T/err" "^gf-sweep: gf-replay: bad output '.*' \(expected a name without a folder: each row writes FOLDER/HASH.NAME\)$"
done
run "two outputs of one name" 2 gf-sweep plan -a seed=1:2 -- --cluster 2x4 --fitness x.tsv --shares=x.tsv work.tsv
has "is said" "$T/err" "^gf-sweep: gf-replay: two outputs of the name 'x.tsv'$"
run "an option that is not spelled out" 2 gf-sweep plan -a seed=1:2 -- --cluster 2x4 --fit=x.tsv work.tsv
has "is said" "$T/err" "^gf-sweep: gf-replay: '--fit=x.tsv' \(expected the option in full\)$"
run "nor the output" 2 gf-sweep plan -a seed=1:2 -- --cluster 2x4 --out=x.tsv work.tsv
has "is said" "$T/err" "^gf-sweep: gf-replay: '--out=x.tsv' \(expected none: the sweep names outputs\)$"
# all such options of gf-replay are known
tr -d '\n' <"$TOP/tools/gf-replay.c" | sed 's/{ *[0-9'"'"'a-zA-Z]*, *"/\n&/g' | grep CLI_OUTPUT | sed 's/^[^"]*"\([a-z-]*\)".*/--\1/' | sort >"$T/found"
sed -n 's/.*options\[\] = { \(.*\), NULL };/\1/p' "$TOP/tools/sweep_sides.c" | tr -d '" ' | tr , '\n' | sort >"$T/want"
same "the outputs of gf-replay" "$T/want" "$T/found"

# ---- killed ----

# the first replay of seed 3 is killed
cat >"$T/mischief" <<END
case "\$*" in *--seed=3*) [ -f "$T/killed" ] || { : >"$T/killed"; kill -9 \$\$; } ;; esac
END
PATH=$T/bin:$PATH gf-sweep plan -d killed -a seed=1:6 -o killed.tsv -- --cluster 2x4 trace.tsv
: >"$T/gf-replay.runs"
run "kill -9 of a program" 0 counted gf-sweep run -j 2 killed.tsv
runs_of gf-replay >"$T/n"
is "costs one more run" "$T/n" 7
# all replays of seed 3 are killed
cat >"$T/mischief" <<END
case "\$*" in *--seed=3*) kill -9 \$\$ ;; esac
END
: >"$T/gf-replay.runs"
run "kill -9 of every try" 3 counted gf-sweep run -j 2 --fresh --retries 2 killed.tsv
runs_of gf-replay >"$T/n"
is "has so many tries" "$T/n" 8
is "and is reported" "$T/err" "gf-sweep: row 3 (seed=3): gf-replay was killed by signal 9"
scratch_left
is "nothing is left in between" "$T/left" ""

# gf-sweep itself is killed while rows 4 and 5 wait; none that is finished then is run again
cat >"$T/mischief" <<END
case "\$*" in *--seed=[45]*) while [ ! -f "$T/go" ]; do sleep 0.1; done ;; esac
END
sed 's/killed/parent/g' killed.tsv >parent.tsv
: >"$T/gf-replay.runs"
PATH=$T/bin:$PATH gf-sweep run -q -j 2 parent.tsv >"$T/out" 2>"$T/err" &
pid=$!
k=0
while [ $k -lt 200 ] && ! gf-sweep status --each --no-meta parent.tsv |
	awk -F '\t' '{ n[$2]++ } END { exit !(n["finished"] == 3 && n["started"] == 2) }'; do
	sleep 0.05
	k=$((k + 1))
done
kill -9 $pid
wait $pid 2>/dev/null
gf-sweep status --each --no-meta parent.tsv | cut -f 2 | tr '\n' ' ' >"$T/found"
echo >>"$T/found"
is "kill -9 of gf-sweep: three rows are done" "$T/found" "state finished finished finished started started waiting "
: >"$T/go"
run "it goes on" 0 counted gf-sweep run -q -j 2 parent.tsv
cut -f 1 "$T/gf-replay.runs" | sed 's/.*--seed=\([0-9]\).*/\1/' | sort | uniq -c | sed 's/^ *//' | tr '\n' ',' >"$T/found"
echo >>"$T/found"
is "finished rows were run once" "$T/found" "1 1,1 2,1 3,2 4,2 5,1 6,"
rm -f "$T/mischief"
PATH=$T/bin:$PATH gf-sweep run -q --fresh killed.tsv
gf-sweep reduce --no-meta killed.tsv >"$T/a"
gf-sweep reduce --no-meta parent.tsv >"$T/b"
same "with the same results" "$T/a" "$T/b"
rm -rf "$T"/gf-sweep.*

# a signal ends the programs and leaves nothing
rm -f "$T/go"
cat >"$T/mischief" <<END
echo \$\$ >>"$T/children"
while [ ! -f "$T/go" ]; do sleep 0.1; done
END
PATH=$T/bin:$PATH gf-sweep run -q -j 2 --fresh killed.tsv >"$T/out" 2>"$T/err" &
pid=$!
k=0
while [ $k -lt 200 ] && { [ ! -f "$T/children" ] || [ "$(wc -l <"$T/children")" -lt 2 ]; }; do
	sleep 0.05
	k=$((k + 1))
done
kill -TERM $pid
rc=0
wait $pid || rc=$?
[ $rc -eq 143 ]
ok "SIGTERM ends it as a signal does" $?
left=0
while read -r child; do
	if kill -0 "$child" 2>/dev/null; then left=1; fi
done <"$T/children"
ok "and its programs" $left
scratch_left
is "and its half-done work" "$T/left" ""
cd "$TOP" || exit 1
