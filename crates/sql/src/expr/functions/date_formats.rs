//! `GET_FORMAT()`, which returns the formats of dates and times that countries and standards have.

use super::{Function, ascii_text, text};
use types::Value;

/// The first argument is the text `DATE`, `TIME` or `DATETIME`, which the parser makes of the
/// keyword.
pub(super) const FUNCTIONS: &[Function] = &[Function::new("get_format", 2..=2, ascii_text::<17>, |call| {
    let standard = call.bytes(1).to_ascii_lowercase();
    let found = FORMATS.iter().find(|(name, _)| name.as_bytes() == standard);
    let column = match &*call.bytes(0) {
        b"DATE" => 0,
        b"TIME" => 1,
        _ => 2,
    };
    Ok(found.map_or(Value::Null, |(_, formats)| text(formats[column])))
})];

/// For each name the formats of a date, of a time, and of a date with a time.
const FORMATS: [(&str, [&str; 3]); 5] = [
    ("usa", ["%m.%d.%Y", "%h:%i:%s %p", "%Y-%m-%d %H.%i.%s"]),
    ("jis", ["%Y-%m-%d", "%H:%i:%s", "%Y-%m-%d %H:%i:%s"]),
    ("iso", ["%Y-%m-%d", "%H:%i:%s", "%Y-%m-%d %H:%i:%s"]),
    ("eur", ["%d.%m.%Y", "%H.%i.%s", "%Y-%m-%d %H.%i.%s"]),
    ("internal", ["%Y%m%d", "%H%i%s", "%Y%m%d%H%i%s"]),
];
