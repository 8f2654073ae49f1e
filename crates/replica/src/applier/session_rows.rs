//! The row events that a client sends with BINLOG statements, as `mysqlbinlog` prints them.
//!
//! They are bound to tables, converted and completed like those of a source. But the rows are
//! changed as the session's own statements would change them: foreign keys are checked and followed
//! unless the event says that they were off, and the transaction writes events of its own. So the
//! log says what was done here, whatever the events left out.

use std::sync::Arc;

use binlog::event::{
    DUMMY_TABLE_ID, Event, HEADER_LEN, Header, PartialUpdateEvent, RowsEvent, RowsKind, TableMap, rows_flag,
};
use engine::{Engine, EngineError, PartialRow, Table, Transaction};
use sql::{Privilege, Rights, RowEvents, SqlError, VirtualColumns};
use types::ColumnMask;

use super::bind_error::BindError;
use super::computed::is_of_computed_table;
use super::report::GroupError;
use super::rows::{check_columns, incompatible};
use super::tables::{Bound, table_of};
use super::type_conversions::TypeConversions;
use super::{partial_rows, virtual_columns};

/// The row events of one BINLOG statement.
pub struct SessionRows {
    engine: Arc<Engine>,
    allowed: TypeConversions,
    /// Whether rows that are in the way are replaced, and missing rows are passed over
    /// (`rbr_exec_mode=IDEMPOTENT`).
    idempotent: bool,
    /// The tables that TABLE_MAP events have named, by the ids of these events.
    tables: Vec<(u64, Arc<Bound>)>,
    /// The means to compute columns that row images leave out, made when it is first needed.
    virtual_columns: Option<VirtualColumns>,
}

impl SessionRows {
    /// Builds the applier of one statement. `allowed` says how far types of columns may differ from
    /// the events'.
    pub fn new(engine: Arc<Engine>, allowed: TypeConversions, idempotent: bool) -> SessionRows {
        SessionRows { engine, allowed, idempotent, tables: Vec::new(), virtual_columns: None }
    }

    fn take(&mut self, transaction: &mut Transaction, bytes: &[u8]) -> Result<(), GroupError> {
        let header = Header::decode(bytes)?;
        match binlog::event::decode_body(&header, bytes)? {
            Event::TableMap(map) => self.table_map(transaction, bytes, &map),
            Event::Rows(rows) => self.rows(transaction, bytes, &rows),
            Event::PartialUpdate(event) => {
                let Some(bound) = self.bound(&event.0) else { return Ok(()) };
                if bound.conversion.as_ref().is_some_and(|known| !known.only_adds_hidden(&bound.table)) {
                    let error = incompatible(&bound.table, "the source's columns are others".to_string());
                    return Err(refused(&event.0, &bound.table)(error));
                }
                let whole = partial_rows::whole_event(transaction, &bound.table, &header, &event)?;
                self.own_rows(transaction, &whole, &bound.table)
            }
            _ => Ok(()),
        }
    }

    /// Looks the table of a TABLE_MAP event up, and keeps its definition from changing until the
    /// transaction ends.
    fn table_map(
        &mut self,
        transaction: &mut Transaction,
        bytes: &[u8],
        map: &TableMap<'_>,
    ) -> Result<(), GroupError> {
        self.tables.retain(|(id, _)| *id != map.table_id);
        let body = bytes.get(HEADER_LEN + 6..).unwrap_or_default();
        loop {
            let table = match table_of(&self.engine, map) {
                Err(error) if is_of_computed_table(&error) => return Ok(()),
                table => table.map_err(GroupError::Table)?,
            };
            match transaction.use_tables([&table], []) {
                // The table has changed between the look-up and the lock, and is looked up again.
                Err(EngineError::TableChanged(_)) => {}
                Err(error) => return Err(GroupError::Held(table.qualified_name().to_string(), error)),
                Ok(()) => {
                    let bound = Bound::of(map, body, table, self.allowed).map_err(GroupError::Table)?;
                    self.tables.push((map.table_id, Arc::new(bound)));
                    return Ok(());
                }
            }
        }
    }

    fn bound(&self, rows: &RowsEvent<'_>) -> Option<Arc<Bound>> {
        self.tables.iter().find(|(id, _)| *id == rows.table_id).map(|(_, bound)| bound.clone())
    }

    /// Checks that an account may change the rows of a row event.
    fn check_rights(&self, bytes: &[u8], rights: &dyn Rights) -> sql::Result<()> {
        let event = Header::decode(bytes).and_then(|header| binlog::event::decode_body(&header, bytes));
        let Ok(Event::Rows(rows) | Event::PartialUpdate(PartialUpdateEvent(rows))) = &event else {
            return Ok(());
        };
        let Some(bound) = self.bound(rows) else { return Ok(()) };
        let wanted = match rows.kind {
            RowsKind::Write => Privilege::Insert,
            RowsKind::Update => Privilege::Update,
            RowsKind::Delete => Privilege::Delete,
        };
        let def = &bound.table.def;
        rights.check_table(&[wanted], &def.schema, &def.name).map_err(|error| unknown(&error.message))
    }

    /// Takes a row event. It is rewritten where the columns of this server's table are others.
    fn rows(
        &mut self,
        transaction: &mut Transaction,
        bytes: &[u8],
        rows: &RowsEvent<'_>,
    ) -> Result<(), GroupError> {
        if rows.table_id == DUMMY_TABLE_ID {
            return Ok(());
        }
        let Some(bound) = self.bound(rows) else { return Ok(()) };
        let Some(conversion) = &bound.conversion else {
            return self.own_rows(transaction, bytes, &bound.table);
        };
        let mut converted = Vec::new();
        conversion
            .rewrite(&bound.table, &Header::decode(bytes)?, rows, &mut converted)
            .map_err(|reason| refused(rows, &bound.table)(incompatible(&bound.table, reason)))?;
        self.own_rows(transaction, &converted, &bound.table)
    }

    /// Takes a row event whose columns are those of this server's table.
    fn own_rows(
        &mut self,
        transaction: &mut Transaction,
        bytes: &[u8],
        table: &Arc<Table>,
    ) -> Result<(), GroupError> {
        let header = Header::decode(bytes)?;
        let Event::Rows(rows) = binlog::event::decode_body(&header, bytes)? else { return Ok(()) };
        let is_on = |flag| rows.flags & flag == 0;
        transaction
            .set_checks(is_on(rows_flag::NO_FOREIGN_KEY_CHECKS), is_on(rows_flag::RELAXED_UNIQUE_CHECKS));
        if !virtual_columns::are_missing(table, &rows) {
            return self.change(transaction, table, &rows).map_err(refused(&rows, table));
        }
        let engine = self.engine.clone();
        let columns = self.virtual_columns.get_or_insert_with(|| VirtualColumns::new(engine));
        let whole = virtual_columns::whole_event(transaction, columns, table, &header, &rows)
            .map_err(refused(&rows, table))?;
        let header = Header::decode(&whole)?;
        match binlog::event::decode_body(&header, &whole)? {
            Event::Rows(rows) => self.change(transaction, table, &rows).map_err(refused(&rows, table)),
            _ => Ok(()),
        }
    }

    /// Changes the rows of the event, one after the other.
    fn change(
        &self,
        transaction: &mut Transaction,
        table: &Arc<Table>,
        event: &RowsEvent<'_>,
    ) -> Result<(), EngineError> {
        check_columns(table, event)?;
        let none = ColumnMask::empty(table.columns());
        let (before_mask, after_mask) = (event.before_mask(), event.after_mask());
        let before_mask = before_mask.as_ref().unwrap_or(&none);
        let after_mask = after_mask.as_ref().unwrap_or(&none);
        for row in event.iter(&table.layout) {
            transaction.check_interrupt()?;
            let row = row.map_err(|error| incompatible(table, error.to_string()))?;
            let before = PartialRow { mask: before_mask, image: row.before.unwrap_or_default() };
            let after = PartialRow { mask: after_mask, image: row.after.unwrap_or_default() };
            let changed = match event.kind {
                RowsKind::Write => self.insert(transaction, table, after),
                RowsKind::Update => update(transaction, table, before, after),
                RowsKind::Delete => {
                    let found = transaction.find_row(table, before);
                    found.and_then(|found| transaction.delete(table, &found))
                }
            };
            match changed {
                Err(EngineError::RowNotFound { .. }) if self.idempotent => {}
                changed => changed?,
            }
        }
        Ok(())
    }

    fn insert(
        &self,
        transaction: &mut Transaction,
        table: &Arc<Table>,
        after: PartialRow<'_>,
    ) -> Result<(), EngineError> {
        let image = table.inserted_image(after)?;
        loop {
            let index = match transaction.insert(table, &image) {
                Err(EngineError::Duplicate { index, .. }) if self.idempotent => index,
                other => return other,
            };
            // A row that is gone again is in nobody's way.
            if let Some(row) = transaction.row_in_the_way(table, &image, &index)? {
                transaction.delete(table, &row)?;
            }
        }
    }
}

fn update(
    transaction: &mut Transaction,
    table: &Arc<Table>,
    before: PartialRow<'_>,
    after: PartialRow<'_>,
) -> Result<(), EngineError> {
    let found = transaction.find_row(table, before)?;
    table.layout.check_values(after.mask, after.image)?;
    let mut image = Vec::with_capacity(found.image.len() + after.image.len());
    table.layout.splice(&found.image, after.mask, after.image, &mut image)?;
    transaction.update(table, &found, &image)
}

fn refused<'e>(event: &RowsEvent<'_>, table: &'e Table) -> impl Fn(EngineError) -> GroupError + use<'e> {
    let kind = event.kind;
    move |error| GroupError::Row(kind, table.qualified_name().to_string(), error)
}

impl RowEvents for SessionRows {
    fn apply(
        &mut self,
        transaction: &mut Transaction,
        event: &[u8],
        rights: Option<&dyn Rights>,
    ) -> sql::Result<()> {
        if let Some(rights) = rights {
            self.check_rights(event, rights)?;
        }
        self.take(transaction, event).map_err(client_error)
    }
}

/// Returns the error that MySQL sends to the client of a BINLOG statement.
fn client_error(error: GroupError) -> SqlError {
    match error {
        GroupError::Damaged(_) | GroupError::Table(BindError::Damaged(_)) => SqlError::not_an_event(),
        GroupError::NoTableMap => unknown("a row event without its table map event"),
        GroupError::Table(BindError::NoSuchTable(schema, table)) => {
            SqlError::new(1146, format!("Table '{schema}.{table}' doesn't exist"))
        }
        GroupError::Table(BindError::ColumnType { table, column, theirs, ours }) => unknown(&format!(
            "Column {column} of table '{table}' cannot be converted from type '{theirs}' to type '{ours}'"
        )),
        GroupError::Row(_, table, EngineError::RowNotFound { .. }) | GroupError::NotInScan(_, table) => {
            let name = table.split_once('.').map_or(table.as_str(), |(_, name)| name);
            SqlError::new(1032, format!("Can't find record in '{name}'"))
        }
        GroupError::Row(_, _, EngineError::Incompatible { reason, .. }) => unknown(&reason),
        GroupError::Row(_, _, error) | GroupError::Held(_, error) | GroupError::Commit(error) => error.into(),
        GroupError::Json(table, column, error) => unknown(&format!(
            "the differences of the document in column {column} of table '{table}' do not fit: {error}"
        )),
    }
}

/// Builds error 1105, which MySQL returns without a reason.
fn unknown(why: &str) -> SqlError {
    SqlError::new(1105, format!("Unknown error: {why}"))
}
