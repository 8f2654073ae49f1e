//! The report of `bench load`, as text and as JSON.

use serde_json::{Value, json};

use super::outcome::{Outcome, Sample};
use crate::described::settings_text;
use crate::progress::grouped;
use crate::table::{Align, Table};
use crate::usage::PerOperation;

const COLUMNS: [(&str, Align); 6] = [
    ("way", Align::Left),
    ("server", Align::Left),
    ("rows/s", Align::Right),
    ("times as long", Align::Right),
    ("CPU us a row", Align::Right),
    ("written KB a row", Align::Right),
];

/// Returns the report as text.
pub fn text(outcome: &Outcome) -> String {
    let plan = &outcome.plan;
    let on = |is: bool| if is { "on" } else { "off" };
    let mut out = format!(
        "Loading {} rows into an empty table with {} secondary indexes: the median of {} rounds; how many times as long \
         as the first server.\nBinary log {}, durable {}, {} processors.\n\n",
        grouped(plan.rows),
        plan.indexes,
        plan.rounds,
        on(plan.log_bin),
        on(plan.durable),
        os::thread::processors(),
    );
    let mut table = Table::new(&COLUMNS);
    for way in &plan.ways {
        for (at, server) in outcome.servers.iter().enumerate() {
            let seconds = outcome.seconds(*way, at);
            let cost = PerOperation::mean(outcome.of(*way, at).filter_map(|sample| sample.cost));
            let shown = |of: fn(&PerOperation) -> f64| {
                cost.as_ref().map_or("?".to_owned(), |cost| format!("{:.2}", of(cost)))
            };
            table.row(vec![
                way.name().to_owned(),
                server.shown(),
                grouped((plan.rows as f64 / seconds) as u64),
                format!("{:.2}", seconds / outcome.seconds(*way, 0)),
                shown(|cost| cost.cpu_us),
                shown(|cost| cost.written_kb),
            ]);
        }
    }
    out.push_str(&table.to_string());
    for wrong in &outcome.wrong {
        out.push_str(&format!("\nDIFFERENT ROWS: {wrong}\n"));
    }
    out.push_str(&settings_text(&outcome.missing, outcome.servers.iter()));
    out
}

/// Returns the report as JSON, with every sample.
pub fn json(outcome: &Outcome) -> Value {
    let plan = &outcome.plan;
    let sample = |sample: &Sample| {
        json!({
            "way": sample.way.name(),
            "server": outcome.servers[sample.server].shown(),
            "round": sample.round,
            "seconds": sample.seconds,
            "cost_per_row": sample.cost.as_ref().map(PerOperation::json),
        })
    };
    json!({
        "benchmark": "load",
        "plan": {
            "rows": plan.rows,
            "indexes": plan.indexes,
            "statement_bytes": plan.statement_bytes,
            "log_bin": plan.log_bin,
            "durable": plan.durable,
            "buffer_pool_bytes": plan.pool_bytes,
            "redo_bytes": plan.redo_bytes,
            "rounds": plan.rounds,
            "seed": plan.seed,
        },
        "processors": os::thread::processors(),
        "samples": outcome.samples.iter().map(sample).collect::<Vec<_>>(),
        "wrong": outcome.wrong,
        "servers": outcome.servers.iter().map(|server| server.json()).collect::<Vec<_>>(),
        "missing": outcome.missing,
    })
}
