//! The digits of base64, by fours.

/// The digits by their values.
pub(crate) const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Appends the bytes of four digits, of which the last two may be padding. Returns the number of
/// digits that are padding, or `None` for what is not base64.
pub(crate) fn decode_four(four: [u8; 4], out: &mut Vec<u8>) -> Option<usize> {
    let padding = four.iter().rev().take_while(|digit| **digit == b'=').count();
    if padding > 2 {
        return None;
    }
    let mut bits = 0u32;
    for digit in &four[..4 - padding] {
        bits = bits << 6 | value_of(*digit)?;
    }
    bits <<= 6 * padding;
    out.extend_from_slice(&bits.to_be_bytes()[1..4 - padding]);
    Some(padding)
}

fn value_of(digit: u8) -> Option<u32> {
    let value = match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    };
    Some(value.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_digit_has_its_value() {
        for (value, digit) in (0..).zip(DIGITS) {
            assert_eq!(value_of(*digit), Some(value));
        }
        assert_eq!([b'=', b'-', b' '].map(value_of), [None; 3]);
    }

    #[test]
    fn four_digits_are_up_to_three_bytes() {
        let decoded = |four: &[u8; 4]| {
            let mut out = Vec::new();
            decode_four(*four, &mut out).map(|padding| (padding, out))
        };
        assert_eq!(decoded(b"QUJD"), Some((0, b"ABC".to_vec())));
        assert_eq!(decoded(b"QUI="), Some((1, b"AB".to_vec())));
        assert_eq!(decoded(b"QQ=="), Some((2, b"A".to_vec())));
        for wrong in [b"A===", b"====", b"Q=Q=", b"!!!!"] {
            assert_eq!(decoded(wrong), None, "{wrong:?}");
        }
    }
}
