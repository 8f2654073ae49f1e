//! Readers of a binary log that others wrote. Each prints the changed rows, and the tables that
//! result from them must be those of the server.
//!
//! A line is `+` or `-`, the table's full name, and the row's values in the order of the columns,
//! all separated by tabs. An update prints one line of each kind. NULL is `\N`. In text a
//! backslash, tab or line feed is escaped.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::every_type::{self, Kind, Shape};
use crate::server::Server;
use bench::instance::{USER, peers_dir};

/// Returns the directory where `scripts/peers.sh` puts a reader.
pub fn place(name: &str) -> PathBuf {
    peers_dir().join("readers").join(name)
}

/// The values of a row as text. NULLs at the end are left out, because a reader does not print
/// columns that were added later.
type Row = Vec<String>;

/// The tables as a reader's output describes them.
#[derive(Default)]
pub struct Followed(BTreeMap<String, Vec<Row>>);

impl Followed {
    /// Applies a line of the output. A line that removes a row that is not there shows an error of
    /// the reader or of the server.
    pub fn take(&mut self, line: &str) {
        let mut parts = line.split('\t').map(str::to_string);
        let (Some(sign), Some(table)) = (parts.next(), parts.next()) else { panic!("no row: {line}") };
        let rows = self.0.entry(table).or_default();
        let row = trimmed(parts.collect());
        match sign.as_str() {
            "+" => rows.push(row),
            "-" => {
                let at = rows.iter().position(|found| *found == row);
                rows.swap_remove(at.unwrap_or_else(|| panic!("a row went that was not there: {line:.300}")));
            }
            _ => panic!("neither + nor -: {line:.300}"),
        }
    }

    /// Checks that the tables hold the server's rows.
    pub fn is_what_the_server_has(&self, server: &Server) {
        for shape in every_type::shapes() {
            let expected = every_type::rows_of(server, &shape);
            assert!(expected.len() > 3, "{} has only {} rows", shape.name, expected.len());
            let mut found = self.0.get(&shape.name).cloned().unwrap_or_default();
            found.sort_by_key(|row| row[0].parse::<u64>().unwrap_or(u64::MAX));
            assert_eq!(found.len(), expected.len(), "rows of {}", shape.name);
            for (found, expected) in found.iter().zip(&expected) {
                is_the_same(&shape, found, expected);
            }
        }
    }
}

fn trimmed(mut row: Row) -> Row {
    while row.last().is_some_and(|value| value == "\\N") {
        row.pop();
    }
    row
}

fn is_the_same(shape: &Shape, found: &Row, expected: &Row) {
    let null = "\\N".to_string();
    for (at, (name, kind)) in shape.columns.iter().enumerate() {
        let (found, expected) = (found.get(at).unwrap_or(&null), &expected[at]);
        let same = match kind {
            Kind::Float(32) => found == expected || number(found) as f32 == number(expected) as f32,
            Kind::Float(_) => found == expected || number(found) == number(expected),
            Kind::Json => found.replace(' ', "") == expected.replace(' ', ""),
            _ => found == expected,
        };
        assert!(
            same,
            "{}.{name} of row {}: {found:.300} was read, {expected:.300} is there",
            shape.name, expected
        );
    }
}

fn number(text: &str) -> f64 {
    text.parse().unwrap_or_else(|_| panic!("{text:?} is no number"))
}

/// Runs a reader while rows of every type change on the server, and compares what it has printed
/// with the server's rows. The changes begin after the reader has printed the first rows, so that a
/// reader that takes a snapshot has finished it.
pub fn follow(server: &Server, reader: &mut Command) {
    every_type::create_and_fill(server);
    let mut child = reader
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{reader:?}: {error}"));
    let told = BufReader::new(child.stdout.take().expect("its output is piped")).lines();
    let mut followed = Followed::default();
    let mut rows = 0;
    for line in told {
        followed.take(&line.unwrap_or_else(|error| panic!("{reader:?}: {error}")));
        rows += 1;
        if rows == every_type::rows_at_first() {
            every_type::change(server);
        }
    }
    let output = child.wait_with_output().unwrap_or_else(|error| panic!("{reader:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{reader:?} ended with {}:\n{said}", output.status);
    followed.is_what_the_server_has(server);
}

/// Returns the arguments with which every reader reaches a server: port, user, password.
pub fn address(server: &Server) -> [String; 3] {
    [server.port().to_string(), USER.to_string(), USER.to_string()]
}
