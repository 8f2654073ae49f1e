//! `mysqld-auto.cnf`: the global values that SET PERSIST keeps for the next starts, in a file of
//! the data directory that has MySQL's form.
//!
//! In: values as the texts of options. Out: the same at the next start, where they stand above
//! those of option files and of the command line. A change is in the file before it is seen here.

use super::registry::find;
use super::store::Globals;
use super::{BadValue, Definition};
use os::disk::Disk;
use parking_lot::Mutex;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const FILE: &str = "mysqld-auto.cnf";
/// The version of the file's form, which is MySQL's since 8.0.29.
const VERSION: u64 = 2;
/// The sections of variables that SET can change, and of those that are set at start only.
const DYNAMIC: &str = "mysql_dynamic_variables";
const STATIC: &str = "mysql_static_variables";

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
pub fn may_be_kept(definition: &Definition) -> bool {
    (definition.is_option || !definition.read_only) && NEVER_KEPT.binary_search(&definition.name).is_err()
}

/// A value that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersistedValue {
    /// The value, as an option of the command line has it.
    pub value: String,
    /// The user and the host of the account that has set it.
    pub by: (String, String),
    /// The time when it was set, in microseconds of Unix time.
    pub set_at_us: u64,
}

/// All values that are kept, by the variables' names.
pub struct Persisted {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    /// The lock is held while the file is written, so that the last change is the one in the file.
    /// No other lock is taken under it.
    values: Mutex<BTreeMap<String, PersistedValue>>,
}

fn corrupt(path: &Path, what: &dyn std::fmt::Display) -> io::Error {
    let text = format!(
        "{}: Persisted config file is corrupt. Please ensure it is valid JSON: {what}",
        path.display()
    );
    io::Error::new(io::ErrorKind::InvalidData, text)
}

fn read_value(entry: &Json) -> Option<PersistedValue> {
    let value = match &entry["Value"] {
        Json::String(text) => text.clone(),
        Json::Bool(on) => if *on { "ON" } else { "OFF" }.to_owned(),
        Json::Number(number) => number.to_string(),
        _ => return None,
    };
    let of = &entry["Metadata"];
    let text = |key: &str| of[key].as_str().unwrap_or_default().to_owned();
    let set_at_us = of["Timestamp"].as_u64().unwrap_or_default();
    Some(PersistedValue { value, by: (text("User"), text("Host")), set_at_us })
}

/// Reads the values of all sections, which MySQL has several of for different times of a start.
fn read(bytes: &[u8]) -> Result<BTreeMap<String, PersistedValue>, String> {
    let whole: Json = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    let Json::Object(sections) = &whole else { return Err("it is no object".to_owned()) };
    let mut values = BTreeMap::new();
    for (name, section) in sections.iter().filter(|(name, _)| name.ends_with("_variables")) {
        let Json::Object(section) = section else { return Err(format!("{name} is no object")) };
        for (variable, entry) in section {
            let value = read_value(entry).ok_or_else(|| format!("{variable} has no value"))?;
            // MySQL writes the older names of some variables beside them.
            let variable = find(variable).map_or(variable.as_str(), |id| id.definition().name);
            values.insert(variable.to_owned(), value);
        }
    }
    Ok(values)
}

fn written(values: &BTreeMap<String, PersistedValue>) -> Json {
    let mut sections: [Map<String, Json>; 2] = Default::default();
    for (name, kept) in values {
        let is_static = find(name).is_some_and(|id| id.definition().read_only);
        let (user, host) = &kept.by;
        let of = json!({ "Host": host, "User": user, "Timestamp": kept.set_at_us });
        sections[usize::from(is_static)].insert(name.clone(), json!({ "Value": kept.value, "Metadata": of }));
    }
    let [dynamic, of_start] = sections;
    let mut whole = json!({ "Version": VERSION });
    for (name, section) in [(STATIC, of_start), (DYNAMIC, dynamic)] {
        if !section.is_empty() {
            whole[name] = Json::Object(section);
        }
    }
    whole
}

impl Persisted {
    /// Reads the file of a data directory, if there is one.
    ///
    /// # Errors
    /// Returns an error when the file cannot be read or is not what MySQL writes.
    pub fn open(disk: &Arc<dyn Disk>, datadir: &Path) -> io::Result<Persisted> {
        let path = datadir.join(FILE);
        let values = match disk.exists(&path)? {
            true => read(&disk.read(&path)?).map_err(|what| corrupt(&path, &what))?,
            false => BTreeMap::new(),
        };
        Ok(Persisted { disk: disk.clone(), path, values: Mutex::new(values) })
    }

    /// Puts the values into force at a start. Returns warnings of what was adjusted or passed over.
    ///
    /// # Errors
    /// Returns mysqld's error for a value that its variable cannot have.
    pub fn apply(&self, globals: &Globals) -> Result<Vec<String>, BadValue> {
        let mut warnings = Vec::new();
        for (name, kept) in self.values.lock().iter() {
            let Some(id) = find(name).filter(|id| may_be_kept(id.definition())) else {
                let text =
                    format!("currently unknown variable '{name}' was read from the persisted config file");
                warnings.push(text);
                continue;
            };
            let (setting, note) = id.definition().from_option(Some(&kept.value))?;
            globals.set(id, setting);
            warnings.extend(note);
        }
        Ok(warnings)
    }

    fn change(&self, change: impl FnOnce(&mut BTreeMap<String, PersistedValue>)) -> io::Result<()> {
        let mut values = self.values.lock();
        let mut after = values.clone();
        change(&mut after);
        self.disk.write_secret_atomically(&self.path, format!("{}\n", written(&after)).as_bytes())?;
        *values = after;
        Ok(())
    }

    /// Keeps a value.
    ///
    /// # Errors
    /// Returns an error when the file cannot be written.
    pub fn keep(&self, name: &str, value: PersistedValue) -> io::Result<()> {
        self.change(|values| drop(values.insert(name.to_owned(), value)))
    }

    /// Forgets the value of a variable, or all values.
    ///
    /// # Errors
    /// Returns an error when the file cannot be written.
    pub fn forget(&self, name: Option<&str>) -> io::Result<()> {
        self.change(|values| match name {
            Some(name) => drop(values.remove(name)),
            None => values.clear(),
        })
    }

    /// Returns the values that are kept, by the variables' names.
    pub fn values(&self) -> BTreeMap<String, PersistedValue> {
        self.values.lock().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Setting, default_globals};
    use super::*;

    fn at(disk: &Arc<dyn Disk>) -> io::Result<Persisted> {
        Persisted::open(disk, Path::new("/data"))
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
        assert_eq!(again.apply(&globals), Ok(Vec::new()));
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
        let warnings = persisted.apply(&globals).unwrap();
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
        assert!(at(&disk).unwrap().apply(&default_globals()).is_err());
    }
}
