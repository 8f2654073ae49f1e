//! Converts values of JSON documents to SQL values, and SQL values to those of documents.

use super::text_of;
use crate::error::{Result, SqlError};
use types::convert::DateModes;
use types::json::{self as documents, JsonError, Node};
use types::temporal::parse;
use types::{ColumnType, Decimal, TypeCode, Value, Zone, number};

/// Builds error 3157: the document is nested too deeply.
pub(crate) fn too_deep() -> SqlError {
    SqlError::new(3157, JsonError::TOO_DEEP)
}

/// Builds error 3142, for a document that a source or a disk has damaged.
pub(crate) fn damaged() -> SqlError {
    SqlError::new(3142, "The JSON binary value contains invalid data.")
}

/// Converts an SQL value to one of a document. Truth values become numbers and bytes become strings
/// here.
pub(crate) fn plain_scalar(value: &Value, zone: Zone) -> Result<Node> {
    Ok(match value {
        Value::Null => Node::Null,
        Value::Int(n) => Node::Int(*n),
        Value::UInt(n) => Node::UInt(*n),
        Value::Year(year) => Node::UInt(u64::from(*year)),
        Value::Float(n) => Node::Double(f64::from(*n)),
        Value::Double(n) => Node::Double(*n),
        Value::Decimal(n) => Node::decimal(n),
        Value::Date(date) => Node::date(date),
        Value::Time(time) => Node::time(time),
        Value::DateTime(at) => Node::datetime(at),
        Value::Timestamp { .. } => match value.clone().in_zone(zone) {
            Value::DateTime(at) => Node::datetime(&at),
            _ => Node::Null,
        },
        Value::Bit { bits, width } => {
            let bytes = usize::from(width.div_ceil(8)).clamp(1, 8);
            Node::Opaque(TypeCode::Bit as u8, bits.to_be_bytes()[8 - bytes..].to_vec())
        }
        Value::Json(bytes) => documents::read_document(bytes).ok_or_else(damaged)?,
        text @ (Value::Bytes(_) | Value::Enum { .. } | Value::Set { .. }) => {
            Node::String(text_of(text).into_owned())
        }
    })
}

/// The failure to convert a value of a document.
pub(crate) struct Misfit {
    /// The name of the wanted kind in messages.
    kind: &'static str,
    /// Whether the value is of the kind, and too large for it.
    is_too_large: bool,
    /// The nearest value of the wanted kind.
    pub nearest: Value,
}

impl Misfit {
    /// Returns the number and the words of MySQL's complaint.
    pub fn complaint(&self, name: &str) -> (u16, String) {
        let (code, what) = if self.is_too_large { (3155, "Out of range") } else { (3156, "Invalid") };
        (code, format!("{what} JSON value for CAST to {} from column {name} at row 1", self.kind))
    }
}

pub(crate) type Converted = std::result::Result<Value, Misfit>;

/// The kinds of SQL values that values of documents are converted to. Columns of other types get
/// texts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Integer { unsigned: bool },
    Double,
    Decimal,
    Date,
    DateTime,
    Time,
    Text,
}

impl Kind {
    pub fn of(ty: &ColumnType) -> Kind {
        match ty.code {
            _ if ty.is_integer() => Kind::Integer { unsigned: ty.unsigned },
            TypeCode::Float | TypeCode::Double => Kind::Double,
            TypeCode::NewDecimal => Kind::Decimal,
            TypeCode::Date => Kind::Date,
            TypeCode::Datetime2 | TypeCode::Timestamp2 => Kind::DateTime,
            TypeCode::Time2 => Kind::Time,
            _ => Kind::Text,
        }
    }
}

/// Converts a value that a column of the type `ty` is to store, if it is a document and the column
/// stores none. A text column gets the document as it is. `None` means that the value needs no
/// conversion.
pub(crate) fn for_column(value: &Value, ty: &ColumnType, dates: DateModes) -> Result<Option<Converted>> {
    let Value::Json(bytes) = value else { return Ok(None) };
    match Kind::of(ty) {
        // These read the text of the document, quotes and all.
        Kind::Text if matches!(ty.code, TypeCode::Year | TypeCode::Enum | TypeCode::Set) => {
            Ok(Some(Ok(Value::Bytes(value.text_bytes(None).unwrap_or_default()))))
        }
        Kind::Text => Ok(None),
        kind => {
            let node = documents::read_document(bytes).ok_or_else(damaged)?;
            Ok(Some(converted(&node, kind, dates)))
        }
    }
}

/// Converts a value of a document to the kind `kind`.
pub(crate) fn converted(node: &Node, kind: Kind, dates: DateModes) -> Converted {
    match kind {
        Kind::Integer { unsigned } => integer(node, unsigned),
        Kind::Double => double(node),
        Kind::Decimal => decimal(node),
        Kind::Date | Kind::DateTime => point_in_time(node, kind, dates),
        Kind::Time => time(node),
        Kind::Text => {
            let mut text = Vec::new();
            documents::write_node_text(node, &mut text);
            Ok(Value::Bytes(text))
        }
    }
}

/// Returns the double that a document is, or the one nearest to it.
pub(crate) fn double_of(document: &[u8]) -> f64 {
    let read = documents::read_document(document).map(|node| double(&node).unwrap_or_else(|no| no.nearest));
    match read {
        Some(Value::Double(n)) => n,
        _ => 0.0,
    }
}

pub(crate) fn misfit(kind: &'static str, nearest: Value) -> Converted {
    Err(Misfit { kind, is_too_large: false, nearest })
}

fn integer(node: &Node, unsigned: bool) -> Converted {
    const KIND: &str = "INTEGER";
    let whole = |n: i128| {
        let nearest = match (unsigned && n >= 0, u64::try_from(n), i64::try_from(n)) {
            (true, Ok(n), _) => Value::UInt(n),
            (true, Err(_), _) => Value::UInt(u64::MAX),
            // As in MySQL's CAST, a negative number wraps to an unsigned one.
            (false, _, Ok(n)) if unsigned => Value::UInt(n as u64),
            (false, _, Ok(n)) => Value::Int(n),
            (false, _, Err(_)) => Value::Int(if n < 0 { i64::MIN } else { i64::MAX }),
        };
        let fits = if unsigned { n <= i128::from(u64::MAX) } else { i64::try_from(n).is_ok() };
        match fits && n >= i128::from(i64::MIN) {
            true => Ok(nearest),
            false => Err(Misfit { kind: KIND, is_too_large: true, nearest }),
        }
    };
    match node {
        Node::Int(n) => whole(i128::from(*n)),
        // A signed integer takes the 64 bits of an unsigned one.
        Node::UInt(n) if !unsigned => Ok(Value::Int(*n as i64)),
        Node::UInt(n) => whole(i128::from(*n)),
        Node::Bool(n) => whole(i128::from(*n)),
        Node::Double(n) => whole(n.round_ties_even() as i128),
        Node::String(text) => {
            let read = number::integer_prefix(text);
            let Ok(nearest) = whole(read.value) else { return whole(read.value) };
            if read.len < text.len() || text.is_empty() { misfit(KIND, nearest) } else { Ok(nearest) }
        }
        node => match node.as_decimal() {
            Some(n) => {
                let rounded = n.round(0);
                whole(number::integer_prefix(rounded.to_string().as_bytes()).value)
            }
            None => misfit(KIND, if unsigned { Value::UInt(0) } else { Value::Int(0) }),
        },
    }
}

fn double(node: &Node) -> Converted {
    let value = match node {
        Node::Int(n) => *n as f64,
        Node::UInt(n) => *n as f64,
        Node::Double(n) => *n,
        Node::Bool(n) => f64::from(u8::from(*n)),
        Node::String(text) => {
            let read = number::double_prefix(text);
            if read.len < text.len() || text.is_empty() {
                return misfit("DOUBLE", Value::Double(read.value));
            }
            read.value
        }
        node => match node.as_decimal() {
            Some(n) => n.to_f64(),
            None => return misfit("DOUBLE", Value::Double(0.0)),
        },
    };
    Ok(Value::Double(value))
}

fn decimal(node: &Node) -> Converted {
    let value = match node {
        Node::Int(n) => Decimal::from(*n),
        Node::UInt(n) => Decimal::from(*n),
        Node::Bool(n) => Decimal::from(i64::from(*n)),
        Node::Double(n) => match Decimal::from_f64(*n) {
            Some(n) => n,
            None => {
                let largest = Decimal::largest(65, 0);
                let nearest = Value::Decimal(if *n < 0.0 { largest.negate() } else { largest });
                return Err(Misfit { kind: "DECIMAL", is_too_large: true, nearest });
            }
        },
        Node::String(text) => {
            let read = Decimal::parse_prefix(text);
            if read.len < text.len() || text.is_empty() {
                return misfit("DECIMAL", Value::Decimal(read.number));
            }
            read.number
        }
        node => match node.as_decimal() {
            Some(n) => n,
            None => return misfit("DECIMAL", Value::Decimal(Decimal::zero(0))),
        },
    };
    Ok(Value::Decimal(value))
}

fn point_in_time(node: &Node, kind: Kind, dates: DateModes) -> Converted {
    let word = if kind == Kind::Date { "DATE" } else { "DATETIME/TIMESTAMP" };
    let read = match node {
        Node::String(text) => parse::datetime_with(text, dates.allow_invalid)
            .filter(|read| !read.trailing_garbage && !dates.refuses(&read.value.date))
            .map(|read| read.value),
        node => node.as_datetime(),
    };
    match (read, kind) {
        (Some(at), Kind::Date) => Ok(Value::Date(at.date)),
        (Some(at), _) => Ok(Value::DateTime(at)),
        (None, _) => misfit(word, Value::Null),
    }
}

fn time(node: &Node) -> Converted {
    let read = match node {
        Node::String(text) => {
            parse::time(text, Zone::UTC).filter(|read| !read.trailing_garbage).map(|read| read.value.time)
        }
        node => node.as_time(),
    };
    match read {
        Some(time) => Ok(Value::Time(time)),
        None => misfit("TIME", Value::Null),
    }
}

/// Reports whether the value is a number below zero or the text of one.
pub(crate) fn is_negative(node: &Node) -> bool {
    match node {
        Node::Int(n) => *n < 0,
        Node::Double(n) => *n < 0.0,
        Node::String(text) => text.first() == Some(&b'-'),
        node => node.as_decimal().is_some_and(|n| n.is_negative()),
    }
}
