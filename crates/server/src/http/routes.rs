//! The paths, and what answers to each.

use super::answer::{Answer, Status};
use super::login::Login;
use super::metrics;
use super::page::history::History;
use super::page::login::Reader;
use super::page::{self, assets};
use super::ready::{Facts, Wanted};
use super::request::Request;
use crate::server::Server;
use parking_lot::Mutex;
use std::net::IpAddr;

/// Returns the answer to a client's request.
pub fn answer(
    server: &Server,
    login: &Login,
    history: &Mutex<History>,
    request: &Request,
    peer: IpAddr,
) -> Answer {
    if !matches!(request.method.as_str(), "GET" | "HEAD") {
        return Answer::line(Status::MethodNotAllowed, "the methods are GET and HEAD");
    }
    match request.path.as_str() {
        "/health" if server.is_stopping() => Answer::line(Status::Unavailable, "the server is stopping"),
        "/health" => Answer::line(Status::Ok, "the server serves"),
        "/ready" => ready(server, request),
        "/metrics" => login.refusal(request, peer).unwrap_or_else(|| Answer {
            media_type: "text/plain; version=0.0.4; charset=utf-8",
            ..Answer::of(Status::Ok, metrics::text(server))
        }),
        assets::PAGE => page::login::reader(server, request, peer).map_or_else(|no| no, |_| assets::page()),
        assets::DATA => match page::login::reader(server, request, peer) {
            Ok(reader) => page_data(server, history, request, &reader),
            Err(refusal) => refusal,
        },
        path => assets::find(path).unwrap_or_else(|| {
            Answer::line(Status::NotFound, "the paths are /, /health, /ready and /metrics")
        }),
    }
}

fn page_data(server: &Server, history: &Mutex<History>, request: &Request, reader: &Reader) -> Answer {
    match page::data::span(&request.parameters) {
        Err(what) => Answer::line(Status::BadRequest, what),
        Ok(span) => Answer {
            media_type: "application/json",
            ..Answer::of(Status::Ok, page::data::text(server, history, reader, span))
        },
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
