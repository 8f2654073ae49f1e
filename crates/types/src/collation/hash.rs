//! The hash by which `PARTITION BY KEY` spreads rows, as MySQL and MariaDB compute it.

use super::chars::from_utf8mb4;
use super::charset::Charset;
use super::definition::{Collation, Weighing};
use super::ids::LATIN1_SWEDISH_CI;
use super::lookup::of;
use super::weights::weight_string;
use super::{czech, general, multi, special, tailored};

/// The offset of the FNV-1a hash, which the collations of Unicode 9.0 use.
const FNV_OFFSET: u64 = 14_695_981_039_346_656_037;
/// The prime of the FNV-1a hash.
const FNV_PRIME: u64 = 1_099_511_628_211;

/// The collations of languages from this id on are MariaDB's own.
const FIRST_OF_MARIADB: u16 = 512;

/// The state of the hash over the columns of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyHash {
    sum: u64,
    factor: u64,
}

impl Default for KeyHash {
    fn default() -> KeyHash {
        KeyHash { sum: 1, factor: 4 }
    }
}

impl KeyHash {
    /// Returns the hash, of which MySQL uses 32 bits.
    pub fn finish(self) -> u32 {
        self.sum as u32
    }

    /// Adds a column that is NULL.
    pub fn add_null(&mut self) {
        self.sum ^= (self.sum << 1) | 1;
    }

    /// Adds a value by its stored bytes.
    pub fn add_bytes(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.add_weight(u64::from(*byte)));
    }

    /// Adds a number by its stored bytes, which MySQL takes for a text in latin1.
    pub fn add_number(&mut self, bytes: &[u8]) {
        let bytes = without_spaces(bytes);
        match of(LATIN1_SWEDISH_CI).weighing {
            Weighing::Single(table) => {
                general::single_weights(table, bytes).for_each(|weight| self.add_weight(weight.into()));
            }
            _ => self.add_bytes(bytes),
        }
    }

    /// Adds a text in UTF-8 by its collation. Returns false if the hash of the collation is not
    /// known here, and adds nothing then.
    pub fn add_text(&mut self, id: u16, text: &[u8]) -> bool {
        let collation = of(id);
        let Some(stored) = from_utf8mb4(id, text) else { return false };
        let compared = if collation.pads { without_spaces(text) } else { text };
        match collation.weighing {
            // utf8mb4_0900_bin has NO PAD, and its hash leaves out spaces at the end all the same.
            Weighing::Bytes if collation.charset.has_ascii() && collation.charset != Charset::Binary => {
                self.add_bytes(without_spaces(&stored));
            }
            Weighing::Bytes => self.add_bytes(&stored),
            Weighing::Czech(which) => {
                let bytes = without_spaces(&stored).iter();
                bytes.for_each(|byte| self.add_weight(czech::hash_weight(which, *byte).into()));
            }
            Weighing::Single(_) => return self.add_weights(id, compared),
            // utf32_bin folds case here, as utf32_general_ci does.
            Weighing::General | Weighing::PaddedBytes | Weighing::CodePoints
                if collation.charset == Charset::Utf32 =>
            {
                let weights = general::weights(compared);
                weights.for_each(|weight| self.add_bytes(&weight.to_be_bytes()));
            }
            // The lower byte of each weight comes first.
            Weighing::General => {
                let weights = general::weights(compared);
                weights.for_each(|weight| self.add_bytes(&(weight as u16).to_le_bytes()));
            }
            Weighing::GeneralVariant(which) => {
                let weights = general::variant_weights(which, compared);
                weights.for_each(|weight| self.add_bytes(&(weight as u16).to_le_bytes()));
            }
            Weighing::PaddedBytes | Weighing::CodePoints => {
                let Some(stored) = from_utf8mb4(id, without_spaces(text)) else { return false };
                self.add_bytes(&stored);
            }
            // A weight has four bytes here, the lowest one first, also where it is shorter.
            Weighing::Multi(ascii) if collation.charset == Charset::Gb18030 => {
                let weights = multi::weights(collation.charset, ascii, without_spaces(&stored));
                weights.for_each(|weight| self.add_bytes(&multi::gb18030_number(weight).to_le_bytes()));
            }
            // These weigh each byte, and not each character.
            Weighing::Multi(_) | Weighing::Thai => {
                let bytes = without_spaces(&stored).iter();
                bytes.for_each(|byte| self.add_weight(byte_weight(collation.charset, *byte).into()));
            }
            Weighing::German2(table) => {
                let weights = special::german2(table, without_spaces(&stored));
                weights.for_each(|weight| self.add_weight(weight.into()));
            }
            Weighing::Uca { .. } => return self.add_fnv(collation, text),
            Weighing::Tailored { .. } if !collation.pads => return self.add_fnv(collation, text),
            // The second level of a PAD SPACE collation does not count.
            Weighing::Tailored { language, .. } if id >= FIRST_OF_MARIADB => {
                let weights = tailored::padded_weights(language, text, 0).collect();
                self.add_padded(weights, tailored::space(language, 0));
            }
            Weighing::UcaPadded(_) | Weighing::Tailored { .. } => {
                return self.add_weights(id, compared);
            }
        }
        true
    }

    fn add_weight(&mut self, weight: u64) {
        let step = ((self.sum & 63) + self.factor).wrapping_mul(weight).wrapping_add(self.sum << 8);
        self.sum ^= step;
        self.factor += 3;
    }

    /// Adds the weights of a text.
    fn add_weights(&mut self, id: u16, text: &[u8]) -> bool {
        let Some(weights) = weight_string(id, text, None, usize::MAX) else { return false };
        self.add_bytes(&weights);
        true
    }

    /// Adds weights of two bytes, without those of spaces at the end. As in MariaDB, a space at the
    /// end may have ignorable characters behind it.
    fn add_padded(&mut self, weights: Vec<u32>, space: u32) {
        let end = weights.iter().rposition(|weight| *weight != space).map_or(0, |last| last + 1);
        weights[..end].iter().for_each(|weight| self.add_bytes(&(*weight as u16).to_be_bytes()));
    }

    fn add_fnv(&mut self, collation: &Collation, text: &[u8]) -> bool {
        let Some(weights) = weight_string(collation.id, text, None, usize::MAX) else { return false };
        let mut hash = self.sum ^ FNV_OFFSET;
        for pair in weights.chunks_exact(2) {
            hash ^= u64::from(pair[0]) << 8 | u64::from(pair[1]);
            hash = hash.wrapping_mul(FNV_PRIME);
        }
        self.sum = hash;
        true
    }
}

/// Returns the weight of one byte of a text in a character set of East Asia or in Thai. Some of the
/// sets have MySQL's old order of the characters beside the letters.
fn byte_weight(charset: Charset, byte: u8) -> u8 {
    let is_old = matches!(charset, Charset::Big5 | Charset::Gb2312 | Charset::Gbk | Charset::Tis620);
    match byte {
        b'[' | b'\\' if is_old => byte + 1,
        b']' if is_old => b'[',
        b'~' if is_old => b'Y',
        b'`' if matches!(charset, Charset::Big5 | Charset::Tis620) => b'E',
        _ => byte.to_ascii_uppercase(),
    }
}

fn without_spaces(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
    &bytes[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn partition_of(hash: KeyHash, count: u32) -> u32 {
        hash.finish() % count
    }

    #[test]
    fn numbers_are_in_the_partitions_where_mysql_puts_them() {
        // MySQL 9.7 and MariaDB 10.11: an INT by KEY in 7 partitions.
        for (number, expected) in [(0i32, 1), (1, 4), (5, 3), (32, 0), (97, 5), (-1, 5), (70_000, 2)] {
            let mut hash = KeyHash::default();
            hash.add_number(&number.to_le_bytes());
            assert_eq!(partition_of(hash, 7), expected, "{number}");
        }
    }

    #[test]
    fn texts_are_hashed_by_their_collation() {
        // MariaDB 10.11: texts by KEY in 31 partitions.
        for (id, text, expected) in [
            (8, "abc", 30),
            (8, "a ", 22),
            (8, "A", 22),
            (47, "a ", 27),
            (46, "abc", 12),
            (46, "zz", 14),
            (45, "abc", 0),
            (45, "A", 12),
        ] {
            let mut hash = KeyHash::default();
            assert!(hash.add_text(id, text.as_bytes()), "{id}");
            assert_eq!(partition_of(hash, 31), expected, "{id} {text}");
        }
    }
}
