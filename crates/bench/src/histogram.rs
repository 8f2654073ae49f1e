//! A histogram of response times. Its buckets grow with the time, so that every percentile is known
//! to about 3% and the histogram takes a few kilobytes.

/// The number of buckets for each power of two.
const STEPS: u64 = 32;
/// The number of powers of two above [`STEPS`] that have buckets of their own. Longer times are
/// counted in the last bucket.
const POWERS: u64 = 36;

/// The upper limits of the buckets of the Insert Benchmark's histogram, in microseconds, and the
/// names of the buckets.
const SHOWN: [(u64, &str); 9] = [
    (256, "256us"),
    (1_000, "1ms"),
    (4_000, "4ms"),
    (16_000, "16ms"),
    (64_000, "64ms"),
    (256_000, "256ms"),
    (1_000_000, "1s"),
    (4_000_000, "4s"),
    (16_000_000, "16s"),
];

/// The number of times that each response time was seen.
#[derive(Clone, Debug)]
pub struct Histogram {
    buckets: Vec<u64>,
    max_us: u64,
}

/// The percentiles that the reports show, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Percentiles {
    /// The median.
    pub p50_ms: f64,
    /// The 95th percentile.
    pub p95_ms: f64,
    /// The 99th percentile.
    pub p99_ms: f64,
    /// The longest time.
    pub max_ms: f64,
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram { buckets: vec![0; (STEPS * (POWERS + 1)) as usize], max_us: 0 }
    }
}

/// Returns the bucket of a time in microseconds. Times below [`STEPS`] have a bucket each. Above,
/// each power of two is divided into [`STEPS`] buckets of equal width.
fn bucket_of(us: u64) -> usize {
    if us < STEPS {
        return us as usize;
    }
    let power = u64::from(us.ilog2() - STEPS.ilog2());
    let bucket = STEPS + power * STEPS + ((us >> power) - STEPS);
    bucket.min(STEPS * (POWERS + 1) - 1) as usize
}

/// Returns the longest time that falls into a bucket, in microseconds.
fn end_of(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < STEPS {
        return bucket;
    }
    let (power, step) = ((bucket - STEPS) / STEPS, bucket % STEPS);
    ((STEPS + step + 1) << power) - 1
}

impl Histogram {
    /// Counts one response time, in microseconds.
    pub fn record(&mut self, us: u64) {
        self.add(us, 1);
    }

    /// Counts a response time in microseconds `count` times.
    pub fn add(&mut self, us: u64, count: u64) {
        self.buckets[bucket_of(us)] += count;
        self.max_us = self.max_us.max(us);
    }

    /// Adds all times that `other` has counted.
    pub fn merge(&mut self, other: &Histogram) {
        for (own, theirs) in self.buckets.iter_mut().zip(&other.buckets) {
            *own += theirs;
        }
        self.max_us = self.max_us.max(other.max_us);
    }

    /// Returns the number of times that were counted.
    pub fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// Returns the time in microseconds that a share of all times (0 to 1) did not exceed, or 0
    /// when nothing was counted.
    pub fn percentile_us(&self, share: f64) -> u64 {
        let wanted = (self.count() as f64 * share).ceil() as u64;
        let mut seen = 0;
        let reached = self.buckets.iter().position(|count| {
            seen += count;
            seen >= wanted && seen > 0
        });
        reached.map_or(0, |bucket| end_of(bucket).min(self.max_us))
    }

    /// Returns the percentiles that the reports show.
    pub fn percentiles(&self) -> Percentiles {
        let ms = |us: u64| us as f64 / 1000.0;
        Percentiles {
            p50_ms: ms(self.percentile_us(0.5)),
            p95_ms: ms(self.percentile_us(0.95)),
            p99_ms: ms(self.percentile_us(0.99)),
            max_ms: ms(self.max_us),
        }
    }

    /// Returns the Insert Benchmark's histogram: for each limit, the number of times up to it and
    /// above the limit before, and at the end the number of times above the last limit. A bucket of
    /// this histogram that contains a limit counts as below it.
    pub fn shown(&self) -> Vec<(&'static str, u64)> {
        let mut from = 0;
        let mut counts: Vec<(&str, u64)> = SHOWN
            .iter()
            .map(|(limit_us, name)| {
                let to = bucket_of(*limit_us) + 1;
                let count = self.buckets[from..to].iter().sum();
                from = to;
                (*name, count)
            })
            .collect();
        counts.push(("longer", self.buckets[from..].iter().sum()));
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_follow_each_other_without_a_gap() {
        for bucket in 0..(STEPS * (POWERS + 1)) as usize {
            assert_eq!(bucket_of(end_of(bucket)), bucket);
            assert_eq!(bucket_of(end_of(bucket) + 1), (bucket + 1).min((STEPS * (POWERS + 1)) as usize - 1));
        }
        assert_eq!(bucket_of(u64::MAX), (STEPS * (POWERS + 1)) as usize - 1);
    }

    #[test]
    fn percentiles_are_within_a_bucket() {
        let (mut low, mut high) = (Histogram::default(), Histogram::default());
        (1..=5_000).for_each(|us| low.record(us));
        (5_001..=10_000).for_each(|us| high.record(us));
        low.merge(&high);
        let shown = low.percentiles();
        for (ms, exact) in [(shown.p50_ms, 5.0), (shown.p95_ms, 9.5), (shown.p99_ms, 9.9)] {
            assert!((ms - exact).abs() <= exact / STEPS as f64, "{ms} is not {exact}");
        }
        assert_eq!((shown.max_ms, low.count()), (10.0, 10_000));
        assert_eq!(Histogram::default().percentiles(), Percentiles::default());
    }

    #[test]
    fn the_insert_benchmarks_limits() {
        let mut histogram = Histogram::default();
        for us in [10, 256, 900, 3_000, 20_000_000] {
            histogram.record(us);
        }
        let shown = histogram.shown();
        let count = |name| shown.iter().find(|(limit, _)| *limit == name).map(|(_, count)| *count);
        assert_eq!((count("256us"), count("1ms"), count("4ms")), (Some(2), Some(1), Some(1)));
        assert_eq!((count("16s"), count("longer")), (Some(0), Some(1)));
    }
}
