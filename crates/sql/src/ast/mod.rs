//! Statements as they are written, with names unresolved.
//!
//! `parse` builds these trees. `bind` and the executors of DDL read them. Fields are named by the
//! statement's own words. The largest tree is a statement; only `program`, the body of a stored
//! program, contains statements.

#![allow(missing_docs, reason = "fields are the words of the statements, documented in MySQL's manual")]

mod column_type;
mod ddl;
mod dml;
mod explain;
mod expr;
mod handler;
mod hints;
mod into;
mod name;
mod object;
mod operator;
mod partition;
pub mod program;
mod queries;
mod query;
mod query_words;
mod tree;
mod visit;

pub use column_type::*;
pub use ddl::*;
pub use dml::*;
pub use explain::*;
pub use expr::*;
pub use handler::*;
pub use hints::*;
pub use into::*;
pub use name::*;
pub use object::*;
pub use operator::*;
pub use partition::*;
pub use query_words::*;
pub use tree::*;
pub(crate) use visit::NamedColumn;

use crate::admin::AdminCommand;
use binlog::Xid;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IsolationName {
    ReadUncommitted,
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

#[derive(Debug, Clone, PartialEq)]
pub enum SetItem {
    UserVariable(String, Expr),
    /// `SET name = value`. A word without quotes on the right side (`SET x = ON`) is a
    /// `Literal::Text`. `None` is DEFAULT.
    Variable {
        scope: Scope,
        name: String,
        value: Option<Expr>,
    },
    /// `SET NAMES`. A `charset` of `None` is DEFAULT.
    Names {
        charset: Option<String>,
        collation: Option<String>,
    },
    CharacterSet(Option<String>),
    Transaction {
        scope: Scope,
        isolation: Option<IsolationName>,
        read_only: Option<bool>,
    },
}

/// The filter of a SHOW statement.
#[derive(Debug, Clone, PartialEq)]
pub enum ShowFilter {
    None,
    Like(Vec<u8>),
    Where(Expr),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Show {
    Schemas,
    Tables {
        schema: Option<String>,
        full: bool,
    },
    TableStatus {
        schema: Option<String>,
    },
    Columns {
        table: TableName,
        full: bool,
    },
    Index {
        table: TableName,
    },
    CreateTable(TableName),
    CreateSequence(TableName),
    CreateObject {
        kind: engine::ObjectKind,
        name: TableName,
    },
    CreateSchema {
        schema: String,
        if_not_exists: bool,
    },
    Variables(Scope),
    Status(Scope),
    Warnings {
        errors_only: bool,
        count: bool,
        limit: Option<(u64, u64)>,
    },
    Engines,
    Collation,
    CharacterSet,
    OpenTables,
    Triggers {
        schema: Option<String>,
    },
    Events {
        schema: Option<String>,
    },
    ProcedureStatus,
    FunctionStatus,
    CountOf {
        errors: bool,
    },
    Profiles,
    /// HELP, with the pattern of what is searched for.
    Help(Vec<u8>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Maintenance {
    Analyze,
    Check,
    Optimize,
    Repair,
    /// With QUICK, which wants only a checksum that the storage engine keeps.
    Checksum {
        quick: bool,
    },
}

/// The words behind COMMIT and ROLLBACK. `None` means that `completion_type` decides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Completion {
    pub chain: Option<bool>,
    pub release: Option<bool>,
}

/// What EXPLAIN is about.
#[derive(Debug, Clone, PartialEq)]
pub enum ExplainOf {
    Statement {
        statement: Box<Statement>,
        /// The schema in which names without one are looked up (FOR SCHEMA).
        schema: Option<String>,
    },
    /// The statement that runs in the connection with this number.
    Connection(u64),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Explain {
    pub of: ExplainOf,
    pub analyze: bool,
    /// `None` means the format in `explain_format`.
    pub format: Option<ExplainFormat>,
    /// The user variable that takes the text.
    pub into: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Statement {
    /// Only comments, which MySQL answers with OK.
    Empty,
    Query(Query),
    Insert(Insert),
    /// LOAD DATA and LOAD XML.
    Load(Box<Load>),
    Update(Update),
    Delete(Delete),
    CreateTable(CreateTable),
    AlterTable(AlterTable),
    DropTable {
        tables: Vec<TableName>,
        if_exists: bool,
        temporary: bool,
        /// `DROP SEQUENCE`.
        sequences: bool,
    },
    RenameTable {
        pairs: Vec<(TableName, TableName)>,
        /// MariaDB's IF EXISTS: tables that do not exist are skipped.
        if_exists: bool,
    },
    Truncate(TableName),
    CreateIndex {
        table: TableName,
        key: KeySpec,
        if_not_exists: bool,
        /// MariaDB's OR REPLACE.
        or_replace: bool,
        demands: AlterDemands,
    },
    DropIndex {
        table: TableName,
        name: String,
        if_exists: bool,
        demands: AlterDemands,
    },
    CreateSchema {
        schema: String,
        if_not_exists: bool,
        /// MariaDB's OR REPLACE.
        or_replace: bool,
        options: SchemaOptions,
    },
    AlterSchema {
        schema: Option<String>,
        options: SchemaOptions,
    },
    DropSchema {
        schema: String,
        if_exists: bool,
    },
    Begin {
        snapshot: bool,
        read_only: Option<bool>,
    },
    Commit(Completion),
    Rollback(Completion),
    Savepoint(String),
    RollbackTo(String),
    ReleaseSavepoint(String),
    Xa(Xa),
    Handler(Box<Handler>),
    LockTables(Vec<TableToLock>),
    UnlockTables,
    Set(Vec<SetItem>),
    Use(String),
    Show {
        show: Show,
        filter: ShowFilter,
    },
    Explain(Box<Explain>),
    Maintain {
        what: Maintenance,
        tables: Vec<TableName>,
    },
    Prepare {
        name: String,
        text: PrepareText,
    },
    Execute {
        name: String,
        using: Vec<String>,
    },
    Deallocate(String),
    Do(Vec<Expr>),
    /// `BINLOG '...'`: events of a binary log, in base 64.
    Binlog(String),
    Admin(AdminCommand),
    /// `PURGE BINARY LOGS BEFORE expr`.
    PurgeBefore(Expr),
    CreateObject(Box<CreateObject>),
    AlterRoutine(Box<AlterRoutine>),
    AlterEvent(Box<AlterEvent>),
    DropObjects {
        kind: engine::ObjectKind,
        names: Vec<TableName>,
        if_exists: bool,
    },
    Call(Box<Call>),
    Signal(Box<Signal>),
    GetDiagnostics(Box<GetDiagnostics>),
}

/// CALL of a stored procedure.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub name: TableName,
    pub arguments: Vec<Expr>,
}

/// The words behind XA START.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum XaStart {
    New,
    Join,
    Resume,
}

/// A table in LOCK TABLES.
#[derive(Clone, Debug, PartialEq)]
pub struct TableToLock {
    pub table: TableName,
    pub alias: Option<String>,
    pub write: bool,
}

/// A statement about an XA transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Xa {
    Start { xid: Xid, how: XaStart },
    End { xid: Xid, suspend: bool },
    Prepare(Xid),
    Commit { xid: Xid, one_phase: bool },
    Rollback(Xid),
    Recover { convert_xid: bool },
}

/// The text of PREPARE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PrepareText {
    Literal(Vec<u8>),
    UserVariable(String),
}
