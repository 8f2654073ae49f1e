//! What a session tells its host about a client's statements, for the general log, the slow query
//! log and the audit log.
//!
//! In: the statements of a client, as their text is understood and as they end. Out: calls of
//! [`StatementLog`], which the host carries out before the client gets its answer. A host that logs
//! nothing has no [`StatementLog`], and its statements are neither timed nor counted for it.
//! Statements within stored programs are not told: their CALL is.

use crate::counters::Counters;
use crate::digest::Digest;
use crate::error::Result;
use crate::lexer::LexMode;
use crate::sink::{ClientFile, ColumnMeta, EndOfRows, OkInfo, PlanNumber, ResultSink, StoredRow};
use types::Value;

/// How a statement has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatementOrigin {
    /// As a text.
    Query,
    /// As the text that PREPARE names. Such a text does not run, and so does not end.
    Prepare,
    /// As the name of a prepared statement and its parameters, which stand in its text.
    Execute,
}

/// A host's logs of statements.
pub trait StatementLog {
    /// A statement has been understood and begins. `text` is in utf8mb4, without what follows it.
    fn begins(&self, origin: StatementOrigin, text: &[u8]);

    /// A statement that had begun has ended, with or without an error.
    fn ended(&self, statement: &EndedStatement<'_>);

    /// A text was refused with this error before it was understood, so that it has not begun.
    fn not_understood(&self, error_code: u16, took_us: u64);
}

/// A statement of a client that has ended.
#[derive(Debug)]
pub struct EndedStatement<'s> {
    /// Its text in utf8mb4, with its parameters in place.
    pub text: &'s [u8],
    /// How it has come.
    pub origin: StatementOrigin,
    /// Whether `log_slow_admin_statements` is about it.
    pub is_administrative: bool,
    /// The current schema.
    pub schema: Option<&'s str>,
    /// The moment that NOW() gave in it, in seconds of Unix time.
    pub timestamp_s: u64,
    /// How long it took, in microseconds.
    pub took_us: u64,
    /// How long it waited for row locks, in microseconds.
    pub lock_wait_us: u64,
    /// Rows that were sent to the client.
    pub rows_sent: u64,
    /// Rows that it has changed, as the client is told.
    pub rows_affected: u64,
    /// What it has counted, in the order of [`Counters::NAMES`].
    pub figures: Vec<u64>,
    /// LAST_INSERT_ID() after it.
    pub last_insert_id: u64,
    /// The number of its error; 0 means that it had none.
    pub error_code: u16,
    /// How its text is split into tokens, and `max_digest_length`.
    pub(crate) digesting: (LexMode, usize),
}

impl EndedStatement<'_> {
    /// Returns the digest of the statement.
    pub fn digest(&self) -> Digest {
        Digest::of(self.text, self.digesting.0, self.digesting.1)
    }

    /// What the statement has added to a figure of this name in SHOW STATUS; 0 for a name that is
    /// none.
    pub fn figure(&self, name: &str) -> u64 {
        let at = Counters::NAMES.iter().position(|known| *known == name);
        at.and_then(|at| self.figures.get(at)).copied().unwrap_or(0)
    }

    /// Rows that the statement has read from tables and indexes.
    pub fn rows_examined(&self) -> u64 {
        let read = Counters::NAMES.iter().zip(&self.figures);
        read.filter(|(name, _)| name.starts_with("Handler_read_")).map(|(_, figure)| figure).sum()
    }
}

/// Counts the rows that go to a sink.
pub(crate) struct CountingSink<'s> {
    sink: &'s mut dyn ResultSink,
    pub rows: u64,
    pub answer: Answer,
}

/// How a sink was told that a statement has ended.
#[derive(Default)]
pub(crate) struct Answer {
    /// Whether it was an OK and not the end of rows.
    pub is_ok: bool,
    pub affected_rows: u64,
    pub warnings: u16,
    pub info: String,
}

impl CountingSink<'_> {
    /// Counts the rows that go to `sink` from now on.
    pub fn new(sink: &mut dyn ResultSink) -> CountingSink<'_> {
        CountingSink { sink, rows: 0, answer: Answer::default() }
    }
}

impl ResultSink for CountingSink<'_> {
    fn columns(&mut self, columns: &[ColumnMeta]) -> Result<()> {
        self.sink.columns(columns)
    }

    fn plan_columns(&mut self, columns: &[ColumnMeta], plan: PlanNumber) -> Result<()> {
        self.sink.plan_columns(columns, plan)
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        self.rows += 1;
        self.sink.row(row)
    }

    fn stored_row(&mut self, row: &StoredRow<'_>) -> Result<()> {
        self.rows += 1;
        self.sink.stored_row(row)
    }

    fn end_rows(&mut self, end: EndOfRows) -> Result<()> {
        self.answer.is_ok = false;
        self.answer.warnings = end.warnings;
        self.sink.end_rows(end)
    }

    fn end_begun_rows(&mut self, end: EndOfRows) -> Result<()> {
        self.answer.is_ok = false;
        self.answer.warnings = end.warnings;
        self.sink.end_begun_rows(end)
    }

    fn ok(&mut self, info: &mut OkInfo) -> Result<()> {
        self.answer.is_ok = true;
        self.answer.affected_rows = info.affected_rows;
        self.answer.warnings = info.warnings;
        self.sink.ok(info)?;
        self.answer.info = std::mem::take(&mut info.info);
        Ok(())
    }

    fn client_file(&mut self) -> Option<&mut dyn ClientFile> {
        self.sink.client_file()
    }
}
