//! What belongs to one client's session beside what `sql::Session` keeps: its account and rights,
//! its variables and limits, its memory.

use crate::accounts::usage::UserPlace;
use crate::accounts::{Account, AccountName};
use crate::client::definers::Definers;
use crate::client::held_locks::HeldLocks;
use crate::client::login::Login;
use crate::client::session_rights::SessionRights;
use crate::server::Server;
use crate::server::sessions::SessionEntry;
use crate::server::status::StatementKind;
use crate::variables::SessionVariables;
use parking_lot::Mutex;
use protocol::response::StateChange;
use sql::admin::RoleChoice;
use sql::memory::Budget;
use sql::{SqlError, StatementClass, UserLocks};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// The session variables that every command asks for. Relaxed: the connection's own thread writes
/// and reads them.
#[derive(Default)]
struct Limits {
    max_allowed_packet_bytes: AtomicU64,
    wait_timeout_s: AtomicU64,
    interactive_timeout_s: AtomicU64,
    net_read_timeout_s: AtomicU64,
    net_write_timeout_s: AtomicU64,
    long_query_time_us: AtomicU64,
}

/// What belongs to the session of one client. It answers what `sql::Session` asks of the server
/// around it, as [`sql::Host`].
pub struct ConnectionHost {
    server: Arc<Server>,
    entry: Arc<SessionEntry>,
    /// The account of the login.
    account: Arc<Account>,
    /// The rights of the account and its active roles.
    rights: SessionRights,
    /// The definers of the programs that run, the outermost first.
    definers: Definers,
    variables: SessionVariables,
    limits: Limits,
    /// What the connection keeps in memory.
    memory: Arc<Budget>,
    /// The user-level locks that it has.
    held_locks: HeldLocks,
    /// SHUTDOWN was carried out, and the client is to hear of it before the end begins. Relaxed: of
    /// the connection's own thread.
    stops_server: AtomicBool,
    /// The change of the current schema that the client has not been told yet.
    schema_change: Mutex<Option<String>>,
    /// The password has to be changed before anything else. Relaxed: of the connection's own
    /// thread.
    is_sandboxed: AtomicBool,
    /// The connection's place among those of its account; none without accounts.
    place: Option<UserPlace>,
}

/// Error 1820.
pub fn password_expired() -> SqlError {
    SqlError::new(
        1820,
        "You must reset your password using ALTER USER statement before executing this statement.",
    )
}

impl ConnectionHost {
    /// What belongs to the session of a client that has been let in.
    pub fn new(server: Arc<Server>, entry: Arc<SessionEntry>, login: Login) -> ConnectionHost {
        let Login { account, place, is_sandboxed } = login;
        entry.show(|s| s.account = account.shown());
        let memory = Budget::new(server.memory.clone());
        memory.set_exempt(account.administers(&["CONNECTION_ADMIN"]));
        let host = ConnectionHost {
            rights: SessionRights::of_login(&server, &account),
            definers: Definers::default(),
            variables: SessionVariables::new(&server),
            limits: Limits::default(),
            held_locks: HeldLocks::new(server.clone(), entry.clone(), &memory),
            server,
            entry,
            account,
            memory,
            stops_server: AtomicBool::new(false),
            schema_change: Mutex::default(),
            is_sandboxed: AtomicBool::new(is_sandboxed),
            place,
        };
        host.refresh_limits();
        host
    }

    /// Takes over the session variables that every command asks for; they may have been set.
    pub fn refresh_limits(&self) {
        let set =
            |limit: &AtomicU64, name: &str| limit.store(self.variables.named(name).uint(), Ordering::Relaxed);
        set(&self.limits.max_allowed_packet_bytes, "max_allowed_packet");
        set(&self.limits.wait_timeout_s, "wait_timeout");
        set(&self.limits.interactive_timeout_s, "interactive_timeout");
        set(&self.limits.net_read_timeout_s, "net_read_timeout");
        set(&self.limits.net_write_timeout_s, "net_write_timeout");
        let long_us = self.variables.named("long_query_time").double() * 1_000_000.0;
        self.limits.long_query_time_us.store(long_us as u64, Ordering::Relaxed);
        self.variables.limit(&self.memory);
    }

    /// The server.
    pub fn server(&self) -> &Arc<Server> {
        &self.server
    }

    /// The connection's entry among all connections.
    pub fn entry(&self) -> &Arc<SessionEntry> {
        &self.entry
    }

    /// The session's variables.
    pub fn session_variables(&self) -> &SessionVariables {
        &self.variables
    }

    /// What the connection keeps in memory.
    pub fn budget(&self) -> &Arc<Budget> {
        &self.memory
    }

    /// The account of the login, as it was then.
    pub fn login_account(&self) -> &Arc<Account> {
        &self.account
    }

    /// The definer of the program that runs, or the account of the login: CURRENT_USER().
    pub fn current_account(&self) -> Arc<Account> {
        self.definers.account(&self.server).unwrap_or_else(|| self.account.clone())
    }

    /// The definers of the programs that run.
    pub fn definers(&self) -> &Definers {
        &self.definers
    }

    /// The account with the rights of its active roles, as they are now. One that has been dropped
    /// since the login has no rights left.
    pub fn account(&self) -> Arc<Account> {
        if let Some(definer) = self.definers.account(&self.server) {
            return definer;
        }
        self.rights.account(&self.server, &self.account)
    }

    /// The active roles that the account has now.
    pub fn active_roles(&self) -> BTreeSet<AccountName> {
        self.rights.active_roles(&self.server, &self.account)
    }

    /// The roles that were made active, whether the account still has them or not: what
    /// CURRENT_ROLE() gives.
    pub fn chosen_roles(&self) -> BTreeSet<AccountName> {
        self.rights.chosen_roles()
    }

    /// Activates the roles that SET ROLE chooses.
    ///
    /// # Errors
    /// 3530 when a role was not granted to the account.
    pub fn set_role(&self, choice: &RoleChoice) -> sql::Result<()> {
        self.rights.set_role(&self.server, &self.account, choice)
    }

    /// Changes whenever the session's rights may have changed.
    pub fn rights_generation(&self) -> u64 {
        self.definers.generation(self.rights.generation(&self.server))
    }

    /// True when nothing needs to be checked.
    pub fn may_do_everything(&self) -> bool {
        self.server.grants_are_skipped()
    }

    /// The client as it connected, `user@host`: what USER() gives.
    pub fn client(&self) -> String {
        let shown = self.entry.shown();
        match shown.client {
            Some(client) => client.to_owned(),
            None => format!("{}@{}", shown.user, without_port(&shown.host)),
        }
    }

    /// The host that the client connected from, which errors about tables and columns name. An
    /// event's is its definer's.
    pub fn client_host(&self) -> String {
        let shown = self.entry.shown();
        if shown.client.is_some() { shown.host } else { without_port(&shown.host).to_owned() }
    }

    /// Notes the current schema, and that the client is to be told of it where it tracks that.
    pub fn note_schema(&self, schema: Option<&str>) {
        self.entry.show(|s| s.schema = schema.map(str::to_owned));
        if self.variables.is_on("session_track_schema") {
            *self.schema_change.lock() = schema.map(str::to_owned);
        }
    }

    /// What the next OK packet tells clients of SESSION_TRACK.
    pub fn take_state_changes(&self) -> Vec<StateChange> {
        self.schema_change.lock().take().map(StateChange::Schema).into_iter().collect()
    }

    /// The server is to end as soon as the client has its answer.
    pub fn stop_when_answered(&self) {
        self.stops_server.store(true, Ordering::Relaxed);
    }

    /// The client has its answer.
    pub fn answered(&self) {
        if self.stops_server.load(Ordering::Relaxed) {
            crate::process::signals::raise_stop();
        }
    }

    /// The password has to be changed before anything else.
    pub fn is_sandboxed(&self) -> bool {
        self.is_sandboxed.load(Ordering::Relaxed)
    }

    /// The password has been changed, or has to be.
    pub fn set_sandboxed(&self, is_sandboxed: bool) {
        self.is_sandboxed.store(is_sandboxed, Ordering::Relaxed);
    }

    /// Lets a statement in, and counts it for the limits of its account.
    ///
    /// # Errors
    /// 1820 when the password has to be changed first, 1226 when a limit of an hour is reached.
    pub fn admit(&self, statement: StatementClass) -> sql::Result<()> {
        if self.is_sandboxed() && !statement.sets_password {
            return Err(password_expired());
        }
        match &self.place {
            Some(place) if !statement.is_prepared && place.counts_statements() => {
                place.count_statement(statement.changes_data, os::clock::now_us())
            }
            _ => Ok(()),
        }
    }

    /// Gives the session what it began with again (COM_RESET_CONNECTION).
    pub fn reset(&self) {
        self.held_locks.release_all();
        self.variables.begin_again(&self.server);
        self.refresh_limits();
        self.rights.begin_again(&self.server, &self.account);
        *self.schema_change.lock() = None;
    }

    /// A prepared statement begins whose kind is known.
    pub fn prepared_started(&self, kind: StatementKind, text: &str) {
        self.server.status.count_kind(kind);
        self.entry.show_statement(Some(text));
    }

    /// The user-level locks of this session.
    pub fn held_locks(&self) -> &HeldLocks {
        &self.held_locks
    }

    /// `max_allowed_packet` of this session.
    pub fn max_allowed_packet_bytes(&self) -> usize {
        self.limits.max_allowed_packet_bytes.load(Ordering::Relaxed) as usize
    }

    /// `long_query_time` of this session, in microseconds.
    pub fn long_query_time_us(&self) -> u64 {
        self.limits.long_query_time_us.load(Ordering::Relaxed)
    }

    /// How long the connection may be idle.
    pub fn wait_timeout(&self, is_interactive: bool) -> Duration {
        let limits = &self.limits;
        let limit = if is_interactive { &limits.interactive_timeout_s } else { &limits.wait_timeout_s };
        Duration::from_secs(limit.load(Ordering::Relaxed))
    }

    /// How long a client may say nothing when it is asked something within a command.
    pub fn net_read_timeout(&self) -> Duration {
        Duration::from_secs(self.limits.net_read_timeout_s.load(Ordering::Relaxed))
    }

    /// How long a client may read nothing of what it is sent.
    pub fn net_write_timeout(&self) -> Duration {
        Duration::from_secs(self.limits.net_write_timeout_s.load(Ordering::Relaxed))
    }
}

/// Returns a host without the port that SHOW PROCESSLIST shows it with.
pub fn without_port(host: &str) -> &str {
    host.rsplit_once(':').map_or(host, |(host, _port)| host)
}
