//! The report of `bench apply` as text.

use super::effects::{self, effects};
use super::figures::{figures, rows, summary};
use crate::apply::Outcome;

/// Returns the report as text.
pub fn text(outcome: &Outcome) -> String {
    let all = figures(outcome);
    let mut out = format!("{}\n\n{}", summary(outcome), rows(outcome, &all));
    let effects = effects(outcome, &all);
    if !effects.is_empty() {
        out.push_str(&format!("\n{}\n{}", effects::HEADING, effects::table(&effects)));
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
