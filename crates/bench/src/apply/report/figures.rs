//! The figures of a run's cells, how they compare, and the table of them.

use crate::apply::{Case, Dimension, Outcome, Sample};
use crate::instance::Flavor;
use crate::measure::Applied;
use crate::progress::grouped;
use crate::table::{Align, Table, median, optional};

/// The figures of one pair in one cell of the matrix, over all rounds.
pub(super) struct Figures {
    pub(super) case: Case,
    pub(super) pair: usize,
    /// Transactions applied a second, the median of the rounds.
    pub(super) rate: f64,
    /// CPU time of a transaction in microseconds, over all rounds.
    pub(super) cpu_us: f64,
    pub(super) cpu_seconds: f64,
    pub(super) peak_rss_bytes: u64,
    /// Pages that were read for each transaction, and those of them that a thread waited for, if
    /// the server counts them.
    pub(super) pages_read: Option<f64>,
    pub(super) pages_waited_for: Option<f64>,
    pub(super) source_rate: f64,
    pub(super) equal: bool,
}

pub(super) fn rate(sample: &Sample) -> f64 {
    sample.loaded.transactions as f64 / sample.applied.seconds
}

impl Figures {
    /// Returns the figures of the samples of one cell and pair. There must be at least one sample.
    fn of(samples: &[&Sample]) -> Figures {
        let cpu_ms: u64 = samples.iter().map(|sample| sample.applied.cpu_ms).sum();
        let transactions: u64 = samples.iter().map(|sample| sample.loaded.transactions).sum();
        let pages = |of: fn(&Applied) -> Option<u64>| {
            let all: Option<u64> = samples.iter().map(|sample| of(&sample.applied)).sum();
            all.map(|pages| pages as f64 / transactions as f64)
        };
        Figures {
            pages_read: pages(|applied| applied.pages_read),
            pages_waited_for: pages(|applied| applied.pages_waited_for),
            case: samples[0].case,
            pair: samples[0].pair,
            rate: median(samples.iter().map(|sample| rate(sample)).collect()),
            cpu_us: cpu_ms as f64 * 1000.0 / transactions as f64,
            cpu_seconds: cpu_ms as f64 / 1000.0 / samples.len() as f64,
            peak_rss_bytes: samples.iter().map(|sample| sample.applied.peak_rss_bytes).max().unwrap_or(0),
            source_rate: median(samples.iter().map(|sample| sample.loaded.rate()).collect()),
            equal: samples.iter().all(|sample| sample.equal),
        }
    }
}

/// Returns the figures of all cells and pairs, in the order of the first round.
pub(super) fn figures(outcome: &Outcome) -> Vec<Figures> {
    let first = outcome.samples.iter().filter(|sample| sample.round == 1);
    let of_all_rounds = |one: &Sample| {
        let wanted = |sample: &&Sample| (sample.case, sample.pair) == (one.case, one.pair);
        Figures::of(&outcome.samples.iter().filter(wanted).collect::<Vec<_>>())
    };
    first.map(of_all_rounds).collect()
}

/// Returns the rate of Slipstream in the same cell, divided by the rate of `of`.
pub(super) fn ratio(all: &[Figures], outcome: &Outcome, of: &Figures) -> Option<f64> {
    let ours =
        |other: &&Figures| other.case == of.case && outcome.pairs[other.pair].flavor == Flavor::Slipstream;
    Some(all.iter().find(ours)?.rate / of.rate)
}

/// Returns the number of workers that other numbers are compared with: 0 or 1 if it was measured,
/// or else the first number of the plan.
pub(super) fn fewest_workers(outcome: &Outcome) -> u32 {
    let workers = &outcome.plan.workers;
    workers.iter().copied().find(|count| *count <= 1).or(workers.first().copied()).unwrap_or(0)
}

/// Returns the rate, divided by the rate of the same pair with [`fewest_workers`].
pub(super) fn speed_up(all: &[Figures], outcome: &Outcome, of: &Figures) -> Option<f64> {
    let mut alone = of.case;
    alone.setting.workers = fewest_workers(outcome);
    let found = all.iter().find(|other| (other.case, other.pair) == (alone, of.pair))?;
    Some(of.rate / found.rate)
}

/// Returns the speed-up, divided by the factor by which the number of threads is larger than with
/// [`fewest_workers`].
pub(super) fn efficiency(all: &[Figures], outcome: &Outcome, of: &Figures) -> Option<f64> {
    let threads = |workers: u32| f64::from(workers.max(1));
    let factor = threads(fewest_workers(outcome)) / threads(of.case.setting.workers);
    Some(speed_up(all, outcome, of)? * factor)
}

/// Returns the dimensions in which the run's cells differ.
pub(super) fn varied(outcome: &Outcome) -> Vec<Dimension> {
    let differs = |dimension: &Dimension| {
        let first = outcome.samples.first().map(|sample| dimension.of(&sample.case));
        outcome.samples.iter().any(|sample| Some(dimension.of(&sample.case)) != first)
    };
    Dimension::ALL.into_iter().filter(differs).collect()
}

/// Returns the name of a pair, which tells it from the other pairs of its run.
pub(super) fn name(outcome: &Outcome, pair: usize) -> String {
    let pair = &outcome.pairs[pair];
    let logs = match (outcome.plan.logged.len(), pair.logged) {
        (0 | 1, _) => "",
        (_, true) => ", logged",
        (_, false) => ", not logged",
    };
    format!("{} behind {}{logs}", pair.replica, pair.source)
}

/// Returns a short description of the run: its sizes, and the values that all cells have in common.
pub(super) fn summary(outcome: &Outcome) -> String {
    let plan = &outcome.plan;
    let varied = varied(outcome);
    let same = Dimension::ALL.iter().filter(|dimension| !varied.contains(dimension));
    let same = same.filter_map(|dimension| {
        let case = &outcome.samples.first()?.case;
        Some(format!("{} {}", dimension.name(), dimension.of(case)))
    });
    format!(
        "Apply of {} x {} rows, {} transactions from {} clients; {}.\n\
         Rows {}. Buffer pool {} MB{}, {} round(s), {} processors. Receiver first, then the applier alone.",
        plan.size.tables,
        grouped(plan.size.rows),
        grouped(plan.transactions),
        plan.clients,
        same.collect::<Vec<_>>().join(", "),
        plan.rand_type.name(),
        plan.pool_bytes >> 20,
        if plan.restarts { ", replicas started anew" } else { "" },
        plan.rounds,
        os::thread::processors(),
    )
}

pub(super) fn rows(outcome: &Outcome, all: &[Figures]) -> Table {
    let varied = varied(outcome);
    let many_workers = varied.contains(&Dimension::Workers);
    let mut columns = vec![("replica", Align::Left), ("of", Align::Left)];
    columns.extend(varied.iter().map(|dimension| (dimension.name(), Align::Left)));
    columns.extend([("applied tx/s", Align::Right), ("Slipstream is", Align::Right)]);
    if many_workers {
        columns.extend([("speed-up", Align::Right), ("efficiency", Align::Right)]);
    }
    columns.extend([
        ("CPU s", Align::Right),
        ("CPU us/tx", Align::Right),
        ("peak RSS MB", Align::Right),
        ("pages read/tx", Align::Right),
        ("waited for/tx", Align::Right),
        ("source tx/s", Align::Right),
        ("checksums", Align::Left),
    ]);
    let mut table = Table::new(&columns);
    for one in all {
        let pair = &outcome.pairs[one.pair];
        let ratio = ratio(all, outcome, one).filter(|_| pair.flavor != Flavor::Slipstream);
        let mut cells = vec![pair.replica.clone(), pair.source.clone()];
        cells.extend(varied.iter().map(|dimension| dimension.of(&one.case)));
        cells.extend([grouped(one.rate as u64), ratio.map_or(String::new(), |ratio| format!("{ratio:.2}x"))]);
        if many_workers {
            cells.push(optional(speed_up(all, outcome, one), 2));
            cells.push(optional(efficiency(all, outcome, one), 2));
        }
        cells.extend([
            format!("{:.1}", one.cpu_seconds),
            format!("{:.1}", one.cpu_us),
            (one.peak_rss_bytes >> 20).to_string(),
            optional(one.pages_read, 3),
            optional(one.pages_waited_for, 3),
            grouped(one.source_rate as u64),
            if one.equal { "equal" } else { "DIFFERENT" }.to_string(),
        ]);
        table.row(cells);
    }
    table
}
