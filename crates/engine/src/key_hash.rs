//! Hashes of keys of rows, by which a writeset names what a transaction has written.

use crate::table::KeyPart;

/// The number that stands for the primary key among the numbers of indexes.
pub(crate) const PRIMARY: u32 = u32::MAX;

/// Hashes a key of an index. No hash is 0. If two keys have the same hash by chance, one
/// transaction waits for the other needlessly.
#[inline]
pub(crate) fn hash(table_id: u64, index: u32, key: &[u8]) -> u64 {
    const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |hash: u64, word: u64| (hash.rotate_left(23) ^ word).wrapping_mul(MULTIPLIER);
    let mut hash = mix(table_id, u64::from(index) << 32 | key.len() as u64);
    let (words, rest) = key.as_chunks();
    for word in words {
        hash = mix(hash, u64::from_le_bytes(*word));
    }
    if !rest.is_empty() {
        hash = mix(hash, rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)));
    }
    let hash = (hash ^ hash >> 32).wrapping_mul(MULTIPLIER);
    (hash ^ hash >> 29).max(1)
}

/// Reports whether a key has a NULL, as far as can be told without its values. A key whose values
/// cannot be read is taken for one without.
pub(crate) fn has_null(parts: &[KeyPart], key: &[u8]) -> bool {
    let mut rest = key;
    for part in parts {
        if part.nullable && rest.first() == Some(&types::key::NULL_MARK) {
            return true;
        }
        let is_readable = types::key::is_readable(&part.ty, part.prefix);
        let len =
            is_readable.then(|| types::key::read_part(&part.ty, part.nullable, rest, None).ok()).flatten();
        let Some(behind) = len.and_then(|len| rest.get(len..)) else { return false };
        rest = behind;
    }
    false
}
