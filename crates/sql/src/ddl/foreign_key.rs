//! Foreign keys in definitions: what a FOREIGN KEY clause adds to a table, and what statements may
//! not remove because a foreign key needs it.

use super::client_checks::check_actions;
use super::key::key_definition;
use super::settings::DdlSettings;
use crate::ast::{ForeignKeySpec, KeyKind, KeyPart, KeySpec};
use crate::attribute::ENGINE;
use crate::error::{Result, SqlError};
use engine::{Catalog, CheckDef, ForeignKeyDef, IndexRef, ReferentialAction, Table, TableDef};
use std::sync::Arc;
use types::{ColumnType, TypeCode, collation};

/// The warning about a foreign key that refers to columns which do not tell rows apart.
pub(crate) const UNSAFE_FOREIGN_KEY: u16 = 6124;

/// The catalog and the settings that foreign keys are checked by.
#[derive(Clone, Copy)]
pub(crate) struct Relations<'a> {
    pub catalog: &'a Catalog,
    /// The value of `foreign_key_checks`.
    pub checks: bool,
    /// Whether a new foreign key has to refer to a unique key.
    pub unique_parents: bool,
    /// Whether the statement comes from a source, which has accepted it.
    pub replicated: bool,
    /// Whether REFERENCES in a column's definition counts. It does since MySQL 9.0, and in MariaDB.
    pub inline: bool,
}

impl<'a> Relations<'a> {
    /// Returns the relations of a catalog, with the checks that the settings demand.
    pub fn under(settings: &DdlSettings, catalog: &'a Catalog) -> Relations<'a> {
        Relations {
            catalog,
            checks: settings.foreign_key_checks,
            unique_parents: settings.unique_parents,
            replicated: settings.replicated,
            inline: settings.inline_references,
        }
    }
}

/// `ER_FK_INCOMPATIBLE_COLUMNS`.
const INCOMPATIBLE: u16 = 3780;

impl Relations<'_> {
    /// Adds foreign keys, each with an index if no existing one serves. `engine` is the engine that
    /// the statement names. A source's table that can have no such foreign keys in InnoDB is of the
    /// engine of the session's `default_storage_engine`, which a source does not log. It is taken
    /// to be MyISAM. Where the statement names InnoDB, foreign keys between types that InnoDB takes
    /// for equal, and that this server does not, are left out.
    ///
    /// # Errors
    /// Returns MySQL's error for a foreign key that cannot be.
    pub fn add(&self, def: &mut TableDef, specs: &[ForeignKeySpec], engine: Option<&str>) -> Result<()> {
        const OF_THE_SESSION: &str = "MyISAM";
        let counted: Vec<&ForeignKeySpec> =
            specs.iter().filter(|spec| self.inline || !spec.at_column).collect();
        if ignores_foreign_keys(def) {
            return add_indexes(def, &counted);
        }
        if !self.replicated || counted.is_empty() {
            return self.add_to_ours(def, &counted);
        }
        let mut ours = def.clone();
        let Err(error) = self.add_to_ours(&mut ours, &counted) else {
            *def = ours;
            return Ok(());
        };
        let mut other = def.clone();
        let is_told = match engine {
            Some(_) if error.code != INCOMPATIBLE => return Err(error),
            Some(_) => "loses foreign keys that are not possible here",
            None => {
                other.options.push((ENGINE.to_owned(), OF_THE_SESSION.to_owned()));
                "is taken to be of another engine at the source, without foreign keys"
            }
        };
        if add_indexes(&mut other, &counted).is_err() {
            return Err(error);
        }
        let (schema, name, why) = (&def.schema, &def.name, &error.message);
        log::warn!("Replica SQL: table {schema}.{name} {is_told}: {why}");
        *def = other;
        Ok(())
    }

    fn add_to_ours(&self, def: &mut TableDef, specs: &[&ForeignKeySpec]) -> Result<()> {
        let first = def.foreign_keys.len();
        for spec in specs {
            let foreign_key = self.added(def, spec)?;
            if !self.replicated {
                def.checks.iter().try_for_each(|check| check_actions(def, check, &foreign_key))?;
            }
            def.foreign_keys.push(foreign_key);
        }
        for (at, spec) in specs.iter().enumerate() {
            let parent_columns = self.parent_columns(def, &def.foreign_keys[first + at], spec)?;
            def.foreign_keys[first + at].parent_columns = parent_columns;
        }
        def.drop_redundant_indexes();
        Ok(())
    }

    /// Returns the foreign key of a clause, whose parent is not checked yet.
    fn added(&self, def: &mut TableDef, spec: &ForeignKeySpec) -> Result<ForeignKeyDef> {
        let name = self.name_of(def, spec)?;
        let columns = add_index(def, spec)?;
        let foreign_key = ForeignKeyDef {
            name,
            columns,
            parent_schema: spec.parent.schema.clone().unwrap_or_else(|| def.schema.clone()),
            parent_table: spec.parent.name.clone(),
            parent_columns: spec.parent_columns.clone(),
            on_delete: spec.on_delete,
            on_update: spec.on_update,
        };
        check_set_null(def, &foreign_key)?;
        Ok(foreign_key)
    }

    /// Returns the name of a constraint. One without a name gets a number.
    fn name_of(&self, def: &TableDef, spec: &ForeignKeySpec) -> Result<String> {
        let Some(name) = &spec.name else {
            let prefix = format!("{}_ibfk_", def.name);
            let number = |key: &ForeignKeyDef| key.name.strip_prefix(&prefix)?.parse::<u64>().ok();
            let last = def.foreign_keys.iter().filter_map(number).max().unwrap_or(0);
            return Ok(format!("{prefix}{}", last + 1));
        };
        let others = self.catalog.tables(&def.schema);
        let taken = def.foreign_key(name).is_some()
            || others.iter().any(|table| table.def.name != def.name && table.def.foreign_key(name).is_some());
        if taken {
            return Err(SqlError::new(1826, format!("Duplicate foreign key constraint name '{name}'")));
        }
        Ok(name.clone())
    }

    /// Checks the parent and returns its columns.
    fn parent_columns(
        &self,
        def: &TableDef,
        foreign_key: &ForeignKeyDef,
        spec: &ForeignKeySpec,
    ) -> Result<Vec<String>> {
        let is_own = foreign_key.is_about(&def.schema, &def.name);
        let other = if is_own { None } else { self.parent(foreign_key) };
        let parent = if is_own { Some(def) } else { other.as_deref().map(|table| &table.def) };
        let Some(parent) = parent else {
            if self.checks || foreign_key.parent_columns.is_empty() {
                let name = &foreign_key.parent_table;
                return Err(SqlError::new(1824, format!("Failed to open the referenced table '{name}'")));
            }
            return Ok(foreign_key.parent_columns.clone());
        };
        let mut foreign_key = foreign_key.clone();
        if foreign_key.parent_columns.is_empty() {
            let key = parent.primary.iter().flatten();
            foreign_key.parent_columns = key.map(|part| parent.columns[part.column].name.clone()).collect();
            if foreign_key.parent_columns.len() != foreign_key.columns.len() {
                return Err(wrong_definition(spec));
            }
        }
        check_parent(def, &foreign_key, parent)?;
        if self.replicated && !is_own && parent.partitioning.is_some() {
            let text = "Foreign keys are not yet supported in conjunction with partitioning";
            return Err(SqlError::new(1506, text));
        }
        let columns = parent.positions(&foreign_key.parent_columns).unwrap_or_default();
        if !self.replicated && !self.serves(parent, &columns) {
            let (code, key) = if self.unique_parents { (6125, "unique key") } else { (1822, "index") };
            return Err(SqlError::new(
                code,
                format!(
                    "Failed to add the foreign key constraint. Missing {key} for constraint '{}' in the referenced table '{}'",
                    foreign_key.name, parent.name
                ),
            ));
        }
        Ok(foreign_key.parent_columns)
    }

    /// Reports whether a new foreign key may refer to these columns of a table.
    fn serves(&self, parent: &TableDef, columns: &[usize]) -> bool {
        match self.unique_parents {
            true => parent.unique_index_on(columns).is_some(),
            false => parent.index_on(columns).is_some(),
        }
    }

    fn parent(&self, foreign_key: &ForeignKeyDef) -> Option<Arc<Table>> {
        self.catalog.table(&foreign_key.parent_schema, &foreign_key.parent_table)
    }

    /// Returns the foreign keys of other tables that refer to this one.
    fn references(&self, schema: &str, name: &str) -> Vec<(Arc<Table>, ForeignKeyDef)> {
        let mut references = Vec::new();
        for child in self.catalog.children(schema, name) {
            if child.def.schema == schema && child.def.name == name {
                continue;
            }
            let about = child.def.foreign_keys.iter().filter(|key| key.is_about(schema, name));
            references.extend(about.map(|key| (child.clone(), key.clone())));
        }
        references
    }

    /// Refuses a new table if foreign keys that were created before it cannot refer to it.
    pub fn check_awaited(&self, def: &TableDef) -> Result<()> {
        for (child, foreign_key) in self.references(&def.schema, &def.name) {
            let columns = def.positions(&foreign_key.parent_columns);
            let serves = columns.is_some_and(|columns| self.serves(def, &columns));
            if !self.replicated && (!serves || check_parent(&child.def, &foreign_key, def).is_err()) {
                return Err(SqlError::new(1215, "Cannot add foreign key constraint"));
            }
        }
        Ok(())
    }

    /// Returns a warning (6124) for each foreign key that a table has and had not before, and that
    /// refers to columns which do not tell rows apart. Of a new table these are also the foreign
    /// keys of others that have waited for it.
    pub fn unsafe_keys(&self, before: Option<&TableDef>, def: &TableDef) -> Vec<(u16, String)> {
        if self.unique_parents || self.replicated {
            return Vec::new();
        }
        let is_new =
            |key: &&ForeignKeyDef| before.is_none_or(|before| before.foreign_key(&key.name).is_none());
        let is_unsafe = |key: &ForeignKeyDef, parent: &TableDef| {
            let columns = parent.positions(&key.parent_columns);
            columns.is_some_and(|columns| parent.unique_index_on(&columns).is_none())
        };
        let mut names = Vec::new();
        for key in def.foreign_keys.iter().filter(is_new) {
            let is_found = match key.is_about(&def.schema, &def.name) {
                true => is_unsafe(key, def),
                false => self.parent(key).is_some_and(|parent| is_unsafe(key, &parent.def)),
            };
            names.extend(is_found.then(|| key.name.clone()));
        }
        if before.is_none() {
            let waiting = self.references(&def.schema, &def.name);
            names.extend(waiting.into_iter().filter(|(_, key)| is_unsafe(key, def)).map(|(_, key)| key.name));
        }
        let warning = |name: String| {
            let text = "refers to non-unique key or partial key. This is deprecated and will be removed in a future release.";
            (UNSAFE_FOREIGN_KEY, format!("Foreign key '{name}' {text}"))
        };
        names.into_iter().map(warning).collect()
    }

    /// Refuses to drop these tables while foreign keys of other tables refer to them.
    pub fn check_drop(&self, dropped: &[(String, String)]) -> Result<()> {
        let goes = |def: &TableDef| dropped.iter().any(|(s, name)| *s == def.schema && *name == def.name);
        for (schema, name) in dropped.iter().filter(|_| self.checks) {
            if let Some((child, key)) =
                self.references(schema, name).into_iter().find(|(child, _)| !goes(&child.def))
            {
                return Err(SqlError::new(
                    3730,
                    format!(
                        "Cannot drop table '{name}' referenced by a foreign key constraint '{}' on table '{}'.",
                        key.name, child.def.name
                    ),
                ));
            }
        }
        Ok(())
    }

    /// Refuses to truncate a table while foreign keys of other tables refer to it.
    pub fn check_truncate(&self, schema: &str, name: &str) -> Result<()> {
        match self.references(schema, name).into_iter().next() {
            Some((child, key)) if self.checks => Err(SqlError::new(
                1701,
                format!(
                    "Cannot truncate a table referenced in a foreign key constraint (`{}`.`{}`, CONSTRAINT `{}`)",
                    child.def.schema, child.def.name, key.name
                ),
            )),
            _ => Ok(()),
        }
    }

    /// Refuses to alter a table if its foreign keys, or those of others that refer to it, would
    /// lose what they need. `sources` has the old column of each new one.
    pub fn check_altered(&self, old: &TableDef, new: &TableDef, sources: &[Option<usize>]) -> Result<()> {
        if self.replicated {
            return Ok(());
        }
        let is_new = |check: &&CheckDef| old.checks.iter().all(|known| known.name != check.name);
        for foreign_key in &new.foreign_keys {
            check_set_null(new, foreign_key)?;
            let mut added = new.checks.iter().filter(is_new);
            added.try_for_each(|check| check_actions(new, check, foreign_key))?;
            if new.index_on(&foreign_key.columns).is_none() {
                return Err(self.index_needed(old, foreign_key, sources));
            }
            let parent = match foreign_key.is_about(&old.schema, &old.name) {
                true => None,
                false => self.parent(foreign_key),
            };
            if let Some(parent) = parent.filter(|_| self.checks) {
                check_parent(new, foreign_key, &parent.def)?;
            }
        }
        for (child, foreign_key) in self.references(&old.schema, &old.name) {
            self.check_parent_altered(old, new, sources, &child, &foreign_key)?;
        }
        Ok(())
    }

    fn check_parent_altered(
        &self,
        old: &TableDef,
        new: &TableDef,
        sources: &[Option<usize>],
        child: &Table,
        foreign_key: &ForeignKeyDef,
    ) -> Result<()> {
        let Some(before) = old.positions(&foreign_key.parent_columns) else { return Ok(()) };
        let mut after = Vec::with_capacity(before.len());
        for at in &before {
            match sources.iter().position(|source| *source == Some(*at)) {
                Some(at) => after.push(at),
                None => {
                    let (column, table) = (&old.columns[*at].name, &child.def.name);
                    let needed =
                        format!("needed in a foreign key constraint '{}' of table", foreign_key.name);
                    return Err(SqlError::new(
                        1829,
                        format!("Cannot drop column '{column}': {needed} '{table}'"),
                    ));
                }
            }
        }
        if let (Some(index), None) = (old.unique_index_on(&before), new.unique_index_on(&after)) {
            return Err(needed_index(index_name(old, index)));
        }
        if old.index_on(&before).is_some() && new.index_on(&after).is_none() {
            // MySQL does not know the name of a key that is not unique either.
            return Err(needed_index("<unknown key name>"));
        }
        let names = after.iter().map(|&at| new.columns[at].name.clone()).collect();
        let followed = ForeignKeyDef { parent_columns: names, ..foreign_key.clone() };
        if self.checks { check_parent(&child.def, &followed, new) } else { Ok(()) }
    }

    /// Returns the error for a foreign key that would lose its index.
    fn index_needed(
        &self,
        old: &TableDef,
        foreign_key: &ForeignKeyDef,
        sources: &[Option<usize>],
    ) -> SqlError {
        let before: Option<Vec<usize>> = foreign_key.columns.iter().map(|&at| sources[at]).collect();
        let index = before.and_then(|columns| old.index_on(&columns));
        needed_index(index.map_or("", |index| index_name(old, index)))
    }
}

fn index_name(def: &TableDef, index: IndexRef) -> &str {
    match index {
        IndexRef::Primary => "PRIMARY",
        IndexRef::Secondary(at) => &def.indexes[at].name,
    }
}

fn needed_index(name: &str) -> SqlError {
    SqlError::new(1553, format!("Cannot drop index '{name}': needed in a foreign key constraint"))
}

fn wrong_definition(spec: &ForeignKeySpec) -> SqlError {
    let name = spec.name.as_deref().unwrap_or("foreign key without name");
    let reason = "Key reference and table reference don't match";
    SqlError::new(1239, format!("Incorrect foreign key definition for '{name}': {reason}"))
}

/// Returns the place of the index that is created for a foreign key. As in MySQL, it is that of the
/// foreign key among the keys of CREATE TABLE.
fn place_of_index(def: &TableDef, spec: &ForeignKeySpec) -> usize {
    let written = def.indexes.iter().enumerate().filter(|(_, index)| !index.unique && !index.generated);
    let behind = spec.keys_before.and_then(|before| written.map(|(at, _)| at).nth(before));
    behind.unwrap_or(def.indexes.len())
}

/// Returns the index for a foreign key's columns. It has the name of the constraint, the one given
/// for it, or that of the first column. It replaces an index that was generated for an earlier
/// foreign key on the same columns.
fn index_for(def: &mut TableDef, spec: &ForeignKeySpec, columns: &[usize]) -> Result<engine::IndexDef> {
    let is_of_these = |index: &engine::IndexDef| {
        index.generated && index.columns.iter().map(|part| part.column).eq(columns.iter().copied())
    };
    let earlier = def.indexes.iter().position(is_of_these).map(|at| {
        def.close_gap_in_order(at);
        def.indexes.remove(at)
    });
    let part = |column: &String| KeyPart {
        column: column.clone(),
        expression: None,
        prefix: prefix_of_blob(def, column),
        descending: false,
        ordered: false,
    };
    let wished = spec.name.as_ref().or(spec.index.as_ref());
    let key = KeySpec {
        kind: KeyKind::Index,
        name: wished.filter(|name| def.index(name).is_none()).cloned(),
        parts: spec.columns.iter().map(part).collect(),
        comment: String::new(),
        invisible: false,
        is_rtree: false,
        parser: None,
        without_overlaps: None,
        vector_options: String::new(),
        using_btree: false,
    };
    let id = earlier.map_or(0, |index| index.id);
    Ok(engine::IndexDef { id, generated: true, ..key_definition(def, &key)? })
}

/// Reports whether the engine of a source's table takes FOREIGN KEY clauses and makes nothing but
/// their indexes, as MyISAM, MEMORY and Aria do.
pub(super) fn ignores_foreign_keys(def: &TableDef) -> bool {
    let kept = def.options.iter().find(|(name, _)| name == ENGINE);
    kept.is_some_and(|(_, engine)| !engine.eq_ignore_ascii_case("ndbcluster"))
}

/// Adds the indexes of foreign keys that the table's engine ignores.
fn add_indexes(def: &mut TableDef, specs: &[&ForeignKeySpec]) -> Result<()> {
    specs.iter().try_for_each(|spec| add_index(def, spec).map(|_| ()))?;
    def.drop_redundant_indexes();
    Ok(())
}

/// Adds the index of a foreign key unless another one serves. Returns the foreign key's columns.
fn add_index(def: &mut TableDef, spec: &ForeignKeySpec) -> Result<Vec<usize>> {
    let mut columns = Vec::with_capacity(spec.columns.len());
    for written in &spec.columns {
        let at = def
            .column(written)
            .ok_or_else(|| SqlError::new(1072, format!("Key column '{written}' doesn't exist in table")))?;
        if columns.contains(&at) {
            return Err(SqlError::new(1060, format!("Duplicate column name '{written}'")));
        }
        columns.push(at);
    }
    if !spec.parent_columns.is_empty() && spec.parent_columns.len() != columns.len() {
        return Err(wrong_definition(spec));
    }
    if !def.serves_foreign_key(&columns) {
        let index = index_for(def, spec, &columns)?;
        def.indexes.insert(place_of_index(def, spec), index);
    }
    Ok(columns)
}

/// Returns the prefix that MariaDB gives a BLOB or TEXT column in the key of a foreign key, in a
/// table of an engine that ignores foreign keys: as much as the engine's keys may hold. Returns
/// `None` for another column, and for a table of another engine, where such a key is an error.
fn prefix_of_blob(def: &TableDef, column: &str) -> Option<u32> {
    /// The most bytes that a key of the engine may have.
    const MOST_KEY_BYTES: [(&str, u64); 2] = [("MyISAM", 1000), ("Aria", 2300)];
    let kept = def.options.iter().find(|(name, _)| name == ENGINE)?;
    let (_, most_bytes) = MOST_KEY_BYTES.iter().find(|(engine, _)| kept.1.eq_ignore_ascii_case(engine))?;
    let ty = def.column(column).map(|at| &def.columns[at].ty).filter(|ty| ty.is_blob())?;
    let most_chars = most_bytes / u64::from(collation::max_bytes_per_char(ty.collation));
    u32::try_from(ty.max_bytes().min(most_chars)).ok()
}

fn check_set_null(def: &TableDef, foreign_key: &ForeignKeyDef) -> Result<()> {
    let sets_null = [foreign_key.on_delete, foreign_key.on_update].contains(&ReferentialAction::SetNull);
    let column = foreign_key.columns.iter().map(|&at| &def.columns[at]).find(|column| !column.nullable);
    match column {
        Some(column) if sets_null => Err(SqlError::new(
            1830,
            format!(
                "Column '{}' cannot be NOT NULL: needed in a foreign key constraint '{}' SET NULL",
                column.name, foreign_key.name
            ),
        )),
        _ => Ok(()),
    }
}

/// Refuses a parent that lacks the columns, or whose columns have other types.
fn check_parent(child: &TableDef, foreign_key: &ForeignKeyDef, parent: &TableDef) -> Result<()> {
    for (&at, name) in foreign_key.columns.iter().zip(&foreign_key.parent_columns) {
        let Some(parent_at) = parent.column(name) else {
            return Err(SqlError::new(
                3734,
                format!(
                    "Failed to add the foreign key constraint. Missing column '{name}' for constraint '{}' in the referenced table '{}'",
                    foreign_key.name, parent.name
                ),
            ));
        };
        let (column, parent_column) = (&child.columns[at], &parent.columns[parent_at]);
        if !are_compatible(&column.ty, &parent_column.ty) {
            return Err(SqlError::new(
                INCOMPATIBLE,
                format!(
                    "Referencing column '{}' and referenced column '{}' in foreign key constraint '{}' are incompatible.",
                    column.name, parent_column.name, foreign_key.name
                ),
            ));
        }
    }
    Ok(())
}

/// Reports whether values of one type can be looked up among values of the other: strings of any
/// length in the same collation, decimals of any digits, times of any fraction, numbers with a
/// floating point of either sign, anything else in the same type. InnoDB takes the same pairs.
fn are_compatible(a: &ColumnType, b: &ColumnType) -> bool {
    let is_string =
        |ty: &ColumnType| matches!(ty.code, TypeCode::Varchar | TypeCode::String | TypeCode::Blob);
    match (is_string(a), is_string(b)) {
        (true, true) => a.collation == b.collation,
        (false, false) if a.code != b.code => false,
        (false, false) => match a.code {
            TypeCode::NewDecimal | TypeCode::Float | TypeCode::Double => true,
            TypeCode::Time2 | TypeCode::Datetime2 | TypeCode::Timestamp2 => true,
            _ => a.unsigned == b.unsigned && (a.is_integer() || a.meta == b.meta),
        },
        _ => false,
    }
}
