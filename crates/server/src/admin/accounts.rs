//! SET ROLE, SHOW GRANTS and SHOW CREATE USER.

use super::account_rights::{check_grant_tables, is_self, on_accounts};
use crate::accounts::role_changes::not_granted;
use crate::accounts::{Account, Privileges, no_such_grant, roles, schema_denied, show};
use crate::client::connection_host::ConnectionHost;
use crate::client::session_rights::mandatory_roles;
use crate::show::result_table::{send, send_ok, text_column};
use sql::admin::Account as Named;
use sql::{AdminCommand as Command, ResultSink, SqlError, VirtualTable};
use std::sync::Arc;
use types::Value;

/// Carries out a statement about accounts that changes none of them.
pub fn carry_out(
    host: &ConnectionHost,
    command: Command,
    status: u16,
    sink: &mut dyn ResultSink,
) -> sql::Result<()> {
    check_grant_tables(host.server())?;
    match &command {
        Command::ShowGrants { account, using } => show_grants(host, account.as_ref(), using, status, sink),
        Command::ShowCreateUser(account) => {
            let account = to_be_created(host, account)?;
            let title = format!("CREATE USER for {}", account.shown());
            lines(
                &title,
                vec![show::create_user(
                    &account,
                    host.session_variables().is_on("print_identified_with_as_hex"),
                )],
                status,
                sink,
            )
        }
        Command::SetRole(choice) => {
            host.set_role(choice)?;
            send_ok(status, sink)
        }
        other => panic!("{other:?} changes accounts, or is not about them"),
    }
}

fn show_grants(
    host: &ConnectionHost,
    named: Option<&Named>,
    using: &[Named],
    status: u16,
    sink: &mut dyn ResultSink,
) -> sql::Result<()> {
    let own = host.account();
    let table = host.server().accounts.table();
    let name = match named.filter(|named| !is_self(&own, named)) {
        Some(named) => roles::named(named),
        None => own.name(),
    };
    let select = Privileges::named("SELECT").unwrap_or_default();
    if name != own.name() && !host.may_do_everything() && !own.allows_schema(select, "mysql") {
        let (user, client) = (&own.user, host.client_host());
        let text = format!("SELECT command denied to user '{user}'@'{client}' for table 'user'");
        return Err(SqlError::new(1142, text));
    }
    let account = table.get(&name).ok_or_else(|| no_such_grant(&name))?;
    let active = match named {
        Some(named) if !named.is_current_user || !using.is_empty() => {
            using.iter().map(roles::named).collect()
        }
        _ => host.active_roles(),
    };
    let mandatory = mandatory_roles(host.server());
    let held = table.roles_of(&account, &mandatory);
    if let Some(missing) = active.iter().find(|role| !held.contains(role)) {
        return Err(not_granted(missing, &name));
    }
    let all = table.with_roles(&account, &active);
    let mut shown = Account::clone(&account);
    if named.is_none() {
        // Mandatory roles that the account was not granted are shown only by the form without a
        // name.
        for role in mandatory.into_iter().filter(|role| held.contains(role)) {
            shown.roles.entry(role).or_insert(false);
        }
    }
    lines(&format!("Grants for {}", account.shown()), show::grants(&shown, &all), status, sink)
}

fn to_be_created(host: &ConnectionHost, named: &Named) -> sql::Result<Arc<Account>> {
    let own = host.account();
    let name = if is_self(&own, named) { own.name() } else { roles::named(named) };
    if name != own.name() && !host.may_do_everything() && !on_accounts(&own, "SELECT") {
        return Err(schema_denied(&own.shown(), "mysql"));
    }
    let missing = || {
        let text = "(User account does not exist)";
        let (user, host) = &name;
        SqlError::new(1396, format!("Operation SHOW CREATE USER failed for '{user}'@'{host}' {text}"))
    };
    host.server().accounts.table().get(&name).ok_or_else(missing)
}

fn lines(title: &str, lines: Vec<String>, status: u16, sink: &mut dyn ResultSink) -> sql::Result<()> {
    let rows = lines.iter().map(|line| vec![Value::text(line)]).collect();
    send(&VirtualTable { columns: vec![text_column(title, 1024)], rows }, status, sink)
}
