//! Sessions that change a server at random until a test has seen enough.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use os::clock::sleep;
use protocol::client::{Client, ConnectOptions};

/// Threads that work until this value is dropped.
pub struct Work {
    /// The threads look at it between two statements. It guards no data, so relaxed memory order is
    /// enough.
    ends: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Work {
    /// Starts one thread for each of the works, which return when they are told to end.
    pub fn start<W: FnOnce(&AtomicBool) + Send + 'static>(works: impl IntoIterator<Item = W>) -> Work {
        let ends = Arc::new(AtomicBool::new(false));
        let thread = |work: W| {
            let ends = Arc::clone(&ends);
            os::thread::spawn("work", move || work(&ends))
        };
        Work { threads: works.into_iter().map(thread).collect(), ends }
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let ended = thread.join();
            assert!(ended.is_ok() || std::thread::panicking(), "the work went on to its end");
        }
    }
}

/// Runs a statement that the server may refuse: tables come and go, and rows take each other's
/// keys.
///
/// # Panics
/// Panics when the connection is lost.
pub fn try_statement(session: &mut Client, sql: &str) {
    if let Err(error) = session.query(sql) {
        assert!(error.server_code().is_some(), "{sql}: {error}");
    }
}

/// A session at a server that is killed now and then. It connects again as soon as the server is
/// back.
pub struct Lasting {
    options: ConnectOptions,
    session: Option<Client>,
}

impl Lasting {
    /// Returns a session that connects before its first statement.
    pub fn new(options: ConnectOptions) -> Lasting {
        Lasting { options, session: None }
    }

    /// Runs a statement that the server may refuse, and that is lost if the server is killed
    /// meanwhile. A server that is not there is waited for until `ended`.
    pub fn try_statement(&mut self, sql: &str, ended: &AtomicBool) {
        while self.session.is_none() && !ended.load(Ordering::Relaxed) {
            self.session = Client::connect(&self.options).ok();
            if self.session.is_none() {
                sleep(Duration::from_millis(20));
            }
        }
        let Some(session) = &mut self.session else { return };
        if session.query(sql).is_err_and(|error| error.server_code().is_none()) {
            self.session = None;
        }
    }
}
