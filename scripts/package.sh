#!/usr/bin/env bash
# Makes the Debian package for this machine's architecture, with the profile `dist`, and prints
# where it is.
#   scripts/package.sh [DIRECTORY]   puts the package there (default: target/debian)
#   scripts/package.sh --check       also installs the package in a fresh Debian in a chroot, starts
#                                    the packaged binary with the packaged options and asks it a
#                                    question (this needs root and debootstrap)
# For the arm64 package, run it on an arm64 machine. Then the standard library of another
# architecture is not needed.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo_deb_version=3.8.0
tools_dir=${SLIPSTREAM_PEERS_DIR:-/var/cache/slipstream-peers}/cargo-deb
check=no
output=target/debian
for word in "$@"; do
  case $word in --check) check=yes ;; *) output=$word ;; esac
done

cargo_deb() { PATH=$tools_dir/bin:$PATH cargo deb "$@"; }
[ "$(cargo_deb --version 2>/dev/null)" = "$cargo_deb_version" ] ||
  cargo install --quiet cargo-deb --version "$cargo_deb_version" --locked --root "$tools_dir"

cargo build --profile dist --locked -p server
mkdir -p "$output" target/manual
target/dist/slipstream man target/manual
for shell in bash zsh fish; do target/dist/slipstream completions $shell >target/manual/slipstream.$shell; done
package=$(cargo_deb -p server --profile dist --no-build --output "$output" | tail -1)
printf 'package: %s\n' "$package"
[ "$check" = yes ] || exit 0

# The chroot is a Debian of the same release as this machine that has never seen the project.
root=$(mktemp -d /var/tmp/slipstream-package.XXXXXX)
chmod 755 "$root"   # mktemp keeps everybody else out, and the service has a user of its own
server_pid=
clean() {
  [ -z "$server_pid" ] || kill "$server_pid" 2>/dev/null || true
  [ -z "$server_pid" ] || wait "$server_pid" 2>/dev/null || true
  rm -rf --one-file-system "$root"
}
trap clean EXIT
. /etc/os-release
debootstrap --variant=minbase "$VERSION_CODENAME" "$root" >"$output/debootstrap.log" 2>&1
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
chmod 755 "$root/usr/sbin/policy-rc.d"
cp -L /etc/resolv.conf "$root/etc/resolv.conf"
cp "$package" "$root/tmp/slipstream.deb"
chroot "$root" apt-get -qq update
DEBIAN_FRONTEND=noninteractive chroot "$root" apt-get -qq -y --no-install-recommends install \
  /tmp/slipstream.deb mariadb-client >"$output/install.log" 2>&1

# No service manager runs in a chroot, so the following commands do what the unit does.
chroot "$root" install -d -o slipstream -g slipstream -m 750 /var/lib/slipstream
chroot "$root" install -d -o slipstream -g slipstream -m 755 /run/slipstream
as_user() { chroot --userspec=slipstream:slipstream "$root" "$@"; }
as_user /usr/lib/slipstream/initialize 2>&1 | tee "$output/initialize.log"
password=$(sed -n 's/.*root@localhost: //p' "$output/initialize.log")
[ -n "$password" ] || { echo "no password was printed"; exit 1; }
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
# as_user is not used here: a function in the background runs in a shell, and killing that shell
# would not end the server.
chroot --userspec=slipstream:slipstream "$root" \
  /usr/bin/slipstream serve --port="$port" --innodb-buffer-pool-size=64M >"$output/serve.log" 2>&1 &
server_pid=$!
socket=$root/run/slipstream/slipstream.sock
for _ in $(seq 300); do [ -S "$socket" ] && break; sleep 0.1; done
# As with mysqld, the password that was printed has to be changed before anything else.
answer=$(chroot "$root" mariadb --socket=/run/slipstream/slipstream.sock --user=root --password="$password" \
  --connect-expired-password --batch --skip-column-names \
  --execute='ALTER USER USER() IDENTIFIED BY "another"; SELECT CONCAT(@@version_comment, " ", 6 * 7)')
printf 'the packaged server answers: %s\n' "$answer"
case $answer in *' 42') ;; *) exit 1 ;; esac
for page in usr/share/man/man1/slipstream.1.gz usr/share/bash-completion/completions/slipstream; do
  [ -s "$root/$page" ] || { echo "the package lacks $page"; exit 1; }
done
