//! TLS under a connection, for both ends. Keys and certificates come from PEM files, which are made
//! if there are none.
//!
//! The sessions are those of rustls. A session's record layer runs in the thread of its connection,
//! on a blocking socket, see [`crate::stream`].

mod certificate;
mod client;
mod pem;

use std::fmt;
use std::io;
use std::sync::Arc;

use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection};

pub use certificate::ClientCertificate;
pub use client::{ClientTls, Identity, Trust};
pub(crate) use client::{client_session, openssl_name};
pub use pem::TlsError;
use pem::{certificates, private_key, provider, setup};

/// The configuration with which a server speaks TLS 1.2 and 1.3. Cloning is cheap.
#[derive(Clone)]
pub struct ServerTls {
    config: Arc<ServerConfig>,
    /// The moments between which the certificate is valid.
    validity: Option<[String; 2]>,
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
        let config = builder.with_single_cert(chain, private_key(key_pem)?).map_err(setup)?;
        Ok(ServerTls { config: Arc::new(config), validity })
    }

    /// Returns the first and the last moment at which the server's certificate is valid, as OpenSSL
    /// writes them.
    pub fn validity(&self) -> Option<&[String; 2]> {
        self.validity.as_ref()
    }

    pub(crate) fn session(&self) -> io::Result<ServerConnection> {
        ServerConnection::new(Arc::clone(&self.config)).map_err(io::Error::other)
    }
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
