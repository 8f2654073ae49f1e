//! The matrix: what a load is and how a replica is set, as one [`Case`] with a value for each
//! [`Dimension`].

use crate::error::MeasureError;
use crate::instance::{Flavor, RowImage};
use crate::sbtest::Workload;
use crate::server::{Mode, Server};

/// What the source writes for a change: `binlog_format` and `binlog_row_image`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Row events.
    Row(RowImage),
    /// The statements' text.
    Statement,
    /// The text where it is safe, and rows with this image.
    Mixed(RowImage),
}

impl Format {
    /// The words of `binlog_format`.
    pub const NAMES: [&str; 3] = ["row", "statement", "mixed"];

    /// Every format in these words with every one of these images, where there are images.
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

    /// `binlog_format`
    fn word(self) -> &'static str {
        match self {
            Format::Row(_) => "ROW",
            Format::Statement => "STATEMENT",
            Format::Mixed(_) => "MIXED",
        }
    }

    /// `binlog_row_image`, the server's default where there are no images.
    pub fn image(self) -> RowImage {
        match self {
            Format::Row(image) | Format::Mixed(image) => image,
            Format::Statement => RowImage::Full,
        }
    }

    /// For a report.
    pub fn name(self) -> String {
        match self {
            Format::Statement => "STATEMENT".to_string(),
            Format::Row(image) | Format::Mixed(image) => format!("{} {}", self.word(), image.name()),
        }
    }
}

/// Where a replica keeps its position (`relay_log_info_repository`). A server without that variable
/// keeps it in a table: MySQL 9, and MariaDB by GTID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repository {
    /// `TABLE`
    Table,
    /// `FILE`
    File,
}

impl Repository {
    /// Both, the default first.
    pub const ALL: [Repository; 2] = [Repository::Table, Repository::File];

    /// The variable's value.
    pub fn name(self) -> &'static str {
        match self {
            Repository::Table => "TABLE",
            Repository::File => "FILE",
        }
    }
}

/// A load, and what its source makes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// The transactions.
    pub workload: Workload,
    /// How they are logged.
    pub format: Format,
    /// For how long the source gathers commits: `binlog_group_commit_sync_delay`, MariaDB's
    /// `binlog_commit_wait_usec`.
    pub delay_us: u32,
}

impl Stream {
    /// Whether a replica that has applied the load and is sent it again ends with the same rows
    /// once more: events that set rows to what they say, whatever was there, do; what counts on
    /// from the row as it is, or inserts it twice, does not.
    pub fn can_be_repeated(&self) -> bool {
        match (self.workload, self.format) {
            (Workload::UpdateNonIndex | Workload::Mysqlslap, _) => true,
            (Workload::UpdateIndex | Workload::ReadWrite, format) => matches!(format, Format::Row(_)),
            (Workload::Insert, _) => false,
        }
    }

    /// Makes a source log in this way from the next session on.
    pub fn prepare(&self, source: &mut Server, flavor: Flavor) -> Result<(), MeasureError> {
        source.run(&format!("SET GLOBAL binlog_format = {}", self.format.word()))?;
        source.run(&format!("SET GLOBAL binlog_row_image = {}", self.format.image().name()))?;
        if flavor != Flavor::MariaDb {
            return source.run(&format!("SET GLOBAL binlog_group_commit_sync_delay = {}", self.delay_us));
        }
        // More commits than there are clients: what ends the wait is the time, as with MySQL.
        let count = if self.delay_us > 0 { 100_000 } else { 0 };
        source.run(&format!("SET GLOBAL binlog_commit_wait_count = {count}"))?;
        source.run(&format!("SET GLOBAL binlog_commit_wait_usec = {}", self.delay_us))
    }
}

/// How a replica applies it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Durability.
    pub mode: Mode,
    /// Worker threads, 0 for one applier alone.
    pub workers: u32,
    /// Where the position is.
    pub repository: Repository,
}

/// One cell of the matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// The load.
    pub stream: Stream,
    /// The replica.
    pub setting: Setting,
    /// Whether the replica logs what it applies.
    pub logged: bool,
}

/// What cases differ in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// The load.
    Workload,
    /// Format and image.
    Format,
    /// The source's commit delay.
    Delay,
    /// The replica's durability.
    Commits,
    /// Its workers.
    Workers,
    /// Whether it logs.
    Logged,
    /// Where its position is.
    Repository,
}

impl Dimension {
    /// In the order of a report's columns.
    pub const ALL: [Dimension; 7] = [
        Dimension::Workload,
        Dimension::Format,
        Dimension::Delay,
        Dimension::Commits,
        Dimension::Workers,
        Dimension::Logged,
        Dimension::Repository,
    ];

    /// A column's head, and a key in the JSON.
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

    /// The value that a case has.
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

    /// Whether two cases are the same but for this.
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
