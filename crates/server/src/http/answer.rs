//! The answer to an HTTP request, and its bytes.

/// The status of an answer, of which the server uses these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are HTTP's own")]
pub enum Status {
    Ok = 200,
    BadRequest = 400,
    Unauthorized = 401,
    Forbidden = 403,
    NotFound = 404,
    MethodNotAllowed = 405,
    RequestTimeout = 408,
    FieldsTooLarge = 431,
    Unavailable = 503,
}

impl Status {
    /// Returns HTTP's words for the status.
    fn words(self) -> &'static str {
        match self {
            Status::Ok => "OK",
            Status::BadRequest => "Bad Request",
            Status::Unauthorized => "Unauthorized",
            Status::Forbidden => "Forbidden",
            Status::NotFound => "Not Found",
            Status::MethodNotAllowed => "Method Not Allowed",
            Status::RequestTimeout => "Request Timeout",
            Status::FieldsTooLarge => "Request Header Fields Too Large",
            Status::Unavailable => "Service Unavailable",
        }
    }

    /// Returns the field that an answer of this status has to have, with its value.
    fn field(self, realm: Realm) -> String {
        match self {
            Status::Unauthorized => {
                format!("WWW-Authenticate: Basic realm=\"{}\", charset=\"UTF-8\"\r\n", realm.name())
            }
            Status::MethodNotAllowed => "Allow: GET, HEAD\r\n".to_owned(),
            _ => String::new(),
        }
    }
}

/// The paths for which one login counts. A browser does not send the login of one realm to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Realm {
    /// `/metrics`, with the login in `http_user` and `http_password_file`.
    Metrics,
    /// The web page, with the login of an account of the server.
    Page,
}

impl Realm {
    /// Returns the name that browsers show.
    fn name(self) -> &'static str {
        match self {
            Realm::Metrics => "metrics",
            Realm::Page => "Slipstream",
        }
    }
}

/// The fields that tell a browser to load nothing from elsewhere, to carry out no script and no
/// style that stands in the text of an answer, and to show the answer in no frame.
const FOR_BROWSERS: &str = "Content-Security-Policy: default-src 'self'; base-uri 'none'; form-action 'none'; \
                            frame-ancestors 'none'\r\nX-Content-Type-Options: nosniff\r\n\
                            Referrer-Policy: no-referrer\r\n";

/// The answer to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: Status,
    /// The media type of the body.
    pub media_type: &'static str,
    /// The realm whose login an answer of [`Status::Unauthorized`] asks for.
    pub realm: Realm,
    /// The body.
    pub body: String,
}

impl Answer {
    /// Builds an answer of plain text.
    pub fn of(status: Status, body: impl Into<String>) -> Answer {
        let media_type = "text/plain; charset=utf-8";
        Answer { status, media_type, realm: Realm::Metrics, body: body.into() }
    }

    /// Builds an answer with one line of text.
    pub fn line(status: Status, line: impl Into<String>) -> Answer {
        Answer::of(status, line.into() + "\n")
    }

    /// Returns the bytes of the answer, after which the connection is closed. `with_body` is false
    /// for the answer to HEAD.
    pub fn bytes(&self, with_body: bool) -> Vec<u8> {
        let Answer { status, media_type, realm, body } = self;
        let mut out = format!(
            "HTTP/1.1 {} {}\r\nContent-Type: {media_type}\r\nContent-Length: {}\r\n\
             Cache-Control: no-store\r\n{FOR_BROWSERS}{}Connection: close\r\n\r\n",
            *status as u16,
            status.words(),
            body.len(),
            status.field(*realm)
        );
        if with_body {
            out.push_str(body);
        }
        out.into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_tells_the_length_of_the_body() {
        let answer = Answer::line(Status::Unavailable, "no");
        let text = String::from_utf8(answer.bytes(true)).unwrap();
        assert!(text.starts_with("HTTP/1.1 503 Service Unavailable\r\n"), "{text}");
        assert!(text.contains("\r\nContent-Length: 3\r\n") && text.ends_with("\r\n\r\nno\n"), "{text}");
        let head = String::from_utf8(answer.bytes(false)).unwrap();
        assert_eq!(format!("{head}no\n"), text);
        let asks = Answer::line(Status::Unauthorized, "").bytes(true);
        assert!(String::from_utf8(asks).unwrap().contains("\r\nWWW-Authenticate: Basic "));
    }
}
