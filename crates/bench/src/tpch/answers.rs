//! Compares the answers of two servers to one query.

/// A row as the server has sent it. `None` is NULL.
pub type Row = Vec<Option<Vec<u8>>>;

/// Reports whether two cells say the same. Servers show quotients with different numbers of digits,
/// so numbers may differ by what rounding the shorter one makes.
fn is_same_cell(a: &Option<Vec<u8>>, b: &Option<Vec<u8>>) -> bool {
    let (Some(a), Some(b)) = (a, b) else { return a == b };
    if a == b {
        return true;
    }
    let number = |cell: &[u8]| std::str::from_utf8(cell).ok()?.parse::<f64>().ok();
    let digits = |cell: &[u8]| cell.iter().rev().position(|byte| *byte == b'.').unwrap_or(0);
    match (number(a), number(b)) {
        (Some(one), Some(other)) => {
            let unit = 0.1f64.powi(digits(a).min(digits(b)) as i32);
            digits(a) != digits(b) && (one - other).abs() <= unit
        }
        _ => false,
    }
}

/// Returns what differs between two answers, or `None` if they are the same. The rows of an answer
/// that is not ordered may come in any order.
pub fn difference(mut ours: Vec<Row>, mut theirs: Vec<Row>, is_ordered: bool) -> Option<String> {
    if !is_ordered {
        ours.sort();
        theirs.sort();
    }
    if ours.len() != theirs.len() {
        return Some(format!("{} rows and {}", ours.len(), theirs.len()));
    }
    let is_same =
        |(a, b): (&Row, &Row)| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same_cell(a, b));
    let at = ours.iter().zip(&theirs).position(|rows| !is_same(rows))?;
    let shown = |row: &Row| {
        let cell = |cell: &Option<Vec<u8>>| match cell {
            Some(bytes) => bytes.escape_ascii().to_string(),
            None => "NULL".to_owned(),
        };
        row.iter().map(cell).collect::<Vec<_>>().join("|")
    };
    Some(format!("row {}: {} and {}", at + 1, shown(&ours[at]), shown(&theirs[at])))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: &[&str]) -> Row {
        cells.iter().map(|cell| Some(cell.as_bytes().to_vec())).collect()
    }

    #[test]
    fn answers_differ_by_more_than_digits() {
        let one = || vec![row(&["a", "0.0345"]), row(&["b", "1"])];
        assert_eq!(difference(one(), one(), true), None);
        assert_eq!(difference(one(), vec![row(&["a", "0.034512"]), row(&["b", "1"])], true), None);
        assert!(difference(one(), vec![row(&["a", "0.0346"]), row(&["b", "1"])], true).is_some());
        assert!(difference(one(), vec![row(&["b", "1"]), row(&["a", "0.0345"])], true).is_some());
        assert_eq!(difference(one(), vec![row(&["b", "1"]), row(&["a", "0.0345"])], false), None);
        assert!(difference(one(), vec![row(&["a", "0.0345"])], false).is_some());
        assert!(difference(vec![vec![None]], vec![row(&["0"])], true).is_some());
    }
}
