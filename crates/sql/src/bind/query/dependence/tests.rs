//! Tests of what follows from what, in queries over tables of which nothing but their conditions is
//! known.

use super::equalities::equalities;
use super::known::Known;
use crate::ast::BinaryOp;
use crate::expr::{Coercibility, Expr, Node};
use crate::plan::{Derivation, JoinTree, Joining, Made, Origin};
use std::sync::Arc;
use types::{ColumnType, Value, collation};

fn expr(node: Node) -> Expr {
    Expr { node, ty: ColumnType::int(false), nullable: true, coercibility: Coercibility::Numeric }
}

fn slot(at: usize) -> Expr {
    expr(Node::Slot(at))
}

fn number(n: i64) -> Expr {
    expr(Node::Constant(Value::Int(n)))
}

fn compared(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    let collation = collation::UTF8MB4_0900_AI_CI;
    expr(Node::Compare { op, operands: Box::new([left, right]), collation })
}

fn equal(left: Expr, right: Expr) -> Expr {
    compared(BinaryOp::Equal, left, right)
}

fn plus(left: Expr, right: Expr) -> Expr {
    expr(Node::Arithmetic { op: BinaryOp::Add, operands: Box::new([left, right]) })
}

/// Builds a query over tables of two columns each.
fn query(made: Vec<Made>, tree: JoinTree, filter: Vec<Expr>, keys: Option<Vec<Expr>>) -> Derivation {
    let count = made.len();
    let tables = made.into_iter().enumerate().map(|(at, made)| Origin { base: at * 2, columns: 2, made });
    Derivation {
        tables: tables.collect(),
        tree: Some(tree),
        filter,
        asked: Vec::new(),
        constants: Vec::new(),
        slots: count * 2 + 1,
        outputs: Vec::new(),
        keys,
        aggregates: count * 2..count * 2 + 1,
        windows: Vec::new(),
        merges: false,
        leaves: count,
        is_plain: false,
    }
}

/// Returns those of the first `columns` columns of a query that follow from its keys.
fn following(derivation: Derivation, columns: usize) -> Vec<usize> {
    let mut known = Known::of_groups(&Arc::new(derivation));
    (0..columns).filter(|slot| known.depends(*slot)).collect()
}

fn of_one(filter: Vec<Expr>, keys: Vec<Expr>) -> Vec<usize> {
    following(query(vec![Made::Unknown], JoinTree::Table(0), filter, Some(keys)), 2)
}

#[test]
fn constants_and_equal_columns_follow() {
    assert_eq!(of_one(vec![equal(slot(0), number(3))], Vec::new()), [0]);
    assert_eq!(of_one(vec![equal(slot(0), slot(1))], Vec::new()), [0; 0]);
    assert_eq!(of_one(vec![equal(slot(0), slot(1))], vec![slot(1)]), [0, 1]);
    assert_eq!(of_one(vec![equal(slot(0), slot(1)), equal(number(1), slot(0))], Vec::new()), [0, 1]);
    let parameter = expr(Node::Parameter(0));
    assert_eq!(of_one(vec![equal(slot(0), parameter)], Vec::new()), [0; 0], "it is not known before");
    assert_eq!(of_one(vec![equal(slot(0), plus(slot(1), number(1)))], vec![slot(1)]), [1]);
}

#[test]
fn equalities_are_seen_behind_negations() {
    let count = |condition: &Expr| {
        let mut found = Vec::new();
        equalities(condition, false, &mut found);
        found.len()
    };
    let unequal = || compared(BinaryOp::NotEqual, slot(0), number(1));
    let not = |inner: Expr| expr(Node::Not(Box::new(inner)));
    assert_eq!(count(&not(unequal())), 1);
    assert_eq!(count(&not(expr(Node::Or(vec![unequal(), unequal()])))), 2);
    assert_eq!(count(&not(expr(Node::And(vec![unequal(), unequal()])))), 0);
    assert_eq!(count(&expr(Node::Or(vec![equal(slot(0), number(1)), equal(slot(1), number(1))]))), 0);
}

/// Returns the columns that follow in a query of two tables, of which the second is on the weak
/// side.
fn outer_join(on: Vec<Expr>, filter: Vec<Expr>, keys: Vec<Expr>) -> Vec<usize> {
    let [left, right] = [0, 1].map(|at| Box::new(JoinTree::Table(at)));
    let tree = JoinTree::Join { joining: Joining::Outer, left, right, on };
    following(query(vec![Made::Unknown, Made::Unknown], tree, filter, Some(keys)), 4)
}

#[test]
fn a_weak_side_follows_where_the_condition_does() {
    let on = || vec![equal(slot(2), slot(0))];
    assert_eq!(outer_join(on(), Vec::new(), vec![slot(0)]), [0, 2]);
    assert_eq!(outer_join(on(), Vec::new(), vec![slot(2)]), [2], "NULL goes with any row");
    let asks_more = || vec![equal(slot(2), number(3)), equal(slot(1), number(1))];
    assert_eq!(outer_join(asks_more(), Vec::new(), Vec::new()), [0; 0]);
    assert_eq!(outer_join(asks_more(), Vec::new(), vec![slot(1)]), [1, 2]);
    let rejects = vec![equal(slot(3), number(1))];
    assert_eq!(outer_join(on(), rejects, vec![slot(2)]), [0, 2, 3], "it is an inner join");
}

#[test]
fn a_grouped_derived_table_follows_from_its_keys() {
    let mut inner = query(vec![Made::Unknown], JoinTree::Table(0), Vec::new(), Some(vec![slot(0)]));
    inner.outputs = vec![slot(0), slot(2)];
    let inner = Arc::new(inner);
    let around = |keys| {
        let made = vec![Made::Query(inner.clone(), Vec::new())];
        following(query(made, JoinTree::Table(0), Vec::new(), Some(keys)), 2)
    };
    assert_eq!(around(vec![slot(0)]), [0, 1]);
    assert_eq!(around(vec![slot(1)]), [1], "a count is no key");
}

#[test]
fn a_computed_column_of_a_view_follows_from_its_own() {
    let mut inner = query(vec![Made::Unknown], JoinTree::Table(0), Vec::new(), None);
    inner.outputs = vec![slot(0), plus(slot(0), number(1))];
    inner.merges = true;
    let made = vec![Made::Query(Arc::new(inner), Vec::new())];
    let around = |keys| query(made.clone(), JoinTree::Table(0), Vec::new(), Some(keys));
    assert_eq!(following(around(vec![slot(0)]), 2), [0, 1]);
    assert_eq!(following(around(vec![slot(1)]), 2), [1]);
}
