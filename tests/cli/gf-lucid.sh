# SPDX-License-Identifier: MIT
# gf-lucid: the profiler and the packing analysis.
. tests/cli/lib.sh
tab=$(printf '\t')
rows() { grep -v '^#' "$1" | tail -n +2; }
C="--configs tests/data/lucid-configs.tsv"

tr ' ' '\t' >"$T/jobs.tsv" <<X
job_id submit_s gpus duration_s
a 0 8 300
b 1 4 30
c 2 2 300
d 3 1 300
e 4 9 10
X
run "profile" 0 gf-lucid profile --nodes 1 --time 100 "$T/jobs.tsv"
rows "$T/out" | tr '\t' ' ' >"$T/rows"
is "the smallest first" "$T/rows" "a 8 0 0 100 0 0
b 4 1 100 130 99 1
c 2 2 100 200 98 0
d 1 3 100 200 97 0
e 9 4 NA NA NA NA"
run "naive" 0 gf-lucid profile --nodes 1 --time 100 --gpus 4 --naive "$T/jobs.tsv"
rows "$T/out" | tr '\t' ' ' >"$T/rows"
is "in order of arrival, and no large ones" "$T/rows" "a 8 0 NA NA NA NA
b 4 1 1 31 0 1
c 2 2 2 102 0 0
d 1 3 3 103 0 0
e 9 4 NA NA NA NA"
run "a sweep" 0 gf-lucid profile --nodes 1 --sweep 20 --sweep 100 "$T/jobs.tsv"
rows "$T/out" | cut -f 1-6,7,10,11 | tr '\t' ' ' >"$T/rows"
is "has a row for each time and order" "$T/rows" "20 space-aware 5 4 0 0 13.5 19 300
20 arrival 5 4 0 0 13.5 19 300
100 space-aware 5 4 1 0.20000000000000001 73.5 99 1220
100 arrival 5 4 1 0.20000000000000001 73.5 99 1220"
awk 'BEGIN { OFS = "\t"; print "job_id", "submit_s", "gpus", "duration_s"; for (i = 0; i < 20; i++) print "j" i, 3, 8, 60 }' \
	>"$T/burst.tsv"
awk 'BEGIN { OFS = "\t"; print "time_s", "jobs", "gpus"; for (i = 0; i < 9; i++) print 600 * i, 5, 5 }' >"$T/forecast.tsv"
run "scaling" 0 gf-lucid profile -v --forecast "$T/forecast.tsv" "$T/burst.tsv"
has "takes a node in and gives it back" "$T/err" "2 changes of size"
run "scaling: run again" 0 gf-lucid profile --forecast "$T/forecast.tsv" "$T/burst.tsv"
has "the third job starts at 10 s" "$T/out" "^j2	8	3	10	70	7	1$"

run "pack" 0 gf-lucid pack $C tests/data/lucid-pairs.tsv
has "a pair without a label is counted" "$T/err" "^gf-lucid: warning: 1 pair left out: no label of a configuration$"
rows "$T/out" | cut -f 1-6,10 | tr '\t' ' ' >"$T/rows"
is "every sum of labels" "$T/rows" "label 0 6 3 1 1 0.97999999999999998
label 1 6 3 2 2 0.90000000000000002
label 2 6 3 4 3 0.70999999999999996
label 3 6 3 5 3 0.66000000000000003
label 4 6 3 6 3 0.5"
run "by utilisation" 0 gf-lucid pack $C --rule util --free 0.9 --worst tests/data/lucid-pairs.tsv
rows "$T/out" | cut -f 2,4-6 | tr '\t' ' ' | head -3 >"$T/rows"
is "ascending" "$T/rows" "40 3 1 1
50 3 2 2
65 3 3 3"
run "pairs" 0 gf-lucid pack $C --pairs tests/data/lucid-pairs.tsv
has "one a row" "$T/out" "^Rook	Wren	NA	50	22	1	0.90000000000000002	0.94999999999999996	0.90000000000000002$"
for verb in "profile $T/jobs.tsv" "pack $C tests/data/lucid-pairs.tsv"; do
	# shellcheck disable=SC2086
	gf-lucid $verb >"$T/one" 2>"$T/err"
	# shellcheck disable=SC2086
	LC_ALL=C.UTF-8 gf-lucid $verb --threads 4 >"$T/two" 2>"$T/err"
	same "${verb%% *}: the same bytes" "$T/one" "$T/two"
done

run "no verb" 2 gf-lucid
run "larger jobs than the profiler" 2 gf-lucid profile --nodes 1 --gpus 9 "$T/jobs.tsv"
is "cannot be profiled" "$T/err" "gf-lucid: jobs to be profiled may be larger than the profiler
Try 'gf-lucid --help'."
run "a sweep of words" 2 gf-lucid profile --sweep soon "$T/jobs.tsv"
has "is shown" "$T/err" "^gf-lucid: bad value 'soon' for --sweep .expected seconds from 0 on.$"
printf 'job_id\tsubmit_s\tgpus\nx\t0\t1\n' >"$T/none.tsv"
run "jobs without a duration" 1 gf-lucid profile "$T/none.tsv"
is "are bad rows" "$T/err" "gf-lucid: $T/none.tsv:2:duration_s: missing (expected seconds, or --profile; --skip-bad=N leaves such jobs out)"
printf 'time_s\tjobs\tgpus\n5\t1\t1\n5\t1\t1\n' >"$T/back.tsv"
run "a forecast that goes back" 1 gf-lucid profile --forecast "$T/back.tsv" "$T/jobs.tsv"
is "is named" "$T/err" "gf-lucid: $T/back.tsv:3:time_s: time goes back (expected more than before)"
sed 's/	0.98	/	-1	/' tests/data/lucid-pairs.tsv >"$T/neg.tsv"
run "a speed below 0" 1 gf-lucid pack $C "$T/neg.tsv"
is "is named, too" "$T/err" "gf-lucid: $T/neg.tsv:3:speed1: bad speed -1 (expected above 0)"
run "no configurations" 2 gf-lucid pack tests/data/lucid-pairs.tsv

run "score: too few labels" 1 gf-lucid score tests/data/lucid-configs.tsv
is "says so" "$T/err" "gf-lucid: tests/data/lucid-configs.tsv: 3 configurations with a label (expected 5 at least)"
run "score: enough" 0 gf-lucid score tests/data/lucid-labels.tsv
rows "$T/out" | cut -f 1-5 | tr '\t' ' ' >"$T/rows"
is "score: every way to ask" "$T/rows" "alone training 24 1 24
alone leave-one-out 24 24 24
alone leave-app-out 24 6 24
alone 5-fold x 10 24 50 240
alone 70/30 x 200 24 200 1600"
has "what it was grown from it knows" "$T/out" "^alone	training	24	1	24	24	1	1	1$"
awk -F '\t' '$2 == "leave-one-out" && $6 > 8 && $6 < 24 { good = 1 } END { exit !good }' "$T/out"
ok "what it has not seen, not always" $?
cp "$T/out" "$T/first"
run "score: again" 0 gf-lucid score tests/data/lucid-labels.tsv
same "score: the same draws" "$T/first" "$T/out"
run "score: another seed" 0 gf-lucid score --seed 2 tests/data/lucid-labels.tsv
! cmp -s "$T/first" "$T/out"
ok "score: other draws" $?
run "score: text" 0 gf-lucid score --write text tests/data/lucid-labels.tsv
has "a tree" "$T/out" "^.--- .* <= "
run "score: tree" 0 gf-lucid score --write tree -o "$T/tree.tsv" tests/data/lucid-labels.tsv
cp "$T/out" "$T/nothing"
run "score: gf-tree reads it" 0 gf-tree print "$T/tree.tsv"
run "score: labels" 0 gf-lucid score --write labels -o "$T/labels.tsv" tests/data/lucid-labels.tsv
awk -F '\t' '!/^#/ && $8 == $9 { n++ } END { print n }' "$T/labels.tsv" >"$T/n"
awk -F '\t' '$2 == "leave-one-out" { print $6 }' "$T/first" >"$T/want"
same "score: as many right as leaving one out" "$T/n" "$T/want"
run "score: they are configurations" 0 gf-lucid pack --configs "$T/labels.tsv" /dev/stdin <<X
app1	dataset1	batch_size1	amp1	speed1	app2	dataset2	batch_size2	amp2	speed2
Wren	d1	16	1	1	Wren	d1	32	0	1
X

# ---- features: jobs of three users, some of them again and again ----
awk 'BEGIN {
	OFS = "\t"
	print "#fit-table/1"; print "#origin=2020-02-28T00:00:00"
	print "job_id", "user", "group", "name", "submit_s", "duration_s", "gpus"
	x = 7
	for (i = 0; i < 1500; i++) {
		x = (x * 1103 + 12345) % 1000003
		u = x % 3
		k = int(x / 7) % 4
		t += int(x / 11) % 2400
		print "j" i, "u" u, "v" (u > 1), "job" k k k "-run" (x % 10), t,
			int((60 + 20 * u) * 5 ^ k * (0.8 + (x % 41) / 100)), 2 ^ (x % 3)
	}
	print "#end rows=1500"
}' >"$T/users.tsv"
run "features" 0 gf-lucid features -v "$T/users.tsv"
has "names go together" "$T/err" "1500 jobs, 4 groups of names$"
cp "$T/out" "$T/features"
# columns that do not hold the job's own answer
known() { grep -v '^#' "$1" | cut -f 1,2,5- | sort; }
known "$T/features" >"$T/known"
awk -F '\t' '!/^#/ && $1 != "job_id" {
	d = int($2 / 86400); wd = (4 + d) % 7 + 1
	bad += $12 != wd || $13 != int($2 % 86400 / 3600) || $10 != (d < 2 ? 2 : d < 33 ? 3 : d < 63 ? 4 : 5)
	n++
} END { exit bad || n != 1500 }' "$T/features"
ok "features: 2020-02-29 was a Saturday, March comes behind it" $?
# a second way to count: for each job all others
awk -F '\t' '!/^#/ && $1 != "job_id" {
	n++; s[n] = $5 + 0; e[n] = $5 + $6; d[n] = $6; u[n] = $2; g[n] = $3 SUBSEP $7; z[n] = $1
} END {
	for (i = 1; i <= n; i++) {
		a = b = c = l = 0
		for (j = 1; j <= n; j++)
			if (s[j] < s[i] && e[j] <= s[i]) {
				a++; if (g[j] == g[i]) b++
				if (u[j] == u[i]) { c++; l += log(1 + d[j]) }
			}
		printf "%s %d %d %d %s\n", z[i], a, b, c, c ? sprintf("%.6g", exp(l / c) - 1) : "NA"
	}
}' "$T/users.tsv" >"$T/want"
awk -F '\t' '!/^#/ && $1 != "job_id" {
	printf "%s %d %d %d %s\n", $1, $15, $21, $24, $25 == "NA" ? "NA" : sprintf("%.6g", $25) }' "$T/features" >"$T/got"
same "features: just what had ended" "$T/want" "$T/got"
# the future: rows shuffled; whatever ends after the 900th submission ends at another time, or never, and what
# comes after it is of someone else
future() {
	awk -F '\t' -v OFS='\t' '/^#end/ { next } /^#/ || $1 == "job_id" { print; next } {
		i = substr($1, 2) + 0; t[i] = $5; row[i] = $0; n++
	} END {
		for (k = 0; k < n; k++) {
			i = (k * 701) % n
			$0 = row[i]
			if ($5 + $6 > t[900]) $6 = i % 5 ? 1000000 + i * 7 : "NA"
			if (i > 900) { $2 = "x" i; $4 = "zz" i; $7 = 1 + i % 7 }
			print
		}
		print "#end rows=" n
	}' "$T/users.tsv"
}
future >"$T/future.tsv"
past() { awk -F '\t' 'NR == FNR { if (!/^#/ && $1 != "job_id") t[$1] = $5; next } $2 + 0 <= t["j900"]' "$T/users.tsv" -; }
run "features: another future" 0 gf-lucid features "$T/future.tsv"
known "$T/out" >"$T/known2"
! cmp -s "$T/known" "$T/known2"
ok "features: changes what comes" $?
past <"$T/known" >"$T/past"
past <"$T/known2" >"$T/past2"
same "features: and nothing before" "$T/past" "$T/past2"
[ "$(wc -l <"$T/past")" -gt 890 ]
ok "features: of 900 jobs" $?
run "features: no names" 0 gf-lucid features -v "$T/jobs.tsv"
has "features: none" "$T/err" "5 jobs, 0 groups of names$"
has "features: no calendar" "$T/out" "^a	0	300	300	8	NA	NA	NA	NA	NA	NA	NA	0	0	0	NA	NA"
for i in 1 4; do gf-lucid features --threads $i "$T/users.tsv" >"$T/threads$i"; done
same "features: the same bytes" "$T/threads1" "$T/threads4"
printf 'job_id\tsubmit_s\tgpus\tduration_s\tstart_s\nx\t5\t1\t9\t4\n' >"$T/early.tsv"
run "features: a start before submission" 1 gf-lucid features "$T/early.tsv"
is "features: is named" "$T/err" "gf-lucid: $T/early.tsv:2:start_s: out of range (expected submit_s or later)"

# ---- nothing to judge ----
printf 'job_id\tsubmit_s\tgpus\nx\t5\t1\n' >"$T/short.tsv"
printf 'job_id\tsubmit_s\tgpus\tduration_s\n' >"$T/none.tsv"
for verb in features estimate; do
	run "$verb: no durations" 0 gf-lucid $verb "$T/short.tsv"
	is "$verb: is said" "$T/err" "gf-lucid: warning: $T/short.tsv: no job has a duration (duration_s), so nothing is \
known of earlier ones"
	run "$verb: no jobs" 0 gf-lucid $verb "$T/none.tsv"
	is "$verb: is said, too" "$T/err" "gf-lucid: warning: $T/none.tsv: no jobs"
done
run "profile: no jobs" 0 gf-lucid profile "$T/none.tsv"
is "profile: is said" "$T/err" "gf-lucid: warning: $T/none.tsv: no jobs"
sed "$(grep -n '	' tests/data/lucid-labels.tsv | sed -n '2s/:.*//p')s/	\([0-9.]*\)	\([0-9.]*\)	\([0-2]\)\$/	-7	\2	\3/" \
	tests/data/lucid-labels.tsv >"$T/neg.tsv"
run "score: a use of the memory below 0" 1 gf-lucid score "$T/neg.tsv"
has "score: is named" "$T/err" "neg.tsv:[0-9]*:mem_util_pct: below 0 .expected what a run used.$"
grep -v '^#' tests/data/lucid-pairs.tsv | head -n 1 >"$T/none.tsv"
# shellcheck disable=SC2086
run "pack: no pairs" 1 gf-lucid pack $C "$T/none.tsv"
is "pack: are no result" "$T/err" "gf-lucid: $T/none.tsv: no pair has a label of both configurations"
is "pack: nothing is written" "$T/out" ""

# ---- estimate ----
run "estimate" 0 gf-lucid estimate -v --update 172800 --write accuracy "$T/users.tsv"
has "estimate: a model each two days" "$T/err" "1500 jobs, 9 models$"
cp "$T/out" "$T/accuracy"
awk -F '\t' '/^#/ { next } $1 == "method" { for (i = 1; i <= NF; i++) c[$i] = i; next }
	$1 == "model" { r = $c["r2"]; m = $c["mae_s"]; l = $c["log_r2"]; n = $c["jobs"]; next }
	{ others++; worse += $c["r2"] < r && $c["mae_s"] > m && $c["log_r2"] < l && $c["jobs"] == n }
	END { exit !(others == 6 && worse == 6 && n > 1000 && l > 0.9) }' "$T/accuracy"
ok "estimate: better than every mean, where there are users and names" $?
run "estimate: jobs" 0 gf-lucid estimate --update 172800 "$T/users.tsv"
cp "$T/out" "$T/estimates"
# the accuracy that the predictions come to, counted again
awk -F '\t' '/^#/ { next } $1 == "job_id" { for (i = 1; i <= NF; i++) c[$i] = i; next }
	$c["predicted_by"] == "model" { d = $c["duration_s"] - $c["predicted_s"]; s += d < 0 ? -d : d; n++ }
	END { printf "%d %.6g\n", n, s / n }' "$T/estimates" >"$T/got"
awk -F '\t' '$1 == "model" { printf "%d %.6g\n", $2, $4 }' "$T/accuracy" >"$T/want"
same "estimate: accuracy is that of the predictions" "$T/want" "$T/got"
run "estimate: a replay takes them" 0 gf-replay -p qssf -c 4x8 "$T/estimates"
predicted() {
	awk -F '\t' '/^#/ { next } $1 == "job_id" { for (i = 1; i <= NF; i++) c[$i] = i; next }
		{ print $c["job_id"] "\t" $c["submit_s"] "\t" $c["predicted_s"] "\t" $c["predicted_by"] }' "$1" | sort
}
run "estimate: another future" 0 gf-lucid estimate --update 172800 "$T/future.tsv"
predicted "$T/estimates" | past >"$T/past"
predicted "$T/out" | past >"$T/past2"
! cmp -s "$T/estimates" "$T/out"
ok "estimate: changes what comes" $?
same "estimate: and no prediction before" "$T/past" "$T/past2"
run "estimate: threads" 0 gf-lucid estimate --threads 4 --update 172800 "$T/users.tsv"
same "estimate: the same bytes" "$T/estimates" "$T/out"
run "estimate: too few jobs for a model" 0 gf-lucid estimate --first 77 "$T/jobs.tsv"
rows "$T/out" | cut -f 1,5,6 | tr '\t' ' ' >"$T/rows"
is "estimate: nothing has ended" "$T/rows" "a 77 none
b 77 none
c 77 none
d 77 none
e 77 none"
printf 'job_id\tsubmit_s\tgpus\tduration_s\n' >"$T/empty.tsv"
run "estimate: an empty table" 0 gf-lucid estimate "$T/empty.tsv"
is "estimate: no jobs is a warning, as in a replay" "$T/err" "gf-lucid: warning: $T/empty.tsv: no jobs"
rows "$T/out" >"$T/rows"
lines "estimate: and no rows" "$T/rows" 0
for what in accuracy model; do
	run "estimate: nothing for --write $what" 1 gf-lucid estimate -q --write $what "$T/jobs.tsv"
	has "estimate: which is said" "$T/err" '^gf-lucid: no .*\(--least, --update\)$'
	is "estimate: and nothing written" "$T/out" ""
done

# ---- the correction, the model itself, one model only ----
run "estimate: geometric means" 0 gf-lucid estimate --correction 0 --update 172800 -o "$T/geometric.tsv" "$T/users.tsv"
run "estimate: the whole correction" 0 gf-lucid estimate --correction 1 --update 172800 -o "$T/whole.tsv" "$T/users.tsv"
run "estimate: none of the other losses" 2 gf-lucid estimate --loss gamma --correction 1 "$T/users.tsv"
is "estimate: which have none" "$T/err" "gf-lucid: of no use here: --correction (expected --loss log)
Try 'gf-lucid --help'."
run "estimate: gamma" 0 gf-lucid estimate --loss gamma --update 172800 -o "$T/gamma.tsv" "$T/users.tsv"
has "estimate: has another model" "$T/gamma.tsv" '^#loss=gamma$'
# by window the ratio of the two is one number, at least 1; a quarter of it is the default
for f in geometric whole; do predicted "$T/$f.tsv" >"$T/$f.p"; done
predicted "$T/estimates" >"$T/estimates.p"
paste "$T/geometric.p" "$T/whole.p" "$T/estimates.p" | awk -F '\t' '
	$4 != "model" { if ($3 != $7 || $3 != $11) bad = 1; next }
	$3 > 600 { w = int($2 / 172800); f = $7 / $3; n++
		if (!(w in low) || f < low[w]) low[w] = f
		if (f > high[w]) high[w] = f
		d = log($11 / $3) - 0.25 * log(f); if (d > 0.005 || d < -0.005) bad = 2 }
	END { for (w in low) { if (low[w] < 0.995 || high[w] > low[w] * 1.01) bad = 3; if (low[w] > 1.01) more++ }
		if (bad || n < 100 || !more) print bad, n, more }' >"$T/odd"
is "estimate: one factor a model, a quarter of it by default" "$T/odd" ""
run "estimate: the last model" 0 gf-lucid estimate --write model --update 172800 -o "$T/model.tsv" "$T/users.tsv"
run "estimate: gf-ga2m reads it" 0 gf-ga2m explain --model "$T/model.tsv" --shape user_name_mean_s
run "estimate: its terms" 0 gf-ga2m explain --model "$T/model.tsv" --importance
has "estimate: are the features" "$T/out" "^user_name_recent_s$tab"
run "estimate: one model" 0 gf-lucid estimate -v --updates 1 --update 172800 -o "$T/once.tsv" "$T/users.tsv"
has "estimate: is all there is" "$T/err" "1500 jobs, 1 models$"
predicted "$T/once.tsv" | awk -F '\t' '{ print $2 "\t" $3 "\t" $4 }' | sort -n >"$T/once.p"
awk -F '\t' '{ print $2 "\t" $3 "\t" $4 }' "$T/estimates.p" | sort -n >"$T/each.p"
paste "$T/each.p" "$T/once.p" | awk -F '\t' '$3 == "model" && first == "" { first = int($1 / 172800) }
	{ w = int($1 / 172800); if ($3 != $6) bad = 1; if ($3 == "model" && w == first && $2 != $5) bad = 1
	  if (w > first && $2 != $5) later++ } END { exit bad || !later }'
ok "estimate: the same as with updates while it is new, another one later" $?

# ---- options that would change nothing, and jobs that are there twice ----
run "a sweep with a limit of its own" 2 gf-lucid profile --sweep 50 --time 100 "$T/jobs.tsv"
has "a sweep: is said" "$T/err" "^gf-lucid: of no use here: --time .expected no --sweep.$"
run "rows of pairs by a rule" 2 gf-lucid pack $C --pairs --rule util --free 0.9 --worst tests/data/lucid-pairs.tsv
has "rows of pairs: all of them are said" "$T/err" "of no use here: --rule .*, --free .*, --worst .expected thresholds"
run "a tree with pairs" 2 gf-lucid score --write tree --pairs tests/data/lucid-pairs.tsv tests/data/lucid-labels.tsv
has "a tree with pairs: is said" "$T/err" "of no use here: --pairs .expected --write accuracy or labels.$"
sed 's/^lj5	/lj4	/' tests/data/lucid-jobs.tsv >"$T/twice.tsv"
for verb in features estimate profile; do
	run "$verb: a job that is there twice" 1 gf-lucid $verb "$T/twice.tsv"
	is "$verb: is named" "$T/err" "gf-lucid: $T/twice.tsv:9:job_id: duplicate id 'lj4' (first on line 8)"
done
