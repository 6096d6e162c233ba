# SPDX-License-Identifier: MIT
# gf-synth: same seed, same bytes; other seed, other bytes; what the workload, the profiles and the jobs
# hold; bad calibrations; the shipped files are what the tool writes.
. tests/cli/lib.sh

# ---- shipped data ----
run "gf-synth apps" 0 gf-synth apps
same "data/apps.tsv is its output" data/apps.tsv "$T/out"
run "the shipped workload" 0 gf-synth workload --jobs 60 --hours 2 --max-gpus 32 --seed 7
same "data/workload-synth.tsv is its output" data/workload-synth.tsv "$T/out"

# ---- workload ----
run "workload" 0 gf-synth workload --jobs 4000 --hours 3 --seed 11
cp "$T/out" "$T/w.tsv"
run "again" 0 gf-synth workload --jobs 4000 --hours 3 --seed 11
same "the same bytes" "$T/w.tsv" "$T/out"
run "another seed" 0 gf-synth workload --jobs 4000 --hours 3 --seed 12
! cmp -s "$T/w.tsv" "$T/out"
ok "other bytes" $?
run "with the shipped calibration" 0 gf-synth workload --no-meta --jobs 4000 --hours 3 --seed 11 \
	--calibration data/apps.tsv
grep -v '^#' "$T/w.tsv" >"$T/rows"
same "the same rows as with the built-in one" "$T/rows" "$T/out"
awk -F '\t' '!/^#/ && $1 != "job_id" {
	n++
	if ($1 != $2 "-" n - 1) bad++
	if ($3 < last || $3 >= 10800 || $3 != int($3)) bad++
	if ($4 < 1 || $4 > 64 || $4 != int($4) || $5 < 1) bad++
	last = $3
	share[$2]++
	hour[int($3 / 2160)]++		# fifths of the window
} END {
	print n, bad + 0
	want["bert"] = .076; want["cifar10"] = .392; want["deepspeech2"] = .076
	want["imagenet"] = .019; want["ncf"] = .391; want["yolov3"] = .046
	for (a in want) {	# four standard deviations
		d = share[a] / n - want[a]
		if (d * d > 16 * want[a] * (1 - want[a]) / n) print "share of", a, share[a] / n
	}
	if (!(hour[3] > hour[2] && hour[3] > 1.5 * hour[0])) print "no peak at two thirds"
}' "$T/w.tsv" >"$T/found"
is "ids, times, sizes, mix and peak" "$T/found" "4000 0"
run "--max-gpus" 0 gf-synth workload --no-meta --jobs 500 --max-gpus 4
awk -F '\t' 'NR > 1 && $4 > 4' "$T/out" >"$T/found"
is "no job is larger" "$T/found" ""
run "no job" 0 gf-synth workload --jobs 0
has "an empty table" "$T/out" '^#end rows=0$'
run "arrivals without a peak" 0 gf-synth workload --jobs 100 --arrivals poisson
run "bad options" 2 gf-synth workload --jobs -1 --hours 0 --arrivals never
lines "each is named" "$T/err" 4

# ---- profiles ----
run "profiles" 0 gf-synth profiles --seed 3 "$T/a"
is "silently" "$T/err" ""
run "again" 0 gf-synth profiles --seed 3 "$T/b"
diff -r "$T/a" "$T/b" >"$T/found"
is "the same bytes" "$T/found" ""
run "another seed" 0 gf-synth profiles --seed 4 "$T/c"
! diff -r "$T/a" "$T/c" >/dev/null
ok "other bytes" $?
run "a folder that is there" 3 gf-synth profiles --seed 4 "$T/a"
is "is not overwritten" "$T/err" \
	"gf-synth: $T/a/bert: already there (expected a new folder, or --force)"
run "unless forced" 0 gf-synth profiles --force --seed 4 "$T/a"
diff -r "$T/a" "$T/c" >"$T/found"
is "then all files are new" "$T/found" ""
run "no folder above" 3 gf-synth profiles "$T/no/such"
run "profiles take no -o" 2 gf-synth profiles -o "$T/x" "$T/y"
for app in bert cifar10 deepspeech2 imagenet ncf yolov3; do
	awk -F , 'FNR == 1 { file++; next }
		file == 1 { if (!seen[$1]++) n++; if (!($4 > 0 && $4 < $3)) bad++ }
		file == 2 { if (!($5 > 0 && $5 < $4) || $2 < $1 || $2 > 4 * $1) bad++ }
		END { print n, bad + 0 }' "$T/b/$app/placements.csv" "$T/b/$app/scalability.csv" >"$T/found"
	is "$app: 108 placements, 0 < sync < step" "$T/found" "108 0"
	for f in "$T/b/$app"/validation-*.csv; do
		awk -F , 'FNR > 1 { if (!($1 > p && $2 > i && $4 > 0 && $5 > 0)) bad++; p = $1; i = $2; e++ }
			END { if (bad || !e) print FILENAME, bad, e }' "$f"
	done >"$T/found"
	is "$app: progress and iterations rise, statistics are positive" "$T/found" ""
done
grep -c . "$T/b/bert/validation-12.csv" >"$T/found"
is "a row an epoch" "$T/found" 3
run "gf-prof reads them" 0 gf-prof --from pollux "$T/b" -o "$T/p.h5"
run "a workload by those profiles" 0 gf-synth workload --profile "$T/p.h5" --jobs 40
has "the profile is in the metadata" "$T/out" '^#input_profile=[0-9a-f]{32}$'
has "40 jobs" "$T/out" '^#end rows=40$'
run "profiles without scatter" 0 gf-synth profiles --noise 0 "$T/exact"
run "gf-prof reads them, too" 0 gf-prof --from pollux "$T/exact" -o "$T/exact.h5"
run "a workload by these" 0 gf-synth workload --no-meta --profile "$T/exact.h5" --jobs 2000
cp "$T/out" "$T/by-profile"
run "and by the model" 0 gf-synth workload --no-meta --jobs 2000
same "two ways to the same configurations" "$T/out" "$T/by-profile"
run "a store that is not there" 3 gf-synth workload --profile "$T/none.h5" --jobs 4

# ---- calibration tables ----
sed 's/^ncf	/bert	/' data/apps.tsv >"$T/cal.tsv"
run "an application twice" 1 gf-synth workload -c "$T/cal.tsv"
is "names the line" "$T/err" "gf-synth: $T/cal.tsv:12:app: duplicate application 'bert'"
bad_cal() {	# NAME COLUMN VALUE MESSAGE: value in the row of bert
	awk -F '\t' -v OFS='\t' -v col="$2" -v v="$3" '$1 == "app" { for (i = 1; i <= NF; i++)
		if ($i == col) at = i } $1 == "bert" { $at = v } { print }' data/apps.tsv >"$T/cal.tsv"
	run "$1" 1 gf-synth workload -c "$T/cal.tsv"
	is "$1: the message" "$T/err" "gf-synth: $T/cal.tsv:8:$2: $4"
}
bad_cal "a name that leaves the folder" app ../x \
	"out of range '../x' (expected a name of letters, digits, '_', '-' and '.')"
bad_cal "gamma below 1" gamma 0.5 "out of range '0.5' (expected at least 1)"
bad_cal "a batch size between" max_batch 380 "out of range '380' (expected init_batch times a power of two)"
bad_cal "no epochs" epochs 0 "out of range '0' (expected from 1 to 100000)"
bad_cal "a negative share" share -1 "out of range '-1' (expected at least 0)"
bad_cal "noise that is none" noise_last nan "out of range 'nan' (expected from 1e-9 to 1e15)"
awk -F '\t' -v OFS='\t' '/^[a-z]/ && $1 != "app" { $2 = 0 } { print }' data/apps.tsv >"$T/cal.tsv"
run "no share at all" 1 gf-synth workload -c "$T/cal.tsv"
has "says so" "$T/err" '^gf-synth: no application for a workload'

# ---- jobs ----
run "jobs" 0 gf-synth jobs --jobs 20000 --hours 48 --seed 5 --users 10 --max-gpus 16
awk -F '\t' '!/^#/ && $1 != "job_id" {
	n++
	if ($1 != "j" n - 1 || $3 < last || $4 < 1 || $4 != int($4) || $5 > 16) bad++
	last = $3
	size[$5]++; user[$2]++
	if ($4 < 600) below++
} END {
	print n, bad + 0, length(size), length(user)
	if (below / n < 0.48 || below / n > 0.52) print "median is not 600:", below / n
	if (last < 47 * 3600 || last > 49 * 3600) print "not over 48 hours:", last
	r = user["u1"] / user["u2"]
	if (r < 1.8 || r > 2.2) print "user 1 to 2:", r
}' "$T/out" >"$T/found"
is "ids, order, sizes, users, median, span" "$T/found" "20000 0 5 10"
run "diurnal" 0 gf-synth jobs --no-meta --jobs 20000 --hours 480 --arrivals diurnal
awk -F '\t' 'NR > 1 { h[int($3 / 3600) % 24]++ } END { print (h[15] > 2 * h[3] && h[14] > 2 * h[2]) }' \
	"$T/out" >"$T/found"
is "three times as busy at 15 h as at 3 h" "$T/found" 1
run "durations without spread, cut" 0 gf-synth jobs --no-meta --jobs 5 --median 90 --sigma 0 --max-duration 60
cut -f 4 "$T/out" | sort -u | tr '\n' ' ' >"$T/found"
[ "$(cat "$T/found")" = "60 duration_s " ]
ok "all last 60 s" $?
gf-synth jobs --jobs 100000 2>"$T/err" | head -n 3 >"$T/found"
lines "a reader that goes away early ends it" "$T/found" 3
run "a replay of them" 0 gf-replay --policy fifo --cluster 4x8 - <<END
$(gf-synth jobs --jobs 50)
END

# ---- arrivals ----
D=tests/data
# moments FILE: jobs, order, mean gap, squared coefficient of variation of the gaps
moments() {
	awk -F '\t' '/^#/ { next } !c { for (i = 1; i <= NF; i++) if ($i == "submit_s") c = i; next }
		{ if (n++) { g = $c - last; if (g < 0) bad = 1; s += g; ss += g * g } last = $c }
		END { m = s / (n - 1); printf "%d %d %.6g %.6g\n", n, bad, m, ss / (n - 1) / (m * m) - 1 }' "$1"
}
for scv in 1 2.65 6; do
	run "arrivals of C2 $scv" 0 gf-synth arrivals --classes $D/replay-boa-classes.tsv -n 200000 --scv $scv --burst 300 --seed 3
	moments "$T/out" >"$T/found"
	awk -v scv=$scv '{ gap = 32 / 3; exit !($1 == 200000 && $2 == 0 && $3 > 0.97 * gap && $3 < 1.03 * gap &&
		$4 > 0.94 * scv && $4 < 1.06 * scv) }' "$T/found"
	ok "C2 $scv: mean gap and squared coefficient of variation ($(cat "$T/found"))" $?
	awk -F '\t' '$2 == "vision" { v++ } $2 == "text" { t++ } END { exit !(v / t > 1.9 && v / t < 2.1) }' "$T/out"
	ok "C2 $scv: classes by their rates" $?
done
run "the mean gap of one's own" 0 gf-synth arrivals --classes $D/replay-boa-classes.tsv -n 100000 --mean-gap 7 --burst 70
moments "$T/out" >"$T/found"
awk '{ exit !($3 > 6.8 && $3 < 7.2) }' "$T/found"
ok "the mean gap of one's own: 7 s" $?
run "like a table" 0 gf-synth arrivals --like $D/replay-boa-jobs.tsv
awk -F '\t' '!/^#/ && $1 != "job_id" { print $2, $4 }' "$T/out" | sort >"$T/found"
awk -F '\t' '!/^#/ && $1 != "job_id" { print $2, $4 }' $D/replay-boa-jobs.tsv | sort >"$T/wanted"
same "like a table: the very jobs, in another order" "$T/wanted" "$T/found"
cp "$T/out" "$T/like.tsv"
run "like a table, again" 0 gf-synth arrivals --like $D/replay-boa-jobs.tsv --threads 4
same "the same bytes" "$T/like.tsv" "$T/out"
run "like a table, another seed" 0 gf-synth arrivals --like $D/replay-boa-jobs.tsv --seed 2
cmp -s "$T/like.tsv" "$T/out"
[ $? -eq 1 ]
ok "another seed, other jobs" $?
run "no such process" 2 gf-synth arrivals --classes $D/replay-boa-classes.tsv --scv 7
is "no such process: why" "$T/err" "gf-synth: no squared coefficient of variation of 7 with a low rate of 0.25 of the mean (expected below 7, or a smaller low rate)
Try 'gf-synth --help'."
run "neither jobs nor classes" 2 gf-synth arrivals
has "neither jobs nor classes: the message" "$T/err" "^gf-synth: neither --like nor --classes .expected one of them.$"
run "both jobs and classes" 2 gf-synth arrivals --like $D/replay-boa-jobs.tsv --classes $D/replay-boa-classes.tsv
run "a number of jobs that is given already" 2 gf-synth arrivals --like $D/replay-boa-jobs.tsv -n 5
printf 'app\tgpus\tsubmit_s\nx\t1\t4\n' >"$T/one.tsv"
run "one job has no gap" 1 gf-synth arrivals --like "$T/one.tsv"
is "one job has no gap: the message" "$T/err" \
	"gf-synth: $T/one.tsv: no mean gap between submissions (expected two jobs at different times, or --mean-gap)"

# ---- misjudged speedups ----
run "no error" 0 gf-synth misjudge --size 0 $D/replay-boa-speedups.tsv
awk -F '\t' '!/^#/ && $1 != "class" { print $1, $2, $4, $5, $6 }' "$T/out" | sort >"$T/found"
awk -F '\t' '!/^#/ && $1 != "class" { print $1, $2, $3, $4, $5 }' $D/replay-boa-speedups.tsv | sort >"$T/wanted"
same "no error: the same speedups" "$T/wanted" "$T/found"
{ printf 'class\tepoch\tgpus\twork\tspeed_per_s\n'
	awk 'BEGIN { for (e = 0; e < 4000; e++) for (k = 1; k <= 64; k *= 8) print "x\t" e "\t" k "\t1\t" k }'; } >"$T/many.tsv"
run "an error of 0.2" 0 gf-synth misjudge --size 0.2 "$T/many.tsv"
# on 8 GPUs log(f) has variance 0.04 (0.25 + 2 / 16), on 64 GPUs 0.04 (1 + 2 / 16); 1 GPU is right
awk -F '\t' '!/^#/ && $1 != "class" { x = log($6 / $4); n[$4]++; s[$4] += x; ss[$4] += x * x }
	END { printf "%.3f %.2f %.2f\n", ss[1], sqrt(ss[8] / n[8]) / 0.2, sqrt(ss[64] / n[64]) / 0.2
	      exit !(ss[1] == 0 && sqrt(ss[8] / n[8] / 0.04 / 0.375) > 0.96 && sqrt(ss[8] / n[8] / 0.04 / 0.375) < 1.04 &&
		sqrt(ss[64] / n[64] / 0.04 / 1.125) > 0.96 && sqrt(ss[64] / n[64] / 0.04 / 1.125) < 1.04) }' "$T/out" >"$T/found"
ok "an error of 0.2: its size grows with the width as it should ($(cat "$T/found"))" $?
