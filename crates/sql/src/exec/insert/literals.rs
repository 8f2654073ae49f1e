//! Encodes rows of literals directly as row images, without values in between.

use super::Generator;
use super::groups;
use crate::error::Result;
use crate::exec::Run;
use crate::exec::assign::for_default;
use crate::literal_rows::{Literal, LiteralRows};
use engine::{ColumnDef, ColumnDefault, Table};
use std::sync::Arc;
use types::convert::{self, LiteralKind, pack_literal};
use types::packed::{self, Width};
use types::{TypeCode, Value};

/// The source of a column's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::exec) enum ColumnSource {
    /// The literal at this position in the row.
    Literal(usize),
    Generated,
    Null,
    /// The column's default, which is not NULL.
    Default,
}

/// A row of literals.
pub(in crate::exec) trait RowOfLiterals {
    /// Returns the kind of the literal at this position.
    fn kind(&self, place: usize) -> LiteralKind;
    /// Returns the text of the literal, whose form depends on its kind.
    fn text(&self, place: usize) -> &[u8];
    /// Returns the value of the literal.
    fn value(&self, place: usize) -> Value;
}

/// A row of a VALUES list.
pub(in crate::exec) struct ListedRow<'r> {
    pub rows: &'r LiteralRows,
    pub row: &'r [Literal],
}

impl RowOfLiterals for ListedRow<'_> {
    #[inline]
    fn kind(&self, place: usize) -> LiteralKind {
        self.row[place].kind
    }

    #[inline]
    fn text(&self, place: usize) -> &[u8] {
        self.rows.text_of(self.row[place])
    }

    #[inline]
    fn value(&self, place: usize) -> Value {
        self.rows.value(self.row[place])
    }
}

/// Returns the sources of a table's columns when literals are given for `columns`.
pub(in crate::exec) fn sources(table: &Table, columns: &[usize]) -> Vec<ColumnSource> {
    let of = |(at, column): (usize, &ColumnDef)| match columns.iter().position(|given| *given == at) {
        Some(place) => ColumnSource::Literal(place),
        None if table.def.auto_increment_column() == Some(at) && !column.nullable => ColumnSource::Generated,
        None if column.nullable && matches!(column.default, Some(ColumnDefault::Null)) => ColumnSource::Null,
        None => ColumnSource::Default,
    };
    table.def.columns.iter().enumerate().map(of).collect()
}

/// Refuses a text as the value of a VECTOR column.
pub(in crate::exec) fn check_vectors(
    table: &Table,
    columns: &[usize],
    rows: &LiteralRows,
    row: &[Literal],
) -> Result<()> {
    let refused = row.iter().zip(columns).find(|(literal, at)| {
        table.def.columns[**at].ty.code == TypeCode::Vector && is_written_text(literal.kind)
    });
    match refused {
        Some((literal, _)) => match rows.value(*literal) {
            Value::Bytes(text) => Err(crate::expr::no_vector(text.len())),
            other => unreachable!("a text is bytes, not {other:?}"),
        },
        None => Ok(()),
    }
}

/// Reports whether a literal can never be stored just as it is written: in the AUTO_INCREMENT
/// column anything but an integer that begins with a digit from 1 to 9, and in a VECTOR column a
/// text.
fn takes_the_long_way(kind: LiteralKind, text: &[u8], column: &ColumnDef, is_generated: bool) -> bool {
    is_generated && (kind != LiteralKind::Integer || matches!(text[0], b'0' | b'-'))
        || column.ty.code == TypeCode::Vector && is_written_text(kind)
}

fn is_written_text(kind: LiteralKind) -> bool {
    matches!(kind, LiteralKind::Text | LiteralKind::EscapedText)
}

/// Sets `image` to the image of the row. Returns false if some value cannot be stored just as it is
/// written: the row then has to be converted value by value, which knows the warnings and errors
/// and their order.
pub(in crate::exec) fn to_image(
    table: &Arc<Table>,
    run: &Run<'_, '_>,
    row: &impl RowOfLiterals,
    sources: &[ColumnSource],
    generator: &mut Generator,
    image: &mut Vec<u8>,
) -> Result<bool> {
    let variables = run.ctx.variables;
    let is_given = generator.is_given() || variables.insert_ids.given().is_some();
    let generates_in_turn = !is_given && variables.auto_increment_increment == 1;
    let mut generated = None;
    image.clear();
    image.resize(table.layout.null_bytes(), 0);
    for (at, (source, column)) in sources.iter().zip(&table.def.columns).enumerate() {
        let is_packed = match *source {
            ColumnSource::Literal(place) => {
                let (kind, is_generated) = (row.kind(place), generator.column == Some(at));
                let text = row.text(place);
                if kind == LiteralKind::Null {
                    set_null(image, at);
                    column.nullable && !is_generated
                } else if is_generated && generator.first.is_some() {
                    // The next generated value has to be greater than this one, which only the
                    // conversion value by value sees to.
                    false
                } else if takes_the_long_way(kind, text, column, is_generated) {
                    false
                } else {
                    pack_literal(kind, text, &column.ty, image)
                        || pack_value(run.ctx.conversion(true), &row.value(place), column, image)
                }
            }
            ColumnSource::Generated => match packed::width(&column.ty) {
                // The value is generated last, when nothing can keep the row from being stored any
                // more.
                Width::Fixed(len) if generates_in_turn && groups::of(&table.def).is_none() => {
                    generated = Some((image.len(), column));
                    image.resize(image.len() + usize::from(len), 0);
                    true
                }
                _ => false,
            },
            ColumnSource::Null => {
                set_null(image, at);
                true
            }
            ColumnSource::Default => column
                .default_literal()
                .is_some_and(|literal| pack_value(for_default(run.ctx), &literal, column, image)),
        };
        if !is_packed {
            return Ok(false);
        }
    }
    match generated {
        Some((at, column)) => put_generated(table, run, at, column, generator, image),
        None => Ok(true),
    }
}

/// Puts the next AUTO_INCREMENT value into the place that the image has for it.
fn put_generated(
    table: &Arc<Table>,
    run: &Run<'_, '_>,
    at: usize,
    column: &ColumnDef,
    generator: &mut Generator,
    image: &mut Vec<u8>,
) -> Result<bool> {
    let (first, end) = (generator.first, image.len());
    let id = generator.next(table, run)?;
    if packed::encode(&column.ty, &Value::UInt(id), image).is_err() {
        // The conversion value by value takes the same number again and reports what is wrong with
        // it.
        generator.reserved.start -= 1;
        generator.first = first;
        return Ok(false);
    }
    image.copy_within(end.., at);
    image.truncate(end);
    Ok(true)
}

fn set_null(image: &mut [u8], at: usize) {
    image[at / 8] |= 1 << (at % 8);
}

/// Appends the encoded value. Returns false if the conversion has an error or a warning.
fn pack_value(context: convert::Context, value: &Value, column: &ColumnDef, image: &mut Vec<u8>) -> bool {
    match convert::assign(value, &column.ty, context) {
        Ok((value, None)) => packed::encode(&column.ty, &value, image).is_ok(),
        _ => false,
    }
}
