#!/bin/bash
# Grids of training runs and of checkpoints as job arrays of a real Slurm on this machine, and under GNU parallel:
# tasks are killed and requeued, two arrays have the same shards, the disk is full; each time the merged result must
# equal the serial one bit by bit. As root; needs slurm-wlm, munge and parallel; leaves nothing running.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
export EIGENSCOPE=${EIGENSCOPE:-$root/build/native/eigenscope}
for program in slurmctld slurmd munged sbatch parallel; do
  command -v $program >/dev/null || { echo "$program is missing: apt-get install slurm-wlm munge parallel"; exit 1; }
done
[ "$(id -u)" = 0 ] || { echo "the daemons must be started as root"; exit 1; }

work=$(mktemp -d)
stop() {
  for daemon in slurmd slurmctld munged; do
    if [ -e "$work/$daemon.pid" ]; then kill "$(cat "$work/$daemon.pid")" 2>/dev/null || true; fi
  done
  sleep 1
  if mountpoint -q "$work/small"; then umount "$work/small"; fi
  rm -rf "$work"
}
trap stop EXIT

# Both check who owns their folders, up to the root.
chmod 755 "$work"
install -d -o munge -g munge "$work/munge"
mkdir "$work/state" "$work/spool" "$work/cells"
if [ ! -e /etc/munge/munge.key ]; then
  install -d -o munge -g munge -m 700 /etc/munge
  dd if=/dev/urandom of=/etc/munge/munge.key bs=1024 count=1 status=none
  chown munge:munge /etc/munge/munge.key && chmod 400 /etc/munge/munge.key
fi
install -d -o munge -g munge /run/munge
su munge -s /bin/bash -c "munged --pid-file=$work/munge/munged.pid --log-file=$work/munge/munged.log"
ln -s "$work/munge/munged.pid" "$work/munged.pid"

host=$(hostname -s)
cat > "$work/slurm.conf" <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
AuthType=auth/munge
SlurmUser=root
SlurmdUser=root
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
SlurmctldPort=16817
SlurmdPort=16818
MinJobAge=600
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) RealMemory=$(free --mebi | awk '/^Mem:/ { print $2 }') State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF=$work/slurm.conf
slurmctld
slurmd
for _ in $(seq 60); do
  if sinfo -h -o %t | grep -qE 'idle|mix|alloc'; then break; fi
  sleep 1
done

cat > "$work/text.txt" <<END
$(for _ in $(seq 40); do echo "It was the best of times, it was the worst of times."; done)
END
cat > "$work/grid.json" <<END
{
  "experiment": "cluster",
  "text": "$work/text.txt",
  "settings": { "width": 32, "depth": 2, "heads": 2, "length": 32, "batch": 4, "steps": 400, "log_every": 100 },
  "axes": { "learning_rate": [0.001, 0.003, 0.01] },
  "stages": [{ "seeds": 4 }],
  "measures": ["bits_per_byte"]
}
END
"$EIGENSCOPE" train --grid "$work/grid.json" --out "$work/serial"
"$EIGENSCOPE" collect "$work/grid.json" --cells "$work/serial" --out "$work/serial.json"

# array CELLS LOG: the grid $GRID as an array of six tasks, of which it prints the job's number.
array() {
  CELLS=$1 sbatch --parsable --array=1-6 --export=ALL --output="$work/$2-%a.log" "${@:3}" "$root/docs/grid.sbatch"
}
# same NAME CELLS SERIAL: the cells, merged, are the serial result.
same() {
  "$EIGENSCOPE" collect "$GRID" --cells "$2" --out "$work/merged.json"
  cmp "$3" "$work/merged.json"
  echo "$1: merged equals serial"
}

export GRID=$work/grid.json SAVE_EVERY=0
# Two arrays with the same shards at once; their tasks are killed and requeued.
first=$(array "$work/cells" first) second=$(array "$work/cells" second)
kills=0 requeues=0
for _ in $(seq 600); do
  if [ $kills -lt 4 ] && pid=$(pgrep -f -n -- "--out $work/cells"); then
    if kill -9 "$pid" 2>/dev/null; then kills=$((kills + 1)); fi
  elif [ $requeues -lt 3 ] && task=$(squeue -h -t R -j "$first,$second" -o %i | head -1) && [ -n "$task" ]; then
    if scontrol requeue "$task"; then requeues=$((requeues + 1)); fi
  fi
  if [ -z "$(squeue -h -j "$first,$second")" ]; then break; fi
  sleep 0.5
done
[ $kills -gt 0 ] && [ $requeues -gt 0 ]
# Killed tasks count as failed; whoever runs the array again completes it.
array "$work/cells" again --wait >/dev/null
same "Slurm, two arrays, $kills tasks killed, $requeues requeued" "$work/cells" "$work/serial.json"

# A disk of 64 kB: the tasks fail with a message, and go on once there is room.
mkdir "$work/small"
mount -t tmpfs -o size=64k tmpfs "$work/small"
if array "$work/small/cells" full --wait >/dev/null; then echo "no task failed on a full disk"; exit 1; fi
grep -h "it cannot be written: No space left on device" "$work"/full-*.log | head -1
mount -o remount,size=64m "$work/small"
array "$work/small/cells" room --wait >/dev/null
same "Slurm, a full disk" "$work/small/cells" "$work/serial.json"

# GNU parallel: two processes of each shard, some of them killed; then once more.
shares() {
  parallel --jobs 4 "$EIGENSCOPE" train --grid "$GRID" --out "$work/parallel" --save-every 0 --shard {}/3 \
    ::: 1 2 3 1 2 3
}
shares & jobs=$! kills=0
while kill -0 $jobs 2>/dev/null; do
  if [ $kills -lt 4 ] && pid=$(pgrep -f -n -- "eigenscope train .*--out $work/parallel"); then
    if kill -9 "$pid" 2>/dev/null; then kills=$((kills + 1)); fi
  fi
  sleep 0.5
done
wait $jobs || true
[ $kills -gt 0 ]
shares
same "GNU parallel, kills: $kills" "$work/parallel" "$work/serial.json"

# Checkpoints: the heads of six models, and their predicted attention.
"$EIGENSCOPE" train --width 32 --length 32 --steps 20 --seeds 6 --text "$work/text.txt" --export f32 \
  --out "$work/runs" >/dev/null
models=$(printf ',"%s"' "$work"/runs/*/export)
for COMMAND in heads predict; do
  options='"measures": true'
  if [ $COMMAND = predict ]; then options="\"file\": \"$work/text.txt\", \"length\": 24, \"passages\": 6"; fi
  export COMMAND GRID=$work/$COMMAND.json SAVE_EVERY=
  name="\"experiment\": \"$COMMAND\", \"operation\": \"$COMMAND\""
  echo "{$name, \"checkpoints\": [${models#,}], \"options\": {$options}}" > "$GRID"
  "$EIGENSCOPE" $COMMAND --grid "$GRID" --out "$work/serial-$COMMAND"
  "$EIGENSCOPE" collect "$GRID" --cells "$work/serial-$COMMAND" --out "$work/serial-$COMMAND.json"
  array "$work/$COMMAND" $COMMAND-1 >/dev/null
  array "$work/$COMMAND" $COMMAND-2 --wait >/dev/null
  same "Slurm, $COMMAND of checkpoints, two arrays" "$work/$COMMAND" "$work/serial-$COMMAND.json"
  parallel --jobs 2 "$EIGENSCOPE" $COMMAND --grid "$GRID" --out "$work/parallel-$COMMAND" --shard {}/3 ::: 1 2 3
  same "GNU parallel, $COMMAND of checkpoints" "$work/parallel-$COMMAND" "$work/serial-$COMMAND.json"
done
