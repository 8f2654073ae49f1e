//! The `slipstream` binary, which runs one of its subcommands.

use server::process::version::{VERSION, version_line};
use std::process::ExitCode;

/// Memory goes from thread to thread here: the coordinator frees what a worker allocated. With the
/// C library's allocator, this cost showed up high in the profile.
#[global_allocator]
static ALLOCATOR: server::process::allocator::Allocator = server::process::allocator::Allocator;

fn main() -> ExitCode {
    server::process::panic_hook::install();
    os::account::open("main");
    let args: Vec<String> = std::env::args().skip(1).collect();
    if server::process::version::is_called_mysqld() {
        return server::serve::main(&args);
    }
    match args.first().map(String::as_str) {
        Some("serve") => server::serve::main(&args[1..]),
        Some("attach") => server::attach::main(std::env::args_os().skip(2)),
        Some("backup") => server::backup::main(std::env::args_os().skip(2)),
        Some("restore") => server::restore::main(std::env::args_os().skip(2)),
        Some("bench") => ExitCode::from(bench::main(std::env::args_os().skip(2))),
        Some("analyze") => ExitCode::from(analyze::main(std::env::args_os().skip(2))),
        Some("status") => ExitCode::from(status::main(std::env::args_os().skip(2))),
        Some("switchover") => ExitCode::from(switchover::main(std::env::args_os().skip(2))),
        Some("completions") => completions(args.get(1).map_or("", String::as_str)),
        Some("man") => manual_pages(args.get(1).map_or(".", String::as_str)),
        Some("--version" | "-V") => {
            println!("{}", version_line("slipstream", VERSION));
            ExitCode::SUCCESS
        }
        Some("--help" | "-?" | "-h") => {
            print!("{}", server::options::help::help());
            ExitCode::SUCCESS
        }
        other => {
            if let Some(word) = other {
                eprintln!("slipstream: unknown command '{word}'");
            }
            eprint!("{}", server::options::help::help());
            ExitCode::FAILURE
        }
    }
}

/// Writes the completion script for a shell to standard output.
fn completions(shell: &str) -> ExitCode {
    match server::options::manual::write_completions(shell, &mut std::io::stdout()) {
        Some(Ok(())) => ExitCode::SUCCESS,
        Some(Err(e)) => failed(&format!("cannot write the script: {e}")),
        None => {
            failed(&format!("no completions for the shell '{shell}'; there are some for bash, zsh and fish"))
        }
    }
}

/// Writes the manual pages into a directory.
fn manual_pages(directory: &str) -> ExitCode {
    match server::options::manual::write_pages(directory.as_ref()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => failed(&format!("cannot write manual pages into '{directory}': {e}")),
    }
}

fn failed(reason: &str) -> ExitCode {
    eprintln!("slipstream: {reason}");
    ExitCode::FAILURE
}
