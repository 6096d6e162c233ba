# SPDX-License-Identifier: MIT
# gf-prof: application folders into a profile store.
. tests/cli/lib.sh

mini=$TOP/tests/data/profile-mini
sh "$mini/make" "$T/made"
diff -r -x make "$mini" "$T/made" >"$T/diff" 2>&1
is "the folders of tests/data are what their script makes" "$T/diff" ""

# ---- a good input ----

run "a folder of applications into a stream" 0 gf-prof --from pollux "$mini"
cp "$T/out" "$T/mini.tsv"
is "nothing on standard error" "$T/err" ""
awk '/^#table=/ { name = substr($0, 8) } /^#end rows=/ { print name, substr($0, 11) }' \
	"$T/mini.tsv" >"$T/tables"
is "seven tables" "$T/tables" "apps 2
placements 540
scalability 45
validation 21
points 215
simplices 731
lift 2"
awk '/^#/ { next } /^$/ { exit } n++ > 2 { exit } { print }' "$T/mini.tsv" >"$T/apps"
is "the constants" "$T/apps" "$(printf '%s\n' \
	'app init_batch max_batch min_local_bsz max_local_bsz epochs restart_s max_replicas fixed_batch' \
	'conv 32 128 8 30 4 30 NA NA' 'text 8 40 2 5 3 30 NA NA' | tr ' ' '\t')"
grep -c '^#input=[0-9a-f]\{32\}$' "$T/mini.tsv" >"$T/n"
is "every table names the content of the input" "$T/n" 7
hasnt "no path in the output" "$T/mini.tsv" "$TOP|profile-mini"

run "and into a store" 0 gf-prof --from pollux "$mini" -o "$T/mini.h5"
is "a store: nothing on standard output" "$T/out" ""
is "a store: nothing on standard error" "$T/err" ""
[ "$(head -c 4 "$T/mini.h5" | od -An -c | tr -d ' ')" = '211HDF' ]
ok "it is an HDF5 file" $?
run "once more" 0 gf-prof --from pollux "$mini/" -o "$T/again.h5"
same "the same store, byte by byte" "$T/mini.h5" "$T/again.h5"
run "a stream into a file" 0 gf-prof --from pollux "$mini" -o "$T/file.tsv"
same "the same as on standard output" "$T/mini.tsv" "$T/file.tsv"
(cd "$mini" && gf-prof --from pollux .) >"$T/here.tsv" 2>"$T/err"
same "the same from another folder" "$T/mini.tsv" "$T/here.tsv"
gf-prof --from pollux "$mini" --threads 4 >"$T/threads.tsv"
same "the same with four threads" "$T/mini.tsv" "$T/threads.tsv"
LC_ALL=de_DE.UTF-8 gf-prof --from pollux "$mini" >"$T/locale.tsv"
same "the same in a locale with a decimal comma" "$T/mini.tsv" "$T/locale.tsv"

run "what was read, with -v" 0 gf-prof -v --from pollux "$mini" -o "$T/v.h5"
is "a line an application" "$T/err" \
	"gf-prof: conv: 3 runs of 4 epochs (batch sizes 32 to 128), 108 placements (324 rows, 8 to 30 \
samples a GPU), 27 rows on five nodes and more; 129 points, 485 simplices (83 flat)
gf-prof: text: 3 runs of 3 epochs (batch sizes 8 to 40), 108 placements (216 rows, 2 to 5 samples a \
GPU), 18 rows on five nodes and more; 86 points, 246 simplices (45 flat)"

run "one application" 0 gf-prof --from pollux "$mini/text"
awk -F '\t' '!/^#/ && NF > 2 && $1 != "app" { print $1 }' "$T/out" | sort -u >"$T/names"
is "only this one" "$T/names" text
cp "$T/out" "$T/text.tsv"
(cd "$mini/text" && gf-prof --from pollux .) >"$T/here.tsv"
same "its name is that of the current folder" "$T/text.tsv" "$T/here.tsv"

# line ends, byte order mark and row order of no consequence
cp -R "$mini/text" "$T/text"
for f in "$T"/text/*.csv; do
	{ printf '\357\273\277' && sed 's/$/\r/' "$f"; } >"$T/crlf" && cp "$T/crlf" "$f"
done
run "CRLF and a byte order mark" 0 gf-prof --from pollux "$T/text"
same "make no difference" "$T/text.tsv" "$T/out"
rm -rf "$T/text"
cp -R "$mini/text" "$T/text"
{ sed 1q "$mini/text/placements.csv" && sed 1d "$mini/text/placements.csv" | sort -r; } \
	>"$T/text/placements.csv"
run "placements in another order" 0 gf-prof --no-meta --from pollux "$T/text"
gf-prof --from pollux "$T/text" | grep -v '^#input' >"$T/other"
grep -v '^#input' "$T/text.tsv" >"$T/want"
same "make no difference but to the hash" "$T/want" "$T/other"

mkdir -p "$T/folder/notes"
cp -R "$mini/text" "$T/folder/text"
cp "$mini/make" "$T/folder/file.csv"
run "folders without placements.csv are passed over" 0 gf-prof --from pollux "$T/folder"
is "with a note" "$T/err" "gf-prof: warning: $T/folder/notes: passed over (no placements.csv)"
same "and the rest is read" "$T/text.tsv" "$T/out"
run "-q" 0 gf-prof -q --from pollux "$T/folder"
is "silences the note" "$T/err" ""

run "another largest local batch size" 0 gf-prof --from pollux "$mini" --max-local text=4 \
	--max-local conv=16
awk -F '\t' '$1 == "conv" || $1 == "text" { print $1, $5; if (++n == 2) exit }' "$T/out" >"$T/n"
is "is in the store" "$T/n" "conv 16
text 4"
has "and in the metadata, sorted" "$T/out" '^#max_local=conv=16,text=4$'

# The reference's overrides go by name.
cp -R "$mini/text" "$T/folder/yolov3"
sed 's/,5,/,9,/' "$mini/text/placements.csv" >"$T/folder/yolov3/placements.csv"
sed 's/,5,/,9,/' "$mini/text/scalability.csv" >"$T/folder/yolov3/scalability.csv"
cp -R "$mini/text" "$T/folder/ncf"
cp "$mini/text/validation-40.csv" "$T/folder/ncf/validation-32768.csv"
run "applications with the reference's overrides" 0 gf-prof -q --from pollux "$T/folder"
awk -F '\t' '/^#end/ { exit } /^(ncf|yolov3|text)/ { print $1, $3, $5, $8, $9 }' "$T/out" >"$T/n"
is "yolov3 up to 8, ncf on one GPU at 32768" "$T/n" "ncf 32768 5 1 32768
text 40 5 NA NA
yolov3 40 8 NA NA"

# ---- faults in the data ----

# fresh: a good application folder in $T/a/app
fresh() {
	rm -rf "$T/a"
	mkdir "$T/a"
	cp -R "$mini/text" "$T/a/app"
}

# edit FILE SED-EXPRESSION
edit() {
	sed "$2" "$mini/text/$1" >"$T/a/app/$1"
}

# refused NAME STATUS MESSAGE
refused() {
	refuses "$1" "$2" "gf-prof: $3" gf-prof --from pollux "$T/a"
}
app=$T/a/app

fresh && edit placements.csv '3s/.*/1,5,0,0.1/'
refused "a step time of zero" 1 \
	"$app/placements.csv:3:step_time: bad value '0' (expected a positive time)"
fresh && edit placements.csv '3s/.*/1,5,-0.2,0.1/'
refused "a negative step time" 1 \
	"$app/placements.csv:3:step_time: bad value '-0.20000000000000001' (expected a positive time)"
fresh && edit placements.csv '4s/.*/2,2,0.5,0/'
refused "a sync time of zero" 1 \
	"$app/placements.csv:4:sync_time: bad value '0' (expected a positive time)"
fresh && edit placements.csv '4s/.*/2,2,0.5,0.5/'
refused "a sync time that is the step time" 1 \
	"$app/placements.csv:4:sync_time: bad value '0.5' (expected less than step_time)"
fresh && edit placements.csv '5s/.*/203,5,0.5,0.25/'
refused "a placement with a zero" 1 \
	"$app/placements.csv:5:placement: bad value '203' (expected one to four digits 1 to 9)"
fresh && edit placements.csv '5s/.*/11112,5,0.5,0.25/'
refused "a placement on five nodes" 1 \
	"$app/placements.csv:5:placement: bad value '11112' (expected one to four digits 1 to 9)"
fresh && edit placements.csv '5s/.*/2,0,0.5,0.25/'
refused "a local batch size of zero" 1 \
	"$app/placements.csv:5:local_bsz: bad value '0' (expected 1 or more)"
fresh && edit placements.csv '7s/.*/1,5,0.5,0.25/'
refused "a key twice" 1 "$app/placements.csv:7:placement: repeated key '1, 5' (first on line 3)"
fresh && edit placements.csv '16s/.*/21,2,0.5,0.25/'
refused "a key twice, rotated" 1 \
	"$app/placements.csv:16:placement: repeated key '12, 2' (first on line 12)"
fresh && edit placements.csv '3s/.*/1,5,0.3.5,0.25/'
run "a broken number" 1 gf-prof --from pollux "$T/a"
has "a broken number: the place" "$T/err" "^gf-prof: $app/placements.csv:3:step_time: .*'0\\.3\\.5'"
fresh && edit placements.csv '3s/.*/1,5,nan,0.25/'
run "nan" 1 gf-prof --from pollux "$T/a"
has "nan: the place" "$T/err" "^gf-prof: $app/placements.csv:3:step_time: .*'nan'"
fresh && edit placements.csv '3s/.*/1,5,,0.25/'
run "a missing value" 1 gf-prof --from pollux "$T/a"
has "a missing value: the place" "$T/err" "^gf-prof: $app/placements.csv:3:step_time: "
fresh && edit placements.csv '3s/.*/1,5,0.3/'
run "a short row" 1 gf-prof --from pollux "$T/a"
has "a short row: the place" "$T/err" "^gf-prof: $app/placements.csv:3: "
fresh && edit placements.csv '1s/step_time/step/'
run "a missing column" 1 gf-prof --from pollux "$T/a"
has "a missing column: its name" "$T/err" "^gf-prof: $app/placements.csv:1.*step_time"
fresh && edit placements.csv '2,$d'
refused "no rows" 1 "$app/placements.csv: no rows"
fresh && : >"$app/placements.csv"
run "an empty file" 1 gf-prof --from pollux "$T/a"
has "an empty file: its name" "$T/err" "^gf-prof: $app/placements.csv: empty file"

fresh && edit scalability.csv '3s/.*/4,8,5,0.5,0.25/'
refused "four nodes among the many" 1 "$app/scalability.csv:3:num_nodes: bad value '4' (expected \
five or more; up to four belong into placements.csv)"
fresh && edit scalability.csv '3s/.*/6,5,5,0.5,0.25/'
refused "fewer GPUs than nodes" 1 \
	"$app/scalability.csv:3:num_replicas: bad value '5' (expected at least num_nodes)"
fresh && edit scalability.csv '3s/.*/6,6,2,0.5,0.25/'
refused "a shape twice" 1 \
	"$app/scalability.csv:3:num_nodes: repeated key '6, 6, 2' (first on line 2)"
fresh && rm "$app/scalability.csv"
refused "scalability.csv is not there" 3 \
	"$app/scalability.csv: cannot open: No such file or directory"

# ---- one file for each type of GPU ----
typed=$T/typed/app
mkdir -p "$typed"
cp "$mini"/text/validation-*.csv "$typed"
# other columns first, as some of the folders have them; two nodes are missing
awk -F, -v OFS=, '{ print $2, $3, $4, $1 }' "$mini/text/placements.csv" |
	awk -F, 'NR == 1 || length($4) < 2' >"$typed/placements-big.csv"
awk -F, -v OFS=, 'NR == 1 { print; next } { n = 2 + NR % 3; print n, n * (1 + NR % 2), $3, $4 * (1 + NR / 50), $5 }' \
	"$mini/text/scalability.csv" | awk -F, 'NR == 1 || !seen[$1, $2, $3]++' >"$typed/scalability-big.csv"
run "--gpu-type" 0 gf-prof --from pollux --gpu-type big "$T/typed" -o "$T/typed.h5"
run "a placement that was not measured" 0 gf-speedup --no-meta --profile "$T/typed.h5" --gpus-per-node 4 --max-gpus 8 --phases 1
awk -F '\t' 'NR > 1 && $8 == 2 && $6 != "NA" { n++ } END { exit !n }' "$T/out"
ok "is interpolated" $?
echo "1,1,$(awk -F, 'NR == 2 { print $1 }' "$typed/placements-big.csv"),9,1" >>"$typed/scalability-big.csv"
run "what the placements have as well" 0 gf-prof --from pollux --gpu-type big "$T/typed" -o "$T/typed2.h5"
gf-table convert "$T/typed.h5:/points" -o "$T/points" && gf-table convert "$T/typed2.h5:/points" --no-meta -o - >"$T/b"
grep -v '^#' "$T/points" >"$T/points-1"
grep -v '^#' "$T/b" >"$T/points-2"
same "is passed over" "$T/points-1" "$T/points-2"
run "another type" 1 gf-prof --from pollux --gpu-type small "$T/typed"
is "is not there" "$T/err" "gf-prof: warning: $T/typed/app: passed over (no placements-small.csv)
gf-prof: $T/typed: no placements-small.csv in it or in a folder below (expected an application folder, or a folder of them)"
run "of another format" 2 gf-prof --from dmon --gpu-type big "$TOP/tests/data/prof-dmon.txt"
has "it means nothing" "$T/err" "^gf-prof: --gpu-type needs --from pollux$"

fresh && edit validation-8.csv '3s/^[^,]*,/1.5,/'
refused "progress that falls" 1 \
	"$app/validation-8.csv:3:progress: bad value '1.5' (expected more than in the epoch before)"
fresh && edit validation-8.csv '4s/^\([^,]*\),[^,]*,/\1,226,/'
refused "iterations that stand still" 1 \
	"$app/validation-8.csv:4:iteration: bad value '226' (expected more than in the epoch before)"
fresh && edit validation-20.csv '2s/,[^,]*$/,0/'
refused "no gradient variance" 1 \
	"$app/validation-20.csv:2:grad_var: bad value '0' (expected a positive number)"
fresh && edit validation-20.csv '2s/,[^,]*,\([^,]*\)$/,-1,\1/'
refused "a negative square" 1 \
	"$app/validation-20.csv:2:grad_sqr: bad value '-1' (expected 0 or more)"
fresh && edit validation-40.csv '4d'
refused "a run that is cut short" 1 \
	"$app/validation-40.csv: 2 epochs (expected 3, as in $app/validation-8.csv)"
fresh && cp "$app/validation-8.csv" "$app/validation-x9.csv"
refused "a file name without a batch size" 1 \
	"$app/validation-x9.csv: bad batch size 'x9' in the file name (expected \
validation-<batch size>.csv)"
fresh && cp "$app/validation-8.csv" "$app/validation-08.csv"
refused "a batch size twice" 1 "$app/validation-8.csv: the same batch size as validation-08.csv"
fresh && rm "$app"/validation-*.csv
refused "no training run" 3 "$app: no validation-<batch size>.csv"

fresh && sed -n '1,3p' "$mini/text/scalability.csv" >"$app/scalability.csv"
sed -n '1,3p' "$mini/text/placements.csv" >"$app/placements.csv"
run "points in one plane cannot be triangulated" 1 gf-prof --from pollux "$T/a"
has "the application is named" "$T/err" "^gf-prof: application 'app': cannot triangulate 4 points"

run "no such folder" 3 gf-prof --from pollux "$T/none"
is "no such folder: the message" "$T/err" \
	"gf-prof: $T/none: cannot open folder: No such file or directory"
mkdir "$T/empty"
run "a folder without applications" 1 gf-prof --from pollux "$T/empty"
is "a folder without applications: the message" "$T/err" "gf-prof: $T/empty: no placements.csv in \
it or in a folder below (expected an application folder, or a folder of them)"

# a failure leaves the old store alone
fresh && edit placements.csv '3s/.*/1,5,0,0.1/'
run "a failure" 1 gf-prof --from pollux "$T/a" -o "$T/again.h5"
same "leaves the old store alone" "$T/mini.h5" "$T/again.h5"
find "$T" -name '*.tmp.*' >"$T/left"
is "and nothing else behind" "$T/left" ""

# ---- wrong usage ----

run "--from is required" 2 gf-prof "$mini"
run "an unknown format" 2 gf-prof --from sia "$mini"
has "an unknown format: the message" "$T/err" \
	"^gf-prof: unknown value 'sia' for --from \\(expected auto, pollux, nvidia-smi, dmon, .*, gradient-stats\\)\$"
for name in dmon gradient-stats; do
	run "--max-local is for pollux only ($name)" 2 gf-prof --from $name --max-local a=1 "$mini"
done
run "no folder" 2 gf-prof --from pollux
run "two folders" 2 gf-prof --from pollux "$mini" "$mini"
run "a table inside a store" 2 gf-prof --from pollux "$mini" -o "$T/x.h5:/profiles"
has "a table inside a store: the message" "$T/err" "a profile fills a whole store"
[ ! -e "$T/x.h5" ]
ok "a table inside a store: not written" $?
for bad in text text= =4 text=0 text=x text=-1; do
	run "--max-local $bad" 2 gf-prof --from pollux "$mini" --max-local "$bad"
	has "--max-local $bad: the message" "$T/err" \
		"^gf-prof: bad value '$bad' for --max-local \\(expected APP=N\\)$"
done
run "--max-local twice for one application" 2 gf-prof --from pollux "$mini" --max-local text=4 \
	--max-local text=5
run "--max-local for an application that is not there" 2 gf-prof --from pollux "$mini" \
	--max-local none=4
is "the application is named" "$T/err" "gf-prof: no application 'none' in the input
Try 'gf-prof --help'."
run "--max-local beyond what was measured" 2 gf-prof --from pollux "$mini" --max-local text=6
is "the range is named" "$T/err" "gf-prof: application 'text': bad largest local batch size '6' \
(expected 2 to 5, as measured)
Try 'gf-prof --help'."

run "a full device" 3 sh -c 'exec gf-prof --from pollux "$1" >/dev/full' - "$mini"
