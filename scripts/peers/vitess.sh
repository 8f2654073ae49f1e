#!/usr/bin/env bash
# Installs what the tests of Vitess need: etcd from the machine's own Debian release, and Vitess,
# built from its Go module with the toolchain that the module names. The build takes 3 to 10
# minutes and about 500 MB beside Go's own caches, so only scripts/peers.sh --vitess calls this
# script. A second run does nothing. The script exits with 1 and says what is missing when it
# cannot have a part; the tests that need the part print a line "SKIPPED: ...".
#
# SLIPSTREAM_PEERS_DIR   the directory of the peers (default /var/cache/slipstream-peers); the
#                        binaries go to vitess/bin below it
set -euo pipefail

peers_dir=${SLIPSTREAM_PEERS_DIR:-/var/cache/slipstream-peers}
place=$peers_dir/vitess
version=v0.23.0
toolchain=go1.25.1
programs=(vttablet vtgate vtctld vtctldclient mysqlctl mysqlctld vtorc)

say() { printf 'peers: %s\n' "$*"; }

lacks() {
  say "NOT AVAILABLE: $1"
  exit 1
}

# Debian's package starts the service when it is installed, unless policy-rc.d forbids it.
install_etcd() {
  command -v etcd >/dev/null && return 0
  [ "$(id -u)" = 0 ] || return 1
  command -v apt-get >/dev/null || return 1
  say "installing etcd"
  local policy=/usr/sbin/policy-rc.d ours=no status=0
  if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
    ours=yes
  fi
  {
    apt-get -o DPkg::Lock::Timeout=300 -qq update &&
      DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -qq -y \
        --no-install-recommends install etcd-server
  } >"$place/etcd.log" 2>&1 || status=$?
  [ "$ours" = no ] || rm -f "$policy"
  return "$status"
}

# The module is built where Go keeps it, so that its own list of sums and replacements counts.
build() {
  local sources packages=() program
  sources=$(go mod download -json "vitess.io/vitess@$version" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
  [ -d "$sources" ] || return 1
  for program in "${programs[@]}"; do packages+=("./go/cmd/$program"); done
  rm -rf "$place/bin.building"
  mkdir -p "$place/bin.building"
  (cd "$sources" &&
    CGO_ENABLED=0 nice go build -p 2 -trimpath -ldflags '-s -w' -o "$place/bin.building/" "${packages[@]}") ||
    return 1
  rm -rf "$place/bin"
  mv "$place/bin.building" "$place/bin"
}

mkdir -p "$place" || lacks "Vitess (no directory $place)"
exec 8>"$place/lock"
flock -n 8 || { say "another run builds Vitess, waiting"; flock 8; }
install_etcd || { tail -5 "$place/etcd.log" 2>/dev/null || true; lacks "etcd (log in $place)"; }
state="$version $toolchain ${programs[*]}"
if [ "$(cat "$place/built" 2>/dev/null)" != "$state" ]; then
  command -v go >/dev/null || PATH=$PATH:/usr/local/go/bin
  command -v go >/dev/null || lacks "Vitess (no go)"
  say "building Vitess $version (3 to 10 minutes)"
  export GOTOOLCHAIN=$toolchain GOFLAGS=-buildvcs=false
  build >"$place/build.log" 2>&1 || { tail -5 "$place/build.log"; lacks "Vitess (log in $place)"; }
  printf '%s\n' "$state" >"$place/built"
fi
say "Vitess $version, $(etcd --version | head -1)"
