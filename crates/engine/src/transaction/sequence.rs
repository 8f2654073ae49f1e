//! The one row of a MariaDB sequence. A row event that writes it puts the sequence where the source
//! has it, so what is inserted takes the place of the row that is there.

use super::Transaction;
use super::apply::PartialRow;
use crate::Engine;
use crate::error::{EngineError, Result};
use crate::status::bump;
use crate::table::Table;
use std::sync::Arc;

/// The hidden row id of a sequence's row.
pub(crate) const ROW_ID: u64 = 1;

impl Transaction {
    /// Sets a sequence's row as a source logged it.
    pub(super) fn apply_sequence(&mut self, table: &Arc<Table>, after: PartialRow<'_>) -> Result<()> {
        let image = table.inserted_image(after)?;
        if !after.mask.is_full() {
            // A replay cannot know what the defaults were.
            self.sidecar.whole_row(table.id, &image);
        }
        let key = table.clustered_key(&image, Some(ROW_ID))?;
        match self.current_row(table, &key) {
            Ok(old) => {
                self.record_change(table, Some(ROW_ID));
                let new = (image.clone(), None);
                self.stage_update(table, &key, old, &key, new, Vec::new())?;
                let whole = PartialRow { mask: &table.full_mask, image: &image };
                self.note_update_ahead(table, &key, Some(whole));
            }
            // A table of these columns that became a sequence while it was empty.
            Err(EngineError::RowNotFound { .. }) => {
                self.check_not_ahead()?;
                self.record_change(table, Some(ROW_ID));
                self.stage_insert(table, &key, None, (image, None), Vec::new());
            }
            Err(error) => return Err(error),
        }
        bump(&self.engine.counters.rows_inserted, 1);
        Ok(())
    }
}

impl Engine {
    /// The newest committed row of a sequence; `None`: it has none.
    pub fn sequence_row(&self, table: &Table) -> Result<Option<Vec<u8>>> {
        let key = ROW_ID.to_be_bytes();
        let spot = table.clustered.locate(&key);
        Ok(self.rows.read_newest_at(table, &spot)?.map(|row| row.image))
    }
}
