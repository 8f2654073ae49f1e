//! The history that was read: every transaction and every row change in the order of the log, in
//! the few bytes that the schedules need.

use std::collections::HashMap;

/// A position in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Place {
    /// The index of the file in [`History::files`].
    pub file: u32,
    /// The offset of the transaction's first event in the file.
    pub pos: u64,
}

/// The kind of a transaction's contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nature {
    /// The transaction has only row events.
    Rows,
    /// The transaction has a statement, which is DDL or a change in STATEMENT format. The rows that
    /// it changes are not known.
    Statement,
    /// The transaction has events whose contents are not read: compressed ones, or partial JSON.
    Opaque,
}

/// A transaction. Others are referred to by number: a parent of n means that the first n
/// transactions of the log must be complete.
#[derive(Clone, Copy, Debug)]
pub struct Transaction {
    /// The position where the transaction begins.
    pub place: Place,
    /// The number of bytes of its events.
    pub bytes: u64,
    /// The index of its first row change.
    pub first_change: u32,
    /// The number of its row changes.
    pub changes: u32,
    /// The kind of its contents.
    pub nature: Nature,
    /// True when the source recorded no commit order for the transaction; `commit_parent` then is
    /// the number of all transactions before it.
    pub is_unordered: bool,
    /// The parent by commit order: the transactions that were committed when this one was prepared.
    pub commit_parent: u32,
    /// The parent by writesets: the transactions up to the last one that changed one of its rows.
    pub writeset_parent: u32,
    /// The index of the set of its schemas in [`History::schema_sets`].
    pub schemas: u32,
}

/// A row change.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    /// The index of the table in [`History::tables`].
    pub table: u32,
    /// The end in [`History::edges`] of the list of earlier changes of the same row. The list
    /// begins where the list of the previous change ends.
    pub edges_end: u32,
}

/// The source of the knowledge about a table's keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeySource {
    /// The table map has the primary key (`binlog_row_metadata=FULL`).
    Metadata,
    /// A server was asked for the keys.
    Server,
    /// The before images have only these columns (`binlog_row_image=MINIMAL` or `NOBLOB`).
    BeforeImages,
    /// Nothing is known, and a row is identified by all of its columns.
    Unknown,
    /// The table is known to have no key.
    None,
}

/// A table, and the changes of its rows.
#[derive(Clone, Debug)]
pub struct Table {
    /// The table as `schema.table`.
    pub name: String,
    /// The way in which its rows are told apart.
    pub keys: KeySource,
    /// The number of rows inserted.
    pub inserts: u64,
    /// The number of rows updated.
    pub updates: u64,
    /// The number of rows deleted.
    pub deletes: u64,
    /// The number of bytes of its row events.
    pub bytes: u64,
    /// The number of transactions that change it.
    pub transactions: u64,
}

impl Table {
    /// Returns the number of changes of all kinds.
    pub fn changes(&self) -> u64 {
        self.inserts + self.updates + self.deletes
    }
}

/// A row that is changed often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HotRow {
    /// The table as `schema.table`.
    pub table: String,
    /// The values of the row's key.
    pub key: String,
    /// The number of its changes.
    pub changes: u32,
}

/// The schemas of a transaction. `None` means that there are too many or that they are unknown, so
/// the transaction runs alone.
pub type SchemaSet = Option<Vec<u32>>;

/// Everything that was read from the log.
#[derive(Debug, Default)]
pub struct History {
    /// The names of the files.
    pub files: Vec<String>,
    /// The version of the server that wrote the log.
    pub server_version: String,
    /// The transactions, in the order of the log.
    pub transactions: Vec<Transaction>,
    /// The row changes, in the order of the log.
    pub changes: Vec<Change>,
    /// The indexes of earlier changes, in one list for all changes.
    pub edges: Vec<u32>,
    /// The tables.
    pub tables: Vec<Table>,
    /// The names of the schemas.
    pub schemas: Vec<String>,
    /// The different sets of schemas.
    pub schema_sets: Vec<SchemaSet>,
    schema_set_numbers: HashMap<SchemaSet, u32>,
    /// The most changed rows, in descending order of their changes.
    pub hot_rows: Vec<HotRow>,
    /// The timestamps of the first and the last transaction, in seconds of unix time.
    pub seconds: Option<(u32, u32)>,
    /// True when reading stopped at the requested number of transactions.
    pub is_cut: bool,
    /// True when the last transaction has no end in the log; it is then left out.
    pub is_open_at_end: bool,
}

impl History {
    /// Returns the earlier changes of the rows that a change changes.
    pub fn edges_of(&self, change: usize) -> &[u32] {
        let begin = change.checked_sub(1).map_or(0, |before| self.changes[before].edges_end as usize);
        &self.edges[begin..self.changes[change].edges_end as usize]
    }

    /// Returns the indexes of a transaction's changes.
    pub fn changes_of(&self, transaction: &Transaction) -> std::ops::Range<usize> {
        let first = transaction.first_change as usize;
        first..first + transaction.changes as usize
    }

    /// Returns the indexes of a transaction's tables, each once.
    pub fn tables_of(&self, transaction: &Transaction) -> Vec<u32> {
        let mut tables: Vec<u32> =
            self.changes_of(transaction).map(|change| self.changes[change].table).collect();
        tables.sort_unstable();
        tables.dedup();
        tables
    }

    /// Returns the index of a set of schemas, which is added if it is new.
    pub fn schema_set(&mut self, set: SchemaSet) -> u32 {
        if let Some(&number) = self.schema_set_numbers.get(&set) {
            return number;
        }
        let number = self.schema_sets.len() as u32;
        self.schema_sets.push(set.clone());
        self.schema_set_numbers.insert(set, number);
        number
    }

    /// Returns a position in the form `file:pos`.
    pub fn place(&self, place: Place) -> String {
        let file = self.files.get(place.file as usize).map_or("?", String::as_str);
        format!("{file}:{}", place.pos)
    }
}
