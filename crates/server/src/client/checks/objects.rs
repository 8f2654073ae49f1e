//! The checks of what a session may do with schemas, tables, columns and routines, and of what it
//! sees of them.

use super::holder::Holder;
use super::sight::{ON_COLUMN, sees};
use super::wanted::{bits, is_computed, is_read_by_all, names};
use crate::accounts::{Privileges, RoutineName, needs_privilege, quoted, routine_denied, schema_denied};
use engine::ObjectKind;
use sql::{Privilege, Sight, SqlError};
use std::sync::LazyLock;

/// A function that reports whether the server computes the table of this schema and name when it is
/// read.
pub type IsVirtual = fn(&str, &str) -> bool;

/// The privileges to use rows.
static USES_ROWS: LazyLock<Privileges> =
    LazyLock::new(|| Privileges::of_names(&["SELECT", "INSERT", "UPDATE", "DELETE"]));

/// The privileges that permit to lock the rows that are read.
static LOCKS_ROWS: LazyLock<Privileges> =
    LazyLock::new(|| Privileges::of_names(&["UPDATE", "DELETE", "LOCK TABLES"]));

/// The privileges to make tables and to change their definitions.
static DEFINES_TABLES: LazyLock<Privileges> = LazyLock::new(|| {
    Privileges::of_names(&["CREATE", "ALTER", "INDEX", "REFERENCES", "CREATE VIEW", "TRIGGER"])
});

impl Holder<'_> {
    /// Checks that the account has this privilege: on a table, on all of a schema, or on `*.*`.
    ///
    /// # Errors
    /// Returns 1142 for a table, 1044 for a schema, and 1227 otherwise.
    pub(crate) fn check_one(
        &self,
        privilege: Privilege,
        schema: Option<&str>,
        table: Option<&str>,
        is_virtual: IsVirtual,
    ) -> sql::Result<()> {
        if self.host.may_do_everything() {
            return Ok(());
        }
        let name = names(privilege);
        match privilege {
            Privilege::XaRecoverAdmin => return self.host.require_dynamic(name, &[name]),
            Privilege::ConnectionAdmin => return self.host.require_admin(name, &["CONNECTION_ADMIN"]),
            Privilege::FlushTables => return self.host.require_reload_or("FLUSH_TABLES"),
            Privilege::TransactionGtidTag => return self.host.check_gtid_tag(),
            _ => {}
        }
        let account = &self.account;
        if let (Some(schema), None) = (schema, table)
            && is_computed(schema)
            && privilege != Privilege::Select
            && (privilege != Privilege::LockTables || schema.eq_ignore_ascii_case("information_schema"))
        {
            return Err(schema_denied(&account.shown(), schema));
        }
        match (schema, table) {
            (None, _) if account.global.contains(bits(privilege)) => Ok(()),
            (None, _) => Err(needs_privilege(name)),
            (Some(schema), None) if account.allows_schema(bits(privilege), schema) => Ok(()),
            (Some(schema), None) => Err(schema_denied(&account.shown(), schema)),
            (Some(schema), Some(table)) => self.check_all(&[privilege], schema, table, is_virtual),
        }
    }

    /// Checks that the account has these privileges on a table.
    ///
    /// # Errors
    /// Returns 1142 (`ER_TABLEACCESS_DENIED_ERROR`), which names the missing privileges.
    pub(crate) fn check_all(
        &self,
        wanted: &[Privilege],
        schema: &str,
        table: &str,
        is_virtual: IsVirtual,
    ) -> sql::Result<()> {
        if self.host.may_do_everything() || wanted == [Privilege::Select] && is_read_by_all(schema, table) {
            return Ok(());
        }
        let account = &self.account;
        let wanted = wanted.iter().map(|privilege| bits(*privilege)).fold(Privileges::NONE, Privileges::with);
        self.check_computed(wanted, schema, table, is_virtual)?;
        if account.restrictions.is_empty() && account.global.contains(wanted) {
            return Ok(());
        }
        let held = account.on_schema(schema).with(account.on_table_itself(schema, table));
        let missing = wanted.without(held);
        if missing.is_empty() {
            return Ok(());
        }
        // Privileges held on columns alone are reported as missing only when nothing else is
        // missing.
        let beyond_columns = missing.without(account.on_columns_of(schema, table));
        let missing = if beyond_columns.is_empty() { missing } else { beyond_columns };
        // For a foreign key's parent table MySQL's message names the schema too.
        let parent = (missing == bits(Privilege::References)).then(|| format!("{schema}.{table}"));
        Err(self.table_denied(&missing.to_string(), parent.as_deref().unwrap_or(table)))
    }

    /// Checks that a computed table is not used for what no account may do with it.
    ///
    /// # Errors
    /// Returns 1044 for making and changing tables, and for everything but reading in
    /// information_schema. Returns 1142 for changes of rows.
    fn check_computed(
        &self,
        wanted: Privileges,
        schema: &str,
        table: &str,
        is_virtual: IsVirtual,
    ) -> sql::Result<()> {
        if !is_computed(schema) || wanted == bits(Privilege::Select) {
            return Ok(());
        }
        if schema.eq_ignore_ascii_case("information_schema") || wanted.intersects(*DEFINES_TABLES) {
            return Err(schema_denied(&self.account.shown(), schema));
        }
        let denied = match sql::can_be_truncated(schema, table) == Some(true) {
            // TRUNCATE, which needs DROP, is allowed for these tables.
            true => wanted.without(bits(Privilege::Drop)),
            false => wanted,
        };
        match denied.is_empty() || !is_virtual(schema, table) {
            true => Ok(()),
            false => Err(self.table_denied(&denied.to_string(), table)),
        }
    }

    /// Checks that the account may lock the rows that it reads in a table. It needs a privilege to
    /// change them or to lock the table.
    ///
    /// # Errors
    /// Returns 1142 (`ER_TABLEACCESS_DENIED_ERROR`) when the account has none of these privileges.
    pub(crate) fn check_locking(&self, schema: &str, table: &str) -> sql::Result<()> {
        if self.host.may_do_everything() || is_read_by_all(schema, table) {
            return Ok(());
        }
        let account = &self.account;
        let held = account.on_schema(schema).with(account.on_table_itself(schema, table));
        if held.with(account.on_columns_of(schema, table)).intersects(*LOCKS_ROWS) {
            return Ok(());
        }
        Err(self.table_denied("SELECT with locking clause", table))
    }

    /// Checks that the account has a privilege on a routine.
    ///
    /// # Errors
    /// Returns 1370 (`ER_PROCACCESS_DENIED_ERROR`) when the account lacks the privilege.
    pub(crate) fn check_on_routine(
        &self,
        wanted: Privilege,
        kind: ObjectKind,
        schema: &str,
        name: &str,
    ) -> sql::Result<()> {
        let account = &self.account;
        if self.host.may_do_everything() || account.allows_schema(bits(wanted), schema) {
            return Ok(());
        }
        let routine = RoutineName::new(kind == ObjectKind::Function, schema, name);
        if account.on_schema(schema).with(account.on_routine_itself(&routine)).contains(bits(wanted)) {
            return Ok(());
        }
        Err(routine_denied(names(wanted), &account.shown(), &format!("{schema}.{name}")))
    }

    /// Checks that the account sees an object.
    ///
    /// # Errors
    /// Returns the error that MySQL has for objects of this kind which the account does not see.
    pub(crate) fn check_seen(&self, sight: Sight<'_>) -> sql::Result<()> {
        let account = &self.account;
        if self.host.may_do_everything() || sees(account, sight) {
            return Ok(());
        }
        Err(match sight {
            Sight::Schema(schema) | Sight::SchemaToUse(schema) | Sight::TablesOf(schema) => {
                schema_denied(&account.shown(), schema)
            }
            Sight::Table(_, table) | Sight::Column(_, table, _) | Sight::Description(_, table) => {
                self.table_denied("SELECT", table)
            }
            Sight::CreateTable(_, table) => self.table_denied("SHOW", table),
            Sight::CreateTableOfView(_, view) => self.table_denied("SHOW VIEW", view),
            Sight::CreateView(schema, view) => {
                let account = &self.account;
                let select = account.on_schema(schema).with(account.on_table_itself(schema, view));
                let missing = if select.contains(bits(Privilege::Select)) { "SHOW VIEW" } else { "SELECT" };
                self.table_denied(missing, view)
            }
            Sight::Routine(_, schema, _) | Sight::RoutineText(schema) => {
                schema_denied(&account.shown(), schema)
            }
            Sight::CreateSchema(schema) => schema_denied(&self.user_at_client(), schema),
        })
    }

    /// Returns the account's user at the host that the client connected from, which some of MySQL's
    /// errors name.
    fn user_at_client(&self) -> String {
        format!("{}@{}", self.account.user, self.host.client_host())
    }

    /// Builds error 1142 for missing privileges on a table.
    pub(crate) fn table_denied(&self, privileges: &str, table: &str) -> SqlError {
        let user = quoted(&self.user_at_client());
        SqlError::new(1142, format!("{privileges} command denied to user {user} for table '{table}'"))
    }

    /// Checks that a privilege holds on each of these columns.
    ///
    /// # Errors
    /// Returns 1143 for the first column on which the privilege is missing, or 1142 when that
    /// column or one before it has grants of its own.
    pub(crate) fn check_on_all_columns(
        &self,
        privilege: Privilege,
        schema: &str,
        table: &str,
        columns: &mut dyn Iterator<Item = &str>,
    ) -> sql::Result<()> {
        let mut has_column_grants = false;
        for column in columns {
            has_column_grants |= !self.account.on_column_itself(schema, table, column).is_empty();
            let checked = self.check_on_column(privilege, schema, table, column);
            if checked.is_err() && has_column_grants {
                return Err(self.table_denied(names(privilege), table));
            }
            checked?;
        }
        Ok(())
    }

    /// Checks that the account may read or change rows of a table.
    ///
    /// # Errors
    /// Returns 1142 (`ER_TABLEACCESS_DENIED_ERROR`) when the account may neither read nor change
    /// rows.
    pub(crate) fn check_some_use(&self, schema: &str, table: &str) -> sql::Result<()> {
        let account = &self.account;
        let held = account.on_schema(schema).with(account.on_table_itself(schema, table));
        if self.host.may_do_everything()
            || is_read_by_all(schema, table)
            || held.with(account.on_columns_of(schema, table)).intersects(*USES_ROWS)
        {
            return Ok(());
        }
        let user = quoted(&account.shown());
        Err(SqlError::new(1142, format!("ANY command denied to user {user} for table '{table}'")))
    }

    /// Returns the names of the privileges that the account has on a column, separated by commas.
    pub(crate) fn held_on_column(&self, schema: &str, table: &str, column: &str) -> String {
        if self.host.may_do_everything() {
            return "select,insert,update,references".into();
        }
        let account = &self.account;
        let held = account.on_schema(schema).with(account.on_table_itself(schema, table));
        let held = held.with(account.on_column_itself(schema, table, column)).common(*ON_COLUMN);
        let held = if is_read_by_all(schema, table) { held.with(bits(Privilege::Select)) } else { held };
        held.names().join(",").to_lowercase()
    }

    /// Returns the privileges that the account has on some column of a table.
    pub(crate) fn on_columns_of(&self, schema: &str, table: &str) -> Privileges {
        self.account.on_columns_of(schema, table)
    }

    /// Checks that a privilege holds on a column.
    ///
    /// # Errors
    /// Returns 1143 (`ER_COLUMNACCESS_DENIED_ERROR`) when the account lacks the privilege.
    pub(crate) fn check_on_column(
        &self,
        privilege: Privilege,
        schema: &str,
        table: &str,
        column: &str,
    ) -> sql::Result<()> {
        if self.host.may_do_everything() || self.account.allows_column(bits(privilege), schema, table, column)
        {
            return Ok(());
        }
        let user = quoted(&self.user_at_client());
        let name = names(privilege);
        let text = format!("{name} command denied to user {user} for column '{column}' in table '{table}'");
        Err(SqlError::new(1143, text))
    }
}
