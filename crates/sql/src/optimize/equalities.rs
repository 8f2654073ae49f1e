//! Columns that are equal to one another: `a = b AND b = c AND c = 5` says more than its parts.
//!
//! In: the conditions of a block. Out: classes of columns of which all are equal in each row of the
//! block, in place of the equalities that said so. Which equalities are asked of a row depends on
//! the order of the tables: of each column that comes, one.

use crate::ast::BinaryOp;
use crate::expr::{Coercibility, Expr, Node};
use crate::plan::KeyKind;
use types::{ColumnType, TypeCode};

/// Columns of which all are equal.
#[derive(Debug)]
pub(super) struct Class {
    /// Each a column.
    pub columns: Vec<Expr>,
    /// What they equal.
    pub constant: Option<Expr>,
    collation: u16,
}

/// How values of a type are compared with others of the same class of types.
fn class_of(ty: &ColumnType, collation: u16) -> Option<KeyKind> {
    if ty.text_form().is_some() {
        return None;
    }
    match ty.code {
        TypeCode::Tiny
        | TypeCode::Short
        | TypeCode::Int24
        | TypeCode::Long
        | TypeCode::LongLong
        | TypeCode::Year => Some(KeyKind::Integer),
        TypeCode::NewDecimal => Some(KeyKind::Decimal),
        TypeCode::Float | TypeCode::Double => Some(KeyKind::Double),
        TypeCode::Varchar | TypeCode::String | TypeCode::Blob | TypeCode::Enum | TypeCode::Set => {
            Some(KeyKind::Text(collation))
        }
        TypeCode::Date | TypeCode::Datetime2 => Some(KeyKind::Moment),
        TypeCode::Time2 => Some(KeyKind::Time),
        _ => None,
    }
}

/// What the keys of two columns are made of that are compared in a collation; `None`: there are no
/// keys that are equal exactly where the columns are.
pub(super) fn key_kind(a: &ColumnType, b: &ColumnType, collation: u16) -> Option<KeyKind> {
    use KeyKind::{Decimal, Double, Integer};
    match (class_of(a, collation)?, class_of(b, collation)?) {
        (a, b) if a == b => Some(a),
        (Integer, Decimal) | (Decimal, Integer) => Some(Decimal),
        (Integer | Decimal, Double) | (Double, Integer | Decimal) => Some(Double),
        _ => None,
    }
}

/// The two sides of an equality of columns, with its collation.
pub(super) fn equal_columns(condition: &Expr) -> Option<(&Expr, &Expr, u16)> {
    let Node::Compare { op: BinaryOp::Equal, operands, collation } = &condition.node else { return None };
    let [left, right] = &**operands;
    let are_columns = matches!((&left.node, &right.node), (Node::Slot(_), Node::Slot(_)));
    are_columns.then_some((left, right, *collation))
}

/// A column and the constant that it equals.
fn equal_constant(condition: &Expr) -> Option<(&Expr, &Expr, u16)> {
    let Node::Compare { op: BinaryOp::Equal, operands, collation } = &condition.node else { return None };
    let is_constant =
        |expr: &Expr| matches!(expr.node, Node::Constant(_) | Node::Parameter(_) | Node::Outer(_));
    match &**operands {
        [left @ Expr { node: Node::Slot(_), .. }, right] if is_constant(right) => {
            Some((left, right, *collation))
        }
        [left, right @ Expr { node: Node::Slot(_), .. }] if is_constant(left) => {
            Some((right, left, *collation))
        }
        _ => None,
    }
}

/// The condition that two values are equal.
pub(crate) fn equality(a: Expr, b: Expr, collation: u16) -> Expr {
    let operands = Box::new([a, b]);
    Expr {
        node: Node::Compare { op: BinaryOp::Equal, operands, collation },
        ty: ColumnType::int(false),
        nullable: true,
        coercibility: Coercibility::Numeric,
    }
}

/// Takes the equalities of the block's own columns out of its conditions.
pub(super) fn take_classes(conditions: &mut Vec<Expr>, is_own: impl Fn(&Expr) -> bool) -> Vec<Class> {
    let mut classes: Vec<Class> = Vec::new();
    conditions.retain(|condition| match equal_columns(condition) {
        Some((left, right, collation)) if left.node != right.node && is_own(left) && is_own(right) => {
            !add_pair(&mut classes, left, right, collation)
        }
        _ => true,
    });
    conditions.retain(|condition| match equal_constant(condition) {
        Some((column, constant, collation)) => !set_constant(&mut classes, column, constant, collation),
        None => true,
    });
    classes
}

/// Notes that two columns are equal; false: a class cannot say so.
fn add_pair(classes: &mut Vec<Class>, left: &Expr, right: &Expr, collation: u16) -> bool {
    // Equality of columns is handed on only where all are of one kind: 'a' = 'A' and 0 = 'a' hold,
    // and 0 = 'A' need not.
    let kind = class_of(&left.ty, collation);
    if kind.is_none() || kind != class_of(&right.ty, collation) {
        return false;
    }
    let of = |classes: &[Class], column: &Expr| {
        classes.iter().position(|class| class.columns.iter().any(|known| known.node == column.node))
    };
    let fits = |class: &Class| class_of(&class.columns[0].ty, class.collation) == kind;
    match (of(classes, left), of(classes, right)) {
        (Some(a), Some(b)) if a == b => fits(&classes[a]),
        (Some(a), Some(b)) if fits(&classes[a]) && fits(&classes[b]) => {
            let (low, high) = (a.min(b), a.max(b));
            let mut merged = classes.remove(high);
            classes[low].columns.append(&mut merged.columns);
            true
        }
        (Some(a), None) if fits(&classes[a]) => {
            classes[a].columns.push(right.clone());
            true
        }
        (None, Some(b)) if fits(&classes[b]) => {
            classes[b].columns.push(left.clone());
            true
        }
        (None, None) => {
            let columns = vec![left.clone(), right.clone()];
            classes.push(Class { columns, constant: None, collation });
            true
        }
        _ => false,
    }
}

/// Notes what the columns of a class equal; false: the class cannot say so.
fn set_constant(classes: &mut [Class], column: &Expr, constant: &Expr, collation: u16) -> bool {
    let Some(class) =
        classes.iter_mut().find(|class| class.columns.iter().any(|known| known.node == column.node))
    else {
        return false;
    };
    let kind = class_of(&class.columns[0].ty, class.collation);
    let is_one_type = class.columns.iter().all(|known| known.ty.code == column.ty.code);
    let fits = match kind {
        Some(KeyKind::Text(_)) => {
            let is_parameter = matches!(constant.node, Node::Parameter(_));
            class.collation == collation && class_of(&constant.ty, collation) == kind && !is_parameter
        }
        _ => is_one_type,
    };
    if !fits || class.constant.is_some() {
        return false;
    }
    class.constant = Some(constant.clone());
    true
}

impl Class {
    /// The equalities that make the columns that `comes` says join those that `is_known` says, and
    /// what they equal.
    pub fn equalities(
        &self,
        comes: impl Fn(&Expr) -> bool,
        is_known: impl Fn(&Expr) -> bool,
        into: &mut Vec<Expr>,
    ) {
        let mut known =
            self.constant.as_ref().or_else(|| self.columns.iter().find(|column| is_known(column)));
        for column in self.columns.iter().filter(|column| comes(column)) {
            match known {
                Some(known) => into.push(equality(column.clone(), known.clone(), self.collation)),
                None => known = Some(column),
            }
        }
    }
}
