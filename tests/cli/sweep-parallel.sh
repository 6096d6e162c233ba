# SPDX-License-Identifier: MIT
# scripts/sweep-parallel: GNU parallel on two hosts, which are this one under two names (by a program in place of
# ssh), and here.
. tests/cli/lib.sh

need_tool parallel 20
mkdir "$T/w" "$T/here" "$T/bin" && cd "$T/w" || exit 1
HOME=$T
export HOME
script=$TOP/scripts/sweep-parallel
unset SHELL	# as in a job of cron, or of continuous integration

# ssh [OPTION…] HOST COMMAND…
cat >"$T/bin/ssh" <<END
#!/bin/sh
while :; do
	case \$1 in
	-[bcDEeFIiJLlmOopQRSWw]) shift 2 ;;
	-*) shift ;;
	*) break ;;
	esac
done
echo "\$1" >>"$T/hosts"
shift
[ "\$1" != -- ] || shift
exec sh -c "\$*"
END
cat >"$T/bin/gf-replay" <<END
#!/bin/sh
echo "\$*" >>"$T/runs"
[ ! -f "$T/mischief" ] || . "$T/mischief"
exec "$B/gf-replay" "\$@"
END
chmod +x "$T/bin/ssh" "$T/bin/gf-replay"
PATH=$T/bin:$PATH
gf-sweep plan -a seed=1:9 -p 'jobs=gf-synth jobs --jobs 50 --seed {seed}' -o plan.tsv -- \
	--cluster 2x4 --policy srtf '{jobs}'
cp plan.tsv "$T/here/"
(cd "$T/here" && gf-sweep run -q -j 2 plan.tsv && gf-sweep reduce -o table.tsv plan.tsv)
ok "the sweep by itself" $?

rm "$T/runs"
printf '1/alpha\n1/beta\n' >logins
run "on two hosts" 0 "$script" -F logins -n 2 -o table.tsv plan.tsv
is "silent" "$T/err" ""
sort -u "$T/hosts" | tr '\n' ' ' >"$T/found"
echo >>"$T/found"
is "both were used" "$T/found" "alpha beta "
same "the same table" "$T/here/table.tsv" table.tsv
diff -r -x '*.log' sweep "$T/here/sweep" >"$T/diff" 2>&1
is "and the same results" "$T/diff" ""
lines "each row was run once" "$T/runs" 9
rm table.tsv
run "again" 0 "$script" -S alpha,beta -o table.tsv plan.tsv
lines "no row was" "$T/runs" 9
same "but the table is written" "$T/here/table.tsv" table.tsv

# a host on which programs are killed: the task goes to the other
rm -r sweep "$T/runs" "$T/hosts"
cat >"$T/mischief" <<END
[ "\${PARALLEL_SSHLOGIN#*/}" != beta ] || kill -9 \$\$
END
run "a host that fails" 0 "$script" -F logins -n 1 -o table.tsv plan.tsv
sort -u "$T/hosts" | tr '\n' ' ' >"$T/found"
echo >>"$T/found"
is "was tried" "$T/found" "alpha beta "
same "the same table" "$T/here/table.tsv" table.tsv

# a row that fails everywhere: the others are done, and the status says so
rm -r sweep table.tsv
echo "case \"\$*\" in */\$(cat $T/bad)) echo gf-replay: no >&2; exit 1 ;; esac" >"$T/mischief"
awk -F '\t' '$1 == 5 { print $4 }' plan.tsv | sed 1q | sed 's/$/.tsv*/' >"$T/bad"
run "a row that fails" 1 "$script" -j 2 -n 1 -r 1 -o table.tsv plan.tsv
gf-sweep status --no-meta plan.tsv | head -n 3 >"$T/found"
is "leaves the others" "$T/found" "state	rows
finished	8
failed	1"
[ ! -e table.tsv ]
ok "and no table" $?
# a host that takes every task, says that it is done, and does nothing
rm -r sweep
cat >"$T/bin/ssh" <<END
#!/bin/sh
exit 0
END
run "a host that does nothing" 1 "$script" -F logins -n 1 -o table.tsv plan.tsv
has "is not believed" "$T/err" "not all rows are finished"
[ ! -e table.tsv ]
ok "and no table" $?
run "a number that is none" 2 "$script" -n x plan.tsv
cd "$TOP" || exit 1
