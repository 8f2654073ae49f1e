//! The newest bytes of the binary log in memory. Dump sessions that are near the end share them,
//! and do not read the file.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::position::FilePosition;

/// The number of bytes that are kept. A session that is further behind reads the file.
const KEPT_BYTES: usize = 4 << 20;

/// The bytes that were written to a file at once, which are whole events.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    /// The position of the first byte.
    pub start: FilePosition,
    pub bytes: Arc<[u8]>,
}

impl Block {
    /// Returns the block's bytes from a position on. `None` means that the position is not in the
    /// block.
    pub fn from(&self, at: FilePosition) -> Option<&[u8]> {
        let offset = at.pos.checked_sub(self.start.pos).filter(|_| at.file == self.start.file)?;
        self.bytes.get(usize::try_from(offset).ok()?..).filter(|rest| !rest.is_empty())
    }
}

/// The last blocks, in the order of the log.
#[derive(Debug, Default)]
pub(crate) struct Recent {
    blocks: VecDeque<Block>,
    bytes: usize,
}

impl Recent {
    /// Adds a block that is behind all others, and drops the oldest ones.
    pub fn push(&mut self, block: Block) {
        assert!(
            self.blocks.back().is_none_or(|newest| newest.start < block.start),
            "blocks come in the order of the log"
        );
        self.bytes += block.bytes.len();
        self.blocks.push_back(block);
        while self.bytes > KEPT_BYTES {
            let Some(oldest) = self.blocks.pop_front() else { break };
            self.bytes -= oldest.bytes.len();
        }
        debug_assert_eq!(self.bytes, self.blocks.iter().map(|block| block.bytes.len()).sum::<usize>());
    }

    /// Returns the block that holds the byte at a position.
    pub fn find(&self, at: FilePosition) -> Option<Block> {
        let behind = self.blocks.partition_point(|block| block.start <= at);
        let block = &self.blocks[behind.checked_sub(1)?];
        block.from(at).map(|_| block.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(file: u64, pos: u64, len: usize) -> Block {
        Block { start: FilePosition { file, pos }, bytes: vec![file as u8; len].into() }
    }

    fn found(recent: &Recent, file: u64, pos: u64) -> Option<usize> {
        let at = FilePosition { file, pos };
        recent.find(at).and_then(|block| block.from(at).map(<[u8]>::len))
    }

    #[test]
    fn finds_what_it_has_and_nothing_else() {
        let mut recent = Recent::default();
        assert_eq!(found(&recent, 1, 4), None);
        for (file, pos, len) in [(1, 100, 50), (1, 150, 10), (2, 120, 30)] {
            recent.push(block(file, pos, len));
        }
        for (file, pos, rest) in [
            (1, 99, None),
            (1, 100, Some(50)),
            (1, 149, Some(1)),
            (1, 150, Some(10)),
            (1, 160, None),
            (2, 119, None),
            (2, 149, Some(1)),
            (2, 150, None),
            (3, 130, None),
        ] {
            assert_eq!(found(&recent, file, pos), rest, "file {file}, position {pos}");
        }
    }

    #[test]
    fn lets_go_of_the_oldest() {
        let mut recent = Recent::default();
        for at in 0..5 {
            recent.push(block(1, at << 20, 1 << 20));
        }
        assert_eq!((found(&recent, 1, 0), found(&recent, 1, 1 << 20)), (None, Some(1 << 20)));
        recent.push(block(1, 5 << 20, KEPT_BYTES + 1));
        assert_eq!((recent.blocks.len(), recent.bytes), (0, 0));
    }
}
