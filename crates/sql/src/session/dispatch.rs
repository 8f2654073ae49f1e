//! Chooses how a statement is run.

use super::classes::{class_of, class_of_bound, is_about_rows};
use super::locked_tables::active_locks;
use super::state::LastInsert;
use super::statement_names::name_of;
use super::warned::Warned;
use super::{
    Session, accounts, bound, ddl, explain, locked_tables, maintain, measuring, privileges, refused, results,
    set, set_var, setup_tables, show, transaction, watched,
};
use crate::admin::{AdminCommand, FlushTarget, PurgeTo};
use crate::ast::{Show, Statement};
use crate::error::{Result, SqlError};
use crate::expr::Level;
use crate::host::Privilege;
use crate::memory::{Charge, LONG_VALUE_BYTES};
use crate::parse::{Hints, parse_watched};
use crate::sink::ResultSink;
use os::account::{State, enter};
use std::sync::Arc;

impl Session {
    /// Runs the statements of a text (COM_QUERY). The result of each goes to the sink. The first
    /// error ends the text.
    pub fn execute(&mut self, text: &[u8], sink: &mut dyn ResultSink) -> Result<()> {
        let text = types::collation::to_utf8mb4(self.settings.variables.client_collation, text);
        let mut rest: &[u8] = &text;
        loop {
            let done = watched::run(self, sink, rest, |session, sink| session.execute_first(rest, sink));
            self.assert_at_rest();
            match done {
                Ok(next) if self.client.more_results => {
                    rest = &rest[next..];
                    // KILL QUERY ends the whole text.
                    self.server.check_interrupt().inspect_err(|_| self.client.more_results = false)?;
                }
                Ok(_) => return Ok(()),
                Err(error) => {
                    self.client.more_results = false;
                    self.note_error(&error);
                    return Err(error);
                }
            }
        }
    }

    /// Measures a command that is no statement, by its name behind `com/`. It began at
    /// `since_ticks`; `error` is what it was refused with.
    pub fn measure_command(&self, name: &str, since_ticks: u64, error: Option<&SqlError>) {
        measuring::command(self, name, since_ticks, error);
    }

    /// Checks whether reading a text may go on. The tree has grown by this many bytes, which are
    /// charged.
    ///
    /// # Errors
    /// Returns 1317 when the statement was killed or its time is over, and the errors of
    /// [`Charge::add`].
    pub(super) fn may_read_on(&self, bytes: usize, charge: &mut Charge) -> Result<()> {
        self.server.check_interrupt()?;
        charge.add(bytes)
    }

    /// Runs the first statement of a text. Returns the offset of the next one, and sets
    /// `more_results` to whether there is one.
    pub(super) fn execute_first(&mut self, text: &[u8], sink: &mut dyn ResultSink) -> Result<usize> {
        self.client.more_results = false;
        self.note_conditions();
        let mut is_counted = false;
        if let Some(bound) = self.cache.get(text)
            && bound::still_holds(self, &bound)
        {
            self.server.counters.statements.count(bound.kind.0);
            is_counted = true;
            measuring::begin_bound(self, &bound, text);
            self.server.host.admit_statement(class_of_bound(&bound, false))?;
            watched::tell_begin(self, None, text);
            let run = |session: &mut Session| bound::run_shown(session, &bound, text, sink);
            match bound::within_time(self, bound.is_query(), bound.hints.max_execution_time_ms, run) {
                Err(error) if bound::can_run_again(self, &error) => self.cache.forget(text),
                other => return other.map(|()| text.len()),
            }
        }
        if self.insert_again(text, sink)? {
            return Ok(text.len());
        }
        let state = enter(State::Parse);
        let mut charge = Charge::new(&self.server.memory);
        let mut watch = |bytes| self.may_read_on(bytes, &mut charge);
        let Some(parsed) = parse_watched(text, self.settings.variables.lex_mode(), &mut watch)
            .inspect_err(|_| self.statement.diagnostics.borrow_mut().clear())
            .map_err(|error| refused::refusal(self, text, error))?
        else {
            return Err(SqlError::new(1065, "Query was empty"));
        };
        if parsed.parameters > 0 {
            let at = text.iter().position(|byte| *byte == b'?').unwrap_or(0);
            return Err(crate::lexer::syntax_error(&text[..parsed.end], at));
        }
        let rest = &text[parsed.next..];
        // The rest of the text is only parsed when its turn comes, so that a text of many
        // statements is read once.
        if parsed.end < text.len() && crate::lexer::has_statement(rest, self.settings.variables.lex_mode()) {
            if !self.client.init.multi_statements {
                return Err(crate::lexer::syntax_error_after(text, parsed.next));
            }
            self.client.more_results = true;
        }
        drop(state);
        let own_text = text[..parsed.end].trim_ascii();
        if !is_counted {
            self.server.counters.statements.count(name_of(&parsed.statement).0);
        }
        measuring::begin(self, &parsed.statement, own_text);
        watched::tell_begin(self, Some(&parsed.statement), own_text);
        self.server.host.admit_statement(class_of(&parsed.statement, false))?;
        let (statement, end) = (&parsed.statement, parsed.end);
        set_var::with_hinted(self, statement, &parsed.hints, |session, hints| {
            if !is_about_rows(statement) || setup_tables::is_changed_by(session, statement) {
                return session.run_unbound(own_text, (statement, hints), sink);
            }
            let is_query = matches!(statement, Statement::Query(_));
            bound::within_time(session, is_query, hints.max_execution_time_ms, |session| {
                session.bind_and_run(text, (statement, hints), end, sink)
            })
        })?;
        Ok(parsed.next)
    }

    /// Runs an INSERT of literals that differs in its rows only from one that has run. Returns
    /// false if it is none.
    fn insert_again(&mut self, text: &[u8], sink: &mut dyn ResultSink) -> Result<bool> {
        let Some(mut last) = self.cache.last_inserts.take(text) else { return Ok(false) };
        let state = enter(State::Parse);
        let mut charge = Charge::new(&self.server.memory);
        let mut watch = |bytes| self.may_read_on(bytes, &mut charge);
        let now = (&*self.server.engine, self.cache.generation());
        let again = last.again(now, text, self.settings.variables.lex_mode(), &mut watch)?;
        let Some(bound) = again.filter(|bound| bound::still_holds(self, bound)) else { return Ok(false) };
        drop(state);
        measuring::begin_bound(self, &bound, text);
        self.server.host.admit_statement(class_of_bound(&bound, false))?;
        watched::tell_begin(self, None, text);
        match bound::run_shown(self, &bound, text, sink) {
            Err(error) if bound::can_run_again(self, &error) => Ok(false),
            done => {
                self.server.counters.statements.count(bound.kind.0);
                self.cache.last_inserts.keep(last);
                done.map(|()| true)
            }
        }
    }

    /// Binds and runs a statement about rows, which ends at the offset `end` of the text.
    fn bind_and_run(
        &mut self,
        text: &[u8],
        (statement, hints): (&Statement, &Hints),
        end: usize,
        sink: &mut dyn ResultSink,
    ) -> Result<()> {
        let own_text = text[..end].trim_ascii();
        let bound = bound::bind_hinted(self, statement, hints)
            .map_err(|error| refused::refusal(self, own_text, error))?;
        if let Some(known) = self.client.measuring.known.take() {
            let is_first = bound.known.set(known).is_ok();
            debug_assert!(is_first, "the plan is new");
        }
        let bound = Arc::new(bound);
        let is_alone = !self.client.more_results && end == text.len();
        match LastInsert::of(text, &bound, &self.server.memory).filter(|_| is_alone) {
            Some(insert) => self.cache.last_inserts.keep(insert),
            None if bound.cacheable && is_alone => self.cache.offer(text, &bound),
            None => {}
        }
        match bound::run_shown(self, &bound, own_text, sink) {
            Err(error) if bound::can_run_again(self, &error) => {
                let bound = Arc::new(bound::bind_hinted(self, statement, hints)?);
                bound::run_shown(self, &bound, own_text, sink)
            }
            other => other,
        }
    }

    /// Runs a statement that is not about rows. Of its hints the warnings are told.
    pub(super) fn run_unbound(
        &mut self,
        text: &[u8],
        (statement, hints): (&Statement, &Hints),
        sink: &mut dyn ResultSink,
    ) -> Result<()> {
        /// How many copies of a long text may exist at once: decoded to characters, in the tree, in
        /// a definition, and for the log.
        const COPIES: usize = 4;
        let _state = enter(State::Execute);
        let mut copies = Charge::new(&self.server.memory);
        if text.len() >= LONG_VALUE_BYTES {
            copies.add(COPIES * text.len())?;
        }
        if transaction::run(self, statement, sink)? || self.run_prepare(statement, sink)? {
            return Ok(());
        }
        let keeps_warnings =
            matches!(statement, Statement::Show { show: Show::Warnings { .. } | Show::CountOf { .. }, .. });
        if !keeps_warnings && !matches!(statement, Statement::GetDiagnostics(_)) {
            self.statement.diagnostics.borrow_mut().clear();
        }
        for (code, text) in &hints.warnings {
            self.statement.diagnostics.borrow_mut().push(Level::Warning, *code, text.clone());
        }
        privileges::check_statement(self, statement)?;
        match statement {
            Statement::Empty => results::ok(self, sink),
            Statement::Set(items) => {
                set::run(self, items)?;
                results::ok(self, sink)
            }
            Statement::Use(schema) => {
                self.change_schema(schema)?;
                results::ok(self, sink)
            }
            Statement::Do(exprs) => {
                super::program::evaluate_written(self, exprs)?;
                results::ok(self, sink)
            }
            Statement::Binlog(text) => super::binlog_statement::run(self, text.as_bytes(), sink),
            Statement::Show { show, filter } => {
                let table = show::rows(self, show, filter)?;
                if !matches!(show, Show::Warnings { .. }) {
                    self.statement.found_rows = table.rows.len() as u64;
                }
                match keeps_warnings {
                    true => results::send_warnings(self, &table, sink),
                    false => results::send_table(self, &table, sink),
                }
            }
            Statement::Explain(of) => explain::run(self, of, hints, sink),
            Statement::Handler(handler) => super::handler::run(self, handler, sink),
            Statement::LockTables(tables) => {
                locked_tables::lock_tables(self, tables)?;
                results::ok(self, sink)
            }
            Statement::UnlockTables => {
                locked_tables::unlock_tables(self)?;
                self.admin(AdminCommand::UnlockTables, sink)
            }
            Statement::Maintain { what, tables } => {
                let table = maintain::run(self, *what, tables)?;
                results::send_table(self, &table, sink)
            }
            Statement::PurgeBefore(at) => {
                let at = super::program::evaluate_one(self, at)?;
                let ctx = self.context(&[], false);
                let Some(at) = crate::expr::datetime_of(&at, &ctx) else {
                    return Err(SqlError::new(1292, "Incorrect DATETIME value for PURGE BINARY LOGS BEFORE"));
                };
                let seconds = at.to_unix(ctx.zone());
                drop(ctx);
                self.admin(AdminCommand::PurgeBinaryLogs(PurgeTo::BeforeUnixTime(seconds)), sink)
            }
            Statement::Admin(command) if command.is_about_accounts() => {
                accounts::change_accounts(self, command, text, sink)
            }
            Statement::Admin(command) => self.admin(command.clone(), sink),
            Statement::Call(call) => super::program::call_alone(self, call, sink),
            Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_) => {
                setup_tables::change(self, statement, sink)
            }
            Statement::Signal(signal) => {
                super::program::signal(self, signal)?;
                results::ok(self, sink)
            }
            Statement::GetDiagnostics(get) => {
                super::program::get_diagnostics(self, get)?;
                results::ok(self, sink)
            }
            Statement::Truncate(table)
                if self.settings.schema_of(table)?.eq_ignore_ascii_case("performance_schema") =>
            {
                // The statement changes no stored table: it is not logged, and a read-only server
                // allows it.
                locked_tables::check_locked_for_ddl(self, statement)?;
                self.transacting().commit()?;
                self.server.host.truncate_virtual_table("performance_schema", &table.name)?;
                results::ok(self, sink)
            }
            _ => {
                let report = ddl::run_ddl(self, text, statement)?;
                results::ok_of_ddl(self, &report, sink)
            }
        }
    }

    /// Passes a command to the server. As in MySQL, a command that changes log files commits first.
    fn admin(&mut self, command: AdminCommand, sink: &mut dyn ResultSink) -> Result<()> {
        let commits = matches!(
            command,
            AdminCommand::Flush { .. }
                | AdminCommand::CloneLocal { .. }
                | AdminCommand::ChangeReplicationSource { .. }
                | AdminCommand::ChangeReplicationFilter { .. }
                | AdminCommand::ResetReplica { .. }
                | AdminCommand::ResetBinaryLogsAndGtids { .. }
        );
        if commits {
            self.transacting().commit()?;
        }
        let command = match command {
            AdminCommand::Flush { targets, local } => {
                AdminCommand::Flush { targets: self.qualified(targets), local }
            }
            command => command,
        };
        if let AdminCommand::ResetPersist { name, if_exists } = &command {
            self.reset_persisted(name.as_deref(), *if_exists)?;
            return results::ok(self, sink);
        }
        self.check_no_locks(&command)?;
        self.begin_handlers_anew(&command);
        let status = self.status();
        let host = self.server.host.clone();
        if is_read_lock(&command) && !self.locks.has_read_lock() {
            host.check_privilege(Privilege::FlushTables, None, None)?;
            self.locks.read_lock = Some(self.server.engine.hold_commits());
        }
        let mut warned = Warned { sink, diagnostics: &self.statement.diagnostics };
        host.admin(command, status, &mut warned)
    }

    /// Carries out RESET PERSIST.
    ///
    /// # Errors
    /// Returns 3615 (`ER_VAR_DOES_NOT_EXIST`) when no value of the variable is kept, which is a
    /// warning with IF EXISTS, and the errors of the host.
    fn reset_persisted(&mut self, name: Option<&str>, if_exists: bool) -> Result<()> {
        let was_kept = self.server.host.reset_persisted(name)?;
        let Some(name) = name.filter(|_| !was_kept) else { return Ok(()) };
        let text = format!("Variable {name} does not exist in persisted config file");
        if !if_exists {
            return Err(SqlError::new(3615, text));
        }
        self.statement.diagnostics.borrow_mut().push(Level::Warning, 3615, text);
        Ok(())
    }

    /// Makes the tables that HANDLER has opened be read from the beginning again, for FLUSH TABLES.
    fn begin_handlers_anew(&mut self, command: &AdminCommand) {
        let AdminCommand::Flush { targets, .. } = command else { return };
        for target in targets {
            if let FlushTarget::Tables(tables) = target {
                self.handlers.begin_anew(tables);
            }
        }
    }

    /// Checks that the command cannot deadlock: it may wait for an applier, or for other sessions,
    /// that wait for this session's locks.
    ///
    /// # Errors
    /// Returns 1192 (`ER_LOCK_OR_ACTIVE_TRANSACTION`) when the session has locks that the command
    /// could wait for.
    fn check_no_locks(&self, command: &AdminCommand) -> Result<()> {
        let is_about_replicas = matches!(
            command,
            AdminCommand::StartReplica { .. }
                | AdminCommand::StopReplica { .. }
                | AdminCommand::ResetReplica { .. }
                | AdminCommand::ChangeReplicationSource { .. }
                | AdminCommand::ChangeReplicationFilter { .. }
                | AdminCommand::ResetBinaryLogsAndGtids { .. }
        );
        let has_locked_tables = self.locks.has_tables();
        if is_about_replicas && (self.locks.has_read_lock() || has_locked_tables)
            || is_read_lock(command) && has_locked_tables
        {
            return Err(active_locks());
        }
        Ok(())
    }

    /// Adds the current schema to the tables of FLUSH TABLES that have none.
    fn qualified(&self, targets: Vec<FlushTarget>) -> Vec<FlushTarget> {
        let schema = self.settings.schema.clone().unwrap_or_default();
        let qualify =
            |(own, name): (String, String)| (if own.is_empty() { schema.clone() } else { own }, name);
        let one = |target| match target {
            FlushTarget::Tables(tables) => FlushTarget::Tables(tables.into_iter().map(qualify).collect()),
            target => target,
        };
        targets.into_iter().map(one).collect()
    }
}

fn is_read_lock(command: &AdminCommand) -> bool {
    matches!(command, AdminCommand::Flush { targets, .. } if targets.contains(&FlushTarget::TablesWithReadLock))
}
