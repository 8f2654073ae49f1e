use super::*;
use std::cmp::Ordering;

fn key(id: u16, text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    write_key(id, text.as_bytes(), &mut out);
    out
}

fn cmp(id: u16, a: &str, b: &str) -> Ordering {
    let order = compare(id, a.as_bytes(), b.as_bytes());
    assert_eq!(key(id, a).cmp(&key(id, b)), order, "key order of {a:?} and {b:?} in {}", name(id));
    order
}

#[test]
fn equal_and_unequal() {
    use Ordering::*;
    let unicode_ci = from_name("utf8mb4_unicode_ci").unwrap();
    for id in [UTF8MB4_0900_AI_CI, UTF8MB4_GENERAL_CI, unicode_ci, 246] {
        assert_eq!(cmp(id, "Straße", "STRASSE") == Equal, id != UTF8MB4_GENERAL_CI);
        assert_eq!(cmp(id, "Müller", "muller"), Equal, "{}", name(id));
        assert_eq!(cmp(id, "a", "b"), Less);
        assert_eq!(cmp(id, "a", "a ") == Equal, id != UTF8MB4_0900_AI_CI, "{}", name(id));
        assert_eq!(cmp(id, "", "a"), Less);
    }
    assert_eq!(cmp(UTF8MB4_0900_AS_CS, "a", "A"), Less);
    assert_eq!(cmp(UTF8MB4_0900_AS_CS, "résumé", "resume"), Greater);
    assert_eq!(cmp(UTF8MB4_0900_AS_CS, "resumeb", "résumé"), Greater);
    assert_eq!(cmp(UTF8MB4_0900_AS_CI, "a", "A"), Equal);
    assert_eq!(cmp(UTF8MB4_0900_AI_CI, "가", "각"), Less);
    assert_eq!(cmp(UTF8MB4_0900_AI_CI, "中", "丯"), Less);
    assert_eq!(cmp(UTF8MB4_GENERAL_CI, "\u{1f600}", "\u{1f601}"), Equal);
    assert_eq!(cmp(UTF8MB4_BIN, "a", "A"), Greater);
    assert_eq!(cmp(UTF8MB4_BIN, "a", "a "), Equal);
    assert_eq!(cmp(UTF8MB4_0900_BIN, "a", "a "), Less);
    assert_eq!(cmp(BINARY, "a", "a\0"), Less);
}

#[test]
fn pad_space_orders_below_and_above_space() {
    for id in [UTF8MB4_BIN, UTF8MB4_GENERAL_CI, LATIN1_SWEDISH_CI, ASCII_BIN] {
        assert_eq!(cmp(id, "a\t", "a"), Ordering::Less);
        assert_eq!(cmp(id, "a \t", "a"), Ordering::Less);
        assert_eq!(cmp(id, "a b", "a"), Ordering::Greater);
        assert_eq!(cmp(id, "a  b", "a b"), Ordering::Less);
        assert_eq!(cmp(id, "a   ", "a"), Ordering::Equal);
    }
}

#[test]
fn random_strings_have_the_same_order_as_their_keys() {
    let seed: u64 = std::env::var("SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(11);
    println!("SEED={seed}");
    let mut state = seed;
    let mut below = |n: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % n
    };
    let alphabet =
        ["a", "A", "b", " ", " ", "\t", "\0", "é", "ß", "-", "1", "中", "각", "\u{1f600}", "\u{301}"];
    for _ in 0..5000 {
        let mut text = || (0..below(6)).map(|_| alphabet[below(alphabet.len())]).collect::<String>();
        let (a, b) = (text(), text());
        for collation in all() {
            let (Some(a), Some(b)) =
                (from_utf8mb4(collation.id, a.as_bytes()), from_utf8mb4(collation.id, b.as_bytes()))
            else {
                continue;
            };
            let (mut key_a, mut key_b) = (Vec::new(), Vec::new());
            write_key(collation.id, &a, &mut key_a);
            write_key(collation.id, &b, &mut key_b);
            assert_eq!(key_a.cmp(&key_b), compare(collation.id, &a, &b), "{a:?} {b:?} {}", collation.name);
            assert!(key_a == key_b || !key_b.starts_with(&key_a), "{a:?} {b:?} {}", collation.name);
            if let (Some(before), Some(after)) =
                (order_prefix(collation.id, &a), order_prefix(collation.id, &b))
                && before != after
            {
                let order = compare_utf8mb4(collation.id, &a, &b);
                assert_eq!(before.cmp(&after), order, "{a:?} {b:?} {}", collation.name);
            }
        }
    }
}

#[test]
fn names_and_transcoding() {
    assert_eq!(from_name("UTF8_general_ci"), Some(UTF8MB3_GENERAL_CI));
    assert_eq!(from_name("klingon_ci"), None);
    assert!(all().is_sorted_by_key(|collation| collation.id));
    assert_eq!(to_utf8mb4(LATIN1_SWEDISH_CI, b"\x80\xe4").as_ref(), "€ä".as_bytes());
    assert_eq!(from_utf8mb4(LATIN1_SWEDISH_CI, "€ä".as_bytes()).unwrap().as_ref(), b"\x80\xe4");
    assert!(from_utf8mb4(LATIN1_SWEDISH_CI, "中".as_bytes()).is_none());
    assert!(from_utf8mb4(UTF8MB3_GENERAL_CI, "\u{1f600}".as_bytes()).is_none());
    assert_eq!(char_prefix(UTF8MB4_BIN, "äöü".as_bytes(), 2), "äö".as_bytes());
    assert_eq!(char_count(UTF8MB4_BIN, "äöü".as_bytes()), 3);
}

#[test]
fn text_of_any_collation_compares_as_utf8mb4() {
    for id in [UTF8MB4_0900_AI_CI, UTF8MB4_BIN, LATIN1_SWEDISH_CI] {
        assert_eq!(compare_utf8mb4(id, "a1-ä".as_bytes(), "a2-a".as_bytes()), Ordering::Less);
        assert_eq!(compare_utf8mb4(id, "äb".as_bytes(), "äb".as_bytes()), Ordering::Equal);
    }
    // Ignorable characters do not count, and the shorter of two strings is less.
    assert_eq!(compare_utf8mb4(UTF8MB4_0900_AI_CI, b"a\0b", b"ab"), Ordering::Equal);
    assert_eq!(compare_utf8mb4(UTF8MB4_0900_AI_CI, b"ab", b"abc"), Ordering::Less);
    // Bytes that are not UTF-8 are compared, too.
    assert_eq!(compare_utf8mb4(UTF8MB4_0900_AI_CI, b"a\xff", b"ab"), Ordering::Greater);
}
