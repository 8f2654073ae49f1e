//! The report of `bench oltp` as text.

use super::super::outcome::Outcome;
use super::figures::{binlog_pairs, binlog_table, figures, summary, table};
use crate::described::settings_text;

/// Returns the report as text.
pub fn text(outcome: &Outcome) -> String {
    let all = figures(outcome);
    let mut out = format!("{}\n\n{}", summary(outcome), table(&all, outcome));
    let pairs = binlog_pairs(&all, outcome);
    if !pairs.is_empty() {
        out.push_str("\nThe binary log's part: throughput and CPU time with it, over those without it\n\n");
        out.push_str(&binlog_table(&pairs, outcome).to_string());
    }
    for sample in &outcome.samples {
        let Some(accounts) = &sample.accounts else { continue };
        let subject = &outcome.subjects[sample.subject];
        out.push_str(&format!(
            "\nWhere the time of a transaction goes, {} ({}): {}, {} clients, {}, round {}\n\n{}",
            subject.server.shown(),
            subject.settings_shown(),
            sample.script,
            sample.clients,
            sample.mode.name(),
            sample.round,
            accounts.table(),
        ));
    }
    out.push_str(&settings_text(&outcome.missing, outcome.subjects.iter().map(|subject| &subject.server)));
    out
}
