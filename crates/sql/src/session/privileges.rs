//! Which privileges a statement needs that is not about rows; those about rows are checked as their
//! tables are bound.
//!
//! Everything is checked before anything is looked up, so that an account that may do nothing with
//! a table does not learn whether it is there.

use super::Session;
use crate::admin::Account;
use crate::ast::{
    AlterTable, Alteration, CreateObject, CreateTable, ForeignKeySpec, Maintenance, ObjectDetails,
    PartitionAlteration, Statement, TableName,
};
use crate::error::Result;
use crate::host::{Privilege, Sight};
use engine::ObjectKind;

impl Session {
    /// The error of a statement that the account may not run.
    pub(super) fn check_statement(&self, statement: &Statement) -> Result<()> {
        use Privilege::{Alter, Create, Drop, Index, Insert, Select};
        match statement {
            Statement::CreateTable(create) => self.check_create(create),
            Statement::AlterTable(alter) => self.check_alter(alter),
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
                self.host.check_privilege(Alter, schema, None)
            }
            Statement::Maintain { what, tables } => tables.iter().try_for_each(|table| match what {
                Maintenance::Analyze | Maintenance::Optimize | Maintenance::Repair => {
                    self.check_on(&[Select, Insert], table)
                }
                Maintenance::Checksum => self.check_on(&[Select], table),
                Maintenance::Check => {
                    let schema = self.schema_or_default(table)?;
                    self.host.check_sight(Sight::Description(&schema, &table.name))
                }
            }),
            Statement::CreateObject(create) => self.check_create_object(create),
            Statement::AlterRoutine(alter) => self.check_object(alter.kind, &alter.name),
            Statement::AlterEvent(alter) => {
                self.check_object(ObjectKind::Event, &alter.name)?;
                self.check_definer(alter.definer.as_ref())?;
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
        self.host.check_table(wanted, &self.schema_or_default(table)?, &table.name)
    }

    fn check_schema(&self, privilege: Privilege, schema: &str) -> Result<()> {
        self.host.check_privilege(privilege, Some(schema), None)
    }

    fn check_create(&self, create: &CreateTable) -> Result<()> {
        if create.temporary {
            let schema = self.schema_or_default(&create.table)?;
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
        for to in renames {
            // A name without a schema stays where the table is.
            let schema = match &to.schema {
                Some(schema) => schema.clone(),
                None => self.schema_or_default(&alter.table)?,
            };
            self.host.check_table(&[Privilege::Create, Privilege::Insert], &schema, &to.name)?;
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
            None => self.schema_or_default(child)?,
        };
        self.host.check_table(&[Privilege::References], &schema, &key.parent.name)
    }

    fn check_create_object(&self, create: &CreateObject) -> Result<()> {
        let wanted: &[Privilege] = match create.or_replace || create.alters {
            true => &[Privilege::CreateView, Privilege::Drop],
            false => &[Privilege::CreateView],
        };
        match &create.details {
            ObjectDetails::View(_) => self.check_on(wanted, &create.name)?,
            ObjectDetails::Trigger(trigger) => self.check_on(&[Privilege::Trigger], &trigger.table)?,
            ObjectDetails::Routine(_) => {
                self.check_schema(Privilege::CreateRoutine, &self.schema_or_default(&create.name)?)?;
            }
            ObjectDetails::Event(_) => self.check_object(ObjectKind::Event, &create.name)?,
        }
        self.check_definer(create.definer.as_ref())
    }

    /// An object that has another account's privileges needs SET_ANY_DEFINER.
    fn check_definer(&self, definer: Option<&Account>) -> Result<()> {
        let Some(other) = definer.filter(|account| !account.is_current_user) else { return Ok(()) };
        if format!("{}@{}", other.user, other.host) == self.host.current_user() {
            return Ok(());
        }
        self.host.check_privilege(Privilege::SetAnyDefiner, None, None)
    }

    /// ALTER and DROP of what is no table.
    fn check_object(&self, kind: ObjectKind, name: &TableName) -> Result<()> {
        let schema = self.schema_or_default(name)?;
        match kind {
            ObjectKind::View => self.host.check_table(&[Privilege::Drop], &schema, &name.name),
            ObjectKind::Event => self.check_schema(Privilege::Event, &schema),
            ObjectKind::Procedure | ObjectKind::Function => self.host.check_routine(&schema, &name.name),
            ObjectKind::Trigger => {
                let found = self.engine.catalog().object(&schema, kind, &name.name);
                let place = found.as_ref().and_then(|trigger| trigger.def.trigger.as_ref());
                place.map_or(Ok(()), |place| {
                    self.host.check_table(&[Privilege::Trigger], &schema, &place.table)
                })
            }
        }
    }
}
