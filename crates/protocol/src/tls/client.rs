//! The client's end of TLS: the server's certificate that it accepts, the certificate that it
//! shows, and the versions and ciphers that it accepts.
//!
//! Versions and ciphers have the names of MySQL's options, which are OpenSSL's.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore, SignatureScheme,
    SupportedCipherSuite, SupportedProtocolVersion,
};

use super::pem::{TlsError, certificates, private_key, provider, setup};

/// The server's certificate that a client accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trust {
    /// Any certificate: the connection is encrypted, whoever is at the other end
    /// (`--ssl-mode=REQUIRED`).
    Anybody,
    /// A certificate that is signed by an authority of this PEM, for any name (`VERIFY_CA`).
    Signed(Vec<u8>),
    /// A certificate that is signed by an authority of this PEM, for the server's name
    /// (`VERIFY_IDENTITY`).
    Authorities(Vec<u8>),
}

/// The certificate and key by which a server recognizes the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The certificate, and those between it and its authority, as PEM.
    pub certificate_pem: Vec<u8>,
    /// The certificate's key, as PEM.
    pub key_pem: Vec<u8>,
}

/// The way in which a client speaks TLS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientTls {
    /// The server's certificate that the client accepts.
    pub trust: Trust,
    /// The certificate that the client shows, if it has one.
    pub identity: Option<Identity>,
    /// The protocol versions, separated by commas (`TLSv1.2,TLSv1.3`). Empty means all versions.
    pub versions: String,
    /// The ciphers of TLS 1.2 by OpenSSL's names, separated by colons. Empty means all ciphers.
    pub ciphers: String,
    /// The cipher suites of TLS 1.3, separated by colons. `None` means all suites.
    pub cipher_suites: Option<String>,
}

impl From<Trust> for ClientTls {
    fn from(trust: Trust) -> ClientTls {
        let (versions, ciphers) = (String::new(), String::new());
        ClientTls { trust, identity: None, versions, ciphers, cipher_suites: None }
    }
}

impl ClientTls {
    fn protocol_versions(&self) -> Result<Vec<&'static SupportedProtocolVersion>, TlsError> {
        if self.versions.is_empty() {
            return Ok(rustls::ALL_VERSIONS.to_vec());
        }
        let version = |name: &str| match name.trim().to_ascii_lowercase().as_str() {
            "tlsv1.2" => Ok(&rustls::version::TLS12),
            "tlsv1.3" => Ok(&rustls::version::TLS13),
            _ => Err(TlsError::Setup("TLS version is invalid".into())),
        };
        self.versions.split(',').map(version).collect()
    }

    fn wants(&self, suite: &SupportedCipherSuite) -> bool {
        let listed = |list: &str, name: &str| list.split(':').any(|word| word.eq_ignore_ascii_case(name));
        let standard_name = suite.suite().as_str().unwrap_or_default();
        match suite {
            SupportedCipherSuite::Tls13(_) => {
                let name = standard_name.replace("TLS13_", "TLS_");
                self.cipher_suites.as_deref().is_none_or(|list| listed(list, &name))
            }
            SupportedCipherSuite::Tls12(_) => {
                self.ciphers.is_empty() || listed(&self.ciphers, &openssl_name(standard_name))
            }
        }
    }

    fn provider(&self) -> Result<Arc<CryptoProvider>, TlsError> {
        let mut narrowed = CryptoProvider::clone(&provider());
        narrowed.cipher_suites.retain(|suite| self.wants(suite));
        let has_tls12 = narrowed.cipher_suites.iter().any(|suite| suite.tls13().is_none());
        // As in OpenSSL, a list without a single known name is an error.
        if narrowed.cipher_suites.is_empty() || !(has_tls12 || self.ciphers.is_empty()) {
            return Err(TlsError::Setup("Failed to set ciphers to use".into()));
        }
        Ok(Arc::new(narrowed))
    }
}

/// Returns OpenSSL's name of a TLS 1.2 suite, given the standard's name.
pub(crate) fn openssl_name(standard_name: &str) -> String {
    let name = standard_name.trim_start_matches("TLS_").replace("_WITH", "");
    let name = name.replace("AES_", "AES").replace("POLY1305_SHA256", "POLY1305");
    name.replace('_', "-")
}

pub(crate) fn client_session(tls: &ClientTls, host: &str) -> Result<ClientConnection, TlsError> {
    let name = ServerName::try_from(host.to_owned()).map_err(setup)?;
    ClientConnection::new(Arc::new(client_config(tls)?), name).map_err(setup)
}

pub(super) fn client_config(tls: &ClientTls) -> Result<ClientConfig, TlsError> {
    let provider = tls.provider()?;
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&tls.protocol_versions()?)
        .map_err(setup)?;
    let authorities = |pem: &[u8]| -> Result<Arc<WebPkiServerVerifier>, TlsError> {
        let mut roots = RootCertStore::empty();
        for authority in certificates(pem)? {
            roots.add(authority).map_err(setup)?;
        }
        WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
            .build()
            .map_err(setup)
    };
    let builder = match &tls.trust {
        Trust::Anybody => {
            let verifier = TakesAnybody(Arc::clone(&provider));
            builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier))
        }
        Trust::Signed(pem) => {
            let verifier = TakesAnyName(authorities(pem)?);
            builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier))
        }
        Trust::Authorities(pem) => builder.with_webpki_verifier(authorities(pem)?),
    };
    Ok(match &tls.identity {
        None => builder.with_no_client_auth(),
        Some(Identity { certificate_pem, key_pem }) => builder
            .with_client_auth_cert(certificates(certificate_pem)?, private_key(key_pem)?)
            .map_err(setup)?,
    })
}

/// Checks the certificate's signature, but not the name that it is for.
#[derive(Debug)]
struct TakesAnyName(Arc<WebPkiServerVerifier>);

impl ServerCertVerifier for TakesAnyName {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let found = self.0.verify_server_cert(certificate, intermediates, name, ocsp_response, now);
        match found {
            // The name is checked last, after everything else was found right.
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}

/// Checks that the server has its certificate's key, but nothing else.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn suites(tls: &ClientTls) -> Vec<String> {
        let provider = tls.provider().expect("some suite is known");
        provider.cipher_suites.iter().filter_map(|s| s.suite().as_str().map(str::to_owned)).collect()
    }

    #[test]
    fn ciphers_are_chosen_by_openssls_names() {
        let mut tls = ClientTls::from(Trust::Anybody);
        assert!(suites(&tls).len() >= 9);
        tls.ciphers = "ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-CHACHA20-POLY1305:unknown".into();
        tls.cipher_suites = Some("TLS_AES_128_GCM_SHA256".into());
        assert_eq!(
            suites(&tls),
            [
                "TLS13_AES_128_GCM_SHA256",
                "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
                "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"
            ]
        );
        tls.ciphers = "unknown".into();
        assert_eq!(tls.provider().expect_err("no cipher").to_string(), "Failed to set ciphers to use");
    }

    #[test]
    fn versions_are_mysqls_words() {
        let mut tls = ClientTls::from(Trust::Anybody);
        tls.versions = "TLSv1.3, tlsv1.2".into();
        assert_eq!(tls.protocol_versions().expect("both are known").len(), 2);
        tls.versions = "TLSv1.1".into();
        assert_eq!(tls.protocol_versions().expect_err("too old").to_string(), "TLS version is invalid");
    }
}
