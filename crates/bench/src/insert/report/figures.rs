//! The figures of a run over all rounds, how they compare, and the tables of them.

use super::super::outcome::{Outcome, Sample};
use super::super::step::{Done, Step};
use crate::histogram::{Histogram, Percentiles};
use crate::progress::grouped;
use crate::server::Mode;
use crate::table::{Align, Table, bars, median, optional};
use crate::usage::PerOperation;

/// The figures of one step on one server, over all rounds.
pub(super) struct Figures<'a> {
    pub(super) step: Step,
    pub(super) mode: Mode,
    pub(super) server: usize,
    /// Operations a second, the median of the rounds.
    pub(super) rate: f64,
    /// Rows inserted a second. In a query step these are not the operations that `rate` counts.
    pub(super) insert_rate: f64,
    pub(super) times: Percentiles,
    pub(super) cost: Option<PerOperation>,
    pub(super) kit_cost: Option<PerOperation>,
    pub(super) samples: Vec<&'a Sample>,
}

pub(super) fn figures(outcome: &Outcome) -> Vec<Figures<'_>> {
    let plan = &outcome.plan;
    let mut all = Vec::new();
    for mode in &plan.modes {
        for step in &plan.steps {
            for server in 0..outcome.servers.len() {
                let of_case =
                    |sample: &&Sample| (sample.mode, sample.step, sample.server) == (*mode, *step, server);
                let samples: Vec<&Sample> = outcome.samples.iter().filter(of_case).collect();
                if !samples.is_empty() {
                    all.push(figures_of(*step, *mode, server, samples));
                }
            }
        }
    }
    all
}

fn figures_of(step: Step, mode: Mode, server: usize, samples: Vec<&Sample>) -> Figures<'_> {
    let rates = |of: &dyn Fn(&Done) -> u64| {
        median(samples.iter().map(|sample| of(&sample.done) as f64 / sample.done.seconds).collect())
    };
    Figures {
        step,
        mode,
        server,
        rate: rates(&|done| done.operations(step)),
        insert_rate: rates(&|done| done.inserted),
        times: merged(&samples, |done| done.times(step)).percentiles(),
        cost: PerOperation::mean(samples.iter().filter_map(|sample| sample.cost)),
        kit_cost: PerOperation::mean(samples.iter().filter_map(|sample| sample.kit_cost)),
        samples,
    }
}

fn merged(samples: &[&Sample], of: impl Fn(&Done) -> &Histogram) -> Histogram {
    let mut all = Histogram::default();
    samples.iter().for_each(|sample| all.merge(of(&sample.done)));
    all
}

/// Returns the rate and the server's CPU time for an operation, each divided by that of the base
/// server.
pub(super) fn ratios(all: &[Figures<'_>], outcome: &Outcome, of: &Figures<'_>) -> (Option<f64>, Option<f64>) {
    let first = outcome.servers.first().map(|server| &server.name);
    let Some(name) = outcome.plan.base.as_ref().or(first) else { return (None, None) };
    let is_base = |other: &&Figures<'_>| {
        (other.step, other.mode) == (of.step, of.mode)
            && outcome.servers[other.server].name.eq_ignore_ascii_case(name)
    };
    let Some(base) = all.iter().find(is_base) else { return (None, None) };
    let cpu = of.cost.zip(base.cost).map(|(own, base)| own.cpu_us / base.cpu_us);
    (Some(of.rate / base.rate), cpu.filter(|ratio| ratio.is_finite()))
}

/// Returns a short description of the run.
pub(super) fn summary(outcome: &Outcome) -> String {
    let plan = &outcome.plan;
    format!(
        "Insert Benchmark, {} rows, {} client(s), {} s for each query step, buffer pool {} MB, binary log {}, {} round(s),\n\
         {} processors that the kit shares. CPU and switches are the server's, KB the machine's disks', all for each operation.",
        grouped(plan.rows),
        plan.clients,
        plan.query_seconds,
        plan.pool_bytes >> 20,
        if plan.log_bin { "on" } else { "off" },
        plan.rounds,
        os::thread::processors(),
    )
}

pub(super) fn table(all: &[Figures<'_>], outcome: &Outcome) -> Table {
    let mut table = Table::new(&[
        ("step", Align::Left),
        ("server", Align::Left),
        ("commits", Align::Left),
        ("operations", Align::Left),
        ("per second", Align::Right),
        ("x base", Align::Right),
        ("CPU us", Align::Right),
        ("x base", Align::Right),
        ("switches", Align::Right),
        ("KB read", Align::Right),
        ("KB written", Align::Right),
        ("kit CPU us", Align::Right),
        ("p50 ms", Align::Right),
        ("p99 ms", Align::Right),
        ("max ms", Align::Right),
        ("rows in/s", Align::Right),
        ("each second", Align::Left),
    ]);
    for one in all {
        let (rate_ratio, cpu_ratio) = ratios(all, outcome, one);
        let cost = |figure: fn(&PerOperation) -> f64| optional(one.cost.as_ref().map(figure), 2);
        table.row(vec![
            one.step.name(),
            outcome.servers[one.server].shown(),
            one.mode.name().to_string(),
            one.step.operations().to_string(),
            grouped(one.rate as u64),
            optional(rate_ratio, 2),
            cost(|each| each.cpu_us),
            optional(cpu_ratio, 2),
            cost(|each| each.context_switches),
            cost(|each| each.read_kb),
            cost(|each| each.written_kb),
            optional(one.kit_cost.map(|each| each.cpu_us), 2),
            format!("{:.2}", one.times.p50_ms),
            format!("{:.2}", one.times.p99_ms),
            format!("{:.2}", one.times.max_ms),
            grouped(one.insert_rate as u64),
            bars(&one.samples.last().map(|sample| sample.done.each_second.clone()).unwrap_or_default()),
        ]);
    }
    table
}

/// Returns the kinds of statements that a step has, with their response times.
pub(super) fn kinds(one: &Figures<'_>) -> Vec<(&'static str, Histogram)> {
    let all = [
        ("insert", merged(&one.samples, |done| &done.insert_times)),
        ("delete", merged(&one.samples, |done| &done.delete_times)),
        ("query", merged(&one.samples, |done| &done.query_times)),
    ];
    all.into_iter().filter(|(_, times)| times.count() > 0).collect()
}

pub(super) fn histograms(all: &[Figures<'_>], outcome: &Outcome) -> Table {
    let limits = Histogram::default().shown();
    let mut columns = vec![
        ("step", Align::Left),
        ("server", Align::Left),
        ("commits", Align::Left),
        ("statement", Align::Left),
    ];
    columns.extend(limits.iter().map(|(name, _)| (*name, Align::Right)));
    columns.push(("max ms", Align::Right));
    let mut table = Table::new(&columns);
    for one in all {
        for (kind, times) in kinds(one) {
            let mut row = vec![
                one.step.name(),
                outcome.servers[one.server].shown(),
                one.mode.name().to_string(),
                kind.to_string(),
            ];
            row.extend(times.shown().iter().map(|(_, count)| grouped(*count)));
            row.push(format!("{:.1}", times.percentiles().max_ms));
            table.row(row);
        }
    }
    table
}
