//! The diagnostics area: the conditions that a statement has raised.

use crate::ast::ConditionItem;
use crate::error::SqlError;

/// How serious a warning is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    Note,
    Warning,
    Error,
}

impl Level {
    /// As SHOW WARNINGS prints it.
    pub fn name(self) -> &'static str {
        match self {
            Level::Note => "Note",
            Level::Warning => "Warning",
            Level::Error => "Error",
        }
    }
}

/// A line of SHOW WARNINGS: a condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Warning {
    pub level: Level,
    pub code: u16,
    pub message: String,
    pub state: [u8; 5],
    /// What SIGNAL has said of it beside these.
    pub items: Vec<(ConditionItem, String)>,
}

impl Warning {
    /// A condition with its number's own SQLSTATE.
    pub fn new(level: Level, code: u16, message: impl Into<String>) -> Warning {
        let state = match (level, crate::error::sqlstate(code)) {
            (Level::Note | Level::Warning, state) if &state == b"HY000" => *b"01000",
            (_, state) => state,
        };
        Warning { level, code, message: message.into(), state, items: Vec::new() }
    }
}

/// The diagnostics area: the warnings of the last statement.
#[derive(Debug, Default)]
pub(crate) struct Diagnostics {
    pub warnings: Vec<Warning>,
    /// All that were raised; only [`Diagnostics::KEPT`] of them are kept.
    pub count: u64,
    /// How often it was cleared.
    pub cleared: u64,
    /// Of the warnings, those that were there when a handler began.
    marked: usize,
    /// What SIGNAL has raised as an error, which is not among the conditions yet.
    signalled: Option<Box<Warning>>,
    /// The first warning that strict mode makes the statement's error (`Context::warn`).
    pub refused: Option<SqlError>,
}

impl Diagnostics {
    /// Warnings that are kept (MySQL's default `max_error_count`).
    pub const KEPT: usize = 1024;

    pub fn push(&mut self, level: Level, code: u16, message: impl Into<String>) {
        self.count += 1;
        if self.warnings.len() < Self::KEPT {
            self.warnings.push(Warning::new(level, code, message));
        }
    }

    /// Raises a condition.
    pub fn push_condition(&mut self, condition: Warning) {
        self.count += 1;
        if self.warnings.len() < Self::KEPT {
            self.warnings.push(condition);
        }
    }

    /// Notes what SIGNAL ends its statement with.
    pub fn signal(&mut self, condition: Warning) {
        self.signalled = Some(Box::new(condition));
    }

    /// A statement's error becomes a condition, with what SIGNAL has said of it.
    pub fn push_error(&mut self, error: &SqlError) -> Warning {
        let signalled = self.signalled.take().filter(|signalled| {
            (signalled.code, signalled.state, &signalled.message) == (error.code, error.state, &error.message)
        });
        let plain = || Warning {
            state: error.state,
            ..Warning::new(Level::Error, error.code, error.message.clone())
        };
        let condition = signalled.map_or_else(plain, |signalled| *signalled);
        self.push_condition(condition.clone());
        condition
    }

    /// Takes over what a statement within this one has raised.
    pub fn take_over(&mut self, inner: &mut Diagnostics) {
        inner.warnings.drain(..).for_each(|condition| self.push_condition(condition));
        self.signalled = inner.signalled.take();
    }

    /// The notes of this number were not worth telling.
    pub fn forget_notes(&mut self, code: u16) {
        let before = self.warnings.len();
        self.warnings.retain(|condition| (condition.level, condition.code) != (Level::Note, code));
        self.count -= (before - self.warnings.len()) as u64;
    }

    /// A handler begins: what is there now goes when it ends.
    pub fn mark(&mut self) {
        self.marked = self.warnings.len();
    }

    /// The handler has ended.
    pub fn remove_marked(&mut self) {
        let gone = self.marked.min(self.warnings.len());
        self.warnings.drain(..gone);
        self.count = self.count.saturating_sub(gone as u64);
        self.marked = 0;
    }

    pub fn clear(&mut self) {
        self.warnings.clear();
        self.count = 0;
        self.cleared += 1;
        self.marked = 0;
        self.refused = None;
    }

    /// For the packets that have 16 bits for it.
    pub fn count_u16(&self) -> u16 {
        self.count.min(u64::from(u16::MAX)) as u16
    }
}
