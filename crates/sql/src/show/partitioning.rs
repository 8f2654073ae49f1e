//! PARTITION BY as SHOW CREATE TABLE prints it, and its parts as information_schema shows them.

use crate::parse::is_plain_name;
use crate::quoting::{quoted, text_literal as literal};
use engine::{PartitionForm, PartitionFunction, PartitionKind, Partitioning};

/// The options of a partition in MySQL's order, and whether their values are texts.
const OPTIONS: [(&str, bool); 7] = [
    ("TABLESPACE", false),
    ("NODEGROUP", false),
    ("MAX_ROWS", false),
    ("MIN_ROWS", false),
    ("DATA DIRECTORY", true),
    ("INDEX DIRECTORY", true),
    ("COMMENT", true),
];

/// Returns a name, quoted if it has to be.
fn name(name: &str) -> String {
    if is_plain_name(name) { name.to_owned() } else { quoted(name) }
}

fn names(columns: &[String]) -> String {
    columns.iter().map(|column| name(column)).collect::<Vec<_>>().join(",")
}

/// Returns the partitioning method, such as `RANGE`, `LINEAR HASH` or `LIST COLUMNS`.
pub(crate) fn method(function: &PartitionFunction) -> String {
    let kind = match function.kind {
        PartitionKind::Range => "RANGE",
        PartitionKind::List => "LIST",
        PartitionKind::Hash => "HASH",
        PartitionKind::Key => "KEY",
        PartitionKind::SystemTime => "SYSTEM_TIME",
    };
    let columns = if is_over_columns(function) { " COLUMNS" } else { "" };
    format!("{}{kind}{columns}", if function.linear { "LINEAR " } else { "" })
}

fn is_over_columns(function: &PartitionFunction) -> bool {
    function.expression.is_none() && function.kind != PartitionKind::Key
}

/// Returns the function's expression, or its columns in backticks. Returns `None` for `KEY ()`.
pub(crate) fn expression(function: &PartitionFunction) -> Option<String> {
    match &function.expression {
        Some(expression) => Some(expression.clone()),
        None if function.columns.is_empty() => None,
        None => Some(function.columns.iter().map(|column| quoted(column)).collect::<Vec<_>>().join(",")),
    }
}

fn function(function: &PartitionFunction) -> String {
    let linear = if function.linear { "LINEAR " } else { "" };
    match (&function.expression, function.kind) {
        (Some(expression), PartitionKind::SystemTime) => format!("SYSTEM_TIME {expression}"),
        (Some(expression), _) => format!("{} ({expression})", method(function)),
        // MySQL writes two spaces here.
        (None, PartitionKind::Range) => format!("RANGE  COLUMNS({})", names(&function.columns)),
        (None, PartitionKind::List) => format!("LIST  COLUMNS({})", names(&function.columns)),
        (None, _) if function.algorithm_1 => {
            format!("{linear}KEY */ /*!50611 ALGORITHM = 1 */ /*!50100 ({})", names(&function.columns))
        }
        (None, _) => format!("{linear}KEY ({})", names(&function.columns)),
    }
}

/// Returns the values of a partition as VALUES has them, without the parentheses around them.
pub(crate) fn values(partitioning: &Partitioning, at: usize) -> String {
    let tuples = &partitioning.partitions[at].values;
    let tuple = |values: &Vec<String>| values.join(",");
    if partitioning.by.kind == PartitionKind::Range {
        return tuples.first().map(tuple).unwrap_or_default();
    }
    // For LIST (but not LIST COLUMNS), NULL is shown first.
    let is_first = partitioning.by.expression.is_some();
    let is_null = |values: &&Vec<String>| is_first && values[0] == "NULL";
    let ordered = tuples.iter().filter(is_null).chain(tuples.iter().filter(|values| !is_null(values)));
    let one = |values: &Vec<String>| match values.len() {
        1 => tuple(values),
        _ => format!("({})", tuple(values)),
    };
    ordered.map(one).collect::<Vec<_>>().join(",")
}

/// Returns the options of a partition, or those of a subpartition, which has its partition's where
/// it has none of its own.
fn options(own: &[(String, String)], of_partition: &[(String, String)]) -> String {
    let mut text = String::new();
    for (known, is_text) in OPTIONS {
        let Some((_, value)) = own.iter().chain(of_partition).find(|(name, _)| name == known) else {
            continue;
        };
        let value = match known {
            "TABLESPACE" => quoted(value),
            _ if is_text => literal(value).replace("''", "\\'"),
            _ => value.clone(),
        };
        text.push_str(&format!(" {known} = {value}"));
    }
    text.push_str(" ENGINE = InnoDB");
    text
}

fn partition(partitioning: &Partitioning, at: usize) -> String {
    let partition = &partitioning.partitions[at];
    let mut text = format!("PARTITION {}", name(&partition.name));
    match partitioning.by.kind {
        PartitionKind::Range
            if partition.values == [["MAXVALUE"]] && partitioning.by.expression.is_some() =>
        {
            text.push_str(" VALUES LESS THAN MAXVALUE");
        }
        PartitionKind::SystemTime => text.push_str(&format!(" {}", values(partitioning, at))),
        PartitionKind::List if partition.is_default() => text.push_str(" DEFAULT"),
        PartitionKind::Range => text.push_str(&format!(" VALUES LESS THAN ({})", values(partitioning, at))),
        PartitionKind::List => text.push_str(&format!(" VALUES IN ({})", values(partitioning, at))),
        _ => {}
    }
    if !matches!(partitioning.sub, Some((_, PartitionForm::List))) {
        text.push_str(&options(&partition.options, &[]));
        return text;
    }
    let subs = partition.subpartitions.iter();
    let shown = |sub: &engine::Subpartition| options(&sub.options, &partition.options);
    let subs = subs.map(|sub| format!("SUBPARTITION {}{}", name(&sub.name), shown(sub)));
    text.push_str(&format!("\n ({})", subs.collect::<Vec<_>>().join(",\n  ")));
    text
}

/// Returns the PARTITION BY clause, after a line feed and within MySQL's version comment.
pub(super) fn clause(partitioning: &Partitioning) -> String {
    let of_mariadb = partitioning.by.kind == PartitionKind::SystemTime
        || partitioning.partitions.iter().any(engine::Partition::is_default);
    let version = if is_over_columns(&partitioning.by) { "50500" } else { "50100" };
    // MySQL cannot read these partitions, so they are in no version comment.
    let head = if of_mariadb { " ".to_owned() } else { format!("/*!{version} ") };
    let mut text = format!("\n{head}PARTITION BY {}", function(&partitioning.by));
    if partitioning.form == PartitionForm::Count {
        text.push_str(&format!("\nPARTITIONS {}", partitioning.partitions.len()));
    }
    if let Some((by, form)) = &partitioning.sub {
        text.push_str(&format!("\nSUBPARTITION BY {}", function(by)));
        if *form == PartitionForm::Count {
            let count = partitioning.partitions.first().map_or(0, |first| first.subpartitions.len());
            text.push_str(&format!("\nSUBPARTITIONS {count}"));
        }
    }
    if partitioning.form == PartitionForm::List {
        let all = (0..partitioning.partitions.len()).map(|at| partition(partitioning, at));
        text.push_str(&format!("\n({})", all.collect::<Vec<_>>().join(",\n ")));
    }
    if !of_mariadb {
        text.push_str(" */");
    }
    text
}
