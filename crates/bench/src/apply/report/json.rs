//! The report as JSON: the medians, what each setting changes, and every single sample.

use serde_json::{Map, Value, json};

use super::effects::effects;
use super::figures::{Figures, efficiency, figures, ratio, speed_up};
use crate::apply::{Case, Dimension, Outcome, Sample};

/// Returns the report as JSON.
pub fn json(outcome: &Outcome) -> Value {
    let plan = &outcome.plan;
    let all = figures(outcome);
    let effects: Vec<Value> = effects(outcome, &all)
        .iter()
        .map(|effect| {
            json!({
                "replica": effect.who,
                "setting": effect.dimension.name(),
                "is": effect.value,
                "over": effect.base,
                "rate": effect.ratio,
                "least": effect.least,
                "most": effect.most,
                "cells": effect.cells,
            })
        })
        .collect();
    let servers: Vec<Value> =
        outcome.pairs.iter().map(|pair| json!({ "server": pair.replica, "options": pair.options })).collect();
    json!({
        "benchmark": "apply",
        "plan": {
            "tables": plan.size.tables,
            "rows_per_table": plan.size.rows,
            "transactions": plan.transactions,
            "clients": plan.clients,
            "rand_type": plan.rand_type.name(),
            "restarted": plan.restarts,
            "buffer_pool_bytes": plan.pool_bytes,
            "rounds": plan.rounds,
            "seed": plan.seed,
        },
        "processors": os::thread::processors(),
        "results": all.iter().map(|one| result(outcome, &all, one)).collect::<Vec<_>>(),
        "effects": effects,
        "samples": outcome.samples.iter().map(|one| sample(outcome, one)).collect::<Vec<_>>(),
        "servers": servers,
        "missing": outcome.missing,
    })
}

/// Returns an object with the values of the case's dimensions, followed by the members of `more`.
fn with_case(case: &Case, more: Value) -> Value {
    let numbers = [Dimension::Delay, Dimension::Workers];
    let mut all: Map<String, Value> = Map::new();
    for dimension in Dimension::ALL {
        let text = dimension.of(case);
        let number = text.parse::<u64>().ok().filter(|_| numbers.contains(&dimension));
        all.insert(dimension.name().to_string(), number.map_or(json!(text), |number| json!(number)));
    }
    if let Value::Object(more) = more {
        all.extend(more);
    }
    Value::Object(all)
}

fn result(outcome: &Outcome, all: &[Figures], one: &Figures) -> Value {
    let pair = &outcome.pairs[one.pair];
    let figures = json!({
        "replica": pair.replica,
        "source": pair.source,
        "applied_per_second": one.rate,
        "slipstream_over_this": ratio(all, outcome, one),
        "speed_up": speed_up(all, outcome, one),
        "efficiency": efficiency(all, outcome, one),
        "cpu_seconds": one.cpu_seconds,
        "cpu_us_per_transaction": one.cpu_us,
        "peak_rss_bytes": one.peak_rss_bytes,
        "pages_read_per_transaction": one.pages_read,
        "pages_waited_for_per_transaction": one.pages_waited_for,
        "source_commits_per_second": one.source_rate,
        "checksums_equal": one.equal,
    });
    with_case(&one.case, figures)
}

fn sample(outcome: &Outcome, sample: &Sample) -> Value {
    let figures = json!({
        "round": sample.round,
        "replica": outcome.pairs[sample.pair].replica,
        "transactions": sample.loaded.transactions,
        "apply_seconds": sample.applied.seconds,
        "cpu_ms": sample.applied.cpu_ms,
        "peak_rss_bytes": sample.applied.peak_rss_bytes,
        "pages_read": sample.applied.pages_read,
        "pages_waited_for": sample.applied.pages_waited_for,
        "load_seconds": sample.loaded.seconds,
        "load_retries": sample.loaded.retries,
        "checksums_equal": sample.equal,
    });
    with_case(&sample.case, figures)
}
