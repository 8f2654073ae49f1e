//! HANDLER: tables that stay open, whose rows are read one by one in the order of an index.
//!
//! Each READ is a statement of its own, in the session's transaction if there is one. Between two
//! READs only the key of the last entry is kept, from which the next READ goes on, whatever has
//! changed meanwhile. DDL on the table by any session closes it, because the open table is then no
//! longer the one in the catalog.

use super::locked_tables::active_locks;
use super::rows::Rows;
use super::state::{HandlerPosition, OpenHandler};
use super::{Session, bound, program, results, xa};
use crate::ast::{self, BinaryOp, Handler, HandlerRead, HandlerStep, TableName};
use crate::bind::{Place, Scope, ScopeTable};
use crate::ddl::not_a;
use crate::error::{Result, SqlError};
use crate::expr::{Expr, Level, Node};
use crate::host::Privilege;
use crate::memory::{Charge, allocated};
use crate::sink::{ColumnMeta, ResultSink};
use engine::{
    Direction, IndexRef, KeyRange, LockMode, ObjectKind, StatementContext, Table, Transaction, Use,
};
use std::ops::Bound;
use std::sync::Arc;
use types::Value;

/// The error of a table that DDL has changed.
const TABLE_CHANGED: u16 = 1412;

/// Runs a HANDLER statement.
///
/// # Errors
/// Returns 1192 under LOCK TABLES, and 1399 and 3877 in an XA transaction. OPEN also returns 1066,
/// 1142, 1146, and 1031 and 1347 for what is no stored table. The others return 1109 for a table
/// that is not open, and READ also 1070, 1176 and 1210.
pub(super) fn run(session: &mut Session, handler: &Handler, sink: &mut dyn ResultSink) -> Result<()> {
    if session.locks.has_tables() {
        return Err(active_locks());
    }
    match handler {
        Handler::Open { table, alias } => {
            open(session, table, alias.as_deref().unwrap_or(&table.name))?;
            results::ok(session, sink)
        }
        Handler::Close(alias) => {
            let at = current(session, alias)?;
            session.handlers.remove(at);
            results::ok(session, sink)
        }
        Handler::Read { alias, what, filter, limit } => {
            let at = current(session, alias)?;
            xa::check_tables(session, std::slice::from_ref(&session.handlers.get(at).table))?;
            let reading = Reading::bind(session, at, what, filter.as_deref(), limit.as_deref())?;
            reading.run(session, at, sink)
        }
    }
}

fn open(session: &mut Session, name: &TableName, alias: &str) -> Result<()> {
    if session.handlers.find(alias).is_some() {
        return Err(SqlError::new(1066, format!("Not unique table/alias: '{alias}'")));
    }
    let schema = session.settings.schema_of(name)?;
    let table = match session.temporary.table(&schema, &name.name) {
        Some(table) => table,
        None => stored_table(session, &schema, name)?,
    };
    xa::check_tables(session, std::slice::from_ref(&table))?;
    let mut charge = Charge::new(&session.server.memory);
    charge.add(size_of::<OpenHandler>() + allocated(alias.len()))?;
    session.handlers.add(OpenHandler { alias: alias.to_owned(), table, reading: None, _charge: charge });
    Ok(())
}

fn stored_table(session: &Session, schema: &str, name: &TableName) -> Result<Arc<Table>> {
    let host = &session.server.host;
    if !host.has_column_privilege(Privilege::Select, schema, &name.name) {
        host.check_table(&[Privilege::Select], schema, &name.name)?;
    }
    let no_base_table = |name: &str| not_a("BASE TABLE", schema, name);
    let catalog = session.server.engine.catalog();
    if catalog.object(schema, ObjectKind::View, &name.name).is_some() {
        return Err(no_base_table(&name.name));
    }
    if crate::schema_tables::columns_of(&*session.server.host, schema, &name.name).is_some()
        && catalog.table(schema, &name.name).is_none()
    {
        return Err(match schema.eq_ignore_ascii_case("information_schema") {
            true => no_base_table(&name.name.to_uppercase()),
            false => {
                let text = format!("Table storage engine for '{}' doesn't have this option", name.name);
                SqlError::new(1031, text)
            }
        });
    }
    session.binder().stored_table(name)
}

/// Returns the position of the open table with this alias. A table that is no longer the one in the
/// catalog is closed.
fn current(session: &mut Session, alias: &str) -> Result<usize> {
    let unknown = || SqlError::new(1109, format!("Unknown table '{alias}' in HANDLER"));
    let at = session.handlers.find(alias).ok_or_else(unknown)?;
    let table = &session.handlers.get(at).table;
    let (schema, name) = (&table.def.schema, &table.def.name);
    let now = match table.is_temporary() {
        true => session.temporary.table(schema, name),
        false => session.server.engine.catalog().table(schema, name),
    };
    if now.is_some_and(|now| Arc::ptr_eq(&now, table)) {
        return Ok(at);
    }
    session.handlers.remove(at);
    Err(unknown())
}

/// A bound READ.
struct Reading {
    table: Arc<Table>,
    index: Option<IndexRef>,
    /// The range that is read. `None` means that there is nothing to read.
    range: Option<KeyRange>,
    direction: Direction,
    /// The position once the range has no further row.
    end: HandlerPosition,
    filter: Option<Expr>,
    skipped: u64,
    most: u64,
    /// The positions of the columns that are shown.
    shown: Vec<usize>,
    columns: Vec<ColumnMeta>,
}

impl Reading {
    fn bind(
        session: &mut Session,
        at: usize,
        what: &HandlerRead,
        filter: Option<&ast::Expr>,
        limit: Option<&ast::Limit>,
    ) -> Result<Reading> {
        let open = session.handlers.get(at);
        let (table, alias) = (open.table.clone(), open.alias.clone());
        if !table.is_temporary() {
            check_columns(session, &table)?;
        }
        let scope = Scope::of(ScopeTable::stored(&table, &alias, 0));
        let filter = filter.map(|written| bind_expr(session, written, &scope)).transpose()?;
        let number =
            |session: &mut Session, written: &ast::Expr| match program::evaluate_one(session, written)? {
                Value::UInt(n) => Ok(n),
                Value::Int(n) => Ok(u64::try_from(n).unwrap_or(0)),
                _ => Err(SqlError::new(1210, "Incorrect arguments to LIMIT")),
            };
        let most = limit.map_or(Ok(1), |limit| number(session, &limit.count))?;
        let offset = limit.and_then(|limit| limit.offset.as_ref());
        let skipped = offset.map_or(Ok(0), |offset| number(session, offset))?;
        let index = match what {
            HandlerRead::Table(_) => None,
            HandlerRead::Index(name, _) | HandlerRead::Key(name, ..) => {
                Some(find_index(&table, name, &alias)?)
            }
        };
        let (range, direction, end) = match what {
            HandlerRead::Table(step) | HandlerRead::Index(_, step) => {
                stepped(*step, session.handlers.get(at).reading.as_ref(), index)
            }
            HandlerRead::Key(_, op, values) => {
                let key = key_of(session, &table, index.unwrap_or(IndexRef::Primary), values, &scope)?;
                found(*op, &key)
            }
        };
        let visible = |at: &usize| !table.def.columns[*at].invisible;
        let shown: Vec<usize> = (0..table.def.columns.len()).filter(visible).collect();
        let of_table = &scope.tables[0];
        let describe = |at: &usize| scope.describe(&of_table.column(*at), &of_table.columns[*at].name);
        let columns = shown.iter().map(describe).collect();
        Ok(Reading { table, index, range, direction, end, filter, skipped, most, shown, columns })
    }

    fn run(self, session: &mut Session, at: usize, sink: &mut dyn ResultSink) -> Result<()> {
        session.statement.has_described.set(false);
        let mut transaction = session.transacting().take();
        let place = session.server.engine.enter_statement();
        let outcome = self.read(session, &mut transaction, sink);
        drop(place);
        let outcome = outcome.map_err(|error| match error.code {
            TABLE_CHANGED => {
                let alias = &session.handlers.get(at).alias;
                SqlError::new(1109, format!("Unknown table '{alias}' in HANDLER"))
            }
            _ => error,
        });
        let (position, sent) = bound::finish_statement(session, transaction, outcome, true)?;
        if let Some(position) = position {
            session.handlers.set_reading(at, self.index, position);
        }
        session.statement.row_count = -1;
        session.statement.found_rows = sent;
        sink.end_rows(results::end_of_rows(session))
    }

    /// Sends the rows. Returns the position that the reading has reached (`None` means that it has
    /// not moved), and the number of rows sent.
    fn read(
        &self,
        session: &Session,
        transaction: &mut Transaction,
        sink: &mut dyn ResultSink,
    ) -> Result<(Option<HandlerPosition>, u64)> {
        let ctx = session.context(&[], false);
        transaction.begin_statement(StatementContext { timestamp_us: ctx.now_us, rows_query: None });
        let described = &session.statement.has_described;
        let mut rows = Rows::new(&self.columns, &session.settings.variables, described, sink);
        let index = self.index.unwrap_or(IndexRef::Primary);
        let (mut position, mut sent, mut skipped) = (None, 0, 0);
        let mut values = vec![Value::Null; self.table.def.columns.len()];
        let all: Vec<usize> = (0..values.len()).collect();
        if let Some(range) = self.range.clone().filter(|_| self.most > 0) {
            let mut scan = transaction.scan(&self.table, index, range, self.direction, LockMode::Snapshot)?;
            let mut looked_at = 0;
            loop {
                looked_at += 1;
                ctx.forget_made();
                ctx.check_interrupt()?;
                let Some(row) = scan.next(transaction)? else {
                    position = Some(self.end.clone());
                    break;
                };
                position = Some(HandlerPosition::At(match index {
                    IndexRef::Primary => row.key,
                    IndexRef::Secondary(_) => scan.entry().key.to_vec(),
                }));
                self.table.layout.decode_columns(&row.image, &all, &mut values)?;
                if let Some(filter) = &self.filter
                    && !filter.holds(&values, &ctx)?
                {
                    continue;
                }
                if skipped < self.skipped {
                    skipped += 1;
                    continue;
                }
                let shown: Vec<Value> = self.shown.iter().map(|at| values[*at].clone()).collect();
                rows.row(&shown)?;
                sent += 1;
                if sent >= self.most {
                    break;
                }
            }
            session.server.counters.uses.add(self.table.usage(self.index), Use::Fetch, looked_at);
        }
        rows.finish()?;
        Ok((position, sent))
    }
}

/// Checks that the account may read all columns of a table.
///
/// # Errors
/// Returns 1142 or 1143 when it may not.
fn check_columns(session: &Session, table: &Table) -> Result<()> {
    let (schema, name) = (&table.def.schema, &table.def.name);
    let host = &session.server.host;
    if host.check_table(&[Privilege::Select], schema, name).is_ok() {
        return Ok(());
    }
    let named = &table.def.columns[..table.def.named_columns()];
    let mut columns = named.iter().map(|column| column.name.as_str());
    host.check_all_columns(Privilege::Select, schema, name, &mut columns)
}

/// Binds an expression over the columns of an open table.
fn bind_expr(session: &Session, written: &ast::Expr, scope: &Scope) -> Result<Expr> {
    let mut binder = session.binder();
    let bound = binder.expr(written, &mut Place::new(scope, "field list"))?;
    let mut diagnostics = session.statement.diagnostics.borrow_mut();
    for (code, text) in &binder.constants.complaints {
        diagnostics.push(Level::Warning, *code, text);
    }
    Ok(bound)
}

fn find_index(table: &Table, name: &str, alias: &str) -> Result<IndexRef> {
    let has_primary = !table.index_columns(IndexRef::Primary).is_empty();
    let index = match name.eq_ignore_ascii_case("PRIMARY") && has_primary {
        true => Some(IndexRef::Primary),
        false => {
            let at = table.def.indexes.iter().position(|index| index.name.eq_ignore_ascii_case(name));
            at.map(IndexRef::Secondary)
        }
    };
    let text = || format!("Key '{name}' doesn't exist in table '{alias}'");
    index.ok_or_else(|| SqlError::new(1176, text()))
}

/// Returns the range that FIRST, NEXT, PREV or LAST reads, and the position at its end.
fn stepped(
    step: HandlerStep,
    reading: Option<&(Option<IndexRef>, HandlerPosition)>,
    index: Option<IndexRef>,
) -> (Option<KeyRange>, Direction, HandlerPosition) {
    use HandlerPosition::{At, Before, End, Start};
    let position = reading.filter(|(of, _)| *of == index).map(|(_, position)| position.clone());
    let from = |start| Some(KeyRange { start, end: Bound::Unbounded });
    let until = |end| Some(KeyRange { start: Bound::Unbounded, end });
    let (range, direction) = match step {
        HandlerStep::First => (Some(KeyRange::all()), Direction::Forward),
        HandlerStep::Last => (Some(KeyRange::all()), Direction::Backward),
        HandlerStep::Next => {
            let range = match position.unwrap_or(Start) {
                Start => Some(KeyRange::all()),
                At(key) => from(Bound::Excluded(key)),
                Before(key) => from(Bound::Included(key)),
                End => None,
            };
            (range, Direction::Forward)
        }
        HandlerStep::Previous => {
            let range = match position.unwrap_or(End) {
                Start => None,
                At(key) | Before(key) => until(Bound::Excluded(key)),
                End => Some(KeyRange::all()),
            };
            (range, Direction::Backward)
        }
    };
    let end = if direction == Direction::Forward { End } else { Start };
    (range, direction, end)
}

/// Returns the range that a comparison with a key reads, and the position at its end.
fn found(op: BinaryOp, key: &[u8]) -> (Option<KeyRange>, Direction, HandlerPosition) {
    let (range, direction) = match op {
        BinaryOp::GreaterEqual => {
            (KeyRange::between(Bound::Included(key), Bound::Unbounded), Direction::Forward)
        }
        BinaryOp::Greater => (KeyRange::between(Bound::Excluded(key), Bound::Unbounded), Direction::Forward),
        BinaryOp::LessEqual => {
            (KeyRange::between(Bound::Unbounded, Bound::Included(key)), Direction::Backward)
        }
        BinaryOp::Less => (KeyRange::between(Bound::Unbounded, Bound::Excluded(key)), Direction::Backward),
        _ => {
            let range = KeyRange::prefix(key);
            let end = match &range.end {
                Bound::Excluded(key) | Bound::Included(key) => HandlerPosition::Before(key.clone()),
                Bound::Unbounded => HandlerPosition::End,
            };
            return (Some(range), Direction::Forward, end);
        }
    };
    let end = match direction {
        Direction::Forward => HandlerPosition::End,
        Direction::Backward => HandlerPosition::Start,
    };
    (Some(range), direction, end)
}

/// Returns the index key for these values of its first columns, converted as if they were stored.
fn key_of(
    session: &Session,
    table: &Table,
    index: IndexRef,
    values: &[ast::Expr],
    scope: &Scope,
) -> Result<Vec<u8>> {
    let parts = table.index_columns(index);
    if values.len() > parts.len() {
        let text = format!("Too many key parts specified; max {} parts allowed", parts.len());
        return Err(SqlError::new(1070, text));
    }
    let wrong = || SqlError::new(1210, "Incorrect arguments to HANDLER ... READ");
    let ctx = session.context(&[], false);
    let mut key = Vec::new();
    for (written, part) in values.iter().zip(parts) {
        if *written == ast::Expr::Default {
            return Err(wrong());
        }
        let bound = bind_expr(session, written, scope)?;
        if !is_constant(&bound) {
            return Err(wrong());
        }
        let column = &table.def.columns[part.column];
        // Of an array an element is looked for.
        let ty = column.elements.as_ref().unwrap_or(&column.ty);
        let value = bound.for_column(ty, None).eval(&[], &ctx)?.into_owned();
        let stored = types::convert::assign(&value, ty, ctx.conversion(false));
        let (stored, _) = stored.map_err(|_| wrong())?;
        types::key::encode_value(ty, &stored, column.nullable, part.prefix, &mut key).map_err(|_| wrong())?;
    }
    Ok(key)
}

/// Reports whether an expression has its value before anything is read.
fn is_constant(expr: &Expr) -> bool {
    let mut is_constant = !expr.varies();
    expr.visit(&mut |part| {
        is_constant &= match &part.node {
            Node::Slot(_)
            | Node::Outer(_)
            | Node::InsertedValue(_)
            | Node::Parameter(_)
            | Node::UserVariable(_)
            | Node::SystemVariable { .. }
            | Node::Stored { .. } => false,
            Node::Call { function, args } => {
                !crate::expr::functions::is_of_session(function.name, args.len())
            }
            _ => true,
        };
    });
    is_constant
}
