//! The generic responses: OK, error, end of rows.

use crate::capability::{self, Capabilities};
use crate::wire::{Malformed, Reader, put_lenenc_bytes, put_lenenc_int};
use std::fmt;
use types::collation;

/// The first byte of an OK packet.
pub const OK_HEADER: u8 = 0x00;
/// The first byte of an error packet.
pub const ERR_HEADER: u8 = 0xff;
/// The first byte of the packet that ends rows or column definitions.
pub const EOF_HEADER: u8 = 0xfe;
/// The first byte of a request for a local file.
pub const LOCAL_INFILE_HEADER: u8 = 0xfb;

/// A change of the session's state, in an OK packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StateChange {
    /// A system variable has a new value (type 0).
    SystemVariable {
        /// The name of the variable.
        name: String,
        /// The new value of the variable, as text.
        value: String,
    },
    /// The session's schema changed (type 1). The field is its name.
    Schema(String),
}

/// An OK packet: the success of a statement without a result set, or the end of a result set.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OkPacket {
    /// The number of rows that the statement changed.
    pub affected_rows: u64,
    /// The first value that AUTO_INCREMENT generated, 0 if there is none.
    pub last_insert_id: u64,
    /// The status flags (`SERVER_STATUS_*`).
    pub status: u16,
    /// The number of warnings.
    pub warnings: u16,
    /// A text such as `Rows matched: 1  Changed: 1  Warnings: 0`.
    pub info: String,
    /// The changes that clients with SESSION_TRACK are told.
    pub changes: Vec<StateChange>,
}

impl OkPacket {
    /// Appends the packet. `header` is [`OK_HEADER`], or [`EOF_HEADER`] at the end of rows with
    /// DEPRECATE_EOF.
    pub fn encode(&self, header: u8, capabilities: Capabilities, out: &mut Vec<u8>) {
        let track = capabilities & capability::SESSION_TRACK != 0;
        let changed = track && !self.changes.is_empty();
        let mut status = self.status & !capability::STATUS_SESSION_STATE_CHANGED;
        if changed {
            status |= capability::STATUS_SESSION_STATE_CHANGED;
        }
        out.push(header);
        put_lenenc_int(out, self.affected_rows);
        put_lenenc_int(out, self.last_insert_id);
        out.extend_from_slice(&status.to_le_bytes());
        out.extend_from_slice(&self.warnings.to_le_bytes());
        // The text is sent with its length to every client, as servers do, although the protocol's
        // description says otherwise for clients without SESSION_TRACK.
        if changed || !self.info.is_empty() {
            put_lenenc_bytes(out, self.info.as_bytes());
        }
        if changed {
            put_changes(out, &self.changes);
        }
    }

    /// Reads the packet, including its first byte.
    pub fn decode(payload: &[u8], capabilities: Capabilities) -> Result<OkPacket, Malformed> {
        const WHAT: &str = "OK packet";
        let mut r = Reader::new(payload);
        r.u8(WHAT)?;
        let mut ok = OkPacket {
            affected_rows: r.lenenc_int(WHAT)?,
            last_insert_id: r.lenenc_int(WHAT)?,
            status: r.u16(WHAT)?,
            warnings: r.u16(WHAT)?,
            ..OkPacket::default()
        };
        if r.remaining() == 0 {
            return Ok(ok);
        }
        ok.info = String::from_utf8_lossy(r.lenenc_bytes(WHAT)?).into_owned();
        if capabilities & capability::SESSION_TRACK != 0
            && ok.status & capability::STATUS_SESSION_STATE_CHANGED != 0
        {
            ok.changes = read_changes(r.lenenc_bytes(WHAT)?)?;
        }
        Ok(ok)
    }
}

fn put_changes(out: &mut Vec<u8>, changes: &[StateChange]) {
    let mut all = Vec::new();
    for change in changes {
        let mut one = Vec::new();
        match change {
            StateChange::SystemVariable { name, value } => {
                put_lenenc_bytes(&mut one, name.as_bytes());
                put_lenenc_bytes(&mut one, value.as_bytes());
                all.push(0);
            }
            StateChange::Schema(name) => {
                put_lenenc_bytes(&mut one, name.as_bytes());
                all.push(1);
            }
        }
        put_lenenc_bytes(&mut all, &one);
    }
    put_lenenc_bytes(out, &all);
}

fn read_changes(bytes: &[u8]) -> Result<Vec<StateChange>, Malformed> {
    const WHAT: &str = "session state change";
    let mut out = Vec::new();
    let mut r = Reader::new(bytes);
    while r.remaining() > 0 {
        let kind = r.u8(WHAT)?;
        let mut one = Reader::new(r.lenenc_bytes(WHAT)?);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match kind {
            0 => {
                let name = text(one.lenenc_bytes(WHAT)?);
                let value = text(one.lenenc_bytes(WHAT)?);
                out.push(StateChange::SystemVariable { name, value });
            }
            1 => out.push(StateChange::Schema(text(one.lenenc_bytes(WHAT)?))),
            _ => {}
        }
    }
    Ok(out)
}

/// An error packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrPacket {
    /// MySQL's error number.
    pub code: u16,
    /// The SQLSTATE.
    pub state: [u8; 5],
    /// The text for people.
    pub message: String,
}

/// Appends a message in the character set of a collation. A character that the character set does
/// not have is written as its number, as in MySQL.
fn put_message(message: &str, collation_id: u16, out: &mut Vec<u8>) {
    if let Some(converted) = collation::from_utf8mb4(collation_id, message.as_bytes()) {
        return out.extend_from_slice(&converted);
    }
    let mut put = |text: &str| match collation::from_utf8mb4(collation_id, text.as_bytes()) {
        Some(converted) => out.extend_from_slice(&converted),
        None => {
            let number = text.chars().fold(0, |_, c| u32::from(c));
            let written =
                if number > 0xffff { format!("\\+{number:06X}") } else { format!("\\{number:04X}") };
            out.extend_from_slice(&collation::from_utf8mb4_lossy(collation_id, written.as_bytes()));
        }
    };
    message.chars().for_each(|c| put(c.encode_utf8(&mut [0; 4])));
}

impl fmt::Display for ErrPacket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ERROR {} ({}): {}", self.code, String::from_utf8_lossy(&self.state), self.message)
    }
}

impl std::error::Error for ErrPacket {}

/// The most bytes of a message that clients accept (MYSQL_ERRMSG_SIZE).
const MESSAGE_BYTES: usize = 511;

impl ErrPacket {
    /// Appends the packet, with the message in the character set of `collation_id`. Before the
    /// handshake has ended clients expect no SQLSTATE, so the caller passes no capabilities then.
    pub fn encode(&self, capabilities: Capabilities, collation_id: u16, out: &mut Vec<u8>) {
        out.push(ERR_HEADER);
        out.extend_from_slice(&self.code.to_le_bytes());
        if capabilities & capability::PROTOCOL_41 != 0 {
            out.push(b'#');
            out.extend_from_slice(&self.state);
        }
        let mut len = self.message.len().min(MESSAGE_BYTES);
        while !self.message.is_char_boundary(len) {
            len -= 1;
        }
        put_message(&self.message[..len], collation_id, out);
    }

    /// Reads the packet, including its first byte.
    pub fn decode(payload: &[u8]) -> Result<ErrPacket, Malformed> {
        const WHAT: &str = "error packet";
        let mut r = Reader::new(payload);
        r.u8(WHAT)?;
        let code = r.u16(WHAT)?;
        let mut state = *b"HY000";
        if r.peek() == Some(b'#') {
            r.u8(WHAT)?;
            state.copy_from_slice(r.take(5, WHAT)?);
        }
        Ok(ErrPacket { code, state, message: String::from_utf8_lossy(r.rest()).into_owned() })
    }
}

/// Appends the packet that ends column definitions or rows for clients without DEPRECATE_EOF.
pub fn put_eof(status: u16, warnings: u16, out: &mut Vec<u8>) {
    out.push(EOF_HEADER);
    out.extend_from_slice(&warnings.to_le_bytes());
    out.extend_from_slice(&status.to_le_bytes());
}

/// Reports whether `payload`, which was read where a row could be, ends the rows.
///
/// A row whose first cell is 16 MB or longer starts with the same byte, but is longer than any
/// packet that ends rows.
pub fn is_end_of_rows(payload: &[u8]) -> bool {
    payload.first() == Some(&EOF_HEADER) && payload.len() < crate::packet::MAX_PAYLOAD_BYTES
}

/// Reads the packet that ends rows, in either form.
pub fn decode_end_of_rows(payload: &[u8], capabilities: Capabilities) -> Result<OkPacket, Malformed> {
    if capabilities & capability::DEPRECATE_EOF != 0 {
        return OkPacket::decode(payload, capabilities);
    }
    let mut r = Reader::new(payload);
    r.u8("EOF packet")?;
    let warnings = r.u16("EOF packet")?;
    let status = r.u16("EOF packet")?;
    Ok(OkPacket { status, warnings, ..OkPacket::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ok_survives_the_round_trip_in_every_form() {
        let full = OkPacket {
            affected_rows: 300,
            last_insert_id: 70_000,
            status: capability::STATUS_AUTOCOMMIT,
            warnings: 2,
            info: "Records: 1".into(),
            changes: vec![
                StateChange::Schema("test".into()),
                StateChange::SystemVariable { name: "autocommit".into(), value: "OFF".into() },
            ],
        };
        let mut out = Vec::new();
        full.encode(OK_HEADER, capability::SESSION_TRACK, &mut out);
        let back = OkPacket::decode(&out, capability::SESSION_TRACK).unwrap();
        assert_eq!((&back.changes, &back.info, back.affected_rows), (&full.changes, &full.info, 300));
        let mut out = Vec::new();
        full.encode(OK_HEADER, 0, &mut out);
        let back = OkPacket::decode(&out, 0).unwrap();
        assert_eq!((back.info.as_str(), back.last_insert_id, back.changes.len()), ("Records: 1", 70_000, 0));
    }

    #[test]
    fn error_survives_the_round_trip_and_is_cut_between_characters() {
        let err = ErrPacket { code: 1064, state: *b"42000", message: "\u{e9}".repeat(400) };
        let mut out = Vec::new();
        err.encode(capability::PROTOCOL_41, collation::UTF8MB4_BIN, &mut out);
        let back = ErrPacket::decode(&out).unwrap();
        assert_eq!((back.code, back.state, back.message.len()), (1064, *b"42000", 510));
        let mut out = Vec::new();
        err.encode(0, collation::UTF8MB4_BIN, &mut out);
        assert_eq!(ErrPacket::decode(&out).unwrap().state, *b"HY000");
    }

    #[test]
    fn a_message_is_in_the_clients_character_set() {
        let message = |id: u16| {
            let mut out = Vec::new();
            put_message("é Ω 😀", id, &mut out);
            out
        };
        assert_eq!(message(collation::LATIN1_SWEDISH_CI), b"\xe9 \\03A9 \\+01F600");
        assert_eq!(message(collation::UTF8MB4_BIN), "é Ω 😀".as_bytes());
    }

    #[test]
    fn end_of_rows_is_read_in_both_forms() {
        let mut out = Vec::new();
        put_eof(8, 3, &mut out);
        assert!(is_end_of_rows(&out));
        let end = decode_end_of_rows(&out, 0).unwrap();
        assert_eq!((end.status, end.warnings), (8, 3));
        let mut out = Vec::new();
        OkPacket { status: 2, ..OkPacket::default() }.encode(EOF_HEADER, 0, &mut out);
        assert_eq!(decode_end_of_rows(&out, capability::DEPRECATE_EOF).unwrap().status, 2);
    }
}
