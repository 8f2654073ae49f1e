//! Row events: the rows that they change, and the earlier changes of those rows.

use std::collections::HashMap;

use binlog::DecodeError;
use binlog::event::{RowsEvent, RowsKind};

use super::open::{Bound, Open, Refused};
use crate::history::{Change, History, HotRow, Table};
use crate::keys::Row;

/// The number of changes from which on a row's key is kept as text, so that it can be shown.
const HOT: u32 = 4;
/// The largest number of rows whose keys are kept as text.
const HOT_ROWS_KEPT: usize = 100_000;

/// The last change of a row.
#[derive(Clone, Copy, Default)]
struct RowState {
    /// The index of the last change plus one; 0 means that there is none.
    change: u32,
    /// The number of transactions up to and including the one of that change.
    transaction: u32,
    /// The number of changes so far.
    count: u32,
}

/// The state of the rows that the transactions so far have changed.
pub(super) struct RowHistory {
    rows: HashMap<u64, RowState>,
    /// The rows that are changed often, with their table and their key as text.
    hot: HashMap<u64, (u32, String)>,
    /// The number of transactions before those that the source's writeset history would hold.
    writesets_begin: u32,
    writesets_kept: usize,
    writesets_limit: usize,
}

impl RowHistory {
    /// Builds the state in which no row has been changed. `writesets_limit` is the value of
    /// `binlog_transaction_dependency_history_size`, in keys.
    pub fn new(writesets_limit: usize) -> RowHistory {
        RowHistory {
            rows: HashMap::new(),
            hot: HashMap::new(),
            writesets_begin: 0,
            writesets_kept: 0,
            writesets_limit,
        }
    }

    /// Returns the number of transactions that no later one passes, by the source's writesets.
    pub fn writesets_begin(&self) -> u32 {
        self.writesets_begin
    }

    /// Ends the transaction of this number. The history of writesets begins anew after a
    /// transaction that has none, and when it is full.
    pub fn end(&mut self, number: u32, has_writeset: bool) {
        if !has_writeset || self.writesets_kept > self.writesets_limit {
            self.writesets_begin = number;
            self.writesets_kept = 0;
        }
    }

    /// Takes the changes of a row event of the open transaction.
    pub fn take(
        &mut self,
        bound: &Bound,
        event: &RowsEvent<'_>,
        open: &mut Open,
        history: &mut History,
    ) -> Result<(), Refused> {
        let (before_mask, after_mask) = (event.before_mask(), event.after_mask());
        for change in event.iter(&bound.layout) {
            let change = change?;
            let mut before = Row::absent(event.columns);
            if let (Some(mask), Some(image)) = (&before_mask, change.before) {
                before.take(&bound.layout, mask, image).map_err(|_| damaged())?;
            }
            let mut after = before.copy();
            if let (Some(mask), Some(image)) = (&after_mask, change.after) {
                after.take(&bound.layout, mask, image).map_err(|_| damaged())?;
            }
            self.change(bound, event.kind, (&before, &after), open, history)?;
        }
        Ok(())
    }

    fn change(
        &mut self,
        bound: &Bound,
        kind: RowsKind,
        (before, after): (&Row<'_>, &Row<'_>),
        open: &mut Open,
        history: &mut History,
    ) -> Result<(), Refused> {
        let number = u32::try_from(history.changes.len() + 1).map_err(|_| Refused::TooLarge)?;
        let transaction = history.transactions.len() as u32 + 1;
        let keys = &bound.keys.keys;
        let mut numbers = Vec::with_capacity(4);
        if kind != RowsKind::Write {
            before.numbers(bound.table, keys, &bound.layout, &mut numbers);
        }
        let split = numbers.len();
        if kind != RowsKind::Delete {
            after.numbers(bound.table, keys, &bound.layout, &mut numbers);
        }
        // The number of the row after the change, and its number before.
        let now = if kind == RowsKind::Delete { numbers[0] } else { numbers[split] };
        let was = numbers[0];
        let edges_begin = history.edges.len();
        let mut count = 0;
        for &row in &numbers {
            let state = self.rows.entry(row).or_default();
            if state.change != 0 {
                let earlier = state.change - 1;
                if state.transaction < transaction {
                    open.transaction.writeset_parent =
                        open.transaction.writeset_parent.max(state.transaction);
                }
                if !history.edges[edges_begin..].contains(&earlier) && state.change != number {
                    history.edges.push(earlier);
                }
            }
            if state.transaction <= self.writesets_begin {
                self.writesets_kept += 1;
            }
            if row == now || row == was {
                count = count.max(state.count);
            }
            (state.change, state.transaction) = (number, transaction);
        }
        count += 1;
        if let Some(state) = self.rows.get_mut(&now) {
            state.count = count;
        }
        if now != was {
            self.hot.remove(&was);
            // A row that is identified by all its columns is never seen again as it was.
            if keys.is_empty() {
                self.rows.remove(&was);
            } else if let Some(state) = self.rows.get_mut(&was) {
                state.count = 0;
            }
        }
        if count >= HOT && (self.hot.len() < HOT_ROWS_KEPT || now != was) {
            let row = if kind == RowsKind::Delete { before } else { after };
            self.hot
                .entry(now)
                .or_insert_with(|| (bound.table, row.describe(keys, bound.names.as_deref(), &bound.layout)));
        }
        open.transaction.changes += 1;
        let edges_end = u32::try_from(history.edges.len()).map_err(|_| Refused::TooLarge)?;
        history.changes.push(Change { table: bound.table, edges_end });
        let share = open.share(bound.table);
        match kind {
            RowsKind::Write => share.inserts += 1,
            RowsKind::Update => share.updates += 1,
            RowsKind::Delete => share.deletes += 1,
        }
        Ok(())
    }

    /// Returns the rows that were changed often, in descending order of their changes.
    pub fn hot_rows(&self, tables: &[Table]) -> Vec<HotRow> {
        let count = |row: &u64| self.rows.get(row).map_or(0, |state| state.count);
        let hot = self.hot.iter().map(|(row, (table, key))| HotRow {
            table: tables[*table as usize].name.clone(),
            key: key.clone(),
            changes: count(row),
        });
        let mut hot: Vec<HotRow> = hot.collect();
        hot.sort_by(|a, b| {
            b.changes.cmp(&a.changes).then_with(|| (&a.table, &a.key).cmp(&(&b.table, &b.key)))
        });
        hot
    }
}

fn damaged() -> Refused {
    Refused::Event(DecodeError { offset: 19, what: "row image does not fit the table map" })
}
