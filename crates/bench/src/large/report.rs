//! The report of `bench large`, as text and as JSON.

use serde_json::{Value, json};

use super::outcome::{Outcome, PHASES, Sample};
use crate::described::settings_text;
use crate::progress::grouped;
use crate::table::{Align, Table};

const COLUMNS: [(&str, Align); 11] = [
    ("transaction", Align::Left),
    ("server", Align::Left),
    ("round", Align::Right),
    ("statements s", Align::Right),
    ("commit s", Align::Right),
    ("before ms", Align::Right),
    ("statements ms", Align::Right),
    ("commit ms", Align::Right),
    ("after ms", Align::Right),
    ("statements MB", Align::Right),
    ("peak MB", Align::Right),
];

/// Returns the report as text.
pub fn text(outcome: &Outcome) -> String {
    let plan = &outcome.plan;
    let on = |is: bool| if is { "on" } else { "off" };
    let mut out = format!(
        "One large transaction beside single-row commits: the longest of those in each phase, in ms; memory beyond what was \
         resident before.\n{} rows, or {} MB; binary log {}, durable {}, row image {}, {} processors.\n\n",
        grouped(plan.rows),
        plan.wide_bytes >> 20,
        on(plan.log_bin),
        on(plan.durable),
        plan.image.name(),
        os::thread::processors(),
    );
    let mut table = Table::new(&COLUMNS);
    for &shape in &plan.shapes {
        for sample in outcome.samples.iter().filter(|sample| sample.shape == shape) {
            let more = |bytes: u64| (bytes.saturating_sub(sample.rss_before_bytes) >> 20).to_string();
            let mut row = vec![
                shape.name().to_string(),
                outcome.servers[sample.server].shown(),
                sample.round.to_string(),
                format!("{:.1}", sample.statements_s),
                format!("{:.2}", sample.commit_s),
            ];
            row.extend(sample.waits.iter().map(|waits| format!("{:.1}", waits.percentiles().max_ms)));
            row.extend([more(sample.rss_statements_bytes), more(sample.rss_peak_bytes)]);
            table.row(row);
        }
    }
    out.push_str(&table.to_string());
    out.push_str(&settings_text(&outcome.missing, outcome.servers.iter()));
    out
}

/// Returns the report as JSON, with every sample.
pub fn json(outcome: &Outcome) -> Value {
    let plan = &outcome.plan;
    let sample = |sample: &Sample| {
        let phases = PHASES.iter().zip(&sample.waits).map(|(phase, waits)| {
            let shown = waits.percentiles();
            let figures = json!({
                "commits": waits.count(),
                "p50_ms": shown.p50_ms,
                "p99_ms": shown.p99_ms,
                "longest_ms": shown.max_ms,
            });
            (phase.to_string(), figures)
        });
        json!({
            "transaction": sample.shape.name(),
            "server": outcome.servers[sample.server].shown(),
            "round": sample.round,
            "statements_seconds": sample.statements_s,
            "commit_seconds": sample.commit_s,
            "single_row_commits": phases.collect::<serde_json::Map<_, _>>(),
            "rss_before_bytes": sample.rss_before_bytes,
            "rss_statements_bytes": sample.rss_statements_bytes,
            "rss_peak_bytes": sample.rss_peak_bytes,
        })
    };
    json!({
        "benchmark": "large",
        "plan": {
            "rows": plan.rows,
            "wide_bytes": plan.wide_bytes,
            "log_bin": plan.log_bin,
            "durable": plan.durable,
            "binlog_row_image": plan.image.name(),
            "buffer_pool_bytes": plan.pool_bytes,
            "redo_bytes": plan.redo_bytes,
            "rounds": plan.rounds,
        },
        "processors": os::thread::processors(),
        "samples": outcome.samples.iter().map(sample).collect::<Vec<_>>(),
        "servers": outcome.servers.iter().map(|server| server.json()).collect::<Vec<_>>(),
        "missing": outcome.missing,
    })
}
