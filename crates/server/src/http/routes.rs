//! The paths, and what answers to each.

use super::answer::{Answer, Status};
use super::login::Login;
use super::metrics;
use super::ready::{Facts, Wanted};
use super::request::Request;
use crate::server::Server;
use std::net::IpAddr;

/// Returns the answer to a client's request.
pub fn answer(server: &Server, login: &Login, request: &Request, peer: IpAddr) -> Answer {
    if !matches!(request.method.as_str(), "GET" | "HEAD") {
        return Answer::line(Status::MethodNotAllowed, "the methods are GET and HEAD");
    }
    match request.path.as_str() {
        "/health" if server.is_stopping() => Answer::line(Status::Unavailable, "the server is stopping"),
        "/health" => Answer::line(Status::Ok, "the server serves"),
        "/ready" => ready(server, request),
        "/metrics" => login.refusal(request, peer).unwrap_or_else(|| Answer {
            status: Status::Ok,
            media_type: "text/plain; version=0.0.4; charset=utf-8",
            body: metrics::text(server),
        }),
        _ => Answer::line(Status::NotFound, "the paths are /health, /ready and /metrics"),
    }
}

fn ready(server: &Server, request: &Request) -> Answer {
    match Wanted::of(&request.parameters) {
        Err(what) => Answer::line(Status::BadRequest, what),
        Ok(wanted) => match Facts::of(server).hindrance(wanted) {
            None => Answer::line(Status::Ok, "ready"),
            Some(why) => Answer::line(Status::Unavailable, why),
        },
    }
}
