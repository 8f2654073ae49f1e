//! What was read: every transaction and every row change in the order of the log, in the few bytes
//! that the schedules need.

use std::collections::HashMap;

/// A place in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Place {
    /// Number of the file, as [`History::files`] counts.
    pub file: u32,
    /// Offset of the transaction's first event.
    pub pos: u64,
}

/// What a transaction consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nature {
    /// Row events alone.
    Rows,
    /// A statement: DDL, or a change in STATEMENT format. What it touches is not known.
    Statement,
    /// Events that are not looked into: compressed ones, partial JSON.
    Opaque,
}

/// A transaction. Others are named by how many stand before them: a parent of n means that the
/// first n must be complete.
#[derive(Clone, Copy, Debug)]
pub struct Transaction {
    /// Where it begins.
    pub place: Place,
    /// Bytes of its events.
    pub bytes: u64,
    /// Its first row change.
    pub first_change: u32,
    /// How many row changes it has.
    pub changes: u32,
    /// What it consists of.
    pub nature: Nature,
    /// The source recorded no commit order with it: `commit_parent` is everything before.
    pub is_unordered: bool,
    /// Commit order: the transactions that were committed when it was not yet.
    pub commit_parent: u32,
    /// Writeset: up to the last one that changed one of its rows.
    pub writeset_parent: u32,
    /// Its schemas, as [`History::schema_sets`] counts.
    pub schemas: u32,
}

/// A row change.
#[derive(Clone, Copy, Debug)]
pub struct Change {
    /// Its table, as [`History::tables`] counts.
    pub table: u32,
    /// Where its list of earlier changes of the same row ends in [`History::edges`]; it begins
    /// where the list before ends.
    pub edges_end: u32,
}

/// What is known of the keys of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeySource {
    /// The table map says them (`binlog_row_metadata=FULL`).
    Metadata,
    /// A server was asked.
    Server,
    /// The before-images have these columns alone (`binlog_row_image=MINIMAL` or `NOBLOB`).
    BeforeImages,
    /// Nothing is known: a row is told by all of its columns.
    Unknown,
    /// The table has no key.
    None,
}

/// A table, and what happened to it.
#[derive(Clone, Debug)]
pub struct Table {
    /// `schema.table`.
    pub name: String,
    /// How its rows are told apart.
    pub keys: KeySource,
    /// Rows inserted.
    pub inserts: u64,
    /// Rows changed.
    pub updates: u64,
    /// Rows deleted.
    pub deletes: u64,
    /// Bytes of its row events.
    pub bytes: u64,
    /// Transactions that change it.
    pub transactions: u64,
}

impl Table {
    /// Changes of all kinds.
    pub fn changes(&self) -> u64 {
        self.inserts + self.updates + self.deletes
    }
}

/// A row that is changed often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HotRow {
    /// `schema.table`.
    pub table: String,
    /// Its key's values.
    pub key: String,
    /// How often it was changed.
    pub changes: u32,
}

/// The schemas of a transaction; `None`: too many or unknown, so it runs alone.
pub type SchemaSet = Option<Vec<u32>>;

/// Everything that was read.
#[derive(Debug, Default)]
pub struct History {
    /// Names of the files.
    pub files: Vec<String>,
    /// Version of the server that wrote the log.
    pub server_version: String,
    /// In the order of the log.
    pub transactions: Vec<Transaction>,
    /// In the order of the log.
    pub changes: Vec<Change>,
    /// Numbers of earlier changes.
    pub edges: Vec<u32>,
    /// By number.
    pub tables: Vec<Table>,
    /// By number.
    pub schemas: Vec<String>,
    /// By number.
    pub schema_sets: Vec<SchemaSet>,
    schema_set_numbers: HashMap<SchemaSet, u32>,
    /// The most changed rows, the most changed first.
    pub hot_rows: Vec<HotRow>,
    /// Timestamps of the first and the last transaction, in unix seconds.
    pub seconds: Option<(u32, u32)>,
    /// Reading stopped at the number of transactions that was asked for.
    pub is_cut: bool,
    /// The last transaction has no end in the log; it is left out.
    pub is_open_at_end: bool,
}

impl History {
    /// The earlier changes of the rows that a change changes.
    pub fn edges_of(&self, change: usize) -> &[u32] {
        let begin = change.checked_sub(1).map_or(0, |before| self.changes[before].edges_end as usize);
        &self.edges[begin..self.changes[change].edges_end as usize]
    }

    /// The numbers of a transaction's changes.
    pub fn changes_of(&self, transaction: &Transaction) -> std::ops::Range<usize> {
        let first = transaction.first_change as usize;
        first..first + transaction.changes as usize
    }

    /// A transaction's tables, each once.
    pub fn tables_of(&self, transaction: &Transaction) -> Vec<u32> {
        let mut tables: Vec<u32> =
            self.changes_of(transaction).map(|change| self.changes[change].table).collect();
        tables.sort_unstable();
        tables.dedup();
        tables
    }

    /// The number of a set of schemas.
    pub fn schema_set(&mut self, set: SchemaSet) -> u32 {
        if let Some(&number) = self.schema_set_numbers.get(&set) {
            return number;
        }
        let number = self.schema_sets.len() as u32;
        self.schema_sets.push(set.clone());
        self.schema_set_numbers.insert(set, number);
        number
    }

    /// `file:pos`.
    pub fn place(&self, place: Place) -> String {
        let file = self.files.get(place.file as usize).map_or("?", String::as_str);
        format!("{file}:{}", place.pos)
    }
}
