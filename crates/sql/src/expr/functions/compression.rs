//! COMPRESS() and its inverses (manual, "Encryption and Compression Functions"): the length of the
//! bytes in four bytes, then what zlib makes of them.

use super::{Call, Function, int};
use crate::error::Result;
use crate::expr::{Coercibility, Expr};
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use std::borrow::Cow;
use types::{ColumnType, Value, collation};

/// Bytes of the length.
const HEAD_BYTES: usize = 4;
/// The upper bits of the length count for nothing.
const LENGTH_BITS: u32 = 0x3fff_ffff;
/// Bytes that are made before the memory and the time for more are asked for.
const STEP_BYTES: usize = 1 << 20;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("compress", 1..=1, compressed_type, compress),
    Function::new("uncompress", 1..=1, |_| Ok((ColumnType::longblob(), Coercibility::Literal)), uncompress),
    Function::new("uncompressed_length", 1..=1, int, |call| {
        let bytes = call.stored(0);
        Ok(match length_of(&bytes) {
            Some(length) => Value::Int(length as i64),
            None if bytes.is_empty() => Value::Int(0),
            None => {
                complain(call);
                Value::Int(0)
            }
        })
    }),
];

/// As long as zlib may make it of the argument's longest text.
fn compressed_type(args: &[Expr]) -> Result<(ColumnType, Coercibility)> {
    let ty = &args[0].ty;
    let chars = super::super::value_type::text_length(ty);
    let bytes = u64::from(chars) * u64::from(collation::max_bytes_per_char(ty.collation));
    let bound = bytes + (bytes >> 12) + (bytes >> 14) + (bytes >> 25) + 13;
    // The length in front, and a period behind a space.
    let most = bound + HEAD_BYTES as u64 + 1;
    let ty = u32::try_from(most).ok().filter(|most| *most <= 65_535).map(ColumnType::varbinary);
    Ok((ty.unwrap_or_else(ColumnType::longblob), Coercibility::Literal))
}

/// The length that the bytes in front say.
fn length_of(bytes: &[u8]) -> Option<usize> {
    let head: [u8; HEAD_BYTES] = bytes.get(..HEAD_BYTES)?.try_into().ok()?;
    (bytes.len() > HEAD_BYTES).then(|| (u32::from_le_bytes(head) & LENGTH_BITS) as usize)
}

fn complain(call: &Call<'_>) {
    call.ctx.warn(1259, "ZLIB: Input data corrupted".to_owned());
}

fn compress(call: &Call<'_>) -> Result<Value> {
    let bytes = call.stored(0);
    if bytes.is_empty() {
        return Ok(Value::Bytes(Vec::new()));
    }
    let mut zlib = Compress::new(Compression::default(), true);
    let mut out = (bytes.len() as u32).to_le_bytes().to_vec();
    loop {
        call.check_room(out.len() + STEP_BYTES)?;
        out.reserve(STEP_BYTES.min(bytes.len() + 64));
        let rest = &bytes[zlib.total_in() as usize..];
        let piece = &rest[..rest.len().min(STEP_BYTES)];
        let flush = if piece.len() == rest.len() { FlushCompress::Finish } else { FlushCompress::None };
        match zlib.compress_vec(piece, &mut out, flush) {
            Ok(Status::StreamEnd) => break,
            Ok(_) => {}
            Err(error) => return Err(crate::SqlError::new(1259, format!("ZLIB: {error}"))),
        }
    }
    // A CHAR column would cut a space at the end.
    if out.last() == Some(&b' ') {
        out.push(b'.');
    }
    Ok(Value::Bytes(out))
}

fn uncompress(call: &Call<'_>) -> Result<Value> {
    let bytes: Cow<'_, [u8]> = call.stored(0);
    if bytes.is_empty() {
        return Ok(Value::Bytes(Vec::new()));
    }
    let Some(length) = length_of(&bytes) else {
        complain(call);
        return Ok(Value::Null);
    };
    let limit = call.ctx.variables.max_allowed_packet;
    if length > limit {
        let text = format!(
            "Uncompressed data size too large; the maximum size is {limit} (probably, length of uncompressed data was \
             corrupted)"
        );
        call.ctx.warn(1256, text);
        return Ok(Value::Null);
    }
    call.check_room(length)?;
    let (mut zlib, mut out) = (Decompress::new(true), Vec::with_capacity(length));
    loop {
        let (read, made) = (zlib.total_in(), zlib.total_out());
        let rest = &bytes[HEAD_BYTES + read as usize..];
        match zlib.decompress_vec(&rest[..rest.len().min(STEP_BYTES)], &mut out, FlushDecompress::None) {
            Ok(Status::StreamEnd) => return Ok(Value::Bytes(out)),
            Ok(_) if zlib.total_in() > read || zlib.total_out() > made => call.check_room(0)?,
            Ok(_) if out.len() == length => {
                let text = "ZLIB: Not enough room in the output buffer (probably, length of uncompressed data was \
                            corrupted)";
                call.ctx.warn(1258, text.to_owned());
                return Ok(Value::Null);
            }
            Ok(_) | Err(_) => {
                complain(call);
                return Ok(Value::Null);
            }
        }
    }
}
