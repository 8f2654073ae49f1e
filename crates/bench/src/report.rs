//! What `bench apply` has measured, as text and as JSON.

mod page;

use serde_json::{Value, json};

use crate::apply::{Outcome, Sample};
use crate::instance::Flavor;
use crate::progress::grouped;
use crate::server::Mode;
pub use page::page;

use crate::table::{Align, Table, median};

/// The figures of one pair in one mode, over all rounds.
struct Figures {
    mode: Mode,
    workers: u32,
    pair: usize,
    /// Transactions applied a second: the median of the rounds.
    rate: f64,
    /// CPU time a transaction, in microseconds, over all rounds.
    cpu_us: f64,
    cpu_seconds: f64,
    peak_rss_bytes: u64,
    source_rate: f64,
    equal: bool,
}

fn rate(sample: &Sample) -> f64 {
    sample.loaded.transactions as f64 / sample.applied.seconds
}

fn figures(outcome: &Outcome) -> Vec<Figures> {
    let mut all = Vec::new();
    let plan = &outcome.plan;
    for (mode, workers) in plan.modes.iter().flat_map(|mode| plan.workers.iter().map(move |w| (*mode, *w))) {
        for pair in 0..outcome.pairs.len() {
            let wanted =
                |sample: &&Sample| (sample.mode, sample.workers, sample.pair) == (mode, workers, pair);
            let samples: Vec<&Sample> = outcome.samples.iter().filter(wanted).collect();
            if samples.is_empty() {
                continue;
            }
            let cpu_ms: u64 = samples.iter().map(|sample| sample.applied.cpu_ms).sum();
            let transactions: u64 = samples.iter().map(|sample| sample.loaded.transactions).sum();
            all.push(Figures {
                mode,
                workers,
                pair,
                rate: median(samples.iter().map(|sample| rate(sample)).collect()),
                cpu_us: cpu_ms as f64 * 1000.0 / transactions as f64,
                cpu_seconds: cpu_ms as f64 / 1000.0 / samples.len() as f64,
                peak_rss_bytes: samples.iter().map(|sample| sample.applied.peak_rss_bytes).max().unwrap_or(0),
                source_rate: median(samples.iter().map(|sample| sample.loaded.rate()).collect()),
                equal: samples.iter().all(|sample| sample.equal),
            });
        }
    }
    all
}

/// Slipstream's rate in the same mode with as many workers over this one's.
fn ratio(all: &[Figures], outcome: &Outcome, of: &Figures) -> Option<f64> {
    let ours = |other: &&Figures| {
        (other.mode, other.workers) == (of.mode, of.workers)
            && outcome.pairs[other.pair].flavor == Flavor::Slipstream
    };
    Some(all.iter().find(ours)?.rate / of.rate)
}

/// Slipstream's durable rate over its relaxed one, with the first number of workers.
fn durable_over_relaxed(all: &[Figures], outcome: &Outcome) -> Option<f64> {
    let of = |mode| {
        let wanted = |other: &&Figures| {
            other.mode == mode
                && Some(&other.workers) == outcome.plan.workers.first()
                && outcome.pairs[other.pair].flavor == Flavor::Slipstream
        };
        all.iter().find(wanted).map(|figures| figures.rate)
    };
    Some(of(Mode::Durable)? / of(Mode::Relaxed)?)
}

/// What was measured, in a few words.
fn summary(outcome: &Outcome) -> String {
    let plan = &outcome.plan;
    format!(
        "Apply of sysbench {}, {} x {} rows, {} transactions from {} clients, row image {}, replicas {},\n\
         buffer pool {} MB, {} round(s), {} processors. Receiver first, then the applier alone.",
        plan.workload,
        plan.size.tables,
        grouped(plan.size.rows),
        grouped(plan.transactions),
        plan.clients,
        plan.image.name(),
        if plan.logged { "log what they apply" } else { "do not log what they apply" },
        plan.pool_bytes >> 20,
        plan.rounds,
        os::thread::processors(),
    )
}

fn rows(outcome: &Outcome, all: &[Figures]) -> Table {
    let mut table = Table::new(&[
        ("replica", Align::Left),
        ("of", Align::Left),
        ("commits", Align::Left),
        ("workers", Align::Right),
        ("applied tx/s", Align::Right),
        ("Slipstream is", Align::Right),
        ("CPU s", Align::Right),
        ("CPU us/tx", Align::Right),
        ("peak RSS MB", Align::Right),
        ("source tx/s", Align::Right),
        ("checksums", Align::Left),
    ]);
    for one in all {
        let pair = &outcome.pairs[one.pair];
        let ratio = ratio(all, outcome, one).filter(|_| pair.flavor != Flavor::Slipstream);
        table.row(vec![
            pair.replica.clone(),
            pair.source.clone(),
            one.mode.name().to_string(),
            one.workers.to_string(),
            grouped(one.rate as u64),
            ratio.map_or(String::new(), |ratio| format!("{ratio:.2}x")),
            format!("{:.1}", one.cpu_seconds),
            format!("{:.1}", one.cpu_us),
            (one.peak_rss_bytes >> 20).to_string(),
            grouped(one.source_rate as u64),
            if one.equal { "equal" } else { "DIFFERENT" }.to_string(),
        ]);
    }
    table
}

/// The report as text.
pub fn text(outcome: &Outcome) -> String {
    let all = figures(outcome);
    let mut out = format!("{}\n\n{}", summary(outcome), rows(outcome, &all));
    if let Some(ratio) = durable_over_relaxed(&all, outcome) {
        out.push_str(&format!("\nSlipstream durable / relaxed: {ratio:.2}\n"));
    }
    for missing in &outcome.missing {
        out.push_str(&format!("\nNOT MEASURED: {missing}\n"));
    }
    out.push_str("\nOptions of the replicas (the durable runs set sync_binlog and innodb_flush_log_at_trx_commit to 1):\n");
    for pair in &outcome.pairs {
        out.push_str(&format!("  {}: {}\n", pair.replica, pair.options.join(" ")));
    }
    out
}

/// The report as JSON: the medians, and every single sample.
pub fn json(outcome: &Outcome) -> Value {
    let plan = &outcome.plan;
    let all = figures(outcome);
    let results: Vec<Value> = all
        .iter()
        .map(|one| {
            let pair = &outcome.pairs[one.pair];
            json!({
                "replica": pair.replica,
                "source": pair.source,
                "mode": one.mode.name(),
                "workers": one.workers,
                "applied_per_second": one.rate,
                "slipstream_over_this": ratio(&all, outcome, one),
                "cpu_seconds": one.cpu_seconds,
                "cpu_us_per_transaction": one.cpu_us,
                "peak_rss_bytes": one.peak_rss_bytes,
                "source_commits_per_second": one.source_rate,
                "checksums_equal": one.equal,
            })
        })
        .collect();
    let samples: Vec<Value> = outcome
        .samples
        .iter()
        .map(|sample| {
            json!({
                "round": sample.round,
                "mode": sample.mode.name(),
                "workers": sample.workers,
                "replica": outcome.pairs[sample.pair].replica,
                "transactions": sample.loaded.transactions,
                "apply_seconds": sample.applied.seconds,
                "cpu_ms": sample.applied.cpu_ms,
                "peak_rss_bytes": sample.applied.peak_rss_bytes,
                "load_seconds": sample.loaded.seconds,
                "load_retries": sample.loaded.retries,
                "checksums_equal": sample.equal,
            })
        })
        .collect();
    let servers: Vec<Value> =
        outcome.pairs.iter().map(|pair| json!({ "server": pair.replica, "options": pair.options })).collect();
    json!({
        "benchmark": "apply",
        "plan": {
            "workload": plan.workload.name(),
            "tables": plan.size.tables,
            "rows_per_table": plan.size.rows,
            "transactions": plan.transactions,
            "clients": plan.clients,
            "binlog_row_image": plan.image.name(),
            "log_replica_updates": plan.logged,
            "buffer_pool_bytes": plan.pool_bytes,
            "rounds": plan.rounds,
            "seed": plan.seed,
        },
        "processors": os::thread::processors(),
        "results": results,
        "durable_over_relaxed": durable_over_relaxed(&all, outcome),
        "samples": samples,
        "servers": servers,
        "missing": outcome.missing,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apply::{Pair, Plan};
    use crate::instance::RowImage;
    use crate::measure::Applied;
    use crate::sbtest::{Loaded, Size, Workload};

    fn outcome() -> Outcome {
        let pair = |flavor: Flavor| Pair {
            source: "MySQL 9.7.4".into(),
            flavor,
            replica: flavor.to_string(),
            options: vec!["--server-id=1".into()],
        };
        let sample = |round, mode, pair, seconds| Sample {
            round,
            mode,
            workers: 0,
            pair,
            loaded: Loaded { transactions: 1_000, retries: 0, seconds: 2.0 },
            applied: Applied { seconds, cpu_ms: 100, peak_rss_bytes: 64 << 20 },
            equal: true,
        };
        let plan = Plan {
            size: Size { tables: 4, rows: 100 },
            transactions: 1_000,
            clients: 16,
            workload: Workload::UpdateNonIndex,
            modes: vec![Mode::Relaxed, Mode::Durable],
            workers: vec![0],
            image: RowImage::Minimal,
            logged: true,
            pool_bytes: 1 << 30,
            source: None,
            replicas: vec![Flavor::Slipstream, Flavor::MySql],
            rounds: 1,
            seed: 1,
        };
        Outcome {
            plan,
            pairs: vec![pair(Flavor::Slipstream), pair(Flavor::MySql)],
            missing: vec!["MariaDB: not here".into()],
            samples: vec![
                sample(1, Mode::Relaxed, 0, 0.1),
                sample(1, Mode::Relaxed, 1, 0.8),
                sample(1, Mode::Durable, 0, 0.125),
                sample(1, Mode::Durable, 1, 2.0),
            ],
        }
    }

    #[test]
    fn the_page_has_the_speed_up_by_workers() {
        let mut outcome = outcome();
        outcome.plan.workers = vec![0, 4];
        let with_workers = |sample: &Sample| {
            let applied = Applied { seconds: sample.applied.seconds / 2.0, ..sample.applied };
            Sample { workers: 4, applied, ..sample.clone() }
        };
        let more: Vec<Sample> = outcome.samples.iter().map(with_workers).collect();
        outcome.samples.extend(more);
        let html = page(&outcome).html();
        for wanted in [
            "Slipstream behind MySQL 9.7.4, 4 workers: 2 times",
            "4 workers: 50 percent",
            "20.0k",
            "--server-id=1",
        ] {
            assert!(html.contains(wanted), "no {wanted} in {html}");
        }
        outcome.plan.workers = vec![0];
        assert!(!page(&outcome).html().contains("Speed-up"), "there is nothing to compare");
    }

    #[test]
    fn ratios_are_within_a_mode() {
        let report = text(&outcome());
        assert!(report.contains("8.00x") && report.contains("16.00x"), "{report}");
        assert!(report.contains("durable / relaxed: 0.80"), "{report}");
        assert!(report.contains("NOT MEASURED: MariaDB: not here"), "{report}");
        let value = json(&outcome());
        assert_eq!(value["results"][1]["slipstream_over_this"], 8.0);
        assert_eq!(value["results"][1]["source_commits_per_second"], 500.0);
        assert_eq!(value["samples"].as_array().map(Vec::len), Some(4));
    }

    #[test]
    fn a_replica_that_differs_is_told() {
        let mut outcome = outcome();
        outcome.samples[3].equal = false;
        assert!(!outcome.all_equal());
        assert!(text(&outcome).contains("DIFFERENT"));
        assert_eq!(json(&outcome)["results"][3]["checksums_equal"], false);
    }
}
