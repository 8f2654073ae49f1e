//! Sends the answers of statements to the sink.

use super::Session;
use crate::ddl::DdlReport;
use crate::error::Result;
use crate::expr::conform;
use crate::host::VirtualTable;
use crate::sink::{EndOfRows, OkInfo, ResultSink};
use std::borrow::Cow;

pub(super) fn end_of_rows(session: &Session) -> EndOfRows {
    EndOfRows { warnings: session.warning_count(), status: session.status() }
}

/// Sends an OK with nothing more to say.
pub(super) fn ok(session: &mut Session, sink: &mut dyn ResultSink) -> Result<()> {
    session.statement.row_count = 0;
    sink.ok(&mut OkInfo { warnings: session.warning_count(), status: session.status(), ..OkInfo::default() })
}

/// Sends the OK of an UPDATE that has changed so many rows.
pub(super) fn ok_of_update(
    session: &mut Session,
    affected_rows: u64,
    info: String,
    sink: &mut dyn ResultSink,
) -> Result<()> {
    let (warnings, status) = (session.warning_count(), session.status());
    sink.ok(&mut OkInfo { affected_rows, warnings, status, info, ..OkInfo::default() })
}

/// Sends the OK of a DDL statement.
pub(super) fn ok_of_ddl(session: &mut Session, report: &DdlReport, sink: &mut dyn ResultSink) -> Result<()> {
    session.statement.row_count = report.affected_rows as i64;
    let warnings = session.warning_count();
    let info = match report.tells_records {
        true => format!("Records: {}  Duplicates: 0  Warnings: {warnings}", report.affected_rows),
        false => report.info.clone(),
    };
    let status = session.status();
    sink.ok(&mut OkInfo { affected_rows: report.affected_rows, warnings, status, info, ..OkInfo::default() })
}

/// Sends a computed result set.
pub(super) fn send_table(
    session: &mut Session,
    table: &VirtualTable,
    sink: &mut dyn ResultSink,
) -> Result<()> {
    session.statement.found_rows = table.rows.len() as u64;
    send_rows(session, table, sink)?;
    sink.end_rows(end_of_rows(session))
}

/// Sends the result of SHOW WARNINGS or a similar statement. It is about the statement before, so
/// it has no warnings of its own.
pub(super) fn send_warnings(
    session: &mut Session,
    table: &VirtualTable,
    sink: &mut dyn ResultSink,
) -> Result<()> {
    send_rows(session, table, sink)?;
    sink.end_rows(EndOfRows { warnings: 0, ..end_of_rows(session) })
}

fn send_rows(session: &mut Session, table: &VirtualTable, sink: &mut dyn ResultSink) -> Result<()> {
    session.statement.row_count = -1;
    sink.columns(&table.columns)?;
    {
        let ctx = session.context(&[], false);
        let mut conformed = Vec::new();
        for row in &table.rows {
            conformed.clear();
            for (value, column) in row.iter().zip(&table.columns) {
                conformed
                    .push(conform(Cow::Borrowed(value), &column.ty, &ctx)?.into_owned().in_zone(ctx.zone()));
            }
            sink.row(&conformed)?;
        }
    }
    Ok(())
}
