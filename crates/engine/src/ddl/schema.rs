//! CREATE, ALTER and DROP SCHEMA.

use super::context::DdlContext;
use super::statement::Ddl;
use crate::commit::pipeline::CommitOutcome;
use crate::definition::SchemaDef;
use crate::dictionary;
use crate::error::{EngineError, Result};
use crate::files::{file_name, io_error};
use crate::lock::LockType;

impl Ddl {
    fn schema_dir(&self, name: &str) -> std::path::PathBuf {
        self.config.datadir.join(file_name(name))
    }

    /// Runs `CREATE SCHEMA`.
    pub fn create_schema(&self, def: SchemaDef, context: &DdlContext<'_>) -> Result<CommitOutcome> {
        let mut locks = self.metadata_locks(context);
        locks.lock(&def.name, "", LockType::Exclusive)?;
        if self.catalog.schema(&def.name).is_some() {
            return Err(EngineError::SchemaExists(def.name));
        }
        let _one = self.one.lock();
        let dir = self.schema_dir(&def.name);
        self.config.disk.create_dir_all(&dir).map_err(|error| io_error(&dir, error))?;
        let datadir = &self.config.datadir;
        self.config.disk.sync_dir(datadir).map_err(|error| io_error(datadir, error))?;
        let id = self.take_ids(1, 0, 0)?.table;
        let outcome = self.commit_ddl(context, &dictionary::schema_ops(id, None, Some(&def)))?;
        self.catalog.put_schema(id, def);
        self.finish_ddl(context, outcome)
    }

    /// Runs `ALTER SCHEMA`, which gives the schema other defaults.
    pub fn alter_schema(&self, def: SchemaDef, context: &DdlContext<'_>) -> Result<CommitOutcome> {
        let mut locks = self.metadata_locks(context);
        locks.lock(&def.name, "", LockType::Exclusive)?;
        let id = self.require_schema(&def.name)?;
        let old = self.catalog.schema(&def.name);
        let _one = self.one.lock();
        let outcome = self.commit_ddl(context, &dictionary::schema_ops(id, old.as_deref(), Some(&def)))?;
        self.catalog.put_schema(id, def);
        self.finish_ddl(context, outcome)
    }

    /// Runs `DROP SCHEMA`, which drops the schema with everything in it.
    pub fn drop_schema(&self, name: &str, context: &DdlContext<'_>) -> Result<CommitOutcome> {
        let mut locks = self.metadata_locks(context);
        locks.lock(name, "", LockType::Exclusive)?;
        let id = self.require_schema(name)?;
        let old = self.catalog.schema(name);
        for table in self.catalog.tables(name) {
            locks.lock(name, &table.def.name, LockType::Exclusive)?;
        }
        let _one = self.one.lock();
        let tables = self.catalog.tables(name);
        let mut ops = dictionary::schema_ops(id, old.as_deref(), None);
        for table in &tables {
            ops.extend(dictionary::table_ops(table.id, Some((&table.placement, &table.def)), None)?);
        }
        let objects = self.catalog.objects(name);
        for object in &objects {
            ops.extend(dictionary::object_ops(object.id, Some(&object.def), None)?);
        }
        let outcome = self.commit_ddl(context, &ops)?;
        objects.iter().for_each(|object| self.catalog.remove_object(object));
        for table in &tables {
            self.catalog.remove_table(table);
        }
        self.catalog.remove_schema(name);
        self.log.wait_durable(outcome.seq)?;
        for table in &tables {
            self.drop_space_of(table)?;
        }
        let dir = self.schema_dir(name);
        if let Err(error) = self.config.disk.remove_dir_all(&dir) {
            log::warn!("InnoDB: Cannot remove {}: {error}", dir.display());
        }
        self.finish_ddl(context, outcome)
    }
}
