//! The sink of a statement that the host carries out: its warnings go to the diagnostics area, and
//! the end of its result tells their number.

use crate::error::Result;
use crate::expr::{Diagnostics, Level};
use crate::sink::{ClientFile, ColumnMeta, EndOfRows, OkInfo, PlanNumber, ResultSink, WarningLevel};
use std::cell::RefCell;
use types::Value;

/// Hands results on to `sink`, and warnings to `diagnostics`.
pub(super) struct Warned<'s> {
    pub sink: &'s mut dyn ResultSink,
    pub diagnostics: &'s RefCell<Diagnostics>,
}

impl ResultSink for Warned<'_> {
    fn columns(&mut self, columns: &[ColumnMeta]) -> Result<()> {
        self.sink.columns(columns)
    }

    fn plan_columns(&mut self, columns: &[ColumnMeta], plan: PlanNumber) -> Result<()> {
        self.sink.plan_columns(columns, plan)
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        self.sink.row(row)
    }

    fn end_rows(&mut self, end: EndOfRows) -> Result<()> {
        let warnings = self.diagnostics.borrow().count_u16();
        self.sink.end_rows(EndOfRows { warnings, ..end })
    }

    fn end_begun_rows(&mut self, end: EndOfRows) -> Result<()> {
        self.sink.end_begun_rows(end)
    }

    fn ok(&mut self, info: &mut OkInfo) -> Result<()> {
        info.warnings = self.diagnostics.borrow().count_u16();
        self.sink.ok(info)
    }

    fn warn(&mut self, level: WarningLevel, code: u16, message: String) {
        let level = match level {
            WarningLevel::Note => Level::Note,
            WarningLevel::Warning => Level::Warning,
        };
        self.diagnostics.borrow_mut().push(level, code, message);
    }

    fn client_file(&mut self) -> Option<&mut dyn ClientFile> {
        self.sink.client_file()
    }
}
