//! Which partitions of a table can have rows that a statement wants, for EXPLAIN.
//!
//! As in MySQL, comparisons of the partitioning columns with constants say that. The conditions of
//! the partitions themselves decide where a constant belongs, so that there is one rule for the
//! place of a row. What is not understood leaves all partitions.

use super::compiled::compile;
use crate::bind::{Binder, Scope, ScopeTable};
use crate::ddl::{PartitionTexts, partition_texts};
use crate::expr::{Context, Expr, Node, truth};
use crate::plan::{Fact, Source, TableStep, constant_fact};
use crate::show::UsedPartitions;
use engine::{PartitionKind, Partitioning, Table};
use types::{ColumnType, DateTime, TypeCode, Value};

/// How many combinations of values are looked up at most.
const MOST_COMBINATIONS: usize = 1024;

/// The longest stretch of integers that MySQL looks up one by one for HASH and KEY, where the table
/// has fewer partitions.
const MOST_WALKED: i128 = 32;

/// Returns the partitions that a step of a plan reads. `None` means that its table has none.
/// `is_inner` says that no row of the statement has NULL in place of a row of the table.
pub(crate) fn used_partitions(step: &TableStep, is_inner: bool, ctx: &Context<'_>) -> Option<UsedPartitions> {
    let Source::Stored { table, .. } = &step.source else { return None };
    let partitioning = table.def.partitioning.as_ref()?;
    let names = names(partitioning);
    let pruning = Pruning::of(table, partitioning, step.base, ctx).filter(|_| is_inner);
    let conditions: Vec<&Expr> = step.conditions.iter().collect();
    let used = pruning.map_or_else(|| vec![true; names.len()], |pruning| pruning.used(&conditions));
    let names: Vec<String> =
        names.into_iter().zip(used).filter_map(|(name, used)| used.then_some(name)).collect();
    let is_impossible = names.is_empty() && partitioning.by.kind == PartitionKind::Range;
    Some(UsedPartitions { names, is_impossible })
}

/// Returns the names of all partitions as EXPLAIN shows them.
pub(super) fn names(partitioning: &Partitioning) -> Vec<String> {
    let of = |partition: &engine::Partition| match &partition.subpartitions[..] {
        [] => vec![partition.name.clone()],
        parts => parts.iter().map(|part| format!("{}_{}", partition.name, part.name)).collect(),
    };
    partitioning.partitions.iter().flat_map(of).collect()
}

/// One of the two functions that choose a row's partition and its subpartition.
struct Function {
    kind: PartitionKind,
    /// The condition for each of the places that it chooses from.
    conditions: Vec<Expr>,
    /// The columns that it depends on.
    columns: Vec<usize>,
}

/// What a partition by RANGE is compared by first: a column, or a function that grows with it.
struct Term {
    column: usize,
    /// `None` stands for the column itself.
    function: Option<&'static str>,
    /// For each partition, whether the term is less than its bound, and less or equal. `None` is
    /// for MAXVALUE.
    below: Vec<Option<[Expr; 2]>>,
    /// The day before a value of the column, which is a DATE.
    day_before: Option<Expr>,
}

pub(super) struct Pruning<'p> {
    table: &'p Table,
    base: usize,
    ctx: &'p Context<'p>,
    by: Function,
    /// `None` without subpartitions.
    sub: Option<Function>,
    /// For RANGE.
    term: Option<Term>,
    /// For RANGE, the conditions that a row is below the bound of each partition.
    below: Vec<Expr>,
    /// For LIST by one column, the column and the values of each partition. A partition without
    /// values takes all others.
    listed: Option<(usize, Vec<Vec<Value>>)>,
}

/// A set of places, by their numbers.
pub(super) type Places = Vec<bool>;

impl<'p> Pruning<'p> {
    /// Compiles what tells the partitions of a table apart. `None` where that is not known here.
    pub(super) fn of(
        table: &'p Table,
        by: &Partitioning,
        base: usize,
        ctx: &'p Context<'p>,
    ) -> Option<Pruning<'p>> {
        let PartitionTexts { partitions, subpartitions, below, first_term } =
            partition_texts(&table.def, by)?;
        let scope = Scope::of(ScopeTable::defined(&table.def));
        let mut binder = Binder::new(ctx.engine, ctx.host, ctx.variables, None, None);
        let mut compiled = |text: &str| compile(&mut binder, &scope, text, "the table's partitions").ok();
        let mut function = |kind: PartitionKind, texts: &[String]| {
            let conditions: Vec<Expr> = texts.iter().map(|text| compiled(text)).collect::<Option<_>>()?;
            let mut columns = Vec::new();
            conditions.iter().for_each(|condition| condition.slots(&mut columns));
            columns.sort_unstable();
            columns.dedup();
            Some(Function { kind, conditions, columns })
        };
        let main = function(by.by.kind, &partitions)?;
        let sub = match &by.sub {
            Some((sub, _)) => Some(function(sub.kind, &subpartitions)?),
            None => None,
        };
        let below = below.iter().map(|text| compiled(text)).collect::<Option<_>>()?;
        let term = match (by.by.kind, &first_term) {
            (PartitionKind::Range, Some(text)) => term_of(table, by, text, &mut compiled),
            _ => None,
        };
        let listed = match (by.by.kind, &first_term, &main.columns[..]) {
            (PartitionKind::List, Some(text), [column]) => {
                let is_column = matches!(compiled(text)?.node, Node::Slot(slot) if slot == *column);
                let ty = table.column_type(*column);
                let mut value = |text: &String| {
                    let value = compiled(text)?.eval(&[], ctx).ok()?.into_owned();
                    fitting(ty, value)
                };
                let all = by.partitions.iter().map(|partition| {
                    partition.values.iter().map(|tuple| value(tuple.first()?)).collect::<Option<Vec<_>>>()
                });
                let all: Option<Vec<_>> = all.collect();
                all.filter(|_| is_column).map(|all| (*column, all))
            }
            _ => None,
        };
        Some(Pruning { table, base, ctx, by: main, sub, term, below, listed })
    }

    /// Returns which partitions, or subpartitions, can have rows that meet all of these conditions.
    fn used(&self, conditions: &[&Expr]) -> Places {
        let mut conjuncts = Vec::new();
        conditions.iter().for_each(|condition| flatten(condition, &mut conjuncts));
        let facts: Vec<(usize, Fact<'_>)> = conjuncts
            .iter()
            .filter_map(|condition| constant_fact(self.table, self.base, condition))
            .collect();
        let mut by = self.places(&self.by, &facts);
        if let Some(term) = &self.term {
            for (column, fact) in &facts {
                if *column == term.column {
                    meet(&mut by, &self.places_of_range(term, fact));
                }
            }
        }
        if let Some((column, listed)) = &self.listed {
            meet(&mut by, &self.places_of_list((*column, listed), &conjuncts));
        }
        let sub = self.sub.as_ref().map(|sub| self.places(sub, &facts));
        let with_subs = |by: &Places| -> Places {
            match &sub {
                None => by.clone(),
                Some(sub) => by.iter().flat_map(|by| sub.iter().map(move |sub| *by && *sub)).collect(),
            }
        };
        let mut used = with_subs(&by);
        for condition in conjuncts {
            if let Some(places) = self.places_named(condition) {
                meet(&mut used, &with_subs(&places));
            } else if let Node::Or(branches) = &condition.node {
                let mut any = vec![false; used.len()];
                for branch in branches {
                    join(&mut any, &self.used(&[branch]));
                }
                meet(&mut used, &any);
            }
        }
        used
    }

    /// Returns the places that a condition names which PARTITION (...) has added: it is that of a
    /// partition, or a part of it.
    fn places_named(&self, condition: &Expr) -> Option<Places> {
        if self.base != 0 {
            return None;
        }
        let count = self.by.conditions.len();
        if let Some(only) = self.by.conditions.iter().position(|own| own.node == condition.node) {
            return Some((0..count).map(|at| at == only).collect());
        }
        let (below, is_not) = match &condition.node {
            Node::Not(below) => (&below.node, true),
            node => (node, false),
        };
        let bound = self.below.iter().position(|own| own.node == *below)?;
        Some((0..count).map(|at| (at > bound) == is_not).collect())
    }

    /// Returns the places for which the facts leave values of all columns of a function. They are
    /// all where some column may have any value.
    fn places(&self, function: &Function, facts: &[(usize, Fact<'_>)]) -> Places {
        let count = function.conditions.len();
        let all = vec![true; count];
        let is_walked = matches!(function.kind, PartitionKind::Hash | PartitionKind::Key);
        let values = |column: &usize| self.values(*column, facts, is_walked.then_some(count));
        let Some(values) = function.columns.iter().map(values).collect::<Option<Vec<_>>>() else {
            return all;
        };
        let combinations = values.iter().map(Vec::len).try_fold(1_usize, usize::checked_mul);
        let Some(combinations) = combinations.filter(|number| *number <= MOST_COMBINATIONS) else {
            return all;
        };
        let mut places = vec![false; count];
        for number in 0..combinations {
            let (mut row, mut rest) = (self.row(), number);
            for (column, values) in function.columns.iter().zip(&values) {
                row[*column] = values[rest % values.len()].clone();
                rest /= values.len();
            }
            match self.place_of(function, &row) {
                Some(found) => join(&mut places, &found),
                None => return all,
            }
        }
        places
    }

    fn row(&self) -> Vec<Value> {
        Value::nulls(self.table.def.columns.len())
    }

    /// Reports whether a condition holds for a row. `None` where it cannot be decided.
    fn holds(&self, condition: &Expr, row: &[Value]) -> Option<bool> {
        self.ctx.forget_made();
        let value = condition.eval(row, self.ctx).ok()?;
        Some(truth(&value, self.ctx) == Some(true))
    }

    /// Returns the columns that decide in which partition a row is.
    pub(super) fn columns(&self) -> Vec<usize> {
        let of_sub = self.sub.iter().flat_map(|sub| &sub.columns);
        let mut columns: Vec<usize> = self.by.columns.iter().chain(of_sub).copied().collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// Returns the partition, or the subpartition, of a row of which the deciding columns are
    /// known. `None` where that cannot be decided.
    pub(super) fn place_of_row(&self, row: &[Value]) -> Option<Places> {
        let by = self.place_of(&self.by, row)?;
        let Some(sub) = &self.sub else { return Some(by) };
        let sub = self.place_of(sub, row)?;
        Some(by.iter().flat_map(|by| sub.iter().map(move |sub| *by && *sub)).collect())
    }

    fn place_of(&self, function: &Function, row: &[Value]) -> Option<Places> {
        function.conditions.iter().map(|condition| self.holds(condition, row)).collect()
    }

    /// Returns the value of a constant as one of a column. `None` where it is of another type.
    fn constant(&self, column: usize, expr: &Expr) -> Option<Value> {
        fitting(self.table.column_type(column), self.constant_of_any_type(expr)?)
    }

    pub(super) fn constant_of_any_type(&self, expr: &Expr) -> Option<Value> {
        let mut is_simple = true;
        expr.visit(&mut |expr| {
            is_simple &= matches!(
                expr.node,
                Node::Constant(_) | Node::HexLiteral(..) | Node::Negate(_) | Node::Arithmetic { .. }
            );
        });
        is_simple.then(|| expr.eval(&[], self.ctx).ok()).flatten().map(|value| value.into_owned())
    }

    /// Returns the values that the facts leave to a column. `None` means that there are too many,
    /// or that they are not known. With `walked`, a short stretch of integers is such values; it is
    /// the number of places.
    fn values(
        &self,
        column: usize,
        facts: &[(usize, Fact<'_>)],
        walked: Option<usize>,
    ) -> Option<Vec<Value>> {
        let own = || facts.iter().filter(|(of, _)| *of == column).map(|(_, fact)| fact);
        for fact in own() {
            match fact {
                Fact::Equal(value, null_safe) => {
                    let value = self.constant(column, value)?;
                    // Nothing equals NULL.
                    return Some(if value.is_null() && !null_safe { Vec::new() } else { vec![value] });
                }
                Fact::List(list) => {
                    let values: Vec<Value> =
                        list.iter().map(|value| self.constant(column, value)).collect::<Option<_>>()?;
                    return Some(values.into_iter().filter(|value| !value.is_null()).collect());
                }
                _ => {}
            }
        }
        let most = MOST_WALKED.max(walked? as i128);
        if !self.table.column_type(column).is_integer() {
            return None;
        }
        let (mut low, mut high) = (None, None);
        for fact in own() {
            let (of_low, of_high) = ends(fact);
            let bound = |end: Option<(&Expr, bool)>, is_low| {
                let (value, inclusive) = end?;
                integer_bound(&self.constant_of_any_type(value)?, is_low, inclusive)
            };
            low = low.max(bound(of_low, true));
            high = match (high, bound(of_high, false)) {
                (Some(one), Some(other)) => Some(i128::min(one, other)),
                (one, other) => one.or(other),
            };
        }
        let (low, high) = (low?, high?);
        (high - low < most).then(|| (low..=high).map(integer).collect::<Option<_>>()).flatten()
    }

    /// Returns the partitions by RANGE that a fact about their first term leaves.
    fn places_of_range(&self, term: &Term, fact: &Fact<'_>) -> Places {
        let all = vec![true; self.by.conditions.len()];
        let of_value = |value: &Expr| {
            let end = Some((value, true));
            self.stretch(term, (end, end)).unwrap_or_else(|| all.clone())
        };
        match fact {
            Fact::Equal(value, _) => of_value(value),
            Fact::List(list) => {
                let mut places = vec![false; all.len()];
                list.iter().for_each(|value| join(&mut places, &of_value(value)));
                places
            }
            _ => match (ends(fact), self.stretch(term, ends(fact))) {
                ((Some(_), _), Some(mut places)) if term.gives_null() => {
                    // As in MySQL: of dates that are none, these functions are NULL.
                    places[0] = true;
                    places
                }
                (_, places) => places.unwrap_or(all),
            },
        }
    }

    /// Returns the partitions between two ends. `None` where an end is not understood.
    fn stretch(&self, term: &Term, (low, high): (Option<End<'_>>, Option<End<'_>>)) -> Option<Places> {
        let count = self.by.conditions.len();
        let is_integer = self.table.column_type(term.column).is_integer();
        let end = |(value, inclusive): (&Expr, bool), is_low: bool| -> Option<(Vec<Value>, bool)> {
            let value = self.constant_of_any_type(value)?;
            let mut row = self.row();
            if is_integer && !value.is_null() {
                row[term.column] = integer(integer_bound(&value, is_low, inclusive)?)?;
                return Some((row, true));
            }
            row[term.column] = fitting(self.table.column_type(term.column), value)?;
            match &term.day_before {
                Some(day_before) if !inclusive && !is_low => {
                    row[term.column] = day_before.eval(&row, self.ctx).ok()?.into_owned();
                    Some((row, true))
                }
                _ => Some((row, inclusive || term.function.is_some())),
            }
        };
        let first = match low {
            None => 0,
            Some(low) => {
                let (row, inclusive) = end(low, true)?;
                match inclusive {
                    true => self.place_of(&self.by, &row)?.into_iter().position(|is_its| is_its),
                    false => self.first_above(term, &row, true)?,
                }
                .unwrap_or(count)
            }
        };
        let last = match high {
            None => count - 1,
            Some(high) => {
                let (row, inclusive) = end(high, false)?;
                self.first_above(term, &row, inclusive)?.unwrap_or(count - 1)
            }
        };
        Some((0..count).map(|at| (first..=last).contains(&at)).collect())
    }

    /// Returns the first partition whose bound is above the first term of a row, or with
    /// `is_strict` false equal to it. The inner `None` means that there is no such partition.
    fn first_above(&self, term: &Term, row: &[Value], is_strict: bool) -> Option<Option<usize>> {
        if row[term.column].is_null() {
            return Some(Some(0));
        }
        for (at, below) in term.below.iter().enumerate() {
            let is_below = match below {
                None => true,
                Some([less, less_or_equal]) => {
                    self.holds(if is_strict { less } else { less_or_equal }, row)?
                }
            };
            if is_below {
                return Some(Some(at));
            }
        }
        Some(None)
    }

    /// Returns the partitions by LIST of which some value meets the conditions on the column alone.
    fn places_of_list(&self, (column, listed): (usize, &[Vec<Value>]), conjuncts: &[&Expr]) -> Places {
        let own: Vec<&Expr> = conjuncts
            .iter()
            .copied()
            .filter(|condition| {
                let fact = constant_fact(self.table, self.base, condition);
                fact.is_some_and(|(of, fact)| of == column && self.is_understood(&fact))
            })
            .collect();
        let mut row = Value::nulls(self.base + self.table.def.columns.len());
        let mut may_be = |value: &Value| {
            row[self.base + column] = value.clone();
            own.iter().all(|condition| self.holds(condition, &row) != Some(false))
        };
        listed.iter().map(|values| values.is_empty() || values.iter().any(&mut may_be)).collect()
    }

    /// Reports whether the values of a fact are constants that can be computed now.
    fn is_understood(&self, fact: &Fact<'_>) -> bool {
        let is_constant = |expr: &Expr| self.constant_of_any_type(expr).is_some();
        match fact {
            Fact::Equal(value, _) => is_constant(value),
            Fact::List(list) => list.iter().all(is_constant),
            fact => {
                let (low, high) = ends(fact);
                let all = [low, high];
                all.iter().any(Option::is_some) && all.iter().flatten().all(|(value, _)| is_constant(value))
            }
        }
    }
}

impl Term {
    /// Reports whether the function is NULL of dates that are none.
    fn gives_null(&self) -> bool {
        self.function.is_some_and(|name| name != "YEAR" && name != "UNIX_TIMESTAMP")
    }
}

/// Compiles the first term of a partitioning by RANGE. `None` where it is neither a column nor a
/// function that grows with one.
fn term_of(
    table: &Table,
    by: &Partitioning,
    text: &str,
    compiled: &mut impl FnMut(&str) -> Option<Expr>,
) -> Option<Term> {
    const GROWING: [&str; 4] = ["YEAR", "TO_DAYS", "TO_SECONDS", "UNIX_TIMESTAMP"];
    let (column, function) = match &compiled(text)?.node {
        Node::Slot(column) => (*column, None),
        Node::Call { function, args } => {
            let name = GROWING.into_iter().find(|name| name.eq_ignore_ascii_case(function.name))?;
            match &args[..] {
                [only] => match only.node {
                    Node::Slot(column) => (column, Some(name)),
                    _ => return None,
                },
                _ => return None,
            }
        }
        _ => return None,
    };
    let bound = |partition: &engine::Partition| partition.values.first()?.first().cloned();
    let mut below = Vec::new();
    for partition in &by.partitions {
        let bound = bound(partition)?;
        below.push(match bound.as_str() {
            "MAXVALUE" => None,
            bound => {
                Some([compiled(&format!("{text} < {bound}"))?, compiled(&format!("{text} <= {bound}"))?])
            }
        });
    }
    let is_date = table.column_type(column).code == TypeCode::Date;
    let day_before = match function {
        Some(_) if is_date => {
            let name = crate::quoting::quoted(&table.def.columns[column].name);
            Some(compiled(&format!("CAST({name} - INTERVAL 1 DAY AS DATE)"))?)
        }
        _ => None,
    };
    Some(Term { column, function, below, day_before })
}

/// An end of a range, and whether it is in the range.
type End<'e> = (&'e Expr, bool);

/// Returns the ends of the range that a fact leaves.
fn ends<'e>(fact: &Fact<'e>) -> (Option<End<'e>>, Option<End<'e>>) {
    match fact {
        Fact::Low(value, inclusive) => (Some((value, *inclusive)), None),
        Fact::High(value, inclusive) => (None, Some((value, *inclusive))),
        Fact::Both(low, high) => (Some((low, true)), Some((high, true))),
        _ => (None, None),
    }
}

/// Adds the operands of an AND, and those of the ANDs within it.
fn flatten<'e>(condition: &'e Expr, into: &mut Vec<&'e Expr>) {
    match &condition.node {
        Node::And(operands) => operands.iter().for_each(|operand| flatten(operand, into)),
        _ => into.push(condition),
    }
}

fn meet(places: &mut Places, other: &Places) {
    places.iter_mut().zip(other).for_each(|(place, other)| *place &= other);
}

pub(super) fn join(places: &mut Places, other: &Places) {
    places.iter_mut().zip(other).for_each(|(place, other)| *place |= other);
}

/// Returns a value as one of a column of this type. `None` where it is of another type.
fn fitting(ty: &ColumnType, value: Value) -> Option<Value> {
    // A date beside a date and time is compared as one at midnight.
    let value = match (value, ty.code) {
        (Value::DateTime(at), TypeCode::Date) if at == DateTime::midnight(at.date) => Value::Date(at.date),
        (Value::Date(date), TypeCode::Datetime2) => Value::DateTime(DateTime::midnight(date)),
        (value, _) => value,
    };
    let fits = match (&value, ty.code) {
        (Value::Null, _) => true,
        (Value::Int(_) | Value::UInt(_), _) => ty.is_integer(),
        (Value::Bytes(_), TypeCode::Varchar | TypeCode::String | TypeCode::Blob) => true,
        (Value::Date(_), TypeCode::Date) => true,
        (Value::DateTime(_), TypeCode::Datetime2) => true,
        (Value::Timestamp { .. }, TypeCode::Timestamp2) => true,
        _ => false,
    };
    fits.then_some(value)
}

/// Returns the least or the greatest integer that an end of a range leaves.
fn integer_bound(value: &Value, is_low: bool, inclusive: bool) -> Option<i128> {
    let whole = match value {
        Value::Int(value) => i128::from(*value),
        Value::UInt(value) => i128::from(*value),
        Value::Decimal(_) | Value::Double(_) => {
            let value: f64 = match value {
                Value::Double(value) => *value,
                Value::Decimal(value) => value.to_string().parse().ok()?,
                _ => return None,
            };
            if value.is_nan() || value.abs() > 1e15 {
                return None;
            }
            // Between two integers, the end itself does not count.
            let is_whole = value.fract() == 0.0;
            let toward = if is_low { value.ceil() } else { value.floor() };
            return Some(match is_whole && !inclusive {
                true if is_low => toward as i128 + 1,
                true => toward as i128 - 1,
                false => toward as i128,
            });
        }
        _ => return None,
    };
    Some(match (inclusive, is_low) {
        (true, _) => whole,
        (false, true) => whole + 1,
        (false, false) => whole - 1,
    })
}

fn integer(value: i128) -> Option<Value> {
    match i64::try_from(value) {
        Ok(value) => Some(Value::Int(value)),
        Err(_) => u64::try_from(value).ok().map(Value::UInt),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_leaves_the_next_integer() {
        let low = |value: &Value, inclusive| integer_bound(value, true, inclusive);
        let high = |value: &Value, inclusive| integer_bound(value, false, inclusive);
        assert_eq!((low(&Value::Int(9), false), high(&Value::Int(9), false)), (Some(10), Some(8)));
        assert_eq!((low(&Value::Int(9), true), high(&Value::UInt(9), true)), (Some(9), Some(9)));
        assert_eq!((low(&Value::Double(9.5), false), high(&Value::Double(9.5), false)), (Some(10), Some(9)));
        assert_eq!(
            (low(&Value::Double(9.0), false), high(&Value::Double(-9.0), false)),
            (Some(10), Some(-10))
        );
        assert_eq!(low(&Value::Null, true), None);
        assert_eq!(integer(i128::from(u64::MAX)), Some(Value::UInt(u64::MAX)));
        assert_eq!(integer(i128::from(u64::MAX) + 1), None);
    }
}
