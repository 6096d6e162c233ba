# SPDX-License-Identifier: MIT
# gf-prof: Philly's utilisation, and the tables of Lucid, Rubick and gradient norms.
. tests/cli/lib.sh
D=tests/data

# gold FORMAT STEM: the sample, its golden table, and the same in other clothes
gold() {
	run "$1" 0 gf-prof -q --from "$1" "$D/$2.csv"
	golden "$1: the table" "$T/out" "$D/$2.tsv"
	cp "$T/out" "$T/want.tsv"
	{ printf '\357\273\277'; sed 's/$/\r/' "$D/$2.csv" | head -c -2; } | gzip -c >"$T/clothes.gz"
	run "$1: byte order mark, CRLF, no final line feed, gzip" 0 gf-prof -q --from "$1" "$T/clothes.gz"
	same "$1: the same table" "$T/want.tsv" "$T/out"
	: >"$T/bad.csv"
	run "$1: an empty file" 1 gf-prof --from "$1" "$T/bad.csv"
	has "$1: says so" "$T/err" ': empty file'
	sed '1s/,[a-z0-9_]*\(,*\)$/,other\1/;1s/machineId/other/' "$D/$2.csv" >"$T/bad.csv"
	run "$1: a missing column" "${3:-1}" gf-prof --from "$1" "$T/bad.csv"
	sed '2s/^/"/' "$D/$2.csv" >"$T/bad.csv"
	run "$1: an open quote" 1 gf-prof --from "$1" "$T/bad.csv"
	has "$1: its line" "$T/err" 'bad.csv:2: '
	sed '3s/,[^,]*,[^,]*$//' "$D/$2.csv" >"$T/bad.csv"
	run "$1: a short row" 1 gf-prof --from "$1" "$T/bad.csv"
	has "$1: its line, too" "$T/err" 'bad.csv:3: '
	run "$1: --skip-bad" 0 gf-prof --from "$1" --skip-bad 1 "$T/bad.csv"
	has "$1: counted" "$T/err" '1 record left out \(1 ragged row\)$'
}
fails() {
	run "$2" 1 gf-prof --from "$1" "$T/bad.csv"
	is "$2: the message" "$T/err" "gf-prof: $T/bad.csv$3"
	is "$2: no output" "$T/out" ""
}

# ---- philly-util ----
gold philly-util prof-philly-util
run "philly-util: the report" 0 gf-prof --from philly-util $D/prof-philly-util.csv
is "philly-util: NA is counted" "$T/err" \
	"gf-prof: warning: $D/prof-philly-util.csv: 3 of 9 samples without gpu_util_pct (3 NA)"
has "philly-util: the origin is the midnight of the first zone" "$T/out" '^#origin=2019-11-03T00:00:00-07:00$'
awk -F '\t' '!/^#/ && $2 == "m901" && $3 == 0 { print $1 }' "$T/out" >"$T/found"
is "philly-util: the repeated hour is an hour apart" "$T/found" "5400
9000"
sed 's/ P[DS]T//' $D/prof-philly-util.csv >"$T/naive.csv"
run "philly-util: without zones" 0 gf-prof -q --from philly-util "$T/naive.csv"
has "philly-util: a clock that does not say" "$T/out" '^#origin=2019-11-03T00:00:00$'
sed '3s/ PDT//' $D/prof-philly-util.csv >"$T/bad.csv"
fails philly-util "a zone in some rows" ":3:time: times with and without a zone in one file"
sed '3s/PDT/CEST/' $D/prof-philly-util.csv >"$T/bad.csv"
fails philly-util "another zone" ":3:time: unknown zone or day '2019-11-03 01:31:00 CEST' (expected YYYY-MM-DD \
HH:MM:SS PDT or PST)"
sed '3s/99.5/busy/' $D/prof-philly-util.csv >"$T/bad.csv"
fails philly-util "a word" ":3:gpu1_util: bad value 'busy' (expected a number or NA)"
sed '3s/,$/,7,/' $D/prof-philly-util.csv >"$T/bad.csv"
run "a field too many" 1 gf-prof --from philly-util "$T/bad.csv"
printf 'time,machineId,cpu\n2019-11-03 01:30:00 PDT,m1,5\n' >"$T/bad.csv"
fails philly-util "the file of another table" ":1: no column 'gpu0_util', 'gpu1_util', …"

# ---- Gavel ----
# gavel WHAT SED MESSAGE: the sample, with a fault
gavel() {
	sed "$2" $D/prof-gavel.json >"$T/bad.csv"
	fails "${4:-gavel}" "gavel: $1" "$3"
}
gavel "a negative rate" 's/"null": 20.5/"null": -1/' \
	": v100: ('ResNet-18 (batch size 32)', 1): no value of 'null' (expected steps a second alone)"
gavel "a name that is no tuple" "s/('A3C', 1)\": {/A3C\": {/" ": v100: bad name 'A3C' (expected ('MODEL', GPUS))"
gavel "a tuple with nothing behind the comma" "s/('A3C', 1)\": {/('A3C', )\": {/" \
	": v100: bad name '('A3C', )' (expected ('MODEL', GPUS))"
gavel "a tuple without a comma" "s/('A3C', 1)\": {/('A3C 1')\": {/" ": v100: bad name '('A3C 1')' (expected ('MODEL', GPUS))"
gavel "no GPUs" "s/('A3C', 1)\": {/('A3C', 0)\": {/" ": v100: bad name '('A3C', 0)' (expected ('MODEL', GPUS))"
gavel "a word" '4s/20.5/fast/' ":4: bad JSON: invalid token near 'fast'"
gavel "one rate of two" 's/.15, 3.5./[15]/' ": v100: ('ResNet-18 (batch size 32)', 1): bad value of '('A3C', 1)' \
(expected the steps a second of both)" gavel-pairs
printf '[1]\n' >"$T/bad.csv"
fails gavel "gavel: an array" ": no JSON object (expected one of worker types)"
printf '{"k80": 1}\n' >"$T/bad.csv"
fails gavel "gavel: a number" ": k80: no object of 'throughputs' (expected them by ('MODEL', GPUS))"
: >"$T/bad.csv"
fails gavel "gavel: an empty file" ": empty file (expected throughputs as JSON)"

# ---- Lucid ----
gold lucid-colocate prof-lucid-colocate
gold lucid-single prof-lucid-single 0
sed '2s/55.125/155.125/' $D/prof-lucid-single.csv >"$T/bad.csv"
fails lucid-single "a utilisation above 100" ":2:gpu_util: out of range '155.125' (expected 0 to 100)"
sed '2s/,3560.0/,-1/' $D/prof-lucid-single.csv >"$T/bad.csv"
fails lucid-single "negative memory" ":2:gmem: out of range '-1' (expected at least 0)"
sed '2s/0.911/fast/' $D/prof-lucid-colocate.csv >"$T/bad.csv"
run "a word for a speed" 1 gf-prof --from lucid-colocate "$T/bad.csv"
has "its place" "$T/err" ":2:speed1: bad value 'fast'"
sed '2s/0.911//' $D/prof-lucid-colocate.csv >"$T/na.csv"
run "no speed" 0 gf-prof --no-meta --from lucid-colocate "$T/na.csv"
has "is missing" "$T/out" '^Wren	SynthA	1	48	0	NA	'

# ---- gradient norms ----
gold gradient-stats prof-gradient-stats
run "gradient-stats: the report" 0 gf-prof --from gradient-stats $D/prof-gradient-stats.csv
is "gradient-stats: what is odd" "$T/err" \
"gf-prof: warning: $D/prof-gradient-stats.csv: 1 step does not follow the one before (a restart)
gf-prof: warning: $D/prof-gradient-stats.csv: 1 step with a norm that is not finite
gf-prof: warning: $D/prof-gradient-stats.csv: 1 step with global_sqr above local_sqr (the norm of a mean is at \
most the mean of the norms)"
tr ',' '\t' <$D/prof-gradient-stats.csv >"$T/tabs.tsv"
run "gradient-stats: tabs" 0 gf-prof -q --from gradient-stats "$T/tabs.tsv"
same "gradient-stats: the same table" "$D/prof-gradient-stats.tsv" "$T/out"
{ cat $D/prof-gradient-stats.csv; sed 1q $D/prof-gradient-stats.csv; echo '4,0,8,1,16,3.5,0.75'; } >"$T/app.csv"
run "gradient-stats: appended files" 0 gf-prof --from gradient-stats "$T/app.csv"
has "gradient-stats: the header row again is counted" "$T/err" ': 1 header rows met again$'
sed '2s/2.5,/-2.5,/' $D/prof-gradient-stats.csv >"$T/bad.csv"
fails gradient-stats "a negative square" ":2:local_sqr: out of range '-2.5' (expected at least 0)"
sed '2s/,4,0,32/,0,0,32/' $D/prof-gradient-stats.csv >"$T/bad.csv"
fails gradient-stats "no replicas" ":2:replicas: out of range '0' (expected at least 1)"
printf 'step,replicas,local_bsz,global_sqr,prev_dot,prev_diff_sqr\n9007199254740993,1,64,2,1.5,0.25\n' >"$T/one.csv"
run "gradient-stats: one replica, a step beyond 2^53" 0 gf-prof --no-meta --from gradient-stats "$T/one.csv"
has "gradient-stats: kept to the digit" "$T/out" '^9007199254740993	NA	NA	NA	1	NA	64	NA	2	1.5	0.25$'

# ---- Rubick ----
run "rubick-placements" 0 gf-prof -q --from rubick-placements $D/prof-rubick
golden "rubick-placements: the table" "$T/out" $D/prof-rubick-placements.tsv
run "rubick-placements: the report" 0 gf-prof --from rubick-placements $D/prof-rubick
is "rubick-placements: what is odd" "$T/err" \
"gf-prof: warning: $D/prof-rubick: lark: 1 rows with a plan and placement that were there before
gf-prof: warning: $D/prof-rubick: wren: 1 placements with an iteration time of 0, which could not run: missing
gf-prof: warning: $D/prof-rubick: wren: parts of an iteration read as milliseconds"
run "rubick-placements: one file" 0 gf-prof -q --no-meta --app wren --from rubick-placements \
	$D/prof-rubick/wren/placements.csv
grep -e ^app -e ^wren $D/prof-rubick-placements.tsv >"$T/wren"
same "rubick-placements: its rows" "$T/wren" "$T/out"
run "rubick-placements: one folder" 0 gf-prof -q --no-meta --from rubick-placements $D/prof-rubick/wren/
same "rubick-placements: its rows again" "$T/wren" "$T/out"
sed '2s/ga,11/ga,1a/' $D/prof-rubick/wren/placements.csv >"$T/bad.csv"
fails rubick-placements "a placement that is none" ":2:placement: bad value '1a' (expected digits 1 to 9, one a node)"
run "rubick-model" 0 gf-prof --from rubick-model $D/prof-rubick
golden "rubick-model: the table" "$T/out" $D/prof-rubick-model.tsv
mkdir "$T/m"
cp $D/prof-rubick/wren/*.csv "$T/m"
printf '\r\n5,5,5,5,1100\r\n' >>"$T/m/data.csv"
run "rubick-model: files of different length" 1 gf-prof --from rubick-model "$T/m"
is "rubick-model: the message" "$T/err" "gf-prof: $T/m: config.csv and data.csv have different numbers of \
rows (expected a pair a row)"
rm "$T/m/data.csv"
run "rubick-model: half of a pair" 3 gf-prof --from rubick-model "$T/m"
run "rubick-model: a file" 1 gf-prof --from rubick-model $D/prof-rubick/wren/config.csv
mkdir "$T/empty"
run "rubick-model: nothing in it" 1 gf-prof --from rubick-model "$T/empty"
run "rubick-placements: not there" 3 gf-prof --from rubick-placements "$T/none"

# ---- the public files ----
if [ -z "$GOODFIT_SHARED" ] || [ ! -d "$GOODFIT_SHARED/public" ]; then
	skip "no public data (set GOODFIT_SHARED, see scripts/fetch-public)" 11
	exit 0
fi
P=$GOODFIT_SHARED/public
run "public: colocate_info" 0 gf-prof --from lucid-colocate "$P/lucid-asplos23/colocate_info.csv"
awk -F '\t' '/^#end/ { print } /^#/ || $1 == "app1" { next }
	{ for (k = 6; k <= 12; k += 6) { if (min == "" || $k < min) min = $k; if ($k > max) max = $k } }
	$1 == $7 && $2 == $8 && $4 == $10 && $5 == $11 { self++ }
	END { printf "%.3f to %.3f, %d with itself\n", min, max, self }' "$T/out" >"$T/found"
is "public: its rows, speeds and self-pairs" "$T/found" "#end rows=1388
0.444 to 1.498, 56 with itself"
run "public: single_data" 0 gf-prof --no-meta --from lucid-single "$P/lucid-asplos23/single_data.csv"
cut -f 9 "$T/out" | sort | uniq -c | sed 's/^ *//' >"$T/found"
is "public: its labels" "$T/found" "25 0
16 1
25 2
1 label"
run "public: Rubick's placements" 0 gf-prof --no-meta --from rubick-placements "$P/rubick-mlsys25/traces"
cut -f 1 "$T/out" | sort | uniq -c | sed 's/^ *//' >"$T/found"
is "public: rows of each application" "$T/found" "1 app
72 bert
74 gpt2
11 llama30
48 llama7
21 llama7b_bsz16
120 roberta
92 t5
6 t5_3B
95 vit"
awk -F '\t' '$7 == "NA" { print $1 }' "$T/out" | uniq -c | sed 's/^ *//' >"$T/found"
is "public: four that could not run" "$T/found" "4 llama7b_bsz16"
# all of the parts in seconds now: their sum is near the iteration time
awk -F '\t' '$8 != "NA" && $9 != "NA" && $10 != "NA" { s = ($8 + $9 + $10) / $7; n++; if (s > 2) bad++ }
	END { print (n > 300), bad + 0 }' "$T/out" >"$T/found"
is "public: no part of an iteration is a thousand times too long" "$T/found" "1 0"
run "public: Rubick's performance model" 0 gf-prof --no-meta --from rubick-model "$P/rubick-mlsys25/profile"
cut -f 1 "$T/out" | sort | uniq -c | awk '{ print $2, $1 }' >"$T/found"
is "public: three to seven rows a model" "$T/found" "app 1
bert 7
gpt2 4
llama30b 3
llama7b 3
roberta 6
t5 7
vit 7"
