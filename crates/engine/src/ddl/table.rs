//! CREATE, DROP, TRUNCATE and RENAME TABLE.

use super::context::DdlContext;
use super::foreign_key::{self, Followers};
use super::locks::MetadataLocks;
use super::statement::Ddl;
use crate::commit::pipeline::CommitOutcome;
use crate::definition::{Object, ObjectChange, ObjectKind, TableDef};
use crate::dictionary;
use crate::entry;
use crate::error::{EngineError, Result};
use crate::files::{aside, table_path};
use crate::row_forms::FormHistory;
use crate::table::{Counters, Placement, SEQUENCE_ROW_ID, Table};
use btree::{BuildOptions, SortedBuild, Tree};
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A table's name as (schema, name).
pub type TableName<'a> = (&'a str, &'a str);

impl Ddl {
    /// Returns the path of the file of a table with this definition.
    fn path_of(&self, def: &TableDef) -> PathBuf {
        table_path(&self.config.datadir, &def.schema, &def.name)
    }

    /// Makes the file and the empty trees of a table under fresh ids. The table is in no dictionary
    /// yet.
    pub(super) fn make_table(&self, mut def: TableDef, counters: Arc<Counters>) -> Result<Table> {
        def.check()?;
        let first = self.take_ids(1, def.index_ids().count() as u32, 1)?;
        let path = self.path_of(&def);
        let path = if self.config.disk.exists(&path).unwrap_or(true) {
            // A table of this name exists and is being rebuilt. The new file takes the old one's
            // place once the old one is gone.
            aside(&path, first.space)
        } else {
            path
        };
        if def.created_s == 0 {
            def.created_s = os::clock::now_us() / 1_000_000;
        }
        for (at, id) in def.index_ids_mut().enumerate() {
            *id = first.index + at as u32;
        }
        self.pool.create_space(first.space, &path)?;
        let made = self.make_trees(def, first.table, first.space, counters);
        if made.is_err() {
            self.pool.drop_space(first.space)?;
        }
        made
    }

    fn make_trees(&self, def: TableDef, id: u64, space: u32, counters: Arc<Counters>) -> Result<Table> {
        let clustered_root = Tree::create(&self.pool, space)?.root_page();
        let mut indexes = Vec::new();
        for _ in def.index_ids() {
            indexes.push((Tree::create(&self.pool, space)?.root_page(), 0));
        }
        let created_lsn = self.log.current_lsn();
        for (_, index_created_lsn) in &mut indexes {
            *index_created_lsn = created_lsn;
        }
        let placement = Placement {
            id,
            space,
            clustered_root,
            created_lsn,
            indexes,
            forms: FormHistory::default(),
            dropped: Vec::new(),
        };
        Ok(Table::open(&self.pool, placement, def, counters))
    }

    /// Removes the file of a dropped table, once purge is not working on it.
    pub(super) fn drop_space_of(&self, table: &Table) -> Result<()> {
        let _gate = table.counters.gate.write();
        Ok(self.pool.drop_space(table.placement.space)?)
    }

    /// Moves a table's file to the path that its name says.
    pub(super) fn settle_file(&self, table: &Table) -> Result<()> {
        let path = self.path_of(&table.def);
        if self.pool.space_path(table.placement.space).is_some_and(|held| held != path) {
            self.pool.rename_space(table.placement.space, &path)?;
        }
        Ok(())
    }

    /// Runs `CREATE TABLE`.
    pub fn create_table(&self, def: TableDef, context: &DdlContext<'_>) -> Result<CommitOutcome> {
        self.create_table_of(def, None, context)
    }

    /// Runs `CREATE SEQUENCE`, which makes a table that holds `row` from the beginning.
    pub fn create_sequence(
        &self,
        def: TableDef,
        row: &[u8],
        context: &DdlContext<'_>,
    ) -> Result<CommitOutcome> {
        assert!(def.is_sequence(), "only sequences are made with a row");
        self.create_table_of(def, Some(row), context)
    }

    fn create_table_of(
        &self,
        def: TableDef,
        row: Option<&[u8]>,
        context: &DdlContext<'_>,
    ) -> Result<CommitOutcome> {
        let mut locks = self.metadata_locks(context);
        locks.lock_table(&def.schema, &def.name)?;
        locks.lock_parents(&def, &foreign_key::added(None, &def, &[]))?;
        self.require_schema(&def.schema)?;
        self.refuse_existing_table(&def)?;
        let _one = self.one.lock();
        let counters = Counters::default();
        counters.auto_increment.store(def.auto_increment, Ordering::Relaxed);
        counters.row_id.store(1, Ordering::Relaxed);
        let table = self.make_table(def, Arc::new(counters))?;
        let filled = match row {
            Some(row) => self.put_first_row(&table, row),
            None => self.pool.flush_space(table.placement.space).map_err(EngineError::from),
        };
        let committed = filled.and_then(|()| {
            let ops = dictionary::table_ops(table.id, None, Some((&table.placement, &table.def)))?;
            self.commit_ddl(context, &ops)
        });
        match committed {
            Ok(outcome) => {
                self.catalog.put_table(Arc::new(table));
                self.finish_ddl(context, outcome)
            }
            Err(error) => {
                self.pool.drop_space(table.placement.space)?;
                Err(error)
            }
        }
    }

    /// Builds the tree of a new sequence with its row, durably.
    fn put_first_row(&self, table: &Table, image: &[u8]) -> Result<()> {
        let row_id = table.counters.row_id.fetch_add(1, Ordering::Relaxed);
        assert_eq!(row_id, SEQUENCE_ROW_ID, "a sequence has one row");
        let options = BuildOptions { fill_factor: self.settings.fill_factor(), claim: None };
        let mut value = Vec::with_capacity(image.len() + entry::HEADER_LEN);
        entry::put_clustered(&mut value, &[], image);
        entry::set_seq(&mut value, self.sequencer.visible());
        let mut tree = SortedBuild::new(&table.clustered, options)?;
        tree.push(&table.clustered_key(image, Some(row_id))?, &value)?;
        tree.finish()?;
        Ok(btree::make_durable(&self.pool, table.placement.space)?)
    }

    /// Runs `DROP TABLE` of one or more tables, each (schema, name), with their triggers. If one of
    /// them does not exist, none is dropped.
    pub fn drop_tables(&self, names: &[TableName<'_>], context: &DdlContext<'_>) -> Result<CommitOutcome> {
        let mut locks = self.metadata_locks(context);
        let mut sorted = names.to_vec();
        sorted.sort_unstable();
        for (schema, name) in sorted {
            locks.lock_table(schema, name)?;
        }
        let tables = names
            .iter()
            .map(|(schema, name)| self.existing_table(schema, name))
            .collect::<Result<Vec<_>>>()?;
        let _one = self.one.lock();
        let mut ops = Vec::new();
        for table in &tables {
            ops.extend(dictionary::table_ops(table.id, Some((&table.placement, &table.def)), None)?);
        }
        let named = names.iter().flat_map(|(schema, name)| self.catalog.triggers(schema, name));
        let triggers: Vec<Arc<Object>> = named.collect();
        for trigger in &triggers {
            ops.extend(dictionary::object_ops(trigger.id, Some(&trigger.def), None)?);
        }
        let outcome = self.commit_ddl(context, &ops)?;
        triggers.iter().for_each(|trigger| self.catalog.remove_object(trigger));
        for table in &tables {
            self.catalog.remove_table(table);
        }
        self.log.wait_durable(outcome.seq)?;
        for table in &tables {
            self.drop_space_of(table)?;
        }
        self.finish_ddl(context, outcome)
    }

    /// Runs `TRUNCATE TABLE`, which puts an empty table into a new space under a new id.
    /// AUTO_INCREMENT begins anew.
    pub fn truncate_table(
        &self,
        schema: &str,
        name: &str,
        context: &DdlContext<'_>,
    ) -> Result<CommitOutcome> {
        let mut locks = self.metadata_locks(context);
        locks.lock_table(schema, name)?;
        let old = self.existing_table(schema, name)?;
        let _one = self.one.lock();
        let counters = Counters::default();
        counters.row_id.store(1, Ordering::Relaxed);
        let mut def = old.def.clone();
        def.auto_increment = 0;
        let new = self.make_table(def, Arc::new(counters))?;
        self.replace_table(&old, new, Followers::default(), context)
    }

    /// Commits a table that was built to take another's place, and removes the other. It syncs the
    /// pages of the new table.
    pub(super) fn replace_table(
        &self,
        old: &Arc<Table>,
        new: Table,
        followers: Followers,
        context: &DdlContext<'_>,
    ) -> Result<CommitOutcome> {
        self.replace_tables(vec![(old.clone(), new)], followers, context)
    }

    /// Does what [`Ddl::replace_table`] does, for several tables (old, new) in one commit.
    pub(super) fn replace_tables(
        &self,
        tables: Vec<(Arc<Table>, Table)>,
        followers: Followers,
        context: &DdlContext<'_>,
    ) -> Result<CommitOutcome> {
        assert!(tables.iter().all(|(old, new)| old.id != new.id), "a new table has an id of its own");
        let durable =
            tables.iter().try_for_each(|(_, new)| btree::make_durable(&self.pool, new.placement.space));
        let committed = durable.map_err(EngineError::from).and_then(|()| {
            let mut ops = Vec::new();
            for (old, new) in &tables {
                ops.extend(dictionary::table_ops(old.id, Some((&old.placement, &old.def)), None)?);
                ops.extend(dictionary::table_ops(new.id, None, Some((&new.placement, &new.def)))?);
            }
            ops.extend(followers.ops()?);
            self.commit_ddl(context, &ops)
        });
        let outcome = match committed {
            Ok(outcome) => outcome,
            Err(error) => {
                tables.iter().try_for_each(|(_, new)| self.pool.drop_space(new.placement.space))?;
                return Err(error);
            }
        };
        let (old, new): (Vec<_>, Vec<_>) = tables.into_iter().map(|(old, new)| (old, Arc::new(new))).unzip();
        self.catalog.replace_tables(&borrowed(&old), &new);
        followers.take_effect(&self.catalog, &self.pool);
        self.log.wait_durable(outcome.seq)?;
        for (old, new) in old.iter().zip(&new) {
            self.drop_space_of(old)?;
            self.settle_file(new)?;
        }
        self.finish_ddl(context, outcome)
    }

    /// Runs `RENAME TABLE`: renames each (schema, name) to its new (schema, name), in order.
    /// `views` are the views of the same statement, which the caller has looked up and which are
    /// renamed in the same commit.
    pub fn rename_tables(
        &self,
        renames: &[(TableName<'_>, TableName<'_>)],
        views: Vec<ObjectChange>,
        context: &DdlContext<'_>,
    ) -> Result<CommitOutcome> {
        let mut locks = self.metadata_locks(context);
        let mut names: Vec<(&str, &str)> = renames.iter().flat_map(|(from, to)| [*from, *to]).collect();
        let defs = views.iter().flat_map(|view| view.old.iter().map(|old| &old.def).chain(&view.new));
        let of_views: Vec<(String, String)> =
            defs.map(|def| (def.schema.clone(), def.name.clone())).collect();
        names.extend(of_views.iter().map(|(schema, name)| (schema.as_str(), name.as_str())));
        names.sort_unstable();
        names.dedup();
        for (schema, name) in &names {
            locks.lock_table(schema, name)?;
        }
        let mut current = self.renamed_definitions(renames, &views)?;
        let mut followers = self.followers_of(&mut current, &mut locks, context)?;
        followers.settle_among(&mut current);
        followers.add_objects(self.check_views(views, &current)?);
        let _one = self.one.lock();
        let mut ops = Vec::new();
        for (table, def) in &current {
            let old = Some((&table.placement, &table.def));
            ops.extend(dictionary::table_ops(table.id, old, Some((&table.placement, def)))?);
        }
        ops.extend(followers.ops()?);
        let outcome = self.commit_ddl(context, &ops)?;
        let (old, new): (Vec<_>, Vec<_>) = current.into_iter().unzip();
        let opened = old.iter().zip(new).map(|(table, def)| {
            Arc::new(Table::open(&self.pool, table.placement.clone(), def, table.counters.clone()))
        });
        let renamed: Vec<Arc<Table>> = opened.collect();
        self.catalog.replace_tables(&borrowed(&old), &renamed);
        followers.take_effect(&self.catalog, &self.pool);
        self.log.wait_durable(outcome.seq)?;
        self.settle_files(&renamed)?;
        self.finish_ddl(context, outcome)
    }

    /// Refuses views that were changed before they were locked, names in schemas that do not exist,
    /// and names that other tables and views have got. Returns the views.
    fn check_views(
        &self,
        views: Vec<ObjectChange>,
        tables: &[(Arc<Table>, TableDef)],
    ) -> Result<Vec<ObjectChange>> {
        for view in &views {
            let (Some(old), Some(new)) = (&view.old, &view.new) else { continue };
            self.require_schema(&new.schema)?;
            let found = self.catalog.object(&old.def.schema, ObjectKind::View, &old.def.name);
            if !found.is_some_and(|found| Arc::ptr_eq(&found, old)) {
                return Err(EngineError::TableChanged(old.def.name.clone()));
            }
            let by_table = self
                .catalog
                .table(&new.schema, &new.name)
                .is_some_and(|table| !tables.iter().any(|(moved, _)| moved.id == table.id));
            if by_table || self.has_other_view(&views, &new.schema, &new.name) {
                return Err(EngineError::TableExists(new.name.clone()));
            }
        }
        Ok(views)
    }

    /// Reports whether a view has this name that is not among those that are renamed.
    fn has_other_view(&self, renamed: &[ObjectChange], schema: &str, name: &str) -> bool {
        let found = self.catalog.object(schema, ObjectKind::View, name);
        let is_renamed = |id| renamed.iter().any(|view| view.old.as_ref().is_some_and(|old| old.id == id));
        found.is_some_and(|found| !is_renamed(found.id))
    }

    /// Returns the tables to be renamed, each with the definition that it gets in the end.
    fn renamed_definitions(
        &self,
        renames: &[(TableName<'_>, TableName<'_>)],
        views: &[ObjectChange],
    ) -> Result<Vec<(Arc<Table>, TableDef)>> {
        let mut current: Vec<(Arc<Table>, TableDef)> = Vec::new();
        for ((from_schema, from_name), (to_schema, to_name)) in renames {
            self.require_schema(to_schema)?;
            let moved =
                current.iter().position(|(_, def)| def.schema == *from_schema && def.name == *from_name);
            let at = match moved {
                Some(at) => at,
                None => {
                    let table = self.existing_table(from_schema, from_name)?;
                    if current.iter().any(|(moved, _)| moved.id == table.id) {
                        return Err(EngineError::UnknownTable(
                            from_schema.to_string(),
                            from_name.to_string(),
                        ));
                    }
                    let def = table.def.clone();
                    current.push((table, def));
                    current.len() - 1
                }
            };
            let by_rename = current.iter().any(|(_, def)| def.schema == *to_schema && def.name == *to_name);
            let by_table = self
                .catalog
                .table(to_schema, to_name)
                .is_some_and(|table| !current.iter().any(|(moved, _)| moved.id == table.id));
            let by_view = self.has_other_view(views, to_schema, to_name);
            if by_rename || by_table || by_view {
                return Err(EngineError::TableExists(to_name.to_string()));
            }
            current[at].1.rename(to_schema, to_name);
        }
        Ok(current)
    }

    /// Returns the children of renamed tables, and the other objects that follow them.
    fn followers_of(
        &self,
        renamed: &mut [(Arc<Table>, TableDef)],
        locks: &mut MetadataLocks<'_>,
        context: &DdlContext<'_>,
    ) -> Result<Followers> {
        let mut followers = Followers::default();
        for (table, def) in renamed {
            followers.add(locks.lock_followers(&self.catalog, &table.def, def, context)?);
        }
        Ok(followers)
    }

    /// Moves files to the paths that their tables' names say. Names may have been swapped, so a
    /// file that stands in another's place is moved out of the way first; otherwise a move would
    /// replace it.
    fn settle_files(&self, tables: &[Arc<Table>]) -> Result<()> {
        let place = |table: &Arc<Table>| self.path_of(&table.def);
        let places: HashSet<PathBuf> = tables.iter().map(place).collect();
        for table in tables {
            let space = table.placement.space;
            let in_the_way = |held: &PathBuf| places.contains(held) && *held != place(table);
            if let Some(held) = self.pool.space_path(space).filter(in_the_way) {
                self.pool.rename_space(space, &aside(&held, space))?;
            }
        }
        for table in tables {
            self.settle_file(table)?;
        }
        Ok(())
    }
}

fn borrowed(tables: &[Arc<Table>]) -> Vec<&Table> {
    tables.iter().map(|table| &**table).collect()
}
