//! Rows that are gathered for a subquery or a recursive block: in memory up to `tmp_table_size`,
//! in a temporary file beyond it.

use super::by_hash::{SortedRows, Sorting};
use super::spill::{Rows, damaged, hash_of, table_bytes};
use crate::error::Result;
use crate::expr::{Context, KeysInFile, RowsInFile, SubqueryRows, TakeRow};
use crate::memory::{Charge, growth, row_bytes};
use types::Value;

/// The rows so far.
pub(super) struct Gathered {
    first: Vec<Vec<Value>>,
    bytes: usize,
    most_bytes: usize,
    /// The rows behind those in `first`, once that is full.
    rest: Option<Rows>,
    charge: Charge,
}

impl Gathered {
    pub fn new(ctx: &Context<'_>) -> Gathered {
        let charge = Charge::new(ctx.memory);
        Gathered { first: Vec::new(), bytes: 0, most_bytes: table_bytes(ctx), rest: None, charge }
    }

    /// Appends a row.
    ///
    /// # Errors
    /// Returns the errors of [`Charge::add`], and 1 and 3 when the file cannot be created or
    /// written.
    pub fn push(&mut self, row: &[Value], ctx: &Context<'_>) -> Result<()> {
        if let Some(rest) = &mut self.rest {
            return rest.push(row, ctx);
        }
        let bytes = row_bytes(row);
        if self.bytes + bytes > self.most_bytes && !self.first.is_empty() {
            return self.rest.insert(Rows::in_file(row.len(), ctx)).push(row, ctx);
        }
        self.bytes += bytes;
        self.charge.add_row(row)?;
        growth::push(&mut self.first, row.to_vec(), &mut self.charge)
    }

    /// Reports whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.first.is_empty()
    }

    /// Returns the rows.
    pub fn finish(self) -> SubqueryRows {
        assert!(self.rest.is_none() || !self.first.is_empty(), "the file has the rows behind the first ones");
        let rest = self.rest.map(|rows| Box::new(Rest(rows)) as Box<dyn RowsInFile>);
        SubqueryRows::new(self.first, rest, self.charge)
    }
}

/// The rows that are in the file.
#[derive(Debug)]
struct Rest(Rows);

impl RowsInFile for Rest {
    fn len(&self) -> usize {
        usize::try_from(self.0.len()).unwrap_or(usize::MAX)
    }

    fn for_each(&self, take: &mut TakeRow<'_>, ctx: &Context<'_>) -> Result<()> {
        let mut cursor = self.0.cursor();
        let mut row = vec![Value::Null; self.0.columns()];
        while cursor.next(&mut row, ctx)? {
            ctx.check_interrupt()?;
            if !take(&row)? {
                break;
            }
        }
        Ok(())
    }

    fn new_keys(&self, ctx: &Context<'_>) -> Box<dyn KeysInFile> {
        Box::new(Keys { adding: Some(Sorting::new(ctx)), made: None })
    }
}

/// The keys of the rows, by their hashes.
struct Keys {
    adding: Option<Sorting>,
    made: Option<SortedRows>,
}

impl KeysInFile for Keys {
    fn add(&mut self, key: &[u8], ctx: &Context<'_>) -> Result<()> {
        self.adding.as_mut().map_or(Ok(()), |adding| adding.push(key, hash_of(key), &[], ctx))
    }

    fn finish(&mut self, ctx: &Context<'_>) -> Result<()> {
        self.made = self.adding.take().map(|adding| adding.finish(ctx)).transpose()?;
        Ok(())
    }

    fn contains(&self, key: &[u8]) -> Result<bool> {
        self.made.as_ref().ok_or_else(damaged)?.contains(key, hash_of(key))
    }
}
