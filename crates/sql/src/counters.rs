//! Counts of what statements have done, for SHOW STATUS.
//!
//! Each session counts for itself, without waiting for anybody: only its own thread writes, and
//! every thread may read. The server adds the sessions up.

use crate::table_uses::TableUses;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A number that one thread counts up and every thread may read.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    /// Adds 1.
    #[inline]
    pub fn count(&self) {
        self.add(1);
    }

    /// Adds `more`.
    #[inline]
    pub fn add(&self, more: u64) {
        // No other thread writes, so a load and a store suffice. They cost less than an atomic
        // addition.
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(more), Ordering::Relaxed);
    }

    /// Returns the current count.
    #[inline]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The number of kinds of statements that are counted. They are the first names of
/// `measured::names::NAMES`, which checks the number.
pub const STATEMENT_KINDS: usize = 169;

/// How many statements of each kind began, for the variables whose names begin with `Com_`. The
/// places are those of `measured::EventName`.
#[derive(Debug)]
pub struct StatementCounts([Count; STATEMENT_KINDS]);

impl Default for StatementCounts {
    fn default() -> Self {
        StatementCounts(std::array::from_fn(|_| Count::default()))
    }
}

impl StatementCounts {
    /// Counts a statement of the kind at this place. A place behind the counted ones is that of a
    /// command, for which the server has counters of its own.
    #[inline]
    pub fn count(&self, place: u16) {
        if let Some(count) = self.0.get(usize::from(place)) {
            count.count();
        }
    }

    /// Returns the counts by place.
    pub fn figures(&self) -> Vec<u64> {
        self.0.iter().map(Count::get).collect()
    }

    /// Adds the counts of a session to this total. No other thread may add to the total meanwhile.
    pub fn add_all(&self, of_session: &StatementCounts) {
        self.0.iter().zip(&of_session.0).for_each(|(total, count)| total.add(count.get()));
    }

    fn reset(&self) {
        self.0.iter().for_each(|count| count.0.store(0, Ordering::Relaxed));
    }
}

macro_rules! counters {
    ($($field:ident $name:literal $what:literal;)*) => {
        /// The counts of what a session's statements have done.
        #[derive(Debug, Default)]
        pub struct Counters {
            $(#[doc = $what] pub $field: Count,)*
            /// Rows that were looked at in tables and sorts. SHOW STATUS does not have them.
            pub rows_examined: Count,
            /// Statements by kind, which have names of their own in SHOW STATUS.
            pub statements: StatementCounts,
            /// What was done with the rows of tables, by index.
            pub uses: Arc<TableUses>,
        }

        impl Counters {
            /// The names of the counts in SHOW STATUS, sorted.
            pub const NAMES: &'static [&'static str] = &[$($name,)*];

            /// Returns the counts in the order of [`Self::NAMES`].
            pub fn figures(&self) -> Vec<u64> {
                vec![$(self.$field.get(),)*]
            }

            /// Adds the counts of a session that ends, in the order of [`Self::NAMES`], to this
            /// total. No other thread may add to the total meanwhile.
            pub fn add_all(&self, figures: &[u64]) {
                let mut figures = figures.iter().copied();
                $(self.$field.add(figures.next().unwrap_or(0));)*
            }

            /// Sets all counts to zero (FLUSH STATUS).
            pub fn reset(&self) {
                $(self.$field.0.store(0, Ordering::Relaxed);)*
                self.rows_examined.0.store(0, Ordering::Relaxed);
                self.statements.reset();
            }
        }
    };
}

counters! {
    stmt_reprepare "Com_stmt_reprepare" "Prepared statements that were bound again.";
    created_tmp_disk_tables "Created_tmp_disk_tables" "Made tables that went to a file.";
    created_tmp_files "Created_tmp_files" "Temporary files.";
    created_tmp_tables "Created_tmp_tables" "Made tables: derived ones, groups, duplicates, unions.";
    handler_commit "Handler_commit" "Commits of statements and transactions in an engine or in the binary log.";
    handler_delete "Handler_delete" "Rows deleted.";
    handler_external_lock "Handler_external_lock" "Tables that statements have taken and given back.";
    handler_prepare "Handler_prepare" "Commits that an engine and the binary log prepare together.";
    handler_read_first "Handler_read_first" "Indexes read from their first entry.";
    handler_read_key "Handler_read_key" "Rows looked for by a key.";
    handler_read_last "Handler_read_last" "Indexes read from their last entry.";
    handler_read_next "Handler_read_next" "Next rows in the order of a key.";
    handler_read_prev "Handler_read_prev" "Rows before, in the order of a key.";
    handler_read_rnd "Handler_read_rnd" "Rows read by their place.";
    handler_read_rnd_next "Handler_read_rnd_next" "Next rows of a table.";
    handler_rollback "Handler_rollback" "Rollbacks of statements and transactions.";
    handler_savepoint "Handler_savepoint" "Savepoints.";
    handler_savepoint_rollback "Handler_savepoint_rollback" "Rollbacks to a savepoint.";
    handler_update "Handler_update" "Rows updated.";
    handler_write "Handler_write" "Rows inserted.";
    select_full_join "Select_full_join" "Joins with a table that is read as a whole.";
    select_full_range_join "Select_full_range_join" "Joins with a range of a table within.";
    select_range "Select_range" "Queries whose first table is read by ranges.";
    select_range_check "Select_range_check" "Joins that choose an index for each row.";
    select_scan "Select_scan" "Queries whose first table is read as a whole.";
    parallel_reads "Slipstream_parallel_reads" "Scans that several threads have shared.";
    sort_merge_passes "Sort_merge_passes" "Merges of sorted runs.";
    sort_range "Sort_range" "Sorts of ranges; MySQL counts them as those of tables.";
    sort_rows "Sort_rows" "Rows sorted.";
    sort_scan "Sort_scan" "Sorts.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_go_by_the_names() {
        let counters = Counters::default();
        counters.sort_rows.add(5);
        counters.handler_write.count();
        let total = Counters::default();
        total.add_all(&counters.figures());
        total.add_all(&counters.figures());
        let shown = Counters::NAMES.iter().zip(total.figures());
        let shown: Vec<_> = shown.filter(|(_, figure)| *figure > 0).collect();
        assert_eq!(shown, [(&"Handler_write", 2), (&"Sort_rows", 10)]);
        assert!(Counters::NAMES.is_sorted());
        total.reset();
        assert!(total.figures().iter().all(|figure| *figure == 0));
    }
}
