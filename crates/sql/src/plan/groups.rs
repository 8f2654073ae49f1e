//! Whether the rows of each group come one after the other, so that no table of groups is needed.

use super::{Grouping, Source, TableStep};
use crate::expr::{Expr, Node};
use engine::IndexRef;
use types::TypeCode;

fn is_approximate(key: &Expr) -> bool {
    matches!(key.ty.code, TypeCode::Float | TypeCode::Double)
}

impl Grouping {
    /// Reports whether the order in which the first table is read keeps the rows of each group
    /// together: it is read by one range of an index whose first columns are those of GROUP BY.
    /// Columns that an equality fixes may stand among them.
    pub fn follows(&self, tables: &[TableStep]) -> bool {
        self.leading_columns(tables).is_some()
    }

    /// Returns how many leading columns of the index that the first table is read by tell the
    /// groups apart. `None` means that the order of the rows does not keep those of a group
    /// together.
    pub fn leading_columns(&self, tables: &[TableStep]) -> Option<usize> {
        let first = tables.first()?;
        let Source::Stored { table, access } = &first.source else { return None };
        // Rows that wait for a part of a hash table come later than others of their group. And in
        // front of a nest no table gives the rows an order.
        let loses_order = tables.iter().any(|step| step.hash.is_some()) || !first.nests.is_empty();
        // Values that are counted once are kept for all groups together.
        let counts_once = self.aggregates.iter().any(|aggregate| aggregate.distinct);
        if loses_order || counts_once || self.keys.is_empty() || table.is_multi_valued(access.index) {
            return None;
        }
        let fixed = match &access.alternatives[..] {
            [] => 0,
            // A range of a secondary index may turn out to be of no use, and then the clustered
            // index is read.
            [one] if access.index == IndexRef::Primary && one.list.is_none() => one.equals.len(),
            _ => return None,
        };
        let own = first.base..first.base + first.columns;
        let mut left = Vec::with_capacity(self.keys.len());
        for key in &self.keys {
            match key.node {
                // The two zeros of a DOUBLE are equal and have different keys in an index.
                Node::Slot(slot) if own.contains(&slot) && !is_approximate(key) => {
                    left.push(slot - first.base)
                }
                _ => return None,
            }
        }
        for (at, part) in table.index_columns(access.index).iter().enumerate() {
            let before = left.len();
            left.retain(|column| *column != part.column);
            if part.prefix.is_some() || left.len() == before && at >= fixed {
                return None;
            }
            if left.is_empty() {
                return Some(at + 1);
            }
        }
        None
    }
}
