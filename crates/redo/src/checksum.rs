//! CRC-32C of the frames and payloads of records, most of which are short.
//!
//! Processors with SSE 4.2 have an instruction for eight bytes of it. Each needs the result of the
//! one before, so that long runs of bytes are faster in several streams, which the library has. For
//! short runs its preparations take longer than the bytes do.

/// The number of bytes from which several streams are faster than one.
#[cfg(target_arch = "x86_64")]
const LONG_BYTES: usize = 1024;

/// Returns the CRC-32C of the bytes that `checksum` is of with `bytes` behind them. 0 is the
/// checksum of no bytes.
#[inline]
pub(crate) fn append(checksum: u32, bytes: &[u8]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    if bytes.len() < LONG_BYTES && std::arch::is_x86_feature_detected!("sse4.2") {
        // SAFETY: The processor has the instructions that the function was compiled for, as was
        // just asked. It asks for nothing else.
        return unsafe { append_short(checksum, bytes) };
    }
    crc32c::crc32c_append(checksum, bytes)
}

/// Does what [`append`] does, in one stream.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "sse4.2")]
fn append_short(checksum: u32, bytes: &[u8]) -> u32 {
    use std::arch::x86_64::{_mm_crc32_u8, _mm_crc32_u16, _mm_crc32_u32, _mm_crc32_u64};
    // The state is the checksum with all bits turned around.
    let mut state = u64::from(!checksum);
    let (blocks, rest) = bytes.as_chunks::<32>();
    for block in blocks {
        for word in block.as_chunks::<8>().0 {
            state = _mm_crc32_u64(state, u64::from_le_bytes(*word));
        }
    }
    let (words, mut rest) = rest.as_chunks::<8>();
    for word in words {
        state = _mm_crc32_u64(state, u64::from_le_bytes(*word));
    }
    let mut state = state as u32;
    if let Some((part, behind)) = rest.split_first_chunk() {
        (state, rest) = (_mm_crc32_u32(state, u32::from_le_bytes(*part)), behind);
    }
    if let Some((part, behind)) = rest.split_first_chunk() {
        (state, rest) = (_mm_crc32_u16(state, u16::from_le_bytes(*part)), behind);
    }
    if let [byte] = rest {
        state = _mm_crc32_u8(state, *byte);
    }
    !state
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_any_length_have_the_checksum_of_the_library() {
        assert_eq!(append(0, b"123456789"), 0xe306_9283);
        assert_eq!(append(append(0, b"1234"), b"56789"), 0xe306_9283);
        let bytes: Vec<u8> = (0..2100u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        for len in (0..400).chain(1020..1030).chain(2000..2010) {
            for start in [0, 1, 5, 64] {
                let part = &bytes[start..start + len];
                for before in [0, 1, 0xdead_beef, u32::MAX] {
                    let expected = crc32c::crc32c_append(before, part);
                    assert_eq!(append(before, part), expected, "{len} bytes from {start} behind {before:x}");
                }
            }
        }
    }
}
