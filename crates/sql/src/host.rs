//! What a session asks of the server around it.
//!
//! The server implements [`Host`] once for each connection; the object knows the connection's user
//! and id. Global values of system variables live behind it. Session values of the variables that
//! statements depend on live in this crate (`crate::variables`), all other session values behind
//! the host.

use crate::admin::{AccountsChanged, AccountsLog, AdminCommand};
use crate::computed_table::ComputedTable;
use crate::counters::Counters;
use crate::error::{Result, SqlError};
use crate::measured::MeasuredSession;
use crate::memory::Budget;
use crate::sink::ResultSink;
pub use crate::sink::VirtualTable;
use crate::statement_log::StatementLog;
use engine::{Engine, Isolation, ObjectKind, ReadOnly, Transaction};
use std::any::Any;
use std::borrow::Cow;
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
    /// Satisfied by SUPER or by the dynamic privilege CONNECTION_ADMIN.
    ConnectionAdmin,
    /// The dynamic privilege XA_RECOVER_ADMIN.
    XaRecoverAdmin,
    /// Satisfied by RELOAD or by the dynamic privilege FLUSH_TABLES.
    FlushTables,
    /// The dynamic privilege TRANSACTION_GTID_TAG. A GTID with a tag needs it beside what
    /// `gtid_next` needs; without it the error is 6038.
    TransactionGtidTag,
}

/// Something that an account sees or does not see, depending on its privileges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sight<'a> {
    /// A schema in a list. Any privilege in it lets the account see it.
    Schema(&'a str),
    /// A schema that is to become the current one. The refusal is error 1044.
    SchemaToUse(&'a str),
    /// The list of a schema's tables. The refusal is error 1044.
    TablesOf(&'a str),
    /// A table in a list, by its schema and name. Any privilege on it lets the account see it.
    Table(&'a str, &'a str),
    /// A column in a list, by its table's schema and name, and its own name.
    Column(&'a str, &'a str, &'a str),
    /// DESCRIBE of a table, by its schema and name. The refusal is error 1142.
    Description(&'a str, &'a str),
    /// A view's CREATE VIEW, by its schema and name. The refusal is error 1142.
    CreateView(&'a str, &'a str),
    /// A routine in a list, by its kind, schema and name.
    Routine(ObjectKind, &'a str, &'a str),
    /// The body of a routine that another account has defined, by its schema.
    RoutineText(&'a str),
    /// A table's CREATE TABLE, by its schema and name. The refusal is error 1142.
    CreateTable(&'a str, &'a str),
    /// SHOW CREATE TABLE of a view that the account sees in lists, by its schema and name. The
    /// refusal is error 1142.
    CreateTableOfView(&'a str, &'a str),
    /// A schema's CREATE DATABASE. The refusal is error 1044.
    CreateSchema(&'a str),
}

/// The news that a stored routine has been made or dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoutineChange<'a> {
    /// Whether it is a procedure or a function.
    pub kind: ObjectKind,
    /// The routine's schema.
    pub schema: &'a str,
    /// The routine's name.
    pub name: &'a str,
    /// The user and host of the account that has made the routine. `None` means that the routine
    /// has been dropped.
    pub made_by: Option<(&'a str, &'a str)>,
}

/// What a server needs to know of a statement before it admits it to a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StatementClass {
    /// Whether it is ALTER USER or SET PASSWORD, the only statements that an account may run while
    /// it has to change its password.
    pub sets_password: bool,
    /// Whether it counts for MAX_UPDATES_PER_HOUR.
    pub changes_data: bool,
    /// Whether it has been prepared. A prepared statement counts for no limit.
    pub is_prepared: bool,
}

/// What an account may do with the tables and routines that a statement names.
pub trait Rights: Send + Sync {
    /// Returns error 1142, which names those privileges of `wanted` that the account lacks on a
    /// table, if it lacks any.
    fn check_table(&self, wanted: &[Privilege], schema: &str, table: &str) -> Result<()>;

    /// Returns error 1142, in MySQL's words, unless the account may lock the rows of a table that
    /// it reads. UPDATE, DELETE or LOCK TABLES permits that.
    fn check_row_locks(&self, schema: &str, table: &str) -> Result<()>;

    /// Returns error 1370 unless the account has the privilege on a stored routine.
    fn check_routine(&self, wanted: Privilege, kind: ObjectKind, schema: &str, name: &str) -> Result<()>;

    /// Reports whether the account holds the privilege on some column of this table. It is called
    /// after [`Rights::check_table`] has refused the table as a whole, and before the columns are
    /// checked one by one.
    fn has_column_privilege(&self, _privilege: Privilege, _schema: &str, _table: &str) -> bool {
        false
    }

    /// Returns error 1143 when the account holds the privilege neither on the table nor on this
    /// column.
    fn check_column(&self, _privilege: Privilege, _schema: &str, _table: &str, _column: &str) -> Result<()> {
        Ok(())
    }

    /// Returns an error unless the account holds the privilege on the table or on each of these
    /// columns, which the statement has not named. As in MySQL, the error is 1143 for the first
    /// column without the privilege, or 1142 for the table if something is granted on that column
    /// or on one in front of it.
    fn check_all_columns(
        &self,
        _privilege: Privilege,
        _schema: &str,
        _table: &str,
        _columns: &mut dyn Iterator<Item = &str>,
    ) -> Result<()> {
        Ok(())
    }

    /// Returns the rights of a view's definer, given as user and host, with which the view reads.
    /// `None` means that these rights are the definer's.
    ///
    /// # Errors
    /// Returns 1449 where the account does not exist, or 1045 to accounts that need not know that.
    fn of_definer(&self, _definer: (&str, &str)) -> Result<Option<Box<dyn Rights + '_>>> {
        Ok(None)
    }
}

/// The rights to do everything. They serve to show the columns of a view to every account that sees
/// the view, whether or not it may read what the view reads.
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

/// Applies the row events of one BINLOG statement, in the order in which they come, as those of a
/// source are applied.
pub trait RowEvents {
    /// Applies an event without its checksum: a TABLE_MAP event, a row event or a ROWS_QUERY event.
    /// `rights` are those that the changes need; `None` means that they need no more than the
    /// statement itself. The transaction writes events of its own for the rows that change. Row
    /// events of a table that no TABLE_MAP event has named are passed over, as in MySQL.
    ///
    /// # Errors
    /// Returns MySQL's error for an event that is damaged or cannot be applied. What the statement
    /// has done by then is still in the transaction, and has to be rolled back.
    fn apply(
        &mut self,
        transaction: &mut Transaction,
        event: &[u8],
        rights: Option<&dyn Rights>,
    ) -> Result<()>;
}

/// The plan of a statement that runs, which only sessions look into.
pub type RunningPlan = Arc<dyn Any + Send + Sync>;

/// What kind of transaction a session has begun, as other sessions see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransactionKind {
    /// The isolation level.
    pub isolation: Isolation,
    /// Whether the transaction is READ ONLY.
    pub read_only: bool,
    /// The session's `unique_checks` at the beginning.
    pub unique_checks: bool,
    /// The session's `foreign_key_checks` at the beginning.
    pub foreign_key_checks: bool,
}

/// How a statement changes a table of settings in performance_schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetupAction {
    /// INSERT adds rows.
    Insert,
    /// REPLACE adds rows.
    Replace,
    /// UPDATE changes rows.
    Update,
    /// DELETE removes rows.
    Delete,
}

/// A change of one row of a table of settings in performance_schema.
#[derive(Debug, Clone, Copy)]
pub enum SetupChange<'c> {
    /// The row with this key gets another value in a column.
    Set {
        /// The columns that name the row, in their order.
        key: &'c [String],
        /// The column, as the table declares it.
        column: &'c str,
        /// The value; empty for one that the column cannot have.
        value: &'c str,
    },
    /// A new row.
    Insert {
        /// Its values.
        row: &'c [String],
    },
    /// The row with this key goes.
    Delete {
        /// The columns that name the row, in their order.
        key: &'c [String],
    },
}

/// The server, as one session sees it.
pub trait Host: Rights {
    /// Returns the value of `CONNECTION_ID()`.
    fn connection_id(&self) -> u32;

    /// Returns the number that `performance_schema.threads` gives to a connection's thread. `None`
    /// means that the connection does not exist or that the account may not see it.
    fn thread_of_connection(&self, _connection_id: u32) -> Option<u64> {
        None
    }

    /// Notes that the session has begun a transaction with this number and of this kind, so that
    /// other sessions can find out whose locks they wait for.
    fn note_transaction(&self, _transaction_id: u64, _kind: TransactionKind) {}

    /// Returns the value of `USER()`: `name@host` as the client connected.
    fn user(&self) -> String;

    /// Returns the value of `CURRENT_USER()`: `name@host` of the account that was matched.
    fn current_user(&self) -> String;

    /// Returns error 1142, 1044 or 1227 unless the account holds the privilege. `schema` and
    /// `table` are `None` for a global privilege.
    fn check_privilege(&self, privilege: Privilege, schema: Option<&str>, table: Option<&str>) -> Result<()>;

    /// Returns error 1227 unless the account may make an object with this definer, given as user
    /// and host. Every account may name itself, and one with SET_ANY_DEFINER may name others. A
    /// definer that has SYSTEM_USER and one that does not exist require further privileges.
    fn check_definer(&self, _definer: (&str, &str)) -> Result<()> {
        Ok(())
    }

    /// Returns error 1227 unless the account may change or drop an object with this definer. An
    /// account without SYSTEM_USER may not touch the objects of one that has it.
    fn check_defined_by(&self, _definer: (&str, &str)) -> Result<()> {
        Ok(())
    }

    /// Gives the session the privileges of this account, given as user and host, and no others,
    /// until [`Host::act_no_more`]: the session runs a program of that definer. Programs may run
    /// within one another.
    ///
    /// # Errors
    /// Returns 1449 when the account does not exist.
    fn act_as(&self, _definer: (&str, &str)) -> Result<()> {
        Ok(())
    }

    /// Ends the program of the latest [`Host::act_as`]: the session's privileges are again those
    /// before it.
    fn act_no_more(&self) {}

    /// Tells the host that a statement has made, altered or dropped an event.
    fn events_changed(&self) {}

    /// Returns an error unless the account may make a trigger or a function, whose statements
    /// replicas run with all privileges: 1419 for lack of privileges, 1418 for a function whose
    /// definition does not say that its calls are safe to log. Neither is returned with
    /// `log_bin_trust_function_creators` or where nothing is logged.
    fn check_function_creator(&self, _is_safe: bool) -> Result<()> {
        Ok(())
    }

    /// Returns error 1227, which names the privileges by `wording`, unless the account has one of
    /// these global privileges.
    fn check_administers(&self, _wording: &str, _privileges: &[&str]) -> Result<()> {
        Ok(())
    }

    /// Returns an error unless the account may see what `sight` names. The variants of [`Sight`]
    /// say which error it is.
    fn check_sight(&self, sight: Sight<'_>) -> Result<()>;

    /// Returns a number that changes whenever the session's privileges may have changed. A
    /// statement that is already bound asks for it before it runs again, and repeats its checks if
    /// the number is another.
    fn privileges_generation(&self) -> u64;

    /// Returns error 1142, with ANY as the privilege, unless the account may read or change rows of
    /// a table or of some of its columns. Making a view of the table requires no more.
    fn check_any_use(&self, _schema: &str, _table: &str) -> Result<()> {
        Ok(())
    }

    /// Returns the account's privileges on a column, in the form of the column Privileges of SHOW
    /// FULL COLUMNS.
    fn column_privileges(&self, _schema: &str, _table: &str, _column: &str) -> String {
        "select,insert,update,references".into()
    }

    /// Returns the value of `CURRENT_ROLE()`: the active roles as MySQL lists them, or `NONE`.
    fn current_role(&self) -> String {
        "NONE".into()
    }

    /// Returns what applies the row events of a BINLOG statement in this session. `None` means that
    /// the session applies none.
    ///
    /// # Errors
    /// Returns the errors of reading the variables that say how rows are applied.
    fn row_events(&self, _engine: &Arc<Engine>) -> Result<Option<Box<dyn RowEvents>>> {
        Ok(None)
    }

    /// Reports whether the session's statements come from a source, which has carried them out
    /// already.
    fn is_of_source(&self) -> bool {
        false
    }

    /// Returns the value of `ROLES_GRAPHML()`: which role was granted to whom, as a graph. Only
    /// accounts that administer roles see it filled.
    fn roles_graphml(&self) -> String {
        r#"<?xml version="1.0" encoding="UTF-8"?><graphml />"#.into()
    }

    /// Returns the value of a system variable: any global value, or the session value of a variable
    /// that this crate does not keep itself. `name` is in lower case with underscores. Booleans are
    /// `Value::Int(0 or 1)` for variables that `SELECT @@x` shows as `1`. The session value of a
    /// variable that is global only is its global value. `Ok(None)` means that the variable does
    /// not exist.
    fn variable(&self, scope: VariableScope, name: &str) -> Result<Option<Value>>;

    /// Returns the value of `read_only`, which `super_read_only` sets as well. Every statement that
    /// changes rows asks for it.
    fn is_read_only(&self) -> Result<bool> {
        let value = self.variable(VariableScope::Global, "read_only")?;
        Ok(matches!(value, Some(Value::Int(n)) if n != 0) || matches!(value, Some(Value::UInt(n)) if n != 0))
    }

    /// Returns the least [`ReadOnly`] under which a commit is refused that [`Host::is_read_only`]
    /// does not keep from beginning. `None` is for sessions of the server itself and of
    /// replication, whose commits are never refused.
    fn commits_refused_from(&self) -> Option<ReadOnly> {
        None
    }

    /// Returns the error that this account gets when it sets a variable's session value: 1227 where
    /// it lacks a privilege that the variable needs, 1621 where the session's value cannot be set.
    /// It is called for each variable, wherever its value lives.
    fn check_set_session(&self, name: &str) -> Result<()>;

    /// Reports whether the host knows a variable of this name.
    fn has_variable(&self, name: &str) -> bool;

    /// Returns error 1238 where a variable has no value of the scope that is written with it, as in
    /// `@@session.max_connections`.
    fn check_scope(&self, _scope: VariableScope, _name: &str) -> Result<()> {
        Ok(())
    }

    /// Returns the error that [`Host::set_variable`] would return, as far as it is known
    /// beforehand. `true` means that the value is a number outside the variable's range, which will
    /// be moved into it.
    fn check_set(&self, scope: VariableScope, name: &str, value: Option<&Value>) -> Result<bool>;

    /// Sets a variable. A `value` of `None` means DEFAULT. The scope is `Session` only for
    /// variables that this crate does not keep itself.
    ///
    /// # Errors
    /// Returns 1193 for an unknown variable, 1238 for one that is read-only, 1229 for one that is
    /// global only, 1228 for one that is session only, 1231 for a wrong value and 1232 for a value
    /// of a wrong type.
    fn set_variable(&self, scope: VariableScope, name: &str, value: Option<&Value>) -> Result<()>;

    /// Returns the warnings that the global value of a variable deserves which was just set.
    fn warnings_of_global(&self, _name: &str) -> Vec<(u16, String)> {
        Vec::new()
    }

    /// Returns all variables as SHOW VARIABLES prints them (`ON`/`OFF`), sorted by name.
    fn variables(&self, scope: VariableScope) -> Vec<(String, String)>;

    /// Returns the name under which [`Host::variables`] lists a variable, if `name` is an old name
    /// of it that is understood and not listed. `name` is in lower case.
    fn listed_name(&self, _name: &str) -> Option<&'static str> {
        None
    }

    /// Returns the names and values of SHOW STATUS, sorted by name.
    fn status(&self, scope: VariableScope) -> Vec<(String, String)>;

    /// Returns a table of information_schema, performance_schema, sys or mysql that is not stored
    /// and that this crate does not compute itself. Names are in lower case.
    fn virtual_table(&self, schema: &str, table: &str) -> Option<ComputedTable<'_>>;

    /// Returns error 1045, as MySQL does, unless the account may have the server read and write
    /// files.
    fn check_file_access(&self) -> Result<()> {
        Ok(())
    }

    /// Carries out RESET PERSIST: forgets the value of a variable that SET PERSIST has kept, or all
    /// of them. Returns false if no value of the variable is kept.
    ///
    /// # Errors
    /// Returns 1227 and 3630 when the account lacks the privileges, and 3 when the file cannot be
    /// written.
    fn reset_persisted(&self, _name: Option<&str>) -> Result<bool> {
        Ok(false)
    }

    /// Carries out TRUNCATE TABLE of a table of performance_schema.
    ///
    /// # Errors
    /// Returns 1142 for a table that keeps no counts, and 1146 for one that does not exist.
    fn truncate_virtual_table(&self, schema: &str, table: &str) -> Result<()> {
        Err(SqlError::no_such_table(schema, table))
    }

    /// Checks that the account may change a table of settings in performance_schema in this way.
    ///
    /// # Errors
    /// Returns 1142 when the account may not, or when nobody may.
    fn check_setup(&self, _action: SetupAction, _table: &str) -> Result<()> {
        Ok(())
    }

    /// Changes a row of a table of settings in performance_schema.
    ///
    /// # Errors
    /// Returns 1022 for a row that is there already, 1452 for a setting that is neither YES nor NO,
    /// and 1683 where nothing is measured.
    fn change_setup(&self, table: &str, _change: SetupChange<'_>) -> Result<()> {
        Err(SqlError::not_supported(format!("a change of {table}")))
    }

    /// Returns the names of all tables that [`Host::virtual_table`] knows in a schema, in lower
    /// case, for SHOW TABLES.
    fn virtual_tables(&self, schema: &str) -> Vec<String>;

    /// Carries out a command and answers into the sink with one OK or one result set. `status` is
    /// the status of the packet that ends the answer.
    fn admin(&self, command: AdminCommand, status: u16, sink: &mut dyn ResultSink) -> Result<()>;

    /// Changes accounts or their privileges, in one commit with what is written about it into the
    /// binary log.
    ///
    /// # Errors
    /// Returns MySQL's number and wording. Nothing is changed or logged then.
    fn change_accounts(&self, _: &AdminCommand, _: &AccountsLog<'_>) -> Result<AccountsChanged> {
        Err(SqlError::not_supported("a statement about accounts"))
    }

    /// Updates privileges after a routine was made or dropped. With `automatic_sp_privileges` its
    /// maker gets the privileges on it that the maker lacks, and nobody keeps privileges on a
    /// dropped routine. The binary log gets nothing of it, because a replica that repeats the
    /// statement does the same.
    fn routine_changed(&self, _: &RoutineChange<'_>) -> Result<()> {
        Ok(())
    }

    /// Returns the budget that is charged with what the session keeps in memory. It is the same one
    /// as long as the host lives.
    fn memory(&self) -> Arc<Budget> {
        Budget::new(Arc::default())
    }

    /// Returns the counters of what the session's statements have done. They are the same ones as
    /// long as the host lives.
    fn counters(&self) -> Arc<Counters> {
        Arc::default()
    }

    /// Returns what measures the session's statements for performance_schema. It is the same as
    /// long as the host lives. `None` means that they are not measured.
    fn measured(&self) -> Option<Arc<MeasuredSession>> {
        None
    }

    /// Returns a statement's text without the passwords in it.
    fn without_secrets<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        Cow::Borrowed(text)
    }

    /// Returns the host's logs of statements. `None` means that it logs none now.
    fn statement_log(&self) -> Option<&dyn StatementLog> {
        None
    }

    /// Returns the flag that `KILL` and a time limit set. Every loop of a statement and every wait
    /// within the engine looks at it. The statement then ends with 1317, or with 3024 where the
    /// time limit has set it. The flag is the same one as long as the host lives. `None` means that
    /// nothing interrupts the session.
    fn interrupt_flag(&self) -> Option<Arc<std::sync::atomic::AtomicBool>> {
        None
    }

    /// Takes a place for a statement that is about to be prepared, by the protocol or by PREPARE.
    /// The place is the statement's until [`Host::give_prepared_place_back`].
    ///
    /// # Errors
    /// Returns 1461 when there are `max_prepared_stmt_count` prepared statements already.
    fn take_prepared_place(&self) -> Result<()> {
        Ok(())
    }

    /// Frees the place of a prepared statement that is closed or that could not be prepared.
    fn give_prepared_place_back(&self) {}

    /// Arranges that the interrupt flag is set when `limit` has passed, until
    /// [`Host::end_time_limit`]. `false` means that this could not be done.
    fn begin_time_limit(&self, _limit: Duration) -> bool {
        false
    }

    /// Ends the time limit of the statement and returns whether it had passed. The interrupt flag
    /// is then as it would be without the limit.
    fn end_time_limit(&self) -> bool {
        false
    }

    /// Returns the locks of GET_LOCK(). `None` is for a thread that applies what a source has sent:
    /// MySQL's appliers take no such lock, and go on as if they had.
    fn user_locks(&self) -> Option<&dyn UserLocks> {
        None
    }

    /// Counts foreign keys that a statement has made and that refer to columns which do not tell
    /// rows apart.
    fn note_unsafe_foreign_keys(&self, _count: u64) {}

    /// Sleeps, for SLEEP(), and returns whether the sleep was interrupted.
    fn sleep(&self, duration: Duration) -> bool;

    /// Decides whether a statement may run. It is called once the statement's text has been parsed,
    /// and an error is the answer to the client.
    fn admit_statement(&self, statement: StatementClass) -> Result<()> {
        let _ = statement;
        Ok(())
    }

    /// Notes the text that is running, for SHOW PROCESSLIST. `None` means that the statement has
    /// ended. The connection calls it around each command; the session does not.
    fn statement_started(&self, text: Option<&str>);

    /// Notes the plan of the statement that runs, for EXPLAIN FOR CONNECTION. `None` means that the
    /// statement has ended.
    fn plan_runs(&self, _plan: Option<RunningPlan>) {}

    /// Returns the plan of the statement that runs in a connection.
    ///
    /// # Errors
    /// Returns 1094 when there is no such connection, 3012 when it runs no statement that was sent
    /// as a text and has a plan, and 1045 when the account may not see it.
    fn plan_of_connection(&self, _connection_id: u64) -> Result<RunningPlan> {
        Err(SqlError::unknown_plan())
    }

    /// Notes the session's current schema, for SHOW PROCESSLIST.
    fn schema_changed(&self, schema: Option<&str>);

    /// Waits, for WAIT_FOR_EXECUTED_GTID_SET, until the set is executed. It returns true then, and
    /// false at the timeout. A timeout of `None` waits for ever.
    fn wait_for_executed_gtid_set(&self, set: &str, timeout: Option<Duration>) -> Result<bool>;

    /// Returns, for MariaDB's BINLOG_GTID_POS, the GTID of the last transaction before a place in
    /// the binary log, or an empty text if there is none. `None` means that the place does not
    /// exist.
    fn binlog_gtid_pos(&self, log_file: &str, log_pos: u64) -> Option<String>;

    /// Waits, for SOURCE_POS_WAIT, until the applier has reached a place in its source's log, and
    /// returns the number of events waited for, or -1 at the timeout. `Ok(None)` is SQL's NULL, for
    /// lack of an applier.
    fn source_pos_wait(
        &self,
        log_file: &str,
        log_pos: u64,
        timeout: Option<Duration>,
        channel: &str,
    ) -> Result<Option<i64>>;
}

/// The locks of GET_LOCK() as one session sees them. Names are in lower case.
pub trait UserLocks {
    /// Waits for the lock and takes it; returns false when `timeout` has passed. A `timeout` of
    /// `None` waits for ever. A session may take a lock again that it already holds.
    ///
    /// # Errors
    /// Returns 1317 when the statement is interrupted, 3058 when the lock's owner waits for a lock
    /// of this session, and the errors of charging memory.
    fn take(&self, name: &str, timeout: Option<Duration>) -> Result<bool>;

    /// Releases the lock once. It returns `Some(false)` when another session holds the lock, and
    /// `None` when no session does.
    fn release(&self, name: &str) -> Option<bool>;

    /// Releases all locks of the session and returns how many times it had taken them.
    fn release_all(&self) -> u64;

    /// Returns the id of the connection that holds the lock.
    fn owner(&self, name: &str) -> Option<u32>;
}
