//! The login of a client that sends its password in clear text and gets no session: the web page's.
//!
//! The checks, their order and what they count are those of a connection of MySQL's protocol. Two
//! of them are left out, since there is no session: the client takes no place under
//! `max_user_connections`, and none under `max_connections`.

use super::authenticate::{Refusal, blocked, new_nonce};
use super::{login, peer};
use crate::accounts::{Account, ClientHost, access_denied};
use crate::server::Server;
use crate::server::host_cache::HostError;
use protocol::auth::{caching_sha2, native, plugin};
use sql::SqlError;
use std::net::IpAddr;
use std::sync::Arc;

/// The client's name and its password.
pub struct Credentials<'a> {
    /// The name of the user.
    pub user: &'a str,
    /// The password, which is empty for an account without one.
    pub password: &'a [u8],
}

/// Returns the account that a client from this address has proved to be. A client that is refused
/// is counted for the server and for its host.
///
/// # Errors
/// Returns the error that a client of MySQL's protocol would get.
pub fn prove(server: &Server, ip: IpAddr, given: &Credentials<'_>) -> Result<Arc<Account>, SqlError> {
    let ip = ip.to_canonical();
    checked(server, ip, given).map_err(|refusal| {
        if let Some(error) = refusal.counts_as() {
            server.hosts.count(ip, error, os::clock::now_us());
        }
        server.status.aborted_connects.add_one();
        let told = match refusal {
            Refusal::Error(told, _) | Refusal::Bare(told) => told,
            Refusal::Packet(_) => SqlError::new(1158, "Got an error reading communication packets"),
        };
        if told.code == 1045 {
            log::info!("{}", told.message);
        }
        told
    })
}

fn checked(server: &Server, ip: IpAddr, given: &Credentials<'_>) -> Result<Arc<Account>, Refusal> {
    if server.globals.named("require_secure_transport").is_on() {
        let text = "Connections using insecure transport are prohibited while --require_secure_transport=ON.";
        return Err(SqlError::new(3159, text).into());
    }
    let host = peer::host_of(server, ip).map_err(Refusal::Bare)?;
    let account = with_right_password(server, &host, given)?;
    let who = login::Who { user: given.user, host: &host.name(), with_password: !given.password.is_empty() };
    login::let_look(server, &account, &who)?;
    server.hosts.let_in(ip);
    Ok(account)
}

/// A name that no account has is treated like an account with a password, hash by hash, so that no
/// client can find out by trying which accounts exist.
fn with_right_password(
    server: &Server,
    host: &ClientHost,
    given: &Credentials<'_>,
) -> Result<Arc<Account>, Refusal> {
    let accounts = &server.accounts;
    let generation = accounts.generation();
    let found = accounts.table().find(given.user, host);
    let account = found.clone().unwrap_or_else(|| Arc::new(accounts.nobody(given.user)));
    let right = match account.plugin.as_str() {
        plugin::NATIVE => is_native(&account, given.password),
        plugin::CACHING_SHA2 => is_caching_sha2(server, &account, given.password, generation),
        other => return Err(SqlError::new(1524, format!("Plugin '{other}' is not loaded")).into()),
    };
    if let Some(account) = &found {
        let noted = accounts.usage.note_login(account, right, os::clock::now_us());
        noted.map_err(|(days_left, locking)| blocked(given.user, &host.name(), days_left, locking))?;
    }
    match found {
        Some(account) if right => Ok(account),
        found => {
            let denied = access_denied(given.user, &host.name(), !given.password.is_empty());
            let counts_as = if found.is_some() { HostError::Authentication } else { HostError::AuthPlugin };
            Err(Refusal::Error(denied, Some(counts_as)))
        }
    }
}

fn is_native(account: &Account, password: &[u8]) -> bool {
    let nonce = new_nonce();
    let answer = native::scramble(password, &nonce);
    let fits = |stored: &[u8]| native::verify(&answer, &nonce, &String::from_utf8_lossy(stored));
    let retained = &account.attributes.retained_password;
    fits(&account.authentication_string) || (!retained.is_empty() && fits(retained))
}

/// A password that was right before is compared with the cached digest, because a full check takes
/// milliseconds of the processor's time.
fn is_caching_sha2(server: &Server, account: &Account, password: &[u8], generation: u64) -> bool {
    if password.is_empty() {
        return account.authentication_string.is_empty();
    }
    let name = account.name();
    let nonce = new_nonce();
    let answer = caching_sha2::scramble(password, &nonce);
    let cached = server.accounts.cached(&name);
    let fits = |digest| caching_sha2::verify_scramble(&answer, &nonce, digest);
    if cached.iter().any(fits) {
        return true;
    }
    let stored = match account.authentication_string.as_slice() {
        // No password fits this value, and the check takes as long as for any other account.
        b"" => caching_sha2::NO_PASSWORD,
        stored => stored,
    };
    let retained = &account.attributes.retained_password;
    let right = caching_sha2::verify_password(password, stored)
        || (!retained.is_empty() && caching_sha2::verify_password(password, retained));
    if right {
        server.accounts.remember(name, caching_sha2::cached_digest(password), generation);
    }
    right
}
