//! The tables of performance_schema about the latest clone.

use crate::client::connection_host::ConnectionHost;
use crate::server::clones::{Clone, STAGES, Stage, State};
use crate::show::result_table::{column, text_column};
use sql::{ColumnMeta, ComputedTable};
use types::{ColumnType, Value};

const UTF8MB4: u16 = 255;

fn int(name: &str) -> ColumnMeta {
    column(name, ColumnType::int(false), 0)
}

fn bigint(name: &str) -> ColumnMeta {
    column(name, ColumnType::bigint(false), 0)
}

fn time(name: &str, digits: u8) -> ColumnMeta {
    column(name, ColumnType::timestamp(digits), 0)
}

fn time_value(at_us: u64) -> Value {
    match at_us {
        0 => Value::Null,
        _ => Value::Timestamp { seconds: (at_us / 1_000_000) as i64, micros: (at_us % 1_000_000) as u32 },
    }
}

fn number(value: u64) -> Value {
    Value::Int(value.min(i64::MAX as u64) as i64)
}

/// Returns `clone_status`. Of a local clone MySQL shows no place in the binary log; here it is the
/// place that the clone stands for.
pub fn status(host: &ConnectionHost) -> ComputedTable<'_> {
    let columns = vec![
        int("ID"),
        int("PID"),
        text_column("STATE", 16),
        time("BEGIN_TIME", 3),
        time("END_TIME", 3),
        text_column("SOURCE", 512),
        text_column("DESTINATION", 512),
        int("ERROR_NO"),
        text_column("ERROR_MESSAGE", 512),
        text_column("BINLOG_FILE", 512),
        bigint("BINLOG_POSITION"),
        column("GTID_EXECUTED", ColumnType::longtext(UTF8MB4), 0),
    ];
    ComputedTable::of_rows(columns, || host.server().clones.latest().map(|clone| status_row(&clone)))
}

fn status_row(clone: &Clone) -> Vec<Value> {
    let text = |text: &str| Value::text(&text.chars().take(512).collect::<String>());
    vec![
        Value::Int(1),
        number(u64::from(clone.connection_id)),
        Value::text(clone.state.shown()),
        time_value(clone.began_us),
        time_value(clone.ended_us),
        Value::text("LOCAL INSTANCE"),
        text(&clone.destination),
        number(u64::from(clone.error)),
        text(&clone.error_text),
        text(&clone.place.binlog_file),
        number(clone.place.binlog_pos),
        Value::text(&clone.place.gtid_executed),
    ]
}

/// Returns `clone_progress`.
pub fn progress(host: &ConnectionHost) -> ComputedTable<'_> {
    let columns = vec![
        int("ID"),
        text_column("STAGE", 32),
        text_column("STATE", 16),
        time("BEGIN_TIME", 6),
        time("END_TIME", 6),
        int("THREADS"),
        bigint("ESTIMATE"),
        bigint("DATA"),
        bigint("NETWORK"),
        int("DATA_SPEED"),
        int("NETWORK_SPEED"),
    ];
    ComputedTable::of_rows(columns, || {
        let clone = host.server().clones.latest();
        let stages = clone.into_iter().flat_map(|clone| STAGES.into_iter().zip(clone.stages));
        stages.map(|(name, stage)| progress_row(name, &stage))
    })
}

fn progress_row(name: &str, stage: &Stage) -> Vec<Value> {
    // The speed is that of a stage that goes on, in bytes per second.
    let speed = match stage.state {
        State::InProgress => {
            let elapsed_us = os::clock::now_us().saturating_sub(stage.began_us).max(1);
            (u128::from(stage.copied_bytes) * 1_000_000 / u128::from(elapsed_us)).min(i32::MAX as u128)
        }
        _ => 0,
    };
    vec![
        Value::Int(1),
        Value::text(name),
        Value::text(stage.state.shown()),
        time_value(stage.began_us),
        time_value(stage.ended_us),
        number(u64::from(stage.state != State::NotStarted)),
        number(stage.estimate_bytes),
        number(stage.copied_bytes),
        Value::Int(0),
        number(speed as u64),
        Value::Int(0),
    ]
}
