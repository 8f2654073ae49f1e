//! Option files (MySQL manual, 6.2.2.2): groups, `name=value`, comments, quotes, escapes,
//! `!include` and `!includedir`.

use super::raw::{OptionError, RawOption};
use os::disk::Disk;
use std::path::{Path, PathBuf};

/// The option file that is read when the command line names no other. mysqld's own files are not
/// read, because they may be another server's.
pub const DEFAULT_FILE: &str = "/etc/slipstream.cnf";

/// The groups that this server reads.
const GROUPS: &[&str] = &["mysqld", "server", "slipstream"];

/// The depth to which files may include each other, which is MySQL's.
const MAX_DEPTH: usize = 10;

/// Reads a file and the files that it includes.
pub fn read(disk: &dyn Disk, path: &Path, must_exist: bool) -> Result<Vec<RawOption>, OptionError> {
    let mut out = Vec::new();
    if must_exist || disk.exists(path).unwrap_or(false) {
        read_into(disk, path, 0, &mut out)?;
    }
    Ok(out)
}

fn read_into(
    disk: &dyn Disk,
    path: &Path,
    depth: usize,
    out: &mut Vec<RawOption>,
) -> Result<(), OptionError> {
    if depth >= MAX_DEPTH {
        let message = format!("option files are nested more than {MAX_DEPTH} deep at {}", path.display());
        return Err(OptionError(message));
    }
    let bytes =
        disk.read(path).map_err(|e| OptionError(format!("Could not open required defaults file: {e}")))?;
    let text = String::from_utf8_lossy(&bytes);
    let mut group: Option<bool> = None;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        let wrong = |what: &str| {
            OptionError(format!("{what} in config file {} at line {}", path.display(), index + 1))
        };
        if line.is_empty() || line.starts_with(['#', ';']) {
        } else if let Some(directive) = line.strip_prefix('!') {
            include(disk, path, directive, depth, out)
                .unwrap_or_else(|| Err(wrong("Wrong '!' directive")))?;
        } else if let Some(header) = line.strip_prefix('[') {
            let (name, _) = header.split_once(']').ok_or_else(|| wrong("Wrong group definition"))?;
            group = Some(GROUPS.contains(&name.trim()));
        } else {
            let ours = group.ok_or_else(|| wrong("Found option without preceding group"))?;
            if ours {
                let (name, value) = split(line);
                out.push(RawOption { name, value, place: Some((path.to_owned(), index + 1)) });
            }
        }
    }
    Ok(())
}

/// Carries out `!include FILE` and `!includedir DIR`. `None` means that the directive is neither.
fn include(
    disk: &dyn Disk,
    from: &Path,
    directive: &str,
    depth: usize,
    out: &mut Vec<RawOption>,
) -> Option<Result<(), OptionError>> {
    let (word, target) = directive.split_once(char::is_whitespace)?;
    let target = from.parent().unwrap_or(Path::new("")).join(target.trim());
    match word {
        "include" => Some(read_into(disk, &target, depth + 1, out)),
        "includedir" => Some(include_dir(disk, &target, depth, out)),
        _ => None,
    }
}

fn include_dir(
    disk: &dyn Disk,
    dir: &Path,
    depth: usize,
    out: &mut Vec<RawOption>,
) -> Result<(), OptionError> {
    let files =
        disk.list(dir).map_err(|e| OptionError(format!("Can't read dir of '{}' ({e})", dir.display())))?;
    let is_option_file = |p: &&PathBuf| p.extension().is_some_and(|e| e == "cnf" || e == "ini");
    files.iter().filter(is_option_file).try_for_each(|file| read_into(disk, file, depth + 1, out))
}

/// Splits a line of the form `name = value # comment`.
fn split(line: &str) -> (String, Option<String>) {
    let Some((name, value)) = line.split_once('=') else {
        return (without_comment(line).trim().to_owned(), None);
    };
    let value = value.trim();
    for quote in ['\'', '"'] {
        if let Some((inside, _)) = value.strip_prefix(quote).and_then(|rest| rest.split_once(quote)) {
            return (name.trim().to_owned(), Some(unescape(inside)));
        }
    }
    (name.trim().to_owned(), Some(unescape(without_comment(value).trim())))
}

/// Returns the text without its comment. A `#` begins a comment anywhere, a `;` only after a blank.
fn without_comment(text: &str) -> &str {
    let end = text.find('#').unwrap_or(text.len());
    let text = &text[..end];
    match text.find(" ;") {
        Some(end) => &text[..end],
        None => text,
    }
}

fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('b') => out.push('\u{8}'),
            Some('s') => out.push(' '),
            Some('\\') | None => out.push('\\'),
            Some(other) => {
                out.push('\\');
                out.push(other);
            }
        }
    }
    out
}
