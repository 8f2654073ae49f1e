//! Tables of information_schema.

use crate::accounts::privileges::STATIC;
use crate::accounts::{Account, Privileges};
use crate::client::connection_host::ConnectionHost;
use crate::server::sessions::activity_name;
use crate::show::processlist::{state_of, visible_processes};
use crate::show::result_table::{number_column, text_column, text_or_null};
use sql::VirtualTable;
use types::Value;

pub fn processlist(host: &ConnectionHost) -> VirtualTable {
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
    let row = |line: crate::server::sessions::ProcessLine| {
        vec![
            Value::UInt(line.id.into()),
            Value::text(&line.shown.user),
            Value::text(&line.shown.host),
            text_or_null(line.shown.schema.as_deref()),
            Value::text(activity_name(line.activity)),
            Value::UInt(line.time_s),
            Value::text(state_of(&line)),
            text_or_null(line.shown.is_running.then_some(line.shown.statement.as_str())),
        ]
    };
    VirtualTable { columns, rows: visible_processes(host).into_iter().map(row).collect() }
}

pub fn engines(_host: &ConnectionHost) -> VirtualTable {
    let columns = vec![
        text_column("ENGINE", 64),
        text_column("SUPPORT", 8),
        text_column("COMMENT", 80),
        text_column("TRANSACTIONS", 3),
        text_column("XA", 3),
        text_column("SAVEPOINTS", 3),
    ];
    let row = ["InnoDB", "DEFAULT", "Supports transactions and row-level locking", "YES", "NO", "YES"];
    VirtualTable { columns, rows: vec![row.map(Value::text).into()] }
}

pub fn plugins(_host: &ConnectionHost) -> VirtualTable {
    let names = ["PLUGIN_NAME", "PLUGIN_VERSION", "PLUGIN_STATUS", "PLUGIN_TYPE", "PLUGIN_LICENSE"];
    let row = |name: &str, kind: &str| {
        ["", "1.0", "ACTIVE", kind, "Apache-2.0"]
            .map(|c| Value::text(if c.is_empty() { name } else { c }))
            .into()
    };
    let rows = vec![
        row("binlog", "STORAGE ENGINE"),
        row("mysql_native_password", "AUTHENTICATION"),
        row("caching_sha2_password", "AUTHENTICATION"),
        row("InnoDB", "STORAGE ENGINE"),
    ];
    VirtualTable { columns: names.map(|n| text_column(n, 64)).into(), rows }
}

/// The accounts that a session may see the privileges of: all, or its own.
fn visible_accounts(host: &ConnectionHost) -> Vec<Account> {
    let own = host.account();
    let sees_all = host.may_do_everything()
        || own.allows_schema(Privileges::named("SELECT").unwrap_or_default(), "mysql");
    let table = host.server().accounts.table();
    table.iter().filter(|a| sees_all || a.name() == own.name()).map(|a| Account::clone(a)).collect()
}

fn grantee(account: &Account) -> Value {
    Value::text(&format!("'{}'@'{}'", account.user, account.host))
}

/// One row for each privilege of a set; USAGE for an empty one.
fn privilege_rows(set: Privileges, head: &[Value], rows: &mut Vec<Vec<Value>>) {
    let option = if set.contains(Privileges::grant_option()) { "YES" } else { "NO" };
    let mut put = |name: &str| {
        let mut row = head.to_vec();
        row.extend([Value::text(name), Value::text(option)]);
        rows.push(row);
    };
    let plain = set.without(Privileges::grant_option());
    if plain.is_empty() {
        return put("USAGE");
    }
    for (bit, privilege) in STATIC.iter().enumerate() {
        if plain.contains(Privileges::of(bit)) {
            put(privilege.name);
        }
    }
}

fn columns(middle: &[&str]) -> Vec<sql::ColumnMeta> {
    let names = ["GRANTEE", "TABLE_CATALOG"].iter().chain(middle).chain(&["PRIVILEGE_TYPE", "IS_GRANTABLE"]);
    names.map(|n| text_column(n, 292)).collect()
}

pub fn user_privileges(host: &ConnectionHost) -> VirtualTable {
    let mut rows = Vec::new();
    for account in visible_accounts(host) {
        privilege_rows(account.global, &[grantee(&account), Value::text("def")], &mut rows);
        for (name, option) in &account.dynamic {
            let option = if *option { "YES" } else { "NO" };
            rows.push(vec![grantee(&account), Value::text("def"), Value::text(name), Value::text(option)]);
        }
    }
    VirtualTable { columns: columns(&[]), rows }
}

pub fn schema_privileges(host: &ConnectionHost) -> VirtualTable {
    let mut rows = Vec::new();
    for account in visible_accounts(host) {
        for (schema, set) in &account.schemas {
            privilege_rows(*set, &[grantee(&account), Value::text("def"), Value::text(schema)], &mut rows);
        }
    }
    VirtualTable { columns: columns(&["TABLE_SCHEMA"]), rows }
}

pub fn table_privileges(host: &ConnectionHost) -> VirtualTable {
    let mut rows = Vec::new();
    for account in visible_accounts(host) {
        for ((schema, table), set) in &account.tables {
            let head = [grantee(&account), Value::text("def"), Value::text(schema), Value::text(table)];
            privilege_rows(*set, &head, &mut rows);
        }
    }
    VirtualTable { columns: columns(&["TABLE_SCHEMA", "TABLE_NAME"]), rows }
}

pub fn column_privileges(host: &ConnectionHost) -> VirtualTable {
    let mut rows = Vec::new();
    for account in visible_accounts(host) {
        for (place, columns) in &account.columns {
            let on_table = account.on_table_itself(&place.0, &place.1);
            for (column, set) in columns {
                let names = [&place.0, &place.1, column].map(|name| Value::text(name));
                let head: Vec<Value> =
                    [grantee(&account), Value::text("def")].into_iter().chain(names).collect();
                let option = on_table.common(Privileges::grant_option());
                privilege_rows(set.with(option), &head, &mut rows);
            }
        }
    }
    VirtualTable { columns: columns(&["TABLE_SCHEMA", "TABLE_NAME", "COLUMN_NAME"]), rows }
}
