//! The arguments of functions on texts: which of them are read as texts, and the character set in
//! which they meet.

use super::Scope;
use super::expr::comparands_of_field;
use crate::expr::{Expr, aggregate_collations, is_text};
use types::collation;

/// Reports whether a function puts texts together, compares them, or searches one within another.
pub(super) fn is_of_texts(name: &str) -> bool {
    let joins = matches!(name, "concat" | "concat_ws" | "elt" | "replace" | "insert" | "lpad" | "rpad");
    let compares = matches!(name, "greatest" | "least" | "strcmp" | "field");
    joins || compares || matches!(name, "find_in_set" | "locate" | "instr")
}

/// Returns a function's arguments, of which those that it reads as texts are the texts of what IF
/// and CASE choose.
#[inline(never)]
pub(super) fn chosen_texts(name: &str, args: Vec<Expr>) -> Vec<Expr> {
    let args = args.into_iter().enumerate();
    args.map(|(at, arg)| if reads_text(name, at) { arg.choice_as_text() } else { arg }).collect()
}

/// Reports whether a function reads the argument at this position as a text.
fn reads_text(name: &str, at: usize) -> bool {
    match name {
        "concat" | "concat_ws" | "replace" | "strcmp" | "find_in_set" | "instr" => true,
        "length" | "octet_length" | "bit_length" | "char_length" | "character_length" => true,
        "lower" | "lcase" | "upper" | "ucase" | "reverse" | "quote" | "ascii" | "ord" | "soundex" => true,
        "md5" | "sha" | "sha1" | "crc32" | "to_base64" | "ltrim" | "rtrim" => true,
        "left" | "right" | "substring" | "substr" | "mid" | "repeat" | "sha2" => at == 0,
        "insert" => matches!(at, 0 | 3),
        "lpad" | "rpad" => at != 1,
        "elt" | "make_set" => at > 0,
        "substring_index" | "locate" | "position" => at < 2,
        _ => false,
    }
}

/// Returns the arguments of a function that [`is_of_texts`] names, as it compares or joins them.
pub(super) fn of_texts(name: &str, args: Vec<Expr>, scope: &Scope) -> Vec<Expr> {
    match name {
        // FIELD compares its other arguments as what the first one is.
        "field" => match comparands_of_field(args, scope) {
            args if is_bytes(&args[0]) => in_one_character_set(args),
            args => args,
        },
        _ => in_one_character_set(args),
    }
}

fn is_bytes(arg: &Expr) -> bool {
    arg.ty.collation == collation::BINARY && is_text(&arg.ty)
}

/// Returns the arguments of a function that [`is_of_texts`] names, with bytes and texts converted
/// to one character set.
pub(super) fn in_one_character_set(args: Vec<Expr>) -> Vec<Expr> {
    match aggregate_collations(args.iter()) {
        Ok((id, _)) if args.iter().any(is_bytes) => {
            args.into_iter().map(|arg| arg.in_characters_of(id)).collect()
        }
        _ => args,
    }
}
