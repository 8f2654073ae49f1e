//! The errors for views, triggers, routines and events that exist already, or that do not exist.

use crate::error::SqlError;
use engine::ObjectKind;

/// Returns the error for an object that exists already.
pub(super) fn exists(kind: ObjectKind, name: &str) -> SqlError {
    match kind {
        ObjectKind::View => SqlError::new(1050, format!("Table '{name}' already exists")),
        ObjectKind::Trigger => SqlError::new(1359, "Trigger already exists"),
        ObjectKind::Event => SqlError::new(1537, format!("Event '{name}' already exists")),
        kind => SqlError::new(1304, format!("{} {name} already exists", kind.word())),
    }
}

/// Returns the error of CREATE TRIGGER IF NOT EXISTS for a trigger that another table has.
pub(super) fn exists_elsewhere(schema: &str, trigger: &str) -> SqlError {
    let text = format!(
        "Trigger '{schema}'.'{trigger}' already exists on a different table. The 'IF NOT EXISTS' clause is only supported for triggers associated with the same table."
    );
    SqlError::new(4100, text)
}

/// Returns the error of DROP and ALTER for an object that does not exist.
pub(crate) fn absent(kind: ObjectKind, schema: &str, name: &str) -> SqlError {
    match kind {
        ObjectKind::View => SqlError::new(1051, format!("Unknown table '{schema}.{name}'")),
        ObjectKind::Trigger => SqlError::new(1360, "Trigger does not exist"),
        ObjectKind::Event => SqlError::new(1539, format!("Unknown event '{name}'")),
        kind => SqlError::new(1305, format!("{} {schema}.{name} does not exist", kind.word())),
    }
}

/// Builds error 1347 (`ER_WRONG_OBJECT`), for a table where a view is wanted or the other way
/// round.
pub(crate) fn not_a(what: &str, schema: &str, name: &str) -> SqlError {
    SqlError::new(1347, format!("'{schema}.{name}' is not {what}"))
}
