//! `ALGORITHM=` and `LOCK=`: checks whether a statement can be carried out in the way that it
//! demands.

use super::Altered;
use crate::ast::{AlterAlgorithm, AlterDemands, AlterLock};
use crate::error::{Result, SqlError};
use engine::{Engine, InstantColumns, KeptIndex, KeptKind, MAX_ROW_VERSIONS, Table, TableDef};
use types::{ColumnType, TypeCode};

/// The way in which a statement is carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Way {
    /// Whether the rows are copied into a new table.
    pub rebuild: bool,
    /// Whether columns are added or dropped without writing the rows anew.
    pub instant: bool,
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

/// Decides how `table` becomes `altered`, or refuses the demands as MySQL does. `instant` are the
/// new and the dropped columns, if these do not need the rows to be written anew.
pub(crate) fn way(
    demands: AlterDemands,
    table: &Table,
    altered: &Altered,
    instant: &InstantColumns,
) -> Result<Way> {
    let AlterDemands { algorithm, lock } = demands;
    let old = &table.def;
    let allows_instant = matches!(algorithm, AlterAlgorithm::Default | AlterAlgorithm::Instant);
    let instant = if allows_instant { instant } else { &InstantColumns::default() };
    let must_rebuild = must_rebuild(table, altered, instant);
    let removes_rows = altered.goes.is_some();
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
        AlterAlgorithm::Instant if !instant.is_empty() => refuse_instant_columns(table)?,
        _ => {}
    }
    match algorithm {
        AlterAlgorithm::Instant
            if must_rebuild || removes_rows || touches_indexes || widens_texts(old, altered) =>
        {
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
    if (rebuild || removes_rows) && lock == AlterLock::None {
        // MySQL can rebuild a table without changed column types in place and without a lock. This
        // server cannot.
        let reason =
            if changes_types(old, altered) { CHANGED_TYPE } else { "COPY algorithm requires a lock" };
        return Err(not_supported_since("LOCK=NONE", reason, "LOCK=SHARED"));
    }
    let copies =
        algorithm == AlterAlgorithm::Copy || altered.copies || changes_types(old, altered) && rebuild;
    let instant = !rebuild && !instant.is_empty();
    let exclusive = matches!(lock, AlterLock::Shared | AlterLock::Exclusive);
    Ok(Way { rebuild, instant, copies, exclusive })
}

/// As [`way`], for a statement from a source, which is carried out whatever it demands.
pub(crate) fn any_way(table: &Table, altered: &Altered, instant: &InstantColumns) -> Way {
    let rebuild = must_rebuild(table, altered, instant);
    Way { rebuild, instant: !rebuild && !instant.is_empty(), copies: false, exclusive: false }
}

fn must_rebuild(table: &Table, altered: &Altered, instant: &InstantColumns) -> bool {
    Engine::must_rebuild(table, &altered.def, instant, altered.must_rebuild())
}

/// Refuses columns that are added or dropped in a table in which MySQL does that by a rebuild only.
/// Without a demand, this server spares the rebuild.
fn refuse_instant_columns(table: &Table) -> Result<()> {
    let is_full_text = |index: &KeptIndex| matches!(index.kind, KeptKind::FullText(_));
    let is_compressed = |(name, value): &(String, String)| {
        name.eq_ignore_ascii_case("ROW_FORMAT") && value.eq_ignore_ascii_case("COMPRESSED")
    };
    if table.def.kept_indexes.iter().any(is_full_text) {
        let reason = "InnoDB presently supports one FULLTEXT index creation at a time";
        return Err(not_supported_since("ALGORITHM=INSTANT", reason, "ALGORITHM=COPY/INPLACE"));
    }
    if table.def.options.iter().any(is_compressed) {
        return Err(not_supported("ALGORITHM=INSTANT", "ALGORITHM=COPY/INPLACE"));
    }
    if table.row_versions() >= MAX_ROW_VERSIONS { Err(no_further_version(&table.def)) } else { Ok(()) }
}

/// Builds error 4092 (`ER_INNODB_MAX_ROW_VERSION`).
fn no_further_version(table: &TableDef) -> SqlError {
    let name = format!("{}/{}", table.schema, table.name);
    SqlError::new(
        4092,
        format!(
            "Maximum row versions reached for table {name}. No more columns can be added or dropped \
             instantly. Please use COPY/INPLACE."
        ),
    )
}

const CHANGED_TYPE: &str = "Cannot change column type INPLACE";

fn changes_types(old: &TableDef, altered: &Altered) -> bool {
    changed_types(old, altered).next().is_some()
}

/// Reports whether the type of a VARCHAR changes. Even where rows stay what they are, that is not
/// instant on a MySQL server.
fn widens_texts(old: &TableDef, altered: &Altered) -> bool {
    changed_types(old, altered).any(|ty| ty.code == TypeCode::Varchar)
}

/// Returns the old types of the columns that get other ones.
fn changed_types<'d>(old: &'d TableDef, altered: &'d Altered) -> impl Iterator<Item = &'d ColumnType> {
    altered.sources.iter().zip(&altered.def.columns).filter_map(|(source, column)| {
        let ty = &old.columns[(*source)?].ty;
        (*ty != column.ty).then_some(ty)
    })
}
