//! The databases of a server whose names begin with a prefix, and everything in them, as
//! information_schema lists it.

use protocol::client::{Client, ClientError};

/// A column, with what statements about it need to know.
#[derive(Clone, Debug)]
pub struct Column {
    /// The name of the column.
    pub name: String,
    /// The class of its type, which is part of the names of the grammar rules for its values and
    /// attributes.
    pub class: &'static str,
    /// Whether the column is generated, so that nothing may be written to it.
    pub is_generated: bool,
}

/// A base table.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// The name of its database.
    pub database: String,
    /// The name of the table.
    pub name: String,
    /// The columns, in their order.
    pub columns: Vec<Column>,
    /// The names of its indexes.
    pub keys: Vec<String>,
    /// The names of its CHECK constraints and foreign keys.
    pub constraints: Vec<String>,
    /// The names of its partitions that statements may choose, with `none` for each that they may
    /// not choose.
    pub partitions: Vec<String>,
}

/// The name of an object, with that of its database.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name {
    /// The name of the database.
    pub database: String,
    /// The name of the object in it.
    pub name: String,
}

/// Everything in the databases whose names begin with a prefix.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    /// The prefix of the databases' names.
    pub prefix: String,
    /// The names of the databases.
    pub databases: Vec<String>,
    /// The base tables.
    pub tables: Vec<Table>,
    /// The names of the views.
    pub views: Vec<Name>,
    /// The names of the triggers.
    pub triggers: Vec<Name>,
    /// The names of the procedures.
    pub procedures: Vec<Name>,
    /// The names of the stored functions.
    pub functions: Vec<Name>,
    /// The names of the events.
    pub events: Vec<Name>,
}

/// Returns the class of a data type.
fn class_of(data_type: &str) -> &'static str {
    match data_type {
        "tinyint" | "smallint" | "mediumint" | "int" | "bigint" => "int",
        "decimal" => "dec",
        "float" | "double" => "float",
        "bit" => "bit",
        "date" => "date",
        "datetime" => "datetime",
        "timestamp" => "timestamp",
        "time" => "time",
        "year" => "year",
        "char" | "varchar" => "char",
        "tinytext" | "text" | "mediumtext" | "longtext" => "text",
        "binary" | "varbinary" => "bin",
        "tinyblob" | "blob" | "mediumblob" | "longblob" => "blob",
        "enum" => "enum",
        "set" => "set",
        "json" => "json",
        "uuid" => "uuid",
        "inet4" | "inet6" => "inet",
        "vector" => "vector",
        _ => "geo",
    }
}

/// Returns the cells of a query's rows as text. NULL is an empty text.
pub fn cells(client: &mut Client, sql: &str) -> Result<Vec<Vec<String>>, ClientError> {
    let text =
        |cell: &Option<Vec<u8>>| String::from_utf8_lossy(cell.as_deref().unwrap_or_default()).into_owned();
    Ok(client.query(sql)?.rows.iter().map(|row| row.iter().map(text).collect()).collect())
}

impl Catalog {
    /// Reads what is in the databases whose names begin with `prefix`.
    pub fn read(client: &mut Client, prefix: &str) -> Result<Catalog, ClientError> {
        let schema = "information_schema";
        let of = |column: &str| format!("WHERE {column} LIKE '{prefix}%' ORDER BY 1, 2");
        let mut names = |what: &str, from: &str, condition: &str| -> Result<Vec<Name>, ClientError> {
            let (database, name) = what.split_once(' ').expect("two columns");
            let sql = format!(
                "SELECT {database}, {name} FROM {schema}.{from} WHERE {database} LIKE '{prefix}%' {condition} \
                 ORDER BY 1, 2"
            );
            let rows = cells(client, &sql)?;
            Ok(rows.into_iter().map(|row| Name { database: row[0].clone(), name: row[1].clone() }).collect())
        };
        let mut catalog = Catalog {
            prefix: prefix.to_string(),
            databases: Vec::new(),
            tables: Vec::new(),
            views: names("table_schema table_name", "tables", "AND table_type = 'VIEW'")?,
            triggers: names("trigger_schema trigger_name", "triggers", "")?,
            procedures: names("routine_schema routine_name", "routines", "AND routine_type = 'PROCEDURE'")?,
            functions: names("routine_schema routine_name", "routines", "AND routine_type = 'FUNCTION'")?,
            events: names("event_schema event_name", "events", "")?,
        };
        let of_tables = names("table_schema table_name", "tables", "AND table_type = 'BASE TABLE'")?;
        let schemata = format!("SELECT schema_name, 1 FROM {schema}.schemata {}", of("schema_name"));
        catalog.databases = cells(client, &schemata)?.into_iter().map(|row| row[0].clone()).collect();
        catalog.tables = of_tables
            .into_iter()
            .map(|of| Table { database: of.database, name: of.name, ..Table::default() })
            .collect();
        let mut each = |columns: &str, from: &str, rest: &str, put: &dyn Fn(&mut Table, &[String])| {
            let sql = format!(
                "SELECT table_schema, table_name, {columns} FROM {schema}.{from} \
                 WHERE table_schema LIKE '{prefix}%' {rest}"
            );
            for row in cells(client, &sql)? {
                let is_it = |table: &&mut Table| table.database == row[0] && table.name == row[1];
                if let Some(table) = catalog.tables.iter_mut().find(is_it) {
                    put(table, &row[2..]);
                }
            }
            Ok::<(), ClientError>(())
        };
        let column = "column_name, data_type, extra, generation_expression";
        each(column, "columns", "ORDER BY ordinal_position", &|table, row| {
            let is_generated = !row[3].is_empty();
            table.columns.push(Column { name: row[0].clone(), class: class_of(&row[1]), is_generated });
        })?;
        each("index_name", "statistics", "AND seq_in_index = 1 ORDER BY 3", &|table, row| {
            table.keys.push(row[0].clone());
        })?;
        let rest = "AND constraint_type IN ('CHECK', 'FOREIGN KEY') ORDER BY 3";
        each("constraint_name", "table_constraints", rest, &|table, row| {
            table.constraints.push(row[0].clone());
        })?;
        let rest = "AND partition_name IS NOT NULL ORDER BY partition_ordinal_position";
        each("partition_name, partition_method", "partitions", rest, &|table, row| {
            // Slipstream does not choose rows by partitions of KEY (error 1235).
            let name = if row[1].contains("KEY") { "none" } else { &row[0] };
            table.partitions.push(name.to_string());
        })?;
        Ok(catalog)
    }
}
