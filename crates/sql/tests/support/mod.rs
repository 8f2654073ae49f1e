//! What the tests of statements share: an engine on a simulated disk, a host with two variables,
//! and results as text.
#![allow(dead_code, reason = "each test file uses its part")]

use engine::{Engine, EngineConfig};
use os::disk::Disk;
use os::sim::SimDisk;
use sql::counters::Counters;
use sql::memory::Budget;
use sql::{
    AdminCommand, ColumnMeta, ComputedTable, EndOfRows, Host, OkInfo, Privilege, ResultSink, Rights, Session,
    SessionInit, Sight, SqlError, VariableScope,
};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use types::collation::UTF8MB4_0900_AI_CI;
use types::{ColumnType, Value};

/// A host of sessions that has a version and little else of a server.
#[derive(Default)]
pub struct TestHost {
    /// Set to kill the session's statement.
    pub interrupt: Arc<AtomicBool>,
    /// How often the host was asked whether the account may see something.
    pub sights: AtomicU64,
    /// The value of `sights` at which the statement is killed. 0 means never.
    pub kill_at_sight: AtomicU64,
    /// The counters of what the session's statements have done.
    pub counters: Arc<Counters>,
    /// The number of rows produced for `performance_schema.endless`, which has no last row.
    pub endless_rows: AtomicU64,
    /// The value of `endless_rows` at which the statement is killed. 0 means never.
    pub kill_at_row: AtomicU64,
    budget: OnceLock<Arc<Budget>>,
}

impl Rights for TestHost {
    fn check_table(&self, _: &[Privilege], _: &str, _: &str) -> Result<(), SqlError> {
        Ok(())
    }

    fn check_row_locks(&self, _: &str, _: &str) -> Result<(), SqlError> {
        Ok(())
    }

    fn check_routine(&self, _: Privilege, _: engine::ObjectKind, _: &str, _: &str) -> Result<(), SqlError> {
        Ok(())
    }
}

impl Host for TestHost {
    fn connection_id(&self) -> u32 {
        7
    }

    fn user(&self) -> String {
        "root@localhost".to_owned()
    }

    fn current_user(&self) -> String {
        "root@localhost".to_owned()
    }

    fn check_privilege(&self, _: Privilege, _: Option<&str>, _: Option<&str>) -> Result<(), SqlError> {
        Ok(())
    }

    fn variable(&self, _: VariableScope, name: &str) -> Result<Option<Value>, SqlError> {
        Ok(match name {
            "version" => Some(Value::text("8.4.0-slipstream")),
            "max_connections" => Some(Value::Int(151)),
            _ => None,
        })
    }

    fn check_sight(&self, _: Sight<'_>) -> Result<(), SqlError> {
        if self.sights.fetch_add(1, Ordering::Relaxed) + 1 == self.kill_at_sight.load(Ordering::Relaxed) {
            self.interrupt.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    fn interrupt_flag(&self) -> Option<Arc<AtomicBool>> {
        Some(self.interrupt.clone())
    }

    fn counters(&self) -> Arc<Counters> {
        self.counters.clone()
    }

    fn privileges_generation(&self) -> u64 {
        0
    }

    fn check_set_session(&self, _: &str) -> Result<(), SqlError> {
        Ok(())
    }

    fn has_variable(&self, name: &str) -> bool {
        matches!(name, "version" | "max_connections")
    }

    fn check_set(&self, _: VariableScope, name: &str, _: Option<&Value>) -> Result<bool, SqlError> {
        Err(SqlError::unknown_variable(name))
    }

    fn set_variable(&self, _: VariableScope, name: &str, _: Option<&Value>) -> Result<(), SqlError> {
        Err(SqlError::unknown_variable(name))
    }

    fn variables(&self, _: VariableScope) -> Vec<(String, String)> {
        vec![("autocommit".to_owned(), "ON".to_owned()), ("max_connections".to_owned(), "151".to_owned())]
    }

    fn status(&self, _: VariableScope) -> Vec<(String, String)> {
        vec![("Uptime".to_owned(), "1".to_owned())]
    }

    fn virtual_table(&self, _: &str, table: &str) -> Option<ComputedTable<'_>> {
        let column = ColumnMeta {
            schema: String::new(),
            table: String::new(),
            org_table: String::new(),
            name: "n".to_owned(),
            org_name: "n".to_owned(),
            ty: ColumnType::varchar(8, UTF8MB4_0900_AI_CI),
            flags: 0,
            decimals: 0,
        };
        (table == "endless").then(|| {
            ComputedTable::new(vec![column], |rows| {
                loop {
                    rows.put(vec![Value::text("a row")])?;
                    let number = self.endless_rows.fetch_add(1, Ordering::Relaxed) + 1;
                    if number == self.kill_at_row.load(Ordering::Relaxed) {
                        self.interrupt.store(true, Ordering::Relaxed);
                    }
                }
            })
        })
    }

    fn memory(&self) -> Arc<Budget> {
        self.budget.get_or_init(|| Budget::new(Arc::default())).clone()
    }

    fn virtual_tables(&self, _: &str) -> Vec<String> {
        Vec::new()
    }

    fn admin(&self, command: AdminCommand, _: u16, _: &mut dyn ResultSink) -> Result<(), SqlError> {
        Err(SqlError::not_supported(format!("{command:?}")))
    }

    fn sleep(&self, _: Duration) -> bool {
        false
    }

    fn statement_started(&self, _: Option<&str>) {}

    fn schema_changed(&self, _: Option<&str>) {}

    fn wait_for_executed_gtid_set(&self, _: &str, _: Option<Duration>) -> Result<bool, SqlError> {
        Ok(true)
    }

    fn binlog_gtid_pos(&self, _: &str, _: u64) -> Option<String> {
        None
    }

    fn source_pos_wait(
        &self,
        _: &str,
        _: u64,
        _: Option<Duration>,
        _: &str,
    ) -> Result<Option<i64>, SqlError> {
        Ok(None)
    }
}

/// Opens an engine on a fresh simulated disk.
pub fn engine() -> Arc<Engine> {
    engine_on(&SimDisk::new(1))
}

/// Opens an engine on this disk.
pub fn engine_on(disk: &SimDisk) -> Arc<Engine> {
    let disk: Arc<dyn Disk> = Arc::new(disk.clone());
    let config = EngineConfig {
        pool_bytes: 16 << 20,
        redo_capacity_bytes: 64 << 20,
        innodb_lock_wait_timeout_ms: 1000,
        background: false,
        ..EngineConfig::new(disk, "/data")
    };
    Engine::open(config).unwrap()
}

/// Opens a session and makes the schema `test` its default.
pub fn session(engine: &Arc<Engine>) -> Session {
    session_of(engine, Arc::default())
}

/// Opens a session of this host and makes the schema `test` its default.
pub fn session_of(engine: &Arc<Engine>, host: Arc<TestHost>) -> Session {
    let init = SessionInit { multi_statements: true, ..SessionInit::default() };
    let mut session = Session::new(engine.clone(), host, init).unwrap();
    run(&mut session, "CREATE SCHEMA IF NOT EXISTS test");
    run(&mut session, "USE test");
    session
}

/// A sink that collects results as the mysql client's batch mode prints them.
#[derive(Default)]
pub struct TextSink {
    pub lines: Vec<String>,
    pub columns: Vec<ColumnMeta>,
    pub ok: OkInfo,
}

impl ResultSink for TextSink {
    fn columns(&mut self, columns: &[ColumnMeta]) -> Result<(), SqlError> {
        self.columns = columns.to_vec();
        Ok(())
    }

    fn row(&mut self, row: &[Value]) -> Result<(), SqlError> {
        assert_eq!(row.len(), self.columns.len());
        let cell = |(value, column): (&Value, &ColumnMeta)| match value.text_bytes(Some(&column.ty)) {
            None => "NULL".to_owned(),
            Some(text) => String::from_utf8_lossy(&text)
                .replace('\\', "\\\\")
                .replace('\0', "\\0")
                .replace('\n', "\\n")
                .replace('\t', "\\t"),
        };
        self.lines.push(row.iter().zip(&self.columns).map(cell).collect::<Vec<_>>().join("\t"));
        Ok(())
    }

    fn end_rows(&mut self, _: EndOfRows) -> Result<(), SqlError> {
        Ok(())
    }

    fn ok(&mut self, info: &mut OkInfo) -> Result<(), SqlError> {
        self.ok = info.clone();
        Ok(())
    }
}

/// Runs a statement and returns what it prints: its rows, or its error.
pub fn outcome(session: &mut Session, text: &str) -> Vec<String> {
    let mut sink = TextSink::default();
    match session.execute(text.as_bytes(), &mut sink) {
        Ok(()) => sink.lines,
        Err(error) => vec![error.to_string()],
    }
}

/// Runs a statement that has to succeed, and returns its result.
pub fn run(session: &mut Session, text: &str) -> TextSink {
    let mut sink = TextSink::default();
    if let Err(error) = session.execute(text.as_bytes(), &mut sink) {
        panic!("{text}: {error}");
    }
    sink
}

/// Returns the rows of a query, each with its cells joined by `|`.
pub fn rows(session: &mut Session, text: &str) -> Vec<String> {
    run(session, text).lines.into_iter().map(|line| line.replace('\t', "|")).collect()
}
