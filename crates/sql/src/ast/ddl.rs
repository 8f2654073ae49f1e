//! Definitions of tables and schemas, and the statements that change them.

use super::{Expr, PartitionAlteration, PartitionSpec, Query, TableName, TypeSpec, WrittenExpr};
use engine::ReferentialAction;

/// `GENERATED ALWAYS AS (expression)`
#[derive(Debug, Clone, PartialEq)]
pub struct GeneratedSpec {
    pub expression: WrittenExpr,
    pub stored: bool,
}

/// `[CONSTRAINT [name]] CHECK (expression) [[NOT] ENFORCED]`
#[derive(Debug, Clone, PartialEq)]
pub struct CheckSpec {
    pub name: Option<String>,
    pub expression: WrittenExpr,
    pub enforced: bool,
    /// The column in whose definition the constraint is written. `None` if it is written among the
    /// table's.
    pub column: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ColumnSpec {
    pub name: String,
    pub ty: TypeSpec,
    /// `None` if neither NULL nor NOT NULL is written.
    pub nullable: Option<bool>,
    pub default: Option<Expr>,
    /// `DEFAULT (expression)`
    pub default_expression: Option<WrittenExpr>,
    pub generated: Option<GeneratedSpec>,
    /// The number of fractional digits of `ON UPDATE CURRENT_TIMESTAMP(n)`.
    pub on_update_fsp: Option<u64>,
    pub auto_increment: bool,
    /// Whether NULL stands behind AUTO_INCREMENT. The column may then be NULL, and NULL generates
    /// no value.
    pub null_behind_auto_increment: bool,
    pub unique: bool,
    pub primary: bool,
    pub comment: String,
    pub invisible: bool,
    pub references: Option<ForeignKeySpec>,
    pub checks: Vec<CheckSpec>,
    /// `GENERATED ALWAYS AS ROW START` or `ROW END`
    pub row_edge: Option<RowEdge>,
    /// `WITH SYSTEM VERSIONING` or `WITHOUT SYSTEM VERSIONING`
    pub versioned: Option<bool>,
}

impl ColumnSpec {
    /// Creates a column with a name and a type and no attributes.
    pub fn new(name: String, ty: TypeSpec) -> ColumnSpec {
        ColumnSpec {
            name,
            ty,
            nullable: None,
            default: None,
            default_expression: None,
            generated: None,
            on_update_fsp: None,
            auto_increment: false,
            null_behind_auto_increment: false,
            unique: false,
            primary: false,
            comment: String::new(),
            invisible: false,
            references: None,
            checks: Vec::new(),
            row_edge: None,
            versioned: None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignKeySpec {
    pub name: Option<String>,
    /// The name for the index on its columns, if one has to be created.
    pub index: Option<String>,
    pub columns: Vec<String>,
    pub parent: TableName,
    /// The columns of the parent. Empty means those of its primary key.
    pub parent_columns: Vec<String>,
    pub on_delete: ReferentialAction,
    pub on_update: ReferentialAction,
    /// The foreign key is written in the definition of its column. MySQL before 9.0 parses such a
    /// foreign key and ignores it.
    pub at_column: bool,
    /// In CREATE TABLE, the number of keys that are written before it and are neither unique nor
    /// FULLTEXT or SPATIAL. An index that is created for it comes behind these.
    pub keys_before: Option<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct KeyPart {
    /// The name of the column. Empty if the part is an expression.
    pub column: String,
    pub expression: Option<WrittenExpr>,
    pub prefix: Option<u32>,
    pub descending: bool,
    /// ASC or DESC is written.
    pub ordered: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyKind {
    Primary,
    Unique,
    Index,
    FullText,
    Spatial,
    /// MariaDB's index for the vectors that are near another one.
    Vector,
}

#[derive(Debug, Clone, PartialEq)]
pub struct KeySpec {
    pub kind: KeyKind,
    pub name: Option<String>,
    pub parts: Vec<KeyPart>,
    pub comment: String,
    pub invisible: bool,
    /// `USING RTREE`
    pub is_rtree: bool,
    /// `USING BTREE`
    pub using_btree: bool,
    /// `WITH PARSER`
    pub parser: Option<String>,
    /// The period of `WITHOUT OVERLAPS`, which is the key's last part.
    pub without_overlaps: Option<String>,
    /// The options of a VECTOR index, as MariaDB shows them.
    pub vector_options: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TableOptions {
    pub engine: Option<String>,
    pub charset: Option<String>,
    pub collation: Option<String>,
    pub comment: Option<String>,
    pub auto_increment: Option<u64>,
    /// Whether the statement ends in START TRANSACTION: row events of the table follow, as the
    /// binary log has them for CREATE TABLE ... SELECT.
    pub begins_transaction: bool,
    /// The written options among [`TableOptions::KEPT`], with their values in upper case.
    pub kept: Vec<(String, String)>,
    /// The options that only MariaDB has, as they are written there.
    pub of_mariadb: Vec<(String, String)>,
    /// The options among [`TableOptions::OF_SOURCES`] in a source's statement, with their values as
    /// SHOW CREATE TABLE shows them. An empty value removes the option.
    pub of_sources: Vec<(String, String)>,
    /// `WITH SYSTEM VERSIONING`
    pub versioned: bool,
}

impl TableOptions {
    /// The options that are shown again and have no effect here, in the order in which SHOW CREATE
    /// TABLE shows them.
    pub const KEPT: [&str; 11] = [
        "MIN_ROWS",
        "MAX_ROWS",
        "AVG_ROW_LENGTH",
        "PACK_KEYS",
        "STATS_PERSISTENT",
        "STATS_AUTO_RECALC",
        "STATS_SAMPLE_PAGES",
        "CHECKSUM",
        "DELAY_KEY_WRITE",
        "ROW_FORMAT",
        "KEY_BLOCK_SIZE",
    ];

    /// The options that say where and how MySQL's engine stores a table. Those in a source's
    /// statement are kept and shown again, and have no effect here. Each has its name, the text
    /// before and behind its value, and its place in SHOW CREATE TABLE: `Some(false)` before
    /// ENGINE, `None` among the other options, `Some(true)` behind COMMENT.
    pub const OF_SOURCES: [(&str, &str, &str, Option<bool>); 8] = [
        ("TABLESPACE", "/*!50100 TABLESPACE ", " */", Some(false)),
        ("AUTOEXTEND_SIZE", "/*!80023 AUTOEXTEND_SIZE=", " */", Some(false)),
        ("COMPRESSION", "COMPRESSION=", "", None),
        ("ENCRYPTION", "/*!80016 ENCRYPTION=", " */", None),
        ("CONNECTION", "CONNECTION=", "", Some(true)),
        ("DATA DIRECTORY", "DATA DIRECTORY=", "", Some(true)),
        ("INDEX DIRECTORY", "INDEX DIRECTORY=", "", Some(true)),
        ("SECONDARY_ENGINE", "SECONDARY_ENGINE=", "", Some(true)),
    ];
}

#[derive(Debug, Clone, PartialEq)]
pub struct CreateTable {
    pub table: TableName,
    pub if_not_exists: bool,
    /// The statement is CREATE OR REPLACE, from a MariaDB source.
    pub or_replace: bool,
    pub temporary: bool,
    pub columns: Vec<ColumnSpec>,
    pub keys: Vec<KeySpec>,
    pub foreign_keys: Vec<ForeignKeySpec>,
    pub checks: Vec<CheckSpec>,
    pub options: TableOptions,
    pub partitioning: Option<Box<PartitionSpec>>,
    pub like: Option<TableName>,
    pub query: Option<Box<Query>>,
    /// `IGNORE` stands before the query.
    pub ignores: bool,
    /// `REPLACE` stands before the query.
    pub replaces: bool,
    /// The statement is CREATE SEQUENCE, with these options.
    pub sequence: Option<SequenceSpec>,
    pub periods: Vec<PeriodSpec>,
}

impl CreateTable {
    /// Creates the statement for a table without columns, keys or options.
    pub fn empty(table: TableName, temporary: bool, or_replace: bool) -> CreateTable {
        CreateTable {
            table,
            if_not_exists: false,
            or_replace,
            temporary,
            columns: Vec::new(),
            keys: Vec::new(),
            foreign_keys: Vec::new(),
            checks: Vec::new(),
            options: TableOptions::default(),
            partitioning: None,
            like: None,
            query: None,
            ignores: false,
            replaces: false,
            sequence: None,
            periods: Vec::new(),
        }
    }
}

/// The options of CREATE SEQUENCE and ALTER SEQUENCE. `None` means that an option is not written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SequenceSpec {
    pub start: Option<i64>,
    /// `RESTART`, with its value if one is written.
    pub restart: Option<Option<i64>>,
    pub minimum: Option<i64>,
    pub maximum: Option<i64>,
    pub increment: Option<i64>,
    pub cache: Option<i64>,
    pub cycle: Option<bool>,
}

impl SequenceSpec {
    /// The default minimum of an ascending sequence.
    pub const LEAST: i64 = 1;
    /// The default maximum of an ascending sequence.
    pub const GREATEST: i64 = i64::MAX - 1;
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
    SetDefaultExpression {
        name: String,
        default: WrittenExpr,
    },
    /// `ALTER COLUMN ... SET VISIBLE` and `SET INVISIBLE`.
    SetVisible {
        name: String,
        visible: bool,
    },
    AddKey(KeySpec),
    DropKey {
        name: String,
        if_exists: bool,
    },
    DropPrimaryKey,
    /// `ALTER INDEX ... VISIBLE` and `INVISIBLE`.
    SetIndexVisible {
        name: String,
        visible: bool,
    },
    AddCheck(CheckSpec),
    DropCheck {
        name: String,
        if_exists: bool,
    },
    /// `ALTER CHECK` and `ALTER CONSTRAINT`.
    EnforceCheck {
        name: String,
        enforced: bool,
    },
    AddForeignKey(ForeignKeySpec),
    DropForeignKey {
        name: String,
        if_exists: bool,
    },
    /// Drops the primary or unique key, the foreign key or the check that has this name.
    DropConstraint {
        name: String,
        if_exists: bool,
    },
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
    Partition(PartitionAlteration),
    /// `ALTER SEQUENCE`. It is the only alteration of its statement.
    Sequence(SequenceSpec),
    /// `ADD SYSTEM VERSIONING`
    AddVersioning,
    /// `DROP SYSTEM VERSIONING`
    DropVersioning,
    AddPeriod(PeriodSpec),
    /// `DROP PERIOD FOR name`. Without a name the period is `SYSTEM_TIME`.
    DropPeriod {
        name: Option<String>,
        if_exists: bool,
    },
    /// `FORCE`, or `ENGINE=InnoDB` for a table that has this engine already: the table is rebuilt.
    Force,
    /// `ORDER BY`, `DISABLE KEYS` and the like, which are accepted and have no effect.
    Nothing,
    /// An alteration with MariaDB's `IF EXISTS` or `IF NOT EXISTS`. It is skipped if the thing that
    /// it names does not exist, or exists already.
    Conditional {
        if_exists: bool,
        alteration: Box<Alteration>,
    },
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

/// How ALTER TABLE, CREATE INDEX or DROP INDEX shall be carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AlterDemands {
    pub algorithm: AlterAlgorithm,
    pub lock: AlterLock,
}

#[derive(Debug, Clone, PartialEq)]
pub struct AlterTable {
    pub table: TableName,
    /// `ALTER TABLE IF EXISTS`, from a MariaDB source.
    pub if_exists: bool,
    pub alterations: Vec<Alteration>,
    pub demands: AlterDemands,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SchemaOptions {
    pub charset: Option<String>,
    pub collation: Option<String>,
}

/// `PERIOD FOR name (start, end)`. Without a name the period is `SYSTEM_TIME`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeriodSpec {
    pub name: Option<String>,
    pub start: String,
    pub end: String,
}

/// `GENERATED ALWAYS AS ROW START` and `ROW END`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowEdge {
    Start,
    End,
}
