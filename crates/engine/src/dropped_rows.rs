//! Tells which stored rows went with their partitions (`dropped_partitions.rs` has the notes).

use crate::dropped_partitions::{Conditions, EngineOfRows};
use crate::entry::ClusteredValue;
use crate::error::{EngineError, Result};
use crate::overflow;
use crate::table::Table;
use buffer::Pool;
use redo::Lsn;
use std::sync::{Arc, OnceLock};

/// Decides which stored rows went with their partitions.
pub(crate) struct DroppedRows {
    compiler: Conditions,
    /// The engine, once it is there. Nobody reads rows before.
    engine: OnceLock<EngineOfRows>,
}

impl DroppedRows {
    pub fn new(compiler: Conditions) -> DroppedRows {
        DroppedRows { compiler, engine: OnceLock::new() }
    }

    pub fn set_engine(&self, engine: EngineOfRows) {
        let is_first = self.engine.set(engine).is_ok();
        assert!(is_first, "an engine decides about its own rows only");
    }

    /// Returns the full image of a stored row, with its long values. `None` means that the row is
    /// deleted or went with its partition. It must not be called while a page is latched.
    ///
    /// # Errors
    /// Returns an error for a row that does not decode, and for a condition that cannot be
    /// computed.
    pub fn live_image(
        &self,
        pool: &Arc<Pool>,
        table: &Table,
        value: &ClusteredValue<'_>,
    ) -> Result<Option<Vec<u8>>> {
        if value.is_deleted() {
            return Ok(None);
        }
        let image = overflow::resolve(pool, table, value)?;
        Ok(if self.has_gone(table, value.seq, &image)? { None } else { Some(image) })
    }

    /// Reports whether a row with this full image and sequence number went with its partition.
    ///
    /// # Errors
    /// Returns an error for a row that does not decode, and for a condition that cannot be
    /// computed.
    pub fn has_gone(&self, table: &Table, seq: Lsn, image: &[u8]) -> Result<bool> {
        let Some(dropped) = &table.dropped else { return Ok(false) };
        if seq > dropped.until() {
            return Ok(false);
        }
        let failed = |error: String| {
            let name = table.qualified_name();
            EngineError::BadDefinition(format!("the rows of a dropped partition of {name}: {error}"))
        };
        let engine = self.engine.get().ok_or_else(|| failed("the engine is not there".to_owned()))?;
        let values = table.layout.decode_all(image)?;
        let compile = |text: &str| self.compiler.compile(engine, &table.def, text);
        dropped.are_about(seq, &values, compile).map_err(failed)
    }
}
