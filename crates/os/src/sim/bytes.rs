//! The bytes of a simulated file, in blocks that copies share until one of them changes a block. A
//! crash test copies the machine at every write, and most of it is the same each time.

use std::sync::Arc;

const BLOCK_BYTES: usize = 16 << 10;

/// The content of a file. Every block but the last is whole. Cloning copies no bytes.
#[derive(Debug, Clone, Default)]
pub(super) struct Bytes {
    blocks: Vec<Arc<Vec<u8>>>,
    len: usize,
}

impl Bytes {
    pub fn len(&self) -> usize {
        self.len
    }

    /// Cuts the content, or makes it longer with zeros.
    pub fn resize(&mut self, len: usize) {
        self.blocks.truncate(len.div_ceil(BLOCK_BYTES));
        let zeros = Arc::new(vec![0; BLOCK_BYTES]);
        if let Some(last) = self.blocks.last_mut().filter(|last| last.len() < BLOCK_BYTES) {
            Arc::make_mut(last).resize(BLOCK_BYTES, 0);
        }
        self.blocks.resize(len.div_ceil(BLOCK_BYTES), zeros);
        if let Some(last) = self.blocks.last_mut() {
            let within = len - (len - 1) / BLOCK_BYTES * BLOCK_BYTES;
            if last.len() != within {
                Arc::make_mut(last).truncate(within);
            }
        }
        self.len = len;
    }

    /// Writes bytes at an offset. A gap before them reads as zeros.
    pub fn put(&mut self, offset: usize, bytes: &[u8]) {
        if self.len < offset + bytes.len() {
            self.resize(offset + bytes.len());
        }
        let (mut at, mut rest) = (offset, bytes);
        while !rest.is_empty() {
            let within = at % BLOCK_BYTES;
            let (part, after) = rest.split_at(rest.len().min(BLOCK_BYTES - within));
            let block = &mut self.blocks[at / BLOCK_BYTES];
            if block[within..within + part.len()] != *part {
                Arc::make_mut(block)[within..within + part.len()].copy_from_slice(part);
            }
            (at, rest) = (at + part.len(), after);
        }
    }

    /// Reads up to `out.len()` bytes, fewer at the end, and returns how many.
    pub fn read(&self, offset: usize, out: &mut [u8]) -> usize {
        let from = offset.min(self.len);
        let len = out.len().min(self.len - from);
        let (mut at, mut rest) = (from, &mut out[..len]);
        while !rest.is_empty() {
            let within = at % BLOCK_BYTES;
            let part_len = rest.len().min(BLOCK_BYTES - within);
            let (part, after) = rest.split_at_mut(part_len);
            part.copy_from_slice(&self.blocks[at / BLOCK_BYTES][within..within + part_len]);
            (at, rest) = (at + part_len, after);
        }
        len
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Rng, test_seed};

    #[test]
    fn it_holds_what_a_plain_vector_holds_and_copies_do_not_see_each_other() {
        let mut rng = Rng::new(test_seed("it_holds_what_a_plain_vector_holds"));
        for _ in 0..50 {
            let (mut bytes, mut model) = (Bytes::default(), Vec::new());
            let mut copies = Vec::new();
            for _ in 0..30 {
                let at = rng.below(3 * BLOCK_BYTES as u64) as usize;
                if rng.one_in(4) {
                    bytes.resize(at);
                    model.resize(at, 0);
                } else {
                    let len = rng.below(2 * BLOCK_BYTES as u64) as usize;
                    let new = rng.bytes(len);
                    bytes.put(at, &new);
                    if model.len() < at + len {
                        model.resize(at + len, 0);
                    }
                    model[at..at + len].copy_from_slice(&new);
                }
                copies.push((bytes.clone(), model.clone()));
            }
            for (bytes, model) in copies {
                let from = rng.below(model.len() as u64 + 10) as usize;
                let mut out = vec![1; rng.below(4 * BLOCK_BYTES as u64) as usize];
                let got = bytes.read(from, &mut out);
                let expected = &model
                    [from.min(model.len())..(from + out.len()).min(model.len()).max(from.min(model.len()))];
                assert_eq!(&out[..got], expected);
                assert_eq!(bytes.len(), model.len());
            }
        }
    }
}
