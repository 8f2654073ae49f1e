//! One client: where it comes from, who it is, what belongs to its session, and what it may do.
//!
//! `peer` tells the client's host, `tls` the certificate that it is shown. `authenticate` proves
//! the account, and `login` asks what has to hold beside that. `connection_host` is what belongs to
//! the session then, with the roles that are active in it (`session_rights`) and the definers of
//! the programs that it runs (`definers`); `checks` are the privileges that it is asked for.

pub mod authenticate;
pub mod checks;
pub mod connection_host;
pub mod definers;
pub mod held_locks;
pub mod login;
pub mod peer;
pub mod secrets;
pub mod session_rights;
pub mod tls;
