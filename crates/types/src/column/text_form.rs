//! MariaDB's types whose values are a fixed number of bytes with a text of their own: UUID, INET4
//! and INET6. Rows hold the bytes, as in a BINARY(n). Everywhere else a value is the text.

use std::net::{Ipv4Addr, Ipv6Addr};

/// The kind of text that a column's values have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextForm {
    /// `UUID`
    Uuid,
    /// `INET4`
    Inet4,
    /// `INET6`
    Inet6,
}

/// The number of bytes of the longest value of these types.
const MOST_BYTES: usize = 16;
/// The number of hexadecimal digits in each of a UUID's five parts.
const UUID_PARTS: [usize; 5] = [8, 4, 4, 4, 12];
/// The byte of a UUID that tells its version. The byte `VARIANT_AT` tells its variant.
const VERSION_AT: usize = 6;
const VARIANT_AT: usize = 8;
/// The bit that is set for the variant of RFC 9562, and for all variants after it.
const VARIANT_BIT: u8 = 0x80;

impl TextForm {
    /// All text forms.
    pub const ALL: [TextForm; 3] = [TextForm::Uuid, TextForm::Inet4, TextForm::Inet6];

    /// Returns the type's name in SQL.
    pub fn sql_name(self) -> &'static str {
        match self {
            TextForm::Uuid => "uuid",
            TextForm::Inet4 => "inet4",
            TextForm::Inet6 => "inet6",
        }
    }

    /// Returns the number of bytes of a value.
    pub fn bytes(self) -> usize {
        match self {
            TextForm::Inet4 => 4,
            TextForm::Uuid | TextForm::Inet6 => 16,
        }
    }

    /// Returns the number of characters of the longest text.
    pub fn chars(self) -> u8 {
        match self {
            TextForm::Uuid => 36,
            TextForm::Inet4 => 15,
            TextForm::Inet6 => 39,
        }
    }

    /// Appends the text of a value. Zero bytes at the value's end may be missing, as they are in
    /// rows.
    pub fn write_text(self, stored: &[u8], out: &mut Vec<u8>) {
        let bytes = padded(stored);
        let text = match self {
            TextForm::Uuid => {
                let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                let mut rest = digits.as_str();
                let parts = UUID_PARTS.map(|len| {
                    let (part, behind) = rest.split_at(len);
                    rest = behind;
                    part
                });
                parts.join("-")
            }
            TextForm::Inet4 => Ipv4Addr::new(bytes[0], bytes[1], bytes[2], bytes[3]).to_string(),
            TextForm::Inet6 => inet6_text(bytes),
        };
        out.extend_from_slice(text.as_bytes());
    }

    /// Appends the bytes that a text stands for. Returns false, and appends nothing, for a text
    /// that is no value of the type.
    pub fn read_text(self, text: &[u8], out: &mut Vec<u8>) -> bool {
        let Ok(text) = std::str::from_utf8(text) else { return false };
        match self {
            TextForm::Uuid => match uuid_of(text) {
                Some(bytes) => out.extend_from_slice(&bytes),
                None => return false,
            },
            TextForm::Inet4 => match text.parse::<Ipv4Addr>() {
                Ok(address) => out.extend_from_slice(&address.octets()),
                Err(_) => return false,
            },
            TextForm::Inet6 => match text.parse::<Ipv6Addr>() {
                Ok(address) => out.extend_from_slice(&address.octets()),
                Err(_) => return false,
            },
        }
        true
    }

    /// Returns the text as the type itself writes it. `None` means that the text is no value of the
    /// type.
    pub fn canonical(self, text: &[u8]) -> Option<Vec<u8>> {
        let (mut bytes, mut out) = (Vec::with_capacity(MOST_BYTES), Vec::new());
        self.read_text(text, &mut bytes).then(|| self.write_text(&bytes, &mut out)).map(|()| out)
    }

    /// Appends bytes that order as the type's values do. MariaDB sorts a UUID of the versions 1 to
    /// 5 by its parts, the last one first, so that UUIDs of one machine are next to each other.
    pub fn write_order(self, stored: &[u8], out: &mut Vec<u8>) {
        let bytes = padded(stored);
        let is_turned = (1..0x60).contains(&bytes[VERSION_AT]) && bytes[VARIANT_AT] & VARIANT_BIT != 0;
        match self {
            TextForm::Uuid if is_turned => {
                for part in [10..16, 8..10, 6..8, 4..6, 0..4] {
                    out.extend_from_slice(&bytes[part]);
                }
            }
            _ => out.extend_from_slice(&bytes[..self.bytes()]),
        }
    }
}

/// Returns a value with the zero bytes that its row leaves out.
fn padded(stored: &[u8]) -> [u8; MOST_BYTES] {
    let mut bytes = [0; MOST_BYTES];
    let len = stored.len().min(MOST_BYTES);
    bytes[..len].copy_from_slice(&stored[..len]);
    bytes
}

/// Returns the bytes of a UUID's text. Hyphens may stand between any bytes. MariaDB has no UUID of
/// a version after 7 in another variant than that of RFC 9562.
fn uuid_of(text: &str) -> Option<[u8; 16]> {
    let mut bytes = [0; 16];
    let mut digits = text.bytes().peekable();
    for byte in &mut bytes {
        while digits.next_if_eq(&b'-').is_some() {}
        let pair = [digits.next()?, digits.next()?];
        let pair = std::str::from_utf8(&pair).ok().filter(|pair| !pair.contains(['+', '-']))?;
        *byte = u8::from_str_radix(pair, 16).ok()?;
    }
    let is_known = bytes[VERSION_AT] < 0x80 || bytes[VARIANT_AT] & VARIANT_BIT != 0;
    (digits.next().is_none() && is_known).then_some(bytes)
}

/// Returns the text of an IPv6 address as MariaDB writes it. The first of the longest runs of zeros
/// is left out, even a single zero. An IPv4 address after zeros alone, or after zeros and ffff, is
/// written with points.
fn inet6_text(bytes: [u8; 16]) -> String {
    let words: [u16; 8] = std::array::from_fn(|at| u16::from_be_bytes([bytes[2 * at], bytes[2 * at + 1]]));
    let (mut gap, mut gap_len) = (8, 0);
    let mut at = 0;
    while at < 8 {
        let len = words[at..].iter().take_while(|word| **word == 0).count();
        if len > gap_len {
            (gap, gap_len) = (at, len);
        }
        at += len.max(1);
    }
    let has_points = gap == 0 && (gap_len == 6 || (gap_len == 5 && words[5] == 0xffff));
    let mut text = String::new();
    let mut at = 0;
    while at < 8 {
        if at == gap {
            text.push_str(if at == 0 { "::" } else { ":" });
            at += gap_len;
        } else if at == 6 && has_points {
            text.push_str(&Ipv4Addr::new(bytes[12], bytes[13], bytes[14], bytes[15]).to_string());
            at = 8;
        } else {
            text.push_str(&format!("{:x}", words[at]));
            if at < 7 {
                text.push(':');
            }
            at += 1;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The texts are those of MariaDB 10.11.
    #[test]
    fn texts() {
        let cases = [
            (
                TextForm::Uuid,
                "123E4567e89b12d3a456426655440000",
                Some("123e4567-e89b-12d3-a456-426655440000"),
            ),
            (TextForm::Uuid, "123e4567-e89b-12d3-a456-42665544000", None),
            (TextForm::Uuid, "{123e4567-e89b-12d3-a456-426655440000}", None),
            (TextForm::Uuid, "01020304-0506-8008-090a-0b0c0d0e0f10", None),
            (TextForm::Inet4, "10.0.0.255", Some("10.0.0.255")),
            (TextForm::Inet4, "1.2.3", None),
            (TextForm::Inet6, "::", Some("::")),
            (TextForm::Inet6, "0:0::1", Some("::1")),
            (TextForm::Inet6, "::ffff:1.2.3.4", Some("::ffff:1.2.3.4")),
            (TextForm::Inet6, "::1.2.3.4", Some("::1.2.3.4")),
            (TextForm::Inet6, "::1:2", Some("::0.1.0.2")),
            (TextForm::Inet6, "1:0:0:2:0:0:0:3", Some("1:0:0:2::3")),
            (TextForm::Inet6, "1:2:3:4:5:6:7:0", Some("1:2:3:4:5:6:7::")),
            (TextForm::Inet6, "1:0:2:3:4:5:6:7", Some("1::2:3:4:5:6:7")),
            (TextForm::Inet6, "FE80::", Some("fe80::")),
            (TextForm::Inet6, "::ffff:0:1.2.3.4", Some("::ffff:0:102:304")),
            (TextForm::Inet6, "1:2:3:4:5:6:7", None),
        ];
        for (form, text, expected) in cases {
            let canonical = form.canonical(text.as_bytes());
            assert_eq!(canonical.as_deref(), expected.map(str::as_bytes), "{text}");
        }
    }

    #[test]
    fn uuids_are_in_the_order_of_their_last_parts() {
        let order = [
            "00000000-0000-0000-0000-000000000009",
            "f0000000-0000-1000-8000-000000000000",
            "00000000-0000-4000-8000-000000000001",
            "01020304-0506-7008-890a-000000000000",
            "00000001-e6e1-11f1-96ec-ff0000000001",
            "007bb29c-e6e1-11f1-96ec-ff0000000001",
            "ffffffff-0506-7008-890a-000000000000",
        ];
        let keys = order.map(|text| {
            let (mut bytes, mut key) = (Vec::new(), Vec::new());
            assert!(TextForm::Uuid.read_text(text.as_bytes(), &mut bytes));
            TextForm::Uuid.write_order(&bytes, &mut key);
            key
        });
        assert!(keys.is_sorted(), "{keys:x?}");
    }
}
