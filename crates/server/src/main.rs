//! The `slipstream` binary: one of its subcommands.

use std::process::ExitCode;

/// Memory goes from thread to thread here: a worker makes what the coordinator frees, which the C library's
/// allocator showed up high in the profile for.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    server::panic_hook::install();
    os::account::open("main");
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.first().map(String::as_str) {
        Some("serve") => server::serve::main(&args[1..]),
        Some("bench") => ExitCode::from(bench::main(std::env::args_os().skip(2))),
        Some("analyze") => ExitCode::from(analyze::main(std::env::args_os().skip(2))),
        Some("--version" | "-V") => {
            println!("{}", server::version::version_line("slipstream"));
            ExitCode::SUCCESS
        }
        Some("--help" | "-?" | "-h") => {
            print!("{}", server::help::help());
            ExitCode::SUCCESS
        }
        other => {
            if let Some(word) = other {
                eprintln!("slipstream: unknown command '{word}'");
            }
            eprint!("{}", server::help::help());
            ExitCode::FAILURE
        }
    }
}
