//! A test of an attachment that was interrupted before any row was copied.

use bench::instance::{Flavor, Settings};
use testkit::Server;

use crate::attaching::{Attaching, catch_up, shown};

#[test]
fn an_attachment_that_was_interrupted_while_it_made_schemas_begins_again() {
    let test = "an_attachment_that_was_interrupted_while_it_made_schemas_begins_again";
    if !testkit::available(test, &[Flavor::MariaDb]) {
        return;
    }
    let source = Server::start(Flavor::MariaDb, &Settings { server_id: 1, ..Settings::default() });
    source.run("CREATE DATABASE d");
    source.run("CREATE TABLE d.t (id INT PRIMARY KEY, v INT)");
    source.run("INSERT INTO d.t VALUES (1, 10), (2, 20)");
    let mut replica = Attaching::new(&source);
    // The interrupted attachment has made a schema as it was then, and one that the source has
    // dropped since.
    replica.leave_behind(&[
        "CREATE DATABASE slipstream_attach",
        "CREATE TABLE slipstream_attach.facts (name VARCHAR(64) PRIMARY KEY, value LONGTEXT NOT NULL)",
        "CREATE DATABASE d",
        "CREATE TABLE d.t (id INT PRIMARY KEY)",
        "CREATE DATABASE dropped",
        "CREATE TABLE dropped.t (id INT PRIMARY KEY)",
    ]);
    replica.start();
    let mut here = replica.wait();
    catch_up(&source, &mut here);
    assert_eq!(shown(&mut here, "SELECT * FROM d.t ORDER BY id"), [["1", "10"], ["2", "20"]]);
    assert!(shown(&mut here, "SHOW DATABASES LIKE 'dropped'").is_empty());
}
