//! The definers of the stored programs that a session runs. While a program runs, its definer's
//! rights are the session's.

use crate::accounts::Account;
use crate::client::session_rights::SessionRights;
use crate::server::Server;
use parking_lot::Mutex;
use sql::SqlError;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The account whose rights a program has.
struct Definer {
    account: Arc<Account>,
    rights: SessionRights,
    /// A number that tells the definer's plans from those of other definers.
    number: u64,
}

/// The definers of the running programs, the outermost first.
#[derive(Default)]
pub struct Definers {
    /// The number of the last definer; 0 means that there is none. Relaxed: only the connection's
    /// own thread uses it.
    number: AtomicU64,
    /// The stack of definers. Lock order: before the locks of the definers' rights.
    stack: Mutex<Vec<Definer>>,
}

impl Definers {
    /// Notes that a program of this definer begins.
    ///
    /// # Errors
    /// Returns 1449 (`ER_NO_SUCH_USER`) when the definer's account does not exist.
    pub fn push(&self, server: &Server, definer: (&str, &str)) -> sql::Result<()> {
        let name = (definer.0.to_owned(), definer.1.to_owned());
        let account = server.accounts.table().get(&name).ok_or_else(|| {
            let text =
                format!("The user specified as a definer ('{}'@'{}') does not exist", definer.0, definer.1);
            SqlError::new(1449, text)
        })?;
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        let number = hasher.finish() | 1;
        let rights = SessionRights::of_login(server, &account);
        self.stack.lock().push(Definer { account, rights, number });
        self.number.store(number, Ordering::Relaxed);
        Ok(())
    }

    /// Notes that the program that began last has ended. It has no definer here if privileges are
    /// checked only since it began (FLUSH PRIVILEGES).
    pub fn pop(&self) {
        let mut stack = self.stack.lock();
        stack.pop();
        self.number.store(stack.last().map_or(0, |definer| definer.number), Ordering::Relaxed);
    }

    /// Returns the account of the running program's definer, with its roles. `None` means that no
    /// program runs.
    pub fn account(&self, server: &Server) -> Option<Arc<Account>> {
        if self.number.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let stack = self.stack.lock();
        stack.last().map(|definer| definer.rights.account(server, &definer.account))
    }

    /// Returns the session's generation of rights, made distinct for the running program.
    pub fn generation(&self, of_session: u64) -> u64 {
        of_session.wrapping_add(self.number.load(Ordering::Relaxed))
    }
}
