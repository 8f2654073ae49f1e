//! SET PERSIST, SET PERSIST_ONLY and RESET PERSIST.

use super::persisted::{PersistedValue, may_be_kept};
use super::{Definition, Kind, VariableId};
use crate::server::Server;
use sql::{SqlError, VariableScope};
use types::Value;

/// Checks that a value of a variable may be kept for later starts. `scope` tells SET PERSIST from
/// SET PERSIST_ONLY.
///
/// # Errors
/// Returns 1238 for a variable that is never kept, and the errors of [`Definition::from_sql`].
pub fn check_persist(
    definition: &Definition,
    scope: VariableScope,
    value: Option<&Value>,
) -> Result<(), SqlError> {
    if may_be_kept(definition) {
        return definition.from_sql(value).map(drop);
    }
    let kind = match scope {
        VariableScope::PersistOnly if definition.read_only => "non persistent read only",
        _ => "non persistent",
    };
    Err(SqlError::new(1238, format!("Variable '{}' is a {kind} variable", definition.name)))
}

/// Keeps a value for later starts. After SET PERSIST it is the global value as it is now, and
/// otherwise `value`, of which `None` is DEFAULT. As in MySQL, a number is moved into its range at
/// the start alone.
///
/// # Errors
/// Returns the errors of [`Definition::from_sql`], and 3 when the file cannot be written.
pub fn persist(
    server: &Server,
    by: (String, String),
    id: VariableId,
    scope: VariableScope,
    value: Option<&Value>,
) -> Result<(), SqlError> {
    let definition = id.definition();
    let text = match (scope, definition.kind, value) {
        (VariableScope::Persist, ..) => server.globals.get(id).to_string(),
        (_, Kind::Int(..) | Kind::UInt(..), Some(Value::Int(number))) => number.to_string(),
        (_, Kind::Int(..) | Kind::UInt(..), Some(Value::UInt(number))) => number.to_string(),
        _ => definition.from_sql(value)?.0.to_string(),
    };
    let kept = PersistedValue { value: text, by, set_at_us: os::clock::now_us() };
    server.persisted.keep(definition.name, kept).map_err(|error| cannot_write(&error))
}

/// Forgets the value of a variable, or all values that are kept. Returns false if there is none of
/// the variable.
///
/// # Errors
/// Returns the errors of `check` for a variable whose value is kept, and 3 when the file cannot
/// be written.
pub fn reset_persisted(
    server: &Server,
    name: Option<&str>,
    check: impl Fn(Option<&Definition>) -> Result<(), SqlError>,
) -> Result<bool, SqlError> {
    let definition = |name: &str| super::find(name).map(VariableId::definition);
    let values = server.persisted.values();
    let Some(name) = name else {
        values.keys().try_for_each(|name| check(definition(name)))?;
        return server.persisted.forget(None).map(|()| true).map_err(|error| cannot_write(&error));
    };
    let of = definition(name);
    let name = of.map_or_else(|| name.to_ascii_lowercase(), |of| of.name.to_owned());
    check(of)?;
    if !values.contains_key(&name) {
        return Ok(false);
    }
    server.persisted.forget(Some(&name)).map(|()| true).map_err(|error| cannot_write(&error))
}

fn cannot_write(error: &std::io::Error) -> SqlError {
    let number = error.raw_os_error().unwrap_or(5);
    SqlError::new(3, format!("Error writing file 'mysqld-auto.cnf' (OS errno {number} - {error})"))
}
