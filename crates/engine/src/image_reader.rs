//! Reads the images of a transaction's rows one after the other. Those that are in a spill file
//! mostly lie there in the order in which they are wanted, so more and more of the file is read at
//! once as long as they do.

use crate::error::Result;
use crate::spill::{NewImage, Spill, SpillPart, nothing_spilled};

/// The bytes that are read for an image that does not follow the one before it, or the image's own
/// if those are more.
const FIRST_BYTES: u64 = 4 << 10;
/// The most bytes that are read for images that follow each other.
const MOST_BYTES: u64 = 256 << 10;

/// A place in a transaction's images.
pub(crate) struct ImageReader<'s> {
    spill: Option<&'s Spill>,
    /// The bytes of one of the files from an offset on.
    window: Option<(SpillPart, u64)>,
    bytes: Vec<u8>,
    /// How many bytes are read next if they follow the window.
    next_bytes: u64,
}

impl<'s> ImageReader<'s> {
    /// Returns a reader of the images of a transaction with these files.
    pub fn new(spill: Option<&'s Spill>) -> ImageReader<'s> {
        ImageReader { spill, window: None, bytes: Vec::new(), next_bytes: FIRST_BYTES }
    }

    /// Returns an image, from memory or from its file.
    ///
    /// # Errors
    /// Returns I/O errors, and an error for an image in a file that the transaction does not have.
    #[inline]
    pub fn image<'i>(&'i mut self, image: &'i NewImage) -> Result<&'i [u8]> {
        match image {
            NewImage::Here(image) => Ok(image),
            NewImage::Spilled { part, at, len } => self.spilled(*part, *at, *len),
        }
    }

    fn spilled(&mut self, part: SpillPart, at: u64, len: u32) -> Result<&[u8]> {
        let wanted = at..at + u64::from(len);
        let held = match self.window {
            Some((held, from)) if held == part => from..from + self.bytes.len() as u64,
            _ => 0..0,
        };
        let mut from = held.start;
        if wanted.start < held.start || held.end < wanted.end {
            let follows = held.start <= wanted.start && wanted.start <= held.end + FIRST_BYTES;
            self.next_bytes = if follows { (2 * self.next_bytes).min(MOST_BYTES) } else { FIRST_BYTES };
            // A failed read leaves no window.
            self.window = None;
            let spill = self.spill.ok_or_else(nothing_spilled)?;
            let most = spill.len(part)?.saturating_sub(wanted.start);
            let bytes = self.next_bytes.min(most).max(u64::from(len));
            spill.read_into(part, wanted.start, bytes as usize, &mut self.bytes)?;
            (self.window, from) = (Some((part, wanted.start)), wanted.start);
        }
        Ok(&self.bytes[(wanted.start - from) as usize..(wanted.end - from) as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EngineConfig;
    use crate::spill::SpillFiles;
    use os::random::{Rng, test_seed};
    use os::sim::SimDisk;
    use std::sync::Arc;

    /// Images in the file's order and in any other are those that were written.
    #[test]
    fn images_come_in_any_order() {
        let config = Arc::new(EngineConfig::new(Arc::new(SimDisk::new(1)), "/data"));
        let mut rng = Rng::new(test_seed("images_come_in_any_order"));
        let content: Vec<u8> = (0..900_000).map(|_| rng.below(256) as u8).collect();
        let mut spill = Spill { group: SpillFiles::new(config).create().expect("a file"), images: None };
        spill.group.append(&content).expect("room");
        let mut reader = ImageReader::new(Some(&spill));
        let mut at = 0;
        for _ in 0..20_000 {
            let most = if rng.below(50) == 0 { 300_000 } else { 400 };
            let len = rng.below(most);
            at = if rng.below(40) == 0 { rng.below(900_000) } else { at + rng.below(60) };
            at = if at + len > 900_000 { 0 } else { at };
            let image = NewImage::Spilled { part: SpillPart::Group, at, len: len as u32 };
            let read = reader.image(&image).expect("it was written");
            assert_eq!(read, &content[at as usize..(at + len) as usize]);
            at += len;
        }
        let absent = NewImage::Spilled { part: SpillPart::Images, at: 0, len: 1 };
        assert!(reader.image(&absent).is_err());
    }
}
