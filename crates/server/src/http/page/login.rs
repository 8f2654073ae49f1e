//! The login of the page: an account of the server, by HTTP's Basic scheme.

use crate::accounts::{Account, Privileges};
use crate::client::clear_password::{Credentials, prove};
use crate::client::session_rights::SessionRights;
use crate::http::answer::{Answer, Realm, Status};
use crate::http::request::Request;
use crate::query_log::note_page;
use crate::server::Server;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sql::SqlError;
use std::net::IpAddr;
use std::sync::Arc;

/// The global privileges without which nobody gets the page. Over SQL they open the process list
/// and the state of replication.
const NEEDED: [&str; 2] = ["PROCESS", "REPLICATION CLIENT"];

/// A client that may see the page, and the parts of it that take further privileges.
#[derive(Debug, Clone, Copy)]
pub struct Reader {
    /// True when the client may see the replicas of this server, which takes REPLICATION SLAVE as
    /// SHOW REPLICAS does.
    pub sees_replicas: bool,
    /// True when the client may read performance_schema's table of digests.
    pub sees_statements: bool,
}

/// Returns what the client of a request may see.
///
/// # Errors
/// Returns the answer to a client that may not see the page.
pub fn reader(server: &Server, request: &Request, peer: IpAddr) -> Result<Reader, Answer> {
    if server.grants_are_skipped() {
        return match peer.to_canonical().is_loopback() {
            true => Ok(Reader { sees_replicas: true, sees_statements: true }),
            false => Err(Answer::line(
                Status::Forbidden,
                "with skip_grant_tables the page is for this machine alone",
            )),
        };
    }
    let Some((user, password)) = request.authorization.as_deref().and_then(credentials) else {
        return Err(asks("an account of the server with PROCESS and REPLICATION CLIENT is needed"));
    };
    let given = Credentials { user: &user, password: &password };
    let ip = peer.to_canonical();
    let login = prove(server, peer, &given).map_err(|error| {
        note_page(server, ip, &user, Err(&error));
        refused(error)
    })?;
    let rights = SessionRights::of_login(server, &login).account(server, &login);
    match what_is_seen(&rights) {
        Some(reader) => {
            note_page(server, ip, &user, Ok(&login));
            Ok(reader)
        }
        None => {
            let needed = "the PROCESS and REPLICATION CLIENT privileges";
            let text = format!("Access denied; you need (at least) {needed} for this page");
            let error = SqlError::new(1227, text);
            note_page(server, ip, &user, Err(&error));
            Err(refused(error))
        }
    }
}

/// Returns what an account with these rights may see. `None` means nothing.
fn what_is_seen(rights: &Arc<Account>) -> Option<Reader> {
    let has = |names: &[&str]| rights.global.contains(Privileges::of_names(names));
    has(&NEEDED).then(|| Reader {
        sees_replicas: has(&["REPLICATION SLAVE"]),
        sees_statements: rights.allows_table(
            Privileges::of_names(&["SELECT"]),
            "performance_schema",
            "events_statements_summary_by_digest",
        ),
    })
}

/// Returns the user and the password of the field `Authorization`. `None` means that they cannot be
/// read from it.
fn credentials(field: &str) -> Option<(String, Vec<u8>)> {
    let (scheme, encoded) = field.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let bytes = STANDARD.decode(encoded.trim()).ok()?;
    let colon = bytes.iter().position(|byte| *byte == b':')?;
    let user = String::from_utf8(bytes[..colon].to_vec()).ok()?;
    Some((user, bytes[colon + 1..].to_vec()))
}

/// Asks for a login.
fn asks(why: &str) -> Answer {
    Answer { realm: Realm::Page, ..Answer::line(Status::Unauthorized, why) }
}

/// Returns the answer to a client whose login was refused. After a wrong password a browser asks
/// for another one.
fn refused(error: SqlError) -> Answer {
    match error.code {
        1045 => asks(&error.message),
        _ => Answer::line(Status::Forbidden, error.message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_read_from_the_basic_scheme() {
        let read = |user: &str, password: &str| {
            let encoded = STANDARD.encode(format!("{user}:{password}"));
            credentials(&format!("Basic {encoded}"))
        };
        assert_eq!(read("a", "b:c"), Some(("a".to_owned(), b"b:c".to_vec())));
        assert_eq!(read("", ""), Some((String::new(), Vec::new())));
        assert_eq!(read("ü", "é"), Some(("ü".to_owned(), "é".as_bytes().to_vec())));
        for wrong in ["", "Basic", "Basic !", "Bearer YTpi", "Basic YWI=", "Basic //86YQ=="] {
            assert_eq!(credentials(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn both_privileges_are_needed_and_parts_take_more() {
        let seen = |names: &[&str]| {
            let account = Account { global: Privileges::of_names(names), ..Account::default() };
            what_is_seen(&Arc::new(account)).map(|reader| (reader.sees_replicas, reader.sees_statements))
        };
        assert_eq!([seen(&[]), seen(&["PROCESS"]), seen(&["REPLICATION CLIENT"])], [None; 3]);
        assert_eq!(seen(&["SELECT", "SUPER", "REPLICATION SLAVE"]), None);
        assert_eq!(seen(&NEEDED), Some((false, false)));
        assert_eq!(seen(&["PROCESS", "REPLICATION CLIENT", "REPLICATION SLAVE"]), Some((true, false)));
        assert_eq!(seen(&["PROCESS", "REPLICATION CLIENT", "SELECT"]), Some((false, true)));
    }
}
