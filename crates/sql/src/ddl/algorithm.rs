//! `ALGORITHM=` and `LOCK=`: checks whether a statement can be carried out in the way that it
//! demands.

use super::Altered;
use crate::ast::{AlterAlgorithm, AlterDemands, AlterLock};
use crate::error::{Result, SqlError};
use engine::{Engine, TableDef};

/// The way in which a statement is carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Way {
    /// Whether the rows are copied into a new table.
    pub rebuild: bool,
    /// Whether MySQL would use ALGORITHM=COPY, because nothing else is possible or it is demanded.
    /// The client is told the number of rows in that case.
    pub copies: bool,
    /// Whether no other session may use the table meanwhile.
    pub exclusive: bool,
}

/// Builds error 1845 (`ER_ALTER_OPERATION_NOT_SUPPORTED`), which tells that a demanded way is not
/// possible.
fn not_supported(what: &str, instead: &str) -> SqlError {
    SqlError::new(1845, format!("{what} is not supported for this operation. Try {instead}."))
}

/// Builds error 1846 (`ER_ALTER_OPERATION_NOT_SUPPORTED_REASON`), which also tells why.
fn not_supported_since(what: &str, reason: &str, instead: &str) -> SqlError {
    SqlError::new(1846, format!("{what} is not supported. Reason: {reason}. Try {instead}."))
}

/// Decides how `old` becomes `altered`, or refuses the demands as MySQL does.
pub(crate) fn way(demands: AlterDemands, old: &TableDef, altered: &Altered) -> Result<Way> {
    let AlterDemands { algorithm, lock } = demands;
    let must_rebuild = Engine::must_rebuild(old, &altered.def, altered.must_rebuild(old));
    let touches_indexes = altered.def.indexes.iter().any(|index| index.id == 0)
        || old.indexes.iter().any(|index| !altered.def.indexes.iter().any(|kept| kept.id == index.id));
    match algorithm {
        AlterAlgorithm::Instant if lock != AlterLock::Default => {
            let lock = "LOCK=NONE/SHARED/EXCLUSIVE";
            return Err(SqlError::new(1221, format!("Incorrect usage of ALGORITHM=INSTANT and {lock}")));
        }
        AlterAlgorithm::Instant if must_rebuild && changes_types(old, altered) => {
            let reason = "Need to rebuild the table to change column type";
            return Err(not_supported_since("ALGORITHM=INSTANT", reason, "ALGORITHM=COPY/INPLACE"));
        }
        AlterAlgorithm::Instant if must_rebuild || touches_indexes => {
            return Err(not_supported("ALGORITHM=INSTANT", "ALGORITHM=COPY/INPLACE"));
        }
        AlterAlgorithm::Inplace if must_rebuild && changes_types(old, altered) => {
            return Err(not_supported_since("ALGORITHM=INPLACE", CHANGED_TYPE, "ALGORITHM=COPY"));
        }
        AlterAlgorithm::Copy if lock == AlterLock::None => {
            return Err(not_supported_since("LOCK=NONE", "COPY algorithm requires a lock", "LOCK=SHARED"));
        }
        _ => {}
    }
    let rebuild = must_rebuild || algorithm == AlterAlgorithm::Copy;
    if rebuild && lock == AlterLock::None {
        // MySQL can rebuild a table without changed column types in place and without a lock. This
        // server cannot.
        let reason =
            if changes_types(old, altered) { CHANGED_TYPE } else { "COPY algorithm requires a lock" };
        return Err(not_supported_since("LOCK=NONE", reason, "LOCK=SHARED"));
    }
    let copies =
        algorithm == AlterAlgorithm::Copy || altered.copies || changes_types(old, altered) && rebuild;
    Ok(Way { rebuild, copies, exclusive: matches!(lock, AlterLock::Shared | AlterLock::Exclusive) })
}

/// As [`way`], for a statement from a source, which is carried out whatever it demands.
pub(crate) fn any_way(old: &TableDef, altered: &Altered) -> Way {
    Way { rebuild: altered.must_rebuild(old), copies: false, exclusive: false }
}

const CHANGED_TYPE: &str = "Cannot change column type INPLACE";

fn changes_types(old: &TableDef, altered: &Altered) -> bool {
    altered
        .sources
        .iter()
        .zip(&altered.def.columns)
        .any(|(source, column)| source.is_some_and(|source| old.columns[source].ty != column.ty))
}
