//! Columns, their types and the forms of their numbers as bytes.

use crate::bytes::{Put, Reader};
use crate::definition::{ColumnDef, ColumnDefault};
use crate::error::Result;
use types::{ColumnType, NumberForm, TextForm, TypeCode};

/// The number of digits of a form that says nothing of them.
const ANY_DECIMALS: u8 = 31;
const MOST_DECIMALS: u8 = 30;
/// The number of digits of a column whose bytes have a text form. The width says which form.
const OF_TEXT: u8 = 32;

const NO_DEFAULT: u8 = 0;
const DEFAULT_NULL: u8 = 1;
const DEFAULT_LITERAL: u8 = 2;
const DEFAULT_NOW: u8 = 3;
const DEFAULT_EXPRESSION: u8 = 4;

const NULLABLE: u8 = 1;
const AUTO_INCREMENT: u8 = 2;
const ON_UPDATE_NOW: u8 = 4;
const INVISIBLE: u8 = 8;
const NAMES_COLLATION: u8 = 16;

pub(crate) fn put_type(out: &mut Vec<u8>, ty: &ColumnType) {
    out.put_u8(ty.code as u8);
    out.put_u16(ty.meta);
    out.put_bool(ty.unsigned);
    out.put_u16(ty.collation);
    let members = ty.members.as_deref().unwrap_or_default();
    out.put_varint(members.len() as u64);
    for member in members {
        out.put_str(member);
    }
}

pub(crate) fn read_type(reader: &mut Reader<'_>) -> Result<ColumnType> {
    let code = TypeCode::from_u8(reader.u8()?).ok_or_else(|| reader.impossible("column type"))?;
    let meta = reader.u16()?;
    let unsigned = reader.bool()?;
    let collation = reader.u16()?;
    let count = reader.count()?;
    let members = (0..count).map(|_| reader.string()).collect::<Result<Vec<_>>>()?;
    let has_members = matches!(code, TypeCode::Enum | TypeCode::Set);
    Ok(ColumnType {
        code,
        meta,
        unsigned,
        collation,
        members: has_members.then(|| members.into()),
        form: None,
        shape: None,
    })
}

pub(super) fn flag(set: bool, bit: u8) -> u8 {
    if set { bit } else { 0 }
}

pub(super) fn put_column(out: &mut Vec<u8>, column: &ColumnDef) {
    out.put_str(&column.name);
    put_type(out, &column.ty);
    out.put_u8(
        flag(column.nullable, NULLABLE)
            | flag(column.auto_increment, AUTO_INCREMENT)
            | flag(column.on_update_now, ON_UPDATE_NOW)
            | flag(column.invisible, INVISIBLE)
            | flag(column.names_collation, NAMES_COLLATION),
    );
    match &column.default {
        None => out.put_u8(NO_DEFAULT),
        Some(ColumnDefault::Null) => out.put_u8(DEFAULT_NULL),
        Some(ColumnDefault::Literal(text)) => {
            out.put_u8(DEFAULT_LITERAL);
            out.put_bytes(text);
        }
        Some(ColumnDefault::CurrentTimestamp) => out.put_u8(DEFAULT_NOW),
        Some(ColumnDefault::Expression(text)) => {
            out.put_u8(DEFAULT_EXPRESSION);
            out.put_str(text);
        }
    }
    out.put_str(&column.comment);
}

pub(super) fn read_column(reader: &mut Reader<'_>) -> Result<ColumnDef> {
    let name = reader.string()?;
    let ty = read_type(reader)?;
    let flags = reader.u8()?;
    let default = match reader.u8()? {
        NO_DEFAULT => None,
        DEFAULT_NULL => Some(ColumnDefault::Null),
        DEFAULT_LITERAL => Some(ColumnDefault::Literal(reader.bytes()?.to_vec())),
        DEFAULT_NOW => Some(ColumnDefault::CurrentTimestamp),
        DEFAULT_EXPRESSION => Some(ColumnDefault::Expression(reader.string()?)),
        _ => return Err(reader.impossible("default")),
    };
    Ok(ColumnDef {
        name,
        ty,
        names_collation: flags & NAMES_COLLATION != 0,
        nullable: flags & NULLABLE != 0,
        default,
        auto_increment: flags & AUTO_INCREMENT != 0,
        on_update_now: flags & ON_UPDATE_NOW != 0,
        comment: reader.string()?,
        invisible: flags & INVISIBLE != 0,
        generated: None,
        roles: Default::default(),
        elements: None,
    })
}

/// Appends the forms of the columns that have one, each with the column's position.
pub(super) fn put_forms(out: &mut Vec<u8>, columns: &[ColumnDef]) {
    let forms = columns.iter().enumerate().filter_map(|(at, column)| Some((at, column.ty.form?)));
    out.put_varint(forms.clone().count() as u64);
    for (at, form) in forms {
        out.put_varint(at as u64);
        out.put_u8(form.width());
        let of_text = form.text().map(|_| OF_TEXT);
        out.put_u8(of_text.or(form.decimals()).unwrap_or(ANY_DECIMALS));
        out.put_bool(form.zerofill());
    }
}

pub(super) fn read_forms(reader: &mut Reader<'_>, columns: &mut [ColumnDef]) -> Result<()> {
    for _ in 0..reader.count()? {
        let at = reader.varint()? as usize;
        let (width, decimals, zerofill) = (reader.u8()?, reader.u8()?, reader.bool()?);
        if decimals == OF_TEXT {
            let text = TextForm::ALL.into_iter().find(|text| text.chars() == width);
            let (Some(text), Some(column)) = (text, columns.get_mut(at)) else {
                return Err(reader.impossible("text"));
            };
            if column.ty != ColumnType::binary(text.bytes() as u32) {
                return Err(reader.impossible("type with a text"));
            }
            column.ty = ColumnType::of_text(text);
            continue;
        }
        let decimals = Some(decimals).filter(|decimals| *decimals != ANY_DECIMALS);
        if decimals.is_some_and(|decimals| decimals > MOST_DECIMALS || decimals > width) {
            return Err(reader.impossible("digits"));
        }
        let Some(column) = columns.get_mut(at) else { return Err(reader.impossible("column")) };
        column.ty.form = Some(NumberForm::new(width, decimals, zerofill));
    }
    Ok(())
}
