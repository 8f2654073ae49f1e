//! Why something is no GTID.

use std::fmt;

/// Why text or bytes are no GTID.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GtidError {
    /// Not of the form that it should have; what was read.
    Malformed(String),
    /// Encoded bytes end or go wrong at this offset.
    Damaged {
        /// Offset in bytes from the start of what was decoded.
        offset: usize,
    },
}

impl fmt::Display for GtidError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GtidError::Malformed(text) => write!(out, "Malformed GTID specification '{text}'"),
            GtidError::Damaged { offset } => write!(out, "damaged GTID set at byte {offset}"),
        }
    }
}

impl std::error::Error for GtidError {}
