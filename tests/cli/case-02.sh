# SPDX-License-Identifier: MIT
# Case 02, line by line: GPU counts out of TRES lists.
. tests/cli/lib.sh
need_shared cases/02-sacct-tres-gpu-count 9
C=$GOODFIT_SHARED/cases/02-sacct-tres-gpu-count

run "sacct.txt" 0 gf-trace --from sacct "$C/sacct.txt"
is "one job never started; nothing else to say" "$T/err" \
	"gf-trace: warning: $C/sacct.txt: 1 never started"
cols "job_id gpus_alloc gpu_types gpus_req" , >"$T/rows"
is "GPUs given, their types, GPUs asked for" "$T/rows" \
"7101,2,NA,2
7102,4,a100:4,4
7103,1,nvidia_geforce_rtx_2080_ti:1,1
7104,3,a100:2 v100:1,3
7105,3,a100:2 v100:1,3
7106,0,NA,0
7107,1,NA,1
7108,2,1g.10gb:2,2
7109,0,NA,8"
cols "gpus_alloc gpus duration_s" , | awk -F , '{ n += $1; if ($3 != "NA") h += $2 * $3 / 3600 }
	END { printf "%d %.3f\n", n, h }' >"$T/rows"
is "sixteen GPUs, sixteen GPU-hours" "$T/rows" "16 16.000"
run "-v" 0 gf-trace -v --from sacct "$C/sacct.txt"
has "the CPU job is kept and counted" "$T/err" ': 9 rows, 9 jobs, 0 left out, 1 without GPUs$'

# the rule for what is not in the file: total and types disagree
sed 's|gres/gpu:a100=4,gres/gpu=4,mem=64G,node=2|gres/gpu:a100=3,gres/gpu=4,mem=64G,node=2|' \
	"$C/sacct.txt" >"$T/sacct.txt"
run "types that do not add up" 0 gf-trace --from sacct "$T/sacct.txt"
has "a warning with the job id" "$T/err" \
	': 1 job with GPU types that do not add up to gres/gpu \(the total is taken\), such as job 7102$'
cols "job_id gpus" , | sed -n 2p >"$T/rows"
is "the total counts" "$T/rows" "7102,4"
