//! Tests of files on the server's host: where LOAD DATA looks for them, and which accounts may have
//! them read.

use super::{client, same_as_mysql, say};
use bench::instance::Settings;
use protocol::client::ClientError;
use testkit::server::{Server, flavor_under_test};

#[test]
fn files_are_found_where_mysql_finds_them() {
    let settings = Settings { extra: vec!["--secure-file-priv=".into()], ..Settings::default() };
    same_as_mysql("load_data_files", &settings, |server| {
        let mut client = client(server);
        let datadir = server.datadir();
        for (place, text) in
            [("loads/here", "1\n"), ("there", "2\n"), ("loads/deep", "3\n"), ("strict", "4\nx\n5\n6\t7\n")]
        {
            let path = datadir.join(place);
            std::fs::create_dir_all(path.parent().expect("it is within")).expect("a directory can be made");
            os::disk::real().write_atomically(&path, text.as_bytes()).expect("a file can be written");
        }
        let shown_dir = client.query("SELECT @@datadir").expect("it is known").cell(0, 0).expect("a path");
        let mut lines = Vec::new();
        for statement in [
            "CREATE TABLE t (a INT)",
            "LOAD DATA INFILE 'here' INTO TABLE t",
            "LOAD DATA INFILE './there' INTO TABLE t",
            "LOAD DATA INFILE 'loads/deep' INTO TABLE t",
            "LOAD DATA INFILE './loads/../there' INTO TABLE t",
            "LOAD DATA INFILE 'DIR/there' INTO TABLE t",
            "SELECT * FROM t",
            "LOAD DATA INFILE 'nosuch' INTO TABLE t",
            "LOAD DATA INFILE './nosuch' INTO TABLE t",
            "LOAD DATA INFILE '/nosuch/file' INTO TABLE t",
            "LOAD DATA INFILE 'DIR/loads' INTO TABLE t",
            "LOAD DATA INFILE './strict' INTO TABLE t",
            "LOAD DATA INFILE './strict' IGNORE INTO TABLE t",
            "LOAD DATA INFILE './strict' REPLACE INTO TABLE t",
            "SET sql_mode = ''",
            "LOAD DATA INFILE './strict' INTO TABLE t",
            "SELECT * FROM t",
            "USE mysql",
            "LOAD DATA INFILE 'here' INTO TABLE loads.t",
        ] {
            let statement = statement.replace("DIR", shown_dir.trim_end_matches('/'));
            let said = say(&mut client, &statement, b"");
            lines.push(said.replace(&shown_dir, "DIR/").replace(shown_dir.trim_end_matches('/'), "DIR"));
        }
        lines
    });
}

#[test]
fn accounts_without_rights_are_told_so() {
    let settings = Settings { extra: vec!["--secure-file-priv=".into()], ..Settings::default() };
    same_as_mysql("load_data_rights", &settings, |server| {
        let mut admin = client(server);
        for setup in [
            "CREATE TABLE t (a INT, b INT)",
            // The view swaps the names of the table's two columns.
            "CREATE VIEW v AS SELECT b AS a, a AS b FROM t",
            "CREATE USER reader@'%', loader@'%', columns@'%'",
            "GRANT INSERT (a) ON loads.v TO columns@'%'",
            "GRANT SELECT ON loads.t TO reader@'%'",
            "GRANT INSERT ON loads.t TO loader@'%'",
            "GRANT INSERT (a) ON loads.t TO columns@'%'",
        ] {
            admin.query(setup).expect("it can be done");
        }
        let mut lines = Vec::new();
        for user in ["reader", "loader", "columns"] {
            let mut options = server.connect_options().user(user, "").schema("loads");
            options.local_files = true;
            let mut client = protocol::client::Client::connect(&options).expect("it may come in");
            for statement in [
                "LOAD DATA INFILE 'x' INTO TABLE t",
                "LOAD DATA INFILE 'x' INTO TABLE nosuch",
                "LOAD DATA LOCAL INFILE 'x' INTO TABLE t",
                "LOAD DATA LOCAL INFILE 'x' REPLACE INTO TABLE t",
                "LOAD DATA LOCAL INFILE 'x' INTO TABLE t (a)",
                "LOAD DATA LOCAL INFILE 'x' INTO TABLE t (b)",
                "LOAD DATA LOCAL INFILE 'x' INTO TABLE t (a) SET b = 1",
                "LOAD DATA LOCAL INFILE 'x' INTO TABLE t (a) SET a = b",
                "LOAD DATA LOCAL INFILE 'x' INTO TABLE v (a)",
                "LOAD DATA LOCAL INFILE 'x' INTO TABLE v (b)",
                "LOAD DATA LOCAL INFILE 'x' INTO TABLE v (@x) SET b = 1",
                "LOAD DATA LOCAL INFILE 'x' INTO TABLE v (@x) SET a = 1",
            ] {
                let said = say(&mut client, statement, b"1\t2\n");
                lines.push(format!("{user}: {said}").replace("127.0.0.1", "localhost"));
            }
        }
        lines
    });
}

#[test]
fn a_load_that_is_killed_leaves_nothing() {
    const LINES: usize = 3_000_000;
    let settings = Settings { extra: vec!["--secure-file-priv=".into()], ..Settings::default() };
    let server = Server::start(flavor_under_test(), &settings);
    let mut client = client(&server);
    client.query("CREATE TABLE t (a INT)").expect("it can be made");
    let path = server.datadir().join("loads/long");
    os::disk::real().write_atomically(&path, "1\n".repeat(LINES).as_bytes()).expect("it can be written");
    let id = client.connection_id();
    let loading = os::thread::spawn("loading", move || client.query("LOAD DATA INFILE 'long' INTO TABLE t"));
    let runs = format!("SELECT 1 FROM information_schema.processlist WHERE id = {id} AND info LIKE 'LOAD%'");
    while server.rows(&runs).is_empty() {
        assert!(!loading.is_finished(), "it has ended before it could be killed");
    }
    server.run(&format!("KILL QUERY {id}"));
    let outcome = loading.join().expect("it does not panic");
    assert!(matches!(&outcome, Err(ClientError::Server(error)) if error.code == 1317), "{outcome:?}");
    assert!(server.rows("SELECT * FROM loads.t LIMIT 1").is_empty());
}
