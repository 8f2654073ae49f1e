//! The report of `bench oltp` as JSON.

use serde_json::{Value, json};

use super::super::accounts::Accounts;
use super::super::outcome::{Outcome, Sample};
use super::figures::{Case, Figures, binlog_pairs, figures, ratios};
use crate::usage::PerOperation;

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

/// Returns the report as JSON: the medians, and every sample with its transactions of each second.
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
