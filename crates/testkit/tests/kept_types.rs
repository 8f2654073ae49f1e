//! Tests of FULLTEXT and SPATIAL indexes, geometries, vectors, and TEXT columns that another
//! character set widens: a replica has the rows and definitions of its real source, and so has a
//! real replica of that replica.

use bench::instance::{Flavor, RowImage, Settings};
use testkit::following::{By, Pair};
use testkit::server::{Server, flavor_under_test};

/// Statements that MySQL and MariaDB both accept.
const OF_BOTH: &[&str] = &[
    "CREATE TABLE docs (id INT PRIMARY KEY, title VARCHAR(90), body TEXT, n INT, FULLTEXT KEY both_texts (title, body), \
     FULLTEXT (body) COMMENT 'one', KEY (n))",
    "INSERT INTO docs VALUES (1, 'a title', 'some words', 3), (2, NULL, 'other words', 4)",
    "CREATE FULLTEXT INDEX late ON docs (title)",
    "ALTER TABLE docs ADD FULLTEXT INDEX later (title), DROP INDEX late",
    "UPDATE docs SET body = 'new words' WHERE id = 2",
    "DELETE FROM docs WHERE id = 1",
    "DROP INDEX body ON docs",
    "CREATE TABLE places (id INT PRIMARY KEY, g GEOMETRY NOT NULL, p POINT NOT NULL, l LINESTRING, a POLYGON, mp MULTIPOINT, \
     ml MULTILINESTRING, ma MULTIPOLYGON, c GEOMETRYCOLLECTION, SPATIAL KEY (g))",
    "INSERT INTO places (id, g, p, l) VALUES (1, ST_GeomFromText('POINT(1 2)', 3857), POINT(3, 4), \
     LINESTRING(POINT(0, 0), POINT(1, 1)))",
    "INSERT INTO places VALUES (2, ST_GeomFromText('LINESTRING(0 0,1.5 1e10)'), POINT(-1, 0.25), NULL, \
     ST_GeomFromText('POLYGON((0 0,4 0,4 4,0 0))'), ST_GeomFromText('MULTIPOINT(1 1,2 2)'), \
     ST_GeomFromText('MULTILINESTRING((0 0,1 1),(2 2,3 3))'), ST_GeomFromText('MULTIPOLYGON(((0 0,4 0,4 4,0 0)))'), \
     ST_GeomFromText('GEOMETRYCOLLECTION(POINT(1 1),LINESTRING(0 0,1 1))'))",
    "CREATE SPATIAL INDEX at_point ON places (p)",
    "ALTER TABLE places ADD KEY k (id), DROP INDEX at_point, ADD SPATIAL INDEX moved (p)",
    "UPDATE places SET p = POINT(7, 8), l = NULL WHERE id = 1",
    "CREATE TABLE keyless (p POINT)",
    "INSERT INTO keyless VALUES (POINT(1, 1)), (NULL), (POINT(2, 2))",
    "DELETE FROM keyless WHERE p = POINT(2, 2)",
    "CREATE TABLE wider (t TINYTEXT, x TEXT, m MEDIUMTEXT, l LONGTEXT, b BLOB) CHARACTER SET latin1",
    "INSERT INTO wider VALUES (REPEAT('\u{e4}', 200), REPEAT('\u{e4}', 40000), 'm', 'l', 'b')",
    "ALTER TABLE wider CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci",
    "CREATE TABLE narrower (t TINYTEXT, x TEXT) CHARACTER SET utf8mb4",
    "ALTER TABLE narrower CONVERT TO CHARACTER SET latin1",
];

/// Statements that only MySQL accepts.
const OF_MYSQL: &[&str] = &[
    "CREATE TABLE parsed (v VARCHAR(10), w TEXT, FULLTEXT (v) WITH PARSER ngram, FULLTEXT hidden (w) INVISIBLE, KEY (v), \
     UNIQUE u (v), FULLTEXT (v, w))",
    "ALTER TABLE parsed RENAME INDEX v_2 TO renamed, ALTER INDEX hidden VISIBLE",
    "ALTER TABLE parsed DROP COLUMN w",
    "ALTER TABLE parsed CHANGE v vv VARCHAR(20)",
    "CREATE TABLE own_ids (FTS_DOC_ID BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, t TEXT, FULLTEXT (t))",
    "INSERT INTO own_ids (t) VALUES ('a'), ('b')",
    "CREATE TABLE in_systems (id INT PRIMARY KEY, g GEOMETRY NOT NULL SRID 4326 COMMENT 'y', p POINT SRID 0 NOT NULL, \
     q POLYGON SRID 3857 INVISIBLE, k POINT NOT NULL SRID 4326 DEFAULT (ST_SRID(POINT(1, 2), 4326)), c GEOMCOLLECTION DEFAULT (NULL), \
     t TEXT, SPATIAL KEY (g), KEY by_p (p), FULLTEXT ff (t), KEY tt (t(3)), UNIQUE (id))",
    "INSERT INTO in_systems (id, g, p) VALUES (1, ST_GeomFromText('POINT(52.5 13.4)', 4326), POINT(1, 1))",
    "ALTER TABLE in_systems MODIFY p GEOMETRY NOT NULL SRID 0, DROP INDEX tt",
    "CREATE TABLE vectors (id INT PRIMARY KEY, v VECTOR(3) NOT NULL DEFAULT (STRING_TO_VECTOR('[1,2,3]')), w VECTOR, t TEXT, \
     x VECTOR(16383) COMMENT 'long')",
    "INSERT INTO vectors (id, w, t) VALUES (1, TO_VECTOR('[1,2.5,-3e2]'), 'a'), (2, NULL, 'b')",
    "INSERT INTO vectors VALUES (3, 0x0000803F, STRING_TO_VECTOR('[0.1,1e10]'), 'c', TO_VECTOR('[7]'))",
    "UPDATE vectors SET v = TO_VECTOR('[4,5]') WHERE id = 1",
    "DELETE FROM vectors WHERE id = 2",
    "ALTER TABLE vectors MODIFY v VECTOR(5)",
    "CREATE TABLE vectors_alone (v VECTOR(2))",
    "INSERT INTO vectors_alone VALUES (TO_VECTOR('[1,2]')), (NULL)",
    "DELETE FROM vectors_alone WHERE v = TO_VECTOR('[1,2]')",
    "CREATE TABLE copied LIKE in_systems",
];

fn texts(rows: &[Vec<Option<Vec<u8>>>]) -> Vec<String> {
    let cell = |cell: &Option<Vec<u8>>| {
        cell.as_ref().map_or("NULL".to_string(), |bytes| bytes.escape_ascii().to_string())
    };
    rows.iter().map(|row| row.iter().map(cell).collect::<Vec<_>>().join("\t")).collect()
}

/// Returns what a server answers in database `kept`.
fn asked(server: &Server, sql: &str) -> Vec<String> {
    let mut session = server.connect();
    session.query("USE kept").expect("the database is there");
    texts(&session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}")).rows)
}

/// Returns the queries that a source and its replica must answer alike. For a MySQL source the
/// definitions are among them.
fn questions(source: &Server) -> Vec<String> {
    let tables = asked(source, "SHOW TABLES");
    let mut questions: Vec<String> =
        tables.iter().map(|table| format!("SELECT * FROM {table} ORDER BY 1")).collect();
    questions.push(
        "SELECT id, ST_AsText(g), HEX(ST_AsBinary(p)), ST_SRID(g), ST_X(p), ST_Y(p) FROM places ORDER BY id"
            .into(),
    );
    questions.push("SELECT LENGTH(t), CHAR_LENGTH(x) FROM wider".into());
    if source.flavor() == Flavor::MySql {
        questions.extend(tables.iter().map(|table| format!("SHOW CREATE TABLE {table}")));
        questions.extend(tables.iter().map(|table| format!("SHOW COLUMNS FROM {table}")));
        let of_indexes = "table_name, non_unique, index_name, seq_in_index, column_name, collation, sub_part, nullable, \
                          index_type, index_comment, is_visible";
        questions.push(format!(
            "SELECT {of_indexes} FROM information_schema.statistics WHERE table_schema = 'kept' ORDER BY 1, 3, 4"
        ));
        questions.push(
            "SELECT table_name, column_name, data_type, column_type, srs_id, character_maximum_length, \
             character_octet_length FROM information_schema.columns WHERE table_schema = 'kept' ORDER BY 1, 2"
                .into(),
        );
        questions.push(
            "SELECT * FROM information_schema.st_geometry_columns WHERE table_schema = 'kept' ORDER BY 3, 4"
                .into(),
        );
        questions.push(
            "SELECT id, VECTOR_TO_STRING(v), FROM_VECTOR(w), VECTOR_DIM(w) FROM vectors ORDER BY id".into(),
        );
        questions.push("SELECT ST_AsText(g), ST_Latitude(g), ST_Longitude(g), HEX(k) FROM in_systems".into());
    }
    questions
}

fn follows(family: Flavor, image: RowImage) {
    if !testkit::available("kept_types", &[family]) {
        return;
    }
    let settings = Settings { row_image: image, ..Settings::default() };
    let Pair { source, replica, proxy: _proxy, .. } =
        Pair::start_with(family, flavor_under_test(), &settings, By::Gtid);
    let mut session = source.connect();
    session.query("SET binlog_format = ROW").expect("is set");
    session.query("CREATE DATABASE kept").expect("is made");
    session.query("USE kept").expect("is used");
    let of_mysql = if family == Flavor::MySql { OF_MYSQL } else { &[] };
    for sql in OF_BOTH.iter().chain(of_mysql) {
        session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    replica.catch_up(&source);
    for question in questions(&source) {
        assert_eq!(asked(&replica, &question), asked(&source, &question), "{question}");
    }
}

#[test]
fn from_mysql() {
    follows(Flavor::MySql, RowImage::Full);
}

#[test]
fn from_mysql_with_minimal_images() {
    follows(Flavor::MySql, RowImage::Minimal);
}

#[test]
fn from_mariadb() {
    follows(Flavor::MariaDb, RowImage::Full);
}

#[test]
fn from_mariadb_with_minimal_images() {
    follows(Flavor::MariaDb, RowImage::Minimal);
}

/// A real MySQL replica of Slipstream has what a client does on Slipstream.
#[test]
fn a_real_replica_follows() {
    if !testkit::available("kept_types", &[Flavor::MySql]) {
        return;
    }
    let Pair { source, replica, proxy: _proxy, .. } =
        Pair::start_with(flavor_under_test(), Flavor::MySql, &Settings::default(), By::Gtid);
    let mut session = source.connect();
    session.query("CREATE DATABASE kept").expect("is made");
    session.query("USE kept").expect("is used");
    for sql in OF_BOTH.iter().chain(OF_MYSQL) {
        session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    replica.catch_up(&source);
    for question in questions(&replica) {
        assert_eq!(asked(&source, &question), asked(&replica, &question), "{question}");
    }
}

/// Statements that MySQL refuses, or answers in a special way. Slipstream must give the same
/// answers.
const ANSWERS: &[&str] = &[
    "CREATE FULLTEXT INDEX x ON docs (title) WITH PARSER nosuch",
    "CREATE FULLTEXT INDEX x ON docs (n)",
    "CREATE FULLTEXT INDEX x ON docs (title, nope)",
    "CREATE FULLTEXT INDEX x ON docs (title DESC)",
    "CREATE FULLTEXT INDEX x ON docs (title, title)",
    "CREATE FULLTEXT INDEX x ON docs ((LOWER(title)))",
    "CREATE FULLTEXT INDEX both_texts ON docs (title)",
    "ALTER TABLE docs MODIFY title INT",
    "CREATE TABLE x (id INT PRIMARY KEY, FTS_DOC_ID INT, t TEXT, FULLTEXT (t))",
    "CREATE TABLE x (id INT PRIMARY KEY, fts_doc_id BIGINT UNSIGNED NOT NULL, t TEXT, FULLTEXT (t))",
    "CREATE TABLE x (id INT PRIMARY KEY, FTS_DOC_ID BIGINT)",
    "CREATE TABLE x (FTS_DOC_ID BIGINT UNSIGNED NOT NULL, t TEXT, KEY FTS_DOC_ID_INDEX (FTS_DOC_ID), FULLTEXT (t))",
    "CREATE TABLE x (j JSON, FULLTEXT (j))",
    "CREATE TABLE x (e ENUM('a'), FULLTEXT (e))",
    "CREATE TABLE x (v VARBINARY(9), FULLTEXT (v))",
    "CREATE TABLE x (v VARCHAR(9) AS ('a') VIRTUAL, FULLTEXT (v))",
    "CREATE TABLE x (v VARCHAR(9), w CHAR(9) CHARACTER SET latin1, FULLTEXT (v, w))",
    "CREATE TABLE x (a INT SRID 4326)",
    "CREATE TABLE x (a GEOMETRY, SPATIAL KEY (a))",
    "CREATE TABLE x (a INT NOT NULL, SPATIAL KEY (a))",
    "CREATE TABLE x (a GEOMETRY NOT NULL, b GEOMETRY NOT NULL, SPATIAL KEY (a, b))",
    "CREATE TABLE x (a GEOMETRY NOT NULL, SPATIAL KEY (a(10)))",
    "CREATE TABLE x (a GEOMETRY NOT NULL, SPATIAL KEY (a DESC))",
    "CREATE TABLE x (a GEOMETRY NOT NULL PRIMARY KEY)",
    "CREATE TABLE x (a GEOMETRY NOT NULL, UNIQUE (a))",
    "CREATE TABLE x (a GEOMETRY DEFAULT 'x')",
    "CREATE TABLE x (a GEOMETRY COLLATE utf8mb4_bin)",
    "CREATE TABLE x (a GEOMETRY(10))",
    "ALTER TABLE in_systems MODIFY g GEOMETRY NOT NULL",
    "ALTER TABLE in_systems MODIFY g GEOMETRY SRID 4326",
    "ALTER TABLE in_systems MODIFY g BLOB NOT NULL",
    "INSERT INTO keyless VALUES ('abc')",
    "INSERT INTO keyless VALUES (1)",
    "INSERT INTO keyless VALUES (0x000000000101000000000000000000F03F0000000000000040)",
    "INSERT INTO keyless VALUES (0x00000000010200000000000000)",
    "INSERT INTO keyless VALUES (ST_GeomFromText('LINESTRING(0 0,1 1)'))",
    "UPDATE keyless SET p = ''",
    "INSERT INTO in_systems (id, g, p) VALUES (9, POINT(1, 2), POINT(1, 1))",
    "INSERT IGNORE INTO in_systems (id, g, p) VALUES (9, POINT(1, 2), POINT(1, 1))",
    "INSERT IGNORE INTO keyless VALUES ('x')",
    "SELECT ST_GeomFromText('POINT(1)')",
    "SELECT HEX(ST_GeomFromText('POINT(1 2)', 4326)), ST_GeomFromText(NULL)",
    "SELECT ST_GeomFromText('POINT(100 2)', 4326)",
    "SELECT ST_GeomFromText('POINT(1 200)', 4326)",
    "SELECT ST_GeomFromText('POINT(1 2)', -1)",
    "SELECT HEX(ST_GeomFromWKB(0x00000000013FF00000000000004000000000000000))",
    "SELECT ST_GeomFromWKB('abc')",
    "SELECT ST_AsText('abc')",
    "SELECT ST_X(ST_GeomFromText('LINESTRING(0 0,1 1)'))",
    "SELECT ST_PointFromText('LINESTRING(0 0,1 1)')",
    "SELECT ST_GeometryType(POINT(1, 2)), ST_GeometryType(ST_GeomFromText('GEOMETRYCOLLECTION EMPTY'))",
    "SELECT ST_AsText(POINT(0.1, 1e300)), ST_AsText(POINT(1e15, 1e-7)), ST_AsText(POINT(123456789.123456789, 1e20))",
    "SELECT geomfromtext('POINT(1 1)')",
    "CREATE TABLE x (v VECTOR(16384))",
    "CREATE TABLE x (v VECTOR(3) PRIMARY KEY)",
    "CREATE TABLE x (v VECTOR(3), KEY (v(3)))",
    "CREATE TABLE x (v VECTOR(3) DEFAULT 'abc')",
    "CREATE TABLE x (v VECTOR(3) COLLATE utf8mb4_bin)",
    "INSERT INTO vectors_alone VALUES (TO_VECTOR('[1,2,3]'))",
    "INSERT INTO vectors_alone VALUES ('abc')",
    "INSERT INTO vectors_alone VALUES (1)",
    "INSERT INTO vectors_alone VALUES (0x0000C07F)",
    "SELECT STRING_TO_VECTOR('[1,2'), STRING_TO_VECTOR('[]')",
    "SELECT STRING_TO_VECTOR(1)",
    "SELECT HEX(STRING_TO_VECTOR(' [+1, .5, 5., 1e-3] ')), STRING_TO_VECTOR(NULL)",
    "SELECT VECTOR_TO_STRING(STRING_TO_VECTOR('[0.1,1e10,1e-10,123456789,3.4e38,0.333333333,999999.5]'))",
    "SELECT VECTOR_TO_STRING('abcd')",
    "SELECT VECTOR_DIM('abcd')",
    "SELECT VECTOR_DIM(0x0000803F0000803F), VECTOR_DIM(NULL)",
    "ALTER TABLE vectors MODIFY v VECTOR(1)",
];

#[test]
fn answers_are_mysqls() {
    if !testkit::available("kept_types", &[Flavor::MySql]) {
        return;
    }
    let servers =
        [Flavor::MySql, flavor_under_test()].map(|flavor| Server::start(flavor, &Settings::default()));
    let [theirs, ours] = servers.each_ref().map(|server| {
        let mut session = server.connect();
        session.query("CREATE DATABASE kept").expect("is made");
        session.query("USE kept").expect("is used");
        for sql in OF_BOTH.iter().chain(OF_MYSQL) {
            session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
        }
        let answer = |sql: &&str| match session.query(sql) {
            Ok(answer) => format!("{sql}: {:?}", texts(&answer.rows)),
            Err(error) => format!("{sql}: {error}"),
        };
        ANSWERS.iter().map(answer).collect::<Vec<_>>()
    });
    let differ: Vec<_> = theirs.iter().zip(&ours).filter(|(theirs, ours)| theirs != ours).collect();
    assert!(differ.is_empty(), "{differ:#?}");
}

/// A VECTOR index of MariaDB is kept with its options and shown as MariaDB 11.8 shows it. Searches
/// read the table. The definition that is shown makes the same table again, for a client too. (The
/// MariaDB of these tests has no vectors, so that the statements come from a session of its
/// dialect.)
#[test]
fn vector_indexes_of_mariadb_are_kept() {
    let server = Server::under_test();
    let mut session = server.connect();
    for sql in [
        "CREATE DATABASE kept",
        "USE kept",
        "SET slipstream_dialect = 'MARIADB'",
        "CREATE TABLE t (id INT PRIMARY KEY, v VECTOR(2) NOT NULL, w VECTOR(3) NOT NULL, \
         VECTOR INDEX (v) M=8 DISTANCE=cosine COMMENT 'near')",
        "CREATE VECTOR INDEX far ON t (w)",
        "INSERT INTO t VALUES (1, VEC_FromText('[3,4]'), VEC_FromText('[1,2,3]')), \
         (2, VEC_FromText('[1,0]'), VEC_FromText('[0.1,0,-1e10]')), (3, VEC_FromText('[0,0]'), VEC_FromText('[0,0,0]'))",
        "ALTER TABLE t RENAME INDEX far TO wide",
        "ALTER TABLE t ADD COLUMN vector INT",
    ] {
        session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    let mut asked = |sql: &str| -> Vec<String> {
        let rows = session.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}")).rows;
        let cell = |cell: &Option<Vec<u8>>| {
            cell.as_ref().map_or("NULL".to_owned(), |bytes| String::from_utf8_lossy(bytes).into_owned())
        };
        rows.iter().map(|row| row.iter().map(cell).collect::<Vec<_>>().join("\t")).collect()
    };
    let shown = asked("SHOW CREATE TABLE t").concat();
    for line in ["VECTOR KEY `v` (`v`) COMMENT 'near' `M`='8' `DISTANCE`='cosine'", "VECTOR KEY `wide` (`w`)"]
    {
        assert!(shown.contains(line), "{line} in {shown}");
    }
    let near = "SELECT id, VEC_DISTANCE_EUCLIDEAN(v, VEC_FromText('[0,0]')), VEC_DISTANCE_COSINE(v, VEC_FromText('[2,0]')), \
                VEC_ToText(w), VEC_DISTANCE_EUCLIDEAN(v, w) FROM t ORDER BY 2, id";
    assert_eq!(
        asked(near),
        ["3\t0\tNULL\t[0,0,0]\tNULL", "2\t1\t0\t[0.1,0,-10000000000]\tNULL", "1\t5\t0.4\t[1,2,3]\tNULL"]
    );
    assert_eq!(asked("SELECT VEC_FromText('[1'), VEC_FromText(NULL)"), ["NULL\tNULL"]);
    let create =
        shown.split_once("CREATE TABLE").map(|(_, rest)| format!("CREATE TABLE{rest}")).expect("a table");
    asked("SET slipstream_dialect = DEFAULT");
    asked("CREATE DATABASE again");
    asked("USE again");
    asked(&create);
    assert_eq!(asked("SHOW CREATE TABLE t").concat(), shown);
    let error =
        session.query("CREATE TABLE x (v VECTOR(2), VECTOR KEY (v))").expect_err("NULL has no neighbours");
    assert!(error.to_string().contains("1210"), "{error}");
}
