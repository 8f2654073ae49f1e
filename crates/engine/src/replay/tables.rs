//! The tables that a replay is about, and the numbers that it gives their trees.
//!
//! A record from before an ALTER TABLE that added or dropped columns without writing the rows anew
//! has row images of the old form. It is read with the table of that time, which has the same
//! trees.

use crate::catalog::Catalog;
use crate::definition::{ColumnDef, IndexColumn, IndexDef, TableDef};
use crate::row_forms::{FormColumn, FormHistory, OlderForm};
use crate::table::Table;
use buffer::Pool;
use redo::Lsn;
use std::collections::HashMap;
use std::sync::Arc;

/// The tables as they are after the whole log, and numbers for their trees.
pub(super) struct Tables {
    all: Vec<Forms>,
    by_id: HashMap<u64, u32>,
}

/// A table as it is after the whole log, and as it was before its columns changed.
pub(super) struct Forms {
    pub newest: Arc<Table>,
    /// The table with each of its older row forms, the oldest one first.
    older: Vec<Table>,
}

impl Forms {
    fn new(pool: &Arc<Pool>, newest: Arc<Table>) -> Forms {
        let forms = newest.forms.iter().flat_map(|forms| forms.older());
        let older = forms.map(|form| with_columns(pool, &newest, form)).collect();
        Forms { newest, older }
    }

    /// Returns the number of the form that rows have which the record ending at `end` writes.
    #[inline]
    pub fn number_at(&self, end: Lsn) -> usize {
        self.newest.forms.as_ref().map_or(0, |forms| forms.number_at(end))
    }

    /// Returns the table with the columns that it had in the record ending at `end`.
    #[inline]
    pub fn at(&self, end: Lsn) -> &Table {
        self.older.get(self.number_at(end)).unwrap_or(&self.newest)
    }
}

/// Returns a table as it was when its rows had this form, with the indexes that may have existed
/// then.
fn with_columns(pool: &Arc<Pool>, table: &Table, form: &OlderForm) -> Table {
    let parts = |parts: &[IndexColumn]| -> Option<Vec<IndexColumn>> {
        parts
            .iter()
            .map(|part| Some(IndexColumn { column: form.place(part.column)?, ..part.clone() }))
            .collect()
    };
    let mut placement = table.placement.clone();
    placement.forms = FormHistory::default();
    placement.dropped.clear();
    placement.indexes.clear();
    let mut def = TableDef::new(&table.def.schema, &table.def.name);
    def.columns = form
        .columns
        .iter()
        .map(|column| match column {
            FormColumn::Kept(position) => table.def.columns[*position].clone(),
            FormColumn::Dropped(ty) => ColumnDef::new("", ty.clone()),
        })
        .collect();
    def.primary = table
        .def
        .primary
        .as_deref()
        .map(|primary| parts(primary).expect("a column of the primary key is in all forms"));
    let mut places = table.placement.indexes.iter();
    for (index, place) in table.def.indexes.iter().zip(places.by_ref()) {
        // An index on a column that the rows lack is younger than these rows. One on a dropped
        // column is gone.
        if let Some(columns) = parts(&index.columns) {
            def.indexes.push(IndexDef { columns, ..index.clone() });
            placement.indexes.push(*place);
        }
    }
    for index in table.def.kept_indexes.iter().filter(|index| index.entries.is_some()) {
        let place = places.next().expect("every index with entries has a place");
        // The names of columns that went are not kept, so an index over one of them has none.
        if def.kept_columns(index).is_some() {
            def.kept_indexes.push(index.clone());
            placement.indexes.push(*place);
        }
    }
    Table::open(pool, placement, def, table.counters.clone())
}

/// A tree of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tree {
    Clustered,
    /// The tree of the secondary index at this position among the table's indexes.
    Secondary(usize),
}

/// A number greater than the number of trees that a table may have.
const TREES: u32 = 128;

impl Tree {
    pub fn number(self, table: u32) -> u32 {
        let tree = match self {
            Tree::Clustered => 0,
            Tree::Secondary(at) => at as u32 + 1,
        };
        table * TREES + tree
    }

    pub fn of(number: u32) -> Tree {
        match number % TREES {
            0 => Tree::Clustered,
            tree => Tree::Secondary(tree as usize - 1),
        }
    }
}

impl Tables {
    pub fn new(catalog: &Catalog, pool: &Arc<Pool>) -> Tables {
        let all: Vec<Forms> = catalog.all_tables().into_iter().map(|table| Forms::new(pool, table)).collect();
        let by_id = all.iter().zip(0..).map(|(forms, number)| (forms.newest.id, number)).collect();
        Tables { all, by_id }
    }

    pub fn number(&self, id: u64) -> Option<u32> {
        self.by_id.get(&id).copied()
    }

    /// Returns the table with this number.
    pub fn forms(&self, number: u32) -> &Forms {
        &self.all[number as usize]
    }

    /// Returns the table that has this tree, and its number.
    pub fn forms_of(&self, tree: u32) -> (u32, &Forms) {
        (tree / TREES, self.forms(tree / TREES))
    }
}
