//! What IF, CASE and ELT choose, and literals of bytes among what is compared, beside MySQL.

use testkit::answers::same_answers;

/// A table whose columns have values of several types.
const TABLE: [&str; 4] = [
    "create database d",
    "use d",
    "create table t (id int primary key, a time(3), b time, c char(8), n int, e decimal(8,3), u int unsigned, \
     s set('a','x'), m enum('a','b'))",
    "insert into t values (1, '100:00:01.123', '01:00:00', 'a', 0, 1.5, 1, 'a,x', 'b'), \
     (2, '-01:30:00', '10:00:00', '-3x', 5, 2, 5, 'a', 'a'), (3, null, '00:00:00', 'x', null, null, null, null, null), \
     (4, '01:00:00', '00:00:01', '', 97, 0.5, 0, '', 'b')",
];

fn same(test: &str, queries: &[&str]) -> Vec<String> {
    same_answers(test, &[&TABLE[..], queries].concat())
}

#[test]
fn numbers_that_are_chosen_have_their_own_digits_as_texts() {
    let answers = same(
        "numbers_that_are_chosen",
        &[
            "select cast(case 'a' when 1 then 0.005 else 5 end as char(40)), concat(if(1, 1, 2.5)), concat(if(0, 1, 2.5))",
            "select cast(if(false, 2.25e0, 7.000) as binary(10)), cast(if(false, 2.25e0, 7.000) as char)",
            "select concat(if(0, 2e0, 7.00)), concat(coalesce(1, 2.55)), concat(ifnull(null, 1), ifnull(1, 2.5))",
            "select length(if(1, 1, 2.5)), hex(if(1, 10, 2.5)), if(1, 1, 2.5), if(1, 1, 2.5) + 1, reverse(if(1, 12, 2.5))",
            "select id, concat(if(1, n, 2.5)), concat(if(1, e, 2.12345)), concat(if(1, e, 1e0)), concat_ws('-', if(id, n, e)) \
             from t order by id",
            "select id, if(1, if(n, n, 2.5), 'x'), case id when 1 then 1 when 2 then 2.50 else 3e0 end like '2.50', \
             left(if(id = 1, 1, 2.50), 4), substring(case when id > 1 then e else n end, 1), trim(if(1, n, 1.00)), \
             lpad(if(1, n, 1.00), 6, if(1, 0, 1.0)), replace(if(1, 10, 1.00), if(1, 0, 1.0), 'x') from t order by id",
            "create table k (id int primary key, a varchar(20), b varbinary(20))",
            "insert into k select id, if(id, n, 2.50), if(id < 3, e, 1) from t",
            "insert into k values (10, if(1, 1, 2.5), if(1, 1, 2.5))",
            "select * from k order by id",
            "create table l as select concat(if(1, n, 2.5)) as a, cast(if(1, n, 1e0) as char) as b, length(if(1, n, 2.5)) as c from t",
            "show columns from l",
        ],
    );
    assert!(answers[4].contains(": 5,1,2.5"), "{answers:#?}");
}

#[test]
fn sums_of_times_have_six_digits_or_none_as_texts() {
    let answers = same(
        "sums_of_times",
        &[
            "select concat(subtime(time'23:59:59.5', a), 1), concat(subtime(time'23:59:59.5', b), 1) from t order by id",
            "select concat(addtime(b, b), 'x'), concat(addtime(a, b), 'x'), concat(addtime('10:00:00.5', b), 'x') from t order by id",
            "select concat(timediff(a, b), 'x'), addtime(a, b), cast(addtime(a, b) as char), if(1, addtime(a, b), 'x') from t order by id",
            "select n, group_concat(subtime(a, b) order by id) from t group by n order by n",
            "select length(addtime(a, b)), addtime(a, b) like '%000', concat(addtime(timestamp'2000-01-01 00:00:00', a)) from t order by id",
        ],
    );
    assert!(answers[4].contains("22:59:59.5000001"), "{answers:#?}");
}

#[test]
fn bits_of_a_chosen_time_are_those_of_its_integer() {
    let answers = same(
        "bits_of_a_chosen_time",
        &[
            "select case 'x' when 1 then 3 else time'23:59:59.5' end | 0, if(n, 3, a) | 0 from t order by id",
            "select case when 0 then 1 else timestamp'2000-01-01 23:59:59.5' end | 0, if(0, 'a', time'23:59:59.5') | 0",
            "select if(0, 'a', time'23:59:59.5') + 0, ~if(0, 'a', time'23:59:59.5'), if(1, '1e3', time'1:00:00') | 0, \
             if(1, 2.5, date'2000-01-01') & 7, bit_count(if(1, 7, time'1:00:00'))",
        ],
    );
    assert!(answers[5].contains("20000102000000,240000"), "{answers:#?}");
}

/// MySQL gives the position among the members of the type where the column is a table's own.
#[test]
fn a_constant_is_found_among_the_members_of_a_set() {
    let answers = same_answers(
        "choices::a_constant_is_found_among_the_members_of_a_set",
        &[
            "create database sets",
            "use sets",
            "create table t (a int primary key, s set('p','q','r'))",
            "insert into t values (1, 'p,r'), (2, 'q'), (3, null), (4, 'R,p'), (5, '')",
            "create view v as select s from t",
            "select find_in_set('r', s), find_in_set('R', s), find_in_set(concat('r'), s) from t",
            "select find_in_set('p,r', s), find_in_set('x', s), find_in_set(null, s), find_in_set('r', concat(s)) from t",
            "select (select find_in_set('r', t.s)) from t",
            "select find_in_set('r', s) from v",
            "select find_in_set('r', s) from (select s from t) q",
            "select find_in_set(@x := 'r', s) from t where a = 1",
            "select a from t where find_in_set('r', s) = 3",
            "select a, find_in_set('r', s) from t order by s, a",
            "prepare p from 'select find_in_set(?, s) from t'",
            "set @r = 'r'",
            "execute p using @r",
        ],
    );
    assert!(answers[5].contains(": 3,3,3"), "{answers:#?}");
}

#[test]
fn field_compares_in_the_collation_of_its_first_argument() {
    let answers = same_answers(
        "choices::field_compares_in_the_collation_of_its_first_argument",
        &[
            "set names utf8mb4",
            "create database fields",
            "use fields",
            "create table t (g varchar(10) collate utf8mb4_general_ci, u varchar(10) collate utf8mb4_unicode_ci, \
             b varchar(10) collate utf8mb4_bin, n varchar(10) collate utf8mb4_0900_as_cs, i int)",
            "insert into t values ('a', 'A', 'A', 'A', 1), ('x', 'X', 'y', 'x', 2)",
            "select field(g, u), field(g, n, g), field(g, u, g), field(g, 'A', u, b), field(g, u, 'A') from t",
            "select field(g, 'A', u), field(g, b, u), field('A', g, u), field(g, u, n), field('a', b, g) from t",
            "select field(b, g), field(b, u, g), field(n, g), field(u, n), field('a', b), field(b, 'a') from t",
            "select field(g, 'A' collate utf8mb4_bin), field('A' collate utf8mb4_bin, g), field(@v := 'a', b) from t",
            "select field(_binary'a', 'A'), field('a', _binary'A'), field(g, _binary'A'), field(_binary'A', g) from t",
            "select field(concat(g, u), 'aa'), field(_latin1'a', g), field(cast(g as char), b) from t",
            "select field(null, g, u), field(g, null, u), field(g, null, b) from t",
            "select field(g, i, u), field(g, u, i), field(i, g, u), field(1, g, u), field(g, 1, u) from t",
        ],
    );
    assert!(answers[5].ends_with("1,1,1,1,1 1,1,1,2,1"), "{answers:#?}");
}

#[test]
fn the_last_of_equal_texts_is_the_greatest() {
    let answers = same_answers(
        "choices::the_last_of_equal_texts_is_the_greatest",
        &[
            "set names utf8mb4",
            "select greatest('A', 'a'), greatest('a', 'A'), least('A', 'a'), least('a', 'A')",
            "select greatest('a', 'A', 'a'), greatest('b', 'a', 'B', 'A'), least('b', 'a', 'B', 'A')",
            "select greatest(1, '1 '), greatest('1', 1), greatest('é', 'e'), greatest(1, 1.0), greatest(1.0, 1)",
        ],
    );
    assert!(answers[1].ends_with("a,A,A,a"), "{answers:#?}");
}

#[test]
fn literals_of_bytes_are_numbers_beside_numbers_only() {
    let answers = same(
        "literals_of_bytes",
        &[
            "select 0 = x'61', 97 = x'61', case 0 when x'61' then 1 else 2 end, case 97 when x'61' then 1 else 2 end",
            "select 0 in (x'61'), 97 in (x'61'), x'61' in (0), x'61' in (97), x'61' not in (0, 'x'), x'61' in (97, 'x')",
            "select id, x'61' not in (0, c), x'61' in (c, 97), x'61' in (n, c, 'q'), x'61' not in (n, null), n = x'61', \
             case x'61' when n then 1 when 'b' then 2 when 'a' then 3 end, e in (x'61'), b'1100001' in (n, c), \
             case n when 5 then 1 when x'61' then 2 else 3 end from t order by id",
            "select id from t where x'61' in (n, c) order by id",
            "select id from t where case n when x'61' then 1 end order by id",
        ],
    );
    assert!(answers[4].contains(": 0,1,2,1"), "{answers:#?}");
}

#[test]
fn times_are_those_of_today_beside_a_date_and_null() {
    let answers = same(
        "times_between",
        &[
            "select id, b not between date'2024-12-30' and null, b between date'2024-12-30' and null, \
             b not between null and date'2024-12-30', a not between date'2024-12-30' and null, \
             time'10:00:00' not between date'2024-12-30' and null, b not between timestamp'2024-12-30 00:00:00' and null \
             from t order by id",
            "select id from t where a not between date'2024-12-30' and null",
            "select id from t where b not between null and date'2024-12-30' order by id",
        ],
    );
    assert!(answers[4].contains("1,NULL,NULL,1,NULL"), "{answers:#?}");
}

#[test]
fn members_are_numbers_with_a_floating_point() {
    let answers = same(
        "members_are_numbers",
        &[
            "select u - s, u - m, u + s, u + m, s + 1, s - 5, m - 5, s / 2, s * 2.5, -s, -m, s % 2, u | s, s - m from t order by id",
            "create table k as select u - s a, s - 5 b, s * 2.5 c, -s d, s % 2 e, u | s f from t",
            "select * from k",
            "show columns from k",
            "select sum(u - s), id from t where s - 5 < 0 group by id order by id",
        ],
    );
    assert!(answers[4].contains("-2,-1,4"), "{answers:#?}");
}

#[test]
fn elt_computes_what_it_chooses_alone() {
    let answers = same(
        "elt_computes",
        &[
            "select elt(0, null, cast(' 7' as char(1)), 1), elt(1, 'a', random_bytes(0)), elt(2.5, 'a', 'b', 'c'), elt('2x', 'a', 'b')",
            "show warnings",
            "select id, elt(id, 'a', 5, a, cast('x' as signed)), elt(null, cast('x' as signed)), elt(n, e, b) from t order by id",
            "show warnings",
            "select elt(2, 1.50, 2.5), elt(1, if(1, 1, 2.5)), elt(-1, 'a'), elt(3, 'a', 'b'), elt(1, x'ff01'), elt(2.5e0, 'a', 'b', 'c')",
            "create table k as select elt(id, 'a', c, e, null) as x from t",
            "show columns from k",
            "select hex(json_value('{\"a\": \"x \"}', '$.a' returning binary(5))), hex(cast('x ' as binary(5)))",
            "select elt(2, 'a', random_bytes(0))",
        ],
    );
    assert!(answers[4].contains("NULL,a,c,b"), "{answers:#?}");
    assert!(answers.last().is_some_and(|last| last.contains("1690")), "{answers:#?}");
}
