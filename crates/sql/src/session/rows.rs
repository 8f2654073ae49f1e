//! The rows of a result set on their way from the plan to the sink.

use crate::error::Result;
use crate::sink::{ColumnMeta, ResultSink};
use crate::variables::Variables;
use std::cell::Cell;
use types::{Value, Zone};

/// The rows of a result set on their way to the sink. The description goes first, but not before
/// the first row is there: until then the statement can fail, or be run again, without a trace.
pub(super) struct Rows<'s> {
    columns: &'s [ColumnMeta],
    zone: Zone,
    /// Columns whose values are TIMESTAMPs.
    stamps: Vec<usize>,
    buffer: Vec<Value>,
    described: &'s Cell<bool>,
    sink: &'s mut dyn ResultSink,
}

impl<'s> Rows<'s> {
    /// `described` is set when the description goes to the sink.
    pub fn new(
        columns: &'s [ColumnMeta],
        variables: &Variables,
        described: &'s Cell<bool>,
        sink: &'s mut dyn ResultSink,
    ) -> Rows<'s> {
        assert!(!described.get(), "a statement describes its rows once");
        let stamps = columns.iter().enumerate();
        let stamps =
            stamps.filter(|(_, column)| column.ty.code == types::TypeCode::Timestamp2).map(|(at, _)| at);
        Rows { stamps: stamps.collect(), columns, zone: variables.zone, buffer: Vec::new(), described, sink }
    }

    pub fn row(&mut self, row: &[Value]) -> Result<()> {
        self.describe()?;
        if self.stamps.iter().all(|at| !matches!(row[*at], Value::Timestamp { .. })) {
            return self.sink.row(row);
        }
        self.buffer.clear();
        self.buffer.extend_from_slice(row);
        for at in &self.stamps {
            let value = std::mem::replace(&mut self.buffer[*at], Value::Null);
            self.buffer[*at] = value.in_zone(self.zone);
        }
        self.sink.row(&self.buffer)
    }

    fn describe(&mut self) -> Result<()> {
        if self.described.replace(true) {
            return Ok(());
        }
        self.sink.columns(self.columns)
    }

    pub fn finish(mut self) -> Result<()> {
        self.describe()
    }
}
