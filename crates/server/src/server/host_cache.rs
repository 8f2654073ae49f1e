//! `performance_schema.host_cache`: the facts known about the hosts that clients come from, by
//! address.
//!
//! A host's name is looked up once, as long as its entry is kept. An entry also counts the errors
//! of the host's connections, and a host with `max_connect_errors` broken handshakes since its last
//! good login is blocked (error 1129). As in MySQL, loopback addresses have no entries, and with
//! `skip_name_resolve` no address has one, so these are never blocked.

use parking_lot::Mutex;
use sql::SqlError;
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

/// The kinds of errors of a connection, in the order of the table's columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the table's columns")]
pub enum HostError {
    HostBlocked,
    NameinfoTransient,
    NameinfoPermanent,
    Format,
    AddrinfoTransient,
    AddrinfoPermanent,
    Fcrdns,
    HostAcl,
    NoAuthPlugin,
    AuthPlugin,
    Handshake,
    ProxyUser,
    ProxyUserAcl,
    Authentication,
    Ssl,
    MaxUserConnections,
    MaxUserConnectionsPerHour,
    DefaultDatabase,
    InitConnect,
    Local,
    AccountLocked,
    TemporaryAccountLocked,
    Unknown,
}

/// The number of kinds of errors.
const KINDS: usize = HostError::Unknown as usize + 1;

/// The columns that count errors, by [`HostError`].
pub const COUNTS: [&str; KINDS] = [
    "COUNT_HOST_BLOCKED_ERRORS",
    "COUNT_NAMEINFO_TRANSIENT_ERRORS",
    "COUNT_NAMEINFO_PERMANENT_ERRORS",
    "COUNT_FORMAT_ERRORS",
    "COUNT_ADDRINFO_TRANSIENT_ERRORS",
    "COUNT_ADDRINFO_PERMANENT_ERRORS",
    "COUNT_FCRDNS_ERRORS",
    "COUNT_HOST_ACL_ERRORS",
    "COUNT_NO_AUTH_PLUGIN_ERRORS",
    "COUNT_AUTH_PLUGIN_ERRORS",
    "COUNT_HANDSHAKE_ERRORS",
    "COUNT_PROXY_USER_ERRORS",
    "COUNT_PROXY_USER_ACL_ERRORS",
    "COUNT_AUTHENTICATION_ERRORS",
    "COUNT_SSL_ERRORS",
    "COUNT_MAX_USER_CONNECTIONS_ERRORS",
    "COUNT_MAX_USER_CONNECTIONS_PER_HOUR_ERRORS",
    "COUNT_DEFAULT_DATABASE_ERRORS",
    "COUNT_INIT_CONNECT_ERRORS",
    "COUNT_LOCAL_ERRORS",
    "COUNT_ACCOUNT_LOCKED_ERRORS",
    "COUNT_TEMPORARY_ACCOUNT_LOCKED_ERRORS",
    "COUNT_UNKNOWN_ERRORS",
];

impl HostError {
    /// Returns the kind of an error that a client gets while it logs in, if the error's number
    /// tells the kind.
    pub fn of(told: &SqlError) -> Option<HostError> {
        match told.code {
            1043 | 1251 => Some(HostError::Handshake),
            1044 | 1049 => Some(HostError::DefaultDatabase),
            1045 | 1862 => Some(HostError::Authentication),
            1524 => Some(HostError::NoAuthPlugin),
            3118 => Some(HostError::AccountLocked),
            3955 => Some(HostError::TemporaryAccountLocked),
            _ => None,
        }
    }
}

/// The resolver's answer about an address.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// The host's name.
    pub name: Option<String>,
    /// True when the name belongs to the host, or it is certain that the host has none. It is then
    /// not looked up again.
    pub is_validated: bool,
    /// The kind of error with which the look-up of the name has ended.
    pub error: Option<HostError>,
}

/// The entry of a host in the cache.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostEntry {
    /// The resolver's last answer.
    pub found: Found,
    /// The number of broken handshakes since the last good login.
    pub connect_errors: u64,
    /// The numbers of errors, by [`HostError`].
    pub counts: [u64; KINDS],
    /// The time when the host's first client came, in microseconds of Unix time.
    pub first_seen_us: u64,
    /// The time when the host's last client came, in microseconds of Unix time.
    pub last_seen_us: u64,
    /// The time of the host's first error, in microseconds of Unix time; 0 means that there was
    /// none.
    pub first_error_us: u64,
    /// The time of the host's last error, in microseconds of Unix time; 0 means that there was
    /// none.
    pub last_error_us: u64,
    /// A number that is the larger, the later the entry was used.
    used: u64,
}

impl HostEntry {
    fn count(&mut self, error: HostError, now_us: u64) {
        self.counts[error as usize] += 1;
        if error == HostError::Handshake {
            self.connect_errors += 1;
        }
        if self.first_error_us == 0 {
            self.first_error_us = now_us;
        }
        self.last_error_us = now_us;
    }
}

/// The cache's answer for a connection from an address.
#[derive(Debug, PartialEq, Eq)]
pub enum Met {
    /// The host is blocked after too many connection errors.
    Blocked,
    /// The host's name; `None` means that it has none.
    Known(Option<String>),
    /// The resolver has to be asked.
    Unknown,
}

/// The hosts that clients came from last.
#[derive(Debug, Default)]
pub struct HostCache(Mutex<Hosts>);

/// The contents of the cache. Its lock is held alone.
#[derive(Debug, Default)]
struct Hosts {
    /// The value of `host_cache_size`.
    limit: usize,
    entries: HashMap<IpAddr, HostEntry>,
    /// The addresses, in the order in which they were last used.
    by_use: BTreeMap<u64, IpAddr>,
    uses: u64,
}

impl Hosts {
    fn use_entry(&mut self, ip: IpAddr) -> Option<&mut HostEntry> {
        let entry = self.entries.get_mut(&ip)?;
        self.uses += 1;
        self.by_use.remove(&entry.used);
        self.by_use.insert(self.uses, ip);
        entry.used = self.uses;
        Some(entry)
    }

    fn clear(&mut self) {
        self.entries.clear();
        self.by_use.clear();
    }
}

impl HostCache {
    /// Notes that a client has come from this address, and returns what is known about its host.
    pub fn meet(&self, ip: IpAddr, max_connect_errors: u64, now_us: u64) -> Met {
        let mut hosts = self.0.lock();
        let Some(entry) = hosts.use_entry(ip) else { return Met::Unknown };
        entry.last_seen_us = now_us;
        if entry.connect_errors >= max_connect_errors {
            entry.count(HostError::HostBlocked, now_us);
            return Met::Blocked;
        }
        match entry.found.is_validated {
            true => Met::Known(entry.found.name.clone()),
            false => Met::Unknown,
        }
    }

    /// Keeps the resolver's answer about an address. The host that was used longest ago makes room
    /// for it.
    pub fn add(&self, ip: IpAddr, found: Found, now_us: u64) {
        let mut hosts = self.0.lock();
        if hosts.limit == 0 {
            return;
        }
        if !hosts.entries.contains_key(&ip) {
            if hosts.entries.len() >= hosts.limit
                && let Some((_, oldest)) = hosts.by_use.pop_first()
            {
                hosts.entries.remove(&oldest);
            }
            let entry = HostEntry { first_seen_us: now_us, last_seen_us: now_us, ..HostEntry::default() };
            hosts.entries.insert(ip, entry);
        }
        let entry = hosts.use_entry(ip).expect("it was there or has been made");
        if let Some(error) = found.error {
            entry.count(error, now_us);
        }
        entry.found = found;
        assert!(hosts.entries.len() <= hosts.limit, "the least recently used host makes room");
        assert_eq!(hosts.by_use.len(), hosts.entries.len(), "each host has its place in the order of use");
    }

    /// Counts an error of a connection from this address.
    pub fn count(&self, ip: IpAddr, error: HostError, now_us: u64) {
        if let Some(entry) = self.0.lock().use_entry(ip) {
            entry.count(error, now_us);
        }
    }

    /// Notes that a client from this address has been let in, which resets the count of broken
    /// handshakes.
    pub fn let_in(&self, ip: IpAddr) {
        if let Some(entry) = self.0.lock().use_entry(ip) {
            entry.connect_errors = 0;
        }
    }

    /// Sets `host_cache_size`, the number of hosts that are kept, and forgets all present ones.
    pub fn resize(&self, limit: usize) {
        let mut hosts = self.0.lock();
        hosts.limit = limit;
        hosts.clear();
    }

    /// Forgets all hosts, so that none is blocked any more.
    pub fn clear(&self) {
        self.0.lock().clear();
    }

    /// Returns all hosts, the last used ones first.
    pub fn all(&self) -> Vec<(IpAddr, HostEntry)> {
        let hosts = self.0.lock();
        hosts.by_use.values().rev().map(|ip| (*ip, hosts.entries[ip].clone())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(last: u8) -> IpAddr {
        [192, 0, 2, last].into()
    }

    fn known(cache: &HostCache) -> Vec<IpAddr> {
        cache.all().into_iter().map(|(ip, _)| ip).collect()
    }

    #[test]
    fn broken_handshakes_block_until_a_good_login_or_forgetting() {
        let cache = HostCache::default();
        cache.resize(10);
        let found = Found { is_validated: true, ..Found::default() };
        cache.add(ip(1), found.clone(), 1);
        cache.count(ip(1), HostError::Handshake, 2);
        cache.count(ip(1), HostError::Authentication, 3);
        assert_eq!(cache.meet(ip(1), 2, 4), Met::Known(None));
        cache.let_in(ip(1));
        cache.count(ip(1), HostError::Handshake, 5);
        assert_eq!(cache.meet(ip(1), 2, 6), Met::Known(None));
        cache.count(ip(1), HostError::Handshake, 7);
        assert_eq!(cache.meet(ip(1), 2, 8), Met::Blocked);
        assert_eq!(cache.meet(ip(1), 3, 9), Met::Known(None));
        let entry = &cache.all()[0].1;
        assert_eq!((entry.first_seen_us, entry.last_seen_us), (1, 9));
        assert_eq!((entry.first_error_us, entry.last_error_us), (2, 8));
        assert_eq!((entry.connect_errors, entry.counts[HostError::Handshake as usize]), (2, 3));
        cache.clear();
        assert_eq!(cache.meet(ip(1), 1, 10), Met::Unknown);
        // Errors of a host that has no entry are not counted.
        cache.count(ip(1), HostError::Handshake, 11);
        assert!(cache.all().is_empty());
    }

    #[test]
    fn the_host_that_was_used_longest_ago_goes_first() {
        let cache = HostCache::default();
        cache.add(ip(1), Found::default(), 1);
        assert!(known(&cache).is_empty());
        cache.resize(2);
        cache.add(ip(1), Found::default(), 1);
        cache.add(ip(2), Found::default(), 2);
        cache.let_in(ip(1));
        cache.add(ip(3), Found { name: Some("three.example".into()), is_validated: true, error: None }, 3);
        assert_eq!(known(&cache), [ip(3), ip(1)]);
        assert_eq!(cache.meet(ip(1), 1, 4), Met::Unknown);
        assert_eq!(cache.meet(ip(3), 1, 4), Met::Known(Some("three.example".into())));
        cache.resize(0);
        assert!(known(&cache).is_empty());
    }
}
