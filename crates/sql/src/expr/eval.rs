//! Computes bound expressions.

use super::node::{Call, Expr, Function, Node};
use super::recode::{characters, converted};
use super::{
    Context, Number, arithmetic, cast, compare, conform, conforms, date_arithmetic, is_match, text_of,
};
use crate::ast::{BinaryOp, Scope, TruthValue};
use crate::error::{Result, SqlError};
use crate::host::VariableScope;
use crate::memory::{Charge, LONG_VALUE_BYTES, heap_bytes};
use std::borrow::Cow;
use std::cmp::Ordering;
use types::{ColumnType, TypeCode, Value, json};

/// Returns SQL's three-valued truth of a value. `None` means unknown.
pub(crate) fn truth(value: &Value, ctx: &Context<'_>) -> Option<bool> {
    match value {
        Value::Null => None,
        Value::Int(n) => Some(*n != 0),
        Value::UInt(n) => Some(*n != 0),
        // A document is false only if it equals the document `0`.
        Value::Json(document) => Some(!json::is_zero(document)),
        other => Some(match arithmetic::number_in(other, ctx) {
            Number::Int(n) => n != 0,
            Number::UInt(n) => n != 0,
            Number::Decimal(n) => !n.is_zero(),
            Number::Double(n) => n != 0.0,
        }),
    }
}

fn boolean(value: Option<bool>) -> Cow<'static, Value> {
    Cow::Owned(match value {
        None => Value::Null,
        Some(value) => Value::Int(i64::from(value)),
    })
}

fn ordering_matches(op: BinaryOp, ordering: Ordering) -> bool {
    match op {
        BinaryOp::Equal | BinaryOp::NullSafeEqual => ordering == Ordering::Equal,
        BinaryOp::NotEqual => ordering != Ordering::Equal,
        BinaryOp::Less => ordering == Ordering::Less,
        BinaryOp::LessEqual => ordering != Ordering::Greater,
        BinaryOp::Greater => ordering == Ordering::Greater,
        BinaryOp::GreaterEqual => ordering != Ordering::Less,
        _ => unreachable!("only comparisons are bound as comparisons"),
    }
}

/// Computes `a op b`. `None` means unknown.
fn compared(op: BinaryOp, a: &Value, b: &Value, collation: u16, ctx: &Context<'_>) -> Result<Option<bool>> {
    if op == BinaryOp::NullSafeEqual {
        return Ok(Some(match (a.is_null(), b.is_null()) {
            (true, true) => true,
            (false, false) => compare(a, b, collation, ctx)? == Some(Ordering::Equal),
            _ => false,
        }));
    }
    Ok(compare(a, b, collation, ctx)?.map(|ordering| ordering_matches(op, ordering)))
}

impl Expr {
    /// Reports whether the condition is true. Unknown counts as false.
    pub fn holds(&self, row: &[Value], ctx: &Context<'_>) -> Result<bool> {
        if let Some(holds) = self.holds_for_integers(row, ctx) {
            return Ok(holds);
        }
        Ok(truth(&*self.eval(row, ctx)?, ctx) == Some(true))
    }

    /// Returns the answer where the condition compares columns, constants and parameters that are
    /// all signed integers. Most conditions on the rows of a range are of this kind. `None` means
    /// that it is another condition.
    #[inline]
    fn holds_for_integers(&self, row: &[Value], ctx: &Context<'_>) -> Option<bool> {
        let integer = |operand: &Expr| match &operand.node {
            Node::Slot(slot) => row[*slot].as_int(),
            Node::Constant(value) => value.as_int(),
            Node::Outer(index) => ctx.outer.get(*index)?.as_int(),
            Node::Parameter(index) => ctx.parameters.get(*index)?.as_int(),
            _ => None,
        };
        match &self.node {
            Node::Between { negated: false, operands, .. } => {
                let (value, low, high) =
                    (integer(&operands[0])?, integer(&operands[1])?, integer(&operands[2])?);
                Some(low <= value && value <= high)
            }
            Node::Compare { op, operands, .. } => {
                Some(ordering_matches(*op, integer(&operands[0])?.cmp(&integer(&operands[1])?)))
            }
            _ => None,
        }
    }

    /// Returns the expression's value for a row.
    pub fn eval<'v>(&'v self, row: &'v [Value], ctx: &'v Context<'_>) -> Result<Cow<'v, Value>> {
        match &self.node {
            Node::Slot(slot) | Node::InsertedValue(slot) => Ok(Cow::Borrowed(&row[*slot])),
            Node::Constant(value) => Ok(Cow::Borrowed(value)),
            Node::Parameter(index) => match ctx.parameters.get(*index) {
                Some(value) => Ok(Cow::Borrowed(value)),
                None => Err(SqlError::new(1210, "Incorrect arguments to EXECUTE")),
            },
            Node::Compare { op, operands, collation } => {
                let a = operands[0].eval(row, ctx)?;
                // As in MySQL, the other operand is not computed then, whatever it may warn of.
                if a.is_null() && *op != BinaryOp::NullSafeEqual {
                    return Ok(boolean(None));
                }
                let b = operands[1].eval(row, ctx)?;
                Ok(boolean(compared(*op, &a, &b, *collation, ctx)?))
            }
            Node::And(operands) => Self::all(operands, row, ctx),
            Node::Or(operands) => Self::any(operands, row, ctx),
            Node::Between { negated, operands, collation } => {
                self.between(*negated, operands, *collation, row, ctx)
            }
            Node::In { negated, operand, list, collation } => {
                let needle = operand.eval(row, ctx)?;
                if needle.is_null() && list.len() == 1 {
                    return Ok(boolean(None));
                }
                let list = list.iter().map(|item| item.eval(row, ctx));
                Self::is_in(*negated, &needle, list, *collation, ctx)
            }
            Node::Arithmetic { op, operands } => {
                let a = operands[0].eval(row, ctx)?;
                if a.is_null() && op.is_of_bits() {
                    return Ok(a);
                }
                let b = operands[1].eval(row, ctx)?;
                let value = arithmetic::binary(*op, &a, &b, ctx)?;
                if self.ty.unsigned && *op == BinaryOp::Subtract {
                    arithmetic::check_difference(&value, &a, &b, ctx)?;
                }
                Ok(Cow::Owned(value))
            }
            Node::IsNull { negated, operand } => {
                Ok(boolean(Some(operand.eval(row, ctx)?.is_null() != *negated)))
            }
            Node::Not(operand) => Ok(boolean(truth(&*operand.eval(row, ctx)?, ctx).map(|value| !value))),
            Node::Call { function, args } => function.call(args, row, ctx).map(Cow::Owned),
            _ => self.eval_rare(row, ctx),
        }
    }

    /// Computes the nodes that are seldom on a hot path.
    fn eval_rare<'v>(&'v self, row: &'v [Value], ctx: &'v Context<'_>) -> Result<Cow<'v, Value>> {
        let value = match &self.node {
            Node::Xor(operands) => {
                let (a, b) =
                    (truth(&*operands[0].eval(row, ctx)?, ctx), truth(&*operands[1].eval(row, ctx)?, ctx));
                return Ok(boolean(a.zip(b).map(|(a, b)| a != b)));
            }
            Node::HexLiteral(value, _) => return Ok(Cow::Borrowed(value)),
            Node::Outer(index) => return Ok(Cow::Borrowed(&ctx.outer[*index])),
            Node::CompareRows { op, pairs } => return self.compare_rows(*op, pairs, row, ctx),
            Node::IsTruth { negated, operand, value } => {
                let is = match (truth(&*operand.eval(row, ctx)?, ctx), value) {
                    (None, wanted) => *wanted == TruthValue::Unknown,
                    (Some(is), TruthValue::True) => is,
                    (Some(is), TruthValue::False) => !is,
                    (Some(_), TruthValue::Unknown) => false,
                };
                return Ok(boolean(Some(is != *negated)));
            }
            Node::Like { negated, operands, escape, collation } => {
                let (a, b) = (operands[0].eval(row, ctx)?, operands[1].eval(row, ctx)?);
                if a.is_null() || b.is_null() {
                    return Ok(boolean(None));
                }
                let is = types::like::like_while(&text_of(&a), &text_of(&b), *escape, *collation, || {
                    ctx.check_interrupt()
                })?;
                return Ok(boolean(Some(is != *negated)));
            }
            Node::Subquery { call, what } => call.value(*what, row, ctx)?,
            Node::Stored { function, args } => {
                let args = args.iter().map(|arg| Ok((ctx.owned(arg.eval(row, ctx)?)?, arg.ty.clone())));
                let args = args.collect::<Result<Vec<_>>>()?;
                let Some(statement) = ctx.subqueries else {
                    return Err(SqlError::not_supported(format!(
                        "a call of the function {} here",
                        function.name
                    )));
                };
                ctx.programs.call(function, args, statement.transaction(), ctx)?
            }
            Node::Quantified(quantified) => return Ok(boolean(quantified.answer(row, ctx)?)),
            Node::RowSubquery(compared) => return Ok(boolean(compared.answer(row, ctx)?)),
            Node::Match(searched) => Value::Double(searched.relevance(row, ctx)?),
            Node::MayEqual(equal) => return Ok(boolean(Some(equal.holds(row, ctx)?))),
            Node::UserVariable(name) => match ctx.user_variables.borrow().get(name) {
                Some(variable) => ctx.copied(&variable.value)?,
                None => Value::Null,
            },
            Node::AssignVariable(name, operand) => {
                let value = ctx.owned(operand.eval(row, ctx)?)?;
                ctx.user_variables.set(name, &value.clone().in_zone(ctx.zone()), &operand.ty)?;
                value
            }
            Node::SystemVariable { scope, name } => system_variable(*scope, name, ctx)?,
            Node::Negate(operand) => arithmetic::negate(&*operand.eval(row, ctx)?, ctx)?,
            Node::BitNot(operand) => match arithmetic::bits(&*operand.eval(row, ctx)?, ctx) {
                None => Value::Null,
                Some(bits) => Value::UInt(!bits),
            },
            Node::Case { operand, whens, otherwise, collation } => {
                return self.case(operand.as_deref(), whens, otherwise.as_deref(), *collation, row, ctx);
            }
            Node::If(operands) => {
                let chosen = if operands[0].holds(row, ctx)? { &operands[1] } else { &operands[2] };
                return self.conformed(chosen.eval(row, ctx)?, ctx);
            }
            Node::Coalesce(operands) => {
                for operand in operands {
                    let value = operand.eval(row, ctx)?;
                    match &*value {
                        Value::Null => {}
                        // COALESCE asks for the number of the bits, as only few operations do.
                        Value::Bit { bits, .. } if self.ty.code == TypeCode::Bit => {
                            return Ok(Cow::Owned(Value::UInt(*bits)));
                        }
                        _ => return self.conformed(value, ctx),
                    }
                }
                Value::Null
            }
            Node::NullIf { operands, collation } => {
                let (a, b) = (operands[0].eval(row, ctx)?, operands[1].eval(row, ctx)?);
                if compare(&a, &b, *collation, ctx)? == Some(Ordering::Equal) {
                    return Ok(Cow::Owned(Value::Null));
                }
                return Ok(a);
            }
            Node::Cast(operand) => {
                let value = operand.eval(row, ctx)?;
                ctx.charge_if_long(heap_bytes(&value))?;
                cast(&value, &self.ty, ctx)?
            }
            Node::OnClocks(operand) => operand.eval(row, ctx)?.into_owned().in_zone(ctx.zone()),
            Node::Recollate(operand) => {
                let value = operand.eval(row, ctx)?;
                match &*value {
                    Value::Null => return Ok(value),
                    Value::Bytes(bytes) => {
                        // The charge is for the result and for a text on the way to it.
                        ctx.charge_if_long(bytes.len().saturating_mul(2))?;
                        let Some(text) = characters(bytes, &operand.ty, &self.ty, ctx) else {
                            return Ok(Cow::Owned(Value::Null));
                        };
                        match converted(text, &operand.ty, &self.ty) {
                            Some(bytes) => Value::Bytes(bytes),
                            None if text.len() < bytes.len() => Value::Bytes(text.to_vec()),
                            None => return Ok(value),
                        }
                    }
                    other => {
                        let text = text_of(other);
                        let converted = converted(&text, &operand.ty, &self.ty);
                        Value::Bytes(converted.unwrap_or_else(|| text.into_owned()))
                    }
                }
            }
            Node::DateAdd { operands, unit, subtract } => {
                let (date, amount) = (operands[0].eval(row, ctx)?, operands[1].eval(row, ctx)?);
                date_arithmetic::add(&date, &amount, *unit, *subtract, &self.ty, ctx)?
            }
            Node::Extract { unit, operand } => {
                date_arithmetic::extract(&*operand.eval(row, ctx)?, *unit, ctx)?
            }
            Node::TimestampDiff { unit, operands } => {
                let (a, b) = (operands[0].eval(row, ctx)?, operands[1].eval(row, ctx)?);
                date_arithmetic::difference(&a, &b, *unit, ctx)?
            }
            Node::Trim { leading, trailing, operands } => {
                let (text, remove) = (operands[0].eval(row, ctx)?, operands[1].eval(row, ctx)?);
                if text.is_null() || remove.is_null() {
                    return Ok(boolean(None));
                }
                let text = text_of(&text);
                ctx.charge_if_long(text.len())?;
                Value::Bytes(trim(&text, &text_of(&remove), *leading, *trailing))
            }
            _ => unreachable!("Expr::eval handles the other nodes"),
        };
        Ok(Cow::Owned(value))
    }

    fn all<'v>(operands: &'v [Expr], row: &'v [Value], ctx: &'v Context<'_>) -> Result<Cow<'v, Value>> {
        let mut unknown = false;
        for operand in operands {
            match truth(&*operand.eval(row, ctx)?, ctx) {
                Some(false) => return Ok(boolean(Some(false))),
                None => unknown = true,
                Some(true) => {}
            }
        }
        Ok(boolean(if unknown { None } else { Some(true) }))
    }

    fn any<'v>(operands: &'v [Expr], row: &'v [Value], ctx: &'v Context<'_>) -> Result<Cow<'v, Value>> {
        let mut unknown = false;
        for operand in operands {
            match truth(&*operand.eval(row, ctx)?, ctx) {
                Some(true) => return Ok(boolean(Some(true))),
                None => unknown = true,
                Some(false) => {}
            }
        }
        Ok(boolean(if unknown { None } else { Some(false) }))
    }

    fn between<'v>(
        &self,
        negated: bool,
        operands: &'v [Expr; 3],
        collation: u16,
        row: &'v [Value],
        ctx: &'v Context<'_>,
    ) -> Result<Cow<'v, Value>> {
        let value = operands[0].eval(row, ctx)?;
        if value.is_null() {
            return Ok(boolean(None));
        }
        let low = operands[1].eval(row, ctx)?;
        let high = operands[2].eval(row, ctx)?;
        let above = compared(BinaryOp::GreaterEqual, &value, &low, collation, ctx)?;
        let below = compared(BinaryOp::LessEqual, &value, &high, collation, ctx)?;
        let between = match (above, below) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        };
        Ok(boolean(between.map(|between| between != negated)))
    }

    fn is_in<'v>(
        negated: bool,
        needle: &Value,
        list: impl Iterator<Item = Result<Cow<'v, Value>>>,
        collation: u16,
        ctx: &Context<'_>,
    ) -> Result<Cow<'static, Value>> {
        let (mut unknown, mut any) = (false, false);
        for item in list {
            any = true;
            match compare(needle, &*item?, collation, ctx)? {
                Some(Ordering::Equal) => return Ok(boolean(Some(!negated))),
                None => unknown = true,
                Some(_) => {}
            }
        }
        Ok(boolean(if unknown && any { None } else { Some(negated) }))
    }

    /// Compares rows. `pairs` has a left operand and a right one in turn.
    fn compare_rows<'v>(
        &self,
        op: BinaryOp,
        pairs: &'v [Expr],
        row: &'v [Value],
        ctx: &'v Context<'_>,
    ) -> Result<Cow<'v, Value>> {
        let mut values = Vec::with_capacity(pairs.len() / 2);
        for pair in pairs.chunks_exact(2) {
            let collation = super::comparison_collation(op.symbol(), pair.iter())?;
            values.push((pair[0].eval(row, ctx)?, pair[1].eval(row, ctx)?, collation));
        }
        let values = values.iter().map(|(a, b, collation)| (&**a, &**b, *collation));
        Ok(boolean(super::subquery::compare_rows(op, values, ctx)?))
    }

    fn case<'v>(
        &'v self,
        operand: Option<&'v Expr>,
        whens: &'v [(Expr, Expr)],
        otherwise: Option<&'v Expr>,
        collation: u16,
        row: &'v [Value],
        ctx: &'v Context<'_>,
    ) -> Result<Cow<'v, Value>> {
        match self.branch(operand, whens, otherwise, collation, row, ctx)? {
            Some(branch) => self.conformed(branch.eval(row, ctx)?, ctx),
            None => Ok(Cow::Owned(Value::Null)),
        }
    }

    /// Returns the THEN or the ELSE that a CASE chooses for a row. `None` means that it has none.
    fn branch<'v>(
        &'v self,
        operand: Option<&'v Expr>,
        whens: &'v [(Expr, Expr)],
        otherwise: Option<&'v Expr>,
        collation: u16,
        row: &'v [Value],
        ctx: &'v Context<'_>,
    ) -> Result<Option<&'v Expr>> {
        let operand = operand.map(|operand| operand.eval(row, ctx)).transpose()?;
        for (when, then) in whens {
            let value = when.eval(row, ctx)?;
            let matches = match &operand {
                None => truth(&value, ctx) == Some(true),
                Some(operand) => is_match(operand, &value, collation, ctx)?,
            };
            if matches {
                return Ok(Some(then));
            }
        }
        Ok(otherwise)
    }

    /// Returns the value for a row as a value of a result column of the type `ty`. A DECIMAL that
    /// comes from a user variable, or that IF or CASE has chosen, keeps its own scale: MySQL gives
    /// it the scale of the type only where it keeps the value in a table.
    #[inline]
    pub fn output<'v>(
        &'v self,
        row: &'v [Value],
        ty: &ColumnType,
        ctx: &'v Context<'_>,
    ) -> Result<Cow<'v, Value>> {
        match self.column_as(row, ty) {
            Some(value) => Ok(Cow::Borrowed(value)),
            None => self.computed_output(row, ty, ctx),
        }
    }

    /// Returns the value of a column if it is of this type already, which costs less than
    /// evaluating an expression.
    #[inline]
    pub fn column_as<'v>(&self, row: &'v [Value], ty: &ColumnType) -> Option<&'v Value> {
        match self.node {
            Node::Slot(slot) => row.get(slot).filter(|value| conforms(value, ty)),
            _ => None,
        }
    }

    fn computed_output<'v>(
        &'v self,
        row: &'v [Value],
        ty: &ColumnType,
        ctx: &'v Context<'_>,
    ) -> Result<Cow<'v, Value>> {
        if ty.code == TypeCode::NewDecimal && matches!(self.node, Node::If(_) | Node::Case { .. }) {
            return self.chosen(row, ctx).map(as_exact);
        }
        let value = self.eval(row, ctx)?;
        let is_variable = matches!(self.node, Node::UserVariable(_) | Node::AssignVariable(..));
        match (&*value, ty.code) {
            (Value::Decimal(_), TypeCode::NewDecimal) if is_variable => Ok(value),
            (Value::UInt(_), TypeCode::Bit) => Ok(value),
            _ => conform(value, ty, ctx),
        }
    }

    /// Returns the value of the branch that IF or CASE chooses, as the branch has made it.
    fn chosen<'v>(&'v self, row: &'v [Value], ctx: &'v Context<'_>) -> Result<Cow<'v, Value>> {
        let branch = match &self.node {
            Node::If(operands) if operands[0].holds(row, ctx)? => Some(&operands[1]),
            Node::If(operands) => Some(&operands[2]),
            Node::Case { operand, whens, otherwise, collation } => {
                self.branch(operand.as_deref(), whens, otherwise.as_deref(), *collation, row, ctx)?
            }
            _ => return self.eval(row, ctx),
        };
        branch.map_or(Ok(Cow::Owned(Value::Null)), |branch| branch.chosen(row, ctx))
    }

    /// Returns the value of one branch as a value of the expression's type.
    fn conformed<'v>(&self, value: Cow<'v, Value>, ctx: &Context<'_>) -> Result<Cow<'v, Value>> {
        conform(value, &self.ty, ctx)
    }
}

/// Makes a DECIMAL of any other number, with as many decimals as the number has.
fn as_exact(value: Cow<'_, Value>) -> Cow<'_, Value> {
    match &*value {
        Value::Null | Value::Decimal(_) => value,
        other => Cow::Owned(Value::Decimal(arithmetic::decimal_of(&super::number(other)))),
    }
}

fn system_variable(scope: Scope, name: &str, ctx: &Context<'_>) -> Result<Value> {
    if scope != Scope::Global
        && let Some(value) = ctx.variables.get(name, ctx.last_insert_id.get())
    {
        return Ok(value);
    }
    let scope = if scope == Scope::Global { VariableScope::Global } else { VariableScope::Session };
    ctx.host.variable(scope, name)?.ok_or_else(|| SqlError::unknown_variable(name))
}

fn trim(text: &[u8], remove: &[u8], leading: bool, trailing: bool) -> Vec<u8> {
    let mut text = text;
    if !remove.is_empty() {
        while let (true, Some(rest)) = (leading, text.strip_prefix(remove)) {
            text = rest;
        }
        while let (true, Some(rest)) = (trailing, text.strip_suffix(remove)) {
            text = rest;
        }
    }
    text.to_vec()
}

/// Computes the second argument as often as the first one says (BENCHMARK).
fn repeated(args: &[Expr], row: &[Value], ctx: &Context<'_>) -> Result<Value> {
    let count = match args[0].literal_number() {
        Some(number) => number,
        None => args[0].eval(row, ctx)?.into_owned(),
    };
    if count.is_null() {
        return Ok(Value::Null);
    }
    let times = arithmetic::integer_in(&count, ctx);
    if times < 0 {
        let shown = String::from_utf8_lossy(&super::text::text_of(&count)).into_owned();
        ctx.warn(1411, format!("Incorrect count value: '{shown}' for function benchmark"));
        return Ok(Value::Null);
    }
    for _ in 0..times {
        ctx.check_interrupt()?;
        args[1].eval(row, ctx)?;
    }
    Ok(Value::Int(0))
}

impl Function {
    /// Computes the arguments and calls the function.
    pub fn call(&self, args: &[Expr], row: &[Value], ctx: &Context<'_>) -> Result<Value> {
        if self.repeats_last {
            return repeated(args, row, ctx);
        }
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
            // The rest is charged here: what the function has not charged itself is no longer than
            // its arguments.
            let asked = ctx.made_bytes.get().saturating_sub(charged);
            ctx.charge_made(bytes.len().saturating_sub(asked as usize))?;
        }
        Ok(value)
    }
}
