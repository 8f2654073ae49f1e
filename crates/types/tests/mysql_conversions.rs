//! Tests that literals become the values in columns that a MySQL server made of them
//! (`scripts/codec-fixtures.sh`).

use types::convert::to_column;
use types::{ColumnType, Value, collation::UTF8MB4_0900_AI_CI};

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

fn column_type(name: &str) -> ColumnType {
    let members = |text: &str| text.split(',').map(|member| member.trim_matches('\'').to_string()).collect();
    let (base, argument) = match name.split_once('(') {
        Some((base, rest)) => (base, rest.split_once(')').unwrap().0),
        None => (name.split(' ').next().unwrap(), ""),
    };
    let number = |default: u8| argument.parse().unwrap_or(default);
    let unsigned = name.ends_with("unsigned");
    match base {
        "tinyint" => ColumnType::tinyint(unsigned),
        "smallint" => ColumnType::smallint(unsigned),
        "mediumint" => ColumnType::mediumint(unsigned),
        "int" => ColumnType::int(unsigned),
        "bigint" => ColumnType::bigint(unsigned),
        "float" => ColumnType::float(),
        "double" => ColumnType::double(),
        "decimal" => {
            let (precision, scale) = argument.split_once(',').unwrap();
            ColumnType { unsigned, ..ColumnType::decimal(precision.parse().unwrap(), scale.parse().unwrap()) }
        }
        "year" => ColumnType::year(),
        "bit" => ColumnType::bit(number(1)),
        "char" => ColumnType::char(number(1).into(), UTF8MB4_0900_AI_CI),
        "varchar" => ColumnType::varchar(number(1).into(), UTF8MB4_0900_AI_CI),
        "varbinary" => ColumnType::varbinary(number(1).into()),
        "binary" => ColumnType::binary(number(1).into()),
        "tinytext" => ColumnType::tinytext(UTF8MB4_0900_AI_CI),
        "date" => ColumnType::date(),
        "time" => ColumnType::time(number(0)),
        "datetime" => ColumnType::datetime(number(0)),
        "timestamp" => ColumnType::timestamp(number(0)),
        "enum" => ColumnType::enumeration(members(argument), UTF8MB4_0900_AI_CI),
        "set" => ColumnType::set(members(argument), UTF8MB4_0900_AI_CI),
        "json" => ColumnType::json(),
        other => panic!("type {other}"),
    }
}

fn literal(kind: &str, text: Vec<u8>) -> Value {
    let number = String::from_utf8_lossy(&text).into_owned();
    match kind {
        "text" => Value::Bytes(text),
        "int" => Value::Int(number.parse().unwrap()),
        "decimal" => Value::Decimal(number.parse().unwrap()),
        "double" => Value::Double(number.parse().unwrap()),
        other => panic!("literal of kind {other}"),
    }
}

/// Returns the stored value in the form in which the column shows it, or the number of the error.
fn stored(value: &Value, ty: &ColumnType, strict: bool) -> Result<Vec<u8>, u16> {
    let (converted, _) = to_column(value, ty, strict).map_err(|problem| problem.code())?;
    let mut packed = Vec::new();
    types::packed::encode(ty, &converted, &mut packed).expect("a converted value can be packed");
    let back = types::packed::decode(ty, &packed).expect("a packed value can be read");
    Ok(back.text_bytes(Some(ty)).unwrap())
}

#[test]
fn literals_become_what_they_become_in_mysql() {
    let mut different = Vec::new();
    let mut checked = 0;
    for line in include_str!("data/conversions.tsv").lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [column, kind, text, strict, strict_code, lax] = fields[..] else { panic!("{line}") };
        let (ty, value) = (column_type(column), literal(kind, unhex(text)));
        let shown = |outcome: &Result<Vec<u8>, u16>| match outcome {
            Ok(bytes) => format!("{:?}", String::from_utf8_lossy(bytes)),
            Err(code) => format!("error {code}"),
        };
        // These values are left out, because CONCAT() shows at most 12 characters of a FLOAT and a
        // result set shows all.
        if column == "float" && value.to_f64().abs() >= 1e12 {
            continue;
        }
        // No mode converts a text that is no JSON into JSON.
        let lax_code = if column == "json" { 3140 } else { 0 };
        let expected = |stored: &str, code: u16| if stored == "NULL" { Err(code) } else { Ok(unhex(stored)) };
        for (strictly, expected) in
            [(true, expected(strict, strict_code.parse().unwrap())), (false, expected(lax, lax_code))]
        {
            let found = stored(&value, &ty, strictly);
            checked += 1;
            if found != expected {
                let literal = String::from_utf8_lossy(&unhex(text)).into_owned();
                different.push(format!(
                    "{column} <- {kind} {literal:?} {}: {} in MySQL, {} here",
                    if strictly { "strict" } else { "lax" },
                    shown(&expected),
                    shown(&found)
                ));
            }
        }
    }
    assert!(checked > 6000, "the fixture is whole");
    assert!(different.is_empty(), "{} of {checked}:\n{}", different.len(), different.join("\n"));
}
