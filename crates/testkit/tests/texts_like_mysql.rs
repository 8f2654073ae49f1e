//! Tests of values of other types where texts are wanted, and of user variables. A real MySQL gets
//! the same statements and must answer the same.

use bench::instance::Settings;
use testkit::answers::{answer, answer_with_warnings, same_answers};
use testkit::server::same_as_mysql;

/// The statements that make a table with every type whose values are not written as the type alone
/// says.
const TABLE: [&str; 5] = [
    "create database d",
    "use d",
    "set time_zone='+00:00', timestamp=1700000000.123456",
    "create table q(a datetime(3), t time(1), s datetime(6), ts timestamp(2), f float(5,2), g double(9,3), \
     z int(6) zerofill, dz decimal(7,2) zerofill, y year, b bit(9), u tinyint(3) unsigned zerofill)",
    "insert into q values('2020-01-01 10:00:00.5','10:00:00.5','2020-01-01 10:00:00','2020-01-01 10:00:00.25', \
     1.5,2.5,42,3.5,2020,65,7)",
];

/// Runs the statements on both servers after the table was made, and returns the answers. Warnings
/// of MySQL about deprecated types are not compared.
fn same_with_table(name: &str, statements: &[&str]) -> Vec<String> {
    same_as_mysql(name, &Settings::default(), |server| {
        let mut client = server.connect();
        for statement in TABLE {
            client.query(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
        }
        statements.iter().map(|statement| answer_with_warnings(&mut client, statement)).collect()
    })
}

#[test]
fn functions_of_texts_see_the_digits_of_a_column() {
    let answers = same_with_table(
        "digits_in_functions",
        &[
            "select concat(a),concat(t),concat(s),concat(ts),concat(f),concat(g),concat(z),concat(dz),concat(y) from q",
            "select concat_ws('|',a,t,s,ts,f,g,z,dz,y,u), length(a), length(t), length(z), hex(t), upper(a) from q",
            "select left(a,30), right(t,3), reverse(t), substring(a,-4), lpad(z,8,'x'), trim(s), ascii(z) from q",
            "select a like '%.500', t like '%.5', s like '%.000000', z like '0000%', instr(z,'00') from q",
            "select locate('.500',a), field('000042',z,'x'), find_in_set(z,'000042,1'), z in ('000042') from q",
            "select quote(a), a regexp '500$', elt(1,a,z), elt(2,a,z), insert(a,1,0,''), make_set(3,a,z) from q",
            "select replace(t,'.5',''), to_base64(z), crc32(z), char_length(s), json_quote(concat(a)) from q",
            "select json_object('a',a,'t',t,'s',s,'z',z,'f',f,'dz',dz), json_array(a,t,s) from q",
            "select concat(a + interval 1 day), concat(a + interval 1 microsecond), concat(timestamp(a)) from q",
            "select concat(timestamp(a,t)), concat(timediff(a,a)), concat(from_unixtime(1.50)), concat(time(a)) from q",
            "select concat(now(3)), concat(now()), concat(curtime(2)), length(utc_timestamp(1)), length(now(6))",
            "select concat(cast('2020-01-01 10:00:00.5' as datetime(3)),'x'), length(cast('10:00:00.5' as time(2)))",
            "select a,z from q group by a,z having concat(a)='2020-01-01 10:00:00.500'",
            "select distinct concat(s) from q order by concat(s)",
        ],
    );
    assert!(answers[5].contains("2020-01-01 10:00:00.500"), "{answers:#?}");
}

#[test]
fn casts_and_choices_write_the_digits_of_a_column() {
    same_with_table(
        "digits_in_casts",
        &[
            "select cast(a as char), cast(t as char), cast(s as char), cast(ts as char), cast(f as char) from q",
            "select cast(g as char), cast(z as char), cast(dz as char), convert(a using utf8mb4) from q",
            "select cast(a as binary), cast(a as char(30)), cast(t as char(4)), convert(z using latin1) from q",
            "select if(1,a,z) from q",
            "select if(1,t,b) from q",
            "select if(1,z,b'1') from q",
            "select coalesce(z,concat('x')), coalesce(f,concat('x')), ifnull(t,concat('x')) from q",
            "select case when 1 then dz else concat('x') end, if(1,u,'x'), ifnull(s,concat('x')) from q",
            "select greatest(t,concat('0')), least(z,concat('9')), greatest(z,concat('1')) from q",
            "select group_concat(a), group_concat(t), group_concat(s), group_concat(f), group_concat(z) from q",
        ],
    );
}

#[test]
fn what_is_computed_from_a_column_is_not_filled_up() {
    same_with_table(
        "no_zerofill",
        &[
            "select max(z), min(f), max(dz), max(u), any_value(z) from q",
            "select concat(max(a)), concat(min(t)), concat(max(s)), concat(max(f)), concat(max(z)) from q",
            "select (select z from q), concat((select z from q)), concat((select a from q))",
            "select concat(z+0), concat(-z), concat(abs(z)), concat(round(f,1)) from q",
            "select concat(first_value(z) over ()), lag(z) over () from q",
            "select concat(x), x from (select z x from q) y",
            "select concat(x), x from (select z x from q union select 7) y",
            "select x from (select z x from q union all select 'x' from q) n",
            "with c as (select z,f,a from q) select concat(z), concat(f), concat(a) from c",
            "create view v as select z,f,a,concat(z) c from q",
            "select concat(z), concat(f), concat(a), c from v",
        ],
    );
}

#[test]
fn columns_of_texts_take_the_digits_of_dates_and_times() {
    let answers = same_with_table(
        "digits_in_columns",
        &[
            "select concat(x) from (select a x from q union all select cast('2020-02-02 1:2:3.25' as datetime(2))) n",
            "select concat(x) from (select a x from q union all select s from q) n",
            "select x from (select a x from q union all select 'x' from q) n",
            "select a x from q union select concat('x') union select t from q",
            "values row((select t from q)), row('x')",
            "create table v(v1 varchar(40), v2 varchar(40), v3 varchar(40), v4 varchar(40), v5 varchar(40), \
             v6 varchar(40), v7 varchar(40), v8 varchar(40), v9 varchar(40))",
            "insert into v select a,t,s,ts,f,g,z,dz,u from q",
            "insert into v values((select a from q),(select t from q),(select s from q),(select ts from q), \
             (select f from q),(select g from q),(select z from q),(select dz from q),(select u from q))",
            "insert into v(v1,v2) values('1','2')",
            "update v, q set v1=a,v2=t,v3=s,v4=ts,v5=f,v6=g,v7=z,v8=dz,v9=u where v1='1'",
            "insert into v(v1) select a from q on duplicate key update v1=v1",
            "select * from v",
            "create table w select concat(a) x, if(1,t,concat('x')) y, concat(s) z from q",
            "select * from w",
        ],
    );
    assert!(answers.iter().any(|answer| answer.contains("2020-01-01 10:00:00.25")), "{answers:#?}");
}

#[test]
fn programs_keep_texts_and_bytes_as_their_variables_say() {
    same_with_table(
        "digits_in_programs",
        &[
            "create function digits(x varchar(40)) returns varchar(40) deterministic return concat('<',x,'>')",
            "create function moment() returns datetime(2) deterministic return '2020-01-01 10:00:00.25'",
            "select digits(a), digits(t), digits(s), digits(ts), digits(z), digits(f), concat(moment()) from q",
            "create function bytes(x varbinary(10)) returns varchar(20) deterministic return hex(x)",
            "select bytes(_latin1 x'E9'), bytes('é'), bytes(x'ff'), bytes(_utf16 x'00E9')",
            "create function letters(x varchar(10) character set latin1) returns varchar(20) deterministic \
             return hex(x)",
            "select letters(x'E9'), letters('é'), letters(_latin1 x'E9')",
            "create function read_q() returns varchar(200) deterministic begin declare v varchar(40); \
             declare w varchar(40); declare c cursor for select t, z from q; open c; fetch c into v, w; close c; \
             return concat(v,'|',w); end",
            "select read_q()",
            "create procedure p(out o varchar(10) charset latin1, inout b varbinary(10), out d varchar(40)) \
             begin set o=_latin1 x'E9'; set b=concat(b,x'ff'); select a into d from q; end",
            "set @b=x'4142'",
            "call p(@o,@b,@d)",
            "select hex(@o), charset(@o), hex(@b), charset(@b), @d",
        ],
    );
}

#[test]
fn user_variables_have_types_and_collations() {
    let answers = same_with_table(
        "user_variables",
        &[
            "set @i=1, @u=18446744073709551615, @d=1.50, @f=1e0, @s='abc', @b=x'4142ff', @l=_latin1 x'E9', @n=null, \
             @bin=_utf8mb4'x' collate utf8mb4_bin, @dt=date'2020-01-02', @j=json_array(1), @bit=b'101'",
            "create table t select @i,@u,@d,@f,@b,@bin,@j,@bit,@n",
            "show create table t",
            "select * from t",
            "select charset(@i),charset(@u),charset(@d),charset(@b),charset(@l),charset(@n),charset(@dt),charset(@j)",
            "select collation(@bin), collation(@dt), collation(@j), coercibility(@s), coercibility(@i)",
            "select hex(@l), length(@l), hex(@b), @bin='X', @bin='x', @s='ABC', @u+0, @dt+0, @i+1, @d+1",
            "select @d, @d*1, coalesce(@d,1), max(@d), -@d, round(@d,1), abs(@d), concat(@d), @i/3",
            "select @s like 'AB%', @bin like 'X', @s in ('ABC'), @bin in ('X'), @s between 'AAA' and 'B'",
            "select @l=_latin1 x'E9', @l='é', @l=x'E9', hex(concat(@l,@b)), charset(concat(@l,'x')), hex(concat(@l,'é'))",
            "create table bb(b binary(4), v varbinary(10), l varchar(10) charset latin1, u varchar(10) charset utf16)",
            "insert into bb values(@l,@l,@l,@l)",
            "insert into bb values(@b,@b,@b,'x')",
            "insert into bb select @l,@l,@l,@l",
            "select hex(b),hex(v),hex(l),hex(u) from bb",
            "select count(*) from bb where l=@l",
            "set @x=@l",
            "select hex(@x), charset(@x)",
            "select l into @y from bb limit 1",
            "select hex(@y), charset(@y), collation(@y)",
            "select a,t,s,ts,f,g,z,dz into @a1,@t1,@s1,@ts1,@f1,@g1,@z1,@dz1 from q",
            "select @a1,@t1,@s1,@ts1,@f1,@g1,@z1,@dz1",
            "set @a2=(select a from q), @t2=(select t from q), @z2=(select z from q)",
            "select @a2,@t2,@z2,concat(@z2)",
            "set @i=null",
            "select charset(@i)",
            "set @l=null",
            "select charset(@l), @l is null, @never is null, @never+1, concat(@never,'a')",
            "set @e=_utf16 x'00E9'",
            "select hex(@e), length(@e), char_length(@e), @e='é', charset(@e)",
            "select @b collate utf8mb4_bin",
            "set @x=1",
            "select @x like '1', concat(@x,'a'), @x in (1,2), length(@x), hex(@x), ~@x, not @x, @x between 0 and 2",
            "prepare s from 'select charset(?), hex(?)'",
            "execute s using @x, @b",
            "select @q:=1, @q:='x', @q",
            "select @r:=@r+1 from (select @r:=0) x, (select 1 union select 2) y",
        ],
    );
    assert!(answers.iter().any(|answer| answer.contains("E9000000")), "{answers:#?}");
}

#[test]
fn seconds_with_a_fraction_make_times_with_it() {
    same_answers(
        "fractions_of_seconds",
        &[
            "select sec_to_time(1.50), sec_to_time('1.5'), sec_to_time(1e0), sec_to_time(1.5e0), sec_to_time(-1.25)",
            "select sec_to_time(1.1234567), sec_to_time(3020399.999999), sec_to_time(3020400), sec_to_time(-99999999)",
            "select sec_to_time('x'), sec_to_time(null), sec_to_time(86399.9999995)",
            "select maketime(1,2,3.40), maketime(1,2,'3.4'), maketime(1,2,59.9999999), maketime(-1,2,3.5)",
            "select maketime(1,60,0), maketime(1,2,60), maketime(900,0,0), maketime(1,2,-0.5), maketime(838,59,59.5)",
            "select maketime(1,2,3.4e0), maketime(-839,1,1), maketime(1.6,2.6,3), maketime(1,2,null)",
        ],
    );
}

#[test]
fn names_and_errors_are_in_the_clients_character_set() {
    same_as_mysql("names_in_latin1", &Settings::default(), |server| {
        let mut client = server.connect();
        let mut lines = Vec::new();
        for charset in ["latin1", "utf8mb4", "NULL", "binary"] {
            lines.push(answer(&mut client, &format!("SET character_set_results = {charset}")));
            for statement in [
                "SELECT 1 AS `é`, 2 AS `Ω`",
                "SELECT `é`, `é`.`é` AS x FROM (SELECT 1 `é`) `é`",
                "SELECT `né`",
                "SELECT * FROM mysql.`Ωé`",
                "SELECT 'é'",
            ] {
                lines.push(match client.query(statement) {
                    Ok(result) => {
                        let names = result.columns.iter().map(|column| &column.name);
                        format!("{charset} {statement}: {:?}", names.collect::<Vec<_>>())
                    }
                    Err(error) => format!("{charset} {statement}: {error}"),
                });
            }
        }
        lines
    });
}

#[test]
fn rows_that_are_written_have_the_spaces_of_char_columns_where_the_mode_says_so() {
    let answers = same_answers(
        "written_padded_chars",
        &[
            "create database d",
            "use d",
            "set sql_mode = 'PAD_CHAR_TO_FULL_LENGTH'",
            "create table c (id int primary key, a char(5), v varchar(30))",
            "insert into c values (1, 'ab', ''), (2, 'cd', '')",
            "insert into c values (1, 'ef', '') on duplicate key update v = concat(a, '|', values(a), '|')",
            "insert into c values (2, 'gh', '') as n on duplicate key update v = concat(n.a, '|', c.a, '|')",
            "select v from c order by id",
            "create trigger b before insert on c for each row set new.v = concat(new.a, '|')",
            "create trigger u before update on c for each row set new.v = concat(new.a, '|', old.a, '|')",
            "insert into c values (3, 'ij', '')",
            "update c set a = 'kl' where id = 1",
            "replace into c values (2, 'mn', '')",
            "insert into c values (3, 'op', '') on duplicate key update a = 'qr'",
            "select v from c order by id",
            "create table g (a char(5), b varchar(10) as (concat(a, '|')) stored, c varchar(10) as (concat(a, '|')), \
             check (length(a) = 5))",
            "insert into g (a) values ('x')",
            "select b, c from g",
            "set sql_mode = ''",
            "select concat(a, '|'), length(a) from c order by id",
            "insert into c values (1, 'st', '') on duplicate key update a = 'uv'",
            "select v from c where id = 1",
        ],
    );
    assert!(answers[7].contains("ab   |ef   |"), "{}", answers[7]);
}

#[test]
fn char_columns_are_read_with_their_spaces_where_the_mode_says_so() {
    let answers = same_answers(
        "padded_chars",
        &[
            "create database d",
            "use d",
            "create table c (id int primary key auto_increment, a char(4), b char(4) charset latin1, v varchar(10), \
             bi binary(4), e enum('x','y'), key (a), key (b))",
            "insert into c (a, b, v, bi, e) values ('a','a','a','a','x'), ('ab ','ab ','ab ','ab','y'), \
             ('\u{e9}\u{e9}',null,'\u{e9}',null,null)",
            "select a, id from c where a = 'a'",
            "set sql_mode = 'PAD_CHAR_TO_FULL_LENGTH'",
            "select a, b, v, bi, e from c order by id",
            "select concat(a,'|'), length(a), char_length(a), hex(b), a = 'a', b = 'a', a = v, a like 'a' from c order by id",
            "select id from c where a = 'a'",
            "select id from c where a = 'a   '",
            "select id from c where a in ('a   ', 'ab  ') order by id",
            "select id from c where a > 'a' order by id",
            "select id from c where b = 'a'",
            "select id from c where b like 'a'",
            "select id from c where a is null",
            "select max(a), min(a), count(distinct a) from c",
            "select a, count(*) from c where id < 3 group by a with rollup",
            "select x.id, y.id from c x join c y on x.a = y.a order by 1",
            "select x.id, y.id from c x join c y on x.a = y.v order by 1",
            "select id from c where a in (select v from c)",
            "select (select a from c where id = 1), length((select a from c where id = 1))",
            "select a, length(a) from (select a, id from c order by id limit 3) z order by id",
            "select a from c where id = 1 union select 'x'",
            "select json_array(a), upper(a), ifnull(a, 1), strcmp(a, 'a') from c order by id",
            "create table d (a char(4), v varchar(10), s char(2), l char(8))",
            "insert into d select a, a, a, a from c where id < 3 order by id",
            "update c set v = a where id = 1",
            "update c set a = concat(a, 'y') where id = 1",
            "update c set v = concat(b, 'y') where id = 2",
            "update c join d on c.id = 2 and d.v = c.a set c.v = concat(d.l, '!')",
            "delete from c where a = 'a'",
            "set sql_mode = default",
            "select concat(v, '|'), concat(a, '|') from c order by id",
            "select concat(a, '|'), concat(v, '|'), concat(s, '|'), concat(l, '|') from d order by a",
        ],
    );
    assert!(answers[6].contains("a   ,a   ,a,"), "{}", answers[6]);
}
