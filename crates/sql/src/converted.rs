//! MariaDB's `ALTER TABLE ... CONVERT PARTITION ... TO TABLE` and `CONVERT TABLE ... TO PARTITION`,
//! as the statements that do the same.
//!
//! Each of these statements is a commit of its own. After a crash between two of them the source's
//! statement is received again, so only those are returned that are still to be done. What is done
//! shows in the tables: the new table or the new partition exists, and rows have been exchanged if
//! the table has the rows of the partition, or has none any more. The rows of two empty ones may be
//! exchanged twice.

use crate::ast::{
    AlterDemands, AlterTable, Alteration, CreateTable, PartitionAlteration, Statement, TableName,
};
use crate::error::{Result, SqlError};
use engine::{Direction, Engine, IndexRef, Isolation, KeyRange, LockMode, Table};
use std::sync::Arc;

/// Returns the statements that come before the last one, and the last one.
///
/// # Errors
/// Returns 1235 for another alteration, 1146 for a table that is missing, and the errors of
/// `schema_of`, which returns the schema of a name.
pub(crate) fn statements(
    engine: &Arc<Engine>,
    partitioned: &TableName,
    conversion: &PartitionAlteration,
    schema_of: &dyn Fn(&TableName) -> Result<String>,
) -> Result<(Vec<Statement>, Statement)> {
    let found = |name: &TableName| Ok::<_, SqlError>(engine.catalog().table(&schema_of(name)?, &name.name));
    let exchange = |partition: &str, table: &TableName| {
        let (partition, table) = (partition.to_owned(), table.clone());
        altered(partitioned, PartitionAlteration::Exchange { partition, table, validates: false })
    };
    let mut before = Vec::new();
    match conversion {
        PartitionAlteration::ToTable { partition, table } => {
            let made = found(table)?;
            if made.is_none() {
                let like = Some(partitioned.clone());
                let create = CreateTable { like, ..CreateTable::empty(table.clone(), false, false) };
                before.push(Statement::CreateTable(create));
            }
            if made.as_ref().is_none_or(|made| made.def.partitioning.is_some()) {
                before.push(altered(table, PartitionAlteration::Remove));
            }
            if made.map_or(Ok(true), |made| is_empty(engine, &made))? {
                before.push(exchange(partition, table));
            }
            Ok((before, altered(partitioned, PartitionAlteration::Drop(vec![partition.clone()]))))
        }
        PartitionAlteration::FromTable { table, element } => {
            let (into, from) = (found(partitioned)?, found(table)?);
            let has_partition = |into: &Table| {
                into.def.partitioning.as_ref().is_some_and(|parts| parts.partition(&element.name).is_some())
            };
            if !into.is_some_and(|into| has_partition(&into)) {
                before.push(altered(partitioned, PartitionAlteration::Add(vec![(**element).clone()])));
            }
            if !from.map_or(Ok(true), |from| is_empty(engine, &from))? {
                before.push(exchange(&element.name, table));
            }
            let tables = vec![table.clone()];
            Ok((
                before,
                Statement::DropTable { tables, if_exists: false, temporary: false, sequences: false },
            ))
        }
        _ => Err(SqlError::not_supported("such a conversion of partitions")),
    }
}

/// Returns an ALTER TABLE with one operation on partitions.
fn altered(table: &TableName, alteration: PartitionAlteration) -> Statement {
    let (alterations, demands) = (vec![Alteration::Partition(alteration)], AlterDemands::default());
    Statement::AlterTable(AlterTable { table: table.clone(), if_exists: false, alterations, demands })
}

/// Reports whether a table has no rows.
fn is_empty(engine: &Arc<Engine>, table: &Arc<Table>) -> Result<bool> {
    let mut transaction = engine.begin(Isolation::RepeatableRead);
    let (all, mode) = (KeyRange::all(), LockMode::Snapshot);
    let mut scan = transaction.scan(table, IndexRef::Primary, all, Direction::Forward, mode)?;
    let is_empty = scan.next(&mut transaction)?.is_none();
    transaction.rollback();
    Ok(is_empty)
}
