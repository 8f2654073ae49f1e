//! The operating system's randomness, and a seeded generator for tests and for jitter.

use std::io;

/// Fills `bytes` with randomness from the operating system, fit for salts, keys and passwords.
///
/// # Panics
/// Panics when the kernel has no randomness to give, which Linux since 3.17 always has once it has
/// started.
pub fn fill(bytes: &mut [u8]) {
    let mut filled = 0;
    while filled < bytes.len() {
        let rest = &mut bytes[filled..];
        // SAFETY: pointer and length describe `rest`, which is exclusively ours for the call.
        let got = unsafe { libc::getrandom(rest.as_mut_ptr().cast(), rest.len(), 0) };
        if got > 0 {
            filled += got as usize;
            continue;
        }
        let error = io::Error::last_os_error();
        assert!(error.kind() == io::ErrorKind::Interrupted, "the kernel gives no randomness: {error}");
    }
}

/// Returns a random 64-bit number from the operating system.
pub fn u64() -> u64 {
    let mut bytes = [0; 8];
    fill(&mut bytes);
    u64::from_le_bytes(bytes)
}

/// Returns the seed of a random test: the environment's `SEED` (decimal) when it is set, a fresh
/// one otherwise. Prints it, so that a failure can be reproduced.
///
/// # Panics
/// Panics when `SEED` is set and is no number.
pub fn test_seed(test: &str) -> u64 {
    let seed = match std::env::var("SEED") {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("SEED={text} is no decimal number")),
        Err(_) => u64(),
    };
    println!("{test}: SEED={seed}");
    seed
}

/// Returns the seed as [`test_seed`] does, but `usual` when `SEED` is not set. This is for a test
/// against a server whose own answers depend on its history, and for one whose random search is
/// left to nightly runs.
pub fn test_seed_or(test: &str, usual: u64) -> u64 {
    let seed = match std::env::var("SEED") {
        Ok(_) => return test_seed(test),
        Err(_) => usual,
    };
    println!("{test}: SEED={seed}");
    seed
}

/// A small seeded generator (xoshiro256**). The same seed gives the same sequence on every machine.
/// It must not be used for secrets.
#[derive(Debug, Clone)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    /// Makes a generator whose whole sequence follows from `seed`.
    pub fn new(seed: u64) -> Rng {
        // SplitMix64 spreads the seed over the state, as the authors of xoshiro advise. The state
        // is never all zero.
        let mut spread = seed;
        let mut next = || {
            spread = spread.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut word = spread;
            word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            word ^ (word >> 31)
        };
        Rng { state: [next(), next(), next(), next()] }
    }

    /// Returns the next 64 bits.
    pub fn u64(&mut self) -> u64 {
        let state = &mut self.state;
        let result = state[1].wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let shifted = state[1] << 17;
        state[2] ^= state[0];
        state[3] ^= state[1];
        state[1] ^= state[2];
        state[0] ^= state[3];
        state[2] ^= shifted;
        state[3] = state[3].rotate_left(45);
        result
    }

    /// Returns a number below `limit`, which must not be 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        assert!(limit > 0, "no number is below 0");
        ((u128::from(self.u64()) * u128::from(limit)) >> 64) as u64
    }

    /// Returns a number in `low..=high`.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        assert!(low <= high, "{low}..={high} is empty");
        match (high - low).checked_add(1) {
            Some(limit) => low + self.below(limit),
            None => self.u64(),
        }
    }

    /// Returns true once in `in_how_many` calls on average.
    pub fn one_in(&mut self, in_how_many: u64) -> bool {
        self.below(in_how_many) == 0
    }

    /// Fills `bytes` with random bytes.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let word = self.u64().to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
    }

    /// Returns `len` random bytes.
    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        self.fill(&mut bytes);
        bytes
    }

    /// Returns valid bytes changed as a fault or an attacker might change them, for tests of
    /// decoders: bits are flipped, numbers made extreme, stretches cut out, doubled or moved, the
    /// end is cut off or something appended. Sometimes several of these are combined.
    pub fn damaged(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        for _ in 0..*self.pick(&[1, 1, 1, 2, 4, 16]) {
            self.damage(&mut bytes);
        }
        bytes
    }

    fn damage(&mut self, bytes: &mut Vec<u8>) {
        const EXTREMES: [u64; 10] =
            [0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFF_FFFF, 0xFFFF_FFFF, u64::MAX];
        let len = bytes.len() as u64;
        let at = if len == 0 { 0 } else { self.below(len) as usize };
        let stretch = (at + 1 + self.below(16) as usize).min(bytes.len());
        match self.below(8) {
            0 if len > 0 => bytes[at] ^= 1 << self.below(8),
            1 if len > 0 => bytes[at] = self.u64() as u8,
            2 | 3 => {
                let number = self.pick(&EXTREMES).to_le_bytes();
                let width = (*self.pick(&[1, 2, 4, 8])).min(bytes.len() - at);
                bytes[at..at + width].copy_from_slice(&number[..width]);
            }
            4 => bytes.truncate(at),
            5 if len > 0 => drop(bytes.drain(at..stretch)),
            6 if len > 0 => {
                let doubled = bytes[at..stretch].to_vec();
                let to = self.below(len + 1) as usize;
                bytes.splice(to..to, doubled);
            }
            _ => {
                let more = self.below(20) as usize;
                let more = self.bytes(more);
                bytes.extend_from_slice(&more);
            }
        }
    }

    /// Returns one element of `items`, which must not be empty.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len() as u64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_seed_same_sequence() {
        let (mut one, mut other, mut different) = (Rng::new(7), Rng::new(7), Rng::new(8));
        let first: Vec<u64> = (0..8).map(|_| one.u64()).collect();
        assert!(first.iter().all(|&word| word == other.u64()));
        assert!(first.iter().any(|&word| word != different.u64()));
    }

    #[test]
    fn bounds_hold_and_are_reached() {
        let mut rng = Rng::new(test_seed("bounds_hold_and_are_reached"));
        let mut seen = [false; 5];
        for _ in 0..1000 {
            let number = rng.between(3, 7);
            assert!((3..=7).contains(&number));
            seen[(number - 3) as usize] = true;
        }
        assert_eq!(seen, [true; 5]);
        assert_eq!(rng.bytes(13).len(), 13);
    }

    #[test]
    fn the_systems_randomness_is_not_constant() {
        let (mut one, mut other) = ([0; 32], [0; 32]);
        fill(&mut one);
        fill(&mut other);
        assert_ne!(one, other);
    }
}
