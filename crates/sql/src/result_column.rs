//! Flags and decimals in the description of a result's column, derived from the column and its
//! type.

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
        flags |= column_flag::PRI_KEY;
    }
    for (index, def) in table.def.indexes.iter().enumerate() {
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
    if ty.collation == types::collation::BINARY && ty.text_form().is_none() {
        flags |= column_flag::BINARY;
    }
    match ty.code {
        TypeCode::Enum => flags |= column_flag::ENUM,
        TypeCode::Set => flags |= column_flag::SET,
        _ if ty.is_integer()
            || matches!(ty.code, TypeCode::NewDecimal | TypeCode::Float | TypeCode::Double) =>
        {
            flags |= column_flag::NUM;
            flags &= !column_flag::BINARY;
            flags |= column_flag::BINARY;
        }
        _ => {}
    }
    flags
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
