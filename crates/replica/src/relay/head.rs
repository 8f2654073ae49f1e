//! What a relay log file begins with.

/// Server version in the format description of a relay log file.
const RELAY_LOG_VERSION: &str = concat!("8.4.0-slipstream-", env!("CARGO_PKG_VERSION"));

/// First bytes of a relay log file: the magic number and a format description event of ours.
pub(super) fn file_head() -> Vec<u8> {
    source::events::relay_file_head(RELAY_LOG_VERSION)
}
