# SPDX-License-Identifier: MIT
# gf-trace --from alibaba2025, alibaba2026-lora, -spot and -nodes.
. tests/cli/lib.sh
D=tests/data

fault() {
	refuses "$1" 1 "gf-trace: $T/bad.csv$3" gf-trace -q --from "$2" "$T/bad.csv"
}

# ---- v2025 ----
run "instances of services" 0 gf-trace --no-meta --from alibaba2025 $D/trace-alibaba2025.csv
is "censored on the left, on the right and on both sides; no limit is missing" "$T/out" \
"job_id	group	app	submit_s	start_s	end_s	duration_s	gpus	status	censored	cpus	mem_mib	max_per_node
inst-1	HN	app-a	NA	NA	NA	NA	1	RUNNING	both	10	98304	4
inst-2	CN	app-b	5000	5004	9000	3996	0	UNKNOWN	NA	48	262656	NA
inst-3	HN	app-a	7000	7001.5	NA	NA	1	RUNNING	right	10	98304	4
inst-4	CN	app-b	NA	NA	8000	NA	0	UNKNOWN	left	48	262656	NA"
is "is counted" "$T/err" "gf-trace: warning: $D/trace-alibaba2025.csv: 2 there before the trace begins \
(left-censored), 2 running at its end (right-censored)"
cp "$T/out" "$T/want"
{ printf '\357\273\277'; sed 's/$/\r/' $D/trace-alibaba2025.csv; } >"$T/b.csv"
run "byte order mark and CRLF" 0 gf-trace -q --no-meta --from alibaba2025 "$T/b.csv"
same "the same rows" "$T/want" "$T/out"
sed 's/,CN,/,XN,/' $D/trace-alibaba2025.csv >"$T/bad.csv"
fault "a role of no list" alibaba2025 ":3:role: bad value 'XN' (expected CN, HN)"
sed 's/,-1,/,-2,/' $D/trace-alibaba2025.csv >"$T/bad.csv"
fault "a limit of -2" alibaba2025 \
	":3:max_instance_per_node: out of range '-2' (expected at least 1, or -1)"
sed 's/,7000.0,/,-7000.0,/' $D/trace-alibaba2025.csv >"$T/bad.csv"
fault "a negative time" alibaba2025 ":4:creation_time: out of range '-7000' (expected at least 0)"
sed 's/^inst-4/inst-1/' $D/trace-alibaba2025.csv >"$T/bad.csv"
fault "an instance twice" alibaba2025 ":5:instance_sn: duplicate id 'inst-1' (first on line 2)"
sed 's/,9000.0/,4000.0/' $D/trace-alibaba2025.csv >"$T/odd.csv"
run "an end before the start" 0 gf-trace --no-meta --from alibaba2025 "$T/odd.csv"
has "is missing, and so is the duration" "$T/out" '^inst-2	CN	app-b	5000	5004	NA	NA	0'
has "and counted" "$T/err" '1 value put right \(1 end before start\)$'

# ---- v2026 GenAI ----
run "requests" 0 gf-trace --from alibaba2026-lora $D/trace-alibaba2026-lora.csv
is "what is under way or waits is counted" "$T/err" \
	"gf-trace: warning: $D/trace-alibaba2026-lora.csv: 1 running (censored), 1 waiting (never started)"
has "their clock" "$T/out" '^#origin=2024-01-08T00:00:00$'
grep -v '^#' "$T/out" >"$T/rows"
is "sorted, named by rank; model numbers beyond 2^53 stay what they are" "$T/rows" \
"job_id	group	name	app	submit_s	duration_s	gpus	batch_size	status	work
lora-0	g-2	TXT_2_IMG	9007199254740992	32399	3	1	1	FAILED	20
lora-1	g-1	TXT_2_IMG	9007199254740993	32407	12.5	1	4	OK	25
lora-2	g-1	IMG_2_IMG	9007199254740993	32407	NA	1	1	RUNNING	30
lora-3	g-3	TXT_2_IMG	NA	87000	NA	1	2	PENDING	20"
sed 's/2024-01-09 00:10:00/2024-02-30 00:10:00/' $D/trace-alibaba2026-lora.csv >"$T/bad.csv"
fault "no such day" alibaba2026-lora \
	":5:gmt_create: no such time '2024-02-30 00:10:00' (expected YYYY-MM-DD HH:MM:SS)"
sed 's/,12.5,/,-12.5,/' $D/trace-alibaba2026-lora.csv >"$T/bad.csv"
fault "a negative duration" alibaba2026-lora \
	":2:exec_time_seconds: out of range '-12.5' (expected at least 0)"
sed 's/^2024-01-08 08:59:59//' $D/trace-alibaba2026-lora.csv >"$T/bad.csv"
fault "no time" alibaba2026-lora ":3:gmt_create: missing value (expected text in UTF-8)"
run "a zone" 0 gf-trace -q --tz +08:00 --from alibaba2026-lora $D/trace-alibaba2026-lora.csv
has "is that of the origin" "$T/out" '^#origin=2024-01-08T00:00:00[+]08:00$'

# ---- v2026 spot ----
run "jobs" 0 gf-trace --no-meta --from alibaba2026-spot $D/trace-alibaba2026-spot.csv
is "GPUs and CPUs are those of all workers" "$T/out" \
"job_id	group	submit_s	duration_s	gpus	gpu_type	cpus	job_class
800001	7	0	86400	1	A10	8	HP
800002	7	3600	41060	128	A100-SXM4-80GB	240	Spot
800003	9	3605	120	1	H800	40	Spot
800004	9	3610	60	0	NA	4	HP"
is "silently" "$T/err" ""
cp "$T/out" "$T/want"
sed -n 1p $D/trace-alibaba2026-spot.csv >"$T/again"
{ cat $D/trace-alibaba2026-spot.csv "$T/again"; sed -n '2,$s/^8/9/p' $D/trace-alibaba2026-spot.csv; } >"$T/two.csv"
run "two files one behind the other" 0 gf-trace -q --no-meta --from alibaba2026-spot "$T/two.csv"
lines "the header between them is not a job" "$T/out" 9
sed 's/,Spot$/,spot/' $D/trace-alibaba2026-spot.csv >"$T/bad.csv"
fault "a type of no list" alibaba2026-spot ":3:job_type: bad value 'spot' (expected HP, Spot)"
sed 's/,8,16,/,8,0,/' $D/trace-alibaba2026-spot.csv >"$T/bad.csv"
fault "no workers" alibaba2026-spot ":3:worker_num: out of range '0' (expected at least 1)"
sed 's/,8,16,/,inf,16,/' $D/trace-alibaba2026-spot.csv >"$T/bad.csv"
fault "endless GPUs" alibaba2026-spot ":3:gpu_request: out of range 'inf' (expected at least 0)"
sed 's/^800003/800001/' $D/trace-alibaba2026-spot.csv >"$T/bad.csv"
fault "a job twice" alibaba2026-spot ":4:job_name: duplicate id '800001' (first on line 2)"
run "nodes" 0 gf-trace -q --no-meta --from alibaba2026-nodes $D/trace-alibaba2026-nodes.csv
is "alike ones are one row" "$T/out" \
"node_type	nodes	gpus_per_node	cpus_per_node	mem_gib_per_node
A10	2	1	128	NA
H800	1	8	192	NA"
cp "$T/out" "$T/want"
awk -F , -v OFS=, '{ print $4, $1, $2, $3 }' $D/trace-alibaba2026-nodes.csv >"$T/o.csv"
run "in the order of its description" 0 gf-trace -q --no-meta --from alibaba2026-nodes "$T/o.csv"
same "the same rows" "$T/want" "$T/out"

# ---- recognising ----
for f in alibaba2025 alibaba2026-lora alibaba2026-spot alibaba2026-nodes; do
	run "trace-$f.csv is recognised" 0 gf-trace -v --from auto $D/trace-$f.csv
	has "as $f" "$T/err" "recognised $f \\(header has "
done

# ---- numbers that cannot be held ----
sed 's/,8,16,/,1e300,9000000000000000000,/' $D/trace-alibaba2026-spot.csv >"$T/bad.csv"
fault "more GPUs than a number holds" alibaba2026-spot ":3:gpu_request: out of range \
'1.0000000000000001e+300' (times 9e+18 is no number)"
