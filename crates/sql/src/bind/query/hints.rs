//! What the hints of a SELECT say about its tables.

use super::joined_tables::From;
use crate::ast::{IndexHint, IndexHintKind, JoinHint};
use crate::optimize::Mask;
use crate::plan::{Leaf, Source};

impl From {
    /// Returns the positions of the tables with these names. Unknown names are skipped.
    fn named(&self, names: &[String]) -> Vec<usize> {
        let position =
            |name: &String| self.tables.iter().position(|leaf| leaf.alias.eq_ignore_ascii_case(name));
        names.iter().filter_map(position).collect()
    }

    /// Notes what the hints say. Returns true if the tables have to be read in the order in which
    /// they are written.
    pub(super) fn take_hints(&mut self, hints: &[JoinHint]) -> bool {
        for hint in hints {
            match hint {
                JoinHint::FixedOrder => {}
                JoinHint::Order(names) | JoinHint::Prefix(names) | JoinHint::Suffix(names) => {
                    let named = self.named(names);
                    let listed = named.iter().fold(Mask::NONE, |mask, at| mask.with(*at));
                    let all = (0..self.tables.len()).fold(Mask::NONE, Mask::with);
                    let pairs = named.windows(2).map(|pair| (Mask::of(pair[0]), Mask::of(pair[1])));
                    self.before.extend(pairs);
                    match hint {
                        JoinHint::Prefix(_) => self.before.push((listed, all.without(listed))),
                        JoinHint::Suffix(_) => self.before.push((all.without(listed), listed)),
                        _ => {}
                    }
                }
                JoinHint::Hash { is_wanted, tables } => {
                    let named =
                        if tables.is_empty() { (0..self.tables.len()).collect() } else { self.named(tables) };
                    named.into_iter().for_each(|at| self.tables[at].hash_hint = Some(*is_wanted));
                }
                JoinHint::Index { is_wanted, table, indexes } => {
                    for at in self.named(std::slice::from_ref(table)) {
                        index_hint(&mut self.tables[at], *is_wanted, indexes);
                    }
                }
            }
        }
        hints.contains(&JoinHint::FixedOrder)
    }
}

/// Adds the hint as FORCE INDEX or IGNORE INDEX. Names of indexes that the table does not have are
/// skipped.
fn index_hint(leaf: &mut Leaf, is_wanted: bool, names: &[String]) {
    let Source::Stored { table, .. } = &leaf.source else { return };
    let is_primary = |name: &str| name.eq_ignore_ascii_case("PRIMARY");
    let has = |name: &&String| match is_primary(name) {
        true => table.def.primary.is_some(),
        false => table.def.index(name).is_some(),
    };
    let indexes: Vec<String> = match (names.is_empty(), is_wanted) {
        (true, true) => return,
        (true, false) => table.def.indexes.iter().map(|index| index.name.clone()).collect(),
        (false, _) => names.iter().filter(has).cloned().collect(),
    };
    if !indexes.is_empty() {
        let kind = if is_wanted { IndexHintKind::Force } else { IndexHintKind::Ignore };
        leaf.hints.push(IndexHint { kind, purpose: None, indexes });
    }
}
