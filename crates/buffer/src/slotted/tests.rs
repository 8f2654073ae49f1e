//! Tests of the slotted page against a sorted map, with keys that share prefixes, are prefixes of
//! each other, and are empty.

use std::collections::BTreeMap;

use os::random::{Rng, test_seed};

use super::*;
use crate::page::{PageId, PageType, format};

fn random_key(rng: &mut Rng) -> Vec<u8> {
    let mut key = match rng.below(4) {
        0 => Vec::new(),
        1 => b"prefix-shared-by-many".to_vec(),
        2 => rng.below(300).to_be_bytes().to_vec(),
        _ => vec![0x80, 0, 0],
    };
    let tail = rng.below(6) as usize;
    key.extend((0..tail).map(|_| rng.below(3) as u8));
    key
}

fn compare(page: &[u8], model: &BTreeMap<Vec<u8>, Vec<u8>>) {
    assert_eq!(check(page), Ok(()));
    assert_eq!(count(page), model.len());
    for (index, (key, value)) in model.iter().enumerate() {
        assert_eq!((self::key(page, index), self::value(page, index)), (&key[..], &value[..]));
        assert_eq!(search(page, key), Ok(index));
    }
    let used: usize = model.iter().map(|(key, value)| entry_bytes(key.len(), value.len())).sum();
    assert_eq!(used_bytes(page), used);
}

#[test]
fn it_behaves_as_a_sorted_map() {
    let mut rng = Rng::new(test_seed("slotted_page"));
    for page_size in [4096, 65536] {
        let mut page = vec![0; page_size];
        format(&mut page, PageId::new(1, 1), PageType::Index, 0);
        init(&mut page);
        let mut model = BTreeMap::new();
        for step in 0..6000 {
            let key = random_key(&mut rng);
            let longest = if rng.one_in(20) { 900 } else { 40 };
            let value = vec![step as u8; rng.below(longest) as usize];
            match search(&page, &key) {
                Ok(index) if rng.one_in(2) => {
                    remove(&mut page, index);
                    model.remove(&key);
                }
                Ok(index) => {
                    let fits = free_bytes(&page) + super::value(&page, index).len() >= value.len();
                    assert_eq!(replace_value(&mut page, index, &value), fits);
                    if fits {
                        model.insert(key, value);
                    }
                }
                Err(index) if entry_bytes(key.len(), value.len()) <= free_bytes(&page) => {
                    assert_eq!(index, model.range(..key.clone()).count());
                    insert(&mut page, index, &key, &value);
                    model.insert(key, value);
                }
                Err(_) if rng.one_in(10) => {
                    let cut = random_key(&mut rng);
                    truncate_from(&mut page, &cut);
                    model.split_off(&cut);
                }
                Err(_) => {}
            }
            if step % 50 == 0 {
                compare(&page, &model);
            }
        }
        compare(&page, &model);
    }
}

#[test]
fn the_first_child_of_an_inner_node_has_the_empty_key() {
    let mut page = vec![0; 4096];
    format(&mut page, PageId::new(1, 1), PageType::Index, 1);
    init(&mut page);
    for (index, key) in [&b""[..], b"g", b"p"].into_iter().enumerate() {
        insert(&mut page, index, key, &(index as u32 + 10).to_le_bytes());
    }
    assert_eq!(child(&page, child_index(&page, b"a")), 10);
    assert_eq!(child(&page, child_index(&page, b"g")), 11);
    assert_eq!(child(&page, child_index_below(&page, b"g")), 10);
    assert_eq!(child(&page, child_index(&page, b"z")), 12);
    remove_child(&mut page, 0);
    assert_eq!((count(&page), key(&page, 0), child(&page, 0)), (2, &b""[..], 11));
    assert_eq!(child(&page, child_index(&page, b"a")), 11);
    assert_eq!(check(&page), Ok(()));
}

#[test]
fn damaged_pages_are_refused() {
    let mut rng = Rng::new(test_seed("slotted_damage"));
    let mut page = vec![0; 4096];
    format(&mut page, PageId::new(1, 1), PageType::Index, 0);
    init(&mut page);
    for number in 0u32..60 {
        insert(&mut page, number as usize, &number.to_be_bytes(), b"some value");
    }
    for _ in 0..2000 {
        let mut damaged = page.clone();
        for _ in 0..4 {
            let at = rng.between(COUNT as u64, 600) as usize;
            damaged[at] = rng.u64() as u8;
        }
        if check(&damaged).is_ok() {
            // A page that passes the check must be safe to use.
            for index in 0..count(&damaged) {
                let _ = search(&damaged, key(&damaged, index));
                let _ = value(&damaged, index);
            }
        }
    }
}
