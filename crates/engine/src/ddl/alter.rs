//! ALTER TABLE: in place where only indexes, names, defaults and comments change; else a rebuild into a new table.
//!
//! Both hold the table's exclusive metadata lock from beginning to end: an ALTER waits for the transactions that use the
//! table and holds up those that want to. Snapshots that are older than the statement cannot read the table afterwards
//! (error 1412, as in MySQL).
//!
//! In place: new indexes are built sorted and are on disk before the commit record; trees of dropped indexes are freed
//! after it (a crash in between leaves their pages allocated). Rebuild: every row is converted and put into the trees of a
//! table with a new id in a new space.

use super::DdlContext;
use super::build::Sorter;
use crate::Engine;
use crate::commit::pipeline::CommitOutcome;
use crate::definition::{ColumnDef, TableDef};
use crate::dictionary;
use crate::entry;
use crate::error::{EngineError, Result};
use crate::overflow;
use crate::table::{Counters, Index, IndexRef, Placement, Table};
use btree::{SortedBuild, Tree};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Turns a row image of the old definition into one of the new.
pub type ConvertRow<'c> = dyn FnMut(&[u8]) -> Result<Vec<u8>> + 'c;

/// Whether rows and clustered keys are the same bytes under both definitions.
fn same_rows(old: &TableDef, new: &TableDef) -> bool {
    let same_column = |old: &ColumnDef, new: &ColumnDef| old.ty == new.ty && old.nullable == new.nullable;
    old.primary == new.primary
        && old.columns.len() == new.columns.len()
        && old.columns.iter().zip(&new.columns).all(|(old, new)| same_column(old, new))
}

impl Engine {
    /// `ALTER TABLE schema.name`, which makes it `new`: with other columns, another primary key, indexes added (`id` 0) or
    /// left out, another name or schema. `convert` is called for each row if they must be rebuilt.
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

    /// As [`Engine::alter_table`], but every row goes through `convert` even if the definitions have the same row format:
    /// for columns that changed places, or one that was dropped and another added in its stead.
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
        let _one = self.ddl.lock();
        if !must_rebuild && same_rows(&old.def, &new) {
            self.alter_in_place(&old, new, context)
        } else {
            self.rebuild(&old, new, convert, context)
        }
    }

    fn alter_in_place(
        &self,
        old: &Arc<Table>,
        mut new: TableDef,
        context: &DdlContext<'_>,
    ) -> Result<CommitOutcome> {
        let added = new.indexes.iter().filter(|index| index.id == 0).count() as u32;
        let mut next_id = if added > 0 { self.take_ids(0, added, 0)?.index } else { 0 };
        new.created_s = old.def.created_s;
        let mut placement = Placement { indexes: Vec::new(), ..old.placement.clone() };
        let mut made = Vec::new();
        for (at, index) in new.indexes.iter_mut().enumerate() {
            if index.id == 0 {
                index.id = next_id;
                next_id += 1;
                made.push(at);
                let root = Tree::create(&self.pool, old.placement.space)?.root_page();
                placement.indexes.push((root, self.log.current_lsn()));
            } else {
                let held = old.def.indexes.iter().position(|held| held.id == index.id);
                let held = held.ok_or_else(|| {
                    EngineError::BadDefinition(format!("Key '{}' doesn't exist in table", index.name))
                })?;
                placement.indexes.push(old.placement.indexes[held]);
            }
        }
        if !made.is_empty() {
            placement.created_lsn = self.log.current_lsn();
        }
        let table = Engine::build_table(&self.pool, placement, new, old.counters.clone());
        let committed = self.fill_indexes(&table, &made).and_then(|()| {
            let before = Some((&old.placement, &old.def));
            let ops = dictionary::table_ops(old.id, before, Some((&table.placement, &table.def)));
            self.commit_ddl(context, &ops)
        });
        let outcome = match committed {
            Ok(outcome) => outcome,
            Err(error) => {
                for at in made {
                    table.indexes[at].tree.free()?;
                }
                return Err(error);
            }
        };
        if table.def.auto_increment > 0 {
            table.note_auto_increment(table.def.auto_increment - 1);
        }
        let table = Arc::new(table);
        self.catalog.remove_table(old);
        self.catalog.put_table(table.clone());
        self.log.wait_durable(outcome.seq)?;
        let dropped =
            old.indexes.iter().filter(|index| !table.indexes.iter().any(|kept| kept.id == index.id));
        self.free_indexes(old, dropped)?;
        self.settle_file(&table)?;
        self.finish_ddl(context, outcome)
    }

    fn fill_indexes(&self, table: &Table, made: &[usize]) -> Result<()> {
        let seq = self.sequencer.visible();
        for &at in made {
            self.fill_index(table, at, seq)?;
        }
        Ok(())
    }

    fn free_indexes<'t>(&self, table: &Table, dropped: impl Iterator<Item = &'t Index>) -> Result<()> {
        let _gate = table.counters.gate.write();
        for index in dropped {
            index.tree.free()?;
        }
        Ok(())
    }

    fn rebuild(
        &self,
        old: &Arc<Table>,
        new: TableDef,
        convert: &mut ConvertRow<'_>,
        context: &DdlContext<'_>,
    ) -> Result<CommitOutcome> {
        let counters = Counters::default();
        counters.row_id.store(1, Ordering::Relaxed);
        let next = if new.auto_increment_column().is_some() { old.auto_increment() } else { 0 };
        counters.auto_increment.store(next.max(new.auto_increment), Ordering::Relaxed);
        let created_s = old.def.created_s;
        let table = self.make_table(TableDef { created_s, ..new }, Arc::new(counters))?;
        if let Err(error) = self.copy_rows(old, &table, convert) {
            self.pool.drop_space(table.placement.space)?;
            return Err(error);
        }
        self.replace_table(old, table, context)
    }

    /// Converts every row of `old` into the empty trees of `new`.
    fn copy_rows(&self, old: &Table, new: &Table, convert: &mut ConvertRow<'_>) -> Result<()> {
        let seq = self.sequencer.visible();
        let mut rows = Sorter::default();
        let mut entries: Vec<Sorter> = new.indexes.iter().map(|_| Sorter::default()).collect();
        // Rows that come in the new key's order go straight into the tree.
        let in_order = new.primary.is_none() || (old.primary.is_some() && same_key(old, new));
        let mut direct = if in_order { Some(SortedBuild::new(&new.clustered)?) } else { None };
        self.for_each_row(old, |_, image| {
            let image = convert(image)?;
            let row_id = new.primary.is_none().then(|| new.counters.row_id.fetch_add(1, Ordering::Relaxed));
            let key = new.clustered_key(&image, row_id)?;
            new.check_key_len(key.len())?;
            for (at, sorter) in entries.iter_mut().enumerate() {
                sorter.push_entry(new, at, &key, &image, seq)?;
            }
            self.note_stored_auto_increment(new, &image)?;
            let mut value = Vec::with_capacity(image.len() + entry::HEADER_LEN);
            match overflow::place(&self.pool, new, key.len(), &image, &[])? {
                Some(placed) => entry::put_clustered(&mut value, &placed.externs, &placed.image),
                None => entry::put_clustered(&mut value, &[], &image),
            }
            entry::set_seq(&mut value, seq);
            match &mut direct {
                Some(build) => build.push(&key, &value).map_err(EngineError::from),
                None => {
                    rows.push(&key, &value);
                    Ok(())
                }
            }
        })?;
        match direct {
            Some(build) => build.finish()?,
            None => rows.build(&new.clustered, |last, key, value| {
                if last == Some(key) { Err(self.duplicate_primary(new, value)) } else { Ok(value) }
            })?,
        }
        for (at, sorter) in entries.into_iter().enumerate() {
            self.build_index(new, at, sorter)?;
        }
        Ok(())
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

/// Whether the primary keys are over columns of the same names and types, so that their order is the same.
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
