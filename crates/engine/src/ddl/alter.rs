//! ALTER TABLE: in place where only indexes, names, defaults and comments change; else a rebuild
//! into a new table.
//!
//! A rebuild holds the table's exclusive metadata lock from beginning to end: it waits for the
//! transactions that use the table and holds up those that want to. Every row is converted and put
//! into the trees of a table with a new id in a new space.
//!
//! In place, the exclusive lock is held for a moment at the beginning and at the end. New indexes
//! are built in between, under claims (crate `buffer`), while others read and write the table
//! ([`super::online`]); with `LOCK=SHARED` or `EXCLUSIVE` the lock is kept. They are on disk before
//! the commit record. Trees of dropped indexes are claimed before the record and freed after it. So
//! a crash at any moment leaves each tree either in the dictionary or under a claim, and
//! [`Engine::settle_claims`] frees what the dictionary does not have.
//!
//! Snapshots that are older than the end of the statement cannot read the table afterwards (error
//! 1412, as in MySQL).

use super::build::IndexBuild;
use super::context::{AlterStage, DdlContext};
use super::foreign_key::{self, Followers};
use super::locks::MetadataLocks;
use super::online::OnlineBuild;
use super::sort::{Merge, SortLimits, Sorter};
use crate::Engine;
use crate::commit::pipeline::CommitOutcome;
use crate::definition::IndexRef;
use crate::definition::{ColumnDef, TableDef};
use crate::dictionary;
use crate::entry;
use crate::error::{EngineError, Result};
use crate::overflow;
use crate::table::{Counters, Placement, Table};
use btree::{BuildOptions, SortedBuild, Tree};
use buffer::SpaceId;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Turns a row image of the old definition into one of the new. `None`: the row goes.
pub type ConvertRow<'c> = dyn FnMut(&[u8]) -> Result<Option<Vec<u8>>> + 'c;

/// Whether rows and clustered keys are the same bytes under both definitions.
fn same_rows(old: &TableDef, new: &TableDef) -> bool {
    let same_column = |old: &ColumnDef, new: &ColumnDef| old.ty == new.ty && old.nullable == new.nullable;
    old.primary == new.primary
        && old.columns.len() == new.columns.len()
        && old.columns.iter().zip(&new.columns).all(|(old, new)| same_column(old, new))
}

impl Engine {
    /// `ALTER TABLE schema.name`, which makes it `new`: with other columns, another primary key,
    /// indexes added (`id` 0) or left out, another name or schema. `convert` is called for each row
    /// if they must be rebuilt.
    pub fn alter_table(
        &self,
        schema: &str,
        name: &str,
        new: TableDef,
        convert: &mut ConvertRow<'_>,
        context: &DdlContext<'_>,
    ) -> Result<CommitOutcome> {
        self.alter(schema, name, new, convert, false, context)
    }

    /// As [`Engine::alter_table`], but every row goes through `convert` even if the definitions
    /// have the same row format: for columns that changed places, or one that was dropped and
    /// another added in its stead.
    pub fn rebuild_table(
        &self,
        schema: &str,
        name: &str,
        new: TableDef,
        convert: &mut ConvertRow<'_>,
        context: &DdlContext<'_>,
    ) -> Result<CommitOutcome> {
        self.alter(schema, name, new, convert, true, context)
    }

    fn alter(
        &self,
        schema: &str,
        name: &str,
        new: TableDef,
        convert: &mut ConvertRow<'_>,
        must_rebuild: bool,
        context: &DdlContext<'_>,
    ) -> Result<CommitOutcome> {
        new.check()?;
        let mut locks = self.metadata_locks(context);
        let renamed = new.schema != schema || new.name != name;
        let mut names = vec![(schema, name), (new.schema.as_str(), new.name.as_str())];
        names.sort_unstable();
        names.dedup();
        for (schema, name) in names {
            locks.lock_table(schema, name)?;
        }
        let old = self.existing_table(schema, name)?;
        if renamed {
            self.require_schema(&new.schema)?;
            self.refuse_existing_table(&new)?;
        }
        let adds_foreign_keys = {
            let added = foreign_key::added(Some(&old.def), &new);
            locks.lock_parents(&new, &added)?;
            !added.is_empty()
        };
        let followers = locks.lock_followers(self, &old.def, &new, context)?;
        // Rows that come while they are checked would not be.
        let context = &DdlContext { exclusive: context.exclusive || adds_foreign_keys, ..context.clone() };
        if Engine::must_rebuild(&old.def, &new, must_rebuild) {
            let _one = self.ddl.lock();
            self.rebuild(&old, new, followers, convert, context)
        } else {
            self.alter_in_place(&old, new, followers, &mut locks, context)
        }
    }

    /// Whether rows must be converted to make the table `new`; `forced`: they must be anyway.
    pub fn must_rebuild(old: &TableDef, new: &TableDef, forced: bool) -> bool {
        forced || !same_rows(old, new)
    }

    fn alter_in_place(
        &self,
        old: &Arc<Table>,
        mut new: TableDef,
        followers: Followers,
        locks: &mut MetadataLocks<'_>,
        context: &DdlContext<'_>,
    ) -> Result<CommitOutcome> {
        new.created_s = old.def.created_s;
        let space = old.placement.space;
        let mut made = Vec::new();
        let result = self.place_indexes(old, &mut new, &mut made).and_then(|placement| {
            let table = if made.is_empty() {
                Engine::build_table(&self.pool, placement, new, old.counters.clone())
            } else {
                self.build_new_indexes(old, new, placement, &made, locks, context)?
            };
            self.check_rows_of(&table, &foreign_key::added(Some(&old.def), &table.def), context)?;
            let _one = self.ddl.lock();
            self.commit_in_place(old, table, followers, context)
        });
        if result.is_err() {
            // What failed may have come after the commit: then the indexes stay.
            let now = self.catalog.table_by_id(old.id);
            let is_there = |id: u32| now.iter().any(|table| table.indexes.iter().any(|index| index.id == id));
            let ids: Vec<u32> = made.iter().map(|&(_, id)| id).filter(|&id| !is_there(id)).collect();
            self.free_claims(space, &ids)?;
        }
        result
    }

    /// Gives each index of `new` its place, and those that are new (position and id of which go to
    /// `made`) an empty tree.
    fn place_indexes(
        &self,
        old: &Table,
        new: &mut TableDef,
        made: &mut Vec<(usize, u32)>,
    ) -> Result<Placement> {
        let added = new.indexes.iter().filter(|index| index.id == 0).count() as u32;
        let mut next_id = if added > 0 { self.take_ids(0, added, 0)?.index } else { 0 };
        let mut placement = Placement { indexes: Vec::new(), ..old.placement.clone() };
        for (at, index) in new.indexes.iter_mut().enumerate() {
            if index.id == 0 {
                index.id = next_id;
                next_id += 1;
                made.push((at, index.id));
                let tree = Tree::create_claimed(&self.pool, old.placement.space, index.id)?;
                placement.indexes.push((tree.root_page(), 0));
            } else {
                let held = old.def.indexes.iter().position(|held| held.id == index.id);
                let held = held.ok_or_else(|| {
                    EngineError::BadDefinition(format!("Key '{}' doesn't exist in table", index.name))
                })?;
                placement.indexes.push(old.placement.indexes[held]);
            }
        }
        Ok(placement)
    }

    /// Builds the new indexes, if that may be while others use the table. The table's exclusive
    /// lock is held before and afterwards; what is returned has everything that was committed by
    /// then.
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
        let table =
            Arc::new(Engine::build_table(&self.pool, placement.clone(), new.clone(), counters.clone()));
        let positions: Vec<usize> = made.iter().map(|&(at, _)| at).collect();
        let limits = self.sort_limits();
        let build = IndexBuild {
            table: &table,
            made: &positions,
            limits: limits.clone(),
            fill_factor: self.settings.fill_factor(),
            seq: self.sequencer.visible(),
            claimed: true,
            interrupt: context.interrupt.as_deref(),
            stages: context.on_stage,
        };
        let max_bytes = self.settings.online_alter_log_max_bytes();
        let online = Arc::new(OnlineBuild::new(table.clone(), positions.clone(), limits, max_bytes));
        if !context.exclusive {
            self.committer.builds.begin(&online);
            locks.let_others_in(&old.def.schema, &old.def.name);
        }
        let built = self.build_beside_others(&build, &online, made).and_then(|()| {
            locks.keep_others_out(&old.def.schema, &old.def.name)?;
            context.enter(AlterStage::End);
            self.catch_up(&online, build.seq, None)?;
            Ok(btree::make_durable(&self.pool, placement.space)?)
        });
        self.committer.builds.end(&online);
        built?;
        placement.created_lsn = self.log.current_lsn();
        for &at in &positions {
            placement.indexes[at].1 = placement.created_lsn;
        }
        Ok(Engine::build_table(&self.pool, placement, new, counters))
    }

    /// All that can be done without the exclusive lock: afterwards little is left to do with it.
    fn build_beside_others(
        &self,
        build: &IndexBuild<'_>,
        online: &OnlineBuild,
        made: &[(usize, u32)],
    ) -> Result<()> {
        /// Notes of this many bytes are put into the indexes in a moment.
        const LITTLE_BYTES: u64 = 64 << 10;
        const ROUNDS: usize = 20;
        let space = build.table.placement.space;
        self.fill_indexes(build)?;
        build.enter(AlterStage::Flush);
        // Before anything else changes the trees: what they are now is in no record.
        btree::make_durable(&self.pool, space)?;
        for &(_, index_id) in made {
            self.pool.claim_becomes_tree(space, index_id)?;
        }
        build.enter(AlterStage::LogApplyIndex);
        for _ in 0..ROUNDS {
            if self.catch_up(online, build.seq, build.interrupt)? < LITTLE_BYTES {
                break;
            }
        }
        Ok(btree::make_durable(&self.pool, space)?)
    }

    fn commit_in_place(
        &self,
        old: &Arc<Table>,
        table: Table,
        followers: Followers,
        context: &DdlContext<'_>,
    ) -> Result<CommitOutcome> {
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
        let mut ops = dictionary::table_ops(old.id, before, Some((&table.placement, &table.def)));
        ops.extend(followers.ops());
        let claimed = dropped.iter().try_for_each(|&(id, root)| self.pool.claim_tree(space, id, root));
        let outcome = match claimed.map_err(EngineError::from).and_then(|()| self.commit_ddl(context, &ops)) {
            Ok(outcome) => outcome,
            Err(error) => {
                for (id, _) in dropped {
                    self.pool.release_claim(space, id)?;
                }
                return Err(error);
            }
        };
        if let Some(next) = next {
            table.counters.auto_increment.store(next, Ordering::Release);
        }
        let table = Arc::new(table);
        self.catalog.remove_table(old);
        self.catalog.put_table(table.clone());
        followers.take_effect(self);
        self.log.wait_durable(outcome.seq)?;
        for (id, _) in made {
            self.pool.release_claim(space, id)?;
        }
        {
            // Purge has let go of the old table's trees.
            let _gate = table.counters.gate.write();
        }
        self.free_claims(space, &dropped.iter().map(|&(id, _)| id).collect::<Vec<_>>())?;
        self.settle_file(&table)?;
        self.finish_ddl(context, outcome)
    }

    /// Frees what the claims of these indexes cover.
    fn free_claims(&self, space: SpaceId, ids: &[u32]) -> Result<()> {
        if ids.is_empty() {
            return Ok(());
        }
        for claim in self.pool.claims(space)?.into_iter().filter(|claim| ids.contains(&claim.index_id)) {
            Tree::free_claimed(&self.pool, space, claim)?;
        }
        Ok(())
    }

    /// After recovery: frees the pages of indexes that a crash kept from being finished, or from
    /// being freed.
    pub(crate) fn settle_claims(&self) -> Result<()> {
        for table in self.catalog.all_tables() {
            let space = table.placement.space;
            for claim in self.pool.claims(space)? {
                if table.indexes.iter().any(|index| index.id == claim.index_id) {
                    self.pool.release_claim(space, claim.index_id)?;
                } else {
                    log::info!(
                        "InnoDB: Freeing the pages of index {} of {}",
                        claim.index_id,
                        table.qualified_name
                    );
                    Tree::free_claimed(&self.pool, space, claim)?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn sort_limits(&self) -> SortLimits {
        SortLimits {
            disk: self.config.disk.clone(),
            tmpdir: self.config.tmpdir.clone(),
            buffer_bytes: self.config.sort_buffer_bytes,
        }
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
        // Rows that are copied move it on.
        let next = match context.auto_increment {
            Some(asked) => asked,
            None if new.auto_increment_column().is_some() => old.auto_increment().max(new.auto_increment),
            None => new.auto_increment,
        };
        counters.auto_increment.store(next, Ordering::Relaxed);
        let created_s = old.def.created_s;
        let table = self.make_table(TableDef { created_s, ..new }, Arc::new(counters))?;
        let sources = &mut [(&**old, convert)];
        let copied = self.copy_rows(sources, &table, context.interrupt.as_deref()).and_then(|()| {
            self.check_rows_of(&table, &foreign_key::added(Some(&old.def), &table.def), context)
        });
        if let Err(error) = copied {
            self.pool.drop_space(table.placement.space)?;
            return Err(error);
        }
        self.replace_table(old, table, followers, context)
    }

    /// Converts every row of the tables in `sources` into the empty trees of `new`.
    pub(super) fn copy_rows(
        &self,
        sources: &mut [(&Table, &mut ConvertRow<'_>)],
        new: &Table,
        interrupt: Option<&AtomicBool>,
    ) -> Result<()> {
        let all: Vec<usize> = (0..new.indexes.len()).collect();
        let build = IndexBuild {
            table: new,
            made: &all,
            limits: self.sort_limits(),
            fill_factor: self.settings.fill_factor(),
            seq: self.sequencer.visible(),
            claimed: false,
            interrupt,
            stages: None,
        };
        let options = BuildOptions { fill_factor: build.fill_factor, claim: None };
        let mut rows = Sorter::new(&build.limits);
        let mut entries = build.sorters();
        // Rows that come in the new key's order go straight into the tree.
        let in_order = match sources {
            [(old, _)] => new.primary.is_none() || (old.primary.is_some() && same_key(old, new)),
            _ => new.primary.is_none(),
        };
        let mut direct = if in_order { Some(SortedBuild::new(&new.clustered, options)?) } else { None };
        for (old, convert) in sources {
            self.for_each_row(old, |_, image| {
                super::build::check_interrupt(interrupt)?;
                let Some(image) = convert(image)? else { return Ok(()) };
                let row_id =
                    new.primary.is_none().then(|| new.counters.row_id.fetch_add(1, Ordering::Relaxed));
                let key = new.clustered_key(&image, row_id)?;
                new.check_key_len(key.len())?;
                build.push_row(&mut entries, &key, &image)?;
                self.note_stored_auto_increment(new, &image)?;
                let mut value = Vec::with_capacity(image.len() + entry::HEADER_LEN);
                match overflow::place(&self.pool, new, key.len(), &image, &[])? {
                    Some(placed) => entry::put_clustered(&mut value, &placed.externs, &placed.image),
                    None => entry::put_clustered(&mut value, &[], &image),
                }
                entry::set_seq(&mut value, build.seq);
                match &mut direct {
                    Some(tree) => tree.push(&key, &value).map_err(EngineError::from),
                    None => rows.push(&key, &value),
                }
            })?;
        }
        match direct {
            Some(tree) => tree.finish()?,
            None => self.build_clustered(new, rows, options)?,
        }
        let entries = entries.into_iter().map(|sorter| Ok(vec![sorter.finish()?]));
        self.build_indexes(&build, entries.collect::<Result<_>>()?, os::thread::processors())
    }

    fn build_clustered(&self, table: &Table, rows: Sorter, options: BuildOptions) -> Result<()> {
        let mut merge = Merge::new(vec![rows.finish()?])?;
        let mut tree = SortedBuild::new(&table.clustered, options)?;
        let mut last: Option<Vec<u8>> = None;
        while let Some((key, value)) = merge.next()? {
            if last.as_deref() == Some(key) {
                return Err(self.duplicate_primary(table, value));
            }
            tree.push(key, value)?;
            match &mut last {
                Some(last) => key.clone_into(last),
                none => *none = Some(key.to_vec()),
            }
        }
        Ok(tree.finish()?)
    }

    /// The counter that `asked` makes: behind the greatest value that a row has. Nobody else
    /// changes rows meanwhile.
    fn least_auto_increment(&self, table: &Table, asked: u64) -> Result<u64> {
        let Some(column) = table.auto_increment else { return Ok(asked) };
        let leads = table.def.primary.iter().flatten().next().is_some_and(|part| part.column == column);
        if !leads {
            let mut greatest = 0;
            self.for_each_row(table, |_, image| {
                greatest = greatest.max(table.stored_auto_increment(image)?.unwrap_or(0));
                Ok(())
            })?;
            return Ok(asked.max(greatest.saturating_add(1)));
        }
        let mut scan = table.clustered.scan(Bound::Unbounded, Bound::Unbounded, btree::Direction::Backward);
        while let Some((_, value)) = scan.next()? {
            let parsed = entry::ClusteredValue::parse(value)?;
            if !parsed.is_deleted() {
                let image = overflow::resolve(&self.pool, table, &parsed)?;
                let greatest = table.stored_auto_increment(&image)?.unwrap_or(0);
                return Ok(asked.max(greatest.saturating_add(1)));
            }
        }
        Ok(asked)
    }

    fn note_stored_auto_increment(&self, table: &Table, image: &[u8]) -> Result<()> {
        if let Some(stored) = table.stored_auto_increment(image)? {
            table.note_auto_increment(stored);
        }
        Ok(())
    }

    fn duplicate_primary(&self, table: &Table, value: &[u8]) -> EngineError {
        let image = entry::ClusteredValue::parse(value).map(|parsed| parsed.image).unwrap_or_default();
        EngineError::Duplicate {
            table: table.qualified_name.clone(),
            index: "PRIMARY".to_string(),
            key: table.key_text(IndexRef::Primary, image),
        }
    }
}

/// Whether the primary keys are over columns of the same names and types, so that their order is
/// the same.
fn same_key(old: &Table, new: &Table) -> bool {
    let describe = |table: &Table| -> Vec<(String, types::ColumnType, Option<u32>, bool)> {
        let parts = table.def.primary.as_deref().unwrap_or_default();
        let part = |part: &crate::definition::IndexColumn| {
            let column = &table.def.columns[part.column];
            (column.name.to_lowercase(), column.ty.clone(), part.prefix, column.nullable)
        };
        parts.iter().map(part).collect()
    };
    describe(old) == describe(new)
}
