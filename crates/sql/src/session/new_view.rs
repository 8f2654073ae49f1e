//! Checks what the query of a new view may read.

use super::Session;
use crate::ast::{Query, ViewDetails};
use crate::bind::{bind_query, view_plan};
use crate::error::{Result, SqlError};
use crate::host::{Host, Privilege, Rights};
use engine::ObjectKind;

/// Checks the query of a view that is about to be created, as far as it can be bound here.
///
/// # Errors
/// Returns what is wrong with the query itself: 1054, 1142, 1143 and 1146 for tables and columns
/// that do not exist or that the account has no privilege on, 1052, 1060, 1222 and others for
/// columns, and 1305 and others for functions. Returns 1356 for a view that cannot be read, and
/// 1449 and 1045 for a view whose definer is missing.
pub(super) fn check_query_of_new_view(session: &Session, view: &ViewDetails) -> Result<()> {
    let (Some(query), false) = (view.query.as_deref(), session.server.host.is_of_source()) else {
        return Ok(());
    };
    check_views_are_read(session, query)?;
    const TOLD: [u16; 19] = [
        1051, 1052, 1054, 1060, 1066, 1096, 1111, 1136, 1142, 1143, 1146, 1176, 1222, 1241, 1305, 1318, 1582,
        3566, 3568,
    ];
    let rights = RightsToDefine(&*session.server.host);
    let mut binder = session.binder();
    binder.view.rights = &rights;
    match bind_query(&mut binder, query, None) {
        Err(error) if TOLD.contains(&error.code) => Err(error),
        _ => Ok(()),
    }
}

fn check_views_are_read(session: &Session, query: &Query) -> Result<()> {
    const UNREADABLE: [u16; 3] = [1045, 1356, 1449];
    for name in query.tables() {
        let schema = session.settings.schema_of(name)?;
        let view = session.server.engine.catalog().object(&schema, ObjectKind::View, &name.name);
        match view.map(|view| view_plan(&mut session.binder(), &view.def, None)) {
            Some(Err(error)) if UNREADABLE.contains(&error.code) => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// The rights that creating a view takes: any privilege on the rows of its tables or columns.
struct RightsToDefine<'a>(&'a dyn Host);

impl Rights for RightsToDefine<'_> {
    fn check_table(&self, _: &[Privilege], schema: &str, table: &str) -> Result<()> {
        // An account with privileges on columns only is checked column by column.
        self.0.check_any_use(schema, table)?;
        self.0.check_table(&[Privilege::Select], schema, table)
    }

    fn has_column_privilege(&self, _: Privilege, schema: &str, table: &str) -> bool {
        self.0.check_any_use(schema, table).is_ok()
    }

    fn check_column(&self, privilege: Privilege, schema: &str, table: &str, column: &str) -> Result<()> {
        match self.0.column_privileges(schema, table, column).is_empty() {
            true => self
                .0
                .check_column(privilege, schema, table, column)
                .map_err(|error| SqlError { message: error.message.replacen("SELECT", "ANY", 1), ..error }),
            false => Ok(()),
        }
    }

    fn check_all_columns(
        &self,
        privilege: Privilege,
        schema: &str,
        table: &str,
        columns: &mut dyn Iterator<Item = &str>,
    ) -> Result<()> {
        for column in columns {
            self.check_column(privilege, schema, table, column)?;
        }
        Ok(())
    }

    fn check_row_locks(&self, _: &str, _: &str) -> Result<()> {
        Ok(())
    }

    fn check_routine(&self, wanted: Privilege, kind: ObjectKind, schema: &str, name: &str) -> Result<()> {
        self.0.check_routine(wanted, kind, schema, name)
    }

    fn of_definer(&self, definer: (&str, &str)) -> Result<Option<Box<dyn Rights + '_>>> {
        self.0.of_definer(definer)
    }
}
