//! What `bench oltp` has measured, as text and as JSON.

mod page;

use std::fmt;

use serde_json::{Value, json};

pub use page::page;

use super::{Accounts, Outcome, Sample, Subject, Variation};
use crate::described::settings_text;
use crate::histogram::{Histogram, Percentiles};
use crate::progress::grouped;
use crate::server::Mode;
use crate::table::{Align, Table, bars, median, optional};
use crate::usage::PerOperation;

/// What a line of the report is about.
#[derive(Clone, Debug, PartialEq)]
struct Case {
    script: String,
    clients: u32,
    mode: Mode,
    subject: usize,
}

/// The figures of one case, over all rounds.
struct Figures {
    case: Case,
    /// Transactions a second: the median of the rounds.
    rate: f64,
    /// Over the transactions of all rounds.
    times: Percentiles,
    server: Option<PerOperation>,
    sysbench: Option<PerOperation>,
    retried: u64,
    /// Of the last round.
    each_second: Vec<f64>,
}

impl fmt::Display for Variation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let on_off = |on| if on { "on" } else { "off" };
        write!(f, "binlog {}, pool {}M", on_off(self.log_bin), self.pool_bytes >> 20)?;
        if let Some(doublewrite) = self.doublewrite {
            write!(f, ", doublewrite {}", doublewrite.name())?;
        }
        match self.page_bytes {
            Some(bytes) => write!(f, ", page {}K", bytes >> 10),
            None => Ok(()),
        }
    }
}

impl Subject {
    fn settings_shown(&self) -> String {
        self.variation.map_or("as it is".to_string(), |variation| variation.to_string())
    }
}

fn figures(outcome: &Outcome) -> Vec<Figures> {
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

/// The base server's figures in the same case: with the same settings, or its only ones.
fn base<'a>(all: &'a [Figures], outcome: &Outcome, of: &Figures) -> Option<&'a Figures> {
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

/// Throughput and the server's CPU time, over those of the base.
fn ratios(all: &[Figures], outcome: &Outcome, of: &Figures) -> (Option<f64>, Option<f64>) {
    let Some(base) = base(all, outcome, of) else { return (None, None) };
    let cpu = of.server.zip(base.server).map(|(own, base)| own.cpu_us / base.cpu_us);
    (Some(of.rate / base.rate), cpu.filter(|ratio| ratio.is_finite()))
}

/// A server with its binary log on, and the same with it off.
fn binlog_pairs<'a>(all: &'a [Figures], outcome: &Outcome) -> Vec<(&'a Figures, &'a Figures)> {
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

/// What was measured, in a few words.
fn summary(outcome: &Outcome) -> String {
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

/// The report as text.
pub fn text(outcome: &Outcome) -> String {
    let all = figures(outcome);
    let mut out = format!("{}\n\n{}", summary(outcome), table(&all, outcome));
    let pairs = binlog_pairs(&all, outcome);
    if !pairs.is_empty() {
        out.push_str("\nThe binary log's part: throughput and CPU time with it, over those without it\n\n");
        out.push_str(&binlog_table(&pairs, outcome).to_string());
    }
    for sample in &outcome.samples {
        let Some(accounts) = &sample.accounts else { continue };
        let subject = &outcome.subjects[sample.subject];
        out.push_str(&format!(
            "\nWhere the time of a transaction goes, {} ({}): {}, {} clients, {}, round {}\n\n{}",
            subject.server.shown(),
            subject.settings_shown(),
            sample.script,
            sample.clients,
            sample.mode.name(),
            sample.round,
            accounts.table(),
        ));
    }
    out.push_str(&settings_text(&outcome.missing, outcome.subjects.iter().map(|subject| &subject.server)));
    out
}

fn table(all: &[Figures], outcome: &Outcome) -> Table {
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

fn binlog_table(pairs: &[(&Figures, &Figures)], outcome: &Outcome) -> Table {
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

fn case_json(case: &Case, outcome: &Outcome) -> Value {
    let subject = &outcome.subjects[case.subject];
    json!({
        "server": subject.server.shown(),
        "subject": case.subject,
        "settings": subject.settings_shown(),
        "script": case.script,
        "mode": case.mode.name(),
        "clients": case.clients,
    })
}

/// The report as JSON: the medians, and every single sample with its seconds.
pub fn json(outcome: &Outcome) -> Value {
    let plan = &outcome.plan;
    let all = figures(outcome);
    let result = |one: &Figures| {
        let (rate_ratio, cpu_ratio) = ratios(&all, outcome, one);
        json!({
            "case": case_json(&one.case, outcome),
            "transactions_per_second": one.rate,
            "rate_over_base": rate_ratio,
            "p50_ms": one.times.p50_ms,
            "p95_ms": one.times.p95_ms,
            "p99_ms": one.times.p99_ms,
            "max_ms": one.times.max_ms,
            "server_per_transaction": one.server.as_ref().map(PerOperation::json),
            "cpu_over_base": cpu_ratio,
            "sysbench_per_transaction": one.sysbench.as_ref().map(PerOperation::json),
            "retried": one.retried,
        })
    };
    let sample = |sample: &Sample| {
        let (script, clients, mode) = (sample.script.clone(), sample.clients, sample.mode);
        json!({
            "round": sample.round,
            "case": case_json(&Case { script, clients, mode, subject: sample.subject }, outcome),
            "transactions": sample.report.transactions,
            "queries": sample.report.queries,
            "seconds": sample.report.seconds,
            "each_second": sample.report.each_second,
            "server_per_transaction": sample.server.as_ref().map(PerOperation::json),
            "accounts_per_transaction": sample.accounts.as_ref().map(Accounts::json),
        })
    };
    let binlog = |(on, off): &(&Figures, &Figures)| json!({ "case": case_json(&on.case, outcome), "on": on.rate, "off": off.rate, "on_over_off": on.rate / off.rate });
    json!({
        "benchmark": "oltp",
        "plan": {
            "tables": plan.size.tables,
            "rows_per_table": plan.size.rows,
            "seconds": plan.seconds,
            "warmup_seconds": plan.warmup_seconds,
            "rounds": plan.rounds,
            "seed": plan.seed,
            "base": plan.base,
        },
        "processors": os::thread::processors(),
        "results": all.iter().map(result).collect::<Vec<_>>(),
        "binlog": binlog_pairs(&all, outcome).iter().map(binlog).collect::<Vec<_>>(),
        "samples": outcome.samples.iter().map(sample).collect::<Vec<_>>(),
        "servers": outcome.subjects.iter().map(|subject| subject.server.json()).collect::<Vec<_>>(),
        "missing": outcome.missing,
    })
}

#[cfg(test)]
mod tests {
    use super::super::Plan;
    use super::super::sysbench::Report;
    use super::*;
    use crate::described::Described;
    use crate::instance::RowImage;
    use crate::sbtest::Size;

    fn outcome() -> Outcome {
        let variation =
            |log_bin| Variation { log_bin, doublewrite: None, pool_bytes: 1 << 30, page_bytes: None };
        let subject = |name: &str, variation| Subject {
            server: Described {
                name: name.into(),
                version: "1.0".into(),
                options: vec!["--server-id=1".into()],
                settings: vec![("log_bin", "ON".into())],
            },
            variation,
        };
        let plan = Plan {
            size: Size { tables: 1, rows: 10 },
            scripts: vec!["update_non_index".into()],
            clients: vec![32],
            modes: vec![Mode::Durable],
            variations: vec![variation(true), variation(false)],
            redo_bytes: 1 << 30,
            image: RowImage::Full,
            flavors: vec![],
            addresses: vec![],
            fill_addresses: false,
            base: Some("mariadb".into()),
            seconds: 10,
            warmup_seconds: 0,
            rounds: 1,
            accounts: false,
            seed: 1,
        };
        let sample = |subject, transactions, cpu_us| Sample {
            round: 1,
            script: "update_non_index".into(),
            clients: 32,
            mode: Mode::Durable,
            subject,
            report: Report { transactions, seconds: 10.0, each_second: vec![1.0, 2.0], ..Report::default() },
            server: Some(PerOperation { cpu_us, ..PerOperation::default() }),
            sysbench: None,
            accounts: None,
        };
        Outcome {
            plan,
            subjects: vec![
                subject("Slipstream", Some(variation(true))),
                subject("Slipstream", Some(variation(false))),
                subject("MariaDB", Some(variation(true))),
                subject("MariaDB", Some(variation(false))),
                subject("mine", None),
            ],
            missing: vec!["MySQL: not here".into()],
            samples: vec![
                sample(0, 190_000, 20.0),
                sample(1, 200_000, 16.0),
                sample(2, 100_000, 50.0),
                sample(3, 160_000, 32.0),
                sample(4, 50_000, 100.0),
            ],
        }
    }

    #[test]
    fn ratios_are_to_the_base_with_the_same_settings() {
        let value = json(&outcome());
        let ratios: Vec<f64> =
            (0..5).filter_map(|at| value["results"][at]["rate_over_base"].as_f64()).collect();
        assert_eq!(ratios, [1.9, 1.25, 1.0, 1.0, 0.5]);
        assert_eq!(value["results"][0]["cpu_over_base"], 0.4);
    }

    #[test]
    fn the_page_has_every_server_in_its_charts() {
        let html = page(&outcome()).html();
        for wanted in [
            "<h2>update_non_index, durable commits</h2>",
            "MariaDB 1.0, binlog on, pool 1024M, 32 clients: 10.0k transactions a second",
            "Throughput over time, 32 clients",
            "2 s: 2 a second",
            "<h2>The binary log's part</h2>",
            "<td class=\"n\">0.95</td>",
        ] {
            assert!(html.contains(wanted), "no {wanted} in {html}");
        }
    }

    #[test]
    fn the_binary_logs_part() {
        let value = json(&outcome());
        assert_eq!(value["binlog"][0]["on_over_off"], 0.95);
        assert_eq!(value["binlog"][1]["on_over_off"], 0.625);
        assert_eq!(value["binlog"].as_array().map(Vec::len), Some(2));
    }

    #[test]
    fn the_text_says_what_was_measured_and_what_not() {
        let report = text(&outcome());
        for part in ["1.90", "▅█", "NOT MEASURED: MySQL: not here", "says: log_bin=ON", "as it is"] {
            assert!(report.contains(part), "no {part} in\n{report}");
        }
    }
}
