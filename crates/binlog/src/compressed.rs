//! Compressed events: MySQL's TRANSACTION_PAYLOAD (zstd, `binlog_transaction_compression`), written
//! and read, and MariaDB's compressed query and row events (zlib, `log_bin_compress`), which are
//! decompressed. Also the values of MariaDB's COMPRESSED columns.
//!
//! Memory is taken only for bytes that are really there: a length that an event claims is compared
//! with the decompressed bytes, and memory is never reserved for it.

use std::io::{self, Read};

use crate::checksum::Checksum;
use crate::cursor::{Cursor, DecodeError};
use crate::encode::{EventBase, finish_event, transaction_payload};
use crate::event::{
    COMPRESSION_NONE, COMPRESSION_ZSTD, EVENT_SIZE_OFFSET, HEADER_LEN, Header, LOG_POS_OFFSET, TYPE_OFFSET,
    TransactionPayload, event_type,
};

/// The most bytes of an event (the largest value of `replica_max_allowed_packet`).
const LONGEST_EVENT_BYTES: usize = 1 << 30;
/// The number of zlib in MariaDB's compressed events.
const MARIADB_ZLIB: u8 = 0;

/// Reports whether events of this type are compressed ones of MariaDB.
#[inline]
pub fn is_mariadb_compressed(kind: u8) -> bool {
    (event_type::MARIADB_QUERY_COMPRESSED..=event_type::MARIADB_DELETE_ROWS_COMPRESSED).contains(&kind)
}

/// Returns the type of the decompressed event.
fn plain_type(kind: u8) -> Option<u8> {
    use event_type::*;
    Some(match kind {
        MARIADB_QUERY_COMPRESSED => QUERY,
        MARIADB_WRITE_ROWS_COMPRESSED_V1 => WRITE_ROWS_V1,
        MARIADB_UPDATE_ROWS_COMPRESSED_V1 => UPDATE_ROWS_V1,
        MARIADB_DELETE_ROWS_COMPRESSED_V1 => DELETE_ROWS_V1,
        MARIADB_WRITE_ROWS_COMPRESSED => WRITE_ROWS,
        MARIADB_UPDATE_ROWS_COMPRESSED => UPDATE_ROWS,
        MARIADB_DELETE_ROWS_COMPRESSED => DELETE_ROWS,
        _ => return None,
    })
}

/// Appends the plain event that one of MariaDB's compressed events (without its checksum) stands
/// for. `log_pos` stays the same.
pub fn expand_mariadb(event: &[u8], out: &mut Vec<u8>) -> Result<(), DecodeError> {
    let kind = event.get(TYPE_OFFSET).and_then(|kind| plain_type(*kind));
    let kind = kind.ok_or(DecodeError { offset: TYPE_OFFSET, what: "no compressed event" })?;
    let mut cursor = Cursor::at(event, HEADER_LEN);
    match kind {
        event_type::QUERY => skip_to_statement(&mut cursor)?,
        _ => skip_to_rows(&mut cursor, kind)?,
    }
    let plain_len = cursor.offset();
    let start = out.len();
    out.extend_from_slice(event.get(..plain_len).unwrap_or_default());
    out[start + TYPE_OFFSET] = kind;
    inflate(&mut cursor, out)?;
    if out.len() - start > LONGEST_EVENT_BYTES {
        return Err(DecodeError { offset: plain_len, what: "compressed event of over 1 GB" });
    }
    finish_event(out, start, None, Checksum::None);
    out[start + LOG_POS_OFFSET..start + LOG_POS_OFFSET + 4]
        .copy_from_slice(&event[LOG_POS_OFFSET..LOG_POS_OFFSET + 4]);
    Ok(())
}

fn skip_to_statement(cursor: &mut Cursor<'_>) -> Result<(), DecodeError> {
    cursor.take(8)?;
    let schema_len = usize::from(cursor.u8()?);
    cursor.u16()?;
    let status_len = usize::from(cursor.u16()?);
    cursor.take(status_len + schema_len + 1)?;
    Ok(())
}

fn skip_to_rows(cursor: &mut Cursor<'_>, kind: u8) -> Result<(), DecodeError> {
    use event_type::{DELETE_ROWS, UPDATE_ROWS, UPDATE_ROWS_V1, WRITE_ROWS};
    cursor.take(8)?;
    if (WRITE_ROWS..=DELETE_ROWS).contains(&kind) {
        let len = usize::from(cursor.u16()?);
        cursor.take(len.checked_sub(2).ok_or(cursor.error("extra data length below 2"))?)?;
    }
    let columns = cursor.packed_int()?;
    if columns > 4096 {
        return Err(cursor.error("table has over 4096 columns"));
    }
    let bitmaps = if matches!(kind, UPDATE_ROWS | UPDATE_ROWS_V1) { 2 } else { 1 };
    cursor.take(bitmaps * (columns as usize).div_ceil(8))?;
    Ok(())
}

/// Decompresses MariaDB's compressed bytes: a byte of flags (the number of bytes of the length in
/// the low 3 bits, the algorithm in bits 4 to 6), the decompressed length with the highest byte
/// first, and zlib's stream.
fn inflate(cursor: &mut Cursor<'_>, out: &mut Vec<u8>) -> Result<(), DecodeError> {
    let flags = cursor.u8()?;
    let len_bytes = usize::from(flags & 0x07);
    if !(1..=4).contains(&len_bytes) || (flags >> 4) & 0x07 != MARIADB_ZLIB {
        return Err(cursor.error("unknown compression of an event"));
    }
    let len = cursor.take(len_bytes)?.iter().fold(0, |len, byte| len << 8 | u64::from(*byte));
    let damaged = cursor.error("compressed event does not decompress");
    let start = out.len();
    let stream = flate2::read::ZlibDecoder::new(cursor.rest());
    stream.take(len + 1).read_to_end(out).map_err(|_| damaged)?;
    if (out.len() - start) as u64 != len {
        return Err(DecodeError { what: "compressed event has not the length that it says", ..damaged });
    }
    Ok(())
}

/// Appends the decompressed value of one of MariaDB's COMPRESSED columns. The high half of its
/// first byte is the algorithm (0: none, 8: zlib). Bit 3 says that the stream is without zlib's own
/// header, and the low 3 bits say how many bytes of the plain length follow, the highest first. An
/// empty value is empty. `error.offset` is an offset within the value.
pub fn expand_mariadb_value(value: &[u8], out: &mut Vec<u8>) -> Result<(), DecodeError> {
    const ZLIB: u8 = 8;
    let mut cursor = Cursor::at(value, 0);
    if value.is_empty() {
        return Ok(());
    }
    let first = cursor.u8()?;
    let (algorithm, is_bare, len_bytes) = (first >> 4, first & 8 != 0, usize::from(first & 7));
    match algorithm {
        0 => out.extend_from_slice(cursor.rest()),
        ZLIB => {
            let len = cursor.take(len_bytes)?.iter().fold(0, |len, byte| len << 8 | u64::from(*byte));
            let damaged = cursor.error("compressed value does not decompress");
            let start = out.len();
            let stream = cursor.rest();
            let read = match is_bare {
                true => flate2::read::DeflateDecoder::new(stream).take(len + 1).read_to_end(out),
                false => flate2::read::ZlibDecoder::new(stream).take(len + 1).read_to_end(out),
            };
            read.map_err(|_| damaged)?;
            if (out.len() - start) as u64 != len {
                return Err(DecodeError {
                    what: "compressed value has not the length that it says",
                    ..damaged
                });
            }
        }
        _ => return Err(cursor.error("unknown compression of a value")),
    }
    Ok(())
}

/// Makes TRANSACTION_PAYLOAD events. The same events at the same level give the same bytes.
pub struct PayloadWriter {
    level: u8,
    compressor: zstd::bulk::Compressor<'static>,
    payload: Vec<u8>,
}

impl PayloadWriter {
    /// Makes a writer with this level of zstd (`binlog_transaction_compression_level_zstd`).
    ///
    /// # Errors
    /// Returns an error when there is not enough memory.
    pub fn new(level: u8) -> io::Result<PayloadWriter> {
        let compressor = zstd::bulk::Compressor::new(i32::from(level))?;
        Ok(PayloadWriter { level, compressor, payload: Vec::new() })
    }

    /// Returns the level of zstd.
    pub fn level(&self) -> u8 {
        self.level
    }

    /// Appends the event of a group ([`crate::group`]), without position and checksum. It has the
    /// timestamp and server id of the group's first event.
    ///
    /// # Errors
    /// Returns an error when the group is damaged, or when there is not enough memory to compress
    /// it.
    pub fn append(&mut self, group: &[u8], out: &mut Vec<u8>) -> Result<(), DecodeError> {
        let first = Header::decode(group)?;
        self.payload.clear();
        self.payload.reserve(zstd::zstd_safe::compress_bound(group.len()));
        let compressed = self.compressor.compress_to_buffer(group, &mut self.payload);
        compressed.map_err(|_| DecodeError { offset: 0, what: "the events cannot be compressed" })?;
        let base = EventBase { timestamp: first.timestamp, server_id: first.server_id };
        let start = transaction_payload(base, group.len() as u64, &self.payload, out);
        finish_event(out, start, None, Checksum::None);
        Ok(())
    }
}

/// Reads the events of a TRANSACTION_PAYLOAD, which are decompressed one after the other.
pub struct PayloadReader<'a> {
    stream: Box<dyn Read + 'a>,
    /// The number of decompressed bytes that are still to come.
    left: u64,
    event: Vec<u8>,
}

impl<'a> PayloadReader<'a> {
    /// Makes a reader that begins with the first event.
    pub fn new(payload: &TransactionPayload<'a>) -> Result<PayloadReader<'a>, DecodeError> {
        let stream: Box<dyn Read + 'a> = match payload.compression {
            COMPRESSION_NONE => Box::new(payload.payload),
            COMPRESSION_ZSTD => {
                Box::new(zstd::stream::read::Decoder::with_buffer(payload.payload).map_err(|_| damaged(0))?)
            }
            _ => return Err(DecodeError { offset: 0, what: "unknown compression of a transaction payload" }),
        };
        Ok(PayloadReader { stream, left: payload.uncompressed_len, event: Vec::new() })
    }

    /// Returns the next event, which has no checksum. `None` after the last event.
    pub fn next_event(&mut self) -> Result<Option<&[u8]>, DecodeError> {
        self.event.clear();
        if self.left == 0 {
            return match self.fill(1)? {
                0 => Ok(None),
                _ => Err(DecodeError { offset: 0, what: "transaction payload is longer than it says" }),
            };
        }
        if self.fill(HEADER_LEN)? < HEADER_LEN {
            return Err(damaged(self.event.len()));
        }
        let size = declared_size(&self.event).ok_or(damaged(EVENT_SIZE_OFFSET))?;
        if size > LONGEST_EVENT_BYTES || size as u64 > self.left || self.fill(size)? < size {
            return Err(damaged(self.event.len()));
        }
        self.left -= size as u64;
        Ok(Some(&self.event))
    }

    /// Reads until the event has `bytes` bytes, or until nothing more comes. Returns how many bytes
    /// it has.
    fn fill(&mut self, bytes: usize) -> Result<usize, DecodeError> {
        let missing = bytes.saturating_sub(self.event.len()) as u64;
        let read: io::Result<usize> = self.stream.by_ref().take(missing).read_to_end(&mut self.event);
        read.map_err(|_| damaged(self.event.len()))?;
        Ok(self.event.len())
    }
}

/// Returns the size in an event's header, if it is a possible one.
fn declared_size(header: &[u8]) -> Option<usize> {
    let size = header.get(EVENT_SIZE_OFFSET..)?.first_chunk::<4>()?;
    Some(u32::from_le_bytes(*size) as usize).filter(|&size| size >= HEADER_LEN)
}

#[cold]
fn damaged(offset: usize) -> DecodeError {
    DecodeError { offset, what: "transaction payload does not decompress to events" }
}
