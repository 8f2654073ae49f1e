//! What EXPLAIN ANALYZE measures while a statement runs: how often each of its operations begins,
//! how many rows the operation yields, and how long that takes.
//!
//! The time of an operation includes that of its inputs, and excludes that of the operations that
//! take its rows. Rows are passed on by calls, so the time of these calls is subtracted.
//! A statement that is not measured has no [`Measures`], and reads no clock.

use os::clock::monotonic_ns;
use std::cell::RefCell;
use std::collections::HashMap;

/// The measured figures of an operation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Timing {
    /// The number of times that the operation has begun.
    pub loops: u64,
    /// The number of rows that it has yielded in all loops together.
    pub rows: u64,
    /// The time until the first row or, if there was none, until the end, of all loops together.
    pub first_ns: u64,
    /// The time until the last row, of all loops together.
    pub all_ns: u64,
}

/// The operation of a part of a plan. The part is identified by its address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Operator {
    /// A query as a whole.
    Whole,
    /// Groups, before HAVING.
    Grouped,
    /// Groups or rows for which HAVING holds.
    Having,
    /// Rows behind DISTINCT and ORDER BY, before OFFSET and LIMIT.
    Ordered,
    /// Reading the table of a step.
    Read(usize),
    /// Reading the table of a step into its hash table.
    Built(usize),
    /// The rows in the hash table of a step.
    Hashed(usize),
    /// The rows of a step's table that meet its conditions.
    Kept(usize),
    /// The join of the tables before with a step's table.
    Joined(usize),
    /// The tables of the n-th nest of a step.
    Inside(usize, usize),
    /// The join of the tables before with that nest.
    WithNest(usize, usize),
    /// The rows of that join that meet the conditions on it.
    NestKept(usize, usize),
}

impl Operator {
    /// Returns the position of the step that the operation is about, if it is about one.
    pub fn step(self) -> Option<usize> {
        match self {
            Operator::Whole | Operator::Grouped | Operator::Having | Operator::Ordered => None,
            Operator::Read(at)
            | Operator::Built(at)
            | Operator::Hashed(at)
            | Operator::Kept(at)
            | Operator::Joined(at)
            | Operator::Inside(at, _)
            | Operator::WithNest(at, _)
            | Operator::NestKept(at, _) => Some(at),
        }
    }
}

/// A stopwatch for an operation.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    timing: Timing,
    begun_ns: u64,
    has_row: bool,
    /// The time in this loop that others took.
    away_ns: u64,
}

impl Watch {
    /// Returns the stopwatch of an operation that has ended.
    pub fn ended(timing: Timing) -> Watch {
        Watch { timing, ..Watch::default() }
    }

    /// Begins a loop of the operation.
    pub fn begin(&mut self, now_ns: u64) {
        self.timing.loops += 1;
        (self.begun_ns, self.has_row, self.away_ns) = (now_ns, false, 0);
    }

    /// Notes that the operation passes a row on.
    pub fn pass(&mut self, now_ns: u64) {
        self.timing.rows += 1;
        if !self.has_row {
            self.has_row = true;
            self.timing.first_ns += now_ns.saturating_sub(self.begun_ns);
        }
    }

    /// Notes that the row has been taken, and that this took from `left_ns` until now.
    pub fn back(&mut self, left_ns: u64, now_ns: u64) {
        self.away_ns += now_ns.saturating_sub(left_ns);
    }

    /// Ends the loop.
    pub fn end(&mut self, now_ns: u64) {
        let own_ns = now_ns.saturating_sub(self.begun_ns).saturating_sub(self.away_ns);
        self.timing.all_ns += own_ns;
        if !self.has_row {
            self.timing.first_ns += own_ns;
        }
    }

    pub fn timing(&self) -> Timing {
        self.timing
    }
}

/// The figures of the operations of a running statement.
#[derive(Debug, Default)]
pub(crate) struct Measures {
    timings: RefCell<HashMap<(usize, Operator), Timing>>,
}

/// An operation that has begun, and yields its rows all at once.
pub(crate) struct Began<'m> {
    measures: &'m Measures,
    began_ns: u64,
}

impl Began<'_> {
    /// Ends the operation, which yields this many rows.
    pub fn end<T: ?Sized>(&self, part: &T, operator: Operator, rows: usize) {
        let all_ns = monotonic_ns().saturating_sub(self.began_ns);
        let timing = Timing { loops: 1, rows: rows as u64, first_ns: all_ns, all_ns };
        self.measures.add(part, operator, timing);
    }
}

/// Returns what identifies a part of a plan as long as the plan lives.
fn address<T: ?Sized>(part: &T) -> usize {
    std::ptr::from_ref(part).cast::<()>() as usize
}

impl Measures {
    /// Begins an operation that yields its rows all at once.
    pub fn begin(&self) -> Began<'_> {
        Began { measures: self, began_ns: monotonic_ns() }
    }

    /// Adds what was measured of an operation.
    pub fn add<T: ?Sized>(&self, part: &T, operator: Operator, more: Timing) {
        let mut timings = self.timings.borrow_mut();
        let timing = timings.entry((address(part), operator)).or_default();
        timing.loops += more.loops;
        timing.rows += more.rows;
        timing.first_ns += more.first_ns;
        timing.all_ns += more.all_ns;
    }

    /// Adds a row of an operation whose time is not measured.
    pub fn count_row<T: ?Sized>(&self, part: &T, operator: Operator) {
        self.add(part, operator, Timing { rows: 1, ..Timing::default() });
    }

    /// Returns what was measured of an operation. One that has never run has zeros.
    pub fn of<T: ?Sized>(&self, part: &T, operator: Operator) -> Timing {
        self.timings.borrow().get(&(address(part), operator)).copied().unwrap_or_default()
    }

    /// Runs an operation whose rows are passed to `take`, and measures it. `run` is given what
    /// takes the rows in place of `take`.
    pub fn measure<T: ?Sized, R, E, X>(
        &self,
        part: &T,
        operator: Operator,
        take: &mut dyn FnMut(&R) -> Result<X, E>,
        run: impl FnOnce(&mut dyn FnMut(&R) -> Result<X, E>) -> Result<(), E>,
    ) -> Result<(), E>
    where
        R: ?Sized,
    {
        let mut watch = Watch::default();
        watch.begin(monotonic_ns());
        let done = run(&mut |row| {
            let left_ns = monotonic_ns();
            watch.pass(left_ns);
            let taken = take(row);
            watch.back(left_ns, monotonic_ns());
            taken
        });
        watch.end(monotonic_ns());
        self.add(part, operator, watch.timing());
        done
    }
}
