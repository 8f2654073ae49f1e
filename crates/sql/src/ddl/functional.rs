//! Functional indexes. As in MySQL, an expression among the parts of a key becomes a hidden virtual
//! column, the last one of the table, and the key an ordinary index. Where this server cannot
//! compute the expression the index is only kept ([`super::expression::kept_index`]).

use super::key::{MOST_KEY_BYTES, key_part};
use super::multi_valued::{elements_of, is_array};
use super::settings::DdlSettings;
use crate::ast::{KeyKind, KeySpec};
use crate::error::{Result, SqlError};
use crate::expr::without_width;
use engine::{ColumnDef, ColumnRoles, Generated, IndexColumn, IndexDef, KeptIndex, TableDef};
use types::{ColumnType, TypeCode, collation};

/// Makes a functional index one that is maintained. Returns the index back if it can only be kept.
///
/// # Errors
/// Returns 3753 and 3757 for expressions whose values cannot be in a key, and the errors of its
/// other parts.
pub(super) fn maintained(
    def: &mut TableDef,
    key: &KeySpec,
    kept: KeptIndex,
    settings: &DdlSettings,
) -> Result<Option<KeptIndex>> {
    if settings.types.is_none() || def.temporal.versioning.is_some() {
        return Ok(Some(kept));
    }
    let mut new = def.clone();
    match add(&mut new, key, &kept, settings) {
        Ok(true) => {
            *def = new;
            Ok(None)
        }
        Ok(false) => Ok(Some(kept)),
        Err(_) if settings.replicated => Ok(Some(kept)),
        Err(error) => Err(error),
    }
}

/// Adds the index with its hidden columns. Returns false if an expression cannot be computed here.
fn add(def: &mut TableDef, key: &KeySpec, kept: &KeptIndex, settings: &DdlSettings) -> Result<bool> {
    let mut columns: Vec<IndexColumn> = Vec::with_capacity(key.parts.len());
    let mut bytes = 0;
    for (number, (part, written)) in kept.parts.iter().zip(&key.parts).enumerate() {
        let made = match part.is_expression {
            false => key_part(def, written, &columns)?,
            true => {
                let elements = elements_of(&part.text);
                let ty = match (&elements, &settings.types) {
                    (Some(_), Some(types)) => types.of(def, &part.text, settings).ok(),
                    _ => type_of(def, &part.text, settings)?,
                };
                let Some(ty) = ty else { return Ok(false) };
                let mut column = ColumnDef::new(&format!("!hidden!{}!{number}!0", kept.name), ty);
                column.generated = Some(Generated { expression: part.text.clone(), stored: false });
                column.invisible = true;
                column.elements = elements;
                column.roles.add(ColumnRoles::INDEXED_EXPRESSION);
                def.columns.push(column);
                let column = def.columns.len() - 1;
                IndexColumn { column, prefix: None, descending: part.descending }
            }
        };
        let column = &def.columns[made.column];
        let ty = column.elements.as_ref().unwrap_or(&column.ty);
        bytes += match made.prefix {
            Some(chars) => u64::from(chars) * u64::from(collation::max_bytes_per_char(ty.collation)),
            None => ty.max_bytes(),
        };
        columns.push(made);
    }
    if bytes > MOST_KEY_BYTES {
        return Err(SqlError::new(1071, "Specified key was too long; max key length is 3072 bytes"));
    }
    let (name, comment, invisible) = (kept.name.clone(), kept.comment.clone(), kept.invisible);
    let unique = key.kind == KeyKind::Unique;
    def.indexes.push(IndexDef {
        id: 0,
        name,
        unique,
        columns,
        comment,
        invisible,
        generated: false,
        using_btree: key.using_btree,
    });
    Ok(true)
}

/// Returns the type of the hidden column for an expression, or `None` if the expression cannot be
/// computed here.
///
/// # Errors
/// Returns 3753 and 3757 for types that no key has.
fn type_of(def: &TableDef, text: &str, settings: &DdlSettings) -> Result<Option<ColumnType>> {
    let Some(types) = &settings.types else { return Ok(None) };
    let Ok(ty) = types.of(def, text, settings) else { return Ok(None) };
    if is_array(text) {
        // Of a source: an array of elements that no index of this server has.
        return Ok(None);
    }
    match ty.code {
        TypeCode::Json | TypeCode::Geometry => {
            let text =
                "Cannot create a functional index on a function that returns a JSON or GEOMETRY value.";
            Err(SqlError::new(3753, text))
        }
        _ if ty.is_blob() => {
            let text = "Cannot create a functional index on an expression that returns a BLOB or TEXT. Please \
                        consider using CAST.";
            Err(SqlError::new(3757, text))
        }
        TypeCode::Null => Ok(Some(ColumnType::binary(0))),
        // A year of a date may be one that no YEAR column holds.
        TypeCode::Year => Ok(Some(ColumnType::int(false))),
        _ => Ok(Some(without_width(ty))),
    }
}

/// Gives the hidden columns the types that their expressions have now that other columns may have
/// new ones.
///
/// # Errors
/// Returns the errors of [`type_of`].
pub(super) fn follow_types(def: &mut TableDef, settings: &DdlSettings) -> Result<()> {
    for at in def.named_columns()..def.columns.len() {
        let Some(generated) = &def.columns[at].generated else { continue };
        if def.columns[at].elements.is_some() {
            continue;
        }
        if let Some(ty) = type_of(def, &generated.expression, settings)? {
            def.columns[at].ty = ty;
        }
    }
    Ok(())
}

/// Removes the hidden columns that no index has any longer.
pub(super) fn forget_columns(def: &mut TableDef, sources: &mut Vec<Option<usize>>) {
    for at in (def.named_columns()..def.columns.len()).rev() {
        if def.index_of_expression(at).is_some() {
            continue;
        }
        def.columns.remove(at);
        sources.remove(at);
        let parts = def.indexes.iter_mut().flat_map(|index| &mut index.columns);
        parts.for_each(|part| part.column -= usize::from(part.column > at));
    }
}
