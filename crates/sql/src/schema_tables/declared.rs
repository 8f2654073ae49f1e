//! The tables of `information_schema` and `performance_schema` as MySQL 9.7 declares them: columns,
//! types and keys.
//!
//! The declarations are data beside this file, one paragraph for each table. The first line has the
//! table's name after `=`, its collation unless that is the usual one of its schema, `truncate` if
//! the table may be emptied, and `view` if it is a view in MySQL. A line for each column and each
//! key follows, as SHOW CREATE TABLE has it, but without quotes. They are read once, when somebody
//! asks for the first of them.
//!
//! What only MariaDB has is added to the members of enumerations and sets: the kinds of tables, a
//! row format, and the modes of programs, which MySQL has names such as NOT_USED_29 for.
//!
//! Another module or the host computes the rows of the tables that it knows. A column that the host
//! does not fill is NULL, or the type's zero where NULL is not allowed. A table that nobody
//! computes has no rows.

use crate::computed_table::ComputedRows;
use crate::ddl::kept_type;
use crate::error::Result;
use crate::lexical::LexMode;
use crate::parse::object::type_of;
use crate::quoting::quoted;
use crate::result_column::column_meta;
use crate::sink::ColumnMeta;
use std::sync::LazyLock;
use types::collation::{self, UTF8MB4_0900_AI_CI};
use types::convert::{Context, DateModes, assign, implicit_default};
use types::{ColumnType, TypeCode, Value, Zone};

/// A schema, the usual collation of its tables, and their declarations.
struct Texts {
    schema: &'static str,
    collation: &'static str,
    texts: &'static [&'static str],
}

const INFORMATION_SCHEMA: Texts = Texts {
    schema: "information_schema",
    collation: "utf8mb3_general_ci",
    texts: &[
        include_str!("declared/information_innodb.txt"),
        include_str!("declared/information_programs.txt"),
        include_str!("declared/information_server.txt"),
        include_str!("declared/information_tables.txt"),
    ],
};

const PERFORMANCE_SCHEMA: Texts = Texts {
    schema: "performance_schema",
    collation: "utf8mb4_0900_ai_ci",
    texts: &[
        include_str!("declared/files.txt"),
        include_str!("declared/instances.txt"),
        include_str!("declared/replication.txt"),
        include_str!("declared/sessions.txt"),
        include_str!("declared/setup.txt"),
        include_str!("declared/statements.txt"),
        include_str!("declared/transactions.txt"),
        include_str!("declared/waits.txt"),
    ],
};

static TABLES: LazyLock<Vec<Declared>> =
    LazyLock::new(|| [INFORMATION_SCHEMA, PERFORMANCE_SCHEMA].iter().flat_map(Texts::tables).collect());

impl Texts {
    fn paragraphs(&self) -> impl Iterator<Item = &'static str> {
        self.texts.iter().flat_map(|text| text.split("\n\n"))
    }

    fn tables(&self) -> impl Iterator<Item = Declared> {
        self.paragraphs().filter_map(|paragraph| Declared::read(self, paragraph))
    }
}

/// A table as MySQL declares it.
pub(crate) struct Declared {
    pub(crate) schema: &'static str,
    pub(crate) name: &'static str,
    pub(crate) collation: &'static str,
    /// Whether TRUNCATE TABLE may empty the table.
    pub(crate) can_be_truncated: bool,
    /// Whether the table is a view in MySQL.
    pub(crate) is_view: bool,
    pub(crate) columns: Vec<DeclaredColumn>,
    pub(crate) keys: Vec<DeclaredKey>,
}

/// A column as MySQL declares it.
pub(crate) struct DeclaredColumn {
    pub(crate) name: &'static str,
    pub(crate) ty: ColumnType,
    pub(crate) nullable: bool,
    pub(crate) default: Option<&'static str>,
    pub(crate) comment: &'static str,
    /// The text after the name in SHOW CREATE TABLE.
    written: &'static str,
}

/// A key as MySQL declares it.
pub(crate) struct DeclaredKey {
    /// `PRIMARY KEY`, `UNIQUE KEY` or `KEY`.
    kind: &'static str,
    pub(crate) name: &'static str,
    pub(crate) columns: Vec<&'static str>,
}

impl DeclaredKey {
    pub(crate) fn is_unique(&self) -> bool {
        self.kind != "KEY"
    }

    fn read(line: &'static str) -> Option<DeclaredKey> {
        let kind = ["PRIMARY KEY", "UNIQUE KEY", "KEY"].into_iter().find(|kind| line.starts_with(kind))?;
        let (name, columns) = line[kind.len()..].trim().strip_suffix(')')?.split_once('(')?;
        let name = if kind == "PRIMARY KEY" { "PRIMARY" } else { name.trim() };
        Some(DeclaredKey { kind, name, columns: columns.split(',').collect() })
    }

    fn line(&self) -> String {
        let columns: Vec<String> = self.columns.iter().map(|column| quoted(column)).collect();
        let name = if self.name == "PRIMARY" { String::new() } else { format!("{} ", quoted(self.name)) };
        format!("  {} {name}({})", self.kind, columns.join(","))
    }
}

impl DeclaredColumn {
    /// Reads the line of a column in a table with this collation.
    fn read(line: &'static str, collation: u16) -> Option<DeclaredColumn> {
        let (name, written) = line.split_once(' ')?;
        let (rest, comment) = match written.split_once(" COMMENT '") {
            Some((rest, comment)) => (rest, comment.strip_suffix('\'')?),
            None => (written, ""),
        };
        let (rest, default) = match rest.split_once(" DEFAULT ") {
            Some((rest, "NULL")) => (rest, None),
            Some((rest, default)) => (rest, Some(default.trim_matches('\''))),
            None => (rest, None),
        };
        let nullable = !rest.ends_with(" NOT NULL");
        let of_type = rest.trim_end_matches(" NOT NULL").trim_end_matches(" NULL");
        let ty = kept_type(&type_of(of_type, LexMode::default())?, collation)?;
        Some(DeclaredColumn { name, ty, nullable, default, comment, written })
    }

    /// Returns the text after the name in SHOW CREATE TABLE. The tables of information_schema that
    /// are no views have defaults that MySQL shows here alone.
    fn shown(&self) -> String {
        let Some(before) = self.written.strip_suffix(" DEFAULT ''") else { return self.written.to_owned() };
        let default = match self.ty.code {
            TypeCode::Blob => return before.to_owned(),
            _ if self.nullable => "NULL",
            TypeCode::Varchar | TypeCode::String => "''",
            TypeCode::Datetime2 => "'0000-00-00 00:00:00'",
            _ => "'0'",
        };
        format!("{before} DEFAULT {default}")
    }

    fn meta(&self) -> ColumnMeta {
        column_meta(self.name, self.ty.clone(), self.nullable)
    }

    /// Returns the value that the column has for what the host has computed.
    fn value_of(&self, computed: Value) -> Value {
        let computed = match (computed, self.ty.code) {
            // The host's moments are UTC, as the ones of this column are.
            (Value::DateTime(at), TypeCode::Timestamp2) if at == types::DateTime::default() => {
                return Value::Timestamp { seconds: 0, micros: 0 };
            }
            (computed, _) => computed,
        };
        if computed.is_null() {
            return if self.nullable { Value::Null } else { self.nothing() };
        }
        let context =
            Context { strict: false, zone: Zone::UTC, dates: DateModes::default(), of_mariadb: false };
        let assigned = assign(&computed, &self.ty, context);
        debug_assert!(
            self.ty.code != TypeCode::Enum || matches!(assigned, Ok((_, None))),
            "{computed:?} is a member of {}",
            self.name
        );
        assigned.map_or(computed, |(value, _)| value)
    }

    /// Returns what stands in the column where nothing is known.
    fn nothing(&self) -> Value {
        match self.nullable {
            true => Value::Null,
            false => implicit_default(&self.ty).unwrap_or(Value::Null),
        }
    }
}

impl Declared {
    fn read(of: &Texts, paragraph: &'static str) -> Option<Declared> {
        let mut lines = paragraph.trim().lines();
        let mut head = lines.next()?.split(' ').skip(1);
        let name = head.next()?;
        let mut declared = Declared {
            schema: of.schema,
            name,
            collation: of.collation,
            can_be_truncated: false,
            is_view: false,
            columns: Vec::new(),
            keys: Vec::new(),
        };
        for word in head {
            match word {
                "truncate" => declared.can_be_truncated = true,
                "view" => declared.is_view = true,
                collation => declared.collation = collation,
            }
        }
        let collation = collation::from_name(declared.collation).unwrap_or(UTF8MB4_0900_AI_CI);
        for line in lines {
            match DeclaredKey::read(line) {
                Some(key) => declared.keys.push(key),
                None => declared.columns.push(DeclaredColumn::read(line, collation)?),
            }
        }
        Some(declared)
    }

    /// Returns a row with the types of the columns. A text that is longer than MySQL's are stays
    /// whole.
    ///
    /// # Panics
    /// The row must have a value for each column.
    pub(crate) fn typed(&self, row: Vec<Value>) -> Vec<Value> {
        assert_eq!(row.len(), self.columns.len(), "a row of {} has the table's columns", self.name);
        let typed = |(column, value): (&DeclaredColumn, Value)| match (&value, column.ty.code) {
            (Value::Bytes(_), TypeCode::Varchar | TypeCode::Blob) => value,
            _ => column.value_of(value),
        };
        self.columns.iter().zip(row).map(typed).collect()
    }

    /// Returns the descriptions of the columns.
    pub(crate) fn metas(&self) -> Vec<ColumnMeta> {
        self.columns.iter().map(DeclaredColumn::meta).collect()
    }

    /// Returns `Dynamic` if some column's values differ in length, else `Fixed`.
    pub(crate) fn row_format(&self) -> &'static str {
        let differs =
            |ty: &ColumnType| matches!(ty.code, TypeCode::Varchar | TypeCode::Blob | TypeCode::Json);
        if self.columns.iter().any(|column| differs(&column.ty)) { "Dynamic" } else { "Fixed" }
    }

    /// Returns `PRI`, `UNI`, `MUL` or nothing for a column.
    pub(crate) fn key_of(&self, column: &str) -> &'static str {
        let first_of = |key: &&DeclaredKey| key.columns[0] == column;
        match () {
            _ if self.primary().is_some_and(|key| key.columns.contains(&column)) => "PRI",
            _ if self.keys.iter().filter(first_of).any(|key| key.is_unique() && key.columns.len() == 1) => {
                "UNI"
            }
            _ if self.keys.iter().any(|key| first_of(&key)) => "MUL",
            _ => "",
        }
    }

    /// Returns the primary key, or else the first unique key without columns that may be NULL.
    fn primary(&self) -> Option<&DeclaredKey> {
        let may_be_null =
            |name: &&str| self.columns.iter().any(|column| column.name == *name && column.nullable);
        let stands_in = |key: &&DeclaredKey| key.is_unique() && !key.columns.iter().any(may_be_null);
        self.keys.iter().find(|key| key.name == "PRIMARY").or_else(|| self.keys.iter().find(stands_in))
    }

    /// Returns the statement that SHOW CREATE TABLE shows. The views of MySQL are shown as tables,
    /// too, because the tables that they read are not there.
    pub(crate) fn statement(&self) -> String {
        let columns =
            self.columns.iter().map(|column| format!("  {} {}", quoted(column.name), column.shown()));
        let lines: Vec<String> = columns.chain(self.keys.iter().map(DeclaredKey::line)).collect();
        let (name, lines) = (quoted(self.name), lines.join(",\n"));
        if self.schema == INFORMATION_SCHEMA.schema {
            let has_blob = self.columns.iter().any(|column| column.ty.code == TypeCode::Blob);
            let engine = if has_blob { "InnoDB" } else { "MEMORY" };
            return format!(
                "CREATE TEMPORARY TABLE {name} (\n{lines}\n) ENGINE={engine} DEFAULT CHARSET=utf8mb3"
            );
        }
        let collation = self.collation;
        format!(
            "CREATE TABLE {name} (\n{lines}\n) ENGINE=PERFORMANCE_SCHEMA DEFAULT CHARSET=utf8mb4 \
             COLLATE={collation}"
        )
    }

    /// Returns the rows of SHOW INDEX. Each key is a hash, of which nothing else is known.
    pub(crate) fn index_rows(&self) -> Vec<Vec<Value>> {
        let text = Value::text;
        let mut rows = Vec::new();
        for key in &self.keys {
            for (at, name) in key.columns.iter().enumerate() {
                let nullable = self.columns.iter().any(|column| column.name == *name && column.nullable);
                let mut row = vec![text(self.name), Value::UInt(u64::from(!key.is_unique())), text(key.name)];
                row.extend([Value::UInt(at as u64 + 1), text(name)]);
                row.extend([const { Value::Null }; 4]);
                row.extend([if nullable { "YES" } else { "" }, "HASH", "", "", "YES"].map(text));
                row.push(Value::Null);
                rows.push(row);
            }
        }
        rows
    }
}

/// Returns the table with this name in any letter case.
pub(crate) fn find(schema: &str, table: &str) -> Option<&'static Declared> {
    // Every column of every statement is asked about, and hardly any is of these schemas.
    let of = [INFORMATION_SCHEMA, PERFORMANCE_SCHEMA].into_iter();
    let schema = of.map(|texts| texts.schema).find(|known| known.eq_ignore_ascii_case(schema))?;
    let is_it = |declared: &&Declared| declared.schema == schema && declared.name.eq_ignore_ascii_case(table);
    TABLES.iter().find(is_it)
}

/// Returns the names of a schema's tables.
pub(crate) fn names(schema: &str) -> Vec<String> {
    let of_schema = TABLES.iter().filter(|declared| declared.schema.eq_ignore_ascii_case(schema));
    of_schema.map(|declared| declared.name.to_owned()).collect()
}

/// The receiver of a host's rows, which gives each row the declared columns.
pub(crate) struct Arranged<'r> {
    rows: &'r mut dyn ComputedRows,
    declared: &'static Declared,
    /// The number of values in the host's rows.
    given: usize,
    /// For each declared column its place in the host's rows.
    places: Vec<Option<usize>>,
}

impl<'r> Arranged<'r> {
    pub(crate) fn new(
        declared: &'static Declared,
        computed: &[ColumnMeta],
        rows: &'r mut dyn ComputedRows,
    ) -> Arranged<'r> {
        let place = |column: &DeclaredColumn| {
            computed.iter().position(|computed| computed.name.eq_ignore_ascii_case(column.name))
        };
        let given = computed.len();
        Arranged { rows, declared, given, places: declared.columns.iter().map(place).collect() }
    }
}

impl ComputedRows for Arranged<'_> {
    fn put(&mut self, mut row: Vec<Value>) -> Result<()> {
        assert_eq!(row.len(), self.given, "a row of {} has the host's columns", self.declared.name);
        let columns = self.declared.columns.iter().zip(&self.places);
        let arranged = columns.map(|(column, place)| match place.and_then(|at| row.get_mut(at)) {
            Some(value) => column.value_of(std::mem::replace(value, Value::Null)),
            None => column.nothing(),
        });
        self.rows.put(arranged.collect())
    }

    fn charge(&mut self, bytes: usize) -> Result<()> {
        self.rows.charge(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_declaration_is_read() {
        for (texts, tables) in [(INFORMATION_SCHEMA, 84), (PERFORMANCE_SCHEMA, 117)] {
            assert_eq!(texts.paragraphs().count(), tables);
            assert_eq!(names(texts.schema).len(), tables);
        }
    }

    #[test]
    fn keys_name_columns_that_are_there() {
        for table in TABLES.iter() {
            for name in table.keys.iter().flat_map(|key| &key.columns) {
                assert!(table.columns.iter().any(|column| column.name == *name), "{} {name}", table.name);
            }
        }
    }
}
