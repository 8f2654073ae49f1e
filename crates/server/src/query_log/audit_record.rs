//! The lines of the audit log. The objects have the names that MySQL's own audit log gives them in
//! its JSON format, one object a line.

use crate::process::error_log::timestamp;
use serde_json::Value;
use sql::Digest;
use std::fmt::Write as _;
use std::net::IpAddr;

/// A statement that has ended.
#[derive(Default)]
pub(super) struct Statement<'e> {
    pub command: &'e str,
    pub class: &'e str,
    pub schema: Option<&'e str>,
    /// The text without passwords; empty where it is not written.
    pub text: &'e str,
    /// The digest, where it is written in place of the text.
    pub digest: Option<&'e Digest>,
    /// The number of the error; 0 means that there was none.
    pub status: u16,
    pub took_us: u64,
    pub rows_sent: u64,
    pub rows_examined: u64,
    pub rows_affected: u64,
}

/// What has happened.
pub(super) enum Event<'e> {
    /// A client has connected, changed its account or gone, or was refused with an error.
    Connection { event: &'static str, status: u16 },
    /// A command that is no statement.
    Command { command: &'e str, class: &'e str, text: Option<&'e str> },
    /// A statement.
    Statement(Statement<'e>),
}

/// The facts that every line has.
pub(super) struct Record<'e> {
    pub at_us: u64,
    pub id: u64,
    pub connection_id: u32,
    /// User and host of the account; for a client that was refused, those that it came with.
    pub account: (&'e str, &'e str),
    /// The name that the client gave.
    pub login_user: &'e str,
    /// The client's address. `None` means the Unix socket.
    pub ip: Option<IpAddr>,
    pub is_encrypted: bool,
    /// Whether the client asks for the web page, and has no connection of MySQL's protocol.
    pub is_page: bool,
    pub schema: Option<&'e str>,
    /// What the client said of itself.
    pub attributes: &'e [(String, String)],
}

/// A text in JSON, with its quotes. No character of it ends the line.
fn text(text: &str) -> String {
    Value::from(text).to_string()
}

impl Record<'_> {
    /// Returns the line, with a newline at its end.
    pub fn line(&self, event: &Event<'_>) -> String {
        let (class, name) = match event {
            Event::Connection { event, .. } => ("connection", *event),
            Event::Command { .. } | Event::Statement(_) => ("general", "status"),
        };
        let mut out = format!(
            "{{\"timestamp\":\"{}\",\"id\":{},\"class\":\"{class}\",\"event\":\"{name}\",\"connection_id\":{},\
             \"account\":{{\"user\":{},\"host\":{}}},\"login\":{{\"user\":{},\"os\":\"\",\"ip\":\"{}\",\"proxy\":\"\"}},",
            timestamp(self.at_us),
            self.id,
            self.connection_id,
            text(self.account.0),
            text(self.account.1),
            text(self.login_user),
            self.ip.map(|ip| ip.to_string()).unwrap_or_default(),
        );
        match event {
            Event::Connection { status, .. } => self.put_connection(*status, &mut out),
            Event::Command { command, class, text: argument } => {
                put_general(command, class, 0, argument.map(|argument| ("query", text(argument))), &mut out);
            }
            Event::Statement(statement) => put_statement(statement, &mut out),
        }
        out.push_str("}\n");
        out
    }

    fn put_connection(&self, status: u16, out: &mut String) {
        let kind = match (self.is_encrypted, self.ip) {
            _ if self.is_page => "http",
            (true, _) => "ssl",
            (false, Some(_)) => "tcp/ip",
            (false, None) => "socket",
        };
        let attributes: serde_json::Map<String, Value> =
            self.attributes.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect();
        put(
            out,
            format_args!(
                "\"connection_data\":{{\"connection_type\":\"{kind}\",\"status\":{status},\"db\":{},\
                 \"connection_attributes\":{}}}",
                text(self.schema.unwrap_or_default()),
                Value::Object(attributes)
            ),
        );
    }
}

fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing into a string does not fail.
    let _ = out.write_fmt(text);
}

fn put_general(command: &str, class: &str, status: u16, more: Option<(&str, String)>, out: &mut String) {
    put(out, format_args!("\"general_data\":{{\"command\":\"{command}\",\"sql_command\":\"{class}\""));
    if let Some((name, value)) = more {
        put(out, format_args!(",\"{name}\":{value}"));
    }
    put(out, format_args!(",\"status\":{status}}}"));
}

fn put_statement(statement: &Statement<'_>, out: &mut String) {
    let more = match statement.digest {
        Some(digest) => Some(("query_digest", text(&digest.text))),
        None if statement.text.is_empty() => None,
        None => Some(("query", text(statement.text))),
    };
    put_general(statement.command, statement.class, statement.status, more, out);
    if let Some(digest) = statement.digest {
        put(out, format_args!(",\"digest\":\"{}\"", digest.hash()));
    }
    if let Some(schema) = statement.schema {
        put(out, format_args!(",\"db\":{}", text(schema)));
    }
    put(
        out,
        format_args!(
            ",\"query_statistics\":{{\"query_time\":{}.{:06},\"rows_sent\":{},\"rows_examined\":{},\"rows_affected\":{}}}",
            statement.took_us / 1_000_000,
            statement.took_us % 1_000_000,
            statement.rows_sent,
            statement.rows_examined,
            statement.rows_affected,
        ),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(event: &Event<'_>) -> String {
        let attributes = [("_client \"name\"".to_owned(), "x\ny".to_owned())];
        let record = Record {
            at_us: 1_000_001,
            id: 3,
            connection_id: 7,
            account: ("a\"b", "%"),
            login_user: "a\"b",
            ip: Some([127, 0, 0, 1].into()),
            is_encrypted: false,
            is_page: false,
            schema: Some("d"),
            attributes: &attributes,
        };
        record.line(event)
    }

    #[test]
    fn every_line_is_one_object_whatever_the_texts_are() {
        let hostile = "SELECT '\"\n\r\u{2028}\\', '\u{0}é'";
        let digest = Digest { text: hostile.to_owned() };
        let of_statement = |text, digest| {
            line(&Event::Statement(Statement {
                text,
                digest,
                command: "Query",
                class: "select",
                ..Statement::default()
            }))
        };
        let lines = [
            line(&Event::Connection { event: "connect", status: 1045 }),
            line(&Event::Command { command: "Init DB", class: "init_db", text: Some(hostile) }),
            of_statement(hostile, None),
            of_statement("", Some(&digest)),
        ];
        for line in &lines {
            assert_eq!(line.matches('\n').count(), 1, "{line:?}");
            let object: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
            assert_eq!((&object["id"], &object["account"]["user"]), (&3.into(), &"a\"b".into()));
        }
        let read = |at: usize| serde_json::from_str::<Value>(&lines[at]).unwrap();
        assert_eq!(read(0)["connection_data"]["status"], 1045);
        assert_eq!(read(0)["connection_data"]["connection_attributes"]["_client \"name\""], "x\ny");
        assert_eq!([&read(1)["general_data"]["query"], &read(2)["general_data"]["query"]], [hostile; 2]);
        assert_eq!(read(3)["general_data"]["query_digest"], hostile);
        assert_eq!(read(3)["general_data"]["query"], Value::Null);
    }

    #[test]
    fn a_statement_has_its_figures() {
        let statement = Statement {
            command: "Execute",
            class: "insert",
            text: "INSERT INTO t VALUES (1)",
            status: 1062,
            took_us: 1_500_000,
            rows_affected: 2,
            ..Statement::default()
        };
        let line = line(&Event::Statement(statement));
        let end = "\"general_data\":{\"command\":\"Execute\",\"sql_command\":\"insert\",\
                   \"query\":\"INSERT INTO t VALUES (1)\",\"status\":1062},\
                   \"query_statistics\":{\"query_time\":1.500000,\"rows_sent\":0,\"rows_examined\":0,\"rows_affected\":2}}\n";
        assert!(
            line.starts_with("{\"timestamp\":\"1970-01-01T00:00:01.000001Z\",\"id\":3,")
                && line.ends_with(end),
            "{line}"
        );
    }
}
