//! The report of `bench insert` as text.

use super::super::outcome::Outcome;
use super::figures::{figures, histograms, summary, table};
use crate::described::settings_text;

/// Returns the report as text.
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
