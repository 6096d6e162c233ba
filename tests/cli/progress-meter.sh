# SPDX-License-Identifier: MIT
# The progress meter: a line on standard error where that is a terminal, after two seconds of work; and nothing of it
# in a pipe, in a log, with -q, nor in any output.
. tests/cli/lib.sh
need_tool script 8
esc=$(printf '\033')

# A jobs table that takes its time: a head, four seconds in which rows come now and then, and a tail.
gf-synth jobs --jobs 400 -q -o "$T/jobs.tsv"
cat >"$T/slow.sh" <<'SLOW'
head -n 100 "$1"
for i in 1 2 3 4 5 6 7 8 9 10; do
	sleep 0.4
	sed -n "$((100 + i))p" "$1"
done
sed -n '111,$p' "$1"
SLOW
# A reader that does not come must not keep the test waiting.
feed() {
	timeout 20 sh -c 'sh "$1" "$2" >"$3"' - "$T/slow.sh" "$T/jobs.tsv" "$T/fifo" &
}
gf-table convert -o "$T/whole.tsv" "$T/jobs.tsv"
mkfifo "$T/fifo"

# at_terminal NAME COMMAND: run it with standard error on a terminal that is kept in $T/tty; status in $T/rc
at_terminal() {
	feed
	(cd "$T" && script -qec "$2"'; echo $? >rc' /dev/null) >"$T/tty" 2>&1 </dev/null
	[ "$(cat "$T/rc")" = 0 ]
	ok "$1" $?
}

at_terminal "a slow pipe" "gf-table convert -o got.tsv fifo >none"
has "says what, how much and how fast" "$T/tty" "gf-table: fifo: [0-9.]+ k?B, [0-9.]+ k?B/s"
tr -d "\r\n" <"$T/tty" | sed "s/.*$esc\[K//" >"$T/last"
is "is wiped out at the end" "$T/last" ""
same "and is in no output" "$T/got.tsv" "$T/whole.tsv"
at_terminal "with -q" "gf-table convert -q -o got.tsv fifo >none"
is "nothing" "$T/tty" ""
at_terminal "standard output is the terminal, too" "gf-table convert --no-meta fifo"
hasnt "no meter among rows" "$T/tty" "B/s"
feed
run "standard error is a file" 0 gf-table convert -o "$T/got.tsv" "$T/fifo"
is "nothing" "$T/err" ""

# work that is counted: jobs of a replay that takes some seconds
gf-synth jobs --jobs 9000 --hours 10 --seed 3 -q -o "$T/many.tsv"
(cd "$T" && script -qec "timeout -s INT 6 gf-replay -p gittins -c 8x8 -o log.tsv many.tsv >none" /dev/null) >"$T/tty" 2>&1 </dev/null
has "jobs, their share, rate and time left" "$T/tty" \
	'gf-replay: replay: [0-9.]+ jobs \([0-9]+ %\), [0-9.]+ jobs/s, [0-9.]+ (s|min|h) left'
