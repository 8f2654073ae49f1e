//! The server that a session belongs to.

use crate::counters::Counters;
use crate::error::{Result, SqlError};
use crate::host::{Host, Privilege, VariableScope};
use crate::measured::MeasuredSession;
use crate::memory::Budget;
use engine::Engine;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use types::Value;

/// A session's handles on its server. They stay the same as long as the session lives. The session
/// of a function or a trigger shares those of the calling session.
#[derive(Clone)]
pub(crate) struct ServerHandles {
    pub engine: Arc<Engine>,
    pub host: Arc<dyn Host>,
    /// The budget for the memory that the session may use.
    pub memory: Arc<Budget>,
    /// The status counters of the session's statements.
    pub counters: Arc<Counters>,
    /// What measures the session's statements. `None` means that they are not measured.
    pub measured: Option<Arc<MeasuredSession>>,
    /// The host's flag that interrupts the running statement.
    pub interrupt: Arc<AtomicBool>,
}

impl ServerHandles {
    pub fn new(engine: Arc<Engine>, host: Arc<dyn Host>) -> ServerHandles {
        ServerHandles {
            engine,
            memory: host.memory(),
            counters: host.counters(),
            measured: host.measured(),
            interrupt: host.interrupt_flag().unwrap_or_default(),
            host,
        }
    }

    /// Checks that the session has not been interrupted.
    ///
    /// # Errors
    /// Returns 1317 (`ER_QUERY_INTERRUPTED`) when it has.
    pub fn check_interrupt(&self) -> Result<()> {
        if self.interrupt.load(Ordering::Relaxed) { Err(SqlError::interrupted()) } else { Ok(()) }
    }

    /// Reports whether an error rolls back the whole transaction, not only the statement.
    pub fn ends_transaction(&self, error: &SqlError) -> bool {
        const LOCK_WAIT_TIMEOUT: u16 = 1205;
        let by_wish = || self.host.variable(VariableScope::Global, "innodb_rollback_on_timeout");
        crate::engine_error::ends_transaction(error)
            || (error.code == LOCK_WAIT_TIMEOUT
                && matches!(by_wish(), Ok(Some(Value::Int(1) | Value::UInt(1)))))
    }

    /// Checks that neither `read_only` nor `super_read_only` keeps the account from writing.
    ///
    /// # Errors
    /// Returns 1290 (`ER_OPTION_PREVENTS_STATEMENT`) when one of them does.
    pub fn check_writable(&self) -> Result<()> {
        if !self.host.is_read_only()? {
            return Ok(());
        }
        self.host
            .check_privilege(Privilege::ConnectionAdmin, None, None)
            .map_err(|_| SqlError::option_prevents("--read-only"))?;
        let is_super = self.host.variable(VariableScope::Global, "super_read_only")?;
        if matches!(is_super, Some(Value::Int(1) | Value::UInt(1))) {
            return Err(SqlError::option_prevents("--super-read-only"));
        }
        Ok(())
    }
}
