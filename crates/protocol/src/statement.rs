//! Prepared statements: the answer to COM_STMT_PREPARE, and the parameters of COM_STMT_EXECUTE.

use crate::scalar::Scalar;
use crate::wire::{Malformed, Reader};

/// The answer to COM_STMT_PREPARE, in front of the definitions of parameters and columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrepareOk {
    /// The number by which this connection names the statement.
    pub statement_id: u32,
    /// The number of columns of the result, 0 when there is no result.
    pub columns: u16,
    /// The number of parameters (`?`).
    pub parameters: u16,
    /// The number of warnings.
    pub warnings: u16,
}

impl PrepareOk {
    /// Appends the packet.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.push(0);
        out.extend_from_slice(&self.statement_id.to_le_bytes());
        out.extend_from_slice(&self.columns.to_le_bytes());
        out.extend_from_slice(&self.parameters.to_le_bytes());
        out.push(0);
        out.extend_from_slice(&self.warnings.to_le_bytes());
    }

    /// Reads the packet.
    pub fn decode(payload: &[u8]) -> Result<PrepareOk, Malformed> {
        const WHAT: &str = "prepare response";
        let mut r = Reader::new(payload);
        r.u8(WHAT)?;
        let statement_id = r.u32(WHAT)?;
        let columns = r.u16(WHAT)?;
        let parameters = r.u16(WHAT)?;
        r.u8(WHAT)?;
        Ok(PrepareOk { statement_id, columns, parameters, warnings: r.u16(WHAT)? })
    }
}

/// The beginning of COM_STMT_EXECUTE's body: the statement, and whether a cursor is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExecuteHead {
    /// The number of the statement.
    pub statement_id: u32,
    /// Bits of `CURSOR_TYPE_*`. 0 means no cursor.
    pub cursor: u8,
}

/// Reads the beginning of the body. The parameters are left in `r`.
pub fn decode_execute_head(r: &mut Reader<'_>) -> Result<ExecuteHead, Malformed> {
    const WHAT: &str = "COM_STMT_EXECUTE";
    let statement_id = r.u32(WHAT)?;
    let cursor = r.u8(WHAT)?;
    r.u32(WHAT)?;
    Ok(ExecuteHead { statement_id, cursor })
}

/// Reads the parameters of COM_STMT_EXECUTE.
///
/// `types` keeps each parameter's type code and unsigned flag from one execution to the next,
/// because clients send them only when they change. `is_long(i)` returns true for parameters that
/// were sent by COM_STMT_SEND_LONG_DATA: they have a type but no cell, and `parameter` is not
/// called with them.
pub fn decode_parameters<'a>(
    r: &mut Reader<'a>,
    count: usize,
    types: &mut Vec<(u8, bool)>,
    is_long: impl Fn(usize) -> bool,
    mut parameter: impl FnMut(usize, Scalar<'a>),
) -> Result<(), Malformed> {
    const WHAT: &str = "parameters of COM_STMT_EXECUTE";
    if count == 0 {
        return Ok(());
    }
    let bitmap = r.take(count.div_ceil(8), WHAT)?;
    if r.u8(WHAT)? == 1 {
        types.clear();
        for _ in 0..count {
            let code = r.u8(WHAT)?;
            types.push((code, r.u8(WHAT)? & 0x80 != 0));
        }
    }
    if types.len() != count {
        return Err(Malformed { what: "types of the parameters of COM_STMT_EXECUTE" });
    }
    for (i, &(code, unsigned)) in types.iter().enumerate() {
        if is_long(i) {
            continue;
        }
        if bitmap[i / 8] & (1 << (i % 8)) != 0 {
            parameter(i, Scalar::Null);
        } else {
            parameter(i, Scalar::decode(r, code, unsigned)?);
        }
    }
    Ok(())
}

/// Appends the body of COM_STMT_EXECUTE, without a cursor and with the parameters' types.
pub fn put_execute(statement_id: u32, parameters: &[Scalar<'_>], out: &mut Vec<u8>) {
    out.extend_from_slice(&statement_id.to_le_bytes());
    out.push(0);
    out.extend_from_slice(&1u32.to_le_bytes());
    if parameters.is_empty() {
        return;
    }
    let bitmap = out.len();
    out.resize(bitmap + parameters.len().div_ceil(8), 0);
    out.push(1);
    for (i, p) in parameters.iter().enumerate() {
        let (code, unsigned) = p.parameter_type();
        out.extend_from_slice(&[code, if unsigned { 0x80 } else { 0 }]);
        if *p == Scalar::Null {
            out[bitmap + i / 8] |= 1 << (i % 8);
        }
    }
    for p in parameters {
        p.encode(p.parameter_type().0, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_survive_the_round_trip_and_types_are_remembered() {
        let sent = [
            Scalar::Int(-1),
            Scalar::Null,
            Scalar::Bytes(b"abc"),
            Scalar::UInt(u64::MAX),
            Scalar::Double(2.5),
        ];
        let mut out = Vec::new();
        put_execute(7, &sent, &mut out);
        let mut r = Reader::new(&out);
        assert_eq!(decode_execute_head(&mut r).unwrap(), ExecuteHead { statement_id: 7, cursor: 0 });
        let (mut types, mut seen) = (Vec::new(), Vec::new());
        decode_parameters(&mut r, sent.len(), &mut types, |_| false, |_, v| seen.push(v)).unwrap();
        assert_eq!(seen, sent);

        let mut again = vec![0b11110, 0];
        again.extend_from_slice(&9i64.to_le_bytes());
        let mut first = Scalar::Null;
        let mut keep = |i, v| {
            if i == 0 {
                first = v
            }
        };
        decode_parameters(&mut Reader::new(&again), sent.len(), &mut types, |_| false, &mut keep).unwrap();
        assert_eq!(first, Scalar::Int(9));
    }

    #[test]
    fn cut_or_untyped_parameters_are_errors() {
        let sent = [Scalar::Int(-1), Scalar::Bytes(b"abc")];
        let mut out = Vec::new();
        put_execute(7, &sent, &mut out);
        for cut in 0..out.len() {
            let mut r = Reader::new(&out[..cut]);
            let head = decode_execute_head(&mut r);
            let rest = decode_parameters(&mut r, 2, &mut Vec::new(), |_| false, |_, _| ());
            assert!(head.is_err() || rest.is_err());
        }
        let untyped = [0, 0, 1];
        assert!(
            decode_parameters(&mut Reader::new(&untyped), 1, &mut Vec::new(), |_| false, |_, _| ()).is_err()
        );
    }
}
