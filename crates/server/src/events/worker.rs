//! One run of an event, in a thread and a session of its own, with the rights of its definer.

use crate::accounts::Account;
use crate::client::connection_host::ConnectionHost;
use crate::client::login::Login;
use crate::server::Server;
use crate::server::sessions::SessionEntry;
use crate::sql_host::new_event_session;
use engine::Object;
use sql::event_timing::is_dropped_at_end;
use sql::{EventCondition, EventRun, Host, Privilege, SqlError};
use std::sync::Arc;

/// Runs an event in a thread of its own. An event whose last run takes long may run a second time
/// beside it.
pub fn start(server: &Arc<Server>, event: Arc<Object>, is_last: bool) {
    let entry = server.sessions.add(event.def.definer.1.clone(), None);
    entry.show(|shown| {
        shown.user.clone_from(&event.def.definer.0);
        shown.client = Some("event_scheduler@localhost");
        shown.state = "executing";
    });
    let (of_thread, its_entry) = (server.clone(), entry.clone());
    let started = os::thread::try_spawn("event", move || {
        if let Err(panic) = os::panic::contain(|| run(&of_thread, &its_entry, &event, is_last)) {
            let name = named(&event);
            log::error!("Event Scheduler: {name} has panicked and is ended: {}", panic.0);
        }
        of_thread.sessions.remove(its_entry.id);
    });
    if let Err(e) = started {
        log::error!("Event Scheduler: Can't create thread to run an event: {e}");
        server.sessions.remove(entry.id);
    }
}

/// Returns the event and its definer in the form that the error log has.
fn named(event: &Object) -> String {
    let (user, host) = &event.def.definer;
    format!("[{user}@{host}].[{}.{}]", event.def.schema, event.def.name)
}

fn run(server: &Arc<Server>, entry: &Arc<SessionEntry>, event: &Arc<Object>, is_last: bool) {
    if server.is_stopping() {
        return;
    }
    let done = run_as_definer(server, entry, event, is_last)
        .unwrap_or_else(|error| EventRun { is_done: false, conditions: vec![failure(error)] });
    let (user, host) = &event.def.definer;
    for condition in &done.conditions {
        let text = format!(
            "Event Scheduler: [{user}@{host}][{}.{}] {}",
            event.def.schema, event.def.name, condition.message
        );
        match condition.level {
            // A note with a number would be a System message, which every verbosity shows.
            log::Level::Info => log::info!("{text}"),
            level => log::log!(target: "MY-010045", level, "{text}"),
        }
    }
    if !done.is_done {
        log::info!("Event Scheduler: {} event execution failed.", named(event));
    }
}

fn run_as_definer(
    server: &Arc<Server>,
    entry: &Arc<SessionEntry>,
    event: &Arc<Object>,
    is_last: bool,
) -> sql::Result<EventRun> {
    let def = &event.def;
    let (user, host) = def.definer.clone();
    let definer = server.accounts.table().get(&def.definer);
    let is_known = definer.is_some();
    let definer = definer.unwrap_or_else(|| Arc::new(Account { user, host, ..Account::default() }));
    let host = Arc::new(ConnectionHost::new(server.clone(), entry.clone(), Login::unchecked(definer)));
    let mut session = new_event_session(&host)?;
    entry.show(|shown| shown.schema = Some(def.schema.clone()));
    entry.show_statement(Some(&def.body));
    let mut done = match check_definer(&host, event, is_known) {
        Ok(()) => sql::run_event(&mut session, event),
        Err(error) => EventRun { is_done: false, conditions: vec![failure(error)] },
    };
    if is_last && is_dropped_at_end(def) {
        log::info!("Event Scheduler: Dropping {}.{}", def.schema, def.name);
        if let Err(error) = sql::drop_event(&mut session, event) {
            done.conditions.push(failure(error));
        }
    }
    Ok(done)
}

fn failure(error: SqlError) -> EventCondition {
    EventCondition { level: log::Level::Error, message: error.message }
}

/// Checks that the definer exists and still has the EVENT privilege.
///
/// # Errors
/// Returns 1449 (`ER_NO_SUCH_USER`) when the definer does not exist, and 1044 when the definer has
/// no EVENT privilege.
fn check_definer(host: &ConnectionHost, event: &Object, is_known: bool) -> sql::Result<()> {
    if !is_known {
        log::error!(
            target: "MY-010447",
            "Event Scheduler: {} execution failed, failed to authenticate the user.", named(event)
        );
        let (user, host) = &event.def.definer;
        let text = format!("The user specified as a definer ('{user}'@'{host}') does not exist");
        return Err(SqlError::new(1449, text));
    }
    host.check_privilege(Privilege::Event, Some(&event.def.schema), None).inspect_err(|_| {
        log::error!(
            target: "MY-010448",
            "Event Scheduler: {} execution failed, user no longer has EVENT privilege.", named(event)
        );
    })
}
