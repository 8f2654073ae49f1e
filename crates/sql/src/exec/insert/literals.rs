//! Rows of literals straight into row images.

use super::Generator;
use crate::error::Result;
use crate::exec::Run;
use crate::exec::assign::for_default;
use crate::literal_rows::{Literal, LiteralRows};
use engine::{ColumnDef, ColumnDefault, Table};
use std::sync::Arc;
use types::convert::{self, LiteralKind, pack_literal};
use types::packed::{self, Width};
use types::{TypeCode, Value};

/// Where a column of the row gets its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::exec) enum ColumnSource {
    /// From the literal at this place of the row.
    Literal(usize),
    Generated,
    Null,
    /// From the column's default, which is not NULL.
    Default,
}

/// A row of literals.
pub(in crate::exec) trait RowOfLiterals {
    /// What the literal at this place is.
    fn kind(&self, place: usize) -> LiteralKind;
    /// Its text, as its kind says.
    fn text(&self, place: usize) -> &[u8];
    /// The value that it stands for.
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

/// The sources of a table's columns, when literals are given for these.
pub(in crate::exec) fn sources(table: &Table, columns: &[usize]) -> Vec<ColumnSource> {
    let of = |(at, column): (usize, &ColumnDef)| match columns.iter().position(|given| *given == at) {
        Some(place) => ColumnSource::Literal(place),
        None if table.def.auto_increment_column() == Some(at) => ColumnSource::Generated,
        None if column.nullable && matches!(column.default, Some(ColumnDefault::Null)) => ColumnSource::Null,
        None => ColumnSource::Default,
    };
    table.def.columns.iter().enumerate().map(of).collect()
}

/// A text is no value for a VECTOR column.
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

/// Whether a literal is never stored just as it is written: a number that is generated or no whole
/// one, and a text that is no vector.
fn takes_the_long_way(kind: LiteralKind, text: &[u8], column: &ColumnDef, is_generated: bool) -> bool {
    is_generated && (kind != LiteralKind::Integer || matches!(text[0], b'0' | b'-'))
        || column.ty.code == TypeCode::Vector && is_written_text(kind)
}

fn is_written_text(kind: LiteralKind) -> bool {
    matches!(kind, LiteralKind::Text | LiteralKind::EscapedText)
}

/// Sets `image` to the row. False: some value is not stored just as it is written, and the row
/// has to go the long way, which knows what to say about it and in which order.
pub(in crate::exec) fn to_image(
    table: &Arc<Table>,
    run: &Run<'_, '_>,
    row: &impl RowOfLiterals,
    sources: &[ColumnSource],
    generator: &mut Generator,
    image: &mut Vec<u8>,
) -> Result<bool> {
    let variables = run.ctx.variables;
    let generates_in_turn = variables.insert_id.is_none() && variables.auto_increment_increment == 1;
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
                    // What is generated next has to be greater than this value.
                    false
                } else if takes_the_long_way(kind, text, column, is_generated) {
                    false
                } else {
                    pack_literal(kind, text, &column.ty, image)
                        || pack_value(run.ctx.conversion(true), &row.value(place), column, image)
                }
            }
            ColumnSource::Generated => match packed::width(&column.ty) {
                // Taken last, when nothing keeps the row from being stored.
                Width::Fixed(len) if generates_in_turn => {
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

/// Puts the next AUTO_INCREMENT value into the room that it has in the image.
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
        // The long way takes the same value again, and says what is wrong with it.
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

/// Appends what the value becomes in the column; false, when something is to be said about that.
fn pack_value(context: convert::Context, value: &Value, column: &ColumnDef, image: &mut Vec<u8>) -> bool {
    match convert::assign(value, &column.ty, context) {
        Ok((value, None)) => packed::encode(&column.ty, &value, image).is_ok(),
        _ => false,
    }
}
