# SPDX-License-Identifier: MIT
# gf-goodput: sources of statistics and limits, allocations, splits, learning-rate rules, faults.
. tests/cli/lib.sh
D=tests/data
theta=$D/goodput-theta.tsv stats=$D/goodput-stats.tsv

# good FILE PROGRAM: awk over the rows, columns by name in c[]; near(a, b) to 1e-12
good() {
	awk -F '\t' 'function near(a, b) { d = a - b; if (d < 0) d = -d; return d <= 1e-12 * (b < 0 ? -b : b) }
		/^#/ { next } !seen { for (i = 1; i <= NF; i++) c[$i] = i; seen = 1; next }
		{ rows++ } '"$2" "$1"
}
limits="--init-batch 64 --max-batch 4096 --min-local 16 --max-local 256"

# ---- optimise ----
run "lists of GPUs, a table of statistics" 0 gf-goodput --models $theta --stats $stats --gpus 1,2-8:2,16
cp "$T/out" "$T/best"
is "nothing to say" "$T/err" ""
lines "three sets of statistics, six numbers of GPUs" "$T/best" 27
column app "$T/best" | uniq -c | awk '{ print $2, $1 }' >"$T/apps"
is "one set after the other" "$T/apps" "resnet 12
lstm 6"
column num_nodes "$T/best" | head -n 6 | paste -s -d ' ' - >"$T/nodes"
is "the fewest nodes" "$T/nodes" "1 1 1 2 2 4"
has "models and statistics by content" "$T/best" '^#input_models=[0-9a-f]{32}$'
has "both" "$T/best" '^#input_stats=[0-9a-f]{32}$'
good "$T/best" '
	{ e = ($c["phi"] + init[$1]) / ($c["phi"] + $c["batch_size"])
	  if (!near($c["efficiency"], e) || !near($c["goodput_per_s"], $c["throughput_per_s"] * e)) bad = 1
	  if ($c["batch_size"] != $c["num_replicas"] * $c["atomic_bsz"] * ($c["accum_steps"] + 1)) bad = 1
	  if ($c["num_replicas"] == 1) base = $c["goodput_per_s"]
	  if (!near($c["speedup"], $c["goodput_per_s"] / base)) bad = 1 }
	BEGIN { init["resnet"] = 64; init["lstm"] = 16 }
	END { exit bad || rows != 18 }'
ok "efficiency, goodput, batch size and speedup follow from the rest" $?
run "again, with other threads" 0 gf-goodput --threads 4 --models $theta --stats $stats --gpus 1,2-8:2,16
same "the same bytes" "$T/best" "$T/out"
run "-o" 0 gf-goodput -o "$T/o.tsv" --models $theta --stats $stats --gpus 1,2-8:2,16
same "-o writes the same" "$T/best" "$T/o.tsv"

{ printf 'app\tnum_nodes\tnum_replicas\n'
  good "$T/best" '{ print $1 "\t" $c["num_nodes"] "\t" $c["num_replicas"] }' | sort -u; } >"$T/alloc.tsv"
run "the allocations as a table" 0 gf-goodput --no-meta --models $theta --stats $stats "$T/alloc.tsv"
sed 1d "$T/out" | sort >"$T/a"
grep -v '^#' "$T/best" | sed 1d | sort >"$T/b"
same "give the same rows" "$T/b" "$T/a"
awk -F '\t' 'BEGIN { OFS = "," } NR == 1 { print "app", "placement"; next }
	$2 == 1 { print $1, $3 }' "$T/alloc.tsv" >"$T/alloc.csv"
run "placements, comma-separated" 0 gf-goodput --no-meta --models $theta --stats $stats "$T/alloc.csv"
sed 1d "$T/out" | sort >"$T/a"
grep -v '^#' "$T/best" | sed 1d | awk -F '\t' '$5 == 1' | sort >"$T/b"
same "give the same rows, too" "$T/b" "$T/a"
run "--nodes" 0 gf-goodput --no-meta --models $theta --stats $stats --app lstm --nodes 1-3 --gpus 2,12
sed 1d "$T/out" | cut -f 5,6 | tr '\t' ' ' | paste -s -d , - >"$T/a"
is "each that can be" "$T/a" "1 2,2 2,3 12"
run "--gpus-per-node" 0 gf-goodput --no-meta --models $theta --stats $stats --app lstm --gpus 9 --gpus-per-node 8
column num_nodes "$T/out" >"$T/a"
is "is how many a node has" "$T/a" 2
run "too few nodes" 1 gf-goodput --models $theta --stats $stats --nodes 1 --gpus 9
is "is said" "$T/err" "gf-goodput: no number of GPUs fits any number of nodes (--gpus, --nodes, --gpus-per-node)"

# ---- sources of statistics ----
# shellcheck disable=SC2086
run "--grad-sqr and --grad-var" 0 gf-goodput --no-meta --models $theta --app resnet --grad-sqr 0.8 \
	--grad-var 4 $limits --gpus 8
cp "$T/out" "$T/a"
# shellcheck disable=SC2086
run "--phi" 0 gf-goodput --no-meta --models $theta --app resnet --phi 320 $limits --gpus 8
cut -f 5-9,13 "$T/a" >"$T/a5"
cut -f 5-9,13 "$T/out" | awk -F '\t' 'NR == 1 || NR == 2' >"$T/b5"
column goodput_per_s "$T/a" | cut -c 1-12 >"$T/x"
column goodput_per_s "$T/out" | cut -c 1-12 >"$T/y"
same "is their ratio" "$T/x" "$T/y"
awk -F '\t' '/^#/ { next } !seen { seen = 1; next } $5 == 2 && $6 == 8 && $3 == 1000 { print $12 }' "$T/best" |
	cut -c 1-12 >"$T/y"
same "and the table's row" "$T/x" "$T/y"
run "options go before the table" 0 gf-goodput --no-meta --models $theta --stats $stats --app lstm \
	--max-local 10 --gpus 1-4
column atomic_bsz "$T/out" | sort -n | tail -n 1 >"$T/a"
awk '{ exit !($1 <= 10) }' "$T/a"
ok "the memory limit holds" $?
run "the noise scale from a log, in a pipe" 0 sh -c "gf-pgns -q --by-epoch $D/pgns-log.tsv |
	gf-goodput --models $theta --app resnet --stats - --max-batch 4096 --max-local 256 --gpus 4 --no-meta"
column app "$T/out" | paste -s -d ' ' - >"$T/a"
is "a log without a name is for the model asked for" "$T/a" "resnet resnet"
run "the noise scale from a log with its application" 0 sh -c "gf-pgns -q --by-epoch $D/pgns-log.tsv |
	sed 's/^NA/resnet/' | gf-goodput --models $theta --stats - --max-batch 4096 --max-local 256 --gpus 4"
has "two epochs" "$T/out" '^resnet	1	'
printf 'phi\tinit_batch\tmax_batch\tmax_local_bsz\n50\t8\t64\t32\n' >"$T/one.tsv"
run "statistics without applications" 0 gf-goodput --models $theta --stats "$T/one.tsv" --gpus 4 --no-meta
column app "$T/out" | paste -s -d ' ' - >"$T/a"
is "are for every model" "$T/a" "resnet lstm"
printf 'app\tphi\tstatus\nlstm\t64\tok\nlstm\tNA\tnot-estimable\n' >"$T/phi.tsv"
run "a row that is not estimable" 0 gf-goodput --models $theta --stats "$T/phi.tsv" --init-batch 16 \
	--max-batch 512 --max-local 40 --gpus 4
is "is left out, and counted" "$T/err" \
	"gf-goodput: warning: $T/phi.tsv: 1 row that is not estimable left out"

# ---- fixed batch, strict limit, accumulation ----
run "a job that does not adapt" 0 gf-goodput --no-meta --models $theta --app resnet --fixed 100 --max-local 64 \
	--gpus 1-8
good "$T/out" '{ if ($c["efficiency"] != 1 || $c["goodput_per_s"] != $c["throughput_per_s"]) bad = 1
	if ($c["batch_size"] < 100 || $c["batch_size"] >= 100 + $c["num_replicas"] * ($c["accum_steps"] + 1)) bad = 1 }
	END { exit bad || rows != 8 }'
ok "keeps its batch, to the next multiple, at efficiency 1" $?
run "--strict" 0 gf-goodput --no-meta --models $theta --app resnet --fixed 100 --max-local 64 --strict --gpus 1-8
good "$T/out" '{ if ($c["batch_size"] > 100) bad = 1 } END { exit bad || rows != 8 }'
ok "never above" $?
run "more GPUs than samples" 0 gf-goodput --no-meta --models $theta --app lstm --phi 9 --init-batch 16 \
	--max-batch 20 --max-local 40 --gpus 1,20,24
column batch_size "$T/out" | tail -n 1 >"$T/a"
is "has no split" "$T/a" NA
column goodput_per_s "$T/out" | tail -n 1 >"$T/a"
is "and no goodput" "$T/a" 0

# ---- given splits ----
run "--at" 0 gf-goodput --no-meta --models $theta --stats $stats --at $D/goodput-splits.tsv
lines "each split with each set of statistics of its application" "$T/out" 8
cut -f 5,6,7,8 "$T/out" | sed 1d | uniq >"$T/a"
grep -v '^#' $D/goodput-splits.tsv | sed 1d | cut -f 2-5 >"$T/b"
same "as they were given" "$T/b" "$T/a"
grep -v '^#' "$T/best" | cut -f 1,5-8 >"$T/own.tsv"
run "the best splits again" 0 gf-goodput --models $theta --stats $stats --at "$T/own.tsv"
{ grep -v '^#' "$T/best"; } | sed 1d | sort -u >"$T/a"
grep -v '^#' "$T/out" | sed 1d | sort -u >"$T/b"
comm -13 "$T/b" "$T/a" >"$T/left"
is "have the same goodput" "$T/left" ""
at_fault() {
	printf 'app\tnum_nodes\tnum_replicas\tatomic_bsz\taccum_steps\n%s\n' "$2" >"$T/bad.tsv"
	run "$1" 1 gf-goodput --models $theta --stats $stats --max-accum 3 --at "$T/bad.tsv"
	is "$1: the message" "$T/err" "gf-goodput: $T/bad.tsv:2:$3"
	is "$1: no output" "$T/out" ""
}
at_fault "too much for the memory" "lstm	1	2	41	0" "atomic_bsz: bad size '41' (expected 4 to 40)"
at_fault "too many passes" "lstm	1	2	40	4" "accum_steps: bad number of passes '4' (expected 0 to 3)"
at_fault "below the initial batch" "lstm	1	2	4	0" \
	"atomic_bsz: bad total batch size '8' (expected 16 to 512)"
at_fault "above the largest" "lstm	4	16	40	0" \
	"atomic_bsz: bad total batch size '640' (expected 16 to 512)"
at_fault "fewer GPUs than nodes" "lstm	4	3	40	0" \
	"num_replicas: bad number of GPUs '3' (expected 4 to 1000000)"
at_fault "no node" "lstm	0	3	40	0" "num_nodes: bad number of nodes '0' (expected 1 or more)"
at_fault "an unknown application" "vgg	1	1	40	0" "app: no gradient statistics of application 'vgg'"
at_fault "no size" "lstm	1	1	NA	0" "atomic_bsz: missing value (expected a number)"

# ---- learning-rate rules ----
run "--lr-rule all" 0 gf-goodput --no-meta --lr-rule all --models $theta --stats $stats --gpus 1,8,16
good "$T/out" '{ s = $c["batch_size"] / ($1 == "lstm" ? 16 : 64)
	if (!near($c["lr_linear"], s) || !near($c["lr_sqrt"] ^ 2, s) || !near($c["lr_legw"] ^ 2, s) ||
	    !near($c["warmup_legw"], s) || !near($c["lr_adascale"], s * $c["efficiency"])) bad = 1 }
	END { exit bad || rows != 9 }'
ok "each by its formula" $?
run "--lr-rule legw" 0 gf-goodput --no-meta --lr-rule legw --models $theta --stats $stats --gpus 8
head -n 1 "$T/out" | cut -f 14- >"$T/a"
is "that one alone" "$T/a" "lr_legw	warmup_legw"
run "an unknown rule" 2 gf-goodput --lr-rule cubic --models $theta --stats $stats --gpus 8
has "is named, with those that there are" "$T/err" \
	"^gf-goodput: unknown rule 'cubic' for --lr-rule .expected adascale, sqrt, linear, legw or all.$"

# ---- a profile store ----
run "a store" 0 gf-prof --from pollux $D/profile-mini -o "$T/p.h5"
run "its models" 0 gf-throughput -q --profile "$T/p.h5" -o "$T/pt.tsv"
run "--profile" 0 gf-goodput --no-meta --models "$T/pt.tsv" --profile "$T/p.h5" --epoch 0-2:2 --gpus 1,2,4
column epoch "$T/out" | uniq | paste -s -d ' ' - >"$T/a"
is "the epochs asked for, each application" "$T/a" "0 2 0 2"
column phi "$T/out" | head -n 1 >"$T/a"
awk '{ exit !($1 > 198.8 && $1 < 198.9) }' "$T/a"	# 32 x 15.330333 / 2.466667
ok "phi is that of the run" $?
run "an epoch that is not there" 1 gf-goodput --models "$T/pt.tsv" --profile "$T/p.h5" --app conv --epoch 4 --gpus 1
is "is said" "$T/err" "gf-goodput: no epoch '4' of application 'conv' (expected 0 to 3)"
run "a batch size outside of the runs" 1 gf-goodput --models "$T/pt.tsv" --profile "$T/p.h5" --stats-batch 7 --gpus 1
run "limits of the profile, statistics of an option" 0 gf-goodput --no-meta --models "$T/pt.tsv" \
	--profile "$T/p.h5" --phi 500 --app conv --gpus 1
column phi "$T/out" >"$T/a"
is "go together" "$T/a" 500

# ---- wrong usage ----
usage() {
	name=$1 want=$2
	shift 2
	run "$name" 2 gf-goodput --models $theta "$@"
	has "$name: the message" "$T/err" "^gf-goodput: $want"
}
usage "no statistics" "no gradient statistics" --gpus 1
usage "half of them" "--grad-sqr and --grad-var belong together" --grad-sqr 1 --gpus 1
usage "two sources" "more than one of" --phi 1 --stats $stats --gpus 1
usage "--epoch without a profile" "--epoch and --stats-batch go with" --phi 1 --epoch 0 --gpus 1
usage "--gpus and a file" "--gpus goes with neither" --phi 1 --gpus 1 $D/goodput-splits.tsv
usage "--nodes alone" "--nodes goes with --gpus only" --phi 1 --nodes 1 $D/goodput-splits.tsv
usage "a bad list" "bad list '4-2' for --gpus" --phi 1 --gpus 4-2
usage "a list of nothing" "bad list '1,,2' for --gpus" --phi 1 --gpus 1,,2
usage "a step of nothing" "bad list '1-5:0' for --gpus" --phi 1 --gpus 1-5:0
usage "no GPUs" "bad list '0' for --gpus" --phi 1 --gpus 0
usage "no limits" "no --init-batch for 'resnet', and none in a table" --phi 1 --gpus 1
usage "--fixed and --max-batch" "--fixed goes with neither" --fixed 8 --max-batch 9 --gpus 1
run "standard input twice" 2 gf-goodput --models - --phi 1
run "no models" 2 gf-goodput --phi 1 --gpus 1
printf 'app\tgrad_sqr\tgrad_var\tinit_batch\tmax_batch\tmax_local_bsz\nlstm\t-1\t2\t8\t16\t8\n' >"$T/bad.tsv"
run "a negative square" 1 gf-goodput --models $theta --stats "$T/bad.tsv" --gpus 1
is "is not estimable" "$T/err" \
	"gf-goodput: $T/bad.tsv:2:grad_sqr: not estimable: squared norm '-1' (expected 0 or more)"
printf 'app\tphi\tinit_batch\tmax_batch\tmax_local_bsz\nvgg\t2\t8\t16\t8\n' >"$T/bad.tsv"
run "statistics without a model" 1 gf-goodput --models $theta --stats "$T/bad.tsv" --gpus 1
is "are refused" "$T/err" \
	"gf-goodput: $T/bad.tsv:2:app: no throughput model of application 'vgg' (--models)"
printf 'app\tphi\tinit_batch\tmax_batch\tmax_local_bsz\nlstm\t2\t8\t4\t8\n' >"$T/bad.tsv"
run "limits out of order" 1 gf-goodput --models $theta --stats "$T/bad.tsv" --gpus 1
is "are refused, too" "$T/err" \
	"gf-goodput: $T/bad.tsv:2:app: application 'lstm': the batch sizes are below 1 or out of order"
