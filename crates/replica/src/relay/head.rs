//! The head of a relay log file.

/// The server version in the format description of a relay log file.
const RELAY_LOG_VERSION: &str = concat!("8.4.0-slipstream-", env!("CARGO_PKG_VERSION"));

/// Returns the first bytes of a relay log file: the magic number and this server's format
/// description event.
pub(super) fn file_head() -> Vec<u8> {
    source::events::relay_file_head(RELAY_LOG_VERSION)
}
