//! The version of the server, and the comment on it.

/// The value of `@@version`, and the version in the greeting.
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

/// Returns the line of `--version`, in mysqld's form.
pub fn version_line(program: &str) -> String {
    let (os, machine) = (std::env::consts::OS, std::env::consts::ARCH);
    format!("{program}  Ver {VERSION} for {os} on {machine} ({VERSION_COMMENT})")
}
