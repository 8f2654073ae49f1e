//! Tests of `slipstream analyze` with the binary logs of real servers, read from their files and
//! over the network.

use bench::instance::{Flavor, RowImage, Settings, USER};
use testkit::server::flavor_under_test;
use testkit::{Server, available, binary, program};

/// The number of transactions that change the hot row.
const HOT: usize = 20;

fn analyze(arguments: &[String]) -> String {
    let mut words = vec!["analyze".to_string()];
    words.extend_from_slice(arguments);
    program::succeed(&binary::slipstream().display().to_string(), &words)
}

/// Starts a server and writes its binary log: a table with a key, one of whose rows is changed by
/// many transactions, a table without a key, a large transaction, and the end of a file in between.
fn written(flavor: Flavor, row_image: RowImage) -> Server {
    let server = Server::start(flavor, &Settings { row_image, ..Settings::default() });
    let mut client = server.connect();
    let mut run = |sql: &str| {
        client.query(sql).unwrap_or_else(|error| panic!("{flavor}: {sql}: {error}"));
    };
    run("CREATE DATABASE analyzed");
    run(
        "CREATE TABLE analyzed.keyed (id INT PRIMARY KEY, name VARCHAR(20) NOT NULL, n INT NOT NULL, UNIQUE KEY (name))",
    );
    run("CREATE TABLE analyzed.keyless (a INT, b INT)");
    let rows: Vec<String> = (0..1500).map(|id| format!("({id},'name {id}',0)")).collect();
    run(&format!("INSERT INTO analyzed.keyed VALUES {}", rows.join(",")));
    for id in 1..=HOT {
        run("BEGIN");
        run("UPDATE analyzed.keyed SET n = n + 1 WHERE id = 7");
        run(&format!("UPDATE analyzed.keyed SET n = n + 1 WHERE id = {}", 100 + id));
        run("COMMIT");
        if id == HOT / 2 {
            run(if flavor == Flavor::MySql { "FLUSH BINARY LOGS" } else { "FLUSH LOGS" });
        }
    }
    run("INSERT INTO analyzed.keyless VALUES (1, 2), (3, 4)");
    run("UPDATE analyzed.keyless SET b = b + 1");
    run("DELETE FROM analyzed.keyless WHERE a = 3");
    // The files will be read, so the binary log's writer must have come to the end.
    server.position();
    server
}

fn has(said: &str, parts: &[&str], what: &str) {
    for part in parts {
        assert!(said.contains(part), "{what}: no {part:?} in\n{said}");
    }
}

/// Checks for everything that must be found both in the files and over the network. Before it there
/// may be DDL that the server ran when it was made.
fn tells_the_story(server: &Server, said: &str, what: &str) {
    let what = format!("{}, {what}", server.flavor());
    has(
        said,
        &[
            "\"large_transactions_count\": 1,",
            "\"row_changes\": 1500,",
            "\"inserts\": 1500,\n",
            &format!("\"updates\": {}\n", 2 * HOT),
            "\"policy\": \"ROW\",",
            "\"is_open_at_end\": false,",
        ],
        &what,
    );
    // The hot row's changes form a chain by row, in which the insert comes before the first update.
    let hot = format!("\"changes\": {},", HOT + 1);
    assert_eq!(said.matches(&hot).count(), 1, "{what}: one row has {hot}\n{said}");
    // Every policy has an efficiency at every number of workers, and that of one worker is 1.
    let efficiencies = said.matches("\"efficiency\": ").count();
    assert_eq!(
        (efficiencies, said.matches("\"efficiency\": 1.0,").count() >= 4),
        (4 * 7, true),
        "{what}:\n{said}"
    );
    let workers = |count: usize| said.matches(&format!("\"workers\": {count}\n")).count();
    assert!([8, 16, 32, 64].iter().all(|count| workers(*count) == 4), "{what}:\n{said}");
}

fn remote(server: &Server) -> [String; 2] {
    ["--source".to_string(), format!("127.0.0.1:{},{USER},{USER}", server.port())]
}

fn analyzes(flavor: Flavor) {
    let server = written(flavor, RowImage::Minimal);
    let files = server.datadir().display().to_string();
    let said = analyze(&[files, "--json".to_string()]);
    tells_the_story(&server, &said, "files");
    // In the files of MariaDB, images of a table without a key look like those of any other table.
    if flavor != Flavor::MariaDb {
        has(&said, &["\"keys\": \"none\","], "files");
    }
    let said = analyze(&[&remote(&server)[..], &["--json".to_string()]].concat());
    tells_the_story(&server, &said, "wire");
    has(&said, &["\"keys\": \"server\",", "\"keys\": \"none\",", "\"key\": \"@1=7\","], "wire");
    let said = analyze(&remote(&server));
    has(&said, &["analyzed.keyless", "NO KEY", "LOGICAL_CLOCK", "64 workers"], "text");
    let (success, said) =
        program::run(&binary::slipstream().display().to_string(), &["analyze".into(), "/nowhere".into()]);
    assert!(!success && said.contains("/nowhere"), "{said}");
}

#[test]
fn of_mysql() {
    if available("analyze::of_mysql", &[Flavor::MySql]) {
        analyzes(Flavor::MySql);
    }
}

#[test]
fn of_mariadb() {
    if available("analyze::of_mariadb", &[Flavor::MariaDb]) {
        analyzes(Flavor::MariaDb);
    }
}

#[test]
fn of_the_server_under_test() {
    analyzes(flavor_under_test());
}

/// When full images come without the names of the key's columns, a row is identified by all its
/// columns and still counts as one row.
#[test]
fn full_images_are_followed_from_image_to_image() {
    if !available("analyze::full_images_are_followed_from_image_to_image", &[Flavor::MariaDb]) {
        return;
    }
    let server = written(Flavor::MariaDb, RowImage::Full);
    let said = analyze(&[server.datadir().display().to_string(), "--json".to_string()]);
    tells_the_story(&server, &said, "full images");
    has(&said, &["\"keys\": \"unknown\","], "full images");
}
