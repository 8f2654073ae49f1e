//! UPDATE, INSERT and DELETE of the tables of settings of performance_schema, which are not stored.
//!
//! The rows and the new values come from a query that has the statement's table and conditions, so
//! that every expression means what it means elsewhere. The host then carries out what has changed,
//! row by row: as in MySQL, what was done before an error stays.

use super::{Session, bound, results};
use crate::ast::{Assignment, Delete, Expr, Insert, InsertSource, Literal, Query};
use crate::ast::{QueryBody, SelectItem, Statement, TableName, TableRef, Update};
use crate::error::{Result, SqlError};
use crate::expr::Level;
use crate::host::{SetupAction, SetupChange};
use crate::memory::Charge;
use crate::parse::{Hints, parse};
use crate::schema_tables::{Declared, DeclaredColumn, declared};
use crate::sink::{ColumnMeta, EndOfRows, OkInfo, ResultSink};
use std::sync::Arc;
use types::Value;

/// A table of settings.
struct SetupTable {
    name: &'static str,
    /// The columns that name its rows.
    key: &'static [&'static str],
    /// The columns that may be set.
    settings: &'static [&'static str],
}

const TABLES: [SetupTable; 8] = [
    SetupTable { name: "setup_actors", key: &["HOST", "USER", "ROLE"], settings: &["ENABLED", "HISTORY"] },
    SetupTable { name: "setup_consumers", key: &["NAME"], settings: &["ENABLED"] },
    SetupTable { name: "setup_instruments", key: &["NAME"], settings: &["ENABLED", "TIMED", "FLAGS"] },
    SetupTable { name: "setup_loggers", key: &["NAME"], settings: &["LEVEL"] },
    SetupTable { name: "setup_meters", key: &["NAME"], settings: &["FREQUENCY", "ENABLED"] },
    SetupTable {
        name: "setup_objects",
        key: &["OBJECT_TYPE", "OBJECT_SCHEMA", "OBJECT_NAME"],
        settings: &["ENABLED", "TIMED"],
    },
    SetupTable { name: "setup_threads", key: &["NAME"], settings: &["ENABLED", "HISTORY"] },
    SetupTable { name: "threads", key: &["THREAD_ID"], settings: &["INSTRUMENTED", "HISTORY"] },
];

/// Returns the table of settings with this name.
fn table_of(session: &Session, name: &TableName) -> Option<&'static SetupTable> {
    let found = TABLES.iter().find(|table| table.name.eq_ignore_ascii_case(&name.name))?;
    let schema = session.settings.schema_of(name).ok()?;
    schema.eq_ignore_ascii_case("performance_schema").then_some(found)
}

/// Returns the table that a statement changes, if it is one of these.
fn changed_by(session: &Session, statement: &Statement) -> Option<&'static SetupTable> {
    let from = match statement {
        Statement::Insert(insert) => return table_of(session, &insert.table),
        Statement::Update(update) => &update.from,
        Statement::Delete(delete) if delete.targets.len() <= 1 => &delete.from,
        _ => return None,
    };
    let TableRef::Table { name, .. } = from else { return None };
    table_of(session, name)
}

/// Reports whether a statement changes one of these tables.
pub(in crate::session) fn is_changed_by(session: &Session, statement: &Statement) -> bool {
    changed_by(session, statement).is_some()
}

/// Collects the rows of the query.
struct Rows {
    rows: Vec<Vec<Value>>,
    charge: Charge,
}

impl ResultSink for Rows {
    fn columns(&mut self, _columns: &[ColumnMeta]) -> Result<()> {
        Ok(())
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        let long =
            row.iter().filter_map(|value| value.text_bytes(None)).map(|text| text.len()).sum::<usize>();
        self.charge.add(long + size_of_val(row))?;
        self.rows.push(row.to_vec());
        Ok(())
    }

    fn end_rows(&mut self, _end: EndOfRows) -> Result<()> {
        Ok(())
    }

    fn ok(&mut self, _info: &mut OkInfo) -> Result<()> {
        Ok(())
    }
}

/// Runs a statement that changes one of these tables.
///
/// # Errors
/// Returns 1142 where the account or MySQL does not allow it, 1683 for a column that is no setting,
/// 1265 for a value that is neither YES nor NO, 1022 for a row that is there, and the errors of the
/// query.
#[inline(never)]
pub(super) fn change(session: &mut Session, statement: &Statement, sink: &mut dyn ResultSink) -> Result<()> {
    let not_here = || SqlError::not_supported("a change of this table");
    let table = changed_by(session, statement).ok_or_else(not_here)?;
    let declared = declared("performance_schema", table.name).ok_or_else(not_here)?;
    let action = match statement {
        Statement::Insert(insert) if insert.replace => SetupAction::Replace,
        Statement::Insert(_) => SetupAction::Insert,
        Statement::Update(_) => SetupAction::Update,
        _ => SetupAction::Delete,
    };
    session.server.host.check_setup(action, table.name)?;
    let change = Change { table, declared };
    match statement {
        Statement::Insert(insert) => change.insert(session, insert, sink),
        Statement::Update(update) => change.update(session, update, sink),
        Statement::Delete(delete) => change.delete(session, delete, sink),
        _ => Err(not_here()),
    }
}

/// The table of a change.
struct Change {
    table: &'static SetupTable,
    declared: &'static Declared,
}

impl Change {
    fn column(&self, name: &str) -> Result<&'static DeclaredColumn> {
        let found = self.declared.columns.iter().find(|column| column.name.eq_ignore_ascii_case(name));
        found.ok_or_else(|| SqlError::new(1054, format!("Unknown column '{name}' in 'field list'")))
    }

    fn update(&self, session: &mut Session, update: &Update, sink: &mut dyn ResultSink) -> Result<()> {
        let rows = rows_of(session, &self.query_of_update(update)?)?;
        let mut changed_rows = 0;
        for (row, number) in rows.iter().zip(1..) {
            if self.update_row(session, update, row, number)? {
                changed_rows += 1;
            }
        }
        session.statement.row_count = changed_rows as i64;
        let (found, warnings) = (rows.len(), session.warning_count());
        let info = format!("Rows matched: {found}  Changed: {changed_rows}  Warnings: {warnings}");
        results::ok_of_update(session, changed_rows, info, sink)
    }

    /// Changes a row of the query of an UPDATE. Returns false where it has the new values already.
    fn update_row(&self, session: &Session, update: &Update, row: &[Value], number: u64) -> Result<bool> {
        let (key, values) = row.split_at(self.table.key.len());
        let mut changed = Vec::new();
        for (assignment, values) in update.assignments.iter().zip(values.chunks_exact(2)) {
            let column = self.column(&assignment.column)?;
            let new = stored(session, &values[1], column, number, update.ignore)?;
            // The last one of several assignments to a column is the one that counts.
            changed.retain(|(earlier, _): &(&str, Option<String>)| *earlier != column.name);
            if new != text_or_none(&values[0]) {
                changed.push((column.name, new));
            }
        }
        if changed.iter().any(|(column, _)| !self.table.settings.contains(column)) {
            return Err(SqlError::new(1683, "Invalid performance_schema usage."));
        }
        let key: Vec<String> = key.iter().map(text_of).collect();
        for (column, new) in &changed {
            let (key, new) = (key.as_slice(), new.as_deref().unwrap_or_default());
            let change = SetupChange::Set { key, column, value: new };
            session.server.host.change_setup(self.table.name, change)?;
        }
        Ok(!changed.is_empty())
    }

    /// Returns the query of the rows that an UPDATE finds: what names the row, and for each
    /// assignment the present and the new value.
    fn query_of_update(&self, update: &Update) -> Result<Query> {
        let column = |name: &str| format!("`{}`", name.replace('`', "``"));
        let mut items: Vec<String> = self.table.key.iter().map(|name| column(name)).collect();
        for assignment in &update.assignments {
            items.extend([column(&assignment.column), "NULL".to_owned()]);
        }
        let mut query = query_of(&format!("SELECT {} FROM t", items.join(", ")))?;
        if let QueryBody::Select(select) = &mut query.body {
            select.from = Some(update.from.clone());
            select.filter = update.filter.clone();
            for (at, assignment) in update.assignments.iter().enumerate() {
                select.items[self.table.key.len() + 2 * at + 1] = item(self.new_value(assignment)?);
            }
        }
        query.with = update.with.clone();
        query.order_by = update.order_by.clone();
        query.limit = update.limit.clone();
        Ok(query)
    }

    fn new_value(&self, assignment: &Assignment) -> Result<Expr> {
        match &assignment.value {
            Expr::Default => Ok(default_of(self.column(&assignment.column)?)),
            value => Ok(value.clone()),
        }
    }

    fn delete(&self, session: &mut Session, delete: &Delete, sink: &mut dyn ResultSink) -> Result<()> {
        let mut query = query_of(&format!("SELECT {} FROM t", self.table.key.join(", ")))?;
        if let QueryBody::Select(select) = &mut query.body {
            select.from = Some(delete.from.clone());
            select.filter = delete.filter.clone();
        }
        query.with = delete.with.clone();
        query.order_by = delete.order_by.clone();
        query.limit = delete.limit.clone();
        let rows = rows_of(session, &query)?;
        for row in &rows {
            let key: Vec<String> = row.iter().map(text_of).collect();
            session.server.host.change_setup(self.table.name, SetupChange::Delete { key: &key })?;
        }
        session.statement.row_count = rows.len() as i64;
        results::ok_of_update(session, rows.len() as u64, String::new(), sink)
    }

    fn insert(&self, session: &mut Session, insert: &Insert, sink: &mut dyn ResultSink) -> Result<()> {
        let columns = self.columns_of(insert)?;
        let rows = match &insert.source {
            InsertSource::Query(query) => rows_of(session, query)?,
            InsertSource::Values(rows) => {
                let mut all = Vec::new();
                for (row, number) in rows.iter().zip(1..) {
                    check_count(&columns, row.len(), number, row.is_empty())?;
                    all.push(self.values_of(session, &columns, row)?);
                }
                all
            }
            InsertSource::Literals(rows) => {
                rows.rows().map(|row| row.iter().map(|cell| rows.value(*cell)).collect()).collect()
            }
        };
        let (mut inserted, mut duplicates) = (0, 0);
        for (row, number) in rows.iter().zip(1..) {
            check_count(&columns, row.len(), number, row.is_empty())?;
            match self.insert_row(session, &columns, row, (number, insert.ignore)) {
                Err(error) if insert.ignore && error.code == DUPLICATE => {
                    let text = error.message;
                    session.statement.diagnostics.borrow_mut().push(Level::Warning, error.code, text);
                    duplicates += 1;
                }
                other => {
                    other?;
                    inserted += 1;
                }
            }
        }
        session.statement.row_count = inserted as i64;
        let is_one = rows.len() == 1 && !matches!(insert.source, InsertSource::Query(_));
        let warnings = session.warning_count();
        let info = match is_one {
            true => String::new(),
            false => format!("Records: {}  Duplicates: {duplicates}  Warnings: {warnings}", rows.len()),
        };
        results::ok_of_update(session, inserted, info, sink)
    }

    /// Returns the columns that an INSERT gives values for.
    fn columns_of(&self, insert: &Insert) -> Result<Vec<&'static DeclaredColumn>> {
        let Some(names) = &insert.columns else { return Ok(self.declared.columns.iter().collect()) };
        let columns: Vec<_> = names.iter().map(|name| self.column(name)).collect::<Result<_>>()?;
        for (at, column) in columns.iter().enumerate() {
            if columns[..at].iter().any(|earlier| earlier.name == column.name) {
                return Err(SqlError::new(1110, format!("Column '{}' specified twice", names[at])));
            }
        }
        Ok(columns)
    }

    /// Evaluates the expressions of a row of VALUES.
    fn values_of(
        &self,
        session: &mut Session,
        columns: &[&'static DeclaredColumn],
        row: &[Expr],
    ) -> Result<Vec<Value>> {
        if row.is_empty() {
            return Ok(Vec::new());
        }
        let mut query = query_of(&format!("SELECT {}", vec!["NULL"; row.len()].join(", ")))?;
        if let QueryBody::Select(select) = &mut query.body {
            for (at, expr) in row.iter().enumerate() {
                let expr = match expr {
                    Expr::Default => default_of(columns[at]),
                    expr => expr.clone(),
                };
                select.items[at] = item(expr);
            }
        }
        Ok(rows_of(session, &query)?.pop().unwrap_or_default())
    }

    fn insert_row(
        &self,
        session: &Session,
        columns: &[&'static DeclaredColumn],
        row: &[Value],
        (number, ignore): (u64, bool),
    ) -> Result<()> {
        let mut values = Vec::new();
        for column in &self.declared.columns {
            let given = columns.iter().position(|given| given.name == column.name).and_then(|at| row.get(at));
            let value = match given {
                Some(value) => stored(session, value, column, number, ignore)?,
                None => column.default.map(str::to_owned),
            };
            values.push(value.unwrap_or_default());
        }
        session.server.host.change_setup(self.table.name, SetupChange::Insert { row: &values })
    }
}

/// `ER_DUP_KEY`
const DUPLICATE: u16 = 1022;

fn check_count(columns: &[&DeclaredColumn], count: usize, row: u64, is_empty: bool) -> Result<()> {
    if count == columns.len() || is_empty {
        return Ok(());
    }
    Err(SqlError::new(1136, format!("Column count doesn't match value count at row {row}")))
}

/// Returns the text of a value as the column keeps it.
fn stored(
    session: &Session,
    value: &Value,
    column: &DeclaredColumn,
    row: u64,
    ignore: bool,
) -> Result<Option<String>> {
    let warn = |code, text| session.statement.diagnostics.borrow_mut().push(Level::Warning, code, text);
    if value.is_null() && !column.nullable {
        let error = SqlError::column_not_null(column.name);
        if !ignore {
            return Err(error);
        }
        warn(error.code, error.message);
        return Ok(Some(String::new()));
    }
    let ctx = session.context(&[], false);
    let strict = ctx.variables.sql_mode.strict() && !ignore;
    match types::convert::assign(value, &column.ty, ctx.conversion(strict)) {
        Ok((value, warning)) => {
            if let Some(warning) = warning {
                warn(warning.problem.code(), warning.problem.message(column.name, row));
            }
            Ok(text_or_none(&value))
        }
        Err(problem) => Err(SqlError::new(problem.code(), problem.message(column.name, row))),
    }
}

/// Returns what DEFAULT stands for.
fn default_of(column: &DeclaredColumn) -> Expr {
    let first = || column.ty.members.as_ref().and_then(|members| members.first());
    let text = match column.default {
        Some(text) => Some(text.to_owned()),
        None if column.nullable => None,
        None => Some(first().cloned().unwrap_or_default()),
    };
    Expr::Literal(text.map_or(Literal::Null, |text| Literal::Text(text.into_bytes(), None)))
}

fn item(expr: Expr) -> SelectItem {
    SelectItem::Expr { expr, alias: None, text: String::new() }
}

fn query_of(text: &str) -> Result<Query> {
    match parse(text.as_bytes(), Default::default())?.map(|parsed| parsed.statement) {
        Some(Statement::Query(query)) => Ok(query),
        _ => Err(SqlError::not_supported("this statement")),
    }
}

/// Returns the rows of a query that has the statement's parameters.
fn rows_of(session: &mut Session, query: &Query) -> Result<Vec<Vec<Value>>> {
    let query = Statement::Query(query.clone());
    let bound = Arc::new(bound::bind_hinted(session, &query, &Hints::default())?);
    let parameters = session.parameters.arguments.values.clone();
    let mut rows = Rows { rows: Vec::new(), charge: Charge::new(&session.server.memory) };
    bound::run(session, &bound, &parameters, b"", &mut rows)?;
    Ok(rows.rows)
}

fn text_of(value: &Value) -> String {
    text_or_none(value).unwrap_or_default()
}

fn text_or_none(value: &Value) -> Option<String> {
    value.text_bytes(None).map(|text| String::from_utf8_lossy(&text).into_owned())
}
