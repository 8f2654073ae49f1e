//! A browser without a screen, which loads a page as a user's browser does: with its scripts, its
//! styles and the rules that the page's head sets.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The program. `scripts/peers.sh` installs it.
pub const BROWSER: &str = "chromium";

/// The colours that a user prefers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// Dark letters on a light page.
    Light,
    /// Light letters on a dark page.
    Dark,
}

/// The page as the browser has it after its scripts have run.
#[derive(Debug)]
pub struct Loaded {
    /// The document, written as HTML.
    pub dom: String,
    /// What the browser said in the page's console: errors of scripts, and what it refused to load.
    pub console: Vec<String>,
    /// Everything that the browser's program said, such as why it could not load a page.
    pub said: String,
}

/// A browser with a profile of its own.
pub struct Browser {
    profile: PathBuf,
}

impl Browser {
    /// Makes a profile that is deleted with the value.
    pub fn new(name: &str) -> Browser {
        let profile = std::env::temp_dir().join(format!("slipstream-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&profile).unwrap_or_else(|error| panic!("{}: {error}", profile.display()));
        Browser { profile }
    }

    /// Returns a path in the profile's directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.profile.join(name)
    }

    /// Loads a page, lets its scripts run for some seconds of the browser's own time, and returns
    /// the document.
    pub fn load(&self, address: &str) -> Loaded {
        let mut command = self.command(Scheme::Light, (1280, 1000));
        command.args(["--enable-logging=stderr", "--dump-dom", address]);
        let output = command.output().unwrap_or_else(|error| panic!("{BROWSER}: {error}"));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{BROWSER} {address}:\n{said}");
        let console = said.lines().filter(|line| line.contains("CONSOLE")).map(str::to_owned).collect();
        Loaded { dom: String::from_utf8_lossy(&output.stdout).into_owned(), console, said }
    }

    /// Makes a picture of a page, in PNG, in a window of this width and height in pixels.
    pub fn picture(&self, address: &str, scheme: Scheme, size: (u32, u32), file: &Path) {
        let mut command = self.command(scheme, size);
        command.arg(format!("--screenshot={}", file.display())).arg(address);
        let output = command.output().unwrap_or_else(|error| panic!("{BROWSER}: {error}"));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && file.exists(), "{BROWSER} {address}:\n{said}");
    }

    fn command(&self, scheme: Scheme, (width, height): (u32, u32)) -> Command {
        let mut command = Command::new(BROWSER);
        // Root may not use the browser's sandbox. The page comes from a server of the test.
        command.args(["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]);
        command.args(["--disable-dev-shm-usage", "--no-first-run", "--virtual-time-budget=4000"]);
        command.arg(format!("--user-data-dir={}", self.profile.join("profile").display()));
        command.arg(format!("--window-size={width},{height}"));
        let number = if scheme == Scheme::Dark { 0 } else { 1 };
        command.arg(format!("--blink-settings=preferredColorScheme={number}"));
        command.stdin(Stdio::null());
        command
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Whoever reads a failed test needs the failure and not this one.
        let _left = std::fs::remove_dir_all(&self.profile);
    }
}
