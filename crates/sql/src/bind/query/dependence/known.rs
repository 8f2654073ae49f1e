//! The columns of a query that have one value in each group: those by which it is grouped, and
//! those that follow from them.

use super::rows::{Equal, Rows};
use crate::expr::functions::is_of_session;
use crate::expr::{Expr, Node};
use crate::optimize::Mask;
use crate::plan::{Derivation, Made};
use engine::{IndexRef, Table};
use std::cell::Cell;
use std::collections::{BTreeMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

/// The number of derived tables computed as a whole that are examined for one query.
const MOST_INNER: usize = 64;

/// The number of rounds in which the conditions are searched for columns that follow from those of
/// the round before. A chain of equal columns needs more than two rounds only if its links are
/// written in mixed order.
const MOST_ROUNDS: usize = 1000;

/// The columns of a query that follow from some of its columns.
pub(super) struct Known {
    derivation: Arc<Derivation>,
    rows: Rows,
    /// The known columns of members, and the known computed columns of views.
    slots: HashSet<usize>,
    /// The members all of whose columns are known.
    whole: Mask,
    /// Computed columns are examined too. This is switched on when nothing else is found any more.
    is_deep: bool,
    /// For each expression by which the query is grouped, whether it is known.
    keys: Vec<bool>,
    /// The derived tables computed as a whole that have known columns, by the position of their
    /// members.
    inner: BTreeMap<usize, Inner>,
    /// The number of further derived tables that may be examined.
    room: Rc<Cell<usize>>,
}

/// The query of a derived table that is computed as a whole.
struct Inner {
    known: Known,
    /// One of the known columns cannot be NULL in the inner query.
    has_not_null: bool,
}

impl Known {
    /// Starts with the expressions by which a query is grouped.
    pub fn of_groups(derivation: &Arc<Derivation>) -> Known {
        let mut known = Known::nothing(derivation.clone(), Rc::new(Cell::new(MOST_INNER)));
        known.keys.fill(true);
        for key in derivation.keys.iter().flatten() {
            if let Some(slot) = known.column(key) {
                known.add(slot);
            }
        }
        known
    }

    fn nothing(derivation: Arc<Derivation>, room: Rc<Cell<usize>>) -> Known {
        let keys = vec![false; derivation.keys.as_ref().map_or(0, Vec::len)];
        Known {
            rows: Rows::of(&derivation),
            derivation,
            slots: HashSet::new(),
            whole: Mask::NONE,
            is_deep: false,
            keys,
            inner: BTreeMap::new(),
            room,
        }
    }

    /// Returns the slot of an expression that is a column of this query's tables. `None` for other
    /// expressions.
    fn column(&self, expr: &Expr) -> Option<usize> {
        match expr.node {
            Node::Slot(slot) if self.is_column(slot) => Some(slot),
            _ => None,
        }
    }

    /// Reports whether a slot belongs to a column, not to an aggregate or a function over a window.
    fn is_column(&self, slot: usize) -> bool {
        self.rows.view_column_at(slot).is_some() || self.rows.member_of(slot).is_some()
    }

    /// Reports whether a column stands for a constant of a derived table or a view whose tables are
    /// joined with those of this query.
    pub fn stands_for_constant(&self, slot: usize) -> bool {
        let column = self.rows.view_column_at(slot);
        column.is_some_and(|(column, is_weak)| !is_weak && column.expr.is_same_for_all_rows())
    }

    /// Reports whether a column has one value in each group.
    pub fn depends(&mut self, slot: usize) -> bool {
        self.comes_to(&mut |known| known.is_known(slot))
    }

    /// Adds what follows until `is_known` returns true or nothing more follows. Returns whether it
    /// returned true.
    fn comes_to(&mut self, is_known: &mut dyn FnMut(&mut Known) -> bool) -> bool {
        if is_known(self) {
            return true;
        }
        for _ in 0..MOST_ROUNDS {
            let before = self.size();
            self.add_whole_tables();
            self.add_equal_columns();
            if is_known(self) {
                return true;
            }
            if self.size() == before {
                if self.is_deep {
                    return false;
                }
                self.is_deep = true;
            }
        }
        false
    }

    /// Returns a measure that grows with everything that is found.
    fn size(&self) -> (usize, Mask) {
        (self.slots.len(), self.whole)
    }

    /// Reports whether every column that an expression names has one value in each group.
    fn depends_on_known(&mut self, expr: &Expr) -> bool {
        let mut slots = Vec::new();
        expr.slots(&mut slots);
        slots.into_iter().all(|slot| {
            if self.derivation.aggregates.contains(&slot) {
                return self.comes_to(&mut |known| known.are_all_keys_known());
            }
            let derivation = self.derivation.clone();
            match derivation.windows.iter().find(|(value, _)| *value == slot) {
                Some((_, args)) => args.iter().all(|arg| self.depends_on_known(arg)),
                None => self.depends(slot),
            }
        })
    }

    fn are_all_keys_known(&self) -> bool {
        self.derivation.keys.is_some() && self.keys.iter().all(|is_known| *is_known)
    }

    /// Reports whether a column is known so far.
    fn is_known(&mut self, slot: usize) -> bool {
        let slot = self.rows.canonical(slot);
        self.rows.tables_of(slot).is_within(self.whole)
            || self.slots.contains(&slot)
            || self.is_deep && self.is_computed_from_known(slot)
    }

    /// Reports whether everything that a column is computed from is known so far, and notes the
    /// column as known if it is.
    fn is_computed_from_known(&mut self, slot: usize) -> bool {
        let is_known = if let Some((column, is_weak)) = self.rows.view_column_at(slot) {
            let survives = !is_weak || column.is_null_of_null();
            let expr = column.expr.clone();
            survives && !expr.varies() && self.are_known(&expr)
        } else {
            match self.rows.member_of(slot) {
                Some(at) => self.is_computed_in_table(at, slot),
                None => false,
            }
        };
        if is_known {
            self.slots.insert(slot);
        }
        is_known
    }

    fn are_known(&mut self, expr: &Expr) -> bool {
        let mut slots = Vec::new();
        expr.slots(&mut slots);
        slots.into_iter().all(|slot| self.is_known(slot))
    }

    /// Reports whether everything that a generated column or a column of a derived table is
    /// computed from is known so far. `at` is the position of the table with the column.
    fn is_computed_in_table(&mut self, at: usize, slot: usize) -> bool {
        let member = &self.rows.members[at];
        let (column, base, is_weak) = (slot - member.base, member.base, member.is_weak);
        match &member.made {
            Made::Stored(table) => {
                let Some(generated) = &table.def.columns[column].generated else { return false };
                let columns = crate::ddl::columns_of(&table.def, &generated.expression);
                // A value computed from NULLs need not be NULL.
                !is_weak
                    && columns.is_some_and(|columns| columns.into_iter().all(|at| self.is_known(base + at)))
            }
            Made::Query(query, _) => {
                let query = query.clone();
                let Some(output) = query.outputs.get(column) else { return false };
                let Some(inner) = self.inner.get_mut(&at) else { return false };
                (!is_weak || inner.has_not_null) && !output.varies() && inner.known.depends_on_known(output)
            }
            Made::Unknown => false,
        }
    }

    /// Notes that a column is known.
    fn add(&mut self, slot: usize) {
        let slot = self.rows.canonical(slot);
        self.slots.insert(slot);
        self.find_keys(&Node::Slot(slot));
        let Some(at) = self.rows.member_of(slot) else { return };
        let member = &self.rows.members[at];
        let Made::Query(query, _) = &member.made else { return };
        let (query, column, is_weak) = (query.clone(), slot - member.base, member.is_weak);
        let Some(output) = query.outputs.get(column) else { return };
        if !self.inner.contains_key(&at) {
            let Some(room) = self.room.get().checked_sub(1) else { return };
            self.room.set(room);
            let known = Known::nothing(query.clone(), self.room.clone());
            self.inner.insert(at, Inner { known, has_not_null: false });
        }
        let Some(inner) = self.inner.get_mut(&at) else { return };
        inner.has_not_null |= !output.nullable;
        inner.known.find_keys(&output.node);
        if let Some(slot) = inner.known.column(output) {
            inner.known.add(slot);
        }
        if inner.known.are_all_keys_known() && (!is_weak || inner.has_not_null) {
            self.whole = self.whole.with(at);
            self.find_keys(&Node::Slot(slot));
        }
    }

    /// Notes which of the expressions by which the query is grouped are known, now that the
    /// expression with this node is known or that a whole table is.
    fn find_keys(&mut self, known: &Node) {
        if self.keys.iter().all(|is_known| *is_known) {
            return;
        }
        let derivation = self.derivation.clone();
        for (at, key) in derivation.keys.iter().flatten().enumerate() {
            let is_known = match self.column(key) {
                Some(slot) => {
                    let slot = self.rows.canonical(slot);
                    *known == Node::Slot(slot) || self.rows.tables_of(slot).is_within(self.whole)
                }
                None => key.node == *known,
            };
            self.keys[at] |= is_known;
        }
    }

    /// Adds the tables that have a known key.
    fn add_whole_tables(&mut self) {
        for at in 0..self.rows.members.len() {
            let member = &self.rows.members[at];
            let Made::Stored(table) = &member.made else { continue };
            if !self.whole.has(at) && self.has_key(table, member.base) {
                self.whole = self.whole.with(at);
                self.find_keys(&Node::Slot(self.rows.members[at].base));
            }
        }
    }

    /// Reports whether all columns of a primary or unique key are known and cannot be NULL.
    fn has_key(&self, table: &Table, base: usize) -> bool {
        let is_fixed = |column: usize| {
            let slot = base + column;
            self.slots.contains(&slot)
                && (!table.def.columns[column].nullable || self.rows.not_null.contains(&slot))
        };
        let unique = (0..table.def.indexes.len()).filter(|at| table.def.indexes[*at].unique);
        std::iter::once(IndexRef::Primary).chain(unique.map(IndexRef::Secondary)).any(|index| {
            let parts = table.index_columns(index);
            !parts.is_empty() && parts.iter().all(|part| is_fixed(part.column))
        })
    }

    /// Adds the columns that conditions equate with known values, going through the conditions once
    /// in each direction.
    fn add_equal_columns(&mut self) {
        let equal = std::mem::take(&mut self.rows.equal);
        equal.iter().for_each(|equal| self.take_equality(equal));
        equal.iter().rev().for_each(|equal| self.take_equality(equal));
        self.rows.equal = equal;
    }

    /// Adds the column on one side of an equality if it is not known yet and the other side is.
    fn take_equality(&mut self, equal: &Equal) {
        let Equal { join, left, right } = equal;
        let weak = join.map_or(Mask::NONE, |join| self.rows.outer_joins[join].weak);
        let is_new = |known: &mut Known, expr: &Expr| {
            let slot = known.column(expr)?;
            let is_of_it = join.is_none() || !(known.rows.tables_of(slot) & weak).is_empty();
            (is_of_it && !known.is_known(slot)).then_some(slot)
        };
        let (slot, other) = match (is_new(self, right), is_new(self, left)) {
            (Some(slot), _) => (slot, left),
            (None, Some(slot)) => (slot, right),
            (None, None) => return,
        };
        let column = self.column(other).filter(|column| self.is_known(*column));
        let tables = column.map_or(Mask::NONE, |column| self.rows.tables_of(column));
        let is_constant = match column.and_then(|column| self.rows.view_column_at(column)) {
            Some((behind, _)) => self.is_constant(&behind.expr),
            None => self.is_constant(other),
        };
        let Some(join) = join else {
            if !tables.is_empty() || is_constant {
                self.add(slot);
            }
            return;
        };
        if !(tables & weak).is_empty() {
            self.add(slot);
            return;
        }
        let is_strong = !tables.without(weak).is_empty() || is_constant;
        if is_strong && self.decides_alike(*join) {
            self.add(slot);
        }
    }

    /// Reports whether an outer join finds a matching row for all rows of a group or for none: the
    /// columns of the strong side in its condition are known. Within the weak side of another join,
    /// the condition has to reject NULLs of the strong side besides.
    fn decides_alike(&mut self, at: usize) -> bool {
        let join = &mut self.rows.outer_joins[at];
        if join.varies || join.is_within_weak && !join.rejects_strong {
            return false;
        }
        let strong = std::mem::take(&mut join.strong);
        let are_known = strong.iter().all(|slot| self.is_known(*slot));
        self.rows.outer_joins[at].strong = strong;
        are_known
    }

    /// Reports whether an expression is constant when the statement is prepared, or is a column of
    /// a query around.
    fn is_constant(&self, expr: &Expr) -> bool {
        matches!(expr.node, Node::Outer(_)) || self.is_constant_part(expr)
    }

    fn is_constant_part(&self, expr: &Expr) -> bool {
        let is_constant_itself = match &expr.node {
            // `IS NULL` of an operand that cannot be NULL is false whatever the value is.
            Node::IsNull { negated: false, operand } if !operand.nullable => return true,
            Node::Slot(_)
            | Node::Outer(_)
            | Node::InsertedValue(_)
            | Node::Parameter(_)
            | Node::UserVariable(_)
            | Node::AssignVariable(..)
            | Node::SystemVariable { .. }
            | Node::Stored { .. }
            | Node::Quantified(_)
            | Node::RowSubquery(_) => false,
            Node::Subquery { call, .. } => self.rows.constants.contains(&call.number),
            Node::Call { function, args } => !function.varies && !is_of_session(function.name, args.len()),
            _ => true,
        };
        let mut operands = Vec::new();
        expr.children(&mut operands);
        is_constant_itself && operands.into_iter().all(|operand| self.is_constant_part(operand))
    }
}
