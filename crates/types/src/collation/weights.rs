//! The weights of a string in the bytes that MySQL's `WEIGHT_STRING()` shows, which MySQL itself
//! compares by memcmp. Nothing is stored in this form.

use super::chars::{char_count, char_prefix, from_utf8mb4};
use super::charset::Charset;
use super::definition::Weighing;
use super::lookup::of;
use super::version::Version;
use super::{czech, general, multi, special, tailored, uca};

/// Returns the weights of a utf8mb4 string. For bytes that are no characters the result is the
/// bytes themselves. With `chars` the result is for that number of characters: a longer string is
/// cut, and a shorter one gets spaces where the collation pads with them. `None` means that the
/// weights take more than `most_bytes` bytes.
pub fn weight_string(id: u16, text: &[u8], chars: Option<usize>, most_bytes: usize) -> Option<Vec<u8>> {
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
    let mut out = Weights { bytes: Vec::new(), most_bytes };
    match collation.weighing {
        Weighing::Bytes => out.extend(bytes),
        // In character sets of Unicode the weights are code points.
        Weighing::PaddedBytes | Weighing::CodePoints if collation.charset.is_unicode() => {
            let is_narrow = matches!(collation.charset, Charset::Ucs2 | Charset::Utf8mb3);
            let width = if is_narrow { 2 } else { 3 };
            match (collation.pads, std::str::from_utf8(&text)) {
                (true, Ok(text)) => text.chars().for_each(|c| out.push(u32::from(c), width)),
                _ => out.extend(&text),
            }
        }
        Weighing::PaddedBytes | Weighing::CodePoints => out.extend(bytes),
        Weighing::General => general::weights(&text).for_each(|weight| out.push(weight, 2)),
        Weighing::GeneralVariant(which) => {
            general::variant_weights(which, &text).for_each(|weight| out.push(weight, 2));
        }
        Weighing::UcaPadded(version) => {
            uca::padded_weights(version, &text).for_each(|weight| out.push(weight, 2));
        }
        Weighing::Tailored { language, levels } if collation.pads => {
            for level in 0..usize::from(levels) {
                let weights = tailored::padded_weights(language, &text, level);
                weights.for_each(|weight| out.push(weight, 2));
            }
        }
        Weighing::Uca { levels } => {
            out.push_levels(levels, |level| uca::level_weights(Version::V900, &text, level));
        }
        Weighing::Tailored { language, levels } => {
            out.push_levels(levels, |level| tailored::level_weights(language, &text, level));
        }
        Weighing::Single(table) => {
            general::single_weights(table, bytes).for_each(|weight| out.push_short(weight));
        }
        Weighing::Multi(table) if collation.charset == Charset::Gb18030 => {
            let weights = multi::weights(collation.charset, table, bytes);
            weights.for_each(|weight| out.push_short(multi::gb18030_number(weight)));
        }
        Weighing::Multi(table) => {
            multi::weights(collation.charset, table, bytes).for_each(|weight| out.push_short(weight));
        }
        Weighing::German2(table) => {
            special::german2(table, bytes).for_each(|weight| out.push_short(weight));
        }
        Weighing::Czech(which) => out.extend(&czech::weights(which, bytes)),
        Weighing::Thai => special::thai(bytes).into_iter().for_each(|weight| out.push_short(weight)),
    }
    (out.bytes.len() <= most_bytes).then_some(out.bytes)
}

/// Collects weights, until they take more than `most_bytes` bytes.
struct Weights {
    bytes: Vec<u8>,
    most_bytes: usize,
}

impl Weights {
    fn extend(&mut self, more: &[u8]) {
        if self.bytes.len() <= self.most_bytes {
            self.bytes.extend_from_slice(more);
        }
    }

    /// Appends a weight in this number of bytes, the highest byte first.
    fn push(&mut self, weight: u32, bytes: usize) {
        self.extend(&weight.to_be_bytes()[4 - bytes..]);
    }

    /// Appends a weight in as many bytes as it needs.
    fn push_short(&mut self, weight: u32) {
        let bytes = (32 - weight.leading_zeros()).div_ceil(8).max(1);
        self.push(weight, bytes as usize);
    }

    /// Appends the weights of several levels, with a weight of zero between two levels.
    fn push_levels<W: IntoIterator<Item = u16>>(&mut self, levels: u8, weights: impl Fn(usize) -> W) {
        for level in 0..usize::from(levels) {
            let mut weights = weights(level).into_iter().peekable();
            // MySQL leaves out the fourth level, which only kana have, where it is empty.
            if level > 0 && (level < 3 || weights.peek().is_some()) {
                self.push(0, 2);
            }
            weights.for_each(|weight| self.push(u32::from(weight), 2));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{LATIN1_SWEDISH_CI, UTF8MB4_0900_AI_CI, UTF8MB4_BIN, UTF8MB4_GENERAL_CI};
    use super::*;

    #[test]
    fn weights_are_those_that_mysql_shows() {
        let weights = |id, text: &str, chars| weight_string(id, text.as_bytes(), chars, 100);
        assert_eq!(
            weights(UTF8MB4_GENERAL_CI, "aB", Some(4)),
            Some(vec![0, 0x41, 0, 0x42, 0, 0x20, 0, 0x20])
        );
        assert_eq!(weights(UTF8MB4_GENERAL_CI, "ab", Some(1)), Some(vec![0, 0x41]));
        assert_eq!(weights(UTF8MB4_BIN, "€", None), Some(vec![0, 0x20, 0xac]));
        assert_eq!(weights(UTF8MB4_0900_AI_CI, "a", Some(3)), Some(vec![0x1c, 0x47]));
        assert_eq!(weights(LATIN1_SWEDISH_CI, "aB", Some(3)), Some(vec![0x41, 0x42, 0x20]));
        assert_eq!(weights(UTF8MB4_BIN, &"a".repeat(34), None), None);
    }
}
