//! The anomalies that were found in a history.

use std::collections::BTreeMap;

use super::recorded::Level;

/// An anomaly. The names are Adya's, as far as he has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Anomaly {
    /// A cycle of `ww` edges: transactions overwrote each other's writes.
    G0,
    /// A transaction read a write that was rolled back.
    G1a,
    /// A transaction read a write whose writer later wrote to the same list again.
    G1b,
    /// A cycle of `ww` and `wr` edges.
    G1c,
    /// A cycle with one `rw` edge: read skew, lost update.
    GSingle,
    /// A cycle with several `rw` edges: write skew.
    G2Item,
    /// A read saw no prefix of the order of commits, or not the prefix that is required by its
    /// isolation level, by its locks, or by what had been answered before.
    Snapshot,
    /// A list does not hold exactly what was appended to it, or the log does not have exactly the
    /// transactions that appended something.
    Lost,
}

impl Anomaly {
    /// Reports whether a server like InnoDB may show this anomaly at this level, as
    /// `docs/isolation.md` says.
    pub fn is_allowed(self, level: Level) -> bool {
        matches!(self, Anomaly::GSingle | Anomaly::G2Item) && level != Level::Serializable
    }
}

/// The anomalies of a history, each with descriptions of where it was found.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    found: BTreeMap<Anomaly, Vec<String>>,
}

impl Findings {
    pub(super) fn add(&mut self, anomaly: Anomaly, what: String) {
        self.found.entry(anomaly).or_default().push(what);
    }

    /// Returns the anomalies that were found.
    pub fn anomalies(&self) -> Vec<Anomaly> {
        self.found.keys().copied().collect()
    }

    /// Returns how often an anomaly was found.
    pub fn count(&self, anomaly: Anomaly) -> usize {
        self.found.get(&anomaly).map_or(0, Vec::len)
    }

    /// Returns the anomalies that are not allowed at a level, with some of the places where they
    /// were found.
    pub fn forbidden(&self, level: Level) -> Vec<String> {
        const SHOWN: usize = 3;
        let forbidden = self.found.iter().filter(|(anomaly, _)| !anomaly.is_allowed(level));
        let shown = forbidden.flat_map(|(anomaly, all)| {
            all.iter().take(SHOWN).map(move |what| format!("{anomaly:?} ({} times): {what}", all.len()))
        });
        shown.collect()
    }
}
