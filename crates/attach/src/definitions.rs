//! The tables of the source: their definitions, the columns that are copied, and the key in whose
//! order their rows are read.

use crate::choice::Choice;
use crate::error::{AttachError, Result};
use crate::source::{Source, literal, quoted};

/// The schemas that every server has of its own, as a list for SQL.
pub const OWN_SCHEMAS: &str = "('mysql', 'information_schema', 'performance_schema', 'sys')";

/// The definition of a table at the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    pub schema: String,
    pub name: String,
    /// The text of SHOW CREATE TABLE without the counter of AUTO_INCREMENT.
    definition: String,
    /// True for a table of MariaDB that keeps the history of its rows.
    pub is_versioned: bool,
}

/// The tables of the source, each with the text of SHOW CREATE TABLE.
#[derive(Debug, Clone)]
pub struct Listing {
    pub tables: Vec<(Table, String)>,
    /// False when a table that was listed had no definition under its name any more. True is no
    /// proof that the list has all tables: MariaDB's can lack one that is being renamed.
    pub is_whole: bool,
}

/// A column whose values are copied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    pub name: String,
    /// The name of the type in lower case.
    kind: String,
    /// The character set of the column's texts.
    charset: Option<String>,
    /// The column's number in the primary key, if the whole column is in it and not a prefix.
    key_part: Option<u64>,
}

impl Table {
    /// Returns the quoted names of schema and table.
    pub fn quoted(&self) -> String {
        format!("{}.{}", quoted(&self.schema), quoted(&self.name))
    }

    /// Returns the name in the form of the engine's list of tables.
    pub fn path(&self) -> String {
        format!("{}/{}", self.schema, self.name)
    }

    /// Reports whether the rows can be copied in chunks: each has a key of its own, by which one
    /// version of it takes the place of another.
    pub fn has_chunks(&self) -> bool {
        !self.is_versioned && self.definition.lines().any(|line| line.starts_with("  PRIMARY KEY "))
    }

    /// Reports whether the rows of the table that has this name now can be copied in chunks.
    pub fn has_chunks_now(&self, source: &mut Source) -> Result<bool> {
        let now = Table::now(source, &self.schema, &self.name)?;
        Ok(now.is_some_and(|table| table.has_chunks()))
    }

    /// Makes the source's transaction hold the table's definition and name. Returns false when
    /// there is no such table any more, or a statement that changes the definition is in the way
    /// for longer than the session waits.
    pub fn hold(&self, source: &mut Source) -> Result<bool> {
        match source.query(&format!("SELECT 1 FROM {} LIMIT 0", self.quoted())) {
            Ok(_) => Ok(true),
            Err(AttachError::Source(_, error)) if matches!(error.server_code(), Some(1146 | 1205)) => {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// Reads the present definition of a table. `None` means that there is none of this name any
    /// more.
    pub fn now(source: &mut Source, schema: &str, name: &str) -> Result<Option<Table>> {
        Ok(Table::now_with_text(source, schema, name)?.map(|(table, _)| table))
    }

    /// Reads the present definition of a table like [`Table::now`], with the text of SHOW CREATE
    /// TABLE as it is.
    fn now_with_text(source: &mut Source, schema: &str, name: &str) -> Result<Option<(Table, String)>> {
        let show = format!("SHOW CREATE TABLE {}.{}", quoted(schema), quoted(name));
        let text = match source.query(&show) {
            Ok(shown) => shown.cell(0, 1).unwrap_or_default(),
            // The table was dropped or renamed a moment ago.
            Err(AttachError::Source(_, error)) if error.server_code() == Some(1146) => return Ok(None),
            Err(error) => return Err(error),
        };
        let definition = without_counter(&text);
        let is_versioned = source.is_mariadb()
            && {
                let (schema, name) = (literal(schema), literal(name));
                let find = format!(
                    "SELECT TABLE_TYPE FROM information_schema.TABLES WHERE TABLE_SCHEMA = {schema} AND TABLE_NAME = {name}"
                );
                source.one(&find)? == "SYSTEM VERSIONED"
            };
        Ok(Some((Table { schema: schema.into(), name: name.into(), definition, is_versioned }, text)))
    }

    /// Reads the present definitions of all chosen tables that are not the server's own. A table
    /// that is renamed meanwhile may be missing.
    pub fn all(source: &mut Source, choice: &dyn Choice) -> Result<Vec<Table>> {
        Ok(Listing::read(source, choice)?.tables.into_iter().map(|(table, _)| table).collect())
    }

    /// Returns the columns that are copied, which are all except those computed from others.
    pub fn columns(&self, source: &mut Source) -> Result<Vec<Column>> {
        let list = format!(
            "SELECT c.COLUMN_NAME, LOWER(c.DATA_TYPE), c.CHARACTER_SET_NAME, \
                    IF(s.SUB_PART IS NULL, s.SEQ_IN_INDEX, NULL) \
             FROM information_schema.COLUMNS c LEFT JOIN information_schema.STATISTICS s \
               ON s.TABLE_SCHEMA = c.TABLE_SCHEMA AND s.TABLE_NAME = c.TABLE_NAME \
                  AND s.COLUMN_NAME = c.COLUMN_NAME AND s.INDEX_NAME = 'PRIMARY' \
             WHERE c.TABLE_SCHEMA = {} AND c.TABLE_NAME = {} AND IFNULL(c.GENERATION_EXPRESSION, '') = '' \
             ORDER BY c.ORDINAL_POSITION",
            literal(&self.schema),
            literal(&self.name)
        );
        let rows = source.table(&list)?;
        let text = |cell: &String| Some(cell.clone()).filter(|text| !text.is_empty());
        let column = |row: Vec<String>| Column {
            name: row[0].clone(),
            kind: row[1].clone(),
            charset: text(&row[2]),
            key_part: row[3].parse().ok(),
        };
        let mut columns: Vec<Column> = rows.into_iter().map(column).collect();
        if self.is_versioned {
            columns.extend(self.period(source)?.map(Column::of_period));
        }
        Ok(columns)
    }

    /// Returns the names of the columns that say from when to when a row of a versioned table was
    /// there. Without names of their own they are hidden.
    fn period(&self, source: &mut Source) -> Result<[String; 2]> {
        let mut named = |what: &str| {
            source.one(&format!(
                "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = {} AND TABLE_NAME = {} \
                 AND GENERATION_EXPRESSION = '{what}'",
                literal(&self.schema),
                literal(&self.name)
            ))
        };
        let (start, end) = (named("ROW START")?, named("ROW END")?);
        let or = |name: String, hidden: &str| if name.is_empty() { hidden.to_owned() } else { name };
        Ok([or(start, "row_start"), or(end, "row_end")])
    }
}

impl Listing {
    /// Reads the definitions of all chosen tables that are not the server's own.
    pub fn read(source: &mut Source, choice: &dyn Choice) -> Result<Listing> {
        let list = format!(
            "SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES \
             WHERE TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED') AND TABLE_SCHEMA NOT IN {OWN_SCHEMAS} ORDER BY 1, 2"
        );
        let mut listing = Listing { tables: Vec::new(), is_whole: true };
        for row in source.table(&list)? {
            if !choice.takes_table(&row[0], &row[1]) {
                continue;
            }
            match Table::now_with_text(source, &row[0], &row[1])? {
                Some(table) => listing.tables.push(table),
                None => listing.is_whole = false,
            }
        }
        Ok(listing)
    }

    /// Reports whether both have a definition for each table that they listed, and the same ones.
    pub fn is_same(&self, other: &Listing) -> bool {
        let same = |(one, other): (&(Table, String), &(Table, String))| one.0 == other.0;
        let (ours, theirs) = (&self.tables, &other.tables);
        self.is_whole && other.is_whole && ours.len() == theirs.len() && ours.iter().zip(theirs).all(same)
    }
}

impl Column {
    /// Builds a column of a row's period.
    fn of_period(name: String) -> Column {
        Column { name, kind: "timestamp".to_owned(), charset: None, key_part: None }
    }

    /// Returns the column's number in the primary key, if the rows can be read in the order of this
    /// column.
    pub fn key_part(&self) -> Option<u64> {
        // Values of these types are compared as texts when they are written, but sorted as numbers.
        let is_sortable = !matches!(self.kind.as_str(), "enum" | "set" | "bit" | "float" | "double");
        self.key_part.filter(|_| is_sortable)
    }

    /// Returns the expression that is read for the column.
    pub fn read(&self) -> String {
        let name = quoted(&self.name);
        // As a DOUBLE the value has all of its digits.
        if self.kind == "float" { format!("CAST({name} AS DOUBLE)") } else { name }
    }

    /// Reports whether the column is a document, which takes characters and not bytes.
    pub fn is_document(&self) -> bool {
        self.kind == "json"
    }

    /// Returns a value that was read as an expression to compare the column with.
    pub fn bound(&self, value: &[u8]) -> String {
        let hex = || value.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        match (&self.charset, self.kind.as_str()) {
            (Some(charset), _) => format!("_{charset} x'{}'", hex()),
            (None, "binary" | "varbinary" | "tinyblob" | "blob" | "mediumblob" | "longblob") => {
                format!("x'{}'", hex())
            }
            (None, "date" | "time" | "datetime" | "timestamp" | "uuid" | "inet4" | "inet6") => {
                format!("'{}'", String::from_utf8_lossy(value))
            }
            (None, _) => String::from_utf8_lossy(value).into_owned(),
        }
    }
}

/// Returns a definition without `AUTO_INCREMENT=n`, which changes with every row.
fn without_counter(definition: &str) -> String {
    const WORD: &str = " AUTO_INCREMENT=";
    // The options stand behind the last parenthesis that begins a line.
    let Some(options) = definition.rfind("\n) ") else { return definition.to_owned() };
    let Some(at) = definition[options..].find(WORD).map(|at| options + at) else {
        return definition.to_owned();
    };
    let digits = definition[at + WORD.len()..].bytes().take_while(u8::is_ascii_digit).count();
    format!("{}{}", &definition[..at], &definition[at + WORD.len() + digits..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counter_is_left_out() {
        let with = "CREATE TABLE `t` (\n  `a` int COMMENT ' AUTO_INCREMENT=1'\n) ENGINE=InnoDB AUTO_INCREMENT=42 COMMENT='x'";
        let without =
            "CREATE TABLE `t` (\n  `a` int COMMENT ' AUTO_INCREMENT=1'\n) ENGINE=InnoDB COMMENT='x'";
        assert_eq!(without_counter(with), without);
        assert_eq!(without_counter(without), without);
    }

    #[test]
    fn bounds_are_written_as_their_types_need_them() {
        let column = |kind: &str, charset: Option<&str>| Column {
            name: "c".into(),
            kind: kind.into(),
            charset: charset.map(str::to_owned),
            key_part: Some(1),
        };
        assert_eq!(column("int", None).bound(b"-7"), "-7");
        assert_eq!(column("varchar", Some("latin1")).bound(b"\xe9"), "_latin1 x'e9'");
        assert_eq!(column("varbinary", None).bound(b"\x00"), "x'00'");
        assert_eq!(column("datetime", None).bound(b"2020-01-01 00:00:00"), "'2020-01-01 00:00:00'");
        assert_eq!(column("uuid", None).bound(b"0-1"), "'0-1'");
        assert_eq!(column("enum", Some("utf8mb4")).key_part(), None);
    }
}
