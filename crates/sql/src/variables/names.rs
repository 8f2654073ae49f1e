//! The names of values for variables: collations, character sets, isolation levels.

use crate::error::{Result, SqlError};
use engine::Isolation;
use types::collation::{self, Charset};

/// Returns the collation with a name of MySQL's, or the one nearest to a name of MariaDB's
/// (`utf8mb4_uca1400_ai_ci`).
pub(crate) fn known_collation(name: &str) -> Option<u16> {
    if let Some(id) = collation::from_name(name) {
        return Some(id);
    }
    let (charset, rest) = name.split_once('_')?;
    let rest = rest.strip_prefix("uca1400_").or_else(|| rest.strip_prefix("nopad_uca1400_"))?;
    let charset = Charset::from_name(charset)?;
    let sensitivity = match rest {
        _ if rest.ends_with("as_cs") => "as_cs",
        _ if rest.ends_with("as_ci") => "as_ci",
        _ => "ai_ci",
    };
    match charset {
        Charset::Utf8mb4 => collation::from_name(&format!("utf8mb4_0900_{sensitivity}")),
        other => Some(other.default_collation()),
    }
}

/// Builds error 1273 (`ER_UNKNOWN_COLLATION`).
pub(super) fn unknown_collation(name: &str) -> SqlError {
    SqlError::new(1273, format!("Unknown collation: '{name:.64}'"))
}

/// Returns the default collation of a character set that clients may use. `None` stands for
/// DEFAULT, which is the server's.
pub(super) fn clients_collation(charset: Option<&str>) -> Result<u16> {
    let Some(name) = charset else { return Ok(collation::UTF8MB4_0900_AI_CI) };
    match Charset::from_name(name) {
        Some(charset) if charset.is_for_clients() => Ok(charset.default_collation()),
        Some(charset) => Err(SqlError::not_for_clients(charset.name())),
        None => Err(SqlError::new(1115, format!("Unknown character set: '{name}'"))),
    }
}

/// Returns MySQL's name of an isolation level.
pub(crate) fn isolation_name(isolation: Isolation) -> &'static str {
    match isolation {
        Isolation::ReadUncommitted => "READ-UNCOMMITTED",
        Isolation::ReadCommitted => "READ-COMMITTED",
        Isolation::RepeatableRead => "REPEATABLE-READ",
        Isolation::Serializable => "SERIALIZABLE",
    }
}
