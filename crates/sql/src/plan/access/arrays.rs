//! Access by multi-valued indexes: the conditions on their arrays.

use super::{Fact, KeyCondition, Known, conjuncts};
use crate::ast::BinaryOp;
use crate::expr::{Expr, Node};
use engine::IndexRef;
use types::Value;
use types::json;

/// The most ranges into which lists and branches of OR are taken apart.
const MOST_WAYS: usize = 100;

impl Known<'_> {
    /// Returns the array in which a function looks for constants, and the constants.
    pub(super) fn of_array<'e>(&self, function: &str, args: &'e [Expr]) -> Option<(usize, Fact<'e>)> {
        let [first, second] = args else { return None };
        let array = |expr: &Expr| {
            self.column(expr).filter(|column| self.table.def.columns[*column].elements.is_some())
        };
        let (column, searched) = match (function, array(first), array(second)) {
            ("member of", _, Some(column)) => (column, first),
            ("json_contains" | "json_overlaps", Some(column), _) => (column, second),
            ("json_overlaps", _, Some(column)) => (column, first),
            _ => return None,
        };
        let Node::Constant(Value::Json(document)) = &searched.node else { return None };
        match json::read_document(document)? {
            json::Node::Array(elements) => {
                // No array has null as an element.
                let is_element = |element: &&json::Node| **element != json::Node::Null;
                let constant = |element: &json::Node| {
                    let document = json::write_document(element)?;
                    Some(Expr { ty: searched.ty.clone(), ..Expr::constant(Value::Json(document)) })
                };
                let elements = elements.iter().filter(is_element).map(constant);
                let elements = elements.collect::<Option<Vec<_>>>().filter(|all| !all.is_empty())?;
                Some((column, Fact::Elements(elements)))
            }
            json::Node::Null => None,
            _ => Some((column, Fact::Element(searched))),
        }
    }

    /// Returns the ranges to which the conjuncts restrict a multi-valued index. Empty if they do
    /// not restrict the array, which is the part at `part`: a row has several entries in the index,
    /// or none.
    pub(super) fn conditions_of_array(
        &self,
        index: IndexRef,
        part: usize,
        conjuncts: &[Expr],
    ) -> Vec<KeyCondition> {
        let mut searches = false;
        for conjunct in conjuncts {
            conjunct.visit(&mut |expr| {
                searches |= matches!(&expr.node, Node::Call { function, args }
                    if self.of_array(function.name, args).is_some());
            });
        }
        match searches {
            true => self.ways_to_array(index, part, conjuncts, &mut MOST_WAYS.clone()).unwrap_or_default(),
            false => Vec::new(),
        }
    }

    /// Takes lists and branches of OR apart until each of them restricts the array. `room` is the
    /// number of ranges that may still be made.
    fn ways_to_array(
        &self,
        index: IndexRef,
        part: usize,
        of: &[Expr],
        room: &mut usize,
    ) -> Option<Vec<KeyCondition>> {
        let found = self.conditions_of(index, of);
        if !found.is_empty() && found.iter().all(|one| one.restricts(part)) {
            return Some(found);
        }
        for (at, conjunct) in of.iter().enumerate() {
            let ways = branches(conjunct);
            if ways.is_empty() || ways.len() > *room {
                continue;
            }
            *room -= ways.len();
            let others = of.iter().enumerate().filter(|(other, _)| *other != at);
            let others: Vec<Expr> = others.map(|(_, other)| other.clone()).collect();
            let way = |branch: Expr| {
                let mut of_way = others.clone();
                conjuncts(branch, &mut of_way);
                self.ways_to_array(index, part, &of_way, room)
            };
            if let Some(found) = ways.into_iter().map(way).collect::<Option<Vec<_>>>() {
                return Some(found.concat());
            }
        }
        None
    }
}

/// Returns the conditions one of which holds if the condition does: the branches of OR, and for the
/// values of IN that the operand equals them.
fn branches(condition: &Expr) -> Vec<Expr> {
    match &condition.node {
        Node::Or(branches) => branches.clone(),
        Node::In { negated: false, operand, list, collation } => {
            let equal = |item: &Expr| {
                let operands = Box::new([(**operand).clone(), item.clone()]);
                let node = Node::Compare { op: BinaryOp::Equal, operands, collation: *collation };
                Expr { node, ..condition.clone() }
            };
            list.iter().map(equal).collect()
        }
        _ => Vec::new(),
    }
}
