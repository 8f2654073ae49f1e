//! The variables of one session: its own values, and the global ones where it has none.

use super::effects::{global_now, read_only};
use super::registry::{aliases, all, find};
use super::{Scope, SessionValues, Setting, VariableId};
use crate::server::Server;
use parking_lot::Mutex;
use sql::memory::Budget;
use sql::{SqlError, VariableScope};
use types::Value;

/// The values of one session's variables.
pub struct SessionVariables {
    /// The values. No other lock is held with this one.
    values: Mutex<SessionValues>,
}

impl SessionVariables {
    /// Builds the values with which a session begins.
    pub fn new(server: &Server) -> SessionVariables {
        SessionVariables { values: Mutex::new(server.globals.session()) }
    }

    /// Drops the session's own values, so that it has the present global ones.
    pub fn begin_again(&self, server: &Server) {
        *self.values.lock() = server.globals.session();
    }

    /// Returns the session's value of a variable that certainly exists.
    ///
    /// # Panics
    /// Panics when there is no such variable.
    pub fn named(&self, name: &str) -> Setting {
        let id = find(name).unwrap_or_else(|| panic!("there is no system variable '{name}'"));
        self.values.lock().get(id)
    }

    /// Reports whether a variable, which need not exist, is ON for the session.
    pub fn is_on(&self, name: &str) -> bool {
        find(name).is_some_and(|id| self.values.lock().get(id).is_on())
    }

    /// Returns the value that the session sees. For a variable without values of sessions that is
    /// the global one.
    fn now(&self, server: &Server, scope: VariableScope, id: VariableId) -> Setting {
        match (scope, id.definition().scope) {
            (VariableScope::Session, Scope::Session | Scope::SessionOnly) => self.values.lock().get(id),
            _ => global_now(server, id),
        }
    }

    /// Returns the value that `SELECT @@x` gives. `None` means that there is no variable of this
    /// name and scope.
    pub fn value(&self, server: &Server, scope: VariableScope, name: &str) -> Option<Value> {
        let id = find(name)?;
        if scope == VariableScope::Global && id.definition().scope == Scope::SessionOnly {
            return None;
        }
        Some(self.now(server, scope, id).to_value())
    }

    /// Returns everything that SHOW VARIABLES prints, sorted by name.
    pub fn list(&self, server: &Server, scope: VariableScope) -> Vec<(String, String)> {
        match scope {
            VariableScope::Global => list_global(server),
            _ => listed(|id| Some(self.now(server, scope, id).to_string())),
        }
    }

    /// Sets the session's value. `None` is DEFAULT, which means the global value.
    ///
    /// # Errors
    /// Returns 1231 (`ER_WRONG_VALUE_FOR_VAR`) or 1232 (`ER_WRONG_TYPE_FOR_VAR`) when the variable
    /// cannot have the value.
    pub fn set(&self, server: &Server, id: VariableId, value: Option<&Value>) -> Result<(), SqlError> {
        let setting = match value {
            Some(_) => id.definition().from_sql(value)?.0,
            None => server.globals.get(id),
        };
        self.values.lock().set(id, setting);
        Ok(())
    }

    /// Sets the limits of the session's memory to those of its variables.
    pub fn limit(&self, memory: &Budget) {
        memory.set_limits(
            self.named("connection_memory_limit").uint(),
            self.named("connection_memory_chunk_size").uint(),
            self.named("global_connection_memory_tracking").is_on(),
        );
    }
}

/// Returns everything that SHOW GLOBAL VARIABLES prints, sorted by name.
pub fn list_global(server: &Server) -> Vec<(String, String)> {
    let has_global = |id: &VariableId| id.definition().scope != Scope::SessionOnly;
    listed(|id| Some(id).filter(has_global).map(|id| global_now(server, id).to_string()))
}

/// Returns all variables that `shown` has a text for, under all their names, sorted by name.
fn listed(shown: impl Fn(VariableId) -> Option<String>) -> Vec<(String, String)> {
    let listed = aliases().filter(|(name, _)| !is_unlisted(name));
    let named = all().map(|id| (id.definition().name, id)).chain(listed);
    let mut listed: Vec<(String, String)> =
        named.filter_map(|(name, id)| Some((name.to_owned(), shown(id)?))).collect();
    listed.sort();
    listed
}

/// Reports whether a further name of a variable is understood and not listed: the old names of
/// semi-synchronous replication. MySQL lists those of the plugin that is loaded, and clients such
/// as Vitess take the old names if they are there.
fn is_unlisted(alias: &str) -> bool {
    alias.starts_with("rpl_semi_sync_")
}

/// Returns the listed name of the variable that has this further, unlisted name. Replicas of
/// MariaDB ask for `rpl_semi_sync_master_enabled` before they acknowledge anything.
pub fn listed_name(name: &str) -> Option<&'static str> {
    let found = aliases().find(|(alias, _)| is_unlisted(alias) && *alias == name);
    found.map(|(_, id)| id.definition().name)
}

/// Checks that a variable has a value in this scope.
///
/// # Errors
/// Returns 1238 (`ER_INCORRECT_GLOBAL_LOCAL_VAR`) when the variable has no value in the scope.
pub fn check_scope(scope: VariableScope, name: &str) -> Result<(), SqlError> {
    let has = find(name).map(|id| id.definition().scope);
    let only = match (scope, has) {
        (VariableScope::Session, Some(Scope::Global)) => "GLOBAL",
        (VariableScope::Global, Some(Scope::SessionOnly)) => "SESSION",
        _ => return Ok(()),
    };
    Err(SqlError::new(1238, format!("Variable '{name}' is a {only} variable")))
}

/// Returns the variable that SET SESSION names.
///
/// # Errors
/// Returns 1193 (`ER_UNKNOWN_SYSTEM_VARIABLE`) when no variable has this name, 1238
/// (`ER_INCORRECT_GLOBAL_LOCAL_VAR`) when the variable cannot be set, and 1229
/// (`ER_GLOBAL_VARIABLE`) when the variable has a global value only.
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
