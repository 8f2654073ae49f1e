#!/usr/bin/env bash
# Counts the instructions that statements take in the server, outside the kernel, and prints a line
# for each of sysbench's scripts:
#   scripts/instructions.sh [BINARY]   counts those of this binary (default: target/dist/slipstream)
# The server runs under valgrind with one connection and one cached table of 20,000 rows. The first
# figure is that of the connection's thread, the second that of all threads. What else the machine
# does changes neither by more than a few instructions, so figures of two builds compare.
set -euo pipefail
cd "$(dirname "$0")/.."

binary=$(realpath "${1:-target/dist/slipstream}")
for tool in valgrind sysbench mariadb; do
  command -v $tool >/dev/null || { echo "$tool is needed: apt-get install valgrind sysbench mariadb-client"; exit 1; }
done
work=$(mktemp -d)
server_pid=
clean() {
  [ -z "$server_pid" ] || kill "$server_pid" 2>/dev/null || true
  [ -z "$server_pid" ] || wait "$server_pid" 2>/dev/null || true
  rm -rf "$work"
}
trap clean EXIT

# Prints the counts of one script, divided by the number of its transactions.
count() {
  local script=$1 transactions=$2 port socket=$work/server.sock
  port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  rm -rf "$work/data" "$work"/counts*
  "$binary" serve --datadir="$work/data" --initialize-insecure >"$work/initialize.log" 2>&1
  valgrind --tool=callgrind --instr-atstart=no --separate-threads=yes \
    --callgrind-out-file="$work/counts" "$binary" serve --datadir="$work/data" --port="$port" \
    --bind-address=127.0.0.1 --socket="$socket" --skip-log-bin --innodb-flush-log-at-trx-commit=2 \
    >"$work/serve.log" 2>&1 &
  server_pid=$!
  for _ in $(seq 600); do
    mariadb --socket="$socket" --user=root --execute='SELECT 1' >/dev/null 2>&1 && break
    sleep 0.1
  done
  # The first start makes an RSA key behind the sessions, which takes longer than everything else.
  for _ in $(seq 1200); do [ -s "$work/data/private_key.pem" ] && break; sleep 0.1; done
  mariadb --socket="$socket" --user=root --execute='CREATE DATABASE sbtest'
  local bench=(sysbench "$script" --db-driver=mysql --mysql-socket="$socket" --mysql-user=root
    --mysql-db=sbtest --tables=1 --table-size=20000 --threads=1 --rand-type=uniform --rand-seed=7)
  "${bench[@]}" prepare >/dev/null
  "${bench[@]}" --events=200 --time=0 run >/dev/null
  callgrind_control --instr=on "$server_pid" >/dev/null 2>&1
  "${bench[@]}" --events="$transactions" --time=0 run >/dev/null
  callgrind_control --instr=off "$server_pid" >/dev/null 2>&1
  kill "$server_pid" && wait "$server_pid" || true
  server_pid=
  # Each thread has a file, whose line `totals` has its count. The connection's is the largest.
  sed -n 's/^totals: //p' "$work"/counts* | sort -n | awk -v script="$script" -v n="$transactions" \
    '{ all += $1; most = $1 } END { printf "%-24s %12.0f %12.0f\n", script, most / n, all / n }'
}

printf '%-24s %12s %12s\n' "instructions of" connection "all threads"
count oltp_point_select 2000
count oltp_update_non_index 2000
count oltp_update_index 2000
count oltp_insert 2000
count oltp_read_only 100
