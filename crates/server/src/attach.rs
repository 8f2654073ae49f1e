//! `slipstream attach`: the checks, the server into which a source is copied, and the copy that
//! runs beside it.

mod choice;
mod first_start;

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ::attach::{AttachError, Plan};
use protocol::client::{Client, ConnectOptions};

use self::choice::ByFilters;
use crate::process::error_log;
use crate::server::Server;

/// The options of the new replica, which starts nothing by itself. Options behind `--` on the
/// command line come later and override these.
const OPTIONS: [&str; 4] =
    ["--log-bin=binlog", "--event-scheduler=OFF", "--skip-replica-start", "--replica-exec-mode=CONVERGE"];

/// The options of a replica that keeps the source's GTIDs.
const WITH_GTIDS: [&str; 2] = ["--gtid-mode=ON", "--enforce-gtid-consistency=ON"];

/// Runs `slipstream attach` with the words that follow it.
pub fn main(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    let plan = match ::attach::parse(words) {
        Ok(plan) => plan,
        Err(error) => {
            // Help goes to standard output and is no failure. Where the terminal is gone, the
            // message is lost.
            let _ = error.print();
            return if error.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS };
        }
    };
    let args = match arguments(&plan) {
        Ok(args) => args,
        Err(error) => return failed(&error),
    };
    let choice = match ByFilters::of(&args) {
        Ok(choice) => choice,
        Err(why) => {
            eprintln!("slipstream attach: {why}");
            return ExitCode::from(2);
        }
    };
    if let Some(replica) = &plan.replica {
        return match ::attach::verify(&plan, &choice, replica) {
            Ok(0) => ExitCode::SUCCESS,
            Ok(_) => ExitCode::FAILURE,
            Err(error) => failed(&error),
        };
    }
    match may_begin(&plan, &choice) {
        Ok(true) => {}
        Ok(false) => return ExitCode::FAILURE,
        Err(error) => return failed(&error),
    }
    if plan.dry_run {
        return ExitCode::SUCCESS;
    }
    if let Err(why) = initialise(&plan.datadir) {
        eprintln!("slipstream attach: {why}");
        return ExitCode::FAILURE;
    }
    serve(plan, choice, &args)
}

/// Returns the arguments of the server: those of every new replica, and behind them the command
/// line's, which override them.
fn arguments(plan: &Plan) -> Result<Vec<String>, AttachError> {
    let datadir = plan.datadir.display().to_string();
    let mut args = vec![format!("--server-id={}", server_id_of(&datadir)), format!("--datadir={datadir}")];
    args.extend(OPTIONS.map(str::to_owned));
    if ::attach::has_gtids(plan)? {
        args.extend(WITH_GTIDS.map(str::to_owned));
    }
    args.extend(plan.filters.iter().chain(&plan.serve).cloned());
    Ok(args)
}

fn failed(error: &AttachError) -> ExitCode {
    eprintln!("slipstream attach: {error}");
    ExitCode::FAILURE
}

/// Makes the checks and prints their findings. Returns whether no finding prevents the attachment.
fn may_begin(plan: &Plan, choice: &ByFilters) -> Result<bool, AttachError> {
    let findings = ::attach::check(plan, choice)?;
    for finding in &findings {
        eprintln!("{finding}");
    }
    let wrong = findings.iter().filter(|finding| finding.is_fatal).count();
    match wrong {
        0 => eprintln!("slipstream attach: all checks passed"),
        count => eprintln!("slipstream attach: {count} of the checks failed"),
    }
    Ok(wrong == 0)
}

/// Initialises the data directory where there is none, or an empty one.
fn initialise(datadir: &Path) -> Result<(), String> {
    let made = first_start::make(&*os::disk::real(), datadir, |place| {
        let program = std::env::current_exe()?;
        let mut command = Command::new(program);
        command.arg("serve").arg("--initialize-insecure").arg(format!("--datadir={}", place.display()));
        let done = command.output()?;
        match done.status.success() {
            true => Ok(()),
            false => Err(io::Error::other(String::from_utf8_lossy(&done.stderr).into_owned())),
        }
    });
    made.map_err(|error| format!("the data directory: {error}"))
}

/// Runs the server, and copies the source beside it.
fn serve(plan: Plan, choice: ByFilters, args: &[String]) -> ExitCode {
    // Relaxed: the value is read when the server has ended, after the thread that sets it.
    let has_failed = Arc::new(AtomicBool::new(false));
    let told = has_failed.clone();
    let beside = move |server: &Arc<Server>| {
        let socket = server.globals.named("socket").text().to_owned();
        let server = Arc::downgrade(server);
        os::thread::spawn("attach", move || {
            let local = ConnectOptions::unix(socket);
            if let Err(error) = ::attach::attach(&plan, &choice, &local) {
                log::error!("the copy of the source ends: {error}");
                if error_log::is_file() {
                    eprintln!("slipstream attach: {error}");
                }
                told.store(true, Ordering::Relaxed);
                stop(&local);
            } else if let Some(server) = server.upgrade() {
                // A new key takes as long as tens of thousands of rows.
                crate::serve::open_rsa_key(&server);
            }
        });
    };
    let served = crate::serve::main_with(args, Some(Box::new(beside)));
    if has_failed.load(Ordering::Relaxed) { ExitCode::FAILURE } else { served }
}

/// Returns a server id that hardly any other server has, and that stays the same when an
/// interrupted attachment goes on.
fn server_id_of(datadir: &str) -> u32 {
    let hash =
        datadir.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(16_777_619));
    hash | 1 << 30
}

/// Stops the server in which a copy has failed.
fn stop(local: &ConnectOptions) {
    // A server that cannot be reached any more is ending already.
    if let Ok(mut client) = Client::connect(local) {
        let _ending = client.query("SHUTDOWN");
    }
}
