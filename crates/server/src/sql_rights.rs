//! The answers to what a client's session asks about privileges: [`sql::Rights`] for the session's
//! own account and for the definers of views.

use crate::client::checks::{Holder, bits};
use crate::client::connection_host::ConnectionHost;
use crate::show::virtual_tables;
use engine::ObjectKind;
use sql::{Privilege, Rights};

impl Rights for Holder<'_> {
    fn check_table(&self, wanted: &[Privilege], schema: &str, table: &str) -> sql::Result<()> {
        self.check_all(wanted, schema, table, virtual_tables::is_one)
    }

    fn check_row_locks(&self, schema: &str, table: &str) -> sql::Result<()> {
        self.check_locking(schema, table)
    }

    fn check_routine(
        &self,
        wanted: Privilege,
        kind: ObjectKind,
        schema: &str,
        name: &str,
    ) -> sql::Result<()> {
        self.check_on_routine(wanted, kind, schema, name)
    }

    fn has_column_privilege(&self, privilege: Privilege, schema: &str, table: &str) -> bool {
        self.on_columns_of(schema, table).intersects(bits(privilege))
    }

    fn check_column(&self, privilege: Privilege, schema: &str, table: &str, column: &str) -> sql::Result<()> {
        self.check_on_column(privilege, schema, table, column)
    }

    fn check_all_columns(
        &self,
        privilege: Privilege,
        schema: &str,
        table: &str,
        columns: &mut dyn Iterator<Item = &str>,
    ) -> sql::Result<()> {
        self.check_on_all_columns(privilege, schema, table, columns)
    }

    fn of_definer(&self, definer: (&str, &str)) -> sql::Result<Option<Box<dyn Rights + '_>>> {
        Ok(Holder::of_definer(self, definer)?.map(|holder| Box::new(holder) as Box<dyn Rights + '_>))
    }
}

impl Rights for ConnectionHost {
    fn check_table(&self, wanted: &[Privilege], schema: &str, table: &str) -> sql::Result<()> {
        Holder::of_session(self).check_table(wanted, schema, table)
    }

    fn check_row_locks(&self, schema: &str, table: &str) -> sql::Result<()> {
        Holder::of_session(self).check_row_locks(schema, table)
    }

    fn check_routine(
        &self,
        wanted: Privilege,
        kind: ObjectKind,
        schema: &str,
        name: &str,
    ) -> sql::Result<()> {
        Holder::of_session(self).check_routine(wanted, kind, schema, name)
    }

    fn has_column_privilege(&self, privilege: Privilege, schema: &str, table: &str) -> bool {
        Holder::of_session(self).has_column_privilege(privilege, schema, table)
    }

    fn check_column(&self, privilege: Privilege, schema: &str, table: &str, column: &str) -> sql::Result<()> {
        Holder::of_session(self).check_column(privilege, schema, table, column)
    }

    fn check_all_columns(
        &self,
        privilege: Privilege,
        schema: &str,
        table: &str,
        columns: &mut dyn Iterator<Item = &str>,
    ) -> sql::Result<()> {
        Holder::of_session(self).check_all_columns(privilege, schema, table, columns)
    }

    fn of_definer(&self, definer: (&str, &str)) -> sql::Result<Option<Box<dyn Rights + '_>>> {
        let holder = Holder::of_session(self).of_definer(definer)?;
        Ok(holder.map(|holder| Box::new(holder) as Box<dyn Rights + '_>))
    }
}
