//! Keys and certificates from PEM text, and the errors of TLS.

use std::fmt;
use std::sync::Arc;

use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// The reason why TLS cannot be used.
#[derive(Debug)]
pub enum TlsError {
    /// A PEM file has no certificate or key, or one that cannot be read.
    Pem(String),
    /// Key and certificate do not belong together, or the library has another objection.
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

pub(super) fn setup(error: impl fmt::Display) -> TlsError {
    TlsError::Setup(error.to_string())
}

pub(super) fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

pub(super) fn private_key(pem: &[u8]) -> Result<PrivateKeyDer<'static>, TlsError> {
    PrivateKeyDer::from_pem_slice(pem).map_err(|error| TlsError::Pem(error.to_string()))
}

pub(super) fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        Ok(_) => Err(TlsError::Pem("there is no certificate in it".into())),
        Err(error) => Err(TlsError::Pem(error.to_string())),
    }
}
