//! ALTER TABLE: makes the new definition, and tells how old rows become new ones.

use super::altered::Altered;
use super::client_checks::{check_default, check_written_columns};
use super::column::{add_expressions, column, default_of, expression_default, implied_timestamps};
use super::column_type::recollated;
use super::conditional::{settled, written_column};
use super::create::{add_key, check, check_engine, check_name, keep_options};
use super::expression::{add_check, check_names, columns_of, forget_check_of, no_such_check, renamed};
use super::foreign_key::{Relations, ignores_foreign_keys};
use super::functional;
use super::kept_key::check_srid;
use super::key::keys_of_column;
use super::long_key::fit_indexes;
use super::settings::{DdlSettings, chosen_collation};
use super::temporal;
use crate::ast::{
    AlterTable, Alteration, ColumnPlace, ColumnSpec, Expr, ForeignKeySpec, KeySpec, TypeSpec, UnaryOp,
};
use crate::error::{Result, SqlError};
use engine::{Catalog, ColumnDef, ColumnDefault, PartitionKind, Partitioning, TableDef};
use types::collation::BINARY;

/// A definition that is being altered. Alterations name columns by their names, while its keys name
/// them by their current positions.
struct Builder<'s> {
    /// The table before the statement. Alterations name columns by the names that they have in it.
    old: &'s TableDef,
    def: TableDef,
    sources: Vec<Option<usize>>,
    settings: &'s DdlSettings,
    /// Whether the statement has CONVERT TO CHARACTER SET, which the columns that it writes follow
    /// too.
    converts: bool,
}

fn no_such_column(def: &TableDef, name: &str) -> SqlError {
    SqlError::new(1054, format!("Unknown column '{name}' in '{}'", def.name))
}

fn cannot_drop(name: &str) -> SqlError {
    SqlError::new(1091, format!("Can't DROP '{name}'; check that column/key exists"))
}

/// Checks that the columns which are altered are those of the table before the statement, and that
/// the statement does not drop them.
///
/// # Errors
/// Returns 1054 for other columns.
fn check_altered_names(old: &TableDef, alter: &AlterTable) -> Result<()> {
    let is_dropped = |of: &str| {
        let drops = |other: &Alteration| match other {
            Alteration::DropColumn { name, .. } => old.column(name) == old.column(of),
            _ => false,
        };
        alter.alterations.iter().any(drops)
    };
    for alteration in &alter.alterations {
        let name = match alteration {
            Alteration::ModifyColumn { name, .. }
            | Alteration::RenameColumn { from: name, .. }
            | Alteration::SetDefault { name, .. }
            | Alteration::SetDefaultExpression { name, .. }
            | Alteration::SetVisible { name, .. } => name,
            _ => continue,
        };
        if old.column(name).is_none() || is_dropped(name) {
            return Err(no_such_column(old, name));
        }
    }
    Ok(())
}

/// Applies the alterations to `old`. `current_schema` is the schema for a new name without one.
pub(crate) fn altered_definition(
    old: &TableDef,
    alter: &AlterTable,
    current_schema: &str,
    settings: &DdlSettings,
    catalog: &Catalog,
) -> Result<Altered> {
    let settled = settled(old, alter);
    let alter = settled.as_ref();
    if !settings.replicated {
        check_altered_names(old, alter)?;
    }
    let relations = Relations::under(settings, catalog);
    let sources = (0..old.columns.len()).map(Some).collect();
    let converts =
        alter.alterations.iter().any(|alteration| matches!(alteration, Alteration::ConvertTo { .. }));
    let mut builder = Builder { old, def: old.clone(), sources, settings, converts };
    builder.def.arrange_indexes();
    temporal::strip(&mut builder.def, &mut builder.sources);
    // As in MySQL, keys are dropped first and added last, so that `DROP PRIMARY KEY, ADD PRIMARY
    // KEY (b)` works in any order.
    let goes = |alteration: &Alteration| {
        matches!(
            alteration,
            Alteration::DropKey { .. }
                | Alteration::DropPrimaryKey
                | Alteration::RenameKey { .. }
                | Alteration::DropForeignKey { .. }
                | Alteration::DropConstraint { .. }
                | Alteration::DropCheck { .. }
        )
    };
    let comes =
        |alteration: &Alteration| matches!(alteration, Alteration::AddKey(_) | Alteration::AddCheck(_));
    let (gone, rest): (Vec<_>, Vec<_>) = alter.alterations.iter().partition(|alteration| goes(alteration));
    let (keys, columns): (Vec<_>, Vec<_>) = rest.into_iter().partition(|alteration| comes(alteration));
    // New and moved columns are placed after the other alterations, among the names and in the
    // character set that the table has in the end.
    let of_table =
        |alteration: &Alteration| matches!(alteration, Alteration::Options(_) | Alteration::ConvertTo { .. });
    // MariaDB can also alter a column that the same statement adds.
    let is_placed = |alteration: &Alteration| match alteration {
        Alteration::AddColumn(..) | Alteration::ModifyColumn { place: Some(_), .. } => true,
        _ if !settings.replicated => false,
        Alteration::ModifyColumn { name, .. }
        | Alteration::DropColumn { name, .. }
        | Alteration::SetDefault { name, .. }
        | Alteration::RenameColumn { from: name, .. } => old.column(name).is_none(),
        _ => false,
    };
    let (mut table, columns): (Vec<_>, Vec<_>) =
        columns.into_iter().partition(|alteration| of_table(alteration));
    // MySQL refuses a default character set beside another one that the columns are converted to.
    // In MariaDB the default is the table's, wherever it stands.
    table.sort_by_key(|alteration| !matches!(alteration, Alteration::ConvertTo { .. }));
    let (placed, columns): (Vec<_>, Vec<_>) =
        columns.into_iter().partition(|alteration| is_placed(alteration));
    for alteration in gone.into_iter().chain(table).chain(columns).chain(placed) {
        builder.apply(alteration, current_schema)?;
    }
    builder.check_column_names()?;
    if builder.def.columns.is_empty() {
        return Err(SqlError::new(
            1090,
            "You can't delete all columns with ALTER TABLE; use DROP TABLE instead",
        ));
    }
    builder.follow_names_in_expressions(old)?;
    fit_indexes(&mut builder.def, settings);
    for alteration in &alter.alterations {
        builder.add_expressions(alteration)?;
    }
    for alteration in keys {
        builder.apply(alteration, current_schema)?;
    }
    builder.check_expressions(old, catalog)?;
    let specs = alter.alterations.iter().filter_map(|alteration| match alteration {
        Alteration::AddColumn(spec, _) | Alteration::ModifyColumn { spec, .. } => Some(spec),
        _ => None,
    });
    check_written_columns(&builder.def, specs, settings)?;
    functional::follow_types(&mut builder.def, settings)?;
    let written: Vec<&str> = alter.alterations.iter().filter_map(written_column).collect();
    implied_timestamps(&mut builder.def, &written, settings)?;
    temporal::finish(&mut builder.def, &mut builder.sources, Some(old))?;
    let renamed = builder.follow_own_names(old);
    let added = alter.alterations.iter().filter_map(|alteration| match alteration {
        Alteration::AddForeignKey(spec) => Some(spec.clone()),
        _ => None,
    });
    let added: Vec<_> = added.collect();
    let is_taken =
        |spec: &&ForeignKeySpec| spec.name.as_ref().is_some_and(|name| old.foreign_key(name).is_some());
    // A name that the same statement makes free is not free for MySQL.
    if let (Some(Some(name)), false) =
        (added.iter().find(is_taken).map(|spec| spec.name.as_ref()), settings.replicated)
    {
        return Err(SqlError::new(1826, format!("Duplicate foreign key constraint name '{name}'")));
    }
    let engine = alter.alterations.iter().find_map(|alteration| match alteration {
        Alteration::Options(options) => options.engine.as_deref(),
        _ => None,
    });
    relations.add(&mut builder.def, &added, engine)?;
    relations.check_altered(old, &builder.def, &builder.sources)?;
    check(&builder.def, settings)?;
    if builder.def.columns.iter().all(|column| column.invisible) {
        return Err(SqlError::new(4028, "A table must have at least one visible column."));
    }
    let force = alter.alterations.iter().any(|alteration| match alteration {
        Alteration::Force => true,
        // The state of a sequence is in its row, so the table has to be rebuilt.
        Alteration::Options(options) => {
            options.engine.is_some()
                || options.of_mariadb.iter().any(|(name, _)| super::sequence::is_option(name))
        }
        _ => false,
    });
    let asked = alter.alterations.iter().rev().find_map(|alteration| match alteration {
        Alteration::Options(options) => options.auto_increment,
        _ => None,
    });
    let auto_increment = asked.filter(|next| *next > 0);
    let ends = old.temporal.versioning.is_some() && builder.def.temporal.versioning.is_none();
    let goes = if ends { temporal::history(old, settings.zone) } else { None };
    let force = force || goes.is_some();
    let copies = needs_rows(old, &builder.def, &builder.sources, settings);
    let goes_at_once = false;
    let (def, sources) = (builder.def, builder.sources);
    Ok(Altered { def, sources, renamed, force, copies, goes, goes_at_once, auto_increment })
}

impl Builder<'_> {
    fn apply(&mut self, alteration: &Alteration, current_schema: &str) -> Result<()> {
        match alteration {
            Alteration::AddColumn(spec, place) => self.add_column(spec, place),
            Alteration::ModifyColumn { name, spec, place } => self.modify(name, spec, place.as_ref()),
            Alteration::DropColumn { name, if_exists } => self.drop_column(name, *if_exists),
            Alteration::RenameColumn { from, to } => {
                let at = self.column(from)?;
                self.def.columns[at].name.clone_from(to);
                Ok(())
            }
            Alteration::SetDefault { name, default } => self.set_default(name, default.as_ref()),
            Alteration::SetVisible { name, visible } => {
                let at = self.column(name)?;
                self.def.columns[at].invisible = !visible;
                Ok(())
            }
            Alteration::AddKey(key) => self.add_key(key),
            Alteration::AddCheck(check) => add_check(&mut self.def, check, self.settings),
            Alteration::DropCheck { name, if_exists } => match self.def.check_constraint(name) {
                Some(at) => {
                    self.def.checks.remove(at);
                    Ok(())
                }
                None if *if_exists => Ok(()),
                None => Err(no_such_check(name)),
            },
            Alteration::EnforceCheck { name, enforced } => {
                let at = self.def.check_constraint(name).ok_or_else(|| no_such_check(name))?;
                self.def.checks[at].enforced = *enforced;
                Ok(())
            }
            Alteration::SetIndexVisible { name, visible } => self.set_index_visible(name, *visible),
            // The expressions are set when all columns exist.
            Alteration::SetDefaultExpression { name, .. } => match self.def.column(name) {
                Some(_) => Ok(()),
                None => Err(no_such_column(&self.def, name)),
            },
            Alteration::DropKey { name, if_exists } => match self.def.index(name) {
                Some(at) => {
                    self.remove_index(at);
                    Ok(())
                }
                None => match self.def.kept_index(name) {
                    Some(at) => {
                        self.def.kept_indexes.remove(at);
                        Ok(())
                    }
                    None if *if_exists => Ok(()),
                    None => Err(cannot_drop(name)),
                },
            },
            // Foreign keys are added when everything else has been done.
            Alteration::AddForeignKey(_) => Ok(()),
            Alteration::DropForeignKey { name, if_exists } => match self.def.foreign_key(name) {
                Some(at) => {
                    self.def.foreign_keys.remove(at);
                    Ok(())
                }
                None if *if_exists || ignores_foreign_keys(&self.def) => Ok(()),
                None => Err(cannot_drop(name)),
            },
            Alteration::DropConstraint { name, if_exists } => self.drop_constraint(name, *if_exists),
            Alteration::DropPrimaryKey => match self.def.primary.take() {
                Some(_) => {
                    self.def.primary_using_btree = false;
                    temporal::forget_overlaps(&mut self.def, "PRIMARY");
                    Ok(())
                }
                None => Err(cannot_drop("PRIMARY")),
            },
            Alteration::RenameKey { from, to } if self.def.kept_index(from).is_some() => {
                let at = self.def.kept_index(from).unwrap_or_default();
                if self.def.index(to).is_some() || self.def.kept_index(to).is_some_and(|other| other != at) {
                    return Err(SqlError::new(1061, format!("Duplicate key name '{to}'")));
                }
                self.def.kept_indexes[at].name.clone_from(to);
                Ok(())
            }
            Alteration::RenameKey { from, to } => {
                let at = self.def.index(from).ok_or_else(|| {
                    SqlError::new(1176, format!("Key '{from}' doesn't exist in table '{}'", self.def.name))
                })?;
                if self.def.index(to).is_some_and(|other| other != at) || self.def.kept_index(to).is_some() {
                    return Err(SqlError::new(1061, format!("Duplicate key name '{to}'")));
                }
                temporal::rename_overlaps(&mut self.def, from, to);
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
                let named = self.def.named_columns();
                for column in &mut self.def.columns[..named] {
                    column.ty = recollated(column, id, self.settings)?;
                }
                Ok(())
            }
            // Partitions are altered later, when the columns and keys are final.
            Alteration::Partition(_) => Ok(()),
            // Conditions have been decided by [`settled`].
            Alteration::Force | Alteration::Nothing | Alteration::Conditional { .. } => Ok(()),
            Alteration::AddVersioning => temporal::add_versioning(&mut self.def),
            Alteration::DropVersioning => match self.def.temporal.versioning.take() {
                Some(_) => Ok(()),
                None => Err(temporal::not_versioned(&self.def.name)),
            },
            Alteration::AddPeriod(period) => temporal::add_period(&mut self.def, period),
            Alteration::DropPeriod { name, if_exists } => {
                temporal::drop_period(&mut self.def, name.as_deref(), *if_exists)
            }
            Alteration::Sequence(_) => Err(SqlError::not_supported("ALTER SEQUENCE among other alterations")),
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

    /// Inserts a column at a place, and adjusts the positions in the keys.
    fn place(&mut self, def: ColumnDef, source: Option<usize>, place: &ColumnPlace) -> Result<usize> {
        let at = match place {
            ColumnPlace::Last => self.def.named_columns(),
            ColumnPlace::First => usize::from(self.begins_with_generated_key()),
            ColumnPlace::After(name) => {
                self.def.column(name).ok_or_else(|| no_such_column(&self.def, name))? + 1
            }
        };
        self.def.columns.insert(at, def);
        self.sources.insert(at, source);
        self.for_each_position(|column| *column += usize::from(*column >= at));
        Ok(at)
    }

    /// Reports whether the first column is a generated invisible primary key, which MySQL keeps
    /// first. A key of which a column is being moved is none.
    fn begins_with_generated_key(&self) -> bool {
        let mut parts = self.def.primary.iter().flatten();
        parts.all(|part| part.column < self.def.columns.len()) && self.def.has_generated_key()
    }

    /// Calls `f` with each position of a column in a key.
    fn for_each_position(&mut self, mut f: impl FnMut(&mut usize)) {
        let secondary = self.def.indexes.iter_mut().flat_map(|index| &mut index.columns);
        let parts = self.def.primary.iter_mut().flatten().chain(secondary);
        parts.for_each(|part| f(&mut part.column));
        self.def.foreign_keys.iter_mut().flat_map(|key| &mut key.columns).for_each(f);
    }

    /// Takes an index out of the definition, and what else names it.
    fn remove_index(&mut self, at: usize) {
        let index = self.def.indexes.remove(at);
        temporal::forget_overlaps(&mut self.def, &index.name);
        self.def.close_gap_in_order(at);
        functional::forget_columns(&mut self.def, &mut self.sources);
    }

    /// Drops a constraint of any kind (`DROP CONSTRAINT`).
    fn drop_constraint(&mut self, name: &str, if_exists: bool) -> Result<()> {
        if let Some(at) = self.def.foreign_key(name) {
            self.def.foreign_keys.remove(at);
        } else if let Some(at) = self.def.check_constraint(name) {
            self.def.checks.remove(at);
        } else if let Some(at) = self.def.index(name).filter(|&at| self.def.indexes[at].unique) {
            self.remove_index(at);
        } else if let Some(at) = self.def.kept_index(name).filter(|&at| self.def.kept_indexes[at].unique) {
            self.def.kept_indexes.remove(at);
        } else if name.eq_ignore_ascii_case("PRIMARY") && self.def.primary.is_some() {
            temporal::forget_overlaps(&mut self.def, "PRIMARY");
            self.def.primary = None;
            self.def.primary_using_btree = false;
        } else if !if_exists {
            return Err(SqlError::new(3940, format!("Constraint '{name}' does not exist.")));
        }
        Ok(())
    }

    /// Returns the columns whose names differ from those in `old`, as pairs (from, to).
    fn renamed_columns(&self, old: &TableDef) -> Vec<(String, String)> {
        let names = self.sources.iter().zip(&self.def.columns).filter_map(|(source, column)| {
            let before = &old.columns[(*source)?].name;
            (*before != column.name).then(|| (before.clone(), column.name.clone()))
        });
        names.collect()
    }

    /// Returns the renamed columns as [`Builder::renamed_columns`] does, and renames them in the
    /// table's foreign keys that refer to itself.
    fn follow_own_names(&mut self, old: &TableDef) -> Vec<(String, String)> {
        let renamed = self.renamed_columns(old);
        let (schema, name) = (self.def.schema.clone(), self.def.name.clone());
        for foreign_key in self.def.foreign_keys.iter_mut().filter(|key| key.is_about(&schema, &name)) {
            foreign_key.rename_parent_columns(&renamed);
        }
        renamed
    }

    fn set_index_visible(&mut self, name: &str, visible: bool) -> Result<()> {
        if let Some(at) = self.def.index(name) {
            self.def.indexes[at].invisible = !visible;
        } else if let Some(at) = self.def.kept_index(name) {
            self.def.kept_indexes[at].invisible = !visible;
        } else if name.eq_ignore_ascii_case("PRIMARY") && self.def.primary.is_some() {
            return Err(SqlError::new(3522, "A primary key index cannot be invisible."));
        } else {
            let text = format!("Key '{name}' doesn't exist in table '{}'", self.def.name);
            return Err(SqlError::new(1176, text));
        }
        Ok(())
    }

    /// Renames columns in the expressions of the definition. Only MariaDB allows that: MySQL
    /// refuses to rename a column that an expression uses.
    fn follow_names_in_expressions(&mut self, old: &TableDef) -> Result<()> {
        let names = self.renamed_columns(old);
        if names.is_empty() {
            return Ok(());
        }
        if !self.settings.replicated {
            for (from, _) in &names {
                refuse_dependency(old, &self.def, from)?;
            }
        }
        for column in &mut self.def.columns {
            if let Some(generated) = &mut column.generated {
                generated.expression = renamed(&generated.expression, &names);
            }
            if let Some(ColumnDefault::Expression(text)) = &mut column.default {
                *text = renamed(text, &names);
            }
        }
        for check in &mut self.def.checks {
            check.expression = renamed(&check.expression, &names);
            if let Some((_, to)) = names.iter().find(|(from, _)| check.of_column && *from == check.name) {
                check.name.clone_from(to);
            }
        }
        // A partitioning that the statement has made anew has the new names already.
        let kept = self.def.partitioning.as_mut().filter(|own| old.partitioning.as_ref() == Some(own));
        if let Some(partitioning) = kept {
            follow_names_in_partitioning(partitioning, &names);
        }
        for part in self.def.kept_indexes.iter_mut().flat_map(|index| &mut index.parts) {
            match part.is_expression {
                true => part.text = renamed(&part.text, &names),
                false => {
                    if let Some((_, to)) = names.iter().find(|(from, _)| *from == part.text) {
                        part.text.clone_from(to);
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds the expressions of the columns that the alteration defines, since all columns exist
    /// now.
    fn add_expressions(&mut self, alteration: &Alteration) -> Result<()> {
        match alteration {
            Alteration::AddColumn(spec, _) | Alteration::ModifyColumn { spec, .. } => {
                add_expressions(&mut self.def, spec, self.settings)
            }
            Alteration::SetDefaultExpression { name, default } => {
                let at = self.def.column(name).ok_or_else(|| no_such_column(&self.def, name))?;
                // MySQL takes a literal in parentheses for one without them, here alone.
                let written = match &default.tree {
                    Some(Expr::Unary(UnaryOp::Plus, operand)) => Some(&**operand),
                    tree => tree.as_ref(),
                };
                let default = match written {
                    Some(literal @ Expr::Literal(_)) if !self.settings.of_mariadb => {
                        let column = &self.def.columns[at];
                        default_of(name, literal, &column.ty, column.nullable, self.settings)?
                    }
                    _ => expression_default(&self.def, at, default, self.settings)?,
                };
                self.def.columns[at].default = Some(default);
                if !self.settings.replicated {
                    check_default(&self.def, at)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Checks the expressions at the end: their columns exist, and the names of constraints are
    /// free.
    fn check_expressions(&mut self, old: &TableDef, catalog: &Catalog) -> Result<()> {
        let is_gone = |column: &&engine::ColumnDef| self.def.column(&column.name).is_none();
        let gone: Vec<String> =
            old.columns.iter().filter(is_gone).map(|column| column.name.clone()).collect();
        for name in &gone {
            // A constraint on the dropped column alone is dropped with it.
            let is_alone = |check: &engine::CheckDef| {
                let columns = columns_of(old, &check.expression).unwrap_or_default();
                !columns.is_empty() && columns.iter().all(|at| old.columns[*at].name == *name)
            };
            self.def.checks.retain(|check| {
                let of_it = check.of_column && check.name.eq_ignore_ascii_case(name);
                !of_it && (old.check_constraint(&check.name).is_none() || !is_alone(check))
            });
            if !self.settings.replicated && self.sources_lost(old, name) {
                refuse_dependency(old, &self.def, name)?;
            }
        }
        if !self.settings.replicated {
            check_names(&self.def, Some(old), catalog)?;
        }
        Ok(())
    }

    /// Reports whether the old column with this name is gone, under any name.
    fn sources_lost(&self, old: &TableDef, name: &str) -> bool {
        old.column(name).is_some_and(|at| !self.sources.contains(&Some(at)))
    }

    /// Returns the current position of the column that had this name in the old table. Another
    /// alteration may have given the name to another column.
    fn column(&self, name: &str) -> Result<usize> {
        let found = self.old.column(name).and_then(|at| self.sources.iter().position(|of| *of == Some(at)));
        found.or_else(|| self.def.column(name)).ok_or_else(|| no_such_column(&self.def, name))
    }

    /// Checks that no two columns have the same name in the end.
    fn check_column_names(&self) -> Result<()> {
        for (at, column) in self.def.columns[..self.def.named_columns()].iter().enumerate() {
            if self.def.column(&column.name) != Some(at) {
                return Err(SqlError::new(1060, format!("Duplicate column name '{}'", column.name)));
            }
        }
        Ok(())
    }

    fn add_column(&mut self, spec: &ColumnSpec, place: &ColumnPlace) -> Result<()> {
        super::create::check_has_room(&self.def)?;
        let def = self.written(spec)?;
        self.place(def, None, place)?;
        self.column_keys(spec)
    }

    /// Returns the definition of a column that the statement writes. Beside CONVERT TO CHARACTER
    /// SET, the character set that is written with the column has no effect.
    fn written(&self, spec: &ColumnSpec) -> Result<ColumnDef> {
        let def = column(spec, self.def.collation, self.settings)?;
        if !self.converts || !def.ty.is_character() || def.ty.collation == BINARY {
            return Ok(def);
        }
        let ty = TypeSpec { charset: None, collation: None, binary: false, ..spec.ty.clone() };
        column(&ColumnSpec { ty, ..spec.clone() }, self.def.collation, self.settings)
    }

    fn column_keys(&mut self, spec: &ColumnSpec) -> Result<()> {
        keys_of_column(spec).iter().try_for_each(|key| self.add_key(key))
    }

    /// Adds a key, and with it the hidden columns of its expressions.
    fn add_key(&mut self, key: &KeySpec) -> Result<()> {
        add_key(&mut self.def, key, self.settings)?;
        self.sources.resize(self.def.columns.len(), None);
        Ok(())
    }

    fn modify(&mut self, name: &str, spec: &ColumnSpec, place: Option<&ColumnPlace>) -> Result<()> {
        let at = self.column(name)?;
        let mut def = self.written(spec)?;
        if self.settings.of_mariadb {
            // The new definition brings its own constraint.
            let name = self.def.columns[at].name.clone();
            forget_check_of(&mut self.def, &name);
        }
        temporal::keep_period(&self.def.columns[at], &mut def);
        let is_primary = self.def.primary.iter().flatten().any(|part| part.column == at);
        if is_primary {
            // MariaDB ignores the NULL.
            if spec.nullable == Some(true) && !self.settings.of_mariadb {
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
        if let Some(is_stored) = old_storage(&self.def.columns[at])
            && !self.settings.replicated
            && spec.generated.as_ref().is_some_and(|generated| generated.stored != is_stored)
        {
            let text = "'Changing the STORED status' is not supported for generated columns.";
            return Err(SqlError::new(3106, text));
        }
        check_srid(&self.def, at, &def, self.settings)?;
        // MariaDB puts a column last that the same statement has added.
        let is_added = self.settings.of_mariadb && self.sources[at].is_none();
        match place {
            Some(place) => self.move_column(at, def, place)?,
            None if is_added => self.move_column(at, def, &ColumnPlace::Last)?,
            None => self.def.columns[at] = def,
        }
        self.column_keys(spec)
    }

    fn move_column(&mut self, at: usize, def: ColumnDef, place: &ColumnPlace) -> Result<()> {
        // Meanwhile, the key parts of the moved column are marked by a position that no column has.
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
            // `place` has shifted the mark together with the other positions.
            if *column >= MOVED {
                *column = to;
            }
        });
        Ok(())
    }

    fn drop_column(&mut self, name: &str, if_exists: bool) -> Result<()> {
        let Ok(at) = self.column(name) else {
            return if if_exists { Ok(()) } else { Err(cannot_drop(name)) };
        };
        if let Some(key) = self.def.foreign_keys.iter().find(|key| key.columns.contains(&at)) {
            let needed = format!("needed in a foreign key constraint '{}'", key.name);
            return Err(SqlError::new(1828, format!("Cannot drop column '{name}': {needed}")));
        }
        self.def.columns.remove(at);
        self.sources.remove(at);
        // Keys lose the dropped column. A key without columns is dropped, too.
        if let Some(primary) = &mut self.def.primary {
            primary.retain(|part| part.column != at);
        }
        for index in &mut self.def.indexes {
            index.columns.retain(|part| part.column != at);
        }
        temporal::empty_keys_of_period(&mut self.def);
        self.def.primary = self.def.primary.take().filter(|primary| !primary.is_empty());
        // An index that goes takes its hidden columns along, so the others must have their new
        // places.
        self.for_each_position(|column| *column -= usize::from(*column > at));
        for at in (0..self.def.indexes.len()).rev() {
            if self.def.indexes[at].columns.is_empty() {
                self.remove_index(at);
            }
        }
        for index in &mut self.def.kept_indexes {
            let parts = index.parts.len();
            index.parts.retain(|part| part.is_expression || !part.text.eq_ignore_ascii_case(name));
            if let Some(entries) = index.entries.as_mut().filter(|_| index.parts.len() < parts) {
                // The entries are made anew, without those of the dropped column.
                entries.id = 0;
            }
        }
        self.def.kept_indexes.retain(|index| !index.parts.is_empty());
        Ok(())
    }

    fn set_default(&mut self, name: &str, default: Option<&crate::ast::Expr>) -> Result<()> {
        let at = self.column(name)?;
        let column = &self.def.columns[at];
        let default = match default {
            // In MariaDB, a nullable column has the default NULL then.
            None if self.settings.of_mariadb && column.nullable => Some(ColumnDefault::Null),
            None => None,
            Some(written) => Some(default_of(name, written, &column.ty, column.nullable, self.settings)?),
        };
        self.def.columns[at].default = default;
        Ok(())
    }
}

/// Reports whether the rows have to be read for expressions: a generated column has a new
/// expression, or a client adds or enforces a constraint.
fn needs_rows(old: &TableDef, new: &TableDef, sources: &[Option<usize>], settings: &DdlSettings) -> bool {
    let changed = |(column, source): (&ColumnDef, &Option<usize>)| {
        let Some(now) = &column.generated else { return false };
        let before = source.and_then(|at| old.columns[at].generated.as_ref());
        source.is_some() && before.is_none_or(|before| before.expression != now.expression)
    };
    let is_new = |check: &engine::CheckDef| {
        let known =
            old.checks.iter().any(|o| o.enforced && o.name == check.name && o.expression == check.expression);
        check.enforced && !known
    };
    new.columns.iter().zip(sources).any(changed) || !settings.replicated && new.checks.iter().any(is_new)
}

/// Reports whether a generated column is stored. Returns `None` if the column is not generated.
fn old_storage(column: &ColumnDef) -> Option<bool> {
    column.generated.as_ref().map(|generated| generated.stored)
}

/// Renames columns in the functions that choose a row's partition and its subpartition.
fn follow_names_in_partitioning(partitioning: &mut Partitioning, names: &[(String, String)]) {
    let sub = partitioning.sub.as_mut().map(|(function, _)| function);
    for function in [&mut partitioning.by].into_iter().chain(sub) {
        if let Some(expression) = &mut function.expression {
            *expression = renamed(expression, names);
        }
        // Those of SYSTEM_TIME are no names.
        for column in function.columns.iter_mut().filter(|_| function.kind != PartitionKind::SystemTime) {
            if let Some((_, to)) = names.iter().find(|(from, _)| from.eq_ignore_ascii_case(column)) {
                column.clone_from(to);
            }
        }
    }
}

/// Refuses to drop or rename a column that an expression of the new definition uses.
fn refuse_dependency(old: &TableDef, new: &TableDef, name: &str) -> Result<()> {
    let names = |text: &str| {
        let columns = columns_of(old, text).unwrap_or_default();
        columns.iter().any(|at| old.columns[*at].name.eq_ignore_ascii_case(name))
    };
    let generated = |column: &ColumnDef| column.generated.as_ref().is_some_and(|g| names(&g.expression));
    let (named, hidden) = new.columns.split_at(new.named_columns());
    if named.iter().any(generated) {
        return Err(SqlError::new(3108, format!("Column '{name}' has a generated column dependency.")));
    }
    let uses =
        |column: &ColumnDef| matches!(&column.default, Some(ColumnDefault::Expression(text)) if names(text));
    if new.columns.iter().any(uses) {
        return Err(SqlError::new(
            3766,
            format!(
                "Column '{name}' of table '{}' has a default value expression dependency and cannot be dropped or renamed.",
                old.name
            ),
        ));
    }
    let used = old.partitioning.as_ref().filter(|_| new.partitioning == old.partitioning);
    let used = used.map(|of| super::partition::columns_used(old, of)).unwrap_or_default();
    if used.iter().any(|at| old.columns[*at].name.eq_ignore_ascii_case(name)) {
        let text = format!(
            "Column '{name}' has a partitioning function dependency and cannot be dropped or renamed."
        );
        return Err(SqlError::new(3855, text));
    }
    if let Some(check) = new.checks.iter().find(|check| names(&check.expression)) {
        let text = format!(
            "Check constraint '{}' uses column '{name}', hence column cannot be dropped or renamed.",
            check.name
        );
        return Err(SqlError::new(3959, text));
    }
    let mut parts = new.kept_indexes.iter().flat_map(|index| &index.parts);
    if parts.any(|part| part.is_expression && names(&part.text)) || hidden.iter().any(generated) {
        let text =
            format!("Column '{name}' has a functional index dependency and cannot be dropped or renamed.");
        return Err(SqlError::new(3837, text));
    }
    Ok(())
}
