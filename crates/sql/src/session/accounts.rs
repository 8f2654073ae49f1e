//! Statements about accounts: the server around the session carries them out and commits them,
//! together with what the binary log gets.

use super::{Session, results};
use crate::admin::{Account, AccountsLog, AdminCommand};
use crate::error::{Result, SqlError};
use crate::expr::Level;
use crate::host::Privilege;
use crate::sink::ResultSink;
use engine::ObjectKind;

/// The kinds of objects that an account may be the definer of, in the order in which MySQL reports
/// them.
const DEFINED: [(&[ObjectKind], &str); 4] = [
    (&[ObjectKind::Event], "an event"),
    (&[ObjectKind::View], "a view"),
    (&[ObjectKind::Procedure, ObjectKind::Function], "a stored routine"),
    (&[ObjectKind::Trigger], "a trigger"),
];

/// Returns the accounts that a statement creates, renames or drops, and its first words.
fn made_or_gone(command: &AdminCommand) -> Option<(&'static str, Vec<&Account>)> {
    Some(match command {
        AdminCommand::CreateUser { accounts, .. } => {
            ("CREATE USER", accounts.iter().map(|spec| &spec.account).collect())
        }
        AdminCommand::DropUser { accounts, .. } => ("DROP USER", accounts.iter().collect()),
        AdminCommand::RenameUser(pairs) => {
            ("RENAME USER", pairs.iter().flat_map(|(from, to)| [from, to]).collect())
        }
        AdminCommand::CreateRole { roles, .. } => ("CREATE ROLE", roles.iter().collect()),
        AdminCommand::DropRole { roles, .. } => ("DROP ROLE", roles.iter().collect()),
        _ => return None,
    })
}

/// Checks that the accounts of a statement are no definers. An object whose definer is dropped
/// would have none, and an account that is created under the name of a missing definer would get
/// its objects. Both take ALLOW_NONEXISTENT_DEFINER, and push a warning.
///
/// # Errors
/// Returns 4006 without that privilege. A session that may not change accounts at all gets its
/// error later.
fn check_definers(session: &Session, command: &AdminCommand) -> Result<()> {
    let Some((verb, accounts)) = made_or_gone(command) else { return Ok(()) };
    if !may_change_accounts(session, verb) {
        return Ok(());
    }
    let allows = "ALLOW_NONEXISTENT_DEFINER";
    let is_allowed = session.server.host.check_administers(allows, &[allows]).is_ok();
    let defines = |kinds: &[ObjectKind], account: &Account| {
        let objects = kinds.iter().flat_map(|kind| session.server.engine.catalog().all_objects(*kind));
        objects.into_iter().any(|object| {
            let (user, host) = &object.def.definer;
            *user == account.user && host.eq_ignore_ascii_case(&account.host)
        })
    };
    for account in accounts.into_iter().filter(|account| !account.is_current_user) {
        for (_, what) in DEFINED.iter().filter(|(kinds, _)| defines(kinds, account)) {
            let Account { user, host, .. } = account;
            if !is_allowed {
                let text = format!(
                    "Operation {verb} failed for '{user}'@'{host}' as it is referenced as a definer account in \
                     {what}."
                );
                return Err(SqlError::new(4006, text));
            }
            let text = format!("User '{user}'@'{host}' is referenced as a definer account in {what}.");
            session.statement.diagnostics.borrow_mut().push(Level::Warning, 4005, text);
        }
    }
    Ok(())
}

/// Reports whether the account has one of the privileges that such a statement takes. An account
/// that may change the tables in `mysql` may also use the statements about users, but not those
/// about roles.
fn may_change_accounts(session: &Session, verb: &str) -> bool {
    let on_rows = |privilege| session.server.host.check_privilege(privilege, Some("mysql"), None).is_ok();
    session.server.host.check_administers("", &["CREATE USER", verb]).is_ok()
        || match verb {
            "CREATE USER" => on_rows(Privilege::Insert),
            "RENAME USER" => on_rows(Privilege::Update),
            "DROP USER" => on_rows(Privilege::Delete),
            _ => false,
        }
}

/// Commits the open transaction, changes accounts, and sends the answer. `text` is the statement.
pub(super) fn change_accounts(
    session: &mut Session,
    command: &AdminCommand,
    text: &[u8],
    sink: &mut dyn ResultSink,
) -> Result<()> {
    session.locks.check_writable(&session.server)?;
    session.transacting().commit()?;
    session.settings.check_writable()?;
    if session.transacting().check_gtid_next()? {
        return results::ok(session, sink);
    }
    check_definers(session, command)?;
    let text = String::from_utf8_lossy(text);
    let schema = session.settings.schema.as_deref().unwrap_or_default();
    let now_us = session.settings.now_us();
    let mut options = session.transaction.commit_options(&session.settings.variables);
    options.binlog &= session.server.engine.binlog_filter().allows(schema);
    options.noted = Some(&session.transaction.noted);
    let context = session.session_context(now_us);
    let of_mariadb = session.settings.variables.of_mariadb;
    let log = AccountsLog { text: &text, schema, session: &context, group: None, options, of_mariadb };
    let changed = {
        let timeout_ms = Some(session.settings.variables.lock_wait_timeout_s * 1000);
        let _pass = session.server.engine.enter_ddl(timeout_ms, Some(&session.server.interrupt))?;
        // While the statement has its pass, `read_only` cannot be turned on.
        session.locks.check_writable(&session.server)?;
        session.server.host.change_accounts(command, &log)
    };
    if changed.is_ok() {
        session.transacting().note_definition();
    }
    session.transacting().spend_gtid();
    let changed = changed?;
    let told = [(Level::Note, changed.notes), (Level::Warning, changed.warnings)];
    for (level, (code, message)) in
        told.into_iter().flat_map(|(level, told)| told.into_iter().map(move |one| (level, one)))
    {
        session.statement.diagnostics.borrow_mut().push(level, code, message);
    }
    match &changed.result {
        Some(table) => results::send_table(session, table, sink),
        None => results::ok(session, sink),
    }
}
