//! The weight tables in `*.weights`, which `scripts/collation-weights.py` writes from a MySQL
//! server's WEIGHT_STRING(). The script describes their format.

use super::version::Version;

const PAGES: usize = 0x1100;
/// The entry of a code point that has no weights of its own in the table.
const BY_RULE: u32 = 0;

/// The weights of all code points for one version of the collation algorithm.
pub(super) struct Table {
    /// For each 256 code points the place where their entries start, or BY_RULE if none of them has
    /// one.
    pages: Vec<u32>,
    /// For each code point of the pages that exist, the place of its weights in `pool`, or BY_RULE.
    entries: Vec<u32>,
    /// For each entry the numbers of weights of the three levels, then the weights.
    pool: Vec<u16>,
    ascii: [u16; 128],
}

/// The weights of one character on one level.
pub(super) enum Weights {
    None,
    Stored(&'static [u16]),
    Computed([u16; 3], u8),
}

impl Weights {
    #[inline]
    pub(super) fn as_slice(&self) -> &[u16] {
        match self {
            Weights::None => &[],
            Weights::Stored(weights) => weights,
            Weights::Computed(weights, len) => &weights[..usize::from(*len)],
        }
    }

    /// Returns the weights of a byte that belongs to no character. They are above those of all
    /// characters, and ordered as the bytes are.
    pub(super) fn invalid(byte: u8) -> Weights {
        Weights::Computed([0xffff, 0xff00 | u16::from(byte), 0], 2)
    }
}

/// Reads the numbers of a table that is compiled in.
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl Reader<'_> {
    pub(super) fn byte(&mut self) -> u8 {
        let (&byte, rest) = self.0.split_first().expect("the weight table is whole");
        self.0 = rest;
        byte
    }
    pub(super) fn varint(&mut self) -> u32 {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = self.byte();
            value |= u32::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return value;
            }
            shift += 7;
        }
    }
    pub(super) fn u16(&mut self) -> u16 {
        u16::from_le_bytes([self.byte(), self.byte()])
    }
    pub(super) fn zigzag(&mut self) -> i32 {
        let n = self.varint();
        if n & 1 == 0 { (n >> 1) as i32 } else { -((n >> 1) as i32) - 1 }
    }
}

impl Table {
    /// Reads a UCA table that is compiled in.
    pub(super) fn load(bytes: &[u8], levels: usize) -> Table {
        let mut table = Table {
            pages: vec![BY_RULE; PAGES],
            entries: vec![BY_RULE; 1],
            pool: vec![0; 3],
            ascii: [0; 128],
        };
        let (mut reader, mut code, mut primary) = (Reader(bytes), -1i64, 0i32);
        while !reader.0.is_empty() {
            let gap = reader.varint();
            code += i64::from(gap >> 1);
            let counts = match gap & 1 {
                1 if levels == 3 => [1, 1, 1],
                1 => [1, 0, 0],
                _ => [reader.byte(), reader.byte(), reader.byte()],
            };
            table.set_entry(code as usize, table.pool.len() as u32);
            table.pool.extend(counts.map(u16::from));
            for _ in 0..counts[0] {
                primary += reader.zigzag();
                table.pool.push(primary as u16);
            }
            if gap & 1 == 0 {
                (0..counts[1] + counts[2]).for_each(|_| table.pool.push(reader.varint() as u16));
            } else if levels == 3 {
                table.pool.extend([0x20, 2]);
            }
        }
        for code in 0..128u8 {
            let at = table.entry(u32::from(code)) as usize;
            assert!(at != BY_RULE as usize && table.pool[at] <= 1, "ASCII has one primary at most");
            table.ascii[usize::from(code)] = if table.pool[at] == 1 { table.pool[at + 3] } else { 0 };
        }
        table
    }

    fn set_entry(&mut self, code: usize, at: u32) {
        if self.pages[code >> 8] == BY_RULE {
            self.pages[code >> 8] = self.entries.len() as u32;
            self.entries.resize(self.entries.len() + 256, BY_RULE);
        }
        self.entries[self.pages[code >> 8] as usize + (code & 0xff)] = at;
    }

    #[inline]
    fn entry(&self, code: u32) -> u32 {
        match self.pages[(code >> 8) as usize] {
            BY_RULE => BY_RULE,
            page => self.entries[page as usize + (code & 0xff) as usize],
        }
    }

    /// Returns the primary weight of an ASCII character, 0 if it is ignorable.
    #[inline]
    pub(super) fn ascii_primary(&self, byte: u8) -> u16 {
        self.ascii[usize::from(byte & 0x7f)]
    }

    /// Returns the weights of a character on a level.
    pub(super) fn weights(&'static self, version: Version, c: char, level: usize) -> Weights {
        let code = c as u32;
        match self.entry(code) {
            BY_RULE => self.by_rule(version, code, level),
            at => Weights::Stored(self.stored(at as usize, level)),
        }
    }

    fn stored(&self, at: usize, level: usize) -> &[u16] {
        let counts = &self.pool[at..at + 3];
        let start = at + 3 + counts[..level].iter().map(|&n| usize::from(n)).sum::<usize>();
        &self.pool[start..start + usize::from(counts[level])]
    }

    fn by_rule(&self, version: Version, code: u32, level: usize) -> Weights {
        if version == Version::V900 && (0xac00..=0xd7a3).contains(&code) {
            return self.hangul(code - 0xac00, level);
        }
        if version == Version::V400 && code > 0xffff {
            return Weights::Computed([0xfffd, 0, 0], 1);
        }
        match level {
            0 => {
                let [high, low] = implicit(version, code);
                Weights::Computed([high, low, 0], 2)
            }
            1 => Weights::Computed([0x20, 0, 0], 1),
            _ => Weights::Computed([2, 0, 0], 1),
        }
    }

    /// Returns the weights of a Hangul syllable, which are those of the letters (jamo) that it
    /// consists of.
    fn hangul(&self, index: u32, level: usize) -> Weights {
        let jamo = [0x1100 + index / 588, 0x1161 + index % 588 / 28, 0x11a7 + index % 28];
        let count = if index.is_multiple_of(28) { 2 } else { 3 };
        let mut weights = [0; 3];
        for (weight, &code) in weights.iter_mut().zip(&jamo[..count]) {
            *weight = self.stored(self.entry(code) as usize, level)[0];
        }
        Weights::Computed(weights, count as u8)
    }
}

/// Returns the two primary weights of a code point without an entry (UTS 10, "Derived Collation
/// Elements", as in MySQL).
fn implicit(version: Version, code: u32) -> [u16; 2] {
    let newest = version == Version::V900;
    if newest && (0x1_7000..=0x1_8af2).contains(&code) {
        return [0xfb00, (code - 0x1_7000) as u16 | 0x8000];
    }
    let last_unified = if newest { 0x9fd5 } else { 0x9fa5 };
    let base = match code {
        _ if (0x4e00..=last_unified).contains(&code) => 0xfb40,
        0x3400..=0x4db5 => 0xfb80,
        0x2_0000..=0x2_a6d6 | 0x2_a700..=0x2_b734 | 0x2_b740..=0x2_b81d | 0x2_b820..=0x2_cea1 if newest => {
            0xfb80
        }
        _ => 0xfbc0,
    };
    [(base + (code >> 15)) as u16, (code & 0x7fff) as u16 | 0x8000]
}

/// Returns the weights of `utf8mb4_general_ci` for the characters up to U+FFFF.
pub(super) fn load_general(bytes: &[u8]) -> Vec<u16> {
    let mut weights: Vec<u16> = (0..=0xffff).collect();
    let (mut reader, mut code) = (Reader(bytes), -1i64);
    while !reader.0.is_empty() {
        code += i64::from(reader.varint() >> 1);
        weights[code as usize] = (code as i32 + reader.zigzag()) as u16;
    }
    weights
}
