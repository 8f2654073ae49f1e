//! The meaning of a list of privileges in GRANT or REVOKE, and the checks whether the account may
//! grant or revoke them.

use super::change::By;
use super::denied::access_denied;
use super::privileges::DYNAMIC;
use super::{Level, Privileges, RoutineName, needs_privilege, routine_denied, schema_denied};
use sql::SqlError;
use sql::admin::GrantPrivilege;
use std::collections::BTreeMap;

/// The object of GRANT or REVOKE, with the current schema filled in.
pub(super) enum Target {
    Global,
    Schema(String),
    Table(String, String),
    Routine { routine: RoutineName, written: String },
}

/// The list of privileges of GRANT or REVOKE, by kind.
pub(super) struct Asked {
    pub target: Target,
    /// True when the list is that of REVOKE.
    pub is_revoke: bool,
    /// True when the list has ALL.
    pub is_all: bool,
    /// True when GRANT OPTION is one of the listed privileges, and not behind WITH.
    pub names_grant_option: bool,
    /// The static privileges, without those on columns.
    pub set: Privileges,
    pub dynamic: Vec<String>,
    /// The privileges on columns, by the column's name as the table has it if the table exists.
    pub columns: BTreeMap<String, Privileges>,
}

impl Asked {
    fn of_columns(&self) -> Privileges {
        self.columns.values().fold(Privileges::NONE, |all, set| all.with(*set))
    }
}

impl By<'_> {
    /// Builds error 1045 for a missing privilege on `*.*`.
    fn global_denied(&self) -> SqlError {
        access_denied(&self.account.user, &self.account.host, self.with_password)
    }

    /// Builds error 1142 for a missing privilege on a table.
    fn table_denied(&self, privileges: &str, table: &str) -> SqlError {
        let (user, host) = (&self.account.user, &self.client_host);
        SqlError::new(
            1142,
            format!("{privileges} command denied to user '{user}'@'{host}' for table '{table}'"),
        )
    }

    /// Checks that the grantor has the static privileges, with GRANT OPTION, on the object.
    ///
    /// # Errors
    /// Returns 1045 for a privilege that is missing on `*.*`, 1044 on a schema, 1142 on a table,
    /// 1143 on a column, and 1370 on a routine.
    pub(super) fn check_asked(&self, asked: &Asked) -> Result<(), SqlError> {
        if self.is_unchecked {
            return Ok(());
        }
        let account = &self.account;
        let is_dynamic_only = asked.set.is_empty() && !asked.dynamic.is_empty();
        let wanted = asked.set.with(asked.of_columns()).with(Privileges::grant_option());
        match &asked.target {
            Target::Global if is_dynamic_only || account.global.contains(wanted) => Ok(()),
            Target::Global => Err(self.global_denied()),
            Target::Schema(schema)
            | Target::Table(schema, _)
            | Target::Routine { routine: RoutineName { schema, .. }, .. }
                if schema.eq_ignore_ascii_case("information_schema") =>
            {
                Err(schema_denied(&account.shown(), schema))
            }
            Target::Schema(schema) => {
                if account.on_schema(schema).contains(wanted) {
                    return Ok(());
                }
                let schema_level = Privileges::all(Level::Schema).with(Privileges::grant_option());
                match wanted.without(account.global).without(schema_level).is_empty() {
                    true => Err(schema_denied(&account.shown(), schema)),
                    false => Err(self.global_denied()),
                }
            }
            Target::Table(schema, table) => self.check_on_table(schema, table, asked, wanted),
            Target::Routine { routine, written } => self.check_on_routine(routine, written, wanted),
        }
    }

    fn check_on_routine(
        &self,
        routine: &RoutineName,
        written: &str,
        wanted: Privileges,
    ) -> Result<(), SqlError> {
        let account = &self.account;
        let held = account.on_schema(&routine.schema).with(account.on_routine_itself(routine));
        let missing = wanted.without(held);
        if missing.is_empty() {
            return Ok(());
        }
        let named = ["ALTER ROUTINE", "EXECUTE"]
            .into_iter()
            .find(|name| missing.contains(Privileges::named(name).unwrap_or_default()));
        let object = format!("{}.{written}", routine.schema);
        Err(routine_denied(named.unwrap_or("GRANT"), &account.shown(), &object))
    }

    fn check_on_table(
        &self,
        schema: &str,
        table: &str,
        asked: &Asked,
        wanted: Privileges,
    ) -> Result<(), SqlError> {
        let account = &self.account;
        let on_schema = account.on_schema(schema);
        let table_level = Privileges::all(Level::Table).with(Privileges::grant_option());
        let schema_level = Privileges::all(Level::Schema).with(Privileges::grant_option());
        let beyond = wanted.without(on_schema).without(table_level);
        if !beyond.without(schema_level).is_empty() {
            return Err(self.global_denied());
        }
        if !beyond.is_empty() {
            return Err(schema_denied(&account.shown(), schema));
        }
        if !asked.dynamic.is_empty() {
            return check_level(asked);
        }
        let held = on_schema.with(account.on_table_itself(schema, table));
        let on_columns = held.with(account.on_columns_of(schema, table));
        let of_table = asked.set.with(Privileges::grant_option());
        let missing = of_table.with(asked.of_columns()).without(on_columns);
        // Privileges held on columns alone are reported as missing only when nothing else is
        // missing, and are enough to revoke.
        let missing = if missing.is_empty() && !asked.is_revoke { of_table.without(held) } else { missing };
        if !missing.is_empty() {
            return Err(self.table_denied(&missing.names().join(", "), table));
        }
        for (column, set) in &asked.columns {
            let missing = set.without(held).without(account.on_column_itself(schema, table, column));
            if let Some(first) = missing.names().first() {
                let text = format!(
                    "{first} command denied to user '{}'@'{}' for column '{column}' in table '{table}'",
                    account.user, self.client_host
                );
                return Err(SqlError::new(1143, text));
            }
        }
        Ok(())
    }

    /// Reports whether the grantor may pass a dynamic privilege on.
    pub(super) fn may_grant_dynamic(&self, name: &str) -> bool {
        self.is_unchecked || self.account.dynamic.get(name).is_some_and(|option| *option)
    }

    /// Checks that the grantor may pass on the dynamic privileges in the list.
    ///
    /// # Errors
    /// Returns 1227 (`ER_SPECIFIC_ACCESS_DENIED_ERROR`) when the grantor may not pass on one of
    /// them.
    pub(super) fn check_dynamic(&self, asked: &Asked) -> Result<(), SqlError> {
        if asked.is_all || !matches!(asked.target, Target::Global) {
            return Ok(());
        }
        let may_grant_some = self.is_unchecked || self.account.dynamic.values().any(|option| *option);
        for name in &asked.dynamic {
            let is_known = DYNAMIC.contains(&name.as_str());
            if is_known && !self.may_grant_dynamic(name) || !is_known && !may_grant_some {
                return Err(needs_privilege("GRANT OPTION"));
            }
        }
        Ok(())
    }

    /// Checks that the object exists, and completes the names of its columns. CREATE may be granted
    /// before its table exists. A source has checked its own statements, and replication filters
    /// may leave its objects out here.
    ///
    /// # Errors
    /// Returns 1146 for a missing table, 1054 for a missing column, 1305 for a missing routine, and
    /// the error of an unknown schema.
    pub(super) fn check_object(&self, asked: &mut Asked) -> Result<(), SqlError> {
        let (schema, table) = match &asked.target {
            Target::Table(schema, table) => (schema.clone(), table.clone()),
            Target::Routine { .. } if self.is_received => return Ok(()),
            Target::Routine { routine, .. } if (self.has_routine)(routine) => return Ok(()),
            Target::Routine { routine, written } => {
                let kind = if routine.is_function { "FUNCTION" } else { "PROCEDURE" };
                return Err(SqlError::new(1305, format!("{kind} {written} does not exist")));
            }
            _ => return Ok(()),
        };
        let columns = (self.columns_of)(&schema, &table);
        let Some(there) = columns else {
            let create = Privileges::named("CREATE").unwrap_or_default();
            if self.is_received || asked.set.contains(create) {
                return Ok(());
            }
            if !asked.columns.is_empty() && !(self.has_schema)(&schema) {
                return Err(SqlError::unknown_schema(&schema));
            }
            return Err(SqlError::new(1146, format!("Table '{schema}.{table}' doesn't exist")));
        };
        let mut named = BTreeMap::new();
        for (column, set) in &asked.columns {
            let known = there.iter().find(|name| name.eq_ignore_ascii_case(column));
            let Some(name) = known.or(Some(column).filter(|_| self.is_received)) else {
                return Err(SqlError::new(1054, format!("Unknown column '{column}' in '{table}'")));
            };
            let all: &mut Privileges = named.entry(name.clone()).or_default();
            *all = all.with(*set);
        }
        asked.columns = named;
        Ok(())
    }
}

/// Checks that the privileges can be granted on an object of this level.
///
/// # Errors
/// Returns 1144 or 1221 for static privileges of another level, and 3619 for dynamic ones.
pub(super) fn check_level(asked: &Asked) -> Result<(), SqlError> {
    let illegal = || {
        let text =
            "Illegal GRANT/REVOKE command; please consult the manual to see which privileges can be used";
        SqlError::new(1144, text)
    };
    let not_here = |what: &str| SqlError::new(3619, format!("Illegal privilege level specified for {what}"));
    let outside = |level| asked.set.without(Privileges::all(level)).without(Privileges::grant_option());
    match &asked.target {
        Target::Global if !asked.columns.is_empty() => Err(illegal()),
        Target::Global => Ok(()),
        Target::Schema(_) => match asked.dynamic.first() {
            _ if !asked.columns.is_empty() => Err(illegal()),
            Some(name) => Err(not_here(name)),
            None if outside(Level::Schema).is_empty() => Ok(()),
            None => Err(SqlError::new(1221, "Incorrect usage of DB GRANT and GLOBAL PRIVILEGES")),
        },
        Target::Table(_, table) => {
            if !asked.dynamic.is_empty() {
                return Err(not_here(table));
            }
            if outside(Level::Table).is_empty() { Ok(()) } else { Err(illegal()) }
        }
        Target::Routine { written, .. } => {
            if !asked.dynamic.is_empty() {
                return Err(not_here(written));
            }
            let is_legal = outside(Level::Routine).is_empty() && asked.columns.is_empty();
            if is_legal { Ok(()) } else { Err(illegal()) }
        }
    }
}

impl Asked {
    /// Adds a privilege of the list. ALL means all privileges of the object's level.
    pub fn add(&mut self, privilege: &GrantPrivilege) {
        let name = privilege.name.as_str();
        if name == "USAGE" {
            return;
        }
        if name == "ALL" {
            self.is_all = true;
            let level = match self.target {
                Target::Global => Level::Global,
                Target::Schema(_) => Level::Schema,
                Target::Table(..) => Level::Table,
                Target::Routine { .. } => Level::Routine,
            };
            self.set = self.set.with(Privileges::all(level));
            if level == Level::Global {
                self.dynamic.extend(DYNAMIC.iter().map(|d| (*d).to_owned()));
            }
            return;
        }
        match Privileges::named(name) {
            Some(set) if privilege.columns.is_empty() => self.set = self.set.with(set),
            Some(set) => {
                for column in &privilege.columns {
                    let all = self.columns.entry(column.clone()).or_default();
                    *all = all.with(set);
                }
            }
            None => self.dynamic.push(name.to_owned()),
        }
    }
}
