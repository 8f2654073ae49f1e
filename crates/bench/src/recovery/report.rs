//! The report of `bench recovery`, as text and as JSON.

use serde_json::{Value, json};

use super::outcome::{Outcome, Sample};
use crate::described::settings_text;
use crate::progress::grouped;
use crate::table::{Align, Table, median, optional};

/// The figures of one server over all rounds: medians, and the highest peak of memory.
struct Figures {
    server: usize,
    redo_mb: f64,
    transactions: f64,
    first_query_s: f64,
    first_row_s: f64,
    cpu_s: f64,
    peak_rss_bytes: u64,
}

impl Figures {
    /// Returns the seconds until the first query for each GB of log. Servers are killed a little
    /// later than asked for, so the length of their logs differs.
    fn seconds_a_gb(&self) -> f64 {
        self.first_query_s * 1024.0 / self.redo_mb
    }

    /// Returns the seconds until the first query for each million transactions.
    fn seconds_a_million(&self) -> f64 {
        self.first_query_s * 1e6 / self.transactions
    }
}

fn figures(outcome: &Outcome) -> Vec<Figures> {
    let of_server = |server| {
        let samples: Vec<&Sample> = outcome.samples.iter().filter(|sample| sample.server == server).collect();
        if samples.is_empty() {
            return None;
        }
        let of =
            |figure: &dyn Fn(&Sample) -> f64| median(samples.iter().map(|sample| figure(sample)).collect());
        Some(Figures {
            server,
            redo_mb: of(&|sample| sample.redo_bytes as f64 / 1048576.0),
            transactions: of(&|sample| sample.transactions as f64),
            first_query_s: of(&|sample| sample.first_query_s),
            first_row_s: of(&|sample| sample.first_row_s),
            cpu_s: of(&|sample| sample.cpu_s),
            peak_rss_bytes: samples.iter().map(|sample| sample.peak_rss_bytes).max().unwrap_or(0),
        })
    };
    (0..outcome.servers.len()).filter_map(of_server).collect()
}

fn base<'a>(all: &'a [Figures], outcome: &Outcome) -> Option<&'a Figures> {
    let name = outcome.plan.base.as_ref().unwrap_or(&outcome.servers.first()?.name);
    all.iter().find(|one| outcome.servers[one.server].name.eq_ignore_ascii_case(name))
}

/// Returns the report as text.
pub fn text(outcome: &Outcome) -> String {
    let plan = &outcome.plan;
    let all = figures(outcome);
    let mut out = format!(
        "Recovery after kill -9 under sysbench update_non_index, {} x {} rows, {} clients, at {} MB of log, row image {},\n\
         binary log {}, {} round(s), {} processors. Times from the start of the process; ratios are of seconds a GB.\n\n",
        plan.size.tables,
        grouped(plan.size.rows),
        plan.clients,
        plan.redo_bytes >> 20,
        plan.image.name(),
        if plan.log_bin { "on" } else { "off" },
        plan.rounds,
        os::thread::processors(),
    );
    let mut table = Table::new(&[
        ("server", Align::Left),
        ("log MB", Align::Right),
        ("transactions", Align::Right),
        ("first query s", Align::Right),
        ("first row s", Align::Right),
        ("s/GB", Align::Right),
        ("x base", Align::Right),
        ("s/million tx", Align::Right),
        ("x base", Align::Right),
        ("CPU s", Align::Right),
        ("peak RSS MB", Align::Right),
    ]);
    let base = base(&all, outcome);
    for one in &all {
        table.row(vec![
            outcome.servers[one.server].shown(),
            grouped(one.redo_mb as u64),
            grouped(one.transactions as u64),
            format!("{:.2}", one.first_query_s),
            format!("{:.2}", one.first_row_s),
            format!("{:.2}", one.seconds_a_gb()),
            optional(base.map(|base| one.seconds_a_gb() / base.seconds_a_gb()), 2),
            format!("{:.2}", one.seconds_a_million()),
            optional(base.map(|base| one.seconds_a_million() / base.seconds_a_million()), 2),
            format!("{:.1}", one.cpu_s),
            (one.peak_rss_bytes >> 20).to_string(),
        ]);
    }
    out.push_str(&table.to_string());
    out.push_str(&settings_text(&outcome.missing, outcome.servers.iter()));
    out
}

/// Returns the report as JSON: the medians, and every sample.
pub fn json(outcome: &Outcome) -> Value {
    let plan = &outcome.plan;
    let all = figures(outcome);
    let base = base(&all, outcome);
    let name = |server: usize| outcome.servers[server].shown();
    let result = |one: &Figures| {
        json!({
            "server": name(one.server),
            "redo_mb": one.redo_mb,
            "transactions": one.transactions,
            "first_query_seconds": one.first_query_s,
            "first_row_seconds": one.first_row_s,
            "seconds_per_gb": one.seconds_a_gb(),
            "over_base": base.map(|base| one.seconds_a_gb() / base.seconds_a_gb()),
            "seconds_per_million_transactions": one.seconds_a_million(),
            "cpu_seconds": one.cpu_s,
            "peak_rss_bytes": one.peak_rss_bytes,
        })
    };
    let sample = |sample: &Sample| {
        json!({
            "round": sample.round,
            "server": name(sample.server),
            "redo_bytes": sample.redo_bytes,
            "transactions": sample.transactions,
            "first_query_seconds": sample.first_query_s,
            "first_row_seconds": sample.first_row_s,
            "cpu_seconds": sample.cpu_s,
            "peak_rss_bytes": sample.peak_rss_bytes,
        })
    };
    json!({
        "benchmark": "recovery",
        "plan": {
            "tables": plan.size.tables,
            "rows_per_table": plan.size.rows,
            "redo_bytes": plan.redo_bytes,
            "clients": plan.clients,
            "log_bin": plan.log_bin,
            "binlog_row_image": plan.image.name(),
            "buffer_pool_bytes": plan.pool_bytes,
            "rounds": plan.rounds,
            "seed": plan.seed,
            "base": plan.base,
        },
        "processors": os::thread::processors(),
        "results": all.iter().map(result).collect::<Vec<_>>(),
        "samples": outcome.samples.iter().map(sample).collect::<Vec<_>>(),
        "servers": outcome.servers.iter().map(|server| server.json()).collect::<Vec<_>>(),
        "missing": outcome.missing,
    })
}

#[cfg(test)]
mod tests {
    use super::super::Plan;
    use super::*;
    use crate::described::Described;
    use crate::instance::RowImage;
    use crate::sbtest::Size;

    #[test]
    fn ratios_are_of_seconds_for_as_much_log() {
        let server = |name: &str| Described {
            name: name.into(),
            version: "1.0".into(),
            options: vec![],
            settings: vec![],
        };
        let sample = |round, server, redo_mb: u64, first_query_s| Sample {
            round,
            server,
            redo_bytes: redo_mb << 20,
            transactions: 500_000,
            first_query_s,
            first_row_s: first_query_s + 0.1,
            cpu_s: 1.0,
            peak_rss_bytes: 1 << 30,
        };
        let outcome = Outcome {
            plan: Plan {
                size: Size { tables: 1, rows: 10 },
                redo_bytes: 512 << 20,
                clients: 4,
                log_bin: true,
                pool_bytes: 1 << 30,
                image: RowImage::Minimal,
                flavors: vec![],
                base: Some("mysql".into()),
                rounds: 3,
                seed: 1,
            },
            servers: vec![server("Slipstream"), server("MySQL")],
            missing: vec!["MariaDB: not here".into()],
            samples: vec![
                sample(1, 0, 512, 1.0),
                sample(1, 1, 1024, 10.0),
                sample(2, 0, 512, 1.5),
                sample(2, 1, 1024, 12.0),
                sample(3, 0, 512, 9.0),
                sample(3, 1, 1024, 12.5),
            ],
        };
        let value = json(&outcome);
        assert_eq!(value["results"][0]["seconds_per_gb"], 3.0);
        assert_eq!(value["results"][0]["over_base"], 0.25);
        assert_eq!(value["results"][1]["seconds_per_million_transactions"], 24.0);
        let report = text(&outcome);
        for part in ["MySQL 1.0", "12.00", "0.25", "NOT MEASURED: MariaDB: not here"] {
            assert!(report.contains(part), "no {part} in\n{report}");
        }
    }
}
