//! Flags and decimals in the description of a result's column, derived from the column and its
//! type.

use crate::expr::{column_type, without_width};
use crate::sink::{ColumnMeta, column_flag};
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
    if ty.is_character() && types::collation::name(ty.collation).ends_with("_bin") {
        flags |= column_flag::BINARY;
    }
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

/// Returns the type of the column of a table, or of a view, that is made of a result's column: that
/// of a column that it shows, or the one that MySQL makes of an expression.
pub(crate) fn made_type(meta: &ColumnMeta) -> ColumnType {
    match meta.ty.code {
        TypeCode::Null => ColumnType::varbinary(0),
        _ if meta.ty.text_form().is_some() => {
            meta.ty.text_form().map_or(ColumnType::varbinary(0), ColumnType::of_text)
        }
        TypeCode::Year if !meta.ty.form.is_some_and(|form| form.is_kept()) => ColumnType::year(),
        _ if meta.org_name.is_empty() => without_width(column_type(&meta.ty)),
        _ => meta.ty.clone(),
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

/// Returns the description of a column of a computed result.
pub(crate) fn column_meta(name: &str, ty: ColumnType, nullable: bool) -> ColumnMeta {
    ColumnMeta {
        schema: String::new(),
        table: String::new(),
        org_table: String::new(),
        name: name.to_owned(),
        org_name: name.to_owned(),
        flags: number_flags(&ty) | type_flags(&ty) | if nullable { 0 } else { column_flag::NOT_NULL },
        decimals: decimals(&ty),
        ty,
    }
}
