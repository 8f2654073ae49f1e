//! The collations of the Unicode Collation Algorithm: `utf8mb4_0900_...` (several levels, NO PAD),
//! `utf8mb4_unicode_ci` and `utf8mb4_unicode_520_ci` (one level, PAD SPACE).

use super::tables::{Table, Weights as CharWeights};
use super::version::Version;
use std::cmp::Ordering;
use std::sync::LazyLock;

static UCA_0900: LazyLock<Table> = LazyLock::new(|| Table::load(include_bytes!("uca_0900.weights"), 3));
static UCA_0520: LazyLock<Table> = LazyLock::new(|| Table::load(include_bytes!("uca_0520.weights"), 1));
static UCA_0400: LazyLock<Table> = LazyLock::new(|| Table::load(include_bytes!("uca_0400.weights"), 1));

/// The bytes between two levels of a key. They are below every weight and above the end.
const LEVEL_SEPARATOR: [u8; 2] = [0, 1];
/// The bytes after the last level of a key. They are below everything else.
const KEY_END: [u8; 2] = [0, 0];

/// Returns the weights of a version.
fn table(version: Version) -> &'static Table {
    match version {
        Version::V400 => &UCA_0400,
        Version::V520 => &UCA_0520,
        Version::V900 => &UCA_0900,
    }
}

/// Returns the weight of a space.
pub(super) fn space(version: Version) -> u32 {
    u32::from(table(version).ascii_primary(b' '))
}

/// Returns the weights of the first level, as a PAD SPACE collation uses them.
pub(super) fn padded_weights(version: Version, bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    level_weights(version, bytes, 0).map(u32::from)
}

/// Takes one character off the front. Returns `None`, and takes nothing, where the bytes are not
/// UTF-8.
pub(super) fn next_char(rest: &mut &[u8]) -> Option<char> {
    let len = match *rest.first()? {
        0..=0x7f => 1,
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return None,
    };
    let (head, tail) = rest.split_at_checked(len)?;
    let c = std::str::from_utf8(head).ok()?.chars().next()?;
    *rest = tail;
    Some(c)
}

/// The weights of one level (0..=2) of a string, without ignorable characters.
pub(super) struct LevelWeights<'a> {
    rest: &'a [u8],
    table: &'static Table,
    version: Version,
    level: usize,
    current: CharWeights,
    at: usize,
}

pub(super) fn level_weights(version: Version, bytes: &[u8], level: usize) -> LevelWeights<'_> {
    LevelWeights { rest: bytes, table: table(version), version, level, current: CharWeights::None, at: 0 }
}

impl Iterator for LevelWeights<'_> {
    type Item = u16;

    #[inline]
    fn next(&mut self) -> Option<u16> {
        loop {
            if let Some(&weight) = self.current.as_slice().get(self.at) {
                self.at += 1;
                return Some(weight);
            }
            let first = *self.rest.first()?;
            if first < 0x80 && self.level == 0 {
                self.rest = &self.rest[1..];
                match self.table.ascii_primary(first) {
                    0 => continue,
                    primary => return Some(primary),
                }
            }
            self.at = 0;
            self.current = match next_char(&mut self.rest) {
                Some(c) => self.table.weights(self.version, c, self.level),
                None => {
                    self.rest = &self.rest[1..];
                    CharWeights::invalid(first)
                }
            };
        }
    }
}

/// Compares by the first `levels` levels, NO PAD.
pub(super) fn compare(a: &[u8], b: &[u8], levels: u8) -> Ordering {
    // Comparing the first bytes saves most pairs of strings the call that compares memory.
    if a.first() == b.first() && a == b {
        return Ordering::Equal;
    }
    // Most strings differ within their first ASCII characters, where the first level decides.
    let table = table(Version::V900);
    for (&left, &right) in a.iter().zip(b) {
        if !left.is_ascii() || !right.is_ascii() {
            break;
        }
        let (left, right) = (table.ascii_primary(left), table.ascii_primary(right));
        if left == 0 || right == 0 {
            // After an ignorable character the strings' characters no longer stand side by side.
            break;
        }
        if left != right {
            return left.cmp(&right);
        }
    }
    (0..usize::from(levels))
        .map(|level| level_weights(Version::V900, a, level).cmp(level_weights(Version::V900, b, level)))
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}

/// Returns the first four weights of the first level as one number. All other levels come after the
/// first.
pub(super) fn order_prefix(bytes: &[u8]) -> u64 {
    if let Some(first) = bytes.first_chunk::<4>()
        && first.is_ascii()
    {
        let table = table(Version::V900);
        let weights = first.map(|byte| table.ascii_primary(byte));
        // None of the four characters is ignorable.
        if !weights.contains(&0) {
            return weights.iter().fold(0, |prefix, weight| prefix << 16 | u64::from(*weight));
        }
    }
    let weights = level_weights(Version::V900, bytes, 0).map(u64::from).chain(std::iter::repeat(0));
    weights.take(4).fold(0, |prefix, weight| prefix << 16 | weight)
}

/// Appends the key: big-endian 16-bit weights, 0001 between levels, 0000 at the end.
pub(super) fn write_key(bytes: &[u8], levels: u8, out: &mut Vec<u8>) {
    if levels == 1 && write_printable_key(bytes, out) {
        return;
    }
    out.reserve(bytes.len() * 2 + 2);
    write_levels(levels, out, |level| level_weights(Version::V900, bytes, level));
}

/// Appends the weights of a string's first level, big-endian.
pub(super) fn write_first_level(bytes: &[u8], out: &mut Vec<u8>) {
    level_weights(Version::V900, bytes, 0).for_each(|weight| out.extend(weight.to_be_bytes()));
}

/// Reports whether a byte is an ASCII character other than a control character. Such a character
/// has exactly one weight.
fn is_printable(byte: u8) -> bool {
    (b' '..0x7f).contains(&byte)
}

/// The weights of the first level of printable ASCII characters, big-endian. It has an entry for
/// each byte, so that no index needs a check.
static PRINTABLE_WEIGHTS: LazyLock<[[u8; 2]; 256]> = LazyLock::new(|| {
    let table = table(Version::V900);
    std::array::from_fn(|at| {
        let byte = at as u8;
        if !is_printable(byte) {
            return [0; 2];
        }
        let weight = table.ascii_primary(byte);
        assert!(weight != 0, "character {at} has a weight");
        weight.to_be_bytes()
    })
});

/// The number of characters whose weights are written without a look at the loop's end.
const PRINTABLE_AT_ONCE: usize = 8;

/// Appends the key of printable ASCII characters with one level, as [`write_key`] does. If there
/// are other characters, appends nothing and returns false. Sorting texts spends much of its time
/// in this loop, which therefore has two loads and one store for each character, and no branch.
fn write_printable_key(bytes: &[u8], out: &mut Vec<u8>) -> bool {
    let (blocks, rest) = bytes.as_chunks::<PRINTABLE_AT_ONCE>();
    let others = blocks.iter().fold(0, |all, block| all | not_printable(u64::from_le_bytes(*block)));
    if others != 0 || !rest.iter().all(|byte| is_printable(*byte)) {
        return false;
    }
    let (weights, start) = (&*PRINTABLE_WEIGHTS, out.len());
    out.resize(start + bytes.len() * 2 + KEY_END.len(), 0);
    let (places, _) = out[start..].as_chunks_mut();
    let (places, rest_places) = places.split_at_mut(blocks.len() * PRINTABLE_AT_ONCE);
    // The blocks have a fixed length, so that the inner loop is unrolled.
    for (places, block) in places.as_chunks_mut::<PRINTABLE_AT_ONCE>().0.iter_mut().zip(blocks) {
        for at in 0..PRINTABLE_AT_ONCE {
            places[at] = weights[usize::from(block[at])];
        }
    }
    for (place, byte) in rest_places.iter_mut().zip(rest) {
        *place = weights[usize::from(*byte)];
    }
    true
}

/// The number of weights in the start of a key.
const START_WEIGHTS: usize = 2 * PRINTABLE_AT_ONCE;

/// How many bytes [`write_key_start`] appends.
pub(super) const KEY_START_BYTES: usize = 2 * START_WEIGHTS;

/// Appends the start of the key, which is the same for any number of levels: its first
/// [`START_WEIGHTS`] weights of the first level. Returns false, and appends nothing, if there are
/// fewer, so that no start begins the key of a string that has none.
pub(super) fn write_key_start(bytes: &[u8], out: &mut Vec<u8>) -> bool {
    let (blocks, rest) = bytes.as_chunks::<PRINTABLE_AT_ONCE>();
    // The character behind the start is looked at, too: another one could be weighed together with
    // the start's last one.
    if let [first, second, ..] = blocks
        && not_printable(u64::from_le_bytes(*first)) | not_printable(u64::from_le_bytes(*second)) == 0
        && bytes.get(START_WEIGHTS).is_none_or(|byte| is_printable(*byte))
    {
        let weights = &*PRINTABLE_WEIGHTS;
        let mut start = [[0; 2]; START_WEIGHTS];
        for at in 0..PRINTABLE_AT_ONCE {
            start[at] = weights[usize::from(first[at])];
            start[PRINTABLE_AT_ONCE + at] = weights[usize::from(second[at])];
        }
        out.extend_from_slice(start.as_flattened());
        return true;
    }
    if blocks.len() < 2 && blocks.as_flattened().iter().chain(rest).all(|byte| is_printable(*byte)) {
        return false;
    }
    let (mut start, mut count) = ([[0; 2]; START_WEIGHTS], 0);
    for (place, weight) in start.iter_mut().zip(level_weights(Version::V900, bytes, 0)) {
        *place = weight.to_be_bytes();
        count += 1;
    }
    if count == START_WEIGHTS {
        out.extend_from_slice(start.as_flattened());
    }
    count == START_WEIGHTS
}

/// Returns 0 if all eight bytes are printable ASCII characters. The highest bit of a byte is set by
/// itself, by taking away a space from less, or by adding 1 to DEL; what a byte carries into the
/// next one or borrows from it changes nothing, because it is then no such character itself.
fn not_printable(bytes: u64) -> u64 {
    const HIGHEST: u64 = 0x8080_8080_8080_8080;
    let less = bytes.wrapping_sub(0x2020_2020_2020_2020);
    let more = bytes.wrapping_add(0x0101_0101_0101_0101);
    (bytes | less | more) & HIGHEST
}

/// Appends the key that consists of the weights of `levels` levels.
#[inline]
pub(super) fn write_levels<W: Iterator<Item = u16>>(
    levels: u8,
    out: &mut Vec<u8>,
    weights: impl Fn(usize) -> W,
) {
    for level in 0..usize::from(levels) {
        if level > 0 {
            out.extend_from_slice(&LEVEL_SEPARATOR);
        }
        for weight in weights(level) {
            out.extend_from_slice(&weight.to_be_bytes());
        }
    }
    out.extend_from_slice(&KEY_END);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printable_texts_have_the_keys_that_all_texts_have() {
        let others = [' ', '~', '\u{7f}', '\u{1f}', '\0', 'é', '\u{301}', '𝄞'];
        for len in 0..40 {
            for at in 0..=len {
                for other in others {
                    let mut text: Vec<char> = ('0'..='z').cycle().take(len).collect();
                    text.insert(at, other);
                    let text: String = text.into_iter().collect();
                    let (mut key, mut expected) = (vec![7], vec![7]);
                    write_key(text.as_bytes(), 1, &mut key);
                    write_levels(1, &mut expected, |level| {
                        level_weights(Version::V900, text.as_bytes(), level)
                    });
                    assert_eq!(key, expected, "{text:?}");
                }
            }
        }
    }

    #[test]
    fn the_start_of_a_key_is_its_beginning_and_that_of_no_key_without_a_start() {
        let parts = ["a", "B", "é", "e\u{301}", "\u{200b}", "ﷺ", "ß", "l\u{b7}", "語", "\u{1}", " "];
        let mut keys: Vec<(Vec<u8>, Option<Vec<u8>>)> = Vec::new();
        for printable in 0..20 {
            for first in parts {
                for second in parts {
                    for behind in ["", "0", "0123456789abcdefgh"] {
                        let text = format!("{}{first}{second}{behind}", &"zyxwvutsrqponmlkjihg"[..printable]);
                        for levels in [1, 3] {
                            let (mut key, mut start) = (Vec::new(), Vec::new());
                            write_key(text.as_bytes(), levels, &mut key);
                            let has_start = write_key_start(text.as_bytes(), &mut start);
                            assert!(key.starts_with(&start), "{text:?}");
                            assert_eq!(start.len(), if has_start { KEY_START_BYTES } else { 0 });
                            keys.push((key, has_start.then_some(start)));
                        }
                    }
                }
            }
        }
        let starts: std::collections::HashSet<&[u8]> =
            keys.iter().filter_map(|(_, start)| start.as_deref()).collect();
        assert!(starts.len() > 100 && keys.iter().filter(|(_, start)| start.is_none()).count() > 100);
        for (key, _) in keys.iter().filter(|(_, start)| start.is_none()) {
            let begins_as = key.get(..KEY_START_BYTES);
            assert!(begins_as.is_none_or(|beginning| !starts.contains(beginning)), "{key:?}");
        }
    }
}
