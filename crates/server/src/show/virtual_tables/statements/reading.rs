//! What the tables about statements read, and the columns and cells that they share.

use super::super::columns::Kind;
use crate::client::connection_host::ConnectionHost;
use sql::measured::{Figures, Measured, MeasuredSession, SUM_NAMES, sum};
use std::sync::Arc;
use types::Value;

/// Columns by their names.
pub type Named = Vec<(String, Kind)>;

/// The columns of MySQL's sums, in two parts: those of the time, and the other ones.
pub fn sum_columns() -> (Named, Named) {
    let number = |name: &str| (name.to_owned(), Kind::Number);
    let times = ["COUNT_STAR", "SUM_TIMER_WAIT", "MIN_TIMER_WAIT", "AVG_TIMER_WAIT", "MAX_TIMER_WAIT"];
    let sums = SUM_NAMES.iter().map(|name| number(&format!("SUM_{name}")));
    let unmeasured = ["SUM_CPU_TIME", "MAX_CONTROLLED_MEMORY", "MAX_TOTAL_MEMORY", "COUNT_SECONDARY"];
    (times.map(number).into(), sums.chain(unmeasured.map(number)).collect())
}

/// Returns the cells of all columns of sums.
pub fn sum_cells(figures: &Figures) -> Vec<Value> {
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
pub fn measured_cells(sums: &[u64]) -> impl Iterator<Item = Value> + '_ {
    sums.iter().enumerate().map(|(at, value)| match at {
        sum::LOCK_TIME_NS => Value::UInt(value.saturating_mul(1000)),
        _ => Value::UInt(*value),
    })
}

/// Reads what is measured while no connection ends; the default with `performance_schema=OFF`.
pub fn read<T: Default>(
    host: &ConnectionHost,
    read: impl FnOnce(&Measured, &[Arc<MeasuredSession>]) -> T,
) -> T {
    let Some(measured) = &host.server().measured else { return T::default() };
    host.server().sessions.with_measured(|sessions| {
        let sessions: Vec<_> = sessions.iter().map(|(_, session)| session.clone()).collect();
        read(measured, &sessions)
    })
}

/// Returns the sessions with the numbers of their threads.
pub fn sessions(host: &ConnectionHost) -> Vec<(u64, Arc<MeasuredSession>)> {
    let all = host.server().sessions.with_measured(|sessions| sessions.to_vec());
    all.into_iter().map(|(id, session)| (super::super::performance::thread_of(id), session)).collect()
}
