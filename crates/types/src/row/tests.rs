use super::*;
use crate::packed;

fn layout() -> RowLayout {
    RowLayout::new(&[
        ColumnType::int(false),
        ColumnType::int(false),
        ColumnType::char(120, 255),
        ColumnType::varchar(60, 255),
        ColumnType::text(255),
        ColumnType::tinyint(true),
        ColumnType::smallint(false),
        ColumnType::bigint(false),
        ColumnType::tinyint(false),
    ])
}

/// A small generator, so that a failing case can be run again from its printed seed.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }
}

fn random_row(layout: &RowLayout, random: &mut Random) -> Vec<Value> {
    let value = |ty: &ColumnType, random: &mut Random| match ty.code {
        _ if random.below(4) == 0 => Value::Null,
        crate::TypeCode::Tiny if ty.unsigned => Value::UInt(random.below(256)),
        _ if ty.is_integer() => Value::Int(random.below(100) as i64 - 50),
        _ => Value::Bytes((0..random.below(40)).map(|_| b'a' + random.below(26) as u8).collect()),
    };
    layout.types().to_vec().iter().map(|ty| value(ty, random)).collect()
}

fn image(layout: &RowLayout, values: &[Value]) -> Vec<u8> {
    let mut out = Vec::new();
    layout.encode(values, &mut out).unwrap();
    out
}

#[test]
fn splice_extract_and_change_agree_with_values() {
    let seed = std::env::var("SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(7);
    println!("SEED={seed}");
    let (layout, mut random) = (layout(), Random(seed));
    for _ in 0..500 {
        let (old, new) = (random_row(&layout, &mut random), random_row(&layout, &mut random));
        let (old_image, new_image) = (image(&layout, &old), image(&layout, &new));
        let mut mask = ColumnMask::empty(layout.columns());
        for column in 0..layout.columns() {
            if random.below(3) == 0 {
                mask.insert(column);
            }
        }
        let mut partial = Vec::new();
        layout.extract(&new_image, &mask, &mut partial).unwrap();
        assert_eq!(layout.partial_len(&mask, &partial), Ok(partial.len()));
        // The columns are read in any order, over any old content of the places.
        let mut columns: Vec<usize> = mask.iter().collect();
        if random.below(2) == 0 {
            columns.reverse();
        }
        let mut slots = old.clone();
        layout.decode_columns(&new_image, &columns, &mut slots).unwrap();
        for column in 0..layout.columns() {
            let expected = if mask.contains(column) { &new[column] } else { &old[column] };
            assert_eq!(&slots[column], expected, "column {column}");
        }
        let mut spliced = Vec::new();
        assert_eq!(layout.splice(&old_image, &mask, &partial, &mut spliced), Ok(partial.len()));
        let mut from_values = Vec::new();
        layout.splice_values(&old_image, &mask, &new, &mut from_values).unwrap();
        assert_eq!(from_values, spliced);
        let expected: Vec<Value> = (0..layout.columns())
            .map(|c| if mask.contains(c) { new[c].clone() } else { old[c].clone() })
            .collect();
        assert_eq!(layout.decode_all(&spliced).unwrap(), expected);
        assert_eq!(layout.len_of(&spliced), Ok(spliced.len()));
        let changed = layout.changed(&old_image, &spliced).unwrap();
        for column in 0..layout.columns() {
            assert_eq!(changed.contains(column), old[column] != expected[column]);
            assert_eq!(layout.decode(&spliced, column).unwrap(), expected[column]);
            let raw = layout.get_raw_partial(&mask, &partial, column).unwrap();
            assert_eq!(raw.is_some(), mask.contains(column));
            if let Some(Some(raw)) = raw {
                assert_eq!(packed::decode(&layout.types()[column], raw).unwrap(), new[column]);
            }
        }
    }
}

#[test]
fn one_column_is_spliced_into_rows_without_nulls() {
    let (layout, mut random) = (layout(), Random(11));
    let mut rows = std::iter::repeat_with(|| random_row(&layout, &mut random))
        .filter(|row| !row.iter().any(|value| matches!(value, Value::Null)));
    for _ in 0..20 {
        let (old, new) = (rows.next().expect("goes on"), rows.next().expect("goes on"));
        let (old_image, new_image) = (image(&layout, &old), image(&layout, &new));
        for column in 0..layout.columns() {
            let mut mask = ColumnMask::empty(layout.columns());
            mask.insert(column);
            let (mut partial, mut spliced, mut from_values) = (Vec::new(), Vec::new(), Vec::new());
            layout.extract(&new_image, &mask, &mut partial).unwrap();
            layout.splice_values(&old_image, &mask, &new, &mut from_values).unwrap();
            let longer = [&old_image[..], &[9, 9]].concat();
            for base in [&old_image, &longer] {
                spliced.clear();
                assert_eq!(layout.splice(base, &mask, &partial, &mut spliced), Ok(partial.len()));
                assert_eq!(spliced, from_values, "column {column}");
            }
            for len in 0..old_image.len() {
                assert!(layout.splice(&old_image[..len], &mask, &partial, &mut Vec::new()).is_err());
            }
            for len in 0..partial.len() {
                assert!(layout.splice(&old_image, &mask, &partial[..len], &mut Vec::new()).is_err());
            }
        }
    }
}

#[test]
fn columns_of_rows_without_nulls_are_read_in_any_order() {
    let (layout, mut random) = (layout(), Random(13));
    let mut rows = std::iter::repeat_with(|| random_row(&layout, &mut random))
        .filter(|row| !row.iter().any(|value| matches!(value, Value::Null)));
    let orders: [&[usize]; 5] = [&[0, 1, 2, 3, 4, 5, 6, 7, 8], &[3], &[4, 2, 3], &[8, 3, 0], &[2, 2, 7]];
    for _ in 0..20 {
        let (old, new) = (rows.next().expect("goes on"), rows.next().expect("goes on"));
        let whole = image(&layout, &new);
        for columns in orders {
            for mut slots in [old.clone(), Value::nulls(layout.columns())] {
                layout.decode_columns(&whole, columns, &mut slots).unwrap();
                columns.iter().for_each(|column| assert_eq!(slots[*column], new[*column]));
            }
        }
        let mut slots = old.clone();
        for len in 0..whole.len() {
            assert!(layout.decode_columns(&whole[..len], &[2, 3, 8], &mut slots).is_err(), "{len}");
        }
        assert!(layout.decode_columns(&whole, &[9], &mut slots).is_err());
        // The last column may be a text that is empty.
        let texts = RowLayout::new(&[ColumnType::int(false), ColumnType::varchar(20, 255)]);
        let values = [Value::Int(1), Value::Bytes(Vec::new())];
        let mut slots = [Value::Null, Value::text("before")];
        texts.decode_columns(&image(&texts, &values), &[0, 1], &mut slots).unwrap();
        assert_eq!(slots, values);
    }
}

#[test]
fn cut_images_are_errors() {
    let layout = layout();
    let mut random = Random(3);
    let whole = image(&layout, &random_row(&layout, &mut random));
    for len in 0..whole.len() {
        assert!(layout.len_of(&whole[..len]).is_err(), "{len} of {}", whole.len());
        assert!(layout.decode_all(&whole[..len]).is_err());
        let (mut last, values) = (ColumnMask::empty(layout.columns()), random_row(&layout, &mut random));
        last.insert(layout.columns() - 1);
        let spliced = layout.splice_values(&whole[..len], &last, &values, &mut Vec::new());
        assert!(spliced.is_err(), "{len} of {}", whole.len());
    }
    assert!(layout.get_raw(&whole, 9).is_err());
    let mask = ColumnMask::full(3);
    assert!(layout.partial_len(&mask, &whole).is_err());
}

#[test]
fn bytes_that_are_no_value_are_refused_before_they_are_stored() {
    let layout = RowLayout::new(&[ColumnType::int(false), ColumnType::datetime(0)]);
    let mut image = Vec::new();
    layout.encode_raw(&[Some(&[1, 0, 0, 0]), Some(&[0x80, 0, 0, 0, 0])], &mut image).unwrap();
    let full = ColumnMask::full(2);
    layout.check_values(&full, &image).unwrap();
    // This makes it a year beyond 9999.
    let at = image.len() - 5;
    image[at..].fill(0xFF);
    assert_eq!(layout.decode_all(&image).is_ok(), layout.check_values(&full, &image).is_ok());
    layout.check_values(&full, &image).unwrap_err();
}

#[test]
fn projected_images_have_the_columns_that_were_asked_for() {
    let types = [ColumnType::varchar(300, 255), ColumnType::int(false), ColumnType::varchar(20, 255)];
    let layout = RowLayout::new(&types);
    for values in [
        [Value::text("abc"), Value::Int(-7), Value::text("")],
        [Value::Null, Value::Int(5), Value::text("x")],
        [Value::text("a"), Value::Null, Value::Null],
    ] {
        let mut image = Vec::new();
        layout.encode(&values, &mut image).unwrap();
        for columns in [&[2, 0][..], &[1], &[0, 1, 2], &[1, 1, 1, 1, 1, 1, 1, 1, 0]] {
            let projected = RowLayout::new(&columns.iter().map(|at| types[*at].clone()).collect::<Vec<_>>());
            let mut out = vec![0xff];
            layout.project(&image, columns, &mut out).unwrap();
            let wanted: Vec<Value> = columns.iter().map(|at| values[*at].clone()).collect();
            assert_eq!(projected.decode_all(&out[1..]), Ok(wanted));
            assert_eq!(projected.len_of(&out[1..]), Ok(out.len() - 1));
        }
        assert!(layout.project(&image, &[3], &mut Vec::new()).is_err());
        assert!(layout.project(&image[..1], &[2], &mut Vec::new()).is_err() || values[2].is_null());
    }
}
