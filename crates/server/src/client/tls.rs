//! The server's certificate and key: those that options name, or those in the data directory, which
//! are made if there are none.

use std::io;
use std::path::{Path, PathBuf};

use protocol::tls::{ServerTls, TlsError, make_certificates};

use crate::server::Server;
use crate::variables::Setting;

/// MySQL's names of the files (manual, "Creating SSL and RSA Certificates and Keys using MySQL").
const AUTHORITY_FILE: &str = "ca.pem";
const AUTHORITY_KEY_FILE: &str = "ca-key.pem";
const CERTIFICATE_FILE: &str = "server-cert.pem";
const KEY_FILE: &str = "server-key.pem";
const CLIENT_CERTIFICATE_FILE: &str = "client-cert.pem";
const CLIENT_KEY_FILE: &str = "client-key.pem";

/// Gives the server its certificate and key for TLS. As MySQL does, it goes on without TLS and with
/// a warning in the log when they cannot be read or made.
pub fn open(server: &Server) {
    if server.globals.named("tls_version").text().is_empty() {
        return;
    }
    match load(server) {
        Ok(Some(tls)) => {
            server.tls.get_or_init(|| tls);
        }
        Ok(None) => {}
        Err(what) => log::warn!("Failed to set up SSL because of the following SSL library error: {what}"),
    }
}

fn load(server: &Server) -> Result<Option<ServerTls>, String> {
    let option = |name: &str| server.globals.named(name).text().to_owned();
    let (mut certificate, mut key) = (option("ssl_cert"), option("ssl_key"));
    if certificate.is_empty() && key.is_empty() {
        if !find_or_make(server).map_err(|error| error.to_string())? {
            return Ok(None);
        }
        (certificate, key) = (CERTIFICATE_FILE.to_owned(), KEY_FILE.to_owned());
        for (name, file) in
            [("ssl_ca", AUTHORITY_FILE), ("ssl_cert", CERTIFICATE_FILE), ("ssl_key", KEY_FILE)]
        {
            if option(name).is_empty() {
                server.globals.set_named(name, Setting::Text(file.into()));
            }
        }
    }
    let read = |file: &str| {
        let path = place(server, file);
        server.disk.read(&path).map_err(|error| error.to_string()).map(|bytes| (path, bytes))
    };
    let ((certificate, certificate_pem), (key, key_pem)) = (read(&certificate)?, read(&key)?);
    let authorities = Some(option("ssl_ca")).filter(|file| !file.is_empty());
    let authorities = authorities.map(|file| read(&file)).transpose()?;
    let authorities_pem = authorities.as_ref().map(|(_, pem)| pem.as_slice());
    let tls = ServerTls::new(&certificate_pem, &key_pem, authorities_pem);
    tls.map(Some).map_err(|error: TlsError| format!("{}, {}: {error}", certificate.display(), key.display()))
}

/// Returns the path of a file. A relative name is relative to the data directory.
fn place(server: &Server, file: &str) -> PathBuf {
    server.datadir.join(file)
}

/// Makes the certificates in the data directory if there are none and `auto_generate_certs` is on.
/// Returns whether they are all there now.
fn find_or_make(server: &Server) -> io::Result<bool> {
    let files = [AUTHORITY_FILE, CERTIFICATE_FILE, KEY_FILE];
    let found = files
        .iter()
        .map(|file| server.disk.exists(&place(server, file)))
        .collect::<io::Result<Vec<bool>>>()?;
    if found.iter().any(|found| *found) {
        return Ok(found.iter().all(|found| *found));
    }
    if !server.globals.named("auto_generate_certs").is_on() {
        return Ok(false);
    }
    let made = make_certificates(server.globals.named("hostname").text()).map_err(io::Error::other)?;
    // The server's certificate is written last, so that all others exist when it does.
    for (file, pem) in [
        (AUTHORITY_KEY_FILE, &made.authority_key),
        (AUTHORITY_FILE, &made.authority),
        (KEY_FILE, &made.server_key),
        (CLIENT_KEY_FILE, &made.client_key),
        (CLIENT_CERTIFICATE_FILE, &made.client),
        (CERTIFICATE_FILE, &made.server),
    ] {
        let path: &Path = &place(server, file);
        match file.ends_with("-key.pem") {
            true => server.disk.write_secret_atomically(path, pem.as_bytes())?,
            false => server.disk.write_atomically(path, pem.as_bytes())?,
        }
    }
    log::info!("Auto generated SSL certificates are placed in data directory.");
    Ok(true)
}
