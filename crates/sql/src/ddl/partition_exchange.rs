//! `ALTER TABLE ... EXCHANGE PARTITION`.

use super::partition::Maker;
use super::partition_history::with_named;
use super::partition_rows::{named, unknown_partition};
use super::run::DdlRun;
use crate::ast::TableName;
use crate::detached::{DetachedCondition, DetachedSettings};
use crate::error::{Result, SqlError};
use engine::{EngineError, KeptIndex, Table, TableDef};
use std::sync::Arc;

/// Builds error 1736 (`ER_TABLES_DIFFERENT_METADATA`), for tables whose definitions differ.
fn different() -> SqlError {
    SqlError::new(1736, "Tables have different definitions")
}

/// Refuses tables that cannot exchange rows.
fn check_alike(table: &TableDef, other: &TableDef) -> Result<()> {
    if other.partitioning.is_some() {
        let text = format!("Table to exchange with partition is partitioned: '{}'", other.name);
        return Err(SqlError::new(1732, text));
    }
    if !other.foreign_keys.is_empty() {
        let text = format!("Table to exchange with partition has foreign key references: '{}'", other.name);
        return Err(SqlError::new(1740, text));
    }
    let columns = |def: &TableDef| -> Vec<_> {
        def.columns
            .iter()
            .map(|column| (column.name.to_lowercase(), column.ty.clone(), column.nullable))
            .collect()
    };
    let indexes = |def: &TableDef| -> Vec<_> {
        let key = |index: &engine::IndexDef| (index.name.to_lowercase(), index.unique, index.columns.clone());
        let mut keys: Vec<_> = def.indexes.iter().map(key).collect();
        keys.sort_by(|a, b| a.0.cmp(&b.0));
        keys
    };
    let kept = |def: &TableDef| -> Vec<_> {
        let without_entries = |index: &KeptIndex| KeptIndex { entries: None, ..index.clone() };
        def.kept_indexes.iter().map(without_entries).collect()
    };
    let is_alike = columns(table) == columns(other)
        && table.primary == other.primary
        && indexes(table) == indexes(other)
        && kept(table) == kept(other);
    if is_alike { Ok(()) } else { Err(different()) }
}

impl DdlRun<'_> {
    /// Exchanges the rows of a partition or subpartition with those of a table. `validates` says
    /// whether each row of the table has to belong to the partition.
    pub(super) fn exchange(
        &self,
        table: &Arc<Table>,
        partition: &str,
        other: &TableName,
        validates: bool,
    ) -> Result<()> {
        let def = &table.def;
        let Some(partitioning) = &def.partitioning else {
            let text = "Partition management on a not partitioned table is not possible";
            return Err(SqlError::new(1505, text));
        };
        let partitioning = &with_named(partitioning, &[partition.to_owned()]);
        let other = self.require_base_table(&self.schema_of(other)?, &other.name)?;
        let (at, sub) =
            named(partitioning, partition).ok_or_else(|| unknown_partition(partition, &def.name))?;
        if sub.is_none() && partitioning.sub.is_some() {
            return Err(SqlError::new(1734, "Subpartitioned table, use subpartition instead of partition"));
        }
        check_alike(def, &other.def)?;
        let maker = Maker { engine: self.engine, settings: &self.settings };
        let text = maker.condition(def, partitioning, (at, sub), &maker.history(def, partitioning)?)?;
        let settings = DetachedSettings {
            zone: self.settings.zone,
            now_us: self.settings.now_us,
            strict: self.settings.strict,
            replicated: self.settings.replicated,
        };
        let condition = DetachedCondition::of(self.engine, def, &text, settings)?;
        // The engine passes its own error through, so the error of this function's conditions is
        // kept beside it.
        let failure = std::cell::RefCell::new(None);
        let refuse = |error: SqlError| {
            let message = error.message.clone();
            *failure.borrow_mut() = Some(error);
            EngineError::BadDefinition(message)
        };
        let belongs = |row: &[u8]| condition.holds(&table.layout.decode_all(row)?).map_err(refuse);
        let checks = validates && !self.settings.replicated;
        let outcome = self.engine.exchange_rows(
            (&def.schema, &def.name),
            (&other.def.schema, &other.def.name),
            &mut |row| belongs(row),
            &mut |row| match !checks || belongs(row)? {
                true => Ok(()),
                false => Err(refuse(SqlError::new(1737, "Found a row that does not match the partition"))),
            },
            &self.context(),
        );
        match (outcome, failure.into_inner()) {
            (Ok(_), _) => Ok(()),
            (Err(_), Some(error)) => Err(error),
            (Err(error), None) => Err(error.into()),
        }
    }
}
