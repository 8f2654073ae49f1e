//! The login with which a client of `/metrics` proves itself (decision 0062).

use crate::http::answer::{Answer, Status};
use crate::http::request::Request;
use crate::variables::Globals;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use os::disk::Disk;
use std::io;
use std::net::IpAddr;
use std::path::Path;

/// The rule that says who may see the metrics.
pub enum Login {
    /// No login is configured, so that only clients on this machine are let in.
    ThisMachine,
    /// The field `Authorization` has to end with this: a user and a password in base64.
    Credentials(String),
}

impl Login {
    /// Returns the rule that `http_user` and `http_password_file` make. The password is the first
    /// line of the file, whose name is relative to the data directory.
    ///
    /// # Errors
    /// Returns an error when only one of the two is given, when the user's name has a colon in it,
    /// or when the file cannot be read or has no password.
    pub fn configured(globals: &Globals, disk: &dyn Disk, datadir: &Path) -> io::Result<Login> {
        let (user, file) = (globals.named("http_user"), globals.named("http_password_file"));
        let wrong = |text: String| Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        match (user.text(), file.text()) {
            ("", "") => Ok(Login::ThisMachine),
            ("", _) | (_, "") => wrong("http_user and http_password_file have to be given together".into()),
            (user, _) if user.contains(':') => wrong(format!("http_user: '{user}' must not have a colon")),
            (user, file) => {
                let named = |e| io::Error::other(format!("http_password_file: {e}"));
                let bytes = disk.read(&datadir.join(file)).map_err(named)?;
                let text = String::from_utf8_lossy(&bytes);
                match text.lines().next() {
                    None | Some("") => wrong(format!("http_password_file: '{file}' has no password")),
                    Some(password) => Ok(Login::of(user, password)),
                }
            }
        }
    }

    fn of(user: &str, password: &str) -> Login {
        Login::Credentials(STANDARD.encode(format!("{user}:{password}")))
    }

    /// Returns the answer to a client that may not see the metrics. `None` means that it may.
    pub fn refusal(&self, request: &Request, peer: IpAddr) -> Option<Answer> {
        match self {
            Login::ThisMachine if peer.to_canonical().is_loopback() => None,
            Login::ThisMachine => Some(Answer::line(
                Status::Forbidden,
                "without http_user and http_password_file the metrics are for this machine alone",
            )),
            Login::Credentials(right) if is_proved(request, right) => None,
            Login::Credentials(_) => {
                Some(Answer::line(Status::Unauthorized, "a user and a password are needed"))
            }
        }
    }
}

fn is_proved(request: &Request, right: &str) -> bool {
    let given = request.authorization.as_deref().and_then(|text| text.split_once(' '));
    given.is_some_and(|(scheme, given)| {
        scheme.eq_ignore_ascii_case("basic") && same(given.trim().as_bytes(), right.as_bytes())
    })
}

/// Compares in a time that tells nothing about where the bytes differ.
fn same(given: &[u8], right: &[u8]) -> bool {
    let differing = given.iter().zip(right).fold(0, |differing, (a, b)| differing | (a ^ b));
    given.len() == right.len() && std::hint::black_box(differing) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asking(authorization: Option<&str>) -> Request {
        let (method, path) = ("GET".to_owned(), "/metrics".to_owned());
        Request { method, path, parameters: Vec::new(), authorization: authorization.map(str::to_owned) }
    }

    #[test]
    fn a_login_is_asked_for_and_compared_whole() {
        let login = Login::of("prometheus", "pa:ss");
        let status = |authorization| {
            login.refusal(&asking(authorization), IpAddr::from([10, 0, 0, 1])).map(|answer| answer.status)
        };
        assert_eq!(status(Some("Basic cHJvbWV0aGV1czpwYTpzcw==")), None);
        assert_eq!(status(Some("basic  cHJvbWV0aGV1czpwYTpzcw==")), None);
        let wrong = [
            None,
            Some(""),
            Some("Basic"),
            Some("Basic cHJvbWV0aGV1czpwYTpzcw"),
            Some("Basic cHJvbWV0aGV1czpwYTpzcQ=="),
            Some("Basic cHJvbWV0aGV1czpwYTpzcw==x"),
            Some("Bearer cHJvbWV0aGV1czpwYTpzcw=="),
        ];
        for authorization in wrong {
            assert_eq!(status(authorization), Some(Status::Unauthorized), "{authorization:?}");
        }
    }

    #[test]
    fn without_a_login_only_this_machine_is_let_in() {
        let status = |peer: &str| {
            Login::ThisMachine.refusal(&asking(None), peer.parse().unwrap()).map(|answer| answer.status)
        };
        assert_eq!([status("127.0.0.9"), status("::1"), status("::ffff:127.0.0.1")], [None; 3]);
        assert_eq!([status("10.0.0.1"), status("2001:db8::1")], [Some(Status::Forbidden); 2]);
    }
}
