//! Tests of COM_CHANGE_USER: which accounts get in, with which messages the others are refused and
//! what becomes of their connection, and what is left of the session. A real MySQL gets the same
//! commands and must answer the same.

use bench::instance::Settings;
use protocol::client::{Client, ClientError};
use protocol::scalar::Scalar;
use testkit::Server;
use testkit::server::same_as_mysql;

const SETUP: &[&str] = &[
    "CREATE DATABASE d",
    "CREATE DATABASE secret",
    "CREATE TABLE d.t (id INT PRIMARY KEY AUTO_INCREMENT, v INT)",
    "CREATE USER u@'%' IDENTIFIED BY 'right'",
    "CREATE USER locked@'%' IDENTIFIED BY 'right' ACCOUNT LOCK",
    "CREATE USER expired@'%' IDENTIFIED BY 'right' PASSWORD EXPIRE",
    "GRANT ALL ON d.* TO u@'%'",
];

fn told<T>(answer: Result<T, ClientError>) -> String {
    match answer {
        Ok(_) => "done".to_owned(),
        Err(ClientError::Server(e)) => format!("{} {}", e.code, e.message),
        Err(_) => "the connection is lost".to_owned(),
    }
}

fn rows(client: &mut Client, text: &str) -> String {
    let answer = client.query(text);
    let Ok(result) = answer else { return told(answer) };
    let cell = |cell: &Option<Vec<u8>>| match cell {
        Some(bytes) => bytes.escape_ascii().to_string(),
        None => "NULL".to_owned(),
    };
    result.rows.iter().flatten().map(cell).collect::<Vec<_>>().join("|")
}

fn start(server: &Server) {
    SETUP.iter().for_each(|statement| drop(server.run(statement)));
}

/// Returns a user that the server does not know and refuses with `caching_sha2_password`. MySQL
/// draws a plugin for each unknown name at each start, and the client does not have all plugins.
fn unknown_user(server: &Server) -> String {
    const MOST: usize = 100;
    let is_answered = |name: &String| {
        let answer = server.connect().change_user(name, "", "");
        !matches!(answer, Err(ClientError::Authentication(_)))
    };
    let mut names = (0..MOST).map(|number| format!("nobody{number}"));
    names.find(is_answered).expect("MySQL draws one of three plugins")
}

#[test]
fn each_account_gets_in_or_is_refused_as_in_mysql() {
    let tries = [
        ("u", "right", ""),
        ("u", "right", "d"),
        ("u", "wrong", ""),
        ("u", "", "d"),
        ("nobody", "right", ""),
        ("nobody", "", ""),
        ("u", "right", "nowhere"),
        ("u", "right", "secret"),
        ("root", "wrong", ""),
        ("locked", "right", ""),
        ("locked", "wrong", ""),
        ("expired", "right", "d"),
    ];
    same_as_mysql("change_user_gets_in", &Settings::default(), |server| {
        start(server);
        let nobody = unknown_user(server);
        let ask = |&(user, password, schema): &(&str, &str, &str)| {
            let mut client = server.connect();
            client.query("USE d").expect("it is there");
            let name = if user == "nobody" { nobody.as_str() } else { user };
            let answer = told(client.change_user(name, password, schema)).replace(name, user);
            let who = rows(&mut client, "SELECT CURRENT_USER(), DATABASE()");
            let again = told(client.change_user("u", "right", "d"));
            format!("{user} {password} {schema}: {answer}; {who}; {again}; {}", rows(&mut client, "SELECT 1"))
        };
        tries.iter().map(ask).collect()
    });
}

/// Statements that give the session a state which COM_CHANGE_USER must clear.
const STATE: &[&str] = &[
    "USE d",
    "SET NAMES latin1",
    "SET @a = 5",
    "SET sql_mode = '', time_zone = '+05:00', sql_safe_updates = 1, max_execution_time = 60000",
    "SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE",
    "SET autocommit = 0",
    "PREPARE s FROM 'SELECT 1'",
    "INSERT INTO d.t (v) VALUES (1)",
    "SELECT CAST('x' AS SIGNED)",
];

const QUESTIONS: &[&str] = &[
    "SELECT @@warning_count, ROW_COUNT(), LAST_INSERT_ID()",
    "SHOW WARNINGS",
    "SELECT CURRENT_USER(), DATABASE(), @a",
    "SELECT @@sql_mode = @@GLOBAL.sql_mode, @@time_zone, @@sql_safe_updates, @@max_execution_time",
    "SELECT @@transaction_isolation, @@autocommit",
    "SELECT @@character_set_client, @@collation_connection, @@character_set_results",
    "EXECUTE s",
    "SELECT COUNT(*) FROM d.t",
];

#[test]
fn nothing_of_the_session_is_left() {
    let answers = same_as_mysql("change_user_leaves_nothing", &Settings::default(), |server| {
        start(server);
        let mut client = server.connect();
        STATE.iter().for_each(|statement| drop(client.query(statement).expect(statement)));
        let id = client.connection_id();
        let prepared = client.prepare("SELECT ?").expect("it can be prepared");
        let mut lines = vec![told(client.change_user("u", "right", ""))];
        lines.extend(QUESTIONS.iter().map(|question| format!("{question}: {}", rows(&mut client, question))));
        let number = format!("({})", prepared.id());
        lines.push(told(client.execute(&prepared, &[Scalar::Int(1)])).replace(&number, "(ID)"));
        lines.push((rows(&mut client, "SELECT CONNECTION_ID()") == id.to_string()).to_string());
        lines.push(format!("another session sees {:?}", server.rows("SELECT COUNT(*) FROM d.t")));
        lines
    });
    assert!(answers.iter().any(|line| line.contains("u@%")), "{answers:?}");
}

#[test]
fn no_lock_is_left_and_the_transaction_is_rolled_back() {
    same_as_mysql("change_user_leaves_no_lock", &Settings::default(), |server| {
        start(server);
        let mut lines = Vec::new();
        let mut other = server.connect();
        for refused in [false, true] {
            let mut client = server.connect();
            for statement in ["SET SESSION lock_wait_timeout = 2", "LOCK TABLES d.t WRITE"] {
                client.query(statement).expect(statement);
            }
            let password = if refused { "wrong" } else { "right" };
            lines.push(told(client.change_user("u", password, "")));
            other.query("SET lock_wait_timeout = 20").expect("sets");
            lines.push(told(other.query("INSERT INTO d.t (v) VALUES (2)")));
            let mut client = server.connect();
            for statement in ["BEGIN", "UPDATE d.t SET v = 7"] {
                client.query(statement).expect(statement);
            }
            lines.push(told(client.change_user("u", password, "")));
            lines.push(rows(&mut other, "SELECT v FROM d.t FOR UPDATE"));
        }
        lines
    });
}
