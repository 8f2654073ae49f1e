//! The checks of a client after its password: whether the account is locked, how the connection is
//! encrypted, whether the password is too old, and whether the account has reached its limits.

use crate::accounts::usage::UserPlace;
use crate::accounts::{Account, access_denied};
use crate::client::authenticate::Refusal;
use crate::server::Server;
use crate::server::host_cache::HostError;
use protocol::capability as cap;
use protocol::stream::{ClientCertificate, Encryption, Stream};
use sql::SqlError;
use sql::admin::TlsRequirement;
use std::sync::Arc;

/// The login of a client that may come in.
pub struct Login {
    /// The account of the login.
    pub account: Arc<Account>,
    /// The connection's place among the connections of its account. `None` means that grant tables
    /// are skipped.
    pub place: Option<UserPlace>,
    /// True when the client must change its password before anything else.
    pub is_sandboxed: bool,
}

impl Login {
    /// Builds the login of any client under `--skip-grant-tables`.
    pub fn unchecked(account: Arc<Account>) -> Login {
        Login { account, place: None, is_sandboxed: false }
    }
}

/// A client that has authenticated, and its connection.
pub struct Arrival<'a> {
    /// The user name that the client gave.
    pub user: &'a str,
    /// The host that the client connects from.
    pub host: &'a str,
    /// The capabilities of the protocol that the client has.
    pub capabilities: cap::Capabilities,
    /// The client's connection.
    pub stream: &'a Stream,
    /// True when the client tried a password.
    pub with_password: bool,
}

/// The names with which an error tells a client.
pub struct Who<'a> {
    /// The user name that the client gave.
    pub user: &'a str,
    /// The host that the client connects from.
    pub host: &'a str,
    /// True when the client tried a password.
    pub with_password: bool,
}

/// Lets a client in whose password was right, or returns the reason why not. The checks are in
/// MySQL's order.
pub fn let_in(server: &Server, account: Arc<Account>, arrival: &Arrival<'_>) -> Result<Login, Refusal> {
    let Arrival { user, host, with_password, .. } = *arrival;
    let encryption = arrival.stream.encryption();
    let certificate = || arrival.stream.client_certificate();
    let is_met = is_met(&account.attributes.require, encryption.as_ref(), certificate);
    check_open(server, &account, &Who { user, host, with_password }, is_met)?;
    let now_us = os::clock::now_us();
    let is_sandboxed = has_expired(server, &account, now_us);
    if is_sandboxed
        && arrival.capabilities & cap::CAN_HANDLE_EXPIRED_PASSWORDS == 0
        && server.globals.named("disconnect_on_expired_password").is_on()
    {
        return Err(expired().into());
    }
    let max_user_connections = match account.administers(&["CONNECTION_ADMIN"]) {
        true => 0,
        false => server.globals.named("max_user_connections").uint(),
    };
    let place = server
        .accounts
        .usage
        .take_place(user, &account, max_user_connections, now_us)
        .map_err(|(told, counts_as)| Refusal::Error(told, Some(counts_as)))?;
    Ok(Login { account, place: Some(place), is_sandboxed })
}

/// Checks a client whose password was right, that only looks at the server's figures, and whose
/// connection is not encrypted.
///
/// # Errors
/// Returns the reasons of [`let_in`], but for the limits of connections. A client whose password
/// has expired is always refused, since it cannot change the password there.
pub fn let_look(server: &Server, account: &Account, who: &Who<'_>) -> Result<(), Refusal> {
    check_open(server, account, who, is_met(&account.attributes.require, None, || None))?;
    match has_expired(server, account, os::clock::now_us()) {
        true => Err(expired().into()),
        false => Ok(()),
    }
}

/// Checks that the connection meets the account's REQUIRE clause, and that the account is not
/// locked.
fn check_open(server: &Server, account: &Account, who: &Who<'_>, is_met: bool) -> Result<(), Refusal> {
    let Who { user, host, with_password } = *who;
    if !is_met {
        let denied = access_denied(user, host, with_password);
        return Err(Refusal::Error(denied, Some(HostError::Ssl)));
    }
    if account.locked {
        server.status.locked_connects.add_one();
        let text = format!("Access denied for user '{user}'@'{host}'. Account is locked.");
        return Err(SqlError::new(3118, text).into());
    }
    Ok(())
}

/// Reports whether the account's password must be changed before anything else.
fn has_expired(server: &Server, account: &Account, now_us: u64) -> bool {
    let default_days = server.globals.named("default_password_lifetime").uint();
    account.password_expired || account.attributes.has_outlived(default_days, now_us)
}

/// Builds error 1862: the password has expired, and the client cannot change it.
fn expired() -> SqlError {
    let text = "Your password has expired. To log in you must change it using a client that supports expired \
                passwords.";
    SqlError::new(1862, text)
}

/// Reports whether the connection meets the account's REQUIRE clause.
fn is_met(
    require: &TlsRequirement,
    encryption: Option<&Encryption>,
    certificate: impl FnOnce() -> Option<ClientCertificate>,
) -> bool {
    match require {
        TlsRequirement::None => true,
        TlsRequirement::Ssl => encryption.is_some(),
        TlsRequirement::X509 => certificate().is_some(),
        TlsRequirement::Specified { cipher, issuer, subject } => {
            let is_wanted = |wanted: &str, is: &str| wanted.is_empty() || wanted == is;
            let Some(encryption) = encryption.filter(|it| is_wanted(cipher, &it.cipher)) else {
                return false;
            };
            debug_assert!(!encryption.version.is_empty());
            if issuer.is_empty() && subject.is_empty() {
                return true;
            }
            certificate().is_some_and(|it| is_wanted(issuer, &it.issuer) && is_wanted(subject, &it.subject))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_are_met_by_encryption_and_certificates() {
        let encryption = Encryption { version: "TLSv1.3".into(), cipher: "C".into(), is_resumed: false };
        let certificate = ClientCertificate { issuer: "/CN=i".into(), subject: "/CN=s".into() };
        let specified = |cipher: &str, issuer: &str, subject: &str| TlsRequirement::Specified {
            cipher: cipher.into(),
            issuer: issuer.into(),
            subject: subject.into(),
        };
        // Each requirement with whether these meet it: no encryption, encryption, encryption with a
        // certificate.
        for (require, plain, tls, with_certificate) in [
            (TlsRequirement::None, true, true, true),
            (TlsRequirement::Ssl, false, true, true),
            (TlsRequirement::X509, false, false, true),
            (specified("C", "", ""), false, true, true),
            (specified("D", "", ""), false, false, false),
            (specified("", "/CN=i", ""), false, false, true),
            (specified("C", "/CN=i", "/CN=s"), false, false, true),
            (specified("C", "/CN=i", "/CN=t"), false, false, false),
            (specified("", "", ""), false, true, true),
        ] {
            assert_eq!(is_met(&require, None, || None), plain, "{require:?}");
            assert_eq!(is_met(&require, Some(&encryption), || None), tls, "{require:?}");
            assert_eq!(
                is_met(&require, Some(&encryption), || Some(certificate.clone())),
                with_certificate,
                "{require:?}"
            );
        }
    }
}
