//! `slipstream analyze`: the contents of a binary log, and how fast each policy of parallel apply
//! could be with it.
//!
//! In: the events of binary or relay log files, or of a source over the wire ([`input`]). Out:
//! sizes, rows by table, hot rows, tables without keys and large transactions, and for each policy
//! the speed-up with 1 to 64 workers and what it waits for, as text or JSON ([`report()`]).
//!
//! ```text
//! events -> recorder (groups, row keys, who changed the row before) -> history
//!        -> schedules (simulation, critical path) -> report
//! ```
//!
//! Invariants:
//! - A log is read once from its beginning to its end. Files are read a second time, beforehand, to
//!   learn what identifies the rows.
//! - Memory grows with transactions, row changes and different rows, but not with the bytes of the
//!   log.
//! - No bytes of a log cause a panic.

mod command_line;
pub mod error;
pub mod facts;
pub mod history;
pub mod input;
pub mod keys;
pub mod recorder;
pub mod report;
pub mod schedule;

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;

use binlog::Checksum;
use binlog::event::{Event, Format, event_type, rows_kind};

pub use command_line::command;
use command_line::{Request, What};
use error::AnalyzeError;
use history::History;
use input::{FileEvents, Live};
use keys::KnownKeys;
use recorder::Recorder;
pub use report::report;

const EXIT_OK: u8 = 0;
const EXIT_FAILED: u8 = 1;
const EXIT_USAGE: u8 = 2;

/// Runs `slipstream analyze` with the words that follow it, and returns the process's exit code.
pub fn main(words: impl IntoIterator<Item = OsString>) -> u8 {
    let request = match command_line::parse(words) {
        Ok(request) => request,
        Err(error) => {
            // Help goes to standard output and is no failure. Where the terminal is gone, the
            // message is lost.
            let _ = error.print();
            return if error.use_stderr() { EXIT_USAGE } else { EXIT_OK };
        }
    };
    match read(&request) {
        Ok(history) => {
            let report = report(history, request.model);
            if request.json {
                println!("{:#}", report::json(&report));
            } else {
                print!("{}", report::text(&report));
            }
            EXIT_OK
        }
        Err(error) => {
            eprintln!("slipstream analyze: {error}");
            EXIT_FAILED
        }
    }
}

fn read(request: &Request) -> Result<History, AnalyzeError> {
    let known = match (&request.keys_from, &request.what) {
        (Some(server), _) => input::keys_of(server)?,
        (None, What::Source(server, _)) => input::keys_of(server)?,
        (None, What::Paths(_)) => KnownKeys::default(),
    };
    match &request.what {
        What::Source(options, from) => {
            let mut recorder = Recorder::new(known, request.writesets, request.limit);
            Live::connect(options, from.clone())?.follow(&mut recorder)?;
            Ok(recorder.finish())
        }
        What::Paths(paths) => read_files(paths, known, request.writesets, request.limit),
    }
}

/// Reads files, in the order in which they are named.
pub fn read_files(
    paths: &[PathBuf],
    mut known: KnownKeys,
    writesets: usize,
    limit: usize,
) -> Result<History, AnalyzeError> {
    let disk = os::disk::real();
    let mut files = Vec::new();
    for path in paths {
        files.extend(input::find(&*disk, path)?);
    }
    for file in &files {
        learn_keys(FileEvents::open(&*disk, file)?, &mut known)?;
    }
    let mut recorder = Recorder::new(known, writesets, limit);
    for file in &files {
        let mut events = FileEvents::open(&*disk, file)?;
        recorder.begin_file(events.name());
        recorder.set_checksum(Checksum::None);
        while let Some((event, pos)) = events.next_event()? {
            recorder.take(event, pos)?;
        }
    }
    Ok(recorder.finish())
}

/// Searches a file's row events for what identifies their rows. Events that cannot be decoded are
/// passed over here, and reported when the log is read.
fn learn_keys(mut events: FileEvents, known: &mut KnownKeys) -> Result<(), AnalyzeError> {
    let mut format = Format::new(Checksum::None);
    let mut maps: HashMap<u64, Vec<u8>> = HashMap::new();
    while let Some((event, _)) = events.next_event()? {
        let kind = event[4];
        let wanted = kind == event_type::FORMAT_DESCRIPTION
            || kind == event_type::TABLE_MAP
            || rows_kind(kind).is_some();
        if !wanted {
            continue;
        }
        match binlog::decode(event, &format) {
            Ok((_, Event::FormatDescription(description))) => format = description.format(),
            Ok((_, Event::TableMap(map))) => {
                maps.insert(map.table_id, event.to_vec());
            }
            Ok((_, Event::Rows(rows))) => {
                let map = maps.get(&rows.table_id).and_then(|map| binlog::decode(map, &format).ok());
                if let Some((_, Event::TableMap(map))) = map {
                    known.learn(&map, &rows);
                }
            }
            _ => {}
        }
    }
    Ok(())
}
