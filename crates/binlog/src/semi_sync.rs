//! The additions of semi-synchronous replication to a dump: a header before each event, and the
//! replica's acknowledgement (MySQL's `plugin/semisync`; MariaDB's is the same).

/// The first byte of the header and of the acknowledgement.
const MAGIC: u8 = 0xEF;
const WANTS_ACK: u8 = 1;

/// Returns the header of an event, which says whether the source wants the event acknowledged.
pub fn header(wants_ack: bool) -> [u8; 2] {
    [MAGIC, if wants_ack { WANTS_ACK } else { 0 }]
}

/// Returns the event after its header, and whether it is to be acknowledged. `None` means that
/// there is no header.
pub fn strip(packet: &[u8]) -> Option<(&[u8], bool)> {
    match packet {
        [MAGIC, flags, event @ ..] => Some((event, flags & WANTS_ACK != 0)),
        _ => None,
    }
}

/// A replica's report of what it has received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Acknowledgement {
    /// The name of the source's binary log file.
    pub file: String,
    /// The end of the event in that file.
    pub pos: u64,
}

impl Acknowledgement {
    /// Returns the packet: magic byte, position, file.
    pub fn encode(&self) -> Vec<u8> {
        [&[MAGIC][..], &self.pos.to_le_bytes(), self.file.as_bytes()].concat()
    }

    /// Reads the packet. `None` means that it is something else.
    pub fn decode(packet: &[u8]) -> Option<Acknowledgement> {
        let (pos, file) = packet.strip_prefix(&[MAGIC])?.split_first_chunk::<8>()?;
        let file = file.split(|byte| *byte == 0).next().unwrap_or_default();
        Some(Acknowledgement {
            file: String::from_utf8_lossy(file).into_owned(),
            pos: u64::from_le_bytes(*pos),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_and_acknowledgements() {
        assert_eq!(strip(&[0xEF, 1, 7, 8]), Some((&[7, 8][..], true)));
        assert_eq!(strip(&[0xEF, 0]), Some((&[][..], false)));
        assert_eq!(strip(&[0xEE, 0, 1]), None);
        let ack = Acknowledgement { file: "binlog.000002".into(), pos: 260 };
        let packet = ack.encode();
        assert_eq!(packet[..9], [0xEF, 4, 1, 0, 0, 0, 0, 0, 0]);
        assert_eq!(Acknowledgement::decode(&packet), Some(ack));
        for cut in 0..9 {
            assert_eq!(Acknowledgement::decode(&packet[..cut]), None);
        }
    }
}
