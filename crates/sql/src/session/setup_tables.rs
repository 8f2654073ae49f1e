//! UPDATE of performance_schema's tables of settings, which are no stored tables.
//!
//! The rows and the new values come from a query that has the statement's table and conditions, so
//! that every expression means what it means elsewhere. The host then carries out what has changed.

use super::{Session, bound, results};
use crate::ast::{QueryBody, SelectItem, Statement, TableName, TableRef, Update};
use crate::error::{Result, SqlError};
use crate::parse::{Hints, parse};
use crate::sink::{ColumnMeta, EndOfRows, OkInfo, ResultSink};
use std::sync::Arc;
use types::Value;

/// The tables, and the column that names their rows where the host is told of rows.
const TABLES: [(&str, Option<&str>); 6] = [
    ("setup_actors", None),
    ("setup_consumers", Some("NAME")),
    ("setup_instruments", Some("NAME")),
    ("setup_objects", None),
    ("setup_threads", Some("NAME")),
    ("threads", None),
];

/// The columns that may be set.
const COLUMNS: [&str; 5] = ["ENABLED", "TIMED", "HISTORY", "INSTRUMENTED", "PROPERTIES"];

/// Returns the table that an UPDATE changes, if it is one of these.
fn table_of<'u>(session: &Session, update: &'u Update) -> Option<(&'u TableName, Option<&'static str>)> {
    let TableRef::Table { name, .. } = &update.from else { return None };
    let schema = session.settings.schema_of(name).ok()?;
    let (_, key) = TABLES.iter().find(|(table, _)| table.eq_ignore_ascii_case(&name.name))?;
    schema.eq_ignore_ascii_case("performance_schema").then_some((name, *key))
}

/// Reports whether a statement changes one of these tables.
pub(super) fn is_changed_by(session: &Session, statement: &Statement) -> bool {
    matches!(statement, Statement::Update(update) if table_of(session, update).is_some())
}

/// Collects the rows of the query.
#[derive(Default)]
struct Rows(Vec<Vec<Value>>);

impl ResultSink for Rows {
    fn columns(&mut self, _columns: &[ColumnMeta]) -> Result<()> {
        Ok(())
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        self.0.push(row.to_vec());
        Ok(())
    }

    fn end_rows(&mut self, _end: EndOfRows) -> Result<()> {
        Ok(())
    }

    fn ok(&mut self, _info: &mut OkInfo) -> Result<()> {
        Ok(())
    }
}

/// Runs the UPDATE.
///
/// # Errors
/// Returns 1683 for a column that is no setting, 1265 for a value that is neither YES nor NO, 1235
/// for a setting that cannot be changed here, and the errors of the query.
#[inline(never)]
pub(super) fn update(session: &mut Session, update: &Update, sink: &mut dyn ResultSink) -> Result<()> {
    let Some((table, key)) = table_of(session, update) else {
        return Err(SqlError::not_supported("UPDATE of this table"));
    };
    session.server.host.check_setup(&table.name)?;
    let query = Statement::Query(query_of(update, key)?);
    let bound = Arc::new(bound::bind_hinted(session, &query, &Hints::default())?);
    let is_known = |column: &str| COLUMNS.iter().any(|known| known.eq_ignore_ascii_case(column));
    if !update.assignments.iter().all(|assignment| is_known(&assignment.column)) {
        return Err(SqlError::new(1683, "Invalid performance_schema usage."));
    }
    let mut rows = Rows::default();
    bound::run(session, &bound, &[], b"", &mut rows)?;
    let changes = changes(&rows.0, update)?;
    let changed_rows = changes.iter().filter(|row| !row.is_empty()).count();
    for (row, changes) in rows.0.iter().zip(&changes) {
        for (column, on) in changes {
            session.server.host.change_setup(&table.name, &text_of(&row[0]), column, *on)?;
        }
    }
    session.statement.row_count = changed_rows as i64;
    let found = rows.0.len();
    let warnings = session.warning_count();
    let info = format!("Rows matched: {found}  Changed: {changed_rows}  Warnings: {warnings}");
    results::ok_of_update(session, changed_rows as u64, info, sink)
}

/// Returns the settings of each row that get another value.
fn changes<'u>(rows: &[Vec<Value>], update: &'u Update) -> Result<Vec<Vec<(&'u str, bool)>>> {
    let of_row = |(number, row): (usize, &Vec<Value>)| {
        let mut changed = Vec::new();
        for (at, assignment) in update.assignments.iter().enumerate() {
            let (now, new) = (text_of(&row[1 + 2 * at]), text_of(&row[2 + 2 * at]));
            let on = match new.to_ascii_uppercase().as_str() {
                "YES" => true,
                "NO" => false,
                _ => {
                    let (column, row) = (&assignment.column, number + 1);
                    let text = format!("Data truncated for column '{column}' at row {row}");
                    return Err(SqlError::new(1265, text));
                }
            };
            if !now.eq_ignore_ascii_case(&new) {
                changed.push((assignment.column.as_str(), on));
            }
        }
        Ok(changed)
    };
    rows.iter().enumerate().map(of_row).collect()
}

fn text_of(value: &Value) -> String {
    value.text_bytes(None).map(|text| String::from_utf8_lossy(&text).into_owned()).unwrap_or_default()
}

/// Returns the query of the rows that the UPDATE finds: the name of the row, and for each
/// assignment the present and the new value.
fn query_of(update: &Update, key: Option<&str>) -> Result<crate::ast::Query> {
    let quoted = |name: &str| format!("`{}`", name.replace('`', "``"));
    let mut text = format!("SELECT {}", key.map_or("''".to_owned(), quoted));
    for assignment in &update.assignments {
        text.push_str(&format!(", {}, NULL", quoted(&assignment.column)));
    }
    text.push_str(" FROM t");
    let parsed = parse(text.as_bytes(), Default::default())?;
    let Some(Statement::Query(mut query)) = parsed.map(|parsed| parsed.statement) else {
        return Err(SqlError::not_supported("this UPDATE"));
    };
    if let QueryBody::Select(select) = &mut query.body {
        select.from = Some(update.from.clone());
        select.filter = update.filter.clone();
        for (at, assignment) in update.assignments.iter().enumerate() {
            let (expr, text) = (assignment.value.clone(), String::new());
            select.items[2 + 2 * at] = SelectItem::Expr { expr, alias: None, text };
        }
    }
    query.with = update.with.clone();
    query.order_by = update.order_by.clone();
    query.limit = update.limit.clone();
    Ok(query)
}
