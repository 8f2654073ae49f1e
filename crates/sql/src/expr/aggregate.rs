//! Aggregate functions.

use super::arithmetic::{decimal_of, double_of};
use super::{Context, Expr, Number, group_key, number, sort_compare, text_of};
use crate::error::Result;
use crate::memory::{Charge, row_bytes};
use std::cmp::Ordering;
use std::collections::HashSet;
use types::{Decimal, TypeCode, Value};

/// Which function.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum AggregateKind {
    /// `COUNT(*)`.
    CountRows,
    Count,
    Sum,
    Avg,
    Min,
    Max,
    BitAnd,
    BitOr,
    BitXor,
    /// Standard deviation and variance: `sample` divides by n - 1, `root` is the deviation.
    Variance {
        sample: bool,
        root: bool,
    },
    /// `descending` for each of the last expressions, which are the sort keys.
    GroupConcat {
        separator: Vec<u8>,
        order: Vec<bool>,
    },
    /// `ANY_VALUE`.
    Any,
}

/// An aggregate of a query.
#[derive(Debug, Clone)]
pub(crate) struct Aggregate {
    pub kind: AggregateKind,
    pub distinct: bool,
    /// Arguments; for GROUP_CONCAT followed by its sort keys.
    pub args: Vec<Expr>,
    /// Of the result.
    pub expr: Expr,
}

/// The state of one aggregate of one group.
#[derive(Debug)]
pub(crate) struct Accumulator {
    seen: Option<HashSet<Vec<u8>>>,
    state: State,
}

#[derive(Debug)]
enum State {
    Count(i64),
    /// Exact sum, and how many.
    Decimal(Option<Decimal>, u64),
    /// The sum of integers while it fits.
    Integer(Option<i128>, u64),
    Double(Option<f64>, u64),
    Extreme(Value),
    Bits(u64),
    /// Welford: count, mean, sum of squares of differences.
    Variance(u64, f64, f64),
    Concat(Vec<(Vec<Value>, Vec<u8>)>),
}

impl Aggregate {
    /// Starts a group.
    pub fn start(&self) -> Accumulator {
        let state = match &self.kind {
            AggregateKind::CountRows | AggregateKind::Count => State::Count(0),
            AggregateKind::Sum | AggregateKind::Avg => match super::numeric_class(&self.args[0].ty) {
                super::infer::NumericClass::Double => State::Double(None, 0),
                super::infer::NumericClass::Integer => State::Integer(None, 0),
                super::infer::NumericClass::Decimal => State::Decimal(None, 0),
            },
            AggregateKind::Min | AggregateKind::Max | AggregateKind::Any => State::Extreme(Value::Null),
            AggregateKind::BitAnd => State::Bits(u64::MAX),
            AggregateKind::BitOr | AggregateKind::BitXor => State::Bits(0),
            AggregateKind::Variance { .. } => State::Variance(0, 0.0, 0.0),
            AggregateKind::GroupConcat { .. } => State::Concat(Vec::new()),
        };
        Accumulator { seen: self.distinct.then(HashSet::new), state }
    }
}

impl Accumulator {
    /// Takes a row in; what is kept of it is added to `charge`.
    pub fn add(
        &mut self,
        aggregate: &Aggregate,
        row: &[Value],
        ctx: &Context<'_>,
        charge: &mut Charge,
    ) -> Result<()> {
        if aggregate.kind == AggregateKind::CountRows {
            if let State::Count(count) = &mut self.state {
                *count += 1;
            }
            return Ok(());
        }
        let args = match &aggregate.kind {
            AggregateKind::GroupConcat { order, .. } => aggregate.args.len() - order.len(),
            _ => aggregate.args.len(),
        };
        if args == 1 && self.seen.is_none() && !matches!(self.state, State::Concat(_)) {
            let value = aggregate.args[0].eval(row, ctx)?;
            return if value.is_null() && !matches!(aggregate.kind, AggregateKind::Any) {
                Ok(())
            } else {
                self.take(aggregate, &value, ctx)
            };
        }
        let mut values = Vec::with_capacity(args);
        for arg in &aggregate.args[..args] {
            let value = arg.eval(row, ctx)?;
            if value.is_null() {
                return Ok(());
            }
            values.push(value);
        }
        if let Some(seen) = &mut self.seen {
            let mut key = Vec::new();
            for (value, arg) in values.iter().zip(&aggregate.args) {
                group_key(value, arg.ty.collation, &mut key);
            }
            charge.add(key.len() + 48)?;
            if !seen.insert(key) {
                return Ok(());
            }
        }
        if let State::Concat(parts) = &mut self.state {
            let text: Vec<u8> = values.iter().flat_map(|value| text_of(value).into_owned()).collect();
            let keys =
                aggregate.args[args..].iter().map(|key| key.eval(row, ctx).map(|value| value.into_owned()));
            let keys = keys.collect::<Result<Vec<Value>>>()?;
            charge.add(row_bytes(&keys) + size_of::<Vec<u8>>() + text.len())?;
            parts.push((keys, text));
            return Ok(());
        }
        self.take(aggregate, &values[0], ctx)
    }

    fn take(&mut self, aggregate: &Aggregate, value: &Value, ctx: &Context<'_>) -> Result<()> {
        match &mut self.state {
            State::Count(count) => *count += 1,
            State::Integer(sum, count) => {
                *sum = Some(sum.unwrap_or(0).saturating_add(super::arithmetic::integer_of(&number(value))));
                *count += 1;
            }
            State::Decimal(sum, count) => {
                let value = decimal_of(&number(value));
                *sum = Some(match sum {
                    Some(sum) => sum.add(&value).unwrap_or_else(|| Decimal::largest(65, 0)),
                    None => value,
                });
                *count += 1;
            }
            State::Double(sum, count) => {
                *sum = Some(sum.unwrap_or(0.0) + double_of(&number(value)));
                *count += 1;
            }
            State::Extreme(extreme) => {
                let wanted = match aggregate.kind {
                    AggregateKind::Min => Ordering::Less,
                    AggregateKind::Max => Ordering::Greater,
                    _ => Ordering::Equal,
                };
                let collation = aggregate.args[0].ty.collation;
                if extreme.is_null() || sort_compare(value, extreme, collation, ctx)? == wanted {
                    *extreme = value.clone();
                }
            }
            State::Bits(bits) => {
                let value = super::arithmetic::bits(value).unwrap_or(0);
                match aggregate.kind {
                    AggregateKind::BitAnd => *bits &= value,
                    AggregateKind::BitOr => *bits |= value,
                    _ => *bits ^= value,
                }
            }
            State::Variance(count, mean, squares) => {
                let value = double_of(&number(value));
                *count += 1;
                let delta = value - *mean;
                *mean += delta / *count as f64;
                *squares += delta * (value - *mean);
            }
            State::Concat(_) => unreachable!("Accumulator::add keeps the parts of GROUP_CONCAT"),
        }
        Ok(())
    }

    /// The group's result.
    pub fn finish(self, aggregate: &Aggregate, ctx: &Context<'_>) -> Result<Value> {
        Ok(match self.state {
            State::Count(count) => Value::Int(count),
            State::Integer(None, _) | State::Decimal(None, _) | State::Double(None, _) => Value::Null,
            State::Integer(Some(sum), count) => {
                let text = sum.to_string();
                let exact = Decimal::parse_prefix(text.as_bytes()).number;
                average_or_sum(aggregate, exact, count, ctx)
            }
            State::Decimal(Some(sum), count) => average_or_sum(aggregate, sum, count, ctx),
            State::Double(Some(sum), count) => Value::Double(match aggregate.kind {
                AggregateKind::Avg => sum / count as f64,
                _ => sum,
            }),
            State::Extreme(value) => value,
            State::Bits(bits) => Value::UInt(bits),
            State::Variance(count, _, squares) => {
                let AggregateKind::Variance { sample, root } = aggregate.kind else { return Ok(Value::Null) };
                let divisor = if sample { count.saturating_sub(1) } else { count };
                if divisor == 0 {
                    return Ok(Value::Null);
                }
                let variance = squares / divisor as f64;
                Value::Double(if root { variance.sqrt() } else { variance })
            }
            State::Concat(parts) => concat(aggregate, parts, ctx)?,
        })
    }
}

fn average_or_sum(aggregate: &Aggregate, sum: Decimal, count: u64, ctx: &Context<'_>) -> Value {
    let exact = match aggregate.kind {
        AggregateKind::Avg => {
            let increment = ctx.variables.div_precision_increment;
            sum.div(&Decimal::from(count), increment)
        }
        _ => Some(sum),
    };
    match exact {
        Some(exact) if aggregate.expr.ty.code == TypeCode::NewDecimal => {
            Value::Decimal(exact.with_scale(aggregate.expr.ty.scale()).unwrap_or(exact))
        }
        Some(exact) => Value::Double(double_of(&Number::Decimal(exact))),
        None => Value::Null,
    }
}

fn concat(aggregate: &Aggregate, mut parts: Vec<(Vec<Value>, Vec<u8>)>, ctx: &Context<'_>) -> Result<Value> {
    let AggregateKind::GroupConcat { separator, order } = &aggregate.kind else { return Ok(Value::Null) };
    if parts.is_empty() {
        return Ok(Value::Null);
    }
    let first_key = aggregate.args.len() - order.len();
    super::sort_by(
        &mut parts,
        || ctx.check_interrupt(),
        |(a, _), (b, _)| {
            for (at, descending) in order.iter().enumerate() {
                let collation = aggregate.args[first_key + at].ty.collation;
                match sort_compare(&a[at], &b[at], collation, ctx)? {
                    Ordering::Equal => {}
                    ordering => return Ok(if *descending { ordering.reverse() } else { ordering }),
                }
            }
            Ok(Ordering::Equal)
        },
    )?;
    let limit = ctx.variables.group_concat_max_len;
    let mut out = Vec::new();
    for (at, (_, part)) in parts.iter().enumerate() {
        ctx.check_interrupt()?;
        if at > 0 {
            out.extend_from_slice(separator);
        }
        out.extend_from_slice(part);
        if out.len() > limit {
            let kept = std::str::from_utf8(&out[..limit]).map_or_else(|error| error.valid_up_to(), str::len);
            out.truncate(kept);
            ctx.warn(1260, format!("Row {} was cut by GROUP_CONCAT()", at + 1));
            break;
        }
    }
    Ok(Value::Bytes(out))
}

/// Whether a name is an aggregate's.
pub(crate) fn is_aggregate(name: &str) -> bool {
    matches!(
        name,
        "count"
            | "sum"
            | "avg"
            | "min"
            | "max"
            | "bit_and"
            | "bit_or"
            | "bit_xor"
            | "std"
            | "stddev"
            | "stddev_pop"
            | "stddev_samp"
            | "variance"
            | "var_pop"
            | "var_samp"
            | "group_concat"
            | "json_arrayagg"
    )
}
