#!/usr/bin/env bash
# Makes the Debian package with the profile `dist`, and prints where it is.
#   scripts/package.sh [DIRECTORY]   puts the package there (default: target/debian)
#   scripts/package.sh --check       also installs the package in a fresh Debian in a chroot, starts
#                                    the packaged binary with the packaged options and asks it a
#                                    question (this needs root and debootstrap)
#   scripts/package.sh --arm64 ...   does the same for arm64 on a machine of another architecture:
#                                    it compiles with Debian's cross compiler, and qemu runs what
#                                    the check starts (both are installed, which needs root)
set -euo pipefail
cd "$(dirname "$0")/.."

cargo_deb_version=3.8.0
tools_dir=${SLIPSTREAM_PEERS_DIR:-/var/cache/slipstream-peers}/cargo-deb
check=no
architecture=$(dpkg --print-architecture)
output=target/debian
for word in "$@"; do
  case $word in --check) check=yes ;; --arm64) architecture=arm64 ;; *) output=$word ;; esac
done

# For another architecture: `target` is Rust's name of it, and `emulator` runs its programs.
target=() binary=target/dist/slipstream emulator=
if [ "$architecture" != "$(dpkg --print-architecture)" ]; then
  triple=aarch64-unknown-linux-gnu
  rustup target add "$triple"
  dpkg -s gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static >/dev/null 2>&1 ||
    DEBIAN_FRONTEND=noninteractive apt-get -qq -y install \
      gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static >/dev/null
  export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
  target=(--target "$triple") binary=target/$triple/dist/slipstream
  emulator="qemu-aarch64-static -L /usr/aarch64-linux-gnu"
fi

cargo_deb() { PATH=$tools_dir/bin:$PATH cargo deb "$@"; }
[ "$(cargo_deb --version 2>/dev/null)" = "$cargo_deb_version" ] ||
  cargo install --quiet cargo-deb --version "$cargo_deb_version" --locked --root "$tools_dir"

cargo build --profile dist --locked -p server "${target[@]}"
mkdir -p "$output" target/manual
$emulator $binary man target/manual
for shell in bash zsh fish; do $emulator $binary completions $shell >target/manual/slipstream.$shell; done
package=$(cargo_deb -p server --profile dist --no-build "${target[@]}" --output "$output" | tail -1)
printf 'package: %s\n' "$package"
[ "$check" = yes ] || exit 0

# The kernel starts the programs of the other architecture by qemu, which F makes it open now: in the
# chroot there is no qemu. The magic is that of ELF files for aarch64 (qemu's own registration).
misc=/proc/sys/fs/binfmt_misc
if [ -n "$emulator" ] && [ ! -e $misc/qemu-aarch64 ]; then
  [ -e $misc/register ] || mount -t binfmt_misc binfmt_misc $misc
  magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
  mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
  printf '%s' ":qemu-aarch64:M::$magic:$mask:/usr/bin/qemu-aarch64-static:F" >$misc/register
fi

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
debootstrap --arch="$architecture" --variant=minbase "$VERSION_CODENAME" "$root" >"$output/debootstrap.log" 2>&1
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
