# SPDX-License-Identifier: MIT
# gf-speedup: from profile stores of one and several GPU types, from measured placements, from tables; reasons.
. tests/cli/lib.sh
D=tests/data

# ---- tables ----
run "a table" 0 gf-speedup --min-gpus text=2 $D/boa-speedups.tsv
golden "gets verdicts" "$T/out" $D/speedup-verdicts.tsv
cp "$T/out" "$T/all"
run "its own output" 0 gf-speedup --min-gpus text=2 --no-meta "$T/all"
grep -v '^#' "$T/all" >"$T/a"
same "is read again, to the same" "$T/a" "$T/out"
run "--envelope" 0 gf-speedup --min-gpus text=2 --envelope --no-meta $D/boa-speedups.tsv
grep -v '^#' "$T/all" | awk -F '\t' 'NR == 1 || $13 == "vertex"' >"$T/a"
same "the vertices alone" "$T/a" "$T/out"
cp "$T/out" "$T/envelope"
run "the frontier of these" 0 gf-boa frontier --no-meta --free-rescale --classes $D/boa-classes.tsv "$T/envelope"
grep -v '^#' $D/boa-frontier.tsv >"$T/a"
same "is that of the whole table" "$T/a" "$T/out"
run "standard input" 0 sh -c "gf-speedup --min-gpus text=2 <$D/boa-speedups.tsv"
same "the same bytes" "$T/all" "$T/out"
run "--app" 0 gf-speedup --no-meta --app speech $D/boa-speedups.tsv
column class "$T/out" | sort -u >"$T/a"
is "only that class" "$T/a" speech
run "two types" 0 gf-speedup --no-meta $D/boa-two-types.tsv
column gpu_type "$T/out" | uniq | paste -s -d ' ' - >"$T/a"
is "an envelope for each" "$T/a" "large small large small large small large small"
printf 'class\tepoch\tgpus\twork\tspeed_per_s\na\t0\t1\t1\t1\na\t0\t2\t1\t-1\na\t0\t3\t1\tnan\na\t0\t4\t1\tinf\na\t0\t4\t1\t3\na\t0\t5\t1\tNA\n' >"$T/bad.tsv"
run "bad speeds" 1 gf-speedup "$T/bad.tsv"
is "are refused" "$T/err" "gf-speedup: $T/bad.tsv:3:speed_per_s: bad value '-1' (expected 1e-30 to 1e30; 0 or NA \
where the width cannot be used)"
run "--drop-bad" 0 gf-speedup --drop-bad --no-meta "$T/bad.tsv"
is "counts them" "$T/err" "gf-speedup: warning: 3 speeds that are negative or not finite: not usable"
column verdict "$T/out" | paste -s -d ' ' - >"$T/a"
is "and says so of each" "$T/a" "vertex not-usable not-usable vertex not-usable not-usable"
printf 'class\tepoch\tgpus\twork\tspeed_per_s\na\t0\t1\t1\t0\n' >"$T/bad.tsv"
run "nothing usable" 1 gf-speedup "$T/bad.tsv"
is "is said" "$T/err" "gf-speedup: class 'a', epoch 0: no usable width"
printf 'class\tepoch\tgpus\twork\tspeed_per_s\na\t0\t1\t1\t1\na\t0\t1\t1\t2\n' >"$T/dup.tsv"
run "a width twice" 0 gf-speedup --no-meta "$T/dup.tsv"
column verdict "$T/out" | paste -s -d ' ' - >"$T/a"
is "the faster one counts" "$T/a" "vertex duplicate"

# ---- profiles ----
run "a store" 0 gf-prof --from pollux $D/profile-mini -o "$T/p.h5"
run "--profile" 0 gf-speedup --profile "$T/p.h5" --max-gpus 9 --phases 2 --phases text=1 --slowdown conv=1.5
cp "$T/out" "$T/phases"
[ -z "${BLESS-}" ] || cp "$T/phases" $D/speedup-profile.tsv
run "phases, works, speeds" 0 gf-diff --rel 1e-9 --key class,epoch,gpus $D/speedup-profile.tsv "$T/phases"
run "each epoch" 0 gf-speedup --no-meta --profile "$T/p.h5" --max-gpus 2 --app conv
lines "has its widths" "$T/out" 9
# the phase is the harmonic mean of its epochs, with their work
awk -F '\t' 'NR > 1 && $4 == 2 { w += $5; t += $5 / $6 } END { printf "%.12g %.12g\n", w, w / t }' "$T/out" >"$T/a"
run "all epochs as one" 0 gf-speedup --no-meta --profile "$T/p.h5" --max-gpus 2 --app conv --phases 1
awk -F '\t' 'NR > 1 && $4 == 2 { printf "%.12g %.12g\n", $5, $6 }' "$T/out" >"$T/b"
same "their work over their time" "$T/a" "$T/b"
run "two types of GPU" 0 gf-speedup --no-meta --profile fast="$T/p.h5" --profile slow="$T/p.h5" --max-gpus fast=3 \
	--max-gpus slow=5 --gpus-per-node slow=2 --app text --phases 1
awk -F '\t' 'NR > 1 { print $3, $4, $8 }' "$T/out" >"$T/a"
cat >"$T/b" <<'EOT'
fast 1 1
fast 2 1
fast 3 1
slow 1 1
slow 2 1
slow 3 2
slow 4 2
slow 5 3
EOT
same "each with its widths and nodes" "$T/b" "$T/a"
run "too many phases" 2 gf-speedup --profile "$T/p.h5" --phases 9
has "is wrong usage" "$T/err" "application 'conv' has 4 epochs, fewer than --phases 9"
run "an unknown application" 1 gf-speedup --profile "$T/p.h5" --app none
is "is named" "$T/err" "gf-speedup: no application 'none' in the profile (--app)"
run "two stores of one type" 2 gf-speedup --profile "$T/p.h5" --profile "$T/p.h5"
has "are refused" "$T/err" "two profiles of one GPU type ''"

# ---- placements ----
run "measured placements" 0 gf-speedup --no-meta --placements $D/prof-rubick-placements.tsv --work wren=500
awk -F '\t' 'NR > 1 && $1 == "wren" && $5 != 500 || $1 == "lark" && $5 != 1 { bad = 1 } END { exit bad }' "$T/out"
ok "work by class" $?
column plan "$T/out" | grep -q .
ok "with plans" $?
sed '/^wren/s/	[0-9.]*\(	[^	]*	[^	]*	[^	]*\)$/	-1\1/' $D/prof-rubick-placements.tsv >"$T/bad.tsv"
run "a negative time" 1 gf-speedup --placements "$T/bad.tsv"
has "is refused" "$T/err" "^gf-speedup: $T/bad.tsv:[0-9]*:iter_time_s: bad value '-1' .expected a positive time.$"

# ---- wrong usage ----
usage() {
	name=$1 want=$2
	shift 2
	run "$name" 2 gf-speedup "$@"
	has "$name: the message" "$T/err" "^gf-speedup: $want"
}
usage "two sources" "more than one of --profile, --placements, FILE given" --profile "$T/p.h5" $D/boa-speedups.tsv
usage "phases of a table" "--phases, --slowdown, --gpus-per-node and --max-gpus go with --profile" --phases 3 $D/boa-speedups.tsv
usage "work of a table" "--work goes with --placements" --work 3 $D/boa-speedups.tsv
usage "half a phase" "bad value '1.5' for --phases" --profile "$T/p.h5" --phases 1.5
usage "no phase" "bad value 'conv=0' for --phases" --profile "$T/p.h5" --phases conv=0
usage "twice the same" "--phases is given twice for the same name .'conv=3'." --profile "$T/p.h5" --phases conv=2 --phases conv=3

# ---- names that nothing has: they would change nothing, or leave nothing ----
run "a class that is not in the table" 1 gf-speedup --app none $D/boa-speedups.tsv
is "table: is named" "$T/err" "gf-speedup: no class 'none' in the table (--app)"
is "and nothing is written" "$T/out" ""
run "a least width of no class" 1 gf-speedup --min-gpus text=2 --min-gpus none=1 $D/boa-speedups.tsv
is "least width: is named" "$T/err" "gf-speedup: no class 'none' in the table (--min-gpus)"
run "work of no application" 1 gf-speedup --placements $D/prof-rubick-placements.tsv --work none=2
is "work: is named" "$T/err" "gf-speedup: no application 'none' in $D/prof-rubick-placements.tsv (--work)"
run "a slowdown of no application" 1 gf-speedup --profile "$T/p.h5" --slowdown none=2
is "slowdown: is named" "$T/err" "gf-speedup: no application 'none' in the profile (--slowdown)"
run "widths of no GPU type" 1 gf-speedup --profile fast="$T/p.h5" --max-gpus slow=2
is "type: is named" "$T/err" "gf-speedup: no GPU type 'slow' in --profile (--max-gpus)"
