# SPDX-License-Identifier: MIT
# Case 03, line by line: delimiters and line breaks in free text, and sacct -p.
. tests/cli/lib.sh
need_shared cases/03-sacct-jobname-with-pipe 19
C=$GOODFIT_SHARED/cases/03-sacct-jobname-with-pipe

run "name-last.txt" 0 gf-trace --from sacct "$C/name-last.txt"
is "nothing to say" "$T/err" ""
cols "job_id gpus duration_s status name" , >"$T/rows"
is "further delimiters belong to the last column" "$T/rows" \
"8101,1,600,OK,train
8102,2,1200,OK,cat log.txt | grep loss
8103,1,30,FAILED,sweep||lr=0.1"
grep '^8101' "$T/out" >"$T/8101"

run "name-middle.txt, strict" 1 gf-trace --from sacct "$C/name-middle.txt"
is "the line, and what to do" "$T/err" \
	"gf-trace: $C/name-middle.txt:3: 9 fields, 8 expected; put JobName last"
is "no output" "$T/out" ""
run "name-middle.txt, with one bad record" 0 gf-trace --skip-bad=1 --from sacct "$C/name-middle.txt"
is "the reject is counted" "$T/err" \
	"gf-trace: warning: $C/name-middle.txt: 1 bad record left out (1 ragged row)"
cols "job_id status submit_s duration_s name" , >"$T/rows"
is "no column is shifted" "$T/rows" \
"8101,OK,0,600,train
8103,FAILED,120,30,ok-again"
run "-v names the line" 0 gf-trace -v --skip-bad=1 --from sacct "$C/name-middle.txt"
has "that was left out" "$T/err" 'name-middle.txt:3: 9 fields, 8 expected; put JobName last, left out$'

run "newline.txt" 0 gf-trace --from sacct "$C/newline.txt"
cols "job_id status gpus duration_s" , >"$T/rows"
is "two jobs; the third line belongs to the first of them" "$T/rows" \
"8201,OK,1,600
8202,OK,2,1200"
is "which is said" "$T/err" "gf-trace: warning: $C/newline.txt: 1 value put right \
(1 line break inside a record)"
sed 's/SubmitLine/JobName/' "$C/newline.txt" >"$T/newline.txt"
run "the same in a job name" 0 gf-trace -q --from sacct "$T/newline.txt"
cols name , | head -n 1 >"$T/rows"
is "keeps both lines" "$T/rows" 'srun bash -c echo one &&\necho two'

run "trailing-pipe.txt" 0 gf-trace --from sacct "$C/trailing-pipe.txt"
grep '^8' "$T/out" >"$T/rows"
same "the same job as in name-last.txt" "$T/8101" "$T/rows"
is "and nothing to say" "$T/err" ""
