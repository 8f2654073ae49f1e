//! Tests of a replica that is connected to its source over TLS.

use bench::instance::{Flavor, Settings};
use bench::replication::Thread;
use protocol::tls::make_certificates;
use testkit::{Replica, Server};

const VERIFY_FAILED: &str =
    "Message: SSL connection error: error:0A000086:SSL routines::certificate verify failed";

/// A source, and a replica that does not know it yet. The account `tls` may replicate, over TLS
/// only.
struct Pair {
    source: Server,
    replica: Replica,
}

impl Pair {
    fn start(source: Flavor) -> Pair {
        let mut source = Server::start(source, &Settings::default());
        if source.flavor() == Flavor::MariaDb {
            give_certificates(&mut source);
        }
        let required = if source.flavor() == Flavor::Slipstream { "" } else { "REQUIRE SSL" };
        source.run(&format!("CREATE USER tls IDENTIFIED BY 'tls' {required}"));
        source.run("GRANT REPLICATION SLAVE ON *.* TO tls");
        source.run("CREATE DATABASE d");
        source.run("CREATE TABLE d.t (id INT PRIMARY KEY)");
        let settings = Settings { server_id: 2, ..Settings::default() };
        Pair { source, replica: Replica::start(Flavor::Slipstream, &settings) }
    }

    /// Returns the path of a file in the source's data directory, for the replica's statement.
    fn file(&self, name: &str) -> String {
        self.source.datadir().join(name).display().to_string()
    }

    fn connect_with(&self, user: &str, options: &str) {
        self.replica.run("STOP REPLICA");
        self.replica.run(&format!(
            "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={}, SOURCE_USER='{user}', \
             SOURCE_PASSWORD='{user}', SOURCE_CONNECT_RETRY=1, {options}",
            self.source.port()
        ));
        self.replica.start_thread(Thread::Io);
        self.replica.start_thread(Thread::Sql);
    }

    fn is_refused(&self, user: &str, options: &str, number: u32, message: &str) {
        self.connect_with(user, options);
        let status = self.replica.wait_until("refused", |status| status.io_errno != 0);
        assert_eq!(status.io_errno, number, "{options}: {}", status.io_error);
        assert!(status.io_error.contains(message), "{options}: {}", status.io_error);
    }

    fn follows(&self, user: &str, options: &str) {
        self.connect_with(user, options);
        self.source.run("INSERT INTO d.t SELECT COALESCE(MAX(id), 0) + 1 FROM d.t");
        self.replica.catch_up(&self.source);
        let counted = "SELECT COUNT(*) FROM d.t";
        assert_eq!(self.replica.rows(counted), self.source.rows(counted), "{options}");
    }
}

/// Gives a MariaDB server certificates, because it makes none for itself.
fn give_certificates(server: &mut Server) {
    let made = make_certificates("localhost").expect("keys can be made");
    let disk = os::disk::real();
    let files = [("ca.pem", &made.authority), ("cert.pem", &made.server), ("key.pem", &made.server_key)];
    for (name, pem) in files {
        disk.write_atomically(&server.datadir().join(name), pem.as_bytes()).expect("it can be written");
    }
    let option = |name: &str, file: &str| format!("--ssl-{name}={}", server.datadir().join(file).display());
    let extra = vec![option("ca", "ca.pem"), option("cert", "cert.pem"), option("key", "key.pem")];
    let settings = Settings { extra, ..server.settings().clone() };
    server.shut_down();
    server.start_again_with(&settings).unwrap_or_else(|error| panic!("{error}"));
}

/// Writes the certificate of an authority that has signed nothing, and returns its file.
fn another_authority(server: &Server) -> String {
    let path = server.datadir().join("another.pem");
    let pem = make_certificates("elsewhere").expect("keys can be made").authority;
    os::disk::real().write_atomically(&path, pem.as_bytes()).expect("it can be written");
    path.display().to_string()
}

fn takes_the_right_certificate_only(source: Flavor) {
    let pair = Pair::start(source);
    // The account requires TLS, so a replica that follows with it does so over TLS. For Slipstream
    // the account has a password that the source has not cached yet, which needs TLS too.
    match source {
        Flavor::Slipstream => pair.is_refused(
            "tls",
            "SOURCE_SSL=0, GET_SOURCE_PUBLIC_KEY=0",
            2061,
            "requires secure connection",
        ),
        _ => pair.is_refused(
            "tls",
            "SOURCE_SSL=0, GET_SOURCE_PUBLIC_KEY=1",
            1045,
            "Access denied for user 'tls'@",
        ),
    }
    pair.follows("tls", "SOURCE_SSL=1, GET_SOURCE_PUBLIC_KEY=0");
    let wrong = format!("MASTER_SSL_CA='{}'", another_authority(&pair.replica));
    pair.is_refused("tls", &wrong, 2026, VERIFY_FAILED);
    pair.is_refused("tls", "SOURCE_SSL_CA='/no/file'", 2026, "SSL_CTX_set_default_verify_paths failed");
    let right = format!("SOURCE_SSL_CA='{}'", pair.file("ca.pem"));
    pair.follows("tls", &right);
    // MySQL's own certificates name no host.
    if source == Flavor::MySql {
        pair.is_refused("tls", "SOURCE_SSL_VERIFY_SERVER_CERT=1", 2026, VERIFY_FAILED);
    } else {
        pair.follows("tls", "SOURCE_SSL_VERIFY_SERVER_CERT=1");
    }
    pair.follows("tls", "SOURCE_SSL_VERIFY_SERVER_CERT=0, SOURCE_TLS_VERSION='TLSv1.2'");
    pair.is_refused("tls", "SOURCE_TLS_VERSION='TLSv9'", 2026, "TLS version is invalid");
    pair.is_refused(
        "tls",
        "SOURCE_TLS_VERSION='', SOURCE_SSL_CIPHER='none'",
        2026,
        "Failed to set ciphers to use",
    );
}

#[test]
fn from_mysql() {
    if testkit::available("replicate_tls::from_mysql", &[Flavor::MySql]) {
        takes_the_right_certificate_only(Flavor::MySql);
    }
}

#[test]
fn from_mariadb() {
    if testkit::available("replicate_tls::from_mariadb", &[Flavor::MariaDb]) {
        takes_the_right_certificate_only(Flavor::MariaDb);
    }
}

#[test]
fn from_slipstream() {
    takes_the_right_certificate_only(Flavor::Slipstream);
}

#[test]
fn by_a_certificate_or_the_public_key() {
    if !testkit::available("replicate_tls::by_a_certificate_or_the_public_key", &[Flavor::MySql]) {
        return;
    }
    let pair = Pair::start(Flavor::MySql);
    for (user, required) in [("x509", "X509"), ("plain", "NONE")] {
        pair.source.run(&format!("CREATE USER {user} IDENTIFIED BY '{user}' REQUIRE {required}"));
        pair.source.run(&format!("GRANT REPLICATION SLAVE ON *.* TO {user}"));
    }
    pair.is_refused("x509", "SOURCE_SSL=1", 1045, "Access denied for user 'x509'@");
    let (certificate, key) = (pair.file("client-cert.pem"), pair.file("client-key.pem"));
    pair.is_refused("x509", "SOURCE_SSL_CERT='/no/file'", 2026, "Unable to get certificate");
    pair.follows("x509", &format!("SOURCE_SSL_CERT='{certificate}', SOURCE_SSL_KEY='{key}'"));

    // The connection is without TLS, for a password that the source has not cached yet.
    let no_key = "Authentication plugin 'caching_sha2_password' reported error: Authentication requires secure connection.";
    pair.is_refused("plain", "SOURCE_SSL=0", 2061, no_key);
    pair.is_refused("plain", "SOURCE_PUBLIC_KEY_PATH='/no/file'", 2061, no_key);
    pair.follows("plain", &format!("SOURCE_PUBLIC_KEY_PATH='{}'", pair.file("public_key.pem")));
}

#[test]
fn settings_are_shown_and_kept() {
    let mut replica = Replica::start(Flavor::Slipstream, &Settings::default());
    replica.run(
        "CHANGE REPLICATION SOURCE TO SOURCE_HOST='h', SOURCE_SSL=1, SOURCE_SSL_CA='ca', SOURCE_SSL_CAPATH='cas', \
         SOURCE_SSL_CERT='cert', SOURCE_SSL_KEY='key', SOURCE_SSL_CIPHER='ciphers', SOURCE_TLS_VERSION='TLSv1.3', \
         SOURCE_TLS_CIPHERSUITES='suites', SOURCE_SSL_VERIFY_SERVER_CERT=1",
    );
    replica.shut_down();
    replica.come_back();
    let status = replica.rows("SHOW REPLICA STATUS").remove(0);
    let shown = "Yes\tca\tcas\tcert\tciphers\tkey\t";
    assert!(status.contains(shown), "{status}");
    let row = replica.rows(
        "SELECT SSL_ALLOWED, SSL_CA_FILE, SSL_CA_PATH, SSL_CERTIFICATE, SSL_CIPHER, SSL_KEY, \
         SSL_VERIFY_SERVER_CERTIFICATE, TLS_VERSION, TLS_CIPHERSUITES \
         FROM performance_schema.replication_connection_configuration",
    );
    assert_eq!(row, ["YES\tca\tcas\tcert\tciphers\tkey\tYES\tTLSv1.3\tsuites"]);
    let row = replica
        .rows("SELECT Ssl_capath, Ssl_cipher, Tls_version, Tls_ciphersuites FROM mysql.slave_master_info");
    assert_eq!(row, ["cas\tciphers\tTLSv1.3\tsuites"]);
    replica.run("STOP REPLICA");
    let (number, message) = replica.refuses("CHANGE REPLICATION SOURCE TO SOURCE_SSL_CRL='crl'");
    assert_eq!(number, 1235, "{message}");
}
