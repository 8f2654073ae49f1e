//! Conditions on single columns that a reader decides on the rows' images, before it decodes them.
//!
//! In: the conditions of a step, and constants. Out: tests of an image ([`ColumnTest`]), and which
//! of the conditions they decide. A row that a test refuses is one for which its condition is not
//! true, so the loops never see it.
//!
//! The conditions are looked at in their order. Behind one that could raise a warning or an error
//! none becomes a test, because a test that comes first would keep the warning back.

use super::compared_columns::{Columns, constant};
use super::zone_numbers::ZoneNumbers;
use crate::ast::BinaryOp;
use crate::error::Result;
use crate::expr::{Context, Expr, Node, Quantified};
use crate::plan::{Answered, TableStep};
use engine::Table;
use std::borrow::Cow;
use std::cmp::Ordering;
use types::column_test::{ColumnTest, MOST_PATTERN_BYTES};
use types::order_number::{OrderNumber, Position, position};
use types::row::RowLayout;
use types::temporal::parse;
use types::{ColumnType, TypeCode, Value};

/// The tests of a step's rows.
pub(super) struct ImageFilter {
    tests: Vec<ColumnTest>,
    /// The conditions that hold for every row that passes the tests.
    pub answered: Answered,
    /// The numbers between which the table's zone column has its own in each row that passes the
    /// tests ([`engine::Scan::leave_out`]). `None` means that they may be any.
    pub zone: Option<(u64, u64)>,
    /// The columns of the table that are wanted of the rows that pass the tests. `None` means that
    /// these are no fewer than the step says.
    pub needed: Option<Vec<usize>>,
}

impl ImageFilter {
    /// Makes the tests for those conditions that can be decided on images and are not `answered`.
    /// `None` means that there is none.
    pub fn of(
        table: &Table,
        step: &TableStep,
        answered: Answered,
        ctx: &Context<'_>,
    ) -> Result<Option<Box<ImageFilter>>> {
        // The conditions see the spaces at the end of a CHAR, and the images do not have them. An
        // index that has all columns gives most rows as entries, which are not tested.
        if step.padding.is_some() || step.covering.is_some() {
            return Ok(None);
        }
        let conditions = step.hash.as_ref().map_or(&step.conditions, |lookup| &lookup.conditions);
        let columns = Columns { layout: &table.layout, step };
        let mut filter = ImageFilter { tests: Vec::new(), answered, zone: None, needed: None };
        let mut zone = ZoneNumbers::of(table.zone_column());
        for (at, condition) in conditions.iter().enumerate() {
            if answered.has(at) {
                continue;
            }
            match columns.test(condition, ctx)? {
                Some(test) => {
                    zone.test(&test);
                    filter.add(test);
                    filter.answered = filter.answered.with(at);
                }
                None if is_quiet(condition) || zone.timestamp(&columns, condition, ctx)? => {}
                None => break,
            }
        }
        filter.zone = zone.bounds();
        if filter.tests.is_empty() && filter.zone.is_none() {
            return Ok(None);
        }
        filter.needed = needed_beside(step, filter.answered);
        Ok(Some(Box::new(filter)))
    }

    /// Adds a test. Ranges of one column, as of a date between two others, become one range.
    fn add(&mut self, test: ColumnTest) {
        let merged = self.tests.iter().enumerate().find_map(|(at, known)| Some((at, known.both(&test)?)));
        match merged {
            Some((at, both)) => self.tests[at] = both,
            None => self.tests.push(test),
        }
    }

    /// Reports whether a row passes all tests.
    #[inline]
    pub fn passes(&self, layout: &RowLayout, image: &[u8]) -> Result<bool> {
        for test in &self.tests {
            if !test.holds(layout, image)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Returns the columns of the step's table that something beside the answered conditions reads, or
/// that its hash table keeps.
/// `None` means that the plan does not say which these are.
fn needed_beside(step: &TableStep, answered: Answered) -> Option<Vec<usize>> {
    let (needed, conditions) = match &step.hash {
        None => (step.needed_beside_conditions.as_ref()?, &step.conditions),
        Some(lookup) => (step.kept_by_hash.as_ref()?, &lookup.conditions),
    };
    let mut slots: Vec<usize> = needed.iter().map(|column| step.base + column).collect();
    slots.extend(step.hash.iter().flat_map(|lookup| &lookup.keys).map(|key| key.own));
    for (at, condition) in conditions.iter().enumerate() {
        if !answered.has(at) {
            condition.slots(&mut slots);
        }
    }
    slots.sort_unstable();
    slots.dedup();
    let own = step.base..step.base + step.columns;
    Some(slots.into_iter().filter(|slot| own.contains(slot)).map(|slot| slot - step.base).collect())
}

/// Reports whether the condition compares only columns and constants of one family of types, which
/// raises neither warnings nor errors.
fn is_quiet(condition: &Expr) -> bool {
    let [a, b] = match &condition.node {
        Node::Compare { operands, .. } => &**operands,
        Node::Like { operands, .. } => return operands.iter().all(is_part_of_text),
        Node::In { operand, list, .. } => {
            return is_part_of_text(operand) && list.iter().all(is_part_of_text);
        }
        _ => return false,
    };
    let is_plain = |operand: &Expr| matches!(operand.node, Node::Slot(_) | Node::Constant(_));
    let is_date = |ty: &ColumnType| matches!(ty.code, TypeCode::Date | TypeCode::Datetime2);
    let is_number = |ty: &ColumnType| ty.is_integer() || ty.code == TypeCode::NewDecimal;
    let is_text = |ty: &ColumnType| matches!(ty.code, TypeCode::Varchar | TypeCode::String);
    let same = |is: &dyn Fn(&ColumnType) -> bool| is(&a.ty) && is(&b.ty);
    is_plain(a) && is_plain(b) && (same(&is_date) || same(&is_number) || same(&is_text))
}

/// Reports whether the expression is a column or constant of text, or a part of it that is given by
/// constant numbers.
fn is_part_of_text(expr: &Expr) -> bool {
    let is_text = matches!(expr.ty.code, TypeCode::Varchar | TypeCode::String);
    match &expr.node {
        Node::Slot(_) | Node::Constant(_) => is_text,
        Node::Call { function, args } if ["substring", "left", "right"].contains(&function.name) => {
            let is_number = |arg: &Expr| matches!(arg.node, Node::Constant(Value::Int(_)));
            is_text
                && args
                    .split_first()
                    .is_some_and(|(text, numbers)| is_part_of_text(text) && numbers.iter().all(is_number))
        }
        _ => false,
    }
}

impl Columns<'_> {
    /// Returns the test that decides the condition, if there is one.
    fn test(&self, condition: &Expr, ctx: &Context<'_>) -> Result<Option<ColumnTest>> {
        match &condition.node {
            Node::Compare { op, operands, collation } => {
                let [a, b] = &**operands;
                if let (Some(a), Some(b)) = (self.column(a), self.column(b)) {
                    return Ok(self.columns(*op, (a, b), *collation));
                }
                let Some((column, op, other)) = self.sided(*op, a, b) else { return Ok(None) };
                let Some(value) = constant(other, ctx)? else { return Ok(None) };
                Ok(self.compared(column, op, &value, *collation))
            }
            Node::Between { negated, operands, .. } => {
                let [operand, low, high] = &**operands;
                let Some(column) = self.column(operand) else { return Ok(None) };
                let (Some(low), Some(high)) = (constant(low, ctx)?, constant(high, ctx)?) else {
                    return Ok(None);
                };
                Ok(self.between(column, *negated, &low, &high))
            }
            Node::In { negated, operand, list, collation } => {
                let Some(column) = self.column(operand) else { return Ok(None) };
                let mut values = Vec::with_capacity(list.len());
                for item in list {
                    let Some(value) = constant(item, ctx)? else { return Ok(None) };
                    values.push(value);
                }
                Ok(self.one_of(column, *negated, &values, *collation))
            }
            Node::Like { negated, operands, escape, collation } => {
                let [operand, pattern] = &**operands;
                let Some(column) = self.column(operand) else { return Ok(None) };
                let pattern = match constant(pattern, ctx)? {
                    Some(Cow::Borrowed(Value::Bytes(pattern))) => pattern.clone(),
                    _ => return Ok(None),
                };
                let is_short = self.layout.is_short_text(column) && pattern.len() <= MOST_PATTERN_BYTES;
                Ok(is_short.then(|| ColumnTest::like(column, *collation, (pattern, *escape), !*negated)))
            }
            Node::Quantified(quantified) => Ok(self.found_in_subquery(quantified, ctx)),
            _ => Ok(None),
        }
    }

    /// Returns the test for a column of integers that is looked for among the rows of a subquery,
    /// if these are integers and known already: a test never runs a subquery.
    fn found_in_subquery(&self, quantified: &Quantified, ctx: &Context<'_>) -> Option<ColumnTest> {
        let Quantified { op: BinaryOp::Equal, all: false, negated: false, operands, call, .. } = quantified
        else {
            return None;
        };
        let [operand] = &operands[..] else { return None };
        let column = self.column(operand).filter(|column| self.layout.types()[*column].is_integer())?;
        let (order, ty) = (self.order(column)?, &self.layout.types()[column]);
        let rows = match call.args.is_empty() {
            true => ctx.subqueries?.known_rows(call.number).filter(|rows| rows.is_in_memory())?,
            false => return None,
        };
        let mut numbers = Vec::with_capacity(rows.len());
        for row in &rows.first {
            match &row[0] {
                // The condition is not true for a row that equals no other value.
                Value::Null => {}
                value @ (Value::Int(_) | Value::UInt(_)) => numbers.push(position(ty, value)?.floor),
                _ => return None,
            }
        }
        let numbers = numbers.into_iter().filter_map(|number| u64::try_from(number).ok()).collect();
        Some(ColumnTest::one_of(column, order, numbers))
    }

    fn order(&self, column: usize) -> Option<OrderNumber> {
        OrderNumber::of(&self.layout.types()[column])
    }

    /// Returns the test for two columns of texts, or for two whose values are stored in the same
    /// way.
    fn columns(&self, op: BinaryOp, (a, b): (usize, usize), collation: u16) -> Option<ColumnTest> {
        let form = |column: usize| {
            let ty = &self.layout.types()[column];
            (ty.code, ty.unsigned, if ty.is_integer() { 0 } else { ty.meta })
        };
        let wanted = match op {
            BinaryOp::Equal => [Ordering::Equal; 2],
            BinaryOp::NotEqual => [Ordering::Less, Ordering::Greater],
            BinaryOp::Less => [Ordering::Less; 2],
            BinaryOp::LessEqual => [Ordering::Less, Ordering::Equal],
            BinaryOp::Greater => [Ordering::Greater; 2],
            BinaryOp::GreaterEqual => [Ordering::Greater, Ordering::Equal],
            _ => return None,
        };
        if self.layout.is_plain_text(a) && self.layout.is_plain_text(b) {
            return Some(ColumnTest::text_column(a, collation, b, wanted));
        }
        if form(a) != form(b) {
            return None;
        }
        Some(ColumnTest::column(a, self.order(a)?, b, wanted))
    }

    /// Returns the test for a column that is compared with a value.
    fn compared(&self, column: usize, op: BinaryOp, value: &Value, collation: u16) -> Option<ColumnTest> {
        if let Some(text) = self.text(column, value) {
            let equal = match op {
                BinaryOp::Equal => true,
                BinaryOp::NotEqual => false,
                _ => return None,
            };
            return Some(ColumnTest::texts(column, collation, vec![text], equal));
        }
        let (order, at) = (self.order(column)?, self.position(column, value)?);
        let (least, most) = (i128::MIN, i128::MAX);
        Some(match op {
            BinaryOp::Equal => ColumnTest::range(column, order, first_from(at), at.floor),
            BinaryOp::NotEqual => ColumnTest::outside(column, order, first_from(at), at.floor),
            BinaryOp::Less => ColumnTest::range(column, order, least, first_from(at) - 1),
            BinaryOp::LessEqual => ColumnTest::range(column, order, least, at.floor),
            BinaryOp::Greater => ColumnTest::range(column, order, at.floor + 1, most),
            BinaryOp::GreaterEqual => ColumnTest::range(column, order, first_from(at), most),
            _ => return None,
        })
    }

    fn between(&self, column: usize, negated: bool, low: &Value, high: &Value) -> Option<ColumnTest> {
        let order = self.order(column)?;
        let (low, high) = (self.position(column, low)?, self.position(column, high)?);
        let range = if negated { ColumnTest::outside } else { ColumnTest::range };
        Some(range(column, order, first_from(low), high.floor))
    }

    fn one_of(
        &self,
        column: usize,
        negated: bool,
        values: &[Cow<'_, Value>],
        collation: u16,
    ) -> Option<ColumnTest> {
        let texts: Option<Vec<_>> = values.iter().map(|value| self.text(column, value)).collect();
        if let Some(texts) = texts.filter(|texts| !texts.is_empty()) {
            return Some(ColumnTest::texts(column, collation, texts, !negated));
        }
        if negated {
            return None;
        }
        let order = self.order(column)?;
        let positions: Option<Vec<_>> = values.iter().map(|value| self.position(column, value)).collect();
        // A value that lies between two numbers equals none, as one beyond all of them does.
        let numbers = positions?.into_iter().filter(|at| at.is_exact);
        let numbers = numbers.filter_map(|at| u64::try_from(at.floor).ok()).collect();
        Some(ColumnTest::one_of(column, order, numbers))
    }

    /// Returns the value's bytes, if the column is compared with them as they are stored.
    fn text(&self, column: usize, value: &Value) -> Option<Vec<u8>> {
        match value {
            Value::Bytes(text) if self.layout.is_plain_text(column) => Some(text.clone()),
            _ => None,
        }
    }

    /// Returns the place of a value among the numbers of the column. A text beside a date is one,
    /// if it can be read as one.
    fn position(&self, column: usize, value: &Value) -> Option<Position> {
        let ty = &self.layout.types()[column];
        match value {
            Value::Bytes(text) if matches!(ty.code, TypeCode::Date | TypeCode::Datetime2) => {
                position(ty, &Value::DateTime(parse::datetime(text)?.value))
            }
            value => position(ty, value),
        }
    }
}

/// Returns the least number whose value is not below the one at this position.
fn first_from(at: Position) -> i128 {
    at.floor + i128::from(!at.is_exact)
}
