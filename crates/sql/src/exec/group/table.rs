//! The groups of a query in a hash table: each has its first row and its accumulators, and is found
//! by its GROUP BY key.
//!
//! When the groups have used up their memory, no further groups are begun. Rows of known groups are
//! still aggregated. Other rows go to a file, partitioned by their keys, and each partition is
//! grouped by itself when all rows have come. So all rows of a group are in one place, and its
//! aggregates see them in the order in which they came.

use super::values::DistinctValues;
use crate::error::Result;
use crate::exec::loops::Flow;
use crate::exec::spill::{
    Entered, KeyTable, Part, Partitions, RowCodec, damaged, hash_of, later_parts, table_bytes,
};
use crate::expr::{Accumulator, Context};
use crate::memory::{Charge, LONG_VALUE_BYTES, growth};
use crate::plan::Grouping;
use types::Value;

/// Takes the row of each group: the slots of the tables, then the results of the aggregates.
pub(super) type VisitGroup<'v> = dyn FnMut(&[Value]) -> Result<Flow> + 'v;

/// The groups of the rows that one thread has read.
pub(super) struct OfThread {
    pub groups: Gathered,
    /// The portions that the thread has read, in their order, and how many groups there were after
    /// each.
    pub portions: Vec<(usize, usize)>,
}

/// Groups that one thread has gathered for another.
pub(super) struct Gathered {
    table: KeyTable,
    codec: RowCodec,
    rows: Vec<u8>,
    row_ends: Vec<usize>,
    accumulators: Vec<Accumulator>,
    /// The keys of the values that are to be counted once.
    counted_once: Option<KeyTable>,
    charge: Charge,
}

/// Groups that are being built.
pub(super) struct Groups<'g> {
    grouping: &'g Grouping,
    /// Whether there is no GROUP BY, so that there is one group, even without rows.
    is_single: bool,
    table: KeyTable,
    codec: RowCodec,
    /// The first rows of the groups, one behind the other, and the end of each in bytes.
    rows: Vec<u8>,
    row_ends: Vec<usize>,
    /// The accumulators of all groups. Those of one group are next to each other.
    accumulators: Vec<Accumulator>,
    distinct: Option<DistinctValues>,
    /// The charge for the lists and for the memory of the aggregates.
    charge: Charge,
    most_bytes: usize,
    /// How many times the rows have been partitioned.
    level: u32,
    later: Option<Partitions>,
    scratch: Vec<u8>,
    /// The group of the row before, and its key: rows of one group often come one after the other.
    before: Option<usize>,
    key_before: Vec<u8>,
}

impl<'g> Groups<'g> {
    pub fn new(grouping: &'g Grouping, ctx: &Context<'_>) -> Groups<'g> {
        if !grouping.keys.is_empty() {
            ctx.counters.created_tmp_tables.count();
        }
        Groups::at(grouping, 0, RowCodec::default(), ctx)
    }

    /// Creates groups for rows that have been partitioned `level` times and were written by
    /// `codec`.
    fn at(grouping: &'g Grouping, level: u32, codec: RowCodec, ctx: &Context<'_>) -> Groups<'g> {
        let distinct = grouping.aggregates.iter().any(|aggregate| aggregate.distinct);
        Groups {
            grouping,
            is_single: grouping.keys.is_empty(),
            table: KeyTable::new(Charge::new(ctx.memory)),
            codec,
            rows: Vec::new(),
            row_ends: Vec::new(),
            accumulators: Vec::new(),
            distinct: distinct.then(|| DistinctValues::new(ctx)),
            charge: Charge::new(ctx.memory),
            most_bytes: table_bytes(ctx),
            level,
            later: None,
            scratch: Vec::new(),
            before: None,
            key_before: Vec::new(),
        }
    }

    /// Creates groups for a part of the rows, which further threads have the other parts of. They
    /// share the memory.
    pub fn of_thread(grouping: &'g Grouping, threads: usize, ctx: &Context<'_>) -> Groups<'g> {
        let mut groups = Groups::at(grouping, 0, RowCodec::default(), ctx);
        groups.most_bytes /= threads;
        groups.distinct.iter_mut().for_each(|distinct| distinct.divide_memory(threads));
        groups
    }

    /// Returns the number of groups that are in memory.
    pub fn len(&self) -> usize {
        self.row_ends.len()
    }

    /// Reports whether rows had to go to a file.
    pub fn is_full(&self) -> bool {
        self.later.is_some() || self.distinct.as_ref().is_some_and(DistinctValues::has_later)
    }

    /// Returns the groups for another thread. `None` means that rows had to go to a file.
    pub fn into_gathered(self) -> Option<Gathered> {
        let Groups { table, codec, rows, row_ends, accumulators, charge, distinct, later, .. } = self;
        let counted_once = match distinct {
            Some(distinct) => Some(distinct.into_keys()?),
            None => None,
        };
        let gathered = Gathered { table, codec, rows, row_ends, accumulators, counted_once, charge };
        later.is_none().then_some(gathered)
    }

    /// Makes one table of the groups that threads have gathered. They come in the order of their
    /// first rows, as one thread would have met them.
    ///
    /// # Errors
    /// Returns the errors of [`Charge::add`] and of merging accumulators.
    pub fn of_threads(
        grouping: &'g Grouping,
        mut threads: Vec<OfThread>,
        slots: usize,
        ctx: &Context<'_>,
    ) -> Result<Groups<'g>> {
        let mut places = Vec::new();
        for (thread, of_thread) in threads.iter().enumerate() {
            let mut number = 0;
            for (portion, end) in &of_thread.portions {
                places.extend((number..*end).map(|number| (*portion, number, thread)));
                number = *end;
            }
            assert_eq!(number, of_thread.groups.row_ends.len(), "each group has begun in a portion");
        }
        places.sort_unstable();
        let mut groups = Groups::new(grouping, ctx);
        for thread in &mut threads {
            groups.charge.absorb(std::mem::replace(&mut thread.groups.charge, Charge::new(ctx.memory)));
        }
        let mut row = Value::nulls(slots);
        // For each thread, the numbers of its groups in the merged table.
        let mut numbers: Vec<_> = threads.iter().map(|of| vec![0; of.groups.row_ends.len()]).collect();
        for (_, number, thread) in places {
            numbers[thread][number] = groups.merge(&mut threads[thread].groups, number, &mut row, ctx)?;
        }
        for (thread, numbers) in threads.iter().zip(&numbers) {
            groups.count_once(&thread.groups, numbers, ctx)?;
        }
        Ok(groups)
    }

    /// Counts the values that a thread has met and that no other one has counted. `numbers` are the
    /// numbers of its groups in this table.
    fn count_once(&mut self, gathered: &Gathered, numbers: &[usize], ctx: &Context<'_>) -> Result<()> {
        let (Some(keys), Some(distinct)) = (&gathered.counted_once, &mut self.distinct) else {
            return Ok(());
        };
        let count = self.grouping.aggregates.len();
        for number in 0..keys.len() {
            ctx.check_interrupt()?;
            let (accumulator, args) = keys.key(number).split_first_chunk().ok_or_else(damaged)?;
            let accumulator = u64::from_be_bytes(*accumulator) as usize;
            let own = numbers[accumulator / count] * count + accumulator % count;
            if distinct.is_first_of_threads(own, args)? {
                self.accumulators[own].count_first();
            }
        }
        Ok(())
    }

    /// Takes in a group that a thread has gathered, apart from values that are to be counted once.
    /// Returns the number of the group in this table.
    fn merge(
        &mut self,
        gathered: &mut Gathered,
        number: usize,
        row: &mut [Value],
        ctx: &Context<'_>,
    ) -> Result<usize> {
        ctx.check_interrupt()?;
        let key = if self.is_single { &[] } else { gathered.table.key(number) };
        let (group, is_new) = match self.is_single {
            true => (0, self.row_ends.is_empty()),
            false => match self.table.enter(key, hash_of(key), true)? {
                Entered::New(group) => (group, true),
                Entered::Known(group) => (group, false),
                Entered::Refused => return Err(crate::memory::out_of_memory()),
            },
        };
        if is_new {
            assert_eq!(group, self.row_ends.len(), "groups are numbered as they come");
            let start = number.checked_sub(1).map_or(0, |before| gathered.row_ends[before]);
            gathered.codec.read_row(&gathered.rows[start..gathered.row_ends[number]], row)?;
            self.begin(row)?;
        }
        let count = self.grouping.aggregates.len();
        for (at, aggregate) in self.grouping.aggregates.iter().enumerate() {
            let other = &mut gathered.accumulators[number * count + at];
            let other = std::mem::replace(other, aggregate.start());
            let own = &mut self.accumulators[group * count + at];
            if aggregate.distinct {
                continue;
            }
            match is_new {
                true => *own = other,
                false => own.merge(aggregate, other, ctx, &mut self.charge)?,
            }
        }
        Ok(group)
    }

    /// Aggregates a row. `key` is the key of its group.
    ///
    /// # Errors
    /// Returns the errors of the expressions and of [`Charge::add`], and 1 and 3 when a temporary
    /// file cannot be created or written.
    #[inline]
    pub fn add(&mut self, key: &[u8], row: &[Value], ctx: &Context<'_>) -> Result<()> {
        if let Some(group) = self.before
            && (self.is_single || *key == *self.key_before)
        {
            return self.take(group, row, ctx);
        }
        let hash = if self.is_single { 0 } else { hash_of(key) };
        let entered = self.group_of(key, hash)?;
        if let Entered::New(group) | Entered::Known(group) = entered {
            // A long key would have to be charged.
            self.before = (key.len() < LONG_VALUE_BYTES).then_some(group);
            self.key_before.clear();
            self.key_before.extend_from_slice(if self.before.is_some() { key } else { &[] });
        }
        match entered {
            Entered::New(group) => self.begin_with(group, row, ctx),
            Entered::Known(group) => self.take(group, row, ctx),
            Entered::Refused => {
                self.scratch.clear();
                self.codec.write_row(row, &mut self.scratch);
                later_parts(&mut self.later, self.level, ctx).push(key, hash, &self.scratch, ctx)
            }
        }
    }

    /// Returns the number of the key's group, which is new if there is room for it.
    fn group_of(&mut self, key: &[u8], hash: u64) -> Result<Entered> {
        if self.is_single {
            let is_new = self.row_ends.is_empty();
            return Ok(if is_new { Entered::New(0) } else { Entered::Known(0) });
        }
        let used_bytes = self.table.used_bytes() + self.charge.bytes();
        let has_room = self.later.is_none() && used_bytes <= self.most_bytes;
        // At the last level the hash has no unused bits left, so everything has to fit in memory.
        // And the first group always has to be entered.
        let must_enter = !Partitions::can_spread(self.level) || self.table.len() == 0;
        self.table.enter(key, hash, has_room || must_enter)
    }

    /// Begins a new group with its first row.
    fn begin(&mut self, row: &[Value]) -> Result<()> {
        self.scratch.clear();
        self.codec.write_row(row, &mut self.scratch);
        growth::append(&mut self.rows, &self.scratch, &mut self.charge)?;
        growth::push(&mut self.row_ends, self.rows.len(), &mut self.charge)?;
        let aggregates = &self.grouping.aggregates;
        for aggregate in aggregates {
            growth::push(&mut self.accumulators, aggregate.start(), &mut self.charge)?;
        }
        let (groups, accumulators) = (self.row_ends.len(), self.accumulators.len());
        assert_eq!(accumulators, groups * aggregates.len(), "each group has its accumulators");
        Ok(())
    }

    /// Begins the group with this number, and aggregates its first row.
    fn begin_with(&mut self, group: usize, row: &[Value], ctx: &Context<'_>) -> Result<()> {
        assert_eq!(group, self.row_ends.len(), "groups are numbered as they come");
        self.begin(row)?;
        self.take(group, row, ctx)
    }

    fn take(&mut self, group: usize, row: &[Value], ctx: &Context<'_>) -> Result<()> {
        let count = self.grouping.aggregates.len();
        let accumulators = &mut self.accumulators[group * count..(group + 1) * count];
        for (at, (accumulator, aggregate)) in
            accumulators.iter_mut().zip(&self.grouping.aggregates).enumerate()
        {
            if !aggregate.distinct {
                accumulator.add(aggregate, row, ctx, &mut self.charge)?;
            } else if let Some(values) = aggregate.values(row, ctx)?
                && let Some(distinct) = &mut self.distinct
                && distinct.is_first(group * count + at, aggregate, &values, ctx)?
            {
                accumulator.take_values(aggregate, &values, ctx, &mut self.charge)?;
            }
        }
        Ok(())
    }

    /// Passes the groups to `visit`. `slots` is the number of values that a row has.
    ///
    /// # Errors
    /// Returns the errors of [`Groups::add`] and of `visit`, 2 when a temporary file cannot be
    /// read, and 1317 when the statement is killed.
    pub fn finish(mut self, slots: usize, ctx: &Context<'_>, visit: &mut VisitGroup<'_>) -> Result<()> {
        let mut row = vec![Value::Null; slots];
        if self.is_single && self.row_ends.is_empty() {
            self.begin(&row)?;
        }
        let grouping = self.grouping;
        let (mut parts, mut flow, mut codec) = self.give(&mut row, ctx, visit)?;
        while flow == Flow::Continue
            && let Some(part) = parts.pop()
        {
            let mut groups = Groups::at(grouping, part.level(), codec, ctx);
            row.truncate(slots);
            part.for_each(ctx, &mut |key, hash, payload| {
                groups.add_again(key, hash, payload, &mut row, ctx)
            })?;
            let more;
            (more, flow, codec) = groups.give(&mut row, ctx, visit)?;
            assert!(
                more.iter().all(|deeper| deeper.level() > part.level()),
                "groups that do not fit are partitioned by further bits of their hashes"
            );
            parts.extend(more);
        }
        Ok(())
    }

    /// As [`Groups::add`], for a row from a partition.
    fn add_again(
        &mut self,
        key: &[u8],
        hash: u64,
        payload: &[u8],
        row: &mut [Value],
        ctx: &Context<'_>,
    ) -> Result<()> {
        ctx.forget_made();
        let entered = self.group_of(key, hash)?;
        if entered == Entered::Refused {
            return later_parts(&mut self.later, self.level, ctx).push(key, hash, payload, ctx);
        }
        self.codec.read_row(payload, row)?;
        assert!(!self.is_single, "the rows of the only group never leave memory");
        match entered {
            Entered::New(group) => self.begin_with(group, row, ctx),
            Entered::Known(group) => self.take(group, row, ctx),
            Entered::Refused => Ok(()),
        }
    }

    /// Passes the groups that are in memory to `visit`. Returns the partitions with the rows of the
    /// others.
    fn give(
        mut self,
        row: &mut Vec<Value>,
        ctx: &Context<'_>,
        visit: &mut VisitGroup<'_>,
    ) -> Result<(Vec<Part>, Flow, RowCodec)> {
        let aggregates = &self.grouping.aggregates;
        if let Some(distinct) = self.distinct.take() {
            distinct.finish(ctx, &mut |at, values| {
                let aggregate = &aggregates[at % aggregates.len()];
                self.accumulators[at].take_values(aggregate, values, ctx, &mut self.charge)
            })?;
        }
        let slots = row.len();
        let (mut flow, mut start) = (Flow::Continue, 0);
        let mut accumulators = self.accumulators.into_iter();
        for end in self.row_ends {
            ctx.check_interrupt()?;
            ctx.forget_made();
            row.truncate(slots);
            self.codec.read_row(&self.rows[start..end], row)?;
            start = end;
            for (aggregate, accumulator) in aggregates.iter().zip(accumulators.by_ref()) {
                row.push(accumulator.finish(aggregate, ctx)?);
            }
            assert_eq!(row.len(), slots + aggregates.len(), "each aggregate has its slot behind the row");
            if visit(row)? == Flow::Stop {
                flow = Flow::Stop;
                break;
            }
        }
        assert!(flow == Flow::Stop || accumulators.next().is_none(), "each accumulator is one of a group");
        row.truncate(slots);
        let parts = self.later.map_or(Ok(Vec::new()), |later| later.finish(ctx))?;
        Ok((parts, flow, self.codec))
    }
}
