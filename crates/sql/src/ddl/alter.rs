//! ALTER TABLE: the new definition, and how the old rows become rows of it.

use super::column::{column, default_of, implied_timestamps, recollated};
use super::conditional::settled;
use super::create::{add_key, check, check_engine, check_name, keep_options};
use super::{DdlSettings, chosen_collation};
use crate::ast::{AlterTable, Alteration, ColumnPlace, ColumnSpec, KeyKind, KeyPart, KeySpec};
use crate::error::{Result, SqlError};
use engine::{Catalog, ColumnDef, ColumnDefault, EngineError, TableDef};
use types::row::RowLayout;
use types::{ColumnType, DateTime, TypeCode, Value, convert};

/// What ALTER TABLE makes.
pub(crate) struct Altered {
    pub def: TableDef,
    /// For each new column the old one that it comes from.
    pub sources: Vec<Option<usize>>,
    /// Columns that get other names: from, to.
    pub renamed: Vec<(String, String)>,
    /// FORCE, or the engine was named again: the table is to be rebuilt.
    pub force: bool,
    /// The AUTO_INCREMENT counter that was asked for.
    pub auto_increment: Option<u64>,
}

impl Altered {
    /// Rows have to be converted even if old and new ones look alike.
    pub fn must_rebuild(&self, old: &TableDef) -> bool {
        let in_place = self.sources.iter().enumerate().all(|(at, source)| *source == Some(at));
        self.force || !in_place || self.sources.len() != old.columns.len()
    }
}

/// The definition under change: columns by name, keys by column position of the definition as it
/// stands.
struct Builder<'s> {
    def: TableDef,
    sources: Vec<Option<usize>>,
    settings: &'s DdlSettings,
}

fn no_such_column(def: &TableDef, name: &str) -> SqlError {
    SqlError::new(1054, format!("Unknown column '{name}' in '{}'", def.name))
}

fn cannot_drop(name: &str) -> SqlError {
    SqlError::new(1091, format!("Can't DROP '{name}'; check that column/key exists"))
}

/// Applies the alterations to `old`; `schema_of` gives the schema of a name that RENAME TO writes
/// without one.
pub(crate) fn altered_definition(
    old: &TableDef,
    alter: &AlterTable,
    current_schema: &str,
    settings: &DdlSettings,
    catalog: &Catalog,
) -> Result<Altered> {
    let settled = settled(old, alter);
    let alter = settled.as_ref();
    let relations = settings.relations(catalog);
    let sources = (0..old.columns.len()).map(Some).collect();
    let mut builder = Builder { def: old.clone(), sources, settings };
    // Keys go first and come last, as in MySQL: `DROP PRIMARY KEY, ADD PRIMARY KEY (b)` in any
    // order.
    let goes = |alteration: &Alteration| {
        matches!(
            alteration,
            Alteration::DropKey { .. }
                | Alteration::DropPrimaryKey
                | Alteration::RenameKey { .. }
                | Alteration::DropForeignKey { .. }
                | Alteration::DropConstraint { .. }
        )
    };
    let comes = |alteration: &Alteration| matches!(alteration, Alteration::AddKey(_));
    let (gone, rest): (Vec<_>, Vec<_>) = alter.alterations.iter().partition(|alteration| goes(alteration));
    let (keys, columns): (Vec<_>, Vec<_>) = rest.into_iter().partition(|alteration| comes(alteration));
    for alteration in gone.into_iter().chain(columns).chain(keys) {
        builder.apply(alteration, current_schema)?;
    }
    let written: Vec<&str> = alter.alterations.iter().filter_map(written_column).collect();
    implied_timestamps(&mut builder.def, &written, settings)?;
    let renamed = builder.follow_own_names(old);
    let added = alter.alterations.iter().filter_map(|alteration| match alteration {
        Alteration::AddForeignKey(spec) => Some(spec.clone()),
        _ => None,
    });
    relations.add(&mut builder.def, &added.collect::<Vec<_>>())?;
    relations.check_altered(old, &builder.def, &builder.sources)?;
    check(&builder.def, settings)?;
    if builder.def.columns.iter().all(|column| column.invisible) {
        return Err(SqlError::new(4028, "A table must have at least one visible column."));
    }
    if builder.def.columns.is_empty() {
        return Err(SqlError::new(
            1090,
            "You can't delete all columns with ALTER TABLE; use DROP TABLE instead",
        ));
    }
    let force = alter.alterations.iter().any(|alteration| match alteration {
        Alteration::Force => true,
        Alteration::Options(options) => options.engine.is_some(),
        _ => false,
    });
    let asked = alter.alterations.iter().rev().find_map(|alteration| match alteration {
        Alteration::Options(options) => options.auto_increment,
        _ => None,
    });
    let auto_increment = asked.filter(|next| *next > 0);
    Ok(Altered { def: builder.def, sources: builder.sources, renamed, force, auto_increment })
}

/// The name of the column that the alteration writes the definition of.
fn written_column(alteration: &Alteration) -> Option<&str> {
    match alteration {
        Alteration::AddColumn(spec, _) | Alteration::ModifyColumn { spec, .. } => Some(&spec.name),
        _ => None,
    }
}

impl Builder<'_> {
    fn apply(&mut self, alteration: &Alteration, current_schema: &str) -> Result<()> {
        match alteration {
            Alteration::AddColumn(spec, place) => self.add_column(spec, place),
            Alteration::ModifyColumn { name, spec, place } => self.modify(name, spec, place.as_ref()),
            Alteration::DropColumn { name, if_exists } => self.drop_column(name, *if_exists),
            Alteration::RenameColumn { from, to } => {
                let at = self.def.column(from).ok_or_else(|| no_such_column(&self.def, from))?;
                if self.def.column(to).is_some_and(|other| other != at) {
                    return Err(SqlError::new(1060, format!("Duplicate column name '{to}'")));
                }
                self.def.columns[at].name.clone_from(to);
                Ok(())
            }
            Alteration::SetDefault { name, default } => self.set_default(name, default.as_ref()),
            Alteration::SetVisible { name, visible } => {
                let at = self.def.column(name).ok_or_else(|| no_such_column(&self.def, name))?;
                self.def.columns[at].invisible = !visible;
                Ok(())
            }
            Alteration::AddKey(key) => add_key(&mut self.def, key, self.settings),
            Alteration::DropKey { name, if_exists } => match self.def.index(name) {
                Some(at) => {
                    self.def.indexes.remove(at);
                    Ok(())
                }
                None if *if_exists => Ok(()),
                None => Err(cannot_drop(name)),
            },
            // They are added when everything else has been done.
            Alteration::AddForeignKey(_) => Ok(()),
            Alteration::DropForeignKey { name, if_exists } => match self.def.foreign_key(name) {
                Some(at) => {
                    self.def.foreign_keys.remove(at);
                    Ok(())
                }
                None if *if_exists => Ok(()),
                None => Err(cannot_drop(name)),
            },
            Alteration::DropConstraint { name, if_exists } => self.drop_constraint(name, *if_exists),
            Alteration::DropPrimaryKey => match self.def.primary.take() {
                Some(_) => Ok(()),
                None => Err(cannot_drop("PRIMARY")),
            },
            Alteration::RenameKey { from, to } => {
                let at = self.def.index(from).ok_or_else(|| {
                    SqlError::new(1176, format!("Key '{from}' doesn't exist in table '{}'", self.def.name))
                })?;
                if self.def.index(to).is_some_and(|other| other != at) {
                    return Err(SqlError::new(1061, format!("Duplicate key name '{to}'")));
                }
                self.def.indexes[at].name.clone_from(to);
                Ok(())
            }
            Alteration::RenameTo(table) => {
                check_name(&table.name)?;
                self.def.rename(table.schema.as_deref().unwrap_or(current_schema), &table.name);
                Ok(())
            }
            Alteration::Options(options) => self.options(options),
            Alteration::ConvertTo { charset, collation } => {
                let id = chosen_collation(
                    Some(charset),
                    collation.as_deref(),
                    self.settings.collation,
                    self.settings,
                )?;
                self.def.collation = id;
                for column in &mut self.def.columns {
                    column.ty = recollated(&column.ty, id);
                }
                Ok(())
            }
            // Conditions have been decided before.
            Alteration::Force | Alteration::Nothing | Alteration::Conditional { .. } => Ok(()),
        }
    }

    fn options(&mut self, options: &crate::ast::TableOptions) -> Result<()> {
        if let Some(engine) = &options.engine {
            check_engine(engine, self.settings)?;
        }
        if options.charset.is_some() || options.collation.is_some() {
            self.def.collation = chosen_collation(
                options.charset.as_deref(),
                options.collation.as_deref(),
                self.def.collation,
                self.settings,
            )?;
        }
        if let Some(comment) = &options.comment {
            self.def.comment.clone_from(comment);
        }
        if let Some(next) = options.auto_increment {
            self.def.auto_increment = next;
        }
        keep_options(&mut self.def, options, self.settings);
        Ok(())
    }

    /// Puts a column at a place, and moves the positions in keys along.
    fn place(&mut self, def: ColumnDef, source: Option<usize>, place: &ColumnPlace) -> Result<usize> {
        let at = match place {
            ColumnPlace::Last => self.def.columns.len(),
            ColumnPlace::First => 0,
            ColumnPlace::After(name) => {
                self.def.column(name).ok_or_else(|| no_such_column(&self.def, name))? + 1
            }
        };
        self.def.columns.insert(at, def);
        self.sources.insert(at, source);
        self.for_each_position(|column| *column += usize::from(*column >= at));
        Ok(at)
    }

    /// Of all places where keys name a column.
    fn for_each_position(&mut self, mut f: impl FnMut(&mut usize)) {
        let secondary = self.def.indexes.iter_mut().flat_map(|index| &mut index.columns);
        let parts = self.def.primary.iter_mut().flatten().chain(secondary);
        parts.for_each(|part| f(&mut part.column));
        self.def.foreign_keys.iter_mut().flat_map(|key| &mut key.columns).for_each(f);
    }

    /// `DROP CONSTRAINT`
    fn drop_constraint(&mut self, name: &str, if_exists: bool) -> Result<()> {
        if let Some(at) = self.def.foreign_key(name) {
            self.def.foreign_keys.remove(at);
        } else if let Some(at) = self.def.index(name).filter(|&at| self.def.indexes[at].unique) {
            self.def.indexes.remove(at);
        } else if name.eq_ignore_ascii_case("PRIMARY") && self.def.primary.is_some() {
            self.def.primary = None;
        } else if !if_exists {
            return Err(SqlError::new(3940, format!("Constraint '{name}' does not exist.")));
        }
        Ok(())
    }

    /// The columns that have other names than in `old` (from, to). The table's foreign keys about
    /// itself follow.
    fn follow_own_names(&mut self, old: &TableDef) -> Vec<(String, String)> {
        let names = self.sources.iter().zip(&self.def.columns).filter_map(|(source, column)| {
            let before = &old.columns[(*source)?].name;
            (*before != column.name).then(|| (before.clone(), column.name.clone()))
        });
        let renamed: Vec<(String, String)> = names.collect();
        let (schema, name) = (self.def.schema.clone(), self.def.name.clone());
        for foreign_key in self.def.foreign_keys.iter_mut().filter(|key| key.is_about(&schema, &name)) {
            foreign_key.rename_parent_columns(&renamed);
        }
        renamed
    }

    fn add_column(&mut self, spec: &ColumnSpec, place: &ColumnPlace) -> Result<()> {
        if self.def.column(&spec.name).is_some() {
            return Err(SqlError::new(1060, format!("Duplicate column name '{}'", spec.name)));
        }
        let def = column(spec, self.def.collation, self.settings)?;
        self.place(def, None, place)?;
        self.column_keys(spec)
    }

    fn column_keys(&mut self, spec: &ColumnSpec) -> Result<()> {
        for (is_wanted, kind) in [(spec.primary, KeyKind::Primary), (spec.unique, KeyKind::Unique)] {
            if is_wanted {
                let parts = vec![KeyPart { column: spec.name.clone(), prefix: None, descending: false }];
                let key = KeySpec { kind, name: None, parts, comment: String::new(), invisible: false };
                add_key(&mut self.def, &key, self.settings)?;
            }
        }
        Ok(())
    }

    fn modify(&mut self, name: &str, spec: &ColumnSpec, place: Option<&ColumnPlace>) -> Result<()> {
        let at = self.def.column(name).ok_or_else(|| no_such_column(&self.def, name))?;
        if self.def.column(&spec.name).is_some_and(|other| other != at) {
            return Err(SqlError::new(1060, format!("Duplicate column name '{}'", spec.name)));
        }
        let mut def = column(spec, self.def.collation, self.settings)?;
        let is_primary = self.def.primary.iter().flatten().any(|part| part.column == at);
        if is_primary {
            if spec.nullable == Some(true) {
                return Err(SqlError::new(
                    1171,
                    "All parts of a PRIMARY KEY must be NOT NULL; if you need NULL in a key, use UNIQUE instead",
                ));
            }
            def.nullable = false;
            if matches!(def.default, Some(ColumnDefault::Null)) {
                def.default = None;
            }
        }
        match place {
            None => self.def.columns[at] = def,
            Some(place) => self.move_column(at, def, place)?,
        }
        self.column_keys(spec)
    }

    fn move_column(&mut self, at: usize, def: ColumnDef, place: &ColumnPlace) -> Result<()> {
        // The key parts of the moved column are found again by a position that no column has.
        const MOVED: usize = usize::MAX / 2;
        self.for_each_position(|column| {
            if *column == at {
                *column = MOVED;
            } else if *column > at {
                *column -= 1;
            }
        });
        self.def.columns.remove(at);
        let source = self.sources.remove(at);
        let to = self.place(def, source, place)?;
        self.for_each_position(|column| {
            // `place` has moved the mark along with the others.
            if *column >= MOVED {
                *column = to;
            }
        });
        Ok(())
    }

    fn drop_column(&mut self, name: &str, if_exists: bool) -> Result<()> {
        let Some(at) = self.def.column(name) else {
            return if if_exists { Ok(()) } else { Err(cannot_drop(name)) };
        };
        if self.def.columns.len() == 1 {
            return Err(SqlError::new(
                1090,
                "You can't delete all columns with ALTER TABLE; use DROP TABLE instead",
            ));
        }
        if let Some(key) = self.def.foreign_keys.iter().find(|key| key.columns.contains(&at)) {
            let needed = format!("needed in a foreign key constraint '{}'", key.name);
            return Err(SqlError::new(1828, format!("Cannot drop column '{name}': {needed}")));
        }
        self.def.columns.remove(at);
        self.sources.remove(at);
        // A key loses the column; one without columns is gone.
        if let Some(primary) = &mut self.def.primary {
            primary.retain(|part| part.column != at);
        }
        self.def.primary = self.def.primary.take().filter(|primary| !primary.is_empty());
        for index in &mut self.def.indexes {
            index.columns.retain(|part| part.column != at);
        }
        self.def.indexes.retain(|index| !index.columns.is_empty());
        self.for_each_position(|column| *column -= usize::from(*column > at));
        Ok(())
    }

    fn set_default(&mut self, name: &str, default: Option<&crate::ast::Expr>) -> Result<()> {
        let at = self.def.column(name).ok_or_else(|| no_such_column(&self.def, name))?;
        let column = &self.def.columns[at];
        let default = match default {
            None => None,
            Some(written) => Some(default_of(name, written, &column.ty, column.nullable, self.settings)?),
        };
        self.def.columns[at].default = default;
        Ok(())
    }
}

/// What is wrong with the zero date that a new column without a default would have in old rows. The
/// source has judged that.
fn refused_zero(column: &ColumnDef, settings: &DdlSettings) -> Option<SqlError> {
    let is_refused = settings.strict && settings.dates.no_zero_date && !settings.replicated;
    if !is_refused || column.nullable || column.default.is_some() {
        return None;
    }
    let problem = match column.ty.code {
        TypeCode::Date => convert::Problem::IncorrectTemporal("date", "0000-00-00".to_owned()),
        TypeCode::Datetime2 => {
            let zero = Value::DateTime(DateTime::default()).text_bytes(Some(&column.ty));
            let zero = String::from_utf8_lossy(&zero.unwrap_or_default()).into_owned();
            convert::Problem::IncorrectTemporal("datetime", zero)
        }
        _ => return None,
    };
    let mut error = SqlError::new(problem.code(), problem.message(&column.name, 1));
    error.state = *b"22007";
    Some(error)
}

/// The value of a new column in old rows.
fn value_for_old_rows(column: &ColumnDef, settings: &DdlSettings) -> Result<Value> {
    let literal = match &column.default {
        Some(ColumnDefault::Literal(_)) => column.default_literal().unwrap_or(Value::Null),
        Some(ColumnDefault::CurrentTimestamp) => {
            // A moment is cut to the column's digits, which a text would be rounded to.
            let (seconds, micros) = (settings.now_us / 1_000_000, (settings.now_us % 1_000_000) as u32);
            let unit = 10u32.pow(6 - u32::from(column.ty.fsp()));
            let at = DateTime::from_unix(seconds as i64, micros / unit * unit, settings.zone_offset_s);
            Value::DateTime(at)
        }
        _ if column.nullable => return Ok(Value::Null),
        _ => match column.ty.code {
            TypeCode::Date => return Ok(Value::Date(types::Date::default())),
            TypeCode::Datetime2 => return Ok(Value::DateTime(DateTime::default())),
            TypeCode::Timestamp2 => return Ok(Value::Timestamp { seconds: 0, micros: 0 }),
            TypeCode::Enum => Value::Int(1),
            TypeCode::Json => Value::text("null"),
            code if crate::variables::is_character(code) => Value::text(""),
            _ => Value::Int(0),
        },
    };
    let context = settings.conversion(false);
    // A default is what it is, whatever the modes are now.
    convert::assign(&literal, &column.ty, convert::Context { dates: Default::default(), ..context })
        .map(|(value, _)| value)
        .map_err(|problem| SqlError::new(problem.code(), problem.message(&column.name, 1)))
}

/// A function that turns rows of `old` into rows of the altered table. Values that do not fit fail
/// with MySQL's error, which is left in `failure`.
pub(crate) fn converter<'c>(
    old: &'c TableDef,
    altered: &'c Altered,
    settings: &'c DdlSettings,
    failure: &'c mut Option<SqlError>,
) -> Result<impl FnMut(&[u8]) -> engine::Result<Vec<u8>> + 'c> {
    let layout = |def: &TableDef| {
        let types: Vec<ColumnType> = def.columns.iter().map(|column| column.ty.clone()).collect();
        RowLayout::new(&types)
    };
    let (from, to) = (layout(old), layout(&altered.def));
    let mut added = Vec::new();
    for (column, source) in altered.def.columns.iter().zip(&altered.sources) {
        added.push(if source.is_none() { value_for_old_rows(column, settings)? } else { Value::Null });
    }
    let refused = altered
        .def
        .columns
        .iter()
        .zip(&altered.sources)
        .find_map(|(column, source)| source.is_none().then(|| refused_zero(column, settings)).flatten());
    let mut number = 0;
    let mut next_id = 0u64;
    Ok(move |image: &[u8]| {
        number += 1;
        if let Some(error) = &refused {
            *failure = Some(error.clone());
            return Err(EngineError::BadDefinition(error.message.clone()));
        }
        let mut values = added.clone();
        for (at, source) in altered.sources.iter().enumerate() {
            let column = &altered.def.columns[at];
            if let Some(source) = source {
                let value = from.decode(image, *source)?;
                values[at] = convert_value(value, &old.columns[*source], column, number, settings).map_err(
                    |error| {
                        let message = error.message.clone();
                        *failure = Some(error);
                        EngineError::BadDefinition(message)
                    },
                )?;
            } else if column.auto_increment {
                next_id += 1;
                values[at] =
                    if column.ty.unsigned { Value::UInt(next_id) } else { Value::Int(next_id as i64) };
            }
        }
        let mut out = Vec::with_capacity(image.len());
        to.encode(&values, &mut out)?;
        Ok(out)
    })
}

fn convert_value(
    value: Value,
    from: &ColumnDef,
    to: &ColumnDef,
    row: u64,
    settings: &DdlSettings,
) -> Result<Value> {
    if value.is_null() {
        return if to.nullable {
            Ok(Value::Null)
        } else {
            Err(SqlError::new(1138, "Invalid use of NULL value"))
        };
    }
    if from.ty == to.ty {
        return Ok(value);
    }
    let value = match value {
        stamp @ Value::Timestamp { .. } if to.ty.code != TypeCode::Timestamp2 => {
            stamp.in_zone(settings.zone_offset_s)
        }
        value => value,
    };
    convert::assign(&value, &to.ty, settings.conversion(settings.strict))
        .map(|(value, _)| value)
        .map_err(|problem| SqlError::new(problem.code(), problem.message(&to.name, row)))
}
