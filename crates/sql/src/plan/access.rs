//! Access paths: the index that is read, and the ranges of it.
//!
//! [`choose`] decides by rules, not by statistics: a full unique key is best (of two with as many
//! columns, the primary key), then the index with the most leading columns fixed by equality, then
//! by a list, then by a range. An index that delivers the wanted order breaks ties, and is read for
//! its order alone if there is a LIMIT. [`accesses`] returns all access paths for a choice by cost.

mod arrays;
mod boxes;

use super::index_use::{IndexUse, Usables};
use super::padding::is_padded;
use crate::ast::BinaryOp;
use crate::error::Result;
use crate::expr::{Expr, MayEqual, Node};
use engine::{Direction, IndexRef, Table};
use types::{TypeCode, Value};

/// Conditions on the leading columns of an index: equalities on the first ones, then at most one
/// list or range.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct KeyCondition {
    /// The values of the equalities, each with whether NULL equals NULL (`<=>`, IS NULL).
    pub equals: Vec<(Expr, bool)>,
    /// The values of an IN on the column after those of the equalities.
    pub list: Option<Vec<Expr>>,
    /// The lower bound, with whether the bound itself is in the range. `high` is the upper one.
    pub low: Option<(Expr, bool)>,
    pub high: Option<(Expr, bool)>,
    /// If the value of an equality is NULL, all entries of the index are wanted.
    pub null_takes_all: bool,
    /// A full-text search, which finds the rows by itself.
    pub search: Option<Expr>,
    /// The geometry whose box the boxes of the wanted rows' geometries meet.
    pub near: Option<Expr>,
}

impl KeyCondition {
    /// Returns the expressions of all values.
    pub fn values(&self) -> impl Iterator<Item = &Expr> {
        let bounds = self.low.iter().chain(&self.high);
        let equals = self.equals.iter().chain(bounds).map(|(value, _)| value);
        equals.chain(self.list.iter().flatten()).chain(&self.search).chain(&self.near)
    }
}

/// An access path: how a stored table is read.
#[derive(Debug, Clone)]
pub(crate) struct Access {
    pub index: IndexRef,
    /// The ranges to read. Empty: the whole index.
    pub alternatives: Vec<KeyCondition>,
    /// There is one alternative, and it fixes the whole primary key.
    pub is_point: bool,
    pub direction: Direction,
    /// The rows come in the wanted order.
    pub ordered: bool,
}

impl Access {
    /// Reads all rows in the order of the clustered tree.
    pub fn all() -> Access {
        Access {
            index: IndexRef::Primary,
            alternatives: Vec::new(),
            is_point: false,
            direction: Direction::Forward,
            ordered: false,
        }
    }

    /// Reports whether every row that the access reads meets the condition, if all values of the
    /// access on integer columns are integers or NULL. It is said of comparisons of the primary
    /// key's integer columns with values that stay the same, because such a column's keys are in
    /// the order of its numbers, and a row's primary key is the same in all its versions.
    pub fn answers(&self, table: &Table, base: usize, condition: &Expr) -> bool {
        let ([key], IndexRef::Primary) = (&self.alternatives[..], self.index) else { return false };
        if key.list.is_some() || key.null_takes_all {
            return false;
        }
        let known = Known { table, base, is_known: &|_| true, pads_chars: false };
        let Some((column, fact)) = known.fact(condition) else { return false };
        if !table.column_type(column).is_integer() {
            return false;
        }
        let is = |own: &Expr, value: &Expr| {
            let stays =
                matches!(value.node, Node::Constant(_) | Node::Parameter(_) | Node::Outer(_) | Node::Slot(_));
            stays && own.node == value.node
        };
        let is_bound = |own: &Option<(Expr, bool)>, value: &Expr, inclusive: bool| {
            own.as_ref().is_some_and(|(own, includes)| *includes == inclusive && is(own, value))
        };
        let parts = table.index_columns(self.index);
        let is_ranges = parts.get(key.equals.len()).is_some_and(|part| part.column == column);
        match fact {
            Fact::Equal(value, false) => (key.equals.iter().zip(parts))
                .any(|((own, null_safe), part)| part.column == column && !null_safe && is(own, value)),
            Fact::Low(value, inclusive) => is_ranges && is_bound(&key.low, value, inclusive),
            Fact::High(value, inclusive) => is_ranges && is_bound(&key.high, value, inclusive),
            Fact::Both(low, high) => {
                is_ranges && is_bound(&key.low, low, true) && is_bound(&key.high, high, true)
            }
            _ => false,
        }
    }
}

/// Which of a step's conditions need not be decided: a bit for each of the first 64.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Answered(u64);

impl Answered {
    /// All conditions have to be decided.
    pub const NONE: Answered = Answered(0);

    /// Asks for each condition whether it is answered.
    pub fn of(conditions: &[Expr], is_answered: impl Fn(&Expr) -> bool) -> Answered {
        let bit = |(at, condition): (usize, &Expr)| u64::from(is_answered(condition)) << at;
        Answered(conditions.iter().take(64).enumerate().map(bit).sum())
    }

    /// Returns these and the condition at a place. Only the first 64 can be answered.
    pub fn with(self, at: usize) -> Answered {
        Answered(if at < 64 { self.0 | 1 << at } else { self.0 })
    }

    /// Returns which ones need not be decided once another condition comes before them.
    pub fn behind_another(self) -> Answered {
        Answered(self.0 << 1)
    }

    /// Reports whether the condition at this place need not be decided.
    #[inline]
    pub fn has(self, at: usize) -> bool {
        at < 64 && self.0 >> at & 1 == 1
    }
}

/// The order in which a statement wants its rows: columns of the table, each with whether it
/// descends, and whether a LIMIT stops the statement early.
#[derive(Debug, Default)]
pub(crate) struct Wish {
    pub order: Vec<(usize, bool)>,
    pub has_limit: bool,
    /// All columns that the statement needs, if they are known before the access is chosen.
    pub needed: Option<Vec<usize>>,
}

/// Splits a condition into the operands of its AND.
pub(crate) fn conjuncts(condition: Expr, into: &mut Vec<Expr>) {
    match condition.node {
        Node::And(operands) => operands.into_iter().for_each(|operand| conjuncts(operand, into)),
        // As a condition, `x'FF'` is a number.
        _ => into.push(condition.choice_as_number().numeric()),
    }
}

/// A condition on one column that an index can serve.
pub(crate) enum Fact<'e> {
    Equal(&'e Expr, bool),
    List(&'e [Expr]),
    Low(&'e Expr, bool),
    High(&'e Expr, bool),
    Both(&'e Expr, &'e Expr),
    /// An element of the array of a multi-valued index.
    Element(&'e Expr),
    /// Elements of such an array, one of which at least it has.
    Elements(Vec<Expr>),
}

/// Returns the column of a table that a condition compares with constants, and how.
pub(crate) fn constant_fact<'e>(
    table: &Table,
    base: usize,
    condition: &'e Expr,
) -> Option<(usize, Fact<'e>)> {
    Known { table, base, is_known: &|_| false, pads_chars: false }.fact(condition)
}

/// The table to be read: its slots, and the slots whose values are known when it is read.
struct Known<'t> {
    table: &'t Table,
    base: usize,
    is_known: &'t dyn Fn(usize) -> bool,
    /// CHAR columns are read with spaces that the entries of indexes do not have.
    pads_chars: bool,
}

impl Known<'_> {
    /// Returns the position of the table's column that an expression is. `None` for other
    /// expressions.
    fn column(&self, expr: &Expr) -> Option<usize> {
        match expr.node {
            Node::Slot(slot) if (self.base..self.base + self.table.columns()).contains(&slot) => {
                Some(slot - self.base)
            }
            _ => None,
        }
    }

    /// Reports whether the expression can be computed before the table is read.
    fn is_computable(&self, expr: &Expr) -> bool {
        let mut slots = Vec::new();
        expr.slots(&mut slots);
        let mut varies = false;
        expr.visit(&mut |expr| {
            varies |= matches!(&expr.node, Node::Call { function, .. } if function.varies)
                || matches!(&expr.node, Node::Stored { function, .. } if !function.deterministic)
                || matches!(expr.node, Node::AssignVariable(..) | Node::InsertedValue(_));
        });
        !varies && slots.into_iter().all(self.is_known)
    }

    /// Reports whether values of `expr` can be looked up in the order of the column.
    fn fits(&self, column: usize, expr: &Expr, collation: u16) -> bool {
        let ty = self.table.column_type(column);
        if self.pads_chars && is_padded(ty) {
            return false;
        }
        let is_text = |code: TypeCode| matches!(code, TypeCode::Varchar | TypeCode::String | TypeCode::Blob);
        if is_text(ty.code) {
            // The type of a parameter is known only when the statement runs, and is checked then.
            let is_parameter = matches!(expr.node, Node::Parameter(_) | Node::UserVariable(_));
            return ty.collation == collation && (is_text(expr.ty.code) || is_parameter);
        }
        ty.is_integer()
            || matches!(
                ty.code,
                TypeCode::NewDecimal
                    | TypeCode::Double
                    | TypeCode::Date
                    | TypeCode::Datetime2
                    | TypeCode::Timestamp2
                    | TypeCode::Time2
                    | TypeCode::Year
            )
    }

    /// Returns the column that a conjunct restricts, and how.
    fn fact<'e>(&self, condition: &'e Expr) -> Option<(usize, Fact<'e>)> {
        match &condition.node {
            Node::Compare { op, operands, collation } => {
                let [left, right] = &**operands;
                let (column, value, op) = match (self.column(left), self.column(right)) {
                    (Some(column), _) if self.is_computable(right) => (column, right, *op),
                    (_, Some(column)) if self.is_computable(left) => (column, left, flipped(*op)),
                    _ => return None,
                };
                if !self.fits(column, value, *collation) {
                    return None;
                }
                let fact = match op {
                    BinaryOp::Equal => Fact::Equal(value, false),
                    BinaryOp::NullSafeEqual => Fact::Equal(value, true),
                    BinaryOp::Less => Fact::High(value, false),
                    BinaryOp::LessEqual => Fact::High(value, true),
                    BinaryOp::Greater => Fact::Low(value, false),
                    BinaryOp::GreaterEqual => Fact::Low(value, true),
                    _ => return None,
                };
                Some((column, fact))
            }
            Node::Between { negated: false, operands, collation } => {
                let [operand, low, high] = &**operands;
                let column = self.column(operand)?;
                let usable = self.is_computable(low)
                    && self.is_computable(high)
                    && self.fits(column, low, *collation)
                    && self.fits(column, high, *collation);
                usable.then_some((column, Fact::Both(low, high)))
            }
            Node::In { negated: false, operand, list, collation } => {
                let column = self.column(operand)?;
                let usable =
                    list.iter().all(|item| self.is_computable(item) && self.fits(column, item, *collation));
                usable.then_some((column, Fact::List(list)))
            }
            Node::Call { function, args } => self.of_array(function.name, args),
            Node::IsNull { negated: false, operand } => {
                let column = self.column(operand)?;
                Some((column, Fact::Equal(null_constant(), true)))
            }
            _ => None,
        }
    }

    /// Returns the full-text search of the table that all rows are found by which meet the
    /// conjuncts.
    fn search<'e>(&self, conjuncts: &'e [Expr]) -> Option<&'e Expr> {
        let is_own = |found: &&Expr| match &found.node {
            Node::Match(searched) => {
                let against = searched.operands.last();
                searched.columns().iter().all(|column| self.column(column).is_some())
                    && against.is_some_and(|against| self.is_computable(against))
            }
            _ => false,
        };
        conjuncts.iter().filter_map(needed_search).find(is_own)
    }

    /// Returns the ranges to which the conjuncts restrict the leading columns of an index. Empty if
    /// no conjunct restricts the first column.
    fn conditions(&self, index: IndexRef, conjuncts: &[Expr]) -> Vec<KeyCondition> {
        match self.table.array_part(index) {
            Some(part) => self.conditions_of_array(index, part, conjuncts),
            None if self.table.is_multi_valued(index) => self.near(index, conjuncts).into_iter().collect(),
            None => self.conditions_of(index, conjuncts),
        }
    }

    fn conditions_of(&self, index: IndexRef, conjuncts: &[Expr]) -> Vec<KeyCondition> {
        let facts: Vec<(usize, Fact<'_>)> =
            conjuncts.iter().filter_map(|conjunct| self.fact(conjunct)).collect();
        let mut condition = KeyCondition::default();
        for part in self.table.index_columns(index) {
            let of_part = || facts.iter().filter(|(column, _)| *column == part.column).map(|(_, fact)| fact);
            if let Some((value, null_safe)) = of_part().find_map(|fact| match fact {
                Fact::Equal(value, null_safe) => Some((*value, *null_safe)),
                Fact::List([only]) => Some((only, false)),
                Fact::Element(element) => Some((*element, false)),
                _ => None,
            }) {
                condition.equals.push((value.clone(), null_safe));
                continue;
            }
            if let Some(list) = of_part().find_map(|fact| match fact {
                Fact::List(list) => Some(*list),
                Fact::Elements(elements) => Some(&elements[..]),
                _ => None,
            }) {
                condition.list = Some(list.to_vec());
                break;
            }
            for fact in of_part() {
                let (low, high) = match fact {
                    Fact::Low(value, inclusive) => (Some((*value, *inclusive)), None),
                    Fact::High(value, inclusive) => (None, Some((*value, *inclusive))),
                    Fact::Both(low, high) => (Some((*low, true)), Some((*high, true))),
                    _ => (None, None),
                };
                condition.low = condition.low.or(low.map(|(value, inclusive)| (value.clone(), inclusive)));
                condition.high = condition.high.or(high.map(|(value, inclusive)| (value.clone(), inclusive)));
            }
            break;
        }
        if !condition.is_empty() {
            return vec![condition];
        }
        self.or_conditions(index, conjuncts)
    }

    /// Returns one range for each branch of an OR if all branches restrict the index's first
    /// column.
    fn or_conditions(&self, index: IndexRef, conjuncts_of: &[Expr]) -> Vec<KeyCondition> {
        const MOST: usize = 10_000;
        for conjunct in conjuncts_of {
            if let Node::MayEqual(equal) = &conjunct.node
                && let Some(alternatives) = self.may_equal(index, equal)
            {
                return alternatives;
            }
            let Node::Or(branches) = &conjunct.node else { continue };
            let mut alternatives = Vec::with_capacity(branches.len());
            for branch in branches {
                let mut parts = Vec::new();
                conjuncts(branch.clone(), &mut parts);
                let mut of_branch = self.conditions(index, &parts);
                if of_branch.is_empty() || alternatives.len() > MOST {
                    alternatives.clear();
                    break;
                }
                alternatives.append(&mut of_branch);
            }
            if !alternatives.is_empty() {
                return alternatives;
            }
        }
        Vec::new()
    }

    /// Returns the ranges of the entries that equal a value or are NULL. If the value is NULL, they
    /// are all entries.
    fn may_equal(&self, index: IndexRef, equal: &MayEqual) -> Option<Vec<KeyCondition>> {
        let [column, value] = &equal.operands;
        let at = self.column(column)?;
        let is_first = self.table.index_columns(index).first().is_some_and(|part| part.column == at);
        if !is_first || !self.is_computable(value) || !self.fits(at, value, equal.collation) {
            return None;
        }
        let one = |value: &Expr, null_safe: bool, null_takes_all: bool| KeyCondition {
            equals: vec![(value.clone(), null_safe)],
            null_takes_all,
            ..KeyCondition::default()
        };
        let mut alternatives = vec![one(value, false, true)];
        if self.table.def.columns[at].nullable {
            alternatives.push(one(null_constant(), true, false));
        }
        Some(alternatives)
    }

    /// Returns the direction in which the index delivers the wanted order after the columns of the
    /// equalities. `None` if it does not deliver it.
    fn order(&self, index: IndexRef, alternatives: &[KeyCondition], wish: &Wish) -> Option<Direction> {
        let first = wish.order.first()?;
        if self.table.is_multi_valued(index) {
            return None;
        }
        let fixed = match alternatives {
            [] => 0,
            [one] => one.equals.len(),
            // Several ranges are read in key order, which is the order of the first column.
            _ => 0,
        };
        let parts = self.table.index_columns(index);
        let rest = parts.get(fixed..)?;
        // The columns of the primary key that a secondary index ends with are not used for the
        // order.
        if wish.order.len() > rest.len() || parts.iter().any(|part| part.prefix.is_some()) {
            return None;
        }
        let same = wish
            .order
            .iter()
            .zip(rest)
            .all(|((column, descending), part)| *column == part.column && *descending == first.1);
        same.then_some(if first.1 { Direction::Backward } else { Direction::Forward })
    }
}

/// Returns the full-text search that finds each row which meets a condition. The relevance of a row
/// that it does not find is 0.
fn needed_search(condition: &Expr) -> Option<&Expr> {
    let is_search = |expr: &Expr| matches!(expr.node, Node::Match(_));
    let Node::Compare { op, operands, .. } = &condition.node else {
        return Some(condition).filter(|condition| is_search(condition));
    };
    let (search, least, op) = match &**operands {
        [search, least] if is_search(search) => (search, least, *op),
        [least, search] if is_search(search) => (search, least, flipped(*op)),
        _ => return None,
    };
    let Node::Constant(least) = &least.node else { return None };
    let least = least.to_f64();
    let leaves_zero_out = match op {
        BinaryOp::Greater => least >= 0.0,
        BinaryOp::GreaterEqual => least > 0.0,
        _ => false,
    };
    leaves_zero_out.then_some(search)
}

fn null_constant() -> &'static Expr {
    static NULL: std::sync::OnceLock<Expr> = std::sync::OnceLock::new();
    NULL.get_or_init(|| Expr::constant(Value::Null))
}

fn flipped(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Less => BinaryOp::Greater,
        BinaryOp::LessEqual => BinaryOp::GreaterEqual,
        BinaryOp::Greater => BinaryOp::Less,
        BinaryOp::GreaterEqual => BinaryOp::LessEqual,
        op => op,
    }
}

impl KeyCondition {
    pub fn is_empty(&self) -> bool {
        self.equals.is_empty()
            && self.list.is_none()
            && self.low.is_none()
            && self.high.is_none()
            && self.search.is_none()
            && self.near.is_none()
    }

    /// Reports whether the condition restricts the part at this position to some values.
    fn restricts(&self, part: usize) -> bool {
        self.equals.len() > part || self.equals.len() == part && self.list.is_some()
    }

    /// Reports whether the condition gives each of so many parts a value that is not NULL. Where
    /// the index is unique, at most one entry has these values.
    pub fn fixes(&self, parts: usize) -> bool {
        self.equals.len() == parts
            && self.equals.iter().all(|(value, _)| !matches!(value.node, Node::Constant(Value::Null)))
    }

    /// Returns how far the condition narrows the index, for the choice by rules.
    fn weight(&self) -> u32 {
        let range = match (&self.low, &self.high) {
            (Some(_), Some(_)) => 6,
            (None, None) => 0,
            _ => 3,
        };
        let found = if self.near.is_some() { 10 } else { 0 };
        self.equals.len() as u32 * 10 + if self.list.is_some() { 8 } else { range } + found
    }
}

/// The weight of a full unique key, which finds at most one row unless its values are NULL. It is
/// greater than the weight of any other access.
const UNIQUE_WEIGHT: u32 = 1000;

/// The weight of a full-text search, which MySQL prefers to all but a full unique key.
const SEARCH_WEIGHT: u32 = UNIQUE_WEIGHT - 1;

/// An access path, and how far it narrows the table, for the choice by rules.
struct Candidate {
    weight: u32,
    access: Access,
}

/// Returns the ranges without those that are more than the values of the first columns.
fn without_ranges(mut alternatives: Vec<KeyCondition>) -> Vec<KeyCondition> {
    match &mut alternatives[..] {
        [one] if !one.equals.is_empty() => {
            (one.list, one.low, one.high) = (None, None, None);
            alternatives
        }
        _ => Vec::new(),
    }
}

/// Returns the access paths that the hints allow, and whether FORCE INDEX forbids reading the whole
/// table.
fn ways(
    known: &Known<'_>,
    conjuncts: &[Expr],
    uses: &IndexUse,
    wish: &Wish,
) -> Result<(Vec<Candidate>, bool)> {
    let table = known.table;
    let Usables { all, is_forced } = uses.usable(table)?;
    let mut ways = Vec::with_capacity(all.len());
    let mut must_order = false;
    for usable in all {
        let index = usable.index;
        let mut alternatives = if usable.finds { known.conditions(index, conjuncts) } else { Vec::new() };
        if !usable.has_ranges {
            alternatives = without_ranges(alternatives);
        }
        if table.is_multi_valued(index) && alternatives.is_empty() {
            continue;
        }
        if let Some(part) = table.array_part(index)
            && (alternatives.is_empty() || !alternatives.iter().all(|one| one.restricts(part)))
        {
            continue;
        }
        let order = known.order(index, &alternatives, wish).filter(|_| usable.orders);
        if !usable.finds && order.is_none() {
            continue;
        }
        let parts = table.index_columns(index).len();
        let is_unique = table.is_unique(index);
        let is_full = parts > 0 && matches!(&alternatives[..], [one] if one.fixes(parts));
        let whole = table.index_columns(index).iter().all(|part| part.prefix.is_none());
        let mut weight = alternatives.iter().map(KeyCondition::weight).min().unwrap_or(0);
        if is_full && is_unique {
            weight += UNIQUE_WEIGHT;
        }
        if order.is_some() {
            weight += if wish.has_limit { 5 } else { 1 };
        }
        // A row that is found through a secondary index costs a further lookup.
        weight = weight * 2 + u32::from(index == IndexRef::Primary);
        if usable.must_order && order.is_some() && !must_order {
            must_order = true;
            ways.clear();
        }
        let is_unwanted = must_order && !(usable.must_order && order.is_some());
        if is_unwanted || weight <= 1 && index != IndexRef::Primary && !is_forced && !must_order {
            continue;
        }
        let is_point = is_full && index == IndexRef::Primary && whole;
        let direction = order.unwrap_or(Direction::Forward);
        let access = Access { index, alternatives, is_point, direction, ordered: order.is_some() };
        ways.push(Candidate { weight, access });
    }
    if let (Some(search), false) = (known.search(conjuncts), must_order) {
        let condition = KeyCondition { search: Some(search.clone()), ..KeyCondition::default() };
        let access = Access { alternatives: vec![condition], ..Access::all() };
        ways.push(Candidate { weight: SEARCH_WEIGHT, access });
    }
    Ok((ways, is_forced || must_order))
}

/// Returns the access path if there is only one, or one that fixes a unique key. `None` if the
/// choice needs estimates.
pub(crate) fn only_choice(
    table: &Table,
    base: usize,
    conjuncts: &[Expr],
    uses: &IndexUse,
    wish: &Wish,
) -> Result<Option<Access>> {
    let known = Known { table, base, is_known: &|_| false, pads_chars: uses.pads_chars };
    let (mut ways, _) = ways(&known, conjuncts, uses, wish)?;
    if ways.len() > 1 {
        ways.retain(|way| way.weight >= UNIQUE_WEIGHT);
    }
    Ok((ways.len() == 1).then(|| ways.swap_remove(0).access))
}

/// Chooses the access path of a table by rules. The table's slots begin at `base`.
pub(crate) fn choose(
    table: &Table,
    base: usize,
    conjuncts: &[Expr],
    is_known: &dyn Fn(usize) -> bool,
    uses: &IndexUse,
    wish: &Wish,
) -> Result<Access> {
    let known = Known { table, base, is_known, pads_chars: uses.pads_chars };
    let (ways, _) = ways(&known, conjuncts, uses, wish)?;
    let mut best: Option<Candidate> = None;
    for way in ways {
        if best.as_ref().is_none_or(|best| best.weight < way.weight) {
            best = Some(way);
        }
    }
    Ok(best.map_or_else(Access::all, |best| best.access))
}

/// Returns all access paths of a table, for a choice by cost. One of them reads the whole table,
/// unless FORCE INDEX forbids it.
pub(crate) fn accesses(
    table: &Table,
    base: usize,
    conjuncts: &[Expr],
    is_known: &dyn Fn(usize) -> bool,
    uses: &IndexUse,
    wish: &Wish,
) -> Result<Vec<Access>> {
    let known = Known { table, base, is_known, pads_chars: uses.pads_chars };
    let (ways, forced) = ways(&known, conjuncts, uses, wish)?;
    let mut all: Vec<Access> = ways.into_iter().map(|way| way.access).collect();
    let reads_all = |access: &Access| access.index == IndexRef::Primary && access.alternatives.is_empty();
    if all.is_empty() || (!forced && !all.iter().any(reads_all)) {
        all.push(Access::all());
    }
    Ok(all)
}
