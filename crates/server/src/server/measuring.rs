//! What the server measures of statements, as the variables `performance_schema_*` want it.

use crate::variables::{Globals, Setting};
use sql::measured::{Measured, Settings};
use std::sync::Arc;

/// The number of digests that MySQL chooses by itself.
const DIGESTS: usize = 10_000;

/// The number of statements and of transactions of a session that MySQL chooses by itself.
const HISTORY: usize = 10;

/// The number of statements and of transactions of all sessions that MySQL chooses by itself.
const LONG_HISTORY: usize = 10_000;

/// Begins to measure, unless `performance_schema` is OFF.
pub fn begin(globals: &Globals) -> Option<Arc<Measured>> {
    // -1 leaves the choice to the server.
    let chosen = |name: &str, default: usize| match globals.named(&format!("performance_schema_{name}")) {
        Setting::Int(chosen) => usize::try_from(chosen).unwrap_or(default),
        _ => default,
    };
    let unsigned = |name: &str| globals.named(name).uint() as usize;
    globals.named("performance_schema").is_on().then(|| {
        Arc::new(Measured::new(Settings {
            digests: chosen("digests_size", DIGESTS),
            history: chosen("events_statements_history_size", HISTORY),
            long_history: chosen("events_statements_history_long_size", LONG_HISTORY),
            transactions: (
                chosen("events_transactions_history_size", HISTORY),
                chosen("events_transactions_history_long_size", LONG_HISTORY),
            ),
            text_bytes: unsigned("performance_schema_max_sql_text_length"),
            digest_bytes: unsigned("max_digest_length").min(unsigned("performance_schema_max_digest_length")),
            sample_age_s: unsigned("performance_schema_max_digest_sample_age") as u64,
        }))
    })
}
