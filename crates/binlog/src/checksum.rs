//! The checksum at the end of an event.

#[cfg(target_arch = "x86_64")]
mod short;

use crate::DecodeError;
use crate::event::HEADER_LEN;

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
#[inline]
pub fn crc32(bytes: &[u8]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if (HEADER_LEN..=short::MOST_BYTES).contains(&bytes.len()) && short::is_supported() {
        // SAFETY: The processor has the instructions that the function was compiled for, as
        // `is_supported` has just said. It asks for nothing else.
        return unsafe { short::crc32(bytes) };
    }
    crc32fast::hash(bytes)
}

/// Checks the CRC-32 at the end of an event. `event` is exactly the event.
#[inline]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_any_length_have_the_checksum_of_zlib() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc32(&[0xff; 32]), 0xff6c_ab0b);
        let bytes: Vec<u8> = (0..700u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        for len in 0..600 {
            for start in [0, 1, 7, 64] {
                let part = &bytes[start..start + len];
                assert_eq!(crc32(part), crc32fast::hash(part), "{len} bytes from {start}");
            }
            let zeros = vec![0; len];
            assert_eq!(crc32(&zeros), crc32fast::hash(&zeros), "{len} zeros");
        }
    }

    #[test]
    fn any_changed_bit_is_noticed() {
        for len in [19, 31, 48, 160, 300] {
            let mut event: Vec<u8> = (0..len).map(|at| (at * 7) as u8).collect();
            event.extend_from_slice(&crc32(&event).to_le_bytes());
            assert_eq!(verify_checksum(&event), Ok(()));
            for bit in 0..event.len() * 8 {
                event[bit / 8] ^= 1 << (bit % 8);
                assert!(verify_checksum(&event).is_err(), "bit {bit} of {len} bytes");
                event[bit / 8] ^= 1 << (bit % 8);
            }
        }
    }
}
