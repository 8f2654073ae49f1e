//! CREATE, ALTER and DROP of views, triggers, routines and events: turns the statements into the
//! engine's `ObjectDef`, with MySQL's errors for objects that exist or do not exist.

use super::column_type::column_type;
use super::event::{self, Past};
use super::new_view::{check_columns, check_no_variables};
use super::object_errors::{absent, exists, exists_elsewhere, not_a};
use super::run::DdlRun;
use super::updatable::Names;
use super::view_text::{MOST_STARRED_COLUMNS, ViewNames};
use crate::admin::Account;
use crate::ast::{
    AlterEvent, AlterRoutine, CreateObject, ObjectDetails, QueryBody, RoutineDetails, Select, SelectItem,
    Statement, TableName, TriggerDetails, ViewDetails,
};
use crate::attribute;
use crate::error::{Result, SqlError};
use crate::host::RoutineChange;
use crate::object_text;
use crate::quoting::quoted;
use engine::{EngineError, Object, ObjectChange, ObjectDef, ObjectKind, ObjectName, TriggerPlace};
use std::cell::Cell;
use std::sync::Arc;

fn within(error: SqlError) -> EngineError {
    EngineError::Statement { code: error.code, message: error.message }
}

impl DdlRun<'_> {
    fn object(&self, kind: ObjectKind, schema: &str, name: &str) -> Option<Arc<Object>> {
        self.engine.catalog().object(schema, kind, name)
    }

    pub(super) fn create_object(&mut self, create: &CreateObject) -> Result<()> {
        let schema = match &create.details {
            ObjectDetails::Trigger(trigger) => self.schema_of_trigger(&create.name, trigger)?,
            _ => self.schema_of(&create.name)?,
        };
        if crate::schema_tables::is_virtual_schema(&schema) {
            return Err(SqlError::new(1044, format!("Access denied for user to database '{schema}'")));
        }
        super::create::check_name(&create.name.name)?;
        let collation = self.settings_of(&schema)?.collation;
        self.check_no_temporary(create, &schema)?;
        if let (false, ObjectDetails::View(view)) = (self.settings.replicated, &create.details) {
            check_no_variables(view)?;
            self.check_tables_of(view)?;
        }
        let mut def = self.new_object(create, &schema, collation)?;
        if let (true, ObjectDetails::View(view)) = (create.alters, &create.details)
            && let Some(old) = self.object(ObjectKind::View, &schema, &create.name.name)
        {
            keep_of_view(&mut def, &old.def, create.definer.is_some(), view);
        }
        let past = match &create.details {
            ObjectDetails::Event(clauses) => event::put_clauses(self, &mut def, clauses),
            _ => Past::No,
        };
        if past == Past::Drops {
            self.notes.push(event::dropped_note());
            return Ok(());
        }
        let locked = def.trigger.as_ref().map_or(def.name.clone(), |place| place.table.clone());
        let text = logged_text(create, &def, self.schema);
        let name = ObjectName { kind: create.kind, schema: &schema, name: &locked };
        let mut notes = Vec::new();
        let mut plan = || self.creation(create, &def, &mut notes).map_err(within);
        let context = engine::DdlContext { statement: &text, ..self.context() };
        self.engine.change_objects(&[name], &mut plan, &context)?;
        if past == Past::Disables && notes.is_empty() {
            notes.push(event::disabled_note());
        }
        self.notes.append(&mut notes);
        Ok(())
    }

    /// Refuses views (1352) and triggers (1361) of temporary tables.
    fn check_no_temporary(&self, create: &CreateObject, schema: &str) -> Result<()> {
        if self.temporary.is_empty() {
            return Ok(());
        }
        match &create.details {
            ObjectDetails::Trigger(trigger) if self.temporary.has(schema, &trigger.table.name) => {
                let name = &trigger.table.name;
                Err(SqlError::new(1361, format!("Trigger's '{name}' is view or temporary table")))
            }
            ObjectDetails::View(view) => {
                for table in view.query.as_deref().map(crate::ast::Query::tables).unwrap_or_default() {
                    if self.temporary.has(&self.schema_of(table)?, &table.name) {
                        let name = &table.name;
                        let text = format!("View's SELECT refers to a temporary table '{name}'");
                        return Err(SqlError::new(1352, text));
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Checks that the tables of a view exist. Views of a source are not checked, because
    /// replication filters may leave their tables out here.
    ///
    /// # Errors
    /// Returns 1146 for a table that does not exist.
    fn check_tables_of(&self, view: &ViewDetails) -> Result<()> {
        for table in view.query.as_deref().map(crate::ast::Query::tables).unwrap_or_default() {
            let schema = self.schema_of(table)?;
            let is_there = crate::schema_tables::is_virtual_schema(&schema)
                || schema == "mysql"
                || self.engine.catalog().table(&schema, &table.name).is_some()
                || self.object(ObjectKind::View, &schema, &table.name).is_some();
            if !is_there {
                return Err(SqlError::no_such_table(&schema, &table.name));
            }
        }
        Ok(())
    }

    pub(super) fn definer_of(&self, written: Option<&Account>) -> (String, String) {
        match written {
            Some(account) if !account.is_current_user => (account.user.clone(), account.host.clone()),
            _ => self.current_user.clone(),
        }
    }

    /// Returns the schema of a trigger, which is that of its table.
    fn schema_of_trigger(&self, name: &TableName, trigger: &TriggerDetails) -> Result<String> {
        let schema = self.schema_of(&trigger.table)?;
        match &name.schema {
            Some(written) if *written != schema => Err(SqlError::new(1435, "Trigger in wrong schema")),
            _ => Ok(schema),
        }
    }

    fn new_object(&self, create: &CreateObject, schema: &str, schema_collation: u16) -> Result<ObjectDef> {
        let definer = self.definer_of(create.definer.as_ref());
        let mut def = ObjectDef {
            kind: create.kind,
            schema: schema.to_owned(),
            name: create.name.name.clone(),
            trigger: None,
            definer,
            sql_mode: self.session.sql_mode,
            character_set_client: self.session.character_set_client,
            collation_connection: self.session.collation_connection,
            schema_collation,
            created_us: self.settings.now_us,
            altered_us: self.settings.now_us,
            of_mariadb: self.settings.of_mariadb,
            body: create.body.clone(),
            attributes: Vec::new(),
        };
        match &create.details {
            ObjectDetails::View(view) => {
                check_aliases(view)?;
                def.set_attribute(attribute::ALGORITHM, view.algorithm.as_deref().unwrap_or("UNDEFINED"));
                let security = if view.invoker == Some(true) { "INVOKER" } else { "DEFINER" };
                def.set_attribute(attribute::SECURITY, security);
                if !view.columns.is_empty() {
                    let columns: Vec<String> = view.columns.iter().map(|name| quoted(name)).collect();
                    def.set_attribute(attribute::COLUMNS, columns.join(","));
                }
                if let Some(check) = view.check {
                    def.set_attribute(attribute::CHECK, check);
                }
                self.view_text(&mut def, view)?;
                let names = Names { catalog: self.engine.catalog(), schema: self.schema.unwrap_or(schema) };
                let updatable = names.updatable(view);
                if let Some(kept) = updatable {
                    def.set_attribute(attribute::UPDATABLE, kept);
                }
                if updatable != Some(attribute::HAS_COLUMNS)
                    && view.check.is_some()
                    && !self.settings.replicated
                {
                    let text = format!("CHECK OPTION on non-updatable view '{}.{}'", def.schema, def.name);
                    return Err(SqlError::new(1368, text));
                }
            }
            ObjectDetails::Trigger(trigger) => {
                def.trigger = Some(TriggerPlace {
                    table: trigger.table.name.clone(),
                    event: trigger.event,
                    before: trigger.before,
                    order: 0,
                    renamed: false,
                });
                if def.of_mariadb {
                    def.set_attribute(attribute::HEAD, trigger.head.clone());
                    def.set_attribute(attribute::LEAD, trigger.lead.clone());
                }
            }
            ObjectDetails::Routine(routine) => self.routine(&mut def, routine)?,
            ObjectDetails::Event(_) => {}
        }
        Ok(def)
    }

    /// Sets the query as it is shown, if all of its names are known here.
    ///
    /// # Errors
    /// Returns 1353, 1166 and 1060 for the names of the columns in a client's statement.
    fn view_text(&self, def: &mut ObjectDef, view: &ViewDetails) -> Result<()> {
        let schema = def.schema.clone();
        let collation = def.collation_connection;
        let names = ViewNames {
            catalog: self.engine.catalog(),
            host: self.host,
            schema: &schema,
            current: self.schema,
            charset: types::collation::charset_of(collation).name(),
            collation: types::collation::name(collation),
            of_mariadb: def.of_mariadb,
            stars: Cell::new(MOST_STARRED_COLUMNS),
        };
        let Some(printed) = view.query.as_deref().and_then(|query| names.print(query)) else {
            if let Some(current) = self.schema.filter(|current| *current != def.schema) {
                def.set_attribute(attribute::CURRENT, current);
            }
            if !view.columns.is_empty() {
                def.set_attribute(attribute::NAMES, view.columns.join("\n"));
            }
            return Ok(());
        };
        if !self.settings.replicated {
            check_columns(view, &printed.columns)?;
        }
        let everywhere = ViewNames { schema: "", stars: Cell::new(MOST_STARRED_COLUMNS), ..names.clone() };
        if let Some(qualified) = view.query.as_deref().and_then(|query| everywhere.print(query)) {
            def.set_attribute(attribute::QUALIFIED, qualified.query);
        }
        let columns = if view.columns.is_empty() { &printed.columns } else { &view.columns };
        def.set_attribute(attribute::NAMES, columns.join("\n"));
        def.body = match def.of_mariadb && !view.columns.is_empty() {
            // MariaDB shows a list of columns as the names of the query's columns.
            true => match names.print_as(view) {
                Some(query) => {
                    def.remove_attribute(attribute::COLUMNS);
                    query
                }
                None => printed.query,
            },
            false => printed.query,
        };
        Ok(())
    }

    fn routine(&self, def: &mut ObjectDef, routine: &RoutineDetails) -> Result<()> {
        def.set_attribute(attribute::PARAMETERS, routine.parameters.clone());
        if let Some((written, spec)) = &routine.returns {
            let shown = match spec {
                Some(spec) if !self.settings.replicated => {
                    let ty = column_type("", spec, def.schema_collation, &self.settings)?;
                    object_text::returned_type(&ty)
                }
                _ => written.clone(),
            };
            def.set_attribute(attribute::RETURNS, shown);
        }
        if routine.aggregate {
            def.set_attribute(attribute::AGGREGATE, "YES");
        }
        change_routine(def, routine, self.settings.of_mariadb);
        Ok(())
    }

    /// Returns the changes that a CREATE makes. It is called when no other session can change the
    /// object any more.
    fn creation(
        &self,
        create: &CreateObject,
        def: &ObjectDef,
        notes: &mut Vec<(u16, String)>,
    ) -> Result<Vec<ObjectChange>> {
        let (kind, schema, name) = (def.kind, &def.schema, &def.name);
        if self.engine.catalog().schema(schema).is_none() {
            return Err(SqlError::unknown_schema(schema));
        }
        let old = self.object(kind, schema, name);
        if kind == ObjectKind::View && self.engine.catalog().table(schema, name).is_some() {
            return match (create.or_replace || create.alters, create.if_not_exists) {
                (true, _) => Err(not_a("VIEW", schema, name)),
                (false, false) => Err(exists(kind, name)),
                (false, true) => {
                    notes.push((1050, exists(kind, name).message));
                    Ok(Vec::new())
                }
            };
        }
        if create.alters && old.is_none() {
            return Err(SqlError::no_such_table(schema, name));
        }
        let Some(place) = &def.trigger else {
            return match &old {
                Some(_) if create.or_replace || create.alters => {
                    Ok(vec![ObjectChange { old, new: Some(def.clone()) }])
                }
                Some(_) if create.if_not_exists => {
                    let error = exists(kind, name);
                    notes.push((error.code, error.message));
                    Ok(Vec::new())
                }
                Some(_) => Err(exists(kind, name)),
                None => Ok(vec![ObjectChange { old: None, new: Some(def.clone()) }]),
            };
        };
        if self.object(ObjectKind::View, schema, &place.table).is_some() {
            return Err(not_a("BASE TABLE", schema, &place.table));
        }
        self.require_table(schema, &place.table)?;
        match &old {
            Some(known) if create.if_not_exists => {
                let table = known.def.trigger.as_ref().map_or("", |place| &place.table);
                if table != place.table {
                    // MariaDB leaves a trigger alone, whichever table has it.
                    return if self.settings.replicated {
                        Ok(Vec::new())
                    } else {
                        Err(exists_elsewhere(schema, name))
                    };
                }
                let message = format!("Trigger '{name}' already exists on the table '{schema}'.'{table}'.");
                notes.push((4099, message));
                return Ok(Vec::new());
            }
            Some(_) if !create.or_replace => return Err(exists(kind, name)),
            _ => {}
        }
        let ObjectDetails::Trigger(written) = &create.details else { return Ok(Vec::new()) };
        self.trigger_in_place(old, def.clone(), written.beside.as_ref())
    }

    /// Returns the changes that put a trigger at its place in the order of its table's triggers,
    /// where the others make room.
    fn trigger_in_place(
        &self,
        old: Option<Arc<Object>>,
        mut def: ObjectDef,
        beside: Option<&(bool, String)>,
    ) -> Result<Vec<ObjectChange>> {
        let mut changes = old.as_ref().map_or_else(Vec::new, |old| self.closed_ranks(old));
        let Some(place) = def.trigger.clone() else { return Ok(changes) };
        let is_old = |object: &Arc<Object>| old.as_ref().is_some_and(|old| old.id == object.id);
        let mut others = self.engine.catalog().triggers(&def.schema, &place.table);
        others.retain(|other| {
            let at = other.def.trigger.as_ref();
            !is_old(other) && at.is_some_and(|at| at.event == place.event && at.before == place.before)
        });
        let at = match beside {
            None => others.len(),
            Some((follows, name)) => {
                let key = ObjectKind::Trigger.key(name);
                let found = others.iter().position(|other| ObjectKind::Trigger.key(&other.def.name) == key);
                match found {
                    Some(found) => found + usize::from(*follows),
                    None if self.settings.replicated => others.len(),
                    None => {
                        let text = format!(
                            "Referenced trigger '{name}' for the given action time and event type does not exist."
                        );
                        return Err(SqlError::new(3011, text));
                    }
                }
            }
        };
        def.trigger = Some(TriggerPlace { order: at as u32 + 1, ..place });
        for (position, other) in others.into_iter().enumerate() {
            let order = (position + usize::from(position >= at)) as u32 + 1;
            changes.retain(|change| change.old.as_ref().is_none_or(|known| known.id != other.id));
            changes.extend(reordered(&other, order));
        }
        changes.push(ObjectChange { old, new: Some(def) });
        Ok(changes)
    }

    /// Returns the changes that move up the triggers behind one that is dropped.
    fn closed_ranks(&self, gone: &Arc<Object>) -> Vec<ObjectChange> {
        let Some(place) = &gone.def.trigger else { return Vec::new() };
        let mut others = self.engine.catalog().triggers(&gone.def.schema, &place.table);
        others.retain(|other| {
            let at = other.def.trigger.as_ref();
            other.id != gone.id && at.is_some_and(|at| at.event == place.event && at.before == place.before)
        });
        let ranked = others.iter().enumerate();
        ranked.filter_map(|(at, other)| reordered(other, at as u32 + 1)).collect()
    }

    pub(super) fn alter_event(&mut self, alter: &AlterEvent) -> Result<()> {
        event::alter(self, alter)
    }

    pub(super) fn drop_objects(
        &mut self,
        kind: ObjectKind,
        names: &[TableName],
        if_exists: bool,
    ) -> Result<()> {
        let mut wanted = Vec::with_capacity(names.len());
        for name in names {
            let schema = self.schema_of(name)?;
            if kind == ObjectKind::Trigger && self.engine.catalog().schema(&schema).is_none() {
                let error = SqlError::unknown_schema(&schema);
                if !if_exists {
                    return Err(error);
                }
                self.notes.push((error.code, error.message));
                return self.log_only();
            }
            let table = self.object(kind, &schema, &name.name).and_then(|object| object.def.trigger.clone());
            let locked = table.map_or(name.name.clone(), |place| place.table);
            wanted.push((schema, name.name.clone(), locked));
        }
        let locks: Vec<ObjectName<'_>> =
            wanted.iter().map(|(schema, _, locked)| ObjectName { kind, schema, name: locked }).collect();
        let mut notes = Vec::new();
        let mut plan = || self.removal(kind, &wanted, if_exists, &mut notes).map_err(within);
        self.engine.change_objects(&locks, &mut plan, &self.context())?;
        self.notes.append(&mut notes);
        Ok(())
    }

    fn removal(
        &self,
        kind: ObjectKind,
        wanted: &[(String, String, String)],
        if_exists: bool,
        notes: &mut Vec<(u16, String)>,
    ) -> Result<Vec<ObjectChange>> {
        let (mut changes, mut unknown) = (Vec::new(), Vec::new());
        for (schema, name, _) in wanted {
            if let Some(old) = self.object(kind, schema, name) {
                changes.extend(self.closed_ranks(&old));
                changes.push(ObjectChange { old: Some(old), new: None });
                continue;
            }
            let is_table = self.engine.catalog().table(schema, name).is_some();
            let error = match kind {
                ObjectKind::View if is_table => not_a("VIEW", schema, name),
                ObjectKind::Event if if_exists => SqlError::new(1305, format!("Event {name} does not exist")),
                kind => absent(kind, schema, name),
            };
            if if_exists {
                notes.push((error.code, error.message));
            } else if error.code == 1051 {
                unknown.push(format!("{schema}.{name}"));
            } else {
                return Err(error);
            }
        }
        match unknown.is_empty() {
            true => Ok(changes),
            false => Err(SqlError::new(1051, format!("Unknown table '{}'", unknown.join(",")))),
        }
    }

    pub(super) fn alter_routine(&mut self, alter: &AlterRoutine) -> Result<()> {
        let schema = self.schema_of(&alter.name)?;
        let name = ObjectName { kind: alter.kind, schema: &schema, name: &alter.name.name };
        let mut plan = || {
            let old = self.object(alter.kind, &schema, &alter.name.name);
            let old = old.ok_or_else(|| within(absent(alter.kind, &schema, &alter.name.name)))?;
            let mut def = old.def.clone();
            change_routine(&mut def, &alter.changes, self.settings.of_mariadb);
            def.altered_us = self.settings.now_us;
            Ok(vec![ObjectChange { old: Some(old), new: Some(def) }])
        };
        self.engine.change_objects(&[name], &mut plan, &self.context())?;
        Ok(())
    }
}

/// Returns the routine that a statement has created or dropped. A CREATE ... IF NOT EXISTS with a
/// note has found an existing one, and its account gets no privilege on that.
pub(crate) fn routine_change<'s>(
    statement: &'s Statement,
    current: Option<&'s str>,
    made_by: (&'s str, &'s str),
    notes: &[(u16, String)],
) -> Option<RoutineChange<'s>> {
    let (kind, name, made_by) = match statement {
        Statement::CreateObject(create) if notes.is_empty() => (create.kind, &create.name, Some(made_by)),
        Statement::DropObjects { kind, names, .. } => (*kind, names.first()?, None),
        _ => return None,
    };
    if !matches!(kind, ObjectKind::Procedure | ObjectKind::Function) {
        return None;
    }
    let schema = name.schema.as_deref().or(current)?;
    Some(RoutineChange { kind, schema, name: &name.name, made_by })
}

fn reordered(trigger: &Arc<Object>, order: u32) -> Option<ObjectChange> {
    let place = trigger.def.trigger.as_ref().filter(|place| place.order != order)?;
    let mut def = trigger.def.clone();
    def.trigger = Some(TriggerPlace { order, ..place.clone() });
    Some(ObjectChange { old: Some(trigger.clone()), new: Some(def) })
}

/// Checks the aliases that name the columns of a view.
///
/// # Errors
/// Returns 1166 for one that is longer than a column's name may be.
fn check_aliases(view: &ViewDetails) -> Result<()> {
    const MOST_CHARS: usize = 64;
    fn first_of(body: &QueryBody) -> Option<&Select> {
        match body {
            QueryBody::Select(select) => Some(select),
            QueryBody::Union { first, .. } => first_of(first),
            QueryBody::Nested(inner) => first_of(&inner.body),
            QueryBody::Values(_) => None,
        }
    }
    let Some(query) = view.query.as_deref().filter(|_| view.columns.is_empty()) else { return Ok(()) };
    for item in first_of(&query.body).iter().flat_map(|select| &select.items) {
        if let SelectItem::Expr { alias: Some(alias), .. } = item
            && alias.chars().count() > MOST_CHARS
        {
            return Err(SqlError::new(1166, format!("Incorrect column name '{alias:.192}'")));
        }
    }
    Ok(())
}

/// Keeps what an ALTER VIEW does not name: the definer, the algorithm, and whose privileges count.
fn keep_of_view(def: &mut ObjectDef, old: &ObjectDef, names_definer: bool, view: &ViewDetails) {
    if !names_definer {
        def.definer = old.definer.clone();
    }
    let names_algorithm = view.algorithm.as_deref().is_some_and(|name| name != "UNDEFINED");
    for (name, is_named) in
        [(attribute::ALGORITHM, names_algorithm), (attribute::SECURITY, view.invoker.is_some())]
    {
        if let Some(kept) = old.attribute(name).filter(|_| !is_named) {
            def.set_attribute(name, kept.to_owned());
        }
    }
}

/// Puts the characteristics of a statement into a routine's definition.
fn change_routine(def: &mut ObjectDef, routine: &RoutineDetails, of_mariadb: bool) {
    if let Some(deterministic) = routine.deterministic {
        def.set_attribute(attribute::DETERMINISTIC, if deterministic { "YES" } else { "NO" });
    }
    if let Some(access) = routine.access {
        def.set_attribute(attribute::ACCESS, access);
    }
    if let Some(invoker) = routine.invoker {
        def.set_attribute(attribute::SECURITY, if invoker { "INVOKER" } else { "DEFINER" });
    }
    // An empty comment takes the old one away at MariaDB, and changes nothing at MySQL.
    if let Some(comment) = routine.comment.as_ref().filter(|comment| of_mariadb || !comment.is_empty()) {
        def.set_attribute(attribute::COMMENT, comment.clone());
    }
}

/// Returns the text of a CREATE for the binary log. It names the definer, so that replicas create
/// the same object.
fn logged_text(create: &CreateObject, def: &ObjectDef, current: Option<&str>) -> String {
    let definer = object_text::definer(def);
    let if_not_exists = if create.if_not_exists { "IF NOT EXISTS " } else { "" };
    match &create.details {
        ObjectDetails::View(_) => {
            let verb = match (create.alters, create.or_replace) {
                (true, _) => "ALTER",
                (false, true) => "CREATE OR REPLACE",
                (false, false) => "CREATE",
            };
            let name = match current == Some(&def.schema) {
                true => quoted(&def.name),
                false => format!("{}.{}", quoted(&def.schema), quoted(&def.name)),
            };
            // As in MySQL, the query is logged as it was written.
            let written = ObjectDef { body: create.body.clone(), ..def.clone() };
            object_text::view_text(&written, verb, &format!("{if_not_exists}{name}"))
        }
        ObjectDetails::Routine(_) => {
            let name = match create.name.schema.is_some() {
                true => format!("{}.{}", quoted(&def.schema), quoted(&def.name)),
                false => quoted(&def.name),
            };
            object_text::routine_text(def, &format!("{if_not_exists}{name}"))
        }
        _ => format!("CREATE DEFINER={definer} {}", create.text),
    }
}
