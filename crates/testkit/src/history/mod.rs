//! Histories of transactions that append to lists, and which isolation levels they contradict.
//!
//! The idea is that of Kingsbury and Alvaro's *Elle: Inferring Isolation Anomalies from
//! Experimental Observations* (VLDB 2021): a list that only grows shows each reader every version
//! that it had and which transaction made it. So what the transactions of a history saw of each
//! other is known without knowing anything of the server, and is a graph: `ww` from a transaction
//! that appended to the one that appended next, `wr` from the one that appended the last element
//! that somebody read to that reader, `rw` from a reader to the one that appended the first element
//! that the reader did not see. A cycle is an anomaly, and its edges say which ([`graph`]; the
//! names are Adya's).
//!
//! Here more is known: the order of commits, which the binary log has. So every read can be asked
//! whether it saw a prefix of that order, and which one ([`snapshots`]). That tells exactly what
//! InnoDB's REPEATABLE READ allows, which is none of Adya's levels: plain reads see one prefix, and
//! writes and locking reads see the newest one.

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
    /// Looks for every anomaly; for cycles with what the transactions at this level have read.
    pub fn check(&self, level: Level) -> Findings {
        let mut findings = Findings::default();
        let orders = Orders::of(self, &mut findings);
        graph::search(self, level, &orders, &mut findings);
        snapshots::search(self, &orders, &mut findings);
        findings
    }
}
