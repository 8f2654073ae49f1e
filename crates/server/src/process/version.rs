//! The version and the comment that the server gives of itself.

/// `@@version`, and the version in the greeting.
///
/// It starts with the MySQL release whose behaviour, variables and words are followed, because
/// clients decide by it: libmysqlclient's tools, mysqldump and the connectors treat 9.x as having
/// `SHOW BINARY LOG STATUS`, no query cache and utf8mb4_0900_ai_ci.
pub const VERSION: &str = concat!("9.7.0-slipstream-", env!("CARGO_PKG_VERSION"));

/// The version in the greeting at `slipstream_mariadb_port`: MariaDB's replicas since 10.10 go by
/// GTIDs only where it begins with 10 or more, while MySQL's refuse what begins with 1 or 2.
pub const VERSION_FOR_MARIADB: &str = concat!("10.11.0-slipstream-", env!("CARGO_PKG_VERSION"));

/// `@@version_comment`.
pub const VERSION_COMMENT: &str = "Slipstream";

/// `@@innodb_version`: the release of the engine is the server's.
pub const INNODB_VERSION: &str = env!("CARGO_PKG_VERSION");

/// The line of `--version`, in mysqld's form.
pub fn version_line(program: &str) -> String {
    let (os, machine) = (std::env::consts::OS, std::env::consts::ARCH);
    format!("{program}  Ver {VERSION} for {os} on {machine} ({VERSION_COMMENT})")
}
