//! FULLTEXT and SPATIAL indexes, with MySQL's checks. They have entries for words and for cells of
//! the plane (decision 0080). VECTOR indexes of MariaDB have none, so that searches read the table.

use super::key::{key_name, wrong_prefix};
use super::settings::DdlSettings;
use crate::ast::{KeyKind, KeySpec};
use crate::error::{Result, SqlError};
use engine::{ColumnDef, EntryRule, KeptEntries, KeptIndex, KeptKind, KeptPart, TableDef};
use std::borrow::Cow;
use types::cells::Surface;
use types::{ColumnType, TypeCode, collation};

/// The parser for FULLTEXT indexes that MySQL has beside the built-in one.
const NGRAM: &str = "ngram";
/// The column in which a user can number the documents of FULLTEXT indexes, and the name of its
/// index.
const DOC_ID: &str = "FTS_DOC_ID";
const DOC_ID_INDEX: &str = "FTS_DOC_ID_INDEX";

/// Returns the key with its real kind: an ordinary index over a geometry is a SPATIAL one.
///
/// # Errors
/// Returns 3728 for a unique key over a geometry, and 6134 for a key over a vector.
pub(super) fn kind_by_columns<'k>(def: &TableDef, key: &'k KeySpec) -> Result<Cow<'k, KeySpec>> {
    let mut over_geometry = false;
    for part in &key.parts {
        let Some(at) = def.column(&part.column) else { continue };
        match def.columns[at].ty.code {
            TypeCode::Vector if key.kind != KeyKind::Vector => {
                let text =
                    format!("Non-scalar (e.g., vector) column '{}' cannot be used as key.", part.column);
                return Err(SqlError::new(6134, text));
            }
            TypeCode::Geometry => over_geometry = true,
            _ => {}
        }
    }
    match key.kind {
        KeyKind::Index if over_geometry => Ok(Cow::Owned(KeySpec { kind: KeyKind::Spatial, ..key.clone() })),
        KeyKind::Primary | KeyKind::Unique if over_geometry => {
            Err(SqlError::new(3728, "Spatial indexes can't be primary or unique indexes."))
        }
        _ => Ok(Cow::Borrowed(key)),
    }
}

/// Returns the FULLTEXT, SPATIAL or VECTOR index for a key.
///
/// # Errors
/// Returns the errors of its parts, its name and its parser. The types are checked by
/// [`check_kept_keys`].
pub(super) fn special_index(def: &TableDef, key: &KeySpec, settings: &DdlSettings) -> Result<KeptIndex> {
    let is_spatial = key.kind == KeyKind::Spatial;
    let mut parts: Vec<KeptPart> = Vec::with_capacity(key.parts.len());
    for part in &key.parts {
        if part.expression.is_some() {
            let (code, kind) = if is_spatial { (3760, "Spatial") } else { (3759, "Fulltext") };
            return Err(SqlError::new(code, format!("{kind} functional index is not supported.")));
        }
        if part.descending {
            let text = "Incorrect usage of spatial/fulltext/hash index and explicit index order";
            return Err(SqlError::new(1221, text));
        }
        let at = def.column(&part.column).ok_or_else(|| {
            SqlError::new(1072, format!("Key column '{}' doesn't exist in table", part.column))
        })?;
        let name = &def.columns[at].name;
        if parts.iter().any(|other| other.text == *name) {
            return Err(SqlError::new(1060, format!("Duplicate column name '{}'", part.column)));
        }
        if is_spatial && part.prefix.is_some() && !settings.replicated {
            return Err(wrong_prefix());
        }
        // A FULLTEXT index is over whole columns, whatever prefix is written.
        parts.push(KeptPart { text: name.clone(), is_expression: false, prefix: None, descending: false });
    }
    if is_spatial && parts.len() > 1 {
        return Err(SqlError::new(1070, "Too many key parts specified; max 1 parts allowed"));
    }
    if let Some(parser) = key.parser.as_ref().filter(|p| !p.eq_ignore_ascii_case(NGRAM))
        && !settings.replicated
    {
        return Err(SqlError::new(1128, format!("Function '{parser}' is not defined")));
    }
    let name = key_name(def, key, &parts[0].text)?;
    let kind = match key.kind {
        KeyKind::Spatial => KeptKind::Spatial { behind: def.indexes.len() as u32 },
        KeyKind::Vector => KeptKind::Vector(key.vector_options.clone()),
        _ => KeptKind::FullText(key.parser.as_ref().map(|parser| known_parser(parser))),
    };
    let entries = match &kind {
        KeptKind::FullText(parser) => {
            let is_ngram = parser.as_deref() == Some(NGRAM);
            let rule = EntryRule::Words { is_ngram, sizes: settings.word_sizes };
            Some(KeptEntries { id: 0, rule })
        }
        KeptKind::Spatial { .. } => {
            let column = def.columns.iter().find(|column| column.name.eq_ignore_ascii_case(&parts[0].text));
            let surface = Surface::of(column.and_then(|column| column.ty.srid()));
            Some(KeptEntries { id: 0, rule: EntryRule::Cells(surface) })
        }
        KeptKind::Functional | KeptKind::Vector(_) => None,
    };
    let (comment, invisible) = (key.comment.clone(), key.invisible);
    Ok(KeptIndex { name, kind, unique: false, parts, comment, invisible, entries })
}

/// Returns a parser's name in the spelling that the server uses.
fn known_parser(name: &str) -> String {
    if name.eq_ignore_ascii_case(NGRAM) { NGRAM.to_owned() } else { name.to_owned() }
}

/// Checks the columns of FULLTEXT and SPATIAL indexes, and the user's own FTS_DOC_ID. What a source
/// has accepted is not checked.
///
/// # Errors
/// Returns 1283, 3106, 3152, 1687 and 1252 for columns that cannot be in such an index, and 1797,
/// 1798 and 1166 for a column or index that has the name of InnoDB's FTS_DOC_ID column or its
/// index, but another definition.
pub(super) fn check_kept_keys(def: &TableDef, settings: &DdlSettings) -> Result<()> {
    if settings.replicated {
        return Ok(());
    }
    for index in &def.kept_indexes {
        let columns = index.parts.iter().filter(|part| !part.is_expression);
        let columns: Vec<&ColumnDef> =
            columns.filter_map(|part| Some(&def.columns[def.column(&part.text)?])).collect();
        match index.kind {
            KeptKind::FullText(_) => check_texts(&columns)?,
            KeptKind::Spatial { .. } => check_geometries(&columns)?,
            KeptKind::Vector(_) => check_vectors(&columns)?,
            KeptKind::Functional => {}
        }
    }
    check_doc_id(def)
}

fn check_texts(columns: &[&ColumnDef]) -> Result<()> {
    for column in columns {
        if column.ty.code == TypeCode::Json {
            let name = &column.name;
            let text = format!(
                "JSON column '{name}' supports indexing only via generated columns on a specified JSON path."
            );
            return Err(SqlError::new(3152, text));
        }
        let is_same_set =
            collation::charset_of(column.ty.collation) == collation::charset_of(columns[0].ty.collation);
        if !can_be_searched(&column.ty) || !is_same_set {
            let text = format!("Column '{}' cannot be part of FULLTEXT index", column.name);
            return Err(SqlError::new(1283, text));
        }
        if column.is_virtual() {
            let text = "'Fulltext index on virtual generated column' is not supported for generated columns.";
            return Err(SqlError::new(3106, text));
        }
    }
    Ok(())
}

/// Reports whether a column has texts in a character set that has ASCII characters in one byte.
fn can_be_searched(ty: &ColumnType) -> bool {
    let wide = ["ucs2", "utf16", "utf16le", "utf32"];
    matches!(ty.code, TypeCode::Varchar | TypeCode::String | TypeCode::Blob)
        && ty.is_character()
        && !wide.contains(&collation::charset_of(ty.collation).name())
}

fn check_geometries(columns: &[&ColumnDef]) -> Result<()> {
    for column in columns {
        if column.ty.code != TypeCode::Geometry {
            return Err(SqlError::new(1687, "A SPATIAL index may only contain a geometrical type column"));
        }
        if column.nullable {
            return Err(SqlError::new(1252, "All parts of a SPATIAL index must be NOT NULL"));
        }
    }
    Ok(())
}

fn check_vectors(columns: &[&ColumnDef]) -> Result<()> {
    match columns {
        [column] if column.ty.code == TypeCode::Vector && !column.nullable => Ok(()),
        [column] => {
            let text = format!("Incorrect arguments to VECTOR index over column '{}'", column.name);
            Err(SqlError::new(1210, text))
        }
        _ => Err(SqlError::new(1070, "Too many key parts specified; max 1 parts allowed")),
    }
}

fn check_doc_id(def: &TableDef) -> Result<()> {
    let is_searched = def.kept_indexes.iter().any(|index| matches!(index.kind, KeptKind::FullText(_)));
    if let Some(column) = def.columns.iter().find(|column| column.name.eq_ignore_ascii_case(DOC_ID)) {
        let is_right = column.name == DOC_ID && column.ty == ColumnType::bigint(true) && !column.nullable;
        if !is_right && is_searched {
            let text = format!("Column '{}' is of wrong type for an InnoDB FULLTEXT index", column.name);
            return Err(SqlError::new(1797, text));
        }
        if !is_right {
            return Err(SqlError::new(1166, format!("Incorrect column name '{}'", column.name)));
        }
    }
    if let Some(at) = def.index(DOC_ID_INDEX).filter(|_| is_searched) {
        let index = &def.indexes[at];
        let is_right = index.unique
            && matches!(index.columns.as_slice(), [part] if def.columns[part.column].name == DOC_ID);
        if !is_right {
            let text = format!("Index '{}' is of wrong type for an InnoDB FULLTEXT index", index.name);
            return Err(SqlError::new(1798, text));
        }
    }
    Ok(())
}

/// Checks that a column with a SPATIAL index keeps its SRID.
///
/// # Errors
/// Returns 3644 when its SRID would change.
pub(super) fn check_srid(def: &TableDef, at: usize, new: &ColumnDef, settings: &DdlSettings) -> Result<()> {
    let old = &def.columns[at];
    let is_indexed = def
        .kept_indexes
        .iter()
        .any(|index| matches!(index.kind, KeptKind::Spatial { .. }) && index.parts[0].text == old.name);
    let is_geometry = old.ty.code == TypeCode::Geometry && new.ty.code == TypeCode::Geometry;
    if is_indexed && is_geometry && old.ty.srid() != new.ty.srid() && !settings.replicated {
        let text = format!(
            "The SRID specification on the column '{}' cannot be changed because there is a spatial index on the \
             column. Please remove the spatial index before altering the SRID specification.",
            old.name
        );
        return Err(SqlError::new(3644, text));
    }
    Ok(())
}
