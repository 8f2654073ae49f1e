//! The tables of information_schema that have attributes of engines for schemas, tables, columns,
//! constraints and tablespaces.

use super::columns::indexes;
use super::definition::{Definition, Dictionary, Rows};
use super::innodb::all_tables;
use crate::error::Result;
use crate::host::Sight;
use engine::{ObjectKind, TableDef};
use types::Value;

pub(super) const TABLES: &[Definition] = &[
    Definition { name: "SCHEMATA_EXTENSIONS", fill: schemata },
    Definition { name: "TABLES_EXTENSIONS", fill: tables },
    Definition { name: "COLUMNS_EXTENSIONS", fill: columns },
    Definition { name: "TABLE_CONSTRAINTS_EXTENSIONS", fill: constraints },
    Definition { name: "TABLESPACES_EXTENSIONS", fill: tablespaces },
];

fn text(text: &str) -> Value {
    Value::text(text)
}

fn schemata(dictionary: &Dictionary<'_>, rows: &mut Rows<'_>) -> Result<()> {
    for name in super::objects::schema_names(dictionary) {
        rows.push(vec![text("def"), text(&name), text("")])?;
    }
    Ok(())
}

/// Returns ENGINE_ATTRIBUTE and SECONDARY_ENGINE_ATTRIBUTE of a table.
fn attributes(def: &TableDef) -> [Value; 2] {
    ["ENGINE_ATTRIBUTE", "SECONDARY_ENGINE_ATTRIBUTE"].map(|wanted| {
        let option = def.options.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted));
        option.map_or(Value::Null, |(_, value)| text(value.trim_matches('\'')))
    })
}

/// Returns schema and name of the views and of the computed tables that the account may see. They
/// have no attributes.
fn others(dictionary: &Dictionary<'_>) -> Vec<(String, String)> {
    let views = dictionary.engine.catalog().all_objects(ObjectKind::View);
    let views = views.iter().map(|view| (view.def.schema.clone(), view.def.name.clone()));
    let seen = views.filter(|(schema, name)| dictionary.sees(Sight::Table(schema, name)));
    let computed = dictionary.computed_tables().into_iter();
    seen.chain(computed.map(|(schema, name)| (schema.to_owned(), name))).collect()
}

fn tables(dictionary: &Dictionary<'_>, rows: &mut Rows<'_>) -> Result<()> {
    for table in dictionary.tables() {
        let [first, secondary] = attributes(&table.def);
        rows.push(vec![text("def"), text(&table.def.schema), text(&table.def.name), first, secondary])?;
    }
    for (schema, name) in others(dictionary) {
        rows.push(vec![text("def"), text(&schema), text(&name), Value::Null, Value::Null])?;
    }
    Ok(())
}

fn columns(dictionary: &Dictionary<'_>, rows: &mut Rows<'_>) -> Result<()> {
    let row = |schema: &str, table: &str, column: &str| {
        vec![text("def"), text(schema), text(table), text(column), Value::Null, Value::Null]
    };
    let wanted = dictionary.asked.wanted;
    for table in dictionary.tables() {
        let (schema, name) = (&table.def.schema, &table.def.name);
        if !wanted(schema, name)? {
            continue;
        }
        for column in table.def.columns.iter().filter(|column| !table.def.is_hidden(column)) {
            if dictionary.sees_column(&table, &column.name) {
                rows.push(row(schema, name, &column.name))?;
            }
        }
    }
    for view in dictionary.engine.catalog().all_objects(ObjectKind::View) {
        let (schema, name) = (&view.def.schema, &view.def.name);
        for column in crate::attribute::view_column_names(&view.def) {
            if dictionary.sees(Sight::Column(schema, name, &column)) {
                rows.push(row(schema, name, &column))?;
            }
        }
    }
    for (schema, name) in dictionary.computed_tables() {
        let columns = (dictionary.computed.columns)(dictionary.host, schema, &name);
        for column in columns.iter().flatten() {
            rows.push(row(schema, &name, &column.name))?;
        }
    }
    Ok(())
}

/// Adds the keys, which MySQL has here whether they are unique or not. The hidden key of a table
/// without a primary key is among them.
fn constraints(dictionary: &Dictionary<'_>, rows: &mut Rows<'_>) -> Result<()> {
    for table in dictionary.tables() {
        let kept = table.def.kept_indexes.iter().map(|index| index.name.clone());
        let hidden = table.def.primary.is_none().then(|| "PRIMARY".to_owned());
        let names = indexes(&table).into_iter().map(|index| index.name.to_owned());
        for name in hidden.into_iter().chain(names).chain(kept) {
            let mut row = vec![text("def"), text(&table.def.schema), text(&name), text(&table.def.name)];
            row.extend([Value::Null, Value::Null]);
            rows.push(row)?;
        }
    }
    Ok(())
}

/// Adds the tablespaces, one for each table.
fn tablespaces(dictionary: &Dictionary<'_>, rows: &mut Rows<'_>) -> Result<()> {
    for table in all_tables(dictionary)? {
        rows.push(vec![text(&format!("{}/{}", table.def.schema, table.def.name)), Value::Null])?;
    }
    Ok(())
}
