//! The part of a group that has come: its rows in an engine transaction, its events in the form
//! that the commit record keeps.

use std::sync::Arc;

use binlog::event::{Event, Header, PartialUpdateEvent, RowsEvent, TableMap, rows_flag};
use binlog::{Checksum, DecodeError, group};
use engine::{Engine, EngineError, Table, TableHold, Transaction};

use super::bind_error::BindError;
use super::computed::is_of_computed_table;
use super::exec_mode::ExecMode;
use super::report::GroupError;
use super::rows::not_convergent;
use super::settings::ApplySettings;
use super::tables::{Bound, TableCache};
use super::{followed, partial_rows, rows, virtual_columns};
use crate::filter::{Filters, table_map_in};
use sql::VirtualColumns;

/// When so much of a group has come, its transaction takes it over, row by row as it goes on.
const GATHERED_BYTES: usize = 1 << 20;

/// See the module's header. Buffers are kept from group to group.
pub(super) struct OpenGroup {
    hold: TableHold,
    settings: Arc<ApplySettings>,
    tables: TableCache,
    /// Tables that the present statement's row events are about: the source's table id, and the
    /// binding.
    in_use: Vec<(u64, Arc<Bound>)>,
    filters: Arc<Filters>,
    /// The source's ids of the present statement's tables that are filtered out.
    filtered: Vec<u64>,
    /// Where the present statement's last row event is among the events.
    last_rows: Option<usize>,
    /// What computes columns that row images leave out, once one has.
    virtual_columns: Option<VirtualColumns>,
    /// Rows go to a transaction that is applied ahead of its turn.
    ahead: bool,
    /// The table that a group needed and could not get at once, while others were held for it.
    blocked: Option<Arc<Table>>,
    /// A row event, written anew for our table.
    converted: Vec<u8>,
    /// Groups may stand here one after the other; the present one is at the end.
    pub events: Vec<u8>,
    /// None before the first row.
    pub transaction: Option<Box<Transaction>>,
}

impl OpenGroup {
    pub fn new(
        engine: Arc<Engine>,
        settings: Arc<ApplySettings>,
        filters: Arc<Filters>,
        ahead: bool,
    ) -> OpenGroup {
        OpenGroup {
            hold: TableHold::new(engine),
            settings,
            tables: TableCache::default(),
            in_use: Vec::new(),
            filters,
            filtered: Vec::new(),
            last_rows: None,
            virtual_columns: None,
            ahead,
            blocked: None,
            converted: Vec::new(),
            events: Vec::new(),
            transaction: None,
        }
    }

    /// The filters that it goes by.
    pub fn filters(&self) -> &Arc<Filters> {
        &self.filters
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
        self.filtered.clear();
        self.last_rows = None;
    }

    /// Takes the rows back.
    pub fn roll_back(&mut self) {
        self.end_statement();
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
        if !self.filters.is_on() {
            return self.map_table(bytes, map);
        }
        let filters = self.filters.clone();
        self.filtered.retain(|&id| id != map.table_id);
        let moved =
            filters.rewritten(map.schema).map(|schema| (schema, table_map_in(bytes, map.schema, schema)));
        let (map, bytes) = match &moved {
            Some((schema, moved)) => (&TableMap { schema: schema.as_bytes(), ..*map }, moved.as_slice()),
            None => (map, bytes),
        };
        if filters.allows_table(&String::from_utf8_lossy(map.schema), &String::from_utf8_lossy(map.table)) {
            return self.map_table(bytes, map);
        }
        self.filtered.push(map.table_id);
        Ok(())
    }

    fn map_table(&mut self, bytes: &[u8], map: &TableMap<'_>) -> Result<(), GroupError> {
        let bound = match self.bind(bytes, map) {
            Err(GroupError::Table(error)) if is_of_computed_table(&error) || self.skips_table(&error) => {
                self.filtered.push(map.table_id);
                return Ok(());
            }
            bound => bound?,
        };
        let at = match &bound.conversion {
            None => self.append(bytes)?,
            Some(_) => self.append(&own_map(&bound.table, bytes))?,
        };
        group::set_table_id(&mut self.events, at, bound.table.id);
        match self.in_use.iter_mut().find(|(id, _)| *id == map.table_id) {
            Some(entry) => entry.1 = bound,
            None => self.in_use.push((map.table_id, bound)),
        }
        Ok(())
    }

    /// Whether the events of a table that is not there are left out. A group that is applied ahead
    /// is tried again in its turn.
    fn skips_table(&self, error: &BindError) -> bool {
        let skips = !self.ahead && self.settings.skipped_errors().skips_table(error);
        if skips {
            log::warn!("Replica SQL: events of a table are left out (replica_skip_errors): {error:?}");
        }
        skips
    }

    /// The table of a TABLE_MAP event, held.
    fn bind(&mut self, bytes: &[u8], map: &TableMap<'_>) -> Result<Arc<Bound>, GroupError> {
        let allowed = self.settings.type_conversions();
        loop {
            let bound = self.tables.bind(&self.hold, bytes, map, allowed).map_err(GroupError::Table)?;
            match self.hold.hold(&bound.table, !self.ahead) {
                Ok(()) => return Ok(bound),
                // It has changed between the look-up and the lock.
                Err(EngineError::TableChanged(_)) => {}
                // What is held is held for earlier groups only. With nothing held it waits.
                Err(EngineError::LockNotAvailable) if !self.ahead && self.is_unused() => self.hold.release(),
                Err(error) => {
                    let table = bound.table.qualified_name().to_string();
                    self.blocked =
                        matches!(error, EngineError::LockNotAvailable).then(|| bound.table.clone());
                    return Err(GroupError::Held(table, error));
                }
            }
        }
    }

    /// The transaction, for a statement, which takes the locks of its tables itself.
    pub fn take_for_statements(&mut self) -> Box<Transaction> {
        self.transaction.take().unwrap_or_else(|| self.hold.begin_apply_statements())
    }

    /// The group has used no table yet.
    fn is_unused(&self) -> bool {
        self.transaction.is_none() && self.in_use.is_empty()
    }

    /// If the last error was that a table was not to be had at once: waits for it, nothing being
    /// held, and says so. The group must have been rolled back.
    pub fn wait_if_blocked(&mut self) -> Result<bool, EngineError> {
        let Some(table) = self.blocked.take() else { return Ok(false) };
        self.hold.release();
        let waited = self.hold.hold(&table, true);
        self.hold.release();
        match waited {
            // Another definition has taken its place: it is looked up again.
            Ok(()) | Err(EngineError::TableChanged(_)) => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// A row event that is filtered out, or of which all rows are left out. The statement ends with
    /// it: in our log it ends with the last event that was kept.
    fn leave_out(&mut self, rows: &RowsEvent<'_>) {
        const FLAGS_OFFSET: usize = binlog::event::HEADER_LEN + 6;
        if rows.ends_statement() {
            if let Some(last) = self.last_rows {
                self.events[last + FLAGS_OFFSET] |= rows_flag::STMT_END as u8;
            }
            self.end_statement();
        }
    }

    /// A row event.
    pub fn rows(&mut self, bytes: &[u8], rows: &RowsEvent<'_>) -> Result<(), GroupError> {
        if self.filtered.contains(&rows.table_id) {
            self.leave_out(rows);
            return Ok(());
        }
        if rows.table_id == binlog::event::DUMMY_TABLE_ID && rows.rows.is_empty() {
            // It carries nothing and only ends a statement.
            self.end_statement();
            return Ok(());
        }
        let Some((_, bound)) = self.in_use.iter().find(|(id, _)| *id == rows.table_id) else {
            return Err(GroupError::NoTableMap);
        };
        let bound = bound.clone();
        let Some(conversion) = &bound.conversion else { return self.own_rows(bytes, rows, &bound.table) };
        let mut converted = std::mem::take(&mut self.converted);
        converted.clear();
        let header = Header::decode(bytes)?;
        let taken = match conversion.rewrite(&bound.table, &header, rows, &mut converted) {
            Ok(()) => self.whole_rows(&converted, &bound.table),
            Err(reason) => {
                let table = bound.table.qualified_name().to_string();
                let error = EngineError::Incompatible { table: table.clone(), reason };
                Err(GroupError::Row(rows.kind, table, error))
            }
        };
        self.converted = converted;
        taken
    }

    /// Begins the transaction before the first row event, behind a statement that has made a table.
    pub fn begin_behind_definition(&mut self) {
        let mut transaction = self.take_for_rows();
        transaction.set_defines();
        self.transaction = Some(transaction);
    }

    /// The transaction, for row events.
    fn take_for_rows(&mut self) -> Box<Transaction> {
        match self.transaction.take() {
            Some(transaction) => transaction,
            None if self.ahead => self.hold.begin_apply_ahead(),
            None => self.hold.begin_apply(),
        }
    }

    /// A row event that says of documents only how they differ.
    pub fn partial_update(
        &mut self,
        header: &Header,
        event: &PartialUpdateEvent<'_>,
    ) -> Result<(), GroupError> {
        let rows = &event.0;
        if self.filtered.contains(&rows.table_id) {
            self.leave_out(rows);
            return Ok(());
        }
        let Some((_, bound)) = self.in_use.iter().find(|(id, _)| *id == rows.table_id) else {
            return Err(GroupError::NoTableMap);
        };
        let table = bound.table.clone();
        if bound.conversion.is_some() {
            let reason =
                "binlog_row_value_options=PARTIAL_JSON, and the source's columns are others".to_string();
            let name = table.qualified_name().to_string();
            let error = EngineError::Incompatible { table: name.clone(), reason };
            return Err(GroupError::Row(rows.kind, name, error));
        }
        if self.settings.exec_mode() == ExecMode::Converge {
            let error = not_convergent(&table, "an update says of a document only how it differs");
            return Err(GroupError::Row(rows.kind, table.qualified_name().to_string(), error));
        }
        let before = self.events.len();
        let mut transaction = self.take_for_rows();
        if followed::may_have_followers(&transaction, &table, rows) {
            // Whether there are any, and what they are, is told by whole rows.
            let whole = partial_rows::whole_event(&mut transaction, &table, header, event);
            self.transaction = Some(transaction);
            return self.whole_rows(&whole?, &table);
        }
        let state = os::account::enter(os::account::State::ApplyRow);
        let applied = partial_rows::apply(&mut transaction, &table, header, event, &mut self.events);
        drop(state);
        self.transaction = Some(transaction);
        applied?;
        self.last_rows = last_event(&self.events, before).or(self.last_rows);
        if rows.ends_statement() {
            self.end_statement();
        }
        Ok(())
    }

    /// A row event that was written anew.
    fn whole_rows(&mut self, bytes: &[u8], table: &Arc<Table>) -> Result<(), GroupError> {
        let header = Header::decode(bytes)?;
        match binlog::event::decode_body(&header, bytes)? {
            Event::Rows(rows) => self.own_rows(bytes, &rows, table),
            _ => Err(GroupError::NoTableMap),
        }
    }

    /// A row event that leaves virtual columns out.
    fn rows_without_virtual(
        &mut self,
        bytes: &[u8],
        rows: &RowsEvent<'_>,
        table: &Arc<Table>,
    ) -> Result<(), GroupError> {
        let header = Header::decode(bytes)?;
        let mut transaction = self.take_for_rows();
        let engine = self.hold.engine().clone();
        let columns = self.virtual_columns.get_or_insert_with(|| VirtualColumns::new(engine));
        let whole = virtual_columns::whole_event(&mut transaction, columns, table, &header, rows);
        self.transaction = Some(transaction);
        let refused = |error| GroupError::Row(rows.kind, table.qualified_name().to_string(), error);
        self.whole_rows(&whole.map_err(refused)?, table)
    }

    /// A row event whose columns are those of our table.
    fn own_rows(&mut self, bytes: &[u8], rows: &RowsEvent<'_>, table: &Arc<Table>) -> Result<(), GroupError> {
        if virtual_columns::are_missing(table, rows) {
            return self.rows_without_virtual(bytes, rows, table);
        }
        let mut transaction = self.take_for_rows();
        let (tolerance, before) = (self.settings.tolerance(), self.events.len());
        // An event that is applied ahead either has all its rows or is applied again in its turn.
        let is_strict = tolerance.is_strict() || (self.ahead && tolerance.mode == ExecMode::Strict);
        let state = os::account::enter(os::account::State::ApplyRow);
        let followed = followed::has_followers(&transaction, table, rows);
        let is_followed = matches!(followed, Ok(true));
        let applied = match is_strict {
            // What followed from a row at the source is not told by rows that are further.
            _ if is_followed && tolerance.mode == ExecMode::Converge => {
                Err(not_convergent(table, "rows of other tables follow the rows of this one"))
            }
            _ if !matches!(followed, Ok(false)) => followed.and_then(|_| match self.ahead {
                // Which rows follow is known in its turn only.
                true => Err(EngineError::NeedsTurn),
                false => self.followed_rows(&mut transaction, bytes, rows, table),
            }),
            true => rows::apply(&mut transaction, table, rows),
            // What is in the way of a row can be said in its turn only.
            false if self.ahead => Err(EngineError::NeedsTurn),
            false => {
                let header = Header::decode(bytes)?;
                let (event, tolerance) = ((&header, rows), self.settings.tolerance());
                rows::apply_tolerant(&mut transaction, table, event, tolerance, &mut self.events)
            }
        };
        drop(state);
        self.transaction = Some(transaction);
        if let Err(error) = applied {
            let name = table.qualified_name().to_string();
            return Err(match error {
                EngineError::RowNotFound { .. } if !table.has_keys() => {
                    GroupError::NotInScan(rows.kind, name)
                }
                error => GroupError::Row(rows.kind, name, error),
            });
        }
        let last = match is_strict {
            _ if is_followed => None,
            false => last_event(&self.events, before),
            true => {
                let at = self.append(bytes)?;
                group::set_table_id(&mut self.events, at, table.id);
                Some(at)
            }
        };
        self.last_rows = last.or(self.last_rows.filter(|_| !is_followed));
        if rows.ends_statement() && last.is_none() && !is_followed {
            // All its rows were left out.
            self.leave_out(rows);
        } else if rows.ends_statement() {
            self.end_statement();
        } else if is_followed {
            self.map_tables_again(bytes);
        }
        if !self.ahead && self.events.len() >= GATHERED_BYTES { self.hand_over() } else { Ok(()) }
    }

    /// A row event from whose rows others follow: the transaction writes the events of all of them,
    /// behind those that have come.
    fn followed_rows(
        &mut self,
        transaction: &mut Transaction,
        bytes: &[u8],
        rows: &RowsEvent<'_>,
        table: &Arc<Table>,
    ) -> Result<(), EngineError> {
        let header = Header::decode(bytes).map_err(|error| EngineError::Event(error.to_string()))?;
        transaction.receive(&self.events)?;
        self.events.clear();
        followed::apply(transaction, table, &header, rows, self.settings.tolerance())
    }

    /// The transaction has written a statement of its own: what is left of the source's begins anew
    /// behind it.
    fn map_tables_again(&mut self, bytes: &[u8]) {
        for (_, bound) in &self.in_use {
            self.events.extend_from_slice(&own_map(&bound.table, bytes));
        }
    }

    /// Gives the events so far to the transaction, which keeps many of them in a file. The one that
    /// may yet have to end its statement stays.
    fn hand_over(&mut self) -> Result<(), GroupError> {
        let Some(transaction) = &mut self.transaction else { return Ok(()) };
        let end = self.last_rows.unwrap_or(self.events.len());
        transaction.receive(&self.events[..end]).map_err(GroupError::Commit)?;
        self.events.drain(..end);
        self.last_rows = self.last_rows.map(|_| 0);
        Ok(())
    }
}

/// Where the last of the whole events behind `from` begins.
fn last_event(events: &[u8], from: usize) -> Option<usize> {
    let (mut last, mut at) = (None, from);
    for event in group::walk(&events[from..]).map_while(Result::ok) {
        last = Some(at);
        at += event.bytes.len();
    }
    last
}

/// The TABLE_MAP event of our table in the place of one that was received.
fn own_map(table: &Table, received: &[u8]) -> Vec<u8> {
    let mut map = table.table_map_event().to_vec();
    map[..4].copy_from_slice(&received[..4]);
    map[5..9].copy_from_slice(&received[5..9]);
    map
}
