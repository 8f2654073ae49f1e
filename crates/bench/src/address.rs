//! Addresses of servers of the form `mysql://user:password@host:port/`, and the places where a
//! password may be instead. The commands that take one server share them.

use protocol::client::ConnectOptions;

/// Parses an address of the form `mysql://user:password@host:port/`, or with `mariadb` in front. A
/// character of the user or the password may be written as `%` and two hexadecimal digits.
///
/// # Errors
/// Returns an error that shows the form. It does not show the text, which may hold a password, and
/// which clap's own errors about a value would show.
pub fn parse(text: &str) -> Result<ConnectOptions, clap::Error> {
    let wrong = || {
        let text = "the address is not of the form mysql://user[:password]@host[:port]/\n";
        clap::Error::raw(clap::error::ErrorKind::ValueValidation, text)
    };
    let rest = text.strip_prefix("mysql://").or_else(|| text.strip_prefix("mariadb://")).ok_or_else(wrong)?;
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    let (account, place) = rest.rsplit_once('@').ok_or_else(wrong)?;
    let (user, password) = account.split_once(':').unwrap_or((account, ""));
    let (host, port) = match place.rsplit_once(':') {
        Some((host, port)) => (host, port.parse().map_err(|_| wrong())?),
        None => (place, 3306),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    if user.is_empty() || host.is_empty() || host.contains('/') {
        return Err(wrong());
    }
    let (user, password) = (decoded(user).ok_or_else(wrong)?, decoded(password).ok_or_else(wrong)?);
    Ok(ConnectOptions::tcp(host, port).user(user, password))
}

fn decoded(text: &str) -> Option<String> {
    let (mut out, mut bytes) = (Vec::new(), text.bytes());
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'%' => {
                let digits = [bytes.next()?, bytes.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(out).ok()
}

/// Completes an address with the password: the first line of `file` if there is one, else the one
/// in the address, else the value of the environment's `variable`.
///
/// # Errors
/// Returns an error that names the file when the file cannot be read.
pub fn with_password(
    mut server: ConnectOptions,
    file: Option<&str>,
    variable: &str,
) -> Result<ConnectOptions, clap::Error> {
    if let Some(file) = file {
        server.password = first_line(file)?;
    } else if server.password.is_empty()
        && let Ok(password) = std::env::var(variable)
    {
        server.password = password;
    }
    Ok(server)
}

fn first_line(file: &str) -> Result<String, clap::Error> {
    let read = os::disk::real().read(file.as_ref());
    let text = read.map_err(|error| {
        clap::Error::raw(clap::error::ErrorKind::Io, format!("--password-file {file}: {error}\n"))
    })?;
    Ok(String::from_utf8_lossy(&text).lines().next().unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::client::Address;

    #[test]
    fn addresses_are_read() {
        let read = |text: &str| {
            let options = parse(text).ok()?;
            let Address::Tcp { host, port } = options.address else { return None };
            Some((options.user, options.password, host, port))
        };
        let of = |user: &str, password: &str, host: &str, port| {
            Some((user.to_owned(), password.to_owned(), host.to_owned(), port))
        };
        assert_eq!(read("mysql://repl@db.example:3307/"), of("repl", "", "db.example", 3307));
        assert_eq!(read("mysql://repl:p%40ss%3a@db"), of("repl", "p@ss:", "db", 3306));
        assert_eq!(read("mysql://repl@[::1]:3306/"), of("repl", "", "::1", 3306));
        assert_eq!(read("mariadb://repl@db/"), of("repl", "", "db", 3306));
        for wrong in ["db:3306", "mysql://db:3306", "mysql://@db", "mysql://a@db:x", "mysql://a%4@db"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
        let told = parse("mysql://a:secret@db:x").expect_err("the port is no number").to_string();
        assert!(!told.contains("secret"), "{told}");
    }
}
