//! Statements as they were written, names unresolved.
//!
//! `parse` builds these trees; `bind` and the executors of DDL read them. Fields carry the statement's own words.

#![allow(missing_docs, reason = "fields are the words of the statements, documented in MySQL's manual")]

use crate::admin::AdminCommand;
use crate::literal_rows::LiteralRows;

/// A table's name, with its schema when written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TableName {
    pub schema: Option<String>,
    pub name: String,
}

/// Which value of a system variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    Global,
    Session,
    Persist,
    PersistOnly,
    /// `@@x` or `SET x`: the session's, or the global one where there is no other. In SET TRANSACTION: the next
    /// transaction's.
    Unwritten,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    Null,
    Bool(bool),
    /// Not negative: the sign is an operator.
    Integer(u64),
    /// Digits with a point, or an integer beyond 64 bits.
    Decimal(String),
    Float(f64),
    /// With the character set introducer when written (`_latin1'x'`).
    Text(Vec<u8>, Option<String>),
    /// `0x..` and `b'..'`.
    Bytes(Vec<u8>),
    /// `DATE '...'`.
    Date(Vec<u8>),
    /// `TIME '...'`.
    Time(Vec<u8>),
    /// `TIMESTAMP '...'`.
    Timestamp(Vec<u8>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnaryOp {
    Minus,
    Plus,
    Not,
    BitNot,
    /// `BINARY expr`.
    Binary,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BinaryOp {
    Xor,
    Equal,
    NullSafeEqual,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    BitOr,
    BitAnd,
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    IntegerDivide,
    Modulo,
    BitXor,
}

/// Units of INTERVAL, EXTRACT and TIMESTAMPDIFF.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    Microsecond,
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
    SecondMicrosecond,
    MinuteMicrosecond,
    MinuteSecond,
    HourMicrosecond,
    HourSecond,
    HourMinute,
    DayMicrosecond,
    DaySecond,
    DayMinute,
    DayHour,
    YearMonth,
}

/// The type of CAST and CONVERT.
#[derive(Debug, Clone, PartialEq)]
pub enum CastType {
    Signed,
    Unsigned,
    Char { length: Option<u64>, charset: Option<String> },
    Binary { length: Option<u64> },
    Decimal { precision: u64, scale: u64 },
    Double,
    Float,
    Date,
    Time { fsp: u8 },
    DateTime { fsp: u8 },
    Year,
    Json,
}

#[derive(Debug, Clone, PartialEq)]
pub struct FunctionCall {
    /// In lower case.
    pub name: String,
    pub args: Vec<Expr>,
    /// `COUNT(*)`.
    pub star: bool,
    pub distinct: bool,
    /// Of GROUP_CONCAT.
    pub order_by: Vec<OrderItem>,
    pub separator: Option<Vec<u8>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TruthValue {
    True,
    False,
    Unknown,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    Literal(Literal),
    /// `?`, numbered from 0.
    Parameter(usize),
    Column {
        schema: Option<String>,
        table: Option<String>,
        name: String,
    },
    UserVariable(String),
    /// `@v := expr`.
    AssignVariable(String, Box<Expr>),
    SystemVariable {
        scope: Scope,
        name: String,
    },
    /// Two or more operands, so that a long chain is no deep tree.
    And(Vec<Expr>),
    /// As `And`.
    Or(Vec<Expr>),
    Unary(UnaryOp, Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    Between {
        negated: bool,
        operand: Box<Expr>,
        low: Box<Expr>,
        high: Box<Expr>,
    },
    InList {
        negated: bool,
        operand: Box<Expr>,
        list: Vec<Expr>,
    },
    InQuery {
        negated: bool,
        operand: Box<Expr>,
        query: Box<Query>,
    },
    Like {
        negated: bool,
        operand: Box<Expr>,
        pattern: Box<Expr>,
        escape: Option<Box<Expr>>,
    },
    Regexp {
        negated: bool,
        operand: Box<Expr>,
        pattern: Box<Expr>,
    },
    IsNull {
        negated: bool,
        operand: Box<Expr>,
    },
    IsTruth {
        negated: bool,
        operand: Box<Expr>,
        value: TruthValue,
    },
    Case {
        operand: Option<Box<Expr>>,
        whens: Vec<(Expr, Expr)>,
        otherwise: Option<Box<Expr>>,
    },
    Function(Box<FunctionCall>),
    Cast {
        operand: Box<Expr>,
        ty: CastType,
    },
    /// `CONVERT(x USING charset)`.
    ConvertUsing {
        operand: Box<Expr>,
        charset: String,
    },
    Collate {
        operand: Box<Expr>,
        collation: String,
    },
    /// `date + INTERVAL n unit`; `subtract` for `-`.
    DateAdd {
        date: Box<Expr>,
        amount: Box<Expr>,
        unit: TimeUnit,
        subtract: bool,
    },
    Extract {
        unit: TimeUnit,
        operand: Box<Expr>,
    },
    /// `TIMESTAMPDIFF` and `TIMESTAMPADD`.
    TimestampFunction {
        add: bool,
        unit: TimeUnit,
        first: Box<Expr>,
        second: Box<Expr>,
    },
    Trim {
        leading: bool,
        trailing: bool,
        remove: Option<Box<Expr>>,
        operand: Box<Expr>,
    },
    Row(Vec<Expr>),
    Subquery(Box<Query>),
    Exists(Box<Query>),
    /// `DEFAULT` as a value.
    Default,
    /// `DEFAULT(column)`.
    DefaultOf(String),
    /// `VALUES(column)` of ON DUPLICATE KEY UPDATE.
    Values(String),
}

impl Expr {
    /// `left AND right`.
    pub fn and(left: Expr, right: Expr) -> Expr {
        match left {
            Expr::And(mut operands) => {
                operands.push(right);
                Expr::And(operands)
            }
            _ => Expr::And(vec![left, right]),
        }
    }

    /// `left OR right`.
    pub fn or(left: Expr, right: Expr) -> Expr {
        match left {
            Expr::Or(mut operands) => {
                operands.push(right);
                Expr::Or(operands)
            }
            _ => Expr::Or(vec![left, right]),
        }
    }

    /// A plain call; `name` in lower case.
    pub fn call(name: &str, args: Vec<Expr>) -> Expr {
        Expr::Function(Box::new(FunctionCall {
            name: name.to_owned(),
            args,
            star: false,
            distinct: false,
            order_by: Vec::new(),
            separator: None,
        }))
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct OrderItem {
    pub expr: Expr,
    pub descending: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    pub count: Expr,
    pub offset: Option<Expr>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum SelectItem {
    /// `*`
    All,
    /// `t.*`
    AllOf { schema: Option<String>, table: String },
    Expr {
        expr: Expr,
        alias: Option<String>,
        /// The text of the expression, the column's name where there is no alias.
        text: String,
    },
}

/// FOR UPDATE, FOR SHARE, LOCK IN SHARE MODE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockStrength {
    Update,
    Share,
}

/// NOWAIT, SKIP LOCKED.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockWait {
    Wait,
    NoWait,
    SkipLocked,
}

/// A locking clause of a query; it may have several, for different tables.
#[derive(Debug, Clone, PartialEq)]
pub struct LockClause {
    pub strength: LockStrength,
    /// OF; none: every table.
    pub tables: Vec<TableName>,
    pub wait: LockWait,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexHintKind {
    Use,
    Force,
    Ignore,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexHint {
    pub kind: IndexHintKind,
    /// `PRIMARY` is the primary key. Empty with USE: no index.
    pub indexes: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinKind {
    Inner,
    Left,
    Right,
}

#[derive(Debug, Clone, PartialEq)]
pub enum TableRef {
    Table {
        name: TableName,
        alias: Option<String>,
        hints: Vec<IndexHint>,
    },
    Derived {
        query: Box<Query>,
        alias: String,
        columns: Vec<String>,
    },
    Join {
        kind: JoinKind,
        left: Box<TableRef>,
        right: Box<TableRef>,
        on: Option<Expr>,
        using: Vec<String>,
        natural: bool,
    },
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Select {
    pub distinct: bool,
    pub calc_found_rows: bool,
    pub items: Vec<SelectItem>,
    pub from: Option<TableRef>,
    pub filter: Option<Expr>,
    pub group_by: Vec<Expr>,
    pub having: Option<Expr>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum QueryBody {
    Select(Box<Select>),
    /// `left UNION [ALL] right`.
    Union {
        left: Box<QueryBody>,
        right: Box<QueryBody>,
        all: bool,
    },
    /// A query in parentheses with its own ORDER BY and LIMIT.
    Nested(Box<Query>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    pub body: QueryBody,
    pub order_by: Vec<OrderItem>,
    pub limit: Option<Limit>,
    pub locks: Vec<LockClause>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum InsertSource {
    /// An empty row is `VALUES ()`.
    Values(Vec<Vec<Expr>>),
    /// Rows of nothing but plain literals.
    Literals(LiteralRows),
    Query(Box<Query>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Insert {
    pub table: TableName,
    /// `None`: no list, all columns.
    pub columns: Option<Vec<String>>,
    pub source: InsertSource,
    pub replace: bool,
    pub ignore: bool,
    /// `VALUES ... AS new(a, b)`.
    pub row_alias: Option<(String, Vec<String>)>,
    pub on_duplicate: Vec<(String, Expr)>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Assignment {
    pub table: Option<String>,
    pub column: String,
    pub value: Expr,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Update {
    pub from: TableRef,
    pub assignments: Vec<Assignment>,
    pub filter: Option<Expr>,
    pub order_by: Vec<OrderItem>,
    pub limit: Option<Limit>,
    pub ignore: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Delete {
    /// Tables to delete from in the multiple-table form, by alias or name; empty in the single-table form.
    pub targets: Vec<TableName>,
    pub from: TableRef,
    pub filter: Option<Expr>,
    pub order_by: Vec<OrderItem>,
    pub limit: Option<Limit>,
    pub ignore: bool,
}

/// A column's type as written: the name in lower case (`int`, `double precision` is `double`), arguments, attributes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TypeSpec {
    pub name: String,
    pub length: Option<u64>,
    pub scale: Option<u64>,
    pub members: Vec<Vec<u8>>,
    pub unsigned: bool,
    pub zerofill: bool,
    pub binary: bool,
    pub charset: Option<String>,
    pub collation: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ColumnSpec {
    pub name: String,
    pub ty: TypeSpec,
    /// `None`: neither NULL nor NOT NULL was written.
    pub nullable: Option<bool>,
    pub default: Option<Expr>,
    pub on_update_now: bool,
    pub auto_increment: bool,
    pub unique: bool,
    pub primary: bool,
    pub comment: String,
    pub invisible: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyPart {
    pub column: String,
    pub prefix: Option<u32>,
    pub descending: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyKind {
    Primary,
    Unique,
    Index,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeySpec {
    pub kind: KeyKind,
    pub name: Option<String>,
    pub parts: Vec<KeyPart>,
    pub comment: String,
    pub invisible: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TableOptions {
    pub engine: Option<String>,
    pub charset: Option<String>,
    pub collation: Option<String>,
    pub comment: Option<String>,
    pub auto_increment: Option<u64>,
    pub row_format: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct CreateTable {
    pub table: TableName,
    pub if_not_exists: bool,
    /// CREATE OR REPLACE, from a MariaDB source.
    pub or_replace: bool,
    pub temporary: bool,
    pub columns: Vec<ColumnSpec>,
    pub keys: Vec<KeySpec>,
    pub options: TableOptions,
    pub like: Option<TableName>,
    pub query: Option<Box<Query>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnPlace {
    Last,
    First,
    After(String),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Alteration {
    AddColumn(ColumnSpec, ColumnPlace),
    ModifyColumn {
        name: String,
        spec: ColumnSpec,
        place: Option<ColumnPlace>,
    },
    DropColumn {
        name: String,
        if_exists: bool,
    },
    RenameColumn {
        from: String,
        to: String,
    },
    SetDefault {
        name: String,
        default: Option<Expr>,
    },
    AddKey(KeySpec),
    DropKey {
        name: String,
        if_exists: bool,
    },
    DropPrimaryKey,
    RenameKey {
        from: String,
        to: String,
    },
    RenameTo(TableName),
    Options(TableOptions),
    ConvertTo {
        charset: String,
        collation: Option<String>,
    },
    /// `FORCE`, and `ENGINE=InnoDB` of the same engine: rebuild.
    Force,
    /// `ORDER BY`, `DISABLE KEYS`: accepted, nothing to do.
    Nothing,
}

/// `ALGORITHM=`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AlterAlgorithm {
    #[default]
    Default,
    Instant,
    Inplace,
    Copy,
}

/// `LOCK=`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AlterLock {
    #[default]
    Default,
    None,
    Shared,
    Exclusive,
}

/// How ALTER TABLE, CREATE INDEX or DROP INDEX are to be carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AlterDemands {
    pub algorithm: AlterAlgorithm,
    pub lock: AlterLock,
}

#[derive(Debug, Clone, PartialEq)]
pub struct AlterTable {
    pub table: TableName,
    pub alterations: Vec<Alteration>,
    pub demands: AlterDemands,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SchemaOptions {
    pub charset: Option<String>,
    pub collation: Option<String>,
}

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
    /// A word without quotes on the right side (`SET x = ON`) is a `Literal::Text`; DEFAULT is `None`.
    Variable {
        scope: Scope,
        name: String,
        value: Option<Expr>,
    },
    /// `SET NAMES`; `None` is DEFAULT.
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
    Tables { schema: Option<String>, full: bool },
    TableStatus { schema: Option<String> },
    Columns { table: TableName, full: bool },
    Index { table: TableName },
    CreateTable(TableName),
    CreateSchema { schema: String, if_not_exists: bool },
    Variables(Scope),
    Status(Scope),
    Warnings { errors_only: bool, count: bool, limit: Option<(u64, u64)> },
    Engines,
    Collation,
    CharacterSet,
    OpenTables,
    Triggers,
    Events,
    ProcedureStatus,
    FunctionStatus,
    CountOf { errors: bool },
    Profiles,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Maintenance {
    Analyze,
    Check,
    Optimize,
    Repair,
    Checksum,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Statement {
    Query(Query),
    Insert(Insert),
    Update(Update),
    Delete(Delete),
    CreateTable(CreateTable),
    AlterTable(AlterTable),
    DropTable {
        tables: Vec<TableName>,
        if_exists: bool,
        temporary: bool,
    },
    RenameTable(Vec<(TableName, TableName)>),
    Truncate(TableName),
    CreateIndex {
        table: TableName,
        key: KeySpec,
        if_not_exists: bool,
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
    Commit {
        chain: bool,
        release: bool,
    },
    Rollback {
        chain: bool,
        release: bool,
    },
    Savepoint(String),
    RollbackTo(String),
    ReleaseSavepoint(String),
    LockTables(Vec<(TableName, bool)>),
    UnlockTables,
    Set(Vec<SetItem>),
    Use(String),
    Show {
        show: Show,
        filter: ShowFilter,
    },
    Explain {
        statement: Box<Statement>,
        format: Option<String>,
        analyze: bool,
    },
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
    Admin(AdminCommand),
    /// PURGE BINARY LOGS BEFORE expr.
    PurgeBefore(Expr),
    /// `DROP VIEW/TRIGGER/... IF EXISTS` of what cannot exist here: a note, nothing else.
    DropAbsent {
        kind: &'static str,
        names: Vec<TableName>,
        if_exists: bool,
    },
}

/// The text of PREPARE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PrepareText {
    Literal(Vec<u8>),
    UserVariable(String),
}
