//! Tests of GRANT, REVOKE and roles, compared with MySQL: several grantors run the same statements
//! on both servers. Each statement must have the same error on both, and SHOW GRANTS of every
//! account the same lines.

use bench::instance::{Flavor, Settings};
use os::random::{Rng, test_seed_or};
use protocol::client::{Client, ClientError};
use testkit::{Server, available};

/// The users. The first three are grantors too.
const USERS: &[&str] = &["g1", "g2", "g3", "u1", "u2"];
const ROLES: &[&str] = &["r1", "r2", "r3", "r4"];

const PREPARATION: &[&str] = &[
    "CREATE DATABASE d1",
    "CREATE DATABASE d2",
    "CREATE TABLE d1.t1 (a INT, b INT, c INT)",
    "CREATE TABLE d1.t2 (a INT, b INT)",
    "CREATE TABLE d2.t1 (a INT, b INT)",
    "CREATE USER g1, g2, g3, u1, u2",
    "CREATE ROLE r1, r2, r3, r4",
    "GRANT SELECT, INSERT, UPDATE, CREATE USER ON *.* TO g1 WITH GRANT OPTION",
    "GRANT BINLOG_ADMIN, CONNECTION_ADMIN ON *.* TO g1 WITH GRANT OPTION",
    "GRANT ALL ON d1.* TO g2 WITH GRANT OPTION",
    "GRANT XA_RECOVER_ADMIN ON *.* TO g2",
    "GRANT r1 TO g2 WITH ADMIN OPTION",
    "GRANT SELECT, INSERT (a), UPDATE (a, b), DELETE, DROP ON d1.t1 TO g3 WITH GRANT OPTION",
    "GRANT ROLE_ADMIN ON *.* TO g3",
    "GRANT CREATE ROLE, DROP ROLE ON *.* TO g3",
];

fn one<'a>(rng: &mut Rng, of: &[&'a str]) -> &'a str {
    of[rng.below(of.len() as u64) as usize]
}

fn some(rng: &mut Rng, of: &[&str], most: u64) -> String {
    let mut names: Vec<&str> = (0..=rng.below(most)).map(|_| one(rng, of)).collect();
    names.sort_unstable();
    names.dedup();
    names.join(", ")
}

fn account(rng: &mut Rng) -> String {
    match rng.below(20) {
        0 => "nobody".into(),
        1..=5 => one(rng, ROLES).into(),
        _ => one(rng, USERS).into(),
    }
}

/// Returns privileges and what they are granted on. Now and then the two do not fit together.
fn privileges_on(rng: &mut Rng) -> String {
    const TABLE: &[&str] =
        &["SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "INDEX", "ALTER", "TRIGGER"];
    const SCHEMA: &[&str] =
        &["SELECT", "INSERT", "UPDATE", "DELETE", "LOCK TABLES", "EVENT", "EXECUTE", "SHOW VIEW"];
    const GLOBAL: &[&str] = &["SELECT", "INSERT", "UPDATE", "RELOAD", "PROCESS", "CREATE USER", "SUPER"];
    const DYNAMIC: &str = "BINLOG_ADMIN, CONNECTION_ADMIN";
    const COLUMNS: &[&str] = &[
        "SELECT (a)",
        "SELECT (a, b)",
        "INSERT (a)",
        "UPDATE (b)",
        "UPDATE (a, b)",
        "REFERENCES (b)",
        "SELECT (zz)",
    ];
    let tables = ["d1.t1", "d1.t1", "d1.t2", "d2.t1", "d1.absent", "nowhere.t"];
    let schemas = ["d1.*", "d1.*", "d2.*", "`d_`.*", "nowhere.*"];
    match rng.below(16) {
        0..=4 => format!("{} ON {}", some(rng, TABLE, 3), one(rng, &tables)),
        5..=6 => format!("{} ON {}", some(rng, COLUMNS, 2), one(rng, &tables)),
        7..=10 => format!("{} ON {}", some(rng, SCHEMA, 3), one(rng, &schemas)),
        11..=12 => format!("{} ON *.*", some(rng, GLOBAL, 2)),
        13 => format!("{DYNAMIC} ON *.*"),
        14 => format!("ALL ON {}", one(rng, &["*.*", "d1.*", "d1.t1", "d2.*", "d2.t1"])),
        _ => {
            let what = one(rng, &["SUPER", "LOCK TABLES", DYNAMIC, "SELECT (a)", "NO_SUCH", "GRANT OPTION"]);
            format!("{what} ON {}", one(rng, &["*.*", "d1.*", "d1.t1", "d2.t1"]))
        }
    }
}

fn statement(rng: &mut Rng) -> String {
    let to = account(rng);
    match rng.below(40) {
        0..=14 => {
            let option = if rng.below(4) == 0 { " WITH GRANT OPTION" } else { "" };
            format!("GRANT {} TO {to}{option}", privileges_on(rng))
        }
        15..=24 => format!("REVOKE {} FROM {to}", privileges_on(rng)),
        25..=28 => {
            // A role is always granted with the admin option or never, because what MySQL shows of
            // a role that is granted again without it depends on when MySQL last read its tables.
            let (roles, option) = match rng.below(2) {
                0 => (&["r1", "r2"], " WITH ADMIN OPTION"),
                _ => (&["r3", "r4"], ""),
            };
            format!("GRANT {} TO {to}{option}", some(rng, roles, 2))
        }
        29..=31 => format!("REVOKE {} FROM {to}", some(rng, ROLES, 2)),
        32 => format!("SET DEFAULT ROLE {} TO {to}", one(rng, &["NONE", "ALL", "r1", "r2", "r1, r3"])),
        33..=34 => format!("SET ROLE {}", one(rng, &["NONE", "ALL", "DEFAULT", "r1", "r2", "ALL EXCEPT r1"])),
        35 => format!("DROP ROLE {}", one(rng, &["r3", "r4", "u2"])),
        36 => format!("CREATE ROLE {}", one(rng, &["r3", "r4", "r1"])),
        37 => format!("REVOKE ALL PRIVILEGES, GRANT OPTION FROM {to}"),
        38 => "SELECT CURRENT_ROLE()".into(),
        _ => one(
            rng,
            &["SHOW GRANTS", "SHOW GRANTS FOR u1 USING r1", "SHOW GRANTS FOR r2", "SHOW GRANTS FOR nobody"],
        )
        .into(),
    }
}

/// One of the two servers.
struct Side {
    server: Server,
}

impl Side {
    fn start(flavor: Flavor) -> Side {
        let server = Server::start(flavor, &Settings::default());
        for text in PREPARATION {
            server.run(text);
        }
        Side { server }
    }

    /// Returns what a new session answers to the statements: rows, or the error's number and
    /// message. The session is new because MySQL's sessions keep the global privileges that they
    /// began with.
    fn answer(&self, who: Option<&str>, roles: Option<&str>, text: &str) -> Vec<String> {
        let mut client = match who {
            None => self.server.connect(),
            Some(name) => {
                let options = self.server.connect_options().user(name, "");
                Client::connect(&options).unwrap_or_else(|e| panic!("{name}: {e}"))
            }
        };
        let one = |text: &str| match client.query(text) {
            Ok(rows) => format!("{:?}", rows.rows),
            Err(ClientError::Server(error)) => format!("{} {}", error.code, error.message),
            Err(error) => panic!("{text}: {error}"),
        };
        roles.into_iter().chain([text]).map(one).collect()
    }

    fn all_grants(&self) -> Vec<String> {
        let names = USERS.iter().chain(ROLES);
        let texts = names.map(|name| format!("SHOW GRANTS FOR {name}"));
        let mut all: Vec<String> = Vec::new();
        for text in texts {
            let shown = match self.server.try_connect().map(|mut client| client.query(&text)) {
                Ok(Ok(rows)) => format!("{:?}", rows.rows),
                Ok(Err(error)) => error.to_string(),
                Err(error) => panic!("{error}"),
            };
            all.push(format!("{text}: {shown}"));
        }
        for text in [
            "SELECT FROM_HOST, FROM_USER, TO_HOST, TO_USER FROM mysql.role_edges ORDER BY 1, 2, 3, 4",
            "SELECT * FROM mysql.default_roles ORDER BY 1, 2, 3, 4",
            "SELECT Host, Db, User, Table_name, Column_name, Column_priv FROM mysql.columns_priv ORDER BY 1, 2, 3, 4, 5",
            "SELECT User, Db, Table_name, Table_priv, Column_priv FROM mysql.tables_priv WHERE User IN ('g1', 'g2', 'g3', \
             'u1', 'u2', 'r1', 'r2') ORDER BY 1, 2, 3",
        ] {
            all.extend(self.server.rows(text).into_iter().map(|row| format!("{text}: {row}")));
        }
        all
    }
}

#[test]
fn the_same_grants_leave_the_same_rights() {
    let test = "the_same_grants_leave_the_same_rights";
    if !available(test, &[Flavor::MySql]) {
        return;
    }
    // What MySQL makes of the grant options of dynamic privileges depends on earlier statements, so
    // that some seeds end in differences that are MySQL's own.
    let mut rng = Rng::new(test_seed_or(test, 2));
    let (own, peer) = (Side::start(Flavor::Slipstream), Side::start(Flavor::MySql));
    assert_eq!(own.all_grants(), peer.all_grants());
    let mut said = Vec::new();
    for number in 1..=400 {
        let who = rng.pick(&[None, Some("g1"), Some("g2"), Some("g3")]);
        let roles = rng.pick(&[None, None, Some("SET ROLE ALL"), Some("SET ROLE r1"), Some("SET ROLE NONE")]);
        let text = statement(&mut rng);
        if text.contains("_ADMIN") {
            // MySQL was seen to let an account pass on a dynamic privilege that it no longer had,
            // and to bring back a grant option. The statements of [`SAID`] compare dynamic
            // privileges.
            continue;
        }
        said.push(format!("{}: {}; {text};", who.unwrap_or("root"), roles.unwrap_or("")));
        // A random statement often has several faults. Only whether it is refused and what it shows
        // is compared here; the statements of [`SAID`] compare the messages.
        let told = |side: &Side| -> Vec<String> {
            let answers = side.answer(*who, *roles, &text).into_iter();
            answers.map(|told| if told.starts_with('[') { told } else { "refused".into() }).collect()
        };
        assert_eq!(told(&own), told(&peer), "after\n{}", said.join("\n"));
        if number % 20 == 0 {
            assert_eq!(own.all_grants(), peer.all_grants(), "after\n{}", said.join("\n"));
        }
    }
}

/// Statements about accounts with privileges on columns, with dynamic privileges and with partial
/// revokes. Each list is run by one account.
const SAID: &[(Option<&str>, &[&str])] = &[
    (
        None,
        &[
            "CREATE USER c1, c2, p1",
            "GRANT SELECT (a), INSERT (a), UPDATE (b) ON d1.t1 TO c1",
            "GRANT INSERT (a) ON d1.t1 TO c2",
            "GRANT XA_RECOVER_ADMIN ON *.* TO c1",
            "GRANT CONNECTION_ADMIN ON *.* TO c2 WITH GRANT OPTION",
            "SET GLOBAL partial_revokes = ON",
            "GRANT SELECT, INSERT, UPDATE ON *.* TO p1 WITH GRANT OPTION",
            "REVOKE INSERT, SELECT ON d2.* FROM p1",
            "REVOKE DELETE ON d2.* FROM p1",
            "SHOW GRANTS FOR p1",
            "GRANT INSERT ON d2.* TO p1",
            "SHOW GRANTS FOR p1",
        ],
    ),
    (
        Some("c1"),
        &[
            "SELECT a FROM d1.t1",
            "SELECT b FROM d1.t1",
            "SELECT * FROM d1.t1",
            "SELECT COUNT(*) FROM d1.t1",
            "SELECT 1 FROM d1.t1 WHERE b = 1",
            "SELECT a FROM d1.t1 ORDER BY b",
            "SELECT 1 FROM d1.t1 JOIN d1.t1 AS x USING (a)",
            "SELECT a FROM d1.t1 FOR UPDATE",
            "INSERT INTO d1.t1 (a) VALUES (1)",
            "INSERT INTO d1.t1 VALUES (1, 2, 3)",
            "INSERT INTO d1.t1 (a, b) VALUES (1, 1)",
            "INSERT INTO d1.t1 () VALUES ()",
            "INSERT INTO d1.t1 (a) VALUES (1) ON DUPLICATE KEY UPDATE b = 1",
            "INSERT INTO d1.t1 (a) VALUES (1) ON DUPLICATE KEY UPDATE a = 1",
            "INSERT INTO d1.t1 (a) SELECT b FROM d1.t1",
            "REPLACE INTO d1.t1 (a) VALUES (1)",
            "UPDATE d1.t1 SET b = 1",
            "UPDATE d1.t1 SET a = 1",
            "UPDATE d1.t1 SET b = a",
            "UPDATE d1.t1 SET b = b + 1",
            "DELETE FROM d1.t1",
            "GRANT XA_RECOVER_ADMIN ON *.* TO c2",
            "GRANT XA_RECOVER_ADMIN ON *.* TO nobody",
        ],
    ),
    (
        Some("c2"),
        &[
            "SELECT 1 FROM d1.t1",
            "SELECT a FROM d1.t1",
            "GRANT CONNECTION_ADMIN ON *.* TO c1",
            "GRANT XA_RECOVER_ADMIN ON *.* TO c1",
            "REVOKE CONNECTION_ADMIN ON *.* FROM c1",
        ],
    ),
    (
        Some("p1"),
        &[
            "SELECT COUNT(*) FROM d2.t1",
            "INSERT INTO d2.t1 VALUES (1, 2)",
            "SELECT COUNT(*) FROM d1.t2",
            "GRANT SELECT ON d2.* TO c1",
            "GRANT SELECT ON *.* TO c1",
            "SHOW GRANTS FOR CURRENT_USER()",
        ],
    ),
    (None, &["SHOW GRANTS FOR c1", "SET GLOBAL partial_revokes = OFF"]),
];

#[test]
fn columns_and_restrictions_count_as_with_mysql() {
    if !available("columns_and_restrictions_count_as_with_mysql", &[Flavor::MySql]) {
        return;
    }
    let (own, peer) = (Side::start(Flavor::Slipstream), Side::start(Flavor::MySql));
    for (who, texts) in SAID {
        for text in *texts {
            assert_eq!(own.answer(*who, None, text), peer.answer(*who, None, text), "{who:?}: {text}");
        }
    }
}

/// Whether columns are equal tells what is in them, so an account that may not read them may not
/// join by them. MySQL 9.7 asks for no privilege there; Slipstream refuses the join.
#[test]
fn columns_that_a_join_merges_are_read() {
    let side = Side::start(Flavor::Slipstream);
    for text in ["CREATE USER c1", "GRANT SELECT (a) ON d1.t1 TO c1"] {
        side.server.run(text);
    }
    let mut client = Client::connect(&side.server.connect_options().user("c1", "")).unwrap();
    let mut code = |text: &str| client.query(text).err().and_then(|error| error.server_code());
    assert_eq!(code("SELECT 1 FROM d1.t1 JOIN d1.t1 AS x USING (a)"), None);
    assert_eq!(code("SELECT 1 FROM d1.t1 JOIN d1.t1 AS x USING (b)"), Some(1143));
    assert_eq!(code("SELECT 1 FROM d1.t1 NATURAL JOIN d1.t1 AS x"), Some(1143));
}

/// An open session that has bound plans can no longer use them after a privilege was revoked or a
/// role was switched off.
#[test]
fn open_sessions_notice_what_is_revoked() {
    let side = Side::start(Flavor::Slipstream);
    side.server.run("GRANT SELECT ON d1.* TO r2");
    side.server.run("GRANT r2 TO u1");
    let mut client = Client::connect(&side.server.connect_options().user("u1", "")).unwrap();
    let text = "SELECT COUNT(*) FROM d1.t2";
    let code = |client: &mut Client| client.query(text).err().and_then(|error| error.server_code());
    assert_eq!(code(&mut client), Some(1142));
    client.query("SET ROLE r2").unwrap();
    let prepared = client.prepare(text).unwrap();
    assert_eq!(code(&mut client), None);
    assert!(client.execute(&prepared, &[]).is_ok());
    client.query("SET ROLE NONE").unwrap();
    assert_eq!(code(&mut client), Some(1142));
    client.query("SET ROLE r2").unwrap();
    assert_eq!(code(&mut client), None);
    side.server.run("REVOKE r2 FROM u1");
    assert_eq!(code(&mut client), Some(1142));
    assert_eq!(client.execute(&prepared, &[]).err().and_then(|error| error.server_code()), Some(1142));
    side.server.run("GRANT SELECT ON d1.t2 TO u1");
    assert_eq!(code(&mut client), None);
    side.server.run("DROP USER u1");
    assert_eq!(code(&mut client), Some(1142));
}

#[test]
fn usage_is_revoked_from_whoever_is_there() {
    testkit::answers::same_answers(
        "usage_revoked",
        &[
            "create database d",
            "create table d.t (a int)",
            "create user u",
            "revoke usage on d.* from u",
            "revoke usage on *.* from u",
            "revoke usage on d.t from u",
            "revoke usage on d.* from nobody",
            "revoke select on d.* from u",
            "grant select on d.* to u",
            "revoke usage on d.* from u",
            "show grants for u",
        ],
    );
}
