//! The statements about accounts: checked, changed, stored, and then made to count.

use crate::accounts::change::{Change, RandomPassword, no_such_grant};
use crate::accounts::{
    Account, AccountName, AccountTable, Privileges, needs_privilege, schema_denied, show, storage,
};
use crate::connection_host::ConnectionHost;
use crate::result_table::{number_column, send, send_ok, text_column};
use sql::admin::{Account as Named, GrantObject};
use sql::{AdminCommand as Command, Host, Privilege, ResultSink, SqlError, VirtualTable};
use std::sync::Arc;
use types::Value;

/// Carries out a statement about accounts.
pub fn carry_out(
    host: &ConnectionHost,
    command: Command,
    status: u16,
    sink: &mut dyn ResultSink,
) -> sql::Result<()> {
    if host.server().grants_are_skipped() {
        let text = "The MySQL server is running with the --skip-grant-tables option so it cannot execute this statement";
        return Err(SqlError::new(1290, text));
    }
    match &command {
        Command::ShowGrants { account } => {
            let denied = || host.check_privilege(Privilege::Select, Some("mysql"), Some("user"));
            let account = named(host, account.as_ref(), denied, no_such_grant)?;
            let title = format!("Grants for {}", account.shown());
            return lines(&title, show::grants(&account), status, sink);
        }
        Command::ShowCreateUser(account) => {
            let denied = || host.check_privilege(Privilege::Select, Some("mysql"), None);
            let account = named(host, Some(account), denied, no_user_to_show)?;
            let title = format!("CREATE USER for {}", account.shown());
            return lines(&title, vec![show::create_user(&account)], status, sink);
        }
        _ => check(host, &command)?,
    }
    let random = change(host, &command)?;
    if random.is_empty() { send_ok(status, sink) } else { passwords(&random, status, sink) }
}

/// Error 1227 and the like when the account may not.
fn check(host: &ConnectionHost, command: &Command) -> sql::Result<()> {
    if host.may_do_everything() {
        return Ok(());
    }
    let account = host.account();
    match command {
        Command::Grant { on, to, .. } => {
            check_grant_option(&account, on)?;
            check_protected(host, to.iter().map(|spec| &spec.account))
        }
        Command::Revoke { on: Some(on), from, .. } => {
            check_grant_option(&account, on)?;
            check_protected(host, from.iter())
        }
        Command::Revoke { on: None, from, .. } => {
            if !account.global.contains(privilege("CREATE USER")) {
                return Err(needs_privilege("CREATE USER"));
            }
            check_protected(host, from.iter())
        }
        Command::SetPassword { account: None, .. } => Ok(()),
        Command::AlterUser { accounts, options, .. }
            if *options == Default::default() && accounts.iter().all(|a| is_self(&account, &a.account)) =>
        {
            Ok(())
        }
        // MySQL lets an account change accounts that may change the table which holds them.
        Command::SetPassword { account: Some(named), .. } => {
            if is_self(&account, named) || account.allows_schema(privilege("UPDATE"), "mysql") {
                return check_protected(host, std::iter::once(named));
            }
            Err(schema_denied(&account.shown(), "mysql"))
        }
        Command::CreateUser { .. } => check_change(&account, "INSERT"),
        Command::AlterUser { accounts, .. } => {
            check_change(&account, "UPDATE")?;
            check_protected(host, accounts.iter().map(|spec| &spec.account))
        }
        Command::RenameUser(pairs) => {
            check_change(&account, "UPDATE")?;
            check_protected(host, pairs.iter().map(|(old, _)| old))
        }
        Command::DropUser { accounts, .. } => {
            check_change(&account, "DELETE")?;
            check_protected(host, accounts.iter())
        }
        _ if account.global.contains(privilege("CREATE USER")) => Ok(()),
        _ => Err(needs_privilege("CREATE USER")),
    }
}

fn privilege(name: &str) -> Privileges {
    Privileges::of_names(&[name])
}

/// CREATE USER, or the privilege to change `mysql.user` by itself.
fn check_change(account: &Account, on_table: &str) -> sql::Result<()> {
    let may = account.global.contains(privilege("CREATE USER"))
        || account.allows_schema(privilege(on_table), "mysql");
    if may { Ok(()) } else { Err(needs_privilege("CREATE USER")) }
}

/// Accounts with SYSTEM_USER are changed by those that have it too.
fn check_protected<'a>(host: &ConnectionHost, named: impl Iterator<Item = &'a Named>) -> sql::Result<()> {
    if host.is_system_user() {
        return Ok(());
    }
    let table = host.server().accounts.table();
    let mut found = named.filter_map(|name| table.get(&(name.user.clone(), name.host.clone())));
    match found.any(|account| account.is_system_user()) {
        true => Err(needs_privilege("SYSTEM_USER")),
        false => Ok(()),
    }
}

fn is_self(account: &Account, named: &Named) -> bool {
    named.is_current_user || (named.user == account.user && named.host == account.host)
}

fn check_grant_option(account: &Account, on: &GrantObject) -> sql::Result<()> {
    let option = Privileges::grant_option();
    let allowed = match (&on.schema, &on.table) {
        (None, _) => account.global.contains(option),
        (Some(schema), None) => account.allows_schema(option, schema),
        (Some(schema), Some(table)) => account.allows_table(option, schema, table),
    };
    if allowed {
        return Ok(());
    }
    let text = format!("Access denied for user '{}'@'{}' (using password: YES)", account.user, account.host);
    Err(SqlError::new(1045, text))
}

/// Changes a copy of the accounts, stores what changed, and puts the copy in place.
fn change(host: &ConnectionHost, command: &Command) -> sql::Result<Vec<RandomPassword>> {
    let server = host.server();
    let _one_at_a_time = server.accounts.changing.lock();
    let mut table = AccountTable::clone(&server.accounts.table());
    let mut change = Change {
        table: &mut table,
        current: host.account().name(),
        schema: host.entry().shown().schema,
        random_chars: server.globals.named("generated_random_password_length").uint() as usize,
        changed: Vec::new(),
        removed: Vec::new(),
    };
    let random = apply(&mut change, command)?;
    let (changed, removed) = (change.changed, change.removed);
    let accounts: Vec<Arc<Account>> =
        changed.iter().filter_map(|name: &AccountName| table.get(name)).collect();
    storage::store(server, &accounts, &removed)?;
    server.accounts.replace(table);
    Ok(random)
}

fn apply(change: &mut Change<'_>, command: &Command) -> sql::Result<Vec<RandomPassword>> {
    match command {
        Command::CreateUser { accounts, if_not_exists, options } => {
            return change.create(accounts, *if_not_exists, options);
        }
        Command::AlterUser { accounts, if_exists, options } => {
            return change.alter(accounts, *if_exists, options);
        }
        Command::DropUser { accounts, if_exists } => change.drop(accounts, *if_exists)?,
        Command::RenameUser(pairs) => change.rename(pairs)?,
        Command::SetPassword { account, password } => change.set_password(account.as_ref(), password)?,
        Command::Grant { privileges, on, to, with_grant_option } => {
            change.grant(privileges, on, to, *with_grant_option)?;
        }
        Command::Revoke { privileges, on, from } => change.revoke(privileges, on.as_ref(), from)?,
        other => panic!("{other:?} is no statement about accounts"),
    }
    Ok(Vec::new())
}

/// The session's own account, or another one as far as the session may see it.
fn named(
    host: &ConnectionHost,
    account: Option<&Named>,
    check: impl Fn() -> sql::Result<()>,
    unknown: impl Fn(&AccountName) -> SqlError,
) -> sql::Result<Arc<Account>> {
    let own = host.account();
    let Some(account) = account.filter(|a| !is_self(&own, a)) else { return Ok(own) };
    check()?;
    let name = (account.user.clone(), account.host.clone());
    host.server().accounts.table().get(&name).ok_or_else(|| unknown(&name))
}

/// Error 1396 of SHOW CREATE USER.
fn no_user_to_show(name: &AccountName) -> SqlError {
    let (user, host) = name;
    let text =
        format!("Operation SHOW CREATE USER failed for '{user}'@'{host}' (User account does not exist)");
    SqlError::new(1396, text)
}

fn lines(title: &str, lines: Vec<String>, status: u16, sink: &mut dyn ResultSink) -> sql::Result<()> {
    let rows = lines.iter().map(|line| vec![Value::text(line)]).collect();
    send(&VirtualTable { columns: vec![text_column(title, 1024)], rows }, status, sink)
}

fn passwords(random: &[RandomPassword], status: u16, sink: &mut dyn ResultSink) -> sql::Result<()> {
    let columns = vec![
        text_column("user", 32),
        text_column("host", 255),
        text_column("generated password", 255),
        number_column("auth_factor"),
    ];
    let row = |(user, host, password): &RandomPassword| {
        vec![Value::text(user), Value::text(host), Value::text(password), Value::UInt(1)]
    };
    send(&VirtualTable { columns, rows: random.iter().map(row).collect() }, status, sink)
}
