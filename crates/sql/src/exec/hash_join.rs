//! Hash join: one table of a join is read once into a hash table, and its rows are found by the
//! values of some of its columns.
//!
//! In: the rows that the table's access delivers, or those of a derived table. Out: the rows whose
//! keys equal those of the current row, in the order in which they were read. Keys are bytes that
//! are equal exactly where `=` holds. A row with NULL in its key is never found.

use super::Run;
use super::reader::Reader;
use super::run::all_hold;
use super::spill::Rows;
use crate::error::Result;
use crate::expr::{Number, decimal_of, double_of, group_key, number};
use crate::memory::{Charge, allocated, copy_bytes, growth, out_of_memory};
use crate::plan::{HashKey, KeyKind, Source, TableStep};
use std::collections::HashMap;
use types::{DateTime, Value};

/// The end of a chain, which is no row.
const END: u32 = u32::MAX;

/// The rows of a table, by their keys.
pub(super) struct HashTable {
    /// The needed columns of all rows, one row behind the other.
    values: Vec<Value>,
    /// For each row, the next one with the same key.
    next: Vec<u32>,
    /// The first and the last row of each key.
    by_key: HashMap<Vec<u8>, (u32, u32)>,
    charge: Charge,
    /// The number of rows that the table has, kept or not.
    rows_read: u64,
}

/// The next row of a chain that is being read, or [`END`].
pub(super) struct Found(u32);

/// Sets `out` to the key of a row. Returns false when NULL is in it.
fn put_key(keys: &[HashKey], slot: impl Fn(&HashKey) -> usize, row: &[Value], out: &mut Vec<u8>) -> bool {
    out.clear();
    for key in keys {
        let value = &row[slot(key)];
        match (value, key.kind) {
            (Value::Null, _) => return false,
            (value, KeyKind::Integer) => match number(value) {
                Number::Int(n) => out.extend(i128::from(n).to_le_bytes()),
                Number::UInt(n) => out.extend(i128::from(n).to_le_bytes()),
                other => group_key(&Value::Decimal(decimal_of(&other)), 0, out),
            },
            (Value::Date(date), KeyKind::Moment) => {
                group_key(&Value::DateTime(DateTime::midnight(*date)), 0, out);
            }
            (value, KeyKind::Text(collation)) => group_key(value, collation, out),
            (value, KeyKind::Decimal) => {
                group_key(&Value::Decimal(decimal_of(&number(value))), 0, out);
            }
            (value, KeyKind::Double) => group_key(&Value::Double(double_of(&number(value))), 0, out),
            (value, KeyKind::Moment | KeyKind::Time) => group_key(value, 0, out),
        }
    }
    true
}

impl HashTable {
    /// Reads the table of a step. `rows` are the rows of a derived table; other tables are read
    /// through `row`.
    pub fn of(
        run: &mut Run<'_, '_>,
        step: &TableStep,
        rows: Option<&Rows>,
        row: &mut [Value],
    ) -> Result<HashTable> {
        let mut made = HashTable {
            values: Vec::new(),
            next: Vec::new(),
            by_key: HashMap::new(),
            charge: run.charge(),
            rows_read: 0,
        };
        match (&step.source, rows) {
            (Source::Stored { table, access }, _) => {
                let mut reader = Reader::open(run, table, access, run.lock_for(step.lock), row)?;
                while reader.read_into(run, step, row)? {
                    made.add(run, step, row)?;
                }
            }
            (Source::Subquery(call), _) => {
                for found in &call.rows(row, run.ctx)?.rows {
                    run.on_row()?;
                    row[step.base..step.base + step.columns].clone_from_slice(found);
                    made.add(run, step, row)?;
                }
            }
            (Source::JsonTable(table), _) => {
                let (found, _charge) = super::json_table::rows(run, table, step.columns, row)?;
                for found in &found {
                    run.on_row()?;
                    row[step.base..step.base + step.columns].clone_from_slice(found);
                    made.add(run, step, row)?;
                }
            }
            (_, Some(rows)) => {
                let mut cursor = rows.cursor();
                while cursor.next(&mut row[step.base..step.base + step.columns], run.ctx)? {
                    run.on_row()?;
                    made.add(run, step, row)?;
                }
            }
            (_, None) => {}
        }
        Ok(made)
    }

    /// Keeps the row if its conditions hold and no part of its key is NULL.
    fn add(&mut self, run: &mut Run<'_, '_>, step: &TableStep, row: &[Value]) -> Result<()> {
        self.rows_read += 1;
        let Some(lookup) = &step.hash else { return Ok(()) };
        let mut key = Vec::new();
        if !all_hold(&lookup.conditions, row, run)? || !put_key(&lookup.keys, |key| key.own, row, &mut key) {
            return Ok(());
        }
        // A row's number has 32 bits.
        let at = u32::try_from(self.next.len()).ok().filter(|at| *at < END).ok_or_else(out_of_memory)?;
        for column in &step.needed {
            let value = &row[step.base + column];
            self.charge.add(copy_bytes(value))?;
            growth::push(&mut self.values, value.clone(), &mut self.charge)?;
        }
        growth::push(&mut self.next, END, &mut self.charge)?;
        match self.by_key.get_mut(&key) {
            Some((_, last)) => {
                self.next[*last as usize] = at;
                *last = at;
            }
            None => {
                self.charge.add(allocated(key.capacity()))?;
                growth::insert_new(&mut self.by_key, key, (at, at), &mut self.charge)?;
            }
        }
        Ok(())
    }

    /// Returns the number of rows that were read, and of those that are kept.
    pub fn sizes(&self) -> (u64, u64) {
        (self.rows_read, self.next.len() as u64)
    }

    /// Looks up the rows whose keys equal the key of the tables before.
    pub fn find(&self, step: &TableStep, row: &[Value], run: &Run<'_, '_>) -> Result<Found> {
        run.ctx.check_interrupt()?;
        let Some(lookup) = &step.hash else { return Ok(Found(END)) };
        let mut key = Vec::with_capacity(32);
        let first = match put_key(&lookup.keys, |key| key.other, row, &mut key) {
            true => self.by_key.get(&key).map_or(END, |(first, _)| *first),
            false => END,
        };
        Ok(Found(first))
    }

    /// Puts the next row of a chain into the table's slots. Returns false at the end of the chain.
    pub fn next_into(
        &self,
        found: &mut Found,
        step: &TableStep,
        row: &mut [Value],
        run: &Run<'_, '_>,
    ) -> Result<bool> {
        if found.0 == END {
            return Ok(false);
        }
        run.on_row()?;
        let at = found.0 as usize;
        let values = &self.values[at * step.needed.len()..][..step.needed.len()];
        for (column, value) in step.needed.iter().zip(values) {
            row[step.base + column].clone_from(value);
        }
        found.0 = self.next[at];
        Ok(true)
    }
}
