//! Tests of the encryption between a source and the copy, and of the channel that follows.

use bench::instance::{Flavor, Settings};
use protocol::tls::make_certificates;
use testkit::Server;

use crate::attaching::{Attaching, catch_up, shown};

const VERIFY_FAILED: &str =
    "ERROR 2026 (HY000): SSL connection error: error:0A000086:SSL routines::certificate verify failed";

fn source(test: &str, flavor: Flavor) -> Option<Server> {
    let settings = Settings { server_id: 1, ..Settings::default() };
    testkit::available(test, &[flavor]).then(|| Server::start(flavor, &settings))
}

#[test]
fn the_copy_and_the_channel_take_the_right_certificate_only() {
    let test = "the_copy_and_the_channel_take_the_right_certificate_only";
    let Some(source) = source(test, Flavor::MySql) else { return };
    source.run("CREATE DATABASE d");
    source.run("CREATE TABLE d.t (id INT PRIMARY KEY)");
    source.run("INSERT INTO d.t VALUES (1), (2)");
    let mut replica = Attaching::new(&source);
    source.run("ALTER USER repl REQUIRE SSL");
    let authority = source.datadir().join("ca.pem").display().to_string();
    let another = source.datadir().join("another.pem");
    let pem = make_certificates("elsewhere").expect("keys can be made").authority;
    os::disk::real().write_atomically(&another, pem.as_bytes()).expect("it can be written");
    let (right, wrong) = (format!("--ssl-ca={authority}"), format!("--ssl-ca={}", another.display()));
    for (words, why) in [
        (&["--ssl-mode=disabled"][..], "ERROR 1045 (28000): Access denied for user 'repl'@"),
        (&[&wrong], VERIFY_FAILED),
        // MySQL's own certificates name no host.
        (&[&right, "--ssl-mode=VERIFY_IDENTITY"], VERIFY_FAILED),
    ] {
        replica.set_words(words);
        let told = replica.dry_run();
        assert!(told.contains(why), "{words:?}: {told}");
    }
    replica.set_words(&[&right]);
    replica.start();
    let mut here = replica.wait();
    source.run("INSERT INTO d.t VALUES (3)");
    catch_up(&source, &mut here);
    assert_eq!(shown(&mut here, "SELECT * FROM d.t ORDER BY id"), [["1"], ["2"], ["3"]]);
    let status = here.query("SHOW REPLICA STATUS").expect("it answers");
    for (column, value) in [("Source_SSL_Allowed", "Yes"), ("Source_SSL_CA_File", &authority)] {
        assert_eq!(status.text(0, column).as_deref(), Some(value), "{column}");
    }
}

#[test]
fn a_source_without_tls_is_copied_unless_tls_is_required() {
    let test = "a_source_without_tls_is_copied_unless_tls_is_required";
    // MariaDB makes no certificates for itself.
    let Some(source) = source(test, Flavor::MariaDb) else { return };
    let mut replica = Attaching::new(&source);
    replica.set_words(&["--ssl-mode=REQUIRED"]);
    let told = replica.dry_run();
    let why = "ERROR 2026 (HY000): SSL connection error: SSL is required but the server doesn't support it";
    assert!(told.contains(why), "{told}");
    replica.set_words(&["--ssl-mode=PREFERRED"]);
    replica.start();
    let status = replica.wait().query("SHOW REPLICA STATUS").expect("it answers");
    assert_eq!(status.text(0, "Source_SSL_Allowed").as_deref(), Some("No"));
}
