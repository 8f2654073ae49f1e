//! The conversion of numbers to text and back, as MySQL writes and reads them.

/// Appends a signed integer.
pub fn write_i64(value: i64, out: &mut Vec<u8>) {
    if value < 0 {
        out.push(b'-');
    }
    write_u64(value.unsigned_abs(), out);
}

/// Appends an unsigned integer.
pub fn write_u64(mut value: u64, out: &mut Vec<u8>) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// Appends a DOUBLE as MySQL's `my_gcvt` does: with the shortest digits that read back as the same
/// number, in exponent form below 1e-15, and from 1e15 on if no digit is after the point. Of two
/// texts that are equally near, it is the one whose last digit is even.
pub fn write_f64(value: f64, out: &mut Vec<u8>) {
    const LEAST_OF_16_DIGITS: f64 = 1e15;
    write_shortest(&format!("{value:e}"), out);
    // Only 16 digits and a quarter are half-way between two texts that both read back. Rust rounds
    // them up.
    if value.abs() > LEAST_OF_16_DIGITS && value.fract().abs() == 0.25 && out.last() == Some(&b'3') {
        out.pop();
        out.push(b'2');
    }
}

/// Appends a DOUBLE in at most `width` characters, as a short character column stores it, by giving
/// up digits after the point, or after the first digit in exponent form. If even that is too long,
/// the text is longer.
pub fn write_f64_within(value: f64, width: usize, out: &mut Vec<u8>) {
    let start = out.len();
    write_f64(value, out);
    if out.len() - start <= width {
        return;
    }
    out.truncate(start);
    if has_room_for_point_form(value, width) {
        let whole_len = format!("{:.0}", value.trunc()).len();
        let digits = width.saturating_sub(whole_len + 1);
        let text = format!("{value:.digits$}");
        let text = if digits > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
        let text = if text == "-0" { "0" } else { text };
        // Rounding may have made the number longer.
        if text.len() <= width {
            out.extend_from_slice(text.as_bytes());
            return;
        }
    }
    let mut digits = width;
    loop {
        let text = format!("{value:.digits$e}");
        if text.len() <= width || digits == 0 {
            let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            let mantissa =
                if digits > 0 { mantissa.trim_end_matches('0').trim_end_matches('.') } else { mantissa };
            out.extend_from_slice(format!("{mantissa}e{exponent}").as_bytes());
            return;
        }
        digits -= 1;
    }
}

/// Reports whether a number that has to be shortened to `width` characters is written without an
/// exponent: it is in the range of such numbers, and an exponent would leave no more of its digits.
fn has_room_for_point_form(value: f64, width: usize) -> bool {
    /// The length of `1e-3`.
    const LAST_WITH_EXPONENT: usize = 4;
    let scientific = format!("{value:e}");
    let Some((_, exponent)) = scientific.split_once('e') else { return true };
    let exponent: i32 = exponent.parse().expect("Rust writes a number after e");
    let point = exponent + 1; // The number of digits before the point.
    if !(-14..=15).contains(&point) {
        return false;
    }
    let sign = usize::from(value.is_sign_negative());
    match usize::try_from(point) {
        Ok(before) if before > 0 => sign + before <= width,
        // Behind `0.00` an exponent leaves more digits in just one width.
        _ => point >= -1 || point == -2 && width != sign + LAST_WITH_EXPONENT,
    }
}

/// Appends a FLOAT in the same way as a DOUBLE, but with at most six significant digits.
pub fn write_f32(value: f32, out: &mut Vec<u8>) {
    let shortest = format!("{value:e}");
    let digits = shortest.bytes().take_while(|b| *b != b'e').filter(u8::is_ascii_digit).count();
    if digits <= 6 { write_shortest(&shortest, out) } else { write_shortest(&format!("{value:.5e}"), out) }
}

/// Appends a FLOAT as operations on texts see it: with an exponent where it has more than twelve
/// characters otherwise. Clients are sent the text of [`write_f32`].
pub fn write_f32_as_text(value: f32, out: &mut Vec<u8>) {
    const MOST_CHARS: usize = 12;
    const MOST_DIGITS: usize = 6;
    let start = out.len();
    write_f32(value, out);
    if out.len() - start <= MOST_CHARS {
        return;
    }
    out.truncate(start);
    let shortest = format!("{value:e}");
    let digits = shortest.bytes().take_while(|b| *b != b'e').filter(u8::is_ascii_digit).count();
    let scientific = if digits <= MOST_DIGITS { shortest } else { format!("{value:.5e}") };
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let mantissa = match mantissa.contains('.') {
        true => mantissa.trim_end_matches('0').trim_end_matches('.'),
        false => mantissa,
    };
    out.extend_from_slice(format!("{mantissa}e{exponent}").as_bytes());
}

/// Appends a number. `scientific` is the text that Rust's `{:e}` writes: `-d.ddde-x`.
fn write_shortest(scientific: &str, out: &mut Vec<u8>) {
    let (negative, rest) = match scientific.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, scientific),
    };
    let Some((mantissa, exponent)) = rest.split_once('e') else {
        out.extend_from_slice(b"0"); // An infinity or NaN, which no column holds.
        return;
    };
    let exponent: i32 = exponent.parse().expect("Rust writes a number after e");
    let digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).collect();
    let significant = digits.iter().rposition(|&d| d != b'0').map_or(1, |last| last + 1);
    let digits = &digits[..significant];
    if negative {
        out.push(b'-');
    }
    let point = exponent + 1; // The number of digits before the point.
    let has_point_form = (-14..=15).contains(&point) || point == 16 && digits.len() > 16;
    if digits != b"0" && !has_point_form {
        out.push(digits[0]);
        if digits.len() > 1 {
            out.push(b'.');
            out.extend_from_slice(&digits[1..]);
        }
        out.push(b'e');
        write_i64(i64::from(exponent), out);
    } else if point <= 0 {
        out.extend_from_slice(b"0.");
        out.resize(out.len() + point.unsigned_abs() as usize, b'0');
        out.extend_from_slice(digits);
    } else {
        let before = (point as usize).min(digits.len());
        out.extend_from_slice(&digits[..before]);
        out.resize(out.len() + (point as usize - before), b'0');
        if before < digits.len() {
            out.push(b'.');
            out.extend_from_slice(&digits[before..]);
        }
    }
}

/// A number that was read at the start of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NumberPrefix<T> {
    /// The number. It is 0 where there is none, and clipped where it is out of range.
    pub value: T,
    /// The number of bytes used, leading and trailing spaces included. 0 means that the text does
    /// not start with a number.
    pub len: usize,
    /// Whether the number was out of range.
    pub overflow: bool,
}

/// Reads the double at the start of a text (`my_strtod` after leading spaces), which is the
/// string's value in numeric context.
pub fn double_prefix(text: &[u8]) -> NumberPrefix<f64> {
    let start = text.iter().take_while(|b| b.is_ascii_whitespace()).count();
    let end = start + numeral_len(&text[start..]);
    if end == start {
        return NumberPrefix { value: 0.0, len: 0, overflow: false };
    }
    let numeral = std::str::from_utf8(&text[start..end]).expect("a numeral is ASCII");
    let value: f64 = numeral.parse().expect("a numeral parses");
    let overflow = value.is_infinite();
    let value = if overflow { f64::MAX.copysign(value) } else { value };
    NumberPrefix { value, len: end + trailing_spaces(&text[end..]), overflow }
}

/// Reads an integer at the start of a text. A fraction or exponent is taken into account and
/// rounded. The result is an i128 within the ranges of i64 and u64 together.
pub fn integer_prefix(text: &[u8]) -> NumberPrefix<i128> {
    let start = text.iter().take_while(|b| b.is_ascii_whitespace()).count();
    let len = numeral_len(&text[start..]);
    if len == 0 {
        return NumberPrefix { value: 0, len: 0, overflow: false };
    }
    let numeral = &text[start..start + len];
    let used = start + len + trailing_spaces(&text[start + len..]);
    let (low, high) = (i128::from(i64::MIN), i128::from(u64::MAX));
    if let Some(value) = plain_integer(numeral) {
        return NumberPrefix {
            value: value.clamp(low, high),
            len: used,
            overflow: value < low || value > high,
        };
    }
    let number = crate::Decimal::parse_prefix(numeral).number.round(0);
    let value = match (number.to_i64(), number.to_u64()) {
        (Some(n), _) => Some(i128::from(n)),
        (_, Some(n)) => Some(i128::from(n)),
        _ => None,
    };
    let clipped = if number.is_negative() { low } else { high };
    NumberPrefix { value: value.unwrap_or(clipped), len: used, overflow: value.is_none() }
}

/// Reads an optional sign followed by digits only. The result saturates.
fn plain_integer(numeral: &[u8]) -> Option<i128> {
    let (negative, digits) = match numeral {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let magnitude =
        digits.iter().fold(0i128, |n, d| n.saturating_mul(10).saturating_add(i128::from(d - b'0')));
    Some(if negative { -magnitude } else { magnitude })
}

fn trailing_spaces(text: &[u8]) -> usize {
    text.iter().take_while(|b| b.is_ascii_whitespace()).count()
}

/// Returns the length of the `[+-]digits[.digits][e[+-]digits]` at the start of a text.
fn numeral_len(text: &[u8]) -> usize {
    let run = |from: usize| text[from.min(text.len())..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut at = usize::from(matches!(text.first(), Some(b'+' | b'-')));
    let whole = run(at);
    at += whole;
    let mut fraction = 0;
    if text.get(at) == Some(&b'.') {
        fraction = run(at + 1);
        if whole > 0 || fraction > 0 {
            at += 1 + fraction;
        }
    }
    if whole == 0 && fraction == 0 {
        return 0;
    }
    if matches!(text.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(at + 1), Some(b'+' | b'-')));
        let digits = run(at + 1 + sign);
        if digits > 0 {
            at += 1 + sign + digits;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn double(value: f64) -> String {
        let mut out = Vec::new();
        write_f64(value, &mut out);
        String::from_utf8(out).unwrap()
    }

    fn float(value: f32) -> String {
        let mut out = Vec::new();
        write_f32(value, &mut out);
        String::from_utf8(out).unwrap()
    }

    // Two of the numbers are written with more digits than tell them apart.
    #[expect(clippy::excessive_precision)]
    #[test]
    fn doubles() {
        for (value, expected) in [
            (0.0, "0"),
            (1.0, "1"),
            (-0.5, "-0.5"),
            (123456.789, "123456.789"),
            (1e14, "100000000000000"),
            (1e15, "1e15"),
            (1.5e20, "1.5e20"),
            (1_234_567_890_123_456.5, "1234567890123456.5"),
            (-1_377_330_929_923_511.25, "-1377330929923511.2"),
            (1_377_330_929_923_511.75, "1377330929923511.8"),
            (2_251_799_813_685_248.25, "2.251799813685248e15"),
            (1_234_567_890_123_456.0, "1.234567890123456e15"),
            (1e-15, "0.000000000000001"),
            (1e-16, "1e-16"),
            (-1.25e-20, "-1.25e-20"),
            (0.1 + 0.2, "0.30000000000000004"),
        ] {
            assert_eq!(double(value), expected);
        }
    }

    #[test]
    fn floats() {
        assert_eq!(float(0.1), "0.1");
        assert_eq!(float(123456789.0), "123457000");
        assert_eq!(float(3.4028235e38), "3.40282e38");
        assert_eq!(float(-1.5), "-1.5");
        assert_eq!(float(16777216.0), "16777200");
    }

    #[test]
    fn prefixes() {
        assert_eq!(double_prefix(b" 12.5abc"), NumberPrefix { value: 12.5, len: 5, overflow: false });
        assert_eq!(double_prefix(b"abc").len, 0);
        assert_eq!(double_prefix(b"1e400").value, f64::MAX);
        assert_eq!(double_prefix(b"-.5e1 ").value, -5.0);
        assert_eq!(integer_prefix(b"12x"), NumberPrefix { value: 12, len: 2, overflow: false });
        assert_eq!(integer_prefix(b"-1.5").value, -2);
        assert_eq!(integer_prefix(b"1e3").value, 1000);
        assert!(integer_prefix(b"99999999999999999999").overflow);
        assert_eq!(integer_prefix(b"18446744073709551615").value, u64::MAX.into());
    }
}
