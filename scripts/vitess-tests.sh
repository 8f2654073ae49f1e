#!/usr/bin/env bash
# Runs Vitess' own end-to-end tests against a server, and prints for each package how many of its
# tests passed and failed. The script exits with 1 when a test fails that
# scripts/peers/vitess-tests.known does not name for this server.
#
#   scripts/vitess-tests.sh slipstream                    # all packages below
#   scripts/vitess-tests.sh mysql vtgate/queries/union    # one package, with MySQL of the peers
#   scripts/vitess-tests.sh mysql vreplication=TestVDiff2 # those tests of it that match the pattern
#
# SLIPSTREAM_BINARY      the binary under test (default: built in the release profile)
# SLIPSTREAM_PEERS_DIR   the directory of the peers (default /var/cache/slipstream-peers); the
#                        tests, their sources and their logs are in vitess/tests below it
#
# scripts/peers.sh --vitess must have built Vitess. The packages are compiled once, which takes some
# minutes. Vitess refuses to run as root, so root runs the tests as nobody. One run at a time.
set -euo pipefail
cd "$(dirname "$0")/.."

server=${1:-slipstream}
shift || true
peers_dir=${SLIPSTREAM_PEERS_DIR:-/var/cache/slipstream-peers}
place=$peers_dir/vitess/tests
known=$PWD/scripts/peers/vitess-tests.known
version=v0.23.0
toolchain=go1.25.1
queries=(aggregation derived dml foundrows informationschema kill lookup_queries misc multi_query
  no_scatter normalize orderby reference subquery timeout tpch transaction_timeout union vexplain)
# The basics of VReplication, which take ten minutes; all tests of its package take hours.
streams="TestLookupVindex|TestMaterialize|TestReferenceTableMaterialize|TestSidecarDB|TestMoveTablesTZ"
streams+="|TestVStreamFlushBinlog|TestVStreamWithTablesToSkipCopyFlag|TestVtctldclientCLI"
streams+="|TestVReplicationDDLHandling"
packages=("${queries[@]/#/vtgate/queries/}" reparent/plannedreparent reparent/emergencyreparent
  tabletmanager tabletmanager/primary mysqlctl mysqlctld onlineddl/vrepl onlineddl/scheduler
  "vreplication=^($streams)\$")
[ $# = 0 ] || packages=("$@")
limit_s=1800

say() { printf 'vitess-tests: %s\n' "$*"; }

lacks() {
  say "NOT AVAILABLE: $1"
  exit 1
}

# The tests read files beside their sources, and the module cache may be closed to nobody.
copy_sources() {
  local sources=$1
  rm -rf "$place/vtroot"
  mkdir -p "$place/vtroot/go/test" "$place/vtroot/examples"
  cp -r "$sources/config" "$place/vtroot/"
  cp -r "$sources/go/test/endtoend" "$place/vtroot/go/test/"
  chmod -R u+w "$place/vtroot"
  # Vitess' own build puts this hook there.
  install -D "$sources/test/vthook-test.sh" "$place/vtroot/vthook/test.sh"
}

compile() {
  local sources package program
  sources=$(go mod download -json "vitess.io/vitess@$version" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
  [ -d "$sources" ] || return 1
  [ -d "$place/vtroot/go" ] || copy_sources "$sources" || return 1
  mkdir -p "$place/bin"
  for package in "${packages[@]%%=*}"; do
    program=$place/bin/${package//\//_}
    [ -x "$program" ] && continue
    say "compiling $package"
    (cd "$sources" && CGO_ENABLED=0 nice go test -c -vet=off -p 2 -trimpath -ldflags '-s -w' \
      -o "$program" "./go/test/endtoend/$package") || return 1
  done
}

# Writes a program of MySQL's chroot for use outside of it, where it needs the chroot's loader and
# libraries. The lines of the last argument come first, and the ones between are its options.
wrap() {
  local name=$1 program=$2 options=$3 first=$4 chroot=$peers_dir/mysql-chroot
  cat >"$place/root/bin/$name" <<WRAPPER
#!/bin/bash
$first
lib=$chroot/usr/lib/$(uname -m)-linux-gnu
loader=(\$lib/ld-linux-*.so.*)
exec "\${loader[0]}" --library-path "\$lib" $chroot$program "\$@" $options
WRAPPER
  chmod 755 "$place/root/bin/$name"
}

# Makes the directory that VT_MYSQL_ROOT names.
make_root() {
  local root=$place/root chroot=$peers_dir/mysql-chroot binary
  rm -rf "$root"
  mkdir -p "$root/bin"
  # The tests ask the program vtctl for the version of Vitess, and need it for nothing else.
  ln -s "$peers_dir/vitess/bin/vtctldclient" "$root/bin/vtctl"
  case $server in
  slipstream)
    ln -s "$(command -v mysql)" "$(command -v mysqladmin)" "$root/bin/"
    binary=${SLIPSTREAM_BINARY:-}
    if [ -z "$binary" ]; then
      cargo build --quiet --release --locked -p server
      binary=${CARGO_TARGET_DIR:-target}/release/slipstream
    fi
    cp "$binary" "$root/bin/slipstream"
    ln -s slipstream "$root/bin/mysqld"
    ;;
  mysql)
    [ -x "$chroot/usr/sbin/mysqld" ] || lacks "MySQL (scripts/peers.sh)"
    # Vitess learns from --version what it deals with.
    wrap mysqld /usr/sbin/mysqld "--mysqlx=OFF --lc-messages-dir=$chroot/usr/share/mysql \
  --character-sets-dir=$chroot/usr/share/mysql/charsets --plugin-dir=$chroot/usr/lib/mysql/plugin" \
      'case " $* " in
*" --version "*) echo "/usr/sbin/mysqld  Ver 9.7.0 for Linux on x86_64 (MySQL)"; exit 0 ;;
esac'
    # MariaDB's mysqladmin cannot shut MySQL down: it sends a command that MySQL does not have.
    wrap mysql /usr/bin/mysql "" ""
    wrap mysqladmin /usr/bin/mysqladmin "" ""
    ;;
  *) lacks "a server called $server (slipstream or mysql)" ;;
  esac
}

# Ends what a package has left behind. All its processes work in directories of this place.
end_processes() {
  local link found=yes
  while [ "$found" = yes ]; do
    found=no
    for link in /proc/[0-9]*/cwd; do
      case "$(readlink "$link" 2>/dev/null)" in
      "$place"/*)
        link=${link#/proc/}
        if kill -KILL "${link%/cwd}" 2>/dev/null; then found=yes; fi
        ;;
      esac
    done
  done
}

# Returns the names of the tests of a log, subtests left out, that have this outcome.
outcome() { sed -n "s/^--- $2: \([^ ]*\) .*/\1/p" "$1"; }

# Runs a package, or those of its tests that match the pattern behind `=`.
run() {
  local package=${1%%=*} pattern=. status=0 test running wrong=0
  local log=$place/logs-$server/${package//\//_}.log
  [ "$package" = "$1" ] || pattern=${1#*=}
  local as=()
  rm -rf "$place/data" "$place/home"
  mkdir -p "$place/data" "$place/home" "$place/logs-$server"
  if [ "$(id -u)" = 0 ]; then
    chown -R 65534:65534 "$place/data" "$place/home" "$place/vtroot"
    as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
  fi
  (cd "$place/vtroot/go/test/endtoend/$package" &&
    timeout -k 10 "$limit_s" "${as[@]}" env -i USER=nobody CI=true HOME="$place/home" \
      PATH="$peers_dir/vitess/bin:$place/root/bin:/usr/bin:/bin" VTROOT="$place/vtroot" \
      VTDATAROOT="$place/data" VT_MYSQL_ROOT="$place/root" \
      "$place/bin/${package//\//_}" -test.v -test.run "$pattern") >"$log" 2>&1 || status=$?
  end_processes
  # A test that has begun and did not end when the time was over has failed.
  running=$(sed -n 's/^=== RUN   \([^/ ]*\)$/\1/p' "$log" |
    grep -vxF "$(sed -n 's/^--- [A-Z]*: \([^ ]*\) .*/\1/p' "$log"; echo -)" | tail -1 || true)
  [ "$status" -lt 124 ] || [ -z "$running" ] || echo "--- FAIL: $running (endless)" >>"$log"
  if [ "$status" != 0 ] && [ -z "$(outcome "$log" FAIL)" ]; then
    say "$package ended with $status before its tests: $log"
    wrong=1
  fi
  printf '%-36s %3d passed %3d failed\n' "$package" "$(outcome "$log" PASS | wc -l)" \
    "$(outcome "$log" FAIL | wc -l)"
  for test in $(outcome "$log" FAIL); do
    if grep -q "^$server $package $test " "$known"; then
      echo "    $test: $(sed -n "s|^$server $package $test ||p" "$known")"
    else
      echo "    $test: NOT KNOWN"
      wrong=1
    fi
  done
  return "$wrong"
}

[ -x "$peers_dir/vitess/bin/vttablet" ] || lacks "Vitess (scripts/peers.sh --vitess)"
mkdir -p "$place"
exec 8>"$place/lock"
flock -n 8 || lacks "another run is under way"
trap end_processes EXIT
command -v go >/dev/null || PATH=$PATH:/usr/local/go/bin
command -v go >/dev/null || lacks "go"
export GOTOOLCHAIN=$toolchain GOFLAGS=-buildvcs=false
compile >"$place/compile.log" 2>&1 || { tail -5 "$place/compile.log"; lacks "the tests"; }
make_root
status=0
for package in "${packages[@]}"; do run "$package" || status=1; done
exit $status
