//! `--help`.

use crate::options::DEFAULT_FILE;
use crate::variables;
use crate::version::version_line;
use std::fmt::Write as _;

/// The text of `slipstream --help`.
pub fn help() -> String {
    format!(
        "{}\n\n\
         Usage: slipstream serve [OPTIONS]    run a server; mysqld's options, see slipstream serve --help\n       \
         slipstream bench ...          measure servers, see slipstream bench --help\n       \
         slipstream analyze ...        what a binary log holds, see slipstream analyze --help\n       \
         slipstream --version          say which version this is\n",
        version_line("slipstream")
    )
}

/// The text of `slipstream serve --help`: the options and their defaults.
pub fn serve_help() -> String {
    let mut out = version_line("slipstream");
    let _infallible = write!(
        out,
        "\n\nUsage: slipstream serve [OPTIONS]\n\n\
         Options are read from {DEFAULT_FILE} (groups [mysqld], [server] and [slipstream]) and from the command line.\n\
         --no-defaults             read no option file\n\
         --defaults-file=FILE      read this option file instead\n\
         --defaults-extra-file=FILE  read this option file too\n\
         --print-defaults          print the options and exit\n\
         --initialize              make the data directory, with a random password for root@localhost, and exit\n\
         --initialize-insecure     the same without a password\n\
         --skip-grant-tables       let everybody do everything\n\
         --log-bin[=NAME], --log-bin-index=NAME, --relay-log-index=NAME, --master-info-file=NAME, --user=NAME, --console,\n\
         --version\n\n\
         Variables, and the values they have unless they are set:\n"
    );
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
