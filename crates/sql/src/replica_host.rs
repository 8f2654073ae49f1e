//! The host of statements that run without a client: those of a source, and expressions in
//! definitions.

use crate::admin::AdminCommand;
use crate::computed_table::ComputedTable;
use crate::error::{Result, SqlError};
use crate::host::{Host, Privilege, Rights, Sight, VariableScope};
use crate::sink::ResultSink;
use std::sync::Arc;
use std::time::Duration;
use types::Value;

/// A function that returns the value of one of the server's own system variables. `None` means that
/// there is no such variable.
pub type ReadVariable = dyn Fn(VariableScope, &str) -> Option<Value> + Send + Sync;

/// The host of the applier's sessions, which have no client and no account. Of the variables they
/// have those that came with the statement, and the server's own, which statements of a source read
/// as on a MySQL replica.
#[derive(Default)]
pub(crate) struct ReplicaHost {
    /// Reads the server's variables. Without it there are none.
    pub variables: Option<Arc<ReadVariable>>,
}

impl Rights for ReplicaHost {
    fn check_table(&self, _: &[Privilege], _: &str, _: &str) -> Result<()> {
        Ok(())
    }

    fn check_row_locks(&self, _: &str, _: &str) -> Result<()> {
        Ok(())
    }

    fn check_routine(&self, _: Privilege, _: engine::ObjectKind, _: &str, _: &str) -> Result<()> {
        Ok(())
    }
}

impl Host for ReplicaHost {
    fn connection_id(&self) -> u32 {
        0
    }

    fn is_of_source(&self) -> bool {
        true
    }

    fn user(&self) -> String {
        String::new()
    }

    fn current_user(&self) -> String {
        String::new()
    }

    fn check_privilege(&self, _: Privilege, _: Option<&str>, _: Option<&str>) -> Result<()> {
        Ok(())
    }

    fn variable(&self, scope: VariableScope, name: &str) -> Result<Option<Value>> {
        Ok(self.variables.as_ref().and_then(|read| read(scope, name)))
    }

    fn check_sight(&self, _: Sight<'_>) -> Result<()> {
        Ok(())
    }

    fn privileges_generation(&self) -> u64 {
        0
    }

    fn check_set_session(&self, _: &str) -> Result<()> {
        Ok(())
    }

    fn has_variable(&self, _: &str) -> bool {
        false
    }

    fn check_set(&self, _: VariableScope, name: &str, _: Option<&Value>) -> Result<bool> {
        Err(SqlError::unknown_variable(name))
    }

    fn set_variable(&self, _: VariableScope, name: &str, _: Option<&Value>) -> Result<()> {
        Err(SqlError::unknown_variable(name))
    }

    fn variables(&self, _: VariableScope) -> Vec<(String, String)> {
        Vec::new()
    }

    fn status(&self, _: VariableScope) -> Vec<(String, String)> {
        Vec::new()
    }

    fn virtual_table(&self, _: &str, _: &str) -> Option<ComputedTable<'_>> {
        None
    }

    fn virtual_tables(&self, _: &str) -> Vec<String> {
        Vec::new()
    }

    fn admin(&self, _: AdminCommand, _: u16, _: &mut dyn ResultSink) -> Result<()> {
        Err(SqlError::not_supported("statement-based replication of such a statement"))
    }

    fn sleep(&self, _: Duration) -> bool {
        false
    }

    fn statement_started(&self, _: Option<&str>) {}

    fn schema_changed(&self, _: Option<&str>) {}

    fn wait_for_executed_gtid_set(&self, _: &str, _: Option<Duration>) -> Result<bool> {
        Ok(false)
    }

    fn binlog_gtid_pos(&self, _: &str, _: u64) -> Option<String> {
        None
    }

    fn source_pos_wait(&self, _: &str, _: u64, _: Option<Duration>, _: &str) -> Result<Option<i64>> {
        Ok(None)
    }
}
