//! The texts of `--help`.

use crate::options::DEFAULT_FILE;
use crate::process::version::{VERSION, version_line};
use crate::variables;
use std::fmt::Write as _;

/// The options of `serve` that are no system variables: name, kind of value, effect.
pub const SWITCHES: &[(&str, Option<&str>, &str)] = &[
    ("no-defaults", None, "read no option file"),
    ("defaults-file", Some("FILE"), "read this option file instead"),
    ("defaults-extra-file", Some("FILE"), "read this option file too"),
    ("print-defaults", None, "print the options and exit"),
    ("initialize", None, "make the data directory, with a random password for root@localhost, and exit"),
    ("initialize-insecure", None, "the same without a password"),
    ("skip-grant-tables", None, "let everybody do everything"),
    ("log-bin-index", Some("NAME"), "the file that lists the binary log files"),
    ("relay-log-index", Some("NAME"), "the file that lists the relay log files"),
    ("master-info-file", Some("NAME"), "the file of a source's connection, where it is kept in a FILE"),
    ("user", Some("NAME"), "the user that the server is started as; another one is refused"),
    ("plugin-load", Some("LIST"), "libraries of plugins; semisync_source.so and the like are there without"),
    ("plugin-load-add", Some("LIST"), "the same"),
    ("mysql-native-password", Some("ON"), "accepted for mysqld's sake: the plugin is there"),
    ("console", None, "accepted for mysqld's sake"),
];

/// Returns the text of `slipstream --help`.
pub fn help() -> String {
    format!(
        "{}\n\n\
         Usage: slipstream serve [OPTIONS]    run a server; mysqld's options, see slipstream serve --help\n       \
         slipstream attach ...         make a replica of a source that runs, see slipstream attach --help\n       \
         slipstream backup ...         back a running server up, see slipstream backup --help\n       \
         slipstream restore ...        make a data directory of a backup, see slipstream restore --help\n       \
         slipstream bench ...          measure servers, see slipstream bench --help\n       \
         slipstream analyze ...        what a binary log holds, see slipstream analyze --help\n       \
         slipstream status ...         the state of a server on one screen, see slipstream status --help\n       \
         slipstream switchover ...     hand a source's place over to a replica, see slipstream switchover --help\n       \
         slipstream completions SHELL  the script with which bash, zsh or fish complete these words\n       \
         slipstream man DIRECTORY      write the manual pages there\n       \
         slipstream --version          say which version this is\n",
        version_line("slipstream", VERSION)
    )
}

/// Returns the text of `slipstream serve --help`: the options and their defaults.
pub fn serve_help() -> String {
    let mut out = version_line("slipstream", VERSION);
    let _infallible = write!(
        out,
        "\n\nUsage: slipstream serve [OPTIONS]\n\n\
         Options are read from {DEFAULT_FILE} (groups [mysqld], [server] and [slipstream]) and from the command line.\n\
"
    );
    for (name, value, help) in SWITCHES {
        let option = value.map_or_else(|| format!("--{name}"), |value| format!("--{name}={value}"));
        let _infallible = writeln!(out, "{option:32} {help}");
    }
    out.push_str("\nVariables, and the values they have unless they are set:\n");
    for id in variables::all().filter(|id| id.definition().is_option) {
        let definition = id.definition();
        let _infallible = writeln!(out, "{:50} {}", definition.name.replace('_', "-"), definition.default);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_lists_the_options() {
        let text = serve_help();
        assert!(text.contains("innodb-buffer-pool-size") && text.contains("134217728"));
        assert!(!text.contains("gtid-executed "));
        assert!(help().starts_with("slipstream  Ver 9."));
    }
}
