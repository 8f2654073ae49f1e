//! The surroundings of expressions that no session computes: constants while a statement is
//! planned, and the expressions of definitions.

use super::random::SeededRandoms;
use super::{Context, Diagnostics, NoPrograms, UserVariables};
use crate::counters::Counters;
use crate::full_text::FoundCache;
use crate::host::Host;
use crate::memory::Budget;
use crate::regexp::PatternCache;
use crate::variables::Variables;
use engine::Engine;
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The parts of a [`Context`] that belong to a session, as in a session that has run nothing yet.
pub(crate) struct NoSession {
    memory: Arc<Budget>,
    counters: Counters,
    user_variables: UserVariables,
    diagnostics: RefCell<Diagnostics>,
    interrupt: AtomicBool,
    last_insert_id: Cell<u64>,
    last_insert_id_set: Cell<bool>,
    random: Cell<u64>,
}

impl NoSession {
    /// Makes the parts. Computing charges `memory`, and RAND() begins at `seed`.
    pub fn new(memory: Arc<Budget>, seed: u64) -> NoSession {
        NoSession {
            user_variables: UserVariables::new(&memory),
            memory,
            counters: Counters::default(),
            diagnostics: RefCell::default(),
            interrupt: AtomicBool::new(false),
            last_insert_id: Cell::new(0),
            last_insert_id_set: Cell::new(false),
            random: Cell::new(seed),
        }
    }

    /// Reports whether computing has raised a condition.
    pub fn has_conditions(&self) -> bool {
        !self.diagnostics.borrow().is_empty()
    }

    /// Returns what computing has counted.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Returns the context of an expression. With `strict`, a value that does not fit is an error
    /// if the sql_mode of the variables says so.
    pub fn context<'c>(
        &'c self,
        engine: &'c Arc<Engine>,
        host: &'c dyn Host,
        variables: &'c Variables,
        strict: bool,
    ) -> Context<'c> {
        Context {
            host,
            interrupt: &self.interrupt,
            memory: &self.memory,
            counters: &self.counters,
            measures: None,
            made_bytes: Cell::new(0),
            engine,
            variables,
            user_variables: &self.user_variables,
            parameters: &[],
            diagnostics: &self.diagnostics,
            schema: None,
            now_us: variables.timestamp_us.unwrap_or_else(os::clock::now_us),
            last_insert_id: &self.last_insert_id,
            last_insert_id_set: &self.last_insert_id_set,
            row_count: 0,
            found_rows: 0,
            subqueries: None,
            programs: &NoPrograms,
            tables: &[],
            outer: &[],
            random: &self.random,
            strict: strict && variables.sql_mode.strict(),
            lenient: Cell::new(false),
            regexps: PatternCache::default(),
            seeded_randoms: SeededRandoms::default(),
            searches: FoundCache::default(),
        }
    }
}
