//! Which columns of a query have one value in each group: the columns that it is grouped by, and
//! what follows from those.

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

/// So many derived tables that stay tables are looked into for one query.
const MOST_INNER: usize = 64;

/// So often the conditions are gone through for what follows from what has followed. A chain of
/// equal columns takes more than two rounds only where it is written to and fro.
const MOST_ROUNDS: usize = 1000;

/// The columns of a query that follow from some of them.
pub(super) struct Known {
    derivation: Arc<Derivation>,
    rows: Rows,
    /// Columns of members and computed columns of views.
    slots: HashSet<usize>,
    /// Members all of whose columns are known.
    whole: Mask,
    /// What columns are computed from is looked at too: it comes last.
    is_deep: bool,
    /// Which of the expressions are known that the query is grouped by.
    keys: Vec<bool>,
    /// The derived tables that stay tables, of which columns are known, by the position of their
    /// members.
    inner: BTreeMap<usize, Inner>,
    /// How many more of them may be looked into.
    room: Rc<Cell<usize>>,
}

/// The query of a derived table that stays a table.
struct Inner {
    known: Known,
    /// One of the columns that are known cannot be NULL in it.
    has_not_null: bool,
}

impl Known {
    /// What follows from the expressions that a query is grouped by.
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

    /// The column that an expression is, of the tables of this query.
    fn column(&self, expr: &Expr) -> Option<usize> {
        match expr.node {
            Node::Slot(slot) if self.is_column(slot) => Some(slot),
            _ => None,
        }
    }

    /// Whether a slot is neither of an aggregate nor of a function over a window.
    fn is_column(&self, slot: usize) -> bool {
        self.rows.view_column_at(slot).is_some() || self.rows.member_of(slot).is_some()
    }

    /// Whether a column has one value in each group.
    pub fn depends(&mut self, slot: usize) -> bool {
        self.comes_to(&mut |known| known.is_known(slot))
    }

    /// Whether something comes to be known by all that follows.
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

    /// Grows with whatever is found.
    fn size(&self) -> (usize, Mask) {
        (self.slots.len(), self.whole)
    }

    /// Whether every column that an expression names has one value in each group.
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

    /// Whether a column is known by now.
    fn is_known(&mut self, slot: usize) -> bool {
        let slot = self.rows.canonical(slot);
        self.rows.tables_of(slot).is_within(self.whole)
            || self.slots.contains(&slot)
            || self.is_deep && self.is_computed_from_known(slot)
    }

    /// Whether what a column is computed from is known by now; then it is too.
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

    /// Of a column of the table at this position: a generated one, or one of a derived table.
    fn is_computed_in_table(&mut self, at: usize, slot: usize) -> bool {
        let member = &self.rows.members[at];
        let (column, base, is_weak) = (slot - member.base, member.base, member.is_weak);
        match &member.made {
            Made::Stored(table) => {
                let Some(generated) = &table.def.columns[column].generated else { return false };
                let columns = crate::ddl::columns_of(&table.def, &generated.expression);
                // What is computed of NULLs need not be NULL.
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

    /// Notes which of the expressions that the query is grouped by are known, now that one with
    /// this node is, or the whole of a table.
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

    /// Adds the tables one of whose keys is known.
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

    /// Whether all columns of a primary or unique key are known, and cannot be NULL.
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

    /// Adds the columns that conditions make equal to what is known, one after the other, in
    /// whatever order they are written.
    fn add_equal_columns(&mut self) {
        let equal = std::mem::take(&mut self.rows.equal);
        equal.iter().for_each(|equal| self.take_equality(equal));
        equal.iter().rev().for_each(|equal| self.take_equality(equal));
        self.rows.equal = equal;
    }

    /// Adds a column that is not yet known and is equal to a known value.
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

    /// Whether an outer join finds a row, or none, alike for all rows of a group: what its
    /// condition asks of the strong side is known. Within the weak side of another join, the
    /// condition has to reject NULLs of the strong side besides.
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

    /// Whether an expression is a constant when the statement is prepared, or a column of a query
    /// around.
    fn is_constant(&self, expr: &Expr) -> bool {
        matches!(expr.node, Node::Outer(_)) || self.is_constant_part(expr)
    }

    fn is_constant_part(&self, expr: &Expr) -> bool {
        let is_constant_itself = match &expr.node {
            // It is false whatever the value is.
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
