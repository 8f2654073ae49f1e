//! sysbench 1.0's random values: its default distribution of row ids, and its digit strings.

use os::random::Rng;

/// Bytes of column `c`.
pub const C_LEN: usize = 119;
/// Bytes of column `pad`.
pub const PAD_LEN: usize = 59;

/// Digits of a group in `c` and `pad`; groups are separated by dashes.
const GROUP_DIGITS: usize = 11;

/// `--rand-spec-res`: how many values of a hundred are taken from the hot range.
const HOT_PERCENT: u64 = 75;
/// `--rand-spec-pct`: the hot range's part of all values, in percent, in the middle.
const HOT_RANGE_PERCENT: u64 = 1;
/// `--rand-spec-iter`: how many uniform values are averaged for one that is not hot.
const BELL_ITERATIONS: u64 = 12;

/// A number in `1..=limit` by sysbench's default distribution ("special"): three of four fall
/// evenly into one hundredth of the range in its middle, the others follow a bell around it.
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
        // Eleven decimal digits of one random word; what is left of the word's evenness is plenty.
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
        // 75,000 and the middle of the bell, which is about 4.7% of the other 25,000.
        assert!((74_000..79_000).contains(&hot), "{hot}");
        for limit in 1..5 {
            assert!((0..100).all(|_| (1..=limit).contains(&special(&mut rng, limit))));
        }
    }
}
