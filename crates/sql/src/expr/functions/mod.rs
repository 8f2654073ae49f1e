//! Native functions: a table of them for each subject.

mod digest;
pub(crate) mod grouping;
mod gtid;
pub(crate) mod json;
mod md5;
mod numeric;
mod regexp;
mod session;
mod spatial;
mod string;
pub(crate) mod table;
mod time;
mod vector;

pub(crate) use time::week_of;
pub(crate) use vector::{TEXT_FOR_VECTOR, no_vector};

use super::infer::{self, Coercibility, text_type};
use super::{Context, Expr, text_of};
use crate::error::{Result, SqlError};
use crate::memory::{Charge, LONG_VALUE_BYTES};
use std::borrow::Cow;
use types::{ColumnType, TypeCode, Value, collation};

/// A call that is being computed.
pub(crate) struct Call<'c> {
    /// The arguments' values.
    pub values: &'c [Cow<'c, Value>],
    /// The function's name.
    pub name: &'static str,
    /// The arguments.
    pub args: &'c [Expr],
    pub ctx: &'c Context<'c>,
}

impl Call<'_> {
    /// Whether the function may make text of so many bytes: else it is to be NULL, and there is a
    /// warning, or in a statement that changes rows under the strict mode an error (1301). Every
    /// function whose text can be longer than its arguments asks, before it makes any of it.
    fn may_make(&self, bytes: usize, function: &str) -> Result<bool> {
        let limit = self.ctx.variables.max_allowed_packet;
        if bytes <= limit {
            return self.check_room(bytes).map(|()| true);
        }
        let text = format!("Result of {function}() was larger than max_allowed_packet ({limit}) - truncated");
        if self.ctx.strict {
            return Err(SqlError::new(1301, text));
        }
        self.ctx.warn(1301, text);
        Ok(false)
    }

    /// Whether there is memory for so many bytes, and time: for functions that MySQL does not limit
    /// otherwise.
    ///
    /// # Errors
    /// As [`Charge::add`]; 1317.
    fn check_room(&self, bytes: usize) -> Result<()> {
        self.ctx.charge_if_long(bytes)
    }

    /// A part of an argument, or all of it, as the result.
    fn copied(&self, bytes: &[u8]) -> Result<Value> {
        self.check_room(bytes.len())?;
        Ok(text(bytes))
    }

    fn is_given(&self, at: usize) -> bool {
        at < self.values.len()
    }

    fn bytes(&self, at: usize) -> Cow<'_, [u8]> {
        match &*self.values[at] {
            stamp @ Value::Timestamp { .. } => {
                Cow::Owned(text_of(&stamp.clone().in_zone(self.ctx.zone())).into_owned())
            }
            value => text_of(value),
        }
    }

    /// As [`Call::bytes`], characters as the argument's own character set has them.
    fn stored(&self, at: usize) -> Cow<'_, [u8]> {
        let bytes = self.bytes(at);
        let ty = &self.args[at].ty;
        if !ty.is_character() || bytes.is_ascii() {
            return bytes;
        }
        match collation::from_utf8mb4(ty.collation, &bytes) {
            Some(Cow::Owned(stored)) => Cow::Owned(stored),
            // The same bytes, or text that a change of its collation has brought there.
            _ => bytes,
        }
    }

    fn string(&self, at: usize) -> String {
        String::from_utf8_lossy(&self.bytes(at)).into_owned()
    }

    /// The argument as a 64-bit integer, rounded and clipped.
    fn integer(&self, at: usize) -> i64 {
        let wide = super::arithmetic::integer_in(&self.values[at], self.ctx);
        i64::try_from(wide).unwrap_or(i64::MAX)
    }

    fn number(&self, at: usize) -> super::Number {
        super::arithmetic::number_in(&self.values[at], self.ctx)
    }

    fn double(&self, at: usize) -> f64 {
        super::arithmetic::double_of(&self.number(at))
    }

    /// The argument's 64 bits; none of NULL.
    fn bits(&self, at: usize) -> u64 {
        super::arithmetic::bits(&self.values[at], self.ctx).unwrap_or(0)
    }

    fn decimal(&self, at: usize) -> types::Decimal {
        super::arithmetic::decimal_in(&self.values[at], self.ctx)
    }

    /// Characters are bytes here.
    fn is_binary(&self, at: usize) -> bool {
        let ty = &self.args[at].ty;
        ty.collation == collation::BINARY
            && matches!(ty.code, TypeCode::Varchar | TypeCode::String | TypeCode::Blob)
    }
}

/// What a result's type is made from.
pub(crate) type Infer = fn(&[Expr]) -> Result<(ColumnType, Coercibility)>;

/// A native function.
pub(crate) struct Function {
    /// In lower case.
    pub name: &'static str,
    pub least_args: usize,
    pub most_args: usize,
    /// Two calls with the same arguments in one statement may differ.
    pub varies: bool,
    /// A NULL argument makes the result NULL without a call.
    pub null_in_null_out: bool,
    pub infer: Infer,
    pub run: fn(&Call<'_>) -> Result<Value>,
}

impl std::fmt::Debug for Function {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for Function {
    fn eq(&self, other: &Function) -> bool {
        self.name == other.name
    }
}

impl Function {
    /// A function of so many arguments that is NULL when one of them is.
    const fn new(
        name: &'static str,
        args: std::ops::RangeInclusive<usize>,
        infer: Infer,
        run: fn(&Call<'_>) -> Result<Value>,
    ) -> Function {
        let (least_args, most_args) = (*args.start(), *args.end());
        Function { name, least_args, most_args, varies: false, null_in_null_out: true, infer, run }
    }

    const fn sees_nulls(self) -> Function {
        Function { null_in_null_out: false, ..self }
    }

    const fn varies(self) -> Function {
        Function { varies: true, null_in_null_out: false, ..self }
    }

    /// Computes the arguments and calls it.
    pub fn call(&self, args: &[Expr], row: &[Value], ctx: &Context<'_>) -> Result<Value> {
        let mut values = Vec::with_capacity(args.len());
        let mut held = None;
        for arg in args {
            let value = arg.eval(row, ctx)?;
            if self.null_in_null_out && value.is_null() {
                return Ok(Value::Null);
            }
            if let Cow::Owned(Value::Bytes(bytes)) = &value
                && bytes.len() >= LONG_VALUE_BYTES
            {
                ctx.check_interrupt()?;
                held.get_or_insert_with(|| Charge::new(ctx.memory)).add(bytes.len())?;
            }
            values.push(value);
        }
        let charged = ctx.made_bytes.get();
        let value = (self.run)(&Call { values: &values, name: self.name, args, ctx })?;
        if let Value::Bytes(bytes) | Value::Json(bytes) = &value
            && bytes.len() >= LONG_VALUE_BYTES
        {
            // What the function has not asked for itself, which is no longer than its arguments.
            let asked = ctx.made_bytes.get().saturating_sub(charged);
            ctx.charge_made(bytes.len().saturating_sub(asked as usize))?;
        }
        Ok(value)
    }
}

fn bigint(_: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    Ok((ColumnType::bigint(false), Coercibility::Numeric))
}

fn int(_: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    Ok((ColumnType::int(false), Coercibility::Numeric))
}

fn unsigned(_: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    Ok((ColumnType::bigint(true), Coercibility::Numeric))
}

fn double(_: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    Ok((ColumnType::double(), Coercibility::Numeric))
}

/// Text as long as all arguments together.
fn joined(args: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    let chars = args.iter().fold(0u32, |sum, arg| sum.saturating_add(infer::text_length(&arg.ty)));
    let (id, coercibility) = infer::aggregate_collations(args.iter())?;
    Ok((text_type(chars, id), coercibility))
}

/// Text as long as the first argument.
fn like_first(args: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    let (id, coercibility) = infer::aggregate_collations(args[..1].iter())?;
    Ok((text_type(infer::text_length(&args[0].ty), id), coercibility))
}

/// Text of no known length.
fn long_text(args: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    let (id, coercibility) = infer::aggregate_collations(args.iter())?;
    Ok((ColumnType::longtext(id), coercibility))
}

fn system_text<const CHARS: u32>(_: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    Ok((ColumnType::varchar(CHARS, collation::UTF8MB4_0900_AI_CI), Coercibility::SystemConstant))
}

fn ascii_text<const CHARS: u32>(_: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    Ok((ColumnType::varchar(CHARS, collation::UTF8MB4_0900_AI_CI), Coercibility::Literal))
}

/// The bytes in whose order a column's texts are; NULL for a text that is no value of its type. It
/// has no name that a statement could write.
pub(crate) static TEXT_ORDER: Function = Function::new(
    "text order",
    1..=1,
    |args| Ok((args[0].ty.clone(), Coercibility::Numeric)),
    |call| {
        let (mut stored, mut order) = (Vec::new(), Vec::new());
        let form = call.args[0].ty.text_form();
        Ok(match form.filter(|form| form.read_text(&call.bytes(0), &mut stored)) {
            Some(form) => {
                form.write_order(&stored, &mut order);
                Value::Bytes(order)
            }
            None => Value::Null,
        })
    },
);

fn truth_value(value: bool) -> Value {
    Value::Int(i64::from(value))
}

fn text(text: impl AsRef<[u8]>) -> Value {
    Value::Bytes(text.as_ref().to_vec())
}

fn wrong_arguments(function: &str) -> SqlError {
    SqlError::new(1210, format!("Incorrect arguments to {function}"))
}
