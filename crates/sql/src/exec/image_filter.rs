//! Conditions on single columns that a reader decides on the rows' images, before it decodes them.
//!
//! In: the conditions of a step, and constants. Out: tests of an image ([`RowTest`]), and which of
//! the conditions they decide. A row that a test refuses is one for which its condition is not
//! true, so the loops never see it.
//!
//! The conditions are looked at in their order. Behind one that could raise a warning or an error
//! none becomes a test, because a test that comes first would keep the warning back.

use super::compared_columns::{Columns, constant};
use super::row_test::{RowTest, all_hold};
use super::zone_numbers::ZoneNumbers;
use crate::ast::BinaryOp;
use crate::error::Result;
use crate::expr::{Context, Expr, Node, Quantified};
use crate::plan::{Answered, TableStep};
use engine::Table;
use std::borrow::Cow;
use std::cmp::Ordering;
use types::column_test::{ColumnTest, MOST_PATTERN_BYTES, Part};
use types::order_number::{OrderNumber, Position, position};
use types::row::RowLayout;
use types::temporal::parse;
use types::{ColumnType, TypeCode, Value, collation};

/// The tests of a step's rows.
pub(super) struct ImageFilter {
    tests: Vec<RowTest>,
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
            match columns.row_test(condition, ctx)? {
                Some(test) => {
                    test.columns().for_each(|test| zone.test(test));
                    test.add_to(&mut filter.tests);
                    filter.answered = filter.answered.with(at);
                }
                None if is_quiet(condition) || zone.timestamp(&columns, condition, ctx)? => {}
                None => break,
            }
        }
        // Most rows are refused by the tests that cost least.
        filter.tests.sort_by_key(|test| !test.is_of_numbers());
        filter.zone = zone.bounds();
        if filter.tests.is_empty() && filter.zone.is_none() {
            return Ok(None);
        }
        filter.needed = needed_beside(step, filter.answered);
        Ok(Some(Box::new(filter)))
    }

    /// Reports whether a row passes all tests.
    #[inline]
    pub fn passes(&self, layout: &RowLayout, image: &[u8]) -> Result<bool> {
        Ok(all_hold(&self.tests, layout, image)?)
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
pub(super) fn is_quiet(condition: &Expr) -> bool {
    let [a, b] = match &condition.node {
        Node::Compare { operands, .. } => &**operands,
        Node::Like { operands, .. } => return operands.iter().all(is_part_of_text),
        Node::In { operand, list, .. } => {
            return is_part_of_text(operand) && list.iter().all(is_part_of_text);
        }
        Node::And(parts) | Node::Or(parts) => return parts.iter().all(is_quiet),
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

/// Reports whether the constants of a condition are there as they are, so that it makes no
/// difference whether they are looked at for all rows at once or for none.
fn has_plain_constants(condition: &Expr) -> bool {
    let mut is_plain = true;
    condition.visit(&mut |expr| {
        is_plain &= match &expr.node {
            Node::Slot(_) | Node::Constant(_) | Node::Parameter(_) | Node::Outer(_) => true,
            Node::Compare { .. } | Node::Between { .. } | Node::In { .. } | Node::Like { .. } => true,
            Node::And(_) | Node::Or(_) => true,
            Node::Call { .. } => is_part_of_text(expr),
            _ => false,
        }
    });
    is_plain
}

impl Columns<'_> {
    /// Returns the test that decides the condition, if there is one.
    fn row_test(&self, condition: &Expr, ctx: &Context<'_>) -> Result<Option<RowTest>> {
        let parts = match &condition.node {
            Node::And(parts) | Node::Or(parts) => parts,
            _ => return Ok(self.test(condition, ctx)?.map(RowTest::Column)),
        };
        if !has_plain_constants(condition) {
            return Ok(None);
        }
        let mut tests = Vec::with_capacity(parts.len());
        for part in parts {
            match (self.row_test(part, ctx)?, &condition.node) {
                (None, _) => return Ok(None),
                (Some(test), Node::And(_)) => test.add_to(&mut tests),
                (Some(test), _) => tests.push(test),
            }
        }
        let is_and = matches!(condition.node, Node::And(_));
        Ok(Some(if is_and { RowTest::All(tests) } else { RowTest::Any(tests) }))
    }

    /// Returns the test that decides a condition on one column, if there is one.
    fn test(&self, condition: &Expr, ctx: &Context<'_>) -> Result<Option<ColumnTest>> {
        match &condition.node {
            Node::Compare { op, operands, collation } => {
                let [a, b] = &**operands;
                if let (Some(a), Some(b)) = (self.column(a), self.column(b)) {
                    return Ok(self.columns(*op, (a, b), *collation));
                }
                if let (Some(part), BinaryOp::Equal | BinaryOp::NotEqual) = (self.part(a), op)
                    && let Some(value) = constant(b, ctx)?
                {
                    let equal = *op == BinaryOp::Equal;
                    return Ok(self.parts(part, &[value], (*collation, equal)));
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
                let (column, part) = (self.column(operand), self.part(operand));
                if column.is_none() && part.is_none() {
                    return Ok(None);
                }
                let mut values = Vec::with_capacity(list.len());
                for item in list {
                    let Some(value) = constant(item, ctx)? else { return Ok(None) };
                    values.push(value);
                }
                Ok(match (column, part) {
                    (Some(column), _) => self.one_of(column, *negated, &values, *collation),
                    (None, Some(part)) => self.parts(part, &values, (*collation, !*negated)),
                    (None, None) => None,
                })
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
            return Some(ColumnTest::texts(column, Part::Whole, collation, vec![text], equal));
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
            return Some(ColumnTest::texts(column, Part::Whole, collation, texts, !negated));
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

    /// Returns the column of texts and the part of it that an expression is.
    fn part(&self, expr: &Expr) -> Option<(usize, Part)> {
        let Node::Call { function, args } = &expr.node else { return None };
        let (column, numbers) = (self.column(args.first()?)?, &args[1..]);
        let number = |at: usize| match numbers.get(at).map(|number| &number.node) {
            None => Some(i64::MAX),
            Some(Node::Constant(Value::Int(number))) => Some(*number),
            Some(_) => None,
        };
        let (first, count) = match function.name {
            "left" => (0, number(0)?),
            // Positions count from 1, and those below it mean something else.
            "substring" => (number(0)?.checked_sub(1).filter(|first| *first >= 0)?, number(1)?),
            _ => return None,
        };
        let first = usize::try_from(first).ok()?;
        let count = usize::try_from(count.max(0)).ok()?;
        let ty = &self.layout.types()[column];
        let is_binary = ty.collation == collation::BINARY;
        let is_text = self.layout.is_short_text(column) && ty.code != TypeCode::Blob;
        let part = if is_binary { Part::Bytes { first, count } } else { Part::Characters { first, count } };
        is_text.then_some((column, part))
    }

    /// Returns the test for a part of a column of texts that is equal to one of some values, or to
    /// none of them.
    fn parts(
        &self,
        (column, part): (usize, Part),
        values: &[Cow<'_, Value>],
        (collation, equal): (u16, bool),
    ) -> Option<ColumnTest> {
        let texts: Option<Vec<_>> = values.iter().map(|value| self.text(column, value)).collect();
        Some(ColumnTest::texts(column, part, collation, texts.filter(|texts| !texts.is_empty())?, equal))
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
