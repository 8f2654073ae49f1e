//! The files of the page. They have no data of the server in them.

use crate::http::answer::{Answer, Status};

/// The path of the page itself.
pub const PAGE: &str = "/";
/// The path of the answer from which the page draws.
pub const DATA: &str = "/page.json";

/// Returns the page.
pub fn page() -> Answer {
    of("text/html; charset=utf-8", include_str!("page.html"))
}

/// Returns the file of this path that anybody may have. `None` means that there is none.
pub fn find(path: &str) -> Option<Answer> {
    match path {
        "/page.css" => Some(of("text/css; charset=utf-8", include_str!("page.css"))),
        "/page.js" => Some(of("text/javascript; charset=utf-8", include_str!("page.js"))),
        _ => None,
    }
}

fn of(media_type: &'static str, text: &str) -> Answer {
    Answer { media_type, ..Answer::of(Status::Ok, text) }
}
