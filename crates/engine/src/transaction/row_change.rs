//! The changes of a transaction to one row and to one secondary entry, as its write set and the
//! journal keep them.

use crate::entry::Externs;
use crate::rows::OldRow;
use crate::spill::NewImage;
use buffer::FoundLeaf;
use types::ColumnMask;

/// The part of a committed row that a write set keeps when the transaction changes the row. The row
/// itself is on its page, and locked.
#[derive(Clone, Debug)]
pub(crate) struct Replaced {
    pub seq: u64,
    pub externs: Externs,
}

/// The state of a row before the transaction's first change of it.
pub(crate) enum Origin {
    /// The row is this committed row.
    Committed(OldRow),
    /// The row does not exist, and the transaction inserts it. It belongs into this leaf.
    Insert(Option<FoundLeaf>),
    /// The row does not exist, and an UPDATE moves another row to this key. It belongs into this
    /// leaf.
    Move(Option<FoundLeaf>),
}

/// The net change of a row.
#[derive(Clone, Debug)]
pub(crate) struct RowChange {
    /// The committed row that is changed. `None` means that the transaction makes the row.
    pub old: Option<Replaced>,
    /// The length in bytes of the full image of `old`; 0 if there is none.
    pub old_len: u32,
    /// Whether the first change was an INSERT, from whose full image replay derives the row's
    /// secondary entries.
    pub inserted: bool,
    /// The full image that the row gets; `None` means that the row is deleted. At commit its
    /// off-page columns are emptied.
    pub new: Option<NewImage>,
    /// The offset of that image in the event group, if the whole image is there.
    pub logged_at: Option<u64>,
    /// The places of the long values of `new`, which the commit fills in.
    pub externs: Externs,
    /// The leaf that the row is in or belongs into, as it was found when the row was locked.
    pub leaf: Option<FoundLeaf>,
    /// The patches that make `new` from another `old`, in a transaction that is applied ahead.
    /// `None` means that patches alone cannot make it.
    pub patches: Option<Vec<Patch>>,
}

impl RowChange {
    /// Returns the first change of a row, which has no new image yet.
    pub fn of_origin(origin: Origin) -> RowChange {
        let inserted = matches!(origin, Origin::Insert(_));
        let (old, old_len, leaf) = match origin {
            Origin::Committed(OldRow { image, seq, externs, leaf }) => {
                (Some(Replaced { seq, externs }), image.len() as u32, leaf)
            }
            Origin::Insert(leaf) | Origin::Move(leaf) => (None, 0, leaf),
        };
        RowChange {
            old,
            old_len,
            inserted,
            new: None,
            logged_at: None,
            externs: Externs::new(),
            leaf,
            patches: Some(Vec::new()),
        }
    }
}

/// The columns that an update sets, which are those of a partial after image.
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
    /// Whether the entry belongs to a row that the transaction inserts, so that replay derives it
    /// from the row.
    pub derivable: bool,
}
