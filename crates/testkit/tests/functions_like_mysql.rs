//! Functions whose every argument is a constant, beside the real MySQL: values, types of columns as
//! far as their text shows them, and warnings.

use testkit::answers::same_answers;

#[test]
fn addresses_are_read_and_shown_as_by_mysql() {
    let answers = same_answers(
        "addresses",
        &[
            "select inet_aton('1.2.3.4'), inet_aton('127.1'), inet_aton('127'), inet_aton('1.2.3'), inet_aton('1..2')",
            "select inet_aton('1.2.3.4.5'), inet_aton(''), inet_aton('1.2.3.'), inet_aton('256.1.1.1'), inet_aton('.1')",
            "select inet_aton(' 1.2.3.4'), inet_aton('x'), inet_aton(null), inet_aton(5)",
            "select inet_ntoa(16909060), inet_ntoa(4294967295), inet_ntoa(4294967296), inet_ntoa('x'), inet_ntoa(1.6)",
            "select hex(inet6_aton('1.2.3.4')), hex(inet6_aton('fe80::1')), hex(inet6_aton('::'))",
            "select hex(inet6_aton('::ffff:1.2.3.4')), hex(inet6_aton('1:2:3:4:5:6:7:8')), hex(inet6_aton('::1.2.3.4'))",
            "select hex(inet6_aton('1:2:3:4:5:6:7::')), hex(inet6_aton('FE80::0001')), hex(inet6_aton('001.2.3.4'))",
            "select inet6_aton('1.2.3'), inet6_aton('x'), inet6_aton(''), inet6_aton('1::2::3'), inet6_aton('12345::')",
            "select inet6_ntoa(unhex('01020304')), inet6_ntoa(unhex('fe800000000000000000000000000001'))",
            "select inet6_ntoa(unhex('00000000000000000000000000000000')), \
             inet6_ntoa(unhex('00000000000000000000000000000001')), \
             inet6_ntoa(unhex('00000000000000000000000001020304'))",
            "select inet6_ntoa(unhex('00000000000000000000ffff01020304')), \
             inet6_ntoa(unhex('00010000000300000005000600070008')), \
             inet6_ntoa(unhex('00010000000300040005000600070008'))",
            "select inet6_ntoa(unhex('00000000000000000000000000010000')), \
             inet6_ntoa(unhex('00000000000000000000000000000304')), \
             inet6_ntoa(unhex('00010000000000040000000000000008')), inet6_ntoa('1.2.3.4')",
            "select is_ipv4('1.2.3.4'), is_ipv4('1.2.3'), is_ipv4('::1'), is_ipv4(null), is_ipv4(''), is_ipv4(5)",
            "select is_ipv4('1.2.3.04'), is_ipv4('1.2.3.0004'), is_ipv6('::1'), is_ipv6('1.2.3.4'), is_ipv6(null)",
            "select is_ipv4_compat(inet6_aton('::1.2.3.4')), is_ipv4_compat(inet6_aton('::1')), is_ipv4_compat('x')",
            "select is_ipv4_mapped(inet6_aton('::ffff:1.2.3.4')), is_ipv4_mapped(inet6_aton('1.2.3.4'))",
        ],
    );
    assert!(answers[0].contains("16909060"), "{answers:#?}");
}

#[test]
fn sets_of_texts_are_made_as_by_mysql() {
    let answers = same_answers(
        "sets_of_texts",
        &[
            "select export_set(5,'Y','N',',',4), export_set(6,'1','0',',',10), export_set(5,'Y','N')",
            "select export_set(5,'Y','N','-'), export_set(5,'Y','N','',3), export_set(5,'Y','N',',',100)",
            "select export_set(5,'Y','N',',',0), export_set(5,'Y','N',',',-1), export_set(null,'Y','N')",
            "select export_set(5,'Y',null), export_set(-1,'a','b',',',3), export_set('x','a','b',',',2)",
            "select make_set(1,'a','b','c'), make_set(1|4,'hello','nice','world'), make_set(1|4,'hello','nice',null,'world')",
            "select make_set(0,'a'), make_set(null,'a'), make_set(7,'a',null,'c'), make_set(-1,'a','b'), make_set(8,'a')",
            "select cot(12), cot(null), cot(1.5)",
            "select cot(0)",
        ],
    );
    assert!(answers[0].contains("Y,N,Y,N"), "{answers:#?}");
}

#[test]
fn times_are_added_and_taken_away_as_by_mysql() {
    let answers = same_answers(
        "time_sums",
        &[
            "select addtime('2007-12-31 23:59:59.999999','1 1:1:1.000002'), addtime('01:00:00.999999','02:00:00.999998')",
            "select addtime('2020-01-01','01:00:00'), addtime(date'2020-01-01','01:00:00')",
            "select addtime(time'10:00:00','-11:00:00'), addtime(timestamp'2020-01-01 10:00:00','11:00:00')",
            "select addtime('x','01:00:00'), addtime('01:00:00','x'), addtime(null,'1'), addtime('01:00:00',null)",
            "select addtime(10000,20000), addtime('01:00:00','2020-01-01 00:00:00'), addtime('','01:00:00')",
            "select addtime(timestamp'2020-01-01 10:00:00',timestamp'2020-01-01 10:00:00'), addtime('10:00:00',date'2020-01-01')",
            "select addtime(101112.5, '1'), addtime(20200101000000, '1:0:0'), addtime('2020-01-01 10:00:00.5','0:0:1')",
            "select subtime('2007-12-31 23:59:59.999999','1 1:1:1.000002'), subtime('01:00:00.999999','02:00:00.999998')",
            "select subtime(time'01:00:00','02:00:00'), subtime('0000-00-00 10:00:00','1:0:0'), subtime('2020-00-01 10:00:00','1:0:0')",
        ],
    );
    assert!(answers[0].contains("2008-01-02 01:01:01.000001"), "{answers:#?}");
}

#[test]
fn texts_become_dates_by_a_format_as_in_mysql() {
    let answers = same_answers(
        "dates_of_texts",
        &[
            "select str_to_date('01,5,2013','%d,%m,%Y'), str_to_date('May 1, 2013','%M %d,%Y')",
            "select str_to_date('a09:30:17','a%h:%i:%s'), str_to_date('a09:30:17','%h:%i:%s'), str_to_date('09:30:17a','%h:%i:%s')",
            "select str_to_date('abc','abc'), str_to_date('9','%m'), str_to_date('9','%s')",
            "select str_to_date('00/00/0000', '%m/%d/%Y'), str_to_date('04/31/2004', '%m/%d/%Y')",
            "select str_to_date('2020-02-03 10:11:12.5','%Y-%m-%d %H:%i:%s.%f'), \
             str_to_date('2020-02-03 10:11:12 PM','%Y-%m-%d %h:%i:%s %p')",
            "select str_to_date('10:11:12 AM','%r'), str_to_date('22:11:12','%T'), str_to_date('200442 Monday', '%X%V %W')",
            "select str_to_date('2020 35 Tue', '%x %v %a'), str_to_date('2020 60','%Y %j'), str_to_date('20','%y')",
            "select str_to_date('2020 10 Sunday', '%Y %U %W'), str_to_date('2020 10 Sunday', '%Y %u %W'), \
             str_to_date('2020 10 Sunday', '%x %V %W')",
            "select str_to_date('1st Jan 2020','%D %b %Y'), str_to_date('2020-02-30','%Y-%m-%d'), str_to_date('2020-13-01','%Y-%m-%d')",
            "select str_to_date('25:00:00','%H:%i:%s'), str_to_date('13:00:00','%h:%i:%s')",
            "select str_to_date('  2020-01-02','%Y-%m-%d'), str_to_date('2020-01-02  ','%Y-%m-%d')",
            "select str_to_date('2020 - 01 - 02','%Y - %m - %d'), str_to_date('2020/01/02','%Y-%m-%d')",
            "select str_to_date('abc2020','%@%Y'), str_to_date('...2020','%.%Y'), str_to_date('123x','%#x'), str_to_date('2020%','%Y%%')",
            "select str_to_date(null,'%Y'), str_to_date('2020',null), str_to_date('2020-1','%Y-%m-%d'), str_to_date('5','%w')",
            "select str_to_date('2020-01-02 10','%Y-%m-%d %k'), str_to_date('10','%l'), str_to_date('12 AM','%l %p')",
            "select str_to_date('12 PM','%I %p'), str_to_date('12','%c'), str_to_date('07','%e'), str_to_date(20200102,'%Y%m%d')",
            "select str_to_date('', '%Y'), str_to_date('2020', ''), str_to_date('2020', '%'), str_to_date('x', '%p')",
            "set sql_mode = ''",
            "select str_to_date('00/00/0000', '%m/%d/%Y'), str_to_date('04/31/2004', '%m/%d/%Y'), str_to_date('2020','%Y')",
            "create database d",
            "use d",
            "create table t (a varchar(30), f varchar(20))",
            "insert into t values ('2020-01-02 03:04:05', '%Y-%m-%d %H:%i:%s'), ('2020-01-02', '%Y-%m-%d'), ('x', '%Y')",
            "select str_to_date(a, f) from t",
            "select str_to_date(a, '%Y-%m-%d') from t where str_to_date(a, '%Y-%m-%d') is not null",
            "create table u as select str_to_date(a, '%Y-%m-%d') as d, str_to_date('1', '%s') as s, \
             str_to_date('2020-01-01 1.5', '%Y-%m-%d %s.%f') as m, str_to_date(a, f) as n from t where a = '2020-01-02'",
            "show create table u",
            "set sql_mode = default",
            "insert into u (d) values (str_to_date('nonsense', '%Y-%m-%d'))",
        ],
    );
    assert!(answers[0].contains("2013-05-01"), "{answers:#?}");
}

#[test]
fn sizes_and_times_are_shown_as_by_mysql() {
    let answers = same_answers(
        "sizes_and_times",
        &[
            "select format_bytes(0), format_bytes(1), format_bytes(1023), format_bytes(1024), format_bytes(1048575)",
            "select format_bytes(1e18), format_bytes(18446744073709551615), format_bytes(1e30), format_bytes(null)",
            "select format_bytes(-1), format_bytes(-2048), format_bytes('x'), format_bytes('12.7'), format_bytes(12.7)",
            "select format_pico_time(0), format_pico_time(999), format_pico_time(3501), format_pico_time(1.5e9)",
            "select format_pico_time(2e12), format_pico_time(6e13), format_pico_time(3.6e15), format_pico_time(1e30)",
            "select format_pico_time(-5), format_pico_time(188732396662000), format_pico_time(null)",
            "select get_format(date, 'USA'), get_format(DATE, 'jis'), get_format(date, 'ISO'), get_format(date, 'EUR'), \
             get_format(date, 'INTERNAL'), get_format(date, 'x'), get_format(date, null)",
            "select get_format(datetime, 'USA'), get_format(datetime, 'JIS'), get_format(timestamp, 'ISO'), \
             get_format(datetime, 'EUR'), get_format(datetime, 'INTERNAL')",
            "select get_format(time, 'USA'), get_format(time, 'JIS'), get_format(time, 'ISO'), get_format(time, 'EUR'), \
             get_format(time, 'INTERNAL'), get_format(time, concat('U', 'SA'))",
            "select get_format(year, 'USA')",
            "select get_format('date', 'USA')",
            "select date_format('2020-03-04', get_format(date, 'EUR'))",
            "select Format_Bytes(1, 2)",
        ],
    );
    assert!(answers[0].contains("1.00 KiB"), "{answers:#?}");
}

#[test]
fn names_sound_as_in_mysql() {
    let answers = same_answers(
        "sounds",
        &[
            "select soundex('Hello'), soundex('Quadratically'), soundex(''), soundex(null), soundex('123')",
            "select soundex('A'), soundex('Tymczak'), soundex('Pfister'), soundex('ébé'), soundex('abcé')",
            "select soundex(' Smith '), soundex('Smythe'), soundex('O''Brien'), soundex(x'4142'), soundex(12)",
            "select soundex('日本'), soundex('Ashcraft'), soundex('bbbbb'), soundex('Wisconsin-Mississippi')",
            "select 'Smith' sounds like 'Smythe', 'a' sounds like null, 'x' sounds like concat('y', 'z')",
            "select 'Smith' sounds like 'Smythe' and 1, not 'a' sounds like 'b'",
            "select soundEX()",
        ],
    );
    assert!(answers[0].contains("Q36324"), "{answers:#?}");
}

#[test]
fn what_is_compressed_comes_back_as_in_mysql() {
    let answers = same_answers(
        "compression",
        &[
            "select compress(''), compress(null), uncompress(compress('any string')), uncompress('')",
            "select uncompressed_length(compress(repeat('a', 30))), uncompressed_length(''), uncompressed_length(null)",
            "select uncompress(compress(repeat('abc', 1000000))) = repeat('abc', 1000000)",
            "select length(compress(repeat('a', 100000))) < 1000, hex(uncompress(compress(x'00ff10')))",
            "select uncompress('x'), uncompressed_length('abc'), uncompressed_length('abcde')",
            "select uncompress('any string')",
            // What MySQL has compressed, whole, cut, and with another length than it has.
            "select uncompress(unhex('0A000000789C4B4C4A4E494D4BCFC8CC0200158603F8'))",
            "select uncompress(unhex('0A000000789C4B4C4A4E494D4BCF'))",
            "select uncompress(unhex('05000000789C4B4C4A4E494D4BCFC8CC0200158603F8'))",
            "select uncompress(unhex('FFFFFFFF789C')), uncompressed_length(unhex('FFFFFFFF789C'))",
            "select uncompress(12)",
            "select uuid_short() < uuid_short(), uuid_short(1)",
            "select uuid_short() < uuid_short(), uuid_short() > 1000000",
        ],
    );
    assert!(answers[0].contains("any string"), "{answers:#?}");
}
