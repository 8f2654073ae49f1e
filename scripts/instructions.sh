#!/usr/bin/env bash
# Counts the instructions that statements and their replication take in the server, outside the
# kernel, and prints a line for each of sysbench's scripts, for a scan, and for a replica:
#   scripts/instructions.sh [BINARY]   counts those of this binary (default: target/dist/slipstream)
# The counted server runs under valgrind. The first figure is that of the thread which does the work,
# the second that of all threads. One connection runs the scripts against a cached table of 20,000
# rows. The replica applies transactions of update_non_index that it has received before, without
# workers and with a binary log: `applied_update` is counted in the applier's thread, and
# `logged_update` in the thread that writes the binary log. What else the machine does changes the
# counts by a few instructions only, so figures of two builds compare.
set -euo pipefail
cd "$(dirname "$0")/.."

binary=$(realpath "${1:-target/dist/slipstream}")
for tool in valgrind sysbench mariadb; do
  command -v $tool >/dev/null || { echo "$tool is needed: apt-get install valgrind sysbench mariadb-client"; exit 1; }
done
work=$(mktemp -d)
server_pid= source_pid=
# Ends the two servers, as far as they run.
stop() {
  for pid in $server_pid $source_pid; do kill "$pid" 2>/dev/null && wait "$pid" || true; done
  server_pid= source_pid=
}
trap 'stop; rm -rf "$work"' EXIT

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# Runs statements at the server with this socket, and prints their values alone.
ask() { mariadb --socket="$work/$1.sock" --user=root --batch --skip-column-names --execute="$2"; }

# Waits until the server with this socket answers, and has made its key: the first start makes one
# behind the sessions, which takes longer than everything else.
await() {
  for _ in $(seq 600); do ask "$1" 'SELECT 1' >/dev/null 2>&1 && break; sleep 0.1; done
  for _ in $(seq 1200); do [ -s "$work/$1/private_key.pem" ] && break; sleep 0.1; done
}

# Starts the server that is counted, with a new data directory and these options.
start_counted() {
  rm -rf "$work/server" "$work"/counts*
  "$binary" serve --datadir="$work/server" --initialize-insecure >"$work/initialize.log" 2>&1
  valgrind --tool=callgrind --instr-atstart=no --separate-threads=yes \
    --callgrind-out-file="$work/counts" "$binary" serve --datadir="$work/server" \
    --port="$(free_port)" --bind-address=127.0.0.1 --socket="$work/server.sock" \
    --innodb-flush-log-at-trx-commit=2 "$@" >"$work/serve.log" 2>&1 &
  server_pid=$!
  await server
}

# Starts or ends the counting.
counting() { callgrind_control --instr="$1" "$server_pid" >/dev/null 2>&1; }

# Runs sysbench at the server with this socket: a script, the numbers of tables and of rows in each,
# and further options.
bench() {
  local server=$1 script=$2 tables=$3 rows=$4
  shift 4
  sysbench "$script" --db-driver=mysql --mysql-socket="$work/$server.sock" --mysql-user=root \
    --mysql-db=sbtest --tables="$tables" --table-size="$rows" --threads=1 --rand-type=uniform \
    --time=0 "$@" >/dev/null
}

# Prints the count of each thread in ascending order. Each thread has a file, whose line `totals`
# has its count.
thread_counts() { sed -n 's/^totals: //p' "$work"/counts* | sort -n; }

# The transactions that warm the server up have other random values than those that are counted,
# because an update to the value that a row has already is none.

# Prints the counts of one script, divided by the number of its transactions.
count() {
  local script=$1 transactions=$2
  start_counted --skip-log-bin
  ask server 'CREATE DATABASE sbtest'
  bench server "$script" 1 20000 prepare
  bench server "$script" 1 20000 --rand-seed=1 --events=200 run
  counting on
  bench server "$script" 1 20000 --rand-seed=2 --events="$transactions" run
  counting off
  stop
  # The connection's count is the largest.
  thread_counts | awk -v script="$script" -v n="$transactions" \
    '{ all += $1; most = $1 } END { printf "%-24s %12.0f %12.0f\n", script, most / n, all / n }'
}

# Prints the count of a row that a statement reads through the whole table.
count_scan() {
  local rows=20000
  # One thread reads, because the count is that of its work.
  local scan="SET innodb_parallel_read_threads = 1; SELECT COUNT(*) FROM sbtest.sbtest1 WHERE pad <> c"
  start_counted --skip-log-bin
  ask server 'CREATE DATABASE sbtest'
  bench server oltp_read_only 1 $rows prepare
  ask server "$scan" >/dev/null
  counting on
  ask server "$scan" >/dev/null
  counting off
  stop
  thread_counts | awk -v n=$rows \
    '{ all += $1; most = $1 } END { printf "%-24s %12.0f %12.0f\n", "scanned_row", most / n, all / n }'
}

# Prints the counts of a replica, divided by the number of transactions.
count_replica() {
  local transactions=3000 port gtids
  "$binary" serve --datadir="$work/source" --initialize-insecure >"$work/initialize.log" 2>&1
  port=$(free_port)
  "$binary" serve --datadir="$work/source" --port="$port" --bind-address=127.0.0.1 \
    --socket="$work/source.sock" --server-id=1 --gtid-mode=ON --enforce-gtid-consistency=ON \
    --binlog-row-image=minimal >"$work/source.log" 2>&1 &
  source_pid=$!
  await source
  start_counted --server-id=2 --gtid-mode=ON --enforce-gtid-consistency=ON \
    --replica-parallel-workers=0
  ask source 'CREATE DATABASE sbtest'
  bench source oltp_update_non_index 4 5000 prepare
  bench source oltp_update_non_index 4 5000 --rand-seed=1 --events=500 run
  ask server "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT=$port,
    SOURCE_USER='root', SOURCE_AUTO_POSITION=1; START REPLICA"
  gtids=$(ask source 'SELECT @@gtid_executed')
  ask server "SELECT WAIT_FOR_EXECUTED_GTID_SET('$gtids', 120)" >/dev/null
  ask server 'STOP REPLICA SQL_THREAD'
  bench source oltp_update_non_index 4 5000 --rand-seed=2 --events=$transactions run
  gtids=$(ask source 'SELECT @@gtid_executed')
  for _ in $(seq 600); do
    [ "$(ask server "SELECT GTID_SUBSET('$gtids', CONCAT(@@gtid_executed, ',', received_transaction_set))
      FROM performance_schema.replication_connection_status")" = 1 ] && break
    sleep 0.1
  done
  counting on
  ask server 'START REPLICA SQL_THREAD'
  ask server "SELECT WAIT_FOR_EXECUTED_GTID_SET('$gtids', 120)" >/dev/null
  # The binary log is written behind the commits. A new file begins once the old one has them all.
  ask server 'FLUSH BINARY LOGS'
  counting off
  stop
  # The applier's count is the largest, and that of the binary log's writer the second.
  thread_counts | awk -v n=$transactions \
    '{ all += $1; second = most; most = $1 }
      END { printf "%-24s %12.0f %12.0f\n%-24s %12.0f %12.0f\n",
        "applied_update", most / n, all / n, "logged_update", second / n, all / n }'
}

printf '%-24s %12s %12s\n' "instructions of" "its thread" "all threads"
count oltp_point_select 2000
count oltp_update_non_index 2000
count oltp_update_index 2000
count oltp_insert 2000
count oltp_read_only 100
count_scan
count_replica
