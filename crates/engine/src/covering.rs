//! Answering a read from a secondary index alone.
//!
//! If a snapshot sees an entry that is not marked, the snapshot sees the entry's row, too, with
//! just the columns in the key: a change of one of them removes the entry. So a plain read that
//! wants no other column need not look the row up, as long as the key has the columns' values and
//! not only their weights.
//!
//! An entry newer than the snapshot may have replaced another state, so in that case the row is
//! read as usual. Locking reads go to the row anyway, because the locks are there.

use crate::definition::IndexRef;
use crate::error::{EngineError, Result};
use crate::table::{KeyPart, Table};
use types::Value;

/// The way in which wanted columns are read from the key of a secondary entry.
/// [`Table::entry_reader`] makes it.
#[derive(Clone, Debug)]
pub struct EntryReader {
    /// For each leading part of the index's own key, the wanted column that it is; `None` if it is
    /// not wanted.
    secondary: Vec<Option<usize>>,
    /// The same for the clustered key that follows.
    clustered: Vec<Option<usize>>,
}

/// The key of a secondary entry.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'s> {
    /// The whole key.
    pub key: &'s [u8],
    /// The byte offset in the key at which the clustered key begins.
    pub clustered_at: usize,
}

/// Returns, for the leading parts that can be read, the wanted columns, without those that
/// `already` has.
fn wanted_of(parts: &[KeyPart], wanted: &[usize], already: &[Option<usize>]) -> Vec<Option<usize>> {
    let readable = parts.iter().take_while(|part| types::key::is_readable(&part.ty, part.prefix));
    let mut of: Vec<Option<usize>> = readable
        .map(|part| {
            Some(part.column).filter(|column| wanted.contains(column) && !already.contains(&Some(*column)))
        })
        .collect();
    of.truncate(of.iter().rposition(Option::is_some).map_or(0, |last| last + 1));
    of
}

impl Table {
    /// Returns how to read these columns from the entries of an index. `None` means that the
    /// entries do not have them all, or that this is the clustered index, which has the rows
    /// themselves.
    pub fn entry_reader(&self, index: IndexRef, columns: &[usize]) -> Option<EntryReader> {
        let IndexRef::Secondary(at) = index else { return None };
        if self.is_multi_valued(IndexRef::Secondary(at)) {
            // A row has several entries, or none.
            return None;
        }
        let secondary = wanted_of(&self.indexes[at].parts, columns, &[]);
        let clustered = wanted_of(self.primary.as_deref().unwrap_or_default(), columns, &secondary);
        let has = |column: &usize| secondary.contains(&Some(*column)) || clustered.contains(&Some(*column));
        columns.iter().all(has).then_some(EntryReader { secondary, clustered })
    }

    /// Reads the wanted columns into their places of `values`, which has one for each column of the
    /// table.
    pub fn read_entry(
        &self,
        index: IndexRef,
        reader: &EntryReader,
        entry: Entry<'_>,
        values: &mut [Value],
    ) -> Result<()> {
        let IndexRef::Secondary(at) = index else { panic!("a clustered entry has its row") };
        let malformed =
            || EngineError::Corrupt(format!("{}: a secondary index entry is malformed", self.qualified_name));
        read_parts(&self.indexes[at].parts, &reader.secondary, entry.key, values).ok_or_else(malformed)?;
        let clustered = entry.key.get(entry.clustered_at..).ok_or_else(malformed)?;
        let primary = self.primary.as_deref().unwrap_or_default();
        read_parts(primary, &reader.clustered, clustered, values).ok_or_else(malformed)
    }
}

impl Table {
    /// Returns the columns of the primary key from the key of a row. `None` means that the key does
    /// not have the values of all of them, or is a hidden row id.
    pub(crate) fn primary_values(&self, key: &[u8]) -> Option<Vec<Value>> {
        let parts = self.primary.as_deref()?;
        let mut values = vec![Value::Null; self.layout.columns()];
        let columns: Vec<usize> = parts.iter().map(|part| part.column).collect();
        let wanted = wanted_of(parts, &columns, &[]);
        if wanted.len() < parts.len() {
            return None;
        }
        read_parts(parts, &wanted, key, &mut values)?;
        Some(columns.into_iter().map(|column| std::mem::replace(&mut values[column], Value::Null)).collect())
    }
}

fn read_parts(parts: &[KeyPart], wanted: &[Option<usize>], key: &[u8], values: &mut [Value]) -> Option<()> {
    let mut at = 0;
    for (part, column) in parts.iter().zip(wanted) {
        let value = column.map(|column| &mut values[column]);
        at += types::key::read_part(&part.ty, part.nullable, key.get(at..)?, value).ok()?;
    }
    Some(())
}
