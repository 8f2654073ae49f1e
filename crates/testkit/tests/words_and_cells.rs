//! The entries of FULLTEXT and SPATIAL indexes on a replica: a source's rows get into them whatever
//! images it logs, both servers find the same rows, and a killed replica has its entries whole.

use bench::instance::{Flavor, RowImage, Settings};
use bench::replication::StartFrom;
use os::random::{Rng, test_seed};
use testkit::{Replica, Server, available};

const TABLE: &str = "CREATE TABLE w.a (id INT PRIMARY KEY, n INT, t VARCHAR(100), b LONGTEXT, g GEOMETRY NOT NULL, \
                     FULLTEXT KEY ft (t, b), FULLTEXT KEY b (b), SPATIAL KEY g (g))";
/// A table without a primary key.
const WITHOUT_KEY: &str = "CREATE TABLE w.b (id INT, n INT, t VARCHAR(100), b LONGTEXT, g GEOMETRY NOT NULL, \
                           FULLTEXT KEY t (t))";

const WORDS: [&str; 10] =
    ["alpha", "beta", "gamma", "delta", "omega", "sigma", "kappa", "lambda", "Ünder", "the"];

fn text(rng: &mut Rng) -> String {
    let words: Vec<&str> = (0..rng.below(5)).map(|_| *rng.pick(&WORDS)).collect();
    // Some texts do not fit on a page.
    let between = if rng.one_in(15) { " ".repeat(30_000) } else { " ".to_owned() };
    words.join(&between)
}

fn shape(rng: &mut Rng) -> String {
    let mut number = || rng.below(40) as i64 - 20;
    let (x, y) = (number(), number());
    match number() % 2 {
        0 => format!("ST_GeomFromText('POINT({x} {y})')"),
        _ => format!("ST_GeomFromText('LINESTRING({x} {y},{} {})')", x + 1, y + 3),
    }
}

fn change(rng: &mut Rng) -> String {
    let table = if rng.one_in(4) { "w.b" } else { "w.a" };
    let id = rng.below(150);
    let values =
        |rng: &mut Rng| format!("({id}, {}, '{}', '{}', {})", rng.below(9), text(rng), text(rng), shape(rng));
    match rng.below(10) {
        0..=3 => format!("INSERT INTO {table} VALUES {}", values(rng)),
        4 => format!("REPLACE INTO {table} VALUES {}", values(rng)),
        5 => format!("UPDATE {table} SET n = n + 1 WHERE id = {id}"),
        6 => format!("UPDATE {table} SET t = '{}' WHERE id = {id}", text(rng)),
        7 => format!("UPDATE {table} SET b = '{}', g = {} WHERE id = {id}", text(rng), shape(rng)),
        8 => format!("UPDATE {table} SET id = id + 200 WHERE id = {id}"),
        _ => format!("DELETE FROM {table} WHERE id = {id}"),
    }
}

fn questions() -> Vec<String> {
    let mut all = Vec::new();
    for word in WORDS {
        for (table, columns) in [("a", "t, b"), ("a", "b"), ("b", "t")] {
            let found = format!("MATCH ({columns}) AGAINST ('{word}' IN BOOLEAN MODE)");
            all.push(format!("SELECT id, n FROM w.{table} WHERE {found} ORDER BY id, n"));
        }
    }
    for at in -5..5 {
        let (low, high) = (4 * at, 4 * at + 3);
        let area = format!("ST_GeomFromText('POLYGON(({low} -9,{high} -9,{high} 9,{low} 9,{low} -9))')");
        all.push(format!("SELECT id FROM w.a WHERE MBRIntersects({area}, g) ORDER BY id"));
        // MariaDB takes points at the edge for contained ones.
        all.push(format!("SELECT id FROM w.a WHERE MBRContains(ST_Buffer({area}, 0.5), g) ORDER BY id"));
    }
    for table in ["a", "b"] {
        all.push(format!("SELECT id, n, t, CRC32(b), HEX(g) FROM w.{table} ORDER BY 1, 2, 3, 4, 5"));
    }
    all
}

fn check_tables(server: &Server) {
    for table in ["w.a", "w.b"] {
        assert_eq!(server.rows(&format!("CHECK TABLE {table}")), [format!("{table}\tcheck\tstatus\tOK")]);
    }
}

fn replicated(flavor: Flavor, image: RowImage, test: &str) {
    if !available(test, &[flavor]) {
        return;
    }
    let mut rng = Rng::new(test_seed(test));
    let settings =
        |server_id| Settings { server_id, row_image: image, durable: false, ..Settings::default() };
    let source = Server::start(flavor, &settings(1));
    let mut replica = Replica::start(Flavor::Slipstream, &settings(2));
    replica.follow(flavor, source.port(), &StartFrom::Gtid);
    source.run("CREATE DATABASE w CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci");
    // MySQL uses a SPATIAL index only where the column has an SRID, and MariaDB has none to give.
    let srid = if flavor == Flavor::MySql { "NOT NULL SRID 0" } else { "NOT NULL" };
    source.run(&TABLE.replace("NOT NULL", srid));
    source.run(WITHOUT_KEY);
    let mut client = source.connect();
    let change_some = |rng: &mut Rng, client: &mut _, count: u32| {
        for _ in 0..count {
            // Some are refused, because there is such a row.
            let _ = testkit::answers::answer(client, &change(rng));
        }
    };
    for alter in [
        "ALTER TABLE w.a DROP KEY b, ADD COLUMN e INT DEFAULT 5",
        "ALTER TABLE w.a ADD FULLTEXT KEY b (b)",
        "ALTER TABLE w.a DROP COLUMN e, FORCE",
    ] {
        change_some(&mut rng, &mut client, 250);
        replica.server.kill();
        replica.come_back();
        source.run(alter);
        change_some(&mut rng, &mut client, 50);
        if !alter.contains("DROP KEY b") {
            replica.catch_up(&source);
            questions().iter().for_each(|question| replica.equals_by(&source, question));
            check_tables(&replica);
        }
    }
    let found = replica.rows("SELECT COUNT(*) FROM w.a WHERE MATCH (t, b) AGAINST ('omega sigma')");
    assert_ne!(found, ["0"]);
}

#[test]
fn full_images_of_mysql() {
    replicated(Flavor::MySql, RowImage::Full, "words_and_cells::full_images_of_mysql");
}

#[test]
fn minimal_images_of_mysql() {
    replicated(Flavor::MySql, RowImage::Minimal, "words_and_cells::minimal_images_of_mysql");
}

#[test]
fn images_of_mariadb_without_blobs() {
    replicated(Flavor::MariaDb, RowImage::NoBlob, "words_and_cells::images_of_mariadb_without_blobs");
}
