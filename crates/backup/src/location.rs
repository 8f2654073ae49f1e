//! The text by which a command line names the place of a backup.

use std::path::PathBuf;
use std::time::Duration;

use crate::directory::Directory;
use crate::error::Result;
use crate::object_place::ObjectPlace;
use crate::store::Store;

/// The schemes of object stores.
const SCHEMES: [&str; 3] = ["s3", "gs", "az"];

/// How long a run that ends by itself tries a request to a store again.
pub(crate) const PATIENCE: Duration = Duration::from_secs(180);

/// Where a backup is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A directory of this machine; an absolute path.
    Directory(PathBuf),
    /// A part of an object store, by its URL.
    Objects(String),
}

impl Location {
    /// Reads a path, `file:///PATH`, or the URL of a part of an object store.
    ///
    /// # Errors
    /// Returns the reason as a sentence.
    pub fn parse(text: &str) -> std::result::Result<Location, String> {
        let path = match text.split_once("://") {
            Some(("file", path)) if path.starts_with('/') => path,
            Some(("file", _)) => return Err("the form is file:///PATH".to_owned()),
            Some((scheme, rest)) if SCHEMES.contains(&scheme) => {
                let bucket = rest.split('/').next().unwrap_or_default();
                return match bucket.is_empty() {
                    true => Err(format!("the form is {scheme}://BUCKET/PREFIX")),
                    false => Ok(Location::Objects(text.to_owned())),
                };
            }
            Some((scheme, _)) => return Err(format!("'{scheme}' is none of file, s3, gs and az")),
            None => text,
        };
        let path = std::path::absolute(path).map_err(|error| error.to_string())?;
        Ok(Location::Directory(path))
    }

    /// Opens the place. `patience` is how long a request to a store is tried again.
    pub(crate) fn open(&self, patience: Duration) -> Result<Box<dyn Store>> {
        Ok(match self {
            Location::Directory(path) => Box::new(Directory::new(os::disk::real(), path.clone())),
            Location::Objects(url) => Box::new(ObjectPlace::open(url, patience)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_paths_and_urls() {
        let directory = |path: &str| Ok(Location::Directory(PathBuf::from(path)));
        assert_eq!(Location::parse("/a/b"), directory("/a/b"));
        assert_eq!(Location::parse("file:///a/b"), directory("/a/b"));
        assert_eq!(Location::parse("s3://bucket"), Ok(Location::Objects("s3://bucket".to_owned())));
        assert!(matches!(Location::parse("relative"), Ok(Location::Directory(path)) if path.is_absolute()));
        for wrong in ["s3:///x", "file://host/x", "http://host/x", "S3://bucket/x"] {
            assert!(Location::parse(wrong).is_err(), "{wrong}");
        }
    }
}
