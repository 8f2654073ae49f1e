//! The report of `bench copy` as JSON.

use serde_json::{Value, json};

use super::super::outcome::{Outcome, Sample};
use super::figures::{Figures, all_rows, figures, times_ours};
use crate::beat::LOOK_EVERY;

/// Returns the report as JSON: the figures over all rounds, and every sample.
pub fn json(outcome: &Outcome) -> Value {
    let plan = &outcome.plan;
    let all = figures(outcome);
    let result = |one: &Figures<'_>| {
        json!({
            "way": one.method.name(),
            "replica": one.samples[0].replica,
            "changes_per_second_wanted": one.changes,
            "changes_per_second": one.rate,
            "rows_per_second": one.rows_per_second(outcome),
            "mb_per_second": one.mb_per_second(outcome),
            "copied_seconds": one.copied_seconds,
            "caught_up_seconds": one.caught_up_seconds,
            "times_ours": times_ours(&all, one),
            "lag_ms_median": one.lag_ms,
            "lag_ms_max": one.lag_most_ms,
            "lag_under_1s_after_seconds": one.lag_small_after_s,
            "rss_peak_bytes": one.peak_rss_bytes,
            "checksums_equal": one.equal,
        })
    };
    let sample = |sample: &Sample| {
        json!({
            "round": sample.round,
            "way": sample.method.name(),
            "changes_per_second_wanted": sample.changes_per_second,
            "copied_seconds": sample.copied_seconds,
            "caught_up_seconds": sample.caught_up_seconds,
            "lag_ms": sample.lag_ms,
        })
    };
    json!({
        "benchmark": "copy",
        "plan": {
            "tables": plan.size.tables,
            "rows": plan.size.rows,
            "clients": plan.clients,
            "threads": plan.threads,
            "commits": plan.mode.name(),
            "buffer_pool_bytes": plan.pool_bytes,
            "lag_seconds": plan.lag_seconds,
            "rounds": plan.rounds,
            "seed": plan.seed,
        },
        "processors": os::thread::processors(),
        "source": outcome.source,
        "rows": all_rows(outcome),
        "data_bytes": outcome.data_bytes,
        "look_every_ms": LOOK_EVERY.as_millis() as u64,
        "results": all.iter().map(result).collect::<Vec<_>>(),
        "samples": outcome.samples.iter().map(sample).collect::<Vec<_>>(),
        "missing": outcome.missing,
    })
}
