//! A small HTTP client, and what Prometheus' text format says, for the HTTP side of a server.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use os::clock::{Stopwatch, sleep};

use crate::server::{SOON, Server};

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The status, such as 200.
    pub status: u16,
    /// The lines of the head, without the status.
    pub head: Vec<String>,
    /// The body.
    pub body: String,
}

/// Returns the address at which a Slipstream answers HTTP.
pub fn address_of(server: &Server) -> SocketAddr {
    let shown = server.rows("SELECT @@http_address");
    shown[0].parse().unwrap_or_else(|error| panic!("http_address {shown:?}: {error}"))
}

/// Sends bytes and returns everything that comes back.
pub fn exchange(address: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).unwrap_or_else(|error| panic!("{address}: {error}"));
    stream.set_read_timeout(Some(SOON)).expect("a timeout");
    // The server may have said no and closed before it has read everything.
    let _refused = stream.write_all(bytes);
    let mut answer = Vec::new();
    let _reset = stream.read_to_end(&mut answer);
    answer
}

/// Gets a path, with further fields of the request's head.
pub fn get_with(address: SocketAddr, path: &str, fields: &str) -> Answer {
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{fields}\r\n");
    let bytes = exchange(address, request.as_bytes());
    parse(&String::from_utf8(bytes).expect("an answer in UTF-8"))
}

/// Gets a path.
pub fn get(address: SocketAddr, path: &str) -> Answer {
    get_with(address, path, "")
}

/// Waits until something answers a path with 200, and returns the body.
pub fn wait_for(address: SocketAddr, path: &str) -> String {
    let clock = Stopwatch::start();
    loop {
        if TcpStream::connect(address).is_ok() {
            let answer = get(address, path);
            if answer.status == 200 {
                return answer.body;
            }
        }
        assert!(clock.elapsed() < SOON, "{address} does not answer {path}");
        sleep(std::time::Duration::from_millis(20));
    }
}

/// Parses an answer that ends with the connection.
pub fn parse(text: &str) -> Answer {
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text:?}"));
    let mut lines = head.split("\r\n").map(str::to_owned);
    let first = lines.next().unwrap_or_default();
    let status = first.split(' ').nth(1).and_then(|status| status.parse().ok());
    let head: Vec<String> = lines.collect();
    let is_chunked = head.iter().any(|line| line.eq_ignore_ascii_case("transfer-encoding: chunked"));
    let body = if is_chunked { joined(body) } else { body.to_owned() };
    Answer { status: status.unwrap_or_else(|| panic!("no status: {first:?}")), head, body }
}

/// Joins the chunks of a body.
fn joined(mut rest: &str) -> String {
    let mut body = String::new();
    while let Some((size, more)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap_or_else(|error| panic!("{size:?}: {error}"));
        body.push_str(&more[..size]);
        rest = more[size..].trim_start_matches("\r\n");
    }
    body
}

/// Returns the samples of a text in Prometheus' format: their values by name and labels. It checks
/// what Prometheus itself refuses: a family whose samples do not stand together or come without a
/// type, and a sample that comes twice.
pub fn samples(text: &str) -> BTreeMap<String, f64> {
    let mut all = BTreeMap::new();
    let mut types: BTreeMap<&str, &str> = BTreeMap::new();
    let mut family = "";
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap_or_else(|| panic!("{line:?}"));
            assert!(types.insert(name, kind).is_none(), "the family {name} begins twice");
            family = name;
            continue;
        }
        if line.starts_with('#') {
            continue;
        }
        let (series, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("{line:?}"));
        let name = series.split('{').next().unwrap_or_default();
        let of_family = name == family || types[family] == "summary" && name.starts_with(family);
        assert!(of_family, "{line:?} stands in the family {family}");
        let value = value.parse().unwrap_or_else(|error| panic!("{line:?}: {error}"));
        assert!(all.insert(series.to_owned(), value).is_none(), "{series} comes twice");
    }
    all
}
