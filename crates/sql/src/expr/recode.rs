//! Converts texts between character sets, and bytes to characters and back.

use super::Context;
use super::value_type::{is_text, text_collation};
use types::ColumnType;
use types::collation::{
    BINARY, Charset, NO_CHARACTERS, charset_of, from_utf8mb4_lossy, to_utf8mb4, well_formed_len,
};

/// Returns the bytes that are characters of a collation's character set, up to the first that is
/// none. With such a byte the session gets warning 1300, and the result is NULL in strict SQL mode.
pub(crate) fn well_formed<'b>(bytes: &'b [u8], id: u16, ctx: &Context<'_>) -> Option<&'b [u8]> {
    let good = well_formed_len(id, bytes);
    if good == bytes.len() {
        return Some(bytes);
    }
    const SHOWN_BYTES: usize = 3;
    let shown: String = bytes[good..].iter().take(SHOWN_BYTES).map(|byte| format!("{byte:02X}")).collect();
    let charset = charset_of(id).name();
    ctx.warn(1300, format!("Invalid {charset} character string: '{shown}'"));
    (!ctx.variables.sql_mode.strict()).then_some(&bytes[..good])
}

/// Returns what is converted of a text: of bytes that become characters, those that are some.
/// `None` if the result is NULL.
pub(super) fn characters<'b>(
    bytes: &'b [u8],
    from: &ColumnType,
    to: &ColumnType,
    ctx: &Context<'_>,
) -> Option<&'b [u8]> {
    match become_characters(from, to) {
        true => well_formed(bytes, to.collation, ctx),
        false => Some(bytes),
    }
}

/// Reports whether a text of one type has bytes, and one of the other has characters.
pub(super) fn become_characters(from: &ColumnType, to: &ColumnType) -> bool {
    is_text(from) && from.collation == BINARY && to.collation != BINARY
}

/// Converts text of one character set to another. `None` means that nothing changes. Text of every
/// character set is kept in utf8mb4, and a question mark replaces a character that the other
/// character set lacks. `binary` bytes are as the character set that they come from or go to stores
/// them.
pub(crate) fn converted(bytes: &[u8], from: &ColumnType, to: &ColumnType) -> Option<Vec<u8>> {
    let (before, after) = (charset_of(text_collation(from)), charset_of(to.collation));
    if before == after || !is_text(from) || (after.has_ascii() && before.has_ascii() && bytes.is_ascii()) {
        return None;
    }
    let changed = match (before, after) {
        (Charset::Binary, _) => to_utf8mb4(to.collation, bytes).into_owned(),
        (_, Charset::Binary) => from_utf8mb4_lossy(from.collation, bytes).into_owned(),
        _ => to_utf8mb4(to.collation, &from_utf8mb4_lossy(to.collation, bytes)).into_owned(),
    };
    (changed != bytes).then_some(changed)
}

/// Reports whether one of two types has UUIDs or addresses, and the other one bytes. MariaDB stores
/// the bytes of the one as the other then, and not its text.
pub(super) fn is_form_changed(from: &ColumnType, to: &ColumnType) -> bool {
    let is_binary = |ty: &ColumnType| is_text(ty) && charset_of(ty.collation) == Charset::Binary;
    match (from.text_form(), to.text_form()) {
        (None, Some(_)) => is_binary(from),
        (Some(_), None) => is_binary(to),
        _ => false,
    }
}

/// Converts between bytes and the text of the UUID or address that they are. Too many or too few
/// bytes become a text that no such type takes.
pub(super) fn in_form_of(value: &[u8], from: &ColumnType, to: &ColumnType) -> Vec<u8> {
    let mut converted = Vec::new();
    match (from.text_form(), to.text_form()) {
        (Some(form), _) => {
            let is_read = form.read_text(value, &mut converted);
            debug_assert!(is_read, "a column has only values of its type");
        }
        (None, Some(form)) if value.len() == form.bytes() => form.write_text(value, &mut converted),
        (None, _) => {
            converted.push(NO_CHARACTERS);
            converted.extend_from_slice(value);
        }
    }
    converted
}
