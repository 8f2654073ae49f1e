//! Prints trees of operations for FORMAT=TREE and FORMAT=JSON (version 2 of its schema).

use super::operation::Operation;
use std::fmt::Write;

/// Returns a number as MySQL shows it, with three significant digits.
fn short(number: f64) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    let digits = 2 - number.abs().log10().floor() as i32;
    let number = match digits {
        digits if digits > 0 => format!("{number:.*}", digits as usize),
        _ => format!("{:.0}", number),
    };
    match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => number,
    }
}

/// Returns the text of FORMAT=TREE.
pub(crate) fn tree(operations: &[Operation]) -> String {
    let mut text = String::new();
    operations.iter().for_each(|operation| put_tree(operation, 0, &mut text));
    text
}

fn put_tree(operation: &Operation, depth: usize, into: &mut String) {
    let Operation { text, expected, inputs, .. } = operation;
    let expected = match expected {
        Some(expected) => format!("  (cost={} rows={})", short(expected.cost), short(expected.rows)),
        None => String::new(),
    };
    into.push_str(&"    ".repeat(depth));
    into.push_str("-> ");
    into.push_str(text);
    into.push_str(&expected);
    into.push('\n');
    inputs.iter().for_each(|input| put_tree(input, depth + 1, into));
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            c if c < ' ' => drop(write!(quoted, "\\u{:04x}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Returns the text of FORMAT=JSON.
pub(crate) fn json(operations: &[Operation]) -> String {
    let mut text = String::from("{\n  \"query_plan\": ");
    let (own, subqueries) = operations.split_at(operations.len().min(1));
    own.iter().for_each(|operation| put_json(operation, subqueries, 1, &mut text));
    text.push_str(",\n  \"query_type\": \"select\",\n  \"json_schema_version\": \"2.0\"\n}");
    text
}

fn put_json(operation: &Operation, subqueries: &[Operation], depth: usize, into: &mut String) {
    let indent = "  ".repeat(depth + 1);
    let mut fields = Vec::new();
    for (name, inputs) in [("inputs", &operation.inputs[..]), ("inputs_from_select_list", subqueries)] {
        if !inputs.is_empty() {
            let mut list = String::new();
            for (at, input) in inputs.iter().enumerate() {
                list.push_str(if at == 0 { "\n" } else { ",\n" });
                list.push_str(&"  ".repeat(depth + 2));
                put_json(input, &[], depth + 2, &mut list);
            }
            fields.push(format!("\"{name}\": [{list}\n{indent}]"));
        }
    }
    fields.push(format!("\"operation\": {}", quoted(&operation.text)));
    fields.push(format!("\"access_type\": {}", quoted(operation.kind)));
    if let Some(expected) = operation.expected {
        fields.push(format!("\"estimated_rows\": {:?}", expected.rows));
        fields.push(format!("\"estimated_total_cost\": {:?}", expected.cost));
    }
    let fields: Vec<String> = fields.iter().map(|field| format!("{indent}{field}")).collect();
    into.push_str(&format!("{{\n{}\n{}}}", fields.join(",\n"), "  ".repeat(depth)));
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn numbers_have_three_digits() {
        for (number, shown) in
            [(0.0, "0"), (1.0, "1"), (0.333_33, "0.333"), (45.25, "45.2"), (1234.5, "1234"), (99.96, "100")]
        {
            assert_eq!(short(number), shown);
        }
    }
}
