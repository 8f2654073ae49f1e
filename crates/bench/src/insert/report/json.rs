//! The report of `bench insert` as JSON.

use serde_json::{Value, json};

use super::super::outcome::{Outcome, Sample};
use super::figures::{Figures, figures, kinds, ratios};
use crate::histogram::Histogram;
use crate::usage::PerOperation;

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

/// Returns the report as JSON: the medians, and every sample with its operations of each second.
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
