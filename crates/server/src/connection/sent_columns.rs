//! The definitions of a prepared statement's columns, as they were sent last.
//!
//! Most executions of a statement have the same columns as the one before, and to encode their
//! definitions costs more than a short row. So the packets are kept, and written again when the
//! columns are equal.

use protocol::packet::{Channel, OutputMark, PacketError, Packets};
use protocol::stream::Stream;
use sql::memory::{Budget, Charge};
use sql::{ColumnMeta, PlanNumber};
use std::sync::Arc;
use types::ColumnType;

/// The most columns whose definitions are kept. Of more columns the rows take most of the time.
const MOST_COLUMNS: usize = 64;

/// The type and the type code of a column, which its values need.
pub type ColumnForm = (ColumnType, u8);

/// The definitions that an execution of a statement has sent, if there was one.
#[derive(Debug)]
pub struct SentColumns {
    columns: Vec<ColumnMeta>,
    /// The plan that the columns belong to, if there is one.
    plan: Option<PlanNumber>,
    /// The form of each column. It is empty while a sink uses it.
    forms: Vec<ColumnForm>,
    /// The collation of `character_set_results`.
    results: Option<u16>,
    packets: Option<Packets>,
    /// The charge for the memory of all of these.
    charge: Charge,
}

impl SentColumns {
    /// Creates a place for a statement that has sent nothing yet, whose memory is charged to
    /// `memory`.
    pub fn new(memory: &Arc<Budget>) -> SentColumns {
        SentColumns {
            columns: Vec::new(),
            plan: None,
            forms: Vec::new(),
            results: None,
            packets: None,
            charge: Charge::new(memory),
        }
    }

    /// Writes the packets again if they are those of these columns. Returns the columns' forms,
    /// which the caller gives back with [`SentColumns::give_back`].
    ///
    /// # Errors
    /// Returns the errors of [`Channel::write_again`].
    pub fn write_again(
        &mut self,
        columns: &[ColumnMeta],
        plan: Option<PlanNumber>,
        results: Option<u16>,
        channel: &mut Channel<Stream>,
    ) -> Result<Option<Vec<ColumnForm>>, PacketError> {
        let Some(packets) = &self.packets else { return Ok(None) };
        let is_same = self.forms.len() == columns.len()
            && self.results == results
            && (plan.is_some() && self.plan == plan || self.columns == columns);
        if is_same {
            // A statement that was bound again mostly has the same columns.
            self.plan = plan;
        }
        if !is_same || !channel.write_again(packets)? {
            return Ok(None);
        }
        Ok(Some(std::mem::take(&mut self.forms)))
    }

    /// Takes back the forms that [`SentColumns::write_again`] has returned.
    pub fn give_back(&mut self, forms: Vec<ColumnForm>) {
        assert_eq!(forms.len(), self.columns.len(), "each column has a form");
        self.forms = forms;
    }

    /// Keeps the packets that were written after `mark`, unless there are too many, some of them
    /// have been sent already, or the connection's memory has no room for them.
    pub fn keep(
        &mut self,
        (columns, plan): (&[ColumnMeta], Option<PlanNumber>),
        forms: &[ColumnForm],
        results: Option<u16>,
        (channel, mark): (&Channel<Stream>, OutputMark),
    ) {
        self.clear();
        if columns.len() <= MOST_COLUMNS
            && let Some(packets) = channel.packets_since(mark)
            && self.charge.add_if_room(kept_bytes(columns) + packets.kept_bytes())
        {
            self.columns = columns.to_vec();
            self.plan = plan;
            self.forms = forms.to_vec();
            self.results = results;
            self.packets = Some(packets);
        }
    }

    /// Drops what is kept and gives its memory back.
    fn clear(&mut self) {
        self.columns = Vec::new();
        self.forms = Vec::new();
        self.packets = None;
        self.charge.clear();
    }
}

/// Returns the bytes that copies of these columns and of their forms take.
fn kept_bytes(columns: &[ColumnMeta]) -> usize {
    let texts = |column: &ColumnMeta| {
        let names = [&column.schema, &column.table, &column.org_table, &column.name, &column.org_name];
        names.into_iter().map(String::len).sum::<usize>()
    };
    let fixed_bytes = size_of::<ColumnMeta>() + size_of::<ColumnForm>();
    columns.iter().map(|column| fixed_bytes + texts(column)).sum()
}
