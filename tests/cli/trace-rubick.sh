# SPDX-License-Identifier: MIT
# gf-trace --from rubick: workloads of the Rubick simulator.
. tests/cli/lib.sh
D=tests/data

fault() {
	refuses "$1" 1 "gf-trace: $T/bad.csv$2" gf-trace -q --from rubick "$T/bad.csv"
}

run "jobs" 0 gf-trace --no-meta --from rubick $D/trace-rubick.csv
is "plans of digits are text, no steps are missing, the last line counts" "$T/out" \
"job_id	app	submit_s	duration_s	gpus	work	cpus	bandwidth_gb_per_s	exec_plan	is_sla
vit-0	vit	0	210.12345679	2	1500	16	0	zero-dp	0
llama7-1	llama7	75	90.5	16	64	128	1.25	244	1
llama7-2	llama7	80	45	32	NA	256	1.25	244	0
bert-3	bert	90	30	4	12	32	0	ga	0"
is "a plan for other GPUs than those asked for is counted" "$T/err" "gf-trace: warning: \
$D/trace-rubick.csv: 1 with an exec_plan for another number of GPUs than num_gpus"
cp "$T/out" "$T/want"
{ printf '\357\273\277'; sed 's/$/\r/' $D/trace-rubick.csv; } >"$T/b.csv"
run "byte order mark and CRLF" 0 gf-trace -q --no-meta --from rubick "$T/b.csv"
same "the same rows" "$T/want" "$T/out"
gzip -c "$T/b.csv" >"$T/b.gz"
run "gzip from standard input" 0 gf-trace -q --no-meta --from rubick - <"$T/b.gz"
same "the same rows again" "$T/want" "$T/out"

sed 's/,1500,0$/,-1500,0/' $D/trace-rubick.csv >"$T/bad.csv"
fault "negative steps" ":2:steps: out of range '-1500' (expected at least 0)"
sed 's/,64,1$/,64,2/' $D/trace-rubick.csv >"$T/bad.csv"
fault "a guarantee of 2" ":3:is_sla: bad value '2' (expected 0 or 1)"
sed 's/,45,llama7,\(.*\),0,0$/,,llama7,\1,0,0/' $D/trace-rubick.csv >"$T/bad.csv"
fault "neither steps nor duration" ":4:steps: missing value (expected steps or a duration)"
sed 's/,16,128,/,-1,128,/' $D/trace-rubick.csv >"$T/bad.csv"
fault "-1 GPUs" ":3:num_gpus: out of range '-1' (expected at least 0)"
sed 's/^llama7-2/vit-0/' $D/trace-rubick.csv >"$T/bad.csv"
fault "a job twice" ":4:name: duplicate id 'vit-0' (first on line 2)"
sed 's/,zero-dp,/,,/' $D/trace-rubick.csv >"$T/bad.csv"
fault "no plan" ":2:exec_plan: missing value (expected text in UTF-8)"
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n' >"$T/bad.csv"
fault "a Git LFS pointer" \
	":1: Git LFS pointer, not the data (expected the file that 'git lfs pull' fetches)"
sed 's/,exec_plan,/,plan,/' $D/trace-rubick.csv >"$T/bad.csv"
fault "a column of another name" ":1: no column 'exec_plan' (found name, submission_time, duration, \
application, num_gpus, num_cpus, bandwidth, plan, steps, is_sla)"
run "recognised" 0 gf-trace -v --from auto $D/trace-rubick.csv
has "by its header" "$T/err" 'recognised rubick \(header has name,submission_time,'
