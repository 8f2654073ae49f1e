#!/usr/bin/env bash
# Checks everything that must hold before a change lands: the format, the width of lines, the lints,
# and all tests. It uses one profile, so that everything is compiled once. At its end it lists the
# tests that could not run because a peer is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

export CARGO_TERM_COLOR=${CARGO_TERM_COLOR:-never}
log_dir=$(mktemp -d)
trap 'rm -rf "$log_dir"' EXIT
# Tests append a line to this file when a peer is missing, because the standard output of a test
# that passes is not shown.
export SLIPSTREAM_SKIPPED=$log_dir/skipped
: >"$SLIPSTREAM_SKIPPED"

scripts/peers.sh
cargo fmt --all --check
scripts/width.sh
cargo clippy --release --locked --workspace --all-targets -- -D warnings
cargo build --release --locked --workspace
SLIPSTREAM_BINARY=$(pwd)/${CARGO_TARGET_DIR:-target}/release/slipstream
case ${CARGO_TARGET_DIR:-} in /*) SLIPSTREAM_BINARY=$CARGO_TARGET_DIR/release/slipstream ;; esac
export SLIPSTREAM_BINARY

status=0
cargo test --release --locked --workspace --no-fail-fast || status=$?
# This tests what threads share, under the model checker (see crates/os/src/sync.rs). It takes a
# build of its own, of the lower crates only.
cargo test --release --locked -p redo -p buffer -p engine --features engine/model --no-fail-fast --lib model || status=$?
# The lower crates have assertions that are too dear for a release build. They are tested with them.
CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=true \
  cargo test --release --locked -p types -p binlog -p redo -p buffer -p btree --no-fail-fast --lib || status=$?

if [ -s "$SLIPSTREAM_SKIPPED" ]; then
  echo "These tests did not run:"
  sort -u "$SLIPSTREAM_SKIPPED"
else
  echo "No test was skipped."
fi
exit $status
