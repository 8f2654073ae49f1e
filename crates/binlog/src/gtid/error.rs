//! The errors of reading GTIDs.

use std::fmt;

/// The reason why text or bytes are no GTID.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GtidError {
    /// The text does not have the form of a GTID. The field is the text.
    Malformed(String),
    /// The encoded bytes end or go wrong at this offset.
    Damaged {
        /// The offset in bytes from the start of what was decoded.
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
