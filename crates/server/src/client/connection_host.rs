//! The state of one client's session besides what `sql::Session` keeps: its account and rights, its
//! variables and limits, its memory.

use crate::accounts::usage::UserPlace;
use crate::accounts::{Account, AccountName};
use crate::client::definers::Definers;
use crate::client::held_locks::HeldLocks;
use crate::client::login::Login;
use crate::client::session_rights::SessionRights;
use crate::server::Server;
use crate::server::sessions::SessionEntry;
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

/// The session variables that every command needs. Relaxed: only the connection's own thread writes
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

/// The server's side of one client's session. As [`sql::Host`] it answers what `sql::Session` asks
/// of the server around it.
pub struct ConnectionHost {
    server: Arc<Server>,
    entry: Arc<SessionEntry>,
    /// The account of the login.
    account: Arc<Account>,
    /// The rights of the account and its active roles.
    rights: SessionRights,
    /// The definers of the programs that are running, the outermost first.
    definers: Definers,
    variables: SessionVariables,
    limits: Limits,
    /// The memory that the connection keeps.
    memory: Arc<Budget>,
    /// The user-level locks that the session holds.
    held_locks: HeldLocks,
    /// True after SHUTDOWN, which takes effect when the client has its answer. Relaxed: only the
    /// connection's own thread uses it.
    stops_server: AtomicBool,
    /// The change of the current schema that the client has not been told yet.
    schema_change: Mutex<Option<String>>,
    /// True when the password must be changed before anything else. Relaxed: only the connection's
    /// own thread uses it.
    is_sandboxed: AtomicBool,
    /// The connection's place among the connections of its account. `None` means that grant tables
    /// are skipped.
    place: Option<UserPlace>,
}

/// Builds error 1820, which says that the password must be changed first.
pub fn password_expired() -> SqlError {
    SqlError::new(
        1820,
        "You must reset your password using ALTER USER statement before executing this statement.",
    )
}

impl ConnectionHost {
    /// Builds the host of the session of a client that has been let in.
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
        host.measure();
        host
    }

    /// Lets the statements of the session be measured.
    fn measure(&self) {
        let Some(measured) = &self.server.measured else { return };
        let shown = self.entry.shown();
        let host = without_port(&shown.host).to_owned();
        self.entry.measure(measured, (Some(shown.user), Some(host)));
    }

    /// Reads again the session variables that every command needs, because they may have been set.
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

    /// Returns the server.
    pub fn server(&self) -> &Arc<Server> {
        &self.server
    }

    /// Returns the connection's entry in the table of all connections.
    pub fn entry(&self) -> &Arc<SessionEntry> {
        &self.entry
    }

    /// Returns the session's variables.
    pub fn session_variables(&self) -> &SessionVariables {
        &self.variables
    }

    /// Returns the account of the memory that the connection keeps.
    pub fn budget(&self) -> &Arc<Budget> {
        &self.memory
    }

    /// Returns the account of the login, as it was at the login.
    pub fn login_account(&self) -> &Arc<Account> {
        &self.account
    }

    /// Returns the account of CURRENT_USER(): the definer of the running program, or the account of
    /// the login.
    pub fn current_account(&self) -> Arc<Account> {
        self.definers.account(&self.server).unwrap_or_else(|| self.account.clone())
    }

    /// Returns the definers of the programs that are running.
    pub fn definers(&self) -> &Definers {
        &self.definers
    }

    /// Returns the account with the rights of its active roles, as they are now. An account that
    /// has been dropped since the login has no rights left.
    pub fn account(&self) -> Arc<Account> {
        if let Some(definer) = self.definers.account(&self.server) {
            return definer;
        }
        self.rights.account(&self.server, &self.account)
    }

    /// Returns the active roles that the account has now.
    pub fn active_roles(&self) -> BTreeSet<AccountName> {
        self.rights.active_roles(&self.server, &self.account)
    }

    /// Returns the roles of CURRENT_ROLE(): those that were activated, whether or not the account
    /// still has them.
    pub fn chosen_roles(&self) -> BTreeSet<AccountName> {
        self.rights.chosen_roles()
    }

    /// Activates the roles that SET ROLE chooses.
    ///
    /// # Errors
    /// Returns 3530 when a role was not granted to the account.
    pub fn set_role(&self, choice: &RoleChoice) -> sql::Result<()> {
        self.rights.set_role(&self.server, &self.account, choice)
    }

    /// Returns a number that changes whenever the session's rights may have changed.
    pub fn rights_generation(&self) -> u64 {
        self.definers.generation(self.rights.generation(&self.server))
    }

    /// Reports whether nothing needs to be checked.
    pub fn may_do_everything(&self) -> bool {
        self.server.grants_are_skipped()
    }

    /// Returns the client as it connected, `user@host`, for USER().
    pub fn client(&self) -> String {
        let shown = self.entry.shown();
        match shown.client {
            Some(client) => client.to_owned(),
            None => format!("{}@{}", shown.user, without_port(&shown.host)),
        }
    }

    /// Returns the host that the client connected from, for errors about tables and columns. For an
    /// event it is the definer's host.
    pub fn client_host(&self) -> String {
        let shown = self.entry.shown();
        if shown.client.is_some() { shown.host } else { without_port(&shown.host).to_owned() }
    }

    /// Notes the current schema, and that the client has to be told of it if it tracks that.
    pub fn note_schema(&self, schema: Option<&str>) {
        self.entry.show(|s| s.schema = schema.map(str::to_owned));
        if self.variables.is_on("session_track_schema") {
            *self.schema_change.lock() = schema.map(str::to_owned);
        }
    }

    /// Takes the changes that the next OK packet reports to clients with SESSION_TRACK.
    pub fn take_state_changes(&self) -> Vec<StateChange> {
        self.schema_change.lock().take().map(StateChange::Schema).into_iter().collect()
    }

    /// Makes the server stop as soon as the client has its answer.
    pub fn stop_when_answered(&self) {
        self.stops_server.store(true, Ordering::Relaxed);
    }

    /// Notes that the client has its answer, and stops the server if SHUTDOWN was the command.
    pub fn answered(&self) {
        if self.stops_server.load(Ordering::Relaxed) {
            crate::process::signals::raise_stop();
        }
    }

    /// Reports whether the password must be changed before anything else.
    pub fn is_sandboxed(&self) -> bool {
        self.is_sandboxed.load(Ordering::Relaxed)
    }

    /// Sets whether the password must be changed before anything else.
    pub fn set_sandboxed(&self, is_sandboxed: bool) {
        self.is_sandboxed.store(is_sandboxed, Ordering::Relaxed);
    }

    /// Admits a statement, and counts it for the limits of its account.
    ///
    /// # Errors
    /// Returns 1820 (`ER_MUST_CHANGE_PASSWORD`) when the password must be changed first, and 1226
    /// (`ER_USER_LIMIT_REACHED`) when a limit of an hour is reached.
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

    /// Resets the session to its state after the login (COM_RESET_CONNECTION).
    pub fn reset(&self) {
        self.held_locks.release_all();
        self.variables.begin_again(&self.server);
        self.refresh_limits();
        self.rights.begin_again(&self.server, &self.account);
        *self.schema_change.lock() = None;
    }

    /// Notes that a prepared statement begins.
    pub fn prepared_started(&self, text: &str) {
        self.entry.show_statement(Some(text));
    }

    /// Returns the user-level locks of this session.
    pub fn held_locks(&self) -> &HeldLocks {
        &self.held_locks
    }

    /// Returns this session's `max_allowed_packet`, in bytes.
    pub fn max_allowed_packet_bytes(&self) -> usize {
        self.limits.max_allowed_packet_bytes.load(Ordering::Relaxed) as usize
    }

    /// `long_query_time` of this session, in microseconds.
    pub fn long_query_time_us(&self) -> u64 {
        self.limits.long_query_time_us.load(Ordering::Relaxed)
    }

    /// Returns how long the connection may be idle.
    pub fn wait_timeout(&self, is_interactive: bool) -> Duration {
        let limits = &self.limits;
        let limit = if is_interactive { &limits.interactive_timeout_s } else { &limits.wait_timeout_s };
        Duration::from_secs(limit.load(Ordering::Relaxed))
    }

    /// Returns how long a client may stay silent when it is asked something within a command.
    pub fn net_read_timeout(&self) -> Duration {
        Duration::from_secs(self.limits.net_read_timeout_s.load(Ordering::Relaxed))
    }

    /// Returns how long a client may take to read data that it is sent.
    pub fn net_write_timeout(&self) -> Duration {
        Duration::from_secs(self.limits.net_write_timeout_s.load(Ordering::Relaxed))
    }
}

/// Returns a host without the port that SHOW PROCESSLIST shows it with.
pub fn without_port(host: &str) -> &str {
    host.rsplit_once(':').map_or(host, |(host, _port)| host)
}
