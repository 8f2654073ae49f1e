//! The statements about accounts: checked, changed, stored, and then made to count.

use crate::accounts::alter::{PasswordPolicy, RandomPassword};
use crate::accounts::change::{By, Change};
use crate::accounts::role_changes::not_granted;
use crate::accounts::{
    Account, AccountName, AccountTable, Level, Privileges, RoutineName, needs_privilege, no_such_grant,
    roles, schema_denied, show, storage,
};
use crate::connection_host::{ConnectionHost, password_expired};
use crate::result_table::{number_column, send, send_ok, text_column};
use crate::server::Server;
use crate::session_rights::mandatory_roles;
use engine::ObjectKind;
use protocol::auth::{native, plugin};
use sql::admin::{
    Account as Named, AccountSpec, AccountsChanged, AccountsLog, Authentication, Lenience, PasswordExpiry,
    Secret,
};
use sql::{AdminCommand as Command, Host, ResultSink, RoutineChange, SqlError, VirtualTable};
use std::sync::Arc;
use types::Value;

/// Carries out a statement about accounts.
pub fn carry_out(
    host: &ConnectionHost,
    command: Command,
    status: u16,
    sink: &mut dyn ResultSink,
) -> sql::Result<()> {
    check_grant_tables(host)?;
    match &command {
        Command::ShowGrants { account, using } => show_grants(host, account.as_ref(), using, status, sink),
        Command::ShowCreateUser(account) => {
            let account = to_be_created(host, account)?;
            let title = format!("CREATE USER for {}", account.shown());
            lines(
                &title,
                vec![show::create_user(&account, host.session_is_on("print_identified_with_as_hex"))],
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

/// Carries out a statement that changes accounts, and logs it.
pub fn change_accounts(
    host: &ConnectionHost,
    command: &Command,
    log: &AccountsLog<'_>,
) -> sql::Result<AccountsChanged> {
    check_grant_tables(host)?;
    check(host, command)?;
    change(host, command, log)
}

/// Error 1290 where nobody's rights are looked at.
fn check_grant_tables(host: &ConnectionHost) -> sql::Result<()> {
    if !host.server().grants_are_skipped() {
        return Ok(());
    }
    let text =
        "The MySQL server is running with the --skip-grant-tables option so it cannot execute this statement";
    Err(SqlError::new(1290, text))
}

/// Error 1227 and the like when the account may not. GRANT, REVOKE and what is about roles is
/// checked with the change.
fn check(host: &ConnectionHost, command: &Command) -> sql::Result<()> {
    if host.may_do_everything() {
        return Ok(());
    }
    let account = host.account();
    match command {
        Command::Grant { .. }
        | Command::Revoke { .. }
        | Command::GrantRoles { .. }
        | Command::RevokeRoles { .. }
        | Command::GrantProxy { .. }
        | Command::RevokeProxy { .. }
        | Command::CreateRole { .. }
        | Command::DropRole { .. }
        | Command::SetDefaultRole { .. } => Ok(()),
        Command::SetPassword { account: named, authentication } => {
            let is_own = named.as_ref().is_none_or(|named| is_self(&account, named));
            if host.is_sandboxed() && !is_own {
                return Err(password_expired());
            }
            check_password_change(&account, is_own, authentication)
        }
        Command::AlterUser { accounts, options, .. }
            if *options == Default::default() && accounts.iter().all(|a| is_self(&account, &a.account)) =>
        {
            let written = accounts.iter().filter_map(|a| a.authentication.as_ref());
            written.into_iter().try_for_each(|it| check_retained(&account, it))
        }
        _ if account.global.contains(Privileges::named("CREATE USER").unwrap_or_default()) => Ok(()),
        Command::CreateUser { .. } if on_accounts(&account, "INSERT") => Ok(()),
        Command::DropUser { .. } if on_accounts(&account, "DELETE") => Ok(()),
        Command::AlterUser { .. } | Command::RenameUser(_) if on_accounts(&account, "UPDATE") => Ok(()),
        _ => Err(needs_privilege("CREATE USER")),
    }
}

/// True when the account may write the tables of accounts.
fn on_accounts(account: &Account, privilege: &str) -> bool {
    account.allows_schema(Privileges::named(privilege).unwrap_or_default(), "mysql")
}

/// Everybody may change his own password. Others' are theirs who may change the table of accounts.
fn check_password_change(
    account: &Account,
    is_own: bool,
    authentication: &Authentication,
) -> sql::Result<()> {
    if is_own {
        return check_retained(account, authentication);
    }
    // CREATE USER is not enough: MySQL asks for the tables that hold the passwords.
    if on_accounts(account, "UPDATE") {
        return Ok(());
    }
    Err(schema_denied(&account.shown(), "mysql"))
}

/// To have two passwords is a privilege.
fn check_retained(account: &Account, authentication: &Authentication) -> sql::Result<()> {
    let is_about_two = authentication.retain || authentication.secret == Secret::DiscardOld;
    if !is_about_two
        || may_create_users(account)
        || account.dynamic.contains_key("APPLICATION_PASSWORD_ADMIN")
    {
        return Ok(());
    }
    Err(needs_privilege("CREATE USER or APPLICATION_PASSWORD_ADMIN"))
}

fn may_create_users(account: &Account) -> bool {
    account.global.contains(Privileges::named("CREATE USER").unwrap_or_default())
}

/// What holds for the passwords that a session changes.
fn policy(host: &ConnectionHost) -> PasswordPolicy {
    let (globals, account) = (&host.server().globals, host.account());
    PasswordPolicy {
        history: globals.named("password_history").uint(),
        reuse_days: globals.named("password_reuse_interval").uint(),
        require_current: globals.named("password_require_current").is_on(),
        is_administrator: host.may_do_everything()
            || may_create_users(&account)
            || on_accounts(&account, "UPDATE"),
        now_us: os::clock::now_us(),
    }
}

/// What a change of accounts means for the failed logins of some, and for the session itself.
fn after(host: &ConnectionHost, command: &Command, changed: &[AccountName], removed: &[AccountName]) {
    let usage = &host.server().accounts.usage;
    removed.iter().for_each(|name| usage.forget_failures(name));
    let own = host.account().name();
    match command {
        Command::AlterUser { accounts, options, .. } => {
            let is_about_locking = options.locked == Some(false)
                || options.failed_login_attempts.is_some()
                || options.password_lock_days.is_some();
            if is_about_locking {
                changed.iter().for_each(|name| usage.forget_failures(name));
            }
            let is_own = accounts.iter().any(|spec| is_self(&host.account(), &spec.account));
            let has_new = |spec: &AccountSpec| {
                let written = spec.authentication.as_ref();
                is_self(&host.account(), &spec.account)
                    && written.is_some_and(|it| !matches!(it.secret, Secret::DiscardOld | Secret::None))
            };
            if accounts.iter().any(has_new) {
                host.set_sandboxed(false);
            }
            if is_own && options.expiry == Some(PasswordExpiry::Now) {
                host.set_sandboxed(true);
            }
        }
        Command::SetPassword { .. } if changed.contains(&own) => host.set_sandboxed(false),
        _ => {}
    }
}

fn is_self(account: &Account, named: &Named) -> bool {
    named.is_current_user || (named.user == account.user && named.host == account.host)
}

/// The accounts that a statement changes; only those with SYSTEM_USER may change one that has it.
fn changed_accounts(command: &Command) -> Vec<Named> {
    match command {
        Command::AlterUser { accounts, .. } => accounts.iter().map(|spec| spec.account.clone()).collect(),
        Command::DropUser { accounts, .. } => accounts.clone(),
        Command::RenameUser(pairs) => pairs.iter().map(|(from, _)| from.clone()).collect(),
        Command::SetPassword { account: Some(account), .. } => vec![account.clone()],
        _ => Vec::new(),
    }
}

/// Changes a copy of the accounts, stores what changed, and puts the copy in place.
fn change(host: &ConnectionHost, command: &Command, log: &AccountsLog<'_>) -> sql::Result<AccountsChanged> {
    let server = host.server();
    let _one_at_a_time = server.accounts.changing.lock();
    let mut table = AccountTable::clone(&server.accounts.table());
    let columns_of = |schema: &str, table: &str| columns_of(host, schema, table);
    let account = host.account();
    let by = By {
        with_password: !account.authentication_string.is_empty(),
        account,
        active_roles: host.active_roles(),
        client_host: host.client_host(),
        is_unchecked: host.may_do_everything(),
        is_received: log.group.is_some(),
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
        policy: policy(host),
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
        None => change.logged_text(command, log.text)?,
    };
    let Change { changed, removed, notes, warnings, .. } = change;
    let accounts: Vec<Arc<Account>> =
        changed.iter().filter_map(|name: &AccountName| table.get(name)).collect();
    storage::store(server, &accounts, &removed, &host.account().shown(), Some((log, &text)))?;
    server.accounts.replace(table);
    after(host, command, &changed, &removed);
    let result = (!random.is_empty()).then(|| passwords(&random));
    Ok(AccountsChanged { notes, warnings, result })
}

/// What the making or the end of a routine changes in the accounts. The binary log has nothing of
/// it but the statement about the routine.
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

/// MariaDB logs SET PASSWORD with what mysql_native_password stores, not with the password.
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
            change.grant(privileges, on, to, *with_grant_option, grantor.as_ref())?;
        }
        Command::Revoke { privileges, on, from, lenience } => {
            change.revoke(privileges, on.as_ref(), from, *lenience)?;
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

/// The names of a table's columns; those of a computed table are not told apart.
fn columns_of(host: &ConnectionHost, schema: &str, table: &str) -> Option<Vec<String>> {
    if let Some(found) = host.server().engine.catalog().table(schema, table) {
        return Some(found.def.columns.iter().map(|column| column.name.clone()).collect());
    }
    let computed = host.virtual_tables(&schema.to_lowercase());
    computed.iter().any(|name| name.eq_ignore_ascii_case(table)).then(Vec::new)
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
        None => host.active_roles(),
        Some(_) => using.iter().map(roles::named).collect(),
    };
    let held = table.roles_of(&account, &mandatory_roles(host.server()));
    if let Some(missing) = active.iter().find(|role| !held.contains(role)) {
        return Err(not_granted(missing, &name));
    }
    let all = table.with_roles(&account, &active);
    lines(&format!("Grants for {}", account.shown()), show::grants(&account, &all), status, sink)
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
