//! Fresh data directories. MySQL and MariaDB take seconds to make one, so the kit keeps a prototype
//! for each version and copies it.
//!
//! A prototype is built under another name and renamed when it is complete, so that concurrent and
//! interrupted runs do no harm. It holds no binary log and no server UUID, so that every copy
//! becomes a server of its own.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use protocol::client::{Client, ConnectOptions};

use super::command;
use super::error::InstanceError;
use super::place::{Place, copy_tree, peers_dir};
use super::process::is_root;
use super::settings::{Flavor, Settings, USER};

/// Puts a fresh data directory at `data` in `place`.
pub(super) fn lay_down(flavor: Flavor, settings: &Settings, place: &Place) -> Result<(), InstanceError> {
    let data = place.outside("data");
    match flavor {
        Flavor::Slipstream => run(initialize_slipstream(settings, place), "initialising a data directory"),
        Flavor::MariaDb | Flavor::MySql => {
            let prototype = of_version(flavor, settings)?;
            copy_tree(&prototype, &data)
                .map_err(|error| InstanceError::Io(format!("copying {}", prototype.display()), error))
        }
    }
}

fn initialize_slipstream(settings: &Settings, place: &Place) -> Vec<String> {
    let mut words = command::program(Flavor::Slipstream, settings);
    words.push("--initialize-insecure".to_string());
    words.push(format!("--datadir={}", place.inside("data")));
    // Settings such as the page size are fixed when the data directory is made.
    words.extend(command::page_size(settings));
    words.extend(settings.extra.iter().cloned());
    words
}

/// Returns the path of the prototype for the installed version, and builds it if there is none.
fn of_version(flavor: Flavor, settings: &Settings) -> Result<PathBuf, InstanceError> {
    let version = version(flavor, settings)?;
    let mut hasher = DefaultHasher::new();
    (version, STATEMENTS_VERSION).hash(&mut hasher);
    // An option that is not set adds nothing to the hash, so that the prototypes of the default
    // page size keep their names.
    command::page_size(settings).iter().for_each(|option| option.hash(&mut hasher));
    let parent = cache_dir()?;
    let prototype = parent.join(format!("{}-{:016x}", flavor.to_string().to_lowercase(), hasher.finish()));
    if prototype.is_dir() {
        return Ok(prototype);
    }
    let place = Place::create(flavor)?;
    match flavor {
        Flavor::MariaDb => build_mariadb(settings, &place)?,
        Flavor::MySql => build_mysql(settings, &place)?,
        Flavor::Slipstream => unreachable!("Slipstream initialises in milliseconds and has no prototype"),
    }
    let building = parent.join(format!(".building-{}-{:?}", std::process::id(), std::thread::current().id()));
    let failed = |error| InstanceError::Io(format!("keeping {}", prototype.display()), error);
    copy_tree(&place.outside("data"), &building).map_err(failed)?;
    match std::fs::rename(&building, &prototype) {
        Ok(()) => Ok(prototype),
        // Another run has built the same prototype in the meantime.
        Err(_) if prototype.is_dir() => {
            std::fs::remove_dir_all(&building).map_err(failed)?;
            Ok(prototype)
        }
        Err(error) => Err(failed(error)),
    }
}

/// Returns the directory of the prototypes: below the peers' directory, or a temporary one for
/// users other than root.
fn cache_dir() -> Result<PathBuf, InstanceError> {
    let shared = peers_dir().join("prototypes");
    if std::fs::create_dir_all(&shared).is_ok() && is_root() {
        return Ok(shared);
    }
    let own = std::env::temp_dir().join("slipstream-prototypes");
    std::fs::create_dir_all(&own)
        .map_err(|error| InstanceError::Io(format!("making {}", own.display()), error))?;
    Ok(own)
}

fn version(flavor: Flavor, settings: &Settings) -> Result<String, InstanceError> {
    let mut words = command::program(flavor, settings);
    words.push("--version".to_string());
    let output = Command::new(&words[0])
        .args(&words[1..])
        .output()
        .map_err(|error| InstanceError::Io(format!("asking {flavor} for its version"), error))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A number that must change when the statements below change, so that no older prototype is used.
const STATEMENTS_VERSION: u32 = 1;

/// Returns the statements that make the kit's user. It gets an account for `localhost` as well,
/// because a fresh MariaDB has an anonymous user there that takes precedence over '%'.
fn create_user() -> String {
    ["%", "localhost"]
        .map(|host| {
            format!(
                "CREATE USER '{USER}'@'{host}' IDENTIFIED BY '{USER}';\n\
                 GRANT ALL PRIVILEGES ON *.* TO '{USER}'@'{host}' WITH GRANT OPTION;\n"
            )
        })
        .concat()
}

/// Makes the kit's user on a fresh Slipstream server that listens on this socket. The server has a
/// `root` without a password.
pub(super) fn create_accounts(socket: &Path) -> Result<(), InstanceError> {
    let refused = |error| InstanceError::Refused(format!("making user '{USER}'"), error);
    // The client uses the socket, because with skip_name_resolve no TCP client counts as localhost.
    let mut root = Client::connect(&ConnectOptions::unix(socket)).map_err(refused)?;
    root.query("SET SESSION sql_log_bin = 0").map_err(refused)?;
    for statement in create_user().lines() {
        root.query(statement.trim_end_matches(';')).map_err(refused)?;
    }
    root.quit();
    Ok(())
}

fn write_statements(place: &Place, name: &str, statements: &str) -> Result<PathBuf, InstanceError> {
    let path = place.outside(name);
    os::disk::real()
        .write_atomically(&path, statements.as_bytes())
        .map_err(|error| InstanceError::Io(format!("writing {}", path.display()), error))?;
    Ok(path)
}

fn build_mariadb(settings: &Settings, place: &Place) -> Result<(), InstanceError> {
    // The bootstrap server runs without grant tables until they are loaded.
    let statements = format!("FLUSH PRIVILEGES;\n{}", create_user());
    let extra = write_statements(place, "user.sql", &statements)?;
    let mut words = vec![
        "mariadb-install-db".to_string(),
        "--no-defaults".to_string(),
        format!("--datadir={}", place.inside("data")),
        "--auth-root-authentication-method=normal".to_string(),
        "--skip-test-db".to_string(),
        "--innodb-log-file-size=8M".to_string(),
        format!("--extra-file={}", extra.display()),
    ];
    words.extend(command::page_size(settings));
    if is_root() {
        words.push("--user=root".to_string());
    }
    run(words, "making MariaDB's data directory")
}

fn build_mysql(settings: &Settings, place: &Place) -> Result<(), InstanceError> {
    write_statements(place, "user.sql", &create_user())?;
    let mut words = command::program(Flavor::MySql, &Settings::default());
    words.extend([
        "--user=root".to_string(),
        "--initialize-insecure".to_string(),
        "--skip-log-bin".to_string(),
        "--innodb-redo-log-capacity=8M".to_string(),
        format!("--datadir={}", place.inside("data")),
        format!("--init-file={}", place.inside("user.sql")),
    ]);
    words.extend(command::page_size(settings));
    run(words, "making MySQL's data directory")?;
    // The file holds the server's UUID. A server that does not find it makes a new one.
    remove_if_there(&place.outside("data").join("auto.cnf"))
}

fn remove_if_there(path: &Path) -> Result<(), InstanceError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(InstanceError::Io(format!("removing {}", path.display()), error))
        }
        _ => Ok(()),
    }
}

fn run(words: Vec<String>, what: &str) -> Result<(), InstanceError> {
    let output = Command::new(&words[0])
        .args(&words[1..])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| InstanceError::Io(what.to_string(), error))?;
    if output.status.success() {
        return Ok(());
    }
    let said =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    Err(InstanceError::Ended(what.to_string(), output.status, said))
}
