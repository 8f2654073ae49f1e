//! sysbench 1.0's random values: its default distribution of row ids, and its digit strings.

use os::random::Rng;

/// The length of column `c` in bytes.
pub const C_LEN: usize = 119;
/// The length of column `pad` in bytes.
pub const PAD_LEN: usize = 59;

/// The number of digits of a group in `c` and `pad`. Groups are separated by dashes.
const GROUP_DIGITS: usize = 11;

/// `--rand-spec-res`: the percentage of values that are taken from the hot range.
const HOT_PERCENT: u64 = 75;
/// `--rand-spec-pct`: the size of the hot range in percent of all values. It lies in the middle of
/// them.
const HOT_RANGE_PERCENT: u64 = 1;
/// `--rand-spec-iter`: the number of uniform values whose average is a value that is not from the
/// hot range.
const BELL_ITERATIONS: u64 = 12;

/// The distribution of the row ids of a load (`--rand-type`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RandType {
    /// sysbench's default, [`special`].
    #[default]
    Special,
    /// All rows alike.
    Uniform,
}

impl RandType {
    /// All distributions with sysbench's names.
    pub const NAMES: [(&'static str, RandType); 2] =
        [("special", RandType::Special), ("uniform", RandType::Uniform)];

    /// Returns sysbench's name of the distribution.
    pub fn name(self) -> &'static str {
        let known = RandType::NAMES.iter().find(|(_, known)| *known == self);
        known.expect("all are listed").0
    }

    /// Returns a number in `1..=limit`.
    pub fn pick(self, rng: &mut Rng, limit: u64) -> u64 {
        assert!(limit > 0, "an empty table has no row to pick");
        match self {
            RandType::Special => special(rng, limit),
            RandType::Uniform => 1 + rng.below(limit),
        }
    }
}

/// Returns a number in `1..=limit` with sysbench's default distribution ("special"): three of four
/// numbers are uniform in one hundredth of the range in its middle, the others follow a bell curve
/// around it.
pub fn special(rng: &mut Rng, limit: u64) -> u64 {
    assert!(limit > 0, "an empty table has no row to pick");
    if rng.below(100) < HOT_PERCENT {
        let width = (limit * HOT_RANGE_PERCENT / 100).max(1);
        return 1 + (limit - width) / 2 + rng.below(width);
    }
    let sum: u64 = (0..BELL_ITERATIONS).map(|_| rng.below(limit)).sum();
    1 + sum / BELL_ITERATIONS
}

/// Fills `out` with random digits in groups of eleven, separated by dashes.
pub fn digits(rng: &mut Rng, out: &mut [u8]) {
    for group in out.chunks_mut(GROUP_DIGITS + 1) {
        // One random number yields the eleven decimal digits of a group.
        let mut word = rng.below(100_000_000_000);
        for place in group.iter_mut().take(GROUP_DIGITS) {
            *place = b'0' + (word % 10) as u8;
            word /= 10;
        }
        if let Some(separator) = group.get_mut(GROUP_DIGITS) {
            *separator = b'-';
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_look_like_sysbenchs() {
        let mut rng = Rng::new(os::random::test_seed("strings_look_like_sysbenchs"));
        let (mut c, mut pad) = ([0; C_LEN], [0; PAD_LEN]);
        digits(&mut rng, &mut c);
        digits(&mut rng, &mut pad);
        for (text, groups) in [(&c[..], 10), (&pad[..], 5)] {
            let parts: Vec<&[u8]> = text.split(|byte| *byte == b'-').collect();
            assert_eq!(parts.len(), groups);
            assert!(
                parts.iter().all(|part| part.len() == GROUP_DIGITS && part.iter().all(u8::is_ascii_digit))
            );
        }
    }

    #[test]
    fn three_of_four_are_in_the_middle_hundredth() {
        let mut rng = Rng::new(os::random::test_seed("three_of_four_are_in_the_middle_hundredth"));
        let values: Vec<u64> = (0..100_000).map(|_| special(&mut rng, 10_000)).collect();
        assert!(values.iter().all(|value| (1..=10_000).contains(value)));
        let hot = values.iter().filter(|value| (4_951..=5_050).contains(*value)).count();
        // The hot range gets 75,000 values, and about 4.7% of the other 25,000 from the middle of
        // the bell curve.
        assert!((74_000..79_000).contains(&hot), "{hot}");
        for limit in 1..5 {
            assert!((0..100).all(|_| (1..=limit).contains(&special(&mut rng, limit))));
        }
    }
}
