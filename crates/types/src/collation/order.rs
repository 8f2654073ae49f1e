//! How strings compare.

use super::chars::{from_utf8mb4, to_utf8mb4};
use super::charset::Charset;
use super::definition::{Collation, Weighing};
use super::ids::UTF8MB4_GENERAL_CI;
use super::lookup::of;
use super::padding::{SPACE, compare_padded};
use super::uca::padded_weights;
use super::{czech, general, multi, special, tailored, uca};
use std::cmp::Ordering;

/// Compares two strings stored in the collation's character set.
pub fn compare(id: u16, a: &[u8], b: &[u8]) -> Ordering {
    let collation = of(id);
    if collation.weighs_unicode_of_another_form() {
        return collation.compare(&to_utf8mb4(id, a), &to_utf8mb4(id, b));
    }
    collation.compare(a, b)
}

impl Collation {
    /// Compares two strings, which are UTF-8 if the collation weighs code points, and otherwise as
    /// they are stored.
    #[inline]
    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        match self.weighing {
            Weighing::Bytes => a.cmp(b),
            Weighing::Uca { levels } => uca::compare(a, b, levels),
            _ if a == b => Ordering::Equal,
            Weighing::CodePoints if !self.pads => a.cmp(b),
            Weighing::PaddedBytes | Weighing::CodePoints => {
                compare_padded(a.iter().copied(), b.iter().copied(), b' ')
            }
            Weighing::UcaPadded(version) => {
                self.order(padded_weights(version, a), padded_weights(version, b), uca::space(version))
            }
            Weighing::Tailored { language, levels } if self.pads => {
                tailored::compare_with_spaces(language, a, b, levels)
            }
            Weighing::Tailored { language, levels } => tailored::compare(language, a, b, levels),
            Weighing::General => self.order(general::weights(a), general::weights(b), SPACE),
            Weighing::GeneralVariant(which) => {
                self.order(general::variant_weights(which, a), general::variant_weights(which, b), SPACE)
            }
            Weighing::Single(table) => {
                let weigh = |bytes| general::single_weights(table, bytes);
                self.order(weigh(a), weigh(b), general::single_space(table))
            }
            Weighing::Multi(table) => {
                let weigh = |bytes| multi::weights(self.charset, table, bytes);
                self.order(weigh(a), weigh(b), SPACE)
            }
            Weighing::German2(table) => {
                self.order(special::german2(table, a), special::german2(table, b), SPACE)
            }
            Weighing::Czech(which) => czech::padded_weights(which, a).cmp(&czech::padded_weights(which, b)),
            Weighing::Thai => self.order(special::thai(a).into_iter(), special::thai(b).into_iter(), SPACE),
        }
    }

    #[inline]
    fn order(&self, a: impl Iterator<Item = u32>, b: impl Iterator<Item = u32>, space: u32) -> Ordering {
        if self.pads { compare_padded(a, b, space) } else { a.cmp(b) }
    }
}

/// Compares two utf8mb4 strings by a collation of any character set. If one of them has a character
/// that the character set does not have, they compare by `utf8mb4_general_ci`.
#[inline]
pub fn compare_utf8mb4(id: u16, a: &[u8], b: &[u8]) -> Ordering {
    let collation = of(id);
    if collation.weighs_utf8() {
        // The strings are weighed as they are. The weighing accepts bytes that are not UTF-8.
        return collation.compare(a, b);
    }
    match (from_utf8mb4(id, a), from_utf8mb4(id, b)) {
        (Some(a), Some(b)) => collation.compare(&a, &b),
        _ => compare(UTF8MB4_GENERAL_CI, a, b),
    }
}

/// Returns a number that orders strings as [`compare_utf8mb4`] does, as far as it goes: of two
/// strings with different numbers, the one with the smaller number is the smaller one. `None` means
/// that the collation has no such number.
#[inline]
pub fn order_prefix(id: u16, bytes: &[u8]) -> Option<u64> {
    let collation = of(id);
    if !matches!(collation.charset, Charset::Utf8mb4 | Charset::Binary) {
        return None;
    }
    match collation.weighing {
        Weighing::Bytes => Some(first_bytes(bytes, 0)),
        Weighing::PaddedBytes => Some(first_bytes(bytes, b' ')),
        Weighing::Uca { .. } => Some(uca::order_prefix(bytes)),
        _ => None,
    }
}

/// Returns the first eight bytes as a number, filled up with `pad`.
fn first_bytes(bytes: &[u8], pad: u8) -> u64 {
    let mut first = [pad; 8];
    let len = bytes.len().min(first.len());
    first[..len].copy_from_slice(&bytes[..len]);
    u64::from_be_bytes(first)
}
