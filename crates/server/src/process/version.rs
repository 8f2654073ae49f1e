//! The version of the server, and the comment on it.

use std::path::Path;

/// The value of `@@version`, and the version in the greeting, unless `version_announced` says
/// another one.
///
/// It starts with the MySQL release whose behaviour, variables and words this server follows,
/// because clients decide by it: libmysqlclient's tools, mysqldump and the connectors assume for
/// 9.x that there are `SHOW BINARY LOG STATUS` and utf8mb4_0900_ai_ci, and no query cache.
pub const VERSION: &str = concat!("9.7.0-slipstream-", env!("CARGO_PKG_VERSION"));

/// The version in the greeting at `slipstream_mariadb_port`. MariaDB's replicas since 10.10 use
/// GTIDs only if it begins with 10 or more, while MySQL's replicas refuse a version that begins
/// with 1 or 2.
pub const VERSION_FOR_MARIADB: &str = concat!("10.11.0-slipstream-", env!("CARGO_PKG_VERSION"));

/// The value of `@@version_comment`.
pub const VERSION_COMMENT: &str = "Slipstream";

/// The value of `@@innodb_version`: the engine has the server's own release.
pub const INNODB_VERSION: &str = env!("CARGO_PKG_VERSION");

/// Returns the number with which events carry the release of a version, such as 80406 for `8.4.6`.
/// `None` means that the version is not one that may be announced: it must be a release of MySQL 8
/// or 9, and may have a suffix. It must fit into the 50 bytes that a binary log file has for it.
pub fn release_number(version: &str) -> Option<u32> {
    let release = version.split_once('-').map_or(version, |(release, _)| release);
    let mut parts = release.split('.').map(|part| match part.len() {
        1 | 2 if part.bytes().all(|b| b.is_ascii_digit()) => part.parse::<u32>().ok(),
        _ => None,
    });
    let (major, minor, patch) = (parts.next()??, parts.next()??, parts.next()??);
    let fits = version.len() < 50 && version.bytes().all(|b| b.is_ascii_graphic());
    let known = matches!(major, 8 | 9) && parts.next().is_none();
    (known && fits).then_some(major * 10_000 + minor * 100 + patch)
}

/// Reports whether the program was started under the name of MySQL's server, as tools start it that
/// find a server by this name. It then is that server: its arguments are those of `serve`.
pub fn is_called_mysqld() -> bool {
    std::env::args_os().next().is_some_and(|name| Path::new(&name).file_name() == Some("mysqld".as_ref()))
}

/// Returns the name with which the program speaks of itself, which is the path that it was started
/// with if it was started as mysqld.
pub fn program() -> String {
    match std::env::args().next() {
        Some(path) if is_called_mysqld() => path,
        _ => "slipstream".to_owned(),
    }
}

/// Returns the line of `--version` of a server that announces this version, in mysqld's form.
pub fn version_line(program: &str, version: &str) -> String {
    let machine = std::env::consts::ARCH;
    format!("{program}  Ver {version} for Linux on {machine} ({VERSION_COMMENT})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_of_mysql_8_and_9_may_be_announced() {
        assert_eq!(release_number(VERSION), Some(90_700));
        assert_eq!(release_number("8.4.6"), Some(80_406));
        assert_eq!(release_number("8.0.41-log"), Some(80_041));
        for other in ["", "8", "8.4", "5.7.44", "10.11.6-MariaDB", "8.4.x", "8.4.6.1", "8.123.0", "8.4.6-a b"]
        {
            assert_eq!(release_number(other), None, "{other}");
        }
        assert_eq!(release_number(&format!("8.4.6-{}", "x".repeat(50))), None);
    }
}
