//! Definitions of schemas and tables as users see them: what `SHOW CREATE TABLE` prints and the
//! dictionary keeps.

mod check;
pub(crate) mod codec;
mod expression;
mod foreign_key;
pub(crate) mod object;
mod partition;
mod temporal;

use types::{ColumnType, TypeCode, Value};

pub use expression::{CheckDef, Generated, KeptIndex, KeptKind, KeptPart};
pub use foreign_key::{ForeignKeyDef, ReferentialAction};
pub use object::{Object, ObjectChange, ObjectDef, ObjectKind, TriggerEvent, TriggerPlace};
pub use partition::{Partition, PartitionForm, PartitionFunction, PartitionKind, Partitioning, Subpartition};
pub use temporal::{ColumnRoles, SystemVersioning, Temporal};

/// Which index of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexRef {
    /// The clustered index: the primary key, or the hidden row id.
    Primary,
    /// The secondary index at this position of `def.indexes`.
    Secondary(usize),
}

/// Where a column's value comes from when an INSERT does not give one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnDefault {
    /// `DEFAULT NULL`, written or implied.
    Null,
    /// A literal, in text form (UTF-8; raw bytes for the binary types, the number's digits for
    /// BIT). What is to be converted to the column's type on use is [`ColumnDef::default_literal`].
    Literal(Vec<u8>),
    /// `CURRENT_TIMESTAMP` with the column's fractional digits.
    CurrentTimestamp,
    /// `DEFAULT (expression)`, the expression's SQL text.
    Expression(String),
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnDef {
    /// Name as written; compared without regard to case.
    pub name: String,
    /// Type, with collation.
    pub ty: ColumnType,
    /// Whether NULL may be stored.
    pub nullable: bool,
    /// `None`: no default, an INSERT must give a value (error 1364 in strict mode).
    pub default: Option<ColumnDefault>,
    /// `AUTO_INCREMENT`
    pub auto_increment: bool,
    /// `ON UPDATE CURRENT_TIMESTAMP`
    pub on_update_now: bool,
    /// `COMMENT`
    pub comment: String,
    /// `INVISIBLE`
    pub invisible: bool,
    /// `GENERATED ALWAYS AS (expression)`
    pub generated: Option<Generated>,
    /// What it is to the periods of a table of MariaDB.
    pub roles: ColumnRoles,
}

impl ColumnDef {
    /// A nullable column with no default but NULL.
    pub fn new(name: &str, ty: ColumnType) -> ColumnDef {
        ColumnDef {
            name: name.to_string(),
            ty,
            nullable: true,
            default: Some(ColumnDefault::Null),
            auto_increment: false,
            on_update_now: false,
            comment: String::new(),
            invisible: false,
            generated: None,
            roles: ColumnRoles::default(),
        }
    }

    /// The literal of its DEFAULT, as a value to be assigned to the column. `None`: the default is
    /// none, NULL, or no literal.
    pub fn default_literal(&self) -> Option<Value> {
        let Some(ColumnDefault::Literal(text)) = &self.default else { return None };
        // A BIT column takes the bytes of a text for its bits, and the literal is the number's
        // text.
        if self.ty.code == TypeCode::Bit {
            return Some(Value::UInt(types::number::integer_prefix(text).value as u64));
        }
        Some(Value::Bytes(text.clone()))
    }

    /// The column with `NOT NULL` and no default.
    pub fn not_null(mut self) -> ColumnDef {
        self.nullable = false;
        self.default = None;
        self
    }

    /// The column with `AUTO_INCREMENT`.
    pub fn auto_increment(mut self) -> ColumnDef {
        self.auto_increment = true;
        self.not_null()
    }
}

/// A part of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexColumn {
    /// Position of the column in the table.
    pub column: usize,
    /// Only this many characters (bytes for binary types) of it are in the key.
    pub prefix: Option<u32>,
    /// `DESC`: shown, and the key is in ascending order all the same, for it is read either way.
    pub descending: bool,
}

impl IndexColumn {
    /// The whole column at this position.
    pub fn whole(column: usize) -> IndexColumn {
        IndexColumn { column, prefix: None, descending: false }
    }
}

/// A secondary index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexDef {
    /// Number of the index in its engine; 0 in a definition that is not yet in the dictionary: the
    /// engine assigns it.
    pub id: u32,
    /// Name.
    pub name: String,
    /// `UNIQUE`
    pub unique: bool,
    /// Parts of the key, in order.
    pub columns: Vec<IndexColumn>,
    /// `COMMENT`
    pub comment: String,
    /// `INVISIBLE`
    pub invisible: bool,
}

/// A table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableDef {
    /// Schema that the table is in.
    pub schema: String,
    /// Name.
    pub name: String,
    /// Columns in order.
    pub columns: Vec<ColumnDef>,
    /// Primary key; `None`: rows are kept in the order of a hidden row id.
    pub primary: Option<Vec<IndexColumn>>,
    /// Secondary indexes in order.
    pub indexes: Vec<IndexDef>,
    /// FOREIGN KEY constraints in the order of their making.
    pub foreign_keys: Vec<ForeignKeyDef>,
    /// CHECK constraints in the order of their making.
    pub checks: Vec<CheckDef>,
    /// Indexes that are shown and dumped, and that nothing is looked up in.
    pub kept_indexes: Vec<KeptIndex>,
    /// `PARTITION BY`
    pub partitioning: Option<Partitioning>,
    /// Periods, as MariaDB has them.
    pub temporal: Temporal,
    /// Default collation of new columns.
    pub collation: u16,
    /// `COMMENT`
    pub comment: String,
    /// Other options as written (`ROW_FORMAT`, `STATS_PERSISTENT`, ...), for `SHOW CREATE TABLE`.
    pub options: Vec<(String, String)>,
    /// First value of the AUTO_INCREMENT counter that the statement asked for; 0: not said.
    pub auto_increment: u64,
    /// When the table was created, in seconds of Unix time.
    pub created_s: u64,
}

impl TableDef {
    /// An empty definition in utf8mb4_0900_ai_ci.
    pub fn new(schema: &str, name: &str) -> TableDef {
        TableDef {
            schema: schema.to_string(),
            name: name.to_string(),
            columns: Vec::new(),
            primary: None,
            indexes: Vec::new(),
            foreign_keys: Vec::new(),
            checks: Vec::new(),
            kept_indexes: Vec::new(),
            partitioning: None,
            temporal: Temporal::default(),
            collation: 255,
            comment: String::new(),
            options: Vec::new(),
            auto_increment: 0,
            created_s: 0,
        }
    }

    /// Position of the column with this name, compared without regard to case.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| same_name(&column.name, name))
    }

    /// Position in `indexes` of the index with this name, compared without regard to case.
    pub fn index(&self, name: &str) -> Option<usize> {
        self.indexes.iter().position(|index| same_name(&index.name, name))
    }

    /// Whether it is a MariaDB sequence: a table of one row, which row events set.
    pub fn is_sequence(&self) -> bool {
        self.primary.is_none() && self.options.iter().any(|(name, value)| name == "SEQUENCE" && value == "1")
    }

    /// Position of the column that has a role.
    pub fn column_with(&self, role: ColumnRoles) -> Option<usize> {
        self.columns.iter().position(|column| column.roles.has(role))
    }

    /// Positions of ROW START and ROW END of a table with system versioning.
    pub fn row_period(&self) -> Option<(usize, usize)> {
        self.temporal.versioning?;
        Some((self.column_with(ColumnRoles::ROW_START)?, self.column_with(ColumnRoles::ROW_END)?))
    }

    /// Whether a column is neither shown nor listed: nobody wrote it.
    pub fn is_hidden(&self, column: &ColumnDef) -> bool {
        column.roles.is_of_row() && self.temporal.versioning.is_some_and(|versioning| versioning.implied)
    }

    /// Whether rows are versioned by numbers of transactions, not by time.
    pub fn is_versioned_by_transactions(&self) -> bool {
        self.row_period().is_some_and(|(_, end)| self.columns[end].ty.code == TypeCode::LongLong)
    }

    /// Position of the AUTO_INCREMENT column.
    pub fn auto_increment_column(&self) -> Option<usize> {
        self.columns.iter().position(|column| column.auto_increment)
    }

    /// `schema.table`
    pub fn qualified_name(&self) -> String {
        format!("{}.{}", self.schema, self.name)
    }
}

fn same_name(a: &str, b: &str) -> bool {
    a == b || a.to_lowercase() == b.to_lowercase()
}

/// A schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaDef {
    /// Name.
    pub name: String,
    /// Default collation of new tables.
    pub collation: u16,
}
