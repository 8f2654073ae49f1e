//! The server's side of authentication: the account, its plugin, and the exchange of packets.

use crate::accounts::attributes::Locking;
use crate::accounts::{Account, Accounts, ClientHost, access_denied};
use crate::server::host_cache::HostError;
use os::clock::Stopwatch;
use protocol::auth::{NONCE_BYTES, caching_sha2, native, nonce_from_random, plugin};
use protocol::handshake::{AUTH_MORE_DATA, AuthSwitch, HandshakeResponse};
use protocol::packet::{Channel, PacketError};
use protocol::stream::Stream;
use sql::SqlError;
use std::sync::Arc;

/// The length in bytes of a password that a client encrypts with the server's 2048-bit key.
const RSA_CIPHER_BYTES: usize = 256;

/// The reason why a client was not let in.
#[derive(Debug)]
pub enum Refusal {
    /// The connection broke or the client gave up.
    Packet(PacketError),
    /// An error for the client, and the error that it counts as for the client's host.
    Error(SqlError, Option<HostError>),
    /// An error that is sent without its SQLSTATE, because it is not known whether the client can
    /// read one.
    Bare(SqlError),
}

impl Refusal {
    /// Returns the error that the refusal counts as for the client's host.
    pub fn counts_as(&self) -> Option<HostError> {
        match self {
            Refusal::Packet(_) => Some(HostError::Handshake),
            Refusal::Error(_, counts_as) => *counts_as,
            Refusal::Bare(e) => HostError::of(e),
        }
    }
}

impl From<PacketError> for Refusal {
    fn from(e: PacketError) -> Self {
        Refusal::Packet(e)
    }
}

impl From<SqlError> for Refusal {
    fn from(e: SqlError) -> Self {
        let counts_as = HostError::of(&e);
        Refusal::Error(e, counts_as)
    }
}

/// A client whose password was right.
pub struct Proved {
    /// The account that the client has proved to be.
    pub account: Arc<Account>,
    /// True when the client had to give a password.
    pub with_password: bool,
}

/// Builds error 3955, which says that the account is blocked after failed logins.
pub(super) fn blocked(user: &str, host: &str, days_left: i64, locking: Locking) -> SqlError {
    let days = |days: i64| if days < 0 { "unlimited".to_owned() } else { days.to_string() };
    let (all, left) = match locking.days {
        all if all < 0 => (days(-1), days(-1)),
        all => (days(all.into()), days(days_left)),
    };
    let text = format!(
        "Access denied for user '{user}'@'{host}'. Account is blocked for {all} day(s) ({left} day(s) remaining) due to \
         {} consecutive failed logins.",
        locking.attempts
    );
    SqlError::new(3955, text)
}

/// The account of the client's name if there is one, the account whose exchange is carried out, and
/// the client's answer.
type Answered = (Option<Arc<Account>>, Arc<Account>, Vec<u8>);

/// Reports whether the answer is that of the empty password. Some clients send one NUL for it.
fn is_no_password(answer: &[u8]) -> bool {
    matches!(answer, [] | [0])
}

/// Returns a random challenge.
pub fn new_nonce() -> [u8; NONCE_BYTES] {
    let mut random = [0; NONCE_BYTES];
    os::random::fill(&mut random);
    nonce_from_random(random)
}

/// The authentication of one client.
pub struct Authentication<'a> {
    /// The server's accounts, among which the client's is found.
    pub accounts: &'a Accounts,
    /// The host that the client connects from.
    pub host: &'a ClientHost,
    /// The connection to the client.
    pub channel: &'a mut Channel<Stream>,
    /// The challenge that the greeting sent to the client.
    pub nonce: [u8; NONCE_BYTES],
}

impl Authentication<'_> {
    /// Checks the client's response and returns its account.
    ///
    /// A name that no account has is treated like an account with a password, packet by packet and
    /// hash by hash, so that no client can find out by trying which accounts exist.
    pub fn run(&mut self, response: &HandshakeResponse) -> Result<Proved, Refusal> {
        let generation = self.accounts.generation();
        let answered = self.answer_to(response, false)?;
        self.check(response, answered, generation)
    }

    /// Checks the response of COM_CHANGE_USER. The client is always asked again, because the
    /// challenge is a new one.
    pub fn run_again(&mut self, response: &HandshakeResponse) -> Result<Proved, Refusal> {
        let generation = self.accounts.generation();
        let answered = self.answer_to(response, true)?;
        self.check(response, answered, generation)
    }

    fn check(
        &mut self,
        response: &HandshakeResponse,
        (found, account, answer): Answered,
        generation: u64,
    ) -> Result<Proved, Refusal> {
        let user = String::from_utf8_lossy(&response.user).into_owned();
        let host = self.host.name();
        let right = match account.plugin.as_str() {
            plugin::NATIVE => self.native(&account, &answer),
            plugin::CACHING_SHA2 => self.caching_sha2(&account, &answer, generation)?,
            other => return Err(SqlError::new(1524, format!("Plugin '{other}' is not loaded")).into()),
        };
        if let Some(account) = &found {
            let noted = self.accounts.usage.note_login(account, right, os::clock::now_us());
            noted.map_err(|(days_left, locking)| blocked(&user, &host, days_left, locking))?;
        }
        let with_password = !is_no_password(&answer);
        let denied = || access_denied(&user, &host, with_password);
        match found {
            Some(account) if right => Ok(Proved { account, with_password }),
            Some(_) => Err(denied().into()),
            // In MySQL, a name that no account has counts as an error of the plugin.
            None => Err(Refusal::Error(denied(), Some(HostError::AuthPlugin))),
        }
    }

    fn native(&self, account: &Account, answer: &[u8]) -> bool {
        let fits = |stored: &[u8]| native::verify(answer, &self.nonce, &String::from_utf8_lossy(stored));
        let retained = &account.attributes.retained_password;
        fits(&account.authentication_string) || (!retained.is_empty() && fits(retained))
    }

    /// Returns the account if there is one, the account whose exchange is carried out, and the
    /// client's answer for the plugin of the latter.
    fn answer_to(&mut self, response: &HandshakeResponse, asks_anew: bool) -> Result<Answered, Refusal> {
        let user = String::from_utf8_lossy(&response.user);
        let found = self.accounts.table().find(&user, self.host);
        let account = match &found {
            Some(account) => account.clone(),
            None => Arc::new(self.in_own_time(|accounts| accounts.nobody(&user))),
        };
        let answer = self.answer(&account, response, asks_anew)?;
        Ok((found, account, answer))
    }

    /// Returns the client's answer for the account's plugin, after a switch to that plugin if the
    /// client began with another one.
    fn answer(
        &mut self,
        account: &Account,
        response: &HandshakeResponse,
        asks_anew: bool,
    ) -> Result<Vec<u8>, Refusal> {
        let named = response.plugin.as_slice();
        let is_right_plugin = named == account.plugin.as_bytes();
        if response.capabilities & protocol::capability::PLUGIN_AUTH == 0 {
            // Such a client knows only mysql_native_password, and the greeting's nonce was meant
            // for that plugin too.
            if account.plugin == plugin::NATIVE {
                return Ok(response.auth_response.clone());
            }
            let text = "Client does not support authentication protocol requested by server; consider upgrading \
                        MySQL client";
            return Err(SqlError::new(1251, text).into());
        }
        // MariaDB's library names the plugin that it prefers, and leaves the answer empty until it
        // is asked if the greeting's nonce was for another plugin.
        let says_nothing = response.auth_response.is_empty() && !account.authentication_string.is_empty();
        if is_right_plugin && !says_nothing && !asks_anew {
            return Ok(response.auth_response.clone());
        }
        self.nonce = new_nonce();
        let switch = AuthSwitch { plugin: account.plugin.clone(), nonce: self.nonce.to_vec() };
        self.send(|out| switch.encode(out))?;
        Ok(self.channel.read_packet()?.to_vec())
    }

    fn caching_sha2(&mut self, account: &Account, answer: &[u8], generation: u64) -> Result<bool, Refusal> {
        if is_no_password(answer) {
            return Ok(account.authentication_string.is_empty());
        }
        if answer.len() != caching_sha2::SCRAMBLE_BYTES {
            return Ok(false);
        }
        let name = account.name();
        // For an account that is not in the cache or does not exist, the comparison uses a digest
        // that no password has.
        let cached = self.accounts.cached(&name);
        let digests = if cached.is_empty() { &[caching_sha2::NO_DIGEST] } else { cached.as_slice() };
        let fits = digests.iter().any(|digest| caching_sha2::verify_scramble(answer, &self.nonce, digest));
        if fits && !cached.is_empty() {
            self.send(|out| out.extend_from_slice(&[AUTH_MORE_DATA, caching_sha2::FAST_AUTH_SUCCESS]))?;
            return Ok(true);
        }
        let password = self.full_password()?;
        let stored = match account.authentication_string.as_slice() {
            // No password fits this value, and the check takes as long as for any other account.
            b"" => caching_sha2::NO_PASSWORD,
            stored => stored,
        };
        let retained = &account.attributes.retained_password;
        let right = caching_sha2::verify_password(&password, stored)
            || (!retained.is_empty() && caching_sha2::verify_password(&password, retained));
        if right {
            self.accounts.remember(name, caching_sha2::cached_digest(&password), generation);
        }
        Ok(right)
    }

    /// Asks for the password itself: in clear text over TLS or a Unix socket, encrypted with the
    /// server's RSA key over plain TCP.
    fn full_password(&mut self) -> Result<Vec<u8>, Refusal> {
        self.send(|out| out.extend_from_slice(&[AUTH_MORE_DATA, caching_sha2::PERFORM_FULL_AUTHENTICATION]))?;
        let packet = self.channel.read_packet()?.to_vec();
        if self.channel.stream().is_secure() {
            return Ok(packet.strip_suffix(&[0]).unwrap_or(&packet).to_vec());
        }
        // MariaDB's clients send the password in clear text over the loopback too, where no network
        // sees it.
        if let (true, Some(password)) = (self.host.is_loopback(), packet.strip_suffix(&[0]))
            && packet.len() < RSA_CIPHER_BYTES
        {
            return Ok(password.to_vec());
        }
        let key = self.in_own_time(Accounts::rsa_key);
        let key = key.map_err(|e| SqlError::new(1105, e.to_string()))?;
        let encrypted = if packet == [caching_sha2::REQUEST_PUBLIC_KEY] {
            self.send(|out| {
                out.push(AUTH_MORE_DATA);
                out.extend_from_slice(key.public_pem().as_bytes());
            })?;
            self.channel.read_packet()?.to_vec()
        } else {
            packet
        };
        // A value that cannot be decrypted counts as a wrong password, and the client is not told
        // why.
        Ok(key.decrypt_password(&encrypted, &self.nonce).unwrap_or_default())
    }

    /// Does work that may have to wait for the RSA key, which a new server makes after its start.
    /// The time does not count against the client's time limit.
    fn in_own_time<T>(&mut self, work: impl FnOnce(&Accounts) -> T) -> T {
        let since = Stopwatch::start();
        let outcome = work(self.accounts);
        self.channel.stream_mut().allow_for(since.elapsed());
        outcome
    }

    fn send(&mut self, fill: impl FnOnce(&mut Vec<u8>)) -> Result<(), Refusal> {
        self.channel.write_packet(fill)?;
        Ok(self.channel.flush()?)
    }
}

#[cfg(test)]
mod tests;
