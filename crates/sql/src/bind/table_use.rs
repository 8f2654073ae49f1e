//! What the tables of a FROM are for, and which of its views are opened: their tables stand in the
//! FROM around whatever that costs, and it is known what CHECK OPTION asks.

use crate::attribute;
use crate::host::Privilege;
use engine::ObjectDef;

/// What a table of FROM is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TableUse {
    /// Its rows are read.
    Read,
    /// Its rows are locked, but nobody else is kept from reading them.
    Share,
    /// Its rows are locked to be changed.
    Lock,
    /// Its rows are changed, for which this privilege is needed.
    Change(Privilege),
    /// Its rows are read, or changed by an UPDATE of several tables: SELECT or UPDATE is needed.
    Join,
    /// Its rows are read, or deleted by a DELETE from several tables, and that is asked later.
    JoinToDelete,
    /// It is a view's whose rows are changed: SELECT is needed, or any privilege to change it.
    Within,
}

/// WITH CHECK OPTION.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Check {
    /// Its own conditions, and what the views within it ask.
    Local,
    /// All conditions of the views within it too.
    Cascaded,
}

/// That the query which is bound next is an opened view's.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Opening {
    /// What its tables are for.
    pub table_use: TableUse,
    pub(super) check: Option<Check>,
    /// ALGORITHM = MERGE: subqueries among its columns keep MySQL from nothing.
    pub(super) wants_merge: bool,
    /// ALGORITHM = TEMPTABLE: it is computed by itself, and the rows that are locked are those that
    /// it reads.
    pub(super) stays_closed: bool,
}

impl Opening {
    /// Of a view that stands in a FROM whose tables are for this; `None`: it stays closed.
    pub fn of(def: &ObjectDef, table_use: TableUse) -> Option<Opening> {
        let algorithm = def.attribute(attribute::ALGORITHM);
        let (changes, table_use) = match table_use {
            TableUse::Read => return None,
            TableUse::Share | TableUse::Lock => (false, table_use),
            TableUse::Change(_) | TableUse::Join | TableUse::JoinToDelete | TableUse::Within => {
                (true, TableUse::Within)
            }
        };
        let stays_closed = algorithm == Some("TEMPTABLE");
        if changes && (stays_closed || def.attribute(attribute::UPDATABLE).is_none()) {
            return None;
        }
        let check = match def.attribute(attribute::CHECK) {
            Some("LOCAL") => Some(Check::Local),
            Some(_) => Some(Check::Cascaded),
            None => None,
        };
        let wants_merge = algorithm == Some("MERGE");
        Some(Opening { table_use, check, wants_merge, stays_closed })
    }
}
