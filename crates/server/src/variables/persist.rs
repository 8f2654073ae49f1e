//! SET PERSIST, SET PERSIST_ONLY and RESET PERSIST, and what they have kept at the next start.

use super::origin::Origin;
use super::persisted::{Persisted, PersistedValue};
use super::{BadValue, Definition, Globals, Kind, VariableId, find};
use crate::server::Server;
use os::disk::Disk;
use sql::{SqlError, VariableScope};
use std::io;
use std::path::Path;
use std::sync::Arc;
use types::Value;

/// The variables that MySQL 9.7 keeps for no later start although they may be options.
const NEVER_KEPT: &[&str] = &[
    "admin_address",
    "admin_port",
    "auto_generate_certs",
    "basedir",
    "bind_address",
    "caching_sha2_password_auto_generate_rsa_keys",
    "caching_sha2_password_private_key_path",
    "caching_sha2_password_public_key_path",
    "character_set_system",
    "character_sets_dir",
    "core_file",
    "create_admin_listener_thread",
    "datadir",
    "ft_stopword_file",
    "gtid_executed",
    "gtid_owned",
    "gtid_purged",
    "init_file",
    "innodb_buffer_pool_load_at_startup",
    "innodb_data_file_path",
    "innodb_data_home_dir",
    "innodb_dedicated_server",
    "innodb_directories",
    "innodb_doublewrite",
    "innodb_force_load_corrupted",
    "innodb_log_group_home_dir",
    "innodb_page_size",
    "innodb_read_only",
    "innodb_temp_data_file_path",
    "innodb_temp_tablespaces_dir",
    "innodb_undo_directory",
    "large_page_size",
    "lc_messages_dir",
    "locked_in_memory",
    "log_bin",
    "log_bin_basename",
    "log_bin_index",
    "log_error",
    "lower_case_file_system",
    "persist_only_admin_x509_subject",
    "persist_sensitive_variables_in_plaintext",
    "persisted_globals_load",
    "pid_file",
    "plugin_dir",
    "port",
    "relay_log",
    "relay_log_basename",
    "relay_log_index",
    "replica_load_tmpdir",
    "restrict_fk_on_non_standard_key",
    "secure_file_priv",
    "sha256_password_auto_generate_rsa_keys",
    "sha256_password_private_key_path",
    "sha256_password_public_key_path",
    "skip_external_locking",
    "skip_networking",
    "socket",
    "tls_certificates_enforced_validation",
    "tmpdir",
];

/// Reports whether a variable's value may be kept for later starts.
fn may_be_kept(definition: &Definition) -> bool {
    (definition.is_option || !definition.read_only) && NEVER_KEPT.binary_search(&definition.name).is_err()
}

/// Opens the file of the values that are kept in a data directory.
///
/// # Errors
/// Returns the errors of [`Persisted::open`].
pub fn open_persisted(disk: &Arc<dyn Disk>, datadir: &Path) -> io::Result<Persisted> {
    Persisted::open(disk, datadir, |name| {
        let definition = find(name)?.definition();
        Some((definition.name, definition.read_only))
    })
}

/// Puts the values that are kept into force at a start. Returns warnings of what was adjusted or
/// passed over.
///
/// # Errors
/// Returns mysqld's error for a value that its variable cannot have.
pub fn apply_persisted(persisted: &Persisted, globals: &Globals) -> Result<Vec<String>, BadValue> {
    let mut warnings = Vec::new();
    for (name, kept) in persisted.values() {
        let Some(id) = find(&name).filter(|id| may_be_kept(id.definition())) else {
            warnings
                .push(format!("currently unknown variable '{name}' was read from the persisted config file"));
            continue;
        };
        let (setting, note) = id.definition().from_option(Some(&kept.value))?;
        globals.set(id, setting);
        let path = persisted.path().display().to_string();
        let set = Some((kept.set_at_us, kept.by));
        globals.note_origin(id, Origin { source: "PERSISTED", path, set });
        warnings.extend(note);
    }
    Ok(warnings)
}

/// Checks that a value of a variable may be kept for later starts. `scope` tells SET PERSIST from
/// SET PERSIST_ONLY.
///
/// # Errors
/// Returns 1238 for a variable that is never kept, and the errors of [`Definition::from_sql`].
pub fn check_persist(
    definition: &Definition,
    scope: VariableScope,
    value: Option<&Value>,
) -> Result<(), SqlError> {
    if may_be_kept(definition) {
        return definition.from_sql(value).map(drop);
    }
    let kind = match scope {
        VariableScope::PersistOnly if definition.read_only => "non persistent read only",
        _ => "non persistent",
    };
    Err(SqlError::new(1238, format!("Variable '{}' is a {kind} variable", definition.name)))
}

/// Keeps a value for later starts. After SET PERSIST it is the global value as it is now, and
/// otherwise `value`, of which `None` is DEFAULT. As in MySQL, a number is moved into its range at
/// the start alone.
///
/// # Errors
/// Returns the errors of [`Definition::from_sql`], and 3 when the file cannot be written.
pub fn persist(
    server: &Server,
    by: (String, String),
    id: VariableId,
    scope: VariableScope,
    value: Option<&Value>,
) -> Result<(), SqlError> {
    let definition = id.definition();
    let text = match (scope, definition.kind, value) {
        (VariableScope::Persist, ..) => server.globals.get(id).to_string(),
        (_, Kind::Int(..) | Kind::UInt(..), Some(Value::Int(number))) => number.to_string(),
        (_, Kind::Int(..) | Kind::UInt(..), Some(Value::UInt(number))) => number.to_string(),
        _ => definition.from_sql(value)?.0.to_string(),
    };
    let kept = PersistedValue { value: text, by, set_at_us: os::clock::now_us() };
    server.persisted.keep(definition.name, kept).map_err(|error| cannot_write(&error))
}

/// Forgets the value of a variable, or all values that are kept. Returns false if there is none of
/// the variable.
///
/// # Errors
/// Returns the errors of `check` for a variable whose value is kept, and 3 when the file cannot
/// be written.
pub fn reset_persisted(
    server: &Server,
    name: Option<&str>,
    check: impl Fn(Option<&Definition>) -> Result<(), SqlError>,
) -> Result<bool, SqlError> {
    let definition = |name: &str| super::find(name).map(VariableId::definition);
    let values = server.persisted.values();
    let Some(name) = name else {
        values.keys().try_for_each(|name| check(definition(name)))?;
        return server.persisted.forget(None).map(|()| true).map_err(|error| cannot_write(&error));
    };
    let of = definition(name);
    let name = of.map_or_else(|| name.to_ascii_lowercase(), |of| of.name.to_owned());
    check(of)?;
    if !values.contains_key(&name) {
        return Ok(false);
    }
    server.persisted.forget(Some(&name)).map(|()| true).map_err(|error| cannot_write(&error))
}

fn cannot_write(error: &std::io::Error) -> SqlError {
    let number = error.raw_os_error().unwrap_or(5);
    SqlError::new(3, format!("Error writing file 'mysqld-auto.cnf' (OS errno {number} - {error})"))
}

#[cfg(test)]
mod tests {
    use super::super::{Setting, default_globals};
    use super::*;

    fn at(disk: &Arc<dyn Disk>) -> io::Result<Persisted> {
        open_persisted(disk, Path::new("/data"))
    }

    fn disk() -> Arc<dyn Disk> {
        let disk: Arc<dyn Disk> = Arc::new(os::sim::SimDisk::new(1));
        disk.create_dir_all(Path::new("/data")).unwrap();
        disk
    }

    fn kept(value: &str) -> PersistedValue {
        PersistedValue { value: value.into(), by: ("root".into(), "localhost".into()), set_at_us: 7 }
    }

    #[test]
    fn the_names_are_in_order() {
        assert!(NEVER_KEPT.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn values_come_back_and_are_put_into_force() {
        let disk = disk();
        let persisted = at(&disk).unwrap();
        persisted.keep("max_connections", kept("222")).unwrap();
        persisted.keep("back_log", kept("77")).unwrap();
        persisted.keep("wait_timeout", kept("5")).unwrap();
        persisted.forget(Some("wait_timeout")).unwrap();
        let again = at(&disk).unwrap();
        assert_eq!(again.values(), persisted.values());
        let globals = default_globals();
        assert_eq!(apply_persisted(&again, &globals), Ok(Vec::new()));
        let of = |name: &str| globals.named(name);
        assert_eq!((of("max_connections"), of("back_log")), (Setting::UInt(222), Setting::UInt(77)));
        assert_eq!(of("wait_timeout"), Setting::UInt(28_800));
        again.forget(None).unwrap();
        assert_eq!(disk.read(Path::new("/data/mysqld-auto.cnf")).unwrap(), b"{\"Version\":2}\n");
    }

    /// The text is one that MySQL 9.7 has written, with a variable added that does not exist.
    #[test]
    fn a_file_of_mysql_is_read() {
        let disk = disk();
        let text = r#"{"Version": 2, "mysql_static_variables": {"replica_parallel_workers": {"Value": "2", "Metadata": {"Host":
            "localhost", "User": "root", "Timestamp": 1795873747398753}}, "slave_parallel_workers": {"Value": "2", "Metadata":
            {"Host": "localhost", "User": "root", "Timestamp": 1795873747398753}}}, "mysql_dynamic_parse_early_variables":
            {"max_connections": {"Value": "999999999", "Metadata": {"Host": "", "User": "pu", "Timestamp": 1}},
            "no_such": {"Value": "1", "Metadata": {"Host": "", "User": "", "Timestamp": 1}}}}"#;
        disk.write_atomically(Path::new("/data/mysqld-auto.cnf"), text.as_bytes()).unwrap();
        let persisted = at(&disk).unwrap();
        let globals = default_globals();
        let warnings = apply_persisted(&persisted, &globals).unwrap();
        assert_eq!(globals.named("replica_parallel_workers"), Setting::UInt(2));
        assert_eq!(globals.named("max_connections"), Setting::UInt(100_000));
        assert_eq!(warnings.len(), 2, "{warnings:?}");
        assert_eq!(persisted.values().len(), 3);
        assert_eq!(persisted.values()["max_connections"].by.0, "pu");
    }

    #[test]
    fn a_damaged_file_and_a_wrong_value_are_errors() {
        let disk = disk();
        let path = Path::new("/data/mysqld-auto.cnf");
        for text in [
            "",
            "{",
            "7",
            r#"{"mysql_static_variables": 1}"#,
            r#"{"mysql_static_variables": {"back_log": {}}}"#,
        ] {
            disk.write_atomically(path, text.as_bytes()).unwrap();
            assert!(at(&disk).is_err(), "{text}");
        }
        let text = r#"{"mysql_static_variables": {"back_log": {"Value": "abc"}}}"#;
        disk.write_atomically(path, text.as_bytes()).unwrap();
        assert!(apply_persisted(&at(&disk).unwrap(), &default_globals()).is_err());
    }
}
