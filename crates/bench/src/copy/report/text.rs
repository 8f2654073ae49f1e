//! The report of `bench copy` as text.

use super::super::outcome::Outcome;
use super::figures::{figures, summary, table};

/// Returns the report as text.
pub fn text(outcome: &Outcome) -> String {
    let mut out = format!("{}\n\n{}", summary(outcome), table(&figures(outcome), outcome));
    for missing in &outcome.missing {
        out.push_str(&format!("\nNOT MEASURED: {missing}\n"));
    }
    out.push_str("\nOptions of the replicas:\n");
    for made in &outcome.made {
        out.push_str(&format!("  {}: {}\n", made.method.shown(), made.options.join(" ")));
    }
    out
}
