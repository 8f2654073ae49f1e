//! The parts of its statement and session that an expression may use while it is computed.

use super::UserVariables;
use super::diagnostics::{Diagnostics, Level};
use super::random::SeededRandoms;
use super::text::shown;
use crate::counters::Counters;
use crate::error::{Result, SqlError};
use crate::full_text::FoundCache;
use crate::host::Host;
use crate::memory::{Budget, Charge, LONG_VALUE_BYTES};
use crate::regexp::PatternCache;
use crate::stopwatch::Measures;
use crate::variables::Variables;
use engine::{Engine, Table, Transaction, TriggerEvent};
use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashSet;
use std::fmt::Debug;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use types::convert::{self, DateModes};
use types::{ColumnType, Value};

/// Takes a row. It returns false when it wants no more.
pub(crate) type TakeRow<'t> = dyn FnMut(&[Value]) -> Result<bool> + 't;

/// Rows that are in a file.
pub(crate) trait RowsInFile: Debug {
    /// Returns the number of rows.
    fn len(&self) -> usize;

    /// Passes the rows to `take`, in their order.
    ///
    /// # Errors
    /// Returns the errors of `take`, 2 when the file cannot be read, and 1317.
    fn for_each(&self, take: &mut TakeRow<'_>, ctx: &Context<'_>) -> Result<()>;

    /// Makes an empty set of keys, which is in a file too.
    fn new_keys(&self, ctx: &Context<'_>) -> Box<dyn KeysInFile>;
}

/// A set of keys that is in a file.
pub(crate) trait KeysInFile {
    /// Adds a key.
    ///
    /// # Errors
    /// Returns 1 and 3 when the file cannot be created or written.
    fn add(&mut self, key: &[u8], ctx: &Context<'_>) -> Result<()>;

    /// Is called behind the last key.
    ///
    /// # Errors
    /// Returns 1, 2 and 3 when the file cannot be created, read or written.
    fn finish(&mut self, ctx: &Context<'_>) -> Result<()>;

    /// Reports whether the set has the key.
    ///
    /// # Errors
    /// Returns 2 when the file cannot be read.
    fn contains(&self, key: &[u8]) -> Result<bool>;
}

/// The rows of a subquery for one list of arguments.
#[derive(Debug)]
pub(crate) struct SubqueryRows {
    /// The first rows, which are in memory.
    pub first: Vec<Vec<Value>>,
    /// The rows behind them.
    pub(super) rest: Option<Box<dyn RowsInFile>>,
    /// The memory that `first` and `keys` take. It is given back together with them.
    pub(super) charge: RefCell<Charge>,
    pub(super) keys: OnceCell<RowKeys>,
}

/// The keys of those rows of a subquery that have no NULL, and whether other rows exist.
pub(super) struct RowKeys {
    pub keys: HashSet<Vec<u8>>,
    pub in_file: Option<Box<dyn KeysInFile>>,
    pub has_null: bool,
}

/// Runs the subqueries of a statement.
pub(crate) trait RunSubqueries {
    /// Returns the rows of a subquery for these arguments, at most as many of them as the
    /// subquery's use needs.
    ///
    /// # Errors
    /// Returns the errors of running the subquery.
    fn rows(&self, number: usize, args: Vec<Value>, ctx: &Context<'_>) -> Result<Rc<SubqueryRows>>;

    /// Returns the rows of a subquery without arguments for other threads of the statement. `None`
    /// means that they differ each time, or are too many to be copied.
    ///
    /// # Errors
    /// Returns the errors of running the subquery.
    fn rows_for_threads(&self, number: usize, ctx: &Context<'_>) -> Result<Option<Vec<Vec<Value>>>>;

    /// Returns the rows of a subquery without arguments if it has been run and always has the same
    /// ones.
    fn known_rows(&self, number: usize) -> Option<Rc<SubqueryRows>>;

    /// Sets the rows of a subquery without arguments. `None` forgets its rows.
    fn set_rows(&self, number: usize, rows: Option<Rc<SubqueryRows>>);

    /// Returns what a subquery that is asked for values of its only column costs, in rows that are
    /// read. `None` means that it cannot be narrowed.
    fn cost_of_narrowing(&self, number: usize) -> Option<f64>;

    /// Runs a subquery for those rows alone whose only column equals one of some integers. From now
    /// on the subquery has only these rows, until they are forgotten
    /// ([`RunSubqueries::set_rows`]).
    ///
    /// # Errors
    /// Returns the errors of running the subquery.
    fn narrow(&self, number: usize, integers: Rc<SubqueryRows>, ctx: &Context<'_>) -> Result<()>;

    /// Returns the statement's transaction, for the stored functions that it calls.
    fn transaction(&self) -> &dyn SharedTransaction;
}

/// A transaction that several parts of a statement use in turn.
pub(crate) trait SharedTransaction {
    fn lend(&self, take: &mut dyn FnMut(&mut Transaction));
}

impl SharedTransaction for RefCell<&mut Transaction> {
    fn lend(&self, take: &mut dyn FnMut(&mut Transaction)) {
        take(&mut self.borrow_mut());
    }
}

/// A stored function that an expression calls.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct StoredFunction {
    pub schema: String,
    pub name: String,
    /// DETERMINISTIC: the same arguments give the same value.
    pub deterministic: bool,
}

/// The row that a trigger runs for.
pub(crate) struct TriggerRow<'r> {
    pub event: TriggerEvent,
    pub before: bool,
    pub old: Option<&'r [Value]>,
    /// The new row. A BEFORE trigger may set its columns.
    pub new: Option<&'r mut [Value]>,
}

/// Runs stored programs within a statement: in its transaction and with the state of its session.
pub(crate) trait Programs {
    /// Calls a stored function and returns its value.
    ///
    /// # Errors
    /// Returns the errors of the function's statements, and 1424 when the function is running
    /// already.
    fn call(
        &self,
        function: &StoredFunction,
        args: Vec<(Value, ColumnType)>,
        transaction: &dyn SharedTransaction,
        ctx: &Context<'_>,
    ) -> Result<Value>;

    /// Runs the triggers of a table for a row.
    ///
    /// # Errors
    /// Returns the errors of the triggers' statements, and 1424. The statement that fires the
    /// triggers fails with them.
    fn fire(
        &self,
        table: &Arc<Table>,
        row: TriggerRow<'_>,
        transaction: &dyn SharedTransaction,
        ctx: &Context<'_>,
    ) -> Result<()>;
}

/// Refuses to run stored programs, because there is no session.
pub(crate) struct NoPrograms;

impl Programs for NoPrograms {
    fn call(
        &self,
        function: &StoredFunction,
        _: Vec<(Value, ColumnType)>,
        _: &dyn SharedTransaction,
        _: &Context<'_>,
    ) -> Result<Value> {
        Err(SqlError::not_supported(format!("a call of the function {} here", function.name)))
    }

    fn fire(
        &self,
        table: &Arc<Table>,
        _: TriggerRow<'_>,
        _: &dyn SharedTransaction,
        _: &Context<'_>,
    ) -> Result<()> {
        Err(SqlError::not_supported(format!("triggers of {} here", table.qualified_name())))
    }
}

/// The surroundings of an expression while it is computed.
pub(crate) struct Context<'a> {
    pub host: &'a dyn Host,
    /// The budget that is charged with what the session keeps.
    pub memory: &'a Arc<Budget>,
    /// The counters of what the session's statements have done.
    pub counters: &'a Counters,
    /// What EXPLAIN ANALYZE measures. `None` means that the statement is not measured.
    pub measures: Option<&'a Measures>,
    /// Bytes of `memory` that functions have charged for values of the row at hand; see
    /// [`Context::charge_made`].
    pub made_bytes: Cell<u64>,
    /// Set when the statement is to end; see [`Context::check_interrupt`].
    pub interrupt: &'a AtomicBool,
    pub engine: &'a Arc<Engine>,
    pub variables: &'a Variables,
    pub user_variables: &'a UserVariables,
    pub parameters: &'a [Value],
    pub diagnostics: &'a RefCell<Diagnostics>,
    pub schema: Option<&'a str>,
    /// The moment of the statement's start, in microseconds of Unix time. NOW() has one value in a
    /// statement.
    pub now_us: u64,
    pub last_insert_id: &'a Cell<u64>,
    /// Set when LAST_INSERT_ID(expr) has been called.
    pub last_insert_id_set: &'a Cell<bool>,
    pub row_count: i64,
    pub found_rows: u64,
    /// Runs the statement's subqueries. `None` means that it has none.
    pub subqueries: Option<&'a dyn RunSubqueries>,
    /// Runs stored functions and triggers.
    pub programs: &'a dyn Programs,
    /// The stored tables of the statement.
    pub tables: &'a [Arc<Table>],
    /// The arguments of the subquery that is running.
    pub outer: &'a [Value],
    /// The two seeds of RAND() without a seed, the first one in the lower half.
    pub random: &'a Cell<u64>,
    /// Whether an inexact conversion is an error instead of a warning (strict mode in a statement
    /// that changes data).
    pub strict: bool,
    /// Whether an inexact conversion is a warning nevertheless, because the statement has IGNORE or
    /// has succeeded at the source that it comes from.
    pub lenient: Cell<bool>,
    /// The patterns that the statement has compiled.
    pub regexps: PatternCache,
    /// The generators of RAND() with a constant seed.
    pub seeded_randoms: SeededRandoms,
    /// The full-text searches that the statement has made.
    pub searches: FoundCache,
}

/// The warnings that strict mode turns into errors, as far as this server's statements can have
/// them (MySQL's `Strict_error_handler`).
const STRICT_ERRORS: [u16; 10] = [1260, 1264, 1292, 1366, 1411, 1441, 3020, 3155, 3156, 6527];

impl Context<'_> {
    /// Returns the same surroundings, in which an inexact conversion is an error where the SQL mode
    /// is strict, although the statement is a query.
    pub fn strictly<'s>(&'s self, subqueries: &'s dyn RunSubqueries) -> Context<'s> {
        let mut within = self.within(subqueries, self.outer);
        within.strict |= self.variables.sql_mode.strict();
        within
    }

    /// Returns the surroundings of a subquery's expressions, with the subquery's arguments.
    pub fn within<'s>(&'s self, subqueries: &'s dyn RunSubqueries, outer: &'s [Value]) -> Context<'s> {
        Context {
            host: self.host,
            memory: self.memory,
            counters: self.counters,
            measures: self.measures,
            // The rows of the subquery are not the row at hand, so the count begins at 0.
            made_bytes: Cell::new(0),
            interrupt: self.interrupt,
            engine: self.engine,
            variables: self.variables,
            user_variables: self.user_variables,
            parameters: self.parameters,
            diagnostics: self.diagnostics,
            schema: self.schema,
            now_us: self.now_us,
            last_insert_id: self.last_insert_id,
            last_insert_id_set: self.last_insert_id_set,
            row_count: self.row_count,
            found_rows: self.found_rows,
            subqueries: Some(subqueries),
            programs: self.programs,
            tables: self.tables,
            outer,
            random: self.random,
            strict: self.strict,
            lenient: Cell::new(self.lenient.get()),
            regexps: self.regexps.shared(),
            seeded_randoms: self.seeded_randoms.shared(),
            searches: self.searches.shared(),
        }
    }

    /// Adds a warning. Where strict mode turns it into an error, the statement ends with it when
    /// its rows are done, or when [`Context::check_refused`] is called.
    pub fn warn(&self, code: u16, message: impl Into<String>) {
        if self.strict && !self.lenient.get() && STRICT_ERRORS.contains(&code) {
            self.diagnostics.borrow_mut().refused.get_or_insert_with(|| SqlError::new(code, message));
            return;
        }
        self.diagnostics.borrow_mut().push(Level::Warning, code, message);
    }

    /// Returns the error that strict mode has made of a warning, if any. Callers return it in
    /// preference to errors that occurred later.
    ///
    /// # Errors
    /// Returns one of [`STRICT_ERRORS`].
    pub fn check_refused(&self) -> Result<()> {
        self.diagnostics.borrow_mut().refused.take().map_or(Ok(()), Err)
    }

    /// Makes strict mode's errors warnings for the rest of the statement.
    pub fn be_lenient(&self) {
        self.lenient.set(true);
    }

    /// Warns that a value is not as a whole what it was read as.
    pub fn warn_truncated(&self, kind: &str, value: &Value) {
        self.warn(1292, format!("Truncated incorrect {kind} value: '{}'", shown(value)));
    }

    /// Returns the session's modes for dates and times.
    pub fn dates(&self) -> DateModes {
        self.variables.sql_mode.dates()
    }

    /// Returns the settings with which values are converted for columns.
    pub fn conversion(&self, strict: bool) -> convert::Context {
        convert::Context {
            strict,
            zone: self.zone(),
            dates: self.dates(),
            of_mariadb: self.variables.of_mariadb,
        }
    }

    /// Returns error 1317 when the statement was killed or its time is over. A call costs one load.
    /// Every loop over rows, values or bytes whose number somebody else decides calls it, often
    /// enough that it is called ten times a second.
    #[inline]
    pub fn check_interrupt(&self) -> Result<()> {
        if self.interrupt.load(Ordering::Relaxed) { Err(SqlError::interrupted()) } else { Ok(()) }
    }

    /// Charges `bytes` for a long value that a function is about to make. The value may live as
    /// long as the row that it is computed for, or as the statement where there are no rows.
    ///
    /// # Errors
    /// Returns the errors of [`crate::memory::Charge::add`].
    pub fn charge_made(&self, bytes: usize) -> Result<()> {
        self.memory.charge(bytes as u64)?;
        self.made_bytes.set(self.made_bytes.get() + bytes as u64);
        Ok(())
    }

    /// Does the same as [`Context::charge_made`] for a value that is long. A short value costs one
    /// comparison.
    ///
    /// # Errors
    /// Returns the errors of [`Context::charge_made`], and 1317.
    #[inline]
    pub fn charge_if_long(&self, bytes: usize) -> Result<()> {
        if bytes < LONG_VALUE_BYTES {
            return Ok(());
        }
        self.check_interrupt()?;
        self.charge_made(bytes)
    }

    /// Returns a copy of a value.
    ///
    /// # Errors
    /// Returns the errors of [`Context::charge_if_long`].
    pub fn copied(&self, value: &Value) -> Result<Value> {
        if let Value::Bytes(bytes) | Value::Json(bytes) = value {
            self.charge_if_long(bytes.len())?;
        }
        Ok(value.clone())
    }

    /// Returns the value itself, or a copy of a borrowed one.
    ///
    /// # Errors
    /// Returns the errors of [`Context::copied`].
    #[inline]
    pub fn owned(&self, value: Cow<'_, Value>) -> Result<Value> {
        match value {
            Cow::Owned(value) => Ok(value),
            Cow::Borrowed(value) => self.copied(value),
        }
    }

    /// Gives back what was charged for the values of the row before, which are gone or charged to
    /// what keeps them.
    #[inline]
    pub fn forget_made(&self) {
        if self.made_bytes.get() > 0 {
            self.memory.give_back(self.made_bytes.take());
        }
    }

    /// Returns the session's time zone.
    pub fn zone(&self) -> types::Zone {
        self.variables.zone
    }
}

impl Drop for Context<'_> {
    fn drop(&mut self) {
        self.forget_made();
    }
}
