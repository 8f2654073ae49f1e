//! The tables of information_schema about roles.

use crate::accounts::AccountName;
use crate::client::connection_host::ConnectionHost;
use crate::client::session_rights::mandatory_roles;
use crate::show::result_table::text_column;
use sql::ComputedTable;
use std::collections::BTreeSet;
use types::Value;

const APPLICABLE: [(&str, u32); 9] = [
    ("USER", 97),
    ("HOST", 256),
    ("GRANTEE", 97),
    ("GRANTEE_HOST", 256),
    ("ROLE_NAME", 255),
    ("ROLE_HOST", 256),
    ("IS_GRANTABLE", 3),
    ("IS_DEFAULT", 3),
    ("IS_MANDATORY", 3),
];

fn yes_no(yes: bool) -> Value {
    Value::text(if yes { "YES" } else { "NO" })
}

/// Returns the table of the roles that the session's account may activate, and of those granted to
/// these roles.
fn applicable(host: &ConnectionHost, only_grantable: bool) -> ComputedTable<'_> {
    let columns = APPLICABLE.iter().map(|(name, chars)| text_column(name, *chars)).collect();
    ComputedTable::new(columns, move |rows| {
        let table = host.server().accounts.table();
        let own = host.login_account().name();
        let mandatory = mandatory_roles(host.server());
        let Some(account) = table.get(&own) else { return Ok(()) };
        let mut put = |grantee: &AccountName, role: &AccountName, admin: bool| {
            if only_grantable && !admin {
                return Ok(());
            }
            let is_default = account.default_roles.contains(role);
            let names = [&own.0, &own.1, &grantee.0, &grantee.1, &role.0, &role.1].map(|n| Value::text(n));
            let flags = [admin, is_default, mandatory.contains(role)].map(yes_no);
            rows.put(names.into_iter().chain(flags).collect())
        };
        let direct = table.roles_of(&account, &mandatory);
        for role in &direct {
            put(&own, role, account.roles.get(role).is_some_and(|admin| *admin))?;
        }
        for name in table.closure(&direct) {
            let Some(role) = table.get(&name) else { continue };
            role.roles.iter().try_for_each(|(inner, admin)| put(&name, inner, *admin))?;
        }
        Ok(())
    })
}

pub fn applicable_roles(host: &ConnectionHost) -> ComputedTable<'_> {
    applicable(host, false)
}

pub fn administrable(host: &ConnectionHost) -> ComputedTable<'_> {
    applicable(host, true)
}

pub fn enabled_roles(host: &ConnectionHost) -> ComputedTable<'_> {
    let columns = vec![
        text_column("ROLE_NAME", 255),
        text_column("ROLE_HOST", 255),
        text_column("IS_DEFAULT", 3),
        text_column("IS_MANDATORY", 3),
    ];
    ComputedTable::of_rows(columns, move || {
        let table = host.server().accounts.table();
        let mandatory = mandatory_roles(host.server());
        let account = table.get(&host.login_account().name());
        // As in MySQL, the roles that were granted to these are not listed.
        let enabled: BTreeSet<AccountName> = host.active_roles();
        enabled.into_iter().map(move |role| {
            let is_default = account.as_ref().is_some_and(|account| account.default_roles.contains(&role));
            let flags = [is_default, mandatory.contains(&role)].map(yes_no);
            [&role.0, &role.1].into_iter().map(|name| Value::text(name)).chain(flags).collect()
        })
    })
}
