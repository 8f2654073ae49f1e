//! What a transaction that is applied ahead of its turn leaves to that turn: the checks that only
//! the state at its turn can answer, with copies of all that they are about.

use crate::bytes::KeyBuf;
use crate::table::{SecondaryKey, Table};

/// A key of a unique secondary index whose check is left to the turn.
pub(super) struct UniqueCheck {
    pub table_id: u64,
    pub index: usize,
    pub key: SecondaryKey,
    /// Clustered key of the row that it replaces.
    pub own: KeyBuf,
    pub image: Vec<u8>,
}

/// Keys that a transaction inserts: a session may have locked the gaps that they are in.
pub(super) struct Announcement {
    pub table_id: u64,
    pub clustered: Option<KeyBuf>,
    pub secondary: Vec<Option<SecondaryKey>>,
}

/// What a transaction that is applied ahead leaves to its turn, beside its rows.
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

    pub fn announcement(
        &mut self,
        table: &Table,
        clustered: Option<&[u8]>,
        secondary: &[Option<SecondaryKey>],
    ) {
        let (clustered, secondary) = (clustered.map(KeyBuf::from_slice), secondary.to_vec());
        self.announcements.push(Announcement { table_id: table.id, clustered, secondary });
    }
}
