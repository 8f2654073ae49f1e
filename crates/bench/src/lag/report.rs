//! The report of `bench lag`, as text, as JSON and as a page.

use serde_json::{Value, json};

use super::outcome::{Outcome, Run};
use crate::beat::LOOK_EVERY;
use crate::html::{Chart, Kind, Page, Part, Series, machine};
use crate::progress::grouped;
use crate::table::{Align, Table, median, optional};

/// Returns the greatest lag that was seen, in milliseconds; 0 when there was no look.
pub(super) fn most(lag_ms: &[Option<f64>]) -> f64 {
    lag_ms.iter().flatten().copied().fold(0.0, f64::max)
}

fn middle(lag_ms: &[Option<f64>]) -> f64 {
    let seen: Vec<f64> = lag_ms.iter().flatten().copied().collect();
    if seen.is_empty() { 0.0 } else { median(seen) }
}

fn summary(outcome: &Outcome) -> String {
    let plan = &outcome.plan;
    format!(
        "Replicas that apply along: {} transactions a second from {} clients for {} s, {} commits, {} rows; the large transaction \
         changes {} rows.\nLag: the age of the oldest commit that readers of the replica did not see, looked at every {} ms.",
        grouped(plan.rate),
        plan.clients,
        plan.seconds,
        plan.mode.name(),
        grouped(plan.rows),
        grouped(plan.large_rows),
        LOOK_EVERY.as_millis(),
    )
}

fn rows(outcome: &Outcome) -> Table {
    let mut table = Table::new(&[
        ("scenario", Align::Left),
        ("replica", Align::Left),
        ("of", Align::Left),
        ("workers", Align::Right),
        ("lag ms, middle", Align::Right),
        ("most", Align::Right),
        ("caught up after s", Align::Right),
        ("reads", Align::Right),
        ("p99 ms", Align::Right),
        ("longest ms", Align::Right),
        ("source tx/s", Align::Right),
        ("large tx s", Align::Right),
        ("checksums", Align::Left),
    ]);
    for run in &outcome.runs {
        let (pair, reads) = (&outcome.pairs[run.pair], run.reads.percentiles());
        table.row(vec![
            run.scenario.name().to_string(),
            pair.replica.clone(),
            pair.source.clone(),
            run.workers.to_string(),
            format!("{:.1}", middle(&run.lag_ms)),
            format!("{:.1}", most(&run.lag_ms)),
            format!("{:.2}", run.catch_up_seconds),
            grouped(run.reads.count()),
            format!("{:.2}", reads.p99_ms),
            format!("{:.2}", reads.max_ms),
            grouped(run.rate as u64),
            optional(run.large_seconds, 2),
            if run.equal { "equal" } else { "DIFFERENT" }.to_string(),
        ]);
    }
    table
}

/// Returns the report as text.
pub fn text(outcome: &Outcome) -> String {
    let mut out = format!("{}\n\n{}", summary(outcome), rows(outcome));
    for missing in &outcome.missing {
        out.push_str(&format!("\nNOT MEASURED: {missing}\n"));
    }
    out.push_str("\nOptions of the replicas:\n");
    for pair in &outcome.pairs {
        out.push_str(&format!("  {}: {}\n", pair.replica, pair.options.join(" ")));
    }
    out
}

/// Returns the report as JSON.
pub fn json(outcome: &Outcome) -> Value {
    let run = |run: &Run| {
        let reads = run.reads.percentiles();
        json!({
            "scenario": run.scenario.name(),
            "replica": outcome.pairs[run.pair].replica,
            "source": outcome.pairs[run.pair].source,
            "workers": run.workers,
            "lag_ms": run.lag_ms,
            "lag_ms_median": middle(&run.lag_ms),
            "lag_ms_max": most(&run.lag_ms),
            "catch_up_seconds": run.catch_up_seconds,
            "reads": run.reads.count(),
            "read_ms_p99": reads.p99_ms,
            "read_ms_max": reads.max_ms,
            "source_commits_per_second": run.rate,
            "large_transaction_seconds": run.large_seconds,
            "checksums_equal": run.equal,
        })
    };
    let plan = &outcome.plan;
    json!({
        "benchmark": "lag",
        "plan": {
            "seconds": plan.seconds,
            "rate": plan.rate,
            "clients": plan.clients,
            "commits": plan.mode.name(),
            "rows": plan.rows,
            "large_rows": plan.large_rows,
            "buffer_pool_bytes": plan.pool_bytes,
            "seed": plan.seed,
        },
        "look_every_ms": LOOK_EVERY.as_millis() as u64,
        "runs": outcome.runs.iter().map(run).collect::<Vec<_>>(),
        "missing": outcome.missing,
    })
}

/// Returns the report as a page, with the lag of all pairs over time in one chart for each
/// scenario.
pub fn page(outcome: &Outcome) -> Page {
    let mut parts = vec![Part::Text(summary(outcome))];
    for scenario in &outcome.plan.scenarios {
        let of: Vec<&Run> = outcome.runs.iter().filter(|run| run.scenario == *scenario).collect();
        parts.push(Part::Heading(scenario.name().to_string()));
        parts.push(Part::Charts(vec![over_time(outcome, &of), longest_reads(outcome, &of)]));
    }
    parts.push(Part::Heading("Figures".to_string()));
    parts.push(Part::Table(rows(outcome)));
    parts.extend(outcome.missing.iter().map(|missing| Part::Text(format!("Not measured: {missing}"))));
    for pair in &outcome.pairs {
        parts.push(Part::Folded(format!("Options of {}", pair.replica), pair.options.join("\n")));
    }
    Page { title: "How far replicas are behind".to_string(), facts: machine(), parts }
}

fn name(outcome: &Outcome, run: &Run) -> String {
    let pair = &outcome.pairs[run.pair];
    format!("{} behind {}, {} workers", pair.replica, pair.source, run.workers)
}

fn over_time(outcome: &Outcome, runs: &[&Run]) -> Chart {
    let looks = runs.iter().map(|run| run.lag_ms.len()).max().unwrap_or(0);
    let second = |look| format!("{:.1} s", LOOK_EVERY.as_secs_f64() * look as f64);
    Chart {
        title: "Lag over time".to_string(),
        unit: "milliseconds".to_string(),
        kind: Kind::Lines,
        labels: (0..looks).map(second).collect(),
        series: runs
            .iter()
            .map(|run| Series { name: name(outcome, run), values: run.lag_ms.clone() })
            .collect(),
    }
}

fn longest_reads(outcome: &Outcome, runs: &[&Run]) -> Chart {
    let longest =
        |run: &&Run| Series { name: name(outcome, run), values: vec![Some(run.reads.percentiles().max_ms)] };
    Chart {
        title: "The longest read on the replica".to_string(),
        unit: "milliseconds".to_string(),
        kind: Kind::Bars,
        labels: vec![String::new()],
        series: runs.iter().map(longest).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histogram::Histogram;
    use crate::instance::Flavor;
    use crate::lag::{Pair, Plan, Scenario};
    use crate::server::Mode;

    fn outcome() -> Outcome {
        let plan = Plan {
            scenarios: Scenario::ALL.to_vec(),
            workers: vec![4],
            mode: Mode::Relaxed,
            seconds: 1,
            rate: 100,
            clients: 2,
            rows: 10,
            large_rows: 1_000_000,
            pool_bytes: 1 << 30,
            source: None,
            replicas: vec![Flavor::Slipstream],
            seed: 1,
        };
        let mut reads = Histogram::default();
        reads.record(2_500);
        let run = |scenario| Run {
            scenario,
            workers: 4,
            pair: 0,
            lag_ms: vec![Some(0.0), None, Some(12.5), Some(3.0)],
            rate: 100.0,
            large_seconds: (scenario == Scenario::LargeTransaction).then_some(1.5),
            catch_up_seconds: 0.25,
            reads: reads.clone(),
            equal: true,
        };
        Outcome {
            plan,
            pairs: vec![Pair { source: "MySQL 9".into(), replica: "Slipstream 1".into(), options: vec![] }],
            missing: vec!["MariaDB: not here".into()],
            runs: Scenario::ALL.map(run).to_vec(),
        }
    }

    #[test]
    fn the_greatest_lag_and_the_longest_read_are_told() {
        let report = json(&outcome());
        assert_eq!(
            (&report["runs"][0]["lag_ms_max"], &report["runs"][0]["lag_ms_median"]),
            (&12.5.into(), &3.0.into())
        );
        assert_eq!(report["runs"][1]["read_ms_max"], 2.5);
        let text = text(&outcome());
        for wanted in ["hot-row", "12.5", "1.50", "NOT MEASURED: MariaDB: not here"] {
            assert!(text.contains(wanted), "no {wanted} in {text}");
        }
    }

    #[test]
    fn the_page_has_lag_over_time() {
        let html = page(&outcome()).html();
        for wanted in ["large-transaction", "Lag over time", "0.2 s: 12.5 milliseconds", "4 workers"] {
            assert!(html.contains(wanted), "no {wanted} in {html}");
        }
    }
}
