use super::*;

fn round(text: &str) -> String {
    let document = parse_text(text.as_bytes()).unwrap_or_else(|e| panic!("{text}: {e:?}"));
    let mut out = Vec::new();
    write_text(&document, &mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn text_round_trips() {
    for text in [
        "null",
        "[true, false, null]",
        "{\"a\": 1, \"b\": [1, 2.5, \"x\"], \"cc\": {}}",
        "[-32768, 32768, -2147483649, 4294967296, 18446744073709551615, 1.0, 1e100]",
        "\"quote \\\" back \\\\ tab \\t \\u0001 é\"",
        "[]",
    ] {
        assert_eq!(round(text), text);
    }
    assert_eq!(round(" {\"b\":1,\"a\":2,\"b\":3} "), "{\"a\": 2, \"b\": 3}");
    assert_eq!(round("\"\\ud83d\\ude00\\/\""), "\"\u{1f600}/\"");
    let long = format!("[\"{}\", \"y\", 70000]", "x".repeat(70_000));
    assert_eq!(round(&long), long);
}

#[test]
fn known_bytes() {
    // The bytes are those that MySQL 8 logs for INSERT ... '{"a": 1}'.
    let document = parse_text(b"{\"a\": 1}").unwrap();
    assert_eq!(document, [0, 1, 0, 12, 0, 11, 0, 1, 0, 5, 1, 0, b'a']);
}

#[test]
fn complaints() {
    for (text, complaint, at) in [
        ("", "The document is empty.", 0),
        ("{", "Missing a name for object member.", 1),
        ("[1 2]", "Missing a comma or ']' after an array element.", 3),
        ("{\"a\" 1}", "Missing a colon after a name of object member.", 5),
        ("1 2", "The document root must not be followed by other values.", 2),
        ("nul", "Invalid value.", 3),
        ("\"abc", "Missing a closing quotation mark in string.", 4),
    ] {
        assert_eq!(parse_text(text.as_bytes()), Err(JsonError { complaint, at }), "{text}");
    }
    assert_eq!(parse_text("[".repeat(200).as_bytes()).unwrap_err().complaint, JsonError::TOO_DEEP);
}

#[test]
fn damaged_documents_do_not_panic() {
    let document = parse_text(b"{\"a\": [1, {\"b\": \"text\"}, 2.5], \"c\": 123456789012}").unwrap();
    let mut out = Vec::new();
    for cut in 0..document.len() {
        write_text(&document[..cut], &mut out);
    }
    for at in 0..document.len() {
        for byte in [0, 1, 0x7f, 0xff] {
            let mut damaged = document.clone();
            damaged[at] = byte;
            out.clear();
            write_text(&damaged, &mut out);
            assert!(!out.is_empty());
        }
    }
    // The container's only member is the container itself.
    out.clear();
    write_text(&[2, 1, 0, 7, 0, 2, 0, 0], &mut out);
    assert!(out.ends_with(b"null"));
}

/// Each element points to the same string, so that 40 kB of document would make 40 MB of text.
#[test]
fn values_that_share_their_bytes_make_no_longer_text() {
    const ELEMENTS: u16 = 10_000;
    let string = [&[0x84, 0x20][..], &[b'x'; 4 * 1024 + 4]].concat();
    let size = 4 + 3 * ELEMENTS + string.len() as u16;
    let mut document = vec![2];
    document.extend_from_slice(&ELEMENTS.to_le_bytes());
    document.extend_from_slice(&size.to_le_bytes());
    for _ in 0..ELEMENTS {
        document.push(12);
        document.extend_from_slice(&(4 + 3 * ELEMENTS).to_le_bytes());
    }
    document.extend_from_slice(&string);
    let mut text = Vec::new();
    write_text(&document, &mut text);
    assert!(text.ends_with(b"null"));
    assert!(text.len() <= most_text_bytes(&document), "{}", text.len());
    assert!(text.len() > 4 * 1024, "the first elements are there");
}

#[test]
fn a_text_is_no_longer_than_it_is_thought_to_be() {
    for text in [
        "[-32768, -32767, -30000]",
        "[-2147483648, -2000000000, -1999999999]",
        "[-9223372036854775808, -1.7976931348623157e308, 2.2250738585072014e-308]",
        "[false, false, null, {}, [], \"\"]",
        "{\"\": \"\", \"\\u0001\": \"\\u0001\\u0002\\\"\\\\\"}",
        "\"\\u0001\\u001f\"",
    ] {
        let long = format!("[{}]", vec![text; 30_000].join(", "));
        for text in [text, &long] {
            let document = parse_text(text.as_bytes()).unwrap();
            let mut shown = Vec::new();
            write_text(&document, &mut shown);
            assert!(shown.len() <= most_text_bytes(&document), "{} of {text:.80}", shown.len());
        }
    }
    // Bytes that have no text of their own, and a time, as MySQL stores them.
    for opaque in [&[252, 0][..], &[252, 1, 0xff], &[12, 8, 0, 0, 0, 0x80, 0xff, 0xff, 0xff, 0x7f]] {
        let document = [&[2, 1, 0, 7 + opaque.len() as u8, 0, 15, 7, 0], opaque].concat();
        let mut shown = Vec::new();
        write_text(&document, &mut shown);
        assert!(shown.len() <= most_text_bytes(&document), "{}", String::from_utf8_lossy(&shown));
    }
}
