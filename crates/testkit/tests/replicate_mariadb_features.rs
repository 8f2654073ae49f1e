//! Tests of what MariaDB has and MySQL lacks, feature by feature: a source runs statements with
//! `binlog_format` ROW and MIXED; afterwards the replica has the same rows and still runs.

use bench::instance::{Flavor, RowImage, Settings};
use testkit::following::{By, Pair};
use testkit::server::flavor_under_test;

/// A feature: its statements, which run in a database of its own, and the queries that both servers
/// get.
struct Feature {
    name: &'static str,
    statements: &'static [&'static str],
    queries: &'static [&'static str],
    /// Texts that the replica's `SHOW CREATE TABLE t` must contain.
    shown: &'static [&'static str],
}

const FEATURES: &[Feature] = &[
    Feature {
        name: "json",
        statements: &[
            "CREATE TABLE t (id INT PRIMARY KEY, j JSON, k JSON NOT NULL DEFAULT '{}', \
             l LONGTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL)",
            "INSERT INTO t VALUES (1, '{\"b\":1,  \"a\":2}', '[1, 2]', NULL)",
            "INSERT INTO t (id) VALUES (2)",
            "UPDATE t SET j = CONCAT(' ', j), k = '\"x\"' WHERE id = 1",
            "ALTER TABLE t ADD m JSON, MODIFY j JSON COMMENT 'changed'",
            "INSERT INTO t (id, m) VALUES (3, 'null')",
        ],
        queries: &["SELECT * FROM t ORDER BY id"],
        shown: &["`k` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT (_utf8mb4'{}')"],
    },
    Feature {
        name: "uuid",
        statements: &[
            "CREATE TABLE t (id UUID PRIMARY KEY, v UUID, n INT AUTO_INCREMENT UNIQUE, KEY (v))",
            "INSERT INTO t (id, v) VALUES ('123E4567e89b12d3a456426655440000', NULL), (UUID(), UUID())",
            "INSERT INTO t (id, v) VALUES ('00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffff00')",
            "INSERT INTO t (id, v) VALUES ('f0000000-0000-1000-8000-000000000000', '018c0000-0000-7000-8000-000000000001'), \
             ('00000000-0000-4000-8000-000000000001', '018c0000-0000-7000-8000-000000000002'), \
             ('0f0f0f0f-0f0f-4f0f-4f0f-0f0f0f0f0f0f', '018c0000-0000-6000-8000-000000000002')",
            "INSERT INTO t (id, v) SELECT UUID(), UUID() FROM t",
            "UPDATE t SET v = '00000000-0000-4000-8000-0000000000AA' WHERE v IS NULL",
            "DELETE FROM t WHERE id = 'f0000000-0000-1000-8000-000000000000'",
            "ALTER TABLE t ADD w UUID NOT NULL, ADD x UUID DEFAULT '123e4567-e89b-12d3-a456-426655440000'",
            "CREATE TABLE keyless (v UUID, i INET6)",
            "INSERT INTO keyless SELECT v, '::1' FROM t",
            // An event finds a row that a statement has made.
            "DELETE FROM keyless ORDER BY v LIMIT 1",
        ],
        queries: &[
            "SELECT * FROM t ORDER BY n",
            "SELECT id FROM t ORDER BY id",
            "SELECT id FROM t FORCE INDEX (PRIMARY) WHERE id >= '00000000-0000-4000-8000-000000000001' ORDER BY id DESC",
            "SELECT v FROM t ORDER BY v, n",
            "SELECT v FROM keyless ORDER BY v",
            "SELECT n FROM t WHERE id = '123E4567-E89B-12D3-A456426655440000'",
            "SELECT n FROM t WHERE v = '00000000000040008000-0000000000AA'",
            "SELECT COUNT(*) FROM keyless WHERE v IN ('00000000000040008000-0000000000aa', '018c0000-0000-7000-8000-000000000001')",
            "SELECT COUNT(*), COUNT(DISTINCT v) FROM t JOIN keyless USING (v)",
            "SELECT CONCAT(id, '/', LENGTH(id)) FROM t ORDER BY n LIMIT 1",
        ],
        shown: &["`id` uuid NOT NULL", "`x` uuid DEFAULT '123e4567-e89b-12d3-a456-426655440000'"],
    },
    Feature {
        name: "inet",
        statements: &[
            "CREATE TABLE t (id INT PRIMARY KEY, a INET4, b INET6, KEY (a), UNIQUE KEY (b))",
            "INSERT INTO t VALUES (1, '10.0.0.1', '::1'), (2, '255.255.255.0', '2001:db8::ff00:42:8329'), \
             (3, NULL, '::ffff:1.2.3.4'), (4, '9.0.0.0', '::'), (5, '100.1.1.1', '1:0:2:3:4:5:6:7'), (6, '0.0.0.0', NULL)",
            "UPDATE t SET b = 'fe80::1' WHERE a = '10.0.0.1'",
            "DELETE FROM t WHERE b = '2001:db8:0::ff00:42:8329'",
            "ALTER TABLE t ADD c INET6 NOT NULL DEFAULT '::', ADD d INET4 DEFAULT '1.2.3.4'",
            "INSERT INTO t (id) VALUES (7)",
        ],
        queries: &[
            "SELECT * FROM t ORDER BY id",
            "SELECT a FROM t ORDER BY a, id",
            "SELECT b FROM t ORDER BY b DESC, id",
            "SELECT id FROM t WHERE a > '9.255.0.0' ORDER BY id",
            "SELECT id FROM t WHERE b = '0:0::ffff:102:304'",
        ],
        shown: &["`c` inet6 NOT NULL DEFAULT '::'", "`d` inet4 DEFAULT '1.2.3.4'"],
    },
    Feature {
        name: "engines",
        statements: &[
            "CREATE TABLE t (a INT PRIMARY KEY AUTO_INCREMENT) ENGINE=Aria TRANSACTIONAL=1",
            "CREATE TABLE m (g INT, a INT AUTO_INCREMENT, PRIMARY KEY (g, a)) ENGINE=MyISAM",
            "CREATE TABLE h (a INT, KEY USING HASH (a)) ENGINE=MEMORY",
            "CREATE TABLE c (a INT NOT NULL) ENGINE=CSV",
            "CREATE TABLE u (a INT, KEY (a)) ENGINE=MERGE UNION=(h, c) INSERT_METHOD=LAST",
            "INSERT INTO t VALUES (NULL), (NULL)",
            "INSERT INTO m VALUES (1, NULL), (1, NULL), (2, NULL), (2, NULL)",
            "INSERT INTO h VALUES (1)",
            "INSERT INTO c VALUES (1)",
            "ALTER TABLE h ENGINE=InnoDB",
        ],
        queries: &[
            "SELECT * FROM t ORDER BY a",
            "SELECT * FROM m ORDER BY g, a",
            "SELECT * FROM h",
            "SELECT * FROM c",
            "SELECT table_name, engine FROM information_schema.tables WHERE table_schema = 'engines' ORDER BY 1",
        ],
        shown: &[") ENGINE=Aria AUTO_INCREMENT=3", "/*M! TRANSACTIONAL=1 */"],
    },
    Feature {
        name: "long_keys",
        statements: &[
            "CREATE TABLE t (id INT PRIMARY KEY, a TEXT UNIQUE, b BLOB, c VARCHAR(4000), UNIQUE KEY b2 (b), UNIQUE KEY c2 (c, id)) \
             CHARACTER SET latin1",
            "INSERT INTO t VALUES (1, REPEAT('a', 9000), 'x', 'y'), (2, CONCAT(REPEAT('a', 9000), 'b'), 'z', 'y')",
            "UPDATE t SET a = REPEAT('b', 9000) WHERE id = 2",
            "ALTER TABLE t ADD UNIQUE KEY ab (a, b)",
            "DELETE FROM t WHERE a = REPEAT('a', 9000)",
        ],
        queries: &["SELECT id, MD5(a), b, c FROM t ORDER BY id"],
        shown: &["KEY `a` (`a`(3072))"],
    },
    Feature {
        name: "wide_decimals",
        statements: &[
            "CREATE TABLE t (id INT PRIMARY KEY, d DECIMAL(38,38), e DECIMAL(65,38), z DECIMAL(50,38) ZEROFILL, \
             g DECIMAL(60,38) AS (CAST(e AS DECIMAL(60,38))) STORED, KEY (d), UNIQUE KEY (e))",
            "INSERT INTO t (id, d, e, z) VALUES \
             (1, 0.12345678901234567890123456789012345678, 123456789012345678901.00000000000000000000000000000000000001, 1), \
             (2, -0.99999999999999999999999999999999999999, -1, 0.00000000000000000000000000000000000009), (3, NULL, NULL, NULL)",
            "UPDATE t SET d = d + 0.00000000000000000000000000000000000001 WHERE id = 1",
            "UPDATE t SET z = z + 1 WHERE d < -0.99999999999999999999999999999999999998",
            "SET @wide = CAST('0.00000000000000000000000000000000000003' AS DECIMAL(38,38))",
            "INSERT INTO t (id, d) VALUES (4, @wide)",
            "ALTER TABLE t ADD f DECIMAL(40,38) NOT NULL DEFAULT 1.00000000000000000000000000000000000007",
            "DELETE FROM t WHERE e = -1",
        ],
        queries: &[
            "SELECT * FROM t ORDER BY id",
            "SELECT id FROM t ORDER BY d, id",
            "SELECT id FROM t WHERE d > 0.12345678901234567890123456789012345678",
            "SELECT d + 1, e - d, d / 3, -d, IFNULL(d, 1), ROUND(d, 36) FROM t WHERE id = 1",
            "SELECT MAX(d), MIN(d), SUM(d), COUNT(DISTINCT e) FROM t",
        ],
        shown: &["`d` decimal(38,38) DEFAULT NULL", "`z` decimal(50,38) unsigned zerofill DEFAULT NULL"],
    },
    Feature {
        name: "geometry_keys",
        statements: &[
            "CREATE TABLE t (id INT, p POINT NOT NULL, g GEOMETRY, PRIMARY KEY (p), UNIQUE KEY u (g(30)), KEY whole (g))",
            "INSERT INTO t VALUES (1, POINT(1, 2), LINESTRING(POINT(0, 0), POINT(1, 1))), (2, POINT(3, 4), NULL), \
             (3, POINT(5, 6), NULL)",
            "INSERT IGNORE INTO t VALUES (4, POINT(1, 2), NULL)",
            "INSERT IGNORE INTO t VALUES (5, POINT(7, 8), LINESTRING(POINT(0, 0), POINT(1, 2)))",
            "REPLACE INTO t VALUES (6, POINT(3, 4), POINT(9, 9))",
            "INSERT INTO t VALUES (7, POINT(5, 6), NULL) ON DUPLICATE KEY UPDATE id = id + 100, g = POINT(0, 1)",
            "UPDATE t SET p = POINT(-1, 0) WHERE g = POINT(9, 9)",
            "DELETE FROM t WHERE p = POINT(1, 2)",
            "CREATE TABLE nothing (id INT AUTO_INCREMENT PRIMARY KEY, p POINT NOT NULL, g GEOMETRY NOT NULL)",
            "INSERT IGNORE INTO nothing () VALUES (), ()",
            "INSERT IGNORE INTO nothing (p) VALUES (NULL), (POINT(1, 2))",
        ],
        queries: &[
            "SELECT id, ST_AsText(p), ST_AsText(g) FROM t ORDER BY id",
            "SELECT id FROM t WHERE p = POINT(-1, 0)",
            "SELECT a.id FROM t a JOIN t b ON a.p = b.p ORDER BY a.id",
            "SELECT id, HEX(p), HEX(g) FROM nothing ORDER BY id",
        ],
        shown: &["PRIMARY KEY (`p`(25))", "UNIQUE KEY `u` (`g`(30))", "KEY `whole` (`g`(3072))"],
    },
    Feature {
        name: "json_defaults",
        statements: &[
            "SET NAMES utf8mb4",
            "CREATE TABLE t (id INT, a VARBINARY(10) DEFAULT X'C3A941', b BIT(10) DEFAULT b'0101000001', \
             c VARCHAR(10) CHARACTER SET latin1 DEFAULT '\u{e9}\"x', g GEOMETRY DEFAULT POINT(1, 2), y BINARY(4) DEFAULT 'ab', \
             u VARCHAR(5) CHARACTER SET utf8mb4 DEFAULT '\u{fc}\u{20ac}', z INT(5) ZEROFILL DEFAULT 7, \
             j1 LONGBLOB DEFAULT (JSON_ARRAY(a, b, c)), j2 LONGBLOB DEFAULT (JSON_ARRAY(g, u)), j3 LONGTEXT DEFAULT (JSON_ARRAY(y)), \
             j4 LONGBLOB DEFAULT (JSON_ARRAY(u, c, a)), j5 LONGTEXT CHARACTER SET latin1 DEFAULT (JSON_OBJECT('\u{e9}', c, u, 'x')), \
             j6 LONGBLOB DEFAULT (JSON_ARRAY(z, b, 1.50)), j7 LONGTEXT DEFAULT (JSON_ARRAY(z, c, '\u{fc}')), \
             j8 LONGTEXT DEFAULT (JSON_ARRAY(c)), j9 LONGBLOB DEFAULT (JSON_OBJECT(a, u)), \
             ja LONGBLOB DEFAULT (JSON_ARRAY(a, JSON_ARRAY(u))), jb LONGBLOB DEFAULT (JSON_ARRAY(JSON_ARRAY(c), a)), \
             jc LONGTEXT DEFAULT (JSON_ARRAY('\u{1f600}', '\\t/', '\\\\')), jd LONGBLOB DEFAULT (JSON_ARRAY(y, '\u{1f600}'))) \
             CHARACTER SET utf8mb4",
            "INSERT INTO t (id) VALUES (1)",
            "INSERT INTO t (id, c, u, a) VALUES (2, '', NULL, '\\\\')",
        ],
        queries: &[
            "SELECT id, HEX(j1), HEX(j2), HEX(j3), HEX(j4), HEX(j5), HEX(j6), HEX(j7) FROM t ORDER BY id",
            "SELECT id, HEX(j8), HEX(j9), HEX(ja), HEX(jb), HEX(jc), HEX(jd) FROM t ORDER BY id",
        ],
        shown: &[],
    },
    Feature {
        name: "plain_defaults",
        statements: &[
            "CREATE TABLE t (id INT, a INT DEFAULT id, b DATE DEFAULT CURRENT_DATE, c TIME DEFAULT CURRENT_TIME, \
             d VARCHAR(20) DEFAULT CASE WHEN id = 1 THEN 'one' ELSE 'more' END NOT NULL, e DATETIME DEFAULT UTC_TIMESTAMP, \
             f VARCHAR(20) DEFAULT CONCAT('a', id), g DATE DEFAULT DATE'2020-01-02')",
            "INSERT INTO t (id) VALUES (1), (2)",
            "ALTER TABLE t ALTER b SET DEFAULT UTC_DATE, ALTER a SET DEFAULT `id`",
            "INSERT INTO t (id) VALUES (3)",
        ],
        queries: &["SELECT * FROM t ORDER BY id"],
        shown: &["`b` date DEFAULT (utc_date())", "`a` int DEFAULT (`id`)"],
    },
    Feature {
        name: "conversions",
        statements: &[
            "SET sql_mode = '', timestamp = 1790000000.75",
            "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, i BIGINT, d DOUBLE, n DECIMAL(10,2), b BIT(64), \
             t TIME(2), ts TIMESTAMP(3) NULL, s SET('a','b','c','d'))",
            "INSERT INTO t (i, d, n) VALUES (X'3132', X'3132', X'3132'), (0x3132, 0x3132, 0x3132), \
             ('1.2.3.4', '-0', '255.255.255.255'), ('255.255.255.255', -0e0, 1), (NOW(6), NOW(6), 0), \
             (CAST('-12:13:14.6' AS TIME(6)), '-00:00:01', 0)",
            "INSERT INTO t (b) VALUES (1e100), (-1e100), (X'3132')",
            "INSERT INTO t (t) VALUES (20200101), (101010101), (8390000), ('999:00:00'), (-20200101), (1e30), ('9:db8'), \
             ('12::13'), ('255.255.255.255'), ('20010203.101112'), (20200101101112)",
            "INSERT INTO t (ts) VALUES ('9999-12-31 23:59:59.999'), ('1000-01-01 00:00:00.25'), ('0000-00-00')",
            "CREATE TABLE folded (id INT PRIMARY KEY, b VARCHAR(9) COLLATE utf8mb4_bin)",
            "INSERT INTO folded VALUES (1, 'A'), (2, 'a')",
            // Here MariaDB goes other ways than MySQL.
            "INSERT INTO t (i, d) SELECT FIELD('a', b), LENGTH(GREATEST(b, 'a ')) FROM folded ORDER BY id",
            "INSERT INTO t (s) VALUES ('69'), ('-5'), ('12'), (1e100), (TIME'00:00:03'), (123456789012345678901.5), (7.9)",
            "SET sql_mode = DEFAULT, timestamp = DEFAULT",
        ],
        queries: &["SELECT id, i, d, n, BIN(b), t, ts, s FROM t ORDER BY id"],
        shown: &[],
    },
    Feature {
        name: "bytes_of_addresses",
        statements: &[
            "SET sql_mode = ''",
            "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, a INET6, b INET4, c UUID)",
            "SET NAMES binary",
            "INSERT INTO t (a, b, c) VALUES ('::1', '1.2.3.4', '123e4567-e89b-12d3-a456-426655440000'), \
             (REPEAT('r', 16), 'abcd', REPEAT('r', 16)), (REPEAT('r', 15), 'abc', 'abc')",
            "SET NAMES utf8mb4",
            "INSERT INTO t (a, b, c) VALUES (0x20010DB8000000000000FF0000428329, X'01020304', NULL), \
             (_binary'::1', INET6_ATON('1.2.3.4'), CONCAT('123e4567', CAST(0 AS BINARY))), ('::1', '1.2.3.4', NULL)",
            "SET sql_mode = DEFAULT",
        ],
        queries: &["SELECT * FROM t ORDER BY id"],
        shown: &[],
    },
    Feature {
        name: "wrong_members",
        statements: &[
            "SET sql_mode = ''",
            "CREATE TABLE wrong (id INT, a ENUM('x','y') UNICODE, b SET('x','y') CHARACTER SET utf32)",
            "INSERT INTO wrong VALUES (1, 'z', 'z'), (2, '2', '2'), (3, 2, 2), (4, TIME'00:00:01', TIME'00:00:01')",
            "SET sql_mode = DEFAULT",
            "CREATE TABLE t (c INT) SELECT * FROM wrong",
            "INSERT INTO t (id, a) SELECT 10 + id, a FROM wrong",
        ],
        queries: &["SELECT id, a + 0, b + 0 FROM t ORDER BY id"],
        shown: &[],
    },
    Feature {
        name: "statements",
        statements: &[
            "CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, a INT DEFAULT 5, b TEXT DEFAULT 'abc')",
            "INSERT INTO t (a) VALUES (1), (2) RETURNING id, a",
            "REPLACE INTO t VALUES (1, 5, NULL) RETURNING *",
            "SET STATEMENT max_statement_time = 5 FOR INSERT INTO t (a) VALUES (9)",
            "DELETE FROM t WHERE id = 2 RETURNING a, CONCAT(a, 'x')",
            "INSERT INTO t (a, b) SELECT a + 1, b FROM t RETURNING id",
            "ANALYZE TABLE t PERSISTENT FOR ALL",
            "CREATE OR REPLACE TABLE r (a INT)",
            "CREATE OR REPLACE TABLE r (b INT)",
            "INSERT INTO r VALUES (1)",
            "CREATE OR REPLACE INDEX i ON r (b) WAIT 3",
            "ALTER TABLE IF EXISTS r NOWAIT ADD COLUMN IF NOT EXISTS b TEXT, ADD COLUMN IF NOT EXISTS c INT DEFAULT 7",
            "ALTER TABLE r ADD CONSTRAINT IF NOT EXISTS small CHECK (c < 100)",
            "ALTER TABLE r ADD CONSTRAINT IF NOT EXISTS small CHECK (c < 1), ADD UNIQUE KEY IF NOT EXISTS u (c)",
            "CREATE TABLE parts (a INT) PARTITION BY RANGE (a) \
             (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN (20))",
            "ALTER TABLE parts ADD PARTITION IF NOT EXISTS (PARTITION p1 VALUES LESS THAN (30))",
            "ALTER TABLE parts ADD PARTITION IF NOT EXISTS (PARTITION p2 VALUES LESS THAN (40))",
            "INSERT INTO parts VALUES (1), (11), (31)",
            "ALTER TABLE parts DROP PARTITION IF EXISTS nothing",
            "ALTER TABLE parts DROP PARTITION IF EXISTS nothing, p0",
        ],
        queries: &[
            "SELECT * FROM t ORDER BY id",
            "SELECT * FROM r",
            "SELECT * FROM parts ORDER BY a",
            "SELECT partition_name FROM information_schema.partitions WHERE table_schema = 'statements' \
             AND table_name = 'parts' ORDER BY partition_ordinal_position",
        ],
        shown: &["`b` text DEFAULT (_utf8mb4'abc')"],
    },
];

fn features(format: &str) {
    if !testkit::available("replicate_mariadb_features", &[Flavor::MariaDb]) {
        return;
    }
    let settings = Settings { row_image: RowImage::Full, ..Settings::default() };
    let Pair { source, replica, proxy: _proxy, .. } =
        Pair::start_with(Flavor::MariaDb, flavor_under_test(), &settings, By::Gtid);
    let mut session = source.connect();
    session.query(&format!("SET binlog_format = {format}")).expect("is set");
    for feature in FEATURES {
        let first = [format!("CREATE OR REPLACE DATABASE {}", feature.name), format!("USE {}", feature.name)];
        for sql in first.iter().map(String::as_str).chain(feature.statements.iter().copied()) {
            session.query(sql).unwrap_or_else(|error| panic!("{}: {sql}: {error}", feature.name));
        }
        replica.catch_up(&source);
        let mut here = replica.connect();
        here.query(&format!("USE {}", feature.name)).expect("is there");
        for sql in feature.queries {
            let [theirs, ours] = [&mut session, &mut here].map(|client| {
                client.query(sql).unwrap_or_else(|error| panic!("{}: {sql}: {error}", feature.name)).rows
            });
            assert_eq!(texts(&ours), texts(&theirs), "{format}: {}: {sql}", feature.name);
        }
        let shown = texts(&here.query("SHOW CREATE TABLE t").expect("is shown").rows).concat();
        for expected in feature.shown {
            assert!(shown.contains(expected), "{}: {expected} in {shown}", feature.name);
        }
    }
}

fn texts(rows: &[Vec<Option<Vec<u8>>>]) -> Vec<String> {
    let cell = |cell: &Option<Vec<u8>>| {
        cell.as_ref().map_or("NULL".to_string(), |bytes| String::from_utf8_lossy(bytes).into_owned())
    };
    rows.iter().map(|row| row.iter().map(cell).collect::<Vec<_>>().join("\t")).collect()
}

#[test]
fn as_rows() {
    features("ROW");
}

#[test]
fn as_statements_where_they_are_safe() {
    features("MIXED");
}
