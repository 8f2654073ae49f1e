//! `date IS NULL` in WHERE, which also finds the zero date in a DATE or DATETIME column that is NOT
//! NULL. MySQL and MariaDB do so for the sake of ODBC programs.

use super::Binder;
use super::place::Frame;
use super::query::From;
use super::scope::{Scope, ScopeTable};
use crate::ast::{BinaryOp, TruthValue};
use crate::expr::{Coercibility, Expr, Node};
use crate::plan::{Leaf, QueryBody, Source};
use crate::sink::column_flag;
use types::{ColumnType, DateTime, TypeCode, Value};

/// Lets the conditions of a WHERE, which are all to hold, find zero dates in the columns of tables,
/// and with MariaDB in those of derived tables and views.
#[inline(never)]
pub(super) fn find_zero_dates(
    binder: &Binder<'_>,
    scope: &Scope,
    outer: Option<&Frame<'_>>,
    conditions: &mut [Expr],
) {
    let of_where = Where { scope, outer, made: None, of_mariadb: binder.variables.of_mariadb };
    conditions.iter_mut().for_each(|condition| of_where.replace(condition, false));
}

/// Lets the conditions of a WHERE find zero dates in derived tables and views that are still tables
/// of their own after others were merged into the query.
#[inline(never)]
pub(super) fn find_made_zero_dates(binder: &Binder<'_>, scope: &Scope, from: &From, conditions: &mut [Expr]) {
    if binder.variables.of_mariadb {
        return;
    }
    let made: Vec<usize> =
        from.tables.iter().filter(|leaf| is_made(binder, leaf)).map(|leaf| leaf.base).collect();
    if !made.is_empty() {
        let of_where = Where { scope, outer: None, made: Some(&made), of_mariadb: false };
        conditions.iter_mut().for_each(|condition| of_where.replace(condition, false));
    }
}

/// Lets a HAVING or the conditions of an inner join find zero dates, as MariaDB's do.
#[inline(never)]
pub(super) fn find_zero_dates_of_mariadb(
    binder: &Binder<'_>,
    scope: &Scope,
    outer: Option<&Frame<'_>>,
    conditions: &mut [Expr],
) {
    if binder.variables.of_mariadb {
        find_zero_dates(binder, scope, outer, conditions);
    }
}

/// Reports whether a table of FROM has the rows of a query that MySQL computes as a whole.
fn is_made(binder: &Binder<'_>, leaf: &Leaf) -> bool {
    let plan = match &leaf.source {
        Source::Derived(plan) => plan,
        Source::Subquery(call) => &binder.subqueries[call.number].plan,
        _ => return false,
    };
    !matches!(&plan.body, QueryBody::Select(select) if select.is_merged())
}

/// What a condition may name.
struct Where<'s> {
    scope: &'s Scope,
    outer: Option<&'s Frame<'s>>,
    /// The first slots of the tables that have the rows of queries, if they are asked about, and no
    /// others.
    made: Option<&'s [usize]>,
    /// Whether the statement is MariaDB's, which also looks into OR and through views.
    of_mariadb: bool,
}

impl Where<'_> {
    /// Reports whether the columns of this table are asked about.
    fn asks_about(&self, table: &ScopeTable) -> bool {
        match self.made {
            None => table.stored || self.of_mariadb,
            Some(made) => made.contains(&table.base),
        }
    }

    /// Lets a condition find zero dates. `is_denied` says that it stands under an odd number of
    /// NOTs.
    fn replace(&self, condition: &mut Expr, is_denied: bool) {
        if let Some(column) = asked_for_null(condition, is_denied) {
            let Some(zero) = self.zero_of(column) else { return };
            let (is_nullable, is_zero) = (column.nullable, equality(column, zero));
            let asked = std::mem::replace(condition, Expr::constant(Value::Null));
            *condition = match (is_nullable, is_denied) {
                // An outer join may have made a NULL of the column.
                (true, false) => truth(Node::Or(vec![asked, is_zero])),
                (true, true) => truth(Node::And(vec![asked, truth(Node::Not(Box::new(is_zero)))])),
                (false, false) => is_zero,
                (false, true) => truth(Node::Not(Box::new(is_zero))),
            };
            return;
        }
        let operands_hold_together = match (&mut condition.node, is_denied) {
            (Node::Not(inner), _) => return self.replace(inner, !is_denied),
            (Node::And(operands), false) | (Node::Or(operands), true) => operands,
            (Node::And(operands), true) | (Node::Or(operands), false) if self.of_mariadb => operands,
            _ => return,
        };
        operands_hold_together.iter_mut().for_each(|operand| self.replace(operand, is_denied));
    }

    /// Returns the zero of a DATE or DATETIME column that was defined as NOT NULL. `None` for other
    /// columns.
    fn zero_of(&self, column: &Expr) -> Option<Value> {
        let is_asked = match column.node {
            Node::Slot(slot) => {
                let (table, at) = self.scope.of_slot(slot)?;
                is_not_null(table, at) && self.asks_about(table)
            }
            Node::Outer(at) => self.outer.is_some_and(|frame| self.is_asked_around(frame, at)),
            _ => false,
        };
        match column.ty.code {
            TypeCode::Date if is_asked => Some(Value::Date(Default::default())),
            TypeCode::Datetime2 if is_asked => Some(Value::DateTime(DateTime::default())),
            _ => None,
        }
    }

    /// Reports whether this argument of a subquery is a column that is asked about, of a query
    /// around the subquery.
    fn is_asked_around(&self, frame: &Frame<'_>, at: usize) -> bool {
        // What HAVING names is no column to MySQL.
        match (&frame.args.borrow()[at].node, frame.parent) {
            (Node::Slot(slot), _) if self.of_mariadb || !frame.is_of_having() => frame
                .scope
                .of_slot(*slot)
                .is_some_and(|(table, at)| is_not_null(table, at) && self.asks_about(table)),
            (Node::Outer(at), Some(parent)) => self.is_asked_around(parent, *at),
            _ => false,
        }
    }
}

fn is_not_null(table: &ScopeTable, at: usize) -> bool {
    table.columns[at].flags & column_flag::NOT_NULL != 0
}

/// Returns the operand of IS NULL, or of IS NOT NULL behind an odd number of NOTs.
fn asked_for_null(condition: &Expr, is_denied: bool) -> Option<&Expr> {
    match &condition.node {
        Node::Not(inner) => asked_for_null(inner, !is_denied),
        Node::IsNull { negated, operand } if *negated == is_denied => Some(operand),
        Node::IsTruth { negated, operand, value: TruthValue::Unknown } if *negated == is_denied => {
            Some(operand)
        }
        Node::Call { function, args } if function.name == "isnull" && !is_denied => args.first(),
        _ => None,
    }
}

fn equality(column: &Expr, zero: Value) -> Expr {
    let zero = Expr { ty: column.ty.clone(), ..Expr::constant(zero) };
    let collation = column.ty.collation;
    truth(Node::Compare { op: BinaryOp::Equal, operands: Box::new([column.clone(), zero]), collation })
}

fn truth(node: Node) -> Expr {
    Expr { node, ty: ColumnType::int(false), nullable: true, coercibility: Coercibility::Numeric }
}
