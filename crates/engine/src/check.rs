//! CHECK TABLE: trees are sound, and secondary indexes agree with the table.

use crate::Engine;
use crate::error::Result;
use crate::table::{IndexRef, Table};
use crate::transaction::scan::KeyRange;
use crate::transaction::{Isolation, LockMode};
use btree::Direction;
use std::sync::Arc;

/// How many faults are listed before the check gives up on an index.
const MAX_FAULTS: usize = 10;

impl Engine {
    /// Checks a table while others may go on changing it; returns what is wrong, each as a sentence. None: all is well.
    ///
    /// Every page of every tree is verified (order, bounds, levels). Then, as one snapshot sees them: every entry of a
    /// secondary index has a row with that key, and there are as many entries as rows, so that every row has its entry.
    pub fn check_table(self: &Arc<Engine>, table: &Arc<Table>) -> Result<Vec<String>> {
        let mut faults = Vec::new();
        let mut txn = self.begin(Isolation::RepeatableRead);
        txn.use_table(table)?;
        txn.open_snapshot()?;
        let trees =
            std::iter::once(IndexRef::Primary).chain((0..table.indexes.len()).map(IndexRef::Secondary));
        for index in trees {
            if let Err(error) = table.tree(index).validate() {
                faults.push(format!("The B-tree of index {} is corrupted. {error}", table.index_name(index)));
            }
        }
        if !faults.is_empty() {
            return Ok(faults);
        }
        let mut rows = 0u64;
        let mut scan =
            txn.scan(table, IndexRef::Primary, KeyRange::all(), Direction::Forward, LockMode::Snapshot)?;
        while let Some(row) = scan.next(&mut txn)? {
            rows += 1;
            if table.layout.len_of(&row.image)? != row.image.len() {
                faults.push(format!("the row with key {:02x?} has bytes left over", row.key));
            }
        }
        for at in 0..table.indexes.len() {
            self.check_index(table, at, rows, &mut txn, &mut faults)?;
        }
        Ok(faults)
    }

    fn check_index(
        &self,
        table: &Arc<Table>,
        at: usize,
        rows: u64,
        txn: &mut crate::Transaction,
        faults: &mut Vec<String>,
    ) -> Result<()> {
        let name = &table.indexes[at].name;
        let mut entries = 0u64;
        let mut index_faults = 0;
        let index = IndexRef::Secondary(at);
        let mut scan = txn.scan(table, index, KeyRange::all(), Direction::Forward, LockMode::Snapshot)?;
        scan.report_strays();
        while let Some(row) = scan.next(txn)? {
            entries += 1;
            let key = table.secondary_key(at, &row.image, &row.key)?;
            if scan.last_key() != Some(&key.key[..]) && index_faults < MAX_FAULTS {
                index_faults += 1;
                faults
                    .push(format!("index {name}: an entry does not match its row with key {:02x?}", row.key));
            }
        }
        for stray in scan.strays().iter().take(MAX_FAULTS) {
            faults.push(format!("index {name}: the entry {stray:02x?} has no row"));
        }
        if entries != rows {
            faults.push(format!("Index '{name}' contains {entries} entries, should be {rows}."));
        }
        Ok(())
    }
}
