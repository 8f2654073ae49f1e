//! Values of documents as values of SQL.

use super::super::super::{Expr, Node as ExprNode, cast};
use super::super::{Call, Coercibility, Function, bigint};
use super::argument::{check_type, document, made, no_path};
use super::{damaged, too_deep};
use crate::error::{Result, SqlError};
use crate::expr::Context;
use types::convert::DateModes;
use types::json::{self as documents, Node, Path};
use types::temporal::parse;
use types::{ColumnType, Date, Decimal, TypeCode, Value, number};

/// What a value of a document is not.
pub(crate) struct Misfit {
    /// As messages name the kind.
    kind: &'static str,
    /// It is one, and too large.
    is_too_large: bool,
    /// What it becomes.
    nearest: Value,
}

impl Misfit {
    /// The number and the words of MySQL's complaint.
    fn complaint(&self, name: &str) -> (u16, String) {
        let (code, what) = if self.is_too_large { (3155, "Out of range") } else { (3156, "Invalid") };
        (code, format!("{what} JSON value for CAST to {} from column {name} at row 1", self.kind))
    }
}

type Converted = std::result::Result<Value, Misfit>;

/// The kinds that values of documents are made: columns of other types get texts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Integer { unsigned: bool },
    Double,
    Decimal,
    Date,
    DateTime,
    Time,
    Text,
}

impl Kind {
    fn of(ty: &ColumnType) -> Kind {
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

/// A value of a document as a value of the kind that a type is of.
fn converted(node: &Node, kind: Kind, dates: DateModes) -> Converted {
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

/// The double that a value of a document is, or is nearest to.
pub(crate) fn double_of(document: &[u8]) -> f64 {
    let read = documents::read_document(document).map(|node| double(&node).unwrap_or_else(|no| no.nearest));
    match read {
        Some(Value::Double(n)) => n,
        _ => 0.0,
    }
}

fn misfit(kind: &'static str, nearest: Value) -> Converted {
    Err(Misfit { kind, is_too_large: false, nearest })
}

fn integer(node: &Node, unsigned: bool) -> Converted {
    const KIND: &str = "INTEGER";
    let whole = |n: i128| {
        let nearest = match (unsigned && n >= 0, u64::try_from(n), i64::try_from(n)) {
            (true, Ok(n), _) => Value::UInt(n),
            (true, Err(_), _) => Value::UInt(u64::MAX),
            // A negative number becomes an unsigned one as MySQL's CAST does.
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
        // A signed integer takes its bits.
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
    let word = if kind == Kind::Date { "DATE" } else { "DATETIME" };
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
            parse::time(text).filter(|read| !read.trailing_garbage).map(|read| read.value.time)
        }
        node => node.as_time().or_else(|| node.as_datetime().map(|at| at.time())),
    };
    match read {
        Some(time) => Ok(Value::Time(time)),
        None => misfit("TIME", Value::Null),
    }
}

/// A document as a value of another type: the second argument is of that type, and its value is the
/// name that messages give. No statement can write this function's name.
static AS_VALUE: Function = Function::new(
    "json as a value",
    2..=2,
    |args| Ok((args[1].ty.clone(), Coercibility::Implicit)),
    |call| {
        let Some(node) = document(call, 0)? else { return Ok(Value::Null) };
        let value = converted(&node, Kind::of(&call.args[1].ty), call.ctx.dates()).unwrap_or_else(|misfit| {
            let (code, text) = misfit.complaint(&call.string(1));
            call.ctx.warn(code, text);
            misfit.nearest
        });
        Ok(value)
    },
);

/// What messages call an expression: the function or the column that it is.
fn name_of(expr: &Expr, column: Option<&str>) -> String {
    match (&expr.node, column) {
        (ExprNode::Call { function, .. }, _) => function.name.to_owned(),
        (_, column) => column.unwrap_or_default().to_owned(),
    }
}

impl Expr {
    /// Whether its values are documents.
    pub fn is_json(&self) -> bool {
        self.ty.code == TypeCode::Json
    }

    /// A document as a value of the kind that a type is of; anything else as it is. `column` is its
    /// name, where it is a column.
    pub fn from_json(self, ty: &ColumnType, column: Option<&str>) -> Expr {
        if !self.is_json() || ty.code == TypeCode::Json || Kind::of(ty) == Kind::Text {
            return self;
        }
        let name = Expr { ty: ty.clone(), ..Expr::constant(Value::text(&name_of(&self, column))) };
        Expr {
            ty: ty.clone(),
            nullable: true,
            coercibility: Coercibility::Numeric,
            node: ExprNode::Call { function: &AS_VALUE, args: vec![self, name] },
        }
    }

    /// A value of SQL as a document, to be compared with one; a document as it is.
    pub fn into_json(self) -> Expr {
        if self.is_json() || self.ty.code == TypeCode::Null {
            return self;
        }
        Expr {
            ty: ColumnType::json(),
            nullable: self.nullable,
            coercibility: Coercibility::Implicit,
            node: ExprNode::Call { function: &AS_JSON, args: vec![self] },
        }
    }
}

/// A value of SQL as one of a document. No statement can write this function's name.
static AS_JSON: Function =
    Function::new("value as json", 1..=1, bigint, |call| made(&super::argument::scalar(call, 0)?, call.ctx));

/// What JSON_VALUE and JSON_TABLE do where there is nothing, or nothing that fits.
pub(crate) const NULL: i64 = 0;
pub(crate) const ERROR: i64 = 1;
pub(crate) const DEFAULT: i64 = 2;

/// `JSON_VALUE(document, path RETURNING type ...)`: behind the two the type's name with that type,
/// then what is done where there is nothing, the default then, and the same of errors.
pub(crate) static JSON_VALUE: Function = Function::new(
    "json_value",
    7..=7,
    |args| Ok((args[2].ty.clone(), Coercibility::Implicit)),
    |call| {
        let otherwise = |at: usize, error: SqlError| match *call.values[at] {
            Value::Int(ERROR) => Err(error),
            Value::Int(DEFAULT) => Ok(call.values[at + 1].clone().into_owned()),
            _ => Ok(Value::Null),
        };
        check_type(call, 0, call.name)?;
        let (Some(path), false) = (path_of(call)?, call.values[0].is_null()) else { return Ok(Value::Null) };
        let found = match found_at(call, &path) {
            Ok(found) => found,
            Err(error) if matches!(error.code, 3141 | 3157 | 3967) => {
                if error.code == 3141 && !matches!(*call.values[5], Value::Int(ERROR)) {
                    call.ctx.warn(error.code, error.message.clone());
                }
                return otherwise(5, error);
            }
            Err(error) => return Err(error),
        };
        let Some(node) = found else {
            let text = "No value was found by 'json_value' on the specified path.";
            return otherwise(3, SqlError::new(3966, text));
        };
        if node == Node::Null {
            return Ok(Value::Null);
        }
        match returned(&node, &call.args[2].ty, call.ctx)? {
            Some(value) => Ok(value),
            None => {
                let text = format!("{} value is out of range in 'json_value'", call.string(2));
                otherwise(5, SqlError::new(1690, text))
            }
        }
    },
)
.sees_nulls();

fn path_of(call: &Call<'_>) -> Result<Option<Path>> {
    match call.values[1].is_null() {
        true => Ok(None),
        false => Path::parse(&call.bytes(1)).map(Some).map_err(no_path),
    }
}

/// The one value that the path means.
///
/// # Errors
/// 3967 for several; what makes the first argument no document.
fn found_at(call: &Call<'_>, path: &Path) -> Result<Option<Node>> {
    if let (Value::Json(bytes), false) = (&*call.values[0], path.may_mean_several()) {
        return documents::read_at(bytes, path).ok_or_else(damaged);
    }
    let Some(node) = document(call, 0)? else { return Ok(None) };
    match path.find(&node).as_slice() {
        [] => Ok(None),
        [one] => Ok(Some((*one).clone())),
        _ => {
            let text = "More than one value was found by 'json_value' on the specified path.";
            Err(SqlError::new(3967, text))
        }
    }
}

/// A value of a document as one of the type; `None` where it is none.
fn returned(node: &Node, ty: &ColumnType, ctx: &Context<'_>) -> Result<Option<Value>> {
    let value = match (Kind::of(ty), ty.code) {
        (_, TypeCode::Json) => {
            if node.containers() > documents::MAX_DEPTH {
                return Err(too_deep());
            }
            return made(node, ctx).map(Some);
        }
        (Kind::Text, TypeCode::Year) => converted(node, Kind::Integer { unsigned: true }, ctx.dates()),
        (Kind::Text, _) => {
            let mut text = Vec::new();
            documents::write_unquoted(node, &mut text);
            ctx.charge_if_long(text.len())?;
            Ok(Value::Bytes(text))
        }
        (Kind::Integer { unsigned: true }, _) if is_negative(node) => misfit("INTEGER", Value::Null),
        (kind, _) => converted(node, kind, ctx.dates()),
    };
    let Ok(value) = value else { return Ok(None) };
    // Fractions of seconds are cut off here, which casts round.
    let value = match value {
        Value::Time(time) => Value::Time(time.truncate(ty.fsp())),
        Value::DateTime(at) => Value::DateTime(at.truncate(ty.fsp())),
        other => other,
    };
    let fits = match (&value, ty.code) {
        (Value::Bytes(text), TypeCode::Varchar | TypeCode::String) => {
            let id = if ty.collation == types::collation::BINARY {
                ty.collation
            } else {
                types::collation::UTF8MB4_BIN
            };
            types::collation::char_count(id, text) <= ty.chars() as usize
        }
        (Value::Decimal(n), TypeCode::NewDecimal) => {
            let limit = Decimal::largest(ty.precision(), ty.scale());
            n.with_scale(ty.scale()).is_some_and(|n| n.abs() <= limit)
        }
        (Value::Int(n), TypeCode::Year) => matches!(n, 0..=2155),
        (Value::UInt(n), TypeCode::Year) => matches!(n, 0..=2155),
        (Value::Date(date), _) => *date != Date::default() || !ctx.dates().no_zero_date,
        _ => true,
    };
    if fits { cast(&value, ty, ctx).map(Some) } else { Ok(None) }
}

fn is_negative(node: &Node) -> bool {
    match node {
        Node::Int(n) => *n < 0,
        Node::Double(n) => *n < 0.0,
        Node::String(text) => text.first() == Some(&b'-'),
        node => node.as_decimal().is_some_and(|n| n.is_negative()),
    }
}

/// The document of JSON_TABLE: the name is what messages have.
pub(crate) static JSON_TABLE_DOCUMENT: Function = Function::new("json_table", 1..=1, bigint, |call| {
    document(call, 0)?.map_or(Ok(Value::Null), |node| made(&node, call.ctx))
});

/// A value of a document as one that a column of JSON_TABLE has.
///
/// # Errors
/// 3666 for an array or an object, 3155 and 3156 for what is of another kind, 3669 for what is too
/// large.
pub(crate) fn stored(node: &Node, name: &str, ty: &ColumnType, dates: DateModes) -> Result<Value> {
    if ty.code == TypeCode::Json {
        return documents::write_document(node).map(Value::Json).ok_or_else(damaged);
    }
    if !node.is_scalar() {
        let text = format!("Can't store an array or an object in the scalar JSON_TABLE column '{name}'");
        return Err(SqlError::new(3666, text));
    }
    let value = match Kind::of(ty) {
        Kind::Text => {
            let mut text = Vec::new();
            documents::write_unquoted(node, &mut text);
            Value::Bytes(text)
        }
        kind => converted(node, kind, dates).map_err(|misfit| {
            let (code, text) = misfit.complaint(name);
            SqlError::new(code, text)
        })?,
    };
    let context = types::convert::Context { strict: true, zone_offset_seconds: 0, dates };
    match types::convert::assign(&value, ty, context) {
        Ok((value, _)) => Ok(value),
        Err(_) => Err(SqlError::new(3669, format!("Value is out of range for JSON_TABLE's column '{name}'"))),
    }
}
