//! Functions that show something in other words: sizes and times with their units, names by their
//! sound, formats of dates.

use super::super::infer::aggregate_collations;
use super::super::value_type::{text_length, text_type};
use super::{Function, ascii_text, text};
use crate::error::Result;
use crate::expr::{Coercibility, Expr};
use types::{ColumnType, Value};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("format_bytes", 1..=1, ascii_text::<11>, |call| {
        const UNITS: [(f64, &str); 6] = [
            (1024f64, "KiB"),
            (1_048_576f64, "MiB"),
            (1_073_741_824f64, "GiB"),
            (1_099_511_627_776f64, "TiB"),
            (1_125_899_906_842_624f64, "PiB"),
            (1_152_921_504_606_846_976f64, "EiB"),
        ];
        let bytes = call.double(0);
        Ok(text(with_unit(bytes, &UNITS).unwrap_or_else(|| format!("{:4} bytes", bytes as i64))))
    }),
    Function::new("format_pico_time", 1..=1, ascii_text::<11>, |call| {
        const UNITS: [(f64, &str); 7] = [
            (1e3, "ns"),
            (1e6, "us"),
            (1e9, "ms"),
            (1e12, "s"),
            (6e13, "min"),
            (3.6e15, "h"),
            (8.64e16, "d"),
        ];
        let picoseconds = call.double(0);
        Ok(text(with_unit(picoseconds, &UNITS).unwrap_or_else(|| format!("{:3} ps", picoseconds as i64))))
    }),
    Function::new("get_format", 2..=2, ascii_text::<17>, |call| {
        let found = format_of(&call.string(0).to_ascii_uppercase(), &call.string(1).to_ascii_uppercase());
        Ok(found.map_or(Value::Null, text))
    }),
    Function::new("soundex", 1..=1, sound_type, |call| Ok(text(soundex(&call.string(0))))),
];

/// The number in the largest of these units that it has one of; `None`: it is less than any. Large
/// ones have an exponent.
fn with_unit(value: f64, units: &[(f64, &str)]) -> Option<String> {
    let (size, unit) = units.iter().rev().find(|(size, _)| value.abs() >= *size)?;
    let value = value / size;
    if value.abs() < 100_000.0 {
        return Some(format!("{value:.2} {unit}"));
    }
    // As C prints it: the exponent has a sign and two digits.
    let shown = format!("{value:.2e}");
    let (digits, exponent) = shown.split_once('e')?;
    Some(format!("{digits}e+{exponent:0>2} {unit}"))
}

/// The formats of the manual's table at GET_FORMAT().
fn format_of(kind: &str, region: &str) -> Option<&'static str> {
    Some(match (kind, region) {
        ("DATE", "USA") => "%m.%d.%Y",
        ("DATE", "JIS" | "ISO") => "%Y-%m-%d",
        ("DATE", "EUR") => "%d.%m.%Y",
        ("DATE", "INTERNAL") => "%Y%m%d",
        ("DATETIME", "USA" | "EUR") => "%Y-%m-%d %H.%i.%s",
        ("DATETIME", "JIS" | "ISO") => "%Y-%m-%d %H:%i:%s",
        ("DATETIME", "INTERNAL") => "%Y%m%d%H%i%s",
        ("TIME", "USA") => "%h:%i:%s %p",
        ("TIME", "JIS" | "ISO") => "%H:%i:%s",
        ("TIME", "EUR") => "%H.%i.%s",
        ("TIME", "INTERNAL") => "%H%i%s",
        _ => return None,
    })
}

fn sound_type(args: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    const LEAST_CHARS: u32 = 4;
    let (id, coercibility) = aggregate_collations(args[..1].iter())?;
    Ok((text_type(text_length(&args[0].ty).max(LEAST_CHARS), id), coercibility))
}

/// MySQL's Soundex, which knows the letters of English: vowels go before repetitions, and the
/// result is as long as it becomes, at least four characters.
fn soundex(name: &str) -> String {
    const LEAST_CHARS: usize = 4;
    const CODES: &[u8; 26] = b"01230120022455012623010202";
    let code = |letter: char| match letter {
        'A'..='Z' => CODES[letter as usize - 'A' as usize] as char,
        _ => '0',
    };
    // Letters beyond ASCII are not told from other characters there.
    let is_letter = |letter: &char| letter.is_ascii_alphabetic() || *letter >= '\u{c0}';
    let mut letters = name.chars().filter(is_letter).map(|letter| letter.to_ascii_uppercase());
    let Some(first) = letters.next() else { return String::new() };
    let (mut out, mut count, mut last) = (String::from(first), 1, code(first));
    for code in letters.map(code) {
        if code != '0' && code != last {
            out.push(code);
            (count, last) = (count + 1, code);
        }
    }
    out.extend(std::iter::repeat_n('0', LEAST_CHARS.saturating_sub(count)));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_their_sound() {
        for (name, sound) in [
            ("Hello", "H400"),
            ("Quadratically", "Q36324"),
            ("Pfister", "P236"),
            ("Ashcraft", "A2613"),
            (" O'Brien", "O165"),
            ("123", ""),
            ("日本", "日000"),
        ] {
            assert_eq!(soundex(name), sound, "{name}");
        }
    }

    #[test]
    fn large_numbers_have_an_exponent() {
        assert_eq!(with_unit(1e9, &[(1.0, "x")]).unwrap(), "1.00e+09 x");
        assert_eq!(with_unit(1536.0, &[(1024.0, "KiB")]).unwrap(), "1.50 KiB");
        assert_eq!(with_unit(5.0, &[(1024.0, "KiB")]), None);
    }
}
