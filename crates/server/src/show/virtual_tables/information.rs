//! Tables of information_schema.

use crate::accounts::privileges::STATIC;
use crate::accounts::{Account, Privileges};
use crate::client::connection_host::ConnectionHost;
use crate::show::processlist::{values, visible_processes};
use crate::show::result_table::{number_column, text_column};
use sql::{ComputedRows, ComputedTable, VirtualTable};
use std::sync::Arc;
use types::Value;

pub fn processlist(host: &ConnectionHost) -> ComputedTable<'_> {
    let columns = vec![
        number_column("ID"),
        text_column("USER", 32),
        text_column("HOST", 261),
        text_column("DB", 64),
        text_column("COMMAND", 16),
        number_column("TIME"),
        text_column("STATE", 64),
        text_column("INFO", 65_535),
    ];
    ComputedTable::of_rows(columns, move || {
        visible_processes(host).into_iter().map(|line| values(&line).into())
    })
}

/// The same table in information_schema, whose uses are counted.
pub fn old_processlist(host: &ConnectionHost) -> ComputedTable<'_> {
    host.server().status.note_process_list();
    processlist(host)
}

pub fn plugins(_host: &ConnectionHost) -> ComputedTable<'_> {
    let VirtualTable { columns, rows } = crate::show::plugins::table();
    ComputedTable::of_rows(columns, move || rows)
}

/// Returns the accounts whose privileges a session may see: all accounts, or its own.
fn visible_accounts(host: &ConnectionHost) -> Vec<Arc<Account>> {
    let own = host.account();
    let sees_all = host.may_do_everything()
        || own.allows_schema(Privileges::named("SELECT").unwrap_or_default(), "mysql");
    let table = host.server().accounts.table();
    table.iter().filter(|account| sees_all || account.name() == own.name()).cloned().collect()
}

/// Returns a table about the privileges of accounts. `put` adds the rows of each account.
fn of_accounts<'h>(
    host: &'h ConnectionHost,
    middle: &[&str],
    put: fn(&Account, &mut dyn ComputedRows) -> sql::Result<()>,
) -> ComputedTable<'h> {
    let names = ["GRANTEE", "TABLE_CATALOG"].iter().chain(middle).chain(&["PRIVILEGE_TYPE", "IS_GRANTABLE"]);
    let columns = names.map(|name| text_column(name, 292)).collect();
    ComputedTable::new(columns, move |rows| {
        visible_accounts(host).iter().try_for_each(|account| put(account, rows))
    })
}

/// Returns the first columns of an account's row: the account, the catalog, and the object of the
/// privilege.
fn head(account: &Account, place: &[&str]) -> Vec<Value> {
    let grantee = format!("'{}'@'{}'", account.user, account.host);
    [grantee.as_str(), "def"].iter().chain(place).map(|text| Value::text(text)).collect()
}

/// Adds one row for each privilege of a set, or a row with USAGE for an empty set.
fn put_privileges(set: Privileges, head: &[Value], rows: &mut dyn ComputedRows) -> sql::Result<()> {
    let option = if set.contains(Privileges::grant_option()) { "YES" } else { "NO" };
    let mut put = |name: &str| {
        let mut row = head.to_vec();
        row.extend([Value::text(name), Value::text(option)]);
        rows.put(row)
    };
    let plain = set.without(Privileges::grant_option());
    if plain.is_empty() {
        return put("USAGE");
    }
    let held = STATIC.iter().enumerate().filter(|(bit, _)| plain.contains(Privileges::of(*bit)));
    held.map(|(_, privilege)| privilege.name).try_for_each(put)
}

pub fn user_privileges(host: &ConnectionHost) -> ComputedTable<'_> {
    of_accounts(host, &[], |account, rows| {
        let head = head(account, &[]);
        put_privileges(account.global, &head, rows)?;
        for (name, option) in &account.dynamic {
            let mut row = head.clone();
            row.extend([name.as_str(), if *option { "YES" } else { "NO" }].map(Value::text));
            rows.put(row)?;
        }
        Ok(())
    })
}

pub fn schema_privileges(host: &ConnectionHost) -> ComputedTable<'_> {
    of_accounts(host, &["TABLE_SCHEMA"], |account, rows| {
        let mut schemas = account.schemas.iter();
        schemas.try_for_each(|(schema, set)| put_privileges(*set, &head(account, &[schema]), rows))
    })
}

pub fn table_privileges(host: &ConnectionHost) -> ComputedTable<'_> {
    of_accounts(host, &["TABLE_SCHEMA", "TABLE_NAME"], |account, rows| {
        let mut tables = account.tables.iter();
        tables.try_for_each(|((schema, table), set)| {
            put_privileges(*set, &head(account, &[schema, table]), rows)
        })
    })
}

pub fn column_privileges(host: &ConnectionHost) -> ComputedTable<'_> {
    of_accounts(host, &["TABLE_SCHEMA", "TABLE_NAME", "COLUMN_NAME"], |account, rows| {
        for ((schema, table), columns) in &account.columns {
            let option = account.on_table_itself(schema, table).common(Privileges::grant_option());
            for (column, set) in columns {
                put_privileges(set.with(option), &head(account, &[schema, table, column]), rows)?;
            }
        }
        Ok(())
    })
}
