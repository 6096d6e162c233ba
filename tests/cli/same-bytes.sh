# SPDX-License-Identifier: MIT
# The same bytes: every output of the whole path, by its sha256, is equal when run again, with four
# threads, under a locale that writes 0,5, from another folder, at another time of day and time zone,
# and through pipes instead of files. PDF is left out: gnuplot writes the time into it.
. tests/cli/lib.sh

mkdir "$T/in"
run "sample workload" 0 gf-synth workload --jobs 30 --hours 1 --seed 5 -o "$T/in/workload.tsv"
run "sample profiles" 0 gf-synth profiles --seed 5 "$T/in/apps"
run "sample jobs" 0 gf-synth jobs --jobs 200 --seed 5 -o "$T/in/jobs.tsv"
run "sample trace" 0 gf-trace --to pollux "$T/in/workload.tsv" -o "$T/in/workload.csv"

# Everything once, in the current folder, from ../in by relative names.
all() {
	set -e
	gf-prof --from pollux ../in/apps -o profiles.h5 "$@"
	gf-trace --from pollux ../in/workload.csv -o trace.tsv "$@"
	gf-synth workload --jobs 40 --hours 2 --seed 9 -o synth-workload.tsv "$@"
	gf-synth jobs --jobs 500 --seed 9 -o synth-jobs.tsv "$@"
	gf-synth profiles --seed 9 "$@" synth-apps
	gf-throughput --profile profiles.h5 -o theta.tsv "$@"
	gf-gate -q -d profiles.h5:/placements --fresh profiles.h5:/placements -i theta.tsv -o gate.tsv theta.tsv "$@"
	gf-gate -q --format json -d profiles.h5:/placements -i theta.tsv -o gate.json theta.tsv "$@"
	for policy in fifo sjf srtf tiresias optimus; do
		gf-replay --policy $policy --cluster 4x4 --interval 60 --profile profiles.h5 \
			../in/workload.tsv -o log-$policy.tsv "$@"
	done
	for policy in fifo sjf srtf tiresias; do
		gf-replay --policy $policy --cluster 4x4 ../in/jobs.tsv -o plain-$policy.tsv "$@"
		gf-verify --jobs ../in/jobs.tsv plain-$policy.tsv -o plain-$policy.verdict.tsv "$@"
	done
	gf-replay --policy tiresias --cluster 4x4 --interval 60 --fidelity pollux-osdi21 \
		--profile profiles.h5 ../in/workload.tsv -o log-osdi21.tsv "$@"
	for log in log-*.tsv; do
		gf-verify --jobs ../in/workload.tsv --profile profiles.h5 "$log" -o "${log%.tsv}.verdict.tsv" "$@"
		gf-metrics "$log" -o "${log%.tsv}.metrics.tsv" "$@"
		gf-metrics --per-job "$log" -o "${log%.tsv}.jobs.tsv" "$@"
	done
	gf-ga2m train -q -t duration_s --loss gamma --time submit_s --exclude job_id --bags 3 --pairs 1 --max-rounds 80 \
		--smoothing-rounds 40 ../in/jobs.tsv -o ga2m.tsv "$@"
	gf-ga2m predict --model ga2m.tsv ../in/jobs.tsv -o ga2m-predicted.tsv "$@"
	gf-table convert log-fifo.tsv -o store.h5:/fifo "$@"
	gf-table convert log-srtf.tsv -o store.h5:/srtf "$@"
	gf-table convert store.h5:/fifo -o back.tsv "$@"
	gf-table describe log-fifo.tsv -o describe.tsv "$@"
	gf-diff log-fifo.tsv log-srtf.tsv --key time_s,event,job_id,progress -o diff.tsv "$@" || [ $? -eq 1 ]
	for end in svg png; do
		gf-plot jct-cdf -o cdf.$end log-fifo.tsv log-tiresias.tsv "$@"
		gf-plot timeline -o timeline.$end log-tiresias.tsv "$@"
	done
}

# The same outputs by pipes, as far as tools take a stream.
piped() {
	set -e
	cp ../first/profiles.h5 .
	gf-trace --from pollux <../in/workload.csv >trace.tsv
	gf-synth workload --jobs 40 --hours 2 --seed 9 | cat >synth-workload.tsv
	gf-synth jobs --jobs 500 --seed 9 | cat >synth-jobs.tsv
	gf-throughput --profile profiles.h5 | cat >theta.tsv
	for policy in fifo sjf srtf tiresias optimus; do
		# shellcheck disable=SC2002
		cat ../in/workload.tsv | gf-replay --policy $policy --cluster 4x4 --interval 60 \
			--profile profiles.h5 - | cat >log-$policy.tsv
		# shellcheck disable=SC2002
		cat log-$policy.tsv | gf-verify --jobs ../in/workload.tsv --profile profiles.h5 |
			cat >log-$policy.verdict.tsv
		gf-metrics <log-$policy.tsv | cat >log-$policy.metrics.tsv
		gf-metrics --per-job - <log-$policy.tsv >log-$policy.jobs.tsv
	done
	gf-table convert - -o store.h5:/fifo <log-fifo.tsv
	gf-table convert - -o store.h5:/srtf <log-srtf.tsv
	gf-table convert store.h5:/fifo | cat >back.tsv
}

sums() {
	find . -type f ! -name '*.pdf' | LC_ALL=C sort | xargs sha256sum
}

# NAME COMMAND…: run it in a folder of that name; its sums to NAME.sums
round() {
	round_name=$1
	shift
	mkdir -p "$T/$round_name"
	(cd "$T/$round_name" && "$@") >"$T/$round_name.out" 2>&1
	ok "$round_name: everything runs" $?
	[ ! -s "$T/$round_name.out" ] || diag_file "messages" "$T/$round_name.out"
	(cd "$T/$round_name" && sums) >"$T/$round_name.sums"
}

equal() {
	same "$1: every output has the same sha256" "$T/first.sums" "$T/$1.sums"
}

# shellcheck disable=SC2317
in_german() {
	LC_ALL=de_DE.UTF-8
	export LC_ALL
	all "$@"
}

# shellcheck disable=SC2317
in_another_zone() {
	TZ=Pacific/Auckland
	export TZ
	unset LC_ALL
	LANG=C
	export LANG
	all "$@"
}

round first all
n=$(wc -l <"$T/first.sums")
[ "$n" -ge 45 ]
ok "there are many outputs ($n)" $?
round again all
equal again
round threads all --threads 4
equal threads
mkdir -p "$T/deep/er"
ln -s ../in "$T/deep/in"
round deep/er all
equal deep/er
round zone in_another_zone
equal zone
round pipe piped
(cd "$T/pipe" && find . -type f | sort | sed 's/.*/  &$/') >"$T/have"
grep -f "$T/have" "$T/first.sums" >"$T/want"
lines "the piped round has its outputs" "$T/pipe.sums" "$(($(wc -l <"$T/want")))"
same "pipe: every output has the same sha256" "$T/want" "$T/pipe.sums"

# Does this locale exist, and does it write a comma?
if [ "$(LC_ALL=de_DE.UTF-8 gnuplot -e 'set decimalsign locale; print gprintf("%.1f", 0.5)' 2>&1 | tail -n 1)" = 0,5 ]; then
	round german in_german
	equal german
else
	skip "the locale de_DE.UTF-8 is not there (scripts/bootstrap test)" 2
fi

# No output says where it was made.
host=$(uname -n)
case $host in ?????*) ;; *) host=$T ;; esac	# a short name turns up in any binary file
(cd "$T/first" && grep -rlaF -e "$T" -e "$host" .) >"$T/names"
is "no output names the folder or the host" "$T/names" ""
