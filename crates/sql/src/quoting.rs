//! Names and texts in quotes, as MySQL prints them in definitions.

use engine::ObjectDef;
use types::collation;

/// Returns a name in backticks.
pub(crate) fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// Returns a definition with the names in double quotes that it has in backticks. Backticks within
/// texts stay.
pub(crate) fn with_double_quotes(definition: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(definition.len());
    let (mut at, mut inside) = (0, None);
    while let Some(&byte) = definition.get(at) {
        let next = definition.get(at + 1).copied();
        let is_doubled = next == Some(byte) && inside == Some(byte);
        match (inside, byte) {
            (Some(b'`'), b'`') if is_doubled => out.push(b'`'),
            (Some(b'`'), b'"') => out.extend(b"\"\""),
            (None | Some(b'`'), b'`') => out.push(b'"'),
            (Some(b'\''), b'\'') if is_doubled => out.extend(b"\'\'"),
            (Some(b'\''), b'\\') => out.extend([byte].into_iter().chain(next)),
            _ => out.push(byte),
        }
        let is_escaped = inside == Some(b'\'') && byte == b'\\';
        at += if is_doubled || is_escaped { 2 } else { 1 };
        inside = match inside {
            None => Some(byte).filter(|byte| matches!(byte, b'`' | b'\'')),
            Some(quote) if quote == byte && !is_doubled => None,
            quote => quote,
        };
    }
    out
}

/// Returns a text in quotes, escaped as MySQL does it in definitions.
pub(crate) fn text_literal(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''").replace('\n', "\\n").replace('\0', "\\0"))
}

/// Returns schema and name of an object, each in backticks.
pub(crate) fn qualified(def: &ObjectDef) -> String {
    format!("{}.{}", quoted(&def.schema), quoted(&def.name))
}

/// Returns the words ` CHARSET ...`, and ` COLLATE ...` if the collation is not the character set's
/// default, with a blank in front.
pub(crate) fn charset_words(id: u16) -> String {
    let charset = collation::charset_of(id);
    match charset.default_collation() == id {
        true => format!(" CHARSET {}", charset.name()),
        false => format!(" CHARSET {} COLLATE {}", charset.name(), collation::name(id)),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_get_double_quotes_and_texts_stay() {
        let changed = |text: &str| String::from_utf8(super::with_double_quotes(text.as_bytes())).unwrap();
        assert_eq!(changed("CREATE TABLE `a``b\"` (`c` int)"), "CREATE TABLE \"a`b\"\"\" (\"c\" int)");
        assert_eq!(
            changed(r"`c` text COMMENT 'x`y''`\' `z`', `d` int"),
            r#""c" text COMMENT 'x`y''`\' `z`', "d" int"#
        );
        assert_eq!(changed("`unended"), "\"unended");
    }
}
