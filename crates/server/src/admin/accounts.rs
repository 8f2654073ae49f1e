//! The statements about accounts: checked, changed, stored, and then made to count.

use crate::accounts::change::{Change, RandomPassword, no_such_grant};
use crate::accounts::{Account, AccountName, AccountTable, Privileges, needs_privilege, show, storage};
use crate::connection_host::ConnectionHost;
use crate::result_table::{number_column, send, send_ok, text_column};
use sql::admin::{Account as Named, GrantObject};
use sql::{AdminCommand as Command, ResultSink, SqlError, VirtualTable};
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
            let account = named(host, account.as_ref())?;
            let title = format!("Grants for {}", account.shown());
            return lines(&title, show::grants(&account), status, sink);
        }
        Command::ShowCreateUser(account) => {
            let account = named(host, Some(account))?;
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
        Command::Grant { on, .. } | Command::Revoke { on: Some(on), .. } => check_grant_option(&account, on),
        Command::SetPassword { account: None, .. } => Ok(()),
        Command::AlterUser { accounts, options, .. }
            if *options == Default::default() && accounts.iter().all(|a| is_self(&account, &a.account)) =>
        {
            Ok(())
        }
        _ if account.global.contains(Privileges::named("CREATE USER").unwrap_or_default()) => Ok(()),
        _ => Err(needs_privilege("CREATE USER")),
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

fn named(host: &ConnectionHost, account: Option<&Named>) -> sql::Result<Arc<Account>> {
    let own = host.account();
    let Some(account) = account.filter(|a| !is_self(&own, a)) else { return Ok(own) };
    host.require_static("SELECT")?;
    let name = (account.user.clone(), account.host.clone());
    host.server().accounts.table().get(&name).ok_or_else(|| no_such_grant(&name))
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
