//! The server as one session sees it: [`sql::Host`] for a connection.

use crate::accounts::Account;
use crate::accounts::usage::UserPlace;
use crate::login::Login;
use crate::server::Server;
use crate::session_rights::SessionRights;
use crate::sessions::SessionEntry;
use crate::status::StatementKind;
use crate::variables::{self, Scope, SessionValues, Setting, VariableId};
use parking_lot::Mutex;
use protocol::capability as cap;
use protocol::handshake::HandshakeResponse;
use protocol::response::StateChange;
use sql::admin::{AccountsChanged, AccountsLog};
use sql::memory::Budget;
use sql::{
    AdminCommand, Host, Privilege, ResultSink, Session, SessionInit, Sight, SqlError, StatementClass,
    VariableScope, VirtualTable,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use types::Value;

/// Session variables that every command asks for. Relaxed: the connection's own thread writes and
/// reads them.
#[derive(Default)]
struct Limits {
    max_allowed_packet_bytes: AtomicU64,
    wait_timeout_s: AtomicU64,
    interactive_timeout_s: AtomicU64,
    net_read_timeout_s: AtomicU64,
    net_write_timeout_s: AtomicU64,
}

/// What a session needs of the server around it.
pub struct ConnectionHost {
    server: Arc<Server>,
    entry: Arc<SessionEntry>,
    /// The account of the login.
    account: Arc<Account>,
    /// What the account and its active roles may do.
    pub(crate) rights: SessionRights,
    limits: Limits,
    /// What the connection keeps in memory.
    memory: Arc<Budget>,
    /// The server's own sessions may do everything and are not counted.
    is_internal: bool,
    /// Lock order: held alone.
    values: Mutex<SessionValues>,
    /// SHUTDOWN was carried out, and the client is to hear of it before the end begins. Relaxed: of
    /// the connection's own thread.
    stops_server: AtomicBool,
    /// The change of the current schema that the client has not been told yet.
    schema_change: Mutex<Option<String>>,
    /// The password has to be changed before anything else. Relaxed: of the connection's own
    /// thread.
    is_sandboxed: AtomicBool,
    /// Among the connections of its account, with what it may use.
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
    /// The host of a client's connection.
    pub fn new(server: Arc<Server>, entry: Arc<SessionEntry>, login: Login) -> ConnectionHost {
        entry.show(|s| s.account = login.account.shown());
        let mut host = Self::with(server, entry, login.account, false);
        host.is_sandboxed = AtomicBool::new(login.is_sandboxed);
        host.place = login.place;
        host
    }

    fn with(
        server: Arc<Server>,
        entry: Arc<SessionEntry>,
        account: Arc<Account>,
        is_internal: bool,
    ) -> ConnectionHost {
        let values = Mutex::new(server.globals.session());
        let rights = SessionRights::of_login(&server, &account);
        let (limits, schema_change) = (Limits::default(), Mutex::default());
        let memory = Budget::new(server.memory.clone());
        memory.set_exempt(is_internal || account.administers(&["CONNECTION_ADMIN"]));
        let host = ConnectionHost {
            server,
            entry,
            account,
            rights,
            limits,
            memory,
            is_internal,
            values,
            stops_server: AtomicBool::new(false),
            schema_change,
            is_sandboxed: AtomicBool::new(false),
            place: None,
        };
        host.refresh_limits();
        host
    }

    fn refresh_limits(&self) {
        let set = |limit: &AtomicU64, name: &str| limit.store(self.session_uint(name), Ordering::Relaxed);
        set(&self.limits.max_allowed_packet_bytes, "max_allowed_packet");
        set(&self.limits.wait_timeout_s, "wait_timeout");
        set(&self.limits.interactive_timeout_s, "interactive_timeout");
        set(&self.limits.net_read_timeout_s, "net_read_timeout");
        set(&self.limits.net_write_timeout_s, "net_write_timeout");
        self.memory.set_limits(
            self.session_uint("connection_memory_limit"),
            self.session_uint("connection_memory_chunk_size"),
            self.session_value("global_connection_memory_tracking").is_on(),
        );
    }

    /// The host of a session that the server runs for itself.
    pub fn internal(server: Arc<Server>) -> ConnectionHost {
        let entry = server.sessions.detached();
        let account = Arc::new(Account {
            user: "mysql.session".into(),
            host: "localhost".into(),
            ..Account::default()
        });
        Self::with(server, entry, account, true)
    }

    /// A session on top of this host.
    pub fn new_session(self: &Arc<Self>, response: &HandshakeResponse) -> sql::Result<Session> {
        let init = SessionInit {
            collation: response.collation,
            found_rows: response.capabilities & cap::FOUND_ROWS != 0,
            multi_statements: response.capabilities & cap::MULTI_STATEMENTS != 0,
            schema: None,
        };
        Session::new(self.server.engine.clone(), self.clone(), init)
    }

    /// The server.
    pub fn server(&self) -> &Arc<Server> {
        &self.server
    }

    /// The account of the login, as it was then.
    pub(crate) fn login_account(&self) -> &Arc<Account> {
        &self.account
    }

    /// The server's own session.
    pub(crate) fn is_internal(&self) -> bool {
        self.is_internal
    }

    /// The connection's entry.
    pub fn entry(&self) -> &Arc<SessionEntry> {
        &self.entry
    }

    /// True when nothing needs to be checked.
    pub fn may_do_everything(&self) -> bool {
        self.is_internal || self.server.grants_are_skipped()
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
            crate::signals::raise_stop();
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

    /// True when a session variable is on.
    pub fn session_is_on(&self, name: &str) -> bool {
        variables::find(name).is_some_and(|id| self.values.lock().get(id).is_on())
    }

    /// COM_RESET_CONNECTION: values of the start again.
    pub fn reset(&self) {
        *self.values.lock() = self.server.globals.session();
        self.refresh_limits();
        self.rights.begin_again(&self.server, &self.account);
        *self.schema_change.lock() = None;
    }

    /// A prepared statement begins whose kind is known.
    pub fn prepared_started(&self, kind: StatementKind, text: &str) {
        self.server.status.count_kind(kind);
        self.entry.show_statement(Some(text));
    }

    /// `max_allowed_packet` of this session.
    pub fn max_allowed_packet_bytes(&self) -> usize {
        self.limits.max_allowed_packet_bytes.load(Ordering::Relaxed) as usize
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

    fn session_uint(&self, name: &str) -> u64 {
        self.session_value(name).uint()
    }

    fn session_value(&self, name: &str) -> Setting {
        match variables::find(name) {
            Some(id) => self.values.lock().get(id),
            None => panic!("there is no system variable '{name}'"),
        }
    }

    fn now(&self, scope: VariableScope, id: VariableId) -> Setting {
        match (scope, id.definition().scope) {
            (VariableScope::Session, Scope::Session | Scope::SessionOnly) => self.values.lock().get(id),
            _ => variables::global_now(&self.server, id),
        }
    }
}

/// Variables whose session values limit the session: it may not set them by itself.
const RESTRICTED: &[&str] =
    &["connection_memory_chunk_size", "connection_memory_limit", "global_connection_memory_tracking"];

impl Host for ConnectionHost {
    fn connection_id(&self) -> u32 {
        self.entry.id
    }

    fn note_transaction(&self, transaction_id: u64) {
        self.entry.set_transaction_id(transaction_id);
    }

    fn user(&self) -> String {
        let shown = self.entry.shown();
        let host = shown.host.rsplit_once(':').map_or(&*shown.host, |(host, _port)| host);
        format!("{}@{host}", shown.user)
    }

    fn current_user(&self) -> String {
        self.account.shown()
    }

    fn check_privilege(
        &self,
        privilege: Privilege,
        schema: Option<&str>,
        table: Option<&str>,
    ) -> sql::Result<()> {
        self.check_one(privilege, schema, table)
    }

    fn check_table(&self, wanted: &[Privilege], schema: &str, table: &str) -> sql::Result<()> {
        self.check_all(wanted, schema, table)
    }

    fn check_row_locks(&self, schema: &str, table: &str) -> sql::Result<()> {
        self.check_locking(schema, table)
    }

    fn check_routine(
        &self,
        wanted: Privilege,
        kind: engine::ObjectKind,
        schema: &str,
        name: &str,
    ) -> sql::Result<()> {
        self.check_on_routine(wanted, kind, schema, name)
    }

    fn routine_changed(&self, change: &sql::RoutineChange<'_>) -> sql::Result<()> {
        let maker = change.made_by.filter(|_| !self.may_do_everything()).map(|_| self.account());
        match (change.made_by, maker) {
            (Some(_), None) => Ok(()),
            (_, maker) => {
                let grantor = self.login_account().shown();
                crate::admin::routine_changed(self.server(), maker.as_deref(), change, &grantor)
            }
        }
    }

    fn check_definer(&self, definer: (&str, &str)) -> sql::Result<()> {
        self.check_definer_is_allowed(definer)
    }

    fn check_defined_by(&self, definer: (&str, &str)) -> sql::Result<()> {
        self.check_definer_is_not_above(definer)
    }

    fn check_function_creator(&self, is_safe: bool) -> sql::Result<()> {
        self.check_may_make_functions(is_safe)
    }

    fn check_administers(&self, wording: &str, privileges: &[&str]) -> sql::Result<()> {
        let account = self.account();
        let holds = |name: &&str| match crate::accounts::Privileges::named(name) {
            Some(privilege) => account.global.contains(privilege),
            None => account.dynamic.contains_key(*name),
        };
        match self.may_do_everything() || privileges.iter().any(holds) {
            true => Ok(()),
            false => Err(crate::accounts::needs_privilege(wording)),
        }
    }

    fn check_sight(&self, sight: Sight<'_>) -> sql::Result<()> {
        self.check_seen(sight)
    }

    fn has_column_privilege(&self, privilege: Privilege, schema: &str, table: &str) -> bool {
        self.account().on_columns_of(schema, table).intersects(crate::checks::bits(privilege))
    }

    fn check_all_columns(
        &self,
        privilege: Privilege,
        schema: &str,
        table: &str,
        columns: &mut dyn Iterator<Item = &str>,
    ) -> sql::Result<()> {
        self.check_on_all_columns(privilege, schema, table, columns)
    }

    fn check_any_use(&self, schema: &str, table: &str) -> sql::Result<()> {
        self.check_some_use(schema, table)
    }

    fn column_privileges(&self, schema: &str, table: &str, column: &str) -> String {
        self.held_on_column(schema, table, column)
    }

    fn check_column(&self, privilege: Privilege, schema: &str, table: &str, column: &str) -> sql::Result<()> {
        self.check_on_column(privilege, schema, table, column)
    }

    fn privileges_generation(&self) -> u64 {
        self.rights.generation(&self.server)
    }

    fn current_role(&self) -> String {
        crate::accounts::roles::list(&self.active_roles())
    }

    fn roles_graphml(&self) -> String {
        let administers = self.may_do_everything() || self.account().administers(&["ROLE_ADMIN"]);
        crate::accounts::roles::graphml(administers.then(|| self.server().accounts.table()).as_deref())
    }

    fn variable(&self, scope: VariableScope, name: &str) -> sql::Result<Option<Value>> {
        let Some(id) = variables::find(name) else { return Ok(None) };
        if scope == VariableScope::Global && id.definition().scope == Scope::SessionOnly {
            return Ok(None);
        }
        Ok(Some(self.now(scope, id).to_value()))
    }

    fn is_read_only(&self) -> sql::Result<bool> {
        Ok(self.server.globals.is_read_only())
    }

    fn check_set_session(&self, name: &str) -> sql::Result<()> {
        self.check_set_own(name)
    }

    fn has_variable(&self, name: &str) -> bool {
        variables::find(name).is_some()
    }

    fn check_set(&self, scope: VariableScope, name: &str, value: Option<&Value>) -> sql::Result<bool> {
        let id = variables::find(name).ok_or_else(|| SqlError::unknown_variable(name))?;
        let definition = id.definition();
        if scope != VariableScope::Session {
            self.check_set_global(definition, scope)?;
            if scope != VariableScope::Global {
                return Err(SqlError::not_supported("SET PERSIST"));
            }
            return variables::check_global(&self.server, id, value);
        }
        if definition.read_only {
            return Err(variables::read_only(name));
        }
        if definition.scope == Scope::Global {
            let text = format!("Variable '{name}' is a GLOBAL variable and should be set with SET GLOBAL");
            return Err(SqlError::new(1229, text));
        }
        if RESTRICTED.contains(&name) {
            let wording = "SUPER, SYSTEM_VARIABLES_ADMIN or SESSION_VARIABLES_ADMIN";
            self.require_admin(wording, &["SYSTEM_VARIABLES_ADMIN", "SESSION_VARIABLES_ADMIN"])?;
        }
        definition.from_sql(value).map(|(_, is_moved)| is_moved)
    }

    fn set_variable(&self, scope: VariableScope, name: &str, value: Option<&Value>) -> sql::Result<()> {
        let id = variables::find(name).ok_or_else(|| SqlError::unknown_variable(name))?;
        if scope != VariableScope::Session {
            return variables::set_global(&self.server, id, value);
        }
        let setting = match value {
            Some(_) => id.definition().from_sql(value)?.0,
            None => self.server.globals.get(id),
        };
        self.values.lock().set(id, setting);
        self.refresh_limits();
        Ok(())
    }

    fn variables(&self, scope: VariableScope) -> Vec<(String, String)> {
        let shown = |id: VariableId| {
            let is_there = scope != VariableScope::Global || id.definition().scope != Scope::SessionOnly;
            is_there.then(|| self.now(scope, id).to_string())
        };
        let named = variables::all().map(|id| (id.definition().name, id)).chain(variables::aliases());
        let mut all: Vec<(String, String)> =
            named.filter_map(|(name, id)| Some((name.to_owned(), shown(id)?))).collect();
        all.sort();
        all
    }

    fn status(&self, _scope: VariableScope) -> Vec<(String, String)> {
        let mut all = crate::show_status::list(&self.server);
        let encryption = self.entry.encryption();
        let (version, cipher) = encryption.map_or_else(Default::default, |it| (it.version, it.cipher));
        all.extend([("Ssl_cipher".to_owned(), cipher), ("Ssl_version".to_owned(), version)]);
        all.sort();
        all
    }

    fn virtual_table(&self, schema: &str, table: &str) -> Option<VirtualTable> {
        crate::virtual_tables::table(self, schema, table)
    }

    fn check_file_access(&self) -> sql::Result<()> {
        self.check_may_use_files()
    }

    fn truncate_virtual_table(&self, schema: &str, table: &str) -> sql::Result<()> {
        crate::virtual_tables::truncate(self, schema, table)
    }

    fn virtual_tables(&self, schema: &str) -> Vec<String> {
        crate::virtual_tables::names(schema)
    }

    fn admin(&self, command: AdminCommand, status: u16, sink: &mut dyn ResultSink) -> sql::Result<()> {
        crate::admin::carry_out(self, command, status, sink)
    }

    fn change_accounts(&self, command: &AdminCommand, log: &AccountsLog<'_>) -> sql::Result<AccountsChanged> {
        crate::admin::change_accounts(self, command, log)
    }

    fn memory(&self) -> Arc<Budget> {
        self.memory.clone()
    }

    fn take_prepared_place(&self) -> sql::Result<()> {
        let limit = self.server.globals.named("max_prepared_stmt_count").uint();
        if self.is_internal || self.server.status.prepared_statements.add_one_below(limit) {
            return Ok(());
        }
        let text =
            format!("Can't create more than max_prepared_stmt_count statements (current value: {limit})");
        Err(SqlError::new(1461, text))
    }

    fn give_prepared_place_back(&self) {
        if !self.is_internal {
            self.server.status.prepared_statements.subtract_one();
        }
    }

    fn interrupt_flag(&self) -> Option<Arc<AtomicBool>> {
        Some(self.entry.kill_flag())
    }

    fn begin_time_limit(&self, limit: Duration) -> bool {
        self.server.status.max_execution_time_set.add_one();
        self.server.time_limits.begin(&self.entry, limit);
        true
    }

    fn end_time_limit(&self) -> bool {
        let has_passed = self.server.time_limits.end(&self.entry);
        if has_passed {
            self.server.status.max_execution_time_exceeded.add_one();
        }
        has_passed
    }

    fn sleep(&self, duration: Duration) -> bool {
        #[cfg(test)]
        assert_ne!(duration, crate::panic_hook::PANICS, "a test asks for a panic");
        self.entry.sleep(duration)
    }

    fn admit_statement(&self, statement: StatementClass) -> sql::Result<()> {
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

    fn statement_started(&self, text: Option<&str>) {
        if let Some(text) = text
            && !self.is_internal
        {
            self.server.status.count_statement(text);
        }
        self.entry.show_statement(text);
    }

    fn schema_changed(&self, schema: Option<&str>) {
        self.entry.show(|s| s.schema = schema.map(str::to_owned));
        let is_tracked =
            variables::find("session_track_schema").is_some_and(|id| self.values.lock().get(id).is_on());
        if is_tracked {
            *self.schema_change.lock() = schema.map(str::to_owned);
        }
    }

    fn wait_for_executed_gtid_set(&self, set: &str, timeout: Option<Duration>) -> sql::Result<bool> {
        let wanted: binlog::gtid::GtidSet = set
            .parse()
            .map_err(|_| SqlError::new(1772, format!("Malformed GTID set specification '{set}'.")))?;
        if self.server.engine.gtid_mode() == engine::GtidMode::Off {
            return Err(SqlError::new(3062, "Cannot use WAIT_FOR_EXECUTED_GTID_SET when GTID_MODE = OFF."));
        }
        let waiters = &self.server.gtid_waiters;
        waiters.fetch_add(1, Ordering::SeqCst);
        let reached =
            self.poll(timeout, || wanted.is_subset(&self.server.engine.gtid_executed()).then_some(()));
        waiters.fetch_sub(1, Ordering::SeqCst);
        Ok(reached?.is_some())
    }

    fn binlog_gtid_pos(&self, log_file: &str, log_pos: u64) -> Option<String> {
        let found = self.server.open_binlog()?.mariadb_gtid_at(log_file, log_pos).ok()?;
        Some(found.map(|gtid| gtid.to_string()).unwrap_or_default())
    }

    fn source_pos_wait(
        &self,
        log_file: &str,
        log_pos: u64,
        timeout: Option<Duration>,
        channel: &str,
    ) -> sql::Result<Option<i64>> {
        let target = (log_file, log_pos);
        let channel =
            self.server.replica.channel(channel).map_err(|e| sql::SqlError::new(e.code, e.message))?;
        let reached = self.poll(timeout, || match channel.status() {
            None => Some(None),
            Some(s) if (s.exec_file.as_str(), s.exec_pos) >= target => Some(Some(0)),
            Some(s) if s.sql_running == replica::status::Running::No => Some(None),
            Some(_) => None,
        });
        Ok(reached?.unwrap_or(Some(-1)))
    }
}

/// How often a condition that has no event of its own is looked at.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

impl ConnectionHost {
    /// Asks until there is an answer or the time is over; error 1317 when the statement is
    /// interrupted.
    fn poll<T>(&self, timeout: Option<Duration>, ask: impl Fn() -> Option<T>) -> sql::Result<Option<T>> {
        let watch = os::clock::Stopwatch::start();
        loop {
            if let Some(answer) = ask() {
                return Ok(Some(answer));
            }
            let left = timeout.map_or(POLL_INTERVAL, |limit| watch.remaining(limit));
            if left.is_zero() {
                return Ok(None);
            }
            if self.entry.sleep(left.min(POLL_INTERVAL)) {
                return Err(SqlError::interrupted());
            }
        }
    }
}
