//! Which privileges a statement needs that is not about rows; those about rows are checked as their
//! tables are bound.
//!
//! Everything is checked before anything is looked up, so that an account that may do nothing with
//! a table does not learn whether it is there.

use super::Session;
use super::new_view::check_query_of_new_view;
use crate::admin::Account;
use crate::ast::{
    AlterTable, Alteration, CreateObject, CreateTable, ForeignKeySpec, Maintenance, ObjectDetails,
    PartitionAlteration, RoutineDetails, Statement, TableName,
};
use crate::attribute;
use crate::error::Result;
use crate::host::{Privilege, Sight};
use engine::{ObjectDef, ObjectKind};

impl Session {
    /// The error of a statement that the account may not run.
    pub(super) fn check_statement(&self, statement: &Statement) -> Result<()> {
        use Privilege::{Alter, Create, Drop, Index, Insert, Select};
        match statement {
            Statement::CreateTable(create) => self.check_create(create),
            Statement::AlterTable(alter) => self.check_alter(alter),
            Statement::DropTable { temporary: true, .. } => Ok(()),
            Statement::DropTable { tables, .. } => {
                tables.iter().try_for_each(|table| self.check_on(&[Drop], table))
            }
            Statement::RenameTable { pairs, .. } => pairs.iter().try_for_each(|(from, to)| {
                self.check_on(&[Alter, Drop], from)?;
                self.check_on(&[Create, Insert], to)
            }),
            Statement::Truncate(table) => self.check_on(&[Drop], table),
            Statement::CreateIndex { table, .. } | Statement::DropIndex { table, .. } => {
                self.check_on(&[Index], table)
            }
            Statement::CreateSchema { schema, .. } => self.check_schema(Create, schema),
            Statement::DropSchema { schema, .. } => self.check_schema(Drop, schema),
            Statement::AlterSchema { schema, .. } => {
                let schema = schema.as_deref().or(self.schema());
                self.server.host.check_privilege(Alter, schema, None)
            }
            Statement::Maintain { what, tables } => tables.iter().try_for_each(|table| match what {
                Maintenance::Analyze | Maintenance::Optimize | Maintenance::Repair => {
                    self.check_on_some_columns(&[Select, Insert], table)
                }
                Maintenance::Checksum => self.check_on_some_columns(&[Select], table),
                Maintenance::Check => {
                    let schema = self.settings.schema_of(table)?;
                    self.server.host.check_sight(Sight::Description(&schema, &table.name))
                }
            }),
            Statement::Call(call) => {
                let name = &call.name;
                let (schema, kind) = (self.settings.schema_of(name)?, ObjectKind::Procedure);
                self.server.host.check_routine(Privilege::Execute, kind, &schema, &name.name)
            }
            Statement::CreateObject(create) => self.check_create_object(create),
            Statement::AlterRoutine(alter) => {
                self.check_object(alter.kind, &alter.name)?;
                let schema = self.settings.schema_of(&alter.name)?;
                let found = self.server.engine.catalog().object(&schema, alter.kind, &alter.name.name);
                let says_access = alter.kind == ObjectKind::Function && alter.changes.access.is_some();
                match found.filter(|_| says_access) {
                    Some(old) if !is_safe_to_log(&alter.changes, Some(&old.def)) => {
                        self.server.host.check_function_creator(false)
                    }
                    _ => Ok(()),
                }
            }
            Statement::AlterEvent(alter) => {
                self.check_definer(alter.definer.as_ref())?;
                self.check_object(ObjectKind::Event, &alter.name)?;
                let to = alter.clauses.rename.as_ref();
                to.map_or(Ok(()), |to| self.check_object(ObjectKind::Event, to))
            }
            Statement::DropObjects { kind, names, .. } => {
                names.iter().try_for_each(|name| self.check_object(*kind, name))
            }
            _ => Ok(()),
        }
    }

    fn check_on(&self, wanted: &[Privilege], table: &TableName) -> Result<()> {
        // A temporary table is the session's own.
        if self.temporary.has(&self.settings.schema_of(table)?, &table.name) {
            return Ok(());
        }
        self.server.host.check_table(wanted, &self.settings.schema_of(table)?, &table.name)
    }

    /// As `check_on`, but that some columns of the table are enough.
    fn check_on_some_columns(&self, wanted: &[Privilege], table: &TableName) -> Result<()> {
        let schema = self.settings.schema_of(table)?;
        if self.temporary.has(&schema, &table.name) {
            return Ok(());
        }
        let holds = |privilege: &Privilege| {
            self.server.host.check_table(&[*privilege], &schema, &table.name).is_ok()
                || self.server.host.has_column_privilege(*privilege, &schema, &table.name)
        };
        match wanted.iter().all(holds) {
            true => Ok(()),
            false => self.server.host.check_table(wanted, &schema, &table.name),
        }
    }

    fn check_schema(&self, privilege: Privilege, schema: &str) -> Result<()> {
        self.server.host.check_privilege(privilege, Some(schema), None)
    }

    fn check_create(&self, create: &CreateTable) -> Result<()> {
        if create.temporary {
            let schema = self.settings.schema_of(&create.table)?;
            self.check_schema(Privilege::CreateTemporaryTables, &schema)?;
        } else {
            let wanted: &[Privilege] = match (&create.query, create.or_replace) {
                (Some(_), false) => &[Privilege::Insert, Privilege::Create],
                (Some(_), true) => &[Privilege::Insert, Privilege::Create, Privilege::Drop],
                (None, false) => &[Privilege::Create],
                (None, true) => &[Privilege::Create, Privilege::Drop],
            };
            self.check_on(wanted, &create.table)?;
        }
        if let Some(like) = &create.like {
            self.check_on(&[Privilege::Select], like)?;
        }
        let at_columns = create.columns.iter().filter_map(|column| column.references.as_ref());
        at_columns.chain(&create.foreign_keys).try_for_each(|key| self.check_parent(&create.table, key))
    }

    fn check_alter(&self, alter: &AlterTable) -> Result<()> {
        let renames = alter.alterations.iter().filter_map(|alteration| match alteration {
            Alteration::RenameTo(to) => Some(to),
            _ => None,
        });
        let renames: Vec<&TableName> = renames.collect();
        let takes_rows = |alteration: &Alteration| {
            use PartitionAlteration::{Drop, Truncate};
            matches!(alteration, Alteration::Partition(Drop(_) | Truncate(_)))
        };
        let wanted: &[Privilege] = match renames.is_empty() && !alter.alterations.iter().any(takes_rows) {
            true => &[Privilege::Alter],
            false => &[Privilege::Alter, Privilege::Drop],
        };
        if let [Alteration::Partition(PartitionAlteration::Exchange { table, .. })] =
            alter.alterations.as_slice()
        {
            use Privilege::{Alter, Create, Drop, Insert};
            self.check_on(&[Alter, Drop, Insert, Create], &alter.table)?;
            return self.check_on(&[Alter, Drop, Insert, Create], table);
        }
        self.check_on(wanted, &alter.table)?;
        let is_temporary = self.temporary.has(&self.settings.schema_of(&alter.table)?, &alter.table.name);
        for to in renames {
            // A name without a schema stays where the table is.
            let schema = match &to.schema {
                Some(schema) => schema.clone(),
                None => self.settings.schema_of(&alter.table)?,
            };
            if !is_temporary {
                self.server.host.check_table(&[Privilege::Create, Privilege::Insert], &schema, &to.name)?;
            }
        }
        alter.alterations.iter().try_for_each(|alteration| match alteration {
            Alteration::AddForeignKey(key) => self.check_parent(&alter.table, key),
            Alteration::AddColumn(column, _) | Alteration::ModifyColumn { spec: column, .. } => {
                column.references.iter().try_for_each(|key| self.check_parent(&alter.table, key))
            }
            _ => Ok(()),
        })
    }

    /// A foreign key needs REFERENCES on the table that it refers to; a name without a schema is of
    /// the child's schema.
    fn check_parent(&self, child: &TableName, key: &ForeignKeySpec) -> Result<()> {
        let schema = match &key.parent.schema {
            Some(schema) => schema.clone(),
            None => self.settings.schema_of(child)?,
        };
        self.server.host.check_table(&[Privilege::References], &schema, &key.parent.name)
    }

    fn check_create_object(&self, create: &CreateObject) -> Result<()> {
        match &create.details {
            ObjectDetails::View(view) => {
                self.check_on(&[Privilege::CreateView], &create.name)?;
                if create.or_replace || create.alters {
                    self.check_on(&[Privilege::Drop], &create.name)?;
                }
                for table in view.query.as_deref().map(crate::ast::Query::tables).unwrap_or_default() {
                    self.server.host.check_any_use(&self.settings.schema_of(table)?, &table.name)?;
                }
                check_query_of_new_view(self, view)?;
                if create.alters && create.definer.is_none() {
                    return self.check_altered_view(&create.name);
                }
            }
            ObjectDetails::Trigger(trigger) => {
                self.server.host.check_function_creator(true)?;
                self.check_on(&[Privilege::Trigger], &trigger.table)?;
            }
            ObjectDetails::Routine(routine) => {
                let schema = self.settings.schema_of(&create.name)?;
                self.check_schema(Privilege::CreateRoutine, &schema)?;
                self.check_definer(create.definer.as_ref())?;
                let found = self.server.engine.catalog().object(&schema, create.kind, &create.name.name);
                return match create.kind == ObjectKind::Function && found.is_none() {
                    true => self.server.host.check_function_creator(is_safe_to_log(routine, None)),
                    false => Ok(()),
                };
            }
            ObjectDetails::Event(_) => {
                self.check_definer(create.definer.as_ref())?;
                return self.check_object(ObjectKind::Event, &create.name);
            }
        }
        self.check_definer(create.definer.as_ref())
    }

    /// ALTER VIEW without a definer leaves the one that the view has.
    fn check_altered_view(&self, name: &TableName) -> Result<()> {
        let view = self.server.engine.catalog().object(
            &self.settings.schema_of(name)?,
            ObjectKind::View,
            &name.name,
        );
        let definer = view.as_ref().map(|view| &view.def.definer);
        definer.map_or(Ok(()), |(user, host)| self.server.host.check_definer((user, host)))
    }

    fn check_definer(&self, definer: Option<&Account>) -> Result<()> {
        let Some(other) = definer.filter(|account| !account.is_current_user) else { return Ok(()) };
        self.server.host.check_definer((&other.user, &other.host))
    }

    /// ALTER and DROP of what is no table.
    fn check_object(&self, kind: ObjectKind, name: &TableName) -> Result<()> {
        let schema = self.settings.schema_of(name)?;
        match kind {
            ObjectKind::View => self.server.host.check_table(&[Privilege::Drop], &schema, &name.name),
            ObjectKind::Event => {
                self.check_schema(Privilege::Event, &schema)?;
                self.check_defined(kind, &schema, &name.name)
            }
            ObjectKind::Procedure | ObjectKind::Function => {
                self.server.host.check_routine(Privilege::AlterRoutine, kind, &schema, &name.name)?;
                self.check_defined(kind, &schema, &name.name)
            }
            ObjectKind::Trigger => {
                let found = self.server.engine.catalog().object(&schema, kind, &name.name);
                let place = found.as_ref().and_then(|trigger| trigger.def.trigger.as_ref());
                place.map_or(Ok(()), |place| {
                    self.server.host.check_table(&[Privilege::Trigger], &schema, &place.table)
                })
            }
        }
    }

    fn check_defined(&self, kind: ObjectKind, schema: &str, name: &str) -> Result<()> {
        let found = self.server.engine.catalog().object(schema, kind, name);
        let definer = found.as_ref().map(|object| &object.def.definer);
        definer.map_or(Ok(()), |(user, host)| self.server.host.check_defined_by((user, host)))
    }
}

/// Whether a function says that a statement that calls it does the same wherever it is run; what is
/// not written is as it was.
fn is_safe_to_log(written: &RoutineDetails, old: Option<&ObjectDef>) -> bool {
    let was = |name: &str| old.and_then(|old| old.attribute(name));
    let deterministic = written.deterministic.unwrap_or(was(attribute::DETERMINISTIC) == Some("YES"));
    let access = written.access.or(was(attribute::ACCESS)).unwrap_or("CONTAINS SQL");
    deterministic || ["NO SQL", "READS SQL DATA"].contains(&access)
}
