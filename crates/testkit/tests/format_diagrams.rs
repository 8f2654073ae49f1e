//! Tests that `docs/formats/diagrams.md`, which draws pages and records, has the offsets of the
//! code. The document is made here from the constants in the sources; the test fails when the file
//! is stale, and `SLIPSTREAM_WRITE_DOCS=1` writes it anew.

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace's directory")
}

/// Where a field begins: at a constant of a source file, or that many bytes into the record if the
/// code has no name for the offset.
enum At {
    Constant(&'static str),
    Bytes(usize),
    /// The field is behind one of any length, so its offset is not fixed.
    Behind,
}
use At::{Behind, Bytes, Constant};

struct Diagram {
    title: &'static str,
    text: &'static str,
    /// Paths below `crates/`. A constant is looked up in the first file, then in the later ones.
    sources: &'static [&'static str],
    fields: &'static [(At, &'static str)],
    /// The offset behind the last field, if it is fixed.
    end: Option<At>,
}

const DIAGRAMS: &[Diagram] = &[
    Diagram {
        title: "Every page of a tablespace",
        text: "The header of a page, and what follows by its type. See [page.md](page.md).",
        sources: &["buffer/src/page.rs"],
        fields: &[
            (Constant("CHECKSUM"), "CRC-32C"),
            (Constant("SPACE"), "space"),
            (Constant("NUMBER"), "page"),
            (Constant("TYPE"), "type"),
            (Constant("LEVEL"), "level"),
            (Bytes(14), "0"),
            (Constant("LSN"), "LSN"),
            (Constant("PAGE_HEADER_BYTES"), "content by type"),
        ],
        end: None,
    },
    Diagram {
        title: "Page 0 of a tablespace",
        text: "The space header, behind the header of every page.",
        sources: &["buffer/src/space.rs"],
        fields: &[
            (Constant("MAGIC_AT"), "SLIPSPC1"),
            (Constant("PAGE_SIZE_AT"), "page size"),
            (Constant("ALLOCATED_AT"), "handed out"),
            (Constant("FREE_HEAD_AT"), "first free"),
            (Constant("FREE_COUNT_AT"), "free pages"),
            (Constant("CLAIM_HEAD_AT"), "first claim"),
            (Bytes(52), "0"),
        ],
        end: None,
    },
    Diagram {
        title: "An index page",
        text: "A node of a B+tree. Slots grow upwards in key order, cells downwards in any order.",
        sources: &["buffer/src/slotted.rs", "buffer/src/page.rs"],
        fields: &[
            (Bytes(0), "page header"),
            (Constant("COUNT"), "entries"),
            (Constant("SKIP"), "skip"),
            (Constant("CELLS_START"), "lowest cell"),
            (Constant("GARBAGE"), "garbage"),
            (Constant("RUN"), "run"),
            (Constant("LAST_INSERT"), "last"),
            (Constant("SLOTS"), "slots"),
            (Behind, "free space"),
            (Behind, "cells"),
        ],
        end: None,
    },
    Diagram {
        title: "A clustered row record",
        text: "The value of a leaf entry of a clustered tree; its key is the primary key or the hidden row \
               id. A deleted row ends behind its sequence number. With flag 2 a count and that many \
               off-page columns stand before the row image ([row.md](row.md)): each is u16 column, u32 \
               length, u32 first page.",
        sources: &["engine/src/entry.rs"],
        fields: &[
            (Bytes(0), "flags"),
            (Bytes(1), "sequence number"),
            (Constant("HEADER_LEN"), "off-page columns"),
            (Behind, "row image"),
        ],
        end: None,
    },
    Diagram {
        title: "A secondary entry",
        text: "The value of a leaf entry of a secondary tree; its key is the index's columns, then the \
               clustered key. The last field says where the one ends and the other begins.",
        sources: &["engine/src/entry.rs"],
        fields: &[
            (Bytes(0), "flags"),
            (Bytes(1), "sequence number"),
            (Constant("HEADER_LEN"), "bytes of own columns"),
        ],
        end: Some(Constant("SECONDARY_LEN")),
    },
    Diagram {
        title: "A record of the redo log",
        text: "The frame, and the payload: a structure record, a commit record, or what a \
               rotation of the binary log says. See [redo.md](redo.md).",
        sources: &["redo/src/frame.rs"],
        fields: &[
            (Bytes(0), "payload length"),
            (Bytes(4), "kind"),
            (Bytes(5), "flags"),
            (Bytes(6), "durable before"),
            (Bytes(8), "low half of LSN"),
            (Bytes(12), "CRC-32C"),
            (Constant("FRAME_BYTES"), "payload"),
        ],
        end: None,
    },
    Diagram {
        title: "A commit record",
        text: "The payload of a record of kind 2. See [commit-record.md](commit-record.md).",
        sources: &["engine/src/commit/record.rs"],
        fields: &[
            (Bytes(0), "version"),
            (Bytes(1), "flags"),
            (Bytes(2), "server id"),
            (Constant("GTID_OFFSET"), "GTID"),
            (Bytes(30), "times, versions"),
            (Bytes(62), "MariaDB GTID"),
            (Bytes(78), "position bytes"),
            (Bytes(82), "group bytes"),
            (Constant("SIDECAR_LEN_OFFSET"), "sidecar bytes"),
            (Constant("HEADER_LEN"), "position"),
            (Behind, "tag"),
            (Behind, "event group"),
            (Behind, "sidecar"),
        ],
        end: None,
    },
    Diagram {
        title: "An event group as it is kept",
        text: "The events of a transaction in a commit record. There is no GTID event. A statement is one \
               table map for each table, then its row events; the last has `STMT_END`. A DDL statement is \
               one Query event alone.",
        sources: &[],
        fields: &[
            (Bytes(0), "Query BEGIN"),
            (Behind, "TABLE_MAP"),
            (Behind, "row events"),
            (Behind, "further statements"),
            (Behind, "Xid"),
        ],
        end: None,
    },
    Diagram {
        title: "An event of the group",
        text: "Events are in format v4, without a checksum behind the body; the size counts none, and the \
               log position is 0 until the binary log's writer completes the event.",
        sources: &["binlog/src/event/header.rs"],
        fields: &[
            (Bytes(0), "timestamp"),
            (Bytes(4), "type"),
            (Bytes(5), "server id"),
            (Constant("EVENT_SIZE_OFFSET"), "size"),
            (Constant("LOG_POS_OFFSET"), "log position"),
            (Constant("FLAGS_OFFSET"), "flags"),
            (Constant("HEADER_LEN"), "body"),
        ],
        end: None,
    },
];

/// Returns the value of `const NAME: usize = expression;`. The expression is a number, another
/// constant, or one of these plus or minus a number.
fn constant(sources: &[String], name: &str) -> usize {
    let marker = format!("const {name}: usize = ");
    let found = sources.iter().find_map(|source| source.split_once(&marker).map(|(_, rest)| rest));
    let rest = found.unwrap_or_else(|| panic!("no source has the constant {name}"));
    let expression = rest.split(';').next().unwrap_or_default().trim();
    let mut words = expression.split(' ');
    let first = words.next().unwrap_or_default();
    let value = first.parse().unwrap_or_else(|_| constant(sources, first));
    let rest: Vec<&str> = words.collect();
    match rest[..] {
        [] => value,
        ["+", number] => value + number.parse::<usize>().expect("a number"),
        ["-", number] => value - number.parse::<usize>().expect("a number"),
        _ => panic!("{name} is more than a sum: {expression}"),
    }
}

impl Diagram {
    fn offset(&self, at: &At, sources: &[String]) -> Option<usize> {
        match at {
            Constant(name) => Some(constant(sources, name)),
            Bytes(offset) => Some(*offset),
            Behind => None,
        }
    }

    /// Draws boxes in rows of at most 100 columns, with the offset above the left edge of each box.
    fn draw(&self) -> String {
        const WIDTH: usize = 98;
        let read = |path: &&str| {
            let path = root().join("crates").join(path);
            std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        };
        let sources: Vec<String> = self.sources.iter().map(read).collect();
        let offsets: Vec<Option<usize>> =
            self.fields.iter().map(|(at, _)| self.offset(at, &sources)).collect();
        let fixed: Vec<usize> = offsets.iter().flatten().copied().collect();
        assert!(fixed.is_sorted_by(|a, b| a < b), "{}: fields overlap: {fixed:?}", self.title);
        let end = self.end.as_ref().and_then(|at| self.offset(at, &sources));
        let mut rows: Vec<[String; 4]> = Vec::new();
        for ((_, name), offset) in self.fields.iter().zip(&offsets) {
            let inner = name.chars().count() + 2;
            if rows.last().is_none_or(|row| row[1].chars().count() + inner + 2 > WIDTH) {
                rows.push(Default::default());
            }
            let row = rows.last_mut().expect("one was pushed");
            let at = offset.map_or_else(String::new, |at| at.to_string());
            row[0] += &format!("{at:<width$}", width = inner + 1);
            row[1] += &format!("+{}", "-".repeat(inner));
            row[2] += &format!("| {name} ");
        }
        let mut out = String::new();
        let last = rows.len() - 1;
        for (number, [above, line, names, _]) in rows.into_iter().enumerate() {
            let end = end.filter(|_| number == last).map_or_else(String::new, |end| end.to_string());
            let above = format!("{above}{end}");
            out += &format!("{}\n{line}+\n{names}|\n{line}+\n", above.trim_end());
        }
        out
    }
}

fn page() -> String {
    let mut out = String::from(
        "# Diagrams of the formats\n\n\
         The number above the left edge of a field is its offset in bytes; a field without one begins\n\
         where the field before it ends. The test `format_diagrams` of `crates/testkit` makes this page\n\
         from the constants in the code and fails when it is stale (`SLIPSTREAM_WRITE_DOCS=1` writes it).\n",
    );
    for diagram in DIAGRAMS {
        out += &format!("\n## {}\n\n", diagram.title);
        let mut width = 0;
        for word in diagram.text.split_whitespace() {
            let chars = word.chars().count();
            if width > 0 && width + 1 + chars > 100 {
                out.push('\n');
                width = 0;
            }
            if width > 0 {
                out.push(' ');
                width += 1;
            }
            out.push_str(word);
            width += chars;
        }
        out += &format!("\n\n```\n{}```\n", diagram.draw());
    }
    out
}

#[test]
fn the_diagrams_have_the_offsets_of_the_code() {
    let path = root().join("docs/formats/diagrams.md");
    let wanted = page();
    if std::env::var_os("SLIPSTREAM_WRITE_DOCS").is_some() {
        os::disk::real().write_atomically(&path, wanted.as_bytes()).expect("the page is written");
    }
    let there = std::fs::read_to_string(&path).expect("docs/formats/diagrams.md");
    assert!(there == wanted, "docs/formats/diagrams.md is stale: SLIPSTREAM_WRITE_DOCS=1 writes it");
}
