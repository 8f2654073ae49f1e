//! What a session needs of the server around it.
//!
//! The server implements [`Host`] once a connection; the object knows the connection's user and id.
//! Global values of system variables live behind it; session values of the variables that
//! statements depend on live in this crate (`crate::variables`), the others behind the host too.

use crate::admin::{AccountsChanged, AccountsLog, AdminCommand};
use crate::computed_table::ComputedTable;
use crate::counters::Counters;
use crate::error::{Result, SqlError};
use crate::memory::Budget;
use crate::sink::ResultSink;
pub use crate::sink::VirtualTable;
use engine::ObjectKind;
use std::sync::Arc;
use std::time::Duration;
use types::Value;

/// Which value of a system variable is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariableScope {
    /// `SET GLOBAL`, `@@global.`.
    Global,
    /// `SET SESSION`, `@@session.`.
    Session,
    /// `SET PERSIST`: the global value, kept across a restart.
    Persist,
    /// `SET PERSIST_ONLY`.
    PersistOnly,
}

/// A privilege that a statement needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are MySQL's privileges")]
pub enum Privilege {
    Select,
    Insert,
    Update,
    Delete,
    Create,
    Drop,
    References,
    Index,
    Alter,
    CreateTemporaryTables,
    LockTables,
    Execute,
    AlterRoutine,
    CreateRoutine,
    CreateView,
    Event,
    Trigger,
    Process,
    Reload,
    ShowDatabases,
    Super,
    /// SUPER, or this dynamic one.
    ConnectionAdmin,
    /// A dynamic one.
    XaRecoverAdmin,
    /// RELOAD, or this dynamic one.
    FlushTables,
    /// A dynamic one, for a GTID with a tag beside what `gtid_next` asks for; error 6038.
    TransactionGtidTag,
}

/// Something that an account sees or does not, depending on what it may do there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sight<'a> {
    /// A schema among others. Any privilege in it will do.
    Schema(&'a str),
    /// A schema to make the current one; error 1044.
    SchemaToUse(&'a str),
    /// The list of a schema's tables; error 1044.
    TablesOf(&'a str),
    /// A table among others, by its schema and name. Any privilege on it will do.
    Table(&'a str, &'a str),
    /// A column among others, by its table's schema and name, and its own.
    Column(&'a str, &'a str, &'a str),
    /// What DESCRIBE says of a table; error 1142.
    Description(&'a str, &'a str),
    /// A view's CREATE VIEW, by its schema and name; error 1142.
    CreateView(&'a str, &'a str),
    /// A routine among others, by its kind, schema and name.
    Routine(ObjectKind, &'a str, &'a str),
    /// The statement that a routine of others consists of, by its schema.
    RoutineText(&'a str),
    /// A table's CREATE TABLE; error 1142.
    CreateTable(&'a str, &'a str),
    /// What SHOW CREATE TABLE says of a view whose table one sees; error 1142.
    CreateTableOfView(&'a str, &'a str),
    /// A schema's CREATE DATABASE; error 1044.
    CreateSchema(&'a str),
}

/// A stored routine has been made or is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoutineChange<'a> {
    /// Procedure or function.
    pub kind: ObjectKind,
    /// Where it is.
    pub schema: &'a str,
    /// What it is called.
    pub name: &'a str,
    /// The account that has made it: its user and host. `None`: the routine is gone.
    pub made_by: Option<(&'a str, &'a str)>,
}

/// What a statement is to a server that does not let every session run every statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StatementClass {
    /// ALTER USER and SET PASSWORD: all that an account may say that has to change its password.
    pub sets_password: bool,
    /// It counts for MAX_UPDATES_PER_HOUR.
    pub changes_data: bool,
    /// It has been prepared, and so counts for no limit.
    pub is_prepared: bool,
}

/// What an account may do with the tables and routines that a statement names.
pub trait Rights: Send + Sync {
    /// Error 1142 that names those of `wanted` that the account has not on a table.
    fn check_table(&self, wanted: &[Privilege], schema: &str, table: &str) -> Result<()>;

    /// Error 1142, with MySQL's words, unless the account may lock rows of a table that it reads:
    /// UPDATE, DELETE or LOCK TABLES.
    fn check_row_locks(&self, schema: &str, table: &str) -> Result<()>;

    /// Error 1370 unless the account has a privilege on a stored routine.
    fn check_routine(&self, wanted: Privilege, kind: ObjectKind, schema: &str, name: &str) -> Result<()>;

    /// Whether the account holds the privilege on a column of this table, which it does not hold on
    /// all of the table: asked where [`Rights::check_table`] has refused the table, before its
    /// columns are asked for one by one.
    fn has_column_privilege(&self, _privilege: Privilege, _schema: &str, _table: &str) -> bool {
        false
    }

    /// Error 1143 when the account holds the privilege neither on the table nor on this column of
    /// it.
    fn check_column(&self, _privilege: Privilege, _schema: &str, _table: &str, _column: &str) -> Result<()> {
        Ok(())
    }

    /// Errors 1142 and 1143 unless the account holds the privilege on each of these columns, or on
    /// the table; of columns that no one named, so that MySQL tells the table where it has granted
    /// something on one that stands in front.
    fn check_all_columns(
        &self,
        _privilege: Privilege,
        _schema: &str,
        _table: &str,
        _columns: &mut dyn Iterator<Item = &str>,
    ) -> Result<()> {
        Ok(())
    }

    /// The rights of the account that has defined a view, given as user and host, with which the
    /// view reads. `None`: they are these. Errors 1449 and 1045 where there is no such account, the
    /// latter for accounts that need not know.
    fn of_definer(&self, _definer: (&str, &str)) -> Result<Option<Box<dyn Rights + '_>>> {
        Ok(None)
    }
}

/// The rights to do everything: the columns of a view are shown to every account that sees the
/// view, whether or not it may read what the view reads.
pub(crate) struct AllRights;

impl Rights for AllRights {
    fn check_table(&self, _: &[Privilege], _: &str, _: &str) -> Result<()> {
        Ok(())
    }

    fn check_row_locks(&self, _: &str, _: &str) -> Result<()> {
        Ok(())
    }

    fn check_routine(&self, _: Privilege, _: ObjectKind, _: &str, _: &str) -> Result<()> {
        Ok(())
    }
}

/// The server, as one session sees it.
pub trait Host: Rights {
    /// `CONNECTION_ID()`.
    fn connection_id(&self) -> u32;

    /// The number that `performance_schema.threads` gives to the thread of a connection. `None`:
    /// there is no such connection, or the account may not see it.
    fn thread_of_connection(&self, _connection_id: u32) -> Option<u64> {
        None
    }

    /// The session has begun a transaction with this number; for those who ask whose locks they
    /// wait for.
    fn note_transaction(&self, _transaction_id: u64) {}

    /// `USER()`: `name@host` as the client connected.
    fn user(&self) -> String;

    /// `CURRENT_USER()`: `name@host` of the account that was matched.
    fn current_user(&self) -> String;

    /// Error 1142, 1044 or 1227 when the account may not. `schema` and `table` are `None` for a
    /// global privilege.
    fn check_privilege(&self, privilege: Privilege, schema: Option<&str>, table: Option<&str>) -> Result<()>;

    /// Error 1227 unless the account may make an object that has the privileges of this one, given
    /// as user and host: its own, or with SET_ANY_DEFINER another's; one with SYSTEM_USER, and one
    /// that is not there, need more.
    fn check_definer(&self, _definer: (&str, &str)) -> Result<()> {
        Ok(())
    }

    /// Error 1227 unless the account may change or drop what this account has defined: one that has
    /// SYSTEM_USER is not changed by one that has not.
    fn check_defined_by(&self, _definer: (&str, &str)) -> Result<()> {
        Ok(())
    }

    /// From now on, until [`Host::act_no_more`], the session has the privileges of this account,
    /// given as user and host, and no other: it runs a program of that definer. Programs run within
    /// one another.
    ///
    /// # Errors
    /// 1449 when there is no such account.
    fn act_as(&self, _definer: (&str, &str)) -> Result<()> {
        Ok(())
    }

    /// The program that began last has ended.
    fn act_no_more(&self) {}

    /// A statement has made, altered or dropped an event.
    fn events_changed(&self) {}

    /// Error 1419 unless the account may make a trigger or a function, which would run on replicas
    /// with all privileges, and error 1418 of a function that does not say that it is safe to log
    /// calls of; neither with `log_bin_trust_function_creators`, or where nothing is logged.
    fn check_function_creator(&self, _is_safe: bool) -> Result<()> {
        Ok(())
    }

    /// Error 1227, which names them by `wording`, unless the account has one of these privileges on
    /// everything.
    fn check_administers(&self, _wording: &str, _privileges: &[&str]) -> Result<()> {
        Ok(())
    }

    /// An error unless the account may see it.
    fn check_sight(&self, sight: Sight<'_>) -> Result<()>;

    /// Changes whenever what this session may do can have changed: what was checked before is then
    /// checked again. Asked before each statement that was bound before.
    fn privileges_generation(&self) -> u64;

    /// Error 1142, which MySQL calls ANY, unless the account may read or change rows of a table, or
    /// of some of its columns: all that it takes to make a view of it.
    fn check_any_use(&self, _schema: &str, _table: &str) -> Result<()> {
        Ok(())
    }

    /// What the account may do with a column, as the column Privileges lists it.
    fn column_privileges(&self, _schema: &str, _table: &str, _column: &str) -> String {
        "select,insert,update,references".into()
    }

    /// `CURRENT_ROLE()`: the active roles as MySQL lists them, or `NONE`.
    fn current_role(&self) -> String {
        "NONE".into()
    }

    /// Whether statements are those of a source, which has carried them out.
    fn is_of_source(&self) -> bool {
        false
    }

    /// `ROLES_GRAPHML()`: who was granted which role, as a graph, for those who administer roles.
    fn roles_graphml(&self) -> String {
        r#"<?xml version="1.0" encoding="UTF-8"?><graphml />"#.into()
    }

    /// The value of a system variable whose session value does not live in this crate, or any
    /// global value. Booleans are `Value::Int(0 or 1)` for variables that show as `1` in `SELECT
    /// @@x`. `Ok(None)`: no such variable. `name` is in lower case with underscores. A session
    /// value of a variable that is global only is its global value.
    fn variable(&self, scope: VariableScope, name: &str) -> Result<Option<Value>>;

    /// `read_only`, which `super_read_only` sets as well: every statement that changes rows asks.
    fn is_read_only(&self) -> Result<bool> {
        let value = self.variable(VariableScope::Global, "read_only")?;
        Ok(matches!(value, Some(Value::Int(n)) if n != 0) || matches!(value, Some(Value::UInt(n)) if n != 0))
    }

    /// The error that SET of a variable's session value gets from this account: 1227 where it needs
    /// a privilege that the account has not, 1621 where the session's value cannot be set. Asked
    /// for each variable, wherever its value lives.
    fn check_set_session(&self, name: &str) -> Result<()>;

    /// Whether the host knows a variable of this name.
    fn has_variable(&self, name: &str) -> bool;

    /// Error 1238 where a variable has no value of the scope that is written with it, as in
    /// `@@session.max_connections`.
    fn check_scope(&self, _scope: VariableScope, _name: &str) -> Result<()> {
        Ok(())
    }

    /// The error that [`Host::set_variable`] would answer with, as far as it is known before. True
    /// when the value is a number that will be moved into the variable's range.
    fn check_set(&self, scope: VariableScope, name: &str, value: Option<&Value>) -> Result<bool>;

    /// Sets one. Errors: 1193 unknown, 1238 read-only, 1229 global only, 1228 session only, 1231
    /// wrong value, 1232 wrong type. `None` is DEFAULT. Called with `Session` only for variables
    /// that are not this crate's.
    fn set_variable(&self, scope: VariableScope, name: &str, value: Option<&Value>) -> Result<()>;

    /// All of them as SHOW VARIABLES prints them (`ON`/`OFF`), sorted by name.
    fn variables(&self, scope: VariableScope) -> Vec<(String, String)>;

    /// SHOW STATUS, sorted by name.
    fn status(&self, scope: VariableScope) -> Vec<(String, String)>;

    /// A table of information_schema, performance_schema, sys or mysql that is not stored and that
    /// this crate does not know itself. Names are in lower case.
    fn virtual_table(&self, schema: &str, table: &str) -> Option<ComputedTable<'_>>;

    /// The error of an account that may not have the server read and write files: 1045, as MySQL
    /// has it there.
    fn check_file_access(&self) -> Result<()> {
        Ok(())
    }

    /// TRUNCATE TABLE of a table of performance_schema.
    ///
    /// # Errors
    /// 1142 when it is not one that counts, 1146 when there is none of this name.
    fn truncate_virtual_table(&self, schema: &str, table: &str) -> Result<()> {
        Err(SqlError::no_such_table(schema, table))
    }

    /// The names of all of those, for SHOW TABLES: in lower case.
    fn virtual_tables(&self, schema: &str) -> Vec<String>;

    /// Carries out a command, and answers into the sink with one OK or one result set. `status` is
    /// for the packet that ends it.
    fn admin(&self, command: AdminCommand, status: u16, sink: &mut dyn ResultSink) -> Result<()>;

    /// Changes accounts or their privileges, in one commit with what the binary log gets of it.
    ///
    /// # Errors
    /// MySQL's number and wording; nothing is changed and logged then.
    fn change_accounts(&self, _: &AdminCommand, _: &AccountsLog<'_>) -> Result<AccountsChanged> {
        Err(SqlError::not_supported("a statement about accounts"))
    }

    /// A routine was made or dropped: with `automatic_sp_privileges` its maker gets the privileges
    /// on it that he lacks, and nobody keeps any on one that is gone. The binary log gets nothing
    /// of it: a replica that repeats the statement does the same.
    fn routine_changed(&self, _: &RoutineChange<'_>) -> Result<()> {
        Ok(())
    }

    /// What the session keeps in memory is charged to this, which is the same as long as the host
    /// lives.
    fn memory(&self) -> Arc<Budget> {
        Budget::new(Arc::default())
    }

    /// Where the session counts what its statements have done; the same as long as the host lives.
    fn counters(&self) -> Arc<Counters> {
        Arc::default()
    }

    /// The flag that `KILL` and a time limit set. Every loop of a statement looks at it, and every
    /// wait within the engine; the statement then ends with 1317, or with 3024 where it was the
    /// limit. It is the same one as long as the host lives. A host without one is never
    /// interrupted.
    fn interrupt_flag(&self) -> Option<Arc<std::sync::atomic::AtomicBool>> {
        None
    }

    /// A statement is about to be prepared, by the protocol or by PREPARE. Error 1461 when there
    /// are `max_prepared_stmt_count` of them already; else the place is the statement's until
    /// [`Host::give_prepared_place_back`].
    fn take_prepared_place(&self) -> Result<()> {
        Ok(())
    }

    /// The statement is no more, or could not be prepared.
    fn give_prepared_place_back(&self) {}

    /// From now on the interrupt flag is set when `limit` has passed, until
    /// [`Host::end_time_limit`]. False: that could not be done.
    fn begin_time_limit(&self, _limit: Duration) -> bool {
        false
    }

    /// The limited statement has ended; true when the limit had passed. The flag is as it would be
    /// without the limit.
    fn end_time_limit(&self) -> bool {
        false
    }

    /// The locks of GET_LOCK(). None for a thread that applies what a source has sent: MySQL's
    /// takes no lock there, and goes on as if it had.
    fn user_locks(&self) -> Option<&dyn UserLocks> {
        None
    }

    /// SLEEP(): true when it was interrupted.
    fn sleep(&self, duration: Duration) -> bool;

    /// Asked before a statement runs, once its text has been understood; an error is its answer.
    fn admit_statement(&self, statement: StatementClass) -> Result<()> {
        let _ = statement;
        Ok(())
    }

    /// The text that is running, for SHOW PROCESSLIST and the counters; `None` when it has ended.
    /// The connection calls it around each command, not the session.
    fn statement_started(&self, text: Option<&str>);

    /// The state column of SHOW PROCESSLIST.
    fn schema_changed(&self, schema: Option<&str>);

    /// WAIT_FOR_EXECUTED_GTID_SET: true when the set is executed, false at the timeout. `None`
    /// waits for ever.
    fn wait_for_executed_gtid_set(&self, set: &str, timeout: Option<Duration>) -> Result<bool>;

    /// MariaDB's BINLOG_GTID_POS: the GTID of the last transaction before a place in the binary
    /// log, empty if there is none. `None`: there is no such place.
    fn binlog_gtid_pos(&self, log_file: &str, log_pos: u64) -> Option<String>;

    /// SOURCE_POS_WAIT: `Ok(None)` is SQL's NULL (no applier), -1 a timeout, else the number of
    /// events waited for.
    fn source_pos_wait(
        &self,
        log_file: &str,
        log_pos: u64,
        timeout: Option<Duration>,
        channel: &str,
    ) -> Result<Option<i64>>;
}

/// The locks of GET_LOCK() as one session sees them. A name is in small letters.
pub trait UserLocks {
    /// Waits for the lock; false when the time was over. `None` waits for ever. A session that has
    /// it has it once more.
    ///
    /// # Errors
    /// 1317; 3058 when its owner waits for one of the session's; those of memory.
    fn take(&self, name: &str, timeout: Option<Duration>) -> Result<bool>;

    /// Gives it back once; false when it is another session's, none when it is nobody's.
    fn release(&self, name: &str) -> Option<bool>;

    /// Gives all of the session's back; how often it had taken them.
    fn release_all(&self) -> u64;

    /// The connection that has it.
    fn owner(&self, name: &str) -> Option<u32>;
}
