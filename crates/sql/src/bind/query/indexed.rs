//! Indexed expressions: a condition or an order that names the expression of an indexed generated
//! column is taken for one that names the column, so that its index can be used. The column may be
//! the hidden one of a functional index. The conditions are those of MySQL's manual, "Optimizer Use
//! of Generated Column Indexes".

use super::super::{Binder, Place, Scope, ScopeTable};
use crate::expr::{Coercibility, Expr, Node};
use crate::lexer::LexMode;
use crate::parse::parse_expression;
use crate::plan::{JoinTree, Leaf, SortKey, Source};
use types::{ColumnType, TypeCode};

/// An expression, and the column that has its values.
struct Indexed {
    expr: Expr,
    column: Expr,
}

/// The indexed expressions of the tables of a FROM.
pub(super) struct IndexedExpressions(Vec<Indexed>);

impl IndexedExpressions {
    /// Returns the indexed expressions that can be computed here.
    pub fn of(binder: &mut Binder<'_>, tables: &[Leaf]) -> IndexedExpressions {
        let mut all = Vec::new();
        for leaf in tables {
            let Source::Stored { table, .. } = &leaf.source else { continue };
            if !table.def.has_generated() {
                continue;
            }
            let scope = Scope::of(ScopeTable::stored(table, &leaf.alias, leaf.base));
            for (at, column) in table.def.columns.iter().enumerate() {
                let Some(made) = column.generated.as_ref().filter(|_| column.elements.is_none()) else {
                    continue;
                };
                let is_part = |index: &engine::IndexDef| index.columns.iter().any(|part| part.column == at);
                if !table.def.indexes.iter().any(is_part) {
                    continue;
                }
                let column = scope.tables[0].column(at);
                let Ok(tree) = parse_expression(made.expression.as_bytes(), LexMode::default()) else {
                    continue;
                };
                // Constants of the expression were complained about when the table was made.
                let complaints = binder.constants.complaints.len();
                let bound = binder.expr(&tree, &mut Place::new(&scope, "expression"));
                binder.constants.complaints.truncate(complaints);
                if let Ok(expr) = bound
                    && has_same_values(&expr.ty, &column.ty)
                {
                    all.push(Indexed { expr: normal(&expr), column });
                }
            }
        }
        IndexedExpressions(all)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Puts columns in the place of expressions in conditions.
    pub fn put_into_conditions<'e>(&self, conditions: impl Iterator<Item = &'e mut Expr>) {
        conditions.for_each(|condition| condition.change(&mut |expr| self.put_into(expr)));
    }

    /// Puts columns in the place of expressions in the conditions of joins.
    pub fn put_into_joins(&self, tree: &mut JoinTree) {
        if let JoinTree::Join { left, right, on, .. } = tree {
            self.put_into_conditions(on.iter_mut());
            self.put_into_joins(left);
            self.put_into_joins(right);
        }
    }

    /// Puts columns in the place of expressions that rows are sorted by.
    pub fn put_into_order(&self, order: &mut [SortKey]) {
        order.iter_mut().for_each(|key| self.replace(&mut key.expr));
    }

    /// Puts a column in the place of an expression that is compared with what is the same for all
    /// rows.
    fn put_into(&self, expr: &mut Expr) {
        match &mut expr.node {
            Node::Compare { operands, .. } => {
                let [left, right] = &mut **operands;
                match (left.is_same_for_all_rows(), right.is_same_for_all_rows()) {
                    (false, true) => self.replace(left),
                    (true, false) => self.replace(right),
                    _ => {}
                }
            }
            Node::Between { operands, .. } => {
                let [value, low, high] = &mut **operands;
                if low.is_same_for_all_rows() && high.is_same_for_all_rows() {
                    self.replace(value);
                }
            }
            Node::In { operand, list, .. } if list.iter().all(Expr::is_same_for_all_rows) => {
                self.replace(operand);
            }
            _ => {}
        }
    }

    fn replace(&self, expr: &mut Expr) {
        if matches!(expr.node, Node::Slot(_) | Node::Constant(_)) {
            return;
        }
        let normal = normal(expr);
        if let Some(known) = self.0.iter().find(|known| known.expr == normal) {
            *expr = known.column.clone();
        }
    }
}

/// Returns an expression in the form in which expressions are compared. In MySQL, `DATE(x)` and
/// `CAST(x AS DATE)` are the same.
pub(super) fn normal(expr: &Expr) -> Expr {
    let mut normal = expr.clone();
    normal.change(&mut |expr| {
        if let Node::Call { function, args } = &mut expr.node
            && function.name == "date"
            && let [_] = args[..]
        {
            expr.node = Node::Cast(Box::new(args.remove(0)));
        }
        if matches!(expr.node, Node::Cast(_)) && expr.ty.code == TypeCode::Date {
            expr.nullable = true;
            expr.coercibility = Coercibility::Numeric;
            expr.ty = ColumnType::date();
        }
    });
    normal
}

/// Reports whether a column of this type has the values of an expression as they are: both are
/// integers, DECIMALs, floating-point numbers, texts of one collation, or of one temporal type.
fn has_same_values(expr: &ColumnType, column: &ColumnType) -> bool {
    let is_text = |ty: &ColumnType| matches!(ty.code, TypeCode::Varchar | TypeCode::String) || ty.is_blob();
    if expr.code == TypeCode::Year && column.is_integer() {
        return true;
    }
    if expr.is_integer() || column.is_integer() {
        return expr.is_integer() && column.is_integer() && expr.unsigned == column.unsigned;
    }
    if is_text(expr) || is_text(column) {
        return is_text(expr) && is_text(column) && expr.collation == column.collation;
    }
    match expr.code {
        TypeCode::NewDecimal => column.code == expr.code && column.scale() >= expr.scale(),
        TypeCode::Json | TypeCode::Geometry => false,
        code => column.code == code && column.meta == expr.meta,
    }
}
