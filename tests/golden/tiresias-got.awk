# SPDX-License-Identifier: MIT
# What an event log says of each job, in the order of completion and with commas: id, GPUs, submission, start, end,
# end - start, completion time, time waited, preemptions, starts. The columns of the Tiresias simulator's job.csv.
BEGIN { FS = "\t"; OFS = ","; CONVFMT = OFMT = "%.10g" }
/^#/ { next }
!head { for (i = 1; i <= NF; i++) c[$i] = i; head = 1; next }
{ t = $c["time_s"]; e = $c["event"]; j = $c["job_id"] }
e == "submit" { submit[j] = t; gpus[j] = $c["gpus"]; held[j] = preempt[j] = starts[j] = 0; since[j] = -1 }
e == "start" { start[j] = t }
e == "start" || e == "resume" { since[j] = t; starts[j]++ }
e == "preempt" || e == "finish" { if (since[j] >= 0) held[j] += t - since[j]; since[j] = -1 }
e == "preempt" { preempt[j]++ }
e == "finish" {
	print j, gpus[j], submit[j], start[j], t, t - start[j], t - submit[j], t - submit[j] - held[j], preempt[j], starts[j]
}
