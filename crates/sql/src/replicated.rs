//! Statements that a source logged as text: DDL, in the dialects of MySQL and MariaDB.
//!
//! In: the statement of a QUERY event with its session settings, the event group that contains it,
//! and how it is to be committed (the source's GTID and the position behind it). Out: the change of
//! the dictionary, in one commit record together with all of these. [`ReceivedStatements`] handles
//! statements about rows (binlog_format=STATEMENT). Kinds of objects that this server does not have
//! are refused with 1235. Statements that change nothing here (FLUSH, ANALYZE) are only logged.
//!
//! The dialects differ from this server's own in these points: the contents of a `/*M! ... */`
//! comment count, OR REPLACE, IF EXISTS and IF NOT EXISTS are allowed wherever MariaDB allows them,
//! expressions that this grammar does not know are kept as they are written, any storage engine is
//! replaced by this server's and keeps its name, and MariaDB's collations become the nearest ones
//! of MySQL.

use crate::admin::{AccountsLog, AdminCommand};
use crate::ast::{AlterDemands, AlterTable, Alteration, PartitionAlteration, Statement, TableName};
use crate::converted;
use crate::ddl::{DdlReport, DdlRun, DdlSettings, routine_change, schedule_of};
use crate::error::{Result, SqlError};
use crate::host::RoutineChange;
use crate::parse::parse;
use crate::received_text::in_utf8mb4;
use crate::sql_mode::SqlMode;
use engine::{CommitOptions, Engine, GtidNext, SessionContext};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use types::collation;

pub use crate::replica_host::ReadVariable;
pub use crate::session::received::{
    LoggedContext, ReceivedChange, ReceivedStatements, RefusedValues, SelectedTable, stays_when_rolled_back,
};
pub use crate::temporary::SourceTables;

/// A change of accounts by a source's statement.
#[derive(Clone, Copy)]
pub enum ReceivedOfAccounts<'a> {
    /// A statement about accounts. It is carried out in one commit with its entry in the binary
    /// log.
    Statement(&'a AdminCommand, &'a AccountsLog<'a>),
    /// A routine was created or dropped.
    Routine(&'a RoutineChange<'a>),
}

/// Carries out a change of accounts.
pub type ChangeAccounts = dyn Fn(ReceivedOfAccounts<'_>) -> Result<()> + Send + Sync;

/// A statement as it was received.
pub struct ReceivedStatement<'a> {
    /// The default schema of the event. Empty if it has none.
    pub schema: &'a str,
    /// The statement, in the session's `character_set_client`.
    pub statement: &'a [u8],
    /// The error with which the statement ended at the source. 0 if it succeeded.
    pub error_code: u16,
    /// The session settings in the event. `character_set_client`, the collations, `sql_mode` and
    /// `time_zone` are used.
    pub session: SessionContext,
    /// The account that ran the statement, if the event names it: user and host.
    pub invoker: Option<(String, String)>,
    /// `default_collation_for_utf8mb4` of the event. `None` if the source does not have this
    /// variable (MariaDB, MySQL before 8.0).
    pub default_collation_for_utf8mb4: Option<u16>,
    /// The event group for this server's own log. `None` means that a group is built from the
    /// statement.
    pub group: Option<&'a [u8]>,
    /// GTID, position and the other options of the commit.
    pub options: CommitOptions<'a>,
    /// The function that carries out statements about accounts (CREATE USER, GRANT, ...). Without
    /// it they are only logged.
    pub accounts: Option<&'a ChangeAccounts>,
    /// The flag that ends waits for locks when it becomes true.
    pub lock_interrupt: Option<Arc<AtomicBool>>,
}

/// The effect of a received statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Executed {
    /// The dictionary or the accounts have changed.
    Changed,
    /// The statement is in the log and has changed nothing here.
    OnlyLogged,
}

/// Runs a received statement and commits it.
///
/// # Errors
/// Returns MySQL's error, as if a client had run the statement. Nothing is committed then.
pub fn execute_ddl(engine: &Arc<Engine>, received: &ReceivedStatement<'_>) -> Result<Executed> {
    let mode = SqlMode(received.session.sql_mode);
    let of_mysql = !received.options.is_of_mariadb();
    let text = in_utf8mb4(received.statement, received.session.character_set_client, of_mysql);
    let lex = crate::lexer::LexMode { of_source: true, of_mysql, ..mode.lex() };
    let parsed = match parse(&text, lex) {
        Err(error) if received.options.is_of_mariadb() && is_about_accounts(&text) => {
            log::warn!("Replica SQL: a statement about accounts is logged only: {}", error.message);
            return log_only(engine, received);
        }
        Err(error) if is_about_what_is_not_here(&text) => {
            log::warn!("Replica SQL: a statement is logged only: {}", error.message);
            return log_only(engine, received);
        }
        parsed => parsed?,
    };
    let Some(parsed) = parsed else { return log_only(engine, received) };
    match &parsed.statement {
        Statement::Admin(command) if command.is_about_accounts() => {
            let Some(apply) = received.accounts else { return log_only(engine, received) };
            let log = AccountsLog {
                text: &String::from_utf8_lossy(&text),
                schema: received.schema,
                session: &received.session,
                group: received.group,
                options: received.options,
                of_mariadb: received.options.is_of_mariadb(),
            };
            match apply(ReceivedOfAccounts::Statement(command, &log)) {
                // MariaDB has privileges, plugins and roles that this server does not have.
                Err(error) if log.of_mariadb => {
                    log::warn!("Replica SQL: a statement about accounts is logged only: {}", error.message);
                    log_only(engine, received)
                }
                done => done.map(|()| Executed::Changed),
            }
        }
        Statement::Empty | Statement::Admin(AdminCommand::Flush { .. }) | Statement::Maintain { .. } => {
            log_only(engine, received)
        }
        Statement::Query(_) | Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_) => {
            Err(SqlError::not_supported("statements about rows from a source with binlog_format=STATEMENT"))
        }
        Statement::CreateSchema { schema, or_replace: true, .. } => {
            let drop = Statement::DropSchema { schema: schema.clone(), if_exists: true };
            replace(engine, received, &drop, &parsed.statement)
        }
        Statement::CreateIndex { table, key, or_replace: true, .. } => {
            let name = key.name.clone().unwrap_or_default();
            let alteration = Alteration::DropKey { name, if_exists: true };
            let (alterations, demands) = (vec![alteration], AlterDemands::default());
            let drop = AlterTable { table: table.clone(), if_exists: false, alterations, demands };
            replace(engine, received, &Statement::AlterTable(drop), &parsed.statement)
        }
        Statement::CreateTable(create) => {
            if create.temporary {
                // Temporary tables belong to the source's session. No row event will name them.
                return log_only(engine, received);
            }
            if create.or_replace {
                let tables = vec![create.table.clone()];
                let (if_exists, temporary, sequences) = (true, false, false);
                let drop = Statement::DropTable { tables, if_exists, temporary, sequences };
                return match received.error_code {
                    0 => replace(engine, received, &drop, &parsed.statement),
                    // MariaDB logs a statement that failed when the old table was gone already.
                    _ => run(engine, received, &drop),
                };
            }
            run(engine, received, &parsed.statement)
        }
        Statement::DropTable { tables, temporary: false, sequences, .. }
            if !of_mysql && received.error_code == 0 =>
        {
            // MariaDB drops the tables that are there, and logs a statement that failed because of
            // others as one that succeeded. Its own replicas pass over missing tables as well.
            let (tables, sequences) = (tables.clone(), *sequences);
            let drop = Statement::DropTable { tables, if_exists: true, temporary: false, sequences };
            run(engine, received, &drop)
        }
        Statement::RenameTable { pairs, .. } if !of_mysql && pairs.len() == 1 => {
            const NO_SUCH_TABLE: u16 = 1146;
            match run(engine, received, &parsed.statement) {
                // A temporary sequence is renamed, which MariaDB does not log when it is created.
                // If a table is really missing here, the first change of its rows says so.
                Err(error) if error.code == NO_SUCH_TABLE => {
                    log::warn!("Replica SQL: RENAME TABLE is logged only: {}", error.message);
                    log_only(engine, received)
                }
                done => done,
            }
        }
        Statement::AlterTable(alter) => match conversion_of(alter) {
            Some(conversion) => convert(engine, received, &alter.table, conversion),
            None => run(engine, received, &parsed.statement),
        },
        statement => run(engine, received, statement),
    }
}

/// Returns the conversion of a partition or a table that the statement is.
fn conversion_of(alter: &AlterTable) -> Option<&PartitionAlteration> {
    use PartitionAlteration::{FromTable, ToTable};
    match alter.alterations.as_slice() {
        [Alteration::Partition(conversion @ (ToTable { .. } | FromTable { .. }))] => Some(conversion),
        _ => None,
    }
}

/// Carries out the statements that a conversion stands for. The last one has the GTID, the position
/// and the event.
fn convert(
    engine: &Arc<Engine>,
    received: &ReceivedStatement<'_>,
    partitioned: &TableName,
    conversion: &PartitionAlteration,
) -> Result<Executed> {
    let current = unlogged(engine, received);
    let schema_of = |name: &TableName| current.schema_of(name);
    let (before, last) = converted::statements(engine, partitioned, conversion, &schema_of)?;
    before.iter().try_for_each(|statement| unlogged(engine, received).run(statement))?;
    run(engine, received, &last)
}

/// Reports whether a text that could not be parsed begins like a statement about accounts.
fn is_about_accounts(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text).to_ascii_uppercase();
    let mut words = text.split_ascii_whitespace();
    match words.next() {
        Some("GRANT" | "REVOKE") => true,
        Some("CREATE" | "ALTER" | "DROP" | "RENAME") => words
            .find(|word| !["OR", "REPLACE"].contains(word))
            .is_some_and(|word| ["USER", "ROLE"].contains(&word)),
        Some("SET") => words.next().is_some_and(|word| ["PASSWORD", "DEFAULT"].contains(&word)),
        _ => false,
    }
}

/// Reports whether a text defines something that this server does not have and that no row depends
/// on: a tablespace, a spatial reference system, a library or a package of stored programs.
fn is_about_what_is_not_here(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text).to_ascii_uppercase();
    let mut words = text.split_ascii_whitespace();
    if !words.next().is_some_and(|word| ["CREATE", "ALTER", "DROP"].contains(&word)) {
        return false;
    }
    let is_kind = |word: &&str| !["OR", "REPLACE", "UNDO"].contains(word) && !word.starts_with("DEFINER=");
    match words.find(is_kind) {
        Some("TABLESPACE" | "LIBRARY" | "LOGFILE" | "PACKAGE") => true,
        Some("SPATIAL") => words.next() == Some("REFERENCE"),
        _ => false,
    }
}

fn ddl_run<'r>(engine: &'r Arc<Engine>, received: &'r ReceivedStatement<'_>, text: &'r str) -> DdlRun<'r> {
    let zone = crate::time_zone::find(engine, &received.session.time_zone).unwrap_or_default();
    // MariaDB, and MySQL before 8.0, mean the collation general_ci if a statement names utf8mb4
    // alone.
    let utf8mb4 = received.default_collation_for_utf8mb4.unwrap_or(collation::UTF8MB4_GENERAL_CI);
    let server = Some(received.session.collation_server).filter(|id| collation::by_id(*id).is_some());
    DdlRun {
        engine,
        host: None,
        schema: Some(received.schema).filter(|schema| !schema.is_empty()),
        settings: DdlSettings {
            collation: server.unwrap_or(utf8mb4),
            utf8mb4_collation: utf8mb4,
            strict: SqlMode(received.session.sql_mode).strict(),
            dates: SqlMode(received.session.sql_mode).dates(),
            zero_generates: !SqlMode(received.session.sql_mode).no_auto_value_on_zero(),
            no_engine_substitution: false,
            is_temporary: false,
            zone,
            now_us: if received.session.timestamp_us == 0 {
                os::clock::now_us()
            } else {
                received.session.timestamp_us
            },
            foreign_key_checks: received.session.flags2 & binlog::event::flags2::NO_FOREIGN_KEY_CHECKS == 0,
            unique_parents: false,
            explicit_timestamps: received.session.explicit_timestamps,
            inline_references: has_inline_references(&received.options),
            replicated: true,
            of_mariadb: received.options.is_of_mariadb(),
            client_collation: received.session.character_set_client,
            literal_collation: received.session.collation_connection,
            word_sizes: engine.word_sizes(),
            types: Some(crate::detached::BoundTypes::new(engine)),
        },
        text,
        session: received.session.clone(),
        received_group: received.group,
        options: received.options,
        lock_timeout_ms: None,
        current_user: received.invoker.clone().unwrap_or_default(),
        schedule: Default::default(),
        locked_tables: None,
        interrupt: None,
        lock_interrupt: received.lock_interrupt.clone(),
        temporary: Arc::default(),
        is_temporary: false,
        notes: Vec::new(),
        warnings: Vec::new(),
        told: crate::ddl::Told::default(),
        report: DdlReport::default(),
    }
}

/// Reports whether REFERENCES in the definition of a column has created a foreign key at the
/// source. It does on MySQL since 9.0, and on MariaDB.
fn has_inline_references(options: &CommitOptions<'_>) -> bool {
    const SINCE: u32 = 90_000;
    options.is_of_mariadb() || options.original_server_version.is_some_and(|version| version >= SINCE)
}

fn run(engine: &Arc<Engine>, received: &ReceivedStatement<'_>, statement: &Statement) -> Result<Executed> {
    let text = String::from_utf8_lossy(received.statement).into_owned();
    let mut run = ddl_run(engine, received, &text);
    if let Some(schedule) = schedule_of(statement) {
        run.schedule = crate::session::received::received_schedule(engine, &received.session, schedule)?;
    }
    run.run(statement)?;
    let invoker = received.invoker.clone().unwrap_or_default();
    let current = Some(received.schema).filter(|schema| !schema.is_empty());
    let change = routine_change(statement, current, (&invoker.0, &invoker.1), &run.notes);
    if let (Some(change), Some(apply)) = (change, received.accounts) {
        apply(ReceivedOfAccounts::Routine(&change))?;
    }
    Ok(Executed::Changed)
}

fn log_only(engine: &Arc<Engine>, received: &ReceivedStatement<'_>) -> Result<Executed> {
    let text = String::from_utf8_lossy(received.statement).into_owned();
    ddl_run(engine, received, &text).log_only()?;
    Ok(Executed::OnlyLogged)
}

/// Carries out CREATE OR REPLACE. The drop is a commit of its own, without GTID, position or event.
/// After a crash between the two commits the statement is received again and finds nothing to drop,
/// which makes no difference to it.
fn replace(
    engine: &Arc<Engine>,
    received: &ReceivedStatement<'_>,
    drop: &Statement,
    create: &Statement,
) -> Result<Executed> {
    unlogged(engine, received).run(drop)?;
    run(engine, received, create)
}

/// Returns a run whose commit has no GTID, no position and no event.
fn unlogged<'r>(engine: &'r Arc<Engine>, received: &'r ReceivedStatement<'_>) -> DdlRun<'r> {
    let mut run = ddl_run(engine, received, "");
    run.received_group = None;
    run.options = CommitOptions { gtid: GtidNext::Anonymous, binlog: false, ..CommitOptions::default() };
    run
}

/// Creates the table of a CREATE TABLE that stands before row events in one event group, as sources
/// log CREATE TABLE ... SELECT. The statement stays in the group, whose commit has the GTID and the
/// position. The definition is a commit of its own before that one. Until the group is committed
/// the table exists and is empty. When the group is applied again, it recognizes the table that it
/// has left behind by the time of its statement, and creates it anew.
///
/// # Errors
/// Returns 1235 for another statement, and MySQL's errors for what is wrong with the statement.
pub fn create_within_group(engine: &Arc<Engine>, received: &ReceivedStatement<'_>) -> Result<()> {
    let of_mysql = !received.options.is_of_mariadb();
    let text = in_utf8mb4(received.statement, received.session.character_set_client, of_mysql);
    let mode = SqlMode(received.session.sql_mode).lex();
    let lex = crate::lexer::LexMode { of_source: true, of_mysql, ..mode };
    let parsed = parse(&text, lex)?;
    let Some(Statement::CreateTable(create)) = parsed.as_ref().map(|parsed| &parsed.statement) else {
        return Err(SqlError::not_supported("such a statement within a transaction of a source"));
    };
    let mut run = unlogged(engine, received);
    let schema = run.schema_of(&create.table)?;
    let left = engine.catalog().table(&schema, &create.table.name);
    let made_s = run.settings.now_us / 1_000_000;
    // With IF NOT EXISTS an existing table stays, since it may be another table of the same second
    // that has rows.
    let is_left = left.is_some_and(|left| left.def.created_s == made_s) && !create.if_not_exists;
    if create.or_replace || is_left {
        let tables = vec![create.table.clone()];
        run.run(&Statement::DropTable { tables, if_exists: true, temporary: false, sequences: false })?;
    }
    run.run(&Statement::CreateTable(create.clone()))
}
