# SPDX-License-Identifier: MIT
# gf-lucid forecast on a series that is made up: a day's rhythm, a week's, and noise.
. tests/cli/lib.sh
awk 'BEGIN {
	OFS = "\t"; x = 7
	print "time_s", "jobs", "gpus"
	for (i = 0; i < 24 * 21; i++) {
		x = (x * 16807) % 2147483647
		j = 6 + 5 * sin(i * 3.14159265 / 12) + (int(i / 24) % 7 < 5 ? 3 : 0) + 2 * x / 2147483647
		print 3600 * i, int(j * 10) / 10, int(4 * j + 6 * x / 2147483647)
	}
}' >"$T/series.tsv"
run "accuracy" 0 gf-lucid forecast --from 1209600 --write accuracy "$T/series.tsv"
awk -F '\t' '/^#/ || $1 == "series" { next } $2 == "model" { m = $4; r = $6; next }
	{ n++; better += m < $4 && r > $6 } END { exit !(n == 6 && better == 6) }' "$T/out"
ok "ahead of an hour before, of mean and median" $?
run "forecast" 0 gf-lucid forecast --from 1209600 -o "$T/a.tsv" "$T/series.tsv"
run "threads" 0 gf-lucid forecast --from 1209600 --threads 4 -o "$T/b.tsv" "$T/series.tsv"
same "the same bytes" "$T/a.tsv" "$T/b.tsv"
has "as many columns as a replay takes, and the truth" "$T/a.tsv" "^time_s	jobs	gpus	true_jobs	true_gpus$"
run "the profiler takes it" 0 sh -c "gf-synth jobs --jobs 50 | gf-lucid profile --forecast '$T/a.tsv'"
# what comes after hour 400 is another: nothing that was forecast for the hour 400 and before changes
awk -F '\t' -v OFS='\t' 'NR > 402 { $2 = 100 - $2; $3 = 1 } { print }' "$T/series.tsv" >"$T/future.tsv"
run "another future" 0 gf-lucid forecast --from 1209600 -o "$T/c.tsv" "$T/future.tsv"
past() { awk -F '\t' '/^[0-9]/ && $1 <= 3600 * 401 { print $1, $2, $3 }' "$1"; }
past "$T/a.tsv" >"$T/past"
past "$T/c.tsv" >"$T/past2"
same "changes no forecast before" "$T/past" "$T/past2"
ok "which are some" $(($(wc -l <"$T/past") != 66))
sed 5d "$T/series.tsv" >"$T/gap.tsv"
run "a gap" 1 gf-lucid forecast --from 1209600 "$T/gap.tsv"
is "is named" "$T/err" "gf-lucid: $T/gap.tsv:5:time_s: not one bin after the row before (expected bins of 3600 s without gaps)"
run "nothing before" 1 gf-lucid forecast --from 3600 "$T/series.tsv"
is "is said" "$T/err" "gf-lucid: $T/series.tsv: 1 of 504 bins are before --from (expected a day at least, and bins to forecast)"
