//! A certificate's subject and issuer, in the form that OpenSSL writes names in on one line and
//! that `REQUIRE SUBJECT` takes: `/C=SE/O=MySQL/CN=client`; and the time for which it is valid.
//!
//! A certificate is DER (X.690). In its signed part the serial number and other values are skipped
//! (RFC 5280, 4.1), and the two names are read. The TLS library has checked the certificate before.

/// The facts about the certificate that a client has shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientCertificate {
    /// The certificate's subject.
    pub subject: String,
    /// The name of the authority that signed the certificate.
    pub issuer: String,
}

const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const OBJECT_IDENTIFIER: u8 = 6;
const VERSION: u8 = 0xa0;
const BMP_STRING: u8 = 0x1e;
const UNIVERSAL_STRING: u8 = 0x1c;

/// The attributes with a short name (OpenSSL's), by their identifiers in DER.
const SHORT_NAMES: &[(&[u8], &str)] = &[
    (&[0x55, 4, 3], "CN"),
    (&[0x55, 4, 4], "SN"),
    (&[0x55, 4, 5], "serialNumber"),
    (&[0x55, 4, 6], "C"),
    (&[0x55, 4, 7], "L"),
    (&[0x55, 4, 8], "ST"),
    (&[0x55, 4, 9], "street"),
    (&[0x55, 4, 10], "O"),
    (&[0x55, 4, 11], "OU"),
    (&[0x55, 4, 12], "title"),
    (&[0x55, 4, 13], "description"),
    (&[0x55, 4, 17], "postalCode"),
    (&[0x55, 4, 41], "name"),
    (&[0x55, 4, 42], "GN"),
    (&[0x55, 4, 43], "initials"),
    (&[0x55, 4, 44], "generationQualifier"),
    (&[0x55, 4, 46], "dnQualifier"),
    (&[0x55, 4, 65], "pseudonym"),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 1], "emailAddress"),
    (&[0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 1, 1], "UID"),
    (&[0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 1, 25], "DC"),
];

/// Returns the signed part of a certificate from the issuer on: the validity and the subject
/// follow.
fn from_issuer(der: &[u8]) -> Option<Der<'_>> {
    let mut whole = Der(der);
    let mut certificate = Der(whole.value(SEQUENCE)?);
    let mut signed = Der(certificate.value(SEQUENCE)?);
    if signed.0.first() == Some(&VERSION) {
        signed.next()?;
    }
    // Serial number and algorithm come before the issuer.
    signed.next()?;
    signed.next()?;
    Some(signed)
}

/// Returns the first and the last moment at which a certificate is valid, as OpenSSL writes them:
/// `Nov 30 02:23:39 2026 GMT`. `None` when the bytes are not a certificate.
pub(super) fn validity(der: &[u8]) -> Option<[String; 2]> {
    let mut signed = from_issuer(der)?;
    signed.value(SEQUENCE)?;
    let mut validity = Der(signed.value(SEQUENCE)?);
    let mut moment = || validity.next().and_then(|(kind, digits)| moment(kind, digits));
    Some([moment()?, moment()?])
}

/// Reads a UTCTime, whose year has two digits, or a GeneralizedTime, both of which end with
/// seconds and Z (RFC 5280, 4.1.2.5).
fn moment(kind: u8, text: &[u8]) -> Option<String> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let digits = text.strip_suffix(b"Z").filter(|digits| digits.iter().all(u8::is_ascii_digit))?;
    let number =
        |digits: &[u8]| digits.iter().fold(0, |number, digit| number * 10 + usize::from(digit - b'0'));
    let (year, rest) = match (kind, digits.len()) {
        (UTC_TIME, 12) => (number(&digits[..2]) + if digits[0] < b'5' { 2000 } else { 1900 }, &digits[2..]),
        (GENERALIZED_TIME, 14) => (number(&digits[..4]), &digits[4..]),
        _ => return None,
    };
    let [month, day, hour, minute, second] = [0, 2, 4, 6, 8].map(|at| number(&rest[at..at + 2]));
    let month = MONTHS.get(month.checked_sub(1)?)?;
    Some(format!("{month} {day:>2} {hour:02}:{minute:02}:{second:02} {year} GMT"))
}

impl ClientCertificate {
    /// Reads a certificate. `None` when the bytes are not a certificate.
    pub(crate) fn of(der: &[u8]) -> Option<ClientCertificate> {
        let mut signed = from_issuer(der)?;
        let issuer = on_one_line(signed.value(SEQUENCE)?)?;
        signed.next()?;
        let subject = on_one_line(signed.value(SEQUENCE)?)?;
        Some(ClientCertificate { subject, issuer })
    }
}

/// The unread rest of a series of values.
struct Der<'a>(&'a [u8]);

impl<'a> Der<'a> {
    /// Takes the next value, and returns it with its tag.
    fn next(&mut self) -> Option<(u8, &'a [u8])> {
        let (&tag, rest) = self.0.split_first()?;
        let (&first, mut rest) = rest.split_first()?;
        let len = match first {
            0..0x80 => usize::from(first),
            _ => {
                let (bytes, behind) = rest.split_at_checked(usize::from(first & 0x7f))?;
                rest = behind;
                if bytes.len() > 4 {
                    return None;
                }
                bytes.iter().fold(0, |len, byte| len << 8 | usize::from(*byte))
            }
        };
        let (value, rest) = rest.split_at_checked(len)?;
        self.0 = rest;
        Some((tag, value))
    }

    /// Takes the next value, which must have this tag.
    fn value(&mut self, tag: u8) -> Option<&'a [u8]> {
        self.next().filter(|(found, _)| *found == tag).map(|(_, value)| value)
    }
}

fn on_one_line(name: &[u8]) -> Option<String> {
    let mut out = String::new();
    let mut parts = Der(name);
    while !parts.0.is_empty() {
        let mut attributes = Der(parts.value(SET)?);
        while !attributes.0.is_empty() {
            let mut attribute = Der(attributes.value(SEQUENCE)?);
            let identifier = attribute.value(OBJECT_IDENTIFIER)?;
            let (kind, text) = attribute.next()?;
            out.push('/');
            match SHORT_NAMES.iter().find(|(known, _)| *known == identifier) {
                Some((_, name)) => out.push_str(name),
                None => out.push_str(&dotted(identifier)?),
            }
            out.push('=');
            put_text(kind, text, &mut out);
        }
    }
    Some(out)
}

/// Appends the text of a value. Bytes that are not printable ASCII are written in the form `\xC3`.
/// The leading zeros of wide characters are left out.
fn put_text(kind: u8, text: &[u8], out: &mut String) {
    let is_wide = matches!(kind, BMP_STRING | UNIVERSAL_STRING);
    for &byte in text.iter().filter(|byte| !is_wide || **byte != 0) {
        match byte {
            b' '..=b'~' => out.push(byte as char),
            _ => out.push_str(&format!("\\x{byte:02X}")),
        }
    }
}

fn dotted(identifier: &[u8]) -> Option<String> {
    let mut arcs: Vec<u64> = Vec::new();
    let mut arc = 0u64;
    for byte in identifier {
        arc = arc.checked_mul(128)? | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            arcs.push(arc);
            arc = 0;
        }
    }
    let first = *arcs.first()?;
    let top = (first / 40).min(2);
    arcs[0] = first - top * 40;
    let mut text = top.to_string();
    arcs.iter().for_each(|arc| text.push_str(&format!(".{arc}")));
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_openssl_writes_them() {
        let of = |kind, text: &str| moment(kind, text.as_bytes());
        assert_eq!(of(UTC_TIME, "261103022339Z").as_deref(), Some("Nov  3 02:23:39 2026 GMT"));
        assert_eq!(of(UTC_TIME, "991231235959Z").as_deref(), Some("Dec 31 23:59:59 1999 GMT"));
        assert_eq!(of(GENERALIZED_TIME, "40960101000000Z").as_deref(), Some("Jan  1 00:00:00 4096 GMT"));
        for (kind, text) in [
            (UTC_TIME, "261103022339"),
            (UTC_TIME, "20261103022339Z"),
            (GENERALIZED_TIME, "20261303022339Z"),
            (GENERALIZED_TIME, "20260003022339Z"),
            (UTC_TIME, "2611030223x9Z"),
            (SET, "261103022339Z"),
            (UTC_TIME, ""),
        ] {
            assert_eq!(of(kind, text), None, "{text}");
        }
    }

    fn value(tag: u8, parts: &[Vec<u8>]) -> Vec<u8> {
        let body = parts.concat();
        let mut out = vec![tag];
        match body.len() {
            len @ 0..0x80 => out.push(len as u8),
            len => out.extend([0x82, (len >> 8) as u8, len as u8]),
        }
        out.extend(body);
        out
    }

    fn attribute(identifier: &[u8], kind: u8, text: &[u8]) -> Vec<u8> {
        let identifier = value(OBJECT_IDENTIFIER, &[identifier.to_vec()]);
        value(SEQUENCE, &[identifier, value(kind, &[text.to_vec()])])
    }

    fn certificate() -> Vec<u8> {
        let one = |a: Vec<u8>| value(SET, &[a]);
        let issuer = value(
            SEQUENCE,
            &[
                one(attribute(&[0x55, 4, 6], 0x13, b"SE")),
                one(attribute(&[0x55, 4, 3], 0x0c, "é".as_bytes())),
            ],
        );
        let subject = value(
            SEQUENCE,
            &[
                value(
                    SET,
                    &[attribute(&[0x55, 4, 10], 0x13, b"O/x"), attribute(&[0x55, 4, 11], 0x1e, b"\0U")],
                ),
                one(attribute(&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 1], 0x16, &[b'e'; 200])),
                one(attribute(&[0x2a, 0x03, 0x81, 0x00], 0x13, b"v")),
            ],
        );
        let number = value(2, &[vec![7]]);
        let signed = value(
            SEQUENCE,
            &[
                value(VERSION, std::slice::from_ref(&number)),
                number,
                value(SEQUENCE, &[]),
                issuer,
                value(SEQUENCE, &[]),
                subject,
            ],
        );
        value(SEQUENCE, &[signed, value(SEQUENCE, &[])])
    }

    #[test]
    fn names_are_written_as_openssl_writes_them() {
        let read = ClientCertificate::of(&certificate()).unwrap();
        assert_eq!(read.issuer, "/C=SE/CN=\\xC3\\xA9");
        assert_eq!(read.subject, format!("/O=O/x/OU=U/emailAddress={}/1.2.3.128=v", "e".repeat(200)));
    }

    #[test]
    fn damaged_certificates_do_not_panic() {
        let whole = certificate();
        for at in 0..whole.len() {
            let _cut = ClientCertificate::of(&whole[..at]);
            for byte in [0, 0x80, 0x84, 0xff] {
                let mut damaged = whole.clone();
                damaged[at] = byte;
                let _damaged = ClientCertificate::of(&damaged);
            }
        }
    }
}
