//! The CRC-32 of events that are short, as most events are.
//!
//! The arithmetic is that of carry-less multiplication ("Fast CRC Computation for Generic
//! Polynomials Using PCLMULQDQ Instruction", Intel 2009), with one stream of 16-byte blocks. Two
//! things make it short where a run of bytes is short. The bytes that fill no block are taken from
//! the front, where zeros before them change nothing, so that there is no rest to look at byte by
//! byte. And nothing is set up: the constants are computed when this is compiled.
//!
//! A number stands for a polynomial over two elements, "reflected" as in the checksum: the lowest
//! bit is the coefficient of the highest power.

use std::arch::x86_64::{
    __m128i, _mm_clmulepi64_si128, _mm_cvtsi128_si64, _mm_loadu_si128, _mm_set_epi64x, _mm_srli_si128,
    _mm_xor_si128,
};

/// The checksum's polynomial without its highest power, which is the 32nd.
const POLYNOMIAL: u32 = 0xedb8_8320;

/// The number of bytes in a block.
const BLOCK_BYTES: usize = 16;

/// The number of bytes up to which [`crc32`] is the shorter way. Behind it, an implementation that
/// multiplies several blocks at once is faster.
pub(super) const MOST_BYTES: usize = 256;

/// Returns x to the power of `power`, modulo the polynomial.
const fn power_of_x(power: u32) -> u32 {
    // The highest bit is the coefficient of x to the power of 0.
    let mut value = 1 << 31;
    let mut done = 0;
    while done < power {
        let has_highest = value & 1 == 1;
        value >>= 1;
        if has_highest {
            value ^= POLYNOMIAL;
        }
        done += 1;
    }
    value
}

/// Returns the factor that moves 64 bits by `bits` places, in the lower half of 64 bits. Standing
/// there multiplies it by x to the power of 32, because the lowest power is in the highest bit. It
/// is one place further up, because the product of two numbers of 64 bits has its lowest power in
/// bit 126, and 128 bits have it in bit 127.
const fn factor(bits: u32) -> i64 {
    (power_of_x(bits - 32) as i64) << 1
}

/// The factors for the lower half of a block, whose powers are higher, and for its upper half: both
/// move their half by a block.
const BY_A_BLOCK: (i64, i64) = (factor(128 + 64), factor(128));
/// The factor that moves the lower half of the last block onto its upper half.
const BY_HALF_A_BLOCK: i64 = factor(128);
/// The factor that moves the lowest 32 of 96 bits by 64 places.
const BY_TWO_WORDS: i64 = factor(96);

/// The polynomial with its highest power.
const WHOLE_POLYNOMIAL: i64 = (POLYNOMIAL as i64) << 1 | 1;
/// The quotient of x to the power of 64 and the polynomial, which divides without a division.
const QUOTIENT: i64 = quotient();

/// Divides x to the power of 64 by the polynomial.
const fn quotient() -> i64 {
    let polynomial = 1 << 32 | (POLYNOMIAL.reverse_bits() as u128);
    let mut rest = 1 << 64;
    let mut quotient = 0u64;
    let mut power = 64;
    while power >= 32 {
        if rest >> power & 1 == 1 {
            rest ^= polynomial << (power - 32);
            quotient |= 1 << (power - 32);
        }
        power -= 1;
    }
    // The quotient has 33 bits, which are reflected as the other numbers are.
    (quotient.reverse_bits() >> 31) as i64
}

/// Reports whether the processor has what [`crc32`] needs.
#[inline]
pub(super) fn is_supported() -> bool {
    std::arch::is_x86_feature_detected!("pclmulqdq")
}

/// Returns the CRC-32 of at least 16 bytes.
///
/// # Panics
/// Panics when there are fewer bytes.
#[target_feature(enable = "pclmulqdq")]
pub(super) fn crc32(bytes: &[u8]) -> u32 {
    // The checksum begins with ones, which is as if the first four bytes were the other way around.
    const BEGIN: u128 = 0xffff_ffff;
    let first = block(bytes) ^ BEGIN;
    let in_front = bytes.len() % BLOCK_BYTES;
    let (mut sum, mut rest) = if in_front == 0 {
        (vector(first), &bytes[BLOCK_BYTES..])
    } else {
        let (head, rest) = (first << (8 * (BLOCK_BYTES - in_front)), &bytes[in_front..]);
        // Fewer than four bytes in front leave a part of the ones to the block behind them.
        let second = block(rest) ^ BEGIN >> (8 * in_front);
        (fold(vector(head), vector(second)), &rest[BLOCK_BYTES..])
    };
    while let Some((next, behind)) = rest.split_first_chunk() {
        sum = fold(sum, loaded(next));
        rest = behind;
    }
    !reduce(sum)
}

/// Returns the block at the front of some bytes.
#[inline]
fn block(bytes: &[u8]) -> u128 {
    u128::from_le_bytes(*bytes.first_chunk().expect("a block has 16 bytes"))
}

#[inline]
#[target_feature(enable = "pclmulqdq")]
fn vector(block: u128) -> __m128i {
    _mm_set_epi64x((block >> 64) as i64, block as i64)
}

#[inline]
#[target_feature(enable = "pclmulqdq")]
fn loaded(block: &[u8; BLOCK_BYTES]) -> __m128i {
    // SAFETY: The pointer is that of 16 bytes, and need not be aligned.
    unsafe { _mm_loadu_si128(block.as_ptr().cast()) }
}

/// Moves a sum by a block and adds the block that follows.
#[inline]
#[target_feature(enable = "pclmulqdq")]
fn fold(sum: __m128i, next: __m128i) -> __m128i {
    let factors = _mm_set_epi64x(BY_A_BLOCK.1, BY_A_BLOCK.0);
    let low = _mm_clmulepi64_si128::<0x00>(sum, factors);
    let high = _mm_clmulepi64_si128::<0x11>(sum, factors);
    _mm_xor_si128(_mm_xor_si128(low, high), next)
}

/// Returns the remainder of a sum, moved by 32 places, and the polynomial.
#[inline]
#[target_feature(enable = "pclmulqdq")]
fn reduce(sum: __m128i) -> u32 {
    // 128 bits and 32 zeros become 96 bits, and these 64.
    let moved = _mm_clmulepi64_si128::<0x00>(sum, _mm_set_epi64x(0, BY_HALF_A_BLOCK));
    let bits_96 = _mm_xor_si128(moved, _mm_srli_si128::<8>(sum));
    let lowest = _mm_set_epi64x(0, _mm_cvtsi128_si64(bits_96) & 0xffff_ffff);
    let moved = _mm_clmulepi64_si128::<0x00>(lowest, _mm_set_epi64x(0, BY_TWO_WORDS));
    let bits_64 = _mm_xor_si128(moved, _mm_srli_si128::<4>(bits_96));
    // Barrett's reduction: the quotient is estimated, and its multiple of the polynomial taken off.
    let word = |bits: __m128i| _mm_set_epi64x(0, _mm_cvtsi128_si64(bits) & 0xffff_ffff);
    let estimate = _mm_clmulepi64_si128::<0x00>(word(bits_64), _mm_set_epi64x(0, QUOTIENT));
    let multiple = _mm_clmulepi64_si128::<0x00>(word(estimate), _mm_set_epi64x(0, WHOLE_POLYNOMIAL));
    (_mm_cvtsi128_si64(_mm_xor_si128(bits_64, multiple)) >> 32) as u32
}
