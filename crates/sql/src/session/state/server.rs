//! What a session shares with the server that it belongs to.

use crate::counters::Counters;
use crate::error::{Result, SqlError};
use crate::host::{Host, Privilege, VariableScope};
use crate::memory::Budget;
use engine::{Engine, Transaction};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use types::Value;

/// A session's handles on its server. They are the same as long as the session lives, and the
/// session of a function or a trigger has those of the session around it.
#[derive(Clone)]
pub(crate) struct ServerHandles {
    pub engine: Arc<Engine>,
    pub host: Arc<dyn Host>,
    /// What the session may keep.
    pub memory: Arc<Budget>,
    /// What the session's statements have done.
    pub counters: Arc<Counters>,
    /// The host's flag, which ends the statement that runs.
    pub interrupt: Arc<AtomicBool>,
}

impl ServerHandles {
    pub fn new(engine: Arc<Engine>, host: Arc<dyn Host>) -> ServerHandles {
        ServerHandles {
            engine,
            memory: host.memory(),
            counters: host.counters(),
            interrupt: host.interrupt_flag().unwrap_or_default(),
            host,
        }
    }

    /// Error 1317 when the session was told to end what it does.
    pub fn check_interrupt(&self) -> Result<()> {
        if self.interrupt.load(Ordering::Relaxed) { Err(SqlError::interrupted()) } else { Ok(()) }
    }

    /// Ends a transaction that has committed nothing, and waits until everybody can see what it has
    /// seen.
    pub fn end_unchanged(&self, transaction: Box<Transaction>) {
        let seen = transaction.depends_on();
        drop(transaction);
        self.engine.wait_visible(seen);
    }

    /// Whether an error rolls the whole transaction back, not only the statement.
    pub fn ends_transaction(&self, error: &SqlError) -> bool {
        const LOCK_WAIT_TIMEOUT: u16 = 1205;
        let by_wish = || self.host.variable(VariableScope::Global, "innodb_rollback_on_timeout");
        crate::engine_error::ends_transaction(error)
            || (error.code == LOCK_WAIT_TIMEOUT
                && matches!(by_wish(), Ok(Some(Value::Int(1) | Value::UInt(1)))))
    }

    /// Error 1290 where `read_only` or `super_read_only` keeps the account from writing.
    pub fn check_writable(&self) -> Result<()> {
        if !self.host.is_read_only()? {
            return Ok(());
        }
        let is_super = self.host.variable(VariableScope::Global, "super_read_only")?;
        if matches!(is_super, Some(Value::Int(1) | Value::UInt(1))) {
            return Err(SqlError::option_prevents("--super-read-only"));
        }
        self.host
            .check_privilege(Privilege::ConnectionAdmin, None, None)
            .map_err(|_| SqlError::option_prevents("--read-only"))
    }
}
