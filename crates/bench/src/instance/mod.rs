//! Servers that the kit starts itself: Slipstream, MariaDB and MySQL, each on a temporary directory
//! and a free port.
//!
//! Flows in: a [`Flavor`] and [`Settings`]. Flows out: a running process that answers on
//! `127.0.0.1:port`, whose CPU time and peak memory can be read, and that can be killed and started
//! again on the same data.
//!
//! Invariants: an [`Instance`] that is dropped leaves neither a process nor a directory behind;
//! what an interrupted run left behind is removed by the next one; no directory of a living run is
//! ever touched; no two instances of any runs on this machine have one port.

mod command;
mod error;
mod place;
mod port;
mod process;
mod prototype;
mod settings;

use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::time::Duration;

use crate::usage;
pub use crate::usage::Usage;

pub use error::InstanceError;
pub use place::{Place, peers_dir};
pub use port::Port;
pub use settings::{Doublewrite, Flavor, RowImage, Settings, USER};

impl Flavor {
    /// Returns the words that run a program where the servers of this flavor run, with the program
    /// as the last one. `None` means that the program is not there.
    pub fn program(self, name: &str) -> Option<Vec<String>> {
        if self != Flavor::MySql {
            return command::in_path(name).map(|file| vec![file.display().to_string()]);
        }
        let file = format!("/usr/bin/{name}");
        let is_there = place::mysql_chroot().join(&file[1..]).is_file();
        is_there.then(|| command::in_chroot(&[file.as_str()]))
    }

    /// Reports whether servers of this flavor have the clone plugin.
    pub fn has_clone_plugin(self) -> bool {
        let plugin = place::mysql_chroot().join("usr/lib/mysql/plugin/mysql_clone.so");
        self == Flavor::MySql && plugin.is_file()
    }

    /// Returns the reason why this flavor cannot be started on this machine; `None` means that it
    /// can.
    pub fn unavailable(self) -> Option<String> {
        match self {
            Flavor::Slipstream => None,
            Flavor::MariaDb => command::mariadbd().is_none().then(|| "mariadbd is not in PATH".to_string()),
            Flavor::MySql if !place::mysql_chroot().join("usr/sbin/mysqld").exists() => Some(format!(
                "no mysqld in {} (scripts/peers.sh puts it there)",
                place::mysql_chroot().display()
            )),
            Flavor::MySql => (!process::is_root()).then(|| "entering MySQL's chroot needs root".to_string()),
        }
    }
}

/// How long a server may take from its start to its first greeting, including the recovery of a
/// large log.
const READY_WITHIN: Duration = Duration::from_secs(120);
/// How long a server may take to shut down when it is asked to.
const STOPPED_WITHIN: Duration = Duration::from_secs(120);

/// One server process and its directory.
pub struct Instance {
    flavor: Flavor,
    settings: Settings,
    place: Place,
    port: Port,
    /// The process; `None` between a stop and the next start.
    child: Option<Child>,
}

impl Instance {
    /// Starts a server on fresh data and waits until it greets clients.
    pub fn start(flavor: Flavor, settings: &Settings) -> Result<Instance, InstanceError> {
        if let Some(why) = flavor.unavailable() {
            return Err(InstanceError::Unavailable(flavor, why));
        }
        let place = Place::create(flavor)?;
        prototype::lay_down(flavor, settings, &place)?;
        let mut instance =
            Instance { flavor, settings: settings.clone(), place, port: Port::reserve()?, child: None };
        instance.start_again()?;
        if flavor == Flavor::Slipstream {
            prototype::create_accounts(&instance.socket())?;
        }
        Ok(instance)
    }

    /// Starts a server on the data in this directory, which becomes its own, and waits until it
    /// greets clients.
    pub fn start_on(flavor: Flavor, settings: &Settings, data: &Path) -> Result<Instance, InstanceError> {
        let (place, settings) = (Place::create(flavor)?, settings.clone());
        std::fs::rename(data, place.outside("data"))
            .map_err(|error| InstanceError::Io(format!("moving {}", data.display()), error))?;
        let mut instance = Instance { flavor, settings, place, port: Port::reserve()?, child: None };
        instance.start_again()?;
        Ok(instance)
    }

    /// Starts `slipstream attach` on fresh data, and waits until its server greets clients. It
    /// copies the source, which is a MySQL or MariaDB server on this machine, in `threads` threads.
    pub fn attach(
        source: &Instance,
        settings: &Settings,
        threads: Option<u32>,
    ) -> Result<Instance, InstanceError> {
        let flavor = Flavor::Slipstream;
        let place = Place::create(flavor)?;
        let settings = settings.clone();
        let mut instance = Instance { flavor, settings, place, port: Port::reserve()?, child: None };
        let address = (source.flavor, source.port());
        let command =
            command::attach(&instance.settings, &instance.place, instance.port(), (address, threads));
        instance.spawn(command)?;
        instance.wait_ready()?;
        Ok(instance)
    }

    /// Starts the server again on its data, after [`Instance::kill`] or [`Instance::stop`].
    pub fn start_again(&mut self) -> Result<(), InstanceError> {
        self.launch()?;
        self.wait_ready()
    }

    /// Starts the process without waiting until it is ready, so that it can be killed before.
    pub fn launch(&mut self) -> Result<(), InstanceError> {
        assert!(self.child.is_none(), "{} runs already", self.name());
        self.spawn(command::server(self.flavor, &self.settings, &self.place, self.port()))
    }

    fn spawn(&mut self, command: Vec<String>) -> Result<(), InstanceError> {
        let child = process::spawn(command, &self.settings.environment, &self.place.outside("console.log"))
            .map_err(|error| InstanceError::Io(format!("starting {}", self.name()), error))?;
        self.child = Some(child);
        Ok(())
    }

    /// Waits until a process that was launched greets clients.
    pub fn wait_ready(&mut self) -> Result<(), InstanceError> {
        let (name, port) = (self.name(), self.port());
        let child = self.child.as_mut().unwrap_or_else(|| panic!("{name} does not run"));
        process::wait_ready(child, port, READY_WITHIN).map_err(|refusal| match refusal {
            process::Refusal::Ended(status) => InstanceError::Ended(self.name(), status, self.log_tail()),
            process::Refusal::Silent => InstanceError::Silent(self.name(), READY_WITHIN, self.log_tail()),
        })
    }

    /// Starts the server again with other settings on the same data.
    pub fn start_again_with(&mut self, settings: &Settings) -> Result<(), InstanceError> {
        self.settings = settings.clone();
        self.start_again()
    }

    /// Kills the process with `kill -9`, so that it cannot write anything more.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            // An error here means that the process has ended by itself already.
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Asks the server to shut down, and waits until it has ended.
    pub fn stop(&mut self) -> Result<ExitStatus, InstanceError> {
        let name = self.name();
        let child = self.child.as_ref().unwrap_or_else(|| panic!("{name} does not run"));
        process::terminate(child).map_err(|error| InstanceError::Io(format!("stopping {name}"), error))?;
        self.wait_ended()
    }

    /// Waits until the server, which has been asked to shut down, has ended.
    pub fn wait_ended(&mut self) -> Result<ExitStatus, InstanceError> {
        let name = self.name();
        let child = self.child.as_mut().unwrap_or_else(|| panic!("{name} does not run"));
        let ended = process::wait_ended(child, STOPPED_WITHIN)
            .map_err(|error| InstanceError::Io(format!("stopping {name}"), error))?;
        let status = ended.ok_or_else(|| {
            InstanceError::Silent(format!("{name}, asked to stop,"), STOPPED_WITHIN, self.log_tail())
        })?;
        self.child = None;
        Ok(status)
    }

    /// Reports whether the process is running.
    pub fn is_running(&mut self) -> bool {
        self.child.as_mut().is_some_and(|child| matches!(child.try_wait(), Ok(None)))
    }

    /// Returns the flavor of the server.
    pub fn flavor(&self) -> Flavor {
        self.flavor
    }

    /// Returns the settings of the latest start.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the server's port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port.number()
    }

    /// Returns the path of the Unix socket, as seen from outside a chroot.
    pub fn socket(&self) -> PathBuf {
        self.place.outside("mysqld.sock")
    }

    /// Returns the path of the Unix socket as the server sees it, and programs that run where it
    /// runs.
    pub fn socket_inside(&self) -> String {
        self.place.inside("mysqld.sock")
    }

    /// Returns the path of the data directory, as seen from outside a chroot.
    pub fn datadir(&self) -> PathBuf {
        self.place.outside("data")
    }

    /// Returns the path of the error log, as seen from outside a chroot.
    pub fn error_log(&self) -> PathBuf {
        self.place.outside("error.log")
    }

    /// Returns the options of the server's command line that matter to the reader of a result.
    pub fn options_shown(&self) -> Vec<String> {
        command::options_that_matter(self.flavor, &self.settings)
    }

    /// Returns the CPU time and memory of the process; `None` when it does not run.
    pub fn usage(&self) -> Option<Usage> {
        usage::of(self.child.as_ref()?.id())
    }

    /// Resets the peak of [`Usage::peak_rss_bytes`] to the memory that is resident now, if the
    /// kernel supports it.
    pub fn forget_peak_rss(&self) {
        // Without the reset the peak is that of the process's whole life, which is not lower.
        let _ = self.pid().is_some_and(usage::forget_peak);
    }

    /// Returns the process id; `None` when the process does not run.
    pub fn pid(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// Returns the end of the error log and of the process's console output.
    pub fn log_tail(&self) -> String {
        let tail = |path: &Path| {
            let text = std::fs::read_to_string(path).unwrap_or_default();
            let lines: Vec<&str> = text.lines().collect();
            lines[lines.len().saturating_sub(30)..].join("\n")
        };
        format!("{}\n{}", tail(&self.error_log()), tail(&self.place.outside("console.log")))
    }

    fn name(&self) -> String {
        format!("{} on port {}", self.flavor, self.port())
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // The directory is removed when `place` is dropped, after the process that writes to it has
        // ended.
        self.kill();
    }
}
