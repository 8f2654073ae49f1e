//! Applying row events to the engine's write set.

use std::sync::Arc;

use binlog::Checksum;
use binlog::encode::{self, EventBase, finish_event};
use binlog::event::{HEADER_LEN, Header, RowsEvent, RowsKind, rows_flag};
use engine::{EngineError, FoundRow, PartialRow, Table, Transaction};
use types::ColumnMask;

use super::exec_mode::ExecMode;
use super::skipped_errors::{Answer, Tolerance};

/// The offset of the flags in a row event, behind the header and the table id.
const FLAGS_OFFSET: usize = HEADER_LEN + 6;

/// Applies every row of the event in the transaction.
pub(super) fn apply(
    transaction: &mut Transaction,
    table: &Arc<Table>,
    event: &RowsEvent<'_>,
) -> Result<(), EngineError> {
    check_columns(table, event)?;
    let none = ColumnMask::empty(0);
    let (before, after) = (event.before_mask(), event.after_mask());
    let (before_mask, after_mask) = (before.as_ref().unwrap_or(&none), after.as_ref().unwrap_or(&none));
    let found = find_together(transaction, table, event, before_mask)?;
    let mut found = found.iter();
    for row in event.iter_with(&table.layout, before.as_ref(), after.as_ref()) {
        let row = row.map_err(|error| incompatible(table, error.to_string()))?;
        let before = PartialRow { mask: before_mask, image: row.before.unwrap_or_default() };
        let after = PartialRow { mask: after_mask, image: row.after.unwrap_or_default() };
        match (event.kind, found.next()) {
            (RowsKind::Write, _) => transaction.apply_insert(table, after)?,
            (RowsKind::Update, Some(Some(row))) => transaction.apply_update_of(table, row, before, after)?,
            (RowsKind::Update, _) => transaction.apply_update(table, before, after)?,
            (RowsKind::Delete, Some(Some(row))) => transaction.apply_delete_of(table, row, before)?,
            (RowsKind::Delete, _) => transaction.apply_delete(table, before)?,
        }
    }
    Ok(())
}

/// Finds the rows of an event together, where only a scan of the table finds them. Returns an empty
/// list where there is a better way.
fn find_together(
    transaction: &mut Transaction,
    table: &Arc<Table>,
    event: &RowsEvent<'_>,
    mask: &ColumnMask,
) -> Result<Vec<Option<FoundRow>>, EngineError> {
    if event.kind == RowsKind::Write || table.has_primary_key() {
        return Ok(Vec::new());
    }
    let mut images = Vec::new();
    for row in event.iter(&table.layout) {
        let row = row.map_err(|error| incompatible(table, error.to_string()))?;
        images.push(row.before.unwrap_or_default());
    }
    transaction.find_together(table, mask, &images)
}

/// Applies a row event like [`apply`], but tolerates rows that differ from the source's, by the
/// rules of [`ExecMode`]. A row whose error `replica_skip_errors` lists is left out together with
/// the rows behind it. The changes that were made are appended to `out` as row events.
pub(super) fn apply_tolerant(
    transaction: &mut Transaction,
    table: &Arc<Table>,
    (header, event): (&Header, &RowsEvent<'_>),
    tolerance: Tolerance<'_>,
    out: &mut Vec<u8>,
) -> Result<(), EngineError> {
    check_columns(table, event)?;
    let none = ColumnMask::empty(table.columns());
    let (before_mask, after_mask) = (event.before_mask(), event.after_mask());
    let before_mask = before_mask.as_ref().unwrap_or(&none);
    let after_mask = after_mask.as_ref().unwrap_or(&none);
    let mut done = Done::behind(out, header, table, event.flags);
    for row in event.iter(&table.layout) {
        let row = row.map_err(|error| incompatible(table, error.to_string()))?;
        let before = PartialRow { mask: before_mask, image: row.before.unwrap_or_default() };
        let after = PartialRow { mask: after_mask, image: row.after.unwrap_or_default() };
        let changed = match event.kind {
            RowsKind::Write if tolerance.mode != ExecMode::Strict => {
                insert_over(transaction, table, after, &mut done)
            }
            RowsKind::Update if tolerance.mode == ExecMode::Converge => {
                match update_whatever_is_there(transaction, table, (before, after), &mut done) {
                    Ok(true) => Ok(()),
                    Ok(false) => continue,
                    Err(error) => return Err(error),
                }
            }
            RowsKind::Write => transaction.apply_insert(table, after),
            RowsKind::Update => transaction.apply_update(table, before, after),
            RowsKind::Delete => transaction.apply_delete(table, before),
        };
        match changed {
            Ok(()) => done.row(event.kind, (before_mask, after_mask), &[before.image, after.image]),
            Err(error) => match tolerance.answer(table, error)? {
                Answer::GoOn => {}
                Answer::EndEvent => break,
            },
        }
    }
    done.finish(event.ends_statement());
    Ok(())
}

/// Inserts a row in the place of all rows that have one of its keys.
fn insert_over(
    transaction: &mut Transaction,
    table: &Arc<Table>,
    after: PartialRow<'_>,
    done: &mut Done<'_>,
) -> Result<(), EngineError> {
    let (full, none) = (ColumnMask::full(table.columns()), ColumnMask::empty(table.columns()));
    for image in transaction.apply_insert_over(table, after)? {
        done.row(RowsKind::Delete, (&full, &none), &[&image]);
    }
    Ok(())
}

/// Sets a row to its after image, whether or not the row before is here, and removes other rows
/// that have its keys. Returns false when it did so by a deletion and an insertion, which are then
/// in `done`.
fn update_whatever_is_there(
    transaction: &mut Transaction,
    table: &Arc<Table>,
    (before, after): (PartialRow<'_>, PartialRow<'_>),
    done: &mut Done<'_>,
) -> Result<bool, EngineError> {
    if !before.mask.is_full() || !after.mask.is_full() {
        return Err(not_convergent(table, "an update has not the whole row (binlog_row_image is not FULL)"));
    }
    match transaction.apply_update(table, before, after) {
        Err(EngineError::RowNotFound { .. } | EngineError::Duplicate { .. }) => {}
        other => return other.map(|()| true),
    }
    match transaction.find_current(table, before) {
        Ok((found, image)) => {
            transaction.apply_delete_of(table, &found, before)?;
            done.row(RowsKind::Delete, (before.mask, &ColumnMask::empty(table.columns())), &[&image]);
        }
        Err(EngineError::RowNotFound { .. }) => {}
        Err(error) => return Err(error),
    }
    insert_over(transaction, table, after, done)?;
    done.row(RowsKind::Write, (&ColumnMask::empty(table.columns()), after.mask), &[after.image]);
    Ok(false)
}

/// Builds the error of a change that cannot be applied to rows that are further in history than the
/// applier.
pub(super) fn not_convergent(table: &Table, why: &str) -> EngineError {
    incompatible(table, format!("replica_exec_mode=CONVERGE cannot apply it: {why}"))
}

/// The row events of the changes that were made.
pub(super) struct Done<'a> {
    out: &'a mut Vec<u8>,
    base: EventBase,
    table: &'a Table,
    flags: u16,
    /// The start and the kind of the event to which further rows of this kind may be appended.
    open: Option<(usize, RowsKind)>,
    /// The start of the last event.
    last: Option<usize>,
}

impl<'a> Done<'a> {
    /// Appends to `out`, with events that have this header and these flags.
    pub fn behind(out: &'a mut Vec<u8>, header: &Header, table: &'a Table, flags: u16) -> Done<'a> {
        let base = EventBase { timestamp: header.timestamp, server_id: header.server_id };
        Done { out, base, table, flags: flags & !rows_flag::STMT_END, open: None, last: None }
    }

    pub fn row(&mut self, kind: RowsKind, (before, after): (&ColumnMask, &ColumnMask), images: &[&[u8]]) {
        if self.open.is_none_or(|(_, open)| open != kind) {
            self.close();
            let start = encode::rows(self.base, kind, self.table.id, self.flags, before, after, self.out);
            (self.open, self.last) = (Some((start, kind)), Some(start));
        }
        images.iter().for_each(|image| self.out.extend_from_slice(image));
    }

    fn close(&mut self) {
        if let Some((start, _)) = self.open.take() {
            finish_event(self.out, start, None, Checksum::None);
        }
    }

    pub fn finish(mut self, ends_statement: bool) {
        self.close();
        if let Some(start) = self.last.filter(|_| ends_statement) {
            self.out[start + FLAGS_OFFSET] |= rows_flag::STMT_END as u8;
        }
    }
}

pub(super) fn check_columns(table: &Table, event: &RowsEvent<'_>) -> Result<(), EngineError> {
    if event.columns == table.columns() {
        return Ok(());
    }
    let reason = format!("a row event has {} columns, the table {}", event.columns, table.columns());
    Err(incompatible(table, reason))
}

pub(super) fn incompatible(table: &Table, reason: String) -> EngineError {
    EngineError::Incompatible { table: table.qualified_name().to_string(), reason }
}
