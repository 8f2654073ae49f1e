//! Host patterns of accounts: which hosts they match, and which of several matching ones is the
//! most specific.

use std::net::IpAddr;

/// The origin of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClientHost {
    /// The client came through the Unix socket.
    Local,
    /// The client came from an address on the network.
    Ip {
        /// The address of the client's host.
        ip: IpAddr,
        /// The name of the client's host. `None` means that it was not looked up or is not known.
        name: Option<String>,
    },
}

impl ClientHost {
    /// Returns the name as USER() and SHOW PROCESSLIST show it, which is the address of a host
    /// without a name.
    pub fn name(&self) -> String {
        match self {
            ClientHost::Local => "localhost".into(),
            ClientHost::Ip { name: Some(name), .. } => name.clone(),
            ClientHost::Ip { ip, name: None } => ip.to_string(),
        }
    }

    /// Returns the address. `None` means the Unix socket.
    pub fn ip(&self) -> Option<IpAddr> {
        match self {
            ClientHost::Local => None,
            ClientHost::Ip { ip, .. } => Some(*ip),
        }
    }

    /// Reports whether the client is on this machine, by either way.
    pub fn is_loopback(&self) -> bool {
        match self {
            ClientHost::Local => true,
            ClientHost::Ip { ip, .. } => ip.is_loopback(),
        }
    }

    fn names(&self) -> Vec<String> {
        match self {
            ClientHost::Local => vec!["localhost".into()],
            ClientHost::Ip { ip, name } => name.iter().cloned().chain([ip.to_string()]).collect(),
        }
    }
}

/// Reports whether an account with this host pattern may be used from `host`.
pub fn matches(pattern: &str, host: &ClientHost) -> bool {
    if let (Some((net, mask)), ClientHost::Ip { ip: IpAddr::V4(ip), .. }) = (netmask(pattern), host) {
        return u32::from(*ip) & mask == net;
    }
    let pattern = if pattern.is_empty() { "%" } else { pattern };
    host.names().iter().any(|name| like(&pattern.to_ascii_lowercase(), &name.to_ascii_lowercase()))
}

/// Parses `192.0.2.0/255.255.255.0` or `192.0.2.0/24` into network and mask.
fn netmask(pattern: &str) -> Option<(u32, u32)> {
    let (net, mask) = pattern.split_once('/')?;
    let net: std::net::Ipv4Addr = net.parse().ok()?;
    let mask = match mask.parse::<u32>() {
        Ok(bits @ 1..=32) => u32::MAX << (32 - bits),
        Ok(_) => return None,
        Err(_) => u32::from(mask.parse::<std::net::Ipv4Addr>().ok()?),
    };
    Some((u32::from(net), mask))
}

/// Reports whether a text matches a pattern of SQL's LIKE, with `\` as the escape.
pub fn like(pattern: &str, text: &str) -> bool {
    fn at(p: &[char], t: &[char]) -> bool {
        match p.split_first() {
            None => t.is_empty(),
            Some(('%', rest)) => (0..=t.len()).any(|skip| at(rest, &t[skip..])),
            Some(('\\', rest)) if !rest.is_empty() => t.first() == rest.first() && at(&rest[1..], &t[1..]),
            Some(('_', rest)) => !t.is_empty() && at(rest, &t[1..]),
            Some((c, rest)) => t.first() == Some(c) && at(rest, &t[1..]),
        }
    }
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    at(&pattern, &text)
}

/// Reports whether a text has wildcards that are not escaped.
pub fn is_pattern(text: &str) -> bool {
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            '%' | '_' => return true,
            _ => {}
        }
    }
    false
}

/// Returns a sort key by which more specific patterns come first: those without a wildcard, then
/// those whose first wildcard comes later.
pub fn specificity(pattern: &str) -> (u8, std::cmp::Reverse<usize>) {
    let first = pattern.find(['%', '_']);
    match first {
        _ if pattern.is_empty() => (2, std::cmp::Reverse(0)),
        None => (0, std::cmp::Reverse(usize::MAX)),
        Some(at) => (1, std::cmp::Reverse(at)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> ClientHost {
        ClientHost::Ip { ip: text.parse().unwrap(), name: None }
    }

    fn named(text: &str, name: &str) -> ClientHost {
        ClientHost::Ip { ip: text.parse().unwrap(), name: Some(name.into()) }
    }

    #[test]
    fn patterns_match_as_mysqls() {
        assert!(matches("localhost", &ClientHost::Local));
        assert!(matches("localhost", &named("127.0.0.1", "localhost")));
        assert!(matches("127.0.0.1", &named("127.0.0.1", "localhost")));
        assert!(!matches("localhost", &ip("127.0.0.1")));
        assert!(matches("%.example", &named("192.0.2.7", "a.example")));
        assert!(matches("192.0.2.%", &named("192.0.2.7", "a.example")));
        assert!(!matches("%.example", &ip("192.0.2.7")));
        assert!(matches("127.0.0.1", &ip("127.0.0.1")));
        assert!(!matches("127.0.0.1", &ClientHost::Local));
        assert!(matches("%", &ip("192.0.2.7")));
        assert!(matches("", &ip("192.0.2.7")));
        assert!(matches("192.0.%", &ip("192.0.2.7")));
        assert!(!matches("192.0.3.%", &ip("192.0.2.7")));
        assert!(matches("192.0.2.0/255.255.255.0", &ip("192.0.2.7")));
        assert!(matches("192.0.2.0/24", &ip("192.0.2.7")));
        assert!(!matches("192.0.3.0/24", &ip("192.0.2.7")));
        assert!(like("a\\_b%", "a_bc") && !like("a\\_b%", "axbc"));
        assert!(!like("\\a", "") && like("%", ""));
        assert!(is_pattern("a_") && is_pattern("a\\\\%") && !is_pattern("a\\_b") && !is_pattern("a"));
    }

    #[test]
    fn specific_patterns_come_first() {
        let mut patterns = ["%", "192.0.%", "localhost", "", "192.0.2.%"];
        patterns.sort_by_key(|p| specificity(p));
        assert_eq!(patterns, ["localhost", "192.0.2.%", "192.0.%", "%", ""]);
    }
}
