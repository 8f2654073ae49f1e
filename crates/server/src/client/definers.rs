//! The definers of the stored programs that a session runs: while one runs, its definer's rights
//! are the session's.

use crate::accounts::Account;
use crate::client::session_rights::SessionRights;
use crate::server::Server;
use parking_lot::Mutex;
use sql::SqlError;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Whose rights a program has.
struct Definer {
    account: Arc<Account>,
    rights: SessionRights,
    /// Tells its plans from those of others.
    number: u64,
}

/// The definers of the programs that run, the outermost first.
#[derive(Default)]
pub struct Definers {
    /// The number of the last one, 0 without one. Relaxed: of the connection's own thread.
    number: AtomicU64,
    /// Lock order: held alone.
    stack: Mutex<Vec<Definer>>,
}

impl Definers {
    /// A program of this definer begins.
    ///
    /// # Errors
    /// 1449 when there is no such account.
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

    /// The program that began last has ended. It has no definer here if privileges have been asked
    /// for only since it began (FLUSH PRIVILEGES).
    pub fn pop(&self) {
        let mut stack = self.stack.lock();
        stack.pop();
        self.number.store(stack.last().map_or(0, |definer| definer.number), Ordering::Relaxed);
    }

    /// The account of the program that runs, with its roles; `None`: none runs.
    pub fn account(&self, server: &Server) -> Option<Arc<Account>> {
        if self.number.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let stack = self.stack.lock();
        stack.last().map(|definer| definer.rights.account(server, &definer.account))
    }

    /// The session's generation of rights as that of the program that runs.
    pub fn generation(&self, of_session: u64) -> u64 {
        of_session.wrapping_add(self.number.load(Ordering::Relaxed))
    }
}
