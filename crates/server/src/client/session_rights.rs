//! The rights of a session: those of its account and of its active roles, as they are now.

use crate::accounts::role_changes::not_granted;
use crate::accounts::{Account, AccountName, roles};
use crate::server::Server;
use parking_lot::Mutex;
use sql::admin::{Account as Named, RoleChoice};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The active roles of a session, and the rights that follow from them.
pub struct SessionRights {
    /// A number that grows when the session's active roles change. Relaxed: only the connection's
    /// own thread writes and reads it.
    changes: AtomicU64,
    /// The rights computed last. Lock order: before the locks of the accounts and of the global
    /// variables.
    now: Mutex<Now>,
}

struct Now {
    /// The roles that were activated. Those that the account no longer has do not count, but are
    /// active again when it gets them back.
    active: BTreeSet<AccountName>,
    /// The generation of the accounts from which `account` was computed. `None` means that the
    /// active roles have changed since.
    generation: Option<u64>,
    /// The active roles that the account has.
    held: BTreeSet<AccountName>,
    /// The account with the rights of `held`.
    account: Arc<Account>,
}

impl SessionRights {
    /// Builds the rights with which a session begins.
    pub fn of_login(server: &Server, account: &Arc<Account>) -> SessionRights {
        let active = roles_of_login(server, account);
        let now = Now { active, generation: None, held: BTreeSet::new(), account: account.clone() };
        SessionRights { changes: AtomicU64::new(0), now: Mutex::new(now) }
    }

    /// Activates the roles of the login again (COM_RESET_CONNECTION).
    pub fn begin_again(&self, server: &Server, account: &Arc<Account>) {
        let now = server.accounts.table().get(&account.name());
        let active = now.map(|account| roles_of_login(server, &account)).unwrap_or_default();
        self.activate(active);
    }

    fn activate(&self, active: BTreeSet<AccountName>) {
        let mut now = self.now.lock();
        now.active = active;
        now.generation = None;
        self.changes.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns a number that changes whenever the rights may have changed. Both of its parts only
    /// grow.
    pub fn generation(&self, server: &Server) -> u64 {
        server.accounts.generation() + self.changes.load(Ordering::Relaxed)
    }

    /// Returns the account of the login with the rights of its active roles, as they are now. An
    /// account that has been dropped since the login has no rights left.
    pub fn account(&self, server: &Server, login: &Account) -> Arc<Account> {
        let generation = server.accounts.generation();
        let mut now = self.now.lock();
        if now.generation != Some(generation) {
            let table = server.accounts.table();
            let name = login.name();
            now.account = Arc::new(match table.get(&name) {
                Some(account) => {
                    let held = table.roles_of(&account, &mandatory_roles(server));
                    now.held = now.active.intersection(&held).cloned().collect();
                    table.with_roles(&account, &now.held)
                }
                None => {
                    now.held.clear();
                    Account { user: name.0, host: name.1, ..Account::default() }
                }
            });
            now.generation = Some(generation);
        }
        debug_assert!(now.held.is_subset(&now.active), "only roles that are active give rights");
        now.account.clone()
    }

    /// Returns the active roles that the account has now.
    pub fn active_roles(&self, server: &Server, login: &Account) -> BTreeSet<AccountName> {
        // This brings `held` up to date.
        self.account(server, login);
        self.now.lock().held.clone()
    }

    /// Returns the roles that were activated, whether or not the account still has them.
    pub fn chosen_roles(&self) -> BTreeSet<AccountName> {
        self.now.lock().active.clone()
    }

    /// Activates the roles that SET ROLE chooses.
    ///
    /// # Errors
    /// Returns 3530 when a role was not granted to the account of the login.
    pub fn set_role(&self, server: &Server, login: &Account, choice: &RoleChoice) -> sql::Result<()> {
        let table = server.accounts.table();
        let own = login.name();
        let Some(account) = table.get(&own) else {
            self.activate(BTreeSet::new());
            return Ok(());
        };
        let name = |named: &Named| match named.is_current_user {
            true => own.clone(),
            false => roles::named(named),
        };
        let chosen = table.chosen_roles(&account, choice, &mandatory_roles(server), name);
        self.activate(chosen.map_err(|missing| not_granted(&missing, &own))?);
        Ok(())
    }
}

/// Returns the roles of a login: the default roles of the account and the mandatory ones, as in
/// MySQL 9.7, or all roles of the account with `activate_all_roles_on_login`.
fn roles_of_login(server: &Server, account: &Account) -> BTreeSet<AccountName> {
    let mandatory = mandatory_roles(server);
    let held = server.accounts.table().roles_of(account, &mandatory);
    if server.globals.named("activate_all_roles_on_login").is_on() {
        return held;
    }
    let mandatory = mandatory.into_iter().filter(|role| held.contains(role));
    account.default_roles.iter().cloned().chain(mandatory).collect()
}

/// Returns the roles that `mandatory_roles` gives to every account.
pub fn mandatory_roles(server: &Server) -> Vec<AccountName> {
    roles::mandatory(server.globals.named("mandatory_roles").text())
}
