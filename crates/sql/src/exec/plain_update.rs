//! UPDATE of rows by values that their columns take as they are: the values are packed, and spliced
//! into the image of the row, without rows of values in between.
//!
//! Most UPDATEs set texts and integers that need no conversion. A value that does need one goes the
//! way of all others, with everything that comes after it.

use super::Run;
use super::assign::COPIES_OF_AN_IMAGE;
use super::row_update::{NewValue, RowUpdate, assign_all, converted};
use crate::error::Result;
use engine::{Row, Table, TriggerEvent};
use types::convert::pack_plain;
use types::{ColumnMask, Value};

/// How many bytes of memory that is not used an image may keep.
const MOST_UNUSED_BYTES: usize = 1 << 10;

/// Reports whether each assignment can be packed before the next one is computed: the columns come
/// in the table's order, and no assignment reads what another one before it has set.
fn are_apart(table: &Table, assignments: &[(usize, NewValue)]) -> bool {
    assignments.iter().enumerate().all(|(place, (at, value))| {
        let NewValue::Expr(expr) = value else { return false };
        let mut read = Vec::new();
        expr.slots(&mut read);
        let is_behind = |(earlier, _): &(usize, NewValue)| earlier < at && !read.contains(earlier);
        table.def.columns[*at].generated.is_none() && assignments[..place].iter().all(is_behind)
    })
}

impl RowUpdate {
    /// Reports whether [`RowUpdate::store_plain`] can change rows whose columns begin at slot 0:
    /// all that a row gets are the values of SET.
    pub(super) fn is_plain(&self) -> bool {
        self.sets_alone() && are_apart(&self.table, &self.assignments)
    }

    /// Computes the new values of a row and stores them as [`RowUpdate::assign`] and
    /// [`RowUpdate::store`] do. `values` has the row's columns that the assignments read. `partial`
    /// is memory that is used for each row.
    pub(super) fn store_plain(
        &self,
        run: &mut Run<'_, '_>,
        row: Row,
        values: &mut [Value],
        number: u64,
        partial: &mut Vec<u8>,
    ) -> Result<bool> {
        let table = &self.table;
        if table.has_triggers(TriggerEvent::Update.bit()) {
            self.assign(run, number, 0, values)?;
            return self.store(run, &row, values, number, &mut [], None);
        }
        partial.clear();
        // Most values are about as long as those that they replace.
        partial.reserve(row.image.len().min(MOST_UNUSED_BYTES));
        partial.resize(self.assignments.len().div_ceil(8), 0);
        for (place, (at, value)) in self.assignments.iter().enumerate() {
            let NewValue::Expr(expr) = value else { unreachable!("a plain assignment is an expression") };
            let new = expr.eval(values, run.ctx)?;
            run.ctx.check_refused()?;
            if !pack_plain(&new, &table.def.columns[*at].ty, partial) {
                let new = converted(run, table, *at, &new, number, self.strictness(run))?;
                if place > 0 {
                    self.unpack(&row, place, partial, values)?;
                }
                values[*at] = new;
                let rest = &self.assignments[place + 1..];
                assign_all(run, table, rest, number, self.strictness(run), (0, values))?;
                return self.store(run, &row, values, number, &mut [], None);
            }
        }
        let bytes = row.image.len() + partial.len();
        run.ctx.charge_if_long(bytes.saturating_mul(COPIES_OF_AN_IMAGE))?;
        let mut image = Vec::with_capacity(bytes);
        table.layout.splice(&row.image, &self.assigned, partial, &mut image)?;
        if image == row.image {
            return Ok(false);
        }
        // The transaction keeps the image, which need not have the room of a long value that went.
        if image.capacity() - image.len() > MOST_UNUSED_BYTES {
            image.shrink_to_fit();
        }
        let updated = run.update_columns(table, row, image, &self.assigned);
        self.settled(run, updated)
    }

    /// Puts the first values of SET, which are packed in `partial`, into a row of values.
    #[cold]
    fn unpack(&self, row: &Row, count: usize, partial: &[u8], values: &mut [Value]) -> Result<()> {
        let columns: Vec<usize> = self.assignments[..count].iter().map(|(at, _)| *at).collect();
        let mut mask = ColumnMask::empty(self.table.columns());
        columns.iter().for_each(|at| mask.insert(*at));
        // The bitmap is that of all assignments. None of the packed values is NULL.
        let bitmap = vec![0; count.div_ceil(8)];
        let packed = [&bitmap[..], &partial[self.assignments.len().div_ceil(8)..]].concat();
        let mut image = Vec::new();
        self.table.layout.splice(&row.image, &mask, &packed, &mut image)?;
        self.table.layout.decode_columns(&image, &columns, values)?;
        Ok(())
    }
}
