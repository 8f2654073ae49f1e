//! Tests with stored values as damage or an attacker might change them: each is decoded or refused,
//! without a panic.

use os::random::{Rng, test_seed};
use types::row::RowLayout;
use types::{ColumnType, Value, json, packed};

const ROUNDS: usize = 60_000;

fn column_types() -> Vec<ColumnType> {
    let members = || vec!["a".to_owned(), "b".to_owned(), "c".to_owned()];
    vec![
        ColumnType::tinyint(false),
        ColumnType::mediumint(false),
        ColumnType::bigint(true),
        ColumnType::float(),
        ColumnType::double(),
        ColumnType::decimal(65, 30),
        ColumnType::decimal(5, 0),
        ColumnType::char(20, 255),
        ColumnType::varchar(2000, 46),
        ColumnType::binary(10),
        ColumnType::varbinary(100),
        ColumnType::tinytext(255),
        ColumnType::mediumblob(),
        ColumnType::date(),
        ColumnType::time(3),
        ColumnType::datetime(6),
        ColumnType::timestamp(2),
        ColumnType::year(),
        ColumnType::bit(17),
        ColumnType::enumeration(members(), 255),
        ColumnType::set(members(), 255),
        ColumnType::json(),
    ]
}

#[test]
fn damaged_rows_are_decoded_or_refused() {
    let mut rng = Rng::new(test_seed("damaged_rows_are_decoded_or_refused"));
    let types = column_types();
    let layout = RowLayout::new(&types);
    let mut columns: Vec<Vec<u8>> = Vec::new();
    for ty in &types {
        let mut bytes = Vec::new();
        let value = match ty.is_character() || ty.is_blob() {
            true => Value::Bytes(b"some text".to_vec()),
            false => Value::Int(1),
        };
        if packed::encode(ty, &value, &mut bytes).is_err() {
            // For this type, any bytes of the right length will do.
            bytes = match packed::width(ty) {
                packed::Width::Fixed(len) => vec![1; usize::from(len)],
                packed::Width::Prefixed(len) => {
                    let mut bytes = vec![0; usize::from(len)];
                    bytes[0] = 5;
                    bytes.extend_from_slice(b"bytes");
                    bytes
                }
            };
        }
        columns.push(bytes);
    }
    for _ in 0..ROUNDS {
        let column = rng.below(types.len() as u64) as usize;
        let bytes = rng.damaged(&columns[column]);
        let bytes = if rng.one_in(4) { rng.bytes(bytes.len()) } else { bytes };
        if let Ok(value) = packed::decode(&types[column], &bytes) {
            let _ = packed::encode(&types[column], &value, &mut Vec::new()).is_ok();
            let _ = format!("{value:?}");
        }
        let mut image = Vec::new();
        let raw: Vec<Option<&[u8]>> =
            columns.iter().map(|bytes| (!rng.one_in(5)).then_some(&bytes[..])).collect();
        layout.encode_raw(&raw, &mut image).expect("packed values");
        let image = rng.damaged(&image);
        if let Ok(values) = layout.decode_all(&image) {
            let _ = layout.encode(&values, &mut Vec::new()).is_ok();
        }
        let _ = (layout.len_of(&image).is_ok(), layout.get_raw(&image, column).is_ok());
    }
}

#[test]
fn damaged_documents_are_shown_somehow() {
    let mut rng = Rng::new(test_seed("damaged_documents_are_shown_somehow"));
    let texts: [&[u8]; 4] = [
        br#"{"a": [1, -2, 3.5, true, false, null, "text"], "b": {"c": {"d": [[], {}]}}, "long": 18446744073709551615}"#,
        br#"[[[[[[[[1]]]]]]]]"#,
        br#""only a string \u00e9 \ud83d\ude00""#,
        br#"{"": 1e308, "x": -9223372036854775808}"#,
    ];
    for _ in 0..ROUNDS {
        let text = rng.pick::<&[u8]>(&texts);
        let document = json::parse_text(text).expect("a document");
        let document = rng.damaged(&document);
        let mut shown = Vec::new();
        json::write_text(&document, &mut shown);
        assert!(shown.len() < 1 << 22, "{} bytes of text from {} of a document", shown.len(), document.len());
        let text = rng.damaged(text);
        let _ = json::parse_text(&text).is_ok();
    }
}

#[test]
fn damaged_documents_and_paths_are_searched_and_changed_without_a_panic() {
    let mut rng = Rng::new(test_seed("damaged_documents_and_paths_are_searched_and_changed_without_a_panic"));
    let texts: [&[u8]; 3] = [
        br#"{"a": [1, -2, 3.5, true, false, null, "text"], "b": {"c": {"d": [[], {}]}}, "e": "f"}"#,
        br#"[[[[[[[[1]]]]]]], {"a": 1}, 18446744073709551615]"#,
        br#"{"": 1e308, "x": -9223372036854775808}"#,
    ];
    let paths: [&[u8]; 6] =
        [b"$.a[last-1]", b"$**[0 to last]", b"$.b.*.d", b"$[*][0]", b"$.\"\"", b" $ . a [ 1 to 2 ] "];
    for _ in 0..ROUNDS {
        let document = json::parse_text(rng.pick::<&[u8]>(&texts)).expect("a document");
        let document = rng.damaged(&document);
        let other = json::parse_node(rng.pick::<&[u8]>(&texts)).expect("a document");
        let path = *rng.pick(&paths);
        let path = if rng.one_in(3) { rng.damaged(path) } else { path.to_vec() };
        let Ok(path) = json::Path::parse(&path) else { continue };
        if !path.may_mean_several() {
            let _ = json::read_at(&document, &path).is_some();
        }
        let Some(mut node) = json::read_document(&document) else { continue };
        let _ = (path.find(&node).len(), path.places(&node).len(), node.depth(), node.compare(&other));
        let _ = (node.type_name(), json::is_zero(&document), node.as_decimal(), node.as_datetime());
        let _ = json::contains::<()>(&node, &other, &|| Ok(()));
        let _ = json::overlaps::<()>(&node, &other, &|| Ok(()));
        let mut out = Vec::new();
        node.write_key(&mut out);
        json::write_pretty(&node, &mut out);
        node.change(&path, other.clone(), json::Change::Set);
        node.append(&path, json::Node::Null);
        node.insert_element(&path, json::Node::Null);
        node.remove(&path);
        node.merge_patch(other.clone());
        let merged = node.merge_preserving(other);
        assert!(json::write_document(&merged).is_some_and(|bytes| json::read_document(&bytes).is_some()));
    }
}
