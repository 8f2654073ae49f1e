//! The tables of privileges on tables, columns and routines, of roles and of proxies, with MySQL
//! 9.7's columns.

use super::row::{insert_row, quote};
use super::{Account, AccountName, Privileges, RoutineName};
use crate::internal::row_collector::RowCollector;
use crate::internal::session::InternalSession;
use std::collections::BTreeMap;

const TAIL: &str = "ENGINE=InnoDB DEFAULT CHARSET=utf8mb3 COLLATE=utf8mb3_bin";
const HOST: &str = "CHAR(255) CHARACTER SET ascii COLLATE ascii_general_ci NOT NULL DEFAULT ''";
const NAME: &str = "CHAR(64) NOT NULL DEFAULT ''";
const USER: &str = "CHAR(32) NOT NULL DEFAULT ''";
const CHANGED: &str = "TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP";
const GENERAL: &str = "CHARACTER SET utf8mb3 COLLATE utf8mb3_general_ci";
const TABLE_SET: &str = "SET('Select','Insert','Update','Delete','Create','Drop','Grant','References','Index','Alter',\
                         'Create View','Show view','Trigger')";
const COLUMN_SET: &str = "SET('Select','Insert','Update','References')";

/// The tables that belong to an account, each with the columns of the account's host and user.
pub const OF_ACCOUNTS: &[(&str, &str, &str)] = &[
    ("columns_priv", "Host", "User"),
    ("procs_priv", "Host", "User"),
    ("proxies_priv", "Host", "User"),
    ("role_edges", "TO_HOST", "TO_USER"),
    ("default_roles", "HOST", "USER"),
];

/// Creates the tables that do not exist yet, and upgrades `mysql.tables_priv` of an earlier
/// version.
pub fn create(session: &mut InternalSession) -> sql::Result<()> {
    for (table, columns) in [
        (
            "tables_priv",
            format!(
                "Host {HOST}, Db {NAME}, User {USER}, Table_name {NAME}, Grantor VARCHAR(288) NOT NULL DEFAULT '', \
                 Timestamp {CHANGED}, Table_priv {TABLE_SET} {GENERAL} NOT NULL DEFAULT '', Column_priv {COLUMN_SET} \
                 {GENERAL} NOT NULL DEFAULT '', PRIMARY KEY (Host, User, Db, Table_name), KEY Grantor (Grantor)"
            ),
        ),
        (
            "columns_priv",
            format!(
                "Host {HOST}, Db {NAME}, User {USER}, Table_name {NAME}, Column_name {NAME}, Timestamp {CHANGED}, \
                 Column_priv {COLUMN_SET} {GENERAL} NOT NULL DEFAULT '', \
                 PRIMARY KEY (Host, User, Db, Table_name, Column_name)"
            ),
        ),
        (
            "procs_priv",
            format!(
                "Host {HOST}, Db {NAME}, User {USER}, Routine_name CHAR(64) {GENERAL} NOT NULL DEFAULT '', \
                 Routine_type ENUM('FUNCTION','PROCEDURE','LIBRARY') NOT NULL, Grantor VARCHAR(288) NOT NULL DEFAULT \
                 '', Proc_priv SET('Execute','Alter Routine','Grant') {GENERAL} NOT NULL DEFAULT '', Timestamp \
                 {CHANGED}, PRIMARY KEY (Host, User, Db, Routine_name, Routine_type), KEY Grantor (Grantor)"
            ),
        ),
        (
            "role_edges",
            format!(
                "FROM_HOST {HOST}, FROM_USER {USER}, TO_HOST {HOST}, TO_USER {USER}, WITH_ADMIN_OPTION ENUM('N','Y') \
                 {GENERAL} NOT NULL DEFAULT 'N', PRIMARY KEY (FROM_HOST, FROM_USER, TO_HOST, TO_USER)"
            ),
        ),
        (
            "default_roles",
            format!(
                "HOST {HOST}, USER {USER}, DEFAULT_ROLE_HOST CHAR(255) CHARACTER SET ascii COLLATE ascii_general_ci \
                 NOT NULL DEFAULT '%', DEFAULT_ROLE_USER {USER}, \
                 PRIMARY KEY (HOST, USER, DEFAULT_ROLE_HOST, DEFAULT_ROLE_USER)"
            ),
        ),
        (
            "proxies_priv",
            format!(
                "Host {HOST}, User {USER}, Proxied_host {HOST}, Proxied_user {USER}, With_grant TINYINT(1) NOT NULL \
                 DEFAULT '0', Grantor VARCHAR(288) NOT NULL DEFAULT '', Timestamp {CHANGED}, \
                 PRIMARY KEY (Host, User, Proxied_host, Proxied_user), KEY Grantor (Grantor)"
            ),
        ),
    ] {
        session.run(&format!("CREATE TABLE IF NOT EXISTS mysql.{table} ({columns}) {TAIL}"))?;
    }
    upgrade(session)
}

/// Upgrades `mysql.tables_priv` from an earlier version, which had all names in one column. Each
/// step may be repeated.
fn upgrade(session: &mut InternalSession) -> sql::Result<()> {
    if !has_column(session, "tables_priv", "Column_priv")? {
        session.run(
            "UPDATE mysql.tables_priv SET Table_priv = REPLACE(REPLACE(Table_priv, ', ', ','), 'GRANT OPTION', \
             'Grant')",
        )?;
        session.run(&format!(
            "ALTER TABLE mysql.tables_priv ADD COLUMN Timestamp {CHANGED} AFTER Grantor, MODIFY COLUMN Table_priv \
             {TABLE_SET} {GENERAL} NOT NULL DEFAULT '', ADD COLUMN Column_priv {COLUMN_SET} {GENERAL} NOT NULL \
             DEFAULT ''"
        ))?;
    }
    Ok(())
}

fn has_column(session: &mut InternalSession, table: &str, column: &str) -> sql::Result<bool> {
    let found = session.rows(&format!(
        "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'mysql' AND TABLE_NAME = '{table}' \
         AND COLUMN_NAME = '{column}'"
    ))?;
    Ok(!found.is_empty())
}

/// Reads the contents of these tables into the accounts.
pub fn load(session: &mut InternalSession, accounts: &mut BTreeMap<AccountName, Account>) -> sql::Result<()> {
    let columns = session.rows("SELECT * FROM mysql.columns_priv")?;
    each(&columns, accounts, ("User", "Host"), |a, row| {
        let place = (columns.text(row, "Db"), columns.text(row, "Table_name"));
        let set = read_list(&columns.text(row, "Column_priv"));
        a.columns.entry(place).or_default().insert(columns.text(row, "Column_name"), set);
    });
    let routines = session.rows("SELECT * FROM mysql.procs_priv")?;
    each(&routines, accounts, ("User", "Host"), |a, row| {
        let is_function = routines.text(row, "Routine_type") == "FUNCTION";
        let (schema, name) = (routines.text(row, "Db"), routines.text(row, "Routine_name"));
        let set = read_list(&routines.text(row, "Proc_priv"));
        if !set.is_empty() && routines.text(row, "Routine_type") != "LIBRARY" {
            a.routines.insert(RoutineName::new(is_function, &schema, &name), set);
        }
    });
    let edges = session.rows("SELECT * FROM mysql.role_edges")?;
    each(&edges, accounts, ("TO_USER", "TO_HOST"), |a, row| {
        let role = (edges.text(row, "FROM_USER"), edges.text(row, "FROM_HOST"));
        a.roles.insert(role, edges.text(row, "WITH_ADMIN_OPTION") == "Y");
    });
    let defaults = session.rows("SELECT * FROM mysql.default_roles")?;
    each(&defaults, accounts, ("USER", "HOST"), |a, row| {
        a.default_roles
            .insert((defaults.text(row, "DEFAULT_ROLE_USER"), defaults.text(row, "DEFAULT_ROLE_HOST")));
    });
    let proxies = session.rows("SELECT * FROM mysql.proxies_priv")?;
    each(&proxies, accounts, ("User", "Host"), |a, row| {
        let proxied = (proxies.text(row, "Proxied_user"), proxies.text(row, "Proxied_host"));
        a.proxied.insert(proxied, proxies.text(row, "With_grant") != "0");
    });
    let attributes = session.rows("SELECT User, Host, User_attributes FROM mysql.user")?;
    each(&attributes, accounts, ("User", "Host"), |a, row| {
        a.restrictions = super::restrictions::read(&attributes.text(row, "User_attributes"));
    });
    Ok(())
}

/// Calls `take` for each row with the account that it belongs to. Rows of accounts that do not
/// exist are left alone.
fn each(
    rows: &RowCollector,
    accounts: &mut BTreeMap<AccountName, Account>,
    (user, host): (&str, &str),
    mut take: impl FnMut(&mut Account, usize),
) {
    for row in 0..rows.len() {
        if let Some(account) = accounts.get_mut(&(rows.text(row, user), rows.text(row, host))) {
            take(account, row);
        }
    }
}

/// Reads a stored set: names separated by commas, with `Grant` for GRANT OPTION. An earlier version
/// put spaces behind the commas.
pub fn read_list(text: &str) -> Privileges {
    let named = text.split(',').filter_map(|name| match name.trim().to_ascii_uppercase().as_str() {
        "GRANT" => Some(Privileges::grant_option()),
        name => Privileges::named(name),
    });
    named.fold(Privileges::NONE, Privileges::with)
}

/// Removes the rows of an account.
pub fn delete(session: &mut InternalSession, user: &str, host: &str) -> sql::Result<()> {
    for (table, host_column, user_column) in OF_ACCOUNTS {
        let head = format!("DELETE FROM mysql.{table} WHERE {host_column} = ").into_bytes();
        let middle = format!(" AND {user_column} = ").into_bytes();
        session.run_bytes(&[head, quote(host.as_bytes()), middle, quote(user.as_bytes())].concat())?;
    }
    Ok(())
}

/// Adds the rows of an account that is in `mysql.user` already.
pub fn insert(session: &mut InternalSession, account: &Account, grantor: &str) -> sql::Result<()> {
    let (user, host) = (account.user.as_bytes(), account.host.as_bytes());
    let mut places: Vec<&(String, String)> = account.tables.keys().chain(account.columns.keys()).collect();
    places.sort();
    places.dedup();
    for place in places {
        let on_table = account.tables.get(place).copied().unwrap_or_default().names().join(",");
        let on_columns = account.on_columns_of(&place.0, &place.1).names().join(",");
        let cells = [
            ("Host", host),
            ("Db", place.0.as_bytes()),
            ("User", user),
            ("Table_name", place.1.as_bytes()),
            ("Grantor", grantor.as_bytes()),
            ("Table_priv", on_table.as_bytes()),
            ("Column_priv", on_columns.as_bytes()),
        ];
        insert_row(session, "tables_priv", &cells)?;
    }
    for ((schema, table), columns) in &account.columns {
        for (column, set) in columns {
            let set = set.names().join(",");
            let cells = [
                ("Host", host),
                ("Db", schema.as_bytes()),
                ("User", user),
                ("Table_name", table.as_bytes()),
                ("Column_name", column.as_bytes()),
                ("Column_priv", set.as_bytes()),
            ];
            insert_row(session, "columns_priv", &cells)?;
        }
    }
    for (routine, set) in &account.routines {
        let kind = if routine.is_function { "FUNCTION" } else { "PROCEDURE" };
        let set = set.names().join(",");
        let cells = [
            ("Host", host),
            ("Db", routine.schema.as_bytes()),
            ("User", user),
            ("Routine_name", routine.name.as_bytes()),
            ("Routine_type", kind.as_bytes()),
            ("Grantor", grantor.as_bytes()),
            ("Proc_priv", set.as_bytes()),
        ];
        insert_row(session, "procs_priv", &cells)?;
    }
    insert_roles(session, account)?;
    for ((proxied_user, proxied_host), option) in &account.proxied {
        let cells = [
            ("Host", host),
            ("User", user),
            ("Proxied_host", proxied_host.as_bytes()),
            ("Proxied_user", proxied_user.as_bytes()),
            ("With_grant", if *option { b"1".as_slice() } else { b"0" }),
            ("Grantor", grantor.as_bytes()),
        ];
        insert_row(session, "proxies_priv", &cells)?;
    }
    Ok(())
}

fn insert_roles(session: &mut InternalSession, account: &Account) -> sql::Result<()> {
    let (user, host) = (account.user.as_bytes(), account.host.as_bytes());
    for ((role_user, role_host), admin) in &account.roles {
        let cells = [
            ("FROM_HOST", role_host.as_bytes()),
            ("FROM_USER", role_user.as_bytes()),
            ("TO_HOST", host),
            ("TO_USER", user),
            ("WITH_ADMIN_OPTION", if *admin { b"Y".as_slice() } else { b"N" }),
        ];
        insert_row(session, "role_edges", &cells)?;
    }
    for (role_user, role_host) in &account.default_roles {
        let cells = [
            ("HOST", host),
            ("USER", user),
            ("DEFAULT_ROLE_HOST", role_host.as_bytes()),
            ("DEFAULT_ROLE_USER", role_user.as_bytes()),
        ];
        insert_row(session, "default_roles", &cells)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_read_as_this_and_earlier_versions_wrote_them() {
        let set = ["SELECT", "CREATE VIEW", "GRANT OPTION"].into_iter().filter_map(Privileges::named);
        let set = set.fold(Privileges::NONE, Privileges::with);
        assert_eq!(read_list("Select,Grant,Create View"), set);
        assert_eq!(read_list("SELECT, GRANT OPTION, CREATE VIEW"), set);
        assert_eq!(read_list(&set.names().join(",")), set);
        assert_eq!(read_list(""), Privileges::NONE);
    }
}
