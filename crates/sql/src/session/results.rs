//! Answers.

use super::Session;
use crate::ddl::DdlReport;
use crate::error::Result;
use crate::expr::conform;
use crate::host::VirtualTable;
use crate::sink::{ColumnMeta, EndOfRows, OkInfo, ResultSink};
use crate::variables::Variables;
use std::borrow::Cow;
use types::Value;

/// The rows of a result set on their way to the sink. The description goes first, but not before
/// the first row is there: until then the statement can fail, or be run again, without a trace.
pub(super) struct Rows<'s> {
    columns: &'s [ColumnMeta],
    zone_offset_s: i32,
    /// Columns whose values are TIMESTAMPs.
    stamps: Vec<usize>,
    buffer: Vec<Value>,
    described: bool,
    sink: &'s mut dyn ResultSink,
}

impl<'s> Rows<'s> {
    pub fn new(columns: &'s [ColumnMeta], variables: &Variables, sink: &'s mut dyn ResultSink) -> Rows<'s> {
        let stamps = columns.iter().enumerate();
        let stamps =
            stamps.filter(|(_, column)| column.ty.code == types::TypeCode::Timestamp2).map(|(at, _)| at);
        Rows {
            stamps: stamps.collect(),
            columns,
            zone_offset_s: variables.time_zone_offset_s,
            buffer: Vec::new(),
            described: false,
            sink,
        }
    }

    pub fn row(&mut self, row: &[Value]) -> Result<()> {
        if !self.described {
            self.described = true;
            self.sink.columns(self.columns)?;
        }
        if self.stamps.iter().all(|at| !matches!(row[*at], Value::Timestamp { .. })) {
            return self.sink.row(row);
        }
        self.buffer.clear();
        self.buffer.extend_from_slice(row);
        for at in &self.stamps {
            let value = std::mem::replace(&mut self.buffer[*at], Value::Null);
            self.buffer[*at] = value.in_zone(self.zone_offset_s);
        }
        self.sink.row(&self.buffer)
    }

    pub fn finish(mut self) -> Result<()> {
        if !self.described {
            self.described = true;
            self.sink.columns(self.columns)?;
        }
        Ok(())
    }
}

impl Session {
    pub(super) fn end_of_rows(&self) -> EndOfRows {
        EndOfRows { warnings: self.warning_count(), status: self.status() }
    }

    /// OK without more to say.
    pub(super) fn ok(&mut self, sink: &mut dyn ResultSink) -> Result<()> {
        self.statement.row_count = 0;
        sink.ok(&OkInfo { warnings: self.warning_count(), status: self.status(), ..OkInfo::default() })
    }

    /// A DDL statement has been carried out.
    pub(super) fn ok_of_ddl(&mut self, report: &DdlReport, sink: &mut dyn ResultSink) -> Result<()> {
        self.statement.row_count = report.affected_rows as i64;
        let warnings = self.warning_count();
        let info = match report.tells_records {
            true => format!("Records: {}  Duplicates: 0  Warnings: {warnings}", report.affected_rows),
            false => String::new(),
        };
        let status = self.status();
        sink.ok(&OkInfo { affected_rows: report.affected_rows, warnings, status, info, ..OkInfo::default() })
    }

    /// A computed result set.
    pub(super) fn send_table(&mut self, table: &VirtualTable, sink: &mut dyn ResultSink) -> Result<()> {
        self.statement.row_count = -1;
        self.statement.found_rows = table.rows.len() as u64;
        sink.columns(&table.columns)?;
        {
            let ctx = self.context(&[], false);
            let mut conformed = Vec::new();
            for row in &table.rows {
                conformed.clear();
                for (value, column) in row.iter().zip(&table.columns) {
                    conformed.push(conform(Cow::Borrowed(value), &column.ty, &ctx)?.into_owned());
                }
                sink.row(&conformed)?;
            }
        }
        sink.end_rows(self.end_of_rows())
    }
}
