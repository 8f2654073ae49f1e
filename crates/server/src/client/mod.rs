//! One client: its host, its account, the state of its session, and its privileges.
//!
//! `peer` finds the client's host, and `tls` the certificate that it is shown. `authenticate`
//! proves which account it is (for the web page, which has no session, `clear_password` does), and
//! `login` checks what must hold besides. `connection_host` is the state of its session, with the
//! roles that are active in it (`session_rights`) and the definers of the programs that it runs
//! (`definers`). `checks` are the checks of its privileges.

pub mod authenticate;
pub mod checks;
pub mod clear_password;
pub mod connection_host;
pub mod definers;
pub mod held_locks;
pub mod login;
pub mod peer;
pub mod secrets;
pub mod session_rights;
pub mod tls;
