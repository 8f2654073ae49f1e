//! Tests of UPDATE and DELETE of several tables, compared with MySQL: the rows that they leave, the
//! counts that they report, and what is refused.

use bench::instance::{Flavor, Settings};
use os::random::{Rng, test_seed};
use protocol::client::Client;
use testkit::answers::shown;
use testkit::{Server, available};

/// Starts both servers, or returns `None` if MySQL is not available.
fn servers(test: &str) -> Option<[Server; 2]> {
    available(test, &[Flavor::MySql]).then(|| {
        // The order of a join decides which rows are changed in place, so MySQL's order must not
        // depend on when it counts the rows.
        let extra = vec!["--innodb-stats-auto-recalc=OFF".to_owned()];
        let settings = Settings { extra, ..Settings::default() };
        [Flavor::Slipstream, Flavor::MySql].map(|flavor| Server::start(flavor, &settings))
    })
}

/// Returns rows, or the counts and the message of the OK packet, or the error.
fn ask(client: &mut Client, text: &str) -> String {
    match client.query(text) {
        Ok(result) if result.columns.is_empty() => {
            format!("{} rows, '{}'", result.ok.affected_rows, result.ok.info)
        }
        Ok(result) => shown(&result),
        Err(error) => error.to_string(),
    }
}

/// Runs the statement on both servers and returns the difference in their answers, or in the tables
/// afterwards.
fn compare(clients: &mut [Client; 2], text: &str, tables: &[&str]) -> Option<String> {
    let mut answers = [String::new(), String::new()];
    for (client, answer) in clients.iter_mut().zip(&mut answers) {
        *answer = ask(client, text);
        for table in tables {
            answer.push_str(&format!(
                "\n    {table}: {}",
                ask(client, &format!("SELECT * FROM {table} ORDER BY 1, 2"))
            ));
        }
    }
    let [ours, theirs] = answers;
    (ours != theirs).then(|| format!("{text}\n  here:  {ours}\n  MySQL: {theirs}"))
}

const TABLES: &[&str] = &[
    "CREATE DATABASE m",
    "USE m",
    "CREATE TABLE a (id INT PRIMARY KEY, x INT, y INT, s VARCHAR(10) NOT NULL DEFAULT 's')",
    "CREATE TABLE b (id INT PRIMARY KEY, aid INT, x INT, y INT, KEY (aid))",
    "CREATE TABLE nokey (a INT, b INT)",
    "CREATE TABLE made (id INT PRIMARY KEY, n INT CHECK (n < 100), twice INT AS (n * 2) STORED, \
     at DATETIME DEFAULT '2020-01-01' ON UPDATE CURRENT_TIMESTAMP)",
    "CREATE TABLE parts (id INT PRIMARY KEY, n INT) PARTITION BY RANGE (id) \
     (PARTITION low VALUES LESS THAN (3), PARTITION high VALUES LESS THAN MAXVALUE)",
    "CREATE TABLE parent (id INT PRIMARY KEY, n INT)",
    "CREATE TABLE child (id INT PRIMARY KEY, pid INT, FOREIGN KEY (pid) REFERENCES parent (id) ON DELETE CASCADE)",
    "CREATE VIEW v AS SELECT id, x FROM b",
];

/// The statements that give the tables their rows again.
const FILL: &[&str] = &[
    "DELETE FROM a",
    "DELETE FROM b",
    "DELETE FROM nokey",
    "DELETE FROM made",
    "DELETE FROM parts",
    "DELETE FROM child",
    "DELETE FROM parent",
    "INSERT INTO a (id, x, y) VALUES (1, 10, 0), (2, 20, 0), (3, 30, 0)",
    "INSERT INTO b VALUES (1, 1, 100, 0), (2, 1, 200, 0), (3, 2, 300, 0), (4, 9, 400, 0)",
    "INSERT INTO nokey VALUES (1, 1), (1, 1), (2, 2)",
    "INSERT INTO made (id, n) VALUES (1, 1), (2, 2)",
    "INSERT INTO parts VALUES (1, 1), (2, 2), (3, 3), (4, 4)",
    "INSERT INTO parent VALUES (1, 1), (2, 2)",
    "INSERT INTO child VALUES (1, 1), (2, 1), (3, 2)",
];

const STATEMENTS: &[&str] = &[
    "UPDATE a JOIN b ON b.aid = a.id SET a.x = a.x + 1, a.y = a.x",
    "UPDATE a STRAIGHT_JOIN b ON b.aid = a.id SET a.x = a.x + 1, a.y = a.x",
    "UPDATE a STRAIGHT_JOIN b ON b.aid = a.id SET b.x = b.x + 1, b.y = b.x",
    "UPDATE a STRAIGHT_JOIN b ON b.aid = a.id SET a.x = a.x + 1, b.y = a.x",
    "UPDATE a STRAIGHT_JOIN b ON b.aid = a.id SET b.y = a.x, a.x = a.x + 1",
    "UPDATE a STRAIGHT_JOIN b ON b.aid = a.id SET a.id = a.id + 10, a.y = a.id",
    "UPDATE a LEFT JOIN b ON b.aid = a.id SET a.x = a.x + 1, b.y = 5",
    "UPDATE a a1 JOIN a a2 ON a1.id = a2.id + 1 SET a1.x = a2.x, a2.y = a1.x",
    "UPDATE a, b SET a.x = a.x WHERE a.id = b.aid",
    "UPDATE a, b SET a.x = 99, a.x = 98 WHERE a.id = b.aid",
    "UPDATE a, b SET a.s = 'much too long' WHERE a.id = b.aid",
    "UPDATE a, b SET a.s = NULL WHERE a.id = b.aid",
    "UPDATE IGNORE a, b SET a.s = NULL WHERE a.id = b.aid",
    "UPDATE IGNORE a, b SET a.s = 'much too long' WHERE a.id = b.aid",
    "UPDATE a, b SET a.id = 2 WHERE a.id = b.aid",
    "UPDATE a SET s = NULL, x = 3",
    "UPDATE a, b SET a.s = DEFAULT, b.y = DEFAULT WHERE a.id = b.aid",
    "UPDATE a JOIN nokey ON a.id = nokey.a SET nokey.b = 7",
    "UPDATE a JOIN nokey ON a.id = nokey.a SET a.x = nokey.b + 100, nokey.b = 8 WHERE a.id = 1",
    "UPDATE a NATURAL JOIN made SET n = x",
    "UPDATE a NATURAL JOIN made SET n = 500",
    "UPDATE a NATURAL JOIN made SET twice = 5",
    "UPDATE a NATURAL JOIN made SET twice = DEFAULT, n = 6",
    "UPDATE a JOIN parts PARTITION (low) USING (id) SET parts.n = a.x",
    "UPDATE a JOIN parts PARTITION (low) USING (id) SET parts.id = parts.id + 10",
    "UPDATE a JOIN (SELECT aid, MAX(x) AS most FROM b GROUP BY aid) d ON d.aid = a.id SET a.y = d.most",
    "UPDATE a, v SET a.y = v.x WHERE a.id = v.id",
    "UPDATE parent JOIN child ON child.pid = parent.id SET parent.n = child.id, child.pid = 2",
    "UPDATE parent JOIN child ON child.pid = parent.id SET child.pid = 7",
    "UPDATE a, (SELECT 1 AS q) d SET d.q = 1",
    "UPDATE a a1 JOIN a a2 ON a1.id = a2.id + 1 SET a1.id = 7, a2.y = a1.x",
    "UPDATE a, b SET a.x = 1 ORDER BY a.id",
    "UPDATE a, b SET a.x = 1 LIMIT 1",
    "UPDATE a, b SET x = 1",
    "UPDATE a, b SET zz = 1",
    "UPDATE a, b SET a.x = 1, c.x = 2",
    "UPDATE a, b SET a.x = 1 WHERE 0",
    "UPDATE a, b SET a.x = 1 WHERE a.id = b.aid AND 1 = 2",
    "DELETE a, b FROM a JOIN b ON b.aid = a.id",
    "DELETE a FROM a JOIN b ON b.aid = a.id",
    "DELETE b FROM a LEFT JOIN b ON b.aid = a.id WHERE a.id > 1",
    "DELETE a FROM a LEFT JOIN b ON b.aid = a.id WHERE b.id IS NULL",
    "DELETE a, b FROM a LEFT JOIN b ON b.aid = a.id",
    "DELETE FROM a, b USING a JOIN b ON b.aid = a.id WHERE a.id = 2",
    "DELETE a.*, m.b.* FROM a JOIN b ON b.aid = a.id WHERE a.id = 2",
    "DELETE q FROM a AS q JOIN b ON b.aid = q.id",
    "DELETE a1 FROM a a1 JOIN a a2 ON a1.id = a2.id + 1",
    "DELETE nokey FROM nokey JOIN a ON a.id = nokey.a WHERE a.x = 10",
    "DELETE parent FROM parent JOIN child ON child.pid = parent.id",
    "DELETE a FROM a, v WHERE a.id = v.id",
    "DELETE a FROM a JOIN (SELECT MAX(id) AS id FROM b) d ON a.id = d.id - 1",
    "DELETE parts FROM parts PARTITION (high) JOIN a USING (id)",
    "DELETE a FROM a WHERE id = 1",
    "DELETE c FROM a JOIN b",
    "DELETE d FROM a JOIN (SELECT 1 AS q) d",
    "DELETE a FROM a AS q JOIN b",
    "DELETE a, a FROM a JOIN b",
    "DELETE FROM a USING a, b WHERE a.id = b.aid ORDER BY a.id",
    "DELETE a FROM a, b WHERE a.id = b.aid LIMIT 1",
];

#[test]
fn several_tables_are_changed_as_mysql_changes_them() {
    let Some(servers) = servers("several_tables::several_tables_are_changed_as_mysql_changes_them") else {
        return;
    };
    let mut clients = servers.each_ref().map(Server::connect);
    for client in &mut clients {
        // Without a fixed time, rows could differ in their timestamps.
        for text in [TABLES, &["SET timestamp = 1700000000"]].concat() {
            client.query(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        }
    }
    let tables = ["a", "b", "nokey", "made", "parts", "parent", "child"];
    let mut wrong = Vec::new();
    for mode in ["DEFAULT", "''"] {
        for text in STATEMENTS {
            for client in &mut clients {
                for fill in
                    [&["SET sql_mode = DEFAULT"], FILL, &[&format!("SET sql_mode = {mode}")[..]]].concat()
                {
                    client.query(fill).unwrap_or_else(|error| panic!("{fill}: {error}"));
                }
            }
            wrong.extend(compare(&mut clients, text, &tables));
            wrong.extend(compare(&mut clients, "SHOW WARNINGS", &[]));
        }
    }
    assert!(wrong.is_empty(), "{} differ\n{}", wrong.len(), wrong.join("\n"));
}

/// Returns a statement over two or three of the tables t0, t1, t2 (id, k, v, w). What it assigns
/// does not depend on what it changes, nor on which of several matches comes first, because MySQL
/// may read the tables in another order.
fn random_statement(rng: &mut Rng) -> String {
    let tables = if rng.one_in(2) { 2 } else { 3 };
    let first = rng.below(3);
    let name = |nth: u64| format!("t{}", (first + nth) % 3);
    let mut from = name(0);
    for nth in 1..tables {
        let (kind, before) = (["JOIN", "LEFT JOIN"][rng.below(2) as usize], name(rng.below(nth)));
        let columns = ["id", "k", "v"];
        let [left, right] = [(); 2].map(|()| columns[rng.below(3) as usize]);
        from.push_str(&format!(" {kind} {0} ON {0}.{left} = {before}.{right}", name(nth)));
    }
    let filter = match rng.below(3) {
        0 => String::new(),
        1 => format!(" WHERE {}.id < {}", name(rng.below(tables)), rng.below(12)),
        _ => format!(" WHERE {}.v > {} OR {}.k = 2", name(0), rng.below(8), name(tables - 1)),
    };
    let mut changed: Vec<u64> = (0..tables).filter(|_| rng.one_in(2)).collect();
    if changed.is_empty() {
        changed.push(rng.below(tables));
    }
    if rng.one_in(4) {
        let names: Vec<String> = changed.iter().map(|nth| name(*nth)).collect();
        return format!("DELETE {} FROM {from}{filter}", names.join(", "));
    }
    let sets = changed.iter().map(|nth| {
        let value = match rng.below(3) {
            0 => rng.below(9).to_string(),
            1 => format!("{}.id * 3", name(*nth)),
            _ => format!("{0}.w + 1", name(*nth)),
        };
        let column = if value.ends_with("w + 1") { "w" } else { ["k", "v"][rng.below(2) as usize] };
        format!("{}.{column} = {value}", name(*nth))
    });
    format!("UPDATE {from} SET {}{filter}", sets.collect::<Vec<_>>().join(", "))
}

#[test]
fn random_changes_of_several_tables_leave_mysqls_rows() {
    const ROUNDS: u64 = 300;
    let test = "several_tables::random_changes_of_several_tables_leave_mysqls_rows";
    let Some(servers) = servers(test) else { return };
    let mut rng = Rng::new(test_seed(test));
    let mut clients = servers.each_ref().map(Server::connect);
    let run = |clients: &mut [Client; 2], text: &str| {
        for client in clients {
            client.query(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        }
    };
    run(&mut clients, "CREATE DATABASE m");
    run(&mut clients, "USE m");
    for (table, keys) in
        [("t0", "PRIMARY KEY (id), KEY (k)"), ("t1", "KEY (id), KEY (k, v)"), ("t2", "KEY (v)")]
    {
        run(&mut clients, &format!("CREATE TABLE {table} (id INT, k INT, v INT, w INT, {keys})"));
    }
    for round in 0..ROUNDS {
        if round % 10 == 0 {
            for table in ["t0", "t1", "t2"] {
                run(&mut clients, &format!("DELETE FROM {table}"));
                let row = |id| format!("({id}, {}, {}, 0)", rng.below(6), rng.below(10));
                let rows: Vec<String> = (0..12).map(row).collect();
                run(&mut clients, &format!("INSERT INTO {table} VALUES {}", rows.join(", ")));
            }
        }
        let text = random_statement(&mut rng);
        if let Some(difference) = compare(&mut clients, &text, &["t0", "t1", "t2"]) {
            panic!("round {round}: {difference}");
        }
    }
}
