//! `prepared_statements_instances`: the prepared statements of all sessions.

use super::super::columns::{Kind, columns};
use super::reading::{sessions, sum_cells, sum_columns};
use crate::client::connection_host::ConnectionHost;
use crate::show::result_table::text_or_null;
use sql::ComputedTable;
use sql::measured::PreparedRow;
use types::Value;

const OWNERS: &[&str] = &["EVENT", "FUNCTION", "PROCEDURE", "TABLE", "TRIGGER"];
const ENGINES: &[&str] = &["PRIMARY", "SECONDARY"];

/// Returns the table, with a row for each prepared statement.
pub fn instances(host: &ConnectionHost) -> ComputedTable<'_> {
    let mut all = vec![
        ("OBJECT_INSTANCE_BEGIN", Kind::Number),
        ("STATEMENT_ID", Kind::Number),
        ("STATEMENT_NAME", Kind::TextOrNull(64)),
        ("SQL_TEXT", Kind::LongText),
        ("OWNER_THREAD_ID", Kind::Number),
        ("OWNER_EVENT_ID", Kind::Number),
        ("OWNER_OBJECT_TYPE", Kind::OneOfOrNull(OWNERS)),
        ("OWNER_OBJECT_SCHEMA", Kind::TextOrNull(64)),
        ("OWNER_OBJECT_NAME", Kind::TextOrNull(64)),
        ("EXECUTION_ENGINE", Kind::OneOfOrNull(ENGINES)),
        ("TIMER_PREPARE", Kind::Number),
        ("COUNT_REPREPARE", Kind::Number),
        ("COUNT_EXECUTE", Kind::Number),
    ];
    let (times, sums) = sum_columns();
    let times: Vec<String> = times[1..].iter().map(|(name, _)| name.replace("_WAIT", "_EXECUTE")).collect();
    all.extend(times.iter().map(|name| (name.as_str(), Kind::Number)));
    all.extend(sums.iter().map(|(name, kind)| (name.as_str(), *kind)));
    ComputedTable::new(columns(&all), |rows| {
        for (thread, session) in sessions(host) {
            for (place, prepared) in session.prepared().into_iter().enumerate() {
                rows.put(row(thread, place as u64, &prepared))?;
            }
        }
        Ok(())
    })
}

fn row(thread: u64, place: u64, prepared: &PreparedRow) -> Vec<Value> {
    let mut cells = vec![
        // MySQL gives the address of the statement: a number that no other one has.
        Value::UInt((thread << 32) + place + 1),
        Value::UInt(prepared.id),
        text_or_null(prepared.name.as_deref()),
        Value::text(&String::from_utf8_lossy(&prepared.text)),
        Value::UInt(thread),
        Value::UInt(prepared.event),
        Value::Null,
        Value::Null,
        Value::Null,
        Value::text("PRIMARY"),
        Value::UInt(prepared.prepare_ns.saturating_mul(1000)),
        Value::UInt(prepared.reprepared),
    ];
    cells.extend(sum_cells(&prepared.figures));
    cells
}
