//! TLS under a connection, both ends: keys and certificates from PEM files, made where there are none.
//!
//! The sessions are rustls'; its record layer runs in the thread of its connection, on a blocking socket, see [`crate::stream`].

use std::fmt;
use std::io;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore, ServerConfig, ServerConnection,
    SignatureScheme,
};

/// Why there is no TLS.
#[derive(Debug)]
pub enum TlsError {
    /// A PEM file holds no certificate or key, or one that cannot be read.
    Pem(String),
    /// Key and certificate do not go together, or the library has another objection.
    Setup(String),
}

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TlsError::Pem(what) | TlsError::Setup(what) => write!(f, "{what}"),
        }
    }
}

impl std::error::Error for TlsError {}

fn setup(error: impl fmt::Display) -> TlsError {
    TlsError::Setup(error.to_string())
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        Ok(_) => Err(TlsError::Pem("there is no certificate in it".into())),
        Err(error) => Err(TlsError::Pem(error.to_string())),
    }
}

/// What a server needs to speak TLS 1.2 and 1.3. Cheap to clone.
#[derive(Clone)]
pub struct ServerTls(Arc<ServerConfig>);

impl fmt::Debug for ServerTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ServerTls")
    }
}

impl ServerTls {
    /// From the contents of the certificate's and the key's PEM file.
    ///
    /// # Errors
    /// When they are no certificate and key, or do not go together.
    pub fn new(certificate_pem: &[u8], key_pem: &[u8]) -> Result<ServerTls, TlsError> {
        let key = PrivateKeyDer::from_pem_slice(key_pem).map_err(|error| TlsError::Pem(error.to_string()))?;
        let config = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(setup)?
            .with_no_client_auth()
            .with_single_cert(certificates(certificate_pem)?, key)
            .map_err(setup)?;
        Ok(ServerTls(Arc::new(config)))
    }

    pub(crate) fn session(&self) -> io::Result<ServerConnection> {
        ServerConnection::new(Arc::clone(&self.0)).map_err(io::Error::other)
    }
}

/// Whose certificate a client takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// Anybody's: what is sent is encrypted, to whomever it goes (`--ssl-mode=REQUIRED`).
    Anybody,
    /// One that is signed by an authority of this PEM, for the server's name (`VERIFY_IDENTITY`).
    Authorities(Vec<u8>),
}

pub(crate) fn client_session(trust: &Trust, host: &str) -> Result<ClientConnection, TlsError> {
    let builder = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(setup)?;
    let config = match trust {
        Trust::Anybody => builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(TakesAnybody(provider())))
            .with_no_client_auth(),
        Trust::Authorities(pem) => {
            let mut roots = RootCertStore::empty();
            for authority in certificates(pem)? {
                roots.add(authority).map_err(setup)?;
            }
            builder.with_root_certificates(roots).with_no_client_auth()
        }
    };
    let name = ServerName::try_from(host.to_owned()).map_err(setup)?;
    ClientConnection::new(Arc::new(config), name).map_err(setup)
}

/// Checks that the server has its certificate's key, and nothing else.
#[derive(Debug)]
struct TakesAnybody(Arc<CryptoProvider>);

impl ServerCertVerifier for TakesAnybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// Files that a server without any makes for itself, all PEM.
#[derive(Debug)]
pub struct MadeCertificates {
    /// The authority's certificate, for clients (`ca.pem`).
    pub authority: String,
    /// Its key (`ca-key.pem`).
    pub authority_key: String,
    /// The server's certificate, signed by the authority (`server-cert.pem`).
    pub server: String,
    /// Its key (`server-key.pem`).
    pub server_key: String,
}

/// Makes an authority, and a certificate of it for `localhost` and this name.
///
/// # Errors
/// When the library cannot make keys.
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
    Ok(MadeCertificates {
        authority: issuer.pem(),
        authority_key: issuer.key().serialize_pem(),
        server: signed.pem(),
        server_key: key.serialize_pem(),
    })
}
