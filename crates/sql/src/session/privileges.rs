//! Checks the privileges for statements that are not about rows. Those for statements about rows
//! are checked when their tables are bound.
//!
//! The privileges come before any look-up, so that an account without a privilege on a table does
//! not learn whether it exists.

use super::Session;
use super::new_view::check_query_of_new_view;
use crate::admin::Account;
use crate::ast::{
    AlterTable, Alteration, CreateObject, CreateTable, ForeignKeySpec, Maintenance, ObjectDetails,
    PartitionAlteration, RoutineDetails, Statement, TableName,
};
use crate::attribute;
use crate::error::Result;
use crate::host::{Host, Privilege, Sight};
use engine::{ObjectDef, ObjectKind};

/// Checks the privileges that a statement takes, and returns the error of the first one that is
/// missing.
pub(super) fn check_statement(session: &Session, statement: &Statement) -> Result<()> {
    use Privilege::{Alter, Create, Drop, Index, Insert, Select};
    let host = &*session.server.host;
    match statement {
        Statement::CreateTable(create) => check_create(session, create),
        Statement::AlterTable(alter) => check_alter(session, alter),
        Statement::DropTable { temporary: true, .. } => Ok(()),
        Statement::DropTable { tables, .. } => {
            tables.iter().try_for_each(|table| check_on(session, &[Drop], table))
        }
        Statement::RenameTable { pairs, .. } => pairs.iter().try_for_each(|(from, to)| {
            check_on(session, &[Alter, Drop], from)?;
            check_on(session, &[Create, Insert], to)
        }),
        Statement::Truncate(table) => check_on(session, &[Drop], table),
        Statement::CreateIndex { table, .. } | Statement::DropIndex { table, .. } => {
            check_on(session, &[Index], table)
        }
        Statement::CreateSchema { schema, .. } => check_schema(host, Create, schema),
        Statement::DropSchema { schema, .. } => check_schema(host, Drop, schema),
        Statement::AlterSchema { schema, .. } => {
            let schema = schema.as_deref().or(session.schema());
            host.check_privilege(Alter, schema, None)
        }
        Statement::Maintain { what, tables } => tables.iter().try_for_each(|table| match what {
            Maintenance::Analyze | Maintenance::Optimize | Maintenance::Repair => {
                check_on_some_columns(session, &[Select, Insert], table)
            }
            Maintenance::Checksum { .. } => check_on_some_columns(session, &[Select], table),
            Maintenance::Check => {
                let schema = session.settings.schema_of(table)?;
                match session.temporary.has(&schema, &table.name) {
                    true => Ok(()),
                    false => host.check_sight(Sight::Description(&schema, &table.name)),
                }
            }
        }),
        Statement::Call(call) => {
            let name = &call.name;
            let (schema, kind) = (session.settings.schema_of(name)?, ObjectKind::Procedure);
            host.check_routine(Privilege::Execute, kind, &schema, &name.name)
        }
        Statement::CreateObject(create) => check_create_object(session, create),
        Statement::AlterRoutine(alter) => {
            check_object(session, alter.kind, &alter.name)?;
            let schema = session.settings.schema_of(&alter.name)?;
            let found = session.server.engine.catalog().object(&schema, alter.kind, &alter.name.name);
            let says_access = alter.kind == ObjectKind::Function && alter.changes.access.is_some();
            match found.filter(|_| says_access) {
                Some(old) if !is_safe_to_log(&alter.changes, Some(&old.def)) => {
                    host.check_function_creator(false)
                }
                _ => Ok(()),
            }
        }
        Statement::AlterEvent(alter) => {
            check_definer(host, alter.definer.as_ref())?;
            check_object(session, ObjectKind::Event, &alter.name)?;
            let to = alter.clauses.rename.as_ref();
            to.map_or(Ok(()), |to| check_object(session, ObjectKind::Event, to))
        }
        Statement::DropObjects { kind, names, .. } => {
            names.iter().try_for_each(|name| check_object(session, *kind, name))
        }
        _ => Ok(()),
    }
}

fn check_on(session: &Session, wanted: &[Privilege], table: &TableName) -> Result<()> {
    // A temporary table belongs to the session itself.
    if session.temporary.has(&session.settings.schema_of(table)?, &table.name) {
        return Ok(());
    }
    session.server.host.check_table(wanted, &session.settings.schema_of(table)?, &table.name)
}

/// As `check_on`, but a privilege on some columns of the table is enough.
fn check_on_some_columns(session: &Session, wanted: &[Privilege], table: &TableName) -> Result<()> {
    let host = &*session.server.host;
    let schema = session.settings.schema_of(table)?;
    if session.temporary.has(&schema, &table.name) {
        return Ok(());
    }
    let holds = |privilege: &Privilege| {
        host.check_table(&[*privilege], &schema, &table.name).is_ok()
            || host.has_column_privilege(*privilege, &schema, &table.name)
    };
    match wanted.iter().all(holds) {
        true => Ok(()),
        false => host.check_table(wanted, &schema, &table.name),
    }
}

fn check_schema(host: &dyn Host, privilege: Privilege, schema: &str) -> Result<()> {
    host.check_privilege(privilege, Some(schema), None)
}

fn check_create(session: &Session, create: &CreateTable) -> Result<()> {
    let host = &*session.server.host;
    if create.temporary {
        let schema = session.settings.schema_of(&create.table)?;
        check_schema(host, Privilege::CreateTemporaryTables, &schema)?;
    } else {
        let wanted: &[Privilege] = match (&create.query, create.or_replace) {
            (Some(_), false) => &[Privilege::Insert, Privilege::Create],
            (Some(_), true) => &[Privilege::Insert, Privilege::Create, Privilege::Drop],
            (None, false) => &[Privilege::Create],
            (None, true) => &[Privilege::Create, Privilege::Drop],
        };
        check_on(session, wanted, &create.table)?;
    }
    if let Some(like) = &create.like {
        check_on(session, &[Privilege::Select], like)?;
    }
    let at_columns = create.columns.iter().filter_map(|column| column.references.as_ref());
    at_columns.chain(&create.foreign_keys).try_for_each(|key| check_parent(session, &create.table, key))
}

fn check_alter(session: &Session, alter: &AlterTable) -> Result<()> {
    let host = &*session.server.host;
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
    if let [Alteration::Partition(PartitionAlteration::Exchange { table, .. })] = alter.alterations.as_slice()
    {
        use Privilege::{Alter, Create, Drop, Insert};
        check_on(session, &[Alter, Drop, Insert, Create], &alter.table)?;
        return check_on(session, &[Alter, Drop, Insert, Create], table);
    }
    check_on(session, wanted, &alter.table)?;
    let is_temporary = session.temporary.has(&session.settings.schema_of(&alter.table)?, &alter.table.name);
    for to in renames {
        // A new name without a schema stays in the table's schema.
        let schema = match &to.schema {
            Some(schema) => schema.clone(),
            None => session.settings.schema_of(&alter.table)?,
        };
        if !is_temporary {
            host.check_table(&[Privilege::Create, Privilege::Insert], &schema, &to.name)?;
        }
    }
    alter.alterations.iter().try_for_each(|alteration| match alteration {
        Alteration::AddForeignKey(key) => check_parent(session, &alter.table, key),
        Alteration::AddColumn(column, _) | Alteration::ModifyColumn { spec: column, .. } => {
            column.references.iter().try_for_each(|key| check_parent(session, &alter.table, key))
        }
        _ => Ok(()),
    })
}

/// Checks that the account has REFERENCES on the parent table of a foreign key. A name without a
/// schema is in the child's schema.
fn check_parent(session: &Session, child: &TableName, key: &ForeignKeySpec) -> Result<()> {
    let schema = match &key.parent.schema {
        Some(schema) => schema.clone(),
        None => session.settings.schema_of(child)?,
    };
    session.server.host.check_table(&[Privilege::References], &schema, &key.parent.name)
}

fn check_create_object(session: &Session, create: &CreateObject) -> Result<()> {
    let host = &*session.server.host;
    match &create.details {
        ObjectDetails::View(view) => {
            check_on(session, &[Privilege::CreateView], &create.name)?;
            if create.or_replace || create.alters {
                check_on(session, &[Privilege::Drop], &create.name)?;
            }
            for table in view.query.as_deref().map(crate::ast::Query::tables).unwrap_or_default() {
                host.check_any_use(&session.settings.schema_of(table)?, &table.name)?;
            }
            check_query_of_new_view(session, view)?;
            if create.alters && create.definer.is_none() {
                return check_altered_view(session, &create.name);
            }
        }
        ObjectDetails::Trigger(trigger) => {
            host.check_function_creator(true)?;
            check_on(session, &[Privilege::Trigger], &trigger.table)?;
        }
        ObjectDetails::Routine(routine) => {
            let schema = session.settings.schema_of(&create.name)?;
            check_schema(host, Privilege::CreateRoutine, &schema)?;
            check_definer(host, create.definer.as_ref())?;
            let found = session.server.engine.catalog().object(&schema, create.kind, &create.name.name);
            return match create.kind == ObjectKind::Function && found.is_none() {
                true => host.check_function_creator(is_safe_to_log(routine, None)),
                false => Ok(()),
            };
        }
        ObjectDetails::Event(_) => {
            check_definer(host, create.definer.as_ref())?;
            return check_object(session, ObjectKind::Event, &create.name);
        }
    }
    check_definer(host, create.definer.as_ref())
}

/// Checks the definer that the view keeps, for an ALTER VIEW without a definer.
fn check_altered_view(session: &Session, name: &TableName) -> Result<()> {
    let view = session.server.engine.catalog().object(
        &session.settings.schema_of(name)?,
        ObjectKind::View,
        &name.name,
    );
    let definer = view.as_ref().map(|view| &view.def.definer);
    definer.map_or(Ok(()), |(user, host)| session.server.host.check_definer((user, host)))
}

fn check_definer(host: &dyn Host, definer: Option<&Account>) -> Result<()> {
    let Some(other) = definer.filter(|account| !account.is_current_user) else { return Ok(()) };
    host.check_definer((&other.user, &other.host))
}

/// Checks the privileges for ALTER and DROP of an object other than a table.
fn check_object(session: &Session, kind: ObjectKind, name: &TableName) -> Result<()> {
    let host = &*session.server.host;
    let schema = session.settings.schema_of(name)?;
    match kind {
        ObjectKind::View => {
            host.check_table(&[Privilege::Drop], &schema, &name.name)?;
            check_defined(session, kind, &schema, &name.name)
        }
        ObjectKind::Event => {
            check_schema(host, Privilege::Event, &schema)?;
            check_defined(session, kind, &schema, &name.name)
        }
        ObjectKind::Procedure | ObjectKind::Function => {
            host.check_routine(Privilege::AlterRoutine, kind, &schema, &name.name)?;
            check_defined(session, kind, &schema, &name.name)
        }
        ObjectKind::Trigger => {
            let found = session.server.engine.catalog().object(&schema, kind, &name.name);
            let place = found.as_ref().and_then(|trigger| trigger.def.trigger.as_ref());
            place.map_or(Ok(()), |place| host.check_table(&[Privilege::Trigger], &schema, &place.table))
        }
    }
}

fn check_defined(session: &Session, kind: ObjectKind, schema: &str, name: &str) -> Result<()> {
    let found = session.server.engine.catalog().object(schema, kind, name);
    let definer = found.as_ref().map(|object| &object.def.definer);
    definer.map_or(Ok(()), |(user, host)| session.server.host.check_defined_by((user, host)))
}

/// Reports whether a function declares that statements calling it do the same on every server. What
/// the statement does not say stays as it was.
fn is_safe_to_log(written: &RoutineDetails, old: Option<&ObjectDef>) -> bool {
    let was = |name: &str| old.and_then(|old| old.attribute(name));
    let deterministic = written.deterministic.unwrap_or(was(attribute::DETERMINISTIC) == Some("YES"));
    let access = written.access.or(was(attribute::ACCESS)).unwrap_or("CONTAINS SQL");
    deterministic || ["NO SQL", "READS SQL DATA"].contains(&access)
}
