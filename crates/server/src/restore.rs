//! `slipstream restore`: lays a backup down, and has a server that no client reaches apply the
//! binary logs up to the wanted point.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use backup::{LogPlan, Piece};
use replica::Threads;
use replica::status::Running;
use sql::admin::{SourceOptions, Until};

use crate::process::signals;
use crate::server::Server;

/// The options of the server that applies the logs. It writes what it applies to its own binary
/// log, accepts transactions with and without GTIDs, and starts nothing by itself.
const OPTIONS: [&str; 7] = [
    "--no-defaults",
    "--log-bin=binlog",
    "--gtid-mode=ON_PERMISSIVE",
    "--enforce-gtid-consistency=ON",
    "--event-scheduler=OFF",
    "--skip-replica-start",
    "--skip-networking",
];

/// How often the applier is looked at.
const LOOK_INTERVAL: Duration = Duration::from_millis(10);

/// Runs `slipstream restore` with the words that follow it.
pub fn main(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    let plan = match backup::parse_restore(words) {
        Ok(plan) => plan,
        Err(error) => {
            // Help goes to standard output and is no failure. Where the terminal is gone, the
            // message is lost.
            let _ = error.print();
            return if error.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS };
        }
    };
    let (logs, left) = match backup::lay_down(&plan) {
        Ok(laid) => laid,
        Err(error) => return failed(&error.to_string()),
    };
    let applied = match logs {
        Some(logs) => apply(&plan.datadir, &left, logs),
        None => ExitCode::SUCCESS,
    };
    if applied != ExitCode::SUCCESS {
        let (datadir, left) = (plan.datadir.display(), left.display());
        return failed(&format!("{datadir} is not at the point; {left} has the server's log"));
    }
    if let Err(error) = os::disk::real().remove_dir_all(&left) {
        eprintln!("slipstream restore: {}: it stays there: {error}", left.display());
    }
    println!("{}: restored", plan.datadir.display());
    ExitCode::SUCCESS
}

fn failed(why: &str) -> ExitCode {
    eprintln!("slipstream restore: {why}");
    ExitCode::FAILURE
}

/// Runs a server on the data directory until the logs are applied. `left` is a directory for files
/// that only the restore needs.
fn apply(datadir: &Path, left: &Path, logs: LogPlan) -> ExitCode {
    let mut args: Vec<String> = OPTIONS.map(str::to_owned).into();
    args.push(format!("--datadir={}", datadir.display()));
    args.push(format!("--socket={}", left.join("s").display()));
    args.push(format!("--log-error={}", left.join("error.log").display()));
    // A server id that no event of a log is likely to have: those of its own it would pass over.
    args.push(format!("--server-id={}", os::random::u64() as u32 | 1 << 31));
    // Relaxed: the value is read when the server has ended, after the thread that sets it.
    let is_done = Arc::new(AtomicBool::new(false));
    let told = is_done.clone();
    let beside = move |server: &Arc<Server>| {
        let server = server.clone();
        os::thread::spawn("restore", move || {
            let applied = feed(&server, &logs);
            match &applied {
                Ok(()) => told.store(true, Ordering::Relaxed),
                Err(why) => {
                    failed(why);
                }
            }
            drop(server);
            signals::raise_stop();
        });
    };
    let served = crate::serve::main_with(&args, Some(Box::new(beside)));
    match is_done.load(Ordering::Relaxed) {
        true => served,
        false => ExitCode::FAILURE,
    }
}

/// Puts the events into the relay log of the default channel, and waits until they are applied.
fn feed(server: &Server, logs: &LogPlan) -> Result<(), String> {
    let start = logs.start();
    let source = SourceOptions {
        host: Some("backup".to_owned()),
        log_file: Some(start.file),
        log_pos: Some(start.pos),
        ..SourceOptions::default()
    };
    server.replica.change_source(&source, None).map_err(|error| error.message)?;
    let channel = server.replica.default_channel();
    let until = Until::SourcePosition { log_file: logs.end.file.clone(), log_pos: logs.end.pos };
    let applier = Threads { receiver: false, applier: true };
    channel.start(applier, Some(&until)).map_err(|error| error.message)?;
    let mut feed = channel.feed().map_err(|error| error.to_string())?;
    logs.for_each(&*server.disk, |piece| {
        let taken = match piece {
            Piece::File(name, pos) => feed.file(name, pos),
            Piece::Event(event) => feed.event(event),
        };
        taken.map_err(|error| error.to_string())
    })
    .map_err(|error| error.to_string())?;
    feed.finish().map_err(|error| error.to_string())?;
    loop {
        let Some(status) = channel.status() else { return Err("the channel is gone".to_owned()) };
        if let Some(error) = status.sql_error {
            return Err(format!("a transaction of the log cannot be applied: {error}"));
        }
        if status.sql_running == Running::No {
            break;
        }
        if server.is_stopping() {
            return Err("it was told to stop".to_owned());
        }
        os::clock::sleep(LOOK_INTERVAL);
    }
    channel.stop(Threads::BOTH);
    server.replica.reset(true, None).map_err(|error| error.message)?;
    check(server, logs)
}

/// Checks that the server has come to the point.
fn check(server: &Server, logs: &LogPlan) -> Result<(), String> {
    let executed = server.engine.gtid_executed();
    if logs.gtid_executed.is_subset(&executed) && executed.is_subset(&logs.gtid_executed) {
        return Ok(());
    }
    Err(format!("the server has executed '{executed}' in the end, and not '{}'", logs.gtid_executed))
}
