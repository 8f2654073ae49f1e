//! How the connections to the source are encrypted: the options of MySQL's clients, and the same
//! for the channel by which the new replica follows.

use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches};
use protocol::client::ConnectOptions;
use protocol::tls::{ClientTls, Identity, Trust};

use crate::source::literal_text;

/// What `--ssl-mode` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Disabled,
    /// TLS with whoever answers, and clear text with a source that has no TLS.
    Preferred,
    Required,
    VerifyCa,
    VerifyIdentity,
}

/// The encryption that the command line asks for. Paths are absolute, because the server's begin at
/// its data directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Encryption {
    mode: Mode,
    ca: Option<PathBuf>,
    cert: Option<PathBuf>,
    key: Option<PathBuf>,
}

/// The modes by their names in MySQL.
const MODES: [(&str, Mode); 5] = [
    ("DISABLED", Mode::Disabled),
    ("PREFERRED", Mode::Preferred),
    ("REQUIRED", Mode::Required),
    ("VERIFY_CA", Mode::VerifyCa),
    ("VERIFY_IDENTITY", Mode::VerifyIdentity),
];

/// Returns the options of the command line.
pub fn arguments() -> [Arg; 4] {
    let file = |name: &'static str, help: &'static str| {
        let file = Arg::new(name).long(name).value_name("FILE");
        file.value_parser(clap::value_parser!(PathBuf)).help(help)
    };
    [
        Arg::new("ssl-mode")
            .long("ssl-mode")
            .value_name("MODE")
            .value_parser(MODES.map(|(name, _)| name))
            .ignore_case(true)
            .help("TLS to the source; PREFERRED unless given, or VERIFY_CA with --ssl-ca"),
        file("ssl-ca", "The authorities, as PEM, one of which must have signed the source's certificate"),
        file("ssl-cert", "The certificate, as PEM, that the source is shown"),
        file("ssl-key", "The key of --ssl-cert, as PEM"),
    ]
}

impl Encryption {
    /// Reads the options from a command line.
    pub fn of(matches: &ArgMatches) -> Encryption {
        let file = |name: &str| {
            let path = matches.get_one::<PathBuf>(name)?;
            // A path cannot be made absolute only where there is no current directory.
            Some(std::path::absolute(path).unwrap_or_else(|_| path.clone()))
        };
        let (ca, cert, key) = (file("ssl-ca"), file("ssl-cert"), file("ssl-key"));
        let named = matches.get_one::<String>("ssl-mode");
        let named = named.and_then(|wanted| MODES.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted)));
        let usual = if ca.is_some() { Mode::VerifyCa } else { Mode::Preferred };
        Encryption { mode: named.map_or(usual, |(_, mode)| *mode), ca, cert, key }
    }

    /// Returns the options with the encryption set.
    ///
    /// # Errors
    /// Returns the text of MySQL's clients for files that are missing or cannot be read.
    pub fn apply(&self, options: ConnectOptions) -> Result<ConnectOptions, &'static str> {
        if self.mode == Mode::Disabled {
            return Ok(ConnectOptions { tls: None, ..options });
        }
        let identity = match (&self.cert, &self.key) {
            (None, None) => None,
            // One file may hold both the certificate and the key.
            (cert, key) => Some(Identity {
                certificate_pem: read(cert.as_ref().or(key.as_ref()), "Unable to get certificate")?,
                key_pem: read(key.as_ref().or(cert.as_ref()), "Unable to get private key")?,
            }),
        };
        let tls = ClientTls { identity, ..ClientTls::from(self.trust()?) };
        Ok(ConnectOptions { tls: Some(tls), is_tls_optional: self.mode == Mode::Preferred, ..options })
    }

    fn trust(&self) -> Result<Trust, &'static str> {
        let authorities = || {
            let Some(ca) = &self.ca else {
                return Err("CA certificate is required if ssl-mode is VERIFY_CA or VERIFY_IDENTITY");
            };
            read(Some(ca), "SSL_CTX_set_default_verify_paths failed")
        };
        Ok(match self.mode {
            Mode::VerifyCa => Trust::Signed(authorities()?),
            Mode::VerifyIdentity => Trust::Authorities(authorities()?),
            Mode::Disabled | Mode::Preferred | Mode::Required => Trust::Anybody,
        })
    }

    /// Returns the options of CHANGE REPLICATION SOURCE for a channel that is encrypted as a
    /// connection of the copy was. Each begins with a comma.
    pub fn of_channel(&self, is_encrypted: bool) -> String {
        if !is_encrypted {
            return ", SOURCE_SSL = 0".to_owned();
        }
        let mut options = ", SOURCE_SSL = 1".to_owned();
        let is_verified = matches!(self.mode, Mode::VerifyCa | Mode::VerifyIdentity);
        let ca = self.ca.as_ref().filter(|_| is_verified);
        for (name, file) in [("CA", ca), ("CERT", self.cert.as_ref()), ("KEY", self.key.as_ref())] {
            if let Some(file) = file {
                let file = literal_text(&file.display().to_string());
                options += &format!(", SOURCE_SSL_{name} = {file}");
            }
        }
        if self.mode == Mode::VerifyIdentity {
            options += ", SOURCE_SSL_VERIFY_SERVER_CERT = 1";
        }
        options
    }
}

fn read(file: Option<&PathBuf>, refusal: &'static str) -> Result<Vec<u8>, &'static str> {
    let file: &Path = file.ok_or(refusal)?;
    os::disk::real().read(file).map_err(|_| refusal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &[&str]) -> Encryption {
        let command = clap::Command::new("attach").no_binary_name(true).args(arguments());
        Encryption::of(&command.try_get_matches_from(words).expect("they are options"))
    }

    #[test]
    fn the_mode_is_that_of_mysqls_clients() {
        assert_eq!(of(&[]).mode, Mode::Preferred);
        assert_eq!(of(&["--ssl-ca=/ca.pem"]).mode, Mode::VerifyCa);
        assert_eq!(of(&["--ssl-ca=/ca.pem", "--ssl-mode=required"]).mode, Mode::Required);
        let plain = || ConnectOptions::tcp("h", 1);
        let preferred = of(&[]).apply(plain()).expect("it needs no files");
        assert!(preferred.is_tls_optional && preferred.tls.is_some());
        let required = of(&["--ssl-mode=REQUIRED", "--ssl-ca=/no/file"]).apply(plain());
        assert!(!required.expect("authorities do not count").is_tls_optional);
        let refused = |words: &[&str]| of(words).apply(plain()).expect_err("there is no file");
        assert_eq!(
            refused(&["--ssl-mode=VERIFY_CA"]),
            "CA certificate is required if ssl-mode is VERIFY_CA or VERIFY_IDENTITY"
        );
        assert_eq!(refused(&["--ssl-ca=/no/file"]), "SSL_CTX_set_default_verify_paths failed");
        assert_eq!(refused(&["--ssl-key=/no/file"]), "Unable to get certificate");
    }

    #[test]
    fn the_channel_is_encrypted_as_the_copy_was() {
        assert_eq!(of(&[]).of_channel(false), ", SOURCE_SSL = 0");
        assert_eq!(of(&["--ssl-mode=REQUIRED", "--ssl-ca=/a"]).of_channel(true), ", SOURCE_SSL = 1");
        assert_eq!(
            of(&["--ssl-mode=VERIFY_IDENTITY", "--ssl-ca=/it's", "--ssl-key=/k"]).of_channel(true),
            ", SOURCE_SSL = 1, SOURCE_SSL_CA = '/it''s', SOURCE_SSL_KEY = '/k', SOURCE_SSL_VERIFY_SERVER_CERT = 1"
        );
    }
}
