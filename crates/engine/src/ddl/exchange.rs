//! `ALTER TABLE ... EXCHANGE PARTITION`: rows of two tables change places in one commit.

use super::context::DdlContext;
use super::copy::copy_rows;
use super::foreign_key::Followers;
use super::statement::Ddl;
use super::table::TableName;
use crate::commit::pipeline::CommitOutcome;
use crate::definition::TableDef;
use crate::error::Result;
use crate::table::{Counters, Table};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A function that says whether a row image is one of those that leave their table.
pub type ChooseRow<'c> = dyn FnMut(&[u8]) -> Result<bool> + 'c;
/// A function that refuses a row image with an error.
pub type AdmitRow<'a> = dyn FnMut(&[u8]) -> Result<()> + 'a;

/// One exchange of rows.
pub(crate) struct Exchange<'d> {
    pub ddl: &'d Ddl,
}

impl Exchange<'_> {
    /// Exchanges the rows of `table` for which `belongs` is true with all rows of `other`. Both
    /// tables have rows and keys of the same form. `admits` is asked about each row of `other` and
    /// refuses it with an error.
    ///
    /// Both tables are built anew, and one commit puts the new ones in place of the old ones.
    ///
    /// # Errors
    /// Returns an error for a table that does not exist and for a key that both sets of rows have,
    /// the errors of `belongs` and `admits`, and I/O errors.
    pub fn run(
        &self,
        table: TableName<'_>,
        other: TableName<'_>,
        belongs: &mut ChooseRow<'_>,
        admits: &mut AdmitRow<'_>,
        context: &DdlContext<'_>,
    ) -> Result<CommitOutcome> {
        let mut locks = self.ddl.metadata_locks(context);
        let mut names = [table, other];
        names.sort_unstable();
        for (schema, name) in names {
            locks.lock_table(schema, name)?;
        }
        let (table, other) =
            (self.ddl.existing_table(table.0, table.1)?, self.ddl.existing_table(other.0, other.1)?);
        assert_eq!(table.def.columns.len(), other.def.columns.len(), "tables that exchange rows are alike");
        let _one = self.ddl.one.lock();
        let interrupt = context.interrupt.as_deref();
        let next = table.auto_increment().max(other.auto_increment());
        let made = self.empty_like(&table, next)?;
        let copied = copy_rows(
            self.ddl,
            &mut [
                (&*table, &mut |row| Ok(if belongs(row)? { None } else { Some(row.to_vec()) })),
                (&*other, &mut |row| admits(row).map(|()| Some(row.to_vec()))),
            ],
            &made,
            interrupt,
        );
        self.or_drop(copied, &[&made])?;
        let made_other = self.or_drop(self.empty_like(&other, other.auto_increment()), &[&made])?;
        let copied = copy_rows(
            self.ddl,
            &mut [(&*table, &mut |row| Ok(if belongs(row)? { Some(row.to_vec()) } else { None }))],
            &made_other,
            interrupt,
        );
        self.or_drop(copied, &[&made, &made_other])?;
        self.ddl.replace_tables(vec![(table, made), (other, made_other)], Followers::default(), context)
    }

    /// Makes an empty table of the same definition, whose AUTO_INCREMENT counter is at `next`.
    fn empty_like(&self, table: &Table, next: u64) -> Result<Table> {
        let counters = Counters::default();
        counters.row_id.store(1, Ordering::Relaxed);
        counters.auto_increment.store(next, Ordering::Relaxed);
        let mut def: TableDef = table.def.clone();
        def.index_ids_mut().for_each(|id| *id = 0);
        self.ddl.make_table(def, Arc::new(counters))
    }

    /// Passes a result on. After an error it drops these tables, which nobody has seen.
    fn or_drop<T>(&self, result: Result<T>, made: &[&Table]) -> Result<T> {
        if result.is_err() {
            made.iter().try_for_each(|table| self.ddl.pool.drop_space(table.placement.space))?;
        }
        result
    }
}
