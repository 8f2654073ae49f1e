//! The removal of what no restore needs any more.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::Result;
use crate::manifest::{FILE, Manifest};
use crate::shipping::discard;
use crate::vault::Vault;

/// How old a file is at least that belongs to no run under way. The newest file of a directory
/// counts, since a long run writes one after the other.
const LEFT_AFTER_US: u64 = 24 * 3600 * 1_000_000;

/// Removes the files that the manifest named before, and those that earlier runs have left. What
/// cannot be removed is told.
pub(crate) fn remove(vault: &Vault, manifest: &Manifest, dropped: &[String]) {
    discard(vault, dropped.iter().map(String::as_str));
    let top = |path: &str| path.split('/').next().unwrap_or_default().to_owned();
    let used: BTreeSet<String> = manifest.paths().iter().map(|path| top(path)).collect();
    let unused: BTreeSet<String> =
        dropped.iter().map(|path| top(path)).filter(|dir| !used.contains(dir)).collect();
    for dir in unused {
        if let Err(error) = vault.store.remove_dir(&dir) {
            eprintln!("slipstream backup: {}: it stays there: {error}", vault.name(&dir));
        }
    }
    if let Err(error) = remove_left(vault, manifest, os::clock::now_us()) {
        eprintln!("slipstream backup: what earlier runs have left stays there: {error}");
    }
}

/// Removes the files that no manifest names and no run under way writes.
fn remove_left(vault: &Vault, manifest: &Manifest, now_us: u64) -> Result<()> {
    let named: BTreeSet<String> = manifest.paths().iter().map(|path| vault.store.listed_as(path)).collect();
    let dir_of =
        |path: &str| path.rsplit_once('/').map_or("", |(dir, _)| dir).split('/').next().map(str::to_owned);
    let listed = vault.store.list()?;
    let mut newest: BTreeMap<_, u64> = BTreeMap::new();
    for file in &listed {
        let newest = newest.entry(dir_of(&file.path)).or_default();
        // A file whose age is not known is as new as can be.
        *newest = (*newest).max(file.changed_us.unwrap_or(u64::MAX));
    }
    for file in listed.iter().filter(|file| file.path != FILE && !named.contains(&file.path)) {
        // The segments of a log are written in moments, a copy's files one after the other.
        let changed_us = match dir_of(&file.path).as_deref() {
            Some("logs") => file.changed_us.unwrap_or(u64::MAX),
            dir => newest.get(&dir.map(str::to_owned)).copied().unwrap_or(u64::MAX),
        };
        let is_ours = file.path.starts_with("data-") || file.path.starts_with("logs/");
        if is_ours && changed_us.saturating_add(LEFT_AFTER_US) < now_us {
            vault.store.remove(&file.path)?;
        }
    }
    Ok(())
}
