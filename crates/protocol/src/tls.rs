//! TLS under a connection, for both ends. Keys and certificates come from PEM files, which are made
//! if there are none.
//!
//! The sessions are those of rustls. A session's record layer runs in the thread of its connection,
//! on a blocking socket, see [`crate::stream`].

mod certificate;
mod client;
mod pem;
mod resumption;

use std::fmt;
use std::io;
use std::sync::Arc;

use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection, SupportedCipherSuite};

pub use certificate::ClientCertificate;
pub(crate) use client::client_session;
use client::openssl_name;
pub use client::{ClientTls, Identity, Trust};
pub use pem::TlsError;
use pem::{certificates, private_key, provider, setup};
pub use resumption::Resumption;
use resumption::{KeptSessions, MOST_SESSIONS};

/// The configuration with which a server speaks TLS 1.2 and 1.3. Cloning is cheap.
#[derive(Clone)]
pub struct ServerTls {
    config: Arc<ServerConfig>,
    /// The moments between which the certificate is valid.
    validity: Option<[String; 2]>,
    sessions: Arc<KeptSessions>,
    asks_for_certificates: bool,
}

impl fmt::Debug for ServerTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ServerTls")
    }
}

impl ServerTls {
    /// Reads the contents of the PEM files of certificate and key. If there are authorities,
    /// clients are asked for a certificate. They need not have one, but a certificate that the
    /// authorities have not signed is refused.
    ///
    /// # Errors
    /// Returns an error when the texts are no certificates and key, or do not belong together.
    pub fn new(
        certificate_pem: &[u8],
        key_pem: &[u8],
        authorities_pem: Option<&[u8]>,
    ) -> Result<ServerTls, TlsError> {
        let builder = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(setup)?;
        let builder = match authorities_pem {
            None => builder.with_no_client_auth(),
            Some(pem) => {
                let mut roots = RootCertStore::empty();
                for authority in certificates(pem)? {
                    roots.add(authority).map_err(setup)?;
                }
                let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider());
                builder.with_client_cert_verifier(verifier.allow_unauthenticated().build().map_err(setup)?)
            }
        };
        let chain = certificates(certificate_pem)?;
        let validity = chain.first().and_then(|der| certificate::validity(der));
        let mut config = builder.with_single_cert(chain, private_key(key_pem)?).map_err(setup)?;
        let sessions = Arc::new(KeptSessions::default());
        config.session_storage = sessions.clone();
        let asks_for_certificates = authorities_pem.is_some();
        Ok(ServerTls { config: Arc::new(config), validity, sessions, asks_for_certificates })
    }

    /// Returns the first and the last moment at which the server's certificate is valid, as OpenSSL
    /// writes them.
    pub fn validity(&self) -> Option<&[String; 2]> {
        self.validity.as_ref()
    }

    /// How many authorities may stand between a client's certificate and a trusted one.
    pub const VERIFY_DEPTH: u64 = 6;
    /// How long clients may take a session up again, in seconds.
    pub const SESSION_LIFETIME_S: u64 = 24 * 60 * 60;
    /// How many sessions are kept at most.
    pub const KEPT_SESSIONS: u64 = MOST_SESSIONS as u64;

    /// Returns what has become of the sessions that clients may take up again.
    pub fn resumption(&self) -> Resumption {
        self.sessions.figures()
    }

    /// Reports whether clients are asked for a certificate.
    pub fn asks_for_certificates(&self) -> bool {
        self.asks_for_certificates
    }

    /// Returns the cipher suites by OpenSSL's names, the preferred ones first.
    pub fn ciphers(&self) -> Vec<String> {
        let suites = &self.config.crypto_provider().cipher_suites;
        suites.iter().filter_map(|suite| cipher_name(*suite)).collect()
    }

    pub(crate) fn session(&self) -> io::Result<ServerConnection> {
        ServerConnection::new(Arc::clone(&self.config)).map_err(io::Error::other)
    }
}

/// Returns OpenSSL's name of a cipher suite, which for TLS 1.3 is the standard's.
pub(crate) fn cipher_name(suite: SupportedCipherSuite) -> Option<String> {
    let name = suite.suite().as_str()?;
    Some(match suite.tls13() {
        // rustls has a prefix of its own.
        Some(_) => name.replace("TLS13_", "TLS_"),
        None => openssl_name(name),
    })
}

/// The files that a server without any makes for itself, all as PEM.
#[derive(Debug)]
pub struct MadeCertificates {
    /// The authority's certificate, for clients (`ca.pem`).
    pub authority: String,
    /// The authority's key (`ca-key.pem`).
    pub authority_key: String,
    /// The server's certificate, signed by the authority (`server-cert.pem`).
    pub server: String,
    /// The server's key (`server-key.pem`).
    pub server_key: String,
    /// A client's certificate, signed by the authority (`client-cert.pem`).
    pub client: String,
    /// The client's key (`client-key.pem`).
    pub client_key: String,
}

/// Makes an authority, and certificates signed by it: for a server named `localhost` and
/// `host_name`, and for a client.
///
/// # Errors
/// Returns an error when the library cannot make keys.
pub fn make_certificates(host_name: &str) -> Result<MadeCertificates, TlsError> {
    use rcgen::{
        BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose,
    };
    let named = |names: Vec<String>, common_name: &str| -> Result<CertificateParams, TlsError> {
        let mut params = CertificateParams::new(names).map_err(setup)?;
        params.distinguished_name.push(DnType::CommonName, common_name);
        Ok(params)
    };
    let mut authority = named(Vec::new(), "Slipstream_Server_Auto_Generated_CA_Certificate")?;
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let issuer =
        CertifiedIssuer::self_signed(authority, KeyPair::generate().map_err(setup)?).map_err(setup)?;
    let names = ["localhost", "127.0.0.1", "::1", host_name];
    let mut names: Vec<String> =
        names.iter().filter(|name| !name.is_empty()).map(ToString::to_string).collect();
    names.dedup();
    let key = KeyPair::generate().map_err(setup)?;
    let server = named(names, "Slipstream_Server_Auto_Generated_Server_Certificate")?;
    let signed = server.signed_by(&key, &issuer).map_err(setup)?;
    let client_key = KeyPair::generate().map_err(setup)?;
    let client = named(Vec::new(), "Slipstream_Server_Auto_Generated_Client_Certificate")?;
    let client = client.signed_by(&client_key, &issuer).map_err(setup)?;
    Ok(MadeCertificates {
        authority: issuer.pem(),
        authority_key: issuer.key().serialize_pem(),
        server: signed.pem(),
        server_key: key.serialize_pem(),
        client: client.pem(),
        client_key: client_key.serialize_pem(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::pki_types::ServerName;
    use rustls::{ClientConfig, ClientConnection, HandshakeKind};

    /// Shakes hands in memory until neither side has anything to send, and returns the kind of the
    /// handshake.
    fn shake_hands(server: &ServerTls, client: &Arc<ClientConfig>) -> Option<HandshakeKind> {
        let mut server = server.session().unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        let mut client = ClientConnection::new(client.clone(), name).unwrap();
        while client.wants_write() || server.wants_write() {
            let mut sent = Vec::new();
            while client.wants_write() {
                client.write_tls(&mut sent).unwrap();
            }
            let mut left = &sent[..];
            while !left.is_empty() {
                server.read_tls(&mut left).unwrap();
                server.process_new_packets().unwrap();
            }
            sent.clear();
            while server.wants_write() {
                server.write_tls(&mut sent).unwrap();
            }
            let mut left = &sent[..];
            while !left.is_empty() {
                client.read_tls(&mut left).unwrap();
                client.process_new_packets().unwrap();
            }
        }
        assert!(!server.is_handshaking() && !client.is_handshaking());
        server.handshake_kind()
    }

    #[test]
    fn clients_take_sessions_up_again() {
        let made = make_certificates("here").unwrap();
        for versions in ["TLSv1.3", "TLSv1.2"] {
            let server = ServerTls::new(made.server.as_bytes(), made.server_key.as_bytes(), None).unwrap();
            let tls = ClientTls { versions: versions.to_owned(), ..Trust::Anybody.into() };
            let client = Arc::new(client::client_config(&tls).unwrap());
            assert_eq!(shake_hands(&server, &client), Some(HandshakeKind::Full), "{versions}");
            let kept = server.resumption();
            assert!(kept.entries > 0 && (kept.hits, kept.misses) == (0, 0), "{versions}: {kept:?}");
            assert_eq!(shake_hands(&server, &client), Some(HandshakeKind::Resumed), "{versions}");
            assert_eq!(server.resumption().hits, 1, "{versions}");
            // A server that has been started anew knows no session.
            let server = ServerTls::new(made.server.as_bytes(), made.server_key.as_bytes(), None).unwrap();
            assert_eq!(shake_hands(&server, &client), Some(HandshakeKind::Full), "{versions}");
            assert_eq!((server.resumption().hits, server.resumption().misses), (0, 1), "{versions}");
        }
    }

    #[test]
    fn ciphers_have_openssls_names() {
        let made = make_certificates("here").unwrap();
        let server = ServerTls::new(made.server.as_bytes(), made.server_key.as_bytes(), None).unwrap();
        let ciphers = server.ciphers();
        for known in ["TLS_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256"] {
            assert!(ciphers.iter().any(|cipher| cipher == known), "no {known} in {ciphers:?}");
        }
    }
}
