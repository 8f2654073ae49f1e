//! The checksum at the end of an event.

use crate::DecodeError;

/// The checksum that the events of a file have (`binlog_checksum`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksum {
    /// The events have no checksum.
    None,
    /// CRC-32 (zlib's), in the last four bytes of each event.
    Crc32,
}

/// The number of bytes of a CRC-32 checksum.
pub const CRC32_LEN: usize = 4;

impl Checksum {
    /// Returns the algorithm with this number in a FORMAT_DESCRIPTION event.
    pub fn from_u8(algorithm: u8) -> Option<Checksum> {
        match algorithm {
            0 => Some(Checksum::None),
            1 => Some(Checksum::Crc32),
            _ => None,
        }
    }

    /// Returns the number of bytes that the checksum takes at the end of each event.
    pub fn len_bytes(self) -> usize {
        match self {
            Checksum::None => 0,
            Checksum::Crc32 => CRC32_LEN,
        }
    }
}

/// Returns the CRC-32 of some bytes.
pub fn crc32(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}

/// Checks the CRC-32 at the end of an event. `event` is exactly the event.
pub fn verify_checksum(event: &[u8]) -> Result<(), DecodeError> {
    let (body, stored) = event
        .split_last_chunk::<CRC32_LEN>()
        .ok_or(DecodeError { offset: 0, what: "event too short for a checksum" })?;
    if crc32(body) == u32::from_le_bytes(*stored) {
        Ok(())
    } else {
        Err(DecodeError { offset: body.len(), what: "event checksum does not match" })
    }
}
