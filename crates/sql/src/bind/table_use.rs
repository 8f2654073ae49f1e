//! What the tables of a FROM are used for, and which of the views in it are opened. The tables of
//! an opened view always stand in the FROM around it, whatever that costs, and what CHECK OPTION
//! demands is known.

use crate::attribute;
use crate::host::Privilege;
use engine::ObjectDef;

/// What a table of FROM is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TableUse {
    /// The table's rows are read.
    Read,
    /// The table's rows are locked in share mode: other transactions may still read them.
    Share,
    /// The table's rows are locked to be changed.
    Lock,
    /// The table's rows are changed, which needs this privilege.
    Change(Privilege),
    /// The table's rows are read, or changed by an UPDATE of several tables. The account needs
    /// SELECT or UPDATE.
    Join,
    /// The table's rows are read, or deleted by a DELETE from several tables. The privilege to
    /// delete is checked later.
    JoinToDelete,
    /// The table belongs to a view whose rows are changed. The account needs SELECT, or any
    /// privilege to change the table.
    Within,
}

/// The kinds of WITH CHECK OPTION.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Check {
    /// A row must meet the view's own conditions, and what the views within it demand.
    Local,
    /// A row must meet the view's own conditions and all conditions of the views within it.
    Cascaded,
}

/// Says that the query which is bound next is the query of an opened view.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Opening {
    /// What the view's tables are used for.
    pub table_use: TableUse,
    pub(super) check: Option<Check>,
    /// The view has ALGORITHM = MERGE. Subqueries among its columns do not keep it from being
    /// merged.
    pub(super) wants_merge: bool,
    /// The view has ALGORITHM = TEMPTABLE. It is computed by itself, and the rows that are locked
    /// are those that it reads.
    pub(super) stays_closed: bool,
}

impl Opening {
    /// Returns how a view is opened in a FROM whose tables have this use. `None` if it stays
    /// closed.
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
