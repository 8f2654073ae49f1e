//! Rows that are sorted by long texts come in the order of the collation, although the sort weighs
//! only the first characters of most of them.

mod support;

use os::random::{Rng, test_seed};
use std::cmp::Ordering;
use support::{engine, rows, run, session};
use types::collation::{UTF8MB4_0900_AI_CI, compare_utf8mb4, from_name};

/// A row of the table.
struct Row {
    id: i64,
    number: i64,
    folded: String,
    exact: String,
}

/// How texts begin.
const BEGINNINGS: [&str; 6] = ["", "a", "https://www.example.com/", "0123456789abcde", "ÀÉ", "straße\u{1}"];

/// What texts go on with.
const PIECES: [&str; 10] = ["a", "A", "á", "b", "\u{200b}", "ﬃ", " ", "z\u{301}", "ж", "語"];

/// Returns a random text. Many begin with the same characters, and many are equal but for case,
/// accents, characters without a weight, or their last character.
fn text(rng: &mut Rng) -> String {
    let mut text = BEGINNINGS[rng.below(BEGINNINGS.len() as u64) as usize].to_owned();
    if rng.one_in(3) {
        text.push_str(&"same ".repeat(rng.below(8) as usize));
    }
    for _ in 0..rng.below(5) {
        text.push_str(PIECES[rng.below(PIECES.len() as u64) as usize]);
    }
    text
}

/// Returns how rows are ordered by one key.
type ByKey = fn(&Row, &Row) -> Ordering;

fn by_folded(a: &Row, b: &Row) -> Ordering {
    compare_utf8mb4(UTF8MB4_0900_AI_CI, a.folded.as_bytes(), b.folded.as_bytes())
}

fn by_exact(a: &Row, b: &Row) -> Ordering {
    let id = from_name("utf8mb4_0900_as_cs").expect("a collation of MySQL's");
    compare_utf8mb4(id, a.exact.as_bytes(), b.exact.as_bytes())
}

#[test]
fn long_texts_come_in_the_order_of_their_collation() {
    let mut rng = Rng::new(test_seed("long_text_order"));
    let engine = engine();
    let mut s = session(&engine);
    run(
        &mut s,
        "CREATE TABLE t (id INT PRIMARY KEY, n INT, folded VARCHAR(200) COLLATE utf8mb4_0900_ai_ci, \
         exact TEXT COLLATE utf8mb4_0900_as_cs)",
    );
    let mut all: Vec<Row> = (0..2_000)
        .map(|id| Row { id, number: rng.below(4) as i64, folded: text(&mut rng), exact: text(&mut rng) })
        .collect();
    for rows in all.chunks(100) {
        let values: Vec<String> = rows
            .iter()
            .map(|row| format!("({}, {}, '{}', '{}')", row.id, row.number, row.folded, row.exact))
            .collect();
        run(&mut s, &format!("INSERT INTO t VALUES {}", values.join(", ")));
    }
    let by_number: ByKey = |a, b| a.number.cmp(&b.number);
    let by_id: ByKey = |a, b| a.id.cmp(&b.id);
    let reversed_exact: ByKey = |a, b| by_exact(a, b).reverse();
    let reversed_folded: ByKey = |a, b| by_folded(a, b).reverse();
    let orders: [(&str, &[ByKey]); 6] = [
        ("folded, id", &[by_folded, by_id]),
        ("folded DESC, id", &[reversed_folded, by_id]),
        ("exact, id", &[by_exact, by_id]),
        ("exact DESC, folded, id", &[reversed_exact, by_folded, by_id]),
        ("n, folded, exact DESC, id", &[by_number, by_folded, reversed_exact, by_id]),
        ("folded, n, id", &[by_folded, by_number, by_id]),
    ];
    for (order, keys) in orders {
        all.sort_by(|a, b| keys.iter().map(|key| key(a, b)).find(|is| is.is_ne()).unwrap_or(Ordering::Equal));
        let expected: Vec<String> = all.iter().map(|row| row.id.to_string()).collect();
        // The smallest buffer makes runs in a file, and the largest one sorts everything at once.
        for buffer_bytes in [32 << 10, 256 << 10, 64 << 20] {
            run(&mut s, &format!("SET sort_buffer_size = {buffer_bytes}"));
            assert!(rows(&mut s, &format!("SELECT id FROM t ORDER BY {order}")) == expected, "{order}");
            for limit in [1, 10, 300] {
                let query = format!("SELECT id FROM t ORDER BY {order} LIMIT {limit}");
                assert_eq!(rows(&mut s, &query), expected[..limit], "{query}");
            }
        }
    }
}
