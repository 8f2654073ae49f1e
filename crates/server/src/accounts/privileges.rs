//! Privileges: MySQL's static ones as bits, the dynamic ones by name.

use std::fmt;

/// A set of static privileges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Privileges(u32);

/// One static privilege.
#[derive(Debug)]
pub struct StaticPrivilege {
    /// The privilege's name as GRANT spells it.
    pub name: &'static str,
    /// The privilege's column in mysql.user.
    pub column: &'static str,
    /// True when it can be granted on a schema and has a column in mysql.db.
    pub on_schema: bool,
    /// True when it can be granted on a table.
    pub on_table: bool,
}

const fn p(name: &'static str, column: &'static str, on_schema: bool, on_table: bool) -> StaticPrivilege {
    StaticPrivilege { name, column, on_schema, on_table }
}

/// All static privileges in the order of their bits, which is the order of their columns in
/// mysql.user.
pub const STATIC: &[StaticPrivilege] = &[
    p("SELECT", "Select_priv", true, true),
    p("INSERT", "Insert_priv", true, true),
    p("UPDATE", "Update_priv", true, true),
    p("DELETE", "Delete_priv", true, true),
    p("CREATE", "Create_priv", true, true),
    p("DROP", "Drop_priv", true, true),
    p("RELOAD", "Reload_priv", false, false),
    p("SHUTDOWN", "Shutdown_priv", false, false),
    p("PROCESS", "Process_priv", false, false),
    p("FILE", "File_priv", false, false),
    p("GRANT OPTION", "Grant_priv", true, true),
    p("REFERENCES", "References_priv", true, true),
    p("INDEX", "Index_priv", true, true),
    p("ALTER", "Alter_priv", true, true),
    p("SHOW DATABASES", "Show_db_priv", false, false),
    p("SUPER", "Super_priv", false, false),
    p("CREATE TEMPORARY TABLES", "Create_tmp_table_priv", true, false),
    p("LOCK TABLES", "Lock_tables_priv", true, false),
    p("EXECUTE", "Execute_priv", true, false),
    p("REPLICATION SLAVE", "Repl_slave_priv", false, false),
    p("REPLICATION CLIENT", "Repl_client_priv", false, false),
    p("CREATE VIEW", "Create_view_priv", true, true),
    p("SHOW VIEW", "Show_view_priv", true, true),
    p("CREATE ROUTINE", "Create_routine_priv", true, false),
    p("ALTER ROUTINE", "Alter_routine_priv", true, false),
    p("CREATE USER", "Create_user_priv", false, false),
    p("EVENT", "Event_priv", true, false),
    p("TRIGGER", "Trigger_priv", true, true),
    p("CREATE TABLESPACE", "Create_tablespace_priv", false, false),
    p("CREATE ROLE", "Create_role_priv", false, false),
    p("DROP ROLE", "Drop_role_priv", false, false),
];

/// The dynamic privileges that can be granted, which are MySQL 9.7's, sorted.
pub const DYNAMIC: &[&str] = &[
    "ALLOW_NONEXISTENT_DEFINER",
    "APPLICATION_PASSWORD_ADMIN",
    "AUDIT_ABORT_EXEMPT",
    "AUDIT_ADMIN",
    "AUTHENTICATION_POLICY_ADMIN",
    "BACKUP_ADMIN",
    "BINLOG_ADMIN",
    "BINLOG_ENCRYPTION_ADMIN",
    "CLONE_ADMIN",
    "CONNECTION_ADMIN",
    "CREATE_SPATIAL_REFERENCE_SYSTEM",
    "ENCRYPTION_KEY_ADMIN",
    "FIREWALL_EXEMPT",
    "FLUSH_OPTIMIZER_COSTS",
    "FLUSH_PRIVILEGES",
    "FLUSH_STATUS",
    "FLUSH_TABLES",
    "FLUSH_USER_RESOURCES",
    "GROUP_REPLICATION_ADMIN",
    "GROUP_REPLICATION_STREAM",
    "INNODB_REDO_LOG_ARCHIVE",
    "INNODB_REDO_LOG_ENABLE",
    "MANAGE_DATA_MASKING_POLICY",
    "OPTIMIZE_LOCAL_TABLE",
    "PASSWORDLESS_USER_ADMIN",
    "PERSIST_RO_VARIABLES_ADMIN",
    "REPLICATION_APPLIER",
    "REPLICATION_SLAVE_ADMIN",
    "RESOURCE_GROUP_ADMIN",
    "RESOURCE_GROUP_USER",
    "ROLE_ADMIN",
    "SENSITIVE_VARIABLES_OBSERVER",
    "SERVICE_CONNECTION_ADMIN",
    "SESSION_VARIABLES_ADMIN",
    "SET_ANY_DEFINER",
    "SHOW_ROUTINE",
    "SYSTEM_USER",
    "SYSTEM_VARIABLES_ADMIN",
    "TABLE_ENCRYPTION_ADMIN",
    "TELEMETRY_LOG_ADMIN",
    "TRANSACTION_GTID_TAG",
    "XA_RECOVER_ADMIN",
];

/// The level on which a privilege is granted: the kind of object behind ON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// The privilege is granted ON `*.*`.
    Global,
    /// The privilege is granted ON `schema.*`.
    Schema,
    /// The privilege is granted ON `schema.table`.
    Table,
    /// The privilege is granted ON a procedure or function.
    Routine,
}

impl Privileges {
    /// The set without any privilege.
    pub const NONE: Privileges = Privileges(0);

    /// Returns the privilege of this name, in upper case. `None` means that no static one has it.
    pub fn named(name: &str) -> Option<Privileges> {
        STATIC.iter().position(|p| p.name == name).map(|bit| Privileges(1 << bit))
    }

    /// Returns the privileges that can be granted on columns.
    pub fn of_columns() -> Privileges {
        let bits = ["SELECT", "INSERT", "UPDATE", "REFERENCES"].into_iter().filter_map(Privileges::named);
        bits.fold(Privileges::NONE, Privileges::with)
    }

    /// Returns the names of the privileges in MySQL's order, with GRANT for GRANT OPTION as in
    /// MySQL's errors.
    pub fn names(self) -> Vec<&'static str> {
        let held = STATIC.iter().enumerate().filter(|(bit, _)| self.0 & 1 << bit != 0);
        held.map(|(bit, p)| if Privileges::of(bit) == Privileges::grant_option() { "GRANT" } else { p.name })
            .collect()
    }

    /// Returns all privileges that can be granted at a level, without GRANT OPTION.
    pub fn all(level: Level) -> Privileges {
        let fits = |p: &StaticPrivilege| match level {
            Level::Global => true,
            Level::Schema => p.on_schema,
            Level::Table => p.on_table,
            Level::Routine => ["EXECUTE", "ALTER ROUTINE"].contains(&p.name),
        };
        let bits = STATIC.iter().enumerate().filter(|(_, p)| fits(p)).fold(0, |acc, (bit, _)| acc | 1 << bit);
        Privileges(bits).without(Privileges::grant_option())
    }

    /// Returns GRANT OPTION.
    pub fn grant_option() -> Privileges {
        Privileges::of(10)
    }

    /// Returns the privilege of a bit, which is an index into [`STATIC`].
    pub fn of(bit: usize) -> Privileges {
        assert!(bit < STATIC.len(), "there is no privilege {bit}");
        Privileges(1 << bit)
    }

    /// Returns the privileges that are in either set.
    pub fn with(self, other: Privileges) -> Privileges {
        Privileges(self.0 | other.0)
    }

    /// Returns the privileges of this set that are not in the other.
    pub fn without(self, other: Privileges) -> Privileges {
        Privileges(self.0 & !other.0)
    }

    /// Reports whether all privileges of the other set are in this one.
    pub fn contains(self, other: Privileges) -> bool {
        self.0 & other.0 == other.0
    }

    /// Reports whether some privileges of the other set are in this one.
    pub fn intersects(self, other: Privileges) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns the set of the privileges with these names, in upper case.
    pub fn of_names(names: &[&str]) -> Privileges {
        let one =
            |name: &&str| Privileges::named(name).unwrap_or_else(|| panic!("there is no privilege {name}"));
        names.iter().map(one).fold(Privileges::NONE, Privileges::with)
    }

    /// Returns the privileges that are in both sets.
    pub fn common(self, other: Privileges) -> Privileges {
        Privileges(self.0 & other.0)
    }

    /// Reports whether the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the list in a line of SHOW GRANTS for this level: names, `ALL PRIVILEGES` or
    /// `USAGE`. GRANT OPTION is not listed.
    pub fn list(self, level: Level) -> String {
        let plain = self.without(Privileges::grant_option());
        if plain.is_empty() {
            return "USAGE".into();
        }
        if plain == Privileges::all(level) {
            return "ALL PRIVILEGES".into();
        }
        plain.to_string()
    }
}

impl fmt::Display for Privileges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = STATIC
            .iter()
            .enumerate()
            .filter(|(bit, _)| self.0 & 1 << bit != 0)
            .map(|(_, p)| p.name)
            .collect();
        f.write_str(&names.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_listed_as_show_grants_does() {
        let select = Privileges::named("SELECT").unwrap();
        let drop = Privileges::named("DROP").unwrap();
        assert_eq!(select.with(drop).list(Level::Global), "SELECT, DROP");
        assert_eq!(Privileges::NONE.list(Level::Schema), "USAGE");
        assert_eq!(Privileges::all(Level::Schema).list(Level::Schema), "ALL PRIVILEGES");
        assert_eq!(Privileges::grant_option().list(Level::Global), "USAGE");
        assert_eq!(STATIC[10].name, "GRANT OPTION");
        assert!(!Privileges::all(Level::Schema).contains(Privileges::named("SUPER").unwrap()));
        assert_eq!(Privileges::named("FLY"), None);
    }
}
