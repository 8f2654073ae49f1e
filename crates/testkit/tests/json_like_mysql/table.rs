//! Tests of JSON_TABLE, compared with MySQL.

use crate::beside::Both;

const TABLES: &[&str] = &[
    "CREATE DATABASE f",
    "USE f",
    "CREATE TABLE j (id INT PRIMARY KEY, j JSON)",
    "INSERT INTO j VALUES (1, '{\"a\": [1, 2.5, null, true]}'), (2, '[1]'), (3, NULL), (4, '{\"a\": 3}')",
    "CREATE TABLE k (a INT, b VARCHAR(10))",
];

const STATEMENTS: &[&str] = &[
    r#"SELECT * FROM JSON_TABLE('[{"a":1,"b":[1,2]},{"a":"x"},{"b":[3]}]', '$[*]' COLUMNS(id FOR ORDINALITY, a INT PATH '$.a' DEFAULT '99' ON EMPTY DEFAULT '77' ON ERROR, e INT EXISTS PATH '$.b', NESTED PATH '$.b[*]' COLUMNS (n FOR ORDINALITY, b INT PATH '$'))) t"#,
    r#"SELECT * FROM JSON_TABLE('{"a":[1,2],"b":[3,4]}', '$' COLUMNS(NESTED PATH '$.a[*]' COLUMNS (a INT PATH '$'), NESTED PATH '$.b[*]' COLUMNS (b VARCHAR(5) PATH '$'))) AS t"#,
    r#"SELECT * FROM JSON_TABLE('{"a":[],"b":[]}', '$' COLUMNS(x INT PATH '$.x', NESTED PATH '$.a[*]' COLUMNS (a INT PATH '$'), NESTED '$.b[*]' COLUMNS (b VARCHAR(5) PATH '$'))) AS t"#,
    r#"SELECT * FROM JSON_TABLE('[{"a":[{"b":[1,2]},{"b":[]}]},{"a":[]}]', '$[*]' COLUMNS(i FOR ORDINALITY, NESTED PATH '$.a[*]' COLUMNS (j FOR ORDINALITY, NESTED PATH '$.b[*]' COLUMNS (k FOR ORDINALITY, b INT PATH '$')))) AS t"#,
    r#"SELECT * FROM JSON_TABLE('{"a":"x"}', '$' COLUMNS(a INT PATH '$.a' ERROR ON ERROR)) t"#,
    r#"SELECT * FROM JSON_TABLE('{"a":[1]}', '$' COLUMNS(a INT PATH '$.a' ERROR ON ERROR)) t"#,
    r#"SELECT * FROM JSON_TABLE('{"a":[1]}', '$' COLUMNS(a INT PATH '$.b' ERROR ON EMPTY)) t"#,
    r#"SELECT * FROM JSON_TABLE('{"a":[1,2]}', '$' COLUMNS(a INT PATH '$.a[*]' ERROR ON ERROR)) t"#,
    r#"SELECT * FROM JSON_TABLE('{"a":[1,2]}', '$' COLUMNS(a JSON PATH '$.a[*]' ERROR ON ERROR, b JSON PATH '$.a', c VARCHAR(10) PATH '$.a', d CHAR(1) PATH '$.a[0]', e VARCHAR(10) PATH '$.a[*]')) t"#,
    r#"SELECT * FROM JSON_TABLE('{"a":"abc"}', '$' COLUMNS(a VARCHAR(2) PATH '$.a' ERROR ON ERROR)) t"#,
    r#"SELECT * FROM JSON_TABLE('{"a":"abc","d":1.55,"dt":"2020-01-01","n":null,"t":true,"big":1000}', '$' COLUMNS(a VARCHAR(2) PATH '$.a', d DECIMAL(3,1) PATH '$.d', dt DATE PATH '$.dt', n INT PATH '$.n' DEFAULT '5' ON EMPTY DEFAULT '6' ON ERROR, t INT PATH '$.t', t2 VARCHAR(10) PATH '$.t', big TINYINT PATH '$.big', nx VARCHAR(10) PATH '$.n', f DOUBLE PATH '$.d', j JSON PATH '$.a', ex VARCHAR(3) EXISTS PATH '$.a')) t"#,
    r#"SELECT * FROM JSON_TABLE('{', '$' COLUMNS(a INT PATH '$')) t"#,
    r#"SELECT * FROM JSON_TABLE(1, '$' COLUMNS(a INT PATH '$')) t"#,
    r#"SELECT * FROM JSON_TABLE(NULL, '$' COLUMNS(a INT PATH '$')) t"#,
    r#"SELECT * FROM JSON_TABLE('[]', '$[*' COLUMNS(a INT PATH '$')) t"#,
    r#"SELECT * FROM JSON_TABLE('[]', '$[*]' COLUMNS(a INT PATH '$.')) t"#,
    r#"SELECT * FROM JSON_TABLE('[]', '$[*]' COLUMNS(a INT PATH '$', a INT PATH '$')) t"#,
    r#"SELECT * FROM JSON_TABLE('[]', '$[*]' COLUMNS(a INT PATH '$'))"#,
    r#"SELECT * FROM JSON_TABLE('[1]', '$[*]' COLUMNS(a INT PATH '$' DEFAULT 'x' ON EMPTY)) t"#,
    r#"SELECT * FROM JSON_TABLE('[1]', '$[*]' COLUMNS(a INT PATH '$.x' DEFAULT '"x"' ON EMPTY)) t"#,
    r#"SELECT * FROM JSON_TABLE('[1]', '$[*]' COLUMNS(a INT PATH '$.x' DEFAULT '[1]' ON EMPTY)) t"#,
    r#"SELECT j.id, x.* FROM j, JSON_TABLE(j.j, '$.a[*]' COLUMNS(o FOR ORDINALITY, v JSON PATH '$')) x ORDER BY id, o"#,
    r#"SELECT j.id, x.* FROM j LEFT JOIN JSON_TABLE(j.j, '$.a[*]' COLUMNS(o FOR ORDINALITY, v JSON PATH '$')) x ON x.o > 2 ORDER BY id, o"#,
    r#"SELECT j.id, x.* FROM j LEFT JOIN JSON_TABLE(j.j, '$.a[*]' COLUMNS(v JSON PATH '$')) x ON TRUE WHERE x.v IS NULL ORDER BY id"#,
    r#"SELECT * FROM JSON_TABLE(x.v, '$' COLUMNS(a INT PATH '$')) x"#,
    r#"SELECT * FROM JSON_TABLE('[1,2]', '$[*]' COLUMNS(a INT PATH '$')) t WHERE a > 1"#,
    r#"SELECT t.a, u.b FROM JSON_TABLE('[3,1,2]', '$[*]' COLUMNS(a INT PATH '$')) AS t JOIN JSON_TABLE(JSON_ARRAY(t.a, 5), '$[*]' COLUMNS(b INT PATH '$')) u ON u.b >= t.a ORDER BY a, b"#,
    r#"SELECT (SELECT SUM(a) FROM JSON_TABLE(j.j, '$.a[*]' COLUMNS(a INT PATH '$')) t) FROM j ORDER BY id"#,
    r#"SELECT COUNT(*), MAX(a) FROM JSON_TABLE('[1,2,3]', '$[*]' COLUMNS(a INT PATH '$')) t"#,
    r#"INSERT INTO k SELECT a, b FROM JSON_TABLE('[{"a":1,"b":"x"},{"a":2}]', '$[*]' COLUMNS(a INT PATH '$.a', b VARCHAR(10) PATH '$.b')) t"#,
    r#"SELECT * FROM k ORDER BY a"#,
];

#[test]
fn tables_of_documents_are_mysqls() {
    let Some(mut both) = Both::start("tables_of_documents_are_mysqls", TABLES) else { return };
    for statement in STATEMENTS {
        both.ask(statement);
    }
    assert_eq!(both.finish(), STATEMENTS.len());
}
