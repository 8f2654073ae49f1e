//! Flags and decimals in the description of a result's column, derived from the column and its
//! type.

use crate::expr::{Expr, Node, SubqueryUse};
use crate::sink::column_flag;
use engine::{ColumnDef, ColumnDefault, IndexRef, Table};
use types::{ColumnType, TypeCode};

/// Returns a column's [`column_flag`] bits.
pub(crate) fn column_flags(table: &Table, at: usize) -> u16 {
    let column = &table.def.columns[at];
    let mut flags = type_flags(&column.ty);
    let first_of = |index: IndexRef| table.index_columns(index).first().is_some_and(|part| part.column == at);
    if !column.nullable {
        flags |= column_flag::NOT_NULL;
    }
    if table.def.primary.iter().flatten().any(|part| part.column == at) {
        flags |= column_flag::PRI_KEY | column_flag::PART_KEY;
    }
    for (index, def) in table.def.indexes.iter().enumerate() {
        if def.columns.iter().any(|part| part.column == at) {
            flags |= column_flag::PART_KEY;
        }
        if first_of(IndexRef::Secondary(index)) {
            let alone = def.unique && def.columns.len() == 1;
            flags |= if alone { column_flag::UNIQUE_KEY } else { column_flag::MULTIPLE_KEY };
        }
    }
    flags | default_flags(column)
}

fn default_flags(column: &ColumnDef) -> u16 {
    let mut flags = 0;
    if column.auto_increment {
        flags |= column_flag::AUTO_INCREMENT;
    }
    if column.on_update_now {
        flags |= column_flag::ON_UPDATE_NOW | column_flag::TIMESTAMP;
    }
    if matches!(column.default, Some(ColumnDefault::CurrentTimestamp)) {
        flags |= column_flag::TIMESTAMP;
    }
    if column.default.is_none() && !column.auto_increment {
        flags |= column_flag::NO_DEFAULT_VALUE;
    }
    flags
}

fn is_number(ty: &ColumnType) -> bool {
    ty.is_integer()
        || matches!(ty.code, TypeCode::NewDecimal | TypeCode::Float | TypeCode::Double | TypeCode::Year)
}

/// Returns the bits that follow from a type alone.
pub(crate) fn type_flags(ty: &ColumnType) -> u16 {
    let mut flags = 0;
    if ty.unsigned {
        flags |= column_flag::UNSIGNED;
    }
    if ty.form.is_some_and(|form| form.zerofill()) {
        flags |= column_flag::ZEROFILL;
    }
    if ty.is_blob() {
        flags |= column_flag::BLOB;
    }
    let has_bytes = ty.collation == types::collation::BINARY && ty.text_form().is_none();
    if has_bytes && !is_number(ty) && ty.code != TypeCode::Bit {
        flags |= column_flag::BINARY;
    }
    match ty.code {
        TypeCode::Enum => flags |= column_flag::ENUM,
        TypeCode::Set => flags |= column_flag::SET,
        TypeCode::Bit => flags |= column_flag::UNSIGNED,
        TypeCode::Year => flags |= column_flag::UNSIGNED | column_flag::ZEROFILL,
        _ => {}
    }
    flags
}

/// The bits that a number has beside those of its type, where it is no column of a table.
pub(crate) fn number_flags(ty: &ColumnType) -> u16 {
    if is_number(ty) { column_flag::BINARY } else { 0 }
}

/// The bits that a type brings to an expression of it: MySQL says less of one than of a column.
pub(crate) fn value_flags(ty: &ColumnType) -> u16 {
    use column_flag::{BLOB, ENUM, SET, ZEROFILL};
    type_flags(ty) & !(BLOB | ENUM | SET | ZEROFILL) | number_flags(ty)
}

/// Functions whose result is one of their arguments.
const OF_ARGUMENTS: [&str; 3] = ["any_value", "greatest", "least"];

/// Whether an expression is an integer that it makes itself, and no column's or argument's.
pub(crate) fn makes_integer(expr: &Expr) -> bool {
    let any = |exprs: &[Expr]| exprs.iter().any(makes_integer);
    match &expr.node {
        Node::Slot(_) | Node::Outer(_) | Node::Constant(_) | Node::InsertedValue(_) => false,
        Node::Stored { .. } | Node::UserVariable(_) | Node::AssignVariable(..) => false,
        Node::Subquery { what: SubqueryUse::Scalar, .. } => false,
        Node::Case { whens, otherwise, .. } => {
            whens.iter().map(|(_, then)| then).chain(otherwise.as_deref()).any(makes_integer)
        }
        Node::If(operands) => any(&operands[1..]),
        Node::NullIf { operands, .. } => makes_integer(&operands[0]),
        Node::Coalesce(operands) => any(operands),
        Node::Call { function, args } if OF_ARGUMENTS.contains(&function.name) => any(args),
        _ => expr.ty.code == TypeCode::Long,
    }
}

/// Returns the number of decimals in the description of a column of this type.
pub(crate) fn decimals(ty: &ColumnType) -> u8 {
    match ty.code {
        TypeCode::NewDecimal => ty.scale(),
        TypeCode::Float | TypeCode::Double => ty.form.and_then(|form| form.decimals()).unwrap_or(NOT_FIXED),
        _ => ty.fsp(),
    }
}

/// The number of decimals that stands for "not fixed".
pub(crate) const NOT_FIXED: u8 = 31;
