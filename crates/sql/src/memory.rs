//! The accounting of what statements keep in memory, limited as `connection_memory_limit` and
//! `global_connection_memory_limit` say.
//!
//! Each connection has a [`Budget`]. Whatever keeps much (rows to be sorted, groups, the rows of a
//! subquery, long values, user variables, parameters) holds a [`Charge`] and adds to it as it
//! grows. What was charged is given back when the charge is dropped. A charge asks its budget in
//! steps of some kilobytes, and a budget asks its server's [`Pool`] in steps of
//! `connection_memory_chunk_size`, so that a row costs no more than an addition.
//!
//! Beside the limits of the variables the pool has a hard limit ([`Pool::set_hard_limit`]): what
//! the machine or the process can have. It holds for every connection, also where MySQL's variables
//! are at their defaults, which limit nothing. Its error is the one that MySQL reports when the
//! system gives no memory (1041).
//!
//! A charge counts what the allocator gives, not the length of the contents. Code that has a list,
//! a text or a table that grows leaves the charging to `growth`.
//!
//! Invariant: a pool's `used_bytes` is the sum of what its budgets have reserved. A budget's
//! `used_bytes` is the sum of its charges, and is at most what the budget has reserved.

pub(crate) mod growth;

use crate::error::{Result, SqlError};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use types::Value;

/// A charge gathers this many bytes before it asks its budget.
const STEP_BYTES: u64 = 8 * 1024;

/// When the connections' memory has grown or shrunk by this many bytes, the system is asked again
/// what is left.
const ASKED_AFTER_BYTES: u64 = 2 << 20;

/// The bytes that the system must have left beside what connections take: for new threads and for
/// memory that is not charged.
const LEFT_BYTES: u64 = 96 << 20;

/// Values of fewer bytes are not charged one by one.
pub(crate) const LONG_VALUE_BYTES: usize = 64 * 1024;

/// The memory that all connections of a server keep. Every access is relaxed: each figure stands
/// for itself, and a limit may be exceeded by one step.
#[derive(Debug)]
pub struct Pool {
    used_bytes: AtomicU64,
    /// The value of `global_connection_memory_limit`.
    limit_bytes: AtomicU64,
    /// The bytes that the machine or the process can have.
    hard_limit_bytes: AtomicU64,
    /// A function that returns how many bytes the system would still give the process. It is unset
    /// where the system limits nothing.
    left_bytes: OnceLock<fn() -> u64>,
    /// The value of `used_bytes` when `left_bytes` was last called.
    asked_at_bytes: AtomicU64,
    /// The value of `Global_connection_memory`: the bytes of the budgets that are tracked.
    tracked_bytes: AtomicU64,
    /// The number of statements that a connection's limit has ended.
    past_connection_limit: AtomicU64,
    /// The number of statements that the limit of all connections has ended.
    past_global_limit: AtomicU64,
}

impl Default for Pool {
    fn default() -> Pool {
        Pool {
            used_bytes: AtomicU64::new(0),
            limit_bytes: AtomicU64::new(u64::MAX),
            hard_limit_bytes: AtomicU64::new(u64::MAX),
            left_bytes: OnceLock::new(),
            asked_at_bytes: AtomicU64::new(0),
            tracked_bytes: AtomicU64::new(0),
            past_connection_limit: AtomicU64::new(0),
            past_global_limit: AtomicU64::new(0),
        }
    }
}

impl Pool {
    /// Sets the limit that `global_connection_memory_limit` says.
    pub fn set_limit(&self, bytes: u64) {
        self.limit_bytes.store(bytes, Ordering::Relaxed);
    }

    /// Sets the number of bytes that all connections together can have, whatever the variables say.
    pub fn set_hard_limit(&self, bytes: u64) {
        self.hard_limit_bytes.store(bytes, Ordering::Relaxed);
    }

    /// Sets the function that tells how many bytes the system would still give. It is called each
    /// time that some megabytes more are taken, and sees also memory that is not charged, such as
    /// that of threads. Only the first function that is passed is kept.
    pub fn ask_what_is_left(&self, left_bytes: fn() -> u64) {
        self.left_bytes.get_or_init(|| left_bytes);
    }

    /// Reports whether the system has `bytes` more for the connections and [`LEFT_BYTES`] beside
    /// them.
    fn is_left(&self, used: u64, bytes: u64) -> bool {
        let Some(left_bytes) = self.left_bytes.get() else { return true };
        let since = used.abs_diff(self.asked_at_bytes.load(Ordering::Relaxed));
        if since < ASKED_AFTER_BYTES {
            return true;
        }
        self.asked_at_bytes.store(used, Ordering::Relaxed);
        left_bytes() >= bytes.saturating_add(LEFT_BYTES)
    }

    /// Returns the bytes that all connections have reserved now.
    pub fn used_bytes(&self) -> u64 {
        self.used_bytes.load(Ordering::Relaxed)
    }

    /// Returns the value of `Global_connection_memory`.
    pub fn tracked_bytes(&self) -> u64 {
        self.tracked_bytes.load(Ordering::Relaxed)
    }

    /// Returns the numbers of statements that were ended by their connection's limit and by the
    /// limit of all connections.
    pub fn refusals(&self) -> (u64, u64) {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        (count(&self.past_connection_limit), count(&self.past_global_limit))
    }

    fn take(&self, bytes: u64, limits: &Limits) -> Result<()> {
        let used = self.used_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let refuse = |error| {
            self.used_bytes.fetch_sub(bytes, Ordering::Relaxed);
            Err(error)
        };
        if used > self.hard_limit_bytes.load(Ordering::Relaxed) || !self.is_left(used, bytes) {
            return refuse(out_of_memory());
        }
        if !limits.tracked.load(Ordering::Relaxed) {
            return Ok(());
        }
        let tracked = self.tracked_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let limit = self.limit_bytes.load(Ordering::Relaxed);
        if tracked > limit && !limits.exempt.load(Ordering::Relaxed) {
            self.tracked_bytes.fetch_sub(bytes, Ordering::Relaxed);
            self.past_global_limit.fetch_add(1, Ordering::Relaxed);
            let text = format!(
                "Connection closed. Global connection memory limit {limit} bytes exceeded. Consumed {tracked} bytes."
            );
            return refuse(SqlError::new(4081, text));
        }
        limits.tracked_bytes.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }

    fn give_back(&self, bytes: u64, limits: &Limits) {
        let used = self.used_bytes.fetch_sub(bytes, Ordering::Relaxed);
        assert!(used >= bytes, "{bytes} of {used} bytes are given back");
        // Bytes that were reserved before tracking began are not in the tracked figures.
        let take = |tracked: u64| Some(tracked - tracked.min(bytes));
        let before = limits.tracked_bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        let tracked = before.unwrap_or_default().min(bytes);
        self.tracked_bytes.fetch_sub(tracked, Ordering::Relaxed);
    }
}

/// Builds error 1041: the system has no more memory for this server.
pub fn out_of_memory() -> SqlError {
    let text = "Out of memory; check if mysqld or some other process uses all available memory; if not, you may have to \
                use 'ulimit' to allow mysqld to use more memory or you can add more swap space";
    SqlError::new(1041, text)
}

/// A connection's settings. Accesses are relaxed, because the connection's own thread alone sets
/// and reads them.
#[derive(Debug)]
struct Limits {
    limit_bytes: AtomicU64,
    chunk_bytes: AtomicU64,
    /// The value of `global_connection_memory_tracking`.
    tracked: AtomicBool,
    /// Whether the limits of the variables do not hold for the connection's account.
    exempt: AtomicBool,
    /// The reserved bytes that are counted in `Global_connection_memory`.
    tracked_bytes: AtomicU64,
}

/// The memory that one connection keeps.
#[derive(Debug)]
pub struct Budget {
    pool: Arc<Pool>,
    used_bytes: AtomicU64,
    reserved_bytes: AtomicU64,
    /// The most bytes that were reserved since [`Budget::take_most_bytes`] was last called.
    most_bytes: AtomicU64,
    limits: Limits,
}

impl Budget {
    /// Makes a budget of this pool, without a limit of its own.
    pub fn new(pool: Arc<Pool>) -> Arc<Budget> {
        Arc::new(Budget {
            pool,
            used_bytes: AtomicU64::new(0),
            reserved_bytes: AtomicU64::new(0),
            most_bytes: AtomicU64::new(0),
            limits: Limits {
                limit_bytes: AtomicU64::new(u64::MAX),
                chunk_bytes: AtomicU64::new(STEP_BYTES),
                tracked: AtomicBool::new(false),
                exempt: AtomicBool::new(false),
                tracked_bytes: AtomicU64::new(0),
            },
        })
    }

    /// Sets what `connection_memory_limit`, `connection_memory_chunk_size` and
    /// `global_connection_memory_tracking` say.
    pub fn set_limits(&self, limit_bytes: u64, chunk_bytes: u64, tracked: bool) {
        self.limits.limit_bytes.store(limit_bytes, Ordering::Relaxed);
        self.limits.chunk_bytes.store(chunk_bytes.max(STEP_BYTES), Ordering::Relaxed);
        self.limits.tracked.store(tracked, Ordering::Relaxed);
    }

    /// Sets whether the connection is free of the variables' limits, because its account has
    /// CONNECTION_ADMIN.
    pub fn set_exempt(&self, exempt: bool) {
        self.limits.exempt.store(exempt, Ordering::Relaxed);
    }

    /// Returns the bytes that the connection keeps.
    pub fn used_bytes(&self) -> u64 {
        self.used_bytes.load(Ordering::Relaxed)
    }

    /// Returns the most bytes that were reserved since the last call, or 0 if nothing more was
    /// reserved since.
    pub fn take_most_bytes(&self) -> u64 {
        self.most_bytes.swap(0, Ordering::Relaxed)
    }

    /// Returns how many bytes the connection's own limit still allows.
    pub fn left_bytes(&self) -> u64 {
        self.limits.limit_bytes.load(Ordering::Relaxed).saturating_sub(self.used_bytes())
    }

    /// Charges `bytes`. It fails with 4082 or 4081, after which the connection is to be closed, or
    /// with 1041, and charges nothing then.
    pub(crate) fn charge(&self, bytes: u64) -> Result<()> {
        let used = self.used_bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let charged = self.check(used).and_then(|()| self.reserve(used));
        if charged.is_err() {
            self.used_bytes.fetch_sub(bytes, Ordering::Relaxed);
        }
        charged
    }

    fn check(&self, used: u64) -> Result<()> {
        let limit = self.limits.limit_bytes.load(Ordering::Relaxed);
        if used <= limit || self.limits.exempt.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.pool.past_connection_limit.fetch_add(1, Ordering::Relaxed);
        let text = format!(
            "Connection closed. Connection memory limit {limit} bytes exceeded. Consumed {used} bytes."
        );
        Err(SqlError::new(4082, text))
    }

    fn reserve(&self, used: u64) -> Result<()> {
        let reserved = self.reserved_bytes.load(Ordering::Relaxed);
        if used <= reserved {
            return Ok(());
        }
        let chunk = self.limits.chunk_bytes.load(Ordering::Relaxed);
        let more = (used - reserved).div_ceil(chunk).saturating_mul(chunk);
        self.pool.take(more, &self.limits)?;
        let before = self.reserved_bytes.fetch_add(more, Ordering::Relaxed);
        self.most_bytes.fetch_max(before + more, Ordering::Relaxed);
        Ok(())
    }

    /// Gives back `bytes` that were charged.
    pub(crate) fn give_back(&self, bytes: u64) {
        let before = self.used_bytes.fetch_sub(bytes, Ordering::Relaxed);
        assert!(before >= bytes, "no more is given back than was charged");
        let chunk = self.limits.chunk_bytes.load(Ordering::Relaxed);
        let keep = (before - bytes).div_ceil(chunk).saturating_mul(chunk);
        // One chunk stays reserved for what comes next. Several threads of a query may be here at
        // once, and each reserved byte is given back by one of them.
        let shrink = |reserved: u64| (reserved > keep.saturating_add(chunk)).then_some(keep);
        let shrunk = self.reserved_bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, shrink);
        if let Ok(reserved) = shrunk {
            self.pool.give_back(reserved - keep, &self.limits);
        }
    }
}

/// Charges what the connection's transactions keep.
impl engine::MemoryBudget for Budget {
    fn take(&self, bytes: u64) -> std::result::Result<(), (u16, String)> {
        self.charge(bytes).map_err(|error| (error.code, error.message))
    }

    fn give_back(&self, bytes: u64) {
        Budget::give_back(self, bytes);
    }
}

impl Drop for Budget {
    fn drop(&mut self) {
        self.pool.give_back(*self.reserved_bytes.get_mut(), &self.limits);
    }
}

/// The memory that one part of a statement or of a session keeps. It is given back when the charge
/// is dropped.
#[derive(Debug)]
pub struct Charge {
    budget: Arc<Budget>,
    charged_bytes: u64,
    /// Bytes that were added and that the budget has not been asked for yet.
    added_bytes: u64,
}

impl Charge {
    /// Makes a charge of 0 bytes.
    pub fn new(budget: &Arc<Budget>) -> Charge {
        Charge { budget: budget.clone(), charged_bytes: 0, added_bytes: 0 }
    }

    /// Adds `bytes` that are kept or about to be.
    ///
    /// # Errors
    /// Returns 4082 or 4081, after which the connection is to be closed, or 1041.
    #[inline]
    pub fn add(&mut self, bytes: usize) -> Result<()> {
        self.added_bytes += bytes as u64;
        if self.added_bytes < STEP_BYTES { Ok(()) } else { self.settle(bytes as u64) }
    }

    /// Adds `bytes` and asks the budget at once. That is for what a session keeps in many small
    /// parts with a charge each, whose bytes would otherwise never be asked for.
    ///
    /// # Errors
    /// Returns the errors of [`Charge::add`].
    pub fn add_now(&mut self, bytes: usize) -> Result<()> {
        self.added_bytes += bytes as u64;
        self.settle(bytes as u64)
    }

    /// Adds `bytes` at once for something that can be left out, unless the connection's own limit
    /// or another one leaves no room. Returns whether it did.
    pub fn add_if_room(&mut self, bytes: usize) -> bool {
        let needed = self.added_bytes.saturating_add(bytes as u64);
        needed <= self.budget.left_bytes() && self.add_now(bytes).is_ok()
    }

    /// Adds the bytes of a row that is kept or about to be. The row's place in a list is charged
    /// apart.
    ///
    /// # Errors
    /// Returns the errors of [`Charge::add`].
    pub fn add_row(&mut self, row: &[Value]) -> Result<()> {
        self.add(row_bytes(row))
    }

    /// Charges the budget with what was added. If that fails, the `last` bytes are taken off again.
    fn settle(&mut self, last: u64) -> Result<()> {
        let charged = self.budget.charge(self.added_bytes);
        if charged.is_ok() {
            self.charged_bytes += std::mem::take(&mut self.added_bytes);
        } else {
            self.added_bytes -= last;
        }
        charged
    }

    /// Returns the bytes that are kept.
    pub fn bytes(&self) -> usize {
        (self.charged_bytes + self.added_bytes) as usize
    }

    /// Takes over what another charge of the same budget has.
    pub fn absorb(&mut self, mut other: Charge) {
        assert!(
            Arc::ptr_eq(&self.budget, &other.budget),
            "memory stays with the budget that it is charged to"
        );
        self.charged_bytes += std::mem::take(&mut other.charged_bytes);
        self.added_bytes += std::mem::take(&mut other.added_bytes);
    }

    /// Takes `bytes` off: they are not kept any more.
    pub fn take_away(&mut self, bytes: usize) {
        let bytes = bytes as u64;
        assert!(bytes <= self.added_bytes + self.charged_bytes, "no more is taken away than was added");
        let of_added = bytes.min(self.added_bytes);
        self.added_bytes -= of_added;
        let of_charged = bytes - of_added;
        if of_charged > 0 {
            self.charged_bytes -= of_charged;
            self.budget.give_back(of_charged);
        }
    }

    /// Takes all bytes off: nothing is kept any more.
    pub fn clear(&mut self) {
        self.added_bytes = 0;
        let charged = std::mem::take(&mut self.charged_bytes);
        if charged > 0 {
            self.budget.give_back(charged);
        }
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Estimates the bytes that the allocator takes for a piece of `bytes`. It has pieces of a few
/// sizes only, and keeps notes on each.
pub(crate) fn allocated(bytes: usize) -> usize {
    if bytes == 0 { 0 } else { bytes + bytes / 8 + 16 }
}

/// Returns the bytes that a value takes on the heap.
pub(crate) fn heap_bytes(value: &Value) -> usize {
    match value {
        Value::Bytes(bytes) | Value::Json(bytes) => allocated(bytes.capacity()),
        _ => 0,
    }
}

/// Returns the bytes that a copy of a value would take on the heap.
pub(crate) fn copy_bytes(value: &Value) -> usize {
    match value {
        Value::Bytes(bytes) | Value::Json(bytes) => allocated(bytes.len()),
        _ => 0,
    }
}

/// Returns the bytes that a kept row takes beside its place in a list.
pub(crate) fn row_bytes(row: &[Value]) -> usize {
    allocated(size_of_val(row)) + row.iter().map(heap_bytes).sum::<usize>()
}

/// Reports whether the error closes the connection, as it does in MySQL.
pub(crate) fn closes_connection(error: &SqlError) -> bool {
    matches!(error.code, 4081 | 4082)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: usize = 1 << 20;

    #[test]
    fn a_connection_has_its_limit_and_gives_back() {
        let pool = Arc::new(Pool::default());
        let budget = Budget::new(pool.clone());
        budget.set_limits(2 * MB as u64, 8192, false);
        let mut rows = Charge::new(&budget);
        rows.add(MB).unwrap();
        let error = Charge::new(&budget).add(MB + 1).unwrap_err();
        assert_eq!((error.code, budget.used_bytes()), (4082, MB as u64));
        let words =
            "Connection closed. Connection memory limit 2097152 bytes exceeded. Consumed 2097153 bytes.";
        assert_eq!(error.message, words);
        drop(rows);
        assert_eq!(budget.used_bytes(), 0);
        budget.set_exempt(true);
        Charge::new(&budget).add(5 * MB).unwrap();
        drop(budget);
        assert_eq!((pool.used_bytes(), pool.refusals()), (0, (1, 0)));
    }

    /// Threads of one query charge the connection's budget. The pool must not get a byte twice.
    #[test]
    fn threads_give_back_what_they_have_taken() {
        const ROUNDS: usize = 1_000_000;
        let pool = Arc::new(Pool::default());
        let budget = Budget::new(pool.clone());
        std::thread::scope(|scope| {
            for thread in 0..4usize {
                let budget = &budget;
                scope.spawn(move || {
                    for round in 0..ROUNDS {
                        let mut rows = Charge::new(budget);
                        rows.add_now((1 + (round + thread) % 7) * STEP_BYTES as usize).expect("no limit");
                    }
                });
            }
        });
        assert_eq!(budget.used_bytes(), 0);
        assert_eq!(pool.used_bytes(), budget.reserved_bytes.load(Ordering::Relaxed));
        drop(budget);
        assert_eq!(pool.used_bytes(), 0);
    }

    #[test]
    fn all_connections_have_a_limit_together_as_far_as_they_are_tracked() {
        let pool = Arc::new(Pool::default());
        pool.set_limit(4 * MB as u64);
        let [one, other, untracked] = [(); 3].map(|()| Budget::new(pool.clone()));
        one.set_limits(u64::MAX, 8192, true);
        other.set_limits(u64::MAX, 8192, true);
        let mut kept = Charge::new(&one);
        kept.add(3 * MB).unwrap();
        assert_eq!(Charge::new(&other).add(2 * MB).unwrap_err().code, 4081);
        Charge::new(&untracked).add(20 * MB).unwrap();
        assert_eq!((pool.tracked_bytes(), pool.refusals()), (3 * MB as u64, (0, 1)));
        kept.clear();
        Charge::new(&other).add(2 * MB).unwrap();
        drop((kept, one, other, untracked));
        assert_eq!((pool.tracked_bytes(), pool.used_bytes()), (0, 0));
    }

    #[test]
    fn what_there_is_counts_for_everybody() {
        let pool = Arc::new(Pool::default());
        pool.set_hard_limit(8 * MB as u64);
        let budget = Budget::new(pool.clone());
        budget.set_exempt(true);
        let mut kept = Charge::new(&budget);
        let refused = (0..).find_map(|_| kept.add(4096).err());
        assert_eq!(refused.map(|error| error.code), Some(1041));
        assert!(pool.used_bytes() <= 8 * MB as u64 && pool.used_bytes() > 7 * MB as u64);
        drop(kept);
        assert!(pool.used_bytes() <= 16 * 1024);
    }

    #[test]
    fn what_the_system_has_left_counts_as_it_is_then() {
        static LEFT: AtomicU64 = AtomicU64::new(u64::MAX);
        let pool = Arc::new(Pool::default());
        pool.ask_what_is_left(|| LEFT.load(Ordering::Relaxed));
        let budget = Budget::new(pool.clone());
        let mut kept = Charge::new(&budget);
        kept.add(8 * MB).unwrap();
        LEFT.store(LEFT_BYTES + 4 * MB as u64, Ordering::Relaxed);
        assert_eq!(kept.add(8 * MB).map_err(|error| error.code), Err(1041));
        kept.add(3 * MB).unwrap();
        LEFT.store(0, Ordering::Relaxed);
        assert_eq!(kept.add(3 * MB).map_err(|error| error.code), Err(1041));
        assert!(pool.used_bytes() < 12 * MB as u64);
        drop((kept, budget));
        assert_eq!(pool.used_bytes(), 0);
    }

    #[test]
    fn small_things_are_charged_in_steps() {
        let budget = Budget::new(Arc::default());
        let mut kept = Charge::new(&budget);
        kept.add(100).unwrap();
        assert_eq!(budget.used_bytes(), 0);
        (0..100).for_each(|_| kept.add(100).unwrap());
        assert!(budget.used_bytes() > 0);
    }
}
