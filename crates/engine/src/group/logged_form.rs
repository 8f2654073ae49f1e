//! The form in which the binary log has a table with indexed expressions: without their hidden
//! columns. MySQL does not log these columns either, so no reader of the binary log knows them. The
//! redo log has them, because recovery computes no expressions.

use super::query;
use super::replacement::Replacement;
use super::table_map::TableMaps;
use super::walk::malformed;
use crate::definition::TableDef;
use crate::error::{EngineError, Result};
use binlog::encode::{self, EventBase, finish_event};
use binlog::event::{RowsEvent, TableMap};
use binlog::{Checksum, Event, Format, Header};
use std::sync::Arc;
use types::row::RowLayout;
use types::{ColumnMask, ColumnType};

/// The form of one table in the binary log.
#[derive(Debug)]
pub(crate) struct LoggedForm {
    table_id: u64,
    /// The definition without the hidden columns.
    def: TableDef,
    table_maps: TableMaps,
    /// The layout of rows with the hidden columns.
    layout: RowLayout,
}

impl LoggedForm {
    /// Returns the form of a table. `None` means that it has no hidden columns of expressions.
    pub fn of(table_id: u64, def: &TableDef) -> Option<Arc<LoggedForm>> {
        let named = def.named_columns();
        if named == def.columns.len() {
            return None;
        }
        let types: Vec<ColumnType> = def.columns.iter().map(|column| column.ty.clone()).collect();
        let mut logged = def.clone();
        logged.columns.truncate(named);
        logged.indexes.clear();
        let table_maps = TableMaps::new(table_id, &logged);
        Some(Arc::new(LoggedForm { table_id, def: logged, table_maps, layout: RowLayout::new(&types) }))
    }

    /// Returns what replaces the table map event that is at `at` in the group.
    pub fn table_map(&self, at: usize, event: &[u8], full_metadata: bool) -> Replacement {
        let map = match full_metadata {
            true => self.table_maps.full(self.table_id, &self.def),
            false => self.table_maps.minimal(),
        };
        let mut events = map.to_vec();
        if let Ok(header) = Header::decode(event) {
            let base = EventBase { timestamp: header.timestamp, server_id: header.server_id };
            query::set_base(&mut events, base);
        }
        Replacement { at, len: event.len(), events }
    }

    /// Returns what replaces the row event that is at `at` in the group.
    ///
    /// # Errors
    /// Returns an error if the event does not decode as one of the table.
    pub fn rows(&self, at: usize, event: &[u8]) -> Result<Replacement> {
        match binlog::decode(event, &Format::new(Checksum::None)).map_err(malformed)? {
            (header, Event::Rows(rows)) => {
                Ok(Replacement { at, len: event.len(), events: self.rewritten(&header, &rows)? })
            }
            _ => Err(EngineError::Event("an event of an event group is no row event".to_string())),
        }
    }

    fn rewritten(&self, header: &Header, event: &RowsEvent<'_>) -> Result<Vec<u8>> {
        let none = ColumnMask::empty(self.def.columns.len());
        let (before, after) = (event.before_mask(), event.after_mask());
        let ours = |mask: &Option<ColumnMask>| mask.as_ref().map(|mask| self.named(mask));
        let (our_before, our_after) = (ours(&before), ours(&after));
        let base = EventBase { timestamp: header.timestamp, server_id: header.server_id };
        let mut out = Vec::new();
        let start = encode::rows(
            base,
            event.kind,
            event.table_id,
            event.flags,
            our_before.as_ref().unwrap_or(&none),
            our_after.as_ref().unwrap_or(&none),
            &mut out,
        );
        for row in event.iter(&self.layout) {
            let row = row.map_err(malformed)?;
            for (mask, image) in [(&before, row.before), (&after, row.after)] {
                if let (Some(mask), Some(image)) = (mask, image) {
                    self.image(mask, image, &mut out)?;
                }
            }
        }
        finish_event(&mut out, start, None, Checksum::None);
        Ok(out)
    }

    /// Returns the columns of a mask that are not hidden.
    fn named(&self, mask: &ColumnMask) -> ColumnMask {
        let mut named = ColumnMask::empty(self.def.columns.len());
        mask.iter().filter(|at| *at < self.def.columns.len()).for_each(|at| named.insert(at));
        named
    }

    /// Appends a partial image without the hidden columns.
    fn image(&self, mask: &ColumnMask, image: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let nulls_at = out.len();
        out.resize(nulls_at + self.named(mask).count().div_ceil(8), 0);
        let mut number = 0;
        self.layout.walk_partial(mask, image, |column, packed| {
            if column >= self.def.columns.len() {
                return;
            }
            match packed {
                Some(packed) => out.extend_from_slice(packed),
                None => out[nulls_at + number / 8] |= 1 << (number % 8),
            }
            number += 1;
        })?;
        Ok(())
    }
}

/// Returns the replacements for the events of a received group that are about tables with hidden
/// columns. The events begin at `at` in the group.
///
/// # Errors
/// Returns an error if an event does not decode.
pub(crate) fn replacements<'t>(
    events: &[u8],
    mut at: usize,
    forms: impl Iterator<Item = &'t Arc<LoggedForm>> + Clone,
) -> Result<Vec<Replacement>> {
    let mut found = Vec::new();
    if forms.clone().next().is_none() {
        return Ok(found);
    }
    let form = |id: u64| forms.clone().find(|form| form.table_id == id);
    let mut rest = events;
    while !rest.is_empty() {
        let header = Header::decode(rest).map_err(malformed)?;
        let size = header.event_size as usize;
        let Some((event, after)) = rest.split_at_checked(size).filter(|_| size > 0) else {
            return Err(EngineError::Event(format!("an event of a received group claims {size} bytes")));
        };
        match binlog::decode(event, &Format::new(Checksum::None)).map_err(malformed)?.1 {
            Event::TableMap(TableMap { table_id, .. }) => {
                found.extend(form(table_id).map(|form| form.table_map(at, event, false)));
            }
            Event::Rows(RowsEvent { table_id, .. }) => {
                found.extend(form(table_id).map(|form| form.rows(at, event)).transpose()?);
            }
            _ => {}
        }
        (at, rest) = (at + size, after);
    }
    Ok(found)
}
