#!/usr/bin/env bash
# Installs the servers and tools with which the tests and the benchmark compare, on a Debian
# machine:
#   - mariadb-server, mariadb-backup, mydumper, sysbench, debootstrap, haproxy, Prometheus' exporter
#     for mysqld, Chromium for the web page, and valgrind to count instructions, from the machine's
#     own Debian release;
#   - MySQL and mydumper, from Debian unstable and in a chroot, because no stable release has MySQL;
#   - readers of the binary log, each from its language's own registry: mysql-replication (Python),
#     canal of go-mysql (Go) and Debezium's engine (Java). They are built as crates/testkit/readers
#     says, where the language is installed;
#   - applications whose schemas are replicated, from the same registries: Django with Wagtail
#     (Python), Sequelize, Knex and TypeORM (JavaScript), Quartz, Spring Batch and Session, Camunda,
#     Flowable and Keycloak (Java). They are built as crates/testkit/applications says;
#   - clients with their own test suites, from the same registries: SQLAlchemy, Django and mysqlclient
#     (Python, the last one over libmariadb) and go-sql-driver (Go). They are built as
#     crates/testkit/clients says;
#   - a server of S3's protocol for backups, moto (Python), as crates/testkit/stores says.
# With --vitess it also installs etcd and builds Vitess, which is big (scripts/peers/vitess.sh).
# The script starts no service. It skips every step that has been done already, continues an
# interrupted run where it stopped, and makes two runs side by side wait for each other. It names
# what it cannot install and does not fail because of it; the tests that need it print a line
# "SKIPPED: ...".
#
# SLIPSTREAM_PEERS_DIR   the directory for the chroot and for prototypes of data directories
#                        (default /var/cache/slipstream-peers)
set -euo pipefail

peers_dir=${SLIPSTREAM_PEERS_DIR:-/var/cache/slipstream-peers}
chroot_dir=$peers_dir/mysql-chroot
readers_dir=$peers_dir/readers
applications_dir=$peers_dir/applications
clients_dir=$peers_dir/clients
stores_dir=$peers_dir/stores
testkit_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")/../crates/testkit" && pwd)
missing=()

say() { printf 'peers: %s\n' "$*"; }

lacks() {
  missing+=("$1")
  say "NOT AVAILABLE: $1"
}

# Debian's server packages start their service when they are installed, unless policy-rc.d forbids
# it. Returns 1 if somebody else's policy-rc.d is there already.
forbid_services() {
  local root=$1
  [ -e "$root/usr/sbin/policy-rc.d" ] && return 1
  printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
  chmod 755 "$root/usr/sbin/policy-rc.d"
}

# Installs the packages of the machine's own release that are not installed yet.
install_packages() {
  local wanted=() package
  command -v mariadbd >/dev/null || wanted+=(mariadb-server)
  command -v mariadb-backup >/dev/null || wanted+=(mariadb-backup)
  command -v mydumper >/dev/null || wanted+=(mydumper)
  command -v sysbench >/dev/null || wanted+=(sysbench)
  command -v haproxy >/dev/null || wanted+=(haproxy)
  command -v prometheus-mysqld-exporter >/dev/null || wanted+=(prometheus-mysqld-exporter)
  command -v chromium >/dev/null || wanted+=(chromium)
  command -v valgrind >/dev/null || wanted+=(valgrind)
  command -v pkg-config >/dev/null || wanted+=(pkg-config)
  [ -e /usr/include/mariadb/mysql.h ] || wanted+=(libmariadb-dev)
  command -v debootstrap >/dev/null || [ -x "$chroot_dir/usr/sbin/mysqld" ] || wanted+=(debootstrap)
  [ ${#wanted[@]} -gt 0 ] || return 0
  say "installing ${wanted[*]}"
  local ours=no status=0
  forbid_services "" && ours=yes
  # A run that was killed may have left packages that are unpacked but not configured.
  dpkg --configure -a >/dev/null 2>&1 || true
  {
    apt-get -o DPkg::Lock::Timeout=300 -qq update &&
      DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -qq -y \
        --no-install-recommends install "${wanted[@]}"
  } >"$peers_dir/packages.log" 2>&1 || status=$?
  [ "$ours" = no ] || rm -f /usr/sbin/policy-rc.d
  [ "$status" = 0 ] || say "apt-get failed, the end of $peers_dir/packages.log:"
  [ "$status" = 0 ] || tail -5 "$peers_dir/packages.log"
}

mysql_runs() { chroot "$chroot_dir" /usr/sbin/mysqld --no-defaults --version >/dev/null 2>&1; }

# Removes a base system that is incomplete. It may still have kernel file systems mounted.
discard() {
  umount -q "$1/proc" "$1/sys" 2>/dev/null || true
  rm -rf --one-file-system "$1"
}

# Builds the chroot beside its place and then moves it there, so that its place never holds a part
# of a base system.
bootstrap_chroot() {
  [ -x "$chroot_dir/usr/bin/apt-get" ] && [ ! -d "$chroot_dir/debootstrap" ] && return 0
  discard "$chroot_dir"
  discard "$chroot_dir.building"
  say "unpacking a Debian unstable base system (about 30 s)"
  debootstrap --variant=minbase sid "$chroot_dir.building" >"$peers_dir/debootstrap.log" 2>&1 || return 1
  mv "$chroot_dir.building" "$chroot_dir"
}

in_chroot() { chroot "$chroot_dir" env DEBIAN_FRONTEND=noninteractive LC_ALL=C PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"; }

install_mysql() {
  mysql_runs && return 0
  bootstrap_chroot || return 1
  say "installing MySQL in the chroot (about 60 s)"
  forbid_services "$chroot_dir" || true
  # The name servers may have changed since an earlier run.
  cp -L /etc/resolv.conf "$chroot_dir/etc/resolv.conf" 2>/dev/null || true
  printf 'Acquire::Check-Valid-Until "false";\n' >"$chroot_dir/etc/apt/apt.conf.d/99check-valid-until"
  {
    in_chroot dpkg --configure -a &&
      in_chroot apt-get -qq update &&
      in_chroot apt-get -qq -y --no-install-recommends install mysql-server-core mysql-client-core &&
      in_chroot apt-get -qq clean
  } >"$peers_dir/mysql.log" 2>&1 || return 1
  mysql_runs
}

# mydumper reaches MySQL's socket and writes its files where MySQL runs. MySQL stays as it is.
install_mydumper() {
  [ -x "$chroot_dir/usr/bin/mydumper" ] && return 0
  say "installing mydumper in the chroot"
  {
    in_chroot apt-get -qq update &&
      in_chroot apt-get -qq -y --no-install-recommends install mydumper &&
      in_chroot apt-get -qq clean
  } >"$peers_dir/mydumper.log" 2>&1
}

# Installs what the program in this folder needs from Python's registry into the directory $1.
install_requirements() {
  python3 -m venv "$1" && "$1/bin/pip" install -q --disable-pip-version-check -r requirements.txt
}

install_readers_python() { install_requirements "$readers_dir/python"; }

install_readers_canal() { go build -o "$readers_dir/canal" .; }

install_readers_debezium() { mvn -q -B -Dreaders.dir="$readers_dir" package; }

install_applications_python() { install_requirements "$applications_dir/python"; }

install_applications_node() {
  cp -r . "$applications_dir/node" &&
    npm install --prefix "$applications_dir/node" --ignore-scripts --no-package-lock --no-audit --no-fund --silent
}

install_applications_java() { mvn -q -B -Dapplications.dir="$applications_dir" package; }

# The sources of a client have its tests, which what is installed of it has not.
install_clients_python() {
  local place=$clients_dir/python package
  install_requirements "$place" && mkdir -p "$place/sources" || return 1
  for package in Django SQLAlchemy mysqlclient; do
    "$place/bin/pip" download -q --disable-pip-version-check --no-deps --no-binary :all: --no-build-isolation \
      -d "$place/archives" "$(grep "^$package==" requirements.txt)" || return 1
  done
  for package in "$place"/archives/*.tar.gz; do
    tar xzf "$package" -C "$place/sources" || return 1
  done
}

install_stores_moto() { install_requirements "$stores_dir/moto"; }

install_clients_go() { go test -c -o "$clients_dir/go" github.com/go-sql-driver/mysql; }

# Builds a program, unless it was built from the same files before. The arguments are its kind
# (readers, applications, clients or stores), its name, and the programs that are needed to build it.
built() {
  local kind=$1 name=$2 program state place=$peers_dir/$1
  shift 2
  for program in "$@"; do
    command -v "$program" >/dev/null || { lacks "$kind: $name (no $program)"; return 0; }
  done
  state=$(cd "$testkit_dir/$kind/$name" && find . -type f -print0 | sort -z | xargs -0 sha256sum)
  [ "$(cat "$place/$name.built" 2>/dev/null)" != "$state" ] || return 0
  say "building $kind: $name (the first time about 2 minutes)"
  rm -rf "${place:?}/$name"
  if (cd "$testkit_dir/$kind/$name" && "install_${kind}_$name") >"$place/$name.log" 2>&1; then
    printf '%s\n' "$state" >"$place/$name.built"
  else
    tail -5 "$place/$name.log"
    lacks "$kind: $name (log in $place)"
  fi
}

main() {
  if [ "$(id -u)" != 0 ]; then
    if sudo -n true 2>/dev/null; then
      exec sudo -n SLIPSTREAM_PEERS_DIR="$peers_dir" bash "$0" "$@"
    fi
    command -v mariadbd >/dev/null || lacks "MariaDB (installing it needs root)"
    command -v mariadb-backup >/dev/null || lacks "mariadb-backup (installing it needs root)"
    command -v mydumper >/dev/null || lacks "mydumper (installing it needs root)"
    command -v sysbench >/dev/null || lacks "sysbench (installing it needs root)"
    command -v haproxy >/dev/null || lacks "haproxy (installing it needs root)"
    command -v prometheus-mysqld-exporter >/dev/null || lacks "mysqld_exporter (installing it needs root)"
    command -v chromium >/dev/null || lacks "Chromium (installing it needs root)"
    command -v valgrind >/dev/null || lacks "valgrind (installing it needs root)"
    lacks "MySQL (its chroot needs root)"
    return
  fi
  mkdir -p "$peers_dir"
  exec 9>"$peers_dir/lock"
  flock -n 9 || { say "another run is at it, waiting"; flock 9; }
  if command -v apt-get >/dev/null; then
    install_packages
  fi
  command -v mariadbd >/dev/null || lacks "MariaDB"
  command -v mariadb-backup >/dev/null || lacks "mariadb-backup"
  command -v mydumper >/dev/null || lacks "mydumper"
  command -v sysbench >/dev/null || lacks "sysbench"
  command -v haproxy >/dev/null || lacks "haproxy"
  command -v prometheus-mysqld-exporter >/dev/null || lacks "mysqld_exporter"
  command -v chromium >/dev/null || lacks "Chromium"
  command -v valgrind >/dev/null || lacks "valgrind"
  install_mysql || {
    tail -5 "$peers_dir"/debootstrap.log "$peers_dir"/mysql.log 2>/dev/null || true
    lacks "MySQL (logs in $peers_dir)"
  }
  ! mysql_runs || install_mydumper || lacks "mydumper beside MySQL (log in $peers_dir)"
  mkdir -p "$readers_dir" "$applications_dir" "$clients_dir" "$stores_dir"
  built readers python python3
  built readers canal go
  built readers debezium java mvn
  built applications python python3
  built applications node node npm
  built applications java java mvn
  built clients python python3
  built clients go go
  built stores moto python3
}

main "$@"
if [ "${1:-}" = --vitess ]; then
  SLIPSTREAM_PEERS_DIR="$peers_dir" "$(dirname "${BASH_SOURCE[0]}")/peers/vitess.sh" || missing+=("Vitess or etcd")
fi
if [ ${#missing[@]} = 0 ]; then
  say "$(mariadbd --version 2>/dev/null | head -1)"
  say "$(chroot "$chroot_dir" /usr/sbin/mysqld --no-defaults --version 2>/dev/null | head -1)"
  say "$(sysbench --version)"
fi
