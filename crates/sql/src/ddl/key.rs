//! Keys over columns: their parts and their names.

use super::temporal::parts_of_period;
use crate::ast::{ColumnSpec, KeyKind, KeyPart, KeySpec};
use crate::error::{Result, SqlError};
use engine::{IndexColumn, IndexDef, TableDef};
use types::{ColumnType, TypeCode, collation};

/// The most parts and bytes that a key may have.
const MOST_KEY_PARTS: usize = 16;
pub(super) const MOST_KEY_BYTES: u64 = 3072;

/// Returns the keys that are written as attributes of a column.
pub(super) fn keys_of_column(spec: &ColumnSpec) -> Vec<KeySpec> {
    let wanted = [(spec.primary, KeyKind::Primary), (spec.unique, KeyKind::Unique)];
    let kinds = wanted.into_iter().filter(|(is_wanted, _)| *is_wanted).map(|(_, kind)| kind);
    kinds
        .map(|kind| KeySpec {
            kind,
            name: None,
            parts: vec![KeyPart {
                column: spec.name.clone(),
                expression: None,
                prefix: None,
                descending: false,
                ordered: false,
            }],
            comment: String::new(),
            invisible: false,
            is_rtree: false,
            parser: None,
            without_overlaps: None,
            vector_options: String::new(),
            using_btree: false,
        })
        .collect()
}

/// Returns the columns of a key, checked.
pub(super) fn key_parts(def: &TableDef, key: &KeySpec) -> Result<Vec<IndexColumn>> {
    if key.parts.len() > MOST_KEY_PARTS {
        return Err(SqlError::new(1070, "Too many key parts specified; max 16 parts allowed"));
    }
    let mut parts: Vec<IndexColumn> = Vec::with_capacity(key.parts.len());
    let mut bytes = 0;
    for part in &key.parts {
        let part = key_part(def, part, &parts)?;
        let ty = &def.columns[part.column].ty;
        bytes += match part.prefix {
            Some(chars) => u64::from(chars) * u64::from(collation::max_bytes_per_char(ty.collation)),
            None => ty.max_bytes(),
        };
        parts.push(part);
    }
    if bytes > MOST_KEY_BYTES {
        return Err(SqlError::new(1071, "Specified key was too long; max key length is 3072 bytes"));
    }
    Ok(parts)
}

/// Returns the part of a key for a column, which none of the parts `before` may have.
pub(super) fn key_part(def: &TableDef, part: &KeyPart, before: &[IndexColumn]) -> Result<IndexColumn> {
    let at = def
        .column(&part.column)
        .ok_or_else(|| SqlError::new(1072, format!("Key column '{}' doesn't exist in table", part.column)))?;
    if before.iter().any(|other| other.column == at) {
        return Err(SqlError::new(1060, format!("Duplicate column name '{}'", part.column)));
    }
    let prefix = key_prefix(part, &def.columns[at].ty)?;
    Ok(IndexColumn { column: at, prefix, descending: part.descending })
}

fn key_prefix(part: &KeyPart, ty: &ColumnType) -> Result<Option<u32>> {
    let is_text = ty.is_blob() || matches!(ty.code, TypeCode::Varchar | TypeCode::String);
    if ty.code == TypeCode::Json {
        return Err(SqlError::new(
            3152,
            format!(
                "JSON column '{}' supports indexing only via generated columns on a specified JSON path.",
                part.column
            ),
        ));
    }
    match part.prefix {
        None if ty.is_blob() => Err(SqlError::new(
            1170,
            format!("BLOB/TEXT column '{}' used in key specification without a key length", part.column),
        )),
        None => Ok(None),
        Some(0) => Err(SqlError::new(1391, format!("Key part '{}' length cannot be 0", part.column))),
        Some(_) if !is_text => Err(wrong_prefix()),
        Some(chars) if !ty.is_blob() && chars > ty.chars() => Err(wrong_prefix()),
        // A prefix of the whole length is no prefix.
        Some(chars) if !ty.is_blob() && chars == ty.chars() => Ok(None),
        Some(chars) => Ok(Some(chars)),
    }
}

pub(super) fn wrong_prefix() -> SqlError {
    SqlError::new(
        1089,
        "Incorrect prefix key; the used key part isn't a string, the used length is longer than the key part, or the \
         storage engine doesn't support unique prefix keys",
    )
}

/// Returns a name for a key without one: that of its first column, with a number if it is taken.
pub(super) fn free_key_name(def: &TableDef, first: &str) -> String {
    let taken = |name: &str| {
        def.index(name).is_some() || def.kept_index(name).is_some() || name.eq_ignore_ascii_case("PRIMARY")
    };
    if !taken(first) {
        return first.to_owned();
    }
    (2..).map(|n| format!("{first}_{n}")).find(|name| !taken(name)).unwrap_or_default()
}

/// Returns the name of a new key: its own, or a free one after the name of its first part.
///
/// # Errors
/// Returns 1280 for the name `PRIMARY`, and 1061 for a name that another key has.
pub(super) fn key_name(def: &TableDef, key: &KeySpec, first: &str) -> Result<String> {
    match &key.name {
        Some(name) if name.eq_ignore_ascii_case("PRIMARY") => {
            Err(SqlError::new(1280, format!("Incorrect index name '{name}'")))
        }
        Some(name) if def.index(name).is_some() || def.kept_index(name).is_some() => {
            Err(SqlError::new(1061, format!("Duplicate key name '{name}'")))
        }
        Some(name) => Ok(name.clone()),
        None => Ok(free_key_name(def, first)),
    }
}

/// Returns the definition of a secondary index.
pub(super) fn key_definition(def: &TableDef, key: &KeySpec) -> Result<IndexDef> {
    let mut columns = key_parts(def, key)?;
    columns.extend(parts_of_period(def, key)?);
    let name = key_name(def, key, &key.parts[0].column)?;
    let unique = key.kind == KeyKind::Unique;
    let (comment, invisible) = (key.comment.clone(), key.invisible);
    let using_btree = key.using_btree;
    Ok(IndexDef { id: 0, name, unique, columns, comment, invisible, generated: false, using_btree })
}
