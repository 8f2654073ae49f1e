//! The documents of a table, which a full-text search reads: the committed rows, by the entries of
//! the FULLTEXT index where that is less work than to read all of them.

use super::Context;
use super::node::SearchedIndex;
use crate::error::Result;
use crate::full_text::{Documents, Looked, Visit};
use crate::memory::Charge;
use engine::{Direction, IndexRef, KeyRange, LockMode, Row, TableHold, Transaction, word_range};
use std::collections::{HashMap, HashSet};
use types::Value;

/// In tables of so many rows at most, the documents are counted. Of larger ones the number is
/// estimated, as InnoDB does it.
const MOST_COUNTED: u64 = 10_000;
/// The memory that is charged for a row that was read, in bytes beside its key.
const ROW_BYTES: usize = 2 * size_of::<(Vec<u8>, u64)>();

/// The committed rows of a table.
pub(super) struct SearchedRows<'a> {
    index: &'a SearchedIndex,
    ctx: &'a Context<'a>,
    /// InnoDB's index has committed rows alone, so a transaction of its own reads them.
    transaction: Transaction,
    /// The numbers of the rows that have something which was looked for, by their clustered keys.
    numbers: HashMap<Vec<u8>, u64>,
    /// The number of rows of the table, if all were read.
    counted: Option<u64>,
    /// The values of the row that is shown, whose memory is used again.
    values: Vec<Value>,
    charge: Charge,
}

impl<'a> SearchedRows<'a> {
    /// Returns the rows that are committed now.
    pub fn new(index: &'a SearchedIndex, ctx: &'a Context<'a>) -> SearchedRows<'a> {
        SearchedRows {
            index,
            ctx,
            transaction: TableHold::begin_beside(ctx.engine),
            numbers: HashMap::new(),
            counted: None,
            values: vec![Value::Null; index.table.columns()],
            charge: Charge::new(ctx.memory),
        }
    }

    /// Returns the clustered keys of the rows with these numbers, in order.
    pub fn keys(self, numbers: &[u64]) -> Vec<Vec<u8>> {
        let numbers: HashSet<u64> = numbers.iter().copied().collect();
        let found = self.numbers.into_iter().filter(|(_, number)| numbers.contains(number));
        let mut keys: Vec<Vec<u8>> = found.map(|(key, _)| key).collect();
        keys.sort_unstable();
        keys
    }

    /// Returns the index with the entries and the ranges of those that are looked for. `None` means
    /// that the table is to be read as a whole.
    fn ranges(&self, looked: Option<&Looked>) -> Result<Option<(IndexRef, Vec<KeyRange>)>> {
        let (Some((_, entries)), Some(looked)) = (self.index.entries, looked) else { return Ok(None) };
        let table = &self.index.table;
        let words = looked.entries.iter().map(|entry| word_range(entry, false));
        let beginnings = looked.beginnings.iter().map(|entry| word_range(entry, true));
        let ranges: Vec<KeyRange> = words.chain(beginnings).collect();
        let are_few = engine::are_few_entries(&ranges, table, entries, 0)?;
        Ok(are_few.then_some((entries, ranges)))
    }

    /// Calls `each` for the rows of a range.
    fn read(
        &mut self,
        index: IndexRef,
        range: KeyRange,
        each: &mut dyn FnMut(&mut Self, Row) -> Result<()>,
    ) -> Result<()> {
        let table = &self.index.table;
        let mut scan = self.transaction.scan(table, index, range, Direction::Forward, LockMode::Snapshot)?;
        while let Some(row) = scan.next(&mut self.transaction)? {
            self.ctx.check_interrupt()?;
            each(self, row)?;
        }
        Ok(())
    }

    /// Shows a row to a search, and gives it a number if the search wants it.
    fn show(&mut self, row: Row, visit: &mut Visit<'_>) -> Result<()> {
        let SearchedIndex { table, columns, .. } = self.index;
        let mut values = std::mem::take(&mut self.values);
        table.layout.decode_columns(&row.image, columns, &mut values)?;
        let texts: Vec<Option<&str>> = columns.iter().map(|at| text_in(&values[*at])).collect();
        let known = self.numbers.get(&row.key).copied();
        let next = self.numbers.len() as u64;
        if visit(known.unwrap_or(next), &texts)? && known.is_none() {
            self.charge.add(ROW_BYTES + row.key.len())?;
            let before = self.numbers.insert(row.key, next);
            assert!(before.is_none(), "a row gets one number");
        }
        self.values = values;
        Ok(())
    }
}

/// Returns the text of a column. `None` means that it is NULL.
pub(super) fn text_in(value: &Value) -> Option<&str> {
    match value {
        Value::Bytes(bytes) => std::str::from_utf8(bytes).ok(),
        _ => None,
    }
}

impl Documents for SearchedRows<'_> {
    fn each(&mut self, looked: Option<&Looked>, visit: &mut Visit<'_>) -> Result<()> {
        let Some((index, ranges)) = self.ranges(looked)? else {
            let mut rows = 0;
            self.read(IndexRef::Primary, KeyRange::all(), &mut |own, row| {
                rows += 1;
                own.show(row, visit)
            })?;
            self.counted = Some(rows);
            return Ok(());
        };
        // A row has an entry for each of its words.
        let mut seen: HashSet<Vec<u8>> = HashSet::new();
        let mut charge = Charge::new(self.ctx.memory);
        for range in ranges {
            self.read(index, range, &mut |own, row| {
                if seen.contains(&row.key) {
                    return Ok(());
                }
                charge.add(ROW_BYTES + row.key.len())?;
                seen.insert(row.key.clone());
                own.show(row, visit)
            })?;
        }
        Ok(())
    }

    fn again(&mut self, numbers: &HashSet<u64>, visit: &mut Visit<'_>) -> Result<()> {
        let known = self.numbers.iter().filter(|(_, number)| numbers.contains(number));
        let mut keys: Vec<Vec<u8>> = known.map(|(key, _)| key.clone()).collect();
        keys.sort_unstable();
        for key in keys {
            self.read(IndexRef::Primary, KeyRange::prefix(&key), &mut |own, row| own.show(row, visit))?;
        }
        Ok(())
    }

    fn count(&mut self) -> Result<u64> {
        if let Some(counted) = self.counted {
            return Ok(counted);
        }
        let estimated = self.ctx.engine.table_figures(&self.index.table).rows;
        if estimated > MOST_COUNTED {
            // There are at least as many as were found.
            return Ok(estimated.max(self.numbers.len() as u64));
        }
        let mut rows = 0;
        self.read(IndexRef::Primary, KeyRange::all(), &mut |_, _| {
            rows += 1;
            Ok(())
        })?;
        self.counted = Some(rows);
        Ok(rows)
    }
}
