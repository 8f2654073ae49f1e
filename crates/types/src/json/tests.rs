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
    // INSERT ... '{"a": 1}' as MySQL 8 logs it.
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
    // A container whose member is the container itself.
    out.clear();
    write_text(&[2, 1, 0, 7, 0, 2, 0, 0], &mut out);
    assert!(out.ends_with(b"null"));
}
