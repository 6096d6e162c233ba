# SPDX-License-Identifier: MIT
# Troubles that any trace or dump may have, whatever its format: files that were put together, packed,
# re-encoded or damaged on the way. Each is read all the same, or refused with its name.
. tests/cli/lib.sh
D=tests/data
H=$D/trace-helios.csv

# ---- files that were put together, each with its byte order mark ----

mark() {
	printf '\357\273\277'
	cat "$1"
}
# together NAME FILE COMMAND…: twice that file, with and without marks, is the same table
together() {
	name=$1 file=$2
	shift 2
	cat "$file" "$file" >"$T/two"
	{ mark "$file"; mark "$file"; } >"$T/marked"
	run "$name twice" 0 "$@" "$T/two"
	grep -v '^#input' "$T/out" >"$T/want"
	run "$name twice, with byte order marks" 0 "$@" "$T/marked"
	grep -v '^#input' "$T/out" >"$T/found"
	same "$name twice: the same table" "$T/want" "$T/found"
}
for format in acme-seren:acme helios openb lucid tiresias alibaba2026-lora; do
	together "${format#*:}" $D/trace-${format%:*}.csv gf-trace -q --no-unique --from "${format#*:}"
done
together sacct $D/trace-sacct-d.txt gf-trace -q --no-unique --from sacct
together swf $D/trace-swf-small.swf gf-trace -q --no-unique --from swf
together philly $D/trace-philly-sample.json gf-trace -q --no-unique --from philly
together dmon $D/prof-dmon.txt gf-prof -q --from dmon
together dcgmi $D/prof-dcgmi.txt gf-prof -q --from dcgmi
together dcgm-exporter $D/prof-dcgm-exporter.prom gf-prof -q --time 0 --period 1 --from dcgm-exporter
together philly-util $D/prof-philly-util.csv gf-prof -q --from philly-util
together nsight-kernels $D/prof-nsight-kernels.csv gf-prof -q --from nsight-kernels
together nsight-trace $D/prof-nsight-trace.csv gf-prof -q --from nsight-trace
together gradient-stats $D/prof-gradient-stats.csv gf-prof -q --from gradient-stats
printf '\357\273' | cat $D/trace-philly-sample.json - >"$T/half"
run "half a byte order mark" 1 gf-trace --from philly "$T/half"
has "is none" "$T/err" "^gf-trace: $T/half:[0-9]+: end of file at byte [0-9]+ \(expected '\['\)|expected '\['\)$"

# ---- packed ----

packed() {	# NAME FILE WHAT
	for tool in 'gf-trace --from helios' 'gf-trace --from auto' 'gf-prof --from nvidia-smi' 'gf-prof --from auto'; do
		# shellcheck disable=SC2086
		run "$1: $tool" 1 $tool "$2"
		is "$1: $tool: the message" "$T/err" \
			"${tool%% *}: $2: $3 (expected the file in it, plain or as gzip or zstd)"
	done
}
printf 'PK\3\4rest of an archive' >"$T/zip"
packed "zip" "$T/zip" "a zip archive"
printf '\3757zXZ\0\0\4rest' >"$T/xz"
packed "xz" "$T/xz" "an xz file"
printf 'BZh91AY&SYrest' >"$T/bz2"
packed "bzip2" "$T/bz2" "a bzip2 file"
gzip -c $H | gzip -c >"$T/twice.gz"
packed "gzip of gzip" "$T/twice.gz" "a gzip file in a compressed file"
cp $H "$T/jobs.csv"
if (cd "$T" && tar cf jobs.tar --format=ustar jobs.csv && gzip -c jobs.tar >jobs.tgz) 2>/dev/null; then
	packed "tar" "$T/jobs.tar" "a tar archive"
	packed "tar in gzip" "$T/jobs.tgz" "a tar archive in a compressed file"
else
	skip "no tar that writes ustar" 16
fi
printf 'BZh9,x\n1,2\n' >"$T/csv"
run "a column with such a name" 1 gf-trace --from helios "$T/csv"
has "is no archive" "$T/err" ":1: no column 'job_id' \(found BZh9, x\)$"

# ---- other encodings, and no text at all ----

if command -v iconv >/dev/null; then
	# as FORMAT FILE TOOL…: the table is the same from UTF-16 in both orders, with and without a mark
	wide() {
		name=$1 file=$2
		shift 2
		"$@" "$file" -o "$T/narrow.tsv" 2>/dev/null
		for order in LE BE; do
			iconv -f UTF-8 -t UTF-16$order "$file" >"$T/bare"
			{
				[ $order = LE ] && printf '\377\376' || printf '\376\377'
				cat "$T/bare"
			} >"$T/marked"
			gzip -c "$T/marked" >"$T/marked.gz"
			for text in bare marked marked.gz; do
				run "$name in UTF-16$order, $text" 0 "$@" "$T/$text" -o "$T/wide.tsv"
				same "the same table" "$T/narrow.tsv" "$T/wide.tsv"
			done
		done
	}
	wide helios "$H" gf-trace --from auto
	wide philly $D/trace-philly-sample.json gf-trace --from philly
	wide swf $D/trace-swf-small.swf gf-trace --from auto --gpus-from processors
	sed "s/Invented/$(printf '\303\251\360\235\204\236\344\270\255')/" $D/prof-nvidia-smi.csv >"$T/smi.csv"
	wide nvidia-smi "$T/smi.csv" gf-prof --from auto
else
	skip "no iconv" 48
fi
printf 'j\0o\0b\0\n\0a\0\0\330b\0' >"$T/half"
run "half of a pair" 1 gf-trace --from helios "$T/half"
is "is an error on its line" "$T/err" "gf-trace: $T/half:2: invalid UTF-16 (half of a surrogate pair)"
is "and nothing is written" "$T/out" ""
run "a store" 1 gf-trace --from auto $D/table-several.h5
is "is no trace" "$T/err" "gf-trace: $D/table-several.h5: no known format, and no text (expected a trace)"
printf 'job\033[2J,x\n' >"$T/esc"
run "escape sequences" 1 gf-trace --from auto "$T/esc"
hasnt "are not sent to the terminal" "$T/err" "$(printf '\033')"

# ---- logs of another program ----

printf 'timestamp;index;utilization.gpu [%%]\n2024/03/05 10:00:00.123;0;35 %%\n' >"$T/log"
run "nvidia-smi: semicolons" 1 gf-prof --from nvidia-smi "$T/log"
has "nvidia-smi: semicolons: the line" "$T/err" "^gf-prof: $T/log:1: no header row \(expected 'timestamp, "
printf '"timestamp","index","utilization.gpu [%%]"\n"2024/03/05 10:00:00.123","0","35 %%"\n' >"$T/log"
run "nvidia-smi: quotes" 0 gf-prof -q --no-meta --from nvidia-smi "$T/log"
cut -f 1,3,4 "$T/out" | sed 1d | tr '\t' ' ' >"$T/found"
is "nvidia-smi: quotes: the sample" "$T/found" "36000.123 0 35"
printf 'hello world\n' >"$T/log"
run "dmon: words" 1 gf-prof --from dmon "$T/log"
is "dmon: words: the message" "$T/err" "gf-prof: $T/log:1: no header row (expected '# gpu  pwr  gtemp …')"
run "dcgmi: words" 1 gf-prof --from dcgmi "$T/log"
printf 'Processing [run.sqlite] with [x.py]...\nSKIPPED: run.sqlite does not contain CUDA kernel data.\n' >"$T/log"
for format in nsight-kernels nsight-trace; do
	run "$format: nothing was recorded" 0 gf-prof --from $format "$T/log"
	has "$format: nothing was recorded: said" "$T/err" ": no kernels were recorded$"
	has "$format: nothing was recorded: no rows" "$T/out" '^#end rows=0$'
done
tr 'A-Z' 'a-z' <$D/trace-sacct-d.txt | head -n 1 >"$T/log"
run "sacct: a heading in lower case" 0 gf-trace --from auto "$T/log"
has "sacct: a heading in lower case: recognised" "$T/err" ': recognised sacct '
printf 'DCGM_FI_DEV_GPU_UTIL 5\n' >"$T/log"
run "dcgm-exporter: a metric without labels" 0 gf-prof --time 0 --from dcgm-exporter "$T/log"
has "is counted" "$T/err" '1 line passed over \(1 metric without a GPU\)$'
