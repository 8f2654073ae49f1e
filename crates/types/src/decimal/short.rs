//! Reads binary DECIMALs of at most eight bytes: what of their form depends on the column alone is
//! computed once.

use super::binary::{BYTES_OF_DIGITS, DIGITS_PER_GROUP, binary_len};
use super::number::Decimal;

/// The most groups of digits of a DECIMAL of eight bytes: two whole groups, and one with fewer
/// digits at each end.
const MOST_GROUPS: usize = 4;

/// A group of digits: the place of its lowest bit in the whole number, its bits, and one more than
/// the largest number that it may be.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    shift: u32,
    mask: u32,
    limit: u32,
}

/// How the numbers of a DECIMAL column of at most eight bytes are read.
#[derive(Clone, Copy, Debug)]
pub struct ShortForm {
    len: u8,
    scale: u8,
    count: u8,
    groups: [Group; MOST_GROUPS],
}

impl ShortForm {
    /// Returns how numbers of DECIMAL(precision, scale) are read. `None` means that they have more
    /// than eight bytes.
    pub fn of(precision: u8, scale: u8) -> Option<ShortForm> {
        let len = binary_len(precision, scale);
        if precision < scale || !(1..=8).contains(&len) {
            return None;
        }
        let (integer, fraction) = (u32::from(precision - scale), u32::from(scale));
        let whole = integer / DIGITS_PER_GROUP + fraction / DIGITS_PER_GROUP;
        let digits = std::iter::once(integer % DIGITS_PER_GROUP)
            .chain((0..whole).map(|_| DIGITS_PER_GROUP))
            .chain([fraction % DIGITS_PER_GROUP]);
        let mut form = ShortForm { len: len as u8, scale, count: 0, groups: Default::default() };
        let mut bits_left = 8 * len as u32;
        for digits in digits.filter(|digits| *digits > 0) {
            let bits = 8 * BYTES_OF_DIGITS[digits as usize] as u32;
            bits_left -= bits;
            form.groups[usize::from(form.count)] =
                Group { shift: bits_left, mask: u32::MAX >> (32 - bits), limit: 10u32.pow(digits) };
            form.count += 1;
        }
        assert_eq!(bits_left, 0, "the groups are all of DECIMAL({precision},{scale})");
        Some(form)
    }

    /// Returns the number of bytes of a number.
    #[inline]
    pub fn len(&self) -> usize {
        usize::from(self.len)
    }

    /// Reads a number from its bytes, of which there are as many as [`ShortForm::len`] says.
    /// Returns `None` if a group has more digits than it may.
    #[inline]
    pub fn read(&self, bytes: &[u8]) -> Option<Decimal> {
        debug_assert_eq!(bytes.len(), self.len(), "a number has a fixed length");
        let sign = 1u64 << (8 * u32::from(self.len) - 1);
        // The top bit is the inverted sign, and all bytes of a negative number are complemented.
        let (stored, mut number) = (crate::packed::big_endian(bytes) ^ sign, 0u64);
        let is_negative = stored & sign != 0;
        let digits = if is_negative { !stored } else { stored };
        for group in &self.groups[..usize::from(self.count)] {
            let value = (digits >> group.shift) as u32 & group.mask;
            if value >= group.limit {
                return None;
            }
            number = number * u64::from(group.limit) + u64::from(value);
        }
        Some(Decimal::of_digits(u128::from(number), self.scale, is_negative))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use os::random::{Rng, test_seed};

    #[test]
    fn short_numbers_are_read_as_any_are() {
        let mut rng = Rng::new(test_seed("decimal::short short_numbers"));
        let (mut refused, mut forms) = (0, 0);
        for precision in 1..=65 {
            for scale in 0..=precision.min(30) {
                let len = binary_len(precision, scale);
                let Some(form) = ShortForm::of(precision, scale) else {
                    assert!(len > 8, "DECIMAL({precision},{scale})");
                    continue;
                };
                assert_eq!(form.len(), len);
                forms += 1;
                for _ in 0..200 {
                    let number = Decimal::of_digits(
                        u128::from(rng.u64()) % 10u128.pow(u32::from(precision)),
                        scale,
                        rng.below(2) == 0,
                    );
                    let mut bytes = Vec::new();
                    number.write_binary(precision, scale, &mut bytes).unwrap();
                    assert_eq!(form.read(&bytes), Some(number), "{number} as ({precision},{scale})");
                    bytes.iter_mut().for_each(|byte| *byte = rng.u64() as u8);
                    let found = form.read(&bytes);
                    assert_eq!(found, Decimal::read_binary(&bytes, precision, scale));
                    refused += u32::from(found.is_none());
                }
            }
        }
        assert!(forms > 100 && refused > 1000, "{forms} forms, {refused} are no numbers");
    }
}
