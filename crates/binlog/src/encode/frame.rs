//! The parts that every event has: a header before its body, and a checksum after it.

use crate::checksum::{Checksum, crc32};
use crate::event::{EVENT_SIZE_OFFSET, HEADER_LEN, Header, LOG_POS_OFFSET};

/// The fields that the headers of events of one group share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventBase {
    /// The time as Unix seconds.
    pub timestamp: u32,
    /// The id of the server that wrote the events first.
    pub server_id: u32,
}

/// Appends a header without size and position, and returns where the event starts in the buffer.
#[inline]
pub fn begin_event(base: EventBase, event_type: u8, flags: u16, out: &mut Vec<u8>) -> usize {
    let start = out.len();
    let EventBase { timestamp, server_id } = base;
    Header { timestamp, event_type, server_id, event_size: 0, log_pos: 0, flags }.encode(out);
    debug_assert_eq!(out.len() - start, HEADER_LEN, "every header is as long");
    start
}

/// Fills in the size, `log_pos` and checksum of the event that starts at `start` and ends with the
/// buffer. `file_offset` is the offset in the binary log file at which the event starts. `None`
/// leaves `log_pos` 0.
#[inline]
pub fn finish_event(out: &mut Vec<u8>, start: usize, file_offset: Option<u64>, checksum: Checksum) {
    let size = out.len() - start + checksum.len_bytes();
    assert!(size >= HEADER_LEN && u32::try_from(size).is_ok(), "an event of {size} bytes");
    set_size_and_pos(out, start, size, file_offset.map_or(0, |offset| offset + size as u64));
    if checksum == Checksum::Crc32 {
        append_checksum(out, start);
    }
}

/// Appends the CRC-32 of everything from `start` on.
#[inline]
pub fn append_checksum(out: &mut Vec<u8>, start: usize) {
    debug_assert!(out.len() >= start + HEADER_LEN, "an event is whole but for its checksum");
    let crc = crc32(&out[start..]);
    out.extend_from_slice(&crc.to_le_bytes());
}

/// Fills in the size and `log_pos` of the event that starts at `start`.
#[inline]
pub(crate) fn set_size_and_pos(out: &mut [u8], start: usize, size: usize, log_pos: u64) {
    const { assert!(LOG_POS_OFFSET == EVENT_SIZE_OFFSET + 4, "the two fields are neighbours") };
    // `log_pos` has 32 bits. In a file of more than 4 GB it wraps, as in MySQL.
    let both = u64::from(size as u32) | log_pos << 32;
    let at = start + EVENT_SIZE_OFFSET;
    out[at..at + 8].copy_from_slice(&both.to_le_bytes());
}

pub(crate) fn set_u32(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
}
