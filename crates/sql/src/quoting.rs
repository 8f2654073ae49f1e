//! Names and texts in quotes, as MySQL prints them in definitions.

use engine::ObjectDef;
use types::collation;

/// Returns a name in backticks.
pub(crate) fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
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
