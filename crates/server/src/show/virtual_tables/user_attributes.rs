//! `information_schema.USER_ATTRIBUTES`: the COMMENT and ATTRIBUTE of accounts.

use crate::accounts::{Account, Privileges};
use crate::client::connection_host::ConnectionHost;
use crate::show::result_table::text_column;
use sql::ComputedTable;
use types::Value;

/// Returns the table. A session that may read or change the table of accounts sees all accounts,
/// and any other its own.
pub fn table(host: &ConnectionHost) -> ComputedTable<'_> {
    let columns =
        vec![text_column("USER", 32), text_column("HOST", 255), text_column("ATTRIBUTE", 4_194_304)];
    ComputedTable::new(columns, |rows| {
        let own = host.account();
        let may = |name: &str| own.allows_schema(Privileges::named(name).unwrap_or_default(), "mysql");
        let create_user = Privileges::named("CREATE USER").unwrap_or_default();
        let sees_all =
            host.may_do_everything() || may("SELECT") || may("UPDATE") || own.global.contains(create_user);
        let accounts = host.server().accounts.table();
        let mut seen: Vec<_> =
            accounts.iter().filter(|account| sees_all || account.name() == own.name()).collect();
        seen.sort_by_key(|account| (&account.host, &account.user));
        seen.iter().try_for_each(|account| rows.put(row(account)))
    })
}

fn row(account: &Account) -> Vec<Value> {
    let attribute = account.attributes.metadata_text();
    let attribute = attribute.map_or(Value::Null, |text| Value::text(&text));
    vec![Value::text(&account.user), Value::text(&account.host), attribute]
}
