//! Temporary tables: tables that belong to one session and are visible to no other.
//!
//! A temporary table is an ordinary [`Table`] with trees in a space of its own. So it has indexes,
//! scans, long values and a place for locks, which stays empty. It has no name in the catalog, no
//! entry in the dictionary, and not a byte in the log: its space is unlogged, its row changes stay
//! out of the event group and the commit record ([`crate::transaction::temporary`]), and its
//! numbers are not those of the dictionary.
//!
//! Its file is in `#innodb_temp`, which is emptied before the engine opens. So a crash leaves
//! nothing that recovery would have to know.

use crate::config::EngineConfig;
use crate::ddl::{ConvertRow, Ddl, copy_rows};
use crate::definition::TableDef;
use crate::error::Result;
use crate::files::{io_error, make_dir};
use crate::row_forms::FormHistory;
use crate::table::{Counters, Placement, Table};
use btree::Tree;
use buffer::{Pool, SpaceId};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The directory of the files, in the data directory.
const DIRECTORY: &str = "#innodb_temp";

/// Removes the files that a crash left. It must be called before the engine opens anything.
pub(crate) fn remove_leftovers(config: &EngineConfig) -> Result<()> {
    let dir = config.datadir.join(DIRECTORY);
    let failed = |error| io_error(&dir, error);
    if config.disk.exists(&dir).map_err(failed)? {
        config.disk.remove_dir_all(&dir).map_err(failed)?;
    }
    Ok(())
}

/// A temporary table, which is dropped with this value. Plans and transactions that still hold its
/// [`Table`] then find that it is gone.
pub struct TemporaryTable {
    table: Arc<Table>,
    pool: Arc<Pool>,
}

impl TemporaryTable {
    /// Returns the table.
    pub fn table(&self) -> &Arc<Table> {
        &self.table
    }
}

impl std::fmt::Debug for TemporaryTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.table.fmt(f)
    }
}

impl Drop for TemporaryTable {
    fn drop(&mut self) {
        self.table.set_gone();
        let _gate = self.table.counters.gate.write();
        if let Err(error) = self.pool.drop_space(self.table.placement.space) {
            log::warn!("InnoDB: the temporary table {}: {error}", self.table.qualified_name);
        }
    }
}

/// Makes temporary tables. None of this is a commit.
pub(crate) struct TemporaryMaker<'e> {
    pub ddl: &'e Ddl,
}

impl TemporaryMaker<'_> {
    /// Runs `CREATE TEMPORARY TABLE`.
    pub fn make(&self, mut def: TableDef) -> Result<TemporaryTable> {
        let ddl = self.ddl;
        def.check()?;
        assert!(def.foreign_keys.is_empty(), "a temporary table has no foreign keys");
        let dir = ddl.config.datadir.join(DIRECTORY);
        make_dir(&*ddl.config.disk, &dir)?;
        let space = ddl.temporary.space(&ddl.pool);
        if def.created_s == 0 {
            def.created_s = os::clock::now_us() / 1_000_000;
        }
        // The numbers need not be unique among all tables, because temporary tables have no locks
        // and no row events, which name indexes by number.
        for (at, id) in (1..).zip(def.index_ids_mut()) {
            *id = at;
        }
        ddl.pool.create_unlogged_space(space, &temporary_path(&dir, space))?;
        match self.make_trees(def, space) {
            Ok(table) => Ok(TemporaryTable { table: Arc::new(table), pool: ddl.pool.clone() }),
            Err(error) => {
                ddl.pool.drop_space(space)?;
                Err(error)
            }
        }
    }

    fn make_trees(&self, def: TableDef, space: SpaceId) -> Result<Table> {
        let pool = &self.ddl.pool;
        let counters = Counters::default();
        counters.auto_increment.store(def.auto_increment, Ordering::Relaxed);
        counters.row_id.store(1, Ordering::Relaxed);
        let clustered_root = Tree::create(pool, space)?.root_page();
        let mut indexes = Vec::new();
        for _ in def.index_ids() {
            indexes.push((Tree::create(pool, space)?.root_page(), 0));
        }
        let id = self.ddl.temporary.table();
        let placement = Placement {
            id,
            space,
            clustered_root,
            created_lsn: 0,
            indexes,
            forms: FormHistory::default(),
            dropped: Vec::new(),
        };
        Ok(Table::open(pool, placement, def, Arc::new(counters)).into_temporary())
    }

    /// Makes a new table with the rows of `old`, each converted by `convert`.
    pub fn altered(
        &self,
        old: &Table,
        new: TableDef,
        convert: &mut ConvertRow<'_>,
        auto_increment: Option<u64>,
        interrupt: Option<&AtomicBool>,
    ) -> Result<TemporaryTable> {
        assert!(old.is_temporary(), "{} is not temporary", old.qualified_name);
        old.check_lives()?;
        let next = match auto_increment {
            Some(asked) => asked,
            None if new.auto_increment_column().is_some() => old.auto_increment().max(new.auto_increment),
            None => new.auto_increment,
        };
        let made = self.make(new)?;
        made.table.counters.auto_increment.store(next, Ordering::Relaxed);
        copy_rows(self.ddl, &mut [(old, convert)], &made.table, interrupt)?;
        Ok(made)
    }
}

fn temporary_path(dir: &std::path::Path, space: SpaceId) -> PathBuf {
    dir.join(format!("temp_{space}.ibt"))
}
