//! The grants on tables, columns and routines of a session's enabled roles: information_schema's
//! ROLE_TABLE_GRANTS, ROLE_COLUMN_GRANTS and ROLE_ROUTINE_GRANTS.

use crate::accounts::AccountName;
use crate::client::connection_host::ConnectionHost;
use crate::internal::row_collector::RowCollector;
use crate::internal::session::InternalSession;
use crate::show::result_table::{text_column, text_or_null};
use sql::ComputedTable;
use types::Value;

/// The first columns of all three tables: the grantor and the role, with their widths in
/// characters.
const HEAD: [(&str, u32); 4] =
    [("GRANTOR", 97), ("GRANTOR_HOST", 256), ("GRANTEE", 32), ("GRANTEE_HOST", 255)];

const CATALOG: &str = "def";

/// One of the three tables.
struct Listed {
    /// The query that reads the stored grants with their grantors.
    query: &'static str,
    /// The stored column that holds the privileges.
    privileges: &'static str,
    /// The columns that name the object: their names, and the stored columns that they show.
    places: &'static [(&'static str, &'static str)],
}

const TABLES: Listed = Listed {
    query: "SELECT User, Host, Db, Table_name, Grantor, Table_priv, Table_priv AS Of_table FROM mysql.tables_priv",
    privileges: "Table_priv",
    places: &[("TABLE_CATALOG", CATALOG), ("TABLE_SCHEMA", "Db"), ("TABLE_NAME", "Table_name")],
};

const COLUMNS: Listed = Listed {
    query: "SELECT c.User, c.Host, c.Db, c.Table_name, c.Column_name, t.Grantor, c.Column_priv, t.Table_priv AS \
            Of_table FROM mysql.columns_priv c JOIN mysql.tables_priv t ON t.Host = c.Host AND t.User = c.User AND \
            t.Db = c.Db AND t.Table_name = c.Table_name",
    privileges: "Column_priv",
    places: &[
        ("TABLE_CATALOG", CATALOG),
        ("TABLE_SCHEMA", "Db"),
        ("TABLE_NAME", "Table_name"),
        ("COLUMN_NAME", "Column_name"),
    ],
};

const ROUTINES: Listed = Listed {
    query: "SELECT User, Host, Db, Routine_name, Grantor, Proc_priv, Proc_priv AS Of_table FROM mysql.procs_priv",
    privileges: "Proc_priv",
    places: &[
        ("SPECIFIC_CATALOG", CATALOG),
        ("SPECIFIC_SCHEMA", "Db"),
        ("SPECIFIC_NAME", "Routine_name"),
        ("ROUTINE_CATALOG", CATALOG),
        ("ROUTINE_SCHEMA", "Db"),
        ("ROUTINE_NAME", "Routine_name"),
    ],
};

pub fn tables(host: &ConnectionHost) -> ComputedTable<'_> {
    list(host, &TABLES)
}

pub fn columns(host: &ConnectionHost) -> ComputedTable<'_> {
    list(host, &COLUMNS)
}

pub fn routines(host: &ConnectionHost) -> ComputedTable<'_> {
    list(host, &ROUTINES)
}

fn list<'h>(host: &'h ConnectionHost, listed: &'static Listed) -> ComputedTable<'h> {
    let head = HEAD.iter().map(|(name, chars)| text_column(name, *chars));
    let places = listed.places.iter().map(|(name, _)| text_column(name, 64));
    let tail = [text_column("PRIVILEGE_TYPE", 255), text_column("IS_GRANTABLE", 3)];
    let columns = head.chain(places).chain(tail).collect();
    ComputedTable::new(columns, move |rows| {
        let roles = host.active_roles();
        if roles.is_empty() {
            return Ok(());
        }
        let stored = InternalSession::new(host.server())?.rows(listed.query)?;
        for at in 0..stored.len() {
            let grantee: AccountName = (stored.text(at, "User"), stored.text(at, "Host"));
            if roles.contains(&grantee) && !stored.text(at, listed.privileges).is_empty() {
                rows.put(row(&stored, at, listed))?;
            }
        }
        Ok(())
    })
}

fn row(stored: &RowCollector, at: usize, listed: &Listed) -> Vec<Value> {
    let grantor = stored.text(at, "Grantor");
    let (user, grantor_host) = match grantor.rsplit_once('@') {
        Some((user, host)) => (Some(user), Some(host)),
        None => (None, None),
    };
    let mut cells = vec![
        text_or_null(user),
        text_or_null(grantor_host),
        Value::text(&stored.text(at, "User")),
        Value::text(&stored.text(at, "Host")),
    ];
    cells.extend(listed.places.iter().map(|(_, column)| match *column {
        CATALOG => Value::text(CATALOG),
        column => Value::text(&stored.text(at, column)),
    }));
    let is_grantable = stored.text(at, "Of_table").split(',').any(|name| name == "Grant");
    cells.push(Value::text(&stored.text(at, listed.privileges)));
    cells.push(Value::text(if is_grantable { "YES" } else { "NO" }));
    cells
}
