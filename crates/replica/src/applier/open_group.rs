//! The part of a group that has come: its rows in an engine transaction, its events in the form that the commit record keeps.

use std::sync::Arc;

use binlog::event::{RowsEvent, TableMap};
use binlog::{Checksum, DecodeError, group};
use engine::{Engine, EngineError, TableHold, Transaction};

use super::report::GroupError;
use super::rows;
use super::tables::{Bound, TableCache};

/// See the module's header. Buffers are kept from group to group.
pub(super) struct OpenGroup {
    hold: TableHold,
    tables: TableCache,
    /// Tables that the present statement's row events are about: the source's table id, and the binding.
    in_use: Vec<(u64, Arc<Bound>)>,
    /// Rows go to a transaction that is applied ahead of its turn.
    ahead: bool,
    /// Groups may stand here one after the other; the present one is at the end.
    pub events: Vec<u8>,
    /// None before the first row.
    pub transaction: Option<Transaction>,
}

impl OpenGroup {
    pub fn new(engine: Arc<Engine>, ahead: bool) -> OpenGroup {
        let (tables, in_use, events) = (TableCache::default(), Vec::new(), Vec::new());
        OpenGroup { hold: TableHold::new(engine), tables, in_use, ahead, events, transaction: None }
    }

    /// The engine that it goes to.
    pub fn engine(&self) -> &Arc<Engine> {
        self.hold.engine()
    }

    /// The tables that are held open for it.
    pub fn hold(&mut self) -> &mut TableHold {
        &mut self.hold
    }

    /// Definitions may have changed.
    pub fn forget_tables(&mut self) {
        self.tables.clear();
    }

    /// No statement is open any more.
    pub fn end_statement(&mut self) {
        self.in_use.clear();
    }

    /// Takes the rows back.
    pub fn roll_back(&mut self) {
        self.in_use.clear();
        if let Some(transaction) = self.transaction.take() {
            transaction.rollback();
        }
    }

    /// Copies an event behind the others, in the form that the log keeps. Returns where it is.
    pub fn append(&mut self, bytes: &[u8]) -> Result<usize, DecodeError> {
        let at = self.events.len();
        group::append_received(bytes, Checksum::None, &mut self.events)?;
        Ok(at)
    }

    /// A TABLE_MAP event.
    pub fn table_map(&mut self, bytes: &[u8], map: &TableMap<'_>) -> Result<(), GroupError> {
        let bound = self.bind(bytes, map)?;
        let at = self.append(bytes)?;
        group::set_table_id(&mut self.events, at, bound.table.id);
        match self.in_use.iter_mut().find(|(id, _)| *id == map.table_id) {
            Some(entry) => entry.1 = bound,
            None => self.in_use.push((map.table_id, bound)),
        }
        Ok(())
    }

    /// The table of a TABLE_MAP event, held.
    fn bind(&mut self, bytes: &[u8], map: &TableMap<'_>) -> Result<Arc<Bound>, GroupError> {
        loop {
            let bound = self.tables.bind(&self.hold, bytes, map).map_err(GroupError::Table)?;
            match self.hold.hold(&bound.table, !self.ahead) {
                Ok(()) => return Ok(bound),
                // It has changed between the look-up and the lock.
                Err(EngineError::TableChanged(_)) => {}
                Err(error) => return Err(GroupError::Held(bound.table.qualified_name().to_string(), error)),
            }
        }
    }

    /// A row event.
    pub fn rows(&mut self, bytes: &[u8], rows: &RowsEvent<'_>) -> Result<(), GroupError> {
        if rows.table_id == binlog::event::DUMMY_TABLE_ID && rows.rows.is_empty() {
            // It carries nothing and only ends a statement.
            self.in_use.clear();
            return Ok(());
        }
        let Some((_, bound)) = self.in_use.iter().find(|(id, _)| *id == rows.table_id) else {
            return Err(GroupError::NoTableMap);
        };
        let table = bound.table.clone();
        let mut transaction = match self.transaction.take() {
            Some(transaction) => transaction,
            None if self.ahead => self.hold.begin_apply_ahead(),
            None => self.hold.begin_apply(),
        };
        let state = os::account::enter(os::account::State::ApplyRow);
        let applied = rows::apply(&mut transaction, &table, rows);
        drop(state);
        self.transaction = Some(transaction);
        if let Err(error) = applied {
            return Err(GroupError::Row(rows.kind, table.qualified_name().to_string(), error));
        }
        let at = self.append(bytes)?;
        group::set_table_id(&mut self.events, at, table.id);
        if rows.ends_statement() {
            self.in_use.clear();
        }
        Ok(())
    }
}
