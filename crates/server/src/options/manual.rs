//! Manual pages and the words that shells complete, both made from the commands' own definitions.
//!
//! In: the command lines of the subcommands, and the definitions of the system variables, which are
//! the options of `serve`. Out: files in roff, and a script for a shell.

use crate::options::help::SWITCHES;
use crate::variables::{self, Definition};
use clap::{Arg, ArgAction, Command};
use clap_complete::Shell;
use std::io::{self, Write};
use std::path::Path;

/// Writes the manual pages, one for each command, into an existing directory.
pub fn write_pages(directory: &Path) -> io::Result<()> {
    clap_mangen::generate_to(command(), directory)
}

/// Writes the script with which a shell completes commands and options. `None` means that the
/// shell's name is unknown.
pub fn write_completions(shell: &str, out: &mut dyn Write) -> Option<io::Result<()>> {
    let shell: Shell = shell.parse().ok()?;
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command(), "slipstream", &mut script);
    Some(out.write_all(&script))
}

/// Returns the definition of the whole command line.
fn command() -> Command {
    Command::new("slipstream")
        .about("A MySQL-compatible server whose replicas do not lag")
        .version(crate::process::version::VERSION)
        .subcommand(serve())
        .subcommand(::attach::command().name("attach"))
        .subcommand(backup::backup_command().name("backup"))
        .subcommand(backup::restore_command().name("restore"))
        .subcommand(bench::command().name("bench"))
        .subcommand(analyze::command().name("analyze"))
        .subcommand(::status::command().name("status"))
        .subcommand(::switchover::command().name("switchover"))
        .subcommand(
            Command::new("completions")
                .about("Writes the script with which a shell completes commands and options")
                .arg(Arg::new("shell").required(true).value_parser(["bash", "zsh", "fish"])),
        )
        .subcommand(
            Command::new("man").about("Writes the manual pages into a directory").arg(Arg::new("directory")),
        )
}

/// Returns the definition of `serve` with mysqld's options. The server itself does not read them by
/// this definition but by MySQL's own rules (`crate::options`).
fn serve() -> Command {
    let switches = SWITCHES.iter().map(|(name, value, help)| {
        let arg = Arg::new(*name).long(*name).help(*help);
        match value {
            Some(value) => arg.value_name(*value),
            None => arg.action(ArgAction::SetTrue),
        }
    });
    let options = variables::all().map(|id| id.definition()).filter(|definition| definition.is_option);
    Command::new("serve")
        .about("Runs a server. The options are mysqld's; they are read from option files too")
        .args(switches)
        .args(options.map(option))
}

fn option(definition: &'static Definition) -> Arg {
    let name = definition.name.replace('_', "-");
    let default = match definition.default {
        "" => "empty",
        value => value,
    };
    let when = if definition.read_only { "at start only" } else { "at start and while it runs" };
    let help = format!("{}; default {default}; set {when}", definition.kind);
    Arg::new(definition.name).long(name).value_name("VALUE").help(help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_and_completions_name_every_option_of_the_server() {
        let directory = std::env::temp_dir().join(format!("slipstream-man-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        write_pages(&directory).unwrap();
        let disk = os::disk::real();
        let read = |name: &str| String::from_utf8(disk.read(&directory.join(name)).unwrap()).unwrap();
        assert!(
            read("slipstream.1").contains("bench") && read("slipstream-bench-apply.1").contains("workers")
        );
        let page = read("slipstream-serve.1").replace('\\', "");
        for id in variables::all().filter(|id| id.definition().is_option) {
            let name = id.definition().name.replace('_', "-");
            assert!(page.contains(&format!("--{name}")), "the page lacks --{name}");
        }
        std::fs::remove_dir_all(&directory).unwrap();
        for shell in ["bash", "zsh", "fish"] {
            let mut script = Vec::new();
            write_completions(shell, &mut script).unwrap().unwrap();
            assert!(String::from_utf8(script).unwrap().contains("innodb-buffer-pool-size"), "{shell}");
        }
        assert!(write_completions("command.com", &mut Vec::new()).is_none());
    }
}
