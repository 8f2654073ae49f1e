//! The frame around a record's payload: 16 bytes in front of it, all integers little endian.
//!
//! | offset | bytes | what |
//! |---|---|---|
//! | 0 | 4 | payload length |
//! | 4 | 1 | kind |
//! | 5 | 1 | flags, 0 |
//! | 6 | 2 | how far before the record everything was durable when it was filled: 1 + the distance in units of 4096 bytes, rounded up; 0: not said |
//! | 8 | 4 | low half of the record's start LSN |
//! | 12 | 4 | CRC-32C of life seed (8 bytes), start LSN (8), frame bytes 0..12, payload |
//!
//! The start LSN in the checksum makes a remnant of an earlier lap of a recycled file invalid where
//! it lies now. The life seed, drawn anew whenever the log is opened for appending, does the same
//! to remnants of a tail that a crash cut off: see `docs/formats/redo.md`.
//!
//! What a record says of durability distinguishes a log that a crash cut off from one that is
//! damaged: if a record is unreadable and a later one says that it had been durable, the medium has
//! failed.

use crate::{Lsn, checksum};

/// The number of bytes in front of the payload. It is also the smallest distance between the starts
/// of two records, which the link table relies on.
pub(crate) const FRAME_BYTES: usize = 16;

/// The unit in bytes in which a frame gives the distance to the durable part.
const DURABLE_UNIT_BYTES: u64 = 4096;

/// A decoded frame, which has not been checked against its payload yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Frame {
    pub payload_bytes: u32,
    pub kind: u8,
    durable_units: u16,
    checksum: u32,
    unchecked: [u8; 12],
}

impl Frame {
    /// Returns the 16 bytes for a record of these parts at `start_lsn`, while everything before
    /// `durable_lsn` is durable.
    pub fn encode(
        seed: u64,
        (start_lsn, durable_lsn): (Lsn, Lsn),
        kind: u8,
        payload_bytes: u32,
        parts: &[&[u8]],
    ) -> [u8; FRAME_BYTES] {
        let mut bytes = [0; FRAME_BYTES];
        bytes[0..4].copy_from_slice(&payload_bytes.to_le_bytes());
        bytes[4] = kind;
        let distance = start_lsn.saturating_sub(durable_lsn).div_ceil(DURABLE_UNIT_BYTES);
        bytes[6..8].copy_from_slice(&u16::try_from(distance + 1).unwrap_or(0).to_le_bytes());
        bytes[8..12].copy_from_slice(&(start_lsn as u32).to_le_bytes());
        let mut checksum = checksum_of_frame(seed, start_lsn, &bytes[..12]);
        for part in parts {
            checksum = checksum::append(checksum, part);
        }
        bytes[12..16].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Returns the frame at `start_lsn`, or `None` when these bytes cannot be one whatever payload
    /// follows.
    pub fn decode(bytes: &[u8; FRAME_BYTES], start_lsn: Lsn) -> Option<Frame> {
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        // Kind 0 does not exist, so a stretch of zeros is no frame even where the LSN's low half is
        // 0.
        if bytes[5] != 0 || bytes[4] == 0 || word(8) != start_lsn as u32 {
            return None;
        }
        let mut unchecked = [0; 12];
        unchecked.copy_from_slice(&bytes[..12]);
        let durable_units = u16::from_le_bytes([bytes[6], bytes[7]]);
        Some(Frame { payload_bytes: word(0), kind: bytes[4], durable_units, checksum: word(12), unchecked })
    }

    /// Returns a position before which everything was durable when the record at `start_lsn` was
    /// filled. `None` means that the record does not say.
    pub fn durable_lsn(&self, start_lsn: Lsn) -> Option<Lsn> {
        let units = u64::from(self.durable_units).checked_sub(1)?;
        Some(start_lsn.saturating_sub(units * DURABLE_UNIT_BYTES))
    }

    /// Returns the length of frame and payload together, in bytes of the log.
    pub fn total_bytes(&self) -> u64 {
        FRAME_BYTES as u64 + u64::from(self.payload_bytes)
    }

    /// Reports whether the frame's checksum is right for this seed, position and payload.
    pub fn matches(&self, seed: u64, start_lsn: Lsn, payload: &[u8]) -> bool {
        let checksum = self.begin_check(seed, start_lsn);
        self.ends_check(checksum::append(checksum, payload))
    }

    /// Returns the checksum's state before the payload, for a payload that is checked piece by
    /// piece with [`checksum::append`].
    pub fn begin_check(&self, seed: u64, start_lsn: Lsn) -> u32 {
        checksum_of_frame(seed, start_lsn, &self.unchecked)
    }

    /// Reports whether the checksum's state after the whole payload is the right one.
    pub fn ends_check(&self, checksum: u32) -> bool {
        checksum == self.checksum
    }
}

fn checksum_of_frame(seed: u64, start_lsn: Lsn, frame: &[u8]) -> u32 {
    let mut bytes = [0; 28];
    bytes[0..8].copy_from_slice(&seed.to_le_bytes());
    bytes[8..16].copy_from_slice(&start_lsn.to_le_bytes());
    bytes[16..28].copy_from_slice(frame);
    checksum::append(0, &bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_valid_at_its_place_in_its_life_only() {
        let bytes = Frame::encode(7, (5000, 4000), 2, 5, &[b"he", b"llo"]);
        let frame = Frame::decode(&bytes, 5000).expect("well formed");
        assert_eq!((frame.payload_bytes, frame.kind, frame.total_bytes()), (5, 2, 21));
        assert!(frame.matches(7, 5000, b"hello"));
        assert!(!frame.matches(7, 5000, b"hellO"));
        assert!(!frame.matches(8, 5000, b"hello"), "another life");
        assert!(!frame.matches(7, 5000 + (1 << 32), b"hello"), "another lap");
        assert_eq!(frame.durable_lsn(5000), Some(5000 - 4096), "rounded to the safe side");
        assert_eq!(Frame::decode(&bytes, 5001), None);
        assert_eq!(Frame::decode(&[0; FRAME_BYTES], 0), None);
    }

    #[test]
    fn what_is_said_of_durability_is_never_too_much() {
        let said = |start: Lsn, durable: Lsn| {
            let bytes = Frame::encode(7, (start, durable), 2, 0, &[]);
            Frame::decode(&bytes, start).expect("well formed").durable_lsn(start)
        };
        assert_eq!(said(9000, 9000), Some(9000));
        assert_eq!(said(9000, 8999), Some(9000 - 4096));
        assert_eq!(said(100_000, 100_000 - 8192), Some(100_000 - 8192));
        assert_eq!(said(1 << 40, (1 << 40) - (65_534 << 12)), Some((1 << 40) - (65_534 << 12)));
        assert_eq!(said(1 << 40, (1 << 40) - (65_535 << 12)), None, "too far to be said");
    }
}
