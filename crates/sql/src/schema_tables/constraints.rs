//! KEY_COLUMN_USAGE, TABLE_CONSTRAINTS, CHECK_CONSTRAINTS and REFERENTIAL_CONSTRAINTS of
//! information_schema.

use super::columns::indexes;
use super::declared::find as declared;
use super::definition::{Definition, Dictionary, Rows};
use crate::error::Result;
use engine::IndexRef;
use types::Value;

pub(super) const TABLES: &[Definition] = &[
    Definition { name: "KEY_COLUMN_USAGE", fill: key_column_usage },
    Definition { name: "TABLE_CONSTRAINTS", fill: table_constraints },
    Definition { name: "CHECK_CONSTRAINTS", fill: check_constraints },
    Definition { name: "REFERENTIAL_CONSTRAINTS", fill: referential_constraints },
];

fn text(text: &str) -> Value {
    Value::text(text)
}

fn key_column_usage(dictionary: &Dictionary<'_>, rows: &mut Rows<'_>) -> Result<()> {
    for table in dictionary.tables() {
        for index in indexes(&table).iter().filter(|index| index.unique) {
            for (at, part) in index.parts.iter().enumerate() {
                let column = &table.def.columns[part.column];
                if column.is_indexed_expression() || !dictionary.sees_column(&table, &column.name) {
                    continue;
                }
                rows.push(vec![
                    text("def"),
                    text(&table.def.schema),
                    text(index.name),
                    text("def"),
                    text(&table.def.schema),
                    text(&table.def.name),
                    text(&table.def.columns[part.column].name),
                    Value::UInt(at as u64 + 1),
                    Value::Null,
                    Value::Null,
                    Value::Null,
                    Value::Null,
                ])?;
            }
        }
        for foreign_key in &table.def.foreign_keys {
            let columns = foreign_key.columns.iter().zip(&foreign_key.parent_columns);
            for (at, (&column, parent_column)) in columns.enumerate() {
                if !dictionary.sees_column(&table, &table.def.columns[column].name) {
                    continue;
                }
                let number = Value::UInt(at as u64 + 1);
                rows.push(vec![
                    text("def"),
                    text(&table.def.schema),
                    text(&foreign_key.name),
                    text("def"),
                    text(&table.def.schema),
                    text(&table.def.name),
                    text(&table.def.columns[column].name),
                    number.clone(),
                    number,
                    text(&foreign_key.parent_schema),
                    text(&foreign_key.parent_table),
                    text(parent_column),
                ])?;
            }
        }
    }
    declared_key_columns(dictionary, rows)
}

/// Adds the columns of the keys of MySQL's declared tables.
fn declared_key_columns(dictionary: &Dictionary<'_>, rows: &mut Rows<'_>) -> Result<()> {
    for (schema, name) in dictionary.computed_tables() {
        let Some(declared) = declared(schema, &name) else { continue };
        for key in declared.keys.iter().filter(|key| key.is_unique()) {
            for (at, column) in key.columns.iter().enumerate() {
                let mut row: Vec<Value> =
                    ["def", schema, key.name, "def", schema, &name, column].map(text).into();
                row.push(Value::UInt(at as u64 + 1));
                row.extend([const { Value::Null }; 4]);
                rows.push(row)?;
            }
        }
    }
    Ok(())
}

fn table_constraints(dictionary: &Dictionary<'_>, rows: &mut Rows<'_>) -> Result<()> {
    for table in dictionary.tables() {
        let mut row_of = |name: &str, kind: &str, enforced: bool| {
            let (schema, table) = (text(&table.def.schema), text(&table.def.name));
            let enforced = text(if enforced { "YES" } else { "NO" });
            rows.push(vec![text("def"), schema.clone(), text(name), schema, table, text(kind), enforced])
        };
        let mut row = |name: &str, kind: &str| row_of(name, kind, true);
        for index in indexes(&table).iter().filter(|index| index.unique) {
            row(index.name, if index.name == "PRIMARY" { "PRIMARY KEY" } else { "UNIQUE" })?;
        }
        for index in table.def.kept_indexes.iter().filter(|index| index.unique) {
            row(&index.name, "UNIQUE")?;
        }
        table.def.foreign_keys.iter().try_for_each(|key| row(&key.name, "FOREIGN KEY"))?;
        table.def.checks.iter().try_for_each(|check| row_of(&check.name, "CHECK", check.enforced))?;
    }
    for (schema, name) in dictionary.computed_tables() {
        let Some(declared) = declared(schema, &name) else { continue };
        for key in declared.keys.iter().filter(|key| key.is_unique()) {
            let kind = if key.name == "PRIMARY" { "PRIMARY KEY" } else { "UNIQUE" };
            rows.push(["def", schema, key.name, schema, &name, kind, "YES"].map(text).into())?;
        }
    }
    Ok(())
}

fn check_constraints(dictionary: &Dictionary<'_>, rows: &mut Rows<'_>) -> Result<()> {
    for table in dictionary.tables() {
        for check in &table.def.checks {
            let clause = text(&super::default_text::escaped(&check.expression));
            rows.push(vec![text("def"), text(&table.def.schema), text(&check.name), clause])?;
        }
    }
    Ok(())
}

fn referential_constraints(dictionary: &Dictionary<'_>, rows: &mut Rows<'_>) -> Result<()> {
    for table in dictionary.tables() {
        for key in &table.def.foreign_keys {
            let parent = dictionary.engine.catalog().table(&key.parent_schema, &key.parent_table);
            let unique = parent.and_then(|parent| {
                let columns = parent.def.positions(&key.parent_columns)?;
                let index = parent.def.unique_index_on(&columns)?;
                Some(match index {
                    IndexRef::Primary => text("PRIMARY"),
                    IndexRef::Secondary(at) => text(&parent.def.indexes[at].name),
                })
            });
            rows.push(vec![
                text("def"),
                text(&table.def.schema),
                text(&key.name),
                text("def"),
                text(&key.parent_schema),
                unique.unwrap_or(Value::Null),
                text("NONE"),
                text(key.on_update.name()),
                text(key.on_delete.name()),
                text(&table.def.name),
                text(&key.parent_table),
            ])?;
        }
    }
    Ok(())
}
