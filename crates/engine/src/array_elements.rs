//! The elements of the arrays of multi-valued indexes, which are JSON documents.

use types::json::{self, Node};
use types::{ColumnType, TypeCode, Value, collation};

/// Returns the value of an element of an array whose elements have the type `ty`. `None` means that
/// it is of another type.
pub fn element_value(element: &Node, ty: &ColumnType) -> Option<Value> {
    Some(match (element, ty.code) {
        (Node::Int(n), TypeCode::LongLong) => match ty.unsigned {
            true => Value::UInt(u64::try_from(*n).ok()?),
            false => Value::Int(*n),
        },
        (Node::UInt(n), TypeCode::LongLong) => match ty.unsigned {
            true => Value::UInt(*n),
            false => Value::Int(i64::try_from(*n).ok()?),
        },
        (Node::String(text), TypeCode::Varchar) if ty.collation != collation::BINARY => {
            Value::Bytes(text.clone())
        }
        (Node::Opaque(_, bytes), TypeCode::Varchar) if ty.collation == collation::BINARY => {
            Value::Bytes(bytes.clone())
        }
        (_, TypeCode::NewDecimal) => Value::Decimal(element.as_decimal()?.with_scale(ty.scale())?),
        (_, TypeCode::Date) => Value::Date(element.as_datetime()?.date),
        (_, TypeCode::Datetime2) => Value::DateTime(element.as_datetime()?),
        (_, TypeCode::Time2) => Value::Time(element.as_time()?),
        _ => return None,
    })
}

/// Returns the text of a row's array as MySQL's duplicate key message has it: of numbers, dates and
/// bytes as many bytes of the text as an element has.
pub(crate) fn array_text(document: &[u8], elements: &ColumnType) -> String {
    let mut text = Vec::new();
    json::write_text(document, &mut text);
    if !elements.is_character() {
        text.truncate(elements.max_bytes() as usize);
    }
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use types::{Date, Decimal};

    #[test]
    fn elements_are_of_their_type_or_refused() {
        let unsigned = ColumnType::bigint(true);
        assert_eq!(element_value(&Node::Int(7), &unsigned), Some(Value::UInt(7)));
        assert_eq!(element_value(&Node::Int(-7), &unsigned), None);
        assert_eq!(element_value(&Node::UInt(u64::MAX), &ColumnType::bigint(false)), None);
        let number = "1.50".parse::<Decimal>().unwrap();
        let decimal = ColumnType::decimal(5, 2);
        assert_eq!(element_value(&Node::decimal(&number), &decimal), Some(Value::Decimal(number)));
        assert_eq!(element_value(&Node::Int(1), &decimal), None);
        let day = Date::new(2024, 2, 29).unwrap();
        assert_eq!(element_value(&Node::date(&day), &ColumnType::date()), Some(Value::Date(day)));
        let text = Node::String(b"a".to_vec());
        assert_eq!(element_value(&text, &ColumnType::varchar(3, 309)), Some(Value::text("a")));
        assert_eq!(element_value(&text, &ColumnType::varbinary(3)), None);
        assert_eq!(element_value(&Node::Null, &unsigned), None);
    }
}
