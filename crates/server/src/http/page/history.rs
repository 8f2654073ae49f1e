//! Samples of the server's figures over the last day, in memory.

use os::account::State;
use std::collections::VecDeque;
use std::time::Duration;

/// The time between two samples.
pub const BETWEEN_SAMPLES: Duration = Duration::from_secs(10);
/// The time for which samples are kept.
pub const KEPT: Duration = Duration::from_secs(24 * 60 * 60);
/// The number of samples that are kept.
const MOST_SAMPLES: usize = (KEPT.as_secs() / BETWEEN_SAMPLES.as_secs()) as usize + 1;
/// The number of states of a thread.
pub const STATES: usize = State::ALL.len();
const NS_PER_S: f64 = 1e9;

/// The figures at one time. Those that count have counted since the server's start.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    /// The time by the machine's monotonic clock, in nanoseconds.
    pub at_ns: u64,
    /// The largest lag of a channel since the last sample, in microseconds. `None` means that there
    /// is no channel or that the lag of one was not known.
    pub lag_us: Option<u64>,
    /// The transactions that the channels have applied.
    pub applied: u64,
    /// The transactions that were committed, applied ones among them.
    pub commits: u64,
    /// The statements of clients.
    pub statements: u64,
    /// The bytes that were written into the redo log.
    pub log_bytes: u64,
    /// The bytes of the pages that were written.
    pub page_bytes: u64,
    /// The connections of clients now.
    pub connections: u64,
    /// The connections that run a command now.
    pub running: u64,
    /// The bytes of log that recovery would read now.
    pub checkpoint_age_bytes: u64,
    /// The bytes of the dirty pages now.
    pub dirty_bytes: u64,
    /// The wall time that all threads together have spent in each state, in microseconds, by the
    /// number of the state.
    pub states_us: [u64; STATES],
}

const _: () = assert!(size_of::<Sample>() * MOST_SAMPLES < 5_000_000, "decision 0068 says so");

/// What has happened in a span of time.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// The end of the span, in seconds before the newest sample.
    pub before_s: f64,
    /// The largest lag that was seen, in microseconds. `None` means that none was known.
    pub lag_us: Option<u64>,
    /// Applied transactions in a second.
    pub applied: f64,
    /// Commits in a second.
    pub commits: f64,
    /// Statements in a second.
    pub statements: f64,
    /// Bytes of log in a second.
    pub log_bytes: f64,
    /// Bytes of written pages in a second.
    pub page_bytes: f64,
    /// The largest number of connections that was seen.
    pub connections: u64,
    /// The largest number of connections with a command that was seen.
    pub running: u64,
    /// The largest age of the checkpoint that was seen, in bytes.
    pub checkpoint_age_bytes: u64,
    /// The largest number of bytes of dirty pages that was seen.
    pub dirty_bytes: u64,
    /// The average number of threads in each state, by the number of the state.
    pub states: [f64; STATES],
}

/// The samples, the oldest first.
#[derive(Debug, Default)]
pub struct History(VecDeque<Sample>);

impl History {
    /// Adds a sample, for which the oldest one makes room.
    pub fn add(&mut self, sample: Sample) {
        assert!(self.0.back().is_none_or(|last| last.at_ns <= sample.at_ns), "the clock goes forward");
        if self.0.len() == MOST_SAMPLES {
            self.0.pop_front();
        }
        self.0.push_back(sample);
        assert!(self.0.len() <= MOST_SAMPLES, "the history is bounded");
    }

    /// Returns the points of the span before `now`, about `most` of them, the oldest first. Each
    /// point covers samples side by side. `now` ends the last point, unless a sample was taken so
    /// shortly before that a rate between them would tell little.
    pub fn points(&self, now: &Sample, span: Duration, most: usize) -> Vec<Point> {
        let width_ns = self.width(span, most).as_nanos() as u64;
        let begin_ns = now.at_ns.saturating_sub(span.as_nanos() as u64);
        let first = self.0.partition_point(|sample| sample.at_ns < begin_ns);
        let least_ns = BETWEEN_SAMPLES.as_nanos() as u64 / 2;
        let is_old = |last: &Sample| now.at_ns.saturating_sub(last.at_ns) >= least_ns;
        let newest = self.0.back().is_some_and(is_old).then_some(now);
        let last_ns = newest.or(self.0.back()).map_or(0, |last| last.at_ns);
        let mut points = Vec::new();
        let mut since: Option<&Sample> = None;
        let mut seen: Vec<&Sample> = Vec::new();
        for sample in self.0.range(first..).chain(newest) {
            let Some(before) = since else {
                since = Some(sample);
                continue;
            };
            seen.push(sample);
            // A sample is taken a moment late, and must not count for the next point because of it.
            let is_full = sample.at_ns - before.at_ns + least_ns / 2 >= width_ns;
            if is_full || sample.at_ns == last_ns {
                points.extend(point(before, &seen, now));
                since = Some(sample);
                seen.clear();
            }
        }
        assert!(points.len() <= self.0.len(), "a point covers a span between two samples");
        points
    }

    /// Returns the newest sample that is older than `now` by at least `age`, or the oldest one.
    pub fn before(&self, now: &Sample, age: Duration) -> Option<&Sample> {
        let old_enough = now.at_ns.saturating_sub(age.as_nanos() as u64);
        let after = self.0.partition_point(|sample| sample.at_ns <= old_enough);
        self.0.get(after.saturating_sub(1))
    }

    /// Returns the time that a point covers, which is that of some whole number of samples.
    fn width(&self, span: Duration, most: usize) -> Duration {
        let step = BETWEEN_SAMPLES.as_secs();
        let width = span.as_secs().div_ceil(most.max(1) as u64);
        Duration::from_secs(width.div_ceil(step).max(1) * step)
    }
}

/// Makes the point of the samples that follow on `before`. `None` means that they cover no time.
pub fn point(before: &Sample, seen: &[&Sample], now: &Sample) -> Option<Point> {
    let last = seen.last()?;
    let seconds = last.at_ns.checked_sub(before.at_ns).filter(|ns| *ns > 0)? as f64 / NS_PER_S;
    let rate = |before: u64, after: u64| after.saturating_sub(before) as f64 / seconds;
    let largest = |of: fn(&Sample) -> u64| seen.iter().map(|sample| of(sample)).max().unwrap_or(0);
    Some(Point {
        before_s: now.at_ns.saturating_sub(last.at_ns) as f64 / NS_PER_S,
        lag_us: seen.iter().filter_map(|sample| sample.lag_us).max(),
        applied: rate(before.applied, last.applied),
        commits: rate(before.commits, last.commits),
        statements: rate(before.statements, last.statements),
        log_bytes: rate(before.log_bytes, last.log_bytes),
        page_bytes: rate(before.page_bytes, last.page_bytes),
        connections: largest(|sample| sample.connections),
        running: largest(|sample| sample.running),
        checkpoint_age_bytes: largest(|sample| sample.checkpoint_age_bytes),
        dirty_bytes: largest(|sample| sample.dirty_bytes),
        states: std::array::from_fn(|state| rate(before.states_us[state], last.states_us[state]) / 1e6),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(s: u64) -> Sample {
        let mut states_us = [0; STATES];
        states_us[1] = s * 2_000_000;
        Sample {
            at_ns: s * 1_000_000_000,
            lag_us: (s != 50).then_some(s * 1000),
            applied: s * 3,
            commits: s * 5,
            statements: s * s,
            log_bytes: s * 100,
            page_bytes: 0,
            connections: s,
            running: 1,
            checkpoint_age_bytes: 1000 - s.min(1000),
            dirty_bytes: 7,
            states_us,
        }
    }

    fn of(times: impl Iterator<Item = u64>) -> History {
        let mut history = History::default();
        times.for_each(|s| history.add(at(s)));
        history
    }

    #[test]
    fn rates_are_of_the_span_between_two_samples() {
        let history = of((0..=60).step_by(10));
        let points = history.points(&at(66), Duration::from_secs(900), 360);
        assert_eq!(
            points.iter().map(|point| point.before_s).collect::<Vec<_>>(),
            [56.0, 46.0, 36.0, 26.0, 16.0, 6.0, 0.0]
        );
        assert!(points.iter().all(|point| point.applied == 3.0 && point.commits == 5.0));
        assert!(points.iter().all(|point| point.states[1] == 2.0 && point.states[0] == 0.0));
        assert_eq!((points[0].statements, points[4].lag_us, points[5].lag_us), (10.0, None, Some(60_000)));
        assert_eq!((points[6].statements, points[6].connections), (126.0, 66));
        let points = history.points(&at(64), Duration::from_secs(900), 360);
        assert_eq!(points.last().map(|point| point.before_s), Some(4.0));
    }

    #[test]
    fn a_long_span_has_few_points_that_keep_the_largest_values() {
        let history = of((0..=86_400).step_by(10));
        let points = history.points(&at(86_400), KEPT, 288);
        assert_eq!(points.len(), 288);
        assert!(points.iter().all(|point| point.commits == 5.0));
        assert_eq!((points[0].lag_us, points[0].checkpoint_age_bytes), (Some(300_000), 990));
        assert_eq!(points[287].before_s, 0.0);
        // Only the samples of the span count.
        assert_eq!(history.points(&at(86_400), Duration::from_secs(100), 288).len(), 10);
    }

    #[test]
    fn the_oldest_sample_makes_room_and_no_sample_makes_no_point() {
        let history = of((0..200_000).step_by(10));
        assert_eq!((history.0.len(), history.0[0].at_ns), (MOST_SAMPLES, 113_590 * 1_000_000_000));
        assert!(History::default().points(&at(5), KEPT, 10).is_empty());
        assert!(of(5..6).points(&at(5), KEPT, 10).is_empty());
        let before = |history: &History, now| {
            history.before(&at(now), Duration::from_secs(5)).map(|sample| sample.connections)
        };
        let three = of((10..=30).step_by(10));
        assert_eq!([before(&three, 31), before(&three, 35), before(&three, 11)], [20, 30, 10].map(Some));
        assert_eq!(before(&History::default(), 9), None);
    }
}
