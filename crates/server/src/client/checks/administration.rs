//! What a session may do with the server, its variables, and what others have defined.

use super::wanted::bits;
use crate::accounts::{Privileges, access_denied, needs_privilege};
use crate::client::connection_host::ConnectionHost;
use crate::variables::definition::{Definition, Guard};
use crate::variables::{self, Scope};
use sql::{Privilege, SqlError, VariableScope};

/// The privileges to say under which GTID a transaction is committed. SUPER is enough too, unless
/// the GTID has a tag.
const SETS_GTID_NEXT: &[&str] = &["SYSTEM_VARIABLES_ADMIN", "SESSION_VARIABLES_ADMIN", "REPLICATION_APPLIER"];

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

    /// Whether the account has this static privilege on everything.
    ///
    /// # Panics
    /// When there is no privilege of this name.
    pub fn has_static(&self, name: &str) -> bool {
        let privilege = Privileges::named(name).unwrap_or_else(|| panic!("there is no privilege {name}"));
        self.may_do_everything() || self.account().global.contains(privilege)
    }

    /// Error 1227 unless the account has this static privilege on everything.
    pub fn require_static(&self, name: &str) -> sql::Result<()> {
        if self.has_static(name) { Ok(()) } else { Err(needs_privilege(name)) }
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

    /// Error 1227 unless the account may make an object that has the privileges of another.
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

    /// Error 1227 where the definer has SYSTEM_USER, and the account has not.
    pub(crate) fn check_definer_is_not_above(&self, definer: (&str, &str)) -> sql::Result<()> {
        let name = (definer.0.to_owned(), definer.1.to_lowercase());
        let is_above = self.server().accounts.table().get(&name).is_some_and(|of| of.is_system_user());
        if is_above && !self.is_system_user() { Err(needs_privilege("SYSTEM_USER")) } else { Ok(()) }
    }

    /// Errors 1418 and 1419 unless the account may make a trigger or a function.
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
            // Even an account that may do everything gets this error.
            Guard::GlobalOnly => Err(variables::session_read_only(definition.name)),
        }
    }

    /// A GTID with a tag needs TRANSACTION_GTID_TAG beside what `gtid_next` needs, of which SUPER
    /// is not enough here.
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
