use super::key::{Key, KeyBuffer, KeyOrder, key_of_text, write_only_text, write_part};
use super::merge::Merge;
use super::run::{Buffer, RunReader};
use crate::memory::{Budget, Charge};
use os::random::{Rng, test_seed};
use types::temporal::{Date, DateTime, Time};
use types::{Decimal, Value, collation};

fn part(value: &Value, descending: bool) -> Vec<u8> {
    let mut key = Vec::new();
    assert!(write_part(value, collation::UTF8MB4_0900_AI_CI, descending, types::Zone::UTC, &mut key));
    key
}

/// Returns lists of values in which each value sorts before those behind it.
fn ascending() -> Vec<Vec<Value>> {
    let decimal = |text: &str| Value::Decimal(text.parse::<Decimal>().expect("a number"));
    let at = |year, month, hour, micros| {
        let date = Date { year, month, day: 0 };
        Value::DateTime(DateTime { date, hour, micros, ..DateTime::default() })
    };
    let time = |negative, hours, micros| Value::Time(Time { negative, hours, micros, ..Time::default() });
    let integers =
        [i64::MIN, -65_537, -65_536, -257, -256, -255, -2, -1, 0, 1, 2, 255, 256, 65_535, i64::MAX];
    let mut integers: Vec<Value> = integers.into_iter().map(Value::Int).collect();
    integers.extend([Value::UInt(1 << 63), Value::UInt(u64::MAX)]);
    let doubles = [f64::MIN, -1.5, -1.0, -f64::MIN_POSITIVE, 0.0, f64::MIN_POSITIVE, 1.0, 1.5, f64::MAX];
    vec![
        integers,
        doubles.into_iter().map(Value::Double).collect(),
        vec![Value::Float(-0.5), Value::Float(0.0), Value::Float(0.25)],
        vec![
            decimal("-10.5"),
            decimal("-10"),
            decimal("-0.01"),
            decimal("0"),
            decimal("0.001"),
            decimal("9.99"),
        ],
        vec![Value::text(""), Value::text("a"), Value::text("a b"), Value::text("ab"), Value::text("B")],
        vec![at(0, 0, 0, 0), at(1970, 0, 0, 0), at(1970, 1, 0, 0), at(1970, 1, 0, 1), at(1970, 1, 1, 0)],
        vec![time(true, 838, 0), time(true, 0, 2), time(true, 0, 1), time(false, 0, 0), time(false, 838, 0)],
        vec![Value::Year(0), Value::Year(1901), Value::Year(2155)],
        vec![Value::Date(Date::default()), Value::Date(Date { year: 1, month: 0, day: 0 }), at(1, 1, 0, 0)],
    ]
}

#[test]
fn keys_order_as_the_values_do() {
    for mut values in ascending() {
        values.insert(0, Value::Null);
        for (at, one) in values.iter().enumerate() {
            for (other_at, other) in values.iter().enumerate() {
                assert_eq!(part(one, false).cmp(&part(other, false)), at.cmp(&other_at), "{one:?} {other:?}");
                assert_eq!(part(one, true).cmp(&part(other, true)), other_at.cmp(&at), "{one:?} {other:?}");
                let is_beginning = at != other_at && part(one, false).starts_with(&part(other, false));
                assert!(!is_beginning, "{one:?} {other:?}");
            }
        }
    }
    let equal = [(Value::Int(7), Value::UInt(7)), (Value::Double(0.0), Value::Double(-0.0))];
    assert!(equal.iter().all(|(one, other)| part(one, false) == part(other, false)));
    assert_eq!(part(&Value::text("A"), false), part(&Value::text("a"), false));
}

fn whole(start: &[u8]) -> Key<'_> {
    Key { start, tail: &[] }
}

/// Returns a random key. It consists of pairs of a 1 and a random byte and ends with a 0, so that
/// no key is a prefix of another.
fn random_key(rng: &mut Rng) -> Vec<u8> {
    let most = if rng.one_in(20) { 200 } else { 24 };
    let mut key: Vec<u8> =
        (0..rng.below(most)).map(|at| if at % 2 == 0 { 1 } else { rng.below(3) as u8 }).collect();
    key.truncate(key.len() / 2 * 2);
    key.push(0);
    key
}

#[test]
fn buffers_and_merges_keep_the_order_of_equal_keys() {
    let mut rng = Rng::new(test_seed("sort buffers_and_merges"));
    let budget = Budget::new(Default::default());
    for runs in [1, 2, 3, 7] {
        let mut expected: Vec<(Vec<u8>, u32)> = Vec::new();
        let mut readers = Vec::new();
        for _ in 0..runs {
            let mut buffer = Buffer::new(1 << 20, KeyOrder::of(&[]), Charge::new(&budget));
            for _ in 0..rng.below(3000) {
                let (key, number) = (random_key(&mut rng), expected.len() as u32);
                buffer.push(whole(&key), &number.to_le_bytes()).unwrap();
                expected.push((key, number));
            }
            buffer.sort();
            readers.push(RunReader::of_buffer(buffer));
        }
        expected.sort();
        let mut merge = Merge::new(readers).unwrap();
        for (key, number) in &expected {
            let entry = merge.next().unwrap().map(RunReader::entry);
            assert_eq!(entry, Some((whole(key), &number.to_le_bytes()[..])));
        }
        assert!(merge.next().unwrap().is_none());
    }
    assert_eq!(budget.used_bytes(), 0);
}

#[test]
fn long_texts_with_equal_beginnings_are_in_the_order_of_their_collation() {
    const COLLATION: u16 = collation::UTF8MB4_0900_AI_CI;
    let mut rng = Rng::new(test_seed("sort long_texts"));
    let budget = Budget::new(Default::default());
    for (descending, rows) in [(false, 2000u32), (true, 2000), (false, 30), (true, 5)] {
        let (order, _) = key_of_text(b"", COLLATION, descending);
        let mut buffer = Buffer::new(1 << 20, order, Charge::new(&budget));
        let mut expected: Vec<(Vec<u8>, u32)> = Vec::new();
        for number in 0..rows {
            // The texts differ behind a beginning of 14 to 18 characters or of some 60, by letters
            // that may be equal in the collation, by their lengths, or not at all.
            let beginning = "the same beginning of a text that is longer than all heads: ";
            let same = if rng.one_in(2) { beginning.len() } else { 14 + rng.below(5) as usize };
            let rest: String =
                (0..rng.below(4)).map(|_| ['a', 'A', 'b', 'é'][rng.below(4) as usize]).collect();
            let text = format!("{}{rest}", &beginning[..same]).into_bytes();
            let (_, key) = key_of_text(&text, COLLATION, descending);
            let (low, high) = (&number.to_le_bytes()[..1], &number.to_le_bytes()[1..]);
            if rng.one_in(2) || !buffer.push_text(&text, [low, high]).unwrap() {
                buffer.push(key.key(), &number.to_le_bytes()).unwrap();
            }
            expected.push((text, number));
        }
        buffer.sort();
        expected.sort_by(|(a, a_number), (b, b_number)| {
            let texts = collation::compare_utf8mb4(COLLATION, a, b);
            (if descending { texts.reverse() } else { texts }).then(a_number.cmp(b_number))
        });
        let mut sorted = Merge::new(vec![RunReader::of_buffer(buffer)]).unwrap();
        for (text, number) in &expected {
            let (_, key) = key_of_text(text, COLLATION, descending);
            let entry = sorted.next().unwrap().map(RunReader::entry);
            assert_eq!(
                entry,
                Some((key.key(), &number.to_le_bytes()[..])),
                "{}",
                String::from_utf8_lossy(text)
            );
        }
        assert!(sorted.next().unwrap().is_none());
    }
}

#[test]
fn the_first_rows_stay_in_the_order_in_which_they_came() {
    let mut rng = Rng::new(test_seed("sort the_first_rows_stay"));
    let budget = Budget::new(Default::default());
    let mut buffer = Buffer::new(1 << 20, KeyOrder::of(&[]), Charge::new(&budget));
    let mut expected: Vec<(Vec<u8>, u32)> = Vec::new();
    for number in 0..2000u32 {
        let key = random_key(&mut rng);
        buffer.push(whole(&key), &number.to_le_bytes()).unwrap();
        expected.push((key, number));
    }
    buffer.sort();
    let last = buffer.keep_first(100);
    expected.sort();
    expected.truncate(100);
    assert_eq!(last.as_ref().map(KeyBuffer::key), expected.last().map(|(key, _)| whole(key)));
    // A later row whose key is there already sorts behind the row that has it.
    buffer.push(whole(&expected[50].0), &9999u32.to_le_bytes()).unwrap();
    expected.push((expected[50].0.clone(), 9999));
    expected.sort();
    buffer.sort();
    let mut reader = Merge::new(vec![RunReader::of_buffer(buffer)]).unwrap();
    for (key, number) in &expected {
        let entry = reader.next().unwrap().map(RunReader::entry);
        assert_eq!(entry, Some((whole(key), &number.to_le_bytes()[..])));
    }
}

/// A text whose key is made without a row has the key that it has in a row.
#[test]
fn a_text_alone_has_the_same_key() {
    let budget = Budget::new(Default::default());
    for collation_id in [collation::UTF8MB4_0900_AI_CI, collation::UTF8MB4_BIN] {
        for descending in [false, true] {
            for text in ["", "a", "fifteen letters", "sixteen letters!", "more than sixteen letters", "é"] {
                for text in [text.to_owned(), text.repeat(20)] {
                    let (order, key) = key_of_text(text.as_bytes(), collation_id, descending);
                    let mut alone = KeyBuffer::default();
                    let is_made = write_only_text(order, text.as_bytes(), &mut alone);
                    assert_eq!(is_made, !key.key().tail.is_empty(), "{text}");
                    if is_made {
                        assert_eq!(alone.key(), key.key(), "{text}");
                    }
                    let mut buffer = Buffer::new(1 << 20, order, Charge::new(&budget));
                    assert_eq!(buffer.push_text(text.as_bytes(), [b"p", b"ayload"]).unwrap(), is_made);
                    assert_eq!((buffer.len() > 0, buffer.used_bytes() > 0), (is_made, is_made), "{text}");
                    let mut merge = Merge::new(vec![RunReader::of_buffer(buffer)]).unwrap();
                    let entry = merge.next().unwrap().map(RunReader::entry);
                    assert_eq!(entry, is_made.then_some((key.key(), &b"payload"[..])), "{text}");
                }
            }
        }
    }
}
