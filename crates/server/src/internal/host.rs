//! The answers to what the server's own sessions ask of it. These sessions may do everything, are
//! not counted, and neither wait nor carry out commands about the server.

use crate::server::Server;
use crate::variables::{SessionVariables, find, settable};
use engine::ObjectKind;
use sql::memory::Budget;
use sql::{AdminCommand, ComputedTable, Host, Privilege, ResultSink, Rights, Sight, SqlError, VariableScope};
use std::sync::Arc;
use std::time::Duration;
use types::Value;

/// The account of the server's own sessions.
const ACCOUNT: &str = "mysql.session@localhost";

/// The server as one of its own sessions sees it.
pub struct InternalHost {
    server: Arc<Server>,
    variables: SessionVariables,
    /// The memory that the session keeps. No limit ends its statements.
    memory: Arc<Budget>,
}

impl InternalHost {
    /// Builds the host of a new session.
    pub fn new(server: Arc<Server>) -> InternalHost {
        let variables = SessionVariables::new(&server);
        let memory = Budget::new(server.memory.clone());
        memory.set_exempt(true);
        variables.limit(&memory);
        InternalHost { server, variables, memory }
    }
}

impl Rights for InternalHost {
    fn check_table(&self, _: &[Privilege], _: &str, _: &str) -> sql::Result<()> {
        Ok(())
    }

    fn check_row_locks(&self, _: &str, _: &str) -> sql::Result<()> {
        Ok(())
    }

    fn check_routine(&self, _: Privilege, _: ObjectKind, _: &str, _: &str) -> sql::Result<()> {
        Ok(())
    }
}

impl Host for InternalHost {
    fn connection_id(&self) -> u32 {
        0
    }

    fn user(&self) -> String {
        ACCOUNT.into()
    }

    fn current_user(&self) -> String {
        ACCOUNT.into()
    }

    fn check_privilege(&self, _: Privilege, _: Option<&str>, _: Option<&str>) -> sql::Result<()> {
        Ok(())
    }

    fn check_sight(&self, _: Sight<'_>) -> sql::Result<()> {
        Ok(())
    }

    fn privileges_generation(&self) -> u64 {
        0
    }

    fn variable(&self, scope: VariableScope, name: &str) -> sql::Result<Option<Value>> {
        Ok(self.variables.value(&self.server, scope, name))
    }

    fn is_read_only(&self) -> sql::Result<bool> {
        // What a client or a source asks for is checked before it gets here.
        Ok(false)
    }

    fn check_set_session(&self, _: &str) -> sql::Result<()> {
        Ok(())
    }

    fn has_variable(&self, name: &str) -> bool {
        find(name).is_some()
    }

    fn check_scope(&self, scope: VariableScope, name: &str) -> sql::Result<()> {
        crate::variables::check_scope(scope, name)
    }

    fn check_set(&self, _: VariableScope, name: &str, value: Option<&Value>) -> sql::Result<bool> {
        settable(name)?.definition().from_sql(value).map(|(_, is_moved)| is_moved)
    }

    fn set_variable(&self, scope: VariableScope, name: &str, value: Option<&Value>) -> sql::Result<()> {
        match scope {
            VariableScope::Session => self.variables.set(&self.server, settable(name)?, value),
            _ => Err(SqlError::not_supported("SET GLOBAL in a session of the server's own")),
        }
    }

    fn variables(&self, scope: VariableScope) -> Vec<(String, String)> {
        self.variables.list(&self.server, scope)
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

    fn admin(&self, _: AdminCommand, _: u16, _: &mut dyn ResultSink) -> sql::Result<()> {
        Err(SqlError::not_supported("a command in a session of the server's own"))
    }

    fn memory(&self) -> Arc<Budget> {
        self.memory.clone()
    }

    fn sleep(&self, _: Duration) -> bool {
        false
    }

    fn statement_started(&self, _: Option<&str>) {}

    fn schema_changed(&self, _: Option<&str>) {}

    fn wait_for_executed_gtid_set(&self, _: &str, _: Option<Duration>) -> sql::Result<bool> {
        Ok(false)
    }

    fn binlog_gtid_pos(&self, _: &str, _: u64) -> Option<String> {
        None
    }

    fn source_pos_wait(&self, _: &str, _: u64, _: Option<Duration>, _: &str) -> sql::Result<Option<i64>> {
        Ok(None)
    }
}
