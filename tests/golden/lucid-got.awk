# SPDX-License-Identifier: MIT
# An event log of lucid in the terms of its simulator: a line a job, with id, start, end, queueing, whether it was
# profiled, was done there, how long it waited for that, shares nothing, speed, when it joined another one, when it
# was alone again. Lines `apart<tab>NODE` before the log name the nodes of the profiler; nodes that are lent to it
# (event `lend`) count from then on, until they take jobs again.
#
# The simulator marks who joins another job. When one of two ends, it clears the mark of the one of them that was
# placed first, be it the one that ends; and so of a marked job that ends alone.
BEGIN { FS = "\t"; OFS = "," }
function clear(j) { flag[j] = 1; speed[j] = 1; alone[j] = t }
/^#/ { next }
$1 == "apart" { apart[$2]; next }
!head { for (i = 1; i <= NF; i++) c[$i] = i; head = 1; next }
{ t = $c["time_s"]; e = $c["event"]; j = $c["job_id"]; with = "shared_with" in c ? $c["shared_with"] : "NA" }
e == "lend" { split($c["nodes"], part, ":"); apart[part[1]] }
e == "regain" { split($c["nodes"], part, ":"); delete apart[part[1]] }
e == "submit" { submit[j] = t; flag[j] = 1; speed[j] = 1; wait[j] = profiled[j] = joined[j] = alone[j] = 0 }
e == "profile" { profiled[j] = 1; wait[j] = t - submit[j] }
e == "start" {
	start[j] = t
	placed[j] = ++n
	split($c["nodes"], part, ":")
	there[j] = (part[1] in apart)
	if (with != "NA") {
		flag[j] = 0; speed[j] = $c["speed"]; joined[j] = t; partner[j] = with; partner[with] = j
	}
}
e == "share" && with != "NA" { flag[j] = 0; speed[j] = $c["speed"] }
e == "finish" {
	end[j] = t
	p = partner[j]
	if (p != "") {
		clear(placed[j] < placed[p] ? j : p)
		delete partner[p]
	} else if (!flag[j]) {
		clear(j)
	}
	if (there[j]) { profiled[j] = 1; wait[j] = start[j] - submit[j] }
}
END {
	for (j in end)
		print j, start[j], end[j], start[j] - submit[j] + (there[j] ? 0 : wait[j]), profiled[j], there[j] + 0,
			wait[j], flag[j], sprintf("%.3f", speed[j]), joined[j], alone[j]
}
