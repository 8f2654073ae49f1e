//! Setting global values while the server runs, and the errors of refused values.

use super::definition::Change;
use super::{Definition, Scope, Setting, VariableId};
use crate::server::Server;
use sql::SqlError;
use types::Value;

/// Checks in advance what [`set_global`] would refuse, as far as it is known. Returns true when the
/// value is a number that will be moved into the variable's range.
pub fn check_global(server: &Server, id: VariableId, value: Option<&Value>) -> Result<bool, SqlError> {
    let definition = id.definition();
    check_has_global(definition, false)?;
    let (setting, is_moved) = definition.from_sql(value)?;
    if let Change::Checked(check, _) = definition.change {
        check(server, &setting)?;
    }
    Ok(is_moved)
}

/// Sets a global value and puts it into force. `None` is DEFAULT.
pub fn set_global(server: &Server, id: VariableId, value: Option<&Value>) -> Result<(), SqlError> {
    let definition = id.definition();
    check_has_global(definition, false)?;
    let (setting, _) = definition.from_sql(value)?;
    match definition.change {
        Change::Nothing | Change::After(_) => {}
        Change::OnSet(apply) | Change::Entered(apply) | Change::Checked(apply, _) => {
            apply(server, &setting)?;
        }
        Change::Pool(enter) => server.engine.pool().change_options(|options| enter(options, &setting)),
        Change::SemiSync(enter) => {
            if let Some(binlog) = &server.binlog {
                enter(binlog.semi_sync(), &setting);
            }
        }
        Change::Command(act) => return act(server, &setting),
    }
    server.globals.set(id, setting);
    if let Change::After(follow) | Change::Checked(_, follow) = definition.change {
        follow(server);
    }
    Ok(())
}

/// Checks that a variable has a global value that can be set. `for_later` stands for `SET
/// PERSIST_ONLY`, which may name a variable that cannot be set now.
///
/// # Errors
/// Returns 1228 when the variable has no global value, and 1238 when the global value cannot be
/// set.
pub fn check_has_global(definition: &Definition, for_later: bool) -> Result<(), SqlError> {
    let name = definition.name;
    if definition.scope == Scope::SessionOnly {
        let text = format!("Variable '{name}' is a SESSION variable and can't be used with SET GLOBAL");
        return Err(SqlError::new(1228, text));
    }
    if definition.read_only && !for_later {
        return Err(read_only(name));
    }
    Ok(())
}

/// Builds error 1621, which says that the session's value of a variable is read only.
pub fn session_read_only(name: &str) -> SqlError {
    let text = format!("SESSION variable '{name}' is read-only. Use SET GLOBAL to assign the value");
    SqlError::new(1621, text)
}

/// Builds error 1238, which says that a variable is read only.
pub fn read_only(name: &str) -> SqlError {
    SqlError::new(1238, format!("Variable '{name}' is a read only variable"))
}

/// Returns the present global value, computed if the variable is computed.
pub fn global_now(server: &Server, id: VariableId) -> Setting {
    let computed = id.definition().computed.and_then(|compute| compute(server));
    computed.unwrap_or_else(|| server.globals.get(id))
}
