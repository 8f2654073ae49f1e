//! Classes of equal columns: `a = b AND b = c AND c = 5` says more than its parts.
//!
//! In: the conditions of a block. Out: classes of columns that are all equal in each row of the
//! block, in place of the equalities that said so. The order of the tables decides which equalities
//! are tested: one for each column that is read.

use crate::ast::BinaryOp;
use crate::expr::{Coercibility, Expr, Node};
use crate::plan::KeyKind;
use types::{ColumnType, TypeCode};

/// Columns that are all equal.
#[derive(Debug)]
pub(super) struct Class {
    /// The columns, as expressions.
    pub columns: Vec<Expr>,
    /// The constant that all of the columns equal, if there is one.
    pub constant: Option<Expr>,
    collation: u16,
}

/// Returns the kind of comparison of a type's values. Only columns of one kind may be in a class.
/// `None` for types that may not be in any.
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

/// Returns the kind of keys for two columns that are compared in a collation. `None` if no keys are
/// equal exactly when the columns are.
pub(super) fn key_kind(a: &ColumnType, b: &ColumnType, collation: u16) -> Option<KeyKind> {
    use KeyKind::{Decimal, Double, Integer};
    match (class_of(a, collation)?, class_of(b, collation)?) {
        (a, b) if a == b => Some(a),
        (Integer, Decimal) | (Decimal, Integer) => Some(Decimal),
        (Integer | Decimal, Double) | (Double, Integer | Decimal) => Some(Double),
        _ => None,
    }
}

/// Returns the two sides of an equality of columns, and its collation.
pub(super) fn equal_columns(condition: &Expr) -> Option<(&Expr, &Expr, u16)> {
    let Node::Compare { op: BinaryOp::Equal, operands, collation } = &condition.node else { return None };
    let [left, right] = &**operands;
    let are_columns = matches!((&left.node, &right.node), (Node::Slot(_), Node::Slot(_)));
    are_columns.then_some((left, right, *collation))
}

/// Returns the column and the constant of an equality, and its collation.
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

/// Builds the condition that two expressions are equal.
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
    assert!(classes.iter().all(|class| class.columns.len() > 1), "a class says that columns are equal");
    debug_assert!(
        classes.iter().flat_map(|class| &class.columns).enumerate().all(|(at, column)| {
            !classes
                .iter()
                .flat_map(|class| &class.columns)
                .skip(at + 1)
                .any(|other| other.node == column.node)
        }),
        "a column is in one class"
    );
    classes
}

/// Notes that two columns are equal. Returns false if no class can express it.
fn add_pair(classes: &mut Vec<Class>, left: &Expr, right: &Expr, collation: u16) -> bool {
    // Equality is transitive only among columns of one kind: 'a' = 'A' and 0 = 'a' hold, but 0 =
    // 'A' need not hold.
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

/// Notes the constant that the columns of a class equal. Returns false if the class cannot express
/// it.
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
    /// Adds the equalities that tie the columns for which `comes` is true to the constant, or else
    /// to the columns for which `is_known` is true.
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
