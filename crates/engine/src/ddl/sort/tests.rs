use super::*;
use os::disk::Disk;
use os::random::{Rng, test_seed};
use os::sim::SimDisk;

fn limits(buffer_bytes: usize) -> SortLimits {
    let disk: Arc<dyn Disk> = Arc::new(SimDisk::new(1));
    disk.create_dir_all(std::path::Path::new("/tmp")).unwrap();
    SortLimits { disk, tmpdir: "/tmp".into(), buffer_bytes }
}

fn random_key(rng: &mut Rng) -> Vec<u8> {
    // The keys have long common beginnings, some are the beginning of others, and some end in
    // zeros.
    let len = rng.below(40) as usize;
    (0..len).map(|at| if at % 9 == 8 { rng.below(200) as u8 } else { rng.below(2) as u8 }).collect()
}

#[test]
fn entries_come_back_in_order_whatever_fits_the_buffer() {
    let mut rng = Rng::new(test_seed("sort entries_come_back_in_order"));
    // The cases are: all in memory; a few runs; more runs than can be merged at once.
    for (buffer_bytes, count) in
        [(1 << 20, 5_000), (8 << 10, 5_000), (1 << 10, 3_000), (1 << 10, 0), (1 << 10, 1)]
    {
        let limits = limits(buffer_bytes);
        let mut expected: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        let mut sorters = [Sorter::new(&limits), Sorter::new(&limits)];
        for number in 0..count {
            let (key, value) = (random_key(&mut rng), vec![number as u8; rng.below(5) as usize]);
            sorters[number % 2].push(&key, &value).unwrap();
            expected.push((key, value));
        }
        let sorted = sorters.into_iter().map(|sorter| sorter.finish().unwrap()).collect();
        let mut merge = Merge::new(sorted).unwrap();
        let mut found = Vec::new();
        while let Some((key, value)) = merge.next().unwrap() {
            found.push((key.to_vec(), value.to_vec()));
        }
        assert!(found.is_sorted_by_key(|(key, _)| key));
        expected.sort();
        found.sort();
        assert!(found == expected, "buffer of {buffer_bytes}: {} entries of {count}", found.len());
        assert!(limits.disk.list(&limits.tmpdir).unwrap().is_empty(), "no name is left behind");
    }
}

#[test]
fn the_buffer_bounds_the_memory() {
    let limits = limits(64 << 10);
    let mut sorter = Sorter::new(&limits);
    for number in 0..50_000u32 {
        sorter.push(&number.wrapping_mul(0x9e37_79b9).to_be_bytes(), b"").unwrap();
        assert!(sorter.buffer.memory() <= limits.buffer_bytes);
    }
    assert!(sorter.runs.len() > 10);
}
