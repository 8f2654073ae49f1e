//! Names and texts in quotes, as MySQL prints them in definitions.

use engine::ObjectDef;
use types::collation;

/// A name in backticks.
pub(crate) fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// A text in quotes, as MySQL escapes it in definitions.
pub(crate) fn text_literal(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''").replace('\n', "\\n").replace('\0', "\\0"))
}

/// `schema`.`name`
pub(crate) fn qualified(def: &ObjectDef) -> String {
    format!("{}.{}", quoted(&def.schema), quoted(&def.name))
}

/// Whether a collation's character set is told of a type that has it.
pub(crate) fn charset_words(id: u16) -> String {
    let charset = collation::charset_of(id);
    match charset.default_collation() == id {
        true => format!(" CHARSET {}", charset.name()),
        false => format!(" CHARSET {} COLLATE {}", charset.name(), collation::name(id)),
    }
}
