//! The search for the next byte of a file that is more than a plain byte of a field, eight bytes at
//! a time.

/// Eight times the lowest and the highest bit of a byte.
const LOWEST: u64 = u64::from_le_bytes([0x01; 8]);
const HIGHEST: u64 = u64::from_le_bytes([0x80; 8]);

/// The most bytes below 0x80 that are looked for by comparing.
const MOST: usize = 3;

/// The bytes that have some of these meanings, prepared for the search.
pub(super) struct SpecialBytes {
    /// The meanings that are looked for.
    wanted: u8,
    /// Special bytes below 0x80, each repeated eight times. A place that is left over has one of
    /// the others again.
    low: [u64; MOST],
    /// [`HIGHEST`] if a byte from 0x80 on is special, and 0 if none is.
    high: u64,
    /// Whether there are more special bytes below 0x80 than `low` has room for, or none, so that
    /// each byte has to be looked up.
    looks_up_all: bool,
}

impl SpecialBytes {
    /// Prepares the search for the bytes whose meanings, in a table of all bytes, are among
    /// `wanted`.
    pub fn new(meanings: &[u8; 256], wanted: u8) -> SpecialBytes {
        let special = |byte: &u8| meanings[usize::from(*byte)] & wanted != 0;
        let low: Vec<u8> = (0..0x80).filter(special).collect();
        let high = if (0x80..=u8::MAX).any(|byte| special(&byte)) { HIGHEST } else { 0 };
        let looks_up_all = low.is_empty() || low.len() > MOST;
        let repeated = |at: usize| u64::from_le_bytes([low.get(at).or(low.first()).copied().unwrap_or(0); 8]);
        SpecialBytes { wanted, low: std::array::from_fn(repeated), high, looks_up_all }
    }

    /// Returns the place of the first special byte, or the number of bytes if there is none.
    /// `meanings` is the table that the search was prepared with.
    pub fn first_in(&self, bytes: &[u8], meanings: &[u8; 256]) -> usize {
        let special = |byte: &u8| meanings[usize::from(*byte)] & self.wanted != 0;
        let mut at = 0;
        while !self.looks_up_all
            && let Some(eight) = bytes[at..].first_chunk()
        {
            let found = self.found_in(u64::from_le_bytes(*eight));
            if found == 0 {
                at += 8;
                continue;
            }
            let first = at + found.trailing_zeros() as usize / 8;
            if special(&bytes[first]) {
                return first;
            }
            // A byte from 0x80 on that is plain in this character set.
            at = first + 1;
        }
        bytes[at..].iter().position(special).map_or(bytes.len(), |found| at + found)
    }

    /// Returns a word whose lowest bit that is set is in the first of eight bytes that may be
    /// special.
    #[inline]
    fn found_in(&self, eight: u64) -> u64 {
        // A byte that equals the wanted one becomes zero, and taking one from it sets its highest
        // bit. What it borrows can only set bits of later bytes.
        let zero = |word: u64| word.wrapping_sub(LOWEST) & !word;
        let [a, b, c] = self.low.map(|low| zero(eight ^ low));
        ((a | b | c) & HIGHEST) | (eight & self.high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use os::random::{Rng, test_seed};

    #[test]
    fn the_first_special_byte_is_found() {
        let mut rng = Rng::new(test_seed("the_first_special_byte_is_found"));
        for _ in 0..20_000 {
            let mut meanings = [0; 256];
            for _ in 0..rng.below(6) {
                meanings[rng.below(256) as usize] |= 1 << rng.below(4);
            }
            if rng.below(2) == 0 {
                meanings[0x80..].fill(16);
            }
            let wanted = rng.below(32) as u8;
            let is_special = |byte: &u8| meanings[usize::from(*byte)] & wanted != 0;
            // Neighbours of special bytes, in value and in place, are what a borrow could spoil.
            let known: Vec<u8> = (0..=u8::MAX).filter(is_special).collect();
            let byte = |rng: &mut Rng| match rng.below(3) {
                0 if !known.is_empty() => {
                    let near = known[rng.below(known.len() as u64) as usize];
                    near.wrapping_add(rng.below(3) as u8).wrapping_sub(1)
                }
                _ => rng.below(256) as u8,
            };
            let mut bytes: Vec<u8> = (0..rng.below(40)).map(|_| byte(&mut rng)).collect();
            if rng.below(2) == 0 {
                bytes.retain(|byte| !is_special(byte) || rng.below(20) == 0);
            }
            let found = SpecialBytes::new(&meanings, wanted).first_in(&bytes, &meanings);
            let expected = bytes.iter().position(is_special).unwrap_or(bytes.len());
            assert_eq!(found, expected, "{bytes:?} {wanted} {known:?}");
        }
    }
}
