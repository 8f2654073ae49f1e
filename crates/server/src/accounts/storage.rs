//! The tables that hold accounts. They are created at initialisation, read at start and by FLUSH
//! PRIVILEGES, and written by every change.
//!
//! They have MySQL's names and columns, so that tools which read `mysql.user` find what they look
//! for. They are ordinary tables of the engine. The server's own sessions write them, and the
//! binary log has the statement about accounts in place of the rows.

use super::privileges::STATIC;
use super::row::{insert_row, quote};
use super::{Account, AccountName, AccountTable, Privileges, grant_tables, stored};
use crate::internal::row_collector::RowCollector;
use crate::internal::session::InternalSession;
use crate::server::Server;
use sql::admin::AccountsLog;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

/// Creates the tables that do not exist yet.
pub fn create_tables(session: &mut InternalSession) -> sql::Result<()> {
    session.run("CREATE DATABASE IF NOT EXISTS `mysql`")?;
    let flags = |fits: fn(usize) -> bool| {
        let columns = STATIC.iter().enumerate().filter(|(bit, _)| fits(*bit));
        columns.fold(String::new(), |mut all, (_, p)| {
            // Writing to a String cannot fail.
            let _infallible = write!(all, "`{}` ENUM('N','Y') NOT NULL DEFAULT 'N', ", p.column);
            all
        })
    };
    let tail = "ENGINE=InnoDB DEFAULT CHARSET=utf8mb3 COLLATE=utf8mb3_bin";
    session.run(&format!(
        "CREATE TABLE IF NOT EXISTS mysql.global_grants (USER CHAR(32) NOT NULL DEFAULT '', HOST CHAR(255) NOT NULL \
         DEFAULT '', PRIV CHAR(32) NOT NULL DEFAULT '', WITH_GRANT_OPTION ENUM('N','Y') NOT NULL DEFAULT 'N', \
         PRIMARY KEY (USER, HOST, PRIV)) {tail}"
    ))?;
    session.run(&format!(
        "CREATE TABLE IF NOT EXISTS mysql.db (Host CHAR(255) NOT NULL DEFAULT '', Db CHAR(64) NOT NULL DEFAULT '', \
         User CHAR(32) NOT NULL DEFAULT '', {}PRIMARY KEY (Host, User, Db)) {tail}",
        flags(|bit| STATIC[bit].on_schema)
    ))?;
    session.run(&format!(
        "CREATE TABLE IF NOT EXISTS mysql.user (Host CHAR(255) NOT NULL DEFAULT '', User CHAR(32) NOT NULL DEFAULT \
         '', {}{}PRIMARY KEY (Host, User)) {tail}",
        flags(|bit| !stored::is_behind(STATIC[bit].column)),
        stored::columns()
    ))?;
    stored::create(session)?;
    grant_tables::create(session)
}

/// Reads all accounts from the tables and puts them into force.
pub fn load(server: &Arc<Server>) -> sql::Result<()> {
    let mut session = InternalSession::new(server)?;
    let mut accounts = read_users(
        &session
            .rows("SELECT u.*, UNIX_TIMESTAMP(u.password_last_changed) AS changed_s FROM mysql.user u")?,
    );
    let mut with = |user: String, host: String, change: &mut dyn FnMut(&mut Account)| {
        if let Some(account) = accounts.get_mut(&(user, host)) {
            change(account);
        }
    };
    let grants = session.rows("SELECT * FROM mysql.global_grants")?;
    for row in 0..grants.len() {
        let (name, option) = (grants.text(row, "PRIV"), grants.text(row, "WITH_GRANT_OPTION") == "Y");
        with(grants.text(row, "USER"), grants.text(row, "HOST"), &mut |a| {
            a.dynamic.insert(name.clone(), option);
        });
    }
    let schemas = session.rows("SELECT * FROM mysql.db")?;
    for row in 0..schemas.len() {
        let (schema, set) = (schemas.text(row, "Db"), read_flags(&schemas, row));
        with(schemas.text(row, "User"), schemas.text(row, "Host"), &mut |a| {
            a.schemas.insert(schema.clone(), set);
        });
    }
    let tables = session.rows("SELECT * FROM mysql.tables_priv")?;
    for row in 0..tables.len() {
        let place = (tables.text(row, "Db"), tables.text(row, "Table_name"));
        let set = grant_tables::read_list(&tables.text(row, "Table_priv"));
        with(tables.text(row, "User"), tables.text(row, "Host"), &mut |a| {
            if !set.is_empty() {
                a.tables.insert(place.clone(), set);
            }
        });
    }
    grant_tables::load(&mut session, &mut accounts)?;
    stored::read_history(&mut session, |user, host, past| {
        if let Some(account) = accounts.get_mut(&(user, host)) {
            account.attributes.past.push(past);
        }
    })?;
    server.accounts.replace(AccountTable::new(accounts.into_values()));
    server.accounts.forget_passwords();
    // The counters of failed logins and of resources begin anew with the accounts.
    server.accounts.usage.forget_all_failures();
    server.accounts.usage.begin_hour();
    Ok(())
}

fn read_users(rows: &RowCollector) -> BTreeMap<AccountName, Account> {
    let user = |row| {
        let account = Account {
            user: rows.text(row, "User"),
            host: rows.text(row, "Host"),
            plugin: rows.text(row, "plugin"),
            authentication_string: rows.cell(row, "authentication_string").unwrap_or(b"").to_vec(),
            locked: rows.text(row, "account_locked") == "Y",
            password_expired: rows.text(row, "password_expired") == "Y",
            attributes: stored::read(rows, row),
            global: read_flags(rows, row),
            ..Account::default()
        };
        (account.name(), account)
    };
    (0..rows.len()).map(user).collect()
}

fn read_flags(rows: &RowCollector, row: usize) -> Privileges {
    let set = STATIC.iter().enumerate().filter(|(_, p)| rows.cell(row, p.column) == Some(b"Y"));
    set.fold(Privileges::NONE, |all, (bit, _)| all.with(Privileges::of(bit)))
}

/// Writes changed accounts and deletes removed ones. `logged` is the statement and its text for the
/// binary log, which gets it in the same commit. With `None` the binary log gets nothing.
pub fn store(
    server: &Arc<Server>,
    changed: &[Arc<Account>],
    removed: &[AccountName],
    grantor: &str,
    logged: Option<(&AccountsLog<'_>, &str)>,
) -> sql::Result<()> {
    let mut session = InternalSession::new(server)?;
    session.run("BEGIN")?;
    for (user, host) in removed {
        delete(&mut session, user, host)?;
    }
    for account in changed {
        delete(&mut session, &account.user, &account.host)?;
        insert(&mut session, account, grantor)?;
    }
    match logged {
        Some((log, text)) => session.commit_accounts(log, text),
        None => session.run("COMMIT"),
    }
}

fn delete(session: &mut InternalSession, user: &str, host: &str) -> sql::Result<()> {
    let (user_name, host_name) = (user, host);
    let (user, host) = (quote(user.as_bytes()), quote(host.as_bytes()));
    for table in ["user", "db", "tables_priv", "global_grants", "password_history"] {
        let statement = [
            b"DELETE FROM mysql.".as_slice(),
            table.as_bytes(),
            b" WHERE Host = ",
            &host,
            b" AND User = ",
            &user,
        ];
        session.run_bytes(&statement.concat())?;
    }
    grant_tables::delete(session, user_name, host_name)
}

fn insert(session: &mut InternalSession, account: &Account, grantor: &str) -> sql::Result<()> {
    let (user, host) = (account.user.as_bytes(), account.host.as_bytes());
    let mut cells: Vec<(&str, &[u8])> = vec![
        ("Host", host),
        ("User", user),
        ("plugin", account.plugin.as_bytes()),
        ("authentication_string", &account.authentication_string),
        ("password_expired", yes_no(account.password_expired)),
        ("account_locked", yes_no(account.locked)),
    ];
    put_flags(account.global, |_| true, &mut cells);
    insert_row(session, "user", &cells)?;
    stored::write(session, account)?;
    for (name, option) in &account.dynamic {
        let cells = [
            ("USER", user),
            ("HOST", host),
            ("PRIV", name.as_bytes()),
            ("WITH_GRANT_OPTION", yes_no(*option)),
        ];
        insert_row(session, "global_grants", &cells)?;
    }
    for (schema, set) in &account.schemas {
        let mut cells = vec![("Host", host), ("Db", schema.as_bytes()), ("User", user)];
        put_flags(*set, |bit| STATIC[bit].on_schema, &mut cells);
        insert_row(session, "db", &cells)?;
    }
    grant_tables::insert(session, account, grantor)
}

fn put_flags<'a>(set: Privileges, fits: fn(usize) -> bool, cells: &mut Vec<(&'a str, &'a [u8])>) {
    for (bit, privilege) in STATIC.iter().enumerate().filter(|(bit, _)| fits(*bit)) {
        cells.push((privilege.column, yes_no(set.contains(Privileges::of(bit)))));
    }
}

fn yes_no(yes: bool) -> &'static [u8] {
    if yes { b"Y" } else { b"N" }
}
