//! Answers.

use super::Session;
use crate::ddl::DdlReport;
use crate::error::Result;
use crate::expr::conform;
use crate::host::VirtualTable;
use crate::sink::{EndOfRows, OkInfo, ResultSink};
use std::borrow::Cow;

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
        self.send_rows(table, sink)?;
        sink.end_rows(self.end_of_rows())
    }

    /// The result of SHOW WARNINGS and its kin, which are about the statement before: they have no
    /// warnings themselves.
    pub(super) fn send_warnings(&mut self, table: &VirtualTable, sink: &mut dyn ResultSink) -> Result<()> {
        self.send_rows(table, sink)?;
        sink.end_rows(EndOfRows { warnings: 0, ..self.end_of_rows() })
    }

    fn send_rows(&mut self, table: &VirtualTable, sink: &mut dyn ResultSink) -> Result<()> {
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
        Ok(())
    }
}
