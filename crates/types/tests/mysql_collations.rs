//! Tests that strings are ordered as a MySQL server ordered them (`scripts/codec-fixtures.sh`).

use std::cmp::Ordering;
use types::collation;

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

#[test]
fn strings_order_as_in_mysql() {
    let mut previous: Option<(String, u32, Vec<u8>)> = None;
    let mut collations = std::collections::BTreeSet::new();
    for line in include_str!("data/collations.tsv").lines() {
        let mut fields = line.split('\t');
        let (name, place) = (fields.next().unwrap(), fields.next().unwrap().parse::<u32>().unwrap());
        let text = unhex(fields.next().unwrap());
        let id = collation::from_name(name).unwrap_or_else(|| panic!("{name} is not known"));
        collations.insert(id);
        if let Some((before_name, before_place, before)) = &previous
            && before_name == name
        {
            let shown = || {
                format!("{name}: {:?} {:?}", String::from_utf8_lossy(before), String::from_utf8_lossy(&text))
            };
            assert_eq!(
                collation::compare_utf8mb4(id, before, &text),
                before_place.cmp(&place),
                "{}",
                shown()
            );
            let keys = [before, &text].map(|text| {
                let mut key = Vec::new();
                collation::write_key(id, &collation::from_utf8mb4(id, text).unwrap(), &mut key);
                key
            });
            assert_eq!(keys[0].cmp(&keys[1]), before_place.cmp(&place), "{}", shown());
            assert_ne!(before_place.cmp(&place), Ordering::Greater);
        }
        previous = Some((name.to_string(), place, text));
    }
    assert_eq!(collations.len(), 9);
}
