//! The directory of a cluster, the programs that run in it, whose guard ends them.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use bench::instance::Flavor;

use super::guard::Guard;
use crate::running::Running;

/// The id of the user and the group `nobody`, in Debian.
const NOBODY: u32 = 65_534;

/// Returns the directory of Vitess' programs.
pub(super) fn programs() -> PathBuf {
    bench::instance::peers_dir().join("vitess/bin")
}

/// Returns where PATH has this program.
pub(super) fn path_of(program: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|dir| dir.join(program)).find(|file| file.is_file());
    found.unwrap_or_else(|| panic!("{program} is not in PATH"))
}

fn is_root() -> bool {
    // SAFETY: the call takes no arguments and returns a number.
    unsafe { libc::geteuid() == 0 }
}

/// Writes a program that runs the peers' MySQL outside of its chroot. It needs the chroot's loader,
/// libraries and messages there. Vitess learns from `--version` what it deals with.
fn write_wrapper(path: &Path) {
    let chroot = bench::instance::peers_dir().join("mysql-chroot");
    let script = format!(
        r#"#!/bin/bash
case " $* " in
*" --version "*) echo "/usr/sbin/mysqld  Ver 9.7.0 for Linux on x86_64 (MySQL)"; exit 0 ;;
esac
root={}
lib=$root/usr/lib/$(uname -m)-linux-gnu
loader=("$lib"/ld-linux-*.so.*)
exec "${{loader[0]}}" --library-path "$lib" "$root/usr/sbin/mysqld" "$@" --mysqlx=OFF \
  --lc-messages-dir="$root/usr/share/mysql" --character-sets-dir="$root/usr/share/mysql/charsets" \
  --plugin-dir="$root/usr/lib/mysql/plugin"
"#,
        chroot.display()
    );
    os::disk::real().write_atomically(path, script.as_bytes()).expect("a script");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a program");
}

/// The directory in which all programs of a cluster run. Dropping it ends them and removes it.
pub(super) struct Place {
    directory: PathBuf,
    _guard: Guard,
}

impl Place {
    /// Makes the directory, with the binary under test or with MySQL as its `mysqld`.
    pub(super) fn make(name: &str, server: Flavor) -> Place {
        let directory = std::env::temp_dir().join(name);
        fs::create_dir_all(&directory).expect("a directory");
        // The guard compares with what the kernel tells, which has no links.
        let directory = directory.canonicalize().expect("the directory's own path");
        let place = Place { _guard: Guard::of(&directory), directory };
        place.fill(server);
        place
    }

    fn fill(&self, server: Flavor) {
        let bin = self.directory.join("root/bin");
        for made in ["root/bin", "data/tmp", "home", "backups"] {
            fs::create_dir_all(self.directory.join(made)).unwrap_or_else(|error| panic!("{made}: {error}"));
        }
        if server == Flavor::MySql {
            write_wrapper(&bin.join("mysqld"));
        } else {
            // The binary is copied, because `nobody` may not be able to reach it where it is.
            fs::copy(crate::binary::slipstream(), bin.join("slipstream")).expect("a copy of the binary");
            symlink("slipstream", bin.join("mysqld")).expect("a link");
        }
        for client in ["mysql", "mysqladmin"] {
            symlink(path_of(client), bin.join(client)).expect("a link");
        }
        for given in ["", "root", "data", "data/tmp", "home", "backups"] {
            self.give_away(&self.directory.join(given));
        }
    }

    /// Gives a file or a directory to the user that Vitess runs as.
    pub(super) fn give_away(&self, path: &Path) {
        if is_root() {
            chown(path, Some(NOBODY), Some(NOBODY)).expect("a new owner");
        }
    }

    /// Returns a path in the directory.
    pub(super) fn path(&self, inside: &str) -> PathBuf {
        self.directory.join(inside)
    }

    /// Returns a command that runs as the cluster's user and in its environment.
    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        if is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
            .current_dir(&self.directory)
            .env("VT_MYSQL_ROOT", self.path("root"))
            .env("VTDATAROOT", self.path("data"))
            .env("HOME", self.path("home"))
            .stdin(Stdio::null());
        command
    }

    /// Starts a program that runs beside the test. What the program says goes to a file.
    pub(super) fn run_beside(&self, name: &str, program: &Path, arguments: &[String]) -> Running {
        let output = self.path(&format!("data/tmp/{name}.out"));
        Running::start_into(self.command(program).args(arguments), &output)
    }

    /// Runs one of Vitess' programs to its end. It returns whether the program succeeded, and what
    /// it said.
    pub(super) fn run(&self, program: &str, arguments: &[String]) -> (bool, String) {
        let said = self.command(&programs().join(program)).args(arguments).output();
        let output = said.unwrap_or_else(|error| panic!("{program}: {error}"));
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        (output.status.success(), text.concat())
    }

    /// Returns the last lines of what the programs have said.
    pub(super) fn logs(&self) -> String {
        let Ok(files) = fs::read_dir(self.path("data/tmp")) else { return String::new() };
        let mut logs = String::new();
        for path in
            files.flatten().map(|entry| entry.path()).filter(|path| path.extension() == Some("out".as_ref()))
        {
            let text = fs::read_to_string(&path).unwrap_or_default();
            let lines: Vec<&str> = text.lines().collect();
            let last = &lines[lines.len().saturating_sub(5)..];
            logs += &format!("== {}\n{}\n", path.display(), last.join("\n"));
        }
        logs
    }
}
