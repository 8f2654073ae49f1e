//! The partitioning of a table: what SHOW CREATE TABLE prints and the dictionary keeps. The rows of
//! all partitions are in the table's one tree (decision 0041). Crate `sql` computes which partition
//! a row belongs to, when somebody asks.

use super::name::same_name;
use crate::bytes::{Put, Reader};
use crate::error::Result;

/// The way in which a row is assigned to a partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartitionKind {
    /// `RANGE`
    Range,
    /// `LIST`
    List,
    /// `HASH`
    Hash,
    /// `KEY`
    Key,
    /// MariaDB's `SYSTEM_TIME`; its expression says how history is divided.
    SystemTime,
}

/// The kinds by their numbers in the dictionary.
const KINDS: [PartitionKind; 5] = [
    PartitionKind::Range,
    PartitionKind::List,
    PartitionKind::Hash,
    PartitionKind::Key,
    PartitionKind::SystemTime,
];

/// The function of `PARTITION BY` or `SUBPARTITION BY`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionFunction {
    /// The kind of partitioning.
    pub kind: PartitionKind,
    /// Whether `LINEAR` was written.
    pub linear: bool,
    /// Whether KEY has `ALGORITHM = 1`.
    pub algorithm_1: bool,
    /// The expression in MySQL's canonical form. `None` means that the function is over `columns`.
    pub expression: Option<String>,
    /// The columns of `RANGE COLUMNS`, `LIST COLUMNS` and `KEY`. It is empty for `KEY ()`, which is
    /// over the primary key. For `SYSTEM_TIME` these are numbers that say what the text does not:
    /// with INTERVAL the second of Unix time at which the first partition begins; with LIMIT, for
    /// each span of time that the rows no longer tell, its last microsecond of Unix time and the
    /// position of the partition that has its rows.
    pub columns: Vec<String>,
}

/// The form in which the number of partitions is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartitionForm {
    /// Nothing is written, and there is one partition.
    Unsaid,
    /// `PARTITIONS n`.
    Count,
    /// Each partition is written with its name.
    List,
}

/// The forms by their numbers in the dictionary.
const FORMS: [PartitionForm; 3] = [PartitionForm::Unsaid, PartitionForm::Count, PartitionForm::List];

/// A subpartition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subpartition {
    /// The name of the subpartition.
    pub name: String,
    /// `COMMENT`, `DATA DIRECTORY`, `MAX_ROWS` and so on, as they are printed.
    pub options: Vec<(String, String)>,
}

/// A partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// The name of the partition.
    pub name: String,
    /// The values of the partition, each of as many literals as the function has columns. For RANGE
    /// it is one value, the least that no longer belongs to the partition (`MAXVALUE` for none).
    /// For LIST it is all values that belong to it. For other kinds it is empty.
    pub values: Vec<Vec<String>>,
    /// The options, of the same form as those of a [`Subpartition`].
    pub options: Vec<(String, String)>,
    /// The subpartitions of the partition.
    pub subpartitions: Vec<Subpartition>,
}

/// The `PARTITION BY` clause of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partitioning {
    /// The function that assigns rows to partitions.
    pub by: PartitionFunction,
    /// The form in which the partitions are written.
    pub form: PartitionForm,
    /// The function that assigns rows to subpartitions, and the form in which these are written.
    pub sub: Option<(PartitionFunction, PartitionForm)>,
    /// The partitions in their order.
    pub partitions: Vec<Partition>,
}

impl Partitioning {
    /// Returns the position of the partition with this name.
    pub fn partition(&self, name: &str) -> Option<usize> {
        self.partitions.iter().position(|partition| same_name(&partition.name, name))
    }

    /// Reports whether there may be rows that belong to no partition.
    pub fn leaves_rows_out(&self) -> bool {
        match self.by.kind {
            PartitionKind::Hash | PartitionKind::Key | PartitionKind::SystemTime => false,
            PartitionKind::List => !self.partitions.iter().any(Partition::is_default),
            PartitionKind::Range => {
                let last = self.partitions.last().and_then(|partition| partition.values.first());
                last.is_none_or(|values| values.iter().any(|value| value != "MAXVALUE"))
            }
        }
    }
}

fn put_function(out: &mut Vec<u8>, function: &PartitionFunction) {
    let kind = KINDS.iter().position(|known| *known == function.kind).expect("every kind has a number");
    out.put_u8(kind as u8);
    out.put_bool(function.linear);
    out.put_bool(function.algorithm_1);
    out.put_bool(function.expression.is_some());
    out.put_str(function.expression.as_deref().unwrap_or_default());
    out.put_varint(function.columns.len() as u64);
    function.columns.iter().for_each(|column| out.put_str(column));
}

fn read_function(reader: &mut Reader<'_>) -> Result<PartitionFunction> {
    let kind = KINDS.get(usize::from(reader.u8()?)).copied();
    let kind = kind.ok_or_else(|| reader.impossible("kind of partitions"))?;
    let (linear, algorithm_1, has_expression) = (reader.bool()?, reader.bool()?, reader.bool()?);
    let expression = Some(reader.string()?).filter(|_| has_expression);
    let count = reader.count()?;
    let columns = (0..count).map(|_| reader.string()).collect::<Result<Vec<_>>>()?;
    Ok(PartitionFunction { kind, linear, algorithm_1, expression, columns })
}

fn put_form(out: &mut Vec<u8>, form: PartitionForm) {
    let form = FORMS.iter().position(|known| *known == form).expect("every form has a number");
    out.put_u8(form as u8);
}

fn read_form(reader: &mut Reader<'_>) -> Result<PartitionForm> {
    let form = FORMS.get(usize::from(reader.u8()?)).copied();
    form.ok_or_else(|| reader.impossible("form of partitions"))
}

fn put_options(out: &mut Vec<u8>, options: &[(String, String)]) {
    out.put_varint(options.len() as u64);
    for (name, value) in options {
        out.put_str(name);
        out.put_str(value);
    }
}

fn read_options(reader: &mut Reader<'_>) -> Result<Vec<(String, String)>> {
    let count = reader.count()?;
    (0..count).map(|_| Ok((reader.string()?, reader.string()?))).collect()
}

impl Partition {
    /// Reports whether this is MariaDB's `DEFAULT` partition of LIST, which has the values that no
    /// other partition has.
    pub fn is_default(&self) -> bool {
        self.values.iter().flatten().any(|value| value == "DEFAULT")
    }
}

/// Appends the partitioning of a table.
pub(super) fn put(out: &mut Vec<u8>, partitioning: &Partitioning) {
    put_function(out, &partitioning.by);
    put_form(out, partitioning.form);
    out.put_bool(partitioning.sub.is_some());
    if let Some((function, form)) = &partitioning.sub {
        put_function(out, function);
        put_form(out, *form);
    }
    out.put_varint(partitioning.partitions.len() as u64);
    for partition in &partitioning.partitions {
        out.put_str(&partition.name);
        out.put_varint(partition.values.len() as u64);
        for values in &partition.values {
            out.put_varint(values.len() as u64);
            values.iter().for_each(|value| out.put_str(value));
        }
        put_options(out, &partition.options);
        out.put_varint(partition.subpartitions.len() as u64);
        for subpartition in &partition.subpartitions {
            out.put_str(&subpartition.name);
            put_options(out, &subpartition.options);
        }
    }
}

/// Reads what [`put`] has appended.
pub(super) fn read(reader: &mut Reader<'_>) -> Result<Partitioning> {
    let (by, form) = (read_function(reader)?, read_form(reader)?);
    let sub = match reader.bool()? {
        true => Some((read_function(reader)?, read_form(reader)?)),
        false => None,
    };
    let mut partitions = Vec::new();
    for _ in 0..reader.count()? {
        let name = reader.string()?;
        let mut values = Vec::new();
        for _ in 0..reader.count()? {
            let count = reader.count()?;
            values.push((0..count).map(|_| reader.string()).collect::<Result<Vec<_>>>()?);
        }
        let options = read_options(reader)?;
        let mut subpartitions = Vec::new();
        for _ in 0..reader.count()? {
            subpartitions.push(Subpartition { name: reader.string()?, options: read_options(reader)? });
        }
        partitions.push(Partition { name, values, options, subpartitions });
    }
    if partitions.is_empty() {
        return Err(reader.impossible("table without partitions"));
    }
    Ok(Partitioning { by, form, sub, partitions })
}
