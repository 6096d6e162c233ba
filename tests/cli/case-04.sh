# SPDX-License-Identifier: MIT
# Case 04, line by line: every way nvidia-smi says "no value", units, and ", " between fields.
. tests/cli/lib.sh
need_shared cases/04-nvidia-smi-na-and-units 25
C=$GOODFIT_SHARED/cases/04-nvidia-smi-na-and-units

run "smi-units.csv" 0 gf-prof --from nvidia-smi "$C/smi-units.csv"
cp "$T/out" "$T/units.tsv"
cp "$T/err" "$T/units.err"
run "smi-nounits.csv" 0 gf-prof --from nvidia-smi "$C/smi-nounits.csv"
same "the same table from both, byte for byte" "$T/units.tsv" "$T/out"
has "the missing samples are counted in the report" "$T/units.err" \
	': 6 of 8 samples without gpu_util_pct \(4 \[N/A\], 1 \[Not Supported\], 1 N/A\)$'
has "those of the memory controller, too" "$T/units.err" \
	': 6 of 8 samples without mem_util_pct \(4 \[N/A\], 1 \[Not Supported\], 1 ERR!\)$'
has "and those of memory" "$T/units.err" \
	': 2 of 8 samples without fb_used_mib \(2 \[Insufficient Permissions\]\)$'

# columns NAME…: those of a table without metadata, blanks between
columns() {
	awk -F '\t' -v list="$*" '
	/^#/ { next }
	!n { n = split(list, want, " "); for (i = 1; i <= NF; i++) at[$i] = i }
	{ s = ""; for (k = 1; k <= n; k++) s = s (k > 1 ? " " : "") $at[want[k]]; print s }'
}

run "sum up by GPU" 0 gf-prof summarize "$T/units.tsv"
columns gpu gpu_util_n gpu_util_mean_pct mem_util_n mem_util_mean_pct fb_used_max_mib power_n power_mean_w \
	<"$T/out" | sed 's/98\.20000000000000[0-9]*/98.2/' >"$T/table"
is "the table of the case" "$T/table" \
"gpu gpu_util_n gpu_util_mean_pct mem_util_n mem_util_mean_pct fb_used_max_mib power_n power_mean_w
0 2 50 2 16 10240 2 226
1 0 NA 0 NA 2048 2 98.2
2 0 NA 0 NA 512 0 NA
3 0 NA 0 NA NA 0 NA"
columns gpu state <"$T/out" >"$T/states"
is "no valid sample is no data, not idle" "$T/states" "gpu state
0 active
1 no_data
2 no_data
3 no_data"
run "sum up over all" 0 gf-prof summarize --by all "$T/units.tsv"
columns samples gpu_util_n gpu_util_mean_pct gpus gpus_active gpus_idle gpus_no_data <"$T/out" >"$T/fleet"
is "the fleet: 50.0 over two valid samples of eight, and no GPU is idle" "$T/fleet" \
"samples gpu_util_n gpu_util_mean_pct gpus gpus_active gpus_idle gpus_no_data
8 2 50 4 1 0 3"
hasnt "nothing is NaN" "$T/out" '[Nn]a[Nn]'

# words NAME WORD: such a cell is missing
words() {
	{
		echo "timestamp, index, utilization.gpu [%], memory.used [MiB]"
		echo "2024/03/01 12:00:00.000, 0, $2, 5 MiB"
		echo "2024/03/01 12:00:01.000, 0, 30 %, 5 MiB"
	} >"$T/w.csv"
	run "$1" 0 gf-prof -q --no-meta --from nvidia-smi "$T/w.csv"
	cut -f 1,4 "$T/out" >"$T/found"
	is "$1 is missing" "$T/found" "$(printf 'time_s\tgpu_util_pct\n43200\tNA\n43201\t30')"
}
words "[GPU requires reset]" "[GPU requires reset]"
words "any bracketed word" "[what a later driver says]"
words "N/A" "N/A"
words "ERR!" "ERR!"
words "an empty cell" ""

# refused NAME CELL: such a cell is an error
refused() {
	sed "s/63 %/$2/" "$C/smi-units.csv" >"$T/bad.csv"
	run "$1" 1 gf-prof --from nvidia-smi "$T/bad.csv"
	has "$1: file, line and column" "$T/err" "^gf-prof: $T/bad\.csv:6:utilization\.gpu: bad value '"
}
refused "a word" "thirty"
refused "a number with the unit of another column" "63 MiB"
refused "two numbers" "63 64"
refused "a number and a word" "63x"
refused "a decimal comma in disguise" "63;5"
refused "a hexadecimal number" "0x3f"
refused "an opening bracket" "[N\/A"
refused "nan" "nan"
