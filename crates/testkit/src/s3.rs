//! A server of S3's protocol on this machine: moto, which `scripts/peers.sh` installs. It keeps its
//! objects in memory.

use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use bench::instance::{Port, peers_dir};
use os::clock::{Stopwatch, sleep};

use crate::http;
use crate::running::Running;
use crate::server::SOON;

/// The bucket that the server has.
const BUCKET: &str = "backups";

/// A server of S3's protocol. Dropping it ends the server.
pub struct S3 {
    port: Port,
    _server: Running,
}

fn program() -> PathBuf {
    peers_dir().join("stores/moto/bin/moto_server")
}

impl S3 {
    /// Starts a server with an empty bucket. `None` means that there is none on this machine; the
    /// calling test is then reported as skipped, and should return.
    #[must_use]
    pub fn start(test: &str) -> Option<S3> {
        if !crate::reader_available(test, &program()) {
            return None;
        }
        let port = Port::reserve().unwrap_or_else(|error| panic!("{error}"));
        let number = port.number().to_string();
        let server = Running::start(Command::new(program()).args(["-H", "127.0.0.1", "-p", &number]));
        let s3 = S3 { port, _server: server };
        let waited = Stopwatch::start();
        while TcpStream::connect(s3.address()).is_err() {
            assert!(waited.elapsed() < SOON, "moto does not listen");
            sleep(Duration::from_millis(50));
        }
        s3.request("PUT", &format!("/{BUCKET}"));
        Some(s3)
    }

    fn address(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], self.port.number()))
    }

    fn request(&self, method: &str, path: &str) -> String {
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
            self.address()
        );
        let answer = http::parse(&String::from_utf8_lossy(&http::exchange(self.address(), head.as_bytes())));
        assert!((200..300).contains(&answer.status), "{method} {path}: {answer:?}");
        answer.body
    }

    /// Returns the URL of a part of the bucket.
    pub fn url(&self, prefix: &str) -> String {
        format!("s3://{BUCKET}/{prefix}")
    }

    /// Returns the port that the server listens on.
    pub fn port(&self) -> u16 {
        self.port.number()
    }

    /// Returns the variables by which programs find the server.
    pub fn environment(&self) -> [(&'static str, String); 4] {
        self.environment_by(self.port())
    }

    /// Returns the variables by which programs find the server behind a proxy on this port.
    pub fn environment_by(&self, port: u16) -> [(&'static str, String); 4] {
        [
            ("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{port}")),
            ("AWS_ACCESS_KEY_ID", "slipstream".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "secret".to_owned()),
            ("AWS_REGION", "us-east-1".to_owned()),
        ]
    }

    /// Returns the keys of the objects under a prefix.
    pub fn keys(&self, prefix: &str) -> Vec<String> {
        let body = self.request("GET", &format!("/{BUCKET}?list-type=2&max-keys=1000&prefix={prefix}"));
        assert!(body.contains("<IsTruncated>false</IsTruncated>"), "more objects than one list shows");
        body.split("<Key>")
            .skip(1)
            .filter_map(|rest| rest.split("</Key>").next())
            .map(str::to_owned)
            .collect()
    }

    /// Returns the ETag of an object, which changes with its content.
    pub fn e_tag(&self, key: &str) -> String {
        let body = self.request("GET", &format!("/{BUCKET}?list-type=2&max-keys=1000&prefix={key}"));
        let of_key = body.split("<ETag>").nth(1).and_then(|rest| rest.split("</ETag>").next());
        of_key.unwrap_or_else(|| panic!("{key} is not there: {body}")).to_owned()
    }
}
