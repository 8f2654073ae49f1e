//! Named sets of characters: properties, POSIX classes, and the escapes `\d`, `\s`, `\w` and
//! others.

use super::error::RegexpError;
use regex_syntax::Parser;
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

/// All characters that end a line.
pub(super) const LINE_ENDS: &str = r"\n-\r\x{85}\x{2028}\x{2029}";
/// Characters that stand within a word without being word characters themselves.
pub(super) const COMBINING: &str = r"[\p{Grapheme_Extend}\p{Cf}]";

const WORD: &str = r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{200c}\x{200d}]";

/// Returns the set that one of the patterns of this module stands for.
fn known(pattern: &str) -> Option<ClassUnicode> {
    let hir = Parser::new().parse(pattern).ok()?;
    match hir.kind() {
        HirKind::Class(Class::Unicode(class)) => Some(class.clone()),
        // The parser makes a set of one character a literal.
        HirKind::Literal(literal) => {
            let mut chars = std::str::from_utf8(&literal.0).ok()?.chars();
            let (one, none) = (chars.next()?, chars.next());
            none.is_none().then(|| ClassUnicode::new([ClassUnicodeRange::new(one, one)]))
        }
        _ => None,
    }
}

/// Returns the set of an escape such as `\d`, or the complement for its upper case letter.
pub(super) fn of_escape(letter: char) -> Option<ClassUnicode> {
    let pattern = match letter.to_ascii_lowercase() {
        'd' => r"\p{Nd}",
        'h' => r"[\t\p{Zs}]",
        's' => r"\p{White_Space}",
        'v' => r"[\n-\r\x{85}\x{2028}\x{2029}]",
        'w' => WORD,
        _ => return None,
    };
    let mut class = known(pattern)?;
    if letter.is_ascii_uppercase() {
        class.negate();
    }
    Some(class)
}

/// Returns the set of a property by its name, which stands between `\p{` and `}` or `[:` and `:]`.
pub(super) fn of_property(name: &str) -> Result<ClassUnicode, RegexpError> {
    let plain: String = name
        .chars()
        .filter(|letter| !matches!(letter, ' ' | '_' | '-'))
        .map(|letter| letter.to_ascii_lowercase())
        .collect();
    let plain = plain.strip_prefix("is").unwrap_or(&plain);
    let pattern = match plain {
        "alnum" => r"[\p{Alphabetic}\p{Nd}]".to_string(),
        "alpha" => r"\p{Alphabetic}".to_string(),
        "blank" => r"[\t\p{Zs}]".to_string(),
        "cntrl" => r"\p{Cc}".to_string(),
        "digit" => r"\p{Nd}".to_string(),
        "graph" => r"[^\p{White_Space}\p{Cc}\p{Cn}]".to_string(),
        "lower" => r"\p{Lowercase}".to_string(),
        "print" => r"[[^\p{White_Space}\p{Cc}\p{Cn}]\p{Zs}]".to_string(),
        "punct" => r"\p{P}".to_string(),
        "space" => r"\p{White_Space}".to_string(),
        "upper" => r"\p{Uppercase}".to_string(),
        "word" => WORD.to_string(),
        "xdigit" => r"[\p{Nd}\p{Hex_Digit}]".to_string(),
        // "any" and "assigned" are the same in ICU and in the library.
        _ if !name.is_empty() && plain.chars().all(|c| c.is_ascii_alphanumeric() || c == '=') => {
            format!(r"\p{{{plain}}}")
        }
        _ => return Err(RegexpError::IllegalArgument),
    };
    known(&pattern).ok_or(RegexpError::IllegalArgument)
}
