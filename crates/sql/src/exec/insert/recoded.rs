//! Recodes values on their way into text columns: characters that become bytes or bytes that become
//! characters (one side is `binary`), and dates and times with a fraction, which become texts.

use crate::expr::{is_stored_otherwise, is_text, text_for};
use crate::plan::QueryPlan;
use crate::variables::Variables;
use engine::Table;
use types::collation::with_question_marks;
use types::{ColumnType, Value, Zone};

/// The recoding of the values for one column.
pub(in crate::exec) struct Recoded {
    /// The position of the value in the row from the source.
    place: usize,
    from: ColumnType,
    to: ColumnType,
    /// Whether `from` may lack characters of the values, which become question marks.
    loses: bool,
}

impl Recoded {
    /// Returns the recodings for a query's rows. `columns` are the table's columns that the values
    /// are for.
    pub fn of_query(plan: &QueryPlan, table: &Table, columns: &[usize]) -> Vec<Recoded> {
        all(plan.columns.iter().map(|column| &column.ty), table, columns)
    }

    /// Returns the recodings for rows of literals, which are in the connection's character set.
    pub fn of_literals(variables: &Variables, table: &Table, columns: &[usize]) -> Vec<Recoded> {
        let literal = ColumnType::varchar(0, variables.connection_collation);
        if variables.literal_collations().loses_characters() {
            let to = columns.iter().map(|at| table.def.columns[*at].ty.clone()).enumerate();
            return to.map(|(place, to)| Recoded { place, from: literal.clone(), to, loses: true }).collect();
        }
        all(std::iter::repeat_n(&literal, columns.len()), table, columns)
    }

    /// Recodes the value in a row, if it needs that.
    pub fn apply(&self, row: &mut [Value], zone: Zone) {
        let value = &mut row[self.place];
        if let (true, Value::Bytes(bytes)) = (self.loses, &mut *value) {
            *bytes = with_question_marks(self.from.collation, bytes).into_owned();
        }
        if let Some(stored) = text_for(value, &self.from, &self.to, zone) {
            *value = stored;
        }
    }
}

fn all<'t>(from: impl Iterator<Item = &'t ColumnType>, table: &Table, columns: &[usize]) -> Vec<Recoded> {
    let to = columns.iter().map(|at| &table.def.columns[*at].ty);
    let pairs = from.zip(to).enumerate();
    pairs
        .filter(|(_, (from, to))| is_text(to) && (is_stored_otherwise(from, to.collation) || from.fsp() > 0))
        .map(|(place, (from, to))| Recoded { place, from: from.clone(), to: to.clone(), loses: false })
        .collect()
}
