//! What `bench insert` has measured, as text and as JSON.

mod page;

use serde_json::{Value, json};

pub use page::page;

use super::step::{Done, Step};
use super::{Outcome, Sample};
use crate::described::settings_text;
use crate::histogram::{Histogram, Percentiles};
use crate::progress::grouped;
use crate::server::Mode;
use crate::table::{Align, Table, bars, median, optional};
use crate::usage::PerOperation;

/// The figures of one step on one server, over all rounds.
struct Figures<'a> {
    step: Step,
    mode: Mode,
    server: usize,
    /// Operations a second: the median of the rounds.
    rate: f64,
    /// Rows inserted a second, which a query step has beside its operations.
    insert_rate: f64,
    times: Percentiles,
    cost: Option<PerOperation>,
    kit_cost: Option<PerOperation>,
    samples: Vec<&'a Sample>,
}

fn figures(outcome: &Outcome) -> Vec<Figures<'_>> {
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

/// Rate and the server's CPU time, over those of the base.
fn ratios(all: &[Figures<'_>], outcome: &Outcome, of: &Figures<'_>) -> (Option<f64>, Option<f64>) {
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

/// What was measured, in a few words.
fn summary(outcome: &Outcome) -> String {
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

/// The report as text.
pub fn text(outcome: &Outcome) -> String {
    let all = figures(outcome);
    let mut out = format!("{}\n\n{}", summary(outcome), table(&all, outcome));
    out.push_str("\nResponse times: how many statements took no longer than\n\n");
    out.push_str(&histograms(&all, outcome).to_string());
    for wrong in &outcome.wrong {
        out.push_str(&format!("\nWRONG: {wrong}\n"));
    }
    out.push_str(&settings_text(&outcome.missing, outcome.servers.iter()));
    out
}

fn table(all: &[Figures<'_>], outcome: &Outcome) -> Table {
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

/// The kinds of statements that a step has, with their times.
fn kinds(one: &Figures<'_>) -> Vec<(&'static str, Histogram)> {
    let all = [
        ("insert", merged(&one.samples, |done| &done.insert_times)),
        ("delete", merged(&one.samples, |done| &done.delete_times)),
        ("query", merged(&one.samples, |done| &done.query_times)),
    ];
    all.into_iter().filter(|(_, times)| times.count() > 0).collect()
}

fn histograms(all: &[Figures<'_>], outcome: &Outcome) -> Table {
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

fn times_json(times: &Histogram) -> Value {
    let shown = times.percentiles();
    let buckets: serde_json::Map<String, Value> =
        times.shown().iter().map(|(name, count)| (name.to_string(), json!(count))).collect();
    json!({
        "count": times.count(),
        "p50_ms": shown.p50_ms,
        "p95_ms": shown.p95_ms,
        "p99_ms": shown.p99_ms,
        "max_ms": shown.max_ms,
        "histogram": buckets,
    })
}

fn result_json(all: &[Figures<'_>], outcome: &Outcome, one: &Figures<'_>) -> Value {
    let (rate_ratio, cpu_ratio) = ratios(all, outcome, one);
    let times: serde_json::Map<String, Value> =
        kinds(one).iter().map(|(kind, times)| (kind.to_string(), times_json(times))).collect();
    json!({
        "step": one.step.name(),
        "server": outcome.servers[one.server].shown(),
        "mode": one.mode.name(),
        "operations": one.step.operations(),
        "operations_per_second": one.rate,
        "rate_over_base": rate_ratio,
        "rows_inserted_per_second": one.insert_rate,
        "server_per_operation": one.cost.as_ref().map(PerOperation::json),
        "cpu_over_base": cpu_ratio,
        "kit_per_operation": one.kit_cost.as_ref().map(PerOperation::json),
        "response_times": times,
    })
}

/// The report as JSON: the medians, and every single sample with its seconds.
pub fn json(outcome: &Outcome) -> Value {
    let plan = &outcome.plan;
    let all = figures(outcome);
    let sample = |sample: &Sample| {
        json!({
            "round": sample.round,
            "step": sample.step.name(),
            "server": outcome.servers[sample.server].shown(),
            "mode": sample.mode.name(),
            "seconds": sample.done.seconds,
            "inserted": sample.done.inserted,
            "deleted": sample.done.deleted,
            "queries": sample.done.queries,
            "indexed": sample.done.indexed,
            "each_second": sample.done.each_second,
        })
    };
    json!({
        "benchmark": "insert",
        "plan": {
            "rows": plan.rows,
            "l1_rows": plan.l1_rows,
            "l2_rows": plan.l2_rows,
            "clients": plan.clients,
            "query_seconds": plan.query_seconds,
            "data_bytes": plan.data_bytes,
            "log_bin": plan.log_bin,
            "buffer_pool_bytes": plan.pool_bytes,
            "rounds": plan.rounds,
            "seed": plan.seed,
            "base": plan.base,
        },
        "processors": os::thread::processors(),
        "results": all.iter().map(|one| result_json(&all, outcome, one)).collect::<Vec<_>>(),
        "samples": outcome.samples.iter().map(sample).collect::<Vec<_>>(),
        "servers": outcome.servers.iter().map(|server| server.json()).collect::<Vec<_>>(),
        "missing": outcome.missing,
        "wrong": outcome.wrong,
    })
}

#[cfg(test)]
mod tests {
    use super::super::statement::Lookup;
    use super::super::{Plan, Sample};
    use super::*;
    use crate::described::Described;
    use crate::instance::RowImage;

    fn outcome() -> Outcome {
        let plan = Plan {
            rows: 1_000,
            l1_rows: 100,
            l2_rows: 100,
            clients: 1,
            steps: vec![Step::L0, Step::Query(100)],
            query_seconds: 10,
            lookup: Lookup::Ranges,
            data_bytes: 10,
            modes: vec![Mode::Relaxed],
            log_bin: true,
            pool_bytes: 1 << 29,
            redo_bytes: 1 << 30,
            image: RowImage::Minimal,
            flavors: vec![],
            addresses: vec![],
            base: None,
            rounds: 1,
            seed: 1,
        };
        let server = |name: &str| Described {
            name: name.into(),
            version: "1.0".into(),
            options: vec![],
            settings: vec![("log_bin", "ON".into())],
        };
        let sample = |step, server, inserted, queries, cpu_us| {
            let mut done = Done { seconds: 2.0, inserted, queries, ..Done::default() };
            done.insert_times.add(3_000, inserted / 50);
            done.query_times.add(200, queries);
            let cost = Some(PerOperation { cpu_us, ..PerOperation::default() });
            Sample { round: 1, mode: Mode::Relaxed, step, server, done, cost, kit_cost: None }
        };
        Outcome {
            plan,
            servers: vec![server("Slipstream"), server("MariaDB")],
            missing: vec!["MySQL: not here".into()],
            samples: vec![
                sample(Step::L0, 0, 1_000, 0, 2.0),
                sample(Step::L0, 1, 250, 0, 8.0),
                sample(Step::Query(100), 0, 200, 6_000, 10.0),
                sample(Step::Query(100), 1, 200, 3_000, 20.0),
            ],
            wrong: vec![],
        }
    }

    #[test]
    fn a_step_is_measured_by_its_own_operation() {
        let value = json(&outcome());
        let result = |at: usize, name: &str| value["results"][at][name].as_f64();
        assert_eq!(
            (result(0, "operations_per_second"), result(1, "rate_over_base")),
            (Some(500.0), Some(0.25))
        );
        assert_eq!(
            (result(2, "operations_per_second"), result(3, "rate_over_base")),
            (Some(3000.0), Some(0.5))
        );
        assert_eq!(result(3, "cpu_over_base"), Some(2.0));
        assert_eq!(result(2, "rows_inserted_per_second"), Some(100.0));
        let times = &value["results"][2]["response_times"];
        assert_eq!(
            (&times["query"]["histogram"]["256us"], &times["insert"]["count"]),
            (&json!(6000), &json!(4))
        );
        assert!(value["results"][0]["response_times"].get("query").is_none());
    }

    #[test]
    fn the_page_has_a_bar_for_every_step_and_server() {
        let html = page(&outcome()).html();
        for wanted in [
            "Slipstream 1.0, l.i0: 500 a second",
            "MariaDB 1.0, q100: 20 microseconds an operation",
            "NOT MEASURED: MySQL: not here",
        ] {
            assert!(html.contains(wanted), "no {wanted} in {html}");
        }
    }

    #[test]
    fn rows_that_are_missing_are_told() {
        let mut outcome = outcome();
        outcome.wrong.push("Slipstream holds 1 rows, not 2".into());
        let report = text(&outcome);
        for part in
            ["WRONG: Slipstream holds 1 rows, not 2", "NOT MEASURED: MySQL: not here", "q100", "256us"]
        {
            assert!(report.contains(part), "no {part} in\n{report}");
        }
    }
}
