//! The tables of statements that run or have run lately.

use super::super::columns::{Kind, columns};
use super::super::performance::thread_of;
use super::reading::{measured_cells, sessions};
use crate::client::connection_host::ConnectionHost;
use crate::show::result_table::text_or_null;
use sql::measured::{Event, Measured, SUM_NAMES, Timed};
use sql::{ColumnMeta, ComputedTable, Digest};
use types::Value;

pub const NESTING: &[&str] = &["TRANSACTION", "STATEMENT", "STAGE", "WAIT"];
const ENGINES: &[&str] = &["PRIMARY", "SECONDARY"];

fn of_event() -> Vec<ColumnMeta> {
    let mut all = vec![
        ("THREAD_ID", Kind::Number),
        ("EVENT_ID", Kind::Number),
        ("END_EVENT_ID", Kind::NumberOrNull),
        ("EVENT_NAME", Kind::Text(128)),
        ("SOURCE", Kind::TextOrNull(64)),
        ("TIMER_START", Kind::NumberOrNull),
        ("TIMER_END", Kind::NumberOrNull),
        ("TIMER_WAIT", Kind::NumberOrNull),
        ("LOCK_TIME", Kind::Number),
        ("SQL_TEXT", Kind::LongTextOrNull),
        ("DIGEST", Kind::TextOrNull(64)),
        ("DIGEST_TEXT", Kind::LongTextOrNull),
        ("CURRENT_SCHEMA", Kind::TextOrNull(64)),
        ("OBJECT_TYPE", Kind::TextOrNull(64)),
        ("OBJECT_SCHEMA", Kind::TextOrNull(64)),
        ("OBJECT_NAME", Kind::TextOrNull(64)),
        ("OBJECT_INSTANCE_BEGIN", Kind::NumberOrNull),
        ("MYSQL_ERRNO", Kind::IntOrNull),
        ("RETURNED_SQLSTATE", Kind::TextOrNull(5)),
        ("MESSAGE_TEXT", Kind::TextOrNull(128)),
    ];
    all.extend(SUM_NAMES[1..].iter().map(|name| (*name, Kind::Number)));
    all.extend([
        ("NESTING_EVENT_ID", Kind::NumberOrNull),
        ("NESTING_EVENT_TYPE", Kind::OneOfOrNull(NESTING)),
        ("NESTING_EVENT_LEVEL", Kind::IntOrNull),
        ("STATEMENT_ID", Kind::NumberOrNull),
        ("CPU_TIME", Kind::Number),
        ("MAX_CONTROLLED_MEMORY", Kind::Number),
        ("MAX_TOTAL_MEMORY", Kind::Number),
        ("EXECUTION_ENGINE", Kind::OneOfOrNull(ENGINES)),
    ]);
    columns(&all)
}

/// Returns the row of a statement. Of one that runs, the end is the moment of reading.
fn row(thread: u64, event: &Event, measured: &Measured) -> Vec<Value> {
    let (begin_ticks, end_ticks) = event.ticks;
    let start_ps = measured.moment_ps(begin_ticks);
    let wait_ps = match end_ticks {
        Some(_) => event.sample.wait_ns.saturating_mul(1000),
        None => measured.moment_ps(os::clock::ticks()).saturating_sub(start_ps),
    };
    let (start, end, wait) = match event.timed {
        Timed::Whole => (Value::UInt(start_ps), Value::UInt(start_ps + wait_ps), Value::UInt(wait_ps)),
        Timed::Begin => (Value::UInt(start_ps), Value::Null, Value::UInt(0)),
        Timed::No => (Value::Null, Value::Null, Value::Null),
    };
    let number = |value: Option<u64>| value.map_or(Value::Null, Value::UInt);
    let bytes = |text: &Option<Vec<u8>>| match text {
        Some(text) => Value::text(&String::from_utf8_lossy(text)),
        None => Value::Null,
    };
    let digest = event.digest.as_ref().and_then(|digest| digest.text.as_deref());
    let hash = digest.map(|text| Digest { text: text.to_owned() }.hash());
    let mut measured = measured_cells(&event.sample.sums);
    let outcome = &event.outcome;
    let state = outcome.sqlstate.map(|state| String::from_utf8_lossy(&state).into_owned());
    let mut cells = vec![
        Value::UInt(thread),
        Value::UInt(event.number),
        number(end_ticks.map(|_| event.end_number)),
        Value::text(&event.name.shown()),
        Value::Null,
        start,
        end,
        wait,
        measured.next().unwrap_or(Value::UInt(0)),
        bytes(&event.text),
        text_or_null(hash.as_deref()),
        text_or_null(digest),
        text_or_null(event.schema.as_deref()),
        Value::Null,
        Value::Null,
        Value::Null,
        Value::Null,
        Value::Int(outcome.error_code.into()),
        text_or_null(state.as_deref()),
        text_or_null(Some(outcome.message.as_str()).filter(|text| !text.is_empty())),
    ];
    cells.extend(measured);
    let is_within = event.transaction != 0;
    cells.extend([
        number(is_within.then_some(event.transaction)),
        text_or_null(is_within.then_some("TRANSACTION")),
        Value::Int(0),
        Value::UInt(event.statement_id),
    ]);
    cells.extend([0; 3].map(Value::UInt));
    cells.push(Value::text("PRIMARY"));
    cells
}

/// `events_statements_current`
pub fn current(host: &ConnectionHost) -> ComputedTable<'_> {
    ComputedTable::new(of_event(), |rows| {
        for (thread, session) in sessions(host) {
            if let Some(event) = session.current() {
                rows.put(row(thread, &event, session.measured()))?;
            }
        }
        Ok(())
    })
}

/// `events_statements_history`
pub fn history(host: &ConnectionHost) -> ComputedTable<'_> {
    ComputedTable::new(of_event(), |rows| {
        for (thread, session) in sessions(host) {
            for event in session.history() {
                rows.put(row(thread, &event, session.measured()))?;
            }
        }
        Ok(())
    })
}

/// `events_statements_history_long`, which has rows while its consumer is on.
pub fn history_long(host: &ConnectionHost) -> ComputedTable<'_> {
    ComputedTable::new(of_event(), |rows| {
        let Some(measured) = &host.server().measured else { return Ok(()) };
        let events = measured.long_history();
        rows.charge(events.len() * size_of::<Event>())?;
        events.iter().try_for_each(|(id, event)| rows.put(row(thread_of(*id), event, measured)))
    })
}
