//! The host that a connection comes from, and the check whether any account may be used from there.

use crate::accounts::ClientHost;
use crate::server::Server;
use crate::server::host_cache::{Found, HostError, Met};
use os::names::{LookupError, addresses_of, name_of};
use sql::SqlError;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Finds the host of a client that has come over TCP. It may take as long as the resolver does.
///
/// # Errors
/// Returns 1129 (`ER_HOST_IS_BLOCKED`) when the host is blocked, and 1130
/// (`ER_HOST_NOT_PRIVILEGED`) when no account may be used from it.
pub fn host_of(server: &Server, ip: IpAddr) -> Result<ClientHost, SqlError> {
    let name = name_for(server, ip)?;
    let host = ClientHost::Ip { ip, name };
    if !server.grants_are_skipped() && !server.accounts.table().admits(&host) {
        server.hosts.count(ip, HostError::HostAcl, os::clock::now_us());
        let text = format!("Host '{}' is not allowed to connect to this MySQL server", host.name());
        return Err(SqlError::new(1130, text));
    }
    Ok(host)
}

/// Returns the host's name, if it has one that leads back to its address.
fn name_for(server: &Server, ip: IpAddr) -> Result<Option<String>, SqlError> {
    if server.globals.named("skip_name_resolve").is_on() {
        return Ok(None);
    }
    if ip == Ipv4Addr::LOCALHOST || ip == Ipv6Addr::LOCALHOST {
        return Ok(Some("localhost".into()));
    }
    let max_connect_errors = server.globals.named("max_connect_errors").uint();
    match server.hosts.meet(ip, max_connect_errors, os::clock::now_us()) {
        Met::Blocked => {
            let text = format!(
                "Host '{ip}' is blocked because of many connection errors; unblock with 'mysqladmin flush-hosts'"
            );
            Err(SqlError::new(1129, text))
        }
        Met::Known(name) => Ok(name),
        Met::Unknown => {
            let found = look_up(ip);
            // A name that does not lead back is shown in the table, but is not used.
            let name = found.name.clone().filter(|_| found.is_validated);
            server.hosts.add(ip, found, os::clock::now_us());
            Ok(name)
        }
    }
}

/// Asks the resolver in both directions.
fn look_up(ip: IpAddr) -> Found {
    let failed = |error, is_validated| Found { name: None, is_validated, error: Some(error) };
    let name = match name_of(ip) {
        Ok(name) => name,
        Err(error) => {
            log::warn!(target: "MY-010055", "IP address '{ip}' could not be resolved");
            return match error {
                LookupError::NotFound => failed(HostError::NameinfoPermanent, true),
                LookupError::Failed => failed(HostError::NameinfoTransient, false),
            };
        }
    };
    if looks_like_an_address(&name) {
        log::warn!(
            "IP address '{ip}' has been resolved to the host name '{name}', which resembles an address"
        );
        return Found { name: Some(name), is_validated: false, error: Some(HostError::Format) };
    }
    match addresses_of(&name) {
        Ok(addresses) if addresses.iter().any(|address| address.to_canonical() == ip) => {
            Found { name: Some(name), is_validated: true, error: None }
        }
        Ok(_) => {
            log::warn!("Hostname '{name}' does not resolve to '{ip}'");
            Found { name: Some(name), is_validated: false, error: Some(HostError::Fcrdns) }
        }
        Err(LookupError::NotFound) => failed(HostError::AddrinfoPermanent, true),
        Err(LookupError::Failed) => failed(HostError::AddrinfoTransient, false),
    }
}

/// Reports whether a name begins with digits and a dot. The owner of such a name could otherwise
/// pass for an address in an account's host pattern.
fn looks_like_an_address(name: &str) -> bool {
    let digits = name.bytes().take_while(u8::is_ascii_digit).count();
    digits > 0 && name.as_bytes().get(digits) == Some(&b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_like_addresses_are_told() {
        assert!(looks_like_an_address("192.0.2.7") && looks_like_an_address("1.example"));
        assert!(
            !looks_like_an_address("a1.example") && !looks_like_an_address("7") && !looks_like_an_address("")
        );
    }
}
