//! The keys of strings: bytes that compare by memcmp as the strings do in their collation. Their
//! format is in `docs/formats/key.md`.

use super::chars::{from_utf8mb4, to_utf8mb4};
use super::definition::{Collation, Weighing};
use super::ids::UTF8MB4_GENERAL_CI;
use super::lookup::of;
use super::padding::{SPACE, SPACES_THEN_END, SPACES_THEN_LESS, SPACES_THEN_MORE};
use super::uca::padded_weights;
use super::{czech, general, multi, special, tailored, uca};
use std::borrow::Cow;

/// Appends the key of a string stored in the collation's character set. Keys compare as the strings
/// do, and no key is a prefix of another one.
pub fn write_key(id: u16, bytes: &[u8], out: &mut Vec<u8>) {
    let collation = of(id);
    if collation.weighs_unicode_of_another_form() {
        return collation.write_key(&to_utf8mb4(id, bytes), out);
    }
    collation.write_key(bytes, out);
}

/// Appends the key of a utf8mb4 string in a collation of any character set. The key of a string
/// with characters that the character set does not have differs from the keys of all strings
/// without such characters.
pub fn write_key_utf8mb4(id: u16, bytes: &[u8], out: &mut Vec<u8>) {
    let collation = of(id);
    if collation.weighs_utf8() {
        return collation.write_key(bytes, out);
    }
    match from_utf8mb4(id, bytes) {
        Some(stored) => collation.write_key(&stored, out),
        None => {
            out.push(0xff);
            of(UTF8MB4_GENERAL_CI).write_key(bytes, out);
        }
    }
}

/// Appends bytes that are the same for all utf8mb4 strings that are equal in a collation, but have
/// no end. They may also be the same for strings that are not equal. Returns whether the bytes of
/// all strings that begin with this one begin with its bytes; they need not where characters are
/// weighed together.
pub fn write_open_key(id: u16, bytes: &[u8], out: &mut Vec<u8>) -> bool {
    let collation = of(id);
    let stored = match collation.weighs_utf8() {
        true => Cow::Borrowed(bytes),
        false => match from_utf8mb4(id, bytes) {
            Some(stored) => stored,
            None => {
                // No string of the character set is equal to this one, and none begins with it.
                out.push(0xff);
                out.extend_from_slice(bytes);
                return true;
            }
        },
    };
    collation.write_open_key(&stored, out)
}

/// How many bytes [`write_key_start`] appends.
pub const KEY_START_BYTES: usize = uca::KEY_START_BYTES;

/// Reports whether [`write_key_start`] knows starts of keys of the collation.
pub fn has_key_starts(id: u16) -> bool {
    matches!(of(id).weighing, Weighing::Uca { .. })
}

/// Appends the first bytes of the key that [`write_key_utf8mb4`] makes of a string. They are the
/// same number for all strings of the collation. Returns false, and appends nothing, if the string
/// is too short or the collation has no starts of keys. The key of such a string does not begin
/// with the start of another one's.
#[inline]
pub fn write_key_start(id: u16, bytes: &[u8], out: &mut Vec<u8>) -> bool {
    has_key_starts(id) && uca::write_key_start(bytes, out)
}

impl Collation {
    /// Appends the key of a string, which is UTF-8 if the collation weighs code points, and
    /// otherwise as it is stored.
    fn write_key(&self, bytes: &[u8], out: &mut Vec<u8>) {
        match self.weighing {
            Weighing::Bytes => write_escaped(bytes, out),
            Weighing::CodePoints if !self.pads => write_escaped(bytes, out),
            Weighing::PaddedBytes | Weighing::CodePoints => write_padded_bytes(bytes, out),
            Weighing::UcaPadded(version) => {
                self.key_of(padded_weights(version, bytes), uca::space(version), out)
            }
            Weighing::Uca { levels } => uca::write_key(bytes, levels, out),
            Weighing::Tailored { language, levels } if self.pads => {
                for level in 0..usize::from(levels) {
                    let weights = tailored::padded_weights(language, bytes, level);
                    self.key_of(weights, tailored::space(language, level), out);
                }
            }
            Weighing::Tailored { language, levels } => tailored::write_key(language, bytes, levels, out),
            Weighing::General => self.key_of(general::weights(bytes), SPACE, out),
            Weighing::GeneralVariant(which) => {
                self.key_of(general::variant_weights(which, bytes), SPACE, out)
            }
            Weighing::Single(table) => {
                self.key_of(general::single_weights(table, bytes), general::single_space(table), out)
            }
            Weighing::Multi(table) => self.key_of(multi::weights(self.charset, table, bytes), SPACE, out),
            Weighing::German2(table) => self.key_of(special::german2(table, bytes), SPACE, out),
            Weighing::Czech(which) => czech::write_key(which, bytes, out),
            Weighing::Thai => self.key_of(special::thai(bytes).into_iter(), SPACE, out),
        }
    }

    /// Does what the function [`write_open_key`] does, for a string as in [`Collation::write_key`].
    fn write_open_key(&self, bytes: &[u8], out: &mut Vec<u8>) -> bool {
        match self.weighing {
            Weighing::Bytes | Weighing::PaddedBytes | Weighing::CodePoints => {
                let end = bytes.iter().rposition(|byte| !self.pads || *byte != b' ').map_or(0, |at| at + 1);
                out.extend_from_slice(&bytes[..end]);
            }
            Weighing::Uca { .. } => uca::write_first_level(bytes, out),
            Weighing::UcaPadded(version) => {
                general::write_open_key(padded_weights(version, bytes), uca::space(version), out);
            }
            Weighing::General => general::write_open_key(general::weights(bytes), SPACE, out),
            Weighing::GeneralVariant(which) => {
                general::write_open_key(general::variant_weights(which, bytes), SPACE, out);
            }
            Weighing::Single(table) => {
                let weights = general::single_weights(table, bytes);
                general::write_open_key(weights, general::single_space(table), out);
            }
            Weighing::Multi(table) => {
                general::write_open_key(multi::weights(self.charset, table, bytes), SPACE, out);
            }
            Weighing::German2(table) => general::write_open_key(special::german2(table, bytes), SPACE, out),
            Weighing::Tailored { .. } | Weighing::Czech(_) | Weighing::Thai => {
                self.write_key(bytes, out);
                return false;
            }
        }
        true
    }

    fn key_of(&self, weights: impl Iterator<Item = u32>, space: u32, out: &mut Vec<u8>) {
        if self.pads {
            general::write_key(weights, space, out);
        } else {
            general::write_unpadded_key(weights, out);
        }
    }
}

/// Reports whether a string's key holds all the string's bytes. [`read_escaped`] then returns them.
pub fn is_key_of_bytes(id: u16) -> bool {
    matches!(of(id).weighing, Weighing::Bytes)
}

/// Appends the string whose key of bytes is at the start of `key`, and returns the key's length.
/// `None` means that the key has no end.
pub fn read_escaped(key: &[u8], out: &mut Vec<u8>) -> Option<usize> {
    let mut at = 0;
    loop {
        let run = key[at..].iter().position(|&byte| byte == 0)?;
        out.extend_from_slice(&key[at..at + run]);
        at += run + 2;
        match key.get(at - 1)? {
            0 => return Some(at),
            _ => out.push(0),
        }
    }
}

/// Appends the key of a string of bytes, NO PAD: 00 becomes 00 FF, and 00 00 ends the string.
fn write_escaped(bytes: &[u8], out: &mut Vec<u8>) {
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|&byte| byte == 0) {
        out.extend_from_slice(&rest[..=at]);
        out.push(0xff);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out.extend_from_slice(&[0, 0]);
}

fn write_padded_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    let end = bytes.iter().rposition(|&byte| byte != b' ').map_or(0, |last| last + 1);
    let bytes = &bytes[..end];
    let mut at = 0;
    while at < bytes.len() {
        let run = bytes[at..].iter().position(|&byte| byte == b' ').unwrap_or(bytes.len() - at);
        out.extend_from_slice(&bytes[at..at + run]);
        at += run;
        let spaces = bytes[at..].iter().take_while(|&&byte| byte == b' ').count();
        if spaces > 0 {
            let next = bytes[at + spaces]; // There is one, since trailing spaces are cut off.
            let marker = if next < b' ' { SPACES_THEN_LESS } else { SPACES_THEN_MORE };
            (0..spaces).for_each(|_| out.extend_from_slice(&[b' ', marker]));
            at += spaces;
        }
    }
    out.extend_from_slice(&[b' ', SPACES_THEN_END]);
}
