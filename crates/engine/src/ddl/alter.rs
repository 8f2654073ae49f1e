//! ALTER TABLE: done in place when only indexes, names, defaults and comments change, types become
//! wider without changing a byte, columns are dropped or added that all old rows have the same
//! value of, or rows go with their partitions. Otherwise it is done by a rebuild into a new table.
//!
//! A rebuild holds the table's exclusive metadata lock from beginning to end. It waits for the
//! transactions that use the table and holds up those that want to. Every row is converted and put
//! into the trees of a table with a new id in a new space.
//!
//! In place, the exclusive lock is held for a moment at the beginning and at the end. New indexes
//! are built in between, under claims (crate `buffer`), while others read and write the table
//! ([`super::online`]); with `LOCK=SHARED` or `EXCLUSIVE` the lock is kept. The new indexes are on
//! disk before the commit record. Trees of dropped indexes are claimed before the record and freed
//! after it. So a crash at any moment leaves each tree either in the dictionary or under a claim,
//! and [`super::claims::settle`] frees what the dictionary does not have.
//!
//! A statement that leaves the definition as it is (`DROP KEY a, ADD KEY a (a)`) is only logged. It
//! waits for nobody but other DDL.
//!
//! Snapshots that are older than the end of the statement cannot read the table afterwards (error
//! 1412, as in MySQL).

use super::build::{IndexBuild, for_each_row};
use super::claims::free_claims;
use super::context::{AlterStage, DdlContext};
use super::copy::{ConvertRow, copy_rows};
use super::foreign_key::{self, Followers};
use super::locks::MetadataLocks;
use super::online::OnlineBuild;
use super::statement::Ddl;
use crate::commit::pipeline::CommitOutcome;
use crate::definition::{ColumnDef, IndexColumn, IndexDef, TableDef};
use crate::dictionary;
use crate::dropped_partitions;
use crate::entry;
use crate::error::{EngineError, Result};
use crate::row_forms::{InstantColumns, MAX_ROW_VERSIONS};
use crate::table::{Counters, Placement, Table};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use types::{ColumnType, TypeCode, packed};

/// Reports whether rows and clustered keys are the same bytes under both definitions, but for the
/// columns that are added and dropped. In a column that becomes AUTO_INCREMENT, numbers take the
/// place of zeros.
fn same_rows(old: &TableDef, new: &TableDef, instant: &InstantColumns) -> bool {
    let same_column = |old: &ColumnDef, new: &ColumnDef| {
        let is_numbered = new.auto_increment && !old.auto_increment;
        let same_bytes = old.ty == new.ty || old.generated.is_none() && is_widened(&old.ty, &new.ty);
        same_bytes && old.nullable == new.nullable && !is_numbered
    };
    let positions = instant.new_positions(old.columns.len());
    let same_part = |old: &IndexColumn, new: &IndexColumn| {
        positions[old.column] == Some(new.column) && IndexColumn { column: new.column, ..old.clone() } == *new
    };
    let same_key = match (&old.primary, &new.primary) {
        (Some(old), Some(new)) => {
            old.len() == new.len() && old.iter().zip(new).all(|(old, new)| same_part(old, new))
        }
        (old, new) => old.is_none() && new.is_none(),
    };
    same_key
        && old.columns.len() + instant.added.len() == new.columns.len() + instant.dropped.len()
        && old.columns.iter().zip(positions).all(|(old, position)| {
            position.is_none_or(|position| new.columns.get(position).is_some_and(|new| same_column(old, new)))
        })
}

/// Reports whether a type takes all values of another one as the same bytes: a longer VARCHAR whose
/// values have as many bytes of length, or an ENUM or SET with further members behind the old ones.
fn is_widened(old: &ColumnType, new: &ColumnType) -> bool {
    let members = |ty: &ColumnType| ty.members.clone().unwrap_or_default();
    match old.code {
        TypeCode::Varchar => {
            let same_width = packed::width(old) == packed::width(new);
            same_width && old.meta <= new.meta && ColumnType { meta: new.meta, ..old.clone() } == *new
        }
        TypeCode::Enum | TypeCode::Set => {
            let begins = members(new).starts_with(&members(old));
            begins && ColumnType { members: new.members.clone(), ..old.clone() } == *new
        }
        _ => false,
    }
}

/// Reports whether a table with the definition `old` is what `new` says already: nothing differs
/// but the ids of indexes that a statement drops and adds again.
fn is_unchanged(old: &TableDef, new: &TableDef) -> bool {
    let same_index = |old: &IndexDef, new: &IndexDef| match new.id {
        0 => *old == IndexDef { id: old.id, ..new.clone() },
        _ => old == new,
    };
    old.indexes.len() == new.indexes.len()
        && old.indexes.iter().zip(&new.indexes).all(|(old, new)| same_index(old, new))
        && *old == TableDef { indexes: old.indexes.clone(), created_s: old.created_s, ..new.clone() }
}

/// One run of ALTER TABLE.
pub(crate) struct Alter<'d> {
    pub ddl: &'d Ddl,
}

/// Reports whether the rows must be converted to make the table `new`, for which these columns are
/// added and dropped. With `forced` they must be anyway.
pub(crate) fn must_rebuild(old: &Table, new: &TableDef, instant: &InstantColumns, forced: bool) -> bool {
    // The notes that an index build takes of others' changes have rows of the old form.
    let builds = new.index_ids().any(|id| id == 0);
    let has_too_many = old.row_versions() >= MAX_ROW_VERSIONS;
    forced
        || !instant.is_empty() && (builds || has_too_many)
        || !same_rows(&old.def, new, instant)
        || old.dropped.is_some() && !keeps_conditions(&old.def, new, instant)
}

/// Reports whether the conditions of dropped partitions of `old` mean the same rows of `new`.
fn keeps_conditions(old: &TableDef, new: &TableDef, instant: &InstantColumns) -> bool {
    let positions = instant.new_positions(old.columns.len());
    let mut kept = old.columns.iter().zip(positions).filter_map(|(old, at)| Some((old, at?)));
    new.partitioning.is_some() && kept.all(|(old, at)| old.name.eq_ignore_ascii_case(&new.columns[at].name))
}

impl Alter<'_> {
    /// Makes the table `schema`.`name` what `new` says.
    pub fn run(
        &self,
        schema: &str,
        name: &str,
        new: TableDef,
        convert: &mut ConvertRow<'_>,
        forced: bool,
        context: &DdlContext<'_>,
    ) -> Result<CommitOutcome> {
        new.check()?;
        let mut locks = self.ddl.metadata_locks(context);
        let renamed = new.schema != schema || new.name != name;
        let mut names = vec![(schema, name), (new.schema.as_str(), new.name.as_str())];
        names.sort_unstable();
        names.dedup();
        for (schema, name) in &names {
            locks.lock_definition(schema, name)?;
        }
        let old = self.ddl.existing_table(schema, name)?;
        // Others may be using the table, as in MySQL. A source can therefore log such a statement
        // between XA PREPARE and the end of a transaction that has changed the table.
        let says_more = context.auto_increment.is_some() || context.dropped_rows.is_some();
        if !forced && !says_more && is_unchanged(&old.def, &new) {
            return self.ddl.log_statement(context);
        }
        for (schema, name) in names {
            locks.keep_others_out(schema, name)?;
        }
        if renamed {
            self.ddl.require_schema(&new.schema)?;
            self.ddl.refuse_existing_table(&new)?;
        }
        let adds_foreign_keys = {
            let added = foreign_key::added(Some(&old.def), &new, context.renamed_columns);
            locks.lock_parents(&new, &added)?;
            !added.is_empty()
        };
        let followers = locks.lock_followers(&self.ddl.catalog, &old.def, &new, context)?;
        // Rows that others add during the check of new foreign keys would not be checked.
        let context = &DdlContext { exclusive: context.exclusive || adds_foreign_keys, ..context.clone() };
        if must_rebuild(&old, &new, &context.instant, forced) {
            let _one = self.ddl.one.lock();
            self.rebuild(&old, new, followers, convert, context)
        } else {
            self.alter_in_place(&old, new, followers, &mut locks, context)
        }
    }

    fn alter_in_place(
        &self,
        old: &Arc<Table>,
        mut new: TableDef,
        followers: Followers,
        locks: &mut MetadataLocks<'_>,
        context: &DdlContext<'_>,
    ) -> Result<CommitOutcome> {
        let space = old.placement.space;
        let mut made = Vec::new();
        let result = self.place_indexes(old, &mut new, &mut made).and_then(|mut placement| {
            if !context.instant.is_empty() {
                // The table's exclusive lock is held, so the present position in the log is between
                // the old rows and the new ones.
                let lsn = self.ddl.log.current_lsn();
                placement.forms.change(&context.instant, &old.def.columns, lsn);
            }
            if let Some(condition) = context.dropped_rows {
                assert!(old.def.partitioning.is_some(), "only partitions are dropped");
                // The position is between the rows that go and later ones, for the same reason.
                let until = self.ddl.log.current_lsn();
                dropped_partitions::note(&mut placement.dropped, until, condition);
                // A snapshot of this very position is older than the statement, too.
                placement.created_lsn = until + 1;
            }
            let table = if made.is_empty() {
                Table::open(&self.ddl.pool, placement, new, old.counters.clone())
            } else {
                self.build_new_indexes(old, new, placement, &made, locks, context)?
            };
            foreign_key::check_rows_of(
                self.ddl,
                &table,
                &foreign_key::added(Some(&old.def), &table.def, context.renamed_columns),
                context,
            )?;
            let _one = self.ddl.one.lock();
            self.commit_in_place(old, table, followers, context)
        });
        if result.is_err() {
            // If the error came after the commit, the indexes stay.
            let now = self.ddl.catalog.table_by_id(old.id);
            let is_there = |id: u32| now.iter().any(|table| table.indexes.iter().any(|index| index.id == id));
            let ids: Vec<u32> = made.iter().map(|&(_, id)| id).filter(|&id| !is_there(id)).collect();
            free_claims(&self.ddl.pool, space, &ids)?;
        }
        result
    }

    /// Gives each index of `new` its place, and each new index an empty tree. The position and the
    /// id of each new index go to `made`.
    fn place_indexes(
        &self,
        old: &Table,
        new: &mut TableDef,
        made: &mut Vec<(usize, u32)>,
    ) -> Result<Placement> {
        let added = new.index_ids().filter(|id| *id == 0).count() as u32;
        let mut next_id = if added > 0 { self.ddl.take_ids(0, added, 0)?.index } else { 0 };
        let mut placement = Placement { indexes: Vec::new(), ..old.placement.clone() };
        for (at, id) in new.index_ids_mut().enumerate() {
            if *id == 0 {
                *id = next_id;
                next_id += 1;
                made.push((at, *id));
                let tree = btree::claimed::create(&self.ddl.pool, old.placement.space, *id)?;
                placement.indexes.push((tree.root_page(), 0));
            } else {
                let held = old.def.index_ids().position(|held| held == *id);
                let held = held.ok_or_else(|| {
                    EngineError::BadDefinition(format!("Key number {id} doesn't exist in table"))
                })?;
                placement.indexes.push(old.placement.indexes[held]);
            }
        }
        Ok(placement)
    }

    /// Builds the new indexes, while others use the table if that is allowed. The table's exclusive
    /// lock is held before and afterwards. The returned table's indexes have everything that was
    /// committed by then.
    fn build_new_indexes(
        &self,
        old: &Table,
        new: TableDef,
        mut placement: Placement,
        made: &[(usize, u32)],
        locks: &mut MetadataLocks<'_>,
        context: &DdlContext<'_>,
    ) -> Result<Table> {
        let counters = old.counters.clone();
        let table = Arc::new(Table::open(&self.ddl.pool, placement.clone(), new.clone(), counters.clone()));
        let positions: Vec<usize> = made.iter().map(|&(at, _)| at).collect();
        let limits = self.ddl.sort_limits();
        let build = IndexBuild {
            table: &table,
            made: &positions,
            limits: limits.clone(),
            fill_factor: self.ddl.settings.fill_factor(),
            seq: self.ddl.sequencer.visible(),
            claimed: true,
            interrupt: context.interrupt.as_deref(),
            stages: context.on_stage,
        };
        let max_bytes = self.ddl.settings.online_alter_log_max_bytes();
        let online = Arc::new(OnlineBuild::new(table.clone(), positions.clone(), limits, max_bytes));
        if !context.exclusive {
            self.ddl.committer.builds.begin(&online);
            locks.let_others_in(&old.def.schema, &old.def.name);
        }
        let built = self.build_beside_others(&build, &online, made).and_then(|()| {
            locks.keep_others_out(&old.def.schema, &old.def.name)?;
            context.enter(AlterStage::End);
            self.ddl.builder().catch_up(&online, build.seq, None)?;
            Ok(btree::make_durable(&self.ddl.pool, placement.space)?)
        });
        if !context.exclusive {
            self.ddl.committer.builds.end(&online);
        }
        built?;
        placement.created_lsn = self.ddl.log.current_lsn();
        for &at in &positions {
            placement.indexes[at].1 = placement.created_lsn;
        }
        Ok(Table::open(&self.ddl.pool, placement, new, counters))
    }

    /// Does everything that can be done without the exclusive lock, so that little is left to do
    /// with it.
    fn build_beside_others(
        &self,
        build: &IndexBuild<'_>,
        online: &OnlineBuild,
        made: &[(usize, u32)],
    ) -> Result<()> {
        /// The number of bytes of notes that can be put into the indexes in a moment.
        const LITTLE_BYTES: u64 = 64 << 10;
        const ROUNDS: usize = 20;
        let space = build.table.placement.space;
        self.ddl.builder().fill_indexes(build)?;
        build.enter(AlterStage::Flush);
        // This comes before anything else changes the trees, because no record has their present
        // content.
        btree::make_durable(&self.ddl.pool, space)?;
        for &(_, index_id) in made {
            self.ddl.pool.claim_becomes_tree(space, index_id)?;
        }
        build.enter(AlterStage::LogApplyIndex);
        for _ in 0..ROUNDS {
            if self.ddl.builder().catch_up(online, build.seq, build.interrupt)? < LITTLE_BYTES {
                break;
            }
        }
        Ok(btree::make_durable(&self.ddl.pool, space)?)
    }

    fn commit_in_place(
        &self,
        old: &Arc<Table>,
        table: Table,
        followers: Followers,
        context: &DdlContext<'_>,
    ) -> Result<CommitOutcome> {
        assert_eq!(table.id, old.id, "a table that is altered in place stays the same");
        let keeps_conditions = table.dropped.is_none() || table.def.partitioning.is_some();
        assert!(keeps_conditions, "{} has rows of partitions, and none itself", table.qualified_name);
        let space = table.placement.space;
        let gone = |from: &Table, other: &Table| -> Vec<(u32, u32)> {
            let pages = from.indexes.iter().zip(&from.placement.indexes);
            let kept = |id: u32| other.indexes.iter().any(|index| index.id == id);
            pages.filter(|(index, _)| !kept(index.id)).map(|(index, (root, _))| (index.id, *root)).collect()
        };
        let (dropped, made) = (gone(old, &table), gone(&table, old));
        let next =
            context.auto_increment.map(|asked| self.least_auto_increment(&table, asked)).transpose()?;
        let before = Some((&old.placement, &old.def));
        let mut ops = dictionary::table_ops(old.id, before, Some((&table.placement, &table.def)))?;
        ops.extend(followers.ops()?);
        let claimed = dropped.iter().try_for_each(|&(id, root)| self.ddl.pool.claim_tree(space, id, root));
        let outcome =
            match claimed.map_err(EngineError::from).and_then(|()| self.ddl.commit_ddl(context, &ops)) {
                Ok(outcome) => outcome,
                Err(error) => {
                    for (id, _) in dropped {
                        self.ddl.pool.release_claim(space, id)?;
                    }
                    return Err(error);
                }
            };
        if let Some(next) = next {
            table.counters.auto_increment.store(next, Ordering::Release);
        }
        let table = Arc::new(table);
        self.ddl.catalog.replace_tables(&[old], std::slice::from_ref(&table));
        self.ddl.emptying.note(&table);
        followers.take_effect(&self.ddl.catalog, &self.ddl.pool);
        self.ddl.log.wait_durable(outcome.seq)?;
        for (id, _) in made {
            self.ddl.pool.release_claim(space, id)?;
        }
        {
            // Holding the gate once makes sure that purge no longer works on the old table's trees.
            let _gate = table.counters.gate.write();
        }
        free_claims(&self.ddl.pool, space, &dropped.iter().map(|&(id, _)| id).collect::<Vec<_>>())?;
        self.ddl.settle_file(&table)?;
        self.ddl.finish_ddl(context, outcome)
    }

    fn rebuild(
        &self,
        old: &Arc<Table>,
        new: TableDef,
        followers: Followers,
        convert: &mut ConvertRow<'_>,
        context: &DdlContext<'_>,
    ) -> Result<CommitOutcome> {
        let counters = Counters::default();
        counters.row_id.store(1, Ordering::Relaxed);
        // The copied rows move the counter on.
        let next = match context.auto_increment {
            Some(asked) => asked,
            None if new.auto_increment_column().is_some() => old.auto_increment().max(new.auto_increment),
            None => new.auto_increment,
        };
        counters.auto_increment.store(next, Ordering::Relaxed);
        let table = self.ddl.make_table(new, Arc::new(counters))?;
        let sources = &mut [(&**old, convert)];
        let copied = copy_rows(self.ddl, sources, &table, context.interrupt.as_deref()).and_then(|()| {
            foreign_key::check_rows_of(
                self.ddl,
                &table,
                &foreign_key::added(Some(&old.def), &table.def, context.renamed_columns),
                context,
            )
        });
        if let Err(error) = copied {
            self.ddl.pool.drop_space(table.placement.space)?;
            return Err(error);
        }
        self.ddl.replace_table(old, table, followers, context)
    }

    /// Returns the counter for the wanted value `asked`: it is greater than every value that a row
    /// has. Nobody else changes rows meanwhile.
    fn least_auto_increment(&self, table: &Table, asked: u64) -> Result<u64> {
        let Some(column) = table.auto_increment else { return Ok(asked) };
        let leads = table.def.primary.iter().flatten().next().is_some_and(|part| part.column == column);
        if !leads {
            let mut greatest = 0;
            for_each_row(&self.ddl.rows, table, |_, image| {
                greatest = greatest.max(table.stored_auto_increment(image)?.unwrap_or(0));
                Ok(())
            })?;
            return Ok(asked.max(greatest.saturating_add(1)));
        }
        let mut scan = table.clustered.scan(Bound::Unbounded, Bound::Unbounded, btree::Direction::Backward);
        while let Some((_, value)) = scan.next()? {
            let parsed = entry::ClusteredValue::parse(value)?;
            if let Some(image) = self.ddl.rows.live_image(table, &parsed)? {
                let greatest = table.stored_auto_increment(&image)?.unwrap_or(0);
                return Ok(asked.max(greatest.saturating_add(1)));
            }
        }
        Ok(asked)
    }
}
