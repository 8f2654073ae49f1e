use super::*;
use crate::{Zone, collation};

fn stored(value: Value, ty: &ColumnType) -> Result<String, u16> {
    match to_column(&value, ty, true) {
        Ok((stored, _)) => {
            let mut packed = Vec::new();
            crate::packed::encode(ty, &stored, &mut packed).expect("converted values can be packed");
            Ok(String::from_utf8_lossy(&stored.text_bytes(Some(ty)).unwrap()).into_owned())
        }
        Err(problem) => Err(problem.code()),
    }
}

fn lenient(value: Value, ty: &ColumnType) -> (String, Option<u16>) {
    let (stored, warning) = to_column(&value, ty, false).unwrap();
    let text = String::from_utf8_lossy(&stored.text_bytes(Some(ty)).unwrap()).into_owned();
    (text, warning.map(|warning| warning.problem.code()))
}

#[test]
fn integers() {
    let (tiny, int, big) = (ColumnType::tinyint(false), ColumnType::int(false), ColumnType::bigint(true));
    assert_eq!(stored(Value::Int(127), &tiny), Ok("127".into()));
    assert_eq!(stored(Value::Int(128), &tiny), Err(1264));
    assert_eq!(lenient(Value::Int(-129), &tiny), ("-128".into(), Some(1264)));
    assert_eq!(stored(Value::text("12.34"), &int), Ok("12".into()));
    assert_eq!(stored(Value::text("12.5"), &int), Ok("13".into()));
    assert_eq!(stored(Value::text("12x"), &int), Err(1265));
    assert_eq!(stored(Value::text("x"), &int), Err(1366));
    assert_eq!(lenient(Value::text("x"), &int), ("0".into(), Some(1366)));
    assert_eq!(stored(Value::Int(-1), &big), Err(1264));
    assert_eq!(stored(Value::Double(1e30), &big), Err(1264));
    assert_eq!(stored(Value::UInt(u64::MAX), &big), Ok(u64::MAX.to_string()));
}

#[test]
fn decimals_and_floats() {
    let ty = ColumnType::decimal(5, 2);
    assert_eq!(stored(Value::text("1.5"), &ty), Ok("1.50".into()));
    assert_eq!(stored(Value::Double(-999.994), &ty), Ok("-999.99".into()));
    assert_eq!(stored(Value::text("1000"), &ty), Err(1264));
    assert_eq!(lenient(Value::text("-1000"), &ty), ("-999.99".into(), Some(1264)));
    assert_eq!(to_column(&Value::text("1.005"), &ty, true).unwrap().1.map(|w| w.note), Some(true));
    assert_eq!(stored(Value::text("abc"), &ty), Err(1366));
    assert_eq!(stored(Value::Double(1e39), &ColumnType::float()), Err(1264));
    assert_eq!(stored(Value::text("1e2x"), &ColumnType::double()), Err(1366));
}

#[test]
fn strings() {
    let ty = ColumnType::varchar(3, collation::UTF8MB4_0900_AI_CI);
    assert_eq!(stored(Value::text("äöü"), &ty), Ok("äöü".into()));
    assert_eq!(stored(Value::text("äöüx"), &ty), Err(1406));
    assert_eq!(stored(Value::text("abc   "), &ty), Ok("abc".into()));
    assert_eq!(lenient(Value::text("abcd"), &ty), ("abc".into(), Some(1265)));
    assert_eq!(stored(Value::Int(12), &ty), Ok("12".into()));
    assert_eq!(stored(Value::Bytes(vec![0xff]), &ty), Err(1366));
    let latin1 = ColumnType::varchar(3, collation::LATIN1_SWEDISH_CI);
    let problem = to_column(&Value::text("a中"), &latin1, true).unwrap_err();
    assert_eq!(problem.message("c", 1), "Incorrect string value: '\\xE4\\xB8\\xAD' for column 'c' at row 1");
    assert_eq!(stored(Value::Bytes(vec![1; 4]), &ColumnType::varbinary(3)), Err(1406));
    assert_eq!(stored(Value::Bytes(vec![b'a'; 256]), &ColumnType::tinytext(255)), Err(1406));
}

#[test]
fn temporals() {
    assert_eq!(stored(Value::text("2024-02-30"), &ColumnType::date()), Err(1292));
    assert_eq!(stored(Value::text("2024-02-29 12:00:00"), &ColumnType::date()), Ok("2024-02-29".into()));
    assert_eq!(stored(Value::text("0000-00-00"), &ColumnType::date()), Err(1292));
    assert_eq!(lenient(Value::text("0000-00-00"), &ColumnType::date()), ("0000-00-00".into(), None));
    let at = ColumnType::datetime(3);
    assert_eq!(stored(Value::text("2024-01-02 03:04:05.6789"), &at), Ok("2024-01-02 03:04:05.679".into()));
    assert_eq!(stored(Value::Int(20240102030405), &at), Ok("2024-01-02 03:04:05.000".into()));
    assert_eq!(stored(Value::text("rubbish"), &at), Err(1292));
    assert_eq!(stored(Value::text("2040-01-01"), &ColumnType::timestamp(0)), Err(1292));
    assert_eq!(stored(Value::text("900:00:00"), &ColumnType::time(0)), Err(1292));
    assert_eq!(lenient(Value::text("900:00:00"), &ColumnType::time(0)), ("838:59:59".into(), Some(1264)));
    assert_eq!(stored(Value::text("69"), &ColumnType::year()), Ok("2069".into()));
    assert_eq!(stored(Value::Int(1900), &ColumnType::year()), Err(1264));
    let context =
        Context { strict: true, zone: Zone::Offset(3600), dates: DateModes::STRICT, of_mariadb: false };
    let value = assign(&Value::text("1970-01-01 01:00:01"), &ColumnType::timestamp(0), context).unwrap().0;
    assert_eq!(value, Value::Timestamp { seconds: 1, micros: 0 });
}

#[test]
fn sets_of_names() {
    let members = vec!["a".to_string(), "b".into(), "3".into()];
    let (one, many) = (ColumnType::enumeration(members.clone(), 255), ColumnType::set(members, 255));
    assert_eq!(stored(Value::text("B"), &one), Ok("b".into()));
    assert_eq!(stored(Value::Int(1), &one), Ok("a".into()));
    assert_eq!(stored(Value::text("2"), &one), Ok("b".into()));
    assert_eq!(stored(Value::text("x"), &one), Err(1265));
    // Spaces at the end do not count, a tab does.
    assert!(stored(Value::text("a  "), &one).is_ok());
    assert_eq!(stored(Value::text("a\t"), &one), Err(1265));
    assert_eq!(lenient(Value::text("x"), &one), ("".into(), Some(1265)));
    assert_eq!(stored(Value::text("3,A"), &many), Ok("a,3".into()));
    assert_eq!(stored(Value::text("a,x"), &many), Err(1265));
    assert_eq!(stored(Value::Int(8), &many), Err(1265));
    assert_eq!(stored(Value::Int(0x1ff), &ColumnType::bit(8)), Err(1406));
    assert_eq!(stored(Value::text("{\"a\": [1, 2]}"), &ColumnType::json()), Ok("{\"a\": [1, 2]}".into()));
    assert_eq!(stored(Value::text("{"), &ColumnType::json()), Err(3140));
    let unknown = Problem::CannotBeNull;
    assert_eq!((unknown.code(), unknown.message("id", 1).as_str()), (1048, "Column 'id' cannot be null"));
}

#[test]
fn texts_are_cut_by_the_bytes_of_their_character_set() {
    let text = |chars: usize| Value::text(&"\u{e4}".repeat(chars));
    let latin1 = ColumnType::tinytext(8);
    assert_eq!(to_column(&text(255), &latin1, true), Ok((text(255), None)));
    assert_eq!(to_column(&text(256), &latin1, true), Err(Problem::TooLong));
    assert_eq!(to_column(&text(300), &latin1, false).map(|(kept, _)| kept), Ok(text(255)));
    let ucs2 = ColumnType::tinytext(35);
    assert_eq!(to_column(&text(127), &ucs2, true), Ok((text(127), None)));
    assert_eq!(to_column(&Value::text(&"a".repeat(128)), &ucs2, true), Err(Problem::TooLong));
}

fn of_mariadb(value: Value, ty: &ColumnType) -> String {
    let dates = DateModes { truncate_fraction: true, ..DateModes::default() };
    let context = Context { strict: false, zone: Zone::UTC, dates, of_mariadb: true };
    let (stored, _) = assign(&value, ty, context).unwrap();
    String::from_utf8_lossy(&stored.text_bytes(Some(ty)).unwrap()).into_owned()
}

#[test]
fn values_that_do_not_fit_are_stored_as_each_server_does() {
    let (int, double) = (ColumnType::int(false), ColumnType::double());
    let (time, at) = (ColumnType::time(2), ColumnType::datetime(6));
    let of_text =
        |text: &str, ty: &ColumnType| (lenient(Value::text(text), ty).0, of_mariadb(Value::text(text), ty));
    let both = |mysql: &str, mariadb: &str| (mysql.to_string(), mariadb.to_string());
    assert_eq!(of_text("1.25.3", &int), both("1", "125"));
    assert_eq!(of_text("-1.25.3", &int), both("-1", "-125"));
    assert_eq!(of_text("1.2e1.3", &int), both("12", "12"));
    assert_eq!(of_text("1.5", &int), both("2", "2"));
    assert_eq!(of_text("-0", &double), both("-0", "0"));
    assert_eq!(of_text("999:00:00", &time), both("838:59:59.00", "838:59:59.99"));
    assert_eq!(of_text("12::13", &time), both("00:00:12.00", "00:00:12.00"));
    assert_eq!(of_text("255.255.255.255", &time).0, "00:02:55.26");
    let of_number =
        |number: i64| (lenient(Value::Int(number), &time).0, of_mariadb(Value::Int(number), &time));
    assert_eq!(of_number(101_010_101), both("838:59:59.00", "01:01:01.00"));
    assert_eq!(of_number(20_200_101), both("838:59:59.00", "00:00:00.00"));
    let moment = Value::DateTime(crate::temporal::parse::datetime(b"2020-01-02 03:04:05.6").unwrap().value);
    let big = ColumnType::bigint(false);
    assert_eq!(lenient(moment.clone(), &big).0, "20200102030406");
    assert_eq!(of_mariadb(moment, &big), "20200102030405");
    assert_eq!(lenient(Value::Double(-2.5e-5), &at).0, "0000-00-00 00:00:00.000000");
    let stamp = ColumnType::timestamp(3);
    let (late, zero) = (Value::text("9999-12-31 23:59:59.999"), "0000-00-00 00:00:00.000".to_string());
    assert_eq!(lenient(late.clone(), &stamp).0, zero);
    assert_ne!(of_mariadb(late, &stamp), zero);
}

#[test]
fn members_are_looked_for_as_each_server_does() {
    let members = || vec!["a".to_string(), "b".into(), "c".into(), "d".into()];
    let (set, wide) = (ColumnType::set(members(), 255), ColumnType::set(members(), 35));
    for (text, mysql, mariadb) in
        [("69", "", "a,c"), ("-5", "", "a,b,d"), ("12", "c,d", "c,d"), ("12x", "", "")]
    {
        assert_eq!(lenient(Value::text(text), &set).0, mysql, "{text}");
        assert_eq!(of_mariadb(Value::text(text), &set), mariadb, "{text}");
        assert_eq!(lenient(Value::text(text), &wide).0, "", "{text}");
    }
    assert_eq!(lenient(Value::Double(1e100), &set).0, "a,b,c,d");
    assert_eq!(of_mariadb(Value::Double(1e100), &set), "");
    let one = ColumnType::enumeration(members(), 255);
    let second = Value::Time(crate::temporal::Time::new(false, 0, 0, 1, 0).unwrap());
    assert_eq!(lenient(second, &one), ("".into(), Some(1265)));
    let wrong = Value::Enum { index: 0, members: vec!["x".to_string()].into() };
    assert_eq!(stored(wrong, &one), Ok(String::new()));
}
