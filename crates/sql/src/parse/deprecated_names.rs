//! Names of character sets and collations, with MySQL's warnings about those that it will remove.

use super::Parser;
use crate::error::Result;
use ::types::collation::{self, Charset};

impl Parser<'_> {
    /// Reads the name of a character set, in lower case.
    pub(super) fn charset_name(&mut self) -> Result<String> {
        let name = self.string_or_name()?.to_ascii_lowercase();
        self.hints.warnings.extend(of_charset(&name));
        Ok(name)
    }

    /// Reads the name of a collation, in lower case.
    pub(super) fn collation_name(&mut self) -> Result<String> {
        let name = self.string_or_name()?.to_ascii_lowercase();
        self.hints.warnings.extend(of_collation(&name));
        Ok(name)
    }

    /// Warns of the words ASCII and UNICODE behind a type.
    pub(super) fn warn_of_charset_word(&mut self, word: &str) {
        let text = format!(
            "'{word}' is deprecated and will be removed in a future release. Please use CHARACTER SET charset_name \
             instead"
        );
        self.hints.warnings.push((1287, text));
    }
}

fn is_deprecated(charset: Charset) -> bool {
    use Charset::{Dec8, Hp8, Macce, Macroman, Ucs2};
    matches!(charset, Dec8 | Hp8 | Macce | Macroman | Ucs2)
}

/// Returns MySQL's warning about the name of a character set.
pub(crate) fn of_charset(name: &str) -> Option<(u16, String)> {
    if name.eq_ignore_ascii_case("utf8") {
        let text = "'utf8' is currently an alias for the character set UTF8MB3, but will be an alias for UTF8MB4 in a \
                    future release. Please consider using UTF8MB4 in order to be unambiguous.";
        return Some((3719, text.to_owned()));
    }
    let charset = Charset::from_name(&name.to_ascii_lowercase())?;
    let is_meant = charset == Charset::Utf8mb3 || is_deprecated(charset);
    is_meant.then(|| {
        let name = charset.name();
        let text = format!(
            "'{name}' is deprecated and will be removed in a future release. Please use utf8mb4 instead"
        );
        (1287, text)
    })
}

/// Returns MySQL's warning about the name of a collation.
pub(crate) fn of_collation(name: &str) -> Option<(u16, String)> {
    let id = collation::from_name(&name.to_ascii_lowercase())?;
    let (name, charset) = (collation::name(id), collation::charset_of(id));
    match charset {
        Charset::Utf8mb3 => {
            let text = format!(
                "'{name}' is a collation of the deprecated character set UTF8MB3. Please consider using UTF8MB4 with \
                 an appropriate collation instead."
            );
            Some((3778, text))
        }
        _ if is_deprecated(charset) => {
            let charset = charset.name();
            let text = format!(
                "'{name}' is a collation of the deprecated character set {charset}. Please consider using utf8mb4 \
                 with an appropriate collation instead."
            );
            Some((4079, text))
        }
        _ => None,
    }
}
