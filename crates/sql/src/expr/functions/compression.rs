//! `COMPRESS()` and the functions that read its result: the length of the text in four bytes, the
//! lowest byte first, and a zlib stream.

use super::{Call, Function, integer, text};
use crate::error::Result;
use crate::expr::value_type::{MOST_CHARS_OF_BLOB, announced_bytes, bytes_type, long_text};
use crate::expr::{Coercibility, Expr};
use flate2::{Compression, Decompress, FlushDecompress, Status, write::ZlibEncoder};
use std::io::Write;
use types::{ColumnType, Value, collation::BINARY};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("compress", 1..=1, compressed, compress),
    Function::new("uncompress", 1..=1, |_| Ok((uncompressed(), Coercibility::Literal)), uncompress),
    Function::new("uncompressed_length", 1..=1, integer::<11>, |call| {
        let bytes = call.stored(0);
        let length = if bytes.is_empty() { Some(0) } else { length_of(call, &bytes) };
        Ok(Value::Int(length.unwrap_or(0) as i64))
    })
    .null_by_arguments(),
];

/// The bytes of the length in front of the stream.
const LENGTH_BYTES: usize = 4;
/// The bits of the length that count. The upper two are ignored.
const LENGTH_MASK: u32 = 0x3fff_ffff;
/// The most bytes that are worked on between two checks for an interrupt.
const UNASKED_BYTES: usize = 1 << 18;

/// Returns a type for as many bytes as the result of COMPRESS() has at most.
fn compressed(args: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    Ok((bytes_type(most_bytes(announced_bytes(&args[0].ty))), Coercibility::Literal))
}

/// Returns the most bytes that `bytes` bytes become: the length in front, zlib's bound, and a
/// period.
fn most_bytes(bytes: u64) -> u64 {
    const FRAME_BYTES: u64 = 13;
    LENGTH_BYTES as u64 + bytes + (bytes >> 12) + (bytes >> 14) + (bytes >> 25) + FRAME_BYTES + 1
}

fn compress(call: &Call<'_>) -> Result<Value> {
    let bytes = call.stored(0);
    if bytes.is_empty() {
        return Ok(text(""));
    }
    // `out` never has to grow, which would take the room twice.
    let most = most_bytes(bytes.len() as u64) as usize;
    call.check_room(most)?;
    let mut out = Vec::with_capacity(most);
    out.extend_from_slice(&((bytes.len() as u32) & LENGTH_MASK).to_le_bytes());
    let mut stream = ZlibEncoder::new(&mut out, Compression::default());
    let mut failed = false;
    for piece in bytes.chunks(UNASKED_BYTES) {
        call.ctx.check_interrupt()?;
        failed |= stream.write_all(piece).is_err();
    }
    failed |= stream.finish().is_err();
    if failed {
        // Writing to memory does not fail.
        return Ok(Value::Null);
    }
    // A column that drops trailing spaces would lose a space at the end.
    if out.last() == Some(&b' ') {
        out.push(b'.');
    }
    Ok(Value::Bytes(out))
}

/// Returns the length in front of the stream. `None`, with a warning, means that it is missing.
fn length_of(call: &Call<'_>, bytes: &[u8]) -> Option<usize> {
    match bytes.split_first_chunk::<LENGTH_BYTES>() {
        Some((length, [_, ..])) => Some((u32::from_le_bytes(*length) & LENGTH_MASK) as usize),
        _ => {
            warn_damaged(call);
            None
        }
    }
}

/// Returns the type of bytes that were packed.
fn uncompressed() -> ColumnType {
    long_text(MOST_CHARS_OF_BLOB, BINARY)
}

fn uncompress(call: &Call<'_>) -> Result<Value> {
    let bytes = call.stored(0);
    if bytes.is_empty() {
        return Ok(text(""));
    }
    let Some(length) = length_of(call, &bytes) else { return Ok(Value::Null) };
    let limit = call.ctx.variables.max_allowed_packet;
    if length > limit {
        let text = format!(
            "Uncompressed data size too large; the maximum size is {limit} (probably, length of uncompressed data \
             was corrupted)"
        );
        call.ctx.warn(1256, text);
        return Ok(Value::Null);
    }
    call.check_room(length)?;
    match inflated(&bytes[LENGTH_BYTES..], length, call)? {
        Inflated::Whole(bytes) => return Ok(Value::Bytes(bytes)),
        Inflated::TooLong => {
            let text = "ZLIB: Not enough room in the output buffer (probably, length of uncompressed data was corrupted)";
            call.ctx.warn(1258, text);
        }
        Inflated::Damaged => warn_damaged(call),
    }
    Ok(Value::Null)
}

fn warn_damaged(call: &Call<'_>) {
    call.ctx.warn(1259, "ZLIB: Input data corrupted");
}

/// The result of inflating a stream.
enum Inflated {
    Whole(Vec<u8>),
    /// The text is longer than the length in front says.
    TooLong,
    Damaged,
}

/// Inflates a stream to a text of at most `length` bytes. Bytes after the stream are ignored.
///
/// # Errors
/// Returns 1317 when the statement is interrupted.
fn inflated(stream: &[u8], length: usize, call: &Call<'_>) -> Result<Inflated> {
    let mut out = vec![0; length];
    let mut state = Decompress::new(true);
    loop {
        call.ctx.check_interrupt()?;
        let (read, made) = (state.total_in() as usize, state.total_out() as usize);
        let room = made..length.min(made.saturating_add(UNASKED_BYTES));
        let Ok(status) = state.decompress(&stream[read..], &mut out[room], FlushDecompress::None) else {
            return Ok(Inflated::Damaged);
        };
        let has_moved = (state.total_in() as usize, state.total_out() as usize) != (read, made);
        match status {
            Status::StreamEnd => {
                out.truncate(state.total_out() as usize);
                return Ok(Inflated::Whole(out));
            }
            _ if has_moved => {}
            _ if made == length => return Ok(Inflated::TooLong),
            _ => return Ok(Inflated::Damaged),
        }
    }
}
