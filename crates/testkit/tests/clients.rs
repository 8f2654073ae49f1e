//! Tests with the command-line clients of MariaDB and MySQL, and with mysqlslap, all unchanged.

use bench::instance::{Flavor, USER, peers_dir};
use testkit::{Server, program};

/// Returns the options with which a client connects over TCP as the kit's user.
fn tcp(server: &Server) -> Vec<String> {
    vec![
        "--no-defaults".into(),
        "--host=127.0.0.1".into(),
        format!("--port={}", server.port()),
        format!("--user={USER}"),
        format!("--password={USER}"),
    ]
}

fn with(mut words: Vec<String>, more: &[&str]) -> Vec<String> {
    words.extend(more.iter().map(|word| word.to_string()));
    words
}

/// What every client can do: definitions, rows, status, and an error that does not end the session.
/// The last needs `--force`, which has to come after `-e` because `-e` resets it.
const SCRIPT: &str = "CREATE DATABASE shop; USE shop;
    CREATE TABLE t (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20), price DECIMAL(8,2));
    INSERT INTO t (name, price) VALUES ('nut', 0.05), ('bolt', 0.10), (NULL, NULL);
    SELECT no_such_column FROM t;
    UPDATE t SET price = price * 3 WHERE name = 'bolt';
    SELECT id, name, price FROM t ORDER BY id DESC;
    SELECT COUNT(*), SUM(price) FROM t;
    SHOW TABLES;
    SHOW CREATE TABLE t;";

fn is_what_the_script_says(said: &str) {
    for line in ["3\tNULL\tNULL", "2\tbolt\t0.30", "1\tnut\t0.05", "3\t0.35"] {
        assert!(said.lines().any(|said| said == line), "no line {line:?} in:\n{said}");
    }
    assert!(said.contains("ERROR 1054 (42S22)") && said.contains("no_such_column"), "{said}");
    assert!(said.contains("t\tCREATE TABLE `t` ("), "{said}");
}

#[test]
fn mariadb_client_over_tcp_and_socket() {
    if !testkit::tool_available("clients::mariadb_client_over_tcp_and_socket", "mariadb") {
        return;
    }
    let server = Server::under_test();
    let (_, said) = program::run("mariadb", &with(tcp(&server), &["--batch", "-e", SCRIPT, "--force"]));
    is_what_the_script_says(&said);

    let socket = format!("--socket={}", server.socket().display());
    let root = with(vec!["--no-defaults".into(), socket, "--user=root".into()], &["--batch", "-e"]);
    let said = program::succeed("mariadb", &with(root, &["SELECT CURRENT_USER(), @@port"]));
    assert!(said.contains(&format!("root@localhost\t{}", server.port())), "{said}");
}

#[test]
fn a_wrong_password_is_refused() {
    if !testkit::tool_available("clients::a_wrong_password_is_refused", "mariadb") {
        return;
    }
    let server = Server::under_test();
    let (success, said) =
        program::run("mariadb", &with(tcp(&server), &["--password=wrong", "-e", "SELECT 1"]));
    assert!(!success && said.contains("ERROR 1045 (28000)"), "{said}");
    let (success, said) =
        program::run("mariadb", &with(tcp(&server), &["--user=nobody_here", "-e", "SELECT 1"]));
    assert!(!success && said.contains("ERROR 1045 (28000)"), "{said}");
}

#[test]
fn mysql_client() {
    if !testkit::available("clients::mysql_client", &[Flavor::MySql]) {
        return;
    }
    let server = Server::under_test();
    let chroot = peers_dir().join("mysql-chroot").display().to_string();
    let mut words = with(vec![chroot, "mysql".into()], &[]);
    words.extend(tcp(&server));
    let key =
        if server.flavor() == Flavor::MariaDb { "--ssl-mode=DISABLED" } else { "--get-server-public-key" };
    let (_, said) = program::run("chroot", &with(words, &[key, "--batch", "-e", SCRIPT, "--force"]));
    is_what_the_script_says(&said);
}

#[test]
fn clients_that_want_tls() {
    const CIPHER: &str = "SHOW STATUS LIKE 'Ssl_cipher'";
    let server = Server::under_test();
    let is_encrypted = |said: &str| assert!(said.contains("Ssl_cipher\tTLS_"), "{said}");
    if testkit::tool_available("clients::clients_that_want_tls", "mariadb") {
        let words = with(tcp(&server), &["--ssl", "--batch", "-e", CIPHER]);
        is_encrypted(&program::succeed("mariadb", &words));
    }
    if testkit::available("clients::clients_that_want_tls", &[Flavor::MySql]) {
        let words = of_mysql("mysql", with(tcp(&server), &["--ssl-mode=REQUIRED", "--batch", "-e", CIPHER]));
        is_encrypted(&program::succeed("chroot", &words));
    }
}

/// Returns the arguments of `chroot` that run one of MySQL's programs.
fn of_mysql(name: &str, words: Vec<String>) -> Vec<String> {
    let program = vec![peers_dir().join("mysql-chroot").display().to_string(), name.to_string()];
    [program, words].concat()
}

/// Checks that the server ends as after SIGTERM, and has its rows when it comes back.
fn ends_and_comes_back(server: &mut Server) {
    let status = server.wait_ended().unwrap_or_else(|error| panic!("{error}"));
    assert!(status.success(), "ended with {status}:\n{}", server.log_tail());
    assert!(server.log_tail().contains("Shutdown complete"), "{}", server.log_tail());
    server.come_back();
    assert_eq!(server.rows("SELECT id FROM d.t"), ["1"]);
}

#[test]
fn mysqladmin_shuts_the_server_down() {
    let test = "clients::mysqladmin_shuts_the_server_down";
    let mut server = Server::under_test();
    for sql in ["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1)"] {
        server.run(sql);
    }
    server.run("CREATE USER guest IDENTIFIED WITH mysql_native_password BY 'guest'");
    // MariaDB's client sends COM_SHUTDOWN, MySQL's the statement.
    if testkit::tool_available(test, "mariadb-admin") {
        let as_guest = ["--user=guest", "--password=guest", "shutdown"];
        let (done, said) = program::run("mariadb-admin", &with(tcp(&server), &as_guest));
        assert!(
            !done && said.contains("Access denied; you need (at least one of) the SHUTDOWN privilege"),
            "{said}"
        );
        program::succeed("mariadb-admin", &with(tcp(&server), &["shutdown"]));
        ends_and_comes_back(&mut server);
    }
    if testkit::available(test, &[Flavor::MySql]) {
        program::succeed("chroot", &of_mysql("mysqladmin", with(tcp(&server), &["shutdown"])));
        ends_and_comes_back(&mut server);
    }
}

/// Runs mysqlslap with these options and statements that it generates.
fn slap(name: &str, options: &[&str]) {
    if !testkit::tool_available(&format!("clients::{name}"), "mysqlslap") {
        return;
    }
    let server = Server::under_test();
    let words = with(tcp(&server), &["--auto-generate-sql", "--concurrency=4", "--iterations=2"]);
    let said = program::succeed("mysqlslap", &with(words, options));
    assert!(said.contains("Average number of seconds"), "{said}");
    assert!(!said.contains("ERROR") && !said.contains("annot"), "{said}");
    // mysqlslap removes the schema that it made.
    assert_eq!(server.rows("SHOW DATABASES LIKE 'mysqlslap'"), Vec::<String>::new());
}

#[test]
fn mysqlslap_as_it_comes() {
    slap("mysqlslap_as_it_comes", &["--number-of-queries=400"]);
}

#[test]
fn mysqlslap_writes() {
    let options = ["--auto-generate-sql-load-type=write", "--auto-generate-sql-execute-number=100"];
    slap("mysqlslap_writes", &options);
}

#[test]
fn mysqlslap_with_keys() {
    let options = [
        "--auto-generate-sql-load-type=key",
        "--auto-generate-sql-add-autoincrement",
        "--number-of-queries=400",
        "--number-int-cols=3",
        "--number-char-cols=3",
    ];
    slap("mysqlslap_with_keys", &options);
}

#[test]
fn mysqlslap_updates_by_guid() {
    let options = [
        "--auto-generate-sql-load-type=update",
        "--auto-generate-sql-guid-primary",
        "--auto-generate-sql-secondary-indexes=2",
        "--number-of-queries=200",
    ];
    slap("mysqlslap_updates_by_guid", &options);
}
