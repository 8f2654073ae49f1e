//! How often statements took how long.

use std::sync::LazyLock;

/// The number of buckets. Each is nearly 5 % wider than the one before it.
pub const BUCKETS: usize = 450;

/// The lower bound of the second bucket, in picoseconds.
const LOWEST_PS: f64 = 10_000_000.0;

/// The 50th root of 10, by which bounds grow, so that 50 buckets are a power of ten.
const GROWTH: f64 = 1.047_128_548_050_899_6;

static LOWS_PS: LazyLock<[u64; BUCKETS]> = LazyLock::new(|| {
    let mut low = LOWEST_PS;
    std::array::from_fn(|bucket| {
        if bucket == 0 {
            return 0;
        }
        let this = low as u64;
        low *= GROWTH;
        this
    })
});

/// How many parts each power of two has in [`FIRST_OF_PART`], as bits. A part is at most 1/16 of
/// its beginning wide, so that it has the bounds of two buckets at most.
const PART_BITS: u32 = 4;

/// The bucket of the least time of each part of a power of two.
static FIRST_OF_PART: LazyLock<[u16; 65 << PART_BITS]> = LazyLock::new(|| {
    std::array::from_fn(|part| {
        let least = least_of_part(part);
        LOWS_PS.partition_point(|low| *low <= least) as u16 - 1
    })
});

/// Returns the part of its power of two that a time is in: the number of its bits, and the bits
/// behind the first one.
fn part_of(wait_ps: u64) -> usize {
    let zeros = wait_ps.leading_zeros();
    let behind_first = wait_ps.checked_shl(zeros + 1).unwrap_or(0);
    ((64 - zeros as usize) << PART_BITS) + (behind_first >> (64 - PART_BITS)) as usize
}

/// Returns the least time that is in a part, or one below it that is in the same bucket.
fn least_of_part(part: usize) -> u64 {
    let (bits, behind_first) = (part >> PART_BITS, (part % (1 << PART_BITS)) as u64);
    match bits {
        0 => 0,
        1..=4 => 1 << (bits - 1),
        _ => 1 << (bits - 1) | behind_first << (bits - 1 - PART_BITS as usize),
    }
}

/// Returns the lower bound of a bucket, in picoseconds. Behind the last bucket is `u64::MAX`.
pub fn bucket_low_ps(bucket: usize) -> u64 {
    LOWS_PS.get(bucket).copied().unwrap_or(u64::MAX)
}

/// Returns the bucket of a time in nanoseconds.
pub fn bucket_of(wait_ns: u64) -> u16 {
    let wait_ps = wait_ns.saturating_mul(1000);
    let mut bucket = FIRST_OF_PART[part_of(wait_ps)];
    while usize::from(bucket) + 1 < BUCKETS && LOWS_PS[usize::from(bucket) + 1] <= wait_ps {
        bucket += 1;
    }
    bucket
}

/// The counts of buckets, without those that are empty: nearly all are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Histogram(Vec<(u16, u64)>);

impl Histogram {
    /// Counts a statement in a bucket.
    pub fn add(&mut self, bucket: u16) {
        match self.0.binary_search_by_key(&bucket, |(known, _)| *known) {
            Ok(at) => self.0[at].1 += 1,
            Err(at) => self.0.insert(at, (bucket, 1)),
        }
    }

    /// Returns the count of a bucket.
    pub fn count(&self, bucket: usize) -> u64 {
        let found = self.0.binary_search_by_key(&bucket, |(known, _)| usize::from(*known));
        found.map_or(0, |at| self.0[at].1)
    }

    /// Returns the number of statements in all buckets.
    pub fn all(&self) -> u64 {
        self.0.iter().map(|(_, count)| count).sum()
    }

    /// Empties all buckets.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns the upper bound, in picoseconds, of the bucket in which the given share of the
    /// statements is reached; 0 where there are none.
    pub fn quantile_ps(&self, share: f64) -> u64 {
        let all = self.all();
        let wanted = (all as f64 * share).ceil() as u64;
        let mut below = 0;
        for (bucket, count) in &self.0 {
            below += count;
            if below >= wanted {
                return bucket_low_ps(usize::from(*bucket) + 1);
            }
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_in_the_bucket_whose_bounds_hold_it() {
        assert_eq!((bucket_low_ps(0), bucket_low_ps(1), bucket_low_ps(51)), (0, 10_000_000, 100_000_000));
        assert_eq!(bucket_low_ps(BUCKETS), u64::MAX);
        assert_eq!((bucket_of(0), bucket_of(9_999), bucket_of(10_000)), (0, 0, 1));
        assert_eq!(bucket_of(u64::MAX), BUCKETS as u16 - 1);
        for wait_ns in (0..60).flat_map(|bits| [1u64 << bits, (1 << bits) + 1, (1 << bits) - 1]) {
            let bucket = usize::from(bucket_of(wait_ns));
            let bounds = bucket_low_ps(bucket)..=bucket_low_ps(bucket + 1);
            let wait_ps = wait_ns.saturating_mul(1000);
            assert!(bounds.contains(&wait_ps), "{wait_ns}");
            assert!(wait_ps < *bounds.end() || bucket == BUCKETS - 1, "{wait_ns}");
        }
    }

    #[test]
    fn a_quantile_is_the_bound_that_so_many_stay_below() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.quantile_ps(0.95), 0);
        (0..99).for_each(|_| histogram.add(3));
        histogram.add(40);
        assert_eq!(histogram.quantile_ps(0.95), bucket_low_ps(4));
        assert_eq!(histogram.quantile_ps(0.999), bucket_low_ps(41));
        assert_eq!((histogram.count(3), histogram.count(4), histogram.all()), (99, 0, 100));
    }
}
