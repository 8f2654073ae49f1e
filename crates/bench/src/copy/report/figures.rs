//! The figures of a run over all rounds, how they compare, and the table of them.

use super::super::outcome::{Method, Outcome, Sample};
use crate::beat::LOOK_EVERY;
use crate::progress::grouped;
use crate::table::{Align, Table, median, optional};

/// The lag below which a replica is as good as its source.
const SMALL_LAG_MS: f64 = 1000.0;

/// The figures of one way under one load, over all rounds. Those without a description are medians.
pub(super) struct Figures<'a> {
    pub(super) method: Method,
    pub(super) changes: u64,
    pub(super) rate: f64,
    pub(super) copied_seconds: f64,
    /// `None` if the replica did not catch up in every round.
    pub(super) caught_up_seconds: Option<f64>,
    /// The lag in the middle of all looks; `None` without a load.
    pub(super) lag_ms: Option<f64>,
    /// The greatest lag of any look.
    pub(super) lag_most_ms: Option<f64>,
    /// The seconds from the last copied row until the lag stayed below a second; `None` if it did
    /// not, or without a load.
    pub(super) lag_small_after_s: Option<f64>,
    /// The greatest peak of all rounds.
    pub(super) peak_rss_bytes: u64,
    pub(super) equal: bool,
    pub(super) samples: Vec<&'a Sample>,
}

impl Figures<'_> {
    /// Returns the rows copied a second.
    pub(super) fn rows_per_second(&self, outcome: &Outcome) -> f64 {
        all_rows(outcome) as f64 / self.copied_seconds
    }

    /// Returns the megabytes of values copied a second.
    pub(super) fn mb_per_second(&self, outcome: &Outcome) -> f64 {
        outcome.data_bytes as f64 / 1048576.0 / self.copied_seconds
    }
}

/// Returns the number of rows of all of sysbench's tables.
pub(super) fn all_rows(outcome: &Outcome) -> u64 {
    u64::from(outcome.plan.size.tables) * outcome.plan.size.rows
}

/// Returns the figures, those of one load side by side.
pub(super) fn figures(outcome: &Outcome) -> Vec<Figures<'_>> {
    let mut all = Vec::new();
    for &changes in &outcome.plan.changes_per_second {
        for method in Method::ALL {
            let of_case = |sample: &&Sample| (sample.changes_per_second, sample.method) == (changes, method);
            let samples: Vec<&Sample> = outcome.samples.iter().filter(of_case).collect();
            if !samples.is_empty() {
                all.push(figures_of(method, changes, samples));
            }
        }
    }
    all
}

fn figures_of(method: Method, changes: u64, samples: Vec<&Sample>) -> Figures<'_> {
    let of = |figure: &dyn Fn(&Sample) -> f64| median(samples.iter().map(|sample| figure(sample)).collect());
    let caught_up: Option<Vec<f64>> = samples.iter().map(|sample| sample.caught_up_seconds).collect();
    let looks: Vec<f64> = samples.iter().flat_map(|sample| sample.lag_ms.iter().flatten().copied()).collect();
    let small: Option<Vec<f64>> = samples.iter().map(|sample| small_after_s(&sample.lag_ms)).collect();
    Figures {
        method,
        changes,
        rate: of(&|sample| sample.rate),
        copied_seconds: of(&|sample| sample.copied_seconds),
        caught_up_seconds: caught_up.map(median),
        lag_most_ms: looks.iter().copied().reduce(f64::max),
        lag_ms: (!looks.is_empty()).then(|| median(looks)),
        lag_small_after_s: small.map(median),
        peak_rss_bytes: samples.iter().map(|sample| sample.peak_rss_bytes).max().unwrap_or(0),
        equal: samples.iter().all(|sample| sample.equal),
        samples,
    }
}

/// Returns the seconds until the lag stayed below a second; `None` if it did not, or without looks.
pub(super) fn small_after_s(lag_ms: &[Option<f64>]) -> Option<f64> {
    // A look that was left out took place while the one before it waited for its answer.
    let last_large = lag_ms.iter().rposition(|lag| lag.is_none_or(|lag| lag >= SMALL_LAG_MS));
    let looks = last_large.map_or(0, |at| at + 1);
    (looks < lag_ms.len()).then(|| looks as f64 * LOOK_EVERY.as_secs_f64())
}

/// Returns how many times longer than `slipstream attach` a way took to catch up under the same
/// load; `None` if that was not measured, or one of them did not catch up.
pub(super) fn times_ours(all: &[Figures<'_>], of: &Figures<'_>) -> Option<f64> {
    let ours = all.iter().find(|one| (one.method, one.changes) == (Method::Attach, of.changes))?;
    Some(of.caught_up_seconds? / ours.caught_up_seconds?)
}

/// Returns a short description of the run.
pub(super) fn summary(outcome: &Outcome) -> String {
    let plan = &outcome.plan;
    format!(
        "New replicas of {}: {} tables of {} rows, {:.0} MB of values, {} commits, buffer pools of {} MB, {} round(s),\n\
         {} processors that all programs share. Caught up: what the source has logged is applied within a second. \"x ours\" is the time \
         to catch up\nas a multiple of slipstream attach's. Lag is looked at every {} ms for {} s after the last copied row, and until the replica has caught up.",
        outcome.source,
        plan.size.tables,
        grouped(plan.size.rows),
        outcome.data_bytes as f64 / 1048576.0,
        plan.mode.name(),
        plan.pool_bytes >> 20,
        plan.rounds,
        os::thread::processors(),
        LOOK_EVERY.as_millis(),
        plan.lag_seconds,
    )
}

pub(super) fn table(all: &[Figures<'_>], outcome: &Outcome) -> Table {
    let mut table = Table::new(&[
        ("way", Align::Left),
        ("replica", Align::Left),
        ("changes/s", Align::Right),
        ("of", Align::Right),
        ("rows/s", Align::Right),
        ("MB/s", Align::Right),
        ("copied s", Align::Right),
        ("caught up s", Align::Right),
        ("x ours", Align::Right),
        ("lag ms, middle", Align::Right),
        ("most", Align::Right),
        ("under 1 s after s", Align::Right),
        ("peak RSS MB", Align::Right),
        ("checksums", Align::Left),
    ]);
    for one in all {
        table.row(vec![
            one.method.shown().to_string(),
            one.samples[0].replica.clone(),
            grouped(one.rate.round() as u64),
            grouped(one.changes),
            grouped(one.rows_per_second(outcome) as u64),
            format!("{:.1}", one.mb_per_second(outcome)),
            format!("{:.2}", one.copied_seconds),
            one.caught_up_seconds.map_or("never".to_string(), |seconds| format!("{seconds:.2}")),
            optional(times_ours(all, one), 2),
            optional(one.lag_ms, 1),
            optional(one.lag_most_ms, 1),
            optional(one.lag_small_after_s, 1),
            (one.peak_rss_bytes >> 20).to_string(),
            if one.equal { "equal" } else { "DIFFERENT" }.to_string(),
        ]);
    }
    table
}
