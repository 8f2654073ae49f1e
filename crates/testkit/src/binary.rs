//! Finds or builds the `slipstream` binary under test.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Returns the path of the binary. It is what `SLIPSTREAM_BINARY` names, or else it is built from
/// this workspace in the same profile as the test.
pub fn slipstream() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| match std::env::var_os("SLIPSTREAM_BINARY") {
        Some(named) => {
            let named = PathBuf::from(named);
            assert!(named.is_file(), "SLIPSTREAM_BINARY names {}, which is not there", named.display());
            named
        }
        None => build(),
    })
}

fn build() -> PathBuf {
    // The path of a test's program is TARGET/PROFILE/deps/NAME.
    let test = std::env::current_exe().expect("the path of the running test");
    let profile_dir = test.parent().and_then(Path::parent).expect("a test runs below the target directory");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["build", "--quiet", "--package", "server", "--bin", "slipstream"]);
    command.arg("--manifest-path").arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.toml"));
    command.arg("--target-dir").arg(profile_dir.parent().expect("a target directory"));
    if profile_dir.ends_with("release") {
        command.arg("--release");
    }
    assert!(command.status().expect("cargo").success(), "the slipstream binary does not build");
    profile_dir.join("slipstream")
}
