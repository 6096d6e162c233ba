# SPDX-License-Identifier: MIT
# gf-trace --from openb and openb-nodes: Alibaba's cluster-trace-gpu-v2023.
. tests/cli/lib.sh
D=tests/data

fault() {
	refuses "$1" 1 "gf-trace: $T/bad.csv$3" gf-trace -q --from "$2" "$T/bad.csv"
}
H=name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time

run "pods" 0 gf-trace --no-meta --from openb $D/trace-openb.csv
is "shares of a GPU, sets of types, censored and waiting pods" "$T/out" \
"job_id	group	submit_s	start_s	end_s	duration_s	gpus	gpu_type	status	cpus	mem_mib	seen_s
pod-a	BE	100	160	4100	3940	0.25	T4|P100	OK	4	8192	NA
pod-b	LS	200	205	NA	NA	8	NA	RUNNING	96	262144	9000
pod-c	LS	300	NA	NA	NA	1	NA	PENDING	2.5	4096	900
pod-d	Burstable	310	310	410	100	0	NA	FAILED	2	4096	NA
pod-e	Guaranteed	380	390	NA	NA	2	V100M16	OK	8	16384	NA
pod-f	LS	400	NA	500	105	1	G2	OK	8	16384	NA"
is "what was censored and what could not be is counted" "$T/err" \
"gf-trace: warning: $D/trace-openb.csv: 1 running (censored), 1 waiting (never started)
gf-trace: warning: $D/trace-openb.csv: 2 values put right (1 end before start, 1 start before submission)"
cp "$T/out" "$T/pods"
run "a list for packing" 0 gf-trace --no-meta --from openb $D/trace-openb-packing.csv
is "has no times" "$T/out" \
"job_id	group	submit_s	start_s	end_s	duration_s	gpus	gpu_type	status	cpus	mem_mib	seen_s
pod-a	NA	NA	NA	NA	NA	0.25	NA	UNKNOWN	4	8192	NA
pod-b	NA	NA	NA	NA	NA	8	NA	UNKNOWN	96	262144	NA"
is "and says so" "$T/err" "gf-trace: warning: $D/trace-openb-packing.csv: 2 without a time of creation \
(for packing, not for a replay)"
cp "$T/out" "$T/packing"
run "a replay of it is refused" 1 gf-replay --policy fifo --cluster 4x8 "$T/packing"
has "with line and field" "$T/err" 'packing:2:submit_s: missing '

{ printf '\357\273\277'; sed 's/$/\r/' $D/trace-openb.csv; printf '\r\n'; sed -n 1p $D/trace-openb.csv; } >"$T/b.csv"
run "byte order mark, CRLF, a blank line, the header again" 0 gf-trace -q --no-meta --from openb \
	"$T/b.csv"
same "the same rows" "$T/pods" "$T/out"
awk -F , -v OFS=, '{ print $11, $9, $10, $8, $1, $5, $4, $2, $3, $6, $7 }' $D/trace-openb.csv >"$T/o.csv"
run "columns in another order" 0 gf-trace -q --no-meta --from openb "$T/o.csv"
same "the same rows again" "$T/pods" "$T/out"
sed 's/,,/,nan,/g;s/,$/,nan/' $D/trace-openb.csv >"$T/nan.csv"
run "nan for an empty cell" 0 gf-trace -q --no-meta --from openb "$T/nan.csv"
same "is missing, too" "$T/pods" "$T/out"

pod() {
	printf '%s\n%s\n' $H "$1" >"$T/bad.csv"
}
pod p,1,1,1,1500,,BE,Failed,1,2,1
fault "more than a GPU" openb ":2:gpu_milli: out of range '1500' (expected at most 1000)"
pod p,1,1,2,500,,BE,Failed,1,2,1
fault "shares of two GPUs" openb ":2:gpu_milli: contradiction '500' (expected 1000 with num_gpu 2)"
pod p,1,1,0,500,,BE,Failed,1,2,1
fault "a share of no GPU" openb ":2:gpu_milli: contradiction '500' (expected 0 with num_gpu 0)"
pod p,1,1,1,0,,BE,Failed,1,2,1
fault "nothing of a GPU" openb ":2:gpu_milli: contradiction '0' (expected more than 0 with num_gpu 1)"
pod p,1,1,-1,1000,,BE,Failed,1,2,1
fault "-1 GPUs" openb ":2:num_gpu: out of range '-1' (expected at least 0)"
pod p,1,1,1,1000,,BE,Failed,-1,2,1
fault "a time of -1" openb ":2:creation_time: out of range '-1' (expected at least 0)"
pod p,1,1,1,1000,,BE,Failed,1,2
fault "a row cut short" openb ":2: 10 fields, 11 expected"
printf '%s\n' 'name,cpu_milli,memory_mib,num_gpu' 'p,1,1,1' >"$T/bad.csv"
fault "no gpu_milli" openb \
	":1: no column 'gpu_milli' (found name, cpu_milli, memory_mib, num_gpu)"
pod p,1,1,1,1000,,BE,Evicted,1,2,1
run "a phase of no list" 0 gf-trace --no-meta --from openb "$T/bad.csv"
has "is UNKNOWN" "$T/out" '	UNKNOWN	'
has "and counted" "$T/err" ': 1 of a status that is not known$'

run "nodes" 0 gf-trace -q --no-meta --from openb-nodes $D/trace-openb-nodes.csv
is "alike ones are one row" "$T/out" \
"node_type	nodes	gpus_per_node	cpus_per_node	mem_gib_per_node
P100	2	2	64	256
CPU	1	0	32	128
G2	1	8	96.5	384
P100	1	2	64	128"
sed 's/^n-5/n-1/' $D/trace-openb-nodes.csv >"$T/bad.csv"
fault "a node twice" openb-nodes ":6:sn: duplicate node 'n-1' (first on line 2)"
sed 's/,8,G2/,-8,G2/' $D/trace-openb-nodes.csv >"$T/bad.csv"
fault "-8 GPUs" openb-nodes ":5:gpu: out of range '-8' (expected at least 0)"
for f in openb openb-nodes; do
	run "$f is recognised" 0 gf-trace -v --from auto $D/trace-$f.csv
	has "by its header" "$T/err" "recognised $f \\(header has "
done
