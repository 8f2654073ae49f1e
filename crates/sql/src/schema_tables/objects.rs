//! The tables of information_schema about schemas, tables, engines, character sets and collations.

use super::declared::find as declared;
use super::definition::{Definition, Dictionary, Rows};
use crate::error::Result;
use crate::host::Sight;
use engine::{Engine, Table};
use types::collation::{self, Charset};
use types::{DateTime, Value, Zone};

pub(super) const TABLES: &[Definition] = &[
    Definition { name: "SCHEMATA", fill: schemata },
    Definition { name: "TABLES", fill: tables },
    Definition { name: "ENGINES", fill: |_, rows| rows.push(engine_row()) },
    Definition { name: "CHARACTER_SETS", fill: |_, rows| rows.extend(character_sets()) },
    Definition { name: "COLLATIONS", fill: |_, rows| rows.extend(collations()) },
    Definition {
        name: "COLLATION_CHARACTER_SET_APPLICABILITY",
        fill: |_, rows| rows.extend(collations().into_iter().map(|row| row[..2].to_vec())),
    },
];

fn text(text: &str) -> Value {
    Value::text(text)
}

/// Returns the names of the schemas that the account may see, in order.
pub(super) fn schema_names(dictionary: &Dictionary<'_>) -> Vec<String> {
    let mut names = dictionary.engine.catalog().schemas();
    for virtual_schema in ["information_schema", "performance_schema"] {
        if !names.iter().any(|name| name == virtual_schema) {
            names.push(virtual_schema.to_owned());
        }
    }
    names.sort();
    names.retain(|name| dictionary.sees(Sight::Schema(name)));
    names
}

fn schemata(dictionary: &Dictionary<'_>, rows: &mut Rows<'_>) -> Result<()> {
    let catalog = dictionary.engine.catalog();
    for name in schema_names(dictionary) {
        let id = catalog.schema(&name).map_or(collation::UTF8MB3_GENERAL_CI, |schema| schema.collation);
        rows.push(vec![
            text("def"),
            text(&name),
            text(collation::charset_of(id).name()),
            text(collation::name(id)),
            Value::Null,
            text("NO"),
        ])?;
    }
    Ok(())
}

/// Returns the values of TABLES and SHOW TABLE STATUS for a table, from the column ENGINE on.
pub(crate) fn status_of(engine: &Engine, table: &Table) -> Vec<Value> {
    let figures = engine.table_figures(table);
    let created = DateTime::from_unix(table.def.created_s as i64, 0, Zone::UTC);
    let row_format = table
        .def
        .options
        .iter()
        .find(|(name, value)| {
            name.eq_ignore_ascii_case("ROW_FORMAT") && !value.eq_ignore_ascii_case("DEFAULT")
        })
        .map_or("Dynamic".to_owned(), |(_, value)| value[..1].to_uppercase() + &value[1..].to_lowercase());
    let average = figures.data_bytes.checked_div(figures.rows).unwrap_or(0);
    let auto_increment = match table.def.auto_increment_column() {
        Some(_) => Value::UInt(figures.next_auto_increment.max(1)),
        None => Value::Null,
    };
    let partitioned = table.def.partitioning.iter().map(|_| "partitioned".to_owned());
    let options =
        table.def.options.iter().filter(|(name, _)| name != crate::attribute::ENGINE).map(|(name, value)| {
            match name.as_str() {
                "KEY_BLOCK_SIZE" => format!("{name}={value}"),
                _ => format!("{}={value}", name.to_lowercase()),
            }
        });
    vec![
        text(crate::show::engine_of(&table.def)),
        Value::UInt(10),
        text(&row_format),
        Value::UInt(figures.rows),
        Value::UInt(average),
        Value::UInt(figures.data_bytes),
        Value::UInt(0),
        Value::UInt(figures.index_bytes),
        Value::UInt(figures.free_bytes),
        auto_increment,
        Value::DateTime(created),
        Value::Null,
        Value::Null,
        text(collation::name(table.def.collation)),
        Value::Null,
        text(&options.chain(partitioned).collect::<Vec<_>>().join(" ")),
        text(&table.def.comment),
    ]
}

/// Returns the value of TABLE_TYPE for a table.
pub(crate) fn table_type(def: &engine::TableDef) -> &'static str {
    match def.temporal.versioning {
        _ if def.is_sequence() => "SEQUENCE",
        Some(_) => "SYSTEM VERSIONED",
        None => "BASE TABLE",
    }
}

fn tables(dictionary: &Dictionary<'_>, rows: &mut Rows<'_>) -> Result<()> {
    let row = |table: &std::sync::Arc<Table>| {
        let mut row =
            vec![text("def"), text(&table.def.schema), text(&table.def.name), text(table_type(&table.def))];
        row.extend(status_of(dictionary.engine, table));
        row
    };
    rows.extend(dictionary.tables().iter().map(row))?;
    for view in dictionary.engine.catalog().all_objects(engine::ObjectKind::View) {
        let def = &view.def;
        if dictionary.sees(Sight::Table(&def.schema, &def.name)) {
            let mut row = vec![text("def"), text(&def.schema), text(&def.name), text("VIEW")];
            row.extend(status_of_view(def));
            rows.push(row)?;
        }
    }
    dictionary
        .computed_tables()
        .into_iter()
        .try_for_each(|(schema, name)| rows.push(computed_row(schema, &name)))
}

/// Returns the row of TABLES of a table that is computed when it is read.
fn computed_row(schema: &str, name: &str) -> Vec<Value> {
    let is_view = schema == "information_schema";
    let (kind, engine, format, collation) = match is_view {
        true => ("SYSTEM VIEW", Value::Null, Value::Null, Value::Null),
        false => {
            let declared = declared(schema, name);
            let collation = declared.map_or("utf8mb4_0900_ai_ci", |declared| declared.collation);
            let format = declared.map_or("Dynamic", |declared| declared.row_format());
            ("BASE TABLE", text("PERFORMANCE_SCHEMA"), text(format), text(collation))
        }
    };
    let zero = || Value::UInt(0);
    let mut row = vec![text("def"), text(schema), text(name), text(kind), engine, Value::UInt(10), format];
    row.extend([zero(), zero(), zero(), zero(), zero(), zero()]);
    row.extend([Value::Null, Value::Null, Value::Null, Value::Null, collation, Value::Null]);
    row.extend([text(""), text("")]);
    row
}

/// Returns the values of TABLES and SHOW TABLE STATUS for a view, from the column ENGINE on.
pub(crate) fn status_of_view(def: &engine::ObjectDef) -> Vec<Value> {
    let mut values = vec![Value::Null; 17];
    values[10] = if def.of_mariadb { Value::Null } else { super::stored::seconds(def.created_us) };
    values[16] = text("VIEW");
    values
}

/// Returns the row of the only storage engine, under the name that clients ask for.
pub(crate) fn engine_row() -> Vec<Value> {
    vec![
        text("InnoDB"),
        text("DEFAULT"),
        text("Supports transactions, row-level locking, and foreign keys"),
        text("YES"),
        text("YES"),
        text("YES"),
    ]
}

pub(crate) fn character_sets() -> Vec<Vec<Value>> {
    let row = |charset: Charset| {
        vec![
            text(charset.name()),
            text(collation::name(charset.default_collation())),
            text(charset.description()),
            Value::UInt(u64::from(charset.max_bytes_per_char())),
        ]
    };
    Charset::all().into_iter().map(row).collect()
}

pub(crate) fn collations() -> Vec<Vec<Value>> {
    let row = |collation: &collation::Collation| {
        vec![
            text(collation.name),
            text(collation.charset.name()),
            Value::UInt(u64::from(collation.id)),
            text(if collation.is_default() { "Yes" } else { "" }),
            text("Yes"),
            Value::UInt(u64::from(collation.sort_len)),
            text(if collation.pads_space() { "PAD SPACE" } else { "NO PAD" }),
        ]
    };
    collation::all().iter().map(row).collect()
}
