//! Runs DDL statements. Each is one commit of the engine, with its text.

use super::algorithm::{any_way, way};
use super::alter::altered_definition;
use super::altered::Altered;
use super::create::definition;
use super::foreign_key::Relations;
use super::object_errors::not_a;
use super::old_rows::{self, Told, converter};
use super::partition::Maker;
use super::rename::Renames;
use super::schedule::ScheduleValues;
use super::sequence;
use super::settings::{DdlSettings, chosen_collation};
use super::temporary;
use crate::ast::{
    AlterDemands, AlterTable, Alteration, CreateTable, KeyKind, KeySpec, PartitionAlteration, SchemaOptions,
    SequenceSpec, Statement, TableName,
};
use crate::detached::{DetachedCondition, DetachedRows, DetachedSettings};
use crate::error::{Result, SqlError};
use crate::host::Host;
use crate::temporary::TemporaryTables;
use engine::{
    Catalog, ColumnDef, CommitOptions, DdlContext, Engine, EngineError, InstantColumns, ObjectKind,
    SchemaDef, SessionContext, TableDef,
};
use std::sync::Arc;

/// The report about a successful statement to its client.
#[derive(Debug, Default)]
pub(crate) struct DdlReport {
    /// The number that MySQL counts for the statement: rows copied, databases created, or tables
    /// dropped with their database.
    pub affected_rows: u64,
    /// Whether the number is also told in words: `Records: 2  Duplicates: 0  Warnings: 0`.
    pub tells_records: bool,
    /// What is told in words in place of that, of rows that an INSERT has put into the table.
    pub info: String,
}

impl DdlReport {
    /// Returns the report for a table that was altered or filled, with the number of copied rows.
    pub fn altered(rows: u64) -> DdlReport {
        DdlReport { affected_rows: rows, tells_records: true, info: String::new() }
    }

    /// Returns the report for a table that an INSERT has filled.
    pub fn filled(affected_rows: u64, info: String) -> DdlReport {
        DdlReport { affected_rows, tells_records: false, info }
    }
}

/// The run of one DDL statement.
pub(crate) struct DdlRun<'a> {
    pub engine: &'a Arc<Engine>,
    /// The computed tables, whose columns a view may have. A replica's applier has none.
    pub host: Option<&'a dyn Host>,
    /// The current schema.
    pub schema: Option<&'a str>,
    /// The settings. Their `collation` is the server's, for new schemas.
    pub settings: DdlSettings,
    /// The statement as the binary log gets it.
    pub text: &'a str,
    pub session: SessionContext,
    pub received_group: Option<&'a [u8]>,
    pub options: CommitOptions<'a>,
    pub lock_timeout_ms: Option<u64>,
    /// The definer of a new object that names none, as user and host.
    pub current_user: (String, String),
    /// The values of the expressions in an event's schedule.
    pub schedule: ScheduleValues,
    /// The tables that the session has locked.
    pub locked_tables: Option<&'a engine::LockedTables>,
    pub interrupt: Option<Arc<std::sync::atomic::AtomicBool>>,
    /// The flag that ends waits for locks only (`STOP REPLICA`).
    pub lock_interrupt: Option<Arc<std::sync::atomic::AtomicBool>>,
    /// The session's temporary tables.
    pub temporary: Arc<TemporaryTables>,
    /// Whether the statement is about temporary tables only, so that nothing of it is logged.
    pub is_temporary: bool,
    /// Notes for the diagnostics area, each with its number and text.
    pub notes: Vec<(u16, String)>,
    /// Warnings for the diagnostics area, in the same form.
    pub warnings: Vec<(u16, String)>,
    /// What there is to be told of values that ALTER TABLE has converted.
    pub told: Told,
    /// The report about the statement, if it succeeds.
    pub report: DdlReport,
}

impl<'a> DdlRun<'a> {
    pub(super) fn context(&self) -> DdlContext<'_> {
        DdlContext {
            statement: self.text,
            schema: self.schema.unwrap_or(""),
            session: &self.session,
            received_group: self.received_group,
            options: self.options,
            lock_timeout_ms: self.lock_timeout_ms,
            locked_tables: self.locked_tables,
            interrupt: self.interrupt.clone(),
            lock_interrupt: self.lock_interrupt.clone(),
            exclusive: false,
            instant: InstantColumns::default(),
            dropped_rows: None,
            renamed_columns: &[],
            auto_increment: None,
            on_stage: None,
        }
    }

    /// Marks the statement as one that a source has run.
    pub fn as_of_source(&mut self, of_mariadb: bool) {
        self.settings.replicated = true;
        self.settings.of_mariadb = of_mariadb;
        self.settings.inline_references = false;
    }

    pub fn schema_of(&self, name: &TableName) -> Result<String> {
        match (&name.schema, self.schema) {
            (Some(schema), _) => Ok(schema.clone()),
            (None, Some(schema)) => Ok(schema.to_owned()),
            (None, None) => Err(SqlError::no_schema_selected()),
        }
    }

    /// Logs the statement without changing the dictionary, for IF EXISTS and IF NOT EXISTS that
    /// leave nothing to do.
    pub fn log_only(&self) -> Result<()> {
        if self.is_temporary {
            return Ok(());
        }
        self.engine.log_statement(&self.context())?;
        Ok(())
    }

    /// Returns the settings for tables of a schema.
    pub(super) fn settings_of(&self, schema: &str) -> Result<DdlSettings> {
        let found = match self.engine.catalog().schema(schema) {
            // A MariaDB source accepts a temporary table in a schema that does not exist. MySQL's
            // answer is 1049.
            None if self.is_temporary && self.settings.replicated => {
                return Ok(DdlSettings { is_temporary: true, ..self.settings.clone() });
            }
            found => found.ok_or_else(|| SqlError::unknown_schema(schema))?,
        };
        let is_temporary = self.is_temporary;
        Ok(DdlSettings { collation: found.collation, is_temporary, ..self.settings.clone() })
    }

    /// Runs the statement.
    ///
    /// # Errors
    /// Returns the error of the statement, and 1235 for a statement that is no DDL known here.
    pub fn run(&mut self, statement: &Statement) -> Result<()> {
        let engine = self.engine;
        let _pass = match self.is_temporary {
            true => None,
            false => {
                let pass = engine.enter_ddl(self.lock_timeout_ms, self.interrupt.as_deref())?;
                // While the statement has its pass, `read_only` cannot be turned on.
                engine.check_read_only(&self.options)?;
                self.options.refused_from = None;
                Some(pass)
            }
        };
        match statement {
            Statement::CreateTable(create) => self.create_table(create, Vec::new()).map(|_| ()),
            Statement::AlterTable(alter) => self.alter_table(alter),
            Statement::DropTable { tables, if_exists, temporary, sequences: false } => {
                self.drop_tables(tables, *if_exists, *temporary)
            }
            Statement::DropTable { tables, if_exists, temporary, sequences: true } => {
                let there = if *temporary { Vec::new() } else { self.sequences_among(tables, *if_exists)? };
                self.drop_tables(&there, *if_exists, *temporary)
            }
            Statement::RenameTable { pairs, if_exists } => self.rename_tables(pairs, *if_exists),
            Statement::Truncate(table) => {
                let schema = self.schema_of(table)?;
                let held = self.require_table(&schema, &table.name)?;
                if held.is_temporary() {
                    let def = TableDef { auto_increment: 0, ..held.def.clone() };
                    self.temporary.replace(&held, engine.create_temporary_table(def)?);
                    return Ok(());
                }
                self.check_truncates(&schema, &table.name)?;
                self.engine.truncate_table(&schema, &table.name, &self.context())?;
                Ok(())
            }
            Statement::CreateIndex { table, key, if_not_exists, demands, .. } => {
                self.create_index(table, key, *if_not_exists, *demands)
            }
            Statement::DropIndex { table, name, if_exists, demands } => {
                self.drop_index(table, name, *if_exists, *demands)
            }
            Statement::CreateSchema { schema, if_not_exists, options, .. } => {
                self.create_schema(schema, *if_not_exists, options)
            }
            Statement::AlterSchema { schema, options } => self.alter_schema(schema.as_deref(), options),
            Statement::DropSchema { schema, if_exists } => self.drop_schema(schema, *if_exists),
            Statement::CreateObject(create) => self.create_object(create),
            Statement::AlterRoutine(alter) => self.alter_routine(alter),
            Statement::AlterEvent(alter) => self.alter_event(alter),
            Statement::DropObjects { kind, names, if_exists } => self.drop_objects(*kind, names, *if_exists),
            _ => Err(SqlError::not_supported("this statement")),
        }
    }

    fn check_truncates(&self, schema: &str, name: &str) -> Result<()> {
        let def = self.engine.catalog().table(schema, name);
        match def.map(|table| (table.def.is_sequence(), table)) {
            Some((true, table)) => {
                return Err(SqlError::no_such_option_of_sequence(&table.def.schema, &table.def.name));
            }
            Some((false, table)) if table.def.temporal.versioning.is_some() => {
                return Err(SqlError::new(4137, "System-versioned tables do not support TRUNCATE TABLE"));
            }
            _ => {}
        }
        self.relations().check_truncate(schema, name)
    }

    /// Returns the table with this name. A temporary table hides a stored one.
    fn table(&self, schema: &str, name: &str) -> Option<Arc<engine::Table>> {
        self.temporary.table(schema, name).or_else(|| self.engine.catalog().table(schema, name))
    }

    pub(super) fn require_table(&self, schema: &str, table: &str) -> Result<Arc<engine::Table>> {
        if let Some(table) = self.table(schema, table) {
            return Ok(table);
        }
        if self.engine.catalog().schema(schema).is_none() {
            return Err(SqlError::unknown_schema(schema));
        }
        Err(SqlError::no_such_table(schema, table))
    }

    /// As [`DdlRun::require_table`], but returns 1347 for a view.
    pub(super) fn require_base_table(&self, schema: &str, table: &str) -> Result<Arc<engine::Table>> {
        match self.engine.catalog().object(schema, ObjectKind::View, table) {
            Some(_) if !self.temporary.has(schema, table) => Err(not_a("BASE TABLE", schema, table)),
            _ => self.require_table(schema, table),
        }
    }

    /// Reports whether a name is free for a new table. If it is taken and `if_not_exists` allows
    /// that, a note is pushed.
    fn is_free(&mut self, schema: &str, name: &str, if_not_exists: bool) -> Result<bool> {
        if crate::schema_tables::is_virtual_schema(schema) {
            return Err(SqlError::new(1044, format!("Access denied for user to database '{schema}'")));
        }
        let is_taken = match self.is_temporary {
            true => self.temporary.has(schema, name),
            false => {
                self.engine.catalog().table(schema, name).is_some()
                    || self.engine.catalog().object(schema, ObjectKind::View, name).is_some()
            }
        };
        if !is_taken {
            return Ok(true);
        }
        let message = format!("Table '{name}' already exists");
        if !if_not_exists {
            return Err(SqlError::new(1050, message));
        }
        self.notes.push((1050, message));
        self.log_only()?;
        Ok(false)
    }

    /// Creates a table. `extra` are columns that a query adds. Returns false if the table exists
    /// already.
    pub fn create_table(&mut self, create: &CreateTable, extra: Vec<ColumnDef>) -> Result<bool> {
        if create.temporary && !self.is_temporary {
            return Err(SqlError::not_supported("TEMPORARY sequences"));
        }
        if create.sequence.is_some() && create.columns.is_empty() {
            return self.create_table(&sequence::as_table(create), extra);
        }
        let schema = self.schema_of(&create.table)?;
        let settings = self.settings_of(&schema)?;
        while self.is_free(&schema, &create.table.name, create.if_not_exists)? {
            let def = match &create.like {
                Some(model) => self.definition_like(model, &schema, &create.table.name)?,
                None => self.table_definition(create, &schema, extra.clone(), &settings)?,
            };
            if self.is_temporary {
                temporary::check(&def)?;
                self.temporary.add(self.engine.create_temporary_table(def)?);
                return Ok(true);
            }
            self.relations().check_awaited(&def)?;
            if def.is_sequence() {
                let spec = create.sequence.clone().unwrap_or_default();
                let row = sequence::first_row(&def, &spec)?;
                self.engine.create_sequence(def, &row, &self.context())?;
                return Ok(true);
            }
            let text = self.logged_like(create, &def);
            let context = DdlContext { statement: text.as_deref().unwrap_or(self.text), ..self.context() };
            let unsafe_keys = self.relations().unsafe_keys(None, &def);
            match self.engine.create_table(def, &context) {
                // Another session has created the table meanwhile.
                Err(EngineError::TableExists(_)) if create.if_not_exists => {}
                made => {
                    made?;
                    self.warnings.extend(unsafe_keys);
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Returns the text that the binary log gets for CREATE TABLE ... LIKE a temporary table, which
    /// replicas do not have. Returns `None` for other statements.
    fn logged_like(&self, create: &CreateTable, def: &TableDef) -> Option<String> {
        let model = create.like.as_ref()?;
        let is_temporary = self.schema_of(model).is_ok_and(|schema| self.temporary.has(&schema, &model.name));
        is_temporary.then(|| {
            let text = crate::show::create_table(def, None, self.settings.zone);
            let (schema, name) = (crate::quoting::quoted(&def.schema), crate::quoting::quoted(&def.name));
            text.replacen(&format!("CREATE TABLE {name}"), &format!("CREATE TABLE {schema}.{name}"), 1)
        })
    }

    /// Returns the definition of the table that a CREATE TABLE ... SELECT makes, whose query has
    /// these columns.
    pub fn definition_of_selected(&self, create: &CreateTable, columns: Vec<ColumnDef>) -> Result<TableDef> {
        let schema = self.schema_of(&create.table)?;
        let settings = self.settings_of(&schema)?;
        self.table_definition(create, &schema, columns, &settings)
    }

    fn relations(&self) -> Relations<'_> {
        Relations::under(&self.settings, self.engine.catalog())
    }

    /// Returns the definition that a CREATE TABLE with columns makes.
    fn table_definition(
        &self,
        create: &CreateTable,
        schema: &str,
        extra: Vec<ColumnDef>,
        settings: &DdlSettings,
    ) -> Result<TableDef> {
        let mut def = definition(create, schema, extra, settings)?;
        if self.is_temporary {
            if create.partitioning.is_some() {
                return Err(SqlError::new(1562, "Cannot create temporary table with partitions"));
            }
            if !create.foreign_keys.is_empty() {
                return Err(SqlError::new(1215, "Cannot add foreign key constraint"));
            }
            super::create::check(&def, settings)?;
            return Ok(def);
        }
        self.relations().add(&mut def, &create.foreign_keys, create.options.engine.as_deref())?;
        if let Some(spec) = &create.partitioning {
            let maker = Maker { engine: self.engine, settings };
            def.partitioning = Some(maker.partitioning(&def, spec)?);
        }
        if !settings.replicated {
            super::expression::check_names(&def, None, self.engine.catalog())?;
        }
        super::create::check(&def, settings)?;
        Ok(def)
    }

    /// Returns the definition of a table like another one, without its foreign keys.
    pub fn definition_like(&self, model: &TableName, schema: &str, name: &str) -> Result<TableDef> {
        let model = self.require_table(&self.schema_of(model)?, &model.name)?;
        let mut def = model.def.clone();
        def.schema = schema.to_owned();
        def.name = name.to_owned();
        def.auto_increment = 0;
        def.created_s = self.settings.now_us / 1_000_000;
        def.indexes.iter_mut().for_each(|index| index.id = 0);
        def.foreign_keys.clear();
        if !self.settings.of_mariadb {
            // The constraints get new names, as if they had been written without names.
            for (at, check) in def.checks.iter_mut().enumerate() {
                check.name = format!("{name}_chk_{}", at + 1);
            }
        }
        Ok(def)
    }

    fn drop_tables(&mut self, tables: &[TableName], if_exists: bool, temporary: bool) -> Result<()> {
        let mut names: Vec<(String, String)> = Vec::with_capacity(tables.len());
        let (mut unknown, mut own) = (Vec::new(), Vec::new());
        for table in tables {
            let name = (self.schema_of(table)?, table.name.clone());
            let is_it = |held: &Arc<engine::Table>| held.def.schema == name.0 && held.def.name == name.1;
            if names.contains(&name) || own.iter().any(is_it) {
                return Err(SqlError::new(1066, format!("Not unique table/alias: '{}'", table.name)));
            }
            match self.temporary.table(&name.0, &name.1) {
                Some(held) => own.push(held),
                None if temporary || self.engine.catalog().table(&name.0, &name.1).is_none() => {
                    unknown.push(name);
                }
                None => names.push(name),
            }
        }
        if !unknown.is_empty() {
            let shown = unknown.iter().map(|(schema, name)| format!("{schema}.{name}"));
            if !if_exists {
                let shown = shown.collect::<Vec<_>>().join(",");
                return Err(SqlError::new(1051, format!("Unknown table '{shown}'")));
            }
            self.notes.extend(shown.map(|name| (1051, format!("Unknown table '{name}'"))));
        }
        self.relations().check_drop(&names)?;
        let logged: Vec<(String, String)> = names.iter().chain(&unknown).cloned().collect();
        let logged = temporary::logged_drop(&logged, self.schema, if_exists);
        let context = match own.is_empty() {
            true => self.context(),
            // Replicas may have stored tables with the names of the temporary ones, so these are
            // left out of the text.
            false => DdlContext { statement: &logged, ..self.context() },
        };
        let names: Vec<(&str, &str)> =
            names.iter().map(|(schema, name)| (schema.as_str(), name.as_str())).collect();
        match names.is_empty() {
            true if self.is_temporary => {}
            true => drop(self.engine.log_statement(&context)?),
            false => drop(self.engine.drop_tables(&names, &context)?),
        }
        own.iter().for_each(|table| self.temporary.remove(table));
        Ok(())
    }

    fn rename_tables(&mut self, pairs: &[(TableName, TableName)], if_exists: bool) -> Result<()> {
        let mut names: Vec<(String, &String, String, &String)> = Vec::with_capacity(pairs.len());
        for (from, to) in pairs {
            super::create::check_name(&to.name)?;
            let pair = (self.schema_of(from)?, &from.name, self.schema_of(to)?, &to.name);
            let is_made = names.iter().any(|(.., schema, name)| *schema == pair.0 && *name == pair.1);
            if if_exists && !is_made && self.engine.catalog().table(&pair.0, pair.1).is_none() {
                self.notes.push((1146, format!("Table '{}.{}' doesn't exist", pair.0, pair.1)));
                continue;
            }
            names.push(pair);
        }
        if names.is_empty() {
            return self.log_only();
        }
        let mut renames = Renames::default();
        for (from_schema, from, to_schema, to) in &names {
            renames.add(self.engine.catalog(), (from_schema, from), (to_schema, to))?;
        }
        self.engine.rename_tables(&renames.tables, renames.views, &self.context())?;
        Ok(())
    }

    fn alter_table(&mut self, alter: &AlterTable) -> Result<()> {
        if let [Alteration::Sequence(spec)] = alter.alterations.as_slice() {
            return self.alter_sequence(alter, spec);
        }
        let schema = self.schema_of(&alter.table)?;
        let settings = self.settings_of(&schema)?;
        if alter.if_exists && self.table(&schema, &alter.table.name).is_none() {
            self.notes.push((1146, format!("Table '{schema}.{}' doesn't exist", alter.table.name)));
            return self.log_only();
        }
        let old = self.require_base_table(&schema, &alter.table.name)?;
        if let [Alteration::Partition(PartitionAlteration::Exchange { partition, table, validates })] =
            alter.alterations.as_slice()
        {
            return self.exchange(&old, partition, table, *validates);
        }
        let current = self.schema.unwrap_or(&schema).to_owned();
        let adds_key = |alteration: &Alteration| matches!(alteration, Alteration::AddForeignKey(_));
        if old.is_temporary() && alter.alterations.iter().any(adds_key) {
            return Err(SqlError::new(1215, "Cannot add foreign key constraint"));
        }
        // No stored object refers to a temporary table.
        let nothing = Catalog::default();
        let catalog = if old.is_temporary() { &nothing } else { self.engine.catalog() };
        let mut altered = altered_definition(&old.def, alter, &current, &settings, catalog)?;
        if old.is_temporary() {
            // For stored tables, the engine looks for the schema of RENAME.
            self.settings_of(&altered.def.schema)?;
        }
        let tells_records = self.alter_partitions(alter, &mut altered, &settings)?;
        if let Some(Alteration::RenameTo(_)) =
            alter.alterations.iter().find(|alteration| matches!(alteration, Alteration::RenameTo(_)))
            && (altered.def.schema != schema || altered.def.name != alter.table.name)
            && match old.is_temporary() {
                true => self.temporary.has(&altered.def.schema, &altered.def.name),
                false => self.engine.catalog().table(&altered.def.schema, &altered.def.name).is_some(),
            }
        {
            return Err(SqlError::new(1050, format!("Table '{}' already exists", altered.def.name)));
        }
        self.alter_to(&old, &altered, &settings, alter.demands)?;
        self.warnings.extend(self.relations().unsafe_keys(Some(&old.def), &altered.def));
        if !tells_records {
            self.report = DdlReport::default();
        }
        Ok(())
    }

    /// Runs an ALTER SEQUENCE: the table is rebuilt with the changed row, in one commit.
    fn alter_sequence(&mut self, alter: &AlterTable, spec: &SequenceSpec) -> Result<()> {
        let (schema, name) = (self.schema_of(&alter.table)?, &alter.table.name);
        let Some(table) = self.engine.catalog().table(&schema, name) else {
            if self.engine.catalog().object(&schema, ObjectKind::View, name).is_some() {
                return Err(sequence::not_a_sequence(4089, &schema, name));
            }
            let unknown = format!("Unknown SEQUENCE: '{name}'");
            if !alter.if_exists {
                return Err(SqlError::new(4091, unknown));
            }
            self.notes.push((4091, unknown));
            return self.log_only();
        };
        if !table.def.is_sequence() {
            return Err(sequence::not_a_sequence(4089, &schema, name));
        }
        let image = sequence::altered_row(self.engine, &table, spec, self.settings.replicated)?;
        let def = table.def.clone();
        let mut convert = |_: &[u8]| Ok(Some(image.clone()));
        self.engine.rebuild_table(&schema, &table.def.name, def, &mut convert, &self.context())?;
        Ok(())
    }

    /// Returns the tables of a DROP SEQUENCE that are sequences. The others are errors, or notes
    /// with IF EXISTS.
    fn sequences_among(&mut self, tables: &[TableName], if_exists: bool) -> Result<Vec<TableName>> {
        let mut there = Vec::with_capacity(tables.len());
        for table in tables {
            let schema = self.schema_of(table)?;
            let is_view = self.engine.catalog().object(&schema, ObjectKind::View, &table.name).is_some();
            let error = match self.engine.catalog().table(&schema, &table.name) {
                Some(held) if held.def.is_sequence() => {
                    there.push(table.clone());
                    continue;
                }
                None if !is_view => {
                    SqlError::new(4091, format!("Unknown SEQUENCE: '{schema}.{}'", table.name))
                }
                _ => sequence::not_a_sequence(4090, &schema, &table.name),
            };
            if !if_exists {
                return Err(error);
            }
            self.notes.push((error.code, error.message));
        }
        Ok(there)
    }

    /// Alters the partitions as the statement says. Returns false if the client is told no number
    /// of rows.
    fn alter_partitions(
        &self,
        alter: &AlterTable,
        altered: &mut Altered,
        settings: &DdlSettings,
    ) -> Result<bool> {
        let maker = Maker { engine: self.engine, settings };
        let mut tells_records = true;
        let mut is_said = false;
        for alteration in &alter.alterations {
            let Alteration::Partition(alteration) = alteration else { continue };
            let made = maker.altered(&altered.def, alteration)?;
            altered.def.partitioning = made.partitioning;
            altered.copies |= made.checks_rows && !settings.replicated;
            altered.goes_at_once = made.goes_at_once;
            altered.goes = made.goes.or(altered.goes.take());
            tells_records = made.tells_records;
            is_said = true;
        }
        if let (Some(made), false) = (&altered.def.partitioning, is_said) {
            maker.check(&altered.def, made)?;
        }
        Ok(tells_records)
    }

    fn alter_to(
        &mut self,
        old: &Arc<engine::Table>,
        altered: &Altered,
        settings: &DdlSettings,
        demands: AlterDemands,
    ) -> Result<()> {
        let instant = old_rows::instant_columns(old, altered, settings)?;
        let way = match settings.replicated {
            true => any_way(old, altered, &instant),
            false => way(demands, old, altered, &instant)?,
        };
        let context = DdlContext {
            exclusive: way.exclusive,
            instant: if way.instant { instant } else { InstantColumns::default() },
            dropped_rows: altered.goes.as_deref().filter(|_| altered.goes_at_once),
            renamed_columns: &altered.renamed,
            auto_increment: altered.auto_increment,
            ..self.context()
        };
        let of_rows = DetachedSettings {
            zone: settings.zone,
            now_us: settings.now_us,
            strict: settings.strict,
            replicated: settings.replicated,
        };
        let expressions = DetachedRows::of(self.engine, &altered.def, of_rows)?;
        let goes = match &altered.goes {
            Some(text) => Some(DetachedCondition::of(self.engine, &old.def, text, of_rows)?),
            None => None,
        };
        let (mut failure, mut told) = (None, Told::default());
        let mut converted = 0;
        let outcome = {
            let (failure, told) = (&mut failure, &mut told);
            let mut row =
                converter(&old.def, altered, settings, expressions.as_ref(), goes.as_ref(), failure, told)?;
            let mut convert = |image: &[u8]| {
                converted += 1;
                row(image)
            };
            let (schema, name) = (&old.def.schema, &old.def.name);
            let new =
                TableDef { created_s: self.age_of(&old.def, altered, way.rebuild), ..altered.def.clone() };
            if old.is_temporary() {
                temporary::check(&altered.def)?;
                let interrupt = context.interrupt.as_deref();
                let next = altered.auto_increment;
                let made = self.engine.altered_temporary_table(old, new, &mut convert, next, interrupt);
                made.map(|made| self.temporary.replace(old, made))
            } else if way.rebuild {
                self.engine.rebuild_table(schema, name, new, &mut convert, &context).map(drop)
            } else {
                self.engine.alter_table(schema, name, new, &mut convert, &context).map(drop)
            }
        };
        match (outcome, failure) {
            (Ok(()), _) => {
                let copies = way.copies || old.is_temporary();
                self.report = DdlReport::altered(if copies { converted } else { 0 });
                self.told = told;
                Ok(())
            }
            (Err(_), Some(error)) => Err(error),
            (Err(error), None) => Err(error.into()),
        }
    }

    /// Returns the time of creation that an altered table has, in seconds: as in MySQL it is the
    /// statement's, unless nothing but the table's name changes. Clients such as Vitess see by it
    /// that a table is another one.
    fn age_of(&self, old: &TableDef, altered: &Altered, rebuilds: bool) -> u64 {
        let new = &altered.def;
        let named = TableDef { schema: new.schema.clone(), name: new.name.clone(), ..old.clone() };
        let only_renames = !rebuilds && altered.auto_increment.is_none() && named == *new;
        if only_renames { old.created_s } else { self.settings.now_us / 1_000_000 }
    }

    fn create_index(
        &mut self,
        table: &TableName,
        key: &KeySpec,
        if_not_exists: bool,
        demands: AlterDemands,
    ) -> Result<()> {
        let schema = self.schema_of(table)?;
        let old = self.require_base_table(&schema, &table.name)?;
        if if_not_exists && key.name.as_ref().is_some_and(|name| old.def.index(name).is_some()) {
            let name = key.name.clone().unwrap_or_default();
            self.notes.push((1061, format!("Duplicate key name '{name}'")));
            return self.log_only();
        }
        debug_assert!(key.kind != KeyKind::Primary, "CREATE INDEX makes no primary key");
        let mut def = old.def.clone();
        def.arrange_indexes();
        let mut sources = (0..def.columns.len()).map(Some).collect();
        super::temporal::strip(&mut def, &mut sources);
        super::create::add_key(&mut def, key, &self.settings)?;
        sources.resize(def.columns.len(), None);
        def.drop_redundant_indexes();
        super::temporal::finish(&mut def, &mut sources, Some(&old.def))?;
        super::create::check(&def, &self.settings)?;
        let settings = self.settings.clone();
        let (renamed, force, copies, auto_increment) = (Vec::new(), false, false, None);
        let altered =
            Altered { def, sources, renamed, force, copies, goes: None, goes_at_once: false, auto_increment };
        if let Some(made) = &altered.def.partitioning {
            Maker { engine: self.engine, settings: &settings }.check(&altered.def, made)?;
        }
        self.alter_to(&old, &altered, &settings, demands)
    }

    fn drop_index(
        &mut self,
        table: &TableName,
        name: &str,
        if_exists: bool,
        demands: AlterDemands,
    ) -> Result<()> {
        let schema = self.schema_of(table)?;
        let old = self.require_base_table(&schema, &table.name)?;
        let is_primary = name.eq_ignore_ascii_case("PRIMARY") && old.def.primary.is_some();
        if if_exists && old.def.index(name).is_none() && old.def.kept_index(name).is_none() && !is_primary {
            self.notes.push((1091, format!("Can't DROP '{name}'; check that column/key exists")));
            return self.log_only();
        }
        let drop = if name.eq_ignore_ascii_case("PRIMARY") {
            Alteration::DropPrimaryKey
        } else {
            Alteration::DropKey { name: name.to_owned(), if_exists: false }
        };
        let alter = AlterTable { table: table.clone(), if_exists: false, alterations: vec![drop], demands };
        let settings = self.settings_of(&schema)?;
        let altered = altered_definition(&old.def, &alter, &schema, &settings, self.engine.catalog())?;
        self.alter_to(&old, &altered, &settings, demands)
    }

    fn create_schema(&mut self, name: &str, if_not_exists: bool, options: &SchemaOptions) -> Result<()> {
        if crate::schema_tables::is_virtual_schema(name) {
            return Err(SqlError::new(1044, format!("Access denied for user to database '{name}'")));
        }
        self.report.affected_rows = 1;
        if self.engine.catalog().schema(name).is_some() {
            let message = format!("Can't create database '{name}'; database exists");
            if !if_not_exists {
                return Err(SqlError::new(1007, message));
            }
            self.notes.push((1007, message));
            return self.log_only();
        }
        let collation = chosen_collation(
            options.charset.as_deref(),
            options.collation.as_deref(),
            self.settings.collation,
            &self.settings,
        )?;
        self.engine.create_schema(SchemaDef { name: name.to_owned(), collation }, &self.context())?;
        Ok(())
    }

    fn alter_schema(&mut self, name: Option<&str>, options: &SchemaOptions) -> Result<()> {
        let name = name.or(self.schema).ok_or_else(SqlError::no_schema_selected)?;
        let unknown = || SqlError::new(3503, format!("Database '{name}' doesn't exist"));
        let old = self.engine.catalog().schema(name).ok_or_else(unknown)?;
        let collation = chosen_collation(
            options.charset.as_deref(),
            options.collation.as_deref(),
            old.collation,
            &self.settings,
        )?;
        self.engine.alter_schema(SchemaDef { name: name.to_owned(), collation }, &self.context())?;
        self.report.affected_rows = 1;
        Ok(())
    }

    fn drop_schema(&mut self, name: &str, if_exists: bool) -> Result<()> {
        if crate::schema_tables::is_virtual_schema(name) || name.eq_ignore_ascii_case("mysql") {
            return Err(SqlError::new(3552, format!("Access to system schema '{name}' is rejected.")));
        }
        if self.engine.catalog().schema(name).is_none() {
            let message = format!("Can't drop database '{name}'; database doesn't exist");
            if !if_exists {
                return Err(SqlError::new(1008, message));
            }
            self.notes.push((1008, message));
            return self.log_only();
        }
        let name_of = |table: Arc<engine::Table>| (name.to_owned(), table.def.name.clone());
        let tables: Vec<_> = self.engine.catalog().tables(name).into_iter().map(name_of).collect();
        self.relations().check_drop(&tables)?;
        let objects = self.engine.catalog().objects(name);
        let views = objects.iter().filter(|object| object.def.kind == ObjectKind::View).count();
        self.engine.drop_schema(name, &self.context())?;
        self.report.affected_rows = (tables.len() + views) as u64;
        Ok(())
    }
}
