//! The answers to what a client's session asks of the server: [`sql::Host`] for a connection.

use crate::accounts::{Privileges, needs_privilege, roles};
use crate::admin::{self, RARE_HEARTBEAT, account_changes};
use crate::client::checks::Holder;
use crate::client::connection_host::ConnectionHost;
use crate::client::secrets;
use crate::show::{status, virtual_tables};
use crate::variables::{self, Origin};
use engine::{Engine, ReadOnly};
use protocol::capability as cap;
use protocol::handshake::HandshakeResponse;
use replica::SessionRows;
use sql::admin::{AccountsChanged, AccountsLog};
use sql::counters::Counters;
use sql::measured::MeasuredSession;
use sql::memory::Budget;
use sql::{
    AdminCommand, ComputedTable, Host, Privilege, ResultSink, RowEvents, RunningPlan, Session, SessionInit,
    SetupAction, SetupChange, Sight, SqlError, StatementClass, StatementLog, TransactionKind, UserLocks,
    VariableScope,
};
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use types::Value;

/// Builds the session of a client that has been let in.
pub fn new_session(host: &Arc<ConnectionHost>, response: &HandshakeResponse) -> sql::Result<Session> {
    let init = SessionInit {
        collation: response.collation,
        found_rows: response.capabilities & cap::FOUND_ROWS != 0,
        multi_statements: response.capabilities & cap::MULTI_STATEMENTS != 0,
        ps_multi_results: response.capabilities & cap::PS_MULTI_RESULTS != 0,
        schema: None,
    };
    Session::new(host.server().engine.clone(), host.clone(), init)
}

/// Builds a session for one run of an event, whose results no client reads.
pub fn new_event_session(host: &Arc<ConnectionHost>) -> sql::Result<Session> {
    Session::new(host.server().engine.clone(), host.clone(), SessionInit::default())
}

/// The variables whose session values limit the session, so that it may not set them itself.
const RESTRICTED: &[&str] =
    &["connection_memory_chunk_size", "connection_memory_limit", "global_connection_memory_tracking"];

impl Host for ConnectionHost {
    fn connection_id(&self) -> u32 {
        self.entry().id
    }

    fn statement_log(&self) -> Option<&dyn StatementLog> {
        (self.server().query_logs.is_any_on() || self.server().audit.is_on()).then_some(self)
    }

    fn measured(&self) -> Option<Arc<MeasuredSession>> {
        self.entry().measured().cloned()
    }

    fn without_secrets<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        match std::str::from_utf8(text) {
            Ok(text) => match secrets::without_secrets(Cow::Borrowed(text), false) {
                Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
                Cow::Owned(text) => Cow::Owned(text.into_bytes()),
            },
            Err(_) => {
                let text = secrets::without_secrets(String::from_utf8_lossy(text), false);
                Cow::Owned(text.into_owned().into_bytes())
            }
        }
    }

    fn row_events(&self, engine: &Arc<Engine>) -> sql::Result<Option<Box<dyn RowEvents>>> {
        let allowed = self.server().replica.apply_settings().type_conversions();
        let mode = self.variable(VariableScope::Session, "rbr_exec_mode")?;
        let idempotent = matches!(mode, Some(Value::Bytes(name)) if name == b"IDEMPOTENT");
        Ok(Some(Box::new(SessionRows::new(engine.clone(), allowed, idempotent))))
    }

    fn note_transaction(&self, transaction_id: u64, kind: TransactionKind) {
        self.entry().set_transaction(transaction_id, kind);
    }

    fn user(&self) -> String {
        self.client()
    }

    fn current_user(&self) -> String {
        self.current_account().shown()
    }

    fn check_privilege(
        &self,
        privilege: Privilege,
        schema: Option<&str>,
        table: Option<&str>,
    ) -> sql::Result<()> {
        Holder::of_session(self).check_one(privilege, schema, table, virtual_tables::is_one)
    }

    fn routine_changed(&self, change: &sql::RoutineChange<'_>) -> sql::Result<()> {
        let maker = change.made_by.filter(|_| !self.may_do_everything()).map(|_| self.account());
        match (change.made_by, maker) {
            (Some(_), None) => Ok(()),
            (_, maker) => {
                let grantor = self.login_account().shown();
                account_changes::routine_changed(self.server(), maker.as_deref(), change, &grantor)
            }
        }
    }

    fn check_definer(&self, definer: (&str, &str)) -> sql::Result<()> {
        self.check_definer_is_allowed(definer)
    }

    fn check_defined_by(&self, definer: (&str, &str)) -> sql::Result<()> {
        self.check_definer_is_not_above(definer)
    }

    fn act_as(&self, definer: (&str, &str)) -> sql::Result<()> {
        match self.may_do_everything() {
            true => Ok(()),
            false => self.definers().push(self.server(), definer),
        }
    }

    fn events_changed(&self) {
        self.server().events.events_changed();
    }

    fn act_no_more(&self) {
        if !self.may_do_everything() {
            self.definers().pop();
        }
    }

    fn check_function_creator(&self, is_safe: bool) -> sql::Result<()> {
        self.check_may_make_functions(is_safe)
    }

    fn check_administers(&self, wording: &str, privileges: &[&str]) -> sql::Result<()> {
        let account = self.account();
        let holds = |name: &&str| match Privileges::named(name) {
            Some(privilege) => account.global.contains(privilege),
            None => account.dynamic.contains_key(*name),
        };
        match self.may_do_everything() || privileges.iter().any(holds) {
            true => Ok(()),
            false => Err(needs_privilege(wording)),
        }
    }

    fn check_sight(&self, sight: Sight<'_>) -> sql::Result<()> {
        Holder::of_session(self).check_seen(sight)
    }

    fn check_any_use(&self, schema: &str, table: &str) -> sql::Result<()> {
        Holder::of_session(self).check_some_use(schema, table)
    }

    fn column_privileges(&self, schema: &str, table: &str, column: &str) -> String {
        Holder::of_session(self).held_on_column(schema, table, column)
    }

    fn privileges_generation(&self) -> u64 {
        self.rights_generation()
    }

    fn current_role(&self) -> String {
        roles::list(&self.chosen_roles())
    }

    fn roles_graphml(&self) -> String {
        let administers = self.may_do_everything() || self.account().administers(&["ROLE_ADMIN"]);
        roles::graphml(administers.then(|| self.server().accounts.table()).as_deref())
    }

    fn variable(&self, scope: VariableScope, name: &str) -> sql::Result<Option<Value>> {
        Ok(self.session_variables().value(self.server(), scope, name))
    }

    fn is_read_only(&self) -> sql::Result<bool> {
        Ok(self.server().globals.is_read_only())
    }

    fn commits_refused_from(&self) -> Option<ReadOnly> {
        // With `read_only` on, only an account with CONNECTION_ADMIN gets as far as a commit. While
        // it is off, the account's privileges are not looked up: the rare commit of such an account
        // at the moment when `read_only` is turned on is refused like the others.
        Some(if self.server().globals.is_read_only() { ReadOnly::All } else { ReadOnly::Ordinary })
    }

    fn check_set_session(&self, name: &str) -> sql::Result<()> {
        self.check_set_own(name)?;
        if let Some(id) = variables::find(name) {
            self.server().globals.note_origin(id, Origin::now(self.account().name()));
        }
        Ok(())
    }

    fn has_variable(&self, name: &str) -> bool {
        variables::find(name).is_some()
    }

    fn check_scope(&self, scope: VariableScope, name: &str) -> sql::Result<()> {
        variables::check_scope(scope, name)
    }

    fn check_set(&self, scope: VariableScope, name: &str, value: Option<&Value>) -> sql::Result<bool> {
        if scope == VariableScope::Session {
            let id = variables::settable(name)?;
            if RESTRICTED.contains(&name) {
                let wording = "SUPER, SYSTEM_VARIABLES_ADMIN or SESSION_VARIABLES_ADMIN";
                self.require_admin(wording, &["SYSTEM_VARIABLES_ADMIN", "SESSION_VARIABLES_ADMIN"])?;
            }
            return id.definition().from_sql(value).map(|(_, is_moved)| is_moved);
        }
        let id = variables::find(name).ok_or_else(|| SqlError::unknown_variable(name))?;
        self.check_set_global(id.definition(), scope)?;
        if scope != VariableScope::Global {
            variables::check_persist(id.definition(), scope, value)?;
        }
        match scope {
            VariableScope::PersistOnly => Ok(false),
            _ => variables::check_global(self.server(), id, value),
        }
    }

    fn set_variable(&self, scope: VariableScope, name: &str, value: Option<&Value>) -> sql::Result<()> {
        if scope != VariableScope::Session {
            let id = variables::find(name).ok_or_else(|| SqlError::unknown_variable(name))?;
            if scope != VariableScope::PersistOnly {
                variables::set_global(self.server(), id, value)?;
                self.server().globals.note_origin(id, Origin::now(self.account().name()));
            }
            return match scope {
                VariableScope::Global => Ok(()),
                _ => variables::persist(self.server(), self.account().name(), id, scope, value),
            };
        }
        self.session_variables().set(self.server(), variables::settable(name)?, value)?;
        self.refresh_limits();
        Ok(())
    }

    fn warnings_of_global(&self, name: &str) -> Vec<(u16, String)> {
        if !matches!(name, "replica_net_timeout" | "slave_net_timeout") {
            return Vec::new();
        }
        let timeout_s = self.server().globals.named("replica_net_timeout").uint() as f64;
        let statuses = self.server().replica.statuses().into_iter();
        let configs = statuses.map(|status| status.config).filter(|config| !config.host.is_empty());
        let late = configs.filter(|config| config.heartbeat_period_s > timeout_s);
        late.map(|_| (1704, RARE_HEARTBEAT.to_owned())).collect()
    }

    fn reset_persisted(&self, name: Option<&str>) -> sql::Result<bool> {
        variables::reset_persisted(self.server(), name, |definition| self.check_reset(definition))
    }

    fn variables(&self, scope: VariableScope) -> Vec<(String, String)> {
        self.session_variables().list(self.server(), scope)
    }

    fn listed_name(&self, name: &str) -> Option<&'static str> {
        variables::listed_name(name)
    }

    fn status(&self, scope: VariableScope) -> Vec<(String, String)> {
        status::of_session(self.server(), self.entry(), scope)
    }

    fn virtual_table(&self, schema: &str, table: &str) -> Option<ComputedTable<'_>> {
        virtual_tables::table(self, schema, table)
    }

    fn check_file_access(&self) -> sql::Result<()> {
        self.check_may_use_files()
    }

    fn thread_of_connection(&self, connection_id: u32) -> Option<u64> {
        virtual_tables::thread_of_connection(self, connection_id)
    }

    fn truncate_virtual_table(&self, schema: &str, table: &str) -> sql::Result<()> {
        virtual_tables::truncate(self, schema, table)
    }

    fn check_setup(&self, action: SetupAction, table: &str) -> sql::Result<()> {
        virtual_tables::check_setup(self, action, table)
    }

    fn change_setup(&self, table: &str, change: SetupChange<'_>) -> sql::Result<()> {
        virtual_tables::change_setup(self, table, change)
    }

    fn virtual_tables(&self, schema: &str) -> Vec<String> {
        virtual_tables::names(schema)
    }

    fn admin(&self, command: AdminCommand, status: u16, sink: &mut dyn ResultSink) -> sql::Result<()> {
        admin::carry_out(self, command, status, sink)
    }

    fn change_accounts(&self, command: &AdminCommand, log: &AccountsLog<'_>) -> sql::Result<AccountsChanged> {
        account_changes::change_accounts(self, command, log)
    }

    fn memory(&self) -> Arc<Budget> {
        self.budget().clone()
    }

    fn take_prepared_place(&self) -> sql::Result<()> {
        let limit = self.server().globals.named("max_prepared_stmt_count").uint();
        if self.server().status.prepared_statements.add_one_below(limit) {
            return Ok(());
        }
        let text =
            format!("Can't create more than max_prepared_stmt_count statements (current value: {limit})");
        Err(SqlError::new(1461, text))
    }

    fn give_prepared_place_back(&self) {
        self.server().status.prepared_statements.subtract_one();
    }

    fn counters(&self) -> Arc<Counters> {
        self.entry().counters().clone()
    }

    fn interrupt_flag(&self) -> Option<Arc<AtomicBool>> {
        Some(self.entry().kill_flag())
    }

    fn begin_time_limit(&self, limit: Duration) -> bool {
        self.server().status.max_execution_time_set.add_one();
        self.server().time_limits.begin(self.entry(), limit);
        true
    }

    fn end_time_limit(&self) -> bool {
        let has_passed = self.server().time_limits.end(self.entry());
        if has_passed {
            self.server().status.max_execution_time_exceeded.add_one();
        }
        has_passed
    }

    fn user_locks(&self) -> Option<&dyn UserLocks> {
        Some(self.held_locks())
    }

    fn note_unsafe_foreign_keys(&self, count: u64) {
        self.server().status.note_unsafe_foreign_keys(count);
    }

    fn sleep(&self, duration: Duration) -> bool {
        #[cfg(test)]
        assert_ne!(duration, crate::process::panic_hook::PANICS, "a test asks for a panic");
        self.entry().sleep(duration)
    }

    fn admit_statement(&self, statement: StatementClass) -> sql::Result<()> {
        self.admit(statement)
    }

    fn statement_started(&self, text: Option<&str>) {
        self.entry().show_statement(text);
    }

    fn plan_runs(&self, plan: Option<RunningPlan>) {
        self.entry().set_plan(plan);
    }

    fn plan_of_connection(&self, connection_id: u64) -> sql::Result<RunningPlan> {
        self.plan_of(connection_id)
    }

    fn schema_changed(&self, schema: Option<&str>) {
        self.note_schema(schema);
    }

    fn wait_for_executed_gtid_set(&self, set: &str, timeout: Option<Duration>) -> sql::Result<bool> {
        let wanted: binlog::gtid::GtidSet = set
            .parse()
            .map_err(|_| SqlError::new(1772, format!("Malformed GTID set specification '{set}'.")))?;
        if self.server().engine.gtid_mode() == engine::GtidMode::Off {
            return Err(SqlError::new(3062, "Cannot use WAIT_FOR_EXECUTED_GTID_SET when GTID_MODE = OFF."));
        }
        let waiters = &self.server().gtid_waiters;
        waiters.fetch_add(1, Ordering::SeqCst);
        let reached =
            poll(self, timeout, || wanted.is_subset(&self.server().engine.gtid_executed()).then_some(()));
        let before = waiters.fetch_sub(1, Ordering::SeqCst);
        assert!(before > 0, "a session that stops to wait was counted");
        Ok(reached?.is_some())
    }

    fn binlog_gtid_pos(&self, log_file: &str, log_pos: u64) -> Option<String> {
        let found = self.server().open_binlog()?.mariadb_gtid_at(log_file, log_pos).ok()?;
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
            self.server().replica.channel(channel).map_err(|e| sql::SqlError::new(e.code, e.message))?;
        let reached = poll(self, timeout, || match channel.status() {
            None => Some(None),
            Some(s) if (s.exec_file.as_str(), s.exec_pos) >= target => Some(Some(0)),
            Some(s) if s.sql_running == replica::status::Running::No => Some(None),
            Some(_) => None,
        });
        Ok(reached?.unwrap_or(Some(-1)))
    }
}

/// The interval at which a condition without a notification of its own is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Asks until there is an answer or the time is over, which `None` means.
///
/// # Errors
/// Returns 1317 (`ER_QUERY_INTERRUPTED`) when the statement is interrupted.
fn poll<T>(
    host: &ConnectionHost,
    timeout: Option<Duration>,
    ask: impl Fn() -> Option<T>,
) -> sql::Result<Option<T>> {
    let watch = os::clock::Stopwatch::start();
    loop {
        if let Some(answer) = ask() {
            return Ok(Some(answer));
        }
        let left = timeout.map_or(POLL_INTERVAL, |limit| watch.remaining(limit));
        if left.is_zero() {
            return Ok(None);
        }
        if host.entry().sleep(left.min(POLL_INTERVAL)) {
            return Err(SqlError::interrupted());
        }
    }
}
