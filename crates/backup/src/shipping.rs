//! Putting stretches of the binary log into a backup, and into its manifest.

use std::time::Duration;

use os::clock::Stopwatch;
use os::disk::LockGuard;

use crate::dump::Stretch;
use crate::error::{BackupError, Result};
use crate::manifest::{Manifest, Place, Segment};
use crate::store::Version;
use crate::stored::{Stored, put};
use crate::vault::Vault;

/// The directory of the segments in the backup's place.
const LOGS: &str = "logs";

/// Gives segments names that no other run gives.
pub(crate) struct Names {
    /// What is in every name of this run. Empty while this run alone makes plain names.
    run: String,
    _claim: Option<LockGuard>,
}

/// Returns a word that no other run has.
pub(crate) fn run_name() -> String {
    format!("{:016x}", os::random::u64())
}

impl Names {
    /// Takes plain names if no other run makes any in this place, and else names with a word of
    /// this run.
    pub fn plain(vault: &Vault) -> Result<Names> {
        Ok(match vault.store.claim(LOGS)? {
            Some(claim) => Names { run: String::new(), _claim: Some(claim) },
            None => Names::of_a_run(),
        })
    }

    /// Takes names with a word of this run.
    pub fn of_a_run() -> Names {
        Names { run: run_name(), _claim: None }
    }

    /// Returns the name of a segment with this number.
    pub fn of_segment(&self, number: u64, segment: &Segment) -> String {
        let plain = format!("{LOGS}/{number:06}-{}", segment.file);
        match self.run.is_empty() {
            true => plain,
            false => format!("{plain}.{}-{}.{}", segment.from, segment.to, self.run),
        }
    }
}

/// Puts the whole transactions of a stretch into the backup. No manifest names the segment yet.
pub(crate) fn ship(
    vault: &Vault,
    names: &Names,
    number: u64,
    stretch: &Stretch,
    compression: Option<i32>,
) -> Result<Segment> {
    assert!(stretch.len_bytes() > 0, "a stretch without events is dropped");
    let (mut content, bytes) = stretch.whole();
    let stored = Stored { path: String::new(), bytes, sha256: String::new(), compressed: false };
    let mut segment =
        Segment { file: stretch.file.clone(), from: stretch.from, to: stretch.whole_to, stored };
    let path = names.of_segment(number, &segment);
    segment.stored = put(vault, &path, &mut content, bytes, compression)?;
    Ok(segment)
}

/// A manifest as this run knows it.
pub(crate) struct Known {
    pub manifest: Manifest,
    pub version: Version,
}

impl Known {
    pub fn read(vault: &Vault) -> Result<Known> {
        let (manifest, version) = Manifest::read(vault)?;
        Ok(Known { manifest, version })
    }

    /// Changes the manifest by `change`, again from the start when another run has replaced it
    /// meanwhile. Returns false, and leaves the backup as it was, when `change` returns false.
    pub fn update(&mut self, vault: &Vault, mut change: impl FnMut(&mut Manifest) -> bool) -> Result<bool> {
        loop {
            let mut changed = self.manifest.clone();
            if !change(&mut changed) {
                return Ok(false);
            }
            if let Some(version) = changed.replace(vault, Some(&self.version))? {
                (self.manifest, self.version) = (changed, version);
                return Ok(true);
            }
            *self = Known::read(vault)?;
        }
    }

    /// Adds segments behind the place `end`. Returns false when the backup's log does not end there
    /// any more, because another run has added to it.
    pub fn add(&mut self, vault: &Vault, end: &Place, segments: &[Segment]) -> Result<bool> {
        self.update(vault, |manifest| {
            let is_there = manifest.end().as_ref() == Some(end);
            if is_there {
                manifest.logs.extend_from_slice(segments);
            }
            is_there
        })
    }

    /// Puts a longer segment into the place of the last one. Returns false when that is not the
    /// last one any more.
    pub fn replace_last(&mut self, vault: &Vault, old: &Segment, new: &Segment) -> Result<bool> {
        assert!(old.file == new.file && old.from == new.from && old.to <= new.to, "a segment grows");
        self.update(vault, |manifest| match manifest.logs.last_mut() {
            Some(last) if last == old => {
                *last = new.clone();
                true
            }
            _ => false,
        })
    }

    /// Returns the place where the backup's log goes on.
    pub fn end(&self) -> Result<Place> {
        self.manifest.end().ok_or_else(|| {
            let what = "the server had no binary log when the backup was made: a full backup is needed";
            BackupError::Refused(what.to_owned())
        })
    }
}

/// Removes files that no manifest names. One that stays is told, and harms nothing.
pub(crate) fn discard<'p>(vault: &Vault, paths: impl IntoIterator<Item = &'p str>) {
    for path in paths {
        if let Err(error) = vault.store.remove(path) {
            eprintln!("slipstream backup: {}: it stays there: {error}", vault.name(path));
        }
    }
}

/// Files that the manifest no longer names. They stay for a while, for a restore that has read the
/// manifest before.
#[derive(Default)]
pub(crate) struct Replaced(Vec<(Stopwatch, String)>);

impl Replaced {
    /// How long a file stays.
    pub const STAYS: Duration = Duration::from_secs(60);

    pub fn add(&mut self, path: String) {
        self.0.push((Stopwatch::start(), path));
    }

    /// Removes the files that were replaced at least so long ago.
    pub fn discard(&mut self, vault: &Vault, age: Duration) {
        let count = self.0.iter().take_while(|(since, _)| since.elapsed() >= age).count();
        let paths: Vec<String> = self.0.drain(..count).map(|(_, path)| path).collect();
        discard(vault, paths.iter().map(String::as_str));
    }
}
