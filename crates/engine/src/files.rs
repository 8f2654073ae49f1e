//! The places of the files in the data directory, and the form of errors about them.
//!
//! Names of schemas and tables come in, and paths go out. A path depends on names alone, so
//! recovery finds a table's file with nothing but the dictionary.

use crate::error::{EngineError, Result};

/// Returns the engine error for an I/O error of a file or a directory.
pub(crate) fn io_error(place: &std::path::Path, error: std::io::Error) -> EngineError {
    EngineError::Io(place.display().to_string(), error)
}

/// Makes a directory if it does not exist, and makes its name durable.
pub(crate) fn make_dir(disk: &dyn os::disk::Disk, dir: &std::path::Path) -> Result<()> {
    if disk.is_dir(dir).map_err(|error| io_error(dir, error))? {
        return Ok(());
    }
    disk.create_dir_all(dir).map_err(|error| io_error(dir, error))?;
    let parent = dir.parent().unwrap_or(std::path::Path::new(""));
    disk.sync_dir(parent).map_err(|error| io_error(parent, error))
}

/// Returns a name in the form of MySQL's file and directory names: letters, digits and `_` stand as
/// they are, every other character as `@` and four hexadecimal digits for each of its UTF-16 units.
pub(crate) fn file_name(name: &str) -> String {
    let mut out = String::new();
    let mut units = [0u16; 2];
    for character in name.chars() {
        if character.is_ascii_alphanumeric() || character == '_' {
            out.push(character);
        } else {
            for unit in character.encode_utf16(&mut units) {
                out.push_str(&format!("@{unit:04x}"));
            }
        }
    }
    out
}

/// Returns the path of a table's file in a data directory.
pub(crate) fn table_path(datadir: &std::path::Path, schema: &str, table: &str) -> std::path::PathBuf {
    datadir.join(file_name(schema)).join(format!("{}.ibd", file_name(table)))
}

/// Returns the path at which a space's file waits until the name of its table becomes free.
pub(crate) fn aside(path: &std::path::Path, space: buffer::SpaceId) -> std::path::PathBuf {
    path.with_file_name(format!("#sql-{space}.ibd"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_file_names_as_in_mysql() {
        assert_eq!(file_name("sbtest1"), "sbtest1");
        assert_eq!(file_name("a-b.c"), "a@002db@002ec");
        assert_eq!(file_name("é"), "@00e9");
    }
}
