//! Passes the rows of a result set from the plan to the sink.

use crate::error::Result;
use crate::sink::{ColumnMeta, PlanNumber, ResultSink, StoredRow};
use crate::variables::Variables;
use std::cell::Cell;
use types::{Value, Zone};

/// Passes the rows of a result set to the sink. The description of the columns is sent with the
/// first row, not before: until then, the statement can fail or be run again without the client
/// noticing.
pub(super) struct Rows<'s> {
    columns: &'s [ColumnMeta],
    /// The plan that the columns belong to, if there is one.
    plan: Option<PlanNumber>,
    zone: Zone,
    /// The positions of the columns with TIMESTAMP values.
    stamps: Vec<usize>,
    buffer: Vec<Value>,
    described: &'s Cell<bool>,
    sink: &'s mut dyn ResultSink,
}

impl<'s> Rows<'s> {
    /// Creates the passage to the sink. `described` is set once the description has been sent.
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
        Rows {
            stamps: stamps.collect(),
            columns,
            plan: None,
            zone: variables.zone,
            buffer: Vec::new(),
            described,
            sink,
        }
    }

    /// Says that the columns are those of a plan.
    pub fn set_plan(&mut self, plan: PlanNumber) {
        self.plan = Some(plan);
    }

    pub fn row(&mut self, row: &[Value]) -> Result<()> {
        assert_eq!(row.len(), self.columns.len(), "a row has a value for each column that is described");
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

    /// Passes on a row in the form in which it is stored.
    pub fn stored_row(&mut self, row: &StoredRow<'_>) -> Result<()> {
        debug_assert!(self.stamps.is_empty(), "a TIMESTAMP is sent in the session's time zone");
        self.describe()?;
        self.sink.stored_row(row)
    }

    fn describe(&mut self) -> Result<()> {
        if self.described.replace(true) {
            return Ok(());
        }
        match self.plan {
            Some(plan) => self.sink.plan_columns(self.columns, plan),
            None => self.sink.columns(self.columns),
        }
    }

    pub fn finish(mut self) -> Result<()> {
        self.describe()
    }
}
