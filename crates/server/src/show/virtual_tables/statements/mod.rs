//! The tables of performance_schema about statements, and how TRUNCATE empties them.
//!
//! They show what `sql::measured` has measured. What this server does not measure is 0: the
//! processor's time and the memory of a statement, and what a secondary engine did.

mod digests;
pub mod events;
mod prepared;
pub mod reading;
mod summaries;

pub use digests::{by_digest, histogram_by_digest, histogram_global};
pub use events::{current, history, history_long};
pub use prepared::instances;
pub use summaries::{accounts, by_account, by_host, by_thread, by_user, global, hosts, users};

use crate::client::connection_host::ConnectionHost;
use reading::{read, sessions};

/// Empties one of these tables. Returns false for another table.
pub fn truncate(host: &ConnectionHost, table: &str) -> bool {
    match table {
        "events_statements_summary_by_digest" => read(host, |m, sessions| m.clear_digests(sessions)),
        "events_statements_histogram_by_digest" => read(host, |m, sessions| m.clear_histograms(sessions)),
        "events_statements_histogram_global" => read(host, |m, sessions| m.clear_histogram(sessions)),
        "events_statements_summary_by_thread_by_event_name" => {
            read(host, |m, sessions| m.clear_by_session(sessions));
        }
        "events_statements_summary_by_account_by_event_name" => {
            read(host, |m, sessions| m.clear_by_account(sessions, false));
        }
        "events_statements_summary_by_user_by_event_name" => {
            read(host, |m, sessions| m.clear_by_user(sessions, false));
        }
        "events_statements_summary_by_host_by_event_name" => {
            read(host, |m, sessions| m.clear_by_host(sessions, false));
        }
        "events_statements_summary_global_by_event_name" => {
            read(host, |m, sessions| m.clear_by_name(sessions));
        }
        "accounts" => read(host, |m, sessions| m.clear_by_account(sessions, true)),
        "users" => read(host, |m, sessions| m.clear_by_user(sessions, true)),
        "hosts" => read(host, |m, sessions| m.clear_by_host(sessions, true)),
        "events_statements_current" | "events_statements_history" => {
            sessions(host).iter().for_each(|(_, session)| session.clear_history());
        }
        "events_statements_history_long" => {
            host.server().measured.iter().for_each(|measured| measured.clear_long_history());
        }
        "prepared_statements_instances" => {
            sessions(host).iter().for_each(|(_, session)| session.clear_prepared());
        }
        _ => return false,
    }
    true
}
