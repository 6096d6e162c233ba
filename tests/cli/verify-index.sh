# SPDX-License-Identifier: MIT
# Who had to run by Gittins index (tiresias-g, gittins; the paper's form and that of the simulator): good logs pass, and
# what is wrong with the others only this rule sees.
# awk programs and literal dollar signs
# shellcheck disable=SC2016
. tests/cli/lib.sh
tab=$(printf '\t')
rule=gittins-order times=

judge() {
	# shellcheck disable=SC2086
	gf-verify --jobs "$jobs" $times "$1"
}

good() {
	good=$T/good name=$1
	shift
	run "$name" 0 gf-replay -q -o "$good" "$@" "$jobs"
	run "$name: a good log" 0 judge "$good"
	has "$name: $rule applies" "$T/out" "^$rule	ok	[1-9]"
	has "$name: and so do instants" "$T/out" "^decision-instants	ok	[1-9]"
}

# only NAME: of the log before, no other rule is violated
only() {
	awk -F '\t' '$2 == "violated" { print $1 }' "$T/out" >"$T/violated"
	is "$1: nothing else" "$T/violated" "$rule"
}

# ---- many jobs, all forms ----
gf-synth jobs --jobs 150 --hours 4 --max-gpus 8 --no-meta >"$T/many.tsv"
jobs=$T/many.tsv
printf 'duration\n' >"$T/samples.tsv"
awk 'BEGIN { for (i = 1; i <= 400; i++) print int(60 * exp(6 * ((i * 7919) % 401) / 401)) }' >>"$T/samples.tsv"
for form in paper artifact; do
	other=$([ $form = paper ] && echo artifact || echo paper)
	for p in tiresias-g gittins; do
		for options in '' '--interval 60' '--placement consolidate' '--placement yarn' '--restart-delay 30' \
			'--fidelity tiresias-nsdi19'; do
			# shellcheck disable=SC2086
			good "$p, $form $options" -p $p -c 2x8 --gittins $form $options
		done
		good "$p, $form, of other jobs" -p $p -c 2x8 --gittins $form --interval 60
		remeta "$p, $form, taken for $other" $rule "s/^#gittins=$form\$/#gittins=$other/"
		only "$p, $form, taken for $other"
	done
	good "$form, promoted" -p tiresias-g -c 2x8 --gittins $form --queues 600,3600,20000 --promote 1
done

# ---- samples of a table ----
times="--gpu-times $T/samples.tsv"
good 'samples' -p tiresias-g -c 2x8 --gpu-times "$T/samples.tsv"
hash=$(sed -n 's/^#input_gpu_times=//p' "$good")
has 'samples: the verdicts name them' "$T/out" "^#input_gpu_times=$hash\$"
good 'samples of gittins' -p gittins -c 2x8 --gpu-times "$T/samples.tsv"
times=
run 'samples that are not given' 0 judge "$good"
has 'samples that are not given: nothing is said' "$T/out" "^$rule	not-applicable"
# its metadata say that it was made with those samples
gf-replay -q -p tiresias-g -c 2x8 "$jobs" | sed "s/^#gittins=.*/&\n#input_gpu_times=$hash/" >"$T/bad"
times="--gpu-times $T/samples.tsv"
caught 'other samples' $rule
only 'other samples'
sed '2,$s/$/0/' "$T/samples.tsv" >"$T/tenfold.tsv"
times="--gpu-times $T/tenfold.tsv"
run 'samples of another log' 1 judge "$good"
has 'samples of another log: by their hash' "$T/out" '^inputs-match	violated	.*another table of GPU times'
printf 'duration\n5\n-1\n' >"$T/few.tsv"
run 'a sample that is none' 1 gf-verify --jobs "$jobs" --gpu-times "$T/few.tsv" "$good"
is 'a sample that is none: where' "$T/err" "gf-verify: $T/few.tsv:3:duration: missing or out of range (expected GPU-seconds)"
times=

# ---- queues without an index ----
good 'queues' -p tiresias-g -c 2x8
gf-replay -q -p tiresias -c 2x8 "$jobs" | sed 's/^#policy=tiresias$/#policy=tiresias-g\n#gittins=paper/' >"$T/bad"
caught 'queues in the order of starts' $rule
only 'queues in the order of starts'

# ---- each by hand ----
jobs=$T/few.tsv times="--gpu-times $T/sizes.tsv"
few() {
	printf 'job_id\tsubmit_s\tgpus\tduration_s\n' >"$T/few.tsv"
	tr ' ' '\t' >>"$T/few.tsv"
}
printf 'duration\n10\n1000\n' >"$T/sizes.tsv"
few <<X
old 0 1 900
new 50 1 10
X
# what has 50 behind it is like the long one
good 'the new one goes first' -p gittins -c 1x1 --gpu-times "$T/sizes.tsv"
mutate 'the old one stays' $rule '
	t < 50 || ev == "submit" { put() }
	t == 50 && ev == "submit" {
		print 900, "finish", "old", 0, "-", "NA", "NA", "NA", 900, "NA", "NA"
		print 900, "start", "new", 1, "0:1", "NA", "NA", "NA", 0, "NA", "NA"
		print 910, "finish", "new", 0, "-", "NA", "NA", "NA", 10, "NA", "NA"; n += 3 }'
only 'the old one stays'
has 'the old one stays: who should run' "$T/out" "50 s, job 'new': does not run; it is its turn, with 1 GPUs of 1 left"
# at 3250 s one has become a long one
printf 'duration\n3000\n100000\n' >"$T/sizes.tsv"
few <<X
a 0 1 5000
b 1 1 5000
X
good 'at a multiple of 3250 s' -p gittins -c 1x1 --gpu-times "$T/sizes.tsv"
has 'at a multiple of 3250 s: makes way' "$good" "^3250${tab}preempt${tab}a"
mutate 'at no multiple' $rule '
	t < 3250 { put() }
	once(t >= 3250) {
		print 5000, "finish", "a", 0, "-", "NA", "NA", "NA", 5000, "NA", "NA"
		print 5000, "start", "b", 1, "0:1", "NA", "NA", "NA", 0, "NA", "NA"
		print 10000, "finish", "b", 0, "-", "NA", "NA", "NA", 5000, "NA", "NA"; n += 3 }'
only 'at no multiple'
mutate 'elsewhere' decision-instants '
	t == 3250 && ev == "preempt" { $1 = 3300; $9 = 3300 } t == 3250 && ev == "start" { $1 = 3300 } { put() }'
# equal indices go by submission
few <<X
a 0 2 100
b 1 1 100
c 1 1 100
d 2 2 100
X
good 'equal ones' -p tiresias-g -c 1x2 --gpu-times "$T/sizes.tsv"
mutate 'equal ones, the later first' $rule '
	t >= 100 && id == "d" && ev == "start" { $1 = 100 } t >= 100 && id == "d" && ev == "finish" { $1 = 200 }
	(id == "b" || id == "c") && ev == "start" { $1 = 200 } (id == "b" || id == "c") && ev == "finish" { $1 = 300 }
	t < 100 || ev == "finish" && id == "a" { put(); next }
	{ row[$1 (ev == "start") id] = $0; keys[++k] = $1 (ev == "start") id }
	END { split("1001d 2000d 2001b 2001c 3000b 3000c", order, " "); for (i = 1; i <= 6; i++) { print row[order[i]]; n++ } }'
only 'equal ones, the later first'
