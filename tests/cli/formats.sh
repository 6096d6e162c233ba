# SPDX-License-Identifier: MIT
# Every format that gf-trace and gf-prof read has an invented sample, the table that comes of it, a page
# that names it, and is recognised. A format that is not in these lists fails the test.
. tests/cli/lib.sh
D=tests/data

# tool | format | page | table | operands and options ('_' in a date: a blank) | is it recognised? (what has no
# header row, or shares its files with another format, is told by name)
cat >"$T/list" <<'END'
gf-trace | pollux | pollux | trace-pollux | trace-pollux.csv | yes
gf-trace | pollux-philly | philly-list | trace-philly-list | trace-philly-list.csv | yes
gf-trace | tiresias | tiresias | trace-tiresias | trace-tiresias.csv | yes
gf-trace | tiresias | tiresias | trace-tiresias-blanks | trace-tiresias.txt | yes
gf-trace | tiresias-cluster | tiresias | trace-tiresias-cluster | trace-tiresias-cluster.csv | yes
gf-trace | pai | pai | trace-pai | trace-pai-job.csv trace-pai-task.csv trace-pai-instance.csv trace-pai-tag.csv | yes
gf-trace | pai-machines | pai | trace-pai-machines | trace-pai-machines.csv | no
gf-trace | openb | openb | trace-openb | trace-openb.csv | yes
gf-trace | openb | openb | trace-openb-packing | trace-openb-packing.csv | yes
gf-trace | openb-nodes | openb | trace-openb-nodes | trace-openb-nodes.csv | yes
gf-trace | alibaba2025 | alibaba | trace-alibaba2025 | trace-alibaba2025.csv | yes
gf-trace | alibaba2026-lora | alibaba | trace-alibaba2026-lora | trace-alibaba2026-lora.csv | yes
gf-trace | alibaba2026-spot | alibaba | trace-alibaba2026-spot | trace-alibaba2026-spot.csv | yes
gf-trace | alibaba2026-nodes | alibaba | trace-alibaba2026-nodes | trace-alibaba2026-nodes.csv | yes
gf-trace | rubick | rubick | trace-rubick | trace-rubick.csv | yes
gf-trace | gavel | gavel | trace-gavel | trace-gavel.trace | yes
gf-trace | gavel | gavel | trace-gavel-old | trace-gavel-old.trace | yes
gf-trace | lucid | lucid | trace-lucid | trace-lucid.csv | yes
gf-trace | lucid-vc | lucid | trace-lucid-vc | trace-lucid-vc.csv | yes
gf-trace | philly | philly | trace-philly-sample | trace-philly-sample.json --machines trace-philly-machines.csv | yes
gf-trace | philly-cluster | philly | trace-philly-cluster | trace-philly-sample.json --machines trace-philly-machines.csv | no
gf-trace | helios | helios | trace-helios | trace-helios.csv | yes
gf-trace | acme | acme | trace-acme-seren | trace-acme-seren.csv | yes
gf-trace | acme | acme | trace-acme-kalos | trace-acme-kalos.csv | yes
gf-trace | sacct | sacct | trace-sacct-d | trace-sacct-d.txt | yes
gf-trace | swf | swf | trace-swf-small | trace-swf-small.swf --gpus-from processors | yes
gf-prof | nvidia-smi | nvidia-smi | prof-nvidia-smi | prof-nvidia-smi.csv | yes
gf-prof | dmon | dmon | prof-dmon | prof-dmon.txt | yes
gf-prof | dmon | dmon | prof-dmon-old | prof-dmon-old.txt --time 2023-06-10_23:59:59 --period 1 | yes
gf-prof | dcgmi | dcgmi | prof-dcgmi | prof-dcgmi.txt --time 500 --period 2 | yes
gf-prof | dcgm-exporter | dcgm-exporter | prof-dcgm-exporter | prof-dcgm-exporter.prom --time 2023-06-10_12:00:00 --period 15 | yes
gf-prof | nsight | nsight | prof-nsight | prof-nsight.sqlite | yes
gf-prof | nsight-metrics | nsight | prof-nsight-metrics | prof-nsight-metrics.sqlite | yes
gf-prof | nsight-trace | nsight | prof-nsight-trace | prof-nsight-trace.csv | yes
gf-prof | nsight-kernels | nsight | prof-nsight-kernels | prof-nsight-kernels.csv | yes
gf-prof | pytorch-trace | pytorch-trace | prof-pytorch-trace | prof-pytorch-trace.json | yes
gf-prof | philly-util | philly-util | prof-philly-util | prof-philly-util.csv | yes
gf-prof | lucid-colocate | lucid-profiles | prof-lucid-colocate | prof-lucid-colocate.csv | yes
gf-prof | lucid-single | lucid-profiles | prof-lucid-single | prof-lucid-single.csv | yes
gf-prof | rubick-placements | rubick-profiles | prof-rubick-placements | prof-rubick | yes
gf-prof | rubick-model | rubick-profiles | prof-rubick-model | prof-rubick | no
gf-prof | gavel | gavel | prof-gavel | prof-gavel.json | yes
gf-prof | gavel-pairs | gavel | prof-gavel-pairs | prof-gavel.json | no
gf-prof | gradient-stats | gradient-stats | prof-gradient-stats | prof-gradient-stats.csv | yes
END

while IFS='|' read -r tool format page table operands auto; do
	tool=${tool% } format=${format# } format=${format% } page=${page# } page=${page% }
	table=${table# } table=${table% } auto=${auto# }
	set --
	for word in $operands; do
		[ ! -e "$D/$word" ] || word=$D/$word
		case $word in ????-??-??_*) word="${word%_*} ${word#*_}" ;; esac
		set -- "$@" "$word"
	done
	run "$format ($table)" 0 "$tool" -q --from "$format" "$@"
	golden "$format: the table of its sample" "$T/out" "$D/$table.tsv"
	cp "$T/out" "$T/once"
	has "$format: its page names it" "docs/formats/$page.md" "(from |\[|^|[ \`])$format(\`|[] .,]|$)"
	run "$format: again" 0 "$tool" -q --from "$format" "$@"
	same "$format: the same bytes" "$T/once" "$T/out"
	[ "$auto" = yes ] || continue
	run "$format: auto" 0 "$tool" --from auto "$@"
	has "$format: is recognised, with the reason" "$T/err" "^$tool: $1: recognised $format \(.+\)$"
	same "$format: the same table" "$T/once" "$T/out"
done <"$T/list"

run "gf-trace --list" 0 gf-trace --no-meta --list
sed 1d "$T/out" | cut -f 1 | sort >"$T/known"
awk -F ' *[|] *' '$1 == "gf-trace" { print $2 }' "$T/list" | sort -u >"$T/covered"
same "every format of gf-trace is here" "$T/known" "$T/covered"
run "gf-prof, a format that is none" 2 gf-prof --from none
sed -n 's/.*(expected auto, pollux, \(.*\))$/\1/p' "$T/err" | tr -d ' ' | tr ',' '\n' | sort >"$T/known"
awk -F ' *[|] *' '$1 == "gf-prof" { print $2 }' "$T/list" | sort -u >"$T/covered"
same "every format of gf-prof is here" "$T/known" "$T/covered"
