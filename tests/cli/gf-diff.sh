# SPDX-License-Identifier: MIT
# gf-diff: equal in any order; what differs, first and worst; keys, tolerances, faults.
. tests/cli/lib.sh

D=tests/data
t() { printf '%b' "$2" >"$T/$1"; }

# ---- equal ----

run "a table and itself" 0 gf-diff "$D/table-types.tsv" "$D/table-types.tsv" --key name,count
is "silent" "$T/out" ""
is "silent on standard error, too" "$T/err" ""
t a.tsv 'job_id\tgpus\tx\nj1\t1\t0.5\nj2\t2\tNA\nj3\t4\tnan\n'
t b.tsv 'x\tjob_id\tgpus\nnan\tj3\t4\nNA\tj2\t2\n0.5\tj1\t1\n'
run "rows and columns in another order" 0 gf-diff "$T/a.tsv" "$T/b.tsv"
run "the same, exactly" 0 gf-diff --exact "$T/a.tsv" "$T/b.tsv"
gf-table convert "$T/a.tsv" -o "$T/s.h5:/a"
run "a store and a file" 0 gf-diff "$T/s.h5" "$T/b.tsv"
run "standard input" 0 gf-diff - "$T/b.tsv" <"$T/a.tsv"

# ---- different ----

t c.tsv 'job_id\tgpus\tx\ty\nj2\t3\t1\t0\nj1\t1\t0.75\t0\nj9\t1\t1\t0\n'
run "different" 1 gf-diff "$T/a.tsv" "$T/c.tsv"
is "what, first, worst, and how many" "$T/out" "only in B: column y
only in A: row job_id=j3
only in B: row job_id=j9
x: job_id=j1 0.5 -> 0.75 (off by 0.25, 33.3 %)
gpus: job_id=j2 2 -> 3 (off by 1, 33.3 %)
x: job_id=j2 NA -> 1
gpus: 1 cell differs; first job_id=j2 2 -> 3 (off by 1, 33.3 %); worst job_id=j2 2 -> 3 (off by 1, 33.3 %)
x: 2 cells differ; first job_id=j1 0.5 -> 0.75 (off by 0.25, 33.3 %); worst job_id=j2 NA -> 1
largest share: gpus: job_id=j2 2 -> 3 (off by 1, 33.3 %)
0 columns and 1 row only in A, 1 column and 1 row only in B, 3 of 4 cells differ"
is "nothing on standard error" "$T/err" ""
cp "$T/out" "$T/report"
run "--max 0" 1 gf-diff --max 0 "$T/a.tsv" "$T/c.tsv"
lines "the sums only" "$T/out" 5
run "-o" 1 gf-diff "$T/a.tsv" "$T/c.tsv" -o "$T/file"
same "writes the report" "$T/report" "$T/file"
is "not to standard output" "$T/out" ""
run "some columns" 1 gf-diff --columns gpus "$T/a.tsv" "$T/c.tsv"
hasnt "only these" "$T/out" '^x:|column y'
run "but not others" 1 gf-diff --ignore x,y "$T/a.tsv" "$T/c.tsv"
hasnt "not these" "$T/out" '^x:|column y'
t d.tsv 'job_id\tgpus\tx\nj1\t1\t0.5\nj2\t2\tNA\n'
t e.tsv 'job_id\tgpus\tx\nj2\t2\tNA\nj1\t1\t0.5000001\n'
run "--rel wide enough" 0 gf-diff --rel 3e-7 "$T/d.tsv" "$T/e.tsv"
run "--rel too narrow" 1 gf-diff --rel 1e-7 "$T/d.tsv" "$T/e.tsv"
run "--abs wide enough" 0 gf-diff --abs 2e-7 "$T/d.tsv" "$T/e.tsv"
run "--abs too narrow" 1 gf-diff --abs 5e-8 "$T/d.tsv" "$T/e.tsv"
run "missing is never close" 1 gf-diff --rel 1000 --columns x "$T/a.tsv" "$T/c.tsv"
t f.tsv 'job_id\tgpus\nj1\t1\n'
run "a table less" 1 gf-diff --key term "$D/table-several.tsv" "$D/table-several.tsv"
has "terms are no key of scores" "$T/err" "duplicate key 'term=hour' \(already in 13; expected one row a key, see --key\)"
sed '/table=scores/,$d' "$D/table-several.tsv" | sed '$d' >"$T/terms.tsv"
printf '#fit-table/1\n#table=more\n#types=text\nk\n#end rows=0\n' >"$T/more"
cat "$T/terms.tsv" "$T/more" >"$T/two.tsv"
run "a table more" 1 gf-diff "$T/terms.tsv" "$T/two.tsv"
is "is named" "$T/out" "only in B: table more"
run "both tables equal" 0 gf-diff "$T/two.tsv" "$T/two.tsv"

# ---- keys ----

t g.tsv 'a\tb\tv\n1\t1\t5\n1\t2\t6\n'
t h.tsv 'a\tb\tv\n1\t2\t6\n1\t1\t7\n'
run "two key columns" 1 gf-diff --key a,b "$T/g.tsv" "$T/h.tsv"
has "name the row" "$T/out" '^v: a=1 b=1 5 -> 7 \(off by 2, 28.6 %\)$'
run "--key given twice" 1 gf-diff -k a -k b "$T/g.tsv" "$T/h.tsv"
has "is the same" "$T/out" '^v: a=1 b=1 5 -> 7 \(off by 2, 28.6 %\)$'
run "a key that is none" 1 gf-diff --key a "$T/g.tsv" "$T/h.tsv"
is "both rows are named" "$T/err" \
	"gf-diff: $T/g.tsv:3:a: duplicate key 'a=1' (already in 2; expected one row a key, see --key)"
is "and nothing is compared" "$T/out" ""
run "an unknown key" 1 gf-diff --key zz "$T/g.tsv" "$T/h.tsv"
is "is named, with what there is" "$T/err" "gf-diff: $T/g.tsv: no column 'zz' (found a, b, v)"
run "an unknown column" 1 gf-diff --key a,b --ignore zz "$T/g.tsv" "$T/h.tsv"
is "likewise" "$T/err" "gf-diff: $T/g.tsv: no column 'zz' (found a, b, v)"

# ---- wrong usage ----

run "standard input twice" 2 gf-diff - - </dev/null
run "--exact with a tolerance" 2 gf-diff --exact --rel 1 "$T/a.tsv" "$T/b.tsv"
run "a negative tolerance" 2 gf-diff --rel -1 "$T/a.tsv" "$T/b.tsv"
run "one operand" 2 gf-diff "$T/a.tsv"
run "the second file is missing" 3 gf-diff "$T/a.tsv" "$T/none.tsv"
run "a report into a store" 2 gf-diff "$T/a.tsv" "$T/b.tsv" -o "$T/x.h5:/t"

# ---- the same number in columns of different types ----

printf 'submit_s\tv\n0.1\t0.5\n0.2\t0.25\n-0\t1\n' >"$T/p.tsv"
printf 'submit_s\tv\n0.1\t0.5\n2e-1\t0.250\n0\tx\n' >"$T/q.tsv"
run "times beside reals, numbers beside texts" 1 gf-diff "$T/p.tsv" "$T/q.tsv"
is "only what differs" "$T/out" "v: submit_s=0 1 -> x
v: 1 cell differs; first submit_s=0 1 -> x; worst submit_s=0 1 -> x
0 columns and 0 rows only in A, 0 columns and 0 rows only in B, 1 of 3 cells differ"
printf 'user\tv\n12345678901234567891\t1\n' >"$T/p.tsv"
printf 'user\tv\n12345678901234567892\t1\n' >"$T/q.tsv"
run "names of twenty digits" 1 gf-diff "$T/p.tsv" "$T/q.tsv"
has "are not rounded" "$T/out" '^only in A: row user=12345678901234567891$'

# ---- where the report goes ----

printf 'k\tv\n1\t2\n' >"$T/p.tsv"
printf 'k\tv\n1\t3\n' >"$T/q.tsv"
mkfifo "$T/pipe"
cat "$T/pipe" >"$T/piped" &
run "a report into a pipe" 1 gf-diff "$T/p.tsv" "$T/q.tsv" -o "$T/pipe"
wait
gf-diff "$T/p.tsv" "$T/q.tsv" >"$T/report"
same "is the report" "$T/report" "$T/piped"
[ -p "$T/pipe" ]
ok "and the pipe is still one" $?
run "a full device" 3 gf-diff "$T/p.tsv" "$T/q.tsv" -o /dev/full
is "says so" "$T/err" "gf-diff: /dev/full: cannot write: No space left on device"
run "an empty name" 2 gf-diff "$T/p.tsv" "$T/q.tsv" -o ''
is "is no file" "$T/err" "gf-diff: empty value for --output (expected FILE)
Try 'gf-diff --help'."

t u1.tsv 'metric\tvalue\tunit\ngpu_time\t1e6\ts\nrestarts\t2\t1\n'
t u2.tsv 'metric\tvalue\tunit\ngpu_time\t1000100\ts\nrestarts\t3\t1\n'
run "a column of several units" 1 gf-diff "$T/u1.tsv" "$T/u2.tsv"
has "is judged by shares" "$T/out" '; worst metric=restarts 2 -> 3 \(off by 1, 33.3 %\)$'
sed 's/	1$/	s/' "$T/u1.tsv" >"$T/u3.tsv"
run "of one unit" 1 gf-diff -c value "$T/u3.tsv" "$T/u2.tsv"
has "by what they are off" "$T/out" '; worst metric=gpu_time 1000000 -> 1000100 \(off by 100, 0.01 %\)$'
