//! `slipstream serve`: the process from the command line to its end.

use crate::http;
use crate::listener::{self, Listener};
use crate::log_system;
use crate::options::{self, Options};
use crate::process::error_log;
use crate::process::signals::{Request, Signals};
use crate::process::version::{VERSION, VERSION_COMMENT, VERSION_FOR_MARIADB, program, version_line};
use crate::server::Server;
use crate::start::{StartError, Started, globals_of, start};
use crate::variables::{self, Setting};
use os::account::{State, enter};
use os::clock::Stopwatch;
use os::disk::{Disk, LateSync};
use replica::Threads;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// The time that connections have to end when the server stops.
const SESSIONS_END_WITHIN: Duration = Duration::from_secs(10);

/// The work that is done beside a server once it is ready for connections.
pub type Beside = Box<dyn FnOnce(&Arc<Server>)>;

/// Runs a server with these arguments until it is told to stop.
pub fn main(args: &[String]) -> ExitCode {
    main_with(args, None)
}

/// Runs a server like [`main`], and calls `beside` when the server is ready. With that, the server
/// opens its RSA key only when it is needed or [`open_rsa_key`] is called.
pub fn main_with(args: &[String], beside: Option<Beside>) -> ExitCode {
    error_log::install();
    let disk = os::disk::real();
    let options = match options::read(args, &*disk) {
        Ok(options) => options,
        Err(e) => return abort(&e.to_string()),
    };
    if options.version {
        let globals = globals_of(&options);
        let announced = globals.named("version_announced");
        let version = if announced.text().is_empty() { VERSION } else { announced.text() };
        println!("{}", version_line(&program(), version));
        return ExitCode::SUCCESS;
    }
    if options.help {
        print!("{}", crate::options::help::serve_help());
        return ExitCode::SUCCESS;
    }
    if options.print_defaults {
        print_defaults(&options);
        return ExitCode::SUCCESS;
    }
    match run(&disk, &options, beside) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => abort(&e.to_string()),
    }
}

/// Reports a start that failed: logs the reason and mysqld's last word. Where the log is a file,
/// the reason goes to the terminal too.
fn abort(reason: &str) -> ExitCode {
    log::error!("{reason}");
    log::error!(target: "MY-010119", "Aborting");
    if error_log::is_file() {
        eprintln!("{}: {reason}", program());
    }
    ExitCode::FAILURE
}

fn print_defaults(options: &Options) {
    let shown = options.raw.iter().map(|raw| match &raw.value {
        Some(value) => format!("--{}={value}", raw.name),
        None => format!("--{}", raw.name),
    });
    println!("{}", shown.collect::<Vec<_>>().join(" "));
}

fn run(disk: &Arc<dyn Disk>, options: &Options, beside: Option<Beside>) -> Result<(), StartError> {
    let signals = Signals::block()?;
    use_error_log(disk, options)?;
    for warning in &options.warnings {
        log::warn!("{warning}");
    }
    check_user(options)?;
    let initialises = options.initialize || options.initialize_insecure;
    let doing =
        if initialises { "initializing of server in progress as process" } else { "starting as process" };
    log_system!("MY-010116", "slipstream {VERSION} {doing} {}", std::process::id());
    if initialises {
        return initialise(disk, options);
    }
    let Started { server, datadir } = start(disk, options)?;
    let outcome = serve(&server, &signals, beside);
    drop(server);
    drop(datadir);
    outcome
}

/// Makes a new data directory. One that is not complete is of no use, so its files are synced when
/// all of them are there.
fn initialise(disk: &Arc<dyn Disk>, options: &Options) -> Result<(), StartError> {
    let late = Arc::new(LateSync::over(disk.clone()));
    let disk: Arc<dyn Disk> = late.clone();
    let Started { server, datadir } = start(&disk, options)?;
    end_engine(&server);
    drop((server, datadir));
    Ok(late.sync_all()?)
}

/// Opens the key with which clients without TLS encrypt their passwords. It does so in a thread of
/// its own, because making a new key takes up to seconds.
pub fn open_rsa_key(server: &Arc<Server>) {
    let server = server.clone();
    os::thread::spawn("rsa key", move || {
        if let Err(e) = server.accounts.open_rsa_key(&*server.disk, &server.datadir) {
            log::error!("RSA key for caching_sha2_password: {e}");
        }
    });
}

/// Serves clients until a signal asks to stop.
fn serve(server: &Arc<Server>, signals: &Signals, beside: Option<Beside>) -> Result<(), StartError> {
    if beside.is_none() {
        open_rsa_key(server);
    }
    crate::client::tls::open(server);
    let (listeners, http) = match bind(server).and_then(|bound| Ok((bound, http::serving::bind(server)?))) {
        Ok(bound) => bound,
        Err(e) => {
            end_engine(server);
            return Err(e.into());
        }
    };
    write_pid_file(server)?;
    start_replica(server);
    crate::events::scheduler::open(server);
    let accepting = listener::accept(server, listeners);
    let http = http.map(|bound| bound.open(server));
    let of = |name: &str| server.globals.named(name).to_string();
    log_system!(
        "MY-010931",
        "slipstream: ready for connections. Version: '{}'  socket: '{}'  port: {}  {VERSION_COMMENT}.",
        of("version"),
        of("socket"),
        of("port")
    );
    crate::process::service::ready();
    if let Some(beside) = beside {
        beside(server);
    }
    loop {
        let request = {
            let _waiting = enter(State::Idle);
            signals.wait()?
        };
        match request {
            Request::Stop => break,
            Request::FlushLogs => {
                if let Err(e) = crate::admin::flush::flush_logs(server) {
                    log::error!("flushing the logs after SIGHUP: {}", e.message);
                }
            }
        }
    }
    log_system!(
        "MY-013172",
        "Received SHUTDOWN from user <via user signal>. Shutting down slipstream ({VERSION})."
    );
    crate::process::service::stopping();
    server.begin_stop();
    accepting.stop(&*server.disk);
    server.events.close(&server.sessions);
    end_sessions(server);
    if let Some(http) = http {
        http.stop();
    }
    server.audit.close();
    end_engine(server);
    let pid_file = of("pid_file");
    if let Err(e) = server.disk.remove(Path::new(&pid_file)) {
        log::warn!("{e}");
    }
    log_system!("MY-010910", "slipstream: Shutdown complete (slipstream {VERSION})  {VERSION_COMMENT}.");
    Ok(())
}

fn use_error_log(disk: &Arc<dyn Disk>, options: &Options) -> Result<(), StartError> {
    let globals = globals_of(options);
    error_log::set_verbosity(globals.named("log_error_verbosity").uint() as u8);
    let place = globals.named("log_error");
    if matches!(place.text(), "stderr" | "") {
        return Ok(());
    }
    let datadir = crate::start::datadir_path(&globals)?;
    let path = datadir.join(place.text());
    error_log::use_file(disk.clone(), &path).map_err(StartError::Io)
}

/// Checks `--user`: this server does not change its user, so only the present one is accepted.
fn check_user(options: &Options) -> Result<(), StartError> {
    let Some(name) = &options.user else { return Ok(()) };
    // SAFETY: geteuid takes no arguments and cannot fail.
    let uid = unsafe { libc::geteuid() };
    let passwd = std::ffi::CString::new(name.as_str());
    let named_uid = passwd.ok().and_then(|name| {
        // SAFETY: the name ends with NUL; only this thread runs yet, so the static result is not
        // overwritten.
        let entry = unsafe { libc::getpwnam(name.as_ptr()) };
        // SAFETY: getpwnam returns null or a valid entry.
        (!entry.is_null()).then(|| unsafe { (*entry).pw_uid })
    });
    if named_uid == Some(uid) {
        return Ok(());
    }
    Err(StartError::Options(format!(
        "cannot run as user '{name}': start the server as that user instead of with --user"
    )))
}

fn bind(server: &Server) -> std::io::Result<Vec<Listener>> {
    let mut listeners = Vec::new();
    if !server.globals.named("skip_networking").is_on() {
        let port = server.globals.named("port").uint() as u16;
        let address = server.globals.named("bind_address");
        listeners = listener::bind_tcp(address.text(), port, None)?;
        if let Some(port) = listeners.iter().find_map(Listener::port) {
            server.globals.set_named("port", Setting::UInt(port.into()));
        }
        match server.globals.named("slipstream_mariadb_port").uint() as u16 {
            0 => {}
            port => listeners.extend(listener::bind_tcp(address.text(), port, Some(VERSION_FOR_MARIADB))?),
        }
    }
    let socket = server.globals.named("socket");
    listeners.push(listener::bind_unix(&*server.disk, Path::new(socket.text()))?);
    Ok(listeners)
}

fn write_pid_file(server: &Server) -> std::io::Result<()> {
    let path = server.globals.named("pid_file");
    server.disk.write_atomically(Path::new(path.text()), format!("{}\n", std::process::id()).as_bytes())
}

/// Starts the configured replication channels, unless `skip_replica_start` is on.
fn start_replica(server: &Server) {
    let skip = variables::find("skip_replica_start").is_some_and(|id| server.globals.get(id).is_on());
    let configured = server.replica.all().into_iter().filter(|channel| channel.is_configured());
    for channel in configured.filter(|_| !skip) {
        if let Err(e) = channel.start(Threads::BOTH, None) {
            log::error!("Failed to start replica threads for channel '{}': {}", channel.name(), e.message);
        }
    }
}

/// Ends all connections and waits until their threads are gone.
fn end_sessions(server: &Server) {
    for entry in server.sessions.all() {
        entry.kill(false);
    }
    if let Some(binlog) = &server.binlog {
        binlog.wake_sessions();
        // No replica acknowledges anything any more, and a session that waits for one has lost its
        // client by now.
        binlog.semi_sync().set_enabled(false);
    }
    let watch = Stopwatch::start();
    while server.sessions.count() > 0 && !watch.remaining(SESSIONS_END_WITHIN).is_zero() {
        os::clock::sleep(Duration::from_millis(2));
    }
    if server.sessions.count() > 0 {
        log::warn!("{} connections have not ended in time", server.sessions.count());
    }
}

/// Ends everything below the connections: the replica, the binary log, the engine.
fn end_engine(server: &Server) {
    // Perhaps no one is there to free space on a full disk. Everything acknowledged is in the log.
    server.engine.log().give_up_on_full_disk();
    server.replica.stop_all(Threads::BOTH);
    if let Some(binlog) = &server.binlog {
        binlog.close();
    }
    if let Err(e) = server.engine.close() {
        log::error!("closing the storage engine: {e}");
    }
}
