//! Keys of MariaDB that are longer than a key may be here: UNIQUE keys over BLOB, TEXT or long
//! VARCHAR columns, for which MariaDB keeps a hash; other keys, which it cuts; and keys over the
//! bytes of geometries.

use super::key::{MOST_KEY_BYTES, free_key_name};
use super::settings::DdlSettings;
use crate::ast::{KeyKind, KeyPart, KeySpec};
use engine::{IndexColumn, IndexDef, KeptIndex, KeptKind, KeptPart, TableDef};
use std::borrow::Cow;
use types::{ColumnType, GeometryKind, TypeCode, collation};

/// The bytes of a point, which MariaDB's keys over points have whatever prefix is written.
const POINT_BYTES: u32 = 25;

/// Returns the key with prefixes, if it would be too long. A UNIQUE key becomes an ordinary one:
/// rows are found by it, but that their values differ is left to the source.
pub(super) fn fitted<'a>(def: &TableDef, key: &'a KeySpec, settings: &DdlSettings) -> Cow<'a, KeySpec> {
    if !settings.of_mariadb || key.kind == KeyKind::Primary {
        return Cow::Borrowed(key);
    }
    let types: Option<Vec<&ColumnType>> =
        key.parts.iter().map(|part| Some(&def.columns[def.column(&part.column)?].ty)).collect();
    let Some(types) = types else { return Cow::Borrowed(key) };
    let bytes: Vec<u64> = key.parts.iter().zip(&types).map(|(part, ty)| part_bytes(part, ty)).collect();
    if bytes.iter().sum::<u64>() <= MOST_KEY_BYTES {
        return with_lengths(key, &types);
    }
    // The parts that have to be cut share the bytes that the others leave.
    let fair = MOST_KEY_BYTES / bytes.len() as u64;
    let short: u64 = bytes.iter().filter(|bytes| **bytes <= fair).sum();
    let long = bytes.iter().filter(|bytes| **bytes > fair).count() as u64;
    let room = (MOST_KEY_BYTES - short) / long;
    let mut fitted = key.clone();
    for ((part, ty), bytes) in fitted.parts.iter_mut().zip(types).zip(bytes) {
        if bytes > room && can_be_cut(ty) {
            let chars = room / u64::from(collation::max_bytes_per_char(ty.collation));
            part.prefix = Some(chars as u32);
            fitted.kind = KeyKind::Index;
        }
    }
    Cow::Owned(fitted)
}

/// Fits the indexes of a table whose columns a statement of MariaDB has changed.
pub(super) fn fit_indexes(def: &mut TableDef, settings: &DdlSettings) {
    if !settings.of_mariadb {
        return;
    }
    for at in 0..def.indexes.len() {
        let index = &def.indexes[at];
        if index.columns.iter().any(|part| def.columns[part.column].is_indexed_expression()) {
            continue;
        }
        if let Cow::Owned(fitted) = fitted(def, &as_written(def, index), settings) {
            let index = &mut def.indexes[at];
            index.unique = fitted.kind == KeyKind::Unique;
            for (part, fitted) in index.columns.iter_mut().zip(fitted.parts) {
                part.prefix = fitted.prefix;
            }
        }
    }
}

/// Returns an index as a statement would write it.
fn as_written(def: &TableDef, index: &IndexDef) -> KeySpec {
    let part = |part: &IndexColumn| KeyPart {
        column: def.columns[part.column].name.clone(),
        expression: None,
        prefix: part.prefix,
        descending: part.descending,
        ordered: part.descending,
    };
    KeySpec {
        kind: if index.unique { KeyKind::Unique } else { KeyKind::Index },
        name: Some(index.name.clone()),
        parts: index.columns.iter().map(part).collect(),
        comment: index.comment.clone(),
        invisible: index.invisible,
        is_rtree: false,
        parser: None,
        without_overlaps: None,
        vector_options: String::new(),
        using_btree: index.using_btree,
    }
}

/// Returns a UNIQUE key in which BLOB and TEXT columns have lengths, where they are short enough
/// for a key.
fn with_lengths<'a>(key: &'a KeySpec, types: &[&ColumnType]) -> Cow<'a, KeySpec> {
    let lacks_length = |(part, ty): (&KeyPart, &&ColumnType)| part.prefix.is_none() && ty.is_blob();
    if key.kind != KeyKind::Unique || !key.parts.iter().zip(types).any(lacks_length) {
        return Cow::Borrowed(key);
    }
    let mut fitted = key.clone();
    for (part, ty) in fitted.parts.iter_mut().zip(types) {
        if lacks_length((part, ty)) {
            let char_bytes = u64::from(collation::max_bytes_per_char(ty.collation));
            part.prefix = Some((ty.max_bytes() / char_bytes) as u32);
            // The column may have more characters than that, if they are short.
            if char_bytes > 1 {
                fitted.kind = KeyKind::Index;
            }
        }
    }
    Cow::Owned(fitted)
}

/// Returns the key of a MariaDB source over geometries with the prefixes that MariaDB gives it:
/// MySQL has no such keys. `None` for any other key, and for a UNIQUE key over a geometry without a
/// prefix, for which MariaDB keeps a hash.
pub(super) fn over_geometry(def: &TableDef, key: &KeySpec, settings: &DdlSettings) -> Option<KeySpec> {
    let is_plain = matches!(key.kind, KeyKind::Primary | KeyKind::Index | KeyKind::Unique);
    if !settings.of_mariadb || !is_plain {
        return None;
    }
    let mut fitted = key.clone();
    let mut has_geometry = false;
    for part in &mut fitted.parts {
        let ty = &def.columns[def.column(&part.column)?].ty;
        if ty.code != TypeCode::Geometry {
            continue;
        }
        has_geometry = true;
        part.prefix = match (ty.geometry_kind(), part.prefix, key.kind) {
            (GeometryKind::Point, ..) => Some(POINT_BYTES),
            (_, None, KeyKind::Index) => Some(MOST_KEY_BYTES as u32),
            (_, prefix, _) => Some(prefix?),
        };
    }
    has_geometry.then_some(fitted)
}

/// Returns the index for a UNIQUE key of a MariaDB source over whole geometries. The index is
/// recorded, but not maintained. Returns `None` for any other key.
pub(super) fn hashed_geometry(def: &TableDef, key: &KeySpec, settings: &DdlSettings) -> Option<KeptIndex> {
    let column = |part: &KeyPart| Some(&def.columns[def.column(&part.column)?]);
    let is_geometry = |part: &KeyPart| column(part).is_some_and(|c| c.ty.code == TypeCode::Geometry);
    if !settings.of_mariadb || key.kind != KeyKind::Unique || !key.parts.iter().any(is_geometry) {
        return None;
    }
    let part = |part: &KeyPart| {
        let (text, prefix) = (column(part)?.name.clone(), part.prefix);
        Some(KeptPart { text, is_expression: false, prefix, descending: part.descending })
    };
    let parts: Vec<KeptPart> = key.parts.iter().map(part).collect::<Option<_>>()?;
    let name = key.name.clone().unwrap_or_else(|| free_key_name(def, &parts[0].text));
    let (unique, comment, invisible) = (true, key.comment.clone(), key.invisible);
    Some(KeptIndex { name, kind: KeptKind::Functional, unique, parts, comment, invisible, entries: None })
}

fn can_be_cut(ty: &ColumnType) -> bool {
    ty.is_blob() || matches!(ty.code, TypeCode::Varchar | TypeCode::String)
}

/// Returns the most bytes that a part takes in a key.
fn part_bytes(part: &KeyPart, ty: &ColumnType) -> u64 {
    match part.prefix {
        Some(chars) => u64::from(chars) * u64::from(collation::max_bytes_per_char(ty.collation)),
        None => ty.max_bytes(),
    }
}
