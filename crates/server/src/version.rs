//! What the server calls itself.

/// `@@version`, and the version in the greeting.
///
/// It starts with the MySQL release whose behaviour, variables and words are followed, because clients decide by it:
/// libmysqlclient's tools, mysqldump and the connectors treat 9.x as having `SHOW BINARY LOG STATUS`, no query cache
/// and utf8mb4_0900_ai_ci.
pub const VERSION: &str = concat!("9.7.0-slipstream-", env!("CARGO_PKG_VERSION"));

/// `@@version_comment`.
pub const VERSION_COMMENT: &str = "Slipstream";

/// `@@innodb_version`: the release of the engine is the server's.
pub const INNODB_VERSION: &str = env!("CARGO_PKG_VERSION");

/// The line of `--version`, in mysqld's form.
pub fn version_line(program: &str) -> String {
    let (os, machine) = (std::env::consts::OS, std::env::consts::ARCH);
    format!("{program}  Ver {VERSION} for {os} on {machine} ({VERSION_COMMENT})")
}
