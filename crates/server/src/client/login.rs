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

/// Lets a client in whose password was right, or returns the reason why not. The checks are in
/// MySQL's order.
pub fn let_in(server: &Server, account: Arc<Account>, arrival: &Arrival<'_>) -> Result<Login, Refusal> {
    let Arrival { user, host, .. } = *arrival;
    let encryption = arrival.stream.encryption();
    let certificate = || arrival.stream.client_certificate();
    if !is_met(&account.attributes.require, encryption.as_ref(), certificate) {
        let denied = access_denied(user, host, arrival.with_password);
        return Err(Refusal::Error(denied, Some(HostError::Ssl)));
    }
    if account.locked {
        server.status.locked_connects.add_one();
        let text = format!("Access denied for user '{user}'@'{host}'. Account is locked.");
        return Err(SqlError::new(3118, text).into());
    }
    let now_us = os::clock::now_us();
    let default_days = server.globals.named("default_password_lifetime").uint();
    let is_sandboxed = account.password_expired || account.attributes.has_outlived(default_days, now_us);
    if is_sandboxed
        && arrival.capabilities & cap::CAN_HANDLE_EXPIRED_PASSWORDS == 0
        && server.globals.named("disconnect_on_expired_password").is_on()
    {
        let text = "Your password has expired. To log in you must change it using a client that supports expired \
                    passwords.";
        return Err(SqlError::new(1862, text).into());
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
        let encryption = Encryption { version: "TLSv1.3".into(), cipher: "C".into() };
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
