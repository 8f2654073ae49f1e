//! The encryption that a channel's settings ask for. The files that they name are read anew for
//! each connection, so that new certificates take effect with the next one.

use std::io;
use std::path::Path;

use os::disk::Disk;
use protocol::tls::{ClientTls, Identity, Trust};

use crate::config::ChannelConfig;

/// Returns how the connection is to be encrypted, which is `None` without `SOURCE_SSL`. Paths are
/// relative to the data directory, as in mysqld.
///
/// # Errors
/// Returns the text that MySQL's client has for files which are missing or cannot be read.
pub(super) fn tls(
    disk: &dyn Disk,
    datadir: &Path,
    config: &ChannelConfig,
) -> Result<Option<ClientTls>, &'static str> {
    if !config.ssl {
        return Ok(None);
    }
    let authorities = authorities(disk, datadir, config).ok_or("SSL_CTX_set_default_verify_paths failed")?;
    let trust = match (authorities.is_empty(), config.ssl_verify_server_cert) {
        (true, true) => return Err("CA certificate is required if ssl-mode is VERIFY_CA or VERIFY_IDENTITY"),
        (true, false) => Trust::Anybody,
        (false, true) => Trust::Authorities(authorities),
        (false, false) => Trust::Signed(authorities),
    };
    let identity = match (config.ssl_cert.as_str(), config.ssl_key.as_str()) {
        ("", "") => None,
        // One file may hold both the certificate and the key.
        (certificate, key) => Some(Identity {
            certificate_pem: disk
                .read(&datadir.join(if certificate.is_empty() { key } else { certificate }))
                .map_err(|_| "Unable to get certificate")?,
            key_pem: disk
                .read(&datadir.join(if key.is_empty() { certificate } else { key }))
                .map_err(|_| "Unable to get private key")?,
        }),
    };
    Ok(Some(ClientTls {
        trust,
        identity,
        versions: config.tls_version.clone(),
        ciphers: config.ssl_cipher.clone(),
        cipher_suites: config.tls_ciphersuites.clone(),
    }))
}

/// Returns the certificates of `SOURCE_SSL_CA` and of all files in `SOURCE_SSL_CAPATH`, one behind
/// the other. `None` means that a file or the directory cannot be read.
fn authorities(disk: &dyn Disk, datadir: &Path, config: &ChannelConfig) -> Option<Vec<u8>> {
    let mut pem = Vec::new();
    if !config.ssl_ca.is_empty() {
        pem = disk.read(&datadir.join(&config.ssl_ca)).ok()?;
    }
    if !config.ssl_capath.is_empty() {
        for file in disk.list(&datadir.join(&config.ssl_capath)).ok()? {
            // An entry that cannot be read, such as a directory, is no authority.
            let Ok(content) = disk.read(&file) else { continue };
            if content.starts_with(b"-----BEGIN CERTIFICATE-----") {
                pem.push(b'\n');
                pem.extend(content);
            }
        }
    }
    Some(pem)
}

/// Returns the source's RSA key from `SOURCE_PUBLIC_KEY_PATH`. As in mysqld, a file that cannot be
/// read counts as none.
pub(super) fn public_key(disk: &dyn Disk, datadir: &Path, config: &ChannelConfig) -> Option<String> {
    if config.public_key_path.is_empty() {
        return None;
    }
    let path = datadir.join(&config.public_key_path);
    let text = |pem| String::from_utf8(pem).map_err(io::Error::other);
    disk.read(&path)
        .and_then(text)
        .inspect_err(|error| log::warn!("Can't use the public key '{}': {error}", path.display()))
        .ok()
}
