//! Upper and lower case, as in MySQL's UPPER and LOWER: each character is mapped for itself.

use super::list::CASE_FAMILIES;
use super::lookup::of;
use super::tables::Reader;
use std::sync::LazyLock;

static TABLES: &[u8] = include_bytes!("data/case.tables");

/// The mapping to upper or to lower case of one family of collations.
struct Map {
    ascii: [u8; 128],
    /// The other characters that change, and the ASCII ones that become others, sorted by code
    /// point.
    pairs: Vec<(char, char)>,
}

static FAMILIES: LazyLock<Vec<[Map; 2]>> = LazyLock::new(|| {
    let mut reader = Reader(TABLES);
    (0..CASE_FAMILIES).map(|_| [read(&mut reader), read(&mut reader)]).collect()
});

fn read(reader: &mut Reader<'_>) -> Map {
    let mut map = Map { ascii: std::array::from_fn(|code| code as u8), pairs: Vec::new() };
    let mut code = 0;
    for _ in 0..reader.varint() {
        code += reader.varint();
        let other = (code as i32 + reader.zigzag()) as u32;
        match (code, other) {
            (0..0x80, 0..0x80) => map.ascii[code as usize] = other as u8,
            _ => map.pairs.extend(char::from_u32(code).zip(char::from_u32(other))),
        }
    }
    map
}

fn mapped(map: &Map, text: &str) -> String {
    let has_ascii_exceptions = map.pairs.first().is_some_and(|pair| pair.0.is_ascii());
    let other = |c: char| match map.pairs.binary_search_by_key(&c, |pair| pair.0) {
        Ok(at) => map.pairs[at].1,
        Err(_) => c,
    };
    text.chars()
        .map(|c| match c {
            _ if c.is_ascii() && !has_ascii_exceptions => char::from(map.ascii[c as usize]),
            _ if c.is_ascii() => match other(c) {
                same if same == c => char::from(map.ascii[c as usize]),
                other => other,
            },
            _ => other(c),
        })
        .collect()
}

/// Returns the text in upper case, by the rules of a family.
fn upper_of_family(family: u8, text: &str) -> String {
    FAMILIES.get(usize::from(family)).map_or_else(|| text.to_owned(), |maps| mapped(&maps[0], text))
}

/// Returns the text in lower case, by the rules of a family.
fn lower_of_family(family: u8, text: &str) -> String {
    FAMILIES.get(usize::from(family)).map_or_else(|| text.to_owned(), |maps| mapped(&maps[1], text))
}

/// Returns the text in upper case, by the collation's rules.
pub fn upper(id: u16, text: &str) -> String {
    upper_of_family(of(id).case_family, text)
}

/// Returns the text in lower case, by the collation's rules.
pub fn lower(id: u16, text: &str) -> String {
    lower_of_family(of(id).case_family, text)
}
