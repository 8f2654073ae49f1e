//! The matrix of `bench apply`: one [`Case`] says what the load is and how the replica is set, and
//! has one value for each [`Dimension`].

use crate::error::MeasureError;
use crate::instance::{Flavor, RowImage};
use crate::sbtest::Workload;
use crate::server::{Mode, Server};

/// How the source logs a change: `binlog_format` and `binlog_row_image`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Row events with this image.
    Row(RowImage),
    /// The text of the statements.
    Statement,
    /// The text of a statement where that is safe, and row events with this image elsewhere.
    Mixed(RowImage),
}

impl Format {
    /// The names of the values of `binlog_format`, as the command line takes them.
    pub const NAMES: [&str; 3] = ["row", "statement", "mixed"];

    /// Returns every format that `formats` names, those with row events once for each of `images`.
    pub fn all(formats: &[&str], images: &[RowImage]) -> Vec<Format> {
        let with_images = |format: &&str| -> Vec<Format> {
            match *format {
                "statement" => vec![Format::Statement],
                "mixed" => images.iter().map(|image| Format::Mixed(*image)).collect(),
                _ => images.iter().map(|image| Format::Row(*image)).collect(),
            }
        };
        formats.iter().flat_map(with_images).collect()
    }

    /// Returns the value of `binlog_format`.
    fn word(self) -> &'static str {
        match self {
            Format::Row(_) => "ROW",
            Format::Statement => "STATEMENT",
            Format::Mixed(_) => "MIXED",
        }
    }

    /// Returns the value of `binlog_row_image`, which is the server's default for a format without
    /// images.
    pub fn image(self) -> RowImage {
        match self {
            Format::Row(image) | Format::Mixed(image) => image,
            Format::Statement => RowImage::Full,
        }
    }

    /// Returns the format's name in reports.
    pub fn name(self) -> String {
        match self {
            Format::Statement => "STATEMENT".to_string(),
            Format::Row(image) | Format::Mixed(image) => format!("{} {}", self.word(), image.name()),
        }
    }
}

/// Where a replica keeps its position (`relay_log_info_repository`). Servers without that variable
/// keep it in a table: MySQL 9, and MariaDB when it replicates by GTID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repository {
    /// A table, `TABLE`.
    Table,
    /// A file, `FILE`.
    File,
}

impl Repository {
    /// Both repositories, the default first.
    pub const ALL: [Repository; 2] = [Repository::Table, Repository::File];

    /// Returns the value of `relay_log_info_repository`.
    pub fn name(self) -> &'static str {
        match self {
            Repository::Table => "TABLE",
            Repository::File => "FILE",
        }
    }
}

/// A load, and how its source logs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// The transactions of the load.
    pub workload: Workload,
    /// How the source logs them.
    pub format: Format,
    /// For how many microseconds the source gathers commits: `binlog_group_commit_sync_delay`, and
    /// `binlog_commit_wait_usec` on MariaDB.
    pub delay_us: u32,
}

impl Stream {
    /// Reports whether a replica that has applied the load ends with the same rows when it applies
    /// the load a second time. This holds for events that set rows to fixed values, whatever the
    /// rows held before. It does not hold for statements that compute the new value from the old
    /// one, nor for inserts.
    pub fn can_be_repeated(&self) -> bool {
        match (self.workload, self.format) {
            (Workload::UpdateNonIndex | Workload::Mysqlslap, _) => true,
            (Workload::UpdateIndex | Workload::ReadWrite, format) => matches!(format, Format::Row(_)),
            (Workload::Insert, _) => false,
        }
    }

    /// Sets the source up so that sessions from the next one on log in this way.
    pub fn prepare(&self, source: &mut Server, flavor: Flavor) -> Result<(), MeasureError> {
        source.run(&format!("SET GLOBAL binlog_format = {}", self.format.word()))?;
        source.run(&format!("SET GLOBAL binlog_row_image = {}", self.format.image().name()))?;
        if flavor != Flavor::MariaDb {
            return source.run(&format!("SET GLOBAL binlog_group_commit_sync_delay = {}", self.delay_us));
        }
        // The count is larger than the number of clients, so that the time alone ends the wait, as
        // on MySQL.
        let count = if self.delay_us > 0 { 100_000 } else { 0 };
        source.run(&format!("SET GLOBAL binlog_commit_wait_count = {count}"))?;
        source.run(&format!("SET GLOBAL binlog_commit_wait_usec = {}", self.delay_us))
    }
}

/// How a replica applies a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The durability of its commits.
    pub mode: Mode,
    /// The number of worker threads; 0 means that one applier does all the work.
    pub workers: u32,
    /// Where it keeps its position.
    pub repository: Repository,
}

/// One cell of the matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// The load, and how the source logs it.
    pub stream: Stream,
    /// How the replica is set.
    pub setting: Setting,
    /// Whether the replica logs what it applies.
    pub logged: bool,
}

/// A property in which cases differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// The load's transactions.
    Workload,
    /// The source's binary log format and row image.
    Format,
    /// The time for which the source gathers commits.
    Delay,
    /// The durability of the replica's commits.
    Commits,
    /// The number of the replica's worker threads.
    Workers,
    /// Whether the replica logs what it applies.
    Logged,
    /// Where the replica keeps its position.
    Repository,
}

impl Dimension {
    /// All dimensions, in the order of a report's columns.
    pub const ALL: [Dimension; 7] = [
        Dimension::Workload,
        Dimension::Format,
        Dimension::Delay,
        Dimension::Commits,
        Dimension::Workers,
        Dimension::Logged,
        Dimension::Repository,
    ];

    /// Returns the dimension's name, which heads its column and is its key in the JSON report.
    pub fn name(self) -> &'static str {
        match self {
            Dimension::Workload => "workload",
            Dimension::Format => "format",
            Dimension::Delay => "delay_us",
            Dimension::Commits => "commits",
            Dimension::Workers => "workers",
            Dimension::Logged => "logged",
            Dimension::Repository => "position",
        }
    }

    /// Returns the value that a case has in this dimension, as reports show it.
    pub fn of(self, case: &Case) -> String {
        let Case { stream, setting, logged } = case;
        match self {
            Dimension::Workload => stream.workload.name().to_string(),
            Dimension::Format => stream.format.name(),
            Dimension::Delay => stream.delay_us.to_string(),
            Dimension::Commits => setting.mode.name().to_string(),
            Dimension::Workers => setting.workers.to_string(),
            Dimension::Logged => if *logged { "ON" } else { "OFF" }.to_string(),
            Dimension::Repository => setting.repository.name().to_string(),
        }
    }

    /// Reports whether two cases differ in this dimension and in no other one.
    pub fn alone_differs(self, one: &Case, other: &Case) -> bool {
        Dimension::ALL
            .iter()
            .all(|dimension| (dimension.of(one) != dimension.of(other)) == (*dimension == self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_have_no_images() {
        let images = [RowImage::Full, RowImage::Minimal];
        let all = Format::all(&["row", "statement", "mixed"], &images);
        let names: Vec<String> = all.iter().map(|format| format.name()).collect();
        assert_eq!(names, ["ROW FULL", "ROW MINIMAL", "STATEMENT", "MIXED FULL", "MIXED MINIMAL"]);
    }

    #[test]
    fn only_what_sets_rows_to_what_it_says_is_sent_twice() {
        let stream = |workload, format| Stream { workload, format, delay_us: 0 };
        let row = Format::Row(RowImage::Minimal);
        assert!(stream(Workload::ReadWrite, row).can_be_repeated());
        assert!(!stream(Workload::ReadWrite, Format::Statement).can_be_repeated(), "k = k + 1");
        assert!(!stream(Workload::Insert, row).can_be_repeated(), "the rows are there");
        assert!(stream(Workload::UpdateNonIndex, Format::Statement).can_be_repeated());
    }
}
