//! BIT_AND, BIT_OR and BIT_XOR of byte strings.

use super::functions::byte_bits::lengths_differ;
use crate::error::Result;
use crate::memory::{Charge, allocated};
use types::Value;

/// The most bytes that a value of such an aggregate may have, as in MySQL.
pub(crate) const MOST_BIT_STRING_BYTES: u64 = 511;

/// The bytes of the rows so far. All values of a group must be of one length.
#[derive(Debug, Clone)]
pub(super) struct BitString {
    operation: fn(u8, u8) -> u8,
    /// Each byte of the result of no rows.
    neutral: u8,
    bytes: Option<Vec<u8>>,
}

impl BitString {
    /// Starts a group whose values are put together byte by byte.
    pub fn new(operation: fn(u8, u8) -> u8, neutral: u8) -> BitString {
        BitString { operation, neutral, bytes: None }
    }

    /// Takes in a row's bytes, and adds the bytes that are kept to `charge`.
    ///
    /// # Errors
    /// Returns 3513 when the value has another length than those before it.
    pub fn add(&mut self, value: &Value, charge: &mut Charge) -> Result<()> {
        let Value::Bytes(bytes) = value else { unreachable!("the argument's type is one of bytes") };
        let Some(kept) = &mut self.bytes else {
            charge.add(allocated(bytes.len()))?;
            self.bytes = Some(bytes.clone());
            return Ok(());
        };
        if kept.len() != bytes.len() {
            return Err(lengths_differ());
        }
        kept.iter_mut().zip(bytes).for_each(|(kept, byte)| *kept = (self.operation)(*kept, *byte));
        Ok(())
    }

    /// Returns the result, which of no rows is as long as the longest value that the argument can
    /// have.
    pub fn finish(self, longest_bytes: u64) -> Value {
        let empty = || vec![self.neutral; longest_bytes.min(MOST_BIT_STRING_BYTES) as usize];
        Value::Bytes(self.bytes.unwrap_or_else(empty))
    }
}
