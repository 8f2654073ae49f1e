//! The rows of a subquery: in memory, or beyond a bound in a file that the executor keeps.

use super::Context;
use super::context::{RowKeys, RowsInFile, SubqueryRows, TakeRow};
use crate::error::Result;
use crate::memory::{Charge, growth};
use std::cell::{OnceCell, RefCell};
use std::collections::HashSet;
use std::fmt::Debug;
use types::Value;

/// Computes the key of a row. `None` means that one of its values is NULL.
pub(super) type KeyOf<'k> = dyn Fn(&[Value]) -> Option<Vec<u8>> + 'k;

impl Debug for RowKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RowKeys").field("keys", &self.keys.len()).finish_non_exhaustive()
    }
}

impl RowKeys {
    /// Reports whether a row has this key.
    ///
    /// # Errors
    /// Returns 2 when a file cannot be read.
    pub fn contains(&self, key: &[u8]) -> Result<bool> {
        match &self.in_file {
            None => Ok(self.keys.contains(key)),
            Some(keys) => keys.contains(key),
        }
    }
}

impl SubqueryRows {
    /// Makes the rows of a subquery. `charge` is for the rows in memory.
    pub fn new(first: Vec<Vec<Value>>, rest: Option<Box<dyn RowsInFile>>, charge: Charge) -> SubqueryRows {
        SubqueryRows { first, rest, charge: RefCell::new(charge), keys: OnceCell::new() }
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.first.len() + self.rest.as_ref().map_or(0, |rest| rest.len())
    }

    /// Reports whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reports whether all rows are in memory.
    pub fn is_in_memory(&self) -> bool {
        self.rest.is_none()
    }

    /// Passes the rows to `take`, in their order.
    ///
    /// # Errors
    /// Returns the errors of `take`, 2 when a file cannot be read, and 1317.
    #[inline]
    pub fn for_each(&self, take: &mut TakeRow<'_>, ctx: &Context<'_>) -> Result<()> {
        for row in &self.first {
            ctx.check_interrupt()?;
            if !take(row)? {
                return Ok(());
            }
        }
        match &self.rest {
            Some(rest) => rest.for_each(take, ctx),
            None => Ok(()),
        }
    }

    /// Returns the keys of the rows, which are made when they are first asked for.
    ///
    /// # Errors
    /// Returns the errors of [`Charge::add`], and 1, 2 and 3 when a file cannot be created, read
    /// or written.
    pub(super) fn keys(&self, key_of: &KeyOf<'_>, ctx: &Context<'_>) -> Result<&RowKeys> {
        if let Some(keys) = self.keys.get() {
            return Ok(keys);
        }
        let in_file = self.rest.as_ref().map(|rest| rest.new_keys(ctx));
        let mut made = RowKeys { keys: HashSet::new(), in_file, has_null: false };
        let charge = &mut self.charge.borrow_mut();
        self.for_each(
            &mut |row| {
                match (key_of(row), &mut made.in_file) {
                    (None, _) => made.has_null = true,
                    (Some(key), None) => drop(growth::insert(&mut made.keys, key, charge)?),
                    (Some(key), Some(keys)) => keys.add(&key, ctx)?,
                }
                Ok(true)
            },
            ctx,
        )?;
        if let Some(keys) = &mut made.in_file {
            keys.finish(ctx)?;
        }
        Ok(self.keys.get_or_init(|| made))
    }
}
