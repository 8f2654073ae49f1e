//! Rows in memory, as bytes, which one thread writes and others may read.

use super::row::RowCodec;
use crate::error::Result;
use crate::expr::Context;
use crate::memory::{Charge, growth};
use types::Value;

/// A list of rows, each with the values of the same slots.
pub(crate) struct RowList {
    codec: RowCodec,
    /// The bytes of one row behind the other.
    bytes: Vec<u8>,
    ends: Vec<usize>,
    charge: Charge,
    scratch: Vec<u8>,
}

impl RowList {
    pub fn new(ctx: &Context<'_>) -> RowList {
        RowList {
            codec: RowCodec::default(),
            bytes: Vec::new(),
            ends: Vec::new(),
            charge: Charge::new(ctx.memory),
            scratch: Vec::new(),
        }
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the bytes that the list takes.
    pub fn used_bytes(&self) -> usize {
        self.charge.bytes()
    }

    /// Appends the values of these slots of a row.
    ///
    /// # Errors
    /// Returns the errors of [`Charge::add`].
    pub fn push(&mut self, row: &[Value], slots: impl Iterator<Item = usize>) -> Result<()> {
        self.scratch.clear();
        for slot in slots {
            self.codec.write(&row[slot], &mut self.scratch);
        }
        growth::append(&mut self.bytes, &self.scratch, &mut self.charge)?;
        growth::push(&mut self.ends, self.bytes.len(), &mut self.charge)
    }

    /// Puts the values of a row into the slots that it was written from.
    ///
    /// # Errors
    /// Returns the errors of [`RowCodec::read`].
    pub fn read(
        &self,
        number: usize,
        row: &mut [Value],
        mut slots: impl Iterator<Item = usize>,
    ) -> Result<()> {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        let mut written = &self.bytes[start..self.ends[number]];
        slots.try_for_each(|slot| self.codec.read(&mut written, &mut row[slot]))?;
        assert!(written.is_empty(), "a row is read into the slots that it was written from");
        Ok(())
    }
}
