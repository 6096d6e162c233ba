# SPDX-License-Identifier: MIT
# gf-table: every verb; what goes into a store comes out of it, byte by byte; operands and faults.
. tests/cli/lib.sh

D=tests/data
TAB=$(printf '\t')

# ---- convert ----

for f in table-types table-several table-end-meta; do
	run "convert $f" 0 gf-table convert "$D/$f.tsv"
	same "$f is canonical" "$D/$f.tsv" "$T/out"
	run "$f into a store" 0 gf-table convert "$D/$f.tsv" -o "$T/way.h5:/some/$f"
	run "$f out of it" 0 gf-table convert "$T/way.h5:/some/$f"
	same "$f comes back byte by byte" "$D/$f.tsv" "$T/out"
done
for f in table-types.tsv.gz table-types.tsv.zst; do
	run "convert $f" 0 gf-table convert "$D/$f"
	same "$f holds the same" "$D/table-types.tsv" "$T/out"
	run "convert $f from standard input" 0 gf-table convert - <"$D/$f"
	same "$f from standard input" "$D/table-types.tsv" "$T/out"
done
head -c 200 "$D/table-types.tsv.gz" >"$T/cut.gz"
run "a gzip file that was cut" 1 gf-table convert "$T/cut.gz"
is "says so" "$T/err" "gf-table: $T/cut.gz: truncated gzip file"
is "and writes nothing" "$T/out" ""

run "into a store" 0 gf-table convert "$D/table-types.tsv" -o "$T/a.h5:/deep/types"
is "silently" "$T/out" ""
run "out of the store" 0 gf-table convert "$T/a.h5:/deep/types"
same "byte by byte" "$D/table-types.tsv" "$T/out"
run "several tables into a store" 0 gf-table convert "$D/table-several.tsv" -o "$T/b.h5"
run "and out of it, without naming them" 0 gf-table convert "$T/b.h5"
same "all of them, in order" "$D/table-several.tsv" "$T/out"
same "the store is what it was" "$D/table-several.h5" "$T/b.h5"
run "beside others" 0 gf-table convert "$D/table-several.tsv" -o "$T/a.h5:/model"
run "the others are still there" 0 gf-table convert "$T/a.h5:/deep/types"
same "unchanged" "$D/table-types.tsv" "$T/out"
run "a path stands for what is below it" 0 gf-table convert "$T/a.h5:/model"
same "three tables" "$D/table-several.tsv" "$T/out"
cp "$T/a.h5" "$T/before.h5"
run "the same once more" 0 gf-table convert "$D/table-several.tsv" -o "$T/a.h5:/model"
same "changes no byte" "$T/before.h5" "$T/a.h5"
run "a store into a store" 0 gf-table convert "$T/a.h5" -o "$T/c.h5"
same "is a copy" "$T/a.h5" "$T/c.h5"
run "from another folder" 0 sh -c 'cd "$1" && gf-table convert "$2/$3" -o d.h5' sh "$T" "$TOP" "$D/table-several.tsv"
same "the same bytes" "$T/b.h5" "$T/d.h5"
run "a table without a name and without a path" 0 gf-table convert "$D/table-plain.tsv" -o "$T/e.h5"
run "is called table" 0 gf-table list --no-meta "$T/e.h5"
has "in the store" "$T/out" '^/table[[:blank:]]'
run "a store without a path keeps what it holds" 0 gf-table convert "$D/table-several.tsv" -o "$T/e.h5"
run "and gets the new tables" 0 gf-table list --no-meta "$T/e.h5"
has "the old one" "$T/out" '^/table[[:blank:]]'
lines "the new ones" "$T/out" $(($(grep -c '^#fit-table' "$D/table-several.tsv") + 2))
find "$T" -name '*.lock' -o -name '*.tmp.*' >"$T/left"
is "nothing is left over" "$T/left" ""

printf 'job_id,submit_s,gpus,note\n7,0.5,4,"a, b"\n8,2,,\n' >"$T/mine.csv"
printf 'job_id\tsubmit_s\tgpus\tnote\n7\t0.5\t4\ta, b\n8\t2\tNA\tNA\n' >"$T/mine.tsv"
run "comma-separated text, by its name" 0 gf-table convert --no-meta "$T/mine.csv"
same "the same as a table" "$T/mine.tsv" "$T/out"
run "comma-separated text from a pipe" 0 sh -c "gf-table convert --csv <'$T/mine.csv'"
has "types are inferred" "$T/out" '^#types=text,time,int,text$'
run "in the place of a table" 1 gf-replay -c 1x4 "$T/mine.csv"
is "gets a hint" "$T/err" "gf-replay: $T/mine.csv:1: no column 'job_id' (found job_id,submit_s,gpus,note; for comma-separated text see gf-table convert --csv, and gf-trace)"
run "a workload file in the place of a table" 1 gf-replay -c 1x4 tests/data/trace-pollux.csv
is "gets its own" "$T/err" "gf-replay: tests/data/trace-pollux.csv:1: no column 'job_id' (found \
name,time,application,num_replicas,batch_size; for a workload file see gf-trace --from pollux)"

run "a plain table" 0 gf-table convert "$D/table-plain.tsv"
is "gets types" "$T/out" "#fit-table/1
#types=text,int,real,real,text
job_id${TAB}gpus${TAB}duration_s${TAB}share${TAB}note
001${TAB}1${TAB}12.5${TAB}0.25${TAB}x
002${TAB}2${TAB}NA${TAB}1${TAB}7
003${TAB}4${TAB}1.0000000001${TAB}nan${TAB}NA
#end rows=3"
printf 'user\tn\tx\n12345678901234567891\t9223372036854775807\t9007199254740993\n1\t1\t0.5\n' >"$T/long.tsv"
run "integers that no number holds" 0 gf-table convert "$T/long.tsv"
is "keep their digits" "$T/out" "#fit-table/1
#types=text,int,text
user${TAB}n${TAB}x
12345678901234567891${TAB}9223372036854775807${TAB}9007199254740993
1${TAB}1${TAB}0.5
#end rows=2"
run "--no-meta" 0 gf-table convert --no-meta "$D/table-several.tsv"
is "the first table, bare" "$T/out" "term${TAB}weight
intercept${TAB}0.25
hour${TAB}-1.75"

# An open descriptor is written where it stands; nothing is renamed over it.
for verb in show convert; do
	gf-table $verb "$D/table-plain.tsv" >"$T/want"
	run "$verb to an open descriptor" 0 sh -c 'exec 5>"$2"; echo before >&5
		gf-table "$1" tests/data/table-plain.tsv -o /dev/fd/5; echo behind >&5' sh $verb "$T/five"
	{ echo before; cat "$T/want"; echo behind; } >"$T/three"
	same "$verb keeps what stands there" "$T/three" "$T/five"
	mkfifo "$T/pipe.$verb"
	cat "$T/pipe.$verb" >"$T/piped" &
	run "$verb into a pipe" 0 gf-table $verb "$D/table-plain.tsv" -o "$T/pipe.$verb"
	wait
	same "$verb: all of it" "$T/want" "$T/piped"
	run "$verb to a descriptor that is not open" 3 gf-table $verb "$D/table-plain.tsv" -o /dev/fd/77
	is "$verb says so" "$T/err" "gf-table: /dev/fd/77: cannot open for writing: Bad file descriptor"
done

# ---- show ----

run "show" 0 gf-table show --rows 2 --digits 2 "$D/table-several.tsv"
is "aligned, all tables" "$T/out" "terms
term       weight
intercept    0.25
hour         -1.8

scores
term  bin  score
hour    0    0.5
hour    1     NA

empty
key  at_s"
run "show some rows" 0 gf-table show -n 1 "$D/jobs-small.tsv"
lines "header, row and a count" "$T/out" 3
has "the count" "$T/out" '^\.\.\. [0-9]+ more of [0-9]+ rows$'
run "show all rows" 0 gf-table show -n 0 "$D/jobs-small.tsv"
hasnt "nothing is left out" "$T/out" 'more of'
run "show into a store" 2 gf-table show -o "$T/x.h5:/t" "$D/jobs-small.tsv"
run "show --rows -1" 2 gf-table show --rows -1 "$D/jobs-small.tsv"

# ---- check ----

run "check" 0 gf-table check --no-meta "$D/table-several.tsv"
is "tables and rows" "$T/out" "table${TAB}rows${TAB}columns
terms${TAB}2${TAB}2
scores${TAB}2${TAB}3
empty${TAB}0${TAB}2"
run "check a store" 0 gf-table check --no-meta "$D/table-several.h5"
is "paths and rows" "$T/out" "path${TAB}rows${TAB}columns
/terms${TAB}2${TAB}2
/scores${TAB}2${TAB}3
/empty${TAB}0${TAB}2"
run "check --schema jobs" 0 gf-table check --schema jobs "$D/jobs-small.tsv"
run "check --schema log" 0 gf-table check --schema log "$D/log-small.tsv"
run "a log is no jobs table" 1 gf-table check --schema jobs "$D/log-small.tsv"
is "nothing on standard output" "$T/out" ""
lines "one line" "$T/err" 1
printf 'job_id\tsubmit_s\tgpus\nj1\t0\t1\nj2\t5\t-2\n' >"$T/jobs.tsv"
run "a negative number of GPUs" 1 gf-table check --schema jobs "$T/jobs.tsv"
is "names line and field" "$T/err" "gf-table: $T/jobs.tsv:3:gpus: bad value '-2' (expected a number from 0)"
gf-table convert "$T/jobs.tsv" -o "$T/jobs.h5:/jobs"
run "the same in a store" 1 gf-table check --schema jobs "$T/jobs.h5"
is "names path, row and field" "$T/err" \
	"gf-table: $T/jobs.h5:/jobs:2:gpus: bad value '-2' (expected a number from 0)"
run "a schema that is none" 2 gf-table check --schema x "$T/jobs.tsv"
sed '$d' "$D/table-several.tsv" >"$T/cut.tsv"
run "the last of several tables was cut" 1 gf-table check "$T/cut.tsv"
is "says so" "$T/err" "gf-table: $T/cut.tsv:19: truncated table (no #end after 0 rows)"

# ---- describe, list ----

run "describe" 0 gf-table describe --no-meta "$D/table-plain.tsv"
is "every column" "$T/out" "table${TAB}column${TAB}type${TAB}rows${TAB}missing${TAB}distinct${TAB}min${TAB}max
NA${TAB}job_id${TAB}text${TAB}3${TAB}0${TAB}3${TAB}001${TAB}003
NA${TAB}gpus${TAB}int${TAB}3${TAB}0${TAB}3${TAB}1${TAB}4
NA${TAB}duration_s${TAB}real${TAB}3${TAB}1${TAB}2${TAB}1.0000000001${TAB}12.5
NA${TAB}share${TAB}real${TAB}3${TAB}0${TAB}3${TAB}0.25${TAB}1
NA${TAB}note${TAB}text${TAB}3${TAB}1${TAB}2${TAB}7${TAB}x"
gf-table describe "$D/table-types.tsv" | sed '/^#/d; s/^[^	]*	//' >"$T/tsv"
gf-table describe "$T/a.h5:/deep/types" | sed '/^#/d; s/^[^	]*	//' >"$T/h5"
same "a store describes itself the same way" "$T/tsv" "$T/h5"
run "list" 0 gf-table list --no-meta "$T/a.h5"
is "paths" "$T/out" "path${TAB}rows${TAB}columns
/deep/types${TAB}9${TAB}5
/model${TAB}2${TAB}2
/model/scores${TAB}2${TAB}3
/model/empty${TAB}0${TAB}2"
run "list a TSV file" 2 gf-table list "$D/table-types.tsv"
run "a path that is not there" 1 gf-table show "$T/a.h5:/mod"
is "says so" "$T/err" "gf-table: $T/a.h5: no table '/mod' in this store"

# ---- other programs ----

if command -v h5dump >/dev/null 2>&1; then
	run "h5dump reads a store" 0 h5dump -d /model/scores/bin "$T/a.h5"
	has "its values" "$T/out" '\(0\): 0, 1'
	hasnt "no complaint" "$T/err" .
else
	skip "h5dump is not installed" 3
fi
