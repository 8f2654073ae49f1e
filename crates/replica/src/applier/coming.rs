//! The rows of events that the applier has not come to yet, and the pages that they will want.
//!
//! The events are only looked at. What cannot be understood here, such as a table that a statement
//! in front of it will make, is passed over. Filters are not asked, because each question to them
//! is counted; a table that they leave out may have pages read for nothing.

use std::sync::Arc;

use binlog::compressed::{PayloadReader, expand_mariadb, is_mariadb_compressed};
use binlog::event::{Event, Header, RowsEvent, RowsKind, TableMap, TransactionPayload};
use engine::{ComingRow, Engine, MissingPages, PartialRow, Table, TableHold};
use types::ColumnMask;

use super::job::LARGEST_PREPARED_BYTES;
use super::settings::ApplySettings;
use super::tables::{Bound, TableCache};
use crate::event::{self, kind};

/// What a look at events has found.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Looked {
    /// The number of rows.
    pub rows: usize,
    /// Whether it is worth looking again when the missing pages are in the pool.
    pub asks_again: bool,
}

/// Looks at events.
pub(super) struct Coming {
    hold: TableHold,
    settings: Arc<ApplySettings>,
    tables: TableCache,
    /// The tables of the present statement: the source's ids, and the bindings to tables of this
    /// server.
    in_use: Vec<(u64, Arc<Bound>)>,
    /// The buffer for a compressed event's decompressed form.
    plain: Vec<u8>,
    /// The buffer for a row event that is rewritten for this server's table.
    converted: Vec<u8>,
    /// The pages that the events will want.
    pub missing: MissingPages,
    /// How many of them are looked for at a time. The rows behind these are passed over.
    most_missing: usize,
}

impl Coming {
    pub fn new(engine: Arc<Engine>, settings: Arc<ApplySettings>, most_missing: usize) -> Coming {
        Coming {
            hold: TableHold::new(engine),
            settings,
            tables: TableCache::default(),
            in_use: Vec::new(),
            plain: Vec::new(),
            converted: Vec::new(),
            missing: MissingPages::default(),
            most_missing,
        }
    }

    pub fn engine(&self) -> &Arc<Engine> {
        self.hold.engine()
    }

    /// Releases the tables, so that DDL gets its turn.
    pub fn release(&mut self) {
        self.hold.release();
    }

    /// Looks at an event without its checksum.
    pub fn look(&mut self, bytes: &[u8], looked: &mut Looked) {
        // An event that does not decode is the applier's to report.
        let _is_understood = self.look_at(bytes, looked);
    }

    fn look_at(&mut self, bytes: &[u8], looked: &mut Looked) -> Option<()> {
        if is_mariadb_compressed(event::kind_of(bytes)) {
            let mut plain = std::mem::take(&mut self.plain);
            plain.clear();
            let understood =
                expand_mariadb(bytes, &mut plain).ok().and_then(|()| self.look_at(&plain, looked));
            self.plain = plain;
            return understood;
        }
        let header = Header::decode(bytes).ok()?;
        match binlog::event::decode_body(&header, bytes).ok()? {
            Event::TableMap(map) => self.table_map(bytes, &map),
            Event::Rows(rows) => self.rows(&header, &rows, looked),
            Event::TransactionPayload(payload) => self.payload(&payload, looked),
            _ => None,
        }
    }

    fn payload(&mut self, payload: &TransactionPayload<'_>, looked: &mut Looked) -> Option<()> {
        if payload.uncompressed_len > LARGEST_PREPARED_BYTES as u64 {
            return None;
        }
        let mut events = PayloadReader::new(payload).ok()?;
        while let Some(event) = events.next_event().ok()? {
            if event::kind_of(event) == kind::TRANSACTION_PAYLOAD {
                return None;
            }
            self.look(event, looked);
        }
        Some(())
    }

    fn table_map(&mut self, bytes: &[u8], map: &TableMap<'_>) -> Option<()> {
        self.in_use.retain(|(id, _)| *id != map.table_id);
        let allowed = self.settings.type_conversions();
        let bound = self.tables.bind(&self.hold, bytes, map, allowed).ok()?;
        self.in_use.push((map.table_id, bound));
        Some(())
    }

    fn rows(&mut self, header: &Header, rows: &RowsEvent<'_>, looked: &mut Looked) -> Option<()> {
        let (_, bound) = self.in_use.iter().find(|(id, _)| *id == rows.table_id)?;
        let bound = bound.clone();
        if rows.ends_statement() {
            self.in_use.clear();
        }
        // Whoever has locked the table to change its definition need not wait.
        self.hold.hold(&bound.table, false).ok()?;
        let Some(conversion) = &bound.conversion else { return self.own_rows(&bound.table, rows, looked) };
        let mut converted = std::mem::take(&mut self.converted);
        converted.clear();
        let rewritten = conversion.rewrite(&bound.table, header, rows, &mut converted);
        let understood = rewritten.ok().and_then(|()| {
            let header = Header::decode(&converted).ok()?;
            match binlog::event::decode_body(&header, &converted).ok()? {
                Event::Rows(rows) => self.own_rows(&bound.table, &rows, looked),
                _ => None,
            }
        });
        self.converted = converted;
        understood
    }

    /// Looks at a row event whose columns are those of this server's table.
    fn own_rows(&mut self, table: &Table, event: &RowsEvent<'_>, looked: &mut Looked) -> Option<()> {
        let none = ColumnMask::empty(0);
        let (before_mask, after_mask) = (event.before_mask(), event.after_mask());
        for row in event.iter(&table.layout) {
            if self.missing.len() >= self.most_missing {
                return None;
            }
            let row = row.ok()?;
            let image = |mask, image: Option<_>| PartialRow { mask, image: image.unwrap_or_default() };
            let before = image(before_mask.as_ref().unwrap_or(&none), row.before);
            let after = image(after_mask.as_ref().unwrap_or(&none), row.after);
            let coming = match event.kind {
                RowsKind::Write => ComingRow::Insert(after),
                RowsKind::Update => ComingRow::Update(before, after),
                RowsKind::Delete => ComingRow::Delete(before),
            };
            looked.rows += 1;
            looked.asks_again |= self.missing.add(self.hold.engine(), table, coming).ok()?;
        }
        Some(())
    }
}
