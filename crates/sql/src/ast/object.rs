//! Views, triggers, stored routines and events.

use super::{Expr, Query, TableName, TimeUnit, TypeSpec};
use crate::admin::Account;
use engine::{ObjectKind, TriggerEvent};

/// CREATE of a view, trigger, routine or event. ALTER VIEW is a CREATE OR REPLACE of a view that
/// exists.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateObject {
    pub kind: ObjectKind,
    pub name: TableName,
    pub or_replace: bool,
    pub if_not_exists: bool,
    /// The statement is ALTER VIEW.
    pub alters: bool,
    /// `DEFINER =`. `None` means the account that runs the statement.
    pub definer: Option<Account>,
    /// The statement's text from the word for the kind of object on, as the binary log has it.
    pub text: String,
    /// The text of the object's query or statement.
    pub body: String,
    pub details: ObjectDetails,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ObjectDetails {
    View(Box<ViewDetails>),
    Trigger(TriggerDetails),
    Routine(Box<RoutineDetails>),
    Event(Box<EventClauses>),
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct ViewDetails {
    /// `MERGE`, `TEMPTABLE` or `UNDEFINED`.
    pub algorithm: Option<String>,
    /// `SQL SECURITY INVOKER`.
    pub invoker: Option<bool>,
    pub columns: Vec<String>,
    /// `LOCAL` or `CASCADED`.
    pub check: Option<&'static str>,
    /// The parsed query. `None` if this server's grammar does not know it.
    pub query: Option<Box<Query>>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct TriggerDetails {
    pub table: TableName,
    pub before: bool,
    pub event: TriggerEvent,
    /// The other trigger that this one PRECEDES (false) or FOLLOWS (true).
    pub beside: Option<(bool, String)>,
    /// The text from the word TRIGGER to FOR EACH ROW, which is what MariaDB shows.
    pub head: String,
    /// The part of `head` before the table's name.
    pub lead: String,
}

/// The parts of a routine. For ALTER only those that are written.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RoutineDetails {
    /// The text between the parentheses, as it is written.
    pub parameters: String,
    /// The type behind RETURNS, as it is written and parsed.
    pub returns: Option<(String, Option<TypeSpec>)>,
    pub deterministic: Option<bool>,
    /// `CONTAINS SQL`, `NO SQL`, `READS SQL DATA`, `MODIFIES SQL DATA`.
    pub access: Option<&'static str>,
    pub invoker: Option<bool>,
    pub comment: Option<String>,
    /// `CREATE AGGREGATE FUNCTION` of MariaDB.
    pub aggregate: bool,
}

/// A parameter of a routine.
#[derive(Debug, Clone, PartialEq)]
pub struct RoutineParameter {
    /// `IN`, `OUT`, `INOUT`.
    pub mode: &'static str,
    pub name: String,
    /// The type. `None` if this server does not have it.
    pub ty: Option<TypeSpec>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum EventSchedule {
    At(Expr),
    Every { amount: Expr, unit: TimeUnit, starts: Option<Expr>, ends: Option<Expr> },
}

/// The clauses of CREATE EVENT and ALTER EVENT.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EventClauses {
    pub schedule: Option<EventSchedule>,
    /// `ON COMPLETION PRESERVE`.
    pub preserve: Option<bool>,
    pub rename: Option<TableName>,
    pub status: Option<EventStatus>,
    pub comment: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventStatus {
    Enabled,
    Disabled,
    /// `DISABLE ON REPLICA`.
    DisabledOnReplica,
}

/// ALTER PROCEDURE, ALTER FUNCTION.
#[derive(Debug, Clone, PartialEq)]
pub struct AlterRoutine {
    pub kind: ObjectKind,
    pub name: TableName,
    pub changes: RoutineDetails,
}

/// ALTER EVENT.
#[derive(Debug, Clone, PartialEq)]
pub struct AlterEvent {
    pub name: TableName,
    pub definer: Option<Account>,
    pub clauses: EventClauses,
    /// The statement's text from the word EVENT on.
    pub text: String,
    /// The text behind DO.
    pub body: Option<String>,
}

/// Where a value is stored.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    Slot(usize),
    UserVariable(String),
}

/// An item of information about a condition, which SIGNAL sets and GET DIAGNOSTICS reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConditionItem {
    ClassOrigin,
    SubclassOrigin,
    ReturnedSqlstate,
    MessageText,
    MysqlErrno,
    ConstraintCatalog,
    ConstraintSchema,
    ConstraintName,
    CatalogName,
    SchemaName,
    TableName,
    ColumnName,
    CursorName,
}

/// SIGNAL and RESIGNAL.
#[derive(Debug, Clone, PartialEq)]
pub struct Signal {
    pub again: bool,
    /// The SQLSTATE. RESIGNAL may omit it.
    pub state: Option<[u8; 5]>,
    pub items: Vec<(ConditionItem, Expr)>,
}

/// GET DIAGNOSTICS.
#[derive(Debug, Clone, PartialEq)]
pub struct GetDiagnostics {
    pub stacked: bool,
    pub what: DiagnosticsWanted,
}

#[derive(Debug, Clone, PartialEq)]
pub enum DiagnosticsWanted {
    /// Information about the statement. `true` is ROW_COUNT, `false` is NUMBER.
    Statement(Vec<(Target, bool)>),
    Condition {
        number: Expr,
        items: Vec<(Target, ConditionItem)>,
    },
}
