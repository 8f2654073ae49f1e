//! The tables of performance_schema about statements, and how TRUNCATE empties them.
//!
//! They show what `sql::measured` has measured. What this server does not measure is 0: the
//! processor's time and the memory of a statement, and what a secondary engine did.

mod digests;
mod events;
mod prepared;
mod summaries;

pub use digests::{by_digest, histogram_by_digest, histogram_global};
pub use events::{current, history, history_long};
pub use prepared::instances;
pub use summaries::{accounts, by_account, by_host, by_thread, by_user, global, hosts, users};

use super::columns::Kind;
use crate::client::connection_host::ConnectionHost;
use sql::measured::{Figures, Measured, MeasuredSession, SUM_NAMES, sum};
use std::sync::Arc;
use types::Value;

/// Columns by their names.
type Named = Vec<(String, Kind)>;

/// The columns of MySQL's sums, in two parts: those of the time, and the other ones.
fn sum_columns() -> (Named, Named) {
    let number = |name: &str| (name.to_owned(), Kind::Number);
    let times = ["COUNT_STAR", "SUM_TIMER_WAIT", "MIN_TIMER_WAIT", "AVG_TIMER_WAIT", "MAX_TIMER_WAIT"];
    let sums = SUM_NAMES.iter().map(|name| number(&format!("SUM_{name}")));
    let unmeasured = ["SUM_CPU_TIME", "MAX_CONTROLLED_MEMORY", "MAX_TOTAL_MEMORY", "COUNT_SECONDARY"];
    (times.map(number).into(), sums.chain(unmeasured.map(number)).collect())
}

/// Returns the cells of all columns of sums.
fn sum_cells(figures: &Figures) -> Vec<Value> {
    let ps = |ns: u64| Value::UInt(ns.saturating_mul(1000));
    let average_ps = (u128::from(figures.wait_ns) * 1000).checked_div(u128::from(figures.count)).unwrap_or(0);
    let mut cells = vec![
        Value::UInt(figures.count),
        ps(figures.wait_ns),
        ps(figures.shortest_ns()),
        Value::UInt(average_ps as u64),
        ps(figures.max_ns),
    ];
    cells.extend(measured_cells(&figures.sums));
    cells.extend([0; 4].map(Value::UInt));
    cells
}

/// Returns the cells of the sums that are measured.
fn measured_cells(sums: &[u64]) -> impl Iterator<Item = Value> + '_ {
    sums.iter().enumerate().map(|(at, value)| match at {
        sum::LOCK_TIME_NS => Value::UInt(value.saturating_mul(1000)),
        _ => Value::UInt(*value),
    })
}

/// Reads what is measured while no connection ends; the default with `performance_schema=OFF`.
fn read<T: Default>(host: &ConnectionHost, read: impl FnOnce(&Measured, &[Arc<MeasuredSession>]) -> T) -> T {
    let Some(measured) = &host.server().measured else { return T::default() };
    host.server().sessions.with_measured(|sessions| {
        let sessions: Vec<_> = sessions.iter().map(|(_, session)| session.clone()).collect();
        read(measured, &sessions)
    })
}

/// Returns the sessions with the numbers of their threads.
fn sessions(host: &ConnectionHost) -> Vec<(u64, Arc<MeasuredSession>)> {
    let all = host.server().sessions.with_measured(|sessions| sessions.to_vec());
    all.into_iter().map(|(id, session)| (super::performance::thread_of(id), session)).collect()
}

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
        "events_statements_history_long" => {}
        "prepared_statements_instances" => {
            sessions(host).iter().for_each(|(_, session)| session.clear_prepared());
        }
        _ => return false,
    }
    true
}
