//! Histories of transactions that append to lists, and the anomalies in them.
//!
//! The idea is that of Kingsbury and Alvaro, *Elle: Inferring Isolation Anomalies from Experimental
//! Observations* (VLDB 2021): a list that only grows shows each reader every version that the list
//! had, and which transaction made it. So the dependencies between the transactions of a history
//! are known without any knowledge of the server. They form a graph: `ww` goes from a transaction
//! that appended to the one that appended next, `wr` from the one that appended the last element
//! that a reader saw to that reader, and `rw` from a reader to the one that appended the first
//! element that the reader did not see. A cycle is an anomaly, and its edges say which one
//! ([`graph`]; the names are Adya's).
//!
//! Here more is known: the order of commits, which the binary log has. So each read can be checked
//! for whether it saw a prefix of that order, and which one ([`snapshots`]). This describes exactly
//! what InnoDB's REPEATABLE READ allows, which is none of Adya's levels: plain reads see one
//! prefix, and writes and locking reads see the newest one.

mod findings;
mod graph;
mod order;
mod recorded;
mod snapshots;
#[cfg(test)]
mod tests;

pub use findings::{Anomaly, Findings};
use order::Orders;
pub use recorded::{Element, History, Key, Level, Op, Statement, Transaction};

impl History {
    /// Searches for every anomaly. Cycles are searched only among transactions at this level.
    pub fn check(&self, level: Level) -> Findings {
        let mut findings = Findings::default();
        let orders = Orders::of(self, &mut findings);
        graph::search(self, level, &orders, &mut findings);
        snapshots::search(self, &orders, &mut findings);
        findings
    }
}
