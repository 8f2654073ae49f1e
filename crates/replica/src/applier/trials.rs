//! Trials that find out whether transactions are applied faster by all workers together or by one
//! of them alone.
//!
//! No figure tells beforehand what the workers cost each other, and how much of the processors
//! other threads leave to them. On two processors of which the binary log's writer needs a part,
//! one thread alone is often faster than two. Where transactions wait for pages from the disk,
//! sixteen threads are faster by far. So the speed of the present way is measured in windows of
//! time, and now and then the other way is tried for one window. The better the present way was in
//! the last trials, the longer it stays until the next one.
//!
//! Only a backlog tells anything. Where the relay log runs dry, both ways are fast enough, and the
//! window begins anew.

use std::time::Duration;

/// The way in which transactions are applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// One thread applies them one after the other.
    Alone,
    /// All workers apply them.
    Together,
}

impl Way {
    fn other(self) -> Way {
        match self {
            Way::Alone => Way::Together,
            Way::Together => Way::Alone,
        }
    }
}

/// The length of one measurement of a way.
const WINDOW: Duration = Duration::from_millis(8);
/// The time between a change of the way and the beginning of the window. Work that is still coming
/// in or going out then would falsify the measurement.
const SETTLING: Duration = Duration::from_millis(2);
/// The number of windows between trials at first, and after the way has changed.
const FEWEST: u32 = 2;
/// The largest number of windows between trials. It doubles with every trial that confirms the way.
const MOST: u32 = 32;
/// The logarithm of the ratio of speeds above which the other way is taken.
const WORTH: f64 = 0.03;
/// The weight of the last trial against all earlier ones together.
const NEWEST: f64 = 0.5;

/// The state of the trials.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Stage {
    /// The better way has been in use for this number of windows since the last trial.
    Using(u32),
    /// The other way is being tried.
    Trying,
}

/// The trials of both ways. Times are those of a clock with any starting point.
#[derive(Debug)]
pub(super) struct Trials {
    better: Way,
    stage: Stage,
    /// The number of windows until the next trial.
    stays: u32,
    /// The logarithm of the other way's speed divided by this way's. `None` before the first trial.
    promise: Option<f64>,
    /// The bytes and the seconds of the windows since the last trial.
    used: (f64, f64),
    /// The bytes since the window began.
    bytes: u64,
    /// The time when the window began. `None` means that it begins with the next group.
    began: Option<Duration>,
    /// True while the window is the time after a change of the way, which does not count.
    settling: bool,
}

impl Trials {
    /// Builds trials that begin with one thread alone.
    pub fn new() -> Trials {
        Trials {
            better: Way::Alone,
            stage: Stage::Using(0),
            stays: FEWEST,
            promise: None,
            used: (0.0, 0.0),
            bytes: 0,
            began: None,
            settling: true,
        }
    }

    /// Returns the way in which transactions are to be applied now.
    pub fn way(&self) -> Way {
        match self.stage {
            Stage::Using(_) => self.better,
            Stage::Trying => self.better.other(),
        }
    }

    /// Puts a trial off, because there is nothing to apply for now and the measurement is
    /// incomplete.
    pub fn pause(&mut self) {
        self.begin_window(false);
        if self.stage == Stage::Trying {
            self.stage = Stage::Using(0);
        }
    }

    /// Counts `bytes` of the relay log that have been applied, or given out to be applied, at
    /// `now`.
    pub fn add(&mut self, bytes: usize, now: Duration) {
        let Some(began) = self.began else {
            self.began = Some(now);
            return;
        };
        self.bytes += bytes as u64;
        let elapsed = now.saturating_sub(began);
        if self.settling && elapsed >= SETTLING {
            self.begin_window(false);
            self.began = Some(now);
        } else if elapsed >= WINDOW {
            let measured = (self.bytes as f64, elapsed.as_secs_f64());
            let before = self.way();
            self.end_window(measured);
            self.begin_window(self.way() != before);
            self.began = Some(now);
        }
    }

    fn begin_window(&mut self, settling: bool) {
        (self.bytes, self.began, self.settling) = (0, None, settling);
    }

    fn end_window(&mut self, (bytes, seconds): (f64, f64)) {
        let windows = match self.stage {
            Stage::Trying => return self.end_trial(bytes / seconds),
            Stage::Using(windows) => windows + 1,
        };
        self.used = (self.used.0 + bytes, self.used.1 + seconds);
        self.stage = if windows < self.stays { Stage::Using(windows) } else { Stage::Trying };
    }

    fn end_trial(&mut self, speed: f64) {
        let (bytes, seconds) = std::mem::take(&mut self.used);
        self.stage = Stage::Using(0);
        let faster = (speed / (bytes / seconds)).ln();
        let promise = self.promise.map_or(faster, |before| before + (faster - before) * NEWEST);
        if promise > WORTH {
            self.better = self.better.other();
            self.promise = Some(-promise);
            self.stays = FEWEST;
        } else {
            self.promise = Some(promise);
            self.stays = (self.stays * 2).min(MOST);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use os::random::{Rng, test_seed};

    /// The bytes that are applied between two looks at the clock.
    const BYTES: usize = 100;

    /// Applies for a second where the two ways have these speeds, in bytes per millisecond, give or
    /// take a tenth. Returns the share of the time in which all workers worked together.
    fn second_of(trials: &mut Trials, clock_us: &mut u64, speeds: (u64, u64), rng: &mut Rng) -> f64 {
        let (until_us, mut together_us) = (*clock_us + 1_000_000, 0);
        while *clock_us < until_us {
            let way = trials.way();
            let speed = if way == Way::Alone { speeds.0 } else { speeds.1 };
            let took_us = 1_000 * BYTES as u64 / (speed * rng.between(90, 110) / 100);
            *clock_us += took_us;
            together_us += if way == Way::Together { took_us } else { 0 };
            trials.add(BYTES, Duration::from_micros(*clock_us));
        }
        together_us as f64 / 1e6
    }

    #[test]
    fn the_faster_way_is_found_and_found_again_when_the_other_becomes_faster() {
        let mut rng = Rng::new(test_seed("trials"));
        let (mut trials, mut clock_us) = (Trials::new(), 0);
        assert_eq!(trials.way(), Way::Alone, "what keeps up needs no other");
        for (speeds, together) in [((60, 40), false), ((40, 60), true), ((50, 40), false), ((10, 90), true)] {
            second_of(&mut trials, &mut clock_us, speeds, &mut rng);
            let share = second_of(&mut trials, &mut clock_us, speeds, &mut rng);
            let of_better = if together { share } else { 1.0 - share };
            assert!(of_better > 0.8, "{speeds:?}: together {share} of the time");
        }
    }

    #[test]
    fn where_the_relay_log_runs_dry_nothing_is_tried() {
        let mut trials = Trials::new();
        for step in 0..100_000u64 {
            trials.add(10_000, Duration::from_micros(step * 100));
            assert_eq!(trials.way(), Way::Alone, "in step {step}");
            if step % 50 == 0 {
                trials.pause();
            }
        }
    }
}
