//! The variables of one session: its own values, and the global ones where it has none.

use super::effects::{global_now, read_only};
use super::registry::{aliases, all, find};
use super::{Scope, SessionValues, Setting, VariableId};
use crate::server::Server;
use parking_lot::Mutex;
use sql::memory::Budget;
use sql::{SqlError, VariableScope};
use types::Value;

/// The values of one session, by name.
pub struct SessionVariables {
    /// Lock order: held alone.
    values: Mutex<SessionValues>,
}

impl SessionVariables {
    /// The values that a session begins with.
    pub fn new(server: &Server) -> SessionVariables {
        SessionVariables { values: Mutex::new(server.globals.session()) }
    }

    /// Forgets what the session has set: it has the global values as they are now.
    pub fn begin_again(&self, server: &Server) {
        *self.values.lock() = server.globals.session();
    }

    /// The session's value of a variable that certainly exists, by its name.
    ///
    /// # Panics
    /// When there is no such variable.
    pub fn named(&self, name: &str) -> Setting {
        let id = find(name).unwrap_or_else(|| panic!("there is no system variable '{name}'"));
        self.values.lock().get(id)
    }

    /// Whether a variable that may not exist is ON for the session.
    pub fn is_on(&self, name: &str) -> bool {
        find(name).is_some_and(|id| self.values.lock().get(id).is_on())
    }

    /// The value that the session is told. A variable without values of sessions has the global
    /// one.
    fn now(&self, server: &Server, scope: VariableScope, id: VariableId) -> Setting {
        match (scope, id.definition().scope) {
            (VariableScope::Session, Scope::Session | Scope::SessionOnly) => self.values.lock().get(id),
            _ => global_now(server, id),
        }
    }

    /// The value as `SELECT @@x` gives it; `None` where there is none of this name and scope.
    pub fn value(&self, server: &Server, scope: VariableScope, name: &str) -> Option<Value> {
        let id = find(name)?;
        if scope == VariableScope::Global && id.definition().scope == Scope::SessionOnly {
            return None;
        }
        Some(self.now(server, scope, id).to_value())
    }

    /// Everything that SHOW VARIABLES prints, sorted by name.
    pub fn list(&self, server: &Server, scope: VariableScope) -> Vec<(String, String)> {
        let shown = |id: VariableId| {
            let is_there = scope != VariableScope::Global || id.definition().scope != Scope::SessionOnly;
            is_there.then(|| self.now(server, scope, id).to_string())
        };
        let named = all().map(|id| (id.definition().name, id)).chain(aliases());
        let mut listed: Vec<(String, String)> =
            named.filter_map(|(name, id)| Some((name.to_owned(), shown(id)?))).collect();
        listed.sort();
        listed
    }

    /// Sets the session's value; `None` is DEFAULT, the global value.
    ///
    /// # Errors
    /// 1231 and 1232 when the value is none of the variable's.
    pub fn set(&self, server: &Server, id: VariableId, value: Option<&Value>) -> Result<(), SqlError> {
        let setting = match value {
            Some(_) => id.definition().from_sql(value)?.0,
            None => server.globals.get(id),
        };
        self.values.lock().set(id, setting);
        Ok(())
    }

    /// Gives the memory of the session the limits that its values ask for.
    pub fn limit(&self, memory: &Budget) {
        memory.set_limits(
            self.named("connection_memory_limit").uint(),
            self.named("connection_memory_chunk_size").uint(),
            self.named("global_connection_memory_tracking").is_on(),
        );
    }
}

/// Refuses to read a variable in a scope that it has not.
///
/// # Errors
/// 1238.
pub fn check_scope(scope: VariableScope, name: &str) -> Result<(), SqlError> {
    let has = find(name).map(|id| id.definition().scope);
    let only = match (scope, has) {
        (VariableScope::Session, Some(Scope::Global)) => "GLOBAL",
        (VariableScope::Global, Some(Scope::SessionOnly)) => "SESSION",
        _ => return Ok(()),
    };
    Err(SqlError::new(1238, format!("Variable '{name}' is a {only} variable")))
}

/// The variable that SET SESSION names.
///
/// # Errors
/// 1193 when there is none, 1238 when it cannot be set, and 1229 when it has no values of sessions.
pub fn settable(name: &str) -> Result<VariableId, SqlError> {
    let id = find(name).ok_or_else(|| SqlError::unknown_variable(name))?;
    if id.definition().read_only {
        return Err(read_only(name));
    }
    if id.definition().scope == Scope::Global {
        let text = format!("Variable '{name}' is a GLOBAL variable and should be set with SET GLOBAL");
        return Err(SqlError::new(1229, text));
    }
    Ok(id)
}
