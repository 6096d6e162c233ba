# SPDX-License-Identifier: MIT
# scripts/sweep-slurm under a real Slurm of one node, which this test starts (as root, in a folder and on ports of its
# own) and ends again: a task is killed in the middle and goes back to the queue, another is killed for good and
# submitted again; the results are those of gf-sweep run.
. tests/cli/lib.sh

[ "$(id -u)" -eq 0 ] || skip_all "not root: no Slurm can be started" 22
PATH=$PATH:/usr/sbin:/sbin
for daemon in munged slurmctld slurmd sbatch scontrol squeue scancel; do
	need_tool $daemon 22
done
host=$(hostname -s 2>/dev/null || hostname)
# without /proc there is no way to find processes that outlive their parents
[ -e /proc/self/environ ] || skip_all "no /proc" 22

# ---- a Slurm ----

SLURM_CONF=$T/slurm.conf
export SLURM_CONF
port=$((20000 + $$ % 15000 * 2))
cat >"$SLURM_CONF" <<END
ClusterName=goodfit
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort=$port
SlurmdPort=$((port + 1))
AuthType=auth/munge
AuthInfo=socket=$T/munge.sock,cred_expire=5
StateSaveLocation=$T/state
SlurmdSpoolDir=$T/spool
SlurmctldPidFile=$T/slurmctld.pid
SlurmdPidFile=$T/slurmd.pid
SlurmctldLogFile=$T/slurmctld.log
SlurmdLogFile=$T/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
SchedulerParameters=bf_interval=1,batch_sched_delay=0,sched_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
KillWait=1
NodeName=$host NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=main Nodes=$host Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:4
END
mkdir "$T/state" "$T/spool"
munge_pid='' ctld_pid='' slurmd_pid=''

# soon N COMMAND…: within N seconds the command is true
soon() {
	soon_left=$(($1 * 10))
	shift
	while ! "$@" >/dev/null 2>&1; do
		soon_left=$((soon_left - 1))
		[ $soon_left -gt 0 ] || return 1
		sleep 0.1
	done
}

ended() { ! kill -0 "$1" 2>/dev/null; }

environment() { { tr '\0' '\n' <"/proc/$1/environ"; } 2>/dev/null; }

# Every process whose environment names our configuration, but this one and those above it: the jobs and what
# watches them.
ours() {
	for ours_dir in /proc/[0-9]*; do
		ours_pid=${ours_dir#/proc/}
		[ "$ours_pid" != $$ ] || continue
		if environment "$ours_pid" | grep -qxF "SLURM_CONF=$SLURM_CONF"; then echo "$ours_pid"; fi
	done
}

stop_slurm() {
	if [ -n "$ctld_pid" ] && ! ended "$ctld_pid"; then
		timeout 5 scancel -u root >/dev/null 2>&1
		soon 8 sh -c '[ -z "$(timeout 5 squeue -h)" ]'
	fi
	for stop_pid in $slurmd_pid $ctld_pid $munge_pid; do
		kill "$stop_pid" 2>/dev/null
	done
	for stop_pid in $slurmd_pid $ctld_pid $munge_pid; do
		soon 5 ended "$stop_pid" || kill -9 "$stop_pid" 2>/dev/null
	done
	for stop_pid in $(ours); do
		kill -9 "$stop_pid" 2>/dev/null
	done
}
slurm_exit() {
	slurm_status=$?
	trap - EXIT
	stop_slurm 2>/dev/null
	cd "$TOP" || exit 1
	(exit $slurm_status)
	tap_exit
}
trap slurm_exit EXIT

(umask 077 && head -c 1024 /dev/urandom >"$T/munge.key")
munged --force --foreground --key-file="$T/munge.key" --socket="$T/munge.sock" --pid-file="$T/munged.pid" \
	--log-file="$T/munged.log" --seed-file="$T/munged.seed" >"$T/munged.out" 2>&1 &
munge_pid=$!
soon 10 test -S "$T/munge.sock" || skip_all "munged does not start here: $(tail -n 1 "$T/munged.out")" 22
slurmctld -D -f "$SLURM_CONF" >"$T/slurmctld.out" 2>&1 &
ctld_pid=$!
slurmd -D -f "$SLURM_CONF" >"$T/slurmd.out" 2>&1 &
slurmd_pid=$!
idle() { timeout 5 sinfo -h -o %T | grep -qx idle; }
soon 20 idle || skip_all "Slurm does not start here: $(tail -n 1 "$T/slurmctld.log")" 22

# ---- a plan, and a program that can be held up ----

mkdir "$T/bin" "$T/w" "$T/here" && cd "$T/w" || exit 1
cat >"$T/bin/gf-replay" <<END
#!/bin/sh
echo "\$*" >>"$T/runs"
for seed in 4 11; do
	case "\$*" in *--seed=\$seed*)
		[ -f "$T/go" ] || { echo \$PPID >"$T/held.\$seed.new"; mv "$T/held.\$seed.new" "$T/held.\$seed"; }
		while [ ! -f "$T/go" ]; do sleep 0.1; done ;;
	esac
done
exec "$B/gf-replay" "\$@"
END
chmod +x "$T/bin/gf-replay"
PATH=$T/bin:$PATH
gf-sweep plan -a seed=1:12 -p 'jobs=gf-synth jobs --jobs 60 --hours 3 --seed {seed}' -o plan.tsv -- \
	--cluster 2x4 --policy srtf --placement random '--seed={seed}' '{jobs}'
cp plan.tsv "$T/here/"
: >"$T/go"
(cd "$T/here" && gf-sweep run -q -j 2 plan.tsv && gf-sweep reduce -o table.tsv plan.tsv)
ok "the sweep without Slurm" $?
rm "$T/go" "$T/runs"

all_done() { [ -z "$(timeout 5 squeue -h)" ]; }
runs_of() { grep -c -e "--seed=$1 " "$T/runs"; }

run "it is submitted" 0 "$TOP/scripts/sweep-slurm" -n 3 -r 2 -o table.tsv plan.tsv
sed 's/^[0-9]* //' "$T/out" >"$T/said"
is "as four tasks and a last job" "$T/said" "tasks 4
reduce table.tsv"
array=$(sed -n 's/ tasks.*//p' "$T/out")
soon 20 test -f "$T/held.4" && soon 20 test -f "$T/held.11"
ok "rows 4 and 11 run, in two tasks" $?

# Row 4: the gf-sweep of its task is killed; the task goes back to the queue.
kill -9 "$(cat "$T/held.4")"	# parent of the program: gf-sweep
# Row 11: everything of the task is killed, for good.
for pid in $(ours); do
	if environment "$pid" | grep -qx SLURM_ARRAY_TASK_ID=3; then kill -9 "$pid" 2>/dev/null; fi
done
restarted() { scontrol show job "${array}_1" 2>/dev/null | grep -q 'Restarts=[1-9]'; }
soon 20 restarted
ok "the killed task is requeued" $?
: >"$T/go"
soon 40 all_done
ok "all jobs end" $?
[ ! -e table.tsv ]
ok "without all rows there is no table" $?
cat sweep/slurm-*.log >"$T/logs"
has "the last job says what is missing" "$T/logs" \
	'^gf-sweep: plan.tsv: 2 of 12 rows are not finished, row 11 the first'
gf-sweep status --each --no-meta plan.tsv | awk -F '\t' '$2 != "finished" { print $1, $2 }' >"$T/found"
is "the task that went back did its rows" "$T/found" "row state
11 started
12 waiting"

run "it is submitted again" 0 "$TOP/scripts/sweep-slurm" -n 3 -j 2 -o table.tsv plan.tsv
has "with what is missing only" "$T/out" '^[0-9]* tasks 1$'
soon 40 all_done
ok "the jobs end" $?
same "the table is that of gf-sweep run" "$T/here/table.tsv" table.tsv
rm sweep/slurm-*
diff -r -x '*.log' sweep "$T/here/sweep" >"$T/diff"
is "and so are all results" "$T/diff" ""
for seed in 1 2 3 4 5 6 7 8 9 10 11 12; do
	echo "$seed:$(runs_of $seed)"
done | tr '\n' ' ' >"$T/found"
echo >>"$T/found"
is "only the rows that were killed ran twice" "$T/found" \
	"1:1 2:1 3:1 4:2 5:1 6:1 7:1 8:1 9:1 10:1 11:2 12:1 "
run "when all is done" 0 "$TOP/scripts/sweep-slurm" -o again.tsv plan.tsv
is "nothing is submitted" "$T/err" "sweep-slurm: all 12 rows are finished"
same "and the table is written" table.tsv again.tsv
run "a number that is none" 2 "$TOP/scripts/sweep-slurm" -n x plan.tsv
is "is named" "$T/err" "sweep-slurm: bad number of rows 'x' (expected a whole number)"
run "a plan that is not there" 3 "$TOP/scripts/sweep-slurm" none.tsv
cd "$TOP" || exit 1
stop_slurm 2>/dev/null
[ -z "$(ours)" ] && ended "$munge_pid" && ended "$ctld_pid" && ended "$slurmd_pid"
ok "nothing of it is left" $?
