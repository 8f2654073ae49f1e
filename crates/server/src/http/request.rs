//! The head of an HTTP request, from the bytes of a client.

/// The largest head of a request, in bytes.
pub const MOST_HEAD_BYTES: usize = 8 << 10;
/// The largest number of header fields of a request.
const MOST_FIELDS: usize = 64;

/// A request without its body, which no path here has a use for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The method, such as `GET`.
    pub method: String,
    /// The path, without the query behind it.
    pub path: String,
    /// The parameters of the query in their order, as they are written.
    pub parameters: Vec<(String, String)>,
    /// The value of the field `Authorization`.
    pub authorization: Option<String>,
}

/// The reason why bytes are no request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Malformed {
    /// The bytes are not HTTP/1.
    Syntax,
    /// The head is longer, or has more fields, than is read here.
    TooLong,
}

/// Parses the head of a request. `None` means that the head has not ended yet.
///
/// # Errors
/// Returns [`Malformed::Syntax`] for bytes with which no request begins, and [`Malformed::TooLong`]
/// when the head has more than [`MOST_HEAD_BYTES`] bytes or too many fields.
pub fn parse(bytes: &[u8]) -> Result<Option<Request>, Malformed> {
    let mut fields = [httparse::EMPTY_HEADER; MOST_FIELDS];
    let mut head = httparse::Request::new(&mut fields);
    match head.parse(&bytes[..bytes.len().min(MOST_HEAD_BYTES)]) {
        Ok(httparse::Status::Complete(_)) => {}
        Ok(httparse::Status::Partial) if bytes.len() < MOST_HEAD_BYTES => return Ok(None),
        Ok(httparse::Status::Partial) | Err(httparse::Error::TooManyHeaders) => {
            return Err(Malformed::TooLong);
        }
        Err(_) => return Err(Malformed::Syntax),
    }
    let target = path_of(head.path.unwrap_or_default());
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let pair = |text: &str| {
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        (name.to_owned(), value.to_owned())
    };
    let authorization = head.headers.iter().find(|field| field.name.eq_ignore_ascii_case("authorization"));
    Ok(Some(Request {
        method: head.method.unwrap_or_default().to_owned(),
        path: path.to_owned(),
        parameters: query.split('&').filter(|text| !text.is_empty()).map(pair).collect(),
        authorization: authorization.map(|field| String::from_utf8_lossy(field.value).trim().to_owned()),
    }))
}

/// Returns the path of a request's target, which proxies write with scheme and host in front.
fn path_of(target: &str) -> &str {
    match target.strip_prefix("http://") {
        Some(rest) => rest.find('/').map_or("/", |at| &rest[at..]),
        None => target,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Request {
        parse(text.as_bytes()).unwrap().unwrap()
    }

    #[test]
    fn a_request_is_read_whole_and_in_pieces() {
        let text = "GET /ready?max_lag_ms=5&role=source HTTP/1.1\r\nHost: a\r\nAUTHORIZATION: Basic YTpi\r\n\r\nrest";
        let request = parsed(text);
        assert_eq!((request.method.as_str(), request.path.as_str()), ("GET", "/ready"));
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(request.parameters, [pair("max_lag_ms", "5"), pair("role", "source")]);
        assert_eq!(request.authorization.as_deref(), Some("Basic YTpi"));
        for end in 0..text.len() - "rest".len() {
            assert_eq!(parse(&text.as_bytes()[..end]), Ok(None), "{end} bytes");
        }
    }

    #[test]
    fn targets_have_several_forms() {
        assert_eq!(parsed("HEAD http://host:9104/health HTTP/1.0\r\n\r\n").path, "/health");
        assert_eq!(parsed("GET http://host HTTP/1.1\n\n").path, "/");
        assert_eq!(parsed("GET /a?&b HTTP/1.1\r\n\r\n").parameters, [("b".to_owned(), String::new())]);
    }

    #[test]
    fn what_is_no_request_or_too_long_is_refused() {
        assert_eq!(parse(b"\x16\x03\x01\x02\x00"), Err(Malformed::Syntax));
        assert_eq!(parse(b"GET /\0 HTTP/1.1\r\n\r\n"), Err(Malformed::Syntax));
        assert_eq!(parse(b"GET / HTTP/2.0\r\n\r\n"), Err(Malformed::Syntax));
        let long = format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(MOST_HEAD_BYTES));
        assert_eq!(parse(long.as_bytes()), Err(Malformed::TooLong));
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(MOST_FIELDS + 1));
        assert_eq!(parse(many.as_bytes()), Err(Malformed::TooLong));
    }

    #[test]
    fn random_bytes_are_parsed_to_their_end() {
        let mut random = os::random::Rng::new(62);
        let words: [&[u8]; 8] =
            [b"GET ", b"/ready", b"?", b" HTTP/1.1", b"\r\n", b"Authorization: ", b"\n", b"&="];
        for _ in 0..20_000 {
            let mut bytes = Vec::new();
            for _ in 0..random.below(12) {
                match random.below(3) {
                    0 => bytes.push(random.below(256) as u8),
                    _ => bytes.extend_from_slice(words[random.below(8) as usize]),
                }
            }
            // The outcome does not matter here: the parser has to come to an end without a panic.
            if let Ok(Some(request)) = parse(&bytes) {
                assert!(!request.method.is_empty());
            }
        }
    }
}
