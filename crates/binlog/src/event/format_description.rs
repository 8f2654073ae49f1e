//! FORMAT_DESCRIPTION events, which describe the format of the events after them.

use super::HEADER_LEN;
use crate::checksum::{CRC32_LEN, Checksum};
use crate::cursor::{Cursor, DecodeError};

/// The lengths in bytes of the fixed parts of the event types 1 to 42, as MySQL 9.7 writes them,
/// with the version 1 row events of older servers.
pub const POST_HEADER_LENS: [u8; 42] = [
    0, 13, 0, 8, 0, 0, 0, 0, 4, 0, 4, 0, 0, 0, 99, 0, 4, 26, 8, 0, 0, 0, 8, 8, 8, 2, 0, 0, 0, 10, 10, 10, 42,
    42, 0, 18, 52, 0, 10, 40, 0, 0,
];

/// The lengths in bytes of the fixed parts of MariaDB's own event types, 160 to 171, as MariaDB
/// 10.11 writes them.
pub const MARIADB_POST_HEADER_LENS: [u8; 12] = [0, 4, 19, 4, 0, 13, 8, 8, 8, 10, 10, 10];

/// The length in bytes of the server version in the event, which is padded with zeros.
pub(crate) const SERVER_VERSION_LEN: usize = 50;

/// The format of the events of a file or stream, according to its FORMAT_DESCRIPTION event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Format {
    /// The checksum that events end in.
    pub checksum: Checksum,
    /// The length in bytes of the fixed part of each event type (index type - 1), as the event
    /// lists them.
    pub post_header_lens: Vec<u8>,
    /// The server's version, such as `8.0.40-log` or `10.11.6-MariaDB`.
    pub server_version: String,
}

impl Format {
    /// Returns the format of events as MySQL 5.6 and later write them. It is used before any
    /// FORMAT_DESCRIPTION event is seen.
    pub fn new(checksum: Checksum) -> Format {
        Format { checksum, post_header_lens: POST_HEADER_LENS.to_vec(), server_version: String::new() }
    }

    /// Reports whether a MariaDB server wrote the events.
    pub fn is_mariadb(&self) -> bool {
        self.server_version.contains("MariaDB")
    }

    /// Returns the length of an event type's fixed part. `None` if the writer does not know the
    /// type.
    pub fn post_header_len(&self, event_type: u8) -> Option<u8> {
        self.post_header_lens.get(usize::from(event_type).wrapping_sub(1)).copied()
    }
}

/// A FORMAT_DESCRIPTION event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormatDescription<'a> {
    /// The version of the binary log format, which is 4.
    pub binlog_version: u16,
    /// The server's version without the padding.
    pub server_version: &'a [u8],
    /// The Unix seconds of the server's start if that began this file, otherwise 0.
    pub created: u32,
    /// The length in bytes of the fixed part of each event type, from type 1 on.
    pub post_header_lens: &'a [u8],
    /// The checksum that the events of this file end in.
    pub checksum: Checksum,
}

impl FormatDescription<'_> {
    /// Returns the format of the events that follow.
    pub fn format(&self) -> Format {
        Format {
            checksum: self.checksum,
            post_header_lens: self.post_header_lens.to_vec(),
            server_version: String::from_utf8_lossy(self.server_version).into_owned(),
        }
    }
}

/// Reports whether the FORMAT_DESCRIPTION events of this version end in a checksum algorithm and a
/// checksum (since MySQL 5.6.1 and MariaDB 5.3).
fn is_checksum_aware(version: &[u8]) -> bool {
    let mut numbers = version
        .split(|byte| !byte.is_ascii_digit())
        .map(|part| part.iter().take(6).fold(0u32, |n, digit| n * 10 + u32::from(digit - b'0')));
    let parts = [numbers.next().unwrap_or(0), numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)];
    let first = if version.windows(7).any(|w| w == b"MariaDB") { [5, 3, 0] } else { [5, 6, 1] };
    parts >= first
}

/// Reads the event, which still has its checksum (if any).
pub(super) fn decode(event: &[u8]) -> Result<FormatDescription<'_>, DecodeError> {
    let mut cursor = Cursor::at(event, HEADER_LEN);
    let binlog_version = cursor.u16()?;
    if binlog_version != 4 {
        return Err(cursor.error("binary log version is not 4"));
    }
    let padded = cursor.take(SERVER_VERSION_LEN)?;
    let server_version = padded.split(|&byte| byte == 0).next().unwrap_or_default();
    let created = cursor.u32()?;
    if usize::from(cursor.u8()?) != HEADER_LEN {
        return Err(cursor.error("event headers are not 19 bytes"));
    }
    let (lens, checksum) = if is_checksum_aware(server_version) {
        let len = cursor.remaining().checked_sub(1 + CRC32_LEN).ok_or(cursor.error("event ends early"))?;
        let lens = cursor.take(len)?;
        let algorithm = cursor.u8()?;
        (lens, Checksum::from_u8(algorithm).ok_or(cursor.error("unknown checksum algorithm"))?)
    } else {
        (cursor.rest(), Checksum::None)
    };
    Ok(FormatDescription { binlog_version, server_version, created, post_header_lens: lens, checksum })
}
