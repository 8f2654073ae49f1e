//! What was found wrong with a history, by the names of anomalies.

use std::collections::BTreeMap;

use super::recorded::Level;

/// What Adya calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Anomaly {
    /// Transactions overwrote each other's writes in a circle.
    G0,
    /// Something was read that was rolled back.
    G1a,
    /// Something was read that its writer had not finished.
    G1b,
    /// Transactions depend on each other in a circle of `ww` and `wr`.
    G1c,
    /// A circle with one `rw` in it: read skew, lost update.
    GSingle,
    /// A circle with several `rw`: write skew.
    G2Item,
    /// A read saw no prefix of the order of commits, or not the one that its level, its locks, or
    /// what was answered before ask for.
    Snapshot,
    /// A list is not what was appended to it.
    Lost,
}

impl Anomaly {
    /// Whether a server like InnoDB may show it, as is written in `docs/isolation.md`.
    pub fn is_allowed(self, level: Level) -> bool {
        matches!(self, Anomaly::GSingle | Anomaly::G2Item) && level != Level::Serializable
    }
}

/// Anomalies of a history, each with what it was found in.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    found: BTreeMap<Anomaly, Vec<String>>,
}

impl Findings {
    pub(super) fn add(&mut self, anomaly: Anomaly, what: String) {
        self.found.entry(anomaly).or_default().push(what);
    }

    /// The anomalies that were found.
    pub fn anomalies(&self) -> Vec<Anomaly> {
        self.found.keys().copied().collect()
    }

    /// How often one was found.
    pub fn count(&self, anomaly: Anomaly) -> usize {
        self.found.get(&anomaly).map_or(0, Vec::len)
    }

    /// Those that are not allowed at a level, with some of what they were found in.
    pub fn forbidden(&self, level: Level) -> Vec<String> {
        const SHOWN: usize = 3;
        let forbidden = self.found.iter().filter(|(anomaly, _)| !anomaly.is_allowed(level));
        let shown = forbidden.flat_map(|(anomaly, all)| {
            all.iter().take(SHOWN).map(move |what| format!("{anomaly:?} ({} times): {what}", all.len()))
        });
        shown.collect()
    }
}
