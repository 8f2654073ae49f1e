//! `mysqld-auto.cnf`: the global values that SET PERSIST keeps for the next starts, in a file of
//! the data directory that has MySQL's form.
//!
//! In: values as the texts of options. Out: the same at the next start, where they stand above
//! those of option files and of the command line. A change is in the file before it is seen here.

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

/// A function that finds a variable by its name or an older one. It returns the variable's name,
/// and whether the variable is set at start only.
pub type FindKind = fn(&str) -> Option<(&'static str, bool)>;

/// All values that are kept, by the variables' names.
pub struct Persisted {
    find: FindKind,
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
fn read(bytes: &[u8], find: FindKind) -> Result<BTreeMap<String, PersistedValue>, String> {
    let whole: Json = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    let Json::Object(sections) = &whole else { return Err("it is no object".to_owned()) };
    let mut values = BTreeMap::new();
    for (name, section) in sections.iter().filter(|(name, _)| name.ends_with("_variables")) {
        let Json::Object(section) = section else { return Err(format!("{name} is no object")) };
        for (variable, entry) in section {
            let value = read_value(entry).ok_or_else(|| format!("{variable} has no value"))?;
            // MySQL writes the older names of some variables beside them.
            let variable = find(variable).map_or(variable.as_str(), |(name, _)| name);
            values.insert(variable.to_owned(), value);
        }
    }
    Ok(values)
}

fn written(values: &BTreeMap<String, PersistedValue>, find: FindKind) -> Json {
    let mut sections: [Map<String, Json>; 2] = Default::default();
    for (name, kept) in values {
        let is_static = find(name).is_some_and(|(_, is_static)| is_static);
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
    pub fn open(disk: &Arc<dyn Disk>, datadir: &Path, find: FindKind) -> io::Result<Persisted> {
        let path = datadir.join(FILE);
        let values = match disk.exists(&path)? {
            true => read(&disk.read(&path)?, find).map_err(|what| corrupt(&path, &what))?,
            false => BTreeMap::new(),
        };
        Ok(Persisted { find, disk: disk.clone(), path, values: Mutex::new(values) })
    }

    fn change(&self, change: impl FnOnce(&mut BTreeMap<String, PersistedValue>)) -> io::Result<()> {
        let mut values = self.values.lock();
        let mut after = values.clone();
        change(&mut after);
        self.disk
            .write_secret_atomically(&self.path, format!("{}\n", written(&after, self.find)).as_bytes())?;
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

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the values that are kept, by the variables' names.
    pub fn values(&self) -> BTreeMap<String, PersistedValue> {
        self.values.lock().clone()
    }
}
