//! The diagnostics area, which holds the conditions that a statement has raised.

use crate::ast::ConditionItem;
use crate::error::SqlError;
use crate::measured::Conditions;
use std::cell::RefCell;

/// The level of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    Note,
    Warning,
    Error,
}

impl Level {
    /// Returns the level's name in SHOW WARNINGS.
    pub fn name(self) -> &'static str {
        match self {
            Level::Note => "Note",
            Level::Warning => "Warning",
            Level::Error => "Error",
        }
    }
}

/// A condition, which is one line of SHOW WARNINGS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Warning {
    pub level: Level,
    pub code: u16,
    pub message: String,
    pub state: [u8; 5],
    /// Further items of the condition that SIGNAL has set.
    pub items: Vec<(ConditionItem, String)>,
}

impl Warning {
    /// Makes a condition with the SQLSTATE of its number; `HY000` becomes `01000` for notes and
    /// warnings.
    pub fn new(level: Level, code: u16, message: impl Into<String>) -> Warning {
        let state = match (level, crate::error::sqlstate(code)) {
            (Level::Note | Level::Warning, state) if &state == b"HY000" => *b"01000",
            (_, state) => state,
        };
        Warning { level, code, message: message.into(), state, items: Vec::new() }
    }
}

/// The diagnostics area with the warnings of the last statement.
#[derive(Debug)]
pub(crate) struct Diagnostics {
    pub warnings: Vec<Warning>,
    /// The most conditions that are kept: `max_error_count`.
    pub most_kept: usize,
    /// The number of conditions that were raised, whether or not they are kept.
    pub count: u64,
    /// The number of times that the area was cleared.
    pub cleared: u64,
    /// The number of conditions, the first ones, that were there when the current handler began.
    marked: usize,
    /// The condition that SIGNAL ends its statement with. It is not among the conditions yet.
    signalled: Option<Box<Warning>>,
    /// The first warning that strict mode turns into the statement's error (`Context::warn`).
    pub refused: Option<SqlError>,
    /// The warnings that were raised and the errors that were handled since they were last taken,
    /// by their numbers, whether or not they are still there.
    happened: Vec<Conditions>,
}

impl Default for Diagnostics {
    fn default() -> Diagnostics {
        Diagnostics {
            warnings: Vec::new(),
            most_kept: Diagnostics::KEPT,
            count: 0,
            cleared: 0,
            marked: 0,
            signalled: None,
            refused: None,
            happened: Vec::new(),
        }
    }
}

impl Diagnostics {
    /// MySQL's default for `max_error_count`.
    pub const KEPT: usize = 1024;

    /// Returns the number of conditions that were raised, and that of the errors that are kept:
    /// what `@@warning_count` and `@@error_count` tell the next statement.
    pub fn counts(&self) -> (u64, u64) {
        let errors = self.warnings.iter().filter(|condition| condition.level == Level::Error);
        (self.count, errors.count() as u64)
    }

    pub fn push(&mut self, level: Level, code: u16, message: impl Into<String>) {
        self.note_raised(level, code);
        self.count += 1;
        if self.warnings.len() < self.most_kept {
            self.warnings.push(Warning::new(level, code, message));
        }
    }

    /// Adds a condition.
    pub fn push_condition(&mut self, condition: Warning) {
        self.note_raised(condition.level, condition.code);
        self.restore(condition);
    }

    fn note_raised(&mut self, level: Level, code: u16) {
        // The error that ends a statement is known at its end.
        if level != Level::Error {
            self.happened_of(code).raised += 1;
        }
    }

    /// Notes that a handler handles an error.
    pub fn note_handled(&mut self, code: u16) {
        self.happened_of(code).handled += 1;
    }

    fn happened_of(&mut self, code: u16) -> &mut Conditions {
        let known = self.happened.iter().position(|of| of.code == code);
        let at = known.unwrap_or_else(|| {
            self.happened.push(Conditions { code, raised: 0, handled: 0 });
            self.happened.len() - 1
        });
        &mut self.happened[at]
    }

    /// Takes which warnings were raised and which errors were handled since this was last called.
    pub fn take_happened(&mut self) -> Vec<Conditions> {
        std::mem::take(&mut self.happened)
    }

    /// Adds a condition that was raised before.
    pub fn restore(&mut self, condition: Warning) {
        self.count += 1;
        if self.warnings.len() < self.most_kept {
            self.warnings.push(condition);
        }
    }

    /// Reports whether no condition was raised.
    pub fn is_empty(&self) -> bool {
        self.count == 0 && self.refused.is_none()
    }

    /// Notes the condition that SIGNAL ends its statement with.
    pub fn signal(&mut self, condition: Warning) {
        self.signalled = Some(Box::new(condition));
    }

    /// Adds a statement's error as a condition, with the items that SIGNAL has set. Returns the
    /// condition.
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

    /// Moves the conditions of a statement that ran within this one to this area.
    pub fn take_over(&mut self, inner: &mut Diagnostics) {
        inner.warnings.drain(..).for_each(|condition| self.restore(condition));
        for inner in inner.take_happened() {
            let known = self.happened_of(inner.code);
            (known.raised, known.handled) = (known.raised + inner.raised, known.handled + inner.handled);
        }
        self.signalled = inner.signalled.take();
    }

    /// Removes the notes of this number.
    pub fn forget_notes(&mut self, code: u16) {
        let before = self.warnings.len();
        self.warnings.retain(|condition| (condition.level, condition.code) != (Level::Note, code));
        let forgotten = (before - self.warnings.len()) as u64;
        self.count -= forgotten;
        if let Some(known) = self.happened.iter_mut().find(|of| of.code == code) {
            known.raised = known.raised.saturating_sub(forgotten);
        }
    }

    /// Calls `attempt`, and removes the conditions that it has added if it returns `None`.
    pub fn or_without_trace<T>(
        this: &RefCell<Diagnostics>,
        attempt: impl FnOnce() -> Option<T>,
    ) -> Option<T> {
        let (kept, count, was_refused, happened) = {
            let before = this.borrow();
            (before.warnings.len(), before.count, before.refused.is_some(), before.happened.clone())
        };
        let made = attempt();
        if made.is_none() {
            let mut after = this.borrow_mut();
            after.warnings.truncate(kept);
            after.count = count;
            after.happened = happened;
            if !was_refused {
                after.refused = None;
            }
        }
        made
    }

    /// Notes which conditions are there when a handler begins. They are removed when it ends.
    pub fn mark(&mut self) {
        self.marked = self.warnings.len();
    }

    /// Removes, when a handler ends, the conditions that were there when it began.
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

    /// Returns the number of conditions for packets, which have 16 bits for it.
    pub fn count_u16(&self) -> u16 {
        self.count.min(u64::from(u16::MAX)) as u16
    }
}
