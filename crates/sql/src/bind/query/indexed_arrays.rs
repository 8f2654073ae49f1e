//! Arrays of multi-valued indexes: a condition that searches the document of such an index for
//! constants becomes one that searches the array, so that the index can find its rows.
//!
//! As in MySQL this also changes what the condition means, because the array has the document's
//! elements as values of one type. It is done only for an index that the statement may use, and
//! only if all constants have values of that type.

use super::super::{Binder, Place, Scope, ScopeTable};
use super::indexed::normal;
use crate::ast;
use crate::expr::functions::json::{element, scalar_of};
use crate::expr::{Context, Expr, NoSession, Node};
use crate::lexer::LexMode;
use crate::parse::parse_expression;
use crate::plan::{Leaf, Source};
use engine::{ColumnDef, IndexRef, Table};
use std::sync::Arc;
use types::json::{self, Node as Document};
use types::{ColumnType, TypeCode, Value, collation};

/// The document of a multi-valued index, and the column that has its array.
struct IndexedArray {
    document: Expr,
    column: Expr,
    elements: ColumnType,
}

/// The arrays of the indexes that a statement may use.
pub(super) struct IndexedArrays(Vec<IndexedArray>);

impl IndexedArrays {
    /// Returns the arrays of a FROM whose documents can be computed here.
    pub fn of(binder: &mut Binder<'_>, tables: &[Leaf]) -> IndexedArrays {
        let mut all = Vec::new();
        for leaf in tables {
            let Source::Stored { table, .. } = &leaf.source else { continue };
            for at in table.def.named_columns()..table.columns() {
                let column = &table.def.columns[at];
                let Some(elements) = &column.elements else { continue };
                let is_usable = |index: IndexRef| {
                    table.index_columns(index).iter().any(|part| part.column == at)
                        && leaf.index_use.may_find(table, index)
                };
                if !(0..table.def.indexes.len()).map(IndexRef::Secondary).any(is_usable) {
                    continue;
                }
                if let Some(document) = document_of(binder, table, leaf, column) {
                    let scope = Scope::of(ScopeTable::stored(table, &leaf.alias, leaf.base));
                    let column = scope.tables[0].column(at);
                    all.push(IndexedArray { document, column, elements: elements.clone() });
                }
            }
        }
        IndexedArrays(all)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Puts arrays in the place of documents in conditions.
    pub fn put_into_conditions<'e>(
        &self,
        binder: &Binder<'_>,
        conditions: impl Iterator<Item = &'e mut Expr>,
    ) {
        let no_session = NoSession::new(binder.host.memory(), 0);
        let ctx = no_session.context(binder.engine, binder.host, binder.variables, false);
        conditions.for_each(|condition| self.put_into_condition(condition, &ctx));
    }

    /// Looks at the operands of AND and OR, and as MySQL at no others.
    fn put_into_condition(&self, condition: &mut Expr, ctx: &Context<'_>) {
        match &mut condition.node {
            Node::And(operands) | Node::Or(operands) => {
                operands.iter_mut().for_each(|operand| self.put_into_condition(operand, ctx));
            }
            _ => self.put_into(condition, ctx),
        }
    }

    fn put_into(&self, expr: &mut Expr, ctx: &Context<'_>) {
        let Node::Call { function, args } = &mut expr.node else { return };
        let [_, _] = args[..] else { return };
        let places: &[(usize, usize)] = match function.name {
            "member of" => &[(1, 0)],
            "json_contains" => &[(0, 1)],
            "json_overlaps" => &[(0, 1), (1, 0)],
            _ => return,
        };
        for &(document, value) in places {
            if !is_fixed(&args[value]) || self.is_own(&args[document]) {
                continue;
            }
            let wanted = comparable(&args[document]);
            let made = self.0.iter().filter(|array| array.document == wanted).find_map(|array| {
                let searched = match function.name {
                    "member of" => array.member(&args[value], ctx),
                    _ => array.candidates(&args[value], ctx),
                };
                Some((array, json::write_document(&searched?)?))
            });
            if let Some((array, searched)) = made {
                args[document] = array.column.clone();
                args[value] = Expr { ty: ColumnType::json(), ..Expr::constant(Value::Json(searched)) };
                return;
            }
        }
    }

    /// Reports whether an expression is an array already.
    fn is_own(&self, expr: &Expr) -> bool {
        self.0.iter().any(|array| array.column == *expr)
    }
}

impl IndexedArray {
    /// Returns the value that MEMBER OF looks for as an element of the array. `None` means that it
    /// is no such element.
    fn member(&self, value: &Expr, ctx: &Context<'_>) -> Option<Document> {
        if Comparison::of(&value.ty) != Comparison::of(&self.elements) {
            return None;
        }
        let computed = value.eval(&[], ctx).ok()?;
        if computed.is_null() {
            return None;
        }
        self.element(&scalar_of(&computed, value, ctx).ok()?, ctx)
    }

    /// Returns the array of the elements that JSON_CONTAINS or JSON_OVERLAPS looks for. `None`
    /// means that the document is none, or has other values.
    fn candidates(&self, value: &Expr, ctx: &Context<'_>) -> Option<Document> {
        let document = match &*value.eval(&[], ctx).ok()? {
            Value::Json(bytes) => json::read_document(bytes)?,
            Value::Bytes(text) if value.ty.collation != collation::BINARY => json::parse_node(text).ok()?,
            _ => return None,
        };
        let elements = match &document {
            Document::Array(elements) => &elements[..],
            Document::Object(_) => return None,
            scalar => std::slice::from_ref(scalar),
        };
        let elements = elements.iter().map(|element| self.element(element, ctx));
        elements.collect::<Option<Vec<_>>>().map(Document::Array)
    }

    fn element(&self, node: &Document, ctx: &Context<'_>) -> Option<Document> {
        match node {
            Document::Null => Some(Document::Null),
            node => element(node, &self.elements, ctx).ok(),
        }
    }
}

/// Returns the bound document of an array's expression.
fn document_of(binder: &mut Binder<'_>, table: &Arc<Table>, leaf: &Leaf, column: &ColumnDef) -> Option<Expr> {
    let made = column.generated.as_ref()?;
    let tree = parse_expression(made.expression.as_bytes(), LexMode::default()).ok()?;
    let ast::Expr::CastArray { operand, .. } = tree else { return None };
    let scope = Scope::of(ScopeTable::stored(table, &leaf.alias, leaf.base));
    let complaints = binder.constants.complaints.len();
    let bound = binder.expr(&operand, &mut Place::new(&scope, "expression"));
    binder.constants.complaints.truncate(complaints);
    bound.ok().map(|expr| comparable(&expr))
}

/// Returns an expression in the form in which documents are compared: the character set of a path
/// does not matter.
fn comparable(expr: &Expr) -> Expr {
    let mut expr = normal(expr);
    expr.change(&mut |expr| {
        if let Node::Constant(value @ Value::Bytes(_)) = &expr.node {
            *expr = Expr::constant(value.clone());
        }
    });
    expr
}

/// The kinds of values among which MySQL looks for an element of an array by MEMBER OF.
#[derive(PartialEq, Eq)]
enum Comparison {
    Integer,
    Decimal,
    Double,
    Text,
}

impl Comparison {
    fn of(ty: &ColumnType) -> Comparison {
        match ty.code {
            TypeCode::Year | TypeCode::Bit => Comparison::Integer,
            _ if ty.is_integer() => Comparison::Integer,
            TypeCode::NewDecimal => Comparison::Decimal,
            TypeCode::Float | TypeCode::Double => Comparison::Double,
            _ => Comparison::Text,
        }
    }
}

/// The functions of constants that are constants.
const OF_CONSTANTS: [&str; 4] = ["cast_as_json", "concat", "json_array", "json_quote"];

/// Reports whether an expression has the same value whenever the statement runs.
fn is_fixed(expr: &Expr) -> bool {
    let mut is_fixed = true;
    expr.visit(&mut |expr| {
        is_fixed &= match &expr.node {
            Node::Constant(_) | Node::HexLiteral(..) | Node::Cast(_) | Node::Negate(_) => true,
            Node::Recollate(_) => true,
            Node::Call { function, .. } => OF_CONSTANTS.contains(&function.name),
            _ => false,
        };
    });
    is_fixed
}
