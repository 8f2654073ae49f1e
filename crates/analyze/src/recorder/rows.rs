//! Row events: which rows they change, and which earlier changes those rows had.

use binlog::DecodeError;
use binlog::event::{RowsEvent, RowsKind};

use super::{Bound, Recorder, Refused};
use crate::history::Change;
use crate::keys::Row;

/// A row that is changed this often is worth a look: its key is kept as text.
const HOT: u32 = 4;
/// So many of them are kept at most.
const HOT_ROWS_KEPT: usize = 100_000;

/// What came last of a row.
#[derive(Clone, Copy, Default)]
pub(super) struct RowState {
    /// Number of the last change plus one; 0: none.
    pub change: u32,
    /// How many transactions there were with the one of that change.
    pub transaction: u32,
    /// Changes so far.
    pub count: u32,
}

impl Recorder {
    pub(super) fn take_rows(&mut self, event: &RowsEvent<'_>, event_bytes: usize) -> Result<(), Refused> {
        let Some(bound) = self.bound.get(&event.table_id).cloned() else {
            // The last event of a statement that changed nothing has a number that stands for no
            // table.
            if event.rows.is_empty() {
                return Ok(());
            }
            return Err(DecodeError { offset: 19, what: "row event without its table map" }.into());
        };
        if event.columns != bound.layout.columns() {
            return Err(
                DecodeError { offset: 19, what: "row event of another table than its table map" }.into()
            );
        }
        if let Some(open) = &mut self.open {
            open.share(bound.table).bytes += event_bytes as u64;
        }
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
            self.change(&bound, event.kind, &before, &after)?;
        }
        Ok(())
    }

    fn change(
        &mut self,
        bound: &Bound,
        kind: RowsKind,
        before: &Row<'_>,
        after: &Row<'_>,
    ) -> Result<(), Refused> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let number = u32::try_from(self.history.changes.len() + 1).map_err(|_| Refused::TooLarge)?;
        let transaction = self.history.transactions.len() as u32 + 1;
        let keys = &bound.keys.keys;
        let mut numbers = Vec::with_capacity(4);
        if kind != RowsKind::Write {
            before.numbers(bound.table, keys, &bound.layout, &mut numbers);
        }
        let split = numbers.len();
        if kind != RowsKind::Delete {
            after.numbers(bound.table, keys, &bound.layout, &mut numbers);
        }
        // The row as it is now, and as it was.
        let now = if kind == RowsKind::Delete { numbers[0] } else { numbers[split] };
        let was = numbers[0];
        let edges_begin = self.history.edges.len();
        let mut count = 0;
        for &row in &numbers {
            let state = self.rows.entry(row).or_default();
            if state.change != 0 {
                let earlier = state.change - 1;
                if state.transaction < transaction {
                    open.transaction.writeset_parent =
                        open.transaction.writeset_parent.max(state.transaction);
                }
                if !self.history.edges[edges_begin..].contains(&earlier) && state.change != number {
                    self.history.edges.push(earlier);
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
            // A row that is told by all its columns is never seen again as it was.
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
        let edges_end = u32::try_from(self.history.edges.len()).map_err(|_| Refused::TooLarge)?;
        self.history.changes.push(Change { table: bound.table, edges_end });
        let share = open.share(bound.table);
        match kind {
            RowsKind::Write => share.inserts += 1,
            RowsKind::Update => share.updates += 1,
            RowsKind::Delete => share.deletes += 1,
        }
        Ok(())
    }
}

fn damaged() -> Refused {
    Refused::Event(DecodeError { offset: 19, what: "row image does not fit the table map" })
}
