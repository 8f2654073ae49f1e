//! What a transaction does to one row and to one secondary entry, as its write set and the journal
//! keep it.

use crate::entry::Externs;
use crate::rows::OldRow;
use crate::spill::NewImage;
use buffer::FoundLeaf;
use types::ColumnMask;

/// What a write set keeps of a committed row that the transaction changes. The row is on its page,
/// and locked.
#[derive(Clone, Debug)]
pub(crate) struct Replaced {
    pub seq: u64,
    pub externs: Externs,
}

/// Where a row stands before the transaction's first change of it.
pub(crate) enum Origin {
    /// It is this committed row.
    Committed(OldRow),
    /// It does not exist, and the transaction inserts it; it belongs into this leaf.
    Insert(Option<FoundLeaf>),
    /// It does not exist, and an UPDATE moves another row to this key.
    Move(Option<FoundLeaf>),
}

/// The net change of a row.
#[derive(Clone, Debug)]
pub(crate) struct RowChange {
    /// What it was; `None`: the transaction inserts the row.
    pub old: Option<Replaced>,
    /// Bytes of the full image of `old`; 0 without one.
    pub old_len: u32,
    /// The first change was an INSERT, whose full image replay derives the row's secondary entries
    /// from.
    pub inserted: bool,
    /// What it becomes; `None`: deleted. Full image; at commit the off-page columns are emptied.
    pub new: Option<NewImage>,
    /// Where in the event group that image is, if it is there as a whole.
    pub logged_at: Option<u64>,
    /// Filled at commit: where the long values of `new` are.
    pub externs: Externs,
    /// The leaf that the row is in or belongs into, as it was found when the row was locked.
    pub leaf: Option<FoundLeaf>,
    /// How `new` follows from another `old` (only in a transaction that is applied ahead); `None`:
    /// not by patches alone.
    pub patches: Option<Vec<Patch>>,
}

/// Columns that an update sets: what a partial after image has.
#[derive(Clone, Debug)]
pub(crate) struct Patch {
    pub mask: ColumnMask,
    pub image: Vec<u8>,
}

/// The net state of a secondary entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EntryChange {
    pub present: bool,
    pub secondary_len: u16,
    /// The entry belongs to a row that the transaction inserts: replay derives it from the row.
    pub derivable: bool,
}
