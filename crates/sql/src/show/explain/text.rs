//! Prints trees of operations for FORMAT=TREE and FORMAT=JSON (version 2 of its schema).

use super::operation::Operation;
use super::statement::Operations;
use crate::stopwatch::Timing;

/// Returns a number as MySQL shows it: with three significant digits, and with an exponent that is
/// a multiple of three if it is a million or more, or less than a thousandth.
fn short(number: f64) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    let magnitude = number.abs().log10().floor() as i32;
    let is_plain = (0.001..999_999.5).contains(&number.abs());
    if is_plain {
        return digits(number, magnitude);
    }
    let exponent = magnitude.div_euclid(3) * 3;
    let mantissa = number / 10f64.powi(exponent);
    // 999.9 is shown as 1000, which is a one with a greater exponent.
    let (mantissa, exponent) =
        if mantissa.abs() >= 999.5 { (mantissa / 1000.0, exponent + 3) } else { (mantissa, exponent) };
    format!("{}e{exponent:+}", digits(mantissa, mantissa.abs().log10().floor() as i32))
}

/// Returns a number with three significant digits, or with all those before the point. `magnitude`
/// is the exponent of its first digit.
fn digits(number: f64, magnitude: i32) -> String {
    let after_point = (2 - magnitude).max(0) as usize;
    let text = format!("{number:.after_point$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// What was measured of an operation, for one loop of it.
struct PerLoop {
    first_ms: f64,
    all_ms: f64,
    rows: f64,
}

impl PerLoop {
    /// Returns the figures for one loop. `None` if there was none.
    fn of(timing: &Timing) -> Option<PerLoop> {
        const NS_PER_MS: f64 = 1e6;
        let Timing { loops, rows, first_ns, all_ns } = *timing;
        let loops = (loops > 0).then_some(loops as f64)?;
        let ms = |ns: u64| ns as f64 / NS_PER_MS / loops;
        Some(PerLoop { first_ms: ms(first_ns), all_ms: ms(all_ns), rows: rows as f64 / loops })
    }
}

/// Returns the text of FORMAT=TREE.
pub(crate) fn tree(operations: &Operations) -> String {
    let mut text = String::new();
    std::iter::once(&operations.own)
        .chain(&operations.subqueries)
        .for_each(|operation| put_tree(operation, 0, &mut text));
    text
}

fn put_tree(operation: &Operation, depth: usize, into: &mut String) {
    let Operation { text, expected, actual, inputs, .. } = operation;
    let mut figures = Vec::new();
    if let Some(expected) = expected {
        figures.push(format!("(cost={} rows={})", short(expected.cost), short(expected.rows)));
    }
    if let Some(timing) = actual {
        figures.push(match PerLoop::of(timing) {
            Some(PerLoop { first_ms, all_ms, rows }) => {
                let (first, all, rows) = (short(first_ms), short(all_ms), short(rows));
                format!("(actual time={first}..{all} rows={rows} loops={})", timing.loops)
            }
            None => "(never executed)".to_owned(),
        });
    }
    into.push_str(&"    ".repeat(depth));
    into.push_str("-> ");
    into.push_str(text);
    if !figures.is_empty() {
        into.push_str("  ");
        into.push_str(&figures.join(" "));
    }
    into.push('\n');
    inputs.iter().for_each(|input| put_tree(input, depth + 1, into));
}

fn quoted(text: &str) -> String {
    let mut quoted = Vec::with_capacity(text.len() + 2);
    types::json::write_quoted(text.as_bytes(), &mut quoted);
    String::from_utf8_lossy(&quoted).into_owned()
}

/// Returns the text of FORMAT=JSON.
pub(crate) fn json(operations: &Operations) -> String {
    let mut text = String::from("{\n  \"query_plan\": ");
    put_json(&operations.own, &operations.subqueries, 1, &mut text);
    let kind = quoted(operations.query_type);
    text.push_str(&format!(",\n  \"query_type\": {kind},\n  \"json_schema_version\": \"2.0\"\n}}"));
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
    fields.extend(operation.kind.map(|kind| format!("\"access_type\": {}", quoted(kind))));
    let figures = operation.actual.map(|timing| (timing.loops, PerLoop::of(&timing)));
    if let Some((loops, per_loop)) = &figures {
        fields.extend(per_loop.iter().map(|of| format!("\"actual_rows\": {:?}", of.rows)));
        fields.push(format!("\"actual_loops\": {loops}"));
    }
    if let Some(expected) = operation.expected {
        fields.push(format!("\"estimated_rows\": {:?}", expected.rows));
    }
    if let Some((_, Some(per_loop))) = &figures {
        fields.push(format!("\"actual_last_row_ms\": {:?}", per_loop.all_ms));
        fields.push(format!("\"actual_first_row_ms\": {:?}", per_loop.first_ms));
    }
    if let Some(expected) = operation.expected {
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
        for (number, shown) in [
            (0.0, "0"),
            (1.0, "1"),
            (0.333_33, "0.333"),
            (45.25, "45.2"),
            (1234.5, "1234"),
            (99.96, "100"),
            (0.001_02, "0.00102"),
            (0.000_211_4, "211e-6"),
            (0.000_08, "80e-6"),
            (0.000_000_5, "500e-9"),
            (678_288.0, "678288"),
            (1_084_000.0, "1.08e+6"),
            (27.12e6, "27.1e+6"),
            (999_900_000.0, "1e+9"),
            (3.39e9, "3.39e+9"),
        ] {
            assert_eq!(short(number), shown);
        }
    }
}
