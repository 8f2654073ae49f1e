//! MySQL's warnings about what it will remove: names of character sets and collations, operators,
//! words and names that begin with a dollar sign.

use super::{Parser, TokenKind};
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
        self.warn_of_syntax(word, "CHARACTER SET charset_name");
    }

    /// Warns of an operator or a word. MySQL recommends what takes its place.
    // The frames of the functions that read expressions, which are recursive, have to stay small.
    #[cold]
    #[inline(never)]
    pub(super) fn warn_of_syntax(&mut self, written: &str, instead: &str) {
        let text = format!(
            "'{written}' is deprecated and will be removed in a future release. Please use {instead} instead"
        );
        self.hints.warnings.push((1287, text));
    }

    /// Warns of the option SQL_CALC_FOUND_ROWS.
    pub(super) fn warn_of_calc_found_rows(&mut self) {
        let text = "SQL_CALC_FOUND_ROWS is deprecated and will be removed in a future release. Consider using two \
                    separate queries instead.";
        self.hints.warnings.push((1287, text.to_owned()));
    }

    /// Warns of FOUND_ROWS().
    #[cold]
    #[inline(never)]
    pub(super) fn warn_of_found_rows(&mut self) {
        let text = "FOUND_ROWS() is deprecated and will be removed in a future release. Consider using COUNT(*) instead.";
        self.hints.warnings.push((1287, text.to_owned()));
    }

    /// Warns of the option SQL_NO_CACHE, which has no effect.
    pub(super) fn warn_of_no_cache(&mut self) {
        self.hints.warnings.push(without_replacement("SQL_NO_CACHE"));
    }

    /// Warns of each name that begins with a dollar sign and has no quotes around it.
    pub(super) fn warn_of_dollar_names(&mut self) {
        let begins = |token: &&super::Token| token.kind == TokenKind::Word && self.raw(**token)[0] == b'$';
        let names = self.tokens.iter().filter(begins).count();
        for _ in 0..names {
            let warning = without_replacement("$ as the first character of an unquoted identifier");
            self.hints.warnings.push(warning);
        }
    }
}

fn without_replacement(what: &str) -> (u16, String) {
    (1681, format!("'{what}' is deprecated and will be removed in a future release."))
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
