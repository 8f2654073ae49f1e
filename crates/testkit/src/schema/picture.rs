//! What a server shows of all databases, objects, rows and accounts that a test is about, as texts
//! that can be compared with those of another server.

use std::collections::BTreeMap;

use super::catalog::{Catalog, Name, cells};
use crate::{Flavor, Server};
use protocol::client::{Client, ClientError};

/// The texts, each by the name of what it shows, for instance `rows of walk_a.t0`.
pub type Picture = BTreeMap<String, String>;

/// The queries of information_schema that MySQL and MariaDB both answer: the table, its column with
/// the database's name, and the selected columns.
const INFORMATION: &[(&str, &str, &str)] = &[
    (
        "columns",
        "table_schema",
        "table_name, column_name, ordinal_position, is_nullable, \
         IF(data_type = 'geometrycollection', 'geomcollection', data_type), \
         IF(data_type IN ('uuid', 'inet4', 'inet6'), NULL, character_maximum_length), datetime_precision, character_set_name, collation_name, column_comment",
    ),
    (
        "statistics",
        "table_schema",
        "table_name, index_name, seq_in_index, column_name, non_unique, sub_part, IF(index_type = 'HASH', 'A', collation), \
         IF(index_type = 'HASH', 'BTREE', index_type), index_comment",
    ),
    (
        "tables",
        "table_schema",
        "table_name, table_type, engine, table_collation, IF(table_type = 'VIEW', NULL, table_comment)",
    ),
    ("table_constraints", "constraint_schema", "table_name, constraint_name, constraint_type"),
    (
        "referential_constraints",
        "constraint_schema",
        "table_name, constraint_name, referenced_table_name, REPLACE(update_rule, 'NO ACTION', 'RESTRICT'), \
         REPLACE(delete_rule, 'NO ACTION', 'RESTRICT')",
    ),
    (
        "key_column_usage",
        "constraint_schema",
        "table_name, constraint_name, column_name, ordinal_position, referenced_table_name, referenced_column_name",
    ),
    (
        "partitions",
        "table_schema",
        "table_name, partition_name, subpartition_name, partition_ordinal_position, partition_method, \
         subpartition_method, partition_comment",
    ),
    (
        "events",
        "event_schema",
        "event_name, definer, time_zone, event_definition, event_type, execute_at, interval_value, interval_field, \
         sql_mode, starts, ends, on_completion, event_comment, originator",
    ),
    (
        "routines",
        "routine_schema",
        "routine_name, routine_type, data_type, is_deterministic, sql_data_access, security_type, routine_comment",
    ),
];

/// SQL modes that only MariaDB has, or that both servers have and that have no effect.
const OF_MARIADB: [&str; 15] = [
    "NO_KEY_OPTIONS",
    "NO_TABLE_OPTIONS",
    "NO_FIELD_OPTIONS",
    "NO_AUTO_CREATE_USER",
    "SIMULTANEOUS_ASSIGNMENT",
    "EMPTY_STRING_IS_NULL",
    "TIME_ROUND_FRACTIONAL",
    "TIME_TRUNCATE_FRACTIONAL",
    "POSTGRESQL",
    "ORACLE",
    "MSSQL",
    "MAXDB",
    "DB2",
    "MYSQL323",
    "MYSQL40",
];

/// Returns a row as one line.
fn line(row: &[Option<Vec<u8>>]) -> String {
    let cell = |cell: &Option<Vec<u8>>| match cell.as_deref().map(std::str::from_utf8) {
        None => "NULL".to_string(),
        Some(Ok(text)) => text.to_string(),
        Some(Err(_)) => format!("bytes {}", cell.as_deref().unwrap_or_default().escape_ascii()),
    };
    row.iter().map(cell).collect::<Vec<_>>().join("\t")
}

/// Returns the rows of an answer as text, or the number of its error. `is_sorted` says that the
/// order of the rows matters; otherwise they are sorted here.
fn answer(client: &mut Client, sql: &str, is_sorted: bool) -> Result<String, ClientError> {
    let mut lines: Vec<String> = match client.query(sql) {
        Ok(result) => result.rows.iter().map(|row| line(row)).collect(),
        Err(ClientError::Server(error)) => return Ok(format!("error {}", error.code)),
        Err(error) => return Err(error),
    };
    for line in &mut lines {
        // Some things that only MariaDB has get another name at the replica, or none.
        *line = line.replace("_croatian_mariadb_", "_croatian_");
        for mode in OF_MARIADB {
            *line = line.replace(&format!(",{mode}"), "").replace(mode, "");
        }
    }
    if !is_sorted {
        lines.sort();
    }
    Ok(lines.join("\n"))
}

fn quoted(of: &Name) -> String {
    let quoted = |name: &str| format!("`{}`", name.replace('`', "``"));
    format!("{}.{}", quoted(&of.database), quoted(&of.name))
}

/// Removes the next value of AUTO_INCREMENT from the output of SHOW CREATE TABLE, because failed
/// statements advance it as well.
fn without_next_value(shown: &str) -> String {
    let Some((before, after)) = shown.split_once(" AUTO_INCREMENT=") else { return shown.to_string() };
    format!("{before}{}", after.trim_start_matches(|sign: char| sign.is_ascii_digit()))
}

/// Removes the sql_mode from what SHOW CREATE prints for an object of MariaDB, because the mode has
/// names of MariaDB's own. The quotes of names, which MariaDB chooses by the mode, become
/// backticks.
fn without_mode(shown: &str) -> String {
    let cells: Vec<&str> = shown.split('\t').filter(|cell| !cell.contains("_QUOTES")).collect();
    cells.join("\t").replace('"', "`").replace("``", "`")
}

/// Reports whether a program was made by a session that did not write in utf8mb4, as SHOW CREATE
/// says it.
fn is_of_other_characters(shown: &str) -> bool {
    shown.split('\t').any(|cell| ["latin1", "gbk"].contains(&cell))
}

/// Returns everything that this server shows of the objects, tables and columns that exist at the
/// source.
pub fn picture(server: &Server, catalog: &Catalog, source: Flavor) -> Result<Picture, ClientError> {
    let mut client = server.try_connect()?;
    client.query("SET NAMES utf8mb4")?;
    client.query("SET time_zone = '+00:00', sql_mode = '', lock_wait_timeout = 60")?;
    let (prefix, mut picture) = (&catalog.prefix, Picture::new());
    for (table, schema, columns) in INFORMATION {
        let mut sql = format!(
            "SELECT {schema}, {columns} FROM information_schema.{table} WHERE {schema} LIKE '{prefix}%'"
        );
        if *table == "table_constraints" && source == Flavor::MariaDb {
            // MariaDB's CHECK constraint of a column keeps the former name of a column that was
            // renamed.
            sql += " AND constraint_type <> 'CHECK'";
        }
        if ["columns", "partitions"].contains(table) {
            // Views are not compared: Slipstream has no rows for them in PARTITIONS, and none in
            // COLUMNS for a view whose query it cannot bind.
            for view in &catalog.views {
                let [database, name] = [&view.database, &view.name].map(|name| name.replace('\'', "''"));
                sql += &format!(" AND NOT (table_schema = '{database}' AND table_name = '{name}')");
            }
        }
        picture.insert(format!("information_schema.{table}"), answer(&mut client, &sql, false)?);
    }
    let schemata = format!(
        "SELECT schema_name, default_character_set_name, default_collation_name FROM information_schema.schemata \
         WHERE schema_name LIKE '{prefix}%'"
    );
    picture.insert("databases".to_string(), answer(&mut client, &schemata, false)?);
    let objects = [
        ("VIEW", &catalog.views),
        ("TRIGGER", &catalog.triggers),
        ("PROCEDURE", &catalog.procedures),
        ("FUNCTION", &catalog.functions),
    ];
    for (kind, names) in objects {
        for of in names {
            let mut shown = answer(&mut client, &format!("SHOW CREATE {kind} {}", quoted(of)), true)?;
            if let ("TRIGGER", Some((rest, _made_at))) = (kind, shown.rsplit_once('\t')) {
                shown = rest.to_string();
            }
            if source == Flavor::MariaDb {
                shown = without_mode(&shown);
            }
            if kind != "VIEW" && !shown.is_ascii() && is_of_other_characters(&shown) {
                // The sources store the text of such a program in two character sets at once, and
                // show it wrongly.
                shown = "not shown as it was written".to_string();
            }
            picture.insert(format!("{kind} {}", quoted(of)), shown);
        }
    }
    let names: Vec<Name> = catalog
        .tables
        .iter()
        .map(|table| Name { database: table.database.clone(), name: table.name.clone() })
        .collect();
    if source == Flavor::MySql {
        for of in &names {
            let shown = answer(&mut client, &format!("SHOW CREATE TABLE {}", quoted(of)), true)?;
            picture.insert(format!("TABLE {}", quoted(of)), without_next_value(&shown));
        }
        accounts(&mut client, prefix, &mut picture)?;
    }
    client.query("SET character_set_results = NULL")?;
    for (table, of) in catalog.tables.iter().zip(&names) {
        let columns: Vec<String> =
            table.columns.iter().map(|column| format!("`{}`", column.name.replace('`', "``"))).collect();
        let sql = format!("SELECT {} FROM {}", columns.join(", "), quoted(of));
        picture.insert(format!("rows of {}", quoted(of)), answer(&mut client, &sql, false)?);
    }
    Ok(picture)
}

/// Adds the accounts whose names begin with `prefix`, and their grants.
fn accounts(client: &mut Client, prefix: &str, picture: &mut Picture) -> Result<(), ClientError> {
    client.query("SET print_identified_with_as_hex = 1")?;
    let sql = format!("SELECT user, host FROM mysql.user WHERE user LIKE '{prefix}%' ORDER BY 1, 2");
    picture.insert("accounts".to_string(), answer(client, &sql, true)?);
    for row in cells(client, &sql)? {
        let account = format!("'{}'@'{}'", row[0].replace('\'', "''"), row[1]);
        for shown in [format!("SHOW CREATE USER {account}"), format!("SHOW GRANTS FOR {account}")] {
            let text = answer(client, &shown, false)?;
            picture.insert(shown, text);
        }
    }
    Ok(())
}

/// Returns the first lines in which two pictures differ, each with the name of what it shows.
pub fn differences(theirs: &Picture, ours: &Picture) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let nothing = String::new();
    let keys: std::collections::BTreeSet<&String> = theirs.keys().chain(ours.keys()).collect();
    for key in keys {
        let (source, replica) = (theirs.get(key).unwrap_or(&nothing), ours.get(key).unwrap_or(&nothing));
        // MySQL does not read a table after DISCARD TABLESPACE, which a replica passes over.
        let is_discarded = source == "error 1814";
        if source != replica && !is_discarded {
            let known = |of: &str, in_other: &str| in_other.lines().any(|line| line == of);
            // If both texts have the same lines, only their order differs, and the whole text is
            // shown.
            let same_lines = source.lines().all(|line| known(line, replica))
                && replica.lines().all(|line| known(line, source));
            let only = |of: &str, not: &str| {
                let lines = of.lines().filter(|line| same_lines || !known(line, not));
                let lines = lines.take(if same_lines { 60 } else { 6 });
                lines
                    .map(|line| line.chars().take(600).collect::<String>())
                    .collect::<Vec<_>>()
                    .join("\n    ")
            };
            found.push((
                key.clone(),
                format!(
                    "  source:\n    {}\n  replica:\n    {}",
                    only(source, replica),
                    only(replica, source)
                ),
            ));
        }
    }
    found
}
