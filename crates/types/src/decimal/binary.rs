//! MySQL's binary DECIMAL (`decimal2bin`). Each side of the point consists of groups of nine digits
//! as big-endian integers, with the remaining digits at the outer ends in fewer bytes. The top bit
//! is the inverted sign, and negative numbers are complemented. The bytes compare by memcmp as the
//! numbers do.

use super::number::{Decimal, MAX_DIGITS};

pub(super) const DIGITS_PER_GROUP: u32 = 9;
/// The number of bytes that hold 0 to 9 decimal digits.
pub(super) const BYTES_OF_DIGITS: [usize; 10] = [0, 1, 1, 2, 2, 3, 3, 4, 4, 4];
/// The most bytes of a binary DECIMAL. 65 digits with 36 before and 29 after the point are the
/// longest.
const MAX_BINARY_LEN: usize = 32;
/// The most digits of which every number fits into 64 bits.
const MOST_DIGITS_OF_U64: u8 = 19;

/// Returns the number of bytes of DECIMAL(precision, scale) in a row image.
pub fn binary_len(precision: u8, scale: u8) -> usize {
    let (integer, fraction) = (u32::from(precision - scale.min(precision)), u32::from(scale));
    let side = |digits: u32| {
        4 * (digits / DIGITS_PER_GROUP) as usize + BYTES_OF_DIGITS[(digits % DIGITS_PER_GROUP) as usize]
    };
    side(integer) + side(fraction)
}

/// The error for a decimal that its DECIMAL(precision, scale) column cannot hold. The caller should
/// have checked and adjusted the number before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DoesNotFit;

impl Decimal {
    /// Appends the number as DECIMAL(precision, scale), rounded to the scale.
    pub fn write_binary(&self, precision: u8, scale: u8, out: &mut Vec<u8>) -> Result<(), DoesNotFit> {
        let rounded = self.round(i32::from(scale));
        let integer_digits = u32::from(precision - scale);
        let mut digits = [0u8; MAX_DIGITS + 12];
        let count = rounded.digits(&mut digits);
        let digits = &digits[digits.len() - count..];
        let (whole, fraction) = digits.split_at(count - usize::from(rounded.scale()));
        let whole = &whole[whole.iter().take_while(|&&d| d == 0).count()..];
        if whole.len() > integer_digits as usize {
            return Err(DoesNotFit);
        }
        let start = out.len();
        push_integer_part(whole, integer_digits, out);
        push_fraction(fraction, u32::from(scale), out);
        if rounded.is_negative() && !rounded.is_zero() {
            out[start..].iter_mut().for_each(|byte| *byte = !*byte);
        }
        out[start] ^= 0x80;
        Ok(())
    }

    /// Reads DECIMAL(precision, scale) from exactly [`binary_len`] bytes. Returns `None` if a group
    /// has more digits than it may, or if the length is wrong.
    pub fn read_binary(bytes: &[u8], precision: u8, scale: u8) -> Option<Decimal> {
        let len = binary_len(precision, scale);
        if bytes.len() != len || len == 0 || len > MAX_BINARY_LEN {
            return None;
        }
        let negative = bytes[0] & 0x80 == 0;
        if precision <= MOST_DIGITS_OF_U64 {
            return read_short(bytes, (precision, scale), negative);
        }
        let mut raw = [0u8; MAX_BINARY_LEN];
        raw[..len].copy_from_slice(bytes);
        raw[0] ^= 0x80;
        if negative {
            raw[..len].iter_mut().for_each(|byte| *byte = !*byte);
        }
        let mut rest = &raw[..len];
        let mut number = Decimal::zero(scale);
        let integer_digits = u32::from(precision - scale);
        let mut group = |digits: u32| -> Option<()> {
            let (head, tail) = rest.split_at(BYTES_OF_DIGITS[digits as usize]);
            rest = tail;
            let value = head.iter().fold(0u64, |value, &byte| value << 8 | u64::from(byte));
            (value < 10u64.pow(digits)).then_some(())?;
            number.append_digits(digits, value)
        };
        if !integer_digits.is_multiple_of(DIGITS_PER_GROUP) {
            group(integer_digits % DIGITS_PER_GROUP)?;
        }
        for _ in 0..integer_digits / DIGITS_PER_GROUP + u32::from(scale) / DIGITS_PER_GROUP {
            group(DIGITS_PER_GROUP)?;
        }
        if !u32::from(scale).is_multiple_of(DIGITS_PER_GROUP) {
            group(u32::from(scale) % DIGITS_PER_GROUP)?;
        }
        number.set_negative(negative);
        Some(number)
    }
}

/// Reads a number of at most [`MOST_DIGITS_OF_U64`] digits.
fn read_short(bytes: &[u8], (precision, scale): (u8, u8), negative: bool) -> Option<Decimal> {
    let (mut rest, mut number) = (bytes, 0u64);
    // The first byte's top bit is the inverted sign, and all bytes of a negative number are
    // complemented.
    let (mut sign, complement) = (0x80u8, if negative { 0xff } else { 0 });
    let mut group = |digits: u32| -> Option<()> {
        let (head, tail) = rest.split_at(BYTES_OF_DIGITS[digits as usize]);
        rest = tail;
        let mut value = 0;
        for byte in head {
            value = value << 8 | u64::from(byte ^ std::mem::take(&mut sign) ^ complement);
        }
        let limit = 10u64.pow(digits);
        number = number * limit + value;
        (value < limit).then_some(())
    };
    let (integer, fraction) = (u32::from(precision - scale), u32::from(scale));
    group(integer % DIGITS_PER_GROUP)?;
    for _ in 0..integer / DIGITS_PER_GROUP + fraction / DIGITS_PER_GROUP {
        group(DIGITS_PER_GROUP)?;
    }
    group(fraction % DIGITS_PER_GROUP)?;
    Some(Decimal::of_digits(u128::from(number), scale, negative))
}

fn push_group(digits: &[u8], width: u32, out: &mut Vec<u8>) {
    let mut value = digits.iter().fold(0u32, |value, &digit| value * 10 + u32::from(digit));
    for _ in digits.len()..width as usize {
        value *= 10;
    }
    let bytes = BYTES_OF_DIGITS[width as usize];
    out.extend_from_slice(&value.to_be_bytes()[4 - bytes..]);
}

/// Appends the integer part. `whole` has no leading zeros and at most `width` digits.
fn push_integer_part(whole: &[u8], width: u32, out: &mut Vec<u8>) {
    let mut padded = [0u8; MAX_DIGITS];
    let padded = &mut padded[..width as usize];
    padded[width as usize - whole.len()..].copy_from_slice(whole);
    let (odd, groups) = padded.split_at((width % DIGITS_PER_GROUP) as usize);
    if !odd.is_empty() {
        push_group(odd, odd.len() as u32, out);
    }
    for group in groups.chunks(DIGITS_PER_GROUP as usize) {
        push_group(group, DIGITS_PER_GROUP, out);
    }
}

fn push_fraction(fraction: &[u8], scale: u32, out: &mut Vec<u8>) {
    let mut padded = [0u8; MAX_DIGITS];
    padded[..fraction.len()].copy_from_slice(fraction);
    for group in padded[..scale as usize].chunks(DIGITS_PER_GROUP as usize) {
        push_group(group, group.len() as u32, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pack(text: &str, precision: u8, scale: u8) -> Vec<u8> {
        let mut out = Vec::new();
        text.parse::<Decimal>().unwrap().write_binary(precision, scale, &mut out).unwrap();
        out
    }

    #[test]
    fn manual_example() {
        // This is the example in MySQL's decimal.cc: 1234567890.1234 as DECIMAL(14,4).
        assert_eq!(pack("1234567890.1234", 14, 4), [0x81, 0x0d, 0xfb, 0x38, 0xd2, 0x04, 0xd2]);
        assert_eq!(pack("-1234567890.1234", 14, 4), [0x7e, 0xf2, 0x04, 0xc7, 0x2d, 0xfb, 0x2d]);
    }

    #[test]
    fn short_and_long_columns_read_the_same_numbers() {
        for text in
            ["0", "-0.0001", "0.0001", "123456789.1234", "-999999999999999.9999", "999999999999999.9999"]
        {
            for precision in 19..=23 {
                let read = Decimal::read_binary(&pack(text, precision, 4), precision, 4).unwrap();
                assert_eq!(
                    read.to_string(),
                    text.parse::<Decimal>().unwrap().with_scale(4).unwrap().to_string()
                );
            }
        }
        // A group of nine digits has more of them, or its first byte has.
        for (bytes, precision) in
            [(&[0xff, 0xff, 0xff, 0xff][..], 9), (&[0xff][..], 2), (&[0x80, 0xff][..], 4)]
        {
            assert!(
                Decimal::read_binary(bytes, precision, 0).is_some() == (bytes == [0x80, 0xff]),
                "{bytes:x?}"
            );
        }
        // MySQL takes the bytes of minus zero for zero.
        let minus_zero = Decimal::read_binary(&[0x7f], 2, 0).unwrap();
        assert!(minus_zero.is_zero() && !minus_zero.is_negative());
    }

    #[test]
    fn round_trip_and_order() {
        let texts = ["-99999.99", "-1.50", "-0.01", "0.00", "0.01", "1.00", "12.30", "99999.99"];
        let packed: Vec<Vec<u8>> = texts.iter().map(|t| pack(t, 7, 2)).collect();
        assert!(packed.is_sorted());
        for (text, bytes) in texts.iter().zip(&packed) {
            assert_eq!(bytes.len(), binary_len(7, 2));
            assert_eq!(Decimal::read_binary(bytes, 7, 2).unwrap().to_string(), *text);
        }
        let long = format!("-{}.{}", "9".repeat(35), "9".repeat(30));
        assert_eq!(Decimal::read_binary(&pack(&long, 65, 30), 65, 30).unwrap().to_string(), long);
        assert!(Decimal::read_binary(&[0xff; 4], 9, 0).is_none());
        let mut out = Vec::new();
        assert_eq!("100".parse::<Decimal>().unwrap().write_binary(3, 1, &mut out), Err(DoesNotFit));
    }
}
