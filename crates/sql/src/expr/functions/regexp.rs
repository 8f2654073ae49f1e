//! REGEXP_LIKE(), which REGEXP calls too, REGEXP_INSTR(), REGEXP_REPLACE() and REGEXP_SUBSTR().

use super::super::{Expr, infer, value_type};
use super::{Call, Coercibility, Function, bigint, integer, text_type, truth_value, wrong_arguments};
use crate::error::{Result, SqlError};
use crate::host::VariableScope;
use crate::regexp::{Flags, Limits, Match, Pattern, RegexpError, Replacement};
use std::borrow::Cow;
use std::rc::Rc;
use types::{ColumnType, TypeCode, Value, collation};

const LIKE: &str = "regexp_like";

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new(
        LIKE,
        2..=3,
        |args| {
            check_character_sets(LIKE, args)?;
            collation_of(LIKE, texts(&args[..2]))?;
            integer::<1>(args)
        },
        like,
    )
    .sees_nulls(),
    Function::new(
        "regexp_instr",
        2..=6,
        |args| {
            check_character_sets("regexp_instr", args)?;
            collation_of("regexp_instr", texts(&args[..2]))?;
            bigint(args)
        },
        position,
    )
    .sees_nulls(),
    Function::new(
        "regexp_replace",
        3..=6,
        |args| {
            check_character_sets("regexp_replace", args)?;
            let (id, coercibility) = collation_of("regexp_replace", texts(args))?;
            // MySQL counts the bytes of the longest text as those of characters.
            let chars = value_type::MOST_CHARS_OF_BLOB / u32::from(collation::max_bytes_per_char(id));
            Ok((value_type::text_type(chars, id), coercibility))
        },
        replace,
    )
    .sees_nulls(),
    Function::new(
        "regexp_substr",
        2..=5,
        |args| {
            check_character_sets("regexp_substr", args)?;
            let (id, coercibility) = collation_of("regexp_substr", texts(&args[..2]))?;
            Ok((text_type(value_type::text_length(&args[0].ty), id), coercibility))
        },
        part,
    )
    .sees_nulls(),
];

/// Returns the arguments that may be texts: the subject, the pattern and the replacement.
fn texts(args: &[Expr]) -> impl Iterator<Item = &Expr> + Clone {
    args.iter().take(3)
}

/// Returns the collation of the texts. Its error names the function where the collations of the
/// first two, the subject and the pattern, cannot be combined.
fn collation_of<'e>(
    function: &str,
    texts: impl Iterator<Item = &'e Expr> + Clone,
) -> Result<(u16, Coercibility)> {
    infer::comparison_collation(function, texts.clone().take(2))?;
    infer::aggregate_collations(texts)
}

fn is_of_bytes(ty: &ColumnType) -> bool {
    ty.collation == collation::BINARY
        && matches!(ty.code, TypeCode::Varchar | TypeCode::String | TypeCode::Blob)
}

/// Returns error 3995 where one of the texts is binary and another is not.
fn check_character_sets(function: &str, args: &[Expr]) -> Result<()> {
    let count = if function == "regexp_replace" { 3 } else { 2 };
    let is_known = |arg: &&Expr| value_type::is_text(&arg.ty) && arg.ty.code != TypeCode::Null;
    let texts: Vec<&Expr> = args[..count].iter().filter(is_known).collect();
    let Some(first) = texts.first() else { return Ok(()) };
    for other in &texts[1..] {
        if is_of_bytes(&first.ty) != is_of_bytes(&other.ty) {
            let name = |expr: &Expr| collation::name(value_type::text_collation(&expr.ty));
            let (first, other) = (name(first), name(other));
            let text = format!(
                "Character set '{first}' cannot be used in conjunction with '{other}' in call to {function}."
            );
            return Err(SqlError::new(3995, text));
        }
    }
    Ok(())
}

/// The subject and the pattern, which all four functions begin with.
struct Search<'c> {
    subject: Cow<'c, str>,
    pattern: Rc<Pattern>,
    /// Whether the texts are bytes, each of which is a character of `subject`.
    of_bytes: bool,
}

/// Returns the subject and the compiled pattern. `None` means that the result is NULL. A wrong
/// pattern is an error even if the subject is NULL. The match type is the argument at `match_type`.
fn search<'c>(call: &'c Call<'_>, match_type: usize) -> Result<Option<Search<'c>>> {
    let Some(flags) = flags(call, match_type)? else { return Ok(None) };
    if call.values[1].is_null() {
        return Ok(None);
    }
    let of_bytes = call.is_binary(0) || call.is_binary(1);
    let ctx = call.ctx;
    let limits = || {
        let number = |name| match ctx.host.variable(VariableScope::Global, name) {
            Ok(Some(Value::UInt(number))) => Ok(u32::try_from(number).ok()),
            Ok(Some(Value::Int(number))) => Ok(u32::try_from(number).ok()),
            Ok(_) => Ok(None),
            Err(error) => Err(error),
        };
        let default = Limits::default();
        Ok(Limits {
            time: number("regexp_time_limit")?.unwrap_or(default.time),
            stack_bytes: number("regexp_stack_limit")?.unwrap_or(default.stack_bytes),
        })
    };
    let pattern = ctx.regexps.pattern(&characters(call, 1, of_bytes), flags, ctx.memory, limits)?;
    if call.values[0].is_null() {
        return Ok(None);
    }
    Ok(Some(Search { subject: characters(call, 0, of_bytes), pattern, of_bytes }))
}

/// Returns an argument as characters.
fn characters<'c>(call: &'c Call<'_>, at: usize, of_bytes: bool) -> Cow<'c, str> {
    let bytes = call.bytes(at);
    if of_bytes && !bytes.is_ascii() {
        return Cow::Owned(bytes.iter().map(|byte| char::from(*byte)).collect());
    }
    match bytes {
        Cow::Borrowed(bytes) => String::from_utf8_lossy(bytes),
        Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
    }
}

/// Returns the flags of the pattern, from the collation and from the letters of the match type.
/// `None` means that the match type is NULL.
fn flags(call: &Call<'_>, match_type: usize) -> Result<Option<Flags>> {
    let mut flags = Flags::default();
    if !(call.is_binary(0) || call.is_binary(1)) {
        let (id, _) = infer::aggregate_collations(texts(&call.args[..2]))?;
        flags.case_insensitive = collation::name(id).ends_with("_ci");
    }
    if !call.is_given(match_type) {
        return Ok(Some(flags));
    }
    if call.values[match_type].is_null() {
        return Ok(None);
    }
    for letter in call.bytes(match_type).iter() {
        match letter {
            b'c' => flags.case_insensitive = false,
            b'i' => flags.case_insensitive = true,
            b'm' => flags.multi_line = true,
            b'n' => flags.dot_all = true,
            b'u' => flags.unix_lines = true,
            _ => return Err(wrong_arguments(call.name)),
        }
    }
    Ok(Some(flags))
}

fn like(call: &Call<'_>) -> Result<Value> {
    match search(call, 2)? {
        Some(search) => Ok(truth_value(search.pattern.is_match(&search.subject)?)),
        None => Ok(Value::Null),
    }
}

/// Reports whether one of the arguments after the subject and the pattern is NULL.
fn has_null(call: &Call<'_>) -> bool {
    call.values.iter().skip(2).any(|value| value.is_null())
}

/// Returns an argument, or `default` where it is not given.
fn optional(call: &Call<'_>, at: usize, default: i64) -> i64 {
    if call.is_given(at) { call.integer(at) } else { default }
}

/// Returns the byte at which the search begins. The argument at `at` is the position of a
/// character, counted from 1.
fn start_of(call: &Call<'_>, at: usize, subject: &str, may_be_end: bool) -> Result<usize> {
    let wanted = optional(call, at, 1);
    let out_of_bounds = || SqlError::from(RegexpError::IndexOutOfBounds);
    let before = usize::try_from(wanted).ok().and_then(|wanted| wanted.checked_sub(1));
    let before = before.ok_or_else(out_of_bounds)?;
    if before == 0 {
        return Ok(0);
    }
    let mut starts = subject.char_indices().map(|(at, _)| at);
    match starts.nth(before) {
        Some(byte) => Ok(byte),
        None if may_be_end && subject.chars().count() == before => Ok(subject.len()),
        None => Err(out_of_bounds()),
    }
}

/// Returns an error for a position below 1, which some of the functions do not allow.
fn check_position(call: &Call<'_>, at: usize) -> Result<()> {
    if call.is_given(at) && !call.values[at].is_null() && call.integer(at) < 1 {
        let text = format!("Incorrect parameters in the call to native function '{}'", call.name);
        return Err(SqlError::new(1583, text));
    }
    Ok(())
}

/// Returns match number `number`, counted from 1, of the part of a text that begins at a byte.
fn occurrence(
    call: &Call<'_>,
    pattern: &Pattern,
    (text, start): (&str, usize),
    number: i64,
) -> Result<Option<Match>> {
    let mut found = pattern.find_at(text, start)?;
    for _ in 1..number {
        call.ctx.check_interrupt()?;
        let Some(before) = found else { return Ok(None) };
        found = pattern.find_after(text, &before)?;
    }
    Ok(found)
}

fn position(call: &Call<'_>) -> Result<Value> {
    if call.is_given(4) && !call.values[4].is_null() && !(0..=1).contains(&call.integer(4)) {
        let text = format!("Incorrect arguments to {}: return_option must be 1 or 0.", call.name);
        return Err(SqlError::new(1210, text));
    }
    let Some(search) = search(call, 5)? else { return Ok(Value::Null) };
    if has_null(call) {
        return Ok(Value::Null);
    }
    if search.subject.is_empty() {
        // In an empty text every position is valid.
        let found = occurrence(call, &search.pattern, ("", 0), optional(call, 3, 1))?;
        return Ok(Value::Int(if found.is_some() { optional(call, 2, 1) } else { 0 }));
    }
    let start = start_of(call, 2, &search.subject, false)?;
    // The pattern of REGEXP_INSTR() does not see the text in front of the start. Those of the other
    // functions do.
    let text = &search.subject[start..];
    let found = occurrence(call, &search.pattern, (text, 0), optional(call, 3, 1))?;
    let Some(found) = found else { return Ok(Value::Int(0)) };
    let byte = start + if optional(call, 4, 0) == 1 { found.end() } else { found.start() };
    Ok(Value::Int(search.subject[..byte].chars().count() as i64 + 1))
}

fn part(call: &Call<'_>) -> Result<Value> {
    check_position(call, 2)?;
    let Some(search) = search(call, 4)? else { return Ok(Value::Null) };
    if has_null(call) {
        return Ok(Value::Null);
    }
    let start = start_of(call, 2, &search.subject, true)?;
    match occurrence(call, &search.pattern, (&search.subject, start), optional(call, 3, 1))? {
        Some(found) => {
            let part = &search.subject[found.start()..found.end()];
            call.check_room(part.len())?;
            Ok(value_of(part, search.of_bytes))
        }
        None => Ok(Value::Null),
    }
}

fn value_of(text: &str, of_bytes: bool) -> Value {
    match of_bytes && !text.is_ascii() {
        // Only the replacement can contain a character that is no byte.
        true => Value::Bytes(text.chars().map(|one| u8::try_from(one).unwrap_or(b'?')).collect()),
        false => super::text(text),
    }
}

fn replace(call: &Call<'_>) -> Result<Value> {
    check_position(call, 3)?;
    let Some(search) = search(call, 5)? else { return Ok(Value::Null) };
    if has_null(call) {
        return Ok(Value::Null);
    }
    let start = start_of(call, 3, &search.subject, true)?;
    if search.subject.is_empty() {
        return Ok(value_of("", search.of_bytes));
    }
    let text = &*search.subject;
    let wanted = optional(call, 4, 0);
    let mut found = occurrence(call, &search.pattern, (text, start), wanted)?;
    if found.is_none() {
        call.check_room(search.subject.len())?;
        return Ok(value_of(&search.subject, search.of_bytes));
    }
    let replacement = Replacement::parse(&characters(call, 2, search.of_bytes), &search.pattern)?;
    let (mut out, mut copied) = (Made { call, text: String::new(), charged: 0 }, 0);
    while let Some(one) = found {
        out.push(&text[copied..one.start()])?;
        out.make_room(replacement.length(&one))?;
        replacement.write(text, &one, &mut out.text);
        copied = one.end();
        call.ctx.check_interrupt()?;
        found = if wanted == 0 { search.pattern.find_after(text, &one)? } else { None };
    }
    out.push(&text[copied..])?;
    Ok(value_of(&out.text, search.of_bytes))
}

/// A text that is being made. It is no longer than allowed, and its memory is charged before it is
/// taken.
struct Made<'c> {
    call: &'c Call<'c>,
    text: String,
    charged: usize,
}

impl Made<'_> {
    fn push(&mut self, text: &str) -> Result<()> {
        self.make_room(text.len())?;
        self.text.push_str(text);
        Ok(())
    }

    fn make_room(&mut self, bytes: usize) -> Result<()> {
        let wanted = self.text.len().saturating_add(bytes);
        if wanted > self.call.ctx.variables.max_allowed_packet {
            return Err(SqlError::new(3684, "The result string is larger than the result buffer."));
        }
        if wanted > self.text.capacity() {
            let capacity = wanted.next_power_of_two();
            self.call.check_room(capacity - self.charged)?;
            self.charged = capacity;
            self.text.reserve_exact(capacity - self.text.len());
        }
        Ok(())
    }
}
