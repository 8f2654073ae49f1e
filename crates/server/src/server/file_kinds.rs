//! The kinds of files, as performance_schema names them, and which file is of which kind.

use std::path::{Path, PathBuf};

/// The kinds that MySQL has, in its order. Files of most of them do not exist here.
pub const KINDS: [&str; 51] = [
    "wait/io/file/sql/binlog",
    "wait/io/file/sql/binlog_cache",
    "wait/io/file/sql/binlog_index",
    "wait/io/file/sql/binlog_index_cache",
    "wait/io/file/sql/relaylog",
    "wait/io/file/sql/relaylog_cache",
    "wait/io/file/sql/relaylog_index",
    "wait/io/file/sql/relaylog_index_cache",
    "wait/io/file/sql/io_cache",
    "wait/io/file/sql/casetest",
    "wait/io/file/sql/dbopt",
    "wait/io/file/sql/ERRMSG",
    "wait/io/file/sql/select_to_file",
    "wait/io/file/sql/file_parser",
    "wait/io/file/sql/FRM",
    "wait/io/file/sql/load",
    "wait/io/file/sql/LOAD_FILE",
    "wait/io/file/sql/log_event_data",
    "wait/io/file/sql/log_event_info",
    "wait/io/file/sql/misc",
    "wait/io/file/sql/pid",
    "wait/io/file/sql/query_log",
    "wait/io/file/sql/slow_log",
    "wait/io/file/sql/tclog",
    "wait/io/file/sql/trigger_name",
    "wait/io/file/sql/trigger",
    "wait/io/file/sql/init",
    "wait/io/file/sql/SDI",
    "wait/io/file/sql/hash_join",
    "wait/io/file/mysys/proc_meminfo",
    "wait/io/file/mysys/charset",
    "wait/io/file/mysys/cnf",
    "wait/io/file/csv/metadata",
    "wait/io/file/csv/data",
    "wait/io/file/csv/update",
    "wait/io/file/innodb/innodb_dblwr_file",
    "wait/io/file/innodb/innodb_tablespace_open_file",
    DATA,
    LOG,
    "wait/io/file/innodb/innodb_temp_file",
    "wait/io/file/innodb/innodb_arch_file",
    "wait/io/file/innodb/innodb_clone_file",
    "wait/io/file/innodb/meb::redo_log_archive_file",
    "wait/io/file/myisam/data_tmp",
    "wait/io/file/myisam/dfile",
    "wait/io/file/myisam/kfile",
    "wait/io/file/myisam/log",
    "wait/io/file/myisammrg/MRG",
    "wait/io/file/archive/metadata",
    "wait/io/file/archive/data",
    "wait/io/file/archive/FRM",
];

/// The kind of tablespaces.
pub const DATA: &str = "wait/io/file/innodb/innodb_data_file";
/// The kind of the redo log's files.
pub const LOG: &str = "wait/io/file/innodb/innodb_log_file";

/// The names of a server's files that options can change.
pub struct FileNames {
    /// Each binary log file has this path and a number.
    pub binlog: PathBuf,
    /// The index of the binary log files.
    pub binlog_index: PathBuf,
    /// Each relay log file has this path and a number. Relay logs of channels have the channel's
    /// name in between.
    pub relay_log: PathBuf,
    /// The general log.
    pub general_log: PathBuf,
    /// The slow query log.
    pub slow_log: PathBuf,
    /// The file with the number of the process.
    pub pid: PathBuf,
}

impl FileNames {
    /// Returns the kind of a file, one of [`KINDS`].
    pub fn kind_of(&self, path: &Path) -> &'static str {
        let ending = path.extension().unwrap_or_default().as_encoded_bytes();
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        let in_redo_log = path.parent().is_some_and(|dir| dir.ends_with("#innodb_redo"));
        match ending {
            b"ibd" => DATA,
            _ if in_redo_log => LOG,
            b"dblwr" => "wait/io/file/innodb/innodb_dblwr_file",
            // Sorted runs of index builds, and rows of queries that do not fit in memory.
            b"tmp" if name.starts_with(b"#sql-") => "wait/io/file/sql/io_cache",
            _ if name == b"auto.cnf" => "wait/io/file/mysys/cnf",
            _ if path == self.binlog_index => "wait/io/file/sql/binlog_index",
            _ if path == self.general_log => "wait/io/file/sql/query_log",
            _ if path == self.slow_log => "wait/io/file/sql/slow_log",
            _ if path == self.pid => "wait/io/file/sql/pid",
            _ if begins_with(path, &self.relay_log) && ending == b"index" => {
                "wait/io/file/sql/relaylog_index"
            }
            _ if begins_with(path, &self.relay_log) && is_number(ending) => "wait/io/file/sql/relaylog",
            _ if begins_with(path, &self.binlog) && is_number(ending) => "wait/io/file/sql/binlog",
            _ => "wait/io/file/sql/misc",
        }
    }
}

fn is_number(ending: &[u8]) -> bool {
    !ending.is_empty() && ending.iter().all(u8::is_ascii_digit)
}

/// Reports whether the file is in the same directory and its name begins with the other's.
fn begins_with(path: &Path, basename: &Path) -> bool {
    let bytes = |path: &Path| path.as_os_str().as_encoded_bytes().to_vec();
    bytes(path).starts_with(&bytes(basename))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_mysqls_kinds() {
        let path = |name: &str| PathBuf::from("/data").join(name);
        let names = FileNames {
            binlog: path("binlog"),
            binlog_index: path("binlog.index"),
            relay_log: path("host-relay-bin"),
            general_log: path("host.log"),
            slow_log: path("host-slow.log"),
            pid: "/run/s.pid".into(),
        };
        for (file, kind) in [
            ("d/t.ibd", "innodb/innodb_data_file"),
            ("mysql.ibd", "innodb/innodb_data_file"),
            ("#innodb_redo/#ib_redo7", "innodb/innodb_log_file"),
            ("#ib_16384_128.dblwr", "innodb/innodb_dblwr_file"),
            ("#sql-sort-00.tmp", "sql/io_cache"),
            ("binlog.000012", "sql/binlog"),
            ("binlog.index", "sql/binlog_index"),
            ("host-relay-bin-east.000001", "sql/relaylog"),
            ("host-relay-bin.index", "sql/relaylog_index"),
            ("host.log", "sql/query_log"),
            ("host-slow.log", "sql/slow_log"),
            ("/run/s.pid", "sql/pid"),
            ("auto.cnf", "mysys/cnf"),
            ("ca.pem", "sql/misc"),
        ] {
            let found = names.kind_of(&path(file));
            assert_eq!(found, format!("wait/io/file/{kind}"), "{file}");
            assert!(KINDS.contains(&found));
        }
    }
}
