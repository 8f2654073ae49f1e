//! The critical path: the chain of work, in which each piece waits for the one before, that no
//! number of workers makes shorter.

use std::collections::HashMap;

use super::model::{Model, NOTHING, Policy, Simulated};
use crate::history::{History, Nature};

/// The number of transactions on the path that are named.
const NAMED: usize = 5;

/// The critical path of a policy.
#[derive(Clone, Debug, Default)]
pub struct Path {
    /// The length of the path in units.
    pub time: u64,
    /// The number of transactions that have work on the path.
    pub transactions: usize,
    /// The share of each table in the path's time. Statements and transactions whose contents are
    /// not read have names of their own.
    pub tables: Vec<(String, f64)>,
    /// The transactions with the most work on the path.
    pub holdups: Vec<Holdup>,
}

/// A transaction that holds the others up.
#[derive(Clone, Debug)]
pub struct Holdup {
    /// The index of the transaction, counted from 0.
    pub transaction: usize,
    /// The transaction's work on the path, in units.
    pub time: u64,
}

/// Walks the path back from the work that ended last.
pub(super) fn of(history: &History, model: &Model, policy: Policy, simulated: &Simulated) -> Path {
    let mut per_table: HashMap<&str, u64> = HashMap::new();
    let mut per_transaction: HashMap<usize, u64> = HashMap::new();
    let mut at = simulated.last.unwrap_or(NOTHING);
    while at != NOTHING {
        let (transaction, change) = place(history, policy, at);
        let time = match (policy, change) {
            (Policy::Row, Some(_)) => model.costs.row,
            (Policy::Row, None) if history.transactions[transaction].nature == Nature::Rows => {
                model.costs.transaction
            }
            _ => model.costs.of(&history.transactions[transaction]),
        };
        *per_transaction.entry(transaction).or_default() += time;
        *per_table.entry(label(history, transaction, change)).or_default() += time;
        at = simulated.causes[at as usize];
    }
    let total: u64 = per_transaction.values().sum();
    let mut tables: Vec<(String, f64)> = per_table
        .into_iter()
        .map(|(name, time)| (name.to_string(), time as f64 / total.max(1) as f64))
        .collect();
    tables.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let transactions = per_transaction.len();
    let mut holdups: Vec<Holdup> =
        per_transaction.into_iter().map(|(transaction, time)| Holdup { transaction, time }).collect();
    holdups.sort_by_key(|holdup| (std::cmp::Reverse(holdup.time), holdup.transaction));
    holdups.truncate(NAMED);
    Path { time: total, transactions, tables, holdups }
}

/// Returns the transaction of an entry of `causes`, and the change if the policy counts changes.
fn place(history: &History, policy: Policy, at: u32) -> (usize, Option<usize>) {
    let at = at as usize;
    if policy != Policy::Row {
        return (at, None);
    }
    let changes = history.changes.len();
    if at >= changes {
        return (at - changes, None);
    }
    let behind = history.transactions.partition_point(|t| t.first_change as usize <= at);
    // Transactions without changes have the same `first_change` as the one with the change, or a
    // later one.
    let mut transaction = behind - 1;
    while history.transactions[transaction].changes == 0 {
        transaction -= 1;
    }
    (transaction, Some(at))
}

fn label(history: &History, transaction: usize, change: Option<usize>) -> &str {
    let t = &history.transactions[transaction];
    let change = change.or((t.changes > 0).then_some(t.first_change as usize));
    match (t.nature, change) {
        (Nature::Statement, _) => "(statements)",
        (Nature::Opaque, _) => "(not looked into)",
        (Nature::Rows, Some(change)) => &history.tables[history.changes[change].table as usize].name,
        (Nature::Rows, None) => "(empty)",
    }
}
