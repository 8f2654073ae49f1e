//! The statements that change accounts. Each change is made in a copy, stored, and then put into
//! force.

use super::account_rights::{check, check_grant_tables, is_self, may_create_users, on_accounts};
use crate::accounts::alter::{PasswordPolicy, RandomPassword};
use crate::accounts::change::{By, Change};
use crate::accounts::grant;
use crate::accounts::logged::logged_text;
use crate::accounts::{Account, AccountName, AccountTable, Level, Privileges, RoutineName, storage};
use crate::client::connection_host::ConnectionHost;
use crate::client::session_rights::mandatory_roles;
use crate::server::Server;
use crate::show::result_table::{number_column, text_column};
use crate::show::virtual_tables;
use engine::ObjectKind;
use protocol::auth::{native, plugin};
use sql::admin::{
    Account as Named, AccountSpec, AccountsChanged, AccountsLog, Authentication, Lenience, PasswordExpiry,
    Secret,
};
use sql::{AdminCommand as Command, RoutineChange, VirtualTable};
use std::collections::BTreeSet;
use std::sync::Arc;
use types::Value;

/// The party on whose behalf accounts are changed.
struct Asker {
    /// The account with the rights of its active roles.
    account: Arc<Account>,
    active_roles: BTreeSet<AccountName>,
    /// The host that the client connected from.
    client_host: String,
    /// True when nothing needs to be checked.
    is_unchecked: bool,
}

impl Asker {
    /// Builds the asker for the session of a client.
    fn client(host: &ConnectionHost) -> Asker {
        Asker {
            account: host.account(),
            active_roles: host.active_roles(),
            client_host: host.client_host(),
            is_unchecked: host.may_do_everything(),
        }
    }

    /// Builds the asker for the applier, whose source has checked the statements.
    fn applier() -> Asker {
        let (user, host) = ("mysql.session".into(), "localhost".into());
        Asker {
            account: Arc::new(Account { user, host, ..Account::default() }),
            active_roles: BTreeSet::new(),
            client_host: "localhost".into(),
            is_unchecked: true,
        }
    }

    /// Returns the rules for the passwords that the asker changes.
    fn policy(&self, server: &Server) -> PasswordPolicy {
        PasswordPolicy {
            history: server.globals.named("password_history").uint(),
            reuse_days: server.globals.named("password_reuse_interval").uint(),
            require_current: server.globals.named("password_require_current").is_on(),
            is_administrator: self.is_unchecked
                || may_create_users(&self.account)
                || on_accounts(&self.account, "UPDATE"),
            now_us: os::clock::now_us(),
        }
    }
}

/// The results of a change of accounts.
struct Outcome {
    told: AccountsChanged,
    changed: Vec<AccountName>,
}

/// Carries out a client's statement that changes accounts, and logs it.
pub fn change_accounts(
    host: &ConnectionHost,
    command: &Command,
    log: &AccountsLog<'_>,
) -> sql::Result<AccountsChanged> {
    check_grant_tables(host.server())?;
    check(host, command)?;
    let outcome = change(host.server(), Asker::client(host), command, log)?;
    if let Some(is_sandboxed) = sandboxes(&host.account(), command, &outcome.changed) {
        host.set_sandboxed(is_sandboxed);
    }
    Ok(outcome.told)
}

/// Carries out a source's statement that changes accounts.
pub fn change_received_accounts(
    server: &Arc<Server>,
    command: &Command,
    log: &AccountsLog<'_>,
) -> sql::Result<()> {
    check_grant_tables(server)?;
    change(server, Asker::applier(), command, log).map(drop)
}

/// Returns the accounts that a statement changes, for the check that SYSTEM_USER protects them.
fn changed_accounts(command: &Command) -> Vec<Named> {
    match command {
        Command::AlterUser { accounts, .. } => accounts.iter().map(|spec| spec.account.clone()).collect(),
        Command::DropUser { accounts, .. } => accounts.clone(),
        Command::RenameUser(pairs) => pairs.iter().map(|(from, _)| from.clone()).collect(),
        Command::SetPassword { account: Some(account), .. } => vec![account.clone()],
        _ => Vec::new(),
    }
}

/// Changes a copy of the accounts, stores the changes, and puts the copy into force.
fn change(
    server: &Arc<Server>,
    asker: Asker,
    command: &Command,
    log: &AccountsLog<'_>,
) -> sql::Result<Outcome> {
    let _one_at_a_time = server.accounts.changing.lock();
    let mut table = AccountTable::clone(&server.accounts.table());
    let columns_of = |schema: &str, table: &str| columns_of(server, schema, table);
    let policy = asker.policy(server);
    let Asker { account, active_roles, client_host, is_unchecked } = asker;
    let grantor = account.shown();
    let by = By {
        with_password: !account.authentication_string.is_empty(),
        account,
        active_roles,
        client_host,
        is_unchecked,
        is_received: log.group.is_some() || log.of_mariadb,
        mandatory: mandatory_roles(server),
        partial_revokes: server.globals.named("partial_revokes").is_on(),
        columns_of: &columns_of,
        has_routine: &|routine: &RoutineName| {
            let kind = if routine.is_function { ObjectKind::Function } else { ObjectKind::Procedure };
            server.engine.catalog().object(&routine.schema, kind, &routine.name).is_some()
        },
        has_schema: &|schema: &str| server.engine.catalog().schema(schema).is_some(),
    };
    let mut change = Change {
        table: &mut table,
        by,
        schema: Some(log.schema.to_owned()).filter(|schema| !schema.is_empty()),
        random_chars: server.globals.named("generated_random_password_length").uint() as usize,
        policy,
        changed: Vec::new(),
        removed: Vec::new(),
        notes: Vec::new(),
        warnings: Vec::new(),
    };
    let changed_accounts = changed_accounts(command);
    change.check_system_users(&changed_accounts)?;
    let random = match (log.of_mariadb, command) {
        (true, Command::SetPassword { account, authentication }) => {
            change.set_password(account.as_ref(), &hash_of_mariadb(authentication))?.into_iter().collect()
        }
        _ => apply(&mut change, command)?,
    };
    let text = match log.group {
        Some(_) => String::new(),
        None => logged_text(&change, command, log.text)?,
    };
    let Change { changed, removed, notes, warnings, .. } = change;
    let accounts: Vec<Arc<Account>> =
        changed.iter().filter_map(|name: &AccountName| table.get(name)).collect();
    storage::store(server, &accounts, &removed, &grantor, Some((log, &text)))?;
    server.accounts.replace(table);
    forget_failures(server, command, &changed, &removed);
    let result = (!random.is_empty()).then(|| passwords(&random));
    Ok(Outcome { told: AccountsChanged { notes, warnings, result }, changed })
}

/// Changes privileges after a routine was created or dropped. The binary log has only the statement
/// about the routine.
pub fn routine_changed(
    server: &Arc<Server>,
    maker: Option<&Account>,
    change: &RoutineChange<'_>,
    grantor: &str,
) -> sql::Result<()> {
    if !server.globals.named("automatic_sp_privileges").is_on() {
        return Ok(());
    }
    let _one_at_a_time = server.accounts.changing.lock();
    let mut table = AccountTable::clone(&server.accounts.table());
    let routine = RoutineName::new(change.kind == ObjectKind::Function, change.schema, change.name);
    let all = Privileges::all(Level::Routine);
    let changed: Vec<Account> = match maker {
        Some(maker) if maker.on_schema(change.schema).contains(all) => Vec::new(),
        Some(maker) => {
            let mut own: Vec<Account> = table.get(&maker.name()).iter().map(|a| Account::clone(a)).collect();
            for account in &mut own {
                let held = account.routines.entry(routine.clone()).or_default();
                *held = held.with(all);
            }
            own
        }
        None => {
            let holders = table.iter().filter(|account| account.routines.contains_key(&routine));
            let without = |account: &Arc<Account>| {
                let mut account = Account::clone(account);
                account.routines.remove(&routine);
                account
            };
            holders.map(without).collect()
        }
    };
    if changed.is_empty() {
        return Ok(());
    }
    let stored: Vec<Arc<Account>> = changed.iter().cloned().map(Arc::new).collect();
    storage::store(server, &stored, &[], grantor, None)?;
    changed.into_iter().for_each(|account| table.put(account));
    server.accounts.replace(table);
    Ok(())
}

/// Returns SET PASSWORD of MariaDB as one with a hash, because MariaDB logs the hash of
/// mysql_native_password in place of the password.
fn hash_of_mariadb(written: &Authentication) -> Authentication {
    match &written.secret {
        Secret::Password(text) if native::is_valid_authentication_string(text) => {
            Authentication::new(Some(plugin::NATIVE.into()), Secret::Hash(text.clone().into_bytes()))
        }
        _ => written.clone(),
    }
}

fn apply(change: &mut Change<'_>, command: &Command) -> sql::Result<Vec<RandomPassword>> {
    match command {
        Command::CreateUser { accounts, if_not_exists, or_replace, options } => {
            if *or_replace {
                let named: Vec<Named> = accounts.iter().map(|spec| spec.account.clone()).collect();
                change.drop_received(&named)?;
            }
            return change.create(accounts, *if_not_exists, options);
        }
        Command::AlterUser { accounts, if_exists, options } => {
            return change.alter(accounts, *if_exists, options);
        }
        Command::DropUser { accounts, if_exists } => change.drop(accounts, *if_exists)?,
        Command::RenameUser(pairs) => change.rename(pairs)?,
        Command::SetPassword { account, authentication } => {
            return Ok(change.set_password(account.as_ref(), authentication)?.into_iter().collect());
        }
        Command::Grant { privileges, on, to, identified, with_grant_option, grantor } => {
            change.identify_received(identified)?;
            grant::grant(change, privileges, on, to, *with_grant_option, grantor.as_ref())?;
        }
        Command::Revoke { privileges, on, from, lenience } => {
            grant::revoke(change, privileges, on.as_ref(), from, *lenience)?;
        }
        Command::GrantRoles { roles, to, with_admin_option } => {
            change.grant_roles(roles, to, *with_admin_option)?;
        }
        Command::RevokeRoles { roles, from, lenience } => change.revoke_roles(roles, from, *lenience)?,
        Command::GrantProxy { on, to, with_grant_option } => {
            change.change_proxies(on, to, Some(*with_grant_option), Lenience::default())?;
        }
        Command::RevokeProxy { on, from, lenience } => change.change_proxies(on, from, None, *lenience)?,
        Command::CreateRole { roles, if_not_exists, or_replace, admins } => {
            if *or_replace {
                change.drop_received(roles)?;
            }
            change.create_roles(roles, *if_not_exists)?;
            if !admins.is_empty() {
                change.grant_roles(roles, admins, true)?;
            }
        }
        Command::DropRole { roles, if_exists } => change.drop_roles(roles, *if_exists)?,
        Command::SetDefaultRole { choice, of } => change.set_default_roles(choice, of)?,
        other => panic!("{other:?} is no statement about accounts"),
    }
    Ok(Vec::new())
}

/// Returns the names of a table's or view's columns. For a computed table the list is empty.
fn columns_of(server: &Server, schema: &str, table: &str) -> Option<Vec<String>> {
    if let Some(found) = server.engine.catalog().table(schema, table) {
        return Some(found.def.columns.iter().map(|column| column.name.clone()).collect());
    }
    if let Some(view) = server.engine.catalog().object(schema, engine::ObjectKind::View, table) {
        return Some(sql::view_column_names(&view.def));
    }
    virtual_tables::is_one(schema, table).then(Vec::new)
}

fn passwords(random: &[RandomPassword]) -> VirtualTable {
    let columns = vec![
        text_column("user", 32),
        text_column("host", 255),
        text_column("generated password", 255),
        number_column("auth_factor"),
    ];
    let row = |(user, host, password): &RandomPassword| {
        vec![Value::text(user), Value::text(host), Value::text(password), Value::UInt(1)]
    };
    VirtualTable { columns, rows: random.iter().map(row).collect() }
}

/// Forgets the failed logins of accounts that were removed, or whose locking was changed.
fn forget_failures(server: &Server, command: &Command, changed: &[AccountName], removed: &[AccountName]) {
    let usage = &server.accounts.usage;
    removed.iter().for_each(|name| usage.forget_failures(name));
    if let Command::AlterUser { options, .. } = command {
        let is_about_locking = options.locked == Some(false)
            || options.failed_login_attempts.is_some()
            || options.password_lock_days.is_some();
        if is_about_locking {
            changed.iter().for_each(|name| usage.forget_failures(name));
        }
    }
}

/// Returns whether the session must change its password after a change of accounts that it made.
/// `None` means that the change does not affect that.
fn sandboxes(own: &Account, command: &Command, changed: &[AccountName]) -> Option<bool> {
    match command {
        Command::AlterUser { accounts, options, .. } => {
            let is_own = |spec: &&AccountSpec| is_self(own, &spec.account);
            let has_new = |spec: &AccountSpec| {
                let written = spec.authentication.as_ref();
                written.is_some_and(|it| !matches!(it.secret, Secret::DiscardOld | Secret::None))
            };
            if options.expiry == Some(PasswordExpiry::Now) && accounts.iter().any(|spec| is_own(&spec)) {
                return Some(true);
            }
            accounts.iter().filter(is_own).any(has_new).then_some(false)
        }
        Command::SetPassword { .. } if changed.contains(&own.name()) => Some(false),
        _ => None,
    }
}
