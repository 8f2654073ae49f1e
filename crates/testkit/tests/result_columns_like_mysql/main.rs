//! What clients are told of the columns of results, compared with a real MySQL: the type, the
//! length, the decimals, the flags and the character set, and the columns of tables and views that
//! are made of such results.

use bench::instance::Settings;
use protocol::client::Client;
use protocol::column::{Column, column_flag};
use testkit::answers::{answer, same_answers};
use testkit::server::same_as_mysql;

/// The expressions, one a line, over the columns of [`TABLE`].
const EXPRESSIONS: &str = include_str!("expressions.txt");

/// Statements about `&`, `|`, `^`, `~`, shifts, BIT_COUNT and the aggregates, one a line.
const BITS: &str = include_str!("bits.txt");

/// Statements whose answers depend on types.
const VALUES: &[&str] = &[
    "create database d",
    "use d",
    "create table m (id int primary key, e enum('lo','mid','hi'), s set('x','a','m'), g int, c int)",
    "insert into m values (1,'lo','x',1,7),(2,'mid','a',1,7),(3,'hi','m',2,7),(4,'lo','a,m',2,7),(5,null,null,2,7)",
    "select min(e), max(e), min(s), max(s) from m",
    "select g, min(e), max(e), min(s), max(s) from m group by g",
    "select id, min(e) over (order by id), max(s) over (order by id rows between 1 preceding and current row) from m",
    "select ifnull(e, e), coalesce(s, s), if(1, e, e), case when g = 1 then s else s end from m order by ifnull(e, e)",
    "select id from m order by ifnull(e, e) desc, coalesce(s, s) desc",
    "select id, least(e, e), nullif(e, 'mid'), ifnull(e, e) > 'hi', ifnull(e, e) < ifnull(s, s) from m",
    "select e from m union all select e from m order by e",
    "select e from m union select null order by e",
    "select id, lag(e) over (order by id), first_value(s) over (order by id), nth_value(e, 2) over (order by id) from m",
    "create table of_members as select ifnull(e, e) a, lag(s) over () b, last_value(e) over () c, e, s, least(s, s) d from m",
    "show create table of_members",
    "create table united as select e, s from m union all select e, s from m",
    "show create table united",
    "create table united_with_null as select e, s from m union all select null, null",
    "show create table united_with_null",
    "select any_value(c), max(id), min(id) from m",
    "select json_object('a', point(1, 2), 'b', st_geomfromtext('POINT(1 2)', 4326)), cast(point(1, 2) as json)",
    "select json_array(st_geomfromtext('GEOMETRYCOLLECTION(POINT(1 2),LINESTRING(0 0,1 1.5))', 3857))",
    "select json_value('{\"a\":\"x\"}','$.a') = 'X', json_value('{\"a\":\"x\"}','$.a' returning char(5)) = 'x'",
    "select from_days(1), from_days(59), from_days(60), from_days(365), from_days(366), from_days(3652424)",
    "select year('2024-01-01') - year('2020-01-01'), year('0050-01-01'), concat(year('0050-01-01'))",
    "create table p (price double(10,2), rate float(7,3), n int)",
    "insert into p values (1.23, 4.567, 3), (2.5, 0.001, 7)",
    "select price * n, price / n, price * rate, price - rate, price + 1.5, -price, abs(price) from p",
    "select sum(price), avg(price), sum(price * n), max(price), round(price), ceil(price), price * 1e0 from p",
    "select if(n > 3, price, rate), coalesce(price, 1), ifnull(price, 0), concat(price * n, '') from p",
    "select pi(), pi() * 2, pi() + 1e0, concat(pi()), cast(pi() as char), sin(pi()) = 0, round(pi(), 3)",
    "select 'a' collate latin1_bin",
    "create table years (id int primary key, y year, dt date, v varchar(10) collate utf8mb4_bin, \
     w varchar(10), b varbinary(4), j json, key (y))",
    "insert into years values (1,2024,'2024-02-29','a','A',x'41ff','{\"a\":\"x\"}'), \
     (2,1999,'1999-12-31','b','X',x'42','\"X\"')",
    "select 1 < year(dt), year(dt) = 24, y = 24, cast(y as year) = 24, year(dt) in (99, 1999) from years",
    "select id from years where y > 1",
    "select id from years where year(dt) > 1 and y between 1990 and 2000",
    "select id from (select id, year(dt) x from years limit 10) d where x = 24",
    "select id from (select id, y x from years limit 10) d where x = 24",
    "select id from (select id, ifnull(y, y) x from years limit 10) d where x = 24",
    "select id from (select id, max(y) x from years group by id) d where x = 24",
    "select id from (select id, year(dt) x from years union all select id, y from years) d where x = 24",
    "create table kept as select year(dt) a, y b, ifnull(y, y) c, max(y) d, max(year(dt)) e from years group by id",
    "show create table kept",
    "create table kept2 as select * from \
     (select year(dt) a, y b, cast(y as year) c, max(y) d, max(year(dt)) e, if(id, y, y) f from years group by id) z",
    "show create table kept2",
    "create table kept3 as select lag(y) over () a, first_value(year(dt)) over () b from years",
    "show create table kept3",
    "select w = j->>'$.a', w in (json_unquote(j), 'q'), j->>'$.a' = 'X', coercibility(j->>'$.a') from years",
    "select collation(replace(v, w, w)), collation(insert(w, 1, 1, v)), collation(lpad(v, 5, w)), \
     collation(replace(b, 'a', w)), collation(rpad('a', 2, v)), coercibility(rpad('a', 2, v)) from years",
    "select cast(b as char), convert(b using utf8mb4), cast(b as char(1)), concat(cast(b as char), '!'), \
     convert(b using latin1) from years",
    "select convert(x'd800' using utf16), convert(x'e9' using gbk), cast(x'41ff' as char), convert(x'41e9' using latin1)",
    "select cast(timestamp'1999-12-31 23:59:59.999' as signed), time'23:59:59.9' div 1, \
     cast(timestamp'9999-12-31 23:59:59.9' as signed), timestamp'1999-12-31 23:59:59.5' & 4294967295",
    "set sql_mode = ''",
    "select cast(x'41ff' as char), convert(x'41ff' using utf8mb4), length(cast(x'ff' as char))",
    "select st_astext(st_collect(distinct x)) from (select point(1,1) x union all select point(1,1)) t",
];

const TABLE: [&str; 5] = [
    "set names utf8mb4 collate utf8mb4_0900_ai_ci",
    "create database d",
    "use d",
    "create table t (i int, u int unsigned, ti tinyint, si smallint not null, bi bigint, \
     bu bigint unsigned not null, d decimal(10,2), f float, db double, c char(5), v varchar(20), tx text, \
     b binary(4), vb varbinary(8), bl blob, dt date, tm time(2), dtm datetime(3), ts timestamp, y year, \
     e enum('a','bb'), s set('x','y'), j json, bt bit(5), l varchar(20) charset latin1, nn varchar(10) not null, \
     mt mediumtext, lt longtext, t0 tinytext, fd double(10,2), ff float(7,3), lx text charset latin1, \
     lm mediumtext charset latin1, ll longtext charset latin1, lt1 tinytext charset latin1, tb tinyblob, \
     mb mediumblob, lb longblob)",
    "insert into t values (1,2,3,4,5,6,7.25,8.5,9.5,'c','vv','tx','b','vb','bl','2024-01-02','10:00:00.5', \
     '2024-01-02 03:04:05.678','2024-01-02 03:04:05',2024,'a','x,y','{\"a\":1}',5,'l','nn','mt','lt','t0', \
     1.23,4.567,'a','a','a','a','a','a','a')",
];

/// Returns what the definition of a column says.
fn description(column: &Column) -> String {
    format!(
        "type {} length {} decimals {} flags {:#x} collation {}",
        column.field_type, column.length_bytes, column.decimals, column.flags, column.collation
    )
}

/// Returns the description of an expression's column, its value, and the column of a table that is
/// made of it.
fn all_of(client: &mut Client, expression: &str) -> String {
    let select = format!("select {expression} as x from t");
    let result = client.query(&select).unwrap_or_else(|error| panic!("{select}: {error}"));
    let described = description(&result.columns[0]);
    let value = answer(client, &select);
    let made = answer(client, &format!("create table made as {select}"));
    let columns = answer(client, "show full columns from made");
    client.query("drop table if exists made").expect("a table can be dropped");
    format!("{described}\n    {value}\n    {made}\n    {columns}")
}

#[test]
fn columns_of_expressions_are_described_as_by_mysql() {
    let told = same_as_mysql("result_columns", &Settings::default(), |server| {
        let mut client = server.connect();
        for statement in TABLE {
            client.query(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
        }
        EXPRESSIONS.lines().map(|expression| all_of(&mut client, expression)).collect::<Vec<_>>()
    });
    assert!(told.len() > 300 && told[0].contains("type 3 length 11"), "{}", told[0]);
}

#[test]
fn bits_of_byte_strings_are_those_of_mysql() {
    let answers = same_answers("bits_of_byte_strings", &BITS.lines().collect::<Vec<_>>());
    assert!(
        answers.iter().any(|answer| answer.contains("0F0F0000,0F0F0FFF,00000000,F0F0F0F0")),
        "{answers:#?}"
    );
}

#[test]
fn values_that_follow_from_types_are_mysqls() {
    // Without warnings: MySQL has some about types that are deprecated.
    let answers = same_as_mysql("values_of_types", &Settings::default(), |server| {
        let mut client = server.connect();
        VALUES.iter().map(|statement| answer(&mut client, statement)).collect()
    });
    assert!(answers.iter().any(|answer| answer.ends_with("hi,mid,a,x")), "{answers:#?}");
}

/// MySQL names the operands in its message, and this server shows their values.
#[test]
fn a_difference_of_years_is_unsigned() {
    let statements = [
        "select year('2020-01-01') - year('2024-01-01')",
        "select cast('2020' as year) - cast('2024' as year)",
    ];
    let codes = same_as_mysql("years", &Settings::default(), |server| {
        let mut client = server.connect();
        let code = |statement: &&str| answer(&mut client, statement)[statement.len()..][..6].to_owned();
        statements.iter().map(code).collect()
    });
    assert_eq!(codes, [": 1690", ": 1690"]);
}

/// Queries whose columns are kept in a table before they are sent, and aggregates.
const QUERIES: &[&str] = &[
    "select min(1), max(100), min(true), max(length(v)), min(-1), max(1999999999999), max(year(dt)) from t",
    "select min(1) + 1, max(100) * 2, concat(min(1)), ifnull(min(1), 2), coalesce(max(100), 1) from t",
    "select x, x + 1, concat(x) from (select min(1) x from t) z",
    "select max(year(dt)), max(1) from t group by i",
    "select any_value(3), any_value(nn), any_value(i), any_value(si), any_value(date'2001-01-01') from t",
    "select ifnull(1999, 1), ifnull(i, 1), ifnull(ti, 1), ifnull(bi, 1), ifnull(null, 1) from t",
    "select 1 union select 100",
    "select i from t union select 1",
    "select ti from t union select 1",
    "select length('a') union select 1",
    "select x, x + 1, concat(x) from (select 1 x union select 100) z",
    "select year(dt) from t union select year(dt) from t",
    "select y from t union select 1",
    "select null union select json_array()",
    "select j from t union select null",
    "select distinct json_array(i), year(dt), concat(v) from t",
    "select json_array(i), year(dt) from t group by json_array(i), year(dt)",
    "select group_concat(i), group_concat(v), group_concat(l), group_concat(cast(v as binary)) from t",
    "select group_concat(null), group_concat(bt), group_concat(j), group_concat(1, v) from t",
    "select concat(group_concat(v), 'a'), upper(group_concat(v)), ifnull(group_concat(v), 'a') from t",
    "select group_concat(v) from t union select 1",
    "select uncompress('a'), space(i), json_pretty('1'), regexp_replace('a', 'b', 'c') from t",
];

/// The size of integers and BLOBs, the decimals of texts, and flags other than UNSIGNED, ZEROFILL
/// and NOT NULL are not compared: they follow from the plan in MySQL.
#[test]
fn columns_that_are_kept_or_aggregated_are_described_as_by_mysql() {
    let described = |column: &Column| {
        let of_size = match column.field_type {
            1 | 2 | 3 | 9 => 8,
            249..=251 => 252,
            other => other,
        };
        let decimals = if matches!(of_size, 252..=254) { 0 } else { column.decimals };
        let flags = column.flags & (column_flag::UNSIGNED | column_flag::ZEROFILL | column_flag::NOT_NULL);
        format!("{of_size} {} {decimals} {flags:#x} {}", column.length_bytes, column.collation)
    };
    let told = same_as_mysql("kept_columns", &Settings::default(), |server| {
        let mut client = server.connect();
        for statement in TABLE {
            client.query(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
        }
        let ask = |query: &&str| {
            let result = client.query(query).unwrap_or_else(|error| panic!("{query}: {error}"));
            format!("{query}: {}", result.columns.iter().map(described).collect::<Vec<_>>().join(", "))
        };
        QUERIES.iter().map(ask).collect::<Vec<_>>()
    });
    assert!(told[0].contains(": 8 2 0"), "{}", told[0]);
}

/// Queries whose rows MySQL keeps in a table of its own before it sends them.
const KEPT: &[&str] = &[
    "select ascii(v) x1, length(v) x2, char_length(v) x3, v is null x4, month(dt) x5, locate('a', v) x6, \
     i + 1 x7, -ti x8, i div 2 x9, crc32(v) x10, to_days(dt) x11, if(i, 1, 2) x12, 5 x13, \
     date_add(v, interval 1 day) x14, coalesce(c, c) x15, dayofyear(dt) x16, strcmp(v, 'a') x17, count(*) \
     from t group by x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15, x16, x17",
    "select distinct ascii(v), length(v), date_add(v, interval 1 day), coalesce(c, c), month(dt) from t",
    "select max(date_add(v, interval 1 day)), max(c), max(coalesce(c, c)), max(length(v)) from t group by i",
    "select date_add(v, interval 1 day), coalesce(c, c), sum(1) over () from t",
    "select date_add(v, interval 1 day) x, coalesce(c, c) from t union select date_add(c, interval 1 day), c from t",
    "select date_add(v, interval 1 day) x, coalesce(c, c) from t union select v, v from t",
    "select date_add(v, interval 1 day) x, coalesce(c, c) from t order by i",
];

#[test]
fn integers_and_texts_that_are_kept_have_the_types_of_mysqls_columns() {
    let told = same_as_mysql("kept_types", &Settings::default(), |server| {
        let mut client = server.connect();
        for statement in TABLE {
            client.query(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
        }
        let ask = |query: &&str| {
            let result = client.query(query).unwrap_or_else(|error| panic!("{query}: {error}"));
            let types = result.columns.iter().map(|column| (column.field_type, column.length_bytes));
            format!("{query}: {:?}", types.collect::<Vec<_>>())
        };
        KEPT.iter().map(ask).collect::<Vec<_>>()
    });
    assert!(told[0].contains(": [(3, 4), (8, 11)"), "{}", told[0]);
}

/// Without strict mode, most functions of texts are NULL only where an argument is.
#[test]
fn which_texts_may_be_null_depends_on_strict_mode_as_in_mysql() {
    let texts = "concat('a'), space(3), lower('a'), trim('a'), lpad('a', 3, 'b'), hex(1), left('a', 1), quote('a'), \
                 cast('a' as char), cast(1 as binary), unhex('a'), bin(1), char(1), to_base64('a'), concat(nn), \
                 concat(v), convert(nn using latin1), format(1, 2), elt(1, 'a'), compress('a') from t";
    let told = same_as_mysql("nullable_texts", &Settings::default(), |server| {
        let mut client = server.connect();
        for statement in TABLE {
            client.query(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
        }
        let mut in_mode = |mode: &str| {
            client.query(&format!("set sql_mode = {mode}")).expect("a mode can be set");
            let result = client.query(&format!("select {texts}")).expect("texts can be read");
            let flags = result.columns.iter().map(|column| column.flags & column_flag::NOT_NULL);
            flags.map(|flag| flag.to_string()).collect::<Vec<_>>().join(",")
        };
        vec![in_mode("default"), in_mode("''")]
    });
    assert_ne!(told[0], told[1]);
}
