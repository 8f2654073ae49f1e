//! ANALYZE, CHECK, OPTIMIZE, REPAIR and CHECKSUM TABLE.

use super::{Session, checksum};
use crate::ast::{Maintenance, TableName};
use crate::bind::view_plan;
use crate::ddl::not_a;
use crate::error::{Result, SqlError};
use crate::host::VirtualTable;
use crate::result_column::column_meta;
use crate::sink::ColumnMeta;
use engine::{EngineError, Isolation, Object, ObjectKind, Table};
use std::sync::Arc;
use types::{ColumnType, Value, collation};

/// Runs the statement on one table after the other, and returns the result set.
///
/// # Errors
/// Returns the errors that end the statement. What is wrong with a table is told in the rows, and
/// by CHECKSUM TABLE in the warnings.
pub(super) fn run(session: &mut Session, what: Maintenance, tables: &[TableName]) -> Result<VirtualTable> {
    if matches!(what, Maintenance::Optimize | Maintenance::Repair) {
        session.settings.check_writable()?;
    }
    let mut named = Vec::with_capacity(tables.len());
    for name in tables {
        let schema = session.settings.schema_of(name)?;
        if named.contains(&(schema.clone(), &name.name)) {
            return Err(SqlError::new(1066, format!("Not unique table/alias: '{}'", name.name)));
        }
        named.push((schema, &name.name));
    }
    let mut rows = Vec::new();
    for (schema, name) in named {
        let shown = format!("{schema}.{name}");
        let found = find(session, &schema, name);
        if let Maintenance::Checksum { quick } = what {
            let sum = match found {
                Ok(table) if !quick => Value::UInt(checksum::of_table(session, &table)?),
                Ok(_) => Value::Null,
                Err(error) => {
                    session.statement.diagnostics.borrow_mut().push_error(&error);
                    Value::Null
                }
            };
            rows.push(vec![Value::text(&shown), sum]);
            continue;
        }
        for (kind, text) in maintained(session, what, &schema, name, found)? {
            rows.push(vec![
                Value::text(&shown),
                Value::text(operation(what)),
                Value::text(kind),
                Value::text(&text),
            ]);
        }
    }
    Ok(VirtualTable { columns: columns(what), rows })
}

/// Returns the temporary or stored base table with this name, or the error that says what is there
/// instead.
fn find(session: &Session, schema: &str, name: &str) -> Result<Arc<Table>> {
    let catalog = session.server.engine.catalog();
    if let Some(table) = session.temporary.table(schema, name).or_else(|| catalog.table(schema, name)) {
        return Ok(table);
    }
    if view(session, schema, name).is_some() {
        return Err(not_a("BASE TABLE", schema, name));
    }
    if catalog.schema(schema).is_none() {
        return Err(SqlError::unknown_schema(schema));
    }
    Err(SqlError::no_such_table(schema, name))
}

fn view(session: &Session, schema: &str, name: &str) -> Option<Arc<Object>> {
    session.server.engine.catalog().object(schema, ObjectKind::View, name)
}

/// The kind and the text of a line that a statement says of a table.
type Said = (&'static str, String);

/// Runs the statement on one table, and returns what it says of the table.
fn maintained(
    session: &mut Session,
    what: Maintenance,
    schema: &str,
    name: &str,
    found: Result<Arc<Table>>,
) -> Result<Vec<Said>> {
    let ok = || ("status", "OK".to_owned());
    let table = match found {
        Ok(table) => table,
        // A view is checked by opening what it names.
        Err(error) if error.code == 1347 && what == Maintenance::Check => {
            let view = view(session, schema, name);
            let plan = view.map(|view| view_plan(&mut session.binder(), &view.def, None));
            return Ok(match plan.transpose() {
                Ok(_) => vec![ok()],
                Err(error) => vec![("Error", error.message), ("error", "Corrupt".to_owned())],
            });
        }
        Err(error) => {
            let last = match error.code {
                1049 => ("error", "Corrupt".to_owned()),
                _ => ("status", "Operation failed".to_owned()),
            };
            return Ok(vec![("Error", error.message), last]);
        }
    };
    session.handlers.close_all_of(&table);
    Ok(match what {
        Maintenance::Check => {
            let problems = check(session, &table)?;
            let last = if problems.is_empty() { ok() } else { ("error", "Corrupt".to_owned()) };
            let warnings = problems.into_iter().map(|problem| ("Warning", format!("InnoDB: {problem}")));
            warnings.chain([last]).collect()
        }
        Maintenance::Optimize => {
            let text = "Table does not support optimize: pages are merged as rows are deleted";
            vec![("note", text.to_owned()), ok()]
        }
        Maintenance::Repair => {
            vec![("note", "The storage engine for the table doesn't support repair".to_owned())]
        }
        // ANALYZE is a statement of its own, which may not store the statistics here.
        _ if session.settings.variables.transaction_read_only && !session.transaction.explicit => {
            let refused = "Cannot execute statement in a READ ONLY transaction.";
            let unable = "Unable to store dynamic table statistics into data dictionary.";
            let status = "Unable to write table statistics to DD tables";
            vec![("Error", refused.to_owned()), ("Error", unable.to_owned()), ("status", status.to_owned())]
        }
        _ => {
            engine::TableStatistics::anew(&table)?;
            vec![ok()]
        }
    })
}

fn operation(what: Maintenance) -> &'static str {
    match what {
        Maintenance::Analyze => "analyze",
        Maintenance::Check => "check",
        Maintenance::Optimize => "optimize",
        Maintenance::Repair => "repair",
        Maintenance::Checksum { .. } => "checksum",
    }
}

fn columns(what: Maintenance) -> Vec<ColumnMeta> {
    let text = |chars| ColumnType::varchar(chars, collation::UTF8MB4_0900_AI_CI);
    let table = column_meta("Table", text(128), true);
    if matches!(what, Maintenance::Checksum { .. }) {
        return vec![table, column_meta("Checksum", ColumnType::bigint(true), true)];
    }
    vec![
        table,
        column_meta("Op", text(10), true),
        column_meta("Msg_type", text(10), true),
        column_meta("Msg_text", ColumnType::text(collation::UTF8MB4_0900_AI_CI), true),
    ]
}

/// Returns what is wrong with the table. A page that cannot be read is reported there, too.
fn check(session: &Session, table: &Arc<Table>) -> Result<Vec<String>> {
    let mut transaction = session.server.engine.begin(Isolation::RepeatableRead);
    transaction.set_interrupt(session.server.interrupt.clone());
    transaction.set_metadata_lock_timeout_ms(session.settings.variables.lock_wait_timeout_s * 1000);
    session.locks.put_under(&mut transaction);
    match session.server.engine.check_table_in(transaction, table) {
        Err(error @ (EngineError::Interrupted | EngineError::LockWaitTimeout)) => Err(error.into()),
        checked => Ok(checked.unwrap_or_else(|error| vec![error.to_string()])),
    }
}
