//! The checks that a transaction which is applied ahead of its turn leaves to that turn. Only the
//! state at the turn can answer them, so they keep copies of everything that they need.

use crate::bytes::KeyBuf;
use crate::multi_valued::EntryKeys;
use crate::table::{SecondaryKey, Table};

/// The check of a key of a unique secondary index, left to the turn.
pub(super) struct UniqueCheck {
    pub table_id: u64,
    pub index: usize,
    pub key: SecondaryKey,
    /// The clustered key of the row that the new row replaces.
    pub own: KeyBuf,
    pub image: Vec<u8>,
}

/// The keys that a transaction inserts. A session may have locked the gaps that they are in.
pub(super) struct Announcement {
    pub table_id: u64,
    pub clustered: Option<KeyBuf>,
    pub secondary: Vec<Option<EntryKeys>>,
}

/// Everything that a transaction which is applied ahead leaves to its turn, besides its rows.
#[derive(Default)]
pub(crate) struct Owed {
    pub uniques: Vec<UniqueCheck>,
    pub announcements: Vec<Announcement>,
}

impl Owed {
    pub fn unique_check(
        &mut self,
        table: &Table,
        index: usize,
        key: &SecondaryKey,
        own: &[u8],
        image: &[u8],
    ) {
        let (key, own, image) = (key.clone(), KeyBuf::from_slice(own), image.to_vec());
        self.uniques.push(UniqueCheck { table_id: table.id, index, key, own, image });
    }

    pub fn announcement(&mut self, table: &Table, clustered: Option<&[u8]>, secondary: &[Option<EntryKeys>]) {
        let (clustered, secondary) = (clustered.map(KeyBuf::from_slice), secondary.to_vec());
        self.announcements.push(Announcement { table_id: table.id, clustered, secondary });
    }
}
