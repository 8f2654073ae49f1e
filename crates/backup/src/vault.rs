//! A place with the key under which its files are encrypted, if they are.

use std::io::{self, Read, Write};

use crate::error::{BackupError, Result};
use crate::seal::{self, Key, Sealing, Unsealing};
use crate::store::{Sink, Store, Version, read_all};

/// A place and its key. Every file of a backup is encrypted, the manifest among them, or none.
pub(crate) struct Vault {
    pub store: Box<dyn Store>,
    key: Option<Key>,
}

/// A file that is encrypted on its way.
struct Sealed<'a>(Sealing<Box<dyn Sink + 'a>>, String);

impl Write for Sealed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Sink for Sealed<'_> {
    fn finish(self: Box<Self>) -> Result<()> {
        let Sealed(sealing, name) = *self;
        sealing.finish().map_err(|error| BackupError::Io(name, error))?.finish()
    }
}

impl Vault {
    pub fn new(store: Box<dyn Store>, key: Option<Key>) -> Vault {
        Vault { store, key }
    }

    pub fn is_encrypted(&self) -> bool {
        self.key.is_some()
    }

    /// Returns the name by which messages call a file.
    pub fn name(&self, path: &str) -> String {
        self.store.name(path)
    }

    /// Opens a file, to be read from its beginning on.
    pub fn open(&self, path: &str) -> Result<Box<dyn Read + '_>> {
        let raw = self.store.open(path)?;
        Ok(match &self.key {
            Some(key) => Box::new(Unsealing::new(raw, key, &self.name(path))?),
            None => raw,
        })
    }

    /// Makes a file, as [`Store::create`] does.
    pub fn create(&self, path: &str, expected_bytes: u64) -> Result<Box<dyn Sink + '_>> {
        let raw = self.store.create(path, expected_bytes)?;
        let Some(key) = &self.key else { return Ok(raw) };
        let name = self.name(path);
        let sealing = Sealing::new(raw, key).map_err(|error| BackupError::Io(name.clone(), error))?;
        Ok(Box::new(Sealed(sealing, name)))
    }

    /// Reads a whole small file and its version. `None` means that it does not exist.
    pub fn read_version(&self, path: &str) -> Result<Option<(Vec<u8>, Version)>> {
        self.unsealed(path, self.store.read_version(path)?)
    }

    /// Reads a whole small file, as [`Store::read_newer`] does.
    pub fn read_newer(&self, path: &str, seen: &Version) -> Result<Option<(Vec<u8>, Version)>> {
        self.unsealed(path, self.store.read_newer(path, seen)?)
    }

    fn unsealed(&self, path: &str, read: Option<(Vec<u8>, Version)>) -> Result<Option<(Vec<u8>, Version)>> {
        let Some((raw, version)) = read else { return Ok(None) };
        let name = self.name(path);
        let bytes = match &self.key {
            Some(key) => read_all(&mut Unsealing::new(&raw[..], key, &name)?, &name)?,
            None if raw.starts_with(&seal::MAGIC) => {
                let what = format!("{name} is encrypted: the file with its key is needed");
                return Err(BackupError::Refused(what));
            }
            None => raw,
        };
        Ok(Some((bytes, version)))
    }

    /// Replaces a small file, as [`Store::replace`] does.
    pub fn replace(&self, path: &str, bytes: &[u8], seen: Option<&Version>) -> Result<Option<Version>> {
        let Some(key) = &self.key else { return self.store.replace(path, bytes, seen) };
        let sealed = Sealing::new(Vec::new(), key).and_then(|mut sealing| {
            sealing.write_all(bytes)?;
            sealing.finish()
        });
        let sealed = sealed.map_err(|error| BackupError::Io(self.name(path), error))?;
        self.store.replace(path, &sealed, seen)
    }
}
