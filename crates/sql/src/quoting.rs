//! Names and texts in quotes, as MySQL prints them in definitions.

use engine::ObjectDef;

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
