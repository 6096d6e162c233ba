# SPDX-License-Identifier: MIT
# gf-replay --sorted: jobs that are read as they come give the rows that all of them at once give.
. tests/cli/lib.sh
rows() { grep -v '^#' "$1"; }
C="--configs tests/data/lucid-configs.tsv --pairs tests/data/lucid-pairs.tsv"

# two days of jobs, with predictions, configurations, types and groups; many share an instant, and their ids
# come in another order than that of numbers
gf-synth jobs --jobs 1200 --hours 5 --max-gpus 16 --seed 4 -q --no-meta | awk -F '\t' -v OFS='\t' '
	BEGIN { c[0] = "Wren\ts1\t16\t0"; c[1] = "Lark\ts2\t16\t1"; c[2] = "Owl\ts3\t32\t0" }
	NR == 1 { print $0, "predicted_s", "group", "gpu_type", "app", "dataset", "batch_size", "amp"; next }
	{
		h = (NR * 40503) % 65536
		$1 = "x" (NR * 7919) % 1213
		$3 = int($3 / 60) * 60
		print $0, int($4 * (0.5 + h / 65536)) - 20, h % 2 ? "red" : "blue", h % 3 ? "NA" : h % 4 ? "a" : "b", c[h % 3]
	}' >"$T/jobs.tsv"
for p in fifo fjf sjf qssf srtf shortest-gpu smallest tiresias 'tiresias --promote 1' 'tiresias -i 60' \
	"lucid $C" "lucid $C --wide-wait 600 --placement consolidate" "horus $C"; do
	name=$(echo "$p" | sed 's/ --configs.*tsv//')
	# shellcheck disable=SC2086
	run "$name" 0 gf-replay -p $p -c 12x8 -q -o "$T/whole.tsv" "$T/jobs.tsv"
	# shellcheck disable=SC2086
	run "$name, as they come" 0 gf-replay --sorted -p $p -c 12x8 -q -o "$T/log.tsv" "$T/jobs.tsv"
	rows "$T/whole.tsv" >"$T/a"
	rows "$T/log.tsv" >"$T/b"
	same "$name: the same rows" "$T/a" "$T/b"
	case $p in *lucid* | horus*) set -- $C ;; *) set -- ;; esac
	run "$name: verified" 0 gf-verify --only-violated "$@" -j "$T/jobs.tsv" "$T/log.tsv"
done
for c in 'a:6x8,b:6x8' 'red:5x8,blue:8x8 --virtual-clusters'; do
	for p in fifo tiresias sjf; do
		# shellcheck disable=SC2086
		gf-replay -p $p -c $c -q --skip-too-large "$T/jobs.tsv" | grep -v '^#' >"$T/a"
		# shellcheck disable=SC2086
		run "$p on $c" 0 gf-replay --sorted -p $p -c $c -q --skip-too-large "$T/jobs.tsv"
		rows "$T/out" >"$T/b"
		same "$p on $c: the same rows" "$T/a" "$T/b"
	done
done
run "from a pipe" 0 sh -c 'cat "$1" | gf-replay --sorted -c 12x8 - >"$2"' - "$T/jobs.tsv" "$T/pipe.tsv"
gf-replay -c 12x8 -q "$T/jobs.tsv" | grep -v '^#' >"$T/a"
rows "$T/pipe.tsv" >"$T/b"
same "from a pipe: the same rows" "$T/a" "$T/b"
run "into a store" 0 gf-replay --sorted -c 12x8 -q -o "$T/s.h5:/log" "$T/jobs.tsv"
run "the store is verified" 0 gf-verify -j "$T/jobs.tsv" --only-violated "$T/s.h5:/log"
run "metrics" 0 gf-metrics -q --no-meta "$T/pipe.tsv"
has "metrics of all" "$T/out" '^finished	1200	jobs$'

# memory goes with the jobs in the system: 100 000 jobs in the memory of some hundred
gf-synth jobs --jobs 100000 --hours 2000 -q -o "$T/many.tsv"
run "many jobs" 0 gf-replay --sorted -v -c 40x8 -o "$T/log.tsv" "$T/many.tsv"
mib=$(sed -n 's/.*CPU, \([0-9.]*\)[0-9]* MiB.*/\1/p' "$T/err")
case $B in
*asan*) skip "memory under a sanitizer says nothing" ;;
*) awk -v m="$mib" 'BEGIN { exit !(m > 0 && m < 24) }'; ok "in $mib MiB, less than 24" $? ;;
esac

# the hash of the jobs stands behind the rows, and the verifier looks at it
run "jobs" 0 gf-replay --sorted -c 12x8 -q -o "$T/log.tsv" "$T/jobs.tsv"
tail -n 2 "$T/log.tsv" | sed 's/=.*//' >"$T/tail"
is "the hash is behind the rows" "$T/tail" '#input_jobs
#end rows'
sed 's/^#input_jobs=./#input_jobs=g/' "$T/log.tsv" >"$T/other.tsv"
run "another jobs table" 1 gf-verify --only-violated -j "$T/jobs.tsv" "$T/other.tsv"
has "is noticed" "$T/out" '^inputs-match	violated.*another jobs table'

# what is wrong in rows
tab=$(printf '\t')
printf 'job_id\tsubmit_s\tgpus\tduration_s\na\t0\t1\t5\nb\t9\t1\t5\nc\t8.5\t1\t5\n' >"$T/order.tsv"
run "out of order" 1 gf-replay --sorted -c 1x4 -o "$T/none.tsv" "$T/order.tsv"
is "says which" "$T/err" "gf-replay: $T/order.tsv:4:submit_s: out of order '8.5' (expected at least 9, as in the row before)"
[ ! -e "$T/none.tsv" ]
ok "and leaves nothing" $?
printf 'job_id\tsubmit_s\tgpus\tduration_s\na\t0\t1\t5\na\t9\t1\t5\n' >"$T/twice.tsv"
run "an id twice" 1 gf-replay --sorted -c 1x4 "$T/twice.tsv"
is "says where" "$T/err" "gf-replay: $T/twice.tsv:3:job_id: duplicate id 'a' (first on line 2)"
printf 'job_id\tsubmit_s\tgpus\tduration_s\na\t0\t1\t5\nb\t9\t99\t5\nc\t9\t1\t5\nd\t10\tx\t5\ne\t10\t0\t5\n' >"$T/large.tsv"
run "too large" 1 gf-replay --sorted -c 1x4 "$T/large.tsv"
is "says how large" "$T/err" \
	"gf-replay: $T/large.tsv:3:gpus: job 'b' asks for 99 GPUs (expected at most 4; --skip-too-large rejects such jobs)"
sed "s/^d.*/d${tab}10${tab}-1${tab}5/" "$T/large.tsv" >"$T/bad.tsv"
run "rejected and left out" 0 gf-replay --sorted -c 1x4 --skip-too-large --skip-bad 1 -o "$T/log.tsv" "$T/bad.tsv"
sed "s,$T/,," "$T/err" >"$T/told"
is "warnings come at the end" "$T/told" "gf-replay: warning: bad.tsv: 1 job without GPUs left out
gf-replay: warning: 1 bad row left out, the first: bad.tsv:5:gpus: bad number of GPUs -1 (expected at least 1)
gf-replay: warning: bad.tsv: 1 job larger than the cluster rejected"
run "verified" 0 gf-verify --only-violated -j "$T/bad.tsv" "$T/log.tsv"
sed '/^#left_out/d' "$T/log.tsv" >"$T/other.tsv"
run "rows left out that the log does not say" 1 gf-verify --only-violated -j "$T/bad.tsv" "$T/other.tsv"
has "are noticed" "$T/out" '^jobs-once	violated.*1 rows of the jobs table cannot run'
printf 'job_id\tsubmit_s\tgpus\tduration_s\n' >"$T/empty.tsv"
run "no jobs" 0 gf-replay --sorted -c 1x4 "$T/empty.tsv"
is "no jobs: a warning" "$T/err" "gf-replay: warning: $T/empty.tsv: no jobs"

# with what it does not go
run "another policy" 2 gf-replay --sorted -p gittins -c 1x4 "$T/order.tsv"
has "says with which it goes" "$T/err" '^gf-replay: of no use here: --sorted .expected --policy fifo, fjf'
run "a fidelity" 2 gf-replay --sorted -p tiresias --fidelity tiresias-nsdi19 -c 1x4 "$T/order.tsv"
has "says why" "$T/err" '^gf-replay: --sorted: no fidelity, profile'
