//! CREATE TABLE and CREATE INDEX.

use super::client_checks::{check_key, check_written_columns};
use super::column::{column, implied_timestamps};
use super::expression::{add_check, kept_index};
use super::functional::maintained;
use super::kept_key::{check_kept_keys, kind_by_columns, special_index};
use super::key::keys_of_column;
use super::key::{key_definition, key_parts};
use super::long_key::{fitted, hashed_geometry, over_geometry};
use super::settings::{DdlSettings, chosen_collation};
use crate::ast::{CreateTable, KeyKind, KeySpec, TableOptions};
use crate::attribute::ENGINE;
use crate::error::{Result, SqlError};
use crate::plan::QueryPlan;
use crate::result_column::made_type;
use crate::sink::column_flag;
use crate::variables::Variables;
use engine::{Catalog, ColumnDef, ColumnDefault, IndexColumn, TableDef};
use std::borrow::Cow;
use types::{ColumnType, TypeCode};

/// Limits of InnoDB.
const MOST_COLUMNS: usize = 1017;
const MOST_KEYS: usize = 64;

/// Returns the definition that a CREATE TABLE with columns makes in `schema`. `extra` are columns
/// that a query adds.
pub(crate) fn definition(
    create: &CreateTable,
    schema: &str,
    extra: Vec<ColumnDef>,
    settings: &DdlSettings,
) -> Result<TableDef> {
    check_name(&create.table.name)?;
    let options = &create.options;
    if let Some(engine) = &options.engine {
        check_engine(engine, settings)?;
    }
    let collation = chosen_collation(
        options.charset.as_deref(),
        options.collation.as_deref(),
        settings.collation,
        settings,
    )?;
    let mut def = TableDef::new(schema, &create.table.name);
    def.collation = collation;
    def.comment = options.comment.clone().unwrap_or_default();
    def.auto_increment = options.auto_increment.unwrap_or(0);
    def.created_s = settings.now_us / 1_000_000;
    keep_options(&mut def, options, settings);
    if def.comment.chars().count() > 2048 {
        return Err(SqlError::new(
            1628,
            format!("Comment for table '{}' is too long (max = 2048)", def.name),
        ));
    }
    for spec in &create.columns {
        add_column(&mut def, column(spec, collation, settings)?)?;
    }
    let written: Vec<&str> = create.columns.iter().map(|spec| spec.name.as_str()).collect();
    implied_timestamps(&mut def, &written, settings)?;
    let mut before_query = def.columns.len();
    for given in extra {
        match def.column(&given.name) {
            // A column of the query with the name of a defined one has its definition, and stays
            // where the query has it.
            Some(at) if at < before_query => {
                let defined = def.columns.remove(at);
                def.columns.push(defined);
                before_query -= 1;
            }
            _ => add_column(&mut def, given)?,
        }
    }
    if def.columns.iter().all(|column| column.invisible) {
        return Err(SqlError::new(4028, "A table must have at least one visible column."));
    }
    super::temporal::begin(&mut def, create)?;
    for spec in &create.columns {
        super::column::add_expressions(&mut def, spec, settings)?;
    }
    for key in create.columns.iter().flat_map(keys_of_column) {
        add_key(&mut def, &key, settings)?;
    }
    // The primary key comes first, since the other keys may depend on the NOT NULL that it brings.
    let (primary, rest): (Vec<&KeySpec>, Vec<&KeySpec>) =
        create.keys.iter().partition(|key| key.kind == KeyKind::Primary);
    for key in primary.into_iter().chain(rest) {
        add_key(&mut def, key, settings)?;
    }
    for check in &create.checks {
        add_check(&mut def, check, settings)?;
    }
    check_written_columns(&def, create.columns.iter(), settings)?;
    super::temporal::finish(&mut def, &mut Vec::new(), None)?;
    check(&def, settings)?;
    Ok(def)
}

/// Records the table options that have no effect but are shown. A default value removes the option.
pub(super) fn keep_options(def: &mut TableDef, options: &TableOptions, settings: &DdlSettings) {
    if let Some(engine) = options.engine.as_ref().filter(|_| settings.replicated || settings.is_temporary) {
        keep_engine(def, engine);
    }
    for (name, value) in &options.of_mariadb {
        def.options.retain(|(kept, _)| kept != name);
        if super::sequence::is_option(name) && value == "0" {
            continue;
        }
        def.options.push((name.clone(), value.clone()));
    }
    for (name, value) in &options.kept {
        def.options.retain(|(kept, _)| kept != name);
        let is_switch = matches!(name.as_str(), "PACK_KEYS" | "STATS_PERSISTENT" | "STATS_AUTO_RECALC");
        if value != "DEFAULT" && (value != "0" || is_switch) {
            def.options.push((name.clone(), value.clone()));
        }
    }
    for (name, value) in &options.of_sources {
        def.options.retain(|(kept, _)| kept != name);
        if !value.is_empty() {
            def.options.push((name.clone(), value.clone()));
        }
    }
    let place = |name: &String| TableOptions::KEPT.iter().position(|known| known == name);
    def.options.sort_by_key(|(name, _)| place(name));
}

pub(super) fn check_name(name: &str) -> Result<()> {
    if name.is_empty() || name.ends_with(' ') {
        return Err(SqlError::new(1103, format!("Incorrect table name '{name}'")));
    }
    Ok(())
}

/// The accepted names of storage engines, with the spelling that MySQL or MariaDB shows.
const ENGINES: [(&str, &str); 14] = [
    ("MYISAM", "MyISAM"),
    ("MEMORY", "MEMORY"),
    ("HEAP", "MEMORY"),
    ("ARIA", "Aria"),
    ("MARIA", "Aria"),
    ("CSV", "CSV"),
    ("ARCHIVE", "ARCHIVE"),
    ("BLACKHOLE", "BLACKHOLE"),
    ("MERGE", "MRG_MyISAM"),
    ("MRG_MYISAM", "MRG_MyISAM"),
    ("FEDERATED", "FEDERATED"),
    ("ROCKSDB", "ROCKSDB"),
    ("COLUMNSTORE", "Columnstore"),
    ("NDBCLUSTER", "ndbcluster"),
];

/// Records the name of another storage engine for a source's table or a temporary one. The rows are
/// stored in this server's engine nevertheless.
fn keep_engine(def: &mut TableDef, engine: &str) {
    def.options.retain(|(kept, _)| kept != ENGINE);
    let known = ENGINES.iter().find(|(written, _)| engine.eq_ignore_ascii_case(written));
    let name = known.map_or(engine, |(_, name)| name);
    if !is_ours(name) {
        def.options.push((ENGINE.to_owned(), name.to_owned()));
    }
}

fn is_ours(engine: &str) -> bool {
    engine.eq_ignore_ascii_case("InnoDB") || engine.eq_ignore_ascii_case("Slipstream")
}

/// Refuses unknown storage engines. There is only one, which clients call InnoDB.
pub(super) fn check_engine(engine: &str, settings: &DdlSettings) -> Result<()> {
    if is_ours(engine) || settings.replicated || !settings.no_engine_substitution {
        return Ok(());
    }
    if settings.is_temporary && ENGINES.iter().any(|(known, _)| engine.eq_ignore_ascii_case(known)) {
        return Ok(());
    }
    Err(SqlError::new(1286, format!("Unknown storage engine '{engine}'")))
}

/// Refuses a table that has more columns than an ALTER TABLE could drop again to stay within the
/// limit. The check comes early because each new column is compared with all others.
///
/// # Errors
/// Returns 1117 (`ER_TOO_MANY_FIELDS`) for such a table.
pub(super) fn check_has_room(def: &TableDef) -> Result<()> {
    if def.columns.len() >= 2 * MOST_COLUMNS {
        return Err(SqlError::new(1117, "Too many columns"));
    }
    Ok(())
}

pub(super) fn add_column(def: &mut TableDef, column: ColumnDef) -> Result<()> {
    check_has_room(def)?;
    if def.column(&column.name).is_some() {
        return Err(SqlError::new(1060, format!("Duplicate column name '{}'", column.name)));
    }
    def.columns.push(column);
    Ok(())
}

/// Adds a key of any kind to a definition.
pub(super) fn add_key(def: &mut TableDef, key: &KeySpec, settings: &DdlSettings) -> Result<()> {
    if def.indexes.len() + def.kept_indexes.len() >= 2 * MOST_KEYS {
        return Err(too_many_keys());
    }
    let key = match over_geometry(def, key, settings) {
        Some(with_prefixes) => Cow::Owned(with_prefixes),
        None => {
            if let Some(index) = hashed_geometry(def, key, settings) {
                def.kept_indexes.push(index);
                return Ok(());
            }
            kind_by_columns(def, key)?
        }
    };
    let key = key.as_ref();
    check_key(def, key, settings)?;
    if matches!(key.kind, KeyKind::FullText | KeyKind::Spatial | KeyKind::Vector) {
        let index = special_index(def, key, settings)?;
        def.kept_indexes.push(index);
        return Ok(());
    }
    if key.parts.iter().any(|part| part.expression.is_some()) {
        let index = kept_index(def, key, settings)?;
        let kept = maintained(def, key, index, settings)?;
        def.kept_indexes.extend(kept);
        return Ok(());
    }
    let key = fitted(def, key, settings);
    let key = key.as_ref();
    if key.kind != KeyKind::Primary {
        let index = key_definition(def, key)?;
        super::temporal::note_overlaps(def, key, &index.name);
        def.indexes.push(index);
        return Ok(());
    }
    if def.primary.is_some() {
        return Err(SqlError::new(1068, "Multiple primary key defined"));
    }
    let mut parts = key_parts(def, key)?;
    parts.extend(super::temporal::parts_of_period(def, key)?);
    super::temporal::note_overlaps(def, key, "PRIMARY");
    for part in &parts {
        let column = &mut def.columns[part.column];
        if matches!(column.default, Some(ColumnDefault::Null)) {
            column.default = None;
        }
        column.nullable = false;
    }
    def.primary = Some(parts);
    def.primary_using_btree = key.using_btree;
    Ok(())
}

fn too_many_keys() -> SqlError {
    SqlError::new(1069, "Too many keys specified; max 64 keys allowed")
}

/// Checks a complete definition.
pub(super) fn check(def: &TableDef, settings: &DdlSettings) -> Result<()> {
    if def.columns.len() > MOST_COLUMNS {
        return Err(SqlError::new(1117, "Too many columns"));
    }
    super::sequence::check_structure(def)?;
    check_kept_keys(def, settings)?;
    if def.indexes.len() + def.kept_indexes.len() > MOST_KEYS {
        return Err(too_many_keys());
    }
    let automatic: Vec<usize> = def
        .columns
        .iter()
        .enumerate()
        .filter(|(_, column)| column.auto_increment)
        .map(|(at, _)| at)
        .collect();
    if let Some(first) = automatic.first() {
        // Other engines of a source can count within the columns in front. The source has checked
        // that.
        let starts = |parts: &[IndexColumn]| match settings.replicated {
            true => parts.iter().any(|part| part.column == *first),
            false => parts.first().is_some_and(|part| part.column == *first),
        };
        let keyed =
            def.primary.as_deref().is_some_and(starts) || def.indexes.iter().any(|i| starts(&i.columns));
        if automatic.len() > 1 || !keyed {
            return Err(SqlError::new(
                1075,
                "Incorrect table definition; there can be only one auto column and it must be defined as a key",
            ));
        }
    }
    let fixed: u64 = def
        .columns
        .iter()
        .filter(|column| !column.ty.is_blob())
        .map(|column| column.ty.max_bytes() + if column.ty.code == TypeCode::Varchar { 2 } else { 0 })
        .sum();
    if fixed > 65_535 {
        return Err(SqlError::new(
            1118,
            "Row size too large. The maximum row size for the used table type, not counting BLOBs, is 65535. This \
             includes storage overhead, check the manual. You have to change some columns to TEXT or BLOBs",
        ));
    }
    Ok(())
}

/// Returns the columns that CREATE TABLE ... SELECT takes from its query. A column of a table keeps
/// its default and its comment. The session's mode says which defaults the others have.
pub(crate) fn columns_of_query(
    plan: &QueryPlan,
    catalog: &Catalog,
    variables: &Variables,
) -> Result<Vec<ColumnDef>> {
    let mut columns = Vec::with_capacity(plan.columns.len());
    for meta in &plan.columns {
        let nullable = meta.flags & column_flag::NOT_NULL == 0;
        let mut def = ColumnDef::new(&meta.name, made_type(meta));
        if !nullable {
            def = def.not_null();
        }
        let table = catalog.table(&meta.schema, &meta.org_table);
        let of_table = table
            .as_ref()
            .and_then(|table| table.def.column(&meta.org_name).map(|at| &table.def.columns[at]));
        match of_table {
            Some(column) => {
                keep_default(&mut def, column);
                if def.ty.code == TypeCode::Bit && !variables.of_mariadb {
                    // MySQL forgets the default of bits.
                    let zero = ColumnDefault::Literal(b"0".to_vec());
                    def.default = Some(if nullable { ColumnDefault::Null } else { zero });
                }
            }
            // MariaDB gives an expression's column no default. The function YEAR makes an INT.
            None if variables.of_mariadb && meta.ty.code == TypeCode::Year && meta.ty.form.is_some() => {
                def.ty = ColumnType::int(false);
            }
            None if variables.of_mariadb => {}
            // An expression has no default of its own, so the type's zero takes its place. So it
            // does for a column of a view or a derived table, if the column in it has a default.
            // Strict mode has no zero of a date.
            None if !nullable => {
                let is_text = crate::variables::is_character(def.ty.code) && !def.ty.is_blob();
                let has_zero = def.ty.is_integer()
                    || matches!(
                        def.ty.code,
                        TypeCode::NewDecimal | TypeCode::Float | TypeCode::Double | TypeCode::Time2
                    )
                    || matches!(def.ty.code, TypeCode::Date | TypeCode::Datetime2)
                        && !variables.sql_mode.strict();
                let lacks_default =
                    !meta.org_name.is_empty() && meta.flags & column_flag::NO_DEFAULT_VALUE != 0;
                if !lacks_default && (is_text || has_zero) {
                    let zero = if is_text { String::new() } else { zero_text(&def.ty) };
                    def.default = Some(ColumnDefault::Literal(zero.into_bytes()));
                }
            }
            None => {}
        }
        columns.push(def);
    }
    Ok(columns)
}

/// Gives a column of CREATE TABLE ... SELECT the default and the comment of the column of a table
/// that its values come from.
fn keep_default(def: &mut ColumnDef, of: &ColumnDef) {
    def.comment.clone_from(&of.comment);
    if of.auto_increment {
        def.default = Some(ColumnDefault::Literal(b"0".to_vec()));
    } else if of.generated.is_none() && of.default.is_some() {
        def.default.clone_from(&of.default);
        def.on_update_now = of.on_update_now;
    }
}

/// Returns `0` as a default, with as many digits behind the point as a DECIMAL has.
fn zero_text(ty: &ColumnType) -> String {
    match ty.code {
        TypeCode::NewDecimal => types::Decimal::zero(ty.scale()).to_string(),
        TypeCode::Float | TypeCode::Double
            if let Some(decimals) = ty.form.and_then(|form| form.decimals()) =>
        {
            format!("{:.*}", usize::from(decimals), 0.0)
        }
        TypeCode::Date | TypeCode::Datetime2 => {
            let zero = types::Value::DateTime(types::DateTime::default()).text_bytes(Some(ty));
            String::from_utf8_lossy(&zero.unwrap_or_default()).into_owned()
        }
        TypeCode::Time2 => {
            let mut text = Vec::new();
            types::Time::default().write_text(ty.fsp(), &mut text);
            String::from_utf8_lossy(&text).into_owned()
        }
        _ => "0".to_owned(),
    }
}
