//! The report of `bench tpch`, as text and as JSON.

use serde_json::{Value, json};

use super::outcome::{Outcome, Sample};
use crate::described::settings_text;
use crate::table::{Align, Table};

/// Returns the report as text.
pub fn text(outcome: &Outcome) -> String {
    let plan = &outcome.plan;
    let mut out = format!(
        "TPC-H at scale {}: seconds of each query, the best of {} rounds; behind them how many times as long as the first \
         server.\n\n",
        plan.scale, plan.rounds
    );
    let names: Vec<String> = outcome.servers.iter().map(|server| server.shown()).collect();
    let mut columns = vec![("query", Align::Right)];
    for (at, name) in names.iter().enumerate() {
        columns.push((name, Align::Right));
        if at > 0 {
            columns.push(("ratio", Align::Right));
        }
    }
    let mut table = Table::new(&columns);
    let mut row = |name: String, seconds: &[Option<f64>]| {
        let mut cells = vec![name];
        for (at, of_server) in seconds.iter().enumerate() {
            cells.push(of_server.map_or("given up".into(), |seconds| format!("{seconds:.3}")));
            if at > 0 {
                let ratio = of_server.zip(seconds[0]).map(|(theirs, first)| theirs / first);
                cells.push(ratio.map_or(String::new(), |ratio| format!("{ratio:.2}")));
            }
        }
        table.row(cells);
    };
    row("load".into(), &outcome.load_seconds.iter().copied().map(Some).collect::<Vec<_>>());
    for query in &plan.queries {
        let seconds: Vec<_> = (0..names.len()).map(|server| outcome.seconds(*query, server)).collect();
        row(query.to_string(), &seconds);
    }
    out.push_str(&table.to_string());
    for wrong in &outcome.wrong {
        out.push_str(&format!("\nDIFFERENT ANSWER: {wrong}\n"));
    }
    out.push_str(&settings_text(&outcome.missing, outcome.servers.iter()));
    out
}

/// Returns the report as JSON, with every sample.
pub fn json(outcome: &Outcome) -> Value {
    let plan = &outcome.plan;
    let sample = |sample: &Sample| {
        json!({
            "query": sample.query,
            "server": outcome.servers[sample.server].shown(),
            "round": sample.round,
            "seconds": sample.seconds,
        })
    };
    json!({
        "benchmark": "tpch",
        "plan": {
            "scale": plan.scale,
            "rounds": plan.rounds,
            "most_seconds": plan.most_seconds,
            "buffer_pool_bytes": plan.pool_bytes,
            "memory_bytes": plan.memory_bytes,
            "seed": plan.seed,
        },
        "processors": os::thread::processors(),
        "load_seconds": outcome.load_seconds,
        "samples": outcome.samples.iter().map(sample).collect::<Vec<_>>(),
        "wrong": outcome.wrong,
        "servers": outcome.servers.iter().map(|server| server.json()).collect::<Vec<_>>(),
        "missing": outcome.missing,
    })
}
