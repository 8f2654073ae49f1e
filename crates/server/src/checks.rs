//! What an account may do: the checks that a session asks for before it does what a statement says.

use crate::accounts::{
    Account, Privileges, RoutineName, access_denied, needs_privilege, quoted, routine_denied, schema_denied,
};
use crate::connection_host::ConnectionHost;
use crate::variables;
use crate::variables::definition::{Definition, Guard, Scope};
use engine::ObjectKind;
use sql::{Host, Privilege, Sight, SqlError, VariableScope};
use std::sync::LazyLock;

/// Who may say under which GTID a transaction is committed; SUPER may as well, unless the GTID has
/// a tag.
const SETS_GTID_NEXT: &[&str] = &["SYSTEM_VARIABLES_ADMIN", "SESSION_VARIABLES_ADMIN", "REPLICATION_APPLIER"];

/// Privileges that count for using a schema, as MySQL's DB_OP_ACLS.
static IN_SCHEMA: LazyLock<Privileges> = LazyLock::new(|| {
    Privileges::of_names(&[
        "CREATE TEMPORARY TABLES",
        "LOCK TABLES",
        "EXECUTE",
        "CREATE ROUTINE",
        "ALTER ROUTINE",
        "EVENT",
    ])
});

/// Privileges that count for seeing a table, as MySQL's TABLE_OP_ACLS.
static ON_TABLE: LazyLock<Privileges> = LazyLock::new(|| {
    Privileges::of_names(&[
        "SELECT",
        "INSERT",
        "UPDATE",
        "DELETE",
        "CREATE",
        "DROP",
        "REFERENCES",
        "INDEX",
        "ALTER",
        "CREATE VIEW",
        "SHOW VIEW",
        "TRIGGER",
    ])
});

/// Privileges that count for seeing a routine.
static ON_ROUTINE: LazyLock<Privileges> =
    LazyLock::new(|| Privileges::of_names(&["EXECUTE", "CREATE ROUTINE", "ALTER ROUTINE"]));

/// Privileges that it takes to see what a view consists of.
static SHOWS_VIEW: LazyLock<Privileges> = LazyLock::new(|| Privileges::of_names(&["SELECT", "SHOW VIEW"]));

/// Privileges that count for seeing a column.
static ON_COLUMN: LazyLock<Privileges> =
    LazyLock::new(|| Privileges::of_names(&["SELECT", "INSERT", "UPDATE", "REFERENCES"]));

/// Privileges for rows.
static USES_ROWS: LazyLock<Privileges> =
    LazyLock::new(|| Privileges::of_names(&["SELECT", "INSERT", "UPDATE", "DELETE"]));

/// Privileges that let one lock the rows that one reads.
static LOCKS_ROWS: LazyLock<Privileges> =
    LazyLock::new(|| Privileges::of_names(&["UPDATE", "DELETE", "LOCK TABLES"]));

/// Privileges for making tables and changing what they are.
static DEFINES_TABLES: LazyLock<Privileges> = LazyLock::new(|| {
    Privileges::of_names(&["CREATE", "ALTER", "INDEX", "REFERENCES", "CREATE VIEW", "TRIGGER"])
});

/// Whether a schema has computed tables only.
fn is_computed(schema: &str) -> bool {
    ["information_schema", "performance_schema"].iter().any(|name| schema.eq_ignore_ascii_case(name))
}

/// Tables of performance_schema that everybody reads; the others need SELECT, as in MySQL.
const READ_BY_ALL: &[&str] =
    &["global_status", "global_variables", "processlist", "session_status", "session_variables"];

/// Whether everybody may read a table: of information_schema all, of performance_schema some.
fn is_read_by_all(schema: &str, table: &str) -> bool {
    schema.eq_ignore_ascii_case("information_schema")
        || schema.eq_ignore_ascii_case("performance_schema")
            && READ_BY_ALL.iter().any(|name| name.eq_ignore_ascii_case(table))
}

/// The name of the privilege, and of those that stand for it.
fn names(privilege: Privilege) -> &'static str {
    match privilege {
        Privilege::Select => "SELECT",
        Privilege::Insert => "INSERT",
        Privilege::Update => "UPDATE",
        Privilege::Delete => "DELETE",
        Privilege::Create => "CREATE",
        Privilege::Drop => "DROP",
        Privilege::References => "REFERENCES",
        Privilege::Index => "INDEX",
        Privilege::Alter => "ALTER",
        Privilege::CreateTemporaryTables => "CREATE TEMPORARY TABLES",
        Privilege::LockTables => "LOCK TABLES",
        Privilege::Execute => "EXECUTE",
        Privilege::AlterRoutine => "ALTER ROUTINE",
        Privilege::CreateRoutine => "CREATE ROUTINE",
        Privilege::CreateView => "CREATE VIEW",
        Privilege::Event => "EVENT",
        Privilege::Trigger => "TRIGGER",
        Privilege::Process => "PROCESS",
        Privilege::Reload => "RELOAD",
        Privilege::ShowDatabases => "SHOW DATABASES",
        Privilege::Super => "SUPER",
        Privilege::ConnectionAdmin => "SUPER or CONNECTION_ADMIN",
        Privilege::XaRecoverAdmin => "XA_RECOVER_ADMIN",
        Privilege::FlushTables => "RELOAD or FLUSH_TABLES",
        Privilege::TransactionGtidTag => "TRANSACTION_GTID_TAG",
    }
}

pub(crate) fn bits(privilege: Privilege) -> Privileges {
    Privileges::of_names(&[names(privilege)])
}

impl ConnectionHost {
    /// Error 1227 unless the account has SUPER or one of the dynamic privileges; `wording` is
    /// MySQL's list of them.
    pub fn require_admin(&self, wording: &str, dynamic: &[&str]) -> sql::Result<()> {
        if self.may_do_everything() || self.account().administers(dynamic) {
            return Ok(());
        }
        Err(needs_privilege(wording))
    }

    /// Error 1227 unless the account has one of the dynamic privileges; SUPER does not stand for
    /// them.
    pub fn require_dynamic(&self, wording: &str, dynamic: &[&str]) -> sql::Result<()> {
        let account = self.account();
        if self.may_do_everything() || dynamic.iter().any(|name| account.dynamic.contains_key(*name)) {
            return Ok(());
        }
        Err(needs_privilege(wording))
    }

    /// Error 1227 unless the account has this static privilege on everything.
    pub fn require_static(&self, name: &str) -> sql::Result<()> {
        let privilege = Privileges::named(name).unwrap_or_else(|| panic!("there is no privilege {name}"));
        if self.may_do_everything() || self.account().global.contains(privilege) {
            return Ok(());
        }
        Err(needs_privilege(name))
    }

    /// Whether accounts with SYSTEM_USER may be changed and their connections killed.
    pub fn is_system_user(&self) -> bool {
        self.may_do_everything() || self.account().is_system_user()
    }

    /// Error 1227 unless the account has RELOAD or this dynamic privilege.
    pub fn require_reload_or(&self, dynamic: &str) -> sql::Result<()> {
        let account = self.account();
        if self.may_do_everything()
            || account.global.contains(bits(Privilege::Reload))
            || account.dynamic.contains_key(dynamic)
        {
            return Ok(());
        }
        Err(needs_privilege(&format!("RELOAD or {dynamic}")))
    }

    /// Error 1045 unless the account has FILE.
    pub(crate) fn check_may_use_files(&self) -> sql::Result<()> {
        if self.may_do_everything() || self.account().global.contains(Privileges::of_names(&["FILE"])) {
            return Ok(());
        }
        let login = self.login_account();
        let with_password = !login.authentication_string.is_empty();
        Err(access_denied(&login.user, &login.host, with_password))
    }

    /// One privilege: on a table, on all of a schema, or on everything.
    pub(crate) fn check_one(
        &self,
        privilege: Privilege,
        schema: Option<&str>,
        table: Option<&str>,
    ) -> sql::Result<()> {
        if self.may_do_everything() {
            return Ok(());
        }
        let name = names(privilege);
        match privilege {
            Privilege::XaRecoverAdmin => return self.require_dynamic(name, &[name]),
            Privilege::ConnectionAdmin => return self.require_admin(name, &["CONNECTION_ADMIN"]),
            Privilege::FlushTables => return self.require_reload_or("FLUSH_TABLES"),
            Privilege::TransactionGtidTag => return self.check_gtid_tag(),
            _ => {}
        }
        let account = self.account();
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
            (Some(schema), Some(table)) => self.check_all(&[privilege], schema, table),
        }
    }

    /// Error 1142 that names the privileges that are missing on a table.
    pub(crate) fn check_all(&self, wanted: &[Privilege], schema: &str, table: &str) -> sql::Result<()> {
        if self.may_do_everything() || wanted == [Privilege::Select] && is_read_by_all(schema, table) {
            return Ok(());
        }
        let account = self.account();
        let wanted = wanted.iter().map(|privilege| bits(*privilege)).fold(Privileges::NONE, Privileges::with);
        self.check_computed(wanted, schema, table)?;
        if account.restrictions.is_empty() && account.global.contains(wanted) {
            return Ok(());
        }
        let held = account.on_schema(schema).with(account.on_table_itself(schema, table));
        let missing = wanted.without(held);
        if missing.is_empty() {
            return Ok(());
        }
        // What is held on columns alone is told only where nothing else is missing.
        let beyond_columns = missing.without(account.on_columns_of(schema, table));
        let missing = if beyond_columns.is_empty() { missing } else { beyond_columns };
        // Of a foreign key's parent MySQL tells the schema too.
        let parent = (missing == bits(Privilege::References)).then(|| format!("{schema}.{table}"));
        Err(self.table_denied(&missing.to_string(), parent.as_deref().unwrap_or(table)))
    }

    /// What nobody may do with a table that is computed: 1044 for what makes and changes tables,
    /// and for all but reading in information_schema; 1142 for changes of its rows.
    fn check_computed(&self, wanted: Privileges, schema: &str, table: &str) -> sql::Result<()> {
        if !is_computed(schema) || wanted == bits(Privilege::Select) {
            return Ok(());
        }
        let is_there = || crate::virtual_tables::is_one(schema, table);
        if schema.eq_ignore_ascii_case("information_schema") || wanted.intersects(*DEFINES_TABLES) {
            return Err(schema_denied(&self.account().shown(), schema));
        }
        let denied = match table.eq_ignore_ascii_case("host_cache") {
            // It can be emptied.
            true => wanted.without(bits(Privilege::Drop)),
            false => wanted,
        };
        match denied.is_empty() || !is_there() {
            true => Ok(()),
            false => Err(self.table_denied(&denied.to_string(), table)),
        }
    }

    /// Rows that are read may be locked by who may change them, or lock their table.
    pub(crate) fn check_locking(&self, schema: &str, table: &str) -> sql::Result<()> {
        if self.may_do_everything() || is_read_by_all(schema, table) {
            return Ok(());
        }
        let account = self.account();
        let held = account.on_schema(schema).with(account.on_table_itself(schema, table));
        if held.with(account.on_columns_of(schema, table)).intersects(*LOCKS_ROWS) {
            return Ok(());
        }
        Err(self.table_denied("SELECT with locking clause", table))
    }

    /// Error 1370 unless the account has a privilege on a routine.
    pub(crate) fn check_on_routine(
        &self,
        wanted: Privilege,
        kind: ObjectKind,
        schema: &str,
        name: &str,
    ) -> sql::Result<()> {
        let account = self.account();
        if self.may_do_everything() || account.allows_schema(bits(wanted), schema) {
            return Ok(());
        }
        let routine = RoutineName::new(kind == ObjectKind::Function, schema, name);
        if account.on_schema(schema).with(account.on_routine_itself(&routine)).contains(bits(wanted)) {
            return Ok(());
        }
        Err(routine_denied(names(wanted), &account.shown(), &format!("{schema}.{name}")))
    }

    /// Error 1227 unless the account may make an object that has the privileges of another.
    pub(crate) fn check_definer_is_allowed(&self, definer: (&str, &str)) -> sql::Result<()> {
        if self.may_do_everything() || self.current_user() == format!("{}@{}", definer.0, definer.1) {
            return Ok(());
        }
        self.require_admin("SUPER or SET_ANY_DEFINER", &["SET_ANY_DEFINER"])?;
        let name = (definer.0.to_owned(), definer.1.to_lowercase());
        if self.server().accounts.table().get(&name).is_none() {
            let more = "SUPER or ALLOW_NONEXISTENT_DEFINER";
            return self.require_admin(more, &["ALLOW_NONEXISTENT_DEFINER"]);
        }
        self.check_definer_is_not_above(definer)
    }

    /// Error 1227 where the definer has SYSTEM_USER, and the account has not.
    pub(crate) fn check_definer_is_not_above(&self, definer: (&str, &str)) -> sql::Result<()> {
        let name = (definer.0.to_owned(), definer.1.to_lowercase());
        let is_above = self.server().accounts.table().get(&name).is_some_and(|of| of.is_system_user());
        if is_above && !self.is_system_user() { Err(needs_privilege("SYSTEM_USER")) } else { Ok(()) }
    }

    /// Errors 1418 and 1419, of who makes a trigger or a function.
    pub(crate) fn check_may_make_functions(&self, is_safe: bool) -> sql::Result<()> {
        let globals = &self.server().globals;
        if globals.named("log_bin_trust_function_creators").is_on() || !globals.named("log_bin").is_on() {
            return Ok(());
        }
        if !is_safe {
            let text = "This function has none of DETERMINISTIC, NO SQL, or READS SQL DATA in its declaration and \
                        binary logging is enabled (you *might* want to use the less safe \
                        log_bin_trust_function_creators variable)";
            return Err(SqlError::new(1418, text));
        }
        if self.may_do_everything() || self.account().global.contains(bits(Privilege::Super)) {
            return Ok(());
        }
        let text = "You do not have the SUPER privilege and binary logging is enabled (you *might* want to use the \
                    less safe log_bin_trust_function_creators variable)";
        Err(SqlError::new(1419, text))
    }

    /// What the account sees, and what it is told where it does not.
    pub(crate) fn check_seen(&self, sight: Sight<'_>) -> sql::Result<()> {
        let account = self.account();
        if self.may_do_everything() || sees(&account, sight) {
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
            Sight::CreateView(schema, view) => {
                let account = self.account();
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

    /// The errors of SET GLOBAL and SET PERSIST. What nobody can set is refused for that before it
    /// is asked who sets it.
    pub(crate) fn check_set_global(&self, definition: &Definition, scope: VariableScope) -> sql::Result<()> {
        variables::check_has_global(definition, scope == VariableScope::PersistOnly)?;
        if scope == VariableScope::PersistOnly {
            let both = &["SYSTEM_VARIABLES_ADMIN", "PERSIST_RO_VARIABLES_ADMIN"];
            let account = self.account();
            if self.may_do_everything() || both.iter().all(|name| account.dynamic.contains_key(*name)) {
                return Ok(());
            }
            let text = "Access denied; you need SYSTEM_VARIABLES_ADMIN and PERSIST_RO_VARIABLES_ADMIN privileges for this operation";
            return Err(SqlError::new(3630, text));
        }
        self.require_admin("SUPER or SYSTEM_VARIABLES_ADMIN", &["SYSTEM_VARIABLES_ADMIN"])?;
        match definition.guard {
            Guard::GlobalWith(more, words) => self.require_admin(words, &[more]),
            Guard::GlobalWithout(more, words) => self.require_dynamic(words, &[more]),
            _ => Ok(()),
        }
    }

    /// The error of SET SESSION of a guarded variable.
    pub(crate) fn check_set_own(&self, name: &str) -> sql::Result<()> {
        // A name that is not known, or that cannot be set anyway, is refused by what sets it.
        let Some(definition) = variables::find(name).map(variables::VariableId::definition) else {
            return Ok(());
        };
        if definition.read_only || definition.scope == Scope::Global {
            return Ok(());
        }
        self.check_guard(definition)
    }

    /// The errors of a guarded session variable.
    fn check_guard(&self, definition: &Definition) -> sql::Result<()> {
        match definition.guard {
            Guard::Open | Guard::GlobalWith(..) | Guard::GlobalWithout(..) => Ok(()),
            Guard::Session => self.require_admin(
                "SUPER, SYSTEM_VARIABLES_ADMIN or SESSION_VARIABLES_ADMIN",
                &["SYSTEM_VARIABLES_ADMIN", "SESSION_VARIABLES_ADMIN"],
            ),
            Guard::SessionWithoutSuper => self.require_dynamic(
                "SYSTEM_VARIABLES_ADMIN or SESSION_VARIABLES_ADMIN",
                &["SYSTEM_VARIABLES_ADMIN", "SESSION_VARIABLES_ADMIN"],
            ),
            Guard::Applier => self.require_admin(
                "SUPER, SYSTEM_VARIABLES_ADMIN, SESSION_VARIABLES_ADMIN or REPLICATION_APPLIER",
                SETS_GTID_NEXT,
            ),
            // Even who may do everything gets this error.
            Guard::GlobalOnly => Err(variables::session_read_only(definition.name)),
        }
    }

    /// A GTID with a tag needs TRANSACTION_GTID_TAG beside what `gtid_next` needs, of which SUPER
    /// is not enough here.
    fn check_gtid_tag(&self) -> sql::Result<()> {
        let account = self.account();
        if self.may_do_everything()
            || account.dynamic.contains_key("TRANSACTION_GTID_TAG")
                && SETS_GTID_NEXT.iter().any(|name| account.dynamic.contains_key(*name))
        {
            return Ok(());
        }
        let text = "Access denied; you need the TRANSACTION_GTID_TAG and at least one of the: SYSTEM_VARIABLES_ADMIN, \
                    SESSION_VARIABLES_ADMIN or REPLICATION_APPLIER privilege(s) for this operation";
        Err(SqlError::new(6038, text))
    }

    /// The account's user at the host that the client connected from, which MySQL tells in some
    /// errors.
    fn user_at_client(&self) -> String {
        let client = self.user();
        let host = client.rsplit_once('@').map_or("", |(_, host)| host);
        format!("{}@{host}", self.account().user)
    }

    /// Error 1142.
    pub(crate) fn table_denied(&self, privileges: &str, table: &str) -> SqlError {
        let user = quoted(&self.user_at_client());
        SqlError::new(1142, format!("{privileges} command denied to user {user} for table '{table}'"))
    }

    /// Errors 1142 and 1143 unless a privilege holds on each of these columns.
    pub(crate) fn check_on_all_columns(
        &self,
        privilege: Privilege,
        schema: &str,
        table: &str,
        columns: &mut dyn Iterator<Item = &str>,
    ) -> sql::Result<()> {
        let mut has_column_grants = false;
        for column in columns {
            has_column_grants |= !self.account().on_column_itself(schema, table, column).is_empty();
            let checked = self.check_on_column(privilege, schema, table, column);
            if checked.is_err() && has_column_grants {
                return Err(self.table_denied(names(privilege), table));
            }
            checked?;
        }
        Ok(())
    }

    /// Error 1142 unless rows of a table may be read or changed.
    pub(crate) fn check_some_use(&self, schema: &str, table: &str) -> sql::Result<()> {
        let account = self.account();
        let held = account.on_schema(schema).with(account.on_table_itself(schema, table));
        if self.may_do_everything()
            || is_read_by_all(schema, table)
            || held.with(account.on_columns_of(schema, table)).intersects(*USES_ROWS)
        {
            return Ok(());
        }
        let user = quoted(&account.shown());
        Err(SqlError::new(1142, format!("ANY command denied to user {user} for table '{table}'")))
    }

    /// What the account may do with a column, by name.
    pub(crate) fn held_on_column(&self, schema: &str, table: &str, column: &str) -> String {
        if self.may_do_everything() {
            return "select,insert,update,references".into();
        }
        let account = self.account();
        let held = account.on_schema(schema).with(account.on_table_itself(schema, table));
        let held = held.with(account.on_column_itself(schema, table, column)).common(*ON_COLUMN);
        let held = if is_read_by_all(schema, table) { held.with(bits(Privilege::Select)) } else { held };
        held.names().join(",").to_lowercase()
    }

    /// Error 1143 unless a privilege holds on a column.
    pub(crate) fn check_on_column(
        &self,
        privilege: Privilege,
        schema: &str,
        table: &str,
        column: &str,
    ) -> sql::Result<()> {
        if self.may_do_everything() || self.account().allows_column(bits(privilege), schema, table, column) {
            return Ok(());
        }
        let user = quoted(&self.user_at_client());
        let name = names(privilege);
        let text = format!("{name} command denied to user {user} for column '{column}' in table '{table}'");
        Err(SqlError::new(1143, text))
    }
}

/// Whether an account reads what routines of others consist of.
fn shows_routines(account: &Account) -> bool {
    account.global.contains(bits(Privilege::Select)) || account.dynamic.contains_key("SHOW_ROUTINE")
}

/// MySQL's rules of what is seen. A privilege on a table itself counts whichever it is.
fn sees(account: &Account, sight: Sight<'_>) -> bool {
    let in_schema = || IN_SCHEMA.with(*ON_TABLE);
    let is_everybodys = |schema: &str| is_computed(schema);
    match sight {
        Sight::Schema(schema) if schema.eq_ignore_ascii_case("information_schema") => true,
        Sight::Schema(schema) => {
            account.global.intersects(in_schema().with(bits(Privilege::ShowDatabases)))
                || !account.on_schema(schema).without(account.global).is_empty()
                || account.on_tables_of(schema).next().is_some()
                || account.has_routines_in(schema)
                || is_everybodys(schema)
        }
        Sight::SchemaToUse(schema) | Sight::CreateSchema(schema) => {
            is_everybodys(schema)
                || account.on_schema(schema).intersects(in_schema())
                || account
                    .on_tables_of(schema)
                    .any(|held| !held.without(Privileges::grant_option()).is_empty())
                || account.has_routines_in(schema)
        }
        Sight::TablesOf(schema) => {
            is_everybodys(schema)
                || account.on_schema(schema).intersects(in_schema())
                || account.on_tables_of(schema).next().is_some()
                || account.has_routines_in(schema)
        }
        Sight::Table(schema, table) => {
            account.on_schema(schema).intersects(*ON_TABLE)
                || !account.on_table_itself(schema, table).is_empty()
                || !account.on_columns_of(schema, table).is_empty()
        }
        Sight::Column(schema, table, column) => {
            let held = account.on_schema(schema).with(account.on_table_itself(schema, table));
            held.with(account.on_column_itself(schema, table, column)).intersects(*ON_COLUMN)
        }
        Sight::Description(schema, table) => {
            is_everybodys(schema)
                || account.allows_schema(bits(Privilege::Select), schema)
                || !account.on_table_itself(schema, table).is_empty()
                || !account.on_columns_of(schema, table).is_empty()
        }
        Sight::CreateView(schema, view) => {
            let held = account.on_schema(schema).with(account.on_table_itself(schema, view));
            held.contains(*SHOWS_VIEW)
        }
        Sight::Routine(kind, schema, name) => {
            let routine = RoutineName::new(kind == ObjectKind::Function, schema, name);
            let held = account.on_schema(schema).with(account.on_routine_itself(&routine));
            held.intersects(*ON_ROUTINE) || shows_routines(account)
        }
        Sight::RoutineText(_) => shows_routines(account),
        Sight::CreateTable(schema, table) => {
            let held = account.on_schema(schema).with(account.on_table_itself(schema, table));
            is_everybodys(schema) || held.intersects(*ON_TABLE)
        }
    }
}
