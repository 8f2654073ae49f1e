//! The pace of flushing by age: adaptive flushing, modelled on InnoDB's.
//!
//! Two figures ask for flushing, and the larger one counts: the share of dirty pages (from
//! `innodb_max_dirty_pages_pct_lwm` on), and the part of the log's capacity that the oldest change
//! holds (from `innodb_adaptive_flushing_lwm` on, rising faster than linearly up to
//! `innodb_io_capacity_max`). The result is averaged with the pace that was kept so far and with
//! the pace at which the log's growth makes pages old, so that a steady load finds a steady pace
//! well before the log is short. A server whose log does not grow writes at `innodb_io_capacity`.

use redo::Lsn;

use crate::frames::Frames;
use crate::instance::Instance;
use crate::lru_order::TICK_MS;
use crate::options::PoolOptions;

/// The percentage of the log's capacity from which on flushing is urgent, whatever the options say.
const URGENT_PERCENT: f64 = 75.0;
/// How many seconds of log growth are looked ahead when pages that will soon be old are counted.
const SECONDS_AHEAD: u64 = 3;

/// What the coordinator keeps from one round to the next.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    last: Option<(Lsn, u64)>,
    /// The growth of the log in bytes a second, averaged.
    log_rate: f64,
    /// The number of pages due in a second, averaged.
    page_rate: f64,
    /// When the next round by age is due, in milliseconds of the monotonic clock.
    next_ms: u64,
}

impl Pace {
    /// Returns how many pages to write by age in this round, for each instance.
    pub fn pages_due(&mut self, frames: &Frames, options: &PoolOptions) -> Vec<usize> {
        let nothing = vec![0; frames.instances().len()];
        let now_ms = os::clock::monotonic_ns() / 1_000_000;
        if now_ms < self.next_ms {
            // The coordinator was woken only to make frames free.
            return nothing;
        }
        self.next_ms = now_ms + u64::from(TICK_MS);
        frames.order().advance_tick();
        let idle = self.observe(frames.log.current_lsn(), now_ms, options);
        let dirty: Vec<usize> =
            frames.instances().iter().map(|instance| instance.flush_lists.lock().dirty_len()).collect();
        let total: usize = dirty.iter().sum();
        if total == 0 {
            return nothing;
        }
        let a_second =
            if idle { f64::from(options.io_capacity) } else { self.a_second(frames, options, total) };
        let due = (a_second * f64::from(TICK_MS) / 1000.0).ceil() as usize;
        dirty.into_iter().map(|part| (due * part).div_ceil(total)).collect()
    }

    /// Notes how the log grows. Returns true when it does not grow.
    fn observe(&mut self, end: Lsn, now_ms: u64, options: &PoolOptions) -> bool {
        let Some((last_lsn, last_ms)) = self.last.replace((end, now_ms)) else { return false };
        let rate = (end - last_lsn) as f64 * 1000.0 / (now_ms - last_ms).max(1) as f64;
        let loops = f64::from(options.flushing_avg_loops.max(1));
        self.log_rate += (rate - self.log_rate) / loops;
        end == last_lsn
    }

    fn a_second(&mut self, frames: &Frames, options: &PoolOptions, dirty: usize) -> f64 {
        let (normal, most) =
            (f64::from(options.io_capacity), f64::from(options.io_capacity_max.max(options.io_capacity)));
        let oldest = frames.oldest_dirty_lsn().unwrap_or(frames.log.current_lsn());
        let age = frames.log.current_lsn().saturating_sub(oldest) as f64;
        let age_percent = age * 100.0 / frames.log.capacity_bytes().max(1) as f64;
        if age_percent >= URGENT_PERCENT && options.flush_sync {
            return most * 4.0;
        }
        let dirty_percent = dirty as f64 * 100.0 / frames.count() as f64;
        let by_share = normal * share_percent(dirty_percent, options) / 100.0;
        let by_age = normal * age_urge_percent(age_percent, most / normal.max(1.0), options) / 100.0;
        let wanted = by_share.max(by_age);
        let aged = if by_age > 0.0 { self.growing_old(frames, oldest, most) } else { wanted };
        let loops = f64::from(options.flushing_avg_loops.max(1));
        self.page_rate += (wanted - self.page_rate) / loops;
        if wanted == 0.0 { 0.0 } else { ((wanted + self.page_rate + aged) / 3.0).min(most) }
    }

    /// Returns how many pages a second become old by the log's growth.
    fn growing_old(&self, frames: &Frames, oldest: Lsn, most: f64) -> f64 {
        let below = oldest + (self.log_rate * SECONDS_AHEAD as f64) as u64;
        let limit = (most as usize).saturating_mul(SECONDS_AHEAD as usize);
        let count_in = |instance: &Instance| instance.flush_lists.lock().count_older_than(below, limit);
        let pages: usize = frames.instances().iter().map(count_in).sum();
        (pages as f64 / SECONDS_AHEAD as f64).min(most)
    }
}

/// Returns how much flushing the share of dirty pages asks for, in percent of `io_capacity`.
fn share_percent(dirty_percent: f64, options: &PoolOptions) -> f64 {
    let from = match options.max_dirty_lwm_percent {
        0.0 => options.max_dirty_percent,
        low => low.min(options.max_dirty_percent),
    };
    if dirty_percent < from {
        0.0
    } else {
        (dirty_percent * 100.0 / (options.max_dirty_percent + 1.0)).min(100.0)
    }
}

/// Returns how much flushing the log's age asks for, in percent of `io_capacity`. `reserve` is
/// `io_capacity_max` divided by `io_capacity`.
fn age_urge_percent(age_percent: f64, reserve: f64, options: &PoolOptions) -> f64 {
    if age_percent >= URGENT_PERCENT {
        return reserve * 100.0;
    }
    if !options.adaptive_flushing || age_percent < options.adaptive_flushing_lwm_percent {
        return 0.0;
    }
    // The urge is the power of 1.5 of the part below `URGENT_PERCENT`, so that it ends at 100
    // percent of the reserve.
    let part = age_percent / URGENT_PERCENT;
    reserve * 100.0 * part * part.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_dirty_pages_urges_from_its_low_water_mark_on() {
        let mut options = PoolOptions::default();
        assert_eq!(share_percent(9.9, &options), 0.0);
        assert!(share_percent(10.0, &options) > 10.0 && share_percent(50.0, &options) < 60.0);
        assert_eq!(share_percent(99.0, &options), 100.0);
        options.max_dirty_lwm_percent = 0.0;
        assert_eq!(share_percent(89.0, &options), 0.0);
        assert!(share_percent(90.0, &options) > 98.0);
    }

    #[test]
    fn the_age_of_the_log_urges_up_to_the_reserve() {
        let mut options = PoolOptions::default();
        assert_eq!(age_urge_percent(9.0, 2.0, &options), 0.0);
        let urges: Vec<f64> =
            [10.0, 30.0, 60.0, 74.9, 90.0].map(|age| age_urge_percent(age, 2.0, &options)).into();
        assert!(urges.is_sorted() && urges[0] > 0.0 && urges[2] < 200.0, "{urges:?}");
        assert_eq!(urges[4], 200.0);
        options.adaptive_flushing = false;
        assert_eq!(
            (age_urge_percent(60.0, 2.0, &options), age_urge_percent(80.0, 2.0, &options)),
            (0.0, 200.0)
        );
    }

    #[test]
    fn the_growth_of_the_log_is_averaged() {
        let (mut pace, options) = (Pace::default(), PoolOptions::default());
        assert!(!pace.observe(1000, 0, &options));
        for round in 1..=200 {
            assert!(!pace.observe(1000 + round * 100, round * 100, &options));
        }
        assert!((900.0..1001.0).contains(&pace.log_rate), "{}", pace.log_rate);
        assert!(pace.observe(21_000, 20_100, &options));
    }
}
