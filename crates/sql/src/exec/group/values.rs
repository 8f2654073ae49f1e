//! The values that aggregates with DISTINCT have seen, for all groups in one table.

use crate::error::Result;
use crate::exec::sort::Sorter;
use crate::exec::spill::{Firsts, KeyTable, RowCodec, damaged};
use crate::expr::{Aggregate, Context, group_key};
use std::borrow::Cow;
use types::Value;

/// The distinct values so far. Once they do not fit in memory, values are kept in a file until all
/// have come.
pub(in crate::exec) struct DistinctValues {
    firsts: Firsts,
    codec: RowCodec,
    key: Vec<u8>,
}

impl DistinctValues {
    pub fn new(ctx: &Context<'_>) -> DistinctValues {
        DistinctValues { firsts: Firsts::new(ctx), codec: RowCodec::default(), key: Vec::new() }
    }

    /// Reports whether these arguments are known to be the first of their kind for an accumulator,
    /// which is given by its number.
    ///
    /// # Errors
    /// Returns the errors of [`Firsts::is_first`].
    pub fn is_first(
        &mut self,
        accumulator: usize,
        aggregate: &Aggregate,
        values: &[Cow<'_, Value>],
        ctx: &Context<'_>,
    ) -> Result<bool> {
        let number = (accumulator as u64).to_be_bytes();
        self.key.clear();
        self.key.extend_from_slice(&number);
        for (value, arg) in values.iter().zip(aggregate.distinct_args()) {
            group_key(value, arg.ty.collation, &mut self.key);
        }
        let codec = &mut self.codec;
        let write = |payload: &mut Vec<u8>| {
            payload.extend_from_slice(&number);
            values.iter().for_each(|value| codec.write(value, payload));
        };
        self.firsts.is_first(&self.key, write, ctx)
    }

    /// Gives the values this many times less memory.
    pub fn divide_memory(&mut self, by: usize) {
        self.firsts.divide_memory(by);
    }

    /// Reports whether values were kept for later.
    pub fn has_later(&self) -> bool {
        self.firsts.has_later()
    }

    /// Returns the keys of the values: the number of the accumulator in eight bytes, and the
    /// arguments. `None` means that values were kept for later.
    pub fn into_keys(self) -> Option<KeyTable> {
        self.firsts.into_keys()
    }

    /// As [`DistinctValues::is_first`], for the key of arguments that another thread has seen, by
    /// the number of the accumulator there. There is room for them.
    ///
    /// # Errors
    /// Returns the errors of [`Charge::add`](crate::memory::Charge::add).
    pub fn is_first_of_threads(&mut self, accumulator: usize, args: &[u8]) -> Result<bool> {
        self.key.clear();
        self.key.extend_from_slice(&(accumulator as u64).to_be_bytes());
        self.key.extend_from_slice(args);
        self.firsts.enter(&self.key)
    }

    /// Passes the values that were kept for later to `take`, with the number of their accumulator:
    /// each kind once, in the order in which they came.
    ///
    /// # Errors
    /// Returns the errors of [`Firsts::finish`].
    pub fn finish(
        self,
        ctx: &Context<'_>,
        take: &mut dyn FnMut(usize, &[Value]) -> Result<()>,
    ) -> Result<()> {
        if !self.firsts.has_later() {
            return Ok(());
        }
        let mut sorter = Sorter::new(&[], None, ctx);
        self.firsts.finish(ctx, &mut |number, payload| {
            sorter.push_entry(&number.to_be_bytes(), payload, ctx)?;
            Ok(true)
        })?;
        let mut sorted = sorter.finish(ctx)?;
        let mut values = Vec::new();
        while let Some((_, payload)) = sorted.next_entry(ctx)? {
            let (number, mut written) = payload.split_first_chunk().ok_or_else(damaged)?;
            values.clear();
            while !written.is_empty() {
                let mut value = Value::Null;
                self.codec.read(&mut written, &mut value)?;
                values.push(value);
            }
            take(u64::from_be_bytes(*number) as usize, &values)?;
        }
        Ok(())
    }
}
