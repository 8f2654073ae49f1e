//! The system variables that say how transactions are applied. They hold for every channel and can
//! change at any moment.
//!
//! Loads and stores are relaxed: each value stands for itself, and a transaction that is being
//! applied may see the old or the new value.

use sql::replicated::{ChangeAccounts, ReadVariable};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::exec_mode::ExecMode;
use super::policy::Policy;
use super::skipped_errors::{SkippedErrors, Tolerance};
use super::type_conversions::TypeConversions;

/// The system variables of all appliers.
pub struct ApplySettings {
    transaction_retries: AtomicU64,
    type_conversions: AtomicU8,
    exec_mode: AtomicU8,
    skip_counter: AtomicU64,
    policy: AtomicU8,
    adaptive: AtomicBool,
    reads_ahead: AtomicBool,
    compresses: AtomicBool,
    compression_level: AtomicU8,
    /// Set once, before a channel is started.
    skipped_errors: OnceLock<SkippedErrors>,
    /// Set once, before a channel is started. Without it, statements about accounts are only
    /// logged.
    accounts: OnceLock<Box<ChangeAccounts>>,
    /// Set once, before a channel is started.
    variables: OnceLock<Arc<ReadVariable>>,
}

impl fmt::Debug for ApplySettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApplySettings").field("exec_mode", &self.exec_mode()).finish_non_exhaustive()
    }
}

impl Default for ApplySettings {
    /// Returns MySQL's defaults.
    fn default() -> ApplySettings {
        ApplySettings {
            transaction_retries: AtomicU64::new(10),
            type_conversions: AtomicU8::new(0),
            exec_mode: AtomicU8::new(ExecMode::default().number()),
            skip_counter: AtomicU64::new(0),
            policy: AtomicU8::new(Policy::default().number()),
            adaptive: AtomicBool::new(true),
            reads_ahead: AtomicBool::new(true),
            compresses: AtomicBool::new(false),
            compression_level: AtomicU8::new(3),
            skipped_errors: OnceLock::new(),
            accounts: OnceLock::new(),
            variables: OnceLock::new(),
        }
    }
}

impl ApplySettings {
    /// Returns `replica_transaction_retries`.
    pub fn transaction_retries(&self) -> u64 {
        self.transaction_retries.load(Ordering::Relaxed)
    }

    /// Sets `replica_transaction_retries`.
    pub fn set_transaction_retries(&self, retries: u64) {
        self.transaction_retries.store(retries, Ordering::Relaxed);
    }

    /// Returns `replica_exec_mode`.
    pub fn exec_mode(&self) -> ExecMode {
        ExecMode::of_number(self.exec_mode.load(Ordering::Relaxed))
    }

    /// Sets `replica_exec_mode`.
    pub fn set_exec_mode(&self, mode: ExecMode) {
        self.exec_mode.store(mode.number(), Ordering::Relaxed);
    }

    /// Returns the function that carries out statements about accounts. `None` means that they are
    /// only logged.
    pub fn accounts(&self) -> Option<&ChangeAccounts> {
        self.accounts.get().map(|change| &**change)
    }

    /// Sets the function that carries out statements about accounts, once, when the server starts.
    pub fn set_accounts(&self, change: Box<ChangeAccounts>) {
        assert!(self.accounts.set(change).is_ok(), "it is set once, when the server starts");
    }

    /// Returns the function that reads the server's variables, which statements of a source may
    /// name.
    pub fn variables(&self) -> Option<Arc<ReadVariable>> {
        self.variables.get().cloned()
    }

    /// Sets the function that reads the server's variables, once, when the server starts.
    pub fn set_variables(&self, read: Arc<ReadVariable>) {
        assert!(self.variables.set(read).is_ok(), "it is set once, when the server starts");
    }

    /// Returns `replica_skip_errors`.
    pub fn skipped_errors(&self) -> &SkippedErrors {
        const NONE: &SkippedErrors = &SkippedErrors::Listed(Vec::new());
        self.skipped_errors.get().unwrap_or(NONE)
    }

    /// Sets `replica_skip_errors`, once, when the server starts.
    pub fn set_skipped_errors(&self, errors: SkippedErrors) {
        let set = self.skipped_errors.set(errors);
        assert!(set.is_ok(), "replica_skip_errors does not change while the server runs");
    }

    /// Returns how far this server's rows may differ from those that a row event describes.
    pub(super) fn tolerance(&self) -> Tolerance<'_> {
        Tolerance { mode: self.exec_mode(), skipped: self.skipped_errors() }
    }

    /// Returns `sql_replica_skip_counter`: the number of events that are still to be passed over,
    /// together with the rest of the group of the last one.
    pub fn skip_counter(&self) -> u64 {
        self.skip_counter.load(Ordering::Relaxed)
    }

    /// Sets `sql_replica_skip_counter`, in events.
    pub(crate) fn set_skip_counter(&self, events: u64) {
        self.skip_counter.store(events, Ordering::Relaxed);
    }

    /// Returns `slipstream_parallel_policy`.
    pub fn policy(&self) -> Policy {
        Policy::of_number(self.policy.load(Ordering::Relaxed))
    }

    /// Sets `slipstream_parallel_policy`. Running workers change over between two transactions.
    pub fn set_policy(&self, policy: Policy) {
        self.policy.store(policy.number(), Ordering::Relaxed);
    }

    /// Returns `slipstream_parallel_adaptive`: whether one worker applies alone where that is
    /// faster than all workers together.
    pub fn is_adaptive(&self) -> bool {
        self.adaptive.load(Ordering::Relaxed)
    }

    /// Returns `slipstream_replica_read_ahead`: whether pages are read before the applier wants
    /// them.
    pub fn reads_ahead(&self) -> bool {
        self.reads_ahead.load(Ordering::Relaxed)
    }

    /// Sets `slipstream_replica_read_ahead`. A running applier follows within moments.
    pub fn set_reads_ahead(&self, reads_ahead: bool) {
        self.reads_ahead.store(reads_ahead, Ordering::Relaxed);
    }

    /// Sets `slipstream_parallel_adaptive`. Running workers change over between two transactions.
    pub fn set_adaptive(&self, adaptive: bool) {
        self.adaptive.store(adaptive, Ordering::Relaxed);
    }

    /// Returns the zstd level with which this server's binary log compresses applied transactions.
    /// `None` means that it does not compress them.
    pub fn transaction_compression(&self) -> Option<u8> {
        let level = self.compression_level.load(Ordering::Relaxed);
        self.compresses.load(Ordering::Relaxed).then_some(level)
    }

    /// Sets `binlog_transaction_compression`. In MySQL an applier reads it only when it starts.
    pub fn set_transaction_compression(&self, compresses: bool) {
        self.compresses.store(compresses, Ordering::Relaxed);
    }

    /// Sets `binlog_transaction_compression_level_zstd`.
    pub fn set_compression_level(&self, level: u8) {
        self.compression_level.store(level, Ordering::Relaxed);
    }

    /// Returns `replica_type_conversions`.
    pub fn type_conversions(&self) -> TypeConversions {
        TypeConversions::of_bits(self.type_conversions.load(Ordering::Relaxed))
    }

    /// Sets `replica_type_conversions`.
    pub fn set_type_conversions(&self, conversions: TypeConversions) {
        self.type_conversions.store(conversions.bits(), Ordering::Relaxed);
    }
}
