//! Long mappings of numbers to numbers, stored as runs in which both count up.

use super::tables::Reader;

/// A run: the `length` numbers from `key` on are mapped to as many numbers from `value` on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub key: u32,
    pub value: u32,
    pub length: u32,
}

static GB18030: &[u8] = include_bytes!("data/gb18030.runs");

/// Returns the first (0) or second (1) mapping of `gb18030.runs`, sorted by key.
pub(super) fn gb18030(which: usize) -> Vec<Run> {
    let mut reader = Reader(GB18030);
    let mut runs = read(&mut reader);
    for _ in 0..which {
        runs = read(&mut reader);
    }
    runs
}

fn read(reader: &mut Reader<'_>) -> Vec<Run> {
    let (mut runs, mut key, mut value) = (Vec::new(), -1i64, 0i64);
    loop {
        let gap = reader.varint();
        if gap == 0 {
            return runs;
        }
        key += i64::from(gap);
        value += i64::from(reader.zigzag());
        let length = reader.varint();
        runs.push(Run { key: key as u32, value: value as u32, length });
        key += i64::from(length) - 1;
        value += i64::from(length) - 1;
    }
}

/// Returns the number that `key` is mapped to. The runs are sorted by key.
pub(super) fn value_of(runs: &[Run], key: u32) -> Option<u32> {
    let run = &runs[runs.partition_point(|run| run.key <= key).checked_sub(1)?];
    (key - run.key < run.length).then(|| run.value + (key - run.key))
}

/// Returns the number that is mapped to `value`. The runs are sorted by value.
pub(super) fn key_of(runs: &[Run], value: u32) -> Option<u32> {
    let run = &runs[runs.partition_point(|run| run.value <= value).checked_sub(1)?];
    (value - run.value < run.length).then(|| run.key + (value - run.value))
}
