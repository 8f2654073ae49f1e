//! The weights of a string in the bytes that MySQL's `WEIGHT_STRING()` shows: those that it
//! compares by memcmp itself. Nothing is stored in this form.

use super::chars::{char_count, char_prefix, from_utf8mb4};
use super::charset::Charset;
use super::definition::Weighing;
use super::lookup::of;
use super::{general, multi, special, tailored, uca};

/// The weights of a utf8mb4 string; of bytes that are no characters, they themselves. With `chars`
/// they are those of so many characters: of a longer string its first ones, and a shorter one gets
/// spaces where the collation pads with them.
pub fn weight_string(id: u16, text: &[u8], chars: Option<usize>) -> Vec<u8> {
    let collation = of(id);
    let unit = if id == super::BINARY { id } else { super::UTF8MB4_BIN };
    let mut text = chars.map_or(text, |chars| char_prefix(unit, text, chars)).to_vec();
    if let Some(chars) = chars.filter(|_| collation.pads && id != super::BINARY) {
        let missing = chars.saturating_sub(char_count(unit, &text));
        text.resize(text.len() + missing, b' ');
    }
    let stored = match collation.weighs_unicode() || id == super::BINARY {
        true => None,
        false => from_utf8mb4(id, &text),
    };
    let bytes = stored.as_deref().unwrap_or(&text);
    let mut out = Vec::with_capacity(bytes.len() * 2);
    match collation.weighing {
        Weighing::Bytes => out.extend_from_slice(bytes),
        // Of Unicode these are code points.
        Weighing::PaddedBytes | Weighing::CodePoints if collation.charset.is_unicode() => {
            let width = if collation.charset == Charset::Ucs2 { 2 } else { 3 };
            match (collation.pads, std::str::from_utf8(&text)) {
                (true, Ok(text)) => text.chars().for_each(|c| push(u32::from(c), width, &mut out)),
                _ => out.extend_from_slice(&text),
            }
        }
        Weighing::PaddedBytes | Weighing::CodePoints => out.extend_from_slice(bytes),
        Weighing::General => general::weights(&text).for_each(|weight| push(weight, 2, &mut out)),
        Weighing::GeneralVariant(which) => {
            general::variant_weights(which, &text).for_each(|weight| push(weight, 2, &mut out));
        }
        Weighing::UcaPadded(version) => {
            uca::padded_weights(version, &text).for_each(|weight| push(weight, 2, &mut out));
        }
        Weighing::Tailored { language, .. } if collation.pads => {
            tailored::padded_weights(language, &text).for_each(|weight| push(weight, 2, &mut out));
        }
        Weighing::Uca { levels } => {
            push_levels(levels, &mut out, |level| {
                uca::level_weights(super::version::Version::V900, &text, level).collect()
            });
        }
        Weighing::Tailored { language, levels } => {
            push_levels(levels, &mut out, |level| tailored::level_weights(language, &text, level));
        }
        Weighing::Single(table) => {
            general::single_weights(table, bytes).for_each(|weight| push_short(weight, &mut out));
        }
        Weighing::Multi(table) => {
            multi::weights(collation.charset, table, bytes).for_each(|weight| push_short(weight, &mut out));
        }
        Weighing::German2(table) => {
            special::german2(table, bytes).for_each(|weight| push_short(weight, &mut out));
        }
        Weighing::Thai => special::thai(bytes).into_iter().for_each(|weight| push_short(weight, &mut out)),
    }
    out
}

/// A weight in so many bytes, the highest first.
fn push(weight: u32, bytes: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(&weight.to_be_bytes()[4 - bytes..]);
}

/// A weight in as many bytes as it needs.
fn push_short(weight: u32, out: &mut Vec<u8>) {
    let bytes = (32 - weight.leading_zeros()).div_ceil(8).max(1);
    push(weight, bytes as usize, out);
}

/// The weights of several levels, with nothing between two of them but a weight of zero.
fn push_levels(levels: u8, out: &mut Vec<u8>, weights: impl Fn(usize) -> Vec<u16>) {
    for level in 0..usize::from(levels) {
        if level > 0 {
            push(0, 2, out);
        }
        weights(level).into_iter().for_each(|weight| push(u32::from(weight), 2, out));
    }
}

#[cfg(test)]
mod tests {
    use super::super::{LATIN1_SWEDISH_CI, UTF8MB4_0900_AI_CI, UTF8MB4_BIN, UTF8MB4_GENERAL_CI};
    use super::*;

    #[test]
    fn weights_are_those_that_mysql_shows() {
        assert_eq!(weight_string(UTF8MB4_GENERAL_CI, b"aB", Some(4)), [0, 0x41, 0, 0x42, 0, 0x20, 0, 0x20]);
        assert_eq!(weight_string(UTF8MB4_GENERAL_CI, b"ab", Some(1)), [0, 0x41]);
        assert_eq!(weight_string(UTF8MB4_BIN, "€".as_bytes(), None), [0, 0x20, 0xac]);
        assert_eq!(weight_string(UTF8MB4_0900_AI_CI, b"a", Some(3)), [0x1c, 0x47]);
        assert_eq!(weight_string(LATIN1_SWEDISH_CI, b"aB", Some(3)), [0x41, 0x42, 0x20]);
    }
}
