//! The effects of setting the variables of the server and its accounts.

use super::event_scheduler::follow_variables;
use super::{Globals, Setting};
use crate::accounts::{AccountName, roles};
use crate::server::Server;
use engine::ReadOnly;
use sql::SqlError;

/// Follows a change of `read_only`: OFF turns `super_read_only` off too, and events are run again.
pub fn follow_read_only(server: &Server) {
    if !server.globals.named("read_only").is_on() {
        server.globals.set_named("super_read_only", Setting::Bool(false));
    }
    refuse_commits(server);
    follow_variables(server);
}

/// Follows a change of `super_read_only`: ON turns `read_only` on too, and after OFF events are run
/// again.
pub fn follow_super_read_only(server: &Server) {
    if server.globals.named("super_read_only").is_on() {
        server.globals.set_named("read_only", Setting::Bool(true));
    }
    refuse_commits(server);
    follow_variables(server);
}

/// Makes the engine refuse the commits that `read_only` and `super_read_only` refuse now. When it
/// returns, none of these is under way, so that the GTIDs that were executed stay what they are.
/// The variables are changed before, so that no statement begins in vain.
fn refuse_commits(server: &Server) {
    server.engine.set_read_only(|| refused_commits(&server.globals));
}

/// Returns which commits of sessions the variables refuse.
pub fn refused_commits(globals: &Globals) -> ReadOnly {
    let is_on = |name: &str| globals.named(name).is_on();
    match (is_on("super_read_only"), is_on("read_only")) {
        (true, _) => ReadOnly::All,
        (false, true) => ReadOnly::Ordinary,
        (false, false) => ReadOnly::Off,
    }
}

/// Checks that `partial_revokes` is not turned off while an account has restrictions.
pub fn check_no_restrictions(server: &Server, setting: &Setting) -> Result<(), SqlError> {
    match setting.is_on() {
        true => Ok(()),
        false => crate::accounts::check_no_restrictions(&server.accounts),
    }
}

/// Checks that no role of `mandatory_roles` has SYSTEM_USER.
///
/// # Errors
/// Returns 3880 when one of the roles has SYSTEM_USER.
pub fn check_mandatory_roles(server: &Server, setting: &Setting) -> Result<(), SqlError> {
    let table = server.accounts.table();
    let is_above = |name: &AccountName| table.get(name).is_some_and(|account| account.is_system_user());
    match roles::mandatory(setting.text()).iter().find(|name| is_above(name)) {
        None => Ok(()),
        Some(name) => {
            let role = roles::shown(name);
            let text = format!("Cannot set mandatory_roles: AuthId {role} has 'SYSTEM_USER' privilege.");
            Err(SqlError::new(3880, text))
        }
    }
}
