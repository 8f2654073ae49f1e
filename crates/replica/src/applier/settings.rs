//! The system variables that say how transactions are applied. They hold for every channel and can
//! change at any moment.
//!
//! Relaxed loads and stores: each value stands for itself, and a transaction that is being applied
//! may see the old or the new one.

use sql::replicated::ChangeAccounts;
use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

use super::exec_mode::ExecMode;
use super::policy::Policy;
use super::skipped_errors::{SkippedErrors, Tolerance};
use super::type_conversions::TypeConversions;

/// See the module's header.
pub struct ApplySettings {
    transaction_retries: AtomicU64,
    type_conversions: AtomicU8,
    exec_mode: AtomicU8,
    skip_counter: AtomicU64,
    policy: AtomicU8,
    adaptive: AtomicBool,
    compresses: AtomicBool,
    compression_level: AtomicU8,
    /// It is set once, before a channel is started.
    skipped_errors: OnceLock<SkippedErrors>,
    /// As `skipped_errors`; none: statements about accounts are only logged.
    accounts: OnceLock<Box<ChangeAccounts>>,
}

impl fmt::Debug for ApplySettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApplySettings").field("exec_mode", &self.exec_mode()).finish_non_exhaustive()
    }
}

impl Default for ApplySettings {
    /// MySQL's defaults.
    fn default() -> ApplySettings {
        ApplySettings {
            transaction_retries: AtomicU64::new(10),
            type_conversions: AtomicU8::new(0),
            exec_mode: AtomicU8::new(ExecMode::default().number()),
            skip_counter: AtomicU64::new(0),
            policy: AtomicU8::new(Policy::default().number()),
            adaptive: AtomicBool::new(true),
            compresses: AtomicBool::new(false),
            compression_level: AtomicU8::new(3),
            skipped_errors: OnceLock::new(),
            accounts: OnceLock::new(),
        }
    }
}

impl ApplySettings {
    /// `replica_transaction_retries`
    pub fn transaction_retries(&self) -> u64 {
        self.transaction_retries.load(Ordering::Relaxed)
    }

    /// Sets it.
    pub fn set_transaction_retries(&self, retries: u64) {
        self.transaction_retries.store(retries, Ordering::Relaxed);
    }

    /// `replica_exec_mode`
    pub fn exec_mode(&self) -> ExecMode {
        ExecMode::of_number(self.exec_mode.load(Ordering::Relaxed))
    }

    /// Sets it.
    pub fn set_exec_mode(&self, mode: ExecMode) {
        self.exec_mode.store(mode.number(), Ordering::Relaxed);
    }

    /// What carries out statements about accounts.
    pub fn accounts(&self) -> Option<&ChangeAccounts> {
        self.accounts.get().map(|change| &**change)
    }

    /// Sets it, which is done once, when the server starts.
    pub fn set_accounts(&self, change: Box<ChangeAccounts>) {
        assert!(self.accounts.set(change).is_ok(), "it is set once, when the server starts");
    }

    /// `replica_skip_errors`
    pub fn skipped_errors(&self) -> &SkippedErrors {
        const NONE: &SkippedErrors = &SkippedErrors::Listed(Vec::new());
        self.skipped_errors.get().unwrap_or(NONE)
    }

    /// Sets it, which is done once, when the server starts.
    pub fn set_skipped_errors(&self, errors: SkippedErrors) {
        let set = self.skipped_errors.set(errors);
        assert!(set.is_ok(), "replica_skip_errors does not change while the server runs");
    }

    /// How far the replica's rows may differ from what a row event says of them.
    pub(super) fn tolerance(&self) -> Tolerance<'_> {
        Tolerance { mode: self.exec_mode(), skipped: self.skipped_errors() }
    }

    /// `sql_replica_skip_counter`: so many events are passed over yet, and what follows them up to
    /// the end of their group.
    pub fn skip_counter(&self) -> u64 {
        self.skip_counter.load(Ordering::Relaxed)
    }

    /// Sets it.
    pub(crate) fn set_skip_counter(&self, events: u64) {
        self.skip_counter.store(events, Ordering::Relaxed);
    }

    /// `slipstream_parallel_policy`
    pub fn policy(&self) -> Policy {
        Policy::of_number(self.policy.load(Ordering::Relaxed))
    }

    /// Sets it. Workers that are at it change over between two transactions.
    pub fn set_policy(&self, policy: Policy) {
        self.policy.store(policy.number(), Ordering::Relaxed);
    }

    /// `slipstream_parallel_adaptive`: one worker applies alone where that is faster than all
    /// together.
    pub fn is_adaptive(&self) -> bool {
        self.adaptive.load(Ordering::Relaxed)
    }

    /// Sets it. Workers that are at it change over between two transactions.
    pub fn set_adaptive(&self, adaptive: bool) {
        self.adaptive.store(adaptive, Ordering::Relaxed);
    }

    /// The level of zstd that this server's binary log compresses what is applied with.
    pub fn transaction_compression(&self) -> Option<u8> {
        let level = self.compression_level.load(Ordering::Relaxed);
        self.compresses.load(Ordering::Relaxed).then_some(level)
    }

    /// `binlog_transaction_compression`. MySQL's appliers look at it when they start.
    pub fn set_transaction_compression(&self, compresses: bool) {
        self.compresses.store(compresses, Ordering::Relaxed);
    }

    /// `binlog_transaction_compression_level_zstd`
    pub fn set_compression_level(&self, level: u8) {
        self.compression_level.store(level, Ordering::Relaxed);
    }

    /// `replica_type_conversions`
    pub fn type_conversions(&self) -> TypeConversions {
        TypeConversions::of_bits(self.type_conversions.load(Ordering::Relaxed))
    }

    /// Sets it.
    pub fn set_type_conversions(&self, conversions: TypeConversions) {
        self.type_conversions.store(conversions.bits(), Ordering::Relaxed);
    }
}
