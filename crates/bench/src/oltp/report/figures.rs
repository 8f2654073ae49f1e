//! The figures of a run over all rounds, how they compare, and the tables of them.

use super::super::outcome::{Outcome, Sample, Variation};
use crate::histogram::{Histogram, Percentiles};
use crate::progress::grouped;
use crate::server::Mode;
use crate::table::{Align, Table, bars, median, optional};
use crate::usage::PerOperation;

/// What a line of the report is about.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Case {
    pub(super) script: String,
    pub(super) clients: u32,
    pub(super) mode: Mode,
    pub(super) subject: usize,
}

/// The figures of one case, over all rounds.
pub(super) struct Figures {
    pub(super) case: Case,
    /// Transactions a second, the median of the rounds.
    pub(super) rate: f64,
    /// The response times of the transactions of all rounds.
    pub(super) times: Percentiles,
    pub(super) server: Option<PerOperation>,
    pub(super) sysbench: Option<PerOperation>,
    pub(super) retried: u64,
    /// The transactions of each second of the last round.
    pub(super) each_second: Vec<f64>,
}

pub(super) fn figures(outcome: &Outcome) -> Vec<Figures> {
    let plan = &outcome.plan;
    let mut all = Vec::new();
    for script in &plan.scripts {
        for clients in &plan.clients {
            for mode in &plan.modes {
                for subject in 0..outcome.subjects.len() {
                    let case = Case { script: script.clone(), clients: *clients, mode: *mode, subject };
                    all.extend(figures_of(outcome, case));
                }
            }
        }
    }
    all
}

fn figures_of(outcome: &Outcome, case: Case) -> Option<Figures> {
    let of_case = |sample: &&Sample| {
        (&sample.script, sample.clients, sample.mode, sample.subject)
            == (&case.script, case.clients, case.mode, case.subject)
    };
    let samples: Vec<&Sample> = outcome.samples.iter().filter(of_case).collect();
    let each_second = samples.last()?.report.each_second.clone();
    let mut times = Histogram::default();
    samples.iter().for_each(|sample| times.merge(&sample.report.times));
    Some(Figures {
        rate: median(samples.iter().map(|sample| sample.report.rate()).collect()),
        times: times.percentiles(),
        server: PerOperation::mean(samples.iter().filter_map(|sample| sample.server)),
        sysbench: PerOperation::mean(samples.iter().filter_map(|sample| sample.sysbench)),
        retried: samples.iter().map(|sample| sample.report.retried).sum(),
        each_second,
        case,
    })
}

/// Returns the base server's figures in the same case: with the same settings, or with any if one
/// of the two servers was not started by the kit.
pub(super) fn base<'a>(all: &'a [Figures], outcome: &Outcome, of: &Figures) -> Option<&'a Figures> {
    let subject = |figures: &Figures| &outcome.subjects[figures.case.subject];
    let name = outcome.plan.base.as_ref().unwrap_or(&outcome.subjects.first()?.server.name);
    let own = subject(of).variation;
    all.iter().find(|other| {
        let case = Case { subject: of.case.subject, ..other.case.clone() };
        let theirs = subject(other).variation;
        case == of.case
            && subject(other).server.name.eq_ignore_ascii_case(name)
            && (theirs == own || theirs.is_none() || own.is_none())
    })
}

/// Returns the throughput and the server's CPU time, each divided by that of the base server.
pub(super) fn ratios(all: &[Figures], outcome: &Outcome, of: &Figures) -> (Option<f64>, Option<f64>) {
    let Some(base) = base(all, outcome, of) else { return (None, None) };
    let cpu = of.server.zip(base.server).map(|(own, base)| own.cpu_us / base.cpu_us);
    (Some(of.rate / base.rate), cpu.filter(|ratio| ratio.is_finite()))
}

/// Returns each server with its binary log on, together with the same server with its binary log
/// off.
pub(super) fn binlog_pairs<'a>(all: &'a [Figures], outcome: &Outcome) -> Vec<(&'a Figures, &'a Figures)> {
    let subject = |figures: &Figures| &outcome.subjects[figures.case.subject];
    let logs = |figures: &&Figures| subject(figures).variation.is_some_and(|variation| variation.log_bin);
    let without = |on: &Figures| {
        let wanted = subject(on).variation.map(|variation| Variation { log_bin: false, ..variation });
        all.iter().find(|off| {
            let case = Case { subject: on.case.subject, ..off.case.clone() };
            case == on.case
                && subject(off).server.name == subject(on).server.name
                && subject(off).variation == wanted
        })
    };
    all.iter().filter(logs).filter_map(|on| Some((on, without(on)?))).collect()
}

/// Returns a short description of the run.
pub(super) fn summary(outcome: &Outcome) -> String {
    let plan = &outcome.plan;
    format!(
        "sysbench, {} x {} rows, {} s each after {} s that are not counted, {} round(s), {} processors that sysbench \
         shares.\nCPU and switches are the server's, KB the machine's disks', all for each transaction.",
        plan.size.tables,
        grouped(plan.size.rows),
        plan.seconds,
        plan.warmup_seconds,
        plan.rounds,
        os::thread::processors(),
    )
}

pub(super) fn table(all: &[Figures], outcome: &Outcome) -> Table {
    let mut table = Table::new(&[
        ("server", Align::Left),
        ("settings", Align::Left),
        ("script", Align::Left),
        ("commits", Align::Left),
        ("clients", Align::Right),
        ("tx/s", Align::Right),
        ("x base", Align::Right),
        ("p50 ms", Align::Right),
        ("p95 ms", Align::Right),
        ("p99 ms", Align::Right),
        ("CPU us", Align::Right),
        ("x base", Align::Right),
        ("switches", Align::Right),
        ("KB read", Align::Right),
        ("KB written", Align::Right),
        ("sysbench CPU us", Align::Right),
        ("retried", Align::Right),
        ("each second", Align::Left),
    ]);
    for one in all {
        let subject = &outcome.subjects[one.case.subject];
        let (rate_ratio, cpu_ratio) = ratios(all, outcome, one);
        let of_server = |figure: fn(&PerOperation) -> f64| optional(one.server.as_ref().map(figure), 1);
        table.row(vec![
            subject.server.shown(),
            subject.settings_shown(),
            one.case.script.clone(),
            one.case.mode.name().to_string(),
            one.case.clients.to_string(),
            grouped(one.rate as u64),
            optional(rate_ratio, 2),
            format!("{:.2}", one.times.p50_ms),
            format!("{:.2}", one.times.p95_ms),
            format!("{:.2}", one.times.p99_ms),
            of_server(|each| each.cpu_us),
            optional(cpu_ratio, 2),
            of_server(|each| each.context_switches),
            of_server(|each| each.read_kb),
            of_server(|each| each.written_kb),
            optional(one.sysbench.map(|each| each.cpu_us), 1),
            grouped(one.retried),
            bars(&one.each_second),
        ]);
    }
    table
}

pub(super) fn binlog_table(pairs: &[(&Figures, &Figures)], outcome: &Outcome) -> Table {
    let mut table = Table::new(&[
        ("server", Align::Left),
        ("script", Align::Left),
        ("commits", Align::Left),
        ("clients", Align::Right),
        ("tx/s off", Align::Right),
        ("tx/s on", Align::Right),
        ("on / off", Align::Right),
        ("CPU us off", Align::Right),
        ("CPU us on", Align::Right),
        ("on / off", Align::Right),
    ]);
    for (on, off) in pairs {
        let cpu = |figures: &Figures| figures.server.map(|each| each.cpu_us);
        table.row(vec![
            outcome.subjects[on.case.subject].server.shown(),
            on.case.script.clone(),
            on.case.mode.name().to_string(),
            on.case.clients.to_string(),
            grouped(off.rate as u64),
            grouped(on.rate as u64),
            format!("{:.2}", on.rate / off.rate),
            optional(cpu(off), 1),
            optional(cpu(on), 1),
            optional(cpu(on).zip(cpu(off)).map(|(on, off)| on / off), 2),
        ]);
    }
    table
}
