//! Counts what is asked of engines, as MySQL's variables `Handler_commit` and its kin do.
//!
//! MySQL counts once for each engine that takes part, and its binary log is one of them when
//! something is logged. Each statement that uses tables is committed or rolled back by itself, also
//! within a transaction, and the transaction is counted when it ends. Statements about definitions
//! do not count here: what MySQL counts for them are the transactions of its dictionary's tables.

use super::state::{Bound, ServerHandles};
use crate::variables::Variables;

/// How many engines take part in what has changed rows: that of the tables, and the binary log.
pub(super) const WITH_LOG: u64 = 2;

/// Returns how many engines take part in a statement or a transaction.
#[inline]
pub(super) fn engines(server: &ServerHandles, variables: &Variables, has_changes: bool) -> u64 {
    match has_changes && variables.sql_log_bin && server.engine.log_bin() {
        true => WITH_LOG,
        false => 1,
    }
}

/// Counts a statement about rows that has ended.
#[inline]
pub(super) fn count_statement(
    server: &ServerHandles,
    variables: &Variables,
    bound: &Bound,
    outcome: Result<bool, ()>,
) {
    if bound.tables.is_empty() {
        return;
    }
    server.counters.handler_external_lock.add(2 * bound.tables.len() as u64);
    match outcome {
        Ok(has_changes) => count_commit(server, engines(server, variables, has_changes)),
        Err(()) => server.counters.handler_rollback.count(),
    }
}

/// Counts a commit in so many engines.
#[inline]
pub(super) fn count_commit(server: &ServerHandles, engines: u64) {
    server.counters.handler_commit.add(engines);
    if engines == WITH_LOG {
        server.counters.handler_prepare.add(engines);
    }
}
