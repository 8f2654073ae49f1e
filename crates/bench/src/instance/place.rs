//! The directory of an instance. It has two names when the server runs in a chroot: one inside and
//! one outside.
//!
//! The directory's name contains the process id of the run that made it. A run removes the
//! directories that dead runs left behind, and ends the servers that still write to them. The
//! directory of a living run is left alone.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use super::error::InstanceError;
use super::settings::Flavor;

const PREFIX: &str = "slipstream-kit-";

/// The number of the next directory of this process. Only its uniqueness matters.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// Returns the directory where `scripts/peers.sh` puts MySQL and where prototypes of data
/// directories are kept.
pub fn peers_dir() -> PathBuf {
    std::env::var_os("SLIPSTREAM_PEERS_DIR").map_or("/var/cache/slipstream-peers".into(), PathBuf::from)
}

pub(super) fn mysql_chroot() -> PathBuf {
    peers_dir().join("mysql-chroot")
}

/// The directory of an instance. Dropping it removes the directory.
#[derive(Debug)]
pub struct Place {
    outside: PathBuf,
    inside: PathBuf,
}

impl Place {
    /// Makes an empty directory that a server of this flavor can reach.
    pub fn create(flavor: Flavor) -> Result<Place, InstanceError> {
        let chroot = match flavor {
            Flavor::MySql => Some(mysql_chroot()),
            Flavor::Slipstream | Flavor::MariaDb => None,
        };
        let parent = chroot.as_ref().map_or_else(std::env::temp_dir, |root| root.join("tmp"));
        sweep(&parent);
        let name = format!("{PREFIX}{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let outside = parent.join(&name);
        let inside = if chroot.is_some() { Path::new("/tmp").join(&name) } else { outside.clone() };
        std::fs::create_dir(&outside)
            .map_err(|error| InstanceError::Io(format!("making {}", outside.display()), error))?;
        Ok(Place { outside, inside })
    }

    /// Returns the path of a file in this directory, as seen from outside a chroot.
    pub fn outside(&self, name: &str) -> PathBuf {
        self.outside.join(name)
    }

    /// Returns the path of a file in this directory, as the server sees it.
    pub fn inside(&self, name: &str) -> String {
        self.inside.join(name).display().to_string()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // Nothing can be done about a failure here. The next run removes what is left.
        let _ = std::fs::remove_dir_all(&self.outside);
    }
}

/// Removes the directories of runs that have ended, and ends the servers that such runs left
/// behind.
fn sweep(parent: &Path) {
    let Ok(entries) = std::fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(owner) = name.strip_prefix(PREFIX).and_then(|rest| rest.split('-').next()) else { continue };
        if owner.parse::<u32>().is_ok() && !Path::new("/proc").join(owner).exists() {
            end_servers_in(&name);
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Ends the processes whose data directory lies in the directory of this name. The name contains
/// the process id of an earlier run of the kit, so no other server can match.
fn end_servers_in(name: &str) {
    let Ok(processes) = std::fs::read_dir("/proc") else { return };
    let datadir = format!("{name}/data");
    for process in processes.flatten() {
        let pid = process.file_name().to_string_lossy().into_owned();
        let command_line = std::fs::read_to_string(process.path().join("cmdline")).unwrap_or_default();
        let mut words = command_line.split('\0');
        if pid.parse::<u32>().is_ok()
            && words.any(|word| word.starts_with("--datadir=") && word.ends_with(&datadir))
        {
            let _ = Command::new("/bin/sh").arg("-c").arg(format!("kill -KILL {pid}")).status();
        }
    }
}

/// Copies a directory tree with all its attributes. This is fast on file systems that can share
/// blocks.
pub(super) fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    let status = Command::new("cp").args(["-a", "--reflink=auto"]).arg(from).arg(to).status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("cp ended with {status}"))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_dead_run_left_is_swept_and_a_living_one_is_not() {
        let parent = std::env::temp_dir().join(format!("slipstream-sweep-{}", std::process::id()));
        // No process has this id: the kernel's limit is 2^22.
        let dead = parent.join(format!("{PREFIX}4194305-0"));
        let living = parent.join(format!("{PREFIX}{}-0", std::process::id()));
        let foreign = parent.join("4194305-0");
        for dir in [&dead, &living, &foreign] {
            std::fs::create_dir_all(dir).expect("a directory");
        }
        sweep(&parent);
        assert!(!dead.exists() && living.exists() && foreign.exists());
        std::fs::remove_dir_all(parent).expect("our own directory");
    }

    #[test]
    fn a_place_goes_with_its_value() {
        let place = Place::create(Flavor::MariaDb).expect("a temporary directory");
        let inside = place.outside("data");
        assert_eq!(place.inside("data"), inside.display().to_string());
        let directory = inside.parent().expect("a parent").to_path_buf();
        assert!(directory.exists());
        drop(place);
        assert!(!directory.exists());
    }
}
