//! Answers.

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

/// OK without more to say.
pub(super) fn ok(session: &mut Session, sink: &mut dyn ResultSink) -> Result<()> {
    session.statement.row_count = 0;
    sink.ok(&OkInfo { warnings: session.warning_count(), status: session.status(), ..OkInfo::default() })
}

/// A DDL statement has been carried out.
pub(super) fn ok_of_ddl(session: &mut Session, report: &DdlReport, sink: &mut dyn ResultSink) -> Result<()> {
    session.statement.row_count = report.affected_rows as i64;
    let warnings = session.warning_count();
    let info = match report.tells_records {
        true => format!("Records: {}  Duplicates: 0  Warnings: {warnings}", report.affected_rows),
        false => String::new(),
    };
    let status = session.status();
    sink.ok(&OkInfo { affected_rows: report.affected_rows, warnings, status, info, ..OkInfo::default() })
}

/// A computed result set.
pub(super) fn send_table(
    session: &mut Session,
    table: &VirtualTable,
    sink: &mut dyn ResultSink,
) -> Result<()> {
    send_rows(session, table, sink)?;
    sink.end_rows(end_of_rows(session))
}

/// The result of SHOW WARNINGS and its kin, which are about the statement before: they have no
/// warnings themselves.
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
    session.statement.found_rows = table.rows.len() as u64;
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
