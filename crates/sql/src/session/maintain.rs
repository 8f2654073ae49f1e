//! ANALYZE, CHECK, OPTIMIZE, REPAIR and CHECKSUM TABLE.

use super::Session;
use crate::ast::{Maintenance, TableName};
use crate::error::Result;
use crate::host::VirtualTable;
use crate::schema_tables::column_meta;
use engine::{Direction, EngineError, IndexRef, Isolation, KeyRange, LockMode, Table};
use std::sync::Arc;
use types::{ColumnType, Value, collation};

/// Runs the statement on one table after the other, and returns the result set.
///
/// # Errors
/// Returns the errors that end the statement. What is wrong with a table is told in the rows.
pub(super) fn run(session: &mut Session, what: Maintenance, tables: &[TableName]) -> Result<VirtualTable> {
    if matches!(what, Maintenance::Optimize | Maintenance::Repair) {
        session.settings.check_writable()?;
    }
    let is_read_only = session.settings.variables.transaction_read_only && !session.transaction.explicit;
    let mut rows = Vec::new();
    for name in tables {
        let schema = session.settings.schema_of(name)?;
        let shown = format!("{schema}.{}", name.name);
        let own = session.temporary.table(&schema, &name.name);
        let table = own.or_else(|| session.server.engine.catalog().table(&schema, &name.name));
        if let Some(table) = table.as_ref().filter(|_| what != Maintenance::Checksum) {
            session.handlers.close_all_of(table);
        }
        if what == Maintenance::Checksum {
            let sum = table.map(|table| checksum(session, &table)).transpose()?;
            rows.push(vec![Value::text(&shown), sum.map_or(Value::Null, Value::UInt)]);
            continue;
        }
        let operation = match what {
            Maintenance::Analyze => "analyze",
            Maintenance::Check => "check",
            Maintenance::Optimize => "optimize",
            _ => "repair",
        };
        let mut say = |kind: &str, text: &str| {
            rows.push(vec![
                Value::text(&shown),
                Value::text(operation),
                Value::text(kind),
                Value::text(text),
            ]);
        };
        let Some(table) = table else {
            say("Error", &format!("Table '{shown}' doesn't exist"));
            say("status", "Operation failed");
            continue;
        };
        match what {
            Maintenance::Check => {
                let problems = check(session, &table)?;
                problems.iter().for_each(|problem| say("Warning", &format!("InnoDB: {problem}")));
                match problems.is_empty() {
                    true => say("status", "OK"),
                    false => say("error", "Corrupt"),
                }
            }
            Maintenance::Optimize => {
                say("note", "Table does not support optimize: pages are merged as rows are deleted");
                say("status", "OK");
            }
            Maintenance::Repair => say("note", "The storage engine for the table doesn't support repair"),
            // ANALYZE is a statement of its own, which may not store the statistics here.
            _ if is_read_only => {
                say("Error", "Cannot execute statement in a READ ONLY transaction.");
                say("Error", "Unable to store dynamic table statistics into data dictionary.");
                say("status", "Unable to write table statistics to DD tables");
            }
            _ => {
                engine::TableStatistics::anew(&table)?;
                say("status", "OK");
            }
        }
    }
    let text = |chars| ColumnType::varchar(chars, collation::UTF8MB4_0900_AI_CI);
    let columns = if what == Maintenance::Checksum {
        vec![column_meta("Table", text(128), true), column_meta("Checksum", ColumnType::bigint(true), true)]
    } else {
        vec![
            column_meta("Table", text(128), true),
            column_meta("Op", text(10), true),
            column_meta("Msg_type", text(10), true),
            column_meta("Msg_text", ColumnType::text(collation::UTF8MB4_0900_AI_CI), true),
        ]
    };
    Ok(VirtualTable { columns, rows })
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

/// Returns the sum of the CRC-32s of all rows as text. It depends on the values only, not on the
/// order of the rows, the storage or the server's version.
fn checksum(session: &mut Session, table: &Arc<Table>) -> Result<u64> {
    let mut transaction = session.transacting().take();
    let summed = sum_rows(&mut transaction, table);
    if session.transaction.explicit || !session.settings.variables.autocommit {
        session.transaction.open = Some(transaction);
    }
    summed
}

fn sum_rows(transaction: &mut engine::Transaction, table: &Arc<Table>) -> Result<u64> {
    let mut scan = transaction.scan(
        table,
        IndexRef::Primary,
        KeyRange::all(),
        Direction::Forward,
        LockMode::Snapshot,
    )?;
    let mut sum = 0u32;
    let mut text = Vec::new();
    while let Some(row) = scan.next(transaction)? {
        transaction.check_interrupt()?;
        text.clear();
        for (at, value) in table.layout.decode_all(&row.image)?.iter().enumerate() {
            text.push(u8::from(value.is_null()));
            value.to_text(Some(table.column_type(at)), &mut text);
            text.push(0);
        }
        sum = sum.wrapping_add(crc32fast::hash(&text));
    }
    Ok(u64::from(sum))
}
