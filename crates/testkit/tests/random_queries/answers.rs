//! The answer of a server to a statement, and how two answers differ.

use std::collections::BTreeSet;

use protocol::client::{Client, ClientError, ResultSet};
use protocol::column::{Column, column_flag};

/// The codes of types in the protocol.
const FLOAT: u8 = 4;
const DOUBLE: u8 = 5;
const YEAR: u8 = 13;
const JSON: u8 = 245;

/// What a server has answered.
#[derive(Debug)]
pub enum Said {
    Rows(Box<ResultSet>),
    Done(u64, String),
    Refused(u16, String),
    /// The connection is lost.
    Gone(String),
}

/// An answer, with the levels, numbers and messages of its warnings.
#[derive(Debug)]
pub struct Answer {
    pub said: Said,
    pub warnings: BTreeSet<(String, String, String)>,
}

/// How two answers differ. The worst kind is first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// One server has ended the connection.
    Gone,
    /// Rows, or the number of changed rows.
    Values,
    /// One server carried the statement out, and the other one refused it.
    Refusal,
    /// The number of the error.
    Error,
    /// The type, decimals, sign or collation of a column.
    Types,
    /// The name of a column.
    Names,
    /// The warnings' numbers and levels.
    Warnings,
    /// The message of an error or of a warning.
    Message,
    /// The length of a column, or whether it may be NULL.
    Lengths,
}

/// A difference of two answers. Those with the same signature are likely to have the same cause.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Difference {
    pub kind: Kind,
    pub signature: String,
}

/// How the rows of an answer are compared.
#[derive(Debug, Clone, Copy, Default)]
pub struct Certain {
    /// The rows come in a certain order.
    pub is_ordered: bool,
    /// One row stands for several that are equal by their collations.
    pub folds: bool,
}

/// Sends a statement, and returns the answer with its warnings.
pub fn ask(client: &mut Client, statement: &str) -> Answer {
    let said = match client.query(statement) {
        Ok(result) if result.columns.is_empty() => {
            // The warnings are compared by themselves.
            let info = result.ok.info.split("  Warnings:").next().unwrap_or_default();
            Said::Done(result.ok.affected_rows, info.to_owned())
        }
        Ok(result) => Said::Rows(Box::new(result)),
        Err(ClientError::Server(error)) => Said::Refused(error.code, error.message),
        Err(error) => return Answer { said: Said::Gone(error.to_string()), warnings: BTreeSet::new() },
    };
    let mut warnings = BTreeSet::new();
    if let Ok(result) = client.query("SHOW WARNINGS") {
        let text = |cell: &Option<Vec<u8>>| {
            String::from_utf8_lossy(cell.as_deref().unwrap_or_default()).into_owned()
        };
        warnings.extend(result.rows.iter().map(|row| (text(&row[0]), text(&row[1]), text(&row[2]))));
    }
    Answer { said, warnings }
}

impl Answer {
    /// Returns the answer as text for people.
    pub fn shown(&self) -> String {
        let said = match &self.said {
            Said::Rows(result) => {
                let columns: Vec<String> = result
                    .columns
                    .iter()
                    .map(|column| format!("{} {}", column.name, described(column)))
                    .collect();
                let rows: Vec<String> = result.rows.iter().map(|row| row_shown(row)).collect();
                format!("[{}] {}", columns.join(", "), rows.join(" / "))
            }
            Said::Done(rows, info) => format!("{rows} rows {info}"),
            Said::Refused(code, message) => format!("error {code} {message}"),
            Said::Gone(message) => message.clone(),
        };
        let warnings: Vec<String> =
            self.warnings.iter().map(|(level, code, message)| format!("{level} {code} {message}")).collect();
        if warnings.is_empty() { said } else { format!("{said} ({})", warnings.join("; ")) }
    }
}

fn row_shown(row: &[Option<Vec<u8>>]) -> String {
    let cell = |cell: &Option<Vec<u8>>| match cell {
        Some(bytes) => bytes.escape_ascii().to_string(),
        None => "NULL".to_owned(),
    };
    row.iter().map(cell).collect::<Vec<_>>().join("|")
}

/// Returns what is compared of a column's type. The flags that name keys follow from the plan in
/// MySQL.
fn described(column: &Column) -> String {
    let flags = column.flags
        & (column_flag::UNSIGNED | column_flag::NOT_NULL | column_flag::BINARY | column_flag::ZEROFILL);
    format!(
        "{}({},{}) {flags:#x} {}",
        column.field_type, column.length_bytes, column.decimals, column.collation
    )
}

/// Returns the cell in the form in which cells are compared: of floating-point numbers twelve
/// digits, because the last ones follow from the order of a sum.
fn comparable(cell: Option<&[u8]>, column: &Column, folds: bool) -> String {
    let Some(bytes) = cell else { return "NULL".to_owned() };
    let text = String::from_utf8_lossy(bytes);
    if matches!(column.field_type, DOUBLE | FLOAT)
        && let Ok(number) = text.parse::<f64>()
    {
        return format!("{:.11e}", if number == 0.0 { 0.0 } else { number });
    }
    if folds {
        return text.trim_end().to_lowercase().replace('\u{e9}', "e").replace('\u{df}', "ss");
    }
    bytes.escape_ascii().to_string()
}

fn comparable_rows(result: &ResultSet, certain: Certain) -> Vec<String> {
    let row = |row: &Vec<Option<Vec<u8>>>| {
        let cells = row.iter().zip(&result.columns);
        cells
            .map(|(cell, column)| comparable(cell.as_deref(), column, certain.folds))
            .collect::<Vec<_>>()
            .join("|")
    };
    let mut rows: Vec<String> = result.rows.iter().map(row).collect();
    if !certain.is_ordered {
        rows.sort();
    }
    rows
}

/// Returns how the answers differ, and `None` if they do not.
pub fn difference(ours: &Answer, theirs: &Answer, certain: Certain) -> Option<Difference> {
    let found = |kind: Kind, signature: String| Some(Difference { kind, signature });
    let worst = match (&ours.said, &theirs.said) {
        (Said::Gone(_), _) => found(Kind::Gone, "here".to_owned()),
        (_, Said::Gone(_)) => found(Kind::Gone, "MySQL".to_owned()),
        (Said::Refused(ours, _), Said::Refused(theirs, _)) if ours != theirs => {
            found(Kind::Error, format!("{ours}, MySQL {theirs}"))
        }
        (Said::Refused(code, ours), Said::Refused(_, theirs)) if ours != theirs => {
            found(Kind::Message, code.to_string())
        }
        (Said::Refused(..), Said::Refused(..)) => None,
        (Said::Refused(code, _), _) => found(Kind::Refusal, format!("{code} here")),
        (_, Said::Refused(code, _)) => found(Kind::Refusal, format!("{code} of MySQL")),
        (Said::Done(ours, text), Said::Done(theirs, other)) if ours != theirs || text != other => {
            found(Kind::Values, String::new())
        }
        (Said::Done(..), Said::Done(..)) => None,
        (Said::Rows(ours), Said::Rows(theirs)) => of_results(ours, theirs, certain),
        (Said::Done(..), Said::Rows(_)) | (Said::Rows(_), Said::Done(..)) => {
            found(Kind::Values, String::new())
        }
    };
    match (worst, of_warnings(ours, theirs)) {
        (Some(worst), Some(other)) if other.kind < worst.kind => Some(other),
        (worst, other) => worst.or(other),
    }
}

fn of_warnings(ours: &Answer, theirs: &Answer) -> Option<Difference> {
    if ours.warnings == theirs.warnings {
        return None;
    }
    let codes = |answer: &Answer| -> BTreeSet<String> {
        answer.warnings.iter().map(|(level, code, _)| format!("{level} {code}")).collect()
    };
    let [ours, theirs] = [codes(ours), codes(theirs)];
    let only = |some: &BTreeSet<String>, other: &BTreeSet<String>| -> String {
        some.difference(other).cloned().collect::<Vec<_>>().join(", ")
    };
    let (here, there) = (only(&ours, &theirs), only(&theirs, &ours));
    let (kind, signature) = match (here.is_empty(), there.is_empty()) {
        (true, true) => (Kind::Message, ours.into_iter().collect::<Vec<_>>().join(", ")),
        _ => (Kind::Warnings, format!("{here}; MySQL {there}")),
    };
    Some(Difference { kind, signature })
}

fn of_results(ours: &ResultSet, theirs: &ResultSet, certain: Certain) -> Option<Difference> {
    let found = |kind: Kind, signature: String| Some(Difference { kind, signature });
    if ours.columns.len() != theirs.columns.len()
        || comparable_rows(ours, certain) != comparable_rows(theirs, certain)
    {
        return found(Kind::Values, String::new());
    }
    let mut pairs = ours.columns.iter().zip(&theirs.columns);
    if let Some((ours, theirs)) = pairs.clone().find(|(ours, theirs)| typed(ours) != typed(theirs)) {
        return found(Kind::Types, format!("{}, MySQL {}", typed(ours), typed(theirs)));
    }
    if let Some((ours, theirs)) = pairs.clone().find(|(ours, theirs)| sized(ours) != sized(theirs)) {
        let is_of_null = ours.length_bytes == theirs.length_bytes;
        let what = if is_of_null { "NOT NULL" } else { "length" };
        return found(Kind::Lengths, format!("{what} of type {}", ours.field_type));
    }
    pairs
        .any(|(ours, theirs)| ours.name != theirs.name)
        .then(|| Difference { kind: Kind::Names, signature: String::new() })
}

/// Returns the type of a column as it is compared. Whether MySQL keeps a value in a temporary table
/// follows from its plan, and changes what it says of the value's column: the size of integers and
/// BLOBs, the decimals of texts, the flag BINARY of what is no text, whether a computed year is an
/// integer, and the character set of documents.
fn typed(column: &Column) -> String {
    let (mut flags, mut decimals) = (column_flag::UNSIGNED | column_flag::ZEROFILL, column.decimals);
    let field_type = match column.field_type {
        JSON => return "documents".to_owned(),
        YEAR if column.flags & column_flag::ZEROFILL == 0 => 8,
        1 | 2 | 3 | 9 => 8,
        249..=251 => 252,
        other => other,
    };
    if matches!(field_type, 252..=254) {
        (flags, decimals) = (column_flag::BINARY, 0);
    }
    let flags = column.flags & flags;
    format!("type {field_type} decimals {decimals} flags {flags:#x} collation {}", column.collation)
}

/// Returns how long the values of a column are, and whether they may be NULL.
fn sized(column: &Column) -> (u32, bool) {
    // The length of documents tells of their character set.
    let length = if column.field_type == JSON { 0 } else { column.length_bytes };
    (length, column.flags & column_flag::NOT_NULL != 0)
}
