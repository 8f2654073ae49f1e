//! Key ranges: turns the conditions of an access and the current values into ranges of encoded
//! keys.
//!
//! A value need not be one that the column can hold: `id > 1.5` and `id = 'x'` are legal. Such a
//! value lies between two values of the column, and the bound moves to one of these neighbours, so
//! that the range contains every row that meets the condition.

use super::boxes;
use crate::error::Result;
use crate::expr::{Context, Node, Number, number};
use crate::plan::{Access, KeyCondition};
use engine::{KeyRange, Table};
use std::cmp::Ordering;
use std::ops::Bound;
use types::json;
use types::temporal::parse;
use types::{ColumnType, Decimal, TypeCode, Value};

/// The place of a value among the values of a column.
enum Position {
    At(Value),
    /// Between two neighbours. `None` means that there is no neighbour on that side.
    Between(Option<Value>, Option<Value>),
    Null,
    /// Unknown, so that the condition does not narrow the range.
    Unknown,
}

/// The ranges of an access, in the order of the keys.
pub(crate) struct Ranges {
    pub ranges: Vec<KeyRange>,
    /// Whether some condition could not be turned into a bound, so that the rows may not come in
    /// the order that the plan promised.
    pub degraded: bool,
    /// Whether the index is of no use, so that the table is to be read by its clustered tree. It is
    /// a multi-valued index, and a condition could not be turned into a bound.
    pub is_useless: bool,
    /// Whether a row may be in several of the ranges.
    pub may_repeat: bool,
    /// Whether all values on integer columns were integers or NULL, and gave bounds. The ranges
    /// then have no rows but those that [`Access::answers`] promises.
    pub is_exact: bool,
}

/// Returns the place of a number among the integers of the column. `floor` is the number rounded
/// down, and `is_exact` says that it was an integer already.
fn integer_position(ty: &ColumnType, floor: i128, is_exact: bool) -> Position {
    let (low, high) = ty.integer_range();
    let (low, high) = (i128::from(low), i128::from(high));
    let value = |n: i128| if ty.unsigned { Value::UInt(n as u64) } else { Value::Int(n as i64) };
    let ceiling = if is_exact { floor } else { floor.saturating_add(1) };
    if is_exact && (low..=high).contains(&floor) {
        return Position::At(value(floor));
    }
    let below = (floor >= low).then(|| value(floor.min(high)));
    let above = (ceiling <= high).then(|| value(ceiling.max(low)));
    Position::Between(below, above)
}

fn floor_of(number: &Number) -> (i128, bool) {
    const FAR: f64 = 1e30;
    match number {
        Number::Int(n) => (i128::from(*n), true),
        Number::UInt(n) => (i128::from(*n), true),
        Number::Decimal(n) => {
            let floor = n.floor();
            let text = floor.with_scale(0).unwrap_or(floor).to_string();
            let beyond = if n.is_negative() { i128::MIN / 2 } else { i128::MAX / 2 };
            (text.parse().unwrap_or(beyond), floor == *n)
        }
        Number::Double(n) => {
            let floor = n.floor().clamp(-FAR, FAR);
            (floor as i128, floor == *n)
        }
    }
}

fn decimal_position(ty: &ColumnType, value: &Value) -> Position {
    let exact = match number(value) {
        Number::Double(n) => match Decimal::from_f64(n) {
            Some(exact) => exact,
            None => return Position::Unknown,
        },
        other => crate::expr::decimal_of(&other),
    };
    let limit = Decimal::largest(ty.precision(), ty.scale());
    let cut = exact.truncate(i32::from(ty.scale()));
    if cut.abs() > limit {
        let end = |n: Decimal| Some(Value::Decimal(n));
        return if exact.is_negative() {
            Position::Between(None, end(limit.negate()))
        } else {
            Position::Between(end(limit), None)
        };
    }
    if cut == exact {
        return Position::At(Value::Decimal(cut));
    }
    // The neighbour away from zero is one unit of the last digit further away.
    let unit = Decimal::parse_prefix(format!("1e-{}", ty.scale()).as_bytes()).number;
    let (towards, away) = (cut, if exact.is_negative() { cut.sub(&unit) } else { cut.add(&unit) });
    let away = away.filter(|n| n.abs() <= limit).map(Value::Decimal);
    let towards = Some(Value::Decimal(towards));
    if exact.is_negative() { Position::Between(away, towards) } else { Position::Between(towards, away) }
}

fn temporal_position(ty: &ColumnType, value: &Value, ctx: &Context<'_>) -> Position {
    if let (Value::Timestamp { .. }, TypeCode::Timestamp2) = (value, ty.code) {
        // Converting to local time and back could give another moment, since clocks show some
        // hours twice.
        return match types::convert::assign(value, ty, ctx.conversion(true)) {
            Ok((stored, None)) if stored == *value => Position::At(stored),
            _ => Position::Unknown,
        };
    }
    if ty.code == TypeCode::Time2 {
        let time = match value {
            Value::Time(time) => *time,
            Value::Bytes(text) => match parse::time(text, ctx.zone()) {
                Some(read) if !read.trailing_garbage && !read.value.out_of_range => read.value.time,
                _ => return Position::Unknown,
            },
            _ => return Position::Unknown,
        };
        let kept = time.round(ty.fsp());
        return if kept == time { Position::At(Value::Time(time)) } else { Position::Unknown };
    }
    let at = match value {
        Value::DateTime(at) => *at,
        Value::Date(date) => types::DateTime::midnight(*date),
        Value::Timestamp { .. } => match value.clone().in_zone(ctx.zone()) {
            Value::DateTime(at) => at,
            _ => return Position::Unknown,
        },
        Value::Bytes(text) => match parse::datetime(text) {
            // What the session's modes refuse is compared as the zero date.
            Some(read) if read.offset_seconds.is_some() || ctx.dates().refuses(&read.value.date) => {
                return Position::Unknown;
            }
            Some(read) if !read.trailing_garbage => read.value,
            _ => return Position::Unknown,
        },
        _ => return Position::Unknown,
    };
    match ty.code {
        TypeCode::Date if at == types::DateTime::midnight(at.date) => Position::At(Value::Date(at.date)),
        TypeCode::Date => {
            let next = types::Date::from_day_number(at.date.day_number() + 1);
            Position::Between(Some(Value::Date(at.date)), (!next.is_zero()).then_some(Value::Date(next)))
        }
        _ if at.round(ty.fsp()) != Some(at) => Position::Unknown,
        TypeCode::Datetime2 => Position::At(Value::DateTime(at)),
        _ => match types::convert::assign(&Value::DateTime(at), ty, ctx.conversion(true)) {
            Ok((value, None)) => Position::At(value),
            _ => Position::Unknown,
        },
    }
}

fn position(ty: &ColumnType, value: &Value, ctx: &Context<'_>) -> Position {
    if value.is_null() {
        return Position::Null;
    }
    match ty.code {
        TypeCode::Tiny | TypeCode::Short | TypeCode::Int24 | TypeCode::Long | TypeCode::LongLong => {
            match value {
                Value::Int(n) => integer_position(ty, i128::from(*n), true),
                Value::UInt(n) => integer_position(ty, i128::from(*n), true),
                Value::Date(_) | Value::DateTime(_) | Value::Time(_) | Value::Timestamp { .. } => {
                    Position::Unknown
                }
                other => {
                    let (floor, is_exact) = floor_of(&number(other));
                    integer_position(ty, floor, is_exact)
                }
            }
        }
        TypeCode::Year => match number(value) {
            Number::Int(n @ (0 | 1901..=2155)) => Position::At(Value::Year(n as u16)),
            Number::UInt(n @ (0 | 1901..=2155)) => Position::At(Value::Year(n as u16)),
            _ => Position::Unknown,
        },
        TypeCode::NewDecimal => match value {
            Value::Int(_) | Value::UInt(_) | Value::Decimal(_) => decimal_position(ty, value),
            _ => Position::Unknown,
        },
        TypeCode::Double => match number(value) {
            Number::Double(n) => Position::At(Value::Double(n)),
            Number::Int(n) if n.unsigned_abs() < 1 << 53 => Position::At(Value::Double(n as f64)),
            _ => Position::Unknown,
        },
        TypeCode::Date | TypeCode::Datetime2 | TypeCode::Timestamp2 | TypeCode::Time2 => {
            temporal_position(ty, value, ctx)
        }
        TypeCode::Varchar | TypeCode::String | TypeCode::Blob => match value {
            Value::Bytes(bytes) if is_binary(ty) => binary_position(ty, bytes),
            Value::Bytes(_) => Position::At(value.clone()),
            Value::Enum { .. } | Value::Set { .. } => {
                Position::At(Value::Bytes(crate::expr::text_of(value).into_owned()))
            }
            _ => Position::Unknown,
        },
        _ => Position::Unknown,
    }
}

/// Reports whether values of the column are bytes of one length (`BINARY(n)`).
fn is_binary(ty: &ColumnType) -> bool {
    ty.code == TypeCode::String && ty.collation == types::collation::BINARY && ty.text_form().is_none()
}

/// Returns the place of bytes among the values of a BINARY column, which all have its length.
/// Shorter bytes are less than what they become in the column, which has zero bytes behind them.
fn binary_position(ty: &ColumnType, bytes: &[u8]) -> Position {
    let len = usize::from(ty.meta);
    let mut near = bytes.to_vec();
    near.resize(len, 0);
    match bytes.len().cmp(&len) {
        Ordering::Equal => Position::At(Value::Bytes(near)),
        Ordering::Less => {
            let below = neighbour(&near, u8::MIN, |byte| byte - 1, u8::MAX);
            Position::Between(below, Some(Value::Bytes(near)))
        }
        Ordering::Greater => {
            let above = neighbour(&near, u8::MAX, |byte| byte + 1, u8::MIN);
            Position::Between(Some(Value::Bytes(near)), above)
        }
    }
}

/// Returns the bytes of the same length that are next to these: the last byte that is not `end`
/// takes a step, and those behind it become `begin`. `None` means that there are none.
fn neighbour(bytes: &[u8], end: u8, step: impl Fn(u8) -> u8, begin: u8) -> Option<Value> {
    let at = bytes.iter().rposition(|byte| *byte != end)?;
    let mut next = bytes.to_vec();
    next[at] = step(next[at]);
    next[at + 1..].fill(begin);
    Some(Value::Bytes(next))
}

/// Reports whether comparing values of the column with `value` gives what their keys' order says.
/// Of columns other than integers this is not asked.
#[inline]
fn is_compared_exactly(ty: &ColumnType, value: &Value) -> bool {
    !ty.is_integer() || matches!(value, Value::Int(_) | Value::UInt(_) | Value::Null)
}

/// One key part of an index, with what encoding a value needs.
struct Part<'t> {
    /// The type of the column, or that of the elements of an array.
    ty: &'t ColumnType,
    is_array: bool,
    nullable: bool,
    prefix: Option<u32>,
}

impl Part<'_> {
    fn position(&self, value: &Value, ctx: &Context<'_>) -> Position {
        match value {
            Value::Json(document) if self.is_array => {
                let element = json::read_document(document);
                match element.and_then(|element| engine::element_value(&element, self.ty)) {
                    Some(value) => Position::At(value),
                    None => Position::Unknown,
                }
            }
            value => position(self.ty, value, ctx),
        }
    }

    /// Returns `key` with the value appended, or `None` when the column cannot hold the value.
    fn appended(&self, key: &[u8], value: &Value) -> Option<Vec<u8>> {
        let mut key = key.to_vec();
        types::key::encode_value(self.ty, value, self.nullable, self.prefix, &mut key).ok()?;
        Some(key)
    }
}

fn prefix_range(key: &[u8]) -> KeyRange {
    if key.is_empty() { KeyRange::all() } else { KeyRange::prefix(key) }
}

impl Ranges {
    /// Returns no ranges.
    pub fn none() -> Ranges {
        Ranges { ranges: Vec::new(), degraded: false, is_useless: false, may_repeat: false, is_exact: true }
    }

    /// Computes the ranges of `access`. `row` has the values of the outer tables' columns.
    pub fn of(table: &Table, access: &Access, row: &[Value], ctx: &Context<'_>) -> Result<Ranges> {
        let mut ranges = Ranges::none();
        if access.alternatives.is_empty() {
            ranges.ranges.push(KeyRange::all());
            return Ok(ranges);
        }
        for condition in &access.alternatives {
            ranges.add(table, access, condition, row, ctx)?;
        }
        if table.is_multi_valued(access.index) {
            if ranges.degraded {
                return Ok(Ranges { ranges: vec![KeyRange::all()], is_useless: true, ..ranges });
            }
            ranges.may_repeat = ranges.ranges.len() > 1;
        }
        if ranges.ranges.len() > 1 {
            ranges.ranges = merged(std::mem::take(&mut ranges.ranges));
        }
        Ok(ranges)
    }

    /// Puts the key of the only row that a point access can find into `key`, and returns whether
    /// all values on integer columns were integers. `None` means that the key has to be found by
    /// [`Ranges::of`].
    pub fn point(
        table: &Table,
        access: &Access,
        row: &[Value],
        ctx: &Context<'_>,
        key: &mut Vec<u8>,
    ) -> Result<Option<bool>> {
        let [condition] = &access.alternatives[..] else { return Ok(None) };
        let parts = table.index_columns(access.index).len();
        assert_eq!(condition.equals.len(), parts, "a point has a value for each part of its key");
        Ranges::equal_key(table, (access, condition), row, ctx, key)
    }

    /// Puts the beginning of the keys that an access looks up into `key`, and returns whether all
    /// values on integer columns were integers. `None` means that the access does more than look
    /// up one value of leading columns, or that the key has to be found by [`Ranges::of`].
    pub fn prefix(
        table: &Table,
        access: &Access,
        row: &[Value],
        ctx: &Context<'_>,
        key: &mut Vec<u8>,
    ) -> Result<Option<bool>> {
        let [condition] = &access.alternatives[..] else { return Ok(None) };
        let KeyCondition { equals, list, low, high, search, near, .. } = condition;
        let is_prefix = list.is_none() && low.is_none() && high.is_none();
        let is_sought = search.is_some() || near.is_some() || table.is_multi_valued(access.index);
        if equals.is_empty() || !is_prefix || is_sought {
            return Ok(None);
        }
        Ranges::equal_key(table, (access, condition), row, ctx, key)
    }

    /// Puts the key that the equalities of a condition ask for into `key`, and returns whether all
    /// values on integer columns were integers. `None` means that an expression has to be computed
    /// first, or that a value is not one that its column can hold.
    fn equal_key(
        table: &Table,
        (access, condition): (&Access, &KeyCondition),
        row: &[Value],
        ctx: &Context<'_>,
        key: &mut Vec<u8>,
    ) -> Result<Option<bool>> {
        key.clear();
        let mut is_exact = true;
        for (column, (expr, _)) in table.index_columns(access.index).iter().zip(&condition.equals) {
            if !matches!(
                expr.node,
                Node::Constant(_)
                    | Node::HexLiteral(..)
                    | Node::Parameter(_)
                    | Node::Slot(_)
                    | Node::Outer(_)
            ) {
                return Ok(None);
            }
            let ty = table.column_type(column.column);
            let wanted = expr.eval(row, ctx)?;
            let nullable = table.def.columns[column.column].nullable;
            if types::key::encode_integer(ty, &wanted, nullable, key) {
                continue;
            }
            is_exact &= is_compared_exactly(ty, &wanted);
            let Position::At(value) = position(ty, &wanted, ctx) else { return Ok(None) };
            if types::key::encode_value(ty, &value, nullable, column.prefix, key).is_err() {
                return Ok(None);
            }
        }
        Ok(Some(is_exact))
    }

    fn add(
        &mut self,
        table: &Table,
        access: &Access,
        condition: &KeyCondition,
        row: &[Value],
        ctx: &Context<'_>,
    ) -> Result<()> {
        let mut parts = table.index_columns(access.index).iter().map(|part| {
            let column = &table.def.columns[part.column];
            Part {
                ty: column.elements.as_ref().unwrap_or(&column.ty),
                is_array: column.elements.is_some(),
                nullable: column.nullable,
                prefix: part.prefix,
            }
        });
        if let Some(search) = &condition.search {
            let Node::Match(searched) = &search.node else { panic!("a search is a MATCH") };
            if let Some(found) = searched.found(row, ctx)? {
                self.ranges.extend(found.keys().iter().map(|key| KeyRange::prefix(key)));
            }
            return Ok(());
        }
        if let Some(other) = &condition.near {
            let Some(mut ranges) = boxes::ranges(table, access.index, other, row, ctx)? else {
                return self.degrade(&[]);
            };
            self.ranges.append(&mut ranges);
            return Ok(());
        }
        let mut key = Vec::new();
        for (expr, null_safe) in &condition.equals {
            let Some(part) = parts.next() else { break };
            let value = expr.eval(row, ctx)?;
            self.is_exact &= is_compared_exactly(part.ty, &value);
            let encoded = match part.position(&value, ctx) {
                Position::At(value) => part.appended(&key, &value),
                Position::Null if *null_safe && part.nullable => part.appended(&key, &Value::Null),
                Position::Null if condition.null_takes_all => None,
                Position::Null | Position::Between(..) => return Ok(()),
                Position::Unknown => None,
            };
            match encoded {
                Some(encoded) => key = encoded,
                None => return self.degrade(&key),
            }
        }
        let Some(part) = parts.next() else {
            self.ranges.push(prefix_range(&key));
            return Ok(());
        };
        if let Some(list) = &condition.list {
            for item in list {
                let value = item.eval(row, ctx)?;
                match part.position(&value, ctx) {
                    Position::At(value) => match part.appended(&key, &value) {
                        Some(encoded) => self.ranges.push(prefix_range(&encoded)),
                        None => return self.degrade(&key),
                    },
                    Position::Null | Position::Between(..) => {}
                    Position::Unknown => return self.degrade(&key),
                }
            }
            return Ok(());
        }
        if condition.low.is_none() && condition.high.is_none() {
            self.ranges.push(prefix_range(&key));
            return Ok(());
        }
        self.add_range(&part, &key, condition, row, ctx)
    }

    /// Adds the range that the conditions on one key part give, behind the equalities on the parts
    /// before it.
    fn add_range(
        &mut self,
        part: &Part<'_>,
        key: &[u8],
        condition: &KeyCondition,
        row: &[Value],
        ctx: &Context<'_>,
    ) -> Result<()> {
        // NULL is in no range. NULLs sort first, so the range begins behind them.
        let nulls = if part.nullable { part.appended(key, &Value::Null) } else { None };
        let mut start: (Option<Vec<u8>>, bool) = match nulls {
            Some(nulls) => (Some(nulls), false),
            None => (Some(key.to_vec()), true),
        };
        let mut end: (Option<Vec<u8>>, bool) = (Some(key.to_vec()), true);
        if let Some((expr, inclusive)) = &condition.low {
            let value = expr.eval(row, ctx)?;
            self.is_exact &= is_compared_exactly(part.ty, &value);
            match part.position(&value, ctx) {
                Position::At(value) => match part.appended(key, &value) {
                    Some(encoded) => start = (Some(encoded), *inclusive || part.prefix.is_some()),
                    None => self.is_exact = false,
                },
                Position::Between(_, Some(above)) => match part.appended(key, &above) {
                    Some(encoded) => start = (Some(encoded), true),
                    None => self.is_exact = false,
                },
                Position::Between(_, None) | Position::Null => return Ok(()),
                Position::Unknown => {}
            }
        }
        if let Some((expr, inclusive)) = &condition.high {
            let value = expr.eval(row, ctx)?;
            self.is_exact &= is_compared_exactly(part.ty, &value);
            match part.position(&value, ctx) {
                Position::At(value) => match part.appended(key, &value) {
                    Some(encoded) => end = (Some(encoded), *inclusive || part.prefix.is_some()),
                    None => self.is_exact = false,
                },
                Position::Between(Some(below), _) => match part.appended(key, &below) {
                    Some(encoded) => end = (Some(encoded), true),
                    None => self.is_exact = false,
                },
                Position::Between(None, _) | Position::Null => return Ok(()),
                Position::Unknown => {}
            }
        }
        self.ranges.push(KeyRange::between(bound(&start), bound(&end)));
        Ok(())
    }

    fn degrade(&mut self, key: &[u8]) -> Result<()> {
        self.degraded = true;
        self.is_exact = false;
        self.ranges.push(prefix_range(key));
        Ok(())
    }
}

fn bound(of: &(Option<Vec<u8>>, bool)) -> Bound<&[u8]> {
    match of {
        (Some(key), _) if key.is_empty() => Bound::Unbounded,
        (Some(key), true) => Bound::Included(key),
        (Some(key), false) => Bound::Excluded(key),
        (None, _) => Bound::Unbounded,
    }
}

/// Sorts the ranges and unites those that touch, so that no row is read twice.
fn merged(mut ranges: Vec<KeyRange>) -> Vec<KeyRange> {
    let start_key = |range: &KeyRange| match &range.start {
        Bound::Unbounded => (Vec::new(), false),
        Bound::Included(key) => (key.clone(), false),
        Bound::Excluded(key) => (key.clone(), true),
    };
    ranges.sort_by_cached_key(start_key);
    let mut out: Vec<KeyRange> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match out.last_mut() {
            Some(last) if touches(last, &range) => {
                if compare_ends(&range.end, &last.end) == Ordering::Greater {
                    last.end = range.end;
                }
            }
            _ => out.push(range),
        }
    }
    let is_apart = |pair: &[KeyRange]| !touches(&pair[0], &pair[1]);
    assert!(out.windows(2).all(is_apart), "no row is in two of the ranges");
    out
}

fn compare_ends(a: &Bound<Vec<u8>>, b: &Bound<Vec<u8>>) -> Ordering {
    match (a, b) {
        (Bound::Unbounded, Bound::Unbounded) => Ordering::Equal,
        (Bound::Unbounded, _) => Ordering::Greater,
        (_, Bound::Unbounded) => Ordering::Less,
        (Bound::Included(a) | Bound::Excluded(a), Bound::Included(b) | Bound::Excluded(b)) => a.cmp(b),
    }
}

/// Reports whether `next` starts no later than `last` ends.
fn touches(last: &KeyRange, next: &KeyRange) -> bool {
    match (&last.end, &next.start) {
        (Bound::Unbounded, _) | (_, Bound::Unbounded) => true,
        (Bound::Included(end) | Bound::Excluded(end), Bound::Included(start) | Bound::Excluded(start)) => {
            start <= end
        }
    }
}
