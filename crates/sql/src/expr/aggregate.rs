//! Aggregate functions: their arguments, and their state over the rows of a group.

use super::arithmetic::number_in;
use super::arithmetic::{decimal_of, double_of};
use super::bit_aggregate::BitString;
use super::collect_aggregate::Collected;
use super::decimal_sum::{DecimalSum, Small};
use super::json_aggregate::JsonParts;
use super::{Context, Expr, Node, Number, extreme_compare, sort_compare, text_of};
use crate::error::{Result, SqlError};
use crate::memory::{Charge, allocated, copy_bytes, growth, heap_bytes, row_bytes};
use std::borrow::{Borrow, Cow};
use std::cmp::Ordering;
use types::{Decimal, TypeCode, Value};

/// The function of an aggregate.
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
    /// `JSON_ARRAYAGG`.
    JsonArray,
    /// `JSON_OBJECTAGG`.
    JsonObject,
    /// `ST_COLLECT`.
    Collect,
    /// A standard deviation where `root` is set, otherwise a variance. `sample` divides by n - 1.
    Variance {
        sample: bool,
        root: bool,
    },
    /// GROUP_CONCAT. `order` has one entry for each sort key, which is true for a descending one.
    /// The sort keys are the last arguments.
    GroupConcat {
        separator: Vec<u8>,
        order: Vec<bool>,
    },
    /// `ANY_VALUE`.
    Any,
}

impl AggregateKind {
    /// Returns MySQL's name of the function, in lower case.
    pub fn name(&self) -> &'static str {
        match self {
            AggregateKind::CountRows | AggregateKind::Count => "count",
            AggregateKind::Sum => "sum",
            AggregateKind::Avg => "avg",
            AggregateKind::Min => "min",
            AggregateKind::Max => "max",
            AggregateKind::BitAnd => "bit_and",
            AggregateKind::BitOr => "bit_or",
            AggregateKind::BitXor => "bit_xor",
            AggregateKind::JsonArray => "json_arrayagg",
            AggregateKind::JsonObject => "json_objectagg",
            AggregateKind::Collect => "st_collect",
            AggregateKind::Variance { sample: false, root: true } => "std",
            AggregateKind::Variance { sample: true, root: true } => "stddev_samp",
            AggregateKind::Variance { sample: false, root: false } => "variance",
            AggregateKind::Variance { sample: true, root: false } => "var_samp",
            AggregateKind::GroupConcat { .. } => "group_concat",
            AggregateKind::Any => "any_value",
        }
    }
}

/// An aggregate of a query.
#[derive(Debug, Clone)]
pub(crate) struct Aggregate {
    pub kind: AggregateKind,
    pub distinct: bool,
    /// The arguments. For GROUP_CONCAT the sort keys follow them.
    pub args: Vec<Expr>,
    /// The type and the coercibility of the result. An expression that uses the result has a slot
    /// as its node.
    pub expr: Expr,
}

/// The state of one aggregate of one group. The caller applies DISTINCT.
#[derive(Debug)]
pub(crate) struct Accumulator {
    state: State,
}

#[derive(Debug)]
enum State {
    Count(i64),
    /// The exact sum, and the number of values.
    Decimal(DecimalSum, u64),
    /// The sum of integers, which saturates, and the number of values.
    Integer(Option<i128>, u64),
    Double(Option<f64>, u64),
    Extreme(Value),
    Bits(u64),
    BitString(BitString),
    /// Welford's algorithm: the count, the mean, and the sum of squared differences from the mean.
    Variance(u64, f64, f64),
    Joined(Joined),
    Parts(Parts),
    Json(JsonParts),
    Collected(Collected),
}

/// The parts of a GROUP_CONCAT with an order: not many more of them than the text has room for.
#[derive(Debug, Default)]
struct Parts {
    /// The sort keys and the text of each part.
    list: Vec<(Vec<Value>, Vec<u8>)>,
    text_bytes: usize,
    /// The number of parts, or bytes of text, at which parts without room are looked for and
    /// dropped.
    most_parts: usize,
    most_text_bytes: usize,
}

/// The text of GROUP_CONCAT, as long as `group_concat_max_len` allows.
#[derive(Debug, Default)]
struct Joined {
    text: Vec<u8>,
    rows: u64,
    is_cut: bool,
}

impl Joined {
    /// Takes in the next row's text, and adds the bytes of the text to `charge`.
    fn add<'p>(
        &mut self,
        separator: &'p [u8],
        parts: impl Iterator<Item = &'p [u8]>,
        ctx: &Context<'_>,
        charge: &mut Charge,
    ) -> Result<()> {
        if self.is_cut {
            return Ok(());
        }
        let limit = ctx.variables.group_concat_max_len;
        let separator = if self.rows > 0 { separator } else { &[] };
        self.rows += 1;
        for part in std::iter::once(separator).chain(parts) {
            // One byte more than the limit shows that the text has to be cut.
            let wanted = part.len().min((limit + 1).saturating_sub(self.text.len()));
            growth::append(&mut self.text, &part[..wanted], charge)?;
        }
        if self.text.len() > limit {
            let whole = std::str::from_utf8(&self.text[..limit]);
            self.text.truncate(whole.map_or_else(|error| error.valid_up_to(), str::len));
            self.is_cut = true;
        }
        Ok(())
    }

    fn finish(self, ctx: &Context<'_>) -> Value {
        if self.is_cut {
            ctx.warn(1260, format!("Row {} was cut by GROUP_CONCAT()", self.rows));
        }
        if self.rows == 0 { Value::Null } else { Value::Bytes(self.text) }
    }
}

impl Aggregate {
    /// Starts a group.
    pub fn start(&self) -> Accumulator {
        let state = match &self.kind {
            AggregateKind::CountRows | AggregateKind::Count => State::Count(0),
            AggregateKind::Sum | AggregateKind::Avg => match super::numeric_class(&self.args[0].ty) {
                super::value_type::NumericClass::Double => State::Double(None, 0),
                super::value_type::NumericClass::Integer => State::Integer(None, 0),
                super::value_type::NumericClass::Decimal => State::Decimal(DecimalSum::default(), 0),
            },
            AggregateKind::Min | AggregateKind::Max | AggregateKind::Any => State::Extreme(Value::Null),
            kind @ (AggregateKind::BitAnd | AggregateKind::BitOr | AggregateKind::BitXor)
                if super::is_text(&self.expr.ty) =>
            {
                State::BitString(match kind {
                    AggregateKind::BitAnd => BitString::new(|a, b| a & b, 0xff),
                    AggregateKind::BitOr => BitString::new(|a, b| a | b, 0),
                    _ => BitString::new(|a, b| a ^ b, 0),
                })
            }
            AggregateKind::BitAnd => State::Bits(u64::MAX),
            AggregateKind::BitOr | AggregateKind::BitXor => State::Bits(0),
            AggregateKind::Variance { .. } => State::Variance(0, 0.0, 0.0),
            AggregateKind::GroupConcat { order, .. } if order.is_empty() => State::Joined(Joined::default()),
            AggregateKind::GroupConcat { .. } => State::Parts(Parts::default()),
            AggregateKind::JsonArray => State::Json(JsonParts::Array(Vec::new())),
            AggregateKind::JsonObject => State::Json(JsonParts::Object(Vec::new())),
            AggregateKind::Collect => State::Collected(Collected::default()),
        };
        Accumulator { state }
    }

    /// Reports whether the states of rows that were taken in apart can be merged into the state
    /// that there would be if one had taken in all of them ([`Accumulator::merge`]). They can be
    /// where the order of the rows says nothing. Sums of approximate numbers differ in their last
    /// digits, and of equal texts, MIN and MAX give the first one. For COUNT(DISTINCT), the caller
    /// merges the values.
    pub fn can_be_merged(&self) -> bool {
        if self.distinct && self.kind != AggregateKind::Count {
            return false;
        }
        let is = |types: &[TypeCode]| self.args.iter().all(|arg| types.contains(&arg.ty.code));
        match &self.kind {
            AggregateKind::CountRows | AggregateKind::Count => true,
            AggregateKind::Sum | AggregateKind::Avg => {
                super::numeric_class(&self.args[0].ty) != super::NumericClass::Double
            }
            AggregateKind::Min | AggregateKind::Max => {
                let whole = self.args.iter().all(|arg| arg.ty.is_integer());
                let ordered = [TypeCode::Date, TypeCode::Datetime2, TypeCode::Timestamp2, TypeCode::Time2];
                whole || is(&ordered) || is(&[TypeCode::NewDecimal])
            }
            AggregateKind::BitAnd | AggregateKind::BitOr | AggregateKind::BitXor => {
                !super::is_text(&self.expr.ty)
            }
            _ => false,
        }
    }

    /// Returns the number of arguments that are values. The others are sort keys.
    fn value_args(&self) -> usize {
        match &self.kind {
            AggregateKind::GroupConcat { order, .. } => self.args.len() - order.len(),
            _ => self.args.len(),
        }
    }

    /// Returns the arguments that DISTINCT compares, which are the first of [`Aggregate::values`].
    pub fn distinct_args(&self) -> &[Expr] {
        &self.args[..self.value_args()]
    }

    /// Returns a row's arguments. `None` means that a value among them is NULL, so that the row
    /// does not count.
    pub fn values<'r>(
        &'r self,
        row: &'r [Value],
        ctx: &'r Context<'_>,
    ) -> Result<Option<Vec<Cow<'r, Value>>>> {
        let mut values = Vec::with_capacity(self.args.len());
        for (at, arg) in self.args.iter().enumerate() {
            let value = arg.eval(row, ctx)?;
            if value.is_null() && at < self.value_args() {
                return Ok(None);
            }
            values.push(value);
        }
        Ok(Some(values))
    }
}

impl Accumulator {
    /// Takes in a row, and adds the bytes that are kept of it to `charge`.
    pub fn add(
        &mut self,
        aggregate: &Aggregate,
        row: &[Value],
        ctx: &Context<'_>,
        charge: &mut Charge,
    ) -> Result<()> {
        assert!(!aggregate.distinct, "values that are to be counted once are given one by one");
        // Sums of decimals, and after them COUNT(*), are what most rows are read for.
        if let State::Decimal(sum, count) = &mut self.state
            && let Some(value) = Small::of(&aggregate.args[0], row)
        {
            sum.add_small(value);
            *count += 1;
            return Ok(());
        }
        if aggregate.kind == AggregateKind::CountRows {
            if let State::Count(count) = &mut self.state {
                *count += 1;
            }
            return Ok(());
        }
        if let State::Json(parts) = &mut self.state {
            return parts.add(&aggregate.args, row, ctx, charge);
        }
        let is_joined = matches!(aggregate.kind, AggregateKind::GroupConcat { .. });
        if let State::Integer(sum, count) = &mut self.state
            && let Node::Slot(slot) = aggregate.args[0].node
            && let Value::Int(value) = row[slot]
        {
            *sum = Some(sum.unwrap_or(0).saturating_add(i128::from(value)));
            *count += 1;
            return Ok(());
        }
        if aggregate.args.len() == 1 && !is_joined {
            let value = aggregate.args[0].eval(row, ctx)?;
            return if value.is_null() && !matches!(aggregate.kind, AggregateKind::Any) {
                Ok(())
            } else {
                self.take(aggregate, &value, ctx, charge)
            };
        }
        match aggregate.values(row, ctx)? {
            Some(values) => self.take_values(aggregate, &values, ctx, charge),
            None => Ok(()),
        }
    }

    /// Takes in a row by its arguments ([`Aggregate::values`]), and adds the bytes that are kept of
    /// them to `charge`.
    pub fn take_values<V: Borrow<Value>>(
        &mut self,
        aggregate: &Aggregate,
        values: &[V],
        ctx: &Context<'_>,
        charge: &mut Charge,
    ) -> Result<()> {
        let AggregateKind::GroupConcat { separator, order } = &aggregate.kind else {
            return self.take(aggregate, values[0].borrow(), ctx, charge);
        };
        let (values, keys) = values.split_at(values.len() - order.len());
        let texts: Vec<_> = values.iter().map(|value| text_of(value.borrow())).collect();
        match &mut self.state {
            State::Joined(joined) => joined.add(separator, texts.iter().map(|text| &**text), ctx, charge),
            State::Parts(parts) => parts.add(aggregate, &texts, keys, ctx, charge),
            _ => unreachable!("Aggregate::start begins a text for GROUP_CONCAT"),
        }
    }

    fn take(
        &mut self,
        aggregate: &Aggregate,
        value: &Value,
        ctx: &Context<'_>,
        charge: &mut Charge,
    ) -> Result<()> {
        match &mut self.state {
            State::Count(count) => *count += 1,
            State::Integer(sum, count) => {
                *sum = Some(
                    sum.unwrap_or(0).saturating_add(super::arithmetic::integer_of(&number_in(value, ctx))),
                );
                *count += 1;
            }
            State::Decimal(sum, count) => {
                sum.add(&decimal_of(&number_in(value, ctx)));
                *count += 1;
            }
            State::Double(sum, count) => {
                *sum = Some(sum.unwrap_or(0.0) + double_of(&number_in(value, ctx)));
                *count += 1;
            }
            State::Extreme(extreme) => {
                let wanted = match aggregate.kind {
                    AggregateKind::Min => Ordering::Less,
                    AggregateKind::Max => Ordering::Greater,
                    _ => Ordering::Equal,
                };
                let collation = aggregate.args[0].ty.collation;
                if extreme.is_null() || extreme_compare(value, extreme, collation, ctx)? == wanted {
                    let before = heap_bytes(extreme);
                    charge.add(copy_bytes(value))?;
                    *extreme = value.clone();
                    charge.take_away(before);
                }
            }
            State::Bits(bits) => {
                let value = super::arithmetic::bits(value, ctx).unwrap_or(0);
                match aggregate.kind {
                    AggregateKind::BitAnd => *bits &= value,
                    AggregateKind::BitOr => *bits |= value,
                    _ => *bits ^= value,
                }
            }
            State::BitString(bytes) => bytes.add(value, charge)?,
            State::Variance(count, mean, squares) => {
                let value = double_of(&number_in(value, ctx));
                *count += 1;
                let delta = value - *mean;
                *mean += delta / *count as f64;
                *squares += delta * (value - *mean);
            }
            State::Collected(collected) => collected.add(value, charge)?,
            State::Joined(_) | State::Parts(_) | State::Json(_) => {
                unreachable!("Accumulator::add keeps the parts of GROUP_CONCAT and of documents")
            }
        }
        Ok(())
    }

    /// Counts one more value, which the caller knows to be the first of its kind.
    pub fn count_first(&mut self) {
        if let State::Count(count) = &mut self.state {
            *count += 1;
        }
    }

    /// Takes in the rows that another accumulator of the aggregate has taken in, which can be
    /// merged ([`Aggregate::can_be_merged`]). The memory of the other one is charged to `charge`
    /// already.
    ///
    /// # Errors
    /// Returns the errors of comparing values.
    pub fn merge(
        &mut self,
        aggregate: &Aggregate,
        other: Accumulator,
        ctx: &Context<'_>,
        charge: &mut Charge,
    ) -> Result<()> {
        assert!(
            aggregate.can_be_merged() && !aggregate.distinct,
            "{} needs its rows in their order",
            aggregate.kind.name()
        );
        match (&mut self.state, other.state) {
            (State::Count(count), State::Count(more)) => *count += more,
            (State::Integer(sum, count), State::Integer(more, values)) => {
                *sum = match (*sum, more) {
                    (Some(sum), Some(more)) => Some(sum.saturating_add(more)),
                    (sum, more) => sum.or(more),
                };
                *count += values;
            }
            (State::Decimal(sum, count), State::Decimal(more, values)) => {
                sum.merge(&more);
                *count += values;
            }
            (State::Extreme(_), State::Extreme(value)) if value.is_null() => {}
            (State::Extreme(_), State::Extreme(value)) => self.take(aggregate, &value, ctx, charge)?,
            (State::Bits(bits), State::Bits(more)) => match aggregate.kind {
                AggregateKind::BitAnd => *bits &= more,
                AggregateKind::BitOr => *bits |= more,
                _ => *bits ^= more,
            },
            _ => unreachable!("accumulators of one aggregate have states of one kind"),
        }
        Ok(())
    }

    /// Undoes the taking in of a row, so that the state is as if the row had never been there. It
    /// returns false where the aggregate cannot do that: a sum of approximate numbers would differ,
    /// and other aggregates have dropped the values before.
    pub fn remove(&mut self, aggregate: &Aggregate, row: &[Value], ctx: &Context<'_>) -> Result<bool> {
        if aggregate.distinct {
            return Ok(false);
        }
        if aggregate.kind != AggregateKind::CountRows {
            for arg in &aggregate.args {
                if arg.eval(row, ctx)?.is_null() {
                    return Ok(true);
                }
            }
        }
        let number = |ctx| Ok::<_, crate::SqlError>(number_in(&*aggregate.args[0].eval(row, ctx)?, ctx));
        match &mut self.state {
            State::Count(count) => *count -= 1,
            State::Integer(sum, count) => {
                *count -= 1;
                let value = super::arithmetic::integer_of(&number(ctx)?);
                *sum = sum.map(|sum| sum.saturating_sub(value)).filter(|_| *count > 0);
            }
            State::Decimal(sum, count) => {
                *count -= 1;
                let rest = match *count {
                    0 => Some(DecimalSum::default()),
                    _ => sum.without(&decimal_of(&number(ctx)?)),
                };
                *sum = rest.unwrap_or_default();
                return Ok(rest.is_some());
            }
            State::Bits(bits) if aggregate.kind == AggregateKind::BitXor => {
                *bits ^= super::arithmetic::bits(&*aggregate.args[0].eval(row, ctx)?, ctx).unwrap_or(0);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Returns the result of the rows so far. `None` means that it is known only when all rows are
    /// taken in.
    pub fn value(&self, aggregate: &Aggregate, ctx: &Context<'_>) -> Result<Option<Value>> {
        let state = match &self.state {
            State::Count(count) => State::Count(*count),
            State::Integer(sum, count) => State::Integer(*sum, *count),
            State::Decimal(sum, count) => State::Decimal(*sum, *count),
            State::Double(sum, count) => State::Double(*sum, *count),
            State::Bits(bits) => State::Bits(*bits),
            State::BitString(bytes) => State::BitString(bytes.clone()),
            State::Variance(count, mean, squares) => State::Variance(*count, *mean, *squares),
            State::Collected(collected) => State::Collected(collected.clone()),
            _ => return Ok(None),
        };
        Accumulator { state }.finish(aggregate, ctx).map(Some)
    }

    /// Returns the group's result.
    pub fn finish(self, aggregate: &Aggregate, ctx: &Context<'_>) -> Result<Value> {
        Ok(match self.state {
            State::Count(count) => Value::Int(count),
            State::Integer(None, _) | State::Double(None, _) => Value::Null,
            State::Integer(Some(sum), count) => {
                let text = sum.to_string();
                let exact = Decimal::parse_prefix(text.as_bytes()).number;
                average_or_sum(aggregate, exact, count, ctx)
            }
            State::Decimal(sum, count) => match sum.total() {
                Some(sum) => average_or_sum(aggregate, sum, count, ctx),
                None => Value::Null,
            },
            State::Double(Some(sum), count) => Value::Double(match aggregate.kind {
                AggregateKind::Avg => sum / count as f64,
                _ => sum,
            }),
            // ANY_VALUE is a COALESCE in MySQL, which makes a number of bits.
            State::Extreme(Value::Bit { bits, .. }) if aggregate.kind == AggregateKind::Any => {
                Value::UInt(bits)
            }
            State::Extreme(value) => value,
            State::Bits(bits) => Value::UInt(bits),
            State::BitString(bytes) => bytes.finish(aggregate.args[0].ty.max_bytes()),
            State::Variance(count, _, squares) => {
                let AggregateKind::Variance { sample, root } = aggregate.kind else { return Ok(Value::Null) };
                let divisor = if sample { count.saturating_sub(1) } else { count };
                if divisor == 0 {
                    return Ok(Value::Null);
                }
                let variance = squares / divisor as f64;
                if !variance.is_finite() {
                    return Err(SqlError::out_of_range("DOUBLE", format!("{}()", aggregate.kind.name())));
                }
                Value::Double(if root { variance.sqrt() } else { variance })
            }
            State::Joined(joined) => joined.finish(ctx),
            State::Parts(parts) => parts.finish(aggregate, ctx)?,
            State::Json(parts) => parts.finish(ctx)?,
            State::Collected(collected) => collected.finish(ctx),
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

impl Parts {
    /// Keeps a row's text with its sort keys.
    fn add<V: Borrow<Value>>(
        &mut self,
        aggregate: &Aggregate,
        texts: &[Cow<'_, [u8]>],
        keys: &[V],
        ctx: &Context<'_>,
        charge: &mut Charge,
    ) -> Result<()> {
        let most = ctx.variables.group_concat_max_len + 1;
        let bytes = texts.iter().fold(0usize, |bytes, text| bytes.saturating_add(text.len())).min(most);
        let mut kept = Vec::with_capacity(bytes);
        for text in texts {
            kept.extend_from_slice(&text[..text.len().min(bytes - kept.len())]);
        }
        let mut values = Vec::with_capacity(keys.len());
        for key in keys {
            values.push(ctx.copied(key.borrow())?);
        }
        charge.add(allocated(kept.capacity()) + row_bytes(&values))?;
        self.text_bytes += kept.len();
        growth::push(&mut self.list, (values, kept), charge)?;
        if self.most_parts == 0 {
            self.grow(most);
        }
        if self.list.len() >= self.most_parts || self.text_bytes >= self.most_text_bytes {
            self.cut(aggregate, ctx, charge)?;
            self.grow(most);
        }
        Ok(())
    }

    /// Sets the next limits to twice of what is kept, so that sorting costs little for each part.
    fn grow(&mut self, most: usize) {
        const LEAST_PARTS: usize = 1024;
        self.most_parts = 2 * self.list.len().max(LEAST_PARTS);
        self.most_text_bytes = self.text_bytes.max(most).saturating_mul(2).saturating_add(64 << 10);
    }

    fn sort(&mut self, aggregate: &Aggregate, ctx: &Context<'_>) -> Result<()> {
        let AggregateKind::GroupConcat { order, .. } = &aggregate.kind else { return Ok(()) };
        let first_key = aggregate.args.len() - order.len();
        let mut scratch = Charge::new(ctx.memory);
        scratch.add(super::scratch_bytes(&self.list))?;
        super::sort_by(
            &mut self.list,
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
        )
    }

    /// Drops the parts that the text has no room for.
    fn cut(&mut self, aggregate: &Aggregate, ctx: &Context<'_>, charge: &mut Charge) -> Result<()> {
        let AggregateKind::GroupConcat { separator, .. } = &aggregate.kind else { return Ok(()) };
        self.sort(aggregate, ctx)?;
        let most = ctx.variables.group_concat_max_len;
        let mut len = 0;
        let needed = self.list.iter().position(|(_, text)| {
            len += text.len() + separator.len();
            // No separator stands after the last part.
            len > most + separator.len()
        });
        let Some(last) = needed else { return Ok(()) };
        for (values, text) in self.list.drain(last + 1..) {
            self.text_bytes -= text.len();
            charge.take_away(allocated(text.capacity()) + row_bytes(&values));
        }
        Ok(())
    }

    /// Returns the joined text.
    fn finish(mut self, aggregate: &Aggregate, ctx: &Context<'_>) -> Result<Value> {
        let AggregateKind::GroupConcat { separator, .. } = &aggregate.kind else { return Ok(Value::Null) };
        self.sort(aggregate, ctx)?;
        // The code that keeps the value charges it. This charge covers the time until then.
        let mut charge = Charge::new(ctx.memory);
        let mut joined = Joined::default();
        for (_, part) in &self.list {
            ctx.check_interrupt()?;
            joined.add(separator, std::iter::once(&part[..]), ctx, &mut charge)?;
        }
        Ok(joined.finish(ctx))
    }
}

/// Reports whether a name is that of an aggregate.
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
            | "json_objectagg"
            | "st_collect"
    )
}
