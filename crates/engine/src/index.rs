//! The secondary indexes of a table at run time.

use crate::definition::TableDef;
use crate::key_parts::{self, KeyPart};
use crate::multi_valued::{self, RowEntries};
use btree::Tree;

/// A secondary index at run time.
pub(crate) struct Index {
    pub id: u32,
    pub name: String,
    pub unique: bool,
    pub parts: Vec<KeyPart>,
    /// Which entries a row has.
    pub entries: RowEntries,
    /// The positions of the columns that the entries are made of.
    pub columns: Vec<usize>,
    pub tree: Tree,
    /// The log position at which the index was built. Replay skips older changes, which are in the
    /// build.
    pub created_lsn: u64,
}

/// Returns the indexes of a definition with their trees, which are in the same order as `places`:
/// the root page of each and the log position at which it was built.
pub(crate) fn open_all(def: &TableDef, places: &[(u32, u64)], trees: Vec<Tree>) -> Vec<Index> {
    assert_eq!((trees.len(), places.len()), (def.index_ids().count(), trees.len()), "index trees");
    let mut indexes = Vec::with_capacity(places.len());
    let mut places = trees.into_iter().zip(places);
    let mut add = |id: u32, name: &str, unique, parts: Vec<KeyPart>, entries: RowEntries| {
        let (tree, (_, created_lsn)) = places.next().expect("every index has a tree");
        let columns = match &entries {
            RowEntries::OfWords(words) => words.columns.clone(),
            _ => parts.iter().map(|part| part.column).collect(),
        };
        let (name, created_lsn) = (name.to_owned(), *created_lsn);
        indexes.push(Index { id, name, unique, parts, entries, columns, tree, created_lsn });
    };
    for index in &def.indexes {
        let parts = key_parts::of_columns(&def.columns, &index.columns);
        let array = parts.iter().position(|part| part.is_array);
        let entries = array.map_or(RowEntries::One, RowEntries::OfArray);
        add(index.id, &index.name, index.unique, parts, entries);
    }
    for index in &def.kept_indexes {
        let Some(kept) = &index.entries else { continue };
        let columns = def.kept_columns(index).expect("an index with entries has columns of the table");
        let (part, entries) = multi_valued::of_rule(&def.columns, columns, &kept.rule);
        add(kept.id, &index.name, false, vec![part], entries);
    }
    indexes
}
