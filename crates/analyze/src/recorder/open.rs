//! The transaction that is being read, and the tables that its events name.

use binlog::DecodeError;
use types::row::RowLayout;

use crate::history::Transaction;
use crate::keys::TableKeys;

/// A table map with everything known about its table.
pub(super) struct Bound {
    pub table: u32,
    pub layout: RowLayout,
    pub keys: TableKeys,
    pub names: Option<Vec<String>>,
}

/// The transaction that the recorder is reading.
pub(super) struct Open {
    pub transaction: Transaction,
    pub schemas: Option<Vec<u32>>,
    /// True when a table of the transaction has no key.
    pub is_keyless: bool,
    /// The transaction's `sequence_number` in the file.
    pub sequence_number: i64,
    /// The changes of each table so far.
    pub per_table: Vec<TableShare>,
}

/// The changes that a transaction makes to one table.
pub(super) struct TableShare {
    pub table: u32,
    pub inserts: u64,
    pub updates: u64,
    pub deletes: u64,
    pub bytes: u64,
}

impl Open {
    /// Returns the changes of a table so far.
    pub fn share(&mut self, table: u32) -> &mut TableShare {
        let at = self.per_table.iter().position(|share| share.table == table).unwrap_or_else(|| {
            self.per_table.push(TableShare { table, inserts: 0, updates: 0, deletes: 0, bytes: 0 });
            self.per_table.len() - 1
        });
        &mut self.per_table[at]
    }
}

/// The reason why an event was not taken.
pub(super) enum Refused {
    Event(DecodeError),
    TooLarge,
}

impl From<DecodeError> for Refused {
    fn from(error: DecodeError) -> Refused {
        Refused::Event(error)
    }
}
