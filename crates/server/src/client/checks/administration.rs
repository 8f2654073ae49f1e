//! The checks of what a session may do with the server, its variables, and objects that others have
//! defined.

use super::wanted::bits;
use crate::accounts::{Privileges, access_denied, needs_privilege};
use crate::client::connection_host::ConnectionHost;
use crate::variables::definition::{Definition, Guard};
use crate::variables::{self, Scope};
use sql::{Privilege, RunningPlan, SqlError, VariableScope};

/// The privileges of which one is needed to set the GTID of a transaction. SUPER is enough too,
/// unless the GTID has a tag.
const SETS_GTID_NEXT: &[&str] = &["SYSTEM_VARIABLES_ADMIN", "SESSION_VARIABLES_ADMIN", "REPLICATION_APPLIER"];

impl ConnectionHost {
    /// Checks that the account has SUPER or one of the dynamic privileges. `wording` is MySQL's
    /// list of them.
    ///
    /// # Errors
    /// Returns 1227 (`ER_SPECIFIC_ACCESS_DENIED_ERROR`) when the account has none of these
    /// privileges.
    pub fn require_admin(&self, wording: &str, dynamic: &[&str]) -> sql::Result<()> {
        if self.may_do_everything() || self.account().administers(dynamic) {
            return Ok(());
        }
        Err(needs_privilege(wording))
    }

    /// Checks that the account has one of the dynamic privileges; SUPER does not stand for them.
    ///
    /// # Errors
    /// Returns 1227 (`ER_SPECIFIC_ACCESS_DENIED_ERROR`) when the account has none of these
    /// privileges.
    pub fn require_dynamic(&self, wording: &str, dynamic: &[&str]) -> sql::Result<()> {
        let account = self.account();
        if self.may_do_everything() || dynamic.iter().any(|name| account.dynamic.contains_key(*name)) {
            return Ok(());
        }
        Err(needs_privilege(wording))
    }

    /// Reports whether the account has this static privilege on `*.*`.
    ///
    /// # Panics
    /// Panics when there is no privilege of this name.
    pub fn has_static(&self, name: &str) -> bool {
        let privilege = Privileges::named(name).unwrap_or_else(|| panic!("there is no privilege {name}"));
        self.may_do_everything() || self.account().global.contains(privilege)
    }

    /// Checks that the account has this static privilege on `*.*`.
    ///
    /// # Errors
    /// Returns 1227 (`ER_SPECIFIC_ACCESS_DENIED_ERROR`) when the account lacks the privilege.
    pub fn require_static(&self, name: &str) -> sql::Result<()> {
        if self.has_static(name) { Ok(()) } else { Err(needs_privilege(name)) }
    }

    /// Reports whether the session may change accounts with SYSTEM_USER and kill their connections.
    pub fn is_system_user(&self) -> bool {
        self.may_do_everything() || self.account().is_system_user()
    }

    /// Checks that the account has RELOAD or this dynamic privilege.
    ///
    /// # Errors
    /// Returns 1227 (`ER_SPECIFIC_ACCESS_DENIED_ERROR`) when the account has neither privilege.
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

    /// Checks that the account has FILE.
    ///
    /// # Errors
    /// Returns 1045 (`ER_ACCESS_DENIED_ERROR`) when the account lacks FILE.
    pub(crate) fn check_may_use_files(&self) -> sql::Result<()> {
        if self.may_do_everything() || self.account().global.contains(Privileges::of_names(&["FILE"])) {
            return Ok(());
        }
        let login = self.login_account();
        let with_password = !login.authentication_string.is_empty();
        Err(access_denied(&login.user, &login.host, with_password))
    }

    /// Returns the plan of the statement that runs in a connection. A connection of another user is
    /// seen only with PROCESS.
    ///
    /// # Errors
    /// Returns 1094 (`ER_NO_SUCH_THREAD`) when there is no such connection, 3012
    /// (`ER_EXPLAIN_NOT_SUPPORTED`) when no statement with a plan runs there, and 1045
    /// (`ER_ACCESS_DENIED_ERROR`) when the account may not see it.
    pub(crate) fn plan_of(&self, connection_id: u64) -> sql::Result<RunningPlan> {
        let entry = self.server().sessions.get(connection_id);
        let entry =
            entry.ok_or_else(|| SqlError::new(1094, format!("Unknown thread id: {connection_id}")))?;
        let plan = entry.plan().ok_or_else(SqlError::unknown_plan)?;
        let is_own = entry.shown().account == self.account().shown();
        if is_own || self.may_do_everything() || self.has_static("PROCESS") {
            return Ok(plan);
        }
        let login = self.login_account();
        Err(access_denied(&login.user, &login.host, !login.authentication_string.is_empty()))
    }

    /// Checks that the account may make an object that runs with the privileges of `definer`.
    ///
    /// # Errors
    /// Returns 1227 (`ER_SPECIFIC_ACCESS_DENIED_ERROR`) when the account may not make such an
    /// object.
    pub(crate) fn check_definer_is_allowed(&self, definer: (&str, &str)) -> sql::Result<()> {
        if self.may_do_everything() || self.login_account().shown() == format!("{}@{}", definer.0, definer.1)
        {
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

    /// Checks that the definer does not have SYSTEM_USER while the account has not.
    ///
    /// # Errors
    /// Returns 1227 (`ER_SPECIFIC_ACCESS_DENIED_ERROR`) when only the definer has SYSTEM_USER.
    pub(crate) fn check_definer_is_not_above(&self, definer: (&str, &str)) -> sql::Result<()> {
        let name = (definer.0.to_owned(), definer.1.to_lowercase());
        let is_above = self.server().accounts.table().get(&name).is_some_and(|of| of.is_system_user());
        if is_above && !self.is_system_user() { Err(needs_privilege("SYSTEM_USER")) } else { Ok(()) }
    }

    /// Checks that the account may make a trigger or a function.
    ///
    /// # Errors
    /// Returns 1418 when the program is not declared to be safe for the binary log, and 1419 when
    /// the account has no SUPER.
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

    /// Checks that the account may use SET GLOBAL or SET PERSIST_ONLY for a variable. A variable
    /// that no account can set is refused for that reason before privileges are checked.
    pub(crate) fn check_set_global(&self, definition: &Definition, scope: VariableScope) -> sql::Result<()> {
        variables::check_has_global(definition, scope == VariableScope::PersistOnly)?;
        if scope == VariableScope::PersistOnly {
            return self.check_may_persist_all();
        }
        self.require_admin("SUPER or SYSTEM_VARIABLES_ADMIN", &["SYSTEM_VARIABLES_ADMIN"])?;
        match definition.guard {
            Guard::GlobalWith(more, words) => self.require_admin(words, &[more]),
            Guard::GlobalWithout(more, words) => self.require_dynamic(words, &[more]),
            _ => Ok(()),
        }
    }

    /// Checks that the account may use SET PERSIST_ONLY.
    ///
    /// # Errors
    /// Returns 3630 otherwise.
    fn check_may_persist_all(&self) -> sql::Result<()> {
        let both = &["SYSTEM_VARIABLES_ADMIN", "PERSIST_RO_VARIABLES_ADMIN"];
        let account = self.account();
        if self.may_do_everything() || both.iter().all(|name| account.dynamic.contains_key(*name)) {
            return Ok(());
        }
        let text = "Access denied; you need SYSTEM_VARIABLES_ADMIN and PERSIST_RO_VARIABLES_ADMIN privileges for this operation";
        Err(SqlError::new(3630, text))
    }

    /// Checks that the account may use RESET PERSIST for a variable. `None` is one that does not
    /// exist.
    ///
    /// # Errors
    /// Returns 3630 for a variable that is set at start only, and 1227 for others.
    pub(crate) fn check_reset(&self, definition: Option<&Definition>) -> sql::Result<()> {
        match definition {
            Some(definition) if definition.read_only => self.check_may_persist_all(),
            _ => self.require_admin("SUPER or SYSTEM_VARIABLES_ADMIN", &["SYSTEM_VARIABLES_ADMIN"]),
        }
    }

    /// Checks that the account may use SET SESSION for a guarded variable.
    pub(crate) fn check_set_own(&self, name: &str) -> sql::Result<()> {
        // A name that is unknown or that cannot be set is refused when it is set.
        let Some(definition) = variables::find(name).map(variables::VariableId::definition) else {
            return Ok(());
        };
        if definition.read_only || definition.scope == Scope::Global {
            return Ok(());
        }
        self.check_guard(definition)
    }

    /// Checks the privileges that the guard of a session variable asks for.
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
            // Even an account that may do everything gets this error.
            Guard::GlobalOnly => Err(variables::session_read_only(definition.name)),
        }
    }

    /// Checks that the account may use a GTID with a tag. It needs TRANSACTION_GTID_TAG besides one
    /// of the privileges to set `gtid_next`, and SUPER is not enough.
    ///
    /// # Errors
    /// Returns 6038 when the account lacks TRANSACTION_GTID_TAG, or may not set `gtid_next`.
    pub(super) fn check_gtid_tag(&self) -> sql::Result<()> {
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
}
