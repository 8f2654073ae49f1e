//! The part of a group that has arrived: its rows in an engine transaction, its events in the form
//! that the commit record keeps.

use std::sync::Arc;

use binlog::event::{Event, Header, PartialUpdateEvent, RowsEvent, TableMap, rows_flag};
use binlog::{Checksum, DecodeError, group};
use engine::{Engine, EngineError, Savepoint, Table, TableHold, Transaction};

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

/// The number of gathered bytes at which they are handed over to the transaction. A larger group
/// goes on in the same way.
const GATHERED_BYTES: usize = 1 << 20;

/// The group that is open. Its buffers are kept from group to group.
pub(super) struct OpenGroup {
    hold: TableHold,
    settings: Arc<ApplySettings>,
    tables: TableCache,
    /// The tables of the present statement's row events: the source's table id, and the binding to
    /// a table of this server.
    in_use: Vec<(u64, Arc<Bound>)>,
    filters: Arc<Filters>,
    /// The source's ids of the present statement's tables that are filtered out.
    filtered: Vec<u64>,
    /// The offset in `events` of the present statement's last row event.
    last_rows: Option<usize>,
    /// The means to compute columns that row images leave out, made when it is first needed.
    virtual_columns: Option<VirtualColumns>,
    /// True when rows go to a transaction that is applied ahead of its turn.
    ahead: bool,
    /// The table that a group needed and could not get at once while others were held for it.
    blocked: Option<Arc<Table>>,
    /// The buffer for a row event that is rewritten for this server's table.
    converted: Vec<u8>,
    /// The events of groups one after the other, of which the present one is the last.
    pub events: Vec<u8>,
    /// The engine's transaction; `None` before the first row.
    pub transaction: Option<Box<Transaction>>,
    /// The points that the transaction can go back to.
    pub points: Points,
}

/// The points that a transaction can go back to.
#[derive(Default)]
pub(super) struct Points {
    /// The point before the first statement, if the transaction began with a statement.
    pub start: Option<Savepoint>,
    /// The savepoints, with their names as the source wrote them.
    pub named: Vec<(Vec<u8>, Savepoint)>,
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
            points: Points::default(),
        }
    }

    /// Returns the filters that decide which events of the group are applied.
    pub fn filters(&self) -> &Arc<Filters> {
        &self.filters
    }

    /// Returns the engine that the rows go to.
    pub fn engine(&self) -> &Arc<Engine> {
        self.hold.engine()
    }

    /// Returns the tables that are held open for the group.
    pub fn hold(&mut self) -> &mut TableHold {
        &mut self.hold
    }

    /// Forgets the bindings of tables, because definitions may have changed.
    pub fn forget_tables(&mut self) {
        self.tables.clear();
    }

    /// Notes that no statement is open any more.
    pub fn end_statement(&mut self) {
        self.in_use.clear();
        self.filtered.clear();
        self.last_rows = None;
    }

    /// Rolls the rows back.
    pub fn roll_back(&mut self) {
        self.end_statement();
        self.points = Points::default();
        if let Some(transaction) = self.transaction.take() {
            transaction.rollback();
        }
    }

    /// Appends an event in the form that the log keeps, and returns its offset in `events`.
    pub fn append(&mut self, bytes: &[u8]) -> Result<usize, DecodeError> {
        let at = self.events.len();
        group::append_received(bytes, Checksum::None, &mut self.events)?;
        Ok(at)
    }

    /// Takes a TABLE_MAP event that has been taken before, and whose table is held and needs no
    /// conversion. `None` means that it is another one, and that nothing was done.
    #[inline]
    pub fn known_table_map(&mut self, bytes: &[u8]) -> Option<Result<(), GroupError>> {
        if self.filters.is_on() {
            return None;
        }
        let bound = self.tables.known(&self.hold, bytes, self.settings.type_conversions())?;
        if bound.conversion.is_some() {
            return None;
        }
        let bound = bound.clone();
        Some(self.append(bytes).map_err(GroupError::from).map(|at| self.use_table(at, bound)))
    }

    /// Takes a TABLE_MAP event.
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
        self.use_table(at, bound);
        Ok(())
    }

    /// Notes that the statement uses a table, whose TABLE_MAP event is at `at` of the events.
    #[inline]
    fn use_table(&mut self, at: usize, bound: Arc<Bound>) {
        group::set_table_id(&mut self.events, at, bound.table.id);
        match self.in_use.iter_mut().find(|(id, _)| *id == bound.source_id) {
            Some(entry) => entry.1 = bound,
            None => self.in_use.push((bound.source_id, bound)),
        }
    }

    /// Reports whether the events of a missing table are left out. For a group that is applied
    /// ahead the answer is no, because it is tried again in its turn.
    fn skips_table(&self, error: &BindError) -> bool {
        let skips = !self.ahead && self.settings.skipped_errors().skips_table(error);
        if skips {
            log::warn!("Replica SQL: events of a table are left out (replica_skip_errors): {error:?}");
        }
        skips
    }

    /// Returns the binding for a TABLE_MAP event, with the table held.
    fn bind(&mut self, bytes: &[u8], map: &TableMap<'_>) -> Result<Arc<Bound>, GroupError> {
        let allowed = self.settings.type_conversions();
        loop {
            let bound = self.tables.bind(&self.hold, bytes, map, allowed).map_err(GroupError::Table)?;
            match self.hold.hold(&bound.table, !self.ahead) {
                Ok(()) => return Ok(bound),
                // The table has changed between the look-up and the lock, and is looked up again.
                Err(EngineError::TableChanged(_)) => {}
                // The held tables are held for earlier groups only. With nothing held, the next
                // attempt waits.
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

    /// Returns the transaction for a statement, which takes the locks of its tables itself.
    pub fn take_for_statements(&mut self) -> Box<Transaction> {
        self.transaction.take().unwrap_or_else(|| self.hold.begin_apply_statements())
    }

    /// Reports whether the group has used no table yet.
    fn is_unused(&self) -> bool {
        self.transaction.is_none() && self.in_use.is_empty()
    }

    /// Waits for the table whose metadata lock was not granted at once, while no table is held, and
    /// returns true. Returns false when the last error was another one. The group must have been
    /// rolled back.
    pub fn wait_if_blocked(&mut self) -> Result<bool, EngineError> {
        let Some(table) = self.blocked.take() else { return Ok(false) };
        self.hold.release();
        let waited = self.hold.hold(&table, true);
        self.hold.release();
        match waited {
            // When another definition has taken the table's place, the table is looked up again.
            Ok(()) | Err(EngineError::TableChanged(_)) => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// Leaves out a row event that is filtered out, or whose rows are all left out. If it ends the
    /// statement, the last event that was kept must end the statement in this server's log.
    fn leave_out(&mut self, rows: &RowsEvent<'_>) {
        const FLAGS_OFFSET: usize = binlog::event::HEADER_LEN + 6;
        if rows.ends_statement() {
            if let Some(last) = self.last_rows {
                self.events[last + FLAGS_OFFSET] |= rows_flag::STMT_END as u8;
            }
            self.end_statement();
        }
    }

    /// Takes a row event.
    pub fn rows(&mut self, bytes: &[u8], rows: &RowsEvent<'_>) -> Result<(), GroupError> {
        if self.filtered.contains(&rows.table_id) {
            self.leave_out(rows);
            return Ok(());
        }
        if rows.table_id == binlog::event::DUMMY_TABLE_ID && rows.rows.is_empty() {
            // The event carries no rows and only ends a statement.
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

    /// Begins the transaction before its first row event, behind a statement that has created a
    /// table.
    pub fn begin_behind_definition(&mut self) {
        let mut transaction = self.take_for_rows();
        transaction.set_defines();
        self.transaction = Some(transaction);
    }

    /// Returns the transaction for row events.
    fn take_for_rows(&mut self) -> Box<Transaction> {
        match self.transaction.take() {
            Some(transaction) => transaction,
            None if self.ahead => self.hold.begin_apply_ahead(),
            None => self.hold.begin_apply(),
        }
    }

    /// Takes a row event that holds only the differences of JSON documents.
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
        let lacks_hidden = bound.conversion.as_ref().map(|known| known.only_adds_hidden(&table));
        if lacks_hidden == Some(false) {
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
        if lacks_hidden.is_some() || followed::may_have_followers(&transaction, &table, rows) {
            // Which rows follow, and what the hidden columns are, can only be worked out from whole
            // rows.
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

    /// Takes a row event that was rewritten.
    fn whole_rows(&mut self, bytes: &[u8], table: &Arc<Table>) -> Result<(), GroupError> {
        let header = Header::decode(bytes)?;
        match binlog::event::decode_body(&header, bytes)? {
            Event::Rows(rows) => self.own_rows(bytes, &rows, table),
            _ => Err(GroupError::NoTableMap),
        }
    }

    /// Takes a row event that leaves virtual columns out.
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

    /// Takes a row event whose columns are those of this server's table.
    fn own_rows(&mut self, bytes: &[u8], rows: &RowsEvent<'_>, table: &Arc<Table>) -> Result<(), GroupError> {
        if virtual_columns::are_missing(table, rows) {
            return self.rows_without_virtual(bytes, rows, table);
        }
        let mut transaction = self.take_for_rows();
        let (tolerance, before) = (self.settings.tolerance(), self.events.len());
        // An event that is applied ahead either applies all its rows or is applied again in its
        // turn.
        let is_strict = tolerance.is_strict() || (self.ahead && tolerance.mode == ExecMode::Strict);
        let state = os::account::enter(os::account::State::ApplyRow);
        let followed = followed::has_followers(&transaction, table, rows);
        let is_followed = matches!(followed, Ok(true));
        let applied = match is_strict {
            // CONVERGE meets rows that are further in history than the event, and these do not tell
            // what followed at the source.
            _ if is_followed && tolerance.mode == ExecMode::Converge => {
                Err(not_convergent(table, "rows of other tables follow the rows of this one"))
            }
            _ if !matches!(followed, Ok(false)) => followed.and_then(|_| match self.ahead {
                // Only in the group's turn is it known which rows follow.
                true => Err(EngineError::NeedsTurn),
                false => self.followed_rows(&mut transaction, bytes, rows, table),
            }),
            true => rows::apply(&mut transaction, table, rows),
            // Only in the group's turn is it known what is in the way of a row.
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
            // All rows of the event were left out.
            self.leave_out(rows);
        } else if rows.ends_statement() {
            self.end_statement();
        } else if is_followed {
            self.map_tables_again(bytes);
        }
        if !self.ahead && self.events.len() >= GATHERED_BYTES { self.hand_over() } else { Ok(()) }
    }

    /// Applies a row event whose rows other rows follow. The transaction writes the events of all
    /// these rows, behind the events that have arrived.
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

    /// Appends the table maps again, because the transaction has written a statement of its own and
    /// the rest of the source's statement begins anew behind it.
    fn map_tables_again(&mut self, bytes: &[u8]) {
        for (_, bound) in &self.in_use {
            self.events.extend_from_slice(&own_map(&bound.table, bytes));
        }
    }

    /// Gives the events so far to the transaction, which keeps many of them in a file. The last row
    /// event stays, because it may yet have to end its statement.
    fn hand_over(&mut self) -> Result<(), GroupError> {
        let Some(transaction) = &mut self.transaction else { return Ok(()) };
        let end = self.last_rows.unwrap_or(self.events.len());
        transaction.receive(&self.events[..end]).map_err(GroupError::Commit)?;
        self.events.drain(..end);
        self.last_rows = self.last_rows.map(|_| 0);
        Ok(())
    }
}

/// Returns the offset of the last of the whole events that follow `from`.
fn last_event(events: &[u8], from: usize) -> Option<usize> {
    let (mut last, mut at) = (None, from);
    for event in group::walk(&events[from..]).map_while(Result::ok) {
        last = Some(at);
        at += event.bytes.len();
    }
    last
}

/// Returns the TABLE_MAP event of this server's table, with the time and the server id of the
/// received one.
fn own_map(table: &Table, received: &[u8]) -> Vec<u8> {
    let mut map = table.table_map_event().to_vec();
    map[..4].copy_from_slice(&received[..4]);
    map[5..9].copy_from_slice(&received[5..9]);
    map
}
